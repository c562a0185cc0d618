//! Loading whole catalogs from real folders and from compiled-in files. Start at `catalog`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use gatelatch_manifest::diagnostic::{Severity, render};
use gatelatch_registry::catalog::{CompiledFile, Kind, Origin};
use gatelatch_registry::load::{Loaded, Source, load};
use tempfile::TempDir;

const TOOL: &str = "name: NAME\ndescription: Does it.\nruntime: python\nentrypoint: main.py\nactions:\n  - {name: read-it, description: Reads it.}\n  - {name: drop-it, description: Drops it.}\n";

/// A catalog folder with these files, paths relative to it.
fn catalog(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (path, text) in files {
        put(folder.path(), path, text);
    }
    folder
}

fn put(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn tool(name: &str) -> String {
    TOOL.replace("NAME", name)
}

fn load_folder(folder: &TempDir) -> Loaded {
    load(&[Source::Folder(folder.path().to_owned())])
}

/// The codes of all findings, in order.
fn codes(loaded: &Loaded) -> Vec<u16> {
    loaded.findings.iter().map(|finding| finding.code).collect()
}

fn names(loaded: &Loaded) -> Vec<String> {
    loaded.catalog.entries().iter().map(|entry| entry.manifest.name.clone()).collect()
}

#[test]
fn the_example_of_the_design_loads_unchanged() {
    let manifest = r#"name: xlsx
description: Read local workbooks.          # one line, plain text
version: 0.1.0
runtime: python        # python | node | process | builtin | http
entrypoint: main.py    # beside the manifest; for process a program on PATH or a path
secrets: []            # names, or {name, description, required}
actions:
  - name: read-sheet
    description: Read one sheet's rows.
    effect: read_only                       # optional; see the gate
    args:
      - {name: path, type: string, required: true, description: Workbook file}
      - {name: max-results, type: integer, description: Cap rows returned}
    output_schema: '{ "rows": [[...]] }'    # a JSON Schema with an object root, or prose kept as a hint
    examples: [{args: {path: a.xlsx}}]
    triggers: [spreadsheet, excel]          # words that people use for this
"#;
    let folder = catalog(&[("tools/xlsx/tool.yaml", manifest), ("tools/xlsx/main.py", "")]);
    let loaded = load_folder(&folder);
    assert_eq!(render(&loaded.findings), "");
    let entry = loaded.catalog.entry(Kind::Tool, "xlsx").unwrap();
    assert_eq!(entry.origin, Origin::Folder(folder.path().join("tools/xlsx")));
    assert_eq!(entry.manifest.actions[0].args[1].name, "max-results");
    assert!(entry.manifest.actions[0].idempotent && entry.manifest.actions[0].open_world);
}

#[test]
fn a_catalog_without_any_effect_loads() {
    let folder = catalog(&[("tools/a/tool.yaml", &tool("a")), ("tools/a/main.py", "")]);
    let loaded = load_folder(&folder);
    assert_eq!(render(&loaded.findings), "");
    assert_eq!(names(&loaded), ["a"]);
}

#[test]
fn a_broken_entry_is_left_out_and_the_rest_serves() {
    let folder = catalog(&[
        ("tools/a/tool.yaml", &tool("a")),
        ("tools/a/main.py", ""),
        ("tools/b/tool.yaml", "name: b\nnonsense: 1\n"),
        ("tools/c/tool.yaml", &tool("c")),
    ]);
    let loaded = load_folder(&folder);
    assert_eq!(names(&loaded), ["a"]);
    assert!(loaded.findings.iter().any(|finding| finding.code == 20));
    let missing = loaded.findings.iter().find(|finding| finding.code == 52).unwrap();
    assert_eq!(missing.position.unwrap().line, 4);
    assert!(missing.file.ends_with("tools/c/tool.yaml"));
}

#[test]
fn the_first_catalog_that_holds_a_name_wins_even_with_a_broken_entry() {
    let first =
        catalog(&[("tools/a/tool.yaml", &tool("a")), ("tools/a/main.py", ""), ("tools/b/tool.yaml", "nope: 1\n")]);
    let second = catalog(&[
        ("tools/a/tool.yaml", &tool("a")),
        ("tools/a/main.py", ""),
        ("tools/b/tool.yaml", &tool("b")),
        ("tools/b/main.py", ""),
    ]);
    let loaded = load(&[Source::Folder(first.path().to_owned()), Source::Folder(second.path().to_owned())]);
    assert_eq!(names(&loaded), ["a"]);
    assert_eq!(loaded.catalog.entries()[0].origin, Origin::Folder(first.path().join("tools/a")));
    let shadowed: Vec<_> = loaded.findings.iter().filter(|finding| finding.code == 102).collect();
    assert_eq!(shadowed.len(), 2);
    assert!(shadowed[0].file.starts_with(&second.path().display().to_string()));
    assert!(shadowed[0].message.contains(&first.path().display().to_string()), "{}", shadowed[0].message);
    assert_eq!(shadowed[0].severity, Severity::Warning);
}

#[test]
fn folders_and_compiled_in_files_load_alike() {
    static FILES: &[CompiledFile] = &[
        CompiledFile {
            path: "tools/a/tool.yaml",
            bytes: b"name: a\ndescription: A.\nruntime: python\nentrypoint: ./src/main.py\n",
        },
        CompiledFile { path: "tools/a/src/main.py", bytes: b"print()" },
        CompiledFile {
            path: "tools/b/tool.yaml",
            bytes: b"name: b\ndescription: B.\nruntime: python\nentrypoint: main.py\n",
        },
        CompiledFile { path: "tools/c/readme.md", bytes: b"" },
        CompiledFile { path: "tools/readme.md", bytes: b"" },
        CompiledFile {
            path: "skills/s/SKILL.md",
            bytes: b"---\nname: s\ndescription: S.\n---\n[a](ref) [b](ref/x.md) [c](gone.md)\n",
        },
        CompiledFile { path: "skills/s/ref/x.md", bytes: b"" },
    ];
    let folder = TempDir::new().unwrap();
    for file in FILES {
        put(folder.path(), file.path, std::str::from_utf8(file.bytes).unwrap());
    }
    let compiled = load(&[Source::Compiled(FILES)]);
    let on_disk = load_folder(&folder);
    assert_eq!(codes(&compiled), [91, 52, 101]);
    assert_eq!(codes(&compiled), codes(&on_disk));
    assert_eq!(names(&compiled), names(&on_disk));
    let Origin::Compiled(files) = &compiled.catalog.entries()[0].origin else { panic!("compiled in") };
    assert_eq!(files.iter().map(|file| file.path).collect::<Vec<_>>(), ["tool.yaml", "src/main.py"]);
    assert_eq!(compiled.catalog.skills()[0].manifest.body.lines().count(), 1);
}

#[test]
fn an_agent_that_uses_what_is_not_there_is_left_out_and_told_the_nearest_name() {
    let agent = |uses: &str| format!("name: g\ndescription: G.\nruntime: process\nentrypoint: sh\nuses: {uses}\n");
    let with = |uses: &str| {
        let folder = catalog(&[
            ("tools/files/tool.yaml", &tool("files")),
            ("tools/files/main.py", ""),
            ("tools/plain/tool.yaml", "name: plain\ndescription: P.\nruntime: process\nentrypoint: true\n"),
            ("tools/broken/tool.yaml", "x: 1\n"),
            ("agents/g/agent.yaml", &agent(uses)),
        ]);
        let loaded = load_folder(&folder);
        let uses: Vec<(u32, String)> = loaded
            .findings
            .iter()
            .filter(|finding| finding.code == 103)
            .map(|finding| {
                (
                    finding.position.unwrap().column,
                    format!("{} {}", finding.message, finding.help.as_deref().unwrap_or_default()),
                )
            })
            .collect();
        (loaded.catalog.entry(Kind::Agent, "g").is_some(), uses)
    };
    assert_eq!(with("[files, files.read-it, plain]"), (true, vec![]));
    let (there, findings) = with("[fles, files.read_it, files.drop-it, plain.x, broken]");
    assert!(!there);
    assert_eq!(findings.iter().map(|(column, _)| *column).collect::<Vec<_>>(), [8, 14, 44, 53]);
    assert!(findings[0].1.contains("did you mean `files`?"), "{}", findings[0].1);
    assert!(findings[1].1.contains("did you mean `files.read-it`?"), "{}", findings[1].1);
    assert!(findings[2].1.contains("write `plain`"), "{}", findings[2].1);
    assert!(findings[3].1.contains("is left out"), "{}", findings[3].1);
}

#[test]
fn a_catalog_that_is_missing_or_no_folder_or_empty_is_told() {
    let folder = catalog(&[("file", "")]);
    let at = |path: &str| codes(&load(&[Source::Folder(folder.path().join(path))]));
    assert_eq!(at("gone"), [100]);
    assert_eq!(at("file"), [100]);
    assert_eq!(codes(&load_folder(&folder)), [104]);
}

#[test]
fn a_folder_without_a_manifest_is_told_with_the_name_that_was_meant() {
    let folder = catalog(&[
        ("tools/a/tool.yml", ""),
        ("tools/b/main.py", ""),
        ("tools/.hidden/x", ""),
        ("tools/README.md", ""),
        ("tools/c.yaml", ""),
        ("skills/s/skill.md", ""),
    ]);
    let loaded = load_folder(&folder);
    assert_eq!(codes(&loaded), [101, 101, 101, 101]);
    let helps: Vec<&str> = loaded.findings.iter().filter_map(|finding| finding.help.as_deref()).collect();
    assert_eq!(helps[0], "rename `skill.md` to `SKILL.md`");
    assert_eq!(helps[1], "rename `tool.yml` to `tool.yaml`");
    assert_eq!(helps[3], "move it to `tools/<name>/tool.yaml`");
}

#[test]
fn a_manifest_beyond_1_mib_is_not_even_read() {
    let folder = catalog(&[("tools/a/tool.yaml", "")]);
    let file = fs::OpenOptions::new().write(true).open(folder.path().join("tools/a/tool.yaml")).unwrap();
    // Sparse: a terabyte that would fill the memory if it were read.
    file.set_len(1 << 40).unwrap();
    assert_eq!(codes(&load_folder(&folder)), [1]);
}

#[cfg(unix)]
#[test]
fn links_that_lead_somewhere_are_followed_and_the_others_are_told() {
    let elsewhere = catalog(&[("a/tool.yaml", &tool("a")), ("a/main.py", "")]);
    let folder = catalog(&[("tools/README", ""), ("tools/d/tool.yaml/x", "")]);
    let link = |to: &Path, name: &str| std::os::unix::fs::symlink(to, folder.path().join("tools").join(name)).unwrap();
    link(&elsewhere.path().join("a"), "a");
    link(&elsewhere.path().join("gone"), "b");
    link(Path::new("c"), "c");
    let loaded = load_folder(&folder);
    assert_eq!(names(&loaded), ["a"]);
    assert_eq!(codes(&loaded), [105, 105, 105], "{}", render(&loaded.findings));
}

#[test]
fn loading_twice_gives_the_same() {
    let folder = catalog(&[
        ("tools/b/tool.yaml", &tool("b")),
        ("tools/b/main.py", ""),
        ("tools/a/tool.yaml", "x: 1"),
        ("agents/z/agent.yaml", "x: 1"),
        ("skills/q/SKILL.md", "x"),
    ]);
    let (one, other) = (load_folder(&folder), load_folder(&folder));
    assert_eq!(one.findings, other.findings);
    assert_eq!(names(&one), names(&other));
}

/// A tool of five actions with arguments, triggers, examples and output schemas, as catalogs have them.
fn large_tool(name: &str) -> String {
    let action = |n: usize| {
        format!(
            "  - name: list-things-{n}\n    description: Lists the things of kind {n}, page by page.\n    args:\n      \
             - {{name: path, type: path, required: true, description: Workbook to read from}}\n      \
             - {{name: max-results, type: integer, minimum: 1, maximum: 100, description: Cap rows returned}}\n      \
             - {{name: filter, type: string, pattern: '^[a-z]\\w{{0,40}}$', description: A column's name}}\n    \
             output_schema: '{{\"type\": \"object\", \"properties\": {{\"rows\": {{\"type\": \"array\"}}}}}}'\n    \
             examples: [{{args: {{path: a.xlsx, filter: amount}}}}]\n    triggers: [spreadsheet, excel]\n"
        )
    };
    let head = "description: Reads workbooks.\nversion: 1.0.0\nruntime: python\nentrypoint: main.py\nactions:\n";
    format!("name: {name}\n{head}{}", (0..5).map(action).collect::<String>())
}

#[test]
fn three_hundred_tools_load_quickly_and_in_order() {
    let folder = TempDir::new().unwrap();
    let names: Vec<String> = (0..300).map(|n| format!("tool-{n:03}")).collect();
    for name in &names {
        put(folder.path(), &format!("tools/{name}/tool.yaml"), &large_tool(name));
        put(folder.path(), &format!("tools/{name}/main.py"), "");
    }
    let mut best = Duration::MAX;
    for _ in 0..5 {
        let start = Instant::now();
        let loaded = load_folder(&folder);
        best = best.min(start.elapsed());
        assert_eq!(render(&loaded.findings), "");
        assert_eq!(self::names(&loaded), names);
    }
    println!("300 tools of {} bytes each: {best:?}", large_tool("tool-000").len());
    // A tenth of a second is far above what a release build needs and far below what a person notices.
    let most = Duration::from_millis(if cfg!(debug_assertions) { 2500 } else { 100 });
    assert!(best < most, "{best:?}");
}
