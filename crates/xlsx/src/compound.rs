//! Compound files: the container of `.xls`, and of every workbook that is encrypted.
//!
//! Owns the chains of sectors and their bounds. [`Compound::stream`] takes a stream out, [`wrap`] puts one back into a
//! container of its own, so that a reader that trusts such containers need not be given a foreign one.

use crate::error::Fault;
use crate::store::Store;

/// How large a stream may be, since it is read whole.
const MAX_STREAM: u64 = 64 << 20;
/// How large the directory may be.
const MAX_DIRECTORY: u64 = 8 << 20;
const END_OF_CHAIN: u32 = 0xFFFF_FFFE;
/// Numbers from here on are marks, not sectors.
const RESERVED: u32 = 0xFFFF_FFFA;
/// Streams below this size share sectors of 64 bytes.
const SMALL: u64 = 4096;

/// An open container.
pub(crate) struct Compound {
    store: Store,
    sector: u64,
    fat: Vec<u32>,
    small_fat: Vec<u32>,
    small: Vec<u8>,
    entries: Vec<Entry>,
}

/// A stream or a storage, as the directory lists it.
struct Entry {
    name: String,
    is_stream: bool,
    start: u32,
    size: u64,
}

impl Compound {
    pub(crate) fn open(store: Store) -> Result<Compound, Fault> {
        let header = store.exactly::<512>(0)?.ok_or_else(cut_off)?;
        let word = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        let sector = match header[30] {
            9 => 512,
            12 => 4096,
            _ => return Err(Fault::damaged("its sectors have a size that does not exist")),
        };
        let mut compound =
            Compound { store, sector, fat: Vec::new(), small_fat: Vec::new(), small: Vec::new(), entries: Vec::new() };
        compound.read_fat(&header, word(68))?;
        compound.read_directory(word(48))?;
        // Writers get the sizes of what holds the small streams wrong; whether one is whole is seen when it is read.
        let small_fat = compound.follow(word(60), u64::from(word(64)).saturating_mul(sector).min(MAX_STREAM))?;
        compound.small_fat = words(&small_fat);
        if let Some((start, size)) = compound.entries.first().map(|root| (root.start, root.size)) {
            compound.small = compound.follow(start, size.min(MAX_STREAM))?;
        }
        Ok(compound)
    }

    /// Whether there is a stream of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// A stream, whole; `None` when there is none of that name.
    pub(crate) fn stream(&self, name: &str) -> Result<Option<Vec<u8>>, Fault> {
        let Some(entry) = self.find(name) else { return Ok(None) };
        if entry.size >= SMALL {
            return self.chain(entry.start, entry.size).map(Some);
        }
        let mut bytes = Vec::new();
        let mut next = entry.start;
        while (bytes.len() as u64) < entry.size {
            let from = next as usize * 64;
            let Some(piece) = self.small.get(from..from.saturating_add(64).min(self.small.len())) else {
                return Err(cut_off());
            };
            if piece.is_empty() {
                return Err(cut_off());
            }
            bytes.extend_from_slice(piece);
            next = *self.small_fat.get(next as usize).unwrap_or(&END_OF_CHAIN);
            if next >= RESERVED && (bytes.len() as u64) < entry.size {
                return Err(cut_off());
            }
        }
        bytes.truncate(entry.size as usize);
        Ok(Some(bytes))
    }

    fn find(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.is_stream && entry.name.eq_ignore_ascii_case(name))
    }

    fn sector_at(&self, number: u32) -> u64 {
        (u64::from(number) + 1) * self.sector
    }

    /// The table of sectors, which lies in sectors that the header lists, and further lists that it points to.
    fn read_fat(&mut self, header: &[u8], mut list: u32) -> Result<(), Fault> {
        let sectors = self.store.len() / self.sector;
        let mut fat_sectors = words(&header[76..512]);
        while list < RESERVED {
            let bytes = self.sector_bytes(list)?;
            let mut more = words(&bytes);
            list = more.pop().unwrap_or(END_OF_CHAIN);
            fat_sectors.extend(more);
            if fat_sectors.len() as u64 > sectors + 2 * self.sector {
                return Err(cut_off());
            }
        }
        for number in fat_sectors.into_iter().filter(|number| *number < RESERVED) {
            let bytes = self.sector_bytes(number)?;
            self.fat.extend(words(&bytes));
            // A table longer than the file has sectors lists one of its own sectors again.
            if self.fat.len() as u64 > sectors + 2 * self.sector {
                break;
            }
        }
        Ok(())
    }

    fn read_directory(&mut self, start: u32) -> Result<(), Fault> {
        let directory = self.all_of_chain(start, MAX_DIRECTORY)?;
        for entry in directory.chunks_exact(128) {
            let units: Vec<u16> =
                entry[..64].chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]])).collect();
            let units = units.split(|unit| *unit == 0).next().unwrap_or_default();
            let number = words(&entry[116..128]);
            let high = if self.sector == 512 { 0 } else { u64::from(number[2]) };
            self.entries.push(Entry {
                name: String::from_utf16_lossy(units),
                is_stream: entry[66] == 2,
                start: number[0],
                size: high << 32 | u64::from(number[1]),
            });
        }
        Ok(())
    }

    fn sector_bytes(&self, number: u32) -> Result<Vec<u8>, Fault> {
        self.store.exactly_vec(self.sector_at(number), self.sector as usize)?.ok_or_else(cut_off)
    }

    /// As many bytes of a chain of sectors.
    fn chain(&self, start: u32, size: u64) -> Result<Vec<u8>, Fault> {
        if size > MAX_STREAM {
            return Err(Fault::too_large(format!("a stream of it is {size} bytes and may be {MAX_STREAM}")));
        }
        let mut bytes = self.follow(start, size)?;
        if (bytes.len() as u64) < size {
            return Err(cut_off());
        }
        bytes.truncate(size as usize);
        Ok(bytes)
    }

    /// The bytes of a chain of sectors up to its end.
    fn all_of_chain(&self, start: u32, most: u64) -> Result<Vec<u8>, Fault> {
        let bytes = self.follow(start, most)?;
        if bytes.len() as u64 >= most {
            return Err(Fault::damaged("a chain of its sectors never ends"));
        }
        Ok(bytes)
    }

    /// Follows a chain until it ends or gave as many bytes.
    fn follow(&self, start: u32, wanted: u64) -> Result<Vec<u8>, Fault> {
        let mut bytes = Vec::new();
        let mut next = start;
        while next < RESERVED && (bytes.len() as u64) < wanted {
            // The last sector of a file may be short.
            let at = self.sector_at(next);
            let count = self.sector.min(self.store.len().saturating_sub(at));
            let sector = self.store.exactly_vec(at, count as usize)?.filter(|bytes| !bytes.is_empty());
            bytes.extend(sector.ok_or_else(cut_off)?);
            next = *self.fat.get(next as usize).ok_or_else(cut_off)?;
        }
        Ok(bytes)
    }
}

fn cut_off() -> Fault {
    Fault::damaged("a part of the file is missing, as if it were cut off")
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
}

/// A container that holds one stream and nothing else.
pub(crate) fn wrap(name: &str, mut stream: Vec<u8>) -> Vec<u8> {
    const SECTOR: usize = 4096;
    // Below this size the stream would have to lie among the small ones; zeros behind its end are never looked at.
    stream.resize(stream.len().max(SMALL as usize).next_multiple_of(SECTOR), 0);
    let of_stream = stream.len() / SECTOR;
    // Each sector of the table lists 1024 sectors, itself and the directory included.
    let of_fat = (of_stream + 1).div_ceil(SECTOR / 4 - 1);
    let mut fat: Vec<u32> = vec![0xFFFF_FFFD; of_fat];
    fat.push(END_OF_CHAIN);
    fat.extend((0..of_stream).map(|at| (of_fat + 2 + at) as u32));
    if let Some(last) = fat.last_mut() {
        *last = END_OF_CHAIN;
    }
    fat.resize(of_fat * SECTOR / 4, 0xFFFF_FFFF);

    let mut out = vec![0; SECTOR];
    out[..8].copy_from_slice(&[0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1]);
    out[24..34].copy_from_slice(&[0x3E, 0, 4, 0, 0xFE, 0xFF, 12, 0, 6, 0]);
    let mut put = |at: usize, word: u32| out[at..at + 4].copy_from_slice(&word.to_le_bytes());
    put(40, 1);
    put(44, of_fat as u32);
    put(48, of_fat as u32);
    put(56, SMALL as u32);
    put(60, END_OF_CHAIN);
    put(68, END_OF_CHAIN);
    for at in 0..109 {
        put(76 + at * 4, if at < of_fat { at as u32 } else { 0xFFFF_FFFF });
    }
    out.extend(fat.iter().flat_map(|word| word.to_le_bytes()));
    let mut directory = vec![0; SECTOR];
    // Of the root's own sectors there are none; a reader may want it to name one all the same.
    entry(&mut directory[..128], "Root Entry", 5, 0, 0);
    entry(&mut directory[128..256], name, 2, of_fat as u32 + 1, stream.len() as u64);
    // The root's only child.
    directory[76..80].copy_from_slice(&1u32.to_le_bytes());
    out.extend(directory);
    out.extend(stream);
    out
}

fn entry(into: &mut [u8], name: &str, kind: u8, start: u32, size: u64) {
    let units: Vec<u8> = name.encode_utf16().take(31).flat_map(u16::to_le_bytes).collect();
    into[..units.len()].copy_from_slice(&units);
    into[64..66].copy_from_slice(&(units.len() as u16 + 2).to_le_bytes());
    into[66] = kind;
    into[67] = 1;
    into[68..80].fill(0xFF);
    into[116..120].copy_from_slice(&start.to_le_bytes());
    into[120..128].copy_from_slice(&size.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrapped_is_taken_out_again() {
        for len in [0usize, 1, 4095, 4096, 4097, 5 << 20] {
            let stream: Vec<u8> = (0..len).map(|at| (at * 31 % 251) as u8).collect();
            let compound = Compound::open(Store::from_bytes(wrap("Workbook", stream.clone()))).unwrap();
            let taken = compound.stream("workbook").unwrap().unwrap();
            assert_eq!(taken[..len], stream);
            assert!(taken[len..].iter().all(|byte| *byte == 0));
            assert!(!compound.has("Book"));
        }
    }

    #[test]
    fn a_chain_that_bites_its_tail_ends_in_an_error() {
        let mut file = wrap("Workbook", vec![1; 20_000]);
        // The stream's first sector, number 2, names itself as the next.
        file[4096 + 8..4096 + 12].copy_from_slice(&2u32.to_le_bytes());
        let compound = Compound::open(Store::from_bytes(file.clone())).unwrap();
        assert_eq!(compound.stream("Workbook").unwrap().unwrap().len(), 20_480);
        // The directory has no size of its own that would end it.
        file[4096 + 4..4096 + 8].copy_from_slice(&1u32.to_le_bytes());
        assert!(Compound::open(Store::from_bytes(file)).is_err());
    }
}
