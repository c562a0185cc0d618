//! The chat server: each published tool as one operation, its result held to its declared output schema.
//!
//! Start at [`Chat`].

use std::sync::{Arc, OnceLock};

use gatelatch_bridge::bridge::Bridge;
use gatelatch_bridge::cut::{Cut, CutError, Shortened, cut, cut_to_schema};
use gatelatch_manifest::schema::validator;
use gatelatch_manifest::surface::ServerManifest;
use gatelatch_protocol::surface::{Identity, PublishedTool, ReplyFuture, Surface, ToolCall, ToolReply};
use jsonschema::Validator;
use serde_json::{Value, json};

use crate::arguments::{Published, Taken};
use crate::link::LinkedTool;
use crate::operation::{Failure, Given, Operation};

/// The chat surface.
pub struct Chat {
    bridge: Arc<Bridge>,
    identity: Identity,
    tools: Vec<PublishedTool>,
    served: Vec<Served>,
}

/// A tool that is served.
struct Served {
    tool: LinkedTool,
    arguments: Published,
    /// Made at the first call; `None` where the schema is none.
    output: OnceLock<Option<Validator>>,
}

impl Chat {
    /// Serves the tools that agree with the bridge's catalog, under the program's version.
    pub fn new(bridge: Arc<Bridge>, server: &ServerManifest, tools: Vec<LinkedTool>, version: &str) -> Chat {
        let identity = Identity {
            name: server.name.clone(),
            title: server.title.clone(),
            version: version.to_owned(),
            instructions: server.instructions.clone(),
        };
        let published = tools.iter().map(|tool| tool.published.clone()).collect();
        let serve =
            |tool: LinkedTool| Served { arguments: Published::of(&tool.manifest), tool, output: OnceLock::new() };
        Chat { bridge, identity, tools: published, served: tools.into_iter().map(serve).collect() }
    }
}

impl Surface for Chat {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn tools(&self) -> &[PublishedTool] {
        &self.tools
    }

    fn call(&self, call: ToolCall) -> ReplyFuture<'_> {
        Box::pin(async move {
            match self.served.iter().find(|served| served.tool.published.name == call.name) {
                Some(served) => served.answer(&self.bridge, call).await,
                None => {
                    refused(json!({ "error": "unknown_tool", "message": "no such tool on this server" }), Vec::new())
                }
            }
        })
    }
}

impl Served {
    async fn answer(&self, bridge: &Bridge, call: ToolCall) -> ToolReply {
        let schema = &self.tool.published.input_schema;
        let Taken { values, notes } = match self.arguments.take(call.arguments, schema) {
            Ok(taken) => taken,
            Err(wrong) => return self.failed(wrong, None, Vec::new()),
        };
        let ToolCall { cancelled, progress, .. } = call;
        let operation = Operation { bridge, tool: &self.tool, values: &values, cancelled, progress };
        match operation.run().await {
            Ok(given) => self.reply(given, notes),
            Err(Failure { mut told, shortened }) => {
                if told.get("error").is_some_and(|error| error == "bad_arguments") {
                    told.insert("schema".to_owned(), schema.clone().into());
                }
                self.failed(Value::Object(told), shortened.as_ref(), notes)
            }
        }
    }

    /// A result within its cap, if it is what the output schema promises.
    fn reply(&self, given: Given, notes: Vec<String>) -> ToolReply {
        let Given { value, shortened, steps } = given;
        let build = || validator(&Value::Object(self.tool.manifest.output_schema.clone())).ok();
        let Some(validator) = self.output.get_or_init(build) else {
            // The reader of the declaration refuses such a schema.
            let told = self.unfit("output_mismatch", "the published output schema cannot be used", steps);
            return self.failed(told, None, notes);
        };
        match cut_to_schema(value, shortened.as_ref(), self.max_bytes(), self.narrow_with(), validator) {
            Ok(Cut { value, .. }) => {
                ToolReply { text: value.to_string(), structured: Some(value), is_error: false, notes }
            }
            Err(error) => {
                let code = match &error {
                    CutError::BreaksSchema { .. } => "output_mismatch",
                    CutError::CannotFit { .. } => "output_too_large",
                };
                let told = self.unfit(code, &format!("{error}\nhelp: {}", error.help()), steps);
                self.failed(told, None, notes)
            }
        }
    }

    /// A call that ran and whose result cannot be shown.
    fn unfit(&self, code: &str, why: &str, steps: Vec<Value>) -> Value {
        let name = &self.tool.published.name;
        let done = if self.tool.published.annotations.read_only { "" } else { "what it changes is changed, and " };
        let mut told = json!({ "error": code, "message": format!("`{name}`: {done}{why}") });
        if !steps.is_empty() {
            told["steps"] = steps.into();
        }
        told
    }

    /// A failure within the same cap as a result.
    fn failed(&self, value: Value, shortened: Option<&Shortened>, notes: Vec<String>) -> ToolReply {
        let Cut { value, .. } = cut(value, shortened, self.max_bytes(), self.narrow_with());
        refused(value, notes)
    }

    fn max_bytes(&self) -> usize {
        usize::try_from(self.tool.manifest.result.max_bytes).unwrap_or(usize::MAX)
    }

    fn narrow_with(&self) -> &[String] {
        &self.tool.manifest.result.narrow_with
    }
}

/// A failure: text alone, since structured content must be what the output schema says.
fn refused(value: Value, notes: Vec<String>) -> ToolReply {
    ToolReply { text: value.to_string(), structured: None, is_error: true, notes }
}
