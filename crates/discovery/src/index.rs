//! The search index: every action and skill of one catalog as ranked, searchable words.
//!
//! Owns what is indexed, how much each field counts and the order of results. It refuses to know who asks: whoever
//! searches passes a [`Population`] of what the caller may see, and nothing outside of it has any influence, neither on
//! what is found nor on its rank. Start at [`Index::build`], then `Index::rank`.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::OnceLock;

use gatelatch_registry::catalog::{ActionManifest, Catalog, Entry, Skill};

mod meaning;
mod question;
mod stored;
pub(crate) mod synonym;
mod wording;
pub(crate) mod words;

use question::Part;
use words::{Role, Weight};

/// The searchable words of one catalog. Built once, immutable.
#[derive(Debug)]
pub struct Index {
    documents: Vec<Document>,
    /// All terms one after the other, in order; `term_ends[i]` is where the i-th ends.
    arena: String,
    term_ends: Vec<u32>,
    /// Which letters the i-th term has, to skip those that cannot be a misspelling.
    masks: Vec<u32>,
    /// `postings[posting_ends[i - 1]..posting_ends[i]]` belong to the i-th term, by document.
    postings: Vec<Posting>,
    posting_ends: Vec<u32>,
    /// What each document is about, once a search asks.
    meanings: OnceLock<meaning::Meanings>,
}

/// Which action or skill a document is, as places in the catalog's lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Target {
    /// An action of a tool or agent.
    Action {
        /// Place in [`Catalog::entries`].
        entry: u32,
        /// Place in the entry's actions.
        action: u32,
    },
    /// Place in [`Catalog::skills`].
    Skill(u32),
}

impl Target {
    /// The same for every document of one entry.
    pub(crate) fn whole(self) -> Target {
        match self {
            Target::Action { entry, .. } => Target::Action { entry, action: 0 },
            Target::Skill(_) => self,
        }
    }
}

/// The fields of a document, in the order of [`FIELDS`].
#[derive(Clone, Copy, Debug)]
enum Field {
    Name,
    Entry,
    Description,
    EntryDescription,
    Triggers,
    Arguments,
    ArgumentText,
    Examples,
}

/// How much a word in a field counts, and how far a long field dilutes it.
struct FieldWeight {
    weight: f32,
    dilution: f32,
}

const FIELD_COUNT: usize = 8;

/// By [`Field`].
const FIELDS: [FieldWeight; FIELD_COUNT] = [
    FieldWeight { weight: 4.0, dilution: 0.6 },
    FieldWeight { weight: 2.0, dilution: 0.6 },
    FieldWeight { weight: 1.0, dilution: 0.65 },
    FieldWeight { weight: 0.4, dilution: 0.65 },
    FieldWeight { weight: 4.0, dilution: 0.3 },
    FieldWeight { weight: 1.0, dilution: 0.6 },
    FieldWeight { weight: 0.65, dilution: 0.3 },
    FieldWeight { weight: 0.5, dilution: 0.5 },
];

/// How soon further mentions of a word stop to matter.
const SATURATION: f32 = 2.5;

#[derive(Debug)]
struct Document {
    target: Target,
    lengths: [u16; FIELD_COUNT],
}

#[derive(Clone, Copy, Debug)]
struct Posting {
    document: u32,
    counts: [u8; FIELD_COUNT],
}

/// What one caller may see, as one search needs it.
#[derive(Debug)]
pub(crate) struct Population {
    members: Vec<bool>,
    count: u32,
    lengths: [u64; FIELD_COUNT],
}

/// How much less a word counts for being common: below 1 it makes the rarest words less important.
const RARITY_POWER: f32 = 0.8;

impl Population {
    /// How telling a term is that so many members have.
    fn rarity(&self, frequency: u32) -> f32 {
        let (count, frequency) = (self.count as f32, frequency as f32);
        (1.0 + (count - frequency + 0.5) / (frequency + 0.5)).ln().powf(RARITY_POWER)
    }

    fn has(&self, document: u32) -> bool {
        self.members.get(document as usize).copied().unwrap_or(false)
    }
}

/// A document and how well it fits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ranked {
    document: u32,
    pub(crate) target: Target,
    pub(crate) score: f32,
}

impl Index {
    /// Reads every text of the catalog that describes an action or a skill.
    pub fn build(catalog: &Catalog) -> Index {
        let mut builder = Builder::default();
        for (entry_at, entry) in (0..).zip(catalog.entries()) {
            let shared = builder.entry(entry);
            for (action_at, action) in (0..).zip(&entry.manifest.actions) {
                let mut mentions = shared.clone();
                builder.action(&mut mentions, entry, action);
                builder.add(Target::Action { entry: entry_at, action: action_at }, mentions);
            }
        }
        for (skill_at, skill) in (0..).zip(catalog.skills()) {
            let mentions = builder.skill(skill);
            builder.add(Target::Skill(skill_at), mentions);
        }
        builder.index()
    }

    /// The index as bytes, for [`Index::from_bytes`].
    pub fn to_bytes(&self) -> Vec<u8> {
        stored::put(self)
    }

    /// The index of this catalog from the bytes of an earlier one of an equal catalog; `None` for bytes that are no such
    /// thing.
    pub fn from_bytes(bytes: &[u8], catalog: &Catalog) -> Option<Index> {
        stored::take(bytes, catalog)
    }

    /// Reads the tables of words, so that the first search need not.
    pub fn prepare() {
        synonym::prepare();
    }

    /// How many actions and skills it holds.
    pub fn len(&self) -> usize {
        self.documents.len()
    }

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// The population of the documents that `sees` lets through.
    pub(crate) fn population(&self, sees: &mut dyn FnMut(Target) -> bool) -> Population {
        let mut population =
            Population { members: vec![false; self.documents.len()], count: 0, lengths: [0; FIELD_COUNT] };
        for (document, member) in self.documents.iter().zip(&mut population.members) {
            if sees(document.target) {
                *member = true;
                population.count += 1;
                for (total, length) in population.lengths.iter_mut().zip(document.lengths) {
                    *total += u64::from(length);
                }
            }
        }
        population
    }

    /// Every member of the population that fits the words at all, unordered.
    pub(crate) fn rank(&self, words: &str, population: &Population) -> Vec<Ranked> {
        let parts = question::parts(self, population, words);
        let whole = Part::whole(&parts);
        let mut ranked = self.fitting(&whole, population);
        level(&mut ranked);
        let asked = meaning::asked(&whole.words);
        let best = self.best_of(&parts, population);
        // A second part may only set the scene for the first; of many, most are wishes of their own.
        let share = (parts.len() as f32 - 1.0).max(0.0) / (parts.len() as f32 + 1.0);
        for ranked in &mut ranked {
            let best = best.get(ranked.document as usize).copied().unwrap_or_default();
            let about = self.meanings().likeness(ranked.document as usize, &asked);
            ranked.score =
                mixed(ranked.score, best.score, PARTS * share) + MEANING * mixed(about, best.likeness, share);
        }
        ranked
    }

    /// Every member that fits a question or a part of one, with the score of its words.
    fn fitting(&self, part: &Part, population: &Population) -> Vec<Ranked> {
        let mut scoring = Scoring::new(self, population);
        for concept in &part.concepts {
            scoring.add(concept);
        }
        scoring.ranked()
    }

    /// How well each document fits the one part of a question that it fits best, by document. Nothing for a question of
    /// one part.
    fn best_of(&self, parts: &[Part], population: &Population) -> Vec<Best> {
        if parts.len() < 2 {
            return Vec::new();
        }
        let mut best = vec![Best::default(); self.documents.len()];
        for part in parts {
            let ranked = self.fitting(part, population);
            let asked = meaning::asked(&part.words);
            // Between 1 for each part's best and as it is: what a part finds should neither hide the others nor count
            // for as much where it fits little.
            let highest = best_score(&ranked).sqrt();
            for ranked in ranked {
                let about = self.meanings().likeness(ranked.document as usize, &asked);
                if let Some(best) = best.get_mut(ranked.document as usize) {
                    best.score = best.score.max(ranked.score / highest);
                    best.likeness = best.likeness.max(about);
                }
            }
        }
        let highest = best.iter().map(|best| best.score).fold(f32::MIN_POSITIVE, f32::max);
        for best in &mut best {
            best.score /= highest;
        }
        best
    }

    fn meanings(&self) -> &meaning::Meanings {
        self.meanings.get_or_init(|| meaning::Meanings::of(self))
    }

    /// The terms of the population that look most like one of the words, as they stand in the documents' order of
    /// terms.
    pub(crate) fn nearest_terms(&self, words: &str, population: &Population, limit: usize) -> Vec<&str> {
        question::nearest(self, population, words, limit).into_iter().filter_map(|term| self.term(term)).collect()
    }

    /// What each document stands for, in the catalog's order.
    pub(crate) fn targets(&self) -> impl Iterator<Item = Target> {
        self.documents.iter().map(|document| document.target)
    }

    fn terms(&self) -> impl Iterator<Item = (u32, &str)> {
        (0..).map_while(|term| Some((term, self.term(term)?)))
    }

    /// The terms from the first one on that is not less than `word`.
    fn terms_from(&self, word: &str) -> impl Iterator<Item = (u32, &str)> {
        (self.first_from(word)..).map_while(|term| Some((term, self.term(term)?)))
    }

    /// The terms whose letters differ from these in at most so many.
    fn terms_like(&self, wanted: u32, differ: u32) -> impl Iterator<Item = (u32, &str)> {
        let like = (0..).zip(&self.masks).filter(move |(_, mask)| (wanted ^ **mask).count_ones() <= differ);
        like.filter_map(|(term, _)| Some((term, self.term(term)?)))
    }

    fn term(&self, term: u32) -> Option<&str> {
        let range = span(&self.term_ends, term)?;
        self.arena.get(range)
    }

    fn find(&self, word: &str) -> Option<u32> {
        let at = self.first_from(word);
        (self.term(at) == Some(word)).then_some(at)
    }

    /// The first term that is not less than `word`.
    fn first_from(&self, word: &str) -> u32 {
        let (mut low, mut high) = (0, self.term_ends.len() as u32);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.term(middle).is_some_and(|term| term < word) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    fn postings(&self, term: u32) -> &[Posting] {
        span(&self.posting_ends, term).and_then(|range| self.postings.get(range)).unwrap_or_default()
    }

    /// How many members of the population have the term.
    fn frequency(&self, term: u32, population: &Population) -> u32 {
        let postings = self.postings(term);
        if population.count as usize == self.documents.len() {
            return postings.len() as u32;
        }
        postings.iter().filter(|posting| population.has(posting.document)).count() as u32
    }
}

/// What the documents of a catalog's index stand for, in order.
fn targets_of(catalog: &Catalog) -> Vec<Target> {
    let entries = (0..).zip(catalog.entries());
    let actions = entries.flat_map(|(entry, of)| {
        (0..).zip(&of.manifest.actions).map(move |(action, _)| Target::Action { entry, action })
    });
    let skills = (0..).zip(catalog.skills()).map(|(skill, _)| Target::Skill(skill));
    actions.chain(skills).collect()
}

fn span(ends: &[u32], at: u32) -> Option<Range<usize>> {
    let at = at as usize;
    let end = *ends.get(at)? as usize;
    let start = match at {
        0 => 0,
        _ => *ends.get(at - 1)? as usize,
    };
    Some(start..end)
}

/// The letters and digits of a term as bits.
fn mask(term: &str) -> u32 {
    term.bytes().fold(0, |mask, byte| {
        mask | 1
            << match byte {
                b'a'..=b'z' => u32::from(byte - b'a'),
                b'0'..=b'9' => 26,
                _ => 27 + u32::from(byte & 3),
            }
    })
}

/// Adds up one question.
struct Scoring<'a> {
    index: &'a Index,
    population: &'a Population,
    average: [f32; FIELD_COUNT],
    /// What each document has of the concepts so far.
    tallies: Vec<Tally>,
    /// The most that a document can have.
    wanted: f32,
    /// The best alternative of the concept at hand, by document.
    best: Vec<f32>,
    touched: Vec<u32>,
}

#[derive(Clone, Copy, Default)]
struct Tally {
    score: f32,
    /// How much of what is wanted the document speaks of at all.
    covered: f32,
}

/// How much of a score depends on how many of the concepts a document covers.
const COVERAGE: f32 = 0.5;

/// How little a document must say of a concept to cover it: at 0 a mention is enough.
const COVERAGE_POWER: f32 = 0.3;

impl<'a> Scoring<'a> {
    fn new(index: &'a Index, population: &'a Population) -> Scoring<'a> {
        let count = population.count.max(1) as f32;
        Scoring {
            index,
            population,
            average: population.lengths.map(|total| (total as f32 / count).max(f32::MIN_POSITIVE)),
            tallies: vec![Tally::default(); index.documents.len()],
            wanted: 0.0,
            best: vec![0.0; index.documents.len()],
            touched: Vec::new(),
        }
    }

    /// Adds a concept: of its alternatives each document's best one counts.
    fn add(&mut self, concept: &question::Concept) {
        for alternative in &concept.alternatives {
            let factor = alternative.weight * alternative.rarity;
            for posting in self.index.postings(alternative.term) {
                if !self.population.has(posting.document) {
                    continue;
                }
                let score = factor * self.fit(posting);
                if let Some(best) = self.best.get_mut(posting.document as usize) {
                    if *best == 0.0 {
                        self.touched.push(posting.document);
                    }
                    *best = best.max(score);
                }
            }
        }
        let most = concept.rarity().max(f32::MIN_POSITIVE);
        self.wanted += concept.weight * most;
        for document in self.touched.drain(..) {
            let at = document as usize;
            if let (Some(best), Some(tally)) = (self.best.get_mut(at), self.tallies.get_mut(at)) {
                let score = std::mem::take(best);
                tally.score += concept.weight * score;
                tally.covered += concept.weight * most * (score / most).min(1.0).powf(COVERAGE_POWER);
            }
        }
    }

    /// How much a document is about a term, from 0 to 1.
    fn fit(&self, posting: &Posting) -> f32 {
        let Some(document) = self.index.documents.get(posting.document as usize) else {
            return 0.0;
        };
        let mut mentions = 0.0;
        for (at, field) in FIELDS.iter().enumerate() {
            if posting.counts[at] > 0 {
                let length = f32::from(document.lengths[at]) / self.average[at];
                mentions +=
                    field.weight * f32::from(posting.counts[at]) / (1.0 - field.dilution + field.dilution * length);
            }
        }
        mentions / (SATURATION + mentions)
    }

    fn ranked(self) -> Vec<Ranked> {
        let wanted = self.wanted.max(f32::MIN_POSITIVE);
        let tallied = (0..).zip(&self.index.documents).zip(self.tallies).filter(|(_, tally)| tally.score > 0.0);
        tallied
            .map(|((number, document), tally)| Ranked {
                document: number,
                target: document.target,
                score: tally.score * (1.0 - COVERAGE + COVERAGE * tally.covered / wanted),
            })
            .collect()
    }
}

/// Makes the best score 1.
fn level(ranked: &mut [Ranked]) {
    let best = best_score(ranked);
    for ranked in ranked {
        ranked.score /= best;
    }
}

fn best_score(ranked: &[Ranked]) -> f32 {
    ranked.iter().map(|ranked| ranked.score).fold(f32::MIN_POSITIVE, f32::max)
}

/// How much being about what is asked counts beside having the best words for it.
const MEANING: f32 = 0.7;

/// How well a document fits the part of a question that it fits best: with its words, and with what it is about.
#[derive(Clone, Copy, Debug, Default)]
struct Best {
    score: f32,
    likeness: f32,
}

/// How much the best part of a question of very many parts counts beside the whole.
const PARTS: f32 = 0.5;

fn mixed(one: f32, other: f32, share: f32) -> f32 {
    one + share * (other - one)
}

/// Gathers documents, then files their words.
#[derive(Default)]
struct Builder {
    documents: Vec<Document>,
    /// Terms in the order in which they came.
    terms: HashMap<String, u32>,
    /// What each surface form was filed under, so that it is stemmed once.
    surfaces: HashMap<String, Surface>,
    postings: Vec<Vec<Posting>>,
}

#[derive(Clone, Copy)]
struct Surface {
    term: u32,
    is_grammar: bool,
}

/// The words of one document, or of the part that an entry's documents share.
#[derive(Clone, Default)]
struct Mentions {
    lengths: [u16; FIELD_COUNT],
    /// A term and the field that it stands in, as often as it does.
    terms: Vec<(u32, u8)>,
}

/// Of an entry's description each of its actions is filed under so many words.
const ENTRY_WORDS: u16 = 64;

impl Builder {
    fn entry(&mut self, entry: &Entry) -> Mentions {
        let mut mentions = Mentions::default();
        self.text(&mut mentions, Field::Entry, &entry.manifest.name);
        if entry.manifest.actions.iter().any(|action| action.name.is_some()) {
            self.text(&mut mentions, Field::EntryDescription, &entry.manifest.description);
        }
        mentions
    }

    fn action(&mut self, mentions: &mut Mentions, entry: &Entry, action: &ActionManifest) {
        self.text(mentions, Field::Name, action.name.as_deref().unwrap_or(&entry.manifest.name));
        self.text(mentions, Field::Description, &action.description);
        for trigger in &action.triggers {
            self.text(mentions, Field::Triggers, trigger);
        }
        for argument in &action.args {
            self.text(mentions, Field::Arguments, &argument.name);
            self.text(mentions, Field::ArgumentText, &argument.description);
            for choice in argument.choices.iter().filter_map(|choice| choice.as_str()) {
                self.text(mentions, Field::ArgumentText, choice);
            }
        }
        for example in &action.examples {
            self.text(mentions, Field::Examples, example.description.as_deref().unwrap_or_default());
            for value in example.args.values().filter_map(|value| value.as_str()) {
                self.text(mentions, Field::Examples, value);
            }
        }
    }

    fn skill(&mut self, skill: &Skill) -> Mentions {
        let mut mentions = Mentions::default();
        self.text(&mut mentions, Field::Name, &skill.manifest.name);
        self.text(&mut mentions, Field::Entry, &skill.manifest.name);
        self.text(&mut mentions, Field::Description, &skill.manifest.description);
        mentions
    }

    fn text(&mut self, mentions: &mut Mentions, field: Field, text: &str) {
        // Names and triggers are short and meant: `like`, `who-am-i`. Elsewhere grammar is only noise.
        let keeps_grammar = matches!(field, Field::Name | Field::Entry | Field::Triggers);
        let most = if matches!(field, Field::EntryDescription) { ENTRY_WORDS } else { u16::MAX };
        let at = field as usize;
        words::scan(text, &mut |word, role| {
            let surface = match self.surfaces.get(word) {
                Some(surface) => *surface,
                None => self.file(word),
            };
            if (surface.is_grammar && !keeps_grammar) || mentions.lengths[at] >= most {
                return;
            }
            if role != Role::Joined {
                mentions.lengths[at] += 1;
            }
            mentions.terms.push((surface.term, at as u8));
        });
    }

    /// The number of a surface form that is met for the first time.
    fn file(&mut self, word: &str) -> Surface {
        let next = self.postings.len() as u32;
        let term = *self.terms.entry(words::stem(word)).or_insert(next);
        if term == next {
            self.postings.push(Vec::new());
        }
        let surface = Surface { term, is_grammar: words::weight(word) == Weight::Grammar };
        self.surfaces.insert(word.to_owned(), surface);
        surface
    }

    fn add(&mut self, target: Target, mut mentions: Mentions) {
        let document = self.documents.len() as u32;
        self.documents.push(Document { target, lengths: mentions.lengths });
        mentions.terms.sort_unstable();
        for of_term in mentions.terms.chunk_by(|(one, _), (other, _)| one == other) {
            let mut posting = Posting { document, counts: [0; FIELD_COUNT] };
            for (_, field) in of_term {
                let count = &mut posting.counts[usize::from(*field)];
                *count = count.saturating_add(1);
            }
            let term = of_term.first().map_or(0, |(term, _)| *term);
            if let Some(postings) = self.postings.get_mut(term as usize) {
                postings.push(posting);
            }
        }
    }

    /// Puts the terms in order and everything into flat lists.
    fn index(mut self) -> Index {
        let mut terms: Vec<(String, u32)> = self.terms.into_iter().collect();
        terms.sort();
        let mut index = Index {
            documents: self.documents,
            arena: String::with_capacity(terms.iter().map(|(term, _)| term.len()).sum()),
            term_ends: Vec::with_capacity(terms.len()),
            masks: Vec::with_capacity(terms.len()),
            postings: Vec::with_capacity(self.postings.iter().map(Vec::len).sum()),
            posting_ends: Vec::with_capacity(terms.len()),
            meanings: OnceLock::new(),
        };
        for (term, number) in terms {
            index.arena.push_str(&term);
            index.term_ends.push(index.arena.len() as u32);
            index.masks.push(mask(&term));
            if let Some(postings) = self.postings.get_mut(number as usize) {
                index.postings.append(postings);
            }
            index.posting_ends.push(index.postings.len() as u32);
        }
        index
    }
}
