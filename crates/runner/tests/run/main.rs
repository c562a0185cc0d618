//! Calls as real processes, from the gate's yes to the value or the failure.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use gatelatch_registry::catalog::{CompiledFile, Entry, Kind, Origin};
use gatelatch_runner::readiness::{NotReady, readiness};
use gatelatch_runner::runner::{RunError, Runner, Step};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::stage::{Stage, approved, host};

mod stage;

/// Longer than any run here may last; reached only by a run that hangs.
const LONG: Duration = Duration::from_secs(30);

async fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let since = Instant::now();
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(since.elapsed() < LONG, "waited in vain until {what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Waits until a script wrote the number of a process whole.
async fn pid_in(file: &Path) -> i32 {
    until(&format!("{} is written", file.display()), || {
        let text = std::fs::read_to_string(file).ok()?;
        text.strip_suffix('\n')?.parse().ok()
    })
    .await
}

fn text(value: &Value) -> &str {
    value["text"].as_str().unwrap_or_else(|| panic!("no text: {value}"))
}

const WITH_ARGUMENTS: &str = "
actions:
  - name: show-all
    description: It.
    args:
      - {name: name, type: string}
      - {name: max-results, type: integer}
      - {name: deep, type: boolean, negatable: true}
      - {name: tags, type: array}
      - {name: label, type: array, repeat: name}
      - {name: from, type: string, positional: true}
      - {name: to, type: string, positional: true, allow_dash: true}
";

#[tokio::test]
async fn arguments_reach_the_program_one_element_each() {
    let stage = Stage::shell(r#"printf '%s\n' "$@""#, WITH_ARGUMENTS);
    let args = json!({
        "to": "-rf", "from": "a b", "tags": ["x y", "--z"], "label": ["l m", "-n"], "deep": false, "max-results": -3, "name": "$(id); `id`",
    });
    let done = stage.run(Some("show-all"), &args).await.unwrap();
    let expected = "show-all\n--name\n$(id); `id`\n--max-results=-3\n--no-deep\n--tags\n[\"x y\",\"--z\"]\n--label\nl m\n--label=-n\n--\na b\n-rf";
    assert_eq!(done.value, json!({ "text": expected }));
    assert_eq!((done.exit_code, done.stdout_bytes), (0, expected.len() as u64 + 1));
}

#[tokio::test]
async fn a_plan_is_what_a_run_does() {
    let manifest = "secrets: [KEY]\nenv: [HERE]\nactions: [{name: show-all, description: It., args: [{name: name, type: string}]}]";
    let files = [("main.sh", "#!/bin/sh\npwd; echo $0 $@; env | cut -d= -f1 | sort")];
    let manifest = format!("runtime: process\nentrypoint: ./main.sh\ncwd: .\n{manifest}");
    let stage = Stage::new(Kind::Tool, &manifest, &files, &[("KEY", "hunter2!"), ("LC_ALL", "C"), ("NOISE", "1")]);
    let args = json!({"name": "x"});
    let plan = stage.runner.plan(&stage.call(Some("show-all"), &args)).unwrap();
    let program = stage.path().join("tools/probe/./main.sh").display().to_string();
    assert_eq!(plan.argv, [program.as_str(), "show-all", "--name", "x"]);
    assert!(!format!("{plan:?}").contains("hunter2!"));

    let done = stage.run(Some("show-all"), &args).await.unwrap();
    let mut lines = text(&done.value).lines();
    assert_eq!(Path::new(lines.next().unwrap()), stage.path().join("tools/probe").canonicalize().unwrap());
    assert_eq!(plan.working_folder.canonicalize().unwrap(), stage.path().join("tools/probe").canonicalize().unwrap());
    assert_eq!(lines.next().unwrap(), plan.argv.join(" "));
    // The shell adds its own.
    let own = ["PWD", "OLDPWD", "SHLVL", "_"];
    let seen: Vec<&str> = lines.filter(|name| !own.contains(name)).collect();
    assert_eq!(seen, plan.environment);
}

#[tokio::test]
async fn a_tool_gets_the_short_list_what_its_manifest_names_and_its_secrets() {
    let host = [
        ("HOME", "/home/x"),
        ("LANG", "C"),
        ("LC_TIME", "C"),
        ("TZ", "UTC"),
        ("TMPDIR", "/tmp"),
        ("NAMED", "1"),
        ("KEY", "hunter2!"),
        ("OPTIONAL", ""),
        ("OTHER_KEY", "hunter3!"),
        ("GATELATCH_CATALOG", "/c"),
        ("LD_PRELOAD", ""),
        ("PYTHONPATH", "/x"),
    ];
    let manifest = "runtime: process\nentrypoint: /usr/bin/env\nenv: [NAMED, ABSENT]\nsecrets: [KEY, {name: OPTIONAL, required: false}]";
    let stage = Stage::new(Kind::Tool, manifest, &[], &host);
    let plan = stage.runner.plan(&stage.call(None, &json!({}))).unwrap();
    let mut expected = vec!["HOME", "KEY", "LANG", "LC_TIME", "NAMED", "PATH", "TMPDIR", "TZ"];
    if cfg!(target_os = "linux") {
        expected.insert(1, "GATELATCH_RUN");
    }
    expected.sort_unstable();
    assert_eq!(plan.environment, expected);
    let done = stage.run_bare().await.unwrap();
    assert_eq!(text(&done.value).lines().count(), expected.len());
    assert!(text(&done.value).contains("KEY=***KEY***"), "{}", done.value);
}

#[tokio::test]
async fn an_agent_is_told_whom_to_call_and_that_nobody_can_agree() {
    let host = [("GATELATCH_CATALOG", "/c"), ("GATELATCH_DENY_IRREVERSIBLE", "0")];
    let manifest = "runtime: process\nentrypoint: /usr/bin/env\nuses: []\nenv: [GATELATCH_DENY_IRREVERSIBLE]";
    let stage = Stage::new(Kind::Agent, manifest, &[], &host);
    let done = stage.run_bare().await.unwrap();
    let bin = format!("GATELATCH_BIN={}", stage.path().join("gatelatch").display());
    let lines: Vec<&str> = text(&done.value).lines().collect();
    for line in [bin.as_str(), "GATELATCH_CATALOG=/c", "GATELATCH_DENY_IRREVERSIBLE=1"] {
        assert!(lines.contains(&line), "no {line} in {lines:?}");
    }
}

#[tokio::test]
async fn json_is_the_value_and_text_is_text() {
    let done = Stage::shell(r#"echo '{"rows": [1, 2]}'"#, "").run_bare().await.unwrap();
    assert_eq!(done.value, json!({"rows": [1, 2]}));
    let done = Stage::shell("echo Hello", "").run_bare().await.unwrap();
    assert_eq!(done.value, json!({"text": "Hello"}));
    let done = Stage::shell("exit 0", "").run_bare().await.unwrap();
    assert_eq!(done.value, json!({"text": ""}), "prints nothing");
}

#[tokio::test]
async fn invalid_utf_8_becomes_text_that_says_so() {
    let done = Stage::shell(r"printf 'caf\351\n'", "").run_bare().await.unwrap();
    assert_eq!(done.value, json!({"text": "caf\u{fffd}", "lossy": true}));
}

#[tokio::test]
async fn a_failure_carries_what_the_program_said() {
    let error = Stage::shell("echo '{\"error\": \"no_sheet\"}'; exit 3", "").run_bare().await.unwrap_err();
    assert_eq!(error.code(), "tool_failed");
    match error {
        RunError::Failed { exit_code, error, .. } => assert_eq!((exit_code, error), (3, json!({"error": "no_sheet"}))),
        other => panic!("{other:?}"),
    }
    match Stage::shell("echo out; echo oops >&2; exit 1", "").run_bare().await.unwrap_err() {
        RunError::Failed { error, .. } => assert_eq!(error, json!({"text": "oops"})),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn output_over_the_cap_is_a_failure_that_says_how_to_narrow_it() {
    let manifest = "limits: {max_output_bytes: 100}\nargs: [{name: rows, type: integer}]\nnarrow_with: [rows]";
    let error = Stage::shell("yes | head -c 101", manifest).run_bare().await.unwrap_err();
    assert_eq!(error.code(), "output_too_large");
    match error {
        RunError::OutputTooLarge { limit, bytes, head, narrow_with } => {
            assert_eq!((limit, bytes, head.len()), (100, 101, 100));
            assert_eq!(narrow_with, ["rows"]);
        }
        other => panic!("{other:?}"),
    }
    assert!(Stage::shell("yes | head -c 100", manifest).run_bare().await.is_ok());
}

#[tokio::test]
async fn input_over_the_limit_starts_nothing() {
    let manifest = "limits: {max_input_bytes: 20}\nargs: [{name: text, type: string}]";
    let stage = Stage::shell("touch started", manifest);
    let error = stage.run(None, &json!({"text": "0123456789"})).await.unwrap_err();
    assert_eq!(error.code(), "input_too_large");
    assert_eq!(error.to_string(), "the arguments are too large: 21 bytes, 20 allowed");
    assert!(!stage.path().join("started").exists());
    assert!(stage.run(None, &json!({"text": "012345678"})).await.is_ok());
    assert!(stage.path().join("started").exists());
}

#[tokio::test]
async fn what_the_system_cannot_pass_is_input_too_large() {
    let manifest = "limits: {max_input_bytes: 100000000}\nargs: [{name: a, type: string}";
    let more: String = (0..100).map(|number| format!(", {{name: a{number}, type: string}}")).collect();
    let stage = Stage::shell("exit 0", &format!("{manifest}{more}]"));
    let error = stage.run(None, &json!({"a": "x".repeat(200_000)})).await.unwrap_err();
    assert_eq!((error.code(), error.to_string().contains("`a`")), ("input_too_large", true), "{error}");
    let all: serde_json::Map<String, Value> =
        (0..100).map(|number| (format!("a{number}"), Value::from("x".repeat(100_000)))).collect();
    let error = stage.run(None, &Value::Object(all)).await.unwrap_err();
    assert_eq!(error.code(), "input_too_large", "{error:?}");
    assert!(error.to_string().len() < 200, "the values are not in it");
}

#[tokio::test]
async fn steps_are_told_and_are_no_part_of_the_error() {
    let script = r#"echo '{"progress": 1, "total": 2, "message": "one"}' >&2; echo plain >&2; echo '{"progress": 2}' >&2; exit 1"#;
    let stage = Stage::shell(script, "");
    let steps = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&steps);
    let listener = Box::new(move |step| heard.lock().unwrap().push(step));
    let approved = stage.approved(None, &json!({}));
    let error = stage.runner.run(approved, CancellationToken::new(), Some(listener), None).await.unwrap_err();
    let one = Step { progress: 1.0, total: Some(2.0), message: Some("one".to_owned()) };
    let two = Step { progress: 2.0, total: None, message: None };
    assert_eq!(*steps.lock().unwrap(), [one, two]);
    match error {
        RunError::Failed { error, .. } => assert_eq!(error, json!({"text": "plain"})),
        other => panic!("{other:?}"),
    }
}

fn with_secret(script: &str) -> Stage {
    let files = [("main.sh", format!("#!/bin/sh\n{script}\n"))];
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let manifest = "runtime: process\nentrypoint: main.sh\nsecrets: [KEY]\nlimits: {timeout_s: 20}";
    Stage::new(Kind::Tool, manifest, &files, &[("KEY", "p\"ss/wörd!")])
}

#[tokio::test]
async fn a_secret_split_over_two_writes_is_masked() {
    // The pause lets the halves be read apart; that the mask does not depend on it is a property of the filter.
    let stage = with_secret(r#"printf '%s' "${KEY%wörd!}"; sleep 0.1; printf 'w\303\266rd! and more'"#);
    let done = stage.run_bare().await.unwrap();
    assert_eq!(done.value, json!({"text": "***KEY*** and more"}));
}

#[tokio::test]
async fn a_secret_is_masked_in_every_place_it_could_come_back() {
    let stage = with_secret(
        r#"echo '{"progress": 1, "message": "'p\\\"ss/w\\u00f6rd!'"}' >&2; printf '%s' "$KEY" | base64 >&2; echo "$KEY" >&2; exit 1"#,
    );
    let steps = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&steps);
    let listener = Box::new(move |step: Step| heard.lock().unwrap().push(step.message.unwrap()));
    let approved = stage.approved(None, &json!({}));
    let error = stage.runner.run(approved, CancellationToken::new(), Some(listener), None).await.unwrap_err();
    assert_eq!(*steps.lock().unwrap(), ["***KEY***"]);
    match error {
        RunError::Failed { error, .. } => assert_eq!(error, json!({"text": "***KEY***=\n***KEY***"})),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_secret_is_masked_in_the_head_of_what_is_too_large() {
    let files = [("main.sh", "#!/bin/sh\necho $KEY; yes | head -c 200\n")];
    let manifest = "runtime: process\nentrypoint: main.sh\nsecrets: [KEY]\nlimits: {max_output_bytes: 100}";
    let stage = Stage::new(Kind::Tool, manifest, &files, &[("KEY", "hunter2!")]);
    match stage.run_bare().await.unwrap_err() {
        RunError::OutputTooLarge { head, .. } => assert!(head.starts_with("***KEY***\ny\n"), "{head}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_secret_in_a_number_s_place_leaves_the_result_whole() {
    let files = [("main.sh", "#!/bin/sh\necho \"{\\\"v\\\": $KEY, \\\"w\\\": [1]}\"")];
    let stage =
        Stage::new(Kind::Tool, "runtime: process\nentrypoint: main.sh\nsecrets: [KEY]", &files, &[("KEY", "12345678")]);
    assert_eq!(stage.run_bare().await.unwrap().value, json!({"v": "***KEY***", "w": [1]}));
}

#[tokio::test]
async fn a_step_is_masked_though_every_character_is_escaped() {
    let escaped: String = "p\"ss/wörd!".encode_utf16().map(|unit| format!(r"\\u{unit:04x}")).collect();
    let stage = with_secret(&format!(r#"printf '%b\n' '{{"progress": 1, "message": "{escaped}"}}' >&2"#));
    let steps = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&steps);
    let listener = Box::new(move |step: Step| heard.lock().unwrap().push(step.message.unwrap()));
    stage.runner.run(stage.approved(None, &json!({})), CancellationToken::new(), Some(listener), None).await.unwrap();
    assert_eq!(*steps.lock().unwrap(), ["***KEY***"]);
}

#[tokio::test]
async fn a_secret_never_stands_in_the_argument_vector() {
    let stage = with_secret(r#"tr '\0' '\n' < /proc/$$/cmdline"#);
    if cfg!(target_os = "linux") {
        assert!(!text(&stage.run_bare().await.unwrap().value).contains("KEY"));
    }
    let plan = stage.runner.plan(&stage.call(None, &json!({}))).unwrap();
    assert!(!format!("{plan:?}").contains("wörd"));
}

#[tokio::test]
async fn each_way_to_end_has_its_code() {
    let stage = Stage::shell("echo started >&2; exec sleep 1000", "limits: {timeout_s: 1}");
    match stage.run_bare().await.unwrap_err() {
        RunError::TimedOut { after, stderr } => {
            assert_eq!((after, stderr.as_str()), (Duration::from_secs(1), "started"));
        }
        other => panic!("{other:?}"),
    }
    let stage = Stage::shell("echo dying >&2; kill -KILL $$", "");
    match stage.run_bare().await.unwrap_err() {
        RunError::Signalled { signal, stderr } => assert_eq!((signal, stderr.as_str()), (9, "dying")),
        other => panic!("{other:?}"),
    }
    let cancelled = CancellationToken::new();
    cancelled.cancel();
    let error = stage.runner.run(stage.approved(None, &json!({})), cancelled, None, None).await.unwrap_err();
    assert_eq!(error.code(), "cancelled");
}

/// A tool with one slot: `hold` keeps it until it is ended, `pass` does not.
fn one_slot(hold: &str) -> Stage {
    let manifest = "limits: {max_concurrent: 1, timeout_s: 20}\nactions: [{name: hold, description: It.}, {name: hold-briefly, description: It., limits: {timeout_s: 1}}, {name: pass, description: It.}]";
    let script = format!("case $1 in hold*) echo $$ > leader; {hold};; esac");
    Stage::shell(&script, manifest)
}

#[tokio::test]
async fn a_slot_is_free_again_after_every_ending() {
    let none = json!({});
    for (hold, ending) in [
        ("exec sleep 1000", "timeout"),
        ("sleep 1000 & exit 1", "tool_failed"),
        ("kill -KILL $$", "killed"),
        ("exec >&- 2>&-; exec sleep 1000", "timeout"),
    ] {
        let stage = one_slot(hold);
        assert_eq!(stage.run(Some("hold-briefly"), &none).await.unwrap_err().code(), ending);
        let next = tokio::time::timeout(LONG, stage.run(Some("pass"), &none)).await;
        next.unwrap_or_else(|_| panic!("after `{ending}` the slot is still taken")).unwrap();
    }

    let stage = Arc::new(one_slot("exec sleep 1000"));
    let cancelled = CancellationToken::new();
    let running = spawn_hold(&stage, cancelled.clone());
    pid_in(&stage.path().join("leader")).await;
    cancelled.cancel();
    assert_eq!(running.await.unwrap().unwrap_err().code(), "cancelled");
    stage.run(Some("pass"), &none).await.unwrap();

    std::fs::remove_file(stage.path().join("leader")).unwrap();
    let running = spawn_hold(&stage, CancellationToken::new());
    pid_in(&stage.path().join("leader")).await;
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled());
    stage.run(Some("pass"), &none).await.unwrap();
}

type Running = tokio::task::JoinHandle<Result<gatelatch_runner::runner::Done, RunError>>;

fn spawn_hold(stage: &Arc<Stage>, cancelled: CancellationToken) -> Running {
    let stage = Arc::clone(stage);
    tokio::spawn(async move {
        let approved = stage.approved(Some("hold"), &json!({}));
        stage.runner.run(approved, cancelled, None, None).await
    })
}

#[tokio::test]
async fn a_call_over_the_limit_waits_in_line_and_then_gives_up() {
    let manifest = "limits: {max_concurrent: 1, timeout_s: 20}\nactions: [{name: hold, description: It.}, {name: pass, description: It., limits: {timeout_s: 1}}]";
    let stage = Arc::new(Stage::shell("test $1 = pass || { echo $$ > leader; exec sleep 1000; }", manifest));
    let cancelled = CancellationToken::new();
    let running = spawn_hold(&stage, cancelled.clone());
    pid_in(&stage.path().join("leader")).await;

    let error = stage.run(Some("pass"), &json!({})).await.unwrap_err();
    assert_eq!(error.code(), "busy");
    assert_eq!(error.to_string(), "`probe` is busy: no other run of it ended within 1 s");

    let impatient = CancellationToken::new();
    impatient.cancel();
    let waiting = stage.runner.run(stage.approved(Some("hold"), &json!({})), impatient, None, None);
    assert_eq!(waiting.await.unwrap_err().code(), "cancelled");

    let none = json!({});
    let mut waiting = std::pin::pin!(stage.run(Some("pass"), &none));
    tokio::select! {
        biased;
        done = &mut waiting => panic!("it did not stand in line: {done:?}"),
        () = std::future::ready(()) => cancelled.cancel(),
    }
    waiting.await.unwrap();
    assert_eq!(running.await.unwrap().unwrap_err().code(), "cancelled");
}

fn not_ready(stage: &Stage) -> NotReady {
    readiness(stage.runner.host(), &stage.entry).unwrap_err()
}

#[tokio::test]
async fn what_is_not_ready_says_why_and_does_not_run() {
    let python = "runtime: python\nentrypoint: main.py";
    let stage = Stage::new(Kind::Tool, python, &[("main.py", "")], &[("PATH", "/nowhere")]);
    assert_eq!(
        (not_ready(&stage).code(), not_ready(&stage).to_string().as_str()),
        ("no_interpreter", "python not found")
    );
    let error = stage.run_bare().await.unwrap_err();
    assert_eq!((error.code(), error.to_string().as_str()), ("not_ready", "python not found"));

    let stage = Stage::new(Kind::Tool, "runtime: process\nentrypoint: no-such-program", &[], &[]);
    assert_eq!(not_ready(&stage).to_string(), "program `no-such-program` not found on PATH");

    let stage = Stage::shell("", "");
    std::fs::remove_file(stage.path().join("tools/probe/main.sh")).unwrap();
    assert_eq!(not_ready(&stage).code(), "no_program", "without a slash it may be on PATH");

    let manifest = "runtime: process\nentrypoint: ./main.sh\nsecrets: [KEY]";
    let stage = Stage::new(Kind::Tool, manifest, &[("main.sh", "")], &[("KEY", "short")]);
    assert_eq!(not_ready(&stage).code(), "secret_too_short");
    let stage = Stage::new(Kind::Tool, manifest, &[("main.sh", "")], &[]);
    assert_eq!(not_ready(&stage).to_string(), "secret `KEY` is not set");
    assert_eq!(stage.run_bare().await.unwrap_err().code(), "not_ready");
    let script = stage.path().join("tools/probe/main.sh");
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    assert_eq!(not_ready(&stage).code(), "not_executable");
    std::fs::remove_file(&script).unwrap();
    assert_eq!(not_ready(&stage).code(), "no_entrypoint");

    let stage = Stage::shell("exit 0", "cwd: no-such-folder");
    assert_eq!(readiness(stage.runner.host(), &stage.entry), Ok(()));
    let error = stage.run_bare().await.unwrap_err();
    let folder = stage.path().join("tools/probe/no-such-folder");
    assert_eq!(error.code(), "cannot_start");
    assert!(error.to_string().contains(&folder.display().to_string()), "{error}");
    assert!(error.help().unwrap().contains("`cwd`"), "{error:?}");
}

#[tokio::test]
async fn a_program_that_does_not_start_is_told_by_its_file_with_the_cause_and_what_helps() {
    for (text, cause, help) in [
        ("echo hi\n", "it has no `#!` line", "begin `"),
        ("", "it has no `#!` line", "#!/bin/sh"),
        (
            "#!/no/such/interpreter -x\n",
            "its first line asks for `/no/such/interpreter`, which is not there",
            "install `/no/",
        ),
        ("#!/bin/sh\r\necho hi\r\n", "`/bin/sh` and ends in a carriage return", "sed -i"),
        ("\0\u{1}\u{2}\u{3}", "it is no program for this machine", "build `"),
    ] {
        let manifest = "runtime: process\nentrypoint: ./main.sh\nargs: [{name: text, type: string}]\nsecrets: [KEY]";
        let stage = Stage::new(Kind::Tool, manifest, &[("main.sh", text)], &[("KEY", "hunter2!")]);
        let error = stage.run(None, &json!({"text": "an argument"})).await.unwrap_err();
        let told = format!("{error} | {}", error.help().unwrap());
        assert_eq!(error.code(), "cannot_start", "{told}");
        let program = stage.path().join("tools/probe/./main.sh");
        assert!(told.contains(&format!("`{}`", program.display())), "{told}");
        assert!(error.to_string().contains(cause) && error.help().unwrap().contains(help), "{told}");
        assert!(!told.contains("an argument") && !told.contains("hunter2!"), "{told}");
    }
    let stage = Stage::shell("exit 0", "");
    std::fs::set_permissions(
        stage.path().join("tools/probe/main.sh"),
        std::os::unix::fs::PermissionsExt::from_mode(0o644),
    )
    .unwrap();
    let error = stage.run_bare().await.unwrap_err();
    assert_eq!(
        (error.code(), error.help().unwrap().as_str()),
        ("not_ready", "`chmod +x main.sh` in the manifest's folder")
    );
}

#[tokio::test]
async fn a_python_tool_runs_with_its_own_modules() {
    let files =
        [("main.py", "import json, sys, part\nprint(json.dumps([part.X, sys.argv[1:]]))"), ("part.py", "X = 1")];
    let manifest = "runtime: python\nentrypoint: main.py\nargs: [{name: name, type: string}]";
    let stage = Stage::new(Kind::Tool, manifest, &files, &[]);
    let done = stage.run(None, &json!({"name": "x y"})).await.unwrap();
    assert_eq!(done.value, json!([1, ["--name", "x y"]]));
}

#[tokio::test]
async fn a_builtin_is_the_own_program_run_again() {
    let manifest = "runtime: builtin\nentrypoint: xlsx\nactions: [{name: list-sheets, description: It., args: [{name: path, type: path}]}]";
    let stage = Stage::new(Kind::Tool, manifest, &[], &[]);
    let own = stage.path().join("gatelatch");
    std::fs::write(&own, "#!/bin/sh\nprintf '%s\\n' \"$@\"\n").unwrap();
    std::fs::set_permissions(&own, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let done = stage.run(Some("list-sheets"), &json!({"path": "a.xlsx"})).await.unwrap();
    assert_eq!(text(&done.value), "builtin\nxlsx\nlist-sheets\n--path\na.xlsx");
}

const FILES: &[CompiledFile] = &[
    CompiledFile { path: "main.py", bytes: b"import part\nprint(part.X)" },
    CompiledFile { path: "part.py", bytes: b"X = 1" },
];

/// A python tool that is compiled in, with its cache in the stage's folder.
fn compiled_in() -> Stage {
    let stage = Stage::new(Kind::Tool, "runtime: python\nentrypoint: main.py", &[("main.py", "")], &[]);
    let entry = Arc::new(Entry { origin: Origin::Compiled(FILES.into()), ..(*stage.entry).clone() });
    Stage { runner: Runner::new(host(stage.path(), &[])), entry, folder: stage.folder }
}

#[tokio::test]
async fn a_compiled_in_tool_runs_from_the_cache_and_only_unchanged() {
    let stage = compiled_in();
    assert_eq!(readiness(stage.runner.host(), &stage.entry), Ok(()));
    assert!(!stage.path().join("cache").exists(), "a look unpacks nothing");
    let plan = stage.runner.plan(&stage.call(None, &json!({}))).unwrap();
    assert!(Path::new(plan.argv.last().unwrap()).is_file(), "what a plan tells can be run: {:?}", plan.argv);

    assert_eq!(stage.run_bare().await.unwrap().value, json!(1));
    let unpacked = Path::new(plan.argv.last().unwrap()).with_file_name("part.py");
    std::fs::write(&unpacked, "X = 2").unwrap();
    assert_eq!(stage.run_bare().await.unwrap().value, json!(1));
    let beside: Vec<_> = std::fs::read_dir(unpacked.parent().unwrap()).unwrap().collect();
    assert_eq!(beside.len(), 2, "no byte code beside the sources: {beside:?}");
    drop(approved(stage.call(None, &json!({}))));
}

#[tokio::test]
async fn whoever_polls_a_run_is_never_made_to_wait_for_another_process_and_cancelling_ends_the_wait() {
    let stage = Arc::new(compiled_in());
    let lock = stage.path().join("cache/programs/.lock");
    for folder in [stage.path().join("cache"), stage.path().join("cache/programs")] {
        std::fs::create_dir(&folder).unwrap();
        std::fs::set_permissions(&folder, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    }
    let held = std::fs::File::create(&lock).unwrap();
    held.lock().unwrap();
    let (told, polled) = std::sync::mpsc::channel();
    let cancelled = CancellationToken::new();
    let (run, cancel) = (Arc::clone(&stage), cancelled.clone());
    // A thread of its own, so that a run that blocks fails the test and does not hang it.
    let thread = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut running = std::pin::pin!(run.runner.run(run.approved(None, &json!({})), cancel, None, None));
            tokio::select! {
                biased;
                done = &mut running => panic!("it ran without the lock: {done:?}"),
                () = std::future::ready(()) => told.send(()).unwrap(),
            }
            running.await
        })
    });
    polled.recv_timeout(LONG).expect("the poll never returned");
    cancelled.cancel();
    assert_eq!(thread.join().unwrap().unwrap_err().code(), "cancelled");
    drop(held);
    assert_eq!(stage.run_bare().await.unwrap().value, json!(1));
}

#[tokio::test]
async fn a_cache_that_is_not_safe_says_so_with_a_way_out() {
    let stage = compiled_in();
    std::fs::create_dir(stage.path().join("cache")).unwrap();
    std::fs::set_permissions(stage.path().join("cache"), std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    let error = stage.run_bare().await.unwrap_err();
    assert_eq!(error.code(), "cannot_start");
    assert!(error.to_string().ends_with("others may write it"), "{error}");
    assert!(error.help().unwrap().contains("GATELATCH_CACHE"), "{error:?}");
}
