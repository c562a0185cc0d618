//! Files that are written whole or not at all. Knows no content. Start at [`write_whole`].

use std::io::{self, Write};
use std::path::Path;

/// Why a file was not written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write `{path}`")]
pub struct WriteError {
    /// The file.
    pub path: String,
    /// What the system said.
    #[source]
    pub source: io::Error,
}

/// Replaces a file in one step: whoever reads it meanwhile finds the old text or the new one.
///
/// # Errors
///
/// When the folder cannot be written to; the old file then stays.
pub fn write_whole(path: &Path, text: &str) -> Result<(), WriteError> {
    replace(path, text).map_err(|source| WriteError { path: path.display().to_string(), source })
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As any new file: the file mode mask takes from it what it must.
        let mode = std::fs::metadata(path).map_or(0o666, |old| old.permissions().mode() & 0o777);
        builder.permissions(std::fs::Permissions::from_mode(mode));
    }
    let mut file = builder.prefix(".").suffix(".new").tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_nothing_else_is_left_in_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("surface.lock.json");
        write_whole(&path, "one, and long\n").unwrap();
        write_whole(&path, "two\n").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "two\n");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let error = write_whole(&folder.path().join("none/x.json"), "").unwrap_err();
        assert!(error.to_string().contains("x.json"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_new_file_may_be_read_as_any_other_and_an_old_one_keeps_its_mode() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let (plain, path) = (folder.path().join("plain"), folder.path().join("lock"));
        std::fs::write(&plain, "").unwrap();
        write_whole(&path, "").unwrap();
        assert_eq!(mode(&path), mode(&plain));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        write_whole(&path, "x").unwrap();
        assert_eq!(mode(&path), 0o600);
    }
}
