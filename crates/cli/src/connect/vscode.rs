//! Visual Studio Code: its files and its approval settings.
//!
//! What is true of VS Code 1.12x and relied on here: a tool of an MCP server that does not say that it only reads is asked
//! for until somebody approves it for longer, and `chat.tools.eligibleForAutoApproval` can forbid that for a tool, which
//! it calls by its bare name. Settings of a workspace outrank the user's. Start at [`connection`].

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::draft::{Want, When};
use super::judgement::{Judgement, Survey};
use super::place::project_file;
use super::sheet::{Settled, Sheet};
use super::syntax::{Syntax, path};
use super::{ConnectError, ConnectRequest, Connection, PLAIN_NAME, Scope, Surroundings};

/// The setting that keeps a tool from being approved for longer than one call.
const ELIGIBLE: &str = "chat.tools.eligibleForAutoApproval";

const LEVEL_NOTE: &str = "the permission levels `Bypass Approvals` and `Autopilot` run every tool without a question; set \
                          GATELATCH_DENY_IRREVERSIBLE=1 where they are used";
const NAME_NOTE: &str = "VS Code's setting names a tool without its server: it holds for every tool of that name";

pub(super) fn connection(request: &ConnectRequest, surroundings: &Surroundings) -> Result<Connection, ConnectError> {
    request.check_name(PLAIN_NAME, |_| true)?;
    let (command, arguments) = request.command(&["${"])?;
    let servers = match &request.scope {
        Scope::Global => user_folder(surroundings)?.join("mcp.json"),
        Scope::Project => project_file(&surroundings.working_folder, ".vscode/mcp.json"),
        Scope::File(file) => surroundings.working_folder.join(file),
    };
    let settings = servers.with_file_name("settings.json");
    let server = Want::Server {
        at: path(&["servers", &request.server]),
        value: json!({ "type": "stdio", "command": command, "args": arguments }),
    };
    let never = |tool| Want::Set { at: path(&[ELIGIBLE, tool]), value: json!(false), when: When::Always };
    let asks: Vec<Want> = request.kind.confirmed().iter().map(|tool| never(tool)).collect();
    let sheet = |named, wants| Sheet::plain(Syntax::Jsonc, named, request, surroundings, wants);
    let mut sheets = vec![sheet(servers, vec![server])?];
    if !asks.is_empty() {
        sheets.push(sheet(settings, asks)?);
    }
    let notes = [LEVEL_NOTE, NAME_NOTE].into_iter().filter_map(|note| request.kind.of_the_question(note));
    Ok(Connection { sheets, notes: notes.collect(), ..Connection::default() })
}

pub(super) fn judge(request: &ConnectRequest, surroundings: &Surroundings, settled: &[Settled]) -> Judgement {
    let mut survey = Survey::new(settled);
    let workspace = project_file(&surroundings.working_folder, ".vscode/settings.json");
    let own = user_folder(surroundings).map(|folder| folder.join("settings.json"));
    for file in survey.files(own.into_iter().chain([workspace.clone()]), 1) {
        let Some(value) = survey.read(&file, Syntax::Jsonc) else { continue };
        let outranks = file == workspace && request.scope == Scope::Global;
        for tool in request.kind.confirmed() {
            if outranks && value.get(ELIGIBLE).and_then(|tools| tools.get(tool)) == Some(&json!(true)) {
                survey
                    .judgement
                    .warn(format!("`{tool}` may run without a question: `{ELIGIBLE}` in {}", file.display()));
            }
        }
        let level = value.get("chat.permissions.default").and_then(Value::as_str);
        let level = level.filter(|level| ["autoApprove", "autopilot"].contains(level));
        if let Some(level) = level.filter(|_| !request.kind.confirmed().is_empty()) {
            let why = format!("`\"chat.permissions.default\": \"{level}\"` in {}", file.display());
            survey.judgement.warn(format!("every tool runs without a question: {why}"));
        }
    }
    let entry = settled.first().and_then(|settled| {
        let value = settled.value(Syntax::Jsonc);
        value.get("servers")?.get(&request.server).cloned()
    });
    let in_sandbox = entry.is_some_and(|entry| entry.get("sandboxEnabled") == Some(&json!(true)));
    if in_sandbox && !request.kind.confirmed().is_empty() {
        let key = format!("servers.{}.sandboxEnabled", request.server);
        survey.judgement.warn(format!("VS Code asks for no tool of a server in its sandbox: take out `{key}`"));
    }
    survey.judgement
}

/// Where VS Code keeps the user's own files; each named profile has a folder below it.
fn user_folder(surroundings: &Surroundings) -> Result<PathBuf, ConnectError> {
    let home = || surroundings.home();
    let folder = if cfg!(target_os = "macos") {
        home().map(|home| home.join("Library/Application Support"))
    } else if cfg!(windows) {
        surroundings.variable("APPDATA").map(PathBuf::from)
    } else {
        let set = surroundings.variable("XDG_CONFIG_HOME").map(PathBuf::from);
        set.or_else(|| home().map(|home| home.join(".config")))
    };
    Ok(folder.ok_or(ConnectError::NoHome)?.join(Path::new("Code/User")))
}
