//! The bytes of a file, read at any place by several readers at once.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::rc::Rc;

/// A file on disk; in tests also bytes that stand for one.
#[derive(Clone)]
pub(crate) struct Store {
    inner: Rc<Inner>,
    len: u64,
}

enum Inner {
    File(File),
    #[cfg(test)]
    Bytes(Vec<u8>),
}

impl Store {
    pub(crate) fn open(path: &Path) -> io::Result<Store> {
        let file = File::open(path)?;
        let len = file.metadata()?.len();
        Ok(Store { inner: Rc::new(Inner::File(file)), len })
    }

    #[cfg(test)]
    pub(crate) fn from_bytes(bytes: Vec<u8>) -> Store {
        let len = bytes.len() as u64;
        Store { inner: Rc::new(Inner::Bytes(bytes)), len }
    }

    /// How many bytes there were when it was opened.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Reads as many bytes as there are from `at` on; fewer than asked for only at the end.
    pub(crate) fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<usize> {
        let within = usize::try_from(self.len.saturating_sub(at)).unwrap_or(usize::MAX).min(into.len());
        let into = &mut into[..within];
        match &*self.inner {
            #[cfg(test)]
            Inner::Bytes(bytes) => {
                let from = at as usize;
                into.copy_from_slice(&bytes[from..from + within]);
                Ok(within)
            }
            Inner::File(file) => {
                let mut file: &File = file;
                file.seek(SeekFrom::Start(at))?;
                let mut done = 0;
                while done < into.len() {
                    match file.read(&mut into[done..]) {
                        Ok(0) => break,
                        Ok(count) => done += count,
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                        Err(error) => return Err(error),
                    }
                }
                Ok(done)
            }
        }
    }

    /// Exactly the bytes from `at` on, or `None` when there are not that many.
    pub(crate) fn exactly<const N: usize>(&self, at: u64) -> io::Result<Option<[u8; N]>> {
        let mut bytes = [0; N];
        Ok((self.read_at(at, &mut bytes)? == N).then_some(bytes))
    }

    /// As many bytes as asked for, or `None` when there are not that many. The caller bounds `count`.
    pub(crate) fn exactly_vec(&self, at: u64, count: usize) -> io::Result<Option<Vec<u8>>> {
        if at.saturating_add(count as u64) > self.len {
            return Ok(None);
        }
        let mut bytes = vec![0; count];
        Ok((self.read_at(at, &mut bytes)? == count).then_some(bytes))
    }
}
