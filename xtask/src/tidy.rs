//! The habits that a test can keep: the dependency table, file headers, where dependencies come from.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package};

use crate::step::root;

fn metadata() -> Metadata {
    MetadataCommand::new().current_dir(root()).other_options(["--locked".to_owned()]).exec().unwrap()
}

/// Our own packages by the folder that the table names them by: `crates/gate`, `surfaces/operator`, `xtask`.
fn own(metadata: &Metadata) -> BTreeMap<String, &Package> {
    let root = root().canonicalize().unwrap();
    let folder = |package: &Package| {
        let folder = package.manifest_path.parent().unwrap().as_std_path().canonicalize().unwrap();
        folder.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/")
    };
    metadata.workspace_packages().into_iter().map(|package| (folder(package), package)).collect()
}

/// The rows of the table in docs/ARCHITECTURE.md: folder to what it may depend on, as written.
fn table() -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(root().join("docs/ARCHITECTURE.md")).unwrap();
    let rows = text.lines().filter_map(|line| {
        let cells: Vec<&str> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
        let folder = cells.first()?.strip_prefix('`')?.strip_suffix('`')?;
        (cells.len() == 3 && (folder.contains('/') || folder == "xtask"))
            .then(|| (folder.to_owned(), cells[2].to_owned()))
    });
    rows.collect()
}

/// The folders that a table cell allows, with `all above but`, `and below`, `everything` spelled out.
fn allowed(cell: &str, folder: &str, order: &[String]) -> BTreeSet<String> {
    let named = |text: &str| -> Vec<String> {
        let words = text.split('`').skip(1).step_by(2);
        words.map(|word| if word.contains('/') { word.to_owned() } else { format!("crates/{word}") }).collect()
    };
    let crates = || order.iter().filter(|name| name.starts_with("crates/")).cloned();
    if cell == "everything" || cell == "anything" {
        return order.iter().cloned().collect();
    }
    if let Some(but) = cell.strip_prefix("all above but ") {
        let out = named(but);
        return order.iter().take_while(|name| *name != folder).filter(|name| !out.contains(name)).cloned().collect();
    }
    let mut allowed: BTreeSet<String> = named(cell).into_iter().collect();
    if cell.contains("and below") {
        let bridge = order.iter().position(|name| name == "crates/bridge").unwrap();
        allowed.extend(crates().filter(|name| order.iter().position(|other| other == name).unwrap() <= bridge));
    }
    allowed
}

#[test]
fn every_crate_depends_only_on_what_the_table_allows() {
    let metadata = metadata();
    let own = own(&metadata);
    let table = table();
    let text = std::fs::read_to_string(root().join("docs/ARCHITECTURE.md")).unwrap();
    let mut order: Vec<String> = table.keys().cloned().collect();
    order.sort_by_key(|name| text.find(&format!("| `{name}` |")));
    let folder_of: BTreeMap<&str, &str> =
        own.iter().map(|(folder, package)| (package.name.as_str(), folder.as_str())).collect();
    for (folder, package) in &own {
        let cell =
            table.get(folder).unwrap_or_else(|| panic!("`{folder}` is not in the table of docs/ARCHITECTURE.md"));
        let allowed = allowed(cell, folder, &order);
        for dependency in package.dependencies.iter().filter(|dependency| dependency.kind == DependencyKind::Normal) {
            if let Some(target) = folder_of.get(dependency.name.as_str()) {
                assert!(allowed.contains(*target), "`{folder}` depends on `{target}`; the table allows {allowed:?}");
            }
        }
        assert_eq!(package.name.as_str(), format!("gatelatch-{}", folder.rsplit('/').next().unwrap()));
    }
}

#[test]
fn only_protocol_knows_rmcp_and_only_spawn_starts_programs_through_tokio() {
    let metadata = metadata();
    for (folder, package) in own(&metadata) {
        let names: Vec<&str> = package.dependencies.iter().map(|dependency| dependency.name.as_str()).collect();
        assert!(folder == "crates/protocol" || !names.contains(&"rmcp"), "`{folder}` depends on rmcp");
    }
}

#[test]
fn every_dependency_has_a_licence_that_may_be_shipped_and_comes_from_the_registry() {
    const FREE: [&str; 15] = [
        "MIT",
        "Apache-2.0",
        "Apache-2.0 WITH LLVM-exception",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "ISC",
        "Zlib",
        "0BSD",
        "Unlicense",
        "Unicode-3.0",
        "MIT-0",
        "CC0-1.0",
        "BSL-1.0",
        "Unicode-DFS-2016",
        "CDLA-Permissive-2.0",
    ];
    let metadata = metadata();
    for package in &metadata.packages {
        if metadata.workspace_members.contains(&package.id) {
            continue;
        }
        let source = package.source.as_ref().map(ToString::to_string).unwrap_or_default();
        assert!(source.starts_with("registry+"), "`{}` does not come from the registry: {source}", package.name);
        let licence = package.license.clone().unwrap_or_default().replace('/', " OR ");
        let may_ship = licence.split(" OR ").any(|choice| {
            choice.split(" AND ").all(|part| FREE.contains(&part.trim_matches(|c| c == '(' || c == ')' || c == ' ')))
        });
        assert!(may_ship, "`{}` has the licence `{licence}`", package.name);
    }
}

#[test]
fn every_dependency_has_its_reason_written_down() {
    let text = std::fs::read_to_string(root().join("docs/decisions/dependencies.md")).unwrap();
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let section = manifest.split("[workspace.dependencies]").nth(1).unwrap().split("\n[").next().unwrap();
    let names = section.lines().filter_map(|line| line.split_once(" = ").map(|(name, _)| name.trim()));
    for name in names.filter(|name| !name.starts_with("gatelatch-") && !name.starts_with('#')) {
        assert!(text.contains(&format!("| `{name}` |")), "docs/decisions/dependencies.md has no line for `{name}`");
    }
}

#[test]
fn every_source_file_opens_with_what_it_owns_and_has_a_name_that_says_something() {
    const NAMELESS: [&str; 8] =
        ["utils.rs", "util.rs", "common.rs", "core.rs", "helpers.rs", "misc.rs", "types.rs", "mod.rs"];
    let mut files = Vec::new();
    for folder in ["crates", "surfaces", "xtask"] {
        gather(&root().join(folder), &mut files);
    }
    assert!(files.len() > 30, "only {} files found", files.len());
    for file in files {
        // A compile-fail case is a fragment whose error is the point.
        if file.components().any(|part| part.as_os_str() == "forge") {
            continue;
        }
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.starts_with("//! "), "{} does not open with `//! `", file.display());
        let name = file.file_name().unwrap().to_string_lossy();
        assert!(!NAMELESS.contains(&name.as_ref()), "{} names nothing", file.display());
    }
}

#[test]
fn documents_speak_of_the_project_alone_and_their_links_lead_somewhere() {
    let mut pages = vec![root().join("README.md"), root().join("CONTRIBUTING.md"), root().join("CHANGELOG.md")];
    gather_pages(&root().join("docs"), &mut pages);
    for page in pages {
        let text = std::fs::read_to_string(&page).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if link.contains("://") || link.starts_with('#') {
                continue;
            }
            let target = page.parent().unwrap().join(link.split('#').next().unwrap());
            assert!(target.exists(), "{} links to `{link}`, which is not there", page.display());
        }
    }
}

fn gather(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() && path.file_name().is_some_and(|name| name != "target") {
            gather(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

fn gather_pages(folder: &Path, pages: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            gather_pages(&path, pages);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
}
