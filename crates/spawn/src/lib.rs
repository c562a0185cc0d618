//! Starts and ends child processes. The only place that starts a program.
//!
//! Owns process groups, the cleared environment, caps, deadlines and the death of everything a child left behind.
//! Knows no manifest and no secret: it is given an argument vector and an environment. Start at [`child::run`]; a
//! child that is talked to line by line is a [`session::Session`].

pub mod child;
pub mod session;

mod group;
#[cfg(unix)]
mod orphan;
mod stream;
