//! What a change of each keyword of JSON Schema does to the set of values.
//!
//! A keyword that is not listed here is not understood, which is major. Keywords of objects are in
//! [`super::object`]. Start at [`compare_keyword`].

use std::collections::{BTreeMap, BTreeSet};

use gatelatch_protocol::digest::canonical_text;
use serde_json::{Map, Value};

use super::object;
use super::schema::{Effect, Judge, Side};
use super::tool::{changed, keys};
use crate::change::ChangeKind;
use crate::shown;

/// Keywords whose effect depends on all their neighbours.
pub(super) const BLURS: [&str; 2] = ["unevaluatedProperties", "unevaluatedItems"];

/// Keywords in which a value may be excluded because a schema below accepts it.
const INVERTS: [&str; 7] =
    ["not", "oneOf", "if", "contains", "dependentSchemas", "unevaluatedProperties", "unevaluatedItems"];

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// What a whole schema contains.
#[derive(Default)]
pub(super) struct Seen {
    /// All texts of `$ref` and `$dynamicRef`.
    pub(super) references: Vec<String>,
    inverts: bool,
}

impl Seen {
    pub(super) fn in_schema(schema: &Value) -> Seen {
        let mut seen = Seen::default();
        seen.walk(schema);
        seen
    }

    /// Whether a definition may be used where growing means shrinking.
    pub(super) fn is_murky(&self) -> bool {
        self.inverts && !self.references.is_empty()
    }

    fn walk(&mut self, value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.walk(item)),
            Value::Object(map) => {
                for (key, value) in map {
                    self.inverts |= INVERTS.contains(&key.as_str());
                    if let ("$ref" | "$dynamicRef", Value::String(target)) = (key.as_str(), value) {
                        self.references.push(target.clone());
                    }
                    self.walk(value);
                }
            }
            _ => {}
        }
    }
}

/// Compares a keyword whose values differ.
pub(super) fn compare_keyword(judge: &mut Judge<'_>, key: &str, old: &Map<String, Value>, new: &Map<String, Value>) {
    let values = (old.get(key), new.get(key));
    match key {
        "title" | "description" | "examples" | "$comment" | "deprecated" => {
            judge.at(&[key], |judge| judge.tell_as(ChangeKind::TextChanged, changed(key, values)));
        }
        "type" => judge.at(&[key], |judge| types(judge, values)),
        "enum" | "const" => allowed_values(judge, key, old, new),
        "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => {
            judge.at(&[key], |judge| bound(judge, key, values, Effect::Narrows));
        }
        "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => {
            judge.at(&[key], |judge| bound(judge, key, values, Effect::Widens));
        }
        "multipleOf" => judge.at(&[key], |judge| multiple(judge, values)),
        "pattern" | "format" | "contentEncoding" | "contentMediaType" => {
            judge.at(&[key], |judge| rule_of_text(judge, key, values));
        }
        "uniqueItems" => judge.at(&[key], |judge| unique(judge, values)),
        "default" => judge.at(&[key], |judge| default(judge, values)),
        "properties" => object::properties(judge, old, new),
        "required" => object::required(judge, old, new),
        "patternProperties" => object::pattern_properties(judge, old, new),
        "additionalProperties" => object::additional(judge, values),
        "items" | "propertyNames" => {
            let open = Value::Bool(true);
            judge.schema_at(&[key], values.0.unwrap_or(&open), values.1.unwrap_or(&open));
        }
        "anyOf" | "allOf" => branches(judge, key, values),
        "prefixItems" | "oneOf" => places(judge, key, values),
        "not" | "if" | "then" | "else" | "contains" => match values {
            (Some(old), Some(new)) => judge.murky_schema_at("a condition", &[key], old, new),
            _ => judge.at(&[key], |judge| judge.not_understood(changed(key, values))),
        },
        "$defs" | "definitions" => object::definitions(judge, key, values),
        "x-mcp-header" => judge.at(&[key], |judge| header(judge, values)),
        "$schema" if [values.0, values.1].into_iter().flatten().all(|dialect| dialect == DIALECT) => {
            judge.at(&[key], |judge| judge.tell(Effect::None, "the dialect is the same and is written differently"));
        }
        _ => judge.at(&[key], |judge| judge.not_understood(changed(key, values))),
    }
}

/// Tells that no value can be of both types, if so.
pub(super) fn types_are_disjoint(judge: &mut Judge<'_>, old: &Map<String, Value>, new: &Map<String, Value>) -> bool {
    let values = (old.get("type"), new.get("type"));
    let disjoint = match (type_set(values.0), type_set(values.1)) {
        (Some(old), Some(new)) => old.is_disjoint(&new) && !old.is_empty() && !new.is_empty(),
        _ => false,
    };
    if disjoint {
        judge.at(&["type"], |judge| types(judge, values));
    }
    disjoint
}

type Keywords = Map<String, Value>;
type Values<'a> = (Option<&'a Value>, Option<&'a Value>);

fn types(judge: &mut Judge<'_>, values: Values<'_>) {
    let (Some(old), Some(new)) = (type_set(values.0), type_set(values.1)) else {
        return judge.not_understood(changed("type", values));
    };
    let effect = between_sets(&old, &new);
    let (from, to) = (type_text(values.0), type_text(values.1));
    judge.tell(effect, format!("the type {} from {from} to {to}", verb(effect)));
}

/// All types, with `number` as the numbers that are no integers.
const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

fn type_set(value: Option<&Value>) -> Option<BTreeSet<&'static str>> {
    let named = match value {
        None => return Some(TYPES.into()),
        Some(Value::Array(names)) => names.as_slice(),
        Some(name) => std::slice::from_ref(name),
    };
    let mut set = BTreeSet::new();
    for name in named {
        let name = TYPES.into_iter().find(|known| name == known)?;
        set.insert(name);
        if name == "number" {
            set.insert("integer");
        }
    }
    Some(set)
}

fn type_text(value: Option<&Value>) -> String {
    match value {
        None => "any".to_owned(),
        Some(Value::String(name)) => format!("`{}`", shown::text(name)),
        Some(other) => format!("`{}`", shown::value(other)),
    }
}

fn between_sets<T: Ord>(old: &BTreeSet<T>, new: &BTreeSet<T>) -> Effect {
    match (new.is_subset(old), old.is_subset(new)) {
        (true, true) => Effect::None,
        (true, false) => Effect::Narrows,
        (false, true) => Effect::Widens,
        (false, false) => Effect::Replaces,
    }
}

fn verb(effect: Effect) -> &'static str {
    match effect {
        Effect::None | Effect::Same => "is written differently,",
        Effect::Narrows => "was narrowed",
        Effect::Widens => "was widened",
        Effect::Replaces => "was changed",
    }
}

/// `enum` and `const` together, once.
fn allowed_values(judge: &mut Judge<'_>, key: &str, old: &Map<String, Value>, new: &Map<String, Value>) {
    let differs = |key: &str| old.get(key) != new.get(key);
    if key == "const" && differs("enum") {
        // Told with `enum`.
        return;
    }
    let (Some(before), Some(after)) = (value_set(old), value_set(new)) else {
        return judge.at(&[key], |judge| judge.not_understood(changed(key, (old.get(key), new.get(key)))));
    };
    let (effect, what) = match (before, after) {
        (None, None) => (Effect::None, "the values are written differently".to_owned()),
        (None, Some(_)) => (Effect::Narrows, "only listed values are allowed now".to_owned()),
        (Some(_), None) => (Effect::Widens, "values that are not listed are allowed now".to_owned()),
        (Some(before), Some(after)) => {
            let effect = between_sets(&before, &after);
            let gone = before.difference(&after).map(|value| format!("{} was removed", shown::text(value)));
            let come = after.difference(&before).map(|value| format!("{} was added", shown::text(value)));
            let mut parts: Vec<String> = gone.chain(come).take(6).collect();
            if parts.len() == 6 {
                parts.pop();
                parts.push("and more".to_owned());
            }
            match effect {
                Effect::None => (effect, "the listed values are ordered or written differently".to_owned()),
                _ => (effect, format!("the listed values: {}", parts.join(", "))),
            }
        }
    };
    judge.at(&[key], |judge| judge.tell(effect, what));
}

/// The listed values; none within if nothing is listed, none at all if the list is none.
fn value_set(schema: &Map<String, Value>) -> Option<Option<BTreeSet<String>>> {
    let listed: Option<BTreeSet<String>> = match schema.get("enum") {
        None => None,
        Some(Value::Array(items)) => Some(items.iter().map(canonical_text).collect()),
        Some(_) => return None,
    };
    let one = schema.get("const").map(canonical_text);
    Some(match (listed, one) {
        (listed, None) => listed,
        (None, Some(one)) => Some(BTreeSet::from([one])),
        (Some(listed), Some(one)) => Some(listed.into_iter().filter(|value| *value == one).collect()),
    })
}

/// A bound; `rising` is what a greater number does.
fn bound(judge: &mut Judge<'_>, key: &str, values: Values<'_>, rising: Effect) {
    let falling = if rising == Effect::Narrows { Effect::Widens } else { Effect::Narrows };
    let says_nothing = |value: &Value| {
        matches!(key, "minLength" | "minItems" | "minProperties") && value.as_f64().is_some_and(|number| number <= 0.0)
    };
    let (effect, what) = match values {
        (None, Some(new)) if new.is_number() => {
            let effect = if says_nothing(new) { Effect::None } else { Effect::Narrows };
            (effect, format!("`{key}` is {} now, and there was none", shown::value(new)))
        }
        (Some(old), None) if old.is_number() => {
            let effect = if says_nothing(old) { Effect::None } else { Effect::Widens };
            (effect, format!("`{key}` was {}, and there is none now", shown::value(old)))
        }
        (Some(old), Some(new)) => match (old.as_f64(), new.as_f64()) {
            (Some(from), Some(to)) => {
                let effect = if says_nothing(old) && says_nothing(new) {
                    Effect::None
                } else if to > from {
                    rising
                } else {
                    falling
                };
                let what = format!("`{key}` {} from {} to {}", verb(effect), shown::value(old), shown::value(new));
                (effect, what)
            }
            _ => return judge.not_understood(changed(key, values)),
        },
        _ => return judge.not_understood(changed(key, values)),
    };
    judge.tell(effect, what);
}

fn multiple(judge: &mut Judge<'_>, values: Values<'_>) {
    let whole = |value: &Value| value.as_u64().filter(|number| *number > 0);
    let effect = match values {
        (None, Some(_)) => Effect::Narrows,
        (Some(_), None) => Effect::Widens,
        (Some(old), Some(new)) => match (whole(old), whole(new)) {
            (Some(old), Some(new)) if new % old == 0 => Effect::Narrows,
            (Some(old), Some(new)) if old % new == 0 => Effect::Widens,
            _ => Effect::Replaces,
        },
        (None, None) => Effect::None,
    };
    judge.tell(effect, changed("multipleOf", values));
}

/// A rule that texts are held to. Two of them cannot be compared.
fn rule_of_text(judge: &mut Judge<'_>, key: &str, values: Values<'_>) {
    match values {
        (None, Some(new)) => judge.tell(Effect::Narrows, format!("`{key}` is {} now", shown::value(new))),
        (Some(old), None) => judge.tell(Effect::Widens, format!("`{key}` was {} and is gone", shown::value(old))),
        (Some(old), Some(new)) => {
            let what = format!("`{key}` changed from {} to {}", shown::value(old), shown::value(new));
            judge.tell(Effect::Replaces, what);
        }
        (None, None) => {}
    }
}

fn unique(judge: &mut Judge<'_>, values: Values<'_>) {
    let is_unique = |value: Option<&Value>| value.map_or(Some(false), Value::as_bool);
    let effect = match (is_unique(values.0), is_unique(values.1)) {
        (Some(false), Some(true)) => Effect::Narrows,
        (Some(true), Some(false)) => Effect::Widens,
        (Some(_), Some(_)) => Effect::None,
        _ => Effect::Replaces,
    };
    judge.tell(effect, changed("uniqueItems", values));
}

/// What a left-out argument means is part of the call that leaves it out.
fn default(judge: &mut Judge<'_>, values: Values<'_>) {
    match (judge.side, values) {
        (Side::Output, _) => judge.tell_as(ChangeKind::TextChanged, changed("default", values)),
        (Side::Input, (None, Some(new))) => {
            let what = format!("leaving it out is said to mean {} now", shown::value(new));
            judge.tell_as(ChangeKind::DefaultAdded, what);
        }
        (Side::Input, (Some(old), Some(new))) => {
            let what = format!("leaving it out meant {} and means {} now", shown::value(old), shown::value(new));
            judge.tell_as(ChangeKind::DefaultChanged, what);
        }
        (Side::Input, (old, None)) => {
            let old = old.map(shown::value).unwrap_or_default();
            let what = format!("leaving it out meant {old}, and what it means now is not said");
            judge.tell_as(ChangeKind::DefaultRemoved, what);
        }
    }
}

/// The header is part of how a client sends the argument.
fn header(judge: &mut Judge<'_>, values: Values<'_>) {
    let what = match values {
        (None, Some(new)) => format!("the argument must travel in the header {} now", shown::value(new)),
        (Some(old), None) => format!("the argument no longer travels in the header {}", shown::value(old)),
        _ => "the argument travels in another header".to_owned(),
    };
    judge.tell_as(ChangeKind::ArgumentHeader, what);
}

/// `anyOf` and `allOf`: equal branches pair wherever they stand, the others in their order.
fn branches(judge: &mut Judge<'_>, key: &str, values: Values<'_>) {
    let any = key == "anyOf";
    let (more, fewer) = if any { (Effect::Widens, Effect::Narrows) } else { (Effect::Narrows, Effect::Widens) };
    let (old, new) = match values {
        (Some(Value::Array(old)), Some(Value::Array(new))) => (old, new),
        (None, Some(Value::Array(_))) => {
            return judge.at(&[key], |judge| judge.tell(Effect::Narrows, changed(key, values)));
        }
        (Some(Value::Array(_)), None) => {
            return judge.at(&[key], |judge| judge.tell(Effect::Widens, changed(key, values)));
        }
        _ => return judge.at(&[key], |judge| judge.not_understood(changed(key, values))),
    };
    let (gone, come) = (unmatched(old, new), unmatched(new, old));
    match (gone.as_slice(), come.as_slice()) {
        ([], []) => judge.at(&[key], |judge| judge.tell(Effect::None, "its branches are ordered differently")),
        ([], _) => judge.at(&[key], |judge| judge.tell(more, "it has a branch more")),
        (_, []) => judge.at(&[key], |judge| judge.tell(fewer, "it has a branch less")),
        (gone, come) if gone.len() == come.len() => {
            for ((place, old), (_, new)) in gone.iter().zip(come) {
                judge.schema_at(&[key, &place.to_string()], old, new);
            }
        }
        _ => judge.at(&[key], |judge| judge.not_understood("several of its branches changed")),
    }
}

/// The branches of one list that the other does not have, with their places.
fn unmatched<'a>(branches: &'a [Value], others: &[Value]) -> Vec<(usize, &'a Value)> {
    let mut left: BTreeMap<String, usize> = BTreeMap::new();
    for other in others {
        *left.entry(canonical_text(other)).or_default() += 1;
    }
    let is_unmatched = |branch: &Value| match left.get_mut(&canonical_text(branch)) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    };
    let mut is_unmatched = is_unmatched;
    branches.iter().enumerate().filter(|(_, branch)| is_unmatched(branch)).collect()
}

/// `prefixItems` and `oneOf`: schemas that are told apart by their place.
fn places(judge: &mut Judge<'_>, key: &str, values: Values<'_>) {
    match values {
        (Some(Value::Array(old)), Some(Value::Array(new))) if old.len() == new.len() => {
            for (place, (old, new)) in old.iter().zip(new).enumerate() {
                let segments = [key, &place.to_string()];
                if key == "oneOf" {
                    judge.murky_schema_at("the other branches of `oneOf`", &segments, old, new);
                } else {
                    judge.schema_at(&segments, old, new);
                }
            }
        }
        _ => judge.at(&[key], |judge| judge.not_understood(changed(key, values))),
    }
}

/// The maps of two keywords whose values are schemas by name; none if one is something else.
pub(super) fn maps<'a>(values: Values<'a>, empty: &'a Keywords) -> Option<(&'a Keywords, &'a Keywords)> {
    let map = |value: Option<&'a Value>| value.map_or(Some(empty), Value::as_object);
    Some((map(values.0)?, map(values.1)?))
}

/// The names in either map, each once.
pub(super) fn names<'a>(old: &'a Map<String, Value>, new: &'a Map<String, Value>) -> Vec<&'a str> {
    keys(old, new).collect()
}
