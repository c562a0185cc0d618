//! What is said of an argument: the description, and in brackets its default, its choices, its range.
//!
//! Start at [`take`].

use gatelatch_manifest::document::{ArgumentType, Repeat};
use serde_json::{Number, Value};

use super::super::draft::Argument;
use super::{described, option};

/// Takes what a text says of an argument.
pub(super) fn take(text: &str, argument: &mut Argument) {
    let (text, listed) = without_list(text);
    let (text, remarks) = without_remarks(&text);
    if !listed.is_empty() {
        set_choices(&listed.iter().map(String::as_str).collect::<Vec<_>>(), argument);
    }
    let mut default = None;
    for remark in remarks.iter().flat_map(|remark| parts(remark)) {
        match Remark::of(remark) {
            Some(Remark::Default(value)) => default = Some(value),
            Some(Remark::Choices(choices)) => set_choices(&choices, argument),
            Some(Remark::Required) => argument.required = true,
            Some(Remark::Range(range)) => take_range(range, argument),
            Some(Remark::Type(kind)) => take_type(kind, argument),
            Some(Remark::Several) => take_several(argument),
            Some(Remark::Nothing) | None => {}
        }
    }
    if argument.kind != ArgumentType::Boolean && argument.repeat.is_none() && says_repeated(&text) {
        argument.repeat = Some(Repeat::Name);
    }
    argument.description = described(text.split("\n\n").next().unwrap_or_default());
    match (default, default_in_prose(&text)) {
        (Some(default), _) => take_default(default, argument),
        (None, Some(number)) if argument.kind != ArgumentType::Boolean => take_default(number, argument),
        (None, _) => {}
    }
}

/// A text without the remarks that are understood.
pub(super) fn without(text: &str) -> String {
    without_remarks(text).0
}

/// A whole number as people write it: no sign but `-`, no leading zero.
pub(super) fn whole(text: &str) -> Option<i64> {
    let number: i64 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

enum Remark<'t> {
    Default(&'t str),
    Choices(Vec<&'t str>),
    Required,
    Range(&'t str),
    /// What one value is.
    Type(ArgumentType),
    /// A list of values.
    Several,
    /// Known, and of no use in a manifest.
    Nothing,
}

impl<'t> Remark<'t> {
    fn of(text: &'t str) -> Option<Remark<'t>> {
        let lower = text.to_ascii_lowercase();
        let after = |start: &str| lower.strip_prefix(start).map(|rest| text[text.len() - rest.len()..].trim());
        if lower == "required" {
            Some(Remark::Required)
        } else if let Some(value) = after("default:").or_else(|| after("default=")).or_else(|| after("default is ")) {
            Some(Remark::Default(value))
        } else if let Some(value) = after("default ").filter(|value| !value.contains(' ')) {
            Some(Remark::Default(value))
        } else if let Some(list) = after("possible values:").or_else(|| after("choices:")).or_else(|| after("one of:"))
        {
            let bare = |choice: &'t str| choice.trim().trim_matches(['"', '\'', '`']);
            Some(Remark::Choices(list.split(',').map(bare).filter(|choice| !choice.is_empty()).collect()))
        } else if let Some(kind) = named_type(&lower) {
            Some(Remark::Type(kind))
        } else if lower == "array" {
            Some(Remark::Several)
        } else if ["boolean", "count"].contains(&lower.as_str())
            || ["env:", "env var:", "alias:", "aliases:", "short aliases:"].iter().any(|start| lower.starts_with(start))
        {
            Some(Remark::Nothing)
        } else if lower.contains("x<") || lower.contains("x>") {
            Some(Remark::Range(text))
        } else {
            None
        }
    }
}

/// The remarks in one pair of brackets: `default: 3; 0<=x<=5`, `choices: "a", "b", default: "a"`.
fn parts(remark: &str) -> impl Iterator<Item = &str> {
    let at_default = |part: &str| part.find(", default:").unwrap_or(part.len());
    let halves = move |part| -> [&str; 2] {
        let (head, tail) = str::split_at(part, at_default(part));
        [head.trim(), tail.trim_start_matches(',').trim()]
    };
    remark
        .split(';')
        .flat_map(halves)
        .enumerate()
        .filter(|(at, part)| *at == 0 || !part.is_empty())
        .map(|(_, part)| part)
}

/// A type that stands alone in brackets, as yargs writes it behind every option.
fn named_type(word: &str) -> Option<ArgumentType> {
    match word {
        "string" => Some(ArgumentType::String),
        "number" | "float" => Some(ArgumentType::Number),
        "integer" | "int" => Some(ArgumentType::Integer),
        _ => None,
    }
}

/// An option with a type of its own has a value, though its name stands alone.
fn take_type(kind: ArgumentType, argument: &mut Argument) {
    if matches!(argument.kind, ArgumentType::Boolean | ArgumentType::String) && argument.choices.is_empty() {
        argument.kind = kind;
        argument.negatable = false;
    }
}

fn take_several(argument: &mut Argument) {
    take_type(ArgumentType::String, argument);
    argument.repeat.get_or_insert(Repeat::Name);
}

/// Whether a text says that an option may be given more than once.
fn says_repeated(text: &str) -> bool {
    const GIVEN: [&str; 10] =
        ["given", "specified", "used", "passed", "supplied", "provided", "set", "repeated", "specify", "use"];
    const OFTEN: [&str; 5] = ["multiple times", "more than once", "several times", "many times", "repeatedly"];
    let lower = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let given = || lower.split(|c: char| !c.is_alphabetic()).any(|word| GIVEN.contains(&word));
    ["can be repeated", "may be repeated", "repeatable", "repeat for ", "repeat to ", "repeat it"]
        .iter()
        .any(|words| lower.contains(words))
        || (OFTEN.iter().any(|words| lower.contains(words)) && given())
}

/// The number that a text ends with as its default: `how many, default 10`.
fn default_in_prose(text: &str) -> Option<&str> {
    let text = text.split("\n\n").next().unwrap_or_default().trim_end().trim_end_matches('.');
    let (before, last) = text.rsplit_once([' ', '\n'])?;
    let before = before.trim_end().to_lowercase();
    let introduced = ["defaults to", "default", "default:", "default is", "default ="].iter().any(|words| {
        before.strip_suffix(words).is_some_and(|rest| !rest.ends_with(|c: char| c.is_alphanumeric() || c == '-'))
    });
    (introduced && number(last).is_some()).then_some(last)
}

/// The text without the remarks in brackets that are understood, and those remarks.
fn without_remarks(text: &str) -> (String, Vec<String>) {
    let mut kept = String::new();
    let mut remarks = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find(['[', '(']) {
        let close = if rest.get(open..).is_some_and(|tail| tail.starts_with('[')) { ']' } else { ')' };
        let Some(end) = rest.get(open..).and_then(|tail| tail.find(close)).map(|end| open + end) else { break };
        let inner = rest.get(open + 1..end).unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
        kept.push_str(rest.get(..open).unwrap_or_default());
        if parts(&inner).all(|part| Remark::of(part).is_some()) {
            remarks.push(inner);
        } else {
            kept.push_str(rest.get(open..=end).unwrap_or_default());
        }
        rest = rest.get(end + 1..).unwrap_or_default();
        if rest.starts_with(['.', ',', ';']) && kept.ends_with(' ') {
            kept.truncate(kept.trim_end().len());
        }
    }
    kept.push_str(rest);
    (kept, remarks)
}

/// The text without a list of values below `Possible values:`, and those values.
fn without_list(text: &str) -> (String, Vec<String>) {
    let mut values = Vec::new();
    let mut kept = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if !line.trim().eq_ignore_ascii_case("possible values:") {
            kept.push(line);
            continue;
        }
        while let Some(item) =
            lines.next_if(|line| line.trim_start().starts_with("- ") || !values.is_empty() && !line.starts_with('['))
        {
            if let Some(item) = item.trim_start().strip_prefix("- ") {
                values.push(item.split(':').next().unwrap_or_default().trim().to_owned());
            }
        }
    }
    (kept.join("\n"), values)
}

fn set_choices(choices: &[&str], argument: &mut Argument) {
    if choices.len() > 1 && argument.kind != ArgumentType::Boolean {
        option::set_choices(choices, argument);
    }
}

/// `0<=x<=10`, `x>=1`.
fn take_range(range: &str, argument: &mut Argument) {
    if !matches!(argument.kind, ArgumentType::Integer | ArgumentType::Number) {
        return;
    }
    let number = |text: &str| text.trim().parse::<i64>().ok().map(Number::from);
    match range.split("<=").collect::<Vec<_>>().as_slice() {
        [low, "x", high] => (argument.minimum, argument.maximum) = (number(low), number(high)),
        ["x", high] => argument.maximum = number(high),
        [low, "x"] => argument.minimum = number(low),
        _ => {}
    }
    if let Some(low) = range.strip_prefix("x>=") {
        argument.minimum = number(low);
    }
}

fn take_default(text: &str, argument: &mut Argument) {
    let text = text.trim_matches(['"', '\'', '`']);
    let lower = text.to_ascii_lowercase();
    let counts = argument.choices.is_empty() && !names_a_version(&argument.name);
    argument.default = match argument.kind {
        _ if text.is_empty() || ["none", "null", "undefined", "[]"].contains(&lower.as_str()) => None,
        // A list is written in the program's own language.
        _ if argument.repeat.is_some() => {
            append(&format!("default: {text}"), argument);
            None
        }
        ArgumentType::Boolean => match lower.as_str() {
            "true" | "on" | "yes" => Some(Value::from(true)),
            "false" | "off" | "no" => Some(Value::from(false)),
            _ if lower == format!("no-{}", argument.name) => Some(Value::from(false)),
            _ if lower == argument.name => Some(Value::from(true)),
            _ => None,
        },
        ArgumentType::Integer => match whole(text) {
            Some(number) => Some(Value::from(number)),
            // Whatever the metavar is called, no integer is meant.
            None => retyped(text, argument),
        },
        ArgumentType::Number => number(text).or_else(|| retyped(text, argument)),
        ArgumentType::String if counts && whole(text).is_some() => {
            argument.kind = ArgumentType::Integer;
            whole(text).map(Value::from)
        }
        ArgumentType::String if counts && text.contains('.') && is_exact(text) => {
            argument.kind = ArgumentType::Number;
            number(text)
        }
        ArgumentType::String | ArgumentType::Path if text.contains(' ') => {
            append(&format!("default: {text}"), argument);
            None
        }
        ArgumentType::String | ArgumentType::Path => Some(Value::from(text)),
        ArgumentType::Array | ArgumentType::Object => None,
    };
    if !argument.choices.is_empty() && argument.default.as_ref().is_some_and(|value| !argument.choices.contains(value))
    {
        argument.default = None;
    }
}

/// Whether what is called so may look like a number and be none: `--python 3.11`, `--since 2`.
fn names_a_version(name: &str) -> bool {
    const WORDS: [&str; 18] = [
        "version", "versions", "python", "node", "ruby", "java", "php", "go", "rust", "api", "protocol", "release",
        "since", "tls", "ssl", "http", "revision", "tag",
    ];
    name.split(['-', '_', '.']).any(|word| WORDS.contains(&word.to_ascii_lowercase().as_str()))
}

/// Whether a number is written as it is passed, so that `3.10` is none.
fn is_exact(text: &str) -> bool {
    number(text).map(|number| number.to_string()).as_deref() == Some(text)
}

fn retyped(text: &str, argument: &mut Argument) -> Option<Value> {
    if argument.kind == ArgumentType::Integer && number(text).is_some() {
        argument.kind = ArgumentType::Number;
        return number(text);
    }
    argument.kind = ArgumentType::String;
    (argument.minimum, argument.maximum) = (None, None);
    (!text.contains(' ')).then(|| Value::from(text))
}

fn number(text: &str) -> Option<Value> {
    if let Some(number) = whole(text) {
        return Some(Value::from(number));
    }
    text.parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::from)
}

/// A default in words belongs to the description.
fn append(remark: &str, argument: &mut Argument) {
    argument.description = described(&format!("{} ({remark})", argument.description.as_deref().unwrap_or_default()));
}
