//! `cargo xtask bench retrieval`: how well and how fast the real search finds what is asked for.
//!
//! Owns which data sets are measured and how long a search may take; the files' form and the measure are
//! [`super::dataset`]. Rankings come from the function that `capabilities {search}` asks. Start at [`run`].

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use gatelatch_discovery::index::Index;
use gatelatch_discovery::ladder::{View, search};
use gatelatch_registry::catalog::{Catalog, Effect};
use serde_json::{Map, Value, json};

use super::dataset::{self, Lines, Question, Score};
use crate::step::{root, say};

/// How many names of each ranking are kept.
const DEPTH: usize = 20;

/// The sizes at which the time of a search is told.
const SIZES: [usize; 2] = [2_319, 10_000];

/// What was asked to be measured.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Request {
    tools: Vec<PathBuf>,
    queries: Option<PathBuf>,
    out: Option<PathBuf>,
}

impl Request {
    /// `[--tools FILE… --queries FILE [--out RUN.jsonl]]`
    pub(crate) fn parse(words: &[&str]) -> anyhow::Result<Request> {
        let mut request = Request::default();
        let mut words = words.iter().peekable();
        while let Some(flag) = words.next() {
            let mut next = || words.next_if(|word| !word.starts_with("--")).map(PathBuf::from);
            let first = next().with_context(|| format!("`{flag}` needs a file"))?;
            match *flag {
                "--tools" => {
                    request.tools.push(first);
                    request.tools.extend(std::iter::from_fn(next));
                }
                "--queries" => request.queries = Some(first),
                "--out" => request.out = Some(first),
                other => bail!("`{other}` is none of --tools, --queries, --out"),
            }
        }
        if request.tools.is_empty() != request.queries.is_none() {
            bail!("--tools and --queries go together");
        }
        if request.out.is_some() && request.queries.is_none() {
            bail!("--out needs --tools and --queries");
        }
        Ok(request)
    }

    /// The same words with every file absolute, for a program that runs elsewhere.
    pub(crate) fn words(&self) -> anyhow::Result<Vec<String>> {
        let absolute = |path: &PathBuf| anyhow::Ok(std::path::absolute(path)?.to_string_lossy().into_owned());
        let mut words = Vec::new();
        for (flag, files) in [
            ("--tools", self.tools.iter().collect::<Vec<_>>()),
            ("--queries", self.queries.iter().collect()),
            ("--out", self.out.iter().collect()),
        ] {
            if !files.is_empty() {
                words.push(flag.to_owned());
            }
            for file in files {
                words.push(absolute(file)?);
            }
        }
        Ok(words)
    }
}

/// Measures the files that are named, or the sets that lie beside the repository; the figures are JSON.
pub(crate) fn run(request: &Request) -> anyhow::Result<()> {
    let figures = match &request.queries {
        Some(queries) => {
            let (figures, lines) = measure(&read_all(&request.tools)?, &Lines::read(queries)?)?;
            if let Some(out) = &request.out {
                std::fs::write(out, lines).with_context(|| format!("cannot write `{}`", out.display()))?;
            }
            figures
        }
        None => known_sets(&root().join("../shared/data/retrieval"))?,
    };
    let mut out = std::io::stdout();
    writeln!(out, "{}", serde_json::to_string_pretty(&figures)?)?;
    Ok(())
}

/// The sets of the folder, and how long a search takes in catalogs of known sizes.
fn known_sets(folder: &Path) -> anyhow::Result<Value> {
    if !folder.is_dir() {
        say(&format!("skipped: there are no data sets in {}", folder.display()));
        return Ok(json!({}));
    }
    let [bfcl, github, metatool] = ["bfcl", "github-rest", "metatool"].map(|name| {
        let path = folder.join(format!("{name}.tools.jsonl"));
        Lines::read(&path)
    });
    let (bfcl, github, metatool) = (bfcl?, github?, metatool?);
    let asked = Lines::read(&folder.join("bfcl.queries.jsonl"))?;
    let mut figures = Map::new();
    figures.insert("bfcl".to_owned(), measure(std::slice::from_ref(&bfcl), &asked)?.0);
    let both = [bfcl, github];
    figures.insert("bfcl with github-rest".to_owned(), measure(&both, &asked)?.0);
    let of_metatool = Lines::read(&folder.join("metatool.queries.jsonl"))?;
    figures.insert("metatool".to_owned(), measure(&[metatool], &of_metatool)?.0);
    figures.insert("search_median_us".to_owned(), times(&both, &asked)?);
    Ok(Value::Object(figures))
}

/// One set's figures, and its rankings as JSON lines.
fn measure(tools: &[Lines], queries: &Lines) -> anyhow::Result<(Value, String)> {
    let catalog = dataset::catalog(tools)?;
    let started = Instant::now();
    let index = Index::build(&catalog);
    let built = started.elapsed();
    let (mut score, mut lines) = (Score::default(), String::new());
    for question in dataset::questions(queries)? {
        let (ranked, took) = ranked(&catalog, &index, &question);
        score.add(&question, &ranked, took);
        lines.push_str(&dataset::run_line(&question, &ranked));
        lines.push('\n');
    }
    let mut figures = score.summary();
    figures["actions"] = json!(index.len());
    figures["index_built_us"] = json!(u64::try_from(built.as_micros()).unwrap_or(u64::MAX));
    Ok((figures, lines))
}

/// The names that the search finds, best first, and how long it took.
fn ranked(catalog: &Catalog, index: &Index, question: &Question) -> (Vec<String>, Duration) {
    let view = View {
        catalog,
        index,
        sees: &|_, _| true,
        sees_skill: &|_| true,
        not_ready: &|_| None,
        effect: &|_, _| (Effect::ReadOnly, false),
        max_bytes: 40_000,
    };
    let started = Instant::now();
    let hits = search(&view, &question.query, None, DEPTH);
    let took = started.elapsed();
    (hits.into_iter().filter_map(|hit| hit.action).collect(), took)
}

/// The median time of a search by the number of actions. A catalog of more actions than there are holds them again
/// under further names.
fn times(tools: &[Lines], queries: &Lines) -> anyhow::Result<Value> {
    let questions = dataset::questions(queries)?;
    let mut times = Map::new();
    for size in SIZES {
        let catalog = dataset::catalog_of(tools, size)?;
        let index = Index::build(&catalog);
        let mut score = Score::default();
        for question in &questions {
            let (names, took) = ranked(&catalog, &index, question);
            score.add(question, &names, took);
        }
        times.insert(index.len().to_string(), score.summary()["median_us"].clone());
    }
    Ok(Value::Object(times))
}

fn read_all(paths: &[PathBuf]) -> anyhow::Result<Vec<Lines>> {
    paths.iter().map(|path| Lines::read(path)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOLS: &str = concat!(
        r#"{"name":"get_weather","description":"Weather of a city","args":[{"name":"city","type":"string"}]}"#,
        "\n",
        r#"{"name":"send_mail","description":"Send a message","args":[]}"#,
        "\n",
        r#"{"name":"send_mail","description":"The same name again","args":[]}"#,
        "\n",
    );

    #[test]
    fn files_of_the_form_are_ranked_scored_and_written_as_a_run() {
        let queries = "{\"query\":\"what is the weather in Oslo\",\"gold\":[\"get_weather\"]}\n\n{\"query\":\"mail it\",\"gold\":[\"nothing\"]}";
        let (figures, lines) = measure(&[Lines::new("t", TOOLS)], &Lines::new("q", queries)).unwrap();
        assert_eq!((&figures["queries"], &figures["actions"]), (&json!(2), &json!(2)));
        assert_eq!((&figures["recall_at_5"], &figures["ndcg_at_10"]), (&json!(0.5), &json!(0.5)));
        let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
        assert_eq!(first["ranked"][0], "get_weather");
        assert_eq!(lines.lines().count(), 2);
    }

    #[test]
    fn a_larger_catalog_holds_the_same_actions_under_further_names() {
        let catalog = dataset::catalog_of(&[Lines::new("t", TOOLS)], 5).unwrap();
        let names: Vec<_> =
            catalog.entries()[0].manifest.actions.iter().filter_map(|action| action.name.as_deref()).collect();
        assert_eq!(names, ["get_weather", "send_mail", "get_weather-2", "send_mail-2", "get_weather-3"]);
    }

    #[test]
    fn files_are_named_together_or_not_at_all() {
        let parsed = Request::parse(&["--tools", "a", "b", "--queries", "q", "--out", "r"]).unwrap();
        assert_eq!((parsed.tools.len(), parsed.queries.is_some(), parsed.out.is_some()), (2, true, true));
        assert_eq!(Request::parse(&[]).unwrap(), Request::default());
        for wrong in [&["--tools", "a"][..], &["--queries", "q"], &["--out", "r"], &["--tools"], &["--nonsense", "x"]] {
            assert!(Request::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
