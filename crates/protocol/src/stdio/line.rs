//! Lines of at most so many bytes, from any reader. Knows no JSON.
//!
//! What is too long is skipped as it comes: only its beginning is held, so that an id may still be found in it.

use std::io::{BufRead, BufReader, Read};

/// How much is read at once.
const CHUNK: usize = 64 * 1024;

/// Above this, the memory of a long line is given back after it.
const KEPT: usize = 1024 * 1024;

/// A line, without its newline.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// A whole line; the last one may have had no newline.
    Whole(&'a [u8]),
    /// The beginning of a line that was too long; the rest is gone.
    TooLong(&'a [u8]),
}

/// Cuts input into lines.
pub(crate) struct Lines {
    input: BufReader<Box<dyn Read + Send>>,
    cap: usize,
    line: Vec<u8>,
}

impl Lines {
    pub(crate) fn new(input: Box<dyn Read + Send>, cap: usize) -> Lines {
        Lines { input: BufReader::with_capacity(CHUNK, input), cap, line: Vec::new() }
    }

    /// The next line, or `None` at the end of input.
    pub(crate) fn next(&mut self) -> std::io::Result<Option<Line<'_>>> {
        if self.line.capacity() > KEPT {
            self.line = Vec::new();
        }
        self.line.clear();
        let allowed = u64::try_from(self.cap).unwrap_or(u64::MAX).saturating_add(1);
        let read = (&mut self.input).take(allowed).read_until(b'\n', &mut self.line)?;
        if read == 0 {
            return Ok(None);
        }
        if self.line.last() == Some(&b'\n') {
            self.line.pop();
            return Ok(Some(Line::Whole(&self.line)));
        }
        if self.line.len() > self.cap {
            self.input.skip_until(b'\n')?;
            return Ok(Some(Line::TooLong(&self.line)));
        }
        Ok(Some(Line::Whole(&self.line)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(input: &[u8], cap: usize) -> Vec<(bool, String)> {
        let mut lines = Lines::new(Box::new(std::io::Cursor::new(input.to_vec())), cap);
        let mut seen = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            let (whole, bytes) = match line {
                Line::Whole(bytes) => (true, bytes),
                Line::TooLong(bytes) => (false, bytes),
            };
            seen.push((whole, String::from_utf8_lossy(bytes).into_owned()));
        }
        seen
    }

    #[test]
    fn a_line_of_exactly_the_cap_is_whole_and_one_byte_more_is_too_long() {
        let (at, over) = ((true, "abcd".to_owned()), (false, "abcde".to_owned()));
        assert_eq!(lines(b"abcd\nabcde\nabcd\n", 4), [at.clone(), over.clone(), at.clone()]);
        assert_eq!(lines(b"abcdefgh\nabcd", 4), [over.clone(), at.clone()]);
        assert_eq!(lines(b"abcd\nabcdefgh", 4), [at, over]);
    }

    #[test]
    fn the_last_line_needs_no_newline_and_blank_lines_are_lines() {
        let line = |text: &str| (true, text.to_owned());
        assert_eq!(lines(b"a\n\n\nb", 9), [line("a"), line(""), line(""), line("b")]);
        assert_eq!(lines(b"", 9), []);
    }

    #[test]
    fn a_line_far_over_the_cap_is_never_held() {
        struct Endless {
            left: usize,
        }
        impl Read for Endless {
            fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
                let count = buffer.len().min(self.left);
                buffer[..count].fill(b'x');
                self.left -= count;
                Ok(count)
            }
        }
        let mut lines = Lines::new(Box::new(Endless { left: 64 * 1024 * 1024 }), 1000);
        assert!(matches!(lines.next().unwrap(), Some(Line::TooLong(beginning)) if beginning.len() == 1001));
        assert!(lines.line.capacity() < 2 * CHUNK, "{}", lines.line.capacity());
        assert!(lines.next().unwrap().is_none());
    }
}
