//! What a search text asks for: concepts, each with the terms of the index that may stand for it.
//!
//! Owns synonyms, misspellings, word beginnings and compound words on the asking side. Only terms that the population
//! has are known here, so that what a caller may not see cannot even correct its spelling.

use super::words::{self, Role, Weight};
use super::{Index, Population, mask, synonym};

/// One thing asked for.
#[derive(Debug)]
pub(super) struct Concept {
    pub(super) weight: f32,
    pub(super) alternatives: Vec<Alternative>,
}

/// A term that may stand for a concept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Alternative {
    pub(super) term: u32,
    pub(super) weight: f32,
    /// How telling the term is: the fewer documents have it, the more.
    pub(super) rarity: f32,
}

/// A search text, read.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) concepts: Vec<Concept>,
}

const SYNONYM: f32 = 0.45;
const MISSPELLED: f32 = 0.7;
const BEGINNING: f32 = 0.6;
const COMPOUND: f32 = 0.8;
const FILLER: f32 = 0.25;
const JOINED: f32 = 0.8;

/// How many terms may stand in for one unknown word.
const STAND_INS: usize = 8;

/// How many words of a text are read: beyond that it is no question.
const WORDS: usize = 128;

impl Question {
    pub(super) fn read(index: &Index, population: &Population, text: &str) -> Question {
        let mut words = words::list(text);
        words.truncate(WORDS);
        let reader = Reader { index, population };
        let mut concepts = reader.concepts(&words, false);
        if concepts.is_empty() {
            concepts = reader.concepts(&words, true);
        }
        Question { concepts }
    }
}

/// The terms that look most like any of the words, best first.
pub(super) fn nearest(index: &Index, population: &Population, text: &str, limit: usize) -> Vec<u32> {
    let mut found: Vec<(usize, u32)> = Vec::new();
    for (word, _) in words::list(text).iter().take(WORDS) {
        let stem = words::stem(word);
        for term in 0..index.term_count() {
            let Some(text) = index.term(term) else { continue };
            let distance = strsim::osa_distance(&stem, text);
            if distance <= 1 + stem.chars().count() / 3 && index.frequency(term, population) > 0 {
                found.push((distance, term));
            }
        }
    }
    found.sort_unstable();
    let mut terms: Vec<u32> = Vec::new();
    for (_, term) in found {
        if !terms.contains(&term) {
            terms.push(term);
        }
    }
    terms.truncate(limit);
    terms
}

struct Reader<'a> {
    index: &'a Index,
    population: &'a Population,
}

impl Reader<'_> {
    fn concepts(&self, words: &[(String, Role)], with_grammar: bool) -> Vec<Concept> {
        let mut concepts: Vec<(String, Concept)> = Vec::new();
        for (at, (word, role)) in words.iter().enumerate() {
            let weight = match words::weight(word) {
                Weight::Grammar if !with_grammar => 0.0,
                Weight::Filler => FILLER,
                Weight::Full | Weight::Grammar => 1.0,
            };
            if weight > 0.0 {
                self.word(word, *role, weight, &mut concepts);
            }
            // `air quality` asks for `airquality` too, `log in` for `login`.
            if let (Role::Whole, Some((next, Role::Whole))) = (role, words.get(at + 1)) {
                let joined = format!("{word}{next}");
                if joined.len() >= 5 && weight + f32::from(words::weight(next) == Weight::Full) > 0.9 {
                    self.joined(&joined, &mut concepts);
                }
            }
        }
        concepts.into_iter().map(|(_, concept)| concept).filter(|concept| !concept.alternatives.is_empty()).collect()
    }

    fn joined(&self, word: &str, concepts: &mut Vec<(String, Concept)>) {
        let stem = words::stem(word);
        if let Some(alternative) = self.known(&stem, 1.0) {
            push(concepts, stem, Concept { weight: JOINED, alternatives: vec![alternative] });
        }
    }

    fn word(&self, word: &str, role: Role, weight: f32, concepts: &mut Vec<(String, Concept)>) {
        let stem = words::stem(word);
        if role == Role::Joined {
            return self.joined(word, concepts);
        }
        let mut alternatives: Vec<Alternative> = Vec::new();
        let known = self.known(&stem, 1.0);
        alternatives.extend(known);
        let ceiling = known.map_or(f32::MAX, |known| known.rarity);
        for synonym in synonym::of(&stem) {
            if let Some(mut alternative) = self.known(synonym, SYNONYM) {
                alternative.rarity = alternative.rarity.min(ceiling);
                alternatives.push(alternative);
            }
        }
        if known.is_none() {
            self.stand_ins(word, &stem, &mut alternatives);
            if alternatives.is_empty() {
                return self.halves(word, weight, concepts);
            }
        }
        push(concepts, stem, Concept { weight, alternatives });
    }

    fn known(&self, stem: &str, weight: f32) -> Option<Alternative> {
        let term = self.index.find(stem)?;
        self.alternative(term, weight)
    }

    fn alternative(&self, term: u32, weight: f32) -> Option<Alternative> {
        let frequency = self.index.frequency(term, self.population);
        if frequency == 0 {
            return None;
        }
        let (count, frequency) = (self.population.count as f32, frequency as f32);
        let rarity = (1.0 + (count - frequency + 0.5) / (frequency + 0.5)).ln();
        Some(Alternative { term, weight, rarity })
    }

    /// For a word that nobody uses: terms that begin with it, and terms that it may be a misspelling of.
    fn stand_ins(&self, word: &str, stem: &str, alternatives: &mut Vec<Alternative>) {
        let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
        let unspaced = stem.chars().next().is_some_and(words::is_unspaced);
        if unspaced || (stem.chars().count() >= 3 && !has_digit) {
            self.beginnings(stem, alternatives);
        }
        let letters = word.chars().count();
        if letters >= 4 && !has_digit && !unspaced {
            let allowed = if letters >= 8 { 2 } else { 1 };
            self.misspellings(stem, allowed, alternatives);
        }
    }

    fn beginnings(&self, stem: &str, alternatives: &mut Vec<Alternative>) {
        let mut found: Vec<Alternative> = Vec::new();
        for term in self.index.first_from(stem)..self.index.term_count() {
            if !self.index.term(term).is_some_and(|text| text.starts_with(stem)) {
                break;
            }
            found.extend(self.alternative(term, BEGINNING));
        }
        found.sort_by(|a, b| a.rarity.total_cmp(&b.rarity).then(a.term.cmp(&b.term)));
        found.truncate(STAND_INS);
        alternatives.append(&mut found);
    }

    fn misspellings(&self, stem: &str, allowed: usize, alternatives: &mut Vec<Alternative>) {
        let letters = stem.chars().count();
        let wanted = mask(stem);
        let mut found: Vec<(usize, Alternative)> = Vec::new();
        for (term, has) in (0..).zip(&self.index.masks) {
            if (wanted ^ has).count_ones() as usize > 2 * allowed {
                continue;
            }
            let Some(text) = self.index.term(term) else { continue };
            if text.len().abs_diff(stem.len()) > 4 * allowed || !similar_start(stem, text) {
                continue;
            }
            let distance = strsim::osa_distance(stem, text);
            if distance > 0 && distance <= allowed && text.chars().count() + allowed > letters {
                let weight = if distance == 1 { MISSPELLED } else { MISSPELLED * 0.8 };
                found.extend(self.alternative(term, weight).map(|alternative| (distance, alternative)));
            }
        }
        let nearest = found.iter().map(|(distance, _)| *distance).min();
        found.retain(|(distance, _)| Some(*distance) == nearest);
        found.sort_by(|(_, a), (_, b)| a.rarity.total_cmp(&b.rarity).then(a.term.cmp(&b.term)));
        alternatives.extend(found.into_iter().take(STAND_INS).map(|(_, alternative)| alternative));
    }

    /// `sendmail`, `moviereview`: two words that the population knows, written as one.
    fn halves(&self, word: &str, weight: f32, concepts: &mut Vec<(String, Concept)>) {
        if word.len() < 6 || !word.is_ascii() {
            return;
        }
        let mut best: Option<(f32, [(String, Alternative); 2])> = None;
        for at in 3..=word.len() - 3 {
            let (left, right) = (words::stem(&word[..at]), words::stem(&word[at..]));
            if let (Some(one), Some(other)) = (self.known(&left, 1.0), self.known(&right, 1.0)) {
                let rarity = one.rarity.min(other.rarity);
                if best.as_ref().is_none_or(|(best, _)| rarity > *best) {
                    best = Some((rarity, [(left, one), (right, other)]));
                }
            }
        }
        for (stem, alternative) in best.into_iter().flat_map(|(_, halves)| halves) {
            push(concepts, stem, Concept { weight: weight * COMPOUND, alternatives: vec![alternative] });
        }
    }
}

/// A misspelling seldom hits the first letter, unless the first two changed places.
fn similar_start(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    one.first() == other.first() || (one.first() == other.get(1) && one.get(1) == other.first())
}

/// A word that is said twice is one concept, a little heavier.
fn push(concepts: &mut Vec<(String, Concept)>, stem: String, concept: Concept) {
    match concepts.iter_mut().find(|(known, _)| *known == stem) {
        Some((_, known)) => known.weight = (known.weight + 0.3 * concept.weight).max(concept.weight),
        None => concepts.push((stem, concept)),
    }
}
