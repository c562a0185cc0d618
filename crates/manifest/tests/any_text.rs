//! Whatever a file holds, reading it ends, says where, and never panics.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use gatelatch_manifest::diagnostic::{Diagnostic, Severity, render};
use gatelatch_manifest::read::{self, Beside};
use proptest::prelude::*;

const TOOL: &str = "name: sample
description: A sample.
version: 1.0.0
runtime: python
entrypoint: main.py
secrets: [API_KEY, {name: OTHER, required: false}]
limits: {timeout_s: 5}
actions:
  - name: read-sheet
    description: >
      Reads one sheet.
    effect: read_only
    args:
      - {name: path, type: path, required: true, positional: true, pattern: 'xlsx$'}
      - {name: max-results, type: integer, minimum: 1, maximum: 9, default: 3, enum: [1, 3]}
      - {name: rows, type: array, items: {type: string}}
    output_schema: {type: object, properties: {rows: {$ref: '#/$defs/r'}}, $defs: {r: {type: array}}}
    examples: [{args: {path: a.xlsx, rows: [\"a\"]}}]
    triggers: [spreadsheet, 表格]
    narrow_with: [max-results]
";

const SKILL: &str = "---\nname: sample\ndescription: A sample.\nmetadata: {a: b}\n---\n# T\n\n[a](b.md) `c`\n";

const SURFACE: &str = "surface_version: 1.0.0
server: {name: chat, title: Chat, instructions: Read.}
tools:
  - name: xlsx_read
    title: Read
    description: Reads.
    tool: xlsx
    action: read-sheet
    read_only: false
    reversible: true
    idempotent: false
    open_world: false
    idempotency_argument: key
    args:
      - {name: key, for: id, type: string, required: true, description: Key, header: Call}
      - {name: rows, type: integer, minimum: 1, maximum: 9, default: 3, description: Rows}
    fixed: {max: 0.5}
    result: {max_bytes: 9000, narrow_with: [rows]}
    output_schema: {type: object, properties: {_cut: {type: object}}, additionalProperties: false}
  - name: xlsx_look
    title: Look
    description: Looks.
    steps:
      - {id: a, tool: xlsx, args: {path: {arg: path}, n: {value: 1}}, stop_when: {at: /x, equals: 1}}
      - {id: b, agent: look, args: {x: {step: a, at: /x/0}}}
    output: {x: {step: b, at: /y}, z: {step: a}}
    read_only: true
    reversible: true
    idempotent: true
    open_world: true
    args: [{name: path, type: path, required: true, description: Path}]
    output_schema: {type: object, required: [z]}
";

fn lines(text: &str) -> usize {
    text.replace("\r\n", "\n").replace('\r', "\n").split('\n').count()
}

fn check(text: &str, has_document: bool, findings: &[Diagnostic]) -> Result<(), TestCaseError> {
    let broken = findings.iter().any(|finding| finding.severity == Severity::Error);
    prop_assert_eq!(has_document, !broken, "{}", render(findings));
    for finding in findings {
        if let Some(at) = finding.position {
            prop_assert!(at.line >= 1 && at.column >= 1 && at.line as usize <= lines(text) + 1, "{}", finding);
        }
        prop_assert!(finding.rule().is_some());
        let shown = finding.to_string();
        let hidden = shown.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t'));
        prop_assert!(hidden.is_none(), "{hidden:?} in {shown:?}");
    }
    Ok(())
}

fn check_all(text: &str) -> Result<(), TestCaseError> {
    let beside = |path: &str| if path.len().is_multiple_of(2) { Beside::File } else { Beside::Nothing };
    let tool = read::tool("tool.yaml", "sample", text.as_bytes(), &beside);
    check(text, tool.document.is_some(), &tool.findings)?;
    let agent = read::agent("agent.yaml", "sample", text.as_bytes(), &beside);
    check(text, agent.document.is_some(), &agent.findings)?;
    let skill = read::skill("SKILL.md", "sample", text.as_bytes(), &beside);
    check(text, skill.document.is_some(), &skill.findings)?;
    let surface = read::surface("chat_surface.yaml", text.as_bytes());
    check(text, surface.document.is_some(), &surface.findings)
}

/// A text with some pieces cut out and others put in.
fn mutated(text: &'static str) -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[-:\\[\\]{},&*!|>'\"%@`#?~<= \\n\\t]{1,3}",
        prop::sample::select(vec![
            "null",
            "yes",
            "- ",
            ": ",
            "\n  ",
            "---\n",
            "...\n",
            "0x1",
            "1e999",
            "\u{202e}",
            "\u{0}",
            "\r",
            "\u{feff}",
            "é",
            "<<: *a",
            "&a ",
            "!!str ",
            "[[[[",
            "$ref",
            "name: ",
            "type: ",
            "99999999999999999999",
            "\\u0000",
            "\"\\e\"",
            "(",
            "{1000}",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec((any::<prop::sample::Index>(), 0usize..12, piece), 1..4).prop_map(move |edits| {
        let mut characters: Vec<char> = text.chars().collect();
        for (place, length, piece) in edits {
            let start = place.index(characters.len() + 1);
            let end = (start + length).min(characters.len());
            characters.splice(start..end, piece.chars());
        }
        characters.into_iter().collect()
    })
}

#[test]
fn the_texts_that_are_mutated_are_right_themselves() {
    let tool = read::tool("tool.yaml", "sample", TOOL.as_bytes(), &|_| Beside::File);
    assert_eq!(render(&tool.findings), "");
    let skill = read::skill("SKILL.md", "sample", SKILL.as_bytes(), &|_| Beside::File);
    assert_eq!(render(&skill.findings), "");
    let surface = read::surface("chat_surface.yaml", SURFACE.as_bytes());
    assert_eq!(render(&surface.findings), "");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_to_its_end(text in "\\PC{0,60}") {
        check_all(&text)?;
    }

    #[test]
    fn a_tool_with_faults_anywhere_is_told_them(text in mutated(TOOL)) {
        check_all(&text)?;
    }

    #[test]
    fn a_skill_with_faults_anywhere_is_told_them(text in mutated(SKILL)) {
        check_all(&text)?;
    }

    #[test]
    fn a_declaration_with_faults_anywhere_is_told_them(text in mutated(SURFACE)) {
        check_all(&text)?;
    }

    #[test]
    fn any_bytes_are_read_to_their_end(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let read = read::tool("tool.yaml", "sample", &bytes, &|_| Beside::Nothing);
        prop_assert!(read.document.is_none());
        prop_assert!(!read.findings.is_empty());
    }
}
