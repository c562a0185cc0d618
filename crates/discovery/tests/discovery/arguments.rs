//! Wrong arguments and the call that would be right.

use gatelatch_discovery::help::{self, UsageError};
use gatelatch_registry::arguments::Arguments;
use gatelatch_registry::catalog::{ArgumentManifest, ArgumentType, Repeat};
use gatelatch_registry::schema::input_schema;
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::build::{Details, House, WithActions, action, arg, office, tool};

fn refused(house: &House, entry: &str, action: &str, raw: &Value) -> UsageError {
    let action = house.action(entry, action);
    let faults = Arguments::parse(action, raw).expect_err("the arguments are wrong");
    help::bad_arguments(&house.view(), house.entry(entry), action, raw, &faults)
}

/// A house with one argument of each type.
fn types() -> House {
    use ArgumentType::{Array, Boolean, Integer, Number, Object, Path, String};
    let every = action("every-type", "Takes everything.")
        .takes(arg("text", String, "Any text"))
        .takes(ArgumentManifest {
            minimum: Some(1.into()),
            maximum: Some(9.into()),
            ..arg("count", Integer, "How many")
        })
        .takes(arg("ratio", Number, "How much"))
        .takes(arg("dry-run", Boolean, "Only pretend"))
        .takes(ArgumentManifest { items: Some(json!({"type": "string"})), ..arg("tags", Array, "Labels") })
        .takes(ArgumentManifest { items: Some(json!({"type": "integer"})), ..arg("numbers", Array, "Figures") })
        .takes(arg("filter", Object, "Conditions"))
        .takes(arg("file", Path, "Where it lies"))
        .takes(ArgumentManifest {
            choices: vec![json!("low"), json!("very-high")],
            ..arg("priority", String, "How urgent")
        });
    House::new(vec![tool("types", "Types.").has(every)], Vec::new())
}

#[test]
fn a_corrected_call_fits_and_keeps_what_was_meant() {
    let types = types();
    let table = [
        // types, where nothing is lost
        (json!({"count": "5"}), json!({"count": 5})),
        (json!({"count": " 5 "}), json!({"count": 5})),
        (json!({"ratio": "0.5"}), json!({"ratio": 0.5})),
        (json!({"dry-run": "true"}), json!({"dry-run": true})),
        (json!({"dry-run": "False"}), json!({"dry-run": false})),
        (json!({"text": 7}), json!({"text": "7"})),
        (json!({"text": true}), json!({"text": "true"})),
        (json!({"tags": "red"}), json!({"tags": ["red"]})),
        (json!({"tags": "[\"red\",\"blue\"]"}), json!({"tags": ["red", "blue"]})),
        (json!({"numbers": 3}), json!({"numbers": [3]})),
        (json!({"filter": "{\"a\":1}"}), json!({"filter": {"a": 1}})),
        (json!({"priority": "LOW"}), json!({"priority": "low"})),
        (json!({"priority": "VeryHigh"}), json!({"priority": "very-high"})),
        // names
        (json!({"cuont": 3}), json!({"count": 3})),
        (json!({"tag": ["x"]}), json!({"tags": ["x"]})),
        (json!({"run-dry": true}), json!({"dry-run": true})),
        (json!({"path": "a.txt"}), json!({"file": "a.txt"})),
        (json!({"urgent": "low"}), json!({"priority": "low"})),
        (json!({"filters": {"a": 1}, "fle": "b"}), json!({"filter": {"a": 1}, "file": "b"})),
        // what cannot be known becomes a sample
        (json!({"count": "many"}), json!({"count": 1})),
        (json!({"count": 5.5}), json!({"count": 1})),
        (json!({"count": 100}), json!({"count": 1})),
        (json!({"tags": "red,blue"}), json!({"tags": ["<tags>"]})),
        (json!({"numbers": "three"}), json!({"numbers": [1]})),
        (json!({"priority": "medium"}), json!({"priority": "low"})),
        (json!({"filter": [1]}), json!({"filter": {}})),
        // what is there no place for goes
        (json!({"text": "x", "nonsense": 1}), json!({"text": "x"})),
        // the whole as text
        (json!("{\"text\":\"x\"}"), json!({"text": "x"})),
        (json!([1]), json!({})),
    ];
    for (raw, right) in table {
        let error = refused(&types, "types", "every-type", &raw);
        let example = error.example.clone().expect("a corrected call");
        assert_eq!(example["arguments"]["args"], right, "{raw}: {}", error.message);
        let parsed = Arguments::parse(types.action("types", "every-type"), &example["arguments"]["args"]);
        assert!(parsed.is_ok(), "{raw}: {parsed:?}");
    }
}

#[test]
fn three_guessed_names_find_their_arguments() {
    let error = refused(&office(), "outbox", "draft-message", &json!({"recipient": "a", "title": "b", "text": "c"}));
    assert_eq!(error.did_you_mean, ["to", "subject", "body"]);
    assert_eq!(error.example.unwrap()["arguments"]["args"], json!({"to": "a", "subject": "b", "body": "c"}));
}

#[test]
fn an_argument_of_a_sibling_is_pointed_out() {
    let error = refused(&office(), "xlsx", "list-sheets", &json!({"path": "a.xlsx", "max_results": 3}));
    assert_snapshot!(error.message, @r#"`max_results` is no argument of `list-sheets`; action `read-sheet` has `max-results`"#);
}

#[test]
fn each_fault_is_told_in_one_sentence() {
    let types = types();
    let told = |raw: Value| refused(&types, "types", "every-type", &raw).message;
    assert_snapshot!(told(json!({"count": "x", "ratio": [], "dry-run": 1})), @r#"`count` must be an integer, not a string; `ratio` must be a number, not an array; `dry-run` must be a boolean, not a number"#);
    assert_snapshot!(told(json!({"count": 10, "priority": "urgent"})), @r#"`count` must be from 1 to 9; `priority` must be one of "low", "very-high""#);
    assert_snapshot!(told(json!({"numbers": [1, "two"]})), @r#"`numbers` at `/1` must be an integer"#);
    assert_snapshot!(told(json!("words")), @r#"`args` must be an object, not a string"#);
    let office = office();
    let told = |entry, action, raw: Value| refused(&office, entry, action, &raw).message;
    assert_snapshot!(told("outbox", "send-message", json!({})), @r#"required argument `id` is missing (The draft to send)"#);
    assert_snapshot!(told("calendar", "find-slots", json!({"date": "tomorrow"})), @r#"`date` must match `^\d{4}-\d{2}-\d{2}$`"#);
    assert_snapshot!(told("calendar", "book-meeting", json!({"title": "x", "attendees": [{"optional": true}]})), @r#"`attendees` at `/0` must be an object with `email`"#);
    assert_snapshot!(told("calendar", "book-meeting", json!({"title": "x", "attendees": [{"email": 1}]})), @r#"`attendees` at `/0/email` must be a string"#);
    assert_snapshot!(told("outbox", "list-messages", json!({"folder": "sent", "Folder": "sent"})), @r#"`folder` is given twice, in two spellings"#);
}

#[test]
fn a_repeated_array_says_what_its_values_may_not_be_and_shows_one() {
    let repeated = |name, repeat| ArgumentManifest { repeat: Some(repeat), ..arg(name, ArgumentType::Array, "Labels") };
    let files = ArgumentManifest { positional: true, ..repeated("files", Repeat::Value) };
    let label = action("label-files", "Labels files.").takes(repeated("tags", Repeat::Value)).needs(files);
    let house = House::new(vec![tool("labels", "Labels.").has(label)], Vec::new());
    let told = |raw: Value| refused(&house, "labels", "label-files", &raw).message;
    assert_snapshot!(told(json!({"files": [], "tags": ["a", "-b"]})), @"of several values of `tags` none may begin with `-`, which the program would take for an option; one alone may; `files` must hold at least one value (Labels)");
    assert_snapshot!(told(json!({"files": ["-a"]})), @"`files` is passed by place and must not begin with `-`; its author can allow it with `allow_dash: true`");
    let example = refused(&house, "labels", "label-files", &json!({})).example.unwrap();
    assert_eq!(example["arguments"]["args"], json!({"files": ["<files>"]}));
    assert_eq!(input_schema(house.action("labels", "label-files"))["properties"]["files"]["minItems"], 1);
}

#[test]
fn a_text_never_repeats_a_value() {
    let (types, office) = (types(), office());
    let secret = "hunter2-hunter2";
    for (house, entry, action, raw) in [
        (
            &types,
            "types",
            "every-type",
            json!({"count": secret, "ratio": secret, "priority": secret, "numbers": [secret]}),
        ),
        (&types, "types", "every-type", json!({"unknown": secret, "filter": secret, "dry-run": secret})),
        (&types, "types", "every-type", json!(secret)),
        (&office, "calendar", "find-slots", json!({"date": secret, "minutes": secret})),
        (&office, "calendar", "book-meeting", json!({"title": secret, "attendees": [{"email": [secret]}]})),
    ] {
        let error = refused(house, entry, action, &raw);
        let UsageError { message, schema, did_you_mean, .. } = &error;
        assert!(!format!("{message} {schema:?} {did_you_mean:?}").contains(secret), "{error:?}");
    }
}

#[test]
fn a_long_value_is_not_repeated_in_the_corrected_call() {
    let long = "x".repeat(5_000);
    let error = refused(&office(), "outbox", "draft-message", &json!({"to": "a", "subject": 7, "body": long}));
    assert_eq!(error.example.unwrap()["arguments"]["args"], json!({"to": "a", "subject": "7", "body": "<body>"}));
}

#[test]
fn the_schema_is_spelled_as_the_manifest_spells_it() {
    let error = refused(&office(), "outbox", "list-messages", &json!({"maxResult": 3}));
    assert_snapshot!(error.to_value().to_string(), @r#"{"error":"bad_arguments","message":"`maxResult` is no argument of `list-messages`: `max-results` is","did_you_mean":["max-results"],"example":{"tool":"run_tool","arguments":{"tool":"outbox","action":"list-messages","args":{"max-results":3}}},"schema":{"type":"object","properties":{"folder":{"type":"string","description":"Only this folder","enum":["drafts","sent"]},"max-results":{"type":"integer","description":"Cap the messages returned","default":20,"minimum":1,"maximum":500}},"additionalProperties":false}}"#);
}
