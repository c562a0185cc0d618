//! A tiny surface for conversations: it echoes, fails, crashes, waits and reports. Knows nothing of the wire.
//!
//! `slow` waits until `release` is called or it is cancelled, and `settled` waits until so many calls of `slow` have
//! begun and been cancelled: so that a conversation needs no clock.

use gatelatch_protocol::surface::{
    Annotations, Identity, ProgressStep, PublishedTool, ReplyFuture, Surface, ToolCall, ToolReply,
};
use serde_json::{Map, Value, json};
use tokio::sync::watch;

/// The surface.
pub(crate) struct Tiny {
    identity: Identity,
    tools: Vec<PublishedTool>,
    counts: watch::Sender<Counts>,
}

/// What happened to `slow` so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Calls that began.
    pub(crate) begun: u64,
    /// Calls that were released.
    pub(crate) released: u64,
    /// Calls that were cancelled.
    pub(crate) cancelled: u64,
    /// The most that ran at once.
    pub(crate) most_at_once: u64,
    /// How often `release` was called.
    pub(crate) releases: u64,
}

impl Tiny {
    pub(crate) fn new() -> Tiny {
        let (counts, _) = watch::channel(Counts::default());
        Tiny {
            identity: Identity {
                name: "tiny".to_owned(),
                title: "Tiny".to_owned(),
                version: "1.2.3".to_owned(),
                instructions: "Say something.".to_owned(),
            },
            tools: vec![
                tool("echo", json!({"text": {"type": "string"}}), Some(json!({"type": "object"}))),
                tool("fail", json!({}), None),
                tool("crash", json!({"late": {"type": "boolean"}}), None),
                tool("slow", json!({}), None),
                tool("release", json!({}), None),
                tool("settled", json!({"begun": {"type": "integer"}, "cancelled": {"type": "integer"}}), None),
                tool("progress", json!({"steps": {"type": "array"}}), None),
                tool("stubborn", json!({}), None),
            ],
            counts,
        }
    }

    /// What happened so far, and what happens next.
    #[allow(dead_code, reason = "not every test counts")]
    pub(crate) fn counts(&self) -> watch::Receiver<Counts> {
        self.counts.subscribe()
    }

    /// Ends every call of `slow` that has begun.
    pub(crate) fn release(&self) {
        self.counts.send_modify(|counts| counts.releases += 1);
    }

    async fn slow(&self, call: &ToolCall) -> ToolReply {
        let seen = self.counts.borrow().releases;
        self.counts.send_modify(|counts| {
            counts.begun += 1;
            let at_once = counts.begun - counts.released - counts.cancelled;
            counts.most_at_once = counts.most_at_once.max(at_once);
        });
        let mut counts = self.counts.subscribe();
        tokio::select! {
            released = counts.wait_for(|counts| counts.releases > seen) => drop(released),
            () = call.cancelled.cancelled() => {
                self.counts.send_modify(|counts| counts.cancelled += 1);
                return failed("cancelled");
            }
        }
        self.counts.send_modify(|counts| counts.released += 1);
        said("released")
    }

    async fn settled(&self, call: &ToolCall) -> ToolReply {
        let wanted = |key: &str| call.arguments.get(key).and_then(Value::as_u64).unwrap_or(0);
        let (begun, cancelled) = (wanted("begun"), wanted("cancelled"));
        let mut counts = self.counts.subscribe();
        let reached = counts.wait_for(|counts| counts.begun >= begun && counts.cancelled >= cancelled).await;
        drop(reached);
        said("settled")
    }
}

impl Surface for Tiny {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn tools(&self) -> &[PublishedTool] {
        &self.tools
    }

    fn call(&self, call: ToolCall) -> ReplyFuture<'_> {
        if call.name == "crash" && call.arguments.get("late") != Some(&Value::Bool(true)) {
            panic!("before there is a future");
        }
        Box::pin(async move {
            match call.name.as_str() {
                "echo" => echo(call),
                "fail" => failed("no such row"),
                "crash" => {
                    tokio::task::yield_now().await;
                    panic!("in the middle of a call");
                }
                "slow" => self.slow(&call).await,
                "release" => {
                    self.release();
                    said("done")
                }
                "settled" => self.settled(&call).await,
                "progress" => progress(call).await,
                // Neither ends nor listens to its cancellation.
                "stubborn" => std::future::pending().await,
                other => failed(&format!("`{other}` is not published, so it must not get here")),
            }
        })
    }
}

fn echo(call: ToolCall) -> ToolReply {
    let value = Value::Object(call.arguments);
    ToolReply { text: value.to_string(), structured: Some(value), is_error: false, notes: Vec::new() }
}

/// Reports `steps`, a list of `[progress]`, `[progress, total]` or `[progress, total, message]`.
async fn progress(call: ToolCall) -> ToolReply {
    let steps = call.arguments.get("steps").and_then(Value::as_array).cloned().unwrap_or_default();
    for step in steps {
        // Before, not after: the last step and the answer then come in one go.
        tokio::task::yield_now().await;
        call.progress.report(ProgressStep {
            progress: step.get(0).and_then(Value::as_f64).unwrap_or(f64::NAN),
            total: step.get(1).and_then(Value::as_f64),
            message: step.get(2).and_then(Value::as_str).map(str::to_owned),
        });
    }
    said(if call.progress.is_wanted() { "reported" } else { "nobody asked" })
}

fn said(text: &str) -> ToolReply {
    ToolReply { text: text.to_owned(), structured: None, is_error: false, notes: Vec::new() }
}

fn failed(text: &str) -> ToolReply {
    ToolReply { text: text.to_owned(), structured: None, is_error: true, notes: Vec::new() }
}

fn tool(name: &str, properties: Value, output_schema: Option<Value>) -> PublishedTool {
    PublishedTool {
        name: name.to_owned(),
        title: format!("The tool {name}"),
        description: format!("What {name} does."),
        input_schema: object(json!({"type": "object", "properties": properties, "additionalProperties": false})),
        output_schema: output_schema.map(object),
        annotations: Annotations { read_only: true, destructive: false, idempotent: true, open_world: false },
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => panic!("a schema is an object"),
    }
}
