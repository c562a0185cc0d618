//! Words that stand for one another, and what a word is a kind of, from the tables beside this file. Knows terms only.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::words;

/// The terms that may stand for a term, in the table's order.
pub(crate) fn of(term: &str) -> &'static [String] {
    SYNONYMS.get(term).map(Vec::as_slice).unwrap_or_default()
}

/// The terms that mean the same as a term.
pub(crate) fn equals(term: &str) -> &'static [String] {
    EQUALS.get(term).map(Vec::as_slice).unwrap_or_default()
}

/// What a term is a kind of, the nearest first.
pub(crate) fn kinds(term: &str) -> &'static [String] {
    KINDS.get(term).map(Vec::as_slice).unwrap_or_default()
}

/// Whether one term may stand for the other.
pub(crate) fn related(one: &str, other: &str) -> bool {
    of(one).iter().chain(equals(one)).any(|word| word == other)
}

/// Reads the tables, so that the first search need not.
pub(crate) fn prepare() {
    LazyLock::force(&SYNONYMS);
    LazyLock::force(&EQUALS);
    LazyLock::force(&KINDS);
}

type Table = HashMap<String, Vec<String>>;

static SYNONYMS: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table::new();
    for line in words::table(include_str!("synonyms.txt")).filter(|line| !line.starts_with('=')) {
        let terms: Vec<String> = line.split_whitespace().map(words::stem).collect();
        for other in terms.iter().skip(1) {
            relate(&mut table, &terms[0], other);
            relate(&mut table, other, &terms[0]);
        }
    }
    table
});

static EQUALS: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table::new();
    for line in words::table(include_str!("synonyms.txt")).filter_map(|line| line.strip_prefix('=')) {
        let terms: Vec<String> = line.split_whitespace().map(words::stem).collect();
        for one in &terms {
            for other in &terms {
                relate(&mut table, one, other);
            }
        }
    }
    table
});

static KINDS: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table::new();
    for (kinds, words) in words::table(include_str!("kinds.txt")).filter_map(|line| line.split_once(':')) {
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
