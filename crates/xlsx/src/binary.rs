//! Workbooks through calamine.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use calamine::{Data, ExcelDateTime, ExcelDateTimeType, Range, Reader, SheetType, SheetVisible, Sheets};

use crate::error::Fault;
use crate::reference::{Area, split_sheet};
use crate::row::{Content, Row};
use crate::serial::{Clock, Epoch};
use crate::workbook::{DefinedName, Sheet, SheetKind};

/// A workbook that calamine opened.
pub(crate) struct Binary {
    book: Sheets<BufReader<File>>,
    titles: Vec<String>,
    /// The sheet read last, since both its extent and its rows may be asked for.
    range: Option<(usize, Range<Data>)>,
}

impl Binary {
    pub(crate) fn open(path: &Path) -> Result<(Binary, Vec<Sheet>, Vec<DefinedName>), Fault> {
        let book = calamine::open_workbook_auto(path).map_err(fault)?;
        let sheets: Vec<Sheet> = book
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
            .map(|(name, refers_to)| DefinedName { name: name.clone(), sheet: None, refers_to: refers_to.clone() })
            .filter(|name| split_sheet(&name.refers_to).is_some())
            .collect();
        let titles = sheets.iter().map(|sheet| sheet.title.clone()).collect();
        Ok((Binary { book, titles, range: None }, sheets, names))
    }

    pub(crate) fn rows(&mut self, sheet: usize) -> Result<BinaryRows<'_>, Fault> {
        let range = self.range(sheet)?;
        Ok(BinaryRows { range, next: 0 })
    }

    pub(crate) fn extent(&mut self, sheet: usize) -> Result<Option<Area>, Fault> {
        let range = self.range(sheet)?;
        Ok(range.start().zip(range.end()).map(|(start, end)| Area {
            first_row: start.0,
            first_column: start.1,
            last_row: end.0,
            last_column: end.1,
        }))
    }

    fn range(&mut self, sheet: usize) -> Result<&Range<Data>, Fault> {
        if self.range.as_ref().is_none_or(|(loaded, _)| *loaded != sheet) {
            let title = self.titles.get(sheet).map(String::as_str).unwrap_or_default();
            let range = self.book.worksheet_range(title).map_err(fault)?;
            self.range = Some((sheet, range));
        }
        match &self.range {
            Some((_, range)) => Ok(range),
            None => Err(Fault::damaged("a sheet went away")),
        }
    }
}

/// The rows of a sheet that calamine holds whole.
pub(crate) struct BinaryRows<'a> {
    range: &'a Range<Data>,
    next: usize,
}

impl BinaryRows<'_> {
    pub(crate) fn next(&mut self, row: &mut Row) -> Result<bool, Fault> {
        let Some((first_row, first_column)) = self.range.start() else { return Ok(false) };
        let width = self.range.width();
        loop {
            let at = self.next;
            if at >= self.range.height() {
                return Ok(false);
            }
            self.next += 1;
            row.restart(first_row + at as u32);
            for column in 0..width {
                if let Some(data) = self.range.get((at, column)) {
                    push(row, first_column + column as u32, data);
                }
            }
            if !row.cells.is_empty() {
                return Ok(true);
            }
        }
    }
}

fn push(row: &mut Row, column: u32, data: &Data) {
    let content = match data {
        Data::Empty => return,
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
    row.push(column, content);
}

/// The date system of a moment, which calamine keeps to itself but compares.
fn epoch(moment: &ExcelDateTime) -> Epoch {
    let kind = if moment.is_duration() { ExcelDateTimeType::TimeDelta } else { ExcelDateTimeType::DateTime };
    match *moment == ExcelDateTime::new(moment.as_f64(), kind, true) {
        true => Epoch::From1904,
        false => Epoch::From1900,
    }
}

fn fault(error: calamine::Error) -> Fault {
    let text = error.to_string();
    if text.contains("password") { Fault::Encrypted } else { Fault::damaged(text) }
}
