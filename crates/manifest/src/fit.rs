//! Whether a value is one that an argument takes.
//!
//! The one place that says so: defaults, choices and examples in manifests and the arguments of calls are all held to
//! it. Coerces nothing but a whole float to the integer that it is. Messages name types, bounds and choices, never the
//! value, which may be long or secret. Start at [`fit`].

use std::cell::OnceCell;

use jsonschema::{ValidationError, Validator};
use regex::Regex;
use serde_json::{Number, Value};

use crate::diagnostic::quoted;
use crate::document::{ArgumentManifest, ArgumentType, Repeat};
use crate::pattern;
use crate::schema;

/// The ways in which a value can fail to fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MisfitRule {
    /// It has another type.
    WrongType,
    /// It is none of the declared choices.
    NotAChoice,
    /// The number is too small or too large, or there are too few values.
    OutOfRange,
    /// The text does not match the pattern.
    NoMatch,
    /// Something inside an array is wrong.
    Nested,
    /// A value that stands without its name begins with `-` and may not.
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
/// The most faults inside one array that are told.
const MOST_NESTED: usize = 20;
/// Of a value made of more than this only the first fault is told.
const MOST_VALUES_FOR_ALL: usize = 2000;
/// Integers beyond this are not told apart by a float.
const EXACT_IN_FLOAT: f64 = 9_007_199_254_740_992.0;

/// The value as the argument takes it, or every way in which it does not fit. Null fits nothing: whoever reads null as
/// absent asks no question here.
pub fn fit(argument: &ArgumentManifest, value: &Value) -> Result<Value, Vec<Misfit>> {
    Fitting::new(argument).fit(value)
}

/// One argument to which several values are held, with what is worth making only once.
#[derive(Debug)]
pub(crate) struct Fitting<'a> {
    argument: &'a ArgumentManifest,
    pattern: OnceCell<Option<Regex>>,
    items: OnceCell<Option<Validator>>,
}

impl<'a> Fitting<'a> {
    pub(crate) fn new(argument: &'a ArgumentManifest) -> Fitting<'a> {
        Fitting { argument, pattern: OnceCell::new(), items: OnceCell::new() }
    }

    pub(crate) fn fit(&self, value: &Value) -> Result<Value, Vec<Misfit>> {
        let kind = self.argument.kind;
        let Some(value) = typed(kind, value) else { return Err(vec![wrong_type(kind, value)]) };
        let mut misfits = Vec::new();
        misfits.extend(not_a_choice(self.argument, &value));
        misfits.extend(out_of_range(self.argument, &value));
        misfits.extend(unpassable(self.argument, &value));
        misfits.extend(unpassable_items(self.argument, &value));
        misfits.extend(self.no_match(&value));
        misfits.extend(self.nested(&value));
        if misfits.is_empty() { Ok(value) } else { Err(misfits) }
    }

    fn no_match(&self, value: &Value) -> Option<Misfit> {
        let (text, wanted) = (value.as_str()?, self.argument.pattern.as_deref()?);
        let message = match self.pattern.get_or_init(|| pattern::compile(wanted).ok()) {
            Some(regex) if regex.is_match(text) => return None,
            Some(_) => format!("must match the pattern {}", quoted(wanted)),
            None => "cannot be checked: the manifest's pattern is no regular expression".to_owned(),
        };
        Some(misfit(MisfitRule::NoMatch, message))
    }

    fn nested(&self, value: &Value) -> Vec<Misfit> {
        let (Some(items), Some(values)) = (&self.argument.items, value.as_array()) else { return Vec::new() };
        match self.items.get_or_init(|| schema::validator(items).ok()) {
            Some(validator) => {
                values.iter().enumerate().flat_map(|item| nested_in(validator, item)).take(MOST_NESTED).collect()
            }
            None => {
                let message = "cannot be checked: the manifest's `items` is no usable schema".to_owned();
                vec![misfit(MisfitRule::Nested, message)]
            }
        }
    }
}

fn misfit(rule: MisfitRule, message: String) -> Misfit {
    Misfit { rule, pointer: String::new(), message }
}

fn nested_in(validator: &Validator, (index, item): (usize, &Value)) -> Vec<Misfit> {
    if validator.is_valid(item) {
        return Vec::new();
    }
    let told = |error: ValidationError<'_>| {
        let pointer = format!("/{index}{}", error.instance_path());
        let message = format!("has a fault at {}: {}", quoted(&pointer), cut(&error.masked().to_string()));
        Misfit { rule: MisfitRule::Nested, pointer, message }
    };
    if values_in(item) > MOST_VALUES_FOR_ALL {
        // Gathering every fault of a large value takes far more memory than the value.
        return validator.validate(item).err().map(told).into_iter().collect();
    }
    validator.iter_errors(item).take(MOST_NESTED).map(told).collect()
}

/// How many values a value is made of.
pub(crate) fn values_in(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(values_in).sum::<usize>() + 1,
        Value::Object(map) => map.values().map(values_in).sum::<usize>() + 1,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 1,
    }
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

/// A text that two values share exactly when they are [`equal`].
pub(crate) fn canonical(value: &Value) -> String {
    match value {
        Value::Number(number) => whole(number).unwrap_or_else(|| number.clone()).to_string(),
        Value::Array(items) => format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(",")),
        Value::Object(map) => {
            let mut pairs: Vec<String> =
                map.iter().map(|(key, value)| format!("{}:{}", Value::from(key.as_str()), canonical(value))).collect();
            pairs.sort();
            format!("{{{}}}", pairs.join(","))
        }
        Value::Null | Value::Bool(_) | Value::String(_) => value.to_string(),
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

/// A float that is whole and beyond what an integer of 64 bits holds: what JSON's readers make of a longer one.
fn is_beyond_64_bits(number: &Number) -> bool {
    number.as_f64().is_some_and(|float| float.fract() == 0.0 && !(-9.3e18..=1.9e19).contains(&float))
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
        Value::Number(number) if kind == ArgumentType::Integer && is_beyond_64_bits(number) => {
            "a whole number too large for 64 bits"
        }
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
    Some(misfit(MisfitRule::NotAChoice, message))
}

fn out_of_range(argument: &ArgumentManifest, value: &Value) -> Option<Misfit> {
    let number = value.as_number()?;
    let too_small =
        argument.minimum.as_ref().filter(|minimum| less(number, minimum)).map(|minimum| ("at least", minimum));
    let too_large =
        argument.maximum.as_ref().filter(|maximum| less(maximum, number)).map(|maximum| ("at most", maximum));
    let (bound, limit) = too_small.or(too_large)?;
    let message = format!("must be {bound} {limit}");
    Some(misfit(MisfitRule::OutOfRange, message))
}

/// Whether one number is less than another; exact where both are integers.
pub fn less(one: &Number, other: &Number) -> bool {
    let exact = |number: &Number| number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
    match (exact(one), exact(other)) {
        (Some(one), Some(other)) => one < other,
        _ => one.as_f64() < other.as_f64(),
    }
}

/// What no argument vector can carry, or what a program would take for an option.
fn unpassable(argument: &ArgumentManifest, value: &Value) -> Option<Misfit> {
    let (rule, message) = match value {
        Value::String(text) if text.contains('\0') => (MisfitRule::Nul, "must not hold a NUL character"),
        Value::String(text) if text.starts_with('-') && dash_matters(argument) => (
            MisfitRule::LeadingDash,
            "must not begin with `-`, which the program would take for an option; its author can allow it with \
             `allow_dash: true`",
        ),
        Value::Number(number) if dash_matters(argument) && number.to_string().starts_with('-') => (
            MisfitRule::LeadingDash,
            "must not be negative: the program would take its `-` for an option; its author can allow it with \
             `allow_dash: true`",
        ),
        _ => return None,
    };
    Some(misfit(rule, message.to_owned()))
}

/// The same for the values of an array that are passed one by one.
fn unpassable_items(argument: &ArgumentManifest, value: &Value) -> Vec<Misfit> {
    let (Some(repeat), Some(items)) = (argument.repeat, value.as_array()) else { return Vec::new() };
    if items.is_empty() && argument.required {
        // It would pass nothing, which is what a call without it passes.
        return vec![misfit(MisfitRule::OutOfRange, "must hold at least one value".to_owned())];
    }
    let by_name_among_others = repeat == Repeat::Value && !argument.positional && items.len() > 1;
    let fault = |(index, item): (usize, &Value)| {
        let text = plain(item);
        let (rule, message) = if text.contains('\0') {
            (MisfitRule::Nul, "must not hold a NUL character")
        } else if text.starts_with('-') && dash_matters(argument) {
            (
                MisfitRule::LeadingDash,
                "must not hold a value that begins with `-`, which the program would take for an option; its author \
                 can allow it with `allow_dash: true`",
            )
        } else if text.starts_with('-') && by_name_among_others {
            (
                MisfitRule::LeadingDash,
                "must not hold a value that begins with `-` among others: the program would take it for an option",
            )
        } else {
            return None;
        };
        Some(Misfit { rule, pointer: format!("/{index}"), message: message.to_owned() })
    };
    items.iter().enumerate().filter_map(fault).take(MOST_NESTED).collect()
}

fn dash_matters(argument: &ArgumentManifest) -> bool {
    argument.positional && !argument.allow_dash
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
    use serde_json::json;

    fn argument(kind: ArgumentType) -> ArgumentManifest {
        ArgumentManifest::new("a", kind)
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
        assert_eq!(
            message(ArgumentType::Integer, serde_json::from_str("99999999999999999999").unwrap()),
            "must be an integer of at most 64 bits, and a whole number too large for 64 bits was given"
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
    fn the_values_of_a_repeated_array_are_each_held_to_what_an_element_can_carry() {
        let mut tags = argument(ArgumentType::Array);
        // JSON in one element carries anything.
        assert_eq!(rules(&tags, json!(["-a", "b\0"])), []);
        tags.repeat = Some(Repeat::Name);
        assert_eq!(rules(&tags, json!(["-a", "b"])), []);
        assert_eq!(rules(&tags, json!(["a", "b\0"])), [MisfitRule::Nul]);
        assert_eq!(fit(&tags, &json!(["a", "b\0"])).unwrap_err()[0].pointer, "/1");
        tags.repeat = Some(Repeat::Value);
        assert_eq!(rules(&tags, json!(["-a"])), []);
        assert_eq!(rules(&tags, json!(["a", -1])), [MisfitRule::LeadingDash]);
        tags.positional = true;
        assert_eq!(rules(&tags, json!(["-a"])), [MisfitRule::LeadingDash]);
        tags.allow_dash = true;
        assert_eq!(rules(&tags, json!(["-a", "b"])), []);
        assert_eq!(rules(&tags, json!([])), []);
        tags.required = true;
        assert_eq!(rules(&tags, json!([])), [MisfitRule::OutOfRange]);
    }

    #[test]
    fn a_negative_number_in_a_place_of_its_own_is_an_option_to_the_program() {
        let mut number = argument(ArgumentType::Integer);
        number.positional = true;
        assert_eq!(rules(&number, json!(-1)), [MisfitRule::LeadingDash]);
        assert!(fit(&number, &json!(-1)).unwrap_err()[0].message.contains("`allow_dash: true`"));
        assert_eq!(rules(&number, json!(1)), []);
    }
}
