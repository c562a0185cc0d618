//! What changed in one JSON Schema, keyword by keyword, and what that asks of the side that it stands on.
//!
//! A schema is a conjunction of keywords, so the set of values shrinks or grows as each keyword says; where keywords do
//! not combine like that (`not`, `oneOf`, conditions, references into them), every change but a text is major. Refuses
//! to follow references: what they point at is compared where it stands. Start at [`compare_schemas`].

use std::sync::LazyLock;

use serde_json::{Map, Value};

use super::Told;
use super::keyword::{self, compare_keyword};
use super::tool::{keys, pointer_segment};
use crate::change::ChangeKind;

/// Which way values flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// From the client: what was accepted must be accepted still.
    Input,
    /// To the client: what was excluded must be excluded still.
    Output,
}

/// What a change does to the set of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Nothing, and nobody else's effect either: a text.
    None,
    /// Nothing. It is another keyword's business all the same: what `unevaluatedProperties` leaves out, for one.
    Same,
    /// It shrinks.
    Narrows,
    /// It grows.
    Widens,
    /// Some leave and others come.
    Replaces,
}

impl Side {
    fn kind(self, effect: Effect) -> ChangeKind {
        match (self, effect) {
            (_, Effect::None | Effect::Same) => ChangeKind::WrittenDifferently,
            (Side::Input, Effect::Narrows) => ChangeKind::ArgumentNarrowed,
            (Side::Input, Effect::Widens) => ChangeKind::ArgumentWidened,
            (Side::Input, Effect::Replaces) => ChangeKind::ArgumentReplaced,
            (Side::Output, Effect::Narrows) => ChangeKind::ResultNarrowed,
            (Side::Output, Effect::Widens) => ChangeKind::ResultWidened,
            (Side::Output, Effect::Replaces) => ChangeKind::ResultReplaced,
        }
    }

    /// What a property is called on this side.
    pub(super) fn property(self) -> &'static str {
        match self {
            Side::Input => "argument",
            Side::Output => "output field",
        }
    }
}

/// Compares the schema of one side of a tool. `path` is where it stands in the definition.
pub(super) fn compare_schemas(tool: &str, side: Side, path: &str, (old, new): (&Value, &Value), told: &mut Told) {
    let (seen_old, seen_new) = (keyword::Seen::in_schema(old), keyword::Seen::in_schema(new));
    let murky = (seen_old.is_murky() || seen_new.is_murky()).then_some("a reference");
    let references = (seen_old.references, seen_new.references);
    let mut judge = Judge { tool, side, path: path.to_owned(), murky, references, told };
    judge.schema(old, new);
}

/// Walks two schemas side by side.
pub(super) struct Judge<'a> {
    pub(super) tool: &'a str,
    pub(super) side: Side,
    /// Where in the definition it is.
    pub(super) path: String,
    /// What makes the effect of a change below unclear.
    pub(super) murky: Option<&'static str>,
    /// All `$ref` of the old schema and of the new one.
    pub(super) references: (Vec<String>, Vec<String>),
    pub(super) told: &'a mut Told,
}

impl Judge<'_> {
    /// Compares two schemas at the same place; `true` and the empty schema allow everything.
    pub(super) fn schema(&mut self, old: &Value, new: &Value) {
        if old == new {
            return;
        }
        let told = self.told.count;
        match (Form::of(old), Form::of(new)) {
            (Form::Never, Form::Keywords(_)) => self.tell(Effect::Widens, "values are allowed now"),
            (Form::Keywords(_), Form::Never) => self.tell(Effect::Narrows, "no value is allowed any more"),
            (Form::Keywords(old), Form::Keywords(new)) => {
                self.keywords(old, new);
                if self.told.count == told && old == new {
                    self.tell(Effect::Same, "a schema that allows everything is written differently");
                }
            }
            _ => self.not_understood("it is no schema"),
        }
        if self.told.count == told {
            self.not_understood("it changed");
        }
    }

    fn keywords(&mut self, old: &Map<String, Value>, new: &Map<String, Value>) {
        let outer = self.murky;
        if keyword::BLURS.iter().any(|key| old.contains_key(*key) || new.contains_key(*key)) {
            self.murky = self.murky.or(Some("`unevaluatedProperties` or `unevaluatedItems`"));
        }
        // Nothing else of a schema matters to whoever sends or reads another type.
        if !keyword::types_are_disjoint(self, old, new) {
            for key in keys(old, new).filter(|key| old.get(*key) != new.get(*key)) {
                compare_keyword(self, key, old, new);
            }
        }
        self.murky = outer;
    }

    /// Compares what stands at a key.
    pub(super) fn schema_at(&mut self, segments: &[&str], old: &Value, new: &Value) {
        self.at(segments, |judge| judge.schema(old, new));
    }

    /// Compares what stands at a key where a change of it may do anything.
    pub(super) fn murky_schema_at(&mut self, why: &'static str, segments: &[&str], old: &Value, new: &Value) {
        let outer = self.murky;
        self.murky = outer.or(Some(why));
        self.schema_at(segments, old, new);
        self.murky = outer;
    }

    /// Does something further down.
    pub(super) fn at(&mut self, segments: &[&str], inside: impl FnOnce(&mut Self)) {
        let outer = self.path.len();
        for segment in segments {
            self.path.push('/');
            self.path.push_str(&pointer_segment(segment));
        }
        inside(self);
        self.path.truncate(outer);
    }

    /// Tells a change by what it does to the set of values.
    pub(super) fn tell(&mut self, effect: Effect, what: impl Into<String>) {
        let kind = self.side.kind(effect);
        if effect == Effect::None { self.tell_as(kind, what) } else { self.tell_if_clear(kind, what) }
    }

    /// Tells a change of this kind where nothing makes its effect unclear.
    pub(super) fn tell_if_clear(&mut self, kind: ChangeKind, what: impl Into<String>) {
        match self.murky {
            Some(why) => {
                let what = format!("{}; what that means beside {why} is not understood", what.into());
                self.tell_as(ChangeKind::NotUnderstood, what);
            }
            None => self.tell_as(kind, what),
        }
    }

    /// Tells a change of this kind, whatever stands beside it.
    pub(super) fn tell_as(&mut self, kind: ChangeKind, what: impl Into<String>) {
        self.told.tell(kind, self.tool, &self.path, what.into());
    }

    /// Tells a change that cannot be judged.
    pub(super) fn not_understood(&mut self, what: impl Into<String>) {
        self.tell_as(ChangeKind::NotUnderstood, format!("{}, and what that means is not understood", what.into()));
    }
}

/// What a schema is written as.
enum Form<'a> {
    /// `false`.
    Never,
    /// An object, or `true`.
    Keywords(&'a Map<String, Value>),
    /// No schema.
    Broken,
}

static EMPTY: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

impl<'a> Form<'a> {
    fn of(schema: &'a Value) -> Form<'a> {
        match schema {
            Value::Bool(false) => Form::Never,
            Value::Bool(true) => Form::Keywords(&EMPTY),
            Value::Object(map) => Form::Keywords(map),
            _ => Form::Broken,
        }
    }
}
