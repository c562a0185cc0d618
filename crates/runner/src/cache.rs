//! Compiled-in programs on disk, since an interpreter needs a file.
//!
//! Each set of files has a folder of its own, named by their content, in a folder that only its owner may enter. Before
//! each use every file is held against the compiled one, byte for byte; nothing more and nothing less may be there. What
//! differs is replaced. Several processes may do all this at once: whoever writes holds a lock. Start at [`unpack`].

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use gatelatch_registry::catalog::CompiledFile;
use sha2::{Digest, Sha256};

/// The folder's name within the cache folder.
const FOLDER: &str = "programs";
/// The lock's name beside the sets of files. It is held only to write.
const LOCK: &str = ".lock";

/// Why compiled-in files cannot be run from the cache.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// Somebody else could have written what would be run.
    #[error("cache folder `{folder}` is not safe to run programs from: {why}\nhelp: remove it, it is made again")]
    Unsafe {
        /// Its path.
        folder: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The disk did not do it.
    #[error("cannot unpack a compiled-in program to `{folder}`")]
    Unpack {
        /// Where to.
        folder: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

/// Where files are unpacked, be they there yet or not.
pub fn place(cache_folder: &Path, files: &[CompiledFile]) -> PathBuf {
    cache_folder.join(FOLDER).join(name(files))
}

/// Makes sure that exactly these files are in their place, and returns it.
pub fn unpack(cache_folder: &Path, files: &[CompiledFile]) -> Result<PathBuf, CacheError> {
    let root = cache_folder.join(FOLDER);
    let place = root.join(name(files));
    if holds_exactly(&place, files) && check_root(&root).is_ok() {
        return Ok(place);
    }
    let failed = |source| CacheError::Unpack { folder: place.clone(), source };
    make_private_folder(&root).map_err(failed)?;
    check_root(&root)?;
    let lock = lock(&root).map_err(failed)?;
    // Whoever held the lock before may have done it.
    if !holds_exactly(&place, files) {
        replace(&root, &place, files).map_err(failed)?;
    }
    drop(lock);
    match holds_exactly(&place, files) {
        true => Ok(place),
        false => Err(CacheError::Unsafe { folder: place, why: "its files change while they are looked at" }),
    }
}

/// The content's name. Lengths stand before texts, so that no two sets of files have one name.
fn name(files: &[CompiledFile]) -> String {
    let mut hash = Sha256::new();
    for file in files {
        for part in [file.path.as_bytes(), file.bytes] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn check_root(root: &Path) -> Result<(), CacheError> {
    let unsafe_for = |why| CacheError::Unsafe { folder: root.to_owned(), why };
    let metadata = root.symlink_metadata().map_err(|source| CacheError::Unpack { folder: root.to_owned(), source })?;
    if !metadata.is_dir() {
        return Err(unsafe_for("it is no folder"));
    }
    if !is_ours(&metadata) {
        return Err(unsafe_for("it belongs to somebody else"));
    }
    if !is_private(&metadata) {
        return Err(unsafe_for("others may enter it"));
    }
    Ok(())
}

/// Whether a folder holds these files, unchanged, and nothing else. Any doubt is a no.
fn holds_exactly(place: &Path, files: &[CompiledFile]) -> bool {
    let mut found = BTreeSet::new();
    if gather(place, Path::new(""), &mut found).is_none() {
        return false;
    }
    let expected: BTreeSet<PathBuf> = files.iter().map(|file| PathBuf::from(file.path)).collect();
    found == expected && files.iter().all(|file| fs::read(place.join(file.path)).is_ok_and(|bytes| bytes == file.bytes))
}

/// Every file below a folder; `None` when anything is not a plain file or folder that only we may touch.
fn gather(place: &Path, below: &Path, found: &mut BTreeSet<PathBuf>) -> Option<()> {
    // Never `place.join("")`: the slash at its end would follow a link.
    let path = if below.as_os_str().is_empty() { place.to_owned() } else { place.join(below) };
    let metadata = path.symlink_metadata().ok()?;
    if !is_ours(&metadata) || !is_private(&metadata) {
        return None;
    }
    if metadata.is_file() {
        found.insert(below.to_owned());
        return Some(());
    }
    if !metadata.is_dir() {
        return None;
    }
    for child in fs::read_dir(path).ok()? {
        gather(place, &below.join(child.ok()?.file_name()), found)?;
    }
    Some(())
}

/// Writes the files elsewhere and moves them into place whole. The lock is held.
fn replace(root: &Path, place: &Path, files: &[CompiledFile]) -> io::Result<()> {
    let (fresh, old) = (root.join(".new"), root.join(".old"));
    // Left by a process that died here.
    remove(&fresh)?;
    remove(&old)?;
    make_private_folder(&fresh)?;
    for file in files {
        write(&fresh, file)?;
    }
    if place.symlink_metadata().is_ok() {
        tracing::warn!(folder = %place.display(), "an unpacked program was changed by somebody and is replaced");
        fs::rename(place, &old)?;
    }
    fs::rename(&fresh, place)?;
    remove(&old)
}

/// Removes whatever is there, and follows no link.
fn remove(path: &Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Waits until nobody else writes. Dropping the file lets the next one write.
fn lock(root: &Path) -> io::Result<fs::File> {
    let lock = fs::OpenOptions::new().create(true).truncate(false).write(true).open(root.join(LOCK))?;
    lock.lock()?;
    Ok(lock)
}

fn write(folder: &Path, file: &CompiledFile) -> io::Result<()> {
    let relative = Path::new(file.path);
    if !relative.components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let path = folder.join(relative);
    if let Some(parent) = path.parent() {
        make_private_folder(parent)?;
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o700);
    options.open(path)?.write_all(file.bytes)
}

fn make_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(unix)]
fn is_ours(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    metadata.uid() == rustix::process::geteuid().as_raw()
}

#[cfg(unix)]
fn is_private(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    metadata.mode() & 0o077 == 0
}

/// On Windows a user's cache folder is the user's own by what it inherits.
#[cfg(not(unix))]
fn is_ours(_metadata: &Metadata) -> bool {
    true
}

#[cfg(not(unix))]
fn is_private(_metadata: &Metadata) -> bool {
    true
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    const FILES: &[CompiledFile] = &[
        CompiledFile { path: "main.py", bytes: b"print(1)\n" },
        CompiledFile { path: "lib/part.py", bytes: b"x = 1\n" },
    ];

    /// Unpacks, lets `tamper` at it, unpacks again and holds that all is as it was.
    fn check_mends(tamper: impl FnOnce(&Path)) {
        let cache = tempfile::tempdir().unwrap();
        let place = unpack(cache.path(), FILES).unwrap();
        tamper(&place);
        assert!(!holds_exactly(&place, FILES), "the change is not seen");
        assert_eq!(unpack(cache.path(), FILES).unwrap(), place);
        assert!(holds_exactly(&place, FILES));
        assert_only(&place);
    }

    /// Nothing is left beside a set of files but the lock.
    fn assert_only(place: &Path) {
        let beside = fs::read_dir(place.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
        let beside: Vec<PathBuf> = beside.filter(|path| !path.ends_with(LOCK)).collect();
        assert_eq!(beside, [place]);
    }

    #[test]
    fn files_are_unpacked_for_their_owner_alone() {
        let cache = tempfile::tempdir().unwrap();
        let place = unpack(&cache.path().join("new/folder"), FILES).unwrap();
        assert_eq!(fs::read(place.join("lib/part.py")).unwrap(), b"x = 1\n");
        for path in [place.as_path(), place.parent().unwrap(), &place.join("lib"), &place.join("main.py")] {
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o700, "{}", path.display());
        }
        assert_eq!(place, super::place(&cache.path().join("new/folder"), FILES));
    }

    #[test]
    fn what_is_unchanged_is_used_as_it_is() {
        let cache = tempfile::tempdir().unwrap();
        let place = unpack(cache.path(), FILES).unwrap();
        let made = place.join("main.py").metadata().unwrap().modified().unwrap();
        unpack(cache.path(), FILES).unwrap();
        assert_eq!(place.join("main.py").metadata().unwrap().modified().unwrap(), made);
    }

    #[test]
    fn a_changed_file_is_replaced() {
        check_mends(|place| fs::write(place.join("main.py"), "print(2)\n").unwrap());
    }

    #[test]
    fn an_added_file_is_removed() {
        check_mends(|place| {
            fs::write(place.join("json.py"), "evil").unwrap();
            fs::set_permissions(place.join("json.py"), fs::Permissions::from_mode(0o700)).unwrap();
        });
    }

    #[test]
    fn a_missing_file_is_put_back() {
        check_mends(|place| fs::remove_file(place.join("lib/part.py")).unwrap());
    }

    #[test]
    fn a_link_is_no_file() {
        check_mends(|place| {
            let elsewhere = place.parent().unwrap().parent().unwrap().join("elsewhere.py");
            fs::write(&elsewhere, "print(1)\n").unwrap();
            fs::set_permissions(&elsewhere, fs::Permissions::from_mode(0o700)).unwrap();
            fs::remove_file(place.join("main.py")).unwrap();
            symlink(&elsewhere, place.join("main.py")).unwrap();
        });
    }

    #[test]
    fn a_file_that_others_may_write_is_replaced() {
        check_mends(|place| {
            fs::set_permissions(place.join("main.py"), fs::Permissions::from_mode(0o722)).unwrap();
        });
    }

    #[test]
    fn a_folder_that_is_a_link_is_replaced() {
        check_mends(|place| {
            let elsewhere = place.parent().unwrap().parent().unwrap().join("elsewhere");
            fs::rename(place, &elsewhere).unwrap();
            symlink(&elsewhere, place).unwrap();
        });
    }

    #[test]
    fn a_cache_folder_that_others_may_enter_is_refused() {
        let cache = tempfile::tempdir().unwrap();
        let place = unpack(cache.path(), FILES).unwrap();
        fs::set_permissions(place.parent().unwrap(), fs::Permissions::from_mode(0o755)).unwrap();
        let error = unpack(cache.path(), FILES).unwrap_err();
        assert!(matches!(error, CacheError::Unsafe { why: "others may enter it", .. }), "{error}");
    }

    #[test]
    fn a_cache_folder_that_is_a_link_is_refused() {
        let cache = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        symlink(elsewhere.path(), cache.path().join(FOLDER)).unwrap();
        let error = unpack(cache.path(), FILES).unwrap_err();
        assert!(matches!(error, CacheError::Unsafe { why: "it is no folder", .. }), "{error}");
    }

    #[test]
    fn a_path_that_leaves_the_folder_is_refused() {
        let cache = tempfile::tempdir().unwrap();
        for path in ["../main.py", "/main.py"] {
            let files = [CompiledFile { path, bytes: b"" }];
            assert!(matches!(unpack(cache.path(), &files), Err(CacheError::Unpack { .. })));
        }
    }

    #[test]
    fn two_sets_of_files_never_share_a_name() {
        let one = [CompiledFile { path: "ab", bytes: b"c" }];
        let two = [CompiledFile { path: "a", bytes: b"bc" }];
        assert_ne!(name(&one), name(&two));
    }

    #[test]
    fn many_may_unpack_at_once() {
        for _ in 0..20 {
            let cache = tempfile::tempdir().unwrap();
            let together = std::sync::Barrier::new(8);
            std::thread::scope(|scope| {
                let unpack = || {
                    together.wait();
                    unpack(cache.path(), FILES).unwrap()
                };
                let threads: Vec<_> = (0..8).map(|_| scope.spawn(unpack)).collect();
                for thread in threads {
                    assert!(holds_exactly(&thread.join().unwrap(), FILES));
                }
            });
            assert_only(&place(cache.path(), FILES));
        }
    }

    #[test]
    fn what_a_process_left_that_died_unpacking_is_in_nobodys_way() {
        check_mends(|place| {
            fs::create_dir(place.with_file_name(".new")).unwrap();
            fs::write(place.with_file_name(".new").join("main.py"), "half").unwrap();
            symlink("/nowhere", place.with_file_name(".old")).unwrap();
            fs::remove_file(place.join("main.py")).unwrap();
        });
    }
}
