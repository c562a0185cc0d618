//! The records of an `.xls` stream, made safe for a reader that trusts them.
//!
//! Owns what such a reader would do with a hostile stream: reserve what a sheet claims to hold, decode formulas that
//! nobody asked for, read one sheet a thousand times. Knows records by number and length, and the values of formulas.

use crate::error::Fault;

/// How much memory reading may take, roughly.
const GRANTED: u64 = 224 << 20;

mod record {
    pub(super) const FORMULA: u16 = 0x0006;
    pub(super) const EOF: u16 = 0x000A;
    pub(super) const FILEPASS: u16 = 0x002F;
    pub(super) const CONTINUE: u16 = 0x003C;
    pub(super) const BOUNDSHEET: u16 = 0x0085;
    pub(super) const MULRK: u16 = 0x00BD;
    pub(super) const RSTRING: u16 = 0x00D6;
    pub(super) const SST: u16 = 0x00FC;
    pub(super) const LABELSST: u16 = 0x00FD;
    pub(super) const DIMENSIONS: u16 = 0x0200;
    pub(super) const BLANK: u16 = 0x0201;
    pub(super) const NUMBER: u16 = 0x0203;
    pub(super) const LABEL: u16 = 0x0204;
    pub(super) const BOOLERR: u16 = 0x0205;
    pub(super) const STRING: u16 = 0x0207;
    pub(super) const RK: u16 = 0x027E;
    pub(super) const BOF: u16 = 0x0809;
}

/// Looks through the stream, refuses what would take too much, and takes out of it what would do harm.
pub(super) fn make_safe(stream: &mut [u8]) -> Result<(), Fault> {
    let mut sheets = Vec::new();
    let mut strings = 0;
    for at in records(stream, 0) {
        let (kind, data) = at?.of(stream);
        match kind {
            record::FILEPASS if data.len() >= 2 && data[..2] != [0, 0] => return Err(Fault::Encrypted),
            record::BOUNDSHEET if data.len() >= 4 => {
                sheets.push(u32::from_le_bytes([data[0], data[1], data[2], data[3]]) as usize);
            }
            record::SST => strings = data.len() as u64,
            record::CONTINUE if strings > 0 => strings += data.len() as u64,
            record::EOF => break,
            _ => {}
        }
    }
    // A string of three bytes takes 24 in memory, one of usual length twice its own.
    let mut memory = 3 * stream.len() as u64 + 5 * strings;
    let mut walked = 0;
    for start in sheets {
        let sheet = Sheet::read(stream, start)?;
        memory += 64 * sheet.cells + 2 * 24 * sheet.grid();
        walked += sheet.walked;
        if memory > GRANTED {
            let (needed, most) = (memory >> 20, GRANTED >> 20);
            return Err(Fault::too_large(format!("reading it takes about {needed} MiB and may take {most}")));
        }
        if walked > 2 * stream.len() {
            return Err(Fault::damaged("several of its sheets are one and the same"));
        }
    }
    Ok(())
}

/// What a sheet's records come to.
#[derive(Default)]
struct Sheet {
    cells: u64,
    rows: Option<(u16, u16)>,
    columns: Option<(u16, u16)>,
    walked: usize,
}

impl Sheet {
    fn read(stream: &mut [u8], start: usize) -> Result<Sheet, Fault> {
        let mut sheet = Sheet::default();
        let mut at = start;
        let mut depth = 0u32;
        while let Some(found) = Record::at(stream, at)? {
            at = found.end;
            match found.kind {
                record::BOF => depth += 1,
                record::EOF if depth <= 1 => break,
                record::EOF => depth -= 1,
                _ if depth <= 1 => sheet.add(&found, &mut stream[found.start..found.end]),
                _ => {}
            }
        }
        sheet.walked = at.saturating_sub(start);
        Ok(sheet)
    }

    /// Counts the record's cells, and makes the record safe. `bytes` is the record with its head.
    fn add(&mut self, found: &Record, bytes: &mut [u8]) {
        let data = &mut bytes[4..];
        match found.kind {
            record::DIMENSIONS => data.fill(0),
            record::FORMULA if data.len() >= 20 => {
                self.cell(data);
                let kind = value_only(data);
                bytes[..2].copy_from_slice(&kind.to_le_bytes());
            }
            record::MULRK if data.len() >= 6 => {
                self.cell(data);
                let last = data.len() - 2;
                let column = u16::from_le_bytes([data[last], data[last + 1]]);
                self.columns = self.columns.map(|(least, most)| (least, most.max(column)));
                self.cells += (data.len() as u64 - 6) / 6;
            }
            record::NUMBER | record::LABEL | record::RSTRING | record::BOOLERR | record::RK | record::LABELSST
                if data.len() >= 4 =>
            {
                self.cell(data);
            }
            record::STRING => self.cells += 1,
            _ => {}
        }
    }

    fn cell(&mut self, data: &[u8]) {
        let widen = |range: Option<(u16, u16)>, place: u16| {
            Some(range.map_or((place, place), |(least, most)| (least.min(place), most.max(place))))
        };
        self.rows = widen(self.rows, u16::from_le_bytes([data[0], data[1]]));
        self.columns = widen(self.columns, u16::from_le_bytes([data[2], data[3]]));
        self.cells += 1;
    }

    /// How many places lie between the sheet's first cell and its last.
    fn grid(&self) -> u64 {
        let length = |range: Option<(u16, u16)>| range.map_or(0, |(least, most)| u64::from(most - least) + 1);
        length(self.rows) * length(self.columns)
    }
}

/// Makes a formula the value that it resulted in, in place; says which record that is now.
fn value_only(data: &mut [u8]) -> u16 {
    if data[12..14] != [0xFF, 0xFF] {
        return record::NUMBER;
    }
    match data[6] {
        // A text, which the next record holds. What is left of the formula is empty.
        0 => {
            data[20..].fill(0);
            record::FORMULA
        }
        kind @ (1 | 2) => {
            data[6] = data[8];
            data[7] = kind - 1;
            record::BOOLERR
        }
        _ => record::BLANK,
    }
}

/// A record and its place, head included.
struct Record {
    kind: u16,
    start: usize,
    end: usize,
}

impl Record {
    /// The record at a place; `None` at the end of the stream.
    fn at(stream: &[u8], start: usize) -> Result<Option<Record>, Fault> {
        let Some(head) = stream.get(start..start.saturating_add(4)) else { return Ok(None) };
        let (kind, len) = (u16::from_le_bytes([head[0], head[1]]), u16::from_le_bytes([head[2], head[3]]));
        let end = start + 4 + usize::from(len);
        if end > stream.len() {
            return Err(Fault::damaged("a record is longer than what is left of the file"));
        }
        Ok(Some(Record { kind, start, end }))
    }

    fn of<'a>(&self, stream: &'a [u8]) -> (u16, &'a [u8]) {
        (self.kind, &stream[self.start + 4..self.end])
    }
}

/// The records from a place on.
fn records(stream: &[u8], start: usize) -> impl Iterator<Item = Result<Record, Fault>> + use<'_> {
    let mut at = Some(start);
    std::iter::from_fn(move || {
        let found = Record::at(stream, at?);
        at = match &found {
            Ok(Some(record)) => Some(record.end),
            _ => None,
        };
        found.transpose()
    })
}
