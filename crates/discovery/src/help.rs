//! Help for a wrong call: an error that names the right one.
//!
//! Owns the codes and texts of usage errors. Every suggestion is something that this caller may see: what it may not see
//! is neither named nor counted. Values that the caller sent are never repeated in a text. Start at [`UsageError`].

use gatelatch_registry::arguments::{ArgumentFault, Arguments};
use gatelatch_registry::catalog::{ActionManifest, Entry, Kind, Skill};
use serde_json::{Map, Value, json};

use crate::budget;
use crate::call;
use crate::ladder::{self, Filter, View};

mod child;
mod fault;
mod suggestion;

/// A call that cannot be made as it stands, and the way to the right one.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct UsageError {
    /// A stable code.
    pub error: &'static str,
    /// What is wrong, and what to do.
    pub message: String,
    /// The same in the words of the command line, where the message names MCP tools or their arguments.
    pub typed: Option<String>,
    /// The right arguments, as the manifest spells them.
    pub schema: Option<Value>,
    /// Names that come close to the wrong one, the closest first.
    pub did_you_mean: Vec<String>,
    /// The literal call to make. It may hold values that the caller sent: it is for the caller, not for a log.
    pub example: Option<Value>,
}

impl UsageError {
    /// The error as JSON; what is empty is left out.
    pub fn to_value(&self) -> Value {
        let mut value = Map::new();
        value.insert("error".to_owned(), json!(self.error));
        value.insert("message".to_owned(), json!(self.message));
        if !self.did_you_mean.is_empty() {
            value.insert("did_you_mean".to_owned(), json!(self.did_you_mean));
        }
        if let Some(example) = &self.example {
            value.insert("example".to_owned(), example.clone());
        }
        if let Some(schema) = &self.schema {
            value.insert("schema".to_owned(), schema.clone());
        }
        Value::Object(value)
    }

    /// Within [`LIMIT`]: first the example goes, then the suggestions from the last one on.
    fn fitted(mut self) -> UsageError {
        if budget::bytes(&self.to_value()) > LIMIT {
            self.example = None;
        }
        while budget::bytes(&self.to_value()) > LIMIT && self.did_you_mean.pop().is_some() {}
        self
    }
}

/// What a wrong call asked for beside the name that is wrong: its example keeps as much of that as fits.
#[derive(Clone, Copy, Debug)]
pub struct Attempt<'a> {
    /// The action, as the caller spelled it.
    pub action: Option<&'a str>,
    /// The raw arguments.
    pub args: &'a Value,
}

impl Attempt<'_> {
    const NOTHING: Attempt<'static> = Attempt { action: None, args: &Value::Null };
}

/// No visible tool, agent or skill of that name. `unknown_tool`, `unknown_agent`, `unknown_skill`.
pub fn unknown_entry(view: &View<'_>, kind: Kind, name: &str) -> UsageError {
    wrong_entry(view, kind, name, Attempt::NOTHING)
}

/// The same for a call that said more than the name.
pub fn wrong_entry(view: &View<'_>, kind: Kind, name: &str, attempt: Attempt<'_>) -> UsageError {
    absent(view, Some(Filter::Kind(kind)), name, Purpose::Run(attempt))
}

/// No visible action of that name: `unknown_action`; or none named where there are several: `missing_action`.
pub fn unknown_action(view: &View<'_>, entry: &Entry, action: Option<&str>) -> UsageError {
    wrong_action(view, entry, Attempt { action, ..Attempt::NOTHING })
}

/// The same for a call that gave arguments.
pub fn wrong_action(view: &View<'_>, entry: &Entry, attempt: Attempt<'_>) -> UsageError {
    let Attempt { action, args } = attempt;
    let names: Vec<&str> = view.actions(entry).filter_map(|action| action.name.as_deref()).collect();
    let what = format!("{} `{}`", entry.manifest.kind.as_str(), shown(&entry.manifest.name));
    let Some(wrong) = action else {
        let few = names.len() <= MANY;
        return UsageError {
            error: "missing_action",
            message: format!("{what} has {}: name one in `action`", count(&names, "action")),
            typed: Some(format!("{what} has {}: name one behind it", count(&names, "action"))),
            schema: None,
            did_you_mean: if few { named(names.iter().copied()) } else { Vec::new() },
            example: match names.first() {
                Some(first) if few => example_of(view, entry, taker(view, entry, args).unwrap_or(first), args),
                _ => Some(call::capabilities(&[("name", &entry.manifest.name)])),
            },
        }
        .fitted();
    };
    let Some(first) = names.first() else {
        return UsageError {
            error: "unknown_action",
            message: format!("{what} has a single action without a name: leave `action` out"),
            typed: Some(format!("{what} has a single action without a name: leave the action out")),
            schema: None,
            did_you_mean: Vec::new(),
            example: view.actions(entry).next().map(|only| call_of(view, entry, only, args)),
        }
        .fitted();
    };
    let mut close = suggestion::best_fitting(wrong, names.iter().copied(), FEW, &|name| doubt(view, entry, name, args));
    let owners = owners(view, wrong, Some(entry));
    if close.is_empty() && owners.is_empty() {
        let within = Some((entry.manifest.kind, entry.manifest.name.as_str()));
        let hits = ladder::search(view, &suggestion::spaced(wrong), within, FEW);
        close = hits.into_iter().filter_map(|hit| hit.action).filter(|name| name.len() <= LONG_NAME).collect();
    }
    let mut text = Text::new(format!("{what} has no action `{}`", shown(wrong)));
    match owners.first() {
        Some(owner) if close.is_empty() => {
            text.add(&format!("; {} `{}` has", owner.manifest.kind.as_str(), shown(&owner.manifest.name)));
        }
        _ if names.len() <= MANY => {}
        _ => text.add_each(
            &format!("; capabilities {} lists its {}", json!({"name": entry.manifest.name}), count(&names, "action")),
            &format!("; `gatelatch show {}` lists its {}", shown(&entry.manifest.name), count(&names, "action")),
        ),
    }
    let example = match (close.first(), owners.first()) {
        (Some(name), _) => example_of(view, entry, name, args),
        (None, Some(owner)) => example_of(view, owner, wrong, args),
        (None, None) => example_of(view, entry, first, args).filter(|_| names.len() == 1),
    };
    let did_you_mean = if close.is_empty() && names.len() <= MANY { named(names.iter().copied()) } else { close };
    text.into_error("unknown_action", did_you_mean, example)
}

/// Arguments that do not fit the action, with everything that is wrong with them. `bad_arguments`.
pub fn bad_arguments(
    view: &View<'_>,
    entry: &Entry,
    action: &ActionManifest,
    raw: &Value,
    faults: &[ArgumentFault],
) -> UsageError {
    fault::bad_arguments(view, entry, action, raw, faults)
}

/// Help for a child that refused its own command line over something that the manifest does not declare. `None` when
/// its error is about anything else, above all about the remote side.
pub fn child_usage(view: &View<'_>, entry: &Entry, action: &ActionManifest, child_error: &Value) -> Option<UsageError> {
    child::usage(view, entry, action, child_error)
}

/// The largest usage error, in bytes.
const LIMIT: usize = 1_200;

/// How many close names are suggested.
const FEW: usize = 5;

/// How many names are listed where none is close.
const MANY: usize = 12;

/// An example of more bytes than this is not shown in a call.
const LONG_ARGS: usize = 300;

/// Nor are own arguments of more bytes repeated in one.
const LONG_OWN: usize = 600;

/// A name longer than this is not repeated in full.
const LONG_NAME: usize = 80;

pub(crate) fn unknown_name(view: &View<'_>, filter: Option<Filter>, name: &str) -> UsageError {
    absent(view, filter, name, Purpose::Look)
}

pub(crate) fn ambiguous_name(name: &str, kinds: &[Kind]) -> UsageError {
    let words: Vec<String> = kinds.iter().map(|kind| format!("{} {}", article(*kind), kind.as_str())).collect();
    let first = kinds.first().map_or("tool", |kind| kind.as_str());
    let mut text = Text::new(format!("`{}` is {}", shown(name), words.join(" and ")));
    text.add_each(": add `kind`", &format!(": add --kind, such as --kind {first}"));
    let names = kinds.iter().map(|kind| kind.as_str().to_owned()).collect();
    text.into_error("ambiguous_name", names, Some(call::capabilities(&[("kind", first), ("name", name)])))
}

pub(crate) fn unknown_kind(kind: &str, known: &[&str]) -> UsageError {
    UsageError {
        error: "unknown_kind",
        message: format!("`{}` is no kind: `kind` is one of {}", shown(kind), listed(known)),
        typed: None,
        schema: None,
        did_you_mean: known.iter().map(|kind| (*kind).to_owned()).collect(),
        example: None,
    }
}

pub(crate) fn search_with_action(name: Option<&str>, action: &str, search: &str) -> UsageError {
    let example = match name {
        Some(name) => call::capabilities(&[("name", name), ("action", action)]),
        None => call::capabilities(&[("search", search)]),
    };
    UsageError {
        error: "bad_request",
        message: "`search` and `action` exclude each other: `name` with `action` shows one action, `search` finds \
                  actions by words, alone or inside `name`"
            .to_owned(),
        typed: None,
        schema: None,
        did_you_mean: Vec::new(),
        example: Some(example),
    }
    .fitted()
}

pub(crate) fn action_without_name(view: &View<'_>, filter: Option<Filter>, action: &str) -> UsageError {
    let owners: Vec<&Entry> =
        owners(view, action, None).into_iter().filter(|entry| view.passes(entry, filter)).collect();
    let example = match owners.first() {
        Some(owner) => call::capabilities(&[("name", &owner.manifest.name), ("action", action)]),
        None => call::capabilities(&[("search", action)]),
    };
    UsageError {
        error: "bad_request",
        message: "`action` needs the `name` of the entry that it belongs to; `search` finds actions by words"
            .to_owned(),
        typed: None,
        schema: None,
        did_you_mean: named(owners.iter().take(FEW).map(|entry| entry.manifest.name.as_str())),
        example: Some(example),
    }
    .fitted()
}

pub(crate) fn skill_has_no_actions(skill: &Skill) -> UsageError {
    let name = &skill.manifest.name;
    let mut text = Text::new(format!("`{}` is a skill and has no actions: ", shown(name)));
    text.add_each("get_skill gives its text", &format!("`gatelatch skill {}` prints its text", shown(name)));
    let example = json!({"tool": "get_skill", "arguments": {"name": name}});
    text.into_error("bad_request", Vec::new(), Some(example))
}

/// What a name was for.
#[derive(Clone, Copy)]
enum Purpose<'a> {
    Run(Attempt<'a>),
    Look,
}

impl<'a> Purpose<'a> {
    fn attempt(self) -> Attempt<'a> {
        match self {
            Purpose::Run(attempt) => attempt,
            Purpose::Look => Attempt::NOTHING,
        }
    }
}

/// Nothing of that name passes the filter.
fn absent(view: &View<'_>, filter: Option<Filter>, name: &str, purpose: Purpose<'_>) -> UsageError {
    let error = match filter {
        Some(Filter::Kind(Kind::Tool)) => "unknown_tool",
        Some(Filter::Kind(Kind::Agent)) => "unknown_agent",
        Some(Filter::Kind(Kind::Skill)) => "unknown_skill",
        Some(Filter::Toolset) | None => "unknown_name",
    };
    let what = filter.map_or("tool, agent or skill", Filter::as_str);
    let mut text = Text::new(format!("there is no {what} `{}`", shown(name)));
    let attempt = purpose.attempt();
    let detour = other_kind(view, name, "it", attempt)
        .or_else(|| entry_and_action(view, name, attempt))
        .or_else(|| lone_action(view, name, attempt));
    if let Some(detour) = detour {
        return detour.into_error(error, name, text, purpose);
    }
    let entries = view.entries(filter).map(|entry| entry.manifest.name.as_str());
    let skills = view.skills(filter).map(|skill| skill.manifest.name.as_str());
    let mut close = suggestion::best(name, entries.chain(skills), FEW);
    if close.first().is_none_or(|first| suggestion::clear(name, std::iter::once(first.as_str())).is_none())
        && let Some(detour) = near_of_other_kind(view, filter, name, attempt)
    {
        return detour.into_error(error, name, text, purpose);
    }
    if close.is_empty() {
        let hits = ladder::search_filtered(view, &suggestion::spaced(name), filter, 4 * FEW);
        for entry in hits.into_iter().map(|hit| hit.entry).filter(|entry| entry.len() <= LONG_NAME) {
            if !close.contains(&entry) && close.len() < FEW {
                close.push(entry);
            }
        }
    }
    let example = match close.first() {
        Some(first) => run_of(view, filter, first, purpose).or_else(|| Some(look_at(filter, first))),
        None => {
            text.add_each("; capabilities {} lists what there is", "; `gatelatch list` shows what there is");
            Some(call::capabilities(&[("search", &suggestion::spaced(name))]))
        }
    };
    text.into_error(error, close, example)
}

/// The call that was meant, where a name was mistyped and the rest says which action.
fn run_of(view: &View<'_>, filter: Option<Filter>, name: &str, purpose: Purpose<'_>) -> Option<Value> {
    let (Purpose::Run(attempt), Some(Filter::Kind(kind))) = (purpose, filter) else { return None };
    let entry = view.entry(kind, name)?;
    let action = meant_action(view, entry, attempt)?;
    Some(call_of(view, entry, action, attempt.args))
}

/// The visible action of an entry that a call means: the one that it names, nearly names, or the only one.
fn meant_action<'e>(view: &View<'_>, entry: &'e Entry, attempt: Attempt<'_>) -> Option<&'e ActionManifest> {
    match attempt.action {
        Some(name) => view.action(entry, name).or_else(|| {
            let names = view.actions(entry).filter_map(|action| action.name.as_deref());
            let doubt = |name: &str| doubt(view, entry, name, attempt.args);
            suggestion::best_fitting(name, names, 1, &doubt).first().and_then(|name| view.action(entry, name))
        }),
        None => {
            let mut actions = view.actions(entry);
            actions.next().filter(|_| actions.next().is_none())
        }
    }
}

/// What speaks against an action of a name that comes close: each way in which the arguments do not fit it, where there
/// are any; and of two that are equally close, that it cannot be undone.
fn doubt(view: &View<'_>, entry: &Entry, action: &str, args: &Value) -> f32 {
    const FAULT: f32 = 0.1;
    const MOST_FAULTS: usize = 4;
    const TIE: f32 = 0.001;
    let Some(action) = view.action(entry, action) else { return 0.0 };
    let given = args.as_object().is_some_and(|args| !args.is_empty());
    let faults = Arguments::parse(action, args).err().filter(|_| given).map_or(0, |faults| faults.len());
    let (_, needs_human) = (view.effect)(entry, action);
    FAULT * faults.min(MOST_FAULTS) as f32 + if needs_human { TIE } else { 0.0 }
}

/// The only visible action of an entry that takes these arguments as they are.
fn taker<'e>(view: &View<'_>, entry: &'e Entry, args: &Value) -> Option<&'e str> {
    args.as_object().filter(|args| !args.is_empty())?;
    let mut takers = view.actions(entry).filter(|action| Arguments::parse(action, args).is_ok());
    let first = takers.next().filter(|_| takers.next().is_none())?;
    first.name.as_deref()
}

fn look_at(filter: Option<Filter>, name: &str) -> Value {
    match filter {
        Some(Filter::Kind(Kind::Skill)) => json!({"tool": "get_skill", "arguments": {"name": name}}),
        Some(filter) => call::capabilities(&[("kind", filter.as_str()), ("name", name)]),
        None => call::capabilities(&[("name", name)]),
    }
}

/// A message as it grows, for callers of MCP tools and in the words of the command line.
struct Text {
    message: String,
    typed: String,
}

impl Text {
    fn new(both: String) -> Text {
        Text { message: both.clone(), typed: both }
    }

    fn add(&mut self, both: &str) {
        self.add_each(both, both);
    }

    fn add_each(&mut self, message: &str, typed: &str) {
        self.message.push_str(message);
        self.typed.push_str(typed);
    }

    fn into_error(self, error: &'static str, did_you_mean: Vec<String>, example: Option<Value>) -> UsageError {
        let typed = Some(self.typed).filter(|typed| *typed != self.message);
        UsageError { error, message: self.message, typed, schema: None, did_you_mean, example }.fitted()
    }
}

/// What the caller may have meant by a name that is not what it was taken for.
struct Detour {
    /// For both kinds of caller.
    sentence: Text,
    names: Vec<String>,
    run: Option<Value>,
    look: Option<Value>,
}

impl Detour {
    fn into_error(self, error: &'static str, asked: &str, mut text: Text, purpose: Purpose<'_>) -> UsageError {
        text.add("; ");
        text.add_each(&self.sentence.message, &self.sentence.typed);
        let example = match purpose {
            Purpose::Run(_) => self.run,
            Purpose::Look => self.look,
        };
        // The very word that was asked for is no suggestion.
        let names = self.names.into_iter().filter(|name| name != asked).collect();
        text.into_error(error, names, example)
    }
}

/// The name of something of another kind.
fn other_kind(view: &View<'_>, name: &str, subject: &str, attempt: Attempt<'_>) -> Option<Detour> {
    let entry = [Kind::Tool, Kind::Agent].into_iter().find_map(|kind| view.entry(kind, name));
    let look = Some(call::capabilities(&[("name", name)]));
    if let Some(entry) = entry {
        let kind = entry.manifest.kind;
        let needs_human = view.actions(entry).next().is_some_and(|action| (view.effect)(entry, action).1);
        let mut sentence = Text::new(format!("{subject} is {} {}: use ", article(kind), kind.as_str()));
        let verb = if kind == Kind::Agent { "agent" } else { "run" };
        sentence.add_each(call::door(kind, needs_human), &format!("`gatelatch {verb} {}`", shown(name)));
        let run = match meant_action(view, entry, attempt) {
            Some(meant) => Some(call_of(view, entry, meant, attempt.args)),
            None => look.clone(),
        };
        return Some(Detour { sentence, names: vec![name.to_owned()], run, look });
    }
    view.skill(name)?;
    let read = json!({"tool": "get_skill", "arguments": {"name": name}});
    let mut sentence = Text::new(format!("{subject} is a skill: "));
    sentence.add_each("get_skill gives its text", &format!("`gatelatch skill {}` prints its text", shown(name)));
    Some(Detour { sentence, names: vec![name.to_owned()], run: Some(read), look })
}

/// Something of another kind whose name the wrong one clearly means.
fn near_of_other_kind(view: &View<'_>, filter: Option<Filter>, name: &str, attempt: Attempt<'_>) -> Option<Detour> {
    let entries = view.entries(None).map(|entry| entry.manifest.name.as_str());
    let skills = view.skills(None).map(|skill| skill.manifest.name.as_str());
    let meant = suggestion::clear(name, entries.chain(skills)).filter(|_| filter.is_some())?;
    other_kind(view, meant, &format!("`{}`", shown(meant)), attempt)
}

/// `outbox.send-message`, `outbox/send-message`, `outbox:send-message`, `outbox send-message`.
fn entry_and_action(view: &View<'_>, name: &str, attempt: Attempt<'_>) -> Option<Detour> {
    let seams = name.char_indices().filter(|(_, c)| matches!(c, '.' | '/' | ':' | ' '));
    seams.into_iter().find_map(|(at, seam)| {
        let (entry, action) = (&name[..at], &name[at + seam.len_utf8()..]);
        let entry = [Kind::Tool, Kind::Agent].into_iter().find_map(|kind| view.entry(kind, entry))?;
        view.action(entry, action)?;
        Some(detour_to(view, entry, action, attempt))
    })
}

/// The name of an action that exactly one visible entry has.
fn lone_action(view: &View<'_>, name: &str, attempt: Attempt<'_>) -> Option<Detour> {
    match owners(view, name, None).as_slice() {
        [owner] => Some(detour_to(view, owner, name, attempt)),
        _ => None,
    }
}

fn detour_to(view: &View<'_>, entry: &Entry, action: &str, attempt: Attempt<'_>) -> Detour {
    let kind = entry.manifest.kind;
    let name = &entry.manifest.name;
    Detour {
        sentence: Text::new(format!("`{}` is an action of {} `{}`", shown(action), kind.as_str(), shown(name))),
        names: vec![name.clone()],
        run: example_of(view, entry, action, attempt.args),
        look: Some(call::capabilities(&[("name", name), ("action", action)])),
    }
}

/// The visible entries, apart from one, that have an action of that name.
fn owners<'a>(view: &View<'a>, action: &str, apart_from: Option<&Entry>) -> Vec<&'a Entry> {
    let entries = view.entries(None).filter(|entry| !apart_from.is_some_and(|apart| std::ptr::eq(*entry, apart)));
    entries.filter(|entry| view.action(entry, action).is_some()).collect()
}

fn example_of(view: &View<'_>, entry: &Entry, action: &str, args: &Value) -> Option<Value> {
    view.action(entry, action).map(|action| call_of(view, entry, action, args))
}

/// The call of an action with the caller's own arguments, corrected where they do not fit; where it gave none, or too
/// many to repeat, with those that show how.
fn call_of(view: &View<'_>, entry: &Entry, action: &ActionManifest, args: &Value) -> Value {
    let own = fault::corrected(action, args).filter(|own| budget::bytes(&Value::Object(own.clone())) <= LONG_OWN);
    call::literal(view, entry, action, own.unwrap_or_else(|| call::shown_args(action, LONG_ARGS)))
}

/// A name as a text repeats it.
fn shown(name: &str) -> String {
    budget::cut(name, LONG_NAME)
}

/// Names as suggestions; one that is too long to repeat is left out, since half a name helps nobody.
fn named<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    names.filter(|name| name.len() <= LONG_NAME).map(str::to_owned).collect()
}

fn listed(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn count<T>(things: &[T], what: &str) -> String {
    match things.len() {
        1 => format!("1 {what}"),
        several => format!("{several} {what}s"),
    }
}

fn article(kind: Kind) -> &'static str {
    match kind {
        Kind::Agent => "an",
        Kind::Tool | Kind::Skill => "a",
    }
}
