//! Real third-party MCP clients against the release binary. The clients live beside the repository, in
//! `../shared/clients`, and are installed into the user's cache folder; where they are absent the task says so.

use std::path::{Path, PathBuf};

use anyhow::Context;
use serde_json::{Value, json};

use crate::step::{binary, root, say, step, target};

/// Every client that speaks stdio.
const ALL: [&str; 7] = ["sdk-legacy", "client-dual", "py-mcp", "fastmcp", "inspector", "mcp-proxy", "opencode"];

/// Installs the named clients (all without a name) and runs them against `gatelatch operator` and `gatelatch chat`.
pub(crate) fn run(names: &[&str]) -> anyhow::Result<()> {
    let folder = root().join("../shared/clients");
    if !folder.is_dir() {
        say("── clients: skipped, the folder ../shared/clients is not there");
        return Ok(());
    }
    let names = if names.is_empty() { &ALL[..] } else { names };
    let script = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let mut setup = vec![script("setup.sh")];
    setup.extend(packages(names));
    step("install clients", "bash", &setup.iter().map(String::as_str).collect::<Vec<_>>(), &[])?;
    let work = target().join("clients");
    std::fs::create_dir_all(&work)?;
    for (surface, spec) in [("operator", operator(&work)), ("chat", chat(&work))] {
        let file = work.join(format!("{surface}.json"));
        std::fs::write(&file, spec.to_string()).context("cannot write the clients' specification")?;
        let file = file.to_string_lossy().into_owned();
        let title = format!("clients of {surface}");
        step(&title, "bash", &[&script("run.sh"), &file, "--only", &names.join(",")], &[])?;
    }
    if names.contains(&"opencode") { main_job_in_opencode() } else { Ok(()) }
}

/// The real opencode with the configuration that `gatelatch connect opencode --write` makes.
fn main_job_in_opencode() -> anyhow::Result<()> {
    #[expect(
        clippy::disallowed_methods,
        reason = "a task of the repository finds what the clients' own script installed"
    )]
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let cache =
        variable("XDG_CACHE_HOME").or_else(|| variable("HOME").map(|home| home.join(".cache"))).unwrap_or_default();
    let installed = variable("INST").unwrap_or_else(|| cache.join("gatelatch-mcp-clients"));
    let platform = format!(
        "opencode-{}-{}",
        if cfg!(target_os = "macos") { "darwin" } else { "linux" },
        if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" }
    );
    let opencode = installed.join("opencode/node_modules").join(platform).join("bin/opencode");
    let (opencode, binary) = (opencode.to_string_lossy().into_owned(), binary().to_string_lossy().into_owned());
    step("opencode main job", "node", &["xtask/opencode/main_job.mjs", &opencode, &binary], &[])
}

/// What has to be installed for a client.
fn packages(names: &[&str]) -> Vec<String> {
    let mut packages: Vec<&str> = Vec::new();
    for name in names {
        match *name {
            "fastmcp" => packages.push("py-fastmcp"),
            "inspector" => packages.extend(["node24", "inspector"]),
            // The proxy is driven by the SDK's client.
            "mcp-proxy" => packages.extend(["py-mcp-proxy", "sdk-legacy"]),
            other => packages.push(other),
        }
    }
    packages.sort_unstable();
    packages.dedup();
    packages.into_iter().map(str::to_owned).collect()
}

/// One call, whether it fails, and what its text says.
fn call(tool: &str, arguments: Value, is_error: bool, contains: &str) -> Value {
    json!({ "tool": tool, "arguments": arguments, "expect": { "isError": is_error, "contains": contains } })
}

/// The main job as a specification: find, run, a refused send, a confirmed one, and wrong calls that help.
fn operator(work: &Path) -> Value {
    let outbox = work.join("outbox");
    let message = json!({ "to": "ada@example.org", "subject": "Minutes", "body": "As agreed." });
    json!({
        "stdio": { "command": [binary(), "operator"], "env": { "OUTBOX_DIR": outbox }, "cwd": root() },
        "eras": ["legacy", "modern"],
        "tools": ["capabilities", "run_tool", "run_agent", "run_tool_confirmed", "run_agent_confirmed", "get_skill"],
        // mcp-proxy itself turns a protocol error of its server into a failed result.
        "expectedFailures": ["mcp-proxy/stdio->http call[10] no_such_tool"],
        "calls": [
            call("run_tool", json!({ "tool": "hello-world", "args": { "name": "MCP" } }), false, "MCP"),
            call("capabilities", json!({}), false, "outbox"),
            call("capabilities", json!({ "search": "send an email" }), false, "send-message"),
            call("capabilities", json!({ "name": "outbox", "action": "send-message" }), false, "run_tool_confirmed"),
            call("run_tool", json!({ "tool": "outbox", "action": "send-message", "args": message }), true, "approval_required"),
            call("run_tool_confirmed", json!({ "tool": "outbox", "action": "send-message", "args": message }), false, "sent"),
            call("run_tool", json!({ "tool": "outbox", "action": "list-messages", "args": { "folder": "sent" } }), false, "Minutes"),
            call("run_tool", json!({ "tool": "outbox", "action": "message-send", "args": {} }), true, "send-message"),
            call("run_tool", json!({ "tool": "hello-world", "args": { "nmae": "x" } }), true, "`name`"),
            call("get_skill", json!({ "name": "write-a-manifest" }), false, "effect"),
            { "tool": "no_such_tool", "arguments": {}, "expect": { "protocolError": -32602 } },
        ],
    })
}

/// A workbook looked over and read, a draft written once though it is asked for twice, and wrong calls that help; every
/// result that is right is structured, so that clients hold it against the published output schema.
fn chat(work: &Path) -> Value {
    // Drafts of an earlier run would be found by their keys.
    let outbox = work.join(format!("outbox-{}", std::process::id()));
    let workbook = root().join("crates/cli/src/verb/demo/orders.xlsx");
    let with = |tool: &str, arguments: Value, structured: Value| json!({ "tool": tool, "arguments": arguments, "expect": { "isError": false, "structured": structured } });
    let draft = json!({ "to": "ada@example.org", "subject": "Minutes", "body": "As agreed.", "key": "minutes" });
    let mut another = draft.clone();
    another["body"] = "Otherwise.".into();
    json!({
        "stdio": { "command": [binary(), "chat"], "env": { "OUTBOX_DIR": outbox }, "cwd": root() },
        "eras": ["legacy", "modern"],
        "tools": [
            "xlsx_overview", "xlsx_list_sheets", "xlsx_describe", "xlsx_read_sheet", "xlsx_search", "outbox_list_messages",
            "outbox_draft_message",
        ],
        // mcp-proxy itself turns a protocol error of its server into a failed result.
        "expectedFailures": ["mcp-proxy/stdio->http call[11] run_tool_confirmed"],
        "calls": [
            with("xlsx_overview", json!({ "path": workbook }), json!({ "first_sheet": "Orders", "rows": 3 })),
            with("xlsx_list_sheets", json!({ "path": workbook }), json!({ "path": workbook })),
            with("xlsx_describe", json!({ "path": workbook, "sheet": "Orders" }), json!({ "sheet": "Orders", "truncated": false })),
            with("xlsx_read_sheet", json!({ "path": workbook, "header": true, "max_results": 1 }), json!({ "truncated": true, "next_offset": 1 })),
            with("xlsx_search", json!({ "path": workbook, "text": "GRACE" }), json!({ "total": 1 })),
            with("outbox_draft_message", draft.clone(), json!({ "folder": "drafts", "subject": "Minutes" })),
            with("outbox_draft_message", draft, json!({ "folder": "drafts", "subject": "Minutes" })),
            with("outbox_list_messages", json!({ "folder": "drafts" }), json!({ "total": 1 })),
            call("outbox_draft_message", another, true, "key_used"),
            call("xlsx_read_sheet", json!({ "pth": workbook }), true, "`path`"),
            call("xlsx_describe", json!({ "path": workbook, "sheet": "Nope" }), true, "Orders"),
            { "tool": "run_tool_confirmed", "arguments": {}, "expect": { "protocolError": -32602 } },
        ],
    })
}
