//! The client against processes: a real server in both eras, and servers that answer badly, slowly or without end.
//!
//! This file is both: started with the name of a server it is that server, else it starts itself and asks.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a test may")]

use std::io::{BufRead, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gatelatch_contract::client::{ClientError, ClientLimits, Eras, Received, Transport, receive};
use gatelatch_contract::list::ToolList;
use gatelatch_contract::lock::Lock;
use gatelatch_contract::pin::Pin;
use gatelatch_contract::published::Published;
use gatelatch_contract::server_json::ServerJson;
use gatelatch_contract::verify::{Verdict, verify};
use gatelatch_contract::version::SurfaceVersion;
use gatelatch_protocol::era::Era;
use gatelatch_protocol::stdio::{StdioLimits, serve};
use gatelatch_protocol::surface::{Annotations, Identity, PublishedTool, ReplyFuture, Surface, ToolCall, ToolReply};
use gatelatch_spawn::child::Launch;
use gatelatch_spawn::session::SessionError;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        // Test runners ask for a list; there is one test here and it has no name.
        Some("--list") => {}
        Some("serve") => real_server(&arguments[1..]),
        Some("script") => scripted_server(&arguments[1]),
        _ => tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(all()),
    }
}

async fn all() {
    let begun = Instant::now();
    our_server_is_verified_in_both_eras_and_one_changed_character_is_found().await;
    a_pin_of_any_server_is_what_it_sent().await;
    a_server_that_knows_no_discover_is_asked_the_legacy_way().await;
    a_server_that_dies_over_discover_is_started_again().await;
    a_silent_server_gets_the_legacy_question_and_may_still_answer_the_first().await;
    pages_are_joined_and_noise_and_questions_are_passed_over().await;
    a_filtered_list_is_a_partial_view().await;
    a_server_that_answers_badly_costs_little_and_is_named().await;
    what_is_written_where_an_answer_belongs_is_told().await;
    when_the_time_is_up_the_question_is_named().await;
    a_server_that_does_not_start_is_told().await;
    println!("all conversations held in {:?}", begun.elapsed());
}

/// This very program as a server.
fn transport(arguments: &[&str]) -> Transport {
    Transport::Stdio(Launch {
        program: std::env::current_exe().unwrap(),
        args: arguments.iter().map(Into::into).collect(),
        env: Vec::new(),
        cwd: std::env::temp_dir(),
        timeout: Duration::from_secs(30),
        max_stdout_bytes: 100_000,
        stderr_tail_bytes: 1_000,
    })
}

fn limits() -> ClientLimits {
    ClientLimits {
        patience: Duration::from_secs(20),
        max_bytes: 500_000,
        max_lines: 500,
        max_pages: 20,
        max_tools: 100,
    }
}

async fn ask(arguments: &[&str], eras: Eras) -> Result<Received, ClientError> {
    receive(&transport(arguments), &limits(), eras).await
}

fn lock() -> Lock {
    Lock {
        surface_version: SurfaceVersion::parse("1.0.0").unwrap(),
        tools: ToolList::of_published(&Demo::new("It adds.").tools).unwrap(),
    }
}

async fn our_server_is_verified_in_both_eras_and_one_changed_character_is_found() {
    let lock = lock();
    let file = ServerJson::new("io.github.gatelatch/x", "x", "0.1.0").with_contract(&lock.surface_version, &lock.tools);
    let published = Published::of_server_json(&file.to_text()).unwrap();
    for (eras, era) in
        [(Eras::Either, Era::Modern), (Eras::Only(Era::Modern), Era::Modern), (Eras::Only(Era::Legacy), Era::Legacy)]
    {
        let report = verify(&transport(&["serve", "It adds."]), &limits(), eras, published.clone()).await.unwrap();
        assert_eq!((report.verdict, report.received.era), (Verdict::Equal, era));
        assert_eq!(report.received.server.name, "demo");
        let reported = (era == Era::Modern).then(|| lock.tools.digest().to_owned());
        assert_eq!(report.received.reported_digest, reported);
        let report = verify(&transport(&["serve", "It adds!"]), &limits(), eras, published.clone()).await.unwrap();
        let Verdict::Differs(difference) = report.verdict else { panic!("{:?}", report.verdict) };
        assert_eq!(difference.lines(), ["tool `add`: its definition differs"]);
        let published = published.clone().with_lock(self::lock()).unwrap();
        let report = verify(&transport(&["serve", "It adds!"]), &limits(), eras, published).await.unwrap();
        let Verdict::Differs(difference) = &report.verdict else { panic!("{:?}", report.verdict) };
        assert_eq!(difference.lines(), ["patch: tool `add` at `/description`: `description` changed"]);
        assert_eq!(report.to_value()["differences"][0]["level"], json!("patch"));
    }
}

async fn a_pin_of_any_server_is_what_it_sent() {
    let received = ask(&["script", "legacy"], Eras::Either).await.unwrap();
    let pin = Pin::parse(&received.into_pin().to_text()).unwrap();
    assert_eq!((pin.server.name.as_str(), pin.tools.tools().len()), ("old", 1));
    let published = Published::of_pin(pin);
    let report = verify(&transport(&["script", "legacy"]), &limits(), Eras::Either, published.clone()).await.unwrap();
    assert_eq!(report.verdict, Verdict::Equal);
    let report = verify(&transport(&["script", "pages"]), &limits(), Eras::Either, published).await.unwrap();
    assert!(matches!(report.verdict, Verdict::Differs(_)));
}

async fn a_server_that_knows_no_discover_is_asked_the_legacy_way() {
    let received = ask(&["script", "legacy"], Eras::Either).await.unwrap();
    assert_eq!((received.era, received.protocol_version.as_str()), (Era::Legacy, "2025-06-18"));
    assert!(matches!(
        ask(&["script", "legacy"], Eras::Only(Era::Modern)).await,
        Err(ClientError::Refused { method: "server/discover", code: -32601, .. })
    ));
}

async fn a_server_that_dies_over_discover_is_started_again() {
    let received = ask(&["script", "fragile"], Eras::Either).await.unwrap();
    assert_eq!((received.era, received.tools.tools().len()), (Era::Legacy, 1));
}

async fn a_silent_server_gets_the_legacy_question_and_may_still_answer_the_first() {
    let limits = ClientLimits { patience: Duration::from_millis(50), ..limits() };
    for (script, era) in [("deaf", Era::Legacy), ("slow", Era::Modern)] {
        let received = receive(&transport(&["script", script]), &limits, Eras::Either).await.unwrap();
        assert_eq!(received.era, era, "{script}");
    }
}

async fn pages_are_joined_and_noise_and_questions_are_passed_over() {
    let received = ask(&["script", "pages"], Eras::Either).await.unwrap();
    let names: Vec<&str> = received.tools.tools().iter().map(|tool| tool.name()).collect();
    assert_eq!((names.join(" "), received.pages), ("t1 t2 t3".to_owned(), 3));
}

async fn a_filtered_list_is_a_partial_view() {
    let published = Published::of_lock(lock());
    let report = verify(&transport(&["script", "filtered"]), &limits(), Eras::Either, published).await.unwrap();
    assert_eq!(report.verdict, Verdict::PartialView { visible: 1, published: 2 });
}

async fn a_server_that_answers_badly_costs_little_and_is_named() {
    for (script, word) in [
        ("circle", "its pages go round in a circle"),
        ("endless", "more than 20 pages"),
        ("many", "more than 100 tools"),
        ("chatty", "more than 500 lines"),
        ("heavy", "more than 500000 bytes"),
        ("twins", "has the key `name` twice"),
        ("deep", "nested deeper than 120"),
        ("no-array", "`tools` is no array"),
        ("no-result", "neither a result nor an error"),
        ("no-version", "it names no version"),
        ("number-cursor", "`nextCursor` is no text"),
        ("same-names", "tools are no list"),
        ("refuses", "refused `tools/list` with -32603: no\\u{202e}pe"),
        ("long-line", "did not answer `initialize`"),
        ("mute", "did not answer `tools/list`"),
    ] {
        let error = ask(&["script", script], Eras::Either).await.unwrap_err();
        assert!(error.to_string().contains(word), "{script}: {error}");
    }
    let error = ask(&["script", "mute"], Eras::Either).await.unwrap_err();
    let ClientError::Silent { source: SessionError::Ended, stderr_tail, .. } = error else { panic!("{error:?}") };
    assert_eq!(stderr_tail, "last words\n");
    let Transport::Stdio(launch) = transport(&["script", "hangs"]) else { panic!("another transport") };
    let hanging = Transport::Stdio(Launch { timeout: Duration::from_millis(300), ..launch });
    let since = Instant::now();
    let error = receive(&hanging, &limits(), Eras::Either).await.unwrap_err();
    assert!(matches!(error, ClientError::Silent { source: SessionError::TimedOut, .. }), "{error:?}");
    assert!(since.elapsed() < Duration::from_secs(10));
}

/// What was written where the answer belongs says what is wrong, be it over at once or only when the time is up.
async fn what_is_written_where_an_answer_belongs_is_told() {
    let within = |script: &str| {
        let Transport::Stdio(launch) = transport(&["script", script]) else { panic!("another transport") };
        Transport::Stdio(Launch { timeout: Duration::from_secs(2), ..launch })
    };
    for (script, told) in [
        ("greets", "this is no MCP server: asked `initialize` it wrote `hello \\u{1b}[31m`, which is no message"),
        ("logs", "this is no MCP server: asked `initialize` it wrote `{\"level\":\"info\"}`, which is no message"),
        ("drips", "this is no MCP server: asked `initialize` it wrote `drip`, which is no message"),
        ("parrots", "this is no MCP server: it wrote back the question `initialize`"),
        ("error-text", "the server's answer to `tools/list` is malformed: its error is no object: `\"no\"`"),
        ("half", "the server did not answer `tools/list` and wrote `{\"jsonrpc\"` where the answer belongs"),
        ("mumbles", "the server did not answer `tools/list` and wrote `oh` where the answer belongs"),
        (
            "other-id",
            "did not answer `tools/list` and wrote `{\"jsonrpc\":\"2.0\",\"id\":\"3\",\"result\":{\"tools\":[]}}`",
        ),
    ] {
        let error = receive(&within(script), &limits(), Eras::Either).await.unwrap_err();
        assert!(error.to_string().contains(told), "{script}: {error}");
    }
    // Nothing else is waited for: nobody logs so.
    let since = Instant::now();
    let error = ask(&["script", "torn"], Eras::Either).await.unwrap_err();
    let told = "the server's answer to `tools/list` is malformed: `{\"jsonrpc\": \"2.0\", \"id\": 3, \"result\": {` is no JSON: ";
    assert!(error.to_string().starts_with(told), "{error}");
    let error = ask(&["script", "no-id"], Eras::Either).await.unwrap_err();
    assert!(error.to_string().contains("refused `tools/list` with -32700: what?"), "{error}");
    assert!(since.elapsed() < Duration::from_secs(20));
}

/// That the time is up is told of the question that was waited for, with what the server said last.
async fn when_the_time_is_up_the_question_is_named() {
    let Transport::Stdio(launch) = transport(&["script", "whispers"]) else { panic!("another transport") };
    let waiting = Transport::Stdio(Launch { timeout: Duration::from_secs(1), ..launch });
    let error = receive(&waiting, &limits(), Eras::Either).await.unwrap_err();
    let ClientError::Silent { method, source, stderr_tail, odd: None, was_heard: false } = error else {
        panic!("{error:?}")
    };
    assert!(matches!(source, SessionError::TimedOut), "{source:?}");
    assert_eq!((method, stderr_tail.as_str()), ("initialize", "loading\n"));
}

async fn a_server_that_does_not_start_is_told() {
    let Transport::Stdio(launch) = transport(&[]) else { panic!("another transport") };
    let missing = Transport::Stdio(Launch { program: "/no/such/program".into(), ..launch });
    let error = receive(&missing, &limits(), Eras::Either).await.unwrap_err();
    assert!(matches!(error, ClientError::Start(_)), "{error:?}");
}

/// A server of ours with two tools.
struct Demo {
    identity: Identity,
    tools: Vec<PublishedTool>,
}

impl Demo {
    fn new(description: &str) -> Demo {
        let tool = |name: &str, description: &str| PublishedTool {
            name: name.to_owned(),
            title: "Größe".to_owned(),
            description: description.to_owned(),
            input_schema: object(json!({"type": "object", "properties": {"n": {"type": "number", "maximum": 1.5}}})),
            output_schema: Some(object(json!({"type": "object"}))),
            annotations: Annotations { read_only: true, destructive: false, idempotent: true, open_world: false },
        };
        let identity = Identity {
            name: "demo".to_owned(),
            title: "Demo".to_owned(),
            version: "1.0.0".to_owned(),
            instructions: String::new(),
        };
        Demo { identity, tools: vec![tool("add", description), tool("subtract", "It subtracts.")] }
    }
}

impl Surface for Demo {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn tools(&self) -> &[PublishedTool] {
        &self.tools
    }

    fn call(&self, _: ToolCall) -> ReplyFuture<'_> {
        let reply = ToolReply { text: String::new(), structured: None, is_error: true, notes: Vec::new() };
        Box::pin(std::future::ready(reply))
    }
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn real_server(arguments: &[String]) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let (input, output, stop) = (std::io::stdin(), std::io::stdout(), CancellationToken::new());
    runtime.block_on(serve(Arc::new(Demo::new(&arguments[0])), input, output, StdioLimits::default(), stop)).unwrap();
}

/// A server that does one thing wrong, or in its own way.
fn scripted_server(script: &str) {
    let mut held = None;
    for line in std::io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let (id, method) = (message["id"].clone(), message["method"].as_str().unwrap_or_default().to_owned());
        match (script, method.as_str()) {
            (_, "notifications/initialized" | "") => {}
            ("hangs", _) | ("deaf", "server/discover") => {}
            ("greets", _) => return say("hello \u{1b}[31m"),
            ("drips", "initialize") => drip("drip"),
            ("drips", _) => {}
            ("parrots", "initialize") => say(&message.to_string()),
            ("logs", _) => say(r#"{"level":"info"}"#),
            ("whispers", _) => {
                std::io::stderr().write_all(if method == "initialize" { b"" } else { b"loading\n" }).unwrap()
            }
            ("fragile", "server/discover") => return,
            ("long-line", "server/discover") => refuse(&id, -32601, "unknown"),
            ("long-line", _) => say(&"x".repeat(200_000)),
            ("slow", "server/discover") => held = Some(id),
            ("slow", "initialize") => discover(&held.take().unwrap(), None),
            ("filtered", "server/discover") => discover(&id, Some(lock().tools.digest())),
            ("filtered", _) => answer(&id, json!({"tools": [lock().tools.to_array()[1]]})),
            (_, "server/discover") => refuse(&id, -32601, "unknown"),
            ("no-version", "initialize") => answer(&id, json!({})),
            (_, "initialize") => {
                let info = json!({"name": "old", "version": "1"});
                answer(
                    &id,
                    json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}),
                );
            }
            (_, "tools/list") => {
                let cursor = message["params"].get("cursor").and_then(Value::as_str);
                if !list_tools(script, &id, cursor) {
                    return;
                }
            }
            _ => {}
        }
    }
}

fn list_tools(script: &str, id: &Value, cursor: Option<&str>) -> bool {
    let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
    let page = cursor.and_then(|cursor| cursor.trim_start_matches('p').parse().ok()).unwrap_or(1_usize);
    let (name, next) = (format!("t{page}"), format!("p{}", page + 1));
    match script {
        "pages" => {
            say("a log line where none belongs");
            say(r#"{"jsonrpc":"2.0","method":"notifications/message","params":{}}"#);
            say(r#"{"jsonrpc":"2.0","id":999,"result":{}}"#);
            say(r#"{"jsonrpc":"2.0","id":"q","method":"roots/list"}"#);
            let next = if page < 3 { json!(next) } else { Value::Null };
            answer(id, json!({"tools": [tool(&name)], "nextCursor": next}));
        }
        "circle" => answer(id, json!({"tools": [tool(&name)], "nextCursor": "p1"})),
        "endless" => answer(id, json!({"tools": [], "nextCursor": next})),
        "many" => answer(id, json!({"tools": vec![tool("x"); 101]})),
        "chatty" => (0..1_000).for_each(|_| say(r#"{"jsonrpc":"2.0","method":"notifications/message"}"#)),
        "heavy" => (0..20).for_each(|_| say(&"x".repeat(90_000))),
        "twins" => say(&format!(r#"{{"id":{id},"result":{{"tools":[{{"name":"a","name":"b"}}]}}}}"#)),
        "deep" => say(&format!(r#"{{"id":{id},"result":{}"#, "[".repeat(50_000))),
        "no-array" => answer(id, json!({"tools": {}})),
        "no-result" => say(&json!({"jsonrpc": "2.0", "id": id}).to_string()),
        "number-cursor" => answer(id, json!({"tools": [], "nextCursor": 5})),
        "same-names" => answer(id, json!({"tools": [tool("a"), tool("a")]})),
        "mumbles" => say("oh"),
        "half" => {
            drip("{\"jsonrpc\"");
            return false;
        }
        "error-text" => say(&json!({"jsonrpc": "2.0", "id": id, "error": "no"}).to_string()),
        "other-id" => answer(&json!(id.to_string()), json!({"tools": []})),
        "torn" => say(r#"{"jsonrpc": "2.0", "id": 3, "result": {"#),
        "no-id" => refuse(&Value::Null, -32700, "what?"),
        "refuses" => refuse(id, -32603, "no\u{202e}pe"),
        "mute" => {
            std::io::stderr().write_all(b"last words\n").unwrap();
            return false;
        }
        _ => answer(id, json!({"tools": [tool("t1")]})),
    }
    true
}

fn discover(id: &Value, digest: Option<&str>) {
    let meta = digest.map_or_else(|| json!({}), |digest| json!({"io.github.gatelatch/toolsDigest": digest}));
    answer(
        id,
        json!({"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {}, "_meta": meta}),
    );
}

fn answer(id: &Value, result: Value) {
    say(&json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string());
}

fn refuse(id: &Value, code: i64, message: &str) {
    say(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}).to_string());
}

/// Writes a line that does not end.
fn drip(text: &str) {
    let mut output = std::io::stdout();
    let _ = output.write_all(text.as_bytes()).and_then(|()| output.flush());
}

/// Writes a line. That nobody reads it any more is the client's right.
fn say(line: &str) {
    let mut output = std::io::stdout();
    if writeln!(output, "{line}").and_then(|()| output.flush()).is_err() {
        std::process::exit(0);
    }
}
