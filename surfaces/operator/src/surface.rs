//! The operator server: each of the six tools as one request on the road.

use std::sync::Arc;

use gatelatch_bridge::answer::Answer;
use gatelatch_bridge::bridge::{Bridge, RunRequest};
use gatelatch_bridge::cut::{Cut, cut};
use gatelatch_discovery::ladder::Request;
use gatelatch_gate::decision::Door;
use gatelatch_protocol::json::{self, JsonError};
use gatelatch_protocol::surface::{
    Identity, Progress, ProgressStep, PublishedTool, ReplyFuture, Surface, ToolCall, ToolReply,
};
use gatelatch_registry::catalog::Kind;
use gatelatch_runner::runner::Steps;
use serde_json::{Map, Value, json};

use crate::tools::OperatorTool;

/// A result over this many bytes is cut.
pub const MAX_RESULT_BYTES: usize = 64 * 1024;

/// What the front is called in the record.
const FRONT: &str = "operator";

const INSTRUCTIONS: &str = "Gatelatch runs this team's own tools. Call capabilities to find an action and its exact arguments, \
then run_tool or run_agent. What cannot be undone is refused with approval_required: tell the human what would happen, and \
only with their yes make the same call with the tool that confirm_with names. Never work around a refusal, by a shell or otherwise.";

/// The operator surface.
pub struct Operator {
    bridge: Arc<Bridge>,
    identity: Identity,
    tools: Vec<PublishedTool>,
}

impl Operator {
    /// Serves the bridge under the program's version.
    pub fn new(bridge: Arc<Bridge>, version: &str) -> Operator {
        let identity = Identity {
            name: "gatelatch".to_owned(),
            title: "Gatelatch".to_owned(),
            version: version.to_owned(),
            instructions: INSTRUCTIONS.to_owned(),
        };
        Operator { bridge, identity, tools: tools() }
    }

    async fn answer(&self, tool: OperatorTool, call: ToolCall) -> Answer {
        let (arguments, notes) = match arguments(tool, call.arguments) {
            Ok(taken) => taken,
            Err(answer) => return *answer,
        };
        let text = |name: &str| arguments.get(name).and_then(Value::as_str).map(str::to_owned);
        let run = |kind: Kind, door: Door| RunRequest {
            front: FRONT,
            kind,
            name: text(kind.as_str()).unwrap_or_default(),
            action: text("action"),
            args: arguments.get("args").cloned().unwrap_or_else(|| Value::Object(Map::new())),
            door,
            keep: Some(MAX_RESULT_BYTES),
        };
        let mut answer = match tool {
            OperatorTool::Capabilities => self.bridge.capabilities(&Request {
                kind: text("kind"),
                name: text("name"),
                action: text("action"),
                search: text("search"),
            }),
            OperatorTool::GetSkill => self.bridge.skill(text("name").as_deref()),
            OperatorTool::RunTool => self.run(run(Kind::Tool, Door::Plain), call.cancelled, call.progress).await,
            OperatorTool::RunAgent => self.run(run(Kind::Agent, Door::Plain), call.cancelled, call.progress).await,
            OperatorTool::RunToolConfirmed => {
                self.run(run(Kind::Tool, Door::Confirmed), call.cancelled, call.progress).await
            }
            OperatorTool::RunAgentConfirmed => {
                self.run(run(Kind::Agent, Door::Confirmed), call.cancelled, call.progress).await
            }
        };
        answer.notes.splice(0..0, notes);
        answer
    }

    async fn run(
        &self,
        request: RunRequest,
        cancelled: tokio_util::sync::CancellationToken,
        progress: Progress,
    ) -> Answer {
        let steps = progress.is_wanted().then(|| -> Steps {
            Box::new(move |step| {
                progress.report(ProgressStep { progress: step.progress, total: step.total, message: step.message });
            })
        });
        self.bridge.run(request, cancelled, steps).await
    }
}

impl Surface for Operator {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn tools(&self) -> &[PublishedTool] {
        &self.tools
    }

    fn call(&self, call: ToolCall) -> ReplyFuture<'_> {
        Box::pin(async move {
            match OperatorTool::ALL.into_iter().find(|tool| tool.name() == call.name) {
                Some(tool) => reply(tool, self.answer(tool, call).await),
                None => ToolReply {
                    text: json!({ "error": "unknown_tool", "message": "no such tool on this server" }).to_string(),
                    structured: None,
                    is_error: true,
                    notes: Vec::new(),
                },
            }
        })
    }
}

/// The six tools in their order, without a catalog: what `operator --list` prints.
pub fn tools() -> Vec<PublishedTool> {
    OperatorTool::ALL.into_iter().map(OperatorTool::published).collect()
}

/// An answer on this surface: JSON as text and, where it is an object, as structured content; a skill is its Markdown.
fn reply(tool: OperatorTool, answer: Answer) -> ToolReply {
    let is_error = answer.is_error();
    let Cut { value, was_cut } = cut(answer.value, answer.shortened.as_ref(), MAX_RESULT_BYTES, &answer.narrow_with);
    let mut notes = answer.notes;
    let text = match (tool, value.get("body").and_then(Value::as_str)) {
        (OperatorTool::GetSkill, Some(body)) => {
            if was_cut {
                notes.push(format!("the text is longer than {MAX_RESULT_BYTES} bytes and is cut at its end"));
            }
            match value.get("next").and_then(Value::as_str) {
                Some(next) => format!("{body}\n\nfiles: {}\n{next}", value["files"]),
                None => body.to_owned(),
            }
        }
        _ => value.to_string(),
    };
    ToolReply { text, structured: value.is_object().then_some(value), is_error, notes }
}

/// Checked arguments, and what was read otherwise than it was written.
type Taken = (Map<String, Value>, Vec<String>);

/// The MCP tool's own arguments, checked: known names, right types, required ones there. `null` means absent.
fn arguments(tool: OperatorTool, raw: Map<String, Value>) -> Result<Taken, Box<Answer>> {
    let mut taken = Map::new();
    let mut notes = Vec::new();
    for (name, value) in raw {
        let Some((_, kind, ..)) = tool.arguments().iter().find(|(known, ..)| *known == name) else {
            return Err(unknown_argument(tool, &name));
        };
        match (*kind, value) {
            (_, Value::Null) => {}
            ("string", Value::String(text)) => {
                taken.insert(name, Value::String(text));
            }
            ("object", Value::Object(map)) => {
                taken.insert(name, Value::Object(map));
            }
            // Some clients write a nested object as its JSON text; there is one way to read that.
            ("object", Value::String(text)) => match json::parse(&text) {
                Ok(Value::Object(map)) => {
                    notes.push(format!("took the text of `{name}` as a JSON object"));
                    taken.insert(name, Value::Object(map));
                }
                Err(error @ JsonError::RepeatedKey(_)) => {
                    return Err(wrong_call(tool, format!("argument `{name}` is text in which {error}")));
                }
                _ => return Err(wrong_call(tool, format!("argument `{name}` must be an object, and it is text"))),
            },
            (kind, _) => return Err(wrong_call(tool, format!("argument `{name}` must be of type {kind}"))),
        }
    }
    for (name, _, _, required) in tool.arguments() {
        if *required && !taken.contains_key(*name) {
            return Err(wrong_call(tool, format!("argument `{name}` is missing")));
        }
    }
    Ok((taken, notes))
}

fn unknown_argument(tool: OperatorTool, name: &str) -> Box<Answer> {
    let known: Vec<&str> = tool.arguments().iter().map(|(name, ..)| *name).collect();
    let way_out = if known.contains(&"args") {
        "; an action's own arguments go inside `args`".to_owned()
    } else {
        format!("; it takes {}", known.join(", "))
    };
    // The name is the caller's text: enough of it to recognise, no more.
    let shown: String = name.chars().take(64).collect();
    wrong_call(tool, format!("`{}` takes no argument `{shown}`{way_out}", tool.name()))
}

fn wrong_call(tool: OperatorTool, message: String) -> Box<Answer> {
    Box::new(Answer::failure(
        gatelatch_bridge::answer::Status::Usage,
        json!({ "error": "bad_arguments", "message": message, "schema": tool.published().input_schema }),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_six_stays_within_4000_bytes() {
        let list = gatelatch_protocol::digest::tools_json(&tools()).to_string();
        assert!(list.len() <= 4000, "{} bytes", list.len());
        assert_eq!(tools().len(), 6);
    }

    #[test]
    fn an_argument_beside_args_is_told_where_it_belongs() {
        let raw = json!({ "tool": "hello-world", "name": "MCP" });
        let answer = arguments(OperatorTool::RunTool, raw.as_object().unwrap().clone()).unwrap_err();
        assert_eq!(answer.value["error"], "bad_arguments");
        let message = answer.value["message"].as_str().unwrap();
        assert!(message.contains("`name`") && message.contains("inside `args`"), "{message}");
        assert!(answer.value["schema"]["properties"]["args"].is_object());
    }

    #[test]
    fn args_as_json_text_are_taken_and_said_so_while_other_text_is_refused() {
        let raw = json!({ "tool": "t", "args": "{\"name\":\"MCP\"}" });
        let (taken, notes) = arguments(OperatorTool::RunTool, raw.as_object().unwrap().clone()).unwrap();
        assert_eq!(taken["args"], json!({ "name": "MCP" }));
        assert_eq!(notes.len(), 1);
        let raw = json!({ "tool": "t", "args": "{\"n\":1,\"n\":2}" });
        let refused = arguments(OperatorTool::RunTool, raw.as_object().unwrap().clone()).unwrap_err();
        assert!(refused.value["message"].as_str().unwrap().contains("`n` twice"), "{}", refused.value);
        let raw = json!({ "tool": "t", "args": "name=MCP" });
        assert!(arguments(OperatorTool::RunTool, raw.as_object().unwrap().clone()).is_err());
    }

    #[test]
    fn null_means_absent() {
        let raw = json!({ "kind": null, "search": null });
        assert_eq!(arguments(OperatorTool::Capabilities, raw.as_object().unwrap().clone()).unwrap().0, Map::new());
        let raw = json!({ "tool": null });
        assert!(arguments(OperatorTool::RunTool, raw.as_object().unwrap().clone()).is_err());
    }

    #[test]
    fn a_skill_that_is_cut_says_so_beside_its_text() {
        let long = Answer::done(json!({ "name": "s", "body": "x".repeat(2 * MAX_RESULT_BYTES) }));
        let reply = reply(OperatorTool::GetSkill, long);
        assert!(reply.text.len() <= MAX_RESULT_BYTES);
        assert!(reply.notes[0].contains("cut at its end"), "{:?}", reply.notes);
    }
}
