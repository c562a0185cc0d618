//! The chat server over real pipes: the declaration that ships, a declaration of one's own, and what does not agree.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

#[path = "harness/server.rs"]
#[allow(dead_code, reason = "each test file uses its part")]
mod server;

use std::collections::BTreeSet;
use std::path::Path;

use gatelatch_protocol::digest::digest_of;
use serde_json::{Value, json};
use server::{Bench, Server};

const MODERN: &str = "2026-07-28";

/// What a modern request says of itself.
fn modern(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}
    });
    params
}

fn list(server: &mut Server, params: Value) -> Value {
    server.request("tools/list", params)["result"]["tools"].clone()
}

fn names(tools: &Value) -> Vec<&str> {
    tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

fn orders() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/verb/demo/orders.xlsx");
    file.canonicalize().unwrap().to_string_lossy().into_owned()
}

fn bench() -> Bench {
    let bench = Bench::new();
    let outbox = bench.path("outbox");
    bench.set("OUTBOX_DIR", outbox)
}

#[test]
fn the_list_is_the_same_in_both_eras_and_its_digest_is_the_one_that_is_told() {
    let bench = bench();
    let mut server = bench.serve(&["chat"]);
    let discovered = server.request("server/discover", modern(json!({})))["result"].clone();
    let in_modern = list(&mut server, modern(json!({})));
    let hello = server.initialize();
    let in_legacy = list(&mut server, json!({}));
    assert_eq!(in_modern, in_legacy);
    assert_eq!(discovered["_meta"]["io.github.gatelatch/toolsDigest"], digest_of(&in_modern));
    let instructions = hello["result"]["instructions"].as_str().unwrap();
    assert!(instructions.contains("xlsx_overview") && discovered["instructions"] == instructions);
    assert_eq!(hello["result"]["serverInfo"]["name"], "gatelatch-chat");
    let (code, out, err) = bench.run(&["chat", "--list"]);
    let printed: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &printed["tools"]), (0, &in_legacy), "{err}");
    let (code, _, log) = server.end();
    assert_eq!((code, log.as_str()), (0, ""));
}

#[test]
fn the_shipped_list_is_small_has_no_way_to_what_cannot_be_undone_and_no_name_of_the_operator_s() {
    let bench = bench();
    let tools = |verb: &str| -> Value { serde_json::from_str(&bench.run(&[verb, "--list"]).1).unwrap() };
    let (chat, operator) = (tools("chat")["tools"].clone(), tools("operator")["tools"].clone());
    let names = names(&chat);
    let bytes = chat.to_string().len();
    assert!(bytes <= 1200 * names.len(), "{} bytes for {} tools", bytes, names.len());
    for tool in chat.as_array().unwrap() {
        let hints = &tool["annotations"];
        assert_eq!(hints["destructiveHint"], false, "{tool}");
        assert!(
            ["readOnlyHint", "idempotentHint", "openWorldHint"].iter().all(|hint| hints[*hint].is_boolean()),
            "{tool}"
        );
        assert!(tool["title"].is_string() && tool["outputSchema"]["type"] == "object", "{tool}");
    }
    for word in ["send", "delete", "dump"] {
        assert!(names.iter().all(|name| !name.contains(word)), "{names:?}");
    }
    let taken: BTreeSet<&str> =
        operator.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let prefixed = |name: &str| name.strip_prefix("gatelatch_").map(str::to_owned);
    assert!(names.iter().all(|name| !taken.contains(name) && prefixed(name).is_none()), "{names:?}");
}

#[test]
fn a_workbook_is_looked_over_searched_and_read_page_by_page() {
    let bench = bench();
    for era in ["legacy", MODERN] {
        let mut server = bench.serve(&["chat"]);
        if era == "legacy" {
            server.initialize();
        }
        let mut call = |name: &str, arguments: Value| {
            let params = json!({ "name": name, "arguments": arguments });
            let answer = server.request("tools/call", if era == MODERN { modern(params) } else { params });
            let result = answer["result"].clone();
            assert_eq!(result["isError"], false, "{answer}");
            let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
            assert_eq!(text, result["structuredContent"]);
            assert_eq!(result.get("resultType").is_some(), era == MODERN, "{answer}");
            text
        };
        let overview = call("xlsx_overview", json!({ "path": orders() }));
        assert_eq!((&overview["sheets"][0]["title"], &overview["first_sheet"]), (&json!("Orders"), &json!("Orders")));
        assert_eq!(overview["columns"][1]["name"], "Customer");
        let found = call("xlsx_search", json!({ "path": orders(), "text": "grace" }));
        assert_eq!(found["matches"][0]["cell"], "B3");
        let mut rows = Vec::new();
        let mut offset = json!(0);
        while !offset.is_null() {
            let page = call("xlsx_read_sheet", json!({ "path": orders(), "max_results": 2, "offset": offset }));
            rows.extend(page["rows"].as_array().unwrap().clone());
            offset = page["next_offset"].clone();
        }
        assert_eq!((rows.len(), &rows[1][1]), (4, &json!("Ada")));
    }
}

#[test]
fn a_draft_that_is_asked_for_twice_is_written_once_and_never_sent() {
    let bench = bench();
    let mut server = bench.serve(&["chat"]);
    server.initialize();
    let draft = json!({ "to": "ada@example.org", "subject": "Minutes", "body": "As agreed.", "key": "minutes-1" });
    let (failed, first) = server.call("outbox_draft_message", draft.clone());
    assert!(!failed, "{first}");
    assert_eq!(server.call("outbox_draft_message", draft.clone()), (false, first));
    let (_, listed) = server.call("outbox_list_messages", json!({}));
    assert_eq!((&listed["total"], &listed["messages"][0]["folder"]), (&json!(1), &json!("drafts")));
    let mut other = draft.clone();
    other["body"] = "Otherwise.".into();
    let (failed, refused) = server.call("outbox_draft_message", other);
    assert!(failed && refused["detail"]["error"] == "key_used", "{refused}");
    for hidden in ["outbox_send_message", "run_tool", "run_tool_confirmed"] {
        let answer = server.request("tools/call", json!({ "name": hidden, "arguments": draft }));
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
    let (_, _, log) = server.end();
    assert!(log.contains("front=\"chat\"") && !log.contains("ada@example.org") && !log.contains("minutes-1"), "{log}");
}

/// Callers never saw a manifest: a step has the declaration's name for them. Whoever runs the server finds the rest.
#[test]
fn a_step_that_fails_is_told_by_its_declared_name_and_what_it_called_stands_in_the_log() {
    let bench = bench();
    let mut server = bench.serve(&["chat"]);
    server.initialize();
    let (failed, told) = server.call("xlsx_overview", json!({ "path": bench.path("p4ssw0rd.xlsx") }));
    assert!(failed && told["step"] == "list", "{told}");
    assert_eq!(told["steps"], json!([{ "id": "list", "effect": "read_only", "done": false }]));
    assert!(!told.to_string().contains("list-sheets"), "{told}");
    let (_, _, log) = server.end();
    let line = log.lines().find(|line| line.contains("a call failed")).unwrap_or_else(|| panic!("{log}"));
    for said in ["tool=\"xlsx_overview\"", "step=\"list\"", "called=\"xlsx.list-sheets\"", "error=\"tool_failed\""] {
        assert!(line.contains(said), "{said}: {line}");
    }
    assert!(!log.contains("p4ssw0rd"), "{log}");
}

const NOTES: &str = "name: notes\ndescription: Keep notes.\nversion: 0.1.0\nruntime: process\nentrypoint: echo\nopen_world: false\nactions:\n  - name: list-notes\n    description: List them.\n    effect: read_only\n    args:\n      - {name: max-results, type: integer, description: Notes at most}\n  - name: read-note\n    description: Read one.\n    effect: read_only\n";

fn surface(target: &str) -> String {
    let tool = |name: &str, action: &str, args: &str| {
        format!(
            "  - name: {name}\n    title: Notes\n    description: Gives notes.\n    tool: notes\n    action: {action}\n    read_only: true\n    \
             reversible: true\n    idempotent: true\n    open_world: false\n{args}    output_schema: {{type: object}}\n"
        )
    };
    let args = format!("    args:\n      - {{name: rows, for: {target}, type: integer, description: Notes at most}}\n");
    format!(
        "surface_version: 1.0.0\ntools:\n{}{}",
        tool("notes_list", "list-notes", &args),
        tool("notes_read", "read-note", "")
    )
}

#[test]
fn a_tool_that_does_not_agree_fails_the_check_is_left_out_and_the_rest_serves() {
    let bench = Bench::new();
    bench.write("mine/tools/notes/tool.yaml", NOTES);
    bench.write("mine/chat_surface.yaml", &surface("max-results"));
    let check = ["--catalog", "mine", "check"];
    let (code, out, err) = bench.run(&check);
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("chat surface mine/chat_surface.yaml: 2 tools; no lock file beside it"), "{out}");
    bench
        .write("mine/tools/notes/tool.yaml", &NOTES.replace("max-results, type: integer", "max-results, type: string"));
    let (code, out, _) = bench.run(&check);
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("mine/chat_surface.yaml:13:16: error[M143]: `rows` is of type `integer`"), "{out}");
    assert!(out.contains("(mine/tools/notes/tool.yaml:12)"), "{out}");
    assert!(out.contains("1 tool, left out: notes_list"), "{out}");
    let (_, out, _) = bench.run(&["--catalog", "mine", "check", "--json"]);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        report["chat_surface"],
        json!({ "file": "mine/chat_surface.yaml", "tools": 1, "left_out": ["notes_list"], "lock": "none" })
    );
    let (code, out, err) = bench.run(&["--catalog", "mine", "chat", "--list"]);
    assert_eq!(code, 1, "{err}");
    let listed: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(listed["tools"].as_array().unwrap().len(), 1);
    let mut server = bench.serve(&["--catalog", "mine", "chat"]);
    server.initialize();
    assert_eq!(names(&list(&mut server, json!({}))), ["notes_read"]);
    let answer = server.request("tools/call", json!({ "name": "notes_list", "arguments": {} }));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let (_, _, log) = server.end();
    assert!(log.contains("chat_surface.yaml:13:16") && log.contains("`notes_list` is left out"), "{log}");
}

#[test]
fn with_nothing_to_serve_the_server_does_not_start_and_says_why() {
    let bench = Bench::new();
    bench.write("mine/tools/notes/tool.yaml", NOTES);
    let (code, _, err) = bench.run(&["--catalog", "mine", "chat"]);
    assert!(
        code == 2 && err.contains("gatelatch --catalog mine contract init TOOL.ACTION… --out mine/chat_surface.yaml`"),
        "{code}: {err}"
    );
    let (code, out, _) = bench.run(&["--catalog", "mine", "check"]);
    assert!(code == 0 && !out.contains("chat surface"), "{out}");
    let (code, _, err) = bench.run(&["--catalog", "mine", "chat", "--surface", "nope.yaml"]);
    assert!(code == 2 && err.contains("`nope.yaml`"), "{code}: {err}");
    bench.write("mine/chat_surface.yaml", &surface("max-results").replace("surface_version", "surfaceversion"));
    let (code, _, err) = bench.run(&["--catalog", "mine", "chat"]);
    assert!(code == 2 && err.contains("mine/chat_surface.yaml:1:1: error[M"), "{code}: {err}");
    bench.write("mine/chat_surface.yaml", &surface("max-results").replace("tool: notes", "tool: gone"));
    // What is found wrong by a look at the list is no wrong command.
    for (verb, expected) in [(["chat"].as_slice(), 2), (&["chat", "--list"], 1)] {
        let (code, out, err) = bench.run(&[["--catalog", "mine"].as_slice(), verb].concat());
        assert!(code == expected && out.is_empty() && err.contains("nothing to serve"), "{code}: {err}");
    }
}

#[test]
fn the_declaration_is_the_named_one_then_that_of_the_settings_then_that_of_the_first_catalog() {
    let bench = Bench::new();
    for folder in ["first", "second"] {
        bench.write(&format!("{folder}/tools/notes/tool.yaml"), NOTES);
    }
    let called = |name: &str| surface("max-results").replace("notes_list", name);
    bench.write("second/chat_surface.yaml", &called("of_catalog"));
    bench.write("settings/chat.yaml", &called("of_settings"));
    bench.write("variable.yaml", &called("of_variable"));
    bench.write("named.yaml", &called("of_flag"));
    let first = |bench: &Bench, args: &[&str]| -> String {
        let (code, out, err) =
            bench.run(&[["--catalog", "first", "--catalog", "second", "chat", "--list"].as_slice(), args].concat());
        assert_eq!(code, 0, "{err}");
        serde_json::from_str::<Value>(&out).unwrap()["tools"][0]["name"].as_str().unwrap().to_owned()
    };
    assert_eq!(first(&bench, &[]), "of_catalog");
    bench.write("settings/gatelatch.yaml", "chat_surface: chat.yaml\n");
    assert_eq!(first(&bench, &["--config", "settings/gatelatch.yaml"]), "of_settings", "it lies beside its settings");
    let bench = bench.set("GATELATCH_CHAT_SURFACE", "variable.yaml");
    assert_eq!(first(&bench, &["--config", "settings/gatelatch.yaml"]), "of_variable");
    assert_eq!(first(&bench, &["--surface", "named.yaml"]), "of_flag");
}

#[cfg(target_os = "linux")]
#[test]
fn five_megabytes_come_back_within_the_cap_valid_with_a_hint_and_cost_the_server_little() {
    const MOST_GROWTH_KIB: u64 = 16 * 1024;
    let bench = Bench::new();
    bench.write("mine/tools/rows/tool.yaml", "name: rows\ndescription: Give rows.\nversion: 0.1.0\nruntime: python\nentrypoint: main.py\nopen_world: false\nlimits: {max_output_bytes: 16777216}\nactions:\n  - name: list-rows\n    description: List rows.\n    effect: read_only\n    args:\n      - {name: count, type: integer, required: true, description: How many}\n    narrow_with: [count]\n    output_schema:\n      type: object\n      properties:\n        rows: {type: array, items: {type: object, properties: {id: {type: integer}, text: {type: string}}, required: [id, text]}}\n        total: {type: integer}\n      required: [rows, total]\n");
    bench.write("mine/tools/rows/main.py", "import json, sys\ncount = int(sys.argv[-1])\nprint(json.dumps({'rows': [{'id': n, 'text': 'x' * 80} for n in range(count)], 'total': count}))\n");
    bench.write("mine/chat_surface.yaml", "surface_version: 1.0.0\ntools:\n  - name: rows_list\n    title: Rows\n    description: Lists rows.\n    tool: rows\n    action: list-rows\n    read_only: true\n    reversible: true\n    idempotent: true\n    open_world: false\n    args:\n      - {name: how_many, for: count, type: integer, required: true, description: How many}\n    result: {narrow_with: [how_many]}\n    output_schema:\n      type: object\n      properties:\n        rows: {type: array, items: {type: object, properties: {id: {type: integer}, text: {type: string}}, required: [id, text], additionalProperties: false}}\n        total: {type: integer}\n        _cut: {type: object}\n      required: [rows, total]\n      additionalProperties: false\n");
    let mut server = bench.serve(&["--catalog", "mine", "chat"]);
    server.initialize();
    let schema = list(&mut server, json!({}))[0]["outputSchema"].clone();
    let validator = gatelatch_manifest::schema::validator(&schema).unwrap();
    let process = server.process();
    let peak = || -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    let mut rows = |how_many: u64| {
        server.request("tools/call", json!({ "name": "rows_list", "arguments": { "how_many": how_many } }))["result"]
            .clone()
    };
    assert_eq!(rows(10)["structuredContent"]["total"], 10);
    let before = peak();
    let result = rows(50_000);
    let growth = peak() - before;
    let structured = &result["structuredContent"];
    assert_eq!(result["isError"], false, "{result}");
    assert!(validator.is_valid(structured), "{structured}");
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.len() <= 32_000 && structured.to_string().len() <= 32_000, "{} bytes", text.len());
    assert!(structured["rows"].as_array().unwrap().len() > 200, "what fits is shown");
    assert_eq!((&structured["total"], &structured["_cut"]["parts"][0]["of"]), (&json!(50_000), &json!(50_000)));
    assert!(structured["_cut"]["bytes"].as_u64().unwrap() > 5_000_000, "{}", structured["_cut"]);
    assert!(structured["_cut"]["hint"].as_str().unwrap().contains("`how_many`"));
    assert!(growth < MOST_GROWTH_KIB, "{growth} KiB");
}
