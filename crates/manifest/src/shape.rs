//! Holds a tree of values against the tables of [`crate::reference`] and reports every value that does not fit.
//!
//! Owns what can be said of one key alone: unknown, missing, of the wrong type, of the wrong form, too long, holding
//! characters that no reader should meet. Rules between keys are in [`crate::entry`] and [`crate::argument`]. Start at
//! [`check_block`].

use crate::diagnostic::{Position, quoted};
use crate::findings::Findings;
use crate::lint;
use crate::nearest::{fold, nearest};
use crate::reference::{Block, Form, Key, NameForm, Word};
use crate::rule;
use crate::yaml::{Data, Node, Pair, check_json};

/// Reports everything in a mapping that its table does not allow.
pub(crate) fn check_block(node: &Node<'_>, block: &Block, findings: &mut Findings<'_, '_>) {
    let Some(pairs) = node.mapping() else {
        if !matches!(node.data, Data::Broken) {
            findings.add(&rule::WRONG_TYPE, node.at, || {
                let (article, name) = (article(block.name), block.name);
                format!("{article} {name} is a mapping of keys to values, and {} stands here", type_in_words(node))
            });
        }
        return;
    };
    for pair in pairs {
        match block.key(&pair.key) {
            Some(key) => check_pair(pair, key, findings),
            None => unknown_key(pair, block, findings),
        }
    }
    for key in block.keys().filter(|key| key.required) {
        let pair = pairs.iter().find(|pair| pair.key == key.name);
        if pair.is_none_or(|pair| pair.value.is_null()) {
            let at = pair.map_or(node.at, |pair| pair.at);
            findings.add_with_help(&rule::MISSING_KEY, at, || {
                let what = pair.map_or("no", |_| "no value for");
                let message = format!("{} has {what} `{}`", described(pairs, block), key.name);
                (message, Some(format!("add `{}: …`: {}", key.name, key.meaning)))
            });
        }
    }
}

fn check_pair(pair: &Pair<'_>, key: &Key, findings: &mut Findings<'_, '_>) {
    let decides = matches!(key.form, Form::Flag | Form::Word(_) | Form::Json);
    if pair.value.is_null() && !decides {
        // A missing required value is reported with the missing keys.
        if !key.required {
            findings.add(&rule::EMPTY_VALUE, pair.at, || format!("`{}` has no value and counts as absent", key.name));
        }
        return;
    }
    if pair.value.is_null() && (key.required || matches!(key.form, Form::Json)) {
        return;
    }
    check_form(&pair.value, key.name, &key.form, findings);
}

fn check_form(node: &Node<'_>, key: &str, form: &Form, findings: &mut Findings<'_, '_>) {
    match form {
        Form::Name(names) => check_name(node, key, names, form, findings),
        Form::Line { most } => check_text(node, key, form, Some(*most), true, findings),
        Form::Prose { most } => check_text(node, key, form, Some(*most), false, findings),
        Form::Text => check_text(node, key, form, None, true, findings),
        Form::Flag => check_flag(node, key, findings),
        Form::Whole { most } => check_whole(node, key, *most, findings),
        Form::Number => {
            if node.number().is_none() {
                wrong_type(node, key, form, findings);
            }
        }
        Form::Json => check_value(node, findings),
        Form::JsonMapping | Form::Schema => check_mapping(node, key, form, findings),
        Form::Output => match &node.data {
            Data::Mapping(_) => check_value(node, findings),
            _ => check_text(node, key, form, None, false, findings),
        },
        Form::Word(words) => check_word(node, key, words, form, findings),
        Form::List { of, most } => check_list(node, key, of, *most, form, findings),
        Form::Block(block) => check_block(node, block, findings),
        Form::NameOrBlock(names, block) => match &node.data {
            Data::Mapping(_) => check_block(node, block, findings),
            _ => check_name(node, key, names, form, findings),
        },
        Form::TextMapping => check_text_mapping(node, key, form, findings),
    }
}

fn check_name(node: &Node<'_>, key: &str, names: &NameForm, form: &Form, findings: &mut Findings<'_, '_>) {
    let Some(name) = node.text() else { return wrong_type(node, key, form, findings) };
    if names.fits(name) {
        return;
    }
    if let Some(letter) = lint::foreign_letter(name) {
        findings.add(&rule::LOOK_ALIKE, node.at, || {
            format!("{} holds U+{:04X} `{letter}`, which looks like another letter", quoted(name), letter as u32)
        });
        return;
    }
    findings.add_with_help(names.rule, node.at, || {
        let message = format!("{} is no name for `{key}`", quoted(name));
        (message, Some(format!("a name has {}", names.in_words)))
    });
}

fn check_text(
    node: &Node<'_>,
    key: &str,
    form: &Form,
    most: Option<usize>,
    one_line: bool,
    findings: &mut Findings<'_, '_>,
) {
    let Some(text) = node.text() else { return wrong_type(node, key, form, findings) };
    let trimmed = text.trim();
    if trimmed.is_empty() {
        findings.add(&rule::EMPTY_TEXT, node.at, || format!("`{key}` is empty"));
    }
    if one_line && trimmed.contains('\n') {
        findings.add(&rule::NOT_ONE_LINE, node.at, || format!("`{key}` has more than one line"));
    }
    if let Some(most) = most
        && trimmed.len() > most
        && trimmed.chars().count() > most
    {
        findings.add(&rule::TOO_LONG, node.at, || {
            format!("`{key}` has {} characters; {most} are allowed", trimmed.chars().count())
        });
    }
    lint_text(text, key, node.at, findings);
}

fn check_flag(node: &Node<'_>, key: &str, findings: &mut Findings<'_, '_>) {
    if node.flag().is_some() {
        return;
    }
    let said = node.text().and_then(|text| meant(text).map(|flag| (text, flag)));
    match (said, &node.data) {
        (Some((text, flag)), Data::Scalar { plain: true, .. }) => {
            findings.add_with_help(&rule::NOT_A_BOOLEAN, node.at, || {
                let message = format!("`{key}` is true or false, and {} is text", quoted(text));
                (message, Some(format!("write `{flag}`")))
            });
        }
        (Some((_, flag)), _) => {
            findings.add_with_help(&rule::WRONG_TYPE, node.at, || {
                (
                    format!("`{key}` is true or false, and text in quotes stands here"),
                    Some(format!("write `{flag}` without quotes")),
                )
            });
        }
        _ => wrong_type(node, key, &Form::Flag, findings),
    }
}

/// The boolean that other YAML readers, or a hurried author, see in a word.
fn meant(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "y" | "on" | "1" => Some(true),
        "false" | "no" | "n" | "off" | "0" => Some(false),
        _ => None,
    }
}

fn check_whole(node: &Node<'_>, key: &str, most: u64, findings: &mut Findings<'_, '_>) {
    match (node.whole(), node.number()) {
        (Some(number), _) if (1..=most).contains(&number) => {}
        (_, Some(_)) => {
            findings.add(&rule::BAD_NUMBER, node.at, || format!("`{key}` is a whole number from 1 to {most}"))
        }
        (_, None) => wrong_type(node, key, &Form::Whole { most }, findings),
    }
}

fn check_word(node: &Node<'_>, key: &str, words: &[Word], form: &Form, findings: &mut Findings<'_, '_>) {
    let Some(text) = node.text() else { return wrong_type(node, key, form, findings) };
    if words.iter().any(|word| word.name == text) {
        return;
    }
    findings.add_with_help(&rule::UNKNOWN_VALUE, node.at, || {
        let known = words.iter().map(|word| (word.name, word.also));
        let help = match meant_word(text, known) {
            Some(word) => format!("write `{word}`; {}", form.in_words()),
            None => format!("write {}", form.in_words()),
        };
        (format!("{} is no `{key}`", quoted(text)), Some(help))
    });
}

fn check_list(node: &Node<'_>, key: &str, of: &Form, most: usize, form: &Form, findings: &mut Findings<'_, '_>) {
    let Some(items) = node.list() else { return wrong_type(node, key, form, findings) };
    if items.len() > most {
        findings.add(&rule::TOO_MANY, node.at, || format!("`{key}` has {} items; {most} are allowed", items.len()));
    }
    for item in items.iter().take(most) {
        check_form(item, key, of, findings);
    }
}

fn check_mapping(node: &Node<'_>, key: &str, form: &Form, findings: &mut Findings<'_, '_>) {
    match node.mapping() {
        Some(_) => check_value(node, findings),
        None => wrong_type(node, key, form, findings),
    }
}

fn check_text_mapping(node: &Node<'_>, key: &str, form: &Form, findings: &mut Findings<'_, '_>) {
    let Some(pairs) = node.mapping() else { return wrong_type(node, key, form, findings) };
    for pair in pairs {
        lint_text(&pair.key, key, pair.at, findings);
        if pair.value.is_null() {
            findings.add(&rule::EMPTY_VALUE, pair.at, || {
                format!("{} has no value and counts as absent", quoted(&pair.key))
            });
        } else if let Some(text) = pair.value.text() {
            lint_text(text, &pair.key, pair.value.at, findings);
        } else {
            wrong_type(&pair.value, &pair.key, &Form::Text, findings);
        }
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
pub(crate) fn lint_text(text: &str, key: &str, at: Position, findings: &mut Findings<'_, '_>) {
    for bad in lint::lint(text) {
        findings.add(bad.rule, at, || {
            let what = if bad.character == '\u{1b}' { "an ANSI escape, " } else { "" };
            let key = if key.contains(' ') { key.to_owned() } else { quoted(key) };
            format!("{key} holds {what}U+{:04X}, as character {}", bad.character as u32, bad.index)
        });
    }
}

fn unknown_key(pair: &Pair<'_>, block: &Block, findings: &mut Findings<'_, '_>) {
    findings.add_with_help(&rule::UNKNOWN_KEY, pair.at, || {
        let known = block.keys().map(|key| (key.name, key.also));
        let help = match meant_word(&pair.key, known) {
            Some(name) => Some(format!("did you mean `{name}`?")),
            None => {
                let names: Vec<&str> = block.keys().map(|key| key.name).collect();
                Some(format!("{} {} has: {}", article(block.name), block.name, names.join(", ")))
            }
        };
        (format!("{} {} has no key {}", article(block.name), block.name, quoted(&pair.key)), help)
    });
}

/// The known word that a wrong one means: another spelling of it, a word that people use for it, or a near one.
fn meant_word<'k>(wrong: &str, known: impl Iterator<Item = (&'k str, &'k [&'k str])> + Clone) -> Option<&'k str> {
    let folded = fold(wrong);
    let by = |fits: &dyn Fn(&str, &[&str]) -> bool| {
        known.clone().find(|(name, also)| fits(name, also)).map(|(name, _)| name)
    };
    by(&|name, _| fold(name) == folded)
        .or_else(|| by(&|_, also| also.iter().any(|word| fold(word) == folded)))
        .or_else(|| nearest(wrong, known.clone().map(|(name, _)| name)))
}

fn wrong_type(node: &Node<'_>, key: &str, form: &Form, findings: &mut Findings<'_, '_>) {
    if matches!(node.data, Data::Broken) {
        return;
    }
    findings.add_with_help(&rule::WRONG_TYPE, node.at, || {
        let message = format!("{} is {}, and {} stands here", quoted(key), form.in_words(), type_in_words(node));
        let is_text = matches!(form, Form::Name(_) | Form::Line { .. } | Form::Prose { .. } | Form::Text);
        (message, (is_text && node.is_null()).then(|| "put quotes around a text that reads `null` or `~`".to_owned()))
    });
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

fn described(pairs: &[Pair<'_>], block: &Block) -> String {
    match pairs.iter().find(|pair| pair.key == "name").and_then(|pair| pair.value.text()) {
        Some(name) => format!("{} {}", block.name, quoted(name)),
        None => format!("the {}", block.name),
    }
}

fn article(name: &str) -> &'static str {
    if name.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}
