//! A mapping as whoever builds a document reads it: by key, and silent about what [`crate::shape`] has reported.

use serde_json::{Number, Value};

use crate::diagnostic::Position;
use crate::yaml::{Data, Node, Pair};

/// The keys of one mapping. Every reading is `None` where the key is absent, has no value, or has one that was
/// reported as wrong.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keys<'n> {
    pairs: &'n [Pair<'n>],
    /// Where the mapping begins.
    pub(crate) at: Position,
}

impl<'n> Keys<'n> {
    /// `None` when the node is no mapping.
    pub(crate) fn of(node: &'n Node<'n>) -> Option<Keys<'n>> {
        match &node.data {
            Data::Mapping(pairs) => Some(Keys { pairs, at: node.at }),
            Data::Scalar { .. } | Data::List(_) | Data::Broken => None,
        }
    }

    /// The key and its value, if it has one.
    pub(crate) fn pair(self, key: &str) -> Option<&'n Pair<'n>> {
        self.pairs.iter().find(|pair| pair.key == key && !pair.value.is_null())
    }

    pub(crate) fn node(self, key: &str) -> Option<&'n Node<'n>> {
        self.pair(key).map(|pair| &pair.value)
    }

    pub(crate) fn pairs(self) -> &'n [Pair<'n>] {
        self.pairs
    }

    /// A text without the blanks around it, and where it stands.
    pub(crate) fn text_at(self, key: &str) -> Option<(&'n str, Position)> {
        let node = self.node(key)?;
        node.text().map(|text| (text.trim(), node.at))
    }

    pub(crate) fn text(self, key: &str) -> Option<&'n str> {
        self.text_at(key).map(|(text, _)| text)
    }

    pub(crate) fn flag(self, key: &str) -> Option<bool> {
        self.node(key).and_then(Node::flag)
    }

    pub(crate) fn whole(self, key: &str) -> Option<u64> {
        self.node(key).and_then(Node::whole)
    }

    pub(crate) fn number(self, key: &str) -> Option<Number> {
        self.node(key).and_then(Node::number)
    }

    pub(crate) fn json(self, key: &str) -> Option<Value> {
        self.node(key).and_then(Node::json)
    }

    /// The items of a list; none when there is no list.
    pub(crate) fn items(self, key: &str) -> &'n [Node<'n>] {
        match self.node(key).map(|node| &node.data) {
            Some(Data::List(items)) => items,
            _ => &[],
        }
    }

    /// The items of a list that are text, and where each stands.
    pub(crate) fn texts_at(self, key: &str) -> Vec<(&'n str, Position)> {
        self.items(key).iter().filter_map(|item| item.text().map(|text| (text.trim(), item.at))).collect()
    }

    pub(crate) fn texts(self, key: &str) -> Vec<String> {
        self.texts_at(key).into_iter().map(|(text, _)| text.to_owned()).collect()
    }
}
