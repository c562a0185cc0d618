//! Whether a JSON Schema in a manifest is one that can be held against values, offline and always ending.
//!
//! Owns the rules for schemas: dialect, root, references, loops. Knows no place in a file: a fault carries a JSON
//! Pointer into the schema. Start at [`check`].

use std::collections::{HashMap, HashSet};

use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::{Map, Value};

use crate::diagnostic::quoted;
use crate::percent::undo_percent;
use crate::rule::{self, Rule};

/// What a schema is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// Held against results: its root is an object, and it may refer to itself.
    Output,
    /// An array argument's items: it becomes part of a larger schema, so it can refer to nothing.
    Items,
}

/// From a subschema to those that look at the same value.
type Edges<'f> = HashMap<&'f str, Vec<String>>;

/// How often a schema may be held against one and the same value.
const MOST_SAME_VALUE: u64 = 10_000;

/// One fault of a schema.
#[derive(Debug)]
pub(crate) struct SchemaFault {
    pub(crate) rule: &'static Rule,
    /// Where in the schema, as a JSON Pointer.
    pub(crate) pointer: String,
    pub(crate) message: String,
}

/// The dialect that every schema is read as.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";
/// The most faults of one schema against its meta-schema that are told.
const MOST_FAULTS: usize = 20;

/// A validator that reads a schema as 2020-12, fetches nothing and matches patterns in linear time.
pub fn validator(schema: &Value) -> Result<Validator, Box<ValidationError<'static>>> {
    jsonschema::draft202012::options()
        .offline()
        .with_pattern_options(PatternOptions::regex())
        .build(schema)
        .map_err(Box::new)
}

/// Whether a JSON value that stands as text claims to be a schema, rather than being a sample of a result.
pub(crate) fn claims_to_be_schema(value: &Value) -> bool {
    const TYPES: [&str; 7] = ["object", "array", "string", "number", "integer", "boolean", "null"];
    let names_type = |value: &Value| value.as_str().is_some_and(|name| TYPES.contains(&name));
    let Some(object) = value.as_object() else { return false };
    let by_type = match object.get("type") {
        Some(Value::Array(names)) => !names.is_empty() && names.iter().all(names_type),
        Some(name) => names_type(name),
        None => false,
    };
    by_type
        || object.get("$schema").is_some_and(Value::is_string)
        || (object.get("$ref").is_some_and(Value::is_string) && object.len() <= 2)
        || object
            .get("properties")
            .is_some_and(|map| map.as_object().is_some_and(|map| map.values().all(Value::is_object)))
}

/// Every fault of a schema.
pub(crate) fn check(schema: &Value, used: Use) -> Vec<SchemaFault> {
    let mut faults = Vec::new();
    if used == Use::Output {
        check_root(schema, &mut faults);
    }
    let invalid = against_meta_schema(schema);
    if !invalid.is_empty() {
        faults.extend(invalid);
        return faults;
    }
    let found = Found::in_schema(schema);
    faults.extend(found.foreign(used));
    if faults.is_empty() && !found.references.is_empty() {
        faults.extend(found.unresolved(schema));
        if faults.is_empty() {
            faults.extend(found.endless());
        }
    }
    if faults.is_empty() && (found.has_patterns || !found.references.is_empty()) {
        faults.extend(validator(schema).err().map(|error| unusable(&error)));
    }
    faults
}

fn check_root(schema: &Value, faults: &mut Vec<SchemaFault>) {
    if schema.get("type").and_then(Value::as_str) == Some("object") {
        return;
    }
    let message = match schema.get("type") {
        Some(name) => format!("the output schema's root is {}", quoted(&name.to_string())),
        None => "the output schema's root does not say `type: object`".to_owned(),
    };
    faults.push(SchemaFault { rule: &rule::SCHEMA_ROOT, pointer: "/type".to_owned(), message });
}

fn against_meta_schema(schema: &Value) -> Vec<SchemaFault> {
    let meta = jsonschema::draft202012::meta::validator();
    if meta.is_valid(schema) {
        return Vec::new();
    }
    meta.iter_errors(schema)
        .take(MOST_FAULTS)
        .map(|error| SchemaFault {
            rule: &rule::SCHEMA_INVALID,
            pointer: error.instance_path().to_string(),
            message: format!("no valid schema: {}", in_short(&error)),
        })
        .collect()
}

/// What the meta-schema complains of, in the words of whoever wrote the schema.
fn in_short(error: &ValidationError<'_>) -> String {
    let pointer = error.instance_path().to_string();
    let keyword = pointer.rsplit('/').next().unwrap_or_default();
    if keyword == "type" {
        return "`type` is one of `object`, `array`, `string`, `number`, `integer`, `boolean`, `null`".to_owned();
    }
    let text = error.masked().to_string();
    let text: String = text.chars().take(200).collect();
    if keyword.is_empty() { text } else { format!("`{keyword}`: {text}") }
}

fn unusable(error: &ValidationError<'_>) -> SchemaFault {
    let text: String = error.to_string().chars().take(200).collect();
    SchemaFault {
        rule: &rule::SCHEMA_INVALID,
        pointer: error.instance_path().to_string(),
        message: format!("the schema cannot be used: {text}"),
    }
}

/// What a walk through a schema's subschemas has found.
#[derive(Default)]
struct Found<'v> {
    /// Where each subschema is.
    subschemas: HashSet<String>,
    /// Which subschemas look at the same value as the one at the key, references apart.
    same_value: HashMap<String, Vec<String>>,
    /// `$ref`: where it stands (its subschema) and what it says.
    references: Vec<(String, &'v str)>,
    anchors: HashMap<&'v str, String>,
    /// `$schema`: where and what.
    dialects: Vec<(String, &'v str)>,
    /// Keywords that move or float a reference's base: where and which.
    floating: Vec<(String, &'static str)>,
    has_patterns: bool,
}

/// Keywords whose value is one subschema for the same value.
const SAME_VALUE: [&str; 4] = ["not", "if", "then", "else"];
/// Keywords whose value is a list of subschemas for the same value.
const SAME_VALUE_LISTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];
/// Keywords whose value is one subschema for something inside the value.
const DEEPER: [&str; 7] = [
    "items",
    "contains",
    "additionalProperties",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
];
/// Keywords whose value is a mapping to subschemas for something inside the value, or for nothing until referred to.
const DEEPER_MAPPINGS: [&str; 4] = ["properties", "patternProperties", "$defs", "definitions"];

impl<'v> Found<'v> {
    fn in_schema(schema: &'v Value) -> Found<'v> {
        let mut found = Found::default();
        found.walk(schema, String::new());
        found
    }

    fn walk(&mut self, schema: &'v Value, at: String) {
        self.subschemas.insert(at.clone());
        let Some(keywords) = schema.as_object() else { return };
        self.note(keywords, &at);
        for keyword in SAME_VALUE {
            self.same(keywords.get(keyword), &at, format!("{at}/{keyword}"));
        }
        for keyword in SAME_VALUE_LISTS {
            for (index, part) in keywords.get(keyword).and_then(Value::as_array).into_iter().flatten().enumerate() {
                self.same(Some(part), &at, format!("{at}/{keyword}/{index}"));
            }
        }
        for (name, part) in keywords.get("dependentSchemas").and_then(Value::as_object).into_iter().flatten() {
            self.same(Some(part), &at, format!("{at}/dependentSchemas/{}", escape(name)));
        }
        for keyword in DEEPER {
            if let Some(part) = keywords.get(keyword) {
                self.walk(part, format!("{at}/{keyword}"));
            }
        }
        for (index, part) in keywords.get("prefixItems").and_then(Value::as_array).into_iter().flatten().enumerate() {
            self.walk(part, format!("{at}/prefixItems/{index}"));
        }
        for keyword in DEEPER_MAPPINGS {
            for (name, part) in keywords.get(keyword).and_then(Value::as_object).into_iter().flatten() {
                self.walk(part, format!("{at}/{keyword}/{}", escape(name)));
            }
        }
    }

    fn same(&mut self, part: Option<&'v Value>, parent: &str, at: String) {
        if let Some(part) = part {
            self.same_value.entry(parent.to_owned()).or_default().push(at.clone());
            self.walk(part, at);
        }
    }

    fn note(&mut self, keywords: &'v Map<String, Value>, at: &str) {
        let text = |keyword: &str| keywords.get(keyword).and_then(Value::as_str);
        self.has_patterns |= keywords.contains_key("pattern") || keywords.contains_key("patternProperties");
        self.references.extend(text("$ref").map(|target| (at.to_owned(), target)));
        self.dialects.extend(text("$schema").map(|dialect| (at.to_owned(), dialect)));
        if let Some(anchor) = text("$anchor") {
            self.anchors.insert(anchor, at.to_owned());
        }
        for keyword in ["$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$vocabulary"] {
            if keywords.contains_key(keyword) {
                self.floating.push((at.to_owned(), keyword));
            }
        }
        if keywords.contains_key("$id") && !at.is_empty() {
            self.floating.push((at.to_owned(), "$id"));
        }
    }

    /// Dialects and keywords that reach out of the schema.
    fn foreign(&self, used: Use) -> Vec<SchemaFault> {
        let mut faults = Vec::new();
        for (at, dialect) in &self.dialects {
            if dialect.trim_end_matches('#') != DIALECT {
                let message = format!("the schema's dialect {} is not known", quoted(dialect));
                faults.push(SchemaFault { rule: &rule::SCHEMA_DIALECT, pointer: format!("{at}/$schema"), message });
            }
        }
        for (at, keyword) in &self.floating {
            let message = format!("`{keyword}` is not available here");
            faults.push(SchemaFault { rule: &rule::SCHEMA_REFERENCE, pointer: format!("{at}/{keyword}"), message });
        }
        for (at, target) in &self.references {
            if used == Use::Items {
                let message = "`items` cannot refer to another schema".to_owned();
                faults.push(SchemaFault { rule: &rule::SCHEMA_REFERENCE, pointer: format!("{at}/$ref"), message });
            } else if !target.starts_with('#') {
                let message = format!("`$ref` {} leaves the schema", quoted(target));
                faults.push(SchemaFault { rule: &rule::SCHEMA_REFERENCE, pointer: format!("{at}/$ref"), message });
            }
        }
        faults
    }

    fn unresolved(&self, schema: &Value) -> Vec<SchemaFault> {
        let dangling = |(at, target): &(String, &str)| {
            let what = match self.resolve(target) {
                Some(_) => return None,
                None if schema.pointer(&unescape_fragment(target)).is_some() => "is no schema",
                None => "is not there",
            };
            let message = format!("what `$ref` {} names {what}", quoted(target));
            Some(SchemaFault { rule: &rule::SCHEMA_REFERENCE, pointer: format!("{at}/$ref"), message })
        };
        self.references.iter().filter_map(dangling).collect()
    }

    /// Where the subschema is that a local reference names.
    fn resolve(&self, target: &str) -> Option<String> {
        let fragment = unescape_fragment(target);
        if fragment.is_empty() || fragment.starts_with('/') {
            self.subschemas.contains(&fragment).then_some(fragment)
        } else {
            self.anchors.get(fragment.as_str()).cloned()
        }
    }

    /// Which subschemas each one holds against the same value, references followed.
    fn edges(&self) -> Edges<'_> {
        let mut edges = Edges::new();
        for (parent, parts) in &self.same_value {
            edges.entry(parent).or_default().extend(parts.iter().cloned());
        }
        for (at, target) in &self.references {
            edges.entry(at).or_default().extend(self.resolve(target));
        }
        edges
    }

    /// Subschemas that come back to themselves without going deeper into the value, or, where none does, the first
    /// that multiplies: ten definitions that each name the next one ten times are held against one value 10^10 times.
    fn endless(&self) -> Vec<SchemaFault> {
        let edges = self.edges();
        let loops = self.loops(&edges);
        if !loops.is_empty() {
            return loops;
        }
        let mut weights = HashMap::new();
        let heavy = self.references.iter().find(|(at, _)| weight(at, &edges, &mut weights) > MOST_SAME_VALUE);
        let fault = |(at, _): &(String, &str)| SchemaFault {
            rule: &rule::TOO_COMPLEX,
            pointer: format!("{at}/$ref"),
            message: format!("the schema would be held against one value more than {MOST_SAME_VALUE} times"),
        };
        heavy.map(fault).into_iter().collect()
    }

    fn loops(&self, edges: &Edges<'_>) -> Vec<SchemaFault> {
        self.references
            .iter()
            .filter(|(at, _)| comes_back(at, edges))
            .map(|(at, target)| SchemaFault {
                rule: &rule::SCHEMA_LOOP,
                pointer: format!("{at}/$ref"),
                message: format!("`$ref` {} comes back to itself for the same value", quoted(target)),
            })
            .collect()
    }
}

/// How many subschemas are held against one value, this one among them. Ends because loops were refused before.
fn weight<'e>(at: &'e str, edges: &'e Edges<'_>, known: &mut HashMap<&'e str, u64>) -> u64 {
    if let Some(weight) = known.get(at) {
        return *weight;
    }
    let mut sum: u64 = 1;
    for next in edges.get(at).into_iter().flatten() {
        sum = sum.saturating_add(weight(next, edges, known));
    }
    known.insert(at, sum);
    sum
}

fn comes_back(start: &str, edges: &Edges<'_>) -> bool {
    let mut seen: HashSet<&str> = HashSet::new();
    let mut ahead: Vec<&str> = vec![start];
    while let Some(at) = ahead.pop() {
        for next in edges.get(at).into_iter().flatten() {
            if next == start {
                return true;
            }
            if seen.insert(next) {
                ahead.push(next);
            }
        }
    }
    false
}

fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// A local reference's fragment as a JSON Pointer or anchor name: without the `#`, percent escapes undone.
fn unescape_fragment(target: &str) -> String {
    undo_percent(target.strip_prefix('#').unwrap_or(target))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn faults(schema: &Value, used: Use) -> Vec<(&'static str, String)> {
        check(schema, used).into_iter().map(|fault| (fault.rule.name, fault.pointer)).collect()
    }

    #[test]
    fn a_recursive_schema_that_goes_deeper_is_fine() {
        let tree = json!({"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#"}}, "a": {"$ref": "#/$defs/x%7E1y"}}, "$defs": {"x/y": {"$anchor": "here"}, "z": {"$ref": "#here"}}});
        assert!(faults(&tree, Use::Output).is_empty());
        assert!(validator(&tree).unwrap().is_valid(&json!({"children": [{"children": []}]})));
    }

    #[test]
    fn a_schema_that_would_never_end_is_refused() {
        let direct = json!({"type": "object", "$ref": "#"});
        assert_eq!(faults(&direct, Use::Output), [("schema_loop", "/$ref".to_owned())]);
        let around = json!({"type": "object", "allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}]}, "b": {"not": {"$ref": "#/$defs/a"}}}});
        assert_eq!(faults(&around, Use::Output).len(), 2);
    }

    #[test]
    fn a_schema_that_multiplies_is_refused() {
        let mut definitions = Map::new();
        for n in 0..10 {
            let next: Vec<Value> = (0..10).map(|_| json!({"$ref": format!("#/$defs/d{}", n + 1)})).collect();
            definitions.insert(format!("d{n}"), json!({"allOf": next}));
        }
        definitions.insert("d10".to_owned(), json!({"type": "object"}));
        let bomb = json!({"type": "object", "allOf": [{"$ref": "#/$defs/d0"}], "$defs": definitions});
        assert_eq!(faults(&bomb, Use::Output)[0].0, "too_complex");
    }

    #[test]
    fn what_reaches_out_of_the_schema_is_refused() {
        for schema in [
            json!({"type": "object", "$ref": "https://example.com/x"}),
            json!({"type": "object", "properties": {"a": {"$ref": "other.json"}}}),
            json!({"type": "object", "properties": {"a": {"$ref": "#/properties"}}}),
            json!({"type": "object", "properties": {"a": {"$ref": "#nowhere"}}}),
            json!({"type": "object", "properties": {"a": {"$id": "https://example.com/y"}}}),
            json!({"type": "object", "$dynamicRef": "#x"}),
        ] {
            assert_eq!(faults(&schema, Use::Output)[0].0, "schema_reference", "{schema}");
        }
        assert_eq!(faults(&json!({"$ref": "#"}), Use::Items)[0].0, "schema_reference");
        assert_eq!(
            faults(&json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"}), Use::Output)[0].0,
            "schema_dialect"
        );
        assert!(
            faults(&json!({"$schema": DIALECT, "type": "object", "$id": "https://example.com/z"}), Use::Output)
                .is_empty()
        );
    }

    #[test]
    fn an_invalid_schema_is_told_at_the_keyword() {
        let schema = json!({"type": "object", "properties": {"a": {"type": "strnig"}, "b": {"minLength": -1}, "c": {"required": "x"}}});
        let pointers: Vec<String> = faults(&schema, Use::Output).into_iter().map(|(_, pointer)| pointer).collect();
        assert!(pointers.contains(&"/properties/a/type".to_owned()), "{pointers:?}");
        assert!(pointers.contains(&"/properties/b/minLength".to_owned()), "{pointers:?}");
        let pattern = json!({"type": "object", "properties": {"a": {"pattern": "(?=x)"}}});
        assert_eq!(faults(&pattern, Use::Output)[0].0, "schema_invalid");
    }

    #[test]
    fn keywords_inside_samples_are_not_keywords() {
        let schema = json!({"type": "object", "examples": [{"$ref": "nowhere"}], "properties": {"$ref": {"const": {"$ref": "x"}, "enum": [{"$id": "y"}]}}});
        assert!(faults(&schema, Use::Output).is_empty());
    }

    #[test]
    fn samples_and_schemas_are_told_apart() {
        assert!(claims_to_be_schema(&json!({"type": "object"})));
        assert!(claims_to_be_schema(&json!({"type": ["object", "null"]})));
        assert!(claims_to_be_schema(&json!({"properties": {"a": {}}})));
        assert!(!claims_to_be_schema(&json!({"type": "invoice", "id": 3})));
        assert!(!claims_to_be_schema(&json!({"rows": []})));
        assert!(!claims_to_be_schema(&json!([1])));
        assert!(!claims_to_be_schema(&json!({})));
    }
}
