//! Many names in few bytes: groups by first word, or ranges, with counts.

use serde_json::{Value, json};

use crate::budget;
use crate::index::words;

/// Groups of names by their first word, the largest first, ties by word: `{"begins": "list", "count": 34}`. `None` if
/// there are more groups than `limit`.
pub(super) fn by_first_word(names: &[&str], limit: usize) -> Option<Vec<Value>> {
    let mut groups: Vec<(String, usize)> = Vec::new();
    let mut words: Vec<String> = names.iter().map(|name| first_word(name)).collect();
    words.sort_unstable();
    for word in words {
        match groups.last_mut() {
            Some((last, count)) if *last == word => *count += 1,
            _ => groups.push((word, 1)),
        }
    }
    if groups.len() > limit || groups.len() * 3 > names.len() {
        return None;
    }
    groups.sort_by(|(a, m), (b, n)| n.cmp(m).then_with(|| a.cmp(b)));
    Some(groups.into_iter().map(|(word, count)| json!({"begins": budget::cut(&word, 40), "count": count})).collect())
}

/// At most `limit` ranges of the sorted names, of about the same size: `{"from": …, "to": …, "count": …}`.
pub(super) fn ranges(names: &[&str], limit: usize) -> Vec<Value> {
    let mut names = names.to_vec();
    names.sort_unstable();
    let size = names.len().div_ceil(limit.max(1)).max(1);
    let ends = names.chunks(size).filter_map(|chunk| Some((chunk.first()?, chunk.last()?, chunk.len())));
    ends.map(|(from, to, count)| json!({"from": budget::cut(from, 48), "to": budget::cut(to, 48), "count": count}))
        .collect()
}

fn first_word(name: &str) -> String {
    words::list(name).into_iter().next().map_or_else(|| name.to_owned(), |(word, _)| word)
}
