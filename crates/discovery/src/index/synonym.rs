//! Words that stand for one another, and what a word is a kind of, from the tables beside this file. Knows terms only.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::words;

/// The terms that may stand for a term, in the table's order.
pub(crate) fn of(term: &str) -> &'static [String] {
    SYNONYMS.get(term).map(Vec::as_slice).unwrap_or_default()
}

/// What a term is a kind of, the nearest first.
pub(crate) fn kinds(term: &str) -> &'static [String] {
    KINDS.get(term).map(Vec::as_slice).unwrap_or_default()
}

/// Whether one term may stand for the other.
pub(crate) fn related(one: &str, other: &str) -> bool {
    of(one).iter().any(|word| word == other)
}

/// Reads the tables, so that the first search need not.
pub(crate) fn prepare() {
    LazyLock::force(&SYNONYMS);
    LazyLock::force(&KINDS);
}

type Table = HashMap<String, Vec<String>>;

static SYNONYMS: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table::new();
    for line in include_str!("synonyms.txt").lines().filter(|line| !line.starts_with('#')) {
        let terms: Vec<String> = line.split_whitespace().map(words::stem).collect();
        for other in terms.iter().skip(1) {
            relate(&mut table, &terms[0], other);
            relate(&mut table, other, &terms[0]);
        }
    }
    table
});

static KINDS: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table::new();
    for (kinds, words) in include_str!("kinds.txt").lines().filter_map(|line| line.split_once(':')) {
        for word in words.split_whitespace().map(words::stem) {
            for kind in kinds.split_whitespace().map(words::stem) {
                relate(&mut table, &word, &kind);
            }
        }
    }
    table
});

fn relate(table: &mut Table, from: &str, to: &str) {
    let known = table.entry(from.to_owned()).or_default();
    if from != to && !known.iter().any(|word| word == to) {
        known.push(to.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_synonym_works_in_both_directions() {
        for (one, other) in [("delete", "remove"), ("get", "fetch"), ("mail", "message"), ("messages", "emails")] {
            let (one, other) = (words::stem(one), words::stem(other));
            assert!(related(&one, &other) && related(&other, &one), "{one} {other}");
        }
        assert!(!related("delete", "create"));
    }

    #[test]
    fn a_kind_works_in_one_direction() {
        let (pizza, food) = (words::stem("pizza"), words::stem("food"));
        assert!(kinds(&pizza).contains(&food));
        assert!(!kinds(&food).contains(&pizza));
    }
}
