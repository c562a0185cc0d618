//! What a child's end means: a value, or a failure with what the child said about it.
//!
//! The child's output comes raw, and everything that leaves here is masked. Refuses to know how the child was run. Start
//! at `outcome`.

use gatelatch_registry::catalog::ActionManifest;
use gatelatch_secrets::secret::Loan;
use gatelatch_spawn::child::{Ended, Ending};
use serde_json::{Value, json};

use crate::runner::{Done, RunError};
use crate::text::{self, Text};
use crate::tree::{Place, Shortened, Unit, json_bytes};
use crate::{bounded, json, progress};

/// How much of the end of standard error a failure carries, in bytes.
pub(crate) const TAIL: usize = 16 * 1024;
/// How much of the beginning of a result that is too large a failure carries, in bytes.
const HEAD: usize = 4 * 1024;

/// What became of a run. Beyond the limits the child's output holds as much more as the loan reaches. Of what the child
/// says only as much is held as `keep` bytes can show.
pub(crate) fn outcome(
    ended: Ended,
    action: &ActionManifest,
    loan: &Loan,
    keep: Option<usize>,
) -> Result<Done, RunError> {
    let errors = |ended: &Ended| Errors::new(&ended.stderr_tail, loan).text(loan);
    match ended.ending {
        Ending::Exited(0) => success(ended, action, loan, keep),
        Ending::Exited(exit_code) => {
            let Said { held: (error, shortened), is_own } = failure(&ended, action, loan, keep);
            Err(RunError::Failed { exit_code, error, is_own, shortened })
        }
        Ending::Signalled(signal) => Err(RunError::Signalled { signal, stderr: errors(&ended) }),
        Ending::TimedOut => Err(RunError::TimedOut { after: action.limits.timeout, stderr: errors(&ended) }),
        Ending::Cancelled => Err(RunError::Cancelled),
    }
}

fn success(ended: Ended, action: &ActionManifest, loan: &Loan, keep: Option<usize>) -> Result<Done, RunError> {
    let limit = action.limits.max_output_bytes;
    if ended.stdout_bytes > limit {
        return Err(RunError::OutputTooLarge {
            limit,
            bytes: ended.stdout_bytes,
            head: head(kept(&ended, action), &ended.stdout, loan),
            narrow_with: action.narrow_with.clone(),
        });
    }
    let (value, shortened) = value(ended.stdout, loan, keep);
    Ok(Done { value, shortened, exit_code: 0, elapsed: ended.elapsed, stdout_bytes: ended.stdout_bytes })
}

/// How much of standard output is within the limit.
fn kept(ended: &Ended, action: &ActionManifest) -> usize {
    ended.stdout.len().min(usize::try_from(action.limits.max_output_bytes).unwrap_or(usize::MAX))
}

/// A value, and what is missing from it.
type Held = (Value, Option<Shortened>);

/// JSON is itself; all else is text, without the line end that closes it.
fn value(stdout: Vec<u8>, loan: &Loan, keep: Option<usize>) -> Held {
    let said = stdout.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&stdout);
    match keep {
        Some(keep) if said.len() > keep => match bounded::read(said, loan, keep) {
            Some(read) => {
                // It is no longer needed, and the value is not there yet.
                drop(stdout);
                read.into_value()
            }
            None => long_text(said, loan, keep),
        },
        _ => {
            let text = || text(&loan.mask_within(said, 0..said.len()));
            (json::whole(said, loan).unwrap_or_else(text), None)
        }
    }
}

/// Text as an object.
fn text(bytes: &[u8]) -> Value {
    let text = String::from_utf8_lossy(bytes);
    let is_lossy = matches!(text, std::borrow::Cow::Owned(_));
    text_object(text.trim_end_matches(['\n', '\r']), is_lossy)
}

/// `lossy` says that there were bytes in it that are no text.
fn text_object(text: &str, is_lossy: bool) -> Value {
    match is_lossy {
        false => json!({ "text": text }),
        true => json!({ "text": text, "lossy": true }),
    }
}

/// The beginning of a text as an object.
fn long_text(bytes: &[u8], loan: &Loan, keep: usize) -> Held {
    let Text { kept, characters, bytes, is_lossy } = text::output(bytes, loan, keep);
    let around = json_bytes(&text_object("", is_lossy)) - json_bytes(&Value::from(""));
    let left = kept.chars().count() as u64;
    let place = Place { at: String::new(), kept: left, of: characters, unit: Unit::Characters };
    let shortened = Shortened { bytes, places: vec![place] }.within("text", around as u64);
    (text_object(&kept, is_lossy), (left < characters).then_some(shortened))
}

/// What a child that failed said.
struct Said {
    held: Held,
    /// Whether it is the child's own JSON error, and not just the end of what it wrote.
    is_own: bool,
}

/// What the child said about its failure: an object on standard output, an object on standard error (all of it, or its
/// last line), or else the tail of what it wrote. An object without anything in it says nothing.
fn failure(ended: &Ended, action: &ActionManifest, loan: &Loan, keep: Option<usize>) -> Said {
    let error = |said: &[u8]| {
        json::read(said, loan, keep).filter(|(error, _)| error.as_object().is_some_and(|error| !error.is_empty()))
    };
    let errors = Errors::new(&ended.stderr_tail, loan);
    let own = error(&ended.stdout).or_else(|| error(errors.raw())).or_else(|| error(errors.last_line()));
    if let Some(held) = own {
        return Said { held, is_own: true };
    }
    let text = match errors.text(loan) {
        nothing if nothing.is_empty() => text(&tail(&ended.stdout, kept(ended, action), loan)),
        errors => text_object(&errors, false),
    };
    Said { held: (text, None), is_own: false }
}

/// The last of the first `end` bytes, masked.
fn tail(stdout: &[u8], end: usize, loan: &Loan) -> Vec<u8> {
    let from = end.saturating_sub(TAIL);
    let known = from.saturating_sub(loan.reach())..stdout.len().min(end + loan.reach());
    let shown = from - known.start..end - known.start;
    loan.mask_within(&stdout[known], shown)
}

/// The tail of standard error, raw, without the lines that told progress.
struct Errors {
    bytes: Vec<u8>,
    /// What stands before this place was cut off, and is only kept for a secret that reaches over the cut.
    from: usize,
}

impl Errors {
    fn new(tail: &[u8], loan: &Loan) -> Errors {
        let reach = loan.reach();
        let mut from = 0;
        if tail.len() >= TAIL + reach {
            // It begins somewhere within a line, and with no other line than that one it is better than nothing.
            let line = tail[reach..].iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1);
            from = if reach + line < tail.len() { reach + line } else { reach };
        }
        let mut bytes = tail[..from].to_vec();
        let lines = tail[from..].split_inclusive(|byte| *byte == b'\n');
        bytes.extend(lines.filter(|line| progress::step(line, &Loan::default()).is_none()).flatten());
        Errors { bytes, from }
    }

    fn raw(&self) -> &[u8] {
        &self.bytes[self.from..]
    }

    fn last_line(&self) -> &[u8] {
        let mut lines = self.raw().rsplit(|byte| *byte == b'\n');
        lines.find(|line| !line.trim_ascii().is_empty()).unwrap_or_default()
    }

    fn text(&self, loan: &Loan) -> String {
        let masked = loan.mask_within(&self.bytes, self.from..self.bytes.len());
        String::from_utf8_lossy(&masked).trim_end_matches(['\n', '\r']).to_owned()
    }
}

fn head(kept: usize, stdout: &[u8], loan: &Loan) -> String {
    let shown = kept.min(HEAD);
    let known = &stdout[..stdout.len().min(shown + loan.reach())];
    let head = loan.mask_within(known, 0..shown);
    // The cut may stand within a character.
    let whole = match std::str::from_utf8(&head) {
        Err(error) if error.error_len().is_none() => &head[..error.valid_up_to()],
        _ => head.as_slice(),
    };
    String::from_utf8_lossy(whole).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatelatch_registry::catalog::Limits;
    use std::collections::BTreeMap;
    use std::time::Duration;

    fn failed(stdout: &[u8], stderr: &[u8]) -> Value {
        failure(&ended(1, stdout, stderr), &action(1 << 20), &Loan::default(), None).held.0
    }

    fn ended(exit_code: i32, stdout: &[u8], stderr: &[u8]) -> Ended {
        Ended {
            ending: Ending::Exited(exit_code),
            stdout: stdout.to_vec(),
            stdout_bytes: stdout.len() as u64,
            stderr_tail: stderr.to_vec(),
            elapsed: Duration::ZERO,
        }
    }

    fn action(max_output_bytes: u64) -> ActionManifest {
        let limits = Limits { max_output_bytes, ..Limits::default() };
        ActionManifest { limits, ..ActionManifest::new(None, "") }
    }

    fn loan(secret: &str) -> Loan {
        let environment = BTreeMap::from([("KEY".to_owned(), secret.to_owned())]);
        Loan::borrow(&environment, [("KEY", true)]).unwrap()
    }

    fn value(stdout: &[u8]) -> Value {
        super::value(stdout.to_vec(), &Loan::default(), None).0
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
    fn a_text_that_the_child_wrote_as_json_is_its_own_and_one_that_is_made_of_its_tail_is_not() {
        let said = |stderr: &[u8]| failure(&ended(1, b"", stderr), &action(1 << 20), &Loan::default(), None);
        let (own, tail) = (said(b"{\"text\": \"oops\"}"), said(b"oops"));
        assert_eq!(own.held, tail.held);
        assert_eq!((own.is_own, tail.is_own), (true, false));
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
    fn an_object_with_nothing_in_it_says_nothing() {
        assert_eq!(failed(b"{}\n", b"Traceback\nboom"), json!({"text": "Traceback\nboom"}));
        assert_eq!(failed(b"{}", b"boom\n{}\n"), json!({"text": "boom\n{}"}));
        assert_eq!(failed(b"{}", b"noise\n{\"error\": 1}"), json!({"error": 1}));
        assert_eq!(failed(b"{}", b""), json!({"text": "{}"}), "but more than nothing at all");
    }

    #[test]
    fn a_head_ends_with_a_whole_character() {
        let text = "x".repeat(HEAD - 1) + "é";
        assert_eq!(head(text.len(), text.as_bytes(), &Loan::default()), "x".repeat(HEAD - 1));
    }

    #[test]
    fn no_part_of_a_secret_is_left_at_the_cut_of_a_head() {
        let loan = loan("hunter2!");
        for before in HEAD - 8..HEAD {
            let text = "-".repeat(before) + "hunter2!" + &"-".repeat(HEAD);
            assert_eq!(head(text.len(), text.as_bytes(), &loan), "-".repeat(before) + "***KEY***");
        }
        let narrow = action(4);
        let mut ended = ended(0, b"-hunter2!---", b"");
        ended.stdout.truncate(4 + loan.reach());
        match success(ended, &narrow, &loan, None) {
            Err(RunError::OutputTooLarge { head, .. }) => assert_eq!(head, "-***KEY***"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn no_part_of_a_secret_is_left_at_the_cut_of_a_tail() {
        let loan = loan("hunter2!");
        for after in TAIL - 7..TAIL {
            let stderr = "-".repeat(TAIL) + "hunter2!" + &"-".repeat(after);
            let tail = &stderr.as_bytes()[stderr.len() - TAIL - loan.reach()..];
            assert_eq!(Errors::new(tail, &loan).text(&loan), "-".repeat(after), "{after}");
            assert_eq!(
                failure(&ended(1, stderr.as_bytes(), b""), &action(1 << 20), &loan, None).held.0,
                json!({"text": "-".repeat(after)})
            );
        }
    }

    #[test]
    fn a_secret_is_masked_in_what_is_no_json_however_it_is_escaped() {
        let loan = loan("hunter2!");
        let log = br#"log: {"v":"\u0068\u0075\u006e\u0074\u0065\u0072\u0032\u0021"} end"#;
        let masked = r#"log: {"v":"***KEY***"} end"#;
        assert_eq!(super::value(log.to_vec(), &loan, None).0, json!({ "text": masked }));
        assert_eq!(head(log.len(), log, &loan), masked);
        assert_eq!(Errors::new(log, &loan).text(&loan), masked);
    }

    #[test]
    fn an_own_error_is_masked_and_whole() {
        let loan = loan("12345678");
        let check = |stdout: &[u8], stderr: &[u8]| {
            let (error, _) = failure(&ended(1, stdout, stderr), &action(1 << 20), &loan, None).held;
            assert_eq!(error, json!({"error": "***KEY***", "code": "***KEY***"}));
        };
        let own = br#"{"error": "\u00312345678", "code": 12345678}"#;
        check(own, b"");
        check(b"", own);
        check(b"", &[b"noise\n".as_slice(), own, b"\n\n"].concat());
    }
}
