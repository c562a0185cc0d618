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
    /// A place of an earlier step's result: the place in words, and what stands there.
    Passed(String, Part<'a>),
    /// Something that was found wrong already.
    Unknown,
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
            Given::Passed(from, part) => self.check_passed(to, takes, from, part, at),
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
            return self.add(&rule::SURFACE_TYPE, at, message, None);
        }
        if let Some(default) = &arg.default {
            self.check_value(to, takes, "the default of", default, at);
        }
        if let Some(why) = wider(arg, takes) {
            let message = format!("{} {why}{}", quoted(&arg.name), place(to, takes));
            self.add(&rule::SURFACE_WIDER, at, message, None);
        }
    }

    fn check_value(&mut self, to: &Operation<'_>, takes: &ArgumentManifest, what: &str, value: &Value, at: Position) {
        let Err(misfits) = fit(takes, value) else { return };
        for misfit in misfits {
            let message = format!("{what} {} {}{}", of(to, takes), misfit.message, place(to, takes));
            self.add(&rule::SURFACE_VALUE, at, message, None);
        }
    }

    fn check_passed(
        &mut self,
        to: &Operation<'_>,
        takes: &ArgumentManifest,
        from: &str,
        part: &Part<'_>,
        at: Position,
    ) {
        let taken = types(takes.kind.json_type());
        // Null means absent.
        let may_be = part.types().without(Types::NULL);
        if part.types() == Types::ANY {
            let message = format!("no output schema says what type {from} has, and {} takes {taken}", of(to, takes));
            let help = "name the `type` in the manifest's output schema".to_owned();
            self.add(&rule::SURFACE_POINTER, at, message, Some(help));
        } else if !may_be.within(taken) {
            let message = format!("{from} may be {may_be}, and {} takes {taken}{}", of(to, takes), place(to, takes));
            self.add(&rule::SURFACE_TYPE, at, message, None);
        }
    }
}

/// What a published argument takes and the operation's argument does not, to be read after its name.
fn wider(arg: &SurfaceArgumentManifest, takes: &ArgumentManifest) -> Option<String> {
    if !arg.choices.is_empty() {
        let odd = arg.choices.iter().find_map(|choice| fit(takes, choice).err().map(|misfits| (choice, misfits)));
        let (choice, misfits) = odd?;
        let why = misfits.first().map(|misfit| misfit.message.as_str()).unwrap_or_default();
        return Some(format!("lists {}, and `{}` {why}", quoted(&shown(choice)), takes.name));
    }
    if !takes.choices.is_empty() {
        let choices: Vec<String> = takes.choices.iter().take(8).map(|choice| quoted(&shown(choice))).collect();
        return Some(format!("takes any {}, and `{}` only {}", arg.kind.as_str(), takes.name, choices.join(", ")));
    }
    let bounds = [
        ("minimum", &arg.minimum, &takes.minimum, less as fn(&_, &_) -> bool),
        ("maximum", &arg.maximum, &takes.maximum, |arg, takes| less(takes, arg)),
    ];
    for (keyword, published, bound, exceeds) in bounds {
        let Some(bound) = bound else { continue };
        match published {
            None => return Some(format!("has no `{keyword}`, and `{}` has `{keyword}: {bound}`", takes.name)),
            Some(own) if exceeds(own, bound) => {
                return Some(format!("has `{keyword}: {own}`, and `{}` has `{keyword}: {bound}`", takes.name));
            }
            Some(_) => {}
        }
    }
    if let Some(pattern) = takes.pattern.as_ref().filter(|pattern| arg.pattern.as_ref() != Some(pattern)) {
        let pattern = quoted(pattern);
        return Some(format!("does not have the pattern {pattern} of `{}`", takes.name));
    }
    let items = takes.items.as_ref()?;
    let is_shown = arg.items.as_ref().is_some_and(|own| is_narrower(own, items));
    (!is_shown).then(|| format!("has `items` that cannot be shown to fit those of `{}`", takes.name))
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
