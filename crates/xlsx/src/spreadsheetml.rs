//! `.xlsx` and `.xlsm`: the workbook's parts, and one sheet at a time as a stream of rows.
//!
//! Owns where the parts of such a workbook lie. calamine reads these files too, but holds the table of strings and the
//! sheet whole and believes what both claim; read as a stream, they take half the time and a quarter of the memory, a page
//! costs a page, and every bound is ours. The tests hold this reader and calamine together. Start at
//! [`Spreadsheetml::open`].

mod sheet;
mod strings;
mod styles;

use std::collections::{HashMap, HashSet};

use crate::error::Fault;
use crate::markup::{Scanner, Token};
use crate::package::Package;
use crate::reference::Area;
use crate::serial::Epoch;
use crate::workbook::{DefinedName, MAX_NAMES, MAX_SHEETS, Sheet, SheetKind};

pub(crate) use sheet::SheetRows;
use strings::Strings;
use styles::Styles;

/// How long a name or a formula of the workbook's own part may be.
const MAX_TEXT: usize = 1 << 20;

/// An open workbook.
pub(crate) struct Spreadsheetml {
    package: Package,
    /// The part of each sheet; `None` where the workbook names a sheet and no part for it.
    parts: Vec<Option<String>>,
    epoch: Epoch,
    styles_part: Option<String>,
    strings_part: Option<String>,
    /// Read when the first sheet is.
    styles: Option<Styles>,
    strings: Option<Strings>,
}

impl Spreadsheetml {
    /// The workbook whose main part is `main`.
    pub(crate) fn open(package: Package, main: &str) -> Result<(Spreadsheetml, Vec<Sheet>, Vec<DefinedName>), Fault> {
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
        Ok((book, outline.sheets, outline.names))
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
        let part = self.parts.get(sheet).and_then(Option::as_deref);
        let part = part.map(|part| self.package.part(part)).transpose()?.flatten();
        Scanner::new(part.ok_or_else(|| Fault::damaged("the sheet's part is missing"))?)
    }
}

/// The main part of a package of this kind, by the package's own relationships, else by its usual name.
pub(crate) fn main_part(package: &Package) -> Result<Option<String>, Fault> {
    let relations = Relations::of(package, "")?;
    let named = relations.first("officeDocument").map(str::to_owned);
    Ok(named.filter(|part| package.has(part)).or_else(|| {
        ["xl/workbook.xml", "xl/workbook.bin"].into_iter().find(|part| package.has(part)).map(str::to_owned)
    }))
}

fn folder(part: &str) -> &str {
    &part[..part.rfind('/').map_or(0, |slash| slash + 1)]
}

/// What a part points at: identifier, the last word of the kind, the part's name.
struct Relations {
    targets: HashMap<String, (String, String)>,
    order: Vec<String>,
}

impl Relations {
    fn of(package: &Package, part: &str) -> Result<Relations, Fault> {
        let (folder, name) = (folder(part), &part[folder(part).len()..]);
        let mut relations = Relations { targets: HashMap::new(), order: Vec::new() };
        let Some(part) = package.outline_part(&format!("{folder}_rels/{name}.rels"))? else { return Ok(relations) };
        let mut scanner = Scanner::new(part)?;
        loop {
            match scanner.next()? {
                Token::Open(tag) if tag.name == b"Relationship" => {
                    // What lies outside the package is not ours to open.
                    if tag.attribute(b"TargetMode") == Some(b"External") {
                        continue;
                    }
                    let (Some(id), Some(kind), Some(target)) =
                        (tag.text(b"Id")?, tag.text(b"Type")?, tag.text(b"Target")?)
                    else {
                        continue;
                    };
                    let kind = kind.rsplit('/').next().unwrap_or_default().to_owned();
                    relations.order.push(id.clone());
                    relations.targets.insert(id, (kind, resolve(folder, &target)));
                    if relations.order.len() > MAX_NAMES {
                        return Err(Fault::too_large(format!("it lists more than {MAX_NAMES} relationships")));
                    }
                }
                Token::End => return Ok(relations),
                _ => {}
            }
        }
    }

    fn first(&self, kind: &str) -> Option<&str> {
        let mut found = self.order.iter().filter_map(|id| self.targets.get(id));
        found.find(|(found, _)| found == kind).map(|(_, target)| target.as_str())
    }
}

/// The name of a part as seen from a folder of the package.
fn resolve(folder: &str, target: &str) -> String {
    let target = target.replace('\\', "/");
    let whole = match target.strip_prefix('/') {
        Some(absolute) => absolute.to_owned(),
        None => format!("{folder}{target}"),
    };
    let mut parts: Vec<&str> = Vec::new();
    for piece in whole.split('/') {
        match piece {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            piece => parts.push(piece),
        }
    }
    parts.join("/")
}

/// What the main part says.
struct Outline {
    sheets: Vec<Sheet>,
    parts: Vec<Option<String>>,
    /// The parts again, to find one that two sheets name.
    seen: HashSet<String>,
    names: Vec<DefinedName>,
    epoch: Epoch,
}

impl Outline {
    fn read(package: &Package, main: &str, relations: &Relations) -> Result<Outline, Fault> {
        let part = package.outline_part(main)?.ok_or_else(|| Fault::damaged(format!("part `{main}` is missing")))?;
        let mut scanner = Scanner::new(part)?;
        let mut outline = Outline {
            sheets: Vec::new(),
            parts: Vec::new(),
            seen: HashSet::new(),
            names: Vec::new(),
            epoch: Epoch::From1900,
        };
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
                    outline.add_sheet(
                        tag.text(b"name")?.unwrap_or_default(),
                        tag.attribute(b"state"),
                        tag.text(b"id")?.and_then(|id| relations.targets.get(&id)),
                    )?;
                    continue;
                }
                Token::Open(tag) if tag.name == b"definedName" && !tag.closed => {
                    let sheet = tag.text(b"localSheetId")?.and_then(|sheet| sheet.parse().ok());
                    DefinedName { name: tag.text(b"name")?.unwrap_or_default(), sheet, refers_to: String::new() }
                }
                Token::End => return Ok(outline),
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

    fn add_sheet(
        &mut self,
        title: String,
        state: Option<&[u8]>,
        target: Option<&(String, String)>,
    ) -> Result<(), Fault> {
        let kind = match target.map(|(kind, _)| kind.as_str()) {
            Some("chartsheet") => SheetKind::ChartSheet,
            Some("dialogsheet") => SheetKind::DialogSheet,
            Some("xlMacrosheet" | "xlIntlMacrosheet") => SheetKind::MacroSheet,
            _ => SheetKind::Worksheet,
        };
        let visible = !matches!(state, Some(b"hidden" | b"veryHidden"));
        let part = target.map(|(_, part)| part.clone());
        // Ten thousand sheets that are one part would be read ten thousand times.
        if part.as_ref().is_some_and(|part| !self.seen.insert(part.to_lowercase())) {
            return Err(Fault::damaged("two of its sheets are the same part"));
        }
        self.sheets.push(Sheet { title, kind, visible });
        self.parts.push(part);
        if self.sheets.len() > MAX_SHEETS {
            return Err(Fault::too_large(format!("it lists more than {MAX_SHEETS} sheets")));
        }
        Ok(())
    }
}
