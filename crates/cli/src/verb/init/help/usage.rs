//! What usage lines say: which arguments stand where, what must be given, which commands there are.
//!
//! `[x]` may be left out, `(a|b)` and `a | b` are alternatives, `…` repeats. Start at [`Usage::of`].

use gatelatch_manifest::nearest::fold;
use gatelatch_manifest::reference::ARGUMENT_NAME;

use super::option::{self, Spec};

/// An argument's place.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Place {
    pub(super) name: String,
    /// As the usage has it: `<FILE>`, `{a,b}`.
    pub(super) text: String,
    pub(super) required: bool,
    pub(super) repeated: bool,
}

impl Place {
    /// The place of an argument that only the list of arguments names.
    pub(super) fn of_item(spec: &str) -> Option<Place> {
        let name = option::plain_name(spec)?;
        let (required, repeated) = (!spec.starts_with('['), spec.contains("..."));
        Some(Place { name, text: spec.to_owned(), required, repeated })
    }
}

/// What all usage lines together say.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Usage {
    pub(super) places: Vec<Place>,
    /// The commands that usage lines begin with.
    pub(super) commands: Vec<String>,
    /// Whether options may be given that it does not name, or there is no usage at all.
    pub(super) is_vague: bool,
    /// Whether options that it does not name may follow a command.
    options_follow: bool,
    /// Whether commands follow a command.
    pub(super) nested: bool,
    /// Long options that are described nowhere else and seem to take no value.
    pub(super) undescribed: Vec<String>,
    /// Every option that is named, and whether it must be given.
    flags: Vec<(String, bool)>,
    /// The ways to call it, each with its first command.
    ways: Vec<(Option<String>, Way)>,
}

impl Usage {
    /// Reads usage lines. `values` knows how many values an option takes that is
    /// described elsewhere, `named` are the arguments that
    /// are; `command` is the one that the lines are about.
    pub(super) fn of(
        lines: &[String],
        values: &dyn Fn(&str) -> Option<usize>,
        named: &[String],
        command: Option<&str>,
    ) -> Usage {
        let mut ways: Vec<Way> = lines.iter().map(|line| Way::of(line, values, command)).collect();
        let leading =
            |way: &Way| way.leading().filter(|word| !named.iter().any(|name| name == word)).map(str::to_owned);
        let about_help = |way: &Way| way.places.is_empty() && !way.flags.is_empty();
        let all_lead = ways.iter().filter(|way| !about_help(way)).all(|way| leading(way).is_some());
        let has_commands = all_lead && ways.iter().filter(|way| leading(way).is_some()).count() >= 2;
        let group = ways.iter_mut().find_map(Way::take_group).unwrap_or_default();
        let ways: Vec<(Option<String>, Way)> = ways
            .into_iter()
            .map(|mut way| {
                let command = if has_commands { leading(&way) } else { None };
                if command.is_some() {
                    way.places.remove(0);
                }
                (command, way)
            })
            .collect();
        let mut usage = Usage::together(&ways.iter().map(|(_, way)| way).collect::<Vec<_>>(), values);
        usage.commands = group;
        if has_commands {
            usage.places.clear();
            for command in ways.iter().filter_map(|(command, _)| command.clone()) {
                if !usage.commands.contains(&command) {
                    usage.commands.push(command);
                }
            }
        }
        usage.is_vague |= lines.is_empty();
        usage.ways = ways;
        usage
    }

    /// What the lines about one command say.
    pub(super) fn of_command(&self, command: &str) -> Usage {
        let ways: Vec<&Way> =
            self.ways.iter().filter(|(own, _)| own.as_deref() == Some(command)).map(|(_, way)| way).collect();
        let mut usage = Usage::together(&ways, &|_| Some(0));
        // `x COMMAND [OPTIONS]` speaks of every command.
        usage.is_vague |= ways.is_empty() && self.options_follow;
        usage.undescribed.clear();
        usage.nested = ways.iter().any(|way| way.places.iter().any(|place| place.literal));
        usage
    }

    /// Whether an option must be given.
    pub(super) fn requires(&self, spec: &Spec) -> bool {
        self.flags.iter().any(|(flag, required)| *required && spec.is(flag))
    }

    /// Whether an option is named.
    pub(super) fn names(&self, spec: &Spec) -> bool {
        self.flags.iter().any(|(flag, _)| spec.is(flag))
    }

    /// Several ways to call it as one: what every one of them demands is required.
    fn together(ways: &[&Way], values: &dyn Fn(&str) -> Option<usize>) -> Usage {
        let mut usage = Usage::default();
        for way in ways {
            usage.is_vague |= way.is_vague;
            usage.options_follow |= way.options_follow;
            for place in &way.places {
                match usage.places.iter_mut().find(|known| fold(&known.name) == fold(&place.place.name)) {
                    Some(known) => known.repeated |= place.place.repeated,
                    None => usage.places.push(place.place.clone()),
                }
            }
            for (flag, required) in &way.flags {
                if !usage.flags.iter().any(|(known, _)| known == flag) {
                    usage.flags.push((flag.clone(), *required));
                }
            }
        }
        let every_way = |test: &dyn Fn(&Way) -> bool| ways.iter().all(|way| test(way));
        for place in &mut usage.places {
            place.required = every_way(&|way| {
                way.places.iter().any(|other| fold(&other.place.name) == fold(&place.name) && other.place.required)
            });
        }
        for (flag, required) in &mut usage.flags {
            *required = every_way(&|way| way.flags.iter().any(|(other, needed)| other == flag && *needed));
        }
        let undescribed = usage.flags.iter().filter_map(|(flag, _)| flag.strip_prefix("--"));
        usage.undescribed = undescribed
            .filter(|name| ARGUMENT_NAME.fits(name) && !matches!(*name, "help" | "version"))
            .filter(|name| values(&format!("--{name}")).is_none())
            .map(str::to_owned)
            .collect();
        usage
    }
}

/// One way to call it.
#[derive(Clone, Debug, Default, PartialEq)]
struct Way {
    places: Vec<Word>,
    flags: Vec<(String, bool)>,
    is_vague: bool,
    /// Whether a command's place was passed, and whether unnamed options stand behind it.
    seen_command: bool,
    options_follow: bool,
}

/// A word that is no option.
#[derive(Clone, Debug, PartialEq)]
struct Word {
    place: Place,
    /// Written in lower case and without brackets, so that it may stand for itself.
    literal: bool,
    /// Braces with commands follow a call's options: `{list,add} ...`.
    group: bool,
}

impl Way {
    fn of(line: &str, values: &dyn Fn(&str) -> Option<usize>, command: Option<&str>) -> Way {
        let tokens = tokens(line);
        let mut reader = Reader { tokens: &tokens, at: start(&tokens, command), way: Way::default(), values };
        reader.sequence(true);
        reader.way
    }

    /// The word that stands for itself at the beginning.
    fn leading(&self) -> Option<&str> {
        self.places.first().filter(|word| word.literal && word.place.required).map(|word| word.place.name.as_str())
    }

    /// The commands of `{list,add} ...`, which is then no argument.
    fn take_group(&mut self) -> Option<Vec<String>> {
        let at = self.places.iter().position(|word| word.group)?;
        let text = self.places.remove(at).place.text;
        Some(text.trim_matches(['{', '}']).split(',').map(str::to_owned).collect())
    }
}

/// Where the arguments begin: behind the program, its interpreter if that is named, and the command.
fn start(tokens: &[String], command: Option<&str>) -> usize {
    const NEAR: usize = 4;
    let interpreted =
        tokens.first().is_some_and(|first| ["python", "python3", "node", "sh", "bash"].contains(&first.as_str()));
    let program = if interpreted { 2 } else { 1 };
    let named = |command| tokens.iter().take(program + NEAR).skip(program).position(|token| token == command);
    command.and_then(named).map_or(program, |at| program + at + 1)
}

struct Reader<'t> {
    tokens: &'t [String],
    at: usize,
    way: Way,
    values: &'t dyn Fn(&str) -> Option<usize>,
}

impl Reader<'_> {
    /// Reads up to the bracket that closes this level.
    fn sequence(&mut self, required: bool) {
        let required = required && !self.has_alternatives();
        while let Some(token) = self.tokens.get(self.at) {
            self.at += 1;
            match token.as_str() {
                "[" => self.sequence(false),
                "(" => self.sequence(required),
                "]" | ")" => return,
                "|" => {}
                "..." => self.repeat(),
                flag if flag.starts_with('-') => self.flag(flag, required),
                word => self.word(word, required),
            }
        }
    }

    /// Whether a `|` stands at the level that begins here.
    fn has_alternatives(&self) -> bool {
        let mut depth = 0_i32;
        for token in self.tokens.get(self.at..).unwrap_or_default() {
            match token.as_str() {
                "[" | "(" => depth += 1,
                "]" | ")" if depth == 0 => return false,
                "]" | ")" => depth -= 1,
                "|" if depth == 0 => return true,
                _ => {}
            }
        }
        false
    }

    fn repeat(&mut self) {
        if let Some(last) = self.way.places.last_mut() {
            if last.place.text.starts_with('{') {
                last.group = true;
            } else {
                last.place.repeated = true;
            }
        }
    }

    fn flag(&mut self, token: &str, required: bool) {
        let (flag, attached) = match token.split_once('=') {
            Some((flag, _)) => (flag, true),
            None => (token, false),
        };
        if flag.trim_matches('-').is_empty() {
            return;
        }
        self.way.flags.push((flag.to_owned(), required));
        let next = self.tokens.get(self.at).map(String::as_str).unwrap_or_default();
        let guessed = || usize::from(option::is_metavar(next) && !is_word_of_usage(next));
        let values = (self.values)(flag).unwrap_or_else(guessed);
        if attached || values == 0 {
            return;
        }
        // Its values: `NAME`, `[NAME]`, `W H`, `TAG [TAG ...]`.
        let value = next.to_owned();
        for _ in 0..values {
            self.at += usize::from(self.tokens.get(self.at).is_some_and(|token| is_value(token)));
        }
        let bracketed = |reader: &Self, offset: usize, text: &str| {
            reader.tokens.get(reader.at + offset).is_some_and(|token| token == text)
        };
        if bracketed(self, 0, "[") && (bracketed(self, 1, &value) || !is_value(&value)) && !self.is_flag(1) {
            while let Some(token) = self.tokens.get(self.at) {
                self.at += 1;
                if token == "]" {
                    break;
                }
            }
        }
    }

    fn is_flag(&self, offset: usize) -> bool {
        self.tokens.get(self.at + offset).is_some_and(|token| token.starts_with('-'))
    }

    fn word(&mut self, word: &str, required: bool) {
        if is_word_of_usage(word) {
            // What stands for options that are not named, or for a command.
            self.way.is_vague = true;
            let is_command = is_place_of_command(word);
            self.way.options_follow |= self.way.seen_command && !is_command;
            self.way.seen_command |= is_command;
            return;
        }
        let Some(name) = option::plain_name(word) else { return };
        if let Some(known) = self.way.places.iter_mut().find(|known| known.place.name == name) {
            known.place.repeated = true;
            return;
        }
        let literal = word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c));
        let place = Place { name, text: word.to_owned(), required, repeated: false };
        self.way.places.push(Word { place, literal, group: false });
    }
}

/// Whether a token may be an option's value.
fn is_value(token: &str) -> bool {
    !token.is_empty() && !matches!(token, "[" | "]" | "(" | ")" | "|" | "...") && !token.starts_with('-')
}

/// A word that stands for options or for a command.
fn is_word_of_usage(word: &str) -> bool {
    let bare = word.trim_matches(['<', '>']).to_ascii_lowercase();
    ["options", "option", "flags", "command", "subcommand", "args", "global-options", "command options"]
        .contains(&bare.as_str())
        && !(bare == "args" && word.starts_with('<'))
}

fn is_place_of_command(word: &str) -> bool {
    ["command", "subcommand"].contains(&word.trim_matches(['<', '>']).to_ascii_lowercase().as_str())
}

/// The brackets, bars, repetitions and words of a usage line.
fn tokens(line: &str) -> Vec<String> {
    // `--color[=WHEN]`: what is attached belongs to the option.
    let line = line.replace('…', "...").replace("[=", "=[").replace("--[no-]", "--").replace("--[no]", "--");
    let mut tokens = Vec::new();
    let mut word = String::new();
    let mut closing = None;
    let mut characters = line.chars().peekable();
    while let Some(c) = characters.next() {
        if let Some(close) = closing {
            word.push(c);
            closing = (c != close).then_some(close);
            continue;
        }
        let opens = match c {
            '<' => Some('>'),
            '{' => Some('}'),
            '[' if word.ends_with('=') => Some(']'),
            '(' if word.ends_with('=') => Some(')'),
            _ => None,
        };
        let dots = c == '.' && characters.peek() == Some(&'.');
        if opens.is_some() {
            closing = opens;
            word.push(c);
        } else if dots || c.is_whitespace() || "[](),|".contains(c) {
            if !word.is_empty() {
                tokens.push(std::mem::take(&mut word));
            }
            if dots {
                while characters.next_if_eq(&'.').is_some() {}
                tokens.push("...".to_owned());
            } else if !c.is_whitespace() && c != ',' {
                tokens.push(c.to_string());
            }
        } else {
            word.push(c);
        }
    }
    if !word.is_empty() {
        tokens.push(word);
    }
    tokens
}
