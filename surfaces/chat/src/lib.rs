//! What chat clients see: one named tool per declared operation, reviewed, versioned and pinned.
//!
//! Owns how a declaration (`chat_surface.yaml`) becomes a published list, what it must agree with in the catalog, and how
//! a call of a published tool becomes calls on the road. There is no door here to what cannot be undone. Start at
//! [`published`] for what clients see, at [`link`] for what must agree, at [`surface`] for how it is served.

pub mod link;
pub mod published;
pub mod shipped;
pub mod surface;

mod agreement;
mod arguments;
mod operation;
mod refusal;
mod shape;
