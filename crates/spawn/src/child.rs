//! One child from its start to the death of its whole group.
//!
//! Owns the order of things: what is waited for, what ends a child, how long it is given. How a group is killed is
//! `group`'s business, what becomes of its output `stream`'s. Start at [`run`].

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use crate::group::{self, Exit, Group, Input, Started};
use crate::stream::Streams;

/// How long a group that was asked to end may take before it is killed.
pub const GRACE: Duration = Duration::from_secs(1);
/// How often a group is looked at while it has its grace.
const LOOK: Duration = Duration::from_millis(5);
/// How long the pipes are read on once the group is gone: someone who left the group may hold them open for ever.
const DRAIN: Duration = Duration::from_millis(500);

/// The variable that marks every process of a run, so that one that left its group is still known for ours.
///
/// Set by this crate on Linux beside what [`Launch::env`] says. A value in [`Launch::env`] is the run that this
/// process itself belongs to; the child's value then names both, the outer one first.
pub const RUN_VARIABLE: &str = "GATELATCH_RUN";

/// What to start, and what it may cost.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The program, an absolute path.
    pub program: PathBuf,
    /// Its arguments, one element each; never a shell string.
    pub args: Vec<OsString>,
    /// Its whole environment, but for [`RUN_VARIABLE`].
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

/// Takes standard error line by line, as it is, while the child runs.
pub type LineListener = Box<dyn FnMut(&[u8]) + Send>;

/// What listens to a child's streams.
#[derive(Default)]
pub struct Listeners {
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

impl Ending {
    /// The ending of a child that we did not end.
    pub(crate) fn of(exit: Exit) -> Ending {
        match exit {
            Exit::Code(code) => Ending::Exited(code),
            Exit::Signal(signal) => Ending::Signalled(signal),
        }
    }
}

/// A child that is gone, with all its group. Its output is raw: whoever lent it a secret masks it.
#[derive(Debug)]
pub struct Ended {
    /// How it ended.
    pub ending: Ending,
    /// The first [`Launch::max_stdout_bytes`] of standard output.
    pub stdout: Vec<u8>,
    /// How many bytes of standard output there were in all.
    pub stdout_bytes: u64,
    /// The last [`Launch::stderr_tail_bytes`] of standard error.
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
    /// The working folder is not there or may not be entered.
    #[error("cannot enter `{folder}`")]
    Folder {
        /// The folder's path.
        folder: String,
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
///
/// Dropping the future kills the group as well. On Linux those who left the group (double forks in a session of their
/// own) die too; elsewhere only the group does.
pub async fn run(launch: Launch, listeners: Listeners, cancelled: CancellationToken) -> Result<Ended, SpawnError> {
    let begun = Instant::now();
    if cancelled.is_cancelled() {
        return Ok(Ended::before_the_start());
    }
    let Started { mut group, stdout, stderr, .. } =
        Group::start(&launch, Input::Nothing).map_err(|source| not_started(&launch, source))?;
    let mut streams = Streams::new(stdout, stderr, &launch, listeners);
    let (ours, exit) = follow(&mut group, &mut streams, launch.timeout, &cancelled)
        .await
        .map_err(|source| SpawnError::Lost { program: launch.program.display().to_string(), source })?;
    let (stdout, stdout_bytes, stderr_tail) = streams.finish();
    let ending = ours.unwrap_or_else(|| Ending::of(exit));
    Ok(Ended { ending, stdout, stdout_bytes, stderr_tail, elapsed: begun.elapsed() })
}

/// Waits until nothing is left of any run of this process, for at most `within`, and says whether that is so.
///
/// A process that ends leaves behind whoever it has not ended yet: children that still have their grace, and those of a
/// dropped future. So it calls this last. Who is left when the time is up is killed, and given a moment more to be gone.
pub async fn settle(within: Duration) -> bool {
    let is_settled = async {
        while !group::is_settled() {
            tokio::time::sleep(LOOK).await;
        }
    };
    let mut is_settled = std::pin::pin!(is_settled);
    if tokio::time::timeout(within, &mut is_settled).await.is_ok() {
        return true;
    }
    group::kill_everybody();
    let is_settled = tokio::time::timeout(DRAIN, &mut is_settled).await.is_ok();
    if !is_settled {
        tracing::warn!("what was started may outlive this process");
    }
    is_settled
}

impl Ended {
    fn before_the_start() -> Ended {
        Ended {
            ending: Ending::Cancelled,
            stdout: Vec::new(),
            stdout_bytes: 0,
            stderr_tail: Vec::new(),
            elapsed: Duration::ZERO,
        }
    }
}

/// Sees a started child through: `(how we ended it, if we did; how it ended)`.
async fn follow(
    group: &mut Group,
    streams: &mut Streams,
    timeout: Duration,
    cancelled: &CancellationToken,
) -> io::Result<(Option<Ending>, Exit)> {
    let ours = until_an_end(group, streams, timeout, cancelled).await?;
    if ours.is_some() {
        group.ask_to_end();
        // Whoever does not use the grace to end is killed below; there is nothing else to do about it.
        let _ = tokio::time::timeout(GRACE, until_empty(group, streams)).await;
    }
    let exit = group.end().await?;
    // Everyone of the group is dead: what is still in the pipes is read, and nobody is waited for.
    let _ = tokio::time::timeout(DRAIN, until_closed(streams)).await;
    Ok((ours, exit))
}

/// Reads until the leader is gone (`None`) or has to go.
async fn until_an_end(
    group: &mut Group,
    streams: &mut Streams,
    timeout: Duration,
    cancelled: &CancellationToken,
) -> io::Result<Option<Ending>> {
    let mut deadline = std::pin::pin!(tokio::time::sleep(timeout));
    loop {
        tokio::select! {
            // A flood of output must not keep the other three from being looked at.
            biased;
            gone = group.leader_gone() => return gone.map(|()| None),
            () = cancelled.cancelled() => return Ok(Some(Ending::Cancelled)),
            () = &mut deadline => return Ok(Some(Ending::TimedOut)),
            read = streams.read_some(), if streams.is_open() => read?,
        }
    }
}

/// Reads until nobody of the group lives.
async fn until_empty(group: &mut Group, streams: &mut Streams) -> io::Result<()> {
    loop {
        tokio::select! {
            biased;
            gone = group.leader_gone() => { gone?; break }
            read = streams.read_some(), if streams.is_open() => read?,
        }
    }
    while !group.is_empty() {
        // Nothing tells when a process that is not our child ends, so it is asked; only a child that had to be ended
        // comes here.
        let _ = tokio::time::timeout(LOOK, until_closed(streams)).await;
        if !streams.is_open() {
            tokio::time::sleep(LOOK).await;
        }
    }
    Ok(())
}

/// Reads until both pipes have ended.
async fn until_closed(streams: &mut Streams) -> io::Result<()> {
    while streams.is_open() {
        streams.read_some().await?;
    }
    Ok(())
}

/// The system reports a missing working folder as a missing program.
pub(crate) fn not_started(launch: &Launch, source: io::Error) -> SpawnError {
    match std::fs::metadata(&launch.cwd) {
        Ok(folder) if folder.is_dir() => SpawnError::Start { program: launch.program.display().to_string(), source },
        Ok(_) => {
            SpawnError::Folder { folder: launch.cwd.display().to_string(), source: io::ErrorKind::NotADirectory.into() }
        }
        Err(source) => SpawnError::Folder { folder: launch.cwd.display().to_string(), source },
    }
}
