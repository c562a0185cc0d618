//! Which declaration of the chat surface holds, and what it says.
//!
//! Owns the order in which it is looked for and what is read of it. What it must agree with is the chat surface's
//! judgement. Start at [`Declared::find`].

pub(crate) mod review;
pub(crate) mod standing;

use std::path::{Path, PathBuf};

use gatelatch_bridge::bridge::Broken;
use gatelatch_chat::link::{Declaration, Linked, link};
use gatelatch_chat::shipped;
use gatelatch_manifest::diagnostic::{Diagnostic, render};
use gatelatch_manifest::read::{self, MOST_BYTES, Read};
use gatelatch_manifest::surface::SurfaceManifest;
use gatelatch_registry::catalog::Catalog;

use crate::exit::UsageError;
use crate::file;
use crate::settings::Settings;

/// The declaration's name, where a catalog folder holds it.
pub(crate) const FILE: &str = "chat_surface.yaml";

/// How findings name the declaration that ships.
const COMPILED: &str = "<compiled-in>/chat_surface.yaml";

/// A declaration as it was found.
#[derive(Debug)]
pub(crate) struct Declared {
    /// As findings name it.
    pub(crate) file: String,
    /// Where it lies; `None` for the one that ships, which is compiled in.
    pub(crate) path: Option<PathBuf>,
    pub(crate) text: String,
    /// What it says; `None` where it has errors.
    pub(crate) manifest: Option<SurfaceManifest>,
    /// What is wrong with the file by itself.
    pub(crate) findings: Vec<Diagnostic>,
}

impl Declared {
    /// The declaration for a command typed in `folder`: the one that is named, else the one of the settings, else that of
    /// the first catalog folder that has one, else, where the catalog that ships is served, the one that ships with it.
    pub(crate) fn find(
        named: Option<&Path>,
        settings: &Settings,
        folder: &Path,
    ) -> Result<Option<Declared>, UsageError> {
        if let Some(path) = named.map(Path::to_owned).or_else(|| settings.chat_surface.clone()) {
            return Declared::read(path, folder).map(Some);
        }
        // Whatever bears the name is meant: a link that leads nowhere is an error, not an absence.
        let is_there = |path: &PathBuf| folder.join(path).symlink_metadata().is_ok();
        if let Some(path) = settings.catalogs.iter().map(|catalog| catalog.join(FILE)).find(is_there) {
            return Declared::read(path, folder).map(Some);
        }
        Ok(settings
            .catalogs
            .is_empty()
            .then(|| Declared::of(COMPILED.to_owned(), None, shipped::DECLARATION.as_bytes())))
    }

    /// The same, where there must be one.
    pub(crate) fn require(named: Option<&Path>, settings: &Settings, folder: &Path) -> Result<Declared, UsageError> {
        Declared::find(named, settings, folder)?.ok_or_else(|| {
            // Where it will be found.
            let place = settings.catalogs.first().map_or_else(|| PathBuf::from(FILE), |catalog| catalog.join(FILE));
            UsageError::new(
                format!("no catalog folder has a `{FILE}`, which declares what chat clients see"),
                format!(
                    "draft one with `gatelatch contract init TOOL.ACTION… --out {}`, or name it with --surface",
                    place.display()
                ),
            )
        })
    }

    /// What it says, or everything that is wrong with the file.
    pub(crate) fn manifest(&self) -> Result<&SurfaceManifest, UsageError> {
        let wrong = || UsageError { message: render(&self.findings).trim_end().to_owned(), help: None };
        self.manifest.as_ref().ok_or_else(wrong)
    }

    /// Where its lock file belongs: beside it. `None` for the one that ships.
    pub(crate) fn lock_path(&self) -> Option<PathBuf> {
        self.path.as_ref().map(|path| path.with_extension("lock.json"))
    }

    /// What of it agrees with a catalog; nothing where the file has errors.
    pub(crate) fn link(&self, catalog: &Catalog, broken: &[Broken]) -> Linked {
        let Some(manifest) = &self.manifest else { return Linked::default() };
        link(&Declaration { file: &self.file, text: &self.text, manifest }, catalog, broken)
    }

    fn read(path: PathBuf, folder: &Path) -> Result<Declared, UsageError> {
        let file = path.display().to_string();
        let cannot = |why: String| {
            let message = format!("cannot read the declaration of the chat surface `{file}`: {why}");
            UsageError::new(
                message,
                "name a file that is there with --surface, GATELATCH_CHAT_SURFACE or `chat_surface`",
            )
        };
        let place = folder.join(&path);
        let bytes = file::read(&place, MOST_BYTES as u64).map_err(|error| cannot(error.to_string()))?;
        Ok(Declared::of(file, Some(place), &bytes))
    }

    fn of(file: String, path: Option<PathBuf>, bytes: &[u8]) -> Declared {
        let Read { document, findings } = read::surface(&file, bytes);
        let text = String::from_utf8_lossy(bytes).into_owned();
        Declared { file, path, text, manifest: document, findings }
    }
}
