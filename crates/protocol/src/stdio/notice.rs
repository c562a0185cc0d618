//! What the server says by itself, from rmcp's peer to the output. Knows no request.
//!
//! rmcp's service loop runs beside ours for this alone: it owns the peer through which handlers notify. It is given no
//! input, since it would log arguments, mix up a reused id with a cancelled one, and drain for a fixed time at the end.

use std::convert::Infallible;
use std::future::Future;

use rmcp::RoleServer;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio_util::sync::CancellationToken;

use super::output::Output;

/// A transport that only sends.
pub(crate) struct Notices {
    pub(crate) output: Output,
    /// Ends the loop.
    pub(crate) closed: CancellationToken,
}

impl Transport<RoleServer> for Notices {
    type Error = Infallible;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Infallible>> + Send + 'static {
        let output = self.output.clone();
        async move {
            match serde_json::to_vec(&message) {
                Ok(mut line) => {
                    line.push(b'\n');
                    output.send(line).await;
                }
                Err(error) => tracing::error!(%error, "a notification could not be written"),
            }
            Ok(())
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        self.closed.cancelled().await;
        None
    }

    async fn close(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}
