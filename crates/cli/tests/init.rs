//! A first manifest for a script of one's own, from the command line to the first call.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

#[path = "harness/server.rs"]
#[allow(dead_code, reason = "each test file uses its part")]
mod server;
#[path = "harness/terminal.rs"]
mod terminal;

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};
use server::Bench;

/// A script with commands, as people write them; it prints its arguments.
const NOTES: &str = r#""""Keep notes in a folder."""
import argparse, json
from render import shown
parser = argparse.ArgumentParser(description="Keep notes in a folder.")
commands = parser.add_subparsers(dest="command", required=True)
listing = commands.add_parser("list-notes", help="list the notes")
listing.add_argument("--max-results", type=int, default=20, metavar="N", help="cap the notes (default: %(default)s)")
listing.add_argument("--archived", action=argparse.BooleanOptionalAction, help="old ones as well")
adding = commands.add_parser("frob-note", help="frob a note")
adding.add_argument("text", help="what it says")
adding.add_argument("--title", required=True, help="one line: its head")
print(shown(json.dumps(vars(parser.parse_args()))))
"#;

fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("notes.py", NOTES);
    bench.write("render.py", "def shown(text):\n    return text\n");
    bench
}

fn manifest(bench: &Bench, below: &str) -> String {
    std::fs::read_to_string(bench.path(below)).unwrap()
}

#[test]
fn a_python_script_with_commands_becomes_a_tool_that_runs() {
    let bench = bench();
    let (code, out, err) = bench.run(&["init", "notes.py"]);
    assert_eq!(code, 0, "{out}{err}");
    let expected = "\
name: notes
description: Keep notes in a folder.
version: 0.1.0
runtime: python
entrypoint: notes.py
actions:
  - name: list-notes
    description: List the notes.
    args:
      - {name: max-results, type: integer, default: 20, description: cap the notes}
      - {name: archived, type: boolean, negatable: true, description: old ones as well}
  - name: frob-note
    description: Frob a note.
    # effect: read_only   # say what it does: read_only, reversible or irreversible
    args:
      - {name: text, type: string, required: true, positional: true, description: what it says}
      - {name: title, type: string, required: true, description: \"one line: its head\"}
";
    assert_eq!(manifest(&bench, "mine/tools/notes/tool.yaml"), expected);
    assert_eq!(manifest(&bench, "notes.py"), NOTES, "the original stays as it is");
    assert_eq!(manifest(&bench, "mine/tools/notes/notes.py"), NOTES);
    assert!(bench.path("mine/tools/notes/render.py").is_file(), "what the script loads comes with it: {out}");
    let (code, out, err) = bench.run(&["--catalog", "mine", "check"]);
    assert_eq!((code, out.contains("1 tool or agent, 0 skills load; 0 errors, 0 warnings")), (0, true), "{out}{err}");
    let call = [
        "--catalog",
        "mine",
        "run",
        "notes",
        "list-notes",
        "--args",
        r#"{"max-results":3,"archived":false}"#,
        "--json",
    ];
    let (code, out, err) = bench.run(&call);
    assert_eq!(code, 0, "{out}{err}");
    let expected = json!({"command": "list-notes", "max_results": 3, "archived": false});
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap(), expected);
    let call = ["--catalog", "mine", "run", "notes", "frob-note", "--arg", "title=a", "--arg", "text=b"];
    assert_eq!(bench.run(&call).0, 3, "no effect is declared, so a human is asked");
    assert!(!bench.path("__pycache__").exists(), "asking leaves nothing beside the script");
}

/// Every way in which argparse takes several values.
const PARTS: &str = r#"import argparse, json
parser = argparse.ArgumentParser(description="Find parts.")
parser.add_argument("--db", metavar="FILE", help="where they are")
parser.add_argument("--near", help="taken behind the command too")
commands = parser.add_subparsers(dest="command", required=True)
finding = commands.add_parser("find-parts", help="find parts")
finding.add_argument("--tag", action="append", help="only with this tag")
finding.add_argument("--label", action="append", type=int, metavar="LABEL")
finding.add_argument("--field", nargs="+", choices=["name", "count"], help="what to print")
finding.add_argument("--near", nargs="*", default=["here"], help="where (default: %(default)s)")
finding.add_argument("--share", type=float, default=0.25, metavar="X", help="how many of them (default: %(default)s)")
finding.add_argument("--colour", help="one colour")
finding.add_argument("words", nargs="+", help="words to look for")
print(json.dumps(vars(parser.parse_args())))
"#;

#[test]
fn options_that_take_several_values_become_arrays_that_reach_the_script() {
    let bench = Bench::new();
    bench.write("parts.py", PARTS);
    let (code, out, err) = bench.run(&["init", "parts.py"]);
    assert_eq!(code, 0, "{out}{err}");
    let left_out = "left out:\n  --db: before the command, and arguments are passed behind it\n\n";
    assert!(out.contains(left_out), "{out}");
    let text = manifest(&bench, "mine/tools/parts/tool.yaml");
    let expected = r#"    args:
      - name: words
        type: array
        items: {type: string}
        repeat: value
        required: true
        positional: true
        description: words to look for
      - {name: tag, type: array, items: {type: string}, repeat: name, description: only with this tag}
      - {name: label, type: array, items: {type: integer}, repeat: name}
      - name: field
        type: array
        items: {type: string, enum: [name, count]}
        repeat: value
        description: what to print
      - {name: near, type: array, items: {type: string}, repeat: value, description: "where (default: ['here'])"}
      - {name: share, type: number, default: 0.25, description: how many of them}
      - {name: colour, type: string, description: one colour}
"#;
    assert!(text.ends_with(expected), "{text}");
    let (code, out, _) = bench.run(&["--catalog", "mine", "check"]);
    assert_eq!((code, out.contains("0 errors, 0 warnings")), (0, true), "{out}");
    let call = ["--catalog", "mine", "run", "parts", "find-parts", "--json"];
    let arguments = ["tag=a b", "tag=-c", "label=1", "label=-2", "field=name", "field=count", "words=x", "words=y"];
    let arguments: Vec<&str> = arguments.iter().flat_map(|argument| ["--arg", argument]).collect();
    let (code, out, err) = bench.run(&[call.as_slice(), arguments.as_slice()].concat());
    assert_eq!(code, 0, "{out}{err}");
    let expected = json!({
        "command": "find-parts", "tag": ["a b", "-c"], "label": [1, -2], "field": ["name", "count"], "near": ["here"],
        "share": 0.25, "colour": null, "db": null, "words": ["x", "y"],
    });
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap(), expected);
    let refused = ["--arg", "near=a", "--arg", "near=-b", "--arg", "words=x"];
    let (code, out, err) = bench.run(&[call.as_slice(), &refused].concat());
    assert_eq!((code, out.contains("none may begin with `-`")), (2, true), "{out}{err}");
}

#[test]
fn nothing_is_overwritten() {
    let bench = bench();
    assert_eq!(bench.run(&["init", "notes.py"]).0, 0);
    let before = manifest(&bench, "mine/tools/notes/tool.yaml");
    let (code, _, err) = bench.run(&["init", "notes.py", "--description", "Another one."]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("`mine/tools/notes` is there already") && err.contains("help:"), "{err}");
    assert_eq!(manifest(&bench, "mine/tools/notes/tool.yaml"), before);
    assert_eq!(bench.run(&["init", "notes.py", "--name", "other"]).0, 0);
    assert!(manifest(&bench, "mine/tools/other/tool.yaml").starts_with("name: other\n"));
}

#[test]
fn a_script_that_shows_no_help_is_never_started() {
    let bench = Bench::new();
    bench.write("tidy.sh", "#!/bin/sh\n# Tidy the cache.\ntouch \"$(dirname \"$0\")/ran\"\n");
    bench.write("tidy.py", "import os\nopen(os.path.join(os.path.dirname(__file__), 'ran'), 'w')\n");
    for (script, name) in [("./tidy.sh", "one"), ("tidy.py", "two")] {
        let (code, out, err) = bench.run(&["init", script, "--catalog", "mine", "--name", name]);
        assert_eq!(code, 0, "{out}{err}");
        assert!(out.contains("starting it to ask would run it"), "{out}");
    }
    for folder in ["", "mine/tools/one/", "mine/tools/two/"] {
        assert!(!bench.path(&format!("{folder}ran")).exists(), "it ran in `{folder}`");
    }
    assert!(manifest(&bench, "mine/tools/one/tool.yaml").contains("description: Tidy the cache.\n"));
}

#[test]
fn a_shell_script_runs_as_its_own_program_whatever_its_mode_was() {
    let bench = Bench::new();
    let script = "#!/bin/sh\ncase \"$1\" in\n--help) printf 'usage: greet [--loud] [--name NAME]\\n\\n  --name NAME  whom\\n  --loud       shout\\n'; exit;;\nesac\necho \"$@\"\n";
    bench.write("greet.sh", script);
    std::fs::set_permissions(bench.path("greet.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let (code, out, err) = bench.run(&["init", "./greet.sh", "--name", "list-greetings"]);
    assert_eq!(code, 0, "{out}{err}");
    let text = manifest(&bench, "mine/tools/list-greetings/tool.yaml");
    assert!(text.contains("runtime: process\nentrypoint: ./greet.sh\n") && text.contains("name: loud"), "{text}");
    let (code, out, err) =
        bench.run(&["--catalog", "mine", "run", "list-greetings", "--arg", "name=Ada", "--arg", "loud=true"]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("--name Ada --loud"), "{out}");
    // One that may not be run yet is asked as its first line says, and its copy may be run.
    bench.write("other.sh", &script.replace("#!/bin/sh", "#!/usr/bin/env sh"));
    let (code, out, err) = bench.run(&["init", "other.sh"]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(manifest(&bench, "mine/tools/other/tool.yaml").contains("name: loud"), "{out}");
    bench.write("third.sh", &script.replace("#!/bin/sh", "#!/nowhere/sh"));
    let (code, out, err) = bench.run(&["init", "third.sh"]);
    assert_eq!((code, out.contains("could not be started (No such file")), (0, true), "{out}{err}");
    let mode = bench.path("mine/tools/other/other.sh").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o700, 0o700);
}

#[test]
fn a_script_whose_first_line_names_an_interpreter_of_its_own_runs_by_it() {
    let bench = bench();
    let python = bench.path("v/bin/python");
    bench.write("v/bin/python", "#!/bin/sh\nRUN_BY=v exec python3 \"$@\"\n");
    std::fs::set_permissions(&python, std::fs::Permissions::from_mode(0o755)).unwrap();
    let told = "import os\nprint(shown(json.dumps({**vars(parser.parse_args()), 'by': os.environ.get('RUN_BY')})))\n";
    let body = NOTES.replace("print(shown(json.dumps(vars(parser.parse_args()))))\n", told);
    bench.write("notes.py", &format!("#!{}\n{body}", python.display()));
    let (code, out, err) = bench.run(&["init", "notes.py"]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains(&format!("it runs as its first line says, by {}", python.display())), "{out}");
    let text = manifest(&bench, "mine/tools/notes/tool.yaml");
    assert!(text.contains("runtime: process\nentrypoint: ./notes.py\n") && text.contains("max-results"), "{text}");
    assert!(bench.path("mine/tools/notes/render.py").is_file(), "{out}");
    let (code, out, err) = bench.run(&["--catalog", "mine", "run", "notes", "list-notes", "--json"]);
    assert_eq!((code, serde_json::from_str::<Value>(&out).unwrap()["by"].as_str()), (0, Some("v")), "{out}{err}");
    let (code, out, err) = bench.run(&["init", "v/bin/python", "notes.py", "--name", "named"]);
    assert_eq!(
        (code, out.contains("v/bin/python: `runtime: python` and `node` take the interpreter of PATH")),
        (0, true),
        "{out}{err}"
    );
}

#[test]
fn the_way_to_run_the_original_is_told_and_works() {
    let bench = Bench::new();
    let text = "#!/usr/bin/env python3\nimport argparse\nargparse.ArgumentParser().parse_args()\nprint('1')\n";
    bench.write("list-it.py", text);
    let (code, out, err) = bench.run(&["init", "list-it.py"]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(
        out.contains("give it a first line such as `#!/usr/bin/env python3` and leave to be run (`chmod +x`)"),
        "{out}"
    );
    std::fs::set_permissions(bench.path("list-it.py"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let (code, out, err) = bench.run(&["init", "list-it.py", "--name", "list-other"]);
    assert_eq!(code, 0, "{out}{err}");
    let told = out.split("to run it where it lies, write `runtime: process` and `").nth(1).unwrap();
    let entrypoint = told.split('`').next().unwrap();
    let written = manifest(&bench, "mine/tools/list-other/tool.yaml");
    let written =
        written.replace("runtime: python\nentrypoint: list-it.py", &format!("runtime: process\n{entrypoint}"));
    bench.write("mine/tools/list-other/tool.yaml", &written);
    bench.write("list-it.py", &text.replace("'1'", "'2'"));
    let (code, out, err) = bench.run(&["--catalog", "mine", "run", "list-other"]);
    assert_eq!((code, out.trim()), (0, "2"), "{err}");
}

#[test]
fn a_script_that_fails_when_asked_says_why_and_nothing_is_written() {
    let bench = Bench::new();
    bench.write("lacks.py", "import argparse, sys\nsys.stderr.write('x\\n\\x1b[31m')\nimport no_such_module\n");
    let (code, out, err) = bench.run(&["init", "lacks.py"]);
    assert_eq!(code, 1, "{out}{err}");
    let expected =
        "`lacks.py --help` failed: ModuleNotFoundError: No module named 'no_such_module'; nothing was written";
    assert!(err.contains(expected) && err.contains("help: ") && err.contains("--no-run"), "{err}");
    assert!(!bench.path("mine").exists());
    let (code, out, err) = bench.run(&["init", "lacks.py", "--no-run"]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(bench.path("mine/tools/lacks/tool.yaml").is_file());
    bench.write("loud.py", "import argparse, sys\nsys.exit('\\x1b[31m' + 'a' * 500)\n");
    let (code, _, err) = bench.run(&["init", "loud.py"]);
    assert_eq!((code, err.contains("failed: \\u{1b}[31maaa"), err.contains("a …; nothing")), (1, true, true), "{err}");
}

#[test]
fn a_script_that_reads_short_options_only_is_told_how_arguments_come() {
    let bench = Bench::new();
    bench.write("pack.sh", "#!/bin/sh\nwhile getopts n:h o; do :; done\n");
    let (code, out, err) = bench.run(&["init", "pack.sh"]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("`getopts` does not read; `gatelatch skill write-a-manifest` shows how"), "{out}");
}

#[test]
fn an_installed_program_is_referred_to_and_only_the_named_commands_are_taken() {
    let bench = Bench::new();
    let (code, out, err) = bench.run(&["init", env!("CARGO_BIN_EXE_gatelatch"), "list", "search"]);
    assert_eq!(code, 0, "{out}{err}");
    let text = manifest(&bench, "mine/tools/gatelatch/tool.yaml");
    assert!(text.contains(&format!("entrypoint: {}\n", env!("CARGO_BIN_EXE_gatelatch"))), "{text}");
    assert!(
        text.contains("- name: list\n") && text.contains("- name: search\n") && !text.contains("- name: run\n"),
        "{text}"
    );
    let words = "name: words\n        type: array\n        items: {type: string}\n        repeat: value\n        required: true\n        positional: true\n";
    assert!(text.contains(words), "{text}");
    let (code, out, _) = bench.run(&["--catalog", "mine", "run", "gatelatch", "list"]);
    assert_eq!(code, 0, "{out}");
}

#[test]
fn a_program_that_never_answers_costs_seconds_and_its_manifest_is_written_all_the_same() {
    let bench = Bench::new();
    bench.write("hang.py", "import argparse, time\ntime.sleep(600)\n");
    let since = std::time::Instant::now();
    let (code, out, err) = bench.run(&["init", "hang.py"]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(since.elapsed() < std::time::Duration::from_secs(20));
    assert!(out.contains("gave no help in time"), "{out}");
    assert_eq!(bench.run(&["--catalog", "mine", "check"]).0, 0);
}

#[test]
fn a_script_in_an_entry_s_folder_stays_there_and_gets_its_manifest_beside_it() {
    let bench = Bench::new();
    bench.write("team/tools/notes/main.py", NOTES);
    bench.write("team/tools/notes/render.py", "def shown(text):\n    return text\n");
    let (code, out, err) = bench.run(&["init", "team/tools/notes/main.py"]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(!out.contains("copied"), "{out}");
    assert!(manifest(&bench, "team/tools/notes/tool.yaml").contains("entrypoint: main.py\n"));
    assert_eq!(bench.run(&["init", "team/tools/notes/main.py"]).0, 2);
}

#[test]
fn an_agent_and_a_skill_are_written_too() {
    let bench = bench();
    let (code, out, err) = bench.run(&["init", "--kind", "agent", "python3", "notes.py"]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(manifest(&bench, "mine/agents/notes/agent.yaml").contains("\n# uses: [tool.action]"));
    bench.write("Tidy Sheets.md", "# Tidy sheets\n\nTidies sheets: use it when a table is a mess.\n\nMore.\n");
    let (code, out, err) = bench.run(&["init", "--kind", "skill", "Tidy Sheets.md"]);
    assert_eq!(code, 0, "{out}{err}");
    let text = manifest(&bench, "mine/skills/tidy-sheets/SKILL.md");
    assert!(text.starts_with("---\nname: tidy-sheets\ndescription: \"Tidies sheets: use it when"), "{text}");
    let (code, out, _) = bench.run(&["--catalog", "mine", "check"]);
    assert_eq!((code, out.contains("0 errors, 0 warnings")), (0, true), "{out}");
}

#[test]
fn on_a_terminal_it_asks_one_question_a_line_and_a_no_writes_nothing() {
    let bench = bench();
    let (code, told) = terminal::talk(&bench, &["", "", "", "", "no"], &["init", "notes.py"]);
    assert_eq!(code, 2, "{told}");
    let questions = [
        "name [notes]: ",
        "catalog folder [mine]: ",
        "run `notes.py --help` to learn its arguments? [yes]: ",
        "description [Keep notes in a folder.]: ",
        "write mine/tools/notes/tool.yaml? [yes]: ",
    ];
    let mut rest = told.as_str();
    for question in questions {
        rest = &rest[rest.find(question).unwrap_or_else(|| panic!("`{question}` is missing\n{told}"))..];
    }
    assert!(!bench.path("mine").exists());
    let answers = ["Bad Name", "minutes", "team", "no", "Minutes of meetings.", "yes"];
    let (code, told) = terminal::talk(&bench, &answers, &["init", "notes.py"]);
    assert_eq!(code, 0, "{told}");
    let text = manifest(&bench, "team/tools/minutes/tool.yaml");
    assert!(text.starts_with("name: minutes\ndescription: Minutes of meetings.\n") && !text.contains("args"), "{text}");
}

#[test]
fn what_cannot_be_an_entry_is_refused_with_the_way_out() {
    let bench = bench();
    bench.write("data.txt", "x\n");
    for (words, expected) in [
        (&["init", "nowhere.py"][..], "no file and no program on PATH"),
        (&["init", "data.txt"], "does not say what runs it"),
        (&["init", "notes.py", "--name", "Bad Name"], "no entry's name"),
        (&["init", "--kind", "skill", "nowhere.md"], "cannot read `nowhere.md`"),
    ] {
        let (code, out, err) = bench.run(words);
        assert_eq!(code, 2, "{out}{err}");
        assert!(err.contains(expected) && err.contains("help:"), "{err}");
    }
    assert!(!bench.path("mine").exists());
}
