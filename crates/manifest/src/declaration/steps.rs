//! Reads the steps of a composed operation and where the values of its calls and of its result come from.
//!
//! Whether the result fits the output schema is asked in [`super::result`]. Start at [`Composed::read`].

use std::collections::{HashMap, HashSet};

use crate::argument::check_names;
use crate::diagnostic::quoted;
use crate::document::Kind;
use crate::findings::Findings;
use crate::keys::Keys;
use crate::reference::MOST_ARGUMENTS;
use crate::reference::surface::{CONDITION, MOST_MEMBERS, MOST_POINTER, MOST_STEPS, SOURCE, STEP};
use crate::rule;
use crate::surface::{
    BindingManifest, ConditionManifest, OutputMemberManifest, StepManifest, SurfaceArgumentManifest, TargetManifest,
    Test, ValueSource,
};
use crate::yaml::Pair;

use super::{check_kind, pointer, target};

/// A composed operation, as far as it could be read.
pub(super) struct Composed<'n> {
    pub(super) steps: Vec<StepManifest>,
    pub(super) output: Vec<OutputMemberManifest>,
    /// The names of all members of the result, those without a readable source among them.
    pub(super) written: Vec<&'n str>,
}

impl<'n> Composed<'n> {
    /// What a published tool says of its steps and its result.
    pub(super) fn read(
        keys: Keys<'n>,
        args: &[SurfaceArgumentManifest],
        findings: &mut Findings<'_, '_>,
    ) -> Composed<'n> {
        let items: Vec<Keys<'_>> = keys.items("steps").iter().take(MOST_STEPS).filter_map(Keys::of).collect();
        check_number(keys, items.len(), findings);
        let mut sources = Sources::of(&items, args);
        let steps = items.iter().enumerate();
        let steps: Vec<StepManifest> = steps.map(|(number, step)| sources.step(number, *step, findings)).collect();
        let named = steps.iter().filter(|step| !step.id.is_empty()).map(|step| (step.id.as_str(), step.position));
        check_names("step", named, findings);
        let written = members(keys, "output", MOST_MEMBERS);
        // Without a result nobody can say what is used.
        sources.doubtful |= written.is_empty();
        let read = |pair: &'n Pair<'n>| {
            let source = sources.source(steps.len(), pair, findings)?;
            Some(OutputMemberManifest { name: pair.key.to_string(), source, position: pair.at })
        };
        let output = written.iter().filter_map(read).collect();
        check_last(&items, findings);
        sources.check_use(keys, &steps, findings);
        Composed { steps, output, written: written.iter().map(|pair| pair.key.as_ref()).collect() }
    }
}

/// What a source may name, and what was named so far.
struct Sources<'n> {
    args: &'n [SurfaceArgumentManifest],
    names: HashSet<&'n str>,
    /// From a step's id to its number; of two that share an id, the first.
    ids: HashMap<&'n str, usize>,
    used_arguments: HashSet<&'n str>,
    used_steps: HashSet<usize>,
    /// Whether a source was wrong, so that what seems unused may be what it meant.
    doubtful: bool,
}

impl<'n> Sources<'n> {
    fn of(steps: &[Keys<'n>], args: &'n [SurfaceArgumentManifest]) -> Sources<'n> {
        let mut ids = HashMap::new();
        for (number, id) in steps.iter().enumerate().filter_map(|(number, step)| Some((number, step.text("id")?))) {
            ids.entry(id).or_insert(number);
        }
        Sources {
            args,
            names: args.iter().map(|argument| argument.name.as_str()).collect(),
            ids,
            used_arguments: HashSet::new(),
            used_steps: HashSet::new(),
            doubtful: false,
        }
    }

    fn step(&mut self, number: usize, keys: Keys<'n>, findings: &mut Findings<'_, '_>) -> StepManifest {
        let (id, position) = keys.text_at("id").unwrap_or(("", keys.at));
        check_kind(keys, &STEP, &["tool", "agent"], findings);
        let nothing = || TargetManifest { kind: Kind::Tool, entry: String::new(), action: None, position };
        let read = |pair: &'n Pair<'n>| {
            let source = self.source(number, pair, findings)?;
            Some(BindingManifest { name: pair.key.to_string(), source, position: pair.at })
        };
        let args = members(keys, "args", MOST_ARGUMENTS).iter().filter_map(read).collect();
        let stop_when = keys.node("stop_when").and_then(Keys::of).and_then(|keys| condition(keys, findings));
        self.doubtful |= stop_when.is_none() && keys.pair("stop_when").is_some();
        StepManifest { id: id.to_owned(), target: target(keys).unwrap_or_else(nothing), args, stop_when, position }
    }

    /// Where one value comes from; `before` is the number of the step that asks, which no source may name.
    fn source(&mut self, before: usize, pair: &'n Pair<'n>, findings: &mut Findings<'_, '_>) -> Option<ValueSource> {
        let Some(keys) = Keys::of(&pair.value) else {
            self.doubtful = true;
            return None;
        };
        let kind = kind_of_source(pair, keys, findings);
        let at = pointer_of(keys, findings);
        self.doubtful |= kind.is_none() || at.is_none();
        match kind? {
            SourceKind::Argument => self.argument(keys, findings),
            SourceKind::Value => keys.json("value").map(ValueSource::Fixed),
            SourceKind::Step => self.earlier(before, keys, at?, findings),
        }
    }

    fn argument(&mut self, keys: Keys<'n>, findings: &mut Findings<'_, '_>) -> Option<ValueSource> {
        let (name, at) = keys.text_at("arg")?;
        if self.names.contains(name) {
            self.used_arguments.insert(name);
            return Some(ValueSource::Argument(name.to_owned()));
        }
        self.doubtful = true;
        let near = findings.did_you_mean(name, self.args.iter().map(|argument| argument.name.as_str()));
        findings.add_with_help(&rule::UNKNOWN_ARGUMENT, at, || {
            (format!("there is no published argument {}", quoted(name)), near)
        });
        None
    }

    fn earlier(
        &mut self,
        before: usize,
        keys: Keys<'n>,
        pointer: &str,
        findings: &mut Findings<'_, '_>,
    ) -> Option<ValueSource> {
        let (step, at) = keys.text_at("step")?;
        match self.ids.get(step) {
            Some(number) if *number < before => {
                self.used_steps.insert(*number);
                Some(ValueSource::Step { step: step.to_owned(), at: pointer.to_owned() })
            }
            Some(number) => {
                self.doubtful = true;
                findings.add(&rule::LATER_STEP, at, || {
                    let when = if *number == before { "this step itself" } else { "a later step" };
                    format!("{} is {when}, which has no result yet", quoted(step))
                });
                None
            }
            None => {
                self.doubtful = true;
                let known = self.ids.iter().filter(|(_, number)| **number < before).map(|(id, _)| *id);
                let near = findings.did_you_mean(step, known);
                findings
                    .add_with_help(&rule::UNKNOWN_STEP, at, || (format!("there is no step {}", quoted(step)), near));
                None
            }
        }
    }

    /// Reports arguments and steps of which nothing makes use.
    fn check_use(&self, keys: Keys<'_>, steps: &[StepManifest], findings: &mut Findings<'_, '_>) {
        if self.doubtful || steps.is_empty() {
            return;
        }
        for argument in self.args.iter().filter(|argument| !self.used_arguments.contains(argument.name.as_str())) {
            findings.add(&rule::ARGUMENT_UNUSED, argument.position, || {
                format!("{} is asked for, and nothing uses it", quoted(&argument.name))
            });
        }
        if keys.flag("read_only") != Some(true) {
            return;
        }
        let unused =
            |(number, step): &(usize, &StepManifest)| !self.used_steps.contains(number) && step.stop_when.is_none();
        for (_, step) in steps.iter().enumerate().filter(unused) {
            findings.add(&rule::STEP_UNUSED, step.position, || {
                format!("step {} changes nothing, and nothing uses its result", quoted(&step.id))
            });
        }
    }
}

/// The three kinds of source.
#[derive(Clone, Copy)]
enum SourceKind {
    Argument,
    Value,
    Step,
}

impl SourceKind {
    fn of(key: &str) -> Option<SourceKind> {
        match key {
            "arg" => Some(SourceKind::Argument),
            "value" => Some(SourceKind::Value),
            "step" => Some(SourceKind::Step),
            _ => None,
        }
    }
}

/// Which one of the three kinds of source a value has; none, several, and an `at` without a step are reported.
fn kind_of_source(pair: &Pair<'_>, keys: Keys<'_>, findings: &mut Findings<'_, '_>) -> Option<SourceKind> {
    let named = keys.pairs().iter().filter(|pair| !pair.value.is_null());
    let mut named = named.filter_map(|pair| Some((pair, SourceKind::of(&pair.key)?)));
    let (first, second) = (named.next(), named.next());
    let Some((first, kind)) = first else {
        no_source(pair, keys, findings);
        return None;
    };
    if let Some((second, _)) = second {
        findings.add(&rule::SOURCE_KIND, second.at, || {
            format!("{} has one source, and `{}` stands beside `{}`", quoted(&pair.key), second.key, first.key)
        });
        return None;
    }
    if let (SourceKind::Argument | SourceKind::Value, Some(at)) = (kind, keys.pair("at")) {
        findings.add_with_help(&rule::SOURCE_KIND, at.at, || {
            let message = format!("`at` points into the result of a step, and {} takes no step's", quoted(&pair.key));
            (message, Some("remove `at`, or name the `step`".to_owned()))
        });
    }
    Some(kind)
}

fn no_source(pair: &Pair<'_>, keys: Keys<'_>, findings: &mut Findings<'_, '_>) {
    // Whatever was mistyped may be what is missing.
    if keys.pairs().iter().any(|pair| SOURCE.key(&pair.key).is_none()) {
        return;
    }
    let null = keys.pairs().iter().find(|pair| pair.key == "value");
    findings.add_with_help(&rule::SOURCE_KIND, null.map_or(pair.at, |null| null.at), || match null {
        Some(_) => {
            let message = format!("the value of {} is null, which means absent", quoted(&pair.key));
            (message, Some(format!("remove {}, or write a value", quoted(&pair.key))))
        }
        None => (format!("{} has no source", quoted(&pair.key)), None),
    });
}

fn members<'n>(keys: Keys<'n>, key: &str, most: usize) -> &'n [Pair<'n>] {
    let pairs = keys.node(key).and_then(Keys::of).map(Keys::pairs).unwrap_or_default();
    pairs.get(..most).unwrap_or(pairs)
}

fn check_number(keys: Keys<'_>, steps: usize, findings: &mut Findings<'_, '_>) {
    if let Some(pair) = keys.pair("steps").filter(|pair| steps < 2 && pair.value.list().is_some()) {
        findings.add(&rule::FEW_STEPS, pair.at, || {
            let what = if steps == 0 { "no step" } else { "one step" };
            format!("`steps` has {what}, and a composed operation has at least two")
        });
    }
}

fn check_last(steps: &[Keys<'_>], findings: &mut Findings<'_, '_>) {
    let last = steps.last().filter(|_| steps.len() > 1);
    if let Some(pair) = last.and_then(|last| last.pair("stop_when")) {
        findings.add(&rule::STOP_AT_END, pair.at, || "nothing follows that could be left out".to_owned());
    }
}

fn condition(keys: Keys<'_>, findings: &mut Findings<'_, '_>) -> Option<ConditionManifest> {
    let at = pointer_of(keys, findings);
    let is_test = |pair: &&Pair<'_>| matches!(pair.key.as_ref(), "is" | "equals" | "differs_from");
    let tests: Vec<&Pair<'_>> = keys.pairs().iter().filter(is_test).collect();
    let test = match tests.as_slice() {
        [test] => test,
        [first, second, ..] => {
            findings.add(&rule::CONDITION_TEST, second.at, || {
                format!("a condition tests one thing, and `{}` stands beside `{}`", second.key, first.key)
            });
            return None;
        }
        [] => {
            if keys.pairs().iter().all(|pair| CONDITION.key(&pair.key).is_some()) {
                findings.add(&rule::CONDITION_TEST, keys.at, || "the condition tests nothing".to_owned());
            }
            return None;
        }
    };
    if test.value.is_null() && test.key != "is" {
        findings.add_with_help(&rule::CONDITION_TEST, test.at, || {
            let message = format!("`{}` compares with null, which means that nothing is there", test.key);
            (message, Some("write `is: missing`".to_owned()))
        });
        return None;
    }
    let test = match (test.key.as_ref(), test.value.text()) {
        ("is", Some("missing")) => Test::Missing,
        ("is", Some("empty")) => Test::Empty,
        ("is", _) => return None,
        ("equals", _) => Test::Equals(test.value.json()?),
        _ => Test::DiffersFrom(test.value.json()?),
    };
    Some(ConditionManifest { at: at?.to_owned(), test, position: keys.at })
}

/// The JSON Pointer under `at`, empty where there is none; `None` for one that is reported.
fn pointer_of<'n>(keys: Keys<'n>, findings: &mut Findings<'_, '_>) -> Option<&'n str> {
    let Some((text, at)) = keys.text_at("at") else { return Some("") };
    if text.chars().take(MOST_POINTER + 1).count() > MOST_POINTER {
        // Told already, as a text that is too long.
        return None;
    }
    let Some(fault) = pointer::fault(text) else { return Some(text) };
    findings.add_with_help(&rule::POINTER_FORM, at, || {
        let help = match pointer::meant(text) {
            Some(meant) => format!("did you mean {}?", quoted(&meant)),
            None => "leave `at` out for the whole result".to_owned(),
        };
        (format!("{} {fault}", quoted(text)), Some(help))
    });
    None
}
