//! Programs that flood and programs that eat memory: in a process of their own, since the whole of it is measured.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]
#![allow(dead_code, reason = "the stage has more than these tests need")]

use gatelatch_runner::runner::RunError;

use crate::stage::Stage;

#[path = "run/stage.rs"]
mod stage;

/// The most memory that this process ever held, in KiB.
fn high_water() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[tokio::test]
async fn a_flood_of_1_gib_costs_less_than_16_mib() {
    let stage = Stage::shell("head -c 1073741824 /dev/zero", "");
    let before = high_water();
    let error = stage.run_bare().await.unwrap_err();
    let grown = high_water() - before;
    match error {
        RunError::OutputTooLarge { bytes, limit, .. } => assert_eq!((bytes, limit), (1 << 30, 1 << 20)),
        other => panic!("{other:?}"),
    }
    assert!(grown <= 16 << 10, "grew by {grown} KiB");
}

#[tokio::test]
async fn a_program_that_eats_memory_dies_alone() {
    let stage = Stage::shell("ulimit -v 100000; exec awk 'BEGIN { s = \"x\"; while (1) s = s s }'", "");
    let before = high_water();
    let error = stage.run_bare().await.unwrap_err();
    let grown = high_water() - before;
    assert!(matches!(error, RunError::Failed { .. } | RunError::Signalled { .. }), "{error:?}");
    assert!(grown <= 16 << 10, "grew by {grown} KiB");
}
