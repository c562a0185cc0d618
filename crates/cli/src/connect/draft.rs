//! A configuration being brought to what is wanted, and back.
//!
//! Owns the rules that all clients share: what is there already stays, what is replaced is remembered, and taking back
//! leaves what somebody else wrote since. Pure: text in, text out. Knows no client. Start at [`Draft`] and [`Undo`].

use serde_json::{Map, Value};

use super::Change;
use super::record::{Kind, Part};
use super::syntax::{Cut, Demand, Fault, Shape, Syntax, value_at};

/// The fields of an entry.
type Fields = Map<String, Value>;

/// One thing that a configuration should hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Want {
    /// The entry of our server. Of one that starts a program already, what else it says stays.
    Server { at: Vec<String>, value: Value },
    /// A single value.
    Set { at: Vec<String>, value: Value, when: When },
    /// A text in a list.
    Listed { at: Vec<String>, text: String },
}

/// When a value is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// Whatever stands there.
    Always,
    /// Only where nothing stands: what the user said counts.
    Unset,
    /// Only where something else stands, since nothing means the same as ours.
    Otherwise,
}

impl Want {
    pub(super) fn at(&self) -> &[String] {
        match self {
            Want::Server { at, .. } | Want::Set { at, .. } | Want::Listed { at, .. } => at,
        }
    }

    /// The objects and lists that lead to it, outermost first.
    pub(super) fn containers(&self) -> Vec<Vec<String>> {
        let deepest = match self {
            Want::Listed { at, .. } => at.len(),
            Want::Server { at, .. } | Want::Set { at, .. } => at.len() - 1,
        };
        (1..=deepest).filter_map(|length| self.at().get(..length)).map(<[String]>::to_vec).collect()
    }

    /// What an edit relies on.
    pub(super) fn demands(&self) -> Vec<Demand> {
        let is_list = |at: &[String]| matches!(self, Want::Listed { .. }) && at.len() == self.at().len();
        let demand = |at: Vec<String>| {
            let shape = if is_list(&at) { Shape::Array } else { Shape::Object };
            Demand { at, shape }
        };
        self.containers().into_iter().map(demand).collect()
    }

    /// What looks like ours, where no record says so.
    pub(super) fn own_part(&self, value: &Value) -> Option<Part> {
        let present = value_at(value, self.at())?;
        let (kind, wrote) = match self {
            Want::Server { .. } if starts_gatelatch(present) => (Kind::Server, present.clone()),
            Want::Set { value, when: When::Always | When::Unset, .. } if present == value => {
                (Kind::Value, value.clone())
            }
            Want::Listed { text, .. } if holds(present, text) => (Kind::Element, text.as_str().into()),
            _ => return None,
        };
        Some(Part { at: self.at().to_vec(), kind, wrote, before: None })
    }

    /// Takes the thing out of a value, to compare what is left.
    pub(super) fn strike(&self, value: &mut Value) {
        match self {
            Want::Listed { at, text } => strike(value, at, Some(text)),
            Want::Server { at, .. } | Want::Set { at, .. } => strike(value, at, None),
        }
    }
}

/// What only the entry of a server that is reached over the network says, in any client.
const REMOTE: [&str; 13] = [
    "url",
    "httpUrl",
    "headers",
    "http_headers",
    "env_http_headers",
    "bearer_token",
    "bearer_token_env_var",
    "auth",
    "authProviderType",
    "oauth",
    "oauth_resource",
    "scopes",
    "targetAudience",
];

/// An edited text, and what was done to it.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) syntax: Syntax,
    pub(super) text: String,
    pub(super) parts: Vec<Part>,
    /// The objects and lists that were not there before, outermost first.
    pub(super) created: Vec<Vec<String>>,
    pub(super) changes: Vec<Change>,
    pub(super) notes: Vec<String>,
}

impl Draft {
    /// Opens a text that meets the demands.
    pub(super) fn open(syntax: Syntax, text: &str, demands: &[Demand]) -> Result<Draft, Fault> {
        syntax.check(text, demands)?;
        Ok(Draft {
            syntax,
            text: text.to_owned(),
            parts: Vec::new(),
            created: Vec::new(),
            changes: Vec::new(),
            notes: Vec::new(),
        })
    }

    /// The text with all that is wanted in it; one that has it comes back as it is.
    pub(super) fn with(syntax: Syntax, text: &str, wants: &[Want]) -> Result<Draft, Fault> {
        let demands: Vec<Demand> = wants.iter().flat_map(Want::demands).collect();
        let mut draft = Draft::open(syntax, text, &demands)?;
        for want in wants {
            draft.want(want)?;
        }
        Ok(draft)
    }

    pub(super) fn want(&mut self, want: &Want) -> Result<(), Fault> {
        let value = self.value()?;
        let present = value_at(&value, want.at());
        let missing: Vec<Vec<String>> =
            want.containers().into_iter().filter(|at| value_at(&value, at).is_none()).collect();
        let before = self.changes.len();
        match want {
            Want::Server { at, value } => self.server(at, value, present)?,
            Want::Set { at, value, when } => self.set(at, value, *when, present)?,
            Want::Listed { at, text } => self.list(at, text, present)?,
        }
        if self.changes.len() > before {
            self.created.extend(missing);
        }
        Ok(())
    }

    pub(super) fn value(&self) -> Result<Value, Fault> {
        self.syntax.parse(&self.text)
    }

    fn server(&mut self, at: &[String], value: &Value, present: Option<&Value>) -> Result<(), Fault> {
        let Some(present) = present else {
            self.text = self.syntax.put(&self.text, at, value)?;
            return self.note(at, Kind::Server, value.clone(), None);
        };
        let mut wrote = present.clone();
        let remote = REMOTE.iter().any(|field| present.get(field).is_some());
        match (wrote.as_object_mut(), value.as_object()) {
            (Some(fields), Some(wanted)) => {
                if remote {
                    self.cut_remote(at, fields, wanted);
                    let old = "another kind of server".to_owned();
                    self.changes.push(Change::Replace { key: at.join("."), old, new: shown(value) });
                }
                self.sync(at, fields, wanted, remote)?;
            }
            _ => {
                self.text = self.syntax.put(&self.text, at, value)?;
                wrote = value.clone();
                self.changes.push(change(at, Some(present), value));
            }
        }
        self.parts.push(Part { at: at.to_vec(), kind: Kind::Server, wrote, before: Some(present.clone()) });
        Ok(())
    }

    /// Takes out of an entry what tells how to reach a server elsewhere.
    fn cut_remote(&mut self, at: &[String], fields: &mut Fields, wanted: &Fields) {
        let goes =
            |field: &String| !wanted.contains_key(field) && (REMOTE.contains(&field.as_str()) || field == "type");
        for field in fields.keys().filter(|field| goes(field)).cloned().collect::<Vec<_>>() {
            let place = [at, std::slice::from_ref(&field)].concat();
            if let Some(text) = self.syntax.cut(&self.text, Cut::Member(&place)) {
                self.text = text;
                fields.shift_remove(&field);
            }
        }
    }

    /// Makes an entry start our program. What else somebody set there, such as an environment, stays.
    fn sync(&mut self, at: &[String], fields: &mut Fields, wanted: &Fields, quiet: bool) -> Result<(), Fault> {
        let ours = |field: &str| ["command", "args"].contains(&field) || (quiet && field != "enabled");
        let mut news: Vec<(String, Value)> =
            wanted.iter().filter(|(field, _)| ours(field)).map(|(field, new)| (field.clone(), new.clone())).collect();
        if fields.get("enabled") == Some(&Value::Bool(false)) {
            news.push(("enabled".to_owned(), Value::Bool(true)));
        }
        for (field, new) in news {
            if fields.get(&field) == Some(&new) {
                continue;
            }
            let place = [at, std::slice::from_ref(&field)].concat();
            self.text = self.syntax.put(&self.text, &place, &new)?;
            if !quiet {
                self.changes.push(change(&place, fields.get(&field), &new));
            }
            fields.insert(field, new);
        }
        Ok(())
    }

    fn set(&mut self, at: &[String], value: &Value, when: When, present: Option<&Value>) -> Result<(), Fault> {
        let leave = match (present, when) {
            (Some(present), When::Always | When::Otherwise) => present == value,
            (Some(_), When::Unset) | (None, When::Otherwise) => true,
            (None, When::Always | When::Unset) => false,
        };
        if leave {
            return Ok(());
        }
        self.text = self.syntax.put(&self.text, at, value)?;
        self.note(at, Kind::Value, value.clone(), present.cloned())
    }

    fn list(&mut self, at: &[String], text: &str, present: Option<&Value>) -> Result<(), Fault> {
        if present.is_some_and(|list| holds(list, text)) {
            return Ok(());
        }
        self.text = self.syntax.push(&self.text, at, text)?;
        self.note(at, Kind::Element, text.into(), None)
    }

    fn note(&mut self, at: &[String], kind: Kind, wrote: Value, before: Option<Value>) -> Result<(), Fault> {
        self.changes.push(change(at, before.as_ref(), &wrote));
        self.parts.push(Part { at: at.to_vec(), kind, wrote, before });
        Ok(())
    }
}

/// A text from which parts are taken.
#[derive(Debug)]
pub(super) struct Undo {
    draft: Draft,
    value: Value,
}

impl Undo {
    /// The text without these parts: what stood there before comes back, what somebody else wrote since stays.
    pub(super) fn of(
        syntax: Syntax,
        text: &str,
        demands: &[Demand],
        parts: &[Part],
        created: &[Vec<String>],
    ) -> Result<Draft, Fault> {
        let draft = Draft::open(syntax, text, demands)?;
        let mut undo = Undo { value: draft.value()?, draft };
        for part in parts.iter().rev() {
            match part.kind {
                Kind::Server => undo.take_server(part)?,
                Kind::Value => undo.give_back(&part.at, Some(&part.wrote), part.before.as_ref())?,
                Kind::Element => undo.take_element(part)?,
            }
        }
        let mut draft = undo.draft;
        if !draft.changes.is_empty() {
            for at in created.iter().rev() {
                draft.text = syntax.cut(&draft.text, Cut::Empty(at)).unwrap_or(draft.text);
            }
        }
        Ok(draft)
    }

    fn take_server(&mut self, part: &Part) -> Result<(), Fault> {
        let Some(present) = value_at(&self.value, &part.at).cloned() else { return Ok(()) };
        if part.before.as_ref() == Some(&part.wrote) {
            return Ok(()); // It stood there before us.
        }
        if ["command", "args"].iter().any(|field| present.get(field) != part.wrote.get(field)) {
            self.draft.notes.push(format!("`{}` runs another command by now, and it stays", part.at.join(".")));
            return Ok(());
        }
        let Some(before) = &part.before else { return self.give_back(&part.at, Some(&present), None) };
        let (Some(old), Some(new)) = (before.as_object(), part.wrote.as_object()) else {
            return self.give_back(&part.at, Some(&present), Some(before));
        };
        // What else the entry holds by now stays.
        for field in new.keys().chain(old.keys().filter(|field| !new.contains_key(*field))) {
            let place = [part.at.as_slice(), std::slice::from_ref(field)].concat();
            self.give_back(&place, new.get(field), old.get(field))?;
        }
        Ok(())
    }

    fn take_element(&mut self, part: &Part) -> Result<(), Fault> {
        let Some(entry) = part.wrote.as_str() else { return Ok(()) };
        match self.draft.syntax.cut(&self.draft.text, Cut::Element(&part.at, entry)) {
            Some(text) => self.put(text, Change::Remove { key: format!("{} {}", part.at.join("."), part.wrote) }),
            None => Ok(()),
        }
    }

    /// Puts back what stood at a place, if what we wrote is still there.
    fn give_back(&mut self, at: &[String], wrote: Option<&Value>, before: Option<&Value>) -> Result<(), Fault> {
        if value_at(&self.value, at) != wrote || before == wrote {
            return Ok(());
        }
        let Some(before) = before else {
            return match self.draft.syntax.cut(&self.draft.text, Cut::Member(at)) {
                Some(text) => self.put(text, Change::Remove { key: at.join(".") }),
                None => Ok(()),
            };
        };
        let text = self.draft.syntax.put(&self.draft.text, at, before)?;
        self.put(text, Change::Restore { key: at.join(".") })
    }

    fn put(&mut self, text: String, change: Change) -> Result<(), Fault> {
        self.value = self.draft.syntax.parse(&text)?;
        self.draft.text = text;
        self.draft.changes.push(change);
        Ok(())
    }
}

/// Takes a part out of a value, to compare what is left.
pub(super) fn strike_part(value: &mut Value, part: &Part) {
    match part.kind {
        Kind::Element => strike(value, &part.at, part.wrote.as_str()),
        Kind::Server | Kind::Value => strike(value, &part.at, None),
    }
}

/// A value on one line.
pub(super) fn shown(value: &Value) -> String {
    value.to_string()
}

/// A change for the eye.
pub(super) fn change(at: &[String], old: Option<&Value>, new: &Value) -> Change {
    let key = at.join(".");
    match old {
        Some(old) => Change::Replace { key, old: shown(old), new: shown(new) },
        None => Change::Add { key, value: shown(new) },
    }
}

/// Takes a member, or one text of a list, out of a value, and the containers that hold nothing then.
fn strike(value: &mut Value, at: &[String], element: Option<&str>) {
    let Some((key, rest)) = at.split_first() else { return };
    let Some(object) = value.as_object_mut() else { return };
    match (object.get_mut(key), element) {
        (Some(_), None) if rest.is_empty() => {
            object.shift_remove(key);
        }
        (Some(Value::Array(items)), Some(text)) if rest.is_empty() => items.retain(|item| item != text),
        (Some(inner), _) => strike(inner, rest, element),
        (None, _) => {}
    }
    let holds_nothing = |value: &Value| match value {
        Value::Object(members) => members.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    };
    if object.get(key).is_some_and(holds_nothing) {
        object.shift_remove(key);
    }
}

fn holds(list: &Value, text: &str) -> bool {
    list.as_array().is_some_and(|items| items.iter().any(|item| item == text))
}

/// A server entry that starts a gatelatch program as an operator server.
fn starts_gatelatch(entry: &Value) -> bool {
    let words = |field: &str| match entry.get(field) {
        Some(Value::String(word)) => vec![word.as_str()],
        Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let line = [words("command"), words("args")].concat();
    let file = line.first().and_then(|program| program.rsplit(['/', '\\']).next()).unwrap_or_default();
    ["gatelatch", "gatelatch.exe"].contains(&file) && (line.contains(&"operator") || line.contains(&"chat"))
}
