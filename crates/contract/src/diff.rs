//! What changed between two tool lists, and what each change asks of those who hold the old one.
//!
//! Owns the judgement: arguments may only be loosened, results only tightened, and what is not understood is major.
//! INVARIANT: a diff is empty exactly when the two lists have the same digest, kept by
//! `a_diff_is_empty_exactly_when_the_digests_are_equal`. Start at [`diff()`]; [`tool`] judges one tool, [`schema`] one
//! schema.

mod keyword;
mod object;
mod order;
mod rename;
mod schema;
mod tool;

use std::fmt;

use serde::Serialize;

use crate::change::ChangeKind;
use crate::level::Level;
use crate::list::ToolList;
use crate::shown;

/// One change of one tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// How much it asks: the level of its kind.
    pub level: Level,
    /// What kind of change it is.
    pub kind: ChangeKind,
    /// The tool, by its old name if it had one.
    pub tool: String,
    /// A JSON Pointer into the tool's definition; empty for the tool itself.
    pub path: String,
    /// What changed, as a sentence about what the path points at.
    pub what: String,
}

/// All changes between two lists, by tool in the old list's order, new tools last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Diff {
    changes: Vec<Change>,
    untold: usize,
}

/// How many changes are told one by one.
const MOST: usize = 2_000;
/// How many bytes of a path are told.
const MOST_OF_A_PATH: usize = 400;

/// What changed from the old list to the new one.
pub fn diff(old: &ToolList, new: &ToolList) -> Diff {
    let mut told = Told::default();
    let pairs = rename::pairs(old, new);
    let moved = order::moved(&pairs);
    for (place, before) in old.tools().iter().enumerate() {
        let Some(at) = pairs.new_place(place) else {
            told.tell(ChangeKind::ToolRemoved, before.name(), "", "it was removed".to_owned());
            continue;
        };
        if let Some(after) = new.tools().get(at) {
            tool::compare(before, after, &mut told);
        }
        if moved.contains(&place) {
            let what = format!("it moved from place {} to place {}", place + 1, at + 1);
            told.tell(ChangeKind::ToolMoved, before.name(), "", what);
        }
    }
    for (_, added) in new.tools().iter().enumerate().filter(|(at, _)| !pairs.is_taken(*at)) {
        told.tell(ChangeKind::ToolNew, added.name(), "", "it is new".to_owned());
    }
    Diff { untold: told.count - told.changes.len(), changes: told.changes }
}

impl Diff {
    /// The changes, or the first of very many; one of the largest is always among them.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// How many changes there are beside them.
    pub fn untold(&self) -> usize {
        self.untold
    }

    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The level of the whole; none if nothing changed.
    pub fn level(&self) -> Option<Level> {
        self.changes.iter().map(|change| change.level).max()
    }

    /// The first of the largest changes.
    pub fn largest(&self) -> Option<&Change> {
        self.changes.iter().find(|change| Some(change.level) == self.level())
    }

    /// The tools that changed, each with its level, in the order of the changes.
    pub fn by_tool(&self) -> Vec<(&str, Level)> {
        let mut tools: Vec<(&str, Level)> = Vec::new();
        for change in &self.changes {
            match tools.last_mut().filter(|(tool, _)| *tool == change.tool) {
                Some((_, level)) => *level = change.level.max(*level),
                None => tools.push((&change.tool, change.level)),
            }
        }
        tools
    }
}

impl fmt::Display for Change {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: tool `{}`", self.level, shown::text(&self.tool))?;
        if !self.path.is_empty() {
            write!(formatter, " at `{}`", shown::text(&self.path))?;
        }
        write!(formatter, ": {}", self.what)
    }
}

/// Gathers changes, within bounds: a list may come from anybody.
#[derive(Default)]
struct Told {
    changes: Vec<Change>,
    count: usize,
    largest: Option<Level>,
}

impl Told {
    fn tell(&mut self, kind: ChangeKind, tool: &str, path: &str, what: String) {
        let level = kind.rule().level;
        self.count += 1;
        let is_larger = self.largest < Some(level);
        self.largest = self.largest.max(Some(level));
        if self.changes.len() == MOST {
            if !is_larger {
                return;
            }
            self.changes.pop();
        }
        let mut end = path.len().min(MOST_OF_A_PATH);
        while !path.is_char_boundary(end) {
            end -= 1;
        }
        let path = path.get(..end).unwrap_or_default().to_owned();
        self.changes.push(Change { level, kind, tool: tool.to_owned(), path, what });
    }
}
