//! How a list is kept in a file: each tool with its digest, and one digest over all.
//!
//! Owns that a file which was edited by hand is noticed. Knows not what the file is for. Start at [`Listing`].

use gatelatch_protocol::json::{self, JsonError};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::list::{ToolList, ToolListError};
use crate::shown;

/// The largest file that is read.
pub(crate) const MOST_BYTES: usize = 16 * 1024 * 1024;

/// One tool of a file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    name: String,
    digest: String,
    definition: Map<String, Value>,
}

/// Why a file does not hold a list.
#[derive(Debug, thiserror::Error)]
pub enum ListingError {
    /// It is too large.
    #[error("it has more than {MOST_BYTES} bytes")]
    TooLarge,
    /// It is no JSON, or ambiguous.
    #[error(transparent)]
    Json(JsonError),
    /// It has other keys or values than such a file has.
    #[error("{0}")]
    Shape(String),
    /// It is another kind of file, or of a later form.
    #[error("it says that it is `{found}`, not `{expected}`")]
    Kind {
        /// What it should say.
        expected: &'static str,
        /// What it says.
        found: String,
    },
    /// Its tools are no list.
    #[error(transparent)]
    List(ToolListError),
    /// A tool's name or digest is not that of its definition.
    #[error("the entry of tool `{tool}` does not agree with its definition; help: write the file anew, never by hand")]
    Entry {
        /// The tool.
        tool: String,
    },
    /// The digest is not that of the tools.
    #[error("its digest is not that of its tools, which is `{actual}`; help: write the file anew, never by hand")]
    Digest {
        /// The digest of the tools in the file.
        actual: String,
    },
}

impl ListingError {
    /// What a file that should be such a one is instead.
    pub(crate) fn heading(&self, file: &str) -> String {
        match self {
            ListingError::TooLarge
            | ListingError::Json(_)
            | ListingError::Shape(_)
            | ListingError::Kind { .. }
            | ListingError::List(_) => format!("this is no {file}"),
            ListingError::Entry { .. } | ListingError::Digest { .. } => format!("this {file} was edited"),
        }
    }
}

/// Reads the JSON of a file of this kind. `kind` is what its `kind` must say.
pub(crate) fn read<T: for<'de> Deserialize<'de>>(text: &str, kind: &'static str) -> Result<T, ListingError> {
    if text.len() > MOST_BYTES {
        return Err(ListingError::TooLarge);
    }
    let value = json::parse(text).map_err(ListingError::Json)?;
    match value.get("kind").and_then(Value::as_str) {
        Some(found) if found == kind => {}
        found => {
            let found = shown::text(found.unwrap_or("nothing"));
            return Err(ListingError::Kind { expected: kind, found });
        }
    }
    serde_json::from_value(value).map_err(|error| ListingError::Shape(shown::text(&error.to_string())))
}

/// The entries of a list.
pub(crate) fn entries(list: &ToolList) -> Vec<Entry> {
    let entry = |tool: &crate::list::Tool| Entry {
        name: tool.name().to_owned(),
        digest: tool.digest().to_owned(),
        definition: tool.definition().clone(),
    };
    list.tools().iter().map(entry).collect()
}

/// The list of the entries, if it is the one that the digests say.
pub(crate) fn list(entries: Vec<Entry>, digest: &str) -> Result<ToolList, ListingError> {
    let (labels, definitions): (Vec<(String, String)>, Vec<Value>) =
        entries.into_iter().map(|entry| ((entry.name, entry.digest), Value::Object(entry.definition))).unzip();
    let list = ToolList::of_array(&Value::Array(definitions)).map_err(ListingError::List)?;
    for ((name, digest), tool) in labels.iter().zip(list.tools()) {
        if name != tool.name() || digest != tool.digest() {
            return Err(ListingError::Entry { tool: shown::text(tool.name()) });
        }
    }
    if list.digest() != digest {
        return Err(ListingError::Digest { actual: list.digest().to_owned() });
    }
    Ok(list)
}

/// The text of a file: the same for the same content, with a line's end at its end. A human reviews it, so nothing in it
/// is hidden.
pub(crate) fn text(file: &impl Serialize) -> String {
    // It cannot fail: all keys are strings.
    let mut text = serde_json::to_string_pretty(file).unwrap_or_default();
    text.push('\n');
    shown::json(&text)
}
