//! Retrieval data sets: tools and questions as JSON lines, and the measure of a ranking.
//!
//! Owns the form of those files and turns any number of them into one catalog of one tool. Knows nothing of how the
//! search works. Start at [`catalog`], [`questions`] and [`Score`].

use std::time::Duration;

use gatelatch_manifest::diagnostic::Position;
use gatelatch_registry::catalog::{
    ActionManifest, ArgumentManifest, ArgumentType, Catalog, Entry, EntryManifest, Kind, Origin, Runtime,
};
use serde_json::{Value, json};

/// One tool with an action for every line of every text: `{"name", "description", "args": [{"name", "type",
/// "description", "required"}]}`. A name that comes twice is kept once.
pub(crate) fn catalog<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Catalog, serde_json::Error> {
    Ok(linked(actions(texts)?))
}

/// The same with exactly so many actions: where there are fewer they come again under further names.
pub(crate) fn catalog_of<'a>(
    texts: impl IntoIterator<Item = &'a str>,
    size: usize,
) -> Result<Catalog, serde_json::Error> {
    let once = actions(texts)?;
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

fn actions<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Vec<ActionManifest>, serde_json::Error> {
    let mut actions: Vec<ActionManifest> = Vec::new();
    let mut names = std::collections::HashSet::new();
    for line in texts.into_iter().flat_map(str::lines).filter(|line| !line.trim().is_empty()) {
        let action = action(&serde_json::from_str(line)?);
        if names.insert(action.name.clone()) {
            actions.push(action);
        }
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
    /// The right names.
    pub(crate) gold: Vec<String>,
}

/// The questions of a text: `{"query", "gold": [names]}` a line.
pub(crate) fn questions(text: &str) -> Result<Vec<Question>, serde_json::Error> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines
        .map(|line| {
            let value: Value = serde_json::from_str(line)?;
            let gold = value.get("gold").and_then(Value::as_array).into_iter().flatten();
            Ok(Question {
                query: text_of(&value, "query").to_owned(),
                gold: gold.filter_map(Value::as_str).map(str::to_owned).collect(),
            })
        })
        .collect()
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

fn action(value: &Value) -> ActionManifest {
    let args = value.get("args").and_then(Value::as_array).into_iter().flatten().map(argument).collect();
    ActionManifest { args, ..ActionManifest::new(Some(text_of(value, "name")), text_of(value, "description")) }
}

fn argument(value: &Value) -> ArgumentManifest {
    let kind = match text_of(value, "type") {
        "integer" => ArgumentType::Integer,
        "number" | "float" => ArgumentType::Number,
        "boolean" => ArgumentType::Boolean,
        "array" | "list" | "tuple" => ArgumentType::Array,
        "object" | "dict" => ArgumentType::Object,
        _ => ArgumentType::String,
    };
    ArgumentManifest {
        required: value.get("required").and_then(Value::as_bool).unwrap_or(false),
        description: text_of(value, "description").to_owned(),
        ..ArgumentManifest::new(text_of(value, "name"), kind)
    }
}

fn text_of<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}
