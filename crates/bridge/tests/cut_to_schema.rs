//! Properties of the cut that keeps a schema, over generated schemas and results that satisfy them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use gatelatch_bridge::cut::{CUT_KEY, Cut, CutError, Shortened, cut_to_schema};
use gatelatch_manifest::schema::validator;
use gatelatch_runner::tree::{Guard, Tree};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Map, Value, json};

/// A value and a schema that it satisfies.
type Pair = (Value, Value);

/// With which rules a schema is made, beside types, items and members.
#[derive(Clone, Copy, PartialEq)]
enum Rules {
    /// None but those that every cut keeps.
    Few,
    /// Such as a cut may break.
    All,
}

fn number() -> impl Strategy<Value = Pair> {
    prop_oneof![
        any::<i32>().prop_map(|n| (json!(n), json!({"type": "integer"}))),
        any::<f64>().prop_map(|n| (json!(n), json!({"type": ["number", "null"]}))),
        any::<bool>().prop_map(|b| (json!(b), json!({ "const": b }))),
        Just((Value::Null, json!({"type": "null"}))),
    ]
}

fn text(rules: Rules) -> impl Strategy<Value = Pair> {
    let text = prop_oneof!["[a-z \"é😀]{0,40}", "[a-z\n]{100,900}"].prop_map(|text| text + "!");
    (text, 0_usize..12, any::<Index>()).prop_map(move |(text, rule, some)| {
        let length = text.chars().count();
        let schema = match rule {
            _ if rules == Rules::Few => json!({"type": "string", "maxLength": length}),
            0 => json!({"minLength": some.index(length)}),
            1 => json!({"pattern": "!$"}),
            2 => json!({ "const": text }),
            3 => json!({"enum": ["a", text, 7]}),
            4 => json!({"not": {"maxLength": some.index(length)}}),
            5 => json!({"if": {"pattern": "!$"}, "then": {"minLength": some.index(length)}, "else": false}),
            6 => json!({"oneOf": [{"type": "null"}, {"type": "string", "pattern": "!$"}]}),
            7 => json!({"oneOf": [{"pattern": "!$"}, {"maxLength": 0}]}),
            _ => json!({"type": "string", "maxLength": length}),
        };
        (Value::from(text), schema)
    })
}

fn array(item: BoxedStrategy<Pair>, most: usize, rules: Rules) -> impl Strategy<Value = Pair> {
    let items = prop_oneof![
        (item.clone(), 0..most).prop_map(|((value, schema), count)| (vec![value; count], schema)),
        proptest::collection::vec(item, 1..5).prop_map(|pairs| {
            let (values, schemas): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
            (values, json!({ "anyOf": schemas }))
        }),
    ];
    (items, 0_usize..7, any::<Index>()).prop_map(move |((items, schema), rule, some)| {
        let mut whole = json!({"type": "array", "items": schema, "maxItems": items.len()});
        let is_unique = items.iter().enumerate().all(|(index, item)| !items[..index].contains(item));
        match rule {
            _ if rules == Rules::Few || items.is_empty() => {}
            0 => whole["minItems"] = (some.index(items.len()) + 1).into(),
            1 => whole["contains"] = json!({"const": items[some.index(items.len())]}),
            2 => whole["uniqueItems"] = is_unique.into(),
            3 => whole = json!({"anyOf": [{"type": "null"}, whole, {"minItems": items.len()}]}),
            4 => whole = json!({"if": {"minItems": some.index(items.len())}, "then": whole, "else": {"maxItems": 0}}),
            _ => {}
        }
        (Value::from(items), whole)
    })
}

fn object(member: BoxedStrategy<Pair>, most: usize, rules: Rules) -> impl Strategy<Value = Pair> {
    let members = proptest::collection::vec((member.clone(), any::<bool>()), 0..6).prop_map(|members| {
        let (mut values, mut schemas, mut required) = (Map::new(), Map::new(), Vec::new());
        for (number, ((value, schema), is_required)) in members.into_iter().enumerate() {
            let name = format!("m{number}/~");
            if is_required {
                required.push(name.clone());
            }
            values.insert(name.clone(), value);
            schemas.insert(name, schema);
        }
        (values, json!({"type": "object", "properties": schemas, "required": required}))
    });
    let table = (member, 0..most).prop_map(|((value, schema), count)| {
        let values: Map<String, Value> = (0..count).map(|number| (format!("n{number}"), value.clone())).collect();
        (values, json!({"patternProperties": {"^n": schema}}))
    });
    let either = prop_oneof![3 => members, 1 => table];
    (either, 0_usize..7, any::<Index>()).prop_map(move |((values, mut schema), rule, some)| {
        let last = values.keys().next_back().cloned();
        match (rule, last) {
            _ if rules == Rules::Few => {}
            (0, Some(last)) => schema["required"] = json!([last]),
            (1, _) => schema["minProperties"] = some.index(values.len() + 1).into(),
            (2, Some(last)) => schema["dependentRequired"] = json!({"m0/~": [last], "n0": [last]}),
            (3, _) => schema = json!({"oneOf": [{"type": "integer"}, schema, {"const": 1}]}),
            (4, Some(last)) => {
                schema["if"] = json!({ "required": [last] });
                schema["else"] = json!({"maxProperties": 1});
            }
            _ => {}
        }
        (Value::Object(values), schema)
    })
}

fn pair(rules: Rules) -> impl Strategy<Value = Pair> {
    let plain = prop_oneof![number(), text(rules)].boxed();
    let leaf = prop_oneof![plain.clone(), array(plain.clone(), 100, rules), object(plain, 400, rules)];
    let nested = leaf.prop_recursive(2, 40, 6, move |inner| {
        prop_oneof![array(inner.clone(), 8, rules), object(inner, 8, rules), text(rules)].boxed()
    });
    object(nested.boxed(), 8, rules)
}

/// Everything that is left stands in the whole, and every part that is told is true.
fn check(left: &Value, whole: &Value, bytes: usize) {
    let mut there = left.clone();
    let said = there.as_object_mut().unwrap().remove(CUT_KEY).unwrap();
    assert_eq!(said["bytes"], bytes);
    assert_eq!(said["kept_bytes"], there.to_string().len());
    assert!(said["hint"].as_str().unwrap().contains("`count`"));
    for part in said["parts"].as_array().unwrap() {
        let at = part["at"].as_str().unwrap();
        let (kept, of, unit) = match (there.pointer(at).unwrap(), whole.pointer(at).unwrap()) {
            (Value::String(kept), Value::String(of)) => (kept.chars().count(), of.chars().count(), "characters"),
            (Value::Array(kept), Value::Array(of)) => (kept.len(), of.len(), "items"),
            (Value::Object(kept), Value::Object(of)) => (kept.len(), of.len(), "members"),
            other => panic!("{other:?}"),
        };
        assert_eq!(*part, json!({ "at": at, "kept": kept, "of": of, "unit": unit }));
    }
    assert!(is_part(&there, whole));
}

fn is_part(left: &Value, whole: &Value) -> bool {
    match (left, whole) {
        (Value::String(left), Value::String(whole)) => whole.starts_with(left),
        (Value::Array(left), Value::Array(whole)) => {
            left.len() <= whole.len() && left.iter().zip(whole).all(|(left, whole)| is_part(left, whole))
        }
        (Value::Object(left), Value::Object(whole)) => {
            left.iter().all(|(name, left)| whole.get(name).is_some_and(|whole| is_part(left, whole)))
        }
        (left, whole) => left == whole,
    }
}

fn run(value: &Value, shortened: Option<&Shortened>, max_bytes: usize, schema: &Value) -> Result<Cut, CutError> {
    cut_to_schema(value.clone(), shortened, max_bytes, &["count".to_owned()], &validator(schema).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_cut_result_fits_and_satisfies_its_schema_or_is_refused(
        (value, schema) in pair(Rules::All),
        max_bytes in 500_usize..3000,
    ) {
        let declared = validator(&schema).unwrap();
        prop_assert!(declared.is_valid(&value), "{}", schema);
        let bytes = value.to_string().len();
        match run(&value, None, max_bytes, &schema) {
            Ok(Cut { value: left, was_cut: false }) => prop_assert!(left == value && bytes <= max_bytes),
            Ok(Cut { value: left, was_cut: true }) => {
                prop_assert!(bytes > max_bytes);
                prop_assert!(left.to_string().len() <= max_bytes);
                prop_assert!(declared.is_valid(&left), "{}", left);
                check(&left, &value, bytes);
            }
            Err(CutError::CannotFit { bytes: told, .. }) => prop_assert!(told == bytes as u64 && bytes > max_bytes),
            Err(error) => prop_assert!(false, "{}", error),
        }
    }

    #[test]
    fn a_schema_that_no_cut_breaks_is_never_in_the_way(
        (value, schema) in pair(Rules::Few),
        max_bytes in 4000_usize..8000,
    ) {
        let Cut { value: left, was_cut } = run(&value, None, max_bytes, &schema).unwrap();
        prop_assert!(validator(&schema).unwrap().is_valid(&left));
        prop_assert_eq!(was_cut, value.to_string().len() > max_bytes);
    }

    #[test]
    fn what_was_missing_before_is_never_the_result_s_fault(
        (value, schema) in pair(Rules::All),
        held in 500_usize..6000,
        max_bytes in 500_usize..3000,
    ) {
        let bytes = value.to_string().len();
        let mut tree = Tree::new(value.clone(), &[]);
        tree.shrink(held, &Guard::default());
        let places = tree.places();
        prop_assume!(!places.is_empty());
        let shortened = Shortened { bytes: bytes as u64, places };
        match run(&tree.into_value(), Some(&shortened), max_bytes, &schema) {
            Ok(Cut { value: left, .. }) => {
                prop_assert!(validator(&schema).unwrap().is_valid(&left));
                prop_assert!(left.to_string().len() <= max_bytes);
                check(&left, &value, bytes);
            }
            Err(CutError::CannotFit { .. }) => {}
            Err(error) => prop_assert!(false, "{}", error),
        }
    }
}
