//! The golden cases: two lists and what is said about the change from one to the other, one file each.
//!
//! A case is a review's view of a rule. Start at the folder `golden`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use gatelatch_contract::change::ChangeKind;
use gatelatch_contract::diff::{Diff, diff};
use gatelatch_contract::level::Level;
use gatelatch_contract::list::ToolList;
use serde_json::Value;

fn cases() -> Vec<(PathBuf, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let read = |path: PathBuf| {
        let case = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        (path, case)
    };
    paths.into_iter().map(read).collect()
}

fn difference(case: &Value) -> Diff {
    diff(&ToolList::of_array(&case["old"]).unwrap(), &ToolList::of_array(&case["new"]).unwrap())
}

#[test]
fn every_golden_change_is_classified_and_told_as_its_file_says() {
    let cases = cases();
    assert!(cases.len() >= 40, "only {} cases were found", cases.len());
    let mut wrong = Vec::new();
    for (path, case) in cases {
        let told: Vec<String> = difference(&case).changes().iter().map(ToString::to_string).collect();
        if serde_json::json!(told) != case["expected"] {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            wrong.push(format!("{name}\t{}", serde_json::json!(told)));
        }
    }
    assert!(wrong.is_empty(), "{} cases are told otherwise:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_golden_cases_go_through_every_level() {
    let levels: BTreeSet<Option<Level>> = cases().iter().map(|(_, case)| difference(case).level()).collect();
    assert_eq!(levels, [None, Some(Level::Patch), Some(Level::Minor), Some(Level::Major)].into());
}

#[test]
fn every_kind_of_change_has_a_golden_case() {
    let told: BTreeSet<ChangeKind> = cases()
        .iter()
        .flat_map(|(_, case)| difference(case).changes().iter().map(|change| change.kind).collect::<Vec<_>>())
        .collect();
    let untold: Vec<&str> =
        ChangeKind::ALL.into_iter().filter(|kind| !told.contains(kind)).map(|kind| kind.rule().name).collect();
    assert_eq!(untold, Vec::<&str>::new());
}
