//! The cells of one sheet, row by row.
//!
//! Owns what `<c>` means. Trusts no order, no count and no dimension that the sheet claims.

use super::strings::{self, MAX_TEXT, Strings};
use crate::error::Fault;
use crate::markup::{Scanner, Tag, Token};
use crate::number_format::Styles;
use crate::reference::{Area, MAX_COLUMNS, MAX_ROWS, cell_name};
use crate::row::{Content, Gathered, Row, Shared};
use crate::serial::Epoch;

/// How far is looked behind the place where a reader stopped early, in bytes: less than a page costs.
const LOOK_AHEAD: u64 = 128 << 10;

/// The rows of a sheet, in order.
pub(crate) struct SheetRows<'a> {
    cells: Cells<'a>,
    strings: &'a mut Strings,
    /// The number of the row given last.
    last: Option<u32>,
    /// All rows, when the sheet is not in order.
    gathered: Option<Gathered>,
}

impl<'a> SheetRows<'a> {
    pub(super) fn new(
        scanner: Scanner,
        styles: &'a Styles,
        strings: &'a mut Strings,
        epoch: Epoch,
        gather: bool,
    ) -> Result<SheetRows<'a>, Fault> {
        let cells = Cells { places: Places::new(scanner)?, styles, epoch, value: String::new() };
        let mut rows = SheetRows { cells, strings, last: None, gathered: None };
        if gather {
            rows.gather()?;
        }
        Ok(rows)
    }

    /// Reads the next row that has cells; `false` at the end. [`Fault::OutOfOrder`] when it belongs before the last one.
    pub(crate) fn next(&mut self, row: &mut Row) -> Result<bool, Fault> {
        if let Some(gathered) = &mut self.gathered {
            return Ok(gathered.next(row));
        }
        if !self.cells.next_row(row, None)? {
            return Ok(false);
        }
        if self.last.is_some_and(|last| row.number <= last) {
            return Err(Fault::OutOfOrder);
        }
        self.last = Some(row.number);
        self.reach(row)?;
        Ok(true)
    }

    /// For a reader that stops before the end: whether a row that belongs before the last one comes yet, as far as
    /// [`LOOK_AHEAD`] reaches. What else may be wrong there is not the reader's concern.
    pub(crate) fn look_ahead(&mut self) -> Result<(), Fault> {
        if self.gathered.is_some() {
            return Ok(());
        }
        let places = &mut self.cells.places;
        let until = places.scanner.place().saturating_add(LOOK_AHEAD);
        let mut order = Order { closed: self.last, last: self.last };
        while let Ok(Some(step)) = places.next()
            && places.scanner.place() < until
        {
            if !order.holds(&step, places.row) {
                return Err(Fault::OutOfOrder);
            }
        }
        Ok(())
    }

    fn gather(&mut self) -> Result<(), Fault> {
        let mut gathered = Gathered::default();
        let mut row = Row::default();
        while self.cells.next_row(&mut row, Some(&mut gathered))? {
            self.reach(&row)?;
            gathered.add(std::mem::take(&mut row))?;
        }
        gathered.sort();
        self.gathered = Some(gathered);
        Ok(())
    }

    /// Reads the table of strings as far as the row needs it, so that whoever looks at the row need not.
    fn reach(&mut self, row: &Row) -> Result<(), Fault> {
        for cell in &row.cells {
            if let Content::Shared(index) = cell.content
                && !self.strings.reach(index)?
            {
                let (name, known) = (cell_name(row.number, cell.column), self.strings.len());
                return Err(Fault::damaged(format!("cell {name} names shared string {index} of {known}")));
            }
        }
        Ok(())
    }
}

impl Shared for SheetRows<'_> {
    fn shared(&self, index: u32) -> &str {
        self.strings.text(index)
    }

    fn is_blank(&self, index: u32) -> bool {
        self.strings.is_blank(index)
    }
}

/// The smallest area that holds every cell that the sheet lists, merged ones included, and whether its rows are in order.
pub(super) fn extent(scanner: Scanner) -> Result<(Option<Area>, bool), Fault> {
    let mut places = Places::new(scanner)?;
    let mut whole: Option<Area> = None;
    let mut ordered = true;
    let mut order = Order::default();
    let mut add = |area: Area| whole = Some(whole.map_or(area, |whole| whole.with(area)));
    while let Some(step) = places.next()? {
        ordered &= order.holds(&step, places.row);
        if let Step::Cell(place) = step {
            add(Area::cell(place.row, place.column));
        }
    }
    // What is merged stands behind the cells.
    loop {
        match places.scanner.next()? {
            Token::Open(tag) if tag.name == b"mergeCell" => {
                if let Some(area) = tag.text(b"ref")?.as_deref().and_then(Area::parse) {
                    add(area);
                }
            }
            Token::End => return Ok((whole, ordered)),
            _ => {}
        }
    }
}

/// How far the rows have come.
#[derive(Default)]
struct Order {
    /// The row of the last cell.
    last: Option<u32>,
    /// The last row that is closed: one that opens again is out of order as well.
    closed: Option<u32>,
}

impl Order {
    /// Whether the step stands where it belongs; `row` is the row that is open.
    fn holds(&mut self, step: &Step, row: u32) -> bool {
        match step {
            Step::Cell(place) => {
                self.last = Some(place.row);
                place.row == row && self.closed.is_none_or(|closed| place.row > closed)
            }
            Step::RowEnd => {
                self.closed = self.last;
                true
            }
        }
    }
}

/// The places of the cells: a sheet without its values.
struct Places {
    scanner: Scanner,
    /// The row that is open, or that the next one without a number is.
    row: u32,
    column: u32,
    /// How deep the rows lie.
    depth: u32,
    done: bool,
}

enum Step {
    /// A cell begins. Unless it is closed, its content is the scanner's next, or is skipped.
    Cell(Place),
    RowEnd,
}

#[derive(Clone, Copy)]
struct Place {
    row: u32,
    column: u32,
    style: u32,
    kind: Kind,
    closed: bool,
}

/// The `t` of a cell.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Number,
    Shared,
    Text,
    Inline,
    Bool,
    Error,
    Iso,
}

impl Places {
    /// Reads up to the rows.
    fn new(mut scanner: Scanner) -> Result<Places, Fault> {
        let mut root = None;
        loop {
            match scanner.next()? {
                Token::Open(tag) if tag.name == b"sheetData" => {
                    let done = tag.closed;
                    let depth = scanner.depth();
                    return Ok(Places { scanner, row: 0, column: 0, depth, done });
                }
                Token::Open(tag) if root.is_none() => root = Some(tag.name.to_vec()),
                Token::End => {
                    return match root.as_deref() {
                        // A sheet may lack its rows altogether.
                        Some(b"worksheet" | b"macrosheet" | b"dialogsheet" | b"chartsheet") => {
                            Ok(Places { scanner, row: 0, column: 0, depth: 0, done: true })
                        }
                        _ => Err(scanner.damaged("it is not a sheet")),
                    };
                }
                _ => {}
            }
        }
    }

    fn next(&mut self) -> Result<Option<Step>, Fault> {
        if self.done {
            return Ok(None);
        }
        loop {
            match self.scanner.next()? {
                Token::Open(tag) => match tag.name {
                    b"c" => {
                        let place = Place::read(&tag, self.row, self.column)?;
                        self.column = place.column + 1;
                        self.scanner.content();
                        return Ok(Some(Step::Cell(place)));
                    }
                    b"row" => {
                        let closed = tag.closed;
                        if let Some(number) = tag.attribute(b"r").and_then(whole_number) {
                            self.row = row_number(number)?;
                        }
                        self.column = 0;
                        if closed {
                            self.row = self.row.saturating_add(1);
                        }
                    }
                    _ => {}
                },
                Token::Close(b"row", _) => {
                    self.row = self.row.saturating_add(1);
                    return Ok(Some(Step::RowEnd));
                }
                Token::End => return Err(self.scanner.damaged("it ends inside its rows")),
                Token::Close(_, open) if open < self.depth => {
                    self.done = true;
                    return Ok(None);
                }
                Token::Close(..) | Token::Text(_) | Token::Literal(_) => {}
            }
        }
    }
}

impl Place {
    fn read(tag: &Tag<'_>, row: u32, column: u32) -> Result<Place, Fault> {
        let mut place = Place { row, column, style: 0, kind: Kind::Number, closed: tag.closed };
        for (name, value) in tag.attributes() {
            match name {
                b"r" => (place.row, place.column) = cell_place(value)?,
                b"s" => place.style = whole_number(value).unwrap_or(0),
                b"t" => place.kind = Kind::read(value),
                _ => {}
            }
        }
        place.check()?;
        Ok(place)
    }

    fn check(&self) -> Result<(), Fault> {
        if self.row >= MAX_ROWS || self.column >= MAX_COLUMNS {
            return Err(Fault::damaged("a cell lies beyond row 1048576 or column XFD"));
        }
        Ok(())
    }
}

impl Kind {
    fn read(value: &[u8]) -> Kind {
        match value {
            b"" | b"n" => Kind::Number,
            b"s" => Kind::Shared,
            b"inlineStr" | b"is" => Kind::Inline,
            b"b" => Kind::Bool,
            b"e" => Kind::Error,
            b"d" => Kind::Iso,
            _ => Kind::Text,
        }
    }
}

/// A cell in the spelling that nearly all writers use, taken to its pieces in one go:
/// `<c r="B7" s="1" t="s"><v>12</v></c>` and `<c r="B7" t="inlineStr"><is><t>text</t></is></c>`.
struct Usual<'a> {
    name: &'a [u8],
    style: &'a [u8],
    kind: &'a [u8],
    value: &'a [u8],
    in_line: bool,
    /// How long all of it is.
    len: usize,
}

impl<'a> Usual<'a> {
    /// `None` for any other spelling, and for values in which something is escaped or would have to be trimmed.
    fn read(window: &'a [u8]) -> Option<Usual<'a>> {
        let mut usual = Usual { name: b"", style: b"", kind: b"", value: b"", in_line: false, len: 0 };
        let mut rest = window.strip_prefix(b"<c ")?;
        loop {
            let (letter, after) = match rest {
                [letter @ (b'r' | b's' | b't'), b'=', b'"', after @ ..] => (*letter, after),
                _ => return None,
            };
            let end = after.iter().take(32).position(|&byte| byte == b'"')?;
            let value = &after[..end];
            match letter {
                b'r' => usual.name = value,
                b's' => usual.style = value,
                _ => usual.kind = value,
            }
            rest = &after[end + 1..];
            match rest.first()? {
                b' ' => rest = &rest[1..],
                b'>' => break,
                _ => return None,
            }
        }
        let (content, end): (_, &[u8]) = match rest.strip_prefix(b"><v>") {
            Some(content) => (content, b"</v></c>"),
            None => {
                usual.in_line = true;
                (rest.strip_prefix(b"><is><t>")?, b"</t></is></c>")
            }
        };
        let len = content.iter().position(|byte| matches!(byte, b'<' | b'&' | b'\r' | b'_'))?;
        usual.value = &content[..len];
        let after = content[len..].strip_prefix(end)?;
        let trimmed = [usual.value.first()?, usual.value.last()?].into_iter().all(|byte| !byte.is_ascii_whitespace());
        usual.len = window.len() - after.len();
        (trimmed && !usual.name.is_empty()).then_some(usual)
    }
}

/// `B7` to row and column.
fn cell_place(name: &[u8]) -> Result<(u32, u32), Fault> {
    let bad = || Fault::damaged(format!("`{}` is not the name of a cell", String::from_utf8_lossy(name)));
    let letters = name.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    if !(1..=3).contains(&letters) {
        return Err(bad());
    }
    let column = name[..letters].iter().fold(0, |sum, byte| sum * 26 + u32::from(byte.to_ascii_uppercase() - b'A') + 1);
    let row = whole_number(&name[letters..]).ok_or_else(bad)?;
    Ok((row_number(row)?, column - 1))
}

fn row_number(number: u32) -> Result<u32, Fault> {
    match number {
        1..=MAX_ROWS => Ok(number - 1),
        _ => Err(Fault::damaged(format!("it has a row {number}, and rows count from 1 to {MAX_ROWS}"))),
    }
}

/// A number of at most nine digits.
fn whole_number(digits: &[u8]) -> Option<u32> {
    let plain = (1..=9).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
    plain.then(|| digits.iter().fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0')))
}

/// The cells with their values.
struct Cells<'a> {
    places: Places,
    styles: &'a Styles,
    epoch: Epoch,
    /// The content of `<v>`.
    value: String,
}

impl Cells<'_> {
    /// Reads the cells up to the end of a row that has some; `false` when there is none. A cell that stands in a row and
    /// names another is a row of its own in `strays`; without them it is out of order.
    fn next_row(&mut self, row: &mut Row, mut strays: Option<&mut Gathered>) -> Result<bool, Fault> {
        row.restart(0);
        loop {
            if self.push_usual(row)? {
                continue;
            }
            let Some(step) = self.places.next()? else { break };
            match step {
                Step::RowEnd if row.cells.is_empty() => {}
                Step::RowEnd => break,
                Step::Cell(place) if row.cells.is_empty() || place.row == row.number => {
                    row.number = place.row;
                    self.push(place, row)?;
                }
                Step::Cell(place) => {
                    let Some(strays) = &mut strays else { return Err(Fault::OutOfOrder) };
                    let mut stray = Row::default();
                    stray.restart(place.row);
                    self.push(place, &mut stray)?;
                    strays.add(stray)?;
                }
            }
        }
        row.settle();
        Ok(!row.cells.is_empty())
    }

    /// The short way for what nearly every cell of a large sheet is; `false`, and nothing done, for anything else.
    fn push_usual(&mut self, row: &mut Row) -> Result<bool, Fault> {
        let Some(usual) = Usual::read(self.places.scanner.window()) else { return Ok(false) };
        let (number, column) = cell_place(usual.name)?;
        let kind = Kind::read(usual.kind);
        if (!row.cells.is_empty() && number != row.number) || usual.in_line != (kind == Kind::Inline) {
            return Ok(false);
        }
        let Ok(value) = std::str::from_utf8(usual.value) else { return Ok(false) };
        let place = Place { row: number, column, style: whole_number(usual.style).unwrap_or(0), kind, closed: false };
        place.check()?;
        row.number = number;
        let len = usual.len;
        let content = if usual.in_line {
            Content::Text(row.add(value))
        } else {
            self.value.clear();
            self.value.push_str(value);
            self.valued(place, row)?
        };
        self.places.column = column + 1;
        self.places.scanner.pass(len);
        self.places.scanner.content();
        row.add_cell(column, content)?;
        Ok(true)
    }

    fn push(&mut self, place: Place, row: &mut Row) -> Result<(), Fault> {
        let content = if place.closed { Content::Empty } else { self.content(place, row)? };
        row.add_cell(place.column, content)
    }

    fn content(&mut self, place: Place, row: &mut Row) -> Result<Content, Fault> {
        let scanner = &mut self.places.scanner;
        let depth = scanner.depth();
        let mut inline = Content::Empty;
        let mut valued = false;
        loop {
            match scanner.next()? {
                Token::Open(tag) if tag.closed => {}
                Token::Open(tag) => match tag.name {
                    b"v" => {
                        self.value.clear();
                        scanner.push_content(&mut self.value, MAX_TEXT)?;
                        valued = true;
                    }
                    b"is" => {
                        let (from, text) = row.text_mut();
                        strings::push_rich(scanner, text)?;
                        inline = Content::Text(row.span_from(from));
                    }
                    _ => scanner.skip()?,
                },
                Token::End => return Err(scanner.damaged("it ends inside a cell")),
                Token::Close(_, open) if open < depth => {
                    break;
                }
                Token::Close(..) | Token::Text(_) | Token::Literal(_) => {}
            }
        }
        match (place.kind, valued) {
            (Kind::Inline, _) => Ok(inline),
            (_, false) => Ok(inline),
            (_, true) => self.valued(place, row),
        }
    }

    fn valued(&mut self, place: Place, row: &mut Row) -> Result<Content, Fault> {
        let value = self.value.as_str();
        // A formula may result in an empty text; any other empty value is none.
        if value.is_empty() && place.kind != Kind::Text {
            return Ok(Content::Empty);
        }
        Ok(match place.kind {
            Kind::Number => match self.styles.clock(place.style as usize).zip(value.trim().parse().ok()) {
                Some((clock, serial)) => row.serial(serial, clock, self.epoch),
                None => row.digits(value),
            },
            Kind::Shared => match whole_number(value.trim().as_bytes()) {
                Some(index) => Content::Shared(index),
                None => {
                    let name = cell_name(place.row, place.column);
                    return Err(Fault::damaged(format!("cell {name} names shared string `{value}`")));
                }
            },
            Kind::Bool => match value.trim() {
                "1" | "true" | "TRUE" => Content::Bool(true),
                "0" | "false" | "FALSE" => Content::Bool(false),
                other => Content::Text(row.add(other)),
            },
            Kind::Error => Content::Error(row.add(value.trim())),
            Kind::Iso => row.iso(value.trim()),
            Kind::Text | Kind::Inline => {
                let (from, text) = row.text_mut();
                let start = text.len();
                text.push_str(value);
                strings::unescape(text, start);
                Content::Text(row.span_from(from))
            }
        })
    }
}
