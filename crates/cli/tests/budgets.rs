//! A big tool through the real server: an index instead of a schema that no client could take.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

#[path = "harness/server.rs"]
#[allow(dead_code, reason = "each test file uses its part")]
mod server;

use std::fmt::Write;

use serde_json::json;
use server::Bench;

const VERBS: [&str; 10] =
    ["list", "get", "create", "update", "delete", "search", "archive", "export", "describe", "send"];
const NOUNS: [&str; 38] = [
    "invoices",
    "customers",
    "projects",
    "tickets",
    "shipments",
    "contracts",
    "employees",
    "candidates",
    "budgets",
    "assets",
    "licences",
    "vendors",
    "warehouses",
    "returns",
    "coupons",
    "subscriptions",
    "reports",
    "dashboards",
    "teams",
    "roles",
    "permissions",
    "webhooks",
    "channels",
    "threads",
    "calendars",
    "meetings",
    "rooms",
    "devices",
    "certificates",
    "domains",
    "servers",
    "volumes",
    "snapshots",
    "clusters",
    "pipelines",
    "releases",
    "branches",
    "reviews",
];

/// A tool of 379 actions whose whole schema is about 369 KB.
fn big_tool() -> String {
    let mut text = "name: suite\ndescription: The whole back office.\nversion: 1.0.0\nruntime: process\nentrypoint: echo\nactions:\n".to_owned();
    let names = NOUNS.iter().flat_map(|noun| VERBS.iter().map(move |verb| format!("{verb}-{noun}"))).take(379);
    for (number, name) in names.enumerate() {
        writeln!(text, "  - name: {name}\n    description: Works on the {name} of the office, entry {number}, with all that this needs.\n    effect: irreversible\n    args:").unwrap();
        for argument in 0..5 {
            writeln!(
                text,
                "      - {{name: option-{argument}-of-{name}, type: string, description: What option {argument} means for the action and which values people use}}"
            )
            .unwrap();
        }
    }
    text
}

#[test]
fn a_tool_of_379_actions_answers_with_an_index_and_each_action_fits_in_2048_bytes() {
    let bench = Bench::new();
    bench.write("catalog/tools/suite/tool.yaml", &big_tool());
    let (code, whole, err) = bench.run(&["--catalog", "catalog", "show", "suite", "--json"]);
    assert_eq!(code, 0, "{err}");
    assert!(whole.len() <= 12_000, "the index takes {} bytes", whole.len());
    for name in ["list-invoices", "send-pipelines", "describe-releases"] {
        let (code, one, err) = bench.run(&["--catalog", "catalog", "show", "suite", name, "--json"]);
        assert_eq!(code, 0, "{err}");
        assert!(one.len() <= 2_048, "{name} takes {} bytes", one.len());
        for argument in 0..5 {
            assert!(one.contains(&format!("option-{argument}-of-{name}")), "{one}");
        }
    }
    // Raised beyond the whole, the limit shows how large the schema is.
    let bench = bench.set("GATELATCH_CAPABILITIES_MAX_BYTES", "10000000");
    let (_, full, _) = bench.run(&["--catalog", "catalog", "show", "suite", "--json"]);
    assert!((340_000..400_000).contains(&full.len()), "the full schema takes {} bytes", full.len());
}

#[test]
fn what_needs_no_budget_is_shown_whole_and_search_finds_it() {
    let bench = Bench::new();
    bench.write("catalog/tools/suite/tool.yaml", &big_tool());
    let mut server = bench.serve(&["--catalog", "catalog", "operator"]);
    server.initialize();
    let (failed, found) = server.call("capabilities", json!({ "search": "search the shipments" }));
    assert!(!failed);
    assert!(found.to_string().find("search-shipments").unwrap() < 400, "{found}");
    let (failed, all) = server.call("capabilities", json!({}));
    assert!(!failed);
    assert!(all.to_string().len() <= 12_000);
}
