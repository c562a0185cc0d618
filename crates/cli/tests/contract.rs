//! `gatelatch contract`: drafted, locked, compared and explained, as somebody does it at a terminal.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

#[path = "harness/server.rs"]
#[allow(dead_code, reason = "each test file uses its part")]
mod server;

use serde_json::{Value, json};
use server::Bench;

const HEAD: &str = "name: desk\ndescription: Keeps a desk.\nruntime: process\nentrypoint: echo\n";
const TOOL: &str = "mine/tools/desk/tool.yaml";
const SURFACE: &str = "mine/chat_surface.yaml";
const LOCK: &str = "mine/chat_surface.lock.json";

/// A declaration of one tool.
const DECLARATION: &str = "\
surface_version: 1.2.0
tools:
  - name: desk_list
    title: List the desk
    description: Lists what lies on the desk.
    tool: desk
    action: list-things
    read_only: true
    reversible: true
    idempotent: true
    open_world: false
    args:
      - {name: most, for: max-results, type: integer, minimum: 1, maximum: 50, default: 20, description: Things at most}
    result: {narrow_with: [most]}
    output_schema: {type: object, properties: {things: {type: array}}, required: [things]}
";

const ACTIONS: &str = "\
actions:
  - name: list-things
    description: List what lies there.
    effect: read_only
    args: [{name: max-results, type: integer, minimum: 1, description: Cap the things}]
    output_schema: {type: object, properties: {things: {type: array}}, required: [things], additionalProperties: false}
    narrow_with: [max-results]
    idempotent: true
    open_world: false
  - {name: putThing, description: Put a thing there., effect: reversible, args: [{name: what, type: string, required: true}]}
  - {name: burn-things, description: Burn them., effect: irreversible}
";

/// A catalog with a desk and a declaration of it.
fn bench() -> Bench {
    let bench = Bench::new();
    bench.write(TOOL, &format!("{HEAD}{ACTIONS}"));
    bench.write(SURFACE, DECLARATION);
    bench
}

fn contract(bench: &Bench, words: &[&str]) -> (i32, String, String) {
    bench.run(&[&["--catalog", "mine", "contract"], words].concat())
}

/// What is printed for other programs where something is wrong.
fn wrong(bench: &Bench, words: &[&str]) -> Value {
    let (code, out, err) = contract(bench, words);
    assert_eq!(code, 1, "{err}");
    serde_json::from_str(&out).unwrap()
}

fn text(bench: &Bench, file: &str) -> String {
    std::fs::read_to_string(bench.path(file)).unwrap()
}

fn edit(bench: &Bench, old: &str, new: &str) {
    let text = text(bench, SURFACE);
    assert!(text.contains(old), "{text}");
    bench.write(SURFACE, &text.replacen(old, new, 1));
}

#[test]
fn a_draft_of_the_shipped_catalog_agrees_with_it_and_every_text_is_to_be_reviewed() {
    let bench = Bench::new();
    let words = ["contract", "init", "xlsx", "outbox", "hello-world", "describe-workbook", "--out", "draft.yaml"];
    let (code, out, err) = bench.run(&words);
    assert_eq!((code, out.as_str()), (0, ""), "{err}");
    assert!(err.contains("`outbox.send-message` is left out: it is irreversible"), "{err}");
    assert!(!err.contains("error["), "{err}");
    let draft = text(&bench, "draft.yaml");
    let bench = bench.set("GATELATCH_CHAT_SURFACE", "draft.yaml");
    let (code, out, err) = bench.run(&["check"]);
    assert_eq!(code, 0, "{out}{err}");
    let (code, out, err) = bench.run(&["chat", "--list"]);
    assert_eq!(code, 0, "{err}");
    let list: Value = serde_json::from_str(&out).unwrap();
    let tools = list["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    for name in ["xlsx_read_sheet", "outbox_draft_message", "hello_world", "describe_workbook"] {
        assert!(names.contains(&name), "{names:?}");
    }
    for what in ["title and the description", "names, descriptions and defaults", "copied from the manifest"] {
        let lines = draft.lines().filter(|line| line.trim_start().starts_with("# review: ") && line.contains(what));
        assert!(lines.count() >= names.len(), "{what}: {draft}");
    }
}

#[test]
fn of_a_tool_and_an_agent_of_one_name_either_can_be_drafted() {
    let bench = bench();
    let agent = "name: desk\ndescription: Tidies.\nruntime: process\nentrypoint: echo\nuses: [desk.list-things]\neffect: read_only\n";
    bench.write("mine/agents/desk/agent.yaml", agent);
    let (_, out, err) = contract(&bench, &["init", "agent:desk", "desk.list-things"]);
    assert!(out.contains("\n    agent: desk\n") && out.contains("\n    tool: desk\n"), "{out}{err}");
}

#[test]
fn what_the_manifest_lacks_is_told_where_it_is_missing() {
    let bench = bench();
    let (code, out, err) = contract(&bench, &["init", "desk"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("\n  # left out: desk.putThing changes something"), "{out}");
    assert!(out.contains("\n  #  - name: desk_put_thing\n"), "{out}");
    assert!(out.contains("\n  #    # missing: the manifest has no schema of results"), "{out}");
    assert!(err.contains("`desk_put_thing` (desk.putThing) stands as a comment"), "{err}");
    // A closed root has room for what a cut result says.
    assert!(out.contains("result: {max_bytes: 32000, narrow_with: [max_results]}"), "{out}");
    assert!(out.contains("_cut"), "{out}");
    // Without its `#` it is refused for what is missing.
    let uncommented = |line: &str| line.strip_prefix("  #").filter(|rest| rest.starts_with("  ")).map(str::to_owned);
    let mended: Vec<String> = out.lines().map(|line| uncommented(line).unwrap_or_else(|| line.to_owned())).collect();
    let mended = mended.join("\n") + "\n";
    bench.write(SURFACE, &mended);
    let (code, out, _) = bench.run(&["--catalog", "mine", "check"]);
    assert!(code == 1 && out.contains("idempotency_argument"), "{out}");
}

#[test]
fn what_cannot_be_undone_is_refused_with_the_reason_and_nothing_is_drafted() {
    let bench = bench();
    let (code, out, err) = contract(&bench, &["init", "desk.list-things", "desk.burn-things"]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(
        err.contains("`desk.burn-things` cannot be declared: it is irreversible: declared in the manifest"),
        "{err}"
    );
    let (code, _, err) = bench.run(&["contract", "init", "outbox.delete-messages"]);
    assert!(code == 2 && err.contains("irreversible"), "{err}");
}

#[test]
fn a_name_that_is_not_there_is_answered_with_the_nearest() {
    let bench = bench();
    for (word, near) in [("dask", "did you mean `desk`?"), ("desk.list-thing", "did you mean `list-things`?")] {
        let (code, _, err) = contract(&bench, &["init", word]);
        assert!(code == 2 && err.contains(near), "{err}");
    }
    bench.write(TOOL, "name: desk\ndescripton: Wrong.\nruntime: process\nentrypoint: echo\n");
    let (code, _, err) = contract(&bench, &["init", "desk"]);
    assert!(code == 2 && err.contains("`desk` is broken: mine/tools/desk/tool.yaml:2:1: "), "{err}");
}

#[test]
fn a_file_that_is_there_is_written_over_only_when_asked() {
    let bench = bench();
    let (code, _, err) = contract(&bench, &["init", "desk", "--out", SURFACE]);
    assert!(code == 2 && err.contains("--force"), "{err}");
    assert_eq!(text(&bench, SURFACE), DECLARATION);
    let (code, _, err) = contract(&bench, &["init", "desk", "--out", SURFACE, "--force"]);
    assert_eq!(code, 0, "{err}");
    assert!(text(&bench, SURFACE).contains("surface_version: 0.1.0"));
}

#[test]
fn a_first_lock_is_allowed_and_a_second_changes_nothing() {
    let bench = bench();
    let (code, _, err) = contract(&bench, &["diff"]);
    assert!(
        code == 1 && err.contains("has no lock file") && err.contains("gatelatch --catalog mine contract lock"),
        "{err}"
    );
    let (code, out, err) = contract(&bench, &["lock"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.starts_with("locked mine/chat_surface.yaml as 1.2.0: 1 tool, digest "), "{out}");
    let before = text(&bench, LOCK);
    let (code, out, _) = contract(&bench, &["lock"]);
    assert_eq!((code, out.as_str()), (0, "nothing changed since 1.2.0\n"));
    assert_eq!(text(&bench, LOCK), before);
    let (code, out, _) = contract(&bench, &["diff"]);
    assert_eq!((code, out.as_str()), (0, "nothing changed since 1.2.0\n"));
}

#[test]
fn a_version_that_moved_too_little_is_refused_with_the_right_one_and_the_lock_file_stays() {
    for (old, new, kind, right) in [
        ("Lists what lies", "Shows what lies", "text-changed", "1.2.1"),
        ("{things: {type: array}}", "{things: {type: array}, more: {type: boolean}}", "field-new", "1.3.0"),
        ("maximum: 50", "maximum: 40", "argument-narrowed", "2.0.0"),
        ("default: 20", "default: 10", "default-changed", "2.0.0"),
        ("name: desk_list", "name: desk_show", "tool-renamed", "2.0.0"),
        ("read_only: true", "read_only: false", "hint-loosened", "2.0.0"),
    ] {
        let bench = bench();
        contract(&bench, &["lock"]);
        let locked = text(&bench, LOCK);
        edit(&bench, old, new);
        for written in ["1.2.0", "1.2.0-rc.1", "1.1.9"] {
            edit(&bench, text(&bench, SURFACE).lines().next().unwrap(), &format!("surface_version: {written}"));
            let (code, _, err) = contract(&bench, &["lock"]);
            assert_ne!(code, 0, "{kind}: {written}");
            assert!(written.contains('-') || err.contains(&format!("set `surface_version: {right}`")), "{kind}: {err}");
            assert_eq!(text(&bench, LOCK), locked);
        }
        let (code, out, err) = contract(&bench, &["diff"]);
        assert_eq!(code, 1, "{kind}: {out}");
        assert!(out.contains(&format!("[{kind}]")) && err.contains(right), "{kind}: {out}{err}");
        edit(&bench, "surface_version: 1.1.9", &format!("surface_version: {right}"));
        let (code, out, _) = contract(&bench, &["diff"]);
        assert_eq!(code, 0, "{kind}: {out}");
        assert!(out.ends_with(&format!("surface_version moved from 1.2.0 to {right}; {right} was needed\n")), "{out}");
        let (code, _, err) = contract(&bench, &["lock"]);
        assert_eq!(code, 0, "{kind}: {err}");
        assert_ne!(text(&bench, LOCK), locked);
    }
}

#[test]
fn diff_as_json_says_everything_that_it_judges_by() {
    let bench = bench();
    contract(&bench, &["lock"]);
    edit(&bench, "Lists what lies", "Shows what lies");
    let (code, out, _) = contract(&bench, &["diff", "--json"]);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(code, 1);
    assert_eq!(report["needed_version"], "1.2.1");
    assert_eq!((&report["locked_version"], &report["version_is_enough"]), (&json!("1.2.0"), &json!(false)));
    assert_eq!(report["tools"], json!([{"tool": "desk_list", "level": "patch"}]));
    assert_eq!(
        report["changes"],
        json!([{
            "level": "patch", "kind": "text-changed", "tool": "desk_list", "path": "/description",
            "what": "`description` changed"
        }])
    );
    assert_ne!(report["digest"], report["locked_digest"]);
}

#[test]
fn a_lock_file_that_was_edited_by_hand_is_not_believed() {
    let bench = bench();
    contract(&bench, &["lock"]);
    bench.write(LOCK, &text(&bench, LOCK).replace("Lists what lies", "Shows what lies"));
    for verb in ["diff", "lock"] {
        let (code, _, err) = contract(&bench, &[verb]);
        assert!(code == 1 && err.contains("tool `desk_list`") && err.contains("version control"), "{err}");
        assert!(err.contains("this lock file was edited: "), "{err}");
    }
    assert_eq!(wrong(&bench, &["diff", "--json"])["error"], "lock_unusable");
}

#[test]
fn a_declaration_that_could_not_be_served_is_neither_locked_nor_digested() {
    let bench = bench();
    edit(&bench, "reversible: true", "reversible: false");
    for verb in ["lock", "digest", "explain"] {
        let (code, out, err) = contract(&bench, &[verb]);
        assert_eq!((code, out.as_str()), (1, ""), "{verb}");
        assert!(err.contains("mine/chat_surface.yaml:9:") && err.contains("error[M"), "{err}");
    }
    let told = wrong(&bench, &["digest", "--json"]);
    assert_eq!((&told["error"], &told["findings"][0]["line"]), (&json!("declaration_broken"), &json!(9)), "{told}");
    assert!(!bench.path(LOCK).exists());
}

/// What disagrees with the catalog is left out by the server: a lock of it would promise what nobody serves.
#[test]
fn a_declaration_that_disagrees_with_the_catalog_is_neither_compared_locked_nor_digested() {
    let bench = bench();
    contract(&bench, &["lock"]);
    let locked = text(&bench, LOCK);
    for (old, new, rule) in [
        ("tool: desk", "tool: dask", "M140"),
        ("action: list-things", "action: list-thing", "M141"),
        ("for: max-results", "for: max-result", "M142"),
        ("minimum: 1,", "minimum: 0,", "M145"),
        ("action: list-things", "action: burn-things", "M147"),
    ] {
        bench.write(SURFACE, &DECLARATION.replacen(old, new, 1));
        for verb in [&["diff"][..], &["diff", "--json"], &["lock"], &["digest"], &["digest", "--json"]] {
            let (code, out, err) = contract(&bench, verb);
            assert_eq!((code, out.is_empty()), (1, !verb.contains(&"--json")), "{verb:?}: {err}");
            if verb.contains(&"--json") {
                let told: Value = serde_json::from_str(&out).unwrap();
                let findings = told["findings"].as_array().unwrap();
                assert!(told["error"] == "catalog_disagrees" && findings.iter().any(|found| found["code"] == rule));
            }
            assert!(err.contains(&format!("error[{rule}]")), "{verb:?}: {err}");
            assert!(err.contains("`desk_list` of mine/chat_surface.yaml disagrees with the catalog"), "{err}");
            assert!(err.contains("help: mend the declaration or the manifest"), "{err}");
        }
        assert_eq!(text(&bench, LOCK), locked);
        // What stands behind it can be asked all the same.
        assert_eq!(contract(&bench, &["explain", "desk_list"]).0, 0);
    }
}

#[test]
fn a_draft_is_locked_only_once_every_line_that_waits_for_a_review_is_gone() {
    let bench = bench();
    contract(&bench, &["init", "desk", "--out", SURFACE, "--force"]);
    let draft = text(&bench, SURFACE);
    let waiting: Vec<String> = (1..)
        .zip(draft.lines())
        .filter(|(_, line)| line.trim_start().starts_with("# review: ") || line.trim_start().starts_with("# missing: "))
        .map(|(number, line)| format!("{SURFACE}:{number}: {}", line.trim()))
        .collect();
    assert!(waiting.len() > 2, "{draft}");
    let (code, out, err) = contract(&bench, &["lock"]);
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
    assert!(err.contains(&format!("{SURFACE} is a draft still: {} lines wait for a review", waiting.len())), "{err}");
    assert!(waiting.iter().all(|line| err.contains(line)) && err.contains("take the line away"), "{err}");
    assert!(!bench.path(LOCK).exists());
    // A comparison and a digest put nothing in force. What is put off, as a comment of its own, is not published.
    assert_eq!(contract(&bench, &["digest"]).0, 0);
    let reviewed: Vec<&str> = draft
        .lines()
        .filter(|line| !waiting.iter().any(|waits| waits.ends_with(&format!(": {}", line.trim()))))
        .collect();
    assert!(reviewed.iter().any(|line| line.contains("# left out: ")), "{draft}");
    bench.write(SURFACE, &(reviewed.join("\n") + "\n"));
    let (code, _, err) = contract(&bench, &["lock"]);
    assert_eq!(code, 0, "{err}");
}

#[test]
fn a_version_that_was_changed_in_the_lock_file_alone_lets_no_other_version_pass() {
    let bench = bench();
    contract(&bench, &["lock"]);
    bench.write(LOCK, &text(&bench, LOCK).replace("\"surface_version\": \"1.2.0\"", "\"surface_version\": \"1.0.0\""));
    edit(&bench, "surface_version: 1.2.0", "surface_version: 1.1.0");
    for verb in [&["diff"][..], &["lock"], &["explain", "desk_list"]] {
        let (code, _, err) = contract(&bench, verb);
        assert!(code == 1 && err.contains("`surface_version` is not the one that was locked"), "{err}");
        assert!(err.contains("version control"), "{err}");
    }
}

#[test]
fn the_shipped_declaration_is_locked_and_its_digest_is_that_of_what_is_listed() {
    let bench = Bench::new();
    let (code, out, err) = bench.run(&["contract", "diff"]);
    assert_eq!(code, 0, "{out}{err}");
    let (code, _, err) = bench.run(&["contract", "lock"]);
    assert!(code == 2 && err.contains("--surface"), "{err}");
    let (_, digest, _) = bench.run(&["contract", "digest"]);
    let (_, report, _) = bench.run(&["contract", "digest", "--json"]);
    let (_, list, _) = bench.run(&["chat", "--list"]);
    let (report, list): (Value, Value) = (serde_json::from_str(&report).unwrap(), serde_json::from_str(&list).unwrap());
    assert_eq!(digest.trim(), report["digest"]);
    assert_eq!(digest.trim(), gatelatch_protocol::digest::digest_of(&list["tools"]));
    let bytes: u64 = report["tools"].as_array().unwrap().iter().map(|tool| tool["bytes"].as_u64().unwrap()).sum();
    let count = report["tool_count"].as_u64().unwrap();
    assert_eq!(report["bytes"], bytes + count + 1, "brackets and commas");
}

#[test]
fn a_tool_is_explained_by_what_stands_behind_it_and_what_changed() {
    let bench = bench();
    contract(&bench, &["lock"]);
    edit(&bench, "Lists what lies", "Shows what lies");
    let (code, out, err) = contract(&bench, &["explain", "desk_list"]);
    assert_eq!(code, 0, "{err}");
    for said in [
        "operation   tool desk list-things",
        "effect      read_only: declared in the manifest; see mine/tools/desk/tool.yaml",
        "most -> max-results (integer, 20 when absent)",
        "read-only, not destructive, idempotent, not open to the world",
        "smaller with most",
        "lock        patch at /description: `description` changed [text-changed]",
    ] {
        assert!(out.contains(said), "{said}\n{out}");
    }
    let (_, out, _) = Bench::new().run(&["contract", "explain", "xlsx_overview"]);
    assert!(out.contains("read_only: the strictest of its steps") && out.contains("as locked in 1.0.0"), "{out}");
}

#[test]
fn a_kind_of_change_is_explained_without_a_declaration_and_a_wrong_name_is_answered() {
    let bench = bench();
    std::fs::remove_file(bench.path(SURFACE)).unwrap();
    let (code, out, err) = contract(&bench, &["explain", "field-new-in-closed"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.starts_with("field-new-in-closed: major\n") && out.contains("because a client"), "{out}");
    let (code, _, err) = contract(&bench, &["explain", "desk_list"]);
    assert!(code == 2 && err.contains("gatelatch --catalog mine contract init"), "{err}");
    bench.write(SURFACE, DECLARATION);
    let (code, _, err) = contract(&bench, &["explain", "desk_lst"]);
    assert!(code == 2 && err.contains("did you mean `desk_list`?"), "{err}");
    let (code, out, _) = contract(&bench, &["explain"]);
    assert!(code == 0 && out.contains("desk_list (") && out.contains("tool-removed (major)"), "{out}");
}

#[test]
fn check_and_doctor_tell_that_the_declaration_left_its_lock_file_behind() {
    let bench = bench();
    bench.write(TOOL, &format!("{HEAD}open_world: false\n{ACTIONS}"));
    let check = || bench.run(&["--catalog", "mine", "check"]);
    let doctor = || bench.run(&["--catalog", "mine", "doctor"]).1;
    contract(&bench, &["lock"]);
    let (code, out, _) = check();
    assert!(code == 0 && !out.contains("[M19"), "{out}");
    assert!(doctor().contains("ok   chat surface: mine/chat_surface.yaml: 1 tool"), "{}", doctor());

    let retold = DECLARATION.replace("Lists what lies on the desk.", "Lists what is on the desk.");
    bench.write(SURFACE, &retold);
    let (code, out, _) = check();
    let expected =
        "mine/chat_surface.yaml:1:18: error[M196]: the published list changed since 1.2.0 by more than `1.2.0` says: ";
    assert!(code == 1 && out.contains(expected), "{out}");
    assert!(out.contains("help: write `surface_version: 1.2.1` or later; `gatelatch contract diff` tells"), "{out}");
    assert!(out.contains("chat surface mine/chat_surface.yaml: 1 tool\n"), "it is served all the same: {out}");
    assert!(
        doctor().contains("fail chat surface: mine/chat_surface.yaml: 1 error; the published list"),
        "{}",
        doctor()
    );

    bench.write(SURFACE, &retold.replace("1.2.0", "1.2.1"));
    let (code, out, _) = check();
    let expected = "warning[M195]: the published list is not the one of the lock file, which stands at 1.2.0";
    assert!(code == 0 && out.contains(expected) && out.contains("`gatelatch contract lock` puts it in force"), "{out}");
    assert!(doctor().contains("warn chat surface: mine/chat_surface.yaml: 1 warning; the published"), "{}", doctor());
    let (_, out, _) = bench.run(&["--catalog", "mine", "check", "--json"]);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["findings"][0]["name"], "lock_differs");

    bench.write(SURFACE, &DECLARATION.replace("1.2.0", "1.1.0"));
    assert!(check().1.contains("error[M196]: `1.1.0` is older than 1.2.0"), "{}", check().1);
    assert_eq!(lock_state(&bench), "differs");
    bench.write(SURFACE, &DECLARATION.replace("read_only: true", "read_only: false"));
    assert!(check().1.contains("[M196]"), "{}", check().1);
    // A list that cannot be served has no version to move to.
    bench.write(SURFACE, &DECLARATION.replace("action: list-things", "action: putThing"));
    let (code, out, _) = check();
    assert!(code == 1 && out.contains("error[M14") && !out.contains("[M19"), "{out}");
    bench.write(SURFACE, DECLARATION);
    assert_eq!(lock_state(&bench), "agrees");
    let locked = text(&bench, LOCK);
    bench.write(LOCK, &locked.replace("lies on", "is on"));
    let (code, out, _) = check();
    assert!(
        code == 1 && out.contains("error[M197]: `") && out.contains("chat_surface.lock.json` cannot be used: "),
        "{out}"
    );
    assert!(out.contains("help: take back the one that was agreed upon"), "{out}");
    assert_eq!(lock_state(&bench), "unusable");
    std::fs::remove_file(bench.path(LOCK)).unwrap();
    assert_eq!(lock_state(&bench), "none");
    let (_, out, _) = Bench::new().run(&["check", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap()["chat_surface"]["lock"], "agrees");
}

fn lock_state(bench: &Bench) -> String {
    let (_, out, _) = bench.run(&["--catalog", "mine", "check", "--json"]);
    let report: Value = serde_json::from_str(&out).unwrap();
    report["chat_surface"]["lock"].as_str().unwrap().to_owned()
}

#[test]
fn check_and_doctor_tell_that_a_declaration_is_a_draft_still() {
    let bench = bench();
    contract(&bench, &["init", "desk.list-things", "--out", SURFACE, "--force"]);
    let draft = text(&bench, SURFACE);
    let (code, out, _) = bench.run(&["--catalog", "mine", "check"]);
    assert!(code == 0 && out.contains("mine/chat_surface.yaml:5:1: warning[M198]: this is a draft still: "), "{out}");
    let doctor = || bench.run(&["--catalog", "mine", "doctor"]).1;
    assert!(doctor().contains("warn chat surface: mine/chat_surface.yaml: 1 warning; this is a draft"), "{}", doctor());
    let reviewed: Vec<&str> = draft.lines().filter(|line| !line.trim_start().starts_with("# review: ")).collect();
    bench.write(SURFACE, &(reviewed.join("\n") + "\n"));
    let (_, out, _) = bench.run(&["--catalog", "mine", "check"]);
    assert!(!out.contains("M198"), "{out}");
}

#[test]
fn a_draft_says_of_what_changes_nothing_that_it_may_be_repeated_and_a_surface_to_read_is_refused() {
    let bench = bench();
    bench.write(TOOL, &format!("{HEAD}{ACTIONS}").replace("    idempotent: true\n", ""));
    let (code, out, err) = contract(&bench, &["init", "desk.list-things"]);
    assert!(code == 0 && out.contains("read_only: true") && out.contains("idempotent: true"), "{out}{err}");
    bench.write(SURFACE, &out);
    assert_eq!(bench.run(&["--catalog", "mine", "check"]).0, 0);
    let (code, out, err) = contract(&bench, &["init", "desk.list-things", "--surface", SURFACE]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("`contract init` reads none") && err.contains("--out"), "{err}");
}

#[test]
fn a_version_that_moved_without_need_is_not_told_to_have_been_needed() {
    let bench = bench();
    contract(&bench, &["lock"]);
    edit(&bench, "surface_version: 1.2.0", "surface_version: 1.3.0");
    let (code, out, _) = contract(&bench, &["diff"]);
    let expected = "surface_version moved from 1.2.0 to 1.3.0; nothing changed, so that it need not\n";
    assert_eq!((code, out.as_str()), (0, expected));
}
