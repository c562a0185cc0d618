//! What can be mended in a manifest without asking anybody, as changes of its bytes.
//!
//! Owns which mends are certain and how they are written so that every other byte stays as it is. A mend never lets a
//! call do more than the manifest said for sure: no effect becomes milder, nothing is let through, no limit is raised
//! over its default. Reads and writes no file. Start at [`Fix`] and [`apply`]; how an effect is written into an action
//! that declares none is [`effect_stub`].

use std::ops::Range;

use crate::diagnostic::Source;
use crate::document::Kind;
use crate::effect::Effect;
use crate::entry;
use crate::findings::Findings;
use crate::lint;
use crate::nearest::{fold, only_nearest};
use crate::read;
use crate::reference::{Form, Key, LIMITS, NameForm};
use crate::yaml::{self, Data, Extent, Node, Pair};

/// One change that mends a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// Which bytes of the file are replaced.
    pub range: Range<usize>,
    /// What stands there instead.
    pub replacement: String,
    /// What was done, for whoever reads it afterwards: `` `nam` is now `name` ``.
    pub done: String,
}

/// The bytes with every fix applied, from the end backwards. Of two that overlap the one that begins first is applied
/// and the other is left for another reading; the numbers of those applied are given too.
pub fn apply(bytes: &[u8], fixes: &[Fix]) -> (Vec<u8>, Vec<usize>) {
    let mut order: Vec<usize> = (0..fixes.len()).collect();
    order.sort_by_key(|index| fixes.get(*index).map(|fix| (fix.range.start, fix.range.end)));
    let mut free = 0;
    let mut chosen: Vec<(usize, &Fix)> = Vec::new();
    for (index, fix) in order.into_iter().filter_map(|index| fixes.get(index).map(|fix| (index, fix))) {
        let repeated = chosen.last().is_some_and(|(_, last)| last.range == fix.range);
        if fix.range.start >= free && fix.range.start <= fix.range.end && fix.range.end <= bytes.len() && !repeated {
            free = fix.range.end;
            chosen.push((index, fix));
        }
    }
    let mut mended = bytes.to_vec();
    for (_, fix) in chosen.iter().rev() {
        mended.splice(fix.range.clone(), fix.replacement.bytes());
    }
    (mended, chosen.into_iter().map(|(index, _)| index).collect())
}

/// What the comment beside a written effect says.
const STUB_COMMENT: &str = "# say read_only or reversible if that is true";

/// The changes that write `effect: irreversible` into the action of that name, `None` for the nameless one: what holds
/// without it, made visible. `None` where the manifest is written in a way that has no certain place for it.
pub fn effect_stub(kind: Kind, bytes: &[u8], action: Option<&str>) -> Option<Vec<Fix>> {
    if kind == Kind::Skill {
        return None;
    }
    let text = read::text("", bytes).ok()?;
    let source = Source::new("", text);
    let root = yaml::parse(text, 1, 0, &mut Findings::new(&source))?;
    let node = match action {
        None => &root,
        Some(name) => entry::action_of(&root, name)?,
    };
    let done = match action {
        Some(action) => format!("action `{action}` says `effect: irreversible`, which held already"),
        None => "the entry says `effect: irreversible`, which held already".to_owned(),
    };
    let mut fixes = if slice(text, node.extent).starts_with('{') {
        stub_in_flow(text, node, done)?
    } else {
        vec![stub_in_block(text, node, done)?]
    };
    fixes.iter_mut().for_each(|fix| fix.shift(bytes.len() - text.len()));
    Some(fixes)
}

impl Fix {
    pub(crate) fn replace(extent: Extent, replacement: String, done: String) -> Fix {
        Fix { range: extent.range(), replacement, done }
    }

    /// Moves the range by what stands before the text in the file.
    pub(crate) fn shift(&mut self, by: usize) {
        self.range = self.range.start + by..self.range.end + by;
    }
}

/// A line of its own after the description, or else after the name, or else before the second key.
fn stub_in_block(text: &str, node: &Node<'_>, done: String) -> Option<Fix> {
    let pairs = node.mapping()?;
    let first = pairs.first()?;
    let indent = indentation(text, first)?;
    let stub = format!("{indent}effect: {}  {STUB_COMMENT}", Effect::Irreversible);
    let after = ["description", "name"].into_iter().find_map(|key| {
        let pair = pairs.iter().find(|pair| pair.key == key)?;
        ends_its_line(text, pair).then_some(pair)
    });
    if let Some(pair) = after {
        let end = line_end(text, pair.value.extent.range().end)?;
        let replacement = format!("{}{stub}", line_break(text, end));
        return Some(Fix { range: end..end, replacement, done });
    }
    let second = pairs.get(1).filter(|pair| indentation(text, pair).is_some_and(|own| own == indent))?;
    let start = line_start(text, second.key_extent.range().start)?;
    let before_second = text.get(start..second.key_extent.range().start)?;
    let ending = line_break(text, line_end(text, start)?);
    before_second.bytes().all(|byte| byte == b' ').then(|| {
        let replacement = format!("{stub}{ending}");
        Fix { range: start..start, replacement, done }
    })
}

/// The spaces that stand before a mapping's keys, `None` where something else than `- ` shares the line with the first.
fn indentation(text: &str, pair: &Pair<'_>) -> Option<String> {
    let key = pair.key_extent.range().start;
    let before = text.get(line_start(text, key)?..key)?;
    before.bytes().all(|byte| matches!(byte, b' ' | b'-')).then(|| " ".repeat(before.len()))
}

/// Whether a pair is a plain or quoted value after its key, with nothing behind it but a comment.
fn ends_its_line(text: &str, pair: &Pair<'_>) -> bool {
    let value = slice(text, pair.value.extent);
    let range = pair.value.extent.range();
    let end = line_end(text, range.end).unwrap_or(range.end);
    let rest = text.get(range.end..end).unwrap_or_default();
    let is_scalar =
        matches!(pair.value.data, Data::Scalar { .. }) && !value.is_empty() && !value.starts_with(['|', '>']);
    is_scalar && value.trim_end() == value && (rest.trim().is_empty() || rest.trim_start().starts_with('#'))
}

/// Behind the name, and the comment at the end of the line where the mapping ends, if nothing else stands there.
fn stub_in_flow(text: &str, node: &Node<'_>, done: String) -> Option<Vec<Fix>> {
    let pairs = node.mapping()?;
    let after = ["description", "name"].into_iter().find_map(|key| {
        let pair = pairs.iter().find(|pair| pair.key == key)?;
        let value = slice(text, pair.value.extent);
        (matches!(pair.value.data, Data::Scalar { .. }) && !value.is_empty() && value.trim() == value).then_some(pair)
    })?;
    let at = after.value.extent.range().end;
    let quote = if slice(text, after.key_extent).starts_with('"') { "\"" } else { "" };
    let replacement = format!(", {quote}effect{quote}: {quote}{}{quote}", Effect::Irreversible);
    let mut fixes = vec![Fix { range: at..at, replacement, done: done.clone() }];
    let closed = node.extent.range().end;
    let end = line_end(text, closed)?;
    let rest = text.get(closed..end).unwrap_or_default();
    // JSON has no comments: who writes a manifest as JSON reads it as JSON.
    if quote.is_empty() && rest.chars().all(|c| matches!(c, ']' | '}' | ',' | ' ')) {
        let end = closed + rest.trim_end().len();
        fixes.push(Fix { range: end..end, replacement: format!("  {STUB_COMMENT}"), done });
    }
    Some(fixes)
}

/// Words that everybody writes for another, and that mean nothing else.
const SYNONYMS: [(&str, &str); 34] = [
    ("str", "string"),
    ("int", "integer"),
    ("bool", "boolean"),
    ("float", "number"),
    ("double", "number"),
    ("list", "array"),
    ("dict", "object"),
    ("python3", "python"),
    ("nodejs", "node"),
    ("arguments", "args"),
    ("parameters", "args"),
    ("params", "args"),
    ("desc", "description"),
    ("min", "minimum"),
    ("max", "maximum"),
    ("regex", "pattern"),
    ("text", "string"),
    ("long", "integer"),
    ("decimal", "number"),
    ("flag", "boolean"),
    ("tuple", "array"),
    ("mapping", "object"),
    ("file", "path"),
    ("filename", "path"),
    ("dir", "path"),
    ("directory", "path"),
    ("folder", "path"),
    ("summary", "description"),
    ("choices", "enum"),
    ("mandatory", "required"),
    ("commands", "actions"),
    ("keywords", "triggers"),
    ("script", "entrypoint"),
    ("interpreter", "runtime"),
];

/// The known word that a wrong one certainly is: the same but for spelling, a plain synonym, or the only near one.
pub(crate) fn certain<'k>(wrong: &str, known: impl Iterator<Item = &'k str> + Clone) -> Option<&'k str> {
    const LONGEST: usize = 256;
    if wrong.len() > LONGEST {
        return None;
    }
    let wrong = visible(wrong);
    let mut alike = known.clone().filter(|word| fold(word) == fold(&wrong));
    if let Some(word) = alike.next() {
        return alike.next().is_none().then_some(word);
    }
    let synonym = SYNONYMS.iter().find(|(word, _)| *word == fold(&wrong)).map(|(_, meant)| *meant);
    match synonym.and_then(|meant| known.clone().find(|word| *word == meant)) {
        Some(word) => Some(word),
        None => only_nearest(&wrong, known),
    }
}

/// A word without what no reader sees, and without the blanks around it.
fn visible(word: &str) -> String {
    let seen: String = word.chars().filter(|c| !lint::is_hidden(*c)).collect();
    seen.trim().to_owned()
}

/// What decides how much a call may do: a mistyped one of these is the author's to mend.
const GRANTING: [&str; 11] = [
    "effect",
    "because",
    "secrets",
    "env",
    "cwd",
    "uses",
    "limits",
    "idempotent",
    "open_world",
    "allowed-tools",
    "metadata",
];

/// The boolean that other YAML readers, or a hurried author, see in a word.
pub(crate) fn flag_word(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "y" | "on" | "1" => Some(true),
        "false" | "no" | "n" | "off" | "0" => Some(false),
        _ => None,
    }
}

/// Whether a word is a plain yes or no; a number may count something.
pub(crate) fn is_plain_flag(text: &str) -> bool {
    !matches!(text, "0" | "1") && flag_word(text).is_some()
}

/// What a suggestion says that is not mended for what it would allow.
pub(crate) const LEFT_TO_THE_AUTHOR: &str = "it says what a call may do, so that `--fix` leaves it to you";

/// Whether a key says how much a call may do.
pub(crate) fn grants(key: &Key) -> bool {
    GRANTING.contains(&key.name)
}

/// Whether a word is an effect milder than the strictest.
pub(crate) fn is_milder(word: &str) -> bool {
    Effect::ALL.iter().any(|effect| effect.as_str() == word) && word != Effect::Irreversible.as_str()
}

/// The change that gives a mistyped key its right name, unless the value would then let a call do more than without it.
pub(crate) fn rename_key(text: &str, pair: &Pair<'_>, key: &Key) -> Option<Fix> {
    let strict = pair.value.text().is_some_and(|word| key.name == "effect" && word == Effect::Irreversible.as_str());
    let grants = grants(key) && !strict;
    let written = pair.value.text().unwrap_or_default();
    let is_flag = matches!(key.form, Form::Flag);
    // A yes becomes `true` in its turn, and means now what it will mean then.
    let value = match flag_word(written).filter(|_| is_flag) {
        Some(true) => "true",
        Some(false) => "false",
        None => written,
    };
    let no_flag = is_flag && !is_plain_flag(written);
    if grants || no_flag || loosens(key.name, value) || !has_the_shape(&pair.value, &key.form) {
        return None;
    }
    let replacement = in_style_of(slice(text, pair.key_extent), key.name)?;
    Some(Fix::replace(pair.key_extent, replacement, became(&pair.key, key.name)))
}

/// The change that writes the right word for a mistyped one.
pub(crate) fn replace_word(text: &str, node: &Node<'_>, wrong: &str, word: &str) -> Option<Fix> {
    if is_milder(word) {
        return None;
    }
    let replacement = in_style_of(slice(text, node.extent), word)?;
    Some(Fix::replace(node.extent, replacement, became(wrong, word)))
}

/// The change that writes a value in its type: `true` for `yes`, `5` for `'5'`, `'5'` for `5`.
pub(crate) fn retype(text: &str, node: &Node<'_>, key: &str, right: &str) -> Option<Fix> {
    let written = slice(text, node.extent);
    let one_line = !written.is_empty() && written.trim() == written && !written.contains(['\n', '\r']);
    if loosens(key, right) || !one_line || written.starts_with(['|', '>']) {
        return None;
    }
    Some(Fix::replace(node.extent, right.to_owned(), became(written, right)))
}

/// The change that takes what no reader sees out of a name, or the folder's name in its place.
pub(crate) fn clean_name(text: &str, node: &Node<'_>, form: &NameForm) -> Option<Fix> {
    let name = visible(node.text()?);
    let written = slice(text, node.extent);
    if !form.fits(&name) || written.contains(['\n', '\r']) {
        return None;
    }
    let done = format!("the name `{name}` holds nothing else any more");
    Some(Fix::replace(node.extent, in_style_of(written, &name)?, done))
}

/// The change that gives an entry the name of its folder.
pub(crate) fn folder_name(text: &str, node: &Node<'_>, folder: &str, form: &NameForm) -> Option<Fix> {
    let written = slice(text, node.extent);
    if !form.fits(folder) {
        return None;
    }
    let done = became(node.text()?, folder);
    Some(Fix::replace(node.extent, in_style_of(written, folder)?, done))
}

/// The change that removes a key without a value, where it has a line to itself.
pub(crate) fn remove_empty(text: &str, pair: &Pair<'_>) -> Option<Fix> {
    let value = slice(text, pair.value.extent);
    let key = pair.key_extent.range();
    let start = line_start(text, key.start)?;
    let end = line_end(text, key.end)?;
    let alone = text.get(start..key.start)?.bytes().all(|byte| byte == b' ');
    let after = text.get(key.end..end)?.trim_start().strip_prefix(':')?.trim();
    // Whoever writes `null` into the line below has another line to remove.
    if !alone || !pair.value.is_null() || after != value.trim_end() {
        return None;
    }
    let done = format!("`{}`, which had no value, is gone", pair.key);
    Some(Fix { range: start..end + line_break_at(text, end).len(), replacement: String::new(), done })
}

/// The change that removes the second of two equal things: its lines, or its place in brackets.
pub(crate) fn remove_second(text: &str, extent: Extent, what: &str) -> Option<Fix> {
    let Range { start, end } = extent.range();
    let written = text.get(start..end)?;
    // A value that seems to end with a line break has an end that is not certain.
    if written.is_empty() || written.trim() != written {
        return None;
    }
    let done = format!("{what}, which stood there twice, stands there once");
    let (first, last) = (line_start(text, start)?, line_end(text, end)?);
    let before = text.get(first..start)?;
    let rest = text.get(end..last)?.trim();
    let alone = before.trim().is_empty() || before.trim_start() == "- ";
    if alone && before.bytes().all(|byte| matches!(byte, b' ' | b'-')) && matches!(rest, "" | ",") {
        return Some(Fix { range: first..last + line_break_at(text, last).len(), replacement: String::new(), done });
    }
    let comma = before.trim_end().strip_suffix(',')?;
    Some(Fix { range: first + comma.len()..end, replacement: String::new(), done })
}

/// The change that removes a byte order mark.
pub(crate) fn remove_mark(start: usize) -> Fix {
    let range = start..start + '\u{feff}'.len_utf8();
    Fix { range, replacement: String::new(), done: "a byte order mark inside the text is gone".to_owned() }
}

/// Whether two values are written alike.
pub(crate) fn written_alike(text: &str, one: Extent, other: Extent) -> bool {
    let (one, other) = (slice(text, one), slice(text, other));
    !one.is_empty() && one == other
}

/// A text in single quotes.
pub(crate) fn in_quotes(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Whether a value, once it is read, lets a call do more than the key's absence does.
fn loosens(key: &str, value: &str) -> bool {
    match key {
        "approval" => value == "false",
        "allow_dash" => value == "true",
        _ => match LIMITS.key(key) {
            Some(limit) => match (value.parse::<u64>(), limit.default.parse::<u64>()) {
                (Ok(value), Ok(default)) => value > default,
                _ => true,
            },
            None => false,
        },
    }
}

/// Whether a value is a list, a mapping or a scalar as the form demands; what is inside is another question.
fn has_the_shape(node: &Node<'_>, form: &Form) -> bool {
    match (form, &node.data) {
        (_, Data::Broken) => false,
        (Form::Json, Data::Scalar { .. } | Data::List(_) | Data::Mapping(_)) => true,
        (Form::List { .. }, data) => matches!(data, Data::List(_)),
        (Form::JsonMapping | Form::Schema | Form::Block(_) | Form::TextMapping | Form::BlockMapping { .. }, data) => {
            matches!(data, Data::Mapping(_))
        }
        (Form::Output | Form::NameOrBlock(..), data) => matches!(data, Data::Mapping(_) | Data::Scalar { .. }),
        (
            Form::Name(_) | Form::Line { .. } | Form::Prose { .. } | Form::Text { .. } | Form::Flag | Form::Word(_),
            data,
        )
        | (Form::Whole { .. } | Form::Number, data) => matches!(data, Data::Scalar { .. }) && !node.is_null(),
    }
}

/// A word written with the quotes that the old one has; `None` where the old one is no word of one line.
fn in_style_of(old: &str, word: &str) -> Option<String> {
    let quote = old.chars().next().filter(|c| matches!(c, '"' | '\''));
    if old.is_empty() || old.contains(['\n', '\r']) || old.starts_with(['|', '>']) || old.trim() != old {
        return None;
    }
    Some(match quote {
        Some(quote) => format!("{quote}{word}{quote}"),
        None if matches!(word, "null" | "~") => in_quotes(word),
        None => word.to_owned(),
    })
}

fn became(old: &str, new: &str) -> String {
    let shown: String = old.chars().take(60).collect();
    format!("`{shown}` is now `{new}`")
}

fn slice(text: &str, extent: Extent) -> &str {
    text.get(extent.range()).unwrap_or_default()
}

/// How far a line's ends are looked for: nobody writes longer lines by hand, and a line of 1 MiB has many values.
const LONGEST_LINE: usize = 8192;

fn line_start(text: &str, at: usize) -> Option<usize> {
    let from = at.saturating_sub(LONGEST_LINE);
    let before = text.as_bytes().get(from..at)?;
    match before.iter().rposition(|byte| matches!(byte, b'\n' | b'\r')) {
        Some(index) => Some(from + index + 1),
        None => (from == 0).then_some(0),
    }
}

/// Where the line ends, before its line break.
fn line_end(text: &str, at: usize) -> Option<usize> {
    let rest = text.as_bytes().get(at..)?;
    let end = rest.iter().take(LONGEST_LINE).position(|byte| matches!(byte, b'\n' | b'\r'));
    end.or((rest.len() <= LONGEST_LINE).then_some(rest.len())).map(|index| at + index)
}

/// The line break that stands at the end of a line; empty at the end of the text.
fn line_break_at(text: &str, end: usize) -> &str {
    let rest = text.get(end..).unwrap_or_default();
    ["\r\n", "\n", "\r"].into_iter().find(|ending| rest.starts_with(ending)).unwrap_or_default()
}

/// The line break of a line, or of the file's first line where it has none.
fn line_break(text: &str, end: usize) -> &str {
    let own = line_break_at(text, end);
    let first = line_break_at(text, line_end(text, 0).unwrap_or(text.len()));
    [own, first].into_iter().find(|ending| !ending.is_empty()).unwrap_or("\n")
}
