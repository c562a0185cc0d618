//! What is wrong with a call's arguments, and the call that would be right.
//!
//! Texts name arguments, types and rules and never repeat a value. The corrected call keeps the caller's values where
//! they fit, changes one only where nothing is lost, and puts a sample where it cannot know.

use gatelatch_manifest::fit::fit;
use gatelatch_registry::arguments::{ArgumentFault, ArgumentRule, Arguments};
use gatelatch_registry::catalog::{ActionManifest, ArgumentManifest, ArgumentType, Entry};
use gatelatch_registry::schema::input_schema;
use serde_json::{Map, Number, Value, json};

use super::{LIMIT, UsageError, listed, shown, suggestion};
use crate::budget::{self, Shrunk};
use crate::call;
use crate::ladder::View;

pub(super) fn bad_arguments(
    view: &View<'_>,
    entry: &Entry,
    action: &ActionManifest,
    raw: &Value,
    faults: &[ArgumentFault],
) -> UsageError {
    let given = given(raw);
    let correction = Correction::derive(action, &given, faults);
    let schema = input_schema(action);
    let concerned: Vec<&str> = action
        .args
        .iter()
        .map(|argument| argument.name.as_str())
        .filter(|name| faults.iter().any(|fault| fault.argument == *name) || correction.meant(name))
        .collect();
    let close_up = |name: &str| {
        concerned.contains(&name) || action.args.iter().any(|argument| argument.required && argument.name == name)
    };
    let small = budget::only(&schema, &close_up);
    let example = call::literal(view, entry, action, correction.args.clone());
    let build = |schema: Option<Value>, description: usize, example: Option<&Value>| UsageError {
        error: "bad_arguments",
        message: message(view, entry, action, raw, faults, &correction, description),
        typed: None,
        schema,
        did_you_mean: correction.did_you_mean(),
        example: example.cloned(),
    };
    let steps: [(Option<Value>, usize, Option<&Value>); 9] = [
        (Some(schema.clone()), 120, Some(&example)),
        (Some(budget::shrink(&schema, Shrunk::Descriptions(100))), 80, Some(&example)),
        (Some(budget::shrink(&schema, Shrunk::RequiredDescriptions(60))), 60, Some(&example)),
        (Some(budget::shrink(&small, Shrunk::Descriptions(60))), 60, Some(&example)),
        (Some(budget::shrink(&small, Shrunk::Constraints)), 60, Some(&example)),
        (Some(budget::shrink(&small, Shrunk::Types)), 40, Some(&example)),
        (Some(budget::shrink(&small, Shrunk::Types)), 40, None),
        (Some(budget::shrink(&small, Shrunk::Lists)), 0, None),
        (None, 0, None),
    ];
    let mut error = None;
    for (schema, description, example) in steps {
        let tried = build(schema, description, example);
        let fits = budget::bytes(&tried.to_value()) <= LIMIT;
        error = Some(tried);
        if fits {
            break;
        }
    }
    error.unwrap_or_else(|| build(None, 0, None)).fitted()
}

/// The arguments that a caller meant for an action, under its names and of its types; nothing where it gave none.
pub(super) fn corrected(action: &ActionManifest, raw: &Value) -> Option<Map<String, Value>> {
    let given = given(raw);
    if given.is_empty() {
        return None;
    }
    match Arguments::parse(action, &Value::Object(given.clone())) {
        Ok(arguments) => Some(arguments.values().clone()),
        Err(faults) => Some(Correction::derive(action, &given, &faults).args),
    }
}

/// The arguments as an object; text that holds one counts as one.
fn given(raw: &Value) -> Map<String, Value> {
    match raw {
        Value::Object(map) => map.clone(),
        Value::String(text) => match serde_json::from_str(text) {
            Ok(Value::Object(map)) => map,
            _ => Map::new(),
        },
        _ => Map::new(),
    }
}

/// A value longer than this is not repeated in a corrected call.
const LONG_VALUE: usize = 160;

/// How an unknown name is read, from the surest way on.
#[derive(Clone, Copy)]
enum Reading {
    /// It resembles the name of one free argument.
    Name,
    /// One free argument's description speaks of it.
    Description,
    /// It is the only unknown name and one required argument is missing.
    Elimination,
}

/// The call that was meant, as far as it can be known.
struct Correction {
    args: Map<String, Value>,
    /// Unknown names and the declared ones that they were taken for.
    renamed: Vec<(String, String)>,
    /// Unknown names and declared ones that come close.
    close: Vec<(String, Vec<String>)>,
}

impl Correction {
    fn derive(action: &ActionManifest, given: &Map<String, Value>, faults: &[ArgumentFault]) -> Correction {
        let unknown = unknown(faults);
        let mut correction = Correction { args: Map::new(), renamed: Vec::new(), close: Vec::new() };
        let free: Vec<&ArgumentManifest> = action
            .args
            .iter()
            .filter(|argument| !given.keys().any(|name| suggestion::same_spelling(name, &argument.name)))
            .collect();
        // The surest reading first, so that it takes its argument out of the reach of the others.
        for reading in [Reading::Name, Reading::Description, Reading::Elimination] {
            for name in &unknown {
                if correction.taken_for(name).is_none() {
                    let value = given.get(*name).unwrap_or(&Value::Null);
                    if let Some(meant) = correction.meant_by(reading, name, value, &unknown, &free) {
                        correction.renamed.push(((*name).to_owned(), meant));
                    }
                }
            }
        }
        for name in &unknown {
            let close = suggestion::best(name, action.args.iter().map(|argument| argument.name.as_str()), 3);
            correction.close.push(((*name).to_owned(), close));
        }
        for argument in &action.args {
            let value = given
                .iter()
                .find(|(name, _)| suggestion::same_spelling(name, &argument.name) || correction.renames(name, argument))
                .map(|(_, value)| value)
                .filter(|value| !value.is_null());
            match value {
                Some(value) if budget::bytes(value) <= LONG_VALUE => match lossless(value, argument) {
                    Some(fixed) => {
                        correction.args.insert(argument.name.clone(), fixed);
                    }
                    None => correction.put_sample(action, argument),
                },
                Some(_) => correction.put_sample(action, argument),
                None if argument.required => correction.put_sample(action, argument),
                None => {}
            }
        }
        correction
    }

    /// The free argument that an unknown name stands for, if its value could be used there.
    fn meant_by(
        &self,
        reading: Reading,
        name: &str,
        value: &Value,
        unknown: &[&str],
        free: &[&ArgumentManifest],
    ) -> Option<String> {
        let untaken = |argument: &&&ArgumentManifest| !self.renamed.iter().any(|(_, to)| *to == argument.name);
        let free: Vec<&ArgumentManifest> = free.iter().filter(untaken).copied().collect();
        let of_names = || free.iter().map(|argument| argument.name.as_str());
        let meant = match reading {
            Reading::Name => suggestion::clear(name, of_names())?,
            Reading::Description => {
                let mut described = free.iter().filter(|argument| suggestion::mentions(&argument.description, name));
                described.next().filter(|_| described.next().is_none())?.name.as_str()
            }
            Reading::Elimination => {
                let unread = unknown.iter().filter(|name| self.taken_for(name).is_none()).count();
                let mut missing = free.iter().filter(|argument| argument.required);
                missing.next().filter(|_| unread == 1 && missing.next().is_none())?.name.as_str()
            }
        };
        let argument = free.iter().find(|argument| argument.name == meant)?;
        (value.is_null() || lossless(value, argument).is_some()).then(|| meant.to_owned())
    }

    fn put_sample(&mut self, action: &ActionManifest, argument: &ArgumentManifest) {
        self.args.insert(argument.name.clone(), call::sample(action, argument));
    }

    fn renames(&self, name: &str, argument: &ArgumentManifest) -> bool {
        self.renamed.iter().any(|(from, to)| from == name && *to == argument.name)
    }

    /// Whether an unknown name was taken for this one or comes close to it.
    fn meant(&self, name: &str) -> bool {
        self.renamed.iter().any(|(_, to)| to == name)
            || self.close.iter().any(|(_, close)| close.iter().any(|c| c == name))
    }

    fn did_you_mean(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        let renamed = self.renamed.iter().map(|(_, to)| to);
        for name in renamed.chain(self.close.iter().flat_map(|(_, close)| close)) {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        names
    }

    fn taken_for(&self, name: &str) -> Option<&str> {
        self.renamed.iter().find(|(from, _)| from == name).map(|(_, to)| to.as_str())
    }
}

fn unknown(faults: &[ArgumentFault]) -> Vec<&str> {
    let unknown = faults.iter().filter(|fault| fault.rule == ArgumentRule::Unknown);
    unknown.map(|fault| fault.argument.as_str()).collect()
}

/// The value as the argument wants it, where nothing is lost: `"5"` for 5, one thing for a list of one. `None` if it
/// does not fit.
fn lossless(value: &Value, argument: &ArgumentManifest) -> Option<Value> {
    let typed = match (argument.kind, value) {
        (ArgumentType::String | ArgumentType::Path, Value::String(_)) => value.clone(),
        (ArgumentType::String | ArgumentType::Path, Value::Number(number)) => json!(number.to_string()),
        (ArgumentType::String | ArgumentType::Path, Value::Bool(flag)) => json!(flag.to_string()),
        (ArgumentType::Integer, Value::Number(number)) => Value::Number(whole(number)?),
        (ArgumentType::Integer, Value::String(text)) => Value::Number(whole(&text.trim().parse().ok()?)?),
        (ArgumentType::Number, Value::Number(_)) => value.clone(),
        (ArgumentType::Number, Value::String(text)) => Value::Number(text.trim().parse().ok()?),
        (ArgumentType::Boolean, Value::Bool(_)) => value.clone(),
        (ArgumentType::Boolean, Value::String(text)) => json!(text.trim().to_lowercase().parse::<bool>().ok()?),
        (ArgumentType::Array, Value::Array(_)) | (ArgumentType::Object, Value::Object(_)) => value.clone(),
        (ArgumentType::Array, Value::String(text)) => match serde_json::from_str(text) {
            Ok(Value::Array(values)) => Value::Array(values),
            // `a,b` may be one thing or two.
            _ if text.contains(',') => return None,
            _ => wrapped(value, argument)?,
        },
        (ArgumentType::Array, Value::Number(_) | Value::Bool(_)) => wrapped(value, argument)?,
        (ArgumentType::Object, Value::String(text)) => match serde_json::from_str(text) {
            Ok(Value::Object(map)) => Value::Object(map),
            _ => return None,
        },
        _ => return None,
    };
    chosen(typed, argument).filter(|value| fit(argument, value).is_ok())
}

fn whole(number: &Number) -> Option<Number> {
    if number.is_i64() || number.is_u64() {
        return Some(number.clone());
    }
    let value = number.as_f64()?;
    // Beyond 2^53 a float no longer says which whole number was meant.
    (value.fract() == 0.0 && value.abs() <= 9_007_199_254_740_992.0).then(|| Number::from(value as i64))
}

/// A list of one, if the list takes such things.
fn wrapped(value: &Value, argument: &ArgumentManifest) -> Option<Value> {
    let wanted = argument.items.as_ref().and_then(|items| items.get("type")).and_then(Value::as_str);
    let fits = match value {
        Value::String(_) => wanted.is_none_or(|wanted| wanted == "string"),
        Value::Number(number) => {
            wanted.is_none_or(|wanted| wanted == "number" || (wanted == "integer" && !number.is_f64()))
        }
        Value::Bool(_) => wanted.is_none_or(|wanted| wanted == "boolean"),
        Value::Null | Value::Array(_) | Value::Object(_) => false,
    };
    fits.then(|| json!([value]))
}

/// The value, or the choice that differs from it only in case, `-` and `_`.
fn chosen(value: Value, argument: &ArgumentManifest) -> Option<Value> {
    if argument.choices.is_empty() || argument.choices.contains(&value) {
        return Some(value);
    }
    let text = value.as_str()?;
    let mut alike = argument
        .choices
        .iter()
        .filter(|choice| choice.as_str().is_some_and(|choice| suggestion::same_spelling(choice, text)));
    match (alike.next(), alike.next()) {
        (Some(only), None) => Some(only.clone()),
        _ => None,
    }
}

/// How many faults are told one by one.
const TOLD: usize = 6;

fn message(
    view: &View<'_>,
    entry: &Entry,
    action: &ActionManifest,
    raw: &Value,
    faults: &[ArgumentFault],
    correction: &Correction,
    description: usize,
) -> String {
    let told = faults.iter().take(TOLD).map(|fault| match fault.rule {
        ArgumentRule::Unknown => unknown_argument(view, entry, action, &fault.argument, correction),
        _ => sentence(action, raw, fault, description),
    });
    let mut sentences: Vec<String> = told.collect();
    if faults.len() > TOLD {
        sentences.push(format!("and {} more", faults.len() - TOLD));
    }
    sentences.join("; ")
}

fn unknown_argument(
    view: &View<'_>,
    entry: &Entry,
    action: &ActionManifest,
    name: &str,
    correction: &Correction,
) -> String {
    let what = format!("`{}` is no argument of {}", shown(name), title(entry, action));
    if let Some(meant) = correction.taken_for(name) {
        return format!("{what}: `{meant}` is");
    }
    let sibling = view.actions(entry).filter(|other| !std::ptr::eq(*other, action)).find_map(|other| {
        let argument = other.args.iter().find(|argument| suggestion::same_spelling(&argument.name, name))?;
        Some(format!("action `{}` has `{}`", other.name.as_deref()?, argument.name))
    });
    match sibling {
        Some(sibling) => format!("{what}; {sibling}"),
        None => what,
    }
}

fn title(entry: &Entry, action: &ActionManifest) -> String {
    match &action.name {
        Some(name) => format!("`{name}`"),
        None => format!("`{}`", entry.manifest.name),
    }
}

/// A fault in words, without the value.
fn sentence(action: &ActionManifest, raw: &Value, fault: &ArgumentFault, description: usize) -> String {
    let name = shown(&fault.argument);
    let Some(argument) = action.args.iter().find(|argument| argument.name == fault.argument) else {
        return match fault.rule {
            ArgumentRule::NotAnObject => format!("`args` must be an object, not {}", kind_of(raw)),
            _ => format!("`{name}` does not fit"),
        };
    };
    let purpose = match budget::cut(&argument.description, description) {
        empty if empty.is_empty() || description == 0 => String::new(),
        text => format!(" ({text})"),
    };
    match fault.rule {
        ArgumentRule::Missing => format!("required argument `{name}` is missing{purpose}"),
        ArgumentRule::WrongType => {
            let value = raw.as_object().and_then(|map| {
                map.iter().find(|(key, _)| suggestion::same_spelling(key, &argument.name)).map(|(_, value)| value)
            });
            let not = value.map_or_else(String::new, |value| format!(", not {}", kind_of(value)));
            format!("`{name}` must be {}{not}", wanted(argument.kind.as_str()))
        }
        ArgumentRule::NotAChoice => format!("`{name}` must be one of {}", choices(&argument.choices)),
        ArgumentRule::OutOfRange if argument.kind == ArgumentType::Array => {
            format!("`{name}` must hold at least one value{purpose}")
        }
        ArgumentRule::OutOfRange => format!("`{name}` must be {}", range(argument)),
        ArgumentRule::NoMatch => match &argument.pattern {
            Some(pattern) => format!("`{name}` must match `{}`", budget::cut(pattern, 120)),
            None => format!("`{name}` does not match its pattern"),
        },
        ArgumentRule::Nested => nested(argument, &fault.pointer),
        ArgumentRule::Twice => format!("`{name}` is given twice, in two spellings"),
        ArgumentRule::LeadingDash if argument.kind == ArgumentType::Array && !argument.positional => format!(
            "of several values of `{name}` none may begin with `-`, which the program would take for an option; one \
             alone may"
        ),
        ArgumentRule::LeadingDash => format!(
            "`{name}` is passed by place and must not begin with `-`; its author can allow it with `allow_dash: true`"
        ),
        ArgumentRule::Nul => format!("`{name}` holds a NUL character, which no program can be given"),
        ArgumentRule::Unknown | ArgumentRule::NotAnObject => format!("`{name}` does not fit"),
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if number.is_f64() => match number.as_f64() {
            // What JSON's readers make of a longer whole number.
            Some(float) if float.fract() == 0.0 && !(-9.3e18..=1.9e19).contains(&float) => {
                "a whole number too large for 64 bits"
            }
            Some(_) | None => "a fraction",
        },
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn wanted(kind: &str) -> String {
    match kind {
        "path" => "a string (a path)".to_owned(),
        "integer" | "array" | "object" => format!("an {kind}"),
        other => format!("a {other}"),
    }
}

fn choices(choices: &[Value]) -> String {
    let shown: Vec<String> = choices.iter().take(12).map(Value::to_string).collect();
    let rest = choices.len().saturating_sub(shown.len());
    let shown = budget::cut(&shown.join(", "), 300);
    if rest > 0 { format!("{shown} and {rest} more") } else { shown }
}

fn range(argument: &ArgumentManifest) -> String {
    match (&argument.minimum, &argument.maximum) {
        (Some(least), Some(most)) => format!("from {least} to {most}"),
        (Some(least), None) => format!("at least {least}"),
        (None, Some(most)) => format!("at most {most}"),
        (None, None) => "in range".to_owned(),
    }
}

/// What the schema wants at a place inside a value.
fn nested(argument: &ArgumentManifest, pointer: &str) -> String {
    let at = if pointer.is_empty() { String::new() } else { format!(" at `{}`", budget::cut(pointer, 80)) };
    let name = &argument.name;
    let items = argument.items.as_ref();
    let schema = pointer.split('/').skip(1).try_fold(None::<&Value>, |schema, step| match schema {
        None => Some(items),
        Some(schema) => {
            let inner = schema.get("properties").and_then(|properties| properties.get(step));
            inner.or_else(|| schema.get("items")).map(Some)
        }
    });
    let Some(Some(schema)) = schema else {
        return format!("`{name}` does not fit its schema{at}");
    };
    let kind = schema.get("type").and_then(Value::as_str);
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let allowed = schema.get("enum").and_then(Value::as_array);
    match (allowed, kind) {
        (Some(allowed), _) => format!("`{name}`{at} must be one of {}", choices(allowed)),
        (None, Some("object")) if !required.is_empty() => {
            format!("`{name}`{at} must be an object with {}", budget::cut(&listed(&required), 200))
        }
        (None, Some(kind)) => format!("`{name}`{at} must be {}", wanted(kind)),
        (None, None) => format!("`{name}` does not fit its schema{at}"),
    }
}
