//! The published tool list as a contract: lock file, diff, version rule, `server.json`, verification of any server.
//!
//! Owns what a change of the list means for those who hold an older copy. Knows no manifest, no gate and no surface: a
//! list is JSON, whoever sent it. All but [`client`] is pure and synchronous. Start at [`list::ToolList`], then
//! [`diff::diff`]; [`verify`] puts the parts together.

pub mod change;
pub mod client;
pub mod diff;
pub mod file;
pub mod level;
pub mod list;
pub mod lock;
pub mod pin;
pub mod published;
pub mod server_json;
pub mod shown;
pub mod verify;
pub mod version;

mod listing;
