//! No answer is larger than it may be, whatever the catalog holds.

use std::collections::BTreeSet;

use gatelatch_discovery::help;
use gatelatch_discovery::index::Index;
use gatelatch_discovery::ladder::View;
use gatelatch_registry::arguments::Arguments;
use gatelatch_registry::catalog::{
    ActionManifest, ArgumentManifest, ArgumentType, Catalog, Entry, Kind, OutputManifest, Skill,
};
use gatelatch_registry::load::{Source, load};
use serde_json::{Map, Value, json};

use crate::build::{Details, House, WithActions, action, agent, arg, ask, ask_in, size, skill, tool};

/// What the texts of a generated catalog look like.
#[derive(Clone, Copy, Debug)]
enum Prose {
    Short,
    Long,
    /// Long, and much longer in JSON than in memory.
    Escaped,
    Unspaced,
}

const PROSES: [Prose; 4] = [Prose::Short, Prose::Long, Prose::Escaped, Prose::Unspaced];

impl Prose {
    fn text(self, number: usize) -> String {
        match self {
            Prose::Short => format!("Does thing number {number}."),
            Prose::Long => format!("Does thing number {number}, and this is why. ").repeat(12),
            Prose::Escaped => format!("\"{number}\"\\\u{1}\t").repeat(60),
            Prose::Unspaced => format!("項目{number}を処理する長い説明文").repeat(15),
        }
    }
}

const VERBS: [&str; 12] =
    ["list", "get", "create", "update", "delete", "search", "export", "import", "archive", "merge", "share", "check"];

fn name(number: usize) -> String {
    format!("{}-{}-records-of-department-{number}", VERBS[number % VERBS.len()], ["user", "order", "team"][number % 3])
}

fn generated_action(number: usize, prose: Prose) -> ActionManifest {
    let made = action(&name(number), &prose.text(number))
        .needs(arg("record-id", ArgumentType::String, &prose.text(number)))
        .takes(arg("max-results", ArgumentType::Integer, &prose.text(number + 1)))
        .takes(arg("include-archived", ArgumentType::Boolean, ""));
    ActionManifest { output: Some(OutputManifest::Hint(prose.text(number))), ..made }
}

/// A catalog without its index, which only a search needs.
fn unindexed(entries: Vec<Entry>, skills: Vec<Skill>) -> House {
    House { catalog: Catalog::link(entries, skills), index: Index::build(&Catalog::default()) }
}

/// The same house with its index.
fn indexed(house: House) -> House {
    House::of(house.catalog)
}

/// One tool with so many actions.
fn toolbox(actions: usize, prose: Prose) -> House {
    let mut entry = tool("toolbox", &prose.text(0));
    entry.manifest.actions = (0..actions).map(|number| generated_action(number, prose)).collect();
    unindexed(vec![entry], Vec::new())
}

/// So many tools with one action each, as many agents and skills.
fn crowd(each: usize, prose: Prose) -> House {
    let one = |entry: Entry, number| entry.has(generated_action(number, prose));
    let tools = (0..each).map(|number| one(tool(&format!("tool-{number}"), &prose.text(number)), number));
    let agents = (0..each).map(|number| one(agent(&format!("agent-{number}"), &prose.text(number)), number));
    let skills = (0..each).map(|number| skill(&format!("skill-{number}"), &prose.text(number)));
    unindexed(tools.chain(agents).collect(), skills.collect())
}

/// The tool that no client can read in full: 379 actions, 369 KB of schema.
fn giant() -> House {
    let mut entry = tool("giant", "Everything that a large system can do.");
    for number in 0..379 {
        let mut made = action(&name(number), &format!("Action {number} of the large system. ").repeat(3));
        for place in 0..7 {
            let text = format!("Argument {place} of action {number}, which narrows what it works on. ");
            let kind = ArgumentType::ALL[place % ArgumentType::ALL.len()];
            let argument = arg(&format!("argument-{place}"), kind, &text);
            made = if place < 2 { made.needs(argument) } else { made.takes(argument) };
        }
        made.output = Some(OutputManifest::Schema(json!({
            "type": "object",
            "properties": {"items": {"type": "array", "items": {"type": "object"}}, "next-page": {"type": "string"}}
        })));
        entry.manifest.actions.push(made);
    }
    unindexed(vec![entry], Vec::new())
}

/// Every name of a schema, its type and whether it is required, in whatever form the schema is.
fn signature(arguments: &Value) -> Vec<(String, String, bool)> {
    let mut names: Vec<(String, String, bool)> = Vec::new();
    if let Some(properties) = arguments["properties"].as_object() {
        let required: Vec<&str> =
            arguments["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for (name, property) in properties {
            let kind = property["type"].as_str().expect("a type").to_owned();
            names.push((name.clone(), kind, required.contains(&name.as_str())));
        }
    } else {
        for (mark, required) in [("required", true), ("optional", false)] {
            for (kind, of_kind) in arguments[mark].as_object().expect("lists by type") {
                let of_kind = of_kind.as_array().expect("a list").iter().filter_map(Value::as_str);
                names.extend(of_kind.map(|name| (name.to_owned(), kind.clone(), required)));
            }
        }
    }
    names.sort();
    names
}

fn declared(action: &ActionManifest) -> Vec<(String, String, bool)> {
    let all = action.args.iter();
    let mut names: Vec<_> =
        all.map(|argument| (argument.name.clone(), argument.kind.json_type().to_owned(), argument.required)).collect();
    names.sort();
    names
}

#[test]
fn the_list_of_everything_is_at_most_12_000_bytes() {
    for prose in PROSES {
        for house in [toolbox(1, prose), toolbox(10, prose), toolbox(379, prose), crowd(1, prose), crowd(30, prose)] {
            let answer = ask(&house, json!({}));
            assert!(size(&answer) <= 12_000, "{prose:?}: {} bytes", size(&answer));
            assert!(answer["counts"]["actions"].as_u64().unwrap() > 0 && answer["next"].is_string(), "{answer}");
        }
    }
    for house in [toolbox(10_000, Prose::Short), crowd(2_319, Prose::Short), crowd(800, Prose::Long)] {
        for kind in [None, Some("tool"), Some("agent"), Some("skill"), Some("toolset")] {
            let answer = ask(&house, json!({"kind": kind}));
            assert!(size(&answer) <= 12_000, "{kind:?}: {} bytes", size(&answer));
        }
    }
}

#[test]
fn the_list_of_everything_stays_useful_where_little_fits() {
    let answer = ask(&crowd(100, Prose::Long), json!({}));
    for (key, first) in [("tools", "tool-0"), ("agents", "agent-0"), ("skills", "skill-0")] {
        assert_eq!(answer[key].as_array().map(Vec::len), Some(100), "{key} are all named");
        assert!(answer[key][0] == first || answer[key][0]["name"] == first, "{}", answer[key][0]);
    }
    let answer = ask(&crowd(10_000, Prose::Short), json!({}));
    assert_eq!(answer["counts"]["tools"], 10_000);
    let told: u64 = answer["tools"].as_array().unwrap().iter().filter_map(|group| group["count"].as_u64()).sum();
    assert_eq!(told, 10_000, "groups count every tool");
}

#[test]
fn a_large_kind_does_not_crowd_out_the_small_ones() {
    let mut entries: Vec<Entry> = (0..2_000)
        .map(|number| tool(&format!("tool-{number}"), "A tool.").has(generated_action(number, Prose::Short)))
        .collect();
    entries.push(agent("analyst", "Looks at numbers and says what they mean.").alone(Vec::new()));
    let answer = ask(&unindexed(entries, Vec::new()), json!({}));
    assert_eq!(
        answer["agents"],
        json!([{"name": "analyst", "description": "Looks at numbers and says what they mean."}])
    );
}

#[test]
fn what_is_not_ready_has_a_place_in_the_budget() {
    let house = crowd(2_000, Prose::Short);
    let reason = |entry: &Entry| Some(format!("secret `TOKEN_{}` is not set", entry.manifest.name.len() % 2));
    let answer = ask_in(&View { not_ready: &reason, ..house.view() }, json!({}));
    assert!(size(&answer) <= 12_000);
    assert_eq!(answer["counts"]["not_ready"], 4_000);
    assert_eq!(answer["not_ready"].as_array().map(Vec::len), Some(2), "one line a reason: {}", answer["not_ready"]);
    let own =
        |entry: &Entry| Some(format!("program `{}` is not found {}", entry.manifest.name, "because ".repeat(100)));
    let answer = ask_in(&View { not_ready: &own, ..house.view() }, json!({}));
    assert!(size(&answer) <= 12_000, "{}", size(&answer));
}

#[test]
fn the_list_of_the_catalog_that_ships_is_at_most_3_000_bytes() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../manifests");
    let loaded = load(&[Source::Folder(folder)]);
    assert!(!loaded.catalog.entries().is_empty(), "{:?}", loaded.findings);
    let answer = ask(&House::of(loaded.catalog), json!({}));
    assert!(size(&answer) <= 3_000, "{} bytes: {answer}", size(&answer));
}

#[test]
fn a_search_is_at_most_6_000_bytes() {
    for prose in PROSES {
        for house in [toolbox(379, prose), crowd(30, prose)].map(indexed) {
            for words in ["list orders", "項目", "thing number 7", "zzzzzz", "the"] {
                let answer = ask(&house, json!({"search": words}));
                assert!(size(&answer) <= 6_000, "{prose:?} {words}: {} bytes {answer}", size(&answer));
            }
        }
    }
}

#[test]
fn one_action_is_at_most_2_048_bytes_and_keeps_every_argument() {
    let giant = giant();
    let full: usize = giant.entry("giant").manifest.actions.len();
    assert_eq!(full, 379);
    for house in [&giant, &toolbox(379, Prose::Long), &toolbox(379, Prose::Escaped), &toolbox(379, Prose::Unspaced)] {
        let entry = &house.catalog.entries()[0];
        for action in &entry.manifest.actions {
            let answer = ask(house, json!({"name": entry.manifest.name, "action": action.name}));
            assert!(size(&answer) <= 2_048, "{} bytes: {answer}", size(&answer));
            assert_eq!(signature(&answer["arguments"]), declared(action));
            assert_eq!(answer["call"]["tool"], "run_tool");
            assert_eq!(answer["call"]["arguments"]["action"], json!(action.name));
        }
    }
}

#[test]
fn an_action_of_very_many_arguments_still_shows_them_all() {
    let mut many = action("configure", "Set everything at once.");
    for number in 0..200 {
        let argument = arg(&format!("setting-number-{number}"), ArgumentType::Integer, "What it sets.");
        many = if number % 2 == 0 { many.needs(argument) } else { many.takes(argument) };
    }
    let house = House::new(vec![tool("machine", "A machine.").has(many.clone())], Vec::new());
    let answer = ask(&house, json!({"name": "machine", "action": "configure"}));
    assert_eq!(signature(&answer["arguments"]), declared(&many));
    let names: usize = many.args.iter().map(|argument| argument.name.len() + 3).sum();
    assert!(size(&answer) < names + 500, "{} bytes for {names} bytes of names", size(&answer));
}

#[test]
fn a_giant_tool_comes_as_an_index_of_at_most_12_000_bytes() {
    let giant = giant();
    let unlimited = View { max_bytes: usize::MAX, ..giant.view() };
    let full = size(&ask_in(&unlimited, json!({"name": "giant"})));
    assert!(full > 369_000, "the generated schema has {full} bytes");
    let answer = ask(&giant, json!({"name": "giant"}));
    assert!(size(&answer) <= 12_000, "{} bytes", size(&answer));
    assert_eq!(answer["count"], 379);
    let named: BTreeSet<String> = answer["actions_by_beginning"]
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(beginning, rests)| {
            rests.as_array().unwrap().iter().map(move |rest| format!("{beginning}{}", rest.as_str().unwrap()))
        })
        .collect();
    let all = giant.entry("giant").manifest.actions.iter().filter_map(|action| action.name.clone()).collect();
    assert_eq!(named, all, "every name can be read off the index");
    assert!(answer["next"].as_str().unwrap().contains("search"));
}

#[test]
fn an_index_describes_its_actions_where_that_fits_and_groups_them_where_names_do_not() {
    let described = ask(&toolbox(60, Prose::Long), json!({"name": "toolbox"}));
    assert!(size(&described) <= 12_000);
    assert!(described["actions"][name(0)].as_str().unwrap().starts_with("Does thing"), "{described}");
    for actions in [2_319, 10_000] {
        let house = toolbox(actions, Prose::Short);
        let answer = ask(&house, json!({"name": "toolbox"}));
        assert!(size(&answer) <= 12_000, "{} bytes", size(&answer));
        let groups = answer["groups"].as_array().or(answer["ranges"].as_array()).expect("groups");
        let told: u64 = groups.iter().filter_map(|group| group["count"].as_u64()).sum();
        assert_eq!(told, actions as u64);
    }
}

#[test]
fn the_limit_of_a_full_schema_is_the_callers() {
    let house = toolbox(10, Prose::Short);
    let full = ask(&house, json!({"name": "toolbox"}));
    assert!(full["actions"][0]["arguments"].is_object());
    let exactly = View { max_bytes: size(&full), ..house.view() };
    assert_eq!(ask_in(&exactly, json!({"name": "toolbox"})), full);
    let below = View { max_bytes: size(&full) - 1, ..house.view() };
    assert!(ask_in(&below, json!({"name": "toolbox"}))["next"].is_string());
}

#[test]
fn a_usage_error_is_at_most_1_200_bytes() {
    let long = "very-long-name-".repeat(40);
    for house in
        [giant(), toolbox(60, Prose::Long), toolbox(60, Prose::Escaped), crowd(30, Prose::Unspaced)].map(indexed)
    {
        let view = house.view();
        let entry = &house.catalog.entries()[0];
        let action = &entry.manifest.actions[0];
        let mut wrong = Map::new();
        for number in 0..30 {
            wrong.insert(format!("{long}{number}"), json!("x".repeat(1_000)));
        }
        let wrong = Value::Object(wrong);
        let faults = Arguments::parse(action, &wrong).unwrap_err();
        let errors = [
            help::bad_arguments(&view, entry, action, &wrong, &faults),
            help::unknown_action(&view, entry, Some(&long)),
            help::unknown_action(&view, entry, Some("list")),
            help::unknown_action(&view, entry, None),
            help::unknown_entry(&view, Kind::Tool, &long),
            help::unknown_entry(&view, Kind::Skill, "skill"),
        ];
        for error in errors {
            assert!(size(&error.to_value()) <= 1_200, "{} bytes: {:?}", size(&error.to_value()), error);
            assert!(!error.message.is_empty());
        }
    }
}

#[test]
fn a_wrong_call_of_a_large_action_still_shows_what_was_meant() {
    let mut large = action("export-report", "Export a report.");
    for number in 0..60 {
        large = large.takes(arg(&format!("option-{number}"), ArgumentType::String, &"What it does. ".repeat(30)));
    }
    large = large.needs(ArgumentManifest {
        choices: vec![json!("pdf"), json!("csv")],
        ..arg("format", ArgumentType::String, "File format")
    });
    let house = House::new(vec![tool("reports", "Reports.").has(large)], Vec::new());
    let action = house.action("reports", "export-report");
    let wrong = json!({"fromat": "PDF"});
    let faults = Arguments::parse(action, &wrong).unwrap_err();
    let error = help::bad_arguments(&house.view(), house.entry("reports"), action, &wrong, &faults).to_value();
    assert!(size(&error) <= 1_200, "{}", size(&error));
    assert_eq!(error["did_you_mean"][0], "format");
    assert_eq!(error["example"]["arguments"]["args"], json!({"format": "pdf"}));
    assert!(error["schema"]["properties"]["format"].is_object(), "{error}");
}
