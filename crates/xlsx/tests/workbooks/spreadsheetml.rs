//! `.xlsx` to the letter: parts written by hand, one sentence of the format at a time.

use serde_json::{Value, json};

use crate::archive::{Archive, sheet, skeleton, xlsx, xlsx_with};
use crate::{ok, rows, run};

/// The rows of a sheet whose rows are these.
fn read(cells: &str) -> Value {
    read_part(&sheet(cells))
}

fn read_part(part: &str) -> Value {
    let place = tempfile::tempdir().unwrap();
    xlsx(part).save(place.path(), "a.xlsx");
    rows(place.path(), "a.xlsx")
}

const STYLES: &str = r#"<styleSheet><numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy\-mm\-dd"/><numFmt numFmtId="165" formatCode="[h]:mm:ss"/></numFmts>
<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs count="5"><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="22"/><xf numFmtId="20"/><xf numFmtId="165"/></cellXfs></styleSheet>"#;

#[test]
fn every_type_of_cell_keeps_its_type_and_value() {
    let cells = r#"<row r="1">
        <c r="A1"><v>15</v></c><c r="B1" t="n"><v>-2.50</v></c><c r="C1" t="b"><v>1</v></c><c r="D1" t="b"><v>0</v></c>
        <c r="E1" t="e"><v>#DIV/0!</v></c><c r="F1" t="str"><f>A1&amp;"x"</f><v>15x</v></c>
        <c r="G1" t="inlineStr"><is><t>in line</t></is></c><c r="H1" t="d"><v>2021-01-01T10:10:10</v></c>
        <c r="I1"><f>1/3</f><v>0.33333333333333331</v></c><c r="J1"><f>NOW()</f></c><c r="K1" t="e"><v>#SPILL!</v></c>
    </row>"#;
    assert_eq!(
        read(cells),
        json!([[
            15,
            -2.5,
            true,
            false,
            "#DIV/0!",
            "15x",
            "in line",
            "2021-01-01T10:10:10",
            0.3333333333333333,
            "",
            "#SPILL!"
        ]])
    );
}

#[test]
fn numbers_under_a_date_format_are_dates_in_the_workbooks_own_system() {
    let cells = r#"<row r="1"><c r="A1" s="1"><v>44197</v></c><c r="B1" s="2"><v>44197</v></c><c r="C1" s="2"><v>44197.5</v></c>
        <c r="D1" s="3"><v>0.5</v></c><c r="E1" s="4"><v>10.632060185185186</v></c><c r="F1" s="1"><v>60</v></c>
        <c r="G1" s="1"><v>-1</v></c><c r="H1" s="1"><v>1</v></c><c r="I1" s="99"><v>44197</v></c></row>"#;
    let place = tempfile::tempdir().unwrap();
    xlsx(&sheet(cells)).part("xl/styles.xml", STYLES).save(place.path(), "1900.xlsx");
    assert_eq!(
        rows(place.path(), "1900.xlsx"),
        json!([[
            "2021-01-01",
            "2021-01-01T00:00:00",
            "2021-01-01T12:00:00",
            "12:00:00",
            "P10DT15H10M10S",
            "1900-02-28",
            -1,
            "1900-01-01",
            44197
        ]])
    );
    let cells = r#"<row r="1"><c r="A1" s="1"><v>42735</v></c><c r="B1" s="1"><v>0</v></c><c r="C1" s="3"><v>0.25</v></c></row>"#;
    xlsx_with(&sheet(cells), r#"<workbookPr date1904="1"/>"#)
        .part("xl/styles.xml", STYLES)
        .save(place.path(), "1904.xlsx");
    assert_eq!(rows(place.path(), "1904.xlsx"), json!([["2021-01-01", "1904-01-01", "06:00:00"]]));
}

#[test]
fn a_number_that_json_would_round_is_text_and_said_so() {
    let place = tempfile::tempdir().unwrap();
    let cells = r#"<row r="1"><c r="A1"><v>9007199254740993</v></c><c r="B1"><v>9007199254740992</v></c><c r="C1"><v>1E+400</v></c></row>"#;
    xlsx(&sheet(cells)).save(place.path(), "a.xlsx");
    let read = ok(place.path(), "read-sheet", &["--path", "a.xlsx"]);
    assert_eq!(read["rows"], json!([["9007199254740993", 9007199254740992u64, "1E+400"]]));
    assert_eq!(read["notes"].as_array().unwrap().len(), 1);
    assert!(read["notes"][0].as_str().unwrap().starts_with("2 numbers"));
}

#[test]
fn the_range_of_a_column_keeps_every_digit_and_leaves_out_what_is_no_number() {
    let place = tempfile::tempdir().unwrap();
    let rows: String =
        ["9007199254740993", "-2", "1E+400", "0.5"].map(|digits| format!("<row><c><v>{digits}</v></c></row>")).concat();
    xlsx(&sheet(&rows)).save(place.path(), "a.xlsx");
    let column = ok(place.path(), "describe", &["--path", "a.xlsx"])["columns"][0].clone();
    assert_eq!((&column["minimum"], &column["maximum"]), (&json!(-2), &json!("9007199254740993")));
    xlsx(&sheet("<row><c><v>1E+400</v></c></row>")).save(place.path(), "b.xlsx");
    let column = ok(place.path(), "describe", &["--path", "b.xlsx"])["columns"][0].clone();
    assert_eq!((&column["type"], column.get("maximum")), (&json!("number"), None));
}

#[test]
fn shared_strings_are_found_rich_ones_joined_and_pronunciations_left_out() {
    let strings = r#"<sst count="99999999" uniqueCount="99999999"><si><t>plain</t></si><si/><si><t xml:space="preserve"> kept </t></si>
        <si><r><rPr><b/></rPr><t>ri</t></r><r><t xml:space="preserve">ch </t></r><r><t>text</t></r></si>
        <si><t>課</t><rPh sb="0" eb="1"><t>カ</t></rPh><phoneticPr fontId="1"/></si><si><t>a&amp;b&#x1F600;<![CDATA[<c>&amp;]]></t></si></sst>"#;
    let cells = r#"<row r="1"><c r="A1" t="s"><v>5</v></c><c r="B1" t="s"><v>0</v></c><c r="C1" t="s"><v>1</v></c>
        <c r="D1" t="s"><v>2</v></c><c r="E1" t="s"><v>3</v></c><c r="F1" t="s"><v>4</v></c></row>"#;
    let place = tempfile::tempdir().unwrap();
    xlsx(&sheet(cells)).part("xl/sharedStrings.xml", strings).save(place.path(), "a.xlsx");
    assert_eq!(rows(place.path(), "a.xlsx"), json!([["a&b😀<c>&amp;", "plain", "", " kept ", "rich text", "課"]]));
}

#[test]
fn a_cell_that_names_no_string_is_told_by_its_name() {
    let place = tempfile::tempdir().unwrap();
    let strings = "<sst><si><t>only</t></si></sst>";
    xlsx(&sheet(r#"<row r="1"><c r="B1" t="s"><v>7</v></c></row>"#))
        .part("xl/sharedStrings.xml", strings)
        .save(place.path(), "a.xlsx");
    let error = run(place.path(), "read-sheet", &["--path", "a.xlsx"]).unwrap_err();
    assert_eq!((&error["error"], &error["sheet"]), (&json!("damaged"), &json!("One")));
    assert!(error["message"].as_str().unwrap().ends_with("cell B1 names shared string 7 of 1"), "{error}");
}

#[test]
fn a_page_needs_no_more_of_the_strings_than_its_rows_name() {
    // The table breaks off behind the strings of the first row; whoever reads that row alone never notices.
    let place = tempfile::tempdir().unwrap();
    let cells = r#"<row r="1"><c r="A1" t="s"><v>0</v></c></row><row r="2"><c r="A2"><v>1</v></c></row><row r="3"><c r="A3" t="s"><v>1</v></c></row>"#;
    xlsx(&sheet(cells)).part("xl/sharedStrings.xml", "<sst><si><t>one</t></si><si><t>tw").save(place.path(), "a.xlsx");
    let page = ok(place.path(), "read-sheet", &["--path", "a.xlsx", "--max-results", "1"]);
    assert_eq!((&page["rows"], &page["next_offset"]), (&json!([["one"]]), &json!(1)));
    assert_eq!(run(place.path(), "read-sheet", &["--path", "a.xlsx"]).unwrap_err()["error"], "damaged");
}

#[test]
fn cells_and_rows_without_a_place_follow_one_another() {
    assert_eq!(
        read(
            r#"<row><c><v>1</v></c><c><v>2</v></c></row><row><c r="C2"><v>3</v></c><c><v>4</v></c></row><row r="9"/><row><c><v>5</v></c></row>"#
        ),
        json!([[1, 2], ["", "", 3, 4], [5]])
    );
    let place = tempfile::tempdir().unwrap();
    xlsx(&sheet(r#"<row r="9"/><row><c><v>5</v></c></row>"#)).save(place.path(), "a.xlsx");
    let dump = ok(place.path(), "dump", &["--path", "a.xlsx"])["text"].clone();
    assert!(dump.as_str().unwrap().contains("(dims A10:A10) =====\nr10: 5\n"), "{dump}");
}

#[test]
fn rows_and_cells_out_of_order_are_put_in_order() {
    let cells = r#"<row r="5"><c r="B5"><v>52</v></c><c r="A5"><v>51</v></c></row><row r="2"><c r="A2"><v>21</v></c></row>
        <row r="5"><c r="C5"><v>53</v></c></row><row r="7"><c r="A7"><v>71</v></c><c r="B3"><v>32</v></c></row>"#;
    assert_eq!(read(cells), json!([[21], ["", 32], [51, 52, 53], [71]]));
    let place = tempfile::tempdir().unwrap();
    xlsx(&sheet(cells)).save(place.path(), "a.xlsx");
    for (action, args, wanted) in [
        ("search", &["--text", "5"][..], "\"total\":3"),
        ("describe", &[][..], "\"rows\":4"),
        ("dump", &[][..], "r2: 21\\nr3:  | 32\\nr5: 51 | 52 | 53\\nr7: 71\\n"),
    ] {
        let answer = ok(place.path(), action, &[&["--path", "a.xlsx"], args].concat()).to_string();
        assert!(answer.contains(wanted), "{action}: {answer}");
    }
}

#[test]
fn whoever_stops_early_gets_the_first_rows_of_a_sheet_that_is_out_of_order() {
    let place = tempfile::tempdir().unwrap();
    let row = |number: u32| format!(r#"<row r="{number}"><c r="A{number}"><v>{number}0</v></c></row>"#);
    let stray = r#"<row r="9"><c r="A9"><v>90</v></c><c r="A1"><v>10</v></c></row>"#;
    for cells in [[5, 7, 9, 1].map(row).concat(), [row(5), row(7), stray.to_owned()].concat()] {
        xlsx(&sheet(&cells)).save(place.path(), "a.xlsx");
        let read = |args: &[&str]| ok(place.path(), "read-sheet", &[&["--path", "a.xlsx"], args].concat());
        for (offset, row) in ["0", "1", "2", "3"].into_iter().zip([10, 50, 70, 90]) {
            let page = read(&["--max-results", "1", "--offset", offset]);
            assert_eq!(page["rows"], json!([[row]]), "{offset} of {cells}");
            assert_eq!(page["truncated"], row != 90);
        }
        let found = ok(place.path(), "search", &["--path", "a.xlsx", "--text", "0", "--max-results", "1"]);
        assert_eq!((&found["matches"][0]["cell"], &found["truncated"]), (&json!("A1"), &json!(true)));
        // The row behind a range is where reading it ends.
        assert_eq!(read(&["--range", "A1:A5"])["rows"], json!([[10], [50]]));
    }
    // A page costs a page: what lies far behind it is not looked at, and what is broken there is not told.
    xlsx(&sheet(&[row(5), row(7), "<row><c><v>".to_owned()].concat())).save(place.path(), "b.xlsx");
    assert_eq!(ok(place.path(), "read-sheet", &["--path", "b.xlsx", "--max-results", "1"])["rows"], json!([[50]]));
}

#[test]
fn a_row_that_stands_twice_is_one_row() {
    let place = tempfile::tempdir().unwrap();
    let cells = r#"<row r="1"><c r="A1"><v>1</v></c></row><row r="1"><c r="B1"><v>2</v></c></row><row r="2"/><row r="2"><c r="A2"><v>3</v></c></row>"#;
    xlsx(&sheet(cells)).save(place.path(), "a.xlsx");
    assert_eq!(rows(place.path(), "a.xlsx"), json!([[1, 2], [3]]));
    let dump = ok(place.path(), "dump", &["--path", "a.xlsx"])["text"].clone();
    assert!(dump.as_str().unwrap().ends_with("(dims A1:B2) =====\nr1: 1 | 2\nr2: 3\n"), "{dump}");
}

#[test]
fn prefixes_comments_instructions_and_other_encodings_make_no_difference() {
    let plain = sheet(r#"<row r="1"><c r="A1" t="inlineStr"><is><t>Zoë &lt;日本&gt;</t></is></c></row>"#);
    let wanted = json!([["Zoë <日本>"]]);
    assert_eq!(read_part(&plain), wanted);
    let prefixed = plain.replace("</", "\u{1}").replace('<', "<x:").replace('\u{1}', "</x:");
    assert_eq!(read_part(&format!("<?xml version='1.0'?><!-- a > b --><?p <x?>{prefixed}<!-- end -->")), wanted);
    assert_eq!(read_part(&format!("\u{feff}{plain}")), wanted);
    let place = tempfile::tempdir().unwrap();
    let utf16: Vec<u8> = format!("\u{feff}{plain}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    skeleton("").part("xl/worksheets/sheet1.xml", utf16).save(place.path(), "utf16.xlsx");
    assert_eq!(rows(place.path(), "utf16.xlsx"), wanted);
    let latin = plain.replace("日本", "&#26085;&#26412;").replace('ë', "\u{1}");
    let latin: Vec<u8> = format!(r#"<?xml version="1.0" encoding="ISO-8859-1"?>{latin}"#)
        .bytes()
        .map(|byte| if byte == 1 { 0xEB } else { byte })
        .collect();
    skeleton("").part("xl/worksheets/sheet1.xml", latin).save(place.path(), "latin.xlsx");
    assert_eq!(rows(place.path(), "latin.xlsx"), wanted);
}

#[test]
fn a_text_longer_than_any_buffer_comes_whole() {
    let text: String = (0..40_000).map(|at| format!("日{at}&amp;\r\n")).collect();
    let wanted = text.replace("&amp;", "&").replace("\r\n", "\n");
    let cell = format!(r#"<row r="1"><c r="A1" t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c></row>"#);
    assert_eq!(read(&cell), json!([[wanted]]));
    let cell = format!(
        r#"<row r="1"><c r="A1" t="inlineStr"><is><t xml:space="preserve"><![CDATA[{wanted}]]></t></is></c></row>"#
    );
    assert_eq!(read(&cell), json!([[wanted]]));
}

#[test]
fn merged_cells_hold_their_value_once_and_count_as_used() {
    let place = tempfile::tempdir().unwrap();
    let part = r#"<worksheet><sheetData><row r="1"><c r="A1"><v>1</v></c></row></sheetData><mergeCells><mergeCell ref="A1:C4"/></mergeCells></worksheet>"#;
    xlsx(part).save(place.path(), "a.xlsx");
    let sheet = ok(place.path(), "list-sheets", &["--path", "a.xlsx"])["sheets"][0].clone();
    assert_eq!((&sheet["rows"], &sheet["columns"]), (&json!(4), &json!(3)));
    assert_eq!(rows(place.path(), "a.xlsx"), json!([[1]]));
}

#[test]
fn the_last_cell_of_the_largest_sheet_is_read() {
    let place = tempfile::tempdir().unwrap();
    xlsx(&sheet(r#"<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>"#)).save(place.path(), "a.xlsx");
    let read = ok(place.path(), "read-sheet", &["--path", "a.xlsx", "--range", "XFC1048576:XFD1048576"]);
    assert_eq!(read["rows"], json!([["", 1]]));
    let read = ok(place.path(), "read-sheet", &["--path", "a.xlsx"]);
    assert_eq!(read["rows"][0].as_array().unwrap().len(), 16_384);
    for beyond in ["XFE1", "A1048577", "A0", "1", "AAAA1"] {
        xlsx(&sheet(&format!(r#"<row r="1"><c r="{beyond}"><v>1</v></c></row>"#))).save(place.path(), "b.xlsx");
        assert_eq!(run(place.path(), "read-sheet", &["--path", "b.xlsx"]).unwrap_err()["error"], "damaged", "{beyond}");
    }
}

#[test]
fn names_of_a_sheet_come_before_those_of_the_workbook() {
    let place = tempfile::tempdir().unwrap();
    let names = r#"<definedNames><definedName name="Here">One!$A$1</definedName><definedName name="Here" localSheetId="0">One!$A$2</definedName>
        <definedName name="Formula">OFFSET(One!$A$1,0,0)</definedName><definedName name="Both">One!$A$1,One!$A$3</definedName></definedNames>"#;
    xlsx_with(&sheet(r#"<row r="1"><c r="A1"><v>1</v></c></row><row r="2"><c r="A2"><v>2</v></c></row>"#), names)
        .save(place.path(), "a.xlsx");
    let read = |args: &[&str]| run(place.path(), "read-sheet", &[&["--path", "a.xlsx"], args].concat());
    assert_eq!(read(&["--range", "Here"]).unwrap()["rows"], json!([[1]]));
    assert_eq!(read(&["--range", "here", "--sheet", "One"]).unwrap()["rows"], json!([[2]]));
    for name in ["Formula", "Both", "Nowhere", "One!", "A1:B"] {
        assert_eq!(read(&["--range", name]).unwrap_err()["error"], "bad_range", "{name}");
    }
}

#[test]
fn a_sheet_without_its_part_is_told_and_the_others_are_read() {
    let place = tempfile::tempdir().unwrap();
    let listed = r#"<sheets><sheet name="Gone" sheetId="7" r:id="none"/><sheet name="Bare" sheetId="8"/></sheets>
        <definedNames><definedName name="Of_one" localSheetId="2">One!$A$1</definedName><definedName name="Of_gone" localSheetId="0">One!$A$1</definedName></definedNames>"#;
    xlsx_with(&sheet(r#"<row r="1"><c r="A1"><v>1</v></c></row>"#), listed).save(place.path(), "a.xlsx");
    let sheets = ok(place.path(), "list-sheets", &["--path", "a.xlsx"])["sheets"].clone();
    assert_eq!(sheets, json!([{"title": "One", "rows": 1, "columns": 1, "visible": true, "kind": "worksheet"}]));
    assert_eq!(rows(place.path(), "a.xlsx"), json!([[1]]));
    let read = |args: &[&str]| run(place.path(), "read-sheet", &[&["--path", "a.xlsx"], args].concat());
    let error = read(&["--sheet", "Gone"]).unwrap_err();
    assert_eq!(
        (&error["error"], &error["sheet"], &error["sheets"]),
        (&json!("damaged"), &json!("Gone"), &json!(["One"]))
    );
    // A name that holds on one sheet alone counts the sheets that are listed.
    assert_eq!(read(&["--range", "Of_one", "--sheet", "One"]).unwrap()["rows"], json!([[1]]));
    assert_eq!(read(&["--range", "Of_gone"]).unwrap_err()["error"], "bad_range");
    // Where no sheet has a part, nothing is left to read.
    skeleton("").save(place.path(), "b.xlsx");
    let error = run(place.path(), "list-sheets", &["--path", "b.xlsx"]).unwrap_err();
    assert_eq!(error["error"], "damaged");
    assert!(error["message"].as_str().unwrap().contains("lists sheets"), "{error}");
}

#[test]
fn parts_are_found_whatever_the_case_and_the_slashes_of_their_names() {
    let place = tempfile::tempdir().unwrap();
    let part = sheet(r#"<row r="1"><c r="A1" t="s"><v>0</v></c></row>"#);
    skeleton("")
        .part("XL\\WorkSheets\\Sheet1.XML", part)
        .part("xl/SharedStrings.xml", "<sst><si><t>found</t></si></sst>")
        .save(place.path(), "a.xlsx");
    assert_eq!(rows(place.path(), "a.xlsx"), json!([["found"]]));
}

#[test]
fn a_file_is_known_by_what_it_holds_and_not_by_its_name() {
    let place = tempfile::tempdir().unwrap();
    let one = xlsx(&sheet(r#"<row r="1"><c r="A1"><v>1</v></c></row>"#)).bytes();
    std::fs::write(place.path().join("really.csv"), &one).unwrap();
    assert_eq!(rows(place.path(), "really.csv"), json!([[1]]));
    let mut shifted = b"#!/bin/sh\nexit\n".to_vec();
    shifted.extend(&one);
    std::fs::write(place.path().join("shifted.xlsx"), shifted).unwrap();
    let refused = |name: &str| run(place.path(), "read-sheet", &["--path", name]).unwrap_err();
    assert_eq!(refused("shifted.xlsx")["error"], "not_a_workbook");
    std::fs::write(place.path().join("text.xlsx"), "a,b\n1,2\n").unwrap();
    let error = refused("text.xlsx");
    assert_eq!(error["error"], "not_a_workbook");
    assert!(error["message"].as_str().unwrap().contains("plain text, perhaps CSV"), "{error}");
    Archive::default().part("word/document.xml", "<d/>").save(place.path(), "zip.xlsx");
    assert_eq!(refused("zip.xlsx")["error"], "not_a_workbook");
}
