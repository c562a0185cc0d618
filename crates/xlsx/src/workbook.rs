//! A workbook of any of the formats: its sheets, its defined names, and the rows of a sheet as they come.

use std::path::Path;

use crate::binary::{Binary, BinaryRows};
use crate::error::Fault;
use crate::reference::Area;
use crate::row::{Row, Shared};

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

/// An open workbook.
pub(crate) struct Workbook {
    pub(crate) sheets: Vec<Sheet>,
    pub(crate) names: Vec<DefinedName>,
    inner: Inner,
}

enum Inner {
    Binary(Binary),
}

impl Workbook {
    /// Opens the file by what it holds, whatever its name.
    pub(crate) fn open(path: &Path) -> Result<Workbook, Fault> {
        let (binary, sheets, names) = Binary::open(path)?;
        Ok(Workbook { sheets, names, inner: Inner::Binary(binary) })
    }

    /// The rows of a sheet, in order, those without any cell left out.
    pub(crate) fn rows(&mut self, sheet: usize) -> Result<Rows<'_>, Fault> {
        match &mut self.inner {
            Inner::Binary(binary) => Ok(Rows::Binary(binary.rows(sheet)?)),
        }
    }

    /// The smallest area that holds every cell of a sheet; `None` when it has none.
    pub(crate) fn extent(&mut self, sheet: usize) -> Result<Option<Area>, Fault> {
        match &mut self.inner {
            Inner::Binary(binary) => binary.extent(sheet),
        }
    }
}

/// The rows of one sheet.
pub(crate) enum Rows<'a> {
    Binary(BinaryRows<'a>),
}

impl Rows<'_> {
    /// Reads the next row that has cells; `false` at the end.
    pub(crate) fn next(&mut self, row: &mut Row) -> Result<bool, Fault> {
        match self {
            Rows::Binary(rows) => rows.next(row),
        }
    }
}

impl Shared for Rows<'_> {
    fn shared(&self, index: u32) -> &str {
        match self {
            Rows::Binary(_) => {
                let _ = index;
                ""
            }
        }
    }
}
