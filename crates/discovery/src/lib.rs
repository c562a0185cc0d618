//! The capabilities ladder: how a caller finds the right action among thousands and learns to call it.
//!
//! Owns the search index, the four doors of `capabilities` with their byte budgets, and the help that a wrong call gets.
//! Pure: it opens no file, reads no clock, and is told what the caller may see. What the caller may not see is exactly
//! as absent as what does not exist. Start at [`ladder::capabilities`], at [`index::Index`] for search, at
//! [`help::UsageError`] for wrong calls.

#![expect(clippy::result_large_err, reason = "a usage error is rare, made once, and then the whole answer")]

mod budget;
mod call;
pub mod help;
pub mod index;
pub mod ladder;
