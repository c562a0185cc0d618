//! The lines of a draft that wait for somebody: texts that were written for operators, and what is not there yet.
//!
//! Owns how such a line is told from any other comment. Start at [`waiting`].

use gatelatch_manifest::diagnostic::{Diagnostic, Position, Source};
use gatelatch_manifest::rule::DRAFT_UNREVIEWED;

use super::Declared;

/// How a comment begins that waits for somebody, after its `# `.
pub(crate) const REVIEW: &str = "review: ";
/// The same where something is not there yet.
pub(crate) const MISSING: &str = "missing: ";

/// The lines of a declaration that wait for somebody, each with its number from 1.
pub(crate) fn waiting(text: &str) -> Vec<(usize, String)> {
    let waits = |line: &str| {
        let comment = line.trim_start().strip_prefix('#').map(str::trim_start);
        comment.is_some_and(|comment| comment.starts_with(REVIEW) || comment.starts_with(MISSING))
    };
    let lines = (1..).zip(text.lines()).filter(|(_, line)| waits(line));
    lines.map(|(number, line)| (number, line.trim().to_owned())).collect()
}

/// So many lines, in words.
pub(crate) fn lines_wait(count: usize) -> String {
    if count == 1 { "1 line waits for a review".to_owned() } else { format!("{count} lines wait for a review") }
}

impl Declared {
    /// That it is a draft still, told at the first line that waits.
    pub(super) fn unreviewed(&self) -> Option<Diagnostic> {
        let waiting = waiting(&self.text);
        let (first, _) = waiting.first()?;
        let numbers: Vec<String> = waiting.iter().map(|(number, _)| number.to_string()).collect();
        let whole = self.text.lines().nth(first - 1).unwrap_or_default();
        let column = whole.chars().count() - whole.trim_start().chars().count() + 1;
        let at = Position { line: u32::try_from(*first).ok()?, column: u32::try_from(column).ok()? };
        let message = match numbers.as_slice() {
            [_] => format!("this is a draft still: {}", lines_wait(1)),
            numbers => format!("this is a draft still: {}, {}", lines_wait(numbers.len()), numbers.join(", ")),
        };
        Some(Source::new(&self.file, &self.text).diagnose(&DRAFT_UNREVIEWED, at, message, None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_for_somebody_is_a_comment_that_says_so_and_nothing_that_is_put_off() {
        let text = "# A draft: review it.\n# review: who\ntools:\n  - name: a\n    # missing: what\n    # reviewed: yes\n  \
                    #  - name: b\n  #    # review: this\n";
        assert_eq!(waiting(text), [(2, "# review: who".to_owned()), (5, "# missing: what".to_owned())]);
    }
}
