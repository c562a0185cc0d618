//! Gemini CLI: its file and its policy.
//!
//! What is true of Gemini CLI 0.61 and relied on here: it asks before each call of an MCP tool unless something allows it;
//! `tools.confirmationRequired` asks in every mode and outranks `tools.allowed`; a trusted server is never asked about;
//! a project's list replaces the user's. MCP tools are called `mcp_<server>_<tool>`. Start at [`connection`].

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::draft::{Want, When};
use super::judgement::{Judgement, Survey, texts};
use super::place::{Target, project_file};
use super::sheet::{Form, Settled, Sheet};
use super::syntax::{Syntax, path};
use super::{ConnectError, ConnectRequest, Connection, Scope, Surroundings, write};

/// Longer names are cut by Gemini CLI, and its rules would then name no tool.
const MOST_CHARACTERS: usize = 39;

/// The priority of `tools.confirmationRequired` among the user's policies; what is higher outranks it.
const PRIORITY: i64 = 350;

const ALWAYS_NOTE: &str = "answer Gemini CLI's question for once: an answer for the tool or the server lets every later \
                           confirmed call of that session through";

pub(super) fn connection(request: &ConnectRequest, surroundings: &Surroundings) -> Result<Connection, ConnectError> {
    let rule = "use at most 39 letters, digits and `-`; Gemini CLI takes what follows a `_` for the tool's name";
    request.check_name(rule, |name| name.len() <= MOST_CHARACTERS && !name.contains('_'))?;
    let (command, arguments) = request.command(&["$"])?;
    let named = match &request.scope {
        Scope::Global => own_folder(surroundings)?.join("settings.json"),
        Scope::Project => project_file(&surroundings.working_folder, ".gemini/settings.json"),
        Scope::File(file) => surroundings.working_folder.join(file),
    };
    let target = Target::find(named, request, surroundings)?;
    let entry = ["mcpServers", &request.server];
    let mut wants = vec![Want::Server { at: path(&entry), value: json!({ "command": command, "args": arguments }) }];
    if !request.kind.confirmed().is_empty() {
        // Of a trusted server nothing is asked.
        let at = path(&[entry[0], entry[1], "trust"]);
        wants.push(Want::Set { at, value: json!(false), when: When::Otherwise });
    }
    let lists = [("confirmationRequired", request.kind.confirmed()), ("allowed", request.kind.plain())];
    for (list, tools) in lists.into_iter().filter(|(_, tools)| !tools.is_empty()) {
        let at = path(&["tools", list]);
        let inherited = inherited(list, &target, request, surroundings);
        let texts = inherited.into_iter().chain(tools.iter().map(|tool| name(request, tool)));
        wants.extend(texts.map(|text| Want::Listed { at: at.clone(), text }));
    }
    Ok(Connection {
        sheets: vec![Sheet { target, form: Form::Plain { syntax: Syntax::Jsonc, wants } }],
        notes: request.kind.of_the_question(ALWAYS_NOTE).into_iter().collect(),
        ..Connection::default()
    })
}

pub(super) fn judge(request: &ConnectRequest, surroundings: &Surroundings, settled: &[Settled]) -> Judgement {
    let mut survey = Survey::new(settled);
    let project = project_file(&surroundings.working_folder, ".gemini/settings.json");
    let own = own_folder(surroundings).ok();
    let own_settings = own.iter().map(|folder| folder.join("settings.json"));
    for file in survey.files(own_settings.chain([project.clone()]), 0) {
        let Some(value) = survey.read(&file, Syntax::Jsonc) else { continue };
        let outranks = file == project && request.scope == Scope::Global;
        weigh(request, &value, &file, outranks, &mut survey.judgement);
    }
    for file in own.iter().flat_map(|folder| policies(&folder.join("policies"))) {
        if let Some(value) = survey.read(&file, Syntax::Toml) {
            weigh_policy(request, &value, &file, &mut survey.judgement);
        }
    }
    survey.judgement
}

fn weigh(request: &ConnectRequest, value: &Value, file: &Path, outranks: bool, judgement: &mut Judgement) {
    let (server, file) = (&request.server, file.display());
    let trusts = || value.pointer(&format!("/mcpServers/{server}/trust")) == Some(&json!(true));
    if outranks && !request.kind.confirmed().is_empty() && trusts() {
        judgement.warn(format!("every tool runs without a question: {file} trusts the server `{server}`"));
    }
    let required = value.pointer("/tools/confirmationRequired").is_some();
    let asked = texts(value, &["tools", "confirmationRequired"]);
    for tool in request.kind.confirmed().iter().map(|tool| name(request, tool)) {
        if outranks && required && !asked.contains(&tool.as_str()) {
            judgement.warn(format!("`tools.confirmationRequired` in {file} replaces yours and lacks `{tool}`"));
        }
    }
    for tool in request.kind.confirmed().iter().chain(request.kind.plain()).map(|tool| name(request, tool)) {
        if texts(value, &["tools", "exclude"]).contains(&tool.as_str()) {
            judgement.note(format!("`{tool}` is hidden from the model by `tools.exclude` in {file}"));
        }
    }
    let names = |list: &str| {
        let list = value.get("mcp").and_then(|mcp| mcp.get(list)).and_then(Value::as_array);
        list.map(|list| list.contains(&json!(server)) || list.contains(&json!("*")))
    };
    if names("allowed") == Some(false) || names("excluded") == Some(true) {
        judgement.warn(format!("`mcp` in {file} keeps Gemini CLI from starting the server `{server}`"));
    }
}

/// A policy of the user's that allows a confirmed tool with a higher priority than the question has.
fn weigh_policy(request: &ConnectRequest, value: &Value, file: &Path, judgement: &mut Judgement) {
    for rule in value.get("rule").and_then(Value::as_array).into_iter().flatten() {
        let allows = rule.get("decision") == Some(&json!("allow"));
        let priority = rule.get("priority").and_then(Value::as_i64).unwrap_or_default();
        if !allows || priority < PRIORITY {
            continue;
        }
        for tool in request.kind.confirmed() {
            if concerns(request, rule, tool) {
                let why = format!("a rule with priority {priority} in {}", file.display());
                judgement.warn(format!("`{}` runs without a question: {why}", name(request, tool)));
            }
        }
    }
}

/// Whether a rule's conditions may hold for a call of this tool. Those on arguments and modes may always.
fn concerns(request: &ConnectRequest, rule: &Value, tool: &str) -> bool {
    let server = rule.get("mcpName").and_then(Value::as_str);
    if server.is_some_and(|name| name != "*" && name != request.server) {
        return false;
    }
    let names = match rule.get("toolName") {
        None => return server.is_some(),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        Some(name) => name.as_str().into_iter().collect::<Vec<_>>(),
    };
    let whole = name(request, tool);
    names.into_iter().any(|name| {
        let wide = ["*".to_owned(), "mcp_*".to_owned(), format!("mcp_{}_*", request.server), format!("mcp_*_{tool}")];
        name == whole || wide.iter().any(|wide| wide == name) || (server.is_some() && name == tool)
    })
}

/// What the user's own list holds, when a project's first one would replace it.
fn inherited(list: &str, target: &Target, request: &ConnectRequest, surroundings: &Surroundings) -> Vec<String> {
    let read = |path: &Path| {
        let text = write::read(path).ok()??;
        Syntax::Jsonc.parse(&text).ok()
    };
    let has_own = read(&target.real).is_some_and(|value| value.pointer(&format!("/tools/{list}")).is_some());
    let ours = |text: &str| text.starts_with(&format!("mcp_{}_", request.server));
    let own = own_folder(surroundings).ok().and_then(|folder| read(&folder.join("settings.json")));
    match own.filter(|_| request.scope == Scope::Project && !has_own) {
        Some(value) => {
            texts(&value, &["tools", list]).into_iter().filter(|text| !ours(text)).map(str::to_owned).collect()
        }
        None => Vec::new(),
    }
}

fn name(request: &ConnectRequest, tool: &str) -> String {
    format!("mcp_{}_{tool}", request.server)
}

fn own_folder(surroundings: &Surroundings) -> Result<PathBuf, ConnectError> {
    let home = surroundings.variable("GEMINI_CLI_HOME").map(PathBuf::from).or_else(|| surroundings.home());
    Ok(home.ok_or(ConnectError::NoHome)?.join(".gemini"))
}

fn policies(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|end| end == "toml")).collect();
    files.sort();
    files
}
