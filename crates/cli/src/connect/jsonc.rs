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

use super::syntax::{Cut, Demand, Fault, Shape, with_blanks, with_mark_of, without_mark, without_ranges};

/// The value of a text; an empty text is an empty object. The last of equal keys counts, as it does for the clients.
pub(super) fn parse(text: &str) -> Result<Value, Fault> {
    let text = without_mark(text);
    let value: Value = parse_to_serde_value(text, &options()).map_err(fault)?;
    Ok(if value.is_null() { Value::Object(Map::new()) } else { value })
}

/// A text under edit.
pub(super) struct Editor {
    root: CstRootNode,
    original: String,
}

impl Editor {
    /// Opens a text whose root is an object and which meets the demands. Equal keys at the root and in the objects that
    /// the demands lead through are refused, since an edit could meet the one that does not count.
    pub(super) fn open(text: &str, demands: &[Demand]) -> Result<Editor, Fault> {
        let bare = without_mark(text);
        let parsed = parse_to_ast(bare, &CollectOptions::default(), &options()).map_err(fault)?;
        if let Some(value) = &parsed.value {
            check(bare, value, demands)?;
        }
        let root = CstRootNode::parse(bare, &options()).map_err(fault)?;
        Ok(Editor { root, original: text.to_owned() })
    }

    /// The root object.
    pub(super) fn object(&self) -> CstObject {
        self.root.object_value_or_set()
    }

    /// The text as it stands.
    pub(super) fn text(&self) -> String {
        with_mark_of(&self.original, self.root.to_string())
    }
}

/// The text with this value at this place, and the objects that lead to it.
pub(super) fn put(text: &str, at: &[String], value: &Value) -> Result<String, Fault> {
    let editor = Editor::open(text, &[])?;
    if let Some((last, parents)) = at.split_last() {
        let parent = parents.iter().fold(editor.object(), |object, key| object.object_value_or_set(key));
        set(&parent, last, value);
    }
    Ok(editor.text())
}

/// The text with one more element at the end of the array at this place.
pub(super) fn push(text: &str, at: &[String], element: &str) -> Result<String, Fault> {
    let editor = Editor::open(text, &[])?;
    if let Some((last, parents)) = at.split_last() {
        let parent = parents.iter().fold(editor.object(), |object, key| object.object_value_or_set(key));
        parent.array_value_or_set(last).append(CstInputValue::String(element.to_owned()));
    }
    Ok(editor.text())
}

/// Sets a member of an object under edit.
pub(super) fn set(object: &CstObject, key: &str, value: &Value) {
    match object.get(key) {
        Some(property) => property.set_value(input(value)),
        None => {
            object.append(key, input(value));
        }
    }
}

/// The text without one thing, its comma and its blank line; every comment stays. `None` when there is no such thing.
pub(super) fn cut(text: &str, what: Cut<'_>) -> Option<String> {
    let bare = without_mark(text);
    let collect = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
    let parsed = parse_to_ast(bare, &collect, &options()).ok()?;
    let tokens = parsed.tokens?;
    let range = find(what, parsed.value?.as_object()?, &tokens)?;
    Some(with_mark_of(text, without_range(bare, range, &tokens)?))
}

fn find(what: Cut<'_>, root: &ast::Object<'_>, tokens: &[TokenAndRange<'_>]) -> Option<Range> {
    match what {
        Cut::Member(at) => Some(member_at(root, at)?.range()),
        Cut::Element(at, text) => {
            let elements = &member_at(root, at)?.value.as_array()?.elements;
            elements.iter().find(|e| e.as_string_lit().is_some_and(|lit| lit.value == text)).map(|e| e.range())
        }
        Cut::Empty(at) => {
            let found = member_at(root, at)?;
            let inside = found.value.range();
            let within = tokens.iter().filter(|token| inside.start <= token.start() && token.end() <= inside.end);
            let container = found.value.as_object().is_some() || found.value.as_array().is_some();
            (container && within.count() == 2).then(|| found.range())
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

fn member_at<'a, 'b>(root: &'a ast::Object<'b>, at: &[String]) -> Option<&'a ast::ObjectProp<'b>> {
    let (last, path) = at.split_last()?;
    let parent = path.iter().try_fold(root, |object, key| member(object, key)?.value.as_object())?;
    member(parent, last)
}

/// Cuts a member or element with the comma that it no longer needs, and the line if nothing else is on it.
fn without_range(text: &str, range: Range, tokens: &[TokenAndRange<'_>]) -> Option<String> {
    let is_comma = |token: &&TokenAndRange<'_>| token.token == Token::Comma;
    let counts = |token: &&TokenAndRange<'_>| !matches!(token.token, Token::CommentLine(_) | Token::CommentBlock(_));
    let next = tokens.iter().find(|token| token.start() >= range.end && counts(token)).filter(is_comma);
    let previous = tokens.iter().rev().find(|token| token.end() <= range.start && counts(token)).filter(is_comma);
    let mut end = range.end;
    let mut apart = None;
    match next.or(previous) {
        Some(comma) if text.get(end..comma.start()).is_some_and(|gap| gap.trim().is_empty()) => end = comma.end(),
        Some(comma) => apart = Some(comma.range()),
        None => {}
    }
    let mut cuts: Vec<std::ops::Range<usize>> = apart.map(|comma| comma.start..comma.end).into_iter().collect();
    cuts.push(with_blanks(text, range.start..end)?);
    without_ranges(text, cuts)
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

fn check(text: &str, root: &ast::Value<'_>, demands: &[Demand]) -> Result<(), Fault> {
    let Some(object) = root.as_object() else {
        return Err(Fault::at(text, root.start(), "the file holds no object".to_owned()));
    };
    check_duplicates(text, object)?;
    for demand in demands {
        let Some(property) = member_at(object, &demand.at) else { continue };
        if !fits(demand.shape, &property.value) {
            return Err(Fault::at(text, property.value.start(), demand.message()));
        }
        if let Some(inner) = property.value.as_object() {
            check_duplicates(text, inner)?;
        }
    }
    Ok(())
}

fn fits(shape: Shape, value: &ast::Value<'_>) -> bool {
    match shape {
        Shape::Object => value.as_object().is_some(),
        Shape::ObjectOrText => value.as_object().is_some() || value.as_string_lit().is_some(),
        Shape::Array => value.as_array().is_some(),
    }
}

fn check_duplicates(text: &str, object: &ast::Object<'_>) -> Result<(), Fault> {
    for (index, property) in object.properties.iter().enumerate() {
        let name = property.name.as_str();
        if object.properties.iter().take(index).any(|earlier| earlier.name.as_str() == name) {
            return Err(Fault::at(text, property.start(), format!("`{name}` stands here a second time")));
        }
    }
    Ok(())
}
