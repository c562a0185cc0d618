//! A call: an action with its checked arguments, that is, what would run.
//!
//! Owns that an action belongs to its entry. Knows nothing of effects, and trusts the registry that the arguments fit.
//! Start at [`Call::new`].

use std::sync::Arc;

use gatelatch_registry::arguments::Arguments;
use gatelatch_registry::catalog::{ActionManifest, Entry};

/// An action of an entry with arguments that fit it.
#[derive(Debug)]
pub struct Call {
    entry: Arc<Entry>,
    action: usize,
    arguments: Arguments,
}

impl Call {
    /// `action` is an index into the entry's actions; `None` when it is out of range.
    pub fn new(entry: Arc<Entry>, action: usize, arguments: Arguments) -> Option<Call> {
        (action < entry.manifest.actions.len()).then_some(Call { entry, action, arguments })
    }

    /// Whose action.
    pub fn entry(&self) -> &Arc<Entry> {
        &self.entry
    }

    /// Which action.
    pub fn action(&self) -> &ActionManifest {
        // INVARIANT: `Call::new` is the only constructor and it checked the index.
        &self.entry.manifest.actions[self.action]
    }

    /// With what.
    pub fn arguments(&self) -> &Arguments {
        &self.arguments
    }
}
