//! The findings of one file while it is read: gathered in any order, bounded, told in the order of their places.
//!
//! Owns too how much work one file may make beyond reading it, since whoever works for a file has its findings at hand.

use crate::diagnostic::{Diagnostic, Position, Severity, Source};
use crate::mend::Fix;
use crate::nearest::nearest;
use crate::rule::{self, Rule};

/// The most findings of one file that are told. A hostile file could otherwise make a finding of every few bytes.
const MOST: usize = 200;
/// How many pairs of words one file's suggestions may compare.
const MOST_COMPARED: usize = 10_000;
/// How much work reading one file's patterns may make.
const MOST_PATTERN_WORK: u64 = 400_000;
/// How much work holding one file's own values to its patterns may make, in parts of patterns: some two milliseconds,
/// since catalogs of hundreds of files load while somebody waits.
const MOST_MATCH_WORK: u64 = 4000;

/// Gathers findings about one text.
#[derive(Debug)]
pub(crate) struct Findings<'s, 'a> {
    source: &'s Source<'a>,
    list: Vec<Diagnostic>,
    dropped: bool,
    compared: usize,
    pattern_work: u64,
    match_work: u64,
}

impl<'s, 'a> Findings<'s, 'a> {
    pub(crate) fn new(source: &'s Source<'a>) -> Findings<'s, 'a> {
        Findings { source, list: Vec::new(), dropped: false, compared: 0, pattern_work: 0, match_work: 0 }
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
            self.dropped = true;
            self.list.push(self.source.diagnose(rule, at, message, help));
        } else {
            self.dropped = true;
        }
    }

    /// Adds a finding and the change that mends it, if one is certain.
    pub(crate) fn add_with_fix(
        &mut self,
        rule: &Rule,
        at: Position,
        text: impl FnOnce() -> (String, Option<String>),
        fix: Option<Fix>,
    ) {
        self.add_with_help(rule, at, text);
        self.mend(rule, at, fix);
    }

    /// Adds the change that mends a finding which was told already.
    pub(crate) fn mend(&mut self, rule: &Rule, at: Position, fix: Option<Fix>) {
        let told = |finding: &&mut Diagnostic| finding.code == rule.code && finding.position == Some(at);
        if let Some(finding) = self.list.iter_mut().rev().find(told) {
            finding.fix = finding.fix.take().or(fix.map(Box::new));
        }
    }

    /// Whether another finding would be told, so that a mend for it is worth looking for.
    pub(crate) fn has_room(&self) -> bool {
        self.list.len() < MOST
    }

    /// Whether this file may have so many more pairs of words compared.
    pub(crate) fn afford_comparison(&mut self, pairs: usize) -> bool {
        let affordable = self.compared.saturating_add(pairs) <= MOST_COMPARED;
        if affordable {
            self.compared += pairs;
        }
        affordable
    }

    /// Whether a finding by that rule is told.
    pub(crate) fn has(&self, rule: &Rule) -> bool {
        self.list.iter().any(|finding| finding.code == rule.code)
    }

    /// The text that the findings are about.
    pub(crate) fn text(&self) -> &'a str {
        self.source.text()
    }

    /// `did you mean …?` with the nearest known word, if there is one and this file may have another word looked for.
    pub(crate) fn did_you_mean<'k>(&mut self, wrong: &str, known: impl Iterator<Item = &'k str>) -> Option<String> {
        let room = MOST_COMPARED.saturating_sub(self.compared);
        let known: Vec<&str> = known.take(room).collect();
        self.compared += known.len();
        nearest(wrong, known).map(|near| format!("did you mean `{near}`?"))
    }

    /// Whether no further finding would be told, so that looking for more of them is in vain.
    pub(crate) fn is_full(&self) -> bool {
        self.list.len() >= MOST && self.has_error()
    }

    /// Whether this file may have so much work done to hold its own values to a pattern. If not, they are taken as they
    /// are: what a call brings is held to the pattern anyway.
    pub(crate) fn afford_match(&mut self, work: u64) -> bool {
        self.match_work = self.match_work.saturating_add(work);
        self.match_work <= MOST_MATCH_WORK
    }

    /// Whether this file may have so much work done to read a pattern; the first that may not is reported.
    pub(crate) fn afford_pattern(&mut self, work: u64, at: Position) -> bool {
        let before = self.pattern_work;
        self.pattern_work = before.saturating_add(work);
        if before <= MOST_PATTERN_WORK && self.pattern_work > MOST_PATTERN_WORK {
            self.add_with_help(&rule::TOO_COMPLEX, at, || {
                let message = "the manifest's patterns make too much work together".to_owned();
                (message, Some("write fewer or simpler patterns".to_owned()))
            });
        }
        self.pattern_work <= MOST_PATTERN_WORK
    }

    pub(crate) fn has_error(&self) -> bool {
        self.list.iter().any(|finding| finding.severity == Severity::Error)
    }

    /// All of them, by place.
    pub(crate) fn finish(mut self) -> Vec<Diagnostic> {
        self.list.sort_by_key(|finding| (finding.position, finding.code));
        if self.dropped || self.list.len() >= MOST {
            let message = format!("only {MOST} findings are shown");
            self.list.push(Diagnostic::whole_file(&rule::TOO_MANY_FINDINGS, self.source.file(), message));
        }
        self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_that_comes_after_too_many_warnings_still_counts() {
        let source = Source::new("f", "");
        let mut findings = Findings::new(&source);
        for line in 1..=300 {
            findings.add(&rule::EMPTY_VALUE, Position { line, column: 1 }, || "warning".to_owned());
        }
        assert!(!findings.has_error());
        findings.add(&rule::UNKNOWN_KEY, Position { line: 301, column: 1 }, || "error".to_owned());
        findings.add(&rule::UNKNOWN_KEY, Position { line: 302, column: 1 }, || "error".to_owned());
        assert!(findings.has_error());
        let list = findings.finish();
        assert_eq!(list.len(), MOST + 1);
        assert_eq!(list.iter().filter(|finding| finding.severity == Severity::Error).count(), 1);
        assert_eq!(list.last().map(|finding| finding.code), Some(rule::TOO_MANY_FINDINGS.code));
    }

    #[test]
    fn findings_come_in_the_order_of_their_places() {
        let source = Source::new("f", "");
        let mut findings = Findings::new(&source);
        for (line, column) in [(2, 1), (1, 5), (1, 2)] {
            findings.add(&rule::UNKNOWN_KEY, Position { line, column }, String::new);
        }
        let places: Vec<(u32, u32)> =
            findings.finish().iter().filter_map(|finding| finding.position).map(|at| (at.line, at.column)).collect();
        assert_eq!(places, [(1, 2), (1, 5), (2, 1)]);
    }
}
