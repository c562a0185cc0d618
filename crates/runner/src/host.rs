//! What the machine and the operator's environment offer. Read by nobody here: it is passed in.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// The machine as the front that starts everything found it. Built once.
#[derive(Clone, Debug)]
pub struct Host {
    /// The server's own environment.
    pub environment: BTreeMap<String, String>,
    /// Where children run unless their manifest says otherwise.
    pub working_folder: PathBuf,
    /// Where compiled-in programs are unpacked, in a folder below it that only the owner may enter.
    pub cache_folder: PathBuf,
    /// The `gatelatch` binary, for builtins and for agents.
    pub own_program: PathBuf,
}
