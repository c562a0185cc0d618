//! The gate seen from outside: its verdict table, its doors, its lists and a second decider.
//!
//! Owns no rule of its own. Start at `table.rs`, whose file is what a review of a new rule should look at.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

mod builder;
mod doors;
mod lists;
mod second_decider;
mod table;
