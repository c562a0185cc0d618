//! The pin file: what a server was once seen to send, for servers that publish nothing about themselves.
//!
//! Holds no command and no address: those may carry secrets. Start at [`Pin::parse`] and [`Pin::to_text`].

use serde::{Deserialize, Serialize};

use crate::list::ToolList;
use crate::listing::{self, Entry, ListingError};

const KIND: &str = "gatelatch pin 1";

/// Who a server says it is. A label, nothing more.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerLabel {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// A server's list at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Pin {
    /// Who it said it was.
    pub server: ServerLabel,
    /// The list.
    pub tools: ToolList,
}

/// Why a file is no pin file.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.heading("pin file"))]
pub struct PinError(#[from] pub ListingError);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    kind: String,
    server: ServerLabel,
    tools_digest: String,
    tools: Vec<Entry>,
}

impl Pin {
    /// Reads a pin file's text.
    ///
    /// # Errors
    ///
    /// When it is none, or was edited so that its digests do not hold.
    pub fn parse(text: &str) -> Result<Pin, PinError> {
        let file: File = listing::read(text, KIND)?;
        Ok(Pin { server: file.server, tools: listing::list(file.tools, &file.tools_digest)? })
    }

    /// The file's text, the same for the same content.
    pub fn to_text(&self) -> String {
        listing::text(&File {
            kind: KIND.to_owned(),
            server: self.server.clone(),
            tools_digest: self.tools.digest().to_owned(),
            tools: listing::entries(&self.tools),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Whoever reviews it sees what the model would read.
    #[test]
    fn nothing_in_a_pin_file_hides_and_its_digests_are_those_of_what_was_sent() {
        let sent = json!([{"name": "a", "description": "It adds.\u{202e}\u{e0041}", "inputSchema": {}}]);
        let pin = Pin { server: ServerLabel::default(), tools: ToolList::of_array(&sent).unwrap() };
        assert!(pin.to_text().contains(r"It adds.\u202e\udb40\udc41"), "{}", pin.to_text());
        assert_eq!(Pin::parse(&pin.to_text()).unwrap(), pin);
    }

    #[test]
    fn a_pin_file_is_read_as_it_was_written_and_is_told_from_a_lock_file() {
        let pin = Pin {
            server: ServerLabel { name: "everything".to_owned(), version: "1.0".to_owned() },
            tools: ToolList::of_array(&json!([{"name": "a", "inputSchema": {}}])).unwrap(),
        };
        assert_eq!(Pin::parse(&pin.to_text()).unwrap(), pin);
        assert!(crate::lock::Lock::parse(&pin.to_text()).is_err());
    }
}
