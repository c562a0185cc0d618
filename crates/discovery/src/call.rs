//! Literal calls: what a caller sends to run an action, with sample values of the right types.
//!
//! Owns the names of the tools that answers point to. Runs nothing and checks nothing. Start at [`literal`].

use gatelatch_manifest::fit::fit;
use gatelatch_registry::arguments::Arguments;
use gatelatch_registry::catalog::{ActionManifest, ArgumentManifest, ArgumentType, Entry, Kind};
use regex_syntax::hir::{Class, Hir, HirKind};
use serde_json::{Map, Value, json};

use crate::budget;
use crate::ladder::View;

/// The call that runs an action with these arguments: `{"tool": "run_tool", "arguments": {…}}`.
pub(crate) fn literal(view: &View<'_>, entry: &Entry, action: &ActionManifest, args: Map<String, Value>) -> Value {
    let mut arguments = Map::new();
    arguments.insert(entry.manifest.kind.as_str().to_owned(), json!(entry.manifest.name));
    if let Some(name) = &action.name {
        arguments.insert("action".to_owned(), json!(name));
    }
    arguments.insert("args".to_owned(), Value::Object(args));
    let (_, needs_human) = (view.effect)(entry, action);
    json!({"tool": door(entry.manifest.kind, needs_human), "arguments": arguments})
}

/// The tool that runs an entry of this kind.
pub(crate) fn door(kind: Kind, needs_human: bool) -> &'static str {
    match (kind, needs_human) {
        (Kind::Tool, false) => "run_tool",
        (Kind::Tool, true) => "run_tool_confirmed",
        (Kind::Agent, false) => "run_agent",
        (Kind::Agent, true) => "run_agent_confirmed",
        (Kind::Skill, _) => "get_skill",
    }
}

/// The call of `capabilities` with these arguments.
pub(crate) fn capabilities(arguments: &[(&str, &str)]) -> Value {
    let arguments: Map<String, Value> =
        arguments.iter().map(|(key, value)| ((*key).to_owned(), json!(value))).collect();
    json!({"tool": "capabilities", "arguments": arguments})
}

/// The arguments that a shown call carries: those of the manifest's first example where that is a right call of at most
/// so many bytes, else values for what is required.
pub(crate) fn shown_args(action: &ActionManifest, most: usize) -> Map<String, Value> {
    let example = action.examples.first().map(|example| Value::Object(example.args.clone()));
    let example = example.filter(|args| budget::bytes(args) <= most);
    let parsed = example.and_then(|args| Arguments::parse(action, &args).ok());
    parsed.map_or_else(|| required_args(action), |arguments| arguments.values().clone())
}

/// Values for the required arguments: from the manifest's examples where it has some, else made up.
pub(crate) fn required_args(action: &ActionManifest) -> Map<String, Value> {
    let required = action.args.iter().filter(|argument| argument.required);
    required.map(|argument| (argument.name.clone(), sample(action, argument))).collect()
}

/// A value longer than this is no sample.
const LONG_SAMPLE: usize = 200;

/// A value that the argument accepts, as far as its type, choices and range say.
pub(crate) fn sample(action: &ActionManifest, argument: &ArgumentManifest) -> Value {
    let shown = action.examples.iter().filter_map(|example| example.args.get(&argument.name));
    let mut known = shown.chain(&argument.default).chain(argument.choices.first());
    if let Some(value) = known.find(|value| budget::bytes(value) <= LONG_SAMPLE && fit(argument, value).is_ok()) {
        return value.clone();
    }
    match argument.kind {
        ArgumentType::String | ArgumentType::Path => text(argument),
        ArgumentType::Integer => number(argument, true),
        ArgumentType::Number => number(argument, false),
        ArgumentType::Boolean => json!(true),
        ArgumentType::Array => match &argument.items {
            Some(items) => json!([of_schema(items, &argument.name, 3)]),
            None if argument.repeat.is_some() => json!([format!("<{}>", argument.name)]),
            None => json!([]),
        },
        ArgumentType::Object => json!({}),
    }
}

/// Text in angle brackets, which is plainly a place to fill in; or text of the argument's pattern.
fn text(argument: &ArgumentManifest) -> Value {
    let plain = json!(format!("<{}>", argument.name));
    let Some(pattern) = argument.pattern.as_ref().filter(|_| fit(argument, &plain).is_err()) else {
        return plain;
    };
    let shaped = regex_syntax::parse(pattern).ok().map(|pattern| {
        let mut text = String::new();
        shortest(&pattern, &mut text);
        json!(text)
    });
    shaped.filter(|shaped| fit(argument, shaped).is_ok()).unwrap_or(plain)
}

/// The longest text that is made from a pattern.
const LONG_SHAPE: usize = 100;

/// A short text that matches a pattern, apart from what it says of borders.
fn shortest(pattern: &Hir, text: &mut String) {
    if text.len() > LONG_SHAPE {
        return;
    }
    match pattern.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => text.push_str(&String::from_utf8_lossy(&literal.0)),
        HirKind::Class(Class::Unicode(class)) => {
            let has = |c: char| class.iter().any(|range| range.start() <= c && c <= range.end());
            let usual = ['a', 'A', '1', '0', '-', ' '].into_iter().find(|c| has(*c));
            text.extend(usual.or_else(|| class.iter().next().map(|range| range.start())));
        }
        HirKind::Class(Class::Bytes(class)) => text.extend(class.iter().next().map(|range| char::from(range.start()))),
        HirKind::Repetition(repetition) => {
            for _ in 0..repetition.min.min(LONG_SHAPE as u32) {
                shortest(&repetition.sub, text);
            }
        }
        HirKind::Capture(capture) => shortest(&capture.sub, text),
        HirKind::Concat(parts) => parts.iter().for_each(|part| shortest(part, text)),
        HirKind::Alternation(parts) => parts.iter().take(1).for_each(|part| shortest(part, text)),
    }
}

/// A number within the argument's range, 1 where that fits.
fn number(argument: &ArgumentManifest, whole: bool) -> Value {
    let fits = |value: f64| {
        argument.minimum.as_ref().and_then(serde_json::Number::as_f64).is_none_or(|least| value >= least)
            && argument.maximum.as_ref().and_then(serde_json::Number::as_f64).is_none_or(|most| value <= most)
    };
    if fits(1.0) {
        return json!(1);
    }
    let bound = argument.minimum.as_ref().or(argument.maximum.as_ref()).and_then(serde_json::Number::as_f64);
    match bound {
        Some(bound) if !whole => json!(bound),
        // A bound such as 0.5 is no whole number: the next one within.
        Some(bound) if argument.minimum.is_some() => json!(bound.ceil() as i64),
        Some(bound) => json!(bound.floor() as i64),
        None => json!(1),
    }
}

/// A value that a JSON Schema accepts, as far as its most common words say.
fn of_schema(schema: &Value, name: &str, depth: u8) -> Value {
    let first = |key: &str| schema.get(key).and_then(Value::as_array).and_then(|values| values.first());
    if let Some(value) = schema.get("default").or_else(|| schema.get("const")).or_else(|| first("enum")) {
        return value.clone();
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or_else(|| json!(1)),
        Some("boolean") => json!(true),
        Some("null") => Value::Null,
        Some("array") if depth > 0 => match schema.get("items") {
            Some(items) => json!([of_schema(items, name, depth - 1)]),
            None => json!([]),
        },
        Some("array") => json!([]),
        Some("object") if depth > 0 => {
            let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
            let fields = required.filter_map(Value::as_str).map(|field| {
                let inner = schema.get("properties").and_then(|properties| properties.get(field));
                (field.to_owned(), of_schema(inner.unwrap_or(&Value::Null), field, depth - 1))
            });
            Value::Object(fields.collect())
        }
        Some("object") => json!({}),
        _ => json!(format!("<{name}>")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matching(pattern: &str) -> String {
        let mut text = String::new();
        shortest(&regex_syntax::parse(pattern).unwrap(), &mut text);
        text
    }

    #[test]
    fn a_sample_has_the_shape_that_its_pattern_asks_for() {
        assert_eq!(matching(r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"), "1111-11-11");
        assert_eq!(matching(r"^[A-Z]{2,3}\b"), "AA");
        assert_eq!(matching(r"^(usd|eur)$"), "usd");
        assert_eq!(matching(r"^#?[a-f0-9]{6}$"), "aaaaaa");
    }

    #[test]
    fn a_pattern_cannot_make_an_endless_sample() {
        assert!(matching(r"((a{50}){50}){50}").len() <= LONG_SHAPE + 50);
    }
}
