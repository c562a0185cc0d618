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
    let mut command = in_root(program);
    let status = command
        .args(args)
        .envs(variables.iter().copied())
        .status()
        .with_context(|| format!("cannot start `{program}`"))?;
    say(&format!("── {title}: {:.0} s", started.elapsed().as_secs_f64()));
    if !status.success() {
        bail!("{title} failed: `{program}` ended with {status}");
    }
    Ok(())
}

/// A program in the repository's root, started as from a shell: without what cargo says to this task of its package.
///
/// Build scripts that ask for it would run anew, and all that depends on them, each time that a task and a shell build
/// in turn.
pub(crate) fn in_root(program: &str) -> Command {
    #[expect(clippy::disallowed_methods, reason = "a task of the repository starts the repository's own tools")]
    let mut command = Command::new(program);
    let told = |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
    #[expect(clippy::disallowed_methods, reason = "a task passes on its own environment, but for a part of it")]
    let variables = std::env::vars_os();
    for (name, _) in variables.filter(|(name, _)| name.to_str().is_some_and(told)) {
        command.env_remove(name);
    }
    command.current_dir(root());
    command
}

/// A line on standard error.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cargo tells this test of its package, as it tells a task.
    #[test]
    fn what_a_task_builds_is_not_told_of_the_tasks_package() {
        let printed = in_root("env").output().unwrap();
        let printed = String::from_utf8_lossy(&printed.stdout).into_owned();
        assert!(printed.contains("PATH="), "{printed}");
        assert!(!printed.contains("CARGO_MANIFEST_") && !printed.contains("CARGO_PKG_"), "{printed}");
    }

    /// This test's own program lies there, wherever that is.
    #[test]
    fn what_cargo_builds_is_looked_for_where_cargo_puts_it() {
        let tests = std::env::current_exe().unwrap().canonicalize().unwrap();
        let target = target().canonicalize().unwrap();
        assert!(tests.starts_with(&target), "{} is not in {}", tests.display(), target.display());
        assert!(binary().starts_with(super::target()));
    }
}
