//! What a caller may not see is exactly as absent as what does not exist.

use std::collections::BTreeSet;

use gatelatch_discovery::help;
use gatelatch_discovery::ladder::{View, search};
use gatelatch_registry::arguments::Arguments;
use gatelatch_registry::catalog::{ActionManifest, ArgumentType, Catalog, Entry, Kind, Skill};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::build::{Details, House, WithActions, action, agent, arg, ask_in, office, skill, tool};

const WORDS: [&str; 14] = [
    "send", "list", "message", "sheet", "report", "user", "delete", "export", "calendar", "invoice", "payment",
    "order", "weather", "archive",
];

/// An action by a few numbers: its name, its description and an argument.
fn small_action(numbers: &[usize; 4]) -> ActionManifest {
    let word = |at: usize| WORDS[numbers[at] % WORDS.len()];
    action(&format!("{}-{}", word(0), word(1)), &format!("To {} a {} or {}.", word(0), word(1), word(2)))
        .takes(arg(word(3), ArgumentType::String, word(2)))
        .needs(arg("id", ArgumentType::Integer, ""))
}

fn small_entry(number: usize, name: usize, actions: &[[usize; 4]]) -> Entry {
    let name = format!("{}-{number}", WORDS[name % WORDS.len()]);
    let mut entry = if number.is_multiple_of(3) { agent(&name, "Something.") } else { tool(&name, "Something else.") };
    for made in actions.iter().map(small_action) {
        if entry.action(made.name.as_deref()).is_none() {
            entry = entry.has(made);
        }
    }
    entry
}

/// `entry.action`, or a skill's name.
type Hidden = BTreeSet<String>;

fn key(entry: &Entry, action: &ActionManifest) -> String {
    format!("{} {}.{:?}", entry.manifest.kind.as_str(), entry.manifest.name, action.name)
}

/// The catalog as if what is hidden had never been written.
fn without(catalog: &Catalog, hidden: &Hidden) -> House {
    let entries = catalog.entries().iter().filter_map(|entry| {
        let mut entry = Entry::clone(entry);
        let actions = std::mem::take(&mut entry.manifest.actions);
        entry.manifest.actions = actions.into_iter().filter(|action| !hidden.contains(&key(&entry, action))).collect();
        (!entry.manifest.actions.is_empty()).then_some(entry)
    });
    let skills = catalog.skills().iter().filter(|skill| !hidden.contains(&skill.manifest.name));
    House::new(entries.collect(), skills.map(|skill| Skill::clone(skill)).collect())
}

fn reason(entry: &Entry) -> Option<String> {
    entry.manifest.name.ends_with('1').then(|| "python not found".to_owned())
}

/// Everything that can be asked about a catalog.
fn questions(catalog: &Catalog) -> Vec<Value> {
    let mut asked =
        vec![json!({}), json!({"search": "send a message"}), json!({"search": "mesage"}), json!({"search": "zzz"})];
    asked.extend(["tool", "agent", "skill", "toolset"].map(|kind| json!({"kind": kind})));
    asked.extend(WORDS.map(|word| json!({"search": word})));
    asked.extend(WORDS.map(|word| json!({"search": &word[..word.len() - 1]})));
    for entry in catalog.entries() {
        let name = &entry.manifest.name;
        asked.push(json!({"name": name}));
        asked.push(json!({"name": name, "kind": "toolset"}));
        asked.push(json!({"name": name, "search": "list order"}));
        asked.push(json!({"name": format!("{name}x")}));
        for action in entry.manifest.actions.iter().filter_map(|action| action.name.as_ref()) {
            asked.push(json!({"name": name, "action": action}));
            asked.push(json!({"name": name, "action": format!("{action}s")}));
            asked.push(json!({"action": action}));
            asked.push(json!({"name": action}));
            asked.push(json!({"name": format!("{name}.{action}")}));
        }
    }
    asked.extend(catalog.skills().iter().map(|skill| json!({"name": skill.manifest.name})));
    asked
}

/// The help for wrong calls of what both catalogs have.
fn helps(view: &View<'_>) -> Vec<Value> {
    let mut helps = Vec::new();
    let wrong = json!({"order": 1, "weather": true, "nothing": "x"});
    for entry in view.catalog.entries() {
        let visible: Vec<&ActionManifest> =
            entry.manifest.actions.iter().filter(|action| (view.sees)(entry, action)).collect();
        for action in &visible {
            if let Err(faults) = Arguments::parse(action, &wrong) {
                helps.push(help::bad_arguments(view, entry, action, &wrong, &faults).to_value());
            }
            let child = json!({"text": "error: unrecognized arguments: --order --weather"});
            helps.extend(help::child_usage(view, entry, action, &child).map(|error| error.to_value()));
        }
        if !visible.is_empty() {
            for action in [None, Some("send"), Some("message-list"), Some("xyz")] {
                helps.push(help::unknown_action(view, entry, action).to_value());
            }
        }
    }
    helps
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn an_invisible_action_changes_nothing_in_any_answer(
        entries in prop::collection::vec((0_usize..14, prop::collection::vec(any::<[u8; 4]>(), 1..5)), 1..7),
        hides in prop::collection::vec(any::<bool>(), 40),
        max_bytes in prop::sample::select(vec![400_usize, 3_000, 40_000]),
    ) {
        let made = entries.iter().enumerate().map(|(number, (name, actions))| {
            let actions: Vec<[usize; 4]> = actions.iter().map(|numbers| numbers.map(usize::from)).collect();
            small_entry(number, *name, &actions)
        });
        let skills = vec![skill("send-report", "How to send a report."), skill("archive-order", "Archive an order.")];
        let whole = House::new(made.collect(), skills);
        let mut hides = hides.into_iter().cycle();
        let mut hidden = Hidden::new();
        for entry in whole.catalog.entries() {
            for action in &entry.manifest.actions {
                if hides.next().unwrap_or_default() {
                    hidden.insert(key(entry, action));
                }
            }
        }
        if hides.next().unwrap_or_default() {
            hidden.insert("send-report".to_owned());
        }
        let bare = without(&whole.catalog, &hidden);
        let sees = |entry: &Entry, action: &ActionManifest| !hidden.contains(&key(entry, action));
        let sees_skill = |skill: &Skill| !hidden.contains(&skill.manifest.name);
        let narrow = View { sees: &sees, sees_skill: &sees_skill, not_ready: &reason, max_bytes, ..whole.view() };
        let plain = View { not_ready: &reason, max_bytes, ..bare.view() };
        for question in questions(&whole.catalog) {
            prop_assert_eq!(ask_in(&narrow, question.clone()), ask_in(&plain, question.clone()), "{}", question);
        }
        for words in ["send", "user report list", "expor"] {
            prop_assert_eq!(search(&narrow, words, None, 20), search(&plain, words, None, 20));
        }
        for entry in whole.catalog.entries() {
            let (kind, name) = (entry.manifest.kind, entry.manifest.name.as_str());
            for other in [Kind::Tool, Kind::Agent, Kind::Skill] {
                let (one, two) = (help::unknown_entry(&narrow, other, name), help::unknown_entry(&plain, other, name));
                prop_assert!(kind == other || one == two, "{:?} {:?}", one, two);
            }
        }
        prop_assert_eq!(helps(&narrow), helps(&plain));
    }
}

#[test]
fn an_entry_without_a_visible_action_is_not_there() {
    let office = office();
    let sees = |entry: &Entry, _: &ActionManifest| entry.manifest.name != "xlsx";
    let view = View { sees: &sees, ..office.view() };
    let missing = ask_in(&view, json!({"name": "xlsx"}));
    assert_eq!(missing["error"], "unknown_name");
    let text =
        format!("{}{}", ask_in(&view, json!({})), ask_in(&view, json!({"search": "read sheet spreadsheet excel"})));
    assert!(!text.contains("xlsx") && !text.contains("read-sheet"), "{text}");
}

#[test]
fn a_misspelling_is_not_corrected_to_a_word_that_only_hidden_actions_have() {
    let house = House::new(
        vec![
            tool("open", "Open.").has(action("run", "Runs.")),
            tool("closed", "Closed.").has(action("detonate", "Detonates the warhead.")),
        ],
        Vec::new(),
    );
    let sees = |entry: &Entry, _: &ActionManifest| entry.manifest.name == "open";
    let view = View { sees: &sees, ..house.view() };
    for words in ["warhed", "detonat", "warhead", "detonaet"] {
        let answer = ask_in(&view, json!({"search": words}));
        assert_eq!((&answer["matches"], &answer["nearest_words"]), (&json!([]), &json!([])), "{answer}");
    }
}
