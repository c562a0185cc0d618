//! `.xls` and `.xlsb` to the letter: records written by hand.

use serde_json::json;

use crate::archive::Archive;
use crate::mutation::parts;
use crate::sample::{at, biff, compound, place_of, record, row_of, xls, xls_stream, xlsb, xlsb_of};
use crate::{ok, rows, run};

#[test]
fn an_xls_keeps_every_type_and_value() {
    let place = tempfile::tempdir().unwrap();
    for from_1904 in [false, true] {
        std::fs::write(place.path().join("a.xls"), xls(from_1904)).unwrap();
        assert_eq!(
            rows(place.path(), "a.xls"),
            json!([["Zoë 日本", 0.1, 15, true, "#DIV/0!", "2021-01-01", "P1DT12H"], [7, true, "#N/A", "abc"], [1, 2]])
        );
    }
    assert_eq!(
        ok(place.path(), "list-sheets", &["--path", "a.xls"])["sheets"],
        json!([{"title": "One", "rows": 6, "columns": 7, "visible": true, "kind": "worksheet"},
               {"title": "Two", "rows": 2, "columns": 2, "visible": false, "kind": "worksheet"}])
    );
    let two = ok(place.path(), "read-sheet", &["--path", "a.xls", "--sheet", "two", "--keep-empty"]);
    assert_eq!(two["rows"], json!([[], ["", 2.5]]));
}

#[test]
fn formulas_are_known_by_the_names_of_older_files_too() {
    let place = tempfile::tempdir().unwrap();
    let cells = [0x0206, 0x0406].map(|kind| {
        biff(
            kind,
            &[
                at(0, kind >> 9, 1),
                44_197f64.to_le_bytes().to_vec(),
                [&[0; 6][..], &3u16.to_le_bytes(), &[0x1E, 1, 0]].concat(),
            ]
            .concat(),
        )
    });
    std::fs::write(place.path().join("a.xls"), compound("Workbook", &xls_stream(&cells.concat(), &[], false))).unwrap();
    assert_eq!(rows(place.path(), "a.xls"), json!([["", "2021-01-01", "2021-01-01"]]));
}

#[test]
fn a_sparse_xls_takes_as_long_as_its_grid_and_no_longer() {
    let place = tempfile::tempdir().unwrap();
    let cell = |row, column| biff(0x0203, &[at(row, column, 0), 1f64.to_le_bytes().to_vec()].concat());
    let cells = [cell(0, 0), cell(65_535, 2)].concat();
    std::fs::write(place.path().join("a.xls"), compound("Workbook", &xls_stream(&cells, &[], false))).unwrap();
    let start = std::time::Instant::now();
    assert_eq!(rows(place.path(), "a.xls"), json!([[1], ["", "", 1]]));
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
}

#[test]
fn an_xls_that_would_take_too_much_is_refused_before_it_is_read() {
    let place = tempfile::tempdir().unwrap();
    // Row by row and column by column, so that no gap could be left out.
    let cells: Vec<u8> = (0..2300)
        .flat_map(|place| biff(0x0203, &[at(place, place, 0), 1f64.to_le_bytes().to_vec()].concat()))
        .collect();
    std::fs::write(place.path().join("a.xls"), compound("Workbook", &xls_stream(&cells, &[], false))).unwrap();
    assert_eq!(run(place.path(), "list-sheets", &["--path", "a.xls"]).unwrap_err()["error"], "too_large");
    // By RC4, and by the exclusive or of the oldest programs.
    for way in [1, 0] {
        let protected = [biff(0x0809, &[0; 16]), biff(0x002F, &[way, 0, 1, 0])].concat();
        std::fs::write(place.path().join("b.xls"), compound("Workbook", &protected)).unwrap();
        assert_eq!(run(place.path(), "list-sheets", &["--path", "b.xls"]).unwrap_err()["error"], "encrypted");
    }
    std::fs::write(place.path().join("c.xlsx"), compound("EncryptedPackage", &[1; 9000])).unwrap();
    assert_eq!(run(place.path(), "list-sheets", &["--path", "c.xlsx"]).unwrap_err()["error"], "encrypted");
    std::fs::write(place.path().join("d.doc"), compound("WordDocument", &[1; 9000])).unwrap();
    assert_eq!(run(place.path(), "list-sheets", &["--path", "d.doc"]).unwrap_err()["error"], "not_a_workbook");
}

#[test]
fn the_gaps_of_an_xls_cost_nothing_and_its_cells_stay_where_they_are() {
    let place = tempfile::tempdir().unwrap();
    let number = |row, column, value: f64| biff(0x0203, &[at(row, column, 0), value.to_le_bytes().to_vec()].concat());
    let two = |value: u32| [&[0, 0][..], &(value << 2 | 2).to_le_bytes()].concat();
    // Two values in one record, and the last one of all.
    let several = biff(0x00BD, &[&at(40_000, 100, 0)[..4], &two(7), &two(8), &101u16.to_le_bytes()].concat());
    let cells = [number(3, 2, 1.5), several, number(65_535, 255, 2.5)].concat();
    std::fs::write(place.path().join("a.xls"), compound("Workbook", &xls_stream(&cells, &[], false))).unwrap();
    let sheets = ok(place.path(), "list-sheets", &["--path", "a.xls"])["sheets"].clone();
    assert_eq!((&sheets[0]["rows"], &sheets[0]["columns"]), (&json!(65_536), &json!(256)));
    let cell = |range: &str| ok(place.path(), "read-sheet", &["--path", "a.xls", "--range", range])["rows"].clone();
    assert_eq!(cell("C4"), json!([[1.5]]));
    assert_eq!(cell("CV40001:CY40001"), json!([["", 7, 8]]));
    assert_eq!(cell("IV65536"), json!([[2.5]]));
    assert_eq!(ok(place.path(), "read-sheet", &["--path", "a.xls"])["total_rows"], 3);
    assert_eq!(ok(place.path(), "read-sheet", &["--path", "a.xls", "--sheet", "Two"])["rows"], json!([["", 2.5]]));
}

#[test]
fn what_a_container_says_of_its_small_streams_may_be_wrong_where_they_are_not_needed() {
    let place = tempfile::tempdir().unwrap();
    let mut file = xls(false);
    // The table of small sectors is said to be seventeen sectors long, and there is none; the root claims a stream.
    file[64..68].copy_from_slice(&17u32.to_le_bytes());
    let directory = 512 + 512 * u32::from_le_bytes(file[48..52].try_into().unwrap()) as usize;
    file[directory + 120..directory + 124].copy_from_slice(&1_000_000u32.to_le_bytes());
    std::fs::write(place.path().join("a.xls"), file).unwrap();
    assert_eq!(rows(place.path(), "a.xls").as_array().unwrap().len(), 3);
}

#[test]
fn the_parts_of_an_xlsb_are_found_wherever_they_lie_and_formulas_keep_their_errors() {
    let place = tempfile::tempdir().unwrap();
    let value = record(0x05, &[&place_of(0, 0)[..], &2.5f64.to_le_bytes()].concat());
    // A formula that results in an error, with what a formula has behind it.
    let error = record(0x0B, &[&place_of(1, 0)[..], &[0x2A], &[0; 10]].concat());
    let cells = [row_of(0), value, error].concat();
    let wanted = json!([[2.5, "#N/A"]]);
    xlsb_of(&cells).save(place.path(), "a.xlsb");
    assert_eq!(rows(place.path(), "a.xlsb"), wanted);

    let kinds = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    for (kind, target, known) in [
        ("worksheet", "/odd/Sheets/First.bin", "worksheet"),
        ("worksheet", "Sheets/First.bin", "worksheet"),
        ("xlMacrosheet", "Sheets/First.bin", "macrosheet"),
    ] {
        let mut moved = Archive::default();
        for (name, content) in parts(&xlsb_of(&cells).bytes()) {
            let text = String::from_utf8_lossy(&content).replace("xl/workbook.bin", "odd/book.bin");
            moved = match name.as_str() {
                "_rels/.rels" => moved.part(&name, text),
                "xl/workbook.bin" => moved.part("odd/book.bin", content),
                "xl/worksheets/sheet1.bin" => moved.part("odd/sheets/first.bin", content),
                "xl/_rels/workbook.bin.rels" => moved.part(
                    "odd/_rels/book.bin.rels",
                    format!(r#"<p:Relationships><p:Relationship Target="{target}" Type="{kinds}/{kind}" Id="r1"/></p:Relationships>"#),
                ),
                _ => moved.part(&name.replace("xl/", "odd/"), content),
            };
        }
        moved.save(place.path(), "b.xlsb");
        assert_eq!(rows(place.path(), "b.xlsb"), wanted, "{kind} {target}");
        assert_eq!(ok(place.path(), "list-sheets", &["--path", "b.xlsb"])["sheets"][0]["kind"], known);
    }
}

#[test]
fn an_xlsb_keeps_every_type_and_value() {
    let place = tempfile::tempdir().unwrap();
    xlsb().save(place.path(), "a.xlsb");
    assert_eq!(
        rows(place.path(), "a.xlsb"),
        json!([["Zoë", 0.1, 15, true, "#DIV/0!", "2021-01-01", "P1DT12H"], ["", "in line", 7]])
    );
    let sheet = ok(place.path(), "list-sheets", &["--path", "a.xlsb"])["sheets"][0].clone();
    assert_eq!(sheet, json!({"title": "One", "rows": 4, "columns": 7, "visible": true, "kind": "worksheet"}));
}

#[test]
fn a_record_of_an_xlsb_that_claims_more_than_there_is_is_never_believed() {
    let place = tempfile::tempdir().unwrap();
    // A text cell of 200 MiB, of which nothing is there.
    xlsb_of(&[row_of(0), vec![0x06, 0x80, 0x80, 0x80, 0x64]].concat()).save(place.path(), "a.xlsb");
    let error = run(place.path(), "read-sheet", &["--path", "a.xlsb"]).unwrap_err();
    assert_eq!(error["error"], "damaged");
    assert!(error["message"].as_str().unwrap().contains("has a record of 209715200 bytes"), "{error}");
    // A cell that names a string that is not there, on which calamine panics.
    let cell = record(0x07, &[&place_of(0, 0)[..], &99u32.to_le_bytes()].concat());
    xlsb_of(&[row_of(0), cell].concat()).save(place.path(), "b.xlsb");
    assert_eq!(run(place.path(), "read-sheet", &["--path", "b.xlsb"]).unwrap_err()["error"], "damaged");
}
