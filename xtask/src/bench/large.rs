//! A start with 10 000 actions, from the compiled cache and without it, side by side.
//!
//! Two shapes of the same size: a thousand small tools, whose files cost most, and a few giants.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Peer, ROUNDS, STARTS, median, request, write_tool};
use crate::step::binary;

const NOUNS: [&str; 10] = [
    "invoices",
    "orders",
    "customers",
    "shipments",
    "tickets",
    "reports",
    "projects",
    "branches",
    "messages",
    "contracts",
];
const VERBS: [&str; 10] =
    ["list", "get", "search", "update", "delete", "describe", "count", "export", "create", "archive"];

/// Tools and the actions of each.
const SHAPES: [(&str, usize, usize); 2] = [("tools_1000", 1_000, 10), ("tools_20", 20, 500)];

pub(super) fn measure(work: &Path) -> anyhow::Result<Value> {
    let mut figures = serde_json::Map::new();
    for (name, tools, actions) in SHAPES {
        let catalog = work.join(format!("large-{name}"));
        for tool in 0..tools {
            let names = (0..actions).map(|action| {
                let (verb, noun) = (VERBS[action % VERBS.len()], NOUNS[(tool + action / VERBS.len()) % NOUNS.len()]);
                format!("{verb}-{noun}-{action}")
            });
            write_tool(&catalog, tool, &names.collect::<Vec<_>>())?;
        }
        figures.insert(name.to_owned(), shape(&catalog.to_string_lossy())?);
    }
    Ok(Value::Object(figures))
}

/// Starts with and without the cache take turns.
fn shape(catalog: &str) -> anyhow::Result<Value> {
    let (with, without) = ([("GATELATCH_CACHE_CATALOG", "1")], [("GATELATCH_CACHE_CATALOG", "0")]);
    // The first start leaves the cache behind.
    start(catalog, &with)?;
    let (mut cached, mut plain) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS * STARTS {
        cached.push(start(catalog, &with)?);
        plain.push(start(catalog, &without)?);
    }
    Ok(json!({ "from_cache": summary(&cached), "without_cache": summary(&plain) }))
}

/// One start: when `initialize` was answered, when the first search was, and the memory that is resident then.
struct Start {
    opened: Duration,
    found: Duration,
    resident: f64,
}

fn start(catalog: &str, variables: &[(&str, &str)]) -> anyhow::Result<Start> {
    let started = Instant::now();
    let mut peer = Peer::start_with(&binary(), &["--catalog", catalog, "operator"], variables)?;
    peer.open()?;
    let opened = started.elapsed();
    peer.ask(&request("capabilities", json!({ "search": "export the invoices of a customer" })))?;
    Ok(Start { opened, found: started.elapsed(), resident: peer.resident()? })
}

fn summary(starts: &[Start]) -> Value {
    let milliseconds = |time: fn(&Start) -> Duration| median(starts.iter().map(time).collect()) / 1_000.0;
    json!({
        "first_answer_ms": milliseconds(|start| start.opened),
        "first_search_ms": milliseconds(|start| start.found),
        "resident_mib": starts.iter().map(|start| start.resident).fold(0.0, f64::max),
    })
}
