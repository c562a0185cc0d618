//! Codex: its file and its approval modes.
//!
//! What is true of Codex 0.15x to 0.17x and relied on here: each tool of a server has an approval mode, `prompt` asks for
//! every call, `approve` for none; a project's file outranks the user's, key by key. `approval_policy = "never"` refuses
//! what would be asked, except with full access, where it runs. Start at [`connection`].

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::draft::{Want, When};
use super::judgement::{Judgement, Survey};
use super::place::{Target, project_file};
use super::sheet::{Form, Settled, Sheet};
use super::syntax::{Syntax, path};
use super::{ConnectError, ConnectRequest, Connection, PLAIN_NAME, Scope, Surroundings, write};

const ACCESS_NOTE: &str = "with full access and the approval policy `never`, as `--yolo` sets them, Codex runs every tool \
                           without a question; set GATELATCH_DENY_IRREVERSIBLE=1 for such runs";
const TRUST_NOTE: &str = "Codex reads a project's file only in a project that you trust";

pub(super) fn connection(request: &ConnectRequest, surroundings: &Surroundings) -> Result<Connection, ConnectError> {
    request.check_name(PLAIN_NAME, |_| true)?;
    let (command, arguments) = request.command(&[])?;
    let named = match &request.scope {
        Scope::Global => own_file(surroundings)?,
        Scope::Project => project_file(&surroundings.working_folder, ".codex/config.toml"),
        Scope::File(file) => surroundings.working_folder.join(file),
    };
    let target = Target::find(named, request, surroundings)?;
    let entry = ["mcp_servers", &request.server];
    let mode = |tool: &str, mode: &str, when| {
        let at = [entry.as_slice(), &["tools", tool, "approval_mode"]].concat();
        Want::Set { at: path(&at), value: json!(mode), when }
    };
    let mut wants = vec![Want::Server {
        at: path(&entry),
        value: json!({ "command": command, "args": arguments, "tool_timeout_sec": request.patience().as_secs() }),
    }];
    wants.extend(request.kind.confirmed().iter().map(|tool| mode(tool, "prompt", When::Always)));
    // Somebody who said what holds for the whole server is not to be asked less.
    if !has_default(&target, &entry)? {
        wants.extend(request.kind.plain().iter().map(|tool| mode(tool, "approve", When::Unset)));
    }
    let project = (request.scope == Scope::Project).then(|| TRUST_NOTE.to_owned());
    Ok(Connection {
        sheets: vec![Sheet { target, form: Form::Plain { syntax: Syntax::Toml, wants } }],
        notes: project.into_iter().chain(request.kind.of_the_question(ACCESS_NOTE)).collect(),
        ..Connection::default()
    })
}

pub(super) fn judge(request: &ConnectRequest, surroundings: &Surroundings, settled: &[Settled]) -> Judgement {
    let mut survey = Survey::new(settled);
    let project = project_file(&surroundings.working_folder, ".codex/config.toml");
    for file in survey.files(own_file(surroundings).into_iter().chain([project.clone()]), 0) {
        let Some(value) = survey.read(&file, Syntax::Toml) else { continue };
        if !request.kind.confirmed().is_empty() {
            weigh_policies(&value, &file, &mut survey.judgement);
        }
        let Some(entry) = value.pointer(&format!("/mcp_servers/{}", request.server)) else { continue };
        if file == project && request.scope == Scope::Global {
            weigh_entry(request, entry, &file, &mut survey.judgement);
        }
        for tool in request.kind.confirmed().iter().chain(request.kind.plain()) {
            let names = |list: &str| entry.get(list).and_then(Value::as_array).map(|list| list.contains(&json!(tool)));
            if names("disabled_tools") == Some(true) || names("enabled_tools") == Some(false) {
                survey.judgement.note(format!("`{tool}` is hidden from the model by {}", file.display()));
            }
        }
    }
    survey.judgement
}

/// What the file says of all questions, in general and in each profile.
fn weigh_policies(value: &Value, file: &Path, judgement: &mut Judgement) {
    weigh_policy("", value, file, judgement);
    for (name, profile) in value.get("profiles").and_then(Value::as_object).into_iter().flatten() {
        weigh_policy(&format!("profiles.{name}."), profile, file, judgement);
    }
}

fn weigh_policy(prefix: &str, value: &Value, file: &Path, judgement: &mut Judgement) {
    let file = file.display();
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    if text("approval_policy") == Some("never") {
        let full = text("sandbox_mode") == Some("danger-full-access");
        let then =
            if full { "run without a question" } else { "are refused, and run without a question in full access" };
        judgement.warn(format!("the confirmed tools {then}: `{prefix}approval_policy = \"never\"` in {file}"));
    }
    if let Some(reviewer) = text("approvals_reviewer").filter(|reviewer| *reviewer != "user") {
        let rule = format!("`{prefix}approvals_reviewer = \"{reviewer}\"` in {file}");
        judgement.warn(format!("a model may answer the question instead of you: {rule}"));
    }
}

/// What a project says about a server that the user's file connects.
fn weigh_entry(request: &ConnectRequest, entry: &Value, file: &Path, judgement: &mut Judgement) {
    let file = file.display();
    for tool in request.kind.confirmed() {
        let mode = entry.pointer(&format!("/tools/{tool}/approval_mode")).and_then(Value::as_str);
        if let Some(mode) = mode.filter(|mode| *mode != "prompt") {
            judgement.warn(format!("`{tool}` may run without a question: its `approval_mode` is `{mode}` in {file}"));
        }
    }
    if entry.get("enabled") == Some(&json!(false)) {
        judgement.warn(format!("{file} disables the server"));
    }
}

/// Whether the server's entry says already what holds for all of its tools.
fn has_default(target: &Target, entry: &[&str]) -> Result<bool, ConnectError> {
    let text = write::read(&target.real)?.unwrap_or_default();
    // A text that cannot be parsed is refused with its place when it is planned.
    let value = Syntax::Toml.parse(&text).unwrap_or_default();
    let entry = entry.iter().try_fold(&value, |value, key| value.get(key));
    Ok(entry.is_some_and(|entry| entry.get("default_tools_approval_mode").is_some()))
}

fn own_file(surroundings: &Surroundings) -> Result<PathBuf, ConnectError> {
    let named = surroundings.variable("CODEX_HOME").map(PathBuf::from);
    let folder = named.or_else(|| surroundings.home().map(|home| home.join(".codex")));
    Ok(folder.ok_or(ConnectError::NoHome)?.join("config.toml"))
}
