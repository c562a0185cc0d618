//! What a declaration promises of an operation as a whole: its effect, its hints, its result. Start at
//! [`Linking::check_promises`].

use gatelatch_bridge::cut::CUT_KEY;
use gatelatch_manifest::diagnostic::{Position, quoted};
use gatelatch_manifest::nearest::nearest;
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
            (self.tool.idempotent && !is_harmless, "idempotent", true, "calling it twice equals calling it once"),
            (!self.tool.open_world && of.action.open_world, "open_world", false, "it stays on this machine"),
        ];
        for (is_too_much, key, value, meaning) in claims {
            if is_too_much {
                let message = format!(
                    "{} claims `{key}: {value}`, and the manifest of `{}` does not say that {meaning} ({})",
                    quoted(&self.tool.name),
                    of.name(),
                    of.own_place()
                );
                let help =
                    format!("declare `{key}: {}`, or write `{key}: {value}` in the manifest if that is so", !value);
                self.add(&rule::SURFACE_CLAIM, at, message, Some(help));
            }
        }
    }

    fn check_effect(&mut self, of: &Operation<'_>, at: Position) {
        let declared = if self.tool.read_only { Effect::ReadOnly } else { Effect::Reversible };
        let (name, place) = (of.name(), of.own_place());
        let because = &of.ruling.because;
        let (message, help) = match of.ruling.effect {
            Effect::Irreversible => (
                format!("`{name}` is irreversible, and no such operation can be declared: {because} ({place})"),
                Some("leave it out; operators reach it, once a human has agreed".to_owned()),
            ),
            effect if effect > declared => (
                format!(
                    "{} is declared `{declared}`, and `{name}` is `{effect}`: {because} ({place})",
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
            if !narrows && let Some((of, passed)) = calls.first() {
                let message = format!(
                    "{} stands in `narrow_with` of {}, and the manifest of `{}` does not say that it makes a result \
                     smaller ({})",
                    quoted(name),
                    quoted(&self.tool.name),
                    of.name(),
                    of.own_place()
                );
                let target = passed.iter().find(|(published, _)| published == name).map_or(name.as_str(), |(_, t)| *t);
                let help =
                    format!("take it out, or add {} to `narrow_with` in the manifest if that is so", quoted(target));
                self.add(&rule::SURFACE_NARROWING, self.tool.position, message, Some(help));
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
            let help = format!("{}; or mend the manifest's output schema where it is wrong", found.instead);
            self.add(&rule::SURFACE_OUTPUT, at, message, Some(help));
        }
        for name in unknown_members(given, wanted).into_iter().filter(|name| name != CUT_KEY) {
            let message = format!(
                "the declared `output_schema` has a member {}, and the result of `{}` has none of that name ({})",
                quoted(&name),
                of.name(),
                of.own_place()
            );
            let help = match nearest(&name, given.names()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "take it out, or add it to the manifest's output schema if the result has it".to_owned(),
            };
            self.add(&rule::SURFACE_MEMBER, at, message, Some(help));
        }
    }
}

/// A place of a result, in words.
pub(super) fn place(pointer: &str) -> String {
    if pointer.is_empty() { "the result".to_owned() } else { format!("`{pointer}` in the result") }
}
