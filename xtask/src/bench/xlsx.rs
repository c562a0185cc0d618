//! `cargo xtask bench xlsx`: the workbook reader beside openpyxl, python-calamine and bare calamine, in turns, in one
//! run. Each measurement is a process of its own, so that each prints its own peak of memory.
//!
//! The Python readers are installed, pinned, into a folder of their own below `target`; where that cannot be done they
//! are left out and the figures say so.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use serde_json::{Map, Value, json};

use crate::python;
use crate::step::{root, say, step, target};

const ROUNDS: usize = 3;

/// Generates the books, measures, and prints medians and ratios as JSON.
pub(crate) fn run() -> anyhow::Result<()> {
    let build = ["build", "--release", "--locked", "--package", "gatelatch-xlsx", "--example", "bench"];
    step("release build", env!("CARGO"), &build, &[])?;
    let bench = target().join("release/examples/bench");
    let books = target().join("bench/xlsx");
    std::fs::create_dir_all(&books)?;
    if !books.join("corner.xlsx").is_file() {
        ran(&bench, &["generate", &books.to_string_lossy()])?;
    }
    let python = python::with_readers();
    if let Err(error) = &python {
        say(&format!("the Python readers are left out: {error:#}"));
    }
    let python = python.ok();
    let script = root().join("xtask/xlsx/readers.py").to_string_lossy().into_owned();
    let mut figures = Map::new();
    for book in ["shared", "inline"] {
        let file = books.join(format!("{book}.xlsx")).to_string_lossy().into_owned();
        let mut sides: Vec<(&str, PathBuf, Vec<&str>)> = vec![
            ("ours", bench.clone(), vec!["ours", &file]),
            ("ours_first_100", bench.clone(), vec!["ours", &file, "100"]),
            ("bare_calamine", bench.clone(), vec!["floor", &file]),
        ];
        if let Some(python) = &python {
            sides.push(("python_calamine", python.clone(), vec![&script, "python-calamine", &file]));
            sides.push(("openpyxl", python.clone(), vec![&script, "openpyxl", &file]));
        }
        figures.insert(book.to_owned(), measured(&sides)?);
    }
    for book in ["strings", "corner"] {
        let file = books.join(format!("{book}.xlsx")).to_string_lossy().into_owned();
        figures.insert(book.to_owned(), measured(&[("ours", bench.clone(), vec!["ours", &file])])?);
    }
    use std::io::Write;
    writeln!(std::io::stdout(), "{}", serde_json::to_string_pretty(&Value::Object(figures))?)?;
    Ok(())
}

/// All sides in turns; medians, and the times of each as a part of ours.
fn measured(sides: &[(&str, PathBuf, Vec<&str>)]) -> anyhow::Result<Value> {
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); sides.len()];
    let mut peaks = vec![0.0_f64; sides.len()];
    for _ in 0..ROUNDS {
        for (side, (_, program, args)) in sides.iter().enumerate() {
            let told = ran(program, args)?;
            let number = |key: &str| told[key].as_f64().with_context(|| format!("no `{key}` in {told}"));
            times[side].push(number("ms")?);
            peaks[side] = peaks[side].max(number("peak_kib")? / 1024.0);
        }
    }
    let medians: Vec<f64> = times
        .into_iter()
        .map(|mut times| {
            times.sort_by(f64::total_cmp);
            times[times.len() / 2]
        })
        .collect();
    let mut figures = Map::new();
    for ((name, ..), (ms, peak)) in sides.iter().zip(medians.iter().zip(&peaks)) {
        let ours_over = medians[0] / ms;
        figures.insert((*name).to_owned(), json!({ "ms": ms.round(), "peak_mib": peak.round(), "ours_over_this": (ours_over * 1000.0).round() / 1000.0 }));
    }
    Ok(figures.into())
}

/// Runs one measurement and reads the JSON of its last line.
fn ran(program: &Path, args: &[&str]) -> anyhow::Result<Value> {
    #[expect(clippy::disallowed_methods, reason = "a bench starts what it measures")]
    let output =
        Command::new(program).args(args).output().with_context(|| format!("cannot start {}", program.display()))?;
    if !output.status.success() {
        bail!("{} {args:?}: {}", program.display(), String::from_utf8_lossy(&output.stderr));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().last().map_or(Value::Null, |line| serde_json::from_str(line).unwrap_or(Value::Null)))
}
