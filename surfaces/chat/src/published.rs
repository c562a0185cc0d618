//! The published list: a function of the declaration alone, so that no manifest can change it unseen.
//!
//! Owns the shape of every published schema. Start at [`tools`].

use gatelatch_manifest::surface::{SurfaceArgumentManifest, SurfaceManifest, SurfaceToolManifest};
use gatelatch_protocol::surface::{Annotations, PublishedTool};
use serde_json::{Map, Value};

/// The tools of a declaration, in its order.
pub fn tools(surface: &SurfaceManifest) -> Vec<PublishedTool> {
    surface.tools.iter().map(tool).collect()
}

/// One tool as clients see it.
pub fn tool(tool: &SurfaceToolManifest) -> PublishedTool {
    PublishedTool {
        name: tool.name.clone(),
        title: tool.title.clone(),
        description: tool.description.clone(),
        input_schema: input_schema(&tool.args),
        output_schema: Some(tool.output_schema.clone()),
        annotations: Annotations {
            read_only: tool.read_only,
            destructive: !tool.reversible,
            idempotent: tool.idempotent,
            open_world: tool.open_world,
        },
    }
}

/// The schema of a tool's arguments: an object that takes no others.
pub fn input_schema(args: &[SurfaceArgumentManifest]) -> Map<String, Value> {
    let required: Vec<Value> = args.iter().filter(|arg| arg.required).map(|arg| arg.name.as_str().into()).collect();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    if !args.is_empty() {
        let properties: Map<String, Value> = args.iter().map(|arg| (arg.name.clone(), property(arg))).collect();
        schema.insert("properties".to_owned(), properties.into());
    }
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    schema.insert("additionalProperties".to_owned(), false.into());
    schema
}

/// The schema of one argument.
pub(crate) fn property(arg: &SurfaceArgumentManifest) -> Value {
    let number = |number: &Option<serde_json::Number>| number.clone().map(Value::Number);
    let keywords = [
        ("type", Some(arg.kind.json_type().into())),
        ("description", Some(arg.description.clone().into())),
        ("enum", (!arg.choices.is_empty()).then(|| arg.choices.clone().into())),
        ("minimum", number(&arg.minimum)),
        ("maximum", number(&arg.maximum)),
        ("pattern", arg.pattern.clone().map(Value::String)),
        ("items", arg.items.clone()),
        ("default", arg.default.clone()),
        ("x-mcp-header", arg.header.clone().map(Value::String)),
    ];
    keywords.into_iter().filter_map(|(name, value)| value.map(|value| (name.to_owned(), value))).collect()
}

#[cfg(test)]
mod tests {
    use gatelatch_manifest::document::ArgumentType;
    use serde_json::json;

    use super::*;

    fn arg(name: &str) -> SurfaceArgumentManifest {
        SurfaceArgumentManifest {
            name: name.to_owned(),
            target: name.to_owned(),
            kind: ArgumentType::String,
            required: false,
            description: "What it is.".to_owned(),
            default: None,
            choices: Vec::new(),
            minimum: None,
            maximum: None,
            pattern: None,
            items: None,
            header: None,
            position: Default::default(),
        }
    }

    #[test]
    fn a_tool_without_arguments_takes_none() {
        assert_eq!(Value::Object(input_schema(&[])), json!({ "type": "object", "additionalProperties": false }));
    }

    #[test]
    fn every_keyword_of_an_argument_is_published_and_a_path_is_text() {
        let path = SurfaceArgumentManifest { kind: ArgumentType::Path, required: true, ..arg("path") };
        let rows = SurfaceArgumentManifest {
            kind: ArgumentType::Integer,
            target: "max-results".to_owned(),
            default: Some(100.into()),
            minimum: Some(1.into()),
            maximum: Some(1000.into()),
            header: Some("Rows".to_owned()),
            ..arg("rows")
        };
        let order = SurfaceArgumentManifest { choices: vec!["a".into(), "b".into()], ..arg("order") };
        assert_eq!(
            Value::Object(input_schema(&[path, rows, order])),
            json!({
                "type": "object",
                "properties": {
                    "path": { "type": "string", "description": "What it is." },
                    "rows": {
                        "type": "integer", "description": "What it is.", "minimum": 1, "maximum": 1000, "default": 100,
                        "x-mcp-header": "Rows"
                    },
                    "order": { "type": "string", "description": "What it is.", "enum": ["a", "b"] }
                },
                "required": ["path"],
                "additionalProperties": false
            })
        );
    }
}
