//! What the arguments of an operation get, held against what its manifest says that they take. Start at
//! [`Linking::check_arguments`].

use gatelatch_manifest::diagnostic::{Position, quoted};
use gatelatch_manifest::fit::{fit, less};
use gatelatch_manifest::nearest::nearest;
use gatelatch_manifest::rule;
use gatelatch_manifest::surface::SurfaceArgumentManifest;
use gatelatch_registry::catalog::ArgumentManifest;
use serde_json::Value;

use super::Linking;
use super::operation::Operation;
use crate::agreement::is_narrower;
use crate::shape::{Part, Types};

/// Where the value of an operation's argument comes from.
pub(super) enum Given<'a> {
    /// The caller, or the published default.
    Published(&'a SurfaceArgumentManifest),
    /// The declaration; and what the value is called in a finding.
    Value(&'static str, &'a Value),
    /// A place of an earlier step's result.
    Passed(Passed<'a>),
    /// Something that was found wrong already.
    Unknown,
}

/// A place of an earlier step's result.
pub(super) struct Passed<'a> {
    /// The place in words.
    pub(super) from: String,
    /// What stands there.
    pub(super) part: Part<'a>,
    /// How the place may have no value when it is asked for, and what ends the operation before.
    pub(super) gap: Option<Gap>,
}

/// That a place may have no value.
pub(super) struct Gap {
    /// How, to be read after the place.
    pub(super) what: &'static str,
    /// What to write in the declaration.
    pub(super) instead: String,
}

impl Linking<'_> {
    /// Holds what each argument gets against what it takes; `at` is where the operation is named.
    pub(super) fn check_arguments(&mut self, to: &Operation<'_>, given: &[(&str, Given<'_>, Position)], at: Position) {
        for (name, given, at) in given {
            match to.argument(name) {
                Some(argument) => self.check_given(to, argument, given, *at),
                None => self.unknown_argument(to, name, *at),
            }
        }
        for argument in to.action.args.iter().filter(|argument| argument.required) {
            if !given.iter().any(|(name, ..)| *name == argument.name) {
                let message =
                    format!("{} is required, and nothing gives it a value{}", of(to, argument), place(to, argument));
                self.add(&rule::SURFACE_REQUIRED, at, message, None);
            }
        }
    }

    fn unknown_argument(&mut self, to: &Operation<'_>, name: &str, at: Position) {
        let message = format!("`{}` has no argument {} ({})", to.name(), quoted(name), to.own_place());
        let near = nearest(name, to.action.args.iter().map(|argument| argument.name.as_str()));
        let help =
            near.map(|near| format!("did you mean `{near}`? `for` names it where the published name is another"));
        self.add(&rule::SURFACE_ARGUMENT, at, message, help);
    }

    fn check_given(&mut self, to: &Operation<'_>, takes: &ArgumentManifest, given: &Given<'_>, at: Position) {
        match given {
            Given::Published(arg) => self.check_published(to, takes, arg),
            Given::Value(what, value) => self.check_value(to, takes, what, value, at),
            Given::Passed(passed) => self.check_passed(to, takes, passed, at),
            Given::Unknown => {}
        }
    }

    fn check_published(&mut self, to: &Operation<'_>, takes: &ArgumentManifest, arg: &SurfaceArgumentManifest) {
        let at = arg.position;
        if takes.required && !arg.required && arg.default.is_none() {
            let message = format!(
                "{} is required, and {} may be left out and has no default{}",
                of(to, takes),
                quoted(&arg.name),
                place(to, takes)
            );
            self.add(&rule::SURFACE_REQUIRED, at, message, None);
        }
        let (published, taken) = (types(arg.kind.json_type()), types(takes.kind.json_type()));
        if !published.within(taken) {
            let message = format!(
                "{} is of type `{}`, and {} of type `{}`{}",
                quoted(&arg.name),
                arg.kind.as_str(),
                of(to, takes),
                takes.kind.as_str(),
                place(to, takes)
            );
            let help = format!("write `type: {}`", takes.kind.as_str());
            return self.add(&rule::SURFACE_TYPE, at, message, Some(help));
        }
        if let Some(default) = &arg.default {
            self.check_value(to, takes, &format!("the default of {} for", quoted(&arg.name)), default, at);
        }
        if let Some(Wider { what, instead }) = wider(arg, takes, &of(to, takes)) {
            let message = format!("{} {what}{}", quoted(&arg.name), place(to, takes));
            self.add(&rule::SURFACE_WIDER, at, message, Some(instead));
        }
    }

    fn check_value(&mut self, to: &Operation<'_>, takes: &ArgumentManifest, what: &str, value: &Value, at: Position) {
        let Err(misfits) = fit(takes, value) else { return };
        for misfit in misfits {
            let message = format!("{what} {} {}{}", of(to, takes), misfit.message, place(to, takes));
            self.add(&rule::SURFACE_VALUE, at, message, None);
        }
    }

    fn check_passed(&mut self, to: &Operation<'_>, takes: &ArgumentManifest, passed: &Passed<'_>, at: Position) {
        let Passed { from, part, gap } = passed;
        let taken = types(takes.kind.json_type());
        // Null means absent.
        let may_be = part.types().without(Types::NULL);
        if part.types() == Types::ANY {
            let message = format!("no output schema says what type {from} has, and {} takes {taken}", of(to, takes));
            let help = "name the `type` in the manifest's output schema".to_owned();
            self.add(&rule::SURFACE_POINTER, at, message, Some(help));
        } else if !may_be.within(taken) {
            let message = format!("{from} may be {may_be}, and {} takes {taken}{}", of(to, takes), place(to, takes));
            let help = format!("name a place that holds {taken}, or mend the manifest that is wrong");
            self.add(&rule::SURFACE_TYPE, at, message, Some(help));
        } else if let Some(Gap { what, instead }) = gap.as_ref().filter(|_| takes.required) {
            let message = format!("{from} {what}, and {} is required{}", of(to, takes), place(to, takes));
            self.add(&rule::SURFACE_OPTIONAL, at, message, Some(instead.clone()));
        }
    }
}

/// How long a schema may be that is shown in advice.
const MOST_OF_ADVICE: usize = 200;

/// That a published argument takes what the operation's argument does not.
struct Wider {
    /// How, to be read after its name.
    what: String,
    /// What to write in the declaration.
    instead: String,
}

/// How a published argument takes more than `taker`, the operation's argument, does.
fn wider(arg: &SurfaceArgumentManifest, takes: &ArgumentManifest, taker: &str) -> Option<Wider> {
    let told = |what: String, instead: String| Some(Wider { what, instead });
    let listed =
        |choices: &[Value]| choices.iter().take(8).map(|choice| quoted(&shown(choice))).collect::<Vec<_>>().join(", ");
    if !arg.choices.is_empty() {
        let odd = arg.choices.iter().find_map(|choice| fit(takes, choice).err().map(|misfits| (choice, misfits)));
        let (choice, misfits) = odd?;
        let (choice, why) = (quoted(&shown(choice)), misfits.first().map_or("", |misfit| misfit.message.as_str()));
        return told(format!("lists {choice}, and {taker} {why}"), format!("take {choice} out of its `enum`"));
    }
    if !takes.choices.is_empty() {
        let only = listed(&takes.choices);
        let kind = arg.kind.as_str();
        return told(
            format!("takes any {kind}, and {taker} takes only {only}"),
            format!("give it an `enum` with these, or some of them: {only}"),
        );
    }
    let bounds = [
        ("minimum", "more", &arg.minimum, &takes.minimum, less as fn(&_, &_) -> bool),
        ("maximum", "less", &arg.maximum, &takes.maximum, |arg, takes| less(takes, arg)),
    ];
    for (keyword, narrower, published, bound, exceeds) in bounds {
        let Some(bound) = bound else { continue };
        let has = match published {
            None => format!("has no `{keyword}`"),
            Some(own) if exceeds(own, bound) => format!("has `{keyword}: {own}`"),
            Some(_) => continue,
        };
        return told(
            format!("{has}, and {taker} has `{keyword}: {bound}`"),
            format!("write `{keyword}: {bound}`, or {narrower}"),
        );
    }
    if let Some(pattern) = takes.pattern.as_ref().filter(|pattern| arg.pattern.as_ref() != Some(pattern)) {
        let has = arg
            .pattern
            .as_ref()
            .map_or_else(|| "has no `pattern`".to_owned(), |own| format!("has the pattern {}", quoted(own)));
        let pattern = quoted(pattern);
        return told(
            format!("{has}, and {taker} takes only what matches {pattern}"),
            format!("write just that pattern, {pattern}: whether another is narrower cannot be told"),
        );
    }
    let items = takes.items.as_ref()?;
    let has = match &arg.items {
        Some(own) if is_narrower(own, items) => return None,
        Some(_) => "has `items` that cannot be shown to fit",
        None => "has no `items` that fit",
    };
    let instead = match items.to_string() {
        long if long.len() > MOST_OF_ADVICE => "repeat the `items` of the manifest, or narrower ones".to_owned(),
        short => format!("write `items: {short}`, or narrower ones"),
    };
    told(format!("{has} those of {taker}"), instead)
}

fn types(name: &str) -> Types {
    Types::named(name)
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn of(to: &Operation<'_>, argument: &ArgumentManifest) -> String {
    format!("`{}` of `{}`", argument.name, to.name())
}

fn place(to: &Operation<'_>, argument: &ArgumentManifest) -> String {
    format!(" ({})", to.place(argument.position))
}
