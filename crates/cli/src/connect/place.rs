//! Where a configuration file is: as the user names it, and the file itself.
//!
//! Owns what holds for all clients: links of the user's own are followed, links out of a project are not. Reads the disk
//! and writes nothing. Start at [`Target::find`].

use std::path::{Path, PathBuf};
use std::{fs, io};

use super::{ConnectError, ConnectRequest, Scope, Surroundings};

/// A configuration file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// As the user knows it.
    pub(super) named: PathBuf,
    /// The file itself, links followed.
    pub(super) real: PathBuf,
}

impl Target {
    /// The file that is meant, once it is known how the user calls it.
    pub(super) fn find(
        named: PathBuf,
        request: &ConnectRequest,
        surroundings: &Surroundings,
    ) -> Result<Target, ConnectError> {
        let real = resolved(&named)?;
        if request.scope == Scope::Project {
            let around = repository(&surroundings.working_folder).or(named.parent()).unwrap_or(&named);
            stays_inside(around, &named, &real)?;
        }
        Ok(Target { named, real })
    }
}

/// A project's file: the nearest one that is there, from the working folder to the repository's root, else the one at
/// the project's root.
pub(super) fn project_file(working_folder: &Path, name: &str) -> PathBuf {
    let root = project_root(working_folder);
    let within = working_folder.ancestors().take_while(|folder| folder.starts_with(&root));
    let there = within.map(|folder| folder.join(name)).find(|path| is_there(path));
    there.unwrap_or_else(|| root.join(name))
}

/// The folder with `.git` around this one, else this one.
pub(super) fn project_root(working_folder: &Path) -> PathBuf {
    repository(working_folder).unwrap_or(working_folder).to_path_buf()
}

/// The folder with `.git` around this one.
pub(super) fn repository(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|ancestor| is_there(&ancestor.join(".git")))
}

/// Whether there is something, be it a link that leads nowhere.
pub(super) fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Follows links, since replacing one would cut it. A link that leads nowhere is an error.
pub(super) fn resolved(named: &Path) -> Result<PathBuf, ConnectError> {
    let Some(found) = named.ancestors().find(|path| is_there(path)) else { return Ok(named.to_path_buf()) };
    match fs::canonicalize(found) {
        Ok(real) if found == named => Ok(real),
        Ok(_) => Ok(named.to_path_buf()),
        Err(source) => Err(match fs::read_link(found) {
            Ok(to) if source.kind() == io::ErrorKind::NotFound => {
                ConnectError::Dangling { path: found.to_path_buf(), to }
            }
            _ => ConnectError::Read { path: found.to_path_buf(), source },
        }),
    }
}

/// A project may come from anywhere, so a link in it must not choose which file of the user's is written.
fn stays_inside(root: &Path, named: &Path, real: &Path) -> Result<(), ConnectError> {
    if real.parent().is_some_and(|folder| canonical(folder).starts_with(canonical(root))) {
        Ok(())
    } else {
        Err(ConnectError::LeavesProject { path: named.to_path_buf(), real: canonical(real) })
    }
}

/// A path with the links in it followed, as far as it is there.
fn canonical(path: &Path) -> PathBuf {
    match (fs::canonicalize(path), path.parent(), path.file_name()) {
        (Ok(found), _, _) => found,
        (Err(_), Some(parent), Some(name)) => canonical(parent).join(name),
        _ => path.to_path_buf(),
    }
}
