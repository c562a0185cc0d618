//! The record of one connection: what stood in the files before, and what we wrote.
//!
//! It lies in the state folder, for its owner alone, since a configuration may hold keys. Knows no client. Start at
//! [`Record`].

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::write::{self, Privacy};
use super::{Client, ConnectError, Surroundings};

/// What to know in order to undo.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Record {
    /// The form of this file; another one is not read.
    format: u32,
    /// The configuration files.
    files: Vec<Kept>,
    /// The instructions file, if we wrote it.
    pub(super) instructions: Option<Written>,
}

/// What became of one configuration file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Kept {
    /// The file as the user knows it.
    pub(super) config: PathBuf,
    /// Its text before and after.
    pub(super) file: Written,
    /// The single things that were written into it.
    pub(super) parts: Vec<Part>,
    /// The objects and lists that were not there before, outermost first.
    pub(super) created: Vec<Vec<String>>,
}

/// A file before and after.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Written {
    /// Its text; `None` when there was none.
    pub(super) before: Option<String>,
    /// The digest of what we wrote, to see whether somebody touched it since.
    pub(super) after: String,
}

impl Written {
    pub(super) fn new(before: Option<String>, after: &str) -> Written {
        Written { before, after: digest(after) }
    }

    /// Whether the text is the one that we wrote.
    pub(super) fn is_ours(&self, text: Option<&str>) -> bool {
        text.is_some_and(|text| digest(text) == self.after)
    }
}

/// One value within a configuration: the path to it, what we wrote there and what stood there before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Part {
    /// The keys that lead to it; of an array's element, those of the array.
    pub(super) at: Vec<String>,
    /// How it is taken back.
    pub(super) kind: Kind,
    /// What we wrote.
    pub(super) wrote: Value,
    /// What stood there; `None` for nothing.
    pub(super) before: Option<Value>,
}

/// What a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    /// A server's entry, of which only some fields may be ours.
    Server,
    /// A value of its own.
    Value,
    /// A text in a list.
    Element,
}

const FORMAT: u32 = 2;

impl Record {
    pub(super) fn new(files: Vec<Kept>, instructions: Option<Written>) -> Record {
        Record { format: FORMAT, files, instructions }
    }

    /// What it remembers of this file.
    pub(super) fn of(&self, config: &Path) -> Option<&Kept> {
        self.files.iter().find(|kept| kept.config == config)
    }

    /// Where the record of this connection lies.
    pub(super) fn path(surroundings: &Surroundings, client: Client, config: &Path, server: &str) -> PathBuf {
        let key = digest(&format!("{}\n{}\n{server}", client.as_str(), config.display()));
        let file = format!("{}-{}.json", client.as_str(), key.get(..16).unwrap_or(&key));
        surroundings.state_folder.join("connections").join(file)
    }

    /// The record there; `None` when there is none.
    pub(super) fn load(path: &Path) -> Result<Option<Record>, ConnectError> {
        let fault = |message: String| ConnectError::Record { path: path.to_path_buf(), message };
        let Some(text) = write::read(path)? else { return Ok(None) };
        let record: Record = serde_json::from_str(&text).map_err(|error| fault(error.to_string()))?;
        if record.format != FORMAT {
            return Err(fault(format!("it has format {}, this program knows {FORMAT}", record.format)));
        }
        Ok(Some(record))
    }

    pub(super) fn save(&self, path: &Path) -> Result<(), ConnectError> {
        let fault = |source: std::io::Error| ConnectError::Write { path: path.to_path_buf(), source };
        let text = serde_json::to_string_pretty(self).map_err(|error| fault(error.into()))?;
        write::replace(path, &text, Privacy::OwnerOnly).map_err(fault)
    }
}

fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}
