//! What a failed call says at the command line: JSON for a program on standard output, words for a person on standard
//! error.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

#[path = "harness/server.rs"]
#[allow(dead_code, reason = "each test file uses its part")]
mod server;
#[cfg(unix)]
#[path = "harness/terminal.rs"]
mod terminal;

use serde_json::{Value, json};
use server::Bench;

const SEND: [&str; 9] = [
    "run",
    "outbox",
    "send-message",
    "--arg",
    "to=ada@example.org",
    "--arg",
    "subject=Hi",
    "--arg",
    "body=s3cret-body",
];

#[test]
fn beside_the_json_that_the_mcp_tool_gives_stand_the_words_of_the_command_line() {
    let bench = Bench::new();
    let calls: [(&[&str], Value, &str); 7] = [
        (
            &["run", "describe-workbook"],
            json!({"tool": "describe-workbook"}),
            "use `gatelatch agent describe-workbook`",
        ),
        (&["run", "outbox"], json!({"tool": "outbox"}), "`gatelatch show outbox`"),
        (
            &["run", "outbox", "message-send"],
            json!({"tool": "outbox", "action": "message-send"}),
            "did you mean send-message?",
        ),
        (&["run", "zzzz"], json!({"tool": "zzzz"}), "`gatelatch list` shows what there is"),
        (
            &["run", "read-a-workbook"],
            json!({"tool": "read-a-workbook"}),
            "`gatelatch skill read-a-workbook` prints its text",
        ),
        (
            &["run", "xlsx", "read-sheet", "--arg", "file=a.xlsx"],
            json!({"tool": "xlsx", "action": "read-sheet", "args": {"file": "a.xlsx"}}),
            "`gatelatch show xlsx read-sheet` tells its arguments",
        ),
        (
            &SEND,
            json!({"tool": "outbox", "action": "send-message", "args": {"to": "ada@example.org", "subject": "Hi", "body": "s3cret-body"}}),
            "add --confirm",
        ),
    ];
    let mut server = bench.serve(&["operator"]);
    server.initialize();
    for (words, call, expected) in calls {
        let (code, out, err) = bench.run(words);
        assert_ne!(code, 0);
        let (failed, over_mcp) = server.call("run_tool", call);
        assert!(failed);
        assert_eq!(serde_json::from_str::<Value>(&out).unwrap(), over_mcp, "{words:?}");
        assert!(err.starts_with("error: ") && err.contains(expected), "{words:?}: {err}");
        for word in ["run_tool", "run_agent", "capabilities", "get_skill", "s3cret-body"] {
            assert!(!err.contains(word), "{words:?}: {err}");
        }
        let (_, one_line, again) = bench.run(&[words, &["--json"]].concat());
        assert_eq!((one_line.lines().count(), again), (1, err), "{words:?}");
    }
}

#[test]
fn an_argument_that_is_given_twice_and_is_none_is_told_to_be_none() {
    let bench = Bench::new();
    let (code, _, err) = bench.run(&["run", "xlsx", "read-sheet", "--arg", "tag=a", "--arg", "tag=b"]);
    assert_eq!((code, err.contains("`tag` is no argument of `read-sheet`")), (2, true), "{err}");
    let (code, _, err) = bench.run(&["run", "xlsx", "read-sheet", "--arg", "path=a", "--arg", "path=b"]);
    assert_eq!((code, err.contains("only an array may be given item by item")), (2, true), "{err}");
}

#[test]
fn a_plan_that_a_human_must_agree_to_names_no_mcp_tool() {
    let (code, out, err) = Bench::new().run(&[&SEND[..], &["--dry-run"]].concat());
    assert_eq!(code, 0, "{out}{err}");
    let plan: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(plan["verdict"], "approval_required");
    assert!(plan["message"].as_str().unwrap().contains("is irreversible") && !out.contains("run_tool"), "{out}");
}

#[test]
fn an_author_is_told_which_line_would_change_the_verdict() {
    let bench = Bench::new();
    bench.write(
        "mine/tools/desk/tool.yaml",
        "name: desk\ndescription: Works the desk.\nruntime: process\nentrypoint: echo\nactions:\n  - name: frob\n    description: Frob it.\n",
    );
    let (code, _, err) = bench.run(&["--catalog", "mine", "run", "desk", "frob"]);
    assert_eq!(code, 3);
    assert!(
        err.contains("  help: if it changes nothing, its author adds `effect: read_only` under action `frob`"),
        "{err}"
    );
    bench.write("mine/tools/other/tool.yaml", "name: other\ndescripton: x\n");
    let (code, _, err) = bench.run(&["--catalog", "mine", "run", "other"]);
    assert_eq!(code, 5);
    assert!(
        err.contains("  help: `gatelatch --catalog mine check` tells all that is wrong")
            && !err.contains("tell the human"),
        "{err}"
    );
}

#[test]
fn confirm_without_a_terminal_says_why_nobody_was_asked() {
    let (code, out, err) = Bench::new().run(&[&SEND[..], &["--confirm"]].concat());
    assert_eq!((code, out.contains("approval_required")), (3, true), "{out}");
    assert!(err.contains("--confirm needs a terminal") && !err.contains("add --confirm"), "{err}");
}

#[test]
#[cfg(unix)]
fn an_answer_that_is_not_yes_runs_nothing_and_says_so() {
    for answer in ["no", "", "y", "yes please"] {
        let bench = Bench::new();
        let outbox = bench.path("outbox");
        let bench = bench.set("OUTBOX_DIR", &outbox);
        let (code, told) = terminal::talk(&bench, &[answer], &[&SEND[..], &["--confirm"]].concat());
        assert_eq!(code, 3, "{told}");
        assert!(told.trim_end().ends_with("error: nothing was run: the answer was not yes"), "`{answer}`: {told}");
        assert!(!told.contains("add --confirm") && !outbox.exists(), "`{answer}`: {told}");
    }
    let bench = Bench::new();
    let outbox = bench.path("outbox");
    let bench = bench.set("OUTBOX_DIR", &outbox);
    let (code, told) = terminal::talk(&bench, &["yes"], &[&SEND[..], &["--confirm"]].concat());
    assert_eq!((code, outbox.exists()), (0, true), "{told}");
    assert!(told.contains("Run it? Type the whole word yes: "), "{told}");
}

#[test]
fn an_argument_that_is_typed_as_an_option_or_a_word_is_told_how_it_is_written_without_its_value() {
    let bench = Bench::new();
    for (typed, written) in [
        (&["--max-results", "s3cret"][..], "`--arg max-results=VALUE`"),
        (&["--max-results=s3cret"], "`--arg max-results=VALUE`"),
        (&["max-results=s3cret"], "`--arg max-results=VALUE`"),
        (&["s3cret"], "`--arg NAME=VALUE`"),
    ] {
        let (code, _, err) = bench.run(&[&["run", "outbox", "list-messages"][..], typed].concat());
        assert_eq!(code, 2, "{err}");
        assert!(err.contains(written) && !err.contains("s3cret"), "{err}");
    }
    let (code, _, err) = bench.run(&["list", "--limit"]);
    assert!(code == 2 && err.contains("unexpected argument"), "{err}");
}

#[test]
fn advice_names_the_catalog_that_the_command_was_given() {
    let bench = Bench::new();
    bench.write("mine/tools/bad/tool.yaml", "name: bad\n");
    bench.write("mine/tools/bad/main.py", "");
    let (_, out, err) = bench.run(&["--catalog", "mine", "list"]);
    assert!(
        out.contains("`gatelatch --catalog mine check`") && err.contains("`gatelatch --catalog mine check`"),
        "{out}{err}"
    );
    let (_, _, err) = bench.run(&["--catalog", "mine", "run", "bad"]);
    assert!(err.contains("`gatelatch --catalog mine check`"), "{err}");
}

#[test]
fn what_a_plan_tells_is_there_to_be_run() {
    let bench = Bench::new();
    let (code, out, err) = bench.run(&[&SEND[..], &["--dry-run"]].concat());
    assert_eq!(code, 0, "{out}{err}");
    let plan: Value = serde_json::from_str(&out).unwrap();
    let program = plan["argv"].as_array().unwrap().iter().filter_map(Value::as_str).find(|word| word.ends_with(".py"));
    assert!(std::path::Path::new(program.unwrap()).is_file(), "{out}");
}

/// Every verb with words that it takes, run as far as it goes by itself.
const VERBS: [&[&str]; 26] = [
    &["operator"],
    &["operator", "--list"],
    &["chat"],
    &["chat", "--list"],
    &["list"],
    &["show", "xlsx"],
    &["search", "rows"],
    &["run", "hello-world"],
    &["agent", "describe-workbook"],
    &["skill"],
    &["check"],
    &["check", "--fix"],
    &["init", "cat", "--yes"],
    &["doctor"],
    &["demo", "--yes"],
    &["verify", "--lock", "x.json", "--", "true"],
    &["pin", "--", "true"],
    &["completions", "bash"],
    &["man"],
    &["contract", "init", "xlsx"],
    &["contract", "diff"],
    &["contract", "lock"],
    &["contract", "digest"],
    &["contract", "explain"],
    &["connect", "opencode"],
    &["connect", "goose", "--chat"],
];

#[test]
fn every_verb_refuses_a_mistyped_variable_in_the_same_words() {
    let bench = Bench::new();
    let (_, help, _) = bench.run(&["--help"]);
    let verbs = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    for verb in verbs.filter(|line| line.starts_with("  ") && !line.starts_with("   ")) {
        let verb = verb.split_whitespace().next().unwrap();
        assert!(verb == "help" || VERBS.iter().any(|words| words[0] == verb), "{verb} is not tried");
    }
    let bench = Bench::new().set("GATELATCH_CATALGO", "x");
    for words in VERBS {
        let (code, out, err) = bench.run(words);
        let told = "the variable GATELATCH_CATALGO is set and means nothing to gatelatch";
        if words == ["doctor"] {
            assert!(code == 1 && out.contains(told) && out.contains("did you mean GATELATCH_CATALOG?"), "{out}");
        } else {
            let whole = format!("error: {told}\n  help: did you mean GATELATCH_CATALOG? unset it otherwise\n");
            assert_eq!((code, out.as_str(), err), (2, "", whole), "{words:?}");
        }
    }
}

#[test]
fn a_variable_that_a_manifest_names_is_known_to_every_verb() {
    let bench = Bench::new().set("GATELATCH_DESK", "x");
    bench.write(
        "mine/tools/desk/tool.yaml",
        "name: desk\ndescription: Works the desk.\nruntime: process\nentrypoint: echo\nenv: [GATELATCH_DESK]\neffect: read_only\n",
    );
    for words in [&["list"][..], &["check"], &["run", "desk"], &["connect", "codex"], &["man"]] {
        let (code, _, err) = bench.run(&[&["--catalog", "mine"], words].concat());
        assert_eq!((code, err.contains("means nothing")), (0, false), "{words:?}: {err}");
    }
}

/// What clears a screen, turns the direction of writing, and what some terminals take for an escape.
const STEERS: [char; 3] = ['\u{1b}', '\u{202e}', '\u{9b}'];

#[test]
#[cfg(unix)]
fn no_verb_sends_what_steers_a_terminal() {
    let hostile = "a\u{1b}[2J\u{202e}b\u{9b}31m";
    let bench = Bench::new();
    let manifest = |name: &str, rest: &str| {
        bench.write(
            &format!("mine/tools/{name}/tool.yaml"),
            &format!(
                "name: {name}\ndescription: Works.\nruntime: process\nentrypoint: main.sh\neffect: read_only\n{rest}"
            ),
        );
    };
    let script = |name: &str, text: &str| {
        use std::os::unix::fs::PermissionsExt;
        bench.write(&format!("mine/tools/{name}/main.sh"), text);
        let path = bench.path(&format!("mine/tools/{name}/main.sh"));
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    manifest("says", "");
    script("says", &format!("#!/bin/sh\nprintf '%s' '{hostile}'\n"));
    manifest("json", "");
    script("json", "#!/bin/sh\nprintf '{\"text\": \"\u{202e}\u{9b}\"}'\n");
    manifest("fails", "");
    script("fails", &format!("#!/bin/sh\nprintf '%s\\n' '{hostile}' >&2\nexit 3\n"));
    manifest(hostile, "");
    manifest("broken", &format!("frob: {hostile}\n"));
    bench.write(&format!("{hostile}/tools/x/tool.yaml"), "name: x\n");
    bench.write("skill/skills/s/SKILL.md", "---\nname: s\ndescription: Says.\n---\n[more](more.md)\n");
    bench.write("skill/skills/s/more.md", hostile);
    bench.write("chat.yaml", &format!("surface_version: {hostile}\ntools: []\n"));
    bench.write("opencode.json", &format!("{{\"mcp\": {{\"gatelatch\": {{\"command\": [\"{hostile}\"]}}, }}\n"));
    bench.write(
        "script.py",
        &format!("import argparse\nargparse.ArgumentParser(description='{hostile}').parse_args()\n"),
    );
    let mine = |words: &[&str]| -> Vec<String> {
        ["--catalog", "mine"].iter().chain(words).map(|word| (*word).to_owned()).collect()
    };
    let plain = |words: &[&str]| -> Vec<String> { words.iter().map(|word| (*word).to_owned()).collect() };
    let setting = format!("x={hostile}");
    for words in [
        mine(&["list"]),
        mine(&["list", "--json"]),
        mine(&["check"]),
        mine(&["check", "--json"]),
        mine(&["doctor"]),
        mine(&["run", "says"]),
        mine(&["run", "says", "--json"]),
        mine(&["run", "json"]),
        mine(&["run", "fails"]),
        mine(&["run", hostile]),
        mine(&["run", "says", hostile]),
        mine(&["run", "says", "--arg", &setting]),
        mine(&["run", "says", "--args", hostile]),
        mine(&["show", hostile]),
        mine(&["show", "says", hostile]),
        mine(&["search", hostile]),
        mine(&["skill", hostile]),
        mine(&["agent", hostile]),
        mine(&["contract", "init", hostile]),
        mine(&["contract", "diff", "--surface", hostile]),
        mine(&["contract", "diff", "--surface", "chat.yaml"]),
        mine(&["chat", "--list", "--surface", "chat.yaml"]),
        plain(&["--catalog", "skill", "skill", "s/more.md"]),
        plain(&["--catalog", hostile, "list"]),
        plain(&["--catalog", hostile, "check"]),
        plain(&["--catalog", "nowhere", "--catalog", hostile, "list"]),
        plain(&["--config", hostile, "list"]),
        plain(&["--log-file", &format!("nowhere/{hostile}"), "list"]),
        plain(&["connect", "opencode"]),
        plain(&["connect", "codex", "--name", hostile]),
        plain(&["connect", "codex", "--file", &format!("{hostile}/config.toml")]),
        plain(&["connect", "goose", "--file", hostile]),
        plain(&["connect", "goose", "--chat", "--surface", hostile]),
        plain(&["connect", hostile]),
        plain(&["init", hostile]),
        plain(&["init", "script.py", "--yes", "--name", hostile]),
        plain(&["init", "script.py", "--yes"]),
        plain(&["verify", "--lock", hostile, "--", "true"]),
        plain(&["pin", "--", hostile]),
        plain(&[hostile]),
        plain(&["list", hostile]),
        plain(&["run", "xlsx", "read-sheet", &format!("--{hostile}")]),
    ] {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (_, out, err) = bench.run(&words);
        assert!(!out.contains(STEERS) && !err.contains(STEERS), "{words:?}: {out:?} {err:?}");
    }
    // On a terminal what is typed wrong is told in colours, which are not those that were typed.
    let bench = bench.set("TERM", "xterm");
    for words in [&[hostile][..], &["list", hostile]] {
        let (code, told) = terminal::talk(&bench, &[], words);
        assert!(code == 2 && told.contains("Usage: ") && !told.contains(STEERS), "{words:?}: {told:?}");
    }
    let (_, out, _) = bench.run(&["--catalog", "mine", "run", "json"]);
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap()["text"], "\u{202e}\u{9b}", "the value is the same: {out}");
    let bench = Bench::new().set(&format!("GATELATCH_{hostile}"), "x").set("GATELATCH_CONFIRM", hostile);
    for words in [&["list"][..], &["doctor"]] {
        let (_, out, err) = bench.run(words);
        assert!(!out.contains(STEERS) && !err.contains(STEERS), "{words:?}: {out:?} {err:?}");
    }
}

#[test]
#[cfg(unix)]
fn an_output_that_nobody_reads_changes_no_exit_code() {
    let bench = Bench::new();
    bench.write("mine/tools/broken/tool.yaml", "name: broken\n");
    let calls: [(&[&str], i32); 6] = [
        (&[&SEND[..], &["--json"]].concat(), 3),
        (&["run", "nosuch", "--json"], 2),
        (&["--catalog", "mine", "check"], 1),
        (&["--catalog", "mine", "check", "--json"], 1),
        (&["list"], 0),
        (&["man"], 0),
    ];
    for (words, expected) in calls {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let ended = bench.command(words).stdin(std::process::Stdio::null()).stdout(writer).output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(expected), "{words:?}: {said}");
        assert!(!said.to_lowercase().contains("pipe"), "{words:?}: {said}");
    }
}

#[test]
#[cfg(unix)]
fn a_log_file_that_is_no_regular_file_is_refused_at_once() {
    let bench = Bench::new();
    assert!(bench.program("mkfifo").arg("pipe").status().unwrap().success());
    std::fs::create_dir(bench.path("folder")).unwrap();
    for (file, verb) in
        [("pipe", &["list"][..]), ("pipe", &["operator"]), ("folder", &["list"]), ("/dev/null", &["list"])]
    {
        let (code, _, said) = bench.run(&[&["--log-file", file], verb].concat());
        assert_eq!(code, 2, "{file}: {said}");
        assert!(said.contains(&format!("`{file}`: it is no regular file\n  help: name a regular file")), "{said}");
    }
    let (code, _, said) = bench.run(&["--log-file", "nowhere/log", "list"]);
    assert!(code == 2 && said.contains("`nowhere/log`: ") && said.contains("help: "), "{said}");
}

#[test]
#[cfg(unix)]
fn a_log_file_that_takes_no_more_is_told_once_and_no_line_is_lost() {
    let bench = Bench::new();
    bench.write("log", "");
    // Not a byte may be written to any file, and the program is told so rather than ended.
    let limited = "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\"";
    let mut shell = bench.program("sh");
    shell.args(["-c", limited, env!("CARGO_BIN_EXE_gatelatch"), "--log-file", "log"]).args(SEND);
    let ended = shell.env("GATELATCH_LOG", "info").output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(said.matches("warning: cannot write the log file `log`: ").count(), 1, "{said}");
    let (_, _, wanted) = bench.set("GATELATCH_LOG", "info").run(&SEND);
    let records = |text: &str| text.lines().filter(|line| line.contains("gatelatch::record")).count();
    assert!(records(&wanted) > 0 && records(&said) == records(&wanted), "{said}\n{wanted}");
}
