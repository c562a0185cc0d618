//! An MCP client that asks any server for its tools and nothing else, over standard input and output or over HTTP, in
//! either era.
//!
//! Owns what a server may cost that answers badly, slowly or without end. What it received is kept as it came; whether
//! that is right is `verify`'s question. Start at [`receive`].

pub mod http;

mod conversation;
mod greeting;
mod message;
mod page;
mod stdio;

use std::time::Duration;

use gatelatch_protocol::era::Era;
use gatelatch_spawn::child::{Launch, SpawnError};
use gatelatch_spawn::session::SessionError;

use self::http::{ExchangeError, Http};
use crate::list::{ToolList, ToolListError};
use crate::pin::{Pin, ServerLabel};

const MODERN: &str = "2026-07-28";

/// How long a line of a server may be: for [`Launch::max_stdout_bytes`].
pub const LONGEST_LINE: usize = 4 * 1024 * 1024;

/// How a server is reached.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Transport {
    /// A child that is started for it. [`Launch::timeout`] bounds everything from the start to the last answer.
    Stdio(Launch),
    /// An address where it runs already.
    Http(Http),
}

impl Transport {
    /// The same with so much less time.
    #[must_use]
    pub fn shorter_by(self, gone: Duration) -> Transport {
        match self {
            Transport::Stdio(launch) => {
                Transport::Stdio(Launch { timeout: launch.timeout.saturating_sub(gone), ..launch })
            }
            Transport::Http(http) => Transport::Http(http.shorter_by(gone)),
        }
    }
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
    /// How many lines, of standard output or of streams of events.
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

/// Why no list was received. Never holds an argument, a value of the environment or a header's value, and of an address
/// no more than its origin.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// It did not start.
    #[error("the server did not start")]
    Start(#[source] SpawnError),
    /// It ended, fell silent or wrote a line that is too long.
    #[error("{}", silence(method, odd.as_deref(), *was_heard))]
    Silent {
        /// What it was asked.
        method: &'static str,
        /// The beginning of what it wrote where the answer belongs, fit to be shown.
        odd: Option<String>,
        /// Whether anything that it wrote was a message of MCP.
        was_heard: bool,
        /// Why.
        #[source]
        source: SessionError,
        /// The end of what it said on standard error.
        stderr_tail: String,
    },
    /// No connection, or it broke off or took too long.
    #[error("the server at `{origin}` did not answer `{method}`")]
    Exchange {
        /// Where it is.
        origin: String,
        /// What it was asked.
        method: &'static str,
        /// Why.
        #[source]
        source: ExchangeError,
    },
    /// It wants to know who asks, or does not let whoever asks in.
    #[error("the server does not let this client in: HTTP status {status}")]
    NotLetIn {
        /// 401 or 403.
        status: u16,
        /// The way of saying who asks that it wants, such as `Bearer`.
        scheme: Option<String>,
    },
    /// It sends whoever asks to another address.
    #[error("the server is at another address: HTTP status {status} to `{to}`")]
    Redirected {
        /// The status.
        status: u16,
        /// Where to, without a user, a query and what may be a secret of the address that was asked.
        to: String,
    },
    /// It failed in a way of HTTP's.
    #[error("the server answered `{method}` with HTTP status {status}{}", said.as_ref().map(|said| format!(": {said}")).unwrap_or_default())]
    Status {
        /// What it was asked.
        method: &'static str,
        /// The status.
        status: u16,
        /// The beginning of what it said beside it, where that is for people, fit to be shown.
        said: Option<String>,
    },
    /// It writes what it reads.
    #[error("this is no MCP server: it wrote back the question `{method}`")]
    Parrot {
        /// What it was asked.
        method: &'static str,
    },
    /// What answers at the address is something else.
    #[error("this is no MCP server: its answer to `{method}` {what}")]
    Foreign {
        /// What it was asked.
        method: &'static str,
        /// What the answer is.
        what: String,
    },
    /// It sent a secret back, which would be shown next.
    #[error("the server's answer to `{method}` holds {what}, so it is not shown")]
    Echo {
        /// What it was asked.
        method: &'static str,
        /// Which secret: the value of a header, or a part of the address.
        what: String,
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

fn silence(method: &str, odd: Option<&str>, was_heard: bool) -> String {
    match odd {
        None => format!("the server did not answer `{method}`"),
        Some(line) if was_heard => {
            format!("the server did not answer `{method}` and wrote `{line}` where the answer belongs")
        }
        Some(line) => format!("this is no MCP server: asked `{method}` it wrote `{line}`, which is no message"),
    }
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
        Transport::Http(server) => http::receive(server, limits, eras).await,
    }
}

impl Received {
    /// A pin of what was received.
    pub fn into_pin(self) -> Pin {
        Pin { server: self.server, tools: self.tools }
    }
}
