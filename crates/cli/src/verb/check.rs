//! `gatelatch check`: every finding about every manifest, and what the gate makes of the actions.
//!
//! Writes nothing itself; with `--fix` the manifests are mended first, in [`mend`].

mod mend;

use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use gatelatch_chat::link::Linked;
use gatelatch_gate::decision::ruling;
use gatelatch_gate::declaration::{self, Loosening};
use gatelatch_manifest::diagnostic::{Diagnostic, Severity};
use gatelatch_manifest::read::MOST_BYTES;
use gatelatch_registry::catalog::{ActionManifest, Catalog, Entry, Kind};
use gatelatch_registry::load::Loaded;
use serde_json::{Value, json};

use crate::exit::Code;
use crate::file;
use crate::options::Place;
use crate::settings::{Environment, Settings};
use crate::surface::Declared;
use crate::surface::standing::LockState;
use crate::verb::{broken, load_catalog, print, print_advice, print_json, say, working_folder};

use mend::Mended;

/// A catalog's own list of its loosenings, so that a review sees each one appear.
const LIST: &str = "loosenings.txt";

/// Prints the findings, after mending what is certain if that is wanted; the exit code is that of a failure when an
/// error remains.
pub(crate) fn check(place: &Place, environment: &Environment, fix: bool, as_json: bool) -> anyhow::Result<Code> {
    let folder = working_folder()?;
    let settings = Settings::read(place, environment, &folder)?;
    let mended = if fix { Some(mend::mend(&settings)) } else { None };
    if fix && settings.catalogs.is_empty() {
        say("note: the catalog that ships is compiled in, so that there is nothing to mend; name one with --catalog");
    }
    let Loaded { catalog, mut findings } = load_catalog(&settings);
    let mendable = findings.iter().filter(|finding| finding.fix.is_some()).count();
    let published = Published::find(&settings, &folder, &catalog, &mut findings)?;
    let undeclared = declaration::undeclared(&catalog);
    let loosenings = declaration::loosenings(&catalog);
    let ignored = declaration::ignored_declarations(&catalog);
    let ignored: Vec<String> = ignored.iter().map(|found| format!("{}: {found}", found.place.file)).collect();
    let unlisted: Vec<String> = settings.catalogs.iter().flat_map(|folder| unlisted(folder, &loosenings)).collect();
    let errors = findings.iter().filter(|finding| finding.severity == Severity::Error).count();
    let code = if errors == 0 && unlisted.is_empty() { Code::Done } else { Code::Failed };
    let (entries, skills) = (catalog.entries().len(), catalog.skills().len());
    let loosenings: Vec<String> = loosenings.iter().map(ToString::to_string).collect();
    if as_json {
        let findings: Vec<_> = findings.iter().map(Diagnostic::to_value).collect();
        let undeclared: Vec<String> = undeclared.iter().map(ToString::to_string).collect();
        let mut report = json!({
            "findings": findings,
            "undeclared": undeclared,
            "ignored_declarations": ignored,
            "loosenings": loosenings,
            "unlisted_loosenings": unlisted,
            "entries": entries,
            "skills": skills,
            "chat_surface": published.as_ref().map(Published::to_value),
        });
        if let (Some(mended), Some(report)) = (&mended, report.as_object_mut()) {
            report.extend(mended.to_map());
        }
        print_json(&report, true)?;
        return Ok(code);
    }
    if let Some(mended) = &mended {
        print_mended(mended)?;
    }
    for finding in &findings {
        print(&format!("{finding}\n"))?;
    }
    section(
        "these ask a human only because no effect is declared; add `effect:` to each",
        undeclared.iter().map(|action| {
            format!("{action}; add `effect: read_only`, `reversible` or `irreversible` {}", action.place.in_file())
        }),
    )?;
    section(
        "these agents use what cannot be undone; once confirmed they run, but those calls of theirs are refused",
        catalog.entries().iter().filter_map(|entry| cannot_finish(&catalog, entry)),
    )?;
    section("these are milder than their name says, for the reason given", loosenings.into_iter())?;
    section(
        "error: the list of loosenings and the manifests differ; mend the list or the manifest",
        unlisted.into_iter(),
    )?;
    if let Some(published) = &published {
        print(&published.to_string())?;
    }
    print(&format!(
        "{}, {} load; {}, {}",
        counted(entries, "tool or agent", "tools and agents"),
        counted(skills, "skill", "skills"),
        counted(errors, "error", "errors"),
        counted(findings.len() - errors, "warning", "warnings")
    ))?;
    if !settings.catalogs.is_empty() && !findings.is_empty() {
        print_mendable(fix, mendable, findings.len())?;
    }
    Ok(code)
}

/// How much of what was found `--fix` mends, or has left.
fn print_mendable(fix: bool, mendable: usize, found: usize) -> anyhow::Result<()> {
    let others = match found - mendable {
        0 => String::new(),
        1 => "; the other one is yours to mend".to_owned(),
        many => format!("; the other {many} are yours to mend"),
    };
    match (fix, mendable, found) {
        (false, 1.., 1) => Ok(print_advice("`gatelatch check --fix` mends it, and what comes to light by that")?),
        (false, 1.., _) => {
            let told = format!("`gatelatch check --fix` mends {mendable} of these, and what comes to light by that");
            Ok(print_advice(&format!("{told}{others}"))?)
        }
        (true, _, 1) => Ok(print("what is certain is mended; this one is yours")?),
        (true, _, _) => Ok(print("what is certain is mended; these are yours")?),
        (false, _, _) => Ok(()),
    }
}

fn print_mended(mended: &Mended) -> anyhow::Result<()> {
    for fixed in &mended.fixed {
        print(&format!("fixed {fixed}"))?;
    }
    for left in &mended.left {
        print(&format!("left {left}"))?;
    }
    if !mended.is_empty() {
        print("")?;
    }
    Ok(())
}

/// What of the declaration of the chat surface can be served.
struct Published {
    file: String,
    tools: usize,
    left_out: Vec<String>,
    /// How its lock file stands to it; nothing where it has errors of its own.
    lock: Option<LockState>,
}

impl Published {
    /// Holds the declaration, if there is one, against the catalog; what is found is added to the findings.
    fn find(
        settings: &Settings,
        folder: &Path,
        catalog: &Catalog,
        findings: &mut Vec<Diagnostic>,
    ) -> anyhow::Result<Option<Published>> {
        let Some(declared) = Declared::find(None, settings, folder)? else { return Ok(None) };
        let linked = declared.link(catalog, &broken(findings));
        let standing = declared.standing(&linked);
        findings.extend(declared.findings);
        findings.extend(linked.findings);
        findings.extend(standing.findings().cloned());
        let Linked { tools, left_out, .. } = linked;
        Ok(Some(Published { file: declared.file, tools: tools.len(), left_out, lock: standing.lock }))
    }

    fn to_value(&self) -> Value {
        let lock = self.lock.map(LockState::as_str);
        json!({ "file": self.file, "tools": self.tools, "left_out": self.left_out, "lock": lock })
    }
}

impl fmt::Display for Published {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let left_out = match self.left_out.as_slice() {
            [] => String::new(),
            names => format!(", left out: {}", names.join(", ")),
        };
        let lock = if self.lock == Some(LockState::None) { "; no lock file beside it" } else { "" };
        write!(f, "chat surface {}: {}{left_out}{lock}", self.file, counted(self.tools, "tool", "tools"))
    }
}

/// What a catalog's list of loosenings lacks (`+`) or has too much (`-`); nothing where the catalog keeps no list.
fn unlisted(folder: &Path, loosenings: &[Loosening]) -> Vec<String> {
    let path: PathBuf = folder.join(LIST);
    let text = match file::text(&path, MOST_BYTES as u64) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Vec::new(),
        // What cannot be read might have lacked each of them.
        Err(error) => return vec![format!("{}: cannot be read: {error}", path.display())],
    };
    let listed: Vec<&str> =
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let stand: Vec<String> = loosenings
        .iter()
        .filter(|found| Path::new(&found.place.file).starts_with(folder))
        .map(ToString::to_string)
        .collect();
    let lacking = stand.iter().filter(|line| !listed.contains(&line.as_str())).map(|line| format!("+ {line}"));
    let gone = listed.iter().filter(|line| !stand.iter().any(|found| found == *line)).map(|line| format!("- {line}"));
    lacking.chain(gone).map(|line| format!("{}: {line}", path.display())).collect()
}

/// An agent whose own calls include one that needs a human, who is not there when the agent makes it.
fn cannot_finish(catalog: &Catalog, entry: &Entry) -> Option<String> {
    let needing = entry.manifest.uses.iter().find_map(|used| {
        let tool = catalog.entry(Kind::Tool, &used.tool)?;
        let named = |action: &&ActionManifest| used.action.is_none() || action.name == used.action;
        let action =
            tool.manifest.actions.iter().filter(named).find(|action| ruling(catalog, tool, action).needs_human)?;
        Some(format!("{}{}", used.tool, action.name.as_ref().map(|name| format!(".{name}")).unwrap_or_default()))
    })?;
    Some(format!("{}: agent {} uses {needing}", entry.file, entry.manifest.name))
}

fn counted(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

fn section(title: &str, lines: impl Iterator<Item = String>) -> anyhow::Result<()> {
    let mut lines = lines.peekable();
    if lines.peek().is_none() {
        return Ok(());
    }
    print(&format!("{title}:"))?;
    for line in lines {
        print(&format!("  {line}"))?;
    }
    Ok(print("")?)
}
