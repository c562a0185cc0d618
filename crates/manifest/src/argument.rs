//! Reads the arguments of one action and holds their keys against each other.
//!
//! Start at [`arguments`].

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::diagnostic::{Position, quoted};
use crate::document::{ArgumentManifest, ArgumentType, Repeat};
use crate::findings::Findings;
use crate::fit::{self, Fitting, Misfit, MisfitRule};
use crate::keys::Keys;
use crate::lint;
use crate::mend;
use crate::nearest::fold;
use crate::pattern;
use crate::reference::{MOST_ARGUMENTS, MOST_ITEMS};
use crate::rule::{self, Rule};
use crate::schema::{self, Use};
use crate::yaml::{Data, Node};

/// An argument as far as it could be read.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) argument: ArgumentManifest,
    /// Whether its type is known, so that values can be held against it.
    pub(crate) typed: bool,
    /// How many parts its pattern has.
    pub(crate) pattern_parts: u64,
}

impl Draft {
    /// How a value fails to fit what a [`Fitting`] of this argument knows; nothing where that cannot be said.
    pub(crate) fn misfits(&self, fitting: &Fitting<'_>, value: &Value, findings: &mut Findings<'_, '_>) -> Vec<Misfit> {
        /// What compiling the smallest pattern costs, in parts.
        const SMALLEST: u64 = 100;
        /// How many bytes of text are matched for as much work as one more copy of the pattern makes.
        const BYTES_PER_COPY: u64 = 1000;
        let text = value.as_str().map_or(0, str::len) as u64;
        let work = (self.pattern_parts + SMALLEST).saturating_mul(1 + text / BYTES_PER_COPY);
        let work = if self.argument.pattern.is_some() { work } else { 0 };
        if !self.typed || !findings.afford_match(work) {
            return Vec::new();
        }
        fitting.fit(value).err().unwrap_or_default()
    }
}

/// The arguments under `args`.
pub(crate) fn arguments(keys: Keys<'_>, findings: &mut Findings<'_, '_>) -> Vec<Draft> {
    let drafts: Vec<Draft> = keys
        .items("args")
        .iter()
        .take(MOST_ARGUMENTS)
        .filter_map(Keys::of)
        .map(|keys| argument(keys, findings))
        .collect();
    let named = || drafts.iter().filter(|draft| !draft.argument.name.is_empty()).map(|draft| &draft.argument);
    check_names("argument", named().map(|argument| (argument.name.as_str(), argument.position)), findings);
    mend_twins("the argument", keys.items("args"), findings);
    check_negations(&drafts, findings);
    check_places(&drafts, findings);
    drafts
}

/// Reports names that stand twice and names that one spelling fits both.
pub(crate) fn check_names<'n>(
    what: &str,
    names: impl Iterator<Item = (&'n str, Position)>,
    findings: &mut Findings<'_, '_>,
) {
    let mut seen: HashMap<String, (&str, Position)> = HashMap::new();
    for (name, at) in names {
        match seen.get(&fold(name)) {
            Some((first, line)) if *first == name => findings.add(&rule::DUPLICATE_NAME, at, || {
                format!("{what} {} is there already, in line {}", quoted(name), line.line)
            }),
            Some((first, line)) => findings.add(&rule::AMBIGUOUS_NAMES, at, || {
                format!(
                    "{what} {} differs from {} in line {} only in case, `-` or `_`",
                    quoted(name),
                    quoted(first),
                    line.line
                )
            }),
            None => {
                seen.insert(fold(name), (name, at));
            }
        }
    }
}

/// The values of one misfit list, as one finding each.
pub(crate) fn add_misfits(
    rule: &Rule,
    what: &str,
    value: &Node<'_>,
    misfits: &[Misfit],
    findings: &mut Findings<'_, '_>,
) {
    for misfit in misfits {
        let at = value.at_pointer(&misfit.pointer).at;
        findings.add(rule, at, || format!("{what} {}", misfit.message));
    }
}

/// Adds to the finding about a value of the wrong type how the same value is written in the right one.
pub(crate) fn mend_type(
    rule: &Rule,
    kind: ArgumentType,
    node: &Node<'_>,
    misfits: &[Misfit],
    findings: &mut Findings<'_, '_>,
) {
    let [Misfit { rule: MisfitRule::WrongType, .. }] = misfits else { return };
    let Data::Scalar { text, plain } = &node.data else { return };
    let right = match (kind, plain) {
        (ArgumentType::String | ArgumentType::Path, true) => mend::in_quotes(text),
        (ArgumentType::Integer, false) if is_written_as::<i64>(text) => text.to_string(),
        (ArgumentType::Number, false) if is_written_as::<i64>(text) || is_written_as::<f64>(text) => text.to_string(),
        (ArgumentType::Boolean, _) => match text.to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" => "true".to_owned(),
            "false" | "no" | "off" => "false".to_owned(),
            _ => return,
        },
        _ => return,
    };
    let fix = mend::retype(findings.text(), node, "", &right);
    findings.mend(rule, node.at, fix);
}

/// Whether a text is exactly how a number is written, so that nothing is lost when it becomes one.
fn is_written_as<T: std::str::FromStr + std::fmt::Display>(text: &str) -> bool {
    text.parse::<T>().is_ok_and(|number| number.to_string() == text) && text.ends_with(|c: char| c.is_ascii_digit())
}

/// Adds to the findings about names that stand twice how the second goes, where the two things are written alike.
pub(crate) fn mend_twins(what: &str, items: &[Node<'_>], findings: &mut Findings<'_, '_>) {
    if !findings.has(&rule::DUPLICATE_NAME) {
        return;
    }
    let mut seen: HashSet<&str> = HashSet::new();
    for item in items {
        let (name, at) = match Keys::of(item) {
            Some(keys) => keys.text_at("name").unwrap_or(("", item.at)),
            None => (item.text().unwrap_or_default(), item.at),
        };
        if findings.is_full() {
            return;
        }
        if !seen.insert(findings.text().get(item.extent.range()).unwrap_or_default()) {
            let fix = mend::remove_second(findings.text(), item.extent, &format!("{what} `{name}`"));
            findings.mend(&rule::DUPLICATE_NAME, at, fix);
        }
    }
}

fn argument(keys: Keys<'_>, findings: &mut Findings<'_, '_>) -> Draft {
    let (name, position) = keys.text_at("name").unwrap_or(("", keys.at));
    let kind = keys.text("type").and_then(kind_of);
    let mut draft = Draft {
        argument: ArgumentManifest {
            name: name.to_owned(),
            kind: kind.unwrap_or(ArgumentType::String),
            required: keys.flag("required").unwrap_or(false),
            description: keys.text("description").unwrap_or_default().to_owned(),
            default: None,
            choices: Vec::new(),
            minimum: keys.number("minimum"),
            maximum: keys.number("maximum"),
            pattern: keys.text("pattern").map(str::to_owned),
            items: keys.json("items"),
            repeat: keys.text("repeat").and_then(repeat_of),
            positional: keys.flag("positional").unwrap_or(false),
            allow_dash: keys.flag("allow_dash").unwrap_or(false),
            negatable: keys.flag("negatable").unwrap_or(false),
            position,
        },
        typed: kind.is_some(),
        pattern_parts: 0,
    };
    if draft.typed {
        check_belonging(keys, &draft.argument, findings);
        check_repeat(keys, &draft.argument, findings);
    }
    check_range(keys, &draft.argument, findings);
    check_pattern(keys, &mut draft, findings);
    check_items(keys, &mut draft.argument, findings);
    read_choices(keys, &mut draft, findings);
    read_default(keys, &mut draft, findings);
    draft
}

fn kind_of(word: &str) -> Option<ArgumentType> {
    ArgumentType::ALL.into_iter().find(|kind| kind.as_str() == word)
}

fn repeat_of(word: &str) -> Option<Repeat> {
    Repeat::ALL.into_iter().find(|repeat| repeat.as_str() == word)
}

/// Reports a `repeat` that has nothing to repeat.
fn check_repeat(keys: Keys<'_>, argument: &ArgumentManifest, findings: &mut Findings<'_, '_>) {
    let (Some(repeat), Some(pair)) = (argument.repeat, keys.pair("repeat")) else { return };
    let name = quoted(&argument.name);
    if argument.kind != ArgumentType::Array {
        let kind = argument.kind.as_str();
        findings.add_with_help(&rule::REPEAT_MISPLACED, pair.at, || {
            let message = format!("`repeat` does not belong to argument {name}, which is no array (`{kind}`)");
            let help =
                format!("write `type: array` and `items: {{type: {}}}`, or remove `repeat`", item_type(argument));
            (message, Some(help))
        });
    } else if argument.positional && repeat == Repeat::Name {
        findings.add_with_help(&rule::REPEAT_MISPLACED, pair.value.at, || {
            let message = format!("argument {name} is positional, so that it has no name to repeat");
            (message, Some("write `repeat: value`".to_owned()))
        });
    }
}

/// What an item of a JSON Schema is called whose value has the argument's type.
fn item_type(argument: &ArgumentManifest) -> &'static str {
    match argument.kind {
        ArgumentType::Array | ArgumentType::Object => "string",
        kind => kind.json_type(),
    }
}

/// Reports keys that mean nothing for the argument's type.
fn check_belonging(keys: Keys<'_>, argument: &ArgumentManifest, findings: &mut Findings<'_, '_>) {
    let numeric = matches!(argument.kind, ArgumentType::Integer | ArgumentType::Number);
    let textual = matches!(argument.kind, ArgumentType::String | ArgumentType::Path);
    let boolean = argument.kind == ArgumentType::Boolean;
    let array = argument.kind == ArgumentType::Array;
    let stray = [
        ("minimum", numeric, &rule::RANGE_ON_NON_NUMBER),
        ("maximum", numeric, &rule::RANGE_ON_NON_NUMBER),
        ("pattern", textual, &rule::PATTERN_ON_NON_TEXT),
        ("items", array, &rule::ITEMS_ON_NON_ARRAY),
        ("negatable", boolean || !argument.negatable, &rule::NEGATABLE_ON_NON_BOOLEAN),
        ("allow_dash", argument.positional || !argument.allow_dash, &rule::DASH_ON_NON_POSITIONAL),
        ("positional", !boolean || !argument.positional, &rule::POSITIONAL_BOOLEAN),
    ];
    for (key, belongs, rule) in stray {
        if let (false, Some(pair)) = (belongs, keys.pair(key)) {
            let by_name = if key == "allow_dash" { "is passed by name" } else { "is of another type" };
            let reason = if key == "positional" { "is a boolean" } else { by_name };
            findings.add(rule, pair.at, || {
                format!(
                    "`{key}` does not belong to argument {}, which {reason} (`{}`)",
                    quoted(&argument.name),
                    argument.kind.as_str()
                )
            });
        }
    }
}

fn check_range(keys: Keys<'_>, argument: &ArgumentManifest, findings: &mut Findings<'_, '_>) {
    if let (Some(minimum), Some(maximum), Some(node)) = (&argument.minimum, &argument.maximum, keys.node("maximum"))
        && fit::less(maximum, minimum)
    {
        findings.add(&rule::MINIMUM_OVER_MAXIMUM, node.at, || {
            format!("argument {} is at least {minimum} and at most {maximum}", quoted(&argument.name))
        });
    }
}

/// A pattern that is none is reported and then taken for absent, so that nothing else is blamed for it.
fn check_pattern(keys: Keys<'_>, draft: &mut Draft, findings: &mut Findings<'_, '_>) {
    let (Some(text), Some(node)) = (draft.argument.pattern.as_deref(), keys.node("pattern")) else { return };
    if !findings.afford_pattern(pattern::reading_cost(text), node.at) {
        draft.argument.pattern = None;
        return;
    }
    match pattern::cost(text) {
        Ok(parts) => draft.pattern_parts = parts,
        Err(error) => {
            findings.add(&rule::BAD_PATTERN, node.at, || format!("{} is no pattern: {error}", quoted(text)));
            draft.argument.pattern = None;
        }
    }
}

fn check_items(keys: Keys<'_>, argument: &mut ArgumentManifest, findings: &mut Findings<'_, '_>) {
    let (Some(items), Some(node)) = (&argument.items, keys.node("items")) else { return };
    let faults = if items.is_object() { schema::check(items, Use::Items, node.at, findings) } else { Vec::new() };
    for fault in &faults {
        findings.add(fault.rule, node.at_pointer(&fault.pointer).at, || fault.message.clone());
    }
    if !faults.is_empty() || !items.is_object() {
        argument.items = None;
    }
}

fn read_choices(keys: Keys<'_>, draft: &mut Draft, findings: &mut Findings<'_, '_>) {
    let Some(pair) = keys.pair("enum") else { return };
    let items = keys.items("enum");
    if pair.value.list().is_some_and(<[Node<'_>]>::is_empty) {
        findings.add(&rule::ENUM_MISFIT, pair.at, || "`enum` is empty, so that no value fits".to_owned());
    }
    let mut seen: HashSet<String> = HashSet::new();
    let mut choices = Vec::new();
    let fitting = Fitting::new(&draft.argument);
    for item in items.iter().take(MOST_ITEMS) {
        let Some(value) = item.json() else { continue };
        if let Some(text) = value.as_str() {
            check_words("`enum`", text, item.at, findings);
        }
        if !seen.insert(fit::canonical(&value)) {
            let what = shown(&value);
            let room = findings.has_room();
            let fix = if room { mend::remove_second(findings.text(), item.extent, &what) } else { None };
            let message = || (format!("{what} stands in `enum` twice"), None);
            findings.add_with_fix(&rule::ENUM_MISFIT, item.at, message, fix);
            continue;
        }
        let misfits = draft.misfits(&fitting, &value, findings);
        add_misfits(&rule::ENUM_MISFIT, "a value of `enum`", item, &misfits, findings);
        mend_type(&rule::ENUM_MISFIT, draft.argument.kind, item, &misfits, findings);
        choices.push(value);
    }
    draft.argument.choices = choices;
}

fn read_default(keys: Keys<'_>, draft: &mut Draft, findings: &mut Findings<'_, '_>) {
    let Some(node) = keys.node("default") else { return };
    let Some(value) = node.json() else { return };
    let mut misfits = draft.misfits(&Fitting::new(&draft.argument), &value, findings);
    // A default is shown and never passed, so that its dash does no harm.
    misfits.retain(|misfit| misfit.rule != MisfitRule::LeadingDash);
    add_misfits(&rule::DEFAULT_MISFIT, "`default`", node, &misfits, findings);
    mend_type(&rule::DEFAULT_MISFIT, draft.argument.kind, node, &misfits, findings);
    draft.argument.default = Some(value);
}

/// Reports a word that mixes scripts to look like another.
pub(crate) fn check_words(what: &str, text: &str, at: Position, findings: &mut Findings<'_, '_>) {
    if let Some((word, letter)) = lint::look_alike(text) {
        findings.add(&rule::LOOK_ALIKE, at, || {
            format!(
                "{} in {what} holds U+{:04X} `{letter}`, which looks like a letter of another script",
                quoted(word),
                letter as u32
            )
        });
    }
}

/// Reports an argument whose name is what the program gets for another one's `false`.
fn check_negations(drafts: &[Draft], findings: &mut Findings<'_, '_>) {
    for negatable in drafts.iter().filter(|draft| draft.argument.negatable) {
        let negation = format!("no-{}", negatable.argument.name);
        for other in drafts.iter().filter(|draft| draft.argument.name == negation) {
            findings.add(&rule::AMBIGUOUS_NAMES, other.argument.position, || {
                let (name, of) = (quoted(&other.argument.name), quoted(&negatable.argument.name));
                format!("argument {name} is also what {of}, which is negatable, becomes when it is false")
            });
        }
    }
}

fn check_places(drafts: &[Draft], findings: &mut Findings<'_, '_>) {
    let mut optional: Option<&ArgumentManifest> = None;
    for argument in drafts.iter().map(|draft| &draft.argument).filter(|argument| argument.positional) {
        match (argument.required, optional) {
            (false, None) => optional = Some(argument),
            (true, Some(before)) => findings.add(&rule::REQUIRED_AFTER_OPTIONAL, argument.position, || {
                format!(
                    "positional argument {} is required and follows {}, which is not",
                    quoted(&argument.name),
                    quoted(&before.name)
                )
            }),
            (false, Some(_)) | (true, None) => {}
        }
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        other => quoted(&other.to_string()),
    }
}
