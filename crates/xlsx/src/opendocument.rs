//! `.ods`: sheets and rows out of the one part that holds them all.
//!
//! Owns the repetition by which such files stay small: a row or a cell may stand for a million, and only as many as
//! somebody reads are ever made. Start at [`Opendocument::open`].

use std::collections::HashSet;

use crate::error::Fault;
use crate::markup::{Scanner, Tag, Token};
use crate::package::Package;
use crate::reference::{Area, MAX_COLUMNS, MAX_ROWS, split_sheet};
use crate::row::{Content, Row};
use crate::workbook::{DefinedName, Listed, MAX_NAMES, MAX_SHEETS, Sheet, SheetKind};

/// How much text of one cell is read.
const MAX_TEXT: usize = 1 << 20;
/// How many styles that hide a sheet are remembered.
const MAX_STYLES: usize = 100_000;
/// How much repetition may make of one sheet, in bytes of cells and their text.
const MAX_REPEATED: u64 = 64 << 20;

/// An open workbook.
pub(crate) struct Opendocument {
    package: Package,
    extents: Vec<Option<Area>>,
    /// Where reading stands, so that reading one sheet after the other goes through the part once.
    cursor: Option<Cursor>,
}

impl Opendocument {
    pub(crate) fn open(package: Package) -> Result<(Opendocument, Listed), Fault> {
        refuse_encrypted(&package)?;
        let mut outline = Outline::default();
        outline.read(Cursor::new(&package)?)?;
        let book = Opendocument { package, extents: outline.extents, cursor: None };
        Ok((book, Listed { sheets: outline.sheets, names: outline.names, absent: Vec::new() }))
    }

    /// The rows of a sheet, in order.
    pub(crate) fn rows(&mut self, sheet: usize) -> Result<TableRows<'_>, Fault> {
        let started = self.cursor.take().filter(|cursor| cursor.tables <= sheet);
        let mut cursor = match started {
            Some(cursor) => cursor,
            None => Cursor::new(&self.package)?,
        };
        while cursor.tables <= sheet {
            if cursor.next_table()?.is_none() {
                return Err(Fault::damaged("a sheet went away"));
            }
        }
        Ok(TableRows::new(self.cursor.insert(cursor)))
    }

    /// The smallest area that holds every cell of a sheet that holds something.
    pub(crate) fn extent(&self, sheet: usize) -> Option<Area> {
        self.extents.get(sheet).copied().flatten()
    }
}

/// Whether a package that does not say so holds the content of an OpenDocument spreadsheet.
pub(crate) fn holds_sheets(package: &Package) -> Result<bool, Fault> {
    refuse_encrypted(package)?;
    let Some(part) = package.part("content.xml")? else { return Ok(false) };
    let mut scanner = Scanner::new(part)?;
    let mut in_body = false;
    loop {
        match scanner.next()? {
            Token::Open(tag) if in_body => return Ok(tag.name == b"spreadsheet"),
            Token::Open(tag) => in_body = tag.name == b"body",
            Token::End => return Ok(false),
            _ => {}
        }
    }
}

fn refuse_encrypted(package: &Package) -> Result<(), Fault> {
    let Some(part) = package.part("META-INF/manifest.xml")? else { return Ok(()) };
    let mut scanner = Scanner::new(part)?;
    loop {
        match scanner.next()? {
            Token::Open(tag) if tag.name == b"encryption-data" => return Err(Fault::Encrypted),
            Token::End => return Ok(()),
            _ => {}
        }
    }
}

/// What the part says of its sheets, their cells' values aside.
#[derive(Default)]
struct Outline {
    sheets: Vec<Sheet>,
    extents: Vec<Option<Area>>,
    names: Vec<DefinedName>,
}

impl Outline {
    fn read(&mut self, mut cursor: Cursor) -> Result<(), Fault> {
        while let Some(table) = cursor.next_table()? {
            let mut rows = TableRows::new(&mut cursor);
            let mut extent: Option<Area> = None;
            while let Some(area) = rows.next_area()? {
                extent = Some(extent.map_or(area, |whole| whole.with(area)));
            }
            let names = std::mem::take(&mut cursor.names);
            self.add_names(names, Some(self.sheets.len()));
            self.sheets.push(Sheet { title: table.title, kind: SheetKind::Worksheet, visible: table.visible });
            self.extents.push(extent);
            if self.sheets.len() > MAX_SHEETS || self.names.len() > MAX_NAMES {
                return Err(Fault::too_large(format!("it lists more than {MAX_SHEETS} sheets or {MAX_NAMES} names")));
            }
        }
        let names = std::mem::take(&mut cursor.names);
        self.add_names(names, None);
        Ok(())
    }

    fn add_names(&mut self, names: Vec<(String, String)>, sheet: Option<usize>) {
        for (name, address) in names {
            if let Some(refers_to) = reference(&address) {
                self.names.push(DefinedName { name, sheet, refers_to });
            }
        }
    }
}

/// `$Sheet1.$A$1:.$C$4` in the form that other workbooks use.
fn reference(address: &str) -> Option<String> {
    // A dot stands where others write an exclamation mark; a title in quotes may hold dots of its own.
    let address = address.trim_start_matches('$');
    let (title, rest) = match address.strip_prefix('\'') {
        Some(_) => split_sheet(&address.replacen("'.", "'!", 1)).map(|(title, rest)| (title, rest.to_owned()))?,
        None => address.split_once('.').map(|(title, rest)| (title.to_owned(), rest.to_owned()))?,
    };
    let rest = match rest.split_once(':') {
        Some((from, to)) => format!("{from}:{}", to.rsplit('.').next().unwrap_or(to)),
        None => rest,
    };
    Some(format!("'{}'!{rest}", title.replace('\'', "''")))
}

/// The part that holds everything, read from its beginning.
struct Cursor {
    scanner: Scanner,
    /// How many sheets have begun.
    tables: usize,
    /// How deep the content of the sheet that began last lies; 0 once it has ended.
    depth: u32,
    /// The styles under which a sheet is hidden.
    hiding: HashSet<Vec<u8>>,
    /// Names and what they mean, since somebody last took them.
    names: Vec<(String, String)>,
}

/// The head of a sheet.
struct Table {
    title: String,
    visible: bool,
}

impl Cursor {
    fn new(package: &Package) -> Result<Cursor, Fault> {
        let part = package.part("content.xml")?.ok_or_else(|| Fault::damaged("part `content.xml` is missing"))?;
        Ok(Cursor { scanner: Scanner::new(part)?, tables: 0, depth: 0, hiding: HashSet::new(), names: Vec::new() })
    }

    /// Goes into the next sheet; `None` when there is none.
    fn next_table(&mut self) -> Result<Option<Table>, Fault> {
        let mut style = Vec::new();
        loop {
            match self.scanner.next()? {
                Token::Open(tag) if tag.name == b"table" => {
                    let (closed, title) = (tag.closed, tag.text(b"name")?);
                    let hidden = tag.attribute(b"style-name").is_some_and(|style| self.hiding.contains(style));
                    // A table without a name, or named by a file, is what a link to another workbook last saw.
                    let title = title.filter(|title| !title.starts_with("'file:"));
                    let Some(title) = title.filter(|_| self.depth == 0) else {
                        if !closed {
                            self.scanner.skip()?;
                        }
                        continue;
                    };
                    self.tables += 1;
                    self.depth = if closed { 0 } else { self.scanner.depth() };
                    return Ok(Some(Table { title, visible: !hidden }));
                }
                Token::Open(tag) if tag.name == b"style" => {
                    style.clear();
                    style.extend_from_slice(tag.attribute(b"name").unwrap_or_default());
                }
                Token::Open(tag) if tag.name == b"table-properties" && tag.attribute(b"display") == Some(b"false") => {
                    self.hiding.insert(style.clone());
                    if self.hiding.len() > MAX_STYLES {
                        return Err(Fault::too_large(format!("it lists more than {MAX_STYLES} hidden styles")));
                    }
                }
                Token::Open(tag) if tag.name == b"tracked-changes" && !tag.closed => self.scanner.skip()?,
                Token::Open(tag) if tag.name == b"named-range" => {
                    if let (Some(name), Some(address)) = (tag.text(b"name")?, tag.text(b"cell-range-address")?) {
                        self.names.push((name, address));
                    }
                }
                Token::Close(_, open) if open < self.depth => {
                    self.depth = 0;
                }
                Token::End => return Ok(None),
                _ => {}
            }
        }
    }
}

/// The rows of one sheet.
pub(crate) struct TableRows<'a> {
    cursor: &'a mut Cursor,
    /// The number of the next row.
    row: u32,
    /// The row read last and how often it is still to be given.
    template: Row,
    left: u32,
    /// How much there is to look at in that row, and how much repetition has made so far.
    weight: u64,
    repeated: u64,
}

impl<'a> TableRows<'a> {
    fn new(cursor: &'a mut Cursor) -> TableRows<'a> {
        TableRows { cursor, row: 0, template: Row::default(), left: 0, weight: 0, repeated: 0 }
    }

    /// Reads the next row that holds something; `false` at the end.
    pub(crate) fn next(&mut self, row: &mut Row) -> Result<bool, Fault> {
        while self.left == 0 {
            match self.read_row(true)? {
                None => return Ok(false),
                Some(repeat) if self.template.cells.is_empty() => self.row = self.row.saturating_add(repeat),
                Some(repeat) => {
                    self.left = repeat;
                    self.weight = self.template.weight();
                }
            }
        }
        if self.row >= MAX_ROWS {
            return Ok(false);
        }
        // A row that stands once may be as large as the file; what repetition adds may not.
        if self.left > 1 {
            self.repeated = self.repeated.saturating_add(self.weight);
        }
        if self.repeated > MAX_REPEATED {
            let most = MAX_REPEATED >> 20;
            return Err(Fault::too_large(format!("repetition makes more than {most} MiB of one sheet")));
        }
        row.clone_from(&self.template);
        row.number = self.row;
        self.left -= 1;
        self.row += 1;
        Ok(true)
    }

    /// The area of the next row that holds something, with all its repetitions.
    fn next_area(&mut self) -> Result<Option<Area>, Fault> {
        loop {
            let Some(repeat) = self.read_row(false)? else { return Ok(None) };
            let first_row = self.row;
            self.row = self.row.saturating_add(repeat);
            let (Some(first), Some(last)) = (self.template.cells.first(), self.template.cells.last()) else { continue };
            if first_row >= MAX_ROWS {
                continue;
            }
            return Ok(Some(Area {
                first_row,
                first_column: first.column,
                last_row: self.row.min(MAX_ROWS) - 1,
                last_column: last.column,
            }));
        }
    }

    /// Reads a row into the template and says how often it stands there; `None` at the end of the sheet. Without
    /// `whole` only the first and the last of the cells that hold something are kept.
    fn read_row(&mut self, whole: bool) -> Result<Option<u32>, Fault> {
        if self.cursor.depth == 0 {
            return Ok(None);
        }
        loop {
            match self.cursor.scanner.next()? {
                Token::Open(tag) if tag.name == b"table-row" => {
                    let repeat = repeat(&tag, b"number-rows-repeated");
                    self.template.restart(0);
                    if !tag.closed {
                        self.read_cells(whole)?;
                    }
                    return Ok(Some(repeat));
                }
                Token::Open(tag) if tag.name == b"named-range" => {
                    if let (Some(name), Some(address)) = (tag.text(b"name")?, tag.text(b"cell-range-address")?) {
                        self.cursor.names.push((name, address));
                    }
                }
                // Drawings may hold tables of their own.
                Token::Open(tag) if matches!(tag.name, b"shapes" | b"forms") && !tag.closed => {
                    self.cursor.scanner.skip()?;
                }
                Token::Close(_, open) if open < self.cursor.depth => {
                    self.cursor.depth = 0;
                    return Ok(None);
                }
                Token::End => return Err(self.cursor.scanner.damaged("it ends inside a sheet")),
                _ => {}
            }
        }
    }

    fn read_cells(&mut self, whole: bool) -> Result<(), Fault> {
        let scanner = &mut self.cursor.scanner;
        let depth = scanner.depth();
        let mut column = 0u32;
        loop {
            match scanner.next()? {
                Token::Open(tag) if matches!(tag.name, b"table-cell" | b"covered-table-cell") => {
                    let repeat = repeat(&tag, b"number-columns-repeated");
                    let mut cell = Cell::read(&tag)?;
                    if !tag.closed {
                        cell.read_text(scanner)?;
                    }
                    let content = cell.content(&mut self.template);
                    let end = column.saturating_add(repeat);
                    if content != Content::Empty {
                        scanner.content();
                        let last = end.min(MAX_COLUMNS);
                        let every = if whole { 1 } else { (last.saturating_sub(column)).saturating_sub(1).max(1) };
                        for place in (column..last).step_by(every as usize) {
                            self.template.add_cell(place, content)?;
                        }
                    }
                    column = end;
                }
                Token::Open(tag) if !tag.closed => scanner.skip()?,
                Token::Close(_, open) if open < depth => {
                    return Ok(());
                }
                Token::End => return Err(scanner.damaged("it ends inside a row")),
                _ => {}
            }
        }
    }
}

fn repeat(tag: &Tag<'_>, name: &[u8]) -> u32 {
    let count = tag.attribute(name).and_then(|raw| std::str::from_utf8(raw).ok()).and_then(|text| text.parse().ok());
    count.unwrap_or(1).max(1)
}

/// A cell as its tag and its paragraphs tell it.
#[derive(Default)]
struct Cell {
    kind: Kind,
    value: Option<String>,
    text: String,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Kind {
    #[default]
    None,
    Number,
    Iso,
    Time,
    Bool,
    Text,
    Error,
}

impl Cell {
    fn read(tag: &Tag<'_>) -> Result<Cell, Fault> {
        let mut cell = Cell::default();
        for (name, value) in tag.attributes() {
            match name {
                // LibreOffice tells an error in a second attribute of this name.
                b"value-type" if cell.kind != Kind::Error => {
                    cell.kind = match value {
                        b"float" | b"percentage" | b"currency" => Kind::Number,
                        b"date" => Kind::Iso,
                        b"time" => Kind::Time,
                        b"boolean" => Kind::Bool,
                        b"string" => Kind::Text,
                        b"error" => Kind::Error,
                        _ => Kind::None,
                    }
                }
                b"value" | b"date-value" | b"time-value" | b"boolean-value" | b"string-value" => {
                    let mut text = String::new();
                    crate::markup::push_text(&mut text, value)?;
                    cell.value = Some(text);
                }
                _ => {}
            }
        }
        Ok(cell)
    }

    /// Reads the paragraphs up to the end of the cell, without notes and drawings.
    fn read_text(&mut self, scanner: &mut Scanner) -> Result<(), Fault> {
        let depth = scanner.depth();
        let mut paragraphs = 0u32;
        loop {
            match scanner.next()? {
                Token::Open(tag) if matches!(tag.name, b"p" | b"h") => {
                    if paragraphs > 0 {
                        self.text.push('\n');
                    }
                    paragraphs += 1;
                    if !tag.closed {
                        self.read_paragraph(scanner)?;
                    }
                }
                Token::Open(tag) if !tag.closed => scanner.skip()?,
                Token::Close(_, open) if open < depth => {
                    return Ok(());
                }
                Token::End => return Err(scanner.damaged("it ends inside a cell")),
                _ => {}
            }
            if self.text.len() > MAX_TEXT {
                return Err(Fault::too_large(format!("a cell holds a text of more than {} MiB", MAX_TEXT >> 20)));
            }
        }
    }

    fn read_paragraph(&mut self, scanner: &mut Scanner) -> Result<(), Fault> {
        let depth = scanner.depth();
        let start = self.text.len();
        let mut piece = String::new();
        loop {
            piece.clear();
            match scanner.next()? {
                Token::Text(raw) => crate::markup::push_text(&mut piece, raw)?,
                Token::Literal(raw) => crate::markup::push_literal(&mut piece, raw)?,
                Token::Open(tag) => match tag.name {
                    b"s" => {
                        let count = repeat(&tag, b"c") as usize;
                        self.text.extend(std::iter::repeat_n(' ', count.min(MAX_TEXT)));
                    }
                    b"tab" => self.text.push('\t'),
                    b"line-break" => self.text.push('\n'),
                    b"annotation" | b"note" | b"ruby-text" if !tag.closed => scanner.skip()?,
                    _ => {}
                },
                Token::Close(_, open) if open < depth => return Ok(()),
                Token::Close(..) => {}
                Token::End => return Err(scanner.damaged("it ends inside a text")),
            }
            // White space that is no element of its own counts once, and not at the beginning.
            for letter in piece.chars() {
                match letter {
                    ' ' | '\t' | '\n' | '\r' => {
                        if self.text.len() > start && !self.text.ends_with([' ', '\t', '\n']) {
                            self.text.push(' ');
                        }
                    }
                    letter => self.text.push(letter),
                }
            }
            if self.text.len() > MAX_TEXT {
                return Err(Fault::too_large(format!("a cell holds a text of more than {} MiB", MAX_TEXT >> 20)));
            }
        }
    }

    fn content(self, row: &mut Row) -> Content {
        let value = self.value.as_deref();
        match (self.kind, value) {
            (Kind::None, _) if self.text.is_empty() => Content::Empty,
            (Kind::Number, Some(digits)) => row.digits(digits),
            (Kind::Iso, Some(text)) => row.iso(text),
            (Kind::Time, Some(text)) => row.clock(text),
            (Kind::Bool, Some(text)) => Content::Bool(text.eq_ignore_ascii_case("true")),
            (Kind::Error, Some(text)) if self.text.is_empty() => Content::Error(row.add(text)),
            (Kind::Error, _) => Content::Error(row.add(&self.text)),
            (Kind::Text, Some(text)) => Content::Text(row.add(text)),
            _ => Content::Text(row.add(&self.text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_range_is_told_as_in_other_workbooks() {
        for (address, refers_to) in [
            ("$Sheet1.$A$1:.$C$4", "'Sheet1'!$A$1:$C$4"),
            ("$Sheet1.$A$1", "'Sheet1'!$A$1"),
            ("$'My. ''Sheet'.$A$1:$'My. ''Sheet'.$C$4", "'My. ''Sheet'!$A$1:$C$4"),
        ] {
            assert_eq!(reference(address).as_deref(), Some(refers_to), "{address}");
        }
        assert_eq!(reference("A1"), None);
    }
}
