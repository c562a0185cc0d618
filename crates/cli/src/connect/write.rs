//! Reads and writes configuration files: whole or not at all, through no link that was not resolved when planning.
//!
//! Knows no client and no format. Start at [`apply`].

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use tempfile::NamedTempFile;

use super::{ConnectError, FileEdit, Plan, RecordEdit};

/// Writes what the plan says. When a later file fails, the earlier ones are put back.
pub(super) fn apply(plan: &Plan) -> Result<(), ConnectError> {
    Ready::make(plan)?.finish()
}

/// A plan whose record and temporary files are written, so that all that is left is to look once more and to rename.
struct Ready<'a> {
    plan: &'a Plan,
    staged: Vec<(&'a FileEdit, Option<NamedTempFile>)>,
    /// The record that was there before.
    old_record: Option<String>,
}

impl<'a> Ready<'a> {
    fn make(plan: &'a Plan) -> Result<Ready<'a>, ConnectError> {
        plan.edits.iter().try_for_each(unchanged)?;
        let mut staged = Vec::new();
        for edit in &plan.edits {
            let temporary = edit.after.as_deref().map(|text| stage(&edit.path, text, Privacy::AsUsual)).transpose();
            staged.push((edit, temporary.map_err(|source| failed(&edit.path, source))?));
        }
        let mut old_record = None;
        // The record comes first: were we to die after the next line, undo knows what to put back.
        if let RecordEdit::Write(path, record) = &plan.record {
            old_record = read(path)?;
            record.save(path)?;
        }
        Ok(Ready { plan, staged, old_record })
    }

    fn finish(self) -> Result<(), ConnectError> {
        let Ready { plan, staged, old_record } = self;
        for (done, (edit, temporary)) in staged.into_iter().enumerate() {
            // INVARIANT: nothing but the rename stands between this look and what is written.
            // Kept by `what_somebody_else_wrote_after_the_record_is_not_lost`.
            let written = unchanged(edit).and_then(|()| {
                let put = match temporary {
                    Some(temporary) => temporary.persist(&edit.path).map(|_| ()).map_err(|error| error.error),
                    None => remove(&edit.path),
                };
                put.map_err(|source| failed(&edit.path, source))
            });
            if let Err(error) = written {
                plan.edits.iter().take(done).for_each(put_back);
                if let RecordEdit::Write(path, _) = &plan.record {
                    // As far as it goes: the error that led here is the one to tell.
                    let _ = match &old_record {
                        Some(text) => replace(path, text, Privacy::OwnerOnly),
                        None => remove(path),
                    };
                }
                return Err(error);
            }
        }
        if let RecordEdit::Remove(path) = &plan.record {
            remove(path).map_err(|source| failed(path, source))?;
        }
        Ok(())
    }
}

fn unchanged(edit: &FileEdit) -> Result<(), ConnectError> {
    if read(&edit.path)? == edit.before { Ok(()) } else { Err(ConnectError::Changed(edit.path.clone())) }
}

fn failed(path: &Path, source: io::Error) -> ConnectError {
    ConnectError::Write { path: path.to_path_buf(), source }
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
    stage(path, text, private)?.persist(path).map(|_| ()).map_err(|error| error.error)
}

/// The text in a file beside the one that it is to become.
fn stage(path: &Path, text: &str, private: Privacy) -> io::Result<NamedTempFile> {
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
    Ok(temporary)
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

/// As far as it goes: the error that led here is the one to tell. What somebody wrote meanwhile stays.
fn put_back(edit: &FileEdit) {
    if read(&edit.path).is_ok_and(|text| text == edit.after) {
        let _ = put(&edit.path, edit.before.as_deref());
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use super::super::{Client, Scope};
    use super::*;

    #[test]
    fn what_somebody_else_wrote_after_the_record_is_not_lost() {
        for client in [Client::Cursor, Client::Claude, Client::Codex] {
            let bench = Bench::new(client, Scope::Project);
            let plan = bench.plan();
            let ready = Ready::make(&plan).unwrap();
            let last = plan.edits.last().unwrap();
            fs::write(&last.path, "theirs").unwrap();
            assert!(matches!(ready.finish(), Err(ConnectError::Changed(path)) if path == last.path), "{client:?}");
            let left = bench.everything();
            assert_eq!(left.into_iter().collect::<Vec<_>>(), [(last.path.clone(), b"theirs".to_vec())], "{client:?}");
            let RecordEdit::Write(record, _) = &plan.record else { panic!("no record") };
            assert!(!record.exists(), "{client:?}");
        }
    }
}
