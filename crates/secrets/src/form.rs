//! The forms in which a secret may come back: as it is, and encoded in every usual way.
//!
//! Owns what is looked for. JSON's escapes are no form: they are undone before the search, since a writer may escape
//! any character or none. Refuses to know how a text is searched. Start at `forms`.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::GeneralPurpose;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};

/// What a form is besides its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// It is found as it stands.
    Plain,
    /// Base64. It may be wrapped into lines, and within a longer text the first and the last character hold bits of the
    /// secret and bits of its neighbour: those belong to it, too.
    Base64 { left: bool, right: bool },
}

/// Every form of a value, each once.
pub(crate) fn forms(value: &str) -> BTreeMap<Vec<u8>, Shape> {
    let mut forms: BTreeMap<Vec<u8>, Shape> = base64_forms(value.as_bytes()).into_iter().collect();
    // After the base64 forms: one that is found as it stands is plain.
    let plain = url_forms(value).into_iter().map(String::into_bytes).chain([value.as_bytes().to_vec()]);
    forms.extend(plain.map(|form| (form, Shape::Plain)));
    forms
}

/// Whether a byte can stand in base64, of either alphabet.
pub(crate) fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

/// The characters that depend on the value alone, for each of the three places at which it can start within what was
/// encoded, in both alphabets.
fn base64_forms(value: &[u8]) -> Vec<(Vec<u8>, Shape)> {
    let mut forms = Vec::new();
    for alphabet in [STANDARD_NO_PAD, URL_SAFE_NO_PAD] {
        for before in 0..3 {
            forms.push(base64_form(&alphabet, value, before));
        }
    }
    forms
}

fn base64_form(alphabet: &GeneralPurpose, value: &[u8], before: usize) -> (Vec<u8>, Shape) {
    let mut padded = vec![0; before];
    padded.extend_from_slice(value);
    let encoded = alphabet.encode(&padded);
    // Six bits a character: the first that starts at or after the value's first bit, and the last that ends within it.
    let from = (before * 8).div_ceil(6);
    let to = padded.len() * 8 / 6;
    let shape = Shape::Base64 { left: before > 0, right: !padded.len().is_multiple_of(3) };
    (encoded.as_bytes()[from..to].to_vec(), shape)
}

/// What is left as it is by the strictest encoder, by Python's `quote`, by `encodeURIComponent` and by `encodeURI`; and
/// by an encoder that leaves nothing as it is but letters and digits.
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');
const PATH: &AsciiSet = &UNRESERVED.remove(b'/');
const FORM: &AsciiSet = &UNRESERVED.add(b'~').remove(b'*');
const COMPONENT: &AsciiSet = &UNRESERVED.remove(b'!').remove(b'*').remove(b'\'').remove(b'(').remove(b')');
const WHOLE: &AsciiSet = &COMPONENT
    .remove(b';')
    .remove(b'/')
    .remove(b'?')
    .remove(b':')
    .remove(b'@')
    .remove(b'&')
    .remove(b'=')
    .remove(b'+')
    .remove(b'$')
    .remove(b',')
    .remove(b'#');

/// What encoders of URLs make of the value, in upper and lower hexadecimal digits, a space as `%20` or `+`.
fn url_forms(value: &str) -> Vec<String> {
    let mut forms = Vec::new();
    for set in [NON_ALPHANUMERIC, UNRESERVED, PATH, FORM, COMPONENT, WHOLE] {
        let upper = percent_encode(value.as_bytes(), set).to_string();
        let lower = lower_escapes(&upper);
        forms.extend([upper.replace("%20", "+"), lower.replace("%20", "+"), upper, lower]);
    }
    forms
}

/// `%2F` as `%2f`. What is no escape keeps its case: every `%` here begins one, since a literal one is escaped itself.
fn lower_escapes(encoded: &str) -> String {
    let mut left = 0_usize;
    encoded
        .chars()
        .map(|character| {
            left = if character == '%' { 3 } else { left.saturating_sub(1) };
            if left > 0 { character.to_ascii_lowercase() } else { character }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE};

    fn has(value: &str, form: &str) -> bool {
        forms(value).contains_key(form.as_bytes())
    }

    #[test]
    fn urls_are_known_as_their_encoders_write_them() {
        let value = "a b/c+d~é*%Fx";
        assert!(has(value, "a%20b%2Fc%2Bd~%C3%A9%2A%25Fx"), "strict");
        assert!(has(value, "a%20b/c%2Bd~%C3%A9%2A%25Fx"), "python's quote");
        assert!(has(value, "a+b%2Fc%2Bd~%C3%A9%2A%25Fx"), "python's quote_plus");
        assert!(has(value, "a+b%2Fc%2Bd%7E%C3%A9*%25Fx"), "a browser's form");
        assert!(has(value, "a%20b%2fc%2bd~%c3%a9%2a%25Fx"), "lower digits, and what is no digit is left alone");
        assert!(has(value, "a%20b/c+d~%C3%A9*%25Fx"), "encodeURI");
    }

    #[test]
    fn base64_is_known_wherever_it_starts() {
        for value in ["secret", "secret7", "secret78", "~~~???>>>"] {
            for before in ["", "x", "xy", "xyz", "user:"] {
                for after in ["", "!", "!!", "!!!"] {
                    for alphabet in [STANDARD, URL_SAFE] {
                        let text = alphabet.encode(format!("{before}{value}{after}"));
                        let found = forms(value).keys().any(|form| text.contains(std::str::from_utf8(form).unwrap()));
                        assert!(found, "{value} in {text}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_plain_value_has_few_forms() {
        // Itself, and base64 at three places in alphabets that agree on it.
        assert_eq!(forms("abcdef").len(), 4);
    }
}
