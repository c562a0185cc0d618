//! What a declaration of the chat surface (`chat_surface.yaml`) says once it has been read and found right in itself.
//!
//! Owns the types alone; [`crate::read::surface`] makes them. Whether the catalog has what a declaration maps to is asked
//! by whoever holds both. Everything that a client will see is written here: nothing of it comes from a manifest.

use serde_json::{Map, Number, Value};

use crate::diagnostic::Position;
use crate::document::{ArgumentType, Kind};

/// A whole declaration.
#[derive(Clone, Debug, PartialEq)]
pub struct SurfaceManifest {
    /// The version of the contract: three numbers.
    pub surface_version: String,
    /// Where it stands.
    pub surface_version_position: Position,
    /// Who the server says it is.
    pub server: ServerManifest,
    /// In the order in which clients see them; at least one.
    pub tools: Vec<SurfaceToolManifest>,
}

/// Who the server says it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerManifest {
    /// For programs, such as `gatelatch-chat`.
    pub name: String,
    /// For people.
    pub title: String,
    /// For the model: what the tools are for.
    pub instructions: String,
}

/// One published tool.
#[derive(Clone, Debug, PartialEq)]
pub struct SurfaceToolManifest {
    /// `[a-z][a-z0-9_]{0,39}`.
    pub name: String,
    /// For people.
    pub title: String,
    /// For the model: one paragraph.
    pub description: String,
    /// What a call does.
    pub operation: OperationManifest,
    /// The published arguments, in order.
    pub args: Vec<SurfaceArgumentManifest>,
    /// Whether it changes nothing.
    pub read_only: bool,
    /// Whether what it changes can be undone; true where `read_only` is.
    pub reversible: bool,
    /// Whether calling it twice equals calling it once.
    pub idempotent: bool,
    /// The published argument that makes a repeated call harmless, for a write that is not idempotent by itself.
    pub idempotency_argument: Option<String>,
    /// Whether it reaches beyond this machine.
    pub open_world: bool,
    /// How large a result may be and what makes it smaller.
    pub result: ResultManifest,
    /// Whether callers read what a failing program wrote that is no JSON.
    pub plain_errors: bool,
    /// A JSON Schema with an object root.
    pub output_schema: Map<String, Value>,
    /// Where its name stands.
    pub position: Position,
    /// Where its output schema stands.
    pub output_schema_position: Position,
}

/// How large a result may be and what makes it smaller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultManifest {
    /// The most bytes of the structured content as compact JSON, and the same of the text.
    pub max_bytes: u64,
    /// Published arguments that make a result smaller.
    pub narrow_with: Vec<String>,
}

impl ResultManifest {
    /// The most that `max_bytes` may be, and what holds where a declaration says nothing.
    pub const MOST_BYTES: u64 = 32_000;
    /// The least that it may be: what went of a cut result must be told within it.
    pub const LEAST_BYTES: u64 = 1024;
}

/// A published argument.
#[derive(Clone, Debug, PartialEq)]
pub struct SurfaceArgumentManifest {
    /// As clients write it.
    pub name: String,
    /// The operation's argument that gets the value: `for`, or the same name. Not used by an operation of steps, whose
    /// steps say what they take.
    pub target: String,
    /// What values it takes.
    pub kind: ArgumentType,
    /// Whether a call without it is refused.
    pub required: bool,
    /// What it is for.
    pub description: String,
    /// What is passed when it is absent.
    pub default: Option<Value>,
    /// The values it may have; empty for any.
    pub choices: Vec<Value>,
    /// The least number it may be.
    pub minimum: Option<Number>,
    /// The greatest number it may be.
    pub maximum: Option<Number>,
    /// A regular expression that text must match somewhere.
    pub pattern: Option<String>,
    /// For an array: the JSON Schema of an item.
    pub items: Option<Value>,
    /// The `Mcp-Param-…` header that carries it over HTTP.
    pub header: Option<String>,
    /// Where it stands.
    pub position: Position,
}

/// What a call of a published tool does.
#[derive(Clone, Debug, PartialEq)]
pub enum OperationManifest {
    /// One call: the published arguments and these fixed ones.
    Call {
        /// What is called.
        target: TargetManifest,
        /// Arguments of the operation that always have one value.
        fixed: Vec<FixedManifest>,
    },
    /// Several calls in order.
    Steps {
        /// At least two.
        steps: Vec<StepManifest>,
        /// The result's members.
        output: Vec<OutputMemberManifest>,
    },
}

/// An operation of the catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetManifest {
    /// `Tool` or `Agent`.
    pub kind: Kind,
    /// The entry's name.
    pub entry: String,
    /// The action's name; may be absent where the entry has just one.
    pub action: Option<String>,
    /// Where it stands.
    pub position: Position,
}

/// An argument of the operation that always has one value.
#[derive(Clone, Debug, PartialEq)]
pub struct FixedManifest {
    /// The operation's argument.
    pub name: String,
    /// Its value.
    pub value: Value,
    /// Where it stands.
    pub position: Position,
}

/// One call of several.
#[derive(Clone, Debug, PartialEq)]
pub struct StepManifest {
    /// Its name within the operation.
    pub id: String,
    /// What is called.
    pub target: TargetManifest,
    /// The operation's arguments and where their values come from.
    pub args: Vec<BindingManifest>,
    /// When the operation ends well after this step, without those that follow.
    pub stop_when: Option<ConditionManifest>,
    /// Where its id stands.
    pub position: Position,
}

/// An argument of a step.
#[derive(Clone, Debug, PartialEq)]
pub struct BindingManifest {
    /// The operation's argument.
    pub name: String,
    /// Where its value comes from.
    pub source: ValueSource,
    /// Where it stands.
    pub position: Position,
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueSource {
    /// A published argument; absent when it is.
    Argument(String),
    /// The declaration.
    Fixed(Value),
    /// The result of an earlier step.
    Step {
        /// The step's id.
        step: String,
        /// A JSON Pointer (RFC 6901) into its result.
        at: String,
    },
}

/// A question about the result of the step that it stands in.
#[derive(Clone, Debug, PartialEq)]
pub struct ConditionManifest {
    /// A JSON Pointer (RFC 6901) into the step's result.
    pub at: String,
    /// What is asked of the value there.
    pub test: Test,
    /// Where it stands.
    pub position: Position,
}

/// What is asked of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// `is: missing`: nothing is there, or null.
    Missing,
    /// `is: empty`: an array, an object or a text without anything in it, or missing.
    Empty,
    /// `equals: VALUE`
    Equals(Value),
    /// `differs_from: VALUE`: another value is there, or none.
    DiffersFrom(Value),
}

/// A member of the result of an operation of steps.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputMemberManifest {
    /// Its key.
    pub name: String,
    /// Where its value comes from. A member whose step did not run is left out.
    pub source: ValueSource,
    /// Where it stands.
    pub position: Position,
}
