//! `gatelatch connect CLIENT` as a person types it: shown, written, started by what was written, taken back.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

#[path = "harness/server.rs"]
#[allow(dead_code, reason = "each test file uses its part")]
mod server;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};
use server::Bench;

/// A client, its files in a project, and where the first one holds the server.
const CLIENTS: [(&str, &[&str], &str); 6] = [
    ("opencode", &["opencode.json", "opencode.gatelatch.md"], "/mcp/gatelatch"),
    ("claude-code", &[".mcp.json", ".claude/settings.json"], "/mcpServers/gatelatch"),
    ("codex", &[".codex/config.toml"], "/mcp_servers/gatelatch"),
    ("cursor", &[".cursor/mcp.json"], "/mcpServers/gatelatch"),
    ("gemini-cli", &[".gemini/settings.json"], "/mcpServers/gatelatch"),
    ("vscode", &[".vscode/mcp.json", ".vscode/settings.json"], "/servers/gatelatch"),
];

fn everything(bench: &Bench) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![bench.path("")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.insert(path.clone(), std::fs::read(path).unwrap());
            }
        }
    }
    files
}

/// What a configuration says of the server; TOML is read as far as our own tables go.
fn entry(bench: &Bench, file: &str, pointer: &str) -> Value {
    let text = std::fs::read_to_string(bench.path(file)).unwrap();
    if !file.ends_with(".toml") {
        return serde_json::from_str::<Value>(&text).unwrap().pointer(pointer).unwrap().clone();
    }
    let header = format!("[{}]", pointer.trim_start_matches('/').replace('/', "."));
    let lines = text.lines().skip_while(|line| *line != header).skip(1).take_while(|line| !line.is_empty());
    let members = lines.map(|line| {
        let (key, value) = line.split_once(" = ").unwrap();
        (key.to_owned(), serde_json::from_str(value).unwrap())
    });
    Value::Object(members.collect())
}

#[test]
fn what_is_written_starts_the_server_and_undo_leaves_no_trace() {
    for (client, files, pointer) in CLIENTS {
        let bench = Bench::new();
        let before = everything(&bench);
        let (code, shown, said) = bench.run(&["connect", client]);
        assert_eq!(code, 0, "{client}: {said}");
        assert!(said.contains("nothing was written; add --write"), "{client}: {said}");
        assert_eq!(everything(&bench), before, "{client}: showing writes nothing");
        files.iter().for_each(|file| assert!(shown.contains(file), "{client}: {shown}"));

        let (code, written, said) = bench.run(&["connect", client, "--write"]);
        assert_eq!((code, &written), (0, &shown), "{client}: {said}");
        let entry = entry(&bench, files[0], pointer);
        let words: Vec<String> = [&entry["command"], &entry["args"]]
            .into_iter()
            .flat_map(|value| match value {
                Value::String(word) => vec![word.clone()],
                value => value.as_array().into_iter().flatten().map(|word| word.as_str().unwrap().to_owned()).collect(),
            })
            .collect();
        assert_eq!(words[0], env!("CARGO_BIN_EXE_gatelatch"), "{client}");
        let args: Vec<&str> = words[1..].iter().map(String::as_str).collect();
        let mut server = bench.serve(&args);
        assert_eq!(server.initialize()["result"]["protocolVersion"], "2025-11-25", "{client}");
        let tools = server.request("tools/list", json!({}))["result"]["tools"].clone();
        for tool in tools.as_array().unwrap() {
            // What the configurations name is what the server has.
            let name = tool["name"].as_str().unwrap();
            assert!(
                client == "cursor" || client == "opencode" || client == "vscode" || shown.contains(name),
                "{client}: {name}"
            );
        }
        assert_eq!(server.end().0, 0);

        let (code, again, _) = bench.run(&["connect", client, "--write"]);
        assert!(code == 0 && again.contains("nothing to change"), "{client}: {again}");
        let (code, _, said) = bench.run(&["connect", client, "--undo"]);
        assert_eq!((code, everything(&bench)), (0, before), "{client}: {said}");
    }
}

#[test]
fn a_catalog_and_a_name_reach_the_configuration() {
    let bench = Bench::new();
    bench.write(
        "mine/tools/x/tool.yaml",
        "name: x\ndescription: Say x.\nruntime: process\nentrypoint: echo\neffect: read_only\n",
    );
    let (code, _, said) = bench.run(&["--catalog", "mine", "connect", "codex", "--name", "gate-2", "--write"]);
    assert_eq!(code, 0, "{said}");
    let entry = entry(&bench, ".codex/config.toml", "/mcp_servers/gate-2");
    let catalog = entry["args"][2].as_str().unwrap();
    assert!(std::path::Path::new(catalog).is_absolute() && catalog.ends_with("mine"), "{entry}");
}

#[test]
fn the_global_files_are_the_users_own() {
    let bench = Bench::new();
    let (code, shown, _) = bench.run(&["connect", "claude", "--global", "--write"]);
    assert_eq!(code, 0);
    assert!(bench.path("home/.claude.json").exists() && bench.path("home/.claude/settings.json").exists());
    assert!(!shown.contains("--global"), "{shown}");
    let (_, shown, _) = bench.run(&["connect", "claude"]);
    assert!(shown.contains("`--global` keeps them out of the repository"), "{shown}");
}

#[test]
fn goose_is_shown_and_asking_to_write_it_is_refused_with_what_to_do() {
    let bench = Bench::new();
    let before = everything(&bench);
    let (code, shown, _) = bench.run(&["connect", "goose"]);
    assert!(code == 0 && shown.contains("(by hand)") && shown.contains("ask_before"), "{shown}");
    let (code, again, said) = bench.run(&["connect", "goose", "--write"]);
    assert_eq!((code, again), (2, shown));
    assert!(said.contains("is not edited by gatelatch") && said.contains("help: "), "{said}");
    assert_eq!(everything(&bench), before);
}

#[test]
fn a_broken_file_and_a_wrong_name_are_usage_errors_that_say_what_to_do() {
    let bench = Bench::new();
    bench.write(".cursor/mcp.json", "{\n  \"mcpServers\": {,}\n}\n");
    let (code, _, said) = bench.run(&["connect", "cursor", "--write"]);
    assert_eq!(code, 2);
    assert!(said.contains(".cursor/mcp.json:2:18: ") && said.contains("help: mend the file first"), "{said}");
    let (code, _, said) = bench.run(&["connect", "gemini", "--name", "my_gate"]);
    assert!(code == 2 && said.contains("`my_gate`") && said.contains("help: use at most 39 letters"), "{said}");
}

#[test]
fn doctor_tells_of_every_client_that_is_connected_and_of_what_it_lacks() {
    for (client, files, _) in CLIENTS {
        let bench = Bench::new();
        let (_, told, _) = bench.run(&["doctor"]);
        assert!(!told.contains("starts this gatelatch"), "{client}: {told}");
        bench.run(&["connect", client, "--write"]);
        let (_, told, _) = bench.run(&["doctor"]);
        assert!(told.contains("starts this gatelatch"), "{client}: {told}");
        if client == "claude-code" {
            std::fs::remove_file(bench.path(files[1])).unwrap();
            let (code, told, _) = bench.run(&["doctor"]);
            assert!(code == 1 && told.contains("fail client: Claude Code"), "{told}");
        }
    }
}

#[test]
fn a_file_that_comes_or_goes_is_told_as_such() {
    for (client, files, _) in CLIENTS {
        let bench = Bench::new();
        let (_, written, _) = bench.run(&["connect", client, "--write"]);
        let (_, again, _) = bench.run(&["connect", client]);
        let (_, undone, _) = bench.run(&["connect", client, "--undo"]);
        for file in files {
            assert!(written.contains(&format!("{file} (new file)\n")), "{client}: {written}");
            assert!(undone.contains(&format!("{file} (removed)\n")), "{client}: {undone}");
        }
        assert!(!again.contains("(new file)") && !again.contains("(removed)"), "{client}: {again}");
        bench.write(files[0], if files[0].ends_with(".toml") { "" } else { "{}" });
        let (_, written, _) = bench.run(&["connect", client, "--write"]);
        assert!(!written.contains(&format!("{} (new file)", files[0])), "{client}: {written}");
    }
}

#[test]
fn the_chat_server_stands_beside_the_operators_and_undo_takes_it_alone() {
    for (client, files, pointer) in CLIENTS {
        let bench = Bench::new();
        let untouched = everything(&bench);
        bench.run(&["connect", client, "--write"]);
        let with_operator = everything(&bench);
        let (code, shown, said) = bench.run(&["connect", client, "--chat", "--write"]);
        assert_eq!(code, 0, "{client}: {shown}{said}");
        for word in ["confirmed", "permission", "approval", "instructions", "allow"] {
            assert!(!shown.contains(word), "{client}: no rule and no page: {shown}");
        }
        let operator = entry(&bench, files[0], pointer);
        assert!(operator.to_string().contains("operator"), "{client}: {operator}");
        let chat = entry(&bench, files[0], &format!("{pointer}-chat"));
        let words = [&chat["command"], &chat["args"]].into_iter().flat_map(|value| match value {
            Value::Array(words) => words.clone(),
            _ => Vec::new(),
        });
        let words: Vec<String> = words.map(|word| word.as_str().unwrap().to_owned()).collect();
        assert_eq!(words.last().unwrap(), "chat", "{client}: {chat}");
        let mut server = bench.serve(&["chat"]);
        server.initialize();
        let tools = server.request("tools/list", json!({}))["result"]["tools"].clone();
        assert!(tools.to_string().contains("xlsx_overview"), "{client}: {tools}");
        assert_eq!(server.end().0, 0);
        let (_, again, _) = bench.run(&["connect", client, "--chat", "--write"]);
        assert!(again.contains("nothing to change"), "{client}: {again}");
        let (_, told, _) = bench.run(&["doctor"]);
        assert!(
            told.contains("starts this gatelatch's chat server") && told.contains("starts this gatelatch and asks"),
            "{client}: {told}"
        );

        let (code, undone, _) = bench.run(&["connect", client, "--chat", "--undo"]);
        assert_eq!((code, everything(&bench)), (0, with_operator), "{client}: {undone}");
        bench.run(&["connect", client, "--chat", "--write"]);
        bench.run(&["connect", client, "--undo"]);
        let left = std::fs::read_to_string(bench.path(files[0])).unwrap();
        assert!(
            left.contains("gatelatch-chat") && !left.contains("\"operator\"") && !left.contains("run_tool"),
            "{client}: {left}"
        );
        bench.run(&["connect", client, "--undo"]);

        let alone = Bench::new();
        let (_, written, _) = alone.run(&["connect", client, "--chat", "--write"]);
        assert!(written.contains(&format!("{} (new file)", files[0])), "{client}: {written}");
        let (_, undone, _) = alone.run(&["connect", client, "--chat", "--undo"]);
        assert_eq!(everything(&alone).len(), untouched.len(), "{client}: {undone}");
    }
}

#[test]
fn the_chat_server_gets_the_catalog_and_the_declaration_that_hold_here() {
    let bench = Bench::new();
    bench.write(
        "mine/tools/x/tool.yaml",
        "name: x\ndescription: Say x.\nruntime: process\nentrypoint: echo\neffect: read_only\nidempotent: true\nopen_world: false\n",
    );
    let (code, _, said) = bench.run(&["--catalog", "mine", "connect", "cursor", "--chat", "--write"]);
    assert!(
        code == 2 && said.contains("no catalog folder has a `chat_surface.yaml`") && said.contains("help: "),
        "{said}"
    );
    bench.write("own.yaml", "surface_version: 1.0.0\ntools: []\n");
    let connect = |words: &[&str]| bench.run(&[&["--catalog", "mine", "connect", "cursor"], words].concat());
    let (code, _, said) = connect(&["--chat", "--surface", "own.yaml", "--write"]);
    assert!(code == 2 && said.contains("own.yaml:"), "a declaration with errors is told first: {said}");
    let tool = "  - {name: x_say, title: Say, description: Says x., tool: x, read_only: true, reversible: true, idempotent: true, open_world: false, output_schema: {type: object}}\n";
    bench.write("own.yaml", &format!("surface_version: 1.0.0\ntools:\n{tool}"));
    let (code, _, said) = connect(&["--chat", "--surface", "own.yaml", "--write"]);
    assert_eq!(code, 0, "{said}");
    let args = entry(&bench, ".cursor/mcp.json", "/mcpServers/gatelatch-chat")["args"].clone();
    let args: Vec<&str> = args.as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    let mut server = bench.serve(&args);
    server.initialize();
    assert_eq!(server.request("tools/list", json!({}))["result"]["tools"][0]["name"], "x_say", "{args:?}");
    server.end();
    assert!(args[3] == "--surface" && std::path::Path::new(args[4]).is_absolute(), "{args:?}");

    bench.write("gatelatch.yaml", "catalog: [mine]\nchat_surface: own.yaml\n");
    bench.run(&["connect", "gemini-cli", "--chat", "--write"]);
    let args = entry(&bench, ".gemini/settings.json", "/mcpServers/gatelatch-chat")["args"].clone();
    assert!(args[4].as_str().unwrap().ends_with("own.yaml"), "{args}");
    let (_, shown, _) = bench.run(&["connect", "goose", "--chat"]);
    assert!(
        shown.contains("gatelatch-chat:") && shown.contains("own.yaml") && !shown.contains("ask_before"),
        "{shown}"
    );
}

/// Two tools, of which each takes its time.
fn slow(bench: &Bench) {
    let action = |name: &str| {
        let means = "effect: read_only, idempotent: true, open_world: false, output_schema: {type: object, properties: {found: {type: string}}, required: [found]}";
        format!("  - {{name: {name}, description: Say it., limits: {{timeout_s: 200}}, {means}}}\n")
    };
    let manifest = "name: x\ndescription: Say x.\nruntime: process\nentrypoint: echo\nactions:\n";
    bench.write("mine/tools/x/tool.yaml", &format!("{manifest}{}{}", action("list-all"), action("show-one")));
    let means = "read_only: true, reversible: true, idempotent: true, open_world: false";
    let one = format!(
        "  - {{name: x_list, title: List, description: Lists., tool: x, action: list-all, {means}, output_schema: {{type: object}}}}\n"
    );
    let steps = "steps: [{id: a, tool: x, action: list-all}, {id: b, tool: x, action: show-one}], output: {found: {step: b, at: /found}}";
    let two = format!(
        "  - {{name: x_both, title: Both, description: Does both., {steps}, {means}, output_schema: {{type: object, properties: {{found: {{type: string}}}}}}}}\n"
    );
    bench.write("mine/chat_surface.yaml", &format!("surface_version: 1.0.0\ntools:\n{one}{two}"));
}

#[test]
fn a_client_waits_for_what_the_longest_tool_may_take_with_all_of_its_steps() {
    let bench = Bench::new();
    slow(&bench);
    let shown = |words: &[&str]| {
        let (code, out, err) = bench.run(&[&["--catalog", "mine", "connect"], words].concat());
        assert_eq!(code, 0, "{out}{err}");
        out
    };
    for (client, operator, chat) in [
        ("codex", "\"tool_timeout_sec\":230", "\"tool_timeout_sec\":430"),
        ("opencode", "\"timeout\":230000", "\"timeout\":430000"),
        ("goose", "timeout: 230\n", "timeout: 430\n"),
    ] {
        let (own, curated) = (shown(&[client]), shown(&[client, "--chat"]));
        let plain = |text: &str| text.replace("\": ", "\":").replace(" = ", "\":");
        assert!(plain(&own).contains(operator), "{client}: {own}");
        assert!(plain(&curated).contains(chat), "{client}: {curated}");
    }
    shown(&["codex", "--write"]);
    shown(&["codex", "--chat", "--write"]);
    let (_, told, _) = bench.run(&["--catalog", "mine", "doctor"]);
    assert!(told.contains("Codex starts this gatelatch's chat server") && !told.contains("Codex lacks"), "{told}");
    // Connected with a declaration of its own, and looked at from where there is none.
    let alone = Bench::new();
    slow(&alone);
    std::fs::rename(alone.path("mine/chat_surface.yaml"), alone.path("own.yaml")).unwrap();
    let text = std::fs::read_to_string(alone.path("own.yaml")).unwrap();
    alone.write("own.yaml", text.split("  - {name: x_both").next().unwrap());
    let manifest = std::fs::read_to_string(alone.path("mine/tools/x/tool.yaml")).unwrap();
    alone.write("mine/tools/x/tool.yaml", &manifest.replace("timeout_s: 200", "timeout_s: 20"));
    alone.run(&["--catalog", "mine", "connect", "codex", "--chat", "--surface", "own.yaml", "--write"]);
    let (_, told, _) = alone.run(&["--catalog", "mine", "doctor"]);
    assert!(
        told.contains("Codex starts gatelatch with other arguments") && !told.contains("tool_timeout_sec"),
        "{told}"
    );
}

#[test]
fn a_declaration_that_the_server_would_not_serve_is_not_connected_and_what_would_be_left_out_is_told() {
    let bench = Bench::new();
    slow(&bench);
    let surface = ["connect", "cursor", "--chat", "--write", "--surface", "mine/chat_surface.yaml"];
    let untouched = everything(&bench);
    let (code, out, err) = bench.run(&surface);
    assert_eq!((code, out.as_str()), (2, ""), "{err}");
    assert!(
        err.contains("no tool of mine/chat_surface.yaml agrees with the catalog (3 errors)")
            && err.contains("name the catalog that it was written for with --catalog")
            && err.contains("`gatelatch chat --list --surface mine/chat_surface.yaml`"),
        "{err}"
    );
    assert_eq!(everything(&bench), untouched);
    let text = std::fs::read_to_string(bench.path("mine/chat_surface.yaml")).unwrap();
    bench.write("mine/chat_surface.yaml", &text.replacen("action: show-one", "action: show-two", 1));
    let (code, _, err) = bench.run(&[&["--catalog", "mine"], &surface[..]].concat());
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("warning: `x_both` does not agree with the catalog and will be left out"), "{err}");
    let (code, _, err) = bench.run(&["connect", "cursor", "--chat", "--undo"]);
    assert_eq!(code, 0, "{err}");
}

#[test]
fn neither_server_takes_the_others_name_and_a_declaration_is_the_chat_servers_alone() {
    let bench = Bench::new();
    for words in [&["--chat", "--name", "gatelatch"][..], &["--name", "gatelatch-chat"]] {
        let (code, _, said) = bench.run(&[&["connect", "codex"], words].concat());
        assert!(code == 2 && said.contains("is the name of gatelatch's other server"), "{said}");
    }
    let (code, _, said) = bench.run(&["connect", "codex", "--surface", "x.yaml"]);
    assert!(code == 2 && said.contains("--chat"), "{said}");
}

#[test]
fn taking_back_needs_neither_catalog_nor_declaration() {
    for (client, ..) in CLIENTS {
        let bench = Bench::new();
        let before = everything(&bench);
        for chat in [&[][..], &["--chat"]] {
            bench.run(&[&["connect", client, "--write"], chat].concat());
            bench.write("gatelatch.yaml", "catalog: [gone]\nchat_surface: gone.yaml\n");
            let (code, _, said) = bench.run(&[&["connect", client, "--undo"], chat].concat());
            std::fs::remove_file(bench.path("gatelatch.yaml")).unwrap();
            assert_eq!((code, everything(&bench)), (0, before.clone()), "{client}: {said}");
        }
    }
}
