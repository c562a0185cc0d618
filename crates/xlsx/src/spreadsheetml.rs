//! `.xlsx` and `.xlsm`: the workbook's parts, and one sheet at a time as a stream of rows.
//!
//! Owns where the parts of such a workbook lie. calamine reads these files too, but holds the table of strings and the
//! sheet whole and believes what both claim; read as a stream, they take half the time and a quarter of the memory, a page
//! costs a page, and every bound is ours. The tests hold this reader and calamine together. Start at
//! [`Spreadsheetml::open`].

mod sheet;
mod strings;
mod styles;

use std::collections::HashSet;

use crate::error::Fault;
use crate::markup::{Scanner, Token};
use crate::package::Package;
use crate::reference::Area;
use crate::relations::{Relations, folder};
use crate::serial::Epoch;
use crate::workbook::{DefinedName, Listed, MAX_NAMES, MAX_SHEETS, Sheet, SheetKind};

pub(crate) use sheet::SheetRows;
use strings::Strings;
use styles::Styles;

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
        let outline = Outline::read(&package, main, &relations)?;
        let folder = folder(main);
        let beside = |kind: &str, name: &str| {
            let named = relations.first(kind).map(str::to_owned);
            named.filter(|part| package.has(part)).or_else(|| {
                let usual = format!("{folder}{name}");
                package.has(&usual).then_some(usual)
            })
        };
        let styles_part = beside("styles", "styles.xml");
        let strings_part = beside("sharedStrings", "sharedStrings.xml");
        let book = Spreadsheetml {
            parts: outline.parts,
            epoch: outline.epoch,
            styles_part,
            strings_part,
            styles: None,
            strings: None,
            package,
        };
        Ok((book, Listed { sheets: outline.sheets, names: outline.names, absent: outline.absent }))
    }

    /// The rows of a sheet. Those of a sheet that is not in order are gathered and sorted when asked for.
    pub(crate) fn rows(&mut self, sheet: usize, gather: bool) -> Result<SheetRows<'_>, Fault> {
        if self.styles.is_none() {
            let part = self.styles_part.as_deref().map(|part| self.package.outline_part(part)).transpose()?.flatten();
            self.styles = Some(part.map(Styles::read).transpose()?.unwrap_or_default());
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
#[derive(Default)]
struct Outline {
    sheets: Vec<Sheet>,
    /// The part of each of them.
    parts: Vec<String>,
    /// The titles of sheets that have no part: there is nothing to read.
    absent: Vec<String>,
    /// For each sheet that is listed its place among those that have a part.
    places: Vec<Option<usize>>,
    /// The parts again, to find one that two sheets name.
    seen: HashSet<String>,
    names: Vec<DefinedName>,
    epoch: Epoch,
}

impl Outline {
    fn read(package: &Package, main: &str, relations: &Relations) -> Result<Outline, Fault> {
        let part = package.outline_part(main)?.ok_or_else(|| Fault::damaged(format!("part `{main}` is missing")))?;
        let mut scanner = Scanner::new(part)?;
        let mut outline = Outline::default();
        loop {
            // A name's text follows its tag, so what the tag says is kept aside first.
            let name = match scanner.next()? {
                Token::Open(tag) if tag.name == b"workbookPr" => {
                    // An extension of the same name carries no such attribute.
                    if matches!(tag.attribute(b"date1904"), Some(b"1" | b"true" | b"on")) {
                        outline.epoch = Epoch::From1904;
                    }
                    continue;
                }
                Token::Open(tag) if tag.name == b"sheet" => {
                    let id = tag.text(b"id")?;
                    let target = id.as_deref().and_then(|id| relations.target(id));
                    outline.add_sheet(
                        tag.text(b"name")?.unwrap_or_default(),
                        tag.attribute(b"state"),
                        target.filter(|(_, part)| package.has(part)),
                    )?;
                    continue;
                }
                Token::Open(tag) if tag.name == b"definedName" && !tag.closed => {
                    let sheet = tag.text(b"localSheetId")?.and_then(|sheet| sheet.parse().ok());
                    DefinedName { name: tag.text(b"name")?.unwrap_or_default(), sheet, refers_to: String::new() }
                }
                Token::End => return outline.finished(main),
                _ => continue,
            };
            let mut name = name;
            scanner.push_content(&mut name.refers_to, MAX_TEXT)?;
            outline.names.push(name);
            if outline.names.len() > MAX_NAMES {
                return Err(Fault::too_large(format!("it lists more than {MAX_NAMES} names")));
            }
        }
    }

    fn add_sheet(&mut self, title: String, state: Option<&[u8]>, target: Option<(&str, &str)>) -> Result<(), Fault> {
        if self.places.len() >= MAX_SHEETS {
            return Err(Fault::too_large(format!("it lists more than {MAX_SHEETS} sheets")));
        }
        let Some((kind, part)) = target else {
            self.absent.push(title);
            self.places.push(None);
            return Ok(());
        };
        let kind = match kind {
            "chartsheet" => SheetKind::ChartSheet,
            "dialogsheet" => SheetKind::DialogSheet,
            "xlMacrosheet" | "xlIntlMacrosheet" => SheetKind::MacroSheet,
            _ => SheetKind::Worksheet,
        };
        let visible = !matches!(state, Some(b"hidden" | b"veryHidden"));
        // Ten thousand sheets that are one part would be read ten thousand times.
        if !self.seen.insert(part.to_lowercase()) {
            return Err(Fault::damaged("two of its sheets are the same part"));
        }
        self.places.push(Some(self.sheets.len()));
        self.sheets.push(Sheet { title, kind, visible });
        self.parts.push(part.to_owned());
        Ok(())
    }

    /// Sheets that have no part are as good as not there, as long as others are.
    fn finished(mut self, main: &str) -> Result<Outline, Fault> {
        if self.sheets.is_empty() && !self.absent.is_empty() {
            return Err(Fault::damaged(format!("part `{main}` lists sheets, and the part of none of them is there")));
        }
        let places = std::mem::take(&mut self.places);
        self.names.retain_mut(|name| {
            let Some(listed) = name.sheet else { return true };
            name.sheet = places.get(listed).copied().flatten();
            name.sheet.is_some()
        });
        Ok(self)
    }
}
