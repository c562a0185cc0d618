//! How long a call of one of our servers may take, so that no client gives up on what is allowed.
//!
//! Owns that steps follow one another. Knows no client. Start at [`of_catalog`] and [`of_chat`].

use std::time::Duration;

use gatelatch_chat::link::Linked;
use gatelatch_manifest::surface::{OperationManifest, SurfaceManifest, TargetManifest};
use gatelatch_registry::catalog::{Catalog, Limits};

/// The longest that an action of the catalog may take, which is what the operator's server calls one at a time.
pub(crate) fn of_catalog(catalog: &Catalog) -> Duration {
    let actions = catalog.entries().iter().flat_map(|entry| &entry.manifest.actions);
    longest(actions.map(|action| action.limits.timeout))
}

/// The longest that a tool of the chat server may take, with all of its steps.
pub(crate) fn of_chat(manifest: &SurfaceManifest, linked: &Linked, catalog: &Catalog) -> Duration {
    let one = |target: &TargetManifest| {
        let action = catalog.entry(target.kind, &target.entry)?.action(target.action.as_deref())?;
        Some(action.limits.timeout)
    };
    let served = |name: &str| linked.tools.iter().any(|tool| tool.published().name == name);
    let tools = manifest.tools.iter().filter(|tool| served(&tool.name));
    longest(tools.map(|tool| match &tool.operation {
        OperationManifest::Call { target, .. } => one(target).unwrap_or_default(),
        OperationManifest::Steps { steps, .. } => {
            steps.iter().filter_map(|step| one(&step.target)).fold(Duration::ZERO, Duration::saturating_add)
        }
    }))
}

/// What a call may take where nothing is said.
pub(crate) fn usual() -> Duration {
    Limits::default().timeout
}

/// Never less than what holds where nothing is said: what is declared tomorrow fits too.
fn longest(timeouts: impl Iterator<Item = Duration>) -> Duration {
    timeouts.fold(usual(), Duration::max)
}
