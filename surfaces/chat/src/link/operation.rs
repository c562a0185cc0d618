//! The operation of the catalog that a declaration maps to, or the finding that says which one was meant. Start at
//! [`Linking::resolve`].

use gatelatch_gate::decision::{Ruling, ruling};
use gatelatch_manifest::diagnostic::{Position, quoted};
use gatelatch_manifest::nearest::nearest;
use gatelatch_manifest::rule;
use gatelatch_manifest::surface::TargetManifest;
use gatelatch_registry::catalog::{ActionManifest, ArgumentManifest, Entry, Kind, OutputManifest};
use serde_json::Value;

use super::{LinkedCall, Linking};

/// An action of the catalog and what the gate rules of it.
pub(super) struct Operation<'a> {
    entry: &'a Entry,
    pub(super) action: &'a ActionManifest,
    pub(super) ruling: Ruling,
}

impl<'a> Operation<'a> {
    /// `xlsx.read-sheet`, or the entry alone where its action has no name.
    pub(super) fn name(&self) -> String {
        let entry = &self.entry.manifest.name;
        self.action.name.as_ref().map_or_else(|| entry.clone(), |action| format!("{entry}.{action}"))
    }

    /// A place in its manifest: `tools/xlsx/tool.yaml:12`.
    pub(super) fn place(&self, at: Position) -> String {
        format!("{}:{}", self.entry.file, at.line)
    }

    /// Where its action stands.
    pub(super) fn own_place(&self) -> String {
        self.place(self.action.position)
    }

    pub(super) fn argument(&self, name: &str) -> Option<&'a ArgumentManifest> {
        self.action.args.iter().find(|argument| argument.name == name)
    }

    /// Its output schema, where it has one that is no prose.
    pub(super) fn output(&self) -> Option<&'a Value> {
        match &self.action.output {
            Some(OutputManifest::Schema(schema)) => Some(schema),
            Some(OutputManifest::Hint(_)) | None => None,
        }
    }

    pub(super) fn linked(&self) -> LinkedCall {
        LinkedCall {
            kind: self.entry.manifest.kind,
            entry: self.entry.manifest.name.clone(),
            action: self.action.name.clone(),
            effect: self.ruling.effect,
            arguments: self.action.args.iter().map(|argument| (argument.name.clone(), argument.required)).collect(),
        }
    }
}

impl<'a> Linking<'a> {
    /// What a target names; nothing, and a finding, where the catalog does not have it.
    pub(super) fn resolve(&mut self, target: &TargetManifest) -> Option<Operation<'a>> {
        let Some(entry) = self.catalog.entry(target.kind, &target.entry) else {
            self.unknown_entry(target);
            return None;
        };
        let Some(action) = entry.action(target.action.as_deref()) else {
            self.unknown_action(entry, target);
            return None;
        };
        Some(Operation { entry, action, ruling: ruling(self.catalog, entry, action) })
    }

    fn unknown_entry(&mut self, target: &TargetManifest) {
        let TargetManifest { kind, entry, position, .. } = target;
        let what = format!("{} {}", kind.as_str(), quoted(entry));
        if let Some(broken) = self.broken.iter().find(|broken| broken.kind == *kind && broken.name == *entry) {
            let message = format!("{what} is left out, since its manifest has errors: {}", broken.why);
            let help = "mend that manifest; `gatelatch check` tells all that is wrong with it".to_owned();
            return self.add(&rule::SURFACE_ENTRY, *position, message, Some(help));
        }
        let other = if *kind == Kind::Tool { Kind::Agent } else { Kind::Tool };
        let help = match self.catalog.entry(other, entry) {
            Some(_) => Some(format!("it is the catalog's {}: write `{}: {entry}`", other.as_str(), other.as_str())),
            None => {
                let of_kind = self.catalog.entries().iter().filter(|known| known.manifest.kind == *kind);
                let near = nearest(entry, of_kind.map(|known| known.manifest.name.as_str()));
                Some(near.map_or_else(
                    || "mend the name, or name the catalog that has it: `--catalog DIR`".to_owned(),
                    |near| format!("did you mean `{near}`?"),
                ))
            }
        };
        self.add(&rule::SURFACE_ENTRY, *position, format!("the catalog has no {what}"), help);
    }

    fn unknown_action(&mut self, entry: &Entry, target: &TargetManifest) {
        let manifest = &entry.manifest;
        let what = format!("{} {}", target.kind.as_str(), quoted(&manifest.name));
        let place = format!("{}:{}", entry.file, manifest.position.line);
        let names = || manifest.actions.iter().filter_map(|action| action.name.as_deref());
        let (message, help) = match &target.action {
            None => {
                let names: Vec<String> = names().take(8).map(|name| format!("`{name}`")).collect();
                let help = format!("name one in `action`: {}", names.join(", "));
                (format!("{what} has several actions, and none is named ({place})"), Some(help))
            }
            Some(name) => {
                let help = match nearest(name, names()) {
                    Some(near) => Some(format!("did you mean `{near}`?")),
                    None if names().next().is_none() => {
                        Some("it has a single nameless action: leave `action` out".to_owned())
                    }
                    None => None,
                };
                (format!("{what} has no action {} ({place})", quoted(name)), help)
            }
        };
        self.add(&rule::SURFACE_ACTION, target.position, message, help);
    }
}
