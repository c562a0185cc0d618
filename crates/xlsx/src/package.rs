//! A zip archive as a package of parts, each inflated as a stream and held to what the directory says of it.
//!
//! Owns everything that a hostile archive can lie about: sizes, counts, offsets, checksums, names. Does not know what a
//! part means. Nothing is inflated before somebody reads it, and nothing is ever held whole.

use std::collections::HashMap;

use flate2::{Crc, Decompress, FlushDecompress, Status};

use crate::error::Fault;
use crate::store::Store;

/// How many parts a package may have.
const MAX_PARTS: u64 = 65_536;
/// How much of a file the directory of parts may be.
const MAX_DIRECTORY: u64 = 32 << 20;
/// How large the parts may be of which most is remembered.
const MAX_OUTLINE: u64 = 32 << 20;
/// How large a part may say that it is.
const MAX_PART: u64 = 4 << 30;
/// Below this size nobody minds how well a part was compressed.
const BOMB_FLOOR: u64 = 32 << 20;
/// Above it, how many bytes may come out of one. Sheets give 5 to 60; what repeats one byte gives 1030.
const BOMB_RATIO: u64 = 250;
/// How many compressed bytes are read at a time.
const CHUNK: usize = 64 << 10;

/// An archive whose directory has been read.
pub(crate) struct Package {
    store: Store,
    /// By name, in lower case with forward slashes: writers do not agree on either.
    parts: HashMap<String, Listed>,
}

/// What the directory says of a part.
#[derive(Clone, Debug)]
struct Listed {
    encrypted: bool,
    method: u16,
    checksum: u32,
    compressed: u64,
    size: u64,
    header_at: u64,
}

impl Package {
    /// Reads the directory at the end of the archive.
    pub(crate) fn open(store: Store) -> Result<Package, Fault> {
        let end = End::find(&store)?;
        if end.parts > MAX_PARTS || end.size > MAX_DIRECTORY {
            return Err(Fault::too_large(format!("its directory lists {} parts", end.parts)));
        }
        let Some(directory) = store.exactly_vec(end.at, end.size as usize)? else {
            return Err(truncated());
        };
        let mut parts = HashMap::new();
        let mut rest = directory.as_slice();
        for _ in 0..end.parts {
            let (name, listed, after) = Listed::read(rest, end.shift)?;
            rest = after;
            parts.insert(normal(&name), listed);
        }
        let package = Package { store, parts };
        package.check_whole()?;
        Ok(package)
    }

    /// What holds of all parts together: a bomb may come in many pieces, and pieces may be one and the same.
    fn check_whole(&self) -> Result<(), Fault> {
        let compressed = self.parts.values().map(|listed| listed.compressed).fold(0, u64::saturating_add);
        if compressed > self.store.len() {
            return Err(Fault::damaged("the parts of the archive lie one over the other"));
        }
        // A blank picture shrinks as well as any bomb, and nobody looks into pictures.
        let read =
            self.parts.iter().filter(|(name, _)| [".xml", ".rels", ".bin"].iter().any(|end| name.ends_with(end)));
        let size = read.map(|(_, listed)| listed.size).fold(0, u64::saturating_add);
        if size > BOMB_FLOOR && size / BOMB_RATIO > self.store.len() {
            let detail = format!("its {} bytes become {size}, as only a zip bomb's do", self.store.len());
            return Err(Fault::too_large(detail));
        }
        Ok(())
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.parts.contains_key(&normal(name))
    }

    /// Opens a part for reading; `None` when there is none of that name.
    pub(crate) fn part(&self, name: &str) -> Result<Option<Part>, Fault> {
        let name = normal(name);
        let Some(listed) = self.parts.get(&name) else { return Ok(None) };
        Part::open(self.store.clone(), name, listed.clone()).map(Some)
    }

    /// Opens a part of which most is remembered, and which therefore has to be small.
    pub(crate) fn outline_part(&self, name: &str) -> Result<Option<Part>, Fault> {
        let Some(part) = self.part(name)? else { return Ok(None) };
        if part.size() > MAX_OUTLINE {
            let (size, most) = (part.size(), MAX_OUTLINE);
            return Err(Fault::too_large(format!("part `{name}` is {size} bytes and may be {most}")));
        }
        Ok(Some(part))
    }
}

fn normal(name: &str) -> String {
    name.trim_start_matches('/').replace('\\', "/").to_lowercase()
}

fn truncated() -> Fault {
    Fault::damaged("the archive's directory is missing, as if the file were cut off")
}

fn u16_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]))
}

fn u32_at(bytes: &[u8], at: usize) -> u64 {
    u16_at(bytes, at) | u16_at(bytes, at + 2) << 16
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u32_at(bytes, at) | u32_at(bytes, at + 4) << 32
}

/// Where the directory lies.
struct End {
    parts: u64,
    size: u64,
    at: u64,
    /// What was put before the archive, and shifts every offset in it.
    shift: u64,
}

impl End {
    /// The last record of the archive stands before a comment of at most 64 KiB.
    fn find(store: &Store) -> Result<End, Fault> {
        let tail_len = store.len().min(22 + 65_535);
        let tail_at = store.len() - tail_len;
        let tail = store.exactly_vec(tail_at, tail_len as usize)?.ok_or_else(truncated)?;
        let found = memchr::memmem::rfind_iter(&tail, b"PK\x05\x06")
            .find(|&at| at + 22 <= tail.len() && at as u64 + 22 + u16_at(&tail, at + 20) <= tail_len);
        let at = found.ok_or_else(truncated)?;
        let record = &tail[at..at + 22];
        let (parts, size, offset) = (u16_at(record, 10), u32_at(record, 12), u32_at(record, 16));
        let record_at = tail_at + at as u64;
        let marked = parts == 0xFFFF || size == 0xFFFF_FFFF || offset == 0xFFFF_FFFF;
        if marked && let Some(end) = End::find_large(store, record_at)? {
            return Ok(end);
        }
        End::placed(parts, size, offset, record_at)
    }

    /// The record of archives beyond 4 GiB or 65 535 parts, which stands before the last one.
    fn find_large(store: &Store, record_at: u64) -> Result<Option<End>, Fault> {
        let Some(locator_at) = record_at.checked_sub(20) else { return Ok(None) };
        let Some(locator) = store.exactly::<20>(locator_at)? else { return Ok(None) };
        if !locator.starts_with(b"PK\x06\x07") {
            return Ok(None);
        }
        let at = u64_at(&locator, 8);
        let Some(record) = store.exactly::<56>(at)? else { return Err(truncated()) };
        if !record.starts_with(b"PK\x06\x06") {
            return Err(truncated());
        }
        End::placed(u64_at(&record, 32), u64_at(&record, 40), u64_at(&record, 48), at).map(Some)
    }

    /// The directory ends where its end record begins, whatever offset the record claims.
    fn placed(parts: u64, size: u64, offset: u64, record_at: u64) -> Result<End, Fault> {
        let at = record_at.checked_sub(size).ok_or_else(truncated)?;
        let shift = at.checked_sub(offset).ok_or_else(truncated)?;
        Ok(End { parts, size, at, shift })
    }
}

impl Listed {
    /// Reads one entry of the directory; the rest of the directory comes back.
    fn read(bytes: &[u8], shift: u64) -> Result<(String, Listed, &[u8]), Fault> {
        let bad = || Fault::damaged("the archive's directory is not what its end says");
        if bytes.len() < 46 || !bytes.starts_with(b"PK\x01\x02") {
            return Err(bad());
        }
        let name_len = u16_at(bytes, 28) as usize;
        let extra_len = u16_at(bytes, 30) as usize;
        let whole = 46 + name_len + extra_len + u16_at(bytes, 32) as usize;
        if bytes.len() < whole {
            return Err(bad());
        }
        let name = String::from_utf8_lossy(&bytes[46..46 + name_len]).into_owned();
        let mut listed = Listed {
            encrypted: u16_at(bytes, 8) & 1 != 0,
            method: u16_at(bytes, 10) as u16,
            checksum: u32_at(bytes, 16) as u32,
            compressed: u32_at(bytes, 20),
            size: u32_at(bytes, 24),
            header_at: u32_at(bytes, 42),
        };
        listed.widen(&bytes[46 + name_len..46 + name_len + extra_len]);
        listed.header_at = listed.header_at.checked_add(shift).ok_or_else(bad)?;
        Ok((name, listed, &bytes[whole..]))
    }

    /// Numbers that did not fit stand in an extra field, those alone that are marked so, in this order.
    fn widen(&mut self, mut extra: &[u8]) {
        while extra.len() >= 4 {
            let (id, len) = (u16_at(extra, 0), u16_at(extra, 2) as usize);
            let Some(mut field) = extra.get(4..4 + len) else { return };
            if id == 1 {
                for number in [&mut self.size, &mut self.compressed, &mut self.header_at] {
                    if *number == 0xFFFF_FFFF && field.len() >= 8 {
                        *number = u64_at(field, 0);
                        field = &field[8..];
                    }
                }
                return;
            }
            extra = &extra[4 + len..];
        }
    }
}

/// A part that is being read, from its first byte to its last.
pub(crate) struct Part {
    name: String,
    store: Store,
    listed: Listed,
    /// Where the next compressed byte lies, and how many there are from there on.
    at: u64,
    left: u64,
    input: Vec<u8>,
    used: usize,
    inflate: Option<Decompress>,
    produced: u64,
    sum: Crc,
    ended: bool,
}

impl Part {
    fn open(store: Store, name: String, listed: Listed) -> Result<Part, Fault> {
        if listed.encrypted {
            return Err(Fault::Encrypted);
        }
        if listed.size > MAX_PART {
            return Err(Fault::too_large(format!("part `{name}` says that it is {} bytes", listed.size)));
        }
        if listed.size > BOMB_FLOOR && listed.size / BOMB_RATIO > listed.compressed {
            let detail = format!(
                "part `{name}` says that its {} bytes become {}, as only a zip bomb does",
                listed.compressed, listed.size
            );
            return Err(Fault::too_large(detail));
        }
        let inflate = match listed.method {
            0 => None,
            8 => Some(Decompress::new(false)),
            other => return Err(Fault::damaged(format!("part `{name}` is compressed by method {other}"))),
        };
        let header = store.exactly::<30>(listed.header_at)?;
        let Some(header) = header.filter(|header| header.starts_with(b"PK\x03\x04")) else {
            return Err(Fault::damaged(format!("part `{name}` does not begin where the directory says")));
        };
        let at = listed.header_at + 30 + u16_at(&header, 26) + u16_at(&header, 28);
        if at.saturating_add(listed.compressed) > store.len() {
            return Err(Fault::damaged(format!("part `{name}` is cut off")));
        }
        let left = listed.compressed;
        Ok(Part {
            name,
            store,
            listed,
            at,
            left,
            input: Vec::new(),
            used: 0,
            inflate,
            produced: 0,
            sum: Crc::new(),
            ended: false,
        })
    }

    /// The part's name, for messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// How many bytes the part has, which is held to: reading fails where it is not so.
    pub(crate) fn size(&self) -> u64 {
        self.listed.size
    }

    /// Reads some bytes; none at the end.
    pub(crate) fn read(&mut self, into: &mut [u8]) -> Result<usize, Fault> {
        if self.ended || into.is_empty() {
            return Ok(0);
        }
        let count = match self.inflate.take() {
            Some(mut inflate) => {
                let count = self.inflated(&mut inflate, into);
                self.inflate = Some(inflate);
                count?
            }
            None => self.stored(into)?,
        };
        self.produced += count as u64;
        self.sum.update(&into[..count]);
        if self.produced > self.listed.size {
            return Err(self.lies());
        }
        if self.ended && self.produced != self.listed.size {
            return Err(self.lies());
        }
        if self.ended && self.sum.sum() != self.listed.checksum {
            return Err(Fault::damaged(format!("part `{}` does not have the checksum that it should have", self.name)));
        }
        Ok(count)
    }

    fn lies(&self) -> Fault {
        let (name, size) = (&self.name, self.listed.size);
        Fault::damaged(format!("part `{name}` is not the {size} bytes that the directory says"))
    }

    fn stored(&mut self, into: &mut [u8]) -> Result<usize, Fault> {
        let most = into.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let count = self.store.read_at(self.at, &mut into[..most])?;
        if count == 0 && self.left > 0 {
            return Err(Fault::damaged(format!("part `{}` is cut off", self.name)));
        }
        self.at += count as u64;
        self.left -= count as u64;
        self.ended = self.left == 0;
        Ok(count)
    }

    fn inflated(&mut self, inflate: &mut Decompress, into: &mut [u8]) -> Result<usize, Fault> {
        loop {
            if self.used == self.input.len() && self.left > 0 {
                let most = CHUNK.min(usize::try_from(self.left).unwrap_or(usize::MAX));
                self.input.resize(most, 0);
                let count = self.store.read_at(self.at, &mut self.input)?;
                self.input.truncate(count);
                self.used = 0;
                self.at += count as u64;
                self.left = if count == 0 { 0 } else { self.left - count as u64 };
            }
            let (before_in, before_out) = (inflate.total_in(), inflate.total_out());
            let status = inflate
                .decompress(&self.input[self.used..], into, FlushDecompress::None)
                .map_err(|_| Fault::damaged(format!("part `{}` cannot be decompressed", self.name)))?;
            let (consumed, count) = (inflate.total_in() - before_in, (inflate.total_out() - before_out) as usize);
            self.used += consumed as usize;
            self.ended = status == Status::StreamEnd;
            if count > 0 || self.ended {
                return Ok(count);
            }
            if consumed == 0 && self.used == self.input.len() && self.left == 0 {
                return Err(Fault::damaged(format!("part `{}` is cut off", self.name)));
            }
        }
    }

    /// Reads the whole part, which may be at most `limit` bytes.
    pub(crate) fn whole(mut self, limit: u64) -> Result<Vec<u8>, Fault> {
        if self.listed.size > limit {
            let (name, size) = (&self.name, self.listed.size);
            return Err(Fault::too_large(format!("part `{name}` is {size} bytes and may be {limit}")));
        }
        let mut bytes = Vec::new();
        let mut chunk = vec![0; CHUNK];
        loop {
            match self.read(&mut chunk)? {
                0 => return Ok(bytes),
                count => bytes.extend_from_slice(&chunk[..count]),
            }
        }
    }
}
