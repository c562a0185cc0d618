//! A declaration as a contract, in findings: whether it was reviewed, and what the lock file beside it says. What clients
//! rely on is the list that was locked.
//!
//! What changed in detail is told by `gatelatch contract diff`; what a change demands of the version is the contract
//! crate's judgement. Start at [`Declared::standing`].

use gatelatch_chat::link::Linked;
use gatelatch_chat::{published, shipped};
use gatelatch_contract::list::ToolList;
use gatelatch_contract::lock::Lock;
use gatelatch_contract::version::{MoveError, SurfaceVersion};
use gatelatch_manifest::diagnostic::{Diagnostic, Source};
use gatelatch_manifest::rule::{LOCK_DIFFERS, LOCK_UNUSABLE, LOCK_VERSION, Rule};

use super::Declared;
use crate::verb::verify::{read, unusable};

const DETAIL: &str = "`gatelatch contract diff` tells all that changed";

/// How a declaration and its lock file stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LockState {
    /// The version and the list are those that were locked.
    Agrees,
    /// Either is another one.
    Differs,
    /// There is a file, and what was locked cannot be told from it.
    Unusable,
    /// There is no file.
    None,
}

impl LockState {
    /// The word for it in JSON.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            LockState::Agrees => "agrees",
            LockState::Differs => "differs",
            LockState::Unusable => "unusable",
            LockState::None => "none",
        }
    }
}

/// What a declaration is as a contract.
#[derive(Debug, Default)]
pub(crate) struct Standing {
    /// Nothing where the declaration has errors of its own.
    pub(crate) lock: Option<LockState>,
    /// What the lock file says against it.
    pub(crate) drift: Option<Diagnostic>,
    /// That it is a draft still.
    pub(crate) unreviewed: Option<Diagnostic>,
}

impl Standing {
    pub(crate) fn findings(&self) -> impl Iterator<Item = &Diagnostic> {
        self.unreviewed.iter().chain(&self.drift)
    }
}

impl Declared {
    /// How it stands as a contract, given what of it agrees with the catalog: a list that cannot be served has no version
    /// to move to.
    pub(crate) fn standing(&self, linked: &Linked) -> Standing {
        let unreviewed = self.unreviewed();
        let Some((lock, drift)) = self.drift() else { return Standing { unreviewed, ..Standing::default() } };
        let is_premature = lock == LockState::Differs && !linked.left_out.is_empty();
        Standing { lock: Some(lock), drift: drift.filter(|_| !is_premature), unreviewed }
    }

    /// What the lock file says against the declaration; nothing where that has errors of its own.
    fn drift(&self) -> Option<(LockState, Option<Diagnostic>)> {
        let manifest = self.manifest.as_ref()?;
        let find = |rule: &Rule, message: String, help: Option<String>| {
            let source = Source::new(&self.file, &self.text);
            Some(source.diagnose(rule, manifest.surface_version_position, message, help))
        };
        let lock = match self.lock_path() {
            Some(path) if path.symlink_metadata().is_err() => return Some((LockState::None, None)),
            Some(path) => read(&path)
                .and_then(|text| Lock::parse(&text).map_err(|error| unusable(&path, &error)))
                .map_err(|error| error.message),
            None => Lock::parse(shipped::LOCK).map_err(|error| error.to_string()),
        };
        let lock = match lock {
            Ok(lock) => lock,
            Err(message) => return Some((LockState::Unusable, find(&LOCK_UNUSABLE, message, None))),
        };
        // The reader of the declaration lets no other version and no other list pass.
        let version = SurfaceVersion::parse(&manifest.surface_version).ok()?;
        let tools = ToolList::of_published(&published::tools(manifest)).ok()?;
        let locked = &lock.surface_version;
        let finding = match lock.check(&version, &tools) {
            Ok(diff) if diff.is_empty() && version == *locked => return Some((LockState::Agrees, None)),
            Ok(diff) => {
                let what = if diff.is_empty() { "the version" } else { "the published list" };
                let message = format!("{what} is not the one of the lock file, which stands at {locked}");
                let help = format!("`gatelatch contract lock` puts it in force as {version}; {DETAIL}");
                find(&LOCK_DIFFERS, message, Some(help))
            }
            Err(MoveError::TooSmall { step, change }) => find(
                &LOCK_VERSION,
                format!("the published list changed since {locked} by more than `{version}` says: {change}"),
                Some(format!("write `surface_version: {}` or later; {DETAIL}", step.least)),
            ),
            Err(MoveError::Backwards { step }) => find(
                &LOCK_VERSION,
                format!("`{version}` is older than {locked}, which the lock file holds"),
                Some(format!("write `surface_version: {}` or later; {DETAIL}", step.least)),
            ),
        };
        Some((LockState::Differs, finding))
    }
}
