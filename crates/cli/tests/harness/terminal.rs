//! The binary on a terminal of its own, answered question by question. Python opens the terminal.

use std::process::Stdio;

use super::server::Bench;

/// Answers each prompt (what ends in `]: ` or `yes: `) with the next answer, then says how it ended.
const PLAYER: &str = r#"
import os, pty, sys
answers = sys.argv[1].split("|")
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[2], sys.argv[2:])
told = b""
while True:
    try:
        read = os.read(terminal, 4096)
    except OSError:
        break
    if not read:
        break
    told += read
    if told.endswith((b"]: ", b"yes: ")) and answers:
        os.write(terminal, answers.pop(0).encode() + b"\n")
_, status = os.waitpid(pid, 0)
sys.stdout.buffer.write(told.replace(b"\r\n", b"\n"))
sys.exit(os.waitstatus_to_exitcode(status))
"#;

/// Runs a verb on a terminal with these answers: exit code and all that was shown.
pub(crate) fn talk(bench: &Bench, answers: &[&str], args: &[&str]) -> (i32, String) {
    let binary = bench.command(&[]);
    let mut words = vec!["-c".to_owned(), PLAYER.to_owned(), answers.join("|")];
    words.push(binary.get_program().to_string_lossy().into_owned());
    words.extend(args.iter().map(|arg| (*arg).to_owned()));
    let mut python = bench.program("python3");
    let output = python.args(words).stdin(Stdio::null()).output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    (output.status.code().unwrap_or(-1), told)
}
