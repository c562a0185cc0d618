//! What must hold beside the file when a version is published: the order of versions, and the README of the crate.
//! Knows no file of the disk. Start at [`follows`].

use semver::Version;

use super::publisher::quoted;

/// Why a version cannot be published after another.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReleaseError {
    /// One of the two is no version.
    #[error("{0} is no semantic version")]
    Malformed(String),
    /// It would not become the newest.
    #[error("version {next} does not sort after {previous}{}", if *pre_release { "; help: what follows `-` makes a pre-release, which sorts before its release" } else { "" })]
    NotAfter {
        /// What is published.
        previous: String,
        /// What would follow.
        next: String,
        /// Whether it is a pre-release of the same version.
        pre_release: bool,
    },
}

/// Holds a version against the one that was published before it, as the registry sorts them.
///
/// # Errors
///
/// When it would not become the newest.
pub fn follows(previous: &str, next: &str) -> Result<(), ReleaseError> {
    let parse = |text: &str| Version::parse(text).map_err(|_| ReleaseError::Malformed(quoted(text)));
    let (old, new) = (parse(previous)?, parse(next)?);
    // Build metadata plays no part in the order.
    if new.cmp_precedence(&old).is_gt() {
        return Ok(());
    }
    let numbers = |version: &Version| (version.major, version.minor, version.patch);
    let pre_release = numbers(&old) == numbers(&new) && old.pre.is_empty() && !new.pre.is_empty();
    Err(ReleaseError::NotAfter { previous: quoted(previous), next: quoted(next), pre_release })
}

/// Whether a crate's README shows `mcp-name: NAME` where the registry finds it: visibly, since comments are taken out,
/// and followed by a boundary.
pub fn readme_shows_name(readme: &str, name: &str) -> bool {
    let token = format!("mcp-name: {name}");
    let visible = without_comments(readme);
    visible.match_indices(&token).any(|(at, _)| {
        let rest = visible.get(at + token.len()..).unwrap_or_default();
        rest.chars().next().is_none_or(|next| next.is_whitespace() || matches!(next, '`' | '<'))
    })
}

fn without_comments(text: &str) -> String {
    let mut visible = String::new();
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("<!--") {
        visible.push_str(before);
        rest = comment.split_once("-->").map_or("", |(_, after)| after);
    }
    visible + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_must_sort_after_the_published_one_and_a_dash_makes_it_sort_before() {
        for (previous, next) in [("1.2.3", "1.2.4"), ("1.2.3", "1.3.0"), ("1.2.3-1", "1.2.3"), ("1.2.9", "1.2.10")] {
            assert_eq!(follows(previous, next), Ok(()), "{previous} {next}");
        }
        for (previous, next) in [("1.2.3", "1.2.3"), ("1.2.3", "1.2.2"), ("1.2.3", "1.2.3+5"), ("2.0.0", "1.9.0")] {
            assert!(matches!(follows(previous, next), Err(ReleaseError::NotAfter { pre_release: false, .. })));
        }
        let error = follows("1.2.3", "1.2.3-1").unwrap_err().to_string();
        assert!(error.contains("`1.2.3-1` does not sort after `1.2.3`; help: what follows `-`"), "{error}");
        assert_eq!(follows("1.2.3", "1.x"), Err(ReleaseError::Malformed("`1.x`".to_owned())));
    }

    #[test]
    fn a_name_in_a_comment_or_glued_to_something_is_not_shown() {
        let name = "io.github.gatelatch/gatelatch";
        for shown in ["mcp-name: io.github.gatelatch/gatelatch", "x\n`mcp-name: io.github.gatelatch/gatelatch`\ny"] {
            assert!(readme_shows_name(shown, name), "{shown}");
        }
        for hidden in [
            "<!-- mcp-name: io.github.gatelatch/gatelatch -->",
            "mcp-name: io.github.gatelatch/gatelatch-chat",
            "mcp-name: io.github.gatelatch/gatelatch.",
            "<!-- mcp-name: io.github.gatelatch/gatelatch",
            "",
        ] {
            assert!(!readme_shows_name(hidden, name), "{hidden}");
        }
    }
}
