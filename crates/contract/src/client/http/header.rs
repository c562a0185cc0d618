//! The headers that somebody wants sent along. A value is sent and never shown, whoever would show it.
//!
//! Owns which headers may be sent and which values are secret. Start at [`Header::new`].

use std::fmt;

use ureq::http::{HeaderName, HeaderValue};

use super::kept::says_secret;

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

/// One header.
#[derive(Clone)]
pub struct Header {
    name: HeaderName,
    value: HeaderValue,
    /// What is looked for in what comes back: the value, and what follows a scheme such as `Bearer` in it.
    texts: Vec<String>,
    is_secret: bool,
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
        Header::secret(name, value).map(|header| Header { is_secret: says_secret(name), ..header })
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
        let texts = [Some(text), after_scheme].into_iter().flatten().map(str::to_owned).collect();
        Ok(Header { name, value, texts, is_secret: true })
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

    /// What of each must not be shown: the header's name, the text, and whether it is a secret.
    pub(super) fn given(&self) -> impl Iterator<Item = (&str, &str, bool)> {
        self.0.iter().flat_map(|Header { name, texts, is_secret, .. }| {
            texts.iter().map(move |text| (name.as_str(), text.as_str(), *is_secret))
        })
    }
}

#[cfg(test)]
mod tests {
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
    fn a_header_that_is_there_twice_is_named() {
        let header = |name: &str| Header::new(name, "x").unwrap();
        assert_eq!(Headers::new(vec![header("X-A"), header("x-b"), header("x-a")]).unwrap_err(), "x-a");
    }
}
