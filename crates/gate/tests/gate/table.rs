//! The verdict table `verdicts.txt`, line by line.
//!
//! Owns the form of that file, not its content: a line there is what a person would say of the name. Start at
//! [`the_table_holds`].

use gatelatch_gate::decision::{AskedBy, Door, Policy, Verdict, decide, ruling};
use gatelatch_registry::catalog::{ActionManifest, Catalog, Effect, Entry};

use crate::builder::{action, agent, call, declared, tool};

const TABLE: &str = include_str!("../verdicts.txt");

/// What the reason for every loosening says in the table's catalogs.
const BECAUSE: &str = "its author knows better";

/// One line: what is judged, and the judgement.
struct Row<'a> {
    line: usize,
    name: &'a str,
    manifest: &'a str,
    effect: &'a str,
    because: &'a str,
    verdicts: [&'a str; 3],
}

#[test]
fn the_table_holds() {
    let wrong: Vec<String> = rows().iter().filter_map(fault).collect();
    assert!(wrong.is_empty(), "{} lines do not hold:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_table_judges_at_least_320_names_each_once() {
    let mut judged: Vec<_> = rows().iter().map(|row| (row.name, row.manifest)).collect();
    let lines = judged.len();
    judged.sort_unstable();
    judged.dedup();
    assert_eq!(judged.len(), lines, "a line is there twice");
    judged.dedup_by_key(|(name, _)| *name);
    assert!(judged.len() >= 320, "{} names", judged.len());
}

fn rows() -> Vec<Row<'static>> {
    let lines = TABLE.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|(index, line)| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let [name, manifest, effect, because, plain, confirmed, headless] = cells[..] else {
                panic!("line {}: seven cells are due: {line}", index + 1);
            };
            Row { line: index + 1, name, manifest, effect, because, verdicts: [plain, confirmed, headless] }
        })
        .collect()
}

fn fault(row: &Row<'_>) -> Option<String> {
    let subject = subject(row);
    let (kind, name) = (subject.manifest.kind, subject.manifest.name.clone());
    let action = subject.manifest.actions[0].name.clone();
    let catalog = catalog(subject);
    let entry = catalog.entry(kind, &name).expect("just linked");
    let ruling = ruling(&catalog, entry, &entry.manifest.actions[0]);
    let policy = |deny_irreversible| Policy { asked_by: AskedBy::Client, deny_irreversible };
    let verdict = |policy, door| word(&decide(&catalog, &policy, door, call(&catalog, kind, &name, action.as_deref())));
    let verdicts = [
        verdict(policy(false), Door::Plain),
        verdict(policy(false), Door::Confirmed),
        verdict(policy(true), Door::Confirmed),
    ];
    let headless_plain = verdict(policy(true), Door::Plain);
    assert_eq!(headless_plain, verdicts[2], "line {}: with no human both doors say the same", row.line);
    let holds = (ruling.effect.as_str(), ruling.because.as_str()) == (row.effect, sentence(row).as_str());
    (!holds || verdicts != row.verdicts).then(|| {
        format!(
            "{}: {} [{}]: {} because {}: {verdicts:?}",
            row.line, row.name, row.manifest, ruling.effect, ruling.because
        )
    })
}

/// `tool action`, `tool` alone for a nameless action, or `agent:name`.
fn subject(row: &Row<'_>) -> Entry {
    if let Some(name) = row.name.strip_prefix("agent:") {
        let (own, uses) = row.manifest.split_once("uses ").unwrap_or((row.manifest, ""));
        let uses: Vec<&str> = uses.split_whitespace().collect();
        return agent(name, manifest(None, own), &uses);
    }
    let (name, action) = row.name.split_once(' ').map_or((row.name, None), |(name, action)| (name, Some(action)));
    tool(name, vec![manifest(action, row.manifest)])
}

/// `-`, or any of an effect, `because`, `approval`.
fn manifest(name: Option<&str>, says: &str) -> ActionManifest {
    let mut action = action(name);
    for word in says.split_whitespace() {
        match word {
            "-" => {}
            "because" => action.because = Some(BECAUSE.to_owned()),
            "approval" => action.approval = true,
            word => action.effect = Some(effect(word)),
        }
    }
    action
}

fn effect(word: &str) -> Effect {
    Effect::ALL.into_iter().find(|effect| effect.as_str() == word).unwrap_or_else(|| panic!("no effect: {word}"))
}

/// The catalog that the table's agents use, with the row's own entry first.
fn catalog(subject: Entry) -> Catalog {
    let safe = ActionManifest { approval: true, ..declared(Some("open-safe"), Effect::Reversible) };
    let mailbox = ["list-messages", "draft-message", "send-message"].map(|name| action(Some(name)));
    let entries = vec![
        subject,
        tool("mailbox", mailbox.into()),
        tool("locker", vec![safe]),
        tool("mystery", vec![action(Some("frobnicate"))]),
    ];
    Catalog::link(entries, Vec::new())
}

/// The sentence that a short word of the table stands for.
fn sentence(row: &Row<'_>) -> String {
    let declared = row.manifest.split(' ').next().unwrap_or_default();
    match row.because.split_once(' ').unwrap_or((row.because, "")) {
        ("undeclared", "") => "no effect is declared".to_owned(),
        ("declared", "") => "declared in the manifest".to_owned(),
        ("approval", "") => "the manifest asks for approval".to_owned(),
        ("uses", name) => format!("it uses `{name}`"),
        ("unknown", name) => format!("it uses `{name}`, which is not in the catalog"),
        ("loosened", words) => format!("declared in the manifest, though the name says `{words}`: {BECAUSE}"),
        ("ignored", words) => format!("the name says `{words}`, and {declared} is declared without a `because:`"),
        (_, _) => format!("the name says `{}`", row.because),
    }
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Run(_) => "run",
        Verdict::AskFirst(_) => "ask",
        Verdict::Denied(_) => "denied",
    }
}
