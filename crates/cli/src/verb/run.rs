//! `gatelatch run` and `gatelatch agent`: one call from the terminal, on the same road as an MCP client's.

use std::io::{BufRead, IsTerminal, Write};

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
use crate::exit::Code;
use crate::options::CallOptions;
use crate::verb::{
    Road,
    operator::{SETTLING, stop_on_signal},
    print_answer, say,
};

/// What to run.
pub(crate) enum Target {
    Tool(String),
    Agent(String),
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
            return answer;
        }
        if !agreed(&answer, &request.args) {
            say("not run: the answer was not yes");
            return answer;
        }
        road.bridge.run(RunRequest { door: Door::Confirmed, ..request }, cancelled, steps()).await
    };
    let answer = runtime.block_on(async {
        let answer = call.await;
        settle(SETTLING).await;
        answer
    });
    print_answer(&answer, options.json)
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

/// Shows the exact call to the human at the terminal and asks. Without a terminal the answer is no.
fn agreed(refused: &Answer, args: &Value) -> bool {
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        say("note: --confirm needs a terminal to ask on, and there is none");
        return false;
    }
    let text = |key: &str| refused.value[key].as_str().unwrap_or_default().to_owned();
    let named = format!("{}{} {}", text("tool"), text("agent"), text("action"));
    say(&format!("{} is {}: {}", named.trim_end(), text("effect"), text("because")));
    // What is not plain to the eye is shown by its number: the human must see the very call that would run.
    say(&plain(&serde_json::to_string_pretty(args).unwrap_or_default()));
    let _ = write!(std::io::stderr(), "Run it? Type yes: ");
    let _ = std::io::stderr().flush();
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).is_ok() && line.trim() == "yes"
}
