//! Foreign text made fit to be shown: short, on one line, nothing invisible. Knows not where it came from.

use serde_json::Value;

/// How much of a text is shown.
const MOST: usize = 120;

/// A text as it is shown to people.
pub(crate) fn text(text: &str) -> String {
    let mut shown = String::new();
    for (at, character) in text.chars().enumerate() {
        if at == MOST {
            shown.push('…');
            break;
        }
        if matches!(character, '"' | '\'' | '\\') {
            shown.push(character);
        } else {
            shown.extend(character.escape_debug());
        }
    }
    shown
}

/// A value as it is shown to people.
pub(crate) fn value(value: &Value) -> String {
    match value {
        Value::String(string) => format!("\"{}\"", text(string)),
        // A large one is not written out only to be cut.
        Value::Array(items) if items.len() > MOST => format!("[… {} items]", items.len()),
        Value::Object(map) if map.len() > MOST => format!("{{… {} keys}}", map.len()),
        other => text(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nothing_invisible_and_nothing_long_is_shown() {
        assert_eq!(text("plain \"words\" é"), "plain \"words\" é");
        assert_eq!(text("a\u{202e}b\u{1b}[31m\nc\u{200b}"), "a\\u{202e}b\\u{1b}[31m\\nc\\u{200b}");
        assert_eq!(text(&"x".repeat(500)).chars().count(), MOST + 1);
        assert_eq!(value(&json!(["a", 1])), r#"["a",1]"#);
        assert_eq!(value(&Value::Array(vec![json!(1); 1000])), "[… 1000 items]");
    }
}
