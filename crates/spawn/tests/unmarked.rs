//! Those who shed the mark of their run: alone in its process, since it matters which other runs are under way.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gatelatch_spawn::child::{Launch, Listeners, run};
use tokio_util::sync::CancellationToken;

/// Longer than any run here may last; reached only by a run that hangs.
const LONG: Duration = Duration::from_secs(15);

fn shell(script: &str, roll: &Path) -> Launch {
    Launch {
        program: PathBuf::from("/bin/sh"),
        args: vec!["-c".into(), script.into()],
        env: vec![("PATH".into(), "/usr/bin:/bin".into()), ("ROLL".into(), roll.into())],
        cwd: PathBuf::from("/"),
        timeout: LONG,
        max_stdout_bytes: 1 << 20,
        stderr_tail_bytes: 4096,
    }
}

/// Starts `name` in a session of its own, with an environment of its own, as nobody's child, and waits for it.
fn daemon(name: &str) -> String {
    format!(
        r#"env -i PATH=$PATH ROLL=$ROLL setsid sh -c 'sh -c "echo \$\$ > $ROLL/{name}; exec sleep 1000" </dev/null >/dev/null 2>&1 &'
        while ! [ -s "$ROLL/{name}" ]; do sleep 0.01; done; "#
    )
}

fn is_there(roll: &Path, name: &str) -> bool {
    let pid = std::fs::read_to_string(roll.join(name)).unwrap();
    Path::new(&format!("/proc/{}", pid.trim())).exists()
}

#[tokio::test]
async fn who_sheds_the_mark_dies_once_it_can_be_of_no_run_that_is_under_way() {
    let roll = tempfile::tempdir().unwrap();
    let start = |script: &str, cancelled: &CancellationToken| {
        tokio::spawn(run(shell(script, roll.path()), Listeners::default(), cancelled.clone()))
    };
    let never = CancellationToken::new();
    start(&daemon("alone"), &never).await.unwrap().unwrap();
    assert!(!is_there(roll.path(), "alone"));

    let long = CancellationToken::new();
    let running = start(&(daemon("of-the-long-one") + "echo > $ROLL/ready; exec sleep 1000"), &long);
    let since = Instant::now();
    while !roll.path().join("ready").exists() {
        assert!(since.elapsed() < LONG, "the long run never got ready");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    start(&daemon("of-the-short-one"), &never).await.unwrap().unwrap();
    assert!(is_there(roll.path(), "of-the-long-one"), "the short run's end took the long run's process");

    long.cancel();
    running.await.unwrap().unwrap();
    assert!(!is_there(roll.path(), "of-the-long-one"));
    assert!(!is_there(roll.path(), "of-the-short-one"), "nobody is under way who could own it");
}
