//! `.ods` to the letter: content written by hand.

use serde_json::{Value, json};

use crate::archive::Archive;
use crate::mutation::parts;
use crate::sample::ods;
use crate::{ok, rows, run};

fn table(rows: &str) -> String {
    format!(r#"<table:table table:name="One" table:style-name="ta1">{rows}</table:table>"#)
}

fn read(table_rows: &str) -> Value {
    let place = tempfile::tempdir().unwrap();
    ods(&table(table_rows)).save(place.path(), "a.ods");
    rows(place.path(), "a.ods")
}

#[test]
fn every_type_of_cell_keeps_its_type_and_value() {
    let cells = r##"<table:table-row>
        <table:table-cell office:value-type="float" office:value="15"><text:p>15.00</text:p></table:table-cell>
        <table:table-cell office:value-type="percentage" office:value="0.5"><text:p>50%</text:p></table:table-cell>
        <table:table-cell office:value-type="boolean" office:boolean-value="true"><text:p>TRUE</text:p></table:table-cell>
        <table:table-cell office:value-type="date" office:date-value="2021-01-01"><text:p>x</text:p></table:table-cell>
        <table:table-cell office:value-type="date" office:date-value="2021-01-01T10:10:10.500000000"/>
        <table:table-cell office:value-type="time" office:time-value="PT10H10M10S"/>
        <table:table-cell office:value-type="time" office:time-value="PT255H10M10S"/>
        <table:table-cell office:value-type="string" office:string-value="" calcext:value-type="error"><text:p>#DIV/0!</text:p></table:table-cell>
        <table:table-cell office:value-type="string"><text:p>one</text:p><text:p>t<text:span>w</text:span>o<text:s text:c="3"/>three<text:tab/>4</text:p><office:annotation><text:p>note</text:p></office:annotation></table:table-cell>
        <table:table-cell office:value-type="string" office:string-value="whole"/>
    </table:table-row>"##;
    assert_eq!(
        read(cells),
        json!([[
            15,
            0.5,
            true,
            "2021-01-01",
            "2021-01-01T10:10:10.500000",
            "10:10:10",
            "P10DT15H10M10S",
            "#DIV/0!",
            "one\ntwo   three\t4",
            "whole"
        ]])
    );
}

#[test]
fn what_repeats_is_made_as_often_as_it_is_read() {
    let place = tempfile::tempdir().unwrap();
    let rows = r#"<table:table-row table:number-rows-repeated="2"><table:table-cell table:number-columns-repeated="2"/>
        <table:table-cell office:value-type="float" office:value="7" table:number-columns-repeated="2"/><table:table-cell table:number-columns-repeated="16380"/></table:table-row>
        <table:table-row table:number-rows-repeated="1000000"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>
        <table:table-row-group><table:table-row><table:table-cell office:value-type="float" office:value="8"/></table:table-row></table:table-row-group>"#;
    ods(&table(rows)).save(place.path(), "a.ods");
    let read = ok(place.path(), "read-sheet", &["--path", "a.ods"]);
    assert_eq!(read["rows"], json!([["", "", 7, 7], ["", "", 7, 7], [8]]));
    let sheet = ok(place.path(), "list-sheets", &["--path", "a.ods"])["sheets"][0].clone();
    assert_eq!((&sheet["rows"], &sheet["columns"]), (&json!(1_000_003), &json!(4)));
    let dump = ok(place.path(), "dump", &["--path", "a.ods"])["text"].clone();
    assert!(
        dump.as_str().unwrap().contains("(dims A1:D1000003) =====\nr1:  |  | 7 | 7\nr2:  |  | 7 | 7\nr1000003: 8\n")
    );
}

#[test]
fn a_sheet_that_repetition_fills_is_read_page_by_page_and_never_made_whole() {
    let place = tempfile::tempdir().unwrap();
    let rows = r#"<table:table-row table:number-rows-repeated="1048576"><table:table-cell office:value-type="float" office:value="7" table:number-columns-repeated="16384"/></table:table-row>"#;
    ods(&table(rows)).save(place.path(), "a.ods");
    let read = ok(place.path(), "read-sheet", &["--path", "a.ods", "--max-results", "2", "--range", "XFD5:XFD1048576"]);
    assert_eq!((&read["rows"], &read["truncated"]), (&json!([[7], [7]]), &json!(true)));
    let error = run(place.path(), "read-sheet", &["--path", "a.ods", "--range", "XFD:XFD"]).unwrap_err();
    assert_eq!(error["error"], "too_large");
}

#[test]
fn sheets_hidden_ones_and_named_ranges_are_found() {
    let place = tempfile::tempdir().unwrap();
    let cell = |value: u32| {
        format!(
            r#"<table:table-row><table:table-cell office:value-type="float" office:value="{value}"/></table:table-row>"#
        )
    };
    let tables = format!(
        r#"<table:tracked-changes><table:table table:name="gone"/></table:tracked-changes>
        <table:table table:name="A &amp; B" table:style-name="ta1"><table:shapes><table:table table:name="drawn"/></table:shapes>{}</table:table>
        <table:table table:name="Quiet" table:style-name="ta2">{}</table:table><table:table table:name="Empty"/>
        <table:table table:name="'file:///x.ods'#$S">{}</table:table>
        <table:named-expressions><table:named-range table:name="Spot" table:cell-range-address="$Quiet.$A$1"/></table:named-expressions>"#,
        cell(1),
        cell(2),
        cell(3)
    );
    ods(&tables).save(place.path(), "a.ods");
    assert_eq!(
        ok(place.path(), "list-sheets", &["--path", "a.ods"])["sheets"],
        json!([
            {"title": "A & B", "rows": 1, "columns": 1, "visible": true, "kind": "worksheet"},
            {"title": "Quiet", "rows": 1, "columns": 1, "visible": false, "kind": "worksheet"},
            {"title": "Empty", "rows": 0, "columns": 0, "visible": true, "kind": "worksheet"},
        ])
    );
    let read = |args: &[&str]| ok(place.path(), "read-sheet", &[&["--path", "a.ods"], args].concat())["rows"].clone();
    assert_eq!(read(&[]), json!([[1]]));
    assert_eq!(read(&["--range", "spot"]), json!([[2]]));
    assert_eq!(read(&["--sheet", "Empty"]), json!([]));
    let found = ok(place.path(), "search", &["--path", "a.ods", "--text", "2"]);
    assert_eq!(found["matches"], json!([{"sheet": "Quiet", "cell": "A1", "row": 1, "value": 2}]));
}

#[test]
fn one_that_does_not_say_what_it_is_is_known_by_its_content() {
    let place = tempfile::tempdir().unwrap();
    let cell = r#"<table:table-row><table:table-cell office:value-type="float" office:value="7"/></table:table-row>"#;
    let content = parts(&ods(&table(cell)).bytes()).into_iter().find(|(name, _)| name == "content.xml").unwrap().1;
    Archive::default().part("content.xml", &content).save(place.path(), "a.ods");
    assert_eq!(rows(place.path(), "a.ods"), json!([[7]]));
    let text = String::from_utf8(content).unwrap().replace("office:spreadsheet", "office:text");
    Archive::default().part("content.xml", text).save(place.path(), "b.odt");
    assert_eq!(run(place.path(), "list-sheets", &["--path", "b.odt"]).unwrap_err()["error"], "not_a_workbook");
}

#[test]
fn an_encrypted_one_is_told_so() {
    let place = tempfile::tempdir().unwrap();
    Archive::default()
        .part("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        .part("META-INF/manifest.xml", "<m:manifest><m:file-entry><m:encryption-data/></m:file-entry></m:manifest>")
        .part("content.xml", [1, 2, 3])
        .save(place.path(), "a.ods");
    assert_eq!(run(place.path(), "read-sheet", &["--path", "a.ods"]).unwrap_err()["error"], "encrypted");
}
