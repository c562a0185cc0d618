//! The JSON Schema of an action's arguments.

use gatelatch_registry::catalog::ActionManifest;
use serde_json::{Map, Value, json};

/// An object schema, properties in the manifest's order.
pub(crate) fn input_schema(action: &ActionManifest) -> Value {
    let mut properties = Map::new();
    for argument in &action.args {
        let mut property = Map::new();
        property.insert("type".to_owned(), json!(argument.kind.json_type()));
        if !argument.description.is_empty() {
            property.insert("description".to_owned(), json!(argument.description));
        }
        if !argument.choices.is_empty() {
            property.insert("enum".to_owned(), json!(argument.choices));
        }
        for (key, value) in [("minimum", &argument.minimum), ("maximum", &argument.maximum)] {
            if let Some(value) = value {
                property.insert(key.to_owned(), json!(value));
            }
        }
        if let Some(pattern) = &argument.pattern {
            property.insert("pattern".to_owned(), json!(pattern));
        }
        if let Some(items) = &argument.items {
            property.insert("items".to_owned(), items.clone());
        }
        if let Some(default) = &argument.default {
            property.insert("default".to_owned(), default.clone());
        }
        properties.insert(argument.name.clone(), Value::Object(property));
    }
    let required: Vec<&str> =
        action.args.iter().filter(|argument| argument.required).map(|argument| argument.name.as_str()).collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}
