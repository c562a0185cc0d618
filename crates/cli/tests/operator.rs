//! The main job over real pipes: from a folder of manifests to a refused send.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

#[path = "harness/server.rs"]
#[allow(dead_code, reason = "each test file uses its part")]
mod server;

use serde_json::json;
use server::Bench;

fn bench() -> Bench {
    let bench = Bench::new();
    let outbox = bench.path("outbox");
    bench.set("OUTBOX_DIR", outbox)
}

#[test]
fn three_lines_in_give_three_lines_out_and_a_clean_end() {
    let bench = bench();
    let mut server = bench.serve(&["operator"]);
    server.send(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#);
    server.send(r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#);
    server.send(r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"run_tool","arguments":{"tool":"hello-world","args":{"name":"MCP"}}}}"#);
    let (code, lines, _) = server.end();
    assert_eq!(code, 0);
    assert_eq!(lines.len(), 3, "{lines:#?}");
    assert!(lines[0].contains(r#""protocolVersion":"2024-11-05""#), "{}", lines[0]);
    assert!(lines[2].contains("MCP"), "{}", lines[2]);
}

#[test]
fn a_send_is_refused_on_the_plain_tool_and_runs_on_the_confirmed_one() {
    let bench = bench();
    let mut server = bench.serve(&["operator"]);
    server.initialize();
    let args = json!({ "to": "ada@example.org", "subject": "Minutes", "body": "As agreed." });
    let call = json!({ "tool": "outbox", "action": "send-message", "args": args });
    let (failed, refusal) = server.call("run_tool", call.clone());
    assert!(failed);
    assert_eq!(refusal["error"], "approval_required");
    assert_eq!(refusal["tool"], "outbox");
    assert_eq!(refusal["action"], "send-message");
    assert_eq!(refusal["effect"], "irreversible");
    assert_eq!(refusal["confirm_with"], "run_tool_confirmed");
    assert!(!refusal.to_string().contains("As agreed"), "a refusal repeats no argument");
    let list = json!({ "tool": "outbox", "action": "list-messages", "args": { "folder": "sent" } });
    let (_, listed) = server.call("run_tool", list.clone());
    assert_eq!(listed["messages"], json!([]), "nothing was started");
    let (failed, sent) = server.call("run_tool_confirmed", call);
    assert!(!failed, "{sent}");
    let (_, listed) = server.call("run_tool", list);
    assert_eq!(listed["messages"][0]["subject"], "Minutes");
    let (code, _, log) = server.end();
    assert_eq!(code, 0);
    assert!(log.contains("approval_required") && log.contains("send-message"), "{log}");
    assert!(!log.contains("ada@example.org") && !log.contains("As agreed"), "{log}");
}

#[test]
fn with_no_human_in_the_seat_the_confirmed_tools_refuse_too() {
    let bench = bench().set("GATELATCH_DENY_IRREVERSIBLE", "1");
    let mut server = bench.serve(&["operator"]);
    server.initialize();
    let args = json!({ "to": "ada@example.org", "subject": "Minutes", "body": "As agreed." });
    for tool in ["run_tool", "run_tool_confirmed"] {
        let (failed, refusal) = server.call(tool, json!({ "tool": "outbox", "action": "send-message", "args": args }));
        assert!(failed);
        assert_eq!(refusal["error"], "denied", "{refusal}");
    }
    let (failed, _) = server.call("run_tool", json!({ "tool": "hello-world", "args": {} }));
    assert!(!failed);
}

#[test]
fn a_wrong_call_answers_with_what_would_be_right() {
    let bench = bench();
    let mut server = bench.serve(&["operator"]);
    server.initialize();
    let (failed, help) = server.call("run_tool", json!({ "tool": "outbox", "action": "message-send" }));
    assert!(failed);
    assert_eq!(help["error"], "unknown_action");
    assert!(help["did_you_mean"].to_string().contains("send-message"), "{help}");
    let (failed, help) = server.call("run_tool", json!({ "tool": "hello-wrld" }));
    assert!(failed);
    assert!(help["did_you_mean"].to_string().contains("hello-world"), "{help}");
    let (failed, help) = server.call("run_tool", json!({ "tool": "hello-world", "args": { "nmae": "x" } }));
    assert!(failed);
    assert_eq!(help["error"], "bad_arguments");
    assert!(help["schema"].to_string().contains("name"), "{help}");
    // A spelling that fits exactly one name is taken, and the answer says so.
    let answer = server.request(
        "tools/call",
        json!({ "name": "run_tool", "arguments": { "tool": "outbox", "action": "list-messages", "args": { "Max_Results": 1 } } }),
    );
    assert_ne!(answer["result"]["isError"], true, "{answer}");
    assert!(answer["result"]["content"][1]["text"].as_str().unwrap().contains("`max-results`"), "{answer}");
}

#[test]
fn a_tool_without_any_effect_line_loads_and_runs_by_its_read_verbs() {
    let bench = Bench::new();
    bench.write(
        "catalog/tools/notes/tool.yaml",
        "name: notes\ndescription: Reads notes.\nversion: 0.1.0\nruntime: python\nentrypoint: main.py\nsecrets: []\nactions:\n  - name: list-notes\n    description: List all notes.\n    args:\n      - {name: max-results, type: integer, description: Cap rows returned}\n  - name: get-note\n    description: Get one note.\n    args:\n      - {name: id, type: string, required: true, description: Which note}\n",
    );
    bench.write("catalog/tools/notes/main.py", "import json, sys\nprint(json.dumps({'argv': sys.argv[1:]}))\n");
    let (code, out, err) = bench.run(&["--catalog", "catalog", "run", "notes", "get-note", "--arg", "id=-7", "--json"]);
    assert_eq!(code, 0, "{out}{err}");
    assert_eq!(out.trim(), r#"{"argv":["get-note","--id=-7"]}"#);
    let (code, out, _) = bench.run(&["--catalog", "catalog", "check"]);
    assert_eq!(code, 0, "{out}");
}

#[test]
fn a_broken_manifest_is_left_out_and_told_while_the_rest_serves() {
    let bench = Bench::new();
    bench.write("catalog/tools/good/tool.yaml", "name: good\ndescription: Says ok.\nruntime: process\nentrypoint: echo\nactions:\n  - name: show\n    description: Show it.\n");
    bench
        .write("catalog/tools/bad/tool.yaml", "name: bad\ndescription: Broken.\nruntme: python\nentrypoint: main.py\n");
    let (code, out, _) = bench.run(&["--catalog", "catalog", "check"]);
    assert_eq!(code, 1);
    assert!(out.contains("catalog/tools/bad/tool.yaml:3:1: error[M"), "{out}");
    assert!(out.contains("runtime"), "{out}");
    let mut server = bench.serve(&["--catalog", "catalog", "operator"]);
    server.initialize();
    let (failed, value) = server.call("run_tool", json!({ "tool": "good" }));
    assert!(!failed, "{value}");
    let (failed, _) = server.call("run_tool", json!({ "tool": "bad" }));
    assert!(failed);
    let (_, _, log) = server.end();
    assert!(log.contains("tools/bad/tool.yaml:3:1"), "{log}");
}

#[test]
fn the_list_is_printed_without_a_transport_and_equals_what_is_served() {
    let bench = Bench::new();
    let (code, out, _) = bench.run(&["operator", "--list"]);
    assert_eq!(code, 0);
    let printed: serde_json::Value = serde_json::from_str(&out).unwrap();
    let mut server = bench.serve(&["operator"]);
    server.initialize();
    let served = server.request("tools/list", json!({}));
    assert_eq!(printed["tools"], served["result"]["tools"]);
    assert!(served["result"]["tools"].to_string().len() <= 4000);
}

#[test]
fn capabilities_of_the_catalog_that_ships_fit_in_3000_bytes() {
    let bench = bench();
    let mut server = bench.serve(&["operator"]);
    server.initialize();
    let answer = server.request("tools/call", json!({ "name": "capabilities", "arguments": {} }));
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.len() <= 3000, "{} bytes: {text}", text.len());
    for name in ["hello-world", "outbox", "xlsx"] {
        assert!(text.contains(name), "{text}");
    }
}

#[test]
fn a_cancelled_call_ends_its_child_and_gets_no_answer() {
    let bench = Bench::new();
    bench.write("catalog/tools/nap/tool.yaml", NAP);
    bench.write("catalog/tools/nap/main.py", NAP_PY);
    let mut server = bench.serve(&["--catalog", "catalog", "operator"]);
    server.initialize();
    let mark = bench.path("mark");
    server.send(&json!({"jsonrpc":"2.0","id":"slow","method":"tools/call","params":{"name":"run_tool","arguments":{"tool":"nap","args":{"mark":mark}}}}).to_string());
    let child = process_of(&mark);
    server.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"slow"}}"#);
    await_end(child);
    let (failed, _) = server.call("run_tool", json!({ "tool": "hello-world" }));
    assert!(failed, "another catalog: no such tool");
    let (code, left, _) = server.end();
    assert_eq!(code, 0);
    assert!(left.iter().all(|line| !line.contains("\"slow\"")), "{left:?}");
}

#[test]
fn a_catalog_that_lists_its_loosenings_fails_the_check_when_one_appears_or_goes() {
    let bench = Bench::new();
    let manifest = "name: desk\ndescription: Works the desk.\nruntime: process\nentrypoint: echo\nactions:\n  - name: delete-label\n    description: Take a label off.\n    effect: reversible\n    because: the label can be put back\n";
    bench.write("catalog/tools/desk/tool.yaml", manifest);
    let check = ["--catalog", "catalog", "check"];
    let (code, out, _) = bench.run(&check);
    assert_eq!(code, 0, "a catalog without a list only shows them: {out}");
    let line = out.lines().find(|line| line.contains("the label can be put back")).unwrap().trim().to_owned();
    bench.write("catalog/loosenings.txt", "# none yet\n");
    let (code, out, _) = bench.run(&check);
    assert_eq!(code, 1, "{out}");
    assert!(out.contains(&format!("+ {line}")), "{out}");
    bench.write("catalog/loosenings.txt", &format!("{line}\n"));
    assert_eq!(bench.run(&check).0, 0);
    // A list that cannot be read lists nothing, and nothing waits for it.
    let list = bench.path("catalog/loosenings.txt");
    #[allow(clippy::disallowed_methods, reason = "a test makes what a program may leave")]
    let made = |make: &str| std::process::Command::new(make).arg(&list).status().unwrap().success();
    for (make, told) in [("mkdir", "it is no regular file"), ("mkfifo", "it is no regular file")] {
        std::fs::remove_file(&list).unwrap();
        assert!(made(make));
        let (code, out, _) = bench.run(&check);
        assert_eq!(code, 1, "{make}: {out}");
        assert!(out.contains(told), "{make}: {out}");
        if make == "mkdir" {
            std::fs::remove_dir(&list).unwrap();
            bench.write("catalog/loosenings.txt", "");
        }
    }
    std::fs::remove_file(&list).unwrap();
    std::fs::write(&list, b"\xff\n").unwrap();
    let (code, out, _) = bench.run(&check);
    assert!(code == 1 && out.contains("it is no UTF-8 text"), "{out}");
    bench.write("catalog/loosenings.txt", &format!("{line}\n"));
    bench.write("catalog/tools/desk/tool.yaml", &manifest.replace("delete-label", "list-labels"));
    let (code, out, _) = bench.run(&check);
    assert_eq!(code, 1, "{out}");
    assert!(out.contains(&format!("- {line}")), "{out}");
}

#[test]
fn a_reader_that_goes_away_is_a_quiet_end() {
    let bench = Bench::new();
    let mut child = bench
        .command(&["list"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(!told.contains("error"), "{told}");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn an_agents_own_calls_are_held_to_what_it_says_that_it_uses_and_never_undo_the_undoable() {
    let bench = Bench::new();
    bench.write("catalog/tools/notes/tool.yaml", "name: notes\ndescription: Keep notes.\nruntime: process\nentrypoint: echo\nactions:\n  - name: list-notes\n    description: List them.\n  - name: update-note\n    description: Change one.\n  - name: delete-note\n    description: Delete one for good.\n");
    let agent = "name: tidy-notes\ndescription: Tidy.\nversion: 0.1.0\nruntime: python\nentrypoint: main.py\neffect: reversible\nuses: [notes.list-notes, notes.delete-note]\nargs: [{name: want, type: string, required: true, description: Which action}]\n";
    bench.write("catalog/agents/tidy-notes/agent.yaml", agent);
    bench.write("catalog/agents/tidy-notes/main.py", "import json, os, subprocess, sys\nrun = subprocess.run([os.environ['GATELATCH_BIN'], 'run', 'notes', sys.argv[sys.argv.index('--want') + 1], '--json'], capture_output=True, text=True)\nprint(json.dumps({'code': run.returncode, 'answer': json.loads(run.stdout)}))\n");
    let (code, out, _) =
        bench.run(&["--catalog", "catalog", "agent", "tidy-notes", "--arg", "want=list-notes", "--json"]);
    assert_eq!(code, 3, "what it uses cannot be undone, so a human is asked: {out}");
    let mut server = bench.serve(&["--catalog", "catalog", "operator"]);
    server.initialize();
    let mut want = |action: &str| {
        server.call("run_agent_confirmed", json!({ "agent": "tidy-notes", "args": { "want": action } })).1
    };
    assert_eq!(want("list-notes")["code"], 0);
    let denied = want("update-note");
    assert_eq!(denied["code"], 4, "{denied}");
    assert!(denied["answer"]["message"].as_str().unwrap().contains("`notes.update-note`"), "{denied}");
    assert_eq!(want("delete-note")["code"], 4, "no human sits in front of an agent's own calls");
    let (_, out, _) = bench.run(&["--catalog", "catalog", "check"]);
    assert!(out.contains("agent tidy-notes uses notes.delete-note"), "{out}");
}

#[test]
fn a_broken_entry_says_so_over_mcp_too() {
    let bench = Bench::new();
    bench
        .write("catalog/tools/bad/tool.yaml", "name: bad\ndescription: Broken.\nruntme: python\nentrypoint: main.py\n");
    let mut server = bench.serve(&["--catalog", "catalog", "operator"]);
    server.initialize();
    let (failed, answer) = server.call("run_tool", json!({ "tool": "bad" }));
    assert!(failed);
    assert_eq!(answer["error"], "broken", "{answer}");
    assert!(answer["message"].as_str().unwrap().contains("tools/bad/tool.yaml:"), "{answer}");
    let (_, list) = server.call("capabilities", json!({}));
    assert!(list["broken"][0].as_str().unwrap().starts_with("tool bad: "), "{list}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_client_that_closes_its_end_ends_the_call_that_runs_for_it() {
    let bench = Bench::new();
    bench.write("catalog/tools/nap/tool.yaml", NAP);
    bench.write("catalog/tools/nap/main.py", NAP_PY);
    let mut command = bench.command(&["--catalog", "catalog", "operator"]);
    let mut child = command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mark = bench.path("mark");
    let call = json!({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_tool","arguments":{"tool":"nap","args":{"mark":mark}}}});
    std::io::Write::write_all(&mut input, format!("{call}\n").as_bytes()).unwrap();
    let napping = process_of(&mark);
    drop(child.stdout.take());
    await_end(napping);
    await_end(child.id());
    child.wait().unwrap();
    drop(input);
}

const NAP: &str = "name: nap\ndescription: Sleeps.\nruntime: python\nentrypoint: main.py\nactions:\n  - name: read-slowly\n    description: Read slowly.\n    effect: read_only\n    args: [{name: mark, type: path, required: true, description: Where to leave the process number}]\n";
const NAP_PY: &str = "import os, sys, time\nmark = sys.argv[sys.argv.index('--mark') + 1]\nopen(mark + '.new', 'w').write(str(os.getpid()))\nos.rename(mark + '.new', mark)\ntime.sleep(60)\n";

/// The process that left its number in a file.
fn process_of(mark: &std::path::Path) -> u32 {
    let deadline = std::time::Instant::now() + server::PATIENCE;
    while !mark.exists() {
        assert!(std::time::Instant::now() < deadline, "the child never started");
        std::thread::yield_now();
    }
    std::fs::read_to_string(mark).unwrap().parse().unwrap()
}

/// Waits until a process is gone, or is only waited for.
fn await_end(process: u32) {
    let deadline = std::time::Instant::now() + server::PATIENCE;
    let lives = || std::fs::read_to_string(format!("/proc/{process}/stat")).is_ok_and(|stat| !stat.contains(") Z "));
    while lives() {
        assert!(std::time::Instant::now() < deadline, "process {process} lives on");
        std::thread::yield_now();
    }
}
