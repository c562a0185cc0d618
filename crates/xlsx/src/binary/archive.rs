//! A view of an `.xlsb` package for a reader that trusts what it is given: an archive whose parts lie uncompressed.
//!
//! Owns the translation: every byte that such a reader sees of a part went through [`Part`], which holds it to the
//! directory, and through [`Walk`], which holds the lengths of its records to the part. What went wrong is kept aside,
//! since the reader tells it in its own words.

use std::cell::RefCell;
use std::io::{self, Read, Seek, SeekFrom};
use std::rc::Rc;

use flate2::Crc;

use crate::error::Fault;
use crate::package::{Package, Part};

/// How large the parts may be that such a reader holds whole.
const MAX_SMALL: u64 = 16 << 20;
/// How large the table of strings may be, which takes up to four times that in memory.
const MAX_STRINGS: u64 = 48 << 20;
/// How large a sheet may be.
const MAX_SHEET: u64 = 1 << 30;
/// How long a record may be: a cell's text, mostly.
const MAX_RECORD: u64 = 1 << 20;

/// Where a fault is left for whoever called the reader.
pub(super) type Complaint = Rc<RefCell<Option<Fault>>>;

/// The archive as a file.
pub(super) struct Archive {
    package: Package,
    segments: Vec<Segment>,
    len: u64,
    at: u64,
    /// How much has been given in all.
    given: u64,
    /// The part that is being read, and up to where.
    open: Option<(String, u64, Part, Option<Walk>)>,
    complaint: Complaint,
}

/// A stretch of the archive.
struct Segment {
    at: u64,
    len: u64,
    what: What,
}

enum What {
    Bytes(Vec<u8>),
    Part(String),
}

impl Archive {
    pub(super) fn new(package: Package, complaint: Complaint) -> Result<Archive, Fault> {
        let mut archive = Archive { package, segments: Vec::new(), len: 0, at: 0, given: 0, open: None, complaint };
        let mut names: Vec<String> =
            archive.package.names().filter(|name| is_wanted(name)).map(str::to_owned).collect();
        names.sort();
        let mut directory = Vec::new();
        for name in &names {
            let header_at = archive.len;
            let (what, size, checksum) = archive.contents(name)?;
            let head = head(name, size, checksum);
            directory.extend_from_slice(b"PK\x01\x02\x14\x00");
            directory.extend_from_slice(&head[4..28]);
            directory.extend_from_slice(&[0; 12]);
            directory.extend_from_slice(&(header_at as u32).to_le_bytes());
            directory.extend_from_slice(name.as_bytes());
            archive.append(head.len() as u64, What::Bytes(head));
            archive.append(size, what);
            if archive.len > u64::from(u32::MAX) / 2 {
                return Err(Fault::too_large("its parts are more than 2 GiB together"));
            }
        }
        let at = archive.len;
        let mut end = b"PK\x05\x06\x00\x00\x00\x00".to_vec();
        end.extend_from_slice(&(names.len() as u16).to_le_bytes());
        end.extend_from_slice(&(names.len() as u16).to_le_bytes());
        end.extend_from_slice(&(directory.len() as u32).to_le_bytes());
        end.extend_from_slice(&(at as u32).to_le_bytes());
        end.extend_from_slice(&[0, 0]);
        archive.append(directory.len() as u64, What::Bytes(directory));
        archive.append(end.len() as u64, What::Bytes(end));
        Ok(archive)
    }

    /// What stands for a part, its size and its checksum.
    fn contents(&self, name: &str) -> Result<(What, u64, u32), Fault> {
        let part = self.package.part(name)?.ok_or_else(|| Fault::damaged(format!("part `{name}` is missing")))?;
        let (size, checksum) = (part.size(), part.checksum());
        let most = match name {
            "xl/sharedstrings.bin" => MAX_STRINGS,
            "xl/workbook.bin" | "xl/_rels/workbook.bin.rels" | "xl/styles.bin" => MAX_SMALL,
            _ => MAX_SHEET,
        };
        if size > most {
            return Err(Fault::too_large(format!("part `{name}` is {size} bytes and may be {most}")));
        }
        if name != "xl/styles.bin" {
            return Ok((What::Part(name.to_owned()), size, checksum));
        }
        let styles = formats_alone(&part.whole(most)?)?;
        let mut checksum = Crc::new();
        checksum.update(&styles);
        Ok((What::Bytes(styles.clone()), styles.len() as u64, checksum.sum()))
    }

    fn append(&mut self, len: u64, what: What) {
        self.segments.push(Segment { at: self.len, len, what });
        self.len += len;
    }

    fn read_here(&mut self, into: &mut [u8]) -> Result<usize, Fault> {
        // A sheet is read twice at most; more means that many sheets are one and the same part.
        if self.given > 8 * self.len + MAX_SMALL {
            return Err(Fault::damaged("several of its sheets are the same part"));
        }
        let number = self.segments.partition_point(|segment| segment.at + segment.len <= self.at);
        let Some(segment) = self.segments.get(number) else { return Ok(0) };
        let within = self.at - segment.at;
        let most = into.len().min(usize::try_from(segment.len - within).unwrap_or(usize::MAX));
        let into = &mut into[..most];
        match &segment.what {
            What::Bytes(bytes) => {
                let from = within as usize;
                into.copy_from_slice(&bytes[from..from + most]);
                Ok(most)
            }
            What::Part(name) => {
                let name = name.clone();
                self.read_part(&name, within, into)
            }
        }
    }

    fn read_part(&mut self, name: &str, within: u64, into: &mut [u8]) -> Result<usize, Fault> {
        // Parts are read from front to back; one that is begun again is opened again.
        let begun = self.open.take().filter(|(open, at, _, _)| open == name && *at <= within);
        let (_, mut at, mut part, mut walk) = match begun {
            Some(begun) => begun,
            None => {
                let part = self.package.part(name)?.ok_or_else(|| Fault::damaged("a part went away"))?;
                let walk = name.ends_with(".bin").then(|| Walk::new(part.size()));
                (name.to_owned(), 0, part, walk)
            }
        };
        let mut skipped = [0; 4096];
        while at < within {
            let most = skipped.len().min((within - at) as usize);
            let count = part.read(&mut skipped[..most])?;
            if count == 0 {
                return Ok(0);
            }
            if let Some(walk) = &mut walk {
                walk.over(&skipped[..count], name)?;
            }
            at += count as u64;
        }
        let count = part.read(into)?;
        if let Some(walk) = &mut walk {
            walk.over(&into[..count], name)?;
        }
        self.open = Some((name.to_owned(), at + count as u64, part, walk));
        Ok(count)
    }
}

/// What a reader of cells looks into.
fn is_wanted(name: &str) -> bool {
    let other = ["vbaproject", "printersettings", "embeddings/", "activex/"];
    name == "xl/_rels/workbook.bin.rels"
        || (name.starts_with("xl/") && name.ends_with(".bin") && !other.iter().any(|other| name.contains(other)))
}

/// The head of a part that lies uncompressed.
fn head(name: &str, size: u64, checksum: u32) -> Vec<u8> {
    let mut head = b"PK\x03\x04\x14\x00\x00\x00\x00\x00\x00\x00\x21\x00".to_vec();
    head.extend_from_slice(&checksum.to_le_bytes());
    head.extend_from_slice(&(size as u32).to_le_bytes());
    head.extend_from_slice(&(size as u32).to_le_bytes());
    head.extend_from_slice(&(name.len() as u16).to_le_bytes());
    head.extend_from_slice(&[0, 0]);
    head.extend_from_slice(name.as_bytes());
    head
}

impl Read for Archive {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self.read_here(into) {
            Ok(count) => {
                self.at += count as u64;
                self.given += count as u64;
                Ok(count)
            }
            Err(fault) => {
                let text = fault.to_string();
                self.complaint.borrow_mut().get_or_insert(fault);
                Err(io::Error::other(text))
            }
        }
    }
}

impl Seek for Archive {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.len.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

/// The records of a part as they go by.
struct Walk {
    left: u64,
    next: Next,
}

enum Next {
    Kind,
    SecondOfKind,
    Len { sum: u64, bytes: u32 },
    Body { left: u64 },
}

impl Walk {
    fn new(size: u64) -> Walk {
        Walk { left: size, next: Next::Kind }
    }

    fn over(&mut self, mut bytes: &[u8], name: &str) -> Result<(), Fault> {
        while let Some((&first, rest)) = bytes.split_first() {
            let used = match &mut self.next {
                Next::Body { left } => {
                    let used = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                    *left -= used as u64;
                    if *left == 0 {
                        self.next = Next::Kind;
                    }
                    used
                }
                Next::Kind => {
                    self.next = if first & 0x80 != 0 { Next::SecondOfKind } else { Next::Len { sum: 0, bytes: 0 } };
                    1
                }
                Next::SecondOfKind => {
                    self.next = Next::Len { sum: 0, bytes: 0 };
                    1
                }
                Next::Len { sum, bytes } => {
                    *sum |= u64::from(first & 0x7F) << (7 * *bytes);
                    *bytes += 1;
                    if first & 0x80 == 0 || *bytes == 4 {
                        let len = *sum;
                        if len > MAX_RECORD || len > self.left - 1 {
                            return Err(Fault::damaged(format!("part `{name}` has a record of {len} bytes")));
                        }
                        self.next = if len == 0 { Next::Kind } else { Next::Body { left: len } };
                    }
                    1
                }
            };
            self.left -= used as u64;
            bytes = if used == 1 { rest } else { &bytes[used..] };
        }
        Ok(())
    }
}

/// The records of a styles part that tell number formats, one after the other: the reader looks for them byte by byte,
/// and would find them inside others.
fn formats_alone(part: &[u8]) -> Result<Vec<u8>, Fault> {
    const WANTED: [u16; 4] = [0x0267, 0x002C, 0x0269, 0x002F];
    let mut out = Vec::new();
    let mut rest = part;
    let mut cell_styles = false;
    while !rest.is_empty() {
        let (kind, body, whole) = record(rest).ok_or_else(|| Fault::damaged("part `xl/styles.bin` is cut off"))?;
        // Styles of cells have the same records as named styles have before them.
        cell_styles |= kind == 0x0269;
        if WANTED.contains(&kind) && (kind != 0x002F || cell_styles) && !body.is_empty() {
            out.extend_from_slice(&rest[..whole]);
        }
        // The list of cell styles is the last that counts.
        if kind == 0x026A {
            break;
        }
        rest = &rest[whole..];
    }
    Ok(out)
}

/// The record at the beginning: its kind, its body, and how long it is in all.
fn record(bytes: &[u8]) -> Option<(u16, &[u8], usize)> {
    let first = *bytes.first()?;
    let (kind, mut at) = match first & 0x80 {
        0 => (u16::from(first), 1),
        _ => (u16::from(first & 0x7F) | u16::from(*bytes.get(1)? & 0x7F) << 7, 2),
    };
    let mut len = 0;
    for place in 0..4 {
        let byte = *bytes.get(at)?;
        at += 1;
        len |= usize::from(byte & 0x7F) << (7 * place);
        if byte & 0x80 == 0 {
            break;
        }
    }
    Some((kind, bytes.get(at..at.checked_add(len)?)?, at + len))
}
