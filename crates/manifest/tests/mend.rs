//! What is mended without asking: for each kind of mend a manifest before and after, and what holds for all of them.
//!
//! `golden/fix/CASE` holds a manifest as its folder, `sample`, would, and `mended`, what all fixes make of it. Start at
//! `mended`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use gatelatch_manifest::diagnostic::{Diagnostic, Severity, render};
use gatelatch_manifest::document::{EntryManifest, Kind};
use gatelatch_manifest::effect::Effect;
use gatelatch_manifest::mend::{Fix, apply, effect_stub};
use gatelatch_manifest::read::{self, Beside};
use proptest::prelude::*;

fn findings(kind: Kind, bytes: &[u8]) -> Vec<Diagnostic> {
    let beside = |_: &str| Beside::File;
    match kind {
        Kind::Tool => read::tool("tool.yaml", "sample", bytes, &beside).findings,
        Kind::Agent => read::agent("agent.yaml", "sample", bytes, &beside).findings,
        Kind::Skill => read::skill("SKILL.md", "sample", bytes, &beside).findings,
    }
}

fn fixes(kind: Kind, bytes: &[u8]) -> Vec<Fix> {
    findings(kind, bytes).into_iter().filter_map(|finding| finding.fix).map(|fix| *fix).collect()
}

fn errors(kind: Kind, bytes: &[u8]) -> usize {
    findings(kind, bytes).iter().filter(|finding| finding.severity == Severity::Error).count()
}

/// What all fixes make of a text, read again for what came to light, and in how many rounds.
fn mended(kind: Kind, bytes: &[u8]) -> (Vec<u8>, usize) {
    let mut text = bytes.to_vec();
    for round in 0..10 {
        let fixes = fixes(kind, &text);
        if fixes.is_empty() {
            return (text, round);
        }
        text = apply(&text, &fixes).0;
    }
    panic!("the fixes come to no end: {}", String::from_utf8_lossy(&text));
}

fn document(text: &str) -> Option<EntryManifest> {
    read::tool("tool.yaml", "sample", text.as_bytes(), &|_| Beside::File).document
}

#[test]
fn every_mend_gives_what_its_golden_file_says_and_nothing_more() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/fix");
    let mut wrong = String::new();
    for case in fs::read_dir(folder).unwrap() {
        let case = case.unwrap().path();
        let read = |kind: Kind| fs::read(case.join(kind.file())).ok().map(|bytes| (kind, bytes));
        let (kind, before) = Kind::ALL.into_iter().find_map(read).expect("a manifest");
        let (after, rounds) = mended(kind, &before);
        let expected = fs::read(case.join("mended")).unwrap();
        if after != expected {
            let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).escape_debug().to_string().replace("\\n", "\n");
            writeln!(wrong, "== {}\n-- expected\n{}\n-- got\n{}", case.display(), shown(&expected), shown(&after))
                .unwrap();
        }
        if errors(kind, &after) > errors(kind, &before) || rounds > 3 {
            let found = render(&findings(kind, &after));
            writeln!(wrong, "== {}\n{rounds} rounds, then\n{found}", case.display()).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn a_declaration_of_the_chat_surface_is_mended_as_a_manifest_is() {
    let before = "surface_versoin: 1.0.0
tools:
  - name: xlsx_read_sheet   # the first
    title: Read a sheet
    description: Read one sheet's rows.
    tool: xlsx
    readOnly: true
    reversible: 'yes'
    idempotent: true
    open_world: false
    args:
      - {name: rows, type: integer, maximum: 1e3, default: '5', required: no, description: Cap the rows}
    output_schema: {type: object, minProperties: 1.0}
";
    let mut text = before.as_bytes().to_vec();
    for _ in 0..3 {
        let found = read::surface("chat_surface.yaml", &text).findings;
        let fixes: Vec<Fix> = found.into_iter().filter_map(|finding| finding.fix).map(|fix| *fix).collect();
        text = apply(&text, &fixes).0;
    }
    let after = before
        .replace("versoin", "version")
        .replace("readOnly", "read_only")
        .replace("'yes'", "true")
        .replace("1e3", "1000")
        .replace("'5'", "5")
        .replace("required: no", "required: false")
        .replace("1.0}", "1}");
    assert_eq!(String::from_utf8(text.clone()).unwrap(), after);
    let read = read::surface("chat_surface.yaml", &text);
    assert_eq!(render(&read.findings), "");
}

#[test]
fn of_two_fixes_of_one_place_the_first_is_applied_and_the_other_waits() {
    let fix = |range: std::ops::Range<usize>, replacement: &str| Fix {
        range,
        replacement: replacement.to_owned(),
        done: String::new(),
    };
    let (text, applied) = apply(b"abcdef", &[fix(3..5, "Y"), fix(1..4, "X"), fix(5..6, "Z"), fix(9..10, "W")]);
    assert_eq!((text.as_slice(), applied.as_slice()), (b"aXeZ".as_slice(), [1, 2].as_slice()));
}

const HEAD: &str = "name: sample\ndescription: A sample.\nruntime: process\nentrypoint: sample\n";

/// The manifest with an effect written into one action.
fn declared(text: &str, action: Option<&str>) -> Option<String> {
    let stub = effect_stub(Kind::Tool, text.as_bytes(), action)?;
    let text = String::from_utf8(apply(text.as_bytes(), &stub).0).unwrap();
    let document = document(&text).unwrap_or_else(|| panic!("{}", render(&findings(Kind::Tool, text.as_bytes()))));
    let found = document.actions.iter().find(|found| found.name.as_deref() == action).unwrap();
    assert_eq!(found.effect, Some(Effect::Irreversible), "{text}");
    Some(text)
}

const STUB: &str = "effect: irreversible  # say read_only or reversible if that is true";
const COMMENT: &str = "# say read_only or reversible if that is true";

#[test]
fn an_effect_is_written_under_the_description_at_the_keys_own_indentation() {
    let text = format!("{HEAD}actions:\n  -   name: a\n      description: Do a. # c\n      triggers: [x]\n");
    let expected = text.replace("# c\n", &format!("# c\n      {STUB}\n"));
    assert_eq!(declared(&text, Some("a")), Some(expected));
    let unended = format!("{HEAD}actions:\n- description: Do a.\n  name: a");
    assert_eq!(declared(&unended, Some("a")), Some(unended.replace("Do a.\n", &format!("Do a.\n  {STUB}\n"))));
    let last = format!("{HEAD}actions:\n- name: a\n  description: Do a.");
    assert_eq!(declared(&last, Some("a")), Some(format!("{last}\n  {STUB}")));
}

#[test]
fn an_effect_keeps_the_files_line_ends_and_its_byte_order_mark() {
    let text = format!("\u{feff}{HEAD}args: []\n").replace('\n', "\r\n");
    let expected = text.replace("A sample.\r\n", &format!("A sample.\r\n{STUB}\r\n"));
    assert_eq!(declared(&text, None), Some(expected));
}

#[test]
fn an_effect_stands_under_the_name_where_the_description_has_several_lines() {
    for description in [">\n      Do\n      a.", "|-\n      Do a.\n", "'Do\n      a.'"] {
        let text = format!("{HEAD}actions:\n  - name: a\n    description: {description}\n    triggers: [x]\n");
        let written = declared(&text, Some("a")).unwrap();
        assert_eq!(written.replacen(&format!("    {STUB}\n"), "", 1), text, "{written}");
    }
}

#[test]
fn an_effect_in_brackets_has_its_comment_at_the_end_of_the_line() {
    let text = format!(
        "{HEAD}actions:\n  - {{name: a, description: Do a., triggers: [x]}}\n  - {{name: b, description: 'Do b.' }} # c\n"
    );
    let a = text.replace("Do a.,", "Do a., effect: irreversible,").replace("[x]}\n", &format!("[x]}}  {COMMENT}\n"));
    assert_eq!(declared(&text, Some("a")), Some(a));
    let b = text.replace("'Do b.'", "'Do b.', effect: irreversible");
    assert_eq!(declared(&text, Some("b")), Some(b));
    let lines = format!("{HEAD}actions: [\n  {{\n    name: a,\n    description: Do a.,\n  }},\n]\n");
    let expected =
        lines.replace("Do a.,", "Do a., effect: irreversible,").replace("  },\n", &format!("  }},  {COMMENT}\n"));
    assert_eq!(declared(&lines, Some("a")), Some(expected));
}

#[test]
fn a_manifest_that_is_json_stays_json() {
    let text = r#"{"name":"sample","description":"A sample.","runtime":"process","entrypoint":"sample"}"#;
    let written = declared(text, None).unwrap();
    assert_eq!(serde_json::from_str::<serde_json::Value>(&written).unwrap()["effect"], "irreversible", "{written}");
}

#[test]
fn all_actions_of_one_line_get_their_effect_at_once() {
    let text = format!("{HEAD}actions: [{{name: a, description: A.}}, {{name: b, description: B.}}]\n");
    let stubs: Vec<Fix> =
        ["a", "b"].iter().flat_map(|name| effect_stub(Kind::Tool, text.as_bytes(), Some(name)).unwrap()).collect();
    let written = String::from_utf8(apply(text.as_bytes(), &stubs).0).unwrap();
    let expected = text
        .replace("A.}", "A., effect: irreversible}")
        .replace("B.}]", &format!("B., effect: irreversible}}]  {COMMENT}"));
    assert_eq!(written, expected);
}

#[test]
fn an_effect_has_no_certain_place_where_keys_stand_unusually() {
    assert_eq!(
        declared(&format!("{HEAD}actions:\n  - ? name\n    : a\n    ? description\n    : A.\n"), Some("a")),
        None
    );
    assert_eq!(declared(HEAD, Some("absent")), None);
}

/// A manifest with pieces that slip easily, and what each becomes.
const SLIPS: [(&str, &[&str]); 14] = [
    ("description: A sample.", &["descripton: A sample.", "desc: A sample.", "description: A sample.\ncwd:"]),
    ("runtime: process", &["runtime: proces", "runtme: process", "runtime: bash"]),
    ("entrypoint: sample", &["entry_point: sample", "entrypoint: sample\nentrypoint: sample"]),
    ("secrets: [TOKEN]", &["secrets: [TOKEN, TOKEN]", "secrts: [TOKEN]", "secrets: ['TOKEN ']"]),
    ("timeout_s: 5", &["timeout_s: '5'", "timeout: 5", "timout_s: 5", "timeout_s: '5000'"]),
    ("approval: true", &["approval: yes", "approval: no", "aproval: true", "approval: 'true'"]),
    ("actions:", &["action:", "acions:", "Actions:"]),
    ("name: show", &["name: \u{200b}show", "nam: show", "name: 'show '"]),
    ("effect: reversible", &["effect: reversable", "efect: reversible", "effect: irreversibel", "effect:"]),
    ("args:", &["arguments:", "arsg:", "args:\n      - {name: a, type: integer, default: 3}\n      -"]),
    ("type: integer", &["type: int", "typ: integer", "type: 'intege'", "kind: integer"]),
    ("default: 3", &["default: '3'", "defalt: 3", "default: 3, default: 3"]),
    ("enum: [x, y]", &["enum: [x, y, x]", "enum: [x, 5]", "choices: [x, y]"]),
    ("triggers: [t]", &["triggers:", "trigger: [t]", "triggers: t"]),
];

const RIGHT: &str = "# first
name: sample
description: A sample.
runtime: process
entrypoint: sample
secrets: [TOKEN]
limits: {timeout_s: 5}
approval: true
actions:
  - name: show
    description: Show it.   # kept
    effect: reversible
    args:
      - {name: a, type: integer, default: 3}
      - {name: b, type: string, enum: [x, y]}
    triggers: [t]
";

fn slipped() -> impl Strategy<Value = String> {
    let slip = (0..SLIPS.len(), any::<prop::sample::Index>());
    (prop::collection::vec(slip, 0..6), any::<bool>()).prop_map(|(slips, crlf)| {
        let mut text = RIGHT.to_owned();
        for (place, choice) in slips {
            let (right, wrong) = SLIPS[place];
            text = text.replacen(right, wrong[choice.index(wrong.len())], 1);
        }
        if crlf { text.replace('\n', "\r\n") } else { text }
    })
}

#[test]
fn the_manifest_that_slips_is_right_itself() {
    assert_eq!(render(&findings(Kind::Tool, RIGHT.as_bytes())), "");
    for (right, _) in SLIPS {
        assert!(RIGHT.contains(right), "{right}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mending_adds_no_error_ends_and_leaves_nothing_to_mend(text in slipped()) {
        let before = errors(Kind::Tool, text.as_bytes());
        let (after, rounds) = mended(Kind::Tool, text.as_bytes());
        let shown = String::from_utf8_lossy(&after);
        prop_assert!(errors(Kind::Tool, &after) <= before, "{text}\n{shown}");
        prop_assert!(rounds <= 4, "{rounds} rounds for\n{text}");
        prop_assert_eq!(fixes(Kind::Tool, &after), vec![]);
    }

    #[test]
    fn mending_makes_no_effect_milder_and_takes_no_approval_away(text in slipped()) {
        let (after, _) = mended(Kind::Tool, text.as_bytes());
        let after = String::from_utf8(after).unwrap();
        // What is milder than the strictest stands there only where it stood before, spelled as it is.
        let count = |text: &str, what: &str| text.matches(what).count();
        for milder in ["effect: reversible", "effect: read_only", "approval: false", "allow_dash: true"] {
            prop_assert!(count(&after, milder) <= count(&text, milder), "{text}\n{after}");
        }
    }

    #[test]
    fn mending_changes_no_byte_outside_its_ranges(text in slipped()) {
        let fixes = fixes(Kind::Tool, text.as_bytes());
        let (after, applied) = apply(text.as_bytes(), &fixes);
        let mut chosen: Vec<&Fix> = applied.iter().map(|index| &fixes[*index]).collect();
        chosen.sort_by_key(|fix| fix.range.start);
        let (mut rest, mut at) = (after.as_slice(), 0);
        for fix in chosen {
            let kept = &text.as_bytes()[at..fix.range.start];
            prop_assert_eq!(&rest[..kept.len()], kept);
            rest = &rest[kept.len()..];
            prop_assert_eq!(&rest[..fix.replacement.len()], fix.replacement.as_bytes());
            rest = &rest[fix.replacement.len()..];
            at = fix.range.end;
        }
        prop_assert_eq!(rest, &text.as_bytes()[at..]);
    }
}
