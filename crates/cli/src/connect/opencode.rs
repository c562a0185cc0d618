//! opencode: its files, its permission rules, and what Gatelatch writes into them.
//!
//! What is true of opencode 1.18 and relied on here: configurations are merged key by key in a fixed order, a key keeps
//! the place where it was met first, and of all permission rules that match a tool the last one decides; without any,
//! the tool runs. MCP tools are called `<server>_<tool>`, and that name is the permission key. Start at [`connection`].

pub(super) mod merge;
mod place;
mod rules;

use serde_json::json;

pub(super) use self::merge::Wanted;
use super::judgement::Judgement;
use super::page::Page;
use super::place::Target;
use super::sheet::{Form, Settled, Sheet};
use super::{ConnectError, ConnectRequest, Connection, Server, Surroundings};

const ALWAYS_NOTE: &str =
    "answer opencode's question with `once`: `always` lets every later confirmed call of that run through";
const AUTO_NOTE: &str =
    "`opencode --auto` answers the question by itself; set GATELATCH_DENY_IRREVERSIBLE=1 for such runs";

/// What opencode substitutes anywhere in a configuration.
const SUBSTITUTED: [&str; 2] = ["{env:", "{file:"];

pub(super) fn connection(request: &ConnectRequest, surroundings: &Surroundings) -> Result<Connection, ConnectError> {
    // opencode gives these two keys of its `mcp` object another meaning.
    let rule = "use letters, digits, `-` and `_`; `servers` and `timeout` have a meaning of their own";
    request.check_name(rule, |name| !["servers", "timeout"].contains(&name))?;
    let (program, arguments) = request.command(&SUBSTITUTED)?;
    let command: Vec<String> = std::iter::once(program).chain(arguments).collect();
    // opencode gives up on a request after this many milliseconds.
    let timeout = request.patience().as_secs().saturating_mul(1_000);
    let value = json!({ "type": "local", "command": command, "enabled": true, "timeout": timeout });
    let target = Target::find(place::named(request, surroundings)?, request, surroundings)?;
    let page = match request.kind {
        Server::Operator => {
            Some(Page { path: place::instructions_path(&target, request), text: instructions(&request.server) })
        }
        // It says itself what a model should know.
        Server::Chat { .. } => None,
    };
    let entry = page.as_ref().map(|page| place::instructions_entry(page, request)).transpose()?;
    let notes = [ALWAYS_NOTE, AUTO_NOTE].into_iter().filter_map(|note| request.kind.of_the_question(note));
    Ok(Connection {
        sheets: vec![Sheet { target, form: Form::Opencode(Wanted::new(&request.server, value, entry)) }],
        page,
        notes: notes.collect(),
        ..Connection::default()
    })
}

pub(super) fn judge(request: &ConnectRequest, surroundings: &Surroundings, settled: &[Settled]) -> Judgement {
    match (&request.kind, settled.first()) {
        (Server::Operator, Some(settled)) => {
            rules::judge(&place::landscape(surroundings, &settled.target, &settled.text), &request.server)
        }
        (Server::Operator | Server::Chat { .. }, _) => Judgement::default(),
    }
}

/// The text of the instructions file: what a model should know about these tools that their descriptions do not say.
fn instructions(server: &str) -> String {
    format!(
        "\
# Gatelatch

The tools whose names begin with `{server}_` reach the catalog of tools, agents and skills on this machine.

- Prefer them over the shell. Before you write a command or a script, call `{server}_capabilities` with `search` and a
  few words of the task, and see whether the catalog has it.
- Call `{server}_capabilities` with `name` and `action` before the first call of an action: it gives the arguments and
  the literal call. Do not guess arguments.
- Run it with `{server}_run_tool`, or `{server}_run_agent` for an agent. Read a skill with `{server}_get_skill` before
  a task that it describes.
- When a call fails, read `schema` or `did_you_mean` in the answer and correct the call.
- `approval_required` means that a person must agree first. Say in one sentence what will happen, then make the same
  call once through `{server}_run_tool_confirmed` or `{server}_run_agent_confirmed`. The person is asked there.
- A refusal or a no is final. Never work around it: not through the shell, not through another tool, not by editing
  files, not by splitting or rewording the call. Say that it was refused, and stop.
"
    )
}

#[cfg(test)]
mod tests;
