//! What a call may do to the world: the one ordered scale that the gate decides on.

use serde::Serialize;

/// `read_only` < `reversible` < `irreversible`: the greater is the stricter.
///
/// Read-only asks whether anything changes; reversible asks whether a change can be undone. What changes nothing can
/// be undone, so read-only implies reversible, never the other way round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Nothing changes.
    ReadOnly,
    /// Something changes and the change can be undone.
    Reversible,
    /// Something changes for good: sent, deleted, paid, published.
    Irreversible,
}

impl Effect {
    /// Every effect, from the mildest to the strictest.
    pub const ALL: [Effect; 3] = [Effect::ReadOnly, Effect::Reversible, Effect::Irreversible];

    /// The word that manifests and answers use.
    pub fn as_str(self) -> &'static str {
        match self {
            Effect::ReadOnly => "read_only",
            Effect::Reversible => "reversible",
            Effect::Irreversible => "irreversible",
        }
    }
}

impl std::fmt::Display for Effect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
