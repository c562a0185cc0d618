//! The catalog that is served and its search index: read anew, or from the compiled cache of an earlier start.
//!
//! Owns when the cache is asked and kept; what it holds and when it may be believed is the registry's. Start at
//! [`Served::open`].

use std::path::{Path, PathBuf};

use gatelatch_discovery::index::Index;
use gatelatch_registry::load::{Loaded, Source, load, load_with};
use gatelatch_registry::store::{self, Store};

/// What a road is built on.
pub(crate) struct Served {
    pub(crate) loaded: Loaded,
    pub(crate) index: Index,
}

impl Served {
    /// Loads the sources. With a cache folder a large catalog of folders is kept there for the next start; without one
    /// nothing is read or written but the catalog.
    pub(crate) fn open(sources: &[Source], cache_folder: Option<&Path>, program: &Path) -> Served {
        match (cache_folder, folders(sources)) {
            (Some(cache_folder), Some(folders)) => {
                through_cache(sources, &store::place(cache_folder, &folders), &edition_of(program))
            }
            _ => {
                let loaded = load(sources);
                let index = Index::build(&loaded.catalog);
                Served { loaded, index }
            }
        }
    }
}

fn through_cache(sources: &[Source], place: &Path, program: &str) -> Served {
    let store = Store::open(place, program);
    let (loaded, edition) = load_with(sources, &store);
    let known = store.index(&edition).and_then(|bytes| Index::from_bytes(bytes, &loaded.catalog));
    let index = known.unwrap_or_else(|| Index::build(&loaded.catalog));
    if edition.is_worth_keeping(&store) {
        // A start without a cache is only slower: a disk that is full or read-only is no reason to fail.
        if let Err(error) = store::save(place, program, &store, &edition, &index.to_bytes()) {
            tracing::debug!(%error, "the compiled catalog is not kept");
        }
    }
    Served { loaded, index }
}

/// The folders of the sources, absolute; nothing where the catalog that ships is among them, which is small.
fn folders(sources: &[Source]) -> Option<Vec<PathBuf>> {
    let folder = |source: &Source| match source {
        Source::Folder(folder) => std::path::absolute(folder).ok(),
        Source::Compiled(_) => None,
    };
    sources.iter().map(folder).collect()
}

/// A text that changes with the program: what one build has kept another must not believe, since it may read otherwise.
fn edition_of(program: &Path) -> String {
    let metadata = std::fs::metadata(program).ok();
    let changed = metadata.as_ref().and_then(|metadata| metadata.modified().ok());
    let changed =
        changed.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok()).map(|since| since.as_nanos());
    format!("{} {:?} {changed:?}", env!("CARGO_PKG_VERSION"), metadata.map(|metadata| metadata.len()))
}
