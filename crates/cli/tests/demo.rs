//! The demo as a newcomer starts it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

#[path = "harness/server.rs"]
#[allow(dead_code, reason = "each test file uses its part")]
mod server;

use std::path::Path;

use rust_xlsxwriter::{ExcelDateTime, Format, Workbook};
use server::Bench;

/// The sample workbook, made anew.
fn workbook(path: &Path) {
    let mut workbook = Workbook::new();
    let sheet = workbook.add_worksheet();
    sheet.set_name("Orders").unwrap();
    for (column, title) in ["Order", "Customer", "Item", "Quantity", "Due"].into_iter().enumerate() {
        sheet.write(0, u16::try_from(column).unwrap(), title).unwrap();
    }
    let date = Format::new().set_num_format("yyyy-mm-dd");
    let rows = [
        (1001, "Ada", "Notebooks", 12, (2026, 3, 2)),
        (1002, "Grace", "Pencils", 144, (2026, 3, 9)),
        (1003, "Alan", "Tape", 3, (2026, 3, 16)),
    ];
    for (row, (order, customer, item, quantity, (year, month, day))) in (1..).zip(rows) {
        sheet.write(row, 0, order).unwrap();
        sheet.write(row, 1, customer).unwrap();
        sheet.write(row, 2, item).unwrap();
        sheet.write(row, 3, quantity).unwrap();
        sheet.write_with_format(row, 4, ExcelDateTime::from_ymd(year, month, day).unwrap(), &date).unwrap();
    }
    workbook.save(path).unwrap();
}

#[test]
fn the_sample_workbook_is_the_one_that_is_written_here() {
    let made = Path::new(env!("CARGO_TARGET_TMPDIR")).join("orders.xlsx");
    workbook(&made);
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/verb/demo/orders.xlsx");
    assert!(shipped.metadata().unwrap().len() < 8 * 1024);
    let bench = Bench::new();
    let read = |from: &Path| {
        std::fs::copy(from, bench.path("orders.xlsx")).unwrap();
        let (code, out, err) = bench.run(&["run", "xlsx", "read-sheet", "--arg", "path=orders.xlsx", "--json"]);
        assert_eq!(code, 0, "{out}{err}");
        out
    };
    assert_eq!(read(&shipped), read(&made), "copy {} over it", made.display());
}
