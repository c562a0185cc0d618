//! `.xls` and `.xlsb` to the letter: records written by hand.

use serde_json::json;

use crate::archive::Archive;
use crate::{ok, rows, run};

/// A record of an `.xls` stream.
fn biff(kind: u16, data: &[u8]) -> Vec<u8> {
    [&kind.to_le_bytes()[..], &(data.len() as u16).to_le_bytes()[..], data].concat()
}

/// The place and the style of a cell.
fn at(row: u16, column: u16, style: u16) -> Vec<u8> {
    [row, column, style].iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The stream of an `.xls`: styles 0 (plain), 1 (date), 2 (duration), the strings, and sheets `One` and hidden `Two`.
fn xls_stream(one: &[u8], strings: &[&str], from_1904: bool) -> Vec<u8> {
    let style = |format: u16| {
        let mut data = vec![0; 20];
        data[2..4].copy_from_slice(&format.to_le_bytes());
        biff(0x00E0, &data)
    };
    let table: Vec<u8> = [(strings.len() as u32).to_le_bytes(), (strings.len() as u32).to_le_bytes()]
        .concat()
        .into_iter()
        .chain(strings.iter().flat_map(|text| {
            let units: Vec<u16> = text.encode_utf16().collect();
            let head = [&(units.len() as u16).to_le_bytes()[..], &[1]].concat();
            head.into_iter().chain(units.into_iter().flat_map(u16::to_le_bytes))
        }))
        .collect();
    let begin = |kind: u16| biff(0x0809, &[&[0, 6][..], &kind.to_le_bytes(), &[0; 12]].concat());
    let sheet_entry = |place: u32, hidden: u8, name: &str| {
        biff(0x0085, &[&place.to_le_bytes()[..], &[hidden, 0, name.len() as u8, 0], name.as_bytes()].concat())
    };
    let before = [begin(5), biff(0x0022, &[u8::from(from_1904), 0]), style(0), style(14), style(46)].concat();
    let after = [biff(0x00FC, &table), biff(0x000A, &[])].concat();
    let sheets_len = sheet_entry(0, 0, "One").len() + sheet_entry(0, 1, "Two").len();
    let first_at = before.len() + sheets_len + after.len();
    let first = [begin(16), biff(0x0200, &[0xFF; 14]), one.to_vec(), biff(0x000A, &[])].concat();
    let second =
        [begin(16), biff(0x0203, &[at(1, 1, 0), 2.5f64.to_le_bytes().to_vec()].concat()), biff(0x000A, &[])].concat();
    let second_at = first_at + first.len();
    let entries = [sheet_entry(first_at as u32, 0, "One"), sheet_entry(second_at as u32, 1, "Two")].concat();
    [before, entries, after, first, second].concat()
}

/// A compound file with sectors of 512 bytes that holds one stream.
pub(crate) fn compound(name: &str, stream: &[u8]) -> Vec<u8> {
    let mut stream = stream.to_vec();
    stream.resize(stream.len().max(4096).next_multiple_of(512), 0);
    let of_stream = stream.len() / 512;
    let of_fat = (of_stream + 1).div_ceil(127);
    let mut fat = vec![0xFFFF_FFFDu32; of_fat];
    fat.push(0xFFFF_FFFE);
    fat.extend((1..of_stream).map(|next| (of_fat + 1 + next) as u32));
    fat.push(0xFFFF_FFFE);
    fat.resize(of_fat * 128, 0xFFFF_FFFF);
    let mut head = vec![0; 512];
    head[..8].copy_from_slice(&[0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1]);
    head[24..34].copy_from_slice(&[0x3E, 0, 3, 0, 0xFE, 0xFF, 9, 0, 6, 0]);
    let mut put = |at: usize, word: u32| head[at..at + 4].copy_from_slice(&word.to_le_bytes());
    put(44, of_fat as u32);
    put(48, of_fat as u32);
    put(56, 4096);
    put(60, 0xFFFF_FFFE);
    put(68, 0xFFFF_FFFE);
    (0..109).for_each(|at| put(76 + 4 * at, if at < of_fat { at as u32 } else { 0xFFFF_FFFF }));
    let mut directory = vec![0; 512];
    let mut entry = |slot: usize, name: &str, kind: u8, start: u32, size: u32| {
        let entry = &mut directory[slot * 128..(slot + 1) * 128];
        for (at, unit) in name.encode_utf16().enumerate() {
            entry[at * 2..at * 2 + 2].copy_from_slice(&unit.to_le_bytes());
        }
        entry[64] = name.len() as u8 * 2 + 2;
        entry[66] = kind;
        entry[116..120].copy_from_slice(&start.to_le_bytes());
        entry[120..124].copy_from_slice(&size.to_le_bytes());
    };
    entry(0, "Root Entry", 5, 0xFFFF_FFFE, 0);
    entry(1, name, 2, of_fat as u32 + 1, stream.len() as u32);
    [head, fat.iter().flat_map(|word| word.to_le_bytes()).collect(), directory, stream].concat()
}

/// An `.xls` with a cell of every type.
pub(crate) fn xls(from_1904: bool) -> Vec<u8> {
    let float = |row, column, style, number: f64| {
        biff(0x0203, &[at(row, column, style), number.to_le_bytes().to_vec()].concat())
    };
    let formula = |row, column, style, result: [u8; 8]| {
        // A formula of three tokens that no reader needs.
        let rest = [&[0; 6][..], &3u16.to_le_bytes(), &[0x1E, 1, 0]].concat();
        biff(0x0006, &[at(row, column, style), result.to_vec(), rest].concat())
    };
    let special = |kind: u8, value: u8| [kind, 0, value, 0, 0, 0, 0xFF, 0xFF];
    let cells = [
        biff(0x00FD, &[at(0, 0, 0), 1u32.to_le_bytes().to_vec()].concat()),
        float(0, 1, 0, 0.1),
        biff(0x027E, &[at(0, 2, 0), ((15u32 << 2) | 2).to_le_bytes().to_vec()].concat()),
        biff(0x0205, &[at(0, 3, 0), vec![1, 0]].concat()),
        biff(0x0205, &[at(0, 4, 0), vec![0x07, 1]].concat()),
        float(0, 5, 1, if from_1904 { 42_735.0 } else { 44_197.0 }),
        float(0, 6, 2, 1.5),
        formula(1, 0, 0, 7.0f64.to_le_bytes()),
        formula(1, 1, 0, special(1, 1)),
        formula(1, 2, 0, special(2, 0x2A)),
        formula(1, 3, 0, special(0, 0)),
        biff(0x0207, &[&3u16.to_le_bytes()[..], &[0], b"abc"].concat()),
        formula(1, 4, 0, special(3, 0)),
        biff(
            0x00BD,
            &[
                &5u16.to_le_bytes()[..],
                &0u16.to_le_bytes(),
                &[0, 0],
                &((1u32 << 2) | 2).to_le_bytes(),
                &[0, 0],
                &((2u32 << 2) | 2).to_le_bytes(),
                &1u16.to_le_bytes(),
            ]
            .concat(),
        ),
    ]
    .concat();
    compound("Workbook", &xls_stream(&cells, &["zero", "Zoë 日本"], from_1904))
}

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
fn an_xls_that_would_take_too_much_is_refused_before_it_is_read() {
    let place = tempfile::tempdir().unwrap();
    let corner = |row, column| biff(0x0203, &[at(row, column, 0), 1f64.to_le_bytes().to_vec()].concat());
    let cells = [corner(0, 0), corner(65_535, 255)].concat();
    std::fs::write(place.path().join("a.xls"), compound("Workbook", &xls_stream(&cells, &[], false))).unwrap();
    assert_eq!(run(place.path(), "list-sheets", &["--path", "a.xls"]).unwrap_err()["error"], "too_large");
    let protected = [biff(0x0809, &[0; 16]), biff(0x002F, &[1, 0, 1, 0])].concat();
    std::fs::write(place.path().join("b.xls"), compound("Workbook", &protected)).unwrap();
    assert_eq!(run(place.path(), "list-sheets", &["--path", "b.xls"]).unwrap_err()["error"], "encrypted");
    std::fs::write(place.path().join("c.xlsx"), compound("EncryptedPackage", &[1; 9000])).unwrap();
    assert_eq!(run(place.path(), "list-sheets", &["--path", "c.xlsx"]).unwrap_err()["error"], "encrypted");
    std::fs::write(place.path().join("d.doc"), compound("WordDocument", &[1; 9000])).unwrap();
    assert_eq!(run(place.path(), "list-sheets", &["--path", "d.doc"]).unwrap_err()["error"], "not_a_workbook");
}

/// A record of an `.xlsb` part.
fn record(kind: u16, data: &[u8]) -> Vec<u8> {
    let mut out = if kind < 0x80 { vec![kind as u8] } else { vec![kind as u8 | 0x80, (kind >> 7) as u8] };
    let mut len = data.len();
    loop {
        out.push((len & 0x7F) as u8 | if len > 0x7F { 0x80 } else { 0 });
        len >>= 7;
        if len == 0 {
            break;
        }
    }
    out.extend(data);
    out
}

fn wide(text: &str) -> Vec<u8> {
    let units: Vec<u16> = text.encode_utf16().collect();
    (units.len() as u32).to_le_bytes().into_iter().chain(units.into_iter().flat_map(u16::to_le_bytes)).collect()
}

/// An `.xlsb` whose sheet holds these records.
fn xlsb_of(cells: &[u8]) -> Archive {
    let kinds = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let style = |format: u16| record(0x2F, &[&[0, 0][..], &format.to_le_bytes(), &[0; 12]].concat());
    // A font whose bytes look like the list of cell styles, which a careless reader would take for it.
    let styles = [
        record(0x0116, &[]),
        record(0x002B, &[0xE9, 0x04, 0x04, 0xFF, 0xFF, 0xFF, 0x7F, 0xE9, 0x04]),
        record(0x0267, &1u32.to_le_bytes()),
        record(0x002C, &[&200u16.to_le_bytes()[..], &wide("[h]:mm")].concat()),
        record(0x0268, &[]),
        record(0x0269, &3u32.to_le_bytes()),
        style(0),
        style(14),
        style(200),
        record(0x026A, &[]),
    ]
    .concat();
    let book = [
        record(0x83, &[]),
        record(0x99, &[0; 12]),
        record(0x8F, &[]),
        record(0x9C, &[&0u32.to_le_bytes()[..], &1u32.to_le_bytes(), &wide("r1"), &wide("One")].concat()),
        record(0x90, &[]),
        record(0x9D, &[]),
        record(0x84, &[]),
    ]
    .concat();
    let strings =
        [record(0x9F, &[1, 0, 0, 0, 1, 0, 0, 0]), record(0x13, &[&[0][..], &wide("Zoë")].concat()), record(0xA0, &[])]
            .concat();
    let sheet = [
        record(0x81, &[]),
        record(0x94, &[0xFF; 16]),
        record(0x91, &[]),
        cells.to_vec(),
        record(0x92, &[]),
        record(0x82, &[]),
    ]
    .concat();
    Archive::default()
        .part("_rels/.rels", format!(r#"<Relationships><Relationship Id="r" Type="{kinds}/officeDocument" Target="xl/workbook.bin"/></Relationships>"#))
        .part("xl/_rels/workbook.bin.rels", format!(r#"<Relationships><Relationship Id="r1" Type="{kinds}/worksheet" Target="worksheets/sheet1.bin"/></Relationships>"#))
        .part("xl/workbook.bin", book)
        .part("xl/styles.bin", styles)
        .part("xl/sharedStrings.bin", strings)
        .part("xl/worksheets/sheet1.bin", sheet)
}

/// The place and the style of a cell.
fn place_of(column: u32, style: u8) -> Vec<u8> {
    [&column.to_le_bytes()[..], &[style, 0, 0, 0]].concat()
}

fn row_of(number: u32) -> Vec<u8> {
    record(0x00, &[&number.to_le_bytes()[..], &[0; 13]].concat())
}

/// An `.xlsb` with a cell of every type.
pub(crate) fn xlsb() -> Archive {
    let cell = |kind, column, style, value: &[u8]| record(kind, &[&place_of(column, style)[..], value].concat());
    let cells = [
        row_of(0),
        cell(0x07, 0, 0, &0u32.to_le_bytes()),
        cell(0x05, 1, 0, &0.1f64.to_le_bytes()),
        cell(0x02, 2, 0, &((15u32 << 2) | 2).to_le_bytes()),
        cell(0x04, 3, 0, &[1]),
        cell(0x03, 4, 0, &[0x07]),
        cell(0x05, 5, 1, &44_197f64.to_le_bytes()),
        cell(0x05, 6, 2, &1.5f64.to_le_bytes()),
        row_of(3),
        cell(0x01, 0, 0, &[]),
        cell(0x06, 1, 0, &wide("in line")),
        cell(0x09, 2, 0, &[&7f64.to_le_bytes()[..], &[0; 10]].concat()),
    ]
    .concat();
    xlsb_of(&cells)
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
