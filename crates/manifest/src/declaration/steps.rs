//! Reads the steps of a composed operation and where the values of its calls and of its result come from. Start at
//! [`steps`] and [`output`].

use crate::document::Kind;
use crate::keys::Keys;
use crate::reference::MOST_ARGUMENTS;
use crate::reference::surface::{MOST_MEMBERS, MOST_STEPS};
use crate::surface::{
    BindingManifest, ConditionManifest, OutputMemberManifest, StepManifest, TargetManifest, Test, ValueSource,
};
use crate::yaml::Pair;

use super::target;

/// The steps, as far as they could be read.
pub(super) fn steps(keys: Keys<'_>) -> Vec<StepManifest> {
    keys.items("steps").iter().take(MOST_STEPS).filter_map(Keys::of).map(step).collect()
}

/// The members of the result, as far as they could be read.
pub(super) fn output(keys: Keys<'_>) -> Vec<OutputMemberManifest> {
    let read = |(pair, source): (&Pair<'_>, ValueSource)| OutputMemberManifest {
        name: pair.key.to_string(),
        source,
        position: pair.at,
    };
    sources(keys, "output", MOST_MEMBERS).map(read).collect()
}

fn step(keys: Keys<'_>) -> StepManifest {
    let (id, position) = keys.text_at("id").unwrap_or(("", keys.at));
    let nothing = || TargetManifest { kind: Kind::Tool, entry: String::new(), action: None, position };
    let read = |(pair, source): (&Pair<'_>, ValueSource)| BindingManifest {
        name: pair.key.to_string(),
        source,
        position: pair.at,
    };
    StepManifest {
        id: id.to_owned(),
        target: target(keys).unwrap_or_else(nothing),
        args: sources(keys, "args", MOST_ARGUMENTS).map(read).collect(),
        stop_when: keys.node("stop_when").and_then(Keys::of).and_then(condition),
        position,
    }
}

/// The names under a key and the source of each.
fn sources<'n>(keys: Keys<'n>, key: &str, most: usize) -> impl Iterator<Item = (&'n Pair<'n>, ValueSource)> {
    let pairs = keys.node(key).and_then(Keys::of).map(Keys::pairs).unwrap_or_default();
    pairs.iter().take(most).filter_map(|pair| Some((pair, source(Keys::of(&pair.value)?)?)))
}

fn source(keys: Keys<'_>) -> Option<ValueSource> {
    if let Some(name) = keys.text("arg") {
        return Some(ValueSource::Argument(name.to_owned()));
    }
    match keys.text("step") {
        Some(step) => {
            let at = keys.text("at").unwrap_or_default();
            Some(ValueSource::Step { step: step.to_owned(), at: at.to_owned() })
        }
        None => keys.json("value").map(ValueSource::Fixed),
    }
}

fn condition(keys: Keys<'_>) -> Option<ConditionManifest> {
    let test = match keys.text("is") {
        Some("missing") => Test::Missing,
        Some("empty") => Test::Empty,
        Some(_) => return None,
        None => match keys.json("equals") {
            Some(value) => Test::Equals(value),
            None => Test::DiffersFrom(keys.json("differs_from")?),
        },
    };
    Some(ConditionManifest { at: keys.text("at").unwrap_or_default().to_owned(), test, position: keys.at })
}
