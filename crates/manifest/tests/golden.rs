//! Every rule has a manifest that breaks it, beside what is said about it; manifests that break none are beside the
//! document that they give.
//!
//! `golden/err/CASE` and `golden/ok/CASE` each hold an entry as its folder would (the folder is taken to be called
//! `sample`) and what reading it gives: `findings.txt` or `document.txt`. With `UPDATE_GOLDEN=1` the latter are
//! written anew. Start at [`check`].
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::collections::BTreeSet;
use std::fmt::{Debug, Write as _};
use std::fs;
use std::path::{Path, PathBuf};

use gatelatch_manifest::diagnostic::{Diagnostic, Severity, render};
use gatelatch_manifest::read::{self, Beside, Read};
use gatelatch_manifest::rule::RULES;
use serde_json::Value;

/// What reading a case's manifest gave.
struct Outcome {
    /// The document, written out; `None` when there is none.
    document: Option<String>,
    findings: Vec<Diagnostic>,
}

fn outcome<T: Debug>(read: Read<T>) -> Outcome {
    Outcome { document: read.document.map(|document| format!("{document:#?}\n")), findings: read.findings }
}

fn read_case(case: &Path) -> Outcome {
    let beside = |path: &str| match fs::metadata(case.join(path)) {
        Ok(found) if found.is_file() => Beside::File,
        Ok(_) => Beside::Folder,
        Err(_) => Beside::Nothing,
    };
    let bytes = |file: &str| fs::read(case.join(file)).ok();
    if let Some(bytes) = bytes("tool.yaml") {
        outcome(read::tool("tool.yaml", "sample", &bytes, &beside))
    } else if let Some(bytes) = bytes("agent.yaml") {
        outcome(read::agent("agent.yaml", "sample", &bytes, &beside))
    } else if let Some(bytes) = bytes("chat_surface.yaml") {
        outcome(read::surface("chat_surface.yaml", &bytes))
    } else {
        outcome(read::skill("SKILL.md", "sample", &bytes("SKILL.md").expect("a manifest"), &beside))
    }
}

fn cases(kind: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(kind);
    let mut cases: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|case| case.unwrap().path()).collect();
    cases.sort();
    cases
}

#[expect(clippy::disallowed_methods, reason = "a test's own switch, read nowhere else")]
fn updating() -> bool {
    std::env::var_os("UPDATE_GOLDEN").is_some()
}

/// Holds every case of a kind against its file and returns the outcomes.
fn check(kind: &str, file: &str, told: impl Fn(&Outcome) -> String) -> Vec<(PathBuf, Outcome)> {
    let mut wrong = String::new();
    let outcomes: Vec<(PathBuf, Outcome)> =
        cases(kind).into_iter().map(|case| (case.clone(), read_case(&case))).collect();
    for (case, outcome) in &outcomes {
        let told = told(outcome);
        let path = case.join(file);
        if updating() {
            fs::write(&path, &told).unwrap();
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        if expected != told {
            writeln!(wrong, "== {}\n-- expected\n{expected}\n-- told\n{told}", case.display()).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    outcomes
}

#[test]
fn every_wrong_manifest_is_told_as_its_golden_file_says() {
    let outcomes = check("err", "findings.txt", |outcome| render(&outcome.findings));
    for (case, outcome) in outcomes {
        let broken = outcome.findings.iter().any(|finding| finding.severity == Severity::Error);
        assert_eq!(outcome.document.is_none(), broken, "an error, and only an error, leaves out {}", case.display());
    }
}

#[test]
fn every_right_manifest_gives_the_document_of_its_golden_file_without_a_finding() {
    let outcomes = check("ok", "document.txt", |outcome| outcome.document.clone().unwrap_or_default());
    for (case, outcome) in outcomes {
        assert_eq!(render(&outcome.findings), "", "{}", case.display());
    }
}

/// The schemas for editors, which `cargo xtask codegen` makes of the same tables, and the files that each is for.
const EDITORS: [(&str, &str); 3] = [
    ("tool.schema.json", "tool.yaml"),
    ("agent.schema.json", "agent.yaml"),
    ("chat_surface.schema.json", "chat_surface.yaml"),
];

#[test]
fn an_editor_complains_of_no_right_file_and_of_unknown_keys() {
    let reference = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference");
    for (schema, file) in EDITORS {
        let schema: Value = serde_json::from_str(&fs::read_to_string(reference.join(schema)).unwrap()).unwrap();
        let validator = gatelatch_manifest::schema::validator(&schema).unwrap();
        let mut seen = 0;
        for case in cases("ok") {
            let Ok(text) = fs::read_to_string(case.join(file)) else { continue };
            let mut value: Value = serde_saphyr::from_str(&text).unwrap();
            let faults: Vec<String> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
            assert_eq!(faults, Vec::<String>::new(), "{}", case.display());
            value.as_object_mut().unwrap().insert("unknwon".to_owned(), Value::Null);
            assert!(!validator.is_valid(&value), "{}", case.display());
            seen += 1;
        }
        assert!(seen > 0, "{file}");
    }
}

/// What no golden file can hold for its size.
fn large_cases() -> [Read<gatelatch_manifest::document::EntryManifest>; 2] {
    let read = |text: String| read::tool("tool.yaml", "sample", text.as_bytes(), &|_| Beside::Nothing);
    [read("#".repeat(read::MOST_BYTES + 1)), read((0..300).map(|n| format!("k{n}: x\n")).collect())]
}

#[test]
fn a_file_with_too_many_findings_says_that_not_all_are_shown() {
    let [_, read] = large_cases();
    assert_eq!(read.findings.len(), 201);
    let last = read.findings.last().unwrap();
    assert_eq!((last.code, last.message.as_str()), (13, "only 200 findings are shown"));
    assert!(read.document.is_none());
}

/// Codes from 100 to 109 and from 140 are about more than one file.
fn is_of_one_file(code: u16) -> bool {
    code < 100 || (110..140).contains(&code)
}

#[test]
fn every_rule_of_one_file_has_a_case_named_after_it() {
    let cases = cases("err");
    let mut found: BTreeSet<u16> =
        large_cases().iter().flat_map(|read| &read.findings).map(|finding| finding.code).collect();
    for rule in RULES {
        let own = cases.iter().find(|case| case.file_name().is_some_and(|name| name == rule.name));
        let breaks = own.is_some_and(|case| read_case(case).findings.iter().any(|finding| finding.code == rule.code));
        found.extend(breaks.then_some(rule.code));
    }
    let missing: Vec<&str> = RULES
        .iter()
        .filter(|rule| is_of_one_file(rule.code) && !found.contains(&rule.code))
        .map(|rule| rule.name)
        .collect();
    assert_eq!(missing, Vec::<&str>::new());
}
