//! How the play is told: each request and each answer on lines that a person reads, or as JSON.
//!
//! Owns the wire as far as the demo needs it: ids, one answer for one request. Judges nothing: what a step must give is
//! said by [`super::Play`]. Start at [`Stage::request`].

use std::time::Duration;

use anyhow::{Context, anyhow};
use gatelatch_spawn::child::Ending;
use gatelatch_spawn::session::Session;
use serde_json::{Value, json};

use crate::verb::{print, print_json};

/// How long the server may take for one answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// How much of a request is shown.
const WIDTH: usize = 160;

/// A conversation that is being told.
pub(super) struct Stage {
    session: Option<Session>,
    as_json: bool,
    id: u64,
    scene: u64,
    /// What the next outcome is about, for those who read JSON.
    exchange: Value,
    failures: u64,
}

/// What a tool call gave.
pub(super) struct Called {
    pub(super) failed: bool,
    pub(super) value: Value,
}

impl Stage {
    pub(super) fn new(session: Session, as_json: bool) -> Stage {
        Stage { session: Some(session), as_json, id: 0, scene: 0, exchange: Value::Null, failures: 0 }
    }

    /// Whether every step so far gave what it should.
    pub(super) fn is_well(&self) -> bool {
        self.failures == 0
    }

    /// Says what happens next.
    pub(super) fn scene(&mut self, title: &str) -> anyhow::Result<()> {
        self.scene += 1;
        self.exchange = json!({ "step": self.scene, "title": title });
        if !self.as_json {
            print(&format!("{}{}. {title}", if self.scene == 1 { "" } else { "\n" }, self.scene))?;
        }
        Ok(())
    }

    /// One request and its result. A protocol error is an error of the demo's.
    pub(super) async fn request(&mut self, method: &str, params: Value) -> anyhow::Result<Value> {
        self.id += 1;
        let id = self.id;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let shown = match method {
            "tools/call" => {
                let name = params["name"].as_str().unwrap_or_default();
                format!("{name} {}", params["arguments"])
            }
            _ => method.to_owned(),
        };
        self.line("->", &cut(&shown))?;
        self.send(&request).await?;
        let answer = loop {
            let answer = self.receive().await?;
            if answer["id"] == id {
                break answer;
            }
        };
        self.exchange["request"] = request;
        self.exchange["answer"] = answer.clone();
        match answer.get("result") {
            Some(result) => Ok(result.clone()),
            None => Err(anyhow!("the server refused `{method}`: {}", answer["error"]["message"])),
        }
    }

    /// One tool call.
    pub(super) async fn call(&mut self, tool: &str, arguments: Value) -> anyhow::Result<Called> {
        let result = self.request("tools/call", json!({ "name": tool, "arguments": arguments })).await?;
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        let value = serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
        Ok(Called { failed: result["isError"] == true, value })
    }

    /// A notification, which has no answer.
    pub(super) async fn notify(&mut self, method: &str) -> anyhow::Result<()> {
        self.send(&json!({ "jsonrpc": "2.0", "method": method })).await
    }

    /// What came of a step, and whether it is what it should be.
    pub(super) fn outcome(&mut self, right: bool, told: &str) -> anyhow::Result<()> {
        self.failures += u64::from(!right);
        if self.as_json {
            let mut line = self.exchange.clone();
            line["told"] = told.into();
            line["ok"] = right.into();
            return print_json(&line, true);
        }
        for line in told.lines() {
            self.line("<-", line)?;
        }
        if !right {
            print("   !! this is not what it should have given")?;
        }
        Ok(())
    }

    /// What happens outside the conversation.
    pub(super) fn aside(&mut self, told: &str) -> anyhow::Result<()> {
        if self.as_json {
            self.exchange["human"] = told.into();
            return Ok(());
        }
        Ok(print(&format!("   ({told})"))?)
    }

    /// Ends the server; whether it ended well, and every step gave what it should.
    pub(super) async fn end(&mut self) -> anyhow::Result<bool> {
        let Some(session) = self.session.take() else { return Ok(false) };
        let ending = session.end().await.context("the server did not end")?;
        let well = ending == Ending::Exited(0) && self.is_well();
        if !self.as_json {
            let told = if well {
                "That is all there is to it. Everything the demo wrote is gone."
            } else {
                "Something went wrong."
            };
            print(&format!("\n{told}"))?;
            if well {
                print("Next: gatelatch init SCRIPT, gatelatch connect opencode, or docs/first-hour.md.")?;
            }
        }
        Ok(well)
    }

    fn line(&self, mark: &str, text: &str) -> anyhow::Result<()> {
        if !self.as_json {
            print(&format!("   {mark} {text}"))?;
        }
        Ok(())
    }

    async fn send(&mut self, message: &Value) -> anyhow::Result<()> {
        let session = self.session.as_mut().context("the server is gone")?;
        let sent = tokio::time::timeout(PATIENCE, session.send(&message.to_string())).await;
        match sent {
            Ok(sent) => sent.map_err(|error| self.lost(error)),
            Err(_) => Err(anyhow!("the server does not read")),
        }
    }

    async fn receive(&mut self) -> anyhow::Result<Value> {
        let session = self.session.as_mut().context("the server is gone")?;
        let received = tokio::time::timeout(PATIENCE, session.receive()).await;
        match received {
            Ok(Ok(line)) => serde_json::from_str(&line).context("the server wrote a line that is no JSON"),
            Ok(Err(error)) => Err(self.lost(error)),
            Err(_) => Err(anyhow!("the server does not answer")),
        }
    }

    /// The session's end, with what the server said about it.
    fn lost(&self, error: gatelatch_spawn::session::SessionError) -> anyhow::Error {
        let tail = self.session.as_ref().map(|session| String::from_utf8_lossy(session.stderr_tail()).into_owned());
        let last = tail.unwrap_or_default().lines().last().unwrap_or_default().to_owned();
        anyhow::Error::new(error).context(format!("lost the server ({last})"))
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(WIDTH) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
