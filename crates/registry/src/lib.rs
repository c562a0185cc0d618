//! Finds manifests and links them into one immutable catalog.
//!
//! Owns where entries come from (folders on disk, files compiled in), which of two of the same name wins, and what an
//! action accepts. Runs nothing and decides nothing about effects. Start at [`catalog::Catalog`].

pub mod arguments;
pub mod catalog;
