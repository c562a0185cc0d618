//! `search`: the cells that hold a text, over the whole workbook or one sheet.

use serde_json::{Value, json};

use super::Book;
use crate::arguments::Search;
use crate::error::XlsxError;
use crate::reference::cell_name;
use crate::row::Row;

/// `{text, matches: [{sheet, cell, row, value}], truncated, total?}`. Case does not matter.
pub(super) fn answer(book: &mut Book, request: &Search) -> Result<Vec<u8>, XlsxError> {
    let wanted = request.text.to_lowercase();
    let mut found = Found { matches: Vec::new(), bytes: request.text.len() + 256, truncated: false };
    let mut row = Row::default();
    'sheets: for sheet in book.worksheets(request.sheet.as_deref())? {
        let title = book.title(sheet).to_owned();
        let told = book.sheet_error(sheet);
        let mut rows = book.workbook.rows(sheet).map_err(&told)?;
        while rows.next(&mut row).map_err(&told)? {
            for cell in &row.cells {
                let shown = row.show(cell, &rows);
                if !holds(shown, &wanted) {
                    continue;
                }
                let mut value = Vec::new();
                row.push_json(&mut value, cell, &rows);
                let value: Value = serde_json::from_slice(&value).unwrap_or_default();
                let hit = json!({
                    "sheet": title,
                    "cell": cell_name(row.number, cell.column),
                    "row": row.number + 1,
                    "value": value,
                });
                if !found.add(hit, request) {
                    break 'sheets;
                }
            }
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
