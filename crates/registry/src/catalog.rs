//! The immutable, linked set of all manifests that loaded.

use std::path::PathBuf;
use std::sync::Arc;

pub use gatelatch_manifest::document::{
    ActionManifest, ArgumentManifest, ArgumentType, EntryManifest, ExampleManifest, Kind, Limits, OutputManifest,
    Repeat, Runtime, SecretManifest, SkillManifest, UseManifest,
};
pub use gatelatch_manifest::effect::Effect;

/// A file compiled into the binary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompiledFile {
    /// Path within the catalog, with `/`: `tools/outbox/main.py`.
    pub path: &'static str,
    /// Its content.
    pub bytes: &'static [u8],
}

/// Where an entry's files are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The entry's own folder on disk, absolute.
    Folder(PathBuf),
    /// Compiled in; the entry's own files, paths relative to the entry's folder (`main.py`).
    Compiled(Arc<[CompiledFile]>),
}

/// A tool or an agent that loaded.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What its manifest says.
    pub manifest: EntryManifest,
    /// Where its files are.
    pub origin: Origin,
    /// The manifest's file as diagnostics name it.
    pub file: String,
}

impl Entry {
    /// The action of that name; with `None` the nameless one, or the only one where there is just one.
    pub fn action(&self, name: Option<&str>) -> Option<&ActionManifest> {
        self.action_index(name).and_then(|index| self.manifest.actions.get(index))
    }

    /// The place of [`Entry::action`] in the manifest's list.
    pub fn action_index(&self, name: Option<&str>) -> Option<usize> {
        match name {
            Some(name) => self.manifest.actions.iter().position(|action| action.name.as_deref() == Some(name)),
            None if self.manifest.actions.len() == 1 => Some(0),
            None => None,
        }
    }
}

/// A skill that loaded.
#[derive(Clone, Debug)]
pub struct Skill {
    /// Its front matter and body.
    pub manifest: SkillManifest,
    /// Where its files are.
    pub origin: Origin,
    /// `SKILL.md` as diagnostics name it.
    pub file: String,
}

/// Every entry that loaded, by kind and then by name.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    entries: Vec<Arc<Entry>>,
    skills: Vec<Arc<Skill>>,
}

impl Catalog {
    /// Links what loaded. Two of the same kind and name: the first wins.
    pub fn link(entries: Vec<Entry>, skills: Vec<Skill>) -> Catalog {
        let key = |entry: &Entry| (entry.manifest.kind, entry.manifest.name.clone());
        let mut entries: Vec<Arc<Entry>> = entries.into_iter().map(Arc::new).collect();
        entries.sort_by_key(|entry| key(entry));
        entries.dedup_by(|later, first| key(later) == key(first));
        let mut skills: Vec<Arc<Skill>> = skills.into_iter().map(Arc::new).collect();
        skills.sort_by(|a, b| a.manifest.name.cmp(&b.manifest.name));
        skills.dedup_by(|later, first| later.manifest.name == first.manifest.name);
        Catalog { entries, skills }
    }

    /// Tools, then agents, each by name.
    pub fn entries(&self) -> &[Arc<Entry>] {
        &self.entries
    }

    /// Skills, by name.
    pub fn skills(&self) -> &[Arc<Skill>] {
        &self.skills
    }

    /// The tool or agent of that name.
    pub fn entry(&self, kind: Kind, name: &str) -> Option<&Arc<Entry>> {
        self.entries
            .binary_search_by(|entry| (entry.manifest.kind, entry.manifest.name.as_str()).cmp(&(kind, name)))
            .ok()
            .and_then(|index| self.entries.get(index))
    }

    /// The skill of that name.
    pub fn skill(&self, name: &str) -> Option<&Arc<Skill>> {
        self.skills
            .binary_search_by(|skill| skill.manifest.name.as_str().cmp(name))
            .ok()
            .and_then(|index| self.skills.get(index))
    }
}
