//! The one writer: a thread of its own, so that a client which does not read blocks no task. Knows no message.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// How many bytes may wait for the client before senders wait too.
const HELD_BYTES: u32 = 16 * 1024 * 1024;

/// Lines that wait together are written together, up to about this much.
const BATCH_BYTES: usize = 64 * 1024;

/// The way to the client. Clones share one writer.
#[derive(Clone)]
pub(crate) struct Output {
    queue: Sender<Item>,
    room: Arc<Semaphore>,
    /// The writer has ended; nothing more will be written.
    ended: CancellationToken,
    // Written once by the writer's thread, taken once after its end.
    failure: Arc<Mutex<Option<io::Error>>>,
}

enum Item {
    Line(Vec<u8>),
    Last,
}

impl Output {
    /// Starts the writer.
    pub(crate) fn start(sink: Box<dyn Write + Send>) -> io::Result<Output> {
        let (queue, lines) = channel();
        let output = Output {
            queue,
            room: Arc::new(Semaphore::new(HELD_BYTES as usize)),
            ended: CancellationToken::new(),
            failure: Arc::default(),
        };
        let (room, ended, failure) = (output.room.clone(), output.ended.clone(), output.failure.clone());
        thread::Builder::new().name("mcp-output".to_owned()).spawn(move || {
            // The guard also fires when the sink panics.
            let _ended = ended.drop_guard();
            if let Err(error) = write_all(&lines, sink, &room) {
                *failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            }
            room.close();
        })?;
        Ok(output)
    }

    /// Queues a line, which ends in its newline. Waits while too much is queued; does nothing once the writer ended.
    pub(crate) async fn send(&self, line: Vec<u8>) {
        let size = charge(&line);
        tokio::select! {
            biased;
            room = self.room.acquire_many(size) => match room {
                // The writer gives it back when the line is written.
                Ok(room) => room.forget(),
                Err(_) => return,
            },
            () = self.ended.cancelled() => return,
        }
        // It fails only when the writer is gone, and then nobody reads the answer.
        let _ = self.queue.send(Item::Line(line));
    }

    /// Returns when the writer has ended, by failure or because it was told to.
    pub(crate) async fn ended(&self) {
        self.ended.cancelled().await;
    }

    /// Writes what is queued, but for no longer than this, and ends. What the sink failed with, if it did.
    pub(crate) async fn finish(&self, within: Duration) -> Option<io::Error> {
        let _ = self.queue.send(Item::Last);
        if tokio::time::timeout(within, self.ended()).await.is_err() {
            tracing::warn!("the client does not read; what was left to write is lost");
        }
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

fn write_all(lines: &Receiver<Item>, mut sink: Box<dyn Write + Send>, room: &Semaphore) -> io::Result<()> {
    while let Ok(Item::Line(mut batch)) = lines.recv() {
        let mut written = charge(&batch) as usize;
        let mut is_last = false;
        while batch.len() < BATCH_BYTES {
            match lines.try_recv() {
                Ok(Item::Line(line)) => {
                    written += charge(&line) as usize;
                    batch.extend_from_slice(&line);
                }
                Ok(Item::Last) => {
                    is_last = true;
                    break;
                }
                Err(_) => break,
            }
        }
        sink.write_all(&batch)?;
        sink.flush()?;
        room.add_permits(written);
        if is_last {
            break;
        }
    }
    Ok(())
}

/// What a line takes of the room: a single one always fits.
fn charge(line: &[u8]) -> u32 {
    u32::try_from(line.len()).unwrap_or(u32::MAX).min(HELD_BYTES)
}
