//! Foreign text made fit to be shown: short, on one line, nothing invisible. Knows not where it came from. Start at
//! [`json`].

use serde_json::Value;

/// How much of a text is shown.
const MOST: usize = 120;

/// JSON in which everything that would hide or reorder what stands beside it is written as `\uXXXX`: the same JSON, and
/// what a human reviews is what is there.
pub fn json(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        // What stands between values; within a text it is written as `\n` already.
        if character == '\n' || !is_hidden(character) {
            shown.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            shown.push_str(&format!("\\u{unit:04x}"));
        }
    }
    shown
}

/// Whether a character would be taken for nothing, or would change how others are shown.
fn is_hidden(character: char) -> bool {
    // Not at a text's beginning, where an accent alone would count as well.
    let is_printable = || format!("a{character}").escape_debug().nth(1) == Some(character);
    let is_ignored = matches!(
        character,
        '\u{34f}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{2800}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}' | '\u{e0100}'..='\u{e01ef}'
    );
    !character.is_ascii_graphic() && character != ' ' && (is_ignored || !is_printable())
}

/// A text as it is shown to people.
pub(crate) fn text(text: &str) -> String {
    let mut shown = String::new();
    let mut left = MOST;
    for character in text.chars() {
        if left == 0 {
            shown.push('…');
            break;
        }
        let before = shown.len();
        if !is_hidden(character) {
            shown.push(character);
        } else if matches!(character, '\t' | '\n' | '\r') {
            shown.extend(character.escape_debug());
        } else {
            shown.extend(character.escape_unicode());
        }
        // An escape is as long as it looks.
        let added = shown.get(before..).unwrap_or_default().chars().count();
        left = left.saturating_sub(added);
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
    fn json_in_which_nothing_hides_is_the_same_json() {
        let value =
            json!({"a\u{202e}b": "\u{200b}\u{1b}\u{7f}\u{e0041} \u{3164}", "Größe": "e\u{301} \u{1F600} 名 \"\\"});
        for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
            let shown = super::json(&text);
            assert!(shown.contains(r"a\u202eb") && shown.contains(r"\u200b\u001b\u007f\udb40\udc41 \u3164"), "{shown}");
            assert!(shown.contains("Größe") && shown.contains("e\u{301} \u{1F600} 名"), "{shown}");
            assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), value);
            assert_eq!(shown.lines().count(), text.lines().count());
        }
    }

    #[test]
    fn nothing_invisible_and_nothing_long_is_shown() {
        assert_eq!(text("plain \"words\" é"), "plain \"words\" é");
        assert_eq!(text("a\u{202e}b\u{1b}[31m\nc\u{200b}"), "a\\u{202e}b\\u{1b}[31m\\nc\\u{200b}");
        assert_eq!(text(&"x".repeat(500)).chars().count(), MOST + 1);
        assert_eq!(text(&"é".repeat(MOST)), "é".repeat(MOST));
        assert!(text(&"\0".repeat(500)).chars().count() < MOST + 10);
        assert_eq!(
            text("e\u{301} \u{3164}\u{fe0f}|\u{e0100}\u{2800}"),
            "e\u{301} \\u{3164}\\u{fe0f}|\\u{e0100}\\u{2800}"
        );
        assert_eq!(value(&json!(["a", 1])), r#"["a",1]"#);
        assert_eq!(value(&Value::Array(vec![json!(1); 1000])), "[… 1000 items]");
    }
}
