//! Everything that CI checks, in the order in which a fault is cheapest to find.

use crate::bench;
use crate::clients;
use crate::codegen;
use crate::foreign;
use crate::server_json;
use crate::step::step;
use crate::verify_surface;
use crate::workbooks;
use crate::workflows;

/// The clients that every run tries; `--full` tries all.
const CHOSEN: [&str; 4] = ["sdk-legacy", "client-dual", "py-mcp", "opencode"];

/// How many mutated workbooks `--full` reads.
const FUZZED: &str = "100000";

/// Runs all checks and stops at the first that fails.
pub(crate) fn run(full: bool) -> anyhow::Result<()> {
    let cargo = env!("CARGO");
    step("format", cargo, &["fmt", "--all", "--check"], &[])?;
    step("lints", cargo, &["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"], &[])?;
    step("tests", cargo, &["test", "--workspace", "--locked"], &[])?;
    codegen::run(true)?;
    workflows::run()?;
    step("release build", cargo, &["build", "--release", "--locked", "--bin", "gatelatch"], &[])?;
    server_json::run(&["--check"])?;
    verify_surface::run()?;
    workbooks::run(&[])?;
    clients::run(if full { &[] } else { &CHOSEN })?;
    foreign::run()?;
    if full {
        // What a release publishes; that each package builds alone is asked when it is published.
        let package =
            ["package", "--workspace", "--exclude", "gatelatch-xtask", "--no-verify", "--allow-dirty", "--quiet"];
        step("packages", cargo, &package, &[])?;
        let fuzz = ["run", "--release", "--locked", "--package", "gatelatch-xlsx", "--example", "fuzz", "--", FUZZED];
        step("mutated workbooks", cargo, &fuzz, &[])?;
        bench::run()?;
        bench::retrieval(&[])?;
        bench::xlsx::run()?;
    }
    Ok(())
}
