//! Legacy or modern: computed from the version string in exactly one function.
//!
//! Owns the list of versions that are served. Refuses to know transports and results. Start at [`Era::of_request`].

use serde_json::{Map, Value};

/// The versions that are served, oldest first.
pub const SERVED: [&str; 4] = ["2024-11-05", "2025-06-18", "2025-11-25", "2026-07-28"];

/// What `initialize` answers when the client asks for a version that it cannot name.
pub const NEWEST_LEGACY: &str = "2025-11-25";

/// The key of a request's `_meta` that names the version.
pub const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

const MODERN: &str = "2026-07-28";

/// Which shape a request is served in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// MCP up to 2025-11-25.
    Legacy,
    /// MCP 2026-07-28.
    Modern,
}

/// Why a request has no era.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EraError {
    /// The version is not one of [`SERVED`].
    #[error("protocol version `{0}` is not served")]
    NotServed(String),
    /// The version is no string.
    #[error("`{VERSION_KEY}` must be a string")]
    NotText,
}

impl Era {
    /// The era of one request, from its `_meta` alone: what came before on the connection plays no part.
    ///
    /// # Errors
    ///
    /// When `_meta` names a version that is not served.
    pub fn of_request(meta: &Map<String, Value>) -> Result<Era, EraError> {
        match meta.get(VERSION_KEY) {
            None => Ok(Era::Legacy),
            Some(Value::String(version)) if version == MODERN => Ok(Era::Modern),
            Some(Value::String(version)) if SERVED.contains(&version.as_str()) => Ok(Era::Legacy),
            Some(Value::String(version)) => Err(EraError::NotServed(version.clone())),
            Some(_) => Err(EraError::NotText),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn era(version: Value) -> Result<Era, EraError> {
        let mut meta = Map::new();
        meta.insert(VERSION_KEY.to_owned(), version);
        Era::of_request(&meta)
    }

    #[test]
    fn only_2026_07_28_is_modern_and_the_other_served_versions_are_legacy() {
        for version in SERVED {
            let expected = if version == "2026-07-28" { Era::Modern } else { Era::Legacy };
            assert_eq!(era(json!(version)), Ok(expected), "{version}");
        }
    }

    #[test]
    fn a_request_that_names_no_version_is_legacy() {
        assert_eq!(Era::of_request(&Map::new()), Ok(Era::Legacy));
    }

    #[test]
    fn a_version_that_is_not_served_has_no_era() {
        for version in ["2025-03-26", "2099-01-01", "", "2026-07-28 "] {
            assert_eq!(era(json!(version)), Err(EraError::NotServed(version.to_owned())));
        }
        for version in [json!(null), json!(20260728), json!({}), json!(["2026-07-28"])] {
            assert_eq!(era(version), Err(EraError::NotText));
        }
    }
}
