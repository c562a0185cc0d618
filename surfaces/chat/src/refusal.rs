//! How a call that did not end well is told here: in the names of the surface, with nothing of what it hides.
//!
//! A published tool has no confirmed twin, so that what the gate does not let through simply cannot be run. The
//! operation's own error, written as JSON, is passed on, the names of its arguments as the caller knows them; what else a
//! program wrote only where the declaration says so. Start at [`Wording::failure`].

use gatelatch_bridge::answer::{Answer, Status};
use gatelatch_registry::arguments::{ArgumentFault, ArgumentRule, Arguments};
use gatelatch_registry::catalog::Catalog;
use serde_json::{Map, Value, json};

use crate::link::LinkedCall;

/// What a caller can do about what is wrong on the server's side.
const OPERATOR: &str = "tell whoever runs this server; its log says why";
/// What a caller can do about a program that said nothing that callers may read. The log does not say it either: it may
/// hold arguments.
const RUNNER: &str = "tell whoever runs this server, who can run the same and read what the program wrote";
/// What stands for an argument of the operation that is not published.
const HIDDEN: &str = "a value that this server sets";
/// The same in a step that others ran before.
const PASSED_ON: &str = "a value from an earlier step";

/// The names of one call: what the operation calls its arguments, and what the caller calls them.
pub(crate) struct Wording<'t> {
    /// The published tool.
    pub(crate) tool: &'t str,
    /// What was called for it.
    pub(crate) call: &'t LinkedCall,
    /// An argument of the operation, and the published one that it gets its value from.
    pub(crate) names: Vec<(&'t str, &'t str)>,
    /// Which of the operation's calls it was.
    pub(crate) step: Step<'t>,
    /// Whether the declaration has `plain_errors: true`.
    pub(crate) plain_errors: bool,
}

/// Which of an operation's calls one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step<'t> {
    /// There is no other.
    Only,
    /// The step of this id, with which the operation begins.
    First(&'t str),
    /// The step of this id, before which others ran: what it was called with need not be the caller's, and something has
    /// been started, so that it is no wrong call.
    Later(&'t str),
}

impl Wording<'_> {
    /// Tells the server's operator what the caller is not told: which operation it was, and why the server could not run
    /// it. No message holds an argument's value but one about arguments.
    pub(crate) fn log(&self, answer: &Answer) {
        let text = |key: &str| answer.value.get(key).and_then(Value::as_str).unwrap_or("-");
        let step = match self.step {
            Step::Only => "-",
            Step::First(id) | Step::Later(id) => id,
        };
        let why = if answer.status == Status::Usage { "-" } else { text("message") };
        let (tool, called, error) = (self.tool, self.call.name(), text("error"));
        tracing::warn!(tool, step, called, error, why, "a call failed");
    }

    /// The failure that the caller reads: `{error, message, …}`.
    pub(crate) fn failure(&self, answer: Answer, catalog: &Catalog, args: &Map<String, Value>) -> Map<String, Value> {
        let Answer { value, status, is_plain, .. } = answer;
        let error = value.get("error").and_then(Value::as_str).unwrap_or("failed").to_owned();
        match (status, error.as_str()) {
            (Status::ApprovalRequired | Status::Denied, _) => {
                let message = format!(
                    "`{}` cannot be run on this server, whoever agrees\nhelp: do not try it again; tell the human",
                    self.tool
                );
                object(json!({ "error": "denied", "message": message }))
            }
            (Status::Usage, "bad_arguments") => {
                let faults = self.faults(catalog, args);
                let (error, faults) = match self.step {
                    Step::Later(step) => ("step_refused", format!("step `{step}` did not start: {faults}")),
                    Step::Only | Step::First(_) => ("bad_arguments", faults),
                };
                object(json!({ "error": error, "message": format!("`{}`: {faults}", self.tool) }))
            }
            (Status::Usage, "input_too_large")
            | (Status::Failed | Status::TimedOut | Status::Cancelled | Status::Done, _) => {
                self.run_failed(&error, &value, is_plain)
            }
            // A program or a secret is missing, or the catalog is not the one that the declaration was held against: that is
            // for whoever runs the server, and its paths and programs are nobody else's business.
            (Status::Usage | Status::NotReady, _) => {
                let message = format!("`{}` is not available on this server now\nhelp: {OPERATOR}", self.tool);
                object(json!({ "error": "not_ready", "message": message }))
            }
        }
    }

    /// What is wrong with the arguments that the operation got, in the caller's names.
    fn faults(&self, catalog: &Catalog, args: &Map<String, Value>) -> String {
        let action =
            catalog.entry(self.call.kind, &self.call.entry).and_then(|entry| entry.action(self.call.action.as_deref()));
        let faults = action.and_then(|action| Arguments::parse(action, &Value::Object(args.clone())).err());
        let told: Vec<String> = faults.iter().flatten().map(|fault| self.fault(fault)).collect();
        if told.is_empty() { "the operation does not take these arguments".to_owned() } else { told.join("; ") }
    }

    fn fault(&self, fault: &ArgumentFault) -> String {
        let own = format!("`{}` ", fault.argument);
        let rest = fault.message.strip_prefix(&own).unwrap_or("does not fit");
        let hidden = if matches!(self.step, Step::Later(_)) { PASSED_ON } else { HIDDEN };
        match (self.published(&fault.argument), fault.rule) {
            // Every name was the declaration's: the manifest has changed.
            (_, ArgumentRule::Unknown) => format!("{hidden} is not known any more"),
            (Some(published), _) => format!("`{published}` {rest}"),
            (None, _) => format!("{hidden} {rest}"),
        }
    }

    /// `is_plain`: what the program wrote was not written for callers.
    fn run_failed(&self, error: &str, value: &Value, is_plain: bool) -> Map<String, Value> {
        let message = value.get("message").and_then(Value::as_str).unwrap_or_default();
        let is_hidden = is_plain && !self.plain_errors;
        let mut told = Map::new();
        told.insert("error".to_owned(), error.into());
        let message = match error {
            // Which program it is and where it lies is told on the log.
            "cannot_start" => format!("the program behind it could not be started\nhelp: {OPERATOR}"),
            "killed" => format!("the program behind it was ended before it had a result\nhelp: {OPERATOR}"),
            "tool_failed" if is_hidden => {
                format!("{} and gave no error as JSON\nhelp: {RUNNER}", self.own_message(message))
            }
            _ => self.own_message(message),
        };
        told.insert("message".to_owned(), format!("`{}`: {message}", self.tool).into());
        // How a result began that is too large is not told: nobody has held it to the output schema.
        if let Some(code) = value.get("exit_code") {
            told.insert("exit_code".to_owned(), code.clone());
        }
        if let Some(detail) = value.get("detail").filter(|_| !is_hidden) {
            told.insert("detail".to_owned(), self.in_public_words(detail));
        }
        told
    }

    /// A message of the road without the entry's and the action's name before it.
    fn own_message(&self, message: &str) -> String {
        let LinkedCall { kind, entry, action, .. } = self.call;
        let before = match action {
            Some(action) => format!("`{entry}` `{action}`: "),
            None => format!("{} `{entry}`: ", kind.as_str()),
        };
        let rest = message.strip_prefix(&before).unwrap_or(message);
        self.public_text(&rest.replace(&format!("`{entry}`"), &format!("`{}`", self.tool)))
    }

    fn in_public_words(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.public_text(text)),
            Value::Array(items) => items.iter().map(|item| self.in_public_words(item)).collect(),
            Value::Object(map) => {
                map.iter().map(|(key, part)| (key.clone(), self.in_public_words(part))).collect::<Map<_, _>>().into()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    /// A text in which every argument of the operation, where it is marked as a name (`` `max-rows` ``, `--max-rows`),
    /// has the name that the caller knows. Quotes around an option go with it: the name in them is another one now.
    fn public_text(&self, text: &str) -> String {
        let mut told = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(['`', '-', '\'', '"']) {
            let (before, from) = rest.split_at(at);
            told.push_str(before);
            let (length, public) = self.marked(before, from);
            match public {
                Some(public) => told.push_str(&public),
                None => told.push_str(from.get(..length).unwrap_or_default()),
            }
            rest = from.get(length..).unwrap_or_default();
        }
        told.push_str(rest);
        told
    }

    /// How long the name is that a text begins with, its marks included, and what stands for it; one mark and nothing
    /// where it is no name.
    fn marked(&self, before: &str, text: &str) -> (usize, Option<String>) {
        let name_of = |text: &str| {
            let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')));
            end.map_or(text.len(), |end| end)
        };
        if let Some(inside) = text.strip_prefix('`') {
            let length = name_of(inside);
            let name = inside.get(..length).unwrap_or_default();
            let bare = name.trim_start_matches('-');
            let is_closed = inside.get(length..).is_some_and(|after| after.starts_with('`'));
            let public = self.public(bare).filter(|_| is_closed);
            return if public.is_some() { (length + 2, public) } else { (1, None) };
        }
        if let Some(quote) = text.chars().next().filter(|mark| matches!(mark, '\'' | '"')) {
            let option = text.strip_prefix(quote).and_then(|inside| inside.strip_prefix("--")).unwrap_or_default();
            let name = option.get(..name_of(option)).unwrap_or_default();
            let is_closed = option.get(name.len()..).is_some_and(|after| after.starts_with(quote));
            let public = self.public(name).filter(|_| is_closed);
            return if public.is_some() { (name.len() + 4, public) } else { (1, None) };
        }
        let is_word_before = before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '-');
        let Some(option) = text.strip_prefix("--").filter(|_| !is_word_before) else { return (1, None) };
        // A sentence may end right behind the name.
        let name = option.get(..name_of(option)).unwrap_or_default().trim_end_matches('.');
        match self.public(name) {
            Some(public) => (name.len() + 2, Some(public)),
            None => (2, None),
        }
    }

    fn public(&self, name: &str) -> Option<String> {
        let is_known = self.call.arguments.iter().any(|(known, _)| known == name);
        is_known.then(|| self.published(name).map_or_else(|| HIDDEN.to_owned(), |published| format!("`{published}`")))
    }

    fn published(&self, name: &str) -> Option<&str> {
        self.names.iter().find(|(own, _)| *own == name).map(|(_, published)| *published)
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use gatelatch_registry::catalog::{Effect, Kind};

    use super::*;

    fn call() -> LinkedCall {
        let arguments = ["path", "max-results", "max-bytes"].map(|name| (name.to_owned(), false));
        LinkedCall {
            kind: Kind::Tool,
            entry: "xlsx".to_owned(),
            action: Some("read-sheet".to_owned()),
            effect: Effect::ReadOnly,
            arguments: arguments.into(),
        }
    }

    fn failure(status: Status, value: Value) -> Value {
        told(Answer::failure(status, value), false)
    }

    fn told(answer: Answer, plain_errors: bool) -> Value {
        let (call, names) = (call(), vec![("path", "file"), ("max-results", "max_results")]);
        let wording = Wording { tool: "xlsx_read_sheet", call: &call, names, step: Step::Only, plain_errors };
        Value::Object(wording.failure(answer, &Catalog::default(), &Map::new()))
    }

    #[test]
    fn what_the_gate_does_not_let_through_cannot_be_run_and_names_no_other_door() {
        let value = json!({
            "error": "approval_required", "message": "ask the human, then call run_tool_confirmed", "tool": "xlsx",
            "effect": "irreversible", "because": "the name says `delete`", "confirm_with": "run_tool_confirmed"
        });
        for status in [Status::ApprovalRequired, Status::Denied] {
            let told = failure(status, value.clone());
            assert_eq!(told["error"], "denied");
            assert!(told["message"].as_str().unwrap().contains("`xlsx_read_sheet` cannot be run on this server"));
            assert_eq!(told.as_object().unwrap().len(), 2, "{told}");
            assert!(!told.to_string().contains("confirm"), "{told}");
        }
    }

    #[test]
    fn the_operation_s_own_error_speaks_of_the_caller_s_arguments_and_hides_the_rest() {
        let told = failure(
            Status::Failed,
            json!({
                "error": "tool_failed",
                "message": "`xlsx` `read-sheet`: exited with code 1",
                "exit_code": 1,
                "detail": {
                    "error": "too_large",
                    "message": "`path` is too large; use --max-results, `--max-results` or --max-bytes. `other` and a--path stay"
                },
                "schema": { "properties": {} }, "did_you_mean": ["save-dump"], "help": "see read-sheet"
            }),
        );
        assert_eq!(
            told,
            json!({
                "error": "tool_failed",
                "message": "`xlsx_read_sheet`: exited with code 1",
                "exit_code": 1,
                "detail": {
                    "error": "too_large",
                    "message": "`file` is too large; use `max_results`, `max_results` or a value that this server sets. `other` and a--path stay"
                }
            })
        );
    }

    #[test]
    fn what_a_program_wrote_as_plain_text_is_told_only_where_the_declaration_says_so() {
        let usage = "usage: main.py [-h] --path PATH\nmain.py: error: argument --max-bytes: '--path' is /srv/x";
        for (status, error, message, hidden) in [
            (
                Status::Failed,
                "tool_failed",
                "exited with code 2",
                "exited with code 2 and gave no error as JSON\nhelp: tell whoever runs this server",
            ),
            (Status::TimedOut, "timeout", "timed out after 1 s", "timed out after 1 s"),
        ] {
            let value = json!({
                "error": error, "message": format!("`xlsx` `read-sheet`: {message}"), "exit_code": 2, "detail": { "text": usage }
            });
            let answer = Answer { is_plain: true, ..Answer::failure(status, value) };
            let silent = told(answer.clone(), false);
            assert_eq!((&silent["error"], &silent["exit_code"]), (&json!(error), &json!(2)));
            assert!(
                silent["message"].as_str().unwrap().starts_with(&format!("`xlsx_read_sheet`: {hidden}")),
                "{silent}"
            );
            assert!(silent.get("detail").is_none() && !silent.to_string().contains("main.py"), "{silent}");
            let shown = told(answer, true);
            assert_eq!(shown["message"], format!("`xlsx_read_sheet`: {message}"));
            assert_eq!(
                shown["detail"]["text"],
                "usage: main.py [-h] `file` PATH\nmain.py: error: argument a value that this server sets: `file` is /srv/x"
            );
        }
    }

    #[test]
    fn how_a_result_began_that_no_schema_was_held_to_is_not_told() {
        let message = "`xlsx` `read-sheet`: the result is too large: 9 bytes, 4 allowed";
        let told =
            failure(Status::Failed, json!({ "error": "output_too_large", "message": message, "head": "hunter2" }));
        assert!(told["message"].as_str().unwrap().contains("9 bytes, 4 allowed"), "{told}");
        assert!(!told.to_string().contains("hunter2"), "{told}");
    }

    #[test]
    fn only_what_is_marked_as_a_name_is_renamed_and_its_quotes_go_with_it() {
        let message = "given[\"--path\"], KeyError: '--max-bytes', 'path', path, \"--path and\", --paths, --path=x, '";
        let told = failure(
            Status::Failed,
            json!({ "error": "tool_failed", "message": "", "detail": { "path": "path", "message": message } }),
        );
        assert_eq!(
            told["detail"],
            json!({
                "path": "path",
                "message": "given[`file`], KeyError: a value that this server sets, 'path', path, \"`file` and\", --paths, `file`=x, '"
            })
        );
    }

    #[test]
    fn a_tool_that_is_busy_or_not_ready_is_named_as_it_is_published() {
        let busy =
            failure(Status::Failed, json!({ "error": "busy", "message": "`xlsx` `read-sheet`: `xlsx` is busy" }));
        assert_eq!(busy["message"], "`xlsx_read_sheet`: `xlsx_read_sheet` is busy");
    }

    #[test]
    fn what_is_wrong_on_the_server_s_side_is_told_without_its_programs_and_paths() {
        for (status, error, message) in [
            (Status::NotReady, "broken", "tool `xlsx` is broken: tools/xlsx/tool.yaml:3:1: …"),
            (
                Status::NotReady,
                "not_ready",
                "`xlsx` `read-sheet`: program `/opt/xlsx` not found on PATH\nhelp: install it",
            ),
            (Status::Failed, "cannot_start", "`xlsx` `read-sheet`: cannot unpack a program to `/opt/xlsx`"),
            (Status::Failed, "killed", "`xlsx` `read-sheet`: the program could not be run: cannot start `/opt/xlsx`"),
        ] {
            let told = failure(status, json!({ "error": error, "message": message })).to_string();
            assert!(!told.contains("/xlsx") && !told.contains("read-sheet"), "{told}");
            assert!(told.contains("`xlsx_read_sheet`") && told.contains("its log says why"), "{told}");
        }
    }
}
