//! What becomes of a child's output: read as it comes, kept up to a cap.
//!
//! Refuses to know what the bytes mean. Nothing is held beyond the caps, however much a child writes. Start at
//! `Streams`.

use std::collections::VecDeque;
use std::io;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{ChildStderr, ChildStdout};

use crate::child::{Launch, LineListener, Listeners};

/// How much is read at once: what a pipe holds on Linux.
const CHUNK: usize = 64 * 1024;
/// The longest line that a listener hears; the rest of a longer one is passed over.
const LINE: usize = 64 * 1024;

/// Both outputs of a child.
pub(crate) struct Streams {
    stdout: Pipe<ChildStdout>,
    kept: Head,
    stderr: Pipe<ChildStderr>,
    errors: Errors,
}

impl Streams {
    pub(crate) fn new(stdout: ChildStdout, stderr: ChildStderr, launch: &Launch, listeners: Listeners) -> Streams {
        Streams {
            stdout: Pipe::new(stdout),
            kept: Head::new(launch.max_stdout_bytes),
            stderr: Pipe::new(stderr),
            errors: Errors { tail: Tail::new(launch.stderr_tail_bytes), lines: listeners.stderr_line.map(Lines::new) },
        }
    }

    /// Whether a pipe has not ended yet.
    pub(crate) fn is_open(&self) -> bool {
        self.stdout.is_open() || self.stderr.is_open()
    }

    /// Takes what one of the pipes has. Loses nothing when it is dropped.
    pub(crate) async fn read_some(&mut self) -> io::Result<()> {
        let Streams { stdout, kept, stderr, errors } = self;
        tokio::select! {
            read = stdout.read(), if stdout.is_open() => kept.take(read?),
            read = stderr.read(), if stderr.is_open() => errors.take(read?),
            else => {}
        }
        Ok(())
    }

    /// What was kept: the head of standard output, how much there was in all, the tail of standard error.
    pub(crate) fn finish(mut self) -> (Vec<u8>, u64, Vec<u8>) {
        if let Some(lines) = &mut self.errors.lines {
            lines.finish();
        }
        (self.kept.bytes, self.kept.total, self.errors.tail.bytes.into())
    }
}

/// One end of a pipe.
struct Pipe<R> {
    source: Option<R>,
    chunk: Vec<u8>,
}

impl<R: AsyncRead + Unpin> Pipe<R> {
    fn new(source: R) -> Pipe<R> {
        Pipe { source: Some(source), chunk: Vec::new() }
    }

    fn is_open(&self) -> bool {
        self.source.is_some()
    }

    /// Waits for bytes and returns them. Ends the pipe at its end.
    async fn read(&mut self) -> io::Result<&[u8]> {
        self.chunk.clear();
        let Some(source) = &mut self.source else { return Ok(&[]) };
        self.chunk.reserve(CHUNK);
        // The only wait, and one that loses nothing when it is dropped.
        if source.read_buf(&mut self.chunk).await? == 0 {
            self.source = None;
        }
        Ok(&self.chunk)
    }
}

/// The first bytes of a stream, and a count of all.
struct Head {
    bytes: Vec<u8>,
    cap: usize,
    total: u64,
}

impl Head {
    fn new(cap: usize) -> Head {
        Head { bytes: Vec::new(), cap, total: 0 }
    }

    fn take(&mut self, read: &[u8]) {
        self.total += read.len() as u64;
        let room = self.cap.saturating_sub(self.bytes.len()).min(read.len());
        self.bytes.extend_from_slice(&read[..room]);
    }
}

/// Standard error: its tail, and its lines for who listens.
struct Errors {
    tail: Tail,
    lines: Option<Lines>,
}

impl Errors {
    fn take(&mut self, read: &[u8]) {
        self.tail.take(read);
        if let Some(lines) = &mut self.lines {
            lines.take(read);
        }
    }
}

/// The last bytes of a stream.
struct Tail {
    bytes: VecDeque<u8>,
    cap: usize,
}

impl Tail {
    fn new(cap: usize) -> Tail {
        Tail { bytes: VecDeque::new(), cap }
    }

    fn take(&mut self, read: &[u8]) {
        let read = &read[read.len().saturating_sub(self.cap)..];
        let excess = (self.bytes.len() + read.len()).saturating_sub(self.cap);
        self.bytes.drain(..excess);
        self.bytes.extend(read);
    }
}

/// Cuts a stream into lines for a listener.
struct Lines {
    line: Vec<u8>,
    listener: LineListener,
}

impl Lines {
    fn new(listener: LineListener) -> Lines {
        Lines { line: Vec::new(), listener }
    }

    fn take(&mut self, read: &[u8]) {
        for piece in read.split_inclusive(|byte| *byte == b'\n') {
            let (text, ends) = match piece.split_last() {
                Some((b'\n', text)) => (text, true),
                _ => (piece, false),
            };
            let room = LINE.saturating_sub(self.line.len()).min(text.len());
            self.line.extend_from_slice(&text[..room]);
            if ends {
                self.tell();
            }
        }
    }

    fn finish(&mut self) {
        if !self.line.is_empty() {
            self.tell();
        }
    }

    fn tell(&mut self) {
        (self.listener)(self.line.strip_suffix(b"\r").unwrap_or(&self.line));
        self.line.clear();
    }
}
