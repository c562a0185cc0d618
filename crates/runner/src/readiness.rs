//! Whether an entry could run on this machine now, and if not, why.
//!
//! Looks at the disk and the environment that was passed in; starts nothing and unpacks nothing. Start at
//! [`readiness`].

use gatelatch_registry::catalog::Entry;
use gatelatch_secrets::secret::{LendError, Loan};

use crate::host::Host;
use crate::program::{Files, locate};

/// Why an entry cannot run. One line for people, and a code for programs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotReady {
    /// Its runtime's interpreter is not on PATH.
    #[error("{interpreter} not found")]
    NoInterpreter {
        /// `python`, `node`.
        interpreter: &'static str,
    },
    /// The file that the manifest names is not there.
    #[error("entrypoint `{entrypoint}` not found")]
    NoEntrypoint {
        /// As the manifest has it.
        entrypoint: String,
    },
    /// The program that the manifest names is not on PATH.
    #[error("program `{program}` not found on PATH")]
    NoProgram {
        /// As the manifest has it.
        program: String,
    },
    /// The file is there but is no program.
    #[error("entrypoint `{entrypoint}` is not executable")]
    NotExecutable {
        /// As the manifest has it.
        entrypoint: String,
    },
    /// A secret is missing or too short.
    #[error(transparent)]
    Secret(#[from] LendError),
}

impl NotReady {
    /// A stable code.
    pub fn code(&self) -> &'static str {
        match self {
            NotReady::NoInterpreter { .. } => "no_interpreter",
            NotReady::NoEntrypoint { .. } => "no_entrypoint",
            NotReady::NoProgram { .. } => "no_program",
            NotReady::NotExecutable { .. } => "not_executable",
            NotReady::Secret(LendError::Missing { .. }) => "secret_not_set",
            NotReady::Secret(LendError::TooShort { .. }) => "secret_too_short",
        }
    }

    /// What to do about it.
    pub fn help(&self) -> String {
        match self {
            NotReady::NoInterpreter { interpreter } => format!("install {interpreter} and have it on PATH"),
            NotReady::NoEntrypoint { entrypoint } => {
                format!("put `{entrypoint}` beside the manifest, or change its `entrypoint`")
            }
            NotReady::NoProgram { program } => format!("install `{program}` and have it on PATH"),
            NotReady::NotExecutable { entrypoint } => format!("`chmod +x {entrypoint}` in the manifest's folder"),
            NotReady::Secret(LendError::Missing { name }) => {
                format!("set {name} in the environment in which Gatelatch is started")
            }
            NotReady::Secret(LendError::TooShort { name }) => format!("have a longer value for {name}"),
        }
    }
}

/// Whether an entry could run now. Costs a few looks at the disk: whoever asks often remembers the answer for a while.
pub fn readiness(host: &Host, entry: &Entry) -> Result<(), NotReady> {
    locate(host, &entry.manifest, &Files::of(host, entry))?;
    lend(host, entry).map(|_| ())
}

/// Borrows an entry's secrets.
pub(crate) fn lend(host: &Host, entry: &Entry) -> Result<Loan, NotReady> {
    let names = entry.manifest.secrets.iter().map(|secret| (secret.name.as_str(), secret.required));
    Ok(Loan::borrow(&host.environment, names)?)
}
