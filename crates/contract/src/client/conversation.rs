//! JSON-RPC with a child: which line answers which question, and what is done with all the others.
//!
//! Owns the bounds on what a child may send. Refuses to know what is asked. Start at [`Conversation::answer`].

use gatelatch_spawn::child::Launch;
use gatelatch_spawn::session::{Session, SessionError};
use serde_json::Value;

use super::message::{self, Answer};
use super::{ClientError, ClientLimits};
use crate::shown;

/// How many lines are read of a child that does not listen any more.
const MOST_LAST_LINES: usize = 20;
/// How much of a line that has not ended is looked at.
const MOST_OF_A_LINE: usize = 4_096;

/// A child that is asked one thing at a time.
pub(super) struct Conversation<'a> {
    session: Session,
    limits: &'a ClientLimits,
    next_id: u64,
    bytes: usize,
    lines: usize,
    /// The first line since the last question that was passed over.
    odd: Option<String>,
    /// Whether any line was a message.
    was_heard: bool,
}

impl<'a> Conversation<'a> {
    pub(super) fn start(launch: &Launch, limits: &'a ClientLimits) -> Result<Conversation<'a>, ClientError> {
        let session = Session::start(launch).map_err(ClientError::Start)?;
        Ok(Conversation { session, limits, next_id: 1, bytes: 0, lines: 0, odd: None, was_heard: false })
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
            let line = self.line(method).await?;
            let message = message::read(method, &line)?.filter(message::is_one);
            self.was_heard |= message.is_some();
            let Some(message) = message else {
                self.pass_over(&line);
                continue;
            };
            if message::is_question(&message, ids) {
                return Err(ClientError::Parrot { method });
            }
            if message.get("method").is_some() {
                if let Some(answer) = message::decline(&message) {
                    self.send(method, &answer).await?;
                }
            } else if let Some(id) = message::answered(&message, ids) {
                self.odd = None;
                return Answer::read(method, message).map(|answer| (id, answer));
            } else {
                self.pass_over(&line);
            }
        }
    }

    /// Keeps the beginning of a line that answers nothing: if no answer comes, it says why.
    fn pass_over(&mut self, line: &str) {
        if !line.trim().is_empty() {
            self.odd.get_or_insert_with(|| shown::text(line));
        }
    }

    /// Ends the child. What it does about that matters no more.
    pub(super) async fn end(self) {
        let _ = self.session.end().await;
    }

    /// The next line.
    async fn line(&mut self, method: &'static str) -> Result<String, ClientError> {
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
        Ok(line)
    }

    async fn send(&mut self, method: &'static str, message: &Value) -> Result<(), ClientError> {
        let Err(source) = self.session.send(&message.to_string()).await else { return Ok(()) };
        // Whoever does not listen any more has said something before.
        for _ in 0..MOST_LAST_LINES {
            let Ok(line) = self.session.receive().await else { break };
            self.pass_over(&line);
        }
        Err(self.silent(method, source))
    }

    fn silent(&self, method: &'static str, source: SessionError) -> ClientError {
        let stderr_tail = String::from_utf8_lossy(self.session.stderr_tail()).into_owned();
        let begun = String::from_utf8_lossy(self.session.begun().get(..MOST_OF_A_LINE).unwrap_or(self.session.begun()));
        let odd = self.odd.clone().or_else(|| (!begun.trim().is_empty()).then(|| shown::text(&begun)));
        ClientError::Silent { method, source, stderr_tail, odd, was_heard: self.was_heard }
    }
}
