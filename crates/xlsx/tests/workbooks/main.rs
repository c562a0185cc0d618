//! The reader through its public door, on workbooks that are written here or lie beside the repository.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a test may")]

mod actions;
mod archive;
mod binary;
mod expected;
mod manifest;
mod mutation;
mod mutations;
mod opendocument;
mod properties;
mod sample;
mod spreadsheetml;

use std::ffi::OsString;
use std::path::Path;

use gatelatch_xlsx::error::XlsxError;
use gatelatch_xlsx::roots::Roots;
use serde_json::Value;

/// Runs an action in a folder; the error as the caller gets it.
fn run(folder: &Path, action: &str, args: &[&str]) -> Result<Value, Value> {
    let args: Vec<OsString> = args.iter().map(OsString::from).collect();
    let mut out = Vec::new();
    let roots = Roots::new(folder, None, None);
    gatelatch_xlsx::run(action, &args, &roots, &mut out).map_err(|error: XlsxError| error.to_value())?;
    Ok(serde_json::from_slice(&out).unwrap())
}

/// What an action that has to succeed answers.
fn ok(folder: &Path, action: &str, args: &[&str]) -> Value {
    run(folder, action, args).unwrap_or_else(|error| panic!("{action} {args:?}: {error}"))
}

/// The rows of the first sheet.
fn rows(folder: &Path, file: &str) -> Value {
    ok(folder, "read-sheet", &["--path", file])["rows"].clone()
}
