//! Where an entry's program is: its interpreter, its entrypoint, its folder.
//!
//! Owns the look-up, for a run and for the question whether an entry is ready. Starts nothing. Start at `locate`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use gatelatch_registry::catalog::{CompiledFile, Entry, EntryManifest, Origin, Runtime};

use crate::cache;
use crate::host::Host;
use crate::readiness::NotReady;

/// A program and what stands before the call's own arguments.
pub(crate) struct Program {
    pub(crate) path: PathBuf,
    pub(crate) args: Vec<OsString>,
}

/// An entry's own files.
pub(crate) enum Files<'a> {
    OnDisk(&'a Path),
    /// Compiled in; the folder is where they are unpacked, be it there yet or not.
    Compiled(PathBuf, &'a [CompiledFile]),
}

impl<'a> Files<'a> {
    pub(crate) fn of(host: &Host, entry: &'a Entry) -> Files<'a> {
        match &entry.origin {
            Origin::Folder(folder) => Files::OnDisk(folder),
            Origin::Compiled(files) => Files::Compiled(cache::place(&host.cache_folder, files), files),
        }
    }

    pub(crate) fn folder(&self) -> &Path {
        match self {
            Files::OnDisk(folder) => folder,
            Files::Compiled(folder, _) => folder,
        }
    }

    fn has(&self, name: &str) -> bool {
        match self {
            Files::OnDisk(folder) => folder.join(name).is_file(),
            Files::Compiled(_, files) => files.iter().any(|file| file.path == name.trim_start_matches("./")),
        }
    }

    fn may_run(&self, name: &str) -> bool {
        match self {
            Files::OnDisk(folder) => is_executable(&folder.join(name)),
            // Unpacked so that its owner may run it.
            Files::Compiled(..) => true,
        }
    }
}

/// The program of an entry, or why it is not there.
pub(crate) fn locate(host: &Host, manifest: &EntryManifest, files: &Files<'_>) -> Result<Program, NotReady> {
    match manifest.runtime {
        Runtime::Python => interpreted(host, manifest, files, "python", &["python3", "python"]),
        Runtime::Node => interpreted(host, manifest, files, "node", &["node"]),
        Runtime::Process => process(host, manifest, files),
        Runtime::Builtin => Ok(Program {
            path: host.own_program.clone(),
            args: vec!["builtin".into(), manifest.entrypoint.clone().into()],
        }),
    }
}

fn interpreted(
    host: &Host,
    manifest: &EntryManifest,
    files: &Files<'_>,
    interpreter: &'static str,
    names: &[&str],
) -> Result<Program, NotReady> {
    let path = names.iter().find_map(|name| on_path(host, name));
    let path = path.ok_or(NotReady::NoInterpreter { interpreter })?;
    if !files.has(&manifest.entrypoint) {
        return Err(NotReady::NoEntrypoint { entrypoint: manifest.entrypoint.clone() });
    }
    let mut args = Vec::new();
    if manifest.runtime == Runtime::Python && matches!(files, Files::Compiled(..)) {
        // Byte code beside the sources would be a file that the cache does not know.
        args.push("-B".into());
    }
    args.push(files.folder().join(&manifest.entrypoint).into());
    Ok(Program { path, args })
}

/// A name with a slash, or of a file beside the manifest, is a path; any other is looked for on PATH.
fn process(host: &Host, manifest: &EntryManifest, files: &Files<'_>) -> Result<Program, NotReady> {
    let name = &manifest.entrypoint;
    let beside = files.has(name);
    if !beside && !name.contains(['/', std::path::MAIN_SEPARATOR]) {
        let path = on_path(host, name).ok_or_else(|| NotReady::NoProgram { program: name.clone() })?;
        return Ok(Program { path, args: Vec::new() });
    }
    if !beside {
        return Err(NotReady::NoEntrypoint { entrypoint: name.clone() });
    }
    if !files.may_run(name) {
        return Err(NotReady::NotExecutable { entrypoint: name.clone() });
    }
    Ok(Program { path: files.folder().join(name), args: Vec::new() })
}

fn on_path(host: &Host, name: &str) -> Option<PathBuf> {
    which::which_in(name, host.environment.get("PATH"), &host.working_folder).ok()
}

#[cfg(unix)]
pub(crate) fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
pub(crate) fn is_executable(path: &Path) -> bool {
    path.is_file()
}
