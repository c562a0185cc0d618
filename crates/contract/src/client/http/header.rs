//! The headers that somebody wants sent along. A value is sent and never shown, whoever would show it.
//!
//! Owns which values are secret and how one is found in what a server sends. Start at [`Header::new`].

use std::fmt;

use serde_json::Value;
use ureq::http::{HeaderName, HeaderValue};

/// What the client itself says in every question.
const OWN: [&str; 15] = [
    "accept",
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "te",
    "transfer-encoding",
    "upgrade",
];

/// What the name of a header that holds a secret says.
const SECRET: [&str; 8] = ["auth", "cookie", "credential", "key", "pass", "secret", "session", "token"];

/// Below this, a value is found by chance.
const LEAST_SECRET: usize = 6;

/// One header.
#[derive(Clone)]
pub struct Header {
    name: HeaderName,
    value: HeaderValue,
    /// What must not be shown: the value, and what follows a scheme such as `Bearer` in it.
    secrets: Vec<String>,
}

/// Why there is no such header. Never holds a value.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// The name is none.
    #[error("a header's name is letters, digits and hyphens")]
    Name,
    /// The value cannot be sent.
    #[error("the value of the header `{name}` is not plain ASCII on one line")]
    Value {
        /// The name.
        name: String,
    },
    /// The client says it itself.
    #[error("the header `{name}` is gatelatch's own to send")]
    Own {
        /// The name.
        name: String,
    },
}

impl Header {
    /// A header whose value is secret if its name says so.
    ///
    /// # Errors
    ///
    /// When name or value cannot be sent, or the client sends that header itself.
    pub fn new(name: &str, value: &str) -> Result<Header, HeaderError> {
        let lower = name.to_ascii_lowercase();
        let is_secret = SECRET.iter().any(|word| lower.contains(word));
        Header::secret(name, value)
            .map(|header| if is_secret { header } else { Header { secrets: Vec::new(), ..header } })
    }

    /// A header whose value is secret.
    ///
    /// # Errors
    ///
    /// As for [`Header::new`].
    pub fn secret(name: &str, value: &str) -> Result<Header, HeaderError> {
        let name = HeaderName::from_bytes(name.trim().as_bytes()).map_err(|_| HeaderError::Name)?;
        if OWN.contains(&name.as_str()) {
            return Err(HeaderError::Own { name: name.to_string() });
        }
        let text = value.trim();
        let sendable = HeaderValue::from_str(text).ok().filter(|_| text.is_ascii());
        let mut value = sendable.ok_or_else(|| HeaderError::Value { name: name.to_string() })?;
        value.set_sensitive(true);
        let after_scheme = text.split_once(' ').map(|(_, rest)| rest.trim());
        let secrets = [Some(text), after_scheme].into_iter().flatten();
        let secrets = secrets.filter(|secret| secret.len() >= LEAST_SECRET).map(str::to_owned).collect();
        Ok(Header { name, value, secrets })
    }
}

impl fmt::Debug for Header {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Header({}: …)", self.name)
    }
}

/// All headers of a question, each name once.
#[derive(Clone, Debug, Default)]
pub(super) struct Headers(Vec<Header>);

impl Headers {
    /// The headers, or the name that is there twice.
    pub(super) fn new(headers: Vec<Header>) -> Result<Headers, String> {
        for (at, header) in headers.iter().enumerate() {
            if headers.iter().take(at).any(|earlier| earlier.name == header.name) {
                return Err(header.name.to_string());
            }
        }
        Ok(Headers(headers))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&HeaderName, &HeaderValue)> {
        self.0.iter().map(|header| (&header.name, &header.value))
    }

    /// The name of a header whose secret stands in a text.
    pub(super) fn echoed(&self, text: &str) -> Option<String> {
        let holds = |header: &&Header| header.secrets.iter().any(|secret| text.contains(secret.as_str()));
        self.0.iter().find(holds).map(|header| header.name.to_string())
    }

    /// The name of a header whose secret stands in any text of a value.
    pub(super) fn echoed_in(&self, value: &Value) -> Option<String> {
        match value {
            Value::String(text) => self.echoed(text),
            Value::Array(items) => items.iter().find_map(|item| self.echoed_in(item)),
            Value::Object(map) => map.iter().find_map(|(key, item)| self.echoed(key).or_else(|| self.echoed_in(item))),
            Value::Null | Value::Bool(_) | Value::Number(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_is_never_shown() {
        let header = Header::new("Authorization", "Bearer p4ssw0rd").unwrap();
        let headers = Headers::new(vec![header.clone()]).unwrap();
        for shown in [format!("{header:?}"), format!("{headers:?}"), format!("{:?}", headers.iter().next())] {
            assert!(!shown.contains("p4ssw0rd"), "{shown}");
        }
        for value in ["p4ssw0rd\r\nX-Other: 1", "p\u{e4}ssw0rd", "p4ss\0w0rd"] {
            let error = Header::new("Authorization", value).unwrap_err();
            assert_eq!(error, HeaderError::Value { name: "authorization".to_owned() });
        }
    }

    #[test]
    fn what_the_client_says_itself_cannot_be_said_otherwise() {
        for name in ["Content-Type", "MCP-Protocol-Version", "Mcp-Session-Id", "host", "Transfer-Encoding"] {
            assert!(matches!(Header::new(name, "x"), Err(HeaderError::Own { .. })), "{name}");
        }
        for name in ["", "a b", "é", "a:b"] {
            assert_eq!(Header::new(name, "x").unwrap_err(), HeaderError::Name, "{name}");
        }
    }

    #[test]
    fn a_secret_is_found_in_any_text_that_came_back_with_or_without_its_scheme() {
        let headers = |header: Result<Header, HeaderError>| Headers::new(vec![header.unwrap()]).unwrap();
        let bearer = headers(Header::new("Authorization", "Bearer p4ssw0rd"));
        for value in [json!("no: p4ssw0rd!"), json!({"a": [{"p4ssw0rd": 1}]}), json!(["Bearer p4ssw0rd"])] {
            assert_eq!(bearer.echoed_in(&value).as_deref(), Some("authorization"), "{value}");
        }
        assert_eq!(bearer.echoed_in(&json!(["Bearer", "p4ss", 1, null])), None);
        assert_eq!(headers(Header::new("X-Tenant", "example")).echoed("an example"), None);
        assert_eq!(headers(Header::secret("X-Tenant", "example")).echoed("an example").as_deref(), Some("x-tenant"));
    }

    #[test]
    fn a_header_that_is_there_twice_is_named() {
        let header = |name: &str| Header::new(name, "x").unwrap();
        assert_eq!(Headers::new(vec![header("X-A"), header("x-b"), header("x-a")]).unwrap_err(), "x-a");
    }
}
