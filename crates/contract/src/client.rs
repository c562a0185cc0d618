//! An MCP client that asks any server for its tools and nothing else, over standard input and output, in either era.
//!
//! Owns what a server may cost that answers badly, slowly or without end. What it received is kept as it came; whether
//! that is right is `verify`'s question. Start at [`receive`].

mod conversation;

use std::collections::HashSet;
use std::time::Duration;

use gatelatch_protocol::era::{Era, NEWEST_LEGACY, SERVED};
use gatelatch_spawn::child::{Launch, SpawnError};
use gatelatch_spawn::session::SessionError;
use serde_json::{Value, json};

use crate::list::{ToolList, ToolListError};
use crate::pin::{Pin, ServerLabel};
use crate::published::text_at;
use crate::server_json::publisher::DIGEST_KEY;
use conversation::{Answer, Conversation};

const MODERN: &str = "2026-07-28";
const SERVER_INFO_KEY: &str = "io.modelcontextprotocol/serverInfo";

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
    let Transport::Stdio(launch) = transport;
    let within = tokio::time::timeout(launch.timeout, stdio(launch, limits, eras)).await;
    within.unwrap_or_else(|_| {
        let (source, stderr_tail) = (SessionError::TimedOut, String::new());
        Err(ClientError::Silent { method: "tools/list", source, stderr_tail })
    })
}

impl Received {
    /// A pin of what was received.
    pub fn into_pin(self) -> Pin {
        Pin { server: self.server, tools: self.tools }
    }
}

/// What a server said about itself before its list.
struct Greeting {
    era: Era,
    protocol_version: String,
    server: ServerLabel,
    reported_digest: Option<String>,
}

async fn stdio(launch: &Launch, limits: &ClientLimits, eras: Eras) -> Result<Received, ClientError> {
    let mut talk = Conversation::start(launch, limits)?;
    let greeting = match eras {
        Eras::Only(Era::Legacy) => initialize(&mut talk).await?,
        Eras::Only(Era::Modern) => {
            let id = talk.ask("server/discover", modern_params(None)).await?;
            let (_, answer) = talk.answer("server/discover", &[id]).await?;
            discovered(&answer.result("server/discover")?).ok_or_else(|| ClientError::Malformed {
                method: "server/discover",
                what: format!("it does not offer {MODERN}"),
            })?
        }
        Eras::Either => match either(&mut talk, limits).await {
            Ok(greeting) => greeting,
            Err(ClientError::Silent { source: SessionError::Ended | SessionError::Lost(_), .. }) => {
                talk = Conversation::start(launch, limits)?;
                initialize(&mut talk).await?
            }
            Err(error) => return Err(error),
        },
    };
    let received = list(&mut talk, limits, greeting).await?;
    talk.end().await;
    Ok(received)
}

/// Asks the modern way, and the legacy way when that is refused or not answered in time.
async fn either(talk: &mut Conversation<'_>, limits: &ClientLimits) -> Result<Greeting, ClientError> {
    let discover = talk.ask("server/discover", modern_params(None)).await?;
    match tokio::time::timeout(limits.patience, talk.answer("server/discover", &[discover])).await {
        Ok(answer) => {
            if let Some(greeting) = answer?.1.ok().as_ref().and_then(discovered) {
                return Ok(greeting);
            }
            initialize(talk).await
        }
        Err(_) => {
            // A modern server that is slow to start answers the first question yet.
            let initialize = talk.ask("initialize", legacy_params()).await?;
            let mut waiting = vec![discover, initialize];
            loop {
                let (id, answer) = talk.answer("initialize", &waiting).await?;
                if id == initialize {
                    return initialized(talk, answer).await;
                }
                if let Some(greeting) = answer.ok().as_ref().and_then(discovered) {
                    return Ok(greeting);
                }
                waiting.retain(|other| *other != id);
            }
        }
    }
}

async fn initialize(talk: &mut Conversation<'_>) -> Result<Greeting, ClientError> {
    let id = talk.ask("initialize", legacy_params()).await?;
    let (_, answer) = talk.answer("initialize", &[id]).await?;
    initialized(talk, answer).await
}

async fn initialized(talk: &mut Conversation<'_>, answer: Answer) -> Result<Greeting, ClientError> {
    let result = answer.result("initialize")?;
    let version = text_at(&result, "protocolVersion")
        .ok_or_else(|| ClientError::Malformed { method: "initialize", what: "it names no version".to_owned() })?;
    talk.notify("notifications/initialized").await?;
    Ok(Greeting {
        era: Era::Legacy,
        protocol_version: crate::shown::text(version),
        server: label(result.get("serverInfo")),
        reported_digest: None,
    })
}

/// The greeting of a server that serves the modern era.
fn discovered(result: &Value) -> Option<Greeting> {
    let versions = result.get("supportedVersions")?.as_array()?;
    versions.iter().any(|version| version == MODERN).then(|| {
        let meta = result.get("_meta");
        Greeting {
            era: Era::Modern,
            protocol_version: MODERN.to_owned(),
            server: label(meta.and_then(|meta| meta.get(SERVER_INFO_KEY))),
            reported_digest: meta.and_then(|meta| text_at(meta, DIGEST_KEY)).map(crate::shown::text),
        }
    })
}

fn label(info: Option<&Value>) -> ServerLabel {
    let text = |key| info.and_then(|info| text_at(info, key)).map(crate::shown::text).unwrap_or_default();
    ServerLabel { name: text("name"), version: text("version") }
}

async fn list(talk: &mut Conversation<'_>, limits: &ClientLimits, greeting: Greeting) -> Result<Received, ClientError> {
    const METHOD: &str = "tools/list";
    let malformed = |what: &str| ClientError::Malformed { method: METHOD, what: what.to_owned() };
    let (mut tools, mut cursor, mut seen, mut pages) = (Vec::new(), None, HashSet::new(), 0);
    loop {
        let params = match greeting.era {
            Era::Modern => modern_params(cursor.as_deref()),
            Era::Legacy => cursor.as_ref().map_or_else(|| json!({}), |cursor| json!({"cursor": cursor})),
        };
        let id = talk.ask(METHOD, params).await?;
        let mut result = talk.answer(METHOD, &[id]).await?.1.result(METHOD)?;
        pages += 1;
        match result.get_mut("tools").map(Value::take) {
            Some(Value::Array(mut page)) => tools.append(&mut page),
            _ => return Err(malformed("`tools` is no array")),
        }
        if tools.len() > limits.max_tools {
            return Err(ClientError::TooMuch { what: "tools", most: limits.max_tools });
        }
        cursor = match result.get_mut("nextCursor").map(Value::take) {
            None | Some(Value::Null) => break,
            Some(Value::String(next)) => Some(next),
            Some(_) => return Err(malformed("`nextCursor` is no text")),
        };
        if pages == limits.max_pages {
            return Err(ClientError::TooMuch { what: "pages", most: limits.max_pages });
        }
        if !seen.insert(cursor.clone()) {
            return Err(malformed("its pages go round in a circle"));
        }
    }
    let tools = ToolList::of_array(&Value::Array(tools)).map_err(ClientError::List)?;
    let Greeting { era, protocol_version, server, reported_digest } = greeting;
    Ok(Received { era, protocol_version, server, reported_digest, tools, pages })
}

fn client_info() -> Value {
    json!({"name": "gatelatch", "version": env!("CARGO_PKG_VERSION")})
}

fn modern_params(cursor: Option<&str>) -> Value {
    debug_assert!(SERVED.contains(&MODERN));
    let mut params = json!({"_meta": {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": client_info(),
        "io.modelcontextprotocol/clientCapabilities": {},
    }});
    if let (Some(cursor), Some(map)) = (cursor, params.as_object_mut()) {
        map.insert("cursor".to_owned(), cursor.into());
    }
    params
}

fn legacy_params() -> Value {
    json!({"protocolVersion": NEWEST_LEGACY, "capabilities": {}, "clientInfo": client_info()})
}
