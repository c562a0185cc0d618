//! One catalog's files, whether they lie on disk or are compiled in: which entries there are, and their manifests'
//! bytes.
//!
//! Knows folders and files, not what a manifest says. Whatever cannot be read is a finding. Start at [`Shelf::open`].

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gatelatch_manifest::diagnostic::{Diagnostic, quoted};
use gatelatch_manifest::nearest::fold;
use gatelatch_manifest::read::{Beside, MOST_BYTES, too_large};
use gatelatch_manifest::rule;

use crate::catalog::{CompiledFile, Kind, Origin};
use crate::load::Source;

/// How findings name the folder of what is compiled in.
const COMPILED: &str = "<compiled-in>";

/// A catalog that can be looked through.
pub(crate) enum Shelf<'s> {
    /// A folder as the user named it, and the same absolute.
    Folder {
        named: &'s Path,
        absolute: PathBuf,
    },
    Compiled(&'static [CompiledFile]),
    /// What was reported as no catalog.
    Nothing,
}

/// An entry's folder, and how to get at what is in it.
pub(crate) struct Slot {
    pub(crate) kind: Kind,
    /// The folder's name.
    pub(crate) name: String,
    place: Place,
}

enum Place {
    /// The folder as findings name it, and the same absolute.
    Folder {
        named: PathBuf,
        absolute: PathBuf,
    },
    Compiled(Vec<CompiledFile>),
}

/// An entry's manifest and where the entry's other files are.
pub(crate) struct Found {
    pub(crate) kind: Kind,
    /// The folder's name.
    pub(crate) name: String,
    /// The manifest as findings name it.
    pub(crate) file: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) origin: Origin,
}

impl<'s> Shelf<'s> {
    pub(crate) fn open(source: &'s Source, findings: &mut Vec<Diagnostic>) -> Shelf<'s> {
        match source {
            Source::Compiled(files) => Shelf::Compiled(files),
            Source::Folder(named) => open_folder(named, findings),
        }
    }

    /// The folders of one kind's entries, by name.
    pub(crate) fn slots(&self, kind: Kind, findings: &mut Vec<Diagnostic>) -> Vec<Slot> {
        match self {
            Shelf::Nothing => Vec::new(),
            Shelf::Compiled(files) => compiled_slots(files, kind),
            Shelf::Folder { named, absolute } => folder_slots(named, absolute, kind, findings),
        }
    }
}

impl Slot {
    /// Reads the manifest; `None` where there is no entry, which is reported if it should be.
    pub(crate) fn open(self, findings: &mut Vec<Diagnostic>) -> Option<Found> {
        let Slot { kind, name, place } = self;
        match place {
            Place::Folder { named, absolute } => open_entry(named, absolute, name, kind, findings),
            Place::Compiled(files) => compiled_entry(files, name, kind, findings),
        }
    }
}

impl Found {
    /// What stands under a path relative to the entry's folder.
    pub(crate) fn beside(&self, path: &str) -> Beside {
        match &self.origin {
            Origin::Folder(folder) => on_disk(&folder.join(path)),
            Origin::Compiled(files) => among(files, path),
        }
    }
}

fn open_folder<'s>(named: &'s Path, findings: &mut Vec<Diagnostic>) -> Shelf<'s> {
    let label = named.display().to_string();
    let fault = match fs::metadata(named) {
        Ok(metadata) if metadata.is_dir() => None,
        Ok(_) => Some("the catalog is no folder".to_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Some("there is no such catalog folder".to_owned()),
        Err(error) => Some(format!("the catalog folder cannot be read: {}", error.kind())),
    };
    if let Some(message) = fault {
        findings.push(Diagnostic::whole_file(&rule::CATALOG_MISSING, &label, message));
        return Shelf::Nothing;
    }
    if !Kind::ALL.iter().any(|kind| named.join(kind.folder()).exists()) {
        let message = "the catalog folder holds no `tools/`, `agents/` or `skills/`".to_owned();
        findings.push(Diagnostic::whole_file(&rule::EMPTY_CATALOG, &label, message));
    }
    let absolute = std::path::absolute(named).unwrap_or_else(|_| named.to_owned());
    Shelf::Folder { named, absolute }
}

fn folder_slots(named: &Path, absolute: &Path, kind: Kind, findings: &mut Vec<Diagnostic>) -> Vec<Slot> {
    let folder = named.join(kind.folder());
    let names = match names_in(&folder) {
        Ok(names) => names,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Vec::new(),
        Err(error) => {
            findings.push(unreadable(&folder, &error));
            return Vec::new();
        }
    };
    let absolute = absolute.join(kind.folder());
    let place = |name: &str| Place::Folder { named: folder.join(name), absolute: absolute.join(name) };
    names.into_iter().map(|name| Slot { kind, place: place(&name), name }).collect()
}

/// The names in a folder, sorted, without those that begin with a dot.
fn names_in(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for item in fs::read_dir(folder)? {
        // A name that is no text cannot be an entry's; its manifest would say another name anyway.
        names.push(item?.file_name().to_string_lossy().into_owned());
    }
    names.retain(|name| !name.starts_with('.'));
    names.sort();
    Ok(names)
}

fn open_entry(
    named: PathBuf,
    absolute: PathBuf,
    name: String,
    kind: Kind,
    findings: &mut Vec<Diagnostic>,
) -> Option<Found> {
    let manifest = named.join(kind.file());
    let read = read_file(&manifest);
    // Where a manifest was read there is a folder; else it is asked what is there instead.
    if !matches!(read, Ok(Some(_))) {
        match fs::metadata(&named) {
            Ok(metadata) if metadata.is_dir() => {}
            Ok(_) => {
                findings.extend(stray_file(&named, &name, kind));
                return None;
            }
            Err(error) => {
                findings.push(unreadable(&named, &error));
                return None;
            }
        }
    }
    match read {
        Ok(Some(bytes)) => {
            let file = manifest.display().to_string();
            Some(Found { kind, name, file, bytes, origin: Origin::Folder(absolute) })
        }
        Ok(None) => {
            findings.push(no_manifest(&named, kind));
            None
        }
        Err(finding) => {
            findings.push(*finding);
            None
        }
    }
}

/// A manifest's bytes; `None` when there is no such file. Nothing but a regular file is opened, since a pipe would
/// never
/// end, and nothing larger than a manifest may be is read.
fn read_file(path: &Path) -> Result<Option<Vec<u8>>, Box<Diagnostic>> {
    let label = path.display().to_string();
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound && fs::symlink_metadata(path).is_err() => {
            return Ok(None);
        }
        Err(error) => return Err(Box::new(unreadable(path, &error))),
    };
    if !metadata.is_file() {
        let message = "the manifest is no regular file".to_owned();
        return Err(Box::new(Diagnostic::whole_file(&rule::UNREADABLE, &label, message)));
    }
    if metadata.len() > MOST_BYTES as u64 {
        return Err(Box::new(too_large(&label)));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0) + 1);
    let read = fs::File::open(path).and_then(|file| file.take(MOST_BYTES as u64 + 1).read_to_end(&mut bytes));
    match read {
        Ok(_) => Ok(Some(bytes)),
        Err(error) => Err(Box::new(unreadable(path, &error))),
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Diagnostic {
    let message = format!("it cannot be read: {}", error.kind());
    Diagnostic::whole_file(&rule::UNREADABLE, &path.display().to_string(), message)
}

fn no_manifest(folder: &Path, kind: Kind) -> Diagnostic {
    let message = format!("the folder holds no `{}`", kind.file());
    let mut finding = Diagnostic::whole_file(&rule::NO_MANIFEST, &folder.display().to_string(), message);
    let near = names_in(folder).unwrap_or_default().into_iter().find(|name| means_manifest(name, kind));
    if let Some(near) = near {
        finding.help = Some(format!("rename {} to `{}`", quoted(&near), kind.file()));
    }
    finding
}

/// Whether a file's name is a misspelling of a manifest's: another case, another ending, or just `manifest`.
fn means_manifest(name: &str, kind: Kind) -> bool {
    let stem = |name: &str| fold(name.split('.').next().unwrap_or_default());
    let ending = name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    let endings: &[&str] = if kind == Kind::Skill { &["md", "markdown"] } else { &["yaml", "yml", "json"] };
    endings.contains(&ending.as_str()) && (stem(name) == stem(kind.file()) || stem(name) == "manifest")
}

/// A manifest that lies where folders of entries belong is pointed out; other files there are nobody's business.
fn stray_file(path: &Path, name: &str, kind: Kind) -> Option<Diagnostic> {
    let ending = name.rsplit('.').next().unwrap_or_default();
    let stray = matches!(ending, "yaml" | "yml") || name == kind.file();
    stray.then(|| {
        let message = format!("a file lies where each {} has a folder of its own", kind.as_str());
        let mut finding = Diagnostic::whole_file(&rule::NO_MANIFEST, &path.display().to_string(), message);
        finding.help = Some(format!("move it to `{}/<name>/{}`", kind.folder(), kind.file()));
        finding
    })
}

fn on_disk(path: &Path) -> Beside {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => Beside::File,
        Ok(metadata) if metadata.is_dir() => Beside::Folder,
        Ok(_) | Err(_) => Beside::Nothing,
    }
}

fn compiled_slots(files: &'static [CompiledFile], kind: Kind) -> Vec<Slot> {
    let mut folders: BTreeMap<&'static str, Vec<CompiledFile>> = BTreeMap::new();
    for file in files {
        let inside = file.path.strip_prefix(kind.folder()).and_then(|path| path.strip_prefix('/'));
        if let Some((name, path)) = inside.and_then(|path| path.split_once('/'))
            && !name.starts_with('.')
        {
            folders.entry(name).or_default().push(CompiledFile { path, bytes: file.bytes });
        }
    }
    let slot = |(name, files): (&str, _)| Slot { kind, name: name.to_owned(), place: Place::Compiled(files) };
    folders.into_iter().map(slot).collect()
}

fn compiled_entry(files: Vec<CompiledFile>, name: String, kind: Kind, findings: &mut Vec<Diagnostic>) -> Option<Found> {
    let folder = format!("{COMPILED}/{}/{name}", kind.folder());
    let Some(manifest) = files.iter().find(|file| file.path == kind.file()) else {
        let message = format!("the folder holds no `{}`", kind.file());
        findings.push(Diagnostic::whole_file(&rule::NO_MANIFEST, &folder, message));
        return None;
    };
    let (file, bytes) = (format!("{folder}/{}", kind.file()), manifest.bytes.to_vec());
    Some(Found { kind, name, file, bytes, origin: Origin::Compiled(Arc::from(files)) })
}

/// What stands under a path among compiled-in files. An absolute path is one of the machine that it will run on.
fn among(files: &[CompiledFile], path: &str) -> Beside {
    if path.starts_with('/') {
        return on_disk(Path::new(path));
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let path = parts.join("/");
    if files.iter().any(|file| file.path == path) {
        Beside::File
    } else if files.iter().any(|file| file.path.strip_prefix(path.as_str()).is_some_and(|rest| rest.starts_with('/'))) {
        Beside::Folder
    } else {
        Beside::Nothing
    }
}
