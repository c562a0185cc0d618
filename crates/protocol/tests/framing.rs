//! Properties of the framing: how the bytes are cut plays no part, and no bytes end the server.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

#[path = "support/surface.rs"]
mod surface;

use std::io::{self, Read, Write};
use std::sync::{Arc, LazyLock, Mutex};

use gatelatch_protocol::stdio::{StdioLimits, serve};
use proptest::prelude::*;
use serde_json::Value;
use surface::Tiny;
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap());

/// What is said: both eras, refusals, a line over the cap, characters of several bytes, no newline at the end.
static SAID: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let meta =
        r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let mut said = Vec::new();
    for line in [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        "",
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"é😀\\u00e9"}}}"#,
        r#"{"jsonrpc":"2.0","id":3,"#,
        &format!(r#"{{"jsonrpc":"2.0","id":4,"method":"tools/list","params":{{"_meta":{meta}}}}}"#),
        &format!(r#"{{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{{"name":"{}"}}}}"#, "x".repeat(600)),
        r#"{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"crash","arguments":{"late":true}}}"#,
        &format!(r#"{{"jsonrpc":"2.0","id":7,"method":"ping","params":{{"_meta":{meta}}}}}"#),
        r#"{"jsonrpc":"2.0","id":8,"id":8,"method":"ping"}"#,
    ] {
        said.extend_from_slice(line.as_bytes());
        said.push(b'\n');
    }
    said.extend_from_slice(br#"{"jsonrpc":"2.0","id":9,"method":"ping"}"#);
    said
});

static ANSWERED: LazyLock<Vec<String>> = LazyLock::new(|| answers(SAID.clone(), vec![usize::MAX]));

/// Gives its bytes in pieces of the given sizes, over and over.
struct Pieces {
    bytes: io::Cursor<Vec<u8>>,
    sizes: std::iter::Cycle<std::vec::IntoIter<usize>>,
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = self.sizes.next().unwrap_or(1).clamp(1, buffer.len());
        self.bytes.read(&mut buffer[..size])
    }
}

#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// All answers to these bytes, in no particular order.
fn answers(bytes: Vec<u8>, sizes: Vec<usize>) -> Vec<String> {
    let input = Pieces { bytes: io::Cursor::new(bytes), sizes: sizes.into_iter().cycle() };
    let kept = Kept::default();
    let limits = StdioLimits { max_line_bytes: 512, ..StdioLimits::default() };
    let served = serve(Arc::new(Tiny::new()), input, kept.clone(), limits, CancellationToken::new());
    RUNTIME.block_on(served).unwrap();
    let written = String::from_utf8(std::mem::take(&mut *kept.0.lock().unwrap())).unwrap();
    assert!(written.is_empty() || written.ends_with('\n'));
    let mut lines: Vec<String> = written.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn what_is_said_is_answered_line_by_line() {
    let ids: Vec<Value> =
        ANSWERED.iter().map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].clone()).collect();
    assert_eq!(ids.len(), 9, "{ids:?}");
    assert!(ANSWERED.iter().any(|line| line.contains("é😀\\\\u00e9")), "{:?}", *ANSWERED);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn however_the_bytes_are_cut_the_answers_are_the_same(sizes in prop::collection::vec(1usize..80, 1..12)) {
        prop_assert_eq!(answers(SAID.clone(), sizes), ANSWERED.clone());
    }

    #[test]
    fn whatever_comes_before_a_request_it_is_answered(
        garbage in prop::collection::vec(
            prop_oneof![
                prop::collection::vec(any::<u8>(), 0..40),
                "[\\[\\]{}\",:0-9a-z ]{0,40}".prop_map(String::into_bytes),
                prop::sample::subsequence(SAID.clone(), 0..60),
            ],
            0..6,
        ),
    ) {
        let mut bytes: Vec<u8> = garbage.join(&b'\n');
        bytes.extend_from_slice(b"\n{\"jsonrpc\":\"2.0\",\"id\":\"asked\",\"method\":\"ping\"}\n");
        let answers = answers(bytes, vec![7]);
        let expected = r#"{"jsonrpc":"2.0","id":"asked","result":{}}"#;
        prop_assert!(answers.iter().any(|line| line == expected), "{:?}", answers);
        // Every line written is a whole answer.
        for line in &answers {
            let answer: Value = serde_json::from_str(line).unwrap();
            prop_assert!(answer.get("result").is_some() != answer.get("error").is_some(), "{}", line);
        }
    }
}
