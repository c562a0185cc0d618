//! goose: what to put into its files by hand.
//!
//! What is true of goose 1.x and relied on here: its files are YAML, which it writes itself without comments; tools are
//! called `<extension>__<tool>`; `permission.yaml` says which of them ask, and counts only in the modes `approve` and
//! `smart_approve`. Nothing here writes YAML, so a plan shows the text to add. Start at [`connection`].

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::judgement::Judgement;
use super::place::resolved;
use super::{ByHand, ConnectError, ConnectRequest, Connection, Scope, Server, Surroundings, write};

const MERGE_NOTE: &str = "gatelatch does not edit YAML: add these lines yourself, below a key that is there already rather \
                          than a second time";
const SCOPE_NOTE: &str = "goose has one configuration for all projects";
const MODE_NOTE: &str = "goose's mode `auto` runs every tool without a question; set GATELATCH_DENY_IRREVERSIBLE=1 where it \
                         is used";

pub(super) fn connection(request: &ConnectRequest, surroundings: &Surroundings) -> Result<Connection, ConnectError> {
    // goose makes a key of an extension's name in lower case.
    let rule = "use lower-case letters, digits, `-` and `_`";
    request.check_name(rule, |name| !name.chars().any(|c| c.is_ascii_uppercase()))?;
    let (command, arguments) = request.command(&[])?;
    let files = Files::find(request, surroundings)?;
    let has_questions = !request.kind.confirmed().is_empty();
    let mut connection = Connection { adds_server: files.entry(request).is_none(), ..Connection::default() };
    if !files.runs(request, &command, &arguments) {
        connection.by_hand.push(ByHand { path: files.config.clone(), text: extension(request, &command, &arguments) });
    }
    if has_questions && !files.asks_in_its_mode() {
        connection.by_hand.push(ByHand { path: files.config.clone(), text: "GOOSE_MODE: smart_approve\n".to_owned() });
    }
    if !files.asks(request) {
        connection.by_hand.push(ByHand { path: files.permission.clone(), text: permission(request) });
    }
    if files.entry(request).is_some() {
        let text = format!("extensions:\n  {}: (with all below it)\n", request.server);
        connection.to_remove.push(ByHand { path: files.config.clone(), text });
    }
    if files.lists(request).next().is_some() {
        let text = format!("user: (in each list, what begins with {}__)\n", request.server);
        connection.to_remove.push(ByHand { path: files.permission.clone(), text });
    }
    if !connection.by_hand.is_empty() {
        connection.notes.push(MERGE_NOTE.to_owned());
    }
    if request.scope == Scope::Project {
        connection.notes.push(SCOPE_NOTE.to_owned());
    }
    connection.notes.extend(request.kind.of_the_question(MODE_NOTE));
    Ok(connection)
}

pub(super) fn judge(request: &ConnectRequest, surroundings: &Surroundings) -> Judgement {
    let mut judgement = Judgement::default();
    let Ok(files) = Files::find(request, surroundings) else { return judgement };
    for (list, tool) in files.lists(request) {
        let confirmed = request.kind.confirmed().iter().any(|name| tool == format!("{}__{name}", request.server));
        match list {
            "always_allow" if confirmed => {
                judgement.warn(format!(
                    "`{tool}` runs without a question: `always_allow` in {}",
                    files.permission.display()
                ));
            }
            "never_allow" => judgement.note(format!("`{tool}` is refused by {}", files.permission.display())),
            _ => {}
        }
    }
    if request.kind.confirmed().is_empty() {
        return judgement;
    }
    if !files.asks_in_its_mode() {
        let file = files.config.display();
        judgement.warn(format!(
            "every tool runs without a question: `GOOSE_MODE` in {file} is neither approve nor smart_approve"
        ));
    }
    if let Some(mode) = surroundings.variable("GOOSE_MODE").filter(|mode| !ASKING.contains(mode)) {
        judgement.warn(format!("every tool runs without a question: the environment sets GOOSE_MODE to `{mode}`"));
    }
    judgement
}

/// The modes in which goose asks.
const ASKING: [&str; 2] = ["approve", "smart_approve"];

const LISTS: [&str; 3] = ["always_allow", "ask_before", "never_allow"];

/// goose's files and what they say.
struct Files {
    config: PathBuf,
    permission: PathBuf,
    config_value: Value,
    permission_value: Value,
}

impl Files {
    fn find(request: &ConnectRequest, surroundings: &Surroundings) -> Result<Files, ConnectError> {
        let config = match &request.scope {
            Scope::File(file) => surroundings.working_folder.join(file),
            Scope::Global | Scope::Project => folder(surroundings)?.join("config.yaml"),
        };
        let permission = config.with_file_name("permission.yaml");
        let (config_value, permission_value) = (read(&config)?, read(&permission)?);
        Ok(Files { config, permission, config_value, permission_value })
    }

    fn entry(&self, request: &ConnectRequest) -> Option<&Value> {
        self.config_value.get("extensions")?.get(&request.server)
    }

    fn runs(&self, request: &ConnectRequest, command: &str, arguments: &[String]) -> bool {
        self.entry(request).is_some_and(|entry| {
            entry["cmd"] == command
                && entry["args"] == Value::from(arguments)
                && entry["enabled"] == true
                && entry["type"] == "stdio"
        })
    }

    fn asks_in_its_mode(&self) -> bool {
        self.config_value.get("GOOSE_MODE").and_then(Value::as_str).is_some_and(|mode| ASKING.contains(&mode))
    }

    /// Whether each confirmed tool asks or is refused, and nothing allows it.
    fn asks(&self, request: &ConnectRequest) -> bool {
        request.kind.confirmed().iter().all(|tool| {
            let tool = format!("{}__{tool}", request.server);
            let mut lists = self.lists(request).filter(|(_, name)| *name == tool).map(|(list, _)| list).peekable();
            lists.peek().is_some() && !lists.any(|list| list == "always_allow")
        })
    }

    /// Our tools in the lists of `permission.yaml`, each with its list.
    fn lists<'a>(&'a self, request: &'a ConnectRequest) -> impl Iterator<Item = (&'static str, &'a str)> {
        let ours = format!("{}__", request.server);
        let user = self.permission_value.get("user");
        let all = LISTS.into_iter().flat_map(move |list| {
            let names = user.and_then(|user| user.get(list)).and_then(Value::as_array).into_iter().flatten();
            names.filter_map(Value::as_str).map(move |name| (list, name))
        });
        all.filter(move |(_, name)| name.starts_with(&ours))
    }
}

fn extension(request: &ConnectRequest, command: &str, arguments: &[String]) -> String {
    // A JSON text is a YAML text too, whatever stands in it.
    let quoted = |text: &str| Value::from(text).to_string();
    let (name, timeout) = (&request.server, request.patience().as_secs());
    let description = match request.kind {
        Server::Operator => "The tools, agents and skills of this machine's catalog",
        Server::Chat { .. } => "The curated tools of this machine's chat server",
    };
    let arguments: String = arguments.iter().map(|argument| format!("      - {}\n", quoted(argument))).collect();
    format!(
        "\
extensions:
  {name}:
    enabled: true
    type: stdio
    name: {name}
    description: {description}
    cmd: {}
    args:
{arguments}    envs: {{}}
    env_keys: []
    timeout: {timeout}
",
        quoted(command)
    )
}

fn permission(request: &ConnectRequest) -> String {
    let list =
        |tools: &[&str]| -> String { tools.iter().map(|tool| format!("    - {}__{tool}\n", request.server)).collect() };
    // goose reads no file that lacks one of the three lists.
    format!(
        "user:\n  always_allow:\n{}  ask_before:\n{}  never_allow: []\n",
        list(request.kind.plain()),
        list(request.kind.confirmed())
    )
}

fn read(path: &Path) -> Result<Value, ConnectError> {
    let Some(text) = write::read(&resolved(path)?)? else { return Ok(Value::Null) };
    if text.trim().is_empty() {
        return Ok(Value::Null);
    }
    serde_saphyr::from_str(&text).map_err(|error: serde_saphyr::Error| {
        let (line, column) = error.location().map_or((1, 1), |at| (at.line() as usize, at.column() as usize));
        let message = error.to_string().lines().next().unwrap_or_default().to_owned();
        ConnectError::Syntax { path: path.to_path_buf(), line, column, message }
    })
}

fn folder(surroundings: &Surroundings) -> Result<PathBuf, ConnectError> {
    let folder = if cfg!(windows) {
        surroundings.variable("APPDATA").map(|folder| Path::new(folder).join("Block/goose/config"))
    } else {
        let set = surroundings.variable("XDG_CONFIG_HOME").map(PathBuf::from);
        set.or_else(|| surroundings.home().map(|home| home.join(".config"))).map(|folder| folder.join("goose"))
    };
    folder.ok_or(ConnectError::NoHome)
}
