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

/// Whether a usage line has these words behind an option: `[--at LAT lon]`.
pub(super) fn has_behind(lines: &[String], flag: &str, words: &[String]) -> bool {
    let words = tokens(&words.join(" "));
    lines.iter().any(|line| {
        let tokens = tokens(line);
        let named = |at: usize| tokens.get(at).is_some_and(|token| token == flag);
        (0..tokens.len()).any(|at| named(at) && tokens.get(at + 1..).is_some_and(|rest| rest.starts_with(&words)))
    })
}

/// What a usage line says of an option.
#[derive(Clone, Debug, PartialEq)]
struct Flag {
    name: String,
    required: bool,
    /// What stands for its value.
    value: Option<String>,
}

/// What knows an option by its name, if it is described.
pub(super) type Described<'s> = dyn Fn(&str) -> Option<&'s Spec> + 's;

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
    /// Long options that are described nowhere else, each with what stands for its value.
    pub(super) undescribed: Vec<(String, Option<String>)>,
    /// Every option that is named.
    flags: Vec<Flag>,
    /// The ways to call it, each with its first command.
    ways: Vec<(Option<String>, Way)>,
}

impl Usage {
    /// Reads usage lines. `described` knows the options that are described elsewhere, `named` are the arguments that are; `command` is the one that the lines are about.
    pub(super) fn of(lines: &[String], described: &Described<'_>, named: &[String], command: Option<&str>) -> Usage {
        let mut ways: Vec<Way> = lines.iter().map(|line| Way::of(line, described, command)).collect();
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
        let mut usage = Usage::together(&ways.iter().map(|(_, way)| way).collect::<Vec<_>>(), described);
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
        let mut usage = Usage::together(&ways, &|_| None);
        // `x COMMAND [OPTIONS]` speaks of every command.
        usage.is_vague |= ways.is_empty() && self.options_follow;
        usage.undescribed.clear();
        usage.nested = ways.iter().any(|way| way.places.iter().any(|place| place.literal));
        usage
    }

    /// Whether usage lines begin with this command.
    pub(super) fn knows(&self, command: &str) -> bool {
        self.ways.iter().any(|(own, _)| own.as_deref() == Some(command))
    }

    /// What stands behind a command in a list of commands, and the bare words in it, of which nobody can say whether they
    /// stand for themselves.
    pub(super) fn of_listed(text: &str, described: &Described<'_>) -> (Usage, Vec<String>) {
        let mut way = Way::of(&format!("x {text}"), described, None);
        let (bare, places) = way.places.into_iter().partition(|word: &Word| word.literal && word.place.required);
        way.places = places;
        (Usage::together(&[&way], described), bare.into_iter().map(|word: Word| word.place.text).collect())
    }

    /// Whether an option must be given.
    pub(super) fn requires(&self, spec: &Spec) -> bool {
        self.flags.iter().any(|flag| flag.required && spec.is(&flag.name))
    }

    /// The same of one that is described nowhere else.
    pub(super) fn demands(&self, name: &str) -> bool {
        self.flags.iter().any(|flag| flag.required && flag.name == name)
    }

    /// Whether an option is named.
    pub(super) fn names(&self, spec: &Spec) -> bool {
        self.flags.iter().any(|flag| spec.is(&flag.name))
    }

    /// Several ways to call it as one: what every one of them demands is required.
    fn together(ways: &[&Way], described: &Described<'_>) -> Usage {
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
            for flag in &way.flags {
                if !usage.flags.iter().any(|known| known.name == flag.name) {
                    usage.flags.push(flag.clone());
                }
            }
        }
        let every_way = |test: &dyn Fn(&Way) -> bool| ways.iter().all(|way| test(way));
        for place in &mut usage.places {
            place.required = every_way(&|way| {
                way.places.iter().any(|other| fold(&other.place.name) == fold(&place.name) && other.place.required)
            });
        }
        for flag in &mut usage.flags {
            flag.required = every_way(&|way| way.flags.iter().any(|other| other.name == flag.name && other.required));
        }
        let undescribed = usage.flags.iter().filter(|flag| described(&flag.name).is_none());
        usage.undescribed = undescribed
            .filter_map(|flag| Some((flag.name.strip_prefix("--")?.to_owned(), flag.value.clone())))
            .filter(|(name, _)| ARGUMENT_NAME.fits(name) && !matches!(name.as_str(), "help" | "version"))
            .collect();
        usage
    }
}

/// One way to call it.
#[derive(Clone, Debug, Default, PartialEq)]
struct Way {
    places: Vec<Word>,
    flags: Vec<Flag>,
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
    fn of(line: &str, described: &Described<'_>, command: Option<&str>) -> Way {
        let tokens = tokens(line);
        let mut reader = Reader { tokens: &tokens, at: start(&tokens, command), way: Way::default(), described };
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

struct Reader<'t, 's> {
    tokens: &'t [String],
    at: usize,
    way: Way,
    described: &'t Described<'s>,
}

impl Reader<'_, '_> {
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
        let next = self.tokens.get(self.at).cloned().unwrap_or_default();
        let spec = (self.described)(flag);
        let guessed = || match self.words_in_brackets() {
            0 => usize::from(option::is_metavar(&next) && !is_word_of_usage(&next)),
            several => several,
        };
        let values = spec.map_or_else(guessed, Spec::values);
        let value = match token.split_once('=') {
            Some((_, value)) => Some(value.to_owned()),
            None => (values > 0 && is_value(&next)).then(|| next.clone()),
        };
        self.way.flags.push(Flag { name: flag.to_owned(), required, value });
        if attached || values == 0 {
            return;
        }
        // As the description has it, bars and brackets included.
        let behind = tokens(&spec.map(Spec::values_behind).unwrap_or_default());
        if !behind.is_empty() && self.tokens.get(self.at..).is_some_and(|rest| rest.starts_with(&behind)) {
            self.at += behind.len();
            return;
        }
        // Its values: `NAME`, `[NAME]`, `W H`, `TAG [TAG ...]`.
        for _ in 0..values {
            self.at += usize::from(self.tokens.get(self.at).is_some_and(|token| is_value(token)));
        }
        let bracketed = |reader: &Self, offset: usize, text: &str| {
            reader.tokens.get(reader.at + offset).is_some_and(|token| token == text)
        };
        if bracketed(self, 0, "[") && (bracketed(self, 1, &next) || !is_value(&next)) && !self.is_flag(1) {
            while let Some(token) = self.tokens.get(self.at) {
                self.at += 1;
                if token == "]" {
                    break;
                }
            }
        }
    }

    /// How many words fill the brackets behind an option that opens them: `[--at LAT lon]`.
    fn words_in_brackets(&self) -> usize {
        let token = |at: usize| self.tokens.get(at).map(String::as_str).unwrap_or_default();
        let opened = self.at.checked_sub(2).is_some_and(|before| matches!(token(before), "[" | "|"));
        let words = (self.at..self.tokens.len()).take_while(|at| is_value(token(*at))).count();
        let closed = matches!(token(self.at + words), "]" | "|");
        if opened && closed { words } else { 0 }
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

fn is_option_alone(token: &str) -> bool {
    token.starts_with('-') && !token.contains('=')
}

/// The brackets, bars, repetitions and words of a usage line.
fn tokens(line: &str) -> Vec<String> {
    // `--color[=WHEN]`: what is attached belongs to the option.
    let line = line.replace('…', "...").replace("[=", "=[").replace("--[no-]", "--").replace("--[no]", "--");
    let mut tokens: Vec<String> = Vec::new();
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
        // One value or another of a kind of its own: `--from URL|FILE`.
        let next = characters.peek().copied().unwrap_or(' ');
        let shouts = !word.is_empty() && word.chars().all(|c| !c.is_lowercase() && c != '-');
        let of_an_option =
            !word.is_empty() && !word.starts_with('-') && tokens.last().is_some_and(|token| is_option_alone(token));
        let joins = c == '|' && ((shouts && next.is_uppercase()) || (of_an_option && next.is_alphanumeric()));
        if opens.is_some() || joins {
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
