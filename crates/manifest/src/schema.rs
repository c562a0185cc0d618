//! Whether a JSON Schema in a manifest is one that can be held against values, offline and always ending.
//!
//! Owns the rules for schemas: dialect, root, references, loops. Knows no place in a file: a fault carries a JSON
//! Pointer into the schema. Start at [`check`].

use std::collections::HashMap;

use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::{Map, Value, json};

use crate::diagnostic::{Position, quoted};
use crate::findings::Findings;
use crate::fit::values_in;
use crate::pattern;
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
/// Of a schema made of more than this only the first fault against the meta-schema is told.
const MOST_VALUES_FOR_ALL: usize = 2000;

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

/// Every fault of a schema that stands at a place of a file.
pub(crate) fn check(schema: &Value, used: Use, at: Position, findings: &mut Findings<'_, '_>) -> Vec<SchemaFault> {
    let mut faults = Vec::new();
    let invalid = against_meta_schema(schema);
    // A root whose type is none is told once, as that.
    if used == Use::Output && !invalid.iter().any(|fault| fault.pointer == "/type") {
        check_root(schema, &mut faults);
    }
    if !invalid.is_empty() {
        faults.extend(invalid);
        return faults;
    }
    let map = SchemaMap::of(schema);
    faults.extend(map.foreign(used));
    if faults.is_empty() && !map.references.is_empty() {
        faults.extend(map.endless());
    }
    if faults.is_empty() {
        faults.extend(map.bad_patterns(at, findings));
    }
    faults.truncate(MOST_FAULTS);
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
    let fault = |error: ValidationError<'_>| SchemaFault {
        rule: &rule::SCHEMA_INVALID,
        pointer: error.instance_path().to_string(),
        message: format!("no valid schema: {}", in_short(&error)),
    };
    if values_in(schema) > MOST_VALUES_FOR_ALL {
        // Gathering every fault of a large schema takes far more memory than the schema.
        return meta.validate(schema).err().map(fault).into_iter().collect();
    }
    meta.iter_errors(schema).take(MOST_FAULTS).map(fault).collect()
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

/// A subschema and how it is reached. Where it stands is told only when it is at fault: the pointers of all together
/// could take the square of the schema's size.
struct Subschema<'v> {
    keywords: Option<&'v Map<String, Value>>,
    reached: Reached<'v>,
}

/// How a subschema is reached from the one around it.
#[derive(Clone, Copy)]
struct Reached<'v> {
    /// The subschema around it; none for the root.
    parent: Option<usize>,
    keyword: &'static str,
    step: Step<'v>,
    /// Whether it is held against the same value as the subschema around it.
    same_value: bool,
}

/// The step below a keyword.
#[derive(Clone, Copy)]
enum Step<'v> {
    None,
    Index(usize),
    Name(&'v str),
}

/// A schema's subschemas and what they say about references.
struct SchemaMap<'v> {
    root: &'v Value,
    subschemas: Vec<Subschema<'v>>,
    /// From where a subschema is in memory to its number.
    numbers: HashMap<*const Value, usize>,
    /// `$ref`: the subschema and what it says.
    references: Vec<(usize, &'v str)>,
    anchors: HashMap<&'v str, usize>,
    /// The subschemas that have patterns, with each.
    patterns: Vec<(usize, &'v str)>,
}

impl<'v> SchemaMap<'v> {
    fn of(root: &'v Value) -> SchemaMap<'v> {
        let mut map = SchemaMap {
            root,
            subschemas: Vec::new(),
            numbers: HashMap::new(),
            references: Vec::new(),
            anchors: HashMap::new(),
            patterns: Vec::new(),
        };
        map.walk(root, Reached { parent: None, keyword: "", step: Step::None, same_value: false });
        map
    }

    fn walk(&mut self, schema: &'v Value, reached: Reached<'v>) {
        let number = self.subschemas.len();
        let keywords = schema.as_object();
        self.subschemas.push(Subschema { keywords, reached });
        self.numbers.insert(std::ptr::from_ref(schema), number);
        let Some(keywords) = keywords else { return };
        self.note(keywords, number);
        let at = |keyword, step, same_value| Reached { parent: Some(number), keyword, step, same_value };
        let listed = |keyword: &str| keywords.get(keyword).and_then(Value::as_array).into_iter().flatten().enumerate();
        let named = |keyword: &str| keywords.get(keyword).and_then(Value::as_object).into_iter().flatten();
        for keyword in SAME_VALUE {
            if let Some(part) = keywords.get(keyword) {
                self.walk(part, at(keyword, Step::None, true));
            }
        }
        for keyword in DEEPER {
            if let Some(part) = keywords.get(keyword) {
                self.walk(part, at(keyword, Step::None, false));
            }
        }
        for keyword in SAME_VALUE_LISTS {
            for (index, part) in listed(keyword) {
                self.walk(part, at(keyword, Step::Index(index), true));
            }
        }
        for (index, part) in listed("prefixItems") {
            self.walk(part, at("prefixItems", Step::Index(index), false));
        }
        for (name, part) in named("dependentSchemas") {
            self.walk(part, at("dependentSchemas", Step::Name(name), true));
        }
        for keyword in DEEPER_MAPPINGS {
            for (name, part) in named(keyword) {
                self.walk(part, at(keyword, Step::Name(name), false));
            }
        }
    }

    fn note(&mut self, keywords: &'v Map<String, Value>, number: usize) {
        let text = |keyword: &str| keywords.get(keyword).and_then(Value::as_str);
        self.references.extend(text("$ref").map(|target| (number, target)));
        self.patterns.extend(text("pattern").map(|pattern| (number, pattern)));
        let keys = keywords.get("patternProperties").and_then(Value::as_object).into_iter().flat_map(Map::keys);
        self.patterns.extend(keys.map(|pattern| (number, pattern.as_str())));
        if let Some(anchor) = text("$anchor") {
            self.anchors.insert(anchor, number);
        }
    }

    /// Where a subschema stands, as a JSON Pointer.
    fn pointer(&self, number: usize) -> String {
        let mut steps = Vec::new();
        let mut next = Some(number);
        while let Some(subschema) = next.and_then(|number| self.subschemas.get(number)) {
            let reached = subschema.reached;
            match reached.step {
                Step::None => {}
                Step::Index(index) => steps.push(index.to_string()),
                Step::Name(name) => steps.push(escape(name)),
            }
            if reached.parent.is_some() {
                steps.push(reached.keyword.to_owned());
            }
            next = reached.parent;
        }
        steps.iter().rev().map(|step| format!("/{step}")).collect()
    }

    fn fault(&self, rule: &'static Rule, number: usize, keyword: &str, message: String) -> SchemaFault {
        SchemaFault { rule, pointer: format!("{}/{keyword}", self.pointer(number)), message }
    }

    /// Dialects and keywords that reach out of the schema, and references that lead nowhere.
    fn foreign(&self, used: Use) -> Vec<SchemaFault> {
        let numbered = self.subschemas.iter().enumerate();
        let keywords = numbered.filter_map(|(number, subschema)| subschema.keywords.map(|keywords| (number, keywords)));
        let floating = keywords.flat_map(|(number, keywords)| self.floating(number, keywords));
        let wrong = |(number, target): &(usize, &str)| self.wrong_reference(*number, target, used);
        let references = self.references.iter().filter_map(wrong);
        floating.take(MOST_FAULTS).chain(references.take(MOST_FAULTS)).collect()
    }

    fn floating(&self, number: usize, keywords: &Map<String, Value>) -> Vec<SchemaFault> {
        let mut faults = Vec::new();
        if let Some(dialect) = keywords.get("$schema").and_then(Value::as_str)
            && dialect.trim_end_matches('#') != DIALECT
        {
            let message = format!("the schema's dialect {} is not known", quoted(dialect));
            faults.push(self.fault(&rule::SCHEMA_DIALECT, number, "$schema", message));
        }
        for keyword in ["$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$vocabulary", "$id"] {
            if keywords.contains_key(keyword) && (keyword != "$id" || number != 0) {
                let message = format!("`{keyword}` is not available here");
                faults.push(self.fault(&rule::SCHEMA_REFERENCE, number, keyword, message));
            }
        }
        faults
    }

    fn wrong_reference(&self, number: usize, target: &str, used: Use) -> Option<SchemaFault> {
        let message = if used == Use::Items {
            "`items` cannot refer to another schema".to_owned()
        } else if !target.starts_with('#') {
            format!("`$ref` {} leaves the schema", quoted(target))
        } else if self.resolve(target).is_some() {
            return None;
        } else if self.root.pointer(&unescape_fragment(target)).is_some() {
            format!("what `$ref` {} names is no schema", quoted(target))
        } else {
            format!("what `$ref` {} names is not there", quoted(target))
        };
        Some(self.fault(&rule::SCHEMA_REFERENCE, number, "$ref", message))
    }

    /// The subschema that a local reference names.
    fn resolve(&self, target: &str) -> Option<usize> {
        let fragment = unescape_fragment(target);
        if fragment.is_empty() || fragment.starts_with('/') {
            let found = self.root.pointer(&fragment)?;
            self.numbers.get(&std::ptr::from_ref(found)).copied()
        } else {
            self.anchors.get(fragment.as_str()).copied()
        }
    }

    /// From each subschema to those that are held against the same value, references followed.
    fn edges(&self) -> Vec<Vec<usize>> {
        let mut edges = vec![Vec::new(); self.subschemas.len()];
        let inside = self.subschemas.iter().enumerate().filter(|(_, subschema)| subschema.reached.same_value);
        let inside = inside.filter_map(|(number, subschema)| subschema.reached.parent.map(|parent| (parent, number)));
        let across = self.references.iter().filter_map(|(number, target)| self.resolve(target).map(|to| (*number, to)));
        for (from, to) in inside.chain(across) {
            if let Some(list) = edges.get_mut(from) {
                list.push(to);
            }
        }
        edges
    }

    /// The first subschema that comes back to itself without going deeper into the value, or that multiplies: ten
    /// definitions that each name the next one ten times are held against one value 10^10 times.
    fn endless(&self) -> Option<SchemaFault> {
        let edges = self.edges();
        let mut weights = vec![Weight::Unknown; self.subschemas.len()];
        for (start, _) in &self.references {
            match weigh(*start, &edges, &mut weights) {
                Ok(weight) if weight <= MOST_SAME_VALUE => {}
                Ok(_) => {
                    let message = format!("the schema would be held against one value over {MOST_SAME_VALUE} times");
                    return Some(self.fault(&rule::TOO_COMPLEX, *start, "$ref", message));
                }
                Err(Loop { at }) => {
                    let message = "the schema comes back to this place for the same value".to_owned();
                    return Some(SchemaFault { rule: &rule::SCHEMA_LOOP, pointer: self.pointer(at), message });
                }
            }
        }
        None
    }

    fn bad_patterns(&self, at: Position, findings: &mut Findings<'_, '_>) -> Vec<SchemaFault> {
        let mut faults = Vec::new();
        for (number, text) in &self.patterns {
            let affordable = findings.afford_pattern(pattern::reading_cost(text), at)
                && findings.afford_pattern(pattern::cost(text).unwrap_or(0), at);
            if !affordable {
                break;
            }
            if text.len() > pattern::MOST_BYTES || validator(&json!({"pattern": text})).is_err() {
                let message = format!("pattern {} is none that runs in linear time", quoted(text));
                faults.push(self.fault(&rule::SCHEMA_INVALID, *number, "pattern", message));
            }
        }
        faults
    }
}

/// How many subschemas are held against one value, if that is known.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Weight {
    Unknown,
    /// Being weighed: whoever meets it has come back to it.
    Open,
    Known(u64),
}

/// A subschema that comes back to itself.
struct Loop {
    at: usize,
}

/// How many subschemas are held against the value that this one is held against, this one among them. Depth first with
/// a stack of its own, since a chain of references may be as long as the file.
fn weigh(start: usize, edges: &[Vec<usize>], weights: &mut [Weight]) -> Result<u64, Loop> {
    let mut path = vec![start];
    while let Some(number) = path.last().copied() {
        let next = edges.get(number).map(Vec::as_slice).unwrap_or_default();
        match known(weights, number) {
            Weight::Known(_) => {
                path.pop();
            }
            Weight::Unknown => {
                note_weight(weights, number, Weight::Open);
                if let Some(at) = next.iter().copied().find(|to| known(weights, *to) == Weight::Open) {
                    return Err(Loop { at });
                }
                path.extend(next.iter().filter(|to| known(weights, **to) == Weight::Unknown));
            }
            Weight::Open => {
                let sum = next.iter().fold(1u64, |sum, to| match known(weights, *to) {
                    Weight::Known(weight) => sum.saturating_add(weight),
                    Weight::Open | Weight::Unknown => sum,
                });
                note_weight(weights, number, Weight::Known(sum));
                path.pop();
            }
        }
    }
    match known(weights, start) {
        Weight::Known(weight) => Ok(weight),
        Weight::Open | Weight::Unknown => Ok(1),
    }
}

fn known(weights: &[Weight], number: usize) -> Weight {
    weights.get(number).copied().unwrap_or(Weight::Known(1))
}

fn note_weight(weights: &mut [Weight], number: usize, weight: Weight) {
    if let Some(place) = weights.get_mut(number) {
        *place = weight;
    }
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
    use crate::diagnostic::Source;

    fn faults(schema: &Value, used: Use) -> Vec<(&'static str, String)> {
        let source = Source::new("f", "");
        let mut findings = Findings::new(&source);
        let faults = check(schema, used, Position::default(), &mut findings);
        faults.into_iter().map(|fault| (fault.rule.name, fault.pointer)).collect()
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
        assert_eq!(faults(&direct, Use::Output), [("schema_loop", String::new())]);
        let around = json!({"type": "object", "allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}]}, "b": {"not": {"$ref": "#/$defs/a"}}}});
        assert_eq!(faults(&around, Use::Output)[0].0, "schema_loop");
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
