//! The walls that the surfaces stand behind: neither reaches the other, and `protocol` reaches nothing of ours.
//!
//! Owns what "reaches" means: through any chain of dependencies that is compiled in. The table of who may depend on whom
//! is held by a test of its own. Start at [`faults`].

use std::collections::{BTreeMap, VecDeque};

use anyhow::Context;
use cargo_metadata::{DependencyKind, MetadataCommand};

use super::Fault;
use crate::step::root;

/// Who depends on whom.
type Edges = BTreeMap<String, Vec<String>>;

/// Every wall that has a hole.
pub(super) fn faults() -> anyhow::Result<Vec<Fault>> {
    let metadata = MetadataCommand::new().current_dir(root()).other_options(["--locked".to_owned()]).exec()?;
    let own: Vec<String> = metadata.workspace_packages().iter().map(|package| package.name.to_string()).collect();
    let name = |id| metadata.packages.iter().find(|package| package.id == id).map(|package| package.name.to_string());
    let mut edges = Edges::new();
    for node in &metadata.resolve.as_ref().context("cargo did not say who depends on whom")?.nodes {
        let compiled_in = |kind: &cargo_metadata::DepKindInfo| kind.kind != DependencyKind::Development;
        let targets = node.deps.iter().filter(|target| target.dep_kinds.iter().any(compiled_in));
        let targets = targets.filter_map(|target| name(target.pkg.clone())).collect();
        edges.insert(name(node.id.clone()).unwrap_or_default(), targets);
    }
    Ok(holes(&edges, &own))
}

fn holes(edges: &Edges, own: &[String]) -> Vec<Fault> {
    let (protocol, operator, chat) = ("gatelatch-protocol", "gatelatch-operator", "gatelatch-chat");
    let mut walls = vec![(operator, chat), (chat, operator)];
    walls.extend(own.iter().filter(|name| *name != protocol).map(|name| (protocol, name.as_str())));
    walls
        .into_iter()
        .filter_map(|(from, to)| {
            let chain = chain(edges, from, to)?.join(" -> ");
            Some(Fault::new(
                format!("`{from}` reaches `{to}`: {chain}"),
                "take the dependency away; what both need belongs into a crate below, see docs/ARCHITECTURE.md",
            ))
        })
        .collect()
}

/// The shortest chain of dependencies from one package to another, if there is one.
fn chain(edges: &Edges, from: &str, to: &str) -> Option<Vec<String>> {
    let mut chains = VecDeque::from([vec![from.to_owned()]]);
    let mut seen = vec![from.to_owned()];
    while let Some(chain) = chains.pop_front() {
        for next in chain.last().and_then(|last| edges.get(last)).into_iter().flatten() {
            let longer = chain.iter().chain([next]).cloned().collect();
            if next == to {
                return Some(longer);
            }
            if !seen.contains(next) {
                seen.push(next.clone());
                chains.push_back(longer);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(pairs: &[(&str, &str)]) -> Edges {
        let mut edges = Edges::new();
        for (from, to) in pairs {
            edges.entry((*from).to_owned()).or_default().push((*to).to_owned());
        }
        edges
    }

    fn told(pairs: &[(&str, &str)]) -> Vec<String> {
        let own = ["gatelatch-protocol", "gatelatch-operator", "gatelatch-chat", "gatelatch-bridge"];
        holes(&edges(pairs), &own.map(str::to_owned)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_hole_is_told_with_the_chain_that_leads_through_it() {
        let fine = [
            ("gatelatch-chat", "gatelatch-bridge"),
            ("gatelatch-operator", "gatelatch-bridge"),
            ("gatelatch-operator", "gatelatch-protocol"),
            ("gatelatch-protocol", "rmcp"),
        ];
        assert_eq!(told(&fine), Vec::<String>::new());
        let through = told(&[fine.as_slice(), &[("gatelatch-bridge", "gatelatch-chat")]].concat());
        assert_eq!(through.len(), 1);
        assert!(through[0].contains("gatelatch-operator -> gatelatch-bridge -> gatelatch-chat"), "{through:?}");
        let below = told(&[fine.as_slice(), &[("rmcp", "gatelatch-bridge")]].concat());
        assert!(below[0].contains("`gatelatch-protocol` reaches `gatelatch-bridge`"), "{below:?}");
    }

    #[test]
    fn the_walls_of_this_workspace_hold() {
        let faults: Vec<String> = faults().unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(faults, Vec::<String>::new());
    }
}
