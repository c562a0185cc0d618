//! `cargo xtask workbooks`: workbooks that openpyxl writes, read through the release binary.
//!
//! Owns the comparison. Which books there are, and what has to be read from each, is said by `xtask/xlsx/generated.py`,
//! one case for each sentence of what the reader promises. Start at [`run`].

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde::Deserialize;
use serde_json::{Map, Number, Value};

use crate::python;
use crate::step::{binary, say, step, target};

/// The seed of the books that nobody thought of, where none is given.
const SEED: &str = "1";

/// One call and what it has to answer.
#[derive(Deserialize)]
struct Case {
    /// The sentence that it shows.
    rule: String,
    action: String,
    args: Value,
    #[serde(default)]
    env: Map<String, Value>,
    /// These keys of the result; null for one that may not be there.
    result: Option<Value>,
    /// These keys of the error.
    error: Option<Value>,
    /// What a file holds afterwards.
    file: Option<File>,
    /// How long it may take.
    within_ms: Option<u64>,
}

#[derive(Deserialize)]
struct File {
    path: String,
    text: String,
}

/// Writes the books, reads them, and tells every case that is not as it should be.
pub(crate) fn run(words: &[&str]) -> anyhow::Result<()> {
    let seed = match words {
        [] => SEED,
        ["--seed", seed] if seed.parse::<u64>().is_ok() => seed,
        _ => bail!("usage: cargo xtask workbooks [--seed NUMBER]"),
    };
    if !python::is_here() {
        say("── workbooks: skipped, there is no python3 to write them with");
        return Ok(());
    }
    let program = binary();
    if !program.is_file() {
        bail!("`{}` is not there; build it with `cargo build --release`", program.display());
    }
    let folder = target().join("workbooks");
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    std::fs::create_dir_all(&folder)?;
    let folder = folder.canonicalize()?;
    let python = python::with_readers()?.to_string_lossy().into_owned();
    step("workbooks", &python, &["xtask/xlsx/generated.py", &folder.to_string_lossy(), seed], &[])?;
    let cases = std::fs::read(folder.join("cases.json")).context("no cases were written")?;
    let cases: Vec<Case> = serde_json::from_slice(&cases)?;
    let started = Instant::now();
    let mut faults = Vec::new();
    for case in &cases {
        if let Err(error) = case.hold(&folder, &program) {
            faults.push(format!("{}\n  {} {}\n  {error:#}", case.rule, case.action, case.args));
        }
    }
    if !faults.is_empty() {
        bail!("{} of {} cases fail\n{}", faults.len(), cases.len(), faults.join("\n"));
    }
    say(&format!("── workbooks: {} cases hold, {:.1} s", cases.len(), started.elapsed().as_secs_f64()));
    Ok(())
}

impl Case {
    fn hold(&self, folder: &Path, program: &Path) -> anyhow::Result<()> {
        let (answer, took) = self.ask(folder, program)?;
        match (&self.result, &self.error) {
            (Some(wanted), _) => holds(&answer, wanted, "")?,
            // What the reader itself said lies within what the road says of its failure.
            (None, Some(wanted)) => holds(&answer["detail"], wanted, "")?,
            (None, None) => bail!("the case says neither what is answered nor what is refused"),
        }
        if self.result.is_some() && answer.get("error").is_some() {
            bail!("it is refused: {answer}");
        }
        if let Some(file) = &self.file {
            let text =
                std::fs::read_to_string(folder.join(&file.path)).with_context(|| format!("no `{}`", file.path))?;
            if text != file.text {
                bail!("`{}` holds {text:?} and not {:?}", file.path, file.text);
            }
        }
        match self.within_ms {
            Some(most) if took > Duration::from_millis(most) => bail!("it took {took:?} and may take {most} ms"),
            _ => Ok(()),
        }
    }

    fn ask(&self, folder: &Path, program: &Path) -> anyhow::Result<(Value, Duration)> {
        let args = self.args.to_string();
        #[expect(clippy::disallowed_methods, reason = "a task of the repository starts what it checks")]
        let mut command = Command::new(program);
        command.args(["run", "xlsx", &self.action, "--args", &args, "--json"]).current_dir(folder).stdin(Stdio::null());
        // The user's own cache is none of this task's business.
        command.env("GATELATCH_CACHE", target().join("workbooks.cache"));
        command.envs(self.env.iter().filter_map(|(name, value)| value.as_str().map(|value| (name, value))));
        let started = Instant::now();
        let output = command.output()?;
        let took = started.elapsed();
        let answer = serde_json::from_slice(&output.stdout)
            .with_context(|| format!("no JSON: {}", String::from_utf8_lossy(&output.stderr)))?;
        Ok((answer, took))
    }
}

/// Whether an answer has every key that is wanted; inside of them all has to be the same.
fn holds(answer: &Value, wanted: &Value, place: &str) -> anyhow::Result<()> {
    match (answer, wanted) {
        (Value::Object(answer), Value::Object(wanted)) => {
            for (key, wanted) in wanted {
                let place = format!("{place}/{key}");
                match answer.get(key) {
                    None if wanted.is_null() => {}
                    None => bail!("{place} is not there, and should be {wanted}"),
                    Some(found) => holds(found, wanted, &place)?,
                }
            }
            // The outermost keys may be more than a case speaks of, those within may not.
            match answer.keys().find(|key| !place.is_empty() && !wanted.contains_key(*key)) {
                Some(more) => bail!("{place} has `{more}` as well"),
                None => Ok(()),
            }
        }
        (Value::Array(answer), Value::Array(wanted)) => {
            for (at, (answer, wanted)) in answer.iter().zip(wanted).enumerate() {
                holds(answer, wanted, &format!("{place}/{at}"))?;
            }
            if answer.len() != wanted.len() {
                bail!("{place} has {} entries, and should have {}", answer.len(), wanted.len());
            }
            Ok(())
        }
        (Value::Number(answer), Value::Number(wanted)) if is_same(answer, wanted) => Ok(()),
        _ if answer == wanted => Ok(()),
        _ => bail!("{place} is {answer}, and should be {wanted}"),
    }
}

/// A whole number has to be told without a point as long as a double holds each of them.
fn is_same(answer: &Number, wanted: &Number) -> bool {
    const EVERY_WHOLE: f64 = 9_007_199_254_740_992.0;
    let (form, value) = (answer.is_f64() == wanted.is_f64(), answer.as_f64());
    value == wanted.as_f64() && (form || value.is_some_and(|value| value.abs() >= EVERY_WHOLE))
}
