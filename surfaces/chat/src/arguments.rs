//! A call's arguments, held to what is published, and the error that says what would be right.
//!
//! The same judge as everywhere else: a published argument is read as an argument of a manifest, so that types, bounds
//! and spellings mean the same. Start at [`Published::of`] and [`Published::take`].

use gatelatch_manifest::surface::{SurfaceArgumentManifest, SurfaceToolManifest};
use gatelatch_registry::arguments::{ArgumentFault, ArgumentRule, Arguments};
use gatelatch_registry::catalog::{ActionManifest, ArgumentManifest};
use serde_json::{Map, Value, json};

/// The arguments of one published tool.
#[derive(Debug)]
pub(crate) struct Published {
    /// They, as an action's.
    action: ActionManifest,
    defaults: Vec<(String, Value)>,
}

/// Arguments that fit what is published, under the published names, the defaults among them.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) values: Map<String, Value>,
    /// What was read otherwise than it was written.
    pub(crate) notes: Vec<String>,
}

/// A schema of more bytes is told only as far as it is concerned.
const LARGE_SCHEMA: usize = 2000;

impl Published {
    /// The arguments of a tool.
    pub(crate) fn of(tool: &SurfaceToolManifest) -> Published {
        let default = |arg: &SurfaceArgumentManifest| Some((arg.name.clone(), arg.default.clone()?));
        Published { action: as_action(tool), defaults: tool.args.iter().filter_map(default).collect() }
    }

    /// Checks raw arguments; the error is the whole answer.
    pub(crate) fn take(&self, raw: Map<String, Value>, schema: &Map<String, Value>) -> Result<Taken, Value> {
        let arguments =
            Arguments::parse(&self.action, &Value::Object(raw)).map_err(|faults| self.wrong(&faults, schema))?;
        let notes = arguments.respelled().iter().map(|(was, is)| format!("took argument `{was}` for `{is}`")).collect();
        let mut values = arguments.values().clone();
        for (name, default) in &self.defaults {
            values.entry(name.clone()).or_insert_with(|| default.clone());
        }
        Ok(Taken { values, notes })
    }

    fn wrong(&self, faults: &[ArgumentFault], schema: &Map<String, Value>) -> Value {
        const MOST_TOLD: usize = 5;
        let mut told: Vec<String> = faults.iter().take(MOST_TOLD).map(|fault| fault.message.clone()).collect();
        if faults.len() > MOST_TOLD {
            told.push(format!("and {} more", faults.len() - MOST_TOLD));
        }
        let is_lost =
            |fault: &ArgumentFault| fault.rule == ArgumentRule::Unknown && !fault.message.contains("did you mean");
        if faults.iter().any(is_lost) {
            told.push(self.takes());
        }
        let name = self.action.name.as_deref().unwrap_or_default();
        json!({
            "error": "bad_arguments",
            "message": format!("`{name}`: {}", told.join("; ")),
            "schema": concerned(schema, faults),
        })
    }

    /// What there is to choose from, for a name that resembles none.
    fn takes(&self) -> String {
        let names: Vec<String> = self.action.args.iter().map(|arg| format!("`{}`", arg.name)).collect();
        if names.is_empty() { "it takes no arguments".to_owned() } else { format!("it takes {}", names.join(", ")) }
    }
}

/// A published schema; of a large one only the arguments that are wrong and those that are required.
fn concerned(schema: &Map<String, Value>, faults: &[ArgumentFault]) -> Value {
    let mut schema = schema.clone();
    if Value::Object(schema.clone()).to_string().len() <= LARGE_SCHEMA {
        return Value::Object(schema);
    }
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.retain(|name, _| {
            required.iter().any(|known| known == name) || faults.iter().any(|fault| fault.argument == *name)
        });
    }
    Value::Object(schema)
}

fn as_action(tool: &SurfaceToolManifest) -> ActionManifest {
    ActionManifest {
        args: tool.args.iter().map(as_argument).collect(),
        idempotent: tool.idempotent,
        open_world: tool.open_world,
        position: tool.position,
        ..ActionManifest::new(Some(&tool.name), &tool.description)
    }
}

fn as_argument(arg: &SurfaceArgumentManifest) -> ArgumentManifest {
    // How a program gets it is the manifest's matter.
    ArgumentManifest {
        required: arg.required,
        description: arg.description.clone(),
        default: arg.default.clone(),
        choices: arg.choices.clone(),
        minimum: arg.minimum.clone(),
        maximum: arg.maximum.clone(),
        pattern: arg.pattern.clone(),
        items: arg.items.clone(),
        position: arg.position,
        ..ArgumentManifest::new(&arg.name, arg.kind)
    }
}
