//! What each action answers, through the public door, on workbooks written here.

use rust_xlsxwriter::{Format, Workbook};
use serde_json::json;
use std::path::Path;

use crate::{ok, run};

/// `Data`: a header and two rows, a gap, one more row; `Quiet`: hidden; `Empty`.
fn sample(folder: &Path) {
    let mut book = Workbook::new();
    let date = Format::new().set_num_format("yyyy-mm-dd");
    let sheet = book.add_worksheet().set_name("Data").unwrap();
    for (column, name) in ["name", "amount", "day"].iter().enumerate() {
        sheet.write(0, column as u16, *name).unwrap();
    }
    for (row, name, amount, day) in [(1, "Ann", 1.5, 44_197.0), (2, "Bob", 2.0, 44_198.0), (5, "Zoë", -3.25, 44_199.0)]
    {
        sheet.write(row, 0, name).unwrap();
        sheet.write(row, 1, amount).unwrap();
        sheet.write_with_format(row, 2, day, &date).unwrap();
    }
    sheet.write(3, 0, "   ").unwrap();
    book.add_worksheet().set_name("Quiet").unwrap().set_hidden(true).write(1, 1, true).unwrap();
    book.add_worksheet().set_name("Empty").unwrap();
    book.define_name("Amounts", "=Data!$B$2:$B$3").unwrap();
    book.save(folder.join("a.xlsx")).unwrap();
}

#[test]
fn sheets_are_listed_with_their_last_used_row_and_column() {
    let place = tempfile::tempdir().unwrap();
    sample(place.path());
    assert_eq!(
        ok(place.path(), "list-sheets", &["--path", "a.xlsx"]),
        json!({"path": "a.xlsx", "sheets": [
            {"title": "Data", "rows": 6, "columns": 3, "visible": true, "kind": "worksheet"},
            {"title": "Quiet", "rows": 2, "columns": 2, "visible": false, "kind": "worksheet"},
            {"title": "Empty", "rows": 0, "columns": 0, "visible": true, "kind": "worksheet"},
        ]})
    );
}

#[test]
fn rows_are_typed_and_blank_ones_are_left_out() {
    let place = tempfile::tempdir().unwrap();
    sample(place.path());
    assert_eq!(
        ok(place.path(), "read-sheet", &["--path", "a.xlsx"]),
        json!({"sheet": "Data", "rows": [
            ["name", "amount", "day"], ["Ann", 1.5, "2021-01-01"], ["Bob", 2, "2021-01-02"],
            ["Zoë", -3.25, "2021-01-03"],
        ], "truncated": false, "total_rows": 4})
    );
}

#[test]
fn records_are_keyed_by_the_header_and_keep_empty_keeps_the_places() {
    let place = tempfile::tempdir().unwrap();
    sample(place.path());
    let read = ok(place.path(), "read-sheet", &["--path", "a.xlsx", "--header", "--keep-empty", "--max-results", "3"]);
    assert_eq!(
        read,
        json!({"sheet": "Data", "rows": [
            {"name": "Ann", "amount": 1.5, "day": "2021-01-01"}, {"name": "Bob", "amount": 2, "day": "2021-01-02"}, {},
        ], "truncated": true, "next_offset": 3, "columns": ["name", "amount", "day"]})
    );
    let rest = ok(place.path(), "read-sheet", &["--path", "a.xlsx", "--header", "--keep-empty", "--offset", "3"]);
    assert_eq!(rest["rows"], json!([{}, {"name": "Zoë", "amount": -3.25, "day": "2021-01-03"}]));
    assert_eq!((&rest["truncated"], &rest["total_rows"]), (&json!(false), &json!(5)));
}

#[test]
fn truncated_is_true_only_when_another_row_holds_something() {
    let place = tempfile::tempdir().unwrap();
    sample(place.path());
    let read = |most: &str| ok(place.path(), "read-sheet", &["--path", "a.xlsx", "--max-results", most]);
    assert_eq!(read("3")["truncated"], true);
    assert_eq!(read("3")["next_offset"], 3);
    // Row 4 holds white space only, row 6 is the last.
    assert_eq!(read("4")["truncated"], false);
    assert_eq!(read("4")["total_rows"], 4);
    assert_eq!(read("0")["rows"], json!([]));
    assert_eq!(read("0")["truncated"], true);
}

#[test]
fn a_range_may_be_a_reference_or_a_defined_name() {
    let place = tempfile::tempdir().unwrap();
    sample(place.path());
    let rows = |range: &str| ok(place.path(), "read-sheet", &["--path", "a.xlsx", "--range", range])["rows"].clone();
    assert_eq!(rows("B2:C3"), json!([[1.5, "2021-01-01"], [2, "2021-01-02"]]));
    assert_eq!(rows("amounts"), json!([[1.5], [2]]));
    assert_eq!(rows("Quiet!A:B"), json!([["", true]]));
    assert_eq!(rows("B7:B9"), json!([]));
    let error = run(place.path(), "read-sheet", &["--path", "a.xlsx", "--range", "Amount"]).unwrap_err();
    assert_eq!((&error["error"], &error["nearest"]), (&json!("bad_range"), &json!(["Amounts"])));
    let error =
        run(place.path(), "read-sheet", &["--path", "a.xlsx", "--range", "Amounts", "--sheet", "Quiet"]).unwrap_err();
    assert_eq!((&error["error"], &error["sheet"]), (&json!("bad_range"), &json!("Quiet")));
}

#[test]
fn an_unknown_sheet_is_answered_with_those_that_exist() {
    let place = tempfile::tempdir().unwrap();
    sample(place.path());
    let error = run(place.path(), "read-sheet", &["--path", "a.xlsx", "--sheet", "Dat"]).unwrap_err();
    assert_eq!(
        error,
        json!({"error": "no_such_sheet", "message": "`a.xlsx` has no sheet `Dat`", "nearest": ["Data"],
               "sheets": ["Data", "Quiet", "Empty"]})
    );
}

#[test]
fn over_the_cap_reading_stops_by_itself_and_says_where_to_go_on() {
    let place = tempfile::tempdir().unwrap();
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    for row in 0..500 {
        sheet.write(row, 0, format!("{row:-<50}")).unwrap();
    }
    book.save(place.path().join("long.xlsx")).unwrap();
    let mut rows = Vec::new();
    let mut offset = 0;
    loop {
        let offset_text = offset.to_string();
        let args = ["--path", "long.xlsx", "--max-bytes", "8000", "--offset", &offset_text];
        let page = ok(place.path(), "read-sheet", &args);
        assert!(page.to_string().len() <= 8000);
        rows.extend(page["rows"].as_array().unwrap().clone());
        match page["next_offset"].as_u64() {
            Some(next) => offset = next,
            None => break,
        }
    }
    assert_eq!(rows.len(), 500);
    assert_eq!(rows[499][0], format!("{:-<50}", 499));
    let error = run(place.path(), "read-sheet", &["--path", "long.xlsx", "--max-bytes", "100"]).unwrap_err();
    assert_eq!(error["error"], "row_too_large");
}

#[test]
fn a_dump_shows_every_sheet_with_its_own_row_numbers() {
    let place = tempfile::tempdir().unwrap();
    sample(place.path());
    let dump = ok(place.path(), "dump", &["--path", "a.xlsx", "--max-results", "3"]);
    let text = dump["text"].as_str().unwrap();
    assert_eq!(
        text,
        "### FILE: a.xlsx\n### SHEETS: [\"Data\",\"Quiet\",\"Empty\"]\n\n\
         ===== SHEET: Data  (dims A1:C6) =====\nr1: name | amount | day\nr2: Ann | 1.5 | 2021-01-01\n\
         r3: Bob | 2 | 2021-01-02\n... [truncated at 3 non-empty rows]\n\n\
         ===== SHEET: Quiet  (dims B2:B2)  (hidden) =====\nr2:  | true\n\n\
         ===== SHEET: Empty  (dims A1:A1) =====\n(empty)\n"
    );
    assert_eq!(dump["characters"], text.chars().count());
}

#[test]
fn a_saved_dump_overwrites_nothing_unasked_and_keeps_the_old_file_when_asked() {
    let place = tempfile::tempdir().unwrap();
    sample(place.path());
    let save = |args: &[&str]| run(place.path(), "save-dump", &[&["--path", "a.xlsx", "--to", "o.txt"], args].concat());
    let saved = save(&[]).unwrap();
    let path = place.path().canonicalize().unwrap().join("o.txt");
    assert_eq!(saved["savedTo"], path.display().to_string());
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(saved["characters"], text.chars().count());
    assert!(text.contains("Zoë"));

    assert_eq!(save(&[]).unwrap_err()["error"], "file_exists");
    std::fs::write(&path, "precious").unwrap();
    let saved = save(&["--overwrite"]).unwrap();
    assert_eq!(std::fs::read_to_string(saved["backup"].as_str().unwrap()).unwrap(), "precious");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    // Nothing else is left behind.
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 3);
}

#[test]
fn a_dump_that_fails_leaves_no_file() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("bad.xlsx"), "not a workbook").unwrap();
    assert!(run(place.path(), "save-dump", &["--path", "bad.xlsx", "--to", "o.txt"]).is_err());
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1);
}

#[test]
fn search_finds_a_text_whatever_its_case_and_names_the_cell() {
    let place = tempfile::tempdir().unwrap();
    sample(place.path());
    assert_eq!(
        ok(place.path(), "search", &["--path", "a.xlsx", "--text", "zOË"]),
        json!({"text": "zOË", "truncated": false, "total": 1,
               "matches": [{"sheet": "Data", "cell": "A6", "row": 6, "value": "Zoë"}]})
    );
    let first = ok(place.path(), "search", &["--path", "a.xlsx", "--text", "2021", "--max-results", "2"]);
    assert_eq!((first["matches"].as_array().unwrap().len(), &first["truncated"]), (2, &json!(true)));
}

#[test]
fn describe_tells_type_range_and_examples_of_every_column() {
    let place = tempfile::tempdir().unwrap();
    sample(place.path());
    assert_eq!(
        ok(place.path(), "describe", &["--path", "a.xlsx"]),
        json!({"sheet": "Data", "rows": 3, "truncated": false, "columns": [
            {"column": "A", "name": "name", "type": "text", "count": 3, "distinct": 3, "minimum": "Ann",
             "maximum": "Zoë", "examples": ["Ann", "Bob", "Zoë"]},
            {"column": "B", "name": "amount", "type": "number", "count": 3, "distinct": 3, "minimum": -3.25,
             "maximum": 2, "examples": [1.5, 2, -3.25]},
            {"column": "C", "name": "day", "type": "date", "count": 3, "distinct": 3, "minimum": "2021-01-01",
             "maximum": "2021-01-03", "examples": ["2021-01-01", "2021-01-02", "2021-01-03"]},
        ]})
    );
}
