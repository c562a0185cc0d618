//! A child's own usage error: what argparse, clap, getopt and their like print when a command line does not fit.
//!
//! Reads the child's text and nothing else. Start at [`usage`].

use gatelatch_registry::catalog::{ActionManifest, ArgumentManifest, ArgumentType, Entry};
use gatelatch_registry::schema::input_schema;
use serde_json::Value;

use super::{FEW, LIMIT, UsageError, shown, suggestion};
use crate::budget::{self, Shrunk};
use crate::call;
use crate::ladder::View;

pub(super) fn usage(
    view: &View<'_>,
    entry: &Entry,
    action: &ActionManifest,
    child_error: &Value,
) -> Option<UsageError> {
    if is_remote(child_error) {
        return None;
    }
    let mut texts = Vec::new();
    gather(child_error, 0, &mut texts);
    if texts.iter().any(|text| text.lines().any(names_a_status)) {
        return None;
    }
    let mut complaints: Vec<Complaint> = texts.iter().flat_map(|text| complaints(text)).collect();
    complaints.retain(|complaint| complaint.is_undeclared(action));
    complaints.dedup();
    if complaints.is_empty() {
        return None;
    }
    Some(error(view, entry, action, &complaints))
}

/// What a program found wrong with its command line.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Complaint {
    /// It has no such option or argument.
    Unknown(String),
    /// It demands an option or argument.
    Missing(String),
    /// It wants another value.
    Value(String),
}

impl Complaint {
    fn name(&self) -> &str {
        match self {
            Complaint::Unknown(name) | Complaint::Missing(name) | Complaint::Value(name) => name,
        }
    }

    /// Whether the manifest is silent about it. What the manifest declares was checked before the child was started, so
    /// its help would say nothing new.
    fn is_undeclared(&self, action: &ActionManifest) -> bool {
        let declared = action.args.iter().find(|argument| suggestion::same_spelling(&argument.name, self.name()));
        match (self, declared) {
            (_, None) => true,
            (Complaint::Unknown(_), Some(_)) => false,
            (Complaint::Missing(_), Some(argument)) => !argument.required,
            (Complaint::Value(_), Some(argument)) => is_free(argument),
        }
    }
}

/// Whether the manifest leaves the value open.
fn is_free(argument: &ArgumentManifest) -> bool {
    let text = matches!(argument.kind, ArgumentType::String | ArgumentType::Path);
    text && argument.choices.is_empty() && argument.pattern.is_none()
}

fn error(view: &View<'_>, entry: &Entry, action: &ActionManifest, complaints: &[Complaint]) -> UsageError {
    let mut sentences = Vec::new();
    let mut did_you_mean: Vec<String> = Vec::new();
    let mut args = call::required_args(action);
    for complaint in complaints.iter().take(FEW) {
        let name = complaint.name();
        let declared = action.args.iter().find(|argument| suggestion::same_spelling(&argument.name, name));
        let shown = shown(name);
        sentences.push(match (complaint, declared) {
            (Complaint::Unknown(_), _) => {
                format!("the program does not know `{shown}`, and the manifest does not declare it")
            }
            (Complaint::Missing(_), Some(argument)) => {
                args.insert(argument.name.clone(), call::sample(action, argument));
                format!("the program demands `{}`, which the manifest calls optional", argument.name)
            }
            (Complaint::Missing(_), None) => {
                format!("the program demands `{shown}`, which the manifest does not declare")
            }
            (Complaint::Value(_), Some(_)) => {
                format!("the program takes fewer values for `{shown}` than the manifest says")
            }
            (Complaint::Value(_), None) => format!("the program reads `{shown}`, which the manifest does not declare"),
        });
        let names = action.args.iter().map(|argument| argument.name.as_str());
        for close in suggestion::best(name, names, 2) {
            if close != name && !did_you_mean.contains(&close) {
                did_you_mean.push(close);
            }
        }
    }
    let complaints = sentences.join("; ");
    let message = format!("{complaints}; `schema` holds what it declares");
    let shown_by: Vec<&str> = std::iter::once(entry.manifest.name.as_str()).chain(action.name.as_deref()).collect();
    let typed = format!("{complaints}; `gatelatch show {}` tells what it declares", shown_by.join(" "));
    let schema = input_schema(action);
    let example = call::literal(view, entry, action, args);
    let with = |schema: Value| UsageError {
        error: "child_usage",
        message: message.clone(),
        typed: Some(typed.clone()),
        schema: Some(schema),
        did_you_mean: did_you_mean.clone(),
        example: Some(example.clone()),
    };
    let fits = |error: &UsageError| budget::bytes(&error.to_value()) <= LIMIT;
    let steps = Shrunk::STEPS.iter().map(|how| with(budget::shrink(&schema, *how)));
    steps.into_iter().find(fits).unwrap_or_else(|| UsageError { schema: None, ..with(Value::Null) }.fitted())
}

/// Every text in an error, not too deep.
fn gather<'a>(value: &'a Value, depth: u8, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(values) if depth < 3 => values.iter().for_each(|value| gather(value, depth + 1, texts)),
        Value::Object(map) if depth < 3 => map.values().for_each(|value| gather(value, depth + 1, texts)),
        _ => {}
    }
}

/// Whether an error carries an HTTP status: then it is the remote side's and none of ours.
fn is_remote(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.iter().any(|(key, value)| {
            let key = key.to_lowercase();
            let status = key.contains("status") || key.contains("http") || key == "code";
            (status && code(value).is_some_and(is_error_status)) || is_remote(value)
        }),
        Value::Array(values) => values.iter().any(is_remote),
        _ => false,
    }
}

fn code(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.split(|c: char| !c.is_ascii_digit()).find(|part| part.len() == 3)?.parse().ok(),
        _ => None,
    }
}

fn is_error_status(code: u64) -> bool {
    (400..600).contains(&code)
}

/// A line such as `HTTP 404`, `status code: 503`, `404 Client Error`.
fn names_a_status(line: &str) -> bool {
    let line = line.to_lowercase();
    let about_http =
        ["http", "status", "client error", "server error", "response"].iter().any(|word| line.contains(word));
    let mut numbers = line.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| word.len() == 3);
    about_http && numbers.any(|word| word.parse().is_ok_and(is_error_status))
}

/// How a program words a complaint: what stands before the name.
const UNKNOWN: [&str; 14] = [
    // argparse, clap 4 and older, getopt, commander, click, Go, cobra, yargs
    "unrecognized arguments:",
    "unexpected argument",
    "found argument",
    "unrecognized option",
    "unrecognised option",
    "invalid option --",
    "illegal option --",
    "unknown option:",
    "unknown option",
    "no such option:",
    "no such option",
    "flag provided but not defined:",
    "unknown flag:",
    "unknown argument:",
];

const MISSING: [&str; 10] = [
    "the following arguments are required:",
    "the following required arguments were not provided:",
    "required arguments were not provided:",
    "missing required argument:",
    "missing required arguments:",
    "missing required argument",
    "missing option",
    "missing argument",
    "required option",
    "required flag(s)",
];

/// Every complaint in a text, line by line.
fn complaints(text: &str) -> Vec<Complaint> {
    let mut found = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let lower = line.to_ascii_lowercase();
        let after = |words: &[&str]| words.iter().find_map(|word| lower.find(word).map(|at| &line[at + word.len()..]));
        if let Some(rest) = after(&UNKNOWN) {
            found.extend(options(rest).map(Complaint::Unknown));
        } else if let Some(rest) = after(&MISSING) {
            found.extend(demanded(rest).map(Complaint::Missing));
            // clap puts one a line below, indented.
            while rest.trim().is_empty() {
                let Some(next) = lines.next_if(|next| next.starts_with(' ') && !next.trim().is_empty()) else { break };
                found.extend(demanded(next).take(1).map(Complaint::Missing));
            }
        } else if let Some(name) = value_of(line, &lower) {
            found.push(Complaint::Value(name));
        }
    }
    found
}

/// The options in the rest of a line about unknown ones; a bare word there may be a value and is not repeated.
fn options(rest: &str) -> impl Iterator<Item = String> {
    let quoted = rest.trim_start().starts_with(['\'', '"', '`', '‘']);
    let single = rest.trim().trim_matches(['\'', '"', '`', '‘', '’', '.']).to_owned();
    // getopt's short options and yargs' names come without a dash: `invalid option -- 'x'`.
    let bare = !single.is_empty() && !single.contains(char::is_whitespace) && !single.starts_with('-');
    let words: Vec<String> = if bare && (quoted || single.chars().count() == 1 || rest.starts_with(' ')) {
        vec![single]
    } else {
        let words =
            rest.split_whitespace().filter(|word| word.trim_start_matches(['\'', '"', '`', '‘']).starts_with('-'));
        words.map(str::to_owned).collect()
    };
    words.into_iter().filter_map(|word| option_name(&word)).take(FEW)
}

/// What a program demands: `--x, path`, `'--x <X>'`, `"x" not set`.
fn demanded(rest: &str) -> impl Iterator<Item = String> {
    let rest = rest.trim();
    let words: Vec<String> = match rest.chars().next() {
        Some(quote @ ('\'' | '"' | '`')) => {
            let inner = rest[1..].split(quote).next().unwrap_or_default();
            vec![inner.split_whitespace().next().unwrap_or_default().to_owned()]
        }
        _ => rest.split(',').filter_map(|part| part.split_whitespace().next()).map(str::to_owned).collect(),
    };
    words.into_iter().filter_map(|word| option_name(&word)).take(FEW)
}

/// The option or argument that wants another value.
fn value_of(line: &str, lower: &str) -> Option<String> {
    // argparse: `argument --n: invalid int value: 'x'`, `argument -n/--num: expected one argument`
    let argparse = lower.find("argument ").and_then(|at| line[at + "argument ".len()..].split_once(':'));
    if let Some((name, rest)) = argparse {
        let known =
            ["invalid", "expected", "not allowed", "ignored"].iter().any(|word| rest.trim_start().starts_with(word));
        if known && !name.contains(' ') {
            return option_name(name);
        }
    }
    // clap: `invalid value 'x' for '--n <N>': …`, `a value is required for '--n <N>' but none was supplied`
    // click: `Invalid value for '--n': …`
    let clap = (lower.contains("invalid value") || lower.contains("value is required for")) && lower.contains("for '");
    if clap {
        let name = line.get(lower.rfind("for '")? + "for '".len()..)?;
        return option_name(name.split(['\'', ' ']).next()?);
    }
    // getopt: `option '--n' requires an argument`, `option requires an argument -- 'n'`
    if let Some(at) = lower.find("option requires an argument --") {
        return option_name(line[at + "option requires an argument --".len()..].trim());
    }
    if let (Some(at), true) = (lower.find("option '"), lower.contains("requires an argument")) {
        return option_name(line[at + "option '".len()..].split('\'').next()?);
    }
    None
}

/// The bare name of `--foo=1`, `'-n/--num'`, `<PATH>`; `None` for what is no name.
fn option_name(word: &str) -> Option<String> {
    let word = word.trim().trim_matches(['\'', '"', '`', '‘', '’', '.', ',', ':', ';', '<', '>', '[', ']', '(', ')']);
    let word = word.split('=').next().unwrap_or_default();
    // The long one of `-n/--num` is the one that a manifest spells.
    let word = word.split(['/', '|']).max_by_key(|alternative| alternative.len()).unwrap_or_default();
    let name = word.trim_start_matches('-').trim_matches(['<', '>']);
    let plausible = !name.is_empty()
        && name.len() <= 60
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'));
    plausible.then(|| name.to_owned())
}
