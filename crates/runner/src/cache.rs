//! Compiled-in programs on disk, since an interpreter needs a file.
//!
//! Each set of files has a folder of its own, named by their content, in a folder that only its owner may enter. Before
//! each use every file is held against the compiled one, byte for byte; nothing more and nothing less may be there. What
//! differs is replaced. Several processes may do all this at once: whoever writes holds a lock, and nobody waits for it
//! for ever. All of it blocks, so it is no work for a thread that others wait for. Start at [`unpack`].

use std::collections::BTreeSet;
use std::fs::{self, Metadata};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use gatelatch_registry::catalog::CompiledFile;
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

/// The folder's name within the cache folder.
const FOLDER: &str = "programs";
/// The lock's name beside the sets of files. It is held only to write.
const LOCK: &str = ".lock";
/// How often a lock that another process holds is tried.
const LOOK: Duration = Duration::from_millis(10);

/// Why compiled-in files cannot be run from the cache.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// Somebody else could have written what would be run.
    #[error("`{path}` is not safe to run programs from: {danger}")]
    Unsafe {
        /// The folder or file.
        path: PathBuf,
        /// What is wrong with it.
        danger: Danger,
    },
    /// Another process writes and does not come to an end.
    #[error("another process held the lock `{lock}` for {} s", waited.as_secs_f64())]
    Locked {
        /// Its path.
        lock: PathBuf,
        /// How long it was waited for.
        waited: Duration,
    },
    /// Whoever wanted the files does not want them any more.
    #[error("given up")]
    GivenUp,
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

/// What is wrong with a folder or file of the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Danger {
    /// Its owner can change it.
    #[error("it belongs to somebody else")]
    NotOurs,
    /// A file, or a link.
    #[error("it is no folder")]
    NoFolder,
    /// By its group or by everybody.
    #[error("others may write it")]
    Writable,
    /// By its group or by everybody.
    #[error("others may enter it")]
    Open,
    /// A link, a pipe, a folder: opening it might follow it or wait for ever.
    #[error("it is no regular file")]
    NoFile,
    /// Somebody writes into it without the lock.
    #[error("its files change while they are looked at")]
    Changing,
}

impl CacheError {
    /// What to do about it.
    pub fn help(&self) -> String {
        let elsewhere = "name a folder of your own in GATELATCH_CACHE";
        match self {
            CacheError::Unsafe { danger: Danger::NotOurs, .. } => elsewhere.to_owned(),
            CacheError::Unsafe { path, danger: Danger::Writable } => {
                format!("`chmod go-w {}`, or {elsewhere}", path.display())
            }
            CacheError::Unsafe { path, .. } => {
                format!("remove `{}` and it is made again, or {elsewhere}", path.display())
            }
            CacheError::Locked { .. } => format!("end that process, or {elsewhere}"),
            CacheError::GivenUp => "try again".to_owned(),
            CacheError::Unpack { .. } => format!("make room there and let it be written, or {elsewhere}"),
        }
    }
}

/// How long whoever wants the files waits for another process that writes.
#[derive(Clone, Debug)]
pub struct Patience {
    /// At most.
    pub within: Duration,
    /// Ends the wait early.
    pub given_up: CancellationToken,
}

/// Where files are unpacked, be they there yet or not.
pub fn place(cache_folder: &Path, files: &[CompiledFile]) -> PathBuf {
    cache_folder.join(FOLDER).join(name(files))
}

/// Makes sure that exactly these files are in their place, and returns it. Blocks.
pub fn unpack(cache_folder: &Path, files: &[CompiledFile], patience: &Patience) -> Result<PathBuf, CacheError> {
    let root = cache_folder.join(FOLDER);
    let place = root.join(name(files));
    let failed = |source| CacheError::Unpack { folder: place.clone(), source };
    // One after the other: nothing is made in a folder that is not ours.
    make_private_folder(cache_folder).map_err(failed)?;
    check_cache_folder(cache_folder)?;
    make_private_folder(&root).map_err(failed)?;
    check_root(&root)?;
    if holds_exactly(&place, files) {
        return Ok(place);
    }
    let lock = lock(&root, patience)?;
    // Whoever held the lock before may have done it.
    if !holds_exactly(&place, files) {
        replace(&root, &place, files).map_err(failed)?;
    }
    drop(lock);
    match holds_exactly(&place, files) {
        true => Ok(place),
        false => Err(CacheError::Unsafe { path: place, danger: Danger::Changing }),
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

/// Nobody else may put another folder in the cache folder's place, nor write into it.
fn check_cache_folder(folder: &Path) -> Result<(), CacheError> {
    let link = look(folder, Path::symlink_metadata)?;
    let metadata = look(folder, Path::metadata)?;
    // A link leads to wherever its owner wants it to.
    if !is_ours(&metadata) || (link.is_symlink() && !is_ours(&link)) {
        return Err(unsafe_for(folder, Danger::NotOurs));
    }
    if !metadata.is_dir() {
        return Err(unsafe_for(folder, Danger::NoFolder));
    }
    if may_be_written_by_others(&metadata) {
        return Err(unsafe_for(folder, Danger::Writable));
    }
    let real = folder.canonicalize().map_err(|source| CacheError::Unpack { folder: folder.to_owned(), source })?;
    for above in real.ancestors().skip(1) {
        if is_free_for_all(&look(above, Path::metadata)?) {
            return Err(unsafe_for(above, Danger::Writable));
        }
    }
    Ok(())
}

fn check_root(root: &Path) -> Result<(), CacheError> {
    let metadata = look(root, Path::symlink_metadata)?;
    if !metadata.is_dir() {
        return Err(unsafe_for(root, Danger::NoFolder));
    }
    if !is_ours(&metadata) {
        return Err(unsafe_for(root, Danger::NotOurs));
    }
    if !is_private(&metadata) {
        return Err(unsafe_for(root, Danger::Open));
    }
    Ok(())
}

fn unsafe_for(path: &Path, danger: Danger) -> CacheError {
    CacheError::Unsafe { path: path.to_owned(), danger }
}

fn look(path: &Path, how: impl FnOnce(&Path) -> io::Result<Metadata>) -> Result<Metadata, CacheError> {
    how(path).map_err(|source| CacheError::Unpack { folder: path.to_owned(), source })
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
fn lock(root: &Path, patience: &Patience) -> Result<fs::File, CacheError> {
    let path = root.join(LOCK);
    let failed = |source| CacheError::Unpack { folder: root.to_owned(), source };
    let lock = open_lock(&path)?;
    let since = Instant::now();
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(lock),
            Err(fs::TryLockError::WouldBlock) => {}
            Err(fs::TryLockError::Error(source)) => return Err(failed(source)),
        }
        if patience.given_up.is_cancelled() {
            return Err(CacheError::GivenUp);
        }
        if since.elapsed() >= patience.within {
            return Err(CacheError::Locked { lock: path, waited: patience.within });
        }
        thread::sleep(LOOK);
    }
}

/// Opens the lock without following a link and without waiting for the other end of a pipe.
fn open_lock(path: &Path) -> Result<fs::File, CacheError> {
    let failed = |source| CacheError::Unpack { folder: path.to_owned(), source };
    if path.symlink_metadata().is_ok_and(|there| !there.is_file()) {
        return Err(unsafe_for(path, Danger::NoFile));
    }
    let mut options = fs::OpenOptions::new();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        options.mode(0o600).custom_flags(flags.bits().cast_signed());
    }
    let lock = options.open(path).map_err(failed)?;
    // It may have been exchanged since it was looked at.
    if !lock.metadata().map_err(failed)?.is_file() {
        return Err(unsafe_for(path, Danger::NoFile));
    }
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

#[cfg(unix)]
fn may_be_written_by_others(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    metadata.mode() & 0o022 != 0
}

/// Whether everybody may rename what others have in it, as nobody may in a sticky folder like `/tmp`.
#[cfg(unix)]
fn is_free_for_all(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    metadata.mode() & 0o002 != 0 && metadata.mode() & 0o1000 == 0
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

#[cfg(not(unix))]
fn may_be_written_by_others(_metadata: &Metadata) -> bool {
    false
}

#[cfg(not(unix))]
fn is_free_for_all(_metadata: &Metadata) -> bool {
    false
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    /// Longer than anything here may wait; reached only by what hangs.
    const LONG: Duration = Duration::from_secs(15);

    fn unpack(cache_folder: &Path, files: &[CompiledFile]) -> Result<PathBuf, CacheError> {
        super::unpack(cache_folder, files, &Patience { within: LONG, given_up: CancellationToken::new() })
    }

    fn check_refused(cache_folder: &Path, path: &Path, danger: Danger) {
        match unpack(cache_folder, FILES) {
            Err(error @ CacheError::Unsafe { .. }) => {
                assert!(error.help().contains("GATELATCH_CACHE"), "{}", error.help());
                let CacheError::Unsafe { path: told, danger: why } = error else { unreachable!() };
                assert_eq!((told.as_path(), why), (path, danger));
            }
            other => panic!("{other:?}"),
        }
    }

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
        let root = place.parent().unwrap();
        fs::set_permissions(root, fs::Permissions::from_mode(0o755)).unwrap();
        check_refused(cache.path(), root, Danger::Open);
    }

    #[test]
    fn a_cache_folder_that_is_a_link_is_refused() {
        let cache = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let root = cache.path().join(FOLDER);
        symlink(elsewhere.path(), &root).unwrap();
        check_refused(cache.path(), &root, Danger::NoFolder);
    }

    #[test]
    fn a_cache_folder_that_others_may_write_is_refused() {
        let above = tempfile::tempdir().unwrap();
        let cache = above.path().join("gatelatch");
        unpack(&cache, FILES).unwrap();
        for mode in [0o777, 0o1777, 0o770, 0o720] {
            fs::set_permissions(&cache, fs::Permissions::from_mode(mode)).unwrap();
            check_refused(&cache, &cache, Danger::Writable);
        }
        fs::set_permissions(&cache, fs::Permissions::from_mode(0o755)).unwrap();
        unpack(&cache, FILES).unwrap();
    }

    #[test]
    fn above_the_cache_folder_nobody_else_may_rename_it() {
        let above = tempfile::tempdir().unwrap();
        let folder = above.path().canonicalize().unwrap();
        let cache = folder.join("gatelatch");
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
        check_refused(&cache, &folder, Danger::Writable);
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o1777)).unwrap();
        unpack(&cache, FILES).unwrap();
    }

    #[test]
    fn a_cache_folder_of_somebody_else_is_refused_and_nothing_is_made_in_it() {
        let above = tempfile::tempdir().unwrap();
        let cache = above.path().join("gatelatch");
        fs::create_dir(&cache).unwrap();
        if std::os::unix::fs::chown(&cache, Some(65_534), Some(65_534)).is_err() {
            eprintln!("skipped: only root can give a folder away");
            return;
        }
        fs::set_permissions(&cache, fs::Permissions::from_mode(0o755)).unwrap();
        check_refused(&cache, &cache, Danger::NotOurs);
        assert!(!cache.join(FOLDER).exists());

        let own = above.path().join("own");
        fs::create_dir(&own).unwrap();
        let link = above.path().join("link");
        symlink(&own, &link).unwrap();
        unpack(&link, FILES).unwrap();
        std::os::unix::fs::lchown(&link, Some(65_534), None).unwrap();
        check_refused(&link, &link, Danger::NotOurs);
    }

    #[test]
    fn a_lock_that_is_no_regular_file_is_refused_and_never_waited_for() {
        let cache = tempfile::tempdir().unwrap();
        let root = cache.path().join(FOLDER);
        make_private_folder(&root).unwrap();
        let lock = root.join(LOCK);
        let make: [&dyn Fn(); 3] = [
            &|| {
                rustix::fs::mknodat(rustix::fs::CWD, &lock, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0)
                    .unwrap()
            },
            &|| symlink("/dev/null", &lock).unwrap(),
            &|| fs::create_dir(&lock).unwrap(),
        ];
        for make in make {
            make();
            check_refused(cache.path(), &lock, Danger::NoFile);
            remove(&lock).unwrap();
        }
    }

    #[test]
    fn a_lock_that_is_never_given_back_is_waited_for_only_so_long() {
        let cache = tempfile::tempdir().unwrap();
        let root = cache.path().join(FOLDER);
        make_private_folder(&root).unwrap();
        let held = open_lock(&root.join(LOCK)).unwrap();
        held.lock().unwrap();
        let given_up = CancellationToken::new();
        let within = Duration::from_millis(30);
        let error = super::unpack(cache.path(), FILES, &Patience { within, given_up: given_up.clone() }).unwrap_err();
        assert!(matches!(&error, CacheError::Locked { lock, .. } if *lock == root.join(LOCK)), "{error:?}");
        assert!(error.help().contains("GATELATCH_CACHE"));
        given_up.cancel();
        let error = super::unpack(cache.path(), FILES, &Patience { within: LONG, given_up }).unwrap_err();
        assert!(matches!(error, CacheError::GivenUp), "{error:?}");
        drop(held);
        let place = unpack(cache.path(), FILES).unwrap();
        // What is there already needs no lock.
        let held = open_lock(&root.join(LOCK)).unwrap();
        held.lock().unwrap();
        assert_eq!(unpack(cache.path(), FILES).unwrap(), place);
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
