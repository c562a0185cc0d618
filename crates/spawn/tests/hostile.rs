//! Children that misbehave, as real processes: whatever they do, the run ends in time and leaves nothing behind.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use gatelatch_spawn::child::{Ended, Ending, Launch, Listeners, RUN_VARIABLE, SpawnError, run};
use tokio_util::sync::CancellationToken;

const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// Longer than any run here may last; reached only by a run that hangs.
const LONG: Duration = Duration::from_secs(15);

fn shell(script: &str) -> Launch {
    Launch {
        program: PathBuf::from("/bin/sh"),
        args: vec!["-c".into(), script.into()],
        env: vec![("PATH".into(), PATH.into())],
        cwd: PathBuf::from("/"),
        timeout: 2 * LONG,
        max_stdout_bytes: 1 << 20,
        stderr_tail_bytes: 4096,
    }
}

async fn end_of(launch: Launch) -> Ended {
    let running = run(launch, Listeners::default(), CancellationToken::new());
    tokio::time::timeout(LONG, running).await.expect("the run hangs").unwrap()
}

/// A folder in which scripts leave the numbers of the processes they start.
struct Roll {
    folder: tempfile::TempDir,
}

impl Roll {
    fn new() -> Roll {
        Roll { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// `shell` with the folder as `$ROLL`, and `enter NAME PID` to write into it at once and whole.
    fn shell(&self, script: &str) -> Launch {
        let enter = r#"enter() { echo "$2" > "$ROLL/.$1" && mv "$ROLL/.$1" "$ROLL/$1"; }; "#;
        let mut launch = shell(&format!("{enter}{script}"));
        launch.env.push(("ROLL".into(), self.path().into()));
        launch
    }

    fn pid(&self, name: &str) -> Option<i32> {
        std::fs::read_to_string(self.path().join(name)).ok()?.trim().parse().ok()
    }

    /// Waits until a script entered that name.
    async fn entered(&self, name: &str) -> i32 {
        until(&format!("`{name}` is entered"), || self.pid(name)).await
    }

    /// Holds the moment the run has returned: whoever entered is gone and reaped.
    fn assert_gone(&self, name: &str) {
        let pid = self.pid(name).unwrap_or_else(|| panic!("`{name}` never started"));
        assert!(!Path::new(&format!("/proc/{pid}")).exists(), "`{name}` lives on as {pid}");
    }
}

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

fn is_alive(pid: i32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    !stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('Z'))
}

#[tokio::test]
async fn a_child_gets_its_arguments_as_they_are_and_its_exit_code_comes_back() {
    let mut launch = shell(r#"printf '%s|' "$@"; exit 7"#);
    launch.args.extend(["sh", "a b", "", "$HOME", "--x=\"y\"\n"].map(OsString::from));
    let ended = end_of(launch).await;
    assert_eq!(ended.ending, Ending::Exited(7));
    assert_eq!(String::from_utf8(ended.stdout).unwrap(), "a b||$HOME|--x=\"y\"\n|");
}

#[tokio::test]
async fn a_child_sees_the_environment_it_is_given_and_nothing_else() {
    let mut launch = shell("");
    launch.program = "/usr/bin/env".into();
    launch.args.clear();
    launch.env.push(("NAMED".into(), "value".into()));
    let ended = end_of(launch).await;
    let text = String::from_utf8(ended.stdout).unwrap();
    let mut names: Vec<&str> = text.lines().map(|line| line.split_once('=').unwrap().0).collect();
    names.sort_unstable();
    assert_eq!(names, [RUN_VARIABLE, "NAMED", "PATH"]);
}

#[tokio::test]
async fn a_child_has_no_standard_input() {
    let ended = end_of(shell("cat; echo end")).await;
    assert_eq!(ended.stdout, b"end\n");
}

#[tokio::test]
async fn a_child_has_no_standard_input_even_where_we_have_one() {
    let mut launch = shell(r#"echo leak | "$0" --exact a_child_has_no_standard_input"#);
    launch.args.push(std::env::current_exe().unwrap().into());
    assert_eq!(end_of(launch).await.ending, Ending::Exited(0));
}

#[tokio::test]
async fn a_missing_program_and_a_missing_folder_are_told_apart() {
    let mut launch = shell("");
    launch.program = "/nowhere/program".into();
    let error = run(launch, Listeners::default(), CancellationToken::new()).await.unwrap_err();
    assert!(matches!(error, SpawnError::Start { .. }), "{error}");
    let mut launch = shell("");
    launch.cwd = "/nowhere".into();
    let error = run(launch, Listeners::default(), CancellationToken::new()).await.unwrap_err();
    assert!(matches!(error, SpawnError::Folder { .. }), "{error}");
}

#[tokio::test]
async fn output_beyond_the_cap_is_counted_and_not_kept() {
    let mut launch = shell("head -c 3000000 /dev/zero; printf end >&2");
    launch.max_stdout_bytes = 1000;
    let ended = end_of(launch).await;
    assert_eq!((ended.stdout.len(), ended.stdout_bytes), (1000, 3_000_000));
    assert_eq!(ended.stderr_tail, b"end");
    assert!(ended.stdout.capacity() < 100_000, "{}", ended.stdout.capacity());
}

#[tokio::test]
async fn of_standard_error_the_tail_is_kept() {
    let mut launch = shell("head -c 200000 /dev/zero >&2; printf 'the end' >&2");
    launch.stderr_tail_bytes = 10;
    let ended = end_of(launch).await;
    assert_eq!(ended.stderr_tail, b"\0\0\0the end");
}

#[tokio::test]
async fn a_child_that_prints_nothing_ends_with_nothing() {
    let ended = end_of(shell("exit 0")).await;
    assert_eq!((ended.ending, ended.stdout.len(), ended.stdout_bytes), (Ending::Exited(0), 0, 0));
}

#[tokio::test]
async fn a_child_that_never_ends_is_ended_when_its_time_is_up() {
    let roll = Roll::new();
    let mut launch = roll.shell("enter leader $$; exec sleep 1000");
    launch.timeout = Duration::from_millis(200);
    let ended = end_of(launch).await;
    assert_eq!(ended.ending, Ending::TimedOut);
    assert!(ended.elapsed < Duration::from_secs(2), "{:?}", ended.elapsed);
    roll.assert_gone("leader");
}

#[tokio::test]
async fn a_child_that_ignores_sigterm_is_killed_after_its_grace() {
    let roll = Roll::new();
    let mut launch = roll.shell("trap '' TERM; enter leader $$; while :; do sleep 1000; done");
    launch.timeout = Duration::from_millis(200);
    let ended = end_of(launch).await;
    assert_eq!(ended.ending, Ending::TimedOut);
    assert!(ended.elapsed < Duration::from_secs(5), "{:?}", ended.elapsed);
    roll.assert_gone("leader");
}

#[tokio::test]
async fn a_child_may_use_its_grace_to_say_goodbye() {
    let roll = Roll::new();
    let launch = roll.shell("trap 'echo goodbye; exit 0' TERM; enter leader $$; while :; do sleep 0.01; done");
    let cancelled = CancellationToken::new();
    let running = tokio::spawn(run(launch, Listeners::default(), cancelled.clone()));
    roll.entered("leader").await;
    cancelled.cancel();
    let ended = running.await.unwrap().unwrap();
    assert_eq!((ended.ending, ended.stdout.as_slice()), (Ending::Cancelled, b"goodbye\n".as_slice()));
}

#[tokio::test]
async fn a_cancelled_call_takes_its_grandchildren_along() {
    let roll = Roll::new();
    let launch = roll.shell("sh -c 'trap \"\" TERM; sleep 1000' & enter grandchild $!; enter leader $$; wait");
    let cancelled = CancellationToken::new();
    let running = tokio::spawn(run(launch, Listeners::default(), cancelled.clone()));
    roll.entered("leader").await;
    cancelled.cancel();
    assert_eq!(running.await.unwrap().unwrap().ending, Ending::Cancelled);
    roll.assert_gone("grandchild");
    roll.assert_gone("leader");
}

#[tokio::test]
async fn a_call_cancelled_before_its_start_starts_nothing() {
    let roll = Roll::new();
    let cancelled = CancellationToken::new();
    cancelled.cancel();
    let ended = run(roll.shell("enter leader $$"), Listeners::default(), cancelled).await.unwrap();
    assert_eq!(ended.ending, Ending::Cancelled);
    assert_eq!(roll.pid("leader"), None);
}

#[tokio::test]
async fn a_child_that_dies_by_a_signal_is_told_apart_from_one_that_exits() {
    assert_eq!(end_of(shell("kill -SEGV $$")).await.ending, Ending::Signalled(11));
}

#[tokio::test]
async fn a_grandchild_that_holds_the_pipes_is_neither_waited_for_nor_left_running() {
    let roll = Roll::new();
    let ended = end_of(roll.shell("sleep 1000 & enter grandchild $!; echo done")).await;
    assert_eq!((ended.ending, ended.stdout.as_slice()), (Ending::Exited(0), b"done\n".as_slice()));
    assert!(ended.elapsed < Duration::from_secs(2), "{:?}", ended.elapsed);
    roll.assert_gone("grandchild");
}

#[tokio::test]
async fn a_pipe_that_a_stranger_holds_open_is_not_waited_for() {
    let roll = Roll::new();
    let launch = roll.shell("echo early; enter leader $$; while ! [ -e $ROLL/held ]; do sleep 0.01; done");
    let running = tokio::spawn(run(launch, Listeners::default(), CancellationToken::new()));
    let leader = roll.entered("leader").await;
    let held = std::fs::OpenOptions::new().write(true).open(format!("/proc/{leader}/fd/1")).unwrap();
    std::fs::write(roll.path().join("held"), "").unwrap();
    let ended = tokio::time::timeout(LONG, running).await.expect("the run hangs").unwrap().unwrap();
    assert_eq!((ended.ending, ended.stdout.as_slice()), (Ending::Exited(0), b"early\n".as_slice()));
    drop(held);
}

#[tokio::test]
async fn a_double_fork_in_its_own_session_does_not_outlive_the_run() {
    let roll = Roll::new();
    // The one in the middle is gone before the leader, so the last one's parent is none of the group.
    let script = r#"
        setsid sh -c 'sh -c "enter_pid=\$\$; echo \$enter_pid > $ROLL/daemon; exec sleep 1000" </dev/null >/dev/null 2>&1 &'
        while ! [ -s "$ROLL/daemon" ]; do sleep 0.01; done
    "#;
    let ended = end_of(roll.shell(script)).await;
    assert_eq!(ended.ending, Ending::Exited(0));
    roll.assert_gone("daemon");
}

#[tokio::test]
async fn a_tree_of_those_who_left_the_group_dies_to_the_last_leaf() {
    let roll = Roll::new();
    let script = r#"
        setsid sh -c 'setsid sh -c "sleep 1000 & echo \$! > $ROLL/leaf; wait" & echo $! > $ROLL/branch; wait' &
        while ! [ -s "$ROLL/leaf" ] || ! [ -s "$ROLL/branch" ]; do sleep 0.01; done
    "#;
    end_of(roll.shell(script)).await;
    roll.assert_gone("leaf");
    roll.assert_gone("branch");
}

#[tokio::test]
async fn another_run_s_double_fork_is_left_alone() {
    let long = Roll::new();
    let daemon = r#"
        setsid sh -c 'sh -c "echo \$\$ > $ROLL/daemon; exec sleep 1000" </dev/null >/dev/null 2>&1 &'
        while ! [ -s "$ROLL/daemon" ]; do sleep 0.01; done; enter leader $$; exec sleep 1000
    "#;
    let cancelled = CancellationToken::new();
    let running = tokio::spawn(run(long.shell(daemon), Listeners::default(), cancelled.clone()));
    long.entered("leader").await;
    let daemon = long.entered("daemon").await;
    end_of(shell("sleep 1000 & exit 0")).await;
    assert!(is_alive(daemon), "the short run's end took the long run's process");
    cancelled.cancel();
    running.await.unwrap().unwrap();
    long.assert_gone("daemon");
}

#[tokio::test]
async fn a_child_that_closes_its_output_and_lives_on_is_waited_for_until_its_time_is_up() {
    let roll = Roll::new();
    let mut launch = roll.shell("echo early; exec >&- 2>&-; enter leader $$; exec sleep 1000");
    launch.timeout = Duration::from_millis(300);
    let ended = end_of(launch).await;
    assert_eq!((ended.ending, ended.stdout.as_slice()), (Ending::TimedOut, b"early\n".as_slice()));
    assert!(ended.elapsed >= Duration::from_millis(300), "{:?}", ended.elapsed);
    roll.assert_gone("leader");

    let ended = end_of(shell("exec >&- 2>&-; sleep 0.1; exit 3")).await;
    assert_eq!(ended.ending, Ending::Exited(3), "and its exit code counts");
}

#[tokio::test]
async fn a_dropped_future_kills_the_group_and_who_left_it() {
    let roll = Roll::new();
    let script = r#"
        setsid sh -c 'sh -c "echo \$\$ > $ROLL/daemon; exec sleep 1000" </dev/null >/dev/null 2>&1 &'
        sleep 1000 & enter grandchild $!
        while ! [ -s "$ROLL/daemon" ]; do sleep 0.01; done; enter leader $$; wait
    "#;
    let running = tokio::spawn(run(roll.shell(script), Listeners::default(), CancellationToken::new()));
    let leader = roll.entered("leader").await;
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled());
    for name in ["leader", "grandchild", "daemon"] {
        let pid = roll.entered(name).await;
        until(&format!("{name} is gone"), || (!Path::new(&format!("/proc/{pid}")).exists()).then_some(())).await;
    }
    assert!(!is_alive(leader));
}

#[tokio::test]
async fn standard_error_is_heard_line_by_line_and_kept_as_it_is() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&lines);
    let listener = Box::new(move |line: &[u8]| heard.lock().unwrap().push(String::from_utf8_lossy(line).into_owned()));
    let launch = shell("printf out; printf 'one\\r\\n\\ntwo\\nrest' >&2");
    let ended = run(launch, Listeners { stderr_line: Some(listener) }, CancellationToken::new()).await.unwrap();
    assert_eq!(ended.stdout, b"out");
    assert_eq!(ended.stderr_tail, b"one\r\n\ntwo\nrest");
    assert_eq!(*lines.lock().unwrap(), ["one", "", "two", "rest"]);
}

#[tokio::test]
async fn a_leader_that_moves_to_another_group_dies_like_any_other() {
    let roll = Roll::new();
    let perl = r#"setpgrp(0, getpgrp(getppid())) or die; $SIG{TERM} = "IGNORE";"#;
    let own_group = "import os, signal; os.setpgid(0, os.getpgid(os.getppid())); signal.signal(15, signal.SIG_IGN)";
    let script = format!(
        "enter leader $$; if command -v python3 >/dev/null; then exec python3 -c '{own_group}; import time; time.sleep(1000)'; else exec perl -e '{perl} sleep 1000'; fi"
    );
    let mut launch = roll.shell(&script);
    launch.timeout = Duration::from_millis(500);
    assert_eq!(end_of(launch).await.ending, Ending::TimedOut);
    roll.assert_gone("leader");
}

#[tokio::test]
async fn a_line_is_heard_while_the_child_runs_and_never_longer_than_64_kib() {
    let roll = Roll::new();
    let (told, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let listeners = Listeners { stderr_line: Some(Box::new(move |line| told.send(line.len()).unwrap())) };
    let launch = roll
        .shell("head -c 1000000 /dev/zero >&2; echo >&2; while ! [ -e \"$ROLL/heard\" ]; do sleep 0.01; done; echo ok");
    let running = tokio::spawn(run(launch, listeners, CancellationToken::new()));
    assert_eq!(heard.recv().await, Some(65_536));
    std::fs::write(roll.path().join("heard"), "").unwrap();
    assert_eq!(running.await.unwrap().unwrap().stdout, b"ok\n");
}

#[tokio::test]
async fn many_runs_at_once_do_not_disturb_each_other() {
    let runs: Vec<_> = (0..40)
        .map(|number| {
            let script =
                format!("setsid sh -c 'sleep 1000 >/dev/null 2>&1 &'; sleep 1000 & echo {number}; exit {number}");
            tokio::spawn(end_of(shell(&script)))
        })
        .collect();
    for (number, ended) in runs.into_iter().enumerate() {
        let ended = ended.await.unwrap();
        assert_eq!(ended.ending, Ending::Exited(i32::try_from(number).unwrap()));
        assert_eq!(ended.stdout, format!("{number}\n").into_bytes());
    }
}
