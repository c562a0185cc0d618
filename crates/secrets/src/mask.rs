//! Hides secrets in a text, however they are written in it.
//!
//! Owns the search. A text is searched as it stands, with JSON's escapes undone, and once more with what that gives:
//! JSON within JSON is usual, and so is a backslash too many. In each of these readings base64 is found across the ends
//! of lines. Start at `Mask::hide`.

use std::collections::BTreeMap;
use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use crate::form::{Shape, forms, is_base64};
use crate::reading::Reading;
use crate::secret::Secret;

/// How many times escapes are undone.
const DEPTH: usize = 2;
/// How many bytes one byte of a form takes at most where it is written: `\\u0068`, and a share of a line's end.
const WIDEST: usize = 8;

/// What to look for, made once for a loan.
pub(crate) struct Mask {
    /// `None` only if the forms are too many for the search; then everything is hidden.
    search: Option<AhoCorasick>,
    /// By the search's numbering.
    forms: Vec<Form>,
    longest: usize,
}

struct Form {
    mask: String,
    shape: Shape,
}

impl Mask {
    pub(crate) fn new(secrets: &BTreeMap<String, Secret>) -> Mask {
        let mut texts: BTreeMap<Vec<u8>, Form> = BTreeMap::new();
        for (name, secret) in secrets {
            for (text, shape) in forms(secret.reveal()) {
                // Two secrets may be equal; the first name stands for both.
                texts.entry(text).or_insert_with(|| Form { mask: format!("***{name}***"), shape });
            }
        }
        let (texts, forms): (Vec<Vec<u8>>, Vec<Form>) = texts.into_iter().unzip();
        let longest = texts.iter().map(Vec::len).max().unwrap_or(0);
        // Of the kinds of search the one that is made soonest: a loan lives for one call.
        let search = AhoCorasick::builder().kind(Some(AhoCorasickKind::NoncontiguousNFA)).build(&texts).ok();
        Mask { search, forms, longest }
    }

    /// How many bytes a secret may take where it is written: so much must be known on both sides of a cut.
    pub(crate) fn reach(&self) -> usize {
        self.longest.saturating_mul(WIDEST)
    }

    /// What is shown of a text, with everything masked that belongs to a secret.
    ///
    /// What stands outside of `shown` is only looked at: a secret that reaches over a border is hidden whole.
    pub(crate) fn hide(&self, text: &[u8], shown: Range<usize>) -> Vec<u8> {
        let Some(search) = &self.search else { return Vec::new() };
        let mut hidden = Vec::with_capacity(shown.len());
        // Up to here everything is decided: shown or masked.
        let mut at = shown.start;
        for found in self.find_all(search, text) {
            if found.range.start >= shown.end {
                break;
            }
            if found.range.start >= at {
                hidden.extend_from_slice(&text[at..found.range.start]);
                hidden.extend_from_slice(self.forms[found.form].mask.as_bytes());
            }
            // One that overlaps another is hidden by the other's mask.
            at = at.max(found.range.end);
        }
        if at < shown.end {
            hidden.extend_from_slice(&text[at..shown.end]);
        }
        hidden
    }

    /// Everything that belongs to a secret, by its start.
    ///
    /// What is left beside what was found is searched once more for itself: a secret that ends in a backslash makes
    /// another text of what follows it, until it is taken away.
    fn find_all(&self, search: &AhoCorasick, text: &[u8]) -> Vec<Found> {
        let mut all = Vec::new();
        let mut left: Vec<_> = std::iter::once(0..text.len()).collect();
        while let Some(part) = left.pop() {
            let mut at = part.start;
            let found = self.find(search, &text[part.clone()]);
            if found.is_empty() {
                continue;
            }
            for Found { range, form } in found {
                let range = part.start + range.start..part.start + range.end;
                if range.start > at {
                    left.push(at..range.start);
                }
                at = at.max(range.end);
                all.push(Found { range, form });
            }
            if at < part.end {
                left.push(at..part.end);
            }
        }
        by_start(&mut all);
        all
    }

    /// What one search finds.
    fn find(&self, search: &AhoCorasick, text: &[u8]) -> Vec<Found> {
        let mut found = Vec::new();
        // Each one reads the one before it, the first one the text.
        let mut readings: Vec<Reading> = Vec::new();
        loop {
            let top = readings.last().map_or(text, |reading| &reading.bytes);
            let origin = |range| readings.iter().rev().fold(range, |range, reading| reading.origin(range));
            for (form, range) in self.hits(search, top) {
                found.push(Found { range: origin(range), form });
            }
            if let Some(joined) = Reading::joined(top) {
                let wrapped = self.hits(search, &joined.bytes);
                for (form, range) in wrapped.filter(|(form, _)| self.forms[*form].shape != Shape::Plain) {
                    found.push(Found { range: origin(joined.origin(range)), form });
                }
            }
            if readings.len() == DEPTH {
                break;
            }
            let Some(next) = Reading::unescaped(top) else { break };
            readings.push(next);
        }
        by_start(&mut found);
        found
    }

    /// The forms in a reading, with what belongs to them at their borders.
    fn hits(&self, search: &AhoCorasick, reading: &[u8]) -> impl Iterator<Item = (usize, Range<usize>)> {
        search.find_overlapping_iter(reading).map(|hit| {
            let form = hit.pattern().as_usize();
            (form, self.forms[form].shape.with_borders(reading, hit.range()))
        })
    }
}

impl Shape {
    fn with_borders(self, reading: &[u8], core: Range<usize>) -> Range<usize> {
        let Shape::Base64 { left, right } = self else { return core };
        let (mut start, mut end) = (core.start, core.end);
        if left && start > 0 && is_base64(reading[start - 1]) {
            start -= 1;
        }
        if right && reading.get(end).copied().is_some_and(is_base64) {
            end += 1;
        }
        start..end
    }
}

struct Found {
    range: Range<usize>,
    form: usize,
}

/// Sorted by where they begin, the longest first.
fn by_start(found: &mut [Found]) {
    found.sort_by_key(|found| (found.range.start, std::cmp::Reverse(found.range.end)));
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

    #[test]
    fn a_secret_is_masked_by_its_name_and_its_neighbours_are_left() {
        let loan = loan(&["hunter2!", "correct horse"]);
        let text = "a=hunter2! b=correct%20horse c=\"hunter2\" d=hunter2!hunter2!";
        assert_eq!(loan.mask(text), "a=***S0*** b=***S1*** c=\"hunter2\" d=***S0******S0***");
    }

    #[test]
    fn a_secret_within_longer_base64_is_masked_to_its_last_bit() {
        let loan = loan(&["hunter2!"]);
        let encoded = STANDARD.encode("user:hunter2! and more");
        let plain = loan.mask(&format!("Basic {encoded}"));
        let (before, after) = plain.strip_prefix("Basic ").unwrap().split_once("***S0***").unwrap();
        // 40 bits before it, 64 of its own: the characters 6 to 17 hold some of them.
        assert_eq!((before, after), (&encoded[..6], &encoded[18..]));
    }

    #[test]
    fn of_two_that_overlap_nothing_survives() {
        let loan = loan(&["abcdef", "defghi", "abcdefgh"]);
        assert_eq!(loan.mask("<abcdefghi>"), "<***S2***>");
        assert_eq!(loan.mask("<abcdefg>"), "<***S0***g>");
    }

    #[test]
    fn json_is_known_as_every_encoder_writes_it() {
        let loan = loan(&["a\"b\\c/d\ne<é😀\u{1}"]);
        for text in [
            r#"a\"b\\c/d\ne<é😀\u0001"#,
            r#"a\"b\\c/d\ne<\u00e9\ud83d\ude00\u0001"#,
            r#"a\"b\\c/d\ne\u003cé😀\u0001"#,
            r#"a\"b\\c\/d\ne<\u00E9\uD83D\uDE00\u0001"#,
            r#"\u0061\u0022\u0062\u005c\u0063\u002F\u0064\u000A\u0065\u003c\u00e9\ud83d\ude00\u0001"#,
        ] {
            assert_eq!(loan.mask(&format!("x \"{text}\" y")), "x \"***S0***\" y", "{text}");
            let twice = serde_json::to_string(text).unwrap();
            assert_eq!(loan.mask(&format!("x \\{twice} y")), "x \\\"***S0***\" y", "{twice}");
        }
    }

    #[test]
    fn an_escape_beside_a_secret_stays_and_one_of_which_it_would_be_a_part_is_none() {
        let loan = loan(&["nabcde"]);
        assert_eq!(loan.mask(r"\nnabcde\n"), r"\n***S0***\n");
        assert_eq!(loan.mask("x\nabcde"), "x\nabcde");
    }

    #[test]
    fn a_secret_that_ends_in_a_backslash_hides_no_other_one() {
        let loan = loan(&["secret\\", "b+\"/%%"]);
        let (first, second) = (r"secret\u005c", r#"b+\\\"/%%"#);
        assert_eq!(loan.mask(&format!("{first}{second}{first}")), "***S0******S1******S0***");
    }

    /// Base64 in lines of `columns`, as encoders of mail and keys write it.
    fn wrapped(value: &str, columns: usize, end: &str) -> String {
        let encoded = STANDARD.encode(value);
        let lines: Vec<&str> =
            encoded.as_bytes().chunks(columns).map(|line| std::str::from_utf8(line).unwrap()).collect();
        lines.join(end)
    }

    #[test]
    fn base64_that_is_wrapped_into_lines_is_masked_whole() {
        let secret = "ghp_".to_owned() + &"A1b2C3d4E5".repeat(12);
        let loan = loan(&[&secret]);
        for columns in [76, 64, 20] {
            for end in ["\n", "\r\n", "\r", "\n    ", "\r\n\t", r"\n", r"\r\n", r"\u000a", r"\\n", r"\\r\\n"] {
                for before in ["", "u", "us", &"user".repeat(30)] {
                    let text = format!("({})", wrapped(&format!("{before}{secret}and more"), columns, end));
                    // Where the character of that number stands.
                    let place = |number: usize| 1 + number + number / columns * end.len();
                    let first = before.len() * 8 / 6;
                    let last = ((before.len() + secret.len()) * 8 - 1) / 6;
                    let expected = format!("{}***S0***{}", &text[..place(first)], &text[place(last) + 1..]);
                    assert_eq!(loan.mask(&text), expected, "{text}");
                }
            }
        }
    }

    #[test]
    fn of_what_is_shown_only_in_part_no_part_of_a_secret_is_shown() {
        let loan = loan(&["hunter2!"]);
        let text = br"<hunter2!><\u0068unter2!>";
        let shown = |range| String::from_utf8(loan.mask_within(text, range)).unwrap();
        assert_eq!(shown(0..text.len()), "<***S0***><***S0***>");
        assert_eq!(shown(0..4), "<***S0***");
        assert_eq!(shown(4..11), "><", "a mask stands where a secret begins");
        assert_eq!(shown(4..14), "><***S0***");
        assert_eq!(shown(13..text.len()), ">");
        assert!((11..24).len() <= loan.reach(), "a border must not need to know more");
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
            (0_usize..2, 0_usize..FORMS).prop_map(|(secret, form)| Piece::Hidden(secret, form)),
        ]
    }

    const FORMS: usize = 11;

    /// The way of writing a value that `form` counts.
    fn written(value: &str, form: usize) -> String {
        match form {
            0 => value.to_owned(),
            1 => quoted(value),
            2 => STANDARD.encode(value),
            3 => URL_SAFE_NO_PAD.encode(value),
            4 => STANDARD.encode(format!("u{value}v")),
            5 => STANDARD.encode(format!("us{value}")),
            6 => percent_encoding::percent_encode(value.as_bytes(), percent_encoding::NON_ALPHANUMERIC).to_string(),
            7 => percent_encoding::percent_encode(value.as_bytes(), percent_encoding::NON_ALPHANUMERIC)
                .to_string()
                .replace("%20", "+"),
            8 => value.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect(),
            9 => quoted(&quoted(value)),
            _ => {
                STANDARD.encode(value).as_bytes().chunks(4).map(String::from_utf8_lossy).collect::<Vec<_>>().join("\n")
            }
        }
    }

    fn put_together(values: &[String], pieces: &[Piece]) -> String {
        let mut text = String::new();
        for piece in pieces {
            // A backslash before an escape makes another text of it: then it is no form of the secret any more.
            if text.ends_with('\\') {
                text.push(' ');
            }
            match piece {
                Piece::Plain(plain) => text.push_str(plain),
                Piece::Hidden(secret, form) => text.push_str(&written(&values[*secret], *form)),
            }
        }
        text
    }

    fn quoted(value: &str) -> String {
        let quoted = serde_json::to_string(value).unwrap();
        quoted[1..quoted.len() - 1].to_owned()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

        #[test]
        fn no_form_of_a_secret_survives(
            values in [value(), value()],
            pieces in proptest::collection::vec(piece(), 0..8),
        ) {
            let loan = loan(&[&values[0], &values[1]]);
            let text = put_together(&values, &pieces);
            let whole = loan.mask(&text);
            for value in &values {
                for form in (0..FORMS).filter(|form| !matches!(form, 4 | 5)) {
                    let written = written(value, form);
                    prop_assert!(!whole.contains(written.trim_end_matches('=')), "{} survives in {}", written, whole);
                }
                for core in forms(value).keys() {
                    prop_assert!(!whole.contains(std::str::from_utf8(core).unwrap()));
                }
            }
        }

        #[test]
        fn wherever_a_text_is_cut_the_parts_show_what_the_whole_shows(
            values in [value(), value()],
            pieces in proptest::collection::vec(piece(), 0..8),
            cut in any::<proptest::sample::Index>(),
        ) {
            let loan = loan(&[&values[0], &values[1]]);
            let text = put_together(&values, &pieces);
            let text = text.as_bytes();
            let cut = cut.index(text.len() + 1);
            let parts = [loan.mask_within(text, 0..cut), loan.mask_within(text, cut..text.len())].concat();
            prop_assert_eq!(parts, loan.mask_within(text, 0..text.len()));
        }

        #[test]
        fn around_a_secret_no_byte_changes(
            value in value(),
            before in "[x-z(){}\n]{0,20}",
            after in "[(){}\n][x-z(){}\n]{0,20}",
            form in (0..FORMS).prop_filter("with neighbours", |form| !matches!(form, 4 | 5)),
        ) {
            let loan = loan(&[&value]);
            // A bracket before it, as the character before base64 belongs to it.
            let written = written(&value, form);
            let (form, padding) = written.split_at(written.trim_end_matches('=').len());
            let text = format!("{before}({form}{padding}{after}");
            prop_assert_eq!(loan.mask(&text), format!("{before}(***S0***{padding}{after}"));
        }

        #[test]
        fn a_text_without_a_secret_is_unchanged(text in "[d-z0-9 \\\\\n]{0,60}") {
            let loan = loan(&["abcabc", "äöüäöü"]);
            prop_assume!(!forms("abcabc").keys().chain(forms("äöüäöü").keys()).any(|form| text.as_bytes().windows(form.len()).any(|window| window == form)));
            prop_assert_eq!(loan.mask(&text), text);
        }
    }
}
