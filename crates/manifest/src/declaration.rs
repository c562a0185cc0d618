//! Reads a declaration of the chat surface (`chat_surface.yaml`): from a tree that its table has checked to a typed
//! document.
//!
//! Knows no catalog: that an operation has what a declaration maps to is asked elsewhere. Start at [`declaration`].

use serde_json::{Map, Value};

use crate::argument::{Draft, arguments, check_names, mend_twins};
use crate::document::Kind;
use crate::findings::Findings;
use crate::keys::Keys;
use crate::reference::MOST_ARGUMENTS;
use crate::reference::surface::{DECLARATION, MOST_TOOLS};
use crate::schema::{self, Use};
use crate::shape::check_block;
use crate::surface::{
    FixedManifest, OperationManifest, ResultManifest, ServerManifest, SurfaceArgumentManifest, SurfaceManifest,
    SurfaceToolManifest, TargetManifest,
};
use crate::yaml::{Node, Pair};

mod steps;

/// The document of a tree. What is wrong is reported; the document then has gaps and serves no one.
pub(crate) fn declaration(root: &Node<'_>, findings: &mut Findings<'_, '_>) -> Option<SurfaceManifest> {
    check_block(root, &DECLARATION, findings);
    let keys = Keys::of(root)?;
    let (version, at) = keys.text_at("surface_version").unwrap_or(("", keys.at));
    let tools: Vec<SurfaceToolManifest> =
        keys.items("tools").iter().take(MOST_TOOLS).filter_map(Keys::of).map(|keys| tool(keys, findings)).collect();
    let named = tools.iter().filter(|tool| !tool.name.is_empty());
    check_names("published tool", named.map(|tool| (tool.name.as_str(), tool.position)), findings);
    mend_twins("the published tool", keys.items("tools"), findings);
    Some(SurfaceManifest {
        surface_version: version.to_owned(),
        surface_version_position: at,
        server: server(keys),
        tools,
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

fn tool(keys: Keys<'_>, findings: &mut Findings<'_, '_>) -> SurfaceToolManifest {
    let (name, position) = keys.text_at("name").unwrap_or(("", keys.at));
    let drafts = arguments(keys, findings);
    let args = published(keys, &drafts);
    let text = |key: &str| keys.text(key).unwrap_or_default().to_owned();
    let flag = |key: &str| keys.flag(key).unwrap_or_default();
    let schema = keys.node("output_schema");
    let output_schema = schema.map(|node| output_schema(node, findings)).unwrap_or_default();
    SurfaceToolManifest {
        name: name.to_owned(),
        title: text("title"),
        description: text("description"),
        operation: operation(keys),
        args,
        read_only: flag("read_only"),
        reversible: flag("reversible"),
        idempotent: flag("idempotent"),
        idempotency_argument: keys.text("idempotency_argument").map(str::to_owned),
        open_world: flag("open_world"),
        result: result(keys),
        output_schema,
        position,
        output_schema_position: schema.map_or(position, |node| node.at),
    }
}

/// The published arguments: what was read of each, and what only a declaration says of one.
fn published(keys: Keys<'_>, drafts: &[Draft]) -> Vec<SurfaceArgumentManifest> {
    let written = keys.items("args").iter().take(MOST_ARGUMENTS).filter_map(Keys::of);
    drafts.iter().zip(written).map(|(draft, keys)| argument(draft, keys)).collect()
}

fn argument(draft: &Draft, keys: Keys<'_>) -> SurfaceArgumentManifest {
    let argument = draft.argument.clone();
    SurfaceArgumentManifest {
        target: keys.text("for").unwrap_or(&argument.name).to_owned(),
        name: argument.name,
        kind: argument.kind,
        required: argument.required,
        description: argument.description,
        default: argument.default,
        choices: argument.choices,
        minimum: argument.minimum,
        maximum: argument.maximum,
        pattern: argument.pattern,
        items: argument.items,
        header: keys.text("header").map(str::to_owned),
        position: argument.position,
    }
}

fn operation(keys: Keys<'_>) -> OperationManifest {
    match target(keys) {
        Some(target) => OperationManifest::Call { target, fixed: fixed(keys) },
        None => OperationManifest::Steps { steps: steps::steps(keys), output: steps::output(keys) },
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
        let value = pair.value.json()?;
        Some(FixedManifest { name: pair.key.to_string(), value, position: pair.at })
    };
    pairs.iter().take(MOST_ARGUMENTS).filter_map(read).collect()
}

fn result(keys: Keys<'_>) -> ResultManifest {
    let keys = keys.node("result").and_then(Keys::of);
    ResultManifest {
        max_bytes: keys.and_then(|keys| keys.whole("max_bytes")).unwrap_or(ResultManifest::MOST_BYTES),
        narrow_with: keys.map(|keys| keys.texts("narrow_with")).unwrap_or_default(),
    }
}

fn output_schema(node: &Node<'_>, findings: &mut Findings<'_, '_>) -> Map<String, Value> {
    let Some(schema) = node.json() else { return Default::default() };
    for fault in schema::check(&schema, Use::Output, node.at, findings) {
        findings.add(fault.rule, node.at_pointer(&fault.pointer).at, || fault.message.clone());
    }
    match schema {
        Value::Object(map) => map,
        _ => Default::default(),
    }
}
