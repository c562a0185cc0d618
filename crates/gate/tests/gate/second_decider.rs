//! A second decider, written as plainly as it can be, held against the real one.
//!
//! Owns a small vocabulary whose meaning is told beside each word, so that it reads no name. Start at [`naive`].

use gatelatch_gate::decision::{AskedBy, Door, Policy, Verdict, decide, ruling};
use gatelatch_gate::name::NameReading;
use gatelatch_registry::catalog::{ActionManifest, Catalog, Effect, Entry, Kind};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use crate::builder::{action, agent, call, tool};

/// Names and what a person says of them; `None` for nothing.
const NAMES: [(&str, Option<Effect>); 15] = [
    ("list-items", Some(Effect::ReadOnly)),
    ("get_order", Some(Effect::ReadOnly)),
    ("items.search", Some(Effect::ReadOnly)),
    ("createItem", Some(Effect::Reversible)),
    ("item-update", Some(Effect::Reversible)),
    ("find-or-create", Some(Effect::Reversible)),
    ("send", Some(Effect::Irreversible)),
    ("order-pizza", Some(Effect::Irreversible)),
    ("get-and-delete", Some(Effect::Irreversible)),
    ("createPayment", Some(Effect::Irreversible)),
    ("start-rollout", Some(Effect::Irreversible)),
    ("close-my-accounts", Some(Effect::Irreversible)),
    ("close-dialog", Some(Effect::Reversible)),
    ("frobnicate", None),
    ("postal-codes", None),
];

/// What a case says of one action.
#[derive(Clone, Debug)]
struct Said {
    name: (&'static str, Option<Effect>),
    declared: Option<Effect>,
    because: bool,
    approval: bool,
}

/// A tool's actions, an agent, which of the actions it uses, and whether it also uses what is not there.
#[derive(Clone, Debug)]
struct Case {
    actions: Vec<Said>,
    agent: Said,
    uses: Vec<usize>,
    uses_unknown: bool,
    policy: Policy,
    door: Door,
}

/// How a verdict compares: the greater lets less through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Run,
    AskFirst,
    Denied,
}

/// The second decider.
fn naive(case: &Case) -> (Effect, Outcome) {
    let (mut effect, mut needs_human) = naive_own(&case.agent);
    for index in &case.uses {
        let (used, asks) = naive_own(&case.actions[*index]);
        effect = effect.max(used);
        needs_human = needs_human || asks;
    }
    if case.uses_unknown {
        effect = Effect::Irreversible;
        needs_human = true;
    }
    let outcome = if !needs_human {
        Outcome::Run
    } else if case.policy.deny_irreversible || case.policy.asked_by != AskedBy::Client {
        Outcome::Denied
    } else if case.door == Door::Plain {
        Outcome::AskFirst
    } else {
        Outcome::Run
    };
    (effect, outcome)
}

fn naive_own(said: &Said) -> (Effect, bool) {
    let effect = match (said.declared, said.name.1) {
        (None, None) => Effect::Irreversible,
        (None, Some(named)) => named,
        (Some(declared), None) => declared,
        (Some(declared), Some(_)) if said.because => declared,
        (Some(declared), Some(named)) => declared.max(named),
    };
    (effect, said.approval || effect == Effect::Irreversible)
}

fn real(case: &Case) -> (Effect, Outcome) {
    let catalog = catalog(case);
    let entry = catalog.entry(Kind::Agent, case.agent.name.0).unwrap();
    let effect = ruling(&catalog, entry, &entry.manifest.actions[0]).effect;
    let call = call(&catalog, Kind::Agent, case.agent.name.0, None);
    let outcome = match decide(&catalog, &case.policy, case.door, call) {
        Verdict::Run(_) => Outcome::Run,
        Verdict::AskFirst(_) => Outcome::AskFirst,
        Verdict::Denied(_) => Outcome::Denied,
    };
    (effect, outcome)
}

fn catalog(case: &Case) -> Catalog {
    Catalog::link(entries(case), Vec::new())
}

/// One tool for each action, so that the entries can be reordered too.
fn entries(case: &Case) -> Vec<Entry> {
    let tools = case.actions.iter().enumerate().map(|(index, said)| {
        let name = tool_name(index);
        tool(&name, vec![manifest(Some(said.name.0), said)])
    });
    let mut uses: Vec<String> = case.uses.iter().map(|index| tool_name(*index)).collect();
    if case.uses_unknown {
        uses.push("nowhere".to_owned());
    }
    let uses: Vec<&str> = uses.iter().map(String::as_str).collect();
    let agent = agent(case.agent.name.0, manifest(None, &case.agent), &uses);
    tools.chain([agent]).collect()
}

fn tool_name(index: usize) -> String {
    format!("desk-{index}")
}

fn manifest(name: Option<&str>, said: &Said) -> ActionManifest {
    let because = said.because.then(|| "it is so".to_owned());
    ActionManifest { effect: said.declared, because, approval: said.approval, ..action(name) }
}

fn any_effect() -> impl Strategy<Value = Effect> {
    select(Effect::ALL.to_vec())
}

fn any_said() -> impl Strategy<Value = Said> {
    (select(NAMES.to_vec()), proptest::option::of(any_effect()), any::<bool>(), proptest::bool::weighted(0.2))
        .prop_map(|(name, declared, because, approval)| Said { name, declared, because, approval })
}

fn any_case() -> impl Strategy<Value = Case> {
    let policy = (select(AskedBy::ALL.to_vec()), any::<bool>())
        .prop_map(|(asked_by, deny_irreversible)| Policy { asked_by, deny_irreversible });
    let uses = subsequence(vec![0, 1, 2, 3], 0..=4);
    let door = select(vec![Door::Plain, Door::Confirmed]);
    let unknown = proptest::bool::weighted(0.1);
    (proptest::collection::vec(any_said(), 4), any_said(), uses, unknown, policy, door).prop_map(
        |(actions, agent, uses, uses_unknown, policy, door)| Case { actions, agent, uses, uses_unknown, policy, door },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_deciders_give_the_same_verdict(case in any_case()) {
        prop_assert_eq!(real(&case), naive(&case));
    }

    #[test]
    fn the_order_of_entries_and_uses_is_noise(case in any_case(), turn in 0..5_usize) {
        let mut turned = case.clone();
        turned.uses.reverse();
        let mut entries = entries(&turned);
        entries.rotate_left(turn);
        let (first, second) = (catalog(&case), Catalog::link(entries, Vec::new()));
        let judge = |catalog: &Catalog| {
            let entry = catalog.entry(Kind::Agent, case.agent.name.0).unwrap();
            ruling(catalog, entry, &entry.manifest.actions[0])
        };
        prop_assert_eq!(judge(&first), judge(&second));
    }

    #[test]
    fn adding_a_deny_never_loosens(case in any_case()) {
        let mut denied = case.clone();
        denied.policy.deny_irreversible = true;
        prop_assert!(real(&denied).1 >= real(&case).1);
    }

    #[test]
    fn a_stricter_way_of_asking_never_loosens(case in any_case(), asked_by in select(AskedBy::ALL.to_vec())) {
        let mut stricter = case.clone();
        stricter.policy.asked_by = asked_by.max(case.policy.asked_by);
        prop_assert!(real(&stricter).1 >= real(&case).1);
    }

    #[test]
    fn a_stricter_declaration_never_loosens(case in any_case(), effect in any_effect(), of_agent in any::<bool>()) {
        let mut stricter = case.clone();
        let said = if of_agent { &mut stricter.agent } else { &mut stricter.actions[0] };
        let Some(declared) = said.declared else { return Ok(()) };
        said.declared = Some(declared.max(effect));
        let (before, after) = (real(&case), real(&stricter));
        prop_assert!(after.0 >= before.0 && after.1 >= before.1);
    }

    #[test]
    fn asking_for_approval_or_using_more_never_loosens(case in any_case(), used in 0..4_usize) {
        let mut stricter = case.clone();
        stricter.agent.approval = true;
        if !stricter.uses.contains(&used) {
            stricter.uses.push(used);
        }
        let (before, after) = (real(&case), real(&stricter));
        prop_assert!(after.0 >= before.0 && after.1 >= before.1);
    }

    #[test]
    fn a_destroying_word_makes_any_name_irreversible(words in any_words(), at in 0..5_usize, style in 0..4_usize) {
        let mut words = words;
        words.insert(at.min(words.len()), "destroy");
        let reading = NameReading::of("desk", Some(&spell(&words, style)));
        prop_assert_eq!(reading.alone().map(|saying| saying.effect), Some(Effect::Irreversible));
    }

    #[test]
    fn kebab_snake_and_camel_case_say_the_same(words in any_words()) {
        let [kebab, others @ ..] = [0, 1, 2, 3].map(|style| NameReading::of("desk", Some(&spell(&words, style))));
        for other in others {
            prop_assert_eq!(&kebab, &other);
        }
    }

    #[test]
    fn an_entrys_name_never_loosens(entry in select(NAMES.to_vec()), action in select(NAMES.to_vec())) {
        let alone = |entry| {
            NameReading::of(entry, Some(action.0)).alone().map_or(Effect::Irreversible, |saying| saying.effect)
        };
        prop_assert!(alone(entry.0) >= alone("desk"));
    }

    #[test]
    fn any_name_can_be_read(entry in ".{0,12}", action in ".{0,24}") {
        let reading = NameReading::of(&entry, Some(&action));
        prop_assert!(reading.alone().is_none() || reading.strictest.is_some());
    }
}

fn any_words() -> impl Strategy<Value = Vec<&'static str>> {
    let words = vec![
        "get",
        "list",
        "order",
        "email",
        "and",
        "or",
        "check",
        "in",
        "user",
        "send",
        "draft",
        "create",
        "payment",
        "frobnicate",
        "process",
        "for",
        "read",
        "only",
        "post",
        "now",
    ];
    proptest::collection::vec(select(words), 1..6)
}

/// Spells words in kebab, snake, lower camel or upper camel case.
fn spell(words: &[&str], style: usize) -> String {
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    match style {
        0 => words.join("-"),
        1 => words.join("_"),
        2 => words[0].to_owned() + &words[1..].iter().map(|word| capital(word)).collect::<String>(),
        _ => words.iter().map(|word| capital(word)).collect(),
    }
}
