//! What holds for every pair of lists: no change without a difference, and no difference that is called too small.
//!
//! The judge of "too small" is a validator: where a change is not major, what was valid must be valid still.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use gatelatch_contract::diff::{Change, Diff, diff};
use gatelatch_contract::level::Level;
use gatelatch_contract::list::ToolList;
use proptest::prelude::*;
use proptest::sample::subsequence;
use serde_json::{Map, Value, json};

fn list(tools: &[Value]) -> ToolList {
    ToolList::of_array(&Value::from(tools.to_vec())).unwrap()
}

/// A tool that has the schema as that of its one argument.
fn taking(schema: &Value) -> ToolList {
    list(&[json!({"name": "t", "inputSchema": {"type": "object", "properties": {"a": schema}}})])
}

/// A tool that has the schema as that of its one output field.
fn giving(schema: &Value) -> ToolList {
    list(&[json!({"name": "t", "inputSchema": {}, "outputSchema": {"type": "object", "properties": {"a": schema}}})])
}

fn any_type() -> impl Strategy<Value = Value> {
    let names = ["null", "boolean", "integer", "number", "string", "array", "object"];
    prop_oneof![
        proptest::sample::select(names.to_vec()).prop_map(Value::from),
        subsequence(names.to_vec(), 1..5).prop_map(|names| json!(names)),
    ]
}

/// One keyword that fits into any schema, with its value; `inner` are schemas to nest.
fn any_keyword(inner: BoxedStrategy<Value>) -> impl Strategy<Value = (String, Value)> {
    let small = 0_i64..4;
    let word = proptest::sample::select(vec!["", "a", "b", "ab", "abc"]);
    let scalar = prop_oneof![Just(Value::Null), small.clone().prop_map(Value::from), word.prop_map(Value::from)];
    let names = subsequence(vec!["x", "y", "z"], 0..4);
    let schemas = prop::collection::vec(inner.clone(), 1..3).prop_map(Value::from);
    let properties = prop::collection::btree_map("[xyz]", inner.clone(), 0..3)
        .prop_map(|map| Value::Object(map.into_iter().collect::<Map<_, _>>()));
    let named = |key: &'static str| move |value: Value| (key.to_owned(), value);
    let bounds = [
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
    ];
    prop_oneof![
        6 => any_type().prop_map(named("type")),
        3 => prop::collection::vec(scalar.clone(), 1..4).prop_map(|items| ("enum".to_owned(), json!(items))),
        1 => scalar.prop_map(named("const")),
        6 => (proptest::sample::select(bounds.to_vec()), small.clone()).prop_map(|(key, to)| (key.to_owned(), json!(to))),
        1 => (1_i64..7).prop_map(|step| ("multipleOf".to_owned(), json!(step))),
        1 => proptest::sample::select(vec!["^a", "b$"]).prop_map(|pattern| ("pattern".to_owned(), json!(pattern))),
        1 => any::<bool>().prop_map(|unique| ("uniqueItems".to_owned(), json!(unique))),
        4 => properties.prop_map(named("properties")),
        2 => names.prop_map(|names| ("required".to_owned(), json!(names))),
        2 => inner.clone().prop_map(named("additionalProperties")),
        2 => inner.clone().prop_map(named("items")),
        1 => schemas.clone().prop_map(named("prefixItems")),
        1 => inner.clone().prop_map(named("propertyNames")),
        2 => schemas.clone().prop_map(named("anyOf")),
        1 => schemas.clone().prop_map(named("allOf")),
        1 => schemas.prop_map(named("oneOf")),
        1 => inner.clone().prop_map(named("not")),
        1 => inner.clone().prop_map(named("contains")),
        1 => inner.prop_map(named("unevaluatedProperties")),
        1 => Just(("$ref".to_owned(), json!("#/properties/a/$defs/d"))),
        1 => "[a-c]".prop_map(|text| ("description".to_owned(), json!(text))),
    ]
}

fn any_schema() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        3 => any_type().prop_map(|name| json!({"type": name})),
        1 => Just(json!({})),
        1 => any::<bool>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let keywords = prop::collection::vec(any_keyword(inner.boxed()), 1..5);
        keywords.prop_map(|keywords| Value::Object(keywords.into_iter().collect::<Map<_, _>>()))
    })
    .boxed()
}

/// A schema and one that differs from it in a keyword or two, as real changes do.
fn two_schemas() -> impl Strategy<Value = (Value, Value)> {
    let edit = (any::<prop::sample::Index>(), any::<bool>(), prop::option::of(any_keyword(any_schema())));
    (any_schema(), prop::collection::vec(edit, 1..3)).prop_map(|(old, edits)| {
        let mut new = old.clone();
        for (place, below, edit) in edits {
            let mut target = &mut new;
            if below && target.get("properties").and_then(Value::as_object).is_some_and(|all| !all.is_empty()) {
                let all = target["properties"].as_object_mut().unwrap();
                let at = place.index(all.len());
                target = all.values_mut().nth(at).unwrap();
            }
            let Value::Object(keywords) = target else { continue };
            match edit {
                Some((key, value)) => drop(keywords.insert(key, value)),
                None if keywords.is_empty() => {}
                None => {
                    let key = keywords.keys().nth(place.index(keywords.len())).unwrap().clone();
                    keywords.shift_remove(&key);
                }
            }
        }
        (old, new)
    })
}

/// Values near the borders of the schemas above.
fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-1_i64..6).prop_map(Value::from),
        Just(json!(1.5)),
        proptest::sample::select(vec!["", "a", "b", "ab", "abc", "ba"]).prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[xyz]", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Whether an old schema left a property open that the new one names: by our rule a minor change, whatever its type.
fn names_an_open_property(diff: &Diff) -> bool {
    diff.changes().iter().any(|change| change.what.starts_with("there is a new"))
}

fn validator(schema: &Value) -> Option<jsonschema::Validator> {
    // The definition that `$ref` of these schemas points at.
    let whole = json!({"properties": {"a": schema}});
    let mut whole = whole;
    if let Some(Value::Object(a)) = whole.pointer_mut("/properties/a") {
        a.insert("$defs".to_owned(), json!({"d": {"type": "string"}}));
    }
    jsonschema::draft202012::options().build(&whole).ok()
}

fn tool(name: &str, text: &str, arguments: &[&str]) -> Value {
    let properties: Map<String, Value> = arguments.iter().map(|a| ((*a).to_owned(), json!({}))).collect();
    json!({"name": name, "description": text, "inputSchema": {"type": "object", "properties": properties}})
}

fn any_tools() -> impl Strategy<Value = Vec<Value>> {
    let names = subsequence(vec!["a", "b", "c", "d", "e"], 0..6).prop_shuffle();
    let texts = prop::collection::vec(("[xy]", subsequence(vec!["p", "q"], 0..3)), 5);
    (names, texts).prop_map(|(names, texts)| {
        names.iter().zip(texts).map(|(name, (text, arguments))| tool(name, &text, &arguments)).collect()
    })
}

fn cases(count: u32) -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(count) }
}

proptest! {
    #![proptest_config(cases(250))]

    #[test]
    fn a_diff_is_empty_exactly_when_the_digests_are_equal((old, new) in two_schemas()) {
        for (old, new) in [(taking(&old), taking(&new)), (giving(&old), giving(&new))] {
            prop_assert_eq!(diff(&old, &new).is_empty(), old.digest() == new.digest());
            prop_assert!(diff(&old, &old).is_empty());
        }
    }

    #[test]
    fn what_was_accepted_is_accepted_still_unless_the_change_is_major(
        (old, new) in two_schemas(), values in prop::collection::vec(any_value(), 24)
    ) {
        let found = diff(&taking(&old), &taking(&new));
        let (Some(before), Some(after)) = (validator(&old), validator(&new)) else { return Ok(()) };
        if found.level() < Some(Level::Major) && !names_an_open_property(&found) {
            for value in values.iter().map(|value| json!({"a": value})) {
                prop_assert!(!before.is_valid(&value) || after.is_valid(&value), "{} is refused now: {:?}", value, found);
            }
        }
    }

    #[test]
    fn what_was_never_sent_is_never_sent_still_unless_the_change_is_major(
        (old, new) in two_schemas(), values in prop::collection::vec(any_value(), 24)
    ) {
        let found = diff(&giving(&old), &giving(&new));
        let (Some(before), Some(after)) = (validator(&old), validator(&new)) else { return Ok(()) };
        if found.level() < Some(Level::Major) {
            for value in values.iter().map(|value| json!({"a": value})) {
                prop_assert!(before.is_valid(&value) || !after.is_valid(&value), "{} may be sent now: {:?}", value, found);
            }
        }
    }

    #[test]
    fn two_small_steps_are_never_a_large_one((old, middle) in two_schemas(), (_, new) in two_schemas(), swap in any::<bool>()) {
        // The third schema is near the second as often as it is another.
        let new = if swap { new } else { merged(&middle, &new) };
        for list in [taking, giving] {
            let (first, second, direct) = (list(&old), list(&middle), list(&new));
            let steps = diff(&first, &second).level().max(diff(&second, &direct).level());
            let whole = diff(&first, &direct);
            // What is not understood is called major, which is never too small; nor are branches paired over two steps.
            let is_understood = |change: &&Change| !change.what.contains("not understood") && !change.path.contains("Of");
            let largest = whole.changes().iter().filter(is_understood).map(|change| change.level).max();
            prop_assert!(largest <= steps, "{:?} {:?}", steps, whole);
        }
    }
}

/// The second schema with what the third says about its own keywords.
fn merged(schema: &Value, other: &Value) -> Value {
    let (Value::Object(schema), Value::Object(other)) = (schema, other) else { return schema.clone() };
    let mut merged = schema.clone();
    for (key, value) in other.iter().take(1) {
        merged.insert(key.clone(), value.clone());
    }
    Value::Object(merged)
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn of_whole_lists_too_a_diff_is_empty_exactly_when_the_digests_are_equal(old in any_tools(), new in any_tools()) {
        let (old, new) = (list(&old), list(&new));
        prop_assert_eq!(diff(&old, &new).is_empty(), old.digest() == new.digest());
        prop_assert!(diff(&old, &old).is_empty());
    }

    #[test]
    fn another_order_of_the_same_tools_is_a_patch_and_names_a_tool_that_moved(
        (tools, shuffled) in any_tools().prop_flat_map(|tools| (Just(tools.clone()), Just(tools).prop_shuffle()))
    ) {
        let found = diff(&list(&tools), &list(&shuffled));
        prop_assert_eq!(found.is_empty(), tools == shuffled);
        prop_assert!(found.level() <= Some(Level::Patch));
        prop_assert!(found.changes().len() < tools.len().max(1));
    }

    #[test]
    fn a_tool_that_went_is_major_and_one_that_came_is_minor(tools in any_tools(), place in any::<prop::sample::Index>()) {
        prop_assume!(!tools.is_empty());
        let mut fewer = tools.clone();
        fewer.remove(place.index(tools.len()));
        prop_assert_eq!(diff(&list(&tools), &list(&fewer)).level(), Some(Level::Major));
        prop_assert_eq!(diff(&list(&fewer), &list(&tools)).level(), Some(Level::Minor));
    }
}

#[test]
fn a_hostile_pair_of_lists_is_told_within_bounds() {
    let many = |extra: &str| -> ToolList {
        let properties: Map<String, Value> =
            (0..50_000).map(|at| (format!("{at}{}", "x".repeat(at % 50)), json!({"title": extra}))).collect();
        list(&[json!({"name": "t", "inputSchema": {"properties": properties}})])
    };
    let mut new = many("b").to_array();
    new[0]["inputSchema"]["properties"]["zz"] = json!({"type": "string"});
    let found = diff(&many("a"), &ToolList::of_array(&new).unwrap());
    assert_eq!(found.changes().len() + found.untold(), 50_001);
    assert!(found.changes().len() < 5_000);
    assert_eq!((found.level(), found.largest().unwrap().level), (Some(Level::Minor), Level::Minor));
}
