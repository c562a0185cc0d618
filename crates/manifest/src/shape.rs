//! Holds a tree of values against the tables of [`crate::reference`] and reports every value that does not fit.
//!
//! Owns what can be said of one key alone: unknown, missing, of the wrong type, of the wrong form, too long, holding
//! characters that no reader should meet. Rules between keys are in [`crate::entry`] and [`crate::argument`]. Start at
//! [`check_block`].

use crate::diagnostic::{Position, quoted};
use crate::findings::Findings;
use crate::lint;
use crate::mend;
use crate::nearest::{fold, nearest};
use crate::read::position_of;
use crate::reference::surface::PUBLISHED_ARGUMENT;
use crate::reference::{AGENT, ARGUMENT, ARGUMENT_TYPES, Block, Form, Key, MOST_OUTPUT_TEXT, NameForm, TOOL, Word};
use crate::rule;
use crate::yaml::{Data, Node, Pair, check_json};

/// Reports everything in a mapping that its table does not allow.
pub(crate) fn check_block(node: &Node<'_>, block: &Block, findings: &mut Findings<'_, '_>) {
    let Some(pairs) = node.mapping() else { return no_block(node, block, findings) };
    // A key that is there under another name is not told a second time as missing.
    let mut meant: Vec<&str> = Vec::new();
    for pair in pairs {
        match block.key(&pair.key) {
            Some(key) => check_pair(pair, key, findings),
            None => meant.extend(unknown_key(pair, pairs, block, findings)),
        }
    }
    for key in block.keys().filter(|key| key.required && !meant.contains(&key.name)) {
        let pair = pairs.iter().find(|pair| pair.key == key.name);
        if pair.is_none_or(|pair| pair.value.is_null()) {
            missing_key(key, pair, node, block, findings);
        }
    }
}

/// A value and the key under which it stands, or the list of which it is an item.
#[derive(Clone, Copy)]
enum Place<'k> {
    Key(&'k str),
    Item(&'k str),
}

impl<'k> Place<'k> {
    fn key(self) -> &'k str {
        let (Place::Key(key) | Place::Item(key)) = self;
        key
    }
}

impl std::fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Place::Key(key) => f.write_str(&quoted(key)),
            Place::Item(key) => write!(f, "an item of {}", quoted(key)),
        }
    }
}

fn check_pair(pair: &Pair<'_>, key: &Key, findings: &mut Findings<'_, '_>) {
    // Where a word or a boolean decides something, "nothing" could be read as either side, so that it is an error.
    let decides = matches!(key.form, Form::Flag | Form::Word(_));
    match (pair.value.is_null(), key.required) {
        (true, false) if matches!(key.form, Form::Json) => {}
        (true, false) if !decides => {
            let fix = if findings.has_room() { mend::remove_empty(findings.text(), pair) } else { None };
            let message = || (format!("`{}` has no value and counts as absent", key.name), None);
            findings.add_with_fix(&rule::EMPTY_VALUE, pair.at, message, fix);
        }
        // Reported with the missing keys.
        (true, true) => {}
        (true, false) | (false, _) => check_form(&pair.value, Place::Key(key.name), &key.form, findings),
    }
}

fn check_form(node: &Node<'_>, place: Place<'_>, form: &Form, findings: &mut Findings<'_, '_>) {
    match form {
        Form::Name(names) => check_name(node, place, names, form, findings),
        Form::Line { most } => check_text(node, place, form, Some(*most), true, findings),
        Form::Prose { most } => check_text(node, place, form, Some(*most), false, findings),
        Form::Text { most } => check_text(node, place, form, Some(*most), true, findings),
        Form::Flag => check_flag(node, place, findings),
        Form::Whole { least, most } => check_whole(node, place, *least, *most, findings),
        Form::Number => {
            if node.is_too_large() {
                too_large(node, place, findings);
            } else if node.number().is_none() {
                wrong_type(node, place, form, findings);
            }
        }
        Form::Json => check_value(node, findings),
        Form::JsonMapping | Form::Schema => check_mapping(node, place, form, findings),
        Form::Output => match &node.data {
            Data::Mapping(_) => check_value(node, findings),
            Data::Scalar { .. } | Data::List(_) | Data::Broken => {
                check_text(node, place, form, Some(MOST_OUTPUT_TEXT), false, findings)
            }
        },
        Form::Word(words) => check_word(node, place, words, form, findings),
        Form::List { of, most } => check_list(node, place, of, *most, form, findings),
        Form::Block(block) => check_block(node, block, findings),
        Form::NameOrBlock(names, block) => match &node.data {
            Data::Mapping(_) => check_block(node, block, findings),
            Data::Scalar { .. } | Data::List(_) | Data::Broken => check_name(node, place, names, form, findings),
        },
        Form::TextMapping => check_text_mapping(node, place, form, findings),
        Form::BlockMapping { of, most } => check_block_mapping(node, place, of, *most, form, findings),
    }
}

fn check_name(node: &Node<'_>, place: Place<'_>, names: &NameForm, form: &Form, findings: &mut Findings<'_, '_>) {
    let Some(name) = node.text() else { return wrong_type(node, place, form, findings) };
    if names.fits(name) {
        return;
    }
    if name.trim().is_empty() {
        findings.add(&rule::EMPTY_TEXT, node.at, || format!("{place} is empty"));
    } else if let Some(letter) = lint::foreign_letter(name).filter(|letter| !lint::is_hidden(*letter)) {
        findings.add(&rule::LOOK_ALIKE, node.at, || {
            format!("{} holds U+{:04X} `{letter}`, which looks like another letter", quoted(name), letter as u32)
        });
    } else {
        let fix = mend::clean_name(findings.text(), node, names);
        let hidden = lint::lint(name).first().map(|bad| (bad.rule, bad.character));
        let message = || {
            if let Some((_, character)) = hidden {
                return (format!("the name {} holds U+{:04X}", quoted(name), character as u32), None);
            }
            let message = format!("{} cannot name {}", quoted(name), names.names);
            (message, Some(format!("write {}", names.in_words)))
        };
        findings.add_with_fix(hidden.map_or(names.rule, |(rule, _)| rule), node.at, message, fix);
    }
}

fn check_text(
    node: &Node<'_>,
    place: Place<'_>,
    form: &Form,
    most: Option<usize>,
    one_line: bool,
    findings: &mut Findings<'_, '_>,
) {
    let Some(text) = node.text() else { return wrong_type(node, place, form, findings) };
    let trimmed = text.trim();
    if trimmed.is_empty() {
        findings.add(&rule::EMPTY_TEXT, node.at, || format!("{place} is empty"));
    }
    if one_line && trimmed.contains('\n') {
        findings.add(&rule::NOT_ONE_LINE, node.at, || format!("{place} has more than one line"));
    }
    if let Some(most) = most
        && trimmed.len() > most
        && trimmed.chars().count() > most
    {
        let count = trimmed.chars().count();
        findings.add(&rule::TOO_LONG, node.at, || format!("{place} has {count} characters; {most} are allowed"));
    }
    lint_at(text, &place, node.at, findings);
    if findings.has_room()
        && let Some(at) = cut_by_a_comment(node, findings.text())
    {
        findings.add(&rule::COMMENT_IN_TEXT, at, || format!("{place} ends before this ` #`, which begins a comment"));
    }
}

/// Where a text without quotes ends at a ` #` that nobody meant as a comment, since nothing stands between it and a word.
fn cut_by_a_comment(node: &Node<'_>, text: &str) -> Option<Position> {
    let Data::Scalar { plain: true, .. } = node.data else { return None };
    let end = node.extent.range().end;
    let comment = text.get(end..)?.trim_start_matches([' ', '\t']);
    let word = comment.strip_prefix('#')?.chars().next()?;
    word.is_alphanumeric().then(|| position_of(text, text.len() - comment.len()))
}

fn check_flag(node: &Node<'_>, place: Place<'_>, findings: &mut Findings<'_, '_>) {
    if node.flag().is_some() {
        return;
    }
    let Some((text, flag)) = node.text().and_then(|text| mend::flag_word(text).map(|flag| (text, flag))) else {
        return wrong_type(node, place, &Form::Flag, findings);
    };
    let says = mend::is_plain_flag(text);
    let right = if flag { "true" } else { "false" };
    let fix = if says { mend::retype(findings.text(), node, place.key(), right) } else { None };
    if matches!(node.data, Data::Scalar { plain: true, .. }) {
        let message =
            || (format!("{place} is true or false, and {} is text", quoted(text)), Some(format!("write `{flag}`")));
        findings.add_with_fix(&rule::NOT_A_BOOLEAN, node.at, message, fix);
    } else {
        let message = || {
            let message = format!("{place} is true or false, and text in quotes stands here");
            (message, Some(format!("write `{flag}` without quotes")))
        };
        findings.add_with_fix(&rule::WRONG_TYPE, node.at, message, fix);
    }
}

fn check_whole(node: &Node<'_>, place: Place<'_>, least: u64, most: u64, findings: &mut Findings<'_, '_>) {
    match (node.whole(), node.number()) {
        (Some(number), _) if (least..=most).contains(&number) => {}
        (_, Some(_)) => {
            findings.add(&rule::BAD_NUMBER, node.at, || format!("{place} is a whole number from {least} to {most}"));
        }
        (_, None) if node.is_too_large() => too_large(node, place, findings),
        (_, None) => wrong_type(node, place, &Form::Whole { least, most }, findings),
    }
}

fn too_large(node: &Node<'_>, place: Place<'_>, findings: &mut Findings<'_, '_>) {
    findings.add_with_help(&rule::BAD_NUMBER, node.at, || {
        let message = format!("{place} is a whole number too large for 64 bits");
        (message, Some("write a smaller number".to_owned()))
    });
}

/// What people write who mean a script that a shell runs.
const SHELLS: [&str; 3] = ["bash", "sh", "shell"];

fn check_word(node: &Node<'_>, place: Place<'_>, words: &[Word], form: &Form, findings: &mut Findings<'_, '_>) {
    let Some(text) = node.text() else { return wrong_type(node, place, form, findings) };
    if words.iter().any(|word| word.name == text) {
        return;
    }
    let known = words.iter().filter(|word| word.available).map(|word| (word.name, word.also));
    let meant = if findings.is_full() { None } else { meant_word(text, known.clone()) };
    let certain = meant.and_then(|_| mend::certain(text, known.map(|(name, _)| name)));
    // What is known and not available here is no slip of the pen.
    let slip = certain.filter(|word| meant == Some(*word) && !words.iter().any(|word| word.name == text));
    let fix = slip.and_then(|word| mend::replace_word(findings.text(), node, text, word));
    let left_to_the_author = slip.is_some_and(mend::is_milder);
    let message = || {
        let help = match meant {
            Some("process") if SHELLS.contains(&text.to_ascii_lowercase().as_str()) => {
                format!(
                    "did you mean `process`? the entrypoint then needs a `#!` line and the execute bit; it is {}",
                    form.in_words()
                )
            }
            Some(word) if left_to_the_author => {
                format!("did you mean `{word}`? {}; it is {}", mend::LEFT_TO_THE_AUTHOR, form.in_words())
            }
            Some(word) => format!("did you mean `{word}`? it is {}", form.in_words()),
            None => format!("write {}", form.in_words()),
        };
        (format!("{place} cannot be {}", quoted(text)), Some(help))
    };
    findings.add_with_fix(&rule::UNKNOWN_VALUE, node.at, message, fix);
}

fn check_list(node: &Node<'_>, place: Place<'_>, of: &Form, most: usize, form: &Form, findings: &mut Findings<'_, '_>) {
    let Some(items) = node.list() else { return wrong_type(node, place, form, findings) };
    if items.len() > most {
        let count = items.len();
        findings.add(&rule::TOO_MANY, node.at, || format!("{place} has {count} items; {most} are allowed"));
    }
    for item in items.iter().take(most) {
        check_form(item, Place::Item(place.key()), of, findings);
    }
}

fn check_mapping(node: &Node<'_>, place: Place<'_>, form: &Form, findings: &mut Findings<'_, '_>) {
    match node.mapping() {
        Some(_) => check_value(node, findings),
        None => wrong_type(node, place, form, findings),
    }
}

fn check_text_mapping(node: &Node<'_>, place: Place<'_>, form: &Form, findings: &mut Findings<'_, '_>) {
    let Some(pairs) = node.mapping() else { return wrong_type(node, place, form, findings) };
    for pair in pairs {
        let key = Place::Key(&pair.key);
        lint_at(&pair.key, &key, pair.at, findings);
        match pair.value.text() {
            Some(text) => lint_at(text, &key, pair.value.at, findings),
            None if pair.value.is_null() => {
                findings.add(&rule::EMPTY_VALUE, pair.at, || format!("{key} has no value and counts as absent"));
            }
            None => wrong_type(&pair.value, key, &Form::Text { most: 0 }, findings),
        }
    }
}

fn check_block_mapping(
    node: &Node<'_>,
    place: Place<'_>,
    of: &Block,
    most: usize,
    form: &Form,
    findings: &mut Findings<'_, '_>,
) {
    let Some(pairs) = node.mapping() else { return wrong_type(node, place, form, findings) };
    if pairs.len() > most {
        let count = pairs.len();
        findings.add(&rule::TOO_MANY, node.at, || format!("{place} has {count} names; {most} are allowed"));
    }
    for pair in pairs.iter().take(most) {
        lint_at(&pair.key, &Place::Key(&pair.key), pair.at, findings);
        check_block(&pair.value, of, findings);
    }
}

/// A value that becomes JSON: numbers that JSON can hold, text that a model can be shown.
fn check_value(node: &Node<'_>, findings: &mut Findings<'_, '_>) {
    check_json(node, findings);
    lint_values(node, findings);
}

fn lint_values(node: &Node<'_>, findings: &mut Findings<'_, '_>) {
    match &node.data {
        Data::Scalar { text, .. } => lint_text(text, "the value", node.at, findings),
        Data::List(items) => items.iter().for_each(|item| lint_values(item, findings)),
        Data::Mapping(pairs) => {
            for pair in pairs {
                lint_text(&pair.key, "the key", pair.at, findings);
                lint_values(&pair.value, findings);
            }
        }
        Data::Broken => {}
    }
}

/// Reports the characters in a text that no model and no terminal should be sent.
pub(crate) fn lint_text(text: &str, what: &str, at: Position, findings: &mut Findings<'_, '_>) {
    lint_at(text, &what, at, findings);
}

fn lint_at(text: &str, what: &dyn std::fmt::Display, at: Position, findings: &mut Findings<'_, '_>) {
    for bad in lint::lint(text) {
        findings.add(bad.rule, at, || {
            let escape = if bad.character == '\u{1b}' { "an ANSI escape, " } else { "" };
            format!("{what} holds {escape}U+{:04X}, as character {}", bad.character as u32, bad.index)
        });
    }
}

fn no_block(node: &Node<'_>, block: &Block, findings: &mut Findings<'_, '_>) {
    if matches!(node.data, Data::Broken) {
        return;
    }
    findings.add_with_help(&rule::WRONG_TYPE, node.at, || {
        let message = format!("{} is a mapping of keys to values, and {} stands here", block.one, type_in_words(node));
        let help = match node.text() {
            Some(text) if block.key("name").is_some() => {
                format!("write `name: …` and the other keys of {}, if {} is its name", block.one, quoted(text))
            }
            Some(text) if block.key("arg").is_some() => {
                let text: String = text.chars().take(40).collect();
                format!("write `{{arg: {text}}}` for a published argument, or `{{value: {text}}}` for the text itself")
            }
            Some(_) | None => format!("write the keys of {}, each with its value", block.one),
        };
        (message, Some(help))
    });
}

fn missing_key(key: &Key, pair: Option<&Pair<'_>>, node: &Node<'_>, block: &Block, findings: &mut Findings<'_, '_>) {
    let at = pair.map_or(node.at, |pair| pair.at);
    findings.add_with_help(&rule::MISSING_KEY, at, || {
        let what = pair.map_or("no", |_| "no value for");
        let message = format!("{} has {what} `{}`", described(node, block), key.name);
        (message, Some(format!("add `{}: …`: {}", key.name, key.meaning)))
    });
}

/// Reports a key that the mapping does not have, and gives the one that was most likely meant.
fn unknown_key(
    pair: &Pair<'_>,
    pairs: &[Pair<'_>],
    block: &Block,
    findings: &mut Findings<'_, '_>,
) -> Option<&'static str> {
    // Whoever has written hundreds of wrong keys is told no more, and looked up no more.
    let meant =
        if findings.is_full() { None } else { meant_word(&pair.key, block.keys().map(|key| (key.name, key.also))) };
    let unspaced = unspaced(&pair.key, block);
    let meant = unspaced.map(|(key, _)| key).or(meant);
    let certain = if findings.has_room() { certain_key(pair, pairs, block, findings) } else { None };
    let fix = certain.and_then(|key| mend::rename_key(findings.text(), pair, key));
    let mends = fix.is_some();
    let left_to_the_author = !mends && certain.is_some_and(mend::grants);
    let behind = Behind::of(pair, findings.text());
    let message = || {
        let help = if behind == Behind::CommaAlone && meant.is_none() {
            "put quotes around the text before it: a comma within brackets ends a text without quotes".to_owned()
        } else if let Some((key, value)) = unspaced {
            format!("put a space behind the colon: {}", quoted(&format!("{key}: {value}")))
        } else if block.name == TOOL.name && AGENT.key(&pair.key).is_some() {
            format!("`{}` belongs in an agent's manifest, `agents/<name>/agent.yaml`", pair.key)
        } else if block.name == PUBLISHED_ARGUMENT.name && ARGUMENT.key(&pair.key).is_some() {
            format!("remove it: `{}` is said in the manifest of the tool or agent", pair.key)
        } else if let Some(name) = meant {
            let left = if left_to_the_author { mend::LEFT_TO_THE_AUTHOR } else { "" };
            format!("did you mean `{name}`? {left}").trim_end().to_owned()
        } else {
            let names: Vec<&str> = block.keys().map(|key| key.name).collect();
            let comma = match behind {
                Behind::Comma => "; if the comma belongs to the text before it, put that text in quotes",
                Behind::CommaAlone | Behind::Other => "",
            };
            format!("{} has: {}{comma}", block.one, names.join(", "))
        };
        (format!("{} has no key {}", block.one, quoted(&pair.key)), Some(help))
    };
    findings.add_with_fix(&rule::UNKNOWN_KEY, pair.at, message, fix);
    // What stands under it is told in the same run.
    if let Some(key) = certain.filter(|_| mends) {
        check_pair(pair, key, findings);
    }
    meant
}

/// What a key stands behind: a comma within brackets may have cut a text in two.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Behind {
    /// A comma, and it has a value.
    Comma,
    /// A comma, and it has not even a colon.
    CommaAlone,
    Other,
}

impl Behind {
    fn of(pair: &Pair<'_>, text: &str) -> Behind {
        let key = pair.key_extent.range();
        let before = text.get(..key.start).unwrap_or_default().trim_end();
        let after = text.get(key.end..).unwrap_or_default().trim_start();
        match (before.ends_with(','), after.starts_with([',', '}', ']'])) {
            (true, true) => Behind::CommaAlone,
            (true, false) => Behind::Comma,
            (false, _) => Behind::Other,
        }
    }
}

/// A known key and its value, with nothing between the colon and the value.
fn unspaced<'k>(key: &'k str, block: &Block) -> Option<(&'static str, &'k str)> {
    let (key, value) = key.split_once(':').filter(|(_, value)| !value.is_empty())?;
    block.keys().find(|known| known.name == key).map(|known| (known.name, value))
}

/// The key that a wrong one certainly is, unless it is there already or another wrong one may be it too.
fn certain_key(
    pair: &Pair<'_>,
    pairs: &[Pair<'_>],
    block: &Block,
    findings: &mut Findings<'_, '_>,
) -> Option<&'static Key> {
    let meant = |key: &str| mend::certain(key, block.keys().map(|key| key.name));
    let name = meant(&pair.key)?;
    let suggested = meant_word(&pair.key, block.keys().map(|key| (key.name, key.also)));
    let visible_differs = fold(name) != fold(&pair.key);
    if suggested.is_some_and(|suggested| suggested != name) && visible_differs {
        return None;
    }
    if !findings.afford_comparison(pairs.len() * block.keys().count()) {
        return None;
    }
    let unknown = pairs.iter().filter(|other| block.key(&other.key).is_none());
    let there = pairs.iter().any(|other| other.key == name);
    let claimed = unknown.filter(|other| meant(&other.key) == Some(name)).count();
    if there || claimed != 1 { None } else { block.key(name) }
}

/// The known word that a wrong one means: another spelling of it, a word that people use for it, its beginning, or a
/// near one.
fn meant_word<'k>(wrong: &str, known: impl Iterator<Item = (&'k str, &'k [&'k str])> + Clone) -> Option<&'k str> {
    const SHORTEST_BEGINNING: usize = 3;
    let folded = fold(wrong);
    let by = |fits: &dyn Fn(&str, &[&str]) -> bool| {
        known.clone().find(|(name, also)| fits(name, also)).map(|(name, _)| name)
    };
    by(&|name, _| fold(name) == folded)
        .or_else(|| by(&|_, also| also.iter().any(|word| fold(word) == folded)))
        .or_else(|| by(&|name, _| folded.len() >= SHORTEST_BEGINNING && fold(name).starts_with(&folded)))
        .or_else(|| nearest(wrong, known.clone().map(|(name, _)| name)))
}

fn wrong_type(node: &Node<'_>, place: Place<'_>, form: &Form, findings: &mut Findings<'_, '_>) {
    if matches!(node.data, Data::Broken) {
        return;
    }
    let number = match (form, &node.data) {
        (Form::Whole { .. } | Form::Number, Data::Scalar { text, plain: false }) => {
            let whole = text.parse::<u64>().is_ok_and(|number| number.to_string() == text.as_ref());
            whole.then(|| text.to_string())
        }
        _ => None,
    };
    let fix = number.and_then(|number| mend::retype(findings.text(), node, place.key(), &number));
    let message = || {
        let message = format!("{place} is {}, and {} stands here", form.in_words(), type_in_words(node));
        (message, way_to_type(node, form))
    };
    findings.add_with_fix(&rule::WRONG_TYPE, node.at, message, fix);
}

/// How a value could be written so that it has the type that is due.
fn way_to_type(node: &Node<'_>, form: &Form) -> Option<String> {
    let is_text = matches!(form, Form::Name(_) | Form::Line { .. } | Form::Prose { .. } | Form::Text { .. });
    match (form, &node.data) {
        _ if is_text && node.is_null() => Some("put quotes around a text that reads `null` or `~`".to_owned()),
        (Form::List { .. }, Data::Scalar { text, .. }) => {
            Some(format!("write a list: `[{}]`", text.chars().take(40).collect::<String>()))
        }
        (Form::List { .. }, Data::Mapping(_)) => Some("begin each item with `- `".to_owned()),
        (Form::Schema, Data::Scalar { text, .. }) if ARGUMENT_TYPES.iter().any(|word| word.name == text) => {
            Some(format!("write `{{type: {text}}}`"))
        }
        (Form::Whole { .. } | Form::Number, Data::Scalar { text, plain: false }) if text.parse::<f64>().is_ok() => {
            Some("remove the quotes".to_owned())
        }
        _ => Some(format!("write {}", form.in_words())),
    }
}

fn type_in_words(node: &Node<'_>) -> &'static str {
    match &node.data {
        _ if node.is_null() => "nothing",
        Data::Scalar { plain: false, .. } => "text in quotes",
        Data::Scalar { .. } if node.flag().is_some() => "a boolean",
        Data::Scalar { .. } if node.number().is_some() => "a number",
        Data::Scalar { .. } => "text",
        Data::List(_) => "a list",
        Data::Mapping(_) => "a mapping",
        Data::Broken => "something else",
    }
}

fn described(node: &Node<'_>, block: &Block) -> String {
    let name = node.mapping().and_then(|pairs| pairs.iter().find(|pair| pair.key == "name"));
    match name.and_then(|pair| pair.value.text()) {
        Some(name) => format!("{} {}", block.name, quoted(name)),
        None => format!("the {}", block.name),
    }
}
