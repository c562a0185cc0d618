//! `cargo xtask bench`: what the road costs beside the least that could do the same, measured side by side in one run.
//!
//! Client and floor are native code, the two sides take turns, three rounds, medians; the figures are JSON on standard
//! output. A bench compares, it never fails: the machines are noisy.

mod dataset;
mod large;
mod retrieval;
pub(crate) mod xlsx;

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde_json::{Value, json};

use crate::step::{binary, say, step, target};

const ROUNDS: usize = 3;
/// Calls of each side in a round.
const CALLS: usize = 400;
/// Runs of a program of each side in a round.
const RUNS: usize = 100;
/// Starts of a server in a round.
const STARTS: usize = 15;
/// Tools of the generated catalog.
const TOOLS: usize = 300;

/// Builds what is measured, and this program too, so that the floor is no slower than it must be, and measures.
pub(crate) fn run() -> anyhow::Result<()> {
    let build = ["build", "--release", "--locked", "--package", "gatelatch-cli", "--package", "gatelatch-xtask"];
    step("release build", env!("CARGO"), &build, &[])?;
    let own = target().join("release/gatelatch-xtask");
    step("bench", &own.to_string_lossy(), &["bench-measure"], &[])
}

/// `bench retrieval …`: builds this program anew, since a debug build would tell no times, and measures.
pub(crate) fn retrieval(words: &[&str]) -> anyhow::Result<()> {
    let files = retrieval::Request::parse(words)?.words()?;
    step("release build", env!("CARGO"), &["build", "--release", "--locked", "-p", "gatelatch-xtask"], &[])?;
    let own = target().join("release/gatelatch-xtask");
    let mut words = vec!["bench-retrieval"];
    words.extend(files.iter().map(String::as_str));
    step("bench retrieval", &own.to_string_lossy(), &words, &[])
}

/// Measures the search; runs in the release build of this program.
pub(crate) fn measure_retrieval(words: &[&str]) -> anyhow::Result<()> {
    retrieval::run(&retrieval::Request::parse(words)?)
}

/// Measures; runs in the release build of this program.
pub(crate) fn measure() -> anyhow::Result<()> {
    let work = target().join("bench");
    let catalog = work.join("catalog");
    generate(&catalog)?;
    let catalog = catalog.to_string_lossy().into_owned();
    let large = ["--catalog", &catalog, "operator"];
    let figures = json!({
        "capabilities": capabilities()?,
        "run_tool": run_tool(&work)?,
        "start_ms": { "shipped_catalog": start(&["operator"])?, "tools_300": start(&large)? },
        "idle_rss_mib": { "shipped_catalog": resident(&["operator"])?, "tools_300": resident(&large)? },
        "actions_10000": large::measure(&work)?,
    });
    let mut out = std::io::stdout();
    writeln!(out, "{}", serde_json::to_string_pretty(&figures)?)?;
    Ok(())
}

/// The floor: a loop that parses each line and answers with as many bytes as it is told.
pub(crate) fn floor(bytes: &str) -> anyhow::Result<()> {
    let text = "x".repeat(bytes.parse()?);
    let (input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    for line in input.lines() {
        let request: Value = serde_json::from_str(&line?)?;
        let mut answer =
            serde_json::to_vec(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": { "text": text } }))?;
        answer.push(b'\n');
        output.write_all(&answer)?;
        output.flush()?;
    }
    Ok(())
}

/// A median `capabilities` call, and the same bytes from the floor.
fn capabilities() -> anyhow::Result<Value> {
    let call = request("capabilities", json!({}));
    let mut ours = on_one_core(&binary(), &["operator"])?;
    ours.open()?;
    let bytes = ours.ask(&call)?.len();
    let own = std::env::current_exe()?;
    let size = bytes.saturating_sub(60).to_string();
    let mut bare = on_one_core(&own, &["bench-floor", &size])?;
    let (mut ours_us, mut bare_us) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        for _ in 0..CALLS {
            bare_us.push(timed(|| bare.ask(&call))?);
            ours_us.push(timed(|| ours.ask(&call))?);
        }
    }
    let (ours_us, bare_us) = (median(ours_us), median(bare_us));
    Ok(json!({ "answer_bytes": bytes, "ours_us": ours_us, "floor_us": bare_us, "ratio": ours_us / bare_us }))
}

/// Both sides on the same core where that can be had (`taskset`, on Linux): to wake a process on another core costs several
/// times what either side does, and without this it is chance which of the two pays for it.
fn on_one_core(program: &Path, args: &[&str]) -> anyhow::Result<Peer> {
    let Ok(taskset) = which::which("taskset") else { return Peer::start(program, args) };
    let program = program.to_string_lossy();
    Peer::start(&taskset, &[&["-c", "0", program.as_ref()], args].concat())
}

/// A median `run_tool` of `/bin/true`, and a bare spawn and wait of it.
fn run_tool(work: &Path) -> anyhow::Result<Value> {
    let catalog = work.join("true");
    write(
        &catalog.join("tools/nothing/tool.yaml"),
        "name: nothing\ndescription: Does nothing.\nruntime: process\nentrypoint: /bin/true\neffect: read_only\n",
    )?;
    let catalog = catalog.to_string_lossy().into_owned();
    let mut ours = Peer::start(&binary(), &["--catalog", &catalog, "operator"])?;
    ours.open()?;
    let call = request("run_tool", json!({ "tool": "nothing" }));
    let answer = ours.ask(&call)?;
    if answer.contains("\"isError\":true") {
        bail!("the tool of the bench does not run: {answer}");
    }
    let (mut ours_us, mut bare_us) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        for _ in 0..RUNS {
            bare_us.push(timed(|| {
                Ok(program(Path::new("/bin/true"))
                    .stdin(Stdio::null())
                    .stdout(Stdio::piped())
                    .stderr(Stdio::piped())
                    .output()?)
            })?);
            ours_us.push(timed(|| ours.ask(&call))?);
        }
    }
    let (ours_us, bare_us) = (median(ours_us), median(bare_us));
    Ok(json!({ "ours_us": ours_us, "bare_spawn_us": bare_us, "added_ms": (ours_us - bare_us) / 1000.0 }))
}

/// From spawn to the first answer.
fn start(args: &[&str]) -> anyhow::Result<f64> {
    let mut times = Vec::new();
    for _ in 0..ROUNDS * STARTS {
        let started = Instant::now();
        let mut peer = Peer::start(&binary(), args)?;
        peer.open()?;
        times.push(started.elapsed());
    }
    Ok(median(times) / 1000.0)
}

/// Resident memory once a first list is answered.
fn resident(args: &[&str]) -> anyhow::Result<f64> {
    let mut peer = Peer::start(&binary(), args)?;
    peer.open()?;
    peer.ask(&request("capabilities", json!({})))?;
    peer.resident()
}

/// A catalog of 300 tools with five actions of four arguments each.
fn generate(catalog: &Path) -> anyhow::Result<()> {
    for tool in 0..TOOLS {
        let verbs = ["list", "get", "search", "update", "delete"];
        write_tool(catalog, tool, &verbs.map(|verb| format!("{verb}-records")))?;
    }
    Ok(())
}

/// A tool with these actions of four arguments each.
fn write_tool(catalog: &Path, tool: usize, actions: &[String]) -> anyhow::Result<()> {
    let mut text = format!(
        "name: tool-{tool}\ndescription: Works on the records of department {tool}.\nversion: 1.0.0\nruntime: python\nentrypoint: main.py\nsecrets: []\nactions:\n"
    );
    for action in actions {
        writeln!(text, "  - name: {action}\n    description: Does {action} for department {tool}.\n    args:")?;
        for argument in ["filter", "order", "fields", "max-results"] {
            writeln!(
                text,
                "      - {{name: {argument}, type: string, description: The {argument} that {action} is to use}}"
            )?;
        }
    }
    write(&catalog.join(format!("tools/tool-{tool}/tool.yaml")), &text)?;
    write(&catalog.join(format!("tools/tool-{tool}/main.py")), "print('{}')\n")
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    std::fs::create_dir_all(path.parent().unwrap_or(path))?;
    Ok(std::fs::write(path, text)?)
}

fn request(tool: &str, arguments: Value) -> String {
    json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": { "name": tool, "arguments": arguments } })
        .to_string()
}

fn timed<T>(work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<Duration> {
    let started = Instant::now();
    work()?;
    Ok(started.elapsed())
}

/// The median in microseconds.
fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times.get(times.len() / 2).map_or(0.0, |time| time.as_secs_f64() * 1e6)
}

#[expect(clippy::disallowed_methods, reason = "a bench starts what it measures")]
fn program(path: &Path) -> Command {
    Command::new(path)
}

/// A server at the other end of two pipes.
struct Peer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    line: String,
}

impl Peer {
    fn start(path: &Path, args: &[&str]) -> anyhow::Result<Peer> {
        Peer::start_with(path, args, &[])
    }

    fn start_with(path: &Path, args: &[&str], variables: &[(&str, &str)]) -> anyhow::Result<Peer> {
        let mut command = program(path);
        // The user's own cache is none of the bench's business.
        command.args(args).env("GATELATCH_CACHE", target().join("bench/cache")).envs(variables.iter().copied());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let input = child.stdin.take().context("no pipe")?;
        let output = BufReader::new(child.stdout.take().context("no pipe")?);
        Ok(Peer { child, input, output, line: String::new() })
    }

    /// Opens the legacy era, as most clients do.
    fn open(&mut self) -> anyhow::Result<()> {
        let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "bench", "version": "1" } } });
        self.ask(&hello.to_string())?;
        writeln!(self.input, r#"{{"jsonrpc":"2.0","method":"notifications/initialized"}}"#)?;
        Ok(())
    }

    /// Resident memory in MiB.
    fn resident(&self) -> anyhow::Result<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))
            .context("only Linux tells resident memory")?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
        let kib: f64 = line.trim().trim_end_matches(" kB").trim().parse()?;
        Ok((kib / 1024.0 * 100.0).round() / 100.0)
    }

    fn ask(&mut self, line: &str) -> anyhow::Result<String> {
        self.input.write_all(format!("{line}\n").as_bytes())?;
        self.line.clear();
        if self.output.read_line(&mut self.line)? == 0 {
            bail!("the server ended");
        }
        Ok(self.line.clone())
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        if self.child.kill().is_err() {
            say("a server of the bench had ended before");
        }
        let _ = self.child.wait();
    }
}
