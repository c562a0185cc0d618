//! `.xlsx` and `.xlsm`: the workbook's parts, and one sheet at a time as a stream of rows.
//!
//! Owns where the parts of such a workbook lie. calamine reads these files too, but holds the table of strings and the
//! sheet whole and believes what both claim; read as a stream, they take half the time and a quarter of the memory, a page
//! costs a page, and every bound is ours. The tests hold this reader and calamine together. Start at
//! [`Spreadsheetml::open`].

mod sheet;
mod strings;
mod styles;

use crate::error::Fault;
use crate::markup::{Scanner, Token};
use crate::number_format::Styles;
use crate::outline::Outline;
use crate::package::Package;
use crate::reference::Area;
use crate::relations::Relations;
use crate::serial::Epoch;
use crate::workbook::{DefinedName, Listed};

pub(crate) use sheet::SheetRows;
use strings::Strings;

/// How long a name or a formula of the workbook's own part may be.
const MAX_TEXT: usize = 1 << 20;

/// An open workbook.
pub(crate) struct Spreadsheetml {
    package: Package,
    /// The part of each sheet.
    parts: Vec<String>,
    epoch: Epoch,
    styles_part: Option<String>,
    strings_part: Option<String>,
    /// Read when the first sheet is.
    styles: Option<Styles>,
    strings: Option<Strings>,
}

impl Spreadsheetml {
    /// The workbook whose main part is `main`.
    pub(crate) fn open(package: Package, main: &str) -> Result<(Spreadsheetml, Listed), Fault> {
        let relations = Relations::of(&package, main)?;
        let outline = outline(&package, main, &relations)?;
        let epoch = outline.epoch;
        let (listed, parts) = outline.finished(main)?;
        let book = Spreadsheetml {
            parts,
            epoch,
            styles_part: relations.beside(&package, main, "styles", "styles.xml"),
            strings_part: relations.beside(&package, main, "sharedStrings", "sharedStrings.xml"),
            styles: None,
            strings: None,
            package,
        };
        Ok((book, listed))
    }

    /// The rows of a sheet. Those of a sheet that is not in order are gathered and sorted when asked for.
    pub(crate) fn rows(&mut self, sheet: usize, gather: bool) -> Result<SheetRows<'_>, Fault> {
        if self.styles.is_none() {
            let part = self.styles_part.as_deref().map(|part| self.package.outline_part(part)).transpose()?.flatten();
            self.styles = Some(part.map(styles::read).transpose()?.unwrap_or_default());
        }
        if self.strings.is_none() {
            let part = self.strings_part.as_deref().map(|part| self.package.part(part)).transpose()?.flatten();
            self.strings = Some(Strings::new(part)?);
        }
        let scanner = self.scanner(sheet)?;
        let (Some(styles), Some(strings)) = (&self.styles, &mut self.strings) else {
            return Err(Fault::damaged("its styles or its strings went away"));
        };
        SheetRows::new(scanner, styles, strings, self.epoch, gather)
    }

    /// The smallest area that holds every cell that the sheet lists, merged ones included, and whether its rows are in
    /// order.
    pub(crate) fn extent(&mut self, sheet: usize) -> Result<(Option<Area>, bool), Fault> {
        sheet::extent(self.scanner(sheet)?)
    }

    fn scanner(&self, sheet: usize) -> Result<Scanner, Fault> {
        let part = self.parts.get(sheet).map(|part| self.package.part(part)).transpose()?.flatten();
        Scanner::new(part.ok_or_else(|| Fault::damaged("the sheet's part went away"))?)
    }
}

/// What the main part says.
fn outline(package: &Package, main: &str, relations: &Relations) -> Result<Outline, Fault> {
    let part = package.outline_part(main)?.ok_or_else(|| Fault::damaged(format!("part `{main}` is missing")))?;
    let mut scanner = Scanner::new(part)?;
    let mut outline = Outline::default();
    loop {
        // A name's text follows its tag, so what the tag says is kept aside first.
        let mut name = match scanner.next()? {
            Token::Open(tag) if tag.name == b"workbookPr" => {
                // An extension of the same name carries no such attribute.
                if matches!(tag.attribute(b"date1904"), Some(b"1" | b"true" | b"on")) {
                    outline.epoch = Epoch::From1904;
                }
                continue;
            }
            Token::Open(tag) if tag.name == b"sheet" => {
                let title = tag.text(b"name")?.unwrap_or_default();
                let visible = !matches!(tag.attribute(b"state"), Some(b"hidden" | b"veryHidden"));
                outline.add_sheet(title, visible, tag.text(b"id")?.as_deref(), relations, package)?;
                continue;
            }
            Token::Open(tag) if tag.name == b"definedName" && !tag.closed => {
                let sheet = tag.text(b"localSheetId")?.and_then(|sheet| sheet.parse().ok());
                DefinedName { name: tag.text(b"name")?.unwrap_or_default(), sheet, refers_to: String::new() }
            }
            Token::End => return Ok(outline),
            _ => continue,
        };
        scanner.push_content(&mut name.refers_to, MAX_TEXT)?;
        outline.add_name(name)?;
    }
}
