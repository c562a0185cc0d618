//! Reads the published arguments of one tool, and what ties them to headers and to the operation's own arguments.
//!
//! What every argument has in common is read in [`crate::argument`]. Start at [`arguments`].

use std::collections::HashMap;

use crate::argument::{self, Draft};
use crate::diagnostic::{Position, quoted};
use crate::document::ArgumentType;
use crate::findings::Findings;
use crate::keys::Keys;
use crate::reference::surface::HEADER_NAME;
use crate::reference::{MOST_ARGUMENTS, NameForm};
use crate::rule;
use crate::surface::SurfaceArgumentManifest;

use super::number;

/// The arguments of a published tool.
pub(super) fn arguments(keys: Keys<'_>, findings: &mut Findings<'_, '_>) -> Vec<SurfaceArgumentManifest> {
    let drafts = argument::arguments(keys, findings);
    let mut headers = HashMap::new();
    let written = keys.items("args").iter().take(MOST_ARGUMENTS).filter_map(Keys::of);
    let mut arguments = Vec::new();
    for (draft, keys) in drafts.into_iter().zip(written) {
        let typed = draft.typed;
        let argument = published(draft, keys);
        check_numbers(keys, findings);
        check_default(keys, &argument, findings);
        if let Some((header, at)) = keys.text_at("header").filter(|(header, _)| HEADER_NAME.fits(header)) {
            check_header(&argument, typed, header, at, findings);
            check_twice(&argument, header, at, &mut headers, findings);
        }
        arguments.push(argument);
    }
    arguments
}

/// Reports arguments of the operation that two published ones give.
pub(super) fn check_targets(keys: Keys<'_>, arguments: &[SurfaceArgumentManifest], findings: &mut Findings<'_, '_>) {
    let mut given: HashMap<&str, &SurfaceArgumentManifest> = HashMap::new();
    for argument in arguments.iter().filter(|argument| !argument.target.is_empty()) {
        match given.get(argument.target.as_str()) {
            // Told already, as a name that stands twice.
            Some(first) if first.name == argument.name => {}
            Some(first) => findings.add(&rule::TARGET_TWICE, argument.position, || {
                format!(
                    "{} gives the operation's {}, which {} in line {} gives too",
                    quoted(&argument.name),
                    quoted(&argument.target),
                    quoted(&first.name),
                    first.position.line
                )
            }),
            None => {
                given.insert(&argument.target, argument);
            }
        }
    }
    for pair in keys.node("fixed").and_then(Keys::of).map(Keys::pairs).unwrap_or_default() {
        if let Some(first) = given.get(pair.key.as_ref()) {
            findings.add(&rule::TARGET_TWICE, pair.at, || {
                format!(
                    "{} is fixed, and {} in line {} gives it too",
                    quoted(&pair.key),
                    quoted(&first.name),
                    first.position.line
                )
            });
        }
    }
}

fn published(draft: Draft, keys: Keys<'_>) -> SurfaceArgumentManifest {
    let argument = draft.argument;
    SurfaceArgumentManifest {
        target: keys.text("for").unwrap_or(&argument.name).to_owned(),
        name: argument.name,
        kind: argument.kind,
        required: argument.required,
        description: argument.description,
        default: argument.default,
        choices: argument.choices,
        minimum: argument.minimum,
        maximum: argument.maximum,
        pattern: argument.pattern,
        items: argument.items,
        header: keys.text("header").map(str::to_owned),
        position: argument.position,
    }
}

fn check_numbers(keys: Keys<'_>, findings: &mut Findings<'_, '_>) {
    for key in ["default", "enum", "minimum", "maximum", "items"] {
        if let Some(node) = keys.node(key) {
            number::check(node, findings);
        }
    }
}

fn check_default(keys: Keys<'_>, argument: &SurfaceArgumentManifest, findings: &mut Findings<'_, '_>) {
    if let Some(pair) = keys.pair("default").filter(|_| argument.required) {
        findings.add(&rule::REQUIRED_DEFAULT, pair.at, || {
            format!("{} is required, so that its default is never passed", quoted(&argument.name))
        });
    }
}

fn check_header(
    argument: &SurfaceArgumentManifest,
    typed: bool,
    header: &str,
    at: Position,
    findings: &mut Findings<'_, '_>,
) {
    let kind = argument.kind;
    let carried = match kind {
        ArgumentType::String | ArgumentType::Path | ArgumentType::Integer | ArgumentType::Boolean => true,
        ArgumentType::Number | ArgumentType::Array | ArgumentType::Object => false,
    };
    if typed && !carried {
        findings.add(&rule::HEADER_TYPE, at, || {
            format!("no header carries {}, whose type is `{}`", quoted(&argument.name), kind.as_str())
        });
    }
    let names = [argument.name.as_str(), argument.target.as_str(), header];
    if let Some(name) = names.into_iter().find(|name| name.len() <= NameForm::MOST && is_secret(name)) {
        findings.add(&rule::HEADER_SECRET, at, || {
            format!("{} would travel in a header, and {} names a secret", quoted(&argument.name), quoted(name))
        });
    }
}

fn check_twice<'n>(
    argument: &SurfaceArgumentManifest,
    header: &'n str,
    at: Position,
    headers: &mut HashMap<String, (&'n str, Position)>,
    findings: &mut Findings<'_, '_>,
) {
    match headers.get(&header.to_ascii_lowercase()) {
        Some((first, place)) => findings.add(&rule::HEADER_TWICE, at, || {
            let (header, first) = (quoted(header), quoted(first));
            format!("{} has the header {header}; line {} has {first}", quoted(&argument.name), place.line)
        }),
        None => {
            headers.insert(header.to_ascii_lowercase(), (header, at));
        }
    }
}

/// Words each of which says that a value is a secret.
const SECRET_WORDS: [&str; 34] = [
    "password",
    "passwords",
    "passwd",
    "passphrase",
    "passcode",
    "pwd",
    "secret",
    "secrets",
    "token",
    "credential",
    "credentials",
    "auth",
    "authorization",
    "authentication",
    "bearer",
    "cookie",
    "jwt",
    "otp",
    "apikey",
    "accesskey",
    "privatekey",
    "secretkey",
    "cred",
    "creds",
    "session",
    "sid",
    "signature",
    "totp",
    "mfa",
    "pin",
    "pincode",
    "cvv",
    "ssn",
    "pat",
];
/// What a word ends with that says so: `accesstoken`, `dbpassword`.
const SECRET_ENDS: [&str; 7] = ["token", "secret", "password", "passwd", "passphrase", "apikey", "dbpass"];
/// Words that make a secret of a `key` after them.
const SECRET_KEYS: [&str; 8] = ["api", "access", "private", "secret", "signing", "encryption", "ssh", "master"];

/// Whether a name says that its value is a secret.
fn is_secret(name: &str) -> bool {
    let words = words(name);
    let is_key = |pair: &[String]| match pair {
        [first, second] => second == "key" && SECRET_KEYS.contains(&first.as_str()),
        _ => false,
    };
    let says_so =
        |word: &String| SECRET_WORDS.contains(&word.as_str()) || SECRET_ENDS.iter().any(|end| word.ends_with(end));
    words.iter().any(says_so) || words.windows(2).any(is_key)
}

/// The words of a name in lower case: split where letters and digits end, where case rises, and before the last capital
/// of several, so that `APIToken` has two.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    let mut characters = name.chars().peekable();
    while let Some(c) = characters.next() {
        let rises = !before.is_uppercase() || characters.peek().is_some_and(|next| next.is_lowercase());
        if !c.is_alphanumeric() || (c.is_uppercase() && rises) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_says_secret_is_known_in_every_spelling() {
        for name in [
            "accesstoken",
            "clientsecret",
            "session_id",
            "dbpassword",
            "cvv",
            "password",
            "db-passwd",
            "apiKey",
            "API_KEY",
            "x-api-key",
            "APIToken",
            "accesskey",
            "page_token",
            "Authorization",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in ["key", "sort_key", "keyboard", "author", "max_tokens", "tokenizer", "secretary", "path", ""] {
            assert!(!is_secret(name), "{name}");
        }
    }
}
