//! The JSON Schema of an action's arguments, as callers are shown it.
//!
//! Knows nothing of how a value is checked: that is [`crate::arguments`]. Start at [`input_schema`].

use gatelatch_manifest::document::{ActionManifest, ArgumentManifest};
use serde_json::{Map, Value, json};

/// An object schema with the arguments under the manifest's own names, in its order, and nothing else allowed.
pub fn input_schema(action: &ActionManifest) -> Value {
    let properties: Map<String, Value> =
        action.args.iter().map(|argument| (argument.name.clone(), argument_schema(argument))).collect();
    let required: Vec<&str> =
        action.args.iter().filter(|argument| argument.required).map(|argument| argument.name.as_str()).collect();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema.insert("additionalProperties".to_owned(), Value::Bool(false));
    Value::Object(schema)
}

fn argument_schema(argument: &ArgumentManifest) -> Value {
    let mut schema = Map::new();
    let mut insert = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            schema.insert(key.to_owned(), value);
        }
    };
    insert("type", Some(json!(argument.kind.json_type())));
    insert("description", (!argument.description.is_empty()).then(|| json!(argument.description)));
    insert("default", argument.default.clone());
    insert("enum", (!argument.choices.is_empty()).then(|| json!(argument.choices)));
    insert("minimum", argument.minimum.clone().map(Value::Number));
    insert("maximum", argument.maximum.clone().map(Value::Number));
    insert("pattern", argument.pattern.as_ref().map(|pattern| json!(pattern)));
    insert("items", argument.items.clone());
    // Without a value nothing would be passed, which is what leaving it out means.
    insert("minItems", (argument.required && argument.repeat.is_some()).then(|| json!(1)));
    Value::Object(schema)
}
