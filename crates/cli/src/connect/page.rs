//! The instructions file beside a configuration: ours as a whole, until somebody edits it.
//!
//! Knows no client. Start at [`Page::plan`].

use std::path::PathBuf;

use super::record::Written;
use super::{ConnectError, FileEdit, write};

/// A file of ours.
#[derive(Clone, Debug)]
pub(super) struct Page {
    pub(super) path: PathBuf,
    pub(super) text: String,
}

/// What to write, and what to say.
pub(super) type PagePlan = (Option<FileEdit>, Option<String>);

impl Page {
    /// Written when it is missing or ours from an earlier time, left alone when somebody edited it.
    pub(super) fn plan(&self, old: Option<&Written>) -> Result<PagePlan, ConnectError> {
        let path = self.path.clone();
        let before = write::read(&path)?;
        let ours = old.is_some_and(|written| written.is_ours(before.as_deref()));
        if before.as_deref() == Some(self.text.as_str()) {
            Ok((None, None))
        } else if before.is_none() || ours {
            Ok((Some(FileEdit { path, before, after: Some(self.text.clone()) }), None))
        } else {
            Ok((None, Some(format!("`{}` was written by somebody else and stays as it is", path.display()))))
        }
    }

    /// Removed when it is as we wrote it. Without a record, only our very text is known to be ours.
    pub(super) fn plan_undo(&self, recorded: bool, old: Option<&Written>) -> Result<PagePlan, ConnectError> {
        let path = self.path.clone();
        let Some(text) = write::read(&path)? else { return Ok((None, None)) };
        let after = match old {
            Some(written) if written.is_ours(Some(&text)) => written.before.clone(),
            Some(_) => {
                return Ok((None, Some(format!("`{}` was edited and stays; remove it by hand", path.display()))));
            }
            None if !recorded && text == self.text => None,
            None => return Ok((None, None)),
        };
        Ok((Some(FileEdit { path, before: Some(text), after }), None))
    }

    /// What to remember of it.
    pub(super) fn kept(edit: Option<&FileEdit>, old: Option<Written>) -> Option<Written> {
        match (edit, old) {
            (Some(FileEdit { after: Some(after), .. }), Some(older)) => Some(Written::new(older.before, after)),
            (Some(FileEdit { before, after: Some(after), .. }), None) => Some(Written::new(before.clone(), after)),
            (_, older) => older,
        }
    }
}
