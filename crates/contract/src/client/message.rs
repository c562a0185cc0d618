//! One JSON-RPC message: read strictly, and told apart. Knows no transport.

use gatelatch_protocol::json::{self, JsonError};
use serde_json::{Value, json};

use super::ClientError;
use crate::shown;

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

    /// Reads the answer in a message.
    pub(super) fn read(method: &'static str, mut message: Value) -> Result<Answer, ClientError> {
        if let Some(error) = message.get("error") {
            if !error.is_object() {
                let what = format!("its error is no object: `{}`", shown::value(error));
                return Err(ClientError::Malformed { method, what });
            }
            let code = error.get("code").and_then(Value::as_i64).unwrap_or_default();
            let text = error.get("message").and_then(Value::as_str).unwrap_or_default();
            return Ok(Answer::Error { code, message: shown::text(text) });
        }
        match message.get_mut("result").map(Value::take) {
            Some(result @ Value::Object(_)) => Ok(Answer::Result(result)),
            _ => Err(ClientError::Malformed { method, what: "it has neither a result nor an error".to_owned() }),
        }
    }
}

/// A question.
pub(super) fn question(id: u64, method: &'static str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// Something that has no answer.
pub(super) fn notification(method: &'static str) -> Value {
    json!({"jsonrpc": "2.0", "method": method})
}

/// Reads a text that may be a message. What is no JSON is passed over: much software writes a greeting or a log where
/// only the protocol belongs, and a client that reads the list would pass over it as well.
pub(super) fn read(method: &'static str, text: &str) -> Result<Option<Value>, ClientError> {
    match json::parse(text) {
        Ok(message) => Ok(Some(message).filter(Value::is_object)),
        Err(JsonError::Syntax(why)) if is_meant_as_one(text) => {
            let what = format!("`{}` is no JSON: {}", shown::text(text), shown::text(&why.to_string()));
            Err(ClientError::Malformed { method, what })
        }
        Err(JsonError::Syntax(_)) => Ok(None),
        // Readers differ in what they would take: there is no list that this server sends.
        Err(error @ (JsonError::RepeatedKey(_) | JsonError::TooDeep)) => {
            Err(ClientError::Malformed { method, what: shown::text(&error.to_string()) })
        }
    }
}

/// Whether whoever wrote a line that is no JSON meant it as a message: nobody logs so.
fn is_meant_as_one(text: &str) -> bool {
    text.trim_start().starts_with('{') && text.get(..200).unwrap_or(text).contains("\"jsonrpc\"")
}

/// Whether an object is a message, and not a line of a log that is written as JSON.
pub(super) fn is_one(message: &Value) -> bool {
    ["jsonrpc", "method", "result", "error"].into_iter().any(|key| message.get(key).is_some())
}

/// Whether a message is one of our questions, as a program sends it back that is no server.
pub(super) fn is_question(message: &Value, ids: &[u64]) -> bool {
    let asked = message.get("method").and_then(Value::as_str);
    let is_ours = asked.is_some_and(|asked| ["initialize", "server/discover", "tools/list"].contains(&asked));
    is_ours && message.get("id").and_then(Value::as_u64).is_some_and(|id| ids.contains(&id))
}

/// The id of an answer to one of our questions. An error without an id answers the only one: its server could not read
/// which it was.
pub(super) fn answered(message: &Value, ids: &[u64]) -> Option<u64> {
    match (message.get("id"), ids) {
        (None | Some(Value::Null), [only]) if message.get("error").is_some_and(Value::is_object) => Some(*only),
        (id, _) => id.and_then(Value::as_u64).filter(|id| ids.contains(id)),
    }
}

/// What a client that can do nothing answers to what the server asks; none to what has no answer.
pub(super) fn decline(message: &Value) -> Option<Value> {
    let id = message.get("id").filter(|id| id.is_u64() || id.is_i64() || id.is_string())?;
    if message.get("method").is_some_and(|asked| asked == "ping") {
        return Some(json!({"jsonrpc": "2.0", "id": id, "result": {}}));
    }
    let error = json!({"code": -32601, "message": "this client only lists tools"});
    Some(json!({"jsonrpc": "2.0", "id": id, "error": error}))
}
