//! Every rule about what a declaration and a catalog must agree on has a declaration that breaks it, beside what is said
//! about it and what is served then.
//!
//! `golden/CASE` holds a declaration and `findings.txt`; all are held against `golden/catalog`. With `UPDATE_GOLDEN=1`
//! the latter are written anew.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use gatelatch_bridge::bridge::Broken;
use gatelatch_chat::link::{Declaration, Linked, link};
use gatelatch_manifest::diagnostic::{Diagnostic, render};
use gatelatch_manifest::read;
use gatelatch_manifest::rule::RULES;
use gatelatch_registry::catalog::Kind;
use gatelatch_registry::load::{Loaded, Source, load};

/// Relative, so that findings read the same wherever the repository lies.
const CATALOG: &str = "tests/golden/catalog";

fn cases() -> Vec<PathBuf> {
    let folders = fs::read_dir("tests/golden").unwrap().map(|case| case.unwrap().path());
    let mut cases: Vec<PathBuf> = folders.filter(|case| !case.ends_with("catalog")).collect();
    cases.sort();
    cases
}

fn broken(finding: &Diagnostic) -> Broken {
    let name = Path::new(&finding.file).parent().unwrap().file_name().unwrap().to_string_lossy().into_owned();
    let at = finding.position.unwrap();
    let why = format!("{}:{}:{}: {}", finding.file, at.line, at.column, finding.message);
    Broken { kind: Kind::Tool, name, why }
}

fn link_case(case: &Path) -> Linked {
    let text = fs::read_to_string(case.join("chat_surface.yaml")).unwrap();
    let read = read::surface("chat_surface.yaml", text.as_bytes());
    let manifest = read.document.unwrap_or_else(|| panic!("{}\n{}", case.display(), render(&read.findings)));
    let Loaded { catalog, findings } = load(&[Source::Folder(CATALOG.into())]);
    let broken: Vec<Broken> = findings.iter().take(1).map(broken).collect();
    link(&Declaration { file: "chat_surface.yaml", text: &text, manifest: &manifest }, &catalog, &broken)
}

#[expect(clippy::disallowed_methods, reason = "a test's own switch, read nowhere else")]
fn updating() -> bool {
    std::env::var_os("UPDATE_GOLDEN").is_some()
}

#[test]
fn every_disagreement_is_told_as_its_golden_file_says_and_only_its_tool_is_left_out() {
    let mut wrong = String::new();
    for case in cases() {
        let linked = link_case(&case);
        let served: Vec<&str> = linked.tools.iter().map(|tool| tool.published().name.as_str()).collect();
        let told = format!(
            "{}served: {}\nleft out: {}\n",
            render(&linked.findings).replace('\\', "/"),
            served.join(", "),
            linked.left_out.join(", ")
        );
        let path = case.join("findings.txt");
        if updating() {
            fs::write(&path, &told).unwrap();
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        if expected != told {
            writeln!(wrong, "== {}\n-- expected\n{expected}\n-- told\n{told}", case.display()).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn every_rule_of_declaration_and_catalog_has_a_case_named_after_it() {
    let rules = RULES.iter().filter(|rule| (140..160).contains(&rule.code));
    let lacking = rules.filter(|rule| {
        let case = Path::new("tests/golden").join(rule.name);
        !case.is_dir() || link_case(&case).findings.iter().all(|finding| finding.code != rule.code)
    });
    assert_eq!(lacking.map(|rule| rule.name).collect::<Vec<_>>(), Vec::<&str>::new());
}

#[test]
fn every_finding_names_a_line_of_the_declaration_and_one_of_the_manifest_where_there_is_one() {
    for case in cases() {
        for finding in link_case(&case).findings {
            assert!(finding.position.is_some_and(|at| at.line > 3), "{finding}");
            // What the catalog lacks, and where a declaration contradicts itself, has no place in a manifest.
            let has_place = finding.message.contains("tool.yaml:") || finding.message.contains("agent.yaml:");
            let of_declaration = ["the catalog has no", "does not fit the output schema", "`/folder`"];
            assert!(has_place || of_declaration.iter().any(|part| finding.message.contains(part)), "{finding}");
        }
    }
}
