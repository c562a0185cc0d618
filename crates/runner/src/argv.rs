//! Arguments as elements of an argument vector: one value is one element, and no value is ever taken for an option.
//!
//! `[action] --name value … positional …`: options first, then positionals, each in the manifest's order.
//!
//! - A value that begins with `-` stands in one element with its name, `--name=value`.
//! - `true` is the bare `--name`; `false` is nothing, or `--no-name` where the manifest says `negatable`.
//! - Arrays and objects are JSON in one element, numbers are JSON text.
//! - An array that the manifest repeats is one element a value: `--name a --name b` by its name, `--name a b` by its
//!   value, `a b` where it is positional. One without values passes nothing.
//! - A positional that begins with `-` is refused, unless the manifest says `allow_dash`: then `--` stands before the
//!   positionals. It stands there too behind an option that would take them for further values of its own.
//!
//! Start at [`elements`].

use gatelatch_registry::catalog::{ActionManifest, ArgumentManifest, Repeat};
use serde_json::{Map, Value};

/// The most bytes that one element may have. Linux takes 128 KiB with the closing NUL, whatever the whole may be.
pub const LONGEST_ELEMENT: usize = if cfg!(windows) { 32_000 } else { 131_071 };

/// Why arguments cannot be passed. Names them, never shows them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArgvError {
    /// It would be taken for an option.
    #[error("argument `{argument}` begins with `-` and would be taken for an option")]
    LeadingDash {
        /// Its name.
        argument: String,
    },
    /// No argument vector can carry it.
    #[error("argument `{argument}` holds a NUL character")]
    Nul {
        /// Its name.
        argument: String,
    },
    /// The system takes no element of that size.
    #[error("argument `{argument}` has {bytes} bytes and the system passes at most {LONGEST_ELEMENT} in one")]
    TooLarge {
        /// Its name.
        argument: String,
        /// Its size.
        bytes: usize,
    },
}

/// The elements after the entrypoint.
pub fn elements(action: &ActionManifest, values: &Map<String, Value>) -> Result<Vec<String>, ArgvError> {
    let mut elements: Vec<String> = action.name.iter().cloned().collect();
    let mut positionals = Vec::new();
    let mut fenced = false;
    for argument in &action.args {
        let Some(value) = values.get(&argument.name).filter(|value| !value.is_null()) else { continue };
        let repeated = argument.repeat.zip(value.as_array());
        if argument.positional {
            let each = repeated.map_or_else(|| std::slice::from_ref(value), |(_, items)| items);
            for value in each {
                let text = text(value);
                fenced |= text.starts_with('-');
                positionals.push(checked_positional(argument, text)?);
            }
        } else if let Some((repeat, items)) = repeated {
            fenced |= repeat == Repeat::Value && !items.is_empty();
            push_repeated(argument, repeat, items, &mut elements)?;
        } else {
            push_option(argument, value, &mut elements)?;
        }
    }
    if fenced && !positionals.is_empty() {
        elements.push("--".to_owned());
    }
    elements.extend(positionals);
    Ok(elements)
}

fn push_option(argument: &ArgumentManifest, value: &Value, elements: &mut Vec<String>) -> Result<(), ArgvError> {
    let name = &argument.name;
    match value {
        Value::Bool(true) => elements.push(format!("--{name}")),
        Value::Bool(false) if argument.negatable => elements.push(format!("--no-{name}")),
        Value::Bool(false) => {}
        _ => push_named(argument, text(value), elements)?,
    }
    Ok(())
}

/// A value with its name: two elements, or one where the value begins with `-`.
fn push_named(argument: &ArgumentManifest, text: String, elements: &mut Vec<String>) -> Result<(), ArgvError> {
    let name = &argument.name;
    if text.starts_with('-') {
        elements.push(checked(argument, format!("--{name}={text}"))?);
    } else {
        elements.push(format!("--{name}"));
        elements.push(checked(argument, text)?);
    }
    Ok(())
}

fn push_repeated(
    argument: &ArgumentManifest,
    repeat: Repeat,
    items: &[Value],
    elements: &mut Vec<String>,
) -> Result<(), ArgvError> {
    match (repeat, items) {
        (Repeat::Name, _) => items.iter().try_for_each(|item| push_named(argument, text(item), elements)),
        // With `=` a name takes one value and no more.
        (Repeat::Value, [only]) => push_named(argument, text(only), elements),
        (Repeat::Value, []) => Ok(()),
        (Repeat::Value, several) => {
            elements.push(format!("--{}", argument.name));
            for item in several {
                let text = text(item);
                if text.starts_with('-') {
                    return Err(ArgvError::LeadingDash { argument: argument.name.clone() });
                }
                elements.push(checked(argument, text)?);
            }
            Ok(())
        }
    }
}

fn checked_positional(argument: &ArgumentManifest, text: String) -> Result<String, ArgvError> {
    if text.starts_with('-') && !argument.allow_dash {
        return Err(ArgvError::LeadingDash { argument: argument.name.clone() });
    }
    checked(argument, text)
}

fn checked(argument: &ArgumentManifest, element: String) -> Result<String, ArgvError> {
    if element.contains('\0') {
        return Err(ArgvError::Nul { argument: argument.name.clone() });
    }
    if element.len() > LONGEST_ELEMENT {
        return Err(ArgvError::TooLarge { argument: argument.name.clone(), bytes: element.len() });
    }
    Ok(element)
}

/// Text as it is, everything else as JSON.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatelatch_registry::catalog::ArgumentType;
    use proptest::prelude::*;
    use serde_json::json;

    fn argument(name: &str, kind: ArgumentType) -> ArgumentManifest {
        ArgumentManifest::new(name, kind)
    }

    fn positional(name: &str, allow_dash: bool) -> ArgumentManifest {
        ArgumentManifest { positional: true, allow_dash, ..argument(name, ArgumentType::String) }
    }

    fn action(args: Vec<ArgumentManifest>) -> ActionManifest {
        ActionManifest { args, ..ActionManifest::new(Some("do-it"), "") }
    }

    fn check(args: Vec<ArgumentManifest>, values: Value, expected: Result<&[&str], ArgvError>) {
        let values = values.as_object().unwrap().clone();
        let expected = expected.map(|elements| elements.iter().map(|element| (*element).to_owned()).collect());
        assert_eq!(elements(&action(args), &values), expected);
    }

    #[test]
    fn each_type_has_its_form() {
        let args = vec![
            argument("text", ArgumentType::String),
            argument("whole", ArgumentType::Integer),
            argument("real", ArgumentType::Number),
            argument("list", ArgumentType::Array),
            argument("map", ArgumentType::Object),
            argument("file", ArgumentType::Path),
        ];
        let values = json!({
            "file": "a b.xlsx", "map": {"k": "v w"}, "list": [1, "-x"], "real": 1.5, "whole": 7, "text": "",
        });
        let expected = [
            "do-it",
            "--text",
            "",
            "--whole",
            "7",
            "--real",
            "1.5",
            "--list",
            r#"[1,"-x"]"#,
            "--map",
            r#"{"k":"v w"}"#,
            "--file",
            "a b.xlsx",
        ];
        check(args, values, Ok(&expected));
    }

    #[test]
    fn booleans_are_bare_flags() {
        let plain = argument("plain", ArgumentType::Boolean);
        let negatable = ArgumentManifest { negatable: true, ..argument("both", ArgumentType::Boolean) };
        let args = vec![plain, negatable];
        check(args.clone(), json!({"plain": true, "both": true}), Ok(&["do-it", "--plain", "--both"]));
        check(args.clone(), json!({"plain": false, "both": false}), Ok(&["do-it", "--no-both"]));
        check(args, json!({"plain": null}), Ok(&["do-it"]));
    }

    #[test]
    fn a_value_that_begins_with_a_dash_shares_its_name_s_element() {
        let args = vec![argument("number", ArgumentType::Integer), argument("text", ArgumentType::String)];
        check(args, json!({"number": -5, "text": "--force"}), Ok(&["do-it", "--number=-5", "--text=--force"]));
    }

    #[test]
    fn positionals_follow_the_options_in_the_manifest_s_order() {
        let args = vec![positional("to", false), argument("flag", ArgumentType::Boolean), positional("from", true)];
        check(args, json!({"from": "b", "to": "a", "flag": true}), Ok(&["do-it", "--flag", "a", "b"]));
    }

    #[test]
    fn a_repeated_array_is_one_element_a_value() {
        let repeated =
            |name: &str, repeat| ArgumentManifest { repeat: Some(repeat), ..argument(name, ArgumentType::Array) };
        let names = vec![repeated("tag", Repeat::Name)];
        check(names.clone(), json!({"tag": ["a b", 2]}), Ok(&["do-it", "--tag", "a b", "--tag", "2"]));
        check(names.clone(), json!({"tag": ["-x", -1]}), Ok(&["do-it", "--tag=-x", "--tag=-1"]));
        check(names.clone(), json!({"tag": [{"k": 1}]}), Ok(&["do-it", "--tag", r#"{"k":1}"#]));
        check(names, json!({"tag": []}), Ok(&["do-it"]));
        let values = vec![repeated("tag", Repeat::Value), argument("last", ArgumentType::Boolean)];
        check(values.clone(), json!({"tag": ["a", ""], "last": true}), Ok(&["do-it", "--tag", "a", "", "--last"]));
        check(values.clone(), json!({"tag": ["-x"]}), Ok(&["do-it", "--tag=-x"]));
        check(values.clone(), json!({"tag": []}), Ok(&["do-it"]));
        let refused = ArgvError::LeadingDash { argument: "tag".to_owned() };
        check(values, json!({"tag": ["a", "-x"]}), Err(refused));
    }

    #[test]
    fn values_by_place_are_parted_from_an_option_that_would_take_them() {
        let tags = ArgumentManifest { repeat: Some(Repeat::Value), ..argument("tag", ArgumentType::Array) };
        let files = |allow_dash| ArgumentManifest {
            positional: true,
            allow_dash,
            repeat: Some(Repeat::Value),
            ..argument("file", ArgumentType::Array)
        };
        let args = vec![tags, files(false)];
        check(args.clone(), json!({"file": ["x", "y"]}), Ok(&["do-it", "x", "y"]));
        check(args.clone(), json!({"tag": ["a"], "file": ["x"]}), Ok(&["do-it", "--tag", "a", "--", "x"]));
        check(args.clone(), json!({"tag": ["a"], "file": []}), Ok(&["do-it", "--tag", "a"]));
        check(args, json!({"file": ["x", "-y"]}), Err(ArgvError::LeadingDash { argument: "file".to_owned() }));
        check(vec![files(true)], json!({"file": ["x", "-y"]}), Ok(&["do-it", "--", "x", "-y"]));
    }

    #[test]
    fn a_positional_that_begins_with_a_dash_is_refused_or_fenced_off() {
        let refused = ArgvError::LeadingDash { argument: "file".to_owned() };
        check(vec![positional("file", false)], json!({"file": "-rf"}), Err(refused));
        check(vec![positional("file", true)], json!({"file": "-rf"}), Ok(&["do-it", "--", "-rf"]));
        let number = ArgumentManifest { kind: ArgumentType::Integer, ..positional("number", false) };
        check(vec![number], json!({"number": -1}), Err(ArgvError::LeadingDash { argument: "number".to_owned() }));
    }

    #[test]
    fn what_the_system_does_not_take_is_refused_by_name() {
        let args = vec![argument("text", ArgumentType::String)];
        check(args.clone(), json!({"text": "a\0b"}), Err(ArgvError::Nul { argument: "text".to_owned() }));
        let longest = "x".repeat(LONGEST_ELEMENT);
        check(args.clone(), json!({"text": longest.clone()}), Ok(&["do-it", "--text", &longest]));
        let too_large = ArgvError::TooLarge { argument: "text".to_owned(), bytes: LONGEST_ELEMENT + 1 };
        check(args, json!({"text": longest + "x"}), Err(too_large));
    }

    /// What a program with the usual rules reads: options with their values, then what is left.
    fn read_back(action: &ActionManifest, elements: &[String]) -> (Map<String, Value>, Vec<String>) {
        let (mut options, mut rest, mut at) = (Map::new(), Vec::new(), elements.iter().skip(1));
        let mut fenced = false;
        while let Some(element) = at.next() {
            match element.strip_prefix("--") {
                Some("") if !fenced => fenced = true,
                Some(option) if !fenced => {
                    let (name, value) = match option.split_once('=') {
                        Some((name, value)) => (name, Value::from(value)),
                        None if is_flag(action, option) => (option, Value::Bool(true)),
                        None => (option, Value::from(at.next().unwrap().as_str())),
                    };
                    assert!(action.args.iter().any(|argument| argument.name == name), "`{name}` became an option");
                    assert!(options.insert(name.to_owned(), value).is_none(), "`{name}` came twice");
                }
                _ => {
                    assert!(fenced || !element.starts_with('-'), "`{element}` became an option");
                    rest.push(element.clone());
                }
            }
        }
        (options, rest)
    }

    fn is_flag(action: &ActionManifest, name: &str) -> bool {
        action.args.iter().any(|argument| argument.name == name && argument.kind == ArgumentType::Boolean)
    }

    fn value() -> impl Strategy<Value = Value> {
        let text = "[-=a-c \"'$`\\\\\n;é]{0,8}";
        prop_oneof![
            text.prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<bool>().prop_map(Value::from),
            proptest::collection::vec(text, 0..3).prop_map(Value::from),
            (text, text).prop_map(|(key, value)| json!({ key: value })),
        ]
    }

    fn kind_of(value: &Value) -> ArgumentType {
        match value {
            Value::Bool(_) => ArgumentType::Boolean,
            Value::Number(_) => ArgumentType::Integer,
            Value::Array(_) => ArgumentType::Array,
            Value::Object(_) => ArgumentType::Object,
            Value::String(_) | Value::Null => ArgumentType::String,
        }
    }

    /// What a program reads that takes every value behind a name until the next name: `--name` and all its values, in
    /// the order of the names, then what is left.
    fn read_back_greedily(elements: &[String], greedy: &dyn Fn(&str) -> bool) -> (Vec<(String, String)>, Vec<String>) {
        let (mut named, mut rest, mut at) = (Vec::new(), Vec::new(), elements.iter().skip(1).peekable());
        while let Some(element) = at.next() {
            let Some(name) = element.strip_prefix("--") else {
                rest.push(element.clone());
                continue;
            };
            if name.is_empty() {
                rest.extend(at.by_ref().cloned());
            } else if let Some((name, value)) = name.split_once('=') {
                named.push((name.to_owned(), value.to_owned()));
            } else {
                named.push((name.to_owned(), at.next().unwrap().clone()));
                while let Some(more) = at.next_if(|next| greedy(name) && !next.starts_with('-')) {
                    named.push((name.to_owned(), more.clone()));
                }
            }
        }
        (named, rest)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

        #[test]
        fn a_program_reads_the_values_of_repeated_arrays_as_they_were_given(
            given in proptest::collection::vec(
                (proptest::collection::vec("[-=a-c \"]{0,4}", 0..4), any::<bool>(), any::<bool>(), any::<bool>()),
                0..5,
            ),
        ) {
            let (mut args, mut values) = (Vec::new(), Map::new());
            let (mut named, mut rest, mut refused) = (Vec::new(), Vec::new(), false);
            for (number, (items, by_name, positional, allow_dash)) in given.iter().enumerate() {
                let name = format!("arg-{number}");
                let repeat = if *by_name && !positional { Repeat::Name } else { Repeat::Value };
                let dashed = items.iter().any(|item| item.starts_with('-'));
                refused |= dashed && match (positional, repeat) {
                    (true, _) => !allow_dash,
                    (false, Repeat::Name) => false,
                    (false, Repeat::Value) => items.len() > 1,
                };
                if *positional {
                    rest.extend(items.clone());
                } else {
                    named.extend(items.iter().map(|item| (name.clone(), item.clone())));
                }
                args.push(ArgumentManifest {
                    repeat: Some(repeat),
                    positional: *positional,
                    allow_dash: *allow_dash,
                    ..argument(&name, ArgumentType::Array)
                });
                values.insert(name, json!(items));
            }
            let action = action(args);
            let greedy = |name: &str| {
                action.args.iter().any(|argument| argument.name == name && argument.repeat == Some(Repeat::Value))
            };
            match elements(&action, &values) {
                Err(error) => prop_assert!(refused, "{}", error),
                Ok(elements) => {
                    prop_assert!(!refused);
                    prop_assert_eq!(read_back_greedily(&elements, &greedy), (named, rest));
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

        #[test]
        fn no_argument_becomes_two_elements_and_no_value_becomes_a_flag(
            given in proptest::collection::vec((value(), any::<bool>(), any::<bool>()), 0..6),
        ) {
            let mut args = Vec::new();
            let mut values = Map::new();
            for (number, (value, positional, allow_dash)) in given.iter().enumerate() {
                let name = format!("arg-{number}");
                let argument = argument(&name, kind_of(value));
                args.push(ArgumentManifest { positional: *positional, allow_dash: *allow_dash, ..argument });
                values.insert(name, value.clone());
            }
            let action = action(args);
            let refused = action.args.iter().any(|argument| {
                argument.positional && !argument.allow_dash && text(&values[&argument.name]).starts_with('-')
            });
            match elements(&action, &values) {
                Err(ArgvError::LeadingDash { .. }) => prop_assert!(refused),
                Err(other) => prop_assert!(false, "{}", other),
                Ok(elements) => {
                    prop_assert!(!refused);
                    let (options, rest) = read_back(&action, &elements);
                    let expected: Map<String, Value> = action.args.iter()
                        .filter(|argument| !argument.positional && values[&argument.name] != json!(false))
                        .map(|argument| {
                            let value = &values[&argument.name];
                            let read = if value.is_boolean() { value.clone() } else { Value::from(text(value)) };
                            (argument.name.clone(), read)
                        })
                        .collect();
                    prop_assert_eq!(options, expected);
                    let positionals: Vec<String> = action.args.iter()
                        .filter(|argument| argument.positional)
                        .map(|argument| text(&values[&argument.name]))
                        .collect();
                    prop_assert_eq!(rest, positionals);
                }
            }
        }
    }
}
