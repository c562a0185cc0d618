//! What an action accepts: raw JSON in, checked [`Arguments`] or every fault out.
//!
//! Owns which argument a caller's name means and whether all that is needed is there; whether one value fits one
//! argument is said by [`gatelatch_manifest::fit`]. Start at [`Arguments::parse`].

use gatelatch_manifest::diagnostic::quoted;
use gatelatch_manifest::document::{ActionManifest, ArgumentManifest};
use gatelatch_manifest::fit::{Misfit, MisfitRule, fit};
use gatelatch_manifest::nearest::{fold, nearest};
use serde_json::{Map, Value};

/// Arguments that fit their action: every name declared, every required one there, every value of its type and range,
/// nulls gone, in the manifest's order.
#[derive(Clone, Debug, PartialEq)]
pub struct Arguments {
    values: Map<String, Value>,
    respelled: Vec<(String, String)>,
}

/// One thing that is wrong with a call's arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct ArgumentFault {
    /// What kind of fault.
    pub rule: ArgumentRule,
    /// The argument as the manifest spells it where it is a declared one, else as the caller did.
    pub argument: String,
    /// A JSON Pointer into the argument's value for a nested fault, else empty.
    pub pointer: String,
    /// A lower-case sentence without the value itself where the value is long or may be secret.
    pub message: String,
}

/// The kinds of [`ArgumentFault`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentRule {
    /// The arguments are no JSON object.
    NotAnObject,
    /// No such argument.
    Unknown,
    /// A required argument is absent or null.
    Missing,
    /// Two spellings of one argument in one call.
    Twice,
    /// The value has another type.
    WrongType,
    /// The value is none of the declared ones.
    NotAChoice,
    /// The number is too small or too large, or an array holds too few values.
    OutOfRange,
    /// The text does not match the pattern.
    NoMatch,
    /// A fault inside an array or object.
    Nested,
    /// A value that stands without its name begins with `-`, and the manifest does not or cannot allow it.
    LeadingDash,
    /// Text holds a NUL character, which no argument vector can carry.
    Nul,
}

impl Arguments {
    /// Checks raw arguments against an action and gathers every fault.
    ///
    /// A name that differs from exactly one declared name only in case, `-` or `_` is taken for it; the pairs
    /// `(as written, as declared)` are in [`Arguments::respelled`]. Null means absent, as a value and as the whole.
    pub fn parse(action: &ActionManifest, raw: &Value) -> Result<Arguments, Vec<ArgumentFault>> {
        let nothing = Map::new();
        let raw = match raw {
            Value::Object(map) => map,
            Value::Null => &nothing,
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                return Err(vec![not_an_object()]);
            }
        };
        let mut faults = Vec::new();
        let given = Given::sort(action, raw, &mut faults);
        let mut values = Map::new();
        for (index, argument) in action.args.iter().enumerate() {
            match given.value(index) {
                None if argument.required => faults.push(missing(argument)),
                None => {}
                Some(value) => match fit(argument, value) {
                    Ok(value) => {
                        values.insert(argument.name.clone(), value);
                    }
                    Err(misfits) => faults.extend(misfits.into_iter().map(|misfit| misfit_of(argument, misfit))),
                },
            }
        }
        if faults.is_empty() { Ok(Arguments { values, respelled: given.respelled }) } else { Err(faults) }
    }

    /// The checked values under the manifest's own names, in its order.
    pub fn values(&self) -> &Map<String, Value> {
        &self.values
    }

    /// Names that were taken for another spelling: `(as written, as declared)`.
    pub fn respelled(&self) -> &[(String, String)] {
        &self.respelled
    }
}

/// A call's values by the argument that each is for.
struct Given<'r> {
    /// One place for each declared argument.
    values: Vec<Option<&'r Value>>,
    respelled: Vec<(String, String)>,
}

impl<'r> Given<'r> {
    fn sort(action: &ActionManifest, raw: &'r Map<String, Value>, faults: &mut Vec<ArgumentFault>) -> Given<'r> {
        let mut given = Given { values: vec![None; action.args.len()], respelled: Vec::new() };
        let mut taken: Vec<Option<&str>> = vec![None; action.args.len()];
        for (name, value) in raw.iter().filter(|(_, value)| !value.is_null()) {
            let Some((index, argument)) = meant(action, name) else {
                faults.push(unknown(action, name));
                continue;
            };
            if let Some(first) = taken.get(index).copied().flatten() {
                faults.push(twice(argument, first, name));
                continue;
            }
            if let (Some(taken), Some(place)) = (taken.get_mut(index), given.values.get_mut(index)) {
                *taken = Some(name);
                *place = Some(value);
            }
            if argument.name != *name {
                given.respelled.push((name.clone(), argument.name.clone()));
            }
        }
        given
    }

    fn value(&self, index: usize) -> Option<&'r Value> {
        self.values.get(index).copied().flatten()
    }
}

/// The argument that a name means: the one of that name, else the only one that differs in nothing but spelling.
fn meant<'a>(action: &'a ActionManifest, name: &str) -> Option<(usize, &'a ArgumentManifest)> {
    let exact = action.args.iter().enumerate().find(|(_, argument)| argument.name == name);
    exact.or_else(|| {
        let folded = fold(name);
        let mut alike = action.args.iter().enumerate().filter(|(_, argument)| fold(&argument.name) == folded);
        let first = alike.next();
        first.filter(|_| alike.next().is_none())
    })
}

fn fault(rule: ArgumentRule, argument: &str, message: String) -> ArgumentFault {
    ArgumentFault { rule, argument: argument.to_owned(), pointer: String::new(), message }
}

fn not_an_object() -> ArgumentFault {
    fault(ArgumentRule::NotAnObject, "", "the arguments must be a JSON object of names to values".to_owned())
}

fn unknown(action: &ActionManifest, name: &str) -> ArgumentFault {
    let near = nearest(name, action.args.iter().map(|argument| argument.name.as_str()));
    let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    fault(ArgumentRule::Unknown, name, format!("there is no argument {}{hint}", quoted(name)))
}

fn missing(argument: &ArgumentManifest) -> ArgumentFault {
    fault(ArgumentRule::Missing, &argument.name, format!("`{}` is required", argument.name))
}

/// Two members of an object have two names, so that one of the two is another spelling at least.
fn twice(argument: &ArgumentManifest, first: &str, second: &str) -> ArgumentFault {
    let message = format!("`{}` is given twice, as {} and as {}", argument.name, quoted(first), quoted(second));
    fault(ArgumentRule::Twice, &argument.name, message)
}

fn misfit_of(argument: &ArgumentManifest, misfit: Misfit) -> ArgumentFault {
    let rule = match misfit.rule {
        MisfitRule::WrongType => ArgumentRule::WrongType,
        MisfitRule::NotAChoice => ArgumentRule::NotAChoice,
        MisfitRule::OutOfRange => ArgumentRule::OutOfRange,
        MisfitRule::NoMatch => ArgumentRule::NoMatch,
        MisfitRule::Nested => ArgumentRule::Nested,
        MisfitRule::LeadingDash => ArgumentRule::LeadingDash,
        MisfitRule::Nul => ArgumentRule::Nul,
    };
    let message = format!("`{}` {}", argument.name, misfit.message);
    ArgumentFault { rule, argument: argument.name.clone(), pointer: misfit.pointer, message }
}
