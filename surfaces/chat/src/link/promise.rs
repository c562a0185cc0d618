//! What a declaration promises of an operation as a whole: its effect, its hints, its result. Start at
//! [`Linking::check_promises`].

use gatelatch_bridge::cut::CUT_KEY;
use gatelatch_manifest::diagnostic::{Position, quoted};
use gatelatch_manifest::rule;
use gatelatch_registry::catalog::Effect;
use serde_json::Value;

use super::Linking;
use super::operation::Operation;
use crate::agreement::{contradiction, unknown_members};
use crate::shape::Shape;

impl Linking<'_> {
    /// Effect, idempotence and reach, each no milder than the manifest and the gate say.
    pub(super) fn check_promises(&mut self, of: &Operation<'_>, at: Position) {
        self.check_effect(of, at);
        if of.ruling.effect == Effect::Irreversible {
            return;
        }
        let is_harmless = of.action.idempotent || of.ruling.effect == Effect::ReadOnly;
        let claims = [
            (self.tool.idempotent && !is_harmless, "idempotent: true", "calling it twice equals calling it once"),
            (!self.tool.open_world && of.action.open_world, "open_world: false", "it stays on this machine"),
        ];
        for (is_too_much, claim, meaning) in claims {
            if is_too_much {
                let message = format!(
                    "{} claims `{claim}`, and the manifest of `{}` does not say that {meaning} ({})",
                    quoted(&self.tool.name),
                    of.name(),
                    of.own_place()
                );
                self.add(&rule::SURFACE_CLAIM, at, message, None);
            }
        }
    }

    fn check_effect(&mut self, of: &Operation<'_>, at: Position) {
        let declared = if self.tool.read_only { Effect::ReadOnly } else { Effect::Reversible };
        let (name, place) = (of.name(), of.own_place());
        let because = &of.ruling.because;
        let (message, help) = match of.ruling.effect {
            Effect::Irreversible => (
                format!("`{name}` is irreversible because {because}, and no such operation can be declared ({place})"),
                Some("leave it out; operators reach it, once a human has agreed".to_owned()),
            ),
            effect if effect > declared => (
                format!(
                    "{} is declared `{declared}`, and `{name}` is `{effect}` because {because} ({place})",
                    quoted(&self.tool.name)
                ),
                Some("write `read_only: false`, which asks for a new version of the contract".to_owned()),
            ),
            _ if of.ruling.needs_human => (
                format!("`{name}` runs only once a human has agreed, because {because} ({place})"),
                Some("leave it out; operators reach it, once a human has agreed".to_owned()),
            ),
            Effect::ReadOnly | Effect::Reversible => return,
        };
        self.add(&rule::SURFACE_EFFECT, at, message, help);
    }

    /// Whether each narrowing argument reaches an argument that by its manifest makes a result smaller. Of each
    /// operation it is given which published argument becomes which of its own.
    pub(super) fn check_narrowing(&mut self, calls: &[(&Operation<'_>, Vec<(&str, &str)>)]) {
        for name in &self.tool.result.narrow_with {
            let narrows = calls.iter().any(|(of, passed)| {
                let mut targets = passed.iter().filter(|(published, _)| published == name).map(|(_, target)| *target);
                targets.any(|target| of.action.narrow_with.iter().any(|known| known == target))
            });
            if !narrows && let Some((of, _)) = calls.first() {
                let message = format!(
                    "{} stands in `narrow_with`, and the manifest names no such argument there ({})",
                    quoted(name),
                    of.own_place()
                );
                self.add(&rule::SURFACE_NARROWING, self.tool.position, message, None);
            }
        }
    }

    /// The declared output schema against the operation's own.
    pub(super) fn check_output(&mut self, of: &Operation<'_>) {
        let Some(given) = of.output() else { return };
        let wanted = Value::Object(self.tool.output_schema.clone());
        let (given, wanted) = (Shape::of(given), Shape::of(&wanted));
        let at = self.tool.output_schema_position;
        if let Some(found) = contradiction(given, wanted) {
            let message = format!("{} of `{}` {} ({})", place(&found.at), of.name(), found.what, of.own_place());
            self.add(&rule::SURFACE_OUTPUT, at, message, None);
        }
        for name in unknown_members(given, wanted).into_iter().filter(|name| name != CUT_KEY) {
            let message = format!("the result of `{}` has no member {} ({})", of.name(), quoted(&name), of.own_place());
            self.add(&rule::SURFACE_MEMBER, at, message, None);
        }
    }
}

/// A place of a result, in words.
pub(super) fn place(pointer: &str) -> String {
    if pointer.is_empty() { "the result".to_owned() } else { format!("`{pointer}` in the result") }
}
