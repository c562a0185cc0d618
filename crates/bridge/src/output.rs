//! Holds a result against the output schema that its action declares.
//!
//! Owns what is said of a result that does not fit, and whether that is the result's own fault or comes from what is
//! missing of it. Start at [`mismatch`].

use gatelatch_registry::catalog::{ActionManifest, OutputManifest};
use gatelatch_runner::tree::{Place, Shortened};
use jsonschema::error::ValidationErrorKind;
use jsonschema::paths::LocationSegment;
use jsonschema::{ValidationError, Validator};
use serde_json::Value;

/// What to note of a result that was held against its declared schema: the first place where it does not fit, or that
/// not all of it was there. `None` when it fits, or when no schema is declared.
///
/// The sentence names the place and the rule, never the value that stands there.
pub fn mismatch(action: &ActionManifest, result: &Value, shortened: Option<&Shortened>) -> Option<String> {
    let Some(OutputManifest::Schema(schema)) = &action.output else { return None };
    let validator = match gatelatch_manifest::schema::validator(schema) {
        Ok(validator) => validator,
        // The manifest reader refuses such a schema, so this is a schema that it reads otherwise: say so, hide nothing.
        Err(_) => return Some("the declared output schema cannot be used".to_owned()),
    };
    let missing = shortened.map_or(&[][..], |shortened| &shortened.places);
    match own_fault(&validator, result, missing) {
        Some(Fault { place, rule }) => {
            Some(format!("the result does not fit the declared output schema at {place}: {rule}"))
        }
        None if missing.is_empty() => None,
        None => Some("only what is left of the result was held against the declared output schema".to_owned()),
    }
}

/// Where a result does not fit a schema, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// A JSON Pointer in backticks, or `the root`.
    pub(crate) place: String,
    pub(crate) rule: String,
}

impl Fault {
    pub(crate) fn of(error: &ValidationError<'_>) -> Fault {
        let place = error.instance_path().to_string();
        let place = if place.is_empty() { "the root".to_owned() } else { format!("`{place}`") };
        // A required name comes from the schema, not from the result.
        let rule = match error.kind() {
            ValidationErrorKind::Required { property } => format!("{property} is missing"),
            _ => format!("rule `{}`", error.schema_path()),
        };
        Fault { place, rule }
    }
}

/// The first fault that does not come from what is missing.
pub(crate) fn own_fault(validator: &Validator, result: &Value, missing: &[Place]) -> Option<Fault> {
    // All of them at once may take more room than the result.
    let first = validator.validate(result).err()?;
    let own = if is_own(&first, missing) {
        Some(first)
    } else {
        validator.iter_errors(result).find(|error| is_own(error, missing))
    };
    own.map(|error| Fault::of(&error))
}

/// Whether a result would break a rule with everything there that is missing, too.
///
/// What a rule says of a place depends on nothing but that place and what is within it, and on whether the rule applies.
/// That depends on something else only below a condition: in doubt it is not the result's fault.
fn is_own(error: &ValidationError<'_>, missing: &[Place]) -> bool {
    let place = error.instance_path().as_str();
    let is_within = |missing: &Place| {
        missing.at.strip_prefix(place).is_some_and(|below| below.is_empty() || below.starts_with('/'))
    };
    let is_condition = |step: &LocationSegment<'_>| match step {
        LocationSegment::Property(name) => matches!(name.as_ref(), "then" | "else"),
        LocationSegment::Index(_) => false,
    };
    missing.is_empty()
        || (!missing.iter().any(is_within) && !error.evaluation_path().segments().any(|step| is_condition(&step)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn action(schema: Value) -> ActionManifest {
        ActionManifest { output: Some(OutputManifest::Schema(schema)), ..nameless() }
    }

    fn nameless() -> ActionManifest {
        ActionManifest::new(None, "")
    }

    #[test]
    fn a_result_that_fits_passes_and_one_that_does_not_names_the_place_but_not_the_value() {
        let action =
            action(json!({"type": "object", "properties": {"rows": {"type": "array", "items": {"type": "integer"}}}}));
        assert_eq!(mismatch(&action, &json!({"rows": [1, 2]}), None), None);
        let fault = mismatch(&action, &json!({"rows": [1, "hunter2"]}), None).unwrap();
        assert!(fault.contains("/rows/1"), "{fault}");
        assert!(!fault.contains("hunter2"), "{fault}");
    }

    #[test]
    fn what_is_missing_of_a_result_is_not_its_fault_and_what_is_there_is() {
        let schema = json!({
            "type": "object",
            "required": ["total"],
            "properties": {
                "rows": {"type": "array", "minItems": 3, "items": {"type": "integer"}},
                "id": {"type": "string", "pattern": "!$"},
            },
            "if": {"properties": {"rows": {"minItems": 3}}},
            "else": {"properties": {"id": {"maxLength": 3}}},
        });
        let action = action(schema);
        let place = |at: &str| Place { at: at.to_owned(), kept: 1, of: 9, unit: gatelatch_runner::tree::Unit::Items };
        let note = |value: Value, missing: &[&str]| {
            let places = missing.iter().copied().map(place).collect();
            mismatch(&action, &value, Some(&Shortened { bytes: 99, places })).unwrap()
        };
        let told = "only what is left";
        assert!(note(json!({"rows": [1], "id": "long!", "total": 1}), &["/rows"]).starts_with(told), "a condition");
        assert!(note(json!({"rows": [1, 2, 3], "id": "x", "total": 1}), &["/id"]).starts_with(told));
        assert!(note(json!({"rows": [1, 2, 3]}), &[""]).starts_with(told));
        assert!(note(json!({"rows": [1, 2, "x"], "total": 1}), &["/rows"]).contains("`/rows/2`"));
        assert!(note(json!({"rows": [1, 2, 3], "id": "x", "total": 1}), &["/rows", "/i"]).contains("`/id`"));
    }

    #[test]
    fn an_action_without_a_schema_takes_any_result() {
        assert_eq!(mismatch(&nameless(), &json!("text"), None), None);
    }
}
