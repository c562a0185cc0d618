//! Mutates workbooks of every format and reads them in process: no panic, no hang, no memory beyond what is granted.
//!
//! `cargo run --release -p gatelatch-xlsx --example fuzz -- [cases] [first case] [folder of further workbooks]` prints one
//! JSON object and exits 1 when a promise is broken; the workbook that broke it is left in the temporary folder. The
//! mutations are those of the tests, and every case is made from its number alone.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a program for developers"
)]

#[path = "../tests/workbooks/archive.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod archive;
#[path = "../tests/workbooks/mutation.rs"]
mod mutation;
#[path = "../tests/workbooks/sample.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod sample;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use gatelatch_xlsx::roots::Roots;
use peak_alloc::PeakAlloc;
use serde_json::json;

use mutation::{Random, mutated};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

const GRANTED_TIME: Duration = Duration::from_secs(2);
const GRANTED_MEMORY: usize = 256 << 20;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let cases: u64 = args.next().map_or(10_000, |text| text.parse().expect("a number of cases"));
    let first: u64 = args.next().map_or(0, |text| text.parse().expect("the number of the first case"));
    let mut samples: Vec<(String, Vec<u8>)> =
        sample::all().into_iter().map(|(name, bytes)| (name.to_owned(), bytes)).collect();
    if let Some(folder) = args.next() {
        for entry in std::fs::read_dir(folder).expect("a folder of workbooks") {
            let path = entry.unwrap().path();
            samples.push((path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(path).unwrap()));
        }
    }
    // What calamine panics on is caught and told as damage; telling it on the terminal as well would only slow this down.
    std::panic::set_hook(Box::new(|_| {}));
    let place = tempfile::tempdir().unwrap();
    let start = Instant::now();
    let mut totals = Totals::default();
    for case in first..first + cases {
        let mut random = Random::new(case);
        let (name, workbook) = &samples[random.below(samples.len())];
        std::fs::write(place.path().join(name), mutated(&mut random, workbook)).unwrap();
        for (action, more) in ACTIONS {
            if let Some(broken) = totals.attempt(place.path(), action, name, more) {
                let kept = std::env::temp_dir().join(format!("case-{case}-{name}"));
                std::fs::copy(place.path().join(name), &kept).unwrap();
                totals.broken.push(format!("case {case}, {action} of {}: {broken}", kept.display()));
            }
        }
    }
    println!(
        "{}",
        json!({
            "cases": cases,
            "runs": totals.runs,
            "seconds": start.elapsed().as_secs(),
            "answers": totals.answers,
            "slowest_ms": totals.slowest.as_millis() as u64,
            "peak_mib": totals.peak >> 20,
            "broken": totals.broken,
        })
    );
    if totals.broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

const ACTIONS: [(&str, &[&str]); 6] = [
    ("list-sheets", &[]),
    ("read-sheet", &["--header"]),
    ("read-sheet", &["--keep-empty", "--range", "A2:D9"]),
    ("describe", &[]),
    ("dump", &[]),
    ("search", &["--text", "a"]),
];

#[derive(Default)]
struct Totals {
    runs: u64,
    answers: BTreeMap<String, u64>,
    slowest: Duration,
    peak: usize,
    broken: Vec<String>,
}

impl Totals {
    /// Runs one action; the promise that it broke, if it broke one.
    fn attempt(&mut self, folder: &Path, action: &str, name: &str, more: &[&str]) -> Option<String> {
        let args: Vec<OsString> = ["--path", name].iter().chain(more).map(OsString::from).collect();
        let roots = Roots::new(folder, None, None);
        let mut out = Vec::new();
        MEMORY.reset_peak_usage();
        let before = MEMORY.current_usage();
        let start = Instant::now();
        let result = catch_unwind(AssertUnwindSafe(|| gatelatch_xlsx::run(action, &args, &roots, &mut out)));
        let (time, peak) = (start.elapsed(), MEMORY.peak_usage().saturating_sub(before));
        self.runs += 1;
        self.slowest = self.slowest.max(time);
        self.peak = self.peak.max(peak);
        let answer = match &result {
            Ok(Ok(())) => "read".to_owned(),
            Ok(Err(error)) => error.code().to_owned(),
            Err(_) => "panic".to_owned(),
        };
        *self.answers.entry(answer).or_default() += 1;
        match result {
            Err(_) => Some("it panicked".to_owned()),
            Ok(Ok(())) if serde_json::from_slice::<serde_json::Value>(&out).is_err() => {
                Some("it answered something that is not JSON".to_owned())
            }
            Ok(_) if time > GRANTED_TIME => Some(format!("it took {time:?}")),
            Ok(_) if peak > GRANTED_MEMORY => Some(format!("it took {} MiB", peak >> 20)),
            Ok(_) => None,
        }
    }
}
