//! A text as somebody reads it who undoes escapes or joins lines, and where in the text each part of that stands.
//!
//! Owns the two ways of reading. Refuses to know what is looked for in them. Start at `Reading::unescaped`.

use std::ops::Range;

use crate::form::is_base64;

/// What a text says once it was read in some way.
pub(crate) struct Reading {
    pub(crate) bytes: Vec<u8>,
    /// In order, without gaps between them in `bytes`.
    pieces: Vec<Piece>,
}

/// Some bytes of a reading, and what they were read from.
struct Piece {
    at: usize,
    from: Range<usize>,
    /// Whether they stand there just so, byte for byte.
    verbatim: bool,
}

impl Reading {
    /// The text with JSON's escapes undone, wherever they stand; `None` when it has none.
    ///
    /// The text need not be JSON: what is no escape is itself.
    pub(crate) fn unescaped(text: &[u8]) -> Option<Reading> {
        let mut reading = Reading::empty();
        let (mut at, mut looked) = (0, 0);
        while let Some(found) = memchr::memchr(b'\\', &text[looked..]) {
            let start = looked + found;
            match escape(&text[start..]) {
                Some((character, length)) => {
                    reading.copy(text, at..start);
                    reading.say(character.encode_utf8(&mut [0; 4]).as_bytes(), start..start + length);
                    (at, looked) = (start + length, start + length);
                }
                None => looked = start + 1,
            }
        }
        reading.ends(text, at)
    }

    /// The text with the ends of lines left out within what may be base64, and whatever indents the next line; `None`
    /// when there are none.
    pub(crate) fn joined(text: &[u8]) -> Option<Reading> {
        let mut reading = Reading::empty();
        let (mut at, mut looked) = (0, 0);
        while let Some(found) = memchr::memchr2(b'\r', b'\n', &text[looked..]) {
            let start = looked + found;
            let next = start + line_end(&text[start..]);
            if start > at && is_base64(text[start - 1]) && text.get(next).copied().is_some_and(is_base64) {
                reading.copy(text, at..start);
                at = next;
            }
            looked = next;
        }
        reading.ends(text, at)
    }

    /// Where in the text that was read some bytes of the reading come from, whole escapes at its ends included.
    pub(crate) fn origin(&self, range: Range<usize>) -> Range<usize> {
        let first = self.piece(range.start);
        let last = self.piece(range.end.saturating_sub(1));
        let start = first.from.start + if first.verbatim { range.start - first.at } else { 0 };
        let end = if last.verbatim { last.from.start + (range.end - last.at) } else { last.from.end };
        start..end
    }

    fn empty() -> Reading {
        Reading { bytes: Vec::new(), pieces: vec![Piece { at: 0, from: 0..0, verbatim: true }] }
    }

    fn piece(&self, at: usize) -> &Piece {
        // The first piece stands at 0, so that there is one before every place.
        &self.pieces[self.pieces.partition_point(|piece| piece.at <= at).saturating_sub(1)]
    }

    fn copy(&mut self, text: &[u8], from: Range<usize>) {
        if !from.is_empty() {
            self.pieces.push(Piece { at: self.bytes.len(), from: from.clone(), verbatim: true });
            self.bytes.extend_from_slice(&text[from]);
        }
    }

    fn say(&mut self, bytes: &[u8], from: Range<usize>) {
        self.pieces.push(Piece { at: self.bytes.len(), from, verbatim: false });
        self.bytes.extend_from_slice(bytes);
    }

    /// The reading with the rest of the text; `None` when nothing of it was read otherwise than it stands.
    fn ends(mut self, text: &[u8], at: usize) -> Option<Reading> {
        if at == 0 {
            return None;
        }
        self.copy(text, at..text.len());
        Some(self)
    }
}

/// The character that an escape at the beginning of `text` stands for, and the escape's length.
fn escape(text: &[u8]) -> Option<(char, usize)> {
    let simple = |character| Some((character, 2));
    match text.get(1)? {
        b'"' => simple('"'),
        b'\'' => simple('\''),
        b'\\' => simple('\\'),
        b'/' => simple('/'),
        b'b' => simple('\u{8}'),
        b'f' => simple('\u{c}'),
        b'n' => simple('\n'),
        b'r' => simple('\r'),
        b't' => simple('\t'),
        b'u' => {
            let first = unit(text)?;
            match char::from_u32(u32::from(first)) {
                Some(character) => Some((character, 6)),
                // Half of a character that takes two.
                None => {
                    let second = unit(text.get(6..)?)?;
                    let character = char::decode_utf16([first, second]).next()?.ok()?;
                    Some((character, 12))
                }
            }
        }
        _ => None,
    }
}

/// The number in `\uXXXX` at the beginning of `text`.
fn unit(text: &[u8]) -> Option<u16> {
    let digits = text.get(..6)?.strip_prefix(b"\\u")?;
    let digits =
        std::str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u16::from_str_radix(digits, 16).ok()
}

/// How long the end of a line is at the beginning of `text`, with the next line's indentation.
fn line_end(text: &[u8]) -> usize {
    let end = if text.starts_with(b"\r\n") { 2 } else { 1 };
    end + text[end..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_escape_of_json_is_undone_and_what_is_none_is_itself() {
        for (text, says) in [
            (r#"a\"b\\c\/d"#, "a\"b\\c/d"),
            (r"\b\f\n\r\t", "\u{8}\u{c}\n\r\t"),
            (r"\u0068\u00e9\u00E9", "héé"),
            (r"x\ud83d\uDE00y", "x😀y"),
            (r"\ud83d \ude00 \u12 \uzzzz \u+123 \n", "\\ud83d \\ude00 \\u12 \\uzzzz \\u+123 \n"),
            (r"\x\\u0068\", "\\x\\u0068\\"),
        ] {
            assert_eq!(String::from_utf8(Reading::unescaped(text.as_bytes()).unwrap().bytes).unwrap(), says, "{text}");
        }
        for text in ["", "no escape", r"\x \1 \u12", r"\"] {
            assert!(Reading::unescaped(text.as_bytes()).is_none(), "{text}");
        }
    }

    #[test]
    fn lines_are_joined_within_base64_alone() {
        let says =
            |text: &str| Reading::joined(text.as_bytes()).map(|reading| String::from_utf8(reading.bytes).unwrap());
        assert_eq!(says("abc\ndef\r\n  ghi\r\tj").unwrap(), "abcdefghij");
        assert_eq!(says("abc=\ndef\nghi").unwrap(), "abc=\ndefghi");
        for text in ["", "abc", "abc\n", "\nabc", "abc\n\ndef", "abc \ndef", "abc\n(def)"] {
            assert_eq!(says(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_part_of_a_reading_is_found_again_with_whole_escapes_and_without_the_line_ends_beside_it() {
        let text = r"ab\u0063d";
        let reading = Reading::unescaped(text.as_bytes()).unwrap();
        assert_eq!(reading.bytes, b"abcd");
        for (range, origin) in [(0..4, 0..9), (1..2, 1..2), (1..3, 1..8), (2..3, 2..8), (2..4, 2..9), (3..4, 8..9)] {
            assert_eq!(reading.origin(range), origin);
        }
        let reading = Reading::joined(b"ab\ncd\nef").unwrap();
        for (range, origin) in [(0..2, 0..2), (2..4, 3..5), (1..3, 1..4), (0..6, 0..8)] {
            assert_eq!(reading.origin(range), origin);
        }
    }
}
