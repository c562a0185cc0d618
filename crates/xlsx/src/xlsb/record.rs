//! The records of a part of an `.xlsb`, one after the other.
//!
//! Owns the lengths: what a record claims is held to its part before anything is kept of it. Knows no kind.

use crate::error::Fault;
use crate::package::Part;

/// How long a record may be: a cell's text, mostly.
const MAX_RECORD: usize = 1 << 20;
const WINDOW: usize = 64 << 10;

/// A part that is being read.
pub(super) struct Records {
    part: Part,
    /// How much of the part is still to be looked at.
    left: u64,
    buffer: Vec<u8>,
    at: usize,
    filled: usize,
}

/// What a record is and what it holds.
pub(super) struct Record<'a> {
    pub(super) kind: u16,
    pub(super) body: &'a [u8],
}

impl Records {
    pub(super) fn new(part: Part) -> Records {
        Records { left: part.size(), part, buffer: Vec::new(), at: 0, filled: 0 }
    }

    /// The next record; `None` behind the last one.
    pub(super) fn next(&mut self) -> Result<Option<Record<'_>>, Fault> {
        if self.left == 0 {
            // The end is read as well: only there is the part's checksum known.
            self.fill(1)?;
            return Ok(None);
        }
        let first = self.byte()?;
        let kind = match first & 0x80 {
            0 => u16::from(first),
            _ => u16::from(first & 0x7F) | u16::from(self.byte()? & 0x7F) << 7,
        };
        let mut len = 0;
        for place in 0..4 {
            let byte = self.byte()?;
            len |= usize::from(byte & 0x7F) << (7 * place);
            if byte & 0x80 == 0 {
                break;
            }
        }
        if len > MAX_RECORD || len as u64 > self.left || !self.fill(len)? {
            return Err(self.damaged(&format!("it has a record of {len} bytes")));
        }
        let from = self.at;
        self.at += len;
        self.left -= len as u64;
        Ok(Some(Record { kind, body: &self.buffer[from..self.at] }))
    }

    /// A fault of this part.
    pub(super) fn damaged(&self, detail: &str) -> Fault {
        Fault::damaged(format!("part `{}`: {detail}", self.part.name()))
    }

    fn byte(&mut self) -> Result<u8, Fault> {
        if self.left == 0 || !self.fill(1)? {
            return Err(self.damaged("it ends inside a record"));
        }
        self.at += 1;
        self.left -= 1;
        Ok(self.buffer[self.at - 1])
    }

    /// Reads until the buffer holds that much that is still to be looked at; `false` when the part ends before.
    fn fill(&mut self, wanted: usize) -> Result<bool, Fault> {
        while self.filled - self.at < wanted {
            self.buffer.copy_within(self.at..self.filled, 0);
            self.filled -= self.at;
            self.at = 0;
            self.buffer.resize(self.buffer.len().max(wanted).max(WINDOW), 0);
            match self.part.read(&mut self.buffer[self.filled..])? {
                0 => return Ok(false),
                count => self.filled += count,
            }
        }
        Ok(true)
    }
}

/// Appends the text at the beginning, its length first; what follows it, or `None` when it is cut off.
pub(super) fn push_wide<'a>(out: &mut String, bytes: &'a [u8]) -> Option<&'a [u8]> {
    let (len, rest) = bytes.split_first_chunk()?;
    let (units, rest) = rest.split_at_checked((u32::from_le_bytes(*len) as usize).checked_mul(2)?)?;
    let units = units.chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]]));
    out.extend(char::decode_utf16(units).map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER)));
    Some(rest)
}

/// The text at the beginning and what follows it.
pub(super) fn wide(bytes: &[u8]) -> Option<(String, &[u8])> {
    let mut text = String::new();
    push_wide(&mut text, bytes).map(|rest| (text, rest))
}

/// The whole number at a place.
pub(super) fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}
