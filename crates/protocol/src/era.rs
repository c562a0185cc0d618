//! Legacy or modern: computed from the version string in exactly one function.

/// Which shape a request is served in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// MCP up to 2025-11-25.
    Legacy,
    /// MCP 2026-07-28.
    Modern,
}
