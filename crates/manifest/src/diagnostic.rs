//! How a fault in a manifest is told: a stable code, a place, a message and the way out.
//!
//! Owns the text and the JSON form of a finding and the cutting of its snippet. Knows no manifest key and no rule's
//! reason: those are in [`crate::rule`]. Start at [`Diagnostic`]; whoever makes one starts at [`Source::diagnose`].

use std::borrow::Cow;
use std::cell::OnceCell;
use std::fmt;

use serde_json::{Value, json};
use unicode_width::UnicodeWidthChar;

use crate::lint;
use crate::mend::Fix;
use crate::rule::Rule;

/// A place in a manifest, counted from 1, in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The entry serves; the author should look.
    Warning,
    /// The entry is left out.
    Error,
}

impl Severity {
    /// The word that findings and answers use.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// One finding about one manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The number of the stable code, shown as `M007`.
    pub code: u16,
    /// Whether the entry is left out for it.
    pub severity: Severity,
    /// The file as the reader named it.
    pub file: String,
    /// Where in the file; `None` when the fault is the file itself (missing, unreadable, too large).
    pub position: Option<Position>,
    /// What is wrong: a lower-case fragment, user input in backticks.
    pub message: String,
    /// The way out, if one can be told.
    pub help: Option<String>,
    /// The source line that the position points into, for the snippet: what no terminal should be sent is replaced
    /// character by character, and a long line is cut around the place (see [`Source::diagnose`]).
    pub source_line: Option<String>,
    /// The change of the file that mends it, where exactly one is certain.
    pub fix: Option<Box<Fix>>,
}

/// A line is cut on the left when its fault stands beyond this column.
const LEFT_KEPT: u32 = 120;
/// How many characters before the fault remain of a line that is cut on the left, the `…` among them.
const BEFORE_FAULT: u32 = 80;
/// The most characters of a line that a snippet shows.
const SNIPPET: usize = 160;

impl Diagnostic {
    /// A finding about a whole file, which has no place inside it.
    pub fn whole_file(rule: &Rule, file: &str, message: String) -> Diagnostic {
        Diagnostic {
            code: rule.code,
            severity: rule.severity,
            file: shown(file),
            position: None,
            message: shown(&message),
            help: Some(rule.way_out.to_owned()),
            source_line: None,
            fix: None,
        }
    }

    /// The rule that was broken; `None` for a code that this version does not know.
    pub fn rule(&self) -> Option<&'static Rule> {
        Rule::by_code(self.code)
    }

    /// The finding as JSON: `code`, `name`, `severity`, `file`, `line`, `column`, `message`, `help`.
    pub fn to_value(&self) -> Value {
        json!({
            "code": format!("M{:03}", self.code),
            "name": self.rule().map(|rule| rule.name),
            "severity": self.severity.as_str(),
            "file": self.file,
            "line": self.position.map(|at| at.line),
            "column": self.position.map(|at| at.column),
            "message": self.message,
            "help": self.help,
        })
    }

    /// How many characters of the snippet stand before the caret.
    fn caret_offset(at: Position) -> usize {
        let before = if at.column > LEFT_KEPT { BEFORE_FAULT } else { at.column.saturating_sub(1) };
        before as usize
    }
}

impl fmt::Display for Diagnostic {
    /// `file:line:col: error[Mnnn]: message`, then the line with a caret, then `help: …`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.position {
            Some(at) => write!(f, "{}:{}:{}: ", self.file, at.line, at.column)?,
            None => write!(f, "{}: ", self.file)?,
        }
        write!(f, "{}[M{:03}]: {}", self.severity.as_str(), self.code, self.message)?;
        if let (Some(at), Some(line)) = (self.position, &self.source_line) {
            let gutter = at.line.to_string();
            let blank: String = line.chars().take(Self::caret_offset(at)).map(blank_of).collect();
            write!(f, "\n  {gutter} | {line}\n  {} | {blank}^", " ".repeat(gutter.len()))?;
        }
        if let Some(help) = &self.help {
            write!(f, "\n  help: {help}")?;
        }
        Ok(())
    }
}

/// All findings as text, each as its [`Display`](fmt::Display) says and ended by a line break.
pub fn render(findings: &[Diagnostic]) -> String {
    findings.iter().map(|finding| format!("{finding}\n")).collect()
}

/// A file's label and text, from which findings with snippets are made.
#[derive(Debug)]
pub struct Source<'a> {
    file: &'a str,
    text: &'a str,
    /// Where each line begins, counted only once a finding needs it.
    lines: OnceCell<Vec<usize>>,
}

impl<'a> Source<'a> {
    /// A text and the label that findings give it.
    pub fn new(file: &'a str, text: &'a str) -> Source<'a> {
        Source { file, text, lines: OnceCell::new() }
    }

    /// The label.
    pub fn file(&self) -> &'a str {
        self.file
    }

    /// The text.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// A finding at a place of this text. Without a help of its own it gets the rule's way out.
    ///
    /// The snippet shows at most 160 characters. A line whose fault stands beyond column 120 is cut on the left, so
    /// that 80 characters (the first one `…`) stand before the fault; what follows the window is cut with a `…` too.
    pub fn diagnose(&self, rule: &Rule, at: Position, message: String, help: Option<String>) -> Diagnostic {
        Diagnostic {
            code: rule.code,
            severity: rule.severity,
            file: shown(self.file),
            position: Some(at),
            message: shown(&message),
            help: Some(help.map_or_else(|| rule.way_out.to_owned(), |help| shown(&help))),
            source_line: snippet(self.line(at.line), at.column),
            fix: None,
        }
    }

    /// A line's text without its line break; empty beyond the end.
    fn line(&self, number: u32) -> &'a str {
        let starts = self.lines.get_or_init(|| line_starts(self.text));
        let index = (number as usize).saturating_sub(1);
        let Some(&start) = starts.get(index) else { return "" };
        let end = starts.get(index + 1).copied().unwrap_or(self.text.len());
        self.text.get(start..end).unwrap_or_default().trim_end_matches(['\r', '\n'])
    }
}

/// User input as messages show it: in backticks, cut, and with nothing that a terminal or a reader would take for
/// something else.
pub fn quoted(text: &str) -> String {
    const MOST: usize = 60;
    let cut = match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("`{}…`", text.get(..end).unwrap_or_default()),
        None => format!("`{text}`"),
    };
    shown(&cut)
}

/// A text of any number of lines with everything in it that could hide or reorder the rest written as `\u{…}`: for a
/// human who must see what is really there, and for a model that reads what nobody linted.
pub fn plain(text: &str) -> String {
    let piece = |piece: &str| shown(piece);
    text.split_inclusive(['\n', '\t'])
        .map(|part| match part.strip_suffix(['\n', '\t']) {
            Some(before) => {
                piece(before.strip_suffix('\r').unwrap_or(before)) + part.get(part.len() - 1..).unwrap_or_default()
            }
            None => piece(part),
        })
        .collect()
}

/// A text as a terminal may get it: what would steer it, or hide or reorder the rest, is written as `\u{…}`. Unlike
/// [`plain`] it leaves what scripts and emoji need, as the lint of manifests does.
pub fn printable(text: &str) -> Cow<'_, str> {
    lint::escaped(text, numbered)
}

/// The same of a JSON text, which stays the same value.
pub fn printable_json(json: &str) -> Cow<'_, str> {
    // Outside its texts JSON holds no such character.
    lint::escaped(json, |c| c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect())
}

/// A text with what no terminal or reader should meet written as `\u{…}`.
fn shown(text: &str) -> String {
    if !text.chars().any(lint::is_hidden) {
        return text.to_owned();
    }
    let escape = |c: char| if lint::is_hidden(c) { numbered(c) } else { c.to_string() };
    text.chars().map(escape).collect()
}

/// A character by its number.
fn numbered(c: char) -> String {
    format!("\\u{{{:x}}}", c as u32)
}

/// Where each line begins. As in YAML a line ends with LF, CR LF or a lone CR.
fn line_starts(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let mut starts = vec![0];
    for (index, byte) in bytes.iter().enumerate() {
        let ends = *byte == b'\n' || (*byte == b'\r' && bytes.get(index + 1) != Some(&b'\n'));
        if ends {
            starts.push(index + 1);
        }
    }
    starts
}

/// The part of a line around a column. `None` for a line so long that counting its characters for each of many findings
/// would take too long; one of ASCII alone needs no counting.
fn snippet(line: &str, column: u32) -> Option<String> {
    const LONGEST_COUNTED: usize = 1 << 16;
    let skipped = if column > LEFT_KEPT { (column - BEFORE_FAULT) as usize } else { 0 };
    let mut rest = if line.is_ascii() {
        line.get(skipped..).unwrap_or_default().chars()
    } else if line.len() <= LONGEST_COUNTED {
        let start = line.char_indices().nth(skipped).map_or(line.len(), |(index, _)| index);
        line.get(start..).unwrap_or_default().chars()
    } else {
        return None;
    };
    let mut shown = String::new();
    if skipped > 0 {
        shown.push('…');
    }
    let room = if skipped > 0 { SNIPPET - 1 } else { SNIPPET };
    shown.extend(rest.by_ref().take(room).map(|c| if c != '\t' && lint::is_hidden(c) { '\u{fffd}' } else { c }));
    if rest.next().is_some() {
        shown.pop();
        shown.push('…');
    }
    Some(shown)
}

/// As much blank as the character is wide on a terminal.
fn blank_of(c: char) -> &'static str {
    match c {
        '\t' => "\t",
        _ => match c.width() {
            Some(0) | None => "",
            Some(1) => " ",
            Some(_) => "  ",
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule;

    fn told(text: &str, line: u32, column: u32) -> String {
        let source = Source::new("tool.yaml", text);
        let found = source.diagnose(&rule::UNKNOWN_KEY, Position { line, column }, "m".to_owned(), Some("h".into()));
        found.to_string()
    }

    fn caret_column(rendered: &str) -> usize {
        let caret = rendered.lines().nth(2).unwrap();
        caret.chars().take_while(|c| *c != '^').map(|c| c.width().unwrap_or(1)).sum()
    }

    fn column_of(rendered: &str, wanted: char) -> usize {
        let line = rendered.lines().nth(1).unwrap();
        line.chars().take_while(|c| *c != wanted).map(|c| c.width().unwrap_or(1)).sum()
    }

    #[test]
    fn a_finding_shows_place_code_snippet_and_way_out() {
        assert_eq!(told("name: a\nnam: b\n", 2, 1), "tool.yaml:2:1: error[M020]: m\n  2 | nam: b\n    | ^\n  help: h");
    }

    #[test]
    fn the_caret_stands_under_its_character_after_wide_ones_and_in_cut_lines() {
        let wide = told("表格: X", 1, 5);
        assert_eq!(caret_column(&wide), column_of(&wide, 'X'));
        for before in [0, 1, 118, 119, 120, 121, 122, 400, 5000] {
            let line = format!("{}X{}", "-".repeat(before), "-".repeat(300));
            let rendered = told(&line, 1, u32::try_from(before).unwrap() + 1);
            assert_eq!(caret_column(&rendered), column_of(&rendered, 'X'), "{before} characters before the fault");
            assert!(rendered.lines().nth(1).unwrap().chars().count() <= SNIPPET + "  1 | ".len());
        }
    }

    #[test]
    fn a_snippet_sends_no_control_or_bidirectional_character_to_a_terminal() {
        let rendered = told("a\u{1b}[31m\u{202e}b\u{0}", 1, 1);
        assert!(rendered.contains("a\u{fffd}[31m\u{fffd}b\u{fffd}"), "{rendered}");
        assert_eq!(quoted("a\u{202e}b"), "`a\\u{202e}b`");
        assert_eq!(quoted(&"x".repeat(200)).chars().count(), 63);
    }

    #[test]
    fn a_finding_as_json_has_its_code_name_and_place() {
        let source = Source::new("tool.yaml", "nam: b\n");
        let at = Position { line: 1, column: 1 };
        let placed = source.diagnose(&rule::UNKNOWN_KEY, at, "m".to_owned(), None).to_value();
        assert_eq!(
            placed,
            json!({
                "code": "M020", "name": "unknown_key", "severity": "error", "file": "tool.yaml", "line": 1, "column": 1,
                "message": "m", "help": rule::UNKNOWN_KEY.way_out,
            })
        );
        let whole = Diagnostic::whole_file(&rule::SHADOWED, "f", "m".to_owned()).to_value();
        assert_eq!((&whole["line"], &whole["severity"]), (&Value::Null, &json!("warning")));
    }

    #[test]
    fn lines_end_as_yaml_says() {
        let source = Source::new("f", "a\r\nb\rc\nd");
        assert_eq!(
            [source.line(1), source.line(2), source.line(3), source.line(4), source.line(5)],
            ["a", "b", "c", "d", ""]
        );
    }

    #[test]
    fn what_is_printed_steers_no_terminal_and_keeps_what_scripts_need() {
        let text = "a\u{1b}[31m\u{202e}b\u{9b}\u{7f}\u{e0041}\r\n\tخواندن می‌خواهم 🧑‍🚀 ✔️";
        assert_eq!(printable(text), "a\\u{1b}[31m\\u{202e}b\\u{9b}\\u{7f}\\u{e0041}\r\n\tخواندن می‌خواهم 🧑‍🚀 ✔️");
        let json = serde_json::to_string_pretty(&json!({ "t": text })).unwrap();
        let printed = printable_json(&json);
        assert!(!printed.contains(['\u{202e}', '\u{9b}', '\u{7f}', '\u{e0041}']), "{printed}");
        assert_eq!(serde_json::from_str::<Value>(&printed).unwrap()["t"], text);
    }

    #[test]
    fn plain_text_keeps_its_lines_and_shows_what_would_hide() {
        assert_eq!(plain("a\n\tb\r\nc"), "a\n\tb\nc");
        assert_eq!(plain("a\u{202e}b\u{9b}\u{200b}\u{1b}[0m"), "a\\u{202e}b\\u{9b}\\u{200b}\\u{1b}[0m");
    }
}
