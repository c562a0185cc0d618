//! One line as a message: a request, a cancellation, nothing to answer, or a refusal. Knows no connection.
//!
//! rmcp finds a request's type by trying one after the other, which is slow and turns bad parameters into an unknown
//! method; here the method's name decides. Start at [`read`].

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, CustomRequest, DiscoverRequest, DiscoverRequestParams,
    InitializeRequest, ListToolsRequest, PaginatedRequestParams, PingRequest, RequestId, RequestMetaObject,
    SubscriptionsListenRequest,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::adapter::{METHODS, Misfit, quoted};
use crate::era::{Era, VERSION_KEY};
use crate::json::{self, JsonError};

pub(crate) const PARSE_ERROR: i32 = -32700;
pub(crate) const INVALID_REQUEST: i32 = -32600;

/// What a line is.
#[derive(Debug)]
pub(crate) enum Message {
    /// To be answered.
    Request(Box<Request>),
    /// The client no longer wants an answer to this.
    Cancelled(RequestId),
    /// Another notification, or an answer to a question that nobody asked.
    Nothing,
    /// No message.
    Refused(Refusal),
}

/// A request that JSON-RPC allows; whether MCP does is decided later.
#[derive(Debug)]
pub(crate) struct Request {
    /// Names it in the answer.
    pub(crate) id: RequestId,
    /// The method, as sent.
    pub(crate) method: String,
    /// The request as rmcp types it.
    pub(crate) request: ClientRequest,
    /// Its `_meta`.
    pub(crate) meta: RequestMetaObject,
    /// What is known about a request that has no type.
    pub(crate) misfit: Option<Misfit>,
}

/// The error that answers a line which is no message.
#[derive(Debug, PartialEq)]
pub(crate) struct Refusal {
    /// The id where one could be read, else null.
    pub(crate) id: Value,
    /// A JSON-RPC code.
    pub(crate) code: i32,
    /// Why.
    pub(crate) message: String,
}

/// Reads one line.
pub(crate) fn read(line: &[u8]) -> Message {
    let Ok(text) = std::str::from_utf8(line) else {
        return refused(None, PARSE_ERROR, "the message is not valid UTF-8");
    };
    let (value, id) = json::read(text);
    match value {
        Ok(Value::Object(message)) => read_object(message),
        Ok(Value::Array(_)) => refused(None, INVALID_REQUEST, "batches are not served; send one message a line"),
        Ok(_) => refused(None, INVALID_REQUEST, "a message must be an object"),
        Err(JsonError::Syntax(error)) => refused(None, PARSE_ERROR, format!("malformed JSON: {error}")),
        Err(JsonError::TooDeep) => refused(id.as_ref(), INVALID_REQUEST, "the message is nested too deep"),
        Err(JsonError::RepeatedKey(key)) => {
            refused(id.as_ref(), INVALID_REQUEST, format!("the key {} appears twice in one object", quoted(&key)))
        }
    }
}

/// The refusal of a line that was too long, of which only the beginning is known.
pub(crate) fn too_long(beginning: &[u8], cap: usize) -> Refusal {
    Refusal {
        id: json::id_in_beginning(beginning).as_ref().map_or(Value::Null, readable),
        code: INVALID_REQUEST,
        message: format!("the message is larger than {cap} bytes"),
    }
}

/// The refusal of a request whose id another one still has.
pub(crate) fn id_in_use(id: &RequestId) -> Refusal {
    let shown = quoted(&id.to_string());
    Refusal {
        id: id.clone().into_json_value(),
        code: INVALID_REQUEST,
        message: format!("the id {shown} is in use by a request that is not answered yet"),
    }
}

fn read_object(mut message: Map<String, Value>) -> Message {
    let id = message.swap_remove("id");
    let method = message.swap_remove("method");
    if method.is_none() && (message.contains_key("result") || message.contains_key("error")) {
        // Whatever is wrong with an answer, it is not answered: two peers could go on forever.
        return Message::Nothing;
    }
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return refused(id.as_ref(), INVALID_REQUEST, "`jsonrpc` must be \"2.0\"");
    }
    let method = match method {
        Some(Value::String(method)) => method,
        Some(_) => return refused(id.as_ref(), INVALID_REQUEST, "`method` must be a string"),
        None => return refused(id.as_ref(), INVALID_REQUEST, "`method` is missing"),
    };
    let params = message.swap_remove("params");
    match id {
        None => read_notification(&method, params),
        Some(id) => match request_id(&id) {
            Some(id) => Message::Request(Box::new(read_request(id, method, params))),
            None => refused(Some(&id), INVALID_REQUEST, "`id` must be a string or an integer of at most 64 bits"),
        },
    }
}

fn read_notification(method: &str, params: Option<Value>) -> Message {
    let cancelled = (method == "notifications/cancelled")
        .then(|| params.as_ref().and_then(|params| params.get("requestId")).and_then(request_id))
        .flatten();
    cancelled.map_or(Message::Nothing, Message::Cancelled)
}

fn read_request(id: RequestId, method: String, params: Option<Value>) -> Request {
    let (params, meta) = match split_params(params) {
        Ok(parts) => parts,
        Err(reason) => return untyped(id, method, Map::new(), Misfit::BadParams(reason.to_owned())),
    };
    match typed(&method, params, &meta) {
        Ok(request) => Request { id, method, request, meta: meta.into(), misfit: None },
        Err(misfit) => untyped(id, method, meta, misfit),
    }
}

/// A request without a type: rmcp checks its version and hands it on with what is known.
fn untyped(id: RequestId, method: String, meta: Map<String, Value>, misfit: Misfit) -> Request {
    let misfit = if METHODS.contains(&method.as_str()) { misfit } else { Misfit::UnknownMethod };
    let request = ClientRequest::CustomRequest(CustomRequest::new(method.clone(), None));
    Request { id, method, request, meta: meta.into(), misfit: Some(misfit) }
}

type Object = Map<String, Value>;

/// Parameters without `_meta`, and `_meta`. A null stands for what is absent, as many clients write it.
fn split_params(params: Option<Value>) -> Result<(Object, Object), &'static str> {
    let mut params = match params {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(params)) => params,
        Some(_) => return Err("`params` must be an object"),
    };
    let meta = match params.swap_remove("_meta") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(meta)) => meta,
        Some(_) => return Err("`_meta` must be an object"),
    };
    Ok((params, meta))
}

fn typed(method: &str, params: Object, meta: &Object) -> Result<ClientRequest, Misfit> {
    match method {
        "initialize" => Ok(ClientRequest::InitializeRequest(InitializeRequest::new(decoded(params)?))),
        "ping" => Ok(ClientRequest::PingRequest(PingRequest::default())),
        "tools/list" => list_tools(params),
        "tools/call" => call_tool(params),
        // A request that names a legacy version asks in an era that has no such method.
        "server/discover" if meta.contains_key(VERSION_KEY) && Era::of_request(meta) == Ok(Era::Legacy) => {
            Err(Misfit::UnknownMethod)
        }
        "server/discover" => Ok(ClientRequest::DiscoverRequest(DiscoverRequest::new(DiscoverRequestParams {}))),
        "subscriptions/listen" => {
            Ok(ClientRequest::SubscriptionsListenRequest(SubscriptionsListenRequest::new(decoded(params)?)))
        }
        _ => Err(Misfit::UnknownMethod),
    }
}

fn list_tools(mut params: Object) -> Result<ClientRequest, Misfit> {
    let cursor = match params.swap_remove("cursor") {
        None | Some(Value::Null) => None,
        Some(Value::String(cursor)) => Some(cursor),
        Some(_) => return Err(bad_params("`cursor` must be a string")),
    };
    let params = PaginatedRequestParams::default().with_cursor(cursor);
    Ok(ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params)))
}

fn call_tool(mut params: Object) -> Result<ClientRequest, Misfit> {
    let name = match params.swap_remove("name") {
        Some(Value::String(name)) => name,
        Some(_) => return Err(bad_params("`name` must be a string")),
        None => return Err(bad_params("`name` is missing")),
    };
    let arguments = match params.swap_remove("arguments") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(arguments)) => arguments,
        Some(_) => return Err(bad_params("`arguments` must be an object")),
    };
    let params = CallToolRequestParams::new(name).with_arguments(arguments);
    Ok(ClientRequest::CallToolRequest(CallToolRequest::new(params)))
}

fn decoded<T: DeserializeOwned>(params: Object) -> Result<T, Misfit> {
    serde_json::from_value(Value::Object(params)).map_err(|error| Misfit::BadParams(error.to_string()))
}

fn bad_params(reason: &str) -> Misfit {
    Misfit::BadParams(reason.to_owned())
}

/// An id that MCP allows. A float is none even where it is whole: it would come back spelled differently.
fn request_id(id: &Value) -> Option<RequestId> {
    match id {
        Value::String(id) => Some(RequestId::String(id.as_str().into())),
        Value::Number(id) => id.as_i64().map(RequestId::Number),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The id by which a client may recognise its message even where MCP does not allow it.
fn readable(id: &Value) -> Value {
    match id {
        Value::String(_) | Value::Number(_) => id.clone(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => Value::Null,
    }
}

fn refused(id: Option<&Value>, code: i32, message: impl Into<String>) -> Message {
    Message::Refused(Refusal { id: id.map_or(Value::Null, readable), code, message: message.into() })
}
