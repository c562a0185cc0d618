//! From catalog folders and compiled-in files to one linked catalog, with everything that was found on the way.
//!
//! Owns the order of catalogs, which of two entries of one name wins, and what ties entries together (an agent's
//! `uses`). Where bytes come from is [`crate::shelf`]; what they say is the manifest crate. Nothing here fails: what
//! cannot be read is a finding, and the rest loads. Start at [`load`].

use std::collections::HashMap;
use std::path::PathBuf;

use gatelatch_manifest::diagnostic::{self, Diagnostic, quoted};
use gatelatch_manifest::document::UseManifest;
use gatelatch_manifest::nearest::nearest;
use gatelatch_manifest::read::{self, Read};
use gatelatch_manifest::rule;

use crate::catalog::{Catalog, CompiledFile, Entry, Kind, Skill};
use crate::shelf::{Found, Shelf};

/// Where a catalog's files are.
#[derive(Clone, Debug)]
pub enum Source {
    /// A folder that holds `tools/`, `agents/`, `skills/`.
    Folder(PathBuf),
    /// Files compiled into the binary, with paths such as `tools/outbox/main.py`.
    Compiled(&'static [CompiledFile]),
}

/// What loading gave.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// Everything that has no error.
    pub catalog: Catalog,
    /// Everything that was found, by file and line.
    pub findings: Vec<Diagnostic>,
}

/// Loads catalogs. The first that holds an entry of a name wins, also where that entry has errors and is left out:
/// whoever mends it shall not find that another ran in its place meanwhile.
pub fn load(sources: &[Source]) -> Loaded {
    let mut loading = Loading::default();
    for source in sources {
        let shelf = Shelf::open(source, &mut loading.findings);
        for kind in Kind::ALL {
            for found in shelf.entries(kind, &mut loading.findings) {
                loading.take(found);
            }
        }
    }
    loading.link()
}

/// An entry that loaded, and the text that findings about it show.
struct Candidate {
    entry: Entry,
    text: String,
}

#[derive(Default)]
struct Loading {
    /// Which file holds a name.
    claimed: HashMap<(Kind, String), String>,
    tools: Vec<Entry>,
    agents: Vec<Candidate>,
    skills: Vec<Skill>,
    findings: Vec<Diagnostic>,
}

impl Loading {
    fn take(&mut self, found: Found) {
        let claim = (found.kind, found.name.clone());
        let shadowed = self.claimed.get(&claim).map(|first| shadowed(&found, first));
        let wins = shadowed.is_none();
        self.findings.extend(shadowed);
        self.claimed.entry(claim).or_insert_with(|| found.file.clone());
        match found.kind {
            Kind::Tool => {
                let read = read::tool(&found.file, &found.name, &found.bytes, &|path| found.beside(path));
                let manifest = self.keep(read, wins);
                self.tools.extend(manifest.map(|manifest| Entry { manifest, origin: found.origin, file: found.file }));
            }
            Kind::Agent => {
                let read = read::agent(&found.file, &found.name, &found.bytes, &|path| found.beside(path));
                let manifest = self.keep(read, wins);
                let text = String::from_utf8_lossy(&found.bytes).into_owned();
                let candidate =
                    |manifest| Candidate { entry: Entry { manifest, origin: found.origin, file: found.file }, text };
                self.agents.extend(manifest.map(candidate));
            }
            Kind::Skill => {
                let read = read::skill(&found.file, &found.name, &found.bytes, &|path| found.beside(path));
                let manifest = self.keep(read, wins);
                self.skills.extend(manifest.map(|manifest| Skill { manifest, origin: found.origin, file: found.file }));
            }
        }
    }

    fn keep<T>(&mut self, read: Read<T>, wins: bool) -> Option<T> {
        self.findings.extend(read.findings);
        read.document.filter(|_| wins)
    }

    fn link(mut self) -> Loaded {
        let mut entries = Vec::new();
        for Candidate { entry, text } in std::mem::take(&mut self.agents) {
            let source = diagnostic::Source::new(&entry.file, text.strip_prefix('\u{feff}').unwrap_or(&text));
            let unknown: Vec<Diagnostic> =
                entry.manifest.uses.iter().filter_map(|used| self.unknown_use(used, &source)).collect();
            if unknown.is_empty() {
                entries.push(entry);
            }
            self.findings.extend(unknown);
        }
        entries.extend(self.tools);
        self.findings.sort_by(|one, other| (&one.file, one.position).cmp(&(&other.file, other.position)));
        Loaded { catalog: Catalog::link(entries, self.skills), findings: self.findings }
    }

    /// The finding about a use that no tool or action answers to.
    fn unknown_use(&self, used: &UseManifest, source: &diagnostic::Source<'_>) -> Option<Diagnostic> {
        let (message, help) = match self.tools.iter().find(|tool| tool.manifest.name == used.tool) {
            None => self.unknown_tool(&used.tool),
            Some(tool) => unknown_action(tool, used.action.as_deref()?)?,
        };
        Some(source.diagnose(&rule::UNKNOWN_USE, used.position, message, help))
    }

    fn unknown_tool(&self, name: &str) -> (String, Option<String>) {
        match self.claimed.get(&(Kind::Tool, name.to_owned())) {
            Some(file) => {
                let message = format!("tool {} is left out, since its manifest has errors", quoted(name));
                (message, Some(format!("mend {file}")))
            }
            None => {
                let near = nearest(name, self.tools.iter().map(|tool| tool.manifest.name.as_str()));
                (format!("there is no tool {}", quoted(name)), near.map(|near| format!("did you mean `{near}`?")))
            }
        }
    }
}

fn unknown_action(tool: &Entry, name: &str) -> Option<(String, Option<String>)> {
    let names = || tool.manifest.actions.iter().filter_map(|action| action.name.as_deref());
    if names().any(|known| known == name) {
        return None;
    }
    let help = match nearest(name, names()) {
        Some(near) => Some(format!("did you mean `{}.{near}`?", tool.manifest.name)),
        None if names().next().is_none() => {
            Some(format!("write `{}`: the tool has a single nameless action", tool.manifest.name))
        }
        None => None,
    };
    Some((format!("tool {} has no action {}", quoted(&tool.manifest.name), quoted(name)), help))
}

fn shadowed(found: &Found, first: &str) -> Diagnostic {
    let message = format!("{} {} is shadowed by {first}", found.kind.as_str(), quoted(&found.name));
    Diagnostic::whole_file(&rule::SHADOWED, &found.file, message)
}
