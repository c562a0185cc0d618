//! What was given to reach a server, and must not be shown when the server sends it back.
//!
//! Owns which of it is a secret: that makes an answer unusable. All else is masked where a server's words are told. Start
//! at [`Kept::echoed`] and [`Kept::masked`].

use serde_json::Value;

use super::address::Address;
use super::header::Headers;

/// What stands for what is masked.
const MASK: &str = "…";

/// Below this, a value is found by chance.
const LEAST: usize = 6;

/// What the name of a header or a parameter says that holds a secret.
const SECRET: [&str; 8] = ["auth", "cookie", "credential", "key", "pass", "secret", "session", "token"];

/// Whether the name of a header or a parameter says that its value is a secret.
pub(super) fn says_secret(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    SECRET.iter().any(|word| lower.contains(word))
}

/// A text that was given.
#[derive(Clone)]
struct Given {
    text: String,
    /// What it is, where it is a secret.
    secret: Option<String>,
    is_of_address: bool,
}

/// All that was given.
#[derive(Clone, Default)]
pub(super) struct Kept(Vec<Given>);

impl Kept {
    pub(super) fn of(address: &Address, headers: &Headers) -> Kept {
        let of_headers = headers.given().map(|(name, text, is_secret)| Given {
            text: text.to_owned(),
            secret: is_secret.then(|| format!("the value of the header `{name}`")),
            is_of_address: false,
        });
        let of_address = address.given().into_iter().map(|(text, is_secret)| Given {
            text,
            secret: is_secret.then(|| "a secret of the address".to_owned()),
            is_of_address: true,
        });
        let mut given: Vec<Given> = of_headers.chain(of_address).filter(|given| given.text.len() >= LEAST).collect();
        // What holds another is masked first.
        given.sort_by_key(|given| std::cmp::Reverse(given.text.len()));
        Kept(given)
    }

    /// Which secret stands in a text.
    pub(super) fn echoed(&self, text: &str) -> Option<String> {
        self.0.iter().find_map(|given| given.secret.as_ref().filter(|_| text.contains(&given.text)).cloned())
    }

    /// Which header's secret stands in a header of an answer. The address stands there by right, where the server is told.
    pub(super) fn echoed_in_header(&self, text: &str) -> Option<String> {
        let mut of_headers = self.0.iter().filter(|given| !given.is_of_address && text.contains(&given.text));
        of_headers.find_map(|given| given.secret.clone())
    }

    /// Which secret stands in any text of a value.
    pub(super) fn echoed_in(&self, value: &Value) -> Option<String> {
        match value {
            Value::String(text) => self.echoed(text),
            Value::Array(items) => items.iter().find_map(|item| self.echoed_in(item)),
            Value::Object(map) => map.iter().find_map(|(key, item)| self.echoed(key).or_else(|| self.echoed_in(item))),
            Value::Null | Value::Bool(_) | Value::Number(_) => None,
        }
    }

    /// A text of the server's without anything that was given.
    pub(super) fn masked(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, given| text.replace(&given.text, MASK))
    }

    /// The same for every text of a value.
    pub(super) fn mask_in(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.masked(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.mask_in(item)),
            Value::Object(map) => map.values_mut().for_each(|item| self.mask_in(item)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::client::http::header::Header;

    fn kept(url: &str, headers: Vec<Header>) -> Kept {
        Kept::of(&Address::parse(url).unwrap(), &Headers::new(headers).unwrap())
    }

    #[test]
    fn a_secret_is_found_in_any_text_that_came_back_with_or_without_its_scheme() {
        let kept = |header: Header| kept("https://example.org/mcp", vec![header]);
        let bearer = kept(Header::new("Authorization", "Bearer p4ssw0rd").unwrap());
        for value in [json!("no: p4ssw0rd!"), json!({"a": [{"p4ssw0rd": 1}]}), json!(["Bearer p4ssw0rd"])] {
            let told = bearer.echoed_in(&value);
            assert_eq!(told.as_deref(), Some("the value of the header `authorization`"), "{value}");
        }
        assert_eq!(bearer.echoed_in(&json!(["Bearer", "p4ss", 1, null])), None);
        assert_eq!(kept(Header::new("X-Tenant", "example").unwrap()).echoed("an example"), None);
        let told = kept(Header::secret("X-Tenant", "example").unwrap()).echoed("an example");
        assert_eq!(told.as_deref(), Some("the value of the header `x-tenant`"));
    }

    #[test]
    fn a_secret_of_the_address_is_found_as_it_was_written_and_as_it_is_meant() {
        let url =
            "https://example.org/notion-mcp-server/s/0a1b2c3d4e5f6a7b8c9d/mcp?api_key=a%2Fb%2Fc%2Fd&set=everything";
        let kept = kept(url, Vec::new());
        for secret in ["0a1b2c3d4e5f6a7b8c9d", "a%2Fb%2Fc%2Fd", "a/b/c/d"] {
            assert!(kept.echoed(&format!("no {secret} here")).is_some(), "{secret}");
        }
        for plain in ["the notion-mcp-server", "everything", "/mcp", "api_key"] {
            assert_eq!(kept.echoed(plain), None, "{plain}");
        }
        assert_eq!(kept.echoed_in_header("/s/0a1b2c3d4e5f6a7b8c9d/mcp/"), None);
    }

    #[test]
    fn all_that_was_given_is_masked_and_short_words_are_not() {
        let headers = vec![Header::new("X-Tenant", "acme-north").unwrap(), Header::new("X-Mode", "dev").unwrap()];
        let kept = kept("https://example.org/notion-mcp-server/mcp?set=everything", headers);
        let told = kept.masked("acme-north may not see everything of /notion-mcp-server/mcp in dev");
        assert_eq!(told, "… may not see … of /…/mcp in dev");
        let mut value = json!({"a": ["acme-north", 1]});
        kept.mask_in(&mut value);
        assert_eq!(value, json!({"a": ["…", 1]}));
    }
}
