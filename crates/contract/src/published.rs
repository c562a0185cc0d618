//! What was published about a list: by a `server.json`, a lock file or a pin file.
//!
//! Owns how little of it may be there. Refuses to know whether it is so. Start at [`Published`].

use std::fmt;

use serde_json::Value;

use crate::list::{Tool, ToolList};
use crate::lock::Lock;
use crate::pin::Pin;
use crate::server_json::publisher::{COUNT_KEY, PublisherData, PublisherError, TOOLS_KEY};
use crate::shown;

/// What a server's list is held against.
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    /// The digest of the list.
    pub digest: String,
    /// How many tools it has, if that was published.
    pub tool_count: Option<usize>,
    /// The contract's version, if that was published.
    pub surface_version: Option<String>,
    /// What is known of each tool.
    pub known: Known,
    /// Names in order, each with the beginning of its digest, as far as a `server.json` says so.
    pub tool_digests: Vec<(String, String)>,
}

/// A difference of which no more is known than that it is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Untold {
    /// The tool, where it is one.
    pub tool: Option<String>,
    /// What differs, as a sentence about it.
    pub what: String,
}

impl fmt::Display for Untold {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.tool {
            Some(tool) => write!(formatter, "tool `{}`: {}", shown::text(tool), self.what),
            None => formatter.write_str(&self.what),
        }
    }
}

/// What is known of each published tool.
#[derive(Clone, Debug, PartialEq)]
pub enum Known {
    /// Nothing.
    Nothing,
    /// Names in order, each with the beginning of its digest.
    Beginnings(Vec<(String, String)>),
    /// Everything.
    All(ToolList),
}

/// Why a published file says nothing about the list.
#[derive(Debug, thiserror::Error)]
pub enum PublishedError {
    /// The `server.json` is no JSON.
    #[error("this is no `server.json`")]
    Json(#[source] gatelatch_protocol::json::JsonError),
    /// The `server.json` has no usable data about the list.
    #[error("this `server.json` says nothing usable about the tools; help: make a pin file instead")]
    Publisher(#[source] PublisherError),
    /// The lock file is not that of this `server.json`.
    #[error("the lock file is for digest `{lock}` and the `server.json` for `{server_json}`")]
    Disagree {
        /// The lock file's digest.
        lock: String,
        /// The other.
        server_json: String,
    },
    /// The lock file has the list, as another version.
    #[error("the lock file says surface version `{lock}` and the `server.json` says `{server_json}`")]
    Versions {
        /// The lock file's version.
        lock: String,
        /// The other.
        server_json: String,
    },
}

impl Published {
    /// Reads the `server.json` of anybody's server; only the publisher's data about the list matters.
    ///
    /// # Errors
    ///
    /// When it has none.
    pub fn of_server_json(text: &str) -> Result<Published, PublishedError> {
        let file = gatelatch_protocol::json::parse(text).map_err(PublishedError::Json)?;
        let data = PublisherData::in_server_json(&file).map_err(PublishedError::Publisher)?;
        Ok(Published {
            digest: data.tools_digest,
            tool_count: Some(data.tool_count),
            surface_version: Some(data.surface_version.to_string()),
            known: match data.tool_digests.as_slice() {
                [] => Known::Nothing,
                some => Known::Beginnings(some.to_vec()),
            },
            tool_digests: data.tool_digests,
        })
    }

    /// What a lock file says.
    pub fn of_lock(lock: Lock) -> Published {
        let surface_version = Some(lock.surface_version.to_string());
        Published { surface_version, ..Published::of_list(lock.tools) }
    }

    /// What a pin file says.
    pub fn of_pin(pin: Pin) -> Published {
        Published::of_list(pin.tools)
    }

    /// Adds the definitions of a lock file, so that a difference can be told in full.
    ///
    /// # Errors
    ///
    /// When the lock file is for another list.
    pub fn with_lock(self, lock: Lock) -> Result<Published, PublishedError> {
        if self.digest != lock.tools.digest() {
            let lock = lock.tools.digest().to_owned();
            return Err(PublishedError::Disagree { lock, server_json: self.digest });
        }
        let (lock_version, server_json) = (lock.surface_version.to_string(), self.surface_version.unwrap_or_default());
        if lock_version != server_json {
            return Err(PublishedError::Versions { lock: lock_version, server_json });
        }
        Ok(Published { known: Known::All(lock.tools), surface_version: Some(server_json), ..self })
    }

    fn of_list(tools: ToolList) -> Published {
        Published {
            digest: tools.digest().to_owned(),
            tool_count: Some(tools.tools().len()),
            surface_version: None,
            known: Known::All(tools),
            tool_digests: Vec::new(),
        }
    }

    /// What else was published about the list of the published digest and is not so: the file contradicts itself.
    pub(crate) fn contradictions(&self, list: &ToolList) -> Vec<Untold> {
        let own = |key: &str, what: String| Untold { tool: None, what: format!("`{key}` {what}") };
        let tools = list.tools();
        let list_of = "the list of the published digest";
        let mut found = Vec::new();
        if let Some(count) = self.tool_count.filter(|count| *count != tools.len()) {
            found.push(own(COUNT_KEY, format!("says {count}, and {list_of} has {}", tools.len())));
        }
        if self.tool_digests.is_empty() {
            return found;
        }
        for (name, digest) in &self.tool_digests {
            let what = match list.tool(name) {
                None => format!("is none of {list_of}, and `{TOOLS_KEY}` names it"),
                Some(tool) if !tool.digest().starts_with(digest) => {
                    format!("`{TOOLS_KEY}` says another digest than it has in {list_of}")
                }
                Some(_) => continue,
            };
            found.push(Untold { tool: Some(name.clone()), what });
        }
        let names = |name: &str| self.tool_digests.iter().any(|(named, _)| named == name);
        for tool in tools.iter().filter(|tool| !names(tool.name())) {
            let what = format!("is one of {list_of}, and `{TOOLS_KEY}` does not name it");
            found.push(Untold { tool: Some(tool.name().to_owned()), what });
        }
        if found.is_empty() && !self.tool_digests.iter().map(|(name, _)| name.as_str()).eq(tools.iter().map(Tool::name))
        {
            found.push(own(TOOLS_KEY, format!("has another order than {list_of}")));
        }
        found
    }
}

impl Known {
    /// Whether a received list is made of published tools, unchanged and in their order, as far as that is known.
    pub(crate) fn covers(&self, received: &ToolList) -> bool {
        match self {
            Known::Nothing => true,
            Known::Beginnings(published) => {
                let is_same = |(name, digest): &(String, String), tool: &Tool| {
                    name == tool.name() && tool.digest().starts_with(digest)
                };
                is_within(published, received.tools(), is_same)
            }
            Known::All(published) => {
                is_within(published.tools(), received.tools(), |old, tool| old.digest() == tool.digest())
            }
        }
    }

    /// Which tools differ, by name alone; none if that is not known.
    pub(crate) fn differences(&self, received: &ToolList) -> Option<Vec<Untold>> {
        let Known::Beginnings(published) = self else { return None };
        let mut told = Vec::new();
        let mut tell = |tool: Option<&str>, what: &str| {
            told.push(Untold { tool: tool.map(str::to_owned), what: what.to_owned() });
        };
        for (name, digest) in published {
            match received.tool(name) {
                None => tell(Some(name), "it is missing"),
                Some(tool) if !tool.digest().starts_with(digest) => {
                    tell(Some(name), "its definition differs");
                }
                Some(_) => {}
            }
        }
        for tool in received.tools().iter().filter(|tool| published.iter().all(|(name, _)| name != tool.name())) {
            tell(Some(tool.name()), "it was not published");
        }
        if told.is_empty() {
            told.push(Untold { tool: None, what: "the tools are in another order".to_owned() });
        }
        Some(told)
    }
}

/// Whether all of `few` are among `many`, in the same order.
fn is_within<A, B>(many: &[A], few: &[B], is_same: impl Fn(&A, &B) -> bool) -> bool {
    let mut many = many.iter();
    few.iter().all(|one| many.any(|other| is_same(other, one)))
}

/// A text of an object.
pub(crate) fn text_at<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}
