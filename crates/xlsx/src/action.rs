//! What each action answers. Start at [`answer`].

mod describe;
mod dump;
mod list_sheets;
mod read_sheet;
mod search;

use std::path::Path;

use crate::arguments::Request;
use crate::error::{Fault, MAX_NAMED, XlsxError, nearest};
use crate::reference::{Area, split_sheet};
use crate::roots::Roots;
use crate::workbook::{SheetKind, Workbook};

/// The result of a request as JSON text.
pub(crate) fn answer(request: &Request, roots: &Roots) -> Result<Vec<u8>, XlsxError> {
    match request {
        Request::ListSheets { path } => list_sheets::answer(&mut Book::open(path, roots)?),
        Request::ReadSheet(request) => read_sheet::answer(&mut Book::open(&request.path, roots)?, request),
        Request::Search(request) => search::answer(&mut Book::open(&request.path, roots)?, request),
        Request::Describe(request) => describe::answer(&mut Book::open(&request.path, roots)?, request),
        Request::Dump(request) => dump::answer(&mut Book::open(&request.path, roots)?, request),
        Request::SaveDump { dump, to, overwrite } => {
            // What may not be written is refused before anything is read.
            let target = dump::Target::new(to, *overwrite, roots)?;
            dump::save(&mut Book::open(&dump.path, roots)?, dump, target)
        }
    }
}

/// An open workbook and the name under which the caller knows it.
struct Book {
    shown: String,
    workbook: Workbook,
}

impl Book {
    fn open(path: &Path, roots: &Roots) -> Result<Book, XlsxError> {
        let shown = path.display().to_string();
        let real = roots.to_read(path)?;
        match Workbook::open(&real) {
            Ok(workbook) => Ok(Book { shown, workbook }),
            Err(fault) => Err(XlsxError::Book { path: shown, fault }),
        }
    }

    fn titles(&self) -> Vec<String> {
        self.workbook.sheets.iter().map(|sheet| sheet.title.clone()).collect()
    }

    /// As many titles as an error names.
    fn named_titles(&self) -> Vec<String> {
        self.workbook.sheets.iter().take(MAX_NAMED).map(|sheet| sheet.title.clone()).collect()
    }

    fn title(&self, sheet: usize) -> &str {
        &self.workbook.sheets[sheet].title
    }

    /// The worksheets, or the one that is named.
    fn worksheets(&self, named: Option<&str>) -> Result<Vec<usize>, XlsxError> {
        match named {
            Some(name) => Ok(vec![self.sheet(Some(name))?]),
            None => Ok((0..self.workbook.sheets.len()).filter(|&sheet| self.is_worksheet(sheet)).collect()),
        }
    }

    fn is_worksheet(&self, sheet: usize) -> bool {
        matches!(self.workbook.sheets[sheet].kind, SheetKind::Worksheet | SheetKind::MacroSheet)
    }

    /// The sheet with this title, else the first worksheet. Case does not matter where one title alone fits.
    fn sheet(&self, named: Option<&str>) -> Result<usize, XlsxError> {
        let sheets = &self.workbook.sheets;
        let Some(name) = named else {
            return (0..sheets.len())
                .find(|&sheet| self.is_worksheet(sheet))
                .ok_or_else(|| XlsxError::NoWorksheet { path: self.shown.clone() });
        };
        let exact = sheets.iter().position(|sheet| sheet.title == name);
        let found = exact.or_else(|| {
            let wanted = name.trim().to_lowercase();
            let mut loose = (0..sheets.len()).filter(|&at| sheets[at].title.trim().to_lowercase() == wanted);
            loose.next().filter(|_| loose.next().is_none())
        });
        match found {
            Some(sheet) if self.is_worksheet(sheet) => Ok(sheet),
            Some(sheet) => Err(XlsxError::NotAWorksheet {
                path: self.shown.clone(),
                sheet: name.to_owned(),
                kind: sheets[sheet].kind.as_str(),
                sheets: self.worksheets(None)?.into_iter().map(|sheet| self.title(sheet).to_owned()).collect(),
            }),
            None if self.workbook.absent.iter().any(|title| title == name) => Err(XlsxError::Sheet {
                path: self.shown.clone(),
                sheet: name.to_owned(),
                sheets: self.named_titles(),
                fault: Fault::damaged("the sheet's part is missing"),
            }),
            None => Err(XlsxError::NoSuchSheet {
                path: self.shown.clone(),
                sheet: name.to_owned(),
                nearest: nearest(name, sheets.iter().map(|sheet| sheet.title.as_str())),
                sheets: self.titles(),
            }),
        }
    }

    /// The sheet and the area that a range means: a reference, one with a sheet's title before it, or a defined name.
    fn area(&self, named: Option<&str>, range: Option<&str>) -> Result<(usize, Area), XlsxError> {
        let Some(range) = range else { return Ok((self.sheet(named)?, Area::ALL)) };
        let wanted = range.trim().trim_start_matches('=');
        let of_sheet = named.map(|name| self.sheet(Some(name))).transpose()?;
        if let Some(name) = self.defined(wanted, of_sheet) {
            let name = &self.workbook.names[name];
            let Some((sheet, area)) = self.rectangle(&name.refers_to) else {
                let detail = format!(
                    "the defined name means `{}`, which is not one rectangle of cells in this workbook",
                    name.refers_to
                );
                return Err(self.bad_range(range, detail, of_sheet, Vec::new()));
            };
            return self.on_one_sheet(range, of_sheet, sheet, area);
        }
        if let Some((title, rest)) = split_sheet(wanted) {
            let sheet = self.sheet(Some(&title))?;
            let Some(area) = Area::parse(rest) else {
                let detail = "it is neither a range such as B2:F40 nor a defined name".to_owned();
                return Err(self.bad_range(range, detail, Some(sheet), Vec::new()));
            };
            return self.on_one_sheet(range, of_sheet, sheet, area);
        }
        match Area::parse(wanted) {
            Some(area) => Ok((of_sheet.map_or_else(|| self.sheet(None), Ok)?, area)),
            None => {
                let detail = "it is neither a range such as B2:F40 nor a defined name".to_owned();
                let near = nearest(wanted, self.workbook.names.iter().map(|name| name.name.as_str()));
                Err(self.bad_range(range, detail, of_sheet, near))
            }
        }
    }

    /// The defined name that holds on the sheet, else on the workbook, else on the only sheet that has it.
    fn defined(&self, wanted: &str, sheet: Option<usize>) -> Option<usize> {
        let names = &self.workbook.names;
        let fits = |at: &usize| names[*at].name.to_lowercase() == wanted.to_lowercase();
        let found: Vec<usize> = (0..names.len()).filter(fits).collect();
        let scoped = |scope: Option<usize>| found.iter().copied().find(|&at| names[at].sheet == scope);
        sheet
            .and_then(|sheet| scoped(Some(sheet)))
            .or_else(|| scoped(None))
            .or_else(|| (found.len() == 1).then(|| found[0]))
    }

    fn rectangle(&self, refers_to: &str) -> Option<(usize, Area)> {
        let (title, rest) = split_sheet(refers_to.trim_start_matches('='))?;
        let sheet = self.workbook.sheets.iter().position(|sheet| sheet.title == title)?;
        // LibreOffice and Excel both allow the sheet's title on both sides: `Sheet1!A1:Sheet1!B2`.
        let rest = rest.replace(&format!("{title}!"), "");
        Some((sheet, Area::parse(&rest)?))
    }

    fn on_one_sheet(
        &self,
        range: &str,
        asked: Option<usize>,
        sheet: usize,
        area: Area,
    ) -> Result<(usize, Area), XlsxError> {
        match asked {
            Some(asked) if asked != sheet => {
                let detail = format!(
                    "it lies on sheet `{}`, and sheet `{}` was asked for",
                    self.title(sheet),
                    self.title(asked)
                );
                Err(self.bad_range(range, detail, Some(asked), vec![self.title(sheet).to_owned()]))
            }
            _ if !self.is_worksheet(sheet) => Err(XlsxError::NotAWorksheet {
                path: self.shown.clone(),
                sheet: self.title(sheet).to_owned(),
                kind: self.workbook.sheets[sheet].kind.as_str(),
                sheets: self.titles(),
            }),
            _ => Ok((sheet, area)),
        }
    }

    fn bad_range(&self, range: &str, detail: String, sheet: Option<usize>, nearest: Vec<String>) -> XlsxError {
        XlsxError::BadRange {
            range: range.to_owned(),
            detail,
            sheet: sheet.map(|sheet| self.title(sheet).to_owned()),
            sheets: self.titles(),
            nearest,
        }
    }

    /// Makes an attempt on a sheet, and a second one when its rows turn out to be out of order.
    fn attempt<T>(
        &mut self,
        sheet: usize,
        mut attempt: impl FnMut(&mut Workbook) -> Result<T, Fault>,
    ) -> Result<T, XlsxError> {
        loop {
            match attempt(&mut self.workbook) {
                Err(Fault::OutOfOrder) if self.workbook.sort(sheet) => {}
                result => return result.map_err(|fault| self.sheet_error(sheet)(fault)),
            }
        }
    }

    /// A fault of one sheet, with the names that the caller knows.
    fn sheet_error(&self, sheet: usize) -> impl Fn(Fault) -> XlsxError + use<> {
        let (path, sheet, sheets) = (self.shown.clone(), self.title(sheet).to_owned(), self.named_titles());
        move |fault| XlsxError::Sheet { path: path.clone(), sheet: sheet.clone(), sheets: sheets.clone(), fault }
    }
}
