//! What an action accepts, held against its published schema and against the rules for spelling and absence.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use gatelatch_manifest::read::{self, Beside};
use gatelatch_registry::arguments::{ArgumentRule, Arguments};
use gatelatch_registry::catalog::{ActionManifest, ArgumentType};
use gatelatch_registry::schema::input_schema;
use proptest::prelude::*;
use serde_json::{Value, json};

/// The nameless action of a tool with these arguments, each as a YAML flow mapping without its braces.
fn action(args: &[&str]) -> ActionManifest {
    let args: String = args.iter().map(|argument| format!("  - {{{argument}}}\n")).collect();
    let text = format!("name: a\ndescription: A.\nruntime: process\nentrypoint: a\nargs:\n{args}");
    let read = read::tool("tool.yaml", "a", text.as_bytes(), &|_| Beside::Nothing);
    read.document.unwrap_or_else(|| panic!("{:?}", read.findings)).actions.remove(0)
}

fn rules(action: &ActionManifest, raw: Value) -> Vec<(ArgumentRule, String)> {
    let faults = Arguments::parse(action, &raw).err().unwrap_or_default();
    faults.into_iter().map(|fault| (fault.rule, fault.argument)).collect()
}

fn values(action: &ActionManifest, raw: Value) -> Value {
    Value::Object(Arguments::parse(action, &raw).unwrap().values().clone())
}

fn sample() -> ActionManifest {
    action(&[
        "name: path, type: path, required: true, positional: true",
        "name: max-results, type: integer, minimum: 1, maximum: 100",
        "name: ratio, type: number, maximum: 1.5",
        "name: mode, type: string, enum: [fast, slow, '3']",
        "name: header, type: boolean",
        "name: tag, type: string, pattern: '^[a-z]+$'",
        "name: rows, type: array, items: {type: array, items: {type: integer}}",
        "name: filter, type: object",
    ])
}

#[test]
fn values_come_in_the_order_of_the_manifest_and_nulls_are_gone() {
    let raw = json!({"filter": {"deep": [null]}, "tag": null, "path": "a", "max-results": 42.0});
    let parsed = Arguments::parse(&sample(), &raw).unwrap();
    assert_eq!(
        serde_json::to_string(parsed.values()).unwrap(),
        r#"{"path":"a","max-results":42,"filter":{"deep":[null]}}"#
    );
    assert!(parsed.respelled().is_empty());
}

#[test]
fn nothing_and_null_are_no_arguments_and_anything_else_is_a_fault() {
    let optional = action(&["name: a, type: string"]);
    assert_eq!(values(&optional, Value::Null), json!({}));
    assert_eq!(values(&optional, json!({})), json!({}));
    for raw in [json!([]), json!("{}"), json!(1), json!(true)] {
        assert_eq!(rules(&optional, raw), [(ArgumentRule::NotAnObject, String::new())]);
    }
}

#[test]
fn every_fault_is_told_at_once() {
    let raw = json!({
        "max-results": 0, "ratio": 2, "mode": "quick", "header": "true", "tag": "A1", "rows": [[1], ["x"], 3], "pth": "a"
    });
    assert_eq!(
        rules(&sample(), raw),
        [
            (ArgumentRule::Unknown, "pth".to_owned()),
            (ArgumentRule::Missing, "path".to_owned()),
            (ArgumentRule::OutOfRange, "max-results".to_owned()),
            (ArgumentRule::OutOfRange, "ratio".to_owned()),
            (ArgumentRule::NotAChoice, "mode".to_owned()),
            (ArgumentRule::WrongType, "header".to_owned()),
            (ArgumentRule::NoMatch, "tag".to_owned()),
            (ArgumentRule::Nested, "rows".to_owned()),
            (ArgumentRule::Nested, "rows".to_owned()),
        ]
    );
    let faults = Arguments::parse(&sample(), &json!({"path": "a", "rows": [[1], ["x"], 3]})).unwrap_err();
    let pointers: Vec<&str> = faults.iter().map(|fault| fault.pointer.as_str()).collect();
    assert_eq!(pointers, ["/1/0", "/2"]);
}

#[test]
fn another_spelling_is_taken_for_the_only_name_that_it_fits() {
    let parsed = Arguments::parse(&sample(), &json!({"Path": "a", "maxResults": 3})).unwrap();
    assert_eq!(Value::Object(parsed.values().clone()), json!({"path": "a", "max-results": 3}));
    let respelled = [("Path", "path"), ("maxResults", "max-results")].map(|(a, b)| (a.to_owned(), b.to_owned()));
    assert_eq!(parsed.respelled(), respelled);
    assert_eq!(rules(&sample(), json!({"path": "a", "Path": "b"})), [(ArgumentRule::Twice, "path".to_owned())]);
    assert_eq!(rules(&sample(), json!({"path": "a", "PATH": null})), []);
    // The exact name wins, whichever comes first.
    assert_eq!(rules(&sample(), json!({"PATH": "b", "path": "a"})), [(ArgumentRule::Twice, "path".to_owned())]);
}

#[test]
fn an_argument_in_two_spellings_is_told_with_both_in_the_order_of_the_call() {
    for (raw, both) in [
        (json!({"path": "a", "maxResults": 1, "max-results": 2}), "as `maxResults` and as `max-results`"),
        (json!({"path": "a", "max-results": 2, "Max_Results": 1}), "as `max-results` and as `Max_Results`"),
    ] {
        let faults = Arguments::parse(&sample(), &raw).unwrap_err();
        let messages: Vec<&str> = faults.iter().map(|fault| fault.message.as_str()).collect();
        assert_eq!(messages, [format!("`max-results` is given twice, {both}")]);
    }
}

#[test]
fn nothing_is_coerced_and_no_value_is_repeated_in_a_message() {
    for (raw, wanted) in [
        (json!({"path": "x", "max-results": "s3cret"}), ArgumentRule::WrongType),
        (json!({"path": "x", "max-results": "5"}), ArgumentRule::WrongType),
        (json!({"path": "x", "mode": 3}), ArgumentRule::WrongType),
        (json!({"path": "x", "mode": "s3cret"}), ArgumentRule::NotAChoice),
        (json!({"path": "x", "tag": "s3cret"}), ArgumentRule::NoMatch),
        (json!({"path": "-s3cret"}), ArgumentRule::LeadingDash),
        (json!({"path": "s3cret\0"}), ArgumentRule::Nul),
        (json!({"path": "x", "rows": [["s3cret"]]}), ArgumentRule::Nested),
    ] {
        let faults = Arguments::parse(&sample(), &raw).unwrap_err();
        assert_eq!(faults.iter().map(|fault| fault.rule).collect::<Vec<_>>(), [wanted], "{raw}");
        assert!(!faults[0].message.contains("s3cret"), "{}", faults[0].message);
    }
    let faults = Arguments::parse(&sample(), &json!({"path": "x", "mode": "quick"})).unwrap_err();
    assert_eq!(faults[0].message, "`mode` must be one of `fast`, `slow`, `3`");
    let faults = Arguments::parse(&sample(), &json!({"path": "x", &"k".repeat(5000): 1})).unwrap_err();
    assert!(faults[0].message.len() < 200, "a long name is cut: {}", faults[0].message);
}

#[test]
fn the_published_schema_has_the_manifests_names_and_order() {
    let schema = input_schema(&sample());
    let expected = json!({
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "max-results": {"type": "integer", "minimum": 1, "maximum": 100},
            "ratio": {"type": "number", "maximum": 1.5},
            "mode": {"type": "string", "enum": ["fast", "slow", "3"]},
            "header": {"type": "boolean"},
            "tag": {"type": "string", "pattern": "^[a-z]+$"},
            "rows": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
            "filter": {"type": "object"},
        },
        "required": ["path"],
        "additionalProperties": false,
    });
    assert_eq!(serde_json::to_string(&schema).unwrap(), serde_json::to_string(&expected).unwrap());
    assert!(jsonschema::draft202012::meta::is_valid(&schema));
}

#[test]
fn a_required_array_that_is_passed_value_by_value_has_one() {
    let action = action(&["name: files, type: array, repeat: value, positional: true, required: true"]);
    let schema = input_schema(&action);
    assert_eq!(schema["properties"]["files"], json!({"type": "array", "minItems": 1}));
    assert_eq!(rules(&action, json!({"files": []})), [(ArgumentRule::OutOfRange, "files".to_owned())]);
    assert_eq!(rules(&action, json!({"files": ["a"]})), []);
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        (-5i64..110).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-3.0..3.0f64).prop_map(Value::from),
        prop_oneof![Just("fast"), Just("slow"), Just("3"), Just("abc"), Just("A"), Just(""), Just("é")]
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::hash_map("[a-z]{1,3}", inner, 0..3).prop_map(|map| map.into_iter().collect()),
        ]
    })
}

fn any_call() -> impl Strategy<Value = Value> {
    let names = prop_oneof![
        8 => prop::sample::select(vec!["path", "max-results", "ratio", "mode", "header", "tag", "rows", "filter"]),
        1 => Just("other"),
    ];
    prop::collection::hash_map(names.prop_map(str::to_owned), any_value(), 0..5)
        .prop_map(|map| map.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_accepted_is_what_the_published_schema_accepts(raw in any_call()) {
        let action = sample();
        let validator = jsonschema::draft202012::new(&input_schema(&action)).unwrap();
        let parsed = Arguments::parse(&action, &raw);
        prop_assert_eq!(parsed.is_ok(), validator.is_valid(&raw), "{:?}", parsed);
    }

    #[test]
    fn what_was_accepted_is_accepted_again_unchanged(raw in any_call()) {
        let action = sample();
        if let Ok(parsed) = Arguments::parse(&action, &raw) {
            let again = Arguments::parse(&action, &Value::Object(parsed.values().clone())).unwrap();
            prop_assert_eq!(again.values(), parsed.values());
            prop_assert!(again.respelled().is_empty());
        }
    }
}

#[test]
fn every_type_publishes_a_json_type() {
    for kind in ArgumentType::ALL {
        let action = action(&[&format!("name: a, type: {}", kind.as_str())]);
        assert_eq!(input_schema(&action)["properties"]["a"]["type"], json!(kind.json_type()));
    }
}
