//! What was written is what is read, whatever was written; and calamine, which reads these files by other means, sees
//! the same.

use proptest::prelude::*;
use rust_xlsxwriter::{ExcelDateTime, Format, Formula, Workbook};
use serde_json::{Value, json};

use crate::archive::Archive;
use crate::mutation::parts;
use crate::{ok, rows};

/// A value to write, which knows how it must be read.
#[derive(Clone, Debug)]
enum Cell {
    Whole(i64),
    Number(f64),
    Bool(bool),
    Text(String),
    Formula(f64),
    TextFormula(String),
    Date(u16, u8, u8),
    DateTime(u16, u8, u8, u32),
    Time(u32),
    Duration(u32),
}

impl Cell {
    fn value(&self) -> Value {
        match self {
            Cell::Whole(number) => json!(number),
            Cell::Number(number) | Cell::Formula(number) => json!(number),
            Cell::Bool(value) => json!(value),
            Cell::Text(text) | Cell::TextFormula(text) => json!(text),
            Cell::Date(year, month, day) => json!(format!("{year:04}-{month:02}-{day:02}")),
            Cell::DateTime(year, month, day, millis) => {
                json!(format!("{year:04}-{month:02}-{day:02}T{}", clock(*millis)))
            }
            Cell::Time(millis) => json!(clock(*millis)),
            Cell::Duration(minutes) => {
                let (days, hours, minutes) = (minutes / 1440, minutes / 60 % 24, minutes % 60);
                let part = |number: u32, unit: char| if number > 0 { format!("{number}{unit}") } else { String::new() };
                let time = format!("{}{}", part(hours, 'H'), part(minutes, 'M'));
                let time = if time.is_empty() { String::new() } else { format!("T{time}") };
                json!(format!("P{}{time}", part(days, 'D')))
            }
        }
    }

    fn write(&self, sheet: &mut rust_xlsxwriter::Worksheet, row: u32, column: u16) {
        let format = |code: &str| Format::new().set_num_format(code);
        match self {
            Cell::Whole(number) => sheet.write(row, column, *number),
            Cell::Number(number) => sheet.write(row, column, *number),
            Cell::Bool(value) => sheet.write(row, column, *value),
            Cell::Text(text) => sheet.write(row, column, text),
            Cell::Formula(number) => sheet.write(row, column, Formula::new("=1+1").set_result(number.to_string())),
            Cell::TextFormula(text) => sheet.write(row, column, Formula::new("=A1&\"\"").set_result(text)),
            Cell::Date(year, month, day) => {
                let date = ExcelDateTime::from_ymd(*year, *month, *day).unwrap();
                sheet.write_with_format(row, column, &date, &format("dd\\.mm\\.yyyy"))
            }
            Cell::DateTime(year, month, day, millis) => {
                let date = ExcelDateTime::from_ymd(*year, *month, *day).unwrap();
                let date = date.and_hms_milli(hour(*millis), minute(*millis), second(*millis), milli(*millis)).unwrap();
                sheet.write_with_format(row, column, &date, &format("yyyy-mm-dd hh:mm:ss"))
            }
            Cell::Time(millis) => {
                let time =
                    ExcelDateTime::from_hms_milli(hour(*millis), minute(*millis), second(*millis), milli(*millis));
                sheet.write_with_format(row, column, time.unwrap(), &format("hh:mm:ss"))
            }
            Cell::Duration(minutes) => {
                sheet.write_with_format(row, column, f64::from(*minutes) / 1440.0, &format("[h]:mm"))
            }
        }
        .unwrap();
    }
}

fn hour(millis: u32) -> u16 {
    (millis / 3_600_000) as u16
}
fn minute(millis: u32) -> u8 {
    (millis / 60_000 % 60) as u8
}
fn second(millis: u32) -> u8 {
    (millis / 1000 % 60) as u8
}
fn milli(millis: u32) -> u16 {
    (millis % 1000) as u16
}

fn clock(millis: u32) -> String {
    let fraction = if milli(millis) > 0 { format!(".{:03}000", milli(millis)) } else { String::new() };
    format!("{:02}:{:02}:{:02}{fraction}", hour(millis), minute(millis), second(millis))
}

/// Text that XML can carry: what it cannot, the writer escapes in its own way.
fn text() -> impl Strategy<Value = String> {
    let letters = prop_oneof![
        Just('&'),
        Just('<'),
        Just('>'),
        Just('"'),
        Just('\''),
        Just(' '),
        Just('\n'),
        Just('_'),
        Just('x'),
        any::<char>().prop_filter("XML carries it", |letter| *letter >= ' '
            && !matches!(letter, '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}')),
    ];
    proptest::collection::vec(letters, 1..24)
        .prop_map(String::from_iter)
        .prop_filter("blank cells are left out", |text| !text.trim().is_empty())
}

fn cell() -> impl Strategy<Value = Cell> {
    let day = || (1900u16..=9999, 1u8..=12, 1u8..=28).prop_filter("day 0 is no date", |day| *day > (1900, 1, 1));
    let finite = || {
        any::<f64>().prop_filter("a workbook holds none else", |number| {
            number.is_finite() && number.abs() < 1e300 && (number.abs() > 1e-300 || *number == 0.0)
        })
    };
    prop_oneof![
        any::<i32>().prop_map(|number| Cell::Whole(i64::from(number))),
        finite().prop_map(Cell::Number),
        any::<bool>().prop_map(Cell::Bool),
        text().prop_map(Cell::Text),
        finite().prop_map(Cell::Formula),
        "[a-z]{1,8}".prop_map(Cell::TextFormula),
        day().prop_map(|(year, month, day)| Cell::Date(year, month, day)),
        (day(), 0u32..86_400_000).prop_map(|((year, month, day), millis)| Cell::DateTime(year, month, day, millis)),
        (1u32..86_400_000).prop_map(Cell::Time),
        (1u32..1_000_000).prop_map(Cell::Duration),
    ]
}

/// Cells by row and column; a place may be written twice, and then the later one stays.
fn cells() -> impl Strategy<Value = Vec<(u32, u16, Cell)>> {
    proptest::collection::vec((0u32..12, 0u16..8, cell()), 0..40)
}

/// What has to be read: the written cells, rows without any left out, gaps filled.
fn wanted(cells: &[(u32, u16, Cell)], from: (u32, u16), to: (u32, u16)) -> Value {
    let mut sheet = std::collections::BTreeMap::new();
    for (row, column, cell) in cells {
        sheet.insert((*row, *column), cell.value());
    }
    let mut rows = Vec::new();
    for row in from.0..=to.0 {
        let last = (from.1..=to.1).rev().find(|column| sheet.contains_key(&(row, *column)));
        let Some(last) = last else { continue };
        let value = |column| sheet.get(&(row, column)).cloned().unwrap_or(json!(""));
        rows.push((from.1..=last).map(value).collect::<Value>());
    }
    rows.into()
}

/// Numbers as doubles: how a whole one is written is told elsewhere.
fn plain(value: &Value) -> Value {
    match value {
        Value::Array(values) => values.iter().map(plain).collect(),
        Value::Number(number) => json!(number.as_f64()),
        other => other.clone(),
    }
}

fn write(path: &std::path::Path, cells: &[(u32, u16, Cell)], inline: bool) {
    let mut book = Workbook::new();
    if inline {
        // This mode writes texts into their cells, and wants rows in order.
        let sheet = book.add_worksheet_with_constant_memory().unwrap();
        let mut sorted: Vec<_> = cells.to_vec();
        sorted.sort_by_key(|(row, _, _)| *row);
        sorted.iter().for_each(|(row, column, cell)| cell.write(sheet, *row, *column));
    } else {
        let sheet = book.add_worksheet();
        cells.iter().for_each(|(row, column, cell)| cell.write(sheet, *row, *column));
    }
    book.save(path).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_was_written_is_what_is_read(cells in cells(), inline in any::<bool>()) {
        let place = tempfile::tempdir().unwrap();
        write(&place.path().join("a.xlsx"), &cells, inline);
        prop_assert_eq!(plain(&rows(place.path(), "a.xlsx")), plain(&wanted(&cells, (0, 0), (11, 7))));
    }

    #[test]
    fn how_a_cell_is_spelled_changes_nothing(cells in cells(), inline in any::<bool>()) {
        let place = tempfile::tempdir().unwrap();
        write(&place.path().join("a.xlsx"), &cells, inline);
        let mut respelled = Archive::default();
        for (name, content) in parts(&std::fs::read(place.path().join("a.xlsx")).unwrap()) {
            let text = String::from_utf8(content).unwrap();
            // Nothing of the usual spelling is left, which has a short way of its own.
            let text = text.replace("<c r=", "<c  r=").replace("<v>", "<v >").replace("<is><t>", "<is ><t>");
            respelled = respelled.part(&name, text);
        }
        respelled.save(place.path(), "b.xlsx");
        prop_assert_eq!(rows(place.path(), "a.xlsx"), rows(place.path(), "b.xlsx"));
    }

    #[test]
    fn a_range_gives_what_lies_in_it(cells in cells(), row in 0u32..6, column in 0u16..4, height in 0u32..6, width in 0u16..4) {
        let place = tempfile::tempdir().unwrap();
        write(&place.path().join("a.xlsx"), &cells, false);
        let (last_row, last_column) = (row + height, column + width);
        let letter = |column: u16| char::from(b'A' + column as u8);
        let range = format!("{}{}:{}{}", letter(last_column), row + 1, letter(column), last_row + 1);
        let read = ok(place.path(), "read-sheet", &["--path", "a.xlsx", "--range", &range]);
        prop_assert_eq!(plain(&read["rows"]), plain(&wanted(&cells, (row, column), (last_row, last_column))));
        prop_assert_eq!(&read["truncated"], &json!(false));
    }

    #[test]
    fn pages_put_together_are_the_whole(cells in cells(), most in 1u64..5, keep in any::<bool>()) {
        let place = tempfile::tempdir().unwrap();
        write(&place.path().join("a.xlsx"), &cells, true);
        let keep: &[&str] = if keep { &["--keep-empty"] } else { &[] };
        let whole = ok(place.path(), "read-sheet", &[&["--path", "a.xlsx"], keep].concat());
        let mut together = Vec::new();
        let mut offset = 0;
        loop {
            let (most, from) = (most.to_string(), offset.to_string());
            let args = [&["--path", "a.xlsx", "--max-results", &most, "--offset", &from], keep].concat();
            let page = ok(place.path(), "read-sheet", &args);
            let rows = page["rows"].as_array().unwrap();
            together.extend(rows.iter().cloned());
            prop_assert_eq!(page["truncated"] == true, page["next_offset"].is_u64());
            prop_assert_eq!(page["truncated"] == false, page["total_rows"].is_u64());
            match page["next_offset"].as_u64() {
                // Truncated means that another row exists, so the next page is never empty.
                Some(next) => {
                    prop_assert_eq!(next, offset + rows.len() as u64);
                    offset = next;
                }
                None => {
                    prop_assert_eq!(page["total_rows"].as_u64().unwrap() as usize, together.len());
                    break;
                }
            }
        }
        prop_assert_eq!(&Value::from(together), &whole["rows"]);
    }

    #[test]
    fn calamine_sees_the_same_cells(cells in cells()) {
        use calamine::{Data, Reader};
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a.xlsx");
        write(&path, &cells, false);
        let mut book: calamine::Xlsx<_> = calamine::open_workbook(&path).unwrap();
        let range = book.worksheet_range("Sheet1").unwrap();
        let ours = ok(place.path(), "read-sheet", &["--path", "a.xlsx", "--keep-empty"]);
        for (row, values) in ours["rows"].as_array().unwrap().iter().enumerate() {
            for column in 0..8 {
                let ours = &values[column];
                let same = match range.get_value((row as u32, column as u32)) {
                    None | Some(Data::Empty) => ours.is_null() || *ours == "",
                    Some(Data::String(text)) => ours == text,
                    Some(Data::Float(number)) => ours.as_f64() == Some(*number),
                    Some(Data::Int(number)) => ours.as_i64() == Some(*number),
                    Some(Data::Bool(value)) => ours == value,
                    Some(Data::DateTime(moment)) if moment.is_duration() => ours.as_str().unwrap().starts_with('P'),
                    Some(Data::DateTime(moment)) => {
                        let theirs = moment.as_datetime().unwrap().to_string().replace(' ', "T");
                        let ours = ours.as_str().unwrap();
                        theirs.contains(ours.trim_end_matches('0').trim_end_matches('.').trim_end_matches(':'))
                    }
                    Some(other) => panic!("{other:?}"),
                };
                prop_assert!(same, "row {row}, column {column}: {ours} and {:?}", range.get_value((row as u32, column as u32)));
            }
        }
    }

    #[test]
    fn describe_and_search_agree_with_the_rows(cells in cells()) {
        let place = tempfile::tempdir().unwrap();
        write(&place.path().join("a.xlsx"), &cells, false);
        let rows = rows(place.path(), "a.xlsx");
        let rows = rows.as_array().unwrap();
        let described = ok(place.path(), "describe", &["--path", "a.xlsx"]);
        let header = described["columns"].as_array().unwrap().iter().any(|column| column.get("name").is_some());
        prop_assert_eq!(described["rows"].as_u64().unwrap() as usize + usize::from(header), rows.len());
        for column in described["columns"].as_array().unwrap() {
            let at = usize::from(column["column"].as_str().unwrap().as_bytes()[0] - b'A');
            let held = rows.iter().skip(usize::from(header)).filter(|row| row.get(at).is_some_and(|value| *value != "")).count();
            prop_assert_eq!(column["count"].as_u64().unwrap() as usize, held);
            prop_assert!(column["distinct"].as_u64() <= column["count"].as_u64());
        }
        if let Some((_, _, Cell::Text(text))) = cells.last() {
            let found = ok(place.path(), "search", &["--path", "a.xlsx", &format!("--text={text}")]);
            prop_assert!(!found["matches"].as_array().unwrap().is_empty());
        }
    }
}
