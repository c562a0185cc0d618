//! JSON-RPC with a child: which line answers which question, and what is done with all the others.
//!
//! Owns the bounds on what a child may send. Refuses to know what is asked. Start at [`Conversation::answer`].

use gatelatch_protocol::json::{self, JsonError};
use gatelatch_spawn::child::Launch;
use gatelatch_spawn::session::{Session, SessionError};
use serde_json::{Value, json};

use super::{ClientError, ClientLimits};
use crate::shown;

/// A child that is asked one thing at a time.
pub(super) struct Conversation<'a> {
    session: Session,
    limits: &'a ClientLimits,
    next_id: u64,
    bytes: usize,
    lines: usize,
}

/// What a question got.
pub(super) enum Answer {
    Result(Value),
    Error { code: i64, message: String },
}

impl Answer {
    pub(super) fn ok(self) -> Option<Value> {
        match self {
            Answer::Result(result) => Some(result),
            Answer::Error { .. } => None,
        }
    }

    pub(super) fn result(self, method: &'static str) -> Result<Value, ClientError> {
        match self {
            Answer::Result(result) => Ok(result),
            Answer::Error { code, message } => Err(ClientError::Refused { method, code, message }),
        }
    }
}

impl<'a> Conversation<'a> {
    pub(super) fn start(launch: &Launch, limits: &'a ClientLimits) -> Result<Conversation<'a>, ClientError> {
        let session = Session::start(launch).map_err(ClientError::Start)?;
        Ok(Conversation { session, limits, next_id: 1, bytes: 0, lines: 0 })
    }

    /// Asks something and gives the question's id.
    pub(super) async fn ask(&mut self, method: &'static str, params: Value) -> Result<u64, ClientError> {
        let id = self.next_id;
        self.next_id += 1;
        let question = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.send(method, &question).await.map(|()| id)
    }

    /// Says something that has no answer.
    pub(super) async fn notify(&mut self, method: &'static str) -> Result<(), ClientError> {
        self.send(method, &json!({"jsonrpc": "2.0", "method": method})).await
    }

    /// Waits for the answer to one of these questions. May be dropped and called again.
    pub(super) async fn answer(&mut self, method: &'static str, ids: &[u64]) -> Result<(u64, Answer), ClientError> {
        loop {
            let Some(message) = self.message(method).await? else { continue };
            if message.get("method").is_some() {
                self.decline(method, &message).await?;
                continue;
            }
            if let Some(id) = message.get("id").and_then(Value::as_u64).filter(|id| ids.contains(id)) {
                return read_answer(method, message).map(|answer| (id, answer));
            }
        }
    }

    /// Ends the child. What it does about that matters no more.
    pub(super) async fn end(self) {
        let _ = self.session.end().await;
    }

    /// The next line, if it is a message. Much software writes a greeting or a log to standard output; a client that
    /// reads the list would pass over it as well.
    async fn message(&mut self, method: &'static str) -> Result<Option<Value>, ClientError> {
        let line = match self.session.receive().await {
            Ok(line) => line,
            Err(source) => return Err(self.silent(method, source)),
        };
        self.bytes = self.bytes.saturating_add(line.len());
        self.lines += 1;
        if self.bytes > self.limits.max_bytes {
            return Err(ClientError::TooMuch { what: "bytes", most: self.limits.max_bytes });
        }
        if self.lines > self.limits.max_lines {
            return Err(ClientError::TooMuch { what: "lines", most: self.limits.max_lines });
        }
        match json::parse(&line) {
            Ok(message) => Ok(Some(message).filter(Value::is_object)),
            Err(JsonError::Syntax(_)) => Ok(None),
            // Readers differ in what they would take: there is no list that this server sends.
            Err(error @ (JsonError::RepeatedKey(_) | JsonError::TooDeep)) => {
                Err(ClientError::Malformed { method, what: shown::text(&error.to_string()) })
            }
        }
    }

    /// Answers what the server asks of a client that can do nothing.
    async fn decline(&mut self, method: &'static str, message: &Value) -> Result<(), ClientError> {
        let Some(id) = message.get("id").filter(|id| id.is_u64() || id.is_i64() || id.is_string()) else {
            return Ok(());
        };
        let answer = if message.get("method").is_some_and(|asked| asked == "ping") {
            json!({"jsonrpc": "2.0", "id": id, "result": {}})
        } else {
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "this client only lists tools"}})
        };
        self.send(method, &answer).await
    }

    async fn send(&mut self, method: &'static str, message: &Value) -> Result<(), ClientError> {
        match self.session.send(&message.to_string()).await {
            Ok(()) => Ok(()),
            Err(source) => Err(self.silent(method, source)),
        }
    }

    fn silent(&self, method: &'static str, source: SessionError) -> ClientError {
        let stderr_tail = String::from_utf8_lossy(self.session.stderr_tail()).into_owned();
        ClientError::Silent { method, source, stderr_tail }
    }
}

fn read_answer(method: &'static str, mut message: Value) -> Result<Answer, ClientError> {
    if let Some(error) = message.get("error") {
        let code = error.get("code").and_then(Value::as_i64).unwrap_or_default();
        let text = error.get("message").and_then(Value::as_str).unwrap_or_default();
        return Ok(Answer::Error { code, message: shown::text(text) });
    }
    match message.get_mut("result").map(Value::take) {
        Some(result @ Value::Object(_)) => Ok(Answer::Result(result)),
        _ => Err(ClientError::Malformed { method, what: "it has neither a result nor an error".to_owned() }),
    }
}
