//! Asks a program for its help text.
//!
//! Owns what the program may cost: a cleared environment, no input, an empty folder that vanishes, a few seconds. Reads no
//! help. Start at [`Probe::help`].

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Context;
use gatelatch_manifest::diagnostic::plain;
use gatelatch_runner::environment::is_passed;
use gatelatch_spawn::child::{Ending, Launch, Listeners, run};
use tokio_util::sync::CancellationToken;

use crate::settings::Environment;

/// How long one answer may take, and all together.
const ONE: Duration = Duration::from_secs(5);
const ALL: Duration = Duration::from_secs(20);
/// How much of an answer is read.
const MOST_BYTES: usize = 256 * 1024;

/// A program that can be asked.
pub(crate) struct Probe {
    start: (PathBuf, Vec<OsString>),
    env: Vec<(OsString, OsString)>,
    folder: tempfile::TempDir,
    until: Instant,
}

impl Probe {
    /// Prepares to ask; starts nothing yet.
    pub(crate) fn new(start: (PathBuf, Vec<OsString>), environment: &Environment) -> anyhow::Result<Probe> {
        let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
        Ok(Probe { start, env: variables(environment), folder, until: Instant::now() + ALL })
    }

    /// The answer to `COMMAND… --help`, or why there is none that reads like help.
    pub(crate) async fn help(&self, commands: &[&str], cancelled: &CancellationToken) -> Result<String, NoHelp> {
        let (program, before) = &self.start;
        let mut args = before.clone();
        args.extend(commands.iter().map(OsString::from));
        args.push("--help".into());
        let launch = Launch {
            program: program.clone(),
            args,
            env: self.env.clone(),
            cwd: self.folder.path().to_owned(),
            timeout: ONE.min(self.until.saturating_duration_since(Instant::now())),
            max_stdout_bytes: MOST_BYTES,
            stderr_tail_bytes: MOST_BYTES,
        };
        let ended = run(launch, Listeners::default(), cancelled.clone())
            .await
            .map_err(|error| NoHelp::NotStarted(cause(&error)))?;
        let good = match ended.ending {
            Ending::Exited(code) => code == 0,
            Ending::TimedOut => return Err(NoHelp::Late),
            Ending::Signalled(_) | Ending::Cancelled => return Err(NoHelp::Other),
        };
        let texts = [&ended.stdout, &ended.stderr_tail].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        // Who knows no `--help` often tells its usage in reply.
        let reads_like_help = |text: &str| {
            let lower = text.to_lowercase();
            lower.contains("usage")
                || (good && ["options", "commands", "arguments", "--"].iter().any(|word| lower.contains(word)))
        };
        let no_help = || {
            let said = texts.iter().rev().find_map(|text| last_line(text));
            said.filter(|_| !good).map_or(NoHelp::Other, |said| NoHelp::Failed { said })
        };
        texts.iter().find(|text| reads_like_help(text)).cloned().ok_or_else(no_help)
    }
}

/// Why there is no help.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoHelp {
    #[error("could not be started ({0})")]
    NotStarted(String),
    #[error("gave no help in time")]
    Late,
    #[error("gave nothing that reads like help")]
    Other,
    /// It ended with an error, as a script does that lacks a module.
    #[error("failed: {said}")]
    Failed { said: String },
}

/// The last line of what a program said, as a terminal may get it.
fn last_line(text: &str) -> Option<String> {
    /// How much of it is told, in characters.
    const MOST: usize = 200;
    let line = text.lines().map(str::trim).rfind(|line| !line.is_empty())?;
    let cut: String = line.chars().take(MOST).collect();
    let more = if cut.len() < line.len() { " …" } else { "" };
    Some(format!("{}{more}", plain(&cut)))
}

/// What lies at the bottom of an error.
fn cause(error: &dyn std::error::Error) -> String {
    let last = std::iter::successors(Some(error), |error| error.source()).last();
    last.map(ToString::to_string).unwrap_or_default()
}

/// What every program gets, and what keeps its answer plain and wide.
fn variables(environment: &Environment) -> Vec<(OsString, OsString)> {
    const SET: [(&str, &str); 7] = [
        ("COLUMNS", "200"),
        ("TERM", "dumb"),
        ("NO_COLOR", "1"),
        ("PAGER", "cat"),
        ("MANPAGER", "cat"),
        ("GIT_PAGER", "cat"),
        // Asking leaves nothing beside the author's script.
        ("PYTHONDONTWRITEBYTECODE", "1"),
    ];
    let passed = environment.variables.iter().filter(|(name, _)| is_passed(name));
    let passed = passed.map(|(name, value)| (name.into(), value.into()));
    passed.chain(SET.iter().map(|(name, value)| (name.into(), value.into()))).collect()
}
