//! The catalog that ships: it loads without a finding, its calls are ruled as they should be, its samples are real calls.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::fs;
use std::path::{Path, PathBuf};

use gatelatch_gate::decision::ruling;
use gatelatch_gate::declaration::loosenings;
use gatelatch_manifest::reference;
use gatelatch_registry::arguments::Arguments;
use gatelatch_registry::catalog::{Effect, OutputManifest, Runtime};
use gatelatch_registry::load::{Loaded, Source, load};
use serde_json::Value;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../manifests")
}

fn shipped() -> Loaded {
    load(&[Source::Folder(folder())])
}

/// Every file below the shipped catalog.
fn files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files
}

#[test]
fn it_loads_without_a_finding() {
    let loaded = shipped();
    let findings: Vec<String> = loaded.findings.iter().map(ToString::to_string).collect();
    assert_eq!(findings, Vec::<String>::new());
    let entries: Vec<&str> = loaded.catalog.entries().iter().map(|entry| entry.manifest.name.as_str()).collect();
    assert_eq!(entries, ["hello-world", "outbox", "xlsx", "describe-workbook"]);
    let skills: Vec<&str> = loaded.catalog.skills().iter().map(|skill| skill.manifest.name.as_str()).collect();
    assert_eq!(skills, ["read-a-workbook", "write-a-manifest"]);
}

#[test]
fn only_sending_and_deleting_need_a_human() {
    let catalog = shipped().catalog;
    let mut lines = Vec::new();
    for entry in catalog.entries() {
        for action in &entry.manifest.actions {
            let ruling = ruling(&catalog, entry, action);
            assert_eq!(ruling.needs_human, ruling.effect == Effect::Irreversible);
            lines.push(format!("{} {} {}", entry.manifest.name, action.name.as_deref().unwrap_or("-"), ruling.effect));
        }
    }
    assert_eq!(
        lines,
        [
            "hello-world - read_only",
            "outbox list-messages read_only",
            "outbox draft-message reversible",
            "outbox send-message irreversible",
            "outbox delete-messages irreversible",
            "xlsx list-sheets read_only",
            "xlsx read-sheet read_only",
            "xlsx search read_only",
            "xlsx describe read_only",
            "xlsx dump read_only",
            "xlsx save-dump reversible",
            "describe-workbook - read_only",
        ]
    );
}

#[test]
fn every_effect_is_declared_and_every_loosening_is_on_the_list() {
    let catalog = shipped().catalog;
    for entry in catalog.entries() {
        for action in &entry.manifest.actions {
            assert!(action.effect.is_some(), "{}", entry.manifest.name);
        }
    }
    let found: Vec<String> = loosenings(&catalog).iter().map(ToString::to_string).collect();
    let list = fs::read_to_string(folder().join("loosenings.txt")).unwrap();
    let listed: Vec<&str> = list.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(found, listed);
}

#[test]
#[allow(clippy::disallowed_methods, reason = "a test starts the tests of the Python tools")]
fn the_python_tools_keep_their_own_promises() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python");
    let mut command = std::process::Command::new("python3");
    command.args(["-B", "-m", "unittest", "discover", "-s"]).arg(tests);
    let output = command.output().expect("python3 is needed for the tools that ship");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    assert!(told.contains("Ran ") && !told.contains("Ran 0 tests"), "{told}");
}

#[test]
fn every_action_has_an_example_that_is_a_real_call_and_promises_what_it_gives() {
    for entry in shipped().catalog.entries() {
        for action in &entry.manifest.actions {
            let name = format!("{} {}", entry.manifest.name, action.name.as_deref().unwrap_or("-"));
            assert!(!action.examples.is_empty(), "{name}");
            for example in &action.examples {
                let arguments = Arguments::parse(action, &Value::Object(example.args.clone()));
                assert!(arguments.is_ok(), "{name}: {arguments:?}");
            }
            assert!(matches!(action.output, Some(OutputManifest::Schema(_))), "{name}");
            for argument in &action.narrow_with {
                assert!(action.args.iter().any(|known| known.name == *argument), "{name}: {argument}");
            }
        }
    }
}

#[test]
fn what_a_model_reads_is_plain_ascii() {
    for path in files() {
        let text = fs::read_to_string(&path).unwrap();
        let odd = text.chars().find(|c| !(c.is_ascii_graphic() || *c == ' ' || *c == '\n'));
        assert_eq!(odd, None, "{}", path.display());
    }
}

#[test]
fn only_what_the_catalog_needs_is_compiled_in() {
    for path in files() {
        let extension = path.extension().and_then(|extension| extension.to_str());
        assert!(matches!(extension, Some("yaml" | "py" | "md" | "txt")), "{}", path.display());
        assert!(!path.to_string_lossy().contains("__pycache__"), "{}", path.display());
    }
}

#[test]
fn skills_are_short_and_name_only_files_that_are_there() {
    for skill in shipped().catalog.skills() {
        let folder = folder().join("skills").join(&skill.manifest.name);
        assert!(skill.manifest.body.lines().count() <= 120, "{}", skill.manifest.name);
        for word in skill.manifest.body.split(['`', '(', ')', ' ', '\n']) {
            if word.starts_with("references/") {
                assert!(folder.join(word).is_file(), "{}: {word}", skill.manifest.name);
            }
        }
    }
}

#[test]
fn the_manifests_in_a_skill_load_as_they_stand() {
    let text = fs::read_to_string(folder().join("skills/write-a-manifest/SKILL.md")).unwrap();
    let (_, rest) = text.split_once("```yaml\n").unwrap();
    let (manifest, _) = rest.split_once("```").unwrap();
    let catalog = tempfile::tempdir().unwrap();
    let tool = catalog.path().join("tools/tickets");
    fs::create_dir_all(&tool).unwrap();
    fs::write(tool.join("tool.yaml"), manifest).unwrap();
    fs::write(tool.join("main.py"), "").unwrap();
    let loaded = load(&[Source::Folder(catalog.path().to_path_buf())]);
    let findings: Vec<String> = loaded.findings.iter().map(ToString::to_string).collect();
    assert_eq!(findings, Vec::<String>::new());
    let entry = &loaded.catalog.entries()[0];
    assert_eq!(entry.manifest.runtime, Runtime::Python);
    let effects: Vec<Effect> =
        entry.manifest.actions.iter().map(|action| ruling(&loaded.catalog, entry, action).effect).collect();
    assert_eq!(effects, [Effect::ReadOnly, Effect::Irreversible]);
}

#[test]
fn the_skills_table_of_keys_has_every_key_that_a_manifest_knows() {
    let table = fs::read_to_string(folder().join("skills/write-a-manifest/references/manifest-keys.md")).unwrap();
    for block in [&reference::AGENT, &reference::ACTION, &reference::ARGUMENT] {
        for key in block.keys() {
            let told = table.contains(&format!("`{}`", key.name)) || table.contains(&format!("`{}:", key.name));
            assert!(told, "{} {}", block.name, key.name);
        }
    }
}
