//! What is said before a list is asked for, and what a server says about itself then. Knows no transport.

use gatelatch_protocol::era::{Era, NEWEST_LEGACY, SERVED};
use serde_json::{Value, json};

use super::{ClientError, MODERN};
use crate::pin::ServerLabel;
use crate::published::text_at;
use crate::server_json::publisher::DIGEST_KEY;
use crate::shown;

const SERVER_INFO_KEY: &str = "io.modelcontextprotocol/serverInfo";

/// What a server said about itself before its list.
pub(super) struct Greeting {
    pub(super) era: Era,
    pub(super) protocol_version: String,
    pub(super) server: ServerLabel,
    pub(super) reported_digest: Option<String>,
}

impl Greeting {
    /// Reads the answer to `server/discover`; none when it does not offer the modern era.
    pub(super) fn of_discover(result: &Value) -> Option<Greeting> {
        let versions = result.get("supportedVersions")?.as_array()?;
        versions.iter().any(|version| version == MODERN).then(|| {
            let meta = result.get("_meta");
            Greeting {
                era: Era::Modern,
                protocol_version: MODERN.to_owned(),
                server: label(meta.and_then(|meta| meta.get(SERVER_INFO_KEY))),
                reported_digest: meta.and_then(|meta| text_at(meta, DIGEST_KEY)).map(shown::text),
            }
        })
    }

    /// Reads the answer to `initialize`.
    pub(super) fn of_initialize(result: &Value) -> Result<Greeting, ClientError> {
        let version = text_at(result, "protocolVersion")
            .ok_or_else(|| ClientError::Malformed { method: "initialize", what: "it names no version".to_owned() })?;
        Ok(Greeting {
            era: Era::Legacy,
            protocol_version: shown::text(version),
            server: label(result.get("serverInfo")),
            reported_digest: None,
        })
    }
}

/// The error of a server that was to be modern and is not.
pub(super) fn not_modern() -> ClientError {
    ClientError::Malformed { method: "server/discover", what: format!("it does not offer {MODERN}") }
}

/// The parameters of a modern request.
pub(super) fn modern_params(cursor: Option<&str>) -> Value {
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

/// The parameters of `initialize`.
pub(super) fn initialize_params() -> Value {
    json!({"protocolVersion": NEWEST_LEGACY, "capabilities": {}, "clientInfo": client_info()})
}

fn label(info: Option<&Value>) -> ServerLabel {
    let text = |key| info.and_then(|info| text_at(info, key)).map(shown::text).unwrap_or_default();
    ServerLabel { name: text("name"), version: text("version") }
}

fn client_info() -> Value {
    json!({"name": "gatelatch", "version": env!("CARGO_PKG_VERSION")})
}
