//! A value that has no way to be shown.

use std::collections::BTreeMap;
use std::fmt;

use gatelatch_spawn::child::ByteFilter;

/// A secret's value. It has no `Display` and no serde, and its `Debug` shows nothing.
#[derive(Clone)]
pub struct Secret {
    value: String,
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl Secret {
    /// The value, for the child's environment and for nothing else.
    pub fn reveal(&self) -> &str {
        &self.value
    }
}

/// Why a secret cannot be lent. Names it, never shows it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LendError {
    /// No such variable.
    #[error("secret `{name}` is not set")]
    Missing {
        /// The variable's name.
        name: String,
    },
    /// Too short to be told from ordinary text when masking.
    #[error("secret `{name}` is shorter than 6 characters and cannot be masked")]
    TooShort {
        /// The variable's name.
        name: String,
    },
}

/// The secrets of one call.
#[derive(Debug, Default)]
pub struct Loan {
    secrets: BTreeMap<String, Secret>,
}

impl Loan {
    /// Borrows the named secrets from an environment. `(name, required)`: an optional one may be absent.
    pub fn borrow<'a>(
        environment: &BTreeMap<String, String>,
        names: impl IntoIterator<Item = (&'a str, bool)>,
    ) -> Result<Loan, LendError> {
        let _ = (environment, names);
        Ok(Loan::default())
    }

    /// Names and values, for the child's environment.
    pub fn variables(&self) -> impl Iterator<Item = (&str, &Secret)> {
        self.secrets.iter().map(|(name, secret)| (name.as_str(), secret))
    }

    /// A filter that masks every form of every secret; `None` when there is nothing to mask.
    pub fn filter(&self) -> Option<Box<dyn ByteFilter>> {
        None
    }
}
