//! What a caller gets from the published tools, on a real road with real programs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

#[path = "road/bench.rs"]
mod bench;

use bench::{Bench, DESK, failure, ids, linked, tool};
use gatelatch_bridge::recorder::Step;
use gatelatch_gate::decision::{AskedBy, Door, Policy};
use gatelatch_protocol::surface::{Progress, Surface};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

const OPEN: &str = "    output_schema: {type: object}\n";

fn show() -> String {
    tool(
        "desk_show",
        "show-arguments",
        "    read_only: true\n    args:\n      - {name: item, for: item-id, type: string, required: true, description: Which item}\n      \
         - {name: rows, for: max-items, type: integer, minimum: 1, maximum: 10, default: 5, description: Items at most}\n      \
         - {name: loud, type: boolean, description: Loudly}\n    fixed: {secret-mode: quiet}\n    output_schema: {type: object}\n",
    )
}

fn odd(name: &str, action: &str, read_only: bool) -> String {
    let rest = format!(
        "    read_only: {read_only}\n    args:\n      - {{name: what, type: string, required: true, description: What to give}}\n    \
         output_schema:\n      type: object\n      properties: {{rows: {{type: array, items: {{type: integer}}}}}}\n      required: [rows]\n"
    );
    tool(name, action, &rest)
}

#[tokio::test]
async fn the_operation_gets_its_own_names_with_defaults_and_fixed_values() {
    let bench = Bench::new(&show());
    let given = bench.works("desk_show", json!({ "item": "-7", "loud": true })).await;
    assert_eq!(given["arguments"], json!(["--item-id=-7", "--max-items", "5", "--loud", "--secret-mode", "quiet"]));
    let given = bench.works("desk_show", json!({ "item": "a", "rows": 2, "loud": null })).await;
    assert_eq!(given["arguments"], json!(["--item-id", "a", "--max-items", "2", "--secret-mode", "quiet"]));
}

#[tokio::test]
async fn a_name_that_is_only_spelled_otherwise_is_taken_and_told() {
    let bench = Bench::new(&show());
    let reply = bench.call("desk_show", json!({ "Item": "a" })).await;
    assert!(!reply.is_error, "{}", reply.text);
    assert_eq!(reply.notes, ["took argument `Item` for `item`"]);
}

#[tokio::test]
async fn a_wrong_call_starts_nothing_and_is_told_the_published_arguments() {
    let bench = Bench::new(&show());
    let schema = serde_json::to_value(&bench.chat.tools()[0].input_schema).unwrap();
    for (arguments, part) in [
        (json!({ "itme": "a" }), "did you mean `item`?"),
        (json!({}), "`item` is required"),
        (json!({ "item": "a", "rows": 11 }), "`rows` must be at most 10"),
        (json!({ "item": 1 }), "`item` must be text"),
        // What the operation calls it, and what the server sets, are none of the caller's names.
        (json!({ "item": "a", "secret-mode": "x" }), "it takes `item`, `rows`, `loud`"),
    ] {
        let told = bench.fails("desk_show", arguments.clone()).await;
        assert_eq!((&told["error"], &told["schema"]), (&json!("bad_arguments"), &schema), "{told}");
        let message = told["message"].as_str().unwrap();
        assert!(message.starts_with("`desk_show`: ") && message.contains(part), "{arguments}: {message}");
    }
    assert_eq!(bench.events().len(), 0);
}

#[tokio::test]
async fn what_the_operation_refuses_is_told_in_the_caller_s_names() {
    let bench = Bench::new(&tool(
        "desk_get",
        "get-item",
        "    read_only: true\n    args:\n      - {name: item, for: item-id, type: string, required: true, description: Which}\n      \
         - {name: rows, for: max-items, type: integer, minimum: 1, description: Items at most}\n    output_schema: {type: object}\n",
    ));
    let told = bench.fails("desk_get", json!({ "item": "i1" })).await;
    assert_eq!(
        told,
        json!({
            "error": "tool_failed", "message": "`desk_get`: exited with code 1", "exit_code": 1,
            "detail": {
                "error": "no_such_item",
                "message": "`item` names nothing; try `rows` or a value that this server sets, or leave `item` out"
            }
        })
    );
    let nul = bench.fails("desk_get", json!({ "item": "a\u{0}b" })).await;
    assert_eq!(nul["error"], "bad_arguments", "{nul}");
}

#[tokio::test]
async fn what_a_failing_program_wrote_as_plain_text_reaches_a_caller_only_where_that_is_declared() {
    let crash = odd("desk_crash", "get-odd", true);
    let shown =
        crash.replace("desk_crash", "desk_shown").replace("    read_only", "    plain_errors: true\n    read_only");
    let bench = Bench::new(&(crash + &shown));
    let told = bench.fails("desk_crash", json!({ "what": "{" })).await;
    assert_eq!((&told["error"], &told["exit_code"]), (&json!("tool_failed"), &json!(1)), "{told}");
    assert!(told["message"].as_str().unwrap().contains("exited with code 1 and gave no error as JSON"), "{told}");
    assert!(!told.to_string().contains("Traceback") && !told.to_string().contains("main.py"), "{told}");
    let told = bench.fails("desk_shown", json!({ "what": "{" })).await;
    assert!(told["detail"]["text"].as_str().unwrap().contains("Traceback"), "{told}");
    let tools = bench.chat.tools();
    assert!(!serde_json::to_string(&tools[1].input_schema).unwrap().contains("plain"), "no part of what is published");
}

#[tokio::test]
async fn a_result_that_is_not_what_is_published_fails_closed_and_shows_no_value() {
    let bench = Bench::new(&(odd("desk_odd", "get-odd", true) + &odd("desk_set", "update-odd", false)));
    assert_eq!(bench.works("desk_odd", json!({ "what": "{\"rows\": [1]}" })).await, json!({ "rows": [1] }));
    for (what, place) in [
        ("{\"rows\": [1, \"hunter2\"]}", "`/rows/1`: rule `/properties/rows/items/type`"),
        ("{\"hunter2\": 1}", "the root: \"rows\" is missing"),
        ("[\"hunter2\"]", "the root: rule `/type`"),
        ("\"hunter2\"", "the root: rule"),
    ] {
        let told = bench.fails("desk_odd", json!({ "what": what })).await;
        assert_eq!(told["error"], "output_mismatch", "{told}");
        assert!(told["message"].as_str().unwrap().contains(place), "{told}");
        assert!(
            !told.to_string().contains("hunter2") && !told.to_string().contains("what it changes is changed"),
            "{told}"
        );
    }
    let told = bench.fails("desk_set", json!({ "what": "{}" })).await;
    assert!(told["message"].as_str().unwrap().contains("what it changes is changed"), "{told}");
}

#[tokio::test]
async fn what_turns_out_irreversible_at_run_time_is_refused_and_there_is_no_other_door() {
    let tools = tool(
        "desk_update",
        "update-item",
        "    read_only: false\n    args:\n      - {name: item, for: item-id, type: string, required: true, description: Which}\n    \
         output_schema: {type: object}\n",
    );
    let changed = tempfile::tempdir().unwrap();
    let folder = changed.path().join("tools/desk");
    std::fs::create_dir_all(&folder).unwrap();
    let manifest = std::fs::read_to_string(format!("{DESK}/tools/desk/tool.yaml")).unwrap();
    let grown = manifest.replace("effect: reversible", "effect: irreversible");
    assert_ne!(grown, manifest);
    std::fs::write(folder.join("tool.yaml"), grown).unwrap();
    std::fs::copy(format!("{DESK}/tools/desk/main.py"), folder.join("main.py")).unwrap();
    let catalog = changed.path().to_str().unwrap();
    let at_load = linked(&tools, catalog);
    assert_eq!((at_load.tools.len(), at_load.left_out.as_slice()), (0, ["desk_update".to_owned()].as_slice()));
    for deny_irreversible in [false, true] {
        let policy = Policy { asked_by: AskedBy::Client, deny_irreversible };
        let bench = Bench::serving(linked(&tools, DESK), catalog, policy);
        let told = bench.fails("desk_update", json!({ "item": "i0" })).await;
        assert_eq!(told["error"], "denied");
        assert!(told["message"].as_str().unwrap().contains("`desk_update` cannot be run on this server"), "{told}");
        assert!(!told.to_string().contains("confirm"), "{told}");
        let [event] = bench.events().try_into().unwrap();
        assert!(
            matches!(event.step, Step::Verdict { verdict: "approval_required" | "denied", .. }),
            "nothing was started"
        );
    }
}

#[tokio::test]
async fn a_result_over_its_cap_is_cut_stays_valid_and_names_what_the_caller_can_narrow() {
    let bench = Bench::new(&tool(
        "desk_list",
        "list-items",
        "    read_only: true\n    args:\n      - {name: how_many, for: count, type: integer, minimum: 0, description: Items}\n    \
         fixed: {fill: 500}\n    result: {max_bytes: 4000, narrow_with: [how_many]}\n    output_schema:\n      type: object\n      \
         properties: {items: {type: array, items: {type: object, properties: {id: {type: string}}, required: [id]}}, total: {type: integer}}\n      \
         required: [items, total]\n",
    ));
    let reply = bench.call("desk_list", json!({ "how_many": 300 })).await;
    let structured = reply.structured.unwrap();
    assert!(!reply.is_error && reply.text.len() <= 4000, "{} bytes", reply.text.len());
    assert_eq!((&structured["total"], &structured["items"][0]["id"]), (&json!(300), &json!("i0")));
    assert_eq!(structured["_cut"]["parts"][0]["of"], 300);
    let hint = structured["_cut"]["hint"].as_str().unwrap();
    assert!(hint.contains("`how_many`") && !hint.contains("count"), "{hint}");
}

/// List, then get the first: the second step fails for `i1`.
fn look() -> String {
    "  - name: desk_look\n    title: Look\n    description: What it does.\n    read_only: true\n    reversible: true\n    idempotent: true\n    \
     open_world: false\n    args:\n      - {name: count, type: integer, minimum: 0, default: 2, description: Items}\n      \
     - {name: rows, type: integer, minimum: 1, description: Items at most}\n    steps:\n      \
     - id: list\n        tool: desk\n        action: list-items\n        args: {count: {arg: count}}\n        \
     stop_when: {at: /items, is: empty}\n      \
     - id: get\n        tool: desk\n        action: get-item\n        args: {item-id: {step: list, at: /items/1/id}, max-items: {arg: rows}}\n    \
     output:\n      total: {step: list, at: /total}\n      text: {step: get, at: /text}\n      asked: {arg: count}\n      kind: {value: items}\n    \
     output_schema:\n      type: object\n      properties:\n        total: {type: integer}\n        text: {type: string}\n        \
     asked: {type: integer}\n        kind: {const: items}\n      required: [total, asked, kind]\n"
        .to_owned()
}

/// Write an item, then something else.
fn change(more: &str, second: &str) -> String {
    format!(
        "  - name: desk_change\n    title: Change\n    description: What it does.\n    read_only: false\n    reversible: true\n    \
         idempotent: true\n    open_world: false\n    args:\n      - {{name: item, type: string, required: true, description: Which}}\n{more}    \
         steps:\n      \
         - id: write\n        tool: desk\n        action: update-item\n        args: {{item-id: {{arg: item}}}}\n      \
         - id: then\n        tool: desk\n        {second}\n    output:\n      version: {{step: write, at: /version}}\n    \
         output_schema: {{type: object, properties: {{version: {{type: string}}}}, required: [version]}}\n"
    )
}

#[tokio::test]
async fn steps_run_in_order_pass_values_on_and_are_ordinary_calls() {
    let bench = Bench::new(&look().replace("/items/1/id", "/items/2/id"));
    let given = bench.works("desk_look", json!({ "count": 3 })).await;
    assert_eq!(given, json!({ "total": 3, "text": "the text of i2", "asked": 3, "kind": "items" }));
    let events = bench.events();
    let told: Vec<(u64, &str, Option<&str>, Door)> = events
        .iter()
        .filter(|event| matches!(event.step, Step::Verdict { .. }))
        .map(|event| (event.request, event.front, event.action.as_deref(), event.door))
        .collect();
    assert_eq!(told, [(1, "chat", Some("list-items"), Door::Plain), (2, "chat", Some("get-item"), Door::Plain)]);
    assert_eq!(events.len(), 4);
}

#[tokio::test]
async fn a_stop_ends_the_operation_well_without_what_did_not_run() {
    let bench = Bench::new(&look());
    let given = bench.works("desk_look", json!({ "count": 0 })).await;
    assert_eq!(given, json!({ "total": 0, "asked": 0, "kind": "items" }));
    assert!(bench.events().iter().all(|event| event.action.as_deref() == Some("list-items")));
}

#[tokio::test]
async fn a_failure_in_step_two_tells_what_step_one_did() {
    let bench = Bench::new(&look());
    let told = bench.fails("desk_look", json!({ "rows": 3 })).await;
    assert_eq!((&told["error"], &told["step"]), (&json!("tool_failed"), &json!("get")), "{told}");
    assert_eq!(
        told["detail"]["message"],
        "a value that this server sets names nothing; try `rows` or a value that this server sets, or leave a value that this server sets out"
    );
    assert_eq!(
        told["steps"],
        json!([
            { "id": "list", "effect": "read_only", "done": true },
            { "id": "get", "effect": "read_only", "done": false }
        ])
    );
}

#[tokio::test]
async fn a_value_that_a_later_step_does_not_take_is_no_wrong_call_of_the_caller() {
    let second = "action: get-item\n        args: {item-id: {step: write, at: /version}}";
    let told = Bench::new(&change("", second)).fails("desk_change", json!({ "item": "odd" })).await;
    assert_eq!((&told["error"], &told["step"]), (&json!("step_refused"), &json!("then")), "{told}");
    let message = told["message"].as_str().unwrap();
    assert!(message.contains("a value from an earlier step") && !message.contains("this server sets"), "{message}");
    assert!(told.get("schema").is_none(), "{told}");
    assert_eq!(told["steps"][0]["done"], true);
}

#[tokio::test]
async fn of_a_step_that_wrote_the_failure_tells_what_it_gave() {
    let second = "action: get-item\n        args: {item-id: {value: i1}}";
    let told = Bench::new(&change("", second)).fails("desk_change", json!({ "item": "i0" })).await;
    assert_eq!(
        told["steps"][0],
        json!({
            "id": "write", "effect": "reversible", "done": true, "result": { "version": "i0-v2" }
        })
    );
    assert_eq!(ids(&told), json!([["write", true], ["then", false]]));
}

#[tokio::test]
async fn a_result_of_steps_that_cannot_be_shown_tells_what_they_did() {
    let odd = "action: get-odd\n        args: {what: {value: \"{}\"}}";
    let tools = change("", odd)
        .replace(
            "version: {step: write, at: /version}",
            "version: {step: write, at: /version}\n      odd: {step: then}",
        )
        .replace("version: {type: string}}", "version: {type: string}, odd: {minProperties: 1}}");
    let told = Bench::new(&tools).fails("desk_change", json!({ "item": "i0" })).await;
    assert_eq!((&told["error"], ids(&told)), (&json!("output_mismatch"), json!([["write", true], ["then", true]])));
    assert_eq!(told["steps"][0]["result"], json!({ "version": "i0-v2" }));
}

#[tokio::test]
async fn a_value_that_is_not_there_is_named_with_the_step_that_lacks_it() {
    let bench = Bench::new(&look());
    let told = bench.fails("desk_look", json!({ "count": 1 })).await;
    assert_eq!((&told["error"], &told["step"]), (&json!("missing_value"), &json!("get")));
    assert_eq!(told["message"], "`desk_look`: step `get` needs a value that step `list` did not find");
    assert_eq!(ids(&told), json!([["list", true], ["get", false]]));
}

#[tokio::test]
async fn a_call_that_is_taken_back_in_step_two_ends_it_and_tells_what_step_one_did() {
    let mark = "      - {name: mark, type: path, required: true, description: A file}\n";
    let bench = Bench::new(&change(mark, "action: wait-long\n        args: {mark: {arg: mark}}"));
    let mark = bench.folder.path().join("mark");
    let cancelled = CancellationToken::new();
    let arguments = json!({ "item": "i0", "mark": mark });
    let call = bench.call_with("desk_change", arguments, cancelled.clone(), Progress::ignored());
    let cancel = async {
        while !mark.exists() {
            tokio::task::yield_now().await;
        }
        cancelled.cancel();
    };
    let (reply, ()) = tokio::join!(call, cancel);
    let told = failure(&reply);
    assert_eq!(told["error"], "cancelled", "{told}");
    assert_eq!(ids(&told), json!([["write", true], ["then", false]]));
}

#[tokio::test]
async fn a_call_that_was_taken_back_before_it_began_starts_nothing() {
    let bench = Bench::new(&change("", "action: list-items"));
    let cancelled = CancellationToken::new();
    cancelled.cancel();
    let reply = bench.call_with("desk_change", json!({ "item": "i0" }), cancelled, Progress::ignored()).await;
    assert_eq!(ids(&failure(&reply)), json!([["write", false]]));
    assert_eq!(bench.events().len(), 0);
}

#[tokio::test]
async fn progress_of_steps_rises_within_the_whole() {
    let bench = Bench::new(&look().replace("/items/1/id", "/items/0/id"));
    let (sink, mut steps) = mpsc::channel(64);
    let reply = bench.call_with("desk_look", json!({}), CancellationToken::new(), Progress::into_channel(sink)).await;
    assert!(!reply.is_error, "{}", reply.text);
    let mut told = Vec::new();
    while let Ok(step) = steps.try_recv() {
        assert_eq!(step.total, Some(2.0));
        told.push(step.progress);
    }
    assert_eq!(told.len(), 5, "{told:?}");
    // The second step's first own word says where it begins, as the step itself did.
    assert!(told.windows(2).all(|pair| pair[0] <= pair[1]) && told[4] > 1.5 && told[4] < 2.0, "{told:?}");
}

#[tokio::test]
async fn the_list_is_what_is_declared_and_an_unknown_name_is_told() {
    let bench = Bench::new(&(show() + &tool("desk_list", "list-items", &format!("    read_only: true\n{OPEN}"))));
    let names: Vec<&str> = bench.chat.tools().iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["desk_show", "desk_list"]);
    assert_eq!(bench.fails("desk_get", Value::Object(Default::default())).await["error"], "unknown_tool");
}
