//! Conversations with real children, line by line.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::time::{Duration, Instant};

use gatelatch_spawn::child::{Ending, Launch};
use gatelatch_spawn::session::{Session, SessionError};

fn shell(script: &str) -> Launch {
    Launch {
        program: "/bin/sh".into(),
        args: vec!["-c".into(), script.into()],
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        cwd: "/".into(),
        timeout: Duration::from_secs(20),
        max_stdout_bytes: 300_000,
        stderr_tail_bytes: 16,
    }
}

fn is_alive(process: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{process}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

#[tokio::test]
async fn each_line_is_answered_and_the_end_of_input_ends_the_child() {
    let mut session =
        Session::start(&shell("while read line; do echo \"got $line\"; echo note >&2; done; exit 7")).unwrap();
    for word in ["one", "two words", ""] {
        session.send(word).await.unwrap();
        assert_eq!(session.receive().await.unwrap(), format!("got {word}"));
    }
    assert_eq!(session.end().await.unwrap(), Ending::Exited(7));
}

#[tokio::test]
async fn a_child_that_writes_before_it_reads_blocks_nobody() {
    // Both pipes hold 64 KiB: either side would wait for the other.
    let script = "head -c 200000 /dev/zero | tr '\\0' x; echo; read line; echo ${#line}";
    let mut session = Session::start(&shell(script)).unwrap();
    session.send(&"y".repeat(200_000)).await.unwrap();
    assert_eq!(session.receive().await.unwrap().len(), 200_000);
    assert_eq!(session.receive().await.unwrap(), "200000");
    assert!(matches!(session.receive().await, Err(SessionError::Ended)));
}

#[tokio::test]
async fn a_session_that_is_dropped_leaves_nobody_behind() {
    let mut session = Session::start(&shell("sleep 1000 & echo $!; wait")).unwrap();
    let member = session.receive().await.unwrap();
    drop(session);
    let since = Instant::now();
    while cfg!(target_os = "linux") && is_alive(&member) {
        assert!(since.elapsed() < Duration::from_secs(10), "it lives on");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_session_bears_no_mark_of_a_run_of_its_own_and_hands_on_the_one_around_it() {
    let mut session = Session::start(&shell("echo \"<$GATELATCH_RUN>\"")).unwrap();
    assert_eq!(session.receive().await.unwrap(), "<>");
    let mut within = shell("echo \"<$GATELATCH_RUN>\"");
    within.env.push(("GATELATCH_RUN".into(), "outer.1".into()));
    let mut session = Session::start(&within).unwrap();
    assert_eq!(session.receive().await.unwrap(), "<outer.1>");
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn who_left_the_group_of_a_session_dies_with_it() {
    let mut session = Session::start(&shell("setsid sh -c 'echo $$; exec sleep 1000' & wait")).unwrap();
    let member = session.receive().await.unwrap();
    assert!(is_alive(&member));
    drop(session);
    let since = Instant::now();
    while is_alive(&member) {
        assert!(since.elapsed() < Duration::from_secs(10), "it lives on");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_line_without_an_end_and_a_child_without_an_answer_are_errors() {
    let mut session = Session::start(&shell("head -c 400000 /dev/zero; sleep 1000")).unwrap();
    assert!(matches!(session.receive().await, Err(SessionError::LineTooLong { most: 300_000 })));
    let launch = Launch { timeout: Duration::from_millis(50), ..shell("sleep 1000") };
    let mut session = Session::start(&launch).unwrap();
    assert!(matches!(session.receive().await, Err(SessionError::TimedOut)));
}

#[tokio::test]
async fn an_end_waits_for_no_child_that_will_not_end() {
    let mut session = Session::start(&shell("trap '' TERM; echo up; while :; do sleep 1; done")).unwrap();
    assert_eq!(session.receive().await.unwrap(), "up");
    let since = Instant::now();
    assert_eq!(session.end().await.unwrap(), Ending::Signalled(9));
    assert!(since.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn the_tail_of_standard_error_is_kept() {
    let mut session = Session::start(&shell("echo beginning, middle and the very end >&2; echo done")).unwrap();
    assert_eq!(session.receive().await.unwrap(), "done");
    assert!(matches!(session.receive().await, Err(SessionError::Ended)));
    assert_eq!(session.stderr_tail(), b"nd the very end\n");
}
