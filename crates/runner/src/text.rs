//! A text that a child wrote, masked: as much of its beginning as is kept, and how much there was.
//!
//! A text that is not kept whole is never held whole a second time: it is masked piece by piece, each piece with as much
//! beside it as a secret may reach. Refuses to know where the text stands. Start at [`within`] and [`output`].

use gatelatch_secrets::secret::Loan;

use crate::tree::{character_bytes, text_bytes};

/// How much is masked at once, at least.
const PIECE: usize = 64 * 1024;

/// A text, as far as it is kept.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Text {
    /// Its beginning, masked.
    pub(crate) kept: String,
    /// How many characters there were, masked.
    pub(crate) characters: u64,
    /// How many bytes they would take as JSON, quotes included.
    pub(crate) bytes: u64,
    /// Whether bytes were replaced that are no text.
    pub(crate) is_lossy: bool,
}

impl Text {
    fn of(text: &str, keep: usize) -> Text {
        Text {
            kept: beginning(text, keep).to_owned(),
            characters: text.chars().count() as u64,
            bytes: text_bytes(text) as u64,
            is_lossy: false,
        }
    }
}

/// A text of which at most `keep` bytes of JSON are kept.
pub(crate) fn within(text: &str, loan: &Loan, keep: usize) -> Text {
    if loan.is_empty() {
        return Text::of(text, keep);
    }
    if text.len() <= PIECE {
        return Text::of(&loan.mask(text), keep);
    }
    let mut tally = Tally::default();
    for_each_piece(text.as_bytes(), loan, |piece| tally.add(piece));
    let kept = beginning(&masked_beginning(text.as_bytes(), loan, keep), keep).to_owned();
    Text { kept, ..tally.text() }
}

/// What a child wrote that is no JSON, without the line ends that close it, of which at most `keep` bytes of JSON are
/// kept.
pub(crate) fn output(bytes: &[u8], loan: &Loan, keep: usize) -> Text {
    let mut tally = Tally::default();
    for_each_piece(bytes, loan, |piece| tally.add(piece));
    let text = tally.without_last_line_ends().text();
    let beginning_masked = masked_beginning(bytes, loan, keep);
    let kept = beginning(&beginning_masked, keep);
    // The line ends that close the text may be within what is kept.
    let kept = match kept.char_indices().nth(usize::try_from(text.characters).unwrap_or(usize::MAX)) {
        Some((end, _)) => &kept[..end],
        None => kept,
    };
    Text { kept: kept.to_owned(), ..text }
}

/// As much of the beginning as takes at most `keep` bytes of JSON.
fn beginning(text: &str, keep: usize) -> &str {
    let mut size = 2;
    for (at, character) in text.char_indices() {
        size += character_bytes(character);
        if size > keep {
            return &text[..at];
        }
    }
    text
}

/// The first `keep` bytes, masked. What comes behind them is only looked at, as far as a secret may reach.
fn masked_beginning(text: &[u8], loan: &Loan, keep: usize) -> String {
    let end = border(text, keep);
    let known = &text[..text.len().min(end.saturating_add(loan.reach()))];
    String::from_utf8_lossy(&loan.mask_within(known, 0..end)).into_owned()
}

/// Tells the whole text, masked, in pieces that end between two characters.
fn for_each_piece(text: &[u8], loan: &Loan, mut tell: impl FnMut(&[u8])) {
    if loan.is_empty() {
        return tell(text);
    }
    let reach = loan.reach();
    let mut start = 0;
    while start < text.len() {
        let end = border(text, start.saturating_add(PIECE.max(reach)));
        let known = start.saturating_sub(reach)..text.len().min(end.saturating_add(reach));
        let shown = start - known.start..end - known.start;
        tell(&loan.mask_within(&text[known], shown));
        start = end;
    }
}

/// The nearest place at or before `at` that stands between two characters, or `at` where there is no text.
fn border(text: &[u8], at: usize) -> usize {
    if at >= text.len() {
        return text.len();
    }
    let is_between = |at: &usize| text[*at] & 0b1100_0000 != 0b1000_0000;
    (at.saturating_sub(3)..=at).rev().find(is_between).filter(|place| *place > 0).unwrap_or(at)
}

/// Counts a text that comes in pieces.
#[derive(Default)]
struct Tally {
    characters: u64,
    bytes: u64,
    /// The line ends at the end of what has come.
    last_line_ends: u64,
    is_lossy: bool,
}

impl Tally {
    fn add(&mut self, piece: &[u8]) {
        for chunk in piece.utf8_chunks() {
            let text = chunk.valid();
            self.characters += text.chars().count() as u64;
            self.bytes += text_bytes(text) as u64 - 2;
            let ends = text.len() - text.trim_end_matches(['\n', '\r']).len();
            self.last_line_ends = if ends == text.len() { self.last_line_ends + ends as u64 } else { ends as u64 };
            if !chunk.invalid().is_empty() {
                self.characters += 1;
                self.bytes += char::REPLACEMENT_CHARACTER.len_utf8() as u64;
                self.last_line_ends = 0;
                self.is_lossy = true;
            }
        }
    }

    fn without_last_line_ends(self) -> Tally {
        // As JSON each of them takes two bytes.
        Tally {
            characters: self.characters - self.last_line_ends,
            bytes: self.bytes - 2 * self.last_line_ends,
            last_line_ends: 0,
            ..self
        }
    }

    fn text(self) -> Text {
        Text { kept: String::new(), characters: self.characters, bytes: self.bytes + 2, is_lossy: self.is_lossy }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn loan(secret: &str) -> Loan {
        let environment = BTreeMap::from([("KEY".to_owned(), secret.to_owned())]);
        Loan::borrow(&environment, [("KEY", true)]).unwrap()
    }

    /// What is kept and counted of an output, beside what it is when it is masked whole.
    fn check(bytes: &[u8], loan: &Loan, keep: usize) -> Text {
        let whole = String::from_utf8_lossy(&loan.mask_within(bytes, 0..bytes.len())).into_owned();
        let whole = whole.trim_end_matches(['\n', '\r']);
        let text = output(bytes, loan, keep);
        assert!(whole.starts_with(&text.kept), "kept what is not there");
        assert!(text_bytes(&text.kept) <= keep.max(2));
        assert_eq!((text.characters, text.bytes), (whole.chars().count() as u64, text_bytes(whole) as u64));
        text
    }

    #[test]
    fn a_text_is_kept_up_to_a_character_and_counted_to_its_end() {
        let none = Loan::default();
        assert_eq!(check("x\"é\n\n".as_bytes(), &none, 100).kept, "x\"é");
        assert_eq!(check("x\"é\n\n".as_bytes(), &none, 6).kept, "x\"");
        assert_eq!(check(b"\n\r\n", &none, 100), Text { bytes: 2, ..Text::default() });
        let lossy = check(b"caf\xe9\xe9 \n\xf0\x9f\n", &none, 8);
        assert_eq!((lossy.kept.as_str(), lossy.is_lossy), ("caf\u{fffd}", true));
    }

    #[test]
    fn a_secret_is_masked_at_the_end_of_what_is_kept_and_at_every_border_of_pieces() {
        let loan = loan("hunter2!");
        for before in (PIECE - 9..PIECE + 2).chain(90..110) {
            let text = "é".repeat(before / 2) + &"-".repeat(before % 2) + "hunter2!" + &"\n".repeat(3);
            let kept = check(text.as_bytes(), &loan, 100).kept;
            assert!(!kept.contains("hunt"), "{before}: {kept}");
            assert!(!within(&text, &loan, PIECE + 4).kept.contains("hunt"), "{before}");
        }
    }

    #[test]
    fn a_secret_that_ends_in_a_line_end_is_masked_at_the_end_of_an_output() {
        let key = "-----BEGIN-----\nabcdef\n";
        let loan = loan(key);
        assert_eq!(check(format!("key: {key}").as_bytes(), &loan, 100).kept, "key: ***KEY***");
    }

    proptest! {
        #[test]
        fn what_is_kept_is_the_beginning_of_the_whole_and_the_counts_are_the_whole_s(
            pieces in proptest::collection::vec(prop_oneof![
                "[a-c\"\\\\ \n\u{1}é😀]{0,20}".prop_map(String::into_bytes),
                Just(b"hunter2!".to_vec()),
                Just(br"\u0068unter2!".to_vec()),
                Just(b"aHVudGVyMiE".to_vec()),
                proptest::collection::vec(any::<u8>(), 0..6),
                Just(vec![b'-'; PIECE]),
                Just(vec![b'\n'; 5]),
            ], 0..12),
            keep in 0_usize..200,
            has_secret in any::<bool>(),
        ) {
            let bytes = pieces.concat();
            let loan = if has_secret { loan("hunter2!") } else { Loan::default() };
            check(&bytes, &loan, keep);
            if let Ok(text) = std::str::from_utf8(&bytes) {
                let whole = loan.mask(text);
                let counted = within(text, &loan, keep);
                prop_assert!(whole.starts_with(&counted.kept));
                prop_assert_eq!((counted.characters, counted.bytes), (whole.chars().count() as u64, text_bytes(&whole) as u64));
            }
        }
    }
}
