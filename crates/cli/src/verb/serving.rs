//! A surface over stdio, whichever it is: its list, its start, its end.
//!
//! Knows no surface. Start at [`serve`].

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use gatelatch_protocol::digest::tools_json;
use gatelatch_protocol::stdio::{StdioLimits, serve as serve_stdio};
use gatelatch_protocol::surface::{PublishedTool, Surface};
use gatelatch_spawn::child::{GRACE, settle};
use tokio_util::sync::CancellationToken;

use crate::exit::Code;
use crate::verb::print_json;

/// The level at which a server logs: every verdict and outcome, and what went wrong.
pub(crate) const LEVEL: &str = "warn,gatelatch::record=info";

/// How long children may take to be gone once they were asked to end: their grace, and what the system needs then.
pub(crate) const SETTLING: Duration = GRACE.saturating_add(Duration::from_secs(3));

/// Serves a surface until end of input or a signal.
pub(crate) fn serve(surface: Arc<dyn Surface>) -> anyhow::Result<Code> {
    // A child that ignores the request to end is killed a while later: the server must outlive that.
    let limits = StdioLimits { grace: SETTLING, ..StdioLimits::default() };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let served = runtime.block_on(async {
        let stop = CancellationToken::new();
        tokio::spawn(stop_on_signal(stop.clone()));
        stop_when_nobody_reads(stop.clone());
        let served = serve_stdio(surface, std::io::stdin(), std::io::stdout(), limits, stop).await;
        settle(SETTLING).await;
        served
    });
    // A reader thread may still wait on standard input; it must not hold the process.
    runtime.shutdown_background();
    served.context("the server stopped")?;
    Ok(Code::Done)
}

/// Prints a list as clients see it.
pub(crate) fn list(tools: &[PublishedTool]) -> anyhow::Result<Code> {
    print_json(&serde_json::json!({ "tools": tools_json(tools) }), false)?;
    Ok(Code::Done)
}

/// Cancels `stop` when the client closes its end of standard output: without this, a call would run on for nobody until
/// the next line is written.
fn stop_when_nobody_reads(stop: CancellationToken) {
    #[cfg(unix)]
    std::thread::spawn(move || {
        use rustix::event::{PollFd, PollFlags, poll};
        let output = std::io::stdout();
        // No event is asked for, so only the end of the other side ends the wait.
        let mut watched = [PollFd::new(&output, PollFlags::empty())];
        if poll(&mut watched, None).is_ok_and(|ended| ended > 0) {
            stop.cancel();
        }
    });
    #[cfg(not(unix))]
    drop(stop);
}

/// Cancels `stop` when the process is asked to end: running children are ended first.
pub(crate) async fn stop_on_signal(stop: CancellationToken) {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let listen = |kind| signal(kind).ok();
        let (Some(mut terminate), Some(mut interrupt), Some(mut hangup), Some(mut quit)) = (
            listen(SignalKind::terminate()),
            listen(SignalKind::interrupt()),
            listen(SignalKind::hangup()),
            listen(SignalKind::quit()),
        ) else {
            return;
        };
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            _ = hangup.recv() => {}
            _ = quit.recv() => {}
        }
    }
    #[cfg(not(unix))]
    if tokio::signal::ctrl_c().await.is_err() {
        return;
    }
    stop.cancel();
}
