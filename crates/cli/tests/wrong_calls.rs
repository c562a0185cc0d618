//! A caller who gets a call wrong needs no second guess: what the answer says is enough to build the right one.
//!
//! The calls stand in `wrong_calls/table.txt`, the catalogs beside it. Each call goes to the real server. What comes back
//! is turned into the next call by rules that know nothing of the catalog: take the example, put in what only the caller
//! can know. The programs only say how they were called, so that two calls are the same if they were called the same.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

#[path = "harness/server.rs"]
#[allow(dead_code, reason = "each test file uses its part")]
mod server;

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use server::{Bench, Server};

/// The largest answer to a wrong call, in bytes.
const LIMIT: usize = 1_200;

/// How many answers a caller may need before the right call: the first, and one further turn.
const ANSWERS: usize = 2;

const ECHO: &str = "#!/bin/sh\nprintf '<%s>' \"$@\"\n";

/// A line of the table.
struct Case {
    catalog: String,
    rule: String,
    line: String,
    wrong: Call,
    right: Call,
    knows: Map<String, Value>,
}

#[derive(Clone, Debug)]
struct Call {
    tool: String,
    arguments: Value,
}

impl Call {
    /// `[agent:]ENTRY ACTION ARGUMENTS`
    fn parse(text: &str) -> Call {
        let at = text.find(['{', '"']).unwrap_or_else(|| panic!("no arguments in {text}"));
        let (names, args) = (text[..at].trim(), &text[at..]);
        let (entry, action) = names.split_once(' ').unwrap_or_else(|| panic!("no action in {text}"));
        let (kind, entry) = match entry.strip_prefix("agent:") {
            Some(agent) => ("agent", agent),
            None => ("tool", entry),
        };
        let args: Value = serde_json::from_str(args.trim()).unwrap_or_else(|error| panic!("{error} in {text}"));
        let mut arguments = json!({ kind: entry, "args": args });
        if action != "-" {
            arguments["action"] = action.into();
        }
        Call { tool: format!("run_{kind}"), arguments }
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wrong_calls")
}

fn table() -> Vec<Case> {
    let text = std::fs::read_to_string(folder().join("table.txt")).unwrap();
    let (mut catalog, mut rule, mut cases) = (String::new(), String::new(), Vec::new());
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("# ")) {
        if let Some(name) = line.strip_prefix('[') {
            catalog = name.trim_end_matches(']').to_owned();
        } else if let Some(name) = line.strip_prefix("## ") {
            rule = name.to_owned();
        } else if let Some((wrong, right)) = line.split_once(" => ") {
            let (right, knows) = right.split_once(" ?? ").unwrap_or((right, "{}"));
            cases.push(Case {
                catalog: catalog.clone(),
                rule: rule.clone(),
                line: line.to_owned(),
                wrong: Call::parse(wrong),
                right: Call::parse(right),
                knows: serde_json::from_str(knows).unwrap(),
            });
        }
    }
    cases
}

/// Copies a catalog and puts a program that says how it was called beside each manifest.
fn install(bench: &Bench, from: &Path, below: &str) {
    for item in std::fs::read_dir(from).unwrap().flatten() {
        let (path, below) = (item.path(), format!("{below}/{}", item.file_name().to_string_lossy()));
        if path.is_dir() {
            install(bench, &path, &below);
        } else {
            bench.write(&below, &std::fs::read_to_string(&path).unwrap());
            let program = format!("{}/echo.sh", below.rsplit_once('/').unwrap().0);
            bench.write(&program, ECHO);
            std::fs::set_permissions(bench.path(&program), std::fs::Permissions::from_mode(0o755)).unwrap();
        }
    }
}

/// Runs a call; one that waits for a human is run as the answer says once the human has agreed.
fn run(server: &mut Server, call: &Call) -> Result<Value, Value> {
    let (failed, answer) = server.call(&call.tool, call.arguments.clone());
    match answer["confirm_with"].as_str() {
        Some(confirmed) if failed => {
            let (failed, answer) = server.call(confirmed, call.arguments.clone());
            if failed { Err(answer) } else { Ok(answer) }
        }
        _ if failed => Err(answer),
        _ => Ok(answer),
    }
}

/// The next call, from the answer and from what only the caller can know, which the answer must ask for by name.
fn built(answer: &Value, knows: &Map<String, Value>) -> Result<Call, String> {
    let example = answer.get("example").ok_or("there is no example")?;
    let tool = example["tool"].as_str().ok_or("the example names no tool")?;
    if !tool.starts_with("run_") {
        return Err(format!("the example is no run but `{tool}`"));
    }
    let mut arguments = example["arguments"].clone();
    let text = format!("{} {}", answer["message"], answer["schema"]);
    for (name, value) in knows {
        let named = text.contains(&format!("`{name}`")) || !answer["schema"]["properties"][name].is_null();
        if !named && answer["error"] == "bad_arguments" {
            return Err(format!("the answer does not name `{name}`"));
        }
        arguments["args"][name] = value.clone();
    }
    Ok(Call { tool: tool.to_owned(), arguments })
}

/// Follows the answers until a call runs.
fn follow(server: &mut Server, case: &Case) -> Result<Value, String> {
    let mut call = case.wrong.clone();
    for _ in 0..=ANSWERS {
        match run(server, &call) {
            Ok(result) => return Ok(result),
            Err(answer) => {
                let size = answer.to_string().len();
                if size > LIMIT {
                    return Err(format!("an answer takes {size} bytes"));
                }
                let points_inside = answer["message"].as_str().unwrap_or_default().contains("at `/");
                if case.rule == "a fault inside a value" && !points_inside {
                    return Err(format!("the answer does not say where inside the value: {answer}"));
                }
                call = built(&answer, &case.knows).map_err(|why| format!("{why}: {answer}"))?;
            }
        }
    }
    Err(format!("still wrong after {ANSWERS} answers"))
}

#[test]
fn the_answer_to_a_wrong_call_is_enough_to_build_the_right_one() {
    let cases = table();
    assert!(cases.len() >= 120, "the table has {} calls", cases.len());
    let mut benches: BTreeMap<&str, (Bench, Server)> = BTreeMap::new();
    let mut failures = Vec::new();
    for case in &cases {
        let (_, server) = benches.entry(&case.catalog).or_insert_with(|| {
            let bench = Bench::new();
            install(&bench, &folder().join(&case.catalog), "catalog");
            let (code, out, err) = bench.run(&["--catalog", "catalog", "check"]);
            assert_eq!(code, 0, "{}: {out}{err}", case.catalog);
            let mut server = bench.serve(&["--catalog", "catalog", "operator"]);
            server.initialize();
            (bench, server)
        });
        let wanted =
            run(server, &case.right).unwrap_or_else(|answer| panic!("{} is no right call: {answer}", case.line));
        match follow(server, case) {
            Ok(result) if result == wanted => {}
            Ok(result) => failures.push(format!("{} / {}\n  {}\n  ran {result}", case.catalog, case.rule, case.line)),
            Err(why) => failures.push(format!("{} / {}\n  {}\n  {why}", case.catalog, case.rule, case.line)),
        }
    }
    assert!(failures.is_empty(), "{} of {} calls:\n{}", failures.len(), cases.len(), failures.join("\n"));
}
