//! The four doors of `capabilities`, narrowest answer first.
//!
//! | call | answer |
//! |---|---|
//! | `{}` | a compact list of everything |
//! | `{search}` | the matching actions, everywhere or inside `name` |
//! | `{name, action}` | one action's arguments and the literal call |
//! | `{name}` | the full schema, or an index of action names where that would be too large |
//!
//! Owns which answer a request gets and how large it may be. Whoever asks passes what they may see in a [`View`]; an
//! answer that would be too large becomes a smaller one by size alone. Start at [`capabilities`].

use gatelatch_registry::catalog::{ActionManifest, Catalog, Effect, Entry, Kind, Skill};
use serde_json::Value;

use crate::call;
use crate::help::{self, UsageError};
use crate::index::{Index, Target};

mod detail;
mod groups;
mod listing;
mod matches;

/// The catalog as one caller may see it.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// Everything that loaded.
    pub catalog: &'a Catalog,
    /// The index of that same catalog.
    pub index: &'a Index,
    /// Whether this caller may see an action. An entry none of whose actions may be seen is not there.
    pub sees: &'a dyn Fn(&Entry, &ActionManifest) -> bool,
    /// Whether this caller may see a skill.
    pub sees_skill: &'a dyn Fn(&Skill) -> bool,
    /// Why an entry cannot run now, in one line.
    pub not_ready: &'a dyn Fn(&Entry) -> Option<String>,
    /// An action's effect, and whether a human must agree.
    pub effect: &'a dyn Fn(&Entry, &ActionManifest) -> (Effect, bool),
    /// The largest full schema, in bytes, before `{name}` answers with an index.
    pub max_bytes: usize,
}

/// What `capabilities` was asked. An empty or blank text counts as absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// `tool`, `agent`, `skill`, or `toolset`: a tool with more than one action.
    pub kind: Option<String>,
    /// An entry's name.
    pub name: Option<String>,
    /// An action's name.
    pub action: Option<String>,
    /// Words to search for.
    pub search: Option<String>,
}

/// One thing that a search found.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// What kind of entry.
    pub kind: Kind,
    /// The entry's name.
    pub entry: String,
    /// The action's name; `None` for a skill and for a nameless action.
    pub action: Option<String>,
    /// The action's or skill's description, uncut.
    pub description: String,
    /// How well it fits; only the order means something.
    pub score: f32,
    /// Why the entry cannot run now, if it cannot.
    pub not_ready: Option<String>,
}

/// Answers one request, or says which door was meant.
pub fn capabilities(view: &View<'_>, request: &Request) -> Result<Value, UsageError> {
    let given =
        |text: &Option<String>| text.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
    let filter = given(&request.kind).map(|kind| Filter::parse(&kind)).transpose()?;
    let (name, action, search) = (given(&request.name), given(&request.action), given(&request.search));
    match (name.as_deref(), action.as_deref(), search.as_deref()) {
        (None, None, None) => Ok(listing::answer(view, filter)),
        (name, None, Some(words)) => matches::answer(view, filter, name, words),
        (name, Some(action), Some(words)) => Err(help::search_with_action(name, action, words)),
        (None, Some(action), None) => Err(help::action_without_name(view, filter, action)),
        (Some(name), Some(action), None) => match view.resolve(filter, name)? {
            Found::Entry(entry) => match view.action(entry, action) {
                Some(action) => Ok(detail::action(view, entry, action)),
                None => Err(help::unknown_action(view, entry, Some(action))),
            },
            Found::Skill(skill) => Err(help::skill_has_no_actions(skill)),
        },
        (Some(name), None, None) => match view.resolve(filter, name)? {
            Found::Entry(entry) => Ok(detail::entry(view, entry)),
            Found::Skill(skill) => Ok(detail::skill(skill)),
        },
    }
}

/// The best `limit` actions and skills for some words, everywhere or within one entry. Ties are in order of name.
pub fn search(view: &View<'_>, words: &str, within: Option<(Kind, &str)>, limit: usize) -> Vec<Hit> {
    let scope = match within {
        None => matches::Scope::Everywhere(None),
        Some((kind, name)) => matches::Scope::Within(kind, name.to_owned()),
    };
    matches::hits(view, words, &scope, limit).0
}

/// The best `limit` actions and skills among what passes a filter.
pub(crate) fn search_filtered(view: &View<'_>, words: &str, filter: Option<Filter>, limit: usize) -> Vec<Hit> {
    matches::hits(view, words, &matches::Scope::Everywhere(filter), limit).0
}

/// What `kind` narrows a request to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Filter {
    Kind(Kind),
    /// A tool with more than one action.
    Toolset,
}

impl Filter {
    const WORDS: [(&'static str, Filter); 4] = [
        ("tool", Filter::Kind(Kind::Tool)),
        ("agent", Filter::Kind(Kind::Agent)),
        ("skill", Filter::Kind(Kind::Skill)),
        ("toolset", Filter::Toolset),
    ];

    fn parse(text: &str) -> Result<Filter, UsageError> {
        let word = text.to_lowercase();
        let singular = word.strip_suffix('s').unwrap_or(&word);
        let known = Filter::WORDS.iter().find(|(name, _)| *name == singular);
        known.map(|(_, filter)| *filter).ok_or_else(|| help::unknown_kind(text, &Filter::WORDS.map(|(name, _)| name)))
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Filter::Kind(kind) => kind.as_str(),
            Filter::Toolset => "toolset",
        }
    }
}

/// What a name stands for.
#[derive(Clone, Copy)]
pub(crate) enum Found<'a> {
    Entry(&'a Entry),
    Skill(&'a Skill),
}

impl<'a> View<'a> {
    /// The entry's actions that the caller may see, in the manifest's order.
    pub(crate) fn actions<'e>(&self, entry: &'e Entry) -> impl Iterator<Item = &'e ActionManifest> + use<'a, 'e> {
        let sees = self.sees;
        entry.manifest.actions.iter().filter(move |action| sees(entry, action))
    }

    /// The visible action of that name.
    pub(crate) fn action<'e>(&self, entry: &'e Entry, name: &str) -> Option<&'e ActionManifest> {
        self.actions(entry).find(|action| action.name.as_deref() == Some(name))
    }

    /// The visible tools and agents that pass the filter: tools, then agents, each by name.
    pub(crate) fn entries(&self, filter: Option<Filter>) -> impl Iterator<Item = &'a Entry> + use<'a> {
        let view = *self;
        let entries = view.catalog.entries().iter().map(AsRef::as_ref);
        entries.filter(move |entry: &&'a Entry| view.passes(entry, filter))
    }

    /// The visible skills, if the filter lets skills through.
    pub(crate) fn skills(&self, filter: Option<Filter>) -> impl Iterator<Item = &'a Skill> + use<'a> {
        let sees_skill = self.sees_skill;
        let wanted = matches!(filter, None | Some(Filter::Kind(Kind::Skill)));
        let skills = self.catalog.skills().iter().map(AsRef::as_ref);
        skills.filter(move |skill: &&'a Skill| wanted && sees_skill(skill))
    }

    /// Whether the caller may see an entry of this kind and name at all.
    pub(crate) fn entry(&self, kind: Kind, name: &str) -> Option<&'a Entry> {
        let entry = self.catalog.entry(kind, name)?;
        self.passes(entry, None).then_some(entry)
    }

    /// The visible skill of that name.
    pub(crate) fn skill(&self, name: &str) -> Option<&'a Skill> {
        let skill = self.catalog.skill(name)?;
        (self.sees_skill)(skill).then_some(skill)
    }

    pub(crate) fn passes(&self, entry: &Entry, filter: Option<Filter>) -> bool {
        match filter {
            None => self.actions(entry).next().is_some(),
            Some(Filter::Kind(kind)) => entry.manifest.kind == kind && self.actions(entry).next().is_some(),
            Some(Filter::Toolset) => entry.manifest.kind == Kind::Tool && self.actions(entry).nth(1).is_some(),
        }
    }

    /// The one visible thing of that name, or a usage error that helps to find it.
    pub(crate) fn resolve(&self, filter: Option<Filter>, name: &str) -> Result<Found<'a>, UsageError> {
        let mut found: Vec<(Kind, Found<'a>)> = Vec::new();
        for kind in [Kind::Tool, Kind::Agent] {
            if let Some(entry) = self.entry(kind, name).filter(|entry| self.passes(entry, filter)) {
                found.push((kind, Found::Entry(entry)));
            }
        }
        if let (Some(skill), None | Some(Filter::Kind(Kind::Skill))) = (self.skill(name), filter) {
            found.push((Kind::Skill, Found::Skill(skill)));
        }
        match found.as_slice() {
            [(_, only)] => Ok(*only),
            [] => Err(help::unknown_name(self, filter, name)),
            several => {
                let kinds: Vec<Kind> = several.iter().map(|(kind, _)| *kind).collect();
                Err(help::ambiguous_name(name, &kinds))
            }
        }
    }

    /// Whether the caller may see what a document of the index stands for.
    pub(crate) fn sees_target(&self, target: Target) -> bool {
        match self.target(target) {
            Some(Aim::Action(entry, action)) => (self.sees)(entry, action),
            Some(Aim::Skill(skill)) => (self.sees_skill)(skill),
            None => false,
        }
    }

    /// What a document of the index stands for; `None` if the index is not this catalog's.
    pub(crate) fn target(&self, target: Target) -> Option<Aim<'a>> {
        match target {
            Target::Action { entry, action } => {
                let entry = self.catalog.entries().get(entry as usize)?;
                Some(Aim::Action(entry, entry.manifest.actions.get(action as usize)?))
            }
            Target::Skill(skill) => Some(Aim::Skill(self.catalog.skills().get(skill as usize)?)),
        }
    }
}

/// What a document of the index stands for.
#[derive(Clone, Copy)]
pub(crate) enum Aim<'a> {
    Action(&'a Entry, &'a ActionManifest),
    Skill(&'a Skill),
}

/// The sentence that tells where to go from a listing.
pub(crate) fn pointers(arguments: &[(&str, &str)], what: &str) -> String {
    let call = call::capabilities(arguments);
    format!("capabilities {} {what}", call.get("arguments").unwrap_or(&Value::Null))
}
