//! Hides secrets in a stream, wherever it is cut.
//!
//! Owns the search and what is held back for it. Start at `Masker`.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use gatelatch_spawn::child::ByteFilter;

use crate::form::{Borders, forms, is_base64};
use crate::secret::Secret;

/// What to look for, made once for a loan and shared by its filters.
pub(crate) struct Mask {
    /// `None` only if the forms are too many for the search; then everything is hidden.
    search: Option<AhoCorasick>,
    /// By the search's numbering.
    forms: Vec<Form>,
    /// Every form, sorted, to tell whether bytes begin one.
    sorted: Vec<Vec<u8>>,
    longest: usize,
}

struct Form {
    mask: String,
    borders: Borders,
}

impl Mask {
    pub(crate) fn new(secrets: &BTreeMap<String, Secret>) -> Mask {
        let mut texts: BTreeMap<Vec<u8>, Form> = BTreeMap::new();
        for (name, secret) in secrets {
            for (text, borders) in forms(secret.reveal()) {
                // Two secrets may be equal; the first name stands for both.
                texts.entry(text).or_insert_with(|| Form { mask: format!("***{name}***"), borders });
            }
        }
        let (sorted, forms): (Vec<Vec<u8>>, Vec<Form>) = texts.into_iter().unzip();
        let longest = sorted.iter().map(Vec::len).max().unwrap_or(0);
        // Of the kinds of search the one that is made soonest: a loan lives for one call.
        let search = AhoCorasick::builder().kind(Some(AhoCorasickKind::NoncontiguousNFA)).build(&sorted).ok();
        Mask { search, forms, sorted, longest }
    }

    /// Where the longest tail starts that may be the beginning of a form whose rest is still to come.
    fn unfinished(&self, text: &[u8]) -> usize {
        let from = text.len().saturating_sub(self.longest.saturating_sub(1));
        (from..text.len()).find(|start| self.begins_a_form(&text[*start..])).unwrap_or(text.len())
    }

    fn begins_a_form(&self, tail: &[u8]) -> bool {
        let next = self.sorted.partition_point(|form| form.as_slice() <= tail);
        self.sorted.get(next).is_some_and(|form| form.starts_with(tail))
    }

    /// Everything found in `text`, borders included, by its start.
    fn find(&self, text: &[u8], last: bool) -> Vec<Found> {
        let Some(search) = &self.search else { return Vec::new() };
        let mut found: Vec<Found> = search
            .find_overlapping_iter(text)
            .map(|hit| {
                let form = hit.pattern().as_usize();
                let (range, open) = self.with_borders(text, form, hit.range());
                Found { range, form, open: open && !last }
            })
            .collect();
        found.sort_by_key(|found| (found.range.start, std::cmp::Reverse(found.range.end)));
        found
    }

    fn with_borders(&self, text: &[u8], form: usize, core: Range<usize>) -> (Range<usize>, bool) {
        let Borders { left, right } = self.forms[form].borders;
        let (mut start, mut end) = (core.start, core.end);
        if left && start > 0 && is_base64(text[start - 1]) {
            start -= 1;
        }
        if right && text.get(end).copied().is_some_and(is_base64) {
            end += 1;
        }
        (start..end, right && core.end == text.len())
    }
}

struct Found {
    range: Range<usize>,
    form: usize,
    /// Its right border may still come.
    open: bool,
}

/// Masks one stream.
pub(crate) struct Masker {
    mask: Arc<Mask>,
    /// Read and not yet cut off: what may still turn out to belong to a secret.
    held: Vec<u8>,
    /// How many of the held bytes are masked already, by a mask that was passed on.
    covered: usize,
}

impl Masker {
    pub(crate) fn new(mask: Arc<Mask>) -> Masker {
        Masker { mask, held: Vec::new(), covered: 0 }
    }

    /// Passes on what is certain and holds back the rest.
    fn pass(&mut self, last: bool, passed: &mut Vec<u8>) {
        let mask = Arc::clone(&self.mask);
        if mask.search.is_none() {
            self.held.clear();
            return;
        }
        let found = mask.find(&self.held, last);
        let keep = if last { self.held.len() } else { self.keep_from(&found) };
        // Up to here everything is decided: passed on or hidden.
        let mut at = self.covered;
        for found in &found {
            if found.range.start >= at {
                if found.range.start >= keep {
                    break;
                }
                passed.extend_from_slice(&self.held[at..found.range.start]);
                passed.extend_from_slice(mask.forms[found.form].mask.as_bytes());
            }
            // One that overlaps another is hidden by the other's mask.
            at = at.max(found.range.end);
        }
        if at < keep {
            passed.extend_from_slice(&self.held[at..keep]);
        }
        self.covered = at.saturating_sub(keep);
        self.held.drain(..keep);
    }

    /// Where to cut: before what may be the beginning of a form, before a form whose border is still to come, and
    /// before the one byte in front of either that may be its border.
    fn keep_from(&self, found: &[Found]) -> usize {
        let open = found.iter().filter(|found| found.open).map(|found| found.range.start).min();
        let keep = self.mask.unfinished(&self.held).min(open.unwrap_or(usize::MAX));
        keep - usize::from(keep > 0 && is_base64(self.held[keep - 1]))
    }
}

impl ByteFilter for Masker {
    fn push(&mut self, read: &[u8], passed: &mut Vec<u8>) {
        self.held.extend_from_slice(read);
        self.pass(false, passed);
    }

    fn finish(&mut self, passed: &mut Vec<u8>) {
        self.pass(true, passed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secret::Loan;
    use base64::Engine;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
    use proptest::prelude::*;

    fn loan(values: &[&str]) -> Loan {
        let environment: BTreeMap<String, String> =
            values.iter().enumerate().map(|(number, value)| (format!("S{number}"), (*value).to_owned())).collect();
        Loan::borrow(&environment, environment.keys().map(|name| (name.as_str(), true))).unwrap()
    }

    fn masked(loan: &Loan, chunks: &[&[u8]]) -> String {
        let mut filter = loan.filter().unwrap();
        let mut passed = Vec::new();
        for chunk in chunks {
            filter.push(chunk, &mut passed);
        }
        filter.finish(&mut passed);
        String::from_utf8(passed).unwrap()
    }

    #[test]
    fn a_secret_is_masked_by_its_name_and_its_neighbours_are_left() {
        let loan = loan(&["hunter2!", "correct horse"]);
        let text = "a=hunter2! b=correct%20horse c=\"hunter2\" d=hunter2!hunter2!";
        assert_eq!(masked(&loan, &[text.as_bytes()]), "a=***S0*** b=***S1*** c=\"hunter2\" d=***S0******S0***");
    }

    #[test]
    fn a_secret_within_longer_base64_is_masked_to_its_last_bit() {
        let loan = loan(&["hunter2!"]);
        let encoded = STANDARD.encode("user:hunter2! and more");
        let plain = masked(&loan, &[format!("Basic {encoded}").as_bytes()]);
        let (before, after) = plain.strip_prefix("Basic ").unwrap().split_once("***S0***").unwrap();
        // 40 bits before it, 64 of its own: the characters 6 to 17 hold some of them.
        assert_eq!((before, after), (&encoded[..6], &encoded[18..]));
    }

    #[test]
    fn of_two_that_overlap_nothing_survives() {
        let loan = loan(&["abcdef", "defghi", "abcdefgh"]);
        assert_eq!(masked(&loan, &[b"<abcdefghi>"]), "<***S2***>");
        assert_eq!(masked(&loan, &[b"<abcdefg>"]), "<***S0***g>");
    }

    #[test]
    fn what_can_begin_no_secret_is_passed_on_at_once() {
        let loan = loan(&["hunter2!"]);
        let mut filter = loan.filter().unwrap();
        let mut passed = Vec::new();
        filter.push(b"{\"progress\": 1}\n", &mut passed);
        assert_eq!(passed, b"{\"progress\": 1}\n");
    }

    #[test]
    fn what_is_held_back_is_never_more_than_a_secret_is_long() {
        let secret = "aaaaaaaa";
        let loan = loan(&[secret]);
        let mask =
            Arc::new(Mask::new(&loan.variables().map(|(name, secret)| (name.to_owned(), secret.clone())).collect()));
        let longest = mask.longest;
        let mut masker = Masker::new(mask);
        let mut passed = Vec::new();
        for _ in 0..1000 {
            masker.push(b"aaa", &mut passed);
            assert!(masker.held.len() <= longest + 2, "{}", masker.held.len());
        }
        masker.finish(&mut passed);
        assert_eq!(passed, b"***S0***");
    }

    /// Values with everything that encoders mind.
    fn value() -> impl Strategy<Value = String> {
        proptest::string::string_regex("[a-c\"/\\\\<%+ \n~é😀]{6,12}").unwrap()
    }

    #[derive(Clone, Debug)]
    enum Piece {
        Plain(String),
        /// A form of the secret of that number.
        Hidden(usize, usize),
    }

    fn piece() -> impl Strategy<Value = Piece> {
        prop_oneof![
            proptest::string::string_regex("[a-cA-Z\"/\\\\%+ é]{0,6}").unwrap().prop_map(Piece::Plain),
            (0_usize..2, 0_usize..8).prop_map(|(secret, form)| Piece::Hidden(secret, form)),
        ]
    }

    /// The way of writing a value that `form` counts.
    fn written(value: &str, form: usize) -> String {
        match form {
            0 => value.to_owned(),
            1 => {
                let quoted = serde_json::to_string(value).unwrap();
                quoted[1..quoted.len() - 1].to_owned()
            }
            2 => STANDARD.encode(value),
            3 => URL_SAFE_NO_PAD.encode(value),
            4 => STANDARD.encode(format!("u{value}v")),
            5 => STANDARD.encode(format!("us{value}")),
            6 => percent_encoding::percent_encode(value.as_bytes(), percent_encoding::NON_ALPHANUMERIC).to_string(),
            _ => percent_encoding::percent_encode(value.as_bytes(), percent_encoding::NON_ALPHANUMERIC)
                .to_string()
                .replace("%20", "+"),
        }
    }

    fn cut<'a>(text: &'a [u8], cuts: &[proptest::sample::Index]) -> Vec<&'a [u8]> {
        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
        at.extend([0, text.len()]);
        at.sort_unstable();
        at.windows(2).map(|ends| &text[ends[0]..ends[1]]).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

        #[test]
        fn however_a_stream_is_cut_no_form_of_a_secret_survives(
            values in [value(), value()],
            pieces in proptest::collection::vec(piece(), 0..8),
            cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..20),
        ) {
            let loan = loan(&[&values[0], &values[1]]);
            let text: String = pieces.iter().map(|piece| match piece {
                Piece::Plain(text) => text.clone(),
                Piece::Hidden(secret, form) => written(&values[*secret], *form),
            }).collect();
            let whole = loan.mask(&text);
            prop_assert_eq!(&masked(&loan, &cut(text.as_bytes(), &cuts)), &whole, "the cuts show");
            let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
            prop_assert_eq!(&masked(&loan, &bytes), &whole, "single bytes show");
            for value in &values {
                for form in (0..8).filter(|form| !matches!(form, 4 | 5)) {
                    let written = written(value, form);
                    prop_assert!(!whole.contains(written.trim_end_matches('=')), "{} survives in {}", written, whole);
                }
                for core in forms(value).keys() {
                    prop_assert!(!whole.contains(std::str::from_utf8(core).unwrap()));
                }
            }
        }

        #[test]
        fn around_a_secret_no_byte_changes(
            value in value(),
            before in "[x-z(){}\n]{0,20}",
            after in "[(){}\n][x-z(){}\n]{0,20}",
            form in proptest::sample::select(vec![0_usize, 1, 2, 3, 6, 7]),
        ) {
            let loan = loan(&[&value]);
            // A bracket before it, as the character before base64 belongs to it.
            let written = written(&value, form);
            let (form, padding) = written.split_at(written.trim_end_matches('=').len());
            let text = format!("{before}({form}{padding}{after}");
            prop_assert_eq!(loan.mask(&text), format!("{before}(***S0***{padding}{after}"));
        }

        #[test]
        fn a_text_without_a_secret_is_unchanged(text in "[d-z0-9 ]{0,60}", cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..20)) {
            let loan = loan(&["abcabc", "äöüäöü"]);
            prop_assume!(!forms("abcabc").keys().chain(forms("äöüäöü").keys()).any(|form| text.as_bytes().windows(form.len()).any(|window| window == form)));
            prop_assert_eq!(masked(&loan, &cut(text.as_bytes(), &cuts)), text);
        }
    }
}
