//! One step of a task: a program that must succeed, with its time told.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Instant;

use anyhow::{Context, bail};
use cargo_metadata::MetadataCommand;

/// The repository's root.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// Where cargo puts what it builds, whoever says so: `CARGO_TARGET_DIR`, `build.target-dir`, or nobody.
pub(crate) fn target() -> &'static Path {
    static TARGET: OnceLock<PathBuf> = OnceLock::new();
    TARGET.get_or_init(|| {
        let metadata = MetadataCommand::new().no_deps().current_dir(root()).exec();
        metadata.map_or_else(|_| root().join("target"), |metadata| metadata.target_directory.into_std_path_buf())
    })
}

/// The release binary.
pub(crate) fn binary() -> PathBuf {
    target().join("release/gatelatch").with_extension(std::env::consts::EXE_EXTENSION)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// This test's own program lies there, wherever that is.
    #[test]
    fn what_cargo_builds_is_looked_for_where_cargo_puts_it() {
        let tests = std::env::current_exe().unwrap().canonicalize().unwrap();
        let target = target().canonicalize().unwrap();
        assert!(tests.starts_with(&target), "{} is not in {}", tests.display(), target.display());
        assert!(binary().starts_with(super::target()));
    }
}
