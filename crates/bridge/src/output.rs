//! Holds a result against the output schema that its action declares.

use gatelatch_registry::catalog::{ActionManifest, OutputManifest};
use jsonschema::error::ValidationErrorKind;
use serde_json::Value;

/// The first place where a result does not fit its declared schema; `None` when it fits or none is declared.
///
/// The sentence names the place and the rule, never the value that stands there.
pub fn mismatch(action: &ActionManifest, result: &Value) -> Option<String> {
    let Some(OutputManifest::Schema(schema)) = &action.output else { return None };
    let validator = match gatelatch_manifest::schema::validator(schema) {
        Ok(validator) => validator,
        // The manifest reader refuses such a schema, so this is a schema that it reads otherwise: say so, hide nothing.
        Err(_) => return Some("the declared output schema cannot be used".to_owned()),
    };
    validator.iter_errors(result).next().map(|error| {
        let place = error.instance_path().to_string();
        let place = if place.is_empty() { "the root".to_owned() } else { format!("`{place}`") };
        // A required name comes from the schema, not from the result.
        let what = match error.kind() {
            ValidationErrorKind::Required { property } => format!("{property} is missing"),
            _ => format!("rule `{}`", error.schema_path()),
        };
        format!("the result does not fit the declared output schema at {place}: {what}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn action(schema: Value) -> ActionManifest {
        ActionManifest { output: Some(OutputManifest::Schema(schema)), ..nameless() }
    }

    fn nameless() -> ActionManifest {
        ActionManifest {
            name: None,
            description: String::new(),
            effect: None,
            because: None,
            approval: false,
            args: Vec::new(),
            output: None,
            examples: Vec::new(),
            triggers: Vec::new(),
            limits: Default::default(),
            cwd: None,
            env: Vec::new(),
            idempotent: false,
            open_world: false,
            narrow_with: Vec::new(),
            position: Default::default(),
        }
    }

    #[test]
    fn a_result_that_fits_passes_and_one_that_does_not_names_the_place_but_not_the_value() {
        let action =
            action(json!({"type": "object", "properties": {"rows": {"type": "array", "items": {"type": "integer"}}}}));
        assert_eq!(mismatch(&action, &json!({"rows": [1, 2]})), None);
        let fault = mismatch(&action, &json!({"rows": [1, "hunter2"]})).unwrap();
        assert!(fault.contains("/rows/1"), "{fault}");
        assert!(!fault.contains("hunter2"), "{fault}");
    }

    #[test]
    fn an_action_without_a_schema_takes_any_result() {
        assert_eq!(mismatch(&nameless(), &json!("text")), None);
    }
}
