//! YAML text to typed documents and diagnostics with file, line and column.
//!
//! Owns the manifest form, the codes of its diagnostics and the strict reading of YAML. Opens no file and knows no
//! catalog: it is given a label and a text. Start at [`document`] for what a manifest means, at [`diagnostic`] for how
//! a fault is told.

pub mod diagnostic;
pub mod document;
pub mod effect;
