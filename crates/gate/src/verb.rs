//! The list of words that say something about an effect, read from `verbs.txt`.
//!
//! Owns the form of that file and the lookup of words and phrases in it. Knows nothing of how a name is read: that is
//! [`crate::name`]. Start at [`Verbs::shipped`].

use std::collections::HashMap;
use std::sync::LazyLock;

use gatelatch_registry::catalog::Effect;
use thiserror::Error;

/// The list that ships, compiled in.
const SHIPPED: &str = include_str!("../verbs.txt");

// INVARIANT: `the_shipped_list_parses` keeps the list readable. Were it not, an empty list would know no verb, and
// whatever declares no effect would count as irreversible.
static VERBS: LazyLock<Verbs> = LazyLock::new(|| Verbs::parse(SHIPPED).unwrap_or_default());

/// What one word or phrase of the list means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Meaning {
    pub(crate) class: Class,
    /// A noun that actions are named after, so that a verb right behind it makes it one.
    pub(crate) thing: bool,
    /// What of its object is done by doing it.
    pub(crate) brings: Option<Brings>,
    /// Names what cannot be taken back once it is made.
    pub(crate) deed: bool,
    /// A deed that binds as soon as it is entered.
    pub(crate) binding: bool,
}

/// How a verb brings its object about, the later ones more of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Brings {
    /// Enters it somewhere: what is binding is done.
    Enters,
    /// Makes it: any deed is done.
    Makes,
    /// Sets it going: whatever is irreversible and no thing is done.
    Starts,
}

/// Whether a word is a verb, and where it counts as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Nothing but a verb: counts wherever it stands.
    Verb(Says),
    /// A verb and a noun or adjective: counts only where a verb stands.
    AlsoNoun(Says),
    /// No verb.
    Noun,
}

/// What a verb says of the effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Says {
    /// This effect.
    Effect(Effect),
    /// A deed, but not which: `process`, `handle`.
    Unsaid,
}

/// A line of the list that cannot be read, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum VerbListError {
    #[error("line {line}: a word, an effect and its marks are due")]
    Shape { line: usize },
    #[error("line {line}: `{word}` is no lower-case word or hyphenated phrase")]
    Word { line: usize, word: String },
    #[error("line {line}: unknown effect `{effect}`")]
    Effect { line: usize, effect: String },
    #[error("line {line}: unknown or repeated mark `{mark}`")]
    Mark { line: usize, mark: String },
    #[error("line {line}: `{word}` is out of order or there twice")]
    Order { line: usize, word: String },
}

/// Every word and phrase of the list.
#[derive(Debug, Default)]
pub(crate) struct Verbs {
    meanings: HashMap<&'static str, Meaning>,
    longest: usize,
}

impl Verbs {
    /// The list that ships.
    pub(crate) fn shipped() -> &'static Verbs {
        &VERBS
    }

    /// Reads a list; its first faulty line is the error.
    fn parse(text: &'static str) -> Result<Verbs, VerbListError> {
        let mut verbs = Verbs::default();
        let mut last = "";
        for (index, line) in text.lines().enumerate() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let line_number = index + 1;
            let (word, meaning) = parse_line(line_number, line)?;
            if word <= last {
                return Err(VerbListError::Order { line: line_number, word: word.to_owned() });
            }
            last = word;
            let phrase = if word.contains('+') { "" } else { word };
            verbs.longest = verbs.longest.max(phrase.split('-').count());
            verbs.meanings.insert(word, meaning);
        }
        Ok(verbs)
    }

    /// What a word, or a phrase joined with `-`, means.
    pub(crate) fn meaning(&self, word: &str) -> Option<Meaning> {
        self.meanings.get(word).copied()
    }

    /// What a verb with a certain word as its object says.
    pub(crate) fn with_object(&self, verb: &str, object: &str) -> Option<Effect> {
        match self.meaning(&format!("{verb}+{object}"))?.class {
            Class::Verb(Says::Effect(effect)) => Some(effect),
            Class::Verb(Says::Unsaid) | Class::AlsoNoun(_) | Class::Noun => None,
        }
    }

    /// How many words the longest phrase has.
    pub(crate) fn longest(&self) -> usize {
        self.longest
    }
}

fn parse_line(line: usize, text: &'static str) -> Result<(&'static str, Meaning), VerbListError> {
    let mut fields = text.split(' ');
    let (Some(word), Some(effect)) = (fields.next(), fields.next()) else {
        return Err(VerbListError::Shape { line });
    };
    if !word.split(['-', '+']).all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase())) {
        return Err(VerbListError::Word { line, word: word.to_owned() });
    }
    let marks: Vec<&str> = fields.collect();
    if let Some(mark) = marks.iter().enumerate().find_map(|(at, mark)| {
        let known = matches!(*mark, "also-noun" | "thing" | "makes" | "starts" | "enters" | "deed" | "binding");
        (!known || marks.iter().take(at).any(|earlier| earlier == mark)).then_some(*mark)
    }) {
        return Err(VerbListError::Mark { line, mark: mark.to_owned() });
    }
    let says = match effect {
        "read_only" => Some(Says::Effect(Effect::ReadOnly)),
        "reversible" => Some(Says::Effect(Effect::Reversible)),
        "irreversible" => Some(Says::Effect(Effect::Irreversible)),
        "unsaid" => Some(Says::Unsaid),
        "noun" => None,
        other => return Err(VerbListError::Effect { line, effect: other.to_owned() }),
    };
    let marked = |mark| marks.contains(&mark);
    let class = match (says, marked("also-noun")) {
        (Some(says), true) => Class::AlsoNoun(says),
        (Some(says), false) => Class::Verb(says),
        (None, true) => return Err(VerbListError::Mark { line, mark: "also-noun".to_owned() }),
        (None, false) => Class::Noun,
    };
    let brings = [("starts", Brings::Starts), ("makes", Brings::Makes), ("enters", Brings::Enters)];
    let brings = brings.into_iter().find_map(|(mark, brings)| marked(mark).then_some(brings));
    let binding = marked("binding");
    Ok((word, Meaning { class, thing: marked("thing"), brings, deed: binding || marked("deed"), binding }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_list_parses() {
        let verbs = Verbs::parse(SHIPPED).unwrap();
        let class = Class::Verb(Says::Effect(Effect::ReadOnly));
        assert_eq!(
            verbs.meaning("get"),
            Some(Meaning { class, thing: false, brings: None, deed: false, binding: false })
        );
        assert_eq!(verbs.longest(), 3, "`drag-and-drop`");
    }

    #[test]
    fn the_shipped_list_has_verbs_of_every_effect() {
        let verbs = Verbs::shipped();
        for effect in Effect::ALL {
            let says = Says::Effect(effect);
            let count = verbs.meanings.values().filter(|meaning| meaning.class == Class::Verb(says)).count();
            assert!(count >= 50, "{count} {effect}");
        }
    }

    #[test]
    fn a_deed_is_a_noun_or_irreversible() {
        for (word, meaning) in &Verbs::shipped().meanings {
            let fits = match meaning.class {
                Class::Noun => true,
                Class::Verb(says) | Class::AlsoNoun(says) => says == Says::Effect(Effect::Irreversible),
            };
            assert!(!meaning.deed || fits, "{word}");
        }
    }

    #[test]
    fn a_verb_with_an_object_stands_for_a_verb_of_the_list() {
        for word in Verbs::shipped().meanings.keys() {
            let Some((verb, object)) = word.split_once('+') else { continue };
            let known = Verbs::shipped().meaning(verb).is_some_and(|meaning| meaning.class != Class::Noun);
            assert!(known && Verbs::shipped().with_object(verb, object).is_some(), "{word}");
        }
    }

    #[test]
    fn a_faulty_line_is_named() {
        let check = |text: &'static str| Verbs::parse(text).unwrap_err().to_string();
        assert_eq!(check("get"), "line 1: a word, an effect and its marks are due");
        assert_eq!(check("# x\nGet read_only"), "line 2: `Get` is no lower-case word or hyphenated phrase");
        assert_eq!(check("check--in reversible"), "line 1: `check--in` is no lower-case word or hyphenated phrase");
        assert_eq!(check("get readonly"), "line 1: unknown effect `readonly`");
        assert_eq!(check("get read_only rarely"), "line 1: unknown or repeated mark `rarely`");
        assert_eq!(check("get read_only makes makes"), "line 1: unknown or repeated mark `makes`");
        assert_eq!(check("data-set noun also-noun"), "line 1: unknown or repeated mark `also-noun`");
        assert_eq!(check("get read_only\nfetch read_only"), "line 2: `fetch` is out of order or there twice");
        assert_eq!(check("get read_only\nget reversible"), "line 2: `get` is out of order or there twice");
    }
}
