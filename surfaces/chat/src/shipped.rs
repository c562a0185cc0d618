//! The declaration that ships, for the catalog that ships.

/// Its text.
pub const DECLARATION: &str = include_str!("../chat_surface.yaml");
