//! `search`: the cells that hold a text, over the whole workbook or one sheet.

use serde_json::{Value, json};

use super::Book;
use crate::arguments::Search;
use crate::error::{Fault, XlsxError};
use crate::reference::cell_name;
use crate::row::Row;
use crate::workbook::Rows;

/// `{text, matches: [{sheet, cell, row, value}], truncated, total?}`. Case does not matter.
pub(super) fn answer(book: &mut Book, request: &Search) -> Result<Vec<u8>, XlsxError> {
    let wanted = request.text.to_lowercase();
    let mut found = Found { matches: Vec::new(), bytes: request.text.len() + 256, truncated: false };
    for sheet in book.worksheets(request.sheet.as_deref())? {
        let title = book.title(sheet).to_owned();
        let before = (found.matches.len(), found.bytes);
        book.attempt(sheet, |workbook| {
            // A second attempt begins where the first did.
            found.matches.truncate(before.0);
            found.bytes = before.1;
            found.in_sheet(&mut workbook.rows(sheet)?, &title, &wanted, request)
        })?;
        if found.truncated {
            break;
        }
    }
    let mut value = json!({ "text": request.text, "truncated": found.truncated });
    if !found.truncated {
        value["total"] = found.matches.len().into();
    }
    value["matches"] = found.matches.into();
    Ok(value.to_string().into_bytes())
}

struct Found {
    matches: Vec<Value>,
    bytes: usize,
    truncated: bool,
}

impl Found {
    fn in_sheet(&mut self, rows: &mut Rows<'_>, title: &str, wanted: &str, request: &Search) -> Result<(), Fault> {
        let mut row = Row::default();
        while rows.next(&mut row)? {
            for cell in &row.cells {
                if !holds(row.show(cell, rows), wanted) {
                    continue;
                }
                let mut value = Vec::new();
                row.push_json(&mut value, cell, rows);
                let value: Value = serde_json::from_slice(&value).unwrap_or_default();
                let hit = json!({
                    "sheet": title,
                    "cell": cell_name(row.number, cell.column),
                    "row": row.number + 1,
                    "value": value,
                });
                if !self.add(hit, request) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// `false` when there is no room for it.
    fn add(&mut self, hit: Value, request: &Search) -> bool {
        self.bytes += hit.to_string().len() + 1;
        if self.matches.len() as u64 >= request.max_results || self.bytes > request.max_bytes {
            self.truncated = true;
            return false;
        }
        self.matches.push(hit);
        true
    }
}

/// Whether `text` holds `wanted`, which is in lower case already.
fn holds(text: &str, wanted: &str) -> bool {
    if text.is_ascii() && wanted.is_ascii() {
        let (text, wanted) = (text.as_bytes(), wanted.as_bytes());
        return text.len() >= wanted.len() && text.windows(wanted.len()).any(|part| part.eq_ignore_ascii_case(wanted));
    }
    text.to_lowercase().contains(wanted)
}
