//! `.xlsb`: the workbook's parts, and one sheet at a time as a stream of records.
//!
//! Owns what the records mean that a reader of cells looks at; all others are passed over, whatever they claim. Start at
//! [`Xlsb::open`].

mod outline;
mod record;

use crate::error::Fault;
use crate::number_format::Styles;
use crate::package::{Package, Part};
use crate::reference::{MAX_COLUMNS, MAX_ROWS, cell_name};
use crate::relations::Relations;
use crate::row::{Content, Row};
use crate::serial::Epoch;
use crate::workbook::Listed;

use record::{Records, push_wide, wide, word};

/// How large the part of the styles may be.
const MAX_STYLES: u64 = 16 << 20;
/// How large the table of strings may be, which is held whole.
const MAX_STRINGS: u64 = 48 << 20;
/// How large a sheet may be.
const MAX_SHEET: u64 = 1 << 30;

/// An open workbook.
pub(crate) struct Xlsb {
    package: Package,
    /// The part of each sheet.
    parts: Vec<String>,
    epoch: Epoch,
    styles_part: Option<String>,
    strings_part: Option<String>,
    /// Read when the first sheet is.
    tables: Option<Tables>,
}

/// What cells refer to by number.
struct Tables {
    styles: Styles,
    strings: Strings,
}

impl Xlsb {
    /// The workbook whose main part is `main`.
    pub(crate) fn open(package: Package, main: &str) -> Result<(Xlsb, Listed), Fault> {
        let relations = Relations::of(&package, main)?;
        let outline = outline::read(&package, main, &relations)?;
        let epoch = outline.epoch;
        let (listed, parts) = outline.finished(main)?;
        let book = Xlsb {
            parts,
            epoch,
            styles_part: relations.beside(&package, main, "styles", "styles.bin"),
            strings_part: relations.beside(&package, main, "sharedStrings", "sharedStrings.bin"),
            tables: None,
            package,
        };
        Ok((book, listed))
    }

    /// The rows of a sheet.
    pub(crate) fn rows(&mut self, sheet: usize) -> Result<XlsbRows<'_>, Fault> {
        if self.tables.is_none() {
            let styles = self.part(self.styles_part.as_deref(), MAX_STYLES)?.map(read_styles).transpose()?;
            let strings = self.part(self.strings_part.as_deref(), MAX_STRINGS)?.map(Strings::read).transpose()?;
            self.tables = Some(Tables { styles: styles.unwrap_or_default(), strings: strings.unwrap_or_default() });
        }
        let gone = || Fault::damaged("the sheet's part went away");
        let part = self.part(self.parts.get(sheet).map(String::as_str), MAX_SHEET)?.ok_or_else(gone)?;
        let tables = self.tables.as_ref().ok_or_else(gone)?;
        XlsbRows::new(part, tables, self.epoch)
    }

    fn part(&self, name: Option<&str>, most: u64) -> Result<Option<Part>, Fault> {
        let Some(name) = name else { return Ok(None) };
        match self.package.part(name)? {
            Some(part) if part.size() > most => {
                Err(Fault::too_large(format!("part `{name}` is {} bytes and may be {most}", part.size())))
            }
            part => Ok(part),
        }
    }
}

fn read_styles(part: Part) -> Result<Styles, Fault> {
    const FORMAT: u16 = 0x2C;
    const STYLE: u16 = 0x2F;
    const CELL_STYLES: u16 = 0x269;
    const CELL_STYLES_END: u16 = 0x26A;
    let mut styles = Styles::default();
    let mut records = Records::new(part);
    let mut of_cells = false;
    while let Some(record) = records.next()? {
        let half = |at: usize| Some(u32::from(u16::from_le_bytes(*record.body.get(at..)?.first_chunk()?)));
        match record.kind {
            FORMAT => {
                if let (Some(id), Some((code, _))) = (half(0), record.body.get(2..).and_then(wide)) {
                    styles.define(id, &code);
                }
            }
            // Styles of cells have the same records as named styles have before them.
            CELL_STYLES => of_cells = true,
            CELL_STYLES_END => break,
            STYLE if of_cells => styles.add(half(2).unwrap_or(0))?,
            _ => {}
        }
    }
    Ok(styles)
}

/// The texts that cells share.
#[derive(Default)]
struct Strings {
    text: String,
    /// Where each of them ends.
    ends: Vec<usize>,
}

impl Strings {
    fn read(part: Part) -> Result<Strings, Fault> {
        const STRING: u16 = 0x13;
        let mut strings = Strings::default();
        let mut records = Records::new(part);
        while let Some(record) = records.next()? {
            if record.kind != STRING {
                continue;
            }
            // What makes it a rich text comes before it in a byte and behind it.
            if record.body.get(1..).and_then(|body| push_wide(&mut strings.text, body)).is_none() {
                return Err(records.damaged("a text is cut off"));
            }
            strings.ends.push(strings.text.len());
        }
        Ok(strings)
    }

    fn text(&self, index: usize) -> Option<&str> {
        let to = *self.ends.get(index)?;
        let from = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(&self.text[from..to])
    }
}

/// The kinds of records that a sheet's rows consist of.
mod kind {
    pub(super) const ROW: u16 = 0x00;
    pub(super) const BLANK: u16 = 0x01;
    pub(super) const RK: u16 = 0x02;
    pub(super) const ERROR: u16 = 0x03;
    pub(super) const BOOL: u16 = 0x04;
    pub(super) const REAL: u16 = 0x05;
    pub(super) const TEXT: u16 = 0x06;
    pub(super) const SHARED: u16 = 0x07;
    /// The results of formulas, which follow them.
    pub(super) const FORMULA_TEXT: u16 = 0x08;
    pub(super) const FORMULA_NUMBER: u16 = 0x09;
    pub(super) const FORMULA_BOOL: u16 = 0x0A;
    pub(super) const FORMULA_ERROR: u16 = 0x0B;
    /// The same as 1 to 7 for a cell that stands beside the one before it.
    pub(super) const SHORT_BLANK: u16 = 0x0C;
    pub(super) const SHORT_SHARED: u16 = 0x12;
    pub(super) const RICH_TEXT: u16 = 0x3E;
    pub(super) const ROWS: u16 = 0x91;
    pub(super) const ROWS_END: u16 = 0x92;
}

/// The rows of a sheet.
pub(crate) struct XlsbRows<'a> {
    records: Records,
    cells: Cells<'a>,
    /// The number of the row given last.
    last: Option<u32>,
    done: bool,
}

impl<'a> XlsbRows<'a> {
    fn new(part: Part, tables: &'a Tables, epoch: Epoch) -> Result<XlsbRows<'a>, Fault> {
        let mut records = Records::new(part);
        // What comes before the rows may be there or not, how many cells there are among it.
        let done = loop {
            match records.next()? {
                Some(record) if record.kind == kind::ROWS => break false,
                Some(_) => {}
                None => break true,
            }
        };
        Ok(XlsbRows { records, cells: Cells { tables, epoch, row: 0, column: 0 }, last: None, done })
    }

    /// Reads the next row that has cells; `false` at the end.
    pub(crate) fn next(&mut self, row: &mut Row) -> Result<bool, Fault> {
        row.restart(self.cells.row);
        while !self.done {
            let Some(record) = self.records.next()? else {
                return Err(self.records.damaged("it ends inside its rows"));
            };
            match record.kind {
                kind::ROWS_END => self.done = true,
                kind::ROW => {
                    self.cells.row = word(record.body, 0).ok_or_else(cut_off)?;
                    self.cells.column = 0;
                    if !row.cells.is_empty() {
                        break;
                    }
                    row.number = self.cells.row;
                }
                kind @ (kind::SHORT_BLANK..=kind::SHORT_SHARED) => {
                    self.cells.push(row, kind - kind::SHORT_BLANK + kind::BLANK, None, record.body)?;
                }
                kind @ (kind::RK..=kind::FORMULA_ERROR | kind::BLANK | kind::RICH_TEXT) => {
                    let column = word(record.body, 0).ok_or_else(cut_off)?;
                    self.cells.push(row, kind, Some(column), &record.body[4..])?;
                }
                _ => {}
            }
        }
        if row.cells.is_empty() {
            return Ok(false);
        }
        if self.last.is_some_and(|last| row.number <= last) {
            return Err(Fault::damaged("its rows are out of order"));
        }
        self.last = Some(row.number);
        row.settle();
        Ok(true)
    }
}

fn cut_off() -> Fault {
    Fault::damaged("a cell or a row is shorter than its kind demands")
}

/// What cells mean, and where the next one without a place of its own stands.
struct Cells<'a> {
    tables: &'a Tables,
    epoch: Epoch,
    row: u32,
    column: u32,
}

impl Cells<'_> {
    /// Adds a cell, unless it is there for its format alone. `rest` begins with its style.
    fn push(&mut self, row: &mut Row, kind: u16, column: Option<u32>, rest: &[u8]) -> Result<(), Fault> {
        let column = column.unwrap_or(self.column);
        if self.row >= MAX_ROWS || column >= MAX_COLUMNS {
            return Err(Fault::damaged("a cell lies beyond row 1048576 or column XFD"));
        }
        self.column = column + 1;
        if kind == kind::BLANK {
            return Ok(());
        }
        let style = word(rest, 0).ok_or_else(cut_off)? & 0x00FF_FFFF;
        let content = self.content(row, kind, column, style as usize, &rest[4..])?;
        row.add_cell(column, content)
    }

    fn content(&self, row: &mut Row, kind: u16, column: u32, style: usize, value: &[u8]) -> Result<Content, Fault> {
        let cell = || cell_name(self.row, column);
        let content = match kind {
            kind::RK => word(value, 0).map(|value| self.number(row, rk(value), style)),
            kind::REAL | kind::FORMULA_NUMBER => {
                value.first_chunk().map(|value| self.number(row, f64::from_le_bytes(*value), style))
            }
            kind::BOOL | kind::FORMULA_BOOL => value.first().map(|value| Content::Bool(*value != 0)),
            kind::ERROR | kind::FORMULA_ERROR => match value.first().map(|number| (number, error(*number))) {
                Some((_, Some(error))) => Some(Content::Error(row.add(error))),
                Some((number, None)) => {
                    return Err(Fault::damaged(format!("cell {} has an error {number}, which nobody knows", cell())));
                }
                None => None,
            },
            kind::SHARED => match word(value, 0).map(|index| (index, self.tables.strings.text(index as usize))) {
                Some((_, Some(text))) => Some(Content::Text(row.add(text))),
                Some((index, None)) => {
                    let known = self.tables.strings.ends.len();
                    return Err(Fault::damaged(format!("cell {} names shared string {index} of {known}", cell())));
                }
                None => None,
            },
            kind::TEXT | kind::FORMULA_TEXT => text(row, value),
            // What makes it a rich text comes before it in a byte and behind it.
            kind::RICH_TEXT => value.get(1..).and_then(|value| text(row, value)),
            _ => Some(Content::Empty),
        };
        content.ok_or_else(cut_off)
    }

    fn number(&self, row: &mut Row, number: f64, style: usize) -> Content {
        match self.tables.styles.clock(style) {
            Some(clock) => row.serial(number, clock, self.epoch),
            None => row.float(number),
        }
    }
}

fn text(row: &mut Row, value: &[u8]) -> Option<Content> {
    let (from, out) = row.text_mut();
    push_wide(out, value)?;
    Some(Content::Text(row.span_from(from)))
}

/// A number in four bytes: whole or the upper half of a double, and perhaps a hundred times what it is.
fn rk(value: u32) -> f64 {
    let number = match value & 2 {
        0 => f64::from_bits(u64::from(value & !3) << 32),
        _ => f64::from(value as i32 >> 2),
    };
    if value & 1 == 0 { number } else { number / 100.0 }
}

fn error(number: u8) -> Option<&'static str> {
    Some(match number {
        0x00 => "#NULL!",
        0x07 => "#DIV/0!",
        0x0F => "#VALUE!",
        0x17 => "#REF!",
        0x1D => "#NAME?",
        0x24 => "#NUM!",
        0x2A => "#N/A",
        0x2B => "#GETTING_DATA",
        _ => return None,
    })
}
