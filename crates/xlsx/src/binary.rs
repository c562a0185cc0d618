//! `.xls` and `.xlsb`, through calamine.
//!
//! Owns the wall around it. calamine trusts what a file claims and may panic or reserve whatever it is told, so it never
//! sees the file itself: an `.xls` stream goes through [`biff`] first, an `.xlsb` package through [`archive`], and what
//! still panics inside is caught here and told as damage.

mod archive;
mod biff;

use std::collections::HashSet;
use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};

use calamine::{
    Cell, Data, DataRef, ExcelDateTime, ExcelDateTimeType, Range, Reader, SheetType, SheetVisible, Xls, Xlsb,
};

use archive::{Archive, Complaint};
use biff::Places;

use crate::compound::{Compound, wrap};
use crate::error::Fault;
use crate::package::Package;
use crate::reference::{Area, MAX_COLUMNS, MAX_ROWS, split_sheet};
use crate::row::{Content, Row};
use crate::serial::{Clock, Epoch};
use crate::store::Store;
use crate::workbook::{DefinedName, Listed, MAX_SHEETS, Sheet, SheetKind};

/// An open workbook.
pub(crate) struct Binary {
    book: Book,
    titles: Vec<String>,
    complaint: Complaint,
}

enum Book {
    /// Held whole.
    Xls {
        book: Box<Xls<Cursor<Vec<u8>>>>,
        /// The sheet that was asked for last.
        held: Option<(usize, Range<Data>)>,
        /// Where the cells of each sheet lie.
        places: Vec<Places>,
    },
    Xlsb(Box<Xlsb<Archive>>),
}

type Opened = (Binary, Listed);

impl Binary {
    /// Opens a compound file, which is an `.xls` if it holds one's stream.
    pub(crate) fn open_compound(store: Store) -> Result<Opened, Fault> {
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
        let places = biff::make_safe(&mut stream)?;
        let complaint = Complaint::default();
        let book: Xls<_> = guarded(&complaint, || Xls::new(Cursor::new(wrap("Workbook", stream))))?;
        let (sheets, names) = outline(&book);
        Binary::new(Book::Xls { book: Box::new(book), held: None, places }, sheets, names, complaint)
    }

    /// Opens an `.xlsb`.
    pub(crate) fn open_package(package: Package, main: &str) -> Result<Opened, Fault> {
        let complaint = Complaint::default();
        let archive = Archive::new(package, main, complaint.clone())?;
        let macros: HashSet<String> = archive.macro_sheets().iter().cloned().collect();
        let book: Xlsb<_> = guarded(&complaint, || Xlsb::new(archive))?;
        let (mut sheets, names) = outline(&book);
        for sheet in sheets.iter_mut().filter(|sheet| macros.contains(&sheet.title)) {
            sheet.kind = SheetKind::MacroSheet;
        }
        Binary::new(Book::Xlsb(Box::new(book)), sheets, names, complaint)
    }

    fn new(book: Book, sheets: Vec<Sheet>, names: Vec<DefinedName>, complaint: Complaint) -> Result<Opened, Fault> {
        if sheets.len() > MAX_SHEETS {
            return Err(Fault::too_large(format!("it lists more than {MAX_SHEETS} sheets")));
        }
        let titles = sheets.iter().map(|sheet| sheet.title.clone()).collect();
        Ok((Binary { book, titles, complaint }, Listed { sheets, names, absent: Vec::new() }))
    }

    /// The rows of a sheet.
    pub(crate) fn rows(&mut self, sheet: usize) -> Result<BinaryRows<'_>, Fault> {
        let title = self.titles.get(sheet).map(String::as_str).unwrap_or_default();
        let complaint = &self.complaint;
        match &mut self.book {
            Book::Xls { book, held, places } => {
                if held.as_ref().is_none_or(|(held, _)| *held != sheet) {
                    // The one before goes first, so that two are never held.
                    *held = None;
                    *held = Some((sheet, guarded(complaint, || book.worksheet_range(title))?));
                }
                match held {
                    Some((_, range)) => {
                        let (row, column) = range.start().unwrap_or_default();
                        // Of sheets with one title calamine gives the last.
                        let given = self.titles.iter().rposition(|other| other == title);
                        let places = given.and_then(|given| places.get(given));
                        let places = places.ok_or_else(|| Fault::damaged("a sheet went away"))?;
                        Ok(BinaryRows::Xls { rows: Box::new(range.rows()), row, column, places })
                    }
                    None => Err(Fault::damaged("a sheet went away")),
                }
            }
            Book::Xlsb(book) => {
                let mut cells = guarded(complaint, || book.worksheet_cells_reader(title))?;
                let mut ended = false;
                // Behind its end the reader would read on.
                let next = move || {
                    if ended {
                        return Ok(None);
                    }
                    let cell = guarded(complaint, || cells.next_cell().map(|cell| cell.map(owned)));
                    ended = !matches!(cell, Ok(Some(_)));
                    cell
                };
                Ok(BinaryRows::Xlsb { next: Box::new(next), ahead: None, last: None })
            }
        }
    }

    /// The smallest area that holds every cell of a sheet that holds something.
    pub(crate) fn extent(&mut self, sheet: usize) -> Result<Option<Area>, Fault> {
        let mut rows = self.rows(sheet)?;
        let mut row = Row::default();
        let mut whole: Option<Area> = None;
        while rows.next(&mut row)? {
            if let (Some(first), Some(last)) = (row.cells.first(), row.cells.last()) {
                let area = Area::cell(row.number, first.column).with(Area::cell(row.number, last.column));
                whole = Some(whole.map_or(area, |whole| whole.with(area)));
            }
        }
        Ok(whole)
    }
}

fn outline<RS: std::io::Read + std::io::Seek, B: Reader<RS>>(book: &B) -> (Vec<Sheet>, Vec<DefinedName>) {
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

/// Calls into calamine. What it says is damage, unless a layer below said what is wrong.
fn guarded<T, E: std::fmt::Display>(complaint: &Complaint, call: impl FnOnce() -> Result<T, E>) -> Result<T, Fault> {
    let told = match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(value)) => return Ok(value),
        Ok(Err(error)) => error.to_string(),
        Err(_) => "its structure is not what the format demands".to_owned(),
    };
    match complaint.borrow_mut().take() {
        Some(fault) => Err(fault),
        None if told.contains("password") => Err(Fault::Encrypted),
        None => Err(Fault::damaged(told)),
    }
}

/// A cell that needs nothing of the workbook any more.
type Owned = (u32, u32, Data);

fn owned(cell: Cell<DataRef<'_>>) -> Owned {
    let (row, column) = cell.get_position();
    (row, column, cell.get_value().clone().into())
}

/// The rows of one sheet.
pub(crate) enum BinaryRows<'a> {
    Xls {
        rows: Box<dyn Iterator<Item = &'a [Data]> + 'a>,
        /// Where the next row begins.
        row: u32,
        column: u32,
        places: &'a Places,
    },
    Xlsb {
        next: Box<dyn FnMut() -> Result<Option<Owned>, Fault> + 'a>,
        /// The cell that showed that the row before it had ended.
        ahead: Option<Owned>,
        last: Option<u32>,
    },
}

impl BinaryRows<'_> {
    /// Reads the next row that has cells; `false` at the end.
    pub(crate) fn next(&mut self, row: &mut Row) -> Result<bool, Fault> {
        match self {
            BinaryRows::Xls { rows, row: number, column, places } => next_of_range(rows, number, *column, places, row),
            BinaryRows::Xlsb { next, ahead, last } => next_of_cells(next, ahead, last, row),
        }
    }
}

fn next_of_range(
    rows: &mut dyn Iterator<Item = &[Data]>,
    number: &mut u32,
    first_column: u32,
    places: &Places,
    row: &mut Row,
) -> Result<bool, Fault> {
    for cells in rows {
        row.restart(places.row(*number));
        *number += 1;
        for (column, data) in (first_column..).zip(cells) {
            push(row, places.column(column), data)?;
        }
        if !row.cells.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn next_of_cells(
    next: &mut dyn FnMut() -> Result<Option<Owned>, Fault>,
    ahead: &mut Option<Owned>,
    last: &mut Option<u32>,
    row: &mut Row,
) -> Result<bool, Fault> {
    row.restart(0);
    loop {
        let cell = match ahead.take() {
            Some(cell) => Some(cell),
            None => next()?,
        };
        let Some((number, column, data)) = cell else { break };
        if number >= MAX_ROWS || column >= MAX_COLUMNS {
            return Err(Fault::damaged("a cell lies beyond row 1048576 or column XFD"));
        }
        if row.cells.is_empty() {
            row.number = number;
        } else if number != row.number {
            *ahead = Some((number, column, data));
            break;
        }
        push(row, column, &data)?;
    }
    if row.cells.is_empty() {
        return Ok(false);
    }
    if last.is_some_and(|last| row.number <= last) {
        return Err(Fault::damaged("its rows are out of order"));
    }
    *last = Some(row.number);
    row.settle();
    Ok(true)
}

fn push(row: &mut Row, column: u32, data: &Data) -> Result<(), Fault> {
    let content = match data {
        Data::Empty => return Ok(()),
        Data::String(text) => Content::Text(row.add(text)),
        Data::Float(number) => row.float(*number),
        Data::Int(number) => row.digits(&number.to_string()),
        Data::Bool(value) => Content::Bool(*value),
        Data::Error(error) => Content::Error(row.add(&error.to_string())),
        Data::DateTimeIso(text) | Data::DurationIso(text) => row.iso(text),
        Data::DateTime(moment) => {
            let number = moment.as_f64();
            // Formats are not handed on, so a whole number of days is taken for a date.
            let clock = match (moment.is_duration(), number == number.trunc()) {
                (true, _) => Clock::Duration,
                (false, true) => Clock::Date,
                (false, false) => Clock::DateTime,
            };
            row.serial(number, clock, epoch(moment))
        }
    };
    row.add_cell(column, content)
}

/// The date system of a moment, which calamine keeps to itself but compares.
fn epoch(moment: &ExcelDateTime) -> Epoch {
    let kind = if moment.is_duration() { ExcelDateTimeType::TimeDelta } else { ExcelDateTimeType::DateTime };
    match *moment == ExcelDateTime::new(moment.as_f64(), kind, true) {
        true => Epoch::From1904,
        false => Epoch::From1900,
    }
}
