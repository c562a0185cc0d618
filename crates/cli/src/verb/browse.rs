//! `list`, `show`, `search`, `skill`: the same answers as the MCP tools give, for people.

use gatelatch_bridge::answer::Answer;
use gatelatch_discovery::ladder::Request;
use gatelatch_manifest::diagnostic::Severity;
use gatelatch_registry::catalog::{Entry, Kind};
use serde_json::{Value, json};

use crate::exit::Code;
use crate::options::ShownKind;
use crate::verb::{Road, print, print_answer, print_json, say};

/// Every entry in a table, then what is not ready and what is broken, with the place.
pub(crate) fn list(road: &Road, as_json: bool) -> anyhow::Result<Code> {
    let broken: Vec<String> = road
        .findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error)
        .map(|finding| match finding.position {
            Some(at) => format!("{}:{}:{}: {}", finding.file, at.line, at.column, finding.message),
            None => format!("{}: {}", finding.file, finding.message),
        })
        .collect();
    if as_json {
        let mut answer = road.bridge.capabilities(&Request::default());
        if !broken.is_empty() {
            answer.value["broken"] = broken.into();
        }
        return print_answer(&answer, true);
    }
    let catalog = road.bridge.catalog();
    for kind in [Kind::Tool, Kind::Agent] {
        let entries: Vec<&Entry> =
            catalog.entries().iter().map(AsRef::as_ref).filter(|e| e.manifest.kind == kind).collect();
        if entries.is_empty() {
            continue;
        }
        print(kind.folder())?;
        for entry in entries {
            print(&format!("  {:<20} {}", entry.manifest.name, entry.manifest.description))?;
            let names: Vec<String> = entry
                .manifest
                .actions
                .iter()
                .filter_map(|action| action.name.as_deref().map(|name| mark(road, entry, name)))
                .collect();
            if !names.is_empty() {
                print(&format!("  {:<20}   {}", "", names.join(", ")))?;
            }
            if let Some(why) = road.bridge.not_ready(entry) {
                print(&format!("  {:<20}   not ready: {why}", ""))?;
            }
        }
    }
    if !catalog.skills().is_empty() {
        print(Kind::Skill.folder())?;
        for skill in catalog.skills() {
            print(&format!("  {:<20} {}", skill.manifest.name, skill.manifest.description))?;
        }
    }
    if !broken.is_empty() {
        print("broken (see `gatelatch check`)")?;
        for line in broken {
            print(&format!("  {line}"))?;
        }
    }
    say("an action marked ! asks a human first; `gatelatch show NAME ACTION` tells its arguments");
    Ok(Code::Done)
}

/// One entry, or one of its actions.
pub(crate) fn show(
    road: &Road,
    name: String,
    action: Option<String>,
    kind: Option<ShownKind>,
    as_json: bool,
) -> anyhow::Result<Code> {
    let kind = kind.map(|kind| match kind {
        ShownKind::Tool => Kind::Tool,
        ShownKind::Agent => Kind::Agent,
        ShownKind::Skill => Kind::Skill,
    });
    let request = Request { kind: kind.map(|kind| kind.as_str().to_owned()), name: Some(name), action, search: None };
    print_answer(&road.bridge.capabilities(&request), as_json)
}

/// Matching actions, best first.
pub(crate) fn search(road: &Road, words: &[String], within: Option<String>, as_json: bool) -> anyhow::Result<Code> {
    let request = Request { kind: None, name: within, action: None, search: Some(words.join(" ")) };
    let answer = road.bridge.capabilities(&request);
    let matches =
        answer.value["matches"].as_array().filter(|matches| !as_json && !answer.is_error() && !matches.is_empty());
    let Some(matches) = matches else { return print_answer(&answer, as_json) };
    for found in matches {
        let text = |key: &str| found[key].as_str().unwrap_or_default();
        print(format!("{} {}", text("name"), text("action")).trim_end())?;
        print(&format!("  {}", text("description")))?;
        if let Some(why) = found["not_ready"].as_str() {
            print(&format!("  not ready: {why}"))?;
        }
    }
    Ok(Code::Done)
}

/// A skill's Markdown, or the list of skills.
pub(crate) fn skill(road: &Road, name: Option<&str>, as_json: bool) -> anyhow::Result<Code> {
    let answer: Answer = road.bridge.skill(name);
    match answer.value["body"].as_str() {
        Some(body) if !as_json => {
            print(body)?;
            if let Some(files) = answer.value["files"].as_array() {
                let names: Vec<&str> = files.iter().filter_map(Value::as_str).collect();
                say(&format!("files beside it: {}", names.join(", ")));
            }
            Ok(Code::Done)
        }
        _ if as_json && !answer.is_error() => {
            print_json(&json!(answer.value), true)?;
            Ok(Code::Done)
        }
        _ => print_answer(&answer, as_json),
    }
}

/// The action's name, marked where a human must agree first.
fn mark(road: &Road, entry: &Entry, name: &str) -> String {
    match entry.action(Some(name)) {
        Some(found) if road.bridge.ruling(entry, found).needs_human => format!("{name}!"),
        _ => name.to_owned(),
    }
}
