//! Small workbooks of every format, written here record by record and part by part.

use rust_xlsxwriter::{Format, Formula, Workbook};

use crate::archive::{Archive, sheet, xlsx_with};

/// A record of an `.xls` stream.
pub(crate) fn biff(kind: u16, data: &[u8]) -> Vec<u8> {
    [&kind.to_le_bytes()[..], &(data.len() as u16).to_le_bytes()[..], data].concat()
}

/// The place and the style of a cell.
pub(crate) fn at(row: u16, column: u16, style: u16) -> Vec<u8> {
    [row, column, style].iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The stream of an `.xls`: styles 0 (plain), 1 (date), 2 (duration), 3 (date and time), 4 (time), 5 and 6 (date and time,
/// by formats of the workbook's own), the strings, and sheets `One` and hidden `Two`.
pub(crate) fn xls_stream(one: &[u8], strings: &[&str], from_1904: bool) -> Vec<u8> {
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
    // One of a number that is seldom used, and one whose text takes two bytes a letter.
    let code = "yyyy-mm-dd hh:mm";
    let format = |id: u16, wide: u8, text: &[u8]| {
        biff(0x041E, &[&id.to_le_bytes()[..], &(code.len() as u16).to_le_bytes(), &[wide], text].concat())
    };
    let units: Vec<u8> = code.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let formats = [format(400, 0, code.as_bytes()), format(164, 1, &units)].concat();
    let styles = [0, 14, 46, 22, 20, 400, 164].map(style).concat();
    let before = [begin(5), biff(0x0022, &[u8::from(from_1904), 0]), formats, styles].concat();
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

/// A record of an `.xlsb` part.
pub(crate) fn record(kind: u16, data: &[u8]) -> Vec<u8> {
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

pub(crate) fn wide(text: &str) -> Vec<u8> {
    let units: Vec<u16> = text.encode_utf16().collect();
    (units.len() as u32).to_le_bytes().into_iter().chain(units.into_iter().flat_map(u16::to_le_bytes)).collect()
}

/// An `.xlsb` whose sheet holds these records.
pub(crate) fn xlsb_of(cells: &[u8]) -> Archive {
    let kinds = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let style = |format: u16| record(0x2F, &[&[0, 0][..], &format.to_le_bytes(), &[0; 12]].concat());
    // A font whose bytes look like the list of cell styles, which a careless reader would take for it.
    let styles = [
        record(0x0116, &[]),
        record(0x002B, &[0xE9, 0x04, 0x04, 0xFF, 0xFF, 0xFF, 0x7F, 0xE9, 0x04]),
        record(0x0267, &1u32.to_le_bytes()),
        record(0x002C, &[&200u16.to_le_bytes()[..], &wide("[h]:mm")].concat()),
        record(0x0268, &[]),
        record(0x0269, &5u32.to_le_bytes()),
        style(0),
        style(14),
        style(200),
        style(22),
        style(20),
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
pub(crate) fn place_of(column: u32, style: u8) -> Vec<u8> {
    [&column.to_le_bytes()[..], &[style, 0, 0, 0]].concat()
}

pub(crate) fn row_of(number: u32) -> Vec<u8> {
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

/// A workbook whose sheets are these.
pub(crate) fn ods(tables: &str) -> Archive {
    let content = format!(
        r#"<office:document-content><office:automatic-styles><style:style style:name="ta1" style:family="table"><style:table-properties table:display="true"/></style:style>
        <style:style style:name="ta2" style:family="table"><style:table-properties table:display="false"/></style:style></office:automatic-styles>
        <office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body></office:document-content>"#
    );
    Archive::default()
        .part("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        .part(
            "META-INF/manifest.xml",
            r#"<manifest:manifest><manifest:file-entry manifest:full-path="/"/></manifest:manifest>"#,
        )
        .part("content.xml", content)
}

/// An `.xlsx` with a cell of every type, as a program would write it.
pub(crate) fn xlsx() -> Vec<u8> {
    let mut book = Workbook::new();
    let date = Format::new().set_num_format("yyyy-mm-dd hh:mm");
    let duration = Format::new().set_num_format("[h]:mm:ss");
    let one = book.add_worksheet().set_name("One").unwrap();
    for row in 0..12u32 {
        one.write(row, 0, format!("text {row} & <more>")).unwrap();
        one.write(row, 1, f64::from(row) * 1.25).unwrap();
        one.write(row, 2, row % 2 == 0).unwrap();
        one.write_with_format(row, 3, 44_197.0 + f64::from(row) / 7.0, &date).unwrap();
        one.write_with_format(row, 4, f64::from(row) / 24.0, &duration).unwrap();
        one.write(row, 5, Formula::new("=A1&B1").set_result("result")).unwrap();
    }
    one.merge_range(14, 0, 15, 2, "merged", &Format::new()).unwrap();
    book.add_worksheet().set_name("Two").unwrap().set_hidden(true).write(3, 3, "Zoë 日本").unwrap();
    book.define_name("Spot", "=One!$A$2:$C$5").unwrap();
    book.save_to_buffer().unwrap()
}

/// One workbook of every format, by name.
pub(crate) fn all() -> Vec<(&'static str, Vec<u8>)> {
    let in_line = r#"<row r="1"><c r="A1" t="inlineStr"><is><r><t>ri</t></r><r><t xml:space="preserve">ch </t></r></is></c><c r="C1" t="e"><v>#N/A</v></c></row><row r="3"><c r="B3" t="d"><v>2021-01-01T10:10:10</v></c><c r="C3"><f>A1</f><v>1E-7</v></c></row>"#;
    let table = r#"<table:table table:name="One" table:style-name="ta1"><table:table-row table:number-rows-repeated="3"><table:table-cell office:value-type="float" office:value="7" table:number-columns-repeated="2"/><table:table-cell office:value-type="string"><text:p>a<text:s text:c="2"/>b</text:p></table:table-cell></table:table-row><table:table-row table:number-rows-repeated="1048000"><table:table-cell table:number-columns-repeated="16384"/></table:table-row></table:table>"#;
    vec![
        ("a.xlsx", xlsx()),
        ("b.xlsx", xlsx_with(&sheet(in_line), r#"<workbookPr date1904="1"/>"#).bytes()),
        ("c.ods", ods(table).bytes()),
        ("d.xls", xls(false)),
        ("e.xlsb", xlsb().bytes()),
    ]
}
