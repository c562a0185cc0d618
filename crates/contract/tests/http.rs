//! The client over HTTP against real sockets: both eras, and servers that answer badly, slowly or without end.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

#[path = "http/server.rs"]
mod server;

use std::error::Error;
use std::io::Read;
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use gatelatch_contract::client::http::address::Address;
use gatelatch_contract::client::http::header::Header;
use gatelatch_contract::client::http::{ExchangeError, Http, HttpError, InClear};
use gatelatch_contract::client::{ClientError, ClientLimits, Eras, Received, Transport, receive};
use gatelatch_protocol::era::Era;
use serde_json::json;
use server::{
    Asked, Server, begin_stream, discover_result, event, initialize_result, page, refuse, reply, result, say, tool,
};

const PATIENCE: Duration = Duration::from_secs(20);

fn limits() -> ClientLimits {
    ClientLimits { patience: PATIENCE, max_bytes: 300_000, max_lines: 500, max_pages: 20, max_tools: 100 }
}

fn http(server: &Server) -> Http {
    Http::new(Address::parse(&format!("{}/mcp?tenant=1", server.origin)).unwrap(), Duration::from_secs(30))
}

fn receive_by(http: Http, limits: &ClientLimits, eras: Eras) -> Result<Received, ClientError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(receive(&Transport::Http(http), limits, eras))
}

fn ask(server: &Server, eras: Eras) -> Result<Received, ClientError> {
    receive_by(http(server), &limits(), eras)
}

/// An error with all its causes, as it is told.
fn told(error: &ClientError) -> String {
    let mut told = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        told = format!("{told}: {inner}");
        cause = inner.source();
    }
    told
}

fn modern(asked: &Asked, stream: &mut TcpStream) {
    match asked.method() {
        "server/discover" => result(stream, asked, &discover_result()),
        "tools/list" => result(stream, asked, &page(asked)),
        _ => refuse(stream, asked, "404 Not Found", -32601, "unknown"),
    }
}

fn legacy(asked: &Asked, stream: &mut TcpStream) {
    match asked.method() {
        "initialize" => result(stream, asked, &initialize_result()),
        "notifications/initialized" => reply(stream, "202 Accepted", "", "application/json", ""),
        "tools/list" => result(stream, asked, &page(asked)),
        _ => refuse(stream, asked, "400 Bad Request", -32000, "Bad Request: Server not initialized"),
    }
}

#[test]
fn a_modern_server_is_asked_with_the_headers_of_its_era_page_by_page() {
    let server = Server::start(modern);
    let headers = vec![Header::new("X-Tenant", "acme").unwrap()];
    let http = http(&server).with_headers(headers, InClear::Refused).unwrap();
    let received = receive_by(http, &limits(), Eras::Either).unwrap();
    assert_eq!((received.era, received.server.name.as_str(), received.pages), (Era::Modern, "new", 3));
    let names: Vec<&str> = received.tools.tools().iter().map(|tool| tool.name()).collect();
    assert_eq!(names, ["t1", "t2", "t3"]);
    assert_eq!(server.story(), ["server/discover", "tools/list", "tools/list", "tools/list"]);
    for asked in server.asked().iter() {
        assert_eq!((asked.verb.as_str(), asked.target.as_str()), ("POST", "/mcp?tenant=1"));
        assert_eq!(asked.header("mcp-protocol-version"), "2026-07-28");
        assert_eq!(asked.header("mcp-method"), asked.method());
        assert_eq!(asked.header("content-type"), "application/json");
        assert_eq!(asked.header("accept"), "application/json, text/event-stream");
        assert_eq!(asked.header("x-tenant"), "acme");
        assert_eq!(asked.header("mcp-session-id"), "");
        assert_eq!(asked.body["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    }
}

#[test]
fn a_legacy_server_is_asked_with_its_session_and_version_and_hears_that_the_session_is_over() {
    let server = Server::start(|asked, stream| match asked.method() {
        "initialize" => {
            let body = json!({"jsonrpc": "2.0", "id": asked.body["id"], "result": initialize_result()}).to_string();
            reply(stream, "200 OK", "Mcp-Session-Id: s-1\r\n", "application/json", &body);
        }
        _ => legacy(asked, stream),
    });
    let received = ask(&server, Eras::Either).unwrap();
    assert_eq!((received.era, received.protocol_version.as_str(), received.pages), (Era::Legacy, "2025-06-18", 3));
    let list = "tools/list";
    let story = ["server/discover", "initialize", "notifications/initialized", list, list, list, "DELETE"];
    assert_eq!(server.story(), story);
    for asked in &server.asked()[2..] {
        assert_eq!(asked.header("mcp-session-id"), "s-1", "{asked:?}");
        assert_eq!(asked.header("mcp-protocol-version"), "2025-06-18");
        assert_eq!(asked.header("mcp-method"), "");
    }
    assert_eq!(server.asked()[1].header("mcp-protocol-version"), "");
}

#[test]
fn a_session_is_ended_when_the_list_never_came_too() {
    let server = Server::start(|asked, stream| match asked.method() {
        "initialize" => {
            let body = json!({"jsonrpc": "2.0", "id": asked.body["id"], "result": initialize_result()}).to_string();
            reply(stream, "200 OK", "Mcp-Session-Id: s-1\r\n", "application/json", &body);
        }
        "tools/list" => refuse(stream, asked, "200 OK", -32603, "out of order"),
        _ => legacy(asked, stream),
    });
    let error = ask(&server, Eras::Only(Era::Legacy)).unwrap_err();
    assert_eq!(told(&error), "the server refused `tools/list` with -32603: out of order");
    assert_eq!(server.story().last().unwrap(), "DELETE");
}

#[test]
fn an_answer_may_be_a_stream_of_events_in_either_era() {
    let streaming = |asked: &Asked, stream: &mut TcpStream| {
        let answer = match asked.method() {
            "server/discover" if asked.target == "/old" => return legacy(asked, stream),
            "server/discover" => discover_result(),
            "initialize" => initialize_result(),
            "tools/list" => page(asked),
            _ => return legacy(asked, stream),
        };
        begin_stream(stream);
        say(stream, ": keep-alive\n\nevent: ping\ndata: {}\n\ndata: no JSON\n\n");
        event(stream, &json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {}}));
        event(stream, &json!({"jsonrpc": "2.0", "id": "q1", "method": "ping"}));
        event(stream, &json!({"jsonrpc": "2.0", "id": 999, "result": {}}));
        event(stream, &json!({"jsonrpc": "2.0", "id": asked.body["id"], "result": answer}));
        // What follows the answer is nobody's business, and may be without end.
        while say(stream, ": still here\n\n") {}
    };
    let server = Server::start(streaming);
    let received = ask(&server, Eras::Either).unwrap();
    assert_eq!((received.era, received.tools.tools().len()), (Era::Modern, 3));
    assert!(server.asked().iter().all(|asked| asked.body["method"].is_string()), "a modern client answers no server");
    let http = Http::new(Address::parse(&format!("{}/old", server.origin)).unwrap(), Duration::from_secs(30));
    let received = receive_by(http, &limits(), Eras::Either).unwrap();
    assert_eq!((received.era, received.tools.tools().len()), (Era::Legacy, 3));
    assert!(server.asked().iter().any(|asked| asked.body == json!({"jsonrpc": "2.0", "id": "q1", "result": {}})));
}

#[test]
fn a_server_that_does_not_know_the_modern_question_is_asked_the_legacy_way() {
    let answers: [fn(&Asked, &mut TcpStream); 9] = [
        |asked, stream| refuse(stream, asked, "200 OK", -32601, "Method not found"),
        |asked, stream| refuse(stream, asked, "400 Bad Request", -32022, "unsupported version"),
        |_, stream| reply(stream, "400 Bad Request", "", "text/plain", "Bad Request: Missing session ID"),
        |_, stream| reply(stream, "404 Not Found", "", "text/html", "<h1>Not Found</h1>"),
        |_, stream| reply(stream, "406 Not Acceptable", "", "text/plain", ""),
        |_, stream| reply(stream, "500 Internal Server Error", "", "text/plain", "KeyError"),
        |_, stream| reply(stream, "200 OK", "", "text/html", "<h1>Welcome</h1>"),
        |asked, stream| {
            result(stream, asked, &json!({"resultType": "complete", "supportedVersions": ["2025-11-25"]}));
        },
        |_, _| {},
    ];
    for (at, answer) in answers.into_iter().enumerate() {
        let server = Server::start(move |asked, stream| match asked.method() {
            "server/discover" => answer(asked, stream),
            _ => legacy(asked, stream),
        });
        let received = ask(&server, Eras::Either).unwrap_or_else(|error| panic!("{at}: {}", told(&error)));
        assert_eq!((received.era, received.tools.tools().len()), (Era::Legacy, 3), "{at}");
        assert!(ask(&server, Eras::Only(Era::Modern)).is_err(), "{at}");
    }
}

/// Keeps a connection open and says nothing until the client closes it.
fn hold(stream: &mut TcpStream) {
    let _ = stream.read(&mut [0]);
}

#[test]
fn a_silent_server_is_asked_the_legacy_way_and_a_slow_modern_one_once_more() {
    let limits = ClientLimits { patience: Duration::from_millis(50), ..limits() };
    let deaf = Server::start(|asked, stream| match asked.method() {
        "server/discover" => hold(stream),
        _ => legacy(asked, stream),
    });
    assert_eq!(receive_by(http(&deaf), &limits, Eras::Either).unwrap().era, Era::Legacy);
    let questions = AtomicUsize::new(0);
    let slow = Server::start(move |asked, stream| match asked.method() {
        "server/discover" if questions.fetch_add(1, Ordering::Relaxed) == 0 => hold(stream),
        _ => modern(asked, stream),
    });
    assert_eq!(receive_by(http(&slow), &limits, Eras::Either).unwrap().era, Era::Modern);
    assert_eq!(slow.story()[..3], ["server/discover", "initialize", "server/discover"]);
}

#[test]
fn a_server_that_answers_badly_costs_little_and_is_named() {
    let list = |script: fn(&Asked, &mut TcpStream)| {
        Server::start(move |asked, stream| match asked.method() {
            "tools/list" => script(asked, stream),
            _ => modern(asked, stream),
        })
    };
    type Case = (fn(&Asked, &mut TcpStream), &'static str);
    let cases: [Case; 26] = [
        (
            |_, stream| {
                begin_stream(stream);
                while say(stream, ": nothing\n\n") {}
            },
            "more than 500 lines",
        ),
        (
            |_, stream| {
                begin_stream(stream);
                while say(stream, &"x".repeat(10_000)) {}
            },
            "more than 300000 bytes",
        ),
        (
            |_, stream| {
                say(stream, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n");
                while say(stream, &" ".repeat(10_000)) {}
            },
            "more than 300000 bytes",
        ),
        (
            |_, stream| {
                say(stream, "HTTP/1.1 500 Oops\r\nContent-Type: application/json\r\n\r\n");
                while say(stream, &" ".repeat(10_000)) {}
            },
            "`tools/list` with HTTP status 500",
        ),
        (|_, stream| begin_stream(stream), "the stream of events ended before the answer"),
        (
            |_, stream| {
                begin_stream(stream);
                say(stream, "data: {\"id\":2,\"result\":{}}\n");
            },
            "the stream of events ended before the answer",
        ),
        (
            |_, stream| {
                say(stream, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{");
            },
            "did not answer `tools/list`",
        ),
        (|_, stream| assert!(say(stream, "SSH-2.0-OpenSSH_9.2\r\n")), "what came is no HTTP"),
        (
            |_, stream| {
                say(stream, "HTTP/1.1 200 OK\r\n");
                while say(stream, "X-More: and more\r\n") {}
            },
            "what came is no HTTP",
        ),
        (|_, _| {}, "did not answer `tools/list`: the connection failed"),
        (|_, stream| reply(stream, "200 OK", "", "text/html", "<h1>"), "it is `text/html`, neither `application/json`"),
        (
            |_, stream| assert!(say(stream, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")),
            "it does not say what it is",
        ),
        (|_, stream| reply(stream, "202 Accepted", "", "application/json", ""), "it is no JSON object"),
        (|_, stream| reply(stream, "200 OK", "", "application/json", "[{}]"), "it is no JSON object"),
        (
            |_, stream| reply(stream, "200 OK", "", "application/json", r#"{"id":77,"result":{"tools":[]}}"#),
            "it is no answer to what was asked",
        ),
        (
            |_, stream| reply(stream, "200 OK", "Content-Encoding: gzip\r\n", "application/json", "x"),
            "it is encoded as `gzip`",
        ),
        (
            |asked, stream| {
                let body = format!(r#"{{"id":{},"result":{{"tools":[{{"name":"a","name":"b"}}]}}}}"#, asked.body["id"]);
                reply(stream, "200 OK", "", "application/json", &body);
            },
            "has the key `name` twice",
        ),
        (
            |_, stream| reply(stream, "200 OK", "", "application/json", &"[".repeat(50_000)),
            "values are nested deeper than 120",
        ),
        (
            |asked, stream| refuse(stream, asked, "200 OK", -32603, "no\u{202e}pe"),
            "refused `tools/list` with -32603: no\\u{202e}pe",
        ),
        (
            |asked, stream| refuse(stream, asked, "400 Bad Request", -32602, "wrong"),
            "refused `tools/list` with -32602: wrong",
        ),
        (|_, stream| reply(stream, "404 Not Found", "", "text/html", "<h1>"), "`tools/list` with HTTP status 404"),
        (|_, stream| reply(stream, "405 Nope", "Allow: GET\r\n", "text/plain", ""), "with HTTP status 405"),
        (|_, stream| reply(stream, "503 Later", "", "application/json", "{}"), "with HTTP status 503"),
        (
            |asked, stream| result(stream, asked, &json!({"tools": [tool("a")], "nextCursor": "p1"})),
            "its pages go round in a circle",
        ),
        (
            |asked, stream| {
                result(stream, asked, &json!({"tools": [], "nextCursor": format!("p{}", asked.page() + 1)}));
            },
            "more than 20 pages",
        ),
        (|asked, stream| result(stream, asked, &json!({"tools": vec![tool("a"); 101]})), "more than 100 tools"),
    ];
    for (at, (script, words)) in cases.into_iter().enumerate() {
        let error = ask(&list(script), Eras::Either).unwrap_err();
        assert!(told(&error).contains(words), "{at}: {}", told(&error));
    }
}

#[test]
fn a_legacy_session_that_cannot_be_named_is_refused() {
    let server = Server::start(|asked, stream| match asked.method() {
        "initialize" => {
            let body = json!({"jsonrpc": "2.0", "id": asked.body["id"], "result": initialize_result()}).to_string();
            reply(stream, "200 OK", "Mcp-Session-Id: a b\r\n", "application/json", &body);
        }
        _ => legacy(asked, stream),
    });
    let error = ask(&server, Eras::Either).unwrap_err();
    assert!(told(&error).contains("the name of its session is no visible ASCII"), "{}", told(&error));
}

#[test]
fn whatever_the_server_does_the_time_is_bounded() {
    let scripts: [fn(&Asked, &mut TcpStream); 3] = [
        |_, stream| hold(stream),
        |_, stream| {
            say(stream, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n");
            // One byte now and then: the client's clock is what ends it.
            while say(stream, " ") {
                std::thread::park_timeout(Duration::from_millis(5));
            }
        },
        |_, stream| {
            begin_stream(stream);
            while say(stream, ":") {
                std::thread::park_timeout(Duration::from_millis(5));
            }
        },
    ];
    for script in scripts {
        let server = Server::start(script);
        let address = Address::parse(&server.origin).unwrap();
        let since = Instant::now();
        let error = receive_by(Http::new(address, Duration::from_millis(300)), &limits(), Eras::Either).unwrap_err();
        assert!(matches!(error, ClientError::Exchange { source: ExchangeError::TimedOut, .. }), "{}", told(&error));
        assert!(since.elapsed() < Duration::from_secs(10));
    }
}

#[test]
fn a_server_that_lets_nobody_in_is_asked_once_and_says_what_it_wants() {
    for (status, code, wants) in [("401 Unauthorized", 401, Some("Bearer")), ("403 Forbidden", 403, None)] {
        let server = Server::start(move |_, stream| {
            let wants = if code == 401 { "WWW-Authenticate: Bearer realm=\"x\"\r\n" } else { "" };
            reply(stream, status, wants, "application/json", "{}");
        });
        let error = ask(&server, Eras::Either).unwrap_err();
        let ClientError::NotLetIn { status, scheme } = error else { panic!("{error:?}") };
        assert_eq!((status, scheme.as_deref()), (code, wants));
        assert_eq!(server.story(), ["server/discover"]);
    }
}

/// As when only a slash is missing: where to is told, and what lets one in is not.
#[test]
fn a_redirect_within_a_secret_address_is_told_without_the_secret() {
    let secret = "0a1b2c3d4e5f6a7b8c9d";
    let server = Server::start(move |_, stream| {
        let location = format!("Location: /s/{secret}/mcp/\r\n");
        reply(stream, "308 Permanent Redirect", &location, "text/plain", "");
    });
    let address = Address::parse(&format!("{}/s/{secret}/mcp", server.origin)).unwrap();
    let error = receive_by(Http::new(address, Duration::from_secs(30)), &limits(), Eras::Either).unwrap_err();
    assert_eq!(told(&error), "the server is at another address: HTTP status 308 to `/s/…/mcp/`");
}

#[test]
fn a_redirect_is_told_and_not_followed() {
    let other = Server::start(modern);
    let place = other.origin.replace("http://", "http://ada:p4ssw0rd@") + "/mcp/?key=p4ssw0rd";
    let server = Server::start(move |_, stream| {
        reply(stream, "307 Temporary Redirect", &format!("Location: {place}\r\n"), "text/plain", "");
    });
    let error = ask(&server, Eras::Either).unwrap_err();
    let to = other.origin.clone() + "/mcp/";
    assert_eq!(told(&error), format!("the server is at another address: HTTP status 307 to `{to}`"));
    assert!(!format!("{error:?}").contains("p4ssw0rd"));
    assert!(other.asked().is_empty());
    assert_eq!(server.story(), ["server/discover"]);
}

#[test]
fn a_secret_that_the_server_sends_back_is_not_shown() {
    let scripts: [fn(&Asked, &mut TcpStream); 5] = [
        |asked, stream| refuse(stream, asked, "400 Bad Request", -32000, "no such token: p4ssw0rd"),
        |asked, stream| match asked.method() {
            "tools/list" => result(stream, asked, &json!({"tools": [tool("p4ssw0rd")]})),
            _ => modern(asked, stream),
        },
        |asked, stream| {
            begin_stream(stream);
            event(stream, &json!({"id": asked.body["id"], "result": {"p4ssw0rd": 1}}));
        },
        |_, stream| reply(stream, "200 OK", "", "text/p4ssw0rd", ""),
        |_, stream| reply(stream, "302 Found", "Location: /p4ssw0rd\r\n", "text/plain", ""),
    ];
    for (at, script) in scripts.into_iter().enumerate() {
        let server = Server::start(script);
        let headers = vec![Header::new("Authorization", "Bearer p4ssw0rd").unwrap()];
        let http = http(&server).with_headers(headers, InClear::Refused).unwrap();
        let error = receive_by(http, &limits(), Eras::Either).unwrap_err();
        assert!(
            matches!(&error, ClientError::Echo { what, .. } if what == "the value of the header `authorization`"),
            "{at}: {error:?}"
        );
        assert!(!told(&error).contains("p4ssw0rd") && !format!("{error:?}").contains("p4ssw0rd"), "{at}");
        assert!(server.asked().iter().all(|asked| asked.header("authorization") == "Bearer p4ssw0rd"), "{at}");
    }
}

#[test]
fn headers_go_in_the_clear_to_this_machine_alone_unless_somebody_allowed_it() {
    let http = |text: &str| Http::new(Address::parse(text).unwrap(), Duration::from_secs(1));
    let headers = || vec![Header::new("X-A", "b").unwrap()];
    for text in ["http://localhost:1/", "http://127.0.0.1:1/", "https://example.org/"] {
        assert!(http(text).with_headers(headers(), InClear::Refused).is_ok(), "{text}");
    }
    let refused = http("http://example.org/s/p4ssw0rd").with_headers(headers(), InClear::Refused).unwrap_err();
    assert_eq!(refused, HttpError::InClear { origin: "http://example.org".to_owned() });
    assert!(http("http://example.org/").with_headers(headers(), InClear::Allowed).is_ok());
    assert!(http("http://example.org/").with_headers(Vec::new(), InClear::Refused).is_ok());
}

#[test]
fn a_proxy_is_asked_for_a_tunnel_and_what_is_not_encrypted_goes_past_it() {
    let proxy = Server::start(|_, stream| reply(stream, "403 Forbidden", "", "text/plain", ""));
    let at = |text: &str| {
        let http = Http::new(Address::parse(text).unwrap(), Duration::from_secs(20));
        http.with_headers(vec![Header::new("X-Token", "p4ssw0rd").unwrap()], InClear::Refused).unwrap()
    };
    let through = at("https://mcp.example.org/s/p4ssw0rd").through(&proxy.origin).unwrap();
    let error = receive_by(through, &limits(), Eras::Only(Era::Modern)).unwrap_err();
    assert_eq!(
        told(&error),
        "the server at `https://mcp.example.org` did not answer `server/discover`: the proxy made no connection"
    );
    {
        let asked = proxy.asked();
        assert_eq!((asked[0].verb.as_str(), asked[0].target.as_str()), ("CONNECT", "mcp.example.org:443"));
        assert!(!format!("{asked:?}").contains("p4ssw0rd"));
    }
    let before = proxy.asked().len();
    let server = Server::start(modern);
    let past = at(&server.origin).through(&proxy.origin).unwrap();
    assert!(receive_by(past, &limits(), Eras::Either).is_ok());
    assert_eq!(proxy.asked().len(), before);
    assert_eq!(at("https://example.org").through("ftp://proxy").unwrap_err(), HttpError::Proxy);
}

#[test]
fn a_server_that_is_not_there_is_told_by_its_origin_alone() {
    let closed = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    let address = Address::parse(&format!("http://{closed}/s/p4ssw0rd?key=p4ssw0rd")).unwrap();
    let error = receive_by(Http::new(address, Duration::from_secs(20)), &limits(), Eras::Either).unwrap_err();
    let told = told(&error);
    assert!(
        told.starts_with(&format!(
            "the server at `http://{closed}` did not answer `initialize`: the connection failed: "
        )),
        "{told}"
    );
    assert!(!told.contains("p4ssw0rd") && !format!("{error:?}").contains("p4ssw0rd"));
}
