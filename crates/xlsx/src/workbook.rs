//! A workbook of any of the formats: its sheets, its defined names, and the rows of a sheet as they come.

use std::collections::HashSet;
use std::path::Path;

use crate::error::Fault;
use crate::format::{self, Recognized};
use crate::opendocument::{Opendocument, TableRows};
use crate::reference::Area;
use crate::row::{Row, Shared};
use crate::spreadsheetml::{SheetRows, Spreadsheetml};
use crate::store::Store;
use crate::xls::{Xls, XlsRows};
use crate::xlsb::{Xlsb, XlsbRows};

/// How many sheets a workbook may list.
pub(crate) const MAX_SHEETS: usize = 10_000;
/// How many names, or relationships, a workbook may list.
pub(crate) const MAX_NAMES: usize = 100_000;

/// What a sheet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SheetKind {
    Worksheet,
    ChartSheet,
    DialogSheet,
    MacroSheet,
    Module,
}

impl SheetKind {
    /// The word that results use.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            SheetKind::Worksheet => "worksheet",
            SheetKind::ChartSheet => "chartsheet",
            SheetKind::DialogSheet => "dialogsheet",
            SheetKind::MacroSheet => "macrosheet",
            SheetKind::Module => "module",
        }
    }
}

/// A sheet as the workbook lists it.
#[derive(Clone, Debug)]
pub(crate) struct Sheet {
    pub(crate) title: String,
    pub(crate) kind: SheetKind,
    pub(crate) visible: bool,
}

/// A name that stands for a range.
#[derive(Clone, Debug)]
pub(crate) struct DefinedName {
    pub(crate) name: String,
    /// The sheet on which alone it holds.
    pub(crate) sheet: Option<usize>,
    /// As stored: `Sheet1!$A$1:$C$4`.
    pub(crate) refers_to: String,
}

/// What a workbook lists.
pub(crate) struct Listed {
    pub(crate) sheets: Vec<Sheet>,
    pub(crate) names: Vec<DefinedName>,
    /// The titles of sheets of which nothing but the title is there.
    pub(crate) absent: Vec<String>,
}

/// An open workbook.
pub(crate) struct Workbook {
    pub(crate) sheets: Vec<Sheet>,
    pub(crate) names: Vec<DefinedName>,
    /// The titles of sheets of which nothing but the title is there.
    pub(crate) absent: Vec<String>,
    inner: Inner,
    /// Sheets whose rows are known to be out of order.
    unordered: HashSet<usize>,
}

enum Inner {
    Spreadsheetml(Box<Spreadsheetml>),
    Opendocument(Box<Opendocument>),
    Xlsb(Box<Xlsb>),
    Xls(Box<Xls>),
}

impl Workbook {
    /// Opens the file by what it holds, whatever its name.
    pub(crate) fn open(path: &Path) -> Result<Workbook, Fault> {
        let store = Store::open(path)?;
        let (inner, listed) = match format::recognize(&store)? {
            Recognized::Spreadsheetml(package, main) => {
                let (book, listed) = Spreadsheetml::open(package, &main)?;
                (Inner::Spreadsheetml(Box::new(book)), listed)
            }
            Recognized::Opendocument(package) => {
                let (book, listed) = Opendocument::open(package)?;
                (Inner::Opendocument(Box::new(book)), listed)
            }
            Recognized::BinaryPackage(package, main) => {
                let (book, listed) = Xlsb::open(package, &main)?;
                (Inner::Xlsb(Box::new(book)), listed)
            }
            Recognized::Compound => {
                let (book, listed) = Xls::open(store)?;
                (Inner::Xls(Box::new(book)), listed)
            }
        };
        let Listed { sheets, names, absent } = listed;
        Ok(Workbook { sheets, names, absent, inner, unordered: HashSet::new() })
    }

    /// The rows of a sheet, those without any cell left out. [`Workbook::sort`] says what to do when they turn out to be
    /// out of order.
    pub(crate) fn rows(&mut self, sheet: usize) -> Result<Rows<'_>, Fault> {
        let gather = self.unordered.contains(&sheet);
        match &mut self.inner {
            Inner::Spreadsheetml(book) => Ok(Rows::Spreadsheetml(Box::new(book.rows(sheet, gather)?))),
            Inner::Opendocument(book) => Ok(Rows::Opendocument(Box::new(book.rows(sheet)?))),
            Inner::Xlsb(book) => Ok(Rows::Xlsb(Box::new(book.rows(sheet)?))),
            Inner::Xls(book) => Ok(Rows::Xls(book.rows(sheet)?)),
        }
    }

    /// After [`Fault::OutOfOrder`]: from now on the sheet's rows are sorted first. `false` when they were already.
    pub(crate) fn sort(&mut self, sheet: usize) -> bool {
        self.unordered.insert(sheet)
    }

    /// The smallest area that holds every cell of a sheet; `None` when it has none.
    pub(crate) fn extent(&mut self, sheet: usize) -> Result<Option<Area>, Fault> {
        match &mut self.inner {
            Inner::Spreadsheetml(book) => {
                let (area, ordered) = book.extent(sheet)?;
                if !ordered {
                    self.unordered.insert(sheet);
                }
                Ok(area)
            }
            Inner::Opendocument(book) => Ok(book.extent(sheet)),
            Inner::Xlsb(_) | Inner::Xls(_) => extent(&mut self.rows(sheet)?),
        }
    }
}

/// The smallest area that holds every cell that holds something.
fn extent(rows: &mut Rows<'_>) -> Result<Option<Area>, Fault> {
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

/// The rows of one sheet.
pub(crate) enum Rows<'a> {
    Spreadsheetml(Box<SheetRows<'a>>),
    Opendocument(Box<TableRows<'a>>),
    Xlsb(Box<XlsbRows<'a>>),
    Xls(XlsRows<'a>),
}

impl Rows<'_> {
    /// Reads the next row that has cells; `false` at the end.
    pub(crate) fn next(&mut self, row: &mut Row) -> Result<bool, Fault> {
        match self {
            Rows::Spreadsheetml(rows) => rows.next(row),
            Rows::Opendocument(rows) => rows.next(row),
            Rows::Xlsb(rows) => rows.next(row),
            Rows::Xls(rows) => rows.next(row),
        }
    }

    /// To be called by whoever stops before the end and tells which rows came first: [`Fault::OutOfOrder`] when a row
    /// that comes yet belongs before the last one.
    pub(crate) fn look_ahead(&mut self) -> Result<(), Fault> {
        match self {
            Rows::Spreadsheetml(rows) => rows.look_ahead(),
            Rows::Opendocument(_) | Rows::Xlsb(_) | Rows::Xls(_) => Ok(()),
        }
    }
}

impl Shared for Rows<'_> {
    fn shared(&self, index: u32) -> &str {
        match self {
            Rows::Spreadsheetml(rows) => rows.shared(index),
            Rows::Opendocument(_) | Rows::Xlsb(_) | Rows::Xls(_) => "",
        }
    }

    fn is_blank(&self, index: u32) -> bool {
        match self {
            Rows::Spreadsheetml(rows) => rows.is_blank(index),
            Rows::Opendocument(_) | Rows::Xlsb(_) | Rows::Xls(_) => true,
        }
    }
}
