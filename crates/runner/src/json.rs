//! JSON that a child wrote, masked: read first and masked then, so that a mask never breaks its structure.
//!
//! Refuses to know what the values mean. Start at `read`.

use gatelatch_secrets::secret::{Loan, SHORTEST};
use serde_json::{Map, Value};

/// The value that the bytes are as a whole, masked; `None` when they are no JSON.
pub(crate) fn read(bytes: &[u8], loan: &Loan) -> Option<Value> {
    let value = serde_json::from_slice(bytes).ok()?;
    if loan.is_empty() {
        return Some(value);
    }
    // Digits that no number keeps are only seen in the text.
    let value = match with_masked_numbers(bytes, loan) {
        Some(text) => serde_json::from_slice(&text).ok()?,
        None => value,
    };
    Some(masked(value, loan))
}

/// Masks every text, whatever escapes it was written with. A number that holds a secret becomes a text.
fn masked(value: Value, loan: &Loan) -> Value {
    match value {
        Value::String(text) => Value::String(loan.mask(&text)),
        Value::Array(items) => items.into_iter().map(|item| masked(item, loan)).collect(),
        Value::Object(fields) => {
            let fields = fields.into_iter().map(|(name, field)| (loan.mask(&name), masked(field, loan)));
            Value::Object(fields.collect::<Map<String, Value>>())
        }
        Value::Number(number) => {
            let text = number.to_string();
            let masked = loan.mask(&text);
            if masked == text { Value::Number(number) } else { Value::String(masked) }
        }
        Value::Null | Value::Bool(_) => value,
    }
}

/// Valid JSON with every number that holds a secret as a masked text; `None` when there is none.
fn with_masked_numbers(json: &[u8], loan: &Loan) -> Option<Vec<u8>> {
    let mut masked = Vec::new();
    let (mut at, mut copied) = (0, 0);
    while at < json.len() {
        let length = match json[at] {
            b'"' => text_length(&json[at..]),
            b'-' | b'0'..=b'9' => number_length(&json[at..]),
            _ => 1,
        };
        let token = &json[at..at + length];
        if length >= SHORTEST && token[0] != b'"' {
            let shown = loan.mask_within(token, 0..length);
            if shown != token {
                masked.extend_from_slice(&json[copied..at]);
                masked.push(b'"');
                masked.extend_from_slice(&shown);
                masked.push(b'"');
                copied = at + length;
            }
        }
        at += length;
    }
    if copied == 0 {
        return None;
    }
    masked.extend_from_slice(&json[copied..]);
    Some(masked)
}

fn text_length(json: &[u8]) -> usize {
    let mut at = 1;
    while at < json.len() && json[at] != b'"' {
        at += if json[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(json.len())
}

fn number_length(json: &[u8]) -> usize {
    let is_part = |byte: &&u8| matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9');
    json.iter().take_while(is_part).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::collections::BTreeMap;

    fn check(secret: &str, text: &str, expected: Value) {
        let environment = BTreeMap::from([("KEY".to_owned(), secret.to_owned())]);
        let loan = Loan::borrow(&environment, [("KEY", true)]).unwrap();
        assert_eq!(read(text.as_bytes(), &loan), Some(expected), "{text}");
    }

    #[test]
    fn a_secret_hidden_by_json_s_escapes_is_masked() {
        let sly = r#"{"\u0068unter2!": ["\u0068\u0075nter2!", 1]}"#;
        check("hunter2!", sly, json!({"***KEY***": ["***KEY***", 1]}));
    }

    #[test]
    fn a_number_that_holds_a_secret_becomes_a_text_and_the_rest_stays() {
        let text =
            r#"{"12345678": 12345678, "a": [-12345678, 1234567, 9123456780.5, "\"12345678,\\"], "b": 1.2345678e7}"#;
        let masked = json!({
            "***KEY***": "***KEY***",
            "a": ["-***KEY***", 1_234_567, "9***KEY***0.5", "\"***KEY***,\\"],
            "b": "***KEY***.0",
        });
        check("12345678", text, masked);
        check("12345678", "12345678", json!("***KEY***"));
        // No number keeps all of these.
        let long = "123456789012345678901234567890";
        check(long, &format!("[{long}, 0.{long}]"), json!(["***KEY***", "0.***KEY***"]));
    }

    #[test]
    fn an_escape_is_never_torn_apart() {
        check("nabcde", r#"{"v": "x\nabcde"}"#, json!({"v": "x\nabcde"}));
        check("00e9aa", r#"{"v": "\u00e9aa"}"#, json!({"v": "éaa"}));
    }
}
