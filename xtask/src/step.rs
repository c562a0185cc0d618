//! One step of a task: a program that must succeed, with its time told.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, bail};

/// The repository's root.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// The release binary.
pub(crate) fn binary() -> PathBuf {
    root().join("target/release/gatelatch")
}

/// Runs a program in the repository's root; its output is the task's.
pub(crate) fn step(title: &str, program: &str, args: &[&str], variables: &[(&str, &str)]) -> anyhow::Result<()> {
    say(&format!("── {title}: {program} {}", args.join(" ")));
    let started = Instant::now();
    #[expect(clippy::disallowed_methods, reason = "a task of the repository starts the repository's own tools")]
    let mut command = Command::new(program);
    command.args(args).envs(variables.iter().copied()).current_dir(root());
    let status = command.status().with_context(|| format!("cannot start `{program}`"))?;
    say(&format!("── {title}: {:.0} s", started.elapsed().as_secs_f64()));
    if !status.success() {
        bail!("{title} failed: `{program}` ended with {status}");
    }
    Ok(())
}

/// A line on standard error.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
