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
use gatelatch_manifest::document::{EntryManifest, UseManifest};
use gatelatch_manifest::nearest::nearest;
use gatelatch_manifest::read::{self, Read};
use gatelatch_manifest::rule;

use crate::catalog::{Catalog, CompiledFile, Entry, Kind, Skill};
use crate::shelf::{Found, Shelf, Slot};

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
    let mut slots = Vec::new();
    for source in sources {
        let shelf = Shelf::open(source, &mut loading.findings);
        for kind in Kind::ALL {
            slots.extend(shelf.slots(kind, &mut loading.findings));
        }
    }
    for opened in open_all(slots) {
        loading.take(opened);
    }
    loading.link()
}

/// What one slot gave.
#[derive(Default)]
struct Opened {
    /// The kind and name that the slot claims, and its manifest; nothing where it holds none.
    claim: Option<Claim>,
    /// The document, where it has no error.
    document: Option<Document>,
    findings: Vec<Diagnostic>,
}

struct Claim {
    kind: Kind,
    name: String,
    file: String,
}

enum Document {
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
fn open_all(slots: Vec<Slot>) -> Vec<Opened> {
    /// Fewer are read faster than a thread is started.
    const WORTH_A_THREAD: usize = 24;
    const MOST_THREADS: usize = 4;
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let threads = (slots.len() / WORTH_A_THREAD).min(cores).clamp(1, MOST_THREADS);
    if threads == 1 {
        return slots.into_iter().map(open).collect();
    }
    let share = slots.len().div_ceil(threads);
    let mut slots = slots.into_iter();
    let shares = (0..threads).map(|_| slots.by_ref().take(share).collect::<Vec<Slot>>());
    std::thread::scope(|scope| {
        let running: Vec<_> =
            shares.map(|share| scope.spawn(|| share.into_iter().map(open).collect::<Vec<Opened>>())).collect();
        let ended = running.into_iter().map(|thread| thread.join());
        ended.flat_map(|ended| ended.unwrap_or_else(|fault| std::panic::resume_unwind(fault))).collect()
    })
}

fn open(slot: Slot) -> Opened {
    let mut opened = Opened::default();
    let Some(found) = slot.open(&mut opened.findings) else { return opened };
    let beside = |path: &str| found.beside(path);
    let document = match found.kind {
        Kind::Tool => {
            let read = read::tool(&found.file, &found.name, &found.bytes, &beside);
            keep(read, &mut opened).map(|manifest| Document::Tool(entry(manifest, &found)))
        }
        Kind::Agent => {
            let read = read::agent(&found.file, &found.name, &found.bytes, &beside);
            let text = String::from_utf8_lossy(&found.bytes);
            let candidate = |manifest| Candidate { entry: entry(manifest, &found), text: text.into_owned() };
            keep(read, &mut opened).map(candidate).map(Document::Agent)
        }
        Kind::Skill => {
            let read = read::skill(&found.file, &found.name, &found.bytes, &beside);
            let skill = |manifest| Skill { manifest, origin: found.origin.clone(), file: found.file.clone() };
            keep(read, &mut opened).map(skill).map(Document::Skill)
        }
    };
    opened.document = document;
    opened.claim = Some(Claim { kind: found.kind, name: found.name, file: found.file });
    opened
}

fn keep<T>(read: Read<T>, opened: &mut Opened) -> Option<T> {
    opened.findings.extend(read.findings);
    read.document
}

fn entry(manifest: EntryManifest, found: &Found) -> Entry {
    Entry { manifest, origin: found.origin.clone(), file: found.file.clone() }
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
                    Some(Document::Tool(entry)) => self.tools.push(entry),
                    Some(Document::Agent(candidate)) => self.agents.push(candidate),
                    Some(Document::Skill(skill)) => self.skills.push(skill),
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
