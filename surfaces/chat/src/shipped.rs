//! The declaration that ships, for the catalog that ships.

/// Its text.
pub const DECLARATION: &str = include_str!("../chat_surface.yaml");

/// The lock file beside it: what its version stands for.
pub const LOCK: &str = include_str!("../chat_surface.lock.json");
