//! Many names in few bytes: groups by first word, or ranges, with counts.

use serde_json::{Map, Value, json};

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

/// All names in fewer bytes: those that begin alike under what they begin with, `{"list-": ["users", "orders"]}`.
/// Beginnings end after the first, second or third word, whichever takes the least.
pub(super) fn by_beginning(names: &[&str]) -> Value {
    let grouped = (1..=3).map(|words| {
        let mut groups: Map<String, Value> = Map::new();
        for name in names {
            let (beginning, rest) = name.split_at(after_words(name, words));
            if let Value::Array(rests) = groups.entry(beginning).or_insert_with(|| json!([])) {
                rests.push(json!(rest));
            }
        }
        Value::Object(groups)
    });
    grouped.min_by_key(budget::bytes).unwrap_or(Value::Null)
}

/// Where the first so many words of a name end, with the joining character after them.
fn after_words(name: &str, words: usize) -> usize {
    let joints = name.char_indices().filter(|(_, c)| matches!(c, '-' | '_' | '.' | '/'));
    joints.map(|(at, c)| at + c.len_utf8()).nth(words - 1).unwrap_or(0)
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
