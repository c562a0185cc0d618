//! MCP over standard input and output, or over any pair like them: one message a line, both eras side by side.
//!
//! Owns the life of a connection: when it starts, what bounds it, how it ends. Refuses to know which tools there are
//! and what a result looks like. Start at [`serve`]; [`desk`] is where a line becomes an answer.

mod desk;
mod flight;
mod line;
mod message;
mod notice;
mod output;
mod probe;

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use rmcp::service::serve_directly;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, oneshot};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::adapter::Adapter;
use crate::surface::Surface;
use desk::Desk;
use flight::Flights;
use line::Lines;
use notice::Notices;
use output::{Output, Sink};

/// What bounds a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StdioLimits {
    /// The longest line that is read; a longer one is answered with -32600.
    pub max_line_bytes: usize,
    /// How many calls run at once; further ones wait and can be cancelled.
    pub max_concurrent_calls: usize,
    /// How many bytes of requests may wait for their answers before no more is read.
    pub max_held_bytes: usize,
    /// How long calls may still run when the input ends, before they are cancelled.
    pub drain: Duration,
    /// How long cancelled calls may take to end, and then the client to read what is left.
    pub grace: Duration,
    /// How long a call may be silent before a step of progress is sent for it, where the client asked for progress:
    /// clients give up on a call that says nothing.
    pub silence: Duration,
}

impl Default for StdioLimits {
    fn default() -> StdioLimits {
        StdioLimits {
            max_line_bytes: 8 * 1024 * 1024,
            max_concurrent_calls: 16,
            max_held_bytes: 64 * 1024 * 1024,
            drain: Duration::from_secs(5),
            grace: Duration::from_secs(2),
            silence: Duration::from_secs(15),
        }
    }
}

/// Why a connection ended in an error. That the client went away is none.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The machine gave no thread.
    #[error("cannot start a thread")]
    Thread(#[source] io::Error),
    /// Reading failed.
    #[error("cannot read requests")]
    Read(#[source] io::Error),
    /// Writing failed, other than by a closed pipe.
    #[error("cannot write answers")]
    Write(#[source] io::Error),
    /// The reader ended without a word.
    #[error("the reader of requests crashed")]
    Crashed,
}

/// Serves a surface until the input ends, the output closes or `stop` is cancelled.
///
/// At the end of input, calls in flight are still answered, within [`StdioLimits::drain`]. A call is polled first on
/// the thread that reads, so a surface should not block there. The reading thread outlives this when `stop` ends it
/// first, since nothing can interrupt a read.
///
/// # Errors
///
/// When the input or the output fails in another way than by being closed.
pub async fn serve(
    surface: Arc<dyn Surface>,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    limits: StdioLimits,
    stop: CancellationToken,
) -> Result<(), ServeError> {
    serve_boxed(surface, Box::new(input), Sink::new(output), limits, stop).await
}

/// Why a connection ends.
enum End {
    /// The input ended, or failed.
    Input(io::Result<()>),
    /// The reader crashed.
    Reader,
    /// The output ended.
    Output,
    /// Somebody stopped the server.
    Stopped,
}

// Not generic, so that it is compiled once and here.
async fn serve_boxed(
    surface: Arc<dyn Surface>,
    input: Box<dyn Read + Send>,
    output: Sink,
    limits: StdioLimits,
    stop: CancellationToken,
) -> Result<(), ServeError> {
    let output = Output::start(output).map_err(ServeError::Thread)?;
    let (closed, ending) = (CancellationToken::new(), CancellationToken::new());
    // Also when this future is dropped, nothing goes on.
    let _closed = closed.clone().drop_guard();
    let adapter = Arc::new(Adapter::new(surface, limits.max_concurrent_calls, limits.silence, ending.clone()));
    let notices = Notices { output: output.clone(), closed: closed.clone() };
    let loop_of_notices = serve_directly(adapter.clone(), notices, None);
    let room_size = limits.max_held_bytes.min(Semaphore::MAX_PERMITS);
    let desk = Arc::new(Desk {
        adapter,
        peer: loop_of_notices.peer().clone(),
        output: output.clone(),
        flights: Flights::default(),
        room: Arc::new(Semaphore::new(room_size)),
        room_size,
        tasks: TaskTracker::new(),
        calls: CancellationToken::new(),
        closed: CancellationToken::new(),
        runtime: Handle::current(),
    });
    let _calls = desk.calls.clone().drop_guard();
    let _desk = desk.closed.clone().drop_guard();
    let reader = start_reader(desk.clone(), input, limits.max_line_bytes).map_err(ServeError::Thread)?;

    let end = tokio::select! {
        biased;
        () = stop.cancelled() => End::Stopped,
        () = output.ended() => End::Output,
        read = reader => read.map_or(End::Reader, End::Input),
    };
    desk.closed.cancel();
    desk.tasks.close();
    ending.cancel();
    if matches!(end, End::Input(_)) {
        tokio::select! {
            () = desk.tasks.wait() => {}
            () = tokio::time::sleep(limits.drain) => tracing::warn!("calls still run after the input ended"),
            () = stop.cancelled() => {}
            () = output.ended() => {}
        }
    }
    desk.calls.cancel();
    if timeout(limits.grace, desk.tasks.wait()).await.is_err() {
        tracing::warn!("calls did not end when they were cancelled");
    }
    let written = output.finish(limits.grace).await;
    outcome(end, written)
}

/// Reads on a thread of its own, since a read cannot be interrupted. Tells when the input ended.
fn start_reader(
    desk: Arc<Desk>,
    input: Box<dyn Read + Send>,
    cap: usize,
) -> io::Result<oneshot::Receiver<io::Result<()>>> {
    let (ended, end) = oneshot::channel();
    thread::Builder::new().name("mcp-input".to_owned()).spawn(move || {
        let _runtime = desk.runtime.enter();
        let _ = ended.send(read_lines(&desk, Lines::new(input, cap), cap));
    })?;
    Ok(end)
}

fn read_lines(desk: &Arc<Desk>, mut lines: Lines, cap: usize) -> io::Result<()> {
    while let Some(line) = lines.next()? {
        if desk.closed.is_cancelled() {
            break;
        }
        desk.take(&line, cap);
    }
    Ok(())
}

fn outcome(end: End, written: Option<io::Error>) -> Result<(), ServeError> {
    match (written.filter(|error| !is_departure(error)), end) {
        (Some(error), _) => Err(ServeError::Write(error)),
        (None, End::Input(Err(error))) if !is_departure(&error) => Err(ServeError::Read(error)),
        (None, End::Reader) => Err(ServeError::Crashed),
        (None, End::Input(_) | End::Output | End::Stopped) => Ok(()),
    }
}

/// Whether an error only says that the client went away. Where standard input is a socket, as some launchers make it,
/// a client that leaves answers unread is seen as a reset.
fn is_departure(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, NotConnected};
    matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | NotConnected)
}
