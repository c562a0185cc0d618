//! The table of shared strings, read no further than somebody asks.
//!
//! Writers number the strings in the order in which they meet them, so the first rows of a sheet need the first strings
//! alone, whatever the length of the table.

use crate::error::Fault;
use crate::markup::{Scanner, Token, push_literal, push_text};
use crate::package::Part;
use crate::row::is_blank;

/// How much text of one cell is read; spreadsheet programs stop at 32 767 characters.
pub(super) const MAX_TEXT: usize = 1 << 20;
/// How much memory the table may take: its text and the place of each string.
const MAX_TABLE: usize = 176 << 20;
/// How much text is kept together. Growing one text for all would need twice the memory whenever it moves.
const CHUNK: usize = 1 << 20;

/// The table as far as it has been read.
pub(crate) struct Strings {
    rest: Option<Scanner>,
    chunks: Vec<String>,
    places: Vec<Place>,
    /// What all of it takes.
    bytes: usize,
}

/// Where a string lies.
#[derive(Clone, Copy)]
struct Place {
    chunk: u16,
    blank: bool,
    from: u32,
    to: u32,
}

impl Strings {
    pub(super) fn new(part: Option<Part>) -> Result<Strings, Fault> {
        let rest = part.map(Scanner::new).transpose()?;
        Ok(Strings { rest, chunks: Vec::new(), places: Vec::new(), bytes: 0 })
    }

    /// Reads on until the string with this number is there; `false` when the table ends before.
    pub(super) fn reach(&mut self, index: u32) -> Result<bool, Fault> {
        while self.places.len() <= index as usize {
            if !self.advance()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn advance(&mut self) -> Result<bool, Fault> {
        let Some(rest) = &mut self.rest else { return Ok(false) };
        if self.chunks.last().is_none_or(|chunk| chunk.len() > CHUNK - CHUNK / 16) {
            self.chunks.push(String::with_capacity(if self.chunks.is_empty() { CHUNK / 16 } else { CHUNK }));
        }
        let number = self.chunks.len() - 1;
        let chunk = &mut self.chunks[number];
        let from = chunk.len();
        if !next_string(rest, chunk)? {
            self.rest = None;
            return Ok(false);
        }
        self.bytes += chunk.len() - from + size_of::<Place>();
        if self.bytes > MAX_TABLE {
            return Err(Fault::too_large(format!("its shared strings take more than {} MiB", MAX_TABLE >> 20)));
        }
        let blank = is_blank(&chunk[from..]);
        self.places.push(Place { chunk: number as u16, blank, from: from as u32, to: chunk.len() as u32 });
        Ok(true)
    }

    /// How many strings have been read.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether a string that has been reached is nothing but white space.
    pub(super) fn is_blank(&self, index: u32) -> bool {
        self.places.get(index as usize).is_none_or(|place| place.blank)
    }

    /// A string that has been reached; empty for any other.
    pub(super) fn text(&self, index: u32) -> &str {
        match self.places.get(index as usize) {
            Some(place) => &self.chunks[place.chunk as usize][place.from as usize..place.to as usize],
            None => "",
        }
    }
}

/// Appends the next string of the table; `false` at its end.
fn next_string(scanner: &mut Scanner, out: &mut String) -> Result<bool, Fault> {
    loop {
        match scanner.next()? {
            Token::Open(tag) if tag.name == b"si" => {
                if !tag.closed {
                    push_rich(scanner, out)?;
                }
                scanner.content();
                return Ok(true);
            }
            Token::End => return Ok(false),
            _ => {}
        }
    }
}

/// Appends the text of the element that was opened last: that of all its runs, without what tells how to pronounce it.
pub(super) fn push_rich(scanner: &mut Scanner, out: &mut String) -> Result<(), Fault> {
    let depth = scanner.depth();
    let start = out.len();
    loop {
        match scanner.next()? {
            Token::Open(tag) if tag.name == b"t" && !tag.closed => {
                let keep = tag.attribute(b"space") == Some(b"preserve");
                push_piece(scanner, out, keep)?;
            }
            Token::Open(tag) if tag.name == b"rPh" && !tag.closed => scanner.skip()?,
            Token::End => return Err(scanner.damaged("it ends inside a text")),
            Token::Close(_, open) if open < depth => {
                return Ok(());
            }
            Token::Open(_) | Token::Close(..) | Token::Text(_) | Token::Literal(_) => {}
        }
        if out.len() - start > MAX_TEXT {
            return Err(Fault::too_large(format!("a cell holds a text of more than {} MiB", MAX_TEXT >> 20)));
        }
    }
}

fn push_piece(scanner: &mut Scanner, out: &mut String, keep: bool) -> Result<(), Fault> {
    let from = out.len();
    let depth = scanner.depth();
    loop {
        match scanner.next()? {
            Token::Text(raw) => push_text(out, raw)?,
            Token::Literal(raw) => push_literal(out, raw)?,
            Token::End => return Err(scanner.damaged("it ends inside a text")),
            Token::Close(_, open) if open < depth => {
                break;
            }
            Token::Open(_) | Token::Close(..) => {}
        }
        if out.len() - from > MAX_TEXT {
            return Err(Fault::too_large(format!("a cell holds a text of more than {} MiB", MAX_TEXT >> 20)));
        }
    }
    if !keep {
        trim(out, from);
    }
    unescape(out, from);
    Ok(())
}

/// White space at either end counts only where the writer says so; spaces beyond ASCII always count.
fn trim(out: &mut String, from: usize) {
    const BLANK: [char; 4] = [' ', '\t', '\r', '\n'];
    out.truncate(from + out[from..].trim_end_matches(BLANK).len());
    let blank = out.len() - from - out[from..].trim_start_matches(BLANK).len();
    if blank > 0 {
        out.replace_range(from..from + blank, "");
    }
}

/// Resolves `_x000D_`, the form in which a workbook keeps characters that XML cannot.
pub(super) fn unescape(out: &mut String, from: usize) {
    let Some(first) = out[from..].find("_x") else { return };
    let rest = out.split_off(from + first);
    let mut rest = rest.as_str();
    while let Some(at) = rest.find("_x") {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let Some(unit) = escaped(rest) else {
            out.push_str("_x");
            rest = &rest[2..];
            continue;
        };
        rest = &rest[7..];
        // What lies beyond 16 bits stands as two halves.
        let pair = match (unit, escaped(rest)) {
            (0xD800..=0xDBFF, Some(low @ 0xDC00..=0xDFFF)) => {
                rest = &rest[7..];
                char::from_u32(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00))
            }
            _ => char::from_u32(unit),
        };
        out.push(pair.unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    out.push_str(rest);
}

fn escaped(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("_x")?.get(..5)?.strip_suffix('_')?;
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_characters_are_resolved_and_what_only_looks_so_stays() {
        for (stored, text) in [
            ("ABC_x000D_\nDEF", "ABC\r\nDEF"),
            ("_x005F_x000D_", "_x000D_"),
            ("_xD83D__xDE00_", "\u{1F600}"),
            ("_xD83D_", "\u{FFFD}"),
            ("a_x00", "a_x00"),
            ("_x00é0_", "_x00é0_"),
            ("_x_x0041_", "_xA"),
            ("_X0041_", "_X0041_"),
        ] {
            let mut out = "kept_x0041_".to_owned();
            let from = out.len();
            out.push_str(stored);
            unescape(&mut out, from);
            assert_eq!(out.strip_prefix("kept_x0041_"), Some(text), "{stored}");
        }
    }
}
