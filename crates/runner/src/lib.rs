//! Runs an approved call within its limits, whatever the runtime.
//!
//! Owns how a call becomes an argument vector and an environment, where its program is, and what its end means. Knows
//! no effect and no policy: it takes [`Approved`](gatelatch_gate::approval::Approved) calls and asks nothing. Start at
//! [`runner::Runner`].

pub mod argv;
pub mod cache;
pub mod host;
pub mod readiness;
pub mod runner;
pub mod tree;

mod bounded;
pub mod environment;
mod json;
mod obstacle;
mod outcome;
mod program;
mod progress;
mod slot;
mod text;
