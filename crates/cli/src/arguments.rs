//! `--arg NAME=VALUE` and `--args JSON` to the raw arguments of a call.

use std::io::Read;

use gatelatch_protocol::json;
use gatelatch_registry::catalog::{ActionManifest, ArgumentType};
use serde_json::{Map, Value};

use crate::exit::UsageError;
use crate::options::CallOptions;

/// The raw arguments. With the action known, a value is read as that argument's type; what does not fit stays text,
/// and the check of arguments says what it should have been.
pub(crate) fn raw(options: &CallOptions, action: Option<&ActionManifest>) -> anyhow::Result<Value> {
    if let Some(json) = &options.args {
        return whole(json);
    }
    let mut arguments = Map::new();
    for pair in &options.arg {
        let Some((name, text)) = pair.split_once('=') else {
            let hint = "write --arg NAME=VALUE";
            return Err(UsageError::new("an --arg has no `=`", hint).into());
        };
        let kind = action.and_then(|action| declared(action, name));
        let value = typed(kind, text);
        match (kind, arguments.get_mut(name)) {
            // An array may be given item by item.
            (Some(ArgumentType::Array), Some(Value::Array(items))) => match value {
                Value::Array(more) => items.extend(more),
                one => items.push(one),
            },
            // What the action does not declare is told by the check of arguments, which knows what would be right.
            (None, Some(_)) => {}
            (Some(_), Some(_)) => {
                return Err(UsageError::new(
                    format!("argument `{name}` is given twice"),
                    "give it once; only an array may be given item by item",
                )
                .into());
            }
            (_, None) => {
                arguments.insert(name.to_owned(), value);
            }
        }
    }
    Ok(Value::Object(arguments))
}

fn whole(json: &str) -> anyhow::Result<Value> {
    let text = if json == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text)?;
        text
    } else {
        json.to_owned()
    };
    // The text itself stays out of the message: it may hold anything.
    json::parse(&text).map_err(|error| {
        UsageError::new(format!("--args: {error}"), "write one JSON object, in single quotes for the shell").into()
    })
}

fn declared(action: &ActionManifest, name: &str) -> Option<ArgumentType> {
    let plain = |name: &str| name.to_lowercase().replace(['-', '_'], "");
    let exact = action.args.iter().find(|argument| argument.name == name);
    exact.or_else(|| action.args.iter().find(|argument| plain(&argument.name) == plain(name))).map(|found| found.kind)
}

fn typed(kind: Option<ArgumentType>, text: &str) -> Value {
    let as_json = || serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
    match kind {
        None | Some(ArgumentType::String | ArgumentType::Path) => Value::from(text),
        Some(ArgumentType::Array) => match serde_json::from_str::<Value>(text) {
            Ok(Value::Array(items)) => Value::Array(items),
            Ok(Value::String(_)) | Err(_) => Value::Array(vec![Value::from(text)]),
            Ok(other) => Value::Array(vec![other]),
        },
        Some(ArgumentType::Integer | ArgumentType::Number | ArgumentType::Boolean | ArgumentType::Object) => as_json(),
    }
}
