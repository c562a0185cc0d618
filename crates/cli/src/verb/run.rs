//! `gatelatch run` and `gatelatch agent`: one call from the terminal, on the same road as an MCP client's.

use std::io::IsTerminal;

use gatelatch_bridge::answer::{Answer, Status};
use gatelatch_bridge::bridge::RunRequest;
use gatelatch_gate::decision::Door;
use gatelatch_manifest::diagnostic::plain;
use gatelatch_registry::catalog::Kind;
use gatelatch_runner::runner::Steps;
use gatelatch_spawn::child::settle;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::arguments;
use crate::exit::{Code, UsageError};
use crate::options::CallOptions;
use crate::verb::{
    Question, Road, agrees, print_answer, print_answer_to, say,
    serving::{SETTLING, stop_on_signal},
};

/// What to run.
pub(crate) enum Target {
    Tool(String),
    Agent(String),
}

/// An argument of the action that was typed as an option or a word of `run` or `agent`, where that is what clap refused. Its
/// value is not told.
pub(crate) fn misplaced(error: &clap::Error) -> Option<UsageError> {
    use clap::error::{ContextKind, ContextValue, ErrorKind};
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::StyledStr(text)) => Some(text.to_string()),
        _ => None,
    };
    let usage = text(ContextKind::Usage)?;
    let verb = ["run", "agent"].into_iter().find(|verb| usage.contains(&format!(" {verb} ")))?;
    let typed = text(ContextKind::InvalidArg).filter(|_| error.kind() == ErrorKind::UnknownArgument)?;
    let name = typed.split_once('=').map_or(typed.as_str(), |(name, _)| name);
    let is_name = name.starts_with('-') || typed.contains('=');
    let written = if is_name { name.trim_start_matches('-') } else { "NAME" };
    let told = if is_name { format!("`{name}`") } else { "what follows the action".to_owned() };
    Some(UsageError::new(
        format!("`gatelatch {verb}` does not take {told}"),
        format!("an argument of the action is written `--arg {written}=VALUE`, after the action's name"),
    ))
}

/// Runs, or with `--dry-run` plans, one call.
pub(crate) fn run(road: &Road, target: Target, action: Option<String>, options: &CallOptions) -> anyhow::Result<Code> {
    let (kind, name) = match target {
        Target::Tool(name) => (Kind::Tool, name),
        Target::Agent(name) => (Kind::Agent, name),
    };
    let entry = road.bridge.catalog().entry(kind, &name);
    let args = arguments::raw(options, entry.and_then(|entry| entry.action(action.as_deref())))?;
    let request = RunRequest { front: "command line", kind, name, action, args, door: Door::Plain, keep: None };
    if options.dry_run {
        return print_answer(&road.bridge.plan(&request), options.json);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let call = async {
        let cancelled = CancellationToken::new();
        tokio::spawn(stop_on_signal(cancelled.clone()));
        let answer = road.bridge.run(request.clone(), cancelled.clone(), steps()).await;
        if answer.status != Status::ApprovalRequired || !options.confirm {
            return (answer, Question::NotAsked);
        }
        match agreed(&answer, &request.args) {
            Ok(()) => {
                let confirmed = RunRequest { door: Door::Confirmed, ..request };
                (road.bridge.run(confirmed, cancelled, steps()).await, Question::NotAsked)
            }
            Err(question) => (answer, question),
        }
    };
    let (answer, question) = runtime.block_on(async {
        let ended = call.await;
        settle(SETTLING).await;
        ended
    });
    print_answer_to(&answer, options.json, question)
}

/// Progress on standard error, for whoever sits before it.
fn steps() -> Option<Steps> {
    std::io::stderr().is_terminal().then(|| -> Steps {
        Box::new(|step| {
            let total = step.total.map(|total| format!("/{total}")).unwrap_or_default();
            say(&format!("… {}{total} {}", step.progress, step.message.unwrap_or_default()));
        })
    })
}

/// Shows the exact call to the human at the terminal and asks; what became of the question where there is no yes.
fn agreed(refused: &Answer, args: &Value) -> Result<(), Question> {
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Err(Question::NobodyThere);
    }
    let text = |key: &str| refused.value[key].as_str().unwrap_or_default().to_owned();
    let named = format!("{}{} {}", text("tool"), text("agent"), text("action"));
    say(&format!("{} is {}: {}", named.trim_end(), text("effect"), text("because")));
    // What is not plain to the eye is shown by its number: the human must see the very call that would run.
    say(&plain(&serde_json::to_string_pretty(args).unwrap_or_default()));
    if agrees("Run it?").unwrap_or(false) { Ok(()) } else { Err(Question::NotAgreed) }
}
