//! May this caller have it at all: the gate's first question. Knows nothing of effects. Start at [`Uses`].

use gatelatch_registry::catalog::{ActionManifest, Entry, EntryManifest, Kind};

/// What an agent says that it calls: its own calls get nothing else.
///
/// It travels to the agent's calls as text (`outbox.list-messages,xlsx`), since names of entries hold no dot and no
/// comma. It guards against a manifest that says less than its program does; it is no wall against a hostile program,
/// which needs no Gatelatch to start another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uses {
    names: Vec<(String, Option<String>)>,
}

impl Uses {
    /// What an agent's manifest declares.
    pub fn of(agent: &EntryManifest) -> Uses {
        let names = agent.uses.iter().map(|used| (used.tool.clone(), used.action.clone()));
        Uses { names: names.collect() }
    }

    /// Reads [`Uses::to_text`] again. Text that nobody wrote so names what no catalog has, and allows that much less.
    pub fn from_text(text: &str) -> Uses {
        let names = text.split(',').filter(|part| !part.is_empty()).map(|part| match part.split_once('.') {
            Some((tool, action)) => (tool.to_owned(), Some(action.to_owned())),
            None => (part.to_owned(), None),
        });
        Uses { names: names.collect() }
    }

    /// One name after the other, `tool` or `tool.action`, separated by commas.
    pub fn to_text(&self) -> String {
        let names: Vec<String> = self
            .names
            .iter()
            .map(|(tool, action)| match action {
                Some(action) => format!("{tool}.{action}"),
                None => tool.clone(),
            })
            .collect();
        names.join(",")
    }

    /// Whether it names this action: a tool's, by itself or with all of its tool. An agent uses no agent.
    pub fn name(&self, entry: &Entry, action: &ActionManifest) -> bool {
        entry.manifest.kind == Kind::Tool
            && self.names.iter().any(|(tool, named)| {
                *tool == entry.manifest.name && (named.is_none() || named.as_deref() == action.name.as_deref())
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_gives_back_what_was_declared_and_strange_text_names_nothing() {
        let uses = Uses { names: vec![("xlsx".into(), None), ("outbox".into(), Some("list.all".into()))] };
        assert_eq!(uses.to_text(), "xlsx,outbox.list.all");
        assert_eq!(Uses::from_text(&uses.to_text()), uses);
        assert_eq!(Uses::from_text(""), Uses { names: Vec::new() });
        assert_eq!(Uses::from_text(",,").to_text(), "");
    }
}
