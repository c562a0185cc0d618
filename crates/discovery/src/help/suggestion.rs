//! Which existing names a wrong name may have meant.
//!
//! Knows words and letters only: word order, plurals, case styles, synonyms and typing errors cost little or nothing.
//! Start at [`best`].

use crate::index::synonym;
use crate::index::words::{self, Role};

/// The names that come close, the closest first; ties by name.
pub(super) fn best<'a>(wrong: &str, names: impl Iterator<Item = &'a str>, limit: usize) -> Vec<String> {
    best_fitting(wrong, names, limit, &|_| 0.0)
}

/// The same, where beside the name something else speaks against one, so that it must be closer by so much.
pub(super) fn best_fitting<'a>(
    wrong: &str,
    names: impl Iterator<Item = &'a str>,
    limit: usize,
    doubt: &dyn Fn(&str) -> f32,
) -> Vec<String> {
    let wrong = Name::read(wrong);
    let mut close: Vec<(f32, &str)> = names
        .filter(|name| name.len() <= super::LONG_NAME)
        .map(|name| (wrong.closeness(&Name::read(name)), name))
        .filter(|(closeness, _)| *closeness >= CLOSE)
        .map(|(closeness, name)| (closeness - doubt(name), name))
        .collect();
    close.sort_by(|(a, m), (b, n)| b.total_cmp(a).then_with(|| m.cmp(n)));
    close.dedup_by(|(_, later), (_, first)| later == first);
    let top = close.first().map_or(0.0, |(closeness, _)| *closeness);
    let near_top = close.into_iter().filter(|(closeness, _)| *closeness >= top - SPREAD);
    near_top.take(limit).map(|(_, name)| name.to_owned()).collect()
}

/// The one name that a wrong name clearly means, if there is one.
pub(super) fn clear<'a>(wrong: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let wrong = Name::read(wrong);
    let mut close: Vec<(f32, &str)> = names.map(|name| (wrong.closeness(&Name::read(name)), name)).collect();
    close.sort_by(|(a, m), (b, n)| b.total_cmp(a).then_with(|| m.cmp(n)));
    match close.as_slice() {
        [(first, name)] if *first >= CLEAR => Some(*name),
        [(first, name), (second, _), ..] if *first >= CLEAR && first - second >= 0.1 => Some(*name),
        _ => None,
    }
}

/// The words of a name with spaces between them, for a search.
pub(super) fn spaced(name: &str) -> String {
    let words = words::list(words::beginning(name, LONGEST))
        .into_iter()
        .filter(|(_, role)| *role != Role::Joined)
        .map(|(word, _)| word);
    crate::budget::cut(&words.collect::<Vec<_>>().join(" "), super::LONG_NAME)
}

/// Whether a text mentions every word of a name.
pub(super) fn mentions(text: &str, name: &str) -> bool {
    let said: Vec<String> = words::list(text).into_iter().map(|(word, _)| words::stem(&word)).collect();
    let name = Name::read(name);
    !name.words.is_empty() && name.words.iter().all(|(stem, _)| said.contains(stem))
}

/// Whether two names differ at most in case, `-` and `_`.
pub(super) fn same_spelling(one: &str, other: &str) -> bool {
    one.len().max(other.len()) <= LONGEST && spelling(one) == spelling(other)
}

fn spelling(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '-' | '_')).flat_map(char::to_lowercase).collect()
}

/// So many bytes of a name are compared: nobody mistypes more, and the answer must not wait for it.
const LONGEST: usize = 256;

/// A name at least this close is suggested.
const CLOSE: f32 = 0.5;

/// A name at least this close, with no other near, is taken for what was meant.
const CLEAR: f32 = 0.62;

/// How much worse than the best one a suggestion may be.
const SPREAD: f32 = 0.3;

/// Texts of fewer letters in common are no misspellings of one another.
const ALIKE: f32 = 0.66;

const SYNONYM: f32 = 0.75;
const BEGINNING: f32 = 0.8;

/// A name by its words and by its letters.
struct Name {
    words: Vec<(String, String)>,
    letters: String,
}

impl Name {
    fn read(name: &str) -> Name {
        let parts = words::list(words::beginning(name, LONGEST)).into_iter().filter(|(_, role)| *role != Role::Joined);
        let words: Vec<(String, String)> = parts.map(|(word, _)| (words::stem(&word), word)).collect();
        let letters = words.iter().map(|(_, word)| word.as_str()).collect();
        Name { words, letters }
    }

    /// From 0, nothing alike, to 1, the same words or the same letters.
    fn closeness(&self, other: &Name) -> f32 {
        if self.letters.is_empty() || other.letters.is_empty() {
            return 0.0;
        }
        // Below that it is only the word that both have.
        misspelling(&self.letters, &other.letters).max(self.overlap(other))
    }

    /// The share of words that both have, each word paired once with its best partner.
    fn overlap(&self, other: &Name) -> f32 {
        let mut pairs: Vec<(f32, usize, usize)> = Vec::new();
        for (i, one) in self.words.iter().enumerate() {
            for (j, two) in other.words.iter().enumerate() {
                let alike = alike(one, two);
                if alike > 0.0 {
                    pairs.push((alike, i, j));
                }
            }
        }
        pairs.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        let (mut left, mut right) = (vec![false; self.words.len()], vec![false; other.words.len()]);
        let mut total = 0.0;
        for (alike, i, j) in pairs {
            if !left[i] && !right[j] {
                (left[i], right[j]) = (true, true);
                total += alike;
            }
        }
        2.0 * total / (self.words.len() + other.words.len()) as f32
    }
}

/// How far one word may stand for another.
fn alike((one_stem, one): &(String, String), (other_stem, other): &(String, String)) -> f32 {
    if one_stem == other_stem {
        return 1.0;
    }
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    if short.chars().count() >= 3 && long.starts_with(short.as_str()) {
        return BEGINNING;
    }
    let meaning = if synonym::related(one_stem, other_stem) { SYNONYM } else { 0.0 };
    misspelling(one, other).max(meaning)
}

/// How alike two texts are by letters, neighbours that changed places counted as one error; 0 below [`ALIKE`].
fn misspelling(one: &str, other: &str) -> f32 {
    let (one_count, other_count) = (one.chars().count(), other.chars().count());
    let (short, long) = (one_count.min(other_count), one_count.max(other_count).max(1));
    // At least so many letters stand in one of them alone.
    let alike = |errors: usize| 1.0 - errors as f32 / long as f32;
    if alike(long - short) < ALIKE {
        return 0.0;
    }
    let alike = alike(strsim::osa_distance(one, other));
    if alike >= ALIKE { alike } else { 0.0 }
}
