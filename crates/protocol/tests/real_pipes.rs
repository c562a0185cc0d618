//! The transcripts once more, against a process of its own over its real standard input and output.
//!
//! This file is both: started with `serve` it is the server, else it starts itself and talks to it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

#[path = "support/surface.rs"]
mod surface;
#[path = "support/transcript.rs"]
mod transcript;

use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use gatelatch_protocol::stdio::{StdioLimits, serve};
use surface::Tiny;
use tokio_util::sync::CancellationToken;

const PROMPTLY: Duration = Duration::from_secs(4);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("serve") => server(),
        // Test runners ask for a list; there is one test here and it has no name.
        Some("--list") => {}
        _ => {
            every_transcript_is_played_as_it_is_written();
            a_closed_output_ends_the_process_cleanly();
            a_client_that_dies_ends_the_process_cleanly();
        }
    }
}

fn server() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let limits = StdioLimits { max_line_bytes: 4096, ..StdioLimits::default() };
    let (input, output) = (std::io::stdin(), std::io::stdout());
    runtime.block_on(serve(Arc::new(Tiny::new()), input, output, limits, CancellationToken::new())).unwrap();
}

fn every_transcript_is_played_as_it_is_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts");
    let mut played = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let steps = transcript::parse(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let mut child = start();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        if let Err(why) = transcript::play(&steps, input, output) {
            child.kill().unwrap();
            panic!("{}: {why}", path.display());
        }
        assert!(end_of(child).success(), "{}", path.display());
        played += 1;
    }
    assert!(played >= 10, "only {played} transcripts were found");
}

fn a_closed_output_ends_the_process_cleanly() {
    let mut child = start();
    drop(child.stdout.take());
    let mut input = child.stdin.take().unwrap();
    writeln!(input, r#"{{"jsonrpc":"2.0","id":1,"method":"ping"}}"#).unwrap();
    assert!(end_of(child).success());
}

fn a_client_that_dies_ends_the_process_cleanly() {
    let mut child = start();
    let (mut input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    writeln!(input, r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"slow"}}}}"#).unwrap();
    drop((input, output));
    // The call would be waited for; that its answer cannot be written is only seen then.
    assert!(end_within(child, Duration::from_secs(9)).success());
}

#[expect(clippy::disallowed_methods, reason = "a server of its own is what this test is about")]
fn start() -> Child {
    Command::new(std::env::current_exe().unwrap())
        .arg("serve")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn end_of(child: Child) -> ExitStatus {
    end_within(child, PROMPTLY)
}

fn end_within(mut child: Child, patience: Duration) -> ExitStatus {
    let latest = Instant::now() + patience;
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if Instant::now() > latest {
            child.kill().unwrap();
            panic!("the process does not end");
        }
        thread::sleep(Duration::from_millis(2));
    }
}
