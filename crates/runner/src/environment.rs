//! A child's whole environment: a short list from the host's, what the manifest names, its secrets and nothing else.
//!
//! An agent's child gets four more, so that it can call tools through the same gate: `GATELATCH_BIN`, the program to
//! call; `GATELATCH_CATALOG`, where the host has one, so that both see the same catalog; `GATELATCH_USES`, to which its
//! calls are held; and `GATELATCH_DENY_IRREVERSIBLE=1`, since nobody sits in front of an agent's inner calls. Start at
//! `environment`; whoever else starts a program passes on what [`is_passed`] lets through.

use std::collections::BTreeMap;

use gatelatch_gate::sight::Uses;
use gatelatch_registry::catalog::{ActionManifest, EntryManifest, Kind};
use gatelatch_secrets::secret::Loan;
use gatelatch_spawn::child::RUN_VARIABLE;

use crate::host::Host;

/// Carries an agent's `uses` to its own calls.
pub const USES_VARIABLE: &str = "GATELATCH_USES";
/// What every child gets of the host's environment, beside `LC_*`.
const BASE: [&str; 5] = ["PATH", "HOME", "LANG", "TZ", "TMPDIR"];
/// Without these no program starts on Windows or finds its own files there.
const WINDOWS: [&str; 8] =
    ["SYSTEMROOT", "SYSTEMDRIVE", "PATHEXT", "COMSPEC", "TEMP", "TMP", "USERPROFILE", "LOCALAPPDATA"];

/// Whether every child gets this variable of the host's, whatever its manifest says.
pub fn is_passed(name: &str) -> bool {
    BASE.contains(&name)
        || name.starts_with("LC_")
        // The run around us: `spawn` adds the child's own to it.
        || name == RUN_VARIABLE
        || (cfg!(windows) && WINDOWS.contains(&name.to_ascii_uppercase().as_str()))
}

/// Names and values of the child's environment.
pub(crate) fn environment(
    host: &Host,
    entry: &EntryManifest,
    action: &ActionManifest,
    loan: &Loan,
) -> BTreeMap<String, String> {
    let mut environment: BTreeMap<String, String> = host
        .environment
        .iter()
        .filter(|(name, _)| is_passed(name) || action.env.contains(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    for (name, secret) in loan.variables() {
        environment.insert(name.to_owned(), secret.reveal().to_owned());
    }
    if entry.kind == Kind::Agent {
        environment.insert("GATELATCH_BIN".to_owned(), host.own_program.display().to_string());
        if let Some(catalog) = host.environment.get("GATELATCH_CATALOG") {
            environment.insert("GATELATCH_CATALOG".to_owned(), catalog.clone());
        }
        environment.insert(USES_VARIABLE.to_owned(), Uses::of(entry).to_text());
        // Last, so that no manifest can take it back.
        environment.insert("GATELATCH_DENY_IRREVERSIBLE".to_owned(), "1".to_owned());
    }
    environment
}
