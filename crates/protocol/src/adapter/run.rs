//! Drives one call: its progress goes out in order, a crash becomes a value. Knows no result shape.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::{Peer, RoleServer};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::surface::{Progress, ProgressStep, ReplyFuture, ToolReply};

/// How many steps may wait for a slow client before further ones are dropped.
const STEPS_HELD: usize = 64;

/// A future that something boxed.
type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Where the steps of one call go.
pub(crate) struct Listener {
    /// Names the request to the client.
    pub(crate) token: ProgressToken,
    /// The way out.
    pub(crate) peer: Peer<RoleServer>,
    /// Nothing more is sent once the call is cancelled.
    pub(crate) cancelled: CancellationToken,
    /// How long the call may say nothing.
    pub(crate) silence: Duration,
}

/// By how much a step that only says "still running" moves on: so little that the tool's own next step is greater.
const STILL_RUNNING: f64 = 1e-6;

/// Runs a call; its steps are all sent before this returns, none is sent later. `None` when the call crashed.
pub(crate) async fn run<'a>(
    call: impl FnOnce(Progress) -> ReplyFuture<'a>,
    listener: Option<Listener>,
) -> Option<ToolReply> {
    let Some(listener) = listener else {
        return caught(|| call(Progress::ignored())).await;
    };
    let (sink, mut steps) = mpsc::channel(STEPS_HELD);
    let mut reply = pin!(caught(|| call(Progress::into_channel(sink))));
    let mut reached = f64::NEG_INFINITY;
    let mut total = None;
    let mut silent = 0;
    let mut quiet = pin!(tokio::time::sleep(listener.silence));
    let reply = loop {
        tokio::select! {
            biased;
            Some(step) = steps.recv() => {
                (total, silent) = (step.total, 0);
                listener.send(step, &mut reached).await;
            }
            reply = &mut reply => break reply,
            () = &mut quiet => {
                silent += 1;
                let seconds = (listener.silence * silent).as_secs();
                let message = Some(format!("still running, nothing new for {seconds} s"));
                let further = (reached + STILL_RUNNING).max(reached.next_up());
                let progress = if reached.is_finite() { further } else { 0.0 };
                listener.send(ProgressStep { progress, total, message }, &mut reached).await;
            }
        }
        quiet.as_mut().reset(Instant::now() + listener.silence);
    };
    while let Ok(step) = steps.try_recv() {
        listener.send(step, &mut reached).await;
    }
    reply
}

impl Listener {
    /// Sends a step that is greater than all before it. The comparison also drops what is not a number.
    async fn send(&self, step: ProgressStep, reached: &mut f64) {
        if !(step.progress > *reached && step.progress.is_finite()) || self.cancelled.is_cancelled() {
            return;
        }
        *reached = step.progress;
        let mut notification = ProgressNotificationParam::new(self.token.clone(), step.progress);
        notification.total = step.total.filter(|total| total.is_finite());
        notification.message = step.message;
        // A client that is gone needs no progress, and the end of the connection is noticed elsewhere.
        let _ = self.peer.notify_progress(notification).await;
    }
}

/// Drives a future to its end; `None` when it, or what makes it, panics.
pub(crate) async fn caught<'a, T>(start: impl FnOnce() -> Boxed<'a, T>) -> Option<T> {
    let mut future = catch_unwind(AssertUnwindSafe(start)).ok()?;
    let output = poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
        Ok(Poll::Ready(output)) => Poll::Ready(Some(output)),
        Ok(Poll::Pending) => Poll::Pending,
        Err(_) => Poll::Ready(None),
    })
    .await;
    // What is left of a crashed future may crash once more while it is dropped.
    let _ = catch_unwind(AssertUnwindSafe(move || drop(future)));
    output
}
