//! From catalog folders and compiled-in files to one linked catalog, with everything that was found on the way.
//!
//! Owns the order of catalogs, which of two entries of one name wins, and what ties entries together (an agent's
//! `uses`). Where bytes come from is [`crate::shelf`]; what they say is the manifest crate. Nothing here fails: what
//! cannot be read is a finding, and the rest loads. Start at [`load`].

use std::collections::HashMap;
use std::collections::hash_map::Entry::{Occupied, Vacant};
use std::num::NonZero;
use std::path::PathBuf;

use gatelatch_manifest::diagnostic::{self, Diagnostic, quoted};
use gatelatch_manifest::document::UseManifest;
use gatelatch_manifest::nearest::nearest;
use gatelatch_manifest::read::{self, Beside, Read};
use gatelatch_manifest::rule;

use crate::catalog::{Catalog, CompiledFile, Entry, Kind, Skill};
use crate::shelf::{Found, Shelf, Slot};
use crate::store::{self, Document, Edition, Kept, Reading, Store};

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
    load_through(sources, None).0
}

/// The same, without reading a manifest that the store knows; and what the next start can use.
pub fn load_with(sources: &[Source], store: &Store) -> (Loaded, Edition) {
    load_through(sources, Some(store))
}

fn load_through(sources: &[Source], store: Option<&Store>) -> (Loaded, Edition) {
    let mut loading = Loading::default();
    let mut slots = Vec::new();
    for source in sources {
        let shelf = Shelf::open(source, &mut loading.findings);
        for kind in Kind::ALL {
            slots.extend(shelf.slots(kind, &mut loading.findings));
        }
    }
    let mut edition = Edition::default();
    for mut opened in open_all(slots, store) {
        if let Some(kept) = opened.kept.take() {
            edition.add(kept);
        }
        loading.take(opened);
    }
    (loading.link(), edition)
}

/// What one slot gave.
#[derive(Default)]
struct Opened {
    /// The kind and name that the slot claims, and its manifest; nothing where it holds none.
    claim: Option<Claim>,
    /// The document, where it has no error.
    document: Option<Loadable>,
    findings: Vec<Diagnostic>,
    /// What a next load can use.
    kept: Option<Kept>,
}

struct Claim {
    kind: Kind,
    name: String,
    file: String,
}

enum Loadable {
    Tool(Entry),
    Agent(Candidate),
    Skill(Skill),
}

/// An agent that loaded, and the text that findings about its `uses` show.
struct Candidate {
    entry: Entry,
    text: String,
}

/// Opens slots and reads what is in them, on several threads where there are many, and gives them in their order.
fn open_all(slots: Vec<Slot>, store: Option<&Store>) -> Vec<Opened> {
    /// Fewer are read faster than a thread is started.
    const WORTH_A_THREAD: usize = 24;
    const MOST_THREADS: usize = 4;
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let threads = (slots.len() / WORTH_A_THREAD).min(cores).clamp(1, MOST_THREADS);
    if threads == 1 {
        return slots.into_iter().map(|slot| open(slot, store)).collect();
    }
    let share = slots.len().div_ceil(threads);
    let mut slots = slots.into_iter();
    let shares = (0..threads).map(|_| slots.by_ref().take(share).collect::<Vec<Slot>>());
    std::thread::scope(|scope| {
        let open_share = |share: Vec<Slot>| share.into_iter().map(|slot| open(slot, store)).collect::<Vec<Opened>>();
        let running: Vec<_> = shares.map(|share| scope.spawn(move || open_share(share))).collect();
        let ended = running.into_iter().map(|thread| thread.join());
        ended.flat_map(|ended| ended.unwrap_or_else(|fault| std::panic::resume_unwind(fault))).collect()
    })
}

fn open(slot: Slot, store: Option<&Store>) -> Opened {
    let mut opened = Opened::default();
    let Some(found) = slot.open(&mut opened.findings) else { return opened };
    let Reading { document, findings } = match store {
        Some(store) => {
            let (reading, kept) = store::recall(store, &found, |beside| read(&found, beside));
            opened.kept = Some(kept);
            reading
        }
        None => read(&found, &|path| found.beside(path)),
    };
    opened.findings.extend(findings);
    let (origin, file) = (found.origin, found.file.clone());
    opened.document = document.map(|document| match document {
        Document::Entry(manifest) => {
            let entry = Entry { manifest, origin, file };
            match found.kind {
                Kind::Agent => {
                    Loadable::Agent(Candidate { entry, text: String::from_utf8_lossy(&found.bytes).into_owned() })
                }
                Kind::Tool | Kind::Skill => Loadable::Tool(entry),
            }
        }
        Document::Skill(manifest) => Loadable::Skill(Skill { manifest, origin, file }),
    });
    opened.claim = Some(Claim { kind: found.kind, name: found.name, file: found.file });
    opened
}

/// Reads a manifest's YAML.
fn read(found: &Found, beside: &dyn Fn(&str) -> Beside) -> Reading {
    let Found { kind, name, file, bytes, .. } = found;
    match kind {
        Kind::Tool => reading(read::tool(file, name, bytes, beside), Document::Entry),
        Kind::Agent => reading(read::agent(file, name, bytes, beside), Document::Entry),
        Kind::Skill => reading(read::skill(file, name, bytes, beside), Document::Skill),
    }
}

fn reading<T>(read: Read<T>, document: impl FnOnce(T) -> Document) -> Reading {
    Reading { document: read.document.map(document), findings: read.findings }
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
    fn take(&mut self, opened: Opened) {
        self.findings.extend(opened.findings);
        let Some(Claim { kind, name, file }) = opened.claim else { return };
        match self.claimed.entry((kind, name)) {
            Occupied(first) => {
                let message = format!("{} {} is shadowed by {}", kind.as_str(), quoted(&first.key().1), first.get());
                self.findings.push(Diagnostic::whole_file(&rule::SHADOWED, &file, message));
            }
            Vacant(free) => {
                free.insert(file);
                match opened.document {
                    Some(Loadable::Tool(entry)) => self.tools.push(entry),
                    Some(Loadable::Agent(candidate)) => self.agents.push(candidate),
                    Some(Loadable::Skill(skill)) => self.skills.push(skill),
                    None => {}
                }
            }
        }
    }

    fn link(mut self) -> Loaded {
        let mut entries = Vec::new();
        for Candidate { entry, text } in std::mem::take(&mut self.agents) {
            let source = diagnostic::Source::new(&entry.file, text.strip_prefix('\u{feff}').unwrap_or(&text));
            let unknown = self.unknown_uses(&entry.manifest.uses, &source);
            if unknown.is_empty() {
                entries.push(entry);
            }
            self.findings.extend(unknown);
        }
        entries.extend(self.tools);
        self.findings.sort_by(|one, other| (&one.file, one.position).cmp(&(&other.file, other.position)));
        Loaded { catalog: Catalog::link(entries, self.skills), findings: self.findings }
    }

    /// The findings about uses that no tool or action answers to.
    fn unknown_uses(&self, uses: &[UseManifest], source: &diagnostic::Source<'_>) -> Vec<Diagnostic> {
        const MOST_TOLD: usize = 50;
        let tools: HashMap<&str, &Entry> = match uses {
            [] => HashMap::new(),
            _ => self.tools.iter().map(|tool| (tool.manifest.name.as_str(), tool)).collect(),
        };
        let unknown = |used: &UseManifest| {
            let (message, help) = match tools.get(used.tool.as_str()) {
                None => self.unknown_tool(&used.tool),
                Some(tool) => unknown_action(tool, used.action.as_deref()?)?,
            };
            Some(source.diagnose(&rule::UNKNOWN_USE, used.position, message, help))
        };
        uses.iter().filter_map(unknown).take(MOST_TOLD).collect()
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
