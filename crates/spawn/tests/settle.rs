//! What a process does before it ends: alone in its own, since all its runs are waited for.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gatelatch_spawn::child::{Launch, Listeners, run, settle};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Longer than anything here may last; reached only by what hangs.
const LONG: Duration = Duration::from_secs(15);

/// Ignores the request to end, and has a grandchild in a session of its own that shed the mark and its parents.
const STUBBORN: &str = r#"
    trap '' TERM
    env -i PATH=$PATH ROLL=$ROLL N=$N setsid sh -c 'sh -c "echo \$\$ > $ROLL/daemon-$N; exec sleep 1000" </dev/null >/dev/null 2>&1 &'
    while ! [ -s "$ROLL/daemon-$N" ]; do sleep 0.01; done
    echo $$ > $ROLL/leader-$N
    while :; do sleep 1000; done
"#;

fn stubborn(number: usize, roll: &Path) -> Launch {
    Launch {
        program: PathBuf::from("/bin/sh"),
        args: vec!["-c".into(), STUBBORN.into()],
        env: vec![
            ("PATH".into(), "/usr/bin:/bin".into()),
            ("ROLL".into(), roll.into()),
            ("N".into(), number.to_string().into()),
        ],
        cwd: PathBuf::from("/"),
        timeout: 2 * LONG,
        max_stdout_bytes: 0,
        stderr_tail_bytes: 0,
    }
}

/// Starts three of them and waits until all that they start is there; their processes' numbers.
async fn start_three(roll: &Path, cancelled: &CancellationToken) -> (Vec<JoinHandle<()>>, Vec<String>) {
    let start = |number| {
        let running = run(stubborn(number, roll), Listeners::default(), cancelled.clone());
        tokio::spawn(async move { drop(running.await) })
    };
    let running = (0..3).map(start).collect();
    let mut pids = Vec::new();
    for number in 0..3 {
        for name in ["daemon", "leader"] {
            let file = roll.join(format!("{name}-{number}"));
            let since = Instant::now();
            pids.push(loop {
                match std::fs::read_to_string(&file) {
                    Ok(text) if text.ends_with('\n') => break text.trim().to_owned(),
                    _ => assert!(since.elapsed() < LONG, "{name} {number} never started"),
                }
                tokio::time::sleep(Duration::from_millis(2)).await;
            });
        }
    }
    (running, pids)
}

fn assert_gone(pids: &[String]) {
    for pid in pids {
        assert!(!Path::new(&format!("/proc/{pid}")).exists(), "{pid} lives on");
    }
}

// One test, since two would wait for each other's runs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn once_a_process_has_settled_nothing_is_left_of_what_it_started() {
    assert!(settle(Duration::ZERO).await, "nothing was started");

    let roll = tempfile::tempdir().unwrap();
    let cancelled = CancellationToken::new();
    let (_cancelled, pids) = start_three(roll.path(), &cancelled).await;
    cancelled.cancel();
    assert!(settle(LONG).await);
    assert_gone(&pids);

    let roll = tempfile::tempdir().unwrap();
    let (dropped, pids) = start_three(roll.path(), &CancellationToken::new()).await;
    dropped.iter().for_each(JoinHandle::abort);
    assert!(settle(LONG).await);
    assert_gone(&pids);

    let roll = tempfile::tempdir().unwrap();
    let (_going_on, pids) = start_three(roll.path(), &CancellationToken::new()).await;
    let since = Instant::now();
    assert!(settle(Duration::from_millis(50)).await, "whoever is left when the time is up is killed");
    assert!(since.elapsed() < Duration::from_secs(5), "{:?}", since.elapsed());
    assert_gone(&pids);
}
