//! A tool list as it was sent, in canonical form, with its digests.
//!
//! Owns what makes a `tools` array a list: objects, each with a name of its own. Refuses to judge what is in them.
//! Start at [`ToolList::of_array`].

use std::collections::HashSet;

use gatelatch_protocol::digest::{canonical_text, digest_of, tools_json};
use gatelatch_protocol::surface::PublishedTool;
use serde_json::{Map, Value};

use crate::shown;

/// MCP wants at most 128; names of tools are told with every change.
const MOST_OF_A_NAME: usize = 1_024;

/// One tool as it was sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    name: String,
    definition: Map<String, Value>,
    digest: String,
}

/// All tools of a server in their order, pages joined.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolList {
    tools: Vec<Tool>,
    digest: String,
}

/// Why a `tools` array is no list of tools.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolListError {
    /// It is something else.
    #[error("`tools` is no array")]
    NoArray,
    /// An item is no tool.
    #[error("item {place} of `tools` is no object with a `name` that is text")]
    NoTool {
        /// Counted from 1.
        place: usize,
    },
    /// A name is too long for one.
    #[error("the name of item {place} of `tools` has more than {MOST_OF_A_NAME} bytes")]
    LongName {
        /// Counted from 1.
        place: usize,
    },
    /// Two tools have one name.
    #[error("two tools are named `{name}`")]
    NameTwice {
        /// The name.
        name: String,
    },
}

impl Tool {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its definition, keys sorted and numbers in canonical form.
    pub fn definition(&self) -> &Map<String, Value> {
        &self.definition
    }

    /// The sha256 of its canonical definition: 64 lower-case hex digits.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// How many bytes its canonical definition has: what it costs whoever is sent the list.
    pub fn bytes(&self) -> usize {
        Value::Object(self.definition.clone()).to_string().len()
    }

    fn read(place: usize, sent: &Value) -> Result<Tool, ToolListError> {
        // What is compared later is the canonical form, so that 1 and 1.0 are no change.
        let canonical = serde_json::from_str(&canonical_text(sent)).unwrap_or_default();
        if sent.get("name").and_then(Value::as_str).is_some_and(|name| name.len() > MOST_OF_A_NAME) {
            return Err(ToolListError::LongName { place });
        }
        match (sent.get("name").and_then(Value::as_str), canonical) {
            (Some(name), Value::Object(definition)) => {
                Ok(Tool { name: name.to_owned(), definition, digest: digest_of(sent) })
            }
            _ => Err(ToolListError::NoTool { place }),
        }
    }
}

impl ToolList {
    /// Reads a `tools` array as it was sent.
    ///
    /// # Errors
    ///
    /// When it is no array of objects with a name each, or two names are equal.
    pub fn of_array(sent: &Value) -> Result<ToolList, ToolListError> {
        let items = sent.as_array().ok_or(ToolListError::NoArray)?;
        let tools = items.iter().enumerate().map(|(at, item)| Tool::read(at + 1, item));
        let tools: Vec<Tool> = tools.collect::<Result<_, _>>()?;
        let mut names = HashSet::new();
        if let Some(twice) = tools.iter().find(|tool| !names.insert(tool.name())) {
            return Err(ToolListError::NameTwice { name: shown::text(twice.name()) });
        }
        Ok(ToolList { digest: digest_of(sent), tools })
    }

    /// The list that a server of ours sends for these tools.
    ///
    /// # Errors
    ///
    /// When two names are equal.
    pub fn of_published(tools: &[PublishedTool]) -> Result<ToolList, ToolListError> {
        ToolList::of_array(&tools_json(tools))
    }

    /// The tools in their order.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// The tool of this name.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name() == name)
    }

    /// The digest of the whole list.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// How many bytes the array has in canonical form.
    pub fn bytes(&self) -> usize {
        self.to_array().to_string().len()
    }

    /// The array in canonical form.
    pub fn to_array(&self) -> Value {
        self.tools.iter().map(|tool| Value::Object(tool.definition.clone())).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_and_keys_written_differently_are_the_same_list() {
        let one = ToolList::of_array(&json!([{"name": "a", "inputSchema": {"minimum": 1.0, "maximum": 2e1}}])).unwrap();
        let other = ToolList::of_array(&json!([{"inputSchema": {"maximum": 20, "minimum": 1}, "name": "a"}])).unwrap();
        assert_eq!(one, other);
        assert_eq!(digest_of(&one.to_array()), one.digest());
        assert_eq!(one.tools()[0].bytes(), canonical_text(&one.to_array()).len() - 2);
        assert_eq!(one.bytes(), one.tools()[0].bytes() + 2);
    }

    #[test]
    fn what_is_no_list_of_distinct_tools_is_refused() {
        let error = |sent: Value| ToolList::of_array(&sent).unwrap_err();
        assert_eq!(error(json!({})), ToolListError::NoArray);
        assert_eq!(error(json!([{"name": "a"}, {"name": 1}])), ToolListError::NoTool { place: 2 });
        assert_eq!(error(json!(["a"])), ToolListError::NoTool { place: 1 });
        assert_eq!(error(json!([{"name": "a"}, {"name": "a"}])), ToolListError::NameTwice { name: "a".to_owned() });
    }
}
