//! What operators see and how they are asked: six tools that reach whatever the catalog holds.
//!
//! Owns the six names, texts and schemas, and how a tool's arguments become a request on the road. Decides nothing:
//! the gate does. Start at [`surface::Operator`].

pub mod surface;
mod tools;
