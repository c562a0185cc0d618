//! Catalogs from values, for tests: what a manifest would say, without a manifest.

use std::sync::Arc;

use gatelatch_discovery::index::Index;
use gatelatch_discovery::ladder::{Request, View, capabilities};
use gatelatch_manifest::diagnostic::Position;
use gatelatch_registry::catalog::{
    ActionManifest, ArgumentManifest, ArgumentType, Catalog, Effect, Entry, EntryManifest, ExampleManifest, Kind,
    Origin, OutputManifest, Runtime, Skill, SkillManifest,
};
use serde_json::{Map, Value};

/// A tool without actions yet.
pub(crate) fn tool(name: &str, description: &str) -> Entry {
    entry(Kind::Tool, name, description)
}

/// An agent without actions yet.
pub(crate) fn agent(name: &str, description: &str) -> Entry {
    entry(Kind::Agent, name, description)
}

/// A skill.
pub(crate) fn skill(name: &str, description: &str) -> Skill {
    let manifest = SkillManifest {
        name: name.to_owned(),
        description: description.to_owned(),
        fields: Default::default(),
        metadata: Default::default(),
        body: String::new(),
        position: Position::default(),
    };
    Skill { manifest, origin: Origin::Compiled(Arc::from([])), file: String::new() }
}

/// An action, read-only.
pub(crate) fn action(name: &str, description: &str) -> ActionManifest {
    ActionManifest { effect: Some(Effect::ReadOnly), ..ActionManifest::new(Some(name), description) }
}

/// An optional argument.
pub(crate) fn arg(name: &str, kind: ArgumentType, description: &str) -> ArgumentManifest {
    ArgumentManifest { description: description.to_owned(), ..ArgumentManifest::new(name, kind) }
}

/// What builds an entry step by step.
pub(crate) trait WithActions: Sized {
    /// One more action.
    fn has(self, action: ActionManifest) -> Self;
    /// The single nameless action, with the entry's own description.
    fn alone(self, args: Vec<ArgumentManifest>) -> Self;
}

impl WithActions for Entry {
    fn has(mut self, action: ActionManifest) -> Entry {
        self.manifest.actions.push(action);
        self
    }

    fn alone(mut self, args: Vec<ArgumentManifest>) -> Entry {
        let mut only = action("", &self.manifest.description);
        only.name = None;
        only.args = args;
        self.manifest.actions.push(only);
        self
    }
}

/// What builds an action step by step.
pub(crate) trait Details: Sized {
    /// One more optional argument.
    fn takes(self, argument: ArgumentManifest) -> Self;
    /// One more required argument.
    fn needs(self, argument: ArgumentManifest) -> Self;
    /// The declared effect.
    fn effect(self, effect: Effect) -> Self;
    /// A word that people use for it.
    fn trigger(self, word: &str) -> Self;
    /// A sample call.
    fn example(self, args: Value) -> Self;
    /// The schema of its result.
    fn returns(self, schema: Value) -> Self;
}

impl Details for ActionManifest {
    fn takes(mut self, argument: ArgumentManifest) -> ActionManifest {
        self.args.push(argument);
        self
    }

    fn needs(mut self, argument: ArgumentManifest) -> ActionManifest {
        self.args.push(ArgumentManifest { required: true, ..argument });
        self
    }

    fn effect(mut self, effect: Effect) -> ActionManifest {
        self.effect = Some(effect);
        self
    }

    fn trigger(mut self, word: &str) -> ActionManifest {
        self.triggers.push(word.to_owned());
        self
    }

    fn example(mut self, args: Value) -> ActionManifest {
        let args: Map<String, Value> = args.as_object().cloned().unwrap_or_default();
        self.examples.push(ExampleManifest { description: None, args });
        self
    }

    fn returns(mut self, schema: Value) -> ActionManifest {
        self.output = Some(OutputManifest::Schema(schema));
        self
    }
}

/// A catalog with its index, all of it visible and ready; effects as declared.
pub(crate) struct House {
    pub(crate) catalog: Catalog,
    pub(crate) index: Index,
}

impl House {
    pub(crate) fn new(entries: Vec<Entry>, skills: Vec<Skill>) -> House {
        House::of(Catalog::link(entries, skills))
    }

    pub(crate) fn of(catalog: Catalog) -> House {
        let index = Index::build(&catalog);
        House { catalog, index }
    }

    pub(crate) fn view(&self) -> View<'_> {
        View {
            catalog: &self.catalog,
            index: &self.index,
            sees: &|_, _| true,
            sees_skill: &|_| true,
            not_ready: &|_| None,
            effect: &declared,
            max_bytes: 40_000,
        }
    }

    pub(crate) fn entry(&self, name: &str) -> &Entry {
        let kinds = [Kind::Tool, Kind::Agent];
        kinds.into_iter().find_map(|kind| self.catalog.entry(kind, name)).expect("the entry is there")
    }

    pub(crate) fn action(&self, entry: &str, action: &str) -> &ActionManifest {
        self.entry(entry).action(Some(action)).expect("the action is there")
    }
}

fn declared(_: &Entry, action: &ActionManifest) -> (Effect, bool) {
    let effect = action.effect.unwrap_or(Effect::Irreversible);
    (effect, effect == Effect::Irreversible)
}

fn entry(kind: Kind, name: &str, description: &str) -> Entry {
    let manifest = EntryManifest {
        kind,
        name: name.to_owned(),
        description: description.to_owned(),
        version: "1.0.0".to_owned(),
        runtime: Runtime::Python,
        entrypoint: "main.py".to_owned(),
        secrets: Vec::new(),
        actions: Vec::new(),
        uses: Vec::new(),
        position: Position::default(),
    };
    Entry { manifest, origin: Origin::Compiled(Arc::from([])), file: String::new() }
}

/// A small office: an outbox, workbooks, a calendar, an agent and two skills.
pub(crate) fn office() -> House {
    use ArgumentType::{Array, Boolean, Integer, Object, Path, String};
    let outbox = tool("outbox", "Draft, send and list messages.")
        .has(
            action("list-messages", "List the messages in a folder, newest first.")
                .takes(ArgumentManifest {
                    choices: vec!["drafts".into(), "sent".into()],
                    ..arg("folder", String, "Only this folder")
                })
                .takes(ArgumentManifest {
                    minimum: Some(1.into()),
                    maximum: Some(500.into()),
                    default: Some(20.into()),
                    ..arg("max-results", Integer, "Cap the messages returned")
                })
                .trigger("inbox"),
        )
        .has(
            action("draft-message", "Write a message without sending it.")
                .effect(Effect::Reversible)
                .needs(arg("to", String, "The recipient's address"))
                .needs(arg("subject", String, "One line of text"))
                .needs(arg("body", String, "The message as plain text"))
                .takes(arg("cc", String, "Further addresses")),
        )
        .has(
            action("send-message", "Send a draft.")
                .effect(Effect::Irreversible)
                .needs(arg("id", String, "The draft to send"))
                .trigger("email"),
        )
        .has(action("delete-messages", "Delete messages for good.").effect(Effect::Irreversible).needs(
            ArgumentManifest {
                items: Some(serde_json::json!({"type": "string"})),
                ..arg("ids", Array, "The messages to delete")
            },
        ));
    let xlsx = tool("xlsx", "Read local workbooks.")
        .has(action("list-sheets", "List the sheets of a workbook.").needs(arg("path", Path, "Workbook file")))
        .has(
            action("read-sheet", "Read one sheet's rows.")
                .needs(arg("path", Path, "Workbook file"))
                .takes(arg("sheet", String, "Sheet name; the first one when absent"))
                .takes(arg("max-results", Integer, "Cap rows returned"))
                .takes(arg("header", Boolean, "Whether the first row holds names"))
                .trigger("spreadsheet")
                .trigger("excel")
                .example(serde_json::json!({"path": "budget.xlsx", "sheet": "2024"}))
                .returns(serde_json::json!({"type": "object", "properties": {"rows": {"type": "array"}}})),
        );
    let calendar = tool("calendar", "Appointments and free time.")
        .has(
            action("find-slots", "Find free time for a meeting.")
                .needs(ArgumentManifest {
                    pattern: Some(r"^\d{4}-\d{2}-\d{2}$".to_owned()),
                    ..arg("date", String, "Day, as YYYY-MM-DD")
                })
                .takes(arg("minutes", Integer, "Length of the meeting")),
        )
        .has(
            action("book-meeting", "Put a meeting into the calendar.")
                .effect(Effect::Reversible)
                .needs(arg("title", String, "What it is about"))
                .needs(ArgumentManifest {
                    items: Some(serde_json::json!({
                        "type": "object",
                        "properties": {"email": {"type": "string"}, "optional": {"type": "boolean"}},
                        "required": ["email"]
                    })),
                    ..arg("attendees", Array, "Who comes")
                })
                .takes(arg("options", Object, "Further settings")),
        );
    let hello = tool("hello-world", "Greet somebody.").alone(vec![arg("name", String, "Whom to greet")]);
    let describe = agent("describe-workbook", "Say what a workbook holds, sheet by sheet.")
        .alone(vec![ArgumentManifest { required: true, ..arg("path", Path, "Workbook file") }]);
    House::new(
        vec![outbox, xlsx, calendar, hello, describe],
        vec![
            skill("write-a-manifest", "How to write a manifest for a script."),
            skill("read-a-workbook", "How to look at a workbook step by step."),
        ],
    )
}

/// The answer to a request, or the usage error as JSON.
pub(crate) fn ask(house: &House, request: Value) -> Value {
    ask_in(&house.view(), request)
}

/// The same, as one caller sees it.
pub(crate) fn ask_in(view: &View<'_>, request: Value) -> Value {
    let text = |key: &str| request.get(key).and_then(Value::as_str).map(str::to_owned);
    let request = Request { kind: text("kind"), name: text("name"), action: text("action"), search: text("search") };
    capabilities(view, &request).unwrap_or_else(|error| error.to_value())
}

/// The size of a value as it is sent.
pub(crate) fn size(value: &Value) -> usize {
    value.to_string().len()
}
