//! A [`Surface`] as an rmcp server: which request gets which result in which era.
//!
//! rmcp's request dispatch refuses versions and malformed `_meta` before anything here runs; this adds what it leaves
//! open: hints and server info on modern results only, the digest, `initialize` that never takes over the requested
//! version, -32602 for bad parameters, crashes and bounded concurrency. Knows no transport. Start at [`Adapter`].

pub(crate) mod list;
pub(crate) mod run;

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::ServerHandler;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest, CustomResult,
    DiscoverResult, ErrorCode, Implementation, InitializeRequestParams, InitializeResult, ListToolsResult, MetaObject,
    PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig, SubscriptionFilter, Tool,
};
use rmcp::service::{RequestContext, RoleServer, SubscriptionContext};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::digest::digest_of;
use crate::era::{Era, EraError, SERVED};
use crate::surface::{Surface, ToolCall, ToolReply};
use run::Listener;

/// For how long a client may hold a list: it cannot change while the process lives.
const LIST_TTL_MS: u64 = 300_000;

const DIGEST_KEY: &str = "io.github.gatelatch/toolsDigest";
const SERVER_INFO_KEY: &str = "io.modelcontextprotocol/serverInfo";

/// The same list as [`SERVED`], as rmcp wants it.
const VERSIONS: &[ProtocolVersion] = &[
    ProtocolVersion::V_2024_11_05,
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_11_25,
    ProtocolVersion::V_2026_07_28,
];

/// The methods that are served in one era or the other.
pub(crate) const METHODS: [&str; 6] =
    ["initialize", "ping", "tools/list", "tools/call", "server/discover", "subscriptions/listen"];

/// A surface that answers requests.
pub(crate) struct Adapter {
    surface: Arc<dyn Surface>,
    config: ServerConfig,
    /// Every modern result carries it.
    server_info: MetaObject,
    tools: OnceLock<Vec<Tool>>,
    silence: Duration,
    digest: OnceLock<String>,
    /// How many calls may still start.
    slots: Semaphore,
    /// Cancelled when the connection ends: subscriptions then end gracefully.
    ending: CancellationToken,
}

/// What the transport already knows about a request that is no typed one.
#[derive(Clone, Debug)]
pub(crate) enum Misfit {
    /// A known method; why its parameters are wrong.
    BadParams(String),
    /// A method that is not served.
    UnknownMethod,
}

impl Adapter {
    pub(crate) fn new(
        surface: Arc<dyn Surface>,
        concurrent_calls: usize,
        silence: Duration,
        ending: CancellationToken,
    ) -> Adapter {
        let identity = surface.identity();
        let implementation = Implementation::new(&identity.name, &identity.version).with_title(&identity.title);
        let mut server_info = MetaObject::new();
        // It cannot fail: every field is a string.
        server_info.insert(SERVER_INFO_KEY.to_owned(), serde_json::to_value(&implementation).unwrap_or_default());
        let mut config = ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_protocol_version(ProtocolVersion::V_2025_11_25)
            .with_server_info(implementation);
        config.instructions = Some(identity.instructions.clone()).filter(|text| !text.is_empty());
        Adapter {
            config,
            silence,
            server_info,
            tools: OnceLock::new(),
            digest: OnceLock::new(),
            slots: Semaphore::new(concurrent_calls.clamp(1, Semaphore::MAX_PERMITS)),
            ending,
            surface,
        }
    }

    fn tools(&self) -> &[Tool] {
        self.tools.get_or_init(|| list::wire_tools(self.surface.tools()))
    }

    fn digest(&self) -> &str {
        self.digest.get_or_init(|| digest_of(&serde_json::to_value(self.tools()).unwrap_or_default()))
    }

    /// Runs a call in one of the slots.
    async fn reply(&self, name: String, request: CallToolRequestParams, era: Era, context: &Context) -> ToolReply {
        let slot = tokio::select! {
            biased;
            slot = self.slots.acquire() => slot.ok(),
            () = context.ct.cancelled() => None,
        };
        let Some(_slot) = slot else {
            return failure("the call was cancelled before it began");
        };
        let listener = context.meta.get_progress_token().map(|token| Listener {
            token,
            peer: context.peer.clone(),
            cancelled: context.ct.clone(),
            silence: self.silence,
        });
        let arguments = request.arguments.unwrap_or_default();
        let cancelled = context.ct.clone();
        let call = |progress| self.surface.call(ToolCall { name, arguments, era, cancelled, progress });
        match run::run(call, listener).await {
            Some(reply) => reply,
            None => {
                tracing::error!("a tool crashed");
                failure("internal error: the tool crashed")
            }
        }
    }
}

type Context = RequestContext<RoleServer>;

impl ServerHandler for Adapter {
    fn get_info(&self) -> ServerConfig {
        self.config.clone()
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(VERSIONS)
    }

    async fn initialize(
        &self,
        mut request: InitializeRequestParams,
        context: Context,
    ) -> Result<InitializeResult, ErrorData> {
        let result = self.negotiate_initialize(&request)?;
        // INVARIANT: what is kept of the client is the version that was answered, never the one it asked for; else one
        // that asks for 2026-07-28 would turn every later request modern
        // (`an_initialize_that_asks_for_the_modern_version_leaves_later_requests_legacy`).
        request.protocol_version = result.protocol_version.clone();
        context.peer.set_peer_info(request);
        Ok(result)
    }

    async fn discover(&self, context: Context) -> Result<DiscoverResult, ErrorData> {
        if era(&context)? == Era::Legacy {
            return Err(unknown_method("server/discover"));
        }
        let mut result = DiscoverResult::from_server_info(VERSIONS.to_vec(), self.get_info());
        result.ttl_ms = LIST_TTL_MS;
        result.cache_scope = CacheScope::Public;
        let mut meta = self.server_info.clone();
        meta.insert(DIGEST_KEY.to_owned(), Value::from(self.digest()));
        result.meta = Some(meta);
        Ok(result)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        let era = era(&context)?;
        if let Some(cursor) = request.and_then(|request| request.cursor) {
            // There is one page, so no cursor was ever given out.
            return Err(ErrorData::invalid_params(format!("invalid cursor {}", quoted(&cursor)), None));
        }
        let mut result = ListToolsResult::with_all_items(self.tools().to_vec());
        if era == Era::Modern {
            result.ttl_ms = Some(LIST_TTL_MS);
            result.cache_scope = Some(CacheScope::Public);
            result.meta = Some(self.server_info.clone());
        }
        Ok(result)
    }

    async fn call_tool(&self, request: CallToolRequestParams, context: Context) -> Result<CallToolResponse, ErrorData> {
        let era = era(&context)?;
        let Some(tool) = self.surface.tools().iter().find(|tool| tool.name == request.name) else {
            return Err(ErrorData::invalid_params(format!("unknown tool {}", quoted(&request.name)), None));
        };
        let reply = self.reply(tool.name.clone(), request, era, &context).await;
        let content = std::iter::once(reply.text).chain(reply.notes).map(ContentBlock::text).collect();
        let mut result = if reply.is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
        result.structured_content = reply.structured;
        if era == Era::Modern {
            result.meta = Some(self.server_info.clone());
        }
        Ok(result.into())
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools().iter().find(|tool| tool.name == name).cloned()
    }

    fn accepted_subscription_filter(&self, _requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        // Nothing here ever changes, so nothing is honoured; the stream itself is, until either side ends it.
        Some(SubscriptionFilter::new())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        tokio::select! {
            () = context.cancelled() => {}
            () = self.ending.cancelled() => {}
        }
        Ok(())
    }

    async fn on_custom_request(&self, request: CustomRequest, context: Context) -> Result<CustomResult, ErrorData> {
        era(&context)?;
        match context.extensions.get::<Misfit>() {
            Some(Misfit::BadParams(reason)) => Err(ErrorData::invalid_params(reason.clone(), None)),
            Some(Misfit::UnknownMethod) => Err(unknown_method(&request.method)),
            None if METHODS.contains(&request.method.as_str()) => {
                Err(ErrorData::invalid_params(format!("invalid params for `{}`", request.method), None))
            }
            None => Err(unknown_method(&request.method)),
        }
    }
}

/// The error for a method that is not served in this era.
pub(crate) fn unknown_method(method: &str) -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("unknown method {}", quoted(method)), None)
}

/// A client's text in backticks, cut to what a person would read.
pub(crate) fn quoted(text: &str) -> String {
    const SHOWN_CHARS: usize = 200;
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("`{}…`", text.get(..end).unwrap_or_default()),
        None => format!("`{text}`"),
    }
}

fn era(context: &Context) -> Result<Era, ErrorData> {
    Era::of_request(&context.meta).map_err(|error| match &error {
        EraError::NotServed(requested) => ErrorData::new(
            ErrorCode::UNSUPPORTED_PROTOCOL_VERSION,
            error.to_string(),
            Some(json!({"supported": SERVED, "requested": requested})),
        ),
        EraError::NotText => ErrorData::invalid_params(error.to_string(), None),
    })
}

fn failure(text: &str) -> ToolReply {
    ToolReply { text: text.to_owned(), structured: None, is_error: true, notes: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_versions_given_to_the_sdk_are_the_versions_served() {
        let given: Vec<&str> = VERSIONS.iter().map(ProtocolVersion::as_str).collect();
        assert_eq!(given, SERVED);
        assert_eq!(ProtocolVersion::V_2025_11_25.as_str(), crate::era::NEWEST_LEGACY);
    }
}
