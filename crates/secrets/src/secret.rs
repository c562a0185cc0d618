//! A value that has no way to be shown, and the loan of several for one call.
//!
//! Owns what counts as a secret. The forms in which one may come back are `form`'s business, hiding them is `mask`'s.
//! Start at [`Loan::borrow`].

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;

use crate::mask::Mask;

/// The fewest characters of a secret. What is shorter occurs in ordinary text, and masking it would both garble the
/// text and tell the value.
pub const SHORTEST: usize = 6;

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
    /// No such variable, or an empty one.
    #[error("secret `{name}` is not set")]
    Missing {
        /// The variable's name.
        name: String,
    },
    /// Too short to be told from ordinary text when masking.
    #[error("secret `{name}` is shorter than {SHORTEST} characters and cannot be masked")]
    TooShort {
        /// The variable's name.
        name: String,
    },
}

/// The secrets of one call.
#[derive(Default)]
pub struct Loan {
    secrets: BTreeMap<String, Secret>,
    /// Made when first asked for: most calls borrow nothing.
    prepared: OnceLock<Mask>,
}

impl fmt::Debug for Loan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Loan").field(&self.secrets).finish()
    }
}

impl Loan {
    /// Borrows the named secrets from an environment. `(name, required)`: an optional one may be absent or empty.
    pub fn borrow<'a>(
        environment: &BTreeMap<String, String>,
        names: impl IntoIterator<Item = (&'a str, bool)>,
    ) -> Result<Loan, LendError> {
        let mut secrets = BTreeMap::new();
        for (name, required) in names {
            match environment.get(name).filter(|value| !value.is_empty()) {
                Some(value) if value.chars().count() < SHORTEST => {
                    return Err(LendError::TooShort { name: name.to_owned() });
                }
                Some(value) => {
                    secrets.insert(name.to_owned(), Secret { value: value.clone() });
                }
                None if required => return Err(LendError::Missing { name: name.to_owned() }),
                None => {}
            }
        }
        Ok(Loan { secrets, prepared: OnceLock::new() })
    }

    /// Whether nothing was borrowed.
    pub fn is_empty(&self) -> bool {
        self.secrets.is_empty()
    }

    /// Names and values, for the child's environment.
    pub fn variables(&self) -> impl Iterator<Item = (&str, &Secret)> {
        self.secrets.iter().map(|(name, secret)| (name.as_str(), secret))
    }

    /// The text with every form of every secret masked: what is masked reads `***NAME***`.
    pub fn mask(&self, text: &str) -> String {
        let masked = self.mask_within(text.as_bytes(), 0..text.len());
        String::from_utf8(masked).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }

    /// A part of a text, masked: the rest is only looked at, so that a secret that reaches over a border of `shown` is
    /// hidden whole. It is masked where it begins.
    pub fn mask_within(&self, text: &[u8], shown: Range<usize>) -> Vec<u8> {
        match self.prepared() {
            Some(mask) => mask.hide(text, shown),
            None => text[shown].to_vec(),
        }
    }

    /// How many bytes beside a part must be known for [`Loan::mask_within`] to see every secret that reaches into it.
    pub fn reach(&self) -> usize {
        self.prepared().map_or(0, Mask::reach)
    }

    fn prepared(&self) -> Option<&Mask> {
        (!self.is_empty()).then(|| self.prepared.get_or_init(|| Mask::new(&self.secrets)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(value: &str) -> BTreeMap<String, String> {
        BTreeMap::from([("KEY".to_owned(), value.to_owned())])
    }

    #[test]
    fn a_value_under_6_characters_is_no_secret() {
        let short = Loan::borrow(&environment("ééééé"), [("KEY", true)]).unwrap_err();
        assert_eq!(short, LendError::TooShort { name: "KEY".to_owned() });
        assert_eq!(short.to_string(), "secret `KEY` is shorter than 6 characters and cannot be masked");
        assert!(Loan::borrow(&environment("éééééé"), [("KEY", false)]).is_ok());
        assert!(Loan::borrow(&environment("ééééé"), [("KEY", false)]).is_err(), "an optional one is no exception");
    }

    #[test]
    fn only_a_required_secret_has_to_be_there() {
        for environment in [BTreeMap::new(), environment("")] {
            let missing = Loan::borrow(&environment, [("KEY", true)]).unwrap_err();
            assert_eq!(missing.to_string(), "secret `KEY` is not set");
            let loan = Loan::borrow(&environment, [("KEY", false)]).unwrap();
            assert_eq!((loan.variables().count(), loan.mask("value").as_str(), loan.reach()), (0, "value", 0));
        }
    }

    #[test]
    fn only_what_was_asked_for_is_lent() {
        let mut environment = environment("value-of-key");
        environment.insert("OTHER".to_owned(), "value-of-other".to_owned());
        let loan = Loan::borrow(&environment, [("KEY", true)]).unwrap();
        let lent: Vec<_> = loan.variables().map(|(name, secret)| (name, secret.reveal())).collect();
        assert_eq!(lent, [("KEY", "value-of-key")]);
        assert_eq!(loan.mask("value-of-key value-of-other"), "***KEY*** value-of-other");
    }

    #[test]
    fn debug_shows_no_value() {
        let loan = Loan::borrow(&environment("value-of-key"), [("KEY", true)]).unwrap();
        let _ = loan.reach();
        assert_eq!(format!("{loan:?}"), r#"Loan({"KEY": Secret(…)})"#);
    }
}
