//! Claude Code: its files and its permission rules.
//!
//! What is true of Claude Code 2.1 and relied on here: rules of all scopes count together, `deny` before `ask` before
//! `allow`, whatever their order; an `ask` rule asks in every permission mode but `dontAsk`, which refuses instead. MCP
//! tools are called `mcp__<server>__<tool>`. Start at [`connection`].

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::draft::Want;
use super::judgement::{Judgement, Survey, distinct, texts};
use super::place::{project_file, project_root};
use super::sheet::{Settled, Sheet};
use super::syntax::{Syntax, path};
use super::{ConnectError, ConnectRequest, Connection, PLAIN_NAME, Scope, Surroundings};

const START_NOTE: &str = "Claude Code asks once before it starts a server that a project's file names";
const OWN_FILE_NOTE: &str = "Claude Code writes its own `.claude.json` while it runs: close it first";

pub(super) fn connection(request: &ConnectRequest, surroundings: &Surroundings) -> Result<Connection, ConnectError> {
    request.check_name(PLAIN_NAME, |_| true)?;
    let (command, arguments) = request.command(&["${"])?;
    let (servers, settings) = match &request.scope {
        Scope::Global => (own_file(surroundings)?, own_settings(surroundings)?),
        Scope::Project => beside(project_file(&surroundings.working_folder, ".mcp.json")),
        Scope::File(file) => beside(surroundings.working_folder.join(file)),
    };
    let server = Want::Server {
        at: path(&["mcpServers", &request.server]),
        value: json!({ "type": "stdio", "command": command, "args": arguments }),
    };
    let rule = |list: &str, tool: &str| Want::Listed { at: path(&["permissions", list]), text: name(request, tool) };
    let rules = request
        .kind
        .confirmed()
        .iter()
        .map(|tool| rule("ask", tool))
        .chain(request.kind.plain().iter().map(|tool| rule("allow", tool)));
    let sheet = |named, wants| Sheet::plain(Syntax::Jsonc, named, request, surroundings, wants);
    let rules: Vec<Want> = rules.collect();
    let mut sheets = vec![sheet(servers, vec![server])?];
    if !rules.is_empty() {
        sheets.push(sheet(settings, rules)?);
    }
    Ok(Connection {
        sheets,
        notes: match request.scope {
            Scope::Global => vec![OWN_FILE_NOTE.to_owned()],
            Scope::Project => vec![START_NOTE.to_owned()],
            Scope::File(_) => Vec::new(),
        },
        ..Connection::default()
    })
}

pub(super) fn judge(request: &ConnectRequest, surroundings: &Surroundings, settled: &[Settled]) -> Judgement {
    let mut survey = Survey::new(settled);
    let root = project_root(&surroundings.working_folder);
    let project = ["settings.json", "settings.local.json"].map(|name| root.join(".claude").join(name));
    for file in survey.files(own_settings(surroundings).into_iter().chain(project), 1) {
        if let Some(value) = survey.read(&file, Syntax::Jsonc) {
            weigh(request, &file, &value, &mut survey.judgement);
        }
    }
    let managed = managed_settings();
    if let Some(value) = survey.read(&managed, Syntax::Jsonc) {
        weigh(request, &managed, &value, &mut survey.judgement);
        if value.get("allowManagedPermissionRulesOnly") == Some(&json!(true)) {
            survey.judgement.warn(format!("{} makes Claude Code pass over these rules", managed.display()));
        }
    }
    shadows(request, surroundings, &root, &mut survey);
    survey.judgement
}

/// What one settings file says of the tools beyond what is written.
fn weigh(request: &ConnectRequest, file: &Path, value: &Value, judgement: &mut Judgement) {
    let whole = [format!("mcp__{}", request.server), format!("mcp__{}__*", request.server)];
    let file = file.display();
    for tool in request.kind.confirmed().iter().chain(request.kind.plain()) {
        let tool = name(request, tool);
        if let Some(rule) = texts(value, &["permissions", "deny"]).into_iter().find(|r| *r == tool || is_in(&whole, r))
        {
            judgement.note(format!("`{tool}` is refused by the rule `{rule}` in {file}"));
        }
    }
    if let Some(rule) = texts(value, &["permissions", "ask"]).into_iter().find(|rule| is_in(&whole, rule)) {
        judgement.note(format!("every tool asks each time: the rule `{rule}` in {file}"));
    }
    if value.pointer("/permissions/defaultMode") == Some(&json!("dontAsk")) {
        judgement.note(format!("the mode `dontAsk` in {file} refuses the confirmed tools instead of asking"));
    }
    if is_in(&texts(value, &["disabledMcpjsonServers"]), &request.server) && request.scope == Scope::Project {
        judgement.warn(format!("{file} disables the server `{}` of this project", request.server));
    }
}

/// Another server of the name, which Claude Code would take instead: its own for this project first, then the project's.
fn shadows(request: &ConnectRequest, surroundings: &Surroundings, root: &Path, survey: &mut Survey<'_>) {
    let warn = |survey: &mut Survey<'_>, file: &Path, what: &str| {
        let name = &request.server;
        survey.judgement.warn(format!("{} has another server `{name}`{what}, which comes first", file.display()));
    };
    if let Ok(own) = own_file(surroundings)
        && let Some(value) = survey.read(&own, Syntax::Jsonc)
    {
        for folder in distinct([root.to_path_buf(), surroundings.working_folder.clone()]) {
            let servers = value.get("projects").and_then(|all| all.get(folder.to_str()?)?.get("mcpServers"));
            if servers.is_some_and(|servers| servers.get(&request.server).is_some()) {
                warn(survey, &own, " for this project");
            }
        }
    }
    let shared = project_file(&surroundings.working_folder, ".mcp.json");
    if request.scope == Scope::Global
        && let Some(value) = survey.read(&shared, Syntax::Jsonc)
        && value.get("mcpServers").is_some_and(|servers| servers.get(&request.server).is_some())
    {
        warn(survey, &shared, "");
    }
}

fn name(request: &ConnectRequest, tool: &str) -> String {
    format!("mcp__{}__{tool}", request.server)
}

fn is_in<T: AsRef<str>>(list: &[T], text: &str) -> bool {
    list.iter().any(|item| item.as_ref() == text)
}

/// The servers' file and the settings that hold beside it.
fn beside(servers: PathBuf) -> (PathBuf, PathBuf) {
    let settings = servers.with_file_name(".claude").join("settings.json");
    (servers, settings)
}

/// The file in which Claude Code keeps the user's servers, beside much else.
fn own_file(surroundings: &Surroundings) -> Result<PathBuf, ConnectError> {
    let folder = surroundings.variable("CLAUDE_CONFIG_DIR").map(PathBuf::from).or_else(|| surroundings.home());
    Ok(folder.ok_or(ConnectError::NoHome)?.join(".claude.json"))
}

fn own_settings(surroundings: &Surroundings) -> Result<PathBuf, ConnectError> {
    let named = surroundings.variable("CLAUDE_CONFIG_DIR").map(PathBuf::from);
    let folder = named.or_else(|| surroundings.home().map(|home| home.join(".claude")));
    Ok(folder.ok_or(ConnectError::NoHome)?.join("settings.json"))
}

/// What an administrator has set for the whole machine.
fn managed_settings() -> PathBuf {
    PathBuf::from(if cfg!(target_os = "macos") {
        "/Library/Application Support/ClaudeCode/managed-settings.json"
    } else if cfg!(windows) {
        "C:\\Program Files\\ClaudeCode\\managed-settings.json"
    } else {
        "/etc/claude-code/managed-settings.json"
    })
}
