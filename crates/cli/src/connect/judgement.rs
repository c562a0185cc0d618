//! What a client will make of its configurations once a plan is applied.
//!
//! Reads files and writes none; knows no client's rules. Start at [`Survey`].

use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::place::resolved;
use super::sheet::Settled;
use super::syntax::Syntax;
use super::write;

/// What configurations mean for Gatelatch's tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Judgement {
    /// A confirmed tool would run without a question, or the server would not be seen.
    pub(super) warnings: Vec<String>,
    /// What a person should know.
    pub(super) notes: Vec<String>,
    /// What the client reads too and nobody could read here.
    pub(super) unread: Vec<Unread>,
}

/// A configuration that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unread {
    /// Its file, or the variable that holds it.
    pub(crate) source: String,
    pub(super) why: String,
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} was not read ({}); its rules are not considered", self.source, self.why)
    }
}

impl Judgement {
    pub(super) fn warn(&mut self, warning: impl Into<String>) {
        self.warnings.push(warning.into());
    }

    pub(super) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }
}

/// Looks at configurations: at those that the plan writes as they will be, at all others as they are.
pub(super) struct Survey<'a> {
    settled: &'a [Settled],
    pub(super) judgement: Judgement,
}

impl<'a> Survey<'a> {
    pub(super) fn new(settled: &'a [Settled]) -> Survey<'a> {
        Survey { settled, judgement: Judgement::default() }
    }

    /// These files and those that the plan writes from this one on, each once.
    pub(super) fn files(&self, others: impl IntoIterator<Item = PathBuf>, from: usize) -> Vec<PathBuf> {
        let written = self.settled.iter().skip(from).map(|settled| settled.target.named.clone());
        distinct(others.into_iter().chain(written))
    }

    /// The value of a file; `None` when there is none. What cannot be read is noted.
    pub(super) fn read(&mut self, path: &Path, syntax: Syntax) -> Option<Value> {
        let real = resolved(path).ok();
        let ours = self.settled.iter().find(|settled| {
            settled.target.named == path || real.as_ref().is_some_and(|real| *real == settled.target.real)
        });
        if let Some(settled) = ours {
            return Some(settled.value(syntax));
        }
        let text = match resolved(path).and_then(|real| write::read(&real)) {
            Ok(text) => text?,
            Err(error) => {
                self.unread(path, &error.to_string());
                return None;
            }
        };
        match syntax.parse(&text) {
            Ok(value) => Some(value),
            Err(fault) => {
                self.unread(path, &format!("line {}, column {}: {}", fault.line, fault.column, fault.message));
                None
            }
        }
    }

    fn unread(&mut self, path: &Path, why: &str) {
        self.judgement.unread.push(Unread { source: path.display().to_string(), why: why.to_owned() });
    }
}

/// Each of these files once, in order.
pub(super) fn distinct(files: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut seen: Vec<PathBuf> = Vec::new();
    for file in files {
        if !seen.contains(&file) {
            seen.push(file);
        }
    }
    seen
}

/// The texts in a list.
pub(super) fn texts<'v>(value: &'v Value, at: &[&str]) -> Vec<&'v str> {
    let list = at.iter().try_fold(value, |value, key| value.get(key));
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}
