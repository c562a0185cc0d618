//! Reads the files that people name, or leave in a catalog: regular ones alone, and not without end.
//!
//! Knows no form. What a manifest's own file may be is `registry`'s. Start at [`read`].

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// A file's bytes. Of one that has more than `most` it gives one more, which tells its reader.
///
/// A pipe would be waited for and a device read without end: either is an error.
pub(crate) fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A file's text, of at most so many bytes.
pub(crate) fn text(path: &Path, most: u64) -> io::Result<String> {
    let bytes = read(path, most)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!("it has more than {most} bytes")));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::other("it is no UTF-8 text"))
}
