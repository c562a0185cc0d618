//! The typed documents: what a manifest says once it has been read and found right.
//!
//! Everything that a tool states once and its actions inherit (limits, environment, working folder) is resolved here,
//! so that whoever reads an [`ActionManifest`] needs no rule of inheritance.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::diagnostic::Position;
use crate::effect::Effect;

/// The three kinds of entry in a catalog.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A program with named actions.
    Tool,
    /// A program that drives tools.
    Agent,
    /// Markdown know-how, in the Agent Skills format.
    Skill,
}

impl Kind {
    /// Every kind, in the order in which listings show them.
    pub const ALL: [Kind; 3] = [Kind::Tool, Kind::Agent, Kind::Skill];

    /// The word that manifests, arguments and answers use.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Tool => "tool",
            Kind::Agent => "agent",
            Kind::Skill => "skill",
        }
    }

    /// The catalog folder that holds entries of this kind: `tools`, `agents`, `skills`.
    pub fn folder(self) -> &'static str {
        match self {
            Kind::Tool => "tools",
            Kind::Agent => "agents",
            Kind::Skill => "skills",
        }
    }

    /// The manifest's file name within the entry's folder.
    pub fn file(self) -> &'static str {
        match self {
            Kind::Tool => "tool.yaml",
            Kind::Agent => "agent.yaml",
            Kind::Skill => "SKILL.md",
        }
    }
}

/// How an entry's program is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Runtime {
    /// `python3 <entrypoint>`.
    Python,
    /// `node <entrypoint>`.
    Node,
    /// The entrypoint itself: a program on PATH or a path beside the manifest.
    Process,
    /// A reader compiled into the `gatelatch` binary, run as a child of it.
    Builtin,
}

/// A tool or an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct EntryManifest {
    /// `Tool` or `Agent`.
    pub kind: Kind,
    /// As written; equals the folder's name.
    pub name: String,
    /// One line of plain text.
    pub description: String,
    /// As written; `0.0.0` when the manifest has none.
    pub version: String,
    /// How the program is started.
    pub runtime: Runtime,
    /// The file beside the manifest, or for `process` a program on PATH or a path. For `builtin` the reader's name.
    pub entrypoint: String,
    /// The secrets that its child gets in the environment.
    pub secrets: Vec<SecretManifest>,
    /// At least one; a nameless one when the manifest lists none.
    pub actions: Vec<ActionManifest>,
    /// An agent's declared uses, `tool` or `tool.action`; empty for a tool.
    pub uses: Vec<UseManifest>,
    /// Where the entry's `name` stands.
    pub position: Position,
}

/// A secret that an entry needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretManifest {
    /// The environment variable's name, for the child and for the lender.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// Whether the entry is not ready without it (the default).
    pub required: bool,
}

/// What an agent says that it calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UseManifest {
    /// The tool's name.
    pub tool: String,
    /// The action's name; `None` means every action of the tool.
    pub action: Option<String>,
    /// Where it stands.
    pub position: Position,
}

/// One operation.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionManifest {
    /// As written; `None` for the single nameless action.
    pub name: Option<String>,
    /// One line of plain text; the entry's own for the nameless action.
    pub description: String,
    /// The declared effect, if there is one.
    pub effect: Option<Effect>,
    /// Why the declared effect is milder than what the name says.
    pub because: Option<String>,
    /// Whether a human is asked though the effect would not demand it.
    pub approval: bool,
    /// In the manifest's order.
    pub args: Vec<ArgumentManifest>,
    /// What its result looks like.
    pub output: Option<OutputManifest>,
    /// Sample calls.
    pub examples: Vec<ExampleManifest>,
    /// Words that people use for this.
    pub triggers: Vec<String>,
    /// What one run may cost.
    pub limits: Limits,
    /// The child's working folder, as written; `None` is the server's own.
    pub cwd: Option<String>,
    /// Names of variables let through to the child.
    pub env: Vec<String>,
    /// Whether running it twice equals running it once.
    pub idempotent: bool,
    /// Whether it reaches beyond this machine.
    pub open_world: bool,
    /// Arguments that make a result smaller.
    pub narrow_with: Vec<String>,
    /// Where the action's name stands (the entry's own for the nameless one).
    pub position: Position,
}

impl ActionManifest {
    /// What a manifest says that gives the action a name (`None` for the nameless one), a description and nothing else.
    pub fn new(name: Option<&str>, description: &str) -> ActionManifest {
        ActionManifest {
            name: name.map(str::to_owned),
            description: description.to_owned(),
            effect: None,
            because: None,
            approval: false,
            args: Vec::new(),
            output: None,
            examples: Vec::new(),
            triggers: Vec::new(),
            limits: Limits::default(),
            cwd: None,
            env: Vec::new(),
            idempotent: false,
            open_world: true,
            narrow_with: Vec::new(),
            position: Position::default(),
        }
    }
}

/// The types that an argument can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ArgumentType {
    /// Text.
    String,
    /// A whole number of at most 64 bits.
    Integer,
    /// Any JSON number.
    Number,
    /// `true` gives the bare flag, `false` nothing or the negated one.
    Boolean,
    /// A JSON array, passed as JSON in one element unless the argument says how it is repeated.
    Array,
    /// A JSON object, passed as JSON in one element.
    Object,
    /// Text that names a file or folder.
    Path,
}

impl ArgumentType {
    /// Every type, in the order of the documentation.
    pub const ALL: [ArgumentType; 7] = [
        ArgumentType::String,
        ArgumentType::Integer,
        ArgumentType::Number,
        ArgumentType::Boolean,
        ArgumentType::Array,
        ArgumentType::Object,
        ArgumentType::Path,
    ];

    /// The word that manifests use.
    pub fn as_str(self) -> &'static str {
        match self {
            ArgumentType::String => "string",
            ArgumentType::Integer => "integer",
            ArgumentType::Number => "number",
            ArgumentType::Boolean => "boolean",
            ArgumentType::Array => "array",
            ArgumentType::Object => "object",
            ArgumentType::Path => "path",
        }
    }

    /// The JSON Schema `type`: a path is a string on the wire.
    pub fn json_type(self) -> &'static str {
        match self {
            ArgumentType::Path => "string",
            other => other.as_str(),
        }
    }
}

/// How an array is passed as one element a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Repeat {
    /// The name before each value: `--tag a --tag b`.
    Name,
    /// The name once, or no name where the argument is positional, and then the values: `--tag a b`.
    Value,
}

impl Repeat {
    /// Both, in the order of the documentation.
    pub const ALL: [Repeat; 2] = [Repeat::Name, Repeat::Value];

    /// The word that manifests use.
    pub fn as_str(self) -> &'static str {
        match self {
            Repeat::Name => "name",
            Repeat::Value => "value",
        }
    }
}

/// One argument of an action.
#[derive(Clone, Debug, PartialEq)]
pub struct ArgumentManifest {
    /// As written, hyphens and all.
    pub name: String,
    /// What values it takes.
    pub kind: ArgumentType,
    /// Whether a call without it is refused.
    pub required: bool,
    /// What it is for; empty when the manifest says nothing.
    pub description: String,
    /// What the program assumes when it is absent; shown, never passed.
    pub default: Option<Value>,
    /// The values it may have; empty for any.
    pub choices: Vec<Value>,
    /// The least number it may be.
    pub minimum: Option<serde_json::Number>,
    /// The greatest number it may be.
    pub maximum: Option<serde_json::Number>,
    /// A regular expression that text must match somewhere.
    pub pattern: Option<String>,
    /// For an array: the JSON Schema of an item.
    pub items: Option<Value>,
    /// For an array: how its values are passed one by one; `None` is JSON in one element.
    pub repeat: Option<Repeat>,
    /// Passed by place, not by `--name`, in the manifest's order.
    pub positional: bool,
    /// For a positional: a value may begin with `-`.
    pub allow_dash: bool,
    /// For a boolean: `false` gives `--no-name`.
    pub negatable: bool,
    /// Where it stands.
    pub position: Position,
}

impl ArgumentManifest {
    /// What a manifest says that gives the argument a name, a type and nothing else: an optional one.
    pub fn new(name: &str, kind: ArgumentType) -> ArgumentManifest {
        ArgumentManifest {
            name: name.to_owned(),
            kind,
            required: false,
            description: String::new(),
            default: None,
            choices: Vec::new(),
            minimum: None,
            maximum: None,
            pattern: None,
            items: None,
            repeat: None,
            positional: false,
            allow_dash: false,
            negatable: false,
            position: Position::default(),
        }
    }
}

/// What a result looks like.
#[derive(Clone, Debug, PartialEq)]
pub enum OutputManifest {
    /// A JSON Schema with an object root, held against every result.
    Schema(Value),
    /// Prose for the reader; never enforced.
    Hint(String),
}

/// A sample call.
#[derive(Clone, Debug, PartialEq)]
pub struct ExampleManifest {
    /// What the example shows.
    pub description: Option<String>,
    /// Its arguments.
    pub args: Map<String, Value>,
}

/// What one run of an action may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long the child may live.
    pub timeout: Duration,
    /// The arguments' size as JSON, in bytes.
    pub max_input_bytes: u64,
    /// How much of the child's standard output is held, in bytes.
    pub max_output_bytes: u64,
    /// How many runs of this entry may be under way at once.
    pub max_concurrent: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            timeout: Duration::from_secs(120),
            max_input_bytes: 1_048_576,
            max_output_bytes: 1_048_576,
            max_concurrent: 4,
        }
    }
}

/// A skill: the front matter of `SKILL.md` and its body.
#[derive(Clone, Debug, PartialEq)]
pub struct SkillManifest {
    /// As written; equals the folder's name.
    pub name: String,
    /// What the skill does and when to use it.
    pub description: String,
    /// The front matter's other text fields (`license`, `compatibility`, `allowed-tools`).
    pub fields: BTreeMap<String, String>,
    /// The front matter's `metadata`.
    pub metadata: BTreeMap<String, String>,
    /// The Markdown after the front matter.
    pub body: String,
    /// Where the skill's `name` stands.
    pub position: Position,
}

/// What `gatelatch.yaml` sets; what it does not set is `None` or empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SettingsManifest {
    /// Catalog folders, as written.
    pub catalog: Vec<String>,
    /// Who asks the human: one of the words of `confirm`.
    pub confirm: Option<String>,
    /// Whether what cannot be undone is refused even where a human has agreed.
    pub deny_irreversible: Option<bool>,
    /// Over how many bytes a full schema becomes an index.
    pub capabilities_max_bytes: Option<u64>,
    /// The declaration of the chat surface, as written.
    pub chat_surface: Option<String>,
    /// What is logged.
    pub log: Option<String>,
}
