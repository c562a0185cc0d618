//! Calls from the terminal: how they are shown, typed and recorded.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

#[path = "harness/server.rs"]
#[allow(dead_code, reason = "each test file uses its part")]
mod server;

use server::Bench;

#[test]
fn an_action_is_shown_with_the_call_to_type() {
    let bench = Bench::new();
    let manifest = "name: desk\ndescription: Works the desk.\nruntime: process\nentrypoint: echo\nactions:\n  - name: find-notes\n    \
                    description: Find notes.\n    effect: read_only\n    args:\n      - {name: tag, type: array, items: {type: string}, \
                    repeat: name, required: true}\n      - {name: kind, type: string, enum: [a b, c], required: true}\n      - {name: most, \
                    type: integer}\n  - name: send-note\n    description: Send a note.\n    args: [{name: number, type: integer, \
                    required: true}]\n";
    bench.write("mine/tools/desk/tool.yaml", manifest);
    let (code, out, err) = bench.run(&["--catalog", "mine", "show", "desk", "find-notes"]);
    assert_eq!(code, 0, "{out}{err}");
    let call = "call:\n  gatelatch --catalog mine run desk find-notes --arg tag=ITEM --arg kind='a b'\n";
    assert!(out.contains(call), "{out}");
    assert!(out.contains("--arg tag=A --arg tag=B, or as JSON, --arg tag='[…]'"), "{out}");
    let typed = ["--catalog", "mine", "run", "desk", "find-notes", "--arg", "tag=ITEM", "--arg", "kind=a b"];
    assert_eq!(bench.run(&typed).0, 0);
    let (_, out, _) = bench.run(&["--catalog", "mine", "show", "desk", "send-note"]);
    assert!(
        out.contains("call:\n  gatelatch --catalog mine run desk send-note --arg number=INTEGER --confirm\n"),
        "{out}"
    );
}

#[test]
fn the_help_of_each_verb_that_calls_shows_a_call_of_its_own() {
    let bench = Bench::new();
    for verb in ["run", "agent"] {
        let (_, out, _) = bench.run(&[verb, "--help"]);
        let example = out.lines().find_map(|line| line.strip_prefix("Example: gatelatch ")).unwrap();
        assert!(example.starts_with(&format!("{verb} ")), "{example}");
        let mut words: Vec<&str> = example.split(' ').collect();
        words.push("--dry-run");
        let (code, out, err) = bench.run(&words);
        assert_eq!(code, 0, "{out}{err}");
    }
}

#[test]
fn a_log_file_holds_the_verdict_and_the_outcome_of_a_call_and_the_terminal_does_not() {
    let bench = Bench::new();
    let call = ["run", "hello-world", "--arg", "name=MCP"];
    let (code, _, err) = bench.run(&call);
    assert_eq!((code, err.contains("verdict")), (0, false), "{err}");
    for (log, file) in [("warn", "one.log"), ("off", "two.log")] {
        bench.write("gatelatch.yaml", &format!("log: {log}\n"));
        let (code, _, err) = bench.run(&[&["--log-file", file], call.as_slice()].concat());
        assert_eq!((code, err.as_str()), (0, ""), "{log}");
        let logged = std::fs::read_to_string(bench.path(file)).unwrap();
        assert!(
            logged.contains("verdict") && logged.contains("status=Done") && logged.contains("hello-world"),
            "{logged}"
        );
        assert!(!logged.contains("MCP"), "{logged}");
    }
}
