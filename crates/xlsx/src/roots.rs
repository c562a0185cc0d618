//! The folders within which workbooks are read and dumps are written.
//!
//! Owns the resolution of paths: what a symbolic link points at is what counts. Does not read the environment: whoever
//! calls passes the values in.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use crate::error::XlsxError;

/// The variable that names the folders to read from, separated as in `PATH`; unset means anywhere.
pub const READ_ROOTS: &str = "GATELATCH_XLSX_READ_ROOTS";
/// The variable that names the folders to write to, separated as in `PATH`; unset means the working folder.
pub const WRITE_ROOTS: &str = "GATELATCH_XLSX_WRITE_ROOTS";

/// Where this tool may read and write.
#[derive(Clone, Debug)]
pub struct Roots {
    working_folder: PathBuf,
    read: Option<Vec<PathBuf>>,
    write: Vec<PathBuf>,
}

impl Roots {
    /// `read` and `write` are the values of [`READ_ROOTS`] and [`WRITE_ROOTS`]. A variable that is set and empty opens
    /// nothing; a root that does not exist opens nothing either.
    pub fn new(working_folder: &Path, read: Option<&OsStr>, write: Option<&OsStr>) -> Roots {
        let list = |value: &OsStr| -> Vec<PathBuf> {
            std::env::split_paths(value)
                .filter(|root| !root.as_os_str().is_empty())
                .filter_map(|root| working_folder.join(root).canonicalize().ok())
                .collect()
        };
        Roots {
            working_folder: working_folder.to_owned(),
            read: read.map(list),
            write: match write {
                Some(value) => list(value),
                None => working_folder.canonicalize().into_iter().collect(),
            },
        }
    }

    /// The real path of a workbook that may be read.
    pub(crate) fn to_read(&self, path: &Path) -> Result<PathBuf, XlsxError> {
        let shown = path.display().to_string();
        if is_address(path) {
            return Err(XlsxError::NotLocal { path: shown });
        }
        let opened = |source| XlsxError::Open { path: shown.clone(), source };
        let resolved = self.working_folder.join(path).canonicalize();
        // Outside the roots "not found" and "found" look alike, so that nobody learns what lies there.
        let outside = match (&self.read, &resolved) {
            (None, _) => false,
            (Some(roots), Ok(real)) => !is_below(real, roots),
            (Some(roots), Err(_)) => !is_below(&lexical(&self.working_folder.join(path)), roots),
        };
        if outside {
            return Err(XlsxError::OutsideRoots { path: shown, doing: "read from", variable: READ_ROOTS });
        }
        let real = resolved.map_err(opened)?;
        // A pipe or a device would hang or never end.
        if !std::fs::metadata(&real).map_err(opened)?.is_file() {
            return Err(XlsxError::NotAFile { path: shown });
        }
        Ok(real)
    }

    /// The real path of a file that may be written: its folder exists and is resolved, its own name is as given.
    pub(crate) fn to_write(&self, path: &Path) -> Result<PathBuf, XlsxError> {
        let shown = path.display().to_string();
        if is_address(path) {
            return Err(XlsxError::NotLocal { path: shown });
        }
        let full = self.working_folder.join(path);
        let (Some(folder), Some(name)) = (full.parent(), full.file_name()) else {
            return Err(XlsxError::NotAFile { path: shown });
        };
        let folder = folder.canonicalize();
        let outside = match &folder {
            Ok(real) => !is_below(real, &self.write),
            Err(_) => !is_below(&lexical(&full), &self.write),
        };
        if outside {
            return Err(XlsxError::OutsideRoots { path: shown, doing: "write to", variable: WRITE_ROOTS });
        }
        let real = folder.map_err(|source| XlsxError::Write { path: shown.clone(), source })?.join(name);
        if real.is_dir() {
            return Err(XlsxError::NotAFile { path: shown });
        }
        Ok(real)
    }
}

/// `https://…` and the like, and the network shares of Windows: opening those would reach over the network.
fn is_address(path: &Path) -> bool {
    let network_share = path.components().next().is_some_and(|first| {
        matches!(first, Component::Prefix(prefix) if matches!(
            prefix.kind(),
            std::path::Prefix::UNC(..) | std::path::Prefix::VerbatimUNC(..)
        ))
    });
    let scheme = path.to_string_lossy().split_once("://").is_some_and(|(scheme, _)| {
        scheme.len() > 1 && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    });
    network_share || scheme
}

fn is_below(real: &Path, roots: &[PathBuf]) -> bool {
    roots.iter().any(|root| real.starts_with(root))
}

/// The path without `.` and `..`, for a file that does not exist and so cannot be resolved.
fn lexical(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(result: Result<PathBuf, XlsxError>) -> &'static str {
        result.map_or_else(|error| error.code(), |_| "allowed")
    }

    #[test]
    fn unset_roots_read_anywhere_and_write_below_the_working_folder_only() {
        let place = tempfile::tempdir().unwrap();
        let work = place.path().join("work");
        std::fs::create_dir(&work).unwrap();
        std::fs::write(place.path().join("a.xlsx"), "x").unwrap();
        let roots = Roots::new(&work, None, None);
        assert_eq!(code(roots.to_read(Path::new("../a.xlsx"))), "allowed");
        assert_eq!(code(roots.to_write(Path::new("out.txt"))), "allowed");
        assert_eq!(code(roots.to_write(Path::new("../out.txt"))), "outside_roots");
        assert_eq!(code(roots.to_write(Path::new("../nowhere/out.txt"))), "outside_roots");
        assert_eq!(code(roots.to_write(Path::new("missing/out.txt"))), "file_unwritable");
    }

    #[test]
    fn an_empty_list_of_roots_opens_nothing() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("a.xlsx"), "x").unwrap();
        let roots = Roots::new(place.path(), Some(OsStr::new("")), Some(OsStr::new("")));
        assert_eq!(code(roots.to_read(Path::new("a.xlsx"))), "outside_roots");
        assert_eq!(code(roots.to_write(Path::new("out.txt"))), "outside_roots");
    }

    #[cfg(unix)]
    #[test]
    fn a_symbolic_link_leads_nobody_out_of_the_roots() {
        let place = tempfile::tempdir().unwrap();
        let work = place.path().join("work");
        std::fs::create_dir(&work).unwrap();
        std::fs::write(place.path().join("secret.xlsx"), "x").unwrap();
        std::os::unix::fs::symlink(place.path(), work.join("out")).unwrap();
        std::os::unix::fs::symlink(place.path().join("secret.xlsx"), work.join("link.xlsx")).unwrap();
        let roots = Roots::new(&work, Some(work.as_os_str()), None);
        assert_eq!(code(roots.to_read(Path::new("link.xlsx"))), "outside_roots");
        assert_eq!(code(roots.to_read(Path::new("out/secret.xlsx"))), "outside_roots");
        assert_eq!(code(roots.to_write(Path::new("out/new.txt"))), "outside_roots");
    }

    #[test]
    fn what_lies_outside_the_roots_looks_the_same_whether_it_exists_or_not() {
        let place = tempfile::tempdir().unwrap();
        let work = place.path().join("work");
        std::fs::create_dir(&work).unwrap();
        std::fs::write(place.path().join("secret.xlsx"), "x").unwrap();
        let roots = Roots::new(&work, Some(work.as_os_str()), None);
        assert_eq!(code(roots.to_read(Path::new("../secret.xlsx"))), "outside_roots");
        assert_eq!(code(roots.to_read(Path::new("../absent.xlsx"))), "outside_roots");
        assert_eq!(code(roots.to_read(Path::new("absent.xlsx"))), "file_not_found");
    }

    #[test]
    fn an_address_and_a_folder_are_no_files() {
        let place = tempfile::tempdir().unwrap();
        let roots = Roots::new(place.path(), None, None);
        assert_eq!(code(roots.to_read(Path::new("https://example.com/a.xlsx"))), "not_local");
        assert_eq!(code(roots.to_read(Path::new("."))), "not_a_file");
    }
}
