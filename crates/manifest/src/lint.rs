//! What text that a model or a terminal reads must not hold.
//!
//! Knows characters, not keys: which texts are linted is said by the forms in [`crate::reference`]. Start at `lint`;
//! whoever writes a manifest starts at [`plain_line`].

use std::borrow::Cow;

use unicode_security::mixed_script::MixedScript;
use unicode_security::skeleton;

use crate::rule::{self, Rule};

/// A text as one line that passes: what no reader sees is gone, and every run of white space is one space.
pub fn plain_line(text: &str) -> String {
    let visible: String = text.chars().filter(|c| c.is_whitespace() || !is_hidden(*c)).collect();
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text with each character in it that would be taken for something else, or for nothing, written in another way. Line
/// breaks and tabs stay, and what scripts and emoji need where they need it.
pub(crate) fn escaped(text: &str, escape: impl Fn(char) -> String) -> Cow<'_, str> {
    if text.bytes().all(is_harmless) {
        return Cow::Borrowed(text);
    }
    let mut whole = String::with_capacity(text.len());
    let mut before = None;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match fault(before, character, characters.peek().copied()) {
            Some(_) => whole.push_str(&escape(character)),
            None => whole.push(character),
        }
        before = Some(character);
    }
    Cow::Owned(whole)
}

/// One kind of bad character in a text: the first of its kind, with its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BadCharacter {
    pub(crate) rule: &'static Rule,
    pub(crate) character: char,
    /// Which character of the text, from 1.
    pub(crate) index: usize,
}

/// The first character of each bad kind. Line breaks and tabs are no fault here; whether a text may have several lines
/// is another question.
pub(crate) fn lint(text: &str) -> Vec<BadCharacter> {
    if text.bytes().all(is_harmless) {
        return Vec::new();
    }
    let mut found: Vec<BadCharacter> = Vec::new();
    let mut before = None;
    let mut characters = text.chars().enumerate().peekable();
    while let Some((index, character)) = characters.next() {
        let after = characters.peek().map(|(_, next)| *next);
        if let Some(rule) = fault(before, character, after)
            && !found.iter().any(|bad| bad.rule.code == rule.code)
        {
            found.push(BadCharacter { rule, character, index: index + 1 });
        }
        before = Some(character);
    }
    found
}

/// Whether a character would be taken for something else, or for nothing, where text is shown.
pub(crate) fn is_hidden(c: char) -> bool {
    is_control(c) || is_bidirectional(c) || is_invisible(c) || is_joiner(c) || is_variation_selector(c)
}

/// The first word that mixes scripts with a letter that looks like a Latin one.
pub(crate) fn look_alike(text: &str) -> Option<(&str, char)> {
    if text.is_ascii() {
        return None;
    }
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_ascii() && !word.is_single_script())
        .find_map(|word| word.chars().find(|c| looks_latin(*c)).map(|c| (word, c)))
}

/// The letter of a name that merely looks like the ASCII letter that belongs there, when the name would be ASCII
/// without it.
pub(crate) fn foreign_letter(name: &str) -> Option<char> {
    if name.is_ascii() || !skeleton(name).all(|c| c.is_ascii()) {
        return None;
    }
    name.chars().find(|c| !c.is_ascii())
}

fn looks_latin(c: char) -> bool {
    let mut one = [0; 4];
    !c.is_ascii() && skeleton(c.encode_utf8(&mut one)).all(|c| c.is_ascii_alphanumeric())
}

/// What is no fault, whatever stands beside it.
fn is_harmless(byte: u8) -> bool {
    (0x20..0x7f).contains(&byte) || byte == b'\n' || byte == b'\t'
}

fn fault(before: Option<char>, c: char, after: Option<char>) -> Option<&'static Rule> {
    if matches!(c, '\n' | '\t') || (c == '\r' && after == Some('\n')) {
        None
    } else if is_control(c) {
        Some(&rule::CONTROL)
    } else if is_bidirectional(c) {
        Some(&rule::BIDIRECTIONAL)
    } else if is_invisible(c)
        || (is_joiner(c) && !joins(before, after))
        || (is_variation_selector(c) && !varies(before, c))
    {
        Some(&rule::INVISIBLE)
    } else {
        None
    }
}

/// C0 and C1 controls, delete, and the two separators that end a line for some readers and not for others.
fn is_control(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}

fn is_bidirectional(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'
            | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0d}'
            | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// The zero-width joiner and non-joiner, which many scripts and emoji need.
fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}')
}

/// A joiner is in its place only between two characters of which neither is ASCII and neither is hidden, but for the
/// selector that an emoji may bear.
fn joins(before: Option<char>, after: Option<char>) -> bool {
    let joined = |c: Option<char>| c.is_some_and(|c| !c.is_ascii() && (c == '\u{fe0f}' || !is_hidden(c)));
    joined(before) && joined(after)
}

/// The two selectors that choose between the text and the picture form of a symbol.
fn is_variation_selector(c: char) -> bool {
    matches!(c, '\u{fe0e}' | '\u{fe0f}')
}

fn varies(before: Option<char>, _selector: char) -> bool {
    before.is_some_and(|c| matches!(c, '#' | '*' | '0'..='9') || (c >= '\u{a9}' && !is_hidden(c)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(text: &str) -> Vec<&'static str> {
        lint(text).iter().map(|bad| bad.rule.name).collect()
    }

    #[test]
    fn ordinary_text_of_any_script_passes() {
        for text in [
            "plain",
            "two\nlines\tand a tab\r\n",
            "Tabelle für Größen",
            "表格を読む",
            "خواندن می‌خواهم",
            "🧑‍🚀 ✔️ 1️⃣",
            "Δt in µm",
        ] {
            assert_eq!(codes(text), Vec::<&str>::new(), "{text}");
        }
    }

    #[test]
    fn what_no_reader_sees_is_found_and_told_by_kind_and_place() {
        assert_eq!(codes("a\u{1b}[31mred"), ["control"]);
        assert_eq!(codes("a\u{9b}31m"), ["control"]);
        assert_eq!(codes("a\u{202e}b"), ["bidirectional"]);
        assert_eq!(codes("a\u{200b}b\u{200b}"), ["invisible"]);
        assert_eq!(codes("a\u{e0041}b"), ["invisible"]);
        assert_eq!(codes("a\u{200d}b"), ["invisible"]);
        assert_eq!(codes("🙂\u{fe0f}\u{fe0f}"), ["invisible"]);
        assert_eq!(codes("\r lone"), ["control"]);
        assert_eq!(lint("ab\u{202e}")[0].index, 3);
    }

    #[test]
    fn a_plain_line_passes_and_says_the_same() {
        let line = plain_line("  Keep\u{200b} the\n\u{202e}notes\t\u{85}of\u{1b} today\u{2028}. ");
        assert_eq!(line, "Keep the notes of today .");
        assert_eq!(codes(&line), Vec::<&str>::new());
    }

    #[test]
    fn a_word_that_mixes_scripts_to_look_latin_is_found() {
        assert_eq!(look_alike("p\u{430}ypal"), Some(("p\u{430}ypal", '\u{430}')));
        assert_eq!(look_alike("платёж"), None);
        assert_eq!(look_alike("Δt"), None);
        assert_eq!(look_alike("日本語とkana"), None);
        assert_eq!(foreign_letter("s\u{435}nd"), Some('\u{435}'));
        assert_eq!(foreign_letter("größe"), None);
    }
}
