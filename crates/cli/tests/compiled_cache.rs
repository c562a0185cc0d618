//! With the compiled cache and without it every answer is the same, byte for byte, whatever happened to either.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

#[path = "harness/server.rs"]
#[allow(dead_code, reason = "each test file uses its part")]
mod server;

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use server::Bench;

/// What is asked of each catalog.
fn questions() -> Vec<(&'static str, Value)> {
    vec![
        ("capabilities", json!({})),
        ("capabilities", json!({"kind": "skill"})),
        ("capabilities", json!({"search": "remove the invoices"})),
        ("capabilities", json!({"search": "shipmnt", "name": "tool-3"})),
        ("capabilities", json!({"name": "tool-7"})),
        ("capabilities", json!({"name": "tool-7", "action": "get-orders-1"})),
        ("capabilities", json!({"name": "broken"})),
        ("run_tool", json!({"tool": "tool-7", "action": "getOrders", "args": {"filtr": "x"}})),
        ("run_tool", json!({"tool": "tool-9", "action": "get-orders-1", "args": {"filter": "x"}})),
        ("run_tool", json!({"tool": "tool-9", "action": "delete-invoices-2", "args": {}})),
        ("get_skill", json!({"name": "know"})),
    ]
}

fn tool(number: usize) -> String {
    let mut text = format!(
        "name: tool-{number}\ndescription: Works for department {number}.\nruntime: python\nentrypoint: main.py\nactions:\n"
    );
    for (at, name) in ["list-invoices", "get-orders", "delete-invoices", "export-shipments"].iter().enumerate() {
        writeln!(text, "  - name: {name}-{at}\n    description: Does {name} for department {number}.\n    args:")
            .unwrap();
        for argument in ["filter", "order", "fields", "max-results"] {
            writeln!(
                text,
                "      - {{name: {argument}, type: string, description: The {argument} of {name}, as people write it}}"
            )
            .unwrap();
        }
    }
    text
}

/// A catalog that is large enough to be kept.
fn bench() -> Bench {
    let bench = Bench::new();
    for number in 0..200 {
        bench.write(&format!("catalog/tools/tool-{number}/tool.yaml"), &tool(number));
        bench.write(&format!("catalog/tools/tool-{number}/main.py"), "print('{}')\n");
    }
    bench.write(
        "catalog/tools/broken/tool.yaml",
        "name: broken\ndescripton: Broken.\nruntime: process\nentrypoint: echo\n",
    );
    bench.write("catalog/skills/know/SKILL.md", "---\nname: know\ndescription: How to know.\n---\n# Know\n");
    bench
}

fn kept(bench: &Bench) -> Vec<PathBuf> {
    let folder = bench.path("home/.cache/gatelatch/catalogs");
    fs::read_dir(folder).map(|items| items.flatten().map(|item| item.path()).collect()).unwrap_or_default()
}

/// Every answer, and what the server says of the catalog on standard error.
fn answers(bench: &Bench, cache: &str) -> Vec<String> {
    let mut server = bench.serve_with(&["--catalog", "catalog", "operator"], &[("GATELATCH_CACHE_CATALOG", cache)]);
    server.initialize();
    let ask = |(tool, arguments)| {
        server.request("tools/call", json!({ "name": tool, "arguments": arguments }))["result"].to_string()
    };
    let mut answers: Vec<String> = questions().into_iter().map(ask).collect();
    let (code, _, log) = server.end();
    assert_eq!(code, 0, "{log}");
    // The record of verdicts bears the time.
    let of_the_catalog = log.lines().filter(|line| !line.contains("gatelatch::record"));
    answers.push(of_the_catalog.collect::<Vec<_>>().join("\n"));
    answers
}

fn assert_alike(bench: &Bench) {
    let without = answers(bench, "0");
    // Twice: what is not kept yet is kept by the first.
    assert_eq!(answers(bench, "1"), without);
    assert_eq!(answers(bench, "1"), without);
}

#[test]
fn a_cache_changes_no_answer_whatever_happens_to_the_catalog_or_to_the_cache() {
    let bench = bench();
    let without = answers(&bench, "0");
    assert_eq!(kept(&bench), Vec::<PathBuf>::new(), "nothing is kept where the cache is switched off");
    assert!(without.last().unwrap().contains("error[M"), "{without:?}");
    assert_alike(&bench);
    let [file] = kept(&bench).try_into().expect("the catalog is kept once");

    bench.write("catalog/tools/tool-7/tool.yaml", &tool(7).replace("delete-invoices", "remove-invoices"));
    assert_alike(&bench);
    fs::remove_file(bench.path("catalog/tools/tool-9/main.py")).unwrap();
    assert_alike(&bench);
    fs::remove_dir_all(bench.path("catalog/tools/tool-3")).unwrap();
    assert_alike(&bench);

    let whole = fs::read(&file).unwrap();
    for bytes in [&whole[..whole.len() / 2], b"", b"gatelatch catalog 2\n"] {
        fs::write(&file, bytes).unwrap();
        assert_alike(&bench);
        assert_eq!(fs::read(&file).unwrap().len(), whole.len(), "a torn file is replaced");
    }
    assert_eq!(kept(&bench), [file]);
}

#[test]
fn a_small_catalog_is_not_kept() {
    let bench = Bench::new();
    bench.write("catalog/tools/tool-7/tool.yaml", &tool(7));
    bench.write("catalog/tools/tool-7/main.py", "print('{}')\n");
    let (code, _, err) = bench.run(&["--catalog", "catalog", "list"]);
    assert_eq!(code, 0, "{err}");
    assert_eq!(kept(&bench), Vec::<PathBuf>::new());
}

#[test]
fn a_cache_folder_that_cannot_be_written_is_no_reason_to_fail() {
    let bench = bench();
    bench.write("home/.cache/gatelatch", "a file where a folder should be");
    assert_alike(&bench);
}
