//! What a change of an object's properties does: arguments on the way in, output fields on the way out.
//!
//! Owns the two rules that go beyond sets: a new optional property is minor although an open schema allowed it before
//! with any value, and a removed one is major although a closed schema excludes more. Start at [`properties`].

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::keyword::{maps, names};
use super::schema::{Effect, Judge, Side};
use super::tool::{changed, pointer_segment};
use crate::change::ChangeKind;
use crate::shown;

type Keywords = Map<String, Value>;

/// `properties`, and with it what `required` says about those that came.
pub(super) fn properties(judge: &mut Judge<'_>, old: &Keywords, new: &Keywords) {
    let (values, empty) = ((old.get("properties"), new.get("properties")), Map::new());
    let Some((before, after)) = maps(values, &empty) else {
        return judge.at(&["properties"], |judge| judge.not_understood(changed("properties", values)));
    };
    if before == after {
        judge.at(&["properties"], |judge| judge.tell(Effect::None, "no properties are written differently"));
    }
    for name in names(before, after) {
        match (before.get(name), after.get(name)) {
            (Some(old), Some(new)) => judge.schema_at(&["properties", name], old, new),
            (None, Some(schema)) => judge.at(&["properties", name], |judge| added(judge, name, schema, old, new)),
            (_, None) => {
                let what = format!("the {} `{}` was removed", judge.side.property(), shown::text(name));
                let kind = match judge.side {
                    Side::Input => ChangeKind::ArgumentRemoved,
                    Side::Output => ChangeKind::FieldRemoved,
                };
                judge.at(&["properties", name], |judge| judge.tell_as(kind, what));
            }
        }
    }
}

fn added(judge: &mut Judge<'_>, name: &str, schema: &Value, old: &Keywords, new: &Keywords) {
    let shown = shown::text(name);
    let is_required = required_names(new).is_some_and(|names| names.contains(name));
    match judge.side {
        Side::Input if is_required => {
            let what = format!("there is a new required argument `{shown}`");
            return judge.tell_as(ChangeKind::ArgumentNewRequired, what);
        }
        Side::Input => {
            let what = format!("there is a new optional argument `{shown}`");
            judge.tell_if_clear(ChangeKind::ArgumentNewOptional, what);
        }
        Side::Output if old.get("additionalProperties") == Some(&Value::Bool(false)) => {
            let what = format!("there is a new output field `{shown}`, and the old schema allowed none but its own");
            return judge.tell_as(ChangeKind::FieldNewInClosed, what);
        }
        Side::Output => judge.tell_if_clear(ChangeKind::FieldNew, format!("there is a new output field `{shown}`")),
    }
    // It had a schema before, by another keyword.
    match old.get("additionalProperties") {
        Some(rest @ Value::Object(keywords)) if !keywords.is_empty() => judge.schema(rest, schema),
        _ => {}
    }
    if old.contains_key("patternProperties") {
        judge.not_understood(format!("a pattern of `patternProperties` may have covered `{shown}` before"));
    }
}

/// `required`, but for what is told with `properties`.
pub(super) fn required(judge: &mut Judge<'_>, old: &Keywords, new: &Keywords) {
    let values = (old.get("required"), new.get("required"));
    let (Some(before), Some(after)) = (required_names(old), required_names(new)) else {
        return judge.at(&["required"], |judge| judge.not_understood(changed("required", values)));
    };
    if before == after {
        return judge.at(&["required"], |judge| judge.tell(Effect::None, "its names are ordered differently"));
    }
    let has = |schema: &Keywords, name: &str| schema.get("properties").is_some_and(|all| all.get(name).is_some());
    for name in before.symmetric_difference(&after).filter(|name| has(old, name) == has(new, name)) {
        let (property, shown) = (judge.side.property(), shown::text(name));
        let (effect, what) = if after.contains(name) {
            (Effect::Narrows, format!("the {property} `{shown}` is required now"))
        } else {
            (Effect::Widens, format!("the {property} `{shown}` is no longer required"))
        };
        judge.at(&["required"], |judge| judge.tell(effect, what));
    }
}

fn required_names(schema: &Keywords) -> Option<BTreeSet<&str>> {
    match schema.get("required") {
        None => Some(BTreeSet::new()),
        Some(names) => names.as_array()?.iter().map(Value::as_str).collect(),
    }
}

/// `additionalProperties`.
pub(super) fn additional(judge: &mut Judge<'_>, values: (Option<&Value>, Option<&Value>)) {
    let open = Value::Bool(true);
    let (old, new) = (values.0.unwrap_or(&open), values.1.unwrap_or(&open));
    let is_open = |schema: &Value| *schema == open || schema.as_object().is_some_and(Map::is_empty);
    let property = judge.side.property();
    judge.at(&["additionalProperties"], |judge| match (old, new) {
        (old, new) if is_open(old) && is_open(new) => {
            judge.tell(Effect::Same, "that others are allowed is written differently");
        }
        (old, Value::Bool(false)) if is_open(old) => {
            judge.tell(Effect::Narrows, format!("an {property} that is not listed is not allowed any more"));
        }
        (Value::Bool(false), new) if is_open(new) => {
            judge.tell(Effect::Widens, format!("an {property} that is not listed is allowed now"));
        }
        _ => judge.schema(old, new),
    });
}

/// `patternProperties`: only what is below the same patterns can be judged.
pub(super) fn pattern_properties(judge: &mut Judge<'_>, old: &Keywords, new: &Keywords) {
    let (values, empty) = ((old.get("patternProperties"), new.get("patternProperties")), Map::new());
    match maps(values, &empty) {
        Some((before, after)) if before.keys().all(|key| after.contains_key(key)) && before.len() == after.len() => {
            if before.is_empty() {
                let what = "no patterns are written differently";
                judge.at(&["patternProperties"], |judge| judge.tell(Effect::None, what));
            }
            for (pattern, old) in before {
                judge.schema_at(&["patternProperties", pattern], old, after.get(pattern).unwrap_or(old));
            }
        }
        _ => judge.at(&["patternProperties"], |judge| judge.not_understood(changed("patternProperties", values))),
    }
}

/// `$defs`: a definition is judged where it stands, as if it were used in the way of the side it stands on.
pub(super) fn definitions(judge: &mut Judge<'_>, key: &str, values: (Option<&Value>, Option<&Value>)) {
    let empty = Map::new();
    let Some((before, after)) = maps(values, &empty) else {
        return judge.at(&[key], |judge| judge.not_understood(changed(key, values)));
    };
    if before == after {
        judge.at(&[key], |judge| judge.tell(Effect::None, "no definitions are written differently"));
    }
    for name in names(before, after) {
        match (before.get(name), after.get(name)) {
            (Some(old), Some(new)) => judge.schema_at(&[key, name], old, new),
            (had, _) => {
                let verb = if had.is_some() { "removed" } else { "added" };
                // What is used on the side where it is missing was broken there.
                let references = if had.is_some() { &judge.references.1 } else { &judge.references.0 };
                let is_used = references.iter().any(|reference| may_mean(reference, name));
                let what = format!("the definition `{}` was {verb}", shown::text(name));
                judge.at(&[key, name], |judge| {
                    if is_used {
                        judge.not_understood(format!("{what}, and something refers to it"));
                    } else {
                        judge.tell(Effect::None, what);
                    }
                });
            }
        }
    }
}

/// Whether a reference may point at a definition of this name: by its place, or in a way that is not followed here.
fn may_mean(reference: &str, name: &str) -> bool {
    let is_place = reference == "#" || (reference.starts_with("#/") && !reference.contains('%'));
    !is_place || reference.contains(&pointer_segment(name))
}
