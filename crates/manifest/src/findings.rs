//! The findings of one file while it is read: gathered in any order, bounded, told in the order of their places.

use crate::diagnostic::{Diagnostic, Position, Severity, Source};
use crate::rule::{self, Rule};

/// The most findings of one file that are told. A hostile file could otherwise make a finding of every few bytes.
const MOST: usize = 200;

/// Gathers findings about one text.
#[derive(Debug)]
pub(crate) struct Findings<'s, 'a> {
    source: &'s Source<'a>,
    list: Vec<Diagnostic>,
    dropped: usize,
}

impl<'s, 'a> Findings<'s, 'a> {
    pub(crate) fn new(source: &'s Source<'a>) -> Findings<'s, 'a> {
        Findings { source, list: Vec::new(), dropped: 0 }
    }

    /// Adds a finding whose way out is the rule's own.
    pub(crate) fn add(&mut self, rule: &Rule, at: Position, message: impl FnOnce() -> String) {
        self.add_with_help(rule, at, || (message(), None));
    }

    /// Adds a finding; without a help it gets the rule's own way out. The text is made only if it will be told.
    pub(crate) fn add_with_help(&mut self, rule: &Rule, at: Position, text: impl FnOnce() -> (String, Option<String>)) {
        if self.list.len() < MOST {
            let (message, help) = text();
            self.list.push(self.source.diagnose(rule, at, message, help));
        } else if rule.severity == Severity::Error && !self.has_error() {
            // Whatever is dropped, that the file is broken is never lost.
            let (message, help) = text();
            self.list.pop();
            self.dropped += 1;
            self.list.push(self.source.diagnose(rule, at, message, help));
        } else {
            self.dropped += 1;
        }
    }

    pub(crate) fn has_error(&self) -> bool {
        self.list.iter().any(|finding| finding.severity == Severity::Error)
    }

    /// All of them, by place.
    pub(crate) fn finish(mut self) -> Vec<Diagnostic> {
        self.list.sort_by_key(|finding| (finding.position, finding.code));
        if self.dropped > 0 {
            let message = format!("{} more findings are not shown", self.dropped);
            self.list.push(Diagnostic::whole_file(&rule::TOO_MANY_FINDINGS, self.source.file(), message));
        }
        self.list
    }
}
