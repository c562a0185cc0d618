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
use crate::relations::{Relations, folder};
use crate::workbook::MAX_SHEETS;

/// How large the parts may be that such a reader holds whole.
const MAX_SMALL: u64 = 16 << 20;
/// How large the table of strings may be, which takes up to four times that in memory.
const MAX_STRINGS: u64 = 48 << 20;
/// How large a sheet may be.
const MAX_SHEET: u64 = 1 << 30;
/// How long a record may be: a cell's text, mostly.
const MAX_RECORD: u64 = 1 << 20;

const WORKBOOK: &str = "xl/workbook.bin";
const STRINGS: &str = "xl/sharedStrings.bin";
const STYLES: &str = "xl/styles.bin";
const RELATIONS: &str = "xl/_rels/workbook.bin.rels";

/// A formula that results in an error, which the reader passes over, and a cell that holds one, which has the same form
/// up to the error.
const FORMULA_ERROR: u8 = 0x0B;
const ERROR: u8 = 0x03;

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
    open: Option<(String, u64, Part, Walk)>,
    complaint: Complaint,
    /// The titles of sheets that hold the macros of the nineties, which the reader takes for worksheets.
    macros: Vec<String>,
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

/// Where a part comes from.
enum Source {
    Bytes(Vec<u8>),
    Part(String),
}

impl Archive {
    pub(super) fn new(package: Package, main: &str, complaint: Complaint) -> Result<Archive, Fault> {
        let relations = Relations::of(&package, main)?;
        let macros = macro_titles(&package, main, &relations)?;
        let mut archive =
            Archive { package, segments: Vec::new(), len: 0, at: 0, given: 0, open: None, complaint, macros };
        let mut directory = Vec::new();
        let mut count = 0u16;
        for (name, source) in archive.parts(main, &relations)? {
            let header_at = archive.len;
            let (what, size, checksum) = archive.contents(&name, source)?;
            let head = head(&name, size, checksum);
            directory.extend_from_slice(b"PK\x01\x02\x14\x00");
            directory.extend_from_slice(&head[4..28]);
            directory.extend_from_slice(&[0; 12]);
            directory.extend_from_slice(&(header_at as u32).to_le_bytes());
            directory.extend_from_slice(name.as_bytes());
            archive.append(head.len() as u64, What::Bytes(head));
            archive.append(size, what);
            count += 1;
            if archive.len > u64::from(u32::MAX) / 2 {
                return Err(Fault::too_large("its parts are more than 2 GiB together"));
            }
        }
        let at = archive.len;
        let mut end = b"PK\x05\x06\x00\x00\x00\x00".to_vec();
        end.extend_from_slice(&count.to_le_bytes());
        end.extend_from_slice(&count.to_le_bytes());
        end.extend_from_slice(&(directory.len() as u32).to_le_bytes());
        end.extend_from_slice(&(at as u32).to_le_bytes());
        end.extend_from_slice(&[0, 0]);
        archive.append(directory.len() as u64, What::Bytes(directory));
        archive.append(end.len() as u64, What::Bytes(end));
        Ok(archive)
    }

    /// The titles of sheets that hold the macros of the nineties.
    pub(super) fn macro_sheets(&self) -> &[String] {
        &self.macros
    }

    /// The parts that a reader of cells looks into, each under the one name and in the one spelling that it knows.
    fn parts(&self, main: &str, relations: &Relations) -> Result<Vec<(String, Source)>, Fault> {
        let mut parts = vec![(WORKBOOK.to_owned(), Source::Part(main.to_owned()))];
        for (kind, usual, name) in [("sharedStrings", "sharedStrings.bin", STRINGS), ("styles", "styles.bin", STYLES)] {
            let beside = format!("{}{usual}", folder(main));
            let part = relations.first(kind).filter(|part| self.package.has(part)).unwrap_or(&beside);
            if self.package.has(part) {
                parts.push((name.to_owned(), Source::Part(part.to_owned())));
            }
        }
        let mut text = "<Relationships>".to_owned();
        for (number, (id, kind, part)) in relations.all().enumerate() {
            // Ids are compared letter by letter, so none can be escaped.
            let Some(folder) = sheet_folder(kind).filter(|_| !id.contains(['<', '&', '"'])) else { continue };
            if parts.len() > MAX_SHEETS {
                return Err(Fault::too_large(format!("it lists more than {MAX_SHEETS} sheets")));
            }
            text.push_str(&format!(r#"<Relationship Id="{id}" Target="{folder}/{number}.bin"/>"#));
            if self.package.has(part) {
                parts.push((format!("xl/{folder}/{number}.bin"), Source::Part(part.to_owned())));
            }
        }
        text.push_str("</Relationships>");
        parts.push((RELATIONS.to_owned(), Source::Bytes(text.into_bytes())));
        Ok(parts)
    }

    /// What stands for a part, its size and its checksum.
    fn contents(&self, name: &str, source: Source) -> Result<(What, u64, u32), Fault> {
        let part = match source {
            Source::Bytes(bytes) => return Ok(whole(bytes)),
            Source::Part(part) => part,
        };
        let missing = || Fault::damaged(format!("part `{part}` is missing"));
        let opened = self.package.part(&part)?.ok_or_else(missing)?;
        let (size, checksum) = (opened.size(), opened.checksum());
        let most = match name {
            STRINGS => MAX_STRINGS,
            WORKBOOK | STYLES => MAX_SMALL,
            _ => MAX_SHEET,
        };
        if size > most {
            return Err(Fault::too_large(format!("part `{part}` is {size} bytes and may be {most}")));
        }
        if name == STYLES {
            return Ok(whole(formats_alone(&opened.whole(most)?)?));
        }
        Ok((What::Part(part), size, checksum))
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
                let walk = Walk::new(part.size());
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
            walk.over(&mut skipped[..count], name)?;
            at += count as u64;
        }
        let count = part.read(into)?;
        walk.over(&mut into[..count], name)?;
        self.open = Some((name.to_owned(), at + count as u64, part, walk));
        Ok(count)
    }
}

/// Bytes that stand for a part, with their number and their checksum.
fn whole(bytes: Vec<u8>) -> (What, u64, u32) {
    let mut checksum = Crc::new();
    checksum.update(&bytes);
    let size = bytes.len() as u64;
    (What::Bytes(bytes), size, checksum.sum())
}

fn holds_macros(kind: &str) -> bool {
    matches!(kind, "xlMacrosheet" | "xlIntlMacrosheet")
}

/// The folder by which a reader knows what a sheet is; it knows none for the macros of the nineties, which are cells.
fn sheet_folder(kind: &str) -> Option<&'static str> {
    match kind {
        _ if kind == "worksheet" || holds_macros(kind) => Some("worksheets"),
        "chartsheet" => Some("chartsheets"),
        "dialogsheet" => Some("dialogsheets"),
        _ => None,
    }
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

    fn over(&mut self, bytes: &mut [u8], name: &str) -> Result<(), Fault> {
        let mut at = 0;
        while let Some(&first) = bytes.get(at) {
            let used = match &mut self.next {
                Next::Body { left } => {
                    let used = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len() - at);
                    *left -= used as u64;
                    if *left == 0 {
                        self.next = Next::Kind;
                    }
                    used
                }
                Next::Kind => {
                    if first == FORMULA_ERROR {
                        bytes[at] = ERROR;
                    }
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
            at += used;
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

/// The titles of the sheets whose relationship says that they hold macros.
fn macro_titles(package: &Package, main: &str, relations: &Relations) -> Result<Vec<String>, Fault> {
    const SHEET: u16 = 0x9C;
    let ids: Vec<&str> = relations.all().filter(|(_, kind, _)| holds_macros(kind)).map(|(id, ..)| id).collect();
    let mut titles = Vec::new();
    let Some(part) = package.part(main)?.filter(|_| !ids.is_empty()) else { return Ok(titles) };
    let book = part.whole(MAX_SMALL)?;
    let mut rest = book.as_slice();
    while let Some((kind, body, whole)) = record(rest) {
        if kind == SHEET
            && let Some((id, after)) = body.get(8..).and_then(wide_text)
            && let Some((title, _)) = wide_text(after)
            && ids.contains(&id.as_str())
        {
            titles.push(title);
        }
        rest = &rest[whole..];
    }
    Ok(titles)
}

/// A text at the beginning, its length first, and what follows it.
fn wide_text(bytes: &[u8]) -> Option<(String, &[u8])> {
    let (len, rest) = bytes.split_first_chunk::<4>()?;
    let (units, rest) = rest.split_at_checked((u32::from_le_bytes(*len) as usize).checked_mul(2)?)?;
    let units: Vec<u16> = units.chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]])).collect();
    Some((String::from_utf16_lossy(&units), rest))
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
