//! What one option's spec says: `-n, --name TEXT`, `--format {a,b}`, `--shout / --no-shout`, `--colour[=WHEN]`.
//!
//! Start at [`Spec::parse`]; metavars of positional arguments are read here too, by [`take_metavar`].

use gatelatch_manifest::document::{ArgumentType, Repeat};
use gatelatch_manifest::reference::ARGUMENT_NAME;
use serde_json::Value;

use super::super::draft::{Argument, LeftOut};

/// Why an option is left out that takes two things.
const SEVERAL: &str = "several values at once, and an argument is one";

/// A spec, read.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Spec {
    /// Every name with its dashes, negations included.
    flags: Vec<String>,
    /// The long names without dashes, negations left out.
    longs: Vec<String>,
    values: Vec<String>,
    /// Whether its value may be left out, and must be attached with `=` where it is not.
    attached: bool,
    negatable: bool,
    repeated: bool,
}

impl Spec {
    /// Reads a spec. With `single_dash` a name of one dash is as good as one of two, as Go's programs have it. Where `plain`,
    /// a word behind a name is its value whatever its letters are: no prose can stand there.
    pub(super) fn parse(text: &str, single_dash: bool, plain: bool) -> Spec {
        let mut spec = Spec::default();
        let mut negated = Vec::new();
        let mut values: Vec<String> = Vec::new();
        for token in tokens(text) {
            if token.starts_with('-') {
                keep_longer(&mut spec.values, std::mem::take(&mut values));
                spec.flag(&token, single_dash, &mut negated, &mut values);
            } else if token == "..." {
                spec.repeated = true;
            } else if plain || is_metavar(&token) || (spec.flags.is_empty() && values.is_empty()) {
                values.push(token);
            } else {
                // Prose that only one space parts from the spec.
                break;
            }
        }
        keep_longer(&mut spec.values, values);
        if spec.longs.is_empty() {
            spec.longs = negated;
        } else {
            spec.negatable |= spec.longs.iter().any(|name| negated.contains(&format!("no-{name}")));
        }
        spec
    }

    /// Whether it goes by this name, dashes included.
    pub(super) fn is(&self, flag: &str) -> bool {
        self.flags.iter().any(|own| own == flag)
    }

    /// What stands for its values where they follow it as words of their own.
    pub(super) fn values_behind(&self) -> String {
        if self.attached { String::new() } else { self.values.join(" ") }
    }

    /// How many values follow it.
    pub(super) fn values(&self) -> usize {
        let alone = |value: &&String| !value.starts_with('[');
        let several = self.values.iter().filter(alone).count();
        if self.attached { 0 } else { several.max(self.values.len().min(1)) }
    }

    /// Whether it only tells about the program, or sets up a shell.
    pub(super) fn is_about_help(&self) -> bool {
        const NAMES: [&str; 5] = ["help", "version", "install-completion", "show-completion", "help-all"];
        self.longs.iter().any(|name| NAMES.contains(&name.as_str()))
            || (self.longs.is_empty() && ["-h", "-?", "-V"].iter().any(|flag| self.is(flag)))
    }

    /// The argument, or why a manifest cannot have it.
    pub(super) fn argument(&self) -> Result<Argument, LeftOut> {
        let shown = self.flags.first().map(String::as_str).unwrap_or_default();
        let Some(name) = self.longs.iter().find(|name| ARGUMENT_NAME.fits(name)) else {
            let why = if self.longs.is_empty() {
                "no long form, and arguments are passed as `--name`"
            } else {
                "no name that an argument may have"
            };
            return Err(LeftOut::new(shown, why));
        };
        let mut argument = Argument::named(name);
        match self.values.as_slice() {
            [] => argument.kind = ArgumentType::Boolean,
            _ if self.attached => argument.kind = ArgumentType::Boolean,
            [value] if is_tuple(value) => return Err(LeftOut::new(format!("--{name}"), SEVERAL)),
            [value] => take_metavar(one_of_several(value), &mut argument),
            [value, more] if more.starts_with('[') => take_metavar(value, &mut argument),
            [value, range] if range == "RANGE" => take_metavar(value, &mut argument),
            _ => return Err(LeftOut::new(format!("--{name}"), SEVERAL)),
        }
        argument.negatable = argument.kind == ArgumentType::Boolean && self.negatable;
        argument.repeat = self.repeat();
        Ok(argument)
    }

    /// How it takes several values, if it does.
    fn repeat(&self) -> Option<Repeat> {
        let dots = |value: &String| value.contains("...") || value.contains('…');
        if self.values.is_empty() || self.attached {
            return None;
        }
        // argparse has `TAG [TAG ...]` for values of one name. Whoever else writes dots takes the name before each.
        if self.values.iter().any(|value| value.starts_with('[') && value.contains(" ...")) {
            return Some(Repeat::Value);
        }
        (self.repeated || self.values.iter().any(dots)).then_some(Repeat::Name)
    }

    /// What of it a manifest cannot say.
    pub(super) fn left_out(&self) -> Option<LeftOut> {
        let name = self.longs.first()?;
        let why = "a value that is taken only behind `=`; the bare name is there";
        self.attached.then(|| LeftOut::new(format!("--{name}=…"), why))
    }

    fn flag(&mut self, token: &str, single_dash: bool, negated: &mut Vec<String>, values: &mut Vec<String>) {
        let token = match token.strip_suffix("...") {
            Some(token) => {
                self.repeated = true;
                token
            }
            None => token,
        };
        let (flag, value) = match (token.split_once("[="), token.split_once('=')) {
            (Some((flag, value)), _) => {
                self.attached = true;
                (flag, value.strip_suffix(']'))
            }
            (None, Some((flag, value))) => (flag, Some(value)),
            (None, None) => (token, None),
        };
        values.extend(value.map(str::to_owned));
        let optional_no = flag.replace("[no-]", "").replace("[no]", "");
        self.negatable |= optional_no != flag && flag.contains("[no-]");
        self.flags.push(optional_no.clone());
        let long = match optional_no.strip_prefix("--") {
            Some(name) => Some(name),
            None if single_dash => optional_no.strip_prefix('-'),
            None => None,
        };
        match long {
            Some(name) if name.starts_with("no-") => negated.push(name.to_owned()),
            Some(name) => self.longs.push(name.to_owned()),
            None => {}
        }
    }
}

/// The last name in a spec, and the words behind it.
pub(super) fn words_behind(spec: &str) -> Option<(String, Vec<String>)> {
    let mut tokens = tokens(spec);
    let at = tokens.iter().rposition(|token| token.starts_with('-'))?;
    let words = tokens.split_off(at + 1);
    Some((tokens.pop()?, words))
}

/// Whether bars part words in capitals, each of which stands for a value of its own kind: `URL|FILE`.
fn is_placeholder(text: &str) -> bool {
    text.contains('|') && text.chars().any(char::is_alphabetic) && !text.chars().any(char::is_lowercase)
}

/// The name of a positional argument: `<FILE>` and `[FILE]...` are `file`. Its name is ours to choose.
pub(super) fn plain_name(spec: &str) -> Option<String> {
    let word = spec.split("  ").next()?.trim_matches(['<', '>', '[', ']', '.', ' ']);
    if word.starts_with('{') || (word.contains('|') && !is_placeholder(word)) {
        return Some("choice".to_owned());
    }
    let word = word.split(' ').next()?;
    let plain: String =
        word.to_lowercase().chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect();
    let name = plain.trim_matches('-').to_owned();
    (word.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') && ARGUMENT_NAME.fits(&name)).then_some(name)
}

/// Whether a word stands for a value.
pub(super) fn is_metavar(word: &str) -> bool {
    /// Types as Go's programs print them.
    const LOWER: [&str; 14] = [
        "string", "strings", "int", "ints", "uint", "int32", "int64", "uint32", "float", "float64", "duration", "file",
        "path", "value",
    ];
    let shouts = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_uppercase())
            && word.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || "_-.:/|()".contains(c))
    };
    // `K=V`, `key=value`, `path/to`: no option, and no word of a description's first column.
    let is_part = |part: &str| part.starts_with(char::is_alphanumeric);
    let joined =
        |word: &str| word.split_once(['=', '/']).is_some_and(|(before, after)| is_part(before) && is_part(after));
    word.starts_with(['<', '{', '[']) || shouts(word.trim_end_matches('.')) || LOWER.contains(&word) || joined(word)
}

/// Takes type and choices from what stands for a value.
pub(super) fn take_metavar(text: &str, argument: &mut Argument) {
    let text = text.trim().trim_end_matches("...").trim_end();
    // `name      TEXT`: a name and its type in columns.
    if let Some((_, kind)) = text.split_once("  ") {
        return take_metavar(kind, argument);
    }
    let inner = text.trim_matches(['<', '>', '[', ']', '(', ')', '{', '}']);
    let choices = match (text.starts_with('{'), inner.contains('|')) {
        (true, _) => inner.split(',').collect(),
        (false, true) if !inner.contains(' ') && !is_placeholder(inner) => inner.split('|').collect::<Vec<_>>(),
        (false, _) => Vec::new(),
    };
    let choices: Vec<&str> = choices.into_iter().map(str::trim).filter(|choice| !choice.is_empty()).collect();
    if choices.len() > 1 && choices.iter().all(|choice| is_plain_choice(choice)) {
        set_choices(&choices, argument);
    } else if let Some(kind) = kind_of(inner.trim_end_matches("...").trim()) {
        argument.kind = kind;
    } else if ["bool", "boolean"].contains(&inner.to_ascii_lowercase().as_str()) {
        // Named it takes a word, while a boolean of a manifest is the bare name.
        set_choices(&["true", "false"], argument);
    }
}

/// Whether a choice is a word of its own, and no piece of something that bars and commas part in another way.
fn is_plain_choice(choice: &str) -> bool {
    choice.chars().all(|c| c.is_alphanumeric() || "-_.+:/@%".contains(c)) && !choice.contains("..")
}

/// Choices as integers where all of them are, else as text.
pub(super) fn set_choices(choices: &[&str], argument: &mut Argument) {
    let whole: Option<Vec<Value>> =
        choices.iter().map(|choice| super::remark::whole(choice).map(Value::from)).collect();
    argument.kind = if whole.is_some() { ArgumentType::Integer } else { ArgumentType::String };
    let mut values = whole.unwrap_or_else(|| choices.iter().map(|choice| Value::from(*choice)).collect());
    let mut seen: Vec<Value> = Vec::new();
    values.retain(|value| {
        !seen.contains(value) && {
            seen.push(value.clone());
            true
        }
    });
    argument.choices = values;
}

fn kind_of(metavar: &str) -> Option<ArgumentType> {
    const WHOLE: [&str; 14] = [
        "integer", "int", "ints", "n", "num", "count", "port", "limit", "uint", "int32", "int64", "uint32", "uint64",
        "pid",
    ];
    /// Those that say it of whatever stands before them as well: `MIN_COUNT`, but not `SIZE_LIMIT`, which may be `10M`.
    const WHOLE_LAST: [&str; 6] = ["integer", "int", "n", "num", "count", "port"];
    const REAL: [&str; 8] = ["number", "float", "float64", "double", "decimal", "seconds", "secs", "ratio"];
    const PATH: [&str; 10] =
        ["path", "paths", "file", "files", "filename", "filepath", "dir", "dirs", "directory", "folder"];
    /// Written as one word; what merely ends so may be something else, as `PROFILE` is.
    const PATH_JOINED: [&str; 16] = [
        "infile",
        "outfile",
        "inputfile",
        "outputfile",
        "logfile",
        "datafile",
        "csvfile",
        "jsonfile",
        "configfile",
        "indir",
        "outdir",
        "workdir",
        "datadir",
        "logdir",
        "srcdir",
        "destdir",
    ];
    let word = metavar.to_ascii_lowercase();
    let last = word.rsplit(['_', '-']).next().unwrap_or_default();
    if WHOLE.contains(&word.as_str()) || WHOLE_LAST.contains(&last) {
        Some(ArgumentType::Integer)
    } else if REAL.contains(&word.as_str()) || last == "float" {
        Some(ArgumentType::Number)
    } else if PATH.contains(&last) || PATH_JOINED.contains(&last) {
        Some(ArgumentType::Path)
    } else {
        None
    }
}

/// What stands for one value: `[TAG ...]` and `[TAG [TAG ...]]` are `TAG`.
fn one_of_several(value: &str) -> &str {
    if !value.contains(" ...") {
        return value;
    }
    let first = value.trim_start_matches('[').split(" [").next().unwrap_or_default();
    first.split(" ...").next().unwrap_or_default()
}

/// Several metavars in one pair of brackets: `<INTEGER INTEGER>`.
fn is_tuple(value: &str) -> bool {
    let inner = value.trim_end_matches('.').trim_matches(['<', '>']);
    inner.contains(' ') && inner.split(' ').all(is_metavar)
}

/// A name has its values where it is longest: `-n, --name TEXT` and `-n TEXT, --name TEXT` mean the same.
fn keep_longer(kept: &mut Vec<String>, values: Vec<String>) {
    if values.len() > kept.len() {
        *kept = values;
    }
}

/// Words; what stands in brackets stays whole, and so does what follows a name without a space.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = vec![String::new()];
    let mut depth = 0_u32;
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        // A comma inside of a word belongs to it: `w,h`.
        let comma = c == ',' && characters.peek().is_none_or(|next| next.is_whitespace() || *next == '-');
        let parts = depth == 0 && (c.is_whitespace() || comma);
        // Names are parted by `/` and `|` as well.
        let bar = depth == 0 && matches!(c, '/' | '|') && matches!(characters.peek(), Some('-' | ' '));
        match c {
            '<' | '{' | '[' | '(' => depth += 1,
            '>' | '}' | ']' | ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if parts || bar {
            tokens.push(String::new());
        } else if let Some(token) = tokens.last_mut() {
            token.push(c);
        }
    }
    tokens.retain(|token| !token.is_empty());
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_joins_two_words_stands_for_a_value() {
        for word in ["K=V", "KEY=VALUE", "key=val", "path/to", "HOST:PORT", "<file>"] {
            assert!(is_metavar(word), "{word}");
        }
        for word in ["--env", "set", "=", "/", "a", "and/"] {
            assert!(!is_metavar(word), "{word}");
        }
    }
}
