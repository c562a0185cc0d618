//! Every example in a document is run: commands, manifests, settings, JSON.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

#[path = "harness/server.rs"]
#[allow(dead_code, reason = "each test file uses its part")]
mod server;

use std::path::{Path, PathBuf};

use server::Bench;

struct Block {
    page: String,
    info: String,
    text: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The fenced blocks of the README and of every page in docs/.
fn blocks() -> Vec<Block> {
    let mut pages = vec![root().join("README.md")];
    let mut folders = vec![root().join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    let mut blocks = Vec::new();
    for page in pages {
        let text = std::fs::read_to_string(&page).unwrap();
        let mut open: Option<Block> = None;
        for line in text.lines() {
            match (&mut open, line.strip_prefix("```")) {
                (None, Some(info)) => {
                    open = Some(Block { page: page.display().to_string(), info: info.to_owned(), text: String::new() });
                }
                (Some(_), Some(_)) => blocks.extend(open.take()),
                (Some(block), None) => {
                    block.text.push_str(line);
                    block.text.push('\n');
                }
                (None, None) => {}
            }
        }
        assert!(open.is_none(), "{} ends inside a block", page.display());
    }
    blocks
}

/// The words of a command line as a shell would split them: double quotes group, nothing else is special.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut quoted, mut any) = (String::new(), false, false);
    for character in line.chars() {
        match character {
            '"' => (quoted, any) = (!quoted, true),
            ' ' if !quoted => {
                if any {
                    words.push(std::mem::take(&mut word));
                }
                any = false;
            }
            other => {
                word.push(other);
                any = true;
            }
        }
    }
    if any {
        words.push(word);
    }
    words
}

/// A folder in which the documents' commands mean something: the README's own catalog beside them.
fn bench() -> Bench {
    // Where a document starts a server, it is found as an installed one is.
    let program = Path::new(env!("CARGO_BIN_EXE_gatelatch")).parent().unwrap().to_owned();
    #[expect(clippy::disallowed_methods, reason = "a test finds programs where whoever runs it does")]
    let path = std::env::var_os("PATH").unwrap();
    let bench = Bench::new()
        .set("PATH", std::env::join_paths([program].into_iter().chain(std::env::split_paths(&path))).unwrap());
    for block in blocks().iter().filter(|block| block.page.ends_with("README.md")) {
        match block.info.split_once(' ') {
            Some(("yaml", path)) => bench.write(&format!("mine/{path}"), &block.text),
            Some(("python", path)) => bench.write(path, &block.text),
            _ => {}
        }
    }
    bench
}

#[test]
fn every_command_in_a_document_ends_as_the_document_says() {
    let mut pages: Vec<(Bench, Vec<Block>)> = Vec::new();
    for block in blocks() {
        match pages.last_mut().filter(|(_, known)| known.iter().all(|known| known.page == block.page)) {
            Some((_, known)) => known.push(block),
            None => pages.push((bench(), vec![block])),
        }
    }
    let ran: usize = pages.iter().flat_map(|(bench, blocks)| blocks.iter().map(move |block| play(bench, block))).sum();
    assert!(ran >= 8, "only {ran} commands");
}

/// Does what a block says, in the order of its page: `console` runs, `python PATH`, `sh PATH` and `json PATH` write, `yaml mine/PATH`
/// and `yaml PATH` write into the catalog `mine`, `diff PATH` edits, `text = PATH` shows what a file holds by then. How
/// many commands it ran.
fn play(bench: &Bench, block: &Block) -> usize {
    match block.info.split_once(' ') {
        Some(("python" | "sh" | "json", path)) => bench.write(path, &block.text),
        Some(("yaml", path)) => bench.write(&format!("mine/{}", path.trim_start_matches("mine/")), &block.text),
        Some(("diff", path)) => edit(bench, block, path),
        Some(("text", place)) => {
            let path = place.strip_prefix("= ").unwrap_or_else(|| panic!("{}: {place}", block.page));
            let held = std::fs::read_to_string(bench.path(path)).unwrap();
            assert_eq!(held, block.text, "{}: {path}", block.page);
        }
        _ if block.info.starts_with("console") => return run(bench, block),
        _ => {}
    }
    0
}

/// Replaces the lines of a file that begin as a `-` line says; the `+` line stands for that beginning. Lines that a block
/// of `-` lines alone names are taken out.
fn edit(bench: &Bench, block: &Block, path: &str) {
    let lines: Vec<&str> = block.text.lines().collect();
    if lines.iter().all(|line| line.starts_with('-')) {
        let mut text = std::fs::read_to_string(bench.path(path)).unwrap();
        for line in lines {
            let line = format!("\n{}\n", &line[1..]);
            assert_eq!(text.matches(&line).count(), 1, "{}: `{line}` in {path}\n{text}", block.page);
            text = text.replace(&line, "\n");
        }
        return bench.write(path, &text);
    }
    let [old, new] = lines.as_slice() else { panic!("{}: a diff has one line out and one in", block.page) };
    let (old, new) = (old.strip_prefix('-').unwrap(), new.strip_prefix('+').unwrap());
    let text = std::fs::read_to_string(bench.path(path)).unwrap();
    assert_eq!(text.matches(old).count(), 1, "{}: `{old}` in {path}\n{text}", block.page);
    bench.write(path, &text.replace(old, new));
}

fn run(bench: &Bench, block: &Block) -> usize {
    let expected: i32 = block.info.split("exit=").nth(1).map_or(0, |code| code.trim().parse().unwrap());
    let mut ran = 0;
    for line in block.text.lines() {
        let command = line.strip_prefix("$ ").unwrap_or_else(|| panic!("{}: no command: {line}", block.page));
        let words = words(command);
        // Building and checking are what runs this test.
        if words[0] == "cargo" {
            continue;
        }
        assert!(words[0] == "gatelatch" || words[0].ends_with("/gatelatch"), "{}: {line}", block.page);
        let args: Vec<&str> = words[1..].iter().map(String::as_str).collect();
        let (code, out, err) = bench.run(&args);
        assert_eq!(code, expected, "{}: {line}\n{out}\n{err}", block.page);
        ran += 1;
    }
    ran
}

#[test]
fn every_step_of_a_workflow_in_a_document_is_a_command_that_is_understood() {
    let mut steps = 0;
    for block in blocks().iter().filter(|block| block.info == "yml") {
        for step in block.text.lines().filter_map(|line| line.strip_prefix("- run: ")) {
            let mut words = words(step);
            assert_eq!(words.remove(0), "gatelatch", "{}: {step}", block.page);
            // Whatever stands before it was understood when the help is shown.
            let own = words.iter().position(|word| word == "--").unwrap_or(words.len());
            words.insert(own, "--help".to_owned());
            let (code, _, err) = Bench::new().run(&words.iter().map(String::as_str).collect::<Vec<_>>());
            assert_eq!(code, 0, "{}: {step}\n{err}", block.page);
            steps += 1;
        }
    }
    assert!(steps > 0);
}

#[test]
fn every_manifest_in_a_document_loads_without_a_finding() {
    let mut loaded = 0;
    for block in blocks().iter().filter(|block| block.info.starts_with("yaml")) {
        let path =
            block.info.strip_prefix("yaml ").unwrap_or_else(|| panic!("{}: a YAML block names its file", block.page));
        let bench = Bench::new();
        if path == "gatelatch.yaml" {
            bench.write(path, &block.text);
            bench.write(
                "mine/tools/x/tool.yaml",
                "name: x\ndescription: Say x.\nruntime: process\nentrypoint: echo\neffect: read_only\n",
            );
            let (code, out, err) = bench.run(&["list"]);
            assert_eq!(code, 0, "{}\n{out}\n{err}", block.page);
        } else if path == "chat_surface.yaml" {
            // What it is declared for stands on the same page.
            let page = blocks().into_iter().filter(|other| other.page == block.page);
            for other in page.filter(|other| other.info.starts_with("yaml") || other.info.starts_with("python")) {
                let path = other.info.split_once(' ').unwrap().1;
                bench.write(&format!("catalog/{}", path.trim_start_matches("mine/")), &other.text);
            }
            let (code, out, err) = bench.run(&["--catalog", "catalog", "check"]);
            assert_eq!(code, 0, "{}\n{out}\n{err}", block.page);
            assert!(!out.contains("warning["), "{}\n{out}", block.page);
            reserve(&bench);
        } else {
            let path = path.trim_start_matches("mine/");
            bench.write(&format!("catalog/{path}"), &block.text);
            let folder = Path::new(path).parent().unwrap();
            bench.write(&format!("catalog/{}/main.py", folder.display()), "print('{}')\n");
            // What an agent's manifest uses must be there.
            bench.write("catalog/tools/list-packed/tool.yaml", PACKED);
            let (code, out, err) = bench.run(&["--catalog", "catalog", "check"]);
            assert_eq!(code, 0, "{}\n{out}\n{err}", block.page);
            assert!(!out.contains("warning["), "{}\n{out}", block.page);
        }
        loaded += 1;
    }
    assert!(loaded >= 3, "only {loaded} manifests");
}

/// The operation of two steps that a page declares, with a free slot and without.
fn reserve(bench: &Bench) {
    let mut server = bench.serve(&["--catalog", "catalog", "chat"]);
    server.initialize();
    let mut first = |day: &str| server.call("rooms_reserve_first", serde_json::json!({ "day": day, "name": "Ada" }));
    let (failed, reserved) = first("2026-03-02");
    assert!(!failed && reserved["reserved"] == "s1" && reserved["free"][0]["room"] == "Ada", "{reserved}");
    assert_eq!(first("2026-12-25"), (false, serde_json::json!({ "free": [] })));
}

const PACKED: &str =
    "name: list-packed\ndescription: Tell what would be packed.\nversion: 0.1.0\nruntime: process\nentrypoint: echo\n";

#[test]
fn the_agent_of_the_documents_calls_what_it_uses() {
    let bench = Bench::new();
    let needed = |block: &Block| block.info == "sh pack.sh" || block.info.contains(" mine/agents/");
    for block in blocks().iter().filter(|block| needed(block)) {
        play(&bench, block);
    }
    assert_eq!(bench.run(&["init", "pack.sh", "--name", "list-packed"]).0, 0);
    let (code, out, err) = bench.run(&["--catalog", "mine", "agent", "fetch-packed", "--json"]);
    assert_eq!((code, out.trim()), (0, r#"{"packed":"docs as out, quiet: false"}"#), "{err}");
}

#[test]
fn the_shell_script_of_the_documents_gets_its_values_and_is_the_one_of_the_skill() {
    let bench = Bench::new();
    let script = blocks().into_iter().find(|block| block.info == "sh pack.sh").unwrap().text;
    bench.write("pack.sh", &script);
    assert_eq!(bench.run(&["init", "pack.sh", "--name", "list-packed"]).0, 0);
    for (arguments, expected) in [
        (&["folder=a b", "name=-x", "quiet=true"][..], "a b as -x, quiet: true"),
        (&["folder=a", "name=--name=y"], "a as --name=y, quiet: false"),
    ] {
        let mut call = vec!["--catalog", "mine", "run", "list-packed", "--json"];
        call.extend(arguments.iter().flat_map(|argument| ["--arg", argument]));
        let (code, out, err) = bench.run(&call);
        assert_eq!((code, out.trim()), (0, serde_json::json!({ "text": expected }).to_string().as_str()), "{err}");
    }
    let (_, skill, _) = bench.run(&["skill", "write-a-manifest"]);
    assert!(skill.contains(&script), "{skill}");
}

#[test]
fn every_json_block_parses_and_every_conversation_is_answered_line_by_line() {
    let mut conversations = 0;
    for block in blocks() {
        if block.info == "json" {
            serde_json::from_str::<serde_json::Value>(&block.text)
                .unwrap_or_else(|error| panic!("{}: {error}", block.page));
        }
        if block.info == "jsonrpc" {
            let bench = Bench::new();
            let mut server = bench.serve(&["operator"]);
            let lines: Vec<&str> = block.text.lines().map(|line| line.strip_prefix("-> ").unwrap()).collect();
            for line in &lines {
                server.send(line);
            }
            let (code, answers, log) = server.end();
            assert_eq!((code, answers.len()), (0, lines.len()), "{}: {answers:?} {log}", block.page);
            assert!(answers.iter().all(|answer| !answer.contains("\"error\"")), "{answers:?}");
            conversations += 1;
        }
    }
    assert!(conversations > 0);
}
