//! A child with its process group: started together, killed together.
//!
//! Owns what differs between systems. Refuses to know why a child has to end. Start at `Group::start`.

use std::process::{Command, Stdio};

use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

use crate::child::Launch;

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::{Group, is_settled, kill_everybody};
#[cfg(windows)]
pub(crate) use windows::{Group, is_settled, kill_everybody};

/// A group that was just started, and its pipes.
pub(crate) struct Started {
    pub(crate) group: Group,
    /// There when it was asked for.
    pub(crate) stdin: Option<ChildStdin>,
    pub(crate) stdout: ChildStdout,
    pub(crate) stderr: ChildStderr,
}

/// What a child reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    Nothing,
    Pipe,
}

/// How a leader ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Code(i32),
    Signal(i32),
}

/// The command that a launch describes: cleared environment, both outputs piped.
#[expect(clippy::disallowed_methods, reason = "this is the one door")]
fn command(launch: &Launch, input: Input) -> Command {
    let mut command = Command::new(&launch.program);
    command
        .args(&launch.args)
        .env_clear()
        .envs(launch.env.iter().map(|(name, value)| (name, value)))
        .current_dir(&launch.cwd)
        .stdin(match input {
            Input::Nothing => Stdio::null(),
            Input::Pipe => Stdio::piped(),
        })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}
