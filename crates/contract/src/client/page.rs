//! A list that comes page by page, and how much of it is taken. Knows no transport. Start at [`Pages`].

use std::collections::HashSet;

use gatelatch_protocol::era::Era;
use serde_json::{Value, json};

use super::greeting::{Greeting, modern_params};
use super::{ClientError, ClientLimits, Received};
use crate::list::ToolList;

/// What is asked for.
pub(super) const METHOD: &str = "tools/list";

/// The pages so far.
pub(super) struct Pages<'a> {
    limits: &'a ClientLimits,
    greeting: Greeting,
    tools: Vec<Value>,
    cursor: Option<String>,
    seen: HashSet<String>,
    pages: usize,
}

impl<'a> Pages<'a> {
    pub(super) fn new(limits: &'a ClientLimits, greeting: Greeting) -> Pages<'a> {
        Pages { limits, greeting, tools: Vec::new(), cursor: None, seen: HashSet::new(), pages: 0 }
    }

    /// The parameters that ask for the next page.
    pub(super) fn params(&self) -> Value {
        match self.greeting.era {
            Era::Modern => modern_params(self.cursor.as_deref()),
            Era::Legacy => self.cursor.as_ref().map_or_else(|| json!({}), |cursor| json!({"cursor": cursor})),
        }
    }

    /// Adds a page and says whether there is another.
    pub(super) fn add(&mut self, mut result: Value) -> Result<bool, ClientError> {
        self.pages += 1;
        match result.get_mut("tools").map(Value::take) {
            Some(Value::Array(mut page)) => self.tools.append(&mut page),
            _ => return Err(malformed("`tools` is no array")),
        }
        if self.tools.len() > self.limits.max_tools {
            return Err(ClientError::TooMuch { what: "tools", most: self.limits.max_tools });
        }
        let next = match result.get_mut("nextCursor").map(Value::take) {
            None | Some(Value::Null) => return Ok(false),
            Some(Value::String(next)) => next,
            Some(_) => return Err(malformed("`nextCursor` is no text")),
        };
        if self.pages == self.limits.max_pages {
            return Err(ClientError::TooMuch { what: "pages", most: self.limits.max_pages });
        }
        if !self.seen.insert(next.clone()) {
            return Err(malformed("its pages go round in a circle"));
        }
        self.cursor = Some(next);
        Ok(true)
    }

    /// All pages joined.
    pub(super) fn join(self) -> Result<Received, ClientError> {
        let tools = ToolList::of_array(&Value::Array(self.tools)).map_err(ClientError::List)?;
        let Greeting { era, protocol_version, server, reported_digest } = self.greeting;
        Ok(Received { era, protocol_version, server, reported_digest, tools, pages: self.pages })
    }
}

fn malformed(what: &str) -> ClientError {
    ClientError::Malformed { method: METHOD, what: what.to_owned() }
}
