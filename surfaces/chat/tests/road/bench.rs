//! A chat server in memory on a real road: a catalog folder, its programs, and everything that was recorded.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use gatelatch_bridge::bridge::{Bridge, Parts};
use gatelatch_bridge::recorder::{Event, Recorder};
use gatelatch_chat::link::{Declaration, Linked, link};
use gatelatch_chat::surface::Chat;
use gatelatch_discovery::index::Index;
use gatelatch_gate::decision::{AskedBy, Policy};
use gatelatch_manifest::diagnostic::render;
use gatelatch_manifest::read;
use gatelatch_manifest::surface::ServerManifest;
use gatelatch_protocol::era::Era;
use gatelatch_protocol::surface::{Progress, Surface, ToolCall, ToolReply};
use gatelatch_registry::load::{Source, load};
use gatelatch_runner::host::Host;
use gatelatch_runner::runner::Runner;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// The catalog of these tests.
pub(crate) const DESK: &str = "tests/desk";

#[derive(Clone, Default)]
struct Recorded(Arc<Mutex<Vec<Event>>>);

impl Recorder for Recorded {
    fn record(&self, event: &Event) {
        self.0.lock().unwrap().push(event.clone());
    }
}

/// A chat server and what its road recorded.
pub(crate) struct Bench {
    pub(crate) chat: Chat,
    recorded: Recorded,
    /// Where children run.
    pub(crate) folder: tempfile::TempDir,
}

/// What of a declaration's tools agrees with a catalog folder.
pub(crate) fn linked(tools: &str, catalog: &str) -> Linked {
    let text = format!("surface_version: 1.0.0\ntools:\n{tools}");
    let read = read::surface("chat_surface.yaml", text.as_bytes());
    let manifest = read.document.unwrap_or_else(|| panic!("{}", render(&read.findings)));
    let declaration = Declaration { file: "chat_surface.yaml", text: &text, manifest: &manifest };
    link(&declaration, &load(&[Source::Folder(catalog.into())]).catalog, &[])
}

impl Bench {
    /// Serves a declaration's tools, which must all agree with the catalog.
    pub(crate) fn new(tools: &str) -> Bench {
        let linked = linked(tools, DESK);
        assert!(linked.left_out.is_empty(), "{}", render(&linked.findings));
        Bench::serving(linked, DESK, Policy { asked_by: AskedBy::Client, deny_irreversible: false })
    }

    /// Serves what was held against one catalog on the road of another.
    pub(crate) fn serving(linked: Linked, catalog: &str, policy: Policy) -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let catalog = Arc::new(load(&[Source::Folder(catalog.into())]).catalog);
        let recorded = Recorded::default();
        let bridge = Bridge::new(Parts {
            index: Index::build(&catalog),
            catalog,
            broken: Vec::new(),
            policy,
            uses: None,
            runner: Runner::new(host(folder.path().to_owned())),
            recorder: Box::new(recorded.clone()),
            capabilities_max_bytes: 40_000,
        });
        let server = ServerManifest { name: "chat".into(), title: "Chat".into(), instructions: String::new() };
        Bench { chat: Chat::new(Arc::new(bridge), &server, linked.tools, "0.0.0"), recorded, folder }
    }

    /// One call to its end.
    pub(crate) async fn call(&self, name: &str, arguments: Value) -> ToolReply {
        self.call_with(name, arguments, CancellationToken::new(), Progress::ignored()).await
    }

    /// The same with a way to cancel it and somebody who watches.
    pub(crate) async fn call_with(
        &self,
        name: &str,
        arguments: Value,
        cancelled: CancellationToken,
        progress: Progress,
    ) -> ToolReply {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        let call = ToolCall { name: name.to_owned(), arguments, era: Era::Modern, cancelled, progress };
        self.chat.call(call).await
    }

    /// A call that must succeed: its structured content, which its text repeats.
    pub(crate) async fn works(&self, name: &str, arguments: Value) -> Value {
        let reply = self.call(name, arguments).await;
        assert!(!reply.is_error, "{}", reply.text);
        let structured = reply.structured.unwrap();
        assert_eq!(serde_json::from_str::<Value>(&reply.text).unwrap(), structured);
        structured
    }

    /// A call that must fail: its text, beside which there is no structured content.
    pub(crate) async fn fails(&self, name: &str, arguments: Value) -> Value {
        failure(&self.call(name, arguments).await)
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        self.recorded.0.lock().unwrap().clone()
    }
}

/// The text of a failed call.
pub(crate) fn failure(reply: &ToolReply) -> Value {
    assert!(reply.is_error, "{}", reply.text);
    assert_eq!(reply.structured, None, "what failed has no structured content");
    serde_json::from_str(&reply.text).unwrap()
}

/// A tool of the desk with one action.
pub(crate) fn tool(name: &str, action: &str, rest: &str) -> String {
    format!(
        "  - name: {name}\n    title: A tool\n    description: What it does.\n    tool: desk\n    action: {action}\n    \
         reversible: true\n    idempotent: true\n    open_world: false\n{rest}"
    )
}

/// A sample of the steps of a failed operation.
pub(crate) fn ids(failure: &Value) -> Value {
    let steps = failure["steps"].as_array().unwrap();
    steps.iter().map(|step| json!([step["id"], step["done"]])).collect()
}

#[expect(clippy::disallowed_methods, reason = "a test passes on its own environment")]
fn host(folder: PathBuf) -> Host {
    let environment: BTreeMap<String, String> = std::env::vars().filter(|(name, _)| name == "PATH").collect();
    Host { environment, cache_folder: folder.join("cache"), working_folder: folder, own_program: "gatelatch".into() }
}
