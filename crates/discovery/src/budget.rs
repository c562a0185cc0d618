//! How large an answer is, and how text and schemas get smaller without becoming wrong.
//!
//! Owns sizes, cuts and the steps by which a schema shrinks. Knows no catalog. Sizes are bytes of compact JSON.
//! Start at [`first_fitting`].

use std::io::{self, Write};

use serde_json::{Map, Value, json};

/// The size of a value as compact JSON.
pub(crate) fn bytes(value: &Value) -> usize {
    let mut count = Counter(0);
    // Counting cannot fail, and a value's keys are always text.
    match serde_json::to_writer(&mut count, value) {
        Ok(()) => count.0,
        Err(_) => usize::MAX,
    }
}

/// The first value of a sequence, from the richest to the barest, that is within the limit; the last one if none is.
pub(crate) fn first_fitting(limit: usize, values: impl IntoIterator<Item = Value>) -> Value {
    let mut last = Value::Null;
    for value in values {
        last = value;
        if bytes(&last) <= limit {
            break;
        }
    }
    last
}

/// The text on one line and within a number of bytes, with a `…` where something is missing.
pub(crate) fn cut(text: &str, limit: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.len() <= limit {
        return line;
    }
    let mut end = limit.saturating_sub('…'.len_utf8()).min(line.len());
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    let kept = &line[..end];
    // A cut between words reads better, unless it costs too much of a text without spaces.
    let kept = match kept.rfind(' ') {
        Some(space) if space > end / 2 => &kept[..space],
        _ => kept,
    };
    format!("{}…", kept.trim_end_matches([' ', ',', ';', ':']))
}

/// How far a schema of arguments has been shrunk. Names, types and required marks are in all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shrunk {
    /// As the manifest says it.
    No,
    /// Descriptions of at most so many bytes; nested ones gone.
    Descriptions(usize),
    /// Short descriptions of required arguments, none of optional ones.
    RequiredDescriptions(usize),
    /// Types, choices, ranges and defaults, where they are short.
    Constraints,
    /// Types and required marks alone.
    Types,
    /// The same with one word an argument, as lists by type.
    Lists,
}

impl Shrunk {
    /// From the richest to the barest.
    pub(crate) const STEPS: [Shrunk; 8] = [
        Shrunk::No,
        Shrunk::Descriptions(200),
        Shrunk::Descriptions(100),
        Shrunk::Descriptions(60),
        Shrunk::RequiredDescriptions(60),
        Shrunk::Constraints,
        Shrunk::Types,
        Shrunk::Lists,
    ];
}

/// A smaller form of a schema whose root is an object with `properties`.
pub(crate) fn shrink(schema: &Value, how: Shrunk) -> Value {
    if how == Shrunk::No {
        return schema.clone();
    }
    let required: Vec<&str> = required(schema).collect();
    let none = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    if how == Shrunk::Lists {
        return lists(properties, &required);
    }
    let mut small = Map::new();
    for (key, value) in schema.as_object().unwrap_or(&none) {
        if key == "properties" {
            let shrunk = properties.iter().map(|(name, property)| {
                let property = shrink_property(property, how, required.contains(&name.as_str()));
                (name.clone(), property)
            });
            small.insert(key.clone(), Value::Object(shrunk.collect()));
        } else if key != "description" {
            small.insert(key.clone(), value.clone());
        }
    }
    Value::Object(small)
}

/// A schema with only those of its properties that `keep` names.
pub(crate) fn only(schema: &Value, keep: &dyn Fn(&str) -> bool) -> Value {
    let mut small = schema.clone();
    if let Some(properties) = small.get_mut("properties").and_then(Value::as_object_mut) {
        properties.retain(|name, _| keep(name));
    }
    if let Some(required) = small.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| name.as_str().is_some_and(keep));
    }
    small
}

struct Counter(usize);

impl Write for Counter {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.0 += buffer.len();
        Ok(buffer.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn required(schema: &Value) -> impl Iterator<Item = &str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// A constraint longer than this is left out of a shrunk schema.
const LONG_CONSTRAINT: usize = 160;

fn shrink_property(property: &Value, how: Shrunk, required: bool) -> Value {
    let Some(property) = property.as_object() else {
        return property.clone();
    };
    let mut small = Map::new();
    for (key, value) in property {
        let kept = match (key.as_str(), how) {
            ("type", _) => Some(value.clone()),
            (_, Shrunk::Types | Shrunk::Lists) => None,
            ("description", Shrunk::Descriptions(limit)) => Some(short(value, limit)),
            ("description", Shrunk::RequiredDescriptions(limit)) if required => Some(short(value, limit)),
            ("description", _) => None,
            ("items" | "properties", _) => Some(without_descriptions(value)),
            _ => Some(value.clone()),
        };
        let kept = kept.filter(|kept| key == "type" || key == "description" || bytes(kept) <= LONG_CONSTRAINT);
        if let Some(kept) = kept {
            small.insert(key.clone(), kept);
        }
    }
    Value::Object(small)
}

fn short(value: &Value, limit: usize) -> Value {
    match value {
        Value::String(text) => Value::String(cut(text, limit)),
        other => other.clone(),
    }
}

fn without_descriptions(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            // A property may itself be called `description`: only text under that key is one.
            let kept = map.iter().filter(|(key, value)| key.as_str() != "description" || !value.is_string());
            Value::Object(kept.map(|(key, value)| (key.clone(), without_descriptions(value))).collect())
        }
        Value::Array(values) => Value::Array(values.iter().map(without_descriptions).collect()),
        other => other.clone(),
    }
}

/// `{"required": {"string": ["path"]}, "optional": {"integer": ["max-results"]}}`.
fn lists(properties: &Map<String, Value>, required: &[&str]) -> Value {
    let by_type = |wanted: bool| {
        let mut types = Map::new();
        for (name, property) in properties.iter().filter(|(name, _)| required.contains(&name.as_str()) == wanted) {
            let kind = property.get("type").and_then(Value::as_str).unwrap_or("any");
            if let Value::Array(names) = types.entry(kind).or_insert_with(|| json!([])) {
                names.push(json!(name));
            }
        }
        Value::Object(types)
    };
    json!({"required": by_type(true), "optional": by_type(false)})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_text_is_within_its_limit_and_ends_between_words() {
        assert_eq!(cut("one two  three", 100), "one two three");
        assert_eq!(cut("one two three", 11), "one two…");
        for limit in 3..40 {
            assert!(cut("日本語のとても長い説明文です、ほんとうに", limit).len() <= limit);
        }
    }

    #[test]
    fn every_shrunk_schema_keeps_names_types_and_required_marks() {
        let schema = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "x".repeat(900), "pattern": "y".repeat(300)},
                "rows": {"type": "array", "items": {"type": "object", "description": "z".repeat(400)}},
                "n": {"type": "integer", "default": 3}
            },
            "required": ["path"],
            "additionalProperties": false
        });
        let mut sizes = Vec::new();
        for how in Shrunk::STEPS {
            let small = shrink(&schema, how);
            let text = small.to_string();
            for word in ["path", "rows", "\"n\"", "string", "array", "integer", "required"] {
                assert!(text.contains(word), "{how:?} lost {word}: {text}");
            }
            sizes.push(bytes(&small));
        }
        assert!(sizes.is_sorted_by(|a, b| a >= b), "{sizes:?}");
    }

    #[test]
    fn an_argument_called_description_is_no_description() {
        let schema = json!({"properties": {"description": {"type": "string", "description": "what it says"}}});
        assert_eq!(shrink(&schema, Shrunk::Types), json!({"properties": {"description": {"type": "string"}}}));
    }
}
