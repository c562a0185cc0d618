//! One row of a sheet: its cells, typed, with their text in one buffer that the next row uses again.
//!
//! Owns what counts as blank and how a number becomes a literal that JSON carries exactly. Knows no file format.

use crate::error::Fault;
use crate::json;
use crate::reference::{Area, MAX_COLUMNS};
use crate::serial::{self, Clock, Epoch, Moment};

/// How much text the cells of one row may hold in their own right.
const MAX_ROW_TEXT: usize = 16 << 20;
/// How much of a sheet that is out of order is gathered to sort it, roughly in bytes.
const MAX_GATHERED: usize = 48 << 20;

/// A piece of [`Row::text`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    from: u32,
    to: u32,
}

/// Whether a text is nothing but white space, the separators of teleprinters among it, which only Unicode leaves out.
pub(crate) fn is_blank(text: &str) -> bool {
    text.chars().all(|letter| letter.is_whitespace() || matches!(letter, '\u{1c}'..='\u{1f}'))
}

/// What a cell holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// A cell that exists for its format alone.
    Empty,
    Text(Span),
    /// A text of the workbook's table of shared strings.
    Shared(u32),
    /// A JSON number.
    Number(Span),
    /// A number that JSON readers would round: its digits, given as text.
    Precise(Span),
    Bool(bool),
    Error(Span),
    Moment(Moment, Span),
}

impl Content {
    fn moved(self, shift: u32) -> Content {
        let moved = |span: Span| Span { from: span.from + shift, to: span.to + shift };
        match self {
            Content::Text(span) => Content::Text(moved(span)),
            Content::Number(span) => Content::Number(moved(span)),
            Content::Precise(span) => Content::Precise(moved(span)),
            Content::Error(span) => Content::Error(moved(span)),
            Content::Moment(moment, span) => Content::Moment(moment, moved(span)),
            Content::Empty | Content::Shared(_) | Content::Bool(_) => self,
        }
    }
}

/// A cell and its column, from 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    pub(crate) column: u32,
    pub(crate) content: Content,
}

/// The texts that [`Content::Shared`] points into.
pub(crate) trait Shared {
    /// The text with this number; empty when there is none.
    fn shared(&self, index: u32) -> &str;

    /// Whether that text is nothing but white space, known without looking at it: a million cells may name one long text.
    fn is_blank(&self, index: u32) -> bool;
}

/// A row whose cells stand in the order of their columns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    /// Its place in the sheet, from 0.
    pub(crate) number: u32,
    pub(crate) cells: Vec<Cell>,
    text: String,
}

impl Row {
    /// Empties the row for the next one.
    pub(crate) fn restart(&mut self, number: u32) {
        self.number = number;
        self.cells.clear();
        self.text.clear();
    }

    /// Adds a cell. A hostile sheet lists one place over and over, or fills a row with huge texts.
    pub(crate) fn add_cell(&mut self, column: u32, content: Content) -> Result<(), Fault> {
        if self.cells.len() >= 2 * MAX_COLUMNS as usize {
            return Err(Fault::damaged(format!("row {} lists more cells than a row has", self.number + 1)));
        }
        if self.text.len() > MAX_ROW_TEXT {
            let most = MAX_ROW_TEXT >> 20;
            return Err(Fault::too_large(format!("row {} holds more than {most} MiB of text", self.number + 1)));
        }
        self.cells.push(Cell { column, content });
        Ok(())
    }

    /// Adds the cells of a row of the same number behind the own ones.
    fn absorb(&mut self, other: &Row) {
        let shift = self.text.len() as u32;
        self.text.push_str(&other.text);
        self.cells
            .extend(other.cells.iter().map(|cell| Cell { column: cell.column, content: cell.content.moved(shift) }));
    }

    /// Where the next text will begin; [`Row::span_from`] closes it.
    pub(crate) fn text_mut(&mut self) -> (u32, &mut String) {
        (self.text.len() as u32, &mut self.text)
    }

    pub(crate) fn span_from(&self, from: u32) -> Span {
        Span { from, to: self.text.len() as u32 }
    }

    pub(crate) fn add(&mut self, text: &str) -> Span {
        let from = self.text.len() as u32;
        self.text.push_str(text);
        self.span_from(from)
    }

    /// A number as it stands in the file.
    pub(crate) fn digits(&mut self, digits: &str) -> Content {
        let from = self.text.len() as u32;
        match push_number(&mut self.text, digits) {
            Some(Exactness::Exact) => Content::Number(self.span_from(from)),
            Some(Exactness::Rounded) => Content::Precise(self.span_from(from)),
            None => Content::Text(self.add(digits)),
        }
    }

    /// A number as the machine has it.
    pub(crate) fn float(&mut self, number: f64) -> Content {
        let from = self.text.len() as u32;
        if number.is_finite() {
            push_float(&mut self.text, number);
            Content::Number(self.span_from(from))
        } else {
            self.text.push_str(&number.to_string());
            Content::Precise(self.span_from(from))
        }
    }

    /// A serial number under a format that shows dates or times; the number itself where no calendar has it.
    pub(crate) fn serial(&mut self, number: f64, clock: Clock, epoch: Epoch) -> Content {
        let from = self.text.len() as u32;
        match serial::push_moment(&mut self.text, number, clock, epoch) {
            Some(moment) => Content::Moment(moment, self.span_from(from)),
            None => self.float(number),
        }
    }

    /// A time of day or an amount of time that stands in the file as ISO 8601 duration.
    pub(crate) fn clock(&mut self, text: &str) -> Content {
        let from = self.text.len() as u32;
        match serial::push_clock(&mut self.text, text) {
            Some(moment) => Content::Moment(moment, self.span_from(from)),
            None => self.iso(text),
        }
    }

    /// A date, time or duration that stands in the file as ISO 8601 text.
    pub(crate) fn iso(&mut self, text: &str) -> Content {
        let moment = if text.trim_start_matches('-').starts_with('P') {
            Moment::Duration
        } else if text.contains('T') {
            Moment::DateTime
        } else if text.contains(':') {
            Moment::Time
        } else {
            Moment::Date
        };
        // Anything else than digits and the letters of ISO 8601 is no moment, whatever the file says of it.
        if !text.bytes().all(|byte| byte.is_ascii_digit() || b"-+:.,TZPYMWDHS".contains(&byte)) || text.is_empty() {
            return Content::Text(self.add(text));
        }
        let from = self.text.len() as u32;
        serial::push_iso(&mut self.text, text);
        Content::Moment(moment, self.span_from(from))
    }

    /// How much there is to look at in the row, roughly in bytes.
    pub(crate) fn weight(&self) -> u64 {
        let text = |cell: &Cell| match cell.content {
            Content::Text(span) | Content::Error(span) => u64::from(span.to - span.from),
            _ => 0,
        };
        self.cells.iter().map(|cell| size_of::<Cell>() as u64 + text(cell)).sum()
    }

    /// Puts the cells in the order of their columns; of two in one place the later stays.
    pub(crate) fn settle(&mut self) {
        if self.cells.windows(2).all(|pair| pair[0].column < pair[1].column) {
            return;
        }
        self.cells.reverse();
        self.cells.sort_by_key(|cell| cell.column);
        self.cells.dedup_by_key(|cell| cell.column);
    }

    /// Forgets the cells outside `columns` and those at the end that are blank. What is left is empty, or its last cell
    /// holds something.
    pub(crate) fn trim(&mut self, area: &Area, shared: &impl Shared) {
        if area.first_column > 0 || self.cells.last().is_some_and(|cell| cell.column > area.last_column) {
            self.cells.retain(|cell| (area.first_column..=area.last_column).contains(&cell.column));
        }
        while let Some(cell) = self.cells.last()
            && self.is_blank(cell, shared)
        {
            self.cells.pop();
        }
    }

    /// Whether a cell holds nothing but white space.
    pub(crate) fn is_blank(&self, cell: &Cell, shared: &impl Shared) -> bool {
        match cell.content {
            Content::Empty => true,
            Content::Text(_) => is_blank(self.show(cell, shared)),
            Content::Shared(index) => shared.is_blank(index),
            Content::Number(_) | Content::Precise(_) | Content::Bool(_) | Content::Error(_) | Content::Moment(..) => {
                false
            }
        }
    }

    /// The cell as text.
    pub(crate) fn show<'a>(&'a self, cell: &Cell, shared: &'a impl Shared) -> &'a str {
        match cell.content {
            Content::Empty => "",
            Content::Shared(index) => shared.shared(index),
            Content::Bool(true) => "true",
            Content::Bool(false) => "false",
            Content::Text(span)
            | Content::Number(span)
            | Content::Precise(span)
            | Content::Error(span)
            | Content::Moment(_, span) => &self.text[span.from as usize..span.to as usize],
        }
    }

    /// Appends the cell as a JSON value.
    pub(crate) fn push_json(&self, out: &mut Vec<u8>, cell: &Cell, shared: &impl Shared) {
        let text = self.show(cell, shared);
        match cell.content {
            Content::Number(_) | Content::Bool(_) => out.extend_from_slice(text.as_bytes()),
            Content::Moment(..) | Content::Precise(_) => {
                out.push(b'"');
                out.extend_from_slice(text.as_bytes());
                out.push(b'"');
            }
            Content::Empty | Content::Text(_) | Content::Shared(_) | Content::Error(_) => json::push_string(out, text),
        }
    }

    /// Appends the row as a JSON array from `first_column` on, `""` where there is no cell. Says how many of its
    /// numbers had to be given as text. Stops somewhere beyond `limit` bytes: one text may stand in every cell.
    pub(crate) fn push_array(&self, out: &mut Vec<u8>, first_column: u32, limit: usize, shared: &impl Shared) -> u64 {
        let mut column = first_column;
        let mut as_text = 0;
        let end = out.len().saturating_add(limit);
        out.push(b'[');
        for cell in &self.cells {
            if out.len() > end {
                break;
            }
            while column < cell.column {
                out.extend_from_slice(b"\"\",");
                column += 1;
            }
            self.push_json(out, cell, shared);
            as_text += u64::from(matches!(cell.content, Content::Precise(_)));
            out.push(b',');
            column += 1;
        }
        if out.last() == Some(&b',') {
            out.pop();
        }
        out.push(b']');
        as_text
    }
}

/// The rows of a sheet that is out of order, gathered to be sorted.
#[derive(Default)]
pub(crate) struct Gathered {
    rows: Vec<Row>,
    bytes: usize,
}

impl Gathered {
    pub(crate) fn add(&mut self, row: Row) -> Result<(), Fault> {
        self.bytes += std::mem::size_of::<Row>() + row.text.capacity() + row.cells.capacity() * size_of::<Cell>();
        self.rows.push(row);
        if self.bytes > MAX_GATHERED {
            let most = MAX_GATHERED >> 20;
            return Err(Fault::too_large(format!("its rows are out of order, and more than {most} MiB to sort")));
        }
        Ok(())
    }

    /// Puts the rows in order, last first; those of one number become one.
    pub(crate) fn sort(&mut self) {
        self.rows.sort_by_key(|row| row.number);
        let mut sorted: Vec<Row> = Vec::new();
        for row in self.rows.drain(..) {
            match sorted.last_mut() {
                Some(last) if last.number == row.number => last.absorb(&row),
                _ => sorted.push(row),
            }
        }
        for row in &mut sorted {
            row.settle();
        }
        sorted.reverse();
        self.rows = sorted;
    }

    /// Gives the next row; `false` when there is none.
    pub(crate) fn next(&mut self, row: &mut Row) -> bool {
        let next = self.rows.pop();
        let found = next.is_some();
        *row = next.unwrap_or_default();
        found
    }
}

/// Whether JSON readers see the very number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exactness {
    Exact,
    Rounded,
}

/// Appends the JSON literal of a stored number: a whole number without a point, anything else in its shortest form.
/// Whole numbers beyond 2^53 that a double does not hold are appended digit by digit, as are those too great for any
/// double. `None`, and nothing appended, when `digits` is no number.
fn push_number(out: &mut String, digits: &str) -> Option<Exactness> {
    let digits = digits.trim_matches([' ', '\t', '\r', '\n']);
    let unsigned = digits.strip_prefix(['-', '+']).unwrap_or(digits);
    let minus = digits.starts_with('-');
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let plain = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    // Up to fifteen digits without an exponent are the shortest form of their double already.
    if whole.len() + fraction.len() <= 15 && !whole.is_empty() && plain(whole) && plain(fraction) {
        let whole = match whole.trim_start_matches('0') {
            "" => "0",
            whole => whole,
        };
        let fraction = fraction.trim_end_matches('0');
        if minus && !(whole == "0" && fraction.is_empty()) {
            out.push('-');
        }
        out.push_str(whole);
        if !fraction.is_empty() {
            out.push('.');
            out.push_str(fraction);
        }
        return Some(Exactness::Exact);
    }
    // What Rust reads as a float beyond the forms of a spreadsheet: `inf`, `nan`, `infinity`.
    if unsigned.is_empty()
        || !unsigned.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'))
    {
        return None;
    }
    let number: f64 = digits.parse().ok()?;
    if !plain(unsigned) && number.is_finite() {
        push_float(out, number);
        return Some(Exactness::Exact);
    }
    let stored = unsigned.trim_start_matches('0');
    let exact = number.is_finite() && is_kept(stored, number);
    if minus {
        out.push('-');
    }
    match exact {
        // Beyond twenty digits a whole number reads better in its shortest form.
        true if stored.len() > 20 => push_float(out, number.abs()),
        _ => out.push_str(if stored.is_empty() { "0" } else { stored }),
    }
    Some(if exact { Exactness::Exact } else { Exactness::Rounded })
}

/// Whether a whole number survives the way through a double: digit by digit, or because it is the shortest form of that
/// double, written without an exponent as some writers do.
fn is_kept(stored: &str, number: f64) -> bool {
    let number = number.abs();
    if number < 3.4e38 && format!("{number:.0}") == stored {
        return true;
    }
    let shortest = format!("{number:e}");
    let digits: String = shortest.split('e').next().unwrap_or_default().replace('.', "");
    stored.trim_end_matches('0') == digits.trim_end_matches('0')
}

/// Appends a finite number in its shortest form, whole numbers without a point as long as a double holds each of them.
fn push_float(out: &mut String, number: f64) {
    use std::fmt::Write;
    if number == number.trunc() && number.abs() < 9_007_199_254_740_992.0 {
        let _ = write!(out, "{}", number as i64);
    } else {
        // `{:e}` never fails on a String and is JSON: `1e-7`, `1.2345678901234567e19`.
        let magnitude = number.abs();
        let _ = if (1e-5..1e16).contains(&magnitude) { write!(out, "{number}") } else { write!(out, "{number:e}") };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct NoneShared;
    impl Shared for NoneShared {
        fn shared(&self, _: u32) -> &str {
            ""
        }

        fn is_blank(&self, _: u32) -> bool {
            true
        }
    }

    fn literal(digits: &str) -> String {
        let mut row = Row::default();
        let content = row.digits(digits);
        let mut out = Vec::new();
        row.push_json(&mut out, &Cell { column: 0, content }, &NoneShared);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_number_keeps_its_value_and_whole_ones_have_no_point() {
        for (stored, shown) in [
            ("15", "15"),
            ("15.0", "15"),
            ("007", "7"),
            ("+7", "7"),
            (" 7 ", "7"),
            ("-0", "0"),
            ("-0.50", "-0.5"),
            ("0.1", "0.1"),
            ("0.10000000000000001", "0.1"),
            ("1.1000000000000001", "1.1"),
            ("1E3", "1000"),
            ("1.5E-7", "1.5e-7"),
            ("9007199254740993", "\"9007199254740993\""),
            ("9007199254740992", "9007199254740992"),
            ("-12345678901234567890", "\"-12345678901234567890\""),
            ("1.2345678901234567E+19", "1.2345678901234567e19"),
            ("9223372036854775808", "9223372036854775808"),
            ("99863129626938270000000", "9.986312962693827e22"),
            ("-99863129626938271234567", "\"-99863129626938271234567\""),
            ("0000000000000000000", "0"),
            ("1E400", "\"1E400\""),
            ("NaN", "\"NaN\""),
            ("12 apples", "\"12 apples\""),
            ("", "\"\""),
            (".5", "0.5"),
        ] {
            assert_eq!(literal(stored), shown, "{stored}");
        }
    }

    #[test]
    fn of_two_cells_in_one_place_the_later_stays() {
        let mut row = Row::default();
        for (column, text) in [(2, "c"), (0, "a"), (2, "d")] {
            let span = row.add(text);
            row.add_cell(column, Content::Text(span)).unwrap();
        }
        row.settle();
        let mut out = Vec::new();
        row.push_array(&mut out, 0, usize::MAX, &NoneShared);
        assert_eq!(out, br#"["a","","d"]"#);
    }

    #[test]
    fn trailing_blanks_go_and_inner_ones_stay() {
        let mut row = Row::default();
        for (column, text) in [(0, "a"), (1, " "), (3, "b"), (4, " \t")] {
            let span = row.add(text);
            row.add_cell(column, Content::Text(span)).unwrap();
        }
        row.add_cell(6, Content::Empty).unwrap();
        row.trim(&Area::ALL, &NoneShared);
        let mut out = Vec::new();
        row.push_array(&mut out, 0, usize::MAX, &NoneShared);
        assert_eq!(out, br#"["a"," ","","b"]"#);
    }
}
