//! The kinds of change: what each is, how much it asks of those who hold the old list, and why.
//!
//! Owns the judgement of a kind. Which kind a difference is, [`crate::diff`] finds out. The reference page and
//! `gatelatch contract explain` are made from this table. Start at [`ChangeKind::rule`].

use serde::{Serialize, Serializer};

use crate::level::Level;

/// What a change is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChangeKind {
    /// A tool came.
    ToolNew,
    /// A tool went.
    ToolRemoved,
    /// A tool has another name.
    ToolRenamed,
    /// A tool has another place.
    ToolMoved,
    /// A text changed.
    TextChanged,
    /// The same is said in another way.
    WrittenDifferently,
    /// An annotation promises less.
    HintLoosened,
    /// An annotation promises more.
    HintTightened,
    /// An argument came that a call must give.
    ArgumentNewRequired,
    /// An argument came that a call may give.
    ArgumentNewOptional,
    /// An argument went.
    ArgumentRemoved,
    /// Some calls are refused that were right.
    ArgumentNarrowed,
    /// Some calls are right that were refused.
    ArgumentWidened,
    /// Both.
    ArgumentReplaced,
    /// An argument travels in another way.
    ArgumentHeader,
    /// It is said what a left-out argument means.
    DefaultAdded,
    /// A left-out argument means something else.
    DefaultChanged,
    /// It is not said any more what a left-out argument means.
    DefaultRemoved,
    /// Results have a schema now.
    ResultSchemaAdded,
    /// Results have none any more.
    ResultSchemaRemoved,
    /// An output field came.
    FieldNew,
    /// An output field came where none but the known ones were allowed.
    FieldNewInClosed,
    /// An output field went.
    FieldRemoved,
    /// Results are among those that were possible before.
    ResultNarrowed,
    /// Results are possible that were excluded before.
    ResultWidened,
    /// Results are other ones.
    ResultReplaced,
    /// It cannot be told what a change does.
    NotUnderstood,
}

/// What is said of a kind of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangeRule {
    /// Its name; always with a `-`, which no tool of a declaration has.
    pub name: &'static str,
    /// How much it asks.
    pub level: Level,
    /// What it is.
    pub meaning: &'static str,
    /// Why it asks that much.
    pub because: &'static str,
}

impl ChangeKind {
    /// Every kind, in the order of the documentation.
    pub const ALL: [ChangeKind; 27] = [
        ChangeKind::ToolNew,
        ChangeKind::ToolRemoved,
        ChangeKind::ToolRenamed,
        ChangeKind::ToolMoved,
        ChangeKind::TextChanged,
        ChangeKind::WrittenDifferently,
        ChangeKind::HintLoosened,
        ChangeKind::HintTightened,
        ChangeKind::ArgumentNewRequired,
        ChangeKind::ArgumentNewOptional,
        ChangeKind::ArgumentRemoved,
        ChangeKind::ArgumentNarrowed,
        ChangeKind::ArgumentWidened,
        ChangeKind::ArgumentReplaced,
        ChangeKind::ArgumentHeader,
        ChangeKind::DefaultAdded,
        ChangeKind::DefaultChanged,
        ChangeKind::DefaultRemoved,
        ChangeKind::ResultSchemaAdded,
        ChangeKind::ResultSchemaRemoved,
        ChangeKind::FieldNew,
        ChangeKind::FieldNewInClosed,
        ChangeKind::FieldRemoved,
        ChangeKind::ResultNarrowed,
        ChangeKind::ResultWidened,
        ChangeKind::ResultReplaced,
        ChangeKind::NotUnderstood,
    ];

    /// The kind of that name.
    pub fn named(name: &str) -> Option<ChangeKind> {
        ChangeKind::ALL.into_iter().find(|kind| kind.rule().name == name)
    }

    /// What is said of it.
    pub fn rule(self) -> ChangeRule {
        let rule = |level, name, meaning, because| ChangeRule { name, level, meaning, because };
        let (major, minor, patch) = (Level::Major, Level::Minor, Level::Patch);
        match self {
            ChangeKind::ToolNew => rule(
                minor,
                "tool-new",
                "a tool that was not there before",
                "whoever holds the old list does not call it and goes on as before",
            ),
            ChangeKind::ToolRemoved => rule(
                major,
                "tool-removed",
                "a tool that is not there any more",
                "clients keep the old list and call what is gone",
            ),
            ChangeKind::ToolRenamed => rule(
                major,
                "tool-renamed",
                "a tool with another name, known by its schemas and texts",
                "a call by the old name is refused, as if the tool had been removed",
            ),
            ChangeKind::ToolMoved => rule(
                patch,
                "tool-moved",
                "a tool in another place of the list",
                "no call depends on the order; the digest does",
            ),
            ChangeKind::TextChanged => rule(
                patch,
                "text-changed",
                "a title, a description, an icon, an example or a comment in a schema",
                "calls and results stay as they were; a model reads the text all the same, so the digest shows it",
            ),
            ChangeKind::WrittenDifferently => rule(
                patch,
                "written-differently",
                "the same said in another way: values in another order, a hint's default spelled out",
                "what is accepted and what comes back stay the same; the digest does not",
            ),
            ChangeKind::HintLoosened => rule(
                major,
                "hint-loosened",
                "an annotation that promises less: not read-only, destructive, not idempotent, open to the world",
                "a client that lets the tool run without a question does so because of the old promise",
            ),
            ChangeKind::HintTightened => rule(
                minor,
                "hint-tightened",
                "an annotation that promises more",
                "whoever was prepared for more goes on as before",
            ),
            ChangeKind::ArgumentNewRequired => rule(
                major,
                "argument-new-required",
                "a new argument that every call must give",
                "a call that was right leaves it out and is refused",
            ),
            ChangeKind::ArgumentNewOptional => rule(
                minor,
                "argument-new-optional",
                "a new argument that a call may leave out",
                "a call that leaves it out goes on as before",
            ),
            ChangeKind::ArgumentRemoved => rule(
                major,
                "argument-removed",
                "an argument that is not there any more",
                "a call that gives it is refused, or means something else",
            ),
            ChangeKind::ArgumentNarrowed => rule(
                major,
                "argument-narrowed",
                "an argument that takes fewer values: by its type, its listed values, a bound, or being required",
                "a call that was right is refused",
            ),
            ChangeKind::ArgumentWidened => rule(
                minor,
                "argument-widened",
                "an argument that takes more values",
                "every call that was right is right still",
            ),
            ChangeKind::ArgumentReplaced => rule(
                major,
                "argument-replaced",
                "an argument that takes other values: some come, some go, or the two rules cannot be compared",
                "a call that was right may be refused",
            ),
            ChangeKind::ArgumentHeader => rule(
                major,
                "argument-header",
                "an argument that travels in a header over HTTP, in none or in another",
                "a client that holds the old list sends the headers that it asks for, and the server refuses a call whose headers are not the ones it expects",
            ),
            ChangeKind::DefaultAdded => rule(
                minor,
                "default-added",
                "an argument that says what leaving it out means",
                "nothing was said before, so nobody relied on anything else",
            ),
            ChangeKind::DefaultChanged => rule(
                major,
                "default-changed",
                "an argument whose absence means something else",
                "the same call does another thing, and nothing tells whoever makes it",
            ),
            ChangeKind::DefaultRemoved => rule(
                major,
                "default-removed",
                "an argument that does not say any more what leaving it out means",
                "a call that relied on it may do another thing",
            ),
            ChangeKind::ResultSchemaAdded => rule(
                minor,
                "result-schema-added",
                "results that have a schema now",
                "whoever was prepared for any result goes on as before",
            ),
            ChangeKind::ResultSchemaRemoved => rule(
                major,
                "result-schema-removed",
                "results that have no schema any more",
                "whoever relies on their form cannot do so any more",
            ),
            ChangeKind::FieldNew => rule(
                minor,
                "field-new",
                "a new output field where others than the known ones were allowed",
                "whoever holds the old schema passes over it",
            ),
            ChangeKind::FieldNewInClosed => rule(
                major,
                "field-new-in-closed",
                "a new output field where the old schema allowed none but its own",
                "a client that holds the old schema finds the whole result invalid and throws it away",
            ),
            ChangeKind::FieldRemoved => rule(
                major,
                "field-removed",
                "an output field that is not there any more",
                "whoever reads it finds nothing",
            ),
            ChangeKind::ResultNarrowed => rule(
                minor,
                "result-narrowed",
                "results that are among those which the old schema allowed",
                "whoever was prepared for more goes on as before",
            ),
            ChangeKind::ResultWidened => rule(
                major,
                "result-widened",
                "results that the old schema excluded",
                "a client that holds the old schema finds such a result invalid",
            ),
            ChangeKind::ResultReplaced => rule(
                major,
                "result-replaced",
                "results of another form: some come, some go, or the two rules cannot be compared",
                "a client that holds the old schema may find a result invalid",
            ),
            ChangeKind::NotUnderstood => rule(
                major,
                "not-understood",
                "a change whose effect cannot be told: an unknown key, or one beside `not`, `oneOf` or a reference",
                "what cannot be judged is taken for the worst, since a contract that is too strict breaks nothing",
            ),
        }
    }
}

impl Serialize for ChangeKind {
    fn serialize<S: Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        output.serialize_str(self.rule().name)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_kind_is_found_by_a_name_that_no_tool_can_have() {
        let names: BTreeSet<&str> = ChangeKind::ALL.iter().map(|kind| kind.rule().name).collect();
        assert_eq!(names.len(), ChangeKind::ALL.len());
        for kind in ChangeKind::ALL {
            assert!(kind.rule().name.contains('-'), "{}", kind.rule().name);
            assert_eq!(ChangeKind::named(kind.rule().name), Some(kind));
        }
        assert_eq!(ChangeKind::named("tool_new"), None);
    }
}
