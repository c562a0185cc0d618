//! Workbooks that are almost right: mutated parts in archives that are whole, and mutated files.

use flate2::{Decompress, FlushDecompress};

use crate::archive::{Archive, Lie};

/// A sequence of numbers that begins with its seed and is the same everywhere.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `end`, which is not 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}

/// What makes readers stumble, for binary and for text.
const TOKENS: [&[u8]; 30] = [
    b"\xFF\xFF\xFF\xFF",
    b"\x00\x00\x00\x00",
    b"\xFF\xFF\xFF\x7F",
    b"\x00\x00\x00\x80",
    b"\xFF\xFF",
    b"\x00",
    b"4294967295",
    b"18446744073709551616",
    b"-1",
    b"1048576",
    b"1048577",
    b"XFD1048576",
    b"ZZZZ9",
    b"1E308",
    b"NaN",
    b"<",
    b">",
    b"</",
    b"/>",
    b"\"",
    b"&#x110000;",
    b"&amp",
    b"<!--",
    b"<![CDATA[",
    b"]]>",
    b"<!DOCTYPE a>",
    b"<row r=\"1048576\">",
    b"<c r=\"A1\" t=\"s\"><v>9</v></c>",
    b" table:number-rows-repeated=\"4294967295\"",
    b"\xEF\xBB\xBF",
];

/// One part in so many is mutated beside the one that always is.
const BESIDE: usize = 10;

/// A workbook made from a right one.
pub(crate) fn mutated(random: &mut Random, workbook: &[u8]) -> Vec<u8> {
    let parts = parts(workbook);
    if parts.is_empty() || random.below(8) == 0 {
        let mut bytes = workbook.to_vec();
        mutate(random, &mut bytes);
        return bytes;
    }
    let victim = random.below(parts.len());
    let mut archive = Archive::default();
    for (at, (name, content)) in parts.into_iter().enumerate() {
        let mut content = content;
        let mut lie = Lie::default();
        if at == victim || random.below(BESIDE) == 0 {
            mutate(random, &mut content);
            match random.below(20) {
                0 => lie.size = Some(random.next() as u32),
                1 => lie.checksum = Some(random.next() as u32),
                2 => continue,
                _ => {}
            }
        }
        archive = archive.lying(&name, content, lie);
    }
    archive.bytes()
}

fn mutate(random: &mut Random, bytes: &mut Vec<u8>) {
    for _ in 0..=random.below(4) {
        if bytes.is_empty() {
            return;
        }
        let at = random.below(bytes.len());
        let end = (at + 1 + random.below(64)).min(bytes.len());
        match random.below(9) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = random.next() as u8,
            2 => drop(bytes.drain(at..end)),
            3 => {
                let piece = bytes[at..end].to_vec();
                let to = random.below(bytes.len());
                bytes.splice(to..to, piece);
            }
            4 => {
                let piece = bytes[at..end].repeat(1 + random.below(200));
                bytes.splice(at..at, piece);
            }
            5 => bytes.truncate(at),
            6 => {
                let token = TOKENS[random.below(TOKENS.len())];
                let over = (at + token.len()).min(bytes.len());
                bytes.splice(at..over, token.iter().copied());
            }
            7 => {
                let token = TOKENS[random.below(TOKENS.len())];
                bytes.splice(at..at, token.iter().copied());
            }
            // A number in a text becomes another.
            _ => {
                let digit = bytes[at..].iter().position(u8::is_ascii_digit).map(|from| at + from);
                if let Some(from) = digit {
                    let count = bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                    let number = random.next() >> random.below(64);
                    bytes.splice(from..from + count, number.to_string().into_bytes());
                }
            }
        }
    }
}

/// The parts of an archive that is right; none for anything else.
pub(crate) fn parts(archive: &[u8]) -> Vec<(String, Vec<u8>)> {
    let word = |at: usize| u32::from_le_bytes(archive[at..at + 4].try_into().unwrap()) as usize;
    let half = |at: usize| usize::from(u16::from_le_bytes([archive[at], archive[at + 1]]));
    if !archive.starts_with(b"PK") {
        return Vec::new();
    }
    let end = archive.len() - 22;
    let mut at = word(end + 16);
    let mut parts = Vec::new();
    for _ in 0..half(end + 10) {
        let (packed_len, size, name_len, local) = (word(at + 20), word(at + 24), half(at + 28), word(at + 42));
        let name = String::from_utf8(archive[at + 46..at + 46 + name_len].to_vec()).unwrap();
        let from = local + 30 + half(local + 26) + half(local + 28);
        let packed = &archive[from..from + packed_len];
        let mut content = Vec::with_capacity(size + 1);
        if half(at + 10) == 8 {
            Decompress::new(false).decompress_vec(packed, &mut content, FlushDecompress::Finish).unwrap();
        } else {
            content.extend(packed);
        }
        parts.push((name, content));
        at += 46 + name_len + half(at + 30) + half(at + 32);
    }
    parts
}
