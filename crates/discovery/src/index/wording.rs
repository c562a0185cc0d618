//! How a question is worded: which of its words say what is wanted, and which are only the values to do it with.
//!
//! Owns the weights of quoted text, numbers, talk and orders, and what the shape of a value gives away: `2024-05-01` is
//! a date. Knows no index. Start at [`read`].

use super::words::{self, Role, Weight};

/// A word of a question.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Asked {
    pub(super) word: String,
    pub(super) role: Role,
    /// From 0, says nothing, to 1.
    pub(super) weight: f32,
}

/// A word within quotes is a value more often than a wish.
const QUOTED: f32 = 0.3;

/// So is one with digits in it.
const NUMBER: f32 = 0.3;

/// `find`, `show`: what to do, but not with what.
const ORDER: f32 = 0.7;

/// `please`, `looking`.
const TALK: f32 = 0.2;

/// How many words of a text are read: beyond that it is no question.
const LONGEST: usize = 160;

/// The words of a question in order. `grammar` is the weight of words such as `the`.
pub(super) fn read(text: &str, grammar: f32) -> Vec<Asked> {
    let mut asked = Vec::new();
    let mut quoted = false;
    for chunk in text.split_whitespace().take(LONGEST) {
        quoted |= chunk.starts_with(QUOTES);
        let quote = if quoted { QUOTED } else { 1.0 };
        for kind in kinds(chunk) {
            asked.push(Asked { word: (*kind).to_owned(), role: Role::Whole, weight: 1.0 });
        }
        words::scan(chunk, &mut |word, role| {
            let number = if word.bytes().any(|byte| byte.is_ascii_digit()) { NUMBER } else { 1.0 };
            let own = match words::weight(word) {
                Weight::Full => 1.0,
                Weight::Order => ORDER,
                Weight::Talk => TALK,
                Weight::Grammar => grammar,
            };
            asked.push(Asked { word: word.to_owned(), role, weight: own * quote * number });
        });
        quoted &= !chunk.trim_end_matches(['.', ',', '?', '!', ';', ':', ')']).ends_with(QUOTES);
    }
    asked.truncate(LONGEST);
    asked
}

const QUOTES: [char; 8] = ['"', '\'', '“', '”', '‘', '’', '«', '»'];

/// What the shape of a value says it is.
fn kinds(chunk: &str) -> &'static [&'static str] {
    let value = chunk.trim_matches(|c: char| !c.is_alphanumeric() && !"$€£¥%°".contains(c)).to_lowercase();
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let has = |characters: &[char]| value.contains(characters);
    match digits {
        _ if value.starts_with("http") || value.starts_with("www.") => &["url"],
        _ if value.contains('@') && value.contains('.') => &["email"],
        0 => &[],
        _ if has(&['$', '€', '£', '¥']) => &["amount", "money"],
        _ if has(&['°']) => &["temperature"],
        _ if has(&['%']) => &["percentage"],
        1..=4 if value.ends_with("am") || value.ends_with("pm") || value.contains(':') => &["time"],
        6..=8 if has(&['-', '/', '.']) && value.chars().all(|c| c.is_ascii_digit() || "-/.".contains(c)) => &["date"],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        read(text, 0.0).iter().map(|asked| format!("{}:{:.1}", asked.word, asked.weight)).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_is_wanted_weighs_more_than_talk_and_values() {
        assert_eq!(
            shown("Please find the weather in 'New York' for 3 days"),
            "please:0.2 find:0.7 the:0.0 weather:1.0 in:0.0 new:0.1 york:0.3 for:0.0 3:0.3 days:0.2"
        );
    }

    #[test]
    fn the_shape_of_a_value_says_what_it_is() {
        for (value, expected) in [
            ("2024-05-01", "date"),
            ("5/1/2024,", "date"),
            ("10:30", "time"),
            ("7pm", "time"),
            ("$100", "amount"),
            ("12%", "percentage"),
            ("30°C", "temperature"),
            ("ann@example.org", "email"),
            ("https://example.org/x", "url"),
        ] {
            assert_eq!(kinds(value).first(), Some(&expected), "{value}");
        }
        for value in ["1234", "word", "a:b", "v1.2", ""] {
            assert!(kinds(value).is_empty(), "{value}");
        }
    }
}
