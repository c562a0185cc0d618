//! What must stay of a result so that it satisfies its schema once it is cut: learned from what a cut broke.
//!
//! Refuses to know the schema: it hears only which rule no longer holds where. Start at [`protect`].

use gatelatch_runner::tree::{Guard, Place, Step, Tree};
use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind as Kind;

use super::CUT_KEY;

/// A result before a cut, and where it was cut.
pub(super) struct Cuts<'a> {
    pub(super) tree: &'a Tree,
    pub(super) cuts: &'a [Place],
}

/// Adds to the guard what may mend an error that a cut caused. Says whether it found anything.
pub(super) fn protect(guard: &mut Guard, cuts: &Cuts<'_>, error: &ValidationError<'_>) -> bool {
    !speaks_of_the_cut(error)
        && (protect_what_is_named(guard, cuts, error) || protect_the_cheapest(guard, cuts, place(error)))
}

fn place<'e>(error: &'e ValidationError<'_>) -> &'e str {
    error.instance_path().as_str()
}

/// Whether a schema does not admit what a cut result says of itself.
fn speaks_of_the_cut(error: &ValidationError<'_>) -> bool {
    let names_it = match error.kind() {
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            unexpected.iter().any(|name| name == CUT_KEY)
        }
        _ => false,
    };
    let place = place(error);
    (place.is_empty() && names_it) || is_within(place, &format!("/{CUT_KEY}"))
}

/// Where the rule itself says what must stay.
fn protect_what_is_named(guard: &mut Guard, cuts: &Cuts<'_>, error: &ValidationError<'_>) -> bool {
    let place = place(error);
    let Some(path) = cuts.tree.steps(place) else { return false };
    match error.kind() {
        Kind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            let was_there = cuts.tree.steps(&format!("{place}/{}", name.replace('~', "~0").replace('/', "~1")));
            was_there.is_some() && guard.at(&path).names.insert(name.to_owned())
        }
        Kind::MinItems { limit } | Kind::MinLength { limit } | Kind::MinProperties { limit } => {
            raise(guard.at(&path), *limit)
        }
        Kind::UniqueItems => keep_items_whole(guard, path),
        Kind::Contains => {
            // Which item it is that is looked for nobody tells: twice as many hold it sooner or later.
            let cut = cuts.cuts.iter().find(|cut| cut.at == place);
            let more = cut.is_some_and(|cut| raise(guard.at(&path), (2 * cut.kept).clamp(1, cut.of)));
            keep_items_whole(guard, path) || more
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => protect_a_branch(guard, cuts, context),
        _ => false,
    }
}

fn raise(guard: &mut Guard, limit: u64) -> bool {
    let is_more = guard.at_least < limit;
    guard.at_least = guard.at_least.max(limit);
    is_more
}

fn keep_items_whole(guard: &mut Guard, mut path: Vec<Step>) -> bool {
    path.push(Step::Item);
    !std::mem::replace(&mut guard.at(&path).whole, true)
}

/// Mends the one of several schemas that may have held before the cut: all that breaks it can come from a cut.
fn protect_a_branch(guard: &mut Guard, cuts: &Cuts<'_>, branches: &[Vec<ValidationError<'static>>]) -> bool {
    let can_be = |branch: &&Vec<ValidationError<'static>>| branch.iter().all(|error| can_come_from_a_cut(cuts, error));
    let mut branches: Vec<_> = branches.iter().filter(can_be).collect();
    branches.sort_by_key(|branch| branch.len());
    branches.into_iter().any(|branch| branch.iter().filter(|error| protect(guard, cuts, error)).count() > 0)
}

fn can_come_from_a_cut(cuts: &Cuts<'_>, error: &ValidationError<'_>) -> bool {
    let place = place(error);
    match error.kind() {
        Kind::Type { .. }
        | Kind::Minimum { .. }
        | Kind::Maximum { .. }
        | Kind::ExclusiveMinimum { .. }
        | Kind::ExclusiveMaximum { .. }
        | Kind::MultipleOf { .. }
        | Kind::MaxItems { .. }
        | Kind::MaxLength { .. }
        | Kind::MaxProperties { .. }
        | Kind::AdditionalItems { .. }
        | Kind::AdditionalProperties { .. }
        | Kind::PropertyNames { .. }
        | Kind::FalseSchema => false,
        _ => cuts.cuts.iter().any(|cut| is_within(&cut.at, place)),
    }
}

/// Keeps one more place whole: of those that were cut at or below the error the smallest, else of those near it.
fn protect_the_cheapest(guard: &mut Guard, cuts: &Cuts<'_>, mut place: &str) -> bool {
    loop {
        let mut near: Vec<(usize, &Place)> = Vec::new();
        for cut in cuts.cuts.iter().filter(|cut| is_within(&cut.at, place)) {
            // What was missing before the cut cannot be kept.
            if let Some((bytes, true)) = cuts.tree.at(&cut.at) {
                near.push((bytes, cut));
            }
        }
        near.sort_by_key(|(bytes, _)| *bytes);
        let keep_whole = |(_, cut): (usize, &Place)| {
            let path = cuts.tree.steps(&cut.at).unwrap_or_default();
            !std::mem::replace(&mut guard.at(&path).whole, true)
        };
        if near.into_iter().any(keep_whole) {
            return true;
        }
        match place.rfind('/') {
            Some(end) => place = &place[..end],
            None => return false,
        }
    }
}

/// Whether a JSON Pointer names a place or something within it.
fn is_within(pointer: &str, place: &str) -> bool {
    pointer.strip_prefix(place).is_some_and(|below| below.is_empty() || below.starts_with('/'))
}
