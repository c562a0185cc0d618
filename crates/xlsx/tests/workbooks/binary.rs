//! `.xls` and `.xlsb` to the letter: records written by hand.

use serde_json::json;

use crate::archive::Archive;
use crate::mutation::parts;
use crate::sample::{at, biff, compound, place_of, record, row_of, wide, xls, xls_stream, xlsb, xlsb_of};
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
fn a_moment_is_what_its_format_shows_at_midnight_too() {
    let place = tempfile::tempdir().unwrap();
    let number =
        |column, style, value: f64| biff(0x0203, &[at(0, column, style), value.to_le_bytes().to_vec()].concat());
    let rk = |style: u16, value: u32| [&style.to_le_bytes()[..], &(value << 2 | 2).to_le_bytes()].concat();
    let formula = [at(1, 0, 3), 44_197f64.to_le_bytes().to_vec(), vec![0; 6], vec![3, 0, 0x1E, 1, 0]].concat();
    let several = [&at(1, 1, 0)[..4], &rk(5, 44_197), &rk(0, 7), &rk(1, 44_197), &3u16.to_le_bytes()].concat();
    let cells = [
        number(0, 1, 44_197.0),
        number(1, 1, 44_197.5),
        number(2, 3, 44_197.0),
        number(3, 4, 0.0),
        number(4, 4, 0.25),
        number(5, 4, 44_197.0),
        number(6, 6, 44_197.0),
        number(7, 2, 1.0),
        biff(0x0006, &formula),
        biff(0x00BD, &several),
        biff(0x027E, &[&at(1, 4, 0)[..4], &rk(3, 44_198)].concat()),
        // So far away that the sheet's rows are moved together.
        biff(0x0203, &[at(60_000, 250, 3), 44_199f64.to_le_bytes().to_vec()].concat()),
    ];
    std::fs::write(place.path().join("a.xls"), compound("Workbook", &xls_stream(&cells.concat(), &[], false))).unwrap();
    let first = json!([
        "2021-01-01",
        "2021-01-01T12:00:00",
        "2021-01-01T00:00:00",
        "00:00:00",
        "06:00:00",
        "2021-01-01T00:00:00",
        "2021-01-01T00:00:00",
        "P1D"
    ]);
    let read = rows(place.path(), "a.xls");
    assert_eq!(read[0], first);
    assert_eq!(read[1], json!(["2021-01-01T00:00:00", "2021-01-01T00:00:00", 7, "2021-01-01", "2021-01-02T00:00:00"]));
    assert_eq!(read[2][250], "2021-01-03T00:00:00");

    let number =
        |column, style, value: f64| record(0x05, &[&place_of(column, style)[..], &value.to_le_bytes()].concat());
    let cells = [
        row_of(0),
        number(0, 1, 44_197.0),
        number(1, 1, 44_197.5),
        number(2, 3, 44_197.0),
        number(3, 4, 0.0),
        number(4, 4, 0.25),
        number(5, 4, 44_197.0),
        record(0x02, &[&place_of(6, 3)[..], &(44_197u32 << 2 | 2).to_le_bytes()].concat()),
        number(7, 2, 1.0),
    ];
    xlsb_of(&cells.concat()).save(place.path(), "a.xlsb");
    assert_eq!(rows(place.path(), "a.xlsb"), json!([first]));
}

#[test]
fn a_long_text_that_a_formula_resulted_in_comes_whole() {
    let place = tempfile::tempdir().unwrap();
    let formula = |row| {
        let text = [0, 0, 0, 0, 0, 0, 0xFF, 0xFF];
        biff(0x0006, &[at(row, 0, 0), text.to_vec(), vec![0; 6], vec![3, 0, 0x1E, 1, 0]].concat())
    };
    let text: String = (0..4000).map(|at| format!("{at},")).collect();
    let letters: Vec<&[u8]> = text.as_bytes().chunks(8000).collect();
    assert_eq!(letters.len(), 3);
    let head = |count: usize, wide: u8| [&(count as u16).to_le_bytes()[..], &[wide]].concat();
    let wide = |letters: &[u8]| -> Vec<u8> { letters.iter().flat_map(|letter| [*letter, 0]).collect() };
    let more = |wide: u8, letters: &[u8]| biff(0x003C, &[&[wide], letters].concat());
    let cells = [
        formula(0),
        biff(0x0207, &[&head(text.len(), 0), letters[0]].concat()),
        more(0, letters[1]),
        more(0, letters[2]),
        formula(1),
        biff(0x0207, &[head(12_000, 1), wide(&letters[0][..4000])].concat()),
        more(1, &wide(&letters[0][4000..])),
        more(1, &wide(&letters[1][..4000])),
        formula(2),
        biff(0x0207, &[&head(3, 0)[..], b"end"].concat()),
    ];
    std::fs::write(place.path().join("a.xls"), compound("Workbook", &xls_stream(&cells.concat(), &[], false))).unwrap();
    assert_eq!(rows(place.path(), "a.xls"), json!([[text], [text[..12_000]], ["end"]]));
}

#[test]
fn code_pages_are_those_of_old_files_and_what_is_not_read_is_told() {
    let place = tempfile::tempdir().unwrap();
    let replaced = |stream: &mut [u8], old: &[u8], new: &[u8]| {
        let at = stream.windows(old.len()).position(|bytes| bytes == old).unwrap();
        stream[at..at + old.len()].copy_from_slice(new);
    };
    let read = |page: u16, is_old: bool, cell: &[u8]| {
        let mut stream = xls_stream(cell, &["Zoë 日本"], false);
        // In the place of the record that says from which day the workbook counts.
        replaced(&mut stream, &biff(0x0022, &[0, 0]), &biff(0x0042, &page.to_le_bytes()));
        if is_old {
            let begin = |version: u8, kind: u8| [&biff(0x0809, &[0; 16])[..4], &[0, version, kind, 0]].concat();
            replaced(&mut stream, &begin(6, 5), &begin(5, 5));
        }
        std::fs::write(place.path().join("a.xls"), compound("Workbook", &stream)).unwrap();
        run(place.path(), "read-sheet", &["--path", "a.xls"])
    };
    let new = biff(0x00FD, &[at(0, 0, 0), vec![0; 4]].concat());
    let old = biff(0x0204, &[&at(0, 0, 0)[..], &[3, 0], b"Zo\xEB"].concat());
    for page in [1200, 1252, 932, 10_029] {
        assert_eq!(read(page, false, &new).unwrap()["rows"], json!([["Zoë 日本"]]), "{page}");
    }
    for page in [1252, 0x8001] {
        assert_eq!(read(page, true, &old).unwrap()["rows"], json!([["Zoë"]]), "{page}");
    }
    let message = "cannot read `a.xls`: it is damaged: its texts are in a code page that is not read here";
    assert_eq!(read(10_029, true, &old).unwrap_err()["message"], message);
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

/// A workbook with one of its parts written anew.
fn rewritten(book: Archive, part: &str, rewrite: impl Fn(Vec<u8>) -> Vec<u8>) -> Archive {
    parts(&book.bytes()).into_iter().fold(Archive::default(), |archive, (name, content)| {
        let content = if name == part { rewrite(content) } else { content };
        archive.part(&name, content)
    })
}

#[test]
fn a_sheet_of_an_xlsb_needs_nothing_before_its_rows_and_cells_may_be_short() {
    let place = tempfile::tempdir().unwrap();
    let cell = |kind, column, value: &[u8]| record(kind, &[&place_of(column, 0)[..], value].concat());
    let short = |kind, value: &[u8]| record(kind, &[&[0; 4][..], value].concat());
    let cells = [
        row_of(0),
        cell(0x3E, 2, &[&[0][..], &wide("rich"), &[0; 8]].concat()),
        short(0x0D, &(7u32 << 2 | 2).to_le_bytes()),
        short(0x0C, &[]),
        short(0x12, &0u32.to_le_bytes()),
        row_of(1),
        short(0x10, &2.5f64.to_le_bytes()),
        cell(0x02, 3, &(150u32 << 2 | 3).to_le_bytes()),
        cell(0x02, 4, &((2.5f64.to_bits() >> 32) as u32).to_le_bytes()),
    ];
    let bare = |part: &[u8]| part.len() - cells.concat().len();
    let book = rewritten(xlsb_of(&cells.concat()), "xl/worksheets/sheet1.bin", |part| {
        // What is left of the beginning: the sheet, and that its rows begin.
        let head = bare(&part) - record(0x92, &[]).len() - record(0x82, &[]).len();
        [record(0x81, &[]), record(0x91, &[]), part[head..].to_vec()].concat()
    });
    book.save(place.path(), "a.xlsb");
    assert_eq!(rows(place.path(), "a.xlsb"), json!([["", "", "rich", 7, "", "Zoë"], [2.5, "", "", 1.5, 2.5]]));
}

#[test]
fn names_of_an_xlsb_are_rectangles_of_its_own_sheets() {
    let place = tempfile::tempdir().unwrap();
    let cell = |row: u32| {
        [row_of(row), record(0x05, &[&place_of(0, 0)[..], &f64::from(row + 1).to_le_bytes()].concat())].concat()
    };
    let name = |name: &str, sheet: u32, formula: &[u8]| {
        let head = [&[0; 5][..], &sheet.to_le_bytes(), &wide(name)].concat();
        record(0x27, &[&head[..], &(formula.len() as u32).to_le_bytes(), formula, &[0; 4]].concat())
    };
    let reference = |sheet: u16, row: u32| [&[0x3A][..], &sheet.to_le_bytes(), &row.to_le_bytes(), &[0, 0]].concat();
    let area = [&[0x3B, 0, 0][..], &1u32.to_le_bytes(), &2u32.to_le_bytes(), &[0; 4]].concat();
    let foreign = |book: u32| [book.to_le_bytes(), [0; 4], [0; 4]].concat();
    let names = [
        record(0x163, &[]),
        record(0x165, &[]),
        record(0x16A, &[&2u32.to_le_bytes()[..], &foreign(1), &foreign(0)].concat()),
        name("Über all", u32::MAX, &area),
        name("Here", u32::MAX, &reference(0, 0)),
        name("Here", 0, &reference(0, 1)),
        name("Elsewhere", u32::MAX, &reference(1, 0)),
        name("Gone", u32::MAX, &[&[0x3D][..], &[0; 14]].concat()),
        name("Formula", u32::MAX, &[0x1E, 1, 0]),
    ];
    let book = rewritten(xlsb_of(&[cell(0), cell(1), cell(2)].concat()), "xl/workbook.bin", |book| {
        let end = book.len() - record(0x9D, &[]).len() - record(0x84, &[]).len();
        [&book[..end], &names.concat(), &book[end..]].concat()
    });
    book.save(place.path(), "a.xlsb");
    let read = |args: &[&str]| run(place.path(), "read-sheet", &[&["--path", "a.xlsb"], args].concat());
    assert_eq!(read(&["--range", "über all"]).unwrap()["rows"], json!([[2], [3]]));
    assert_eq!(read(&["--range", "Here"]).unwrap()["rows"], json!([[1]]));
    assert_eq!(read(&["--range", "Here", "--sheet", "One"]).unwrap()["rows"], json!([[2]]));
    for (name, meaning) in [("Elsewhere", "a formula"), ("Gone", "#REF!"), ("Formula", "a formula")] {
        let error = read(&["--range", name]).unwrap_err();
        assert_eq!(error["error"], "bad_range");
        let wanted = format!(
            "range `{name}`: the defined name means `{meaning}`, which is not one rectangle of cells in this workbook"
        );
        assert_eq!(error["message"], wanted);
    }
}

#[test]
fn a_record_of_an_xlsb_that_claims_more_than_there_is_is_never_believed() {
    let place = tempfile::tempdir().unwrap();
    // A text cell of 200 MiB, of which nothing is there.
    xlsb_of(&[row_of(0), vec![0x06, 0x80, 0x80, 0x80, 0x64]].concat()).save(place.path(), "a.xlsb");
    let error = run(place.path(), "read-sheet", &["--path", "a.xlsb"]).unwrap_err();
    assert_eq!(error["error"], "damaged");
    assert!(error["message"].as_str().unwrap().contains("has a record of 209715200 bytes"), "{error}");
    // A cell that names a string that is not there.
    let cell = record(0x07, &[&place_of(0, 0)[..], &99u32.to_le_bytes()].concat());
    xlsb_of(&[row_of(0), cell].concat()).save(place.path(), "b.xlsb");
    let error = run(place.path(), "read-sheet", &["--path", "b.xlsb"]).unwrap_err();
    assert!(error["message"].as_str().unwrap().ends_with("cell A1 names shared string 99 of 1"), "{error}");
}
