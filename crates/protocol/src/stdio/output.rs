//! The one way out: lines go to the client in the order in which they were sent. Knows no message.
//!
//! A thread of its own writes, so that a client which does not read blocks no task; only a write that surely needs no
//! waiting is done where it arises. Start at [`Output::send`].

use std::any::Any;
use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::probe::Probe;

/// How many bytes may wait for the client before senders wait too.
const HELD_BYTES: u32 = 16 * 1024 * 1024;

/// Lines that wait together are written together, up to about this much.
const BATCH_BYTES: usize = 64 * 1024;

/// Where lines go in the end.
pub(crate) struct Sink {
    write: Box<dyn Write + Send>,
    probe: Option<Probe>,
}

impl Sink {
    pub(crate) fn new(output: impl Write + Send + 'static) -> Sink {
        let probe = Probe::of(&output as &dyn Any);
        Sink { write: Box::new(output), probe }
    }
}

/// The way to the client. Clones share one writer.
#[derive(Clone)]
pub(crate) struct Output {
    queue: Sender<Item>,
    shared: Arc<Shared>,
}

enum Item {
    Line(Vec<u8>),
    Last,
}

struct Shared {
    // Held while a line is written; taken out at the end, so that the client then sees the end.
    sink: Mutex<Option<Sink>>,
    /// Lines in the queue or in the writer's hands.
    waiting: AtomicUsize,
    room: Semaphore,
    /// Nothing more will be written.
    ended: CancellationToken,
    // Written once, by whoever saw it; taken once, at the end.
    failure: Mutex<Option<io::Error>>,
}

impl Output {
    /// Starts the writer.
    pub(crate) fn start(sink: Sink) -> io::Result<Output> {
        let (queue, lines) = channel();
        let shared = Arc::new(Shared {
            sink: Mutex::new(Some(sink)),
            waiting: AtomicUsize::new(0),
            room: Semaphore::new(HELD_BYTES as usize),
            ended: CancellationToken::new(),
            failure: Mutex::new(None),
        });
        let writer = shared.clone();
        thread::Builder::new().name("mcp-output".to_owned()).spawn(move || {
            // The guard also fires when the sink panics.
            let _ended = writer.ended.clone().drop_guard();
            let outcome = writer.write_queued(&lines);
            writer.end(outcome);
        })?;
        Ok(Output { queue, shared })
    }

    /// Sends a line, which ends in its newline. Waits while too much is queued; does nothing once the writer ended.
    pub(crate) async fn send(&self, line: Vec<u8>) {
        if self.shared.write_at_once(&line) {
            return;
        }
        tokio::select! {
            biased;
            room = self.shared.room.acquire_many(charge(&line)) => match room {
                // The writer gives it back when the line is written.
                Ok(room) => room.forget(),
                Err(_) => return,
            },
            () = self.shared.ended.cancelled() => return,
        }
        self.shared.waiting.fetch_add(1, Ordering::AcqRel);
        // It fails only when the writer is gone, and then nobody reads the answer.
        let _ = self.queue.send(Item::Line(line));
    }

    /// Returns when nothing more will be written, by failure or because it was told so.
    pub(crate) async fn ended(&self) {
        self.shared.ended.cancelled().await;
    }

    /// Writes what is queued, but for no longer than this, and ends. What the sink failed with, if it did.
    pub(crate) async fn finish(&self, within: Duration) -> Option<io::Error> {
        let _ = self.queue.send(Item::Last);
        if timeout(within, self.ended()).await.is_err() {
            tracing::warn!("the client does not read; what was left to write is lost");
        }
        lock(&self.shared.failure).take()
    }
}

impl Shared {
    /// Writes here and now what surely needs no waiting and overtakes nothing; false when that is not so.
    fn write_at_once(&self, line: &[u8]) -> bool {
        let mut guard = match self.sink.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return false,
        };
        let Some(sink) = guard.as_mut() else { return false };
        // What is queued goes first.
        if self.waiting.load(Ordering::Acquire) > 0 || !sink.probe.as_ref().is_some_and(|probe| probe.takes(line.len()))
        {
            return false;
        }
        if let Err(error) = write(sink, line) {
            drop(guard);
            self.end(Err(error));
        }
        true
    }

    fn write_queued(&self, lines: &Receiver<Item>) -> io::Result<()> {
        while let Ok(Item::Line(mut batch)) = lines.recv() {
            let (mut count, mut charged, mut is_last) = (1, charge(&batch) as usize, false);
            while batch.len() < BATCH_BYTES {
                match lines.try_recv() {
                    Ok(Item::Line(line)) => {
                        count += 1;
                        charged += charge(&line) as usize;
                        batch.extend_from_slice(&line);
                    }
                    Ok(Item::Last) => {
                        is_last = true;
                        break;
                    }
                    Err(_) => break,
                }
            }
            let Some(sink) = &mut *lock(&self.sink) else { return Ok(()) };
            write(sink, &batch)?;
            self.waiting.fetch_sub(count, Ordering::AcqRel);
            self.room.add_permits(charged);
            if is_last {
                break;
            }
        }
        Ok(())
    }

    fn end(&self, outcome: io::Result<()>) {
        if let Err(error) = outcome {
            lock(&self.failure).get_or_insert(error);
        }
        *lock(&self.sink) = None;
        self.room.close();
        self.ended.cancel();
    }
}

fn write(sink: &mut Sink, bytes: &[u8]) -> io::Result<()> {
    sink.write.write_all(bytes)?;
    sink.write.flush()
}

/// What a line takes of the room: a single one always fits.
fn charge(line: &[u8]) -> u32 {
    u32::try_from(line.len()).unwrap_or(u32::MAX).min(HELD_BYTES)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is behind it is replaced as a whole, so a panic elsewhere leaves nothing half done.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::io::{PipeReader, Read, pipe};

    use super::*;

    fn start() -> (Output, PipeReader) {
        let (client, server) = pipe().unwrap();
        (Output::start(Sink::new(server)).unwrap(), client)
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_line_is_written_in_place_unless_something_is_queued_or_unread() {
        let (output, mut client) = start();
        let shared = &output.shared;
        shared.waiting.fetch_add(1, Ordering::AcqRel);
        assert!(!shared.write_at_once(b"overtakes\n"));
        shared.waiting.fetch_sub(1, Ordering::AcqRel);
        assert!(shared.write_at_once(b"first\n"));
        assert!(!shared.write_at_once(b"may wait\n"));
        client.read_exact(&mut [0; 6]).unwrap();
        assert!(shared.write_at_once(b"second\n"));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn far_more_than_is_held_passes_in_order_to_a_client_that_reads() {
        let (output, mut client) = start();
        let reader = thread::spawn(move || {
            let mut read = Vec::new();
            client.read_to_end(&mut read).map(|_| read)
        });
        let length = HELD_BYTES as usize / 3;
        for line in 0..10 {
            timeout(Duration::from_secs(20), output.send(vec![line; length])).await.unwrap();
        }
        assert!(output.finish(Duration::from_secs(20)).await.is_none());
        let read = reader.join().unwrap().unwrap();
        assert_eq!(read.len(), 10 * length);
        assert!(
            read.chunks(length).enumerate().all(|(line, chunk)| chunk.iter().all(|byte| usize::from(*byte) == line))
        );
    }
}
