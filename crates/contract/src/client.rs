//! An MCP client that asks any server for its tools and nothing else, over standard input and output, in either era.
//!
//! Owns what a server may cost that answers badly, slowly or without end. What it received is kept as it came; whether
//! that is right is `verify`'s question. Start at [`receive`].

mod conversation;
mod greeting;
mod message;
mod page;
mod stdio;

use std::time::Duration;

use gatelatch_protocol::era::Era;
use gatelatch_spawn::child::{Launch, SpawnError};
use gatelatch_spawn::session::SessionError;

use crate::list::{ToolList, ToolListError};
use crate::pin::{Pin, ServerLabel};

const MODERN: &str = "2026-07-28";

/// How long a line of a server may be: for [`Launch::max_stdout_bytes`].
pub const LONGEST_LINE: usize = 4 * 1024 * 1024;

/// How a server is reached.
#[derive(Debug)]
#[non_exhaustive]
pub enum Transport {
    /// A child that is started for it. [`Launch::timeout`] bounds everything from the start to the last answer.
    Stdio(Launch),
}

/// Which eras are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eras {
    /// Modern first, then legacy.
    Either,
    /// One of the two.
    Only(Era),
}

/// What a server may cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientLimits {
    /// How long the first question may go unanswered before the legacy one is asked beside it.
    pub patience: Duration,
    /// How many bytes may be received in all.
    pub max_bytes: usize,
    /// How many lines.
    pub max_lines: usize,
    /// How many pages a list may have.
    pub max_pages: usize,
    /// How many tools.
    pub max_tools: usize,
}

impl Default for ClientLimits {
    fn default() -> ClientLimits {
        ClientLimits {
            patience: Duration::from_secs(5),
            max_bytes: 2 * LONGEST_LINE,
            max_lines: 20_000,
            max_pages: 1_000,
            max_tools: 10_000,
        }
    }
}

/// What a server sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Received {
    /// The era that it answered in.
    pub era: Era,
    /// The version that it answered with.
    pub protocol_version: String,
    /// Who it says it is.
    pub server: ServerLabel,
    /// The digest that it says its contract has: a label.
    pub reported_digest: Option<String>,
    /// Its tools, all pages joined.
    pub tools: ToolList,
    /// How many pages there were.
    pub pages: usize,
}

/// Why no list was received. Never holds an argument or a value of the environment.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// It did not start.
    #[error("the server did not start")]
    Start(#[source] SpawnError),
    /// It ended, fell silent or wrote a line that is too long.
    #[error("the server did not answer `{method}`")]
    Silent {
        /// What it was asked.
        method: &'static str,
        /// Why.
        #[source]
        source: SessionError,
        /// The end of what it said on standard error.
        stderr_tail: String,
    },
    /// It answered with an error.
    #[error("the server refused `{method}` with {code}: {message}")]
    Refused {
        /// What it was asked.
        method: &'static str,
        /// The code.
        code: i64,
        /// The message.
        message: String,
    },
    /// It answered something else.
    #[error("the server's answer to `{method}` is malformed: {what}")]
    Malformed {
        /// What it was asked.
        method: &'static str,
        /// How.
        what: String,
    },
    /// It sent more than is taken.
    #[error("the server sent more than {most} {what}")]
    TooMuch {
        /// Of what.
        what: &'static str,
        /// How many are taken.
        most: usize,
    },
    /// Its tools are no list.
    #[error("the server's tools are no list")]
    List(#[source] ToolListError),
}

/// Asks a server for its whole list.
///
/// A server that ends over the first question is started once more and asked the legacy way.
///
/// # Errors
///
/// When no whole list came within the limits.
pub async fn receive(transport: &Transport, limits: &ClientLimits, eras: Eras) -> Result<Received, ClientError> {
    match transport {
        Transport::Stdio(launch) => stdio::receive(launch, limits, eras).await,
    }
}

impl Received {
    /// A pin of what was received.
    pub fn into_pin(self) -> Pin {
        Pin { server: self.server, tools: self.tools }
    }
}
