//! What texts are about, as directions: a text's words add up to one, and texts that mean much the same point much the
//! same way, whatever their words.
//!
//! Owns the table of words' directions (`meanings/meanings.bin`, made by the `distil.py` beside it) and how alike two
//! directions are. Sums are of integers, and what is divided and rooted is rounded by IEEE 754, so that every platform
//! computes the same. It refuses to find anything: it orders what words have found. Start at [`Meanings::of`] and
//! [`asked`].

use std::cmp::Ordering;
use std::sync::LazyLock;

use super::wording::Asked;
use super::words;
use super::{FIELD_COUNT, Index};

/// How many numbers a direction has.
const DIMENSIONS: usize = 64;

/// How much a word in a field adds to what a document is about, by [`super::Field`].
const FIELDS: [i32; FIELD_COUNT] = [1, 1, 2, 1, 2, 1, 2, 1];

/// The directions of all documents of an index.
#[derive(Debug)]
pub(super) struct Meanings(Vec<Direction>);

impl Meanings {
    /// Adds up the words of each document.
    pub(super) fn of(index: &Index) -> Meanings {
        let mut sums = vec![[0; DIMENSIONS]; index.documents.len()];
        for (term, text) in index.terms() {
            let Some(word) = TABLE.find(text) else { continue };
            for posting in index.postings(term) {
                if let Some(sum) = sums.get_mut(posting.document as usize) {
                    let mentions = posting.counts.iter().zip(FIELDS).map(|(count, field)| i32::from(*count) * field);
                    add(sum, &word, mentions.sum());
                }
            }
        }
        Meanings(sums.iter().map(Direction::new).collect())
    }

    /// How much a document is about what is asked: 0 where nothing is known of either, 1 at most.
    pub(super) fn likeness(&self, document: usize, asked: &Direction) -> f32 {
        self.0.get(document).map_or(0.0, |direction| direction.likeness(asked))
    }
}

/// What a question is about.
pub(super) fn asked(words: &[Asked]) -> Direction {
    let mut sum = [0; DIMENSIONS];
    for asked in words.iter().filter(|asked| asked.weight > 0.0) {
        if let Some(word) = TABLE.find(&words::stem(&asked.word)) {
            add(&mut sum, &word, 1);
        }
    }
    Direction::new(&sum)
}

/// Where a text points.
#[derive(Clone, Copy, Debug)]
pub(super) struct Direction {
    parts: [i8; DIMENSIONS],
    /// Of `parts`; 0 if nothing is known.
    length: f32,
}

impl Direction {
    fn new(sum: &[i32; DIMENSIONS]) -> Direction {
        let largest = sum.iter().map(|part| part.unsigned_abs()).max().unwrap_or(0).max(1) as f32;
        let parts = sum.map(|part| (part as f32 * 127.0 / largest) as i8);
        Direction { parts, length: (product(&parts, &parts) as f32).sqrt() }
    }

    fn likeness(&self, other: &Direction) -> f32 {
        let lengths = self.length * other.length;
        if lengths > 0.0 { (product(&self.parts, &other.parts) as f32 / lengths).clamp(0.0, 1.0) } else { 0.0 }
    }
}

fn product(one: &[i8; DIMENSIONS], other: &[i8; DIMENSIONS]) -> i32 {
    one.iter().zip(other).map(|(one, other)| i32::from(*one) * i32::from(*other)).sum()
}

/// No text is long enough to overflow; an index of foreign bytes may say that it is.
fn add(sum: &mut [i32; DIMENSIONS], word: &[i8; DIMENSIONS], times: i32) {
    for (sum, part) in sum.iter_mut().zip(word) {
        *sum = sum.wrapping_add(times * i32::from(*part));
    }
}

/// The words with a direction, in order. It stays in the program's file until a search reads it.
struct Table {
    /// Where each word ends in `text`.
    ends: &'static [[u8; 4]],
    text: &'static [u8],
    /// Signed numbers as bytes, by word.
    parts: &'static [[u8; DIMENSIONS]],
}

static TABLE: LazyLock<Table> = LazyLock::new(|| Table::read(FILE).unwrap_or(Table::EMPTY));

/// Empty where the feature is off: then nothing is known of any word, and words alone order what they find.
const FILE: &[u8] = if cfg!(feature = "meanings") { include_bytes!("../../meanings/meanings.bin") } else { &[] };

impl Table {
    const EMPTY: Table = Table { ends: &[], text: &[], parts: &[] };

    fn read(bytes: &'static [u8]) -> Option<Table> {
        let (count, rest) = bytes.split_first_chunk::<4>()?;
        let count = u32::from_le_bytes(*count) as usize;
        let (ends, rest) = rest.split_at_checked(count.checked_mul(4)?)?;
        let ends = ends.as_chunks::<4>().0;
        let length = ends.last().map_or(0, |end| u32::from_le_bytes(*end) as usize);
        let (text, rest) = rest.split_at_checked(length)?;
        let (parts, rest) = rest.as_chunks::<DIMENSIONS>();
        (rest.is_empty() && parts.len() == count).then_some(Table { ends, text, parts })
    }

    fn find(&self, word: &str) -> Option<[i8; DIMENSIONS]> {
        let (mut low, mut high) = (0, self.ends.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.word(middle)?.cmp(word.as_bytes()) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return self.parts.get(middle).map(|parts| parts.map(u8::cast_signed)),
            }
        }
        None
    }

    fn word(&self, at: usize) -> Option<&[u8]> {
        let end = |at: usize| self.ends.get(at).map(|end| u32::from_le_bytes(*end) as usize);
        let start = if at == 0 { 0 } else { end(at - 1)? };
        self.text.get(start..end(at)?)
    }
}

#[cfg(all(test, feature = "meanings"))]
mod tests {
    use super::super::wording;
    use super::*;

    fn about(text: &str) -> Direction {
        asked(&wording::read(text, 0.0))
    }

    #[test]
    fn the_table_is_whole_and_in_order() {
        let words: Vec<&[u8]> = (0..TABLE.ends.len()).map(|at| TABLE.word(at).unwrap()).collect();
        assert!(words.len() > 10_000, "{} words", words.len());
        assert!(words.is_sorted_by(|one, other| one < other));
        for word in words {
            let word = std::str::from_utf8(word).unwrap();
            assert!(TABLE.find(word).is_some(), "{word}");
        }
        assert!(TABLE.find("").is_none() && TABLE.find("xyzzyx").is_none() && TABLE.find("\u{10ffff}").is_none());
    }

    #[test]
    fn bytes_that_do_not_add_up_are_no_table() {
        for wrong in [&FILE[..0], &FILE[..3], &FILE[..1_000], &FILE[..FILE.len() - 1], &FILE[4..]] {
            assert!(Table::read(wrong).is_none());
        }
    }

    /// Words are filed under the stems of the search: were the table made with others, most of it would never be found.
    #[test]
    fn inflected_words_are_found_by_the_stems_of_the_search() {
        for word in ["movies", "queries", "organization", "running", "children", "cities", "analyses", "happily"] {
            assert!(TABLE.find(&words::stem(word)).is_some(), "{word}");
        }
    }

    #[test]
    fn texts_about_one_thing_are_more_alike_than_others() {
        for (text, near, far) in [
            ("book a flight to Paris", "reserve airplane tickets", "convert a file into another format"),
            ("my tooth hurts", "find a dentist nearby", "download a repository"),
            ("how hot will it be tomorrow", "weather forecast", "currency exchange rates"),
        ] {
            let likeness = |other| about(text).likeness(&about(other));
            assert!(likeness(near) > likeness(far), "{text}: {} {}", likeness(near), likeness(far));
        }
    }

    #[test]
    fn likeness_lies_between_nothing_and_all() {
        let (text, unknown) = (about("send a message"), about("zzqx 電子"));
        assert!((text.likeness(&text) - 1.0).abs() < 1e-5);
        assert_eq!((text.likeness(&unknown), unknown.likeness(&unknown)), (0.0, 0.0));
    }
}
