//! A server over plain sockets that answers as a test says, byte by byte, and remembers what it was asked.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Value, json};

/// One request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) verb: String,
    pub(crate) target: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Value,
}

impl Asked {
    pub(crate) fn method(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    pub(crate) fn page(&self) -> usize {
        self.body["params"]["cursor"].as_str().map_or(1, |cursor| cursor.trim_start_matches('p').parse().unwrap())
    }
}

/// A running server. It serves as long as the test's process lives.
pub(crate) struct Server {
    pub(crate) origin: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    /// Starts a server; `script` answers each request by writing on its connection, which is closed then.
    pub(crate) fn start(script: impl Fn(&Asked, &mut TcpStream) + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        // Many connections write down what they were asked, and the test reads it.
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (written, script) = (Arc::clone(&asked), Arc::new(script));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (written, script) = (Arc::clone(&written), Arc::clone(&script));
                std::thread::spawn(move || {
                    let mut stream = stream;
                    if let Some(request) = read(&stream) {
                        written.lock().unwrap().push(request.clone());
                        script(&request, &mut stream);
                    }
                });
            }
        });
        Server { origin, asked }
    }

    pub(crate) fn asked(&self) -> MutexGuard<'_, Vec<Asked>> {
        self.asked.lock().unwrap()
    }

    /// What was asked, one word each, in order.
    pub(crate) fn story(&self) -> Vec<String> {
        let word = |asked: &Asked| if asked.body.is_null() { asked.verb.clone() } else { asked.method().to_owned() };
        self.asked().iter().map(word).collect()
    }
}

fn read(stream: &TcpStream) -> Option<Asked> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let (verb, target) = (words.next()?, words.next()?);
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        assert!(
            headers.insert(name.to_ascii_lowercase(), value.trim().to_owned()).is_none(),
            "the header {name} came twice"
        );
    }
    let mut body = vec![0; headers.get("content-length").map_or(0, |length| length.parse().unwrap())];
    reader.read_exact(&mut body).ok()?;
    Some(Asked { verb, target, headers, body: serde_json::from_slice(&body).unwrap_or_default() })
}

/// Writes text. That nobody reads it any more is the client's right; whether somebody does.
pub(crate) fn say(stream: &mut TcpStream, text: &str) -> bool {
    stream.write_all(text.as_bytes()).and_then(|()| stream.flush()).is_ok()
}

/// A whole answer with a body of this type.
pub(crate) fn reply(stream: &mut TcpStream, status: &str, headers: &str, media_type: &str, body: &str) {
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\nConnection: close\r\n{headers}Content-Type: {media_type}\r\n");
    say(stream, &format!("{head}Content-Length: {length}\r\n\r\n{body}"));
}

pub(crate) fn result(stream: &mut TcpStream, asked: &Asked, result: &Value) {
    let body = json!({"jsonrpc": "2.0", "id": asked.body["id"], "result": result}).to_string();
    reply(stream, "200 OK", "", "application/json; charset=utf-8", &body);
}

pub(crate) fn refuse(stream: &mut TcpStream, asked: &Asked, status: &str, code: i64, message: &str) {
    let error = json!({"code": code, "message": message});
    let body = json!({"jsonrpc": "2.0", "id": asked.body["id"], "error": error}).to_string();
    reply(stream, status, "", "application/json", &body);
}

/// The beginning of a stream of events that ends when the connection does.
pub(crate) fn begin_stream(stream: &mut TcpStream) {
    say(stream, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/event-stream\r\n\r\n");
}

/// One event.
pub(crate) fn event(stream: &mut TcpStream, message: &Value) -> bool {
    say(stream, &format!("event: message\r\nid: 7\r\ndata: {message}\r\n\r\n"))
}

pub(crate) fn discover_result() -> Value {
    json!({
        "resultType": "complete", "supportedVersions": ["2025-11-25", "2026-07-28"], "capabilities": {"tools": {}},
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "new", "version": "2"}}
    })
}

pub(crate) fn initialize_result() -> Value {
    let info = json!({"name": "old", "version": "1"});
    json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info})
}

pub(crate) fn tool(name: &str) -> Value {
    json!({"name": name, "description": "Größe", "inputSchema": {"type": "object"}})
}

/// The next page of three with a tool each.
pub(crate) fn page(asked: &Asked) -> Value {
    let page = asked.page();
    let next = if page < 3 { json!(format!("p{}", page + 1)) } else { Value::Null };
    json!({"tools": [tool(&format!("t{page}"))], "nextCursor": next})
}
