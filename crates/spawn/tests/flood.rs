//! A child that floods: alone in its process, since it measures the whole of it.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::time::Duration;

use gatelatch_spawn::child::{Ending, Launch, Listeners, run};
use tokio_util::sync::CancellationToken;

/// The most memory that this process ever held, in KiB.
fn high_water() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[tokio::test]
async fn a_flood_of_1_gib_on_both_pipes_costs_less_than_16_mib() {
    const HALF: u64 = 512 << 20;
    let launch = Launch {
        program: "/bin/sh".into(),
        args: vec!["-c".into(), format!("head -c {HALF} /dev/zero >&2 & head -c {HALF} /dev/zero; wait").into()],
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        cwd: "/".into(),
        timeout: Duration::from_secs(60),
        max_stdout_bytes: 1 << 20,
        stderr_tail_bytes: 16 << 10,
    };
    let listeners = Listeners { stderr_line: Some(Box::new(|_| {})) };
    let before = high_water();
    let ended = run(launch, listeners, CancellationToken::new()).await.unwrap();
    let grown = high_water() - before;
    assert_eq!((ended.ending, ended.stdout_bytes, ended.stdout.len()), (Ending::Exited(0), HALF, 1 << 20));
    assert!(grown <= 16 << 10, "grew by {grown} KiB");
}
