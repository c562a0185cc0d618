//! One child from its start to the death of its whole group.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

/// What to start, and what it may cost.
#[derive(Debug)]
pub struct Launch {
    /// The program, an absolute path.
    pub program: PathBuf,
    /// Its arguments, one element each; never a shell string.
    pub args: Vec<OsString>,
    /// Its whole environment.
    pub env: Vec<(OsString, OsString)>,
    /// Its working folder.
    pub cwd: PathBuf,
    /// How long it may live.
    pub timeout: Duration,
    /// How much of standard output is kept, in bytes; the rest is read and dropped.
    pub max_stdout_bytes: usize,
    /// How much of the end of standard error is kept, in bytes.
    pub stderr_tail_bytes: usize,
}

/// Changes bytes on their way from the child, across the borders of what is read at once: the seam for masking.
pub trait ByteFilter: Send {
    /// Takes what was read, appends what may be passed on; may hold bytes back.
    fn push(&mut self, read: &[u8], passed: &mut Vec<u8>);
    /// The stream ended: appends what was held back.
    fn finish(&mut self, passed: &mut Vec<u8>);
}

/// Takes standard error line by line, after the filter, while the child runs.
pub type LineListener = Box<dyn FnMut(&[u8]) + Send>;

/// What listens to a child's streams.
#[derive(Default)]
pub struct Listeners {
    /// Filters standard output.
    pub stdout: Option<Box<dyn ByteFilter>>,
    /// Filters standard error.
    pub stderr: Option<Box<dyn ByteFilter>>,
    /// Hears each line of standard error (without its end, at most 64 KiB of it).
    pub stderr_line: Option<LineListener>,
}

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// By itself, with this code.
    Exited(i32),
    /// By a signal that was not ours.
    Signalled(i32),
    /// We ended it: its time was up.
    TimedOut,
    /// We ended it: the caller cancelled.
    Cancelled,
}

/// A child that is gone, with all its group.
#[derive(Debug)]
pub struct Ended {
    /// How it ended.
    pub ending: Ending,
    /// The first [`Launch::max_stdout_bytes`] of standard output, filtered.
    pub stdout: Vec<u8>,
    /// How many bytes of standard output there were in all (filtered).
    pub stdout_bytes: u64,
    /// The last [`Launch::stderr_tail_bytes`] of standard error, filtered.
    pub stderr_tail: Vec<u8>,
    /// From start to end.
    pub elapsed: Duration,
}

/// Why a child did not start. Never holds an argument or a value of the environment.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// The program is not there or may not be run.
    #[error("cannot start `{program}`")]
    Start {
        /// The program's path.
        program: String,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// A pipe or a wait failed.
    #[error("lost the child `{program}`")]
    Lost {
        /// The program's path.
        program: String,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
}

/// Starts a child and returns when it and its whole group are gone.
pub async fn run(launch: Launch, listeners: Listeners, cancelled: CancellationToken) -> Result<Ended, SpawnError> {
    let _ = (listeners, cancelled);
    Err(SpawnError::Start {
        program: launch.program.display().to_string(),
        source: std::io::ErrorKind::Unsupported.into(),
    })
}
