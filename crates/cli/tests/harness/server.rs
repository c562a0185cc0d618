//! The real binary over real pipes, one JSON line at a time. Knows no MCP beyond lines; the tests do.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long a test waits for one line before it fails.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A folder that vanishes, and the binary run in it with an environment of its own.
pub(crate) struct Bench {
    pub(crate) folder: tempfile::TempDir,
    variables: Vec<(String, String)>,
}

impl Bench {
    pub(crate) fn new() -> Bench {
        Bench { folder: tempfile::tempdir().unwrap(), variables: Vec::new() }
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    pub(crate) fn set(mut self, name: &str, value: impl AsRef<Path>) -> Bench {
        self.variables.push((name.to_owned(), value.as_ref().to_string_lossy().into_owned()));
        self
    }

    pub(crate) fn write(&self, below: &str, text: &str) {
        let path = self.path(below);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.program(env!("CARGO_BIN_EXE_gatelatch"));
        command.args(args);
        command
    }

    /// Any program in this folder and with this environment.
    #[allow(clippy::disallowed_methods, reason = "a test starts the binary under test")]
    pub(crate) fn program(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.folder.path()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", self.path("home"));
        for (name, value) in &self.variables {
            command.env(name, value);
        }
        command
    }

    /// Runs a verb to its end: exit code, standard output, standard error.
    pub(crate) fn run(&self, args: &[&str]) -> (i32, String, String) {
        let output = self.command(args).stdin(Stdio::null()).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
    }

    /// Starts a server.
    pub(crate) fn serve(&self, args: &[&str]) -> Server {
        self.serve_with(args, &[])
    }

    /// The same with further variables.
    pub(crate) fn serve_with(&self, args: &[&str], variables: &[(&str, &str)]) -> Server {
        let mut command = self.command(args);
        command.envs(variables.iter().copied());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let stderr = child.stderr.take().unwrap();
        let log = std::thread::spawn(move || std::io::read_to_string(stderr).unwrap_or_default());
        Server { input: child.stdin.take(), child, lines, log: Some(log), number: 0 }
    }
}

/// A server under test. Dropping it kills it.
pub(crate) struct Server {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    log: Option<std::thread::JoinHandle<String>>,
    number: u64,
}

impl Server {
    pub(crate) fn send(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_bytes()).unwrap();
        input.write_all(b"\n").unwrap();
        input.flush().unwrap();
    }

    /// The next line, which must be JSON and must come in time.
    pub(crate) fn receive(&mut self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("no line within {PATIENCE:?}"));
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("no JSON on standard output: {line}"))
    }

    /// Opens the legacy era.
    pub(crate) fn initialize(&mut self) -> Value {
        self.send(&json!({"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}).to_string());
        let answer = self.receive();
        self.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        answer
    }

    /// One request and its answer; notifications in between are passed over.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        self.number += 1;
        let id = self.number;
        self.send(&json!({"jsonrpc":"2.0","id":id,"method":method,"params":params}).to_string());
        loop {
            let answer = self.receive();
            if answer["id"] == id {
                return answer;
            }
        }
    }

    /// One tool call: whether it failed, and its text block as JSON where it is JSON.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> (bool, Value) {
        let answer = self.request("tools/call", json!({ "name": tool, "arguments": arguments }));
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {answer}"));
        let value = serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
        (result["isError"] == true, value)
    }

    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Closes the input and waits for the end: exit code, lines that were left, standard error.
    pub(crate) fn end(mut self) -> (i32, Vec<String>, String) {
        drop(self.input.take());
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < deadline, "the server outlives its input");
            std::thread::yield_now();
        };
        let left = self.lines.iter().collect();
        (status.code().unwrap_or(-1), left, self.log.take().unwrap().join().unwrap())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
