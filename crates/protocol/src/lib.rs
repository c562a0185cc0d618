//! MCP in both eras: version list, result shapes, stdio framing, canonical JSON and digest.
//!
//! The only crate that knows rmcp, and it shows none of it. Knows no manifest, no gate and no surface: a server is
//! whatever implements [`surface::Surface`]. Start there, then at [`stdio`].

mod adapter;
pub mod digest;
pub mod era;
pub mod json;
pub mod stdio;
pub mod surface;
