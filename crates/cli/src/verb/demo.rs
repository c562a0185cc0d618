//! `gatelatch demo`: the main job, played to a server of its own and told as a conversation.
//!
//! Owns the play: which calls are made in which order, and what each must give. The server is this binary's own
//! `operator`, started as any client would start it; its outbox, cache and settings lie in a temporary folder that
//! vanishes. How the play is told is [`stage`]'s business. Start at [`demo`].

mod stage;

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use gatelatch_runner::environment::is_passed;
use gatelatch_spawn::child::Launch;
use gatelatch_spawn::session::Session;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use self::stage::{Called, Stage};
use crate::exit::Code;
use crate::settings::Environment;
use crate::verb::{agrees, serving::stop_on_signal};

/// A workbook of three orders.
const WORKBOOK: &[u8] = include_bytes!("demo/orders.xlsx");
const FILE: &str = "orders.xlsx";

/// Plays it. Done only if each step gave what it should.
pub(crate) fn demo(environment: &Environment, yes: bool, as_json: bool) -> anyhow::Result<Code> {
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    std::fs::write(folder.path().join(FILE), WORKBOOK).context("cannot write the sample workbook")?;
    // Whatever settings lie above the temporary folder are not the demo's.
    std::fs::write(folder.path().join("gatelatch.yaml"), "confirm: client\n").context("cannot write the settings")?;
    let launch = launch(environment, folder.path())?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let played = runtime.block_on(async {
        let stop = CancellationToken::new();
        tokio::spawn(stop_on_signal(stop.clone()));
        let session = Session::start(&launch)?;
        let mut play = Play { stage: Stage::new(session, as_json), folder: folder.path(), yes };
        tokio::select! {
            played = play.run() => played,
            () = stop.cancelled() => Ok(Code::Cancelled),
        }
    });
    // A thread may still wait for the human's answer; it must not hold the process.
    runtime.shutdown_background();
    folder.close().context("cannot remove the temporary folder")?;
    played
}

/// The operator server, as a client starts it, kept away from everything of the user's.
fn launch(environment: &Environment, folder: &Path) -> anyhow::Result<Launch> {
    let passed = environment.variables.iter().filter(|(name, _)| is_passed(name));
    let mut env: Vec<(OsString, OsString)> = passed.map(|(name, value)| (name.into(), value.into())).collect();
    env.push(("OUTBOX_DIR".into(), folder.join("outbox").into()));
    env.push(("GATELATCH_CACHE".into(), folder.join("cache").into()));
    env.push(("GATELATCH_LOG".into(), "error".into()));
    Ok(Launch {
        program: std::env::current_exe().context("cannot find the gatelatch program itself")?,
        args: vec!["operator".into()],
        env,
        cwd: folder.to_owned(),
        // The human may think for as long as they like.
        timeout: Duration::from_secs(24 * 3600),
        max_stdout_bytes: 4 << 20,
        stderr_tail_bytes: 4096,
    })
}

struct Play<'p> {
    stage: Stage,
    folder: &'p Path,
    yes: bool,
}

impl Play<'_> {
    async fn run(&mut self) -> anyhow::Result<Code> {
        self.meet().await?;
        if !self.look_around().await? {
            return self.end(Code::NotReady).await;
        }
        self.read().await?;
        self.send().await?;
        let code = if self.stage.is_well() { Code::Done } else { Code::Failed };
        self.end(code).await
    }

    /// Both eras, in one connection.
    async fn meet(&mut self) -> anyhow::Result<()> {
        let hello = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "demo", "version": env!("CARGO_PKG_VERSION") },
        });
        self.stage.scene("A client of MCP up to 2025-11-25 (the legacy era) says hello.")?;
        let answer = self.stage.request("initialize", hello).await?;
        let version = answer["protocolVersion"].as_str().unwrap_or_default().to_owned();
        let server = answer["serverInfo"]["name"].as_str().unwrap_or_default().to_owned();
        self.stage.outcome(version == "2025-11-25", &format!("{server} speaks {version}"))?;
        self.stage.notify("notifications/initialized").await?;

        self.stage.scene("A client of MCP 2026-07-28 (the modern era) asks what the server is, and needs no hello.")?;
        let modern = json!({ "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        } });
        let answer = self.stage.request("server/discover", modern).await?;
        let versions: Vec<&str> =
            answer["supportedVersions"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let both = versions.contains(&"2025-11-25") && versions.contains(&"2026-07-28");
        let told = format!("the same server speaks {}", versions.join(", "));
        self.stage.outcome(both, &told)
    }

    /// What there is; whether the demo can go on with it.
    async fn look_around(&mut self) -> anyhow::Result<bool> {
        self.stage.scene("The model asks what it can do here.")?;
        let all = self.stage.call("capabilities", json!({})).await?;
        let names = |kind: &str| {
            let list = all.value[kind].as_array().into_iter().flatten();
            list.filter_map(|entry| entry["name"].as_str()).collect::<Vec<_>>().join(", ")
        };
        let told = format!("tools: {}; agents: {}; skills: {}", names("tools"), names("agents"), names("skills"));
        self.stage.outcome(names("tools").contains("xlsx"), &told)?;
        if !names("tools").contains("outbox") {
            let why = "the outbox is not ready: it needs Python 3.9 or later on PATH (`gatelatch doctor` tells more)";
            self.stage.outcome(false, why)?;
            return Ok(false);
        }
        self.stage.scene("It looks for an action in its own words, instead of guessing one.")?;
        let found = self.stage.call("capabilities", json!({ "search": "read rows of a spreadsheet" })).await?;
        let best = &found.value["matches"][0];
        let text = |key: &str| best[key].as_str().unwrap_or_default();
        let first = text("description").split_inclusive(". ").next().unwrap_or_default();
        let told = format!("{} {}: {}", text("name"), text("action"), first.trim_end());
        let right = text("name") == "xlsx" && text("action") == "read-sheet";
        self.stage.outcome(right, &told)?;
        Ok(true)
    }

    /// A wrong argument, then the right one.
    async fn read(&mut self) -> anyhow::Result<()> {
        let call = |args: Value| json!({ "tool": "xlsx", "action": "read-sheet", "args": args });
        self.stage.scene("It reads a workbook, and gets an argument wrong: the answer says what would be right.")?;
        let wrong = self.stage.call("run_tool", call(json!({ "file": FILE }))).await?;
        let helped = wrong.failed && wrong.value["did_you_mean"].to_string().contains("path");
        self.stage.outcome(helped, wrong.text("message"))?;

        self.stage.scene("So it reads the workbook. Reading changes nothing, so nobody is asked.")?;
        let read = self.stage.call("run_tool", call(json!({ "path": FILE, "header": true }))).await?;
        let rows = read.value["rows"].as_array().cloned().unwrap_or_default();
        let told = rows.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
        self.stage.outcome(!read.failed && rows.len() == 3 && rows[0]["Customer"] == "Ada", &told)
    }

    /// A send: refused, asked about, sent.
    async fn send(&mut self) -> anyhow::Result<()> {
        let message = json!({
            "to": "ada@example.org",
            "subject": "Your order",
            "body": "Dear Ada, your 12 notebooks are on their way.",
        });
        let call = json!({ "tool": "outbox", "action": "send-message", "args": message });
        self.stage.scene("It wants to write to a customer. What is sent cannot be taken back, so it is refused.")?;
        let refused = self.stage.call("run_tool", call.clone()).await?;
        let right = refused.failed
            && refused.value["error"] == "approval_required"
            && refused.value["confirm_with"] == "run_tool_confirmed";
        self.stage.outcome(right, refused.text("message").lines().next().unwrap_or_default())?;
        let empty = self.sent().is_empty();
        self.stage.outcome(empty, "nothing was started: the outbox is empty")?;

        self.stage.scene("A human is asked about this exact call.")?;
        if !self.agreed(&message).await? {
            let empty = self.sent().is_empty();
            return self.stage.outcome(empty, "you said no: nothing was sent, and the outbox is empty");
        }
        let sent = self.stage.call("run_tool_confirmed", call).await?;
        self.stage.outcome(!sent.failed, &format!("sent, as {}", sent.text("id")))?;

        self.stage.scene("The message lies in the outbox, which is a folder of this demo's own.")?;
        let listed = self.stage.call("run_tool", json!({ "tool": "outbox", "action": "list-messages" })).await?;
        let first = &listed.value["messages"][0];
        let told = format!(
            "to {}: {}",
            first["to"].as_str().unwrap_or_default(),
            first["subject"].as_str().unwrap_or_default()
        );
        let on_disk = self.sent().iter().any(|text| text.contains("12 notebooks"));
        self.stage.outcome(on_disk && first["subject"] == "Your order", &told)
    }

    /// The human's yes: from the terminal, from `--yes`, or played where nobody is there.
    async fn agreed(&mut self, message: &Value) -> anyhow::Result<bool> {
        if self.yes {
            self.stage.aside("--yes was given, so nobody is asked")?;
            return Ok(true);
        }
        if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
            self.stage.aside("there is no terminal to ask on, so the demo plays the human and says yes")?;
            return Ok(true);
        }
        let text = |key: &str| message[key].as_str().unwrap_or_default().to_owned();
        let question = format!(
            "   outbox send-message\n     to: {}\n     subject: {}\n     body: {}\n   Send it?",
            text("to"),
            text("subject"),
            text("body")
        );
        let answer = tokio::task::spawn_blocking(move || agrees(&question));
        let yes = answer.await.context("cannot ask")?.context("cannot read the answer")?;
        self.stage.aside(if yes { "the human says yes" } else { "the human says no" })?;
        Ok(yes)
    }

    /// The texts of what was sent.
    fn sent(&self) -> Vec<String> {
        let folder = self.folder.join("outbox/sent/new");
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        files.filter_map(|file| std::fs::read_to_string(file.path()).ok()).collect()
    }

    async fn end(&mut self, code: Code) -> anyhow::Result<Code> {
        let clean = self.stage.end().await?;
        Ok(if clean || code != Code::Done { code } else { Code::Failed })
    }
}

impl Called {
    fn text(&self, key: &str) -> &str {
        self.value[key].as_str().unwrap_or_default()
    }
}
