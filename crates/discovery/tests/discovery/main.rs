//! The crate from outside: what callers are answered, and how large the answers are.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::result_large_err, reason = "a test may")]

mod arguments;
mod budget;
mod build;
mod child;
mod rendering;
mod search;
mod stored;
mod suggestion;
mod visibility;
