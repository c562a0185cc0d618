//! A child that is talked to line by line: a line in, a line out, until one of the two has had enough.
//!
//! Owns the pipes and the waiting; what a line means is the caller's. A session that is dropped kills its child with all
//! its group, as a run does. It carries no mark of a run: a mark says that nobody talks to whoever bears it. Start at
//! [`Session::start`].

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::time::Instant;

use crate::child::{Ending, GRACE, Launch, SpawnError, not_started};
use crate::group::{Group, Input, Started};

/// How much is read at once.
const CHUNK: usize = 16 * 1024;
/// How long standard error is read on once standard output has ended.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Why a session cannot go on. Never holds a line.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// Its time is up.
    #[error("its time was up")]
    TimedOut,
    /// A line is longer than the launch allows.
    #[error("it wrote a line of more than {most} bytes")]
    LineTooLong {
        /// How many bytes a line may have.
        most: usize,
    },
    /// The child closed its end.
    #[error("it ended")]
    Ended,
    /// A pipe failed.
    #[error("lost it")]
    Lost(#[source] io::Error),
}

/// A running child with both ends of the conversation.
pub struct Session {
    group: Group,
    stdin: Option<ChildStdin>,
    stdout: ChildStdout,
    /// What was read and not yet given out.
    read: Vec<u8>,
    /// Up to where `read` is known to hold no line's end.
    searched: usize,
    longest: usize,
    stderr: Option<ChildStderr>,
    errors: Vec<u8>,
    tail: usize,
    deadline: Instant,
}

impl Session {
    /// Starts a child. [`Launch::timeout`] is how long the whole session may take, [`Launch::max_stdout_bytes`] how
    /// long a line may be. Must be called within a runtime.
    pub fn start(launch: &Launch) -> Result<Session, SpawnError> {
        let started = Group::start(launch, Input::Pipe).map_err(|source| not_started(launch, source))?;
        let Started { group, stdin, stdout, stderr } = started;
        Ok(Session {
            group,
            stdin,
            stdout,
            read: Vec::new(),
            searched: 0,
            longest: launch.max_stdout_bytes,
            stderr: Some(stderr),
            errors: Vec::new(),
            tail: launch.stderr_tail_bytes,
            deadline: Instant::now() + launch.timeout,
        })
    }

    /// Writes one line; its end is added.
    pub async fn send(&mut self, line: &str) -> Result<(), SessionError> {
        let mut bytes = Vec::with_capacity(line.len() + 1);
        bytes.extend_from_slice(line.as_bytes());
        bytes.push(b'\n');
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            let Some(stdin) = &mut self.stdin else { return Err(SessionError::Ended) };
            tokio::select! {
                biased;
                () = tokio::time::sleep_until(self.deadline) => return Err(SessionError::TimedOut),
                written = stdin.write(rest) => rest = rest.get(written.map_err(gone)?..).unwrap_or_default(),
                // A child that waits until it is read would never read us.
                read = read_some(&mut self.stdout, &mut self.read), if self.read.len() < self.longest => {
                    if read.map_err(SessionError::Lost)? == 0 {
                        return Err(SessionError::Ended);
                    }
                }
                () = listen(&mut self.stderr, &mut self.errors, self.tail) => {}
            }
        }
        Ok(())
    }

    /// Waits for the next line, without its end; [`SessionError::Ended`] when there is none any more. May be dropped
    /// and called again.
    pub async fn receive(&mut self) -> Result<String, SessionError> {
        loop {
            if let Some(line) = self.whole_line() {
                return Ok(line);
            }
            if self.read.len() > self.longest {
                return Err(SessionError::LineTooLong { most: self.longest });
            }
            tokio::select! {
                biased;
                () = tokio::time::sleep_until(self.deadline) => return Err(SessionError::TimedOut),
                read = read_some(&mut self.stdout, &mut self.read) => {
                    if read.map_err(SessionError::Lost)? == 0 {
                        break;
                    }
                }
                () = listen(&mut self.stderr, &mut self.errors, self.tail) => {}
            }
        }
        // Why it ended is told there, and may not have been read yet.
        let _ = tokio::time::timeout(LAST_WORDS, async {
            while self.stderr.is_some() {
                listen(&mut self.stderr, &mut self.errors, self.tail).await;
            }
        })
        .await;
        Err(SessionError::Ended)
    }

    /// The last [`Launch::stderr_tail_bytes`] of what the child said on standard error so far.
    pub fn stderr_tail(&self) -> &[u8] {
        &self.errors
    }

    /// What was read of a line that has not ended.
    pub fn begun(&self) -> &[u8] {
        &self.read
    }

    /// Ends the child's input, lets it end by itself for a moment, and returns when it and its whole group are gone.
    pub async fn end(mut self) -> Result<Ending, SessionError> {
        self.stdin = None;
        let since = Instant::now();
        loop {
            let Session { group, stdout, read, stderr, errors, tail, .. } = &mut self;
            tokio::select! {
                biased;
                () = tokio::time::sleep_until(since + GRACE) => break,
                gone = group.leader_gone() => { gone.map_err(SessionError::Lost)?; break }
                // Whatever it still writes must not keep it from ending.
                left = read_some(stdout, read) => match left {
                    Ok(0) | Err(_) => { let _ = tokio::time::timeout_at(since + GRACE, group.leader_gone()).await; break }
                    Ok(_) => read.clear(),
                },
                () = listen(stderr, errors, *tail) => {}
            }
        }
        self.group.end().await.map(Ending::of).map_err(SessionError::Lost)
    }

    fn whole_line(&mut self) -> Option<String> {
        let unsearched = self.read.get(self.searched..).unwrap_or_default();
        let Some(at) = unsearched.iter().position(|byte| *byte == b'\n') else {
            self.searched = self.read.len();
            return None;
        };
        let mut line: Vec<u8> = self.read.drain(..=self.searched + at).collect();
        self.searched = 0;
        line.pop();
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        Some(String::from_utf8_lossy(&line).into_owned())
    }
}

async fn read_some(stdout: &mut ChildStdout, read: &mut Vec<u8>) -> io::Result<usize> {
    read.reserve(CHUNK);
    stdout.read_buf(read).await
}

/// Keeps the tail of standard error. Waits for ever once that has ended, so that it can stand in a `select`.
async fn listen(stderr: &mut Option<ChildStderr>, errors: &mut Vec<u8>, tail: usize) {
    let Some(pipe) = stderr else { return std::future::pending().await };
    errors.reserve(CHUNK);
    if matches!(pipe.read_buf(errors).await, Ok(0) | Err(_)) {
        *stderr = None;
    }
    errors.drain(..errors.len().saturating_sub(tail));
}

fn gone(error: io::Error) -> SessionError {
    if error.kind() == io::ErrorKind::BrokenPipe { SessionError::Ended } else { SessionError::Lost(error) }
}
