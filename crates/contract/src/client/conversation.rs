//! JSON-RPC with a child: which line answers which question, and what is done with all the others.
//!
//! Owns the bounds on what a child may send. Refuses to know what is asked. Start at [`Conversation::answer`].

use gatelatch_spawn::child::Launch;
use gatelatch_spawn::session::{Session, SessionError};
use serde_json::Value;

use super::message::{self, Answer};
use super::{ClientError, ClientLimits};

/// A child that is asked one thing at a time.
pub(super) struct Conversation<'a> {
    session: Session,
    limits: &'a ClientLimits,
    next_id: u64,
    bytes: usize,
    lines: usize,
}

impl<'a> Conversation<'a> {
    pub(super) fn start(launch: &Launch, limits: &'a ClientLimits) -> Result<Conversation<'a>, ClientError> {
        let session = Session::start(launch).map_err(ClientError::Start)?;
        Ok(Conversation { session, limits, next_id: 1, bytes: 0, lines: 0 })
    }

    /// Asks something and gives the question's id.
    pub(super) async fn ask(&mut self, method: &'static str, params: &Value) -> Result<u64, ClientError> {
        let id = self.next_id;
        self.next_id += 1;
        self.send(method, &message::question(id, method, params)).await.map(|()| id)
    }

    /// Says something that has no answer.
    pub(super) async fn notify(&mut self, method: &'static str) -> Result<(), ClientError> {
        self.send(method, &message::notification(method)).await
    }

    /// Waits for the answer to one of these questions. May be dropped and called again.
    pub(super) async fn answer(&mut self, method: &'static str, ids: &[u64]) -> Result<(u64, Answer), ClientError> {
        loop {
            let Some(message) = self.message(method).await? else { continue };
            if message.get("method").is_some() {
                if let Some(answer) = message::decline(&message) {
                    self.send(method, &answer).await?;
                }
            } else if let Some(id) = message::answered(&message, ids) {
                return Answer::read(method, message).map(|answer| (id, answer));
            }
        }
    }

    /// Ends the child. What it does about that matters no more.
    pub(super) async fn end(self) {
        let _ = self.session.end().await;
    }

    /// The next line, if it is a message.
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
        message::read(method, &line)
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
