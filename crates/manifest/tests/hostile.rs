//! Manifests that mean harm: each is refused quickly and in little memory, whatever it holds.
//!
//! One test, so that nothing else in this process takes time or memory meanwhile. Start at `attacks`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::fs;
use std::time::{Duration, Instant};

use gatelatch_manifest::diagnostic::{Diagnostic, Severity, render};
use gatelatch_manifest::read::{self, Beside, Read};

/// The most that reading a hostile manifest may take. An unoptimised build is given more time; the memory is the same.
const MOST_TIME: Duration = Duration::from_millis(if cfg!(debug_assertions) { 2000 } else { 100 });
const MOST_MEMORY: u64 = 32 << 20;

const HEAD: &str = "name: sample\ndescription: A sample.\nruntime: process\nentrypoint: sample\n";

/// As many copies as a manifest's size allows, after a head and between an opening and a closing.
fn overfilled(open: &str, copy: impl Fn(usize) -> String, close: &str) -> String {
    filled_with(open, copy, close, usize::MAX)
}

/// As many copies as a manifest's size and its number of values allow, so that nothing is refused for that alone.
fn filled(open: &str, copy: impl Fn(usize) -> String, close: &str) -> String {
    filled_with(open, copy, close, 90_000)
}

fn filled_with(open: &str, copy: impl Fn(usize) -> String, close: &str, most_values: usize) -> String {
    filled_after(HEAD, open, &copy, close, most_values)
}

fn filled_after(head: &str, open: &str, copy: &dyn Fn(usize) -> String, close: &str, most_values: usize) -> String {
    let mut text = format!("{head}{open}");
    let mut values = values_in(&text);
    for number in 0.. {
        let next = copy(number);
        values += values_in(&next);
        if text.len() + next.len() + close.len() > read::MOST_BYTES || values > most_values {
            break;
        }
        text.push_str(&next);
    }
    text + close
}

/// At least as many as the YAML text has.
fn values_in(text: &str) -> usize {
    text.matches(": ").count() * 2
        + text.matches(":\n").count()
        + text.matches([',', '{', '[']).count()
        + text.matches("- ").count()
}

fn always(text: &str) -> impl Fn(usize) -> String {
    move |_| text.to_owned()
}

/// Every attack: what it is, and the text.
fn attacks() -> Vec<(&'static str, String)> {
    let ladder: String = (1..400).map(|level| format!("{}a:\n", " ".repeat(level))).collect();
    let laughs: String =
        (1..12).map(|n| format!("a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 10].join(","))).collect();
    let long_key = "k".repeat(1000);
    let nested_keys: String =
        (0..45).map(|level| format!("{}properties: {{{long_key}: {{", " ".repeat(level))).collect();
    vec![
        ("deep brackets", overfilled("x: ", always("["), "")),
        ("deep braces", overfilled("x: ", always("{a: "), "")),
        ("deep dashes", overfilled("x:\n  ", always("- "), "1\n")),
        ("deep indentation", format!("{HEAD}x:\n{ladder}")),
        ("deep explicit keys", filled("", always("? "), "")),
        ("an alias bomb", format!("{HEAD}a0: &a0 lol\n{laughs}")),
        ("many anchors", filled("triggers: [", |n| format!("&a{n} b,"), "]\n")),
        ("many aliases", filled("triggers: [&a b", always(",*a"), "]\n")),
        ("many tags", filled("triggers: [", always("!a b,"), "]\n")),
        ("a huge text", filled("cwd: ", always("x"), "\n")),
        ("a huge text that grows when its escapes are undone", filled("cwd: \"", always("\\L"), "\"\n")),
        ("a huge block of text", filled("because: |\n", always("  line\n"), "")),
        ("a huge key", filled("", always("k"), ": 1\n")),
        ("many values", overfilled("triggers: [", always("a,"), "]\n")),
        ("many empty values", overfilled("triggers: [", always("[],"), "]\n")),
        ("many unknown keys", filled("", |n| format!("k{n}:\n"), "")),
        ("many unknown keys that are nearly known", filled("", |n| format!("descripti{n}: 1\n"), "")),
        ("many duplicate keys in one line", filled("x: {name: b", always(", name: b"), "}\n")),
        (
            "many duplicate choices in one line",
            filled("args: [", |n| format!("{{name: a{n}, type: string, enum: [{}]}}, ", "x, ".repeat(900)), "]\n"),
        ),
        (
            "many unknown keys that are nearly known, in many mappings",
            filled(
                "actions:\n",
                |n| format!("- {{{}}}\n", (0..20).map(|k| format!("descripti{k}x{n}: 1, ")).collect::<String>()),
                "",
            ),
        ),
        ("many equal arguments", filled("args: [", always("{name: a, type: path}, "), "]\n")),
        ("many duplicate keys", filled("", always("name: b\n"), "")),
        ("many documents", filled("", always("---\n"), "")),
        ("nothing but line breaks", filled("x: 1\n", always("\n"), "")),
        ("nothing but comments", filled("x: 1\n", always("# c\n"), "")),
        ("one line of many faults", filled("actions: [", always("{é: 1},"), "]\n")),
        ("many actions without a description", filled("actions:\n", |n| format!("- name: a{n}\n"), "")),
        ("many equal actions", filled("actions:\n", always("- {name: a, description: a}\n"), "")),
        ("many arguments", filled("args:\n", |n| format!("- {{name: a{n}, type: boolean, negatable: true}}\n"), "")),
        ("many choices", filled("args:\n- name: a\n  type: string\n  enum: [", |n| format!("{n}a,"), "]\n")),
        ("many wrong choices", filled("args:\n- name: a\n  type: integer\n  enum: [", |n| format!("a{n},"), "]\n")),
        (
            "many large patterns",
            filled("args:\n", |n| format!("- {{name: a{n}, type: string, pattern: '\\w{{99}}', default: a}}\n"), ""),
        ),
        (
            "many slow classes",
            filled(
                "args:\n",
                |n| format!("- {{name: a{n}, type: string, pattern: '(?i){}'}}\n", "\\pL".repeat(100)),
                "",
            ),
        ),
        (
            "many patterns in a schema",
            filled(
                "output_schema:\n  type: object\n  properties:\n",
                |n| format!("    a{n}: {{pattern: '\\w{{99}}'}}\n"),
                "",
            ),
        ),
        (
            "a pattern and much text",
            filled(
                "args:\n- name: a\n  type: string\n  pattern: '([ab]{1,900}c){1,20}'\n  unknown: 1\n  default: ",
                always("ab"),
                "\n",
            ),
        ),
        (
            "many examples",
            filled("args:\n- {name: a, type: string, required: true}\nexamples:\n", always("- args: {b: 1}\n"), ""),
        ),
        (
            "many narrowing names that are nearly known",
            filled(
                &format!(
                    "narrow_with: [{}]\nactions:\n",
                    (0..200).map(|n| format!("aaaaaaaaaaaaaaaa{n:04}")).collect::<Vec<_>>().join(",")
                ),
                |n| format!("- {{name: n{n}, description: a, args: [{{name: aaaaaaaaaaaaaaab{n:04}, type: path}}]}}\n"),
                "",
            ),
        ),
        (
            "much that every action inherits",
            filled(
                &format!(
                    "cwd: {}\nenv: [{}]\nactions:\n",
                    "x".repeat(20_000),
                    (0..2000).map(|n| format!("V{n:060}")).collect::<Vec<_>>().join(",")
                ),
                |n| format!("- {{name: n{n}, description: a}}\n"),
                "",
            ),
        ),
        (
            "an invalid schema of many faults",
            filled("output_schema:\n  type: object\n  properties:\n", |n| format!("    a{n}: {{type: x}}\n"), ""),
        ),
        (
            "a schema of long paths",
            format!("{HEAD}output_schema: {{type: object, {nested_keys}type: x{}", "}}".repeat(45) + "}\n"),
        ),
        (
            "a schema of long paths with many ends",
            filled(
                &format!("output_schema: {{type: object, {nested_keys}anyOf: ["),
                always("{$ref: x},"),
                &("]".to_owned() + &"}}".repeat(45) + "}\n"),
            ),
        ),
        (
            "a chain of references",
            filled(
                "output_schema:\n  type: object\n  $ref: '#/$defs/d0'\n  $defs:\n",
                |n| format!("    d{n}: {{$ref: '#/$defs/d{}'}}\n", n + 1),
                "",
            ),
        ),
        (
            "references that multiply",
            filled(
                "output_schema:\n  type: object\n  $ref: '#/$defs/d0'\n  $defs:\n",
                |n| format!("    d{n}: {{allOf: [{{$ref: '#/$defs/d{0}'}}, {{$ref: '#/$defs/d{0}'}}]}}\n", n + 1),
                "    d9: {}\n",
            ),
        ),
        ("texts that comments cut", filled("triggers:\n", always("- a #b\n"), "")),
        ("an open bracket over many signs", filled("triggers: [\n", always("  a, \"b #]\",\n"), "")),
        ("hidden characters everywhere", filled("triggers: [", always("a\u{200b}\u{202e}\u{430}b,"), "]\n")),
    ]
}

/// Every attack on the reader of declarations that none on the reader of manifests tries.
fn attacks_on_declarations() -> Vec<(&'static str, String)> {
    let tool =
        "name: a_b, title: a, description: a, read_only: true, reversible: true, idempotent: true, open_world: true";
    let head = format!("surface_version: 1.0.0\ntools:\n- {{{tool}, output_schema: {{type: object}}, ");
    let filled = |open: &str, copy: &dyn Fn(usize) -> String, close: &str| {
        filled_after(&head, open, copy, &format!("{close}}}\n"), 90_000)
    };
    let many_args: String =
        (0..200).map(|n| format!("{{name: aaaaaaaaaaaaaaaa{n:04}, type: path, description: a}},")).collect();
    let many_steps =
        |args: &str| (0..19).map(|n| format!("{{id: s{n}, tool: t, args: {{{args}}}}},")).collect::<String>();
    vec![
        (
            "many equal published tools",
            filled_after("surface_version: 1.0.0\ntools:\n", "", &always("- {name: a_b}\n"), "", 90_000),
        ),
        (
            "many published tools without anything",
            filled_after("surface_version: 1.0.0\ntools:\n", "", &|n| format!("- {{name: a_{n}}}\n"), "", 90_000),
        ),
        ("many steps", filled("steps: [", &|n| format!("{{id: s{n}}},"), "]")),
        ("many equal steps", filled("steps: [", &always("{id: s, tool: t},"), "]")),
        (
            "many sources that are nearly known",
            filled(
                &format!("args: [{many_args}], steps: [{} {{id: s, tool: t, args: {{", many_steps("")),
                &|n| format!("a{n}: {{arg: aaaaaaaaaaaaaaab{n:04}}},"),
                "}}]",
            ),
        ),
        (
            "many steps that are nearly known",
            filled(
                &format!("steps: [{} {{id: s, tool: t, args: {{", many_steps("")),
                &|n| format!("a{n}: {{step: s{n}x}},"),
                "}}]",
            ),
        ),
        (
            "many members",
            filled("steps: [{id: a, tool: t}, {id: b, tool: t}], output: {", &|n| format!("m{n}: {{step: a}},"), "}"),
        ),
        (
            "many required members",
            filled(
                "steps: [{id: a, tool: t}, {id: b, tool: t}], output: {m: {step: a}}, args: [{name: x}], output_schema: {type: object, required: [",
                &|n| format!("n{n},"),
                "]}",
            ),
        ),
        (
            "a long pointer",
            filled("steps: [{id: a, tool: t}, {id: b, tool: t, args: {x: {step: a, at: '", &always("~/"), "'}}}]"),
        ),
        ("many fixed arguments", filled("tool: t, fixed: {", &|n| format!("f{n}: &a x,"), "}")),
        (
            "many numbers",
            filled("tool: t, fixed: {a: 1}, output_schema: {type: object, enum: [", &always("1.0,"), "]}"),
        ),
        ("a long number", filled("tool: t, output_schema: {type: object, maximum: 0.", &always("1"), "}")),
        ("many words in one name", filled("tool: t, args: [{name: a, type: string, header: '", &always("aK_"), "'}]")),
        ("deep sources", filled("steps: [{args: {a: {value: ", &always("["), "")),
        (
            "many narrowing names",
            filled(
                &format!("tool: t, args: [{many_args}], result: {{narrow_with: ["),
                &|n| format!("aaab{n:04},"),
                "]}",
            ),
        ),
    ]
}

/// What reading a hostile text took and gave: whether a document, and what was found.
struct Outcome {
    took: Duration,
    document: bool,
    findings: Vec<Diagnostic>,
}

fn timed<T>(read: impl FnOnce() -> Read<T>) -> Outcome {
    let start = Instant::now();
    let read = read();
    Outcome { took: start.elapsed(), document: read.document.is_some(), findings: read.findings }
}

fn tool(text: &str) -> Outcome {
    timed(|| read::tool("tool.yaml", "sample", text.as_bytes(), &|_| Beside::Nothing))
}

fn declaration(text: &str) -> Outcome {
    timed(|| read::surface("chat_surface.yaml", text.as_bytes()))
}

/// The most memory that this process has had at once, since [`forget_peak`].
fn peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib << 10)
}

/// Starts the peak anew from what the process has now.
fn forget_peak() -> Option<u64> {
    fs::write("/proc/self/clear_refs", "5").ok()?;
    peak()
}

#[test]
fn a_hostile_manifest_is_refused_in_little_time_and_memory() {
    // What is made once and kept (the meta-schema) is nobody's fault.
    let warm = format!("{HEAD}output_schema: {{type: object, properties: {{a: {{pattern: a}}}}}}\n");
    assert!(read::tool("tool.yaml", "sample", warm.as_bytes(), &|_| Beside::Nothing).document.is_some());
    let of = |read: fn(&str) -> Outcome, attacks: Vec<(&'static str, String)>| {
        attacks.into_iter().map(move |(name, text)| (read, name, text))
    };
    let declarations = attacks_on_declarations();
    let attacks: Vec<_> = of(tool, attacks()).chain(of(declaration, declarations)).collect();
    let before = forget_peak();
    let mut faults = Vec::new();
    for (read, name, text) in &attacks {
        assert!(text.len() <= read::MOST_BYTES, "{name}");
        let Outcome { mut took, document, findings } = read(text);
        // What else the machine does at the moment is not the manifest's fault.
        for _ in 0..4 {
            if took > MOST_TIME {
                took = read(text).took;
            }
        }
        let grown = before.and_then(|before| peak().map(|after| after.saturating_sub(before)));
        let kib = grown.unwrap_or(0) >> 10;
        println!("{name}: {} bytes, {took:?}, {kib} KiB so far, {} findings", text.len(), findings.len());
        let broken = findings.iter().any(|finding| finding.severity == Severity::Error);
        if took > MOST_TIME || grown.is_some_and(|grown| grown > MOST_MEMORY) || !broken || document {
            faults.push(format!("{name}: {took:?}, {kib} KiB, refused: {broken}"));
        }
        let told = render(&findings);
        assert!(told.len() < 400_000, "{name}: what is said stays readable: {} bytes", told.len());
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
