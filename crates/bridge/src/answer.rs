//! What the road gives back: one JSON value, how it came about, and what to say beside it.

use gatelatch_discovery::help::UsageError;
use gatelatch_gate::decision::Refusal;
use gatelatch_registry::catalog::Kind;
use gatelatch_runner::runner::RunError;
use gatelatch_runner::tree::Shortened;
use serde_json::{Map, Value, json};

use crate::bridge::Broken;

/// How a request ended. The command line has an exit code for each, MCP an `isError` for all but `Done`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It did what was asked.
    Done,
    /// The request itself was wrong; the value says what would be right.
    Usage,
    /// A human must agree first.
    ApprovalRequired,
    /// Not on this server, whoever agrees.
    Denied,
    /// A program, a secret or a file is missing.
    NotReady,
    /// The program ran and failed, or could not be started.
    Failed,
    /// The program was ended because its time was up.
    TimedOut,
    /// The caller took the request back.
    Cancelled,
}

/// The answer to one request.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The result, or `{error, message, …}`.
    pub value: Value,
    /// How it ended.
    pub status: Status,
    /// The message of a failure in the words of the command line, where the value's own speaks to a caller of MCP tools.
    pub typed: Option<String>,
    /// Whether a failure's `detail` is what the program wrote as plain text (a usage text, a traceback), and no JSON that
    /// it meant for callers.
    pub is_plain: bool,
    /// What the caller should know beside the result: a respelled argument, a result that does not fit its schema.
    pub notes: Vec<String>,
    /// The action's arguments that make its result smaller, for the hint of a cut result.
    pub narrow_with: Vec<String>,
    /// What is missing from the value, where it was not held whole: for the totals of a cut result.
    pub shortened: Option<Shortened>,
}

impl Answer {
    /// A request that did what was asked.
    pub fn done(value: Value) -> Answer {
        Answer::new(value, Status::Done)
    }

    /// A request that was wrong.
    pub fn usage(error: &UsageError) -> Answer {
        Answer { typed: error.typed.clone(), ..Answer::failure(Status::Usage, error.to_value()) }
    }

    /// A request that failed: `value` is `{error, message, …}`.
    pub fn failure(status: Status, value: Value) -> Answer {
        Answer::new(value, status)
    }

    fn new(value: Value, status: Status) -> Answer {
        Answer {
            value,
            status,
            typed: None,
            is_plain: false,
            notes: Vec::new(),
            narrow_with: Vec::new(),
            shortened: None,
        }
    }

    /// Whether it ended as an error.
    pub fn is_error(&self) -> bool {
        self.status != Status::Done
    }
}

/// A call that waits for a human.
pub(crate) fn approval_required(refusal: &Refusal) -> Answer {
    let mut value = refused("approval_required", refusal);
    value.insert("confirm_with".to_owned(), refusal.confirm_with().into());
    Answer { typed: Some(refusal.what.clone()), ..Answer::failure(Status::ApprovalRequired, Value::Object(value)) }
}

/// A call that nobody can let through here.
pub(crate) fn denied(refusal: &Refusal) -> Answer {
    let value = Value::Object(refused("denied", refusal));
    Answer { typed: Some(refusal.what.clone()), ..Answer::failure(Status::Denied, value) }
}

fn refused(error: &str, refusal: &Refusal) -> Map<String, Value> {
    let entry = &refusal.call.entry().manifest;
    let mut value = Map::new();
    value.insert("error".to_owned(), error.into());
    value.insert("message".to_owned(), refusal.message.clone().into());
    value.insert(entry.kind.as_str().to_owned(), entry.name.clone().into());
    if let Some(action) = &refusal.call.action().name {
        value.insert("action".to_owned(), action.clone().into());
    }
    value.insert("effect".to_owned(), refusal.ruling.effect.as_str().into());
    value.insert("because".to_owned(), refusal.ruling.because.clone().into());
    value
}

/// A call of an agent that its manifest does not declare.
pub(crate) fn unused(tool: &str, action: Option<&str>) -> Answer {
    let name = action.map_or_else(|| tool.to_owned(), |action| format!("{tool}.{action}"));
    let message = format!(
        "the agent that calls does not say that it uses `{name}`\nhelp: its author can add `{name}` to `uses` in its agent.yaml"
    );
    Answer::failure(Status::Denied, json!({ "error": "denied", "message": message, "tool": tool, "action": action }))
}

/// An entry that is left out because its manifest is wrong.
pub(crate) fn broken(broken: &Broken) -> Answer {
    let Broken { kind, name, why } = broken;
    let kind = kind.as_str();
    let what = format!("{kind} `{name}` is broken: {why}");
    let message =
        format!("{what}\nhelp: tell the human, who can mend the manifest; `gatelatch check` tells all that is wrong");
    let mut value = json!({ "error": "broken", "message": message });
    value[kind] = name.clone().into();
    let typed = Some(format!("{what}\nhelp: `gatelatch check` tells all that is wrong"));
    Answer { typed, ..Answer::failure(Status::NotReady, value) }
}

/// A run that did not end well. The one place that says which error the caller sees for which.
pub(crate) fn run_failed(kind: Kind, name: &str, action: Option<&str>, error: &RunError) -> Answer {
    let status = match error {
        RunError::NotReady(_) => Status::NotReady,
        RunError::TimedOut { .. } => Status::TimedOut,
        RunError::Cancelled => Status::Cancelled,
        RunError::InputTooLarge { .. } => Status::Usage,
        _ => Status::Failed,
    };
    let what = action
        .map_or_else(|| format!("{kind} `{name}`", kind = kind.as_str()), |action| format!("`{name}` `{action}`"));
    let mut message = format!("{what}: {}", with_causes(error));
    if let Some(help) = error.help() {
        message.push_str("\nhelp: ");
        message.push_str(&help);
    }
    let mut value = json!({ "error": error.code(), "message": message });
    let mut is_plain = false;
    match error {
        RunError::Failed { exit_code, error, is_own, .. } => {
            value["exit_code"] = (*exit_code).into();
            value["detail"] = error.clone();
            is_plain = !is_own;
        }
        RunError::TimedOut { stderr, .. } | RunError::Signalled { stderr, .. } if !stderr.is_empty() => {
            value["detail"] = json!({ "text": stderr });
            is_plain = true;
        }
        RunError::OutputTooLarge { head, narrow_with, .. } => {
            value["head"] = head.clone().into();
            if !narrow_with.is_empty() {
                value["narrow_with"] = narrow_with.clone().into();
            }
        }
        _ => {}
    }
    Answer { is_plain, ..Answer::failure(status, value) }
}

/// An error and what it came from, in one line. None of them holds an argument or a value.
fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatelatch_runner::cache::CacheError;
    use std::time::Duration;

    fn failed(error: &RunError) -> Value {
        run_failed(Kind::Tool, "probe", Some("do-it"), error).value
    }

    #[test]
    fn a_failure_tells_its_causes_first_and_then_what_helps() {
        let source = std::io::Error::from(std::io::ErrorKind::ReadOnlyFilesystem);
        let error = RunError::UnsafeCache(CacheError::Unpack { folder: "/cache/x".into(), source });
        let value = failed(&error);
        let (cause, help) = value["message"].as_str().unwrap().split_once("\nhelp: ").unwrap();
        assert!(
            cause.starts_with("`probe` `do-it`: cannot unpack a compiled-in program to `/cache/x`: read-only"),
            "{cause}"
        );
        assert!(help.contains("GATELATCH_CACHE"), "{help}");
        assert_eq!(value["error"], "cannot_start");
    }

    #[test]
    fn whoever_was_ended_has_said_something_before() {
        let stderr = "connecting to ***KEY***".to_owned();
        let detail = json!({ "text": stderr });
        let timed_out = RunError::TimedOut { after: Duration::from_secs(1), stderr: stderr.clone() };
        assert_eq!(failed(&timed_out)["detail"], detail);
        assert_eq!(failed(&RunError::Signalled { signal: 9, stderr })["detail"], detail);
        assert_eq!(failed(&RunError::Signalled { signal: 9, stderr: String::new() }).get("detail"), None);
    }
}
