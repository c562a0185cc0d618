//! Retrieval data sets: tools and questions as JSON lines, and the measure of a ranking.
//!
//! Owns the form of those files and turns any number of them into one catalog of one tool. Knows nothing of how the
//! search works. Start at [`Lines`], then [`catalog`], [`questions`] and [`Score`].

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use gatelatch_manifest::diagnostic::Position;
use gatelatch_registry::catalog::{
    ActionManifest, ArgumentManifest, ArgumentType, Catalog, Entry, EntryManifest, Kind, Origin, Runtime,
};
use serde_json::{Map, Value, json};

/// A file of JSON objects, one a line. Empty lines and a byte order mark say nothing.
#[derive(Clone, Debug)]
pub(crate) struct Lines {
    /// What findings name.
    file: String,
    text: String,
}

impl Lines {
    /// Reads a file, which is UTF-8.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Lines> {
        let file = path.display().to_string();
        let bytes = std::fs::read(path).with_context(|| format!("cannot read `{file}`"))?;
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Lines::new(&file, &text)),
            Err(error) => {
                let before = error.as_bytes().iter().take(error.utf8_error().valid_up_to());
                bail!("{file}:{}: not UTF-8", 1 + before.filter(|byte| **byte == b'\n').count())
            }
        }
    }

    /// The lines of a text under a file's name.
    pub(crate) fn new(file: &str, text: &str) -> Lines {
        Lines { file: file.to_owned(), text: text.strip_prefix('\u{feff}').unwrap_or(text).to_owned() }
    }

    /// What `of` makes of each object. What is wrong is told with file and line.
    fn each<T>(&self, of: impl Fn(&Map<String, Value>) -> anyhow::Result<T>) -> anyhow::Result<Vec<T>> {
        let lines = (1..).zip(self.text.lines()).filter(|(_, line)| !line.trim().is_empty());
        lines
            .map(|(number, line)| {
                object(line)
                    .and_then(|of_line| of(&of_line))
                    .map_err(|error| anyhow!("{}:{number}: {error:#}", self.file))
            })
            .collect()
    }
}

fn object(line: &str) -> anyhow::Result<Map<String, Value>> {
    match serde_json::from_str(line) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => bail!("not a JSON object, of which each line holds one"),
        // The error counts lines from this one.
        Err(error) => bail!("not one JSON object in a line (column {})", error.column()),
    }
}

/// One tool with an action for every line of every file: `{"name", "description", "args": [{"name", "type",
/// "description", "required"}]}`. A name that comes twice is kept once.
pub(crate) fn catalog(files: &[Lines]) -> anyhow::Result<Catalog> {
    Ok(linked(actions(files)?))
}

/// The same with exactly so many actions: where there are fewer they come again under further names.
pub(crate) fn catalog_of(files: &[Lines], size: usize) -> anyhow::Result<Catalog> {
    let once = actions(files)?;
    let rounds = (1..).flat_map(|round| once.iter().map(move |action| again(action, round)));
    let actions = if once.is_empty() { Vec::new() } else { rounds.take(size).collect() };
    Ok(linked(actions))
}

fn again(action: &ActionManifest, round: usize) -> ActionManifest {
    let mut action = action.clone();
    if let (Some(name), 2..) = (&mut action.name, round) {
        name.push_str(&format!("-{round}"));
    }
    action
}

fn actions(files: &[Lines]) -> anyhow::Result<Vec<ActionManifest>> {
    let mut actions: Vec<ActionManifest> = Vec::new();
    let mut names = std::collections::HashSet::new();
    for file in files {
        actions.extend(file.each(action)?.into_iter().filter(|action| names.insert(action.name.clone())));
    }
    Ok(actions)
}

fn linked(actions: Vec<ActionManifest>) -> Catalog {
    let manifest = EntryManifest {
        kind: Kind::Tool,
        name: "catalog".to_owned(),
        description: String::new(),
        version: "0.0.0".to_owned(),
        runtime: Runtime::Process,
        entrypoint: "true".to_owned(),
        secrets: Vec::new(),
        actions,
        uses: Vec::new(),
        position: Position::default(),
    };
    let origin = Origin::Compiled(std::sync::Arc::from([]));
    Catalog::link(vec![Entry { manifest, origin, file: String::new() }], Vec::new())
}

/// A question and the names that answer it.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    /// What is asked.
    pub(crate) query: String,
    /// The right names, each once.
    pub(crate) gold: Vec<String>,
}

/// The questions of a file: `{"query", "gold": [names]}` a line. Without `gold` a question is ranked and nothing is right.
pub(crate) fn questions(file: &Lines) -> anyhow::Result<Vec<Question>> {
    file.each(|line| {
        let mut gold: Vec<String> = Vec::new();
        for name in list_of(line, "gold")? {
            let name = name.as_str().context("`gold` holds something else than names")?;
            if !gold.iter().any(|known| known == name) {
                gold.push(name.to_owned());
            }
        }
        Ok(Question { query: text_of(line, "query")?.context("`query` is missing")?.to_owned(), gold })
    })
}

/// A line of a run: `{"query", "ranked": [names, best first]}`.
pub(crate) fn run_line(question: &Question, ranked: &[String]) -> String {
    json!({"query": question.query, "ranked": ranked}).to_string()
}

/// How good rankings are, and how long they took.
#[derive(Clone, Debug, Default)]
pub(crate) struct Score {
    questions: usize,
    first: f64,
    recall: f64,
    gain: f64,
    times: Vec<Duration>,
}

impl Score {
    /// Adds one ranking, best first.
    pub(crate) fn add(&mut self, question: &Question, ranked: &[String], took: Duration) {
        let right: Vec<bool> = ranked.iter().take(10).map(|name| question.gold.contains(name)).collect();
        let gold = question.gold.len().max(1);
        let discount = |place: usize| 1.0 / (place as f64 + 2.0).log2();
        let ideal: f64 = (0..gold.min(10)).map(discount).sum();
        let gain: f64 = right.iter().enumerate().filter(|(_, right)| **right).map(|(place, _)| discount(place)).sum();
        self.questions += 1;
        self.first += f64::from(right.first().copied().unwrap_or(false));
        self.recall += right.iter().take(5).filter(|right| **right).count() as f64 / gold as f64;
        self.gain += gain / ideal;
        self.times.push(took);
    }

    /// Precision at 1, recall at 5, nDCG at 10, and the median and the slowest time.
    pub(crate) fn summary(&self) -> Value {
        let share = |total: f64| (total / self.questions.max(1) as f64 * 10_000.0).round() / 10_000.0;
        let mut times = self.times.clone();
        times.sort_unstable();
        let micros = |time: Option<&Duration>| time.map_or(0, Duration::as_micros) as u64;
        json!({
            "queries": self.questions,
            "p_at_1": share(self.first),
            "recall_at_5": share(self.recall),
            "ndcg_at_10": share(self.gain),
            "median_us": micros(times.get(times.len() / 2)),
            "slowest_us": micros(times.last()),
        })
    }
}

fn action(line: &Map<String, Value>) -> anyhow::Result<ActionManifest> {
    let name = text_of(line, "name")?.filter(|name| !name.is_empty()).context("`name` is missing")?;
    let description = text_of(line, "description")?.unwrap_or_default();
    let arguments = (1..).zip(list_of(line, "args")?);
    let args = arguments.map(|(number, value)| argument(value).with_context(|| format!("argument {number}")));
    Ok(ActionManifest { args: args.collect::<anyhow::Result<_>>()?, ..ActionManifest::new(Some(name), description) })
}

fn argument(value: &Value) -> anyhow::Result<ArgumentManifest> {
    let value = value.as_object().context("not a JSON object")?;
    // Files of other origin hold lists of types and names of their own: what is unknown is text.
    let kind = match value.get("type").and_then(Value::as_str).unwrap_or_default() {
        "integer" => ArgumentType::Integer,
        "number" | "float" => ArgumentType::Number,
        "boolean" => ArgumentType::Boolean,
        "array" | "list" | "tuple" => ArgumentType::Array,
        "object" | "dict" => ArgumentType::Object,
        _ => ArgumentType::String,
    };
    Ok(ArgumentManifest {
        required: value.get("required").and_then(Value::as_bool).unwrap_or(false),
        description: text_of(value, "description")?.unwrap_or_default().to_owned(),
        ..ArgumentManifest::new(text_of(value, "name")?.context("`name` is missing")?, kind)
    })
}

/// A text, if there is one: null means absent.
fn text_of<'a>(object: &'a Map<String, Value>, key: &str) -> anyhow::Result<Option<&'a str>> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => value.as_str().map(Some).with_context(|| format!("`{key}` is no text")),
    }
}

/// A list, empty where there is none: null means absent.
fn list_of<'a>(object: &'a Map<String, Value>, key: &str) -> anyhow::Result<&'a [Value]> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(&[]),
        Some(value) => value.as_array().map(Vec::as_slice).with_context(|| format!("`{key}` is no list")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_wrong_is_told_with_its_file_and_number() {
        for (line, expected) in [
            ("{\"name\": ", "t:3: not one JSON object in a line (column 9)"),
            ("{\"name\": \"b\"} {\"name\": \"c\"}", "t:3: not one JSON object in a line (column 15)"),
            ("[{\"name\": \"b\"}]", "t:3: not a JSON object, of which each line holds one"),
            ("{\"description\": \"no name\"}", "t:3: `name` is missing"),
            ("{\"name\": \"\"}", "t:3: `name` is missing"),
            ("{\"name\": 7}", "t:3: `name` is no text"),
            ("{\"name\": \"b\", \"description\": []}", "t:3: `description` is no text"),
            ("{\"name\": \"b\", \"args\": {}}", "t:3: `args` is no list"),
            ("{\"name\": \"b\", \"args\": [{\"name\": \"x\"}, \"y\"]}", "t:3: argument 2: not a JSON object"),
            ("{\"name\": \"b\", \"args\": [{}]}", "t:3: argument 1: `name` is missing"),
        ] {
            let file = Lines::new("t", &format!("{{\"name\": \"a\"}}\n\n{line}\n"));
            assert_eq!(catalog(&[file]).unwrap_err().to_string(), expected);
        }
        for (line, expected) in [
            ("{\"gold\": []}", "q:1: `query` is missing"),
            ("{\"query\": 1}", "q:1: `query` is no text"),
            ("{\"query\": \"x\", \"gold\": \"a\"}", "q:1: `gold` is no list"),
            ("{\"query\": \"x\", \"gold\": [1]}", "q:1: `gold` holds something else than names"),
        ] {
            assert_eq!(questions(&Lines::new("q", line)).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn a_file_that_is_not_utf8_is_told_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        std::fs::write(&path, b"{\"name\": \"a\"}\n\xff\xfe").unwrap();
        let told = Lines::read(&path).unwrap_err().to_string();
        assert!(told.ends_with("t.jsonl:2: not UTF-8"), "{told}");
    }

    #[test]
    fn marks_empty_lines_and_unknown_types_say_nothing() {
        let text = concat!(
            "\u{feff}{\"name\":\"a\",\"description\":null,\"args\":null}\r\n",
            "\r\n  \n",
            "{\"more\":1,\"name\":\"b\",\"args\":[{\"name\":\"\",\"type\":[\"string\",\"null\"]}]}",
        );
        let catalog = catalog(&[Lines::new("t", text)]).unwrap();
        assert_eq!(catalog.entries()[0].manifest.actions.len(), 2);
        let asked =
            questions(&Lines::new("q", "{\"query\":\"\"}\n{\"query\":\"x\",\"gold\":[\"a\",\"b\",\"a\"]}")).unwrap();
        assert_eq!(asked.iter().map(|question| question.gold.len()).collect::<Vec<_>>(), [0, 2]);
    }
}
