//! What a server is to this crate: a name, a fixed list of tools, and a way to call one.

use std::future::Future;
use std::pin::Pin;

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::era::Era;

/// Who the server says it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Machine name.
    pub name: String,
    /// Name for people.
    pub title: String,
    /// The program's version.
    pub version: String,
    /// A few sentences for the model that uses the server.
    pub instructions: String,
}

/// The four hints of an MCP tool, all explicit. None of them is a control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Annotations {
    /// `readOnlyHint`
    pub read_only: bool,
    /// `destructiveHint`
    pub destructive: bool,
    /// `idempotentHint`
    pub idempotent: bool,
    /// `openWorldHint`
    pub open_world: bool,
}

/// A tool as clients see it, the same in both eras.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedTool {
    /// Machine name.
    pub name: String,
    /// Name for people.
    pub title: String,
    /// What it does, for the model.
    pub description: String,
    /// A JSON Schema with an object root.
    pub input_schema: Map<String, Value>,
    /// A JSON Schema with an object root, if results have one.
    pub output_schema: Option<Map<String, Value>>,
    /// The hints.
    pub annotations: Annotations,
}

/// One `tools/call`.
#[derive(Clone, Debug)]
pub struct ToolCall {
    /// A name of [`Surface::tools`]; others are answered before they get here.
    pub name: String,
    /// The arguments as sent; empty when there were none.
    pub arguments: Map<String, Value>,
    /// The era of this one request.
    pub era: Era,
    /// Cancelled when the client cancels, disconnects or the server ends.
    pub cancelled: CancellationToken,
    /// Where progress goes; does nothing when the client did not ask.
    pub progress: Progress,
}

/// One step of progress.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgressStep {
    /// How far; each step must be greater than the one before, others are dropped.
    pub progress: f64,
    /// Out of how much, if known.
    pub total: Option<f64>,
    /// For people.
    pub message: Option<String>,
}

/// Where a call's progress goes.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    sink: Option<tokio::sync::mpsc::Sender<ProgressStep>>,
}

impl Progress {
    /// Progress that nobody asked for.
    pub fn ignored() -> Progress {
        Progress { sink: None }
    }

    /// Progress that goes into a channel; a full channel drops steps.
    pub fn into_channel(sink: tokio::sync::mpsc::Sender<ProgressStep>) -> Progress {
        Progress { sink: Some(sink) }
    }

    /// Whether the client asked for progress.
    pub fn is_wanted(&self) -> bool {
        self.sink.is_some()
    }

    /// Reports a step. Never waits.
    pub fn report(&self, step: ProgressStep) {
        if let Some(sink) = &self.sink {
            // A full channel means the client reads slower than the tool works: a newer step will tell more.
            let _ = sink.try_send(step);
        }
    }
}

/// What a tool answered.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolReply {
    /// The text block.
    pub text: String,
    /// The structured content; always an object where the tool has an output schema.
    pub structured: Option<Value>,
    /// Whether the tool failed. A failure is never a JSON-RPC error.
    pub is_error: bool,
    /// What the caller should know beside the result: one further text block each.
    pub notes: Vec<String>,
}

/// The future of a [`ToolReply`].
pub type ReplyFuture<'a> = Pin<Box<dyn Future<Output = ToolReply> + Send + 'a>>;

/// A server's list and behaviour, for one process.
pub trait Surface: Send + Sync + 'static {
    /// Who the server says it is.
    fn identity(&self) -> &Identity;
    /// The tools in their order; the same for all callers and for as long as the process lives.
    fn tools(&self) -> &[PublishedTool];
    /// Runs one tool. A panic in it becomes an `isError` result. It is polled first on the thread that reads requests:
    /// what would block belongs behind its first wait.
    fn call(&self, call: ToolCall) -> ReplyFuture<'_>;
}
