//! Results of 5 MB through the real server: what the server's memory grows by, and what comes back.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

#[path = "harness/server.rs"]
#[allow(dead_code, reason = "each test file uses its part")]
mod server;

use serde_json::{Value, json};
use server::{Bench, Server};

/// What a result may cost, in KiB.
const ALLOWED: u64 = 16 << 10;
/// What an answer may take, in bytes.
const CAP: usize = 64 * 1024;

const MANIFEST: &str = "name: flood
description: Prints much.
runtime: python
entrypoint: main.py
limits: {max_output_bytes: 8388608}
narrow_with: [count]
secrets: [FLOOD_KEY]
actions:
  - name: read-much
    description: Read much.
    effect: read_only
    args:
      - {name: shape, type: string, required: true, description: Which shape}
      - {name: count, type: integer, description: How many}
    output_schema: {type: object, properties: {rows: {type: array}}}
";

/// Writes the JSON as it goes, since 5 MB of small values are large in Python, too.
const PROGRAM: &str = r#"import itertools, json, sys
shape = sys.argv[sys.argv.index('--shape') + 1]
out = sys.stdout.write
def each(count, one):
    for number in range(count):
        out((',' if number else '') + one(number))
if shape == 'integers':
    out('{"rows":['); each(2500000, lambda n: str(n % 10)); out(']}')
elif shape == 'rows':
    out('{"sheet":"S","rows":['); each(100000, lambda n: json.dumps([n, 'a cell', n / 4, None, True, 'another cell'])); out('],"total":100000}')
elif shape == 'text':
    out('{"body":"'); each(50000, lambda n: '-' * 99); out('","more":1}')
elif shape == 'lines':
    out('{"body":"'); each(300000, lambda n: 'a line of a log\\n'); out('","key":"' + 'flood-key-1 ' + '"}')
elif shape == 'members':
    out('{"values":{'); each(100000, lambda n: json.dumps('name%d' % n) + ': {"n": %d, "text": "some more text here"}' % n); out('},"total":100000}')
elif shape == 'arrays':
    out('{"groups":{'); each(2000, lambda n: '"g%d": [' % n + ','.join(['[1]'] * 600) + ']'); out('}}')
elif shape == 'objects':
    out('{"rows":['); each(700000, lambda n: '{"a":1}'); out(']}')
elif shape == 'deep':
    for level in range(100):
        out('{"much":[' + ','.join(['{}'] * 17000) + '],"inner":')
    out('1' + '}' * 100)
elif shape == 'no-json':
    each(300000, lambda n: 'no JSON flood-key-1\n')
elif shape == 'numbers':
    out('{"rows":['); each(500000, lambda n: '1234567890'); out(']}')
elif shape == 'error':
    out('{"error":"no","rows":['); each(2500000, lambda n: str(n % 10)); out(']}')
    sys.exit(3)
"#;

fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("catalog/tools/flood/tool.yaml", MANIFEST);
    bench.write("catalog/tools/flood/main.py", PROGRAM);
    bench
}

fn serve(bench: &Bench, key: &str) -> Server {
    let mut server = bench.serve_with(&["--catalog", "catalog", "operator"], &[("FLOOD_KEY", key)]);
    server.initialize();
    let (_, list) = server.call("capabilities", json!({}));
    assert!(list.to_string().contains("flood"), "{list}");
    server
}

/// The most memory that the server ever held, in KiB.
fn high_water(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.process())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// One result of that shape: whether it failed, and what is left of it. It is small enough, shows as much as fits, and
/// tells totals and the way out.
fn flood(server: &mut Server, shape: &str) -> (bool, Value) {
    let arguments = json!({ "tool": "flood", "action": "read-much", "args": { "shape": shape } });
    let answer = server.request("tools/call", json!({ "name": "run_tool", "arguments": arguments }));
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
    let value: Value = serde_json::from_str(text).unwrap();
    assert_eq!(answer["result"]["structuredContent"], value);
    assert!(text.len() <= CAP, "{shape}: {} bytes", text.len());
    assert!(text.len() > CAP * 9 / 10, "{shape}: as much as fits is shown, not {} bytes", text.len());
    assert!(value["_cut"]["bytes"].as_u64().unwrap() > 4_800_000, "{shape}: {}", value["_cut"]);
    assert!(value["_cut"]["hint"].as_str().unwrap().contains("`count`"), "{shape}: {}", value["_cut"]);
    (answer["result"]["isError"] == true, value)
}

/// [`flood`] from a server of its own, which must cost little.
fn flood_once(shape: &str, key: &str) -> (bool, Value) {
    let bench = bench();
    let mut server = serve(&bench, key);
    let before = high_water(&server);
    let (failed, value) = flood(&mut server, shape);
    let grown = high_water(&server) - before;
    assert!(grown < ALLOWED, "{shape}: grew by {grown} KiB");
    (failed, value)
}

/// The first part that went of a result that did not fail.
fn first_part(shape: &str) -> Value {
    let (failed, value) = flood_once(shape, "flood-key-2");
    assert!(!failed, "{shape}: {value}");
    let part = &value["_cut"]["parts"][0];
    json!([part["at"], part["of"], part["unit"]])
}

#[test]
fn results_of_5_mb_cost_less_than_16_mib_and_come_back_within_the_cap_with_their_totals() {
    for (shape, part) in [
        ("integers", json!(["/rows", 2_500_000, "items"])),
        ("rows", json!(["/rows", 100_000, "items"])),
        ("text", json!(["/body", 4_999_999, "characters"])),
        ("members", json!(["/values", 100_000, "members"])),
    ] {
        assert_eq!(first_part(shape), part, "{shape}");
    }
}

#[test]
fn no_shape_costs_more() {
    for (shape, part) in [
        ("lines", json!(["/body", 5_099_999, "characters"])),
        ("arrays", json!(["/groups", 2000, "members"])),
        ("objects", json!(["/rows", 700_000, "items"])),
        ("no-json", json!(["/text", 6_299_998, "characters"])),
    ] {
        assert_eq!(first_part(shape), part, "{shape}");
    }
    let (failed, deep) = flood_once("deep", "flood-key-2");
    assert!(!failed && deep["inner"]["inner"].is_object(), "{}", deep["_cut"]);
}

#[test]
fn what_stands_behind_a_large_member_is_not_lost() {
    let (_, rows) = flood_once("rows", "flood-key-2");
    assert_eq!((&rows["sheet"], &rows["total"]), (&json!("S"), &json!(100_000)));
}

#[test]
fn a_large_error_of_a_tool_is_bounded_too() {
    let (failed, value) = flood_once("error", "flood-key-2");
    assert!(failed);
    assert_eq!((&value["error"], &value["detail"]["error"]), (&json!("tool_failed"), &json!("no")));
    assert_eq!(value["_cut"]["parts"][0]["at"], "/detail/rows");
    assert_eq!(value["_cut"]["parts"][0]["of"], 2_500_000);
}

#[test]
fn secrets_are_masked_in_large_results_at_the_same_price() {
    for (shape, key, masked) in [
        ("lines", "flood-key-1", "***FLOOD_KEY***"),
        ("no-json", "flood-key-1", "no JSON ***FLOOD_KEY***"),
        ("numbers", "1234567890", "\"***FLOOD_KEY***\",\"***FLOOD_KEY***\""),
    ] {
        let value = flood_once(shape, key).1.to_string();
        assert!(value.contains(masked) && !value.contains(key), "{shape}");
    }
}

#[test]
fn the_price_does_not_grow_with_the_number_of_large_results() {
    let bench = bench();
    let mut server = serve(&bench, "flood-key-2");
    let mut round = || {
        for shape in ["lines", "objects", "members", "text"] {
            flood(&mut server, shape);
        }
        high_water(&server)
    };
    // The allocator keeps some room for each thread that has once read a large result, and there are a few such threads:
    // what grows with the number of results grows in every round.
    let mut highest = vec![round()];
    while highest.len() < 6 && highest.windows(2).all(|pair| pair[1] - pair[0] >= ALLOWED / 4) {
        highest.push(round());
    }
    let grown: Vec<u64> = highest.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(grown.last().is_some_and(|grown| *grown < ALLOWED / 4), "grew by {grown:?} KiB, round by round");
}
