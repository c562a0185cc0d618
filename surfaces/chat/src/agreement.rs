//! Whether two JSON Schemas agree: one that promises and one that relies on the promise.
//!
//! Two questions with different burdens. [`contradiction`] looks for what certainly disagrees, for results: what cannot
//! be told passes, since every result is held to its schema anyway. [`is_narrower`] wants it shown, for arguments: what
//! cannot be told does not pass. How a schema is read is [`crate::shape`].

use gatelatch_manifest::fit::{equal, less};
use gatelatch_manifest::schema::validator;
use serde_json::{Map, Number, Value};

use crate::shape::{Shape, Types, is_text};

/// Where two schemas disagree, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Contradiction {
    /// The place in the value, as a JSON Pointer with `*` for any item.
    pub(crate) at: String,
    /// What one side says and the other does not, to be read after the place.
    pub(crate) what: String,
    /// What to write in the declaration there, if the other side is right.
    pub(crate) instead: String,
}

/// How deep schemas are compared.
const DEEPEST: u8 = 24;

/// The first place where a value that fits `given` certainly need not fit `wanted`.
pub(crate) fn contradiction(given: Shape<'_>, wanted: Shape<'_>) -> Option<Contradiction> {
    Comparison { at: String::new() }.compare(given, wanted, DEEPEST)
}

/// The names that `wanted` lists as members and `given`, which lists others, does not.
pub(crate) fn unknown_members(given: Shape<'_>, wanted: Shape<'_>) -> Vec<String> {
    let known = given.names();
    // With patterns nobody can tell without a value which names there are.
    let has_patterns = given.keywords().is_some_and(|keywords| keywords.contains_key("patternProperties"));
    let lists = !known.is_empty() && given.types() == Types::OBJECT && !has_patterns;
    let names = wanted.names().into_iter().filter(|name| lists && given.member(name).is_none());
    names.map(str::to_owned).collect()
}

struct Comparison {
    at: String,
}

impl Comparison {
    fn compare(&mut self, given: Shape<'_>, wanted: Shape<'_>, depth: u8) -> Option<Contradiction> {
        let depth = depth.checked_sub(1)?;
        let (given, wanted) = (given.resolved(), wanted.resolved());
        let (may_be, must_be) = (given.types(), wanted.types());
        if may_be != Types::ANY && !may_be.within(must_be) {
            let instead = format!("allow {may_be} there in the declared `output_schema`");
            return Some(self.told(format!("may be {may_be}, and the declaration allows {must_be}"), instead));
        }
        let (Some(gives), Some(wants)) = (given.keywords(), wanted.keywords()) else { return None };
        self.values(gives, wants)
            .or_else(|| self.bounds(gives, wants))
            .or_else(|| self.members(given, wanted, depth))
            .or_else(|| self.items(given, wanted, depth))
            .or_else(|| {
                let all = wants.get("allOf").and_then(Value::as_array);
                all.into_iter().flatten().find_map(|part| self.compare(given, wanted.inside(part), depth))
            })
    }

    fn told(&self, what: String, instead: String) -> Contradiction {
        Contradiction { at: self.at.clone(), what, instead }
    }

    /// A value that one side lists and the other does not.
    fn values(&self, gives: &Map<String, Value>, wants: &Map<String, Value>) -> Option<Contradiction> {
        let (given, wanted) = (listed(gives)?, listed(wants)?);
        let odd = given.iter().find(|value| !wanted.iter().any(|allowed| equal(allowed, value)))?;
        let instead = format!("add `{odd}` to the values that the declared `output_schema` lists there");
        Some(self.told(format!("may be `{odd}`, which the declaration does not list"), instead))
    }

    /// A bound that both sides set, and one tighter.
    fn bounds(&self, gives: &Map<String, Value>, wants: &Map<String, Value>) -> Option<Contradiction> {
        BOUNDS.iter().find_map(|bound| {
            let (given, wanted) = (number(gives, bound.keyword)?, number(wants, bound.keyword)?);
            let looser = if bound.is_least { less(given, wanted) } else { less(wanted, given) };
            let keyword = bound.keyword;
            looser.then(|| {
                let instead = format!("write `{keyword}: {given}` there in the declared `output_schema`");
                self.told(format!("has `{keyword}: {given}`, and the declaration has `{keyword}: {wanted}`"), instead)
            })
        })
    }

    fn members(&mut self, given: Shape<'_>, wanted: Shape<'_>, depth: u8) -> Option<Contradiction> {
        let wants = wanted.keywords()?;
        if !given.types().overlap(Types::OBJECT) || given.types() == Types::ANY || given.names().is_empty() {
            return None;
        }
        let required = wants.get("required").and_then(Value::as_array);
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            let what = match given.member(name) {
                Some(part) if part.always => continue,
                Some(_) => "may be missing",
                None => "is not there",
            };
            let what = format!("{what}, and the declaration requires it");
            let instead = format!("take `{name}` out of `required` in the declared `output_schema`");
            return Some(self.below(name, |below| below.told(what, instead)));
        }
        for (name, schema) in wants.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let Some(part) = given.member(name) else { continue };
            // Of several that it may be, each may be what disagrees, or none of them alone.
            if let [shape] = part.shapes.as_slice()
                && let Some(found) = self.below(name, |below| below.compare(*shape, wanted.inside(schema), depth))
            {
                return Some(found);
            }
        }
        let is_closed =
            wants.get("additionalProperties") == Some(&Value::Bool(false)) && !wants.contains_key("patternProperties");
        let unlisted = |name: &&str| wants.get("properties").is_none_or(|known| known.get(name).is_none());
        let extra = given.names().into_iter().find(|name| is_closed && unlisted(name))?;
        let instead = format!("declare `{extra}` too, or leave out `additionalProperties: false`");
        let what = format!("may have a member `{extra}`, and the declaration allows no others than its own");
        Some(self.told(what, instead))
    }

    fn items(&mut self, given: Shape<'_>, wanted: Shape<'_>, depth: u8) -> Option<Contradiction> {
        let (gives, wants) = (given.keywords()?.get("items")?, wanted.keywords()?.get("items")?);
        self.below("*", |below| below.compare(given.inside(gives), wanted.inside(wants), depth))
    }

    fn below<T>(&mut self, name: &str, look: impl FnOnce(&mut Comparison) -> T) -> T {
        let length = self.at.len();
        self.at.push('/');
        self.at.push_str(&name.replace('~', "~0").replace('/', "~1"));
        let found = look(self);
        self.at.truncate(length);
        found
    }
}

/// The values that a schema lists, if it lists them.
fn listed(keywords: &Map<String, Value>) -> Option<Vec<Value>> {
    match (keywords.get("const"), keywords.get("enum")) {
        (Some(only), _) => Some(vec![only.clone()]),
        (None, Some(Value::Array(values))) => Some(values.clone()),
        (None, _) => None,
    }
}

/// A keyword whose value is a number that bounds the values.
struct Bound {
    keyword: &'static str,
    /// Whether a greater number is the tighter bound.
    is_least: bool,
}

const BOUNDS: [Bound; 10] = [
    Bound { keyword: "minimum", is_least: true },
    Bound { keyword: "exclusiveMinimum", is_least: true },
    Bound { keyword: "minLength", is_least: true },
    Bound { keyword: "minItems", is_least: true },
    Bound { keyword: "minProperties", is_least: true },
    Bound { keyword: "maximum", is_least: false },
    Bound { keyword: "exclusiveMaximum", is_least: false },
    Bound { keyword: "maxLength", is_least: false },
    Bound { keyword: "maxItems", is_least: false },
    Bound { keyword: "maxProperties", is_least: false },
];

fn number<'k>(keywords: &'k Map<String, Value>, keyword: &str) -> Option<&'k Number> {
    keywords.get(keyword).and_then(Value::as_number)
}

/// Whether every value that fits `narrow` surely fits `wide`. Neither refers to another schema: they stand for the items
/// of arguments.
pub(crate) fn is_narrower(narrow: &Value, wide: &Value) -> bool {
    narrower_within(narrow, wide, DEEPEST)
}

fn narrower_within(narrow: &Value, wide: &Value, depth: u8) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    if equal(narrow, wide) || wide == &Value::Bool(true) || narrow == &Value::Bool(false) {
        return true;
    }
    let (Some(narrow_keywords), Some(wide_keywords)) = (narrow.as_object(), wide.as_object()) else { return false };
    if let Some(values) = listed(narrow_keywords) {
        return validator(wide).is_ok_and(|wide| values.iter().all(|value| wide.is_valid(value)));
    }
    wide_keywords.iter().all(|(keyword, wanted)| {
        let given = narrow_keywords.get(keyword);
        match keyword.as_str() {
            text if is_text(text) => true,
            "type" => Shape::of(narrow).types().within(Shape::of(wide).types()),
            "required" => names(Some(wanted)).all(|name| names(given).any(|other| other == name)),
            "items" | "additionalProperties" => given.is_some_and(|given| narrower_within(given, wanted, depth)),
            "properties" => wanted.as_object().into_iter().flatten().all(|(name, wanted)| {
                let given = given.and_then(|given| given.get(name));
                let closed = narrow_keywords.get("additionalProperties") == Some(&Value::Bool(false));
                given.map_or(closed, |given| narrower_within(given, wanted, depth))
            }),
            keyword => match BOUNDS.iter().find(|bound| bound.keyword == keyword) {
                Some(bound) => {
                    let pair = given.and_then(Value::as_number).zip(wanted.as_number());
                    pair.is_some_and(
                        |(given, wanted)| {
                            if bound.is_least { !less(given, wanted) } else { !less(wanted, given) }
                        },
                    )
                }
                None => given.is_some_and(|given| equal(given, wanted)),
            },
        }
    })
}

fn names(list: Option<&Value>) -> impl Iterator<Item = &str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(given: Value, wanted: Value) -> Option<(String, String)> {
        contradiction(Shape::of(&given), Shape::of(&wanted)).map(|found| (found.at, found.what))
    }

    fn at(given: Value, wanted: Value) -> Option<String> {
        told(given, wanted).map(|(at, _)| at)
    }

    #[test]
    fn a_type_that_may_be_there_and_is_not_declared_is_a_contradiction() {
        let given = json!({ "type": "object", "properties": { "value": { "type": ["string", "number"] } } });
        let wanted = json!({ "type": "object", "properties": { "value": { "type": "string" } } });
        let (at, what) = told(given.clone(), wanted).unwrap();
        assert_eq!(
            (at.as_str(), what.as_str()),
            ("/value", "may be number or string, and the declaration allows string")
        );
        assert_eq!(told(given.clone(), given), None);
    }

    #[test]
    fn what_the_declaration_requires_must_always_be_there() {
        let given = json!({ "type": "object", "properties": { "a": {}, "b": {} }, "required": ["a"] });
        let wanted = |names: &[&str]| json!({ "type": "object", "required": names });
        assert_eq!(told(given.clone(), wanted(&["a"])), None);
        let requires = |at: &str, what: &str| Some((at.to_owned(), format!("{what}, and the declaration requires it")));
        assert_eq!(told(given.clone(), wanted(&["a", "b"])), requires("/b", "may be missing"));
        assert_eq!(told(given, wanted(&["c"])), requires("/c", "is not there"));
    }

    #[test]
    fn what_cannot_be_told_is_no_contradiction() {
        let wanted = json!({ "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"] });
        assert_eq!(told(json!({ "type": "object" }), wanted.clone()), None);
        assert_eq!(told(json!({ "type": "object", "properties": { "a": {} }, "required": ["a"] }), wanted), None);
        let least = json!({ "type": "object", "properties": { "a": { "type": "integer", "minimum": 0 } } });
        assert_eq!(told(json!({ "type": "object", "properties": { "a": { "type": "integer" } } }), least), None);
    }

    #[test]
    fn items_references_lists_bounds_and_closed_objects_are_compared() {
        let given = json!({
            "type": "object",
            "properties": { "rows": { "type": "array", "items": { "$ref": "#/$defs/row" } } },
            "$defs": { "row": {
                "type": "object",
                "properties": { "kind": { "enum": ["a", "b"] }, "size": { "type": "integer", "maximum": 9 } },
                "required": ["kind"]
            } }
        });
        let wanted =
            |item: Value| json!({ "type": "object", "properties": { "rows": { "type": "array", "items": item } } });
        assert_eq!(at(given.clone(), wanted(json!({ "properties": { "kind": { "enum": ["a", "b", "c"] } } }))), None);
        assert_eq!(
            at(given.clone(), wanted(json!({ "properties": { "kind": { "enum": ["a"] } } }))),
            Some("/rows/*/kind".to_owned())
        );
        assert_eq!(
            at(given.clone(), wanted(json!({ "properties": { "size": { "maximum": 5 } } }))),
            Some("/rows/*/size".to_owned())
        );
        let closed = json!({ "properties": { "kind": {} }, "additionalProperties": false });
        let (at, what) = told(given, wanted(closed)).unwrap();
        assert!(at == "/rows/*" && what.contains("`size`"), "{at} {what}");
    }

    #[test]
    fn a_member_that_only_the_declaration_lists_is_found_where_the_other_lists_its_own() {
        let wanted = json!({ "type": "object", "properties": { "a": {}, "b": {} } });
        let unknown = |given: Value| unknown_members(Shape::of(&given), Shape::of(&wanted));
        assert_eq!(unknown(json!({ "type": "object", "properties": { "a": {} } })), ["b"]);
        assert_eq!(unknown(json!({ "type": "object" })), Vec::<String>::new());
        let open = json!({ "type": "object", "properties": { "a": {} }, "additionalProperties": { "type": "string" } });
        assert_eq!(unknown(open), Vec::<String>::new());
        let patterns = json!({ "type": "object", "properties": { "a": {} }, "patternProperties": { "^b": {} } });
        assert_eq!(unknown(patterns), Vec::<String>::new());
    }

    #[test]
    fn an_item_is_narrower_only_where_that_can_be_shown() {
        let wide = json!({ "type": "string", "minLength": 2, "pattern": "^a", "description": "A name." });
        assert!(is_narrower(&json!({ "type": "string", "minLength": 3, "pattern": "^a" }), &wide));
        assert!(is_narrower(&json!({ "enum": ["ab", "abc"] }), &wide));
        assert!(!is_narrower(&json!({ "enum": ["ab", "b"] }), &wide));
        assert!(!is_narrower(&json!({ "type": "string", "minLength": 1, "pattern": "^a" }), &wide));
        assert!(!is_narrower(&json!({ "type": "string", "minLength": 3, "pattern": "^ab" }), &wide), "who can tell");
        assert!(is_narrower(&json!({ "type": "integer" }), &json!({ "type": "number" })));
        let object = json!({ "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"] });
        assert!(!is_narrower(&json!({ "type": "object" }), &object));
        assert!(is_narrower(&object, &json!({ "type": "object" })));
        assert!(is_narrower(
            &json!({ "type": "array", "items": { "type": "integer" } }),
            &json!({ "items": { "type": "number" } })
        ));
    }
}
