//! What a JSON Schema says of the values that fit it: their types, what stands under a member, an item or a JSON
//! Pointer.
//!
//! Reads a schema as far as it can be read without a value; what it cannot tell is an answer too, never a guess. The
//! schemas were accepted by the manifest reader, so that they are valid 2020-12 and refer to nothing outside themselves.
//! Whether two schemas agree is [`crate::agreement`]. Start at [`Shape::at`].

use gatelatch_manifest::nearest::nearest;
use serde_json::{Map, Value};

/// A schema within the document that its references lead through.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape<'s> {
    root: &'s Value,
    schema: &'s Value,
}

/// What stands at some place of a value.
#[derive(Clone, Debug)]
pub(crate) struct Part<'s> {
    /// What may be there; any of these, and anything where there is none.
    pub(crate) shapes: Vec<Shape<'s>>,
    /// Whether something always is.
    pub(crate) always: bool,
}

/// Why a schema does not say what stands at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stray {
    /// The schema lists the members there, and this one is not among them.
    NoMember {
        /// The place whose members they are, as a JSON Pointer.
        at: String,
        /// The name that is none.
        name: String,
        /// The one that was probably meant.
        near: Option<String>,
    },
    /// The value there has no parts of this kind.
    NotInto {
        /// The place, as a JSON Pointer.
        at: String,
        /// What it may be.
        types: Types,
    },
    /// The schema does not say.
    Untold {
        /// The place, as a JSON Pointer.
        at: String,
    },
}

/// A set of JSON types; an integer is a number, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Types(u8);

const NAMES: [(&str, u8); 7] =
    [("null", 1), ("boolean", 2), ("integer", 4), ("number", 12), ("string", 16), ("array", 32), ("object", 64)];

/// How deep references and combinations are followed.
const DEEPEST: u8 = 32;

impl Types {
    /// Any value: also what a schema says that names no type.
    pub(crate) const ANY: Types = Types(127);
    const NONE: Types = Types(0);
    pub(crate) const NULL: Types = Types(1);
    pub(crate) const ARRAY: Types = Types(32);
    pub(crate) const OBJECT: Types = Types(64);
    /// What can be without anything in it.
    pub(crate) const FILLED: Types = Types(16 | 32 | 64);

    /// The type of that name; nothing for another word.
    pub(crate) fn named(name: &str) -> Types {
        NAMES.iter().find(|(known, _)| *known == name).map_or(Types::NONE, |(_, bits)| Types(*bits))
    }

    /// The type of a value.
    pub(crate) fn of(value: &Value) -> Types {
        match value {
            Value::Null => Types::NULL,
            Value::Bool(_) => Types::named("boolean"),
            Value::Number(number) if number.as_f64().is_some_and(|float| float.fract() == 0.0) => {
                Types::named("integer")
            }
            Value::Number(_) => Types(8),
            Value::String(_) => Types::named("string"),
            Value::Array(_) => Types::ARRAY,
            Value::Object(_) => Types::OBJECT,
        }
    }

    pub(crate) fn within(self, other: Types) -> bool {
        self.0 & !other.0 == 0
    }

    pub(crate) fn overlap(self, other: Types) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) fn without(self, other: Types) -> Types {
        Types(self.0 & !other.0)
    }

    fn and(self, other: Types) -> Types {
        Types(self.0 & other.0)
    }

    fn or(self, other: Types) -> Types {
        Types(self.0 | other.0)
    }
}

impl std::fmt::Display for Types {
    /// `string or number`; an integer is not named beside numbers.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if *self == Types::ANY {
            return f.write_str("anything");
        }
        let numbers = Types::named("number");
        let names = NAMES.iter().filter(|(name, bits)| {
            let types = Types(*bits);
            types.within(*self) && !(*name == "integer" && numbers.within(*self))
        });
        let names: Vec<&str> = names.map(|(name, _)| *name).collect();
        f.write_str(&if names.is_empty() { "nothing".to_owned() } else { names.join(" or ") })
    }
}

impl<'s> Shape<'s> {
    /// A whole schema.
    pub(crate) fn of(root: &'s Value) -> Shape<'s> {
        Shape { root, schema: root }
    }

    /// The schema itself, where it is a mapping of keywords, and every one that it refers to at its root.
    pub(crate) fn keywords(self) -> Option<&'s Map<String, Value>> {
        self.schema.as_object()
    }

    /// Whether no value fits at all.
    pub(crate) fn is_nothing(self) -> bool {
        self.schema == &Value::Bool(false)
    }

    /// The schema that this one is another name for, if it says nothing else.
    pub(crate) fn resolved(self) -> Shape<'s> {
        let mut shape = self;
        for _ in 0..DEEPEST {
            let only = |keywords: &Map<String, Value>| keywords.keys().all(|key| key == "$ref" || is_text(key));
            match shape.keywords().filter(|keywords| only(keywords)).and_then(|_| shape.reference()) {
                Some(next) => shape = next,
                None => break,
            }
        }
        shape
    }

    /// The types that a value may have, as far as keywords say.
    pub(crate) fn types(self) -> Types {
        self.types_within(DEEPEST)
    }

    /// What stands at a JSON Pointer.
    pub(crate) fn at(self, pointer: &str) -> Result<Part<'s>, Stray> {
        self.at_where(pointer, &|_| false)
    }

    /// The same of a value in which it is known of some places that something other than null is there.
    pub(crate) fn at_where(self, pointer: &str, is_there: &dyn Fn(&str) -> bool) -> Result<Part<'s>, Stray> {
        let mut part = Part { shapes: vec![self], always: true };
        let mut reached = String::new();
        for token in pointer.split('/').skip(1) {
            let name = token.replace("~1", "/").replace("~0", "~");
            part = step(&part, &name, &reached, is_there(&reached))?;
            reached.push('/');
            reached.push_str(token);
            part.always |= is_there(&reached);
        }
        Ok(part)
    }

    /// What stands under a member; `None` where no keyword speaks of it.
    pub(crate) fn member(self, name: &str) -> Option<Part<'s>> {
        self.found(DEEPEST, &|shape| shape.own_member(name))
    }

    /// What stands in one place of an array; `None` where no keyword speaks of it.
    pub(crate) fn item(self, index: usize) -> Option<Part<'s>> {
        self.found(DEEPEST, &|shape| shape.own_item(index))
    }

    /// The names of all members that keywords speak of.
    pub(crate) fn names(self) -> Vec<&'s str> {
        let mut names = Vec::new();
        self.gather(DEEPEST, &mut |keywords| {
            names.extend(keywords.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys));
        });
        names.into_iter().map(String::as_str).collect()
    }

    /// Another schema of the same document.
    pub(crate) fn inside(self, schema: &'s Value) -> Shape<'s> {
        Shape { root: self.root, schema }
    }

    fn types_within(self, depth: u8) -> Types {
        let Some(keywords) = self.keywords() else {
            return if self.is_nothing() { Types::NONE } else { Types::ANY };
        };
        let Some(depth) = depth.checked_sub(1) else { return Types::ANY };
        let own = match keywords.get("type") {
            Some(Value::String(name)) => Types::named(name),
            Some(Value::Array(names)) => {
                names.iter().filter_map(Value::as_str).map(Types::named).fold(Types::NONE, Types::or)
            }
            _ => Types::ANY,
        };
        let values = |list: &Vec<Value>| list.iter().map(Types::of).fold(Types::NONE, Types::or);
        let listed = keywords.get("enum").and_then(Value::as_array).map_or(Types::ANY, values);
        let only = keywords.get("const").map_or(Types::ANY, Types::of);
        let named = self.reference().map_or(Types::ANY, |target| target.types_within(depth));
        let mut types = own.and(listed).and(only).and(named);
        for part in self.listed("allOf") {
            types = types.and(part.types_within(depth));
        }
        for keyword in ["anyOf", "oneOf"] {
            if keywords.contains_key(keyword) {
                let any = self.listed(keyword).map(|part| part.types_within(depth)).fold(Types::NONE, Types::or);
                types = types.and(any);
            }
        }
        types
    }

    /// What this schema, or one that it is combined with, says of a part.
    fn found(self, depth: u8, own: &dyn Fn(Shape<'s>) -> Option<Part<'s>>) -> Option<Part<'s>> {
        let depth = depth.checked_sub(1)?;
        let mut part = own(self);
        let together = self.reference().into_iter().chain(self.listed("allOf"));
        for other in together.filter_map(|shape| shape.found(depth, own)) {
            part = Some(match part {
                Some(mut part) => {
                    part.always |= other.always;
                    part.shapes.extend(other.shapes);
                    part
                }
                None => other,
            });
        }
        for keyword in ["anyOf", "oneOf"] {
            // What null has no part of is told by the types.
            let branches = self.listed(keyword).filter(|shape| shape.types() != Types::NULL);
            let branches: Vec<Option<Part<'s>>> = branches.map(|shape| shape.found(depth, own)).collect();
            if branches.iter().all(Option::is_none) {
                continue;
            }
            let always = branches.iter().all(|branch| branch.as_ref().is_some_and(|part| part.always));
            let shapes = branches.into_iter().flatten().flat_map(|part| part.shapes);
            let part = part.get_or_insert_with(|| Part { shapes: Vec::new(), always: false });
            part.always |= always;
            part.shapes.extend(shapes);
        }
        part
    }

    fn own_member(self, name: &str) -> Option<Part<'s>> {
        let keywords = self.keywords()?;
        let required = keywords.get("required").and_then(Value::as_array);
        let always = required.is_some_and(|names| names.iter().any(|required| required == name));
        let property = keywords.get("properties").and_then(|properties| properties.get(name));
        // With patterns nobody can tell without a value whether the rest speaks of this name.
        let rest = keywords.get("additionalProperties").filter(|_| !keywords.contains_key("patternProperties"));
        let schema = property.or(rest.filter(|rest| rest.is_object()));
        (always || schema.is_some())
            .then(|| Part { shapes: schema.map(|schema| self.inside(schema)).into_iter().collect(), always })
    }

    fn own_item(self, index: usize) -> Option<Part<'s>> {
        let keywords = self.keywords()?;
        let least = keywords.get("minItems").and_then(Value::as_u64).unwrap_or(0);
        let placed = keywords.get("prefixItems").and_then(Value::as_array).and_then(|items| items.get(index));
        let schema = placed.or_else(|| keywords.get("items"))?;
        let always = u64::try_from(index).is_ok_and(|index| index < least);
        Some(Part { shapes: vec![self.inside(schema)], always })
    }

    fn gather(self, depth: u8, see: &mut dyn FnMut(&'s Map<String, Value>)) {
        let (Some(keywords), Some(depth)) = (self.keywords(), depth.checked_sub(1)) else { return };
        see(keywords);
        let others = ["allOf", "anyOf", "oneOf"].into_iter().flat_map(|keyword| self.listed(keyword));
        for other in self.reference().into_iter().chain(others) {
            other.gather(depth, see);
        }
    }

    fn listed(self, keyword: &str) -> impl Iterator<Item = Shape<'s>> + use<'s> {
        let list = self.keywords().and_then(|keywords| keywords.get(keyword)).and_then(Value::as_array);
        list.into_iter().flatten().map(move |schema| self.inside(schema))
    }

    /// What `$ref` leads to: a pointer or an anchor of the same document.
    fn reference(self) -> Option<Shape<'s>> {
        let target = self.keywords()?.get("$ref")?.as_str()?.strip_prefix('#')?;
        let schema = if target.is_empty() || target.starts_with('/') {
            self.root.pointer(&undo_percent(target))
        } else {
            anchored(self.root, target, DEEPEST)
        };
        schema.map(|schema| self.inside(schema))
    }
}

impl<'s> Part<'s> {
    /// What the value there may be.
    pub(crate) fn types(&self) -> Types {
        let types = self.shapes.iter().map(|shape| shape.types());
        types.reduce(Types::or).unwrap_or(Types::ANY)
    }
}

/// Whether a keyword is a text that constrains nothing.
pub(crate) fn is_text(keyword: &str) -> bool {
    matches!(keyword, "title" | "description" | "$comment" | "examples" | "default" | "format")
}

/// One step further along a pointer, from `at`; `is_there` where that is known not to be null.
fn step<'s>(part: &Part<'s>, name: &str, at: &str, is_there: bool) -> Result<Part<'s>, Stray> {
    let types = part.types();
    if !types.overlap(Types::ARRAY.or(Types::OBJECT)) {
        return Err(Stray::NotInto { at: at.to_owned(), types });
    }
    let index = is_index(name).then(|| name.parse::<usize>().ok()).flatten();
    let mut next = Part { shapes: Vec::new(), always: part.always };
    let mut is_told = false;
    for shape in &part.shapes {
        let types = shape.types();
        let member = shape.member(name).filter(|_| types.overlap(Types::OBJECT));
        let item = index.and_then(|index| shape.item(index)).filter(|_| types.overlap(Types::ARRAY));
        let types = if is_there { types.without(Types::NULL) } else { types };
        // What may be both an array and an object has either part only at times.
        next.always &= types == Types::OBJECT || types == Types::ARRAY;
        next.always &= member.as_ref().or(item.as_ref()).is_some_and(|found| found.always);
        is_told |= member.is_some() || item.is_some();
        next.shapes.extend(member.into_iter().chain(item).flat_map(|found| found.shapes));
    }
    if is_told {
        return Ok(next);
    }
    let names: Vec<&str> = part.shapes.iter().flat_map(|shape| shape.names()).collect();
    if types.without(Types::NULL) == Types::ARRAY && index.is_none() {
        return Err(Stray::NotInto { at: at.to_owned(), types });
    }
    if names.is_empty() {
        return Err(Stray::Untold { at: at.to_owned() });
    }
    let near = nearest(name, names).map(str::to_owned);
    Err(Stray::NoMember { at: at.to_owned(), name: name.to_owned(), near })
}

/// Whether a token of a JSON Pointer names a place of an array: digits without a leading zero.
fn is_index(token: &str) -> bool {
    !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit()) && (token == "0" || !token.starts_with('0'))
}

/// The subschema that bears an anchor.
fn anchored<'s>(schema: &'s Value, anchor: &str, depth: u8) -> Option<&'s Value> {
    let depth = depth.checked_sub(1)?;
    match schema {
        Value::Object(map) if map.get("$anchor").and_then(Value::as_str) == Some(anchor) => Some(schema),
        Value::Object(map) => map.values().find_map(|part| anchored(part, anchor, depth)),
        Value::Array(items) => items.iter().find_map(|part| anchored(part, anchor, depth)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

/// A fragment's text with its percent escapes undone.
fn undo_percent(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut undone = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let digits = bytes.get(at + 1..at + 3).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.filter(|_| *byte == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(decoded) => {
                undone.push(decoded);
                at += 3;
            }
            None => {
                undone.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&undone).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sheets() -> Value {
        json!({
            "type": "object",
            "properties": {
                "sheets": {
                    "type": "array",
                    "minItems": 1,
                    "items": { "$ref": "#/$defs/sheet%20one" }
                },
                "either": { "anyOf": [{ "type": "string" }, { "$ref": "#all" }] }
            },
            "required": ["sheets"],
            "additionalProperties": { "type": "integer" },
            "$defs": {
                "sheet one": {
                    "allOf": [{ "type": "object", "properties": { "title": { "type": "string" } } }],
                    "required": ["title"]
                },
                "two": { "$anchor": "all", "type": ["array", "null"], "items": { "type": "number" } }
            }
        })
    }

    fn at(schema: &Value, pointer: &str) -> Result<(String, bool), Stray> {
        Shape::of(schema).at(pointer).map(|part| (part.types().to_string(), part.always))
    }

    #[test]
    fn a_pointer_leads_through_references_combinations_and_the_rest_of_an_object() {
        let schema = sheets();
        let told = |types: &str, always| Ok((types.to_owned(), always));
        assert_eq!(at(&schema, ""), told("object", true));
        assert_eq!(at(&schema, "/sheets/0/title"), told("string", true));
        assert_eq!(at(&schema, "/sheets/1/title"), told("string", false), "a second sheet need not be there");
        assert_eq!(at(&schema, "/other"), told("integer", false));
        assert_eq!(at(&schema, "/either"), told("null or string or array", false));
        assert_eq!(at(&schema, "/either/7"), told("number", false));
    }

    #[test]
    fn what_is_known_to_be_there_is_and_so_is_what_it_always_has() {
        let item = json!({ "type": "object", "properties": { "a": {}, "b": {} }, "required": ["a"] });
        let schema = json!({
            "type": "object",
            "properties": {
                "rows": { "type": "array", "items": item },
                "row": { "anyOf": [{ "type": "null" }, item] },
            }
        });
        let known = ["/rows/0", "/row"];
        let always = |pointer: &str| {
            let part = Shape::of(&schema).at_where(pointer, &|place| known.contains(&place));
            part.unwrap().always
        };
        assert_eq!(["/rows/0", "/rows/0/a", "/row/a"].map(always), [true; 3]);
        assert_eq!(["/rows/1", "/rows/1/a", "/rows/0/b", "/row/b"].map(always), [false; 4]);
        assert!(!Shape::of(&schema).at("/row/a").unwrap().always);
    }

    #[test]
    fn what_a_pointer_cannot_lead_to_is_told_apart() {
        let closed = json!({
            "type": "object",
            "properties": { "rows": { "type": "array", "items": {} }, "text": { "type": "string" }, "any": {} }
        });
        let near = Some("rows".to_owned());
        assert_eq!(at(&closed, "/rosw"), Err(Stray::NoMember { at: String::new(), name: "rosw".to_owned(), near }));
        let text = Types::named("string");
        assert_eq!(at(&closed, "/text/0"), Err(Stray::NotInto { at: "/text".to_owned(), types: text }));
        assert_eq!(at(&closed, "/rows/title"), Err(Stray::NotInto { at: "/rows".to_owned(), types: Types::ARRAY }));
        assert_eq!(at(&closed, "/any/x"), Err(Stray::Untold { at: "/any".to_owned() }));
        assert_eq!(at(&closed, "/rows/0").unwrap().0, "anything");
    }

    #[test]
    fn a_schema_that_refers_to_itself_without_end_is_read_all_the_same() {
        let tree = json!({ "type": "object", "properties": { "next": { "$ref": "#" } }, "required": ["next"] });
        assert_eq!(at(&tree, "/next/next/next"), Ok(("object".to_owned(), true)));
        let endless = json!({ "$ref": "#" });
        assert_eq!(Shape::of(&endless).types(), Types::ANY);
    }

    #[test]
    fn types_follow_every_keyword_that_speaks_of_them() {
        let types = |schema: Value| Shape::of(&schema).types().to_string();
        assert_eq!(types(json!({ "enum": [1, "a", null] })), "null or integer or string");
        assert_eq!(types(json!({ "type": ["number", "string"], "enum": [1, 2.5] })), "number");
        assert_eq!(types(json!({ "const": false })), "boolean");
        assert_eq!(types(json!({ "oneOf": [{ "type": "string" }, { "type": "object" }] })), "string or object");
        assert_eq!(types(json!({ "allOf": [{ "type": "string" }, { "type": "object" }] })), "nothing");
        assert_eq!(types(json!(true)), "anything");
        assert_eq!(types(json!(false)), "nothing");
        assert!(Types::named("integer").within(Types::named("number")));
        assert!(!Types::named("number").within(Types::named("integer")));
    }
}
