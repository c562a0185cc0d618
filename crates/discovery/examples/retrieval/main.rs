//! Ranks the questions of a retrieval data set with the real search and scores the ranking.
//!
//! usage: retrieval QUERIES.jsonl TOOLS.jsonl… [--out RUN.jsonl]

use std::error::Error;
use std::io::Write;
use std::time::Instant;

use gatelatch_discovery::index::Index;
use gatelatch_discovery::ladder::{View, search};
use gatelatch_registry::catalog::Effect;
use serde_json::json;

mod dataset;

/// How many names of each ranking are kept.
const DEPTH: usize = 20;

fn main() -> Result<(), Box<dyn Error>> {
    let mut files: Vec<String> = Vec::new();
    let mut out = None;
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--out" => out = words.next(),
            _ => files.push(word),
        }
    }
    let Some((queries, tools)) = files.split_first() else {
        return Err("usage: retrieval QUERIES.jsonl TOOLS.jsonl… [--out RUN.jsonl]".into());
    };
    let texts = tools.iter().map(std::fs::read_to_string).collect::<Result<Vec<String>, _>>()?;
    let catalog = dataset::catalog(texts.iter().map(String::as_str))?;
    let started = Instant::now();
    let index = Index::build(&catalog);
    let built = started.elapsed();
    let view = View {
        catalog: &catalog,
        index: &index,
        sees: &|_, _| true,
        sees_skill: &|_| true,
        not_ready: &|_| None,
        effect: &|_, _| (Effect::ReadOnly, false),
        max_bytes: 40_000,
    };
    let mut score = dataset::Score::default();
    let mut run = String::new();
    for question in dataset::questions(&std::fs::read_to_string(queries)?)? {
        let started = Instant::now();
        let hits = search(&view, &question.query, None, DEPTH);
        let took = started.elapsed();
        let ranked: Vec<String> = hits.into_iter().filter_map(|hit| hit.action).collect();
        score.add(&question, &ranked, took);
        run.push_str(&dataset::run_line(&question, &ranked));
        run.push('\n');
    }
    if let Some(out) = out {
        std::fs::write(out, run)?;
    }
    let mut summary = score.summary();
    summary["actions"] = json!(index.len());
    summary["built_us"] = json!(built.as_micros() as u64);
    writeln!(std::io::stdout(), "{summary}")?;
    Ok(())
}
