//! Reads and writes configuration files: whole or not at all, through no link that was not resolved when planning.
//!
//! Knows no client and no format. Start at [`apply`].

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use super::{ConnectError, FileEdit, Plan, RecordEdit};

/// Writes what the plan says. When a later file fails, the earlier ones are put back.
pub(super) fn apply(plan: &Plan) -> Result<(), ConnectError> {
    for edit in &plan.edits {
        if read(&edit.path)? != edit.before {
            return Err(ConnectError::Changed(edit.path.clone()));
        }
    }
    // The record comes first: were we to die after the next line, undo knows what to put back.
    if let RecordEdit::Write(path, record) = &plan.record {
        record.save(path)?;
    }
    for (done, edit) in plan.edits.iter().enumerate() {
        if let Err(source) = put(&edit.path, edit.after.as_deref()) {
            plan.edits.iter().take(done).for_each(put_back);
            return Err(ConnectError::Write { path: edit.path.clone(), source });
        }
    }
    if let RecordEdit::Remove(path) = &plan.record {
        remove(path).map_err(|source| ConnectError::Write { path: path.clone(), source })?;
    }
    Ok(())
}

/// A file's text; `None` when there is no such file.
pub(super) fn read(path: &Path) -> Result<Option<String>, ConnectError> {
    match fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => return Err(ConnectError::NotAFile(path.to_path_buf())),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(ConnectError::Read { path: path.to_path_buf(), source }),
    }
    fs::read_to_string(path).map(Some).map_err(|source| ConnectError::Read { path: path.to_path_buf(), source })
}

/// Replaces a file in one step, keeping its mode; `private` files are for their owner alone.
pub(super) fn replace(path: &Path, text: &str, private: Privacy) -> io::Result<()> {
    let folder = path.parent().ok_or_else(|| io::Error::other("a file without a folder"))?;
    fs::create_dir_all(folder)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".gatelatch-");
    #[cfg(unix)]
    if private == Privacy::AsUsual {
        use std::os::unix::fs::PermissionsExt as _;
        // Cut by the umask, as for any file that a program creates.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut temporary = builder.tempfile_in(folder)?;
    temporary.write_all(text.as_bytes())?;
    if let (Privacy::AsUsual, Ok(found)) = (private, fs::metadata(path)) {
        temporary.as_file().set_permissions(found.permissions())?;
    }
    temporary.as_file().sync_all()?;
    temporary.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Who may read a file that we write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Privacy {
    /// Whoever could before; the umask decides for a new one.
    AsUsual,
    /// Its owner alone.
    OwnerOnly,
}

fn put(path: &Path, text: Option<&str>) -> io::Result<()> {
    match text {
        Some(text) => replace(path, text, Privacy::AsUsual),
        None => remove(path),
    }
}

/// As far as it goes: the error that led here is the one to tell.
fn put_back(edit: &FileEdit) {
    let _ = put(&edit.path, edit.before.as_deref());
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
