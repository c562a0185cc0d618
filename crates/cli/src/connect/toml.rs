//! TOML, edited so that everything else stays as it is.
//!
//! Knows no client. A new table is written behind the rest of the text, so that nothing before it can move; what stands
//! in a table already is changed in place. Start at [`put`] and [`cut`].

use std::ops::Range;

use serde_json::{Map, Value};
use toml_edit::{Document, DocumentMut, Item, Table, TomlError};

use super::syntax::{Cut, Demand, Fault, Shape, with_blanks, with_mark_of, without_mark, without_ranges};

/// The value of a text; a date is its text.
pub(super) fn parse(text: &str) -> Result<Value, Fault> {
    Ok(table_value(open(without_mark(text))?.as_table()))
}

/// Refuses a text that does not meet the demands. TOML itself refuses equal keys.
pub(super) fn check(text: &str, demands: &[Demand]) -> Result<(), Fault> {
    let bare = without_mark(text);
    let document = open(bare)?;
    for demand in demands {
        let Some(item) = item_at(document.as_item(), &demand.at) else { continue };
        let fits = match demand.shape {
            Shape::Object => item.is_table_like(),
            Shape::ObjectOrText => item.is_table_like() || item.is_str(),
            Shape::Array => item.is_array(),
        };
        if !fits {
            let offset = item.span().map_or(0, |span| span.start);
            return Err(Fault::at(bare, offset, demand.message()));
        }
    }
    Ok(())
}

/// The text with this value at this place, and the tables that lead to it.
pub(super) fn put(text: &str, at: &[String], value: &Value) -> Result<String, Fault> {
    let bare = without_mark(text);
    let document = open(bare)?;
    let appended = appended(bare, document.as_item(), at, value).filter(|text| {
        // Where TOML does not let a header follow, the value goes into the table that is there.
        open(text).is_ok_and(|after| item_at(after.as_item(), at).is_some())
    });
    let edited = match appended {
        Some(text) => text,
        None => {
            let mut document: DocumentMut = bare.parse().map_err(|error| fault(bare, &error))?;
            set(document.as_item_mut(), at, value);
            document.to_string()
        }
    };
    Ok(with_mark_of(text, edited))
}

/// The text with one more element at the end of the array at this place.
pub(super) fn push(text: &str, at: &[String], element: &str) -> Result<String, Fault> {
    let bare = without_mark(text);
    if item_at(open(bare)?.as_item(), at).is_none() {
        return put(text, at, &Value::Array(vec![element.into()]));
    }
    let mut document: DocumentMut = bare.parse().map_err(|error| fault(bare, &error))?;
    let array = at.iter().try_fold(document.as_item_mut(), |item, key| item.get_mut(key)).and_then(Item::as_array_mut);
    if let Some(array) = array {
        array.push(element);
    }
    Ok(with_mark_of(text, document.to_string()))
}

/// The text without one thing; every comment stays. `None` when there is no such thing.
pub(super) fn cut(text: &str, what: Cut<'_>) -> Option<String> {
    let bare = without_mark(text);
    let document = open(bare).ok()?;
    let root = document.as_item();
    let cuts = match what {
        Cut::Member(at) => member_ranges(bare, root, at)?,
        Cut::Element(at, text) => {
            let array = item_at(root, at)?.as_array()?;
            let found = array.iter().find(|item| item.as_str() == Some(text))?;
            with_comma(bare, found.span()?)?
        }
        Cut::Empty(at) => {
            let item = item_at(root, at)?;
            let empty = match item {
                Item::Table(table) => table.is_empty(),
                Item::Value(value) => bare.get(value.span()?)?.chars().filter(|c| !c.is_whitespace()).count() == 2,
                _ => false,
            };
            if !empty {
                return None;
            }
            member_ranges(bare, root, at)?
        }
    };
    Some(with_mark_of(text, without_ranges(bare, cuts)?))
}

fn open(text: &str) -> Result<Document<&str>, Fault> {
    Document::parse(text).map_err(|error| fault(text, &error))
}

fn fault(text: &str, error: &TomlError) -> Fault {
    let mut message = error.message().lines().next().unwrap_or_default().to_owned();
    if let Some(first) = message.get_mut(..1) {
        first.make_ascii_lowercase();
    }
    Fault::at(text, error.span().map_or(0, |span| span.start), message)
}

fn item_at<'a>(root: &'a Item, at: &[String]) -> Option<&'a Item> {
    at.iter().try_fold(root, |item, key| item.as_table_like()?.get(key)).filter(|item| !item.is_none())
}

// Values.

fn table_value(table: &Table) -> Value {
    Value::Object(table.iter().map(|(key, item)| (key.to_owned(), item_value(item))).collect())
}

fn item_value(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => plain_value(value),
        Item::Table(table) => table_value(table),
        Item::ArrayOfTables(tables) => Value::Array(tables.iter().map(table_value).collect()),
    }
}

fn plain_value(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => text.value().as_str().into(),
        toml_edit::Value::Integer(number) => (*number.value()).into(),
        // JSON has no infinity; its text tells it from everything else.
        toml_edit::Value::Float(number) => serde_json::Number::from_f64(*number.value())
            .map_or_else(|| number.value().to_string().into(), Value::Number),
        toml_edit::Value::Boolean(flag) => (*flag.value()).into(),
        toml_edit::Value::Datetime(date) => date.value().to_string().into(),
        toml_edit::Value::Array(items) => Value::Array(items.iter().map(plain_value).collect()),
        toml_edit::Value::InlineTable(table) => {
            Value::Object(table.iter().map(|(key, value)| (key.to_owned(), plain_value(value))).collect())
        }
    }
}

/// A value as TOML writes it; what TOML cannot say is left out.
fn toml_value(value: &Value) -> Option<toml_edit::Value> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(flag) => (*flag).into(),
        Value::Number(number) => match number.as_i64() {
            Some(number) => number.into(),
            None => number.as_f64()?.into(),
        },
        Value::String(text) => text.as_str().into(),
        Value::Array(items) => items.iter().filter_map(toml_value).collect::<toml_edit::Array>().into(),
        Value::Object(map) => {
            let members = map.iter().filter_map(|(key, value)| Some((key.as_str(), toml_value(value)?)));
            members.collect::<toml_edit::InlineTable>().into()
        }
    })
}

// Writing.

/// The text with a table of its own at the end, where the value has none yet to go into.
fn appended(text: &str, root: &Item, at: &[String], value: &Value) -> Option<String> {
    let (last, parents) = at.split_last()?;
    if item_at(root, at).is_some() {
        return None;
    }
    let (header, members) = match value {
        Value::Object(map) => (at, map.clone()),
        value => (parents, Map::from_iter([(last.clone(), value.clone())])),
    };
    if header.is_empty() || item_at(root, header).is_some_and(|item| !item.as_table().is_some_and(Table::is_implicit)) {
        return None;
    }
    let key = |key: &str| toml_edit::Key::new(key).to_string();
    let header: Vec<String> = header.iter().map(|part| key(part)).collect();
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut lines = vec![format!("[{}]", header.join("."))];
    for (name, value) in &members {
        lines.push(format!("{} = {}", key(name), toml_value(value)?));
    }
    let mut whole = text.to_owned();
    if !whole.is_empty() {
        if !whole.ends_with('\n') {
            whole += newline;
        }
        whole += newline;
    }
    Some(whole + &lines.join(newline) + newline)
}

/// Sets a value within the tables that are there.
fn set(item: &mut Item, at: &[String], value: &Value) {
    let Some((key, rest)) = at.split_first() else {
        let Some(new) = toml_value(value) else { return };
        match item.as_value_mut() {
            Some(old) => {
                let decor = old.decor().clone();
                *old = new;
                *old.decor_mut() = decor;
            }
            None => *item = new.into(),
        }
        return;
    };
    let inline = item.is_inline_table();
    let Some(table) = item.as_table_like_mut() else { return };
    if rest.is_empty() && !table.contains_key(key) {
        if let Some(new) = toml_value(value) {
            table.insert(key, new.into());
        }
        return;
    }
    let next = table.entry(key).or_insert_with(|| {
        if inline {
            Item::Value(toml_edit::InlineTable::new().into())
        } else {
            let mut table = Table::new();
            table.set_implicit(true);
            table.set_dotted(true);
            Item::Table(table)
        }
    });
    set(next, rest, value);
}

// Cutting.

/// The ranges of a member and of all that belongs to it.
fn member_ranges(text: &str, root: &Item, at: &[String]) -> Option<Vec<Range<usize>>> {
    let (last, parents) = at.split_last()?;
    let parent = item_at(root, parents)?;
    let (key, item) = match parent {
        Item::Table(table) => table.get_key_value(last)?,
        Item::Value(toml_edit::Value::InlineTable(table)) => table.get_key_value(last)?,
        _ => return None,
    };
    if parent.is_inline_table() {
        return with_comma(text, key.span()?.start..item.span()?.end);
    }
    let mut ranges = Vec::new();
    collect(text, key, item, &mut ranges)?;
    Some(ranges)
}

fn collect(text: &str, key: &toml_edit::Key, item: &Item, ranges: &mut Vec<Range<usize>>) -> Option<()> {
    match item {
        Item::None => {}
        Item::Value(value) => {
            // A key of several parts is written before its last one; a member always has its line to itself.
            let start = line_start(text, key.span()?.start);
            ranges.push(with_blanks(text, start..value.span()?.end)?);
        }
        Item::Table(table) => collect_table(text, table, ranges)?,
        Item::ArrayOfTables(tables) => tables.iter().try_for_each(|table| collect_table(text, table, ranges))?,
    }
    Some(())
}

fn collect_table(text: &str, table: &Table, ranges: &mut Vec<Range<usize>>) -> Option<()> {
    if !table.is_implicit() && !table.is_dotted() {
        let header = with_blanks(text, table.span()?)?;
        ranges.push(with_line_before(text, header));
    }
    for (key, item) in table.iter() {
        collect(text, table.key(key)?, item, ranges)?;
    }
    Some(())
}

fn line_start(text: &str, offset: usize) -> usize {
    text.get(..offset).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1)
}

/// A header with the empty line that parts it from what stands before.
fn with_line_before(text: &str, header: Range<usize>) -> Range<usize> {
    let before = text.get(..header.start).unwrap_or_default();
    let start = ["\r\n", "\n"].into_iter().find_map(|newline| {
        let above = before.strip_suffix(newline)?;
        (above.is_empty() || above.ends_with('\n')).then_some(above.len())
    });
    start.unwrap_or(header.start)..header.end
}

/// A member or element of something on one line, with the comma that it no longer needs.
fn with_comma(text: &str, range: Range<usize>) -> Option<Vec<Range<usize>>> {
    let after = gap_end(text.get(range.end..)?);
    if text.get(range.end + after..)?.starts_with(',') {
        let comma = range.end + after;
        return Some(if after == blanks(text.get(range.end..)?) {
            vec![with_blanks(text, range.start..comma + 1)?]
        } else {
            vec![with_blanks(text, range)?, comma..comma + 1]
        });
    }
    let mut cuts = Vec::new();
    if let Some(comma) = comma_before(text, range.start) {
        cuts.push(comma..comma + 1);
    }
    cuts.push(with_blanks(text, range)?);
    Some(cuts)
}

/// How far blanks, line breaks and comments go.
fn gap_end(text: &str) -> usize {
    let mut at = 0;
    loop {
        let rest = text.get(at..).unwrap_or_default();
        let trimmed = rest.trim_start();
        at += rest.len() - trimmed.len();
        if !trimmed.starts_with('#') {
            return at;
        }
        at += trimmed.find('\n').unwrap_or(trimmed.len());
    }
}

fn blanks(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

/// The comma before a place, with nothing but blanks and comments between.
fn comma_before(text: &str, place: usize) -> Option<usize> {
    let candidates = text.get(..place)?.match_indices(',').map(|(at, _)| at);
    candidates.rev().find(|comma| text.get(comma + 1..place).is_some_and(|gap| gap_end(gap) == gap.len()))
}
