//! Real third-party MCP clients against the release binary. The clients live beside the repository, in
//! `../shared/clients`, and are installed into the user's cache folder; where they are absent the task says so.

use std::path::{Path, PathBuf};

use anyhow::Context;
use serde_json::{Value, json};

use crate::step::{binary, root, say, step};

/// Every client that speaks stdio.
const ALL: [&str; 7] = ["sdk-legacy", "client-dual", "py-mcp", "fastmcp", "inspector", "mcp-proxy", "opencode"];

/// Installs the named clients (all without a name) and runs them against `gatelatch operator`.
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
    let work = root().join("target/clients");
    std::fs::create_dir_all(&work)?;
    let file = work.join("operator.json");
    std::fs::write(&file, spec(&work).to_string()).context("cannot write the clients' specification")?;
    let file = file.to_string_lossy().into_owned();
    step("clients", "bash", &[&script("run.sh"), &file, "--only", &names.join(",")], &[])?;
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

/// The main job as a specification: find, run, a refused send, a confirmed one, and wrong calls that help.
fn spec(work: &Path) -> Value {
    let outbox = work.join("outbox");
    let message = json!({ "to": "ada@example.org", "subject": "Minutes", "body": "As agreed." });
    let call = |tool: &str, arguments: Value, is_error: bool, contains: &str| json!({ "tool": tool, "arguments": arguments, "expect": { "isError": is_error, "contains": contains } });
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
