//! What changed in one tool beside its schemas: name, texts, hints, and keys that nobody here knows.
//!
//! Owns which hint counts as loosened, with the defaults that MCP gives to one that is left out. Start at [`compare`].

use serde_json::{Map, Value};

use super::Told;
use super::schema::{Side, compare_schemas};
use crate::change::ChangeKind;
use crate::list::Tool;
use crate::shown;

/// A hint of `annotations`.
struct Hint {
    key: &'static str,
    /// What a client takes it for when it is left out.
    default: bool,
    /// The value that promises more.
    strict: bool,
}

const HINTS: [Hint; 4] = [
    Hint { key: "readOnlyHint", default: false, strict: true },
    Hint { key: "destructiveHint", default: true, strict: false },
    Hint { key: "idempotentHint", default: false, strict: true },
    Hint { key: "openWorldHint", default: true, strict: false },
];

/// Tells all that changed from one tool to what became of it.
pub(super) fn compare(old: &Tool, new: &Tool, told: &mut Told) {
    if old.digest() == new.digest() {
        return;
    }
    let mut teller = Teller { tool: old.name(), told };
    let (before, after) = (old.definition(), new.definition());
    if old.name() != new.name() {
        teller.tell(ChangeKind::ToolRenamed, "/name", format!("the tool was renamed to `{}`", shown::text(new.name())));
    }
    for key in keys(before, after).filter(|key| *key != "name") {
        let values = (before.get(key), after.get(key));
        if values.0 == values.1 {
            continue;
        }
        match key {
            "title" | "description" | "icons" => {
                teller.tell(ChangeKind::TextChanged, &format!("/{key}"), changed(key, values));
            }
            "annotations" => annotations(values, &mut teller),
            "inputSchema" => input_schema(values, &mut teller),
            "outputSchema" => output_schema(values, &mut teller),
            _ => {
                let path = format!("/{}", pointer_segment(key));
                let what = format!("{}, and this key is not understood", changed(key, values));
                teller.tell(ChangeKind::NotUnderstood, &path, what);
            }
        }
    }
}

/// The keys of both, each once.
pub(super) fn keys<'a>(old: &'a Map<String, Value>, new: &'a Map<String, Value>) -> impl Iterator<Item = &'a str> {
    let added = new.keys().filter(|key| !old.contains_key(*key));
    old.keys().chain(added).map(String::as_str)
}

/// A key as a segment of a JSON Pointer.
pub(super) fn pointer_segment(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// "`key` was added" and the like.
pub(super) fn changed(key: &str, values: (Option<&Value>, Option<&Value>)) -> String {
    let key = shown::text(key);
    match values {
        (None, _) => format!("`{key}` was added"),
        (_, None) => format!("`{key}` was removed"),
        _ => format!("`{key}` changed"),
    }
}

struct Teller<'a> {
    tool: &'a str,
    told: &'a mut Told,
}

impl Teller<'_> {
    fn tell(&mut self, kind: ChangeKind, path: &str, what: String) {
        self.told.tell(kind, self.tool, path, what);
    }
}

fn annotations(values: (Option<&Value>, Option<&Value>), teller: &mut Teller<'_>) {
    let empty = Map::new();
    let object = |value: Option<&'_ Value>| match value {
        None => Some(empty.clone()),
        Some(value) => value.as_object().cloned(),
    };
    let (Some(old), Some(new)) = (object(values.0), object(values.1)) else {
        teller.tell(ChangeKind::NotUnderstood, "/annotations", "the annotations changed and are no object".to_owned());
        return;
    };
    if old == new {
        teller.tell(
            ChangeKind::WrittenDifferently,
            "/annotations",
            "empty annotations are written differently".to_owned(),
        );
    }
    for key in keys(&old, &new) {
        let values = (old.get(key), new.get(key));
        if values.0 == values.1 {
            continue;
        }
        let path = format!("/annotations/{}", pointer_segment(key));
        let (kind, what) = match HINTS.iter().find(|hint| hint.key == key) {
            Some(hint) => judge_hint(hint, values),
            None if key == "title" => (ChangeKind::TextChanged, changed(key, values)),
            None => {
                (ChangeKind::NotUnderstood, format!("{}, and this annotation is not understood", changed(key, values)))
            }
        };
        teller.tell(kind, &path, what);
    }
}

fn judge_hint(hint: &Hint, (old, new): (Option<&Value>, Option<&Value>)) -> (ChangeKind, String) {
    let key = hint.key;
    let effective = |value: Option<&Value>| value.map_or(Some(hint.default), Value::as_bool);
    match (effective(old), effective(new)) {
        (Some(old), Some(new)) if old == new => {
            (ChangeKind::WrittenDifferently, format!("`{key}` is {new} as before and is written differently"))
        }
        (Some(old), Some(new)) if new == hint.strict => {
            (ChangeKind::HintTightened, format!("`{key}` was tightened from {old} to {new}"))
        }
        (Some(old), Some(new)) => (ChangeKind::HintLoosened, format!("`{key}` was loosened from {old} to {new}")),
        _ => (ChangeKind::NotUnderstood, format!("`{key}` changed and is neither true nor false")),
    }
}

fn input_schema(values: (Option<&Value>, Option<&Value>), teller: &mut Teller<'_>) {
    match values {
        (Some(old), Some(new)) => {
            compare_schemas(teller.tool, Side::Input, "/inputSchema", (old, new), teller.told);
        }
        _ => teller.tell(
            ChangeKind::NotUnderstood,
            "/inputSchema",
            format!("{}, and a tool without one is not understood", changed("inputSchema", values)),
        ),
    }
}

fn output_schema(values: (Option<&Value>, Option<&Value>), teller: &mut Teller<'_>) {
    match values {
        (Some(old), Some(new)) => {
            compare_schemas(teller.tool, Side::Output, "/outputSchema", (old, new), teller.told);
        }
        (None, _) => {
            teller.tell(ChangeKind::ResultSchemaAdded, "/outputSchema", "results have a schema now".to_owned())
        }
        (_, None) => {
            teller.tell(ChangeKind::ResultSchemaRemoved, "/outputSchema", "results have no schema any more".to_owned())
        }
    }
}
