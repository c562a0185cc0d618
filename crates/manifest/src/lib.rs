//! YAML text to typed documents and diagnostics with file, line and column.
//!
//! Owns the manifest form, the codes of its diagnostics and the strict reading of YAML. Opens no file and knows no
//! catalog: it is given a label and a text. Start at [`read`] for how a text becomes a document, at [`document`] for
//! what a manifest means, at [`surface`] for what a declaration of the chat surface means, at [`reference`] for its keys
//! as data, at [`diagnostic`] and [`rule`] for how a fault is told, at [`mend`] for what can be mended without asking.

pub mod diagnostic;
pub mod document;
pub mod effect;
pub mod fit;
pub mod lint;
pub mod mend;
pub mod nearest;
pub mod read;
pub mod reference;
pub mod rule;
pub mod schema;
pub mod surface;

mod argument;
mod declaration;
mod entry;
mod findings;
mod keys;
mod pattern;
mod percent;
mod settings;
mod shape;
mod skill;
mod yaml;
