//! Catalogs built from values, since the gate reads no manifest.
//!
//! Owns how little a test has to say. Start at [`tool`], [`agent`] and [`action`].

use std::sync::Arc;

use gatelatch_gate::call::Call;
use gatelatch_manifest::diagnostic::Position;
use gatelatch_registry::arguments::Arguments;
use gatelatch_registry::catalog::{
    ActionManifest, Catalog, Effect, Entry, EntryManifest, Kind, Origin, Runtime, UseManifest,
};
use serde_json::json;

/// A tool with these actions.
pub(crate) fn tool(name: &str, actions: Vec<ActionManifest>) -> Entry {
    entry(Kind::Tool, name, actions, &[])
}

/// An agent with a single action that uses these, each `tool` or `tool.action`.
pub(crate) fn agent(name: &str, action: ActionManifest, uses: &[&str]) -> Entry {
    entry(Kind::Agent, name, vec![action], uses)
}

fn entry(kind: Kind, name: &str, actions: Vec<ActionManifest>, uses: &[&str]) -> Entry {
    let uses = uses.iter().map(|used| {
        let (tool, action) = used.split_once('.').map_or((*used, None), |(tool, action)| (tool, Some(action)));
        UseManifest { tool: tool.to_owned(), action: action.map(str::to_owned), position: Position::default() }
    });
    let manifest = EntryManifest {
        kind,
        name: name.to_owned(),
        description: "A test's own.".to_owned(),
        version: "0.1.0".to_owned(),
        runtime: Runtime::Process,
        entrypoint: "true".to_owned(),
        secrets: Vec::new(),
        actions,
        uses: uses.collect(),
        position: Position::default(),
    };
    let file = format!("{}/{name}/{}", kind.folder(), kind.file());
    Entry { manifest, origin: Origin::Compiled(Arc::from([])), file }
}

/// An action; `None` is the nameless one.
pub(crate) fn action(name: Option<&str>) -> ActionManifest {
    ActionManifest::new(name, "A test's own.")
}

/// An action that declares its effect.
pub(crate) fn declared(name: Option<&str>, effect: Effect) -> ActionManifest {
    ActionManifest { effect: Some(effect), ..action(name) }
}

/// An action that declares its effect and says why.
pub(crate) fn reasoned(name: Option<&str>, effect: Effect, because: &str) -> ActionManifest {
    ActionManifest { because: Some(because.to_owned()), ..declared(name, effect) }
}

/// A call without arguments.
pub(crate) fn call(catalog: &Catalog, kind: Kind, name: &str, action: Option<&str>) -> Call {
    let entry = catalog.entry(kind, name).expect("the test's own entry");
    let index = entry.action_index(action).expect("the test's own action");
    let arguments = Arguments::parse(&entry.manifest.actions[index], &json!({})).expect("no argument is declared");
    Call::new(Arc::clone(entry), index, arguments).expect("the index is the entry's own")
}
