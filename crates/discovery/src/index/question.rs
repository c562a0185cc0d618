//! What a search text asks for: concepts, each with the terms of the index that may stand for it.
//!
//! Owns synonyms, misspellings, word beginnings and compound words on the asking side. Only terms that the population
//! has are known here, so that what a caller may not see cannot even correct its spelling.

use super::wording::{self, Asked};
use super::words::{self, Role, Weight};
use super::{Index, Population, mask, synonym};

/// A question, or one of several wishes in it.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) words: Vec<Asked>,
    pub(super) concepts: Vec<Concept>,
}

impl Part {
    /// All parts as one.
    pub(super) fn whole(parts: &[Part]) -> Part {
        let mut whole = Part::default();
        for part in parts {
            whole.words.extend_from_slice(&part.words);
            for concept in &part.concepts {
                push(&mut whole.concepts, concept.clone());
            }
        }
        whole
    }
}

/// One thing asked for.
#[derive(Clone, Debug)]
pub(super) struct Concept {
    stem: String,
    pub(super) weight: f32,
    pub(super) alternatives: Vec<Alternative>,
}

impl Concept {
    /// The rarity of the rarest alternative.
    pub(super) fn rarity(&self) -> f32 {
        self.alternatives.iter().map(|alternative| alternative.rarity).fold(0.0, f32::max)
    }
}

/// A term that may stand for a concept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Alternative {
    pub(super) term: u32,
    pub(super) weight: f32,
    /// How telling the term is: the fewer documents have it, the more.
    pub(super) rarity: f32,
}

const EQUAL: f32 = 0.7;
const SYNONYM: f32 = 0.45;
const KIND: f32 = 0.55;
const MISSPELLED: f32 = 0.4;
const BEGINNING: f32 = 0.3;
const COMPOUND: f32 = 0.4;

/// Of several kinds of one word, each one counts so much of the one before it.
const KIND_DECAY: f32 = 0.9;

/// A word that stands for more words than this is a vague one, and stands less well for each.
const VAGUE: f32 = 4.0;

/// A term of fewer bytes than this is no beginning of a longer word.
const LEAST_BEGUN: usize = 5;

/// What follows such a beginning is at most so long.
const MOST_ENDING: usize = 5;

/// How many terms may stand in for one unknown word.
const STAND_INS: usize = 8;

/// The parts of a text in order. Grammar counts only where there is nothing else.
pub(super) fn parts(index: &Index, population: &Population, text: &str) -> Vec<Part> {
    let reader = Reader { index, population };
    let parts = reader.parts(&wording::read(text, 0.0));
    let nothing_else = parts.iter().all(|part| part.concepts.is_empty());
    if nothing_else { reader.parts(&wording::read(text, 1.0)) } else { parts }
}

/// How many words of a text are compared with all terms.
const COMPARED: usize = 8;

/// The terms that look most like any of the words, best first: at least half of the letters in common.
pub(super) fn nearest(index: &Index, population: &Population, text: &str, limit: usize) -> Vec<u32> {
    let mut found: Vec<(usize, u32)> = Vec::new();
    let asked = wording::read(text, 0.0);
    for asked in asked.iter().filter(|asked| asked.role != Role::Joined && asked.weight > 0.0).take(COMPARED) {
        let stem = words::stem(&asked.word);
        let letters = stem.chars().count();
        for (term, text) in index.terms() {
            let longest = letters.max(text.chars().count());
            if longest - letters.min(text.chars().count()) > longest / 2 {
                continue;
            }
            let distance = strsim::osa_distance(&stem, text);
            if 2 * distance <= longest && index.frequency(term, population) > 0 {
                // In thousandths, so that a long word may have more errors.
                found.push((1_000 * distance / longest, term));
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
    fn parts(&self, asked: &[Asked]) -> Vec<Part> {
        let parts = asked.chunk_by(|one, other| one.part == other.part);
        parts.map(|words| Part { words: words.to_vec(), concepts: self.concepts(words) }).collect()
    }

    fn concepts(&self, asked: &[Asked]) -> Vec<Concept> {
        let mut concepts: Vec<Concept> = Vec::new();
        for (at, word) in asked.iter().enumerate() {
            if word.weight > 0.0 {
                self.word(word, &mut concepts);
            }
            if let Some(joined) = asked.get(at + 1).and_then(|next| pair(word, next)) {
                self.joined(&joined, &mut concepts);
            }
        }
        concepts.retain(|concept| !concept.alternatives.is_empty());
        concepts
    }

    fn word(&self, asked: &Asked, concepts: &mut Vec<Concept>) {
        if asked.role == Role::Joined {
            return self.joined(&asked.word, concepts);
        }
        let stem = words::stem(&asked.word);
        let known = self.known(&stem, 1.0);
        let mut alternatives: Vec<Alternative> = known.into_iter().collect();
        self.related(&stem, &mut alternatives);
        if let Some(known) = known {
            // What stands for a word tells no more than the word itself would.
            for alternative in &mut alternatives {
                alternative.rarity = alternative.rarity.min(known.rarity);
            }
        } else {
            self.stand_ins(&asked.word, &stem, &mut alternatives);
            if alternatives.is_empty() {
                return self.halves(asked, concepts);
            }
        }
        push(concepts, Concept { stem, weight: asked.weight, alternatives });
    }

    /// A compound, if the population writes it as one word.
    fn joined(&self, word: &str, concepts: &mut Vec<Concept>) {
        let stem = words::stem(word);
        if let Some(alternative) = self.known(&stem, 1.0) {
            push(concepts, Concept { stem, weight: 1.0, alternatives: vec![alternative] });
        }
    }

    fn related(&self, stem: &str, alternatives: &mut Vec<Alternative>) {
        for equal in synonym::equals(stem) {
            alternatives.extend(self.known(equal, EQUAL));
        }
        for synonym in synonym::of(stem) {
            let vague = (synonym::of(synonym).len() as f32 / VAGUE).max(1.0).sqrt();
            alternatives.extend(self.known(synonym, SYNONYM / vague));
        }
        let mut weight = KIND;
        for kind in synonym::kinds(stem) {
            alternatives.extend(self.known(kind, weight));
            weight *= KIND_DECAY;
        }
    }

    fn known(&self, stem: &str, weight: f32) -> Option<Alternative> {
        let term = self.index.find(stem)?;
        self.alternative(term, weight)
    }

    fn alternative(&self, term: u32, weight: f32) -> Option<Alternative> {
        let frequency = self.index.frequency(term, self.population);
        (frequency > 0).then(|| Alternative { term, weight, rarity: self.population.rarity(frequency) })
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
            self.begun(stem, alternatives);
        }
    }

    /// The longest term that the word begins with, if not much follows: an ending that was typed wrong.
    fn begun(&self, stem: &str, alternatives: &mut Vec<Alternative>) {
        let longest = (LEAST_BEGUN..stem.len()).rev().take(MOST_ENDING).filter(|end| stem.is_char_boundary(*end));
        alternatives.extend(longest.filter_map(|end| self.known(&stem[..end], BEGINNING)).take(1));
    }

    fn beginnings(&self, stem: &str, alternatives: &mut Vec<Alternative>) {
        let from_here = self.index.terms_from(stem).take_while(|(_, text)| text.starts_with(stem));
        let mut found: Vec<Alternative> = from_here.filter_map(|(term, _)| self.alternative(term, BEGINNING)).collect();
        most_common_first(&mut found);
        alternatives.extend(found.into_iter().take(STAND_INS));
    }

    fn misspellings(&self, stem: &str, allowed: usize, alternatives: &mut Vec<Alternative>) {
        let wanted = mask(stem);
        let mut found: Vec<Alternative> = Vec::new();
        let mut nearest = allowed;
        for (term, text) in self.index.terms_like(wanted, 2 * allowed as u32) {
            if text.len().abs_diff(stem.len()) > 4 * allowed || !similar_start(stem, text) {
                continue;
            }
            let distance = strsim::osa_distance(stem, text);
            if distance > nearest {
                continue;
            }
            let Some(alternative) = self.alternative(term, MISSPELLED / distance.max(1) as f32) else { continue };
            if distance < nearest {
                nearest = distance;
                found.clear();
            }
            found.push(alternative);
        }
        most_common_first(&mut found);
        alternatives.extend(found.into_iter().take(STAND_INS));
    }

    /// `sendmail`, `moviereview`: two words that the population knows, written as one.
    fn halves(&self, asked: &Asked, concepts: &mut Vec<Concept>) {
        let word = asked.word.as_str();
        if word.len() < 6 || !word.is_ascii() {
            return;
        }
        let mut best: Option<[(String, Alternative); 2]> = None;
        for at in 3..=word.len() - 3 {
            let (left, right) = (words::stem(&word[..at]), words::stem(&word[at..]));
            if let (Some(one), Some(other)) = (self.known(&left, 1.0), self.known(&right, 1.0)) {
                let rarity = one.rarity.min(other.rarity);
                if best.as_ref().is_none_or(|[(_, one), (_, other)]| rarity > one.rarity.min(other.rarity)) {
                    best = Some([(left, one), (right, other)]);
                }
            }
        }
        for (stem, alternative) in best.into_iter().flatten() {
            push(concepts, Concept { stem, weight: asked.weight * COMPOUND, alternatives: vec![alternative] });
        }
    }
}

/// `air quality` asks for `airquality` too, `log in` for `login`.
fn pair(word: &Asked, next: &Asked) -> Option<String> {
    let whole = word.role == Role::Whole && next.role == Role::Whole;
    let meant = |asked: &Asked| words::weight(&asked.word) == Weight::Full && asked.weight > 0.0;
    let joined = format!("{}{}", word.word, next.word);
    (whole && (meant(word) || meant(next)) && joined.len() >= 5).then_some(joined)
}

/// By term where two are equally common, which is by spelling.
fn most_common_first(found: &mut [Alternative]) {
    found.sort_by(|a, b| a.rarity.total_cmp(&b.rarity).then(a.term.cmp(&b.term)));
}

/// A misspelling seldom hits the first letter, unless the first two changed places.
fn similar_start(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    one.first() == other.first() || (one.first() == other.get(1) && one.get(1) == other.first())
}

/// A word that is said twice is one concept, a little heavier.
fn push(concepts: &mut Vec<Concept>, concept: Concept) {
    match concepts.iter_mut().find(|known| known.stem == concept.stem) {
        Some(known) => known.weight = (known.weight + 0.3 * concept.weight).max(concept.weight),
        None => concepts.push(concept),
    }
}
