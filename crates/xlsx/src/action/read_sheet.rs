//! `read-sheet`: the rows of one sheet, as arrays or as records.
//!
//! INVARIANT: `truncated` is true exactly when another row would have been given; the tests below keep it.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::Book;
use crate::arguments::ReadSheet;
use crate::error::{Fault, XlsxError};
use crate::json;
use crate::reference::{Area, push_column};
use crate::row::{Content, Row, Shared};
use crate::workbook::Rows;

/// What the result holds beside its rows: title, columns, counts and notes are never longer than this, but for the
/// texts that are added to it.
const FRAME_BYTES: usize = 1024;

/// `{sheet, rows, truncated, next_offset?, total_rows?, columns?, notes?}`.
pub(super) fn answer(book: &mut Book, request: &ReadSheet) -> Result<Vec<u8>, XlsxError> {
    let (sheet, area) = book.area(request.sheet.as_deref(), request.range.as_deref())?;
    let title = book.title(sheet).to_owned();
    let result = book.attempt(sheet, |workbook| {
        let mut rows = workbook.rows(sheet)?;
        let mut reading = Reading::new(request, area, &title);
        match reading.all(&mut rows) {
            Ok(()) => Ok(Ok(reading.finish())),
            Err(Stop::Fault(fault)) => Err(fault),
            Err(Stop::RowTooLarge { row, bytes }) => Ok(Err((row, bytes))),
        }
    })?;
    result.map_err(|(row, bytes)| XlsxError::RowTooLarge {
        sheet: title,
        row: row + 1,
        bytes,
        limit: request.max_bytes,
    })
}

enum Stop {
    Fault(Fault),
    RowTooLarge { row: u32, bytes: usize },
}

/// A result that grows row by row.
struct Reading<'a> {
    request: &'a ReadSheet,
    area: Area,
    out: Vec<u8>,
    /// Room for what stands around the rows.
    frame: usize,
    keys: Option<Keys>,
    /// Rows met so far that the result would give, those skipped by the offset counted.
    met: u64,
    returned: u64,
    /// The next row that `keep-empty` owes, whether it holds anything or not.
    owed: u32,
    truncated: bool,
    as_text: u64,
}

impl<'a> Reading<'a> {
    fn new(request: &'a ReadSheet, area: Area, title: &str) -> Reading<'a> {
        let mut out = b"{\"sheet\":".to_vec();
        json::push_string(&mut out, title);
        out.extend_from_slice(b",\"rows\":[");
        let frame = out.len() + FRAME_BYTES;
        Reading {
            request,
            area,
            out,
            frame,
            keys: None,
            met: 0,
            returned: 0,
            owed: area.first_row,
            truncated: false,
            as_text: 0,
        }
    }

    fn all(&mut self, rows: &mut Rows<'_>) -> Result<(), Stop> {
        let mut row = Row::default();
        while rows.next(&mut row).map_err(Stop::Fault)? {
            if row.number < self.area.first_row {
                continue;
            }
            if row.number > self.area.last_row {
                return rows.look_ahead().map_err(Stop::Fault);
            }
            row.trim(&self.area, rows);
            if row.cells.is_empty() {
                continue;
            }
            if self.request.header && self.keys.is_none() {
                let keys = Keys::new(&row, rows, self.area.first_column, self.request.max_bytes)?;
                self.frame += keys.bytes;
                self.keys = Some(keys);
                self.owed = row.number + 1;
                continue;
            }
            if !self.give_empty(row.number)? || !self.give(&row, rows)? {
                self.truncated = true;
                return rows.look_ahead().map_err(Stop::Fault);
            }
            self.owed = row.number + 1;
        }
        Ok(())
    }

    /// Gives the empty rows before `number`; `false` when there is no room for one.
    fn give_empty(&mut self, number: u32) -> Result<bool, Stop> {
        if !self.request.keep_empty {
            return Ok(true);
        }
        let empty: &[u8] = if self.keys.is_some() { b"{}" } else { b"[]" };
        while self.owed < number {
            let at = self.owed;
            if !self.place(at, |out, _| out.extend_from_slice(empty))? {
                return Ok(false);
            }
            self.owed += 1;
        }
        Ok(true)
    }

    fn give(&mut self, row: &Row, shared: &impl Shared) -> Result<bool, Stop> {
        let first_column = self.area.first_column;
        let limit = self.request.max_bytes;
        // The keys are lent out while the row is written, and come back whatever happens.
        let keys = self.keys.take();
        let given = self.place(row.number, |out, as_text| {
            *as_text += match &keys {
                Some(keys) => keys.push_record(out, row, limit, shared),
                None => row.push_array(out, first_column, limit, shared),
            };
        });
        self.keys = keys;
        given
    }

    /// Places one row unless the offset skips it; `false` when there is no room for it.
    fn place(&mut self, number: u32, write: impl FnOnce(&mut Vec<u8>, &mut u64)) -> Result<bool, Stop> {
        if self.met < self.request.offset {
            self.met += 1;
            return Ok(true);
        }
        if self.request.max_results.is_some_and(|most| self.returned >= most) {
            return Ok(false);
        }
        let before = self.out.len();
        if self.returned > 0 {
            self.out.push(b',');
        }
        let mut as_text = 0;
        write(&mut self.out, &mut as_text);
        if self.out.len() + self.frame > self.request.max_bytes {
            let bytes = self.out.len() - before;
            self.out.truncate(before);
            return if self.returned == 0 { Err(Stop::RowTooLarge { row: number, bytes }) } else { Ok(false) };
        }
        self.as_text += as_text;
        self.met += 1;
        self.returned += 1;
        Ok(true)
    }

    fn finish(mut self) -> Vec<u8> {
        let out = &mut self.out;
        out.extend_from_slice(b"],\"truncated\":");
        if self.truncated {
            out.extend_from_slice(b"true,\"next_offset\":");
            json::push_whole(out, self.met);
        } else {
            out.extend_from_slice(b"false,\"total_rows\":");
            json::push_whole(out, self.met);
        }
        if let Some(keys) = &self.keys {
            out.extend_from_slice(b",\"columns\":[");
            for (at, key) in keys.names.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                json::push_string(out, key);
            }
            out.push(b']');
        }
        if self.as_text > 0 {
            out.extend_from_slice(b",\"notes\":[");
            let note = format!(
                "{} numbers are given as text: JSON readers would round them, so every digit is kept this way",
                self.as_text
            );
            json::push_string(out, &note);
            out.push(b']');
        }
        out.push(b'}');
        self.out
    }
}

/// The keys of records: one for each column of the header row, unique, the column's letters where the header is blank.
struct Keys {
    first_column: u32,
    /// In the order of the columns, without gaps.
    names: Vec<String>,
    /// How often each name was wanted, so that the next of that name gets the next number.
    taken: HashMap<String, u32>,
    bytes: usize,
}

impl Keys {
    fn new(row: &Row, shared: &impl Shared, first_column: u32, limit: usize) -> Result<Keys, Stop> {
        let mut keys = Keys { first_column, names: Vec::new(), taken: HashMap::new(), bytes: 0 };
        for cell in &row.cells {
            while keys.next_column() < cell.column {
                keys.add(&letters(keys.next_column()));
            }
            match row.show(cell, shared).trim() {
                "" => keys.add(&letters(keys.next_column())),
                name => keys.add(name),
            }
            if keys.bytes > limit {
                return Err(Stop::RowTooLarge { row: row.number, bytes: keys.bytes });
            }
        }
        Ok(keys)
    }

    fn next_column(&self) -> u32 {
        self.first_column + self.names.len() as u32
    }

    fn add(&mut self, name: &str) {
        let key = self.free(name);
        // Escaped it may take up to six times its length.
        self.bytes += key.len() * 6 + 3;
        self.names.push(key);
    }

    /// The name, with a number behind it when it is taken.
    fn free(&mut self, name: &str) -> String {
        let wanted = self.taken.entry(name.to_owned()).or_insert(0);
        *wanted += 1;
        let mut number = *wanted;
        if number == 1 {
            return name.to_owned();
        }
        loop {
            let key = format!("{name}_{number}");
            match self.taken.entry(key.clone()) {
                Entry::Vacant(free) => {
                    free.insert(1);
                    self.taken.insert(name.to_owned(), number);
                    return key;
                }
                Entry::Occupied(_) => number += 1,
            }
        }
    }

    /// Every key of the header, and the letters of whatever columns the row has beyond it. Stops somewhere beyond
    /// `limit` bytes.
    fn push_record(&self, out: &mut Vec<u8>, row: &Row, limit: usize, shared: &impl Shared) -> u64 {
        let mut cells = row.cells.iter().peekable();
        let end = out.len().saturating_add(limit);
        let mut as_text = 0;
        out.push(b'{');
        for (column, key) in (self.first_column..).zip(&self.names) {
            if out.len() > end {
                break;
            }
            json::push_string(out, key);
            out.push(b':');
            match cells.next_if(|cell| cell.column == column) {
                Some(cell) => {
                    row.push_json(out, cell, shared);
                    as_text += u64::from(matches!(cell.content, Content::Precise(_)));
                }
                None => out.extend_from_slice(b"\"\""),
            }
            out.push(b',');
        }
        for cell in cells {
            if out.len() > end {
                break;
            }
            // A header may be named like a column; the column then gives way.
            let mut key = letters(cell.column);
            while self.taken.contains_key(&key) {
                key.push('_');
            }
            json::push_string(out, &key);
            out.push(b':');
            row.push_json(out, cell, shared);
            as_text += u64::from(matches!(cell.content, Content::Precise(_)));
            out.push(b',');
        }
        if out.last() == Some(&b',') {
            out.pop();
        }
        out.push(b'}');
        as_text
    }
}

fn letters(column: u32) -> String {
    let mut letters = String::new();
    push_column(&mut letters, column);
    letters
}
