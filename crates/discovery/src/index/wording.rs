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
    /// Which sentence or further wish of the question it stands in, from 0.
    pub(super) part: usize,
}

/// A word within quotes is a value more often than a wish.
const QUOTED: f32 = 0.3;

/// So is one with digits in it.
const NUMBER: f32 = 0.3;

/// `find`, `show`: what to do, but not with what.
const ORDER: f32 = 0.7;

/// `please`, `looking`.
const TALK: f32 = 0.4;

/// How many words of a text are read: beyond that it is no question.
const LONGEST: usize = 160;

/// How many bytes of it, since not every script has spaces.
const LONGEST_BYTES: usize = 8 << 10;

/// The words of a question in order. `grammar` is the weight of words such as `the`.
pub(super) fn read(text: &str, grammar: f32) -> Vec<Asked> {
    let mut asked: Vec<Asked> = Vec::new();
    let (mut quoted, mut part) = (false, Partition::default());
    for chunk in words::beginning(text, LONGEST_BYTES)
        .split_whitespace()
        .take(LONGEST)
        .flat_map(|chunk| chunk.split_inclusive(WIDE_STOPS))
    {
        let part = part.of(chunk);
        quoted |= chunk.starts_with(QUOTES);
        let quote = if quoted { QUOTED } else { 1.0 };
        for kind in kinds(chunk) {
            asked.push(Asked { word: (*kind).to_owned(), role: Role::Whole, weight: 1.0, part });
        }
        words::scan(chunk, &mut |word, role| {
            let number = if word.bytes().any(|byte| byte.is_ascii_digit()) { NUMBER } else { 1.0 };
            let own = match words::weight(word) {
                Weight::Full => 1.0,
                Weight::Order => ORDER,
                Weight::Talk => TALK,
                Weight::Grammar => grammar,
            };
            asked.push(Asked { word: word.to_owned(), role, weight: own * quote * number, part });
        });
        quoted &= !chunk.trim_end_matches(['.', ',', '?', '!', ';', ':', ')']).ends_with(QUOTES);
    }
    asked.truncate(LONGEST);
    asked
}

/// Where the parts of a question begin, chunk by chunk.
#[derive(Default)]
struct Partition {
    part: usize,
    /// Chunks in the part so far.
    chunks: usize,
    /// Whether the last chunk ended a sentence.
    ended: bool,
}

/// So many chunks are a sentence: fewer belong to what follows.
const LEAST_SENTENCE: usize = 2;

/// So many chunks stand before a word that opens a further wish.
const LEAST_WISH: usize = 3;

/// What comes after so many parts belongs to the last.
const MOST_PARTS: usize = 12;

/// Words that open a further wish within a sentence.
const FURTHER: [&str; 8] =
    ["then", "also", "finally", "additionally", "afterwards", "lastly", "furthermore", "moreover"];

impl Partition {
    /// The part that the next chunk stands in.
    fn of(&mut self, chunk: &str) -> usize {
        let bare = chunk.trim_matches(|c: char| !c.is_alphanumeric());
        let opens = self.chunks >= LEAST_WISH && FURTHER.iter().any(|word| bare.eq_ignore_ascii_case(word));
        let ended = self.ended && self.chunks >= LEAST_SENTENCE;
        if (opens || ended) && self.part + 1 < MOST_PARTS {
            self.part += 1;
            self.chunks = 0;
        }
        self.chunks += 1;
        self.ended = ends_sentence(chunk);
        self.part
    }
}

/// Ends of sentences in scripts that put no space after them.
const WIDE_STOPS: [char; 4] = ['。', '？', '！', '；'];

fn ends_sentence(chunk: &str) -> bool {
    let bare = chunk.trim_end_matches(QUOTES).trim_end_matches(')');
    bare.ends_with(['.', '?', '!', ';']) || bare.ends_with(WIDE_STOPS)
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
            "please:0.4 find:0.7 the:0.0 weather:1.0 in:0.0 new:0.1 york:0.3 for:0.0 3:0.3 days:0.4"
        );
    }

    #[test]
    fn a_question_falls_into_sentences_and_further_wishes() {
        for (text, expected) in [
            ("what is the weather in Paris", "what is the weather in paris"),
            ("Book a room. Then tell Ann!", "book a room | then tell ann"),
            ("Book a room for two and then tell \"Ann\"", "book a room for two and | then tell ann"),
            (
                "Hi. Book v1.2 at 3.5 please; also call (now.) and go",
                "hi book v1 2 v12 at 3 5 please | also call now | and go",
            ),
            ("then also list them", "then also list them"),
            ("予定。天気？", "予定 天気"),
            ("", ""),
        ] {
            let asked = read(text, 0.0);
            let parts = asked.chunk_by(|one, other| one.part == other.part);
            let shown = |part: &[Asked]| part.iter().map(|asked| asked.word.as_str()).collect::<Vec<_>>().join(" ");
            assert_eq!(parts.map(shown).collect::<Vec<_>>().join(" | "), expected);
        }
        let long = read(&"one two. ".repeat(60), 0.0);
        assert_eq!(long.last().unwrap().part, MOST_PARTS - 1);
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
