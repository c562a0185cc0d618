//! A Python with what a task needs, pinned, in a folder of its own below `target`.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::step::{step, target};

/// The readers of workbooks that ours is held against, and the writer of those that it is tried on.
const READERS: [&str; 2] = ["openpyxl==3.1.5", "python-calamine==0.9.1"];

/// Whether this machine has a Python at all.
pub(crate) fn is_here() -> bool {
    #[expect(clippy::disallowed_methods, reason = "a task of the repository asks for the tools that it needs")]
    let mut command = Command::new("python3");
    let status = command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// The interpreter that knows the readers of workbooks.
pub(crate) fn with_readers() -> anyhow::Result<PathBuf> {
    Ok(programs("bench/python", &READERS)?.join("python"))
}

/// The folder of the programs that these packages bring, installed into `target/<name>` unless they are there.
pub(crate) fn programs(name: &str, packages: &[&str]) -> anyhow::Result<PathBuf> {
    let folder = target().join(name);
    let programs = folder.join(if cfg!(windows) { "Scripts" } else { "bin" });
    let stamp = folder.join("installed");
    let wanted = packages.join(" ");
    if std::fs::read_to_string(&stamp).is_ok_and(|there| there == wanted) {
        return Ok(programs);
    }
    step(&format!("a Python for {name}"), "python3", &["-m", "venv", &folder.to_string_lossy()], &[])?;
    let mut args = vec!["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    args.extend(packages);
    step("install", &programs.join("python").to_string_lossy(), &args, &[])?;
    std::fs::write(stamp, wanted)?;
    Ok(programs)
}
