//! The catalog that ships, compiled in, so that the binary alone does something real.

use gatelatch_registry::catalog::CompiledFile;
use include_dir::{Dir, include_dir};

static MANIFESTS: Dir<'_> = include_dir!("$SHIPPED_MANIFESTS");

/// Every file of the catalog that ships, for as long as the process lives.
pub(crate) fn catalog() -> &'static [CompiledFile] {
    let mut files = Vec::new();
    gather(&MANIFESTS, &mut files);
    files.sort_by_key(|file| file.path);
    files.leak()
}

fn gather(dir: &Dir<'static>, files: &mut Vec<CompiledFile>) {
    for file in dir.files() {
        // A path that is no UTF-8 cannot be in the repository; Python may have left a cache, and a list is no entry.
        if let Some(path) = file.path().to_str().filter(|path| path.contains('/') && !path.contains("__pycache__")) {
            files.push(CompiledFile { path, bytes: file.contents() });
        }
    }
    for dir in dir.dirs() {
        gather(dir, files);
    }
}
