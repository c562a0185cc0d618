//! A declaration as the contract sees it: a version, the list that would be published, and the lock file of both.
//!
//! Owns that nothing is compared or locked which could not be served. Where a declaration is found is another's business,
//! and what it must agree on with the catalog the chat surface's. Start at [`open_agreed`].

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use gatelatch_chat::{published, shipped};
use gatelatch_contract::list::ToolList;
use gatelatch_contract::lock::Lock;
use gatelatch_contract::version::SurfaceVersion;
use gatelatch_manifest::diagnostic::Diagnostic;
use gatelatch_manifest::surface::SurfaceManifest;
use serde_json::{Value, json};

use crate::exit::UsageError;
use crate::options::Place;
use crate::settings::{Environment, Settings};
use crate::surface::{self, review::waiting};
use crate::verb::verify::{read, unusable};
use crate::verb::{broken, load_catalog, say, working_folder};

/// What was found wrong in a declaration, in its agreement with the catalog or in its lock file: no fault of the command.
#[derive(Debug)]
pub(super) struct Wrong {
    /// The stable word for it.
    name: &'static str,
    message: String,
    help: Option<String>,
    findings: Vec<Diagnostic>,
}

impl Wrong {
    pub(super) fn new(name: &'static str, message: String, help: Option<String>) -> Wrong {
        Wrong { name, message, help, findings: Vec::new() }
    }

    /// For other programs.
    pub(super) fn to_value(&self) -> Value {
        let findings: Vec<Value> = self.findings.iter().map(Diagnostic::to_value).collect();
        json!({ "error": self.name, "message": self.message, "help": self.help, "findings": findings })
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.help.as_ref().map_or(Ok(()), |help| write!(f, "\n  help: {help}"))
    }
}

impl std::error::Error for Wrong {}

/// A declaration that was read and found right in itself.
pub(super) struct Declared {
    /// Its file as it is told.
    pub(super) shown: String,
    pub(super) manifest: SurfaceManifest,
    pub(super) version: SurfaceVersion,
    /// What would be published.
    pub(super) tools: ToolList,
    /// Where its lock file belongs; nothing for the one that ships.
    pub(super) lock_path: Option<PathBuf>,
    /// The lines that wait for somebody, each with its number.
    pub(super) waiting: Vec<(usize, String)>,
}

impl Declared {
    /// Its lock file, if there is one.
    pub(super) fn lock(&self) -> anyhow::Result<Option<Lock>> {
        let Some(path) = &self.lock_path else {
            return Lock::parse(shipped::LOCK).map(Some).context("cannot use the lock file that ships");
        };
        let way_out = || Some("take back the one that was agreed upon, from version control".to_owned());
        if std::fs::metadata(path).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
            return Ok(None);
        }
        let text = read(path).map_err(|error| UsageError { help: way_out(), ..error })?;
        let lock = Lock::parse(&text).map_err(|error| unusable(path, &error).message);
        Ok(Some(lock.map_err(|message| Wrong::new("lock_unusable", message, way_out()))?))
    }
}

/// The declaration that is meant, read.
pub(super) fn open(place: &Place, environment: &Environment, named: Option<&Path>) -> anyhow::Result<Declared> {
    let folder = working_folder()?;
    let settings = Settings::read(place, environment, &folder)?;
    declared(surface::Declared::require(named, &settings, &folder)?)
}

/// The same, if the server would serve all of it. What disagrees with the catalog is told on standard error.
pub(super) fn open_agreed(place: &Place, environment: &Environment, named: Option<&Path>) -> anyhow::Result<Declared> {
    let folder = working_folder()?;
    let settings = Settings::read(place, environment, &folder)?;
    let found = surface::Declared::require(named, &settings, &folder)?;
    manifest(&found)?;
    let loaded = load_catalog(&settings);
    let linked = found.link(&loaded.catalog, &broken(&loaded.findings));
    for finding in found.findings.iter().chain(&linked.findings) {
        say(&finding.to_string());
    }
    if linked.left_out.is_empty() {
        return declared(found);
    }
    let names: Vec<String> = linked.left_out.iter().map(|name| format!("`{name}`")).collect();
    let (names, verb) = (names.join(", "), if names.len() == 1 { "disagrees" } else { "disagree" });
    let message = format!("{names} of {} {verb} with the catalog and would not be served", found.file);
    let help = "mend the declaration or the manifest, as is told above; `gatelatch check` tells it again".to_owned();
    let wrong = Wrong::new("catalog_disagrees", message, Some(help));
    Err(Wrong { findings: linked.findings, ..wrong }.into())
}

/// What it says, or what is wrong with it.
fn manifest(found: &surface::Declared) -> Result<&SurfaceManifest, Wrong> {
    found.manifest().map_err(|UsageError { message, help }| Wrong {
        findings: found.findings.clone(),
        ..Wrong::new("declaration_broken", message, help)
    })
}

fn declared(found: surface::Declared) -> anyhow::Result<Declared> {
    let manifest = manifest(&found)?.clone();
    // The reader lets no other version pass; this crate has the type.
    let version = SurfaceVersion::parse(&manifest.surface_version).map_err(|error| {
        let at = manifest.surface_version_position;
        Wrong::new("declaration_broken", format!("{}:{}:{}: {error}", found.file, at.line, at.column), None)
    })?;
    let tools = ToolList::of_published(&published::tools(&manifest))?;
    let waiting = waiting(&found.text);
    Ok(Declared { lock_path: found.lock_path(), shown: found.file, manifest, version, tools, waiting })
}
