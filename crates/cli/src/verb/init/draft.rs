//! A manifest that is about to be written: what it says, its text, and the promise that the text loads.
//!
//! Owns the order of keys and what is given up when something cannot be said. The reader that serves catalogs judges the
//! text, so that nothing is written which it would refuse. Start at [`Draft::fitted`].

use gatelatch_gate::name::NameReading;
use gatelatch_manifest::document::{ArgumentType, EntryManifest, Kind, Runtime};
use gatelatch_manifest::read::{self, Beside};
use gatelatch_manifest::reference::{ACTION_NAME, MOST_ARGUMENTS};
use serde_json::{Map, Number, Value};

use super::yaml::{self, Line};

/// A tool or an agent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Draft {
    pub(crate) kind: Kind,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) runtime: Runtime,
    pub(crate) entrypoint: String,
    /// At least one.
    pub(crate) actions: Vec<Action>,
}

/// One action; without a name the only one.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Action {
    pub(crate) name: Option<String>,
    pub(crate) description: String,
    pub(crate) arguments: Vec<Argument>,
}

/// One argument, in the manifest's own words.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Argument {
    pub(crate) name: String,
    pub(crate) kind: ArgumentType,
    pub(crate) required: bool,
    pub(crate) description: Option<String>,
    pub(crate) default: Option<Value>,
    pub(crate) choices: Vec<Value>,
    pub(crate) minimum: Option<Number>,
    pub(crate) maximum: Option<Number>,
    pub(crate) positional: bool,
    pub(crate) negatable: bool,
}

impl Argument {
    /// An optional text.
    pub(crate) fn named(name: &str) -> Argument {
        Argument {
            name: name.to_owned(),
            kind: ArgumentType::String,
            required: false,
            description: None,
            default: None,
            choices: Vec::new(),
            minimum: None,
            maximum: None,
            positional: false,
            negatable: false,
        }
    }

    fn row(&self) -> Map<String, Value> {
        let mut row = Map::new();
        let mut put = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                row.insert(key.to_owned(), value);
            }
        };
        put("name", Some(self.name.clone().into()));
        put("type", Some(self.kind.as_str().into()));
        put("required", self.required.then_some(true.into()));
        put("positional", self.positional.then_some(true.into()));
        put("negatable", self.negatable.then_some(true.into()));
        put("enum", (!self.choices.is_empty()).then(|| self.choices.clone().into()));
        put("minimum", self.minimum.clone().map(Value::Number));
        put("maximum", self.maximum.clone().map(Value::Number));
        put("default", self.default.clone());
        put("description", self.description.clone().map(Value::from));
        row
    }

    /// The same without what may have been misunderstood.
    fn bare(&self) -> Argument {
        Argument { required: self.required, positional: self.positional, ..Argument::named(&self.name) }
    }
}

impl Draft {
    /// The manifest's text.
    pub(crate) fn text(&self) -> String {
        let pair = |key, value: &str| Line::Pair(key, Value::from(value));
        let mut lines = vec![
            pair("name", &self.name),
            pair("description", &self.description),
            pair("version", "0.1.0"),
            pair("runtime", runtime_word(self.runtime)),
            pair("entrypoint", &self.entrypoint),
        ];
        if self.kind == Kind::Agent {
            lines.push(Line::Comment("uses: [tool.action]   # the actions that it calls".to_owned()));
        }
        match self.actions.as_slice() {
            [action] if action.name.is_none() => lines.extend(self.operation(action)),
            actions => {
                let action = |action: &Action| {
                    let mut lines: Vec<Line> = action.name.iter().map(|name| pair("name", name)).collect();
                    lines.push(pair("description", &action.description));
                    lines.extend(self.operation(action));
                    lines
                };
                lines.push(Line::List("actions", actions.iter().map(action).collect()));
            }
        }
        yaml::write(&lines)
    }

    /// Whether the name of an action says what a run changes.
    pub(crate) fn says_effect(&self, action: &Action) -> bool {
        NameReading::of(&self.name, action.name.as_deref()).alone().is_some()
    }

    /// The document of the text; `None` when it would not load.
    pub(crate) fn document(&self, beside: &dyn Fn(&str) -> Beside) -> Option<EntryManifest> {
        let read = match self.kind {
            Kind::Agent => read::agent(Kind::Agent.file(), &self.name, self.text().as_bytes(), beside),
            Kind::Tool | Kind::Skill => read::tool(Kind::Tool.file(), &self.name, self.text().as_bytes(), beside),
        };
        read.document
    }

    /// The draft, or as much of it as loads, and what was given up. `None` when not even the bare entry loads.
    pub(crate) fn fitted(mut self, beside: &dyn Fn(&str) -> Beside) -> Option<(Draft, Vec<String>)> {
        let mut given_up = Vec::new();
        if self.document(beside).is_some() {
            return Some((self, given_up));
        }
        self.actions.retain(|action| {
            let fits = action.name.as_deref().is_none_or(|name| ACTION_NAME.fits(name));
            if let (false, Some(name)) = (fits, &action.name) {
                given_up.push(format!("action `{name}`: that cannot be an action's name"));
            }
            fits
        });
        for at in 0..self.actions.len() {
            self.fit_arguments(at, beside, &mut given_up);
        }
        let bare = Action { name: None, ..self.actions.first().cloned().unwrap_or_default() };
        if self.actions.is_empty() {
            self.actions.push(Action { arguments: Vec::new(), ..bare.clone() });
        }
        if self.document(beside).is_some() {
            return Some((self, given_up));
        }
        given_up.push("every action and argument: what the help text says does not fit together".to_owned());
        self.actions = vec![Action { description: self.description.clone(), arguments: Vec::new(), name: None }];
        self.document(beside).is_some().then_some((self, given_up))
    }

    /// Gives up what keeps one action from loading.
    fn fit_arguments(&mut self, at: usize, beside: &dyn Fn(&str) -> Beside, given_up: &mut Vec<String>) {
        let Some(action) = self.actions.get(at).cloned() else { return };
        let loads = |action: Action| Draft { actions: vec![action], ..self.clone() }.document(beside).is_some();
        let mut fitting = Action { arguments: Vec::new(), ..action.clone() };
        if !loads(fitting.clone()) {
            fitting.description = super::help::from_name(action.name.as_deref().unwrap_or(&self.name));
        }
        for argument in action.arguments.into_iter().take(MOST_ARGUMENTS) {
            let with = |argument: &Argument| {
                let mut longer = fitting.clone();
                longer.arguments.push(argument.clone());
                longer
            };
            let bare = argument.bare();
            if loads(with(&argument)) {
                fitting.arguments.push(argument);
            } else if loads(with(&bare)) {
                given_up.push(format!("all but the name of `{}`: the rest cannot stand in a manifest", argument.name));
                fitting.arguments.push(bare);
            } else {
                given_up.push(format!("`{}`: it cannot stand in a manifest", argument.name));
            }
        }
        if let Some(place) = self.actions.get_mut(at) {
            *place = fitting;
        }
    }

    /// What stands below an action's name and description, or at the top for the nameless one.
    fn operation(&self, action: &Action) -> Vec<Line> {
        let mut lines = Vec::new();
        if !self.says_effect(action) {
            let stub = "effect: read_only   # say what it does: read_only, reversible or irreversible";
            lines.push(Line::Comment(stub.to_owned()));
        }
        if !action.arguments.is_empty() {
            lines.push(Line::Rows("args", action.arguments.iter().map(Argument::row).collect()));
        }
        lines
    }
}

/// The word that manifests use.
pub(crate) fn runtime_word(runtime: Runtime) -> &'static str {
    match runtime {
        Runtime::Python => "python",
        Runtime::Node => "node",
        Runtime::Process => "process",
        Runtime::Builtin => "builtin",
    }
}

/// A name as a sentence: `list-notes` is `List notes.`.
pub(crate) fn humanised(name: &str) -> String {
    let words = name.replace(['-', '_', '.'], " ");
    let mut characters = words.trim().chars();
    match characters.next() {
        Some(first) => format!("{}{}.", first.to_uppercase(), characters.as_str()),
        None => String::new(),
    }
}
