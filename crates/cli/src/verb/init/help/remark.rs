//! What is said of an argument: the description, and in brackets its default, its choices, its range.
//!
//! Start at [`take`].

use gatelatch_manifest::document::ArgumentType;
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
    for remark in remarks.iter().flat_map(|remark| remark.split(';')) {
        match Remark::of(remark.trim()) {
            Some(Remark::Default(value)) => default = Some(value),
            Some(Remark::Choices(choices)) => set_choices(&choices, argument),
            Some(Remark::Required) => argument.required = true,
            Some(Remark::Range(range)) => take_range(range, argument),
            Some(Remark::Nothing) | None => {}
        }
    }
    argument.description = described(text.split("\n\n").next().unwrap_or_default());
    if let Some(default) = default {
        take_default(default, argument);
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
            Some(Remark::Choices(list.split(',').map(str::trim).filter(|choice| !choice.is_empty()).collect()))
        } else if ["env:", "env var:", "alias:", "aliases:", "short aliases:"]
            .iter()
            .any(|start| lower.starts_with(start))
        {
            Some(Remark::Nothing)
        } else if lower.contains("x<") || lower.contains("x>") {
            Some(Remark::Range(text))
        } else {
            None
        }
    }
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
        if inner.split(';').all(|part| Remark::of(part.trim()).is_some()) {
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
    let counts = !argument.name.contains("version");
    argument.default = match argument.kind {
        _ if text.is_empty() || lower == "none" || lower == "null" => None,
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
        ArgumentType::String if argument.choices.is_empty() && counts && whole(text).is_some() => {
            argument.kind = ArgumentType::Integer;
            whole(text).map(Value::from)
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
