//! The main part: sheets, names, and the day from which the workbook counts.
//!
//! Owns the one kind of formula that matters here: a name that means one rectangle of cells.

use super::record::{Record, Records, wide, word};
use crate::error::Fault;
use crate::outline::Outline;
use crate::package::Package;
use crate::reference::Area;
use crate::relations::Relations;
use crate::serial::Epoch;
use crate::workbook::{DefinedName, MAX_NAMES};

const NAME: u16 = 0x27;
const PROPERTIES: u16 = 0x99;
const SHEET: u16 = 0x9C;
/// Workbooks that formulas refer to, by kind: others, this one, this sheet, add-ins.
const OTHER_BOOK: u16 = 0x163;
const THIS_BOOK: u16 = 0x165;
const THIS_SHEET: u16 = 0x166;
const ADD_IN: u16 = 0x29B;
/// The sheets that formulas refer to, of which workbook each.
const FOREIGN_SHEETS: u16 = 0x16A;

/// Reads the main part.
pub(super) fn read(package: &Package, main: &str, relations: &Relations) -> Result<Outline, Fault> {
    let part = package.outline_part(main)?.ok_or_else(|| Fault::damaged(format!("part `{main}` is missing")))?;
    let mut records = Records::new(part);
    let mut outline = Outline::default();
    let mut reading = Reading::default();
    while let Some(record) = records.next()? {
        if reading.add(&record, &mut outline, relations, package)?.is_none() {
            let kind = record.kind;
            return Err(records.damaged(&format!("a record of kind {kind} is too short")));
        }
    }
    Ok(outline)
}

/// What names need of the records before them.
#[derive(Default)]
struct Reading {
    titles: Vec<String>,
    /// Whether each workbook that formulas refer to is this one.
    books: Vec<bool>,
    /// The titles of sheets that formulas refer to by number; none for those of other workbooks, and several at once.
    foreign: Vec<Option<usize>>,
}

impl Reading {
    /// `None` when the record is shorter than its kind.
    fn add(
        &mut self,
        record: &Record<'_>,
        outline: &mut Outline,
        relations: &Relations,
        package: &Package,
    ) -> Result<Option<()>, Fault> {
        let body = record.body;
        match record.kind {
            PROPERTIES => match body.first() {
                Some(flags) if flags & 1 != 0 => outline.epoch = Epoch::From1904,
                Some(_) => {}
                None => return Ok(None),
            },
            SHEET => {
                let Some((visible, id, title)) = sheet(body) else { return Ok(None) };
                self.titles.push(title.clone());
                outline.add_sheet(title, visible, id.as_deref(), relations, package)?;
            }
            OTHER_BOOK | THIS_BOOK | THIS_SHEET | ADD_IN if self.books.len() < MAX_NAMES => {
                self.books.push(record.kind == THIS_BOOK);
            }
            FOREIGN_SHEETS => {
                let entries = body.get(4..).unwrap_or_default().chunks_exact(12);
                self.foreign = entries.map(|entry| self.foreign_sheet(entry)).collect();
            }
            NAME => match self.name(body) {
                Some(name) => outline.add_name(name)?,
                None => return Ok(None),
            },
            _ => {}
        }
        Ok(Some(()))
    }

    /// The one sheet of this workbook that is meant.
    fn foreign_sheet(&self, entry: &[u8]) -> Option<usize> {
        let (book, first, last) = (word(entry, 0)? as usize, word(entry, 4)?, word(entry, 8)?);
        let here = self.books.get(book).copied().unwrap_or(self.books.is_empty());
        (here && first == last && (first as usize) < self.titles.len()).then_some(first as usize)
    }

    fn name(&self, body: &[u8]) -> Option<DefinedName> {
        let sheet = word(body, 5)?;
        let (name, rest) = wide(body.get(9..)?)?;
        let formula = rest.get(4..)?.get(..word(rest, 0)? as usize)?;
        let sheet = (sheet != u32::MAX).then_some(sheet as usize);
        Some(DefinedName { name, sheet, refers_to: self.refers_to(formula) })
    }

    /// What a formula of one reference means, as a formula is written; of any other that it is one.
    fn refers_to(&self, formula: &[u8]) -> String {
        // Each kind of reference has three numbers, by what it results in.
        let kind = formula.first().map_or(0, |first| first & 0x1F | 0x20);
        let half =
            |at: usize| formula.get(at..).and_then(|rest| rest.first_chunk()).map(|half| u16::from_le_bytes(*half));
        let column = |at: usize| half(at).map(|column| u32::from(column & 0x3FFF));
        let area = match (kind, formula.len()) {
            (0x3A, 9) => word(formula, 3).zip(column(7)).map(|(row, column)| Area::cell(row, column)),
            (0x3B, 15) => {
                let from = word(formula, 3).zip(column(11)).map(|(row, column)| Area::cell(row, column));
                let to = word(formula, 7).zip(column(13)).map(|(row, column)| Area::cell(row, column));
                from.zip(to).map(|(from, to)| from.with(to))
            }
            (0x3C | 0x3D, 9 | 15) => return "#REF!".to_owned(),
            _ => None,
        };
        let sheet = half(1).and_then(|sheet| *self.foreign.get(usize::from(sheet))?);
        match (sheet.and_then(|sheet| self.titles.get(sheet)), area) {
            (Some(title), Some(area)) => format!("'{}'!{area}", title.replace('\'', "''")),
            _ => "a formula".to_owned(),
        }
    }
}

/// Whether a sheet is shown, the identifier of its relationship, and its title.
fn sheet(body: &[u8]) -> Option<(bool, Option<String>, String)> {
    let visible = word(body, 0)? == 0;
    let rest = body.get(8..)?;
    let (id, rest) = match word(rest, 0)? {
        u32::MAX => (None, rest.get(4..)?),
        _ => wide(rest).map(|(id, rest)| (Some(id), rest))?,
    };
    Some((visible, id, wide(rest)?.0))
}
