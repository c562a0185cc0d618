//! The records of an `.xls` stream, made safe for a reader that trusts them.
//!
//! Owns what such a reader would do with a hostile stream: reserve what a sheet claims to hold, make every gap between
//! two cells, decode formulas that nobody asked for, read one sheet a thousand times, take numbers for dates in its own
//! way. Knows records by number and length, where cells lie, which of them are dates, and the values of formulas.

use crate::error::Fault;
use crate::number_format::Styles;
use crate::serial::{Clock, Epoch};
use crate::workbook::MAX_SHEETS;

/// How much memory reading may take, roughly.
const GRANTED: u64 = 224 << 20;

mod record {
    pub(super) const FORMULA: u16 = 0x0006;
    /// What it was called in the files of Excel 3 and 4; some programs still write it so.
    pub(super) const FORMULA_OF_3: u16 = 0x0206;
    pub(super) const FORMULA_OF_4: u16 = 0x0406;
    pub(super) const EOF: u16 = 0x000A;
    pub(super) const DATE_SYSTEM: u16 = 0x0022;
    pub(super) const FILEPASS: u16 = 0x002F;
    pub(super) const CONTINUE: u16 = 0x003C;
    pub(super) const CODE_PAGE: u16 = 0x0042;
    pub(super) const BOUNDSHEET: u16 = 0x0085;
    pub(super) const MULRK: u16 = 0x00BD;
    pub(super) const RSTRING: u16 = 0x00D6;
    pub(super) const STYLE: u16 = 0x00E0;
    pub(super) const SST: u16 = 0x00FC;
    pub(super) const LABELSST: u16 = 0x00FD;
    pub(super) const DIMENSIONS: u16 = 0x0200;
    pub(super) const BLANK: u16 = 0x0201;
    pub(super) const NUMBER: u16 = 0x0203;
    pub(super) const LABEL: u16 = 0x0204;
    pub(super) const BOOLERR: u16 = 0x0205;
    pub(super) const STRING: u16 = 0x0207;
    pub(super) const RK: u16 = 0x027E;
    pub(super) const FORMAT: u16 = 0x041E;
    pub(super) const BOF: u16 = 0x0809;
}

/// How many styles and formats can be named.
const MAX_STYLES: usize = 1 << 16;

/// A grid with fewer places is not worth moving together.
const SMALL_GRID: u64 = 100_000;

/// Looks through the stream, refuses what would take too much, and takes out of it what would do harm. Says from which
/// day the workbook counts, and for each sheet where its cells really lie, dates among them: those of a sheet with wide
/// gaps are moved together, since the reader makes the gaps too.
pub(super) fn make_safe(stream: &mut [u8]) -> Result<(Vec<Places>, Epoch), Fault> {
    let globals = Globals::read(stream)?;
    let styles = globals.styles()?;
    if !globals.is_old {
        join_texts(stream);
    }
    // A string of three bytes takes 24 in memory, one of usual length twice its own.
    let mut memory = 3 * stream.len() as u64 + 5 * globals.strings;
    let mut walked = 0;
    let mut sheets = Vec::new();
    for start in globals.starts {
        let sheet = Sheet::read(stream, start, &styles)?;
        memory += sheet.size() + 64 * sheet.cells;
        granted(memory)?;
        walked += sheet.end.saturating_sub(start);
        if walked > 2 * stream.len() {
            return Err(Fault::damaged("several of its sheets are one and the same"));
        }
        sheets.push(sheet);
    }
    let alone = lie_alone(&sheets);
    let mut places = Vec::new();
    for (sheet, alone) in sheets.iter_mut().zip(alone) {
        let moved = alone && sheet.has_gaps();
        memory += 2 * 24 * if moved { sheet.moved_grid() } else { sheet.grid() };
        granted(memory)?;
        let (rows, columns) = if moved { sheet.move_together(stream)? } else { Default::default() };
        places.push(Places { rows, columns, clocks: sheet.clocks() });
    }
    Ok((places, globals.epoch))
}

/// What the workbook says of all its sheets.
#[derive(Default)]
struct Globals {
    /// Where each sheet begins.
    starts: Vec<usize>,
    /// How long the texts are that cells share.
    strings: u64,
    epoch: Epoch,
    /// The format of each style, and those that the workbook defines itself.
    styles: Vec<u16>,
    formats: Vec<(u16, String)>,
    /// Whether texts are written as they were in Excel 5.
    is_old: bool,
}

impl Globals {
    fn read(stream: &mut [u8]) -> Result<Globals, Fault> {
        let mut globals = Globals::default();
        let mut at = 0;
        while let Some(found) = Record::at(stream, at)? {
            at = found.end;
            if found.kind == record::EOF {
                break;
            }
            globals.add(found.kind, &mut stream[found.start + 4..found.end])?;
        }
        Ok(globals)
    }

    /// Learns from a record, and takes the formats out of it: what a number means is not the reader's to say.
    fn add(&mut self, kind: u16, data: &mut [u8]) -> Result<(), Fault> {
        match kind {
            record::BOF if data.len() >= 4 => {
                let (version, kind) = (word(data, 0), word(data, 2));
                self.is_old = matches!(version, 2 | 7 | 0x0200..=0x0500) || (version == 0 && kind == 0x1000);
            }
            // However it is encrypted: the weakest way, which has the number 0, hides the values as well.
            record::FILEPASS => return Err(Fault::Encrypted),
            record::DATE_SYSTEM if data.first() == Some(&1) => self.epoch = Epoch::From1904,
            record::CODE_PAGE if data.len() >= 2 => {
                let page: u16 = match word(data, 0) {
                    // From Excel 97 on texts are UTF-16, whatever is said here.
                    _ if !self.is_old => 1200,
                    // Two have numbers of their own in old files.
                    0x8000 => 10_000,
                    0x8001 => 1252,
                    page => page,
                };
                data[..2].copy_from_slice(&page.to_le_bytes());
            }
            record::BOUNDSHEET if data.len() >= 4 => {
                self.starts.push(u32::from_le_bytes([data[0], data[1], data[2], data[3]]) as usize);
                if self.starts.len() > MAX_SHEETS {
                    return Err(Fault::too_large(format!("it lists more than {MAX_SHEETS} sheets")));
                }
            }
            record::SST => self.strings = data.len() as u64,
            record::CONTINUE if self.strings > 0 => self.strings += data.len() as u64,
            // Cells name their format and their style in 16 bits.
            record::FORMAT if data.len() >= 2 && self.formats.len() < MAX_STYLES => {
                self.formats.push((word(data, 0), code(&data[2..], self.is_old).unwrap_or_default()));
            }
            record::STYLE if data.len() >= 4 => {
                if self.styles.len() < MAX_STYLES {
                    self.styles.push(word(data, 2));
                }
                data[2..4].fill(0);
            }
            _ => {}
        }
        Ok(())
    }

    fn styles(&self) -> Result<Styles, Fault> {
        let mut styles = Styles::default();
        for (id, code) in &self.formats {
            styles.define(u32::from(*id), code);
        }
        for format in &self.styles {
            styles.add(u32::from(*format))?;
        }
        Ok(styles)
    }
}

/// Makes one record of a text that a formula resulted in and that lies in several: the reader looks at the first alone.
fn join_texts(stream: &mut [u8]) {
    let mut at = 0;
    while let Ok(Some(text)) = Record::at(stream, at) {
        at = text.end;
        if text.kind != record::STRING || text.end - text.start < 7 {
            continue;
        }
        // How many bytes a letter takes is said at the beginning of each.
        let is_wide = stream[text.start + 6] & 1;
        let mut end = text.end;
        while let Ok(Some(more)) = Record::at(stream, at)
            && more.kind == record::CONTINUE
            && more.end - more.start > 5
            && stream[more.start + 4] & 1 == is_wide
            && end + (more.end - more.start) - text.start <= usize::from(u16::MAX)
        {
            stream.copy_within(more.start + 5..more.end, end);
            end += more.end - more.start - 5;
            at = more.end;
        }
        if at > text.end {
            let (len, rest) = (end - text.start - 4, at - end - 4);
            stream[text.start + 2..text.start + 4].copy_from_slice(&(len as u16).to_le_bytes());
            // What is left over is a cell that holds nothing.
            stream[end..end + 2].copy_from_slice(&record::BLANK.to_le_bytes());
            stream[end + 2..end + 4].copy_from_slice(&(rest as u16).to_le_bytes());
        }
    }
}

/// The code of a format. Letters beyond ASCII mean nothing in it, so how they are encoded is of no concern.
fn code(text: &[u8], is_old: bool) -> Option<String> {
    let narrow = |bytes: &[u8]| bytes.iter().map(|byte| char::from(*byte)).collect();
    if is_old {
        let (len, text) = text.split_first()?;
        return text.get(..usize::from(*len)).map(narrow);
    }
    let (head, text) = text.split_first_chunk::<3>()?;
    let len = usize::from(word(head, 0));
    match head[2] & 1 {
        0 => text.get(..len).map(narrow),
        _ => Some(String::from_utf16_lossy(
            &text.get(..2 * len)?.chunks_exact(2).map(|unit| word(unit, 0)).collect::<Vec<_>>(),
        )),
    }
}

fn granted(memory: u64) -> Result<(), Fault> {
    if memory > GRANTED {
        let (needed, most) = (memory >> 20, GRANTED >> 20);
        return Err(Fault::too_large(format!("reading it takes about {needed} MiB and may take {most}")));
    }
    Ok(())
}

/// Where the rows and the columns of a sheet really lie, empty where none was moved, and what its dates show.
pub(crate) struct Places {
    rows: Vec<u16>,
    columns: Vec<u16>,
    /// By row and column, in their order.
    clocks: Vec<(u16, u16, Clock)>,
}

impl Places {
    pub(super) fn row(&self, moved: u32) -> u32 {
        self.rows.get(moved as usize).map_or(moved, |row| u32::from(*row))
    }

    pub(super) fn column(&self, moved: u32) -> u32 {
        self.columns.get(moved as usize).map_or(moved, |column| u32::from(*column))
    }

    /// What the number that really lies there shows, `None` for a plain one.
    pub(super) fn clock(&self, row: u32, column: u32) -> Option<Clock> {
        let place = |clock: &(u16, u16, Clock)| (u32::from(clock.0), u32::from(clock.1));
        let found = self.clocks.binary_search_by_key(&(row, column), place).ok()?;
        Some(self.clocks[found].2)
    }
}

/// Whether each sheet shares none of its records with another: only then may they be changed.
fn lie_alone(sheets: &[Sheet]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..sheets.len()).collect();
    order.sort_by_key(|&at| sheets[at].start);
    let mut alone = vec![true; sheets.len()];
    let mut furthest: Option<usize> = None;
    for &at in &order {
        if let Some(before) = furthest
            && sheets[at].start < sheets[before].end
        {
            alone[at] = false;
            alone[before] = false;
        }
        if furthest.is_none_or(|before| sheets[at].end > sheets[before].end) {
            furthest = Some(at);
        }
    }
    alone
}

/// What a sheet's records come to.
#[derive(Default)]
struct Sheet {
    start: usize,
    end: usize,
    cells: u64,
    rows: Used,
    columns: Used,
    /// What its dates show, as they come.
    clocks: Vec<(u16, u16, Clock)>,
}

impl Sheet {
    fn read(stream: &mut [u8], start: usize, styles: &Styles) -> Result<Sheet, Fault> {
        let mut sheet = Sheet { start, end: start, ..Sheet::default() };
        sheet.end = own_records(stream, start, |record| sheet.add(record, styles))?;
        Ok(sheet)
    }

    /// Counts the record's cells, and makes the record safe. `bytes` is the record with its head.
    fn add(&mut self, bytes: &mut [u8], styles: &Styles) {
        let kind = kind_of(bytes);
        let data = &mut bytes[4..];
        match kind {
            record::DIMENSIONS => data.fill(0),
            record::FORMULA | record::FORMULA_OF_3 | record::FORMULA_OF_4 if data.len() >= 20 => {
                self.cell(data);
                let kind = value_only(data);
                if kind == record::NUMBER {
                    self.number(word(data, 0), word(data, 2), word(data, 4), styles);
                }
                bytes[..2].copy_from_slice(&kind.to_le_bytes());
            }
            record::MULRK if data.len() >= 6 => {
                self.cell(data);
                // As many columns as it holds values, and what it says is the last of them.
                let first = word(data, 2);
                for (further, value) in data[4..].chunks_exact(6).take((data.len() - 6) / 6).enumerate() {
                    let column = first.saturating_add(further as u16);
                    self.columns.add(column);
                    self.number(word(data, 0), column, word(value, 0), styles);
                }
                self.columns.add(word(data, data.len() - 2));
                self.cells += (data.len() as u64 - 6) / 6;
            }
            _ if is_cell(kind) && data.len() >= 4 => {
                self.cell(data);
                if matches!(kind, record::NUMBER | record::RK) && data.len() >= 6 {
                    self.number(word(data, 0), word(data, 2), word(data, 4), styles);
                }
            }
            record::STRING => self.cells += 1,
            _ => {}
        }
    }

    fn cell(&mut self, data: &[u8]) {
        self.rows.add(word(data, 0));
        self.columns.add(word(data, 2));
        self.cells += 1;
    }

    fn number(&mut self, row: u16, column: u16, style: u16, styles: &Styles) {
        if let Some(clock) = styles.clock(usize::from(style)) {
            self.clocks.push((row, column, clock));
        }
    }

    /// What its dates show, in the order of their places; of two in one place the later stays, as with their values.
    fn clocks(&mut self) -> Vec<(u16, u16, Clock)> {
        let mut clocks = std::mem::take(&mut self.clocks);
        clocks.reverse();
        clocks.sort_by_key(|clock| (clock.0, clock.1));
        clocks.dedup_by_key(|clock| (clock.0, clock.1));
        clocks
    }

    /// What it takes in memory itself, roughly.
    fn size(&self) -> u64 {
        let clocks = self.clocks.capacity() * size_of::<(u16, u16, Clock)>();
        (8 * (self.rows.bits.len() + self.columns.bits.len()) + clocks) as u64
    }

    /// How many places lie between the sheet's first cell and its last.
    fn grid(&self) -> u64 {
        self.rows.length() * self.columns.length()
    }

    /// How many they would be if rows and columns without any cell were not there.
    fn moved_grid(&self) -> u64 {
        self.rows.count() * self.columns.count()
    }

    fn has_gaps(&self) -> bool {
        self.grid() > SMALL_GRID && self.grid() / 2 > self.moved_grid()
    }

    /// Gives each row and each column that holds a cell the number that it would have if there were no others; the rows
    /// and the columns that there are.
    fn move_together(&self, stream: &mut [u8]) -> Result<(Vec<u16>, Vec<u16>), Fault> {
        let (rows, columns) = (self.rows.ranks(), self.columns.ranks());
        own_records(stream, self.start, |bytes| {
            let kind = kind_of(bytes);
            let data = &mut bytes[4..];
            let len = data.len();
            let mut put = |at: usize, ranks: &[u16]| {
                let moved = ranks[usize::from(word(data, at))];
                data[at..at + 2].copy_from_slice(&moved.to_le_bytes());
            };
            if kind == record::MULRK && len >= 6 {
                put(len - 2, &columns);
            }
            if (kind == record::MULRK && len >= 6) || (is_cell(kind) && len >= 4) {
                put(0, &rows);
                put(2, &columns);
            }
        })?;
        Ok((self.rows.all(), self.columns.all()))
    }
}

/// Rows or columns that hold something.
#[derive(Default)]
struct Used {
    bits: Vec<u64>,
}

impl Used {
    fn add(&mut self, place: u16) {
        let at = usize::from(place >> 6);
        if self.bits.len() <= at {
            self.bits.resize(at + 1, 0);
        }
        self.bits[at] |= 1 << (place & 63);
    }

    fn holds(&self, place: u16) -> bool {
        self.bits.get(usize::from(place >> 6)).is_some_and(|bits| bits & 1 << (place & 63) != 0)
    }

    /// All of them, in order.
    fn all(&self) -> Vec<u16> {
        (0..=u16::MAX).filter(|place| self.holds(*place)).collect()
    }

    fn count(&self) -> u64 {
        self.bits.iter().map(|bits| u64::from(bits.count_ones())).sum()
    }

    /// How far it is from the first to the last.
    fn length(&self) -> u64 {
        let least = self.bits.iter().position(|bits| *bits != 0);
        let most = self.bits.iter().rposition(|bits| *bits != 0);
        let (Some(least), Some(most)) = (least, most) else { return 0 };
        let first = least as u64 * 64 + u64::from(self.bits[least].trailing_zeros());
        let last = most as u64 * 64 + 63 - u64::from(self.bits[most].leading_zeros());
        last - first + 1
    }

    /// For each place how many used ones lie before it.
    fn ranks(&self) -> Vec<u16> {
        let mut ranks = vec![0; 1 << 16];
        for (rank, place) in (0u16..).zip(self.all()) {
            ranks[usize::from(place)] = rank;
        }
        ranks
    }
}

fn kind_of(record: &[u8]) -> u16 {
    word(record, 0)
}

fn word(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

/// Whether a record is one cell, which begins with its row and its column.
fn is_cell(kind: u16) -> bool {
    use record::{BOOLERR, FORMULA, LABEL, LABELSST, NUMBER, RK, RSTRING};
    matches!(kind, FORMULA | NUMBER | LABEL | RSTRING | BOOLERR | RK | LABELSST)
}

/// Goes through the records of a sheet, those of charts that lie in it left out, and says where the last one ends.
/// Each record is shown with its head.
fn own_records(stream: &mut [u8], start: usize, mut show: impl FnMut(&mut [u8])) -> Result<usize, Fault> {
    let mut at = start;
    let mut depth = 0u32;
    while let Some(found) = Record::at(stream, at)? {
        at = found.end;
        match found.kind {
            record::BOF => depth += 1,
            record::EOF if depth <= 1 => break,
            record::EOF => depth -= 1,
            _ if depth <= 1 => show(&mut stream[found.start..found.end]),
            _ => {}
        }
    }
    Ok(at)
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
}
