//! `describe`: what each column holds, so that nobody need read it all.
//!
//! Owns the inference of types and the bounds of what is remembered of a column.

use std::collections::{BTreeMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use serde_json::{Map, Value};

use super::Book;
use crate::arguments::Describe;
use crate::error::XlsxError;
use crate::json;
use crate::reference::{Area, push_column};
use crate::row::{Cell, Content, Row, Shared};
use crate::serial::Moment;

/// How many different values of all columns together are told apart; beyond that `distinct` is a lower bound.
const MAX_DISTINCT: usize = 2_000_000;
/// How many examples a column gets.
const EXAMPLES: usize = 3;
/// How much of either end of a long text is looked at, in bytes.
const END: usize = 512;
/// How much of a long text is shown as example, minimum or maximum, in characters.
const SHOWN: usize = 80;

/// `{sheet, rows, columns: [{column, name?, type, count, distinct, minimum?, maximum?, examples}], truncated}`.
pub(super) fn answer(book: &mut Book, request: &Describe) -> Result<Vec<u8>, XlsxError> {
    let sheet = book.sheet(request.sheet.as_deref())?;
    let title = book.title(sheet).to_owned();
    let described = book.attempt(sheet, |workbook| {
        let mut rows = workbook.rows(sheet)?;
        let mut described = Described::default();
        let mut row = Row::default();
        while rows.next(&mut row)? {
            row.trim(&Area::ALL, &rows);
            if !row.cells.is_empty() {
                described.add(&row, &rows);
            }
        }
        Ok(described)
    })?;
    Ok(described.answer(&title, request.max_bytes))
}

/// Everything remembered of a sheet.
#[derive(Default)]
struct Described {
    rows: u64,
    /// The first row, while it may still be a header.
    header: Option<BTreeMap<u32, String>>,
    /// By their place.
    columns: Vec<Column>,
    hasher: RandomState,
    distinct: usize,
}

impl Described {
    fn add(&mut self, row: &Row, shared: &impl Shared) {
        let text = |cell: &Cell| matches!(cell.content, Content::Text(_) | Content::Shared(_) | Content::Empty);
        if self.rows == 0 && self.header.is_none() && row.cells.iter().all(text) {
            let named = row.cells.iter().filter(|cell| !row.is_blank(cell, shared));
            self.header = Some(named.map(|cell| (cell.column, short(row.show(cell, shared).trim()))).collect());
            return;
        }
        self.rows += 1;
        for cell in &row.cells {
            if row.is_blank(cell, shared) {
                continue;
            }
            let shown = row.show(cell, shared);
            let is_text = matches!(cell.content, Content::Text(_) | Content::Shared(_));
            let hash = self.hasher.hash_one((is_text, telling(shown)));
            let place = cell.column as usize;
            if self.columns.len() <= place {
                self.columns.resize_with(place + 1, Column::default);
            }
            let column = &mut self.columns[place];
            column.count += 1;
            column.tally(cell.content, shown);
            // Columns often say the same thing over and over.
            if column.last == Some(hash) {
                continue;
            }
            column.last = Some(hash);
            if self.distinct < MAX_DISTINCT {
                self.distinct += usize::from(column.distinct.insert(hash));
            } else if !column.distinct.contains(&hash) {
                column.more = true;
            }
            column.learn(cell.content, shown);
        }
    }

    fn answer(mut self, title: &str, max_bytes: usize) -> Vec<u8> {
        // A sheet of nothing but one row of text has no header, it has one row.
        if self.rows == 0 {
            for (place, text) in self.header.take().unwrap_or_default() {
                self.rows = 1;
                self.columns.resize_with(place as usize + 1, Column::default);
                let column = &mut self.columns[place as usize];
                (column.count, column.texts) = (1, 1);
                column.distinct.insert(0);
                column.learn_text(&text);
            }
        }
        let header = self.header.unwrap_or_default();
        let mut out = b"{\"sheet\":".to_vec();
        json::push_string(&mut out, title);
        out.extend_from_slice(b",\"rows\":");
        json::push_whole(&mut out, self.rows);
        out.extend_from_slice(b",\"columns\":[");
        let last = header.keys().next_back().map_or(0, |place| *place as usize + 1).max(self.columns.len());
        self.columns.resize_with(last, Column::default);
        let mut truncated = false;
        let mut number = 0;
        for (place, column) in (0u32..).zip(self.columns) {
            let name = header.get(&place);
            if column.count == 0 && name.is_none() {
                continue;
            }
            let value = column.answer(place, name).to_string();
            if out.len() + value.len() + 64 > max_bytes {
                truncated = true;
                break;
            }
            if number > 0 {
                out.push(b',');
            }
            out.extend_from_slice(value.as_bytes());
            number += 1;
        }
        out.extend_from_slice(if truncated { b"],\"truncated\":true}" } else { b"],\"truncated\":false}" });
        out
    }
}

/// The least or the greatest number of a column.
struct Extreme {
    number: f64,
    /// Its digits, where JSON readers would round it.
    text: Option<String>,
}

impl Extreme {
    /// Whole numbers without a point, as everywhere.
    fn into_value(self) -> Value {
        let number = self.number;
        match self.text {
            Some(text) => text.into(),
            None if number == number.trunc() && number.abs() < 9_007_199_254_740_992.0 => (number as i64).into(),
            None => number.into(),
        }
    }
}

/// What is remembered of one column.
#[derive(Default)]
struct Column {
    count: u64,
    whole: u64,
    numbers: u64,
    texts: u64,
    booleans: u64,
    errors: u64,
    dates: u64,
    date_times: u64,
    times: u64,
    durations: u64,
    distinct: HashSet<u64>,
    /// Whether more values differ than are told apart.
    more: bool,
    /// The value before, as its hash.
    last: Option<u64>,
    number_range: Option<(Extreme, Extreme)>,
    text_range: Option<(String, String)>,
    examples: Vec<Value>,
}

impl Column {
    /// Counts a value by its type.
    fn tally(&mut self, content: Content, shown: &str) {
        match content {
            Content::Empty => {}
            Content::Text(_) | Content::Shared(_) => self.texts += 1,
            Content::Number(_) | Content::Precise(_) => {
                self.numbers += 1;
                self.whole += u64::from(shown.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-'));
            }
            Content::Bool(_) => self.booleans += 1,
            Content::Error(_) => self.errors += 1,
            Content::Moment(Moment::Date, _) => self.dates += 1,
            Content::Moment(Moment::DateTime, _) => self.date_times += 1,
            Content::Moment(Moment::Time, _) => self.times += 1,
            Content::Moment(Moment::Duration, _) => self.durations += 1,
        }
    }

    /// Learns what a value adds to the column's range and examples.
    fn learn(&mut self, content: Content, shown: &str) {
        match content {
            Content::Empty => {}
            Content::Text(_) | Content::Shared(_) => self.learn_text(shown),
            Content::Number(_) | Content::Precise(_) => {
                self.learn_number(shown, matches!(content, Content::Precise(_)));
                self.example(|| match content {
                    Content::Number(_) => serde_json::from_str(shown).unwrap_or_default(),
                    _ => shown.into(),
                });
            }
            Content::Bool(value) => self.example(|| value.into()),
            Content::Error(_) | Content::Moment(Moment::Duration, _) => self.example(|| short(shown).into()),
            // ISO texts of one kind sort as what they mean.
            Content::Moment(..) => self.learn_text(shown),
        }
    }

    /// What is no number, or greater than any, has no place in a range.
    fn learn_number(&mut self, shown: &str, is_text: bool) {
        let Some(number) = shown.parse::<f64>().ok().filter(|number| number.is_finite()) else { return };
        let here = || Extreme { number, text: is_text.then(|| short(shown)) };
        match &mut self.number_range {
            None => self.number_range = Some((here(), here())),
            Some((least, _)) if number < least.number => *least = here(),
            Some((_, most)) if number > most.number => *most = here(),
            Some(_) => {}
        }
    }

    fn learn_text(&mut self, shown: &str) {
        match &mut self.text_range {
            None => self.text_range = Some((short(shown), short(shown))),
            Some((least, _)) if shown < least.as_str() => *least = short(shown),
            Some((_, most)) if shown > most.as_str() => *most = short(shown),
            Some(_) => {}
        }
        self.example(|| short(shown).into());
    }

    fn example(&mut self, value: impl FnOnce() -> Value) {
        if self.examples.len() < EXAMPLES {
            let value = value();
            if !self.examples.contains(&value) {
                self.examples.push(value);
            }
        }
    }

    fn answer(self, place: u32, name: Option<&String>) -> Value {
        let mut letters = String::new();
        push_column(&mut letters, place);
        let mut value = Map::new();
        value.insert("column".to_owned(), letters.into());
        if let Some(name) = name {
            value.insert("name".to_owned(), name.as_str().into());
        }
        let kind = self.kind();
        value.insert("type".to_owned(), kind.into());
        value.insert("count".to_owned(), self.count.into());
        value.insert("distinct".to_owned(), self.distinct.len().into());
        if self.more {
            value.insert("distinct_is_lower_bound".to_owned(), true.into());
        }
        let range = match kind {
            "integer" | "number" => self.number_range.map(|(least, most)| (least.into_value(), most.into_value())),
            "text" | "date" | "datetime" | "time" => {
                self.text_range.map(|(least, most)| (Value::from(least), Value::from(most)))
            }
            _ => None,
        };
        if let Some((least, most)) = range {
            value.insert("minimum".to_owned(), least);
            value.insert("maximum".to_owned(), most);
        }
        if self.errors > 0 {
            value.insert("errors".to_owned(), self.errors.into());
        }
        value.insert("examples".to_owned(), self.examples.into());
        value.into()
    }

    /// The one type that all values have, errors aside.
    fn kind(&self) -> &'static str {
        let sound = self.count - self.errors;
        match sound {
            0 if self.errors > 0 => "error",
            0 => "empty",
            _ if self.whole == sound => "integer",
            _ if self.numbers == sound => "number",
            _ if self.texts == sound => "text",
            _ if self.booleans == sound => "boolean",
            _ if self.dates == sound => "date",
            _ if self.times == sound => "time",
            _ if self.durations == sound => "duration",
            _ if self.dates + self.date_times == sound => "datetime",
            _ => "mixed",
        }
    }
}

/// What tells a text from others: of a long one its length and both its ends, so that a million cells may name it.
fn telling(text: &str) -> (usize, &[u8], &[u8]) {
    let bytes = text.as_bytes();
    let end = bytes.len().min(END);
    (bytes.len(), &bytes[..end], &bytes[bytes.len() - end..])
}

fn short(text: &str) -> String {
    text.chars().take(SHOWN).collect()
}
