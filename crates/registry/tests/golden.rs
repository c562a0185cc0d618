//! Catalogs that break every rule about catalogs, beside what is said about them.
//!
//! `golden/` holds three folders that are loaded as catalogs, in the order `first`, `second`, `empty`, `gone` (which is
//! not there), and `findings.txt`. With `UPDATE_GOLDEN=1` the latter is written anew.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use gatelatch_manifest::diagnostic::render;
use gatelatch_manifest::rule::RULES;
use gatelatch_registry::load::{Loaded, Source, load};

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join("golden")
}

fn loaded() -> Loaded {
    load(&["first", "second", "empty", "gone"].map(|name| Source::Folder(golden().join(name))))
}

#[expect(clippy::disallowed_methods, reason = "a test's own switch, read nowhere else")]
fn updating() -> bool {
    std::env::var_os("UPDATE_GOLDEN").is_some()
}

#[test]
fn what_is_wrong_with_catalogs_is_told_as_the_golden_file_says() {
    let told = render(&loaded().findings).replace(&golden().display().to_string(), "golden").replace('\\', "/");
    let path = golden().join("findings.txt");
    if updating() {
        fs::write(&path, &told).unwrap();
    }
    assert_eq!(told, fs::read_to_string(&path).unwrap());
}

#[test]
fn what_is_right_loads_all_the_same() {
    let catalog = loaded().catalog;
    let names: Vec<&str> = catalog.entries().iter().map(|entry| entry.manifest.name.as_str()).collect();
    assert_eq!(names, ["files", "helper"]);
    assert_eq!(catalog.entries()[0].manifest.entrypoint, "files", "the first catalog wins");
    assert_eq!(catalog.skills()[0].manifest.name, "files");
}

#[test]
fn every_rule_about_catalogs_has_a_case() {
    let about_catalogs = 100..110;
    let found: BTreeSet<u16> = loaded().findings.iter().map(|finding| finding.code).collect();
    let missing: Vec<&str> = RULES
        .iter()
        .filter(|rule| about_catalogs.contains(&rule.code) && !found.contains(&rule.code))
        .map(|rule| rule.name)
        .collect();
    assert_eq!(missing, Vec::<&str>::new());
}
