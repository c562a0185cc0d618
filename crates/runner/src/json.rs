//! JSON that a child wrote, masked: read first and masked then, so that a mask never breaks its structure.
//!
//! Refuses to know what the values mean. Start at `read`.

use std::borrow::Cow;
use std::io;

use gatelatch_secrets::secret::{Loan, SHORTEST};
use serde_json::{Map, Value};

use crate::bounded::{self, Bounded};
use crate::tree::Shortened;

/// The value that the bytes are as a whole, masked; `None` when they are no JSON.
///
/// Of more than `keep` bytes only as much is held as an answer of that size can show; what is missing is told.
pub(crate) fn read(bytes: &[u8], loan: &Loan, keep: Option<usize>) -> Option<(Value, Option<Shortened>)> {
    match keep {
        Some(keep) if bytes.len() > keep => bounded::read(bytes, loan, keep).map(Bounded::into_value),
        _ => Some((whole(bytes, loan)?, None)),
    }
}

/// The same, held whole.
pub(crate) fn whole(bytes: &[u8], loan: &Loan) -> Option<Value> {
    let value = serde_json::from_slice(bytes).ok()?;
    if loan.is_empty() {
        return Some(value);
    }
    // Digits that no number keeps are only seen in the text.
    let value = match MaskedNumbers::of(bytes, loan) {
        Some(pieces) => serde_json::from_slice(&pieces.collect::<Vec<_>>().concat()).ok()?,
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

/// Valid JSON in pieces, with every number that holds a secret as a masked text.
pub(crate) struct MaskedNumbers<'a> {
    json: &'a [u8],
    /// Up to here everything was told.
    at: usize,
    loan: &'a Loan,
    /// The text that comes next instead of a number.
    number: Option<Vec<u8>>,
}

impl<'a> MaskedNumbers<'a> {
    /// `None` when no number holds a secret.
    pub(crate) fn of(json: &'a [u8], loan: &'a Loan) -> Option<MaskedNumbers<'a>> {
        let has_one = MaskedNumbers { json, at: 0, loan, number: None }.next()?.len() < json.len();
        has_one.then_some(MaskedNumbers { json, at: 0, loan, number: None })
    }
}

impl<'a> Iterator for MaskedNumbers<'a> {
    type Item = Cow<'a, [u8]>;

    fn next(&mut self) -> Option<Cow<'a, [u8]>> {
        if let Some(number) = self.number.take() {
            return Some(Cow::Owned(number));
        }
        let (json, start) = (self.json, self.at);
        if start == json.len() {
            return None;
        }
        while self.at < json.len() {
            let at = self.at;
            let length = match json[at] {
                b'"' => text_length(&json[at..]),
                b'-' | b'0'..=b'9' => number_length(&json[at..]),
                _ => 1,
            };
            self.at += length;
            let token = &json[at..at + length];
            if length >= SHORTEST && token[0] != b'"' {
                let shown = self.loan.mask_within(token, 0..length);
                if shown != token {
                    self.number = Some([b"\"".as_slice(), &shown, b"\""].concat());
                    return Some(Cow::Borrowed(&json[start..at]));
                }
            }
        }
        Some(Cow::Borrowed(&json[start..]))
    }
}

/// Reads the pieces one after the other, so that they are never held together.
pub(crate) struct MaskedReader<'a> {
    pieces: MaskedNumbers<'a>,
    piece: Cow<'a, [u8]>,
    at: usize,
}

impl<'a> MaskedReader<'a> {
    pub(crate) fn new(pieces: MaskedNumbers<'a>) -> MaskedReader<'a> {
        MaskedReader { pieces, piece: Cow::Borrowed(&[]), at: 0 }
    }
}

impl io::Read for MaskedReader<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.at == self.piece.len() {
            match self.pieces.next() {
                Some(piece) => (self.piece, self.at) = (piece, 0),
                None => return Ok(0),
            }
        }
        let rest = &self.piece[self.at..];
        let length = rest.len().min(into.len());
        into[..length].copy_from_slice(&rest[..length]);
        self.at += length;
        Ok(length)
    }
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
        assert_eq!(read(text.as_bytes(), &loan, None), Some((expected.clone(), None)), "{text}");
        // The other way of reading masks the same.
        let (read, shortened) = bounded::read(text.as_bytes(), &loan, 1 << 10).unwrap().into_value();
        assert_eq!((read, shortened), (expected, None), "{text}");
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
