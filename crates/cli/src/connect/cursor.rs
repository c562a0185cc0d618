//! Cursor: its file and its allow lists.
//!
//! What is true of Cursor and relied on here: it asks before each call of an MCP tool unless an allow list or a run mode
//! lets it through, and it has no rule that makes it ask for one tool. So only the server is written, and what would let
//! the confirmed tools through is looked for. Start at [`connection`].

use std::path::{Path, PathBuf};

use serde_json::json;

use super::draft::Want;
use super::judgement::{Judgement, Survey, distinct, texts};
use super::place::project_file;
use super::sheet::{Settled, Sheet};
use super::syntax::{Syntax, path};
use super::{ConnectError, ConnectRequest, Connection, PLAIN_NAME, Scope, Surroundings};

const MODE_NOTE: &str = "Cursor has no rule to ask for one tool: leave its run mode on asking, and keep the confirmed tools \
                         off its allow lists; set GATELATCH_DENY_IRREVERSIBLE=1 where it runs by itself";

pub(super) fn connection(request: &ConnectRequest, surroundings: &Surroundings) -> Result<Connection, ConnectError> {
    request.check_name(PLAIN_NAME, |_| true)?;
    let (command, arguments) = request.command(&["${"])?;
    let named = match &request.scope {
        Scope::Global => own_folder(surroundings)?.join("mcp.json"),
        Scope::Project => project_file(&surroundings.working_folder, ".cursor/mcp.json"),
        Scope::File(file) => surroundings.working_folder.join(file),
    };
    let server = Want::Server {
        at: path(&["mcpServers", &request.server]),
        value: json!({ "type": "stdio", "command": command, "args": arguments }),
    };
    Ok(Connection {
        sheets: vec![Sheet::plain(Syntax::Jsonc, named, request, surroundings, vec![server])?],
        notes: request.kind.of_the_question(MODE_NOTE).into_iter().collect(),
        ..Connection::default()
    })
}

pub(super) fn judge(request: &ConnectRequest, surroundings: &Surroundings, settled: &[Settled]) -> Judgement {
    let mut survey = Survey::new(settled);
    let own = own_folder(surroundings).ok();
    let project = |name: &str| project_file(&surroundings.working_folder, &format!(".cursor/{name}"));
    let lists = |own_name, name| distinct(own.iter().map(|folder| folder.join(own_name)).chain([project(name)]));
    for file in lists("permissions.json", "permissions.json") {
        let Some(value) = survey.read(&file, Syntax::Jsonc) else { continue };
        for pattern in texts(&value, &["mcpAllowlist"]) {
            weigh(request, pattern, pattern, &file, &mut survey.judgement);
        }
    }
    for file in lists("cli-config.json", "cli.json") {
        let Some(value) = survey.read(&file, Syntax::Jsonc) else { continue };
        for rule in texts(&value, &["permissions", "allow"]) {
            if let Some(pattern) = rule.strip_prefix("Mcp(").and_then(|rest| rest.strip_suffix(')')) {
                weigh(request, pattern, rule, &file, &mut survey.judgement);
            }
        }
    }
    survey.judgement
}

fn weigh(request: &ConnectRequest, pattern: &str, rule: &str, file: &Path, judgement: &mut Judgement) {
    for tool in request.kind.confirmed() {
        if matches(pattern, &format!("{}:{tool}", request.server)) {
            judgement.warn(format!("`{tool}` may run without a question: `{rule}` in {}", file.display()));
        }
    }
}

/// Whether a pattern with `*` for any text matches. One without a tool's name is read as widely as it could be meant.
fn matches(pattern: &str, text: &str) -> bool {
    let pattern = if pattern.contains(':') { pattern.to_owned() } else { format!("{pattern}:*") };
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, between)) = parts.split_last() else { return rest.is_empty() };
    for part in between {
        match rest.find(part) {
            Some(at) => rest = rest.get(at + part.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    rest.ends_with(last)
}

fn own_folder(surroundings: &Surroundings) -> Result<PathBuf, ConnectError> {
    Ok(surroundings.home().ok_or(ConnectError::NoHome)?.join(".cursor"))
}
