//! Commands in advice, as they have to be typed to mean the same catalog: with the folders and the settings file that this
//! command was given.
//!
//! Owns what of the command line goes on into advice. Knows no message. Start at [`with_place`].

use std::sync::OnceLock;

use crate::options::Place;

/// What stands between `gatelatch` and the verb. Written once, before anything is told.
static GIVEN: OnceLock<String> = OnceLock::new();

/// Remembers what this command was given.
pub(crate) fn remember(place: &Place) {
    let catalogs = place.catalog.iter().map(|path| ("--catalog", path));
    let given = catalogs.chain(place.config.iter().map(|path| ("--config", path)));
    let words = given.map(|(option, path)| format!("{option} {} ", quoted(&path.to_string_lossy())));
    // A second command in one process keeps the first; there is none.
    let _ = GIVEN.set(words.collect());
}

/// A text for people whose commands can be typed as they stand.
pub(crate) fn with_place(text: &str) -> String {
    completed(text, GIVEN.get().map_or("", String::as_str))
}

fn completed(text: &str, given: &str) -> String {
    const COMMAND: &str = "`gatelatch ";
    if given.is_empty() || !text.contains(COMMAND) {
        return text.to_owned();
    }
    let mut parts = text.split(COMMAND);
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        // What needs no catalog, and what only the one that ships has.
        let stands =
            ["-", "pin ", "verify ", "skill write-a-manifest"].into_iter().any(|start| part.starts_with(start));
        whole.push_str(COMMAND);
        whole.push_str(if stands { "" } else { given });
        whole.push_str(part);
    }
    whole
}

/// A text such as a path as a shell takes it for one word.
pub(crate) fn quoted(path: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+@%:,".contains(c);
    if !path.is_empty() && path.chars().all(is_plain) {
        path.to_owned()
    } else {
        format!("'{}'", path.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_in_advice_names_the_catalog_that_is_meant() {
        let given = "--catalog mine ";
        assert_eq!(completed("see `gatelatch check`", given), "see `gatelatch --catalog mine check`");
        assert_eq!(
            completed("`gatelatch list` or `gatelatch show a b`", given),
            "`gatelatch --catalog mine list` or `gatelatch --catalog mine show a b`"
        );
        for stands in ["`gatelatch --catalog x check`", "`gatelatch pin --out F`", "no command"] {
            assert_eq!(completed(stands, given), stands);
        }
        assert_eq!(completed("see `gatelatch check`", ""), "see `gatelatch check`");
    }

    #[test]
    fn a_path_that_a_shell_would_take_apart_is_quoted() {
        assert_eq!(quoted("mine/tools-1"), "mine/tools-1");
        assert_eq!(quoted("my tools"), "'my tools'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
    }
}
