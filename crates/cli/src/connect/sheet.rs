//! One configuration file of a connection: what should be in it, what will be written, and what that leads back to.
//!
//! Reads files and writes none. Knows no client's keys. Start at [`Sheet::plan`].

use std::path::PathBuf;

use serde_json::Value;

use super::draft::{Draft, Undo, Want, strike_part};
use super::place::Target;
use super::record::{Kept, Part, Written};
use super::syntax::{Demand, Fault, Syntax};
use super::{Change, ConnectError, ConnectRequest, FileEdit, Surroundings, opencode, write};

/// A file and what it should hold.
#[derive(Clone, Debug)]
pub(super) struct Sheet {
    pub(super) target: Target,
    pub(super) form: Form,
}

/// How a file is brought to what is wanted.
#[derive(Clone, Debug)]
pub(super) enum Form {
    /// opencode's configuration, whose rules have an order.
    Opencode(opencode::Wanted),
    /// Single things at their places.
    Plain { syntax: Syntax, wants: Vec<Want> },
}

/// What happens to one file.
#[derive(Clone, Debug)]
pub(super) struct Planned {
    pub(super) file: FilePlan,
    /// Its text afterwards; empty when there is none.
    pub(super) text: String,
    /// What the record remembers of it.
    pub(super) kept: Option<Kept>,
    pub(super) notes: Vec<String>,
}

/// What happens to one file, for the eye and for the disk.
#[derive(Clone, Debug)]
pub(crate) struct FilePlan {
    /// The file as the user knows it.
    pub(crate) named: PathBuf,
    /// What changes in it.
    pub(crate) changes: Vec<Change>,
    /// What to write, if anything.
    pub(super) edit: Option<FileEdit>,
}

impl Sheet {
    /// A file that should hold single things at their places.
    pub(super) fn plain(
        syntax: Syntax,
        named: PathBuf,
        request: &ConnectRequest,
        surroundings: &Surroundings,
        wants: Vec<Want>,
    ) -> Result<Sheet, ConnectError> {
        let target = Target::find(named, request, surroundings)?;
        Ok(Sheet { target, form: Form::Plain { syntax, wants } })
    }

    /// What connecting writes into this file. `old` is what an earlier connect remembers of it.
    pub(super) fn plan(&self, old: Option<&Kept>) -> Result<Planned, ConnectError> {
        let before = write::read(&self.target.real)?;
        let text = before.clone().unwrap_or_default();
        let draft = self.connect(&text)?;
        self.verify(&text, &draft.text)?;
        let edit = (before.as_deref() != Some(draft.text.as_str())).then(|| FileEdit {
            path: self.target.real.clone(),
            before: before.clone(),
            after: Some(draft.text.clone()),
        });
        // A file that was not there and has nothing to hold is not written.
        let edit = edit.filter(|_| !draft.changes.is_empty());
        let kept = self.kept(before, &draft, old)?;
        let file = FilePlan { named: self.target.named.clone(), changes: draft.changes, edit };
        Ok(Planned { file, text: draft.text, kept: Some(kept), notes: draft.notes })
    }

    /// What disconnecting writes: the text from before, when nobody touched the file since; else only our parts go.
    pub(super) fn plan_undo(&self, kept: Option<&Kept>) -> Result<Planned, ConnectError> {
        let before = write::read(&self.target.real)?;
        let mut notes = Vec::new();
        let (after, changes) = match (&before, kept) {
            (Some(text), Some(kept)) if kept.file.is_ours(Some(text)) => {
                (kept.file.before.clone(), kept.parts.iter().filter_map(taken_back).collect())
            }
            (Some(text), Some(kept)) => {
                let undone = self.disconnect(text, &kept.parts, &kept.created)?;
                let edited = "was edited since it was connected: only Gatelatch's own parts are taken out";
                notes.push(format!("`{}` {edited}", self.target.named.display()));
                notes.extend(undone.notes);
                let leftover = kept.file.before.is_none() && self.form.holds_nothing(&undone.text);
                ((!leftover).then_some(undone.text), undone.changes)
            }
            (Some(text), None) => {
                let parts = self.form.own_parts(text).map_err(|fault| self.located(fault))?;
                let undone = self.disconnect(text, &parts, &self.form.containers())?;
                (Some(undone.text), undone.changes)
            }
            (None, _) => (None, Vec::new()),
        };
        let text = after.clone().unwrap_or_default();
        let edit = (before != after).then(|| FileEdit { path: self.target.real.clone(), before, after });
        let file = FilePlan { named: self.target.named.clone(), changes, edit };
        Ok(Planned { file, text, kept: None, notes })
    }

    fn connect(&self, text: &str) -> Result<Draft, ConnectError> {
        self.form.connect(text).map_err(|fault| self.located(fault))
    }

    fn disconnect(&self, text: &str, parts: &[Part], created: &[Vec<String>]) -> Result<Draft, ConnectError> {
        let undone = self.form.disconnect(text, parts, created).map_err(|fault| self.located(fault))?;
        if self.form.leaves_the_rest(text, &undone.text, parts) { Ok(undone) } else { Err(self.unsound()) }
    }

    /// Holds the edit to its promise before anybody can apply it: the rest says what it said, and all that is wanted is
    /// there.
    fn verify(&self, before: &str, after: &str) -> Result<(), ConnectError> {
        let complete = self.form.connect(after).is_ok_and(|again| again.changes.is_empty());
        if complete && self.form.leaves_the_rest(before, after, &[]) { Ok(()) } else { Err(self.unsound()) }
    }

    /// What to remember. Where an older connect stands, undo must lead back to before that one.
    fn kept(&self, before: Option<String>, draft: &Draft, old: Option<&Kept>) -> Result<Kept, ConnectError> {
        let origin = match (old, &before) {
            (Some(old), Some(text)) if old.file.is_ours(Some(text)) => old.file.before.clone(),
            (Some(old), Some(text)) => Some(self.disconnect(text, &old.parts, &old.created)?.text),
            _ => before,
        };
        let from_origin = self.connect(origin.as_deref().unwrap_or_default())?;
        Ok(Kept {
            config: self.target.named.clone(),
            file: Written::new(origin, &draft.text),
            parts: from_origin.parts,
            created: from_origin.created,
        })
    }

    fn located(&self, fault: Fault) -> ConnectError {
        let Fault { line, column, message } = fault;
        ConnectError::Syntax { path: self.target.named.clone(), line, column, message }
    }

    fn unsound(&self) -> ConnectError {
        ConnectError::Unsound(self.target.named.clone())
    }
}

impl Form {
    pub(super) fn connect(&self, text: &str) -> Result<Draft, Fault> {
        match self {
            Form::Opencode(wanted) => opencode::merge::connect(text, wanted),
            Form::Plain { syntax, wants } => Draft::with(*syntax, text, wants),
        }
    }

    pub(super) fn disconnect(&self, text: &str, parts: &[Part], created: &[Vec<String>]) -> Result<Draft, Fault> {
        match self {
            Form::Opencode(_) => opencode::merge::disconnect(text, parts, created),
            Form::Plain { syntax, wants } => {
                let demands: Vec<Demand> = wants.iter().flat_map(Want::demands).collect();
                Undo::of(*syntax, text, &demands, parts, created)
            }
        }
    }

    /// The parts that look like ours, where no record says so.
    fn own_parts(&self, text: &str) -> Result<Vec<Part>, Fault> {
        match self {
            Form::Opencode(wanted) => opencode::merge::own_parts(text, wanted),
            Form::Plain { syntax, wants } => {
                let value = syntax.parse(text)?;
                Ok(wants.iter().filter_map(|want| want.own_part(&value)).collect())
            }
        }
    }

    /// The objects and lists that may hold our parts.
    fn containers(&self) -> Vec<Vec<String>> {
        match self {
            Form::Opencode(_) => opencode::merge::containers(),
            Form::Plain { wants, .. } => wants.iter().flat_map(Want::containers).collect(),
        }
    }

    /// Whether two texts say the same, in the same order, about everything that is not ours; `parts` are ours too.
    pub(super) fn leaves_the_rest(&self, before: &str, after: &str, parts: &[Part]) -> bool {
        match self {
            Form::Opencode(wanted) => opencode::merge::leaves_the_rest(before, after, wanted),
            Form::Plain { syntax, wants } => {
                // Compared as text, so that the order counts too.
                let rest = |text: &str| {
                    let mut value = syntax.parse(text).ok()?;
                    wants.iter().for_each(|want| want.strike(&mut value));
                    parts.iter().for_each(|part| strike_part(&mut value, part));
                    Some(value.to_string())
                };
                matches!((rest(before), rest(after)), (Some(before), Some(after)) if before == after)
            }
        }
    }

    /// Whether a text says nothing that anybody would miss.
    fn holds_nothing(&self, text: &str) -> bool {
        match self {
            Form::Opencode(_) => opencode::merge::holds_nothing(text),
            Form::Plain { syntax, .. } => {
                let blank = |text: &str| text.chars().all(|c| c.is_whitespace() || c == '{' || c == '}');
                blank(text) && syntax.parse(text).is_ok_and(|value| value.as_object().is_some_and(|o| o.is_empty()))
            }
        }
    }
}

fn taken_back(part: &Part) -> Option<Change> {
    let key = part.at.join(".");
    match &part.before {
        None => Some(Change::Remove { key }),
        Some(before) if *before == part.wrote => None,
        Some(_) => Some(Change::Restore { key }),
    }
}

/// What a file holds after a plan, for those who judge what the client will make of it.
#[derive(Clone, Debug)]
pub(super) struct Settled {
    pub(super) target: Target,
    pub(super) text: String,
}

impl Settled {
    pub(super) fn value(&self, syntax: Syntax) -> Value {
        syntax.parse(&self.text).unwrap_or_default()
    }
}
