//! Finds manifests and links them into one immutable catalog.
//!
//! Owns where entries come from (folders on disk, files compiled in), which of two of the same name wins, and what an
//! action accepts. Runs nothing and decides nothing about effects. Start at [`load::load`] for how a catalog comes to
//! be, at [`catalog::Catalog`] for what it is, at [`store`] for how the next start need not read all of it again.

pub mod arguments;
pub mod catalog;
pub mod load;
pub mod schema;
pub mod store;

mod shelf;
