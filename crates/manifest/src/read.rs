//! From a manifest's bytes to its document, or to everything that is wrong with it.
//!
//! Start at [`tool`], [`agent`] or [`skill`]: each takes the label that findings show, the name of the entry's folder,
//! the bytes, and a way to ask which files stand beside the manifest; [`surface`] and [`settings`] take the label and the
//! bytes. None of them fails: a broken manifest is a `Read`
//! without a document.

use crate::declaration;
use crate::diagnostic::{Diagnostic, Position, Source};
use crate::document::{EntryManifest, Kind, SettingsManifest, SkillManifest};
use crate::entry;
use crate::findings::Findings;
use crate::rule::{self, Rule};
use crate::surface::SurfaceManifest;
use crate::yaml::{self, Node};

/// The largest manifest that is read, in bytes.
pub const MOST_BYTES: usize = 1 << 20;

/// What stands under a relative path beside a manifest. Whoever reads manifests from somewhere knows; this crate only
/// asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// Nothing that can be read.
    Nothing,
}

/// Says what stands under a path, as the manifest writes it.
pub type Lookup<'l> = &'l dyn Fn(&str) -> Beside;

/// What reading one manifest gave.
#[derive(Clone, Debug)]
pub struct Read<T> {
    /// What it says; `None` when a finding is an error.
    pub document: Option<T>,
    /// Everything that was found, by place.
    pub findings: Vec<Diagnostic>,
}

/// Reads `tool.yaml`.
pub fn tool(file: &str, folder: &str, bytes: &[u8], beside: Lookup<'_>) -> Read<EntryManifest> {
    entry_of(Kind::Tool, file, folder, bytes, beside)
}

/// Reads `agent.yaml`.
pub fn agent(file: &str, folder: &str, bytes: &[u8], beside: Lookup<'_>) -> Read<EntryManifest> {
    entry_of(Kind::Agent, file, folder, bytes, beside)
}

/// Reads `SKILL.md`.
pub fn skill(file: &str, folder: &str, bytes: &[u8], beside: Lookup<'_>) -> Read<SkillManifest> {
    read(file, bytes, |text, findings| crate::skill::skill(folder, text, beside, findings))
}

/// Reads `gatelatch.yaml`.
pub fn settings(file: &str, bytes: &[u8]) -> Read<SettingsManifest> {
    read(file, bytes, crate::settings::settings)
}

/// Reads `chat_surface.yaml`.
pub fn surface(file: &str, bytes: &[u8]) -> Read<SurfaceManifest> {
    read(file, bytes, |text, findings| declaration::declaration(&root(text, findings)?, findings))
}

/// A finding about the effect that an action declares, or that its entry declares for it, at its place in the manifest:
/// for whoever knows what the declaration is worth. The whole file where no such place is found.
pub fn finding_about_effect(
    rule: &Rule,
    (file, bytes): (&str, &[u8]),
    action: Option<&str>,
    message: String,
    help: String,
) -> Diagnostic {
    let place = text(file, bytes).ok().and_then(|text| {
        let source = Source::new(file, text);
        let root = yaml::parse(text, 1, 0, &mut Findings::new(&source))?;
        let own = action.and_then(|name| entry::action_of(&root, name)).and_then(|action| effect_of(action));
        own.or_else(|| effect_of(&root)).map(|at| source.diagnose(rule, at, message.clone(), Some(help.clone())))
    });
    place.unwrap_or_else(|| Diagnostic { help: Some(help), ..Diagnostic::whole_file(rule, file, message) })
}

/// Where a mapping's `effect` stands.
fn effect_of(node: &Node<'_>) -> Option<Position> {
    node.mapping()?.iter().find(|pair| pair.key == "effect").map(|pair| pair.value.at)
}

/// A manifest's bytes as text without a byte order mark, or the finding that says why they are none.
pub fn text<'b>(file: &str, bytes: &'b [u8]) -> Result<&'b str, Diagnostic> {
    if bytes.len() > MOST_BYTES {
        return Err(too_large(file));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| not_utf8(file, bytes, error.valid_up_to()))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match text.find('\0') {
        Some(offset) => {
            let message = "a NUL character stands here".to_owned();
            Err(Source::new(file, text).diagnose(&rule::NUL, position_of(text, offset), message, None))
        }
        None => Ok(text),
    }
}

/// The finding about a manifest of more than [`MOST_BYTES`], for whoever saw it before reading it.
pub fn too_large(file: &str) -> Diagnostic {
    Diagnostic::whole_file(&rule::TOO_LARGE, file, "the manifest is larger than 1 MiB".to_owned())
}

fn entry_of(kind: Kind, file: &str, folder: &str, bytes: &[u8], beside: Lookup<'_>) -> Read<EntryManifest> {
    read(file, bytes, |text, findings| entry::entry(kind, folder, &root(text, findings)?, beside, findings))
}

/// The tree of a file; `None` when it is no YAML.
fn root<'a>(text: &'a str, findings: &mut Findings<'_, '_>) -> Option<Node<'a>> {
    match yaml::parse(text, 1, 0, findings) {
        Some(root) => Some(root),
        None if findings.has_error() => None,
        // A file of nothing but comments: every required key is missing.
        None => Some(Node::nothing()),
    }
}

fn read<T>(file: &str, bytes: &[u8], build: impl FnOnce(&str, &mut Findings<'_, '_>) -> Option<T>) -> Read<T> {
    let text = match text(file, bytes) {
        Ok(text) => text,
        Err(finding) => return Read { document: None, findings: vec![finding] },
    };
    let source = Source::new(file, text);
    let mut findings = Findings::new(&source);
    let document = build(text, &mut findings);
    let document = document.filter(|_| !findings.has_error());
    let mut findings = findings.finish();
    // A fix counts the bytes of the file, a byte order mark among them.
    findings.iter_mut().filter_map(|finding| finding.fix.as_mut()).for_each(|fix| fix.shift(bytes.len() - text.len()));
    Read { document, findings }
}

fn not_utf8(file: &str, bytes: &[u8], valid_up_to: usize) -> Diagnostic {
    let valid = bytes.get(..valid_up_to).and_then(|valid| std::str::from_utf8(valid).ok()).unwrap_or_default();
    let at = position_of(valid, valid.len());
    Source::new(file, valid).diagnose(&rule::NOT_UTF8, at, "this is no UTF-8 text".to_owned(), None)
}

pub(crate) fn position_of(text: &str, offset: usize) -> Position {
    let before = text.get(..offset).unwrap_or_default();
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    let small = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    Position { line: small(line), column: small(column) }
}
