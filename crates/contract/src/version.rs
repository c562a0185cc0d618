//! How far `surface_version` must move for a change.
//!
//! Owns the rule for versions below 1.0.0 as well. Refuses to know what changed. Start at [`SurfaceVersion::least_after`].

use std::fmt;

use semver::Version;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::diff::{Change, Diff};
use crate::level::Level;
use crate::shown;

/// The version of a contract: three numbers. A contract is in force or it is not, so there are no pre-releases.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SurfaceVersion(Version);

/// Why a text is no surface version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SurfaceVersionError {
    /// It is no version.
    #[error("`{0}` is no version; help: write three numbers, as in `1.4.0`")]
    Malformed(String),
    /// It has something after the three numbers.
    #[error("surface version `{0}` has a pre-release or build part; help: write three numbers, as in `1.4.0`")]
    NotPlain(String),
}

/// A move from one version to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// The version of the lock file.
    pub locked: SurfaceVersion,
    /// The version of the declaration.
    pub written: SurfaceVersion,
    /// The least version that suffices.
    pub least: SurfaceVersion,
}

impl Move {
    fn too_small(&self) -> String {
        let Move { locked, written, .. } = self;
        if locked == written {
            format!("surface version `{written}` is locked already, with another list")
        } else {
            format!("surface version `{written}` is too small after `{locked}`")
        }
    }
}

/// Why a version does not suit its change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MoveError {
    /// It moved too little.
    #[error("{}: {change}; help: set `surface_version: {}`", step.too_small(), step.least)]
    TooSmall {
        /// The move.
        step: Box<Move>,
        /// The first of the largest changes.
        change: Box<Change>,
    },
    /// It went back.
    #[error(
        "surface version `{}` is older than `{}`; help: set `surface_version: {}`",
        step.written, step.locked, step.least
    )]
    Backwards {
        /// The move.
        step: Box<Move>,
    },
}

/// The greatest of the three numbers: every version has one after it.
const GREATEST: u64 = 999_999_999;

impl SurfaceVersion {
    /// Reads a version.
    ///
    /// # Errors
    ///
    /// When it is not three numbers of at most nine digits each.
    pub fn parse(text: &str) -> Result<SurfaceVersion, SurfaceVersionError> {
        let version = Version::parse(text).map_err(|_| SurfaceVersionError::Malformed(shown::text(text)))?;
        if [version.major, version.minor, version.patch].into_iter().any(|number| number > GREATEST) {
            return Err(SurfaceVersionError::Malformed(shown::text(text)));
        }
        if !version.pre.is_empty() || !version.build.is_empty() {
            return Err(SurfaceVersionError::NotPlain(shown::text(text)));
        }
        Ok(SurfaceVersion(version))
    }

    /// The least version that suffices after a change of this level. Below 1.0.0 the second number stands in for the
    /// first, and the third for the other two: `0.3.1` becomes `0.4.0` by a major change and `0.3.2` by any other.
    #[must_use]
    pub fn least_after(&self, level: Level) -> SurfaceVersion {
        let Version { major, minor, patch, .. } = self.0;
        let next = |number: u64| number.saturating_add(1);
        SurfaceVersion(match (level, major) {
            (Level::Major, 0) => Version::new(0, next(minor), 0),
            (Level::Minor, 0) | (Level::Patch, _) => Version::new(major, minor, next(patch)),
            (Level::Major, _) => Version::new(next(major), 0, 0),
            (Level::Minor, _) => Version::new(major, next(minor), 0),
        })
    }

    /// Holds the version of a declaration against the one in its lock file. It may always move further than it must.
    ///
    /// # Errors
    ///
    /// When it moved too little for the difference, or went back.
    pub fn check_move(&self, written: &SurfaceVersion, diff: &Diff) -> Result<(), MoveError> {
        let least = diff.level().map_or_else(|| self.clone(), |level| self.least_after(level));
        let step = || Box::new(Move { locked: self.clone(), written: written.clone(), least: least.clone() });
        match diff.largest() {
            _ if written < self => Err(MoveError::Backwards { step: step() }),
            Some(change) if *written < least => {
                Err(MoveError::TooSmall { step: step(), change: Box::new(change.clone()) })
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for SurfaceVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl Serialize for SurfaceVersion {
    fn serialize<S: Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        output.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for SurfaceVersion {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<SurfaceVersion, D::Error> {
        SurfaceVersion::parse(&String::deserialize(input)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::diff::diff;
    use crate::list::ToolList;

    fn version(text: &str) -> SurfaceVersion {
        SurfaceVersion::parse(text).unwrap()
    }

    fn between(old: Value, new: Value) -> Diff {
        diff(&ToolList::of_array(&old).unwrap(), &ToolList::of_array(&new).unwrap())
    }

    #[test]
    fn the_least_version_follows_semantic_versioning_and_below_one_the_second_number_is_the_first() {
        for (from, patch, minor, major) in [
            ("1.2.3", "1.2.4", "1.3.0", "2.0.0"),
            ("2.0.0", "2.0.1", "2.1.0", "3.0.0"),
            ("0.3.1", "0.3.2", "0.3.2", "0.4.0"),
            ("0.0.9", "0.0.10", "0.0.10", "0.1.0"),
        ] {
            for (level, expected) in [(Level::Patch, patch), (Level::Minor, minor), (Level::Major, major)] {
                assert_eq!(version(from).least_after(level), version(expected), "{from} {level}");
            }
        }
    }

    #[test]
    fn too_small_a_move_is_refused_with_the_change_and_the_right_version() {
        let removed = between(json!([{"name": "a"}, {"name": "b"}]), json!([{"name": "a"}]));
        let error = version("1.2.3").check_move(&version("1.3.0"), &removed).unwrap_err();
        assert_eq!(
            error.to_string(),
            "surface version `1.3.0` is too small after `1.2.3`: major: tool `b`: it was removed; \
             help: set `surface_version: 2.0.0`"
        );
        let unmoved = version("1.2.3").check_move(&version("1.2.3"), &removed).unwrap_err().to_string();
        assert!(
            unmoved.starts_with("surface version `1.2.3` is locked already, with another list: major: "),
            "{unmoved}"
        );
        for enough in ["2.0.0", "2.4.1", "3.0.0"] {
            assert_eq!(version("1.2.3").check_move(&version(enough), &removed), Ok(()), "{enough}");
        }
        assert!(version("0.2.3").check_move(&version("0.2.9"), &removed).is_err());
        assert_eq!(version("0.2.3").check_move(&version("1.0.0"), &removed), Ok(()));
    }

    #[test]
    fn a_version_may_stay_when_nothing_changed_and_never_goes_back() {
        let same = between(json!([{"name": "a"}]), json!([{"name": "a"}]));
        assert_eq!(version("1.2.3").check_move(&version("1.2.3"), &same), Ok(()));
        assert_eq!(version("1.2.3").check_move(&version("1.2.4"), &same), Ok(()));
        let error = version("1.2.3").check_move(&version("1.2.2"), &same).unwrap_err();
        assert!(matches!(error, MoveError::Backwards { ref step } if step.least == version("1.2.3")));
    }

    #[test]
    fn a_version_is_three_numbers() {
        for text in ["1.2.3-rc.1", "1.2.3+5"] {
            assert!(matches!(SurfaceVersion::parse(text), Err(SurfaceVersionError::NotPlain(_))), "{text}");
        }
        for text in ["", "1", "1.2", "v1.2.3", "01.2.3", "latest", "^1.2.3", "1.2.x"] {
            assert!(matches!(SurfaceVersion::parse(text), Err(SurfaceVersionError::Malformed(_))), "{text}");
        }
    }
}
