//! What keeps a program from starting, told from its file, and what to do about it.
//!
//! The system says the same of a missing file and of a file whose interpreter is missing; whoever reads that looks in the
//! wrong place. Knows no call: what it tells never holds an argument. Start at `explain`.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use gatelatch_registry::catalog::ActionManifest;
use gatelatch_spawn::child::SpawnError;

use crate::runner::RunError;

/// How much of a file is read for its first line. Linux itself reads no more than 256 bytes.
const FIRST: u64 = 256;

/// An error that says which file it is about, why it did not start, and what helps. Reads a few bytes of the file.
pub(crate) fn explain(error: SpawnError, action: &ActionManifest) -> RunError {
    match error {
        SpawnError::Start { program, source } => {
            let (why, help) = obstacle(&program, &source);
            RunError::CannotStart { cause: format!("`{program}` could not be started: {why} ({source})"), help }
        }
        SpawnError::Folder { folder, source } => RunError::CannotStart {
            cause: format!("its working folder `{folder}` cannot be entered ({source})"),
            help: match action.cwd {
                Some(_) => "make that folder, or change `cwd` in the manifest".to_owned(),
                None => "start Gatelatch in a folder that is there".to_owned(),
            },
        },
        lost @ SpawnError::Lost { .. } => RunError::Spawn(lost),
    }
}

fn obstacle(program: &str, source: &io::Error) -> (String, String) {
    let first = First::of(Path::new(program));
    let shebang = "such as `#!/bin/sh` or `#!/usr/bin/env python3`";
    match (source.kind(), first) {
        (io::ErrorKind::NotFound, First::Absent) => (
            "it is not there".to_owned(),
            format!("put it back, or change `entrypoint` in the manifest from `{program}`"),
        ),
        (io::ErrorKind::NotFound, First::Interpreter { name, crlf: true }) => (
            format!(
                "its first line asks for `{name}` and ends in a carriage return, which counts as a part of the name"
            ),
            format!("save `{program}` with plain line ends: `sed -i 's/\\r$//' {program}`"),
        ),
        (io::ErrorKind::NotFound, First::Interpreter { name, .. }) => (
            format!("its first line asks for `{name}`, which is not there"),
            format!("install `{name}`, or begin `{program}` with another line, {shebang}"),
        ),
        (io::ErrorKind::NotFound, First::Text | First::Binary) => (
            "a loader that it was built for is not there".to_owned(),
            format!("build `{program}` for this machine, or install what it was built for"),
        ),
        (io::ErrorKind::PermissionDenied, First::Interpreter { name, .. }) if is_executable(program) => (
            format!("the system runs neither it nor, perhaps, `{name}`, for which its first line asks"),
            format!("`chmod +x {name}`, or move `{program}` to where programs may be run"),
        ),
        (io::ErrorKind::PermissionDenied, _) if is_executable(program) => (
            "the system does not let it run where it is".to_owned(),
            format!("move `{program}` to where programs may be run"),
        ),
        (io::ErrorKind::PermissionDenied, _) => ("it is not executable".to_owned(), format!("`chmod +x {program}`")),
        (_, First::Text) if is_no_program(source) => (
            "it has no `#!` line that says what runs it".to_owned(),
            format!("begin `{program}` with a line {shebang}"),
        ),
        (_, First::Interpreter { name, .. }) if is_no_program(source) => (
            format!("its first line asks for `{name}`, which is no program"),
            format!("begin `{program}` with another line, {shebang}"),
        ),
        (_, First::Binary) if is_no_program(source) => (
            "it is no program for this machine".to_owned(),
            format!("build `{program}` for this machine, or begin it with a line {shebang} if it is a script"),
        ),
        (_, First::Absent | First::Text | First::Binary | First::Interpreter { .. }) => {
            ("the system refused".to_owned(), format!("try `{program}` in a terminal on this machine"))
        }
    }
}

/// How a file begins.
enum First {
    /// It is not there, or it is nothing that can be read.
    Absent,
    Interpreter {
        name: String,
        crlf: bool,
    },
    Text,
    Binary,
}

impl First {
    fn of(program: &Path) -> First {
        // A pipe would be waited for.
        if !program.is_file() {
            return First::Absent;
        }
        let mut bytes = Vec::new();
        let read = File::open(program).and_then(|file| file.take(FIRST).read_to_end(&mut bytes));
        if read.is_err() {
            return First::Binary;
        }
        if let Some(rest) = bytes.strip_prefix(b"#!") {
            let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
            let name = line.trim_ascii().split(|byte| matches!(byte, b' ' | b'\t')).next().unwrap_or_default();
            let crlf = line.ends_with(b"\r") && !line.trim_ascii().iter().any(|byte| matches!(byte, b' ' | b'\t'));
            return First::Interpreter { name: String::from_utf8_lossy(name).escape_debug().to_string(), crlf };
        }
        if bytes.contains(&0) { First::Binary } else { First::Text }
    }
}

#[cfg(unix)]
fn is_no_program(source: &io::Error) -> bool {
    source.raw_os_error() == Some(rustix::io::Errno::NOEXEC.raw_os_error())
}

/// `ERROR_BAD_EXE_FORMAT`.
#[cfg(not(unix))]
fn is_no_program(source: &io::Error) -> bool {
    source.raw_os_error() == Some(193)
}

fn is_executable(program: &str) -> bool {
    crate::program::is_executable(Path::new(program))
}
