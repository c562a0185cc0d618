//! What our `server.json` says about the tool list, under the one key of `_meta` that the MCP Registry keeps.
//!
//! Owns the names of the keys and what is left out when there is no room. Start at [`PublisherData`].

use serde_json::{Map, Value, json};

use crate::list::ToolList;
use crate::published::text_at;
use crate::shown;
use crate::version::{SurfaceVersion, SurfaceVersionError};

/// The key of `_meta` that the registry keeps.
pub const PUBLISHER_KEY: &str = "io.modelcontextprotocol.registry/publisher-provided";
/// The digest of the list.
pub const DIGEST_KEY: &str = "io.github.gatelatch/toolsDigest";
/// The contract's version.
pub const VERSION_KEY: &str = "io.github.gatelatch/surfaceVersion";
/// How many tools there are.
pub const COUNT_KEY: &str = "io.github.gatelatch/toolCount";
/// Each tool's name and the beginning of its digest, in order: `name=0123456789abcdef`.
pub const TOOLS_KEY: &str = "io.github.gatelatch/toolDigests";

/// The most bytes of publisher data that the registry takes.
pub const MOST_BYTES: usize = 4_096;

/// Enough to tell which tool differs; what is relied on is the digest of the whole.
const BEGINNING: usize = 16;

/// The data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublisherData {
    /// The digest of the list.
    pub tools_digest: String,
    /// The contract's version.
    pub surface_version: SurfaceVersion,
    /// How many tools there are.
    pub tool_count: usize,
    /// Names in order, each with the beginning of its digest; empty if there was no room.
    pub tool_digests: Vec<(String, String)>,
}

/// Why a `server.json` has no usable data.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PublisherError {
    /// It has none.
    #[error("there is no `{key}` under `_meta.{PUBLISHER_KEY}`")]
    Missing {
        /// The first key that is missing.
        key: &'static str,
    },
    /// A value is not what it should be.
    #[error("`{key}` is no {expected}")]
    Value {
        /// The key.
        key: &'static str,
        /// What it should be.
        expected: &'static str,
    },
    /// The version is none.
    #[error("`{VERSION_KEY}` is no version")]
    Version(#[source] SurfaceVersionError),
}

impl PublisherData {
    /// The data for a list, with the tools' digests if there is room for them.
    pub fn of(surface_version: &SurfaceVersion, tools: &ToolList) -> PublisherData {
        let beginning = |digest: &str| digest.chars().take(BEGINNING).collect();
        let mut data = PublisherData {
            tools_digest: tools.digest().to_owned(),
            surface_version: surface_version.clone(),
            tool_count: tools.tools().len(),
            tool_digests: tools.tools().iter().map(|t| (t.name().to_owned(), beginning(t.digest()))).collect(),
        };
        if data.bytes() > MOST_BYTES {
            data.tool_digests.clear();
        }
        data
    }

    /// Finds the data in a whole `server.json`, whoever made it.
    ///
    /// # Errors
    ///
    /// When a key is missing or is no such value.
    pub fn in_server_json(file: &Value) -> Result<PublisherData, PublisherError> {
        let data = file.get("_meta").and_then(|meta| meta.get(PUBLISHER_KEY));
        data.map_or(Err(PublisherError::Missing { key: DIGEST_KEY }), PublisherData::read)
    }

    /// Reads the data itself. Keys of others are left alone.
    ///
    /// # Errors
    ///
    /// When a key is missing or is no such value.
    pub fn read(data: &Value) -> Result<PublisherData, PublisherError> {
        let required = |key| data.get(key).ok_or(PublisherError::Missing { key });
        required(DIGEST_KEY)?;
        let digest = text_at(data, DIGEST_KEY).filter(|digest| is_digest(digest));
        let tools_digest =
            digest.ok_or(PublisherError::Value { key: DIGEST_KEY, expected: "sha256 in lower-case hex" })?;
        let wrong_version = PublisherError::Value { key: VERSION_KEY, expected: "text" };
        let version = required(VERSION_KEY)?.as_str().ok_or(wrong_version)?;
        let surface_version = SurfaceVersion::parse(version).map_err(PublisherError::Version)?;
        let count = required(COUNT_KEY)?.as_u64().and_then(|count| usize::try_from(count).ok());
        let tool_count = count.ok_or(PublisherError::Value { key: COUNT_KEY, expected: "count" })?;
        let tool_digests = match data.get(TOOLS_KEY) {
            None => Vec::new(),
            Some(lines) => {
                let lines = lines.as_array().and_then(|lines| lines.iter().map(named_digest).collect());
                lines.ok_or(PublisherError::Value { key: TOOLS_KEY, expected: "list of `name=digest`" })?
            }
        };
        Ok(PublisherData { tools_digest: tools_digest.to_owned(), surface_version, tool_count, tool_digests })
    }

    /// The data as it stands in the file.
    pub fn to_value(&self) -> Map<String, Value> {
        let mut data = Map::new();
        data.insert(DIGEST_KEY.to_owned(), json!(self.tools_digest));
        data.insert(VERSION_KEY.to_owned(), json!(self.surface_version));
        data.insert(COUNT_KEY.to_owned(), json!(self.tool_count));
        if !self.tool_digests.is_empty() {
            let lines = self.tool_digests.iter().map(|(name, digest)| Value::from(format!("{name}={digest}")));
            data.insert(TOOLS_KEY.to_owned(), lines.collect());
        }
        data
    }

    fn bytes(&self) -> usize {
        Value::Object(self.to_value()).to_string().len()
    }
}

/// Whether a text is a sha256 in lower-case hex.
pub(crate) fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn named_digest(line: &Value) -> Option<(String, String)> {
    let (name, digest) = line.as_str()?.rsplit_once('=')?;
    let is_beginning = digest.len() >= 8 && is_digest(&format!("{digest:0<64}"));
    is_beginning.then(|| (name.to_owned(), digest.to_owned()))
}

/// A text of the file as it is shown.
pub(crate) fn quoted(text: &str) -> String {
    format!("`{}`", shown::text(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools(count: usize) -> ToolList {
        let tools = (0..count).map(|at| json!({"name": format!("xlsx_read_sheet_{at}"), "inputSchema": {}}));
        ToolList::of_array(&tools.collect()).unwrap()
    }

    #[test]
    fn the_data_is_read_as_it_was_written_and_never_larger_than_the_registry_takes() {
        for count in [0, 1, 20, 60, 200, 1_000] {
            let data = PublisherData::of(&SurfaceVersion::parse("1.2.3").unwrap(), &tools(count));
            assert!(data.bytes() <= MOST_BYTES);
            assert_eq!(data.tool_digests.len(), if count <= 60 { count } else { 0 });
            assert_eq!(PublisherData::read(&Value::Object(data.to_value())), Ok(data));
        }
    }

    #[test]
    fn data_that_is_missing_or_malformed_is_named() {
        let good = Value::Object(PublisherData::of(&SurfaceVersion::parse("1.2.3").unwrap(), &tools(2)).to_value());
        for (key, value, expected) in [
            (DIGEST_KEY, json!("abc"), "is no sha256 in lower-case hex"),
            (DIGEST_KEY, json!("A".repeat(64)), "is no sha256 in lower-case hex"),
            (VERSION_KEY, json!("1"), "is no version"),
            (COUNT_KEY, json!(-1), "is no count"),
            (TOOLS_KEY, json!(["a=xyz"]), "is no list of `name=digest`"),
        ] {
            let mut data = good.clone();
            data[key] = value;
            let error = PublisherData::read(&data).unwrap_err().to_string();
            assert_eq!(error, format!("`{key}` {expected}"));
        }
        for key in [DIGEST_KEY, VERSION_KEY, COUNT_KEY] {
            let mut data = good.clone();
            data.as_object_mut().unwrap().remove(key);
            assert_eq!(PublisherData::read(&data), Err(PublisherError::Missing { key }));
        }
        assert_eq!(PublisherData::in_server_json(&json!({})), Err(PublisherError::Missing { key: DIGEST_KEY }));
    }
}
