//! Reads a declaration of the chat surface (`chat_surface.yaml`): from a tree that its table has checked to a typed
//! document, with the rules that tie several keys together.
//!
//! Knows no catalog: that an operation has what a declaration maps to is asked elsewhere. Start at [`declaration`].

mod claims;
mod number;
mod pointer;
mod published;
mod result;
mod steps;

use serde_json::{Map, Value};

use crate::argument::{check_names, check_words, mend_twins};
use crate::diagnostic::quoted;
use crate::document::Kind;
use crate::findings::Findings;
use crate::keys::Keys;
use crate::reference::surface::{DECLARATION, MOST_TOOLS, PUBLISHED_TOOL, TOOL_NAME};
use crate::reference::{Block, MOST_ARGUMENTS};
use crate::rule;
use crate::shape::check_block;
use crate::surface::{
    FixedManifest, OperationManifest, ServerManifest, SurfaceArgumentManifest, SurfaceManifest, SurfaceToolManifest,
    TargetManifest,
};
use crate::yaml::{Node, Pair};

/// The document of a tree. What is wrong is reported; the document then has gaps and serves no one.
pub(crate) fn declaration(root: &Node<'_>, findings: &mut Findings<'_, '_>) -> Option<SurfaceManifest> {
    check_block(root, &DECLARATION, findings);
    let keys = Keys::of(root)?;
    let (version, at) = keys.text_at("surface_version").unwrap_or(("", keys.at));
    claims::check_version(keys, findings);
    Some(SurfaceManifest {
        surface_version: version.to_owned(),
        surface_version_position: at,
        server: server(keys),
        tools: tools(keys, findings),
    })
}

fn server(keys: Keys<'_>) -> ServerManifest {
    let keys = keys.node("server").and_then(Keys::of);
    let text = |key: &str, default: &str| keys.and_then(|keys| keys.text(key)).unwrap_or(default).to_owned();
    ServerManifest {
        name: text("name", "gatelatch-chat"),
        title: text("title", "Gatelatch"),
        instructions: text("instructions", ""),
    }
}

fn tools(keys: Keys<'_>, findings: &mut Findings<'_, '_>) -> Vec<SurfaceToolManifest> {
    if let Some(pair) = keys.pair("tools").filter(|pair| pair.value.list().is_some_and(<[Node<'_>]>::is_empty)) {
        findings.add_with_help(&rule::MISSING_KEY, pair.at, || {
            ("`tools` lists none".to_owned(), Some("add a published tool".to_owned()))
        });
    }
    let items = keys.items("tools");
    let tools: Vec<SurfaceToolManifest> =
        items.iter().take(MOST_TOOLS).filter_map(Keys::of).map(|keys| tool(keys, findings)).collect();
    let named = tools.iter().filter(|tool| !tool.name.is_empty());
    check_names("published tool", named.map(|tool| (tool.name.as_str(), tool.position)), findings);
    mend_twins("the published tool", items, findings);
    tools
}

fn tool(keys: Keys<'_>, findings: &mut Findings<'_, '_>) -> SurfaceToolManifest {
    let (name, position) = keys.text_at("name").unwrap_or(("", keys.at));
    let text = |key: &str| keys.text(key).unwrap_or_default().to_owned();
    let flag = |key: &str| keys.flag(key).unwrap_or_default();
    check_namespace(keys, findings);
    if let Some((title, at)) = keys.text_at("title") {
        check_words("`title`", title, at, findings);
    }
    let args = published::arguments(keys, findings);
    claims::check(keys, &args, findings);
    let output_schema = result::schema(keys, findings);
    SurfaceToolManifest {
        name: name.to_owned(),
        title: text("title"),
        description: text("description"),
        read_only: flag("read_only"),
        reversible: flag("reversible"),
        idempotent: flag("idempotent"),
        idempotency_argument: keys.text("idempotency_argument").map(str::to_owned),
        open_world: flag("open_world"),
        result: result::limits(keys, &args, findings),
        plain_errors: flag("plain_errors"),
        operation: operation(keys, &args, &output_schema, findings),
        output_schema,
        args,
        position,
        output_schema_position: keys.node("output_schema").map_or(position, |node| node.at),
    }
}

/// Reports a name that does not begin with what it is about.
fn check_namespace(keys: Keys<'_>, findings: &mut Findings<'_, '_>) {
    let Some((name, at)) = keys.text_at("name").filter(|(name, _)| TOOL_NAME.fits(name)) else { return };
    let namespaced = name.split_once('_').is_some_and(|(_, rest)| !rest.trim_matches('_').is_empty());
    if !namespaced {
        let entry = keys.text("tool").or_else(|| keys.text("agent")).map(|entry| entry.replace('-', "_"));
        let better = entry.map(|entry| format!("{entry}_{}", name.trim_matches('_')));
        let better = better.filter(|better| TOOL_NAME.fits(better));
        findings.add_with_help(&rule::NOT_NAMESPACED, at, || {
            let message = format!("{} does not say first what it is about", quoted(name));
            (message, better.map(|better| format!("write a name such as `{better}`")))
        });
    }
}

fn operation(
    keys: Keys<'_>,
    args: &[SurfaceArgumentManifest],
    output_schema: &Map<String, Value>,
    findings: &mut Findings<'_, '_>,
) -> OperationManifest {
    check_kind(keys, &PUBLISHED_TOOL, &["tool", "agent", "steps"], findings);
    match target(keys) {
        Some(target) => {
            published::check_targets(keys, args, findings);
            if keys.pair("steps").is_none() {
                misplaced(keys, "output", "the output schema says what one call gives", findings);
            }
            OperationManifest::Call { target, fixed: fixed(keys) }
        }
        None => {
            if keys.pair("steps").is_some() {
                check_composed(keys, findings);
            }
            let composed = steps::Composed::read(keys, args, findings);
            result::check_members(keys, args, output_schema, &composed, findings);
            OperationManifest::Steps { steps: composed.steps, output: composed.output }
        }
    }
}

/// Reports a mapping that says nothing of what it calls, or several things.
fn check_kind(keys: Keys<'_>, block: &Block, kinds: &[&str], findings: &mut Findings<'_, '_>) {
    let mut named = keys.pairs().iter().filter(|pair| kinds.contains(&pair.key.as_ref()) && !pair.value.is_null());
    match (named.next(), named.next()) {
        (Some(first), Some(second)) => findings.add(&rule::OPERATION_KIND, second.at, || {
            format!(
                "`{}` stands beside `{}`, and only one of them says what {} calls",
                second.key, first.key, block.one
            )
        }),
        // Whatever was mistyped may be what is missing.
        (None, _) if keys.pairs().iter().all(|pair| block.key(&pair.key).is_some()) => {
            let at = keys.text_at("name").or_else(|| keys.text_at("id")).map_or(keys.at, |(_, at)| at);
            findings.add_with_help(&rule::OPERATION_KIND, at, || {
                let kinds: Vec<String> = kinds.iter().map(|kind| format!("`{kind}`")).collect();
                let message = format!("the {} says nothing of what it calls", block.name);
                (message, Some(format!("add one of {}", kinds.join(", "))))
            });
        }
        (Some(_), None) | (None, _) => {}
    }
}

/// Reports the keys of a single call that stand beside `steps`.
fn check_composed(keys: Keys<'_>, findings: &mut Findings<'_, '_>) {
    misplaced(keys, "action", "each step says its own", findings);
    misplaced(keys, "fixed", "a step has it as `{value: …}` in its `args`", findings);
    for argument in keys.items("args").iter().take(MOST_ARGUMENTS).filter_map(Keys::of) {
        misplaced(argument, "for", "a step has it as `{arg: NAME}` in its `args`", findings);
    }
}

fn misplaced(keys: Keys<'_>, key: &str, instead: &str, findings: &mut Findings<'_, '_>) {
    if let Some(pair) = keys.pair(key) {
        findings.add_with_help(&rule::OPERATION_KEY, pair.at, || {
            let of = if key == "output" { "one call" } else { "several steps" };
            (format!("`{key}` has no meaning for an operation of {of}"), Some(format!("remove it: {instead}")))
        });
    }
}

/// What a tool or a step calls; `None` when it names neither a tool nor an agent.
fn target(keys: Keys<'_>) -> Option<TargetManifest> {
    let named = |key: &str, kind| keys.text_at(key).map(|(entry, at)| (kind, entry, at));
    let (kind, entry, position) = named("tool", Kind::Tool).or_else(|| named("agent", Kind::Agent))?;
    let action = keys.text("action").map(str::to_owned);
    Some(TargetManifest { kind, entry: entry.to_owned(), action, position })
}

fn fixed(keys: Keys<'_>) -> Vec<FixedManifest> {
    let pairs = keys.node("fixed").and_then(Keys::of).map(Keys::pairs).unwrap_or_default();
    let read = |pair: &Pair<'_>| {
        // Null means absent.
        let value = pair.value.json().filter(|value| !value.is_null())?;
        Some(FixedManifest { name: pair.key.to_string(), value, position: pair.at })
    };
    pairs.iter().filter_map(read).collect()
}
