//! The lock file: the published list as it was when it was last agreed upon, beside its declaration.
//!
//! Refuses to know the declaration. Start at [`Lock::parse`] and [`Lock::to_text`].

use gatelatch_protocol::digest::digest_of;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::diff::{Diff, diff};
use crate::list::ToolList;
use crate::listing::{self, Entry};
use crate::version::{MoveError, SurfaceVersion};

pub use crate::listing::ListingError;

const KIND: &str = "gatelatch lock 2";

/// A version and the list that it stands for.
#[derive(Clone, Debug, PartialEq)]
pub struct Lock {
    /// The version.
    pub surface_version: SurfaceVersion,
    /// The list.
    pub tools: ToolList,
}

/// Why a file is no lock file.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// It is another file, or its list is not the one that its digests say.
    #[error("{}", .0.heading("lock file"))]
    Listing(#[from] ListingError),
    /// Its version is not the one that was locked with its list.
    #[error(
        "`surface_version` is not the one that was locked: its digest with the tools is `{actual}`; help: write the file \
         anew, never by hand"
    )]
    Version {
        /// The digest of what the file says.
        actual: String,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    kind: String,
    surface_version: SurfaceVersion,
    /// Over `surface_version` and `tools_digest`.
    lock_digest: String,
    tools_digest: String,
    tools: Vec<Entry>,
}

impl Lock {
    /// Reads a lock file's text.
    ///
    /// # Errors
    ///
    /// When it is none, or was edited so that its digests do not hold.
    pub fn parse(text: &str) -> Result<Lock, LockError> {
        let file: File = listing::read(text, KIND)?;
        let tools = listing::list(file.tools, &file.tools_digest)?;
        let lock = Lock { surface_version: file.surface_version, tools };
        let actual = lock.digest();
        if actual == file.lock_digest { Ok(lock) } else { Err(LockError::Version { actual }) }
    }

    /// The digest of the version together with the list: neither is what was locked without the other.
    pub fn digest(&self) -> String {
        digest_of(&json!({ "surface_version": self.surface_version, "tools_digest": self.tools.digest() }))
    }

    /// The file's text, the same for the same content.
    pub fn to_text(&self) -> String {
        listing::text(&File {
            kind: KIND.to_owned(),
            surface_version: self.surface_version.clone(),
            lock_digest: self.digest(),
            tools_digest: self.tools.digest().to_owned(),
            tools: listing::entries(&self.tools),
        })
    }

    /// What changed since, if the version moved enough for it.
    ///
    /// # Errors
    ///
    /// When `written` is too small a move for what changed, with the right version.
    pub fn check(&self, written: &SurfaceVersion, now: &ToolList) -> Result<Diff, MoveError> {
        let diff = diff(&self.tools, now);
        self.surface_version.check_move(written, &diff).map(|()| diff)
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use serde_json::json;

    use super::*;

    fn lock() -> Lock {
        let tools = json!([
            {"name": "b", "inputSchema": {"type": "object", "maximum": 2.0}, "description": "Größe \u{1F600}"},
            {"inputSchema": {"type": "object"}, "name": "a"}
        ]);
        Lock { surface_version: SurfaceVersion::parse("1.2.0").unwrap(), tools: ToolList::of_array(&tools).unwrap() }
    }

    fn reason(text: &str) -> String {
        let error = Lock::parse(text).unwrap_err();
        error.source().map_or_else(|| error.to_string(), ToString::to_string)
    }

    #[test]
    fn a_lock_file_is_read_as_it_was_written_and_written_the_same_again() {
        let text = lock().to_text();
        assert_eq!(Lock::parse(&text).unwrap(), lock());
        assert_eq!(Lock::parse(&text).unwrap().to_text(), text);
        assert!(
            text.starts_with("{\n  \"kind\": \"gatelatch lock 2\",\n  \"surface_version\": \"1.2.0\",\n"),
            "{text}"
        );
        assert!(text.ends_with("}\n"));
        assert!(
            text.contains(
                "\"description\": \"Größe \u{1F600}\",\n        \"inputSchema\": {\n          \"maximum\": 2,"
            )
        );
    }

    #[test]
    fn a_lock_file_that_was_edited_by_hand_is_refused_and_the_tool_is_named() {
        let text = lock().to_text();
        assert!(reason(&text.replace("Größe", "Grösse")).contains("tool `b`"));
        let digest = lock().tools.digest().to_owned();
        assert!(reason(&text.replace(&digest, &"0".repeat(64))).contains(&digest));
        assert!(reason(&text.replacen("\"name\": \"a\"", "\"name\": \"c\"", 1)).contains("tool `a`"));
    }

    /// A version that was set back would let one that moved too little pass.
    #[test]
    fn a_version_that_was_changed_alone_is_refused() {
        let text = lock().to_text();
        for version in ["1.1.0", "1.2.1", "9.0.0"] {
            let told = reason(&text.replace("\"1.2.0\"", &format!("\"{version}\"")));
            assert!(told.contains("`surface_version` is not the one that was locked"), "{told}");
        }
        assert!(reason(&text.replace(&lock().digest(), &"0".repeat(64))).contains(&lock().digest()));
        let without: String = text.lines().filter(|line| !line.contains("lock_digest")).collect();
        assert!(reason(&without).contains("lock_digest"));
    }

    #[test]
    fn what_is_no_lock_file_is_told_from_one_that_is_broken() {
        let text = lock().to_text();
        for (broken, word) in [
            ("{}".to_owned(), "it says that it is `nothing`"),
            (text.replace("lock 2", "lock 3"), "`gatelatch lock 3`"),
            (text.replace("\"1.2.0\"", "\"1.2\""), "`1.2` is no version"),
            (text.replace("tools_digest", "tools_digets"), "tools_digets"),
            (text.replace("{\n  \"kind\"", "{\n  \"kind\": 1,\n  \"kind\""), "the key `kind` twice"),
            (text.replace("\"surface_version\": \"1.2.0\",\n", ""), "surface_version"),
            (text[..text.len() - 3].to_owned(), "line"),
            (text.replace("\"name\": \"a\"", "\"name\": \"b\""), "named `b`"),
        ] {
            assert!(reason(&broken).contains(word), "{word}: {}", reason(&broken));
        }
    }

    #[test]
    fn the_version_must_move_as_far_as_the_list_did() {
        let written = |text| SurfaceVersion::parse(text).unwrap();
        let now = ToolList::of_array(&json!([{"name": "b", "inputSchema": {"type": "object", "maximum": 3}}])).unwrap();
        let error = lock().check(&written("1.3.0"), &now).unwrap_err();
        assert!(error.to_string().ends_with("help: set `surface_version: 2.0.0`"), "{error}");
        assert_eq!(lock().check(&written("2.0.0"), &now).unwrap().level(), Some(crate::level::Level::Major));
        assert!(lock().check(&written("1.2.0"), &lock().tools).unwrap().is_empty());
    }
}
