//! What the main part of an Office package lists: sheets with their parts, names, and the day from which it counts.
//!
//! Owns which of the listed sheets can be read. Does not know how the main part is written; see [`crate::spreadsheetml`]
//! and [`crate::xlsb`] for that.

use std::collections::HashSet;

use crate::error::Fault;
use crate::package::Package;
use crate::relations::Relations;
use crate::serial::Epoch;
use crate::workbook::{DefinedName, Listed, MAX_NAMES, MAX_SHEETS, Sheet, SheetKind};

/// What the main part says.
#[derive(Default)]
pub(crate) struct Outline {
    pub(crate) epoch: Epoch,
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
}

impl Outline {
    /// Adds the next sheet, whose relationship has this identifier.
    pub(crate) fn add_sheet(
        &mut self,
        title: String,
        visible: bool,
        id: Option<&str>,
        relations: &Relations,
        package: &Package,
    ) -> Result<(), Fault> {
        if self.places.len() >= MAX_SHEETS {
            return Err(Fault::too_large(format!("it lists more than {MAX_SHEETS} sheets")));
        }
        let target = id.and_then(|id| relations.target(id)).filter(|(_, part)| package.has(part));
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
        // Ten thousand sheets that are one part would be read ten thousand times.
        if !self.seen.insert(part.to_lowercase()) {
            return Err(Fault::damaged("two of its sheets are the same part"));
        }
        self.places.push(Some(self.sheets.len()));
        self.sheets.push(Sheet { title, kind, visible });
        self.parts.push(part.to_owned());
        Ok(())
    }

    /// Adds a name; the sheet on which alone it holds counts all that are listed.
    pub(crate) fn add_name(&mut self, name: DefinedName) -> Result<(), Fault> {
        self.names.push(name);
        if self.names.len() > MAX_NAMES {
            return Err(Fault::too_large(format!("it lists more than {MAX_NAMES} names")));
        }
        Ok(())
    }

    /// What is listed, and the part of each sheet. Sheets that have no part are as good as not there, as long as others
    /// are.
    pub(crate) fn finished(mut self, main: &str) -> Result<(Listed, Vec<String>), Fault> {
        if self.sheets.is_empty() && !self.absent.is_empty() {
            return Err(Fault::damaged(format!("part `{main}` lists sheets, and the part of none of them is there")));
        }
        let places = self.places;
        self.names.retain_mut(|name| {
            let Some(listed) = name.sheet else { return true };
            name.sheet = places.get(listed).copied().flatten();
            name.sheet.is_some()
        });
        Ok((Listed { sheets: self.sheets, names: self.names, absent: self.absent }, self.parts))
    }
}
