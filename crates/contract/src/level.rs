//! How much a change asks of those who hold an older copy of the list. Knows no kind of change. Start at [`Level`].

use std::fmt;

use serde::Serialize;

/// The part of the version that a change moves, smallest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Nobody's calls change: texts and order.
    Patch,
    /// Whoever holds the old list goes on as before.
    Minor,
    /// What worked with the old list may not work any more, or may do more than the old list said.
    Major,
}

impl fmt::Display for Level {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Level::Patch => "patch",
            Level::Minor => "minor",
            Level::Major => "major",
        })
    }
}
