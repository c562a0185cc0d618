//! Where a server is. Only its origin is ever shown: the rest of an address may be a secret.

use std::fmt;
use std::net::IpAddr;

use ureq::http::Uri;

use super::kept::says_secret;

/// Parts of a path that are shorter, such as `mcp`, keep no secret.
const LEAST_SECRET: usize = 12;

/// From this length on, a part of a path that has letters and digits is taken for a secret and not for a name.
const LEAST_RANDOM: usize = 20;

/// An `http://` or `https://` address without a user.
#[derive(Clone)]
pub struct Address(Uri);

/// Why a text is no address of a server. Never holds the text.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// It is no URL.
    #[error("it is no URL; help: write https://HOST/PATH, other than plain ASCII percent-encoded")]
    NoUrl,
    /// It is of another kind.
    #[error("it begins with neither `https://` nor `http://`")]
    Scheme,
    /// It holds a user or a password.
    #[error("it holds a user or a password; help: give them by a header, `Authorization: Basic …`")]
    User,
}

impl Address {
    /// Reads an address.
    ///
    /// # Errors
    ///
    /// When it is none, or holds a user.
    pub fn parse(text: &str) -> Result<Address, AddressError> {
        let scheme = text.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
        if !matches!(scheme.as_deref(), Some("http" | "https")) {
            return Err(AddressError::Scheme);
        }
        let uri: Uri = text.parse().map_err(|_| AddressError::NoUrl)?;
        let authority = uri.authority().ok_or(AddressError::NoUrl)?;
        if authority.as_str().contains('@') {
            return Err(AddressError::User);
        }
        let port = authority.as_str().rsplit_once(':').filter(|(_, port)| !port.ends_with(']'));
        if uri.host().is_none_or(str::is_empty) || port.is_some() && authority.port_u16().is_none() {
            return Err(AddressError::NoUrl);
        }
        Ok(Address(uri))
    }

    /// Scheme, host and port.
    pub fn origin(&self) -> String {
        let authority = self.0.authority().map(ToString::to_string).unwrap_or_default();
        format!("{}://{}", self.0.scheme_str().unwrap_or_default(), authority.to_ascii_lowercase())
    }

    /// The host as it is written in the address, an IPv6 address without its brackets.
    pub fn host(&self) -> &str {
        self.0.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']')
    }

    /// Whether what is sent there cannot be read on the way.
    pub fn is_encrypted(&self) -> bool {
        self.0.scheme_str() == Some("https")
    }

    /// Whether it is on this machine.
    pub fn is_loopback(&self) -> bool {
        let host = self.host().trim_end_matches('.').to_ascii_lowercase();
        match host.parse::<IpAddr>() {
            Ok(address) => address.to_canonical().is_loopback(),
            Err(_) => host == "localhost" || host.ends_with(".localhost"),
        }
    }

    /// What of it must not be shown when it comes back, as it was written and as it is meant, and whether it is a secret.
    pub(super) fn given(&self) -> Vec<(String, bool)> {
        let is_random = |part: &str| {
            let has = |is: fn(&char) -> bool| part.chars().any(|c| is(&c));
            part.len() >= LEAST_RANDOM && has(char::is_ascii_digit) && has(char::is_ascii_alphabetic)
        };
        let parts = self.0.path().split('/').filter(|part| part.len() >= LEAST_SECRET);
        let parts = parts.map(|part| (part, is_random(part)));
        let pairs = self.0.query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
        let pairs = pairs.map(|(name, value)| (value, says_secret(name)));
        let both = |(text, is_secret): (&str, bool)| [(text.to_owned(), is_secret), (decoded(text), is_secret)];
        parts.chain(pairs).flat_map(both).collect()
    }

    pub(super) fn uri(&self) -> &Uri {
        &self.0
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Address({})", self.origin())
    }
}

/// A part of an address without its percent-encoding; what is no such encoding stays.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let byte = after.get(..2).and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        match byte.filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// As much of a place that a server names as is shown: no user, no query, and nothing long that stood in our address.
pub(super) fn place(named: &Uri, ours: &Address) -> String {
    let host = match (named.scheme_str(), named.host()) {
        (Some(scheme), Some(host)) => {
            let port = named.port_u16().map(|port| format!(":{port}")).unwrap_or_default();
            format!("{scheme}://{host}{port}")
        }
        _ => String::new(),
    };
    let may_be_secret = |part: &str| part.len() >= LEAST_SECRET && ours.0.path().contains(part);
    let parts = named.path().split('/').map(|part| if may_be_secret(part) { "…" } else { part });
    host + &parts.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_origin_of_an_address_is_shown() {
        let address = Address::parse("HTTPS://Example.org:8443/s/p4ssw0rd/mcp?key=p4ssw0rd#p4ssw0rd").unwrap();
        assert_eq!(address.origin(), "https://example.org:8443");
        assert!(!format!("{address:?}").contains("p4ssw0rd"));
        assert_eq!(address.uri().path_and_query().unwrap().as_str(), "/s/p4ssw0rd/mcp?key=p4ssw0rd");
    }

    #[test]
    fn a_place_that_a_server_names_gives_away_neither_a_user_nor_a_query_nor_a_secret_in_our_path() {
        let ours = Address::parse("https://example.org/s/p4ssw0rd-p4ssw0rd/mcp").unwrap();
        let named = |text: &str| place(&text.parse().unwrap(), &ours);
        assert_eq!(named("/s/p4ssw0rd-p4ssw0rd/mcp/?key=p4ssw0rd"), "/s/…/mcp/");
        assert_eq!(named("https://ada:p4ssw0rd@other.example:8443/mcp"), "https://other.example:8443/mcp");
    }

    #[test]
    fn an_address_with_a_user_is_refused_without_showing_it() {
        for text in ["https://ada:p4ssw0rd@example.org/", "http://ada@localhost/mcp", "https://@example.org/"] {
            let error = Address::parse(text).unwrap_err();
            assert_eq!(error, AddressError::User, "{text}");
            assert!(!error.to_string().contains("ada") && !format!("{error:?}").contains("p4ssw0rd"));
        }
    }

    #[test]
    fn what_is_no_address_of_a_server_is_refused() {
        for text in ["", "example.org/mcp", "ftp://example.org/", "file:///etc/passwd", "/mcp", "ws://localhost"] {
            assert_eq!(Address::parse(text).unwrap_err(), AddressError::Scheme, "{text}");
        }
        for text in
            ["http://", "https:///mcp", "http://a b/", "http://exämple.org/", "http://h:port/", "http://h:99999/"]
        {
            assert_eq!(Address::parse(text).unwrap_err(), AddressError::NoUrl, "{text}");
        }
    }

    #[test]
    fn this_machine_is_told_from_others_by_what_is_written() {
        for text in [
            "http://127.0.0.1:1/",
            "http://127.9.9.9",
            "http://[::1]:80/",
            "http://LOCALHOST./",
            "http://a.localhost/",
            "http://[::ffff:127.0.0.1]/",
        ] {
            assert!(Address::parse(text).unwrap().is_loopback(), "{text}");
        }
        for text in [
            "http://128.0.0.1/",
            "http://127.0.0.1.example.org/",
            "http://localhost.example.org/",
            "http://0.0.0.0/",
            "http://notlocalhost/",
        ] {
            assert!(!Address::parse(text).unwrap().is_loopback(), "{text}");
        }
    }
}
