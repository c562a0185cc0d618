//! A declaration against the lock file beside it, as findings: what clients rely on is the list that was locked.
//!
//! What changed in detail is told by `gatelatch contract diff`; what a change demands of the version is the contract
//! crate's judgement. Start at [`Declared::drift`].

use gatelatch_chat::published;
use gatelatch_contract::list::ToolList;
use gatelatch_contract::lock::Lock;
use gatelatch_contract::version::{MoveError, SurfaceVersion};
use gatelatch_manifest::diagnostic::{Diagnostic, Source};
use gatelatch_manifest::rule::{LOCK_DIFFERS, LOCK_UNUSABLE, LOCK_VERSION, Rule};

use super::Declared;
use crate::verb::verify::{read, unusable};

const DETAIL: &str = "`gatelatch contract diff` tells all that changed";

impl Declared {
    /// What the lock file says against the declaration; nothing where there is none, or where the declaration has errors of
    /// its own. The one that ships is held to its lock file in the repository.
    pub(crate) fn drift(&self) -> Option<Diagnostic> {
        let manifest = self.manifest.as_ref()?;
        let path = self.lock_path().filter(|path| path.symlink_metadata().is_ok())?;
        let find = |rule: &Rule, message: String, help: Option<String>| {
            let source = Source::new(&self.file, &self.text);
            Some(source.diagnose(rule, manifest.surface_version_position, message, help))
        };
        let text = match read(&path) {
            Ok(text) => text,
            Err(error) => return find(&LOCK_UNUSABLE, error.message, None),
        };
        let lock = match Lock::parse(&text) {
            Ok(lock) => lock,
            Err(error) => return find(&LOCK_UNUSABLE, unusable(&path, &error).message, None),
        };
        // The reader of the declaration lets no other version and no other list pass.
        let version = SurfaceVersion::parse(&manifest.surface_version).ok()?;
        let tools = ToolList::of_published(&published::tools(manifest)).ok()?;
        let locked = &lock.surface_version;
        match lock.check(&version, &tools) {
            Ok(diff) if diff.is_empty() && version == *locked => None,
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
        }
    }
}
