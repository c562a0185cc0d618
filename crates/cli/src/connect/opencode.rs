//! opencode: its files, its permission rules, and what Gatelatch writes into them.
//!
//! What is true of opencode 1.18 and relied on here: configurations are merged key by key in a fixed order, a key keeps
//! the place where it was met first, and of all permission rules that match a tool the last one decides; without any,
//! the tool runs. MCP tools are called `<server>_<tool>`, and that name is the permission key. Start at [`plan`].

mod merge;
mod place;
mod rules;

use std::path::Path;

use serde_json::{Value, json};

use self::merge::{Merged, Wanted};
use self::place::Target;
use super::jsonc::Fault;
use super::record::{Part, Record, Written};
use super::{Change, ConnectError, ConnectRequest, FileEdit, Plan, RecordEdit, Surroundings, write};

/// Longer than the 120 s that a call may take by default, since opencode gives up on a request after this long.
const TIMEOUT_MS: u64 = 150_000;

const ALWAYS_NOTE: &str =
    "answer opencode's question with `once`: `always` lets every later confirmed call of that run through";
const AUTO_NOTE: &str =
    "`opencode --auto` answers the question by itself; set GATELATCH_DENY_IRREVERSIBLE=1 for such runs";

pub(super) fn plan(request: &ConnectRequest, surroundings: &Surroundings) -> Result<Plan, ConnectError> {
    check(request)?;
    let target = Target::find(request, surroundings)?;
    let entry = target.instructions_entry(&request.server)?;
    let wanted = Wanted::new(&request.server, server_value(request)?, entry);
    let before = write::read(&target.real)?;
    let text = before.clone().unwrap_or_default();
    let merged = merge::connect(&text, &wanted).map_err(|fault| located(&target.named, fault))?;
    verify(&target, &text, &merged.text, &wanted)?;

    let record_path = Record::path(surroundings, request.client, &target.named, &request.server);
    let old = Record::load(&record_path)?;
    let (companion, companion_note) = companion_plan(&target, &request.server, old.as_ref())?;
    let configuration = (before.as_deref() != Some(merged.text.as_str())).then(|| FileEdit {
        path: target.real.clone(),
        before: before.clone(),
        after: Some(merged.text.clone()),
    });
    let record = if configuration.is_none() && companion.is_none() {
        RecordEdit::Keep
    } else {
        let record = new_record(&target, before, &merged, &wanted, old, companion.as_ref())?;
        RecordEdit::Write(record_path, Box::new(record))
    };

    let judged = rules::judge(&place::landscape(surroundings, &target, &merged.text), &request.server);
    let mut notes = merged.notes;
    notes.extend(companion_note);
    notes.extend(judged.notes);
    notes.extend([ALWAYS_NOTE.to_owned(), AUTO_NOTE.to_owned()]);
    Ok(Plan {
        config: target.named,
        changes: merged.changes,
        configuration,
        companion,
        warnings: judged.warnings,
        notes,
        record,
    })
}

pub(super) fn plan_undo(request: &ConnectRequest, surroundings: &Surroundings) -> Result<Plan, ConnectError> {
    check(request)?;
    let target = Target::find(request, surroundings)?;
    let record_path = Record::path(surroundings, request.client, &target.named, &request.server);
    let record = Record::load(&record_path)?;
    let before = write::read(&target.real)?;
    let mut notes = Vec::new();
    let (after, changes) = match (&before, &record) {
        (Some(text), Some(record)) if record.file.is_ours(Some(text)) => {
            (record.file.before.clone(), record.parts.iter().filter_map(taken_back).collect())
        }
        (Some(text), Some(record)) => {
            let undone = surgery(&target, text, &record.parts, &record.created)?;
            notes.push(
                "the file was edited since it was connected: only Gatelatch's own parts are taken out".to_owned(),
            );
            notes.extend(undone.notes);
            let leftover = record.file.before.is_none() && merge::holds_nothing(&undone.text);
            ((!leftover).then_some(undone.text), undone.changes)
        }
        (Some(text), None) => {
            let entry = target.instructions_entry(&request.server)?;
            let wanted = Wanted::new(&request.server, server_value(request)?, entry);
            let parts = merge::own_parts(text, &wanted).map_err(|fault| located(&target.named, fault))?;
            let undone = surgery(&target, text, &parts, &merge::containers())?;
            (Some(undone.text), undone.changes)
        }
        (None, _) => (None, Vec::new()),
    };
    let configuration = (before != after).then(|| FileEdit { path: target.real.clone(), before, after });
    let (companion, companion_note) = companion_undo(&target, &request.server, record.as_ref())?;
    notes.extend(companion_note);
    let record = if record.is_some() { RecordEdit::Remove(record_path) } else { RecordEdit::Keep };
    Ok(Plan { config: target.named, changes, configuration, companion, warnings: Vec::new(), notes, record })
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

fn check(request: &ConnectRequest) -> Result<(), ConnectError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let name = request.server.as_str();
    // opencode gives these two keys of its `mcp` object another meaning.
    if name.is_empty() || !name.chars().all(plain) || ["servers", "timeout"].contains(&name) {
        return Err(ConnectError::ServerName(name.to_owned()));
    }
    for path in std::iter::once(&request.program).chain(&request.catalogs) {
        if !path.is_absolute() {
            return Err(ConnectError::Relative(path.clone()));
        }
    }
    Ok(())
}

/// A path as text that opencode takes literally: it substitutes `{env:…}` and `{file:…}` anywhere in a configuration.
fn literal(path: &Path) -> Result<&str, ConnectError> {
    path.to_str()
        .filter(|text| !text.contains("{env:") && !text.contains("{file:"))
        .ok_or_else(|| ConnectError::Unwritable(path.to_path_buf()))
}

fn server_value(request: &ConnectRequest) -> Result<Value, ConnectError> {
    let mut command = vec![literal(&request.program)?, "operator"];
    for catalog in &request.catalogs {
        command.extend(["--catalog", literal(catalog)?]);
    }
    Ok(json!({ "type": "local", "command": command, "enabled": true, "timeout": TIMEOUT_MS }))
}

fn located(path: &Path, fault: Fault) -> ConnectError {
    ConnectError::Syntax { path: path.to_path_buf(), line: fault.line, column: fault.column, message: fault.message }
}

/// Holds the edit to its promise before anybody can apply it.
fn verify(target: &Target, before: &str, after: &str, wanted: &Wanted) -> Result<(), ConnectError> {
    if merge::leaves_the_rest(before, after, wanted) {
        Ok(())
    } else {
        Err(ConnectError::Unsound(target.named.clone()))
    }
}

fn surgery(target: &Target, text: &str, parts: &[Part], created: &[String]) -> Result<Merged, ConnectError> {
    merge::disconnect(text, parts, created).map_err(|fault| located(&target.named, fault))
}

/// The record of this connection. Where an older one stands, undo must lead back to before that one.
fn new_record(
    target: &Target,
    before: Option<String>,
    merged: &Merged,
    wanted: &Wanted,
    old: Option<Record>,
    companion: Option<&FileEdit>,
) -> Result<Record, ConnectError> {
    let origin = match (&old, &before) {
        (Some(old), Some(text)) if old.file.is_ours(Some(text)) => old.file.before.clone(),
        (Some(old), Some(text)) => Some(surgery(target, text, &old.parts, &old.created)?.text),
        _ => before,
    };
    let from_origin =
        merge::connect(origin.as_deref().unwrap_or_default(), wanted).map_err(|fault| located(&target.named, fault))?;
    let file = Written::new(origin, &merged.text);
    let mut record = Record::new(target.named.clone(), file, from_origin.parts, from_origin.created);
    record.instructions = match (companion, old.and_then(|old| old.instructions)) {
        (Some(FileEdit { after: Some(after), .. }), Some(older)) => Some(Written::new(older.before, after)),
        (Some(FileEdit { before, after: Some(after), .. }), None) => Some(Written::new(before.clone(), after)),
        (_, older) => older,
    };
    Ok(record)
}

type CompanionPlan = (Option<FileEdit>, Option<String>);

/// The instructions file: written when it is missing or ours from an earlier time, left alone when somebody edited it.
fn companion_plan(target: &Target, server: &str, old: Option<&Record>) -> Result<CompanionPlan, ConnectError> {
    let path = target.instructions_path(server);
    let before = write::read(&path)?;
    let text = instructions(server);
    let ours = old.and_then(|old| old.instructions.as_ref()).is_some_and(|written| written.is_ours(before.as_deref()));
    if before.as_deref() == Some(text.as_str()) {
        Ok((None, None))
    } else if before.is_none() || ours {
        Ok((Some(FileEdit { path, before, after: Some(text) }), None))
    } else {
        Ok((None, Some(format!("`{}` was written by somebody else and stays as it is", path.display()))))
    }
}

fn companion_undo(target: &Target, server: &str, record: Option<&Record>) -> Result<CompanionPlan, ConnectError> {
    let path = target.instructions_path(server);
    let Some(text) = write::read(&path)? else { return Ok((None, None)) };
    let after = match record {
        Some(record) => match &record.instructions {
            Some(written) if written.is_ours(Some(&text)) => written.before.clone(),
            Some(_) => {
                return Ok((None, Some(format!("`{}` was edited and stays; remove it by hand", path.display()))));
            }
            None => return Ok((None, None)),
        },
        None if text == instructions(server) => None,
        None => return Ok((None, None)),
    };
    Ok((Some(FileEdit { path, before: Some(text), after }), None))
}

fn taken_back(part: &Part) -> Option<Change> {
    let key = part.at.join(".");
    match &part.before {
        None => Some(Change::Remove { key }),
        Some(before) if *before == part.wrote => None,
        Some(before) => Some(Change::Replace { key, old: merge::shown(&part.wrote), new: merge::shown(before) }),
    }
}

#[cfg(test)]
mod tests;
