//! Plays a conversation that is written down against a server, over any pair of pipes. Knows no server.
//!
//! A transcript has one step a line:
//!
//! ```text
//! # a comment
//! -> text          sends the text and a newline
//! >> text          sends the text alone
//! => "\u00ff"      sends the bytes that a JSON string spells with characters up to U+00FF
//! <- {"a": "*"}    expects this line next; the string "*" stands for anything
//! <~ {"a": 1}      the same, but in any order among the `<~` that stand together
//! -- close         ends the input
//! -- ended         expects the end of the output
//! ```

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use serde_json::Value;

/// How long a server may take over one step before the conversation counts as stuck.
const PATIENCE: Duration = Duration::from_secs(20);

/// One step.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Send(Vec<u8>),
    Expect(Value),
    ExpectInAnyOrder(Vec<Value>),
    Close,
    Ended,
}

/// Reads a transcript; the error names the line.
pub(crate) fn parse(text: &str) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let wrong = |why: &dyn std::fmt::Display| format!("line {}: {why}: {line}", number + 1);
        let (mark, rest) = line.split_at_checked(2).ok_or_else(|| wrong(&"no step"))?;
        let rest = rest.strip_prefix(' ').unwrap_or(rest);
        match mark {
            "->" => steps.push(Step::Send(format!("{rest}\n").into_bytes())),
            ">>" => steps.push(Step::Send(rest.as_bytes().to_vec())),
            "=>" => steps.push(Step::Send(bytes(rest).map_err(|why| wrong(&why))?)),
            "<-" => steps.push(Step::Expect(serde_json::from_str(rest).map_err(|why| wrong(&why))?)),
            "<~" => {
                let value = serde_json::from_str(rest).map_err(|why| wrong(&why))?;
                match steps.last_mut() {
                    Some(Step::ExpectInAnyOrder(values)) => values.push(value),
                    _ => steps.push(Step::ExpectInAnyOrder(vec![value])),
                }
            }
            "--" if rest == "close" => steps.push(Step::Close),
            "--" if rest == "ended" => steps.push(Step::Ended),
            _ => return Err(wrong(&"no step")),
        }
    }
    Ok(steps)
}

fn bytes(spelled: &str) -> Result<Vec<u8>, String> {
    let text: String = serde_json::from_str(spelled).map_err(|error| error.to_string())?;
    text.chars().map(|each| u8::try_from(u32::from(each)).map_err(|error| error.to_string())).collect()
}

/// Plays the steps. The error shows what was said up to the step that failed.
pub(crate) fn play(
    steps: &[Step],
    input: impl Write + Send + 'static,
    output: impl Read + Send + 'static,
) -> Result<(), String> {
    let mut input: Option<Box<dyn Write + Send>> = Some(Box::new(input));
    let lines = lines_of(output);
    let mut said = String::new();
    for step in steps {
        if let Err(why) = play_step(step, &mut input, &lines, &mut said) {
            return Err(format!("{why}\nthe conversation so far:\n{said}"));
        }
    }
    Ok(())
}

fn play_step(
    step: &Step,
    input: &mut Option<Box<dyn Write + Send>>,
    lines: &Receiver<String>,
    said: &mut String,
) -> Result<(), String> {
    match step {
        Step::Send(bytes) => {
            let _ = write!(said, "-> {}", String::from_utf8_lossy(bytes));
            let input = input.as_mut().ok_or("the input is closed already")?;
            input.write_all(bytes).and_then(|()| input.flush()).map_err(|error| format!("cannot send: {error}"))
        }
        Step::Close => {
            *input = None;
            said.push_str("-- close\n");
            Ok(())
        }
        Step::Expect(expected) => {
            let found = next(lines, said)?;
            if fits(expected, &found) { Ok(()) } else { Err(format!("expected {expected}\nfound    {found}")) }
        }
        Step::ExpectInAnyOrder(expected) => {
            let mut left: Vec<&Value> = expected.iter().collect();
            while !left.is_empty() {
                let found = next(lines, said)?;
                let Some(place) = left.iter().position(|expected| fits(expected, &found)) else {
                    return Err(format!("expected one of {left:?}\nfound {found}"));
                };
                left.remove(place);
            }
            Ok(())
        }
        Step::Ended => match lines.recv_timeout(PATIENCE) {
            Err(RecvTimeoutError::Disconnected) => Ok(()),
            Err(RecvTimeoutError::Timeout) => Err("the output does not end".to_owned()),
            Ok(line) => Err(format!("expected the end of the output, found {line}")),
        },
    }
}

fn next(lines: &Receiver<String>, said: &mut String) -> Result<Value, String> {
    let line = lines.recv_timeout(PATIENCE).map_err(|error| match error {
        RecvTimeoutError::Timeout => "nothing comes",
        RecvTimeoutError::Disconnected => "the output ended",
    })?;
    let _ = writeln!(said, "<- {line}");
    serde_json::from_str(&line).map_err(|error| format!("the server wrote what is no JSON: {error}"))
}

fn lines_of(output: impl Read + Send + 'static) -> Receiver<String> {
    let (send, lines) = channel();
    thread::spawn(move || {
        for line in BufReader::new(output).lines() {
            let Ok(line) = line else { return };
            if send.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

/// Whether what was found is what was expected, where `"*"` expects anything.
pub(crate) fn fits(expected: &Value, found: &Value) -> bool {
    match (expected, found) {
        (Value::String(any), _) if any == "*" => true,
        (Value::Array(expected), Value::Array(found)) => {
            expected.len() == found.len() && expected.iter().zip(found).all(|(expected, found)| fits(expected, found))
        }
        (Value::Object(expected), Value::Object(found)) => {
            expected.len() == found.len()
                && expected.iter().all(|(key, expected)| found.get(key).is_some_and(|found| fits(expected, found)))
        }
        _ => expected == found,
    }
}
