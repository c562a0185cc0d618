//! Children on Windows, without a group yet: the leader is killed, those it started are not.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Exit, Input, Started, command};
use crate::child::Launch;

/// How many children were started and not yet dropped. One process has one set of children.
static LIVE: AtomicUsize = AtomicUsize::new(0);

/// A child that is killed when this is dropped.
pub(crate) struct Group {
    child: tokio::process::Child,
    // After the child: fields are dropped in this order.
    _live: Live,
}

/// Counts a child for as long as it may live.
struct Live;

impl Live {
    fn begin() -> Live {
        LIVE.fetch_add(1, Ordering::SeqCst);
        Live
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        LIVE.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Whether nothing is left of any run.
pub(crate) fn is_settled() -> bool {
    LIVE.load(Ordering::SeqCst) == 0
}

/// Nothing to do: every child is killed when it is dropped, and no list of them is kept.
pub(crate) fn kill_everybody() {}

impl Group {
    pub(crate) fn start(launch: &Launch, input: Input) -> io::Result<Started> {
        let live = Live::begin();
        let mut child = tokio::process::Command::from(command(launch, input)).kill_on_drop(true).spawn()?;
        let stdin = child.stdin.take();
        let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        Ok(Started { group: Group { child, _live: live }, stdin, stdout, stderr })
    }

    /// Waits for the child's end. May be dropped and called again.
    pub(crate) async fn leader_gone(&mut self) -> io::Result<()> {
        self.child.wait().await.map(|_| ())
    }

    /// Kills at once: there is no polite way that every program understands.
    pub(crate) fn ask_to_end(&mut self) {
        // A child that is gone already needs no killing.
        let _ = self.child.start_kill();
    }

    /// Whether nobody lives. Asked once the child is gone.
    pub(crate) fn is_empty(&self) -> bool {
        true
    }

    /// Kills the child and returns when it is gone.
    pub(crate) async fn end(&mut self) -> io::Result<Exit> {
        if self.child.try_wait()?.is_none() {
            self.child.start_kill()?;
        }
        let status = self.child.wait().await?;
        Ok(Exit::Code(status.code().unwrap_or(1)))
    }
}
