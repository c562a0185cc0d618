//! How text becomes words: identifiers of any case style, prose, and scripts that put no space between words.
//!
//! Owns normalising, splitting, stop words and stemming, for documents and for questions alike. Knows no catalog and
//! no ranking. Start at [`scan`].

use std::collections::HashMap;
use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// What a word is to the run of characters that it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A run that is one word.
    Whole,
    /// One word of a run such as `list-messages` or `GitHub`.
    Part,
    /// Such a run with its seams removed: `listmessages`, `github`. It stands beside its parts.
    Joined,
}

/// How much a word says about what is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    /// It counts.
    Full,
    /// It says what to do, but not with what: `find`, `show`, `make`.
    Order,
    /// People say it around what they want: `please`, `want`, `looking`.
    Talk,
    /// Grammar: `the`, `of`, `which`.
    Grammar,
}

/// The longest word that is kept, in bytes: beyond it stands encoded data, not language.
const LONGEST: usize = 64;

/// Calls `each` with every word of a text, lower-case and folded, in order. Unstemmed: see [`stem`].
pub(crate) fn scan(text: &str, each: &mut dyn FnMut(&str, Role)) {
    if text.is_ascii() {
        return scan_normal(text, each);
    }
    let normal: String = text.nfkc().collect();
    scan_normal(&normal, each);
}

/// The beginning of a text, of at most so many bytes. Whoever takes words from outside takes them from this, since a
/// character can become many.
pub(crate) fn beginning(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most)).unwrap_or_default()
}

/// The words of a text as a list, for short texts and tests.
pub(crate) fn list(text: &str) -> Vec<(String, Role)> {
    let mut words = Vec::new();
    scan(text, &mut |word, role| words.push((word.to_owned(), role)));
    words
}

/// The term under which a word is filed: its spelling variants and endings gone.
pub(crate) fn stem(word: &str) -> String {
    let word = FORMS.get(word).copied().unwrap_or(word);
    let Some(first) = word.chars().next() else {
        return String::new();
    };
    let stemmers = &*STEMMERS;
    let stemmer = match first {
        'a'..='z' if word.len() > 2 && word.bytes().all(|b| b.is_ascii_lowercase()) => &stemmers.english,
        '\u{0370}'..='\u{03ff}' => &stemmers.greek,
        '\u{0400}'..='\u{04ff}' => &stemmers.russian,
        '\u{0600}'..='\u{06ff}' => &stemmers.arabic,
        _ => return word.to_owned(),
    };
    stemmer.stem(word).into_owned()
}

/// How much a word, as [`scan`] gives it, says about what is wanted.
pub(crate) fn weight(word: &str) -> Weight {
    STOP_WORDS.get(word).copied().unwrap_or(Weight::Full)
}

/// The lines of a table of words that are no comments.
pub(crate) fn table(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Whether a character belongs to a script that puts no space between words.
pub(crate) fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1100}'..='\u{11ff}' | '\u{1780}'..='\u{17ff}'
        | '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

struct Stemmers {
    english: Stemmer,
    greek: Stemmer,
    russian: Stemmer,
    arabic: Stemmer,
}

static STEMMERS: LazyLock<Stemmers> = LazyLock::new(|| Stemmers {
    english: Stemmer::create(Algorithm::English),
    greek: Stemmer::create(Algorithm::Greek),
    russian: Stemmer::create(Algorithm::Russian),
    arabic: Stemmer::create(Algorithm::Arabic),
});

/// `base: form form …` a line.
static FORMS: LazyLock<HashMap<&'static str, &'static str>> = LazyLock::new(|| {
    let mut forms = HashMap::new();
    for (base, rest) in table(include_str!("forms.txt")).filter_map(|line| line.split_once(':')) {
        for form in rest.split_whitespace() {
            forms.insert(form, base.trim());
        }
    }
    forms
});

/// Words after a heading `[grammar]`, `[talk]` or `[order]`.
static STOP_WORDS: LazyLock<HashMap<&'static str, Weight>> = LazyLock::new(|| {
    let mut words = HashMap::new();
    let mut class = Weight::Grammar;
    for line in table(include_str!("stopwords.txt")) {
        match line {
            "[order]" => class = Weight::Order,
            "[talk]" => class = Weight::Talk,
            "[grammar]" => class = Weight::Grammar,
            line => words.extend(line.split_whitespace().map(|word| (word, class))),
        }
    }
    words
});

/// Splits normalised text into runs: letters, digits and marks, with single joining characters between them.
fn scan_normal(text: &str, each: &mut dyn FnMut(&str, Role)) {
    let mut rest = text;
    while let Some(start) = rest.find(is_word) {
        let from_run = &rest[start..];
        let end = run_end(from_run);
        let run = &from_run[..end];
        // Most of all text: a word in small letters, which needs no splitting and no folding.
        if run.bytes().all(|byte| byte.is_ascii_lowercase()) {
            if run.len() <= LONGEST {
                each(run, Role::Whole);
            }
        } else {
            split_run(run, each);
        }
        rest = &from_run[end..];
    }
}

/// Where a run that begins the text ends.
fn run_end(text: &str) -> usize {
    let mut characters = text.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let joins = is_joint(c) && characters.peek().is_some_and(|(_, next)| is_word(*next));
        if !is_word(c) && !joins {
            return at;
        }
    }
    text.len()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || is_combining_mark(c)
}

fn is_joint(c: char) -> bool {
    matches!(c, '-' | '_' | '.' | '/' | '\'' | '’' | '‐' | '‑')
}

/// What follows an apostrophe and says nothing: `user's`, `don't`, `we'll`.
const CLITICS: [&str; 7] = ["s", "t", "ll", "re", "ve", "d", "m"];

/// A run of characters without a gap, word by word: `list-messages`, `getUserInfo`, `don't`.
fn split_run(run: &str, each: &mut dyn FnMut(&str, Role)) {
    let mut words: Vec<String> = Vec::new();
    let mut after_apostrophe = false;
    for piece in run.split_inclusive(is_joint) {
        let bare = piece.trim_end_matches(is_joint);
        let clitic = after_apostrophe && CLITICS.iter().any(|clitic| bare.eq_ignore_ascii_case(clitic));
        if !clitic && !bare.is_empty() {
            split_piece(bare, &mut words);
        }
        after_apostrophe = piece.ends_with(['\'', '’']);
    }
    words.retain(|word| !word.is_empty() && word.len() <= LONGEST);
    let role = if words.len() == 1 { Role::Whole } else { Role::Part };
    for word in &words {
        emit(word, role, each);
    }
    if (2..=3).contains(&words.len()) && words.iter().any(|word| word.len() > 1) {
        let joined = words.concat();
        if joined.len() <= LONGEST && !joined.chars().any(is_unspaced) {
            each(&joined, Role::Joined);
        }
    }
}

/// One word out: as pairs of characters where the script has no spaces, and with the letters of `area1` beside it.
fn emit(word: &str, role: Role, each: &mut dyn FnMut(&str, Role)) {
    let Some(first) = word.chars().next() else {
        return;
    };
    if is_unspaced(first) {
        let places: Vec<usize> = word.char_indices().map(|(at, _)| at).chain([word.len()]).collect();
        if places.len() <= 3 {
            return each(word, role);
        }
        for pair in places.windows(3) {
            if let [start, _, end] = pair {
                each(&word[*start..*end], role);
            }
        }
        return;
    }
    each(word, role);
    if word.bytes().any(|b| b.is_ascii_digit()) && word.is_ascii() {
        for letters in word.split(|c: char| c.is_ascii_digit()).filter(|letters| letters.len() >= 3) {
            each(letters, Role::Part);
        }
    }
}

/// Splits `getUserInfo`, `HTTPServer`, `Excelファイル` where the case or the script changes, and folds each word.
fn split_piece(piece: &str, words: &mut Vec<String>) {
    let characters: Vec<char> = piece.chars().collect();
    let mut start = 0;
    for at in 1..characters.len() {
        if seam(&characters, start, at) {
            words.push(fold(&characters[start..at]));
            start = at;
        }
    }
    words.push(fold(&characters[start..]));
}

/// Whether a word ends before the character `at`.
fn seam(characters: &[char], start: usize, at: usize) -> bool {
    let (before, here) = (characters[at - 1], characters[at]);
    if is_combining_mark(here) {
        return false;
    }
    if is_unspaced(before) != is_unspaced(here) {
        return true;
    }
    if !here.is_uppercase() {
        return false;
    }
    // `iPhone`, `OAuth`, `eBay`: one letter before a capital is no word of its own.
    if at - start == 1 && start == 0 {
        return false;
    }
    if before.is_lowercase() {
        return true;
    }
    // `HTTPServer` ends before the last capital, but `URLs` and `IDs` are plurals.
    let next_is_lower = characters.get(at + 1).is_some_and(|next| next.is_lowercase());
    let plural = characters.len() == at + 2 && characters[at + 1] == 's';
    next_is_lower && !plural
}

/// Lower-case; accents gone where they only decorate (Latin and Greek letters).
fn fold(characters: &[char]) -> String {
    if characters.iter().all(char::is_ascii) {
        return characters.iter().map(char::to_ascii_lowercase).collect();
    }
    let lower: String = characters.iter().flat_map(|c| c.to_lowercase()).collect();
    let mut folded = String::with_capacity(lower.len());
    let mut decorated = false;
    for c in lower.nfd() {
        match c {
            '\u{0300}'..='\u{036f}' if decorated => {}
            'ß' => folded.push_str("ss"),
            'æ' => folded.push_str("ae"),
            'œ' => folded.push_str("oe"),
            'ø' => folded.push('o'),
            'ł' => folded.push('l'),
            'đ' => folded.push('d'),
            'ı' => folded.push('i'),
            _ => folded.push(c),
        }
        if !is_combining_mark(c) {
            decorated = c < '\u{0400}';
        }
    }
    folded.nfc().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let words = list(text).into_iter().map(|(word, role)| match role {
            Role::Joined => format!("={word}"),
            Role::Whole | Role::Part => word,
        });
        words.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn identifiers_of_every_case_style_split_into_the_same_words() {
        for text in
            ["list-sent-messages", "list_sent_messages", "listSentMessages", "ListSentMessages", "list.sent/messages"]
        {
            assert_eq!(shown(text), "list sent messages =listsentmessages", "{text}");
        }
        assert_eq!(shown("LIST SENT MESSAGES"), "list sent messages");
    }

    #[test]
    fn capitals_and_digits_split_only_where_a_word_ends() {
        assert_eq!(shown("HTTPServer"), "http server =httpserver");
        assert_eq!(shown("URLs IDs PDFs"), "urls ids pdfs");
        assert_eq!(shown("iPhone OAuth2 eBay"), "iphone oauth2 oauth ebay");
        assert_eq!(shown("GitHub"), "git hub =github");
        assert_eq!(shown("s3 ipv4 area1 2FA"), "s3 ipv4 ipv area1 area 2fa");
        assert_eq!(shown("e-mail"), "e mail =email");
    }

    #[test]
    fn apostrophes_leave_the_word_before_them() {
        assert_eq!(shown("the user's files, don't we'll"), "the user files don we");
        assert_eq!(shown("the user’s"), "the user");
    }

    #[test]
    fn accents_and_compatibility_forms_fold_to_one_spelling() {
        assert_eq!(shown("Café CAFÉ Cafe\u{301} ｃａｆｅ"), "cafe cafe cafe cafe");
        assert_eq!(shown("Größe straße"), "grosse strasse");
        assert_eq!(shown("İstanbul"), "istanbul");
    }

    #[test]
    fn scripts_without_spaces_become_pairs() {
        assert_eq!(shown("電子メール"), "電子 子メ メー ール");
        assert_eq!(shown("表"), "表");
        assert_eq!(shown("Excelファイル"), "excel ファ ァイ イル");
    }

    #[test]
    fn marks_do_not_break_a_word() {
        assert_eq!(shown("हिन्दी"), "हिन्दी");
    }

    #[test]
    fn forms_of_one_word_are_filed_under_one_term() {
        for (one, other) in [
            ("messages", "message"),
            ("people", "person"),
            ("children", "child"),
            ("sent", "send"),
            ("colour", "color"),
            ("организации", "организация"),
        ] {
            assert_eq!(stem(one), stem(other), "{one} {other}");
        }
    }

    #[test]
    fn a_blob_is_no_word() {
        assert_eq!(shown(&"x".repeat(500)), "");
    }
}
