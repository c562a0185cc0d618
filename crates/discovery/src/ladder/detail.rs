//! The doors `{name, action}` and `{name}`: how to call one action, and everything about one entry.

use gatelatch_registry::catalog::{ActionManifest, Entry, OutputManifest, Skill};
use gatelatch_registry::schema::input_schema;
use serde_json::{Map, Value, json};

use super::{View, groups, pointers};
use crate::budget::{self, Shrunk};
use crate::call;

/// The largest answer for one action, in bytes, unless its argument names alone are larger.
const ACTION_LIMIT: usize = 2_048;

/// In a full schema an example of more bytes than this gives way to sample values.
const LONG_EXAMPLE: usize = 1_000;

/// The largest index of action names, in bytes.
const INDEX_LIMIT: usize = 12_000;

/// One action: its arguments and the literal call to make.
pub(super) fn action(view: &View<'_>, entry: &Entry, action: &ActionManifest) -> Value {
    let detail = ActionDetail::new(view, entry, action);
    budget::first_fitting(ACTION_LIMIT, DETAIL_STEPS.iter().map(|step| detail.shown(*step)))
}

/// One entry: the full schema, or an index of its actions where that would be too large.
pub(super) fn entry(view: &View<'_>, entry: &Entry) -> Value {
    let actions: Vec<&ActionManifest> = view.actions(entry).collect();
    if let Some(full) = full(view, entry, &actions) {
        return full;
    }
    match actions.as_slice() {
        [only] => action(view, entry, only),
        _ => index(view, entry, &actions),
    }
}

/// A skill: what it is and how to read it.
pub(super) fn skill(skill: &Skill) -> Value {
    json!({
        "kind": "skill",
        "name": skill.manifest.name,
        "description": budget::cut(&skill.manifest.description, 1_024),
        "call": {"tool": "get_skill", "arguments": {"name": skill.manifest.name}},
    })
}

/// How much of an action an answer shows.
#[derive(Clone, Copy)]
struct Step {
    description: usize,
    arguments: Shrunk,
    output: Output,
    args: Args,
}

/// What the literal call carries.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Args {
    /// The first example's arguments, if they take at most so many bytes; else as below.
    Example(usize),
    /// Values for what is required.
    Required,
    None,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Output {
    /// The schema or the prose as it is.
    Full,
    /// One line: the names of the result's fields, or the beginning of the prose.
    Hint(usize),
    None,
}

const fn step(description: usize, arguments: Shrunk, output: Output, args: Args) -> Step {
    Step { description, arguments, output, args }
}

/// From the richest to the barest. What a caller needs most goes last: the arguments, then the call.
const DETAIL_STEPS: [Step; 12] = [
    step(1_000, Shrunk::No, Output::Full, Args::Example(1_000)),
    step(600, Shrunk::No, Output::Hint(200), Args::Example(600)),
    step(300, Shrunk::No, Output::Hint(120), Args::Example(400)),
    step(300, Shrunk::Descriptions(200), Output::Hint(80), Args::Example(400)),
    step(200, Shrunk::Descriptions(100), Output::Hint(80), Args::Example(300)),
    step(160, Shrunk::Descriptions(60), Output::None, Args::Example(300)),
    step(160, Shrunk::RequiredDescriptions(60), Output::None, Args::Example(200)),
    step(160, Shrunk::Constraints, Output::None, Args::Example(200)),
    step(120, Shrunk::Types, Output::None, Args::Required),
    step(80, Shrunk::Types, Output::None, Args::None),
    step(80, Shrunk::Lists, Output::None, Args::None),
    step(0, Shrunk::Lists, Output::None, Args::None),
];

struct ActionDetail<'a> {
    view: &'a View<'a>,
    entry: &'a Entry,
    action: &'a ActionManifest,
    schema: Value,
    not_ready: Option<String>,
}

impl<'a> ActionDetail<'a> {
    fn new(view: &'a View<'a>, entry: &'a Entry, action: &'a ActionManifest) -> ActionDetail<'a> {
        ActionDetail { view, entry, action, schema: input_schema(action), not_ready: (view.not_ready)(entry) }
    }

    fn shown(&self, step: Step) -> Value {
        let mut answer = Map::new();
        answer.insert("kind".to_owned(), json!(self.entry.manifest.kind.as_str()));
        answer.insert("name".to_owned(), json!(self.entry.manifest.name));
        if let Some(name) = &self.action.name {
            answer.insert("action".to_owned(), json!(name));
        }
        if step.description > 0 {
            answer.insert("description".to_owned(), json!(budget::cut(&self.action.description, step.description)));
        }
        if let Some(why) = &self.not_ready {
            answer.insert("not_ready".to_owned(), json!(budget::cut(why, 160)));
        }
        let (effect, needs_human) = (self.view.effect)(self.entry, self.action);
        answer.insert("effect".to_owned(), json!(effect.as_str()));
        answer.insert("arguments".to_owned(), budget::shrink(&self.schema, step.arguments));
        if let Some(output) = self.action.output.as_ref().and_then(|output| returns(output, step.output)) {
            answer.insert("returns".to_owned(), output);
        }
        let args = match step.args {
            Args::Example(most) => call::shown_args(self.action, most),
            Args::Required => call::required_args(self.action),
            Args::None => Map::new(),
        };
        answer.insert("call".to_owned(), call::literal(self.view, self.entry, self.action, args));
        if needs_human {
            answer.insert("confirm".to_owned(), json!(confirm(self.entry)));
        }
        Value::Object(answer)
    }
}

/// What to know about an action that a human must agree to.
fn confirm(entry: &Entry) -> String {
    let kind = entry.manifest.kind;
    format!("{} refuses this; {} runs it once a human has agreed", call::door(kind, false), call::door(kind, true))
}

fn returns(output: &OutputManifest, how: Output) -> Option<Value> {
    match (output, how) {
        (_, Output::None) => None,
        (OutputManifest::Schema(schema), Output::Full) => Some(schema.clone()),
        (OutputManifest::Hint(prose), Output::Full) => Some(json!(budget::cut(prose, 1_000))),
        (OutputManifest::Hint(prose), Output::Hint(limit)) => Some(json!(budget::cut(prose, limit))),
        (OutputManifest::Schema(schema), Output::Hint(limit)) => {
            let fields = schema.get("properties").and_then(Value::as_object)?;
            let names: Vec<&str> = fields.keys().map(String::as_str).collect();
            Some(json!(budget::cut(&format!("object with {}", names.join(", ")), limit)))
        }
    }
}

/// What heads every answer about an entry.
fn head(view: &View<'_>, entry: &Entry) -> Map<String, Value> {
    let mut head = Map::new();
    head.insert("kind".to_owned(), json!(entry.manifest.kind.as_str()));
    head.insert("name".to_owned(), json!(entry.manifest.name));
    head.insert("description".to_owned(), json!(budget::cut(&entry.manifest.description, 600)));
    if let Some(why) = (view.not_ready)(entry) {
        head.insert("not_ready".to_owned(), json!(budget::cut(&why, 160)));
    }
    head
}

/// Everything about every action, if that is small enough.
fn full(view: &View<'_>, entry: &Entry, actions: &[&ActionManifest]) -> Option<Value> {
    let mut answer = head(view, entry);
    answer.insert("version".to_owned(), json!(entry.manifest.version));
    let mut shown = Vec::new();
    let mut size = 0;
    for action in actions {
        let action = full_action(view, entry, action);
        size += budget::bytes(&action);
        // A giant is left before it is built.
        if size > view.max_bytes {
            return None;
        }
        shown.push(action);
    }
    answer.insert("actions".to_owned(), Value::Array(shown));
    if actions.iter().any(|action| (view.effect)(entry, action).1) {
        let kind = entry.manifest.kind;
        let sentence = format!(
            "{} refuses the actions marked `needs_human`; {} runs them once a human has agreed",
            call::door(kind, false),
            call::door(kind, true)
        );
        answer.insert("confirm".to_owned(), json!(sentence));
    }
    let answer = Value::Object(answer);
    (budget::bytes(&answer) <= view.max_bytes).then_some(answer)
}

fn full_action(view: &View<'_>, entry: &Entry, action: &ActionManifest) -> Value {
    let mut shown = Map::new();
    if let Some(name) = &action.name {
        shown.insert("name".to_owned(), json!(name));
        shown.insert("description".to_owned(), json!(action.description));
    }
    let (effect, needs_human) = (view.effect)(entry, action);
    shown.insert("effect".to_owned(), json!(effect.as_str()));
    if needs_human {
        shown.insert("needs_human".to_owned(), json!(true));
    }
    shown.insert("arguments".to_owned(), input_schema(action));
    if let Some(output) = action.output.as_ref().and_then(|output| returns(output, Output::Full)) {
        shown.insert("returns".to_owned(), output);
    }
    let args = call::shown_args(action, LONG_EXAMPLE);
    shown.insert("call".to_owned(), call::literal(view, entry, action, args));
    Value::Object(shown)
}

/// The names of an entry's actions, with as much beside them as fits.
fn index(view: &View<'_>, entry: &Entry, actions: &[&ActionManifest]) -> Value {
    let limit = INDEX_LIMIT.min(view.max_bytes.max(ACTION_LIMIT));
    let names: Vec<&str> = actions.iter().filter_map(|action| action.name.as_deref()).collect();
    let name = entry.manifest.name.as_str();
    let first = names.first().copied().unwrap_or_default();
    let next = format!(
        "{}; {}",
        pointers(&[("name", name), ("action", first)], "gives one action's arguments and the call to make"),
        pointers(&[("name", name), ("search", "what you want to do")], "finds actions in it"),
    );
    let answer = |key: &str, content: Value| {
        let mut answer = head(view, entry);
        answer.insert("count".to_owned(), json!(names.len()));
        answer.insert(key.to_owned(), content);
        answer.insert("next".to_owned(), json!(next));
        Value::Object(answer)
    };
    let described = |limit: usize| {
        let described = actions.iter().filter_map(|action| {
            let description = budget::cut(&action.description, limit);
            Some((action.name.clone()?, json!(description)))
        });
        answer("actions", Value::Object(described.collect()))
    };
    let steps = [120, 80, 50].into_iter().map(described);
    let bare = std::iter::once_with(|| answer("actions", json!(names)));
    let by_beginning = std::iter::once_with(|| answer("actions_by_beginning", groups::by_beginning(&names)));
    let by_word = std::iter::once_with(|| match groups::by_first_word(&names, 200) {
        Some(groups) => answer("groups", json!(groups)),
        None => answer("ranges", json!(groups::ranges(&names, 80))),
    });
    let ranges = [40, 20, 8].into_iter().map(|count| answer("ranges", json!(groups::ranges(&names, count))));
    budget::first_fitting(limit, steps.chain(bare).chain(by_beginning).chain(by_word).chain(ranges))
}
