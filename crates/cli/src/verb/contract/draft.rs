//! A declaration that is about to be reviewed: every text a client would see, each marked as a draft.
//!
//! Owns what becomes of a manifest's words in a draft and what cannot be declared at all. The effect is the gate's; that
//! the text loads is the reader's judgement. Start at [`draft`].

use std::collections::BTreeSet;

use gatelatch_bridge::cut::CUT_KEY;
use gatelatch_gate::decision::ruling;
use gatelatch_manifest::reference::surface::TOOL_NAME;
use gatelatch_manifest::surface::ResultManifest;
use gatelatch_registry::catalog::{
    ActionManifest, ArgumentManifest, ArgumentType, Catalog, Effect, Entry, Kind, OutputManifest,
};
use serde_json::{Map, Value, json};

use crate::surface::review::{MISSING, REVIEW};
use crate::verb::init::draft::humanised;
use crate::yaml::{self, Line};

const HEAD: &str = "\
# A draft of what chat clients will see, made from the manifests of operators. Strangers read these texts, and their
# clients keep them: review each line, mend it, and take its comment away. Then `gatelatch check` holds the declaration
# against the manifests, and `gatelatch contract lock` puts it in force.
surface_version: 0.1.0
# review: who the server says it is, and for the model what the tools are for
# server: {name: gatelatch-chat, title: Gatelatch, instructions: What the tools are for.}
";

/// An action of the catalog that is to be declared.
#[derive(Clone, Copy)]
pub(super) struct Operation<'c> {
    pub(super) entry: &'c Entry,
    pub(super) action: &'c ActionManifest,
}

/// A draft and what has to be said about it.
pub(super) struct Draft {
    pub(super) text: String,
    /// The tools that stand in it as comments, each with what is missing.
    pub(super) missing: Vec<String>,
}

impl Operation<'_> {
    /// `xlsx.read-sheet`, as it is named on the command line.
    pub(super) fn shown(&self) -> String {
        let action = self.action.name.as_ref().map(|name| format!(".{name}")).unwrap_or_default();
        format!("{}{action}", self.entry.manifest.name)
    }

    /// Why it cannot be declared, if it cannot.
    pub(super) fn refused(&self, catalog: &Catalog) -> Option<String> {
        let ruling = ruling(catalog, self.entry, self.action);
        if ruling.effect == Effect::Irreversible {
            return Some(format!("it is irreversible: {}", ruling.because));
        }
        ruling.needs_human.then(|| format!("a human must agree to each call: {}", ruling.because))
    }
}

/// The draft of these operations, in their order. None of them is one that [`Operation::refused`] refuses.
pub(super) fn draft(catalog: &Catalog, operations: &[Operation<'_>]) -> Draft {
    let (mut names, mut missing) = (BTreeSet::new(), Vec::new());
    let (mut tools, mut put_off) = (Vec::new(), String::new());
    for operation in operations {
        let name = unused(tool_name(operation), &mut names);
        let effect = ruling(catalog, operation.entry, operation.action);
        let tool =
            Tool { name: &name, operation, read_only: effect.effect == Effect::ReadOnly, because: &effect.because };
        match tool.lacks() {
            None => tools.push(tool.lines()),
            Some(lack) => {
                put_off.extend(
                    yaml::wrapped(&format!("left out: {lack}"), 116).into_iter().map(|line| format!("  # {line}\n")),
                );
                let text = yaml::write(&[Line::List("tools", vec![tool.lines()])]);
                put_off.extend(text.lines().skip(1).map(|line| format!("  #{line}\n")));
                missing.push(format!("`{name}` ({}) stands as a comment: {lack}", operation.shown()));
            }
        }
    }
    let tools = if tools.is_empty() { "tools: []\n".to_owned() } else { yaml::write(&[Line::List("tools", tools)]) };
    Draft { text: format!("{HEAD}{tools}{put_off}"), missing }
}

struct Tool<'o, 'c> {
    name: &'o str,
    operation: &'o Operation<'c>,
    read_only: bool,
    because: &'o str,
}

impl Tool<'_, '_> {
    /// What keeps it from being declared as it stands.
    fn lacks(&self) -> Option<String> {
        let is_harmless = self.read_only || self.operation.action.idempotent || self.key().is_some();
        let shown = self.operation.shown();
        (!is_harmless).then(|| {
            format!(
                "{shown} changes something and calling it twice is not as calling it once; say `idempotent: true` in its \
                 manifest if that is so, or give it an argument that makes a repeated call harmless and name that in \
                 `idempotency_argument`"
            )
        })
    }

    /// The argument that makes a repeated call harmless, where its name or its description says so.
    fn key(&self) -> Option<&ArgumentManifest> {
        let says_so = |arg: &&ArgumentManifest| {
            let words = format!("{} {}", arg.name, arg.description).to_lowercase();
            let is_name = matches!(arg.kind, ArgumentType::String | ArgumentType::Integer);
            is_name && (words.contains("idempoten") || words.contains("repeated call"))
        };
        self.operation.action.args.iter().find(says_so)
    }

    fn lines(&self) -> Vec<Line> {
        let Operation { entry, action } = *self.operation;
        let text = |key, text: &str| Line::Pair(key, text.into());
        let flag = |key, flag: bool| Line::Pair(key, flag.into());
        let comment = |text: String| Line::Comment(text);
        let title = humanised(&folded(action.name.as_deref().unwrap_or(&entry.manifest.name)));
        let mut lines = vec![
            text("name", self.name),
            comment(format!("{REVIEW}the title and the description; these words were written for operators")),
            text("title", title.trim_end_matches('.')),
            Line::Prose("description", action.description.clone()),
            text(if entry.manifest.kind == Kind::Agent { "agent" } else { "tool" }, &entry.manifest.name),
        ];
        lines.extend(action.name.as_deref().map(|name| text("action", name)));
        lines.push(comment(format!("the gate says so: {}", self.because)));
        lines.push(flag("read_only", self.read_only));
        lines.push(flag("reversible", true));
        // What changes nothing may be repeated, whether its manifest says so or not.
        lines.push(flag("idempotent", action.idempotent || self.read_only));
        lines.push(flag("open_world", action.open_world));
        let names = argument_names(action);
        let key = self.key().filter(|_| !self.read_only && !action.idempotent);
        if let Some(key) = key {
            lines.push(comment(format!(
                "{REVIEW}whether this makes a repeated call harmless, so that every call must give it"
            )));
            lines.push(Line::Pair("idempotency_argument", published(&names, &key.name).into()));
        }
        if !action.args.is_empty() {
            let what = "names, descriptions and defaults; what chat clients need not know goes, or into `fixed:`";
            lines.push(comment(format!("{REVIEW}{what}")));
            let is_key = |arg: &ArgumentManifest| key.is_some_and(|key| key.name == arg.name);
            let rows =
                action.args.iter().map(|arg| row(arg, published(&names, &arg.name), arg.required || is_key(arg)));
            lines.push(Line::Rows("args", rows.collect()));
        }
        let narrow: Vec<&str> = action.narrow_with.iter().map(|name| published(&names, name)).collect();
        if narrow.is_empty() {
            lines.push(comment(format!("{REVIEW}whether an argument makes a result smaller")));
        }
        let mut result = Map::new();
        result.insert("max_bytes".to_owned(), ResultManifest::MOST_BYTES.into());
        if !narrow.is_empty() {
            result.insert("narrow_with".to_owned(), narrow.into());
        }
        lines.push(Line::Pair("result", result.into()));
        lines.extend(output_schema(action));
        lines
    }
}

/// The schema of results: the manifest's own, or the least that can be said.
fn output_schema(action: &ActionManifest) -> [Line; 2] {
    let (comment, schema) = match &action.output {
        Some(OutputManifest::Schema(schema)) => {
            let (schema, was_closed) = open_to_cuts(schema.clone());
            let cut = if was_closed {
                format!("; `{CUT_KEY}` is where a result that was cut says so")
            } else {
                String::new()
            };
            (format!("{REVIEW}copied from the manifest, descriptions and all{cut}"), schema)
        }
        Some(OutputManifest::Hint(_)) | None => {
            let what = "the manifest has no schema of results; say what they hold, so that clients can rely on it";
            (format!("{MISSING}{what}"), json!({"type": "object"}))
        }
    };
    [Line::Comment(comment), Line::Tree("output_schema", schema)]
}

/// A root that allows no other members gets the one in which a cut result says so; whether it was such a root.
fn open_to_cuts(mut schema: Value) -> (Value, bool) {
    let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    if is_closed && let Some(map) = schema.as_object_mut() {
        let properties = map.entry("properties").or_insert_with(|| json!({}));
        if let Some(properties) = properties.as_object_mut() {
            properties.entry(CUT_KEY).or_insert_with(|| json!({"type": "object"}));
        }
    }
    (schema, is_closed)
}

fn row(arg: &ArgumentManifest, name: &str, required: bool) -> Map<String, Value> {
    let mut row = Map::new();
    let mut put = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            row.insert(key.to_owned(), value);
        }
    };
    let description = if arg.description.is_empty() { humanised(&arg.name) } else { arg.description.clone() };
    put("name", Some(name.into()));
    put("for", (name != arg.name).then(|| arg.name.clone().into()));
    put("type", Some(arg.kind.as_str().into()));
    put("required", required.then_some(true.into()));
    put("enum", (!arg.choices.is_empty()).then(|| arg.choices.clone().into()));
    put("minimum", arg.minimum.clone().map(Value::Number));
    put("maximum", arg.maximum.clone().map(Value::Number));
    put("pattern", arg.pattern.clone().map(Value::from));
    put("items", arg.items.clone());
    // What every call gives needs none.
    put("default", arg.default.clone().filter(|_| !required));
    put("description", Some(description.into()));
    row
}

/// The name of a published tool: what it works on comes first, so that it stays apart from other servers' tools.
fn tool_name(operation: &Operation<'_>) -> String {
    let entry = folded(&operation.entry.manifest.name);
    let name = match operation.action.name.as_deref().map(folded) {
        Some(action) => format!("{entry}_{action}"),
        None if entry.contains('_') => entry,
        None => format!("{entry}_run"),
    };
    if name.starts_with(|first: char| first.is_ascii_lowercase()) { name } else { format!("tool_{name}") }
}

/// A name that no other tool of the draft has and that is short enough.
fn unused(name: String, taken: &mut BTreeSet<String>) -> String {
    let fitting = |suffix: &str| {
        let kept: String = name.chars().take(TOOL_NAME.most - suffix.len()).collect();
        format!("{}{suffix}", kept.trim_end_matches('_'))
    };
    let mut candidate = fitting("");
    for number in 2.. {
        if taken.insert(candidate.clone()) {
            break;
        }
        candidate = fitting(&format!("_{number}"));
    }
    candidate
}

/// Each argument of an action with the name that it is published by: in lower case with `_` between words, or as the
/// manifest spells it where two would be the same.
fn argument_names(action: &ActionManifest) -> Vec<(&str, String)> {
    let names: Vec<String> = action.args.iter().map(|arg| folded(&arg.name)).collect();
    let is_usable = |name: &String| !name.is_empty() && names.iter().filter(|other| *other == name).count() == 1;
    let pair =
        |(arg, name): (&'_ ArgumentManifest, &String)| if is_usable(name) { name.clone() } else { arg.name.clone() };
    action.args.iter().zip(&names).map(|(arg, name)| (arg.name.as_str(), pair((arg, name)))).collect()
}

fn published<'n>(names: &'n [(&str, String)], name: &'n str) -> &'n str {
    names.iter().find(|(own, _)| *own == name).map_or(name, |(_, published)| published)
}

/// `createUser`, `create-user` and `create.user` as `create_user`.
fn folded(name: &str) -> String {
    let mut folded = String::with_capacity(name.len());
    let mut after_small = false;
    for c in name.chars() {
        if c.is_ascii_uppercase() && after_small {
            folded.push('_');
        }
        after_small = c.is_ascii_lowercase() || c.is_ascii_digit();
        folded.push(if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' });
    }
    folded.split('_').filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_folded_word_by_word() {
        for (name, expected) in [
            ("read-sheet", "read_sheet"),
            ("createUser", "create_user"),
            ("repos.list", "repos_list"),
            ("_x__Y-", "x_y"),
            ("getHTTPStatus2xx", "get_httpstatus2xx"),
        ] {
            assert_eq!(folded(name), expected);
        }
    }

    #[test]
    fn a_name_that_is_taken_or_too_long_gets_another_that_fits() {
        let mut taken = BTreeSet::new();
        let long = "word_".repeat(12);
        let names: Vec<String> = (0..11).map(|_| unused(long.clone(), &mut taken)).collect();
        assert_eq!(names[0], format!("{}word", "word_".repeat(7)));
        assert!(names[1].ends_with("_2") && names[10].ends_with("_11"), "{names:?}");
        assert!(names.iter().all(|name| TOOL_NAME.fits(name)), "{names:?}");
    }

    #[test]
    fn a_closed_root_gets_the_member_in_which_a_cut_is_told() {
        let (opened, was_closed) = open_to_cuts(json!({"type": "object", "additionalProperties": false}));
        assert!(was_closed);
        assert_eq!(opened["properties"][CUT_KEY], json!({"type": "object"}));
        let open = json!({"type": "object", "properties": {}});
        assert_eq!(open_to_cuts(open.clone()), (open, false));
    }
}
