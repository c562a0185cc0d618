//! JSON with comments, read as strictly as the clients do and edited so that everything else stays as it is.
//!
//! Knows no client. Start at [`Editor`].

use jsonc_parser::ast;
use jsonc_parser::common::{Range, Ranged as _};
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use jsonc_parser::errors::ParseError;
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast, parse_to_serde_value};
use serde_json::{Map, Value};

/// A fault in a text, at a place counted from 1 in characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) message: String,
}

/// What a value may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Object,
    ObjectOrText,
    Array,
}

impl Shape {
    fn fits(self, value: &ast::Value<'_>) -> bool {
        match self {
            Shape::Object => value.as_object().is_some(),
            Shape::ObjectOrText => value.as_object().is_some() || value.as_string_lit().is_some(),
            Shape::Array => value.as_array().is_some(),
        }
    }

    fn words(self) -> &'static str {
        match self {
            Shape::Object => "an object",
            Shape::ObjectOrText => "an object or a text",
            Shape::Array => "an array",
        }
    }
}

/// The value of a text; an empty text is an empty object. The last of equal keys counts, as it does for the clients.
pub(super) fn parse(text: &str) -> Result<Value, Fault> {
    let text = without_mark(text);
    let value: Value = parse_to_serde_value(text, &options()).map_err(fault)?;
    Ok(if value.is_null() { Value::Object(Map::new()) } else { value })
}

/// A text under edit.
pub(super) struct Editor {
    root: CstRootNode,
    mark: bool,
}

impl Editor {
    /// Opens a text whose root is an object and whose `keys` have the shapes that the edits rely on. Equal keys at the
    /// root and in those objects are refused, since an edit could meet the one that does not count.
    pub(super) fn open(text: &str, keys: &[(&str, Shape)]) -> Result<Editor, Fault> {
        let bare = without_mark(text);
        let parsed = parse_to_ast(bare, &CollectOptions::default(), &options()).map_err(fault)?;
        if let Some(value) = &parsed.value {
            check(bare, value, keys)?;
        }
        let root = CstRootNode::parse(bare, &options()).map_err(fault)?;
        Ok(Editor { root, mark: bare.len() != text.len() })
    }

    /// The root object.
    pub(super) fn object(&self) -> CstObject {
        self.root.object_value_or_set()
    }

    /// The text as it stands.
    pub(super) fn text(&self) -> String {
        format!("{}{}", if self.mark { BYTE_ORDER_MARK } else { "" }, self.root)
    }
}

/// What to cut out of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut<'a> {
    /// The member that these keys lead to.
    Member(&'a [&'a str]),
    /// The first element of the array under this key that is this text.
    Element(&'a str, &'a str),
    /// The member of this key, if it is an object or array with nothing in it, not even a comment.
    Empty(&'a str),
}

/// The text without one thing, its comma and its blank line; every comment stays. `None` when there is no such thing.
pub(super) fn cut(text: &str, what: Cut<'_>) -> Option<String> {
    let bare = without_mark(text);
    let collect = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
    let parsed = parse_to_ast(bare, &collect, &options()).ok()?;
    let tokens = parsed.tokens?;
    let range = what.find(parsed.value?.as_object()?, &tokens)?;
    let rest = without_range(bare, range, &tokens)?;
    Some(format!("{}{rest}", if bare.len() == text.len() { "" } else { BYTE_ORDER_MARK }))
}

impl Cut<'_> {
    fn find(self, root: &ast::Object<'_>, tokens: &[TokenAndRange<'_>]) -> Option<Range> {
        match self {
            Cut::Member(keys) => {
                let (last, path) = keys.split_last()?;
                let parent = path.iter().try_fold(root, |object, key| member(object, key)?.value.as_object())?;
                Some(member(parent, last)?.range())
            }
            Cut::Element(key, text) => {
                let elements = &member(root, key)?.value.as_array()?.elements;
                elements.iter().find(|e| e.as_string_lit().is_some_and(|lit| lit.value == text)).map(|e| e.range())
            }
            Cut::Empty(key) => {
                let found = member(root, key)?;
                let inside = found.value.range();
                let within = tokens.iter().filter(|token| inside.start <= token.start() && token.end() <= inside.end);
                let container = found.value.as_object().is_some() || found.value.as_array().is_some();
                (container && within.count() == 2).then(|| found.range())
            }
        }
    }
}

/// A value as the editor takes it.
pub(super) fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(flag) => CstInputValue::Bool(*flag),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(map) => {
            CstInputValue::Object(map.iter().map(|(key, value)| (key.clone(), input(value))).collect())
        }
    }
}

fn member<'a, 'b>(object: &'a ast::Object<'b>, key: &str) -> Option<&'a ast::ObjectProp<'b>> {
    object.properties.iter().find(|property| property.name.as_str() == key)
}

/// Cuts a member or element with the comma that it no longer needs, and the line if nothing else is on it.
fn without_range(text: &str, range: Range, tokens: &[TokenAndRange<'_>]) -> Option<String> {
    let is_comma = |token: &&TokenAndRange<'_>| token.token == Token::Comma;
    let counts = |token: &&TokenAndRange<'_>| !matches!(token.token, Token::CommentLine(_) | Token::CommentBlock(_));
    let next = tokens.iter().find(|token| token.start() >= range.end && counts(token)).filter(is_comma);
    let previous = tokens.iter().rev().find(|token| token.end() <= range.start && counts(token)).filter(is_comma);
    let (mut start, mut end) = (range.start, range.end);
    let mut apart = None;
    match next.or(previous) {
        Some(comma) if text.get(end..comma.start()).is_some_and(|gap| gap.trim().is_empty()) => end = comma.end(),
        Some(comma) => apart = Some(comma.range()),
        None => {}
    }
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
    let mut cuts: Vec<std::ops::Range<usize>> = apart.map(|comma| comma.start..comma.end).into_iter().collect();
    cuts.push(start..end);
    cuts.sort_by_key(|cut| cut.start);
    let mut rest = String::new();
    let mut from = 0;
    for cut in cuts {
        rest += text.get(from..cut.start)?;
        from = cut.end;
    }
    Some(rest + text.get(from..)?)
}

const BYTE_ORDER_MARK: &str = "\u{feff}";

fn without_mark(text: &str) -> &str {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}

/// Comments and trailing commas, and no other liberty.
fn options() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

fn fault(error: ParseError) -> Fault {
    let mut message = error.kind().to_string();
    if let Some(first) = message.get_mut(..1) {
        first.make_ascii_lowercase();
    }
    Fault { line: error.line_display(), column: error.column_display(), message }
}

fn check(text: &str, root: &ast::Value<'_>, keys: &[(&str, Shape)]) -> Result<(), Fault> {
    let Some(object) = root.as_object() else {
        return Err(fault_at(text, root.start(), "the file holds no object".to_owned()));
    };
    check_duplicates(text, object)?;
    for (key, shape) in keys {
        let Some(property) = object.properties.iter().find(|property| property.name.as_str() == *key) else { continue };
        if !shape.fits(&property.value) {
            return Err(fault_at(text, property.value.start(), format!("`{key}` must be {}", shape.words())));
        }
        if let Some(inner) = property.value.as_object() {
            check_duplicates(text, inner)?;
        }
    }
    Ok(())
}

fn check_duplicates(text: &str, object: &ast::Object<'_>) -> Result<(), Fault> {
    for (index, property) in object.properties.iter().enumerate() {
        let name = property.name.as_str();
        if object.properties.iter().take(index).any(|earlier| earlier.name.as_str() == name) {
            return Err(fault_at(text, property.start(), format!("`{name}` stands here a second time")));
        }
    }
    Ok(())
}

fn fault_at(text: &str, offset: usize, message: String) -> Fault {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let column = before.get(line_start..).unwrap_or("").chars().count() + 1;
    Fault { line: before.matches('\n').count() + 1, column, message }
}
