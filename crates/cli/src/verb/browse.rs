//! `list`, `show`, `search`, `skill`: the same answers as the MCP tools give, for people.

use gatelatch_bridge::answer::Answer;
use gatelatch_discovery::ladder::Request;
use gatelatch_registry::catalog::{ActionManifest, ArgumentManifest, ArgumentType, Entry, EntryManifest, Kind};
use serde_json::Value;

use crate::advice;
use crate::exit::Code;
use crate::options::ShownKind;
use crate::verb::{Road, print, print_advice, print_answer, say};

/// Every entry in a table, then what is not ready and what is broken, with the place.
pub(crate) fn list(road: &Road, as_json: bool) -> anyhow::Result<Code> {
    if as_json {
        return print_answer(&road.bridge.capabilities(&Request::default()), true);
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
            let nameless = entry
                .action(None)
                .is_some_and(|action| action.name.is_none() && road.bridge.ruling(entry, action).needs_human);
            let name = format!("{}{}", entry.manifest.name, if nameless { "!" } else { "" });
            print(&format!("  {name:<20} {}", entry.manifest.description))?;
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
    if !road.bridge.broken().is_empty() {
        print_advice("broken (see `gatelatch check`)")?;
        for broken in road.bridge.broken() {
            print(&format!("  {:<20} {}", broken.name, broken.why))?;
        }
    }
    let asks =
        |entry: &Entry| entry.manifest.actions.iter().any(|action| road.bridge.ruling(entry, action).needs_human);
    if catalog.entries().iter().any(|entry| asks(entry)) {
        say("an action marked ! asks a human first");
    }
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
    let request = Request {
        kind: kind.map(|kind| kind.as_str().to_owned()),
        name: Some(name.clone()),
        action: action.clone(),
        search: None,
    };
    let answer = road.bridge.capabilities(&request);
    // The answer settles what the name means; what people read is the same entry in other words.
    let meant = Kind::ALL.into_iter().find(|kind| answer.value["kind"] == kind.as_str());
    let entry = meant.and_then(|kind| road.bridge.catalog().entry(kind, &name));
    match entry {
        Some(entry) if !as_json && !answer.is_error() => show_entry(road, entry, action.as_deref()),
        _ => print_answer(&answer, as_json),
    }
}

fn show_entry(road: &Road, entry: &Entry, action: Option<&str>) -> anyhow::Result<Code> {
    let EntryManifest { kind, name, description, version, actions, .. } = &entry.manifest;
    print(&format!("{} {name} {version}\n  {description}", kind.as_str()))?;
    if let Some(why) = road.bridge.not_ready(entry) {
        print(&format!("  not ready: {why}"))?;
    }
    match (action, actions.as_slice()) {
        (None, several) if several.len() > 1 => {
            for action in several {
                let name = action.name.as_deref().unwrap_or_default();
                print(&format!("\n  {:<20} {}", mark(road, entry, name), action.description))?;
            }
            print_advice(&format!("\n`gatelatch show {name} ACTION` shows an action's arguments"))?;
        }
        _ => {
            if let Some(action) = entry.action(action) {
                show_action(road, entry, action)?;
            }
        }
    }
    Ok(Code::Done)
}

fn show_action(road: &Road, entry: &Entry, action: &ActionManifest) -> anyhow::Result<()> {
    let ruling = road.bridge.ruling(entry, action);
    if let Some(name) = &action.name {
        print(&format!("\n{name}\n  {}", action.description))?;
    }
    let asks = if ruling.needs_human { "; a human is asked first" } else { "" };
    print(&format!("\neffect: {} ({}{asks})", ruling.effect, ruling.because))?;
    if !action.args.is_empty() {
        print("\narguments:")?;
    }
    for argument in &action.args {
        let mut traits = vec![argument.kind.as_str().to_owned()];
        traits.extend(argument.required.then(|| "required".to_owned()));
        if !argument.choices.is_empty() {
            let choices: Vec<String> = argument.choices.iter().map(shown).collect();
            traits.push(format!("one of {}", choices.join(", ")));
        }
        traits.extend(argument.minimum.as_ref().map(|least| format!("at least {least}")));
        traits.extend(argument.maximum.as_ref().map(|most| format!("at most {most}")));
        traits.extend(argument.default.as_ref().map(|value| format!("default {}", shown(value))));
        print(&format!("  {:<20} {} ({})", argument.name, argument.description, traits.join(", ")))?;
    }
    let verb = if entry.manifest.kind == Kind::Agent { "agent" } else { "run" };
    let name = action.name.as_ref().map(|name| format!(" {name}")).unwrap_or_default();
    let gatelatch = advice::with_place("`gatelatch `");
    let call = format!("{}{verb} {}{name}", gatelatch.trim_matches('`'), entry.manifest.name);
    let confirm = if ruling.needs_human { " --confirm" } else { "" };
    let required = action.args.iter().filter(|argument| argument.required).map(typed).collect::<String>();
    print(&format!("\ncall:\n  {call}{required}{confirm}"))?;
    if let Some(array) = action.args.iter().find(|argument| argument.kind == ArgumentType::Array) {
        let name = &array.name;
        print(&format!(
            "  an array is given item by item, --arg {name}=A --arg {name}=B, or as JSON, --arg {name}='[…]'"
        ))?;
    }
    if let Some(example) = action.examples.first() {
        let args = serde_json::to_string(&example.args)?.replace('\'', "'\\''");
        print(&format!("\nexample:\n  {call} --args '{args}'{confirm}"))?;
    }
    Ok(())
}

/// An argument as it is typed, with a word for its value; of choices the first.
fn typed(argument: &ArgumentManifest) -> String {
    let value = match (argument.choices.first(), argument.kind) {
        (Some(choice), _) => advice::quoted(&shown(choice)),
        (None, ArgumentType::Boolean) => "true".to_owned(),
        (None, ArgumentType::Object) => "'{…}'".to_owned(),
        (None, ArgumentType::Array) => "ITEM".to_owned(),
        (None, ArgumentType::String) => "TEXT".to_owned(),
        (None, kind @ (ArgumentType::Integer | ArgumentType::Number | ArgumentType::Path)) => {
            kind.as_str().to_ascii_uppercase()
        }
    };
    format!(" --arg {}={value}", argument.name)
}

/// A value as people write it: text without quotes.
fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Matching actions, best first.
pub(crate) fn search(road: &Road, words: &[String], within: Option<String>, as_json: bool) -> anyhow::Result<Code> {
    let request = Request { kind: None, name: within, action: None, search: Some(words.join(" ")) };
    let answer = road.bridge.capabilities(&request);
    let matches =
        answer.value["matches"].as_array().filter(|matches| !as_json && !answer.is_error() && !matches.is_empty());
    let Some(matches) = matches else {
        if !as_json && !answer.is_error() {
            print("nothing matches")?;
            let near: Vec<&str> =
                answer.value["nearest_words"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            if !near.is_empty() {
                print(&format!("  the nearest words are {}", near.join(", ")))?;
            }
            return Ok(Code::Done);
        }
        return print_answer(&answer, as_json);
    };
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
        None if !as_json && !answer.is_error() => {
            for skill in road.bridge.catalog().skills() {
                print(&format!("{}\n  {}", skill.manifest.name, skill.manifest.description))?;
            }
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
