//! The known word that a wrong one was most likely meant to be.

use strsim::osa_distance;

/// Longer words are not compared: nobody mistypes a page of text for a key, and hostile input shall cost nothing.
const LONGEST: usize = 64;

/// The known word that is nearest to a wrong one, if one is near enough to be told. Case, `-` and `_` do not count.
pub fn nearest<'k>(wrong: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    if wrong.chars().count() > LONGEST {
        return None;
    }
    let folded = fold(wrong);
    let reach = folded.chars().count() / 3;
    known
        .into_iter()
        .map(|word| (osa_distance(&folded, &fold(word)), word))
        .filter(|(distance, _)| *distance <= reach.max(1) && *distance < folded.chars().count().max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

/// The known word that is nearest to a wrong one where no other is as near: one slip in a short word, two in a long
/// one.
pub(crate) fn only_nearest<'k>(wrong: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    const SHORTEST: usize = 3;
    const LONG: usize = 6;
    let length = wrong.chars().count();
    if !(SHORTEST..=LONGEST).contains(&length) {
        return None;
    }
    let folded = fold(wrong);
    let reach = if length < LONG { 1 } else { 2 };
    let mut near: Vec<(usize, &str)> = known
        .into_iter()
        .map(|word| (osa_distance(&folded, &fold(word)), word))
        .filter(|(distance, _)| *distance <= reach)
        .collect();
    near.sort_unstable();
    match near.as_slice() {
        [(_, word)] => Some(word),
        [(first, word), (second, _), ..] if first < second => Some(word),
        _ => None,
    }
}

/// A name without what spelling variants differ in: lower case, no `-`, no `_`.
pub fn fold(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '-' | '_')).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_told_only_when_it_is_near() {
        let known = ["description", "runtime", "entrypoint", "args"];
        assert_eq!(nearest("descripton", known), Some("description"));
        assert_eq!(nearest("entry-point", known), Some("entrypoint"));
        assert_eq!(nearest("arsg", known), Some("args"));
        assert_eq!(nearest("zzz", known), None);
        assert_eq!(nearest("", known), None);
        assert_eq!(nearest(&"a".repeat(1000), known), None);
    }

    #[test]
    fn a_word_between_two_known_ones_is_neither_for_certain() {
        let effects = ["read_only", "reversible", "irreversible"];
        assert_eq!(only_nearest("ireversible", effects), None);
        assert_eq!(only_nearest("irreversibel", effects), Some("irreversible"));
        assert_eq!(only_nearest("reversable", effects), Some("reversible"));
        assert_eq!(only_nearest("xx", ["xy"]), None);
        assert_eq!(only_nearest("desc", ["description"]), None);
    }
}
