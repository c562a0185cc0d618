//! The digest as other languages compute it: the programs in docs/verify.md, run as they stand there.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use gatelatch_protocol::digest::digest_of;
use gatelatch_protocol::json;

/// Text that each language would rather write its own way, keys whose order depends on what is compared, nesting, numbers.
const TOOLS: &str = r#"[
  {
    "name": "größe_ändern",
    "title": "Größe \"ändern\" \\ \/ \b\f\n\r\t\u0000\u001f\u007f\u0080\u2028\u2029\ufeff\u00e9 e\u0301 😀 \ud83d\ude00 \uffff",
    "inputSchema": {
      "type": "object",
      "properties": {
        "\ufb33": {"const": 1}, "\ud83d\ude00": {"const": 2}, "\uffff": {"const": 3}, "é": {"const": 4}, "e\u0301": {"const": 5},
        "": {}, "10": {}, "9": {}, "a": {}, "B": {}, "aa": {}, "_": {}, "\r": {}, "\u0080": {}, "__proto__": {"type": "null"}
      },
      "required": [], "additionalProperties": false, "default": null
    }
  },
  {
    "outputSchema": {"anyOf": [[[]], [{}], {"enum": [true, false, null, "", "null"]}]},
    "numbers": [
      0, -0, 0.0, -0.0, 1, 1.0, -1.50, 10.0e2, 1E3, 0.1, 0.2, 0.30000000000000004, 1.1, 2.5e-1, 0.0001, 0.00012, -0.001,
      1e2, 123456.789, 100000.1, 9007199254740991, -9007199254740991, 4294967296, 1e15, 123456789012345.5, 0.5, 1e0
    ],
    "name": "find"
  }
]"#;

/// A program of the document by its file's name.
fn program(name: &str) -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/verify.md");
    let page = std::fs::read_to_string(page).unwrap();
    let begin = page.split("```").find(|block| block.lines().next().is_some_and(|info| info.ends_with(name)));
    begin.unwrap_or_else(|| panic!("docs/verify.md has no {name}")).split_once('\n').unwrap().1.to_owned()
}

#[allow(clippy::disallowed_methods, reason = "a test runs what the document shows")]
fn digest_by(interpreter: &str, name: &str, tools: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(name);
    std::fs::write(&file, program(name)).unwrap();
    let mut command = Command::new(interpreter);
    // Some systems take standard input to be in another encoding.
    command.arg(&file).env("PYTHONIOENCODING", "latin-1").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(tools.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{interpreter} failed");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn ten_lines_of_python_and_of_javascript_compute_the_digest_that_we_compute() {
    let ours = digest_of(&json::parse(TOOLS).unwrap());
    assert_eq!(digest_by("python3", "tools_digest.py", TOOLS), ours);
    assert_eq!(digest_by("node", "tools_digest.mjs", TOOLS), ours);
    let answer = format!("{{\"tools\": {TOOLS}}}");
    assert_eq!(digest_by("python3", "tools_digest.py", &answer), ours);
    assert_eq!(digest_by("node", "tools_digest.mjs", &answer), ours);
    // What was once published stays what it was.
    assert_eq!(ours, "c014646aaa803080c3a0184f742483fc01801188af5312e2dc71b1c88e744485");
}

#[test]
fn javascript_holds_for_every_double_and_python_up_to_where_the_document_says() {
    let beyond =
        "[1e-5, 1e-7, 5e-324, 1e21, 1.7976931348623157e308, 123456789012345680000, 333333333.33333329, 1e16, 1e20]";
    let ours = digest_of(&json::parse(beyond).unwrap());
    assert_eq!(digest_by("node", "tools_digest.mjs", beyond), ours);
    assert_ne!(digest_by("python3", "tools_digest.py", "[1e-5]"), digest_of(&json::parse("[1e-5]").unwrap()));
}
