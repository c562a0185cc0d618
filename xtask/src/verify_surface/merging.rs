//! What becomes of two servers' tools where a client puts them into one list.
//!
//! Owns the ways of merging that clients have: by the bare name, or with the server's name before it, with whatever
//! characters their model takes. Start at [`faults`].

use std::collections::BTreeMap;

use gatelatch_manifest::surface::SurfaceManifest;
use gatelatch_operator::surface::tools;

use super::Fault;

/// The name under which a client knows the operator's server, unless it is connected by another.
const OPERATOR: &str = "gatelatch";

/// Every chat tool that a client could take for one of the operator's.
pub(super) fn faults(surface: &SurfaceManifest) -> Vec<Fault> {
    let operator: Vec<String> = tools().into_iter().map(|tool| tool.name).collect();
    let chat: Vec<&str> = surface.tools.iter().map(|tool| tool.name.as_str()).collect();
    collisions(&operator, &surface.server.name, &chat)
}

fn collisions(operator: &[String], server: &str, chat: &[&str]) -> Vec<Fault> {
    let taken: BTreeMap<String, &String> =
        operator.iter().flat_map(|tool| merged(OPERATOR, tool).map(|name| (name, tool))).collect();
    let collision = |tool: &str| merged(server, tool).into_iter().find_map(|name| Some((taken.get(&name)?, name)));
    chat.iter()
        .filter_map(|tool| {
            let (other, name) = collision(tool)?;
            let what = format!("a client that has both servers may know it and the operator's `{other}` as `{name}`");
            Some(Fault::of_tool(tool, what, "give it another name, or the server another"))
        })
        .collect()
}

/// The names that clients make of a tool: alone, with its server before it, and with both marked as MCP's. What a client
/// does with case and separators differs, so that they do not count.
fn merged(server: &str, tool: &str) -> [String; 3] {
    [folded(tool), folded(&format!("{server}_{tool}")), folded(&format!("mcp_{server}_{tool}"))]
}

fn folded(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("_")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(server: &str, chat: &[&str]) -> Vec<String> {
        let operator = ["run_tool".to_owned(), "chat_find".to_owned()];
        collisions(&operator, server, chat).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_chat_tool_that_merges_into_an_operators_is_named_with_it() {
        assert_eq!(told("gatelatch-chat", &["xlsx_read_sheet", "tool_run"]), Vec::<String>::new());
        let same = told("gatelatch-chat", &["run_tool"]);
        assert!(same.len() == 1 && same[0].contains("tool `run_tool`: ") && same[0].contains("help: "), "{same:?}");
        // `gatelatch` + `chat_find` and `gatelatch-chat` + `find`.
        let prefixed = told("gatelatch-chat", &["find"]);
        assert!(prefixed.len() == 1 && prefixed[0].contains("the operator's `chat_find`"), "{prefixed:?}");
        assert_eq!(told("gatelatch.CHAT", &["find"]).len(), 1);
        assert_eq!(told("other", &["gatelatch_run_tool"]).len(), 1);
    }
}
