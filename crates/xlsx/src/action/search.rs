//! `search`: the cells that hold a text, over the whole workbook or one sheet.

use super::Book;
use crate::arguments::Search;
use crate::error::{Fault, XlsxError};
use crate::json;
use crate::reference::cell_name;
use crate::row::{Content, Row};
use crate::workbook::Rows;

/// `{text, matches: [{sheet, cell, row, value}], truncated, total?}`. Case does not matter.
pub(super) fn answer(book: &mut Book, request: &Search) -> Result<Vec<u8>, XlsxError> {
    let wanted = request.text.to_lowercase();
    let mut found = Found::new(request);
    for sheet in book.worksheets(request.sheet.as_deref())? {
        let title = book.title(sheet).to_owned();
        let before = (found.count, found.out.len());
        book.attempt(sheet, |workbook| {
            // A second attempt begins where the first did.
            found.count = before.0;
            found.out.truncate(before.1);
            found.truncated = false;
            found.in_sheet(&mut workbook.rows(sheet)?, &title, &wanted)
        })?;
        if found.truncated {
            break;
        }
    }
    Ok(found.finish())
}

/// A result that grows match by match.
struct Found<'a> {
    request: &'a Search,
    out: Vec<u8>,
    count: u64,
    truncated: bool,
}

impl<'a> Found<'a> {
    fn new(request: &'a Search) -> Found<'a> {
        let mut out = b"{\"text\":".to_vec();
        json::push_string(&mut out, &request.text);
        out.extend_from_slice(b",\"matches\":[");
        Found { request, out, count: 0, truncated: false }
    }

    fn in_sheet(&mut self, rows: &mut Rows<'_>, title: &str, wanted: &str) -> Result<(), Fault> {
        let mut row = Row::default();
        // Each shared text is looked through once, however many cells name it.
        let mut known: Vec<Option<bool>> = Vec::new();
        while rows.next(&mut row)? {
            for (at, cell) in row.cells.iter().enumerate() {
                let here = || holds(row.show(cell, rows), wanted);
                let found = match cell.content {
                    Content::Shared(index) => {
                        let index = index as usize;
                        known.resize(known.len().max(index + 1), None);
                        *known[index].get_or_insert_with(here)
                    }
                    _ => here(),
                };
                if found && !self.add(title, &row, at, rows) {
                    return rows.look_ahead();
                }
            }
        }
        Ok(())
    }

    /// `false` when there is no room for it.
    fn add(&mut self, title: &str, row: &Row, at: usize, rows: &Rows<'_>) -> bool {
        let before = self.out.len();
        if self.count < self.request.max_results {
            let (cell, out) = (&row.cells[at], &mut self.out);
            out.extend_from_slice(if self.count > 0 { b",{\"sheet\":" } else { b"{\"sheet\":" });
            json::push_string(out, title);
            out.extend_from_slice(b",\"cell\":");
            json::push_string(out, &cell_name(row.number, cell.column));
            out.extend_from_slice(b",\"row\":");
            json::push_whole(out, u64::from(row.number) + 1);
            out.extend_from_slice(b",\"value\":");
            row.push_json(out, cell, rows);
            out.push(b'}');
            if out.len() + 64 <= self.request.max_bytes {
                self.count += 1;
                return true;
            }
        }
        self.out.truncate(before);
        self.truncated = true;
        false
    }

    fn finish(mut self) -> Vec<u8> {
        if self.truncated {
            self.out.extend_from_slice(b"],\"truncated\":true}");
        } else {
            self.out.extend_from_slice(b"],\"truncated\":false,\"total\":");
            json::push_whole(&mut self.out, self.count);
            self.out.push(b'}');
        }
        self.out
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
