//! Whether a value is one that an argument takes.
//!
//! The one place that says so: defaults, choices and examples in manifests and the arguments of calls are all held to
//! it. Coerces nothing but a whole float to the integer that it is. Messages name types, bounds and choices, never the
//! value, which may be long or secret. Start at [`fit`].

use regex::Regex;
use serde_json::{Number, Value};

use crate::diagnostic::quoted;
use crate::document::{ArgumentManifest, ArgumentType};
use crate::schema;

/// The ways in which a value can fail to fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MisfitRule {
    /// It has another type.
    WrongType,
    /// It is none of the declared choices.
    NotAChoice,
    /// The number is too small or too large.
    OutOfRange,
    /// The text does not match the pattern.
    NoMatch,
    /// Something inside an array is wrong.
    Nested,
    /// A positional value begins with `-` and may not.
    LeadingDash,
    /// Text holds a NUL character.
    Nul,
}

/// One way in which a value fails to fit its argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// Which way.
    pub rule: MisfitRule,
    /// Where inside the value, as a JSON Pointer; empty for the value itself.
    pub pointer: String,
    /// What is wrong, to be read after the argument's name: `must be an integer, and text was given`.
    pub message: String,
}

/// The most characters of a list of choices, or of a nested fault, that a message tells.
const MOST_TOLD: usize = 300;
/// Integers beyond this are not told apart by a float.
const EXACT_IN_FLOAT: f64 = 9_007_199_254_740_992.0;
/// How much memory a compiled pattern may take.
const PATTERN_SIZE: usize = 1 << 20;

/// The value as the argument takes it, or every way in which it does not fit. Null fits nothing: whoever reads null as
/// absent asks no question here.
pub fn fit(argument: &ArgumentManifest, value: &Value) -> Result<Value, Vec<Misfit>> {
    let Some(value) = typed(argument.kind, value) else { return Err(vec![wrong_type(argument.kind, value)]) };
    let mut misfits = Vec::new();
    misfits.extend(not_a_choice(argument, &value));
    misfits.extend(out_of_range(argument, &value));
    misfits.extend(unpassable(argument, &value));
    misfits.extend(no_match(argument, &value));
    misfits.extend(nested(argument, &value));
    if misfits.is_empty() { Ok(value) } else { Err(misfits) }
}

/// A pattern as this version reads it: in linear time, within bounds, searched for anywhere in the text.
pub fn pattern(text: &str) -> Result<Regex, regex::Error> {
    regex::RegexBuilder::new(text).size_limit(PATTERN_SIZE).dfa_size_limit(PATTERN_SIZE).build()
}

/// Whether two JSON values are equal as JSON Schema sees it: 1 and 1.0 are one number.
pub fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            one == other || (is_float(one) != is_float(other) && one.as_f64() == other.as_f64())
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| equal(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, value)| other.get(key).is_some_and(|other| equal(value, other)))
        }
        _ => one == other,
    }
}

fn is_float(number: &Number) -> bool {
    number.as_i64().is_none() && number.as_u64().is_none()
}

/// The value in the argument's type, if it has it.
fn typed(kind: ArgumentType, value: &Value) -> Option<Value> {
    match (kind, value) {
        (ArgumentType::Integer, Value::Number(number)) => whole(number).map(Value::Number),
        (ArgumentType::String | ArgumentType::Path, Value::String(_))
        | (ArgumentType::Number, Value::Number(_))
        | (ArgumentType::Boolean, Value::Bool(_))
        | (ArgumentType::Array, Value::Array(_))
        | (ArgumentType::Object, Value::Object(_)) => Some(value.clone()),
        _ => None,
    }
}

/// An integer of at most 64 bits, `42.0` among them.
fn whole(number: &Number) -> Option<Number> {
    if !is_float(number) {
        return Some(number.clone());
    }
    let float = number.as_f64()?;
    let exact = float.fract() == 0.0 && float.abs() <= EXACT_IN_FLOAT;
    // The float is whole and within 2^53, so that the cast is exact.
    exact.then(|| Number::from(float as i64))
}

fn wrong_type(kind: ArgumentType, value: &Value) -> Misfit {
    let due = match kind {
        ArgumentType::String => "text",
        ArgumentType::Integer => "an integer of at most 64 bits",
        ArgumentType::Number => "a number",
        ArgumentType::Boolean => "true or false",
        ArgumentType::Array => "an array",
        ArgumentType::Object => "an object",
        ArgumentType::Path => "text (a path)",
    };
    let given = match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) if kind == ArgumentType::Integer => "another number",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    let hint = match (kind, value) {
        // Only where the text reads as a value of the type: a word that means something else gains nothing by it.
        (ArgumentType::Integer | ArgumentType::Number, Value::String(text)) if text.parse::<f64>().is_ok() => {
            "; write it without quotes"
        }
        (ArgumentType::Boolean, Value::String(text)) if matches!(text.as_str(), "true" | "false") => {
            "; write it without quotes"
        }
        (ArgumentType::String | ArgumentType::Path, Value::Number(_) | Value::Bool(_)) => "; write it in quotes",
        _ => "",
    };
    Misfit {
        rule: MisfitRule::WrongType,
        pointer: String::new(),
        message: format!("must be {due}, and {given} was given{hint}"),
    }
}

fn not_a_choice(argument: &ArgumentManifest, value: &Value) -> Option<Misfit> {
    if argument.choices.is_empty() || argument.choices.iter().any(|choice| equal(choice, value)) {
        return None;
    }
    let choices: Vec<String> = argument.choices.iter().map(|choice| quoted(&plain(choice))).collect();
    let message = format!("must be one of {}", cut(&choices.join(", ")));
    Some(Misfit { rule: MisfitRule::NotAChoice, pointer: String::new(), message })
}

fn out_of_range(argument: &ArgumentManifest, value: &Value) -> Option<Misfit> {
    let number = value.as_number()?;
    let too_small =
        argument.minimum.as_ref().filter(|minimum| less(number, minimum)).map(|minimum| ("at least", minimum));
    let too_large =
        argument.maximum.as_ref().filter(|maximum| less(maximum, number)).map(|maximum| ("at most", maximum));
    let (bound, limit) = too_small.or(too_large)?;
    let message = format!("must be {bound} {limit}");
    Some(Misfit { rule: MisfitRule::OutOfRange, pointer: String::new(), message })
}

/// Whether one number is less than another; exact where both are integers.
pub(crate) fn less(one: &Number, other: &Number) -> bool {
    let exact = |number: &Number| number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
    match (exact(one), exact(other)) {
        (Some(one), Some(other)) => one < other,
        _ => one.as_f64() < other.as_f64(),
    }
}

/// What no argument vector can carry, or what a program would take for an option.
fn unpassable(argument: &ArgumentManifest, value: &Value) -> Option<Misfit> {
    let misfit = |rule, message: &str| Some(Misfit { rule, pointer: String::new(), message: message.to_owned() });
    match value {
        Value::String(text) if text.contains('\0') => misfit(MisfitRule::Nul, "must not hold a NUL character"),
        Value::String(text) if text.starts_with('-') && dash_matters(argument) => {
            misfit(MisfitRule::LeadingDash, "must not begin with `-`, which the program would take for an option")
        }
        Value::Number(number) if dash_matters(argument) && number.to_string().starts_with('-') => {
            misfit(MisfitRule::LeadingDash, "must not be negative: the program would take its `-` for an option")
        }
        _ => None,
    }
}

fn dash_matters(argument: &ArgumentManifest) -> bool {
    argument.positional && !argument.allow_dash
}

fn no_match(argument: &ArgumentManifest, value: &Value) -> Option<Misfit> {
    let (text, wanted) = (value.as_str()?, argument.pattern.as_deref()?);
    let message = match pattern(wanted) {
        Ok(regex) if regex.is_match(text) => return None,
        Ok(_) => format!("must match the pattern {}", quoted(wanted)),
        Err(_) => "cannot be checked: the manifest's pattern is no regular expression".to_owned(),
    };
    Some(Misfit { rule: MisfitRule::NoMatch, pointer: String::new(), message })
}

fn nested(argument: &ArgumentManifest, value: &Value) -> Vec<Misfit> {
    const MOST: usize = 20;
    let (Some(items), Some(values)) = (&argument.items, value.as_array()) else { return Vec::new() };
    let Ok(validator) = schema::validator(items) else {
        let message = "cannot be checked: the manifest's `items` is no usable schema".to_owned();
        return vec![Misfit { rule: MisfitRule::Nested, pointer: String::new(), message }];
    };
    let faults_of = |(index, item)| {
        let faults: Vec<Misfit> = validator
            .iter_errors(item)
            .take(MOST)
            .map(|error| Misfit {
                rule: MisfitRule::Nested,
                pointer: format!("/{index}{}", error.instance_path()),
                message: format!(
                    "has a fault at `/{index}{}`: {}",
                    error.instance_path(),
                    cut(&error.masked().to_string())
                ),
            })
            .collect();
        faults
    };
    values.iter().enumerate().flat_map(faults_of).take(MOST).collect()
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MOST_TOLD) {
        Some((index, _)) => format!("{}…", text.get(..index).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Position;
    use serde_json::json;

    fn argument(kind: ArgumentType) -> ArgumentManifest {
        ArgumentManifest {
            name: "a".to_owned(),
            kind,
            required: false,
            description: String::new(),
            default: None,
            choices: Vec::new(),
            minimum: None,
            maximum: None,
            pattern: None,
            items: None,
            positional: false,
            allow_dash: false,
            negatable: false,
            position: Position::default(),
        }
    }

    fn rules(argument: &ArgumentManifest, value: Value) -> Vec<MisfitRule> {
        fit(argument, &value).err().unwrap_or_default().into_iter().map(|misfit| misfit.rule).collect()
    }

    #[test]
    fn nothing_is_coerced_but_a_whole_float() {
        let integer = argument(ArgumentType::Integer);
        assert_eq!(fit(&integer, &json!(42.0)), Ok(json!(42)));
        assert_eq!(fit(&integer, &json!(-0.0)), Ok(json!(0)));
        assert_eq!(fit(&integer, &json!(u64::MAX)), Ok(json!(u64::MAX)));
        assert_eq!(fit(&integer, &json!(i64::MIN)), Ok(json!(i64::MIN)));
        for wrong in [json!("5"), json!(1.5), json!(1e19), json!(true), json!(null), json!([1])] {
            assert_eq!(rules(&integer, wrong.clone()), [MisfitRule::WrongType], "{wrong}");
        }
        assert_eq!(rules(&argument(ArgumentType::Boolean), json!("true")), [MisfitRule::WrongType]);
        assert_eq!(rules(&argument(ArgumentType::String), json!(5)), [MisfitRule::WrongType]);
        assert_eq!(fit(&argument(ArgumentType::Number), &json!(5)), Ok(json!(5)));
    }

    #[test]
    fn a_wrong_type_says_what_was_due_and_never_the_value() {
        let message = |kind, value: Value| fit(&argument(kind), &value).unwrap_err().remove(0).message;
        assert_eq!(
            message(ArgumentType::Integer, json!("s3cret")),
            "must be an integer of at most 64 bits, and text was given"
        );
        assert_eq!(
            message(ArgumentType::Integer, json!("5")),
            "must be an integer of at most 64 bits, and text was given; write it without quotes"
        );
        assert_eq!(message(ArgumentType::String, json!(5)), "must be text, and a number was given; write it in quotes");
        assert_eq!(message(ArgumentType::Array, json!({"k": "s3cret"})), "must be an array, and an object was given");
    }

    #[test]
    fn ranges_choices_and_patterns_are_all_told_at_once() {
        let mut text = argument(ArgumentType::String);
        text.choices = vec![json!("abc"), json!("-d")];
        text.pattern = Some("^[a-z]+$".to_owned());
        text.positional = true;
        assert_eq!(rules(&text, json!("abc")), []);
        assert_eq!(rules(&text, json!("-d")), [MisfitRule::LeadingDash, MisfitRule::NoMatch]);
        assert_eq!(rules(&text, json!("X\0")), [MisfitRule::NotAChoice, MisfitRule::Nul, MisfitRule::NoMatch]);
        text.allow_dash = true;
        assert_eq!(rules(&text, json!("-d")), [MisfitRule::NoMatch]);

        let mut number = argument(ArgumentType::Number);
        number.minimum = Number::from_f64(0.5);
        number.maximum = Some(Number::from(u64::MAX));
        assert_eq!(rules(&number, json!(0.4)), [MisfitRule::OutOfRange]);
        assert_eq!(rules(&number, json!(1)), []);
        number.choices = vec![json!(1)];
        assert_eq!(rules(&number, json!(1.0)), []);
    }

    #[test]
    fn a_pattern_is_searched_for_anywhere_in_the_text() {
        let mut text = argument(ArgumentType::Path);
        text.pattern = Some("\\.xlsx$".to_owned());
        assert_eq!(rules(&text, json!("a/b.xlsx")), []);
        assert_eq!(rules(&text, json!("a/b.csv")), [MisfitRule::NoMatch]);
    }

    #[test]
    fn a_nested_fault_has_its_pointer_and_hides_the_value() {
        let mut array = argument(ArgumentType::Array);
        array.items = Some(json!({"type": "object", "properties": {"n": {"type": "integer"}}}));
        let misfits = fit(&array, &json!([{"n": 1}, {"n": "s3cret"}])).unwrap_err();
        assert_eq!(misfits.len(), 1);
        assert_eq!((misfits[0].rule, misfits[0].pointer.as_str()), (MisfitRule::Nested, "/1/n"));
        assert!(!misfits[0].message.contains("s3cret"), "{}", misfits[0].message);
    }

    #[test]
    fn a_negative_number_in_a_place_of_its_own_is_an_option_to_the_program() {
        let mut number = argument(ArgumentType::Integer);
        number.positional = true;
        assert_eq!(rules(&number, json!(-1)), [MisfitRule::LeadingDash]);
        assert_eq!(rules(&number, json!(1)), []);
    }
}
