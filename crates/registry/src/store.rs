//! The compiled cache: what reading each manifest of a large catalog gave, so that the next start need not read YAML.
//!
//! Owns the file's form and when it may be believed. It is a memory of a pure function: a reading is found under the
//! sha256 of everything that reading depends on (kind, folder, label and the manifest's own bytes) and counts only if
//! what stood beside the manifest then still stands there. So the cache never changes an answer, and a manifest that
//! changed costs the reading of that one alone. Beside the readings lies one thing more for the whole catalog, whose
//! form is its owner's: the search index.
//!
//! A file that is torn, foreign, of another program or that others could have written is no error, it is no cache.
//! Start at [`Store::open`] and [`save`].

use std::collections::HashMap;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use gatelatch_manifest::read::Beside;
use sha2::{Digest as _, Sha256};

use crate::shelf::Found;

mod bytes;
mod document;

use bytes::{Reader, Writer};
pub(crate) use document::{Document, Reading};

/// What the file begins with; the number is that of its form.
const MAGIC: &[u8] = b"gatelatch catalog 2\n";

/// The largest file that is kept or read.
const MOST_BYTES: u64 = 64 << 20;

/// Catalogs of fewer bytes of manifests are read faster than it is worth to keep anything of them.
const WORTH_KEEPING: usize = 256 << 10;

/// How many files are kept: one for each set of catalogs.
const MOST_FILES: usize = 8;

/// The ending of a file's name.
const ENDING: &str = "catalog";

/// What is known of a catalog from an earlier start.
#[derive(Debug, Default)]
pub struct Store {
    bytes: Vec<u8>,
    readings: HashMap<Name, Part>,
    /// The name of the whole catalog that the index belongs to, and the index.
    index: Option<(Name, Part)>,
}

/// What one load read, as far as the next one can use it.
#[derive(Debug, Default)]
pub struct Edition {
    readings: Vec<Kept>,
    manifest_bytes: usize,
}

/// A sha256.
type Name = [u8; 32];

/// The beginning of a sha256, against torn files.
type Check = [u8; 16];

/// Where in the file something stands, and what it must add up to.
#[derive(Clone, Debug)]
struct Part {
    check: Check,
    place: Range<usize>,
}

/// A reading that the next start can use.
#[derive(Debug)]
pub(crate) struct Kept {
    name: Name,
    check: Check,
    /// `None` for what is in the store already.
    bytes: Option<Vec<u8>>,
    manifest_bytes: usize,
}

/// Where the cache of a catalog of these sources lies.
pub fn place(folder: &Path, sources: &[PathBuf]) -> PathBuf {
    let mut hash = Sha256::new();
    for source in sources {
        let source = source.as_os_str().as_encoded_bytes();
        hash.update((source.len() as u64).to_le_bytes());
        hash.update(source);
    }
    let name: String = hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    folder.join("catalogs").join(format!("{name}.{ENDING}"))
}

impl Store {
    /// What the file holds for this program; nothing where it cannot be believed. `program` is any text that changes
    /// with the program.
    pub fn open(path: &Path, program: &str) -> Store {
        read_file(path).and_then(|bytes| Store::of(bytes, program)).unwrap_or_default()
    }

    /// The index of the very catalog that was read.
    pub fn index(&self, edition: &Edition) -> Option<&[u8]> {
        let (name, part) = self.index.as_ref()?;
        (*name == edition.name()).then(|| self.part(part)).flatten()
    }

    fn of(bytes: Vec<u8>, program: &str) -> Option<Store> {
        let mut from = Reader::new(&bytes);
        let head_length = {
            (from.raw(MAGIC.len())? == MAGIC).then_some(())?;
            usize::try_from(u64::from_le_bytes(from.array()?)).ok()?
        };
        let head_check: Check = from.array()?;
        let head = from.raw(head_length)?;
        (check(head) == head_check).then_some(())?;
        let mut at = MAGIC.len() + size_of::<u64>() + size_of::<Check>() + head_length;
        let mut head = Reader::new(head);
        (head.str()? == program).then_some(())?;
        let mut part = |head: &mut Reader<'_>| {
            let (name, check): (Name, Check) = (head.array()?, head.array()?);
            let end = at.checked_add(usize::try_from(head.number()?).ok()?)?;
            let place = std::mem::replace(&mut at, end)..end;
            Some((name, Part { check, place }))
        };
        let index = part(&mut head)?;
        let readings = head.list(part)?;
        let whole = head.is_at_end() && at == bytes.len();
        whole.then(|| Store { readings: readings.into_iter().collect(), index: Some(index), bytes })
    }

    fn part(&self, part: &Part) -> Option<&[u8]> {
        let bytes = self.bytes.get(part.place.clone())?;
        (check(bytes) == part.check).then_some(bytes)
    }

    /// The reading of a manifest as it stands now.
    fn reading(&self, found: &Found, name: &Name) -> Option<(Reading, Check)> {
        let part = self.readings.get(name)?;
        let mut from = Reader::new(self.part(part)?);
        let asked = from.list(|from| Some((from.str()?, beside(from.byte()?)?)))?;
        if asked.iter().any(|(path, stood)| found.beside(path) != *stood) {
            return None;
        }
        let reading = document::take_reading(&mut from)?;
        from.is_at_end().then_some((reading, part.check))
    }
}

impl Edition {
    pub(crate) fn add(&mut self, kept: Kept) {
        self.manifest_bytes += kept.manifest_bytes;
        self.readings.push(kept);
    }

    /// Whether the catalog is large enough that keeping what was read makes the next start faster, and not kept yet.
    pub fn is_worth_keeping(&self, store: &Store) -> bool {
        self.manifest_bytes >= WORTH_KEEPING && store.index.as_ref().is_none_or(|(name, _)| *name != self.name())
    }

    /// The name of the catalog: that of every reading in order, and what each one gave.
    fn name(&self) -> Name {
        let mut hash = Sha256::new();
        for kept in &self.readings {
            hash.update(kept.name);
            hash.update(kept.check);
        }
        hash.finalize().into()
    }
}

/// What a manifest says, from the store where that is known, else by `read`, which is given a way to ask what stands
/// beside the manifest.
pub(crate) fn recall(
    store: &Store,
    found: &Found,
    read: impl FnOnce(&dyn Fn(&str) -> Beside) -> Reading,
) -> (Reading, Kept) {
    let name = name_of(found);
    let manifest_bytes = found.bytes.len();
    if let Some((reading, check)) = store.reading(found, &name) {
        return (reading, Kept { name, check, bytes: None, manifest_bytes });
    }
    let asked = std::cell::RefCell::new(Vec::new());
    let reading = read(&|path| {
        let stands = found.beside(path);
        asked.borrow_mut().push((path.to_owned(), stands));
        stands
    });
    let mut to = Writer::default();
    to.list(&asked.into_inner(), |to, (path, stands)| {
        to.text(path);
        to.byte(of_beside(*stands));
    });
    document::put_reading(&mut to, &reading);
    let bytes = to.into_bytes();
    (reading, Kept { name, check: check(&bytes), bytes: Some(bytes), manifest_bytes })
}

/// Keeps what was read for the next start. The file appears whole or not at all.
pub fn save(path: &Path, program: &str, store: &Store, edition: &Edition, index: &[u8]) -> io::Result<()> {
    let known = |kept: &Kept| store.readings.get(&kept.name).and_then(|part| store.bytes.get(part.place.clone()));
    let readings: Vec<(&Kept, &[u8])> = edition
        .readings
        .iter()
        .filter_map(|kept| Some((kept, kept.bytes.as_deref().or_else(|| known(kept))?)))
        .collect();
    let mut head = Writer::default();
    head.text(program);
    head.raw(&edition.name());
    head.raw(&check(index));
    head.number(index.len() as u64);
    head.list(&readings, |head, (kept, bytes)| {
        head.raw(&kept.name);
        head.raw(&kept.check);
        head.number(bytes.len() as u64);
    });
    let head = head.into_bytes();
    let mut whole = Vec::new();
    whole.extend_from_slice(MAGIC);
    whole.extend_from_slice(&(head.len() as u64).to_le_bytes());
    whole.extend_from_slice(&check(&head));
    whole.extend_from_slice(&head);
    whole.extend_from_slice(index);
    for (_, bytes) in readings {
        whole.extend_from_slice(bytes);
    }
    if whole.len() as u64 > MOST_BYTES {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    write_file(path, &whole)
}

/// Everything that reading this manifest depends on, apart from what stands beside it.
fn name_of(found: &Found) -> Name {
    let mut hash = Sha256::new();
    for part in [found.kind.as_str().as_bytes(), found.name.as_bytes(), found.file.as_bytes(), &found.bytes] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

fn check(bytes: &[u8]) -> Check {
    let whole: Name = Sha256::digest(bytes).into();
    let mut check = Check::default();
    check.copy_from_slice(&whole[..size_of::<Check>()]);
    check
}

fn of_beside(stands: Beside) -> u8 {
    match stands {
        Beside::File => 0,
        Beside::Folder => 1,
        Beside::Nothing => 2,
    }
}

fn beside(byte: u8) -> Option<Beside> {
    [Beside::File, Beside::Folder, Beside::Nothing].into_iter().find(|stands| of_beside(*stands) == byte)
}

/// The file's bytes, if nobody else could have written them: a plain file of ours in a folder of ours, both private.
fn read_file(path: &Path) -> Option<Vec<u8>> {
    let folder = path.parent()?.symlink_metadata().ok()?;
    let metadata = path.symlink_metadata().ok()?;
    let safe = folder.is_dir() && is_ours_alone(&folder) && metadata.is_file() && is_ours_alone(&metadata);
    if !safe || metadata.len() > MOST_BYTES {
        return None;
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).ok()? + 1);
    fs::File::open(path).ok()?.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    if !is_ours_alone(&folder.symlink_metadata()?) {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let fresh = path.with_extension(format!("{}.new", std::process::id()));
    // Left by a process of this number that died here.
    let _ = fs::remove_file(&fresh);
    let written = write_new(&fresh, bytes).and_then(|()| fs::rename(&fresh, path));
    if written.is_err() {
        let _ = fs::remove_file(&fresh);
    }
    written?;
    remove_old(folder, path);
    Ok(())
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(bytes)
}

/// Removes the oldest files beyond [`MOST_FILES`]. What cannot be removed stays.
fn remove_old(folder: &Path, newest: &Path) {
    let Ok(items) = fs::read_dir(folder) else { return };
    let mut others: Vec<(SystemTime, PathBuf)> = items
        .filter_map(Result::ok)
        .map(|item| item.path())
        .filter(|path| path != newest)
        .filter_map(|path| Some((path.symlink_metadata().ok()?.modified().ok()?, path)))
        .collect();
    others.sort();
    let surplus = (others.len() + 1).saturating_sub(MOST_FILES);
    for (_, path) in others.into_iter().take(surplus) {
        let _ = fs::remove_file(path);
    }
}

#[cfg(unix)]
fn is_ours_alone(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    metadata.uid() == rustix::process::geteuid().as_raw() && metadata.mode() & 0o077 == 0
}

/// On Windows a user's cache folder is the user's own by what it inherits.
#[cfg(not(unix))]
fn is_ours_alone(_metadata: &fs::Metadata) -> bool {
    true
}
