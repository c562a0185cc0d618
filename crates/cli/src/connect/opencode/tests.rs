//! Connecting and disconnecting opencode, through real files in a folder of the test's own.

use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::bench::{Bench, PROGRAM, decorated};
use super::super::{Change, Client, Scope, apply, jsonc};
use super::*;

/// The user's own configuration.
const OWN: &str = "home/.config/opencode/opencode.json";

fn bench(scope: Scope) -> Bench {
    Bench::new(Client::Opencode, scope)
}

/// With the user's own configuration holding this text.
fn holding(text: &str) -> Bench {
    let bench = bench(Scope::Global);
    bench.write(OWN, text);
    bench
}

fn config(bench: &Bench) -> String {
    bench.read(OWN)
}

fn value(bench: &Bench) -> Value {
    jsonc::parse(&config(bench)).unwrap()
}

fn wanted() -> Wanted {
    let value = json!({"type": "local", "command": [PROGRAM, "operator"], "enabled": true, "timeout": 150_000});
    Wanted::new("gatelatch", value, Some("/home/me/.config/opencode/opencode.gatelatch.md".to_owned()))
}

#[track_caller]
fn check_merge(before: &str, after: &str) {
    let merged = merge::connect(before, &wanted()).unwrap();
    assert_eq!(merged.text, after.replace("PROGRAM", &PROGRAM.replace('\\', "\\\\")));
    assert!(merge::leaves_the_rest(before, &merged.text, &wanted()));
    let again = merge::connect(&merged.text, &wanted()).unwrap();
    assert_eq!((again.text, again.changes), (merged.text, Vec::new()), "the second time changes nothing");
}

#[track_caller]
fn check_refused(before: &str, line: usize, column: usize, message: &str) {
    let fault = merge::connect(before, &wanted()).unwrap_err();
    assert_eq!((fault.line, fault.column, fault.message.as_str()), (line, column, message));
}

const ENTRY: &str = r#""gatelatch": {
      "type": "local",
      "command": ["PROGRAM", "operator"],
      "enabled": true,
      "timeout": 150000
    }"#;

#[test]
fn an_empty_file_becomes_a_whole_configuration() {
    let expected = r#"{
  "$schema": "https://opencode.ai/config.json",
  "mcp": {
    ENTRY
  },
  "permission": {
    "gatelatch_*": "allow",
    "gatelatch_run_tool_confirmed": "ask",
    "gatelatch_run_agent_confirmed": "ask"
  },
  "instructions": ["/home/me/.config/opencode/opencode.gatelatch.md"]
}
"#
    .replace("ENTRY", ENTRY);
    check_merge("", &expected);
    check_merge("{}\n", &expected);
    check_merge("// mine\n", &format!("// mine\n{expected}"));
}

#[test]
fn comments_order_and_trailing_commas_stay() {
    check_merge(
        r#"// head
{
  // my model
  "model": "a/b", // why
  "mcp": {
    "other": { "type": "remote", "url": "https://example.org" }, // theirs
    // end of mcp
  },
  "permission": {
    "bash": { "*": "ask", "git *": "allow" }, /* shell */
  },
  "instructions": [
    "a.md", // a
  ],
}
// foot
"#,
        r#"// head
{
  // my model
  "model": "a/b", // why
  "mcp": {
    "other": { "type": "remote", "url": "https://example.org" }, // theirs
    "gatelatch": {
      "type": "local",
      "command": ["PROGRAM", "operator"],
      "enabled": true,
      "timeout": 150000,
    },
    // end of mcp
  },
  "permission": {
    "bash": { "*": "ask", "git *": "allow" }, /* shell */
    "gatelatch_*": "allow",
    "gatelatch_run_tool_confirmed": "ask",
    "gatelatch_run_agent_confirmed": "ask",
  },
  "instructions": [
    "a.md", // a
    "/home/me/.config/opencode/opencode.gatelatch.md",
  ],
}
// foot
"#,
    );
}

#[test]
fn the_text_form_of_permission_keeps_its_meaning_and_comes_first() {
    let merged = merge::connect("{\n\t\"permission\": \"allow\"\n}\n", &wanted()).unwrap();
    assert!(
        merged.text.starts_with("{\n\t\"permission\": {\n\t\t\"*\": \"allow\",\n\t\t\"gatelatch_*\": \"allow\",\n"),
        "{}",
        merged.text
    );
}

#[test]
fn a_byte_order_mark_and_carriage_returns_stay() {
    let text = "\u{feff}{\r\n  \"model\": \"a/b\"\r\n}\r\n";
    let merged = merge::connect(text, &wanted()).unwrap().text;
    assert!(merged.starts_with("\u{feff}{\r\n  \"model\": \"a/b\",\r\n"), "{merged:?}");
    assert_eq!(merged.matches('\n').count(), merged.matches("\r\n").count());
}

#[test]
fn an_entry_of_the_same_name_gets_our_command_and_keeps_the_rest() {
    let bench = holding(
        r#"{"mcp": {"gatelatch": {"type": "local", "command": ["old"], "enabled": false, "environment": {"A": "b"}}}}"#,
    );
    let plan = bench.connect();
    assert_eq!(
        value(&bench)["mcp"]["gatelatch"],
        json!({"type": "local", "command": [PROGRAM, "operator"], "enabled": true, "environment": {"A": "b"}})
    );
    assert_eq!(
        plan.files[0].changes[..2],
        [
            Change::Replace {
                key: "mcp.gatelatch.command".to_owned(),
                old: r#"["old"]"#.to_owned(),
                new: json!([PROGRAM, "operator"]).to_string()
            },
            Change::Replace {
                key: "mcp.gatelatch.enabled".to_owned(),
                old: "false".to_owned(),
                new: "true".to_owned()
            },
        ]
    );
}

#[test]
fn a_remote_server_of_the_same_name_is_replaced_and_its_headers_are_not_shown() {
    let bench = holding(
        r#"{"mcp": {"gatelatch": {"type": "remote", "url": "https://x.org", "headers": {"authorization": "hush"}}}}"#,
    );
    let plan = bench.connect();
    assert_eq!(value(&bench)["mcp"]["gatelatch"]["type"], "local");
    assert!(!plan.to_string().contains("hush"));
}

#[test]
fn catalogs_are_passed_on() {
    let mut bench = holding("{}");
    bench.request.catalogs = vec![bench.path("one"), bench.path("two")];
    bench.connect();
    let (one, two) = (bench.path("one").display().to_string(), bench.path("two").display().to_string());
    assert_eq!(
        value(&bench)["mcp"]["gatelatch"]["command"],
        json!([PROGRAM, "operator", "--catalog", one, "--catalog", two])
    );
}

#[test]
fn the_server_can_have_another_name() {
    let mut bench = holding("{}");
    bench.request.server = "gl-2".to_owned();
    bench.connect();
    assert_eq!(
        value(&bench)["permission"],
        json!({"gl-2_*": "allow", "gl-2_run_tool_confirmed": "ask", "gl-2_run_agent_confirmed": "ask"})
    );
    assert!(bench.read("home/.config/opencode/opencode.gl-2.md").contains("`gl-2_run_tool_confirmed`"));
}

/// The rules of a configuration after connecting, in order.
fn rules_after(before: Value) -> Vec<(String, Value)> {
    let text = json!({ "permission": before }).to_string();
    let merged = merge::connect(&text, &wanted()).unwrap().text;
    let value = jsonc::parse(&merged).unwrap();
    value["permission"].as_object().unwrap().iter().map(|(key, value)| (key.clone(), value.clone())).collect()
}

#[track_caller]
fn check_rules(before: Value, after: Value) {
    let after: Vec<(String, Value)> =
        after.as_object().unwrap().iter().map(|(key, value)| (key.clone(), value.clone())).collect();
    assert_eq!(rules_after(before), after);
}

#[test]
fn a_rule_that_lets_a_confirmed_tool_through_is_overruled() {
    check_rules(
        json!({"gatelatch_run_tool_confirmed": "allow", "gatelatch_run_agent_confirmed": {"*": "allow"}, "*": "ask"}),
        json!({"gatelatch_*": "allow", "*": "ask",
            "gatelatch_run_tool_confirmed": "ask", "gatelatch_run_agent_confirmed": "ask"}),
    );
}

#[test]
fn a_question_that_a_later_rule_shadows_moves_behind_it() {
    check_rules(
        json!({"gatelatch_*": "allow", "gatelatch_run_tool_confirmed": "ask", "gatelatch_run_agent_confirmed": "deny",
            "gatelatch_run_*": "allow"}),
        json!({"gatelatch_*": "allow", "gatelatch_run_*": "allow",
            "gatelatch_run_tool_confirmed": "ask", "gatelatch_run_agent_confirmed": "deny"}),
    );
}

#[test]
fn a_stricter_rule_of_the_user_is_not_loosened() {
    for rules in [
        json!({"gatelatch_*": "ask", "gatelatch_run_tool_confirmed": "deny", "gatelatch_run_agent_confirmed": "ask"}),
        json!({"gatelatch_*": "deny"}),
        json!({"gatelatch_*": {"*": "deny"}}),
    ] {
        check_rules(rules.clone(), rules);
    }
}

#[test]
fn the_general_rule_comes_before_the_users_own_ones_about_single_tools() {
    check_rules(
        json!({"*": "deny", "gatelatch_run_agent": "ask"}),
        json!({"*": "deny", "gatelatch_*": "allow", "gatelatch_run_agent": "ask",
            "gatelatch_run_tool_confirmed": "ask", "gatelatch_run_agent_confirmed": "ask"}),
    );
}

#[test]
fn a_broken_file_is_refused_with_its_place() {
    check_refused("{\n  \"a\": 1\n  \"b\": 2\n}", 2, 9, "expected comma");
    check_refused("{\n  \"ä\": tru\n}", 2, 8, "unexpected word");
    check_refused("[]", 1, 1, "the file holds no object");
    check_refused("{\n  \"mcp\": []\n}", 2, 10, "`mcp` must be an object");
    check_refused("{\"permission\": 1}", 1, 16, "`permission` must be an object or a text");
    check_refused("{\"instructions\": \"a\"}", 1, 18, "`instructions` must be an array");
    check_refused("{\"mcp\": {},\n \"mcp\": {}}", 2, 2, "`mcp` stands here a second time");
    check_refused("{\"permission\": {\"a\": \"ask\", \"a\": \"ask\"}}", 1, 29, "`a` stands here a second time");
    check_refused("{'a': 1}", 1, 2, "single-quoted strings are not allowed");
    check_refused("{} {}", 1, 4, "text cannot contain more than one JSON value");
    let bench = holding("{ broken");
    let before = bench.everything();
    let error = bench.refusal();
    let path = bench.path("home/.config/opencode/opencode.json");
    assert_eq!(error.to_string(), format!("{}:1:3: expected string for object property", path.display()));
    assert_eq!(bench.everything(), before);
}

#[test]
fn planning_writes_nothing() {
    let bench = holding("{}");
    let before = bench.everything();
    assert!(!bench.plan().is_empty());
    assert_eq!(bench.everything(), before);
    assert!(!bench.path("state").exists());
}

#[test]
fn connecting_twice_changes_nothing_the_second_time() {
    let bench = holding("{\n  // mine\n  \"model\": \"a/b\"\n}\n");
    bench.connect();
    let after = bench.everything();
    let second = bench.connect();
    assert!(second.is_empty(), "{second}");
    assert_eq!(bench.everything(), after);
}

#[test]
fn undo_restores_every_byte_of_an_untouched_file() {
    for text in
        ["", "{}", "{ \"permission\": \"ask\", }", "{\r\n\t\"mcp\": {\"gatelatch\": {\"type\": \"remote\"}}\r\n}"]
    {
        let bench = holding(text);
        let before = bench.everything();
        bench.connect();
        assert_ne!(bench.everything(), before);
        bench.disconnect();
        assert_eq!(bench.everything(), before);
        assert!(bench.disconnect().is_empty(), "a second undo has nothing to do");
    }
}

#[test]
fn undo_removes_a_file_that_was_not_there() {
    let bench = bench(Scope::Global);
    let before = bench.everything();
    bench.connect();
    assert!(bench.path("home/.config/opencode/opencode.jsonc").exists());
    bench.disconnect();
    assert_eq!(bench.everything(), before);
}

#[test]
fn undo_leads_back_to_before_the_first_of_several_connects() {
    let mut bench = holding("{\n  \"model\": \"a/b\" // mine\n}\n");
    let before = bench.everything();
    bench.connect();
    bench.request.catalogs = vec![bench.path("catalog")];
    bench.connect();
    bench.disconnect();
    assert_eq!(bench.everything(), before);
}

#[test]
fn undo_takes_only_our_parts_out_of_a_file_that_was_edited_since() {
    let bench = holding("{\n  \"permission\": \"ask\"\n}\n");
    bench.connect();
    let edited = config(&bench).replace("\"*\": \"ask\",", "\"*\": \"ask\", // all\n    \"bash\": \"deny\",");
    bench.write("home/.config/opencode/opencode.json", &edited);
    let plan = bench.disconnect();
    assert_eq!(config(&bench), "{\n  \"permission\": {\n    \"*\": \"ask\", // all\n    \"bash\": \"deny\"\n  }\n}\n");
    assert!(plan.notes.iter().any(|note| note.contains("only Gatelatch's own parts")), "{plan}");
    assert!(!bench.path("home/.config/opencode/opencode.gatelatch.md").exists());
}

#[test]
fn undo_after_an_edit_gives_back_what_was_replaced() {
    let entry = r#"{"type": "local", "command": ["old"], "enabled": false}"#;
    let bench = holding(&format!(r#"{{"mcp": {{"gatelatch": {entry}}}, "permission": "allow"}}"#));
    bench.connect();
    let edited = config(&bench).replace("\"enabled\": true", "\"enabled\": true, \"environment\": {\"A\": \"b\"}");
    bench.write("home/.config/opencode/opencode.json", &edited);
    bench.disconnect();
    assert_eq!(
        value(&bench),
        json!({"mcp": {"gatelatch": {"type": "local", "command": ["old"], "enabled": false, "environment": {"A": "b"}}},
            "permission": "allow"})
    );
}

#[test]
fn undo_after_an_edit_and_another_connect_keeps_the_edit() {
    let mut bench = holding("{\n  \"model\": \"a/b\"\n}\n");
    bench.connect();
    let edited = config(&bench).replace("a/b", "c/d");
    bench.write("home/.config/opencode/opencode.json", &edited);
    bench.request.catalogs = vec![bench.path("catalog")];
    bench.connect();
    bench.disconnect();
    assert_eq!(config(&bench), "{\n  \"model\": \"c/d\"\n}\n");
}

#[test]
fn undo_leaves_what_somebody_made_his_own() {
    let bench = holding("{}");
    bench.connect();
    let edited = config(&bench)
        .replace("\"gatelatch_run_tool_confirmed\": \"ask\"", "\"gatelatch_run_tool_confirmed\": \"deny\"")
        .replace("\"operator\"", "\"operator\", \"--catalog\", \"/mine\"");
    bench.write("home/.config/opencode/opencode.json", &edited);
    bench.write("home/.config/opencode/opencode.gatelatch.md", "my own words\n");
    let plan = bench.disconnect();
    assert_eq!(value(&bench)["permission"], json!({"gatelatch_run_tool_confirmed": "deny"}));
    assert_eq!(value(&bench)["mcp"]["gatelatch"]["command"][3], "/mine");
    assert_eq!(bench.read("home/.config/opencode/opencode.gatelatch.md"), "my own words\n");
    assert_eq!(plan.notes.len(), 3, "{plan}");
}

#[test]
fn undo_without_a_record_takes_out_what_looks_like_ours() {
    let bench = holding("{\n  \"model\": \"a/b\"\n}\n");
    bench.connect();
    fs::remove_dir_all(bench.path("state")).unwrap();
    bench.disconnect();
    assert_eq!(value(&bench), json!({"model": "a/b"}));
    assert!(!bench.path("home/.config/opencode/opencode.gatelatch.md").exists());
}

#[test]
fn undo_where_nothing_is_connected_changes_nothing() {
    let text = r#"{"mcp": {"gatelatch": {"type": "local", "command": ["something", "else"]}}, "permission": "allow"}"#;
    let bench = holding(text);
    assert!(bench.disconnect().is_empty());
    assert_eq!(config(&bench), text);
}

#[test]
fn a_file_that_changed_since_the_plan_is_not_written() {
    let bench = holding("{}");
    let plan = bench.plan();
    bench.write("home/.config/opencode/opencode.json", "{ }");
    let before = bench.everything();
    assert!(matches!(apply(&plan), Err(ConnectError::Changed(_))));
    assert_eq!(bench.everything(), before);
}

#[test]
fn an_instructions_file_of_somebody_else_stays() {
    let bench = holding("{}");
    bench.write("home/.config/opencode/opencode.gatelatch.md", "my own words\n");
    let plan = bench.connect();
    assert_eq!(bench.read("home/.config/opencode/opencode.gatelatch.md"), "my own words\n");
    assert!(plan.notes.iter().any(|note| note.contains("stays as it is")), "{plan}");
    bench.disconnect();
    assert_eq!(bench.read("home/.config/opencode/opencode.gatelatch.md"), "my own words\n");
}

#[test]
fn the_file_that_opencode_prefers_is_chosen() {
    for (there, chosen) in [
        (&[][..], "opencode.jsonc"),
        (&["opencode.json"], "opencode.json"),
        (&["config.json"], "config.json"),
        (&["opencode.json", "opencode.jsonc", "config.json"], "opencode.jsonc"),
    ] {
        let bench = bench(Scope::Global);
        there.iter().for_each(|name| bench.write(&format!("home/.config/opencode/{name}"), "{}"));
        assert_eq!(bench.plan().files[0].named, bench.path("home/.config/opencode").join(chosen));
    }
    let mut bench = bench(Scope::Global);
    let elsewhere = bench.path("elsewhere");
    bench.surroundings.environment.insert("XDG_CONFIG_HOME".to_owned(), elsewhere.display().to_string());
    assert_eq!(bench.plan().files[0].named, elsewhere.join("opencode/opencode.jsonc"));
}

#[test]
fn a_projects_nearest_file_is_chosen_and_names_its_instructions_by_a_relative_path() {
    let bench = bench(Scope::Project);
    assert_eq!(bench.plan().files[0].named, bench.path("project/opencode.json"));
    bench.connect();
    assert!(bench.read("project/opencode.json").contains("\"instructions\": [\"opencode.gatelatch.md\"]"));
    bench.write("project/sub/opencode.jsonc", "{}");
    assert_eq!(bench.plan().files[0].named, bench.path("project/sub/opencode.jsonc"));
    bench.write("opencode.json", "{}");
    fs::remove_file(bench.path("project/sub/opencode.jsonc")).unwrap();
    fs::remove_file(bench.path("project/opencode.json")).unwrap();
    assert_eq!(bench.plan().files[0].named, bench.path("project/opencode.json"), "a repository ends the search");
    fs::remove_dir(bench.path("project/.git")).unwrap();
    assert_eq!(bench.plan().files[0].named, bench.path("opencode.json"));
}

#[test]
fn a_named_file_is_taken_from_the_working_folder() {
    let bench = bench(Scope::File(PathBuf::from("../other.json")));
    bench.connect();
    assert!(bench.path("project/other.json").exists());
}

#[test]
fn a_name_that_cannot_be_a_permission_key_is_refused() {
    for name in ["", "a b", "gate*", "a.b", "servers", "timeout", "ä"] {
        let mut bench = holding("{}");
        bench.request.server = name.to_owned();
        assert!(matches!(bench.refusal(), ConnectError::ServerName { .. }), "{name}");
    }
}

#[test]
fn a_path_that_opencode_would_not_take_literally_is_refused() {
    let mut bench = holding("{}");
    bench.request.program = PathBuf::from("gatelatch");
    assert!(matches!(bench.refusal(), ConnectError::Relative(_)));
    bench.request.program = bench.path("{env:HOME}/gatelatch");
    assert!(matches!(bench.refusal(), ConnectError::Unwritable(_)));
}

#[test]
fn rules_elsewhere_that_let_a_confirmed_tool_through_are_warned_of() {
    let bench = holding("{}");
    assert_eq!(bench.plan().warnings, Vec::<String>::new());
    bench.write("project/opencode.json", r#"{"permission": {"*": "allow"}}"#);
    bench.write("project/.opencode/agents/deep/hasty.md", "---\npermission:\n  gatelatch_*: allow\n---\nGo on.\n");
    bench.write("project/.opencode/modes/calm.md", "---\npermission: ask\n---\n");
    let plan = bench.plan();
    let said = |words: &[&str]| plan.warnings.iter().any(|warning| words.iter().all(|word| warning.contains(word)));
    assert_eq!(plan.warnings.len(), 4, "{plan}");
    for tool in ["`gatelatch_run_tool_confirmed`", "`gatelatch_run_agent_confirmed`"] {
        assert!(said(&[tool, "question: ", &bench.path("project/opencode.json").display().to_string()]), "{plan}");
        assert!(said(&[tool, "for agent `deep/hasty`", "hasty.md decides"]), "{plan}");
    }
    let mut bench = bench;
    bench.surroundings.environment.insert("OPENCODE_DISABLE_PROJECT_CONFIG".to_owned(), "1".to_owned());
    assert_eq!(bench.plan().warnings, Vec::<String>::new());
    bench.surroundings.environment.insert("OPENCODE_PERMISSION".to_owned(), r#"{"*_confirmed": "allow"}"#.to_owned());
    assert_eq!(bench.plan().warnings.len(), 2);
}

#[test]
fn another_configuration_that_cannot_be_read_is_noted_and_does_not_stop_the_plan() {
    let bench = holding("{}");
    bench.write("project/opencode.json", "{ broken");
    assert!(
        bench
            .plan()
            .to_string()
            .lines()
            .any(|line| line.starts_with("note: ") && line.contains("project") && line.contains("line 1, column 3"))
    );
}

#[test]
fn the_preview_shows_no_line_of_the_file_that_is_not_ours() {
    let bench = holding(r#"{"provider": {"x": {"options": {"apiKey": "hush"}}}, "permission": "allow"}"#);
    let shown = bench.plan().to_string();
    assert!(!shown.contains("hush"), "{shown}");
    assert!(shown.contains("  ~ permission  \"allow\" -> {\"*\":\"allow\"}\n"), "{shown}");
    assert!(shown.contains("  | # Gatelatch\n"), "{shown}");
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn a_link_to_the_users_own_configuration_is_followed_and_stays_a_link() {
        let bench = bench(Scope::Global);
        bench.write("dotfiles/opencode.json", "{}");
        let link = bench.path("home/.config/opencode/opencode.json");
        symlink(bench.path("dotfiles/opencode.json"), &link).unwrap();
        bench.connect();
        assert!(link.is_symlink());
        assert!(bench.read("dotfiles/opencode.json").contains("gatelatch_run_tool_confirmed"));
        bench.disconnect();
        assert_eq!(bench.read("dotfiles/opencode.json"), "{}");
    }

    #[test]
    fn a_link_out_of_a_project_is_refused() {
        let bench = bench(Scope::Project);
        bench.write("elsewhere.json", "{}");
        symlink(bench.path("elsewhere.json"), bench.path("project/opencode.json")).unwrap();
        let error = bench.refusal();
        assert!(matches!(error, ConnectError::LeavesProject { .. }), "{error}");
        // Within the project it is followed.
        fs::remove_file(bench.path("project/opencode.json")).unwrap();
        bench.write("project/conf/opencode.json", "{}");
        symlink("conf/opencode.json", bench.path("project/opencode.json")).unwrap();
        bench.connect();
        assert!(bench.read("project/conf/opencode.json").contains("gatelatch_*"));
    }

    #[test]
    fn a_link_in_place_of_the_instructions_is_refused() {
        let bench = holding("{}");
        bench.write("victim.md", "mine\n");
        symlink(bench.path("victim.md"), bench.path("home/.config/opencode/opencode.gatelatch.md")).unwrap();
        assert!(matches!(bench.refusal(), ConnectError::NotAFile(_)));
        assert_eq!(bench.read("victim.md"), "mine\n");
    }

    #[test]
    fn a_link_that_leads_nowhere_and_a_folder_are_refused() {
        let bench = bench(Scope::Global);
        let path = bench.path("home/.config/opencode/opencode.json");
        symlink(bench.path("nowhere"), &path).unwrap();
        assert!(matches!(bench.refusal(), ConnectError::Dangling { .. }));
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(matches!(bench.refusal(), ConnectError::NotAFile(_)));
    }

    #[test]
    fn the_mode_of_a_file_stays_and_the_record_is_private() {
        let bench = holding("{}");
        let path = bench.path("home/.config/opencode/opencode.json");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        bench.connect();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        let records: Vec<_> = fs::read_dir(bench.path("state/connections")).unwrap().map(|e| e.unwrap()).collect();
        assert_eq!(records.len(), 1);
        assert_eq!(records[0].metadata().unwrap().permissions().mode() & 0o077, 0);
    }

    #[test]
    fn a_failed_write_leaves_everything_as_it_was() {
        let bench = bench(Scope::File(PathBuf::from("locked/opencode.json")));
        bench.write("project/sub/locked/opencode.json", "{}");
        let before = bench.everything();
        let plan = bench.plan();
        let locked = bench.path("project/sub/locked");
        fs::set_permissions(&locked, fs::Permissions::from_mode(0o500)).unwrap();
        let result = apply(&plan);
        fs::set_permissions(&locked, fs::Permissions::from_mode(0o700)).unwrap();
        // Who may do everything is not stopped by a mode.
        if result.is_err() {
            assert!(matches!(result, Err(ConnectError::Write { .. })));
            assert_eq!(bench.everything(), before);
        } else {
            bench.disconnect();
            assert_eq!(bench.everything(), before);
        }
    }
}

/// Configurations as people write them: some keys, comments in odd places, trailing commas or none.
fn configurations() -> impl Strategy<Value = String> {
    let verdict = prop_oneof![Just("allow"), Just("ask"), Just("deny")];
    let rule_key = prop_oneof![
        Just("*"),
        Just("bash"),
        Just("gatelatch_*"),
        Just("gatelatch_run_*"),
        Just("gatelatch_run_tool"),
        Just("gatelatch_run_tool_confirmed"),
        Just("gatelatch_run_agent_confirmed"),
        Just("*_confirmed"),
    ];
    let rules = proptest::collection::vec((rule_key, verdict.clone(), any::<bool>()), 0..6).prop_map(|rules| {
        let mut seen = Vec::new();
        let mut members = Vec::new();
        for (key, verdict, nested) in rules {
            if !seen.contains(&key) {
                seen.push(key);
                let value = if nested { format!("{{\"*\": \"{verdict}\"}}") } else { format!("\"{verdict}\"") };
                members.push(format!("\"{key}\": {value}"));
            }
        }
        members
    });
    let permission = prop_oneof![
        Just(None),
        verdict.prop_map(|verdict| Some(format!("\"permission\": \"{verdict}\""))),
        rules
            .prop_flat_map(|members| decorated('{', members, '}'))
            .prop_map(|text| Some(format!("\"permission\": {text}"))),
    ];
    let server = prop_oneof![
        Just(r#""gatelatch": {"type": "local", "command": ["x"], "enabled": false}"#.to_owned()),
        Just(r#""gatelatch": {"type": "remote", "url": "https://example.org"}"#.to_owned()),
        Just(r#""other": {"type": "local", "command": ["gatelatch_*"]}"#.to_owned()),
    ];
    let mcp = proptest::option::of(
        proptest::collection::vec(server, 0..2)
            .prop_flat_map(|members| decorated('{', members, '}'))
            .prop_map(|text| format!("\"mcp\": {text}")),
    );
    let instructions = proptest::option::of(
        proptest::collection::vec(Just("\"a.md\"".to_owned()), 0..3)
            .prop_flat_map(|members| decorated('[', members, ']'))
            .prop_map(|text| format!("\"instructions\": {text}")),
    );
    let other = proptest::option::of(Just("\"provider\": {\"x\": {\"n\": [1.50, -0, 1e3, \"\\u00e9\"]}}".to_owned()));
    (permission, mcp, instructions, other)
        .prop_map(|(a, b, c, d)| [d, a, b, c].into_iter().flatten().collect::<Vec<_>>())
        .prop_shuffle()
        .prop_flat_map(|members| decorated('{', members, '}'))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn whatever_the_file_only_our_parts_change_and_undo_gives_them_back(text in configurations()) {
        let merged = merge::connect(&text, &wanted()).unwrap();
        prop_assert!(merge::leaves_the_rest(&text, &merged.text, &wanted()), "{}", merged.text);
        for comment in ["/* c1 */", "// c2"] {
            prop_assert_eq!(text.matches(comment).count(), merged.text.matches(comment).count(), "{}", merged.text);
        }
        let again = merge::connect(&merged.text, &wanted()).unwrap();
        prop_assert_eq!(&again.text, &merged.text);

        let value = jsonc::parse(&merged.text).unwrap();
        let rules = value["permission"].as_object().unwrap();
        for tool in rules::confirmed("gatelatch") {
            let verdict = rules::deciding(rules, &tool).map(|rule| rule.verdict);
            prop_assert!(matches!(verdict, Some(rules::Verdict::Ask | rules::Verdict::Deny)), "{tool}: {verdict:?}");
        }

        let undone = merge::disconnect(&merged.text, &merged.parts, &merged.created).unwrap();
        let mut expected = jsonc::parse(&text).unwrap();
        let mut found = jsonc::parse(&undone.text).unwrap();
        for value in [&mut expected, &mut found] {
            value.as_object_mut().unwrap().shift_remove("$schema");
        }
        prop_assert_eq!(expected, found, "{}", undone.text);
        for comment in ["/* c1 */", "// c2"] {
            prop_assert_eq!(text.matches(comment).count(), undone.text.matches(comment).count(), "{}", undone.text);
        }
    }
}
