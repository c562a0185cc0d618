//! What a child's end means: a value, or a failure with what the child said about it.
//!
//! Refuses to know how the child was run. Start at `outcome`.

use gatelatch_registry::catalog::ActionManifest;
use gatelatch_secrets::secret::Loan;
use gatelatch_spawn::child::{Ended, Ending};
use serde_json::{Map, Value, json};

use crate::progress;
use crate::runner::{Done, RunError};

/// How much of the end of standard error a failure carries, in bytes.
pub(crate) const TAIL: usize = 16 * 1024;
/// How much of the beginning of a result that is too large a failure carries, in bytes.
const HEAD: usize = 4 * 1024;

/// What became of a run.
pub(crate) fn outcome(ended: Ended, action: &ActionManifest, loan: &Loan) -> Result<Done, RunError> {
    match ended.ending {
        Ending::Exited(0) => success(ended, action, loan),
        Ending::Exited(exit_code) => Err(RunError::Failed { exit_code, error: masked(failure(&ended), loan) }),
        Ending::Signalled(signal) => Err(RunError::Signalled { signal, stderr: errors(&ended.stderr_tail) }),
        Ending::TimedOut => {
            Err(RunError::TimedOut { after: action.limits.timeout, stderr: errors(&ended.stderr_tail) })
        }
        Ending::Cancelled => Err(RunError::Cancelled),
    }
}

fn success(ended: Ended, action: &ActionManifest, loan: &Loan) -> Result<Done, RunError> {
    let limit = action.limits.max_output_bytes;
    if ended.stdout_bytes > limit {
        return Err(RunError::OutputTooLarge {
            limit,
            bytes: ended.stdout_bytes,
            head: head(&ended.stdout),
            narrow_with: action.narrow_with.clone(),
        });
    }
    Ok(Done {
        value: masked(value(&ended.stdout), loan),
        exit_code: 0,
        elapsed: ended.elapsed,
        stdout_bytes: ended.stdout_bytes,
    })
}

/// JSON is itself; all else is text, without the line end that closes it.
fn value(stdout: &[u8]) -> Value {
    let stdout = stdout.strip_prefix(b"\xef\xbb\xbf").unwrap_or(stdout);
    serde_json::from_slice(stdout).unwrap_or_else(|_| text(stdout))
}

/// Text as an object; `lossy` says that there were bytes in it that are no text.
fn text(bytes: &[u8]) -> Value {
    let text = String::from_utf8_lossy(bytes);
    let text_is_whole = matches!(text, std::borrow::Cow::Borrowed(_));
    let text = text.trim_end_matches(['\n', '\r']);
    match text_is_whole {
        true => json!({ "text": text }),
        false => json!({ "text": text, "lossy": true }),
    }
}

/// What the child said about its failure: an object on standard output, an object on standard error (all of it, or its
/// last line), or else the tail of what it wrote.
fn failure(ended: &Ended) -> Value {
    if let Ok(Value::Object(error)) = serde_json::from_slice(&ended.stdout) {
        return Value::Object(error);
    }
    let errors = errors(&ended.stderr_tail);
    let last = errors.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    for candidate in [errors.as_str(), last] {
        if let Ok(Value::Object(error)) = serde_json::from_str(candidate) {
            return Value::Object(error);
        }
    }
    match errors.is_empty() {
        true => text(&ended.stdout[ended.stdout.len().saturating_sub(TAIL)..]),
        false => json!({ "text": errors }),
    }
}

/// The tail of standard error as text, without the lines that told progress.
fn errors(tail: &[u8]) -> String {
    let mut lines = tail.split_inclusive(|byte| *byte == b'\n').peekable();
    // A full tail begins somewhere within a line.
    if tail.len() >= TAIL && lines.clone().count() > 1 {
        lines.next();
    }
    let kept: Vec<u8> = lines.filter(|line| progress::step(line).is_none()).flatten().copied().collect();
    String::from_utf8_lossy(&kept).trim_end_matches(['\n', '\r']).to_owned()
}

fn head(stdout: &[u8]) -> String {
    let head = &stdout[..stdout.len().min(HEAD)];
    // The cut may stand within a character.
    let whole = match std::str::from_utf8(head) {
        Err(error) if error.error_len().is_none() => &head[..error.valid_up_to()],
        _ => head,
    };
    String::from_utf8_lossy(whole).into_owned()
}

/// Masks what JSON's escapes hid from the filter on the stream: a child may write any character as `\uXXXX`.
fn masked(value: Value, loan: &Loan) -> Value {
    if loan.is_empty() {
        return value;
    }
    match value {
        Value::String(text) => Value::String(loan.mask(&text)),
        Value::Array(items) => items.into_iter().map(|item| masked(item, loan)).collect(),
        Value::Object(fields) => {
            let fields = fields.into_iter().map(|(name, field)| (loan.mask(&name), masked(field, loan)));
            Value::Object(fields.collect::<Map<String, Value>>())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::time::Duration;

    fn failed(stdout: &[u8], stderr: &[u8]) -> Value {
        failure(&Ended {
            ending: Ending::Exited(1),
            stdout: stdout.to_vec(),
            stdout_bytes: stdout.len() as u64,
            stderr_tail: stderr.to_vec(),
            elapsed: Duration::ZERO,
        })
    }

    #[test]
    fn json_on_standard_output_is_the_value_and_all_else_is_text() {
        assert_eq!(value(b" {\"a\": [1]}\n"), json!({"a": [1]}));
        assert_eq!(value(b"\xef\xbb\xbf[1]"), json!([1]));
        assert_eq!(value(b"42\n"), json!(42));
        assert_eq!(value(b"Hello, MCP!\r\n"), json!({"text": "Hello, MCP!"}));
        assert_eq!(value(b"  two\n lines\n\n"), json!({"text": "  two\n lines"}));
        assert_eq!(value(b"{\"a\": 1} {"), json!({"text": "{\"a\": 1} {"}));
        assert_eq!(value(b"NaN"), json!({"text": "NaN"}));
        assert_eq!(value(b""), json!({"text": ""}));
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced_and_said_so() {
        assert_eq!(value(b"caf\xe9\n"), json!({"text": "caf\u{fffd}", "lossy": true}));
        assert_eq!(value(b"{\"a\": \"\xe9\"}"), json!({"text": "{\"a\": \"\u{fffd}\"}", "lossy": true}));
    }

    #[test]
    fn json_too_deep_to_read_is_text() {
        let deep = "[".repeat(100_000);
        assert_eq!(value(deep.as_bytes()), json!({ "text": deep }));
    }

    #[test]
    fn a_failure_carries_the_child_s_own_error() {
        let own = json!({"error": "no such sheet"});
        assert_eq!(failed(b"{\"error\": \"no such sheet\"}\n", b"noise"), own);
        assert_eq!(failed(b"noise", b"warning\n{\"error\": \"no such sheet\"}\n\n"), own);
        assert_eq!(failed(b"", b"{\n \"error\":\n \"no such sheet\"}\n"), own, "over several lines");
    }

    #[test]
    fn a_failure_without_an_own_error_carries_the_tail() {
        assert_eq!(failed(b"out", b"Traceback\nValueError\n"), json!({"text": "Traceback\nValueError"}));
        assert_eq!(failed(b"out\n", b""), json!({"text": "out"}));
        assert_eq!(failed(b"[1]", b"{\"level\": 1}\nboom"), json!({"text": "{\"level\": 1}\nboom"}));
        assert_eq!(failed(b"", b""), json!({"text": ""}));
    }

    #[test]
    fn progress_is_no_part_of_the_tail() {
        let stderr = b"one\n{\"progress\": 1}\ntwo\n{\"progress\": 2, \"message\": \"x\"}\n";
        assert_eq!(failed(b"", stderr), json!({"text": "one\ntwo"}));
    }

    #[test]
    fn a_tail_that_was_cut_begins_with_a_whole_line() {
        let mut stderr = vec![b'x'; TAIL - 8];
        stderr.extend(b"\nthe end");
        assert_eq!(failed(b"", &stderr), json!({"text": "the end"}));
        let one_line = vec![b'x'; TAIL];
        assert_eq!(failed(b"", &one_line), json!({"text": "x".repeat(TAIL)}), "but never with nothing");
    }

    #[test]
    fn a_head_ends_with_a_whole_character() {
        let text = "x".repeat(HEAD - 1) + "é";
        assert_eq!(head(text.as_bytes()), "x".repeat(HEAD - 1));
    }

    #[test]
    fn a_secret_hidden_by_json_s_escapes_is_masked() {
        let environment = BTreeMap::from([("KEY".to_owned(), "hunter2!".to_owned())]);
        let loan = Loan::borrow(&environment, [("KEY", true)]).unwrap();
        let sly = value(br#"{"\u0068unter2!": ["\u0068\u0075nter2!", 1]}"#);
        assert_eq!(masked(sly, &loan), json!({"***KEY***": ["***KEY***", 1]}));
    }
}
