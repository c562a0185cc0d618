//! `list-sheets`: every sheet with its size, whether it is shown, and what it is.

use serde_json::{Value, json};

use super::Book;
use crate::error::XlsxError;

/// `{path, sheets: [{title, rows, columns, visible, kind}]}`; rows and columns are the last used ones, counted from A1.
pub(super) fn answer(book: &mut Book) -> Result<Vec<u8>, XlsxError> {
    let mut sheets = Vec::new();
    for at in 0..book.workbook.sheets.len() {
        let sheet = book.workbook.sheets[at].clone();
        let extent = if book.is_worksheet(at) { book.attempt(at, |workbook| workbook.extent(at))? } else { None };
        let (rows, columns) = extent.map_or((0, 0), |area| (area.last_row + 1, area.last_column + 1));
        sheets.push(json!({
            "title": sheet.title,
            "rows": rows,
            "columns": columns,
            "visible": sheet.visible,
            "kind": sheet.kind.as_str(),
        }));
    }
    let value: Value = json!({ "path": book.shown, "sheets": sheets });
    Ok(value.to_string().into_bytes())
}
