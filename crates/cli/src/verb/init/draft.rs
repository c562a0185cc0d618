//! A manifest that is about to be written: what it says, its text, and the promise that the text loads.
//!
//! Owns the order of keys and what is given up when something cannot be said. The reader that serves catalogs judges the
//! text, so that nothing is written which it would refuse. Start at [`Draft::fitted`].

use gatelatch_gate::name::NameReading;
use gatelatch_manifest::document::{ArgumentType, EntryManifest, Kind, Repeat, Runtime};
use gatelatch_manifest::effect::Effect;
use gatelatch_manifest::read::{self, Beside};
use gatelatch_manifest::reference::{ACTION_NAME, MOST_ARGUMENTS};
use serde_json::{Map, Number, Value};

use crate::yaml::{self, Line};

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

/// One argument, in the manifest's own words. Type, choices and range are those of one value, of which a repeated one
/// takes several.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Argument {
    pub(crate) name: String,
    pub(crate) kind: ArgumentType,
    pub(crate) repeat: Option<Repeat>,
    pub(crate) required: bool,
    pub(crate) description: Option<String>,
    pub(crate) default: Option<Value>,
    pub(crate) choices: Vec<Value>,
    pub(crate) minimum: Option<Number>,
    pub(crate) maximum: Option<Number>,
    pub(crate) positional: bool,
    pub(crate) negatable: bool,
}

/// Something that the manifest does not say, and why.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LeftOut {
    pub(crate) what: String,
    pub(crate) why: String,
}

impl LeftOut {
    pub(crate) fn new(what: impl Into<String>, why: impl Into<String>) -> LeftOut {
        LeftOut { what: what.into(), why: why.into() }
    }
}

/// What stands for an action's effect.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Stance {
    /// Its name, so that nothing is declared.
    Name(Effect),
    /// Nothing yet.
    Unsaid,
    /// An argument that may do more than the name says.
    Argument(String, Effect),
}

impl Argument {
    /// An optional text.
    pub(crate) fn named(name: &str) -> Argument {
        Argument {
            name: name.to_owned(),
            kind: ArgumentType::String,
            repeat: None,
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

    /// What its name says that it does, where it does something by itself: `--delete`, `--output FILE`.
    fn effect(&self) -> Option<Effect> {
        /// Arguments that take a value and act on it.
        const ACTS: [&str; 8] = ["delete", "remove", "drop", "purge", "erase", "send", "publish", "exec"];
        /// What is written there replaces what was there.
        const WRITES: [&str; 8] = ["output", "out", "out-file", "output-file", "outfile", "save", "save-to", "write"];
        let name = self.name.replace('_', "-");
        if self.kind == ArgumentType::Boolean {
            return NameReading::of(&name, None).strictest.map(|says| says.effect);
        }
        (ACTS.contains(&name.as_str()) || WRITES.contains(&name.as_str())).then_some(Effect::Irreversible)
    }

    fn row(&self) -> Map<String, Value> {
        let mut row = Map::new();
        let mut put = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                row.insert(key.to_owned(), value);
            }
        };
        let choices = || (!self.choices.is_empty()).then(|| Value::from(self.choices.clone()));
        put("name", Some(self.name.clone().into()));
        match self.repeat {
            None => put("type", Some(self.kind.as_str().into())),
            Some(repeat) => {
                put("type", Some(ArgumentType::Array.as_str().into()));
                put("items", Some(self.item(choices()).into()));
                put("repeat", Some(repeat.as_str().into()));
            }
        }
        put("required", self.required.then_some(true.into()));
        put("positional", self.positional.then_some(true.into()));
        put("negatable", self.negatable.then_some(true.into()));
        if self.repeat.is_none() {
            put("enum", choices());
            put("minimum", self.minimum.clone().map(Value::Number));
            put("maximum", self.maximum.clone().map(Value::Number));
        }
        put("default", self.default.clone());
        put("description", self.description.clone().map(Value::from));
        row
    }

    /// The JSON Schema of one value of a repeated argument.
    fn item(&self, choices: Option<Value>) -> Map<String, Value> {
        let parts = [
            ("type", Some(Value::from(self.kind.json_type()))),
            ("enum", choices),
            ("minimum", self.minimum.clone().map(Value::Number)),
            ("maximum", self.maximum.clone().map(Value::Number)),
        ];
        parts.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
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

    /// What stands for an action's effect. An effect is never made up: it is the name's, or the stricter one that the
    /// same verbs give to the name of an argument.
    pub(crate) fn stance(&self, action: &Action) -> Stance {
        let reading = NameReading::of(&self.name, action.name.as_deref());
        let Some(effect) = reading.alone().map(|says| says.effect) else { return Stance::Unsaid };
        let stricter = action.arguments.iter().filter_map(|argument| Some((argument, argument.effect()?)));
        match stricter.filter(|(_, own)| *own > effect).max_by_key(|(_, own)| *own) {
            Some((argument, own)) => Stance::Argument(argument.name.clone(), own),
            None => Stance::Name(effect),
        }
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
    pub(crate) fn fitted(mut self, beside: &dyn Fn(&str) -> Beside) -> Option<(Draft, Vec<LeftOut>)> {
        let mut given_up = Vec::new();
        if self.document(beside).is_some() {
            return Some((self, given_up));
        }
        self.actions.retain(|action| {
            let fits = action.name.as_deref().is_none_or(|name| ACTION_NAME.fits(name));
            if let (false, Some(name)) = (fits, &action.name) {
                given_up.push(LeftOut::new(name, "a name that no action may have"));
            }
            fits
        });
        for at in 0..self.actions.len() {
            self.fit_arguments(at, beside, &mut given_up);
        }
        if self.actions.is_empty() {
            self.actions.push(Action { name: None, description: self.description.clone(), arguments: Vec::new() });
        }
        if self.document(beside).is_some() {
            return Some((self, given_up));
        }
        given_up.push(LeftOut::new("every action and argument", "what the help text says does not fit together"));
        self.actions = vec![Action { description: self.description.clone(), arguments: Vec::new(), name: None }];
        self.document(beside).is_some().then_some((self, given_up))
    }

    /// Gives up what keeps one action from loading.
    fn fit_arguments(&mut self, at: usize, beside: &dyn Fn(&str) -> Beside, given_up: &mut Vec<LeftOut>) {
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
                given_up.push(LeftOut::new(&*argument.name, "a remark that cannot stand in a manifest"));
                fitting.arguments.push(bare);
            } else {
                given_up.push(LeftOut::new(argument.name, "cannot stand in a manifest"));
            }
        }
        if let Some(place) = self.actions.get_mut(at) {
            *place = fitting;
        }
    }

    /// What stands below an action's name and description, or at the top for the nameless one.
    fn operation(&self, action: &Action) -> Vec<Line> {
        let mut lines = Vec::new();
        match self.stance(action) {
            Stance::Name(Effect::ReadOnly | Effect::Reversible) => {}
            Stance::Name(Effect::Irreversible) => {
                let stub =
                    "effect: reversible   # if it does less than its name says: this, and the reason as `because:`";
                lines.push(Line::Comment(stub.to_owned()));
            }
            Stance::Unsaid => {
                let stub = "effect: read_only   # say what it does: read_only, reversible or irreversible";
                lines.push(Line::Comment(stub.to_owned()));
            }
            Stance::Argument(name, effect) => {
                let why = format!(
                    "`{name}` may do more than the name says, and the strongest argument counts; without it, strike this \
                     out too"
                );
                lines.push(Line::Comment(why));
                lines.push(Line::Pair("effect", effect.as_str().into()));
            }
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

/// A text as a sentence: `list the notes` is `List the notes.`.
pub(crate) fn sentence(text: &str) -> String {
    let plain_word = text.split(' ').next().unwrap_or_default().chars().all(|c| c.is_ascii_lowercase());
    let mut characters = text.chars();
    let text = match characters.next() {
        Some(first) if plain_word => format!("{}{}", first.to_ascii_uppercase(), characters.as_str()),
        _ => text.to_owned(),
    };
    if text.ends_with(|c: char| c.is_alphanumeric() || matches!(c, ')' | '"' | '\'' | '`')) {
        format!("{text}.")
    } else {
        text
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn beside(path: &str) -> Beside {
        if path == "main.py" { Beside::File } else { Beside::Nothing }
    }

    fn draft(actions: Vec<Action>) -> Draft {
        Draft {
            kind: Kind::Tool,
            name: "desk".to_owned(),
            description: "Works the desk.".to_owned(),
            runtime: Runtime::Python,
            entrypoint: "main.py".to_owned(),
            actions,
        }
    }

    fn action(name: &str, arguments: Vec<Argument>) -> Action {
        Action { name: Some(name.to_owned()), description: humanised(name), arguments }
    }

    fn flag(name: &str) -> Argument {
        Argument { kind: ArgumentType::Boolean, ..Argument::named(name) }
    }

    #[test]
    fn an_effect_is_declared_only_where_an_argument_is_stricter_than_the_name() {
        let check = |name: &str, arguments: Vec<Argument>, expected: Stance| {
            let action = action(name, arguments);
            assert_eq!(draft(Vec::new()).stance(&action), expected, "{name}");
        };
        check("list-notes", vec![flag("verbose")], Stance::Name(Effect::ReadOnly));
        check("frobnicate", vec![flag("delete")], Stance::Unsaid);
        check("list-notes", vec![flag("delete")], Stance::Argument("delete".to_owned(), Effect::Irreversible));
        check(
            "list-notes",
            vec![Argument::named("output")],
            Stance::Argument("output".to_owned(), Effect::Irreversible),
        );
        check("list-notes", vec![Argument::named("order")], Stance::Name(Effect::ReadOnly));
        check("send-note", vec![flag("delete")], Stance::Name(Effect::Irreversible));
    }

    #[test]
    fn a_name_that_says_irreversible_is_left_with_the_way_to_say_less() {
        let text = draft(vec![action("send-note", Vec::new())]).text();
        let stub = "# effect: reversible   # if it does less than its name says: this, and the reason as `because:`\n";
        assert!(text.contains(stub), "{text}");
        assert!(!draft(vec![action("list-notes", Vec::new())]).text().contains("effect"));
    }

    #[test]
    fn the_text_says_the_effect_or_leaves_it_to_the_author() {
        let text = draft(vec![action("frobnicate", Vec::new()), action("list-notes", vec![flag("purge")])]).text();
        assert!(text.contains("\n    # effect: read_only   # say what it does"), "{text}");
        assert!(text.contains("\n    effect: irreversible\n"), "{text}");
    }

    #[test]
    fn what_would_not_load_is_given_up_piece_by_piece() {
        let hidden = Argument { description: Some("a\u{202e}b".to_owned()), ..Argument::named("kept") };
        let twice = vec![Argument::named("one"), Argument::named("One"), hidden, Argument::named("--x")];
        let (fitted, given_up) =
            draft(vec![action("list-notes", twice), action("-bad", Vec::new())]).fitted(&beside).unwrap();
        let names: Vec<&str> = fitted.actions[0].arguments.iter().map(|argument| argument.name.as_str()).collect();
        assert_eq!(names, ["one", "kept"]);
        assert_eq!(fitted.actions.len(), 1);
        let whats: Vec<&str> = given_up.iter().map(|left| left.what.as_str()).collect();
        assert_eq!(whats, ["-bad", "One", "kept", "--x"]);
        assert!(fitted.document(&beside).is_some());
    }

    #[test]
    fn an_entry_that_cannot_load_at_all_is_none() {
        let wrong = Draft { entrypoint: "../main.py".to_owned(), ..draft(vec![action("list", Vec::new())]) };
        assert!(wrong.fitted(&beside).is_none());
    }

    fn argument() -> impl Strategy<Value = Argument> {
        let text = || {
            proptest::option::of(any::<String>().prop_map(|text| super::super::help::described(&text)))
                .prop_map(Option::flatten)
        };
        let kind = prop_oneof![Just(ArgumentType::String), Just(ArgumentType::Path), Just(ArgumentType::Integer)];
        (kind, any::<bool>(), text(), proptest::option::of("[ -~]{1,20}"), any::<i64>()).prop_map(
            |(kind, required, description, default, number)| Argument {
                required,
                description,
                default: match kind {
                    ArgumentType::Integer => Some(Value::from(number)),
                    _ => default.map(Value::from),
                },
                kind,
                ..Argument::named("x")
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn what_a_manifest_was_made_from_is_what_its_reader_reads(
            mut arguments in prop::collection::vec(argument(), 0..6),
            description in "[A-Za-z][ -~]{0,60}[a-z]",
        ) {
            for (number, argument) in arguments.iter_mut().enumerate() {
                argument.name = format!("argument-{number}");
            }
            let description = super::super::help::described(&description).unwrap_or_default();
            let draft = Draft { description: description.clone(), ..draft(vec![action("list-notes", arguments)]) };
            let (fitted, _) = draft.fitted(&beside).unwrap();
            let document = fitted.document(&beside).unwrap();
            prop_assert_eq!(&document.description, &description);
            let read: Vec<Argument> = document.actions[0].args.iter().map(|read| Argument {
                kind: read.kind,
                required: read.required,
                description: (!read.description.is_empty()).then(|| read.description.clone()),
                default: read.default.clone(),
                ..Argument::named(&read.name)
            }).collect();
            prop_assert_eq!(read, fitted.actions[0].arguments.clone());
        }
    }
}
