//! Regular expressions in manifests: whether one is valid, and how much work it makes, told without compiling it.
//!
//! A catalog of hundreds of patterns loads without compiling any; what passes here compiles within the bounds that
//! [`compile`] sets. Start at [`cost`].

use regex::Regex;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

/// The most parts that one pattern may expand to: `a{3}` has three, `\w` as many as it has ranges of characters.
const MOST_PARTS: u64 = 100_000;
/// The longest pattern, in bytes.
pub(crate) const MOST_BYTES: usize = 1000;
/// How much memory a compiled pattern may take.
const COMPILED_SIZE: usize = 10 << 20;

/// Why a text is no pattern.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PatternError {
    /// Its syntax, in the words of the parser.
    Syntax(String),
    /// It is too long or expands to too many parts.
    TooLarge,
}

impl std::fmt::Display for PatternError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PatternError::Syntax(reason) => f.write_str(reason),
            PatternError::TooLarge => f.write_str("it is too long or repeats too much"),
        }
    }
}

/// A pattern as arguments are held to it: searched for anywhere in the text, in linear time, within bounds.
pub(crate) fn compile(text: &str) -> Result<Regex, regex::Error> {
    regex::RegexBuilder::new(text).size_limit(COMPILED_SIZE).build()
}

/// How much work merely reading a pattern makes, guessed from its look: classes are expensive, and far more so when
/// case
/// does not count.
pub(crate) fn reading_cost(text: &str) -> u64 {
    const CLASS: u64 = 20;
    const CLASS_OF_ANY_CASE: u64 = 1000;
    let any_case = text.contains("(?") && text.contains('i');
    let is_class = |pair: &&[u8]| match pair {
        [b'\\', after] => after.is_ascii_alphabetic(),
        [b'[', after] => any_case || *after == b':',
        _ => false,
    };
    let classes = text.as_bytes().windows(2).filter(is_class).count() as u64;
    text.len() as u64 + classes * if any_case { CLASS_OF_ANY_CASE } else { CLASS }
}

/// How many parts a valid pattern expands to.
pub(crate) fn cost(text: &str) -> Result<u64, PatternError> {
    if text.len() > MOST_BYTES {
        return Err(PatternError::TooLarge);
    }
    let hir = ParserBuilder::new().build().parse(text).map_err(|error| PatternError::Syntax(reason(&error)))?;
    Some(parts(&hir)).filter(|parts| *parts <= MOST_PARTS).ok_or(PatternError::TooLarge)
}

fn reason(error: &regex_syntax::Error) -> String {
    match error {
        regex_syntax::Error::Parse(error) => error.kind().to_string(),
        regex_syntax::Error::Translate(error) => error.kind().to_string(),
        other => other.to_string().lines().last().unwrap_or_default().to_owned(),
    }
}

fn parts(hir: &Hir) -> u64 {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        HirKind::Literal(literal) => literal.0.len() as u64,
        HirKind::Class(Class::Unicode(class)) => class.ranges().len() as u64,
        HirKind::Class(Class::Bytes(class)) => class.ranges().len() as u64,
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min).max(1);
            parts(&repetition.sub).saturating_mul(u64::from(times))
        }
        HirKind::Capture(capture) => parts(&capture.sub),
        HirKind::Concat(subs) | HirKind::Alternation(subs) => subs.iter().map(parts).fold(1, u64::saturating_add),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_valid_here_compiles() {
        let largest = format!("[a-z]{{{}}}", MOST_PARTS - 1);
        let words = format!("^{}$", "\\w".repeat(120));
        for text in ["", "^[a-z]+$", "\\w{1,64}", "(?i)straße", "\\p{Greek}+", largest.as_str(), words.as_str()] {
            assert!(cost(text).is_ok(), "{text}");
            assert!(compile(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn what_would_not_compile_is_refused_here() {
        for text in ["(", "(?=x)", "(a)\\1", "a**{", "[z-a]"] {
            assert!(matches!(cost(text), Err(PatternError::Syntax(_))), "{text}");
            assert!(compile(text).is_err(), "{text}");
        }
        for text in ["(a{1000}){1000}", "((a{100}){100}){100}", "\\w{1000}", "x".repeat(MOST_BYTES + 1).as_str()] {
            assert_eq!(cost(text), Err(PatternError::TooLarge), "{text}");
        }
    }
}
