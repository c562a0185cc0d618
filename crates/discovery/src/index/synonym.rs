//! Words that stand for one another, from the table beside this file. Knows terms only.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::words;

/// The terms that may stand for a term, in the table's order.
pub(crate) fn of(term: &str) -> &'static [String] {
    TABLE.get(term).map(Vec::as_slice).unwrap_or_default()
}

/// Whether one term may stand for the other.
pub(crate) fn related(one: &str, other: &str) -> bool {
    of(one).iter().any(|word| word == other)
}

static TABLE: LazyLock<HashMap<String, Vec<String>>> = LazyLock::new(|| {
    let mut table: HashMap<String, Vec<String>> = HashMap::new();
    for line in include_str!("synonyms.txt").lines().filter(|line| !line.starts_with('#')) {
        let terms: Vec<String> = line.split_whitespace().map(words::stem).collect();
        let Some((head, others)) = terms.split_first() else {
            continue;
        };
        for other in others.iter().filter(|other| *other != head) {
            relate(&mut table, head, other);
            relate(&mut table, other, head);
        }
    }
    table
});

fn relate(table: &mut HashMap<String, Vec<String>>, from: &str, to: &str) {
    let known = table.entry(from.to_owned()).or_default();
    if !known.iter().any(|word| word == to) {
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
}
