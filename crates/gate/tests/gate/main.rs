//! The gate seen from outside: its doors, its lists and a second decider.
//!
//! Owns no rule of its own. Start at `second_decider.rs`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

mod builder;
mod doors;
mod lists;
mod second_decider;
