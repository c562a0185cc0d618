//! `gatelatch contract`: the chat surface's published list as something that is drafted, compared, locked and explained.
//!
//! Owns what is printed and the exit codes. What a change means is the contract crate's judgement, what is published
//! the chat surface's. Start at [`run`].

mod declared;
mod draft;
mod explain;
mod lock;

use std::path::Path;

use anyhow::Context;
use gatelatch_bridge::bridge::Broken;
use gatelatch_contract::file::write_whole;
use gatelatch_contract::shown;
use gatelatch_manifest::nearest::nearest;
use gatelatch_manifest::read;
use gatelatch_registry::catalog::{Catalog, Entry, Kind};
use gatelatch_registry::load::Loaded;

use self::declared::Wrong;
use self::draft::{Draft, Operation};
use crate::exit::{Code, UsageError};
use crate::options::{ContractVerb, Place};
use crate::settings::{Environment, Settings};
use crate::verb::{broken, load_catalog, print, say, working_folder};

/// Runs one of the verbs.
pub(crate) fn run(
    place: &Place,
    environment: &Environment,
    surface: Option<&Path>,
    verb: &ContractVerb,
) -> anyhow::Result<Code> {
    let agreed = || declared::open_agreed(place, environment, surface);
    match verb {
        ContractVerb::Init { .. } if surface.is_some() => {
            let help = "name the file to write with --out";
            Err(UsageError::new("--surface names a declaration to read, and `contract init` reads none", help).into())
        }
        ContractVerb::Init { actions, out, force } => init(place, environment, actions, out.as_deref(), *force),
        ContractVerb::Diff { json } => told(agreed().and_then(|declared| lock::diff(&declared, *json)), *json),
        ContractVerb::Lock => lock::lock(&agreed()?),
        ContractVerb::Digest { json } => told(agreed().and_then(|declared| lock::digest(&declared, *json)), *json),
        ContractVerb::Explain { name } => explain::explain(place, environment, surface, name.as_deref()),
    }
}

/// Tells what was found wrong on standard output too, where JSON is expected there.
fn told(outcome: anyhow::Result<Code>, as_json: bool) -> anyhow::Result<Code> {
    if let Err(error) = &outcome
        && let Some(wrong) = error.downcast_ref::<Wrong>().filter(|_| as_json)
    {
        print(&shown::json(&wrong.to_value().to_string()))?;
    }
    outcome
}

/// Prints or writes a draft, and tells what stands in its way.
fn init(
    place: &Place,
    environment: &Environment,
    actions: &[String],
    out: Option<&Path>,
    force: bool,
) -> anyhow::Result<Code> {
    let folder = working_folder()?;
    let Loaded { catalog, findings } = load_catalog(&Settings::read(place, environment, &folder)?);
    let operations = operations(&catalog, &broken(&findings), actions)?;
    let Draft { text, missing } = draft::draft(&catalog, &operations);
    let shown = out.map_or_else(|| "the draft".to_owned(), |path| path.display().to_string());
    match out {
        None => print(text.trim_end())?,
        Some(path) if !force && path.symlink_metadata().is_ok() => {
            let help = "nothing was written; --force writes over it, or name another file";
            return Err(UsageError::new(format!("`{}` is there already", path.display()), help).into());
        }
        Some(path) => {
            write_whole(&folder.join(path), &text).context("the draft was not written")?;
            say(&format!("wrote {}", path.display()));
        }
    }
    missing.iter().for_each(|lack| say(&format!("note: {lack}")));
    for finding in read::surface(&shown, text.as_bytes()).findings {
        say(&finding.to_string());
    }
    say("review every line that says `review` or `missing` and take it away; strangers will read these texts");
    Ok(Code::Done)
}

/// What the words of the command line name, each once, in their order. A word that names an action which cannot be
/// declared is an error; of a whole entry such actions are left out and told.
fn operations<'c>(catalog: &'c Catalog, broken: &[Broken], words: &[String]) -> anyhow::Result<Vec<Operation<'c>>> {
    let mut operations: Vec<Operation<'c>> = Vec::new();
    for word in words {
        let (entry, action) =
            word.split_once('.').map_or((word.as_str(), None), |(entry, action)| (entry, Some(action)));
        let entry = entry_named(catalog, broken, entry)?;
        let chosen = chosen(catalog, entry, action)?;
        for operation in chosen {
            if operations.iter().all(|known| !std::ptr::eq(known.action, operation.action)) {
                operations.push(operation);
            }
        }
    }
    Ok(operations)
}

fn chosen<'c>(catalog: &Catalog, entry: &'c Entry, action: Option<&str>) -> anyhow::Result<Vec<Operation<'c>>> {
    let all = || entry.manifest.actions.iter().map(|action| Operation { entry, action });
    let refusal = |operation: &Operation<'_>, why: String| {
        let help = "a chat client has no way to ask a human; leave it to the operator's server";
        UsageError::new(format!("`{}` cannot be declared: {why}", operation.shown()), help)
    };
    if let Some(name) = action {
        let Some(operation) = all().find(|operation| operation.action.name.as_deref() == Some(name)) else {
            let near = nearest(name, entry.manifest.actions.iter().filter_map(|action| action.name.as_deref()));
            return Err(unknown(&format!("`{}` has no action `{name}`", entry.manifest.name), near).into());
        };
        return match operation.refused(catalog) {
            Some(why) => Err(refusal(&operation, why).into()),
            None => Ok(vec![operation]),
        };
    }
    let (mut kept, mut refused) = (Vec::new(), Vec::new());
    for operation in all() {
        match operation.refused(catalog) {
            Some(why) => refused.push((operation, why)),
            None => kept.push(operation),
        }
    }
    if kept.is_empty()
        && let Some((operation, why)) = refused.pop()
    {
        return Err(refusal(&operation, why).into());
    }
    for (operation, why) in refused {
        say(&format!("note: `{}` is left out: {why}", operation.shown()));
    }
    Ok(kept)
}

/// The tool of that name, or else the agent; `agent:NAME` the agent in any case.
fn entry_named<'c>(catalog: &'c Catalog, broken: &[Broken], name: &str) -> Result<&'c Entry, UsageError> {
    let (kinds, name): (&[Kind], &str) = match name.strip_prefix("agent:") {
        Some(name) => (&[Kind::Agent], name),
        None => (&[Kind::Tool, Kind::Agent], name),
    };
    let found = kinds.iter().find_map(|kind| catalog.entry(*kind, name));
    found.map(|entry| &**entry).ok_or_else(|| {
        if let Some(Broken { why, .. }) = broken.iter().find(|broken| broken.name == name) {
            return UsageError::new(format!("`{name}` is broken: {why}"), "mend it; `gatelatch check` tells all");
        }
        let near = nearest(name, catalog.entries().iter().map(|entry| entry.manifest.name.as_str()));
        unknown(&format!("there is no tool or agent `{name}`"), near)
    })
}

fn unknown(what: &str, near: Option<&str>) -> UsageError {
    let help = near.map_or_else(
        || "`gatelatch list` shows what there is, `gatelatch show NAME` its actions".to_owned(),
        |near| format!("did you mean `{near}`?"),
    );
    UsageError::new(what, help)
}
