//! What the names of an entry and of its action say about the effect.
//!
//! A name is read like this; in doubt the stricter reading wins:
//!
//! 1. It is cut into words at whatever is no letter, and at case: `sendMail`, `XMLHttp`, `send2`. Single letters are
//!    dropped. `.`, `/` and `:` also end a segment. Only whole words count: `postal` is not `post`.
//! 2. A known phrase is one word: `check-in` is a verb of its own, `call-history` is none.
//! 3. `and`, `or`, `then` cut it into clauses, and each is read by itself.
//! 4. A word that is nothing but a verb (`get`, `delete`) counts wherever it stands, since names begin with a noun as
//!    often as with a verb: `users.delete`, `message-send`.
//! 5. A word that is also a noun (`order`, `post`, `share`) counts only where a verb stands: at the head of a clause, a
//!    segment or a camelCase part (`Messaging_1_ShareLocation`), unless the name goes on as one that began with a noun:
//!    `order-get`, `issue.list-comments`. After a verb it is the object: `get-order`, `draft-message`. A read-only one
//!    also counts as the last word of a clause that has no verb of rule 4: `word-count`.
//! 6. A deed (`payment`, `order`, `message`) that is the object of a verb that brings it about (`create`, `place`,
//!    `start`) is irreversible: `create-payment`, `payments.create`; but not `create-payment-link`.
//!    Entering it (`add`, `register`) does so only where it binds (`payment`), and setting it going (`start`, `queue`)
//!    for whatever is irreversible: `start-rollout`.
//! 7. A verb and its object that the list has together (`close+account`) say what it has there, whatever stands
//!    between and in either order: `close-my-accounts`, `account.close`; but not `close-account-dialog`.
//! 8. The strictest of what counts is what the name says.
//!
//! A name says nothing for sure when no verb counts, when one counts that may do anything (`process`), or when a
//! conjunction joins a known verb to something unknown: `get-and-frobnicate`.
//!
//! Where the action has a name, that name is read in full, and of the entry's name, which names a thing, only verbs by
//! rule 4, with rules 6 and 7, count, and only to make it stricter: an action of `delete-bot` is irreversible whatever
//! it is called, and no action is read-only because its tool is called `search`. A nameless action is called as its
//! entry.

use gatelatch_registry::catalog::Effect;

use crate::verb::{Brings, Class, Meaning, Says, Verbs};

const CONJUNCTIONS: [&str; 3] = ["and", "or", "then"];

/// Where the object of a verb ends.
const PREPOSITIONS: [&str; 22] = [
    "about", "as", "at", "before", "between", "by", "during", "for", "from", "in", "inside", "into", "of", "on",
    "onto", "per", "to", "under", "using", "via", "with", "without",
];

/// Words that may follow an object without being its head: `create-order-now`.
const TRAILERS: [&str; 9] = ["again", "all", "async", "batch", "bulk", "immediately", "new", "now", "today"];

/// What a name says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameReading {
    /// The strictest effect that a word of the name says, and that word.
    pub strictest: Option<Saying>,
    /// Whether the name may also say something that the list does not know.
    pub unsure: bool,
}

/// An effect and the word or words that say it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saying {
    /// What they say.
    pub effect: Effect,
    /// In lower case, as in the list: `send`, `check-out`, `create payment`.
    pub words: String,
}

impl NameReading {
    /// Reads the names of an entry and its action, `None` for a nameless one.
    pub fn of(entry: &str, action: Option<&str>) -> NameReading {
        match action {
            None => read(entry),
            Some(action) => {
                let mut reading = read(action);
                // What the entry is called does not vouch for an action that says nothing.
                reading.unsure |= reading.strictest.is_none();
                for clause in clauses(entry) {
                    reading.add(clause.sayings(|at| clause.is_plain_verb(at)));
                }
                reading
            }
        }
    }

    /// What counts where nothing is declared: `None` when the name says nothing for sure.
    pub fn alone(&self) -> Option<&Saying> {
        let saying = self.strictest.as_ref()?;
        match saying.effect {
            Effect::Irreversible => Some(saying),
            Effect::ReadOnly | Effect::Reversible => (!self.unsure).then_some(saying),
        }
    }

    fn add(&mut self, sayings: Vec<Saying>) {
        for saying in sayings {
            if self.strictest.as_ref().is_none_or(|strictest| strictest.effect < saying.effect) {
                self.strictest = Some(saying);
            }
        }
    }
}

fn read(name: &str) -> NameReading {
    let clauses = clauses(name);
    let mut reading = NameReading::default();
    for clause in &clauses {
        reading.unsure |= (0..clause.0.len()).any(|at| clause.counts(at) && clause.is_unsaid(at));
        reading.add(clause.sayings(|at| clause.counts(at)));
    }
    reading.unsure |= clauses.windows(2).any(|pair| match pair {
        [left, right] => joins_the_unknown(left, right),
        _ => false,
    });
    reading
}

/// Two clauses that a conjunction joins as deeds, since a verb stands beside it, while one of them has no known verb.
fn joins_the_unknown(left: &Clause, right: &Clause) -> bool {
    let deeds = left.counts(left.0.len().saturating_sub(1)) || right.counts(0);
    deeds && (!left.is_known() || !right.is_known())
}

/// One word of a name, or a phrase of the list.
#[derive(Debug)]
struct Token {
    text: String,
    meaning: Option<Meaning>,
    /// Which segment of the name it belongs to.
    segment: usize,
    /// Whether it stands at the head of a clause, a segment or a camelCase part.
    leads: bool,
}

/// The words between two conjunctions.
#[derive(Debug)]
struct Clause(Vec<Token>);

impl Clause {
    fn sayings(&self, counts: impl Fn(usize) -> bool) -> Vec<Saying> {
        let verbs = (0..self.0.len()).filter(|at| counts(*at));
        verbs.flat_map(|at| self.said_by(at).into_iter().chain(self.made_by(at)).chain(self.done_to(at))).collect()
    }

    fn said_by(&self, at: usize) -> Option<Saying> {
        let token = self.0.get(at)?;
        match token.meaning?.class {
            Class::Verb(Says::Effect(effect)) | Class::AlsoNoun(Says::Effect(effect)) => {
                Some(Saying { effect, words: token.text.clone() })
            }
            Class::Verb(Says::Unsaid) | Class::AlsoNoun(Says::Unsaid) | Class::Noun => None,
        }
    }

    /// The deed that the verb brings about: rule 6.
    fn made_by(&self, at: usize) -> Option<Saying> {
        let verb = self.0.get(at)?;
        let brings = verb.meaning?.brings?;
        let rest = self.0.get(at + 1..)?;
        let end = rest.iter().position(Token::is_preposition).unwrap_or(rest.len());
        let mut object = rest.iter().take(end).rev().skip_while(|token| token.is_trailer());
        // `payments.create`: with nothing after the verb, the object stands before it.
        let head = object.next().or_else(|| self.before(at))?;
        let deed = head.deed(brings)?;
        Some(Saying { effect: Effect::Irreversible, words: format!("{} {deed}", verb.text) })
    }

    /// What the list says of the verb with the object that it has here: rule 7.
    fn done_to(&self, at: usize) -> Option<Saying> {
        let verb = self.0.get(at)?;
        let rest = self.0.get(at + 1..)?;
        let end = rest.iter().position(|token| token.is_preposition() && !token.joins_a_place());
        let rest = rest.get(..end.unwrap_or(rest.len()))?;
        let ends = |next: usize| rest.get(next).is_none_or(|token| token.is_preposition() || token.is_trailer());
        let objects = rest.iter().enumerate().filter(|(index, _)| ends(index + 1)).map(|(_, token)| token);
        let before = if ends(0) { self.before(at) } else { None };
        objects.chain(before).find_map(|object| {
            let object_of = |word: &str| {
                let effect = Verbs::shipped().with_object(&verb.text, word)?;
                Some(Saying { effect, words: format!("{} {word}", verb.text) })
            };
            object_of(&object.text).or_else(|| object_of(object.text.strip_suffix('s')?))
        })
    }

    fn before(&self, at: usize) -> Option<&Token> {
        at.checked_sub(1).and_then(|before| self.0.get(before))
    }

    fn is_known(&self) -> bool {
        (0..self.0.len()).any(|at| self.counts(at) && !self.is_unsaid(at))
    }

    fn is_unsaid(&self, at: usize) -> bool {
        self.0.get(at).and_then(|token| token.meaning).is_some_and(|meaning| match meaning.class {
            Class::Verb(says) | Class::AlsoNoun(says) => says == Says::Unsaid,
            Class::Noun => false,
        })
    }

    /// Whether the word stands for a deed here: rules 4 and 5.
    fn counts(&self, at: usize) -> bool {
        self.0.get(at).and_then(|token| token.meaning).is_some_and(|meaning| match meaning.class {
            Class::Verb(_) => true,
            Class::AlsoNoun(says) => {
                self.leads_as_verb(at) || (says == Says::Effect(Effect::ReadOnly) && self.ends_as_verb(at))
            }
            Class::Noun => false,
        })
    }

    fn is_plain_verb(&self, at: usize) -> bool {
        self.0.get(at).is_some_and(Token::is_plain_verb)
    }

    fn leads_as_verb(&self, at: usize) -> bool {
        let (before, rest) = self.0.split_at(at);
        let Some((token, after)) = rest.split_first() else { return false };
        let is_object = before.iter().any(|other| other.segment == token.segment && other.is_plain_verb());
        token.leads && !is_object && !is_a_noun_before(token, after)
    }

    fn ends_as_verb(&self, at: usize) -> bool {
        at + 1 == self.0.len() && !self.0.iter().any(Token::is_plain_verb)
    }
}

/// Whether a name that begins with this word goes on as one that began with a noun: by a verb in another segment, or,
/// after a thing, by a verb right behind it that ends the phrase (`order-get`, `book-search-by-author`). In
/// `email-search-results` the words after `email` are what is sent.
fn is_a_noun_before(token: &Token, after: &[Token]) -> bool {
    let mut later_segments = after.iter().filter(|other| other.segment != token.segment);
    let is_namespace = later_segments.any(|other| other.is_plain_verb() || (other.leads && other.is_also_noun()));
    is_namespace || (token.is_thing() && is_verb_that_ends(after, token.segment))
}

fn is_verb_that_ends(words: &[Token], segment: usize) -> bool {
    let Some((verb, after)) = words.split_first() else { return false };
    let ends = after.first().is_none_or(|next| next.segment != segment || next.text == "by");
    verb.segment == segment && verb.is_plain_verb() && (ends || verb.leads)
}

impl Token {
    fn is_plain_verb(&self) -> bool {
        self.meaning.is_some_and(|meaning| matches!(meaning.class, Class::Verb(_)))
    }

    fn is_also_noun(&self) -> bool {
        self.meaning.is_some_and(|meaning| matches!(meaning.class, Class::AlsoNoun(_)))
    }

    fn is_thing(&self) -> bool {
        self.meaning.is_some_and(|meaning| meaning.thing)
    }

    fn is_preposition(&self) -> bool {
        PREPOSITIONS.contains(&self.text.as_str())
    }

    fn is_trailer(&self) -> bool {
        TRAILERS.contains(&self.text.as_str())
    }

    /// `restore-from-backup`, `echo-to-channel`: what follows is still what the verb is about.
    fn joins_a_place(&self) -> bool {
        matches!(self.text.as_str(), "from" | "to")
    }

    /// The deed that this word names for a verb that brings it about, in the singular.
    fn deed(&self, brings: Brings) -> Option<&str> {
        if self.meaning.is_some_and(|meaning| is_deed(meaning, brings)) {
            return Some(&self.text);
        }
        let singular = self.text.strip_suffix('s')?;
        Verbs::shipped().meaning(singular).is_some_and(|meaning| is_deed(meaning, brings)).then_some(singular)
    }
}

fn is_deed(meaning: Meaning, brings: Brings) -> bool {
    let irreversible = matches!(
        meaning.class,
        Class::Verb(Says::Effect(Effect::Irreversible)) | Class::AlsoNoun(Says::Effect(Effect::Irreversible))
    );
    match brings {
        Brings::Enters => meaning.binding,
        Brings::Makes => meaning.deed,
        Brings::Starts => meaning.deed || (irreversible && !meaning.thing),
    }
}

fn clauses(name: &str) -> Vec<Clause> {
    let mut clauses = vec![Vec::new()];
    for mut token in tokens(&words(name)) {
        if CONJUNCTIONS.contains(&token.text.as_str()) {
            clauses.push(Vec::new());
        } else if let Some(clause) = clauses.last_mut() {
            token.leads |= clause.is_empty();
            clause.push(token);
        }
    }
    clauses.into_iter().filter(|clause| !clause.is_empty()).map(Clause).collect()
}

/// Words and, where the list has one, the longest phrase that stands within a segment.
fn tokens(words: &[Word]) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = words;
    while let Some(first) = rest.first() {
        let within = rest.iter().take_while(|word| word.segment == first.segment).count();
        let (length, text, meaning) = longest_phrase(&rest[..within]);
        tokens.push(Token { text, meaning, segment: first.segment, leads: first.leads });
        rest = &rest[length..];
    }
    tokens
}

fn longest_phrase(words: &[Word]) -> (usize, String, Option<Meaning>) {
    let verbs = Verbs::shipped();
    let join = |length: usize| words.iter().take(length).map(|word| word.text.as_str()).collect::<Vec<_>>().join("-");
    let longest = verbs.longest().min(words.len());
    (2..=longest)
        .rev()
        .map(|length| (length, join(length)))
        .find_map(|(length, text)| verbs.meaning(&text).map(|meaning| (length, text, Some(meaning))))
        .unwrap_or_else(|| {
            let text = join(1);
            let meaning = verbs.meaning(&text);
            (1, text, meaning)
        })
}

#[derive(Debug, PartialEq, Eq)]
struct Word {
    text: String,
    segment: usize,
    leads: bool,
}

/// Cuts a name into lower-case words: rule 1.
fn words(name: &str) -> Vec<Word> {
    let mut words = Vec::new();
    for (segment, text) in name.split(['.', '/', ':']).enumerate() {
        let mut segment_begins = true;
        for part in text.split(|c: char| !c.is_alphabetic()).filter(|part| !part.is_empty()) {
            let humps: Vec<&str> = humps(part).into_iter().filter(|hump| hump.chars().nth(1).is_some()).collect();
            let is_camel_case = humps.len() > 1;
            for (at, hump) in humps.into_iter().enumerate() {
                let leads = segment_begins || (at == 0 && is_camel_case);
                words.push(Word { text: hump.to_lowercase(), segment, leads });
                segment_begins = false;
            }
        }
    }
    words
}

/// Cuts `XMLHttpRequest` into `XML`, `Http`, `Request`.
fn humps(part: &str) -> Vec<&str> {
    let mut humps = Vec::new();
    let mut start = 0;
    let letters: Vec<(usize, char)> = part.char_indices().collect();
    for pair in 1..letters.len() {
        let ((_, before), (at, letter)) = (letters[pair - 1], letters[pair]);
        let next_is_lower = letters.get(pair + 1).is_some_and(|(_, next)| next.is_lowercase());
        if letter.is_uppercase() && (!before.is_uppercase() || next_is_lower) {
            humps.push(&part[start..at]);
            start = at;
        }
    }
    humps.push(&part[start..]);
    humps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(name: &str) -> String {
        words(name).iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
    }

    fn check(name: &str, expected: &str) {
        let reading = read(name);
        let said = reading.strictest.map_or("-".to_owned(), |saying| format!("{} {}", saying.words, saying.effect));
        let unsure = if reading.unsure { " unsure" } else { "" };
        assert_eq!(format!("{said}{unsure}"), expected, "{name}");
    }

    #[test]
    fn a_name_is_cut_at_separators_and_case() {
        assert_eq!(cut("list-deleted_items.now"), "list deleted items now");
        assert_eq!(cut("createUser"), "create user");
        assert_eq!(cut("XMLHttpRequest"), "xml http request");
        assert_eq!(cut("getHTTPStatus"), "get http status");
        assert_eq!(cut("DELETE_USER"), "delete user");
        assert_eq!(cut("send2user"), "send user");
        assert_eq!(cut("Alarm_1_GetAlarms"), "alarm get alarms");
        assert_eq!(cut("e-mail a user"), "mail user");
        assert_eq!(cut("löscheÄltere"), "lösche ältere");
        assert_eq!(cut("--1.2.x"), "");
    }

    #[test]
    fn only_whole_words_count() {
        check("postal-codes", "-");
        check("targets", "-");
        check("sendable", "-");
        check("list-deleted", "list read_only");
    }

    #[test]
    fn a_plain_verb_counts_wherever_it_stands() {
        check("users.delete", "delete irreversible");
        check("message-send", "send irreversible");
        check("custom-properties-for-repos-delete-definition", "delete irreversible");
        check("get-delete-status", "delete irreversible");
    }

    #[test]
    fn a_word_that_is_also_a_noun_counts_only_where_a_verb_stands() {
        check("order-pizza", "order irreversible");
        check("get-order", "get read_only");
        check("order-get", "get read_only");
        check("order.get-all", "get read_only");
        check("flight.book", "book irreversible");
        check("issue.list-comments", "list read_only");
        check("Messaging_1_ShareLocation", "share irreversible");
        check("get_orderState", "get read_only");
        check("mark-as-read", "mark reversible");
        check("order_setTotal", "set reversible");
        check("email-search-results", "email irreversible");
        check("book-search-by-author", "search read_only");
        check("order-list-to-team", "order irreversible");
        check("email-guest-list", "email irreversible");
        check("share-list", "share irreversible");
        check("pizza-order", "-");
    }

    #[test]
    fn a_read_only_noun_counts_at_the_end_too() {
        check("word-count", "count read_only");
        check("count-words", "count read_only");
        check("word-count-rule", "-");
        check("delete-count", "delete irreversible");
    }

    #[test]
    fn a_phrase_is_one_word() {
        check("check-in", "check-in reversible");
        check("checkIn", "check-in reversible");
        check("call-history", "-");
        check("read-only-mode", "-");
        check("drag-and-drop", "drag-and-drop reversible");
        check("get-or-default", "get read_only");
        check("check.in", "check read_only");
    }

    #[test]
    fn a_deed_that_is_brought_about_is_irreversible() {
        check("create-payment", "create payment irreversible");
        check("make-payments-now", "make payment irreversible unsure");
        check("payments.create", "create payment irreversible");
        check("messages.create_for_user", "create message irreversible");
        check("create-payment-link", "create reversible");
        check("create-label-for-shipment", "create reversible");
        check("get-payment", "get read_only");
        check("update-payment", "update reversible");
    }

    #[test]
    fn a_verb_does_as_much_as_it_brings_about() {
        check("start-rollout", "start rollout irreversible");
        check("schedule-shutdown", "schedule shutdown irreversible");
        check("create-rollout-plan", "create reversible");
        check("add-payment", "add payment irreversible");
        check("add-email", "add reversible");
        check("generate-message", "generate reversible");
        check("schedule-report", "schedule reversible");
    }

    #[test]
    fn a_verb_and_its_object_are_found_in_either_order() {
        check("close-all-positions", "close position irreversible");
        check("account.close", "close account irreversible");
        check("restore-from-latest-backup", "restore backup irreversible");
        check("echo-to-channel", "echo channel irreversible");
        check("close-issue-on-account", "close reversible");
        check("ping-user-service", "ping read_only");
        check("restore-version", "restore reversible");
    }

    #[test]
    fn a_conjunction_begins_a_clause() {
        check("get-and-delete", "delete irreversible");
        check("find-or-create", "create reversible");
        check("check-then-order", "order irreversible");
        check("list-terms-and-conditions", "list read_only");
    }

    #[test]
    fn a_conjunction_does_not_hide_an_unknown_deed() {
        check("get-and-frobnicate", "get read_only unsure");
        check("frobnicate-and-get", "get read_only unsure");
        check("list-users-and-groups", "list read_only");
        check("process-and-list", "list read_only unsure");
    }

    #[test]
    fn a_verb_that_may_do_anything_leaves_the_name_unsure() {
        check("process-data", "- unsure");
        check("make-list", "list read_only unsure");
        check("list-processes", "list read_only");
        assert_eq!(read("make-list").alone(), None);
    }

    #[test]
    fn the_entrys_name_makes_stricter_and_never_milder() {
        let alone = |entry, action| NameReading::of(entry, Some(action)).alone().map(|saying| saying.effect);
        assert_eq!(alone("delete-bot", "list"), Some(Effect::Irreversible));
        assert_eq!(alone("search", "frobnicate"), None);
        assert_eq!(alone("mailer", "list"), Some(Effect::ReadOnly));
        assert_eq!(alone("order", "list"), Some(Effect::ReadOnly));
        assert_eq!(alone("create-payment", "list"), Some(Effect::Irreversible));
        assert_eq!(NameReading::of("send-mail", None).alone().map(|saying| saying.effect), Some(Effect::Irreversible));
        assert_eq!(NameReading::of("mailer", None), NameReading::default());
    }
}
