//! `check --fix`: mends the manifests of catalogs on disk, and writes an effect where none is declared.
//!
//! Owns which files are written and how: whole or not at all, through no link that leaves the catalog. Which mends are
//! certain is said by [`gatelatch_manifest::mend`]. Nothing is written that would have more errors than before, or by
//! which an action would become milder. Start at [`mend`].

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use gatelatch_gate::declaration::{self, Standing};
use gatelatch_gate::name::NameReading;
use gatelatch_manifest::diagnostic::{Diagnostic, Severity};
use gatelatch_manifest::document::{EntryManifest, Kind};
use gatelatch_manifest::mend::{Fix, apply, effect_stub};
use gatelatch_manifest::read::{self, Beside};
use gatelatch_manifest::rule;
use gatelatch_registry::catalog::{Effect, Entry, Origin};
use serde_json::{Map, Value, json};

use crate::settings::Settings;
use crate::verb::load_catalog;

/// How often a file is read again for what came to light when it was mended.
const REPEATS: usize = 9;
/// How many fixes are tried one by one when all together would do harm.
const TRIED_SINGLY: usize = 50;

/// What was done, and what could not be.
#[derive(Debug, Default)]
pub(super) struct Mended {
    pub(super) fixed: Vec<Fixed>,
    /// Each with its file and the reason.
    pub(super) left: Vec<String>,
}

/// One change of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fixed {
    file: String,
    /// Where the change stands in the file now.
    line: usize,
    done: String,
}

impl fmt::Display for Fixed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.done)
    }
}

impl Mended {
    pub(super) fn is_empty(&self) -> bool {
        self.fixed.is_empty() && self.left.is_empty()
    }

    /// The keys that the report has for it.
    pub(super) fn to_map(&self) -> Map<String, Value> {
        let fixed = |fixed: &Fixed| json!({"file": fixed.file, "line": fixed.line, "message": fixed.done});
        let fixed: Vec<Value> = self.fixed.iter().map(fixed).collect();
        Map::from_iter([("fixed".to_owned(), Value::from(fixed)), ("left".to_owned(), json!(self.left))])
    }
}

/// Mends every manifest in the catalogs that are folders.
pub(super) fn mend(settings: &Settings) -> Mended {
    let mut mended = Mended::default();
    let with_fix = load_catalog(settings).findings.into_iter().filter(|finding| finding.fix.is_some());
    let files: BTreeSet<String> = with_fix.map(|finding| finding.file).collect();
    for file in files {
        with_manifest(settings, &file, &mut mended, mend_findings);
    }
    let mut undeclared: BTreeMap<String, Vec<Option<String>>> = BTreeMap::new();
    for found in declaration::undeclared(&load_catalog(settings).catalog) {
        undeclared.entry(found.place.file).or_default().push(found.place.action);
    }
    for (file, actions) in undeclared {
        with_manifest(settings, &file, &mut mended, |manifest, text| declare(manifest, text, &actions));
    }
    mended
}

/// What mending a text gave: the text, what was done, what was left.
struct Draft {
    text: Vec<u8>,
    fixed: Vec<Fixed>,
    left: Vec<String>,
}

/// Opens a manifest, has it mended and writes it, if it lies in a catalog on disk.
fn with_manifest(
    settings: &Settings,
    file: &str,
    mended: &mut Mended,
    change: impl FnOnce(&Manifest, Vec<u8>) -> Draft,
) {
    let Some(catalog) = settings.catalogs.iter().find(|catalog| Path::new(file).starts_with(catalog)) else { return };
    let opened = Manifest::open(catalog, file).and_then(|manifest| {
        let before = manifest.bytes()?;
        let draft = change(&manifest, before.clone());
        if draft.text != before {
            manifest.replace(&before, &draft.text)?;
        }
        Ok(draft)
    });
    match opened {
        Ok(draft) => {
            mended.fixed.extend(draft.fixed);
            mended.left.extend(draft.left);
        }
        Err(reason) => {
            let left = format!("{file}: {reason}");
            if !mended.left.contains(&left) {
                mended.left.push(left);
            }
        }
    }
}

/// A manifest that may be written.
struct Manifest {
    kind: Kind,
    /// The file as findings name it.
    file: String,
    /// The entry's folder, and its name.
    folder: PathBuf,
    name: String,
    /// The file itself, links followed.
    target: PathBuf,
}

impl Manifest {
    fn open(catalog: &Path, file: &str) -> Result<Manifest, String> {
        let path = Path::new(file);
        let kind = Kind::ALL.into_iter().find(|kind| path.ends_with(kind.file())).ok_or("it is no manifest")?;
        let folder = path.parent().ok_or("it lies in no folder")?;
        let name = folder.file_name().and_then(|name| name.to_str()).ok_or("its folder's name is no text")?;
        let cannot = |error: io::Error| format!("it cannot be read: {}", error.kind());
        let target = path.canonicalize().map_err(cannot)?;
        if !target.starts_with(catalog.canonicalize().map_err(cannot)?) {
            return Err("it is a link out of the catalog, and what it leads to is not changed".to_owned());
        }
        if fs::metadata(&target).map_err(cannot)?.permissions().readonly() {
            return Err("it may not be written".to_owned());
        }
        Ok(Manifest { kind, file: file.to_owned(), folder: folder.to_owned(), name: name.to_owned(), target })
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        fs::read(&self.target).map_err(|error| format!("it cannot be read: {}", error.kind()))
    }

    /// Writes the file in one step, keeping its mode, unless somebody else has written it meanwhile.
    fn replace(&self, before: &[u8], after: &[u8]) -> Result<(), String> {
        if self.bytes()? != before {
            return Err("somebody else has changed it meanwhile; run the command again".to_owned());
        }
        replace(&self.target, after).map_err(|error| format!("it cannot be written: {error}"))
    }

    fn read(&self, bytes: &[u8]) -> Reading {
        let beside = |path: &str| match fs::metadata(self.folder.join(path)) {
            Ok(found) if found.is_file() => Beside::File,
            Ok(found) if found.is_dir() => Beside::Folder,
            Ok(_) | Err(_) => Beside::Nothing,
        };
        match self.kind {
            Kind::Tool => Reading::of(read::tool(&self.file, &self.name, bytes, &beside)),
            Kind::Agent => Reading::of(read::agent(&self.file, &self.name, bytes, &beside)),
            Kind::Skill => {
                let read = read::skill(&self.file, &self.name, bytes, &beside);
                Reading { document: None, findings: read.findings }
            }
        }
    }

    fn entry(&self, manifest: EntryManifest) -> Entry {
        Entry { manifest, origin: Origin::Folder(self.folder.clone()), file: self.file.clone() }
    }
}

/// What reading a manifest gave, of whatever kind.
struct Reading {
    document: Option<EntryManifest>,
    findings: Vec<Diagnostic>,
}

impl Reading {
    fn of(read: read::Read<EntryManifest>) -> Reading {
        Reading { document: read.document, findings: read.findings }
    }

    fn errors(&self) -> usize {
        self.findings.iter().filter(|finding| finding.severity == Severity::Error).count()
    }

    fn fixable(&self) -> Vec<&Diagnostic> {
        self.findings.iter().filter(|finding| finding.fix.is_some()).collect()
    }
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().ok_or_else(|| io::Error::other("a file without a folder"))?;
    let mut temporary = tempfile::Builder::new().prefix(".gatelatch-").tempfile_in(folder)?;
    temporary.write_all(bytes)?;
    temporary.as_file().set_permissions(fs::metadata(path)?.permissions())?;
    temporary.as_file().sync_all()?;
    temporary.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Applies what the findings say, and what comes to light by it, a few times over.
fn mend_findings(manifest: &Manifest, original: Vec<u8>) -> Draft {
    let mut fixed = Vec::new();
    let mut text = original.clone();
    let mut reading = manifest.read(&text);
    let errors = reading.errors();
    for _ in 0..=REPEATS {
        let fixes = harmless(manifest, &text, &reading);
        if fixes.is_empty() {
            break;
        }
        let (after, applied) = apply(&text, &fixes);
        fixed.extend(told(manifest, &after, &fixes, &applied));
        text = after;
        reading = manifest.read(&text);
    }
    if reading.errors() > errors {
        let left = format!("{}: what can be mended is mended by hand, since more errors come to light", manifest.file);
        return Draft { text: original, fixed: Vec::new(), left: vec![left] };
    }
    let left = match (reading.fixable().len(), harmless(manifest, &text, &reading).is_empty()) {
        (0, _) => Vec::new(),
        (_, false) => vec![format!("{}: more came to light; run the command again", manifest.file)],
        (number, true) => {
            let mends = if number == 1 { "1 mend".to_owned() } else { format!("{number} mends") };
            let why = "it would have more errors, or an action a milder effect";
            vec![format!("{}: {mends} by hand, since with it {why}", manifest.file)]
        }
    };
    Draft { text, fixed, left }
}

/// All fixes if they do no harm together, else those that do none one after the other.
fn harmless(manifest: &Manifest, text: &[u8], reading: &Reading) -> Vec<Fix> {
    let found = reading.fixable();
    let fixes: Vec<Fix> = found.iter().filter_map(|finding| finding.fix.as_deref().cloned()).collect();
    if fixes.is_empty() || does_no_harm(manifest, text, reading, &fixes) {
        return fixes;
    }
    let mut chosen: Vec<Fix> = Vec::new();
    for fix in fixes.into_iter().take(TRIED_SINGLY) {
        chosen.push(fix);
        if !does_no_harm(manifest, text, reading, &chosen) {
            chosen.pop();
        }
    }
    chosen
}

fn does_no_harm(manifest: &Manifest, text: &[u8], before: &Reading, fixes: &[Fix]) -> bool {
    let mended = apply(text, fixes).0;
    let after = manifest.read(&mended);
    let milder = match (&before.document, &after.document) {
        (Some(before), Some(after)) => is_milder(manifest, before, after),
        _ => false,
    };
    let renamed = old_name(manifest, text, before, fixes);
    errors_in_the_end(manifest, mended) <= before.errors()
        && !milder
        && !renamed.is_some_and(|old| says_less(manifest, &old, &after))
}

/// The errors that remain when everything is mended that comes to light: a syntax error hides whatever follows it.
fn errors_in_the_end(manifest: &Manifest, mut text: Vec<u8>) -> usize {
    let mut reading = manifest.read(&text);
    for _ in 0..REPEATS {
        let fixes: Vec<Fix> = reading.findings.iter().filter_map(|found| found.fix.as_deref().cloned()).collect();
        if fixes.is_empty() {
            break;
        }
        text = apply(&text, &fixes).0;
        reading = manifest.read(&text);
    }
    reading.errors()
}

/// Whether an action's effect became milder.
fn is_milder(manifest: &Manifest, before: &EntryManifest, after: &EntryManifest) -> bool {
    let (before, after) = (manifest.entry(before.clone()), manifest.entry(after.clone()));
    after.manifest.actions.iter().any(|action| {
        let old = before.manifest.actions.iter().find(|old| old.name == action.name);
        old.is_some_and(|old| {
            Standing::of(&after, action).effect() < Standing::of(&before, old).effect()
                || (old.approval && !action.approval)
        })
    })
}

/// The entry's name as it stands, if one of the fixes writes the folder's in its place.
fn old_name(manifest: &Manifest, text: &[u8], before: &Reading, fixes: &[Fix]) -> Option<String> {
    let names = [rule::NAME_NOT_FOLDER.code, rule::NAME_FORM.code];
    let of_name = |finding: &&Diagnostic| names.contains(&finding.code) && manifest.kind != Kind::Skill;
    let fix = before
        .findings
        .iter()
        .filter(of_name)
        .filter_map(|finding| finding.fix.as_deref())
        .find(|fix| fixes.contains(fix) && fix.replacement.trim_matches(['"', '\'']) == manifest.name)?;
    let old = text.get(fix.range.clone()).and_then(|old| std::str::from_utf8(old).ok())?;
    Some(old.trim_matches(['"', '\'']).to_owned())
}

/// Whether the folder's name says a milder effect than the name that stood there: an author may have meant the latter.
fn says_less(manifest: &Manifest, old: &str, after: &Reading) -> bool {
    if let Some(document) = &after.document {
        let before = EntryManifest { name: old.to_owned(), ..document.clone() };
        return is_milder(manifest, &before, document);
    }
    let alone = |name: &str| NameReading::of(name, None).alone().map_or(Effect::Irreversible, |says| says.effect);
    // Single letters say nothing, so that this is what the entry's name adds to any action.
    let added = |name: &str| NameReading::of(name, Some("x")).strictest.map(|says| says.effect);
    alone(&manifest.name) < alone(old) || added(&manifest.name) < added(old)
}

/// Writes an effect into each action that declares none.
fn declare(manifest: &Manifest, text: Vec<u8>, actions: &[Option<String>]) -> Draft {
    let before = manifest.read(&text);
    let mut draft = Draft { text: text.clone(), fixed: Vec::new(), left: Vec::new() };
    let mut fixes = Vec::new();
    for action in actions {
        let stub = effect_stub(manifest.kind, &text, action.as_deref()).filter(|stub| {
            let after = manifest.read(&apply(&text, stub).0);
            let declared = after.document.as_ref().and_then(|document| {
                document.actions.iter().find(|found| found.name == *action).and_then(|found| found.effect)
            });
            after.errors() <= before.errors() && declared == Some(Effect::Irreversible)
        });
        match stub {
            Some(stub) => fixes.extend(stub),
            None => {
                let of = action.as_ref().map(|name| format!(" of action `{name}`")).unwrap_or_default();
                draft.left.push(format!("{}: write `effect:`{of} by hand", manifest.file));
            }
        }
    }
    let (after, applied) = apply(&text, &fixes);
    if manifest.read(&after).errors() <= before.errors() {
        draft.fixed = told(manifest, &after, &fixes, &applied);
        draft.text = after;
    }
    draft
}

/// What was done, each with its line in the text as it is now.
fn told(manifest: &Manifest, after: &[u8], fixes: &[Fix], applied: &[usize]) -> Vec<Fixed> {
    let mut grown: isize = 0;
    let mut fixed: Vec<Fixed> = Vec::new();
    for fix in applied.iter().filter_map(|index| fixes.get(*index)) {
        let below = fix.replacement.bytes().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        let place = fix.range.start.saturating_add_signed(grown) + below;
        let before = after.get(..place.min(after.len())).unwrap_or_default();
        let line = before.split(|byte| *byte == b'\n').count();
        let one = Fixed { file: manifest.file.clone(), line, done: fix.done.clone() };
        if fixed.last() != Some(&one) {
            fixed.push(one);
        }
        let removed = fix.range.len();
        grown += fix.replacement.len() as isize - removed as isize;
    }
    fixed
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const RIGHT: &str = "name: notes\ndescription: Keeps notes.\nruntime: process\nentrypoint: echo\nlimits: {timeout_s: 5}\nactions:\n  - name: frobnicate\n    description: Do it.\n    effect: reversible\n    approval: true\n    args:\n      - {name: a, type: integer, default: 3, required: true}\n    triggers: [x]\n";

    fn manifest() -> Manifest {
        let folder = PathBuf::from("mine/tools/notes");
        let (file, target) = ("mine/tools/notes/tool.yaml".to_owned(), folder.join("tool.yaml"));
        Manifest { kind: Kind::Tool, file, folder, name: "notes".to_owned(), target }
    }

    /// A manifest with pieces cut out and others put in anywhere.
    fn mutated() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop::sample::select(vec![
            "",
            "x",
            "s",
            " ",
            "\n",
            "'",
            "\"",
            ":",
            "- ",
            "{",
            "}",
            ",",
            "\u{200b}",
            "\u{feff}",
            "yes",
            "no",
            "\t",
            "# ",
            "name: a\n",
            "effect:",
            "delete-",
            "\r\n",
        ]);
        prop::collection::vec((any::<prop::sample::Index>(), 0usize..4, piece), 1..5).prop_map(|edits| {
            let mut characters: Vec<char> = RIGHT.chars().collect();
            for (place, length, piece) in edits {
                let start = place.index(characters.len() + 1);
                let end = (start + length).min(characters.len());
                characters.splice(start..end, piece.chars());
            }
            characters.into_iter().collect::<String>().into_bytes()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn mending_adds_no_error_and_done_twice_does_nothing_more(text in mutated()) {
            let manifest = manifest();
            let before = manifest.read(&text);
            let draft = mend_findings(&manifest, text.clone());
            let after = manifest.read(&draft.text);
            let shown = String::from_utf8_lossy(&draft.text).into_owned();
            prop_assert!(after.errors() <= before.errors(), "{shown}");
            prop_assert_eq!(draft.text == text, draft.fixed.is_empty(), "{}", shown);
            let again = mend_findings(&manifest, draft.text.clone());
            prop_assert_eq!(&again.text, &draft.text);
            prop_assert!(again.fixed.is_empty());
        }

        #[test]
        fn mending_a_manifest_that_loads_makes_no_action_milder(text in mutated()) {
            let manifest = manifest();
            let after = manifest.read(&mend_findings(&manifest, text.clone()).text);
            if let (Some(before), Some(after)) = (manifest.read(&text).document, after.document) {
                prop_assert!(!is_milder(&manifest, &before, &after));
            }
        }
    }

    #[test]
    fn an_effect_is_written_where_none_is_declared_and_only_there() {
        let text = RIGHT.replace("    effect: reversible\n", "").replace("    approval: true\n", "");
        let draft = declare(&manifest(), text.clone().into_bytes(), &[Some("frobnicate".to_owned())]);
        let line = "    effect: irreversible  # say read_only or reversible if that is true\n";
        let expected = text.replace("Do it.\n", &format!("Do it.\n{line}"));
        assert_eq!(String::from_utf8(draft.text).unwrap(), expected);
        assert_eq!(draft.fixed.iter().map(|fixed| fixed.line).collect::<Vec<_>>(), [9]);
        let absent = declare(&manifest(), text.clone().into_bytes(), &[Some("absent".to_owned())]);
        assert_eq!((absent.text, absent.left.len()), (text.into_bytes(), 1));
    }
}
