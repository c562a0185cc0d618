//! `cargo xtask foreign-servers`: `pin` and `verify` against servers that others wrote, over stdio and over HTTP.
//!
//! Owns which servers and which versions; they are installed below `target/foreign`. Start at [`run`].

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use gatelatch_contract::list::ToolList;
use gatelatch_contract::pin::Pin;
use serde_json::Value;

use crate::step::{binary, root, say, step, target};

const EVERYTHING: &str = "@modelcontextprotocol/server-everything@2026.8.31";
const FASTMCP: &str = "fastmcp==4.2.3";

/// How long a server may take until it listens.
const START: Duration = Duration::from_secs(60);

/// A server in both of its forms.
struct Foreign {
    name: &'static str,
    /// The command over stdio.
    stdio: Vec<String>,
    /// What the command over HTTP has besides, and the variable or argument that names the port.
    http: Vec<String>,
    port: Port,
}

enum Port {
    Variable(&'static str),
    LastArgument,
}

/// Installs the servers where they are not yet, and asks each of them.
pub(crate) fn run() -> anyhow::Result<()> {
    let work = target().join("foreign");
    std::fs::create_dir_all(&work)?;
    for server in [everything(&work)?, fastmcp(&work)?] {
        let started = Instant::now();
        let pin = work.join(format!("{}.pin.json", server.name));
        let over_stdio = check(&server, &pin, &[&["--"], words(&server.stdio).as_slice()].concat())?;
        let running = Running::start(&server)?;
        let url = format!("http://127.0.0.1:{}/mcp", running.port);
        let over_http = check(&server, &pin, &["--url", &url])?;
        ensure!(over_stdio == over_http, "{} sends another list over HTTP than over stdio", server.name);
        say(&format!("── foreign server {}: {:.0} s", server.name, started.elapsed().as_secs_f64()));
    }
    Ok(())
}

/// Pins a server, verifies it in every way of asking, and holds it against a pin with one changed character. The pin.
fn check(server: &Foreign, file: &Path, target: &[&str]) -> anyhow::Result<String> {
    let path = file.to_string_lossy().into_owned();
    let _ = std::fs::remove_file(file);
    expect(0, "wrote `", &[&["pin", "--out", &path], target].concat())?;
    for era in [&[][..], &["--era", "legacy"]] {
        expect(0, "equal: ", &[&["verify", "--pin", &path], era, target].concat())?;
    }
    let text = std::fs::read_to_string(file)?;
    let pin = Pin::parse(&text).context("the pin that was written is none")?;
    let mut tools = pin.tools.to_array();
    let (name, description) = (tools[0]["name"].clone(), tools[0]["description"].clone());
    let (Value::String(name), Value::String(description)) = (name, description) else {
        bail!("the first tool of {} has no name or no description", server.name)
    };
    tools[0]["description"] = format!("{description}!").into();
    let changed = Pin { tools: ToolList::of_array(&tools)?, ..pin };
    std::fs::write(file, changed.to_text())?;
    let told = format!("patch: tool `{name}` at `/description`: `description` changed");
    expect(1, &told, &[&["verify", "--pin", &path], target].concat())?;
    Ok(text)
}

/// Runs the binary, which must end so and say so.
fn expect(code: i32, told: &str, args: &[&str]) -> anyhow::Result<()> {
    let output = command(&binary().to_string_lossy()).args(args).stdin(Stdio::null()).output()?;
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.code() != Some(code) || !out.contains(told) {
        bail!("`gatelatch {}` was to end with {code} and say `{told}`\n{}\n{out}{err}", args.join(" "), output.status);
    }
    Ok(())
}

fn everything(work: &Path) -> anyhow::Result<Foreign> {
    let folder = work.join("npm");
    let script = folder.join("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    once(&folder, EVERYTHING, || {
        std::fs::write(folder.join("package.json"), "{\"private\": true}\n")?;
        let prefix = folder.to_string_lossy();
        let quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
        step(
            "install",
            "npm",
            &[&["install", "--prefix", &prefix], &quiet[..], &["--save-exact", EVERYTHING]].concat(),
            &[],
        )
    })?;
    let node = vec!["node".to_owned(), script.to_string_lossy().into_owned()];
    Ok(Foreign {
        name: "everything",
        stdio: node.clone(),
        http: [node, vec!["streamableHttp".to_owned()]].concat(),
        port: Port::Variable("PORT"),
    })
}

fn fastmcp(work: &Path) -> anyhow::Result<Foreign> {
    let folder = work.join("python");
    let python = folder.join("bin/python").to_string_lossy().into_owned();
    once(&folder, FASTMCP, || {
        step("install", "python3", &["-m", "venv", &folder.to_string_lossy()], &[])?;
        let quiet = ["--quiet", "--disable-pip-version-check", "--no-input"];
        step("install", &python, &[&["-m", "pip", "install"], &quiet[..], &[FASTMCP]].concat(), &[])
    })?;
    let script = root().join("xtask/foreign/notes.py").to_string_lossy().into_owned();
    let command = vec![python, script];
    Ok(Foreign { name: "fastmcp", stdio: command.clone(), http: command, port: Port::LastArgument })
}

/// Does what installs a version, unless that very version is there.
fn once(folder: &Path, version: &str, install: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<()> {
    let stamp: PathBuf = folder.join("installed.txt");
    if std::fs::read_to_string(&stamp).is_ok_and(|there| there == version) {
        return Ok(());
    }
    if folder.is_dir() {
        std::fs::remove_dir_all(folder)?;
    }
    std::fs::create_dir_all(folder)?;
    install()?;
    Ok(std::fs::write(stamp, version)?)
}

/// A server that listens. Dropping it ends it.
struct Running {
    child: Child,
    port: u16,
}

impl Running {
    fn start(server: &Foreign) -> anyhow::Result<Running> {
        // Nobody else is given this port for a while.
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let (program, args) = server.http.split_first().context("a server has a command")?;
        let mut command = command(program);
        command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        match server.port {
            Port::Variable(name) => command.env(name, port.to_string()),
            Port::LastArgument => command.arg(port.to_string()),
        };
        let child = command.spawn().with_context(|| format!("cannot start `{program}`"))?;
        let mut running = Running { child, port };
        let since = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if let Some(status) = running.child.try_wait()? {
                bail!("{} over HTTP ended with {status}", server.name);
            }
            ensure!(since.elapsed() < START, "{} over HTTP does not listen", server.name);
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(running)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[expect(clippy::disallowed_methods, reason = "a task of the repository starts the repository's own tools")]
fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    command
}

fn words(command: &[String]) -> Vec<&str> {
    command.iter().map(String::as_str).collect()
}
