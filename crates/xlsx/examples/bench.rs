//! The reader and its floor, one measurement a process, so that each prints its own peak of memory.
//!
//! `bench generate FOLDER` writes `shared.xlsx` and `inline.xlsx` (200 000 rows by 10 mixed columns), `strings.xlsx` (a
//! million shared strings) and `corner.xlsx` (one cell at XFD1048576). `bench ours FILE [MAX-RESULTS]` reads the first
//! sheet with this crate, its cap on bytes raised; `bench floor FILE` does it with bare calamine and writes the rows as
//! JSON. Both write the JSON to nowhere and print `{"ms", "rows", "json_bytes", "peak_kib"}`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a program for developers"
)]

use std::ffi::OsString;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use calamine::{Data, Reader, Xlsx};
use gatelatch_xlsx::roots::Roots;
use rust_xlsxwriter::{Format, Workbook, Worksheet};
use serde_json::json;

const ROWS: u32 = 200_000;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let start = Instant::now();
    let (rows, bytes) = match args[..] {
        ["generate", folder] => return generate(Path::new(folder)),
        ["ours", file] => ours(file, None),
        ["ours", file, most] => ours(file, Some(most)),
        ["floor", file] => floor(file),
        _ => panic!("generate FOLDER, ours FILE [MAX-RESULTS], floor FILE"),
    };
    let ms = start.elapsed().as_secs_f64() * 1000.0;
    println!("{}", json!({ "ms": ms, "rows": rows, "json_bytes": bytes, "peak_kib": peak() }));
}

/// Counts what goes nowhere, and the ends of rows in it.
#[derive(Default)]
struct Counter {
    bytes: u64,
    rows: u64,
}

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes += bytes.len() as u64;
        self.rows += bytes.windows(2).filter(|pair| pair == b"],").count() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn ours(file: &str, most: Option<&str>) -> (u64, u64) {
    let mut args = vec!["--path", file, "--max-bytes", "1000000000000"];
    args.extend(most.iter().flat_map(|most| ["--max-results", *most]));
    let args: Vec<OsString> = args.into_iter().map(OsString::from).collect();
    let mut out = Counter::default();
    gatelatch_xlsx::run("read-sheet", &args, &Roots::new(Path::new("."), None, None), &mut out).unwrap();
    (out.rows, out.bytes)
}

fn floor(file: &str) -> (u64, u64) {
    let mut book: Xlsx<_> = calamine::open_workbook(file).unwrap();
    let name = book.sheet_names()[0].clone();
    let range = book.worksheet_range(&name).unwrap();
    let mut out = BufWriter::new(Counter::default());
    out.write_all(b"[").unwrap();
    for row in range.rows() {
        out.write_all(b"[").unwrap();
        for (at, cell) in row.iter().enumerate() {
            if at > 0 {
                out.write_all(b",").unwrap();
            }
            match cell {
                Data::Empty => out.write_all(b"\"\"").unwrap(),
                Data::Int(number) => write!(out, "{number}").unwrap(),
                Data::Float(number) => serde_json::to_writer(&mut out, number).unwrap(),
                Data::Bool(value) => write!(out, "{value}").unwrap(),
                Data::String(text) | Data::DateTimeIso(text) | Data::DurationIso(text) => {
                    serde_json::to_writer(&mut out, text).unwrap();
                }
                Data::DateTime(moment) => {
                    let (year, month, day, hour, minute, second, _) = moment.to_ymd_hms_milli();
                    write!(out, "\"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}\"").unwrap();
                }
                Data::Error(error) => write!(out, "\"{error}\"").unwrap(),
            }
        }
        out.write_all(b"],").unwrap();
    }
    let counter = out.into_inner().map_err(|_| "never").unwrap();
    (counter.rows, counter.bytes)
}

/// The most memory that this process ever held, where the system tells it.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

fn generate(folder: &Path) {
    std::fs::create_dir_all(folder).unwrap();
    let mut book = Workbook::new();
    mixed(book.add_worksheet());
    book.save(folder.join("shared.xlsx")).unwrap();
    let mut book = Workbook::new();
    mixed(book.add_worksheet_with_constant_memory().unwrap());
    book.save(folder.join("inline.xlsx")).unwrap();
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    for at in 0..1_000_000u32 {
        sheet.write(at / 2, (at % 2) as u16, format!("string number {at}")).unwrap();
    }
    book.save(folder.join("strings.xlsx")).unwrap();
    let mut book = Workbook::new();
    book.add_worksheet().write(1_048_575, 16_383, 1).unwrap();
    book.save(folder.join("corner.xlsx")).unwrap();
}

/// Whole numbers, fractions, booleans, dates, and texts that repeat often, seldom and never.
fn mixed(sheet: &mut Worksheet) {
    let date = Format::new().set_num_format("yyyy-mm-dd hh:mm:ss");
    for row in 0..ROWS {
        sheet.write(row, 0, row).unwrap();
        sheet.write(row, 1, format!("customer {}", row % 5000)).unwrap();
        sheet.write(row, 2, f64::from(row) * 1.37).unwrap();
        sheet.write(row, 3, row % 2 == 0).unwrap();
        sheet.write_with_format(row, 4, 40_000.0 + f64::from(row) / 7.0, &date).unwrap();
        sheet.write(row, 5, format!("note number {row}, which no other row has")).unwrap();
        sheet.write(row, 6, ["red", "green", "blue"][row as usize % 3]).unwrap();
        sheet.write(row, 7, row * 1000).unwrap();
        sheet.write(row, 8, format!("Zürich-{}", row % 100)).unwrap();
        sheet.write(row, 9, f64::from(row) / 3.0).unwrap();
    }
}
