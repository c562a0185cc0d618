//! Clients that misbehave, go away or do not read, and the limits that bound them. Start at [`Client`].
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

#[path = "support/server.rs"]
mod server;
#[path = "support/surface.rs"]
mod surface;

use std::collections::BTreeSet;
use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Read, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use gatelatch_protocol::stdio::{ServeError, StdioLimits, serve};
use serde_json::{Value, json};
use server::Server;
use surface::{Counts, Tiny};
use tokio_util::sync::CancellationToken;

const LONG: Duration = Duration::from_secs(20);

/// A client over pipes, and the server that it talks to.
struct Client {
    server: Server,
    tiny: Arc<Tiny>,
    requests: PipeWriter,
    answers: Answers,
}

/// What the server writes: read by a thread from the first question on, not before.
enum Answers {
    Unread(PipeReader),
    Lines(Receiver<String>),
}

impl Answers {
    /// The next line, or nothing at the end; panics when neither comes in time.
    fn next(&mut self) -> Option<String> {
        if let Answers::Unread(pipe) = self {
            let (send, lines) = channel();
            let pipe = pipe.try_clone().unwrap();
            thread::spawn(move || BufReader::new(pipe).lines().try_for_each(|line| send.send(line.unwrap())));
            *self = Answers::Lines(lines);
        }
        let Answers::Lines(lines) = self else { unreachable!() };
        match lines.recv_timeout(LONG) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("the server neither answers nor ends"),
        }
    }
}

impl Client {
    fn new(limits: StdioLimits) -> Client {
        let tiny = Arc::new(Tiny::new());
        let (server, requests, answers) = Server::start(tiny.clone(), limits);
        Client { server, tiny, requests, answers: Answers::Unread(answers) }
    }

    fn send(&mut self, message: &Value) {
        self.requests.write_all(format!("{message}\n").as_bytes()).unwrap();
    }

    fn call(&mut self, id: u64, tool: &str) {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool}}));
    }

    fn ping(&mut self, id: u64) {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": "ping"}));
    }

    fn cancel(&mut self, id: u64) {
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}));
    }

    fn answer(&mut self) -> Value {
        let line = self.answers.next().expect("the server ended");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// The ids of so many answers.
    fn answered(&mut self, count: usize) -> BTreeSet<u64> {
        (0..count).map(|_| self.answer()["id"].as_u64().unwrap()).collect()
    }

    /// Waits until the counts of `slow` are as wanted.
    fn wait_for(&self, wanted: impl FnMut(&Counts) -> bool) {
        let mut counts = self.tiny.counts();
        let reached = async { tokio::time::timeout(LONG, counts.wait_for(wanted)).await.map(drop) };
        self.server.runtime.block_on(reached).expect("the counts are not reached");
    }

    /// Closes the input and reads what is left, to the end.
    fn close(self) -> (Vec<Value>, Result<(), ServeError>) {
        let Client { server, requests, mut answers, .. } = self;
        drop(requests);
        let rest = std::iter::from_fn(|| answers.next()).map(|line| serde_json::from_str(&line).unwrap()).collect();
        (rest, server.ended(LONG))
    }
}

fn default() -> StdioLimits {
    StdioLimits::default()
}

#[test]
fn a_call_that_says_nothing_for_a_while_is_said_to_be_running_where_progress_was_asked_for() {
    let mut client = Client::new(StdioLimits { silence: Duration::from_millis(1), ..default() });
    client.call(1, "slow");
    client.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": "slow", "_meta": {"progressToken": "t"}}}));
    let mut reached = -1.0;
    for _ in 0..3 {
        let step = client.answer();
        assert_eq!(step["method"], "notifications/progress");
        assert_eq!(step["params"]["progressToken"], "t");
        let progress = step["params"]["progress"].as_f64().unwrap();
        assert!(progress > reached && progress < 0.1, "{progress} after {reached}");
        assert!(step["params"]["message"].as_str().unwrap().starts_with("still running"), "{step}");
        reached = progress;
    }
    client.wait_for(|counts| counts.begun == 2);
    client.tiny.release();
    let mut left = 2;
    while left > 0 {
        let line = client.answer();
        left -= u32::from(line.get("id").is_some());
        assert!(line.get("id").is_some() || line["params"]["progressToken"] == "t", "{line}");
    }
    let (rest, ended) = client.close();
    assert_eq!(rest, Vec::<Value>::new(), "no progress follows the answer");
    ended.unwrap();
}

#[test]
fn a_flood_of_requests_from_a_client_that_reads_later_is_answered_in_full() {
    let mut client = Client::new(default());
    let flood: String = (0..10_000).map(|id| format!("{}\n", ping(id))).collect();
    client.requests.write_all(flood.as_bytes()).unwrap();
    assert_eq!(client.answered(10_000), (0..10_000).collect());
    let (rest, end) = client.close();
    assert!(rest.is_empty() && end.is_ok(), "{rest:?} {end:?}");
}

#[test]
fn a_burst_before_the_end_of_input_is_answered_in_full() {
    let mut client = Client::new(default());
    for id in 0..200 {
        client.call(id, "echo");
    }
    let (rest, end) = client.close();
    let ids: BTreeSet<u64> = rest.iter().map(|answer| answer["id"].as_u64().unwrap()).collect();
    assert_eq!((rest.len(), ids), (200, (0..200).collect()));
    end.unwrap();
}

#[test]
fn a_line_of_20_megabytes_is_refused_with_its_id_and_the_next_one_is_read() {
    let mut client = Client::new(default());
    let beginning = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":""#;
    client.requests.write_all(beginning.as_bytes()).unwrap();
    client.requests.write_all(&vec![b'x'; 20 * 1024 * 1024]).unwrap();
    client.requests.write_all(b"\"}}}\n").unwrap();
    client.ping(2);
    let refusal = client.answer();
    assert_eq!((&refusal["id"], &refusal["error"]["code"]), (&json!(1), &json!(-32600)), "{refusal}");
    assert_eq!(client.answer(), json!({"jsonrpc": "2.0", "id": 2, "result": {}}));
    client.close().1.unwrap();
}

#[test]
fn a_line_of_just_under_the_cap_is_served() {
    let mut client = Client::new(default());
    let text = "x".repeat(7 * 1024 * 1024);
    client.send(
        &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "echo", "arguments": {"text": text}}}),
    );
    assert_eq!(client.answer()["result"]["structuredContent"]["text"], json!(text));
    client.close().1.unwrap();
}

#[test]
fn only_so_many_calls_run_at_once_and_those_that_wait_can_be_cancelled() {
    let mut client = Client::new(StdioLimits { max_concurrent_calls: 2, ..default() });
    for id in 1..=5 {
        client.call(id, "slow");
    }
    client.wait_for(|counts| counts.begun == 2);
    client.cancel(5);
    // Requests that are no calls are served meanwhile, and this one shows that the cancellation was read.
    client.ping(9);
    assert_eq!(client.answered(1), [9].into());
    client.tiny.release();
    assert_eq!(client.answered(2).len(), 2);
    client.wait_for(|counts| counts.begun == 4);
    client.tiny.release();
    assert_eq!(client.answered(2).len(), 2);
    let counts = *client.tiny.counts().borrow();
    assert_eq!((counts.begun, counts.most_at_once), (4, 2));
    let (rest, end) = client.close();
    assert!(rest.is_empty() && end.is_ok(), "{rest:?} {end:?}");
}

#[test]
fn ten_thousand_calls_that_wait_are_cancelled_one_by_one_and_none_is_answered() {
    let mut client = Client::new(default());
    for id in 0..10_000 {
        client.call(id, "slow");
    }
    client.wait_for(|counts| counts.begun == 16);
    for id in 0..10_000 {
        client.cancel(id);
    }
    client.call(1, "echo");
    assert_eq!(client.answer()["result"]["isError"], json!(false));
    let (rest, end) = client.close();
    assert!(rest.is_empty() && end.is_ok(), "{rest:?} {end:?}");
}

#[test]
fn over_its_budget_of_bytes_the_server_reads_on_when_something_is_answered() {
    let mut client = Client::new(StdioLimits { max_held_bytes: 1500, ..default() });
    client.call(1, "slow");
    client.wait_for(|counts| counts.begun == 1);
    for id in 2..100 {
        client.ping(id);
    }
    client.tiny.release();
    // None of the pings was taken in before the call made room.
    assert_eq!(client.answered(1), [1].into());
    assert_eq!(client.answered(98), (2..100).collect());
    client.close().1.unwrap();
}

#[test]
fn calls_that_outlive_the_end_of_input_are_cancelled_and_still_answered() {
    let mut client = Client::new(StdioLimits { drain: Duration::from_millis(50), ..default() });
    client.call(1, "slow");
    client.wait_for(|counts| counts.begun == 1);
    let (rest, end) = client.close();
    assert_eq!(rest.len(), 1);
    assert_eq!(rest[0]["result"]["content"][0]["text"], json!("cancelled"), "{rest:?}");
    end.unwrap();
}

#[test]
fn a_call_that_ignores_its_cancellation_does_not_keep_the_server() {
    let limits = StdioLimits { drain: Duration::from_millis(50), grace: Duration::from_millis(50), ..default() };
    let mut client = Client::new(limits);
    client.call(1, "stubborn");
    client.ping(2);
    assert_eq!(client.answered(1), [2].into());
    let (rest, end) = client.close();
    assert!(rest.is_empty() && end.is_ok(), "{rest:?} {end:?}");
}

#[test]
fn an_idle_server_and_one_with_an_open_subscription_end_at_once_when_the_input_ends() {
    for listens in [false, true] {
        let mut client = Client::new(default());
        let (method, params) = if listens { ("subscriptions/listen", modern()) } else { ("server/discover", modern()) };
        client.send(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
        client.answer();
        let began = Instant::now();
        client.close().1.unwrap();
        assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    }
}

#[test]
fn a_client_that_closes_the_output_ends_the_server_and_its_calls() {
    let mut client = Client::new(default());
    client.call(1, "slow");
    client.wait_for(|counts| counts.begun == 1);
    let Client { server, tiny, mut requests, answers } = client;
    drop(answers);
    writeln!(requests, "{}", ping(2)).unwrap();
    server.ended(LONG).unwrap();
    assert_eq!(tiny.counts().borrow().cancelled, 1);
    drop(requests);
}

#[test]
fn a_client_that_never_reads_does_not_keep_the_server() {
    let limits = StdioLimits { drain: Duration::from_millis(50), grace: Duration::from_millis(50), ..default() };
    let Client { server, mut requests, answers, .. } = Client::new(limits);
    let text = "x".repeat(4000);
    for id in 0..2_500 {
        let params = json!({"name": "echo", "arguments": {"text": text}});
        writeln!(requests, "{}", json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}))
            .unwrap();
    }
    drop(requests);
    server.ended(LONG).unwrap();
    drop(answers);
}

#[test]
fn a_stopped_server_ends_while_its_input_is_open_and_cancels_its_calls() {
    let mut client = Client::new(default());
    client.call(1, "slow");
    client.wait_for(|counts| counts.begun == 1);
    client.server.stop.cancel();
    let Client { server, tiny, requests, mut answers } = client;
    server.ended(LONG).unwrap();
    assert_eq!(tiny.counts().borrow().cancelled, 1);
    let rest: Vec<String> = std::iter::from_fn(|| answers.next()).collect();
    assert!(rest.len() == 1 && rest[0].ends_with("\"isError\":true}}"), "{rest:?}");
    drop(requests);
}

#[test]
fn an_id_may_be_used_again_as_soon_as_its_answer_is_read() {
    let mut client = Client::new(default());
    for _ in 0..2_000 {
        client.call(1, "echo");
        assert!(client.answer().get("result").is_some());
        client.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "crash", "arguments": {"late": true}}}));
        assert!(client.answer().get("result").is_some());
    }
    client.close().1.unwrap();
}

#[test]
fn cancelling_what_is_not_there_does_nothing() {
    let mut client = Client::new(default());
    for id in 0..1_000 {
        client.cancel(id);
    }
    client.ping(1);
    assert_eq!(client.answered(1), [1].into());
    client.close().1.unwrap();
}

#[test]
fn a_broken_input_or_output_is_reported_and_a_client_that_went_away_is_not() {
    /// Fails with this, always.
    struct Broken(io::ErrorKind);
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(self.0.into())
        }
    }
    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let tiny = Arc::new(Tiny::new());
    let read = |kind| {
        let served = serve(tiny.clone(), Broken(kind), io::sink(), default(), CancellationToken::new());
        runtime.block_on(served)
    };
    let write = |kind| {
        let input = io::Cursor::new(format!("{}\n", ping(1)));
        runtime.block_on(serve(tiny.clone(), input, Broken(kind), default(), CancellationToken::new()))
    };
    for kind in [io::ErrorKind::PermissionDenied, io::ErrorKind::StorageFull] {
        assert!(matches!(read(kind), Err(ServeError::Read(error)) if error.kind() == kind));
        assert!(matches!(write(kind), Err(ServeError::Write(error)) if error.kind() == kind));
    }
    for kind in [io::ErrorKind::BrokenPipe, io::ErrorKind::ConnectionReset] {
        assert!(read(kind).is_ok() && write(kind).is_ok(), "{kind}");
    }
}

fn ping(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "ping"})
}

fn modern() -> Value {
    json!({"notifications": {}, "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}
    }})
}
