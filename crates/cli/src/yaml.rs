//! Values as YAML text that reads back as the same values.
//!
//! Owns quoting and lay-out and nothing else: knows no manifest key. A text stands plain only where no reader of YAML
//! could take it for anything else; all others are quoted. Start at [`write`].

use std::fmt::Write as _;

use serde_json::{Map, Value};

/// How wide a line may be before a mapping is spread over several.
const WIDTH: usize = 120;

/// One line or several of a mapping.
#[derive(Clone, Debug)]
pub(crate) enum Line {
    /// `key: value`, the value in one line.
    Pair(&'static str, Value),
    /// `key: text`, the text folded over several lines where it does not fit into one.
    Prose(&'static str, String),
    /// `key: value`, the value over several lines where it does not fit into one.
    Tree(&'static str, Value),
    /// `key:` and mappings below it, each an item of a list.
    List(&'static str, Vec<Vec<Line>>),
    /// `key:` and flat mappings below it, each in one line where it fits.
    Rows(&'static str, Vec<Map<String, Value>>),
    /// A comment, without its `#`.
    Comment(String),
}

/// The text of a mapping.
pub(crate) fn write(lines: &[Line]) -> String {
    let mut text = String::new();
    block(lines, 0, "", &mut text);
    text
}

/// Where a text stands: a comma parts the items of a list in one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Alone,
    Inside,
}

/// A value that has the rest of a line to itself.
fn alone(value: &Value) -> String {
    match value {
        Value::String(text) => scalar(text, Place::Alone),
        other => inline(other),
    }
}

/// A value in one line, among others.
fn inline(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) => scalar(text, Place::Inside),
        Value::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Value::Object(map) => flow(map),
    }
}

/// `lead` stands in place of the first line's indent, as the `- ` of a list does.
fn block(lines: &[Line], indent: usize, lead: &str, text: &mut String) {
    let margin = " ".repeat(indent);
    let mut before = if lead.is_empty() { margin.clone() } else { lead.to_owned() };
    for line in lines {
        match line {
            Line::Comment(comment) => pushed(text, &[&before, "# ", comment]),
            Line::Pair(key, value) => pushed(text, &[&before, key, ": ", &alone(value)]),
            Line::Prose(key, prose) => folded(key, prose, indent, &before, text),
            Line::Tree(key, value) => tree(key, value, indent, &before, text),
            Line::List(key, items) => {
                pushed(text, &[&before, key, ":"]);
                items.iter().for_each(|item| block(item, indent + 4, &format!("{margin}  - "), text));
            }
            Line::Rows(key, rows) => {
                pushed(text, &[&before, key, ":"]);
                rows.iter().for_each(|map| row(map, indent, text));
            }
        }
        before.clone_from(&margin);
    }
}

/// `key: >-` and the words of a text below it; in one line where it fits, or where folding would change it.
fn folded(key: &str, prose: &str, indent: usize, lead: &str, text: &mut String) {
    let line = format!("{lead}{key}: {}", scalar(prose, Place::Alone));
    let words = || prose.split(' ');
    let is_plain = |word: &str| !word.is_empty() && !word.chars().any(|c| c.is_whitespace() || c.is_control());
    if line.chars().count() <= WIDTH || !words().all(is_plain) || prose.contains('\u{feff}') {
        return pushed(text, &[&line]);
    }
    pushed(text, &[lead, key, ": >-"]);
    let margin = " ".repeat(indent + 2);
    for line in wrapped(prose, WIDTH - margin.len()) {
        pushed(text, &[&margin, &line]);
    }
}

/// The words of a text in lines of at most this width, but for a word that is wider by itself.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + word.chars().count() < width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// `key: value`, with what does not fit into a line spread below it.
fn tree(key: &str, value: &Value, indent: usize, lead: &str, text: &mut String) {
    let line = format!("{lead}{key}: {}", alone(value));
    match value {
        Value::Object(map) if !map.is_empty() && line.chars().count() > WIDTH => {
            pushed(text, &[lead, key, ":"]);
            let margin = " ".repeat(indent + 2);
            for (key, value) in map {
                tree(&scalar(key, Place::Inside), value, indent + 2, &margin, text);
            }
        }
        Value::Array(items) if !items.is_empty() && line.chars().count() > WIDTH => {
            pushed(text, &[lead, key, ":"]);
            let margin = " ".repeat(indent + 2);
            items.iter().for_each(|item| pushed(text, &[&margin, "- ", &alone(item)]));
        }
        _ => pushed(text, &[&line]),
    }
}

fn row(map: &Map<String, Value>, indent: usize, text: &mut String) {
    let margin = " ".repeat(indent + 2);
    let short = flow(map);
    if margin.len() + 2 + short.chars().count() <= WIDTH || map.is_empty() {
        return pushed(text, &[&margin, "- ", &short]);
    }
    for (number, (key, value)) in map.iter().enumerate() {
        pushed(
            text,
            &[&margin, if number == 0 { "- " } else { "  " }, &scalar(key, Place::Inside), ": ", &alone(value)],
        );
    }
}

fn pushed(text: &mut String, parts: &[&str]) {
    parts.iter().for_each(|part| text.push_str(part));
    text.push('\n');
}

fn flow(map: &Map<String, Value>) -> String {
    let pairs: Vec<String> =
        map.iter().map(|(key, value)| format!("{}: {}", scalar(key, Place::Inside), inline(value))).collect();
    format!("{{{}}}", pairs.join(", "))
}

fn scalar(text: &str, place: Place) -> String {
    if stands_plain(text, place) || is_version(text) { text.to_owned() } else { quoted(text) }
}

/// Stricter than YAML demands.
fn stands_plain(text: &str, place: Place) -> bool {
    /// Words that some reader of YAML takes for something else than text.
    const WORDS: [&str; 9] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let inside =
        |c: char| c.is_alphanumeric() || " _-./()'+*%=<>@;!?$&^|~".contains(c) || (c == ',' && place == Place::Alone);
    // A path begins with `./` or `/`, which means nothing to YAML.
    text.trim_start_matches("./").trim_start_matches('/').starts_with(|c: char| c.is_ascii_alphabetic())
        && !text.ends_with(' ')
        && text.chars().all(inside)
        && !WORDS.contains(&text.to_ascii_lowercase().as_str())
}

/// Three numbers, which no reader of YAML takes for one.
fn is_version(text: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    text.split('.').count() == 3 && text.split('.').all(digits)
}

fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            // What a reader may drop, fold or take for the end of a line.
            _ if c.is_control()
                || (c.is_whitespace() && c != ' ')
                || matches!(c, '\u{feff}' | '\u{fffe}' | '\u{ffff}') =>
            {
                let _ = write!(quoted, "\\U{:08x}", c as u32);
            }
            _ => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn reads(text: &str) -> Value {
        serde_saphyr::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn lists_of_mappings_stand_below_their_key_and_long_rows_are_spread() {
        let long = "long ".repeat(30);
        let lines = [
            Line::Pair("name", json!("notes")),
            Line::Comment("say why".to_owned()),
            Line::List(
                "actions",
                vec![vec![
                    Line::Pair("name", json!("list")),
                    Line::Rows(
                        "args",
                        vec![
                            map(json!({"name": "id", "default": "no: 1"})),
                            map(json!({"name": "x", "text": long.trim()})),
                        ],
                    ),
                ]],
            ),
        ];
        let text = write(&lines);
        let expected = format!(
            "name: notes\n# say why\nactions:\n  - name: list\n    args:\n      - {{name: id, default: \"no: 1\"}}\n      - name: x\n        text: {}\n",
            long.trim()
        );
        assert_eq!(text, expected);
        assert_eq!(reads(&text)["actions"][0]["args"][1]["text"], long.trim());
    }

    #[test]
    fn a_text_that_looks_like_something_else_is_quoted() {
        for text in [
            "",
            "no",
            "Null",
            "1",
            "-1",
            "1e3",
            "~",
            "a: b",
            "a #b",
            "a,b",
            "{a}",
            "- a",
            " a",
            "a ",
            "2020-01-01",
            "0x1F",
            ".5",
            "=",
            "<<",
            "*x",
            "&x",
            "!x",
            "%x",
            "@x",
            "`x",
            "'x",
            "\"x",
            "a\\b",
            "a\nb",
            "a\u{2028}b",
            "\u{feff}",
            "ab:",
        ] {
            assert!(inline(&json!(text)).starts_with('"'), "{text}");
            assert_eq!(reads(&format!("k: {}\n", inline(&json!(text))))["k"], text);
        }
        assert_eq!(inline(&json!("Cap the rows (at most 5).")), "Cap the rows (at most 5).");
        assert_eq!(alone(&json!("a, b")), "a, b");
        assert_eq!(inline(&json!("0.1.0")), "0.1.0");
        assert_eq!(reads("k: 0.1.0\n")["k"], "0.1.0");
    }

    #[test]
    fn a_long_text_is_folded_and_reads_back_as_one_line() {
        let prose = format!("Read: {}#5, yes.", "all of it ".repeat(20));
        let text = write(&[Line::Prose("description", prose.clone()), Line::Prose("title", "Short.".to_owned())]);
        assert!(
            text.starts_with("description: >-\n  Read: all of it") && text.ends_with("\ntitle: Short.\n"),
            "{text}"
        );
        assert!(text.lines().all(|line| line.len() <= WIDTH), "{text}");
        assert_eq!(reads(&text)["description"], prose);
    }

    #[test]
    fn what_does_not_fit_into_a_line_is_spread_below_its_key() {
        let words = |count: usize| "word ".repeat(count).trim().to_owned();
        let schema = json!({
            "type": "object",
            "properties": {"rows": {"type": "array", "description": words(15)}, "no": {"type": "integer"}},
            "required": [words(12), words(12)],
        });
        let text = write(&[Line::Tree("output_schema", schema.clone()), Line::Tree("short", json!({"a": [1]}))]);
        let expected = format!(
            "output_schema:\n  type: object\n  properties:\n    rows: {{type: array, description: {0}}}\n    \"no\": {{type: integer}}\n  required:\n    - {1}\n    - {1}\nshort: {{a: [1]}}\n",
            words(15),
            words(12)
        );
        assert_eq!(text, expected);
        assert_eq!(reads(&text)["output_schema"], schema);
    }

    /// Any value, with the texts that YAML finds hard among ordinary ones.
    fn value() -> impl Strategy<Value = Value> {
        let text = prop_oneof![any::<String>(), "[ -~]{0,12}", "(no|1|~|[:#,'\"\\[\\]{}&*!|>%@-]| ){0,6}"];
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            (-1.0e9..1.0e9).prop_map(Value::from),
            text.prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 12, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec(("[ -~]{1,10}", inner), 0..4)
                    .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn a_text_reads_back_as_it_was_however_long_it_is(prose in "([ -~]{0,40}|\\PC{0,20}| ){0,8}") {
            let item = vec![Line::Prose("first", prose.clone()), Line::Prose("second", prose.clone())];
            let back = reads(&write(&[Line::List("list", vec![item])]));
            prop_assert_eq!(&back["list"][0]["first"], &prose);
            prop_assert_eq!(&back["list"][0]["second"], &prose);
        }

        #[test]
        fn what_is_written_reads_back_as_the_same_value(value in value(), row in prop::collection::vec(("[a-z]{1,8}", value()), 0..5)) {
            let row: Map<String, Value> = row.into_iter().collect();
            let item = vec![Line::Tree("value", value.clone()), Line::Rows("rows", vec![row.clone(), row.clone()])];
            let text = write(&[Line::Pair("first", value.clone()), Line::Tree("tree", value.clone()), Line::List("list", vec![item.clone(), item])]);
            let back = reads(&text);
            prop_assert_eq!(&back["first"], &value, "{}", text);
            prop_assert_eq!(&back["tree"], &value, "{}", text);
            prop_assert_eq!(&back["list"][1]["value"], &value, "{}", text);
            prop_assert_eq!(&back["list"][1]["rows"], &json!([row, row]), "{}", text);
        }
    }
}
