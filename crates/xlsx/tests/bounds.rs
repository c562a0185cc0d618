//! Hostile and enormous files: a clear error, within the memory and the time that the reader promises.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

#[path = "workbooks/archive.rs"]
mod archive;

use std::ffi::OsString;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use flate2::{Compress, Compression, FlushCompress, Status};
use gatelatch_xlsx::roots::Roots;
use peak_alloc::PeakAlloc;
use serde_json::{Value, json};

use archive::{Archive, Lie, sheet, skeleton, xlsx, xlsx_with};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// One at a time, since all share the counter.
static TURN: Mutex<()> = Mutex::new(());

const MIB: usize = 1 << 20;

/// What one run took.
struct Cost {
    peak: usize,
    time: Duration,
}

fn measured(folder: &Path, action: &str, args: &[&str]) -> (Result<Value, Value>, Cost) {
    let args: Vec<OsString> = args.iter().map(OsString::from).collect();
    let roots = Roots::new(folder, None, None);
    let mut out = Vec::new();
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let start = Instant::now();
    let result = gatelatch_xlsx::run(action, &args, &roots, &mut out);
    let cost = Cost { peak: MEMORY.peak_usage() - before, time: start.elapsed() };
    let result = match result {
        Ok(()) => Ok(serde_json::from_slice(&out).unwrap()),
        Err(error) => Err(error.to_value()),
    };
    (result, cost)
}

/// Every action on a file, each held to the memory and time of a refusal; the codes of their errors.
fn refusals(folder: &Path, name: &str) -> Vec<String> {
    let actions =
        [("list-sheets", &[][..]), ("read-sheet", &[]), ("describe", &[]), ("dump", &[]), ("search", &["--text", "x"])];
    let mut codes = Vec::new();
    for (action, more) in actions {
        let (result, cost) = measured(folder, action, &[&["--path", name], more].concat());
        assert!(cost.peak <= 64 * MIB, "{action} of {name} took {} MiB", cost.peak / MIB);
        // The promise of one second is for a release build; without optimization everything takes longer.
        let granted = if cfg!(debug_assertions) { Duration::from_secs(20) } else { Duration::from_secs(1) };
        assert!(cost.time <= granted, "{action} of {name} took {:?}", cost.time);
        if let Err(error) = result {
            codes.push(error["error"].as_str().unwrap().to_owned());
        }
    }
    codes
}

/// Compressed bytes that become `unit`, `times` over.
fn repeated(unit: &[u8], times: usize) -> Vec<u8> {
    let pack = |flush: FlushCompress, unit: &[u8]| {
        let mut compress = Compress::new(Compression::new(9), false);
        let mut out = Vec::with_capacity(unit.len() + 1024);
        let status = compress.compress_vec(unit, &mut out, flush).unwrap();
        assert!(matches!(status, Status::Ok | Status::StreamEnd));
        out
    };
    // Blocks that end on a whole byte and refer to nothing before them can be put in a row.
    let mut out = pack(FlushCompress::Full, unit).repeat(times);
    out.extend(pack(FlushCompress::Finish, b""));
    out
}

#[test]
fn a_zip_bomb_is_refused_by_what_it_claims() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let place = tempfile::tempdir().unwrap();
    let bomb = repeated(&vec![b' '; MIB], 1024);
    let size = 1024 * MIB as u32;
    let bombed = |archive: Archive, part: &str| archive.raw(part, &bomb, size, 0, false);
    bombed(skeleton(""), "xl/worksheets/sheet1.xml").save(place.path(), "sheet.xlsx");
    assert_eq!(refusals(place.path(), "sheet.xlsx"), ["too_large"; 5]);
    let strings = r#"<row r="1"><c r="A1" t="s"><v>0</v></c></row>"#;
    bombed(xlsx(&sheet(strings)), "xl/sharedStrings.xml").save(place.path(), "strings.xlsx");
    assert_eq!(refusals(place.path(), "strings.xlsx"), ["too_large"; 5]);
    bombed(xlsx(&sheet(strings)), "xl/styles.xml").save(place.path(), "styles.xlsx");
    assert_eq!(refusals(place.path(), "styles.xlsx"), ["too_large"; 5]);
    bombed(xlsx(&sheet("")), "xl/workbook.xml").save(place.path(), "workbook.xlsx");
    assert_eq!(refusals(place.path(), "workbook.xlsx"), ["too_large"; 5]);
    bombed(xlsx(&sheet("")), "_rels/.rels").save(place.path(), "rels.xlsx");
    assert_eq!(refusals(place.path(), "rels.xlsx"), ["too_large"; 5]);
    // Many parts that are each too small to be looked at twice.
    let (small, size) = (repeated(&vec![b' '; MIB], 31), 31 * MIB as u32);
    let many = (0..40).fold(xlsx(&sheet("")), |archive, at| archive.raw(&format!("p{at}.xml"), &small, size, 0, false));
    many.save(place.path(), "many.xlsx");
    assert_eq!(refusals(place.path(), "many.xlsx"), ["too_large"; 5]);
    // A picture is not looked into, whatever it would become.
    let blank = xlsx(&sheet(r#"<row><c><v>1</v></c></row>"#)).raw("xl/media/blank.bmp", &bomb, size, 0, false);
    blank.save(place.path(), "picture.xlsx");
    assert_eq!(refusals(place.path(), "picture.xlsx"), [""; 0]);
    let mimetype = Archive::default().part("mimetype", "application/vnd.oasis.opendocument.spreadsheet");
    bombed(mimetype, "content.xml").save(place.path(), "a.ods");
    assert_eq!(refusals(place.path(), "a.ods"), ["too_large"; 5]);
}

#[test]
fn a_directory_that_lies_is_found_out() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let place = tempfile::tempdir().unwrap();
    let bomb = repeated(&vec![b' '; MIB], 1024);
    skeleton("").raw("xl/worksheets/sheet1.xml", &bomb, 1000, 0, false).save(place.path(), "small.xlsx");
    assert_eq!(refusals(place.path(), "small.xlsx"), ["damaged"; 5]);
    let honest = sheet(r#"<row r="1"><c r="A1"><v>1</v></c></row>"#);
    let lies = [
        ("larger", Lie { size: Some(honest.len() as u32 + 1), ..Lie::default() }),
        ("smaller", Lie { size: Some(honest.len() as u32 - 1), ..Lie::default() }),
        ("checksum", Lie { checksum: Some(7), ..Lie::default() }),
    ];
    for (name, lie) in lies {
        let part = "xl/worksheets/sheet1.xml";
        skeleton("").lying(part, &honest, lie).save(place.path(), "lie.xlsx");
        assert_eq!(refusals(place.path(), "lie.xlsx"), ["damaged"; 5], "{name}");
    }
    skeleton("")
        .lying("xl/worksheets/sheet1.xml", &honest, Lie { encrypted: true, ..Lie::default() })
        .save(place.path(), "locked.xlsx");
    assert_eq!(refusals(place.path(), "locked.xlsx"), ["encrypted"; 5]);
    // Sheets by the thousand that are all one part.
    let sheets: String = (0..5000).map(|at| format!(r#"<sheet name="S{at}" r:id="s1"/>"#)).collect();
    xlsx_with(&honest, &format!("<sheets>{sheets}</sheets>")).save(place.path(), "same.xlsx");
    assert_eq!(refusals(place.path(), "same.xlsx"), ["damaged"; 5]);
    // An end that claims four thousand million parts, and one that points beyond the file.
    let mut bytes = xlsx(&honest).bytes();
    let end = bytes.len() - 22;
    bytes[end + 8..end + 12].copy_from_slice(&[0xFE, 0xFF, 0xFE, 0xFF]);
    std::fs::write(place.path().join("many.xlsx"), &bytes).unwrap();
    assert_eq!(refusals(place.path(), "many.xlsx"), ["damaged"; 5]);
    bytes[end + 12..end + 20].copy_from_slice(&[0xFF, 0xFF, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF, 0x7F]);
    std::fs::write(place.path().join("beyond.xlsx"), &bytes).unwrap();
    assert_eq!(refusals(place.path(), "beyond.xlsx"), ["damaged"; 5]);
}

#[test]
fn deep_endless_and_self_referring_xml_is_refused() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let place = tempfile::tempdir().unwrap();
    let row = r#"<row r="1"><c r="A1" t="s"><v>0</v></c></row>"#;
    let deep = "<a>".repeat(1_000_000);
    xlsx(&sheet(&deep)).save(place.path(), "sheet.xlsx");
    assert_eq!(refusals(place.path(), "sheet.xlsx"), ["too_large"; 5]);
    xlsx(&sheet(row)).part("xl/sharedStrings.xml", format!("<sst>{deep}")).save(place.path(), "strings.xlsx");
    assert_eq!(refusals(place.path(), "strings.xlsx"), ["too_large"; 4]);
    xlsx_with(&sheet(row), &deep).save(place.path(), "workbook.xlsx");
    assert_eq!(refusals(place.path(), "workbook.xlsx"), ["too_large"; 5]);
    let laughs = r#"<!DOCTYPE w [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><worksheet><sheetData/></worksheet>"#;
    xlsx(laughs).save(place.path(), "laughs.xlsx");
    assert_eq!(refusals(place.path(), "laughs.xlsx"), ["damaged"; 5]);
    let fetch = r#"<!DOCTYPE w SYSTEM "http://127.0.0.1:1/x.dtd"><worksheet><sheetData/></worksheet>"#;
    xlsx(fetch).save(place.path(), "fetch.xlsx");
    assert_eq!(refusals(place.path(), "fetch.xlsx"), ["damaged"; 5]);
    xlsx(&sheet(&format!("<row {}", "a='' ".repeat(400_000)))).save(place.path(), "tag.xlsx");
    assert_eq!(refusals(place.path(), "tag.xlsx"), ["too_large"; 5]);
    xlsx(&sheet(&r#"<c r="A1"><v>1</v></c>"#.repeat(100_000))).save(place.path(), "cells.xlsx");
    assert_eq!(refusals(place.path(), "cells.xlsx"), ["damaged"; 4], "listing counts cells and keeps none");
}

#[test]
fn a_file_that_was_cut_off_anywhere_is_refused() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let place = tempfile::tempdir().unwrap();
    let whole = xlsx(&sheet(r#"<row r="1"><c r="A1"><v>1</v></c></row>"#)).bytes();
    for at in (0..whole.len()).step_by(37) {
        std::fs::write(place.path().join("cut.xlsx"), &whole[..at]).unwrap();
        let codes = refusals(place.path(), "cut.xlsx");
        assert_eq!(codes.len(), 5, "{at} bytes of {}", whole.len());
        assert!(codes.iter().all(|code| code == "damaged" || code == "not_a_workbook"), "{codes:?}");
    }
    // Within a part: the archive is whole, its XML is not.
    let part = sheet(r#"<row r="1"><c r="A1" t="inlineStr"><is><t>text</t></is></c></row>"#);
    let end = part.find("</sheetData>").unwrap();
    for at in 1..end {
        xlsx(&part[..at]).save(place.path(), "part.xlsx");
        assert_eq!(refusals(place.path(), "part.xlsx"), ["damaged"; 5], "{at}");
    }
}

#[test]
fn what_one_long_text_could_become_stays_within_bounds() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let place = tempfile::tempdir().unwrap();
    let text = "y".repeat(MIB - 1);
    let cells = r#"<c t="s"><v>0</v></c>"#.repeat(16_384);
    let rows = format!("<row>{cells}</row>").repeat(3);
    xlsx(&sheet(&rows))
        .part("xl/sharedStrings.xml", format!("<sst><si><t>{text}</t></si></sst>"))
        .save(place.path(), "a.xlsx");
    assert_eq!(refusals(place.path(), "a.xlsx"), ["row_too_large"], "the others answer without what is too much");
    let (saved, cost) =
        measured(place.path(), "save-dump", &["--path", "a.xlsx", "--to", "a.txt", "--max-results", "0"]);
    assert!(saved.is_ok() && cost.peak < 64 * MIB);
    // A text beyond what any program writes is refused.
    let long = format!(r#"<row><c t="inlineStr"><is><t>{text}{text}</t></is></c></row>"#);
    xlsx(&sheet(&long)).save(place.path(), "long.xlsx");
    assert_eq!(refusals(place.path(), "long.xlsx"), ["too_large"; 4]);
}

#[test]
fn what_is_large_and_legitimate_is_read_in_the_memory_that_it_needs() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let place = tempfile::tempdir().unwrap();
    xlsx(&sheet(r#"<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>"#)).save(place.path(), "corner.xlsx");
    let (read, cost) = measured(place.path(), "read-sheet", &["--path", "corner.xlsx", "--keep-empty", "--header"]);
    assert_eq!(read.unwrap()["total_rows"], 0);
    assert!(cost.peak < 8 * MIB, "{} bytes", cost.peak);
    let (read, cost) = measured(place.path(), "read-sheet", &["--path", "corner.xlsx", "--keep-empty"]);
    assert_eq!(read.unwrap()["total_rows"], 1_048_576);
    assert!(cost.peak < 16 * MIB, "{} bytes", cost.peak);

    let count = 60_000;
    let strings: String = (0..count).map(|at| format!("<si><t>string {at}</t></si>")).collect();
    // In falling order, so that the first row needs the whole table.
    let rows: String = (0..count).rev().map(|at| format!(r#"<row><c t="s"><v>{at}</v></c></row>"#)).collect();
    xlsx(&sheet(&rows)).part("xl/sharedStrings.xml", format!("<sst>{strings}</sst>")).save(place.path(), "many.xlsx");
    let (read, cost) = measured(place.path(), "read-sheet", &["--path", "many.xlsx"]);
    let read = read.unwrap();
    assert_eq!((&read["rows"][0], &read["total_rows"]), (&json!([format!("string {}", count - 1)]), &json!(count)));
    assert!(cost.peak < 12 * MIB, "{} bytes", cost.peak);
}
