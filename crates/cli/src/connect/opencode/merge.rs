//! Puts Gatelatch's parts into the text of an opencode configuration, and takes them out again.
//!
//! Pure: text in, text out. Everything that is not ours keeps its place, its form and its comments. Start at [`connect`].

use jsonc_parser::cst::{CstObject, CstObjectProp};
use serde_json::{Map, Value, json};

use super::super::Change;
use super::super::draft::{Draft, Undo, Want, change, shown};
use super::super::jsonc::{self, Editor, set};
use super::super::record::{Kind, Part};
use super::super::syntax::{Demand, Fault, Shape, Syntax, path};
use super::rules::{self, Verdict};

const SCHEMA: &str = "https://opencode.ai/config.json";

/// The keys that edits touch, with the shapes that opencode gives them.
const KEYS: [(&str, Shape); 3] =
    [("mcp", Shape::Object), ("permission", Shape::ObjectOrText), ("instructions", Shape::Array)];

/// What a configuration should hold.
#[derive(Clone, Debug)]
pub(in super::super) struct Wanted {
    server: String,
    value: Value,
    /// The page, where there is one; the rules go with it, for what asks has both.
    instructions: Option<String>,
}

impl Wanted {
    pub(in super::super) fn new(server: &str, value: Value, instructions: Option<String>) -> Wanted {
        Wanted { server: server.to_owned(), value, instructions }
    }

    fn server_entry(&self) -> Want {
        Want::Server { at: path(&["mcp", &self.server]), value: self.value.clone() }
    }

    fn instructions_entry(&self) -> Option<Want> {
        let text = self.instructions.clone()?;
        Some(Want::Listed { at: path(&["instructions"]), text })
    }

    fn everything(&self) -> String {
        format!("{}_*", self.server)
    }

    /// The rules of ours: that for everything, and those that ask.
    fn rules(&self) -> Vec<(String, Verdict)> {
        if self.instructions.is_none() {
            return Vec::new();
        }
        let asks = rules::confirmed(&self.server).map(|key| (key, Verdict::Ask));
        std::iter::once((self.everything(), Verdict::Allow)).chain(asks).collect()
    }
}

/// The text with everything that is wanted in it. A text that has it all comes back as it is.
pub(in super::super) fn connect(text: &str, wanted: &Wanted) -> Result<Draft, Fault> {
    let mut draft = Draft::open(Syntax::Jsonc, text, &demands())?;
    if draft.value()?.as_object().is_some_and(Map::is_empty) {
        // opencode writes this line itself into a configuration that lacks it, and would so touch a new file.
        draft.text = jsonc::put(text, &path(&["$schema"]), &json!(SCHEMA))?;
        draft.changes.push(change(&path(&["$schema"]), None, &json!(SCHEMA)));
    }
    draft.want(&wanted.server_entry())?;
    if let Some(instructions) = wanted.instructions_entry() {
        put_rules(&mut draft, wanted)?;
        draft.want(&instructions)?;
    }
    Ok(draft)
}

/// The text without our parts: what stood there before comes back, what somebody else wrote since stays.
pub(in super::super) fn disconnect(text: &str, parts: &[Part], created: &[Vec<String>]) -> Result<Draft, Fault> {
    Undo::of(Syntax::Jsonc, text, &demands(), parts, created)
}

/// The parts that look like ours, where no record says so.
pub(in super::super) fn own_parts(text: &str, wanted: &Wanted) -> Result<Vec<Part>, Fault> {
    let value = jsonc::parse(text)?;
    let mut parts: Vec<Part> = wanted.server_entry().own_part(&value).into_iter().collect();
    let permission = value.get("permission").and_then(Value::as_object);
    for (key, verdict) in wanted.rules() {
        let verdict = json!(verdict.as_str());
        if permission.and_then(|rules| rules.get(&key)) == Some(&verdict) {
            parts.push(Part { at: path(&["permission", &key]), kind: Kind::Value, wrote: verdict, before: None });
        }
    }
    parts.extend(wanted.instructions_entry().and_then(|want| want.own_part(&value)));
    Ok(parts)
}

/// The top-level keys that hold our parts.
pub(in super::super) fn containers() -> Vec<Vec<String>> {
    KEYS.iter().map(|(key, _)| path(&[key])).collect()
}

/// Whether nothing is left but what opencode itself writes into an empty configuration.
pub(in super::super) fn holds_nothing(text: &str) -> bool {
    jsonc::parse(text).is_ok_and(|value| {
        value.as_object().is_some_and(|object| object.iter().all(|(key, value)| key == "$schema" && value == SCHEMA))
    })
}

/// Whether two texts say the same about everything that is not ours.
pub(in super::super) fn leaves_the_rest(before: &str, after: &str, wanted: &Wanted) -> bool {
    // Compared as text, so that the order counts too.
    let rest = |text: &str| jsonc::parse(text).map(|value| the_rest(value, wanted).to_string());
    match (rest(before), rest(after)) {
        (Ok(before), Ok(after)) => before == after,
        _ => false,
    }
}

fn demands() -> Vec<Demand> {
    KEYS.iter().map(|(key, shape)| Demand { at: path(&[key]), shape: *shape }).collect()
}

// The rules.

fn put_rules(draft: &mut Draft, wanted: &Wanted) -> Result<(), Fault> {
    let value = draft.value()?;
    let needs = Needs::of(value.get("permission"), wanted);
    draft.notes.extend(needs.notes.iter().cloned());
    if needs.is_empty() {
        return Ok(());
    }
    if value.get("permission").is_none() {
        draft.created.push(path(&["permission"]));
    }
    let editor = Editor::open(&draft.text, &demands())?;
    let permission = editor.object().object_value_or_set("permission");
    if let Some(text) = value.get("permission").and_then(Value::as_str) {
        // The text form means this object, and only the object form can hold more than one rule.
        let (at, object) = (path(&["permission"]), json!({ "*": text }));
        draft.changes.push(change(&at, Some(&json!(text)), &object));
        draft.parts.push(Part { at, kind: Kind::Value, wrote: object, before: Some(json!(text)) });
        permission.append("*", jsonc::input(&json!(text)));
    }
    if needs.general {
        let place = permission.properties().iter().position(|rule| names_own_tool(rule, &wanted.server));
        let key = wanted.everything();
        let verdict = json!(Verdict::Allow.as_str());
        match place {
            Some(index) => permission.insert(index, &key, jsonc::input(&verdict)),
            None => permission.append(&key, jsonc::input(&verdict)),
        };
        note_rule(key, verdict, None, draft);
    }
    move_last(&permission, &needs.last);
    for (key, verdict) in needs.last {
        let before = value.pointer("/permission").and_then(|rules| rules.get(&key)).cloned();
        let verdict = json!(verdict.as_str());
        set(&permission, &key, &verdict);
        note_rule(key, verdict, before, draft);
    }
    draft.text = editor.text();
    Ok(())
}

/// Moves rules behind all others, and the comments that were written with them.
fn move_last(permission: &CstObject, last: &[(String, Verdict)]) {
    let moves = |rule: &CstObjectProp| {
        let name = rule.decoded_name();
        last.iter().any(|(key, _)| Some(key) == name.as_ref())
    };
    if permission.properties().iter().any(moves) {
        permission.sort_properties().by_key(moves);
    }
}

fn note_rule(key: String, verdict: Value, before: Option<Value>, draft: &mut Draft) {
    let at = path(&["permission", &key]);
    draft.changes.push(match &before {
        Some(before) if *before == verdict => {
            Change::Replace { key: at.join("."), old: shown(before), new: format!("{verdict}, now last") }
        }
        before => change(&at, before.as_ref(), &verdict),
    });
    draft.parts.push(Part { at, kind: Kind::Value, wrote: verdict, before });
}

/// Which rules are missing. A rule of the user's that is stricter than ours stays as it is.
#[derive(Default)]
struct Needs {
    general: bool,
    last: Vec<(String, Verdict)>,
    notes: Vec<String>,
}

impl Needs {
    fn of(permission: Option<&Value>, wanted: &Wanted) -> Needs {
        let empty = Map::new();
        let rules = permission.and_then(Value::as_object).unwrap_or(&empty);
        let mut needs = Needs { general: !rules.contains_key(&wanted.everything()), ..Needs::default() };
        for key in rules::confirmed(&wanted.server) {
            let deciding = rules::deciding(rules, &key);
            let own = deciding.as_ref().is_some_and(|rule| rule.key.starts_with(&format!("{}_", wanted.server)));
            match deciding.map(|rule| rule.verdict) {
                Some(Verdict::Deny) if own => {
                    needs.notes.push(format!("a rule of yours hides `{key}` from the model, and it stays"));
                }
                Some(Verdict::Ask) if own && rules.contains_key(&key) => {}
                _ => {
                    // Denied by name and shadowed by a later rule: the name still says what was meant.
                    let named = rules.get(&key).and_then(rules::own_verdict);
                    let verdict = if named == Some(Verdict::Deny) { Verdict::Deny } else { Verdict::Ask };
                    needs.last.push((key, verdict));
                }
            }
        }
        needs
    }

    fn is_empty(&self) -> bool {
        !self.general && self.last.is_empty()
    }
}

fn names_own_tool(rule: &CstObjectProp, server: &str) -> bool {
    rule.decoded_name().is_some_and(|name| name.starts_with(&format!("{server}_")))
}

/// A configuration without the parts that connecting may touch.
fn the_rest(mut value: Value, wanted: &Wanted) -> Value {
    if let Some(root) = value.as_object_mut() {
        if let Some(mcp) = root.get_mut("mcp").and_then(Value::as_object_mut) {
            mcp.shift_remove(&wanted.server);
        }
        if let Some(text) = root.get("permission").and_then(Value::as_str).map(str::to_owned) {
            root.insert("permission".to_owned(), json!({ "*": text }));
        }
        if let Some(rules) = root.get_mut("permission").and_then(Value::as_object_mut) {
            for (key, _) in wanted.rules() {
                rules.shift_remove(&key);
            }
        }
        if let Some(items) = root.get_mut("instructions").and_then(Value::as_array_mut) {
            items.retain(|item| item.as_str().is_none() || item.as_str() != wanted.instructions.as_deref());
        }
        root.retain(|key, value| match key.as_str() {
            "mcp" | "permission" => value.as_object().is_none_or(|object| !object.is_empty()),
            "instructions" => value.as_array().is_none_or(|items| !items.is_empty()),
            "$schema" => false,
            _ => true,
        });
    }
    value
}
