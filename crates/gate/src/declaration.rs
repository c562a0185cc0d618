//! What a manifest declares, held against what the names say.
//!
//! Owns which of the two stands for one action, and the three lists that a reviewer wants: what declares no effect, what
//! was loosened, what is declared in vain. Follows no `uses` by itself and asks nobody: that is [`crate::decision`].
//! Start at [`Standing::of`].

use std::fmt;

use gatelatch_registry::catalog::{ActionManifest, Catalog, Effect, Entry, Kind};

use crate::decision::lacks_declaration;
use crate::name::{NameReading, Saying};

/// Which of name and declaration stands for an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nothing is declared and the name says nothing for sure: irreversible.
    Undeclared,
    /// Nothing is declared, or something milder with no `because:`: the name stands.
    Name {
        /// What the name says.
        says: Saying,
        /// The milder effect that is declared in vain.
        ignored: Option<Effect>,
    },
    /// The declaration, at least as strict as the name.
    Declared(Effect),
    /// The declaration, milder than the name, for a reason.
    Loosened {
        /// What is declared.
        declared: Effect,
        /// What the name says.
        says: Saying,
        /// The manifest's reason.
        because: String,
    },
}

impl Standing {
    /// Weighs one action's declaration against its name.
    pub fn of(entry: &Entry, action: &ActionManifest) -> Standing {
        let reading = NameReading::of(&entry.manifest.name, action.name.as_deref());
        let Some(declared) = action.effect else {
            return match reading.alone() {
                Some(says) => Standing::Name { says: says.clone(), ignored: None },
                None => Standing::Undeclared,
            };
        };
        match reading.strictest {
            Some(says) if declared < says.effect => match reason(action) {
                Some(because) => Standing::Loosened { declared, says, because },
                None => Standing::Name { says, ignored: Some(declared) },
            },
            Some(_) | None => Standing::Declared(declared),
        }
    }

    /// The effect that stands.
    pub fn effect(&self) -> Effect {
        match self {
            Standing::Undeclared => Effect::Irreversible,
            Standing::Name { says, ignored: _ } => says.effect,
            Standing::Declared(declared) | Standing::Loosened { declared, .. } => *declared,
        }
    }
}

/// The reason on one line, if there is one: it goes into lists of one line an entry.
fn reason(action: &ActionManifest) -> Option<String> {
    let words: Vec<&str> = action.because.as_deref()?.split_whitespace().collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// Which action of a catalog.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Tool or agent.
    pub kind: Kind,
    /// The entry's name.
    pub entry: String,
    /// The action's name; `None` for the nameless one.
    pub action: Option<String>,
    /// The manifest's file as diagnostics name it.
    pub file: String,
}

impl Place {
    /// The place of an entry's action.
    pub fn of(entry: &Entry, action: &ActionManifest) -> Place {
        Place {
            kind: entry.manifest.kind,
            entry: entry.manifest.name.clone(),
            action: action.name.clone(),
            file: entry.file.clone(),
        }
    }

    /// Where a line about the action belongs: ``under action `send` in tools/mailer/tool.yaml``.
    pub fn in_file(&self) -> String {
        match &self.action {
            Some(action) => format!("under action `{action}` in {}", self.file),
            None => format!("at the top of {}", self.file),
        }
    }
}

impl fmt::Display for Place {
    /// `tool mailer.send`, `agent digest`; never the file, so that a list reads the same on every machine.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind.as_str(), self.entry)?;
        self.action.iter().try_for_each(|action| write!(f, ".{action}"))
    }
}

/// An action that counts as irreversible only because no effect is declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undeclared {
    /// Which action.
    pub place: Place,
}

impl fmt::Display for Undeclared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: no effect is declared", self.place)
    }
}

/// A declaration that is milder than the name, for a reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loosening {
    /// Which action.
    pub place: Place,
    /// What the name says.
    pub says: Saying,
    /// What stands instead.
    pub declared: Effect,
    /// The manifest's reason, on one line.
    pub because: String,
}

impl fmt::Display for Loosening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Loosening { place, says, declared, because } = self;
        write!(f, "{place}: {} (`{}`) -> {declared}: {because}", says.effect, says.words)
    }
}

/// A declaration that is milder than the name and gives no reason, so that the name stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoredDeclaration {
    /// Which action.
    pub place: Place,
    /// What the name says, which stands.
    pub says: Saying,
    /// What is declared in vain.
    pub declared: Effect,
}

impl fmt::Display for IgnoredDeclaration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let IgnoredDeclaration { place, says, declared } = self;
        write!(f, "{place}: {} (`{}`), though {declared} is declared, without `because:`", says.effect, says.words)
    }
}

/// Every action that counts as irreversible only because no effect is declared, in the catalog's order.
pub fn undeclared(catalog: &Catalog) -> Vec<Undeclared> {
    actions(catalog)
        .filter(|(entry, action)| lacks_declaration(catalog, entry, action))
        .map(|(entry, action)| Undeclared { place: Place::of(entry, action) })
        .collect()
}

/// Every declaration that is milder than the name, for a reason, in the catalog's order.
pub fn loosenings(catalog: &Catalog) -> Vec<Loosening> {
    standings(catalog)
        .filter_map(|(place, standing)| match standing {
            Standing::Loosened { declared, says, because } => Some(Loosening { place, says, declared, because }),
            Standing::Undeclared | Standing::Name { .. } | Standing::Declared(_) => None,
        })
        .collect()
}

/// Every declaration that is milder than the name and gives no reason, in the catalog's order.
pub fn ignored_declarations(catalog: &Catalog) -> Vec<IgnoredDeclaration> {
    standings(catalog)
        .filter_map(|(place, standing)| match standing {
            Standing::Name { says, ignored: Some(declared) } => Some(IgnoredDeclaration { place, says, declared }),
            Standing::Name { says: _, ignored: None }
            | Standing::Undeclared
            | Standing::Declared(_)
            | Standing::Loosened { .. } => None,
        })
        .collect()
}

fn standings(catalog: &Catalog) -> impl Iterator<Item = (Place, Standing)> {
    actions(catalog).map(|(entry, action)| (Place::of(entry, action), Standing::of(entry, action)))
}

fn actions(catalog: &Catalog) -> impl Iterator<Item = (&Entry, &ActionManifest)> {
    catalog.entries().iter().flat_map(|entry| entry.manifest.actions.iter().map(|action| (entry.as_ref(), action)))
}
