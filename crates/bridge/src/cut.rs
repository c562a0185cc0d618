//! Makes a result that is too large smaller and still valid. What went is told in totals, with the arguments that would
//! have made it smaller.
//!
//! Owns the shape of a cut answer, and that it fits and satisfies its schema. How a value becomes smaller is the rule of
//! [`Tree`]; what must stay for a schema's sake is `protect`'s business. Start at [`cut`].

use gatelatch_runner::tree::{Guard, Place, Tree};
use jsonschema::{ValidationError, Validator};
use serde_json::{Value, json};

use crate::output::{self, Fault};

pub use gatelatch_runner::tree::{Shortened, json_bytes};

mod protect;

/// The key under which a cut result says what went.
pub const CUT_KEY: &str = "_cut";

/// How many cut places are told.
const MAX_PARTS: usize = 8;
/// The longest JSON Pointer of a cut place that is told, in bytes.
const LONGEST_POINTER: usize = 256;
/// How often a result is cut anew because what it says of itself took more room than was left for it.
const MOST_FITTINGS: usize = 8;
/// How often a result is cut anew because it did not satisfy its schema.
const MOST_ROUNDS: usize = 64;
/// Out of how many times as much as can be shown the cut chooses what stays.
const REACH: usize = 32;
/// How many of the places are looked at in one round at which it does not.
const MOST_ERRORS: usize = 64;

/// A result that fits.
#[derive(Clone, Debug, PartialEq)]
pub struct Cut {
    /// What is left of it.
    pub value: Value,
    /// Whether something went; then the value says so under [`CUT_KEY`].
    pub was_cut: bool,
}

/// Why a result cannot be shown. Names the place and the rule, never the value that stands there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CutError {
    /// Whole, too, it would not satisfy its schema.
    #[error("the result does not fit the declared output schema at {place}: {rule}")]
    BreaksSchema {
        /// A JSON Pointer in backticks, or `the root`.
        place: String,
        /// What is wrong there.
        rule: String,
    },
    /// Nothing that is small enough satisfies the schema.
    #[error(
        "the result is too large: {bytes} bytes, {max_bytes} allowed, and no smaller part of it satisfies the declared output schema at {place}: {rule}"
    )]
    CannotFit {
        /// Its size.
        bytes: u64,
        /// What is allowed.
        max_bytes: usize,
        /// A JSON Pointer in backticks, or `the root`.
        place: String,
        /// What is wrong there once it is cut.
        rule: String,
        /// The arguments that make the result smaller.
        narrow_with: Vec<String>,
    },
}

impl CutError {
    /// What to do about it.
    pub fn help(&self) -> String {
        match self {
            CutError::BreaksSchema { .. } => {
                "whoever maintains the tool can mend its output or the declared schema".to_owned()
            }
            CutError::CannotFit { narrow_with, .. } => way_out(narrow_with),
        }
    }
}

/// A result of at most `max_bytes` as compact JSON. `shortened` is what is missing from it already.
///
/// A value that fits comes back unchanged. One that does not becomes an object (a root that is none is put under
/// `result`) with [`CUT_KEY`]: `{bytes, kept_bytes, parts: [{at, kept, of, unit}], hint}`, and `more_parts` where more
/// places were cut than are told. A limit under 1024 bytes may be too small for that alone.
pub fn cut(value: Value, shortened: Option<&Shortened>, max_bytes: usize, narrow_with: &[String]) -> Cut {
    match Large::new(value, shortened, max_bytes, narrow_with) {
        Err(value) => Cut { value, was_cut: false },
        Ok((large, tree)) => {
            let value = match large.answer(tree, &Guard::default()) {
                Some((value, _)) => value,
                None => json!({ CUT_KEY: large.said(2, &[]) }),
            };
            Cut { value, was_cut: true }
        }
    }
}

/// [`cut`], so that the result satisfies a schema, which must admit [`CUT_KEY`].
///
/// What the cut breaks is protected, and the cut is made elsewhere. Where that does not help there is no result: it is
/// an error, and so is a result that breaks the schema by itself. Of a result that was shortened already only what is
/// there is held against the schema.
pub fn cut_to_schema(
    value: Value,
    shortened: Option<&Shortened>,
    max_bytes: usize,
    narrow_with: &[String],
    validator: &Validator,
) -> Result<Cut, CutError> {
    let missing = shortened.map_or(&[][..], |shortened| &shortened.places);
    if !validator.is_valid(&value)
        && let Some(fault) = output::own_fault(validator, &value, missing)
    {
        return Err(CutError::BreaksSchema { place: fault.place, rule: fault.rule });
    }
    let (large, mut tree) = match Large::new(value, shortened, max_bytes, narrow_with) {
        Err(value) => return Ok(Cut { value, was_cut: false }),
        Ok(large) => large,
    };
    // What lies far beyond all that can be shown would only be copied again and again.
    tree.shrink(max_bytes.saturating_mul(REACH), &Guard::default());
    let mut guard = Guard::default();
    let mut fault = Fault { place: "the root".to_owned(), rule: "nothing that small is left".to_owned() };
    for _ in 0..MOST_ROUNDS {
        let Some((value, cuts)) = large.answer(tree.clone(), &guard) else { break };
        let errors: Vec<ValidationError<'_>> = validator.iter_errors(&value).take(MOST_ERRORS).collect();
        let Some(first) = errors.first() else {
            // Nothing at all satisfies most schemas, and helps nobody.
            if cuts.iter().any(|cut| cut.at.is_empty() && cut.kept == 0) {
                break;
            }
            return Ok(Cut { value, was_cut: true });
        };
        fault = Fault::of(first);
        let cuts = protect::Cuts { tree: &tree, cuts: &cuts };
        // Every one of them is heard, so that a schema of many rules takes few rounds.
        let protected = errors.iter().filter(|error| protect::protect(&mut guard, &cuts, error)).count();
        if protected == 0 {
            break;
        }
    }
    Err(CutError::CannotFit {
        bytes: large.bytes,
        max_bytes,
        place: fault.place,
        rule: fault.rule,
        narrow_with: narrow_with.to_vec(),
    })
}

/// A result that has to be cut.
struct Large<'a> {
    /// The size of the whole.
    bytes: u64,
    max_bytes: usize,
    narrow_with: &'a [String],
}

impl<'a> Large<'a> {
    /// The result as an object, as far as it is there. Gives a value back that is not too large and from which nothing is missing.
    fn new(
        value: Value,
        shortened: Option<&Shortened>,
        max_bytes: usize,
        narrow_with: &'a [String],
    ) -> Result<(Large<'a>, Tree), Value> {
        let there = json_bytes(&value);
        if shortened.is_none() && there <= max_bytes {
            return Err(value);
        }
        let missing = shortened.cloned().unwrap_or(Shortened { bytes: there as u64, places: Vec::new() });
        let bytes = missing.bytes;
        let tree = match value {
            Value::Object(_) => Tree::new(value, &missing.places),
            other => Tree::new(json!({ "result": other }), &missing.within("result", 0).places),
        };
        Ok((Large { bytes, max_bytes, narrow_with }, tree))
    }

    /// The largest answer that is small enough, and from where something went; `None` when the guard does not let it
    /// become so small.
    fn answer(&self, mut left: Tree, guard: &Guard) -> Option<(Value, Vec<Place>)> {
        let mut budget = self.max_bytes;
        for _ in 0..MOST_FITTINGS {
            left.shrink(budget, guard);
            if left.bytes() > budget {
                return None;
            }
            let cuts = left.places();
            let said = self.said(left.bytes(), &cuts);
            // With its name, and the comma before it.
            let size = left.bytes() + json_bytes(&said) + CUT_KEY.len() + 4;
            let too_much = size.saturating_sub(self.max_bytes);
            if too_much == 0 {
                let mut value = left.into_value();
                value[CUT_KEY] = said;
                return Some((value, cuts));
            }
            budget = left.bytes().checked_sub(too_much)?;
        }
        None
    }

    /// What a cut answer says of itself.
    fn said(&self, kept_bytes: usize, cuts: &[Place]) -> Value {
        let told = cuts.iter().filter(|place| place.at.len() <= LONGEST_POINTER).take(MAX_PARTS);
        let parts: Vec<Value> = told
            .map(|Place { at, kept, of, unit }| json!({ "at": at, "kept": kept, "of": of, "unit": unit.as_str() }))
            .collect();
        let mut said = json!({ "bytes": self.bytes, "kept_bytes": kept_bytes });
        if parts.len() < cuts.len() {
            said["more_parts"] = (cuts.len() - parts.len()).into();
        }
        said["parts"] = parts.into();
        said["hint"] = format!("the result was larger than an answer may be; {}", way_out(self.narrow_with)).into();
        said
    }
}

fn way_out(narrow_with: &[String]) -> String {
    if narrow_with.is_empty() {
        return "ask for less".to_owned();
    }
    let names: Vec<String> = narrow_with.iter().map(|name| format!("`{name}`")).collect();
    format!("narrow it with {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatelatch_runner::tree::Unit;
    use serde_json::Map;

    #[test]
    fn a_result_that_fits_is_unchanged() {
        let value = json!({"rows": [[1, 2]]});
        assert_eq!(cut(value.clone(), None, 1000, &[]), Cut { value, was_cut: false });
    }

    #[test]
    fn a_long_array_loses_whole_items_at_its_end_and_says_how_many() {
        let rows: Vec<Value> = (0..10_000).map(|n| json!([n, "row"])).collect();
        let Cut { value: answer, was_cut } =
            cut(json!({"sheet": "S", "rows": rows, "truncated": false}), None, 4096, &["max-results".to_owned()]);
        assert!(was_cut);
        assert!(json_bytes(&answer) <= 4096);
        assert_eq!(answer["sheet"], "S");
        let kept = answer["rows"].as_array().unwrap().len();
        assert!(kept > 100, "{kept}");
        assert_eq!(answer[CUT_KEY]["parts"][0], json!({"at": "/rows", "kept": kept, "of": 10_000, "unit": "items"}));
        assert!(answer[CUT_KEY]["hint"].as_str().unwrap().contains("`max-results`"));
    }

    #[test]
    fn a_long_text_is_cut_between_characters_whatever_they_cost() {
        for text in ["é".repeat(50_000), "\u{1}".repeat(50_000), "\"".repeat(50_000), "🦀".repeat(20_000)] {
            let Cut { value: answer, was_cut } = cut(json!({ "text": text }), None, 2048, &[]);
            assert!(was_cut);
            assert!(json_bytes(&answer) <= 2048);
            assert!(answer["text"].as_str().unwrap().chars().count() > 100);
        }
    }

    #[test]
    fn a_root_that_is_no_object_is_put_under_result() {
        let Cut { value: answer, was_cut } = cut(Value::from("x".repeat(9000)), None, 1024, &[]);
        assert!(was_cut);
        assert!(answer["result"].is_string());
        assert!(json_bytes(&answer) <= 1024);
    }

    #[test]
    fn deep_and_wide_results_still_end_within_the_limit() {
        let wide: Map<String, Value> = (0..100).map(|n| (format!("key{n}"), Value::from("y".repeat(500)))).collect();
        let answer = cut(json!({"a": {"b": [wide]}}), None, 8192, &[]).value;
        assert!(json_bytes(&answer) <= 8192, "{}", json_bytes(&answer));
        assert_eq!(answer["a"]["b"][0].as_object().unwrap().len(), 100);
    }

    fn schema(schema: Value) -> Validator {
        gatelatch_manifest::schema::validator(&schema).unwrap()
    }

    /// The value cut to 2000 bytes: it is small enough and satisfies the schema.
    fn to_schema(value: &Value, declared: Value) -> Value {
        let declared = schema(declared);
        let cut = cut_to_schema(value.clone(), None, 2000, &["count".to_owned()], &declared);
        let Cut { value: left, was_cut } = cut.unwrap_or_else(|error| panic!("{error}"));
        assert!(was_cut);
        assert!(declared.is_valid(&left), "{left}");
        assert!(json_bytes(&left) <= 2000);
        left
    }

    fn refused(value: &Value, shortened: Option<&Shortened>, declared: Value) -> CutError {
        cut_to_schema(value.clone(), shortened, 2000, &["count".to_owned()], &schema(declared)).unwrap_err()
    }

    #[test]
    fn a_result_that_fits_its_schema_and_the_limit_is_unchanged() {
        let value = json!({"rows": [[1, 2]]});
        let declared = schema(
            json!({"type": "object", "required": ["rows"], "additionalProperties": false, "properties": {"rows": {}}}),
        );
        assert_eq!(cut_to_schema(value.clone(), None, 1000, &[], &declared), Ok(Cut { value, was_cut: false }));
    }

    #[test]
    fn what_a_schema_asks_for_stays_and_the_cut_is_made_elsewhere() {
        let long = "x".repeat(1500);
        let rows: Vec<Value> = (0..500).map(|n| json!([n, "a row"])).collect();
        let value = json!({"id": format!("{long}!"), "rows": rows, "note": "y".repeat(3000), "total": 500});
        let rule = |rule: Value| {
            let mut properties =
                json!({"id": {"type": "string"}, "rows": {"type": "array"}, "note": {"type": "string"}});
            for (name, part) in rule.as_object().unwrap() {
                properties[name] = part.clone();
            }
            json!({"type": "object", "required": ["id", "rows", "note", "total"], "properties": properties})
        };
        for id in [
            json!({"pattern": "!$"}),
            json!({"const": format!("{long}!")}),
            json!({"enum": ["other", format!("{long}!")]}),
            json!({"minLength": 1500}),
            json!({"anyOf": [{"type": "null"}, {"maxLength": 3}, {"pattern": "^x+!$"}]}),
            json!({"if": {"minLength": 1000}, "then": {"pattern": "!$"}, "else": {"const": "none"}}),
            json!({"not": {"maxLength": 1000}}),
        ] {
            let left = to_schema(&value, rule(json!({ "id": id })));
            assert!(left["id"].as_str().unwrap().len() >= 1001, "{id}");
        }
        for (rows, least) in [
            (json!({"minItems": 50}), 50),
            (json!({"contains": {"const": [60, "a row"]}}), 61),
            (json!({"oneOf": [{"type": "string"}, {"minItems": 40}, {"maxItems": 3}]}), 40),
            (json!({"items": {"minItems": 2, "prefixItems": [{"type": "integer"}, {"pattern": "row$"}]}}), 1),
            (json!({"uniqueItems": true}), 1),
        ] {
            let left = to_schema(&value, rule(json!({ "rows": rows })));
            assert!(left["rows"].as_array().unwrap().len() >= least, "{rows}");
        }
        let both = rule(json!({"rows": {"minItems": 30}, "note": {"minLength": 700}}));
        assert_eq!(to_schema(&value, both)["total"], 500);
    }

    #[test]
    fn required_members_of_a_table_stay() {
        let mut value: Map<String, Value> = (0..1000).map(|n| (format!("n{n}"), json!("some text"))).collect();
        value.insert("total".to_owned(), 1000.into());
        let left = to_schema(
            &Value::Object(value),
            json!({"type": "object", "required": ["n7", "total"], "minProperties": 9}),
        );
        assert_eq!(left["total"], 1000);
    }

    #[test]
    fn rules_for_items_hold_for_each_that_stays() {
        let item = |n: usize| json!({"id": format!("{}.", "i".repeat(90)), "text": "x".repeat(4000), "n": n});
        let value = json!({"items": (0..3).map(item).collect::<Vec<_>>()});
        let declared = json!({"type": "object", "properties": {"items": {
            "type": "array",
            "minItems": 3,
            "items": {"required": ["id", "n"], "properties": {"id": {"pattern": "[.]$"}, "text": {"type": "string"}}},
        }}});
        let left = to_schema(&value, declared);
        assert!(left["items"][2]["text"].as_str().unwrap().len() > 300, "{left}");
    }

    #[test]
    fn nothing_that_is_small_enough_is_an_error_that_names_the_way_out() {
        let value = json!({"rows": vec![7; 5000]});
        for (rows, rule) in [
            (json!({"minItems": 4000}), "minItems"),
            (json!({"contains": {"const": 8}}), "contains"),
            (json!({"const": vec![7; 5000]}), "const"),
        ] {
            let mut value = value.clone();
            if rule == "contains" {
                value["rows"].as_array_mut().unwrap().push(8.into());
            }
            let error = refused(&value, None, json!({"properties": {"rows": rows}}));
            let CutError::CannotFit { place, rule: told, bytes, .. } = &error else { panic!("{error:?}") };
            assert_eq!((place.as_str(), *bytes), ("`/rows`", json_bytes(&value) as u64));
            assert!(told.contains(rule), "{told}");
            assert_eq!(error.help(), "narrow it with `count`");
        }
    }

    #[test]
    fn a_schema_that_does_not_admit_what_a_cut_says_of_itself_takes_no_cut() {
        let value = json!({"rows": vec![7; 5000]});
        for declared in [
            json!({"properties": {"rows": {}}, "additionalProperties": false}),
            json!({"properties": {"rows": {}}, "additionalProperties": {"type": "string"}}),
            json!({"properties": {"rows": {}}, "unevaluatedProperties": false}),
            json!({"maxProperties": 1}),
        ] {
            assert!(matches!(refused(&value, None, declared), CutError::CannotFit { .. }));
        }
        to_schema(
            &value,
            json!({"properties": {"rows": {}, "_cut": {"type": "object"}}, "additionalProperties": false}),
        );
    }

    #[test]
    fn a_result_that_breaks_its_schema_by_itself_is_told_so_without_its_value() {
        let rows: Vec<Value> = (0..900).map(Value::from).chain([json!("hunter2")]).collect();
        for value in [json!({"rows": [1, "hunter2"]}), json!({ "rows": rows })] {
            let error = refused(&value, None, json!({"properties": {"rows": {"items": {"type": "integer"}}}}));
            let CutError::BreaksSchema { place, rule } = &error else { panic!("{error:?}") };
            let last = value["rows"].as_array().unwrap().len() - 1;
            assert_eq!(
                (place.as_str(), rule.as_str()),
                (format!("`/rows/{last}`").as_str(), "rule `/properties/rows/items/type`")
            );
            assert!(!error.to_string().contains("hunter2"));
        }
    }

    #[test]
    fn what_was_missing_before_is_in_the_totals_and_is_not_the_tool_s_fault() {
        let place = |at: &str, kept, of, unit| Place { at: at.to_owned(), kept, of, unit };
        let shortened = Shortened {
            bytes: 5_000_000,
            places: vec![place("/rows", 100, 90_000, Unit::Items), place("/note", 1000, 70_000, Unit::Characters)],
        };
        let value = json!({"rows": (0..100).collect::<Vec<_>>(), "note": "x".repeat(1000), "n": 1});
        let Cut { value: left, was_cut } = cut(value.clone(), Some(&shortened), 64 * 1024, &[]);
        assert!(was_cut, "nothing had to go, and not all of it is there");
        assert_eq!(left["rows"], value["rows"]);
        assert_eq!(left[CUT_KEY]["bytes"], 5_000_000);
        assert_eq!(left[CUT_KEY]["parts"][1], json!({"at": "/note", "kept": 1000, "of": 70_000, "unit": "characters"}));
        let left = cut(value.clone(), Some(&shortened), 1000, &[]).value;
        assert_eq!(left[CUT_KEY]["parts"][0]["of"], 90_000);
        let error = refused(&value, Some(&shortened), json!({"properties": {"rows": {"minItems": 200}}}));
        assert!(matches!(error, CutError::CannotFit { bytes: 5_000_000, .. }), "{error:?}");
        let error = refused(&value, Some(&shortened), json!({"properties": {"n": {"type": "string"}}}));
        assert!(matches!(error, CutError::BreaksSchema { .. }), "{error:?}");
        let text = cut(
            Value::from("x"),
            Some(&Shortened { bytes: 900, places: vec![place("", 1, 898, Unit::Characters)] }),
            1000,
            &[],
        );
        assert_eq!(text.value[CUT_KEY]["parts"][0]["at"], "/result");
    }

    #[test]
    fn the_totals_themselves_are_bounded() {
        let long = "k".repeat(LONGEST_POINTER);
        let texts: Map<String, Value> = (0..100).map(|n| (format!("t{n}"), Value::from("y".repeat(500)))).collect();
        let left = cut(json!({ long: vec![1; 9000], "texts": texts }), None, 12_000, &[]).value;
        assert_eq!(left[CUT_KEY]["parts"].as_array().unwrap().len(), MAX_PARTS);
        assert!(left[CUT_KEY]["more_parts"].as_u64().unwrap() > 50, "{}", left[CUT_KEY]);
        for limit in (0..3000).step_by(7) {
            let left = cut(json!({"a": vec![1; 9000], "b": "x".repeat(9000)}), None, limit, &[]).value;
            assert!(json_bytes(&left) <= limit.max(1024), "{limit}");
        }
    }
}
