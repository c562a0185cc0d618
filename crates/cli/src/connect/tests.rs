//! What holds for every client: shapes of files, undo to the byte, links, warnings, and nothing of the user's lost.

use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::bench::{Bench, PROGRAM, decorated};
use super::draft::{Draft, Want, When};
use super::sheet::Form;
use super::syntax::{Syntax, path};
use super::{Client, ConnectError, Plan, Scope, Server, apply};

/// The clients whose files are written, each with its project's files and the user's own, the server's file first.
const WRITTEN: [(Client, &[&str], &[&str]); 5] = [
    (
        Client::Claude,
        &["project/.mcp.json", "project/.claude/settings.json"],
        &["home/.claude.json", "home/.claude/settings.json"],
    ),
    (Client::Codex, &["project/.codex/config.toml"], &["home/.codex/config.toml"]),
    (Client::Cursor, &["project/.cursor/mcp.json"], &["home/.cursor/mcp.json"]),
    (Client::Gemini, &["project/.gemini/settings.json"], &["home/.gemini/settings.json"]),
    (
        Client::Vscode,
        &["project/.vscode/mcp.json", "project/.vscode/settings.json"],
        &["home/.config/Code/User/mcp.json", "home/.config/Code/User/settings.json"],
    ),
];

fn syntax(file: &str) -> Syntax {
    if file.ends_with(".toml") { Syntax::Toml } else { Syntax::Jsonc }
}

fn value(bench: &Bench, file: &str) -> Value {
    syntax(file).parse(&bench.read(file)).unwrap()
}

#[track_caller]
fn check_said(plan: &Plan, words: &[&str]) {
    let said = plan.warnings.iter().any(|warning| words.iter().all(|word| warning.contains(word)));
    assert!(said, "nothing warns of {words:?}:\n{plan}");
}

/// Connects with this text in one file, compares the file afterwards, and undoes it to the byte.
#[track_caller]
fn check_merge(client: Client, scope: Scope, file: &str, before: &str, after: &str) {
    let bench = Bench::new(client, scope);
    bench.write(file, before);
    let all = bench.everything();
    bench.connect();
    assert_eq!(bench.read(file), after.replace("PROGRAM", &PROGRAM.replace('\\', "\\\\")));
    assert!(bench.plan().is_empty(), "the second time changes nothing");
    bench.disconnect();
    assert_eq!(bench.everything(), all);
}

#[test]
fn every_client_gets_its_files_where_there_was_none_and_undo_removes_them() {
    for (client, project, global) in WRITTEN {
        for (scope, files) in [(Scope::Project, project), (Scope::Global, global)] {
            let bench = Bench::new(client, scope);
            let before = bench.everything();
            let plan = bench.connect();
            assert_eq!(plan.files.len(), files.len());
            for (planned, file) in plan.files.iter().zip(files) {
                assert_eq!(planned.named, bench.path(file));
                assert!(bench.read(file).ends_with('\n'), "{file}");
            }
            assert!(bench.read(files[0]).contains(&PROGRAM.replace('\\', "\\\\")), "{client:?}");
            assert!(bench.connect().is_empty(), "{client:?}: the second time changes nothing");
            bench.disconnect();
            assert_eq!(bench.everything(), before, "{client:?}");
            assert!(bench.disconnect().is_empty(), "{client:?}: a second undo has nothing to do");
        }
    }
}

#[test]
fn a_file_for_everybody_is_told_to_name_this_machines_paths() {
    for (client, project, _) in WRITTEN {
        let told = |scope| {
            let plan = Bench::new(client, scope).plan();
            plan.notes
                .iter()
                .any(|note| note.contains(project[0].trim_start_matches("project")) && note.contains("--global"))
        };
        assert!(told(Scope::Project), "{client:?}");
        assert!(!told(Scope::Global), "{client:?}");
    }
}

#[test]
fn what_every_client_is_told_about_its_tools() {
    let wanted = |client, file| {
        let bench = Bench::new(client, Scope::Project);
        bench.connect();
        value(&bench, file)
    };
    let args = json!(["operator"]);
    assert_eq!(
        wanted(Client::Claude, "project/.mcp.json"),
        json!({"mcpServers": {"gatelatch": {"type": "stdio", "command": PROGRAM, "args": args}}})
    );
    assert_eq!(
        wanted(Client::Claude, "project/.claude/settings.json"),
        json!({"permissions": {
            "ask": ["mcp__gatelatch__run_tool_confirmed", "mcp__gatelatch__run_agent_confirmed"],
            "allow": ["mcp__gatelatch__capabilities", "mcp__gatelatch__run_tool",
                "mcp__gatelatch__run_agent", "mcp__gatelatch__get_skill"],
        }})
    );
    assert_eq!(
        wanted(Client::Vscode, "project/.vscode/mcp.json"),
        json!({"servers": {"gatelatch": {"type": "stdio", "command": PROGRAM, "args": args}}})
    );
    assert_eq!(
        wanted(Client::Vscode, "project/.vscode/settings.json"),
        json!({"chat.tools.eligibleForAutoApproval": {"run_tool_confirmed": false, "run_agent_confirmed": false}})
    );
    assert_eq!(
        wanted(Client::Cursor, "project/.cursor/mcp.json"),
        json!({"mcpServers": {"gatelatch": {"type": "stdio", "command": PROGRAM, "args": args}}})
    );
    assert_eq!(
        wanted(Client::Gemini, "project/.gemini/settings.json"),
        json!({
            "mcpServers": {"gatelatch": {"command": PROGRAM, "args": args}},
            "tools": {
                "confirmationRequired": ["mcp_gatelatch_run_tool_confirmed", "mcp_gatelatch_run_agent_confirmed"],
                "allowed": ["mcp_gatelatch_capabilities", "mcp_gatelatch_run_tool",
                    "mcp_gatelatch_run_agent", "mcp_gatelatch_get_skill"],
            },
        })
    );
    let mode = |mode: &str| json!({ "approval_mode": mode });
    assert_eq!(
        wanted(Client::Codex, "project/.codex/config.toml"),
        json!({"mcp_servers": {"gatelatch": {
            "command": PROGRAM, "args": args, "tool_timeout_sec": 150,
            "tools": {
                "run_tool_confirmed": mode("prompt"), "run_agent_confirmed": mode("prompt"),
                "capabilities": mode("approve"), "run_tool": mode("approve"),
                "run_agent": mode("approve"), "get_skill": mode("approve"),
            },
        }}})
    );
}

#[test]
fn json_keeps_comments_order_and_trailing_commas() {
    check_merge(
        Client::Vscode,
        Scope::Project,
        "project/.vscode/mcp.json",
        "// head\n{\n\t\"inputs\": [], // mine\n\t\"servers\": {\n\t\t\"other\": { \"url\": \"https://x.org\" }, // theirs\n\t},\n}\n",
        "// head\n{\n\t\"inputs\": [], // mine\n\t\"servers\": {\n\t\t\"other\": { \"url\": \"https://x.org\" }, // theirs\n\t\t\"gatelatch\": {\n\t\t\t\"type\": \"stdio\",\n\t\t\t\"command\": \"PROGRAM\",\n\t\t\t\"args\": [\"operator\"],\n\t\t},\n\t},\n}\n",
    );
    check_merge(
        Client::Claude,
        Scope::Project,
        "project/.claude/settings.json",
        "{\n  \"permissions\": {\n    \"allow\": [\"Bash(git *)\", \"mcp__gatelatch\"],\n    \"deny\": [] /* none */\n  }\n}",
        "{\n  \"permissions\": {\n    \"allow\": [\"Bash(git *)\", \"mcp__gatelatch\", \"mcp__gatelatch__capabilities\", \"mcp__gatelatch__run_tool\", \"mcp__gatelatch__run_agent\", \"mcp__gatelatch__get_skill\"],\n    \"deny\": [], /* none */\n    \"ask\": [\"mcp__gatelatch__run_tool_confirmed\", \"mcp__gatelatch__run_agent_confirmed\"]\n  }\n}",
    );
    check_merge(
        Client::Vscode,
        Scope::Project,
        "project/.vscode/settings.json",
        "{\r\n  \"a.b\": 1,\r\n  \"chat.tools.eligibleForAutoApproval\": {\"run_tool_confirmed\": true}\r\n}\r\n",
        "{\r\n  \"a.b\": 1,\r\n  \"chat.tools.eligibleForAutoApproval\": {\r\n    \"run_tool_confirmed\": false,\r\n    \"run_agent_confirmed\": false\r\n  }\r\n}\r\n",
    );
}

const TABLES: &str = r#"
[mcp_servers.gatelatch]
command = "PROGRAM"
args = ["operator"]
tool_timeout_sec = 150

[mcp_servers.gatelatch.tools.run_tool_confirmed]
approval_mode = "prompt"

[mcp_servers.gatelatch.tools.run_agent_confirmed]
approval_mode = "prompt"

[mcp_servers.gatelatch.tools.capabilities]
approval_mode = "approve"

[mcp_servers.gatelatch.tools.run_tool]
approval_mode = "approve"

[mcp_servers.gatelatch.tools.run_agent]
approval_mode = "approve"

[mcp_servers.gatelatch.tools.get_skill]
approval_mode = "approve"
"#;

#[test]
fn toml_keeps_every_line_and_gets_its_tables_behind_them() {
    let file = "home/.codex/config.toml";
    let check = |before: &str, after: &str| check_merge(Client::Codex, Scope::Global, file, before, after);
    check("", TABLES.trim_start());
    let before = "# mine\nmodel = \"gpt\" # why\n\n[mcp_servers.other]\ncommand = 'x'\n# the end\n";
    check(before, &format!("{before}{TABLES}"));
    check("model = 'a'", &format!("model = 'a'\n{TABLES}"));
    // Dotted keys open the table too, and headers may follow.
    let dotted = "mcp_servers.other.command = \"x\"\n";
    check(dotted, &format!("{dotted}{TABLES}"));
}

#[test]
fn toml_that_is_one_value_is_edited_in_that_value() {
    let bench = Bench::new(Client::Codex, Scope::Global);
    let before = "mcp_servers = { other = { command = \"x\" } } # mine\n";
    bench.write("home/.codex/config.toml", before);
    bench.connect();
    let after = bench.read("home/.codex/config.toml");
    assert!(after.starts_with("mcp_servers = { other = { command = \"x\" }") && after.ends_with("# mine\n"), "{after}");
    let entry = &value(&bench, "home/.codex/config.toml")["mcp_servers"]["gatelatch"];
    assert_eq!(entry["tools"]["run_tool_confirmed"]["approval_mode"], "prompt");
    bench.disconnect();
    assert_eq!(bench.read("home/.codex/config.toml"), before);
}

#[test]
fn a_servers_entry_keeps_what_else_it_says() {
    let bench = Bench::new(Client::Codex, Scope::Global);
    bench.write(
        "home/.codex/config.toml",
        "[mcp_servers.gatelatch] # ours\ncommand = \"old\" # here\nargs = []\nenabled = false\n\n[mcp_servers.gatelatch.env]\nA = \"b\"\n",
    );
    bench.connect();
    let text = bench.read("home/.codex/config.toml");
    let start = format!(
        "[mcp_servers.gatelatch] # ours\ncommand = \"{}\" # here\nargs = [\"operator\"]\nenabled = true\n\n[mcp_servers.gatelatch.env]\nA = \"b\"\n",
        PROGRAM.replace('\\', "\\\\")
    );
    assert!(text.starts_with(&start), "{text}");

    let bench = Bench::new(Client::Cursor, Scope::Global);
    bench.write(
        "home/.cursor/mcp.json",
        r#"{"mcpServers": {"gatelatch": {"command": "old", "args": ["--hush"], "env": {"TOKEN": "secret"}}}}"#,
    );
    let plan = bench.connect();
    assert_eq!(
        value(&bench, "home/.cursor/mcp.json")["mcpServers"]["gatelatch"],
        json!({"command": PROGRAM, "args": ["operator"], "env": {"TOKEN": "secret"}})
    );
    let undo = bench.disconnect();
    assert!(!plan.to_string().contains("secret") && !undo.to_string().contains("secret"), "{plan}{undo}");
}

#[test]
fn another_kind_of_server_of_the_name_is_replaced_unseen_and_comes_back() {
    for (client, _, global) in WRITTEN {
        let bench = Bench::new(client, Scope::Global);
        let text = match client {
            Client::Codex => "[mcp_servers.gatelatch]\nurl = 'https://x.org'\nhttp_headers = {a = 'hush'}\n",
            Client::Vscode => r#"{"servers": {"gatelatch": {"url": "https://x.org", "headers": {"a": "hush"}}}}"#,
            _ => r#"{"mcpServers": {"gatelatch": {"url": "https://x.org", "headers": {"a": "hush"}}}}"#,
        };
        bench.write(global[0], text);
        let plan = bench.connect();
        assert!(!bench.read(global[0]).contains("https://x.org"), "{client:?}");
        // A word more, so that undo cannot simply put the old text back.
        let edited = match client {
            Client::Codex => format!("model = 'a'\n{}", bench.read(global[0])),
            _ => bench.read(global[0]).replacen('{', "{\"mine\": 1,", 1),
        };
        bench.write(global[0], &edited);
        let undo = bench.disconnect();
        let mut expected = syntax(global[0]).parse(text).unwrap();
        expected[if client == Client::Codex { "model" } else { "mine" }] =
            if client == Client::Codex { json!("a") } else { json!(1) };
        assert_eq!(value(&bench, global[0]), expected, "{client:?}");
        assert!(!plan.to_string().contains("hush") && !undo.to_string().contains("hush"), "{plan}{undo}");
    }
}

#[test]
fn a_rule_that_would_let_a_confirmed_tool_through_is_overruled() {
    let bench = Bench::new(Client::Codex, Scope::Global);
    bench.write(
        "home/.codex/config.toml",
        "[mcp_servers.gatelatch]\ncommand = 'x'\n[mcp_servers.gatelatch.tools]\nrun_tool_confirmed = { approval_mode = 'approve' } # mine\n",
    );
    bench.connect();
    let tools = &value(&bench, "home/.codex/config.toml")["mcp_servers"]["gatelatch"]["tools"];
    assert_eq!(tools["run_tool_confirmed"]["approval_mode"], "prompt");
    assert!(bench.read("home/.codex/config.toml").contains("approval_mode = \"prompt\" } # mine"));

    let bench = Bench::new(Client::Gemini, Scope::Global);
    bench.write("home/.gemini/settings.json", r#"{"mcpServers": {"gatelatch": {"command": "x", "trust": true}}}"#);
    bench.connect();
    assert_eq!(value(&bench, "home/.gemini/settings.json")["mcpServers"]["gatelatch"]["trust"], false);
    bench.disconnect();
    assert_eq!(value(&bench, "home/.gemini/settings.json")["mcpServers"]["gatelatch"]["trust"], true);
}

#[test]
fn a_stricter_word_of_the_user_is_not_loosened() {
    let bench = Bench::new(Client::Codex, Scope::Global);
    bench.write(
        "home/.codex/config.toml",
        "[mcp_servers.gatelatch]\ncommand = 'x'\ndefault_tools_approval_mode = 'prompt'\n",
    );
    bench.connect();
    let tools = &value(&bench, "home/.codex/config.toml")["mcp_servers"]["gatelatch"]["tools"];
    assert_eq!(tools.as_object().unwrap().len(), 2, "{tools}");

    let bench = Bench::new(Client::Codex, Scope::Global);
    bench.write("home/.codex/config.toml", "[mcp_servers.gatelatch.tools.run_tool]\napproval_mode = 'prompt'\n");
    bench.connect();
    let tools = &value(&bench, "home/.codex/config.toml")["mcp_servers"]["gatelatch"]["tools"];
    assert_eq!(tools["run_tool"]["approval_mode"], "prompt");
}

#[test]
fn a_projects_first_list_repeats_what_it_replaces() {
    let bench = Bench::new(Client::Gemini, Scope::Project);
    bench.write(
        "home/.gemini/settings.json",
        r#"{"tools": {"confirmationRequired": ["write_file", "mcp_gatelatch_run_tool"], "allowed": ["ls"]}}"#,
    );
    bench.connect();
    let tools = value(&bench, "project/.gemini/settings.json")["tools"].clone();
    assert_eq!(tools["confirmationRequired"][0], "write_file");
    assert_eq!(tools["confirmationRequired"].as_array().unwrap().len(), 3);
    assert_eq!(tools["allowed"][0], "ls");
    assert!(bench.connect().is_empty());
    let edited = bench.read("project/.gemini/settings.json").replacen('{', "{\"mine\": 1,", 1);
    bench.write("project/.gemini/settings.json", &edited);
    bench.disconnect();
    assert_eq!(value(&bench, "project/.gemini/settings.json"), json!({"mine": 1}));
}

#[test]
fn undo_after_an_edit_takes_out_our_parts_alone() {
    for (client, project, _) in WRITTEN {
        let bench = Bench::new(client, Scope::Project);
        let texts: Vec<&str> =
            project
                .iter()
                .map(|file| {
                    if syntax(file) == Syntax::Toml { "model = 'a' # why\n" } else { "{\n  // mine\n  \"x\": [1]\n}\n" }
                })
                .collect();
        project.iter().zip(&texts).for_each(|(file, text)| bench.write(file, text));
        bench.connect();
        for file in project {
            let text = bench.read(file);
            let edited = if syntax(file) == Syntax::Toml {
                format!("{text}# after\n")
            } else {
                text.replace("// mine", "// yours")
            };
            bench.write(file, &edited);
        }
        let plan = bench.disconnect();
        assert_eq!(plan.notes.len(), project.len(), "{plan}");
        for (file, text) in project.iter().zip(&texts) {
            let expected = if syntax(file) == Syntax::Toml {
                format!("{text}# after\n")
            } else {
                text.replace("// mine", "// yours")
            };
            assert_eq!(bench.read(file), expected);
        }
    }
}

#[test]
fn undo_without_a_record_takes_out_what_looks_like_ours() {
    for (client, project, _) in WRITTEN {
        for kind in [Server::Operator, Server::Chat { surface: None }] {
            taken_out_without_a_record(client, kind, project);
        }
    }
}

fn taken_out_without_a_record(client: Client, kind: Server, project: &[&str]) {
    let mut bench = Bench::new(client, Scope::Project);
    bench.request.server = kind.own_name().to_owned();
    bench.request.kind = kind;
    for file in project {
        bench.write(file, if syntax(file) == Syntax::Toml { "model = 'a'\n" } else { "{\"x\": 1}\n" });
    }
    bench.connect();
    fs::remove_dir_all(bench.path("state")).unwrap();
    bench.disconnect();
    for file in project {
        let expected = if syntax(file) == Syntax::Toml { json!({"model": "a"}) } else { json!({"x": 1}) };
        assert_eq!(value(&bench, file), expected, "{client:?}");
    }
}

#[test]
fn undo_leads_back_to_before_the_first_of_several_connects() {
    for (client, _, global) in WRITTEN {
        let mut bench = Bench::new(client, Scope::Global);
        bench.write(global[0], if syntax(global[0]) == Syntax::Toml { "# mine\n" } else { "{ /* mine */ }" });
        let before = bench.everything();
        bench.connect();
        bench.request.catalogs = vec![bench.path("catalog")];
        let again = bench.connect();
        assert_eq!(again.files[0].changes.len(), 1, "{again}");
        bench.disconnect();
        assert_eq!(bench.everything(), before, "{client:?}");
    }
}

#[test]
fn a_broken_file_is_refused_with_its_place_and_nothing_is_written() {
    for (client, project, _) in WRITTEN {
        for broken in project {
            let bench = Bench::new(client, Scope::Project);
            let (text, place) = if syntax(broken) == Syntax::Toml {
                ("a = 1\nb = = 2\n", "2:5: ")
            } else {
                ("{\n  \"a\" 1\n}", "2:7: ")
            };
            bench.write(broken, text);
            let before = bench.everything();
            let error = bench.refusal().to_string();
            assert!(error.starts_with(&format!("{}:{place}", bench.path(broken).display())), "{error}");
            assert_eq!(bench.everything(), before);
        }
    }
    let bench = Bench::new(Client::Codex, Scope::Project);
    bench.write("project/.codex/config.toml", "mcp_servers = 1\n");
    assert!(bench.refusal().to_string().ends_with("config.toml:1:15: `mcp_servers` must be an object"));
    let bench = Bench::new(Client::Claude, Scope::Project);
    bench.write("project/.claude/settings.json", "{\"permissions\": {\"ask\": {}}}");
    assert!(bench.refusal().to_string().ends_with("settings.json:1:25: `permissions.ask` must be an array"));
}

#[test]
fn names_and_paths_that_a_client_would_not_take_are_refused() {
    for (client, name) in [
        (Client::Claude, "a b"),
        (Client::Codex, "a.b"),
        (Client::Cursor, ""),
        (Client::Gemini, "my_gate"),
        (Client::Gemini, "a-name-that-is-longer-than-gemini-cli-takes"),
        (Client::Goose, "Gate"),
        (Client::Vscode, "gate*"),
    ] {
        let mut bench = Bench::new(client, Scope::Global);
        bench.request.server = name.to_owned();
        assert!(matches!(bench.refusal(), ConnectError::ServerName { .. }), "{client:?} {name}");
    }
    for client in [Client::Claude, Client::Cursor, Client::Gemini, Client::Vscode] {
        let mut bench = Bench::new(client, Scope::Global);
        bench.request.program = bench.path("${HOME}/gatelatch");
        assert!(matches!(bench.refusal(), ConnectError::Unwritable(_)), "{client:?}");
    }
}

#[test]
fn the_users_folders_follow_the_clients_own_variables() {
    for (client, variable, file) in [
        (Client::Claude, "CLAUDE_CONFIG_DIR", "elsewhere/.claude.json"),
        (Client::Codex, "CODEX_HOME", "elsewhere/config.toml"),
        (Client::Gemini, "GEMINI_CLI_HOME", "elsewhere/.gemini/settings.json"),
    ] {
        let mut bench = Bench::new(client, Scope::Global);
        let elsewhere = bench.path("elsewhere").display().to_string();
        bench.surroundings.environment.insert(variable.to_owned(), elsewhere);
        assert_eq!(bench.plan().files[0].named, bench.path(file));
    }
}

#[test]
fn a_named_file_brings_the_settings_beside_it() {
    let bench = Bench::new(Client::Vscode, Scope::File(PathBuf::from("profile/mcp.json")));
    let plan = bench.plan();
    assert_eq!(plan.files[1].named, bench.path("project/sub/profile/settings.json"));
    let bench = Bench::new(Client::Claude, Scope::File(PathBuf::from(".mcp.json")));
    let plan = bench.plan();
    assert_eq!(plan.files[1].named, bench.path("project/sub/.claude/settings.json"));
}

#[test]
fn without_a_repository_no_file_above_the_working_folder_is_taken_for_the_projects() {
    let bench = Bench::new(Client::Cursor, Scope::Project);
    fs::remove_dir(bench.path("project/.git")).unwrap();
    bench.write("project/.cursor/mcp.json", "{}");
    assert_eq!(bench.plan().files[0].named, bench.path("project/sub/.cursor/mcp.json"));
}

// Warnings.

#[test]
fn what_lets_claude_code_pass_over_the_rules_is_told() {
    let bench = Bench::new(Client::Claude, Scope::Project);
    assert_eq!(bench.plan().warnings, Vec::<String>::new());
    let name = bench.path("project").display().to_string();
    bench.write("home/.claude.json", &json!({"projects": {name: {"mcpServers": {"gatelatch": {}}}}}).to_string());
    bench.write("project/.claude/settings.local.json", r#"{"disabledMcpjsonServers": ["gatelatch"]}"#);
    bench.write(
        "home/.claude/settings.json",
        r#"{"permissions": {"deny": ["mcp__gatelatch__run_tool"], "ask": ["mcp__gatelatch"], "defaultMode": "dontAsk"}}"#,
    );
    let plan = bench.plan();
    check_said(&plan, &[".claude.json", "comes first"]);
    check_said(&plan, &["settings.local.json", "disables the server"]);
    for words in ["`mcp__gatelatch__run_tool` is refused", "every tool asks each time", "`dontAsk`"] {
        assert!(plan.notes.iter().any(|note| note.contains(words)), "{words}: {plan}");
    }
    let bench = Bench::new(Client::Claude, Scope::Global);
    bench.write("project/.mcp.json", r#"{"mcpServers": {"gatelatch": {"command": "other"}}}"#);
    check_said(&bench.plan(), &[".mcp.json", "comes first"]);
}

#[test]
fn what_lets_vs_code_run_a_confirmed_tool_is_told() {
    let bench = Bench::new(Client::Vscode, Scope::Global);
    assert_eq!(bench.plan().warnings, Vec::<String>::new());
    bench.write(
        "project/.vscode/settings.json",
        r#"{"chat.tools.eligibleForAutoApproval": {"run_tool_confirmed": true}, "chat.permissions.default": "autopilot"}"#,
    );
    bench.write(
        "home/.config/Code/User/mcp.json",
        r#"{"servers": {"gatelatch": {"command": "x", "sandboxEnabled": true}}}"#,
    );
    let plan = bench.plan();
    check_said(&plan, &["`run_tool_confirmed` may run"]);
    check_said(&plan, &["autopilot"]);
    check_said(&plan, &["sandboxEnabled"]);
    assert_eq!(plan.warnings.len(), 3, "{plan}");
}

#[test]
fn what_lets_codex_run_a_confirmed_tool_is_told() {
    let bench = Bench::new(Client::Codex, Scope::Global);
    assert_eq!(bench.plan().warnings, Vec::<String>::new());
    bench.write(
        "home/.codex/config.toml",
        "approval_policy = 'never'\nsandbox_mode = 'danger-full-access'\n[profiles.fast]\napprovals_reviewer = 'auto_review'\n",
    );
    bench.write(
        "project/.codex/config.toml",
        "[mcp_servers.gatelatch]\nenabled = false\ndisabled_tools = ['get_skill']\n[mcp_servers.gatelatch.tools.run_agent_confirmed]\napproval_mode = 'auto'\n",
    );
    let plan = bench.plan();
    check_said(&plan, &["run without a question", "approval_policy"]);
    check_said(&plan, &["a model may answer", "profiles.fast."]);
    check_said(&plan, &["`run_agent_confirmed`", "`auto`"]);
    check_said(&plan, &["disables the server"]);
    assert!(plan.notes.iter().any(|note| note.contains("`get_skill` is hidden")), "{plan}");
}

#[test]
fn what_lets_gemini_cli_run_a_confirmed_tool_is_told() {
    let bench = Bench::new(Client::Gemini, Scope::Global);
    assert_eq!(bench.plan().warnings, Vec::<String>::new());
    bench.write(
        "project/.gemini/settings.json",
        r#"{"mcpServers": {"gatelatch": {"command": "x", "trust": true}}, "mcp": {"allowed": ["other"]},
            "tools": {"confirmationRequired": [], "exclude": ["mcp_gatelatch_get_skill"]}}"#,
    );
    for (name, rule) in [
        ("server", "mcpName = 'gatelatch'\ndecision = 'allow'\npriority = 950\n"),
        ("tool", "toolName = ['ls', 'mcp_gatelatch_run_tool_confirmed']\ndecision = 'allow'\npriority = 400\n"),
        ("low", "toolName = '*'\ndecision = 'allow'\npriority = 349\n"),
        ("other", "mcpName = 'other'\ntoolName = '*'\ndecision = 'allow'\npriority = 999\n"),
        ("ask", "toolName = 'mcp_*'\ndecision = 'ask_user'\npriority = 999\n"),
    ] {
        bench.write(&format!("home/.gemini/policies/{name}.toml"), &format!("[[rule]]\n{rule}"));
    }
    let plan = bench.plan();
    check_said(&plan, &["trusts the server"]);
    check_said(&plan, &["keeps Gemini CLI from starting"]);
    check_said(&plan, &["replaces yours and lacks `mcp_gatelatch_run_agent_confirmed`"]);
    check_said(&plan, &["`mcp_gatelatch_run_agent_confirmed`", "priority 950", "server.toml"]);
    check_said(&plan, &["`mcp_gatelatch_run_tool_confirmed`", "priority 400", "tool.toml"]);
    let policies = plan.warnings.iter().filter(|warning| warning.contains("priority")).count();
    assert_eq!(policies, 3, "{plan}");
}

#[test]
fn what_lets_cursor_run_a_confirmed_tool_is_told() {
    for (pattern, warned) in [
        ("gatelatch:run_tool", 0),
        ("other:*", 0),
        ("gatelatch:run_tool_confirmed", 1),
        ("*:run_agent_confirmed", 1),
        ("gatelatch:*", 2),
        ("*:*", 2),
        ("gatelatch:*_confirmed", 2),
        ("gate*:run_*_confirmed", 2),
        ("gatelatch", 2),
        ("*", 2),
    ] {
        let bench = Bench::new(Client::Cursor, Scope::Project);
        bench.write("home/.cursor/permissions.json", &json!({ "mcpAllowlist": [pattern] }).to_string());
        assert_eq!(bench.plan().warnings.len(), warned, "{pattern}");
        let bench = Bench::new(Client::Cursor, Scope::Project);
        let rules = json!({"permissions": {"allow": ["Shell(ls)", format!("Mcp({pattern})")]}});
        bench.write("project/.cursor/cli.json", &rules.to_string());
        assert_eq!(bench.plan().warnings.len(), warned, "Mcp({pattern})");
    }
}

// goose.

#[test]
fn goose_is_shown_what_to_add_until_it_is_there_and_nothing_is_written() {
    let bench = Bench::new(Client::Goose, Scope::Global);
    let before = bench.everything();
    let plan = bench.connect();
    assert_eq!(bench.everything(), before);
    assert!(plan.is_empty() && plan.by_hand.len() == 3, "{plan}");
    check_said(&plan, &["every tool runs without a question"]);
    let (config, permission) = ("home/.config/goose/config.yaml", "home/.config/goose/permission.yaml");
    let text = |file: &str| -> String {
        plan.by_hand.iter().filter(|part| part.path == bench.path(file)).map(|part| part.text.as_str()).collect()
    };
    bench.write(config, &format!("# mine\n{}", text(config)));
    bench.write(permission, &text(permission));
    let plan = bench.plan();
    assert_eq!((plan.by_hand.as_slice(), plan.warnings.as_slice()), (&[][..], &[][..]), "{plan}");
    let undo = bench.disconnect();
    assert_eq!(
        undo.by_hand.iter().map(|part| part.path.clone()).collect::<Vec<_>>(),
        [bench.path(config), bench.path(permission)]
    );
}

#[test]
fn what_lets_goose_run_a_confirmed_tool_is_told() {
    let mut bench = Bench::new(Client::Goose, Scope::Global);
    bench.write("home/.config/goose/config.yaml", "GOOSE_MODE: approve\n");
    assert_eq!(bench.plan().warnings, Vec::<String>::new());
    bench.write(
        "home/.config/goose/permission.yaml",
        "user:\n  always_allow: [gatelatch__run_tool_confirmed]\n  ask_before: [gatelatch__run_agent_confirmed]\n  never_allow: [gatelatch__get_skill]\n",
    );
    bench.surroundings.environment.insert("GOOSE_MODE".to_owned(), "auto".to_owned());
    let plan = bench.plan();
    check_said(&plan, &["`gatelatch__run_tool_confirmed` runs without a question", "always_allow"]);
    check_said(&plan, &["environment", "`auto`"]);
    assert_eq!(plan.by_hand.len(), 2, "{plan}");
    bench.write("home/.config/goose/config.yaml", "a: [\n");
    assert!(matches!(bench.refusal(), ConnectError::Syntax { .. }));
}

// Links and failures.

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_link_of_the_users_own_is_followed_and_a_projects_link_out_of_it_is_refused() {
        for (client, project, global) in WRITTEN {
            for (file, own) in project.iter().zip(global) {
                let bench = Bench::new(client, Scope::Global);
                let empty = if syntax(own) == Syntax::Toml { "# mine\n" } else { "{}" };
                bench.write("dotfiles/real", empty);
                fs::create_dir_all(bench.path(own).parent().unwrap()).unwrap();
                symlink(bench.path("dotfiles/real"), bench.path(own)).unwrap();
                bench.connect();
                assert!(bench.path(own).is_symlink());
                assert_ne!(bench.read("dotfiles/real"), empty);
                bench.disconnect();
                assert_eq!(bench.read("dotfiles/real"), empty);

                let bench = Bench::new(client, Scope::Project);
                bench.write("elsewhere/real", empty);
                fs::create_dir_all(bench.path(file).parent().unwrap()).unwrap();
                symlink(bench.path("elsewhere/real"), bench.path(file)).unwrap();
                assert!(matches!(bench.refusal(), ConnectError::LeavesProject { .. }), "{client:?}");
            }
        }
        // A folder in the way counts as the file does, be the file there or not.
        let bench = Bench::new(Client::Vscode, Scope::Project);
        fs::create_dir_all(bench.path("elsewhere")).unwrap();
        symlink(bench.path("elsewhere"), bench.path("project/.vscode")).unwrap();
        let refusal = bench.refusal();
        let ConnectError::LeavesProject { real, .. } = &refusal else { panic!("{refusal}") };
        assert!(real.starts_with(bench.path("elsewhere")), "{refusal}");
    }

    #[test]
    fn a_link_to_what_is_not_there_is_told_as_such() {
        for link in ["project/.cursor", "project/.cursor/mcp.json"] {
            let bench = Bench::new(Client::Cursor, Scope::Project);
            fs::create_dir_all(bench.path(link).parent().unwrap()).unwrap();
            symlink("gone", bench.path(link)).unwrap();
            let told = bench.refusal().to_string();
            assert_eq!(told, format!("`{}` is a link to `gone`, which is not there", bench.path(link).display()));
        }
    }

    #[test]
    fn when_the_second_file_cannot_be_written_the_first_is_put_back() {
        let bench = Bench::new(Client::Claude, Scope::Project);
        bench.write("project/.mcp.json", "{}");
        let plan = bench.plan();
        let before = bench.everything();
        // The rules come first; the server's file has become a folder meanwhile in all but name.
        fs::remove_file(bench.path("project/.mcp.json")).unwrap();
        fs::create_dir(bench.path("project/.mcp.json")).unwrap();
        assert!(apply(&plan).is_err());
        fs::remove_dir(bench.path("project/.mcp.json")).unwrap();
        bench.write("project/.mcp.json", "{}");
        assert_eq!(bench.everything(), before);
    }
}

// Properties.

/// The wants of a client whose form is plain, in both syntaxes.
fn wants() -> Vec<Want> {
    vec![
        Want::Server {
            at: path(&["servers", "gatelatch"]),
            value: json!({"command": PROGRAM, "args": ["operator"], "timeout": 150}),
        },
        Want::Set { at: path(&["servers", "gatelatch", "trust"]), value: json!(false), when: When::Otherwise },
        Want::Set {
            at: path(&["servers", "gatelatch", "tools", "a", "mode"]),
            value: json!("prompt"),
            when: When::Always,
        },
        Want::Set {
            at: path(&["servers", "gatelatch", "tools", "b", "mode"]),
            value: json!("approve"),
            when: When::Unset,
        },
        Want::Set { at: path(&["chat.rules", "a"]), value: json!(false), when: When::Always },
        Want::Listed { at: path(&["lists", "ask"]), text: "a".to_owned() },
        Want::Listed { at: path(&["lists", "allow"]), text: "b".to_owned() },
        Want::Listed { at: path(&["lists", "allow"]), text: "c".to_owned() },
    ]
}

fn form(syntax: Syntax) -> Form {
    Form::Plain { syntax, wants: wants() }
}

/// Holds an edit and its undo against what both promise.
fn hold(syntax: Syntax, text: &str, comments: &[&str]) -> Result<(), TestCaseError> {
    let form = form(syntax);
    let merged = form.connect(text).map_err(|fault| TestCaseError::fail(format!("{fault:?}\n{text}")))?;
    let said = |context: &str, shown: &str| format!("{context}\nbefore:\n{text}\nafter:\n{shown}");
    prop_assert!(form.leaves_the_rest(text, &merged.text, &[]), "{}", said("the rest", &merged.text));
    for comment in comments {
        let count = |text: &str| text.matches(comment).count();
        prop_assert_eq!(count(text), count(&merged.text), "{}", said("comments", &merged.text));
    }
    let again = form.connect(&merged.text).unwrap();
    prop_assert_eq!(&again.text, &merged.text, "{}", said("again", &merged.text));
    let value = syntax.parse(&merged.text).unwrap();
    prop_assert_eq!(&value["servers"]["gatelatch"]["command"], PROGRAM);
    prop_assert_eq!(&value["servers"]["gatelatch"]["tools"]["a"]["mode"], "prompt");
    prop_assert!(value["servers"]["gatelatch"]["trust"] != true);
    prop_assert!(value["lists"]["ask"].as_array().unwrap().contains(&json!("a")));

    let undone = form.disconnect(&merged.text, &merged.parts, &merged.created).unwrap();
    let (expected, found) = (syntax.parse(text).unwrap(), syntax.parse(&undone.text));
    prop_assert!(found.is_ok(), "{}", said("undone", &undone.text));
    prop_assert_eq!(expected, found.unwrap(), "{}", said("undone", &undone.text));
    for comment in comments {
        let count = |text: &str| text.matches(comment).count();
        prop_assert_eq!(count(text), count(&undone.text), "{}", said("comments undone", &undone.text));
    }
    Ok(())
}

/// Some of these, in some order.
fn some(members: Vec<&'static str>) -> impl Strategy<Value = Vec<String>> {
    let most = members.len();
    proptest::sample::subsequence(members, 0..=most)
        .prop_shuffle()
        .prop_map(|chosen| chosen.into_iter().map(str::to_owned).collect())
}

fn json_texts() -> impl Strategy<Value = String> {
    let member = |name: &'static str, open, close, members: Vec<&'static str>| {
        proptest::option::of(
            some(members)
                .prop_flat_map(move |members| decorated(open, members, close))
                .prop_map(move |text| format!("\"{name}\": {text}")),
        )
    };
    let entry = some(vec![
        r#""command": "x""#,
        r#""args": ["y"]"#,
        r#""url": "https://example.org""#,
        r#""trust": true"#,
        r#""enabled": false"#,
        r#""tools": {"a": {"mode": "approve"}, "b": {"mode": "prompt"}}"#,
        r#""env": {"A": "b"}"#,
    ])
    .prop_flat_map(|members| decorated('{', members, '}'))
    .prop_map(|text| format!("\"gatelatch\": {text}"));
    let servers = proptest::option::of(
        (proptest::option::of(entry), some(vec![r#""other": {"command": "gatelatch"}"#]))
            .prop_map(|(entry, others)| entry.into_iter().chain(others).collect::<Vec<_>>())
            .prop_flat_map(|members| decorated('{', members, '}'))
            .prop_map(|text| format!("\"servers\": {text}")),
    );
    let list = |name, members| member(name, '[', ']', members);
    let lists = proptest::option::of(
        (list("ask", vec![r#""a""#, r#""z""#]), list("allow", vec![r#""b""#, r#""c""#, r#""z""#]))
            .prop_map(|(ask, allow)| ask.into_iter().chain(allow).collect::<Vec<_>>())
            .prop_flat_map(|members| decorated('{', members, '}'))
            .prop_map(|text| format!("\"lists\": {text}")),
    );
    let rules = member("chat.rules", '{', '}', vec![r#""a": true"#, r#""b": true"#]);
    let other = member("other", '{', '}', vec![r#""n": [1.50, -0, 1e3, "\u00e9"]"#]);
    (servers, lists, rules, other)
        .prop_map(|(a, b, c, d)| [a, b, c, d].into_iter().flatten().collect::<Vec<_>>())
        .prop_shuffle()
        .prop_flat_map(|members| decorated('{', members, '}'))
}

fn toml_texts() -> impl Strategy<Value = String> {
    let head = some(vec![
        "model = \"a\" # c1",
        "n = [ 1.50, -0,\n  1e3, # c2\n  \"é\" ]",
        "date = 1979-05-27",
        "\"chat.rules\" = { a = true, b = true } # c1",
        "lists = { ask = [\"z\"], allow = [\"b\", # c2\n \"z\"] }",
        "# c1",
        "",
    ]);
    let server = prop_oneof![
        Just(""),
        Just("[servers.gatelatch] # c1\ncommand = \"x\"\n# c2\nargs = []\ntrust = true"),
        Just("[servers.gatelatch]\nurl = 'https://example.org' # c2\n\n[servers.gatelatch.headers]\na = 'b'"),
        Just("[servers.gatelatch]\ncommand = 'x'\ntools.a.mode = 'approve' # c1"),
        Just("[servers.gatelatch]\ncommand = 'x'\n\n[servers.gatelatch.tools]\na = { mode = 'approve' } # c2\nb = {}"),
        Just("[servers.gatelatch.tools.b] # c1\nmode = 'prompt'"),
        Just("[servers]\ngatelatch = { command = 'x', enabled = false } # c1"),
        Just("[servers]\n# c2\ngatelatch.command = 'x'"),
    ];
    let tables = some(vec![
        "[other] # c1\nx = 1",
        "# c2\n[[rule]]\na = 1\n\n[[rule]]\na = 2",
        "[servers.other]\ncommand = \"gatelatch\"\n# c1",
        "[deep.er]\ny = '''\n[servers.gatelatch]\n'''",
    ]);
    let end = prop_oneof![Just(""), Just("\n"), Just("\n# c2"), Just("\n\n# c1\n")];
    (head, server, tables, end).prop_map(|(head, server, tables, end)| {
        // A table that is named on its own cannot be opened twice.
        let tables =
            tables.into_iter().filter(|table| !server.starts_with("[servers]") || !table.starts_with("[servers."));
        let parts: Vec<String> =
            head.into_iter().chain([server.to_owned()]).chain(tables).filter(|part| !part.is_empty()).collect();
        parts.join("\n") + end
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn whatever_the_json_only_our_parts_change_and_undo_gives_them_back(text in json_texts()) {
        hold(Syntax::Jsonc, &text, &["/* c1 */", "// c2"])?;
    }

    #[test]
    fn whatever_the_toml_only_our_parts_change_and_undo_gives_them_back(text in toml_texts()) {
        prop_assume!(Syntax::Toml.parse(&text).is_ok());
        hold(Syntax::Toml, &text, &["# c1", "# c2"])?;
    }

    #[test]
    fn no_text_makes_an_edit_panic(text in "[\\[\\]{}\",=.:#/ \na-c1]{0,40}") {
        for syntax in [Syntax::Jsonc, Syntax::Toml] {
            if let Ok(merged) = Draft::with(syntax, &text, &wants()) {
                prop_assert!(syntax.parse(&merged.text).is_ok(), "{}", merged.text);
            }
        }
    }
}
