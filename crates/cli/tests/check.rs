//! `check --fix`: what it writes, what it leaves, and what it says.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

#[path = "harness/server.rs"]
#[allow(dead_code, reason = "each test file uses its part")]
mod server;

use std::fs;

use serde_json::{Value, json};
use server::Bench;

const FIX: [&str; 4] = ["--catalog", "mine", "check", "--fix"];
const HEAD: &str = "name: notes\ndescription: Keeps notes.\nruntime: process\nentrypoint: echo\n";
const STUB: &str = "effect: irreversible  # say read_only or reversible if that is true";
const TOOL: &str = "mine/tools/notes/tool.yaml";

fn bench(manifest: &str) -> Bench {
    let bench = Bench::new();
    bench.write(TOOL, manifest);
    bench
}

fn text(bench: &Bench, file: &str) -> String {
    fs::read_to_string(bench.path(file)).unwrap()
}

#[test]
fn what_is_certain_is_mended_and_everything_else_stays_to_the_byte() {
    let manifest = "# mine\r\nname: nots\r\ndescripton:   Keeps notes.\r\nruntime: process\r\nentrypoint: echo\r\ncwd:\r\nactions:\r\n  - {name: list-notes, description: List., effect: read_only} # c\r\n";
    let bench = bench(manifest);
    let (code, out, err) = bench.run(&FIX);
    let expected = manifest.replace("nots", "notes").replace("descripton", "description").replace("cwd:\r\n", "");
    assert_eq!(text(&bench, TOOL), expected, "{out}{err}");
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("fixed mine/tools/notes/tool.yaml:2: `nots` is now `notes`"), "{out}");
    assert!(out.contains("fixed mine/tools/notes/tool.yaml:3: `descripton` is now `description`"), "{out}");
    assert!(out.ends_with("0 errors, 0 warnings\n"), "{out}");
    let (code, again, _) = bench.run(&FIX);
    assert!(code == 0 && !again.contains("fixed"), "{again}");
    assert_eq!(text(&bench, TOOL), expected);
}

#[test]
fn without_fix_nothing_is_written_and_what_could_be_is_counted() {
    let manifest = HEAD.replace("description", "descripton");
    let bench = bench(&manifest);
    let (code, out, _) = bench.run(&FIX[..3]);
    assert_eq!((code, text(&bench, TOOL)), (1, manifest));
    assert!(
        out.ends_with("`gatelatch --catalog mine check --fix` mends it, and what comes to light by that\n"),
        "{out}"
    );
}

#[test]
fn several_slips_are_mended_in_one_run_and_what_is_left_says_why() {
    let manifest = "name: notes
summary: Keeps notes.
descripton: Keeps notes.
runtime: process
entrypoint: echo
commands:
  - nam: list-notes
    descripton: List.
    agrs:
      - {name: a, type: int, reqired: yes}
      - {name: b, type: file, requird: no}
      - {name: c, tpye: text, descripton: A text.}
";
    let notes = bench(manifest);
    let (code, out, _) = notes.run(&FIX[..3]);
    let last = out.lines().last().unwrap();
    assert!(code == 1 && last.starts_with("`gatelatch --catalog mine check --fix` mends "), "{out}");
    assert!(last.ends_with(" of these, and what comes to light by that; the other 2 are yours to mend"), "{out}");
    let (code, out, _) = notes.run(&FIX);
    let left = text(&notes, TOOL);
    // Which of the two is the description is for the author to say.
    let expected = "name: notes
summary: Keeps notes.
descripton: Keeps notes.
runtime: process
entrypoint: echo
actions:
  - name: list-notes
    description: List.
    args:
      - {name: a, type: integer, required: true}
      - {name: b, type: path, required: false}
      - {name: c, type: string, description: A text.}
";
    assert_eq!((code, left.as_str()), (1, expected), "{out}");
    assert!(out.ends_with("what is certain is mended; these are yours\n"), "{out}");
    notes.write(TOOL, &expected.replace("summary: Keeps notes.\n", ""));
    assert_eq!(notes.run(&FIX).0, 0);
    let granting = bench(&format!("{HEAD}efect: read_only\n"));
    let (_, out, _) = granting.run(&FIX);
    assert!(out.contains("it says what a call may do, so that `--fix` leaves it to you"), "{out}");
    assert!(out.ends_with("what is certain is mended; this one is yours\n"), "{out}");
}

#[test]
fn a_declaration_that_counts_for_nothing_is_a_warning_with_its_line_and_the_way_out() {
    let bench = bench(&format!(
        "{HEAD}effect: read_only\nactions:\n  - {{name: list-notes, description: List.}}\n  - {{name: send-note, description: Send.}}\n  - name: delete-note\n    description: Delete.\n    effect: reversible\n  - {{name: drop-note, description: Drop., effect: reversible, because: it goes to the bin}}\n"
    ));
    let (code, out, _) = bench.run(&["--catalog", "mine", "check"]);
    assert_eq!(code, 0, "{out}");
    let expected = "mine/tools/notes/tool.yaml:5:9: warning[M190]: `effect: read_only` is ignored for action `send-note`: the name says `send`, which is irreversible
  5 | effect: read_only
    |         ^
  help: add `because:` with the reason why it is read_only, declare `effect: irreversible`, or rename it

mine/tools/notes/tool.yaml:11:13: warning[M190]: `effect: reversible` is ignored for action `delete-note`: the name says `delete`, which is irreversible
";
    let (first, rest) = expected.split_once("\n\n").unwrap();
    assert!(out.starts_with(first) && out.contains(rest.lines().next().unwrap()), "{out}");
    assert!(out.contains("0 errors, 2 warnings"), "{out}");
    let (_, out, _) = bench.run(&["--catalog", "mine", "check", "--json"]);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["findings"][1]["line"], 11, "{out}");
    assert_eq!(report["ignored_declarations"].as_array().unwrap().len(), 2, "{out}");
    let (_, out, _) = bench.run(&["--catalog", "mine", "doctor"]);
    assert!(out.contains("2 warnings (see `gatelatch --catalog mine check`)"), "{out}");
}

#[test]
fn what_remains_decides_the_exit_code() {
    let bench = bench(&format!("{}frobnicate: 1\n", HEAD.replace("description", "descripton")));
    let (code, out, _) = bench.run(&FIX);
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("fixed ") && out.contains("`frobnicate`") && out.contains("1 error,"), "{out}");
}

#[test]
fn an_action_without_an_effect_gets_the_one_that_holds() {
    let manifest = format!(
        "{HEAD}actions:\n  - name: frobnicate\n    description: Frobnicate it.\n  - {{name: list-notes, description: List.}}\n  - {{name: twiddle, description: Twiddle.}}\n"
    );
    let bench = bench(&manifest);
    let dry_run = |action: &str| {
        let (_, out, _) = bench.run(&["--catalog", "mine", "run", "notes", action, "--dry-run", "--json"]);
        let answer: Value = serde_json::from_str(&out).unwrap();
        answer["verdict"].clone()
    };
    let verdicts: Vec<Value> = ["frobnicate", "list-notes", "twiddle"].map(dry_run).to_vec();
    let (code, out, _) = bench.run(&FIX);
    let expected = manifest
        .replace("Frobnicate it.\n", &format!("Frobnicate it.\n    {STUB}\n"))
        .replace("Twiddle.}", "Twiddle., effect: irreversible}  # say read_only or reversible if that is true");
    assert_eq!((code, text(&bench, TOOL)), (0, expected.clone()), "{out}");
    assert!(out.contains("tool.yaml:8: action `frobnicate` says `effect: irreversible`"), "{out}");
    assert!(!out.contains("no effect is declared"), "{out}");
    assert_eq!(["frobnicate", "list-notes", "twiddle"].map(dry_run).to_vec(), verdicts);
    bench.run(&FIX);
    assert_eq!(text(&bench, TOOL), expected);
}

#[test]
fn a_nameless_action_gets_its_effect_at_the_top_and_after_the_mending() {
    let bench = bench(&HEAD.replace("description", "desc"));
    let (code, out, _) = bench.run(&FIX);
    assert_eq!((code, text(&bench, TOOL)), (0, HEAD.replace("notes.\n", &format!("notes.\n{STUB}\n"))), "{out}");
}

#[test]
fn a_name_is_not_changed_for_one_that_says_a_milder_effect() {
    let bench = Bench::new();
    let manifest = HEAD.replace("name: notes", "name: delete-notes");
    bench.write("mine/tools/list-notes/tool.yaml", &manifest);
    let (code, out, _) = bench.run(&FIX);
    assert_eq!((code, text(&bench, "mine/tools/list-notes/tool.yaml")), (1, manifest), "{out}");
    assert!(out.contains("left mine/tools/list-notes/tool.yaml: 1 mend by hand"), "{out}");
}

#[test]
fn json_lists_what_was_fixed_and_what_was_left() {
    let bench = bench(&HEAD.replace("process", "proces"));
    let (code, out, _) = bench.run(&["--catalog", "mine", "check", "--fix", "--json"]);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(code, 0, "{report}");
    assert_eq!(
        report["fixed"],
        json!([
            {"file": TOOL, "line": 3, "message": "`proces` is now `process`"},
            {"file": TOOL, "line": 3, "message": "the entry says `effect: irreversible`, which held already"},
        ])
    );
    assert_eq!((&report["left"], &report["findings"]), (&json!([]), &json!([])));
}

#[test]
fn the_compiled_in_catalog_has_nothing_to_mend() {
    let bench = Bench::new();
    let (code, out, err) = bench.run(&["check", "--fix"]);
    assert_eq!(code, 0, "{out}");
    assert!(err.contains("compiled in") && !out.contains("fixed"), "{err}{out}");
}

#[cfg(unix)]
mod on_unix {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn a_file_keeps_its_mode_and_no_other_file_stays_behind() {
        let bench = bench(&HEAD.replace("description", "descripton"));
        fs::set_permissions(bench.path(TOOL), fs::Permissions::from_mode(0o640)).unwrap();
        bench.run(&FIX);
        assert_eq!(fs::metadata(bench.path(TOOL)).unwrap().permissions().mode() & 0o7777, 0o640);
        assert_eq!(fs::read_dir(bench.path("mine/tools/notes")).unwrap().count(), 1);
    }

    #[test]
    fn a_file_that_may_not_be_written_is_left() {
        let manifest = HEAD.replace("description", "descripton");
        let bench = bench(&manifest);
        fs::set_permissions(bench.path(TOOL), fs::Permissions::from_mode(0o444)).unwrap();
        let (code, out, _) = bench.run(&FIX);
        assert_eq!((code, text(&bench, TOOL)), (1, manifest));
        assert!(out.contains("left mine/tools/notes/tool.yaml: it may not be written"), "{out}");
    }

    #[test]
    fn a_link_is_written_through_only_inside_the_catalog() {
        let bench = Bench::new();
        let wrong = HEAD.replace("description", "descripton");
        bench.write("mine/shared.yaml", &wrong);
        bench.write("outside.yaml", &wrong.replace("notes", "diary"));
        for (name, target) in [("notes", "../../shared.yaml"), ("diary", "../../../outside.yaml")] {
            fs::create_dir_all(bench.path(&format!("mine/tools/{name}"))).unwrap();
            symlink(target, bench.path(&format!("mine/tools/{name}/tool.yaml"))).unwrap();
        }
        let (code, out, _) = bench.run(&FIX);
        assert_eq!(code, 1, "{out}");
        assert!(text(&bench, "mine/shared.yaml").contains("description"), "{out}");
        assert_eq!(text(&bench, "outside.yaml"), wrong.replace("notes", "diary"));
        assert!(out.contains("left mine/tools/diary/tool.yaml: it is a link out of the catalog"), "{out}");
        let link = fs::symlink_metadata(bench.path("mine/tools/notes/tool.yaml")).unwrap();
        assert!(link.file_type().is_symlink());
    }
}
