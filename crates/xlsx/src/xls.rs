//! `.xls`, through calamine.
//!
//! Owns the wall around it. calamine trusts what a file claims and may panic or reserve whatever it is told, so it never
//! sees the file itself: the stream goes through [`biff`] first, and what still panics inside is caught here and told as
//! damage. What numbers mean is decided here as well, by the formats that [`biff`] keeps back.

mod biff;

use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};

use calamine::{Data, Range, Reader, Rows, SheetType, SheetVisible};

use biff::Places;

use crate::compound::{Compound, wrap};
use crate::error::Fault;
use crate::reference::split_sheet;
use crate::row::{Content, Row};
use crate::serial::Epoch;
use crate::store::Store;
use crate::workbook::{DefinedName, Listed, MAX_SHEETS, Sheet, SheetKind};

/// An open workbook, held whole.
pub(crate) struct Xls {
    book: Box<calamine::Xls<Cursor<Vec<u8>>>>,
    titles: Vec<String>,
    /// The sheet that was asked for last.
    held: Option<(usize, Range<Data>)>,
    /// Where the cells of each sheet lie, and which of them are dates.
    places: Vec<Places>,
    epoch: Epoch,
}

impl Xls {
    /// Opens a compound file, which is an `.xls` if it holds one's stream.
    pub(crate) fn open(store: Store) -> Result<(Xls, Listed), Fault> {
        let compound = Compound::open(store)?;
        if compound.has("EncryptedPackage") || compound.has("EncryptionInfo") {
            return Err(Fault::Encrypted);
        }
        let found = [compound.stream("Workbook")?, compound.stream("Book")?];
        let Some(mut stream) = found.into_iter().flatten().next() else {
            let looks_like = match compound.has("WordDocument") {
                true => "a Word document",
                false => "some other compound file",
            };
            return Err(Fault::NotAWorkbook { looks_like });
        };
        drop(compound);
        let (places, epoch) = biff::make_safe(&mut stream)?;
        let book: calamine::Xls<_> = guarded(|| calamine::Xls::new(Cursor::new(wrap("Workbook", stream))))?;
        let (sheets, names) = outline(&book);
        if sheets.len() > MAX_SHEETS {
            return Err(Fault::too_large(format!("it lists more than {MAX_SHEETS} sheets")));
        }
        let titles = sheets.iter().map(|sheet| sheet.title.clone()).collect();
        let book = Xls { book: Box::new(book), titles, held: None, places, epoch };
        Ok((book, Listed { sheets, names, absent: Vec::new() }))
    }

    /// The rows of a sheet.
    pub(crate) fn rows(&mut self, sheet: usize) -> Result<XlsRows<'_>, Fault> {
        let gone = || Fault::damaged("a sheet went away");
        let title = self.titles.get(sheet).ok_or_else(gone)?;
        if self.held.as_ref().is_none_or(|(held, _)| *held != sheet) {
            // The one before goes first, so that two are never held.
            self.held = None;
            self.held = Some((sheet, guarded(|| self.book.worksheet_range(title))?));
        }
        let (_, range) = self.held.as_ref().ok_or_else(gone)?;
        let (row, column) = range.start().unwrap_or_default();
        // Of sheets with one title calamine gives the last.
        let given = self.titles.iter().rposition(|other| other == title);
        let places = given.and_then(|given| self.places.get(given)).ok_or_else(gone)?;
        Ok(XlsRows { rows: range.rows(), row, column, places, epoch: self.epoch })
    }
}

fn outline(book: &calamine::Xls<Cursor<Vec<u8>>>) -> (Vec<Sheet>, Vec<DefinedName>) {
    let sheets = book
        .sheets_metadata()
        .iter()
        .map(|sheet| Sheet {
            title: sheet.name.clone(),
            kind: match sheet.typ {
                SheetType::WorkSheet => SheetKind::Worksheet,
                SheetType::DialogSheet => SheetKind::DialogSheet,
                SheetType::MacroSheet => SheetKind::MacroSheet,
                SheetType::ChartSheet => SheetKind::ChartSheet,
                SheetType::Vba => SheetKind::Module,
            },
            visible: sheet.visible == SheetVisible::Visible,
        })
        .collect();
    let names = book
        .defined_names()
        .iter()
        .filter(|(_, refers_to)| split_sheet(refers_to).is_some())
        .map(|(name, refers_to)| DefinedName { name: name.clone(), sheet: None, refers_to: refers_to.clone() })
        .collect();
    (sheets, names)
}

/// Calls into calamine. What it says is damage.
fn guarded<T, E: std::fmt::Display>(call: impl FnOnce() -> Result<T, E>) -> Result<T, Fault> {
    let told = match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(value)) => return Ok(value),
        Ok(Err(error)) => error.to_string(),
        Err(_) => "its structure is not what the format demands".to_owned(),
    };
    if told.contains("password") {
        return Err(Fault::Encrypted);
    }
    let unread = told.contains("Codepage");
    Err(Fault::damaged(if unread { "its texts are in a code page that is not read here".to_owned() } else { told }))
}

/// The rows of one sheet.
pub(crate) struct XlsRows<'a> {
    rows: Rows<'a, Data>,
    /// Where the next row begins.
    row: u32,
    column: u32,
    places: &'a Places,
    epoch: Epoch,
}

impl XlsRows<'_> {
    /// Reads the next row that has cells; `false` at the end.
    pub(crate) fn next(&mut self, row: &mut Row) -> Result<bool, Fault> {
        while let Some(cells) = self.rows.next() {
            row.restart(self.places.row(self.row));
            self.row += 1;
            for (column, data) in (self.column..).zip(cells) {
                let column = self.places.column(column);
                if let Some(content) = self.content(row, column, data) {
                    row.add_cell(column, content)?;
                }
            }
            if !row.cells.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn content(&self, row: &mut Row, column: u32, data: &Data) -> Option<Content> {
        Some(match data {
            Data::Empty => return None,
            Data::String(text) => Content::Text(row.add(text)),
            Data::Float(number) => self.number(row, column, *number),
            Data::Int(number) => self.number(row, column, *number as f64),
            // No style that it sees shows any.
            Data::DateTime(moment) => row.float(moment.as_f64()),
            Data::Bool(value) => Content::Bool(*value),
            Data::Error(error) => Content::Error(row.add(&error.to_string())),
            Data::DateTimeIso(text) | Data::DurationIso(text) => row.iso(text),
        })
    }

    fn number(&self, row: &mut Row, column: u32, number: f64) -> Content {
        match self.places.clock(row.number, column) {
            Some(clock) => row.serial(number, clock, self.epoch),
            None => row.float(number),
        }
    }
}
