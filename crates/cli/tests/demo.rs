//! The demo as a newcomer starts it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

#[path = "harness/server.rs"]
#[allow(dead_code, reason = "each test file uses its part")]
mod server;
#[cfg(unix)]
#[path = "harness/terminal.rs"]
mod terminal;

use std::path::Path;

use rust_xlsxwriter::{ExcelDateTime, Format, Workbook};
use serde_json::Value;
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

#[test]
fn the_demo_plays_the_main_job_within_three_seconds_and_leaves_nothing_behind() {
    let bench = Bench::new();
    let temporary = bench.path("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let bench = bench.set("TMPDIR", &temporary);
    // A machine that builds something else at this moment may be slow once.
    let mut took = Vec::new();
    let out = loop {
        let since = std::time::Instant::now();
        let (code, out, err) = bench.run(&["demo"]);
        assert_eq!(code, 0, "{out}{err}");
        took.push(since.elapsed());
        if since.elapsed() < std::time::Duration::from_secs(3) {
            break out;
        }
        assert!(took.len() < 3, "it took {took:?}");
    };
    let told = [
        "2025-11-25 (the legacy era)",
        "MCP 2026-07-28 (the modern era)",
        "xlsx read-sheet",
        "`file` is no argument of `read-sheet`",
        "\"Customer\":\"Ada\"",
        "was not run: it is irreversible",
        "the outbox is empty",
        "the demo plays the human and says yes",
        "to ada@example.org: Your order",
    ];
    let mut rest = out.as_str();
    for part in told {
        rest = &rest[rest.find(part).unwrap_or_else(|| panic!("`{part}` is missing or out of order\n{out}"))..];
    }
    assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0, "the temporary folder is empty again");
    assert!(!bench.path("home").exists(), "nothing was written for the user");
}

#[test]
fn each_step_is_a_line_of_json_on_request() {
    let bench = Bench::new();
    let (code, out, err) = bench.run(&["demo", "--json", "--yes"]);
    assert_eq!(code, 0, "{out}{err}");
    let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.len() >= 9 && lines.iter().all(|line| line["ok"] == true), "{out}");
    let refused =
        lines.iter().find(|line| line["answer"]["result"]["structuredContent"]["error"] == "approval_required");
    assert_eq!(refused.unwrap()["request"]["params"]["name"], "run_tool");
    assert!(lines.iter().any(|line| line["human"] == "--yes was given, so nobody is asked"), "{out}");
}

#[test]
fn without_python_the_demo_says_what_is_missing_and_does_not_claim_success() {
    let bench = Bench::new().set("PATH", "/nowhere");
    let (code, out, err) = bench.run(&["demo"]);
    assert_eq!(code, 5, "{out}{err}");
    assert!(out.contains("needs Python"), "{out}");
}

#[test]
fn a_variable_of_the_user_s_does_not_change_the_demo() {
    let bench = Bench::new().set("GATELATCH_DENY_IRREVERSIBLE", "1").set("OUTBOX_DIR", "/nowhere/outbox");
    let (code, out, err) = bench.run(&["demo"]);
    assert_eq!(code, 0, "{out}{err}");
}

#[test]
#[cfg(unix)]
fn on_a_terminal_the_human_is_asked_and_only_a_yes_sends() {
    for no in ["no", "", "n", "sure", "y", "Y"] {
        let (code, told) = terminal::talk(&Bench::new(), &[no], &["demo"]);
        assert_eq!(code, 0, "{told}");
        assert!(
            told.contains("Send it? Type the whole word yes: ") && told.contains("nothing was sent"),
            "`{no}`: {told}"
        );
        assert!(!told.contains("to ada@example.org: Your order"), "`{no}`: {told}");
    }
    for yes in ["yes", "Yes"] {
        let (code, told) = terminal::talk(&Bench::new(), &[yes], &["demo"]);
        assert_eq!(code, 0, "{told}");
        assert!(told.contains("to ada@example.org: Your order"), "`{yes}`: {told}");
    }
}
