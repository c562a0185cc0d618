//! Two doors, three ways of asking, and a switch: which of them lets what through, and what a refusal says.
//!
//! Owns the truth table of doors and policies. Start at [`the_truth_table_of_doors_holds`].

use gatelatch_gate::decision::{AskedBy, Door, Policy, Refusal, Verdict, decide};
use gatelatch_registry::catalog::{ActionManifest, Catalog, Effect, Kind};

use crate::builder::{action, agent, call, declared, tool};

const CLIENT: Policy = Policy { asked_by: AskedBy::Client, deny_irreversible: false };

fn catalog() -> Catalog {
    let entries = vec![
        tool(
            "outbox",
            vec![
                action(Some("list-messages")),
                action(Some("draft-message")),
                action(Some("send-message")),
                action(Some("frobnicate")),
                declared(Some("send-note"), Effect::Reversible),
                ActionManifest { approval: true, ..declared(Some("archive-all"), Effect::Reversible) },
            ],
        ),
        tool("mystery", vec![action(None)]),
        agent("send-digest", action(None), &[]),
        agent("digest", action(None), &["outbox.send-message"]),
    ];
    Catalog::link(entries, Vec::new())
}

fn verdict(policy: &Policy, door: Door, action: &str) -> Verdict {
    let catalog = catalog();
    decide(&catalog, policy, door, call(&catalog, Kind::Tool, "outbox", Some(action)))
}

fn refusal(policy: &Policy, door: Door, kind: Kind, name: &str, action: Option<&str>) -> Refusal {
    let catalog = catalog();
    match decide(&catalog, policy, door, call(&catalog, kind, name, action)) {
        Verdict::AskFirst(refusal) | Verdict::Denied(refusal) => refusal,
        Verdict::Run(_) => panic!("`{name}` ran"),
    }
}

#[test]
fn the_truth_table_of_doors_holds() {
    let mut table = String::new();
    for action in ["list-messages", "draft-message", "archive-all", "send-message"] {
        for asked_by in AskedBy::ALL {
            for deny_irreversible in [false, true] {
                let policy = Policy { asked_by, deny_irreversible };
                let verdicts = [Door::Plain, Door::Confirmed].map(|door| match verdict(&policy, door, action) {
                    Verdict::Run(_) => "run",
                    Verdict::AskFirst(_) => "ask",
                    Verdict::Denied(_) => "denied",
                });
                let deny = if deny_irreversible { "deny" } else { "-" };
                table += &format!("{action:13} {:6} {deny:4} {} {}\n", asked_by.as_str(), verdicts[0], verdicts[1]);
            }
        }
    }
    insta::assert_snapshot!(table, @"
    list-messages client -    run run
    list-messages client deny run run
    list-messages elicit -    run run
    list-messages elicit deny run run
    list-messages ticket -    run run
    list-messages ticket deny run run
    draft-message client -    run run
    draft-message client deny run run
    draft-message elicit -    run run
    draft-message elicit deny run run
    draft-message ticket -    run run
    draft-message ticket deny run run
    archive-all   client -    ask run
    archive-all   client deny denied denied
    archive-all   elicit -    denied denied
    archive-all   elicit deny denied denied
    archive-all   ticket -    denied denied
    archive-all   ticket deny denied denied
    send-message  client -    ask run
    send-message  client deny denied denied
    send-message  elicit -    denied denied
    send-message  elicit deny denied denied
    send-message  ticket -    denied denied
    send-message  ticket deny denied denied
    ");
}

#[test]
fn a_refusal_says_what_why_and_what_to_do() {
    let refused = refusal(&CLIENT, Door::Plain, Kind::Tool, "outbox", Some("send-message"));
    insta::assert_snapshot!(refused.message, @"
    `outbox.send-message` was not run: it is irreversible because the name says `send`
    help: ask the human, then call run_tool_confirmed with the same arguments
    help: if it does less than its name says, its author adds `effect:` and, with the reason, `because:` under action `send-message` in tools/outbox/tool.yaml
    ");
}

#[test]
fn an_agents_refusal_names_the_agents_confirmed_tool() {
    let refused = refusal(&CLIENT, Door::Plain, Kind::Agent, "digest", None);
    assert_eq!(refused.confirm_with(), "run_agent_confirmed");
    insta::assert_snapshot!(refused.message, @"
    `digest` was not run: it is irreversible because it uses `outbox.send-message`
    help: ask the human, then call run_agent_confirmed with the same arguments
    ");
    let refused = refusal(&CLIENT, Door::Plain, Kind::Tool, "outbox", Some("send-message"));
    assert_eq!(refused.confirm_with(), "run_tool_confirmed");
}

#[test]
fn an_undeclared_effect_names_the_line_to_add() {
    let refused = refusal(&CLIENT, Door::Plain, Kind::Tool, "outbox", Some("frobnicate"));
    insta::assert_snapshot!(refused.message, @"
    `outbox.frobnicate` was not run: it is irreversible because no effect is declared
    help: ask the human, then call run_tool_confirmed with the same arguments
    help: if it changes nothing, its author adds `effect: read_only` under action `frobnicate` in tools/outbox/tool.yaml, or `effect: reversible` if a change can be undone
    ");
    let refused = refusal(&CLIENT, Door::Plain, Kind::Tool, "mystery", None);
    insta::assert_snapshot!(refused.message, @"
    `mystery` was not run: it is irreversible because no effect is declared
    help: ask the human, then call run_tool_confirmed with the same arguments
    help: if it changes nothing, its author adds `effect: read_only` at the top of tools/mystery/tool.yaml, or `effect: reversible` if a change can be undone
    ");
}

#[test]
fn a_declaration_in_vain_names_the_reason_that_it_lacks() {
    let refused = refusal(&CLIENT, Door::Plain, Kind::Tool, "outbox", Some("send-note"));
    insta::assert_snapshot!(refused.message, @"
    `outbox.send-note` was not run: it is irreversible because the name says `send`, and reversible is declared without a `because:`
    help: ask the human, then call run_tool_confirmed with the same arguments
    help: if reversible is right, its author adds `because:` with the reason under action `send-note` in tools/outbox/tool.yaml
    ");
}

#[test]
fn a_mild_call_that_asks_for_approval_is_not_called_irreversible() {
    let refused = refusal(&CLIENT, Door::Plain, Kind::Tool, "outbox", Some("archive-all"));
    insta::assert_snapshot!(refused.message, @"
    `outbox.archive-all` was not run: a human must agree first because the manifest asks for approval
    help: ask the human, then call run_tool_confirmed with the same arguments
    ");
}

#[test]
fn with_no_human_in_the_seat_a_refusal_names_the_switch_and_no_other_door() {
    let headless = Policy { deny_irreversible: true, ..CLIENT };
    for door in [Door::Plain, Door::Confirmed] {
        let refused = refusal(&headless, door, Kind::Tool, "outbox", Some("send-message"));
        assert!(!refused.message.contains("_confirmed"), "{}", refused.message);
        insta::allow_duplicates! {
            insta::assert_snapshot!(refused.message, @"
            `outbox.send-message` was not run: it is irreversible because the name says `send`, and this server runs no such call: GATELATCH_DENY_IRREVERSIBLE is set, since no human is in the seat
            help: do not try again, tell the human
            help: if it does less than its name says, its author adds `effect:` and, with the reason, `because:` under action `send-message` in tools/outbox/tool.yaml
            ");
        }
    }
}

#[test]
fn a_way_of_asking_that_is_not_built_refuses_and_says_so() {
    let ticket = Policy { asked_by: AskedBy::Ticket, ..CLIENT };
    let refused = refusal(&ticket, Door::Confirmed, Kind::Tool, "outbox", Some("send-message"));
    insta::assert_snapshot!(refused.message, @"
    `outbox.send-message` was not run: it is irreversible because the name says `send`, and this server runs no such call: its way of asking a human, `ticket`, is not available in this version
    help: do not try again, tell the human
    help: if it does less than its name says, its author adds `effect:` and, with the reason, `because:` under action `send-message` in tools/outbox/tool.yaml
    ");
}

#[test]
fn an_approval_holds_the_call_that_was_judged() {
    let Verdict::Run(approved) = verdict(&CLIENT, Door::Confirmed, "send-message") else { panic!("refused") };
    assert_eq!(approved.get().action().name.as_deref(), Some("send-message"));
    assert_eq!(approved.into_inner().entry().manifest.name, "outbox");
}

#[test]
fn a_refusal_gives_the_call_back() {
    let refused = refusal(&CLIENT, Door::Plain, Kind::Agent, "send-digest", None);
    assert_eq!(refused.call.entry().manifest.name, "send-digest");
    assert_eq!(refused.ruling.effect, Effect::Irreversible);
}
