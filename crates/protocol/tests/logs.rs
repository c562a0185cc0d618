//! What is logged, at the most talkative level there is.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

#[path = "support/surface.rs"]
mod surface;

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use gatelatch_protocol::stdio::{StdioLimits, serve};
use surface::Tiny;
use tokio_util::sync::CancellationToken;

#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Kept {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
    }
}

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn no_argument_and_no_result_is_logged_and_no_log_is_written_to_the_output() {
    let log = Kept::default();
    let writer = log.clone();
    tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::TRACE)
        .with_writer(move || writer.clone())
        .init();
    let said = concat!(
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2099-01-01","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hunter2"}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"crash","arguments":{"late":true,"text":"hunter2"}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"echo","arguments":{"hunter2":1,"hunter2":1}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo","arguments":["hunter2"]}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":6,"method":"hunter2"}"#,
        "\n",
    );
    let output = Kept::default();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let served = serve(
        Arc::new(Tiny::new()),
        io::Cursor::new(said),
        output.clone(),
        StdioLimits::default(),
        CancellationToken::new(),
    );
    runtime.block_on(served).unwrap();
    drop(runtime);
    let (log, output) = (log.text(), output.text());
    assert!(log.contains("a tool crashed"), "the log is not listened to: {log}");
    assert!(!log.contains("hunter2"), "{log}");
    assert_eq!(output.lines().count(), 6, "{output}");
    for line in output.lines() {
        assert!(serde_json::from_str::<serde_json::Value>(line).is_ok(), "{line}");
    }
}
