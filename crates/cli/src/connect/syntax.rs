//! The syntaxes of configuration files: text in, text out, and nothing but the asked-for place changes.
//!
//! Owns what the syntaxes have in common; knows no client. Start at [`Syntax`].

use serde_json::Value;

use super::{jsonc, toml};

/// How a configuration file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Syntax {
    /// JSON with comments and trailing commas.
    Jsonc,
    /// TOML.
    Toml,
}

impl Syntax {
    /// The value of a text; an empty text is an empty object.
    pub(super) fn parse(self, text: &str) -> Result<Value, Fault> {
        match self {
            Syntax::Jsonc => jsonc::parse(text),
            Syntax::Toml => toml::parse(text),
        }
    }

    /// Refuses a text that edits could not rely on: another shape, or equal keys of which one does not count.
    pub(super) fn check(self, text: &str, demands: &[Demand]) -> Result<(), Fault> {
        match self {
            Syntax::Jsonc => jsonc::Editor::open(text, demands).map(|_| ()),
            Syntax::Toml => toml::check(text, demands),
        }
    }

    /// The text with this value at this place, and the objects that lead to it.
    pub(super) fn put(self, text: &str, at: &[String], value: &Value) -> Result<String, Fault> {
        match self {
            Syntax::Jsonc => jsonc::put(text, at, value),
            Syntax::Toml => toml::put(text, at, value),
        }
    }

    /// The text with one more element at the end of the array at this place.
    pub(super) fn push(self, text: &str, at: &[String], element: &str) -> Result<String, Fault> {
        match self {
            Syntax::Jsonc => jsonc::push(text, at, element),
            Syntax::Toml => toml::push(text, at, element),
        }
    }

    /// The text without one thing; every comment stays. `None` when there is no such thing.
    pub(super) fn cut(self, text: &str, what: Cut<'_>) -> Option<String> {
        match self {
            Syntax::Jsonc => jsonc::cut(text, what),
            Syntax::Toml => toml::cut(text, what),
        }
    }
}

/// A fault in a text, at a place counted from 1 in characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) message: String,
}

impl Fault {
    /// A fault at a byte of a text.
    pub(super) fn at(text: &str, offset: usize, message: String) -> Fault {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let column = before.get(line_start..).unwrap_or("").chars().count() + 1;
        Fault { line: before.matches('\n').count() + 1, column, message }
    }
}

/// What a value may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Object,
    ObjectOrText,
    Array,
}

impl Shape {
    pub(super) fn words(self) -> &'static str {
        match self {
            Shape::Object => "an object",
            Shape::ObjectOrText => "an object or a text",
            Shape::Array => "an array",
        }
    }
}

/// The shape that edits rely on at one place, if there is anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Demand {
    pub(super) at: Vec<String>,
    pub(super) shape: Shape,
}

impl Demand {
    /// What to say of a value that is something else.
    pub(super) fn message(&self) -> String {
        format!("`{}` must be {}", self.at.join("."), self.shape.words())
    }
}

/// What to cut out of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut<'a> {
    /// The member that these keys lead to.
    Member(&'a [String]),
    /// The first element of the array at this place that is this text.
    Element(&'a [String], &'a str),
    /// The member at this place, if it is an object or array with nothing in it, not even a comment.
    Empty(&'a [String]),
}

/// The keys that lead to a place.
pub(super) fn path(keys: &[&str]) -> Vec<String> {
    keys.iter().map(|key| (*key).to_owned()).collect()
}

/// The value at a place.
pub(super) fn value_at<'a>(value: &'a Value, at: &[String]) -> Option<&'a Value> {
    at.iter().try_fold(value, |value, key| value.get(key))
}

pub(super) const BYTE_ORDER_MARK: &str = "\u{feff}";

/// A text without its byte order mark.
pub(super) fn without_mark(text: &str) -> &str {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}

/// A text with the byte order mark that another one has.
pub(super) fn with_mark_of(original: &str, text: String) -> String {
    if original.starts_with(BYTE_ORDER_MARK) { format!("{BYTE_ORDER_MARK}{text}") } else { text }
}

/// The text without these ranges.
pub(super) fn without_ranges(text: &str, mut cuts: Vec<std::ops::Range<usize>>) -> Option<String> {
    cuts.sort_by_key(|cut| cut.start);
    let mut rest = String::new();
    let mut from = 0;
    for cut in cuts {
        rest += text.get(from..cut.start)?;
        from = cut.end;
    }
    Some(rest + text.get(from..)?)
}

/// A range with the blanks around it that would be left over: its whole line, if nothing else stands there.
pub(super) fn with_blanks(text: &str, range: std::ops::Range<usize>) -> Option<std::ops::Range<usize>> {
    let (mut start, mut end) = (range.start, range.end);
    let blank = |c: char| c == ' ' || c == '\t';
    let before = text.get(..start)?.trim_end_matches(blank);
    let after = text.get(end..)?.trim_start_matches(blank);
    let opens_line = before.is_empty() || before.ends_with('\n');
    let closes_line = ["\n", "\r\n"].into_iter().find(|newline| after.starts_with(newline));
    match (opens_line, closes_line) {
        (true, Some(newline)) => (start, end) = (before.len(), text.len() - after.len() + newline.len()),
        (true, None) => end = text.len() - after.len(),
        (false, Some(_)) => (start, end) = (before.len(), text.len() - after.len()),
        (false, None) => start = before.len(),
    }
    Some(start..end)
}
