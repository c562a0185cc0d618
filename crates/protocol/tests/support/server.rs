//! Serves a surface over a pair of pipes of the operating system, in this process. Knows no conversation.

use std::io::{PipeReader, PipeWriter, pipe};
use std::sync::Arc;
use std::time::Duration;

use gatelatch_protocol::stdio::{ServeError, StdioLimits, serve};
use gatelatch_protocol::surface::Surface;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// A server that runs.
pub(crate) struct Server {
    /// Its end, once.
    pub(crate) end: JoinHandle<Result<(), ServeError>>,
    /// Stops it.
    #[allow(dead_code, reason = "not every test stops it")]
    pub(crate) stop: CancellationToken,
    /// Keeps it running.
    pub(crate) runtime: Runtime,
}

impl Server {
    /// Starts it: the server, where to write requests, where to read answers.
    pub(crate) fn start(surface: Arc<dyn Surface>, limits: StdioLimits) -> (Server, PipeWriter, PipeReader) {
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let (input, requests) = pipe().unwrap();
        let (answers, output) = pipe().unwrap();
        let stop = CancellationToken::new();
        let end = runtime.spawn(serve(surface, input, output, limits, stop.clone()));
        (Server { end, stop, runtime }, requests, answers)
    }

    /// How it ended; panics when it does not end in time.
    pub(crate) fn ended(self, within: Duration) -> Result<(), ServeError> {
        let Server { end, runtime, .. } = self;
        let end = runtime.block_on(async { tokio::time::timeout(within, end).await });
        // A call that ignores its cancellation would hold up the drop of the runtime.
        runtime.shutdown_background();
        end.expect("the server does not end").expect("the server crashed")
    }
}
