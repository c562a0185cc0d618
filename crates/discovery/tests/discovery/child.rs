//! What a child's own usage error says, and which errors are none.

use gatelatch_discovery::help;
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::build::{House, office};

/// The help for an error of `xlsx.read-sheet`, which takes `path`, `sheet`, `max-results` and `header`.
fn helped(office: &House, error: &Value) -> Option<String> {
    let action = office.action("xlsx", "read-sheet");
    help::child_usage(&office.view(), office.entry("xlsx"), action, error).map(|error| error.message)
}

#[test]
fn what_programs_say_of_an_undeclared_option_is_recognised() {
    let office = office();
    for (text, name) in [
        // argparse
        ("usage: main.py [-h] --path PATH\nmain.py: error: unrecognized arguments: --color", "color"),
        ("main.py: error: unrecognized arguments: --color=red", "color"),
        ("main.py: error: unrecognized arguments: --color red", "color"),
        ("main.py: error: the following arguments are required: --color", "color"),
        ("main.py: error: the following arguments are required: --color/-c, --shape", "color"),
        ("main.py: error: the following arguments are required: color", "color"),
        ("main.py: error: argument --color: invalid choice: 'mauve' (choose from 'red', 'blue')", "color"),
        ("main.py: error: argument -c/--color: expected one argument", "color"),
        ("main.py: error: argument --color: invalid int value: 'x'", "color"),
        // clap
        ("error: unexpected argument '--color' found\n\nUsage: prog [OPTIONS]", "color"),
        ("error: Found argument '--color' which wasn't expected, or isn't valid in this context", "color"),
        (
            "error: the following required arguments were not provided:\n  --color <COLOR>\n\nUsage: prog --color <COLOR>",
            "color",
        ),
        ("error: the following required arguments were not provided:\n  <COLOR>\n", "COLOR"),
        ("error: invalid value 'x' for '--color <COLOR>': invalid digit found in string", "color"),
        ("error: a value is required for '--color <COLOR>' but none was supplied", "color"),
        // getopt
        ("prog: unrecognized option '--color'\nTry 'prog --help' for more information.", "color"),
        ("prog: unrecognized option `--color'", "color"),
        ("prog: invalid option -- 'c'", "c"),
        ("prog: illegal option -- c", "c"),
        ("prog: option '--color' requires an argument", "color"),
        ("prog: option requires an argument -- 'c'", "c"),
        // commander, click, Go, cobra, yargs
        ("error: unknown option '--color'", "color"),
        ("Error: No such option: --color", "color"),
        ("Error: Missing option '--color'.", "color"),
        ("Error: Invalid value for '--color': 'x' is not a valid integer.", "color"),
        ("flag provided but not defined: -color", "color"),
        ("Error: unknown flag: --color", "color"),
        ("Error: required flag(s) \"color\" not set", "color"),
        ("Unknown argument: color", "color"),
        ("error: missing required argument 'color'", "color"),
    ] {
        for error in [json!({"text": text}), json!({"error": "usage", "message": text}), json!(text)] {
            let help = helped(&office, &error).unwrap_or_else(|| panic!("not recognised: {text}"));
            assert!(help.contains(&format!("`{name}`")), "{text}: {help}");
        }
    }
}

#[test]
fn what_the_manifest_declares_needs_no_help() {
    let office = office();
    for text in [
        "main.py: error: unrecognized arguments: --sheet",
        "main.py: error: unrecognized arguments: --max_results",
        "main.py: error: the following arguments are required: --path",
        "main.py: error: argument --max-results: invalid int value: 'x'",
        "error: unexpected argument '--header' found",
    ] {
        assert_eq!(helped(&office, &json!({"text": text})), None, "{text}");
    }
}

#[test]
fn what_the_manifest_leaves_open_gets_help() {
    let office = office();
    for text in [
        "main.py: error: the following arguments are required: --sheet",
        "main.py: error: argument --sheet: invalid choice: 'x' (choose from 'a', 'b')",
    ] {
        let help = helped(&office, &json!({"text": text})).expect(text);
        assert!(help.contains("`sheet`"), "{help}");
    }
}

#[test]
fn errors_about_anything_else_get_no_help() {
    let office = office();
    for error in [
        json!({"text": "HTTP 404: unknown option: --color"}),
        json!({"text": "requests.exceptions.HTTPError: 400 Client Error: Bad Request: unrecognized arguments: --color"}),
        json!({"text": "server answered with status 503\nerror: unexpected argument '--color' found"}),
        json!({"status": 422, "message": "unrecognized arguments: --color"}),
        json!({"error": {"code": 400, "message": "unknown argument: color"}}),
        json!({"http_status": "500 Internal Server Error", "text": "unknown flag: --color"}),
        json!({"text": "Traceback (most recent call last):\n  File \"main.py\", line 3\nValueError: invalid literal"}),
        json!({"text": "error: no such file or directory"}),
        json!({"text": "argument of type 'NoneType' is not iterable"}),
        json!({"text": "the argument went on: invalid point"}),
        json!({"text": ""}),
        json!(null),
        json!({"code": "not_found", "message": "no sheet of that name"}),
    ] {
        assert_eq!(helped(&office, &error), None, "{error}");
    }
}

#[test]
fn a_value_in_the_childs_text_is_not_repeated() {
    let office = office();
    for text in [
        "main.py: error: unrecognized arguments: hunter2 --color hunter2",
        "main.py: error: argument --color: invalid choice: 'hunter2' (choose from 'a')",
        "error: invalid value 'hunter2' for '--color <COLOR>': no",
    ] {
        let action = office.action("xlsx", "read-sheet");
        let error =
            help::child_usage(&office.view(), office.entry("xlsx"), action, &json!({"text": text})).expect(text);
        assert!(!error.to_value().to_string().contains("hunter2"), "{text}");
    }
}

#[test]
fn the_help_names_what_comes_close_and_the_call_to_make() {
    let office = office();
    let action = office.action("xlsx", "read-sheet");
    let error = json!({"text": "main.py: error: unrecognized arguments: --sheet-name Q1"});
    let error = help::child_usage(&office.view(), office.entry("xlsx"), action, &error).unwrap();
    assert_snapshot!(error.to_value().to_string(), @r#"{"error":"child_usage","message":"the program does not know `sheet-name`, and the manifest does not declare it; `schema` holds what it declares","did_you_mean":["sheet"],"example":{"tool":"run_tool","arguments":{"tool":"xlsx","action":"read-sheet","args":{"path":"budget.xlsx"}}},"schema":{"type":"object","properties":{"path":{"type":"string","description":"Workbook file"},"sheet":{"type":"string","description":"Sheet name; the first one when absent"},"max-results":{"type":"integer","description":"Cap rows returned"},"header":{"type":"boolean","description":"Whether the first row holds names"}},"required":["path"],"additionalProperties":false}}"#);
}
