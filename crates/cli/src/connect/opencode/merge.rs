//! Puts Gatelatch's parts into the text of an opencode configuration, and takes them out again.
//!
//! Pure: text in, text out. Everything that is not ours keeps its place, its form and its comments. Start at [`connect`].

use jsonc_parser::cst::{CstObject, CstObjectProp};
use serde_json::{Map, Value, json};

use super::super::Change;
use super::super::jsonc::{self, Cut, Editor, Fault, Shape};
use super::super::record::Part;
use super::rules::{self, Verdict};

const SCHEMA: &str = "https://opencode.ai/config.json";

/// The keys that edits touch, with the shapes that opencode gives them.
const KEYS: [(&str, Shape); 3] =
    [("mcp", Shape::Object), ("permission", Shape::ObjectOrText), ("instructions", Shape::Array)];

/// What a configuration should hold.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    server: String,
    value: Value,
    instructions: String,
}

impl Wanted {
    pub(super) fn new(server: &str, value: Value, instructions: String) -> Wanted {
        Wanted { server: server.to_owned(), value, instructions }
    }

    fn everything(&self) -> String {
        format!("{}_*", self.server)
    }
}

/// An edited text, and what was done to it.
#[derive(Clone, Debug, Default)]
pub(super) struct Merged {
    pub(super) text: String,
    pub(super) parts: Vec<Part>,
    pub(super) created: Vec<String>,
    pub(super) changes: Vec<Change>,
    pub(super) notes: Vec<String>,
}

/// The text with everything that is wanted in it. A text that has it all comes back as it is.
pub(super) fn connect(text: &str, wanted: &Wanted) -> Result<Merged, Fault> {
    let editor = Editor::open(text, &KEYS)?;
    let value = jsonc::parse(text)?;
    let mut done = Merged::default();
    let root = editor.object();
    if root.properties().is_empty() {
        // opencode writes this line itself into a configuration that lacks it, and would so touch a new file.
        root.append("$schema", jsonc::input(&json!(SCHEMA)));
        done.changes.push(Change::Add { key: "$schema".to_owned(), value: shown(&json!(SCHEMA)) });
    }
    for (key, _) in KEYS {
        if value.get(key).is_none() {
            done.created.push(key.to_owned());
        }
    }
    put_server(&root, &value, wanted, &mut done);
    put_rules(&root, &value, wanted, &mut done);
    put_instructions(&root, &value, wanted, &mut done);
    // Opening an empty text makes an object of it, so the text is only taken when something was done.
    done.text = if done.changes.is_empty() { text.to_owned() } else { editor.text() };
    Ok(done)
}

/// The text without our parts: what stood there before comes back, what somebody else wrote since stays.
pub(super) fn disconnect(text: &str, parts: &[Part], created: &[String]) -> Result<Merged, Fault> {
    Editor::open(text, &KEYS)?;
    let mut undo = Undo { text: text.to_owned(), value: jsonc::parse(text)?, done: Merged::default() };
    for part in parts.iter().rev() {
        undo.take_out(part)?;
    }
    if !undo.done.changes.is_empty() {
        for key in created {
            undo.text = jsonc::cut(&undo.text, Cut::Empty(key)).unwrap_or(undo.text);
        }
    }
    Ok(Merged { text: undo.text, ..undo.done })
}

/// The parts that look like ours, where no record says so.
pub(super) fn own_parts(text: &str, wanted: &Wanted) -> Result<Vec<Part>, Fault> {
    let value = jsonc::parse(text)?;
    let mut parts = Vec::new();
    let mut found = |at: [&str; 2], wrote: Value| {
        parts.push(Part { at: at.map(str::to_owned).to_vec(), wrote, before: None });
    };
    if let Some(entry) = value.pointer(&format!("/mcp/{}", wanted.server)).filter(|entry| is_gatelatch(entry)) {
        found(["mcp", &wanted.server], entry.clone());
    }
    let permission = value.get("permission").and_then(Value::as_object);
    let allow = (wanted.everything(), Verdict::Allow);
    for (key, verdict) in std::iter::once(allow).chain(rules::confirmed(&wanted.server).map(|key| (key, Verdict::Ask)))
    {
        if permission.and_then(|rules| rules.get(&key)) == Some(&json!(verdict.as_str())) {
            found(["permission", &key], json!(verdict.as_str()));
        }
    }
    if has_instructions(&value, &wanted.instructions) {
        parts.push(instructions_part(&wanted.instructions));
    }
    Ok(parts)
}

/// The top-level keys that hold our parts.
pub(super) fn containers() -> Vec<String> {
    KEYS.iter().map(|(key, _)| (*key).to_owned()).collect()
}

/// Whether nothing is left but what opencode itself writes into an empty configuration.
pub(super) fn holds_nothing(text: &str) -> bool {
    jsonc::parse(text).is_ok_and(|value| {
        value.as_object().is_some_and(|object| object.iter().all(|(key, value)| key == "$schema" && value == SCHEMA))
    })
}

/// Whether two texts say the same about everything that is not ours.
pub(super) fn leaves_the_rest(before: &str, after: &str, wanted: &Wanted) -> bool {
    // Compared as text, so that the order counts too.
    let rest = |text: &str| jsonc::parse(text).map(|value| the_rest(value, wanted).to_string());
    match (rest(before), rest(after)) {
        (Ok(before), Ok(after)) => before == after,
        _ => false,
    }
}

/// A value on one line.
pub(super) fn shown(value: &Value) -> String {
    value.to_string()
}

// The server.

fn put_server(root: &CstObject, value: &Value, wanted: &Wanted, done: &mut Merged) {
    let at = ["mcp".to_owned(), wanted.server.clone()];
    let key = at.join(".");
    let present = value.pointer(&format!("/mcp/{}", wanted.server));
    let Some(present) = present else {
        object_of(root, "mcp").append(&wanted.server, jsonc::input(&wanted.value));
        done.changes.push(Change::Add { key, value: shown(&wanted.value) });
        done.parts.push(Part { at: at.to_vec(), wrote: wanted.value.clone(), before: None });
        return;
    };
    let Some(entry) = root.object_value("mcp").and_then(|mcp| mcp.get(&wanted.server)) else { return };
    if present.get("type") != Some(&json!("local")) {
        entry.set_value(jsonc::input(&wanted.value));
        done.changes.push(Change::Replace { key, old: "another kind of server".to_owned(), new: shown(&wanted.value) });
        done.parts.push(Part { at: at.to_vec(), wrote: wanted.value.clone(), before: Some(present.clone()) });
        return;
    }
    // What else somebody set there, such as an environment, stays.
    let mut wrote = present.clone();
    let entry = entry.object_value_or_set();
    for field in ["command", "enabled"] {
        let (old, new) = (present.get(field), &wanted.value[field]);
        if old == Some(new) || (field == "enabled" && old.is_none()) {
            continue;
        }
        set(&entry, field, new);
        wrote[field] = new.clone();
        let key = format!("{key}.{field}");
        done.changes.push(match old {
            Some(old) => Change::Replace { key, old: shown(old), new: shown(new) },
            None => Change::Add { key, value: shown(new) },
        });
    }
    done.parts.push(Part { at: at.to_vec(), wrote, before: Some(present.clone()) });
}

// The rules.

fn put_rules(root: &CstObject, value: &Value, wanted: &Wanted, done: &mut Merged) {
    let needs = Needs::of(value.get("permission"), wanted);
    if needs.is_empty() {
        return;
    }
    let permission = match value.get("permission").and_then(Value::as_str) {
        // The text form means this object, and only the object form can hold more than one rule.
        Some(text) => {
            let object = json!({ "*": text });
            done.changes.push(Change::Replace {
                key: "permission".to_owned(),
                old: shown(&json!(text)),
                new: shown(&object),
            });
            done.parts.push(Part { at: vec!["permission".to_owned()], wrote: object, before: Some(json!(text)) });
            let permission = object_of(root, "permission");
            permission.append("*", jsonc::input(&json!(text)));
            permission
        }
        None => object_of(root, "permission"),
    };
    if needs.general {
        let place = permission.properties().iter().position(|rule| names_own_tool(rule, &wanted.server));
        let key = wanted.everything();
        let verdict = json!(Verdict::Allow.as_str());
        match place {
            Some(index) => permission.insert(index, &key, jsonc::input(&verdict)),
            None => permission.append(&key, jsonc::input(&verdict)),
        };
        note_rule(key, verdict, None, done);
    }
    move_last(&permission, &needs.last);
    for (key, verdict) in needs.last {
        let before = value.pointer("/permission").and_then(|rules| rules.get(&key)).cloned();
        let verdict = json!(verdict.as_str());
        set(&permission, &key, &verdict);
        note_rule(key, verdict, before, done);
    }
    done.notes.extend(needs.notes);
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

fn note_rule(key: String, verdict: Value, before: Option<Value>, done: &mut Merged) {
    let shown_key = format!("permission.{key}");
    done.changes.push(match &before {
        Some(before) if *before == verdict => {
            Change::Replace { key: shown_key, old: shown(before), new: format!("{verdict}, now last") }
        }
        Some(before) => Change::Replace { key: shown_key, old: shown(before), new: shown(&verdict) },
        None => Change::Add { key: shown_key, value: shown(&verdict) },
    });
    done.parts.push(Part { at: vec!["permission".to_owned(), key], wrote: verdict, before });
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

// The instructions.

fn put_instructions(root: &CstObject, value: &Value, wanted: &Wanted, done: &mut Merged) {
    if has_instructions(value, &wanted.instructions) {
        return;
    }
    root.array_value_or_set("instructions").append(jsonc::input(&json!(wanted.instructions)));
    done.changes.push(Change::Add { key: "instructions".to_owned(), value: shown(&json!(wanted.instructions)) });
    done.parts.push(instructions_part(&wanted.instructions));
}

fn has_instructions(value: &Value, entry: &str) -> bool {
    value.get("instructions").and_then(Value::as_array).is_some_and(|items| items.iter().any(|item| item == entry))
}

fn instructions_part(entry: &str) -> Part {
    Part { at: vec!["instructions".to_owned()], wrote: json!(entry), before: None }
}

// Taking out.

/// A text from which parts are taken.
struct Undo {
    text: String,
    value: Value,
    done: Merged,
}

impl Undo {
    fn take_out(&mut self, part: &Part) -> Result<(), Fault> {
        match part.at.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            ["mcp", server] => self.take_server(server, part),
            // Rules that somebody added need the object form; without any, the text form comes back.
            ["permission"] => self.give_back(&["permission"], &part.wrote, part.before.as_ref()),
            ["permission", rule] => self.give_back(&["permission", rule], &part.wrote, part.before.as_ref()),
            ["instructions"] => self.take_instructions(part),
            _ => Ok(()),
        }
    }

    fn take_server(&mut self, server: &str, part: &Part) -> Result<(), Fault> {
        let Some(present) = self.value.pointer(&format!("/mcp/{server}")).cloned() else { return Ok(()) };
        if part.before.as_ref() == Some(&part.wrote) {
            return Ok(()); // It stood there before us.
        }
        if present.get("command") != part.wrote.get("command") {
            self.done.notes.push(format!("`mcp.{server}` runs another command by now, and it stays"));
            return Ok(());
        }
        match &part.before {
            // What else the entry holds by now stays.
            Some(before) if before.get("type") == Some(&json!("local")) => {
                for field in ["command", "enabled"] {
                    let (old, new) = (before.get(field), part.wrote.get(field));
                    if let Some(new) = new.filter(|_| old != new) {
                        self.give_back(&["mcp", server, field], new, old)?;
                    }
                }
                Ok(())
            }
            before => self.give_back(&["mcp", server], &present, before.as_ref()),
        }
    }

    fn take_instructions(&mut self, part: &Part) -> Result<(), Fault> {
        let Some(entry) = part.wrote.as_str() else { return Ok(()) };
        match jsonc::cut(&self.text, Cut::Element("instructions", entry)) {
            Some(text) => self.put(text, Change::Remove { key: format!("instructions {}", part.wrote) }),
            None => Ok(()),
        }
    }

    /// Puts back what stood at a place, if what we wrote is still there.
    fn give_back(&mut self, at: &[&str], wrote: &Value, before: Option<&Value>) -> Result<(), Fault> {
        if at.iter().try_fold(&self.value, |value, key| value.get(key)) != Some(wrote) || before == Some(wrote) {
            return Ok(());
        }
        let key = at.join(".");
        match before {
            None => match jsonc::cut(&self.text, Cut::Member(at)) {
                Some(text) => self.put(text, Change::Remove { key }),
                None => Ok(()),
            },
            Some(before) => {
                let editor = Editor::open(&self.text, &KEYS)?;
                replace_at(&editor.object(), at, before);
                self.put(editor.text(), Change::Replace { key, old: shown(wrote), new: shown(before) })
            }
        }
    }

    fn put(&mut self, text: String, change: Change) -> Result<(), Fault> {
        self.value = jsonc::parse(&text)?;
        self.text = text;
        self.done.changes.push(change);
        Ok(())
    }
}

fn replace_at(object: &CstObject, at: &[&str], value: &Value) {
    match at {
        [key] => set(object, key, value),
        [key, rest @ ..] => {
            if let Some(inner) = object.object_value(key) {
                replace_at(&inner, rest, value);
            }
        }
        [] => {}
    }
}

// Small things.

fn object_of(root: &CstObject, key: &str) -> CstObject {
    root.object_value_or_set(key)
}

fn set(object: &CstObject, key: &str, value: &Value) {
    match object.get(key) {
        Some(property) => property.set_value(jsonc::input(value)),
        None => {
            object.append(key, jsonc::input(value));
        }
    }
}

/// A server entry that starts a gatelatch program as an operator server.
fn is_gatelatch(entry: &Value) -> bool {
    let Some(command) = entry.get("command").and_then(Value::as_array) else { return false };
    let program = command.first().and_then(Value::as_str).unwrap_or_default();
    let file = program.rsplit(['/', '\\']).next().unwrap_or_default();
    ["gatelatch", "gatelatch.exe"].contains(&file) && command.iter().any(|word| word == "operator")
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
            rules.shift_remove(&wanted.everything());
            for key in rules::confirmed(&wanted.server) {
                rules.shift_remove(&key);
            }
        }
        if let Some(items) = root.get_mut("instructions").and_then(Value::as_array_mut) {
            items.retain(|item| item != &json!(wanted.instructions));
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
