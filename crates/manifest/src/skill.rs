//! Reads `SKILL.md`: front matter between two `---` lines, then Markdown.
//!
//! Owns what a skill's text may lead to as well. Start at [`skill`].

use std::collections::BTreeMap;

use crate::diagnostic::{Position, quoted};
use crate::document::SkillManifest;
use crate::entry::{check_folder, leaves_folder};
use crate::findings::Findings;
use crate::keys::Keys;
use crate::percent::undo_percent;
use crate::read::{Beside, Lookup};
use crate::reference::{SKILL, SKILL_NAME};
use crate::rule;
use crate::shape::{check_block, lint_text};
use crate::yaml;

/// The document of a file's text. What is wrong is reported; the document then serves no one.
pub(crate) fn skill(
    folder: &str,
    text: &str,
    beside: Lookup<'_>,
    findings: &mut Findings<'_, '_>,
) -> Option<SkillManifest> {
    let Some(parts) = Parts::of(text) else {
        let at = Position { line: 1, column: 1 };
        let message = if is_fence(text.lines().next().unwrap_or_default()) {
            "the front matter is opened and not closed"
        } else {
            "the file does not open with front matter"
        };
        findings.add(&rule::FRONT_MATTER, at, || message.to_owned());
        return None;
    };
    check_body(&parts, findings);
    check_links(&parts, beside, findings);
    let root = yaml::parse(parts.front_matter, 2, parts.before, findings);
    let Some(root) = root else {
        if parts.front_matter.trim().is_empty() {
            let at = Position { line: 1, column: 1 };
            findings.add(&rule::FRONT_MATTER, at, || "the front matter is empty".to_owned());
        }
        return None;
    };
    check_block(&root, &SKILL, findings);
    let keys = Keys::of(&root)?;
    let (name, position) = keys.text_at("name").unwrap_or(("", keys.at));
    check_folder(keys, folder, &SKILL_NAME, findings);
    let field = |key: &str| keys.text(key).map(|text| (key.to_owned(), text.to_owned()));
    Some(SkillManifest {
        name: name.to_owned(),
        description: keys.text("description").unwrap_or_default().to_owned(),
        fields: ["license", "compatibility", "allowed-tools"].into_iter().filter_map(field).collect(),
        metadata: metadata(keys),
        body: parts.body.to_owned(),
        position,
    })
}

/// A skill's file in its two parts.
struct Parts<'a> {
    front_matter: &'a str,
    /// How many bytes stand before the front matter.
    before: usize,
    body: &'a str,
    /// The line at which the body begins.
    body_line: u32,
}

impl Parts<'_> {
    fn of(text: &str) -> Option<Parts<'_>> {
        let mut lines = text.split_inclusive('\n');
        let first = lines.next().filter(|line| is_fence(line))?;
        let mut offset = first.len();
        for (number, line) in (2..).zip(lines) {
            if is_fence(line) {
                let front_matter = text.get(first.len()..offset)?;
                let (before, body) = (first.len(), text.get(offset + line.len()..)?);
                return Some(Parts { front_matter, before, body, body_line: number + 1 });
            }
            offset += line.len();
        }
        None
    }
}

fn is_fence(line: &str) -> bool {
    line.trim_end() == "---"
}

fn check_body(parts: &Parts<'_>, findings: &mut Findings<'_, '_>) {
    if parts.body.trim().is_empty() {
        let at = Position { line: parts.body_line.saturating_sub(1), column: 1 };
        findings.add(&rule::EMPTY_BODY, at, || "nothing follows the front matter".to_owned());
    }
    for (line, number) in parts.body.lines().zip(parts.body_line..) {
        lint_text(line, "the line", Position { line: number, column: 1 }, findings);
    }
}

fn metadata(keys: Keys<'_>) -> BTreeMap<String, String> {
    let pairs = keys.node("metadata").and_then(Keys::of).map(Keys::pairs).unwrap_or_default();
    let text = |pair: &yaml::Pair<'_>| pair.value.text().map(|text| (pair.key.to_string(), text.to_owned()));
    pairs.iter().filter_map(text).collect()
}

/// A link to a file beside the skill.
#[derive(Debug, PartialEq, Eq)]
struct Link {
    /// The path as written, percent escapes undone, without what follows `#` or `?`.
    path: String,
    /// Where the link's target stands in the file.
    position: Position,
}

fn check_links(parts: &Parts<'_>, beside: Lookup<'_>, findings: &mut Findings<'_, '_>) {
    for link in links(parts) {
        let fault = if leaves_folder(&link.path) {
            "leads out of the skill's folder"
        } else if beside(&link.path) == Beside::Nothing {
            "leads to no file"
        } else {
            continue;
        };
        findings.add(&rule::DEAD_LINK, link.position, || format!("the link to {} {fault}", quoted(&link.path)));
    }
}

/// The files beside the skill that its Markdown links to, in order. Links in code, to other hosts and to places of the
/// same text are none.
fn links(parts: &Parts<'_>) -> Vec<Link> {
    let mut found = Vec::new();
    let mut fence: Option<&str> = None;
    for (line, number) in parts.body.lines().zip(parts.body_line..) {
        let start = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark));
        match (fence, mark) {
            (Some(open), Some(mark)) if open == mark => fence = None,
            (Some(_), _) => {}
            (None, Some(mark)) => fence = Some(mark),
            (None, None) => links_in_line(line, number, &mut found),
        }
    }
    found
}

fn links_in_line(line: &str, number: u32, found: &mut Vec<Link>) {
    let mut rest = 0;
    while let Some(next) = line.get(rest..) {
        let Some(step) = next.find(['`', ']']) else { return };
        let at = rest + step;
        if line.as_bytes().get(at) == Some(&b'`') {
            rest = after_code(line, at);
            continue;
        }
        rest = at + 1;
        if line.as_bytes().get(rest) == Some(&b'(')
            && let Some(inside) = line.get(rest + 1..)
        {
            let target = target_of(inside);
            let column = line.get(..rest + 1).map_or(0, |before| before.chars().count()) + 1;
            let position = Position { line: number, column: u32::try_from(column).unwrap_or(u32::MAX) };
            found.extend(local_path(target).map(|path| Link { path, position }));
        }
    }
}

/// Where the text goes on after a span of code that begins at a backtick; right after it when the span is not closed.
fn after_code(line: &str, at: usize) -> usize {
    let length = line.get(at..).map_or(1, |rest| rest.bytes().take_while(|byte| *byte == b'`').count());
    let mark = "`".repeat(length);
    let after = at + length;
    match line.get(after..).and_then(|rest| rest.find(&mark)) {
        Some(end) => after + end + length,
        None => after,
    }
}

/// A link's target: what stands in `<…>`, or up to a blank or the parenthesis that closes.
fn target_of(inside: &str) -> &str {
    if let Some(bracketed) = inside.strip_prefix('<') {
        return bracketed.split('>').next().unwrap_or_default();
    }
    let mut depth = 0;
    for (index, c) in inside.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return inside.get(..index).unwrap_or_default(),
            ')' => depth -= 1,
            c if c.is_whitespace() => return inside.get(..index).unwrap_or_default(),
            _ => {}
        }
    }
    ""
}

/// The target's path if it is one of a file beside the skill.
fn local_path(target: &str) -> Option<String> {
    let path = target.split(['#', '?']).next().unwrap_or_default();
    let scheme = path.split_once(':').is_some_and(|(scheme, _)| {
        !scheme.is_empty() && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    });
    let templated = path.contains(['{', '}', '$', '*']);
    if path.is_empty() || scheme || templated || path.starts_with('/') {
        return None;
    }
    Some(undo_percent(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(body: &str) -> Vec<(String, u32, u32)> {
        let text = format!("---\nname: a\n---\n{body}");
        let found = links(&Parts::of(&text).unwrap());
        found.into_iter().map(|link| (link.path, link.position.line, link.position.column)).collect()
    }

    #[test]
    fn links_to_files_are_found_with_their_places() {
        assert_eq!(
            paths("see [a](x/a.md) and ![b](<b c.png>)\n[c](d%20e.md#part \"title\")\n"),
            [("x/a.md".to_owned(), 4, 9), ("b c.png".to_owned(), 4, 26), ("d e.md".to_owned(), 5, 5)]
        );
        assert_eq!(paths("[a](f(1).md)"), [("f(1).md".to_owned(), 4, 5)]);
    }

    #[test]
    fn what_is_no_link_to_a_file_is_left_alone() {
        for body in [
            "`[a](b.md)`",
            "``[a](`b.md)``",
            "```\n[a](b.md)\n```\n",
            "~~~md\n```\n[a](b.md)\n~~~",
            "[a](https://x.example/b.md)",
            "[a](mailto:x@y)",
            "[a](#part)",
            "[a](/etc/passwd)",
            "[a]({baseDir}/x)",
            "[a] (b.md)",
            "[a](",
            "[a]()",
            "a](",
        ] {
            assert_eq!(paths(body), [], "{body}");
        }
    }

    #[test]
    fn a_fence_is_a_line_of_three_dashes_alone() {
        let parts = Parts::of("--- \r\na: 1\r\n---\r\nbody --- \n").unwrap();
        assert_eq!((parts.front_matter, parts.body, parts.body_line), ("a: 1\r\n", "body --- \n", 4));
        assert!(Parts::of("---\na: 1\n----\n").is_none());
        assert!(Parts::of("a: 1\n---\n").is_none());
        assert_eq!(Parts::of("---\n---").unwrap().body, "");
    }
}
