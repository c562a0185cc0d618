//! Makes a result that is too large smaller and still valid. What went is told in totals, with the arguments that would
//! have made it smaller.
//!
//! Owns the shape of a cut answer, and that it fits and satisfies its schema. How a value becomes smaller is the rule of
//! [`Tree`]; what must stay for a schema's sake is `protect`'s business. Start at [`cut`].

use gatelatch_runner::tree::{Guard, Place, Tree, json_bytes};
use jsonschema::{ValidationError, Validator};
use serde_json::{Map, Value, json};

use crate::output::{self, Fault};

pub use gatelatch_runner::tree::Shortened;

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
        Ok(large) => {
            let value = match large.answer(&Guard::default()) {
                Some((value, _)) => value,
                None => large.told(Map::new(), 2, &[]),
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
    let large = match Large::new(value, shortened, max_bytes, narrow_with) {
        Err(value) => return Ok(Cut { value, was_cut: false }),
        Ok(large) => large,
    };
    let mut guard = Guard::default();
    let mut fault = Fault { place: "the root".to_owned(), rule: "nothing of it can go".to_owned() };
    for _ in 0..MOST_ROUNDS {
        let Some((value, cuts)) = large.answer(&guard) else { break };
        let errors: Vec<ValidationError<'_>> = validator.iter_errors(&value).take(MOST_ERRORS).collect();
        let Some(first) = errors.first() else { return Ok(Cut { value, was_cut: true }) };
        fault = Fault::of(first);
        let cuts = protect::Cuts { tree: &large.tree, cuts: &cuts };
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
    /// An object, as far as it is there.
    tree: Tree,
    /// The size of the whole.
    bytes: u64,
    max_bytes: usize,
    narrow_with: &'a [String],
}

impl<'a> Large<'a> {
    /// Gives a value back that is not too large and from which nothing is missing.
    fn new(
        value: Value,
        shortened: Option<&Shortened>,
        max_bytes: usize,
        narrow_with: &'a [String],
    ) -> Result<Large<'a>, Value> {
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
        Ok(Large { tree, bytes, max_bytes, narrow_with })
    }

    /// The largest answer that is small enough, and from where something went; `None` when the guard does not let it
    /// become so small.
    fn answer(&self, guard: &Guard) -> Option<(Value, Vec<Place>)> {
        let mut budget = self.max_bytes;
        for _ in 0..MOST_FITTINGS {
            let mut kept = self.tree.clone();
            kept.shrink(budget, guard);
            let kept_bytes = kept.bytes();
            if kept_bytes > budget {
                return None;
            }
            let (value, cuts) = kept.into_value();
            let Value::Object(map) = value else { return None };
            let answer = self.told(map, kept_bytes, &cuts);
            let too_much = json_bytes(&answer).saturating_sub(self.max_bytes);
            if too_much == 0 {
                return Some((answer, cuts));
            }
            budget = budget.min(kept_bytes).checked_sub(too_much)?;
        }
        None
    }

    /// What is left, with what it says of itself.
    fn told(&self, mut left: Map<String, Value>, kept_bytes: usize, cuts: &[Place]) -> Value {
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
        left.insert(CUT_KEY.to_owned(), said);
        Value::Object(left)
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
}
