//! The three lists that a reviewer wants of a catalog.
//!
//! Owns nothing: it holds their content, their order and their lines. Start at [`catalog`].

use gatelatch_gate::declaration::{ignored_declarations, loosenings, undeclared};
use gatelatch_registry::catalog::{Catalog, Effect};

use crate::builder::{action, agent, declared, reasoned, tool};

fn catalog() -> Catalog {
    let entries = vec![
        tool(
            "outbox",
            vec![
                action(Some("list-messages")),
                action(Some("frobnicate")),
                declared(Some("frob"), Effect::ReadOnly),
                declared(Some("send-note"), Effect::Reversible),
                reasoned(Some("send-test"), Effect::Reversible, "it goes to\n  the author alone"),
                reasoned(Some("delete-copy"), Effect::ReadOnly, " \n "),
            ],
        ),
        tool("mystery", vec![action(None)]),
        agent("digest", action(None), &[]),
        agent("post-digest", reasoned(None, Effect::ReadOnly, "it prints"), &[]),
        agent("night-shift", action(None), &["outbox.delete-copy"]),
    ];
    Catalog::link(entries, Vec::new())
}

fn lines<T: ToString>(found: &[T]) -> String {
    found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn undeclared_is_what_only_a_declaration_would_make_milder() {
    insta::assert_snapshot!(lines(&undeclared(&catalog())), @"
    tool mystery: no effect is declared
    tool outbox.frobnicate: no effect is declared
    agent digest: no effect is declared
    ");
}

#[test]
fn every_loosening_is_one_line_with_its_reason() {
    insta::assert_snapshot!(lines(&loosenings(&catalog())), @"
    tool outbox.send-test: irreversible (`send`) -> reversible: it goes to the author alone
    agent post-digest: irreversible (`post`) -> read_only: it prints
    ");
}

#[test]
fn a_milder_declaration_without_a_reason_is_reported_and_a_blank_reason_is_none() {
    insta::assert_snapshot!(lines(&ignored_declarations(&catalog())), @"
    tool outbox.send-note: irreversible (`send`), though reversible is declared, without `because:`
    tool outbox.delete-copy: irreversible (`delete`), though read_only is declared, without `because:`
    ");
}

#[test]
fn a_place_says_where_the_line_belongs() {
    let found = undeclared(&catalog());
    let places: Vec<String> = found.iter().map(|found| found.place.in_file()).collect();
    assert_eq!(places[0], "at the top of tools/mystery/tool.yaml");
    assert_eq!(places[1], "under action `frobnicate` in tools/outbox/tool.yaml");
}
