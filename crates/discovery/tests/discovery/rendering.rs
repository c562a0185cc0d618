//! What the answers look like.

use gatelatch_discovery::ladder::View;
use gatelatch_registry::catalog::{ArgumentType, Effect, Entry};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::build::{Details, House, WithActions, action, arg, ask, ask_in, office, tool};

/// One line for each member of the answer.
fn shown(answer: &Value) -> String {
    let members = answer.as_object().expect("an answer is an object").iter();
    let lines = members.flat_map(|(key, value)| match value {
        Value::Array(values) => {
            std::iter::once(format!("{key}:")).chain(values.iter().map(|value| format!("  {value}"))).collect()
        }
        other => vec![format!("{key}: {other}")],
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn nothing_asked_lists_everything() {
    assert_snapshot!(shown(&ask(&office(), json!({}))), @r#"
    tools:
      {"name":"calendar","description":"Appointments and free time.","actions":["find-slots","book-meeting"]}
      {"name":"hello-world","description":"Greet somebody."}
      {"name":"outbox","description":"Draft, send and list messages.","actions":["list-messages","draft-message","send-message!","delete-messages!"]}
      {"name":"xlsx","description":"Read local workbooks.","actions":["list-sheets","read-sheet"]}
    agents:
      {"name":"describe-workbook","description":"Say what a workbook holds, sheet by sheet."}
    skills:
      {"name":"read-a-workbook","description":"How to look at a workbook step by step."}
      {"name":"write-a-manifest","description":"How to write a manifest for a script."}
    counts: {"tools":4,"agents":1,"skills":2,"not_ready":0,"actions":10}
    legend: "! needs a human: run_tool_confirmed, run_agent_confirmed"
    next: "capabilities {\"search\":\"what you want to do\"} finds actions; capabilities {\"name\":\"calendar\"} shows an entry's actions and arguments; capabilities {\"name\":\"calendar\",\"action\":\"find-slots\"} shows one action and the call to make; get_skill {\"name\":\"read-a-workbook\"} gives a skill"
    "#);
}

#[test]
fn what_is_not_ready_is_listed_apart_with_its_reason() {
    let office = office();
    let not_ready = |entry: &Entry| (entry.manifest.name == "xlsx").then(|| "python not found".to_owned());
    let view = View { not_ready: &not_ready, ..office.view() };
    assert_snapshot!(shown(&ask_in(&view, json!({"kind": "tool"}))), @r#"
    tools:
      {"name":"calendar","description":"Appointments and free time.","actions":["find-slots","book-meeting"]}
      {"name":"hello-world","description":"Greet somebody."}
      {"name":"outbox","description":"Draft, send and list messages.","actions":["list-messages","draft-message","send-message!","delete-messages!"]}
    not_ready:
      {"kind":"tool","name":"xlsx","why":"python not found"}
    counts: {"tools":3,"agents":0,"skills":0,"not_ready":1,"actions":7}
    legend: "! needs a human: run_tool_confirmed, run_agent_confirmed"
    next: "capabilities {\"search\":\"what you want to do\"} finds actions; capabilities {\"name\":\"calendar\"} shows an entry's actions and arguments; capabilities {\"name\":\"calendar\",\"action\":\"find-slots\"} shows one action and the call to make"
    "#);
    assert_snapshot!(shown(&ask_in(&view, json!({"search": "workbook rows", "kind": "tool"}))), @r#"
    matches:
      {"kind":"tool","name":"xlsx","action":"read-sheet","description":"Read one sheet's rows.","not_ready":"python not found"}
      {"kind":"tool","name":"xlsx","action":"list-sheets","description":"List the sheets of a workbook.","not_ready":"python not found"}
      {"kind":"tool","name":"outbox","action":"draft-message","description":"Write a message without sending it."}
    next: "capabilities {\"name\":\"xlsx\",\"action\":\"read-sheet\"} gives an action's arguments and the call to make; add `name` to search inside one entry"
    "#);
}

#[test]
fn a_toolset_is_a_tool_with_several_actions() {
    assert_snapshot!(shown(&ask(&office(), json!({"kind": "toolset"}))), @r#"
    tools:
      {"name":"calendar","description":"Appointments and free time.","actions":["find-slots","book-meeting"]}
      {"name":"outbox","description":"Draft, send and list messages.","actions":["list-messages","draft-message","send-message!","delete-messages!"]}
      {"name":"xlsx","description":"Read local workbooks.","actions":["list-sheets","read-sheet"]}
    counts: {"tools":3,"agents":0,"skills":0,"not_ready":0,"actions":8}
    legend: "! needs a human: run_tool_confirmed, run_agent_confirmed"
    next: "capabilities {\"search\":\"what you want to do\"} finds actions; capabilities {\"name\":\"calendar\"} shows an entry's actions and arguments; capabilities {\"name\":\"calendar\",\"action\":\"find-slots\"} shows one action and the call to make"
    "#);
}

#[test]
fn a_search_shows_names_and_descriptions_only() {
    assert_snapshot!(shown(&ask(&office(), json!({"search": "send an email"}))), @r#"
    matches:
      {"kind":"tool","name":"outbox","action":"send-message","description":"Send a draft."}
      {"kind":"tool","name":"outbox","action":"draft-message","description":"Write a message without sending it."}
      {"kind":"tool","name":"outbox","action":"list-messages","description":"List the messages in a folder, newest first."}
      {"kind":"tool","name":"outbox","action":"delete-messages","description":"Delete messages for good."}
    next: "capabilities {\"name\":\"outbox\",\"action\":\"send-message\"} gives an action's arguments and the call to make; add `name` to search inside one entry"
    "#);
}

#[test]
fn a_search_without_hits_shows_the_nearest_words_and_the_next_step() {
    assert_snapshot!(shown(&ask(&office(), json!({"search": "wrkbks"}))), @r#"
    matches:
    nearest_words:
      "workbook"
    next: "capabilities {} lists what is there; fewer or more general words find more"
    "#);
}

#[test]
fn one_action_comes_with_the_literal_call() {
    assert_snapshot!(shown(&ask(&office(), json!({"name": "xlsx", "action": "read-sheet"}))), @r#"
    kind: "tool"
    name: "xlsx"
    action: "read-sheet"
    description: "Read one sheet's rows."
    effect: "read_only"
    arguments: {"type":"object","properties":{"path":{"type":"string","description":"Workbook file"},"sheet":{"type":"string","description":"Sheet name; the first one when absent"},"max-results":{"type":"integer","description":"Cap rows returned"},"header":{"type":"boolean","description":"Whether the first row holds names"}},"required":["path"],"additionalProperties":false}
    returns: {"type":"object","properties":{"rows":{"type":"array"}}}
    call: {"tool":"run_tool","arguments":{"tool":"xlsx","action":"read-sheet","args":{"path":"budget.xlsx","sheet":"2024"}}}
    "#);
}

#[test]
fn an_action_that_a_human_must_agree_to_says_so() {
    assert_snapshot!(shown(&ask(&office(), json!({"name": "outbox", "action": "send-message"}))), @r#"
    kind: "tool"
    name: "outbox"
    action: "send-message"
    description: "Send a draft."
    effect: "irreversible"
    arguments: {"type":"object","properties":{"id":{"type":"string","description":"The draft to send"}},"required":["id"],"additionalProperties":false}
    call: {"tool":"run_tool_confirmed","arguments":{"tool":"outbox","action":"send-message","args":{"id":"<id>"}}}
    confirm: "run_tool refuses this; run_tool_confirmed runs it once a human has agreed"
    "#);
}

#[test]
fn one_entry_comes_with_all_its_actions() {
    assert_snapshot!(shown(&ask(&office(), json!({"name": "calendar"}))), @r#"
    kind: "tool"
    name: "calendar"
    description: "Appointments and free time."
    version: "1.0.0"
    actions:
      {"name":"find-slots","description":"Find free time for a meeting.","effect":"read_only","arguments":{"type":"object","properties":{"date":{"type":"string","description":"Day, as YYYY-MM-DD","pattern":"^\\d{4}-\\d{2}-\\d{2}$"},"minutes":{"type":"integer","description":"Length of the meeting"}},"required":["date"],"additionalProperties":false},"call":{"tool":"run_tool","arguments":{"tool":"calendar","action":"find-slots","args":{"date":"1111-11-11"}}}}
      {"name":"book-meeting","description":"Put a meeting into the calendar.","effect":"reversible","arguments":{"type":"object","properties":{"title":{"type":"string","description":"What it is about"},"attendees":{"type":"array","description":"Who comes","items":{"type":"object","properties":{"email":{"type":"string"},"optional":{"type":"boolean"}},"required":["email"]}},"options":{"type":"object","description":"Further settings"}},"required":["title","attendees"],"additionalProperties":false},"call":{"tool":"run_tool","arguments":{"tool":"calendar","action":"book-meeting","args":{"title":"<title>","attendees":[{"email":"<email>"}]}}}}
    "#);
}

#[test]
fn an_entry_too_large_for_its_schema_comes_as_an_index() {
    let office = office();
    let view = View { max_bytes: 700, ..office.view() };
    assert_snapshot!(shown(&ask_in(&view, json!({"name": "calendar"}))), @r#"
    kind: "tool"
    name: "calendar"
    description: "Appointments and free time."
    count: 2
    actions: {"find-slots":"Find free time for a meeting.","book-meeting":"Put a meeting into the calendar."}
    next: "capabilities {\"name\":\"calendar\",\"action\":\"find-slots\"} gives one action's arguments and the call to make; capabilities {\"name\":\"calendar\",\"search\":\"what you want to do\"} finds actions in it"
    "#);
}

#[test]
fn a_nameless_action_needs_no_action_in_its_call() {
    assert_snapshot!(shown(&ask(&office(), json!({"name": "describe-workbook"}))), @r#"
    kind: "agent"
    name: "describe-workbook"
    description: "Say what a workbook holds, sheet by sheet."
    version: "1.0.0"
    actions:
      {"effect":"read_only","arguments":{"type":"object","properties":{"path":{"type":"string","description":"Workbook file"}},"required":["path"],"additionalProperties":false},"call":{"tool":"run_agent","arguments":{"agent":"describe-workbook","args":{"path":"<path>"}}}}
    "#);
}

#[test]
fn a_skill_points_to_get_skill() {
    assert_snapshot!(shown(&ask(&office(), json!({"name": "read-a-workbook"}))), @r#"
    kind: "skill"
    name: "read-a-workbook"
    description: "How to look at a workbook step by step."
    call: {"tool":"get_skill","arguments":{"name":"read-a-workbook"}}
    "#);
}

#[test]
fn a_senseless_combination_names_the_right_door() {
    let office = office();
    assert_snapshot!(shown(&ask(&office, json!({"action": "read-sheet"}))), @r#"
    error: "bad_request"
    message: "`action` needs the `name` of the entry that it belongs to; `search` finds actions by words"
    did_you_mean:
      "xlsx"
    example: {"tool":"capabilities","arguments":{"name":"xlsx","action":"read-sheet"}}
    "#);
    assert_snapshot!(shown(&ask(&office, json!({"name": "xlsx", "action": "read-sheet", "search": "rows"}))), @r#"
    error: "bad_request"
    message: "`search` and `action` exclude each other: `name` with `action` shows one action, `search` finds actions by words, alone or inside `name`"
    example: {"tool":"capabilities","arguments":{"name":"xlsx","action":"read-sheet"}}
    "#);
    assert_snapshot!(shown(&ask(&office, json!({"kind": "program"}))), @r#"
    error: "unknown_kind"
    message: "`program` is no kind: `kind` is one of `tool`, `agent`, `skill`, `toolset`"
    did_you_mean:
      "tool"
      "agent"
      "skill"
      "toolset"
    "#);
    assert_snapshot!(shown(&ask(&office, json!({"name": "read-a-workbook", "action": "read"}))), @r#"
    error: "bad_request"
    message: "`read-a-workbook` is a skill and has no actions: get_skill gives its text"
    example: {"tool":"get_skill","arguments":{"name":"read-a-workbook"}}
    "#);
}

#[test]
fn a_name_of_two_kinds_is_settled_by_kind() {
    use crate::build::{WithActions, agent, skill, tool};
    let house = House::new(
        vec![tool("report", "A tool.").alone(Vec::new()), agent("report", "An agent.").alone(Vec::new())],
        vec![skill("report", "A skill.")],
    );
    assert_snapshot!(shown(&ask(&house, json!({"name": "report"}))), @r#"
    error: "ambiguous_name"
    message: "`report` is a tool and an agent and a skill: add `kind`"
    did_you_mean:
      "tool"
      "agent"
      "skill"
    example: {"tool":"capabilities","arguments":{"kind":"tool","name":"report"}}
    "#);
    for kind in ["tool", "agent", "skill", "tools", "Agent"] {
        let answer = ask(&house, json!({"name": "report", "kind": kind}));
        assert_eq!(answer["kind"], kind.to_lowercase().trim_end_matches('s'), "{answer}");
    }
    let answer = ask(&house, json!({"name": "report", "kind": "toolset"}));
    assert_eq!(answer["error"], "unknown_name", "{answer}");
}

#[test]
fn a_nameless_action_that_needs_a_human_is_marked_too() {
    let mut nap = tool("purge", "Delete everything.").alone(Vec::new());
    nap.manifest.actions[0].effect = Some(Effect::Irreversible);
    let list = ask(&House::new(vec![nap], Vec::new()), json!({}));
    assert_eq!(list["tools"], json!([{"name": "purge", "description": "Delete everything.", "!": true}]));
    assert!(list["legend"].as_str().unwrap().starts_with("! "));
    let calm = House::new(vec![tool("look", "Look.").alone(Vec::new())], Vec::new());
    assert_eq!(ask(&calm, json!({})).get("legend"), None);
}

#[test]
fn the_literal_call_carries_the_first_example_where_that_is_a_right_call_and_short() {
    let text = |name| arg(name, ArgumentType::String, "");
    let shown = |example: Value| {
        let find = action("find", "Find.").takes(text("word")).takes(text("where")).example(example);
        let house = House::new(vec![tool("finder", "Finds.").has(find)], Vec::new());
        ask(&house, json!({"name": "finder", "action": "find"}))["call"]["arguments"]["args"].clone()
    };
    assert_eq!(shown(json!({"word": "x", "where": "y"})), json!({"word": "x", "where": "y"}));
    assert_eq!(shown(json!({"Word": "x"})), json!({"word": "x"}), "spelled as the manifest declares it");
    assert_eq!(shown(json!({"word": 7})), json!({}));
    assert_eq!(shown(json!({"word": "x".repeat(5_000)})), json!({}));
}
