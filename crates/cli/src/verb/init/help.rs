//! From a program's help text to what it can do: a description, arguments, commands.
//!
//! Pure, and a reader of habits rather than of a format: argparse, clap, click, docopt, getopt and their like lay out help
//! in much the same way. Whatever fits none of the habits is left out and told, never guessed at. How a text is cut is
//! [`layout`]'s business, what a usage line says [`usage`]'s, what one option says [`option`]'s. Start at [`read`].

mod layout;
mod option;
mod remark;
mod usage;

use gatelatch_manifest::document::{ArgumentType, Repeat};
use gatelatch_manifest::lint::plain_line;
use gatelatch_manifest::nearest::fold;

use self::layout::{Item, Layout, Section};
use self::option::Spec;
use self::usage::{Place, Usage};
use super::draft::{Argument, LeftOut, humanised};

/// What a help text says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Help {
    pub(super) description: Option<String>,
    pub(super) arguments: Vec<Argument>,
    /// In the text's order.
    pub(super) commands: Vec<Command>,
    /// What a manifest cannot say.
    pub(super) left_out: Vec<LeftOut>,
    /// The names of options that stand before a command.
    pub(super) before_commands: Vec<String>,
}

/// A command of a program: its first argument.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Command {
    pub(super) name: String,
    pub(super) description: Option<String>,
}

/// Reads the help text of a program, or of one of its commands.
pub(super) fn read(text: &str, command: Option<&str>) -> Help {
    Reading::of(text, command).help(None)
}

/// Reads what the same text says of one command, where the program tells of all its commands at once.
pub(super) fn of_command(text: &str, command: &str) -> Help {
    Reading::of(text, None).help(Some(command))
}

/// Commands that only tell about the program, or set up a shell.
const ABOUT_HELP: [&str; 3] = ["help", "completion", "completions"];

/// Why a command cannot be an action: only one word is passed before the arguments.
pub(super) const NESTED: &str = "commands of their own, and one word alone can stand before the arguments";

/// Why a word behind a command is no argument.
const BARE: &str = "a bare word behind the command: an argument would be written `<NAME>`";

/// The longest description that is kept, in characters.
const LONGEST: usize = 240;

/// One line that a manifest may hold; `None` when nothing is left. What is long ends after a sentence, or with `…`.
pub(super) fn described(text: &str) -> Option<String> {
    let line = plain_line(text);
    if line.chars().count() <= LONGEST {
        return (!line.is_empty()).then_some(line);
    }
    let end = line.char_indices().nth(LONGEST).map_or(line.len(), |(at, _)| at);
    let head = line.get(..end).unwrap_or_default();
    match (head.rfind(". "), head.rfind(' ')) {
        (Some(sentence), _) => head.get(..=sentence).map(str::to_owned),
        (None, word) => head.get(..word.unwrap_or(end)).map(|cut| format!("{cut} …")),
    }
}

/// A text that was cut up.
struct Reading {
    layout: Layout,
    usage: Usage,
    options: Vec<(Spec, Item)>,
}

impl Reading {
    fn of(text: &str, command: Option<&str>) -> Reading {
        let layout = Layout::of(text);
        let of = |section| layout.items.iter().filter(move |item: &&Item| item.section == section);
        let spec = |item: &Item| Spec::parse(&item.spec, layout.single_dash, is_all_spec(item, &layout.usage));
        let options: Vec<(Spec, Item)> = of(Section::Options).map(|item| (spec(item), item.clone())).collect();
        let named: Vec<String> = of(Section::Arguments).filter_map(|item| option::plain_name(&item.spec)).collect();
        let values = |flag: &str| options.iter().map(|(spec, _)| spec).find(|spec| spec.is(flag));
        let usage = Usage::of(&layout.usage, &values, &named, command);
        Reading { usage, options, layout }
    }

    fn help(&self, command: Option<&str>) -> Help {
        let mut help = Help { description: self.layout.description(), ..Help::default() };
        let usage = match command {
            Some(command) => self.usage_of(command, &mut help),
            None => self.usage.clone(),
        };
        help.commands = self.commands();
        self.add_positionals(&usage, &mut help);
        // What stands before a command cannot be passed after it.
        if command.is_some() || help.commands.is_empty() {
            self.add_options(&usage, command.is_some(), &mut help);
        } else {
            let options = self.options.iter().filter(|(spec, _)| !spec.is_about_help());
            help.before_commands =
                options.filter_map(|(spec, _)| spec.argument().ok()).map(|found| found.name).collect();
        }
        if usage.nested {
            help.left_out.push(LeftOut::new("", NESTED));
        }
        help
    }

    /// How one of the commands is called: as the usage says, or else as the list of commands does.
    fn usage_of(&self, command: &str, help: &mut Help) -> Usage {
        let usage = self.usage.of_command(command);
        if self.usage.knows(command) {
            return usage;
        }
        let program = self.program_before_commands();
        let specs = self.layout.items.iter().filter(|item| item.section == Section::Commands);
        let mut specs = specs.map(|item| (without_program(&item.spec, program), item.text.is_empty()));
        let Some((spec, is_run_on)) = specs.find(|(spec, _)| command_name(spec) == Some(command)) else { return usage };
        let mut words = behind_names(spec);
        if is_run_on {
            // Prose may follow that only one space parts from it.
            words.truncate(leading_brackets(words.as_str()));
        }
        let described = |flag: &str| self.options.iter().map(|(spec, _)| spec).find(|spec| spec.is(flag));
        let (mut listed, bare) = Usage::of_listed(&words, &described);
        help.left_out.extend(bare.into_iter().map(|word| LeftOut::new(word, BARE)));
        listed.is_vague |= usage.is_vague;
        listed
    }

    fn commands(&self) -> Vec<Command> {
        let listed = self.layout.items.iter().filter(|item| item.section == Section::Commands);
        let mut commands: Vec<Command> = Vec::new();
        let mut add = |name: &str, description: Option<String>| {
            if !ABOUT_HELP.contains(&name) && !commands.iter().any(|known| known.name == name) {
                commands.push(Command { name: name.to_owned(), description });
            }
        };
        let program = self.program_before_commands();
        for item in listed {
            let spec = without_program(&item.spec, program);
            if item.text.is_empty() && item.spec.matches(',').count() > 1 {
                // Nothing but names.
                item.spec.split(',').filter_map(command_name).for_each(|name| add(name, None));
            } else if let Some(name) = command_name(spec) {
                add(name, described(&remark::without(&item.text)));
            }
        }
        for name in &self.usage.commands {
            add(name, None);
        }
        commands
    }

    /// The program's own name where it stands before each of its commands, as yargs has it.
    fn program_before_commands(&self) -> Option<&str> {
        let listed = || self.layout.items.iter().filter(|item| item.section == Section::Commands);
        let first = listed().next()?.spec.split(' ').next()?;
        let everywhere = listed().all(|item| item.spec.split(' ').next() == Some(first) && item.spec.contains(' '));
        (everywhere && (layout::is_script(first) || listed().count() > 1)).then_some(first)
    }

    fn add_positionals(&self, usage: &Usage, help: &mut Help) {
        let items = || self.layout.items.iter().filter(|item| item.section == Section::Arguments);
        let item_of =
            |name: &str| items().find(|item| option::plain_name(&item.spec).is_some_and(|n| fold(&n) == fold(name)));
        let listed: Vec<Place> = items().filter_map(|item| Place::of_item(&item.spec)).collect();
        let places = if usage.places.is_empty() && usage.is_vague { &listed } else { &usage.places };
        for place in places {
            let item = item_of(&place.name);
            let mut argument = Argument { positional: true, required: place.required, ..Argument::named(&place.name) };
            argument.repeat = place.repeated.then_some(Repeat::Value);
            option::take_metavar(&place.text, &mut argument);
            if let Some(item) = item {
                option::take_metavar(&item.spec, &mut argument);
                remark::take(&item.text, &mut argument);
            }
            argument.required = place.required && argument.default.is_none();
            add(argument, help);
        }
        order_positionals(help);
    }

    fn add_options(&self, usage: &Usage, only_named: bool, help: &mut Help) {
        for (spec, item) in &self.options {
            if spec.is_about_help() || (only_named && !usage.is_vague && !usage.names(spec)) {
                continue;
            }
            let mut argument = match spec.argument() {
                Ok(argument) => argument,
                Err(why) => {
                    help.left_out.push(why);
                    continue;
                }
            };
            remark::take(&item.text, &mut argument);
            argument.required |= usage.requires(spec);
            argument.required &= argument.default.is_none();
            help.left_out.extend(spec.left_out());
            add(argument, help);
        }
        for (flag, value) in &usage.undescribed {
            let mut argument = Argument::named(flag);
            match value {
                Some(value) => option::take_metavar(value, &mut argument),
                None => argument.kind = ArgumentType::Boolean,
            }
            argument.required = usage.demands(&format!("--{flag}"));
            add(argument, help);
        }
    }
}

/// Whether what stands behind an option can only be its value: one word that a column parts from the text, or the words
/// that the usage has behind it too.
fn is_all_spec(item: &Item, usage: &[String]) -> bool {
    let Some((flag, words)) = option::words_behind(&item.spec) else { return false };
    match words.as_slice() {
        [] => false,
        [_] if !item.text.is_empty() => true,
        words => usage::has_behind(usage, &flag, words),
    }
}

/// Adds an argument; a second of the same name makes the first negatable where it is its negation, and is left out
/// otherwise.
fn add(mut argument: Argument, help: &mut Help) {
    let boolean = argument.kind == ArgumentType::Boolean;
    let base = argument.name.strip_prefix("no-").map(str::to_owned);
    if let (true, Some(base)) = (boolean, base)
        && let Some(known) =
            help.arguments.iter_mut().find(|known| known.name == base && known.kind == ArgumentType::Boolean)
    {
        known.negatable = true;
        return;
    }
    let negation = format!("no-{}", argument.name);
    if boolean && let Some(known) = help.arguments.iter_mut().find(|known| known.name == negation) {
        argument.negatable = true;
        *known = argument;
        return;
    }
    if help.arguments.iter().any(|known| fold(&known.name) == fold(&argument.name)) {
        if !argument.positional && help.arguments.iter().any(|known| known.name == argument.name && known.positional) {
            // The name of a positional is ours to choose; an option's is the program's.
            for known in help.arguments.iter_mut().filter(|known| known.name == argument.name) {
                known.name.push_str("-argument");
            }
        } else {
            help.left_out.push(LeftOut::new(&*argument.name, "a second one of that name"));
            return;
        }
    }
    help.arguments.push(argument);
}

/// A required argument cannot follow an optional one by place.
fn order_positionals(help: &mut Help) {
    let mut optional = false;
    for argument in help.arguments.iter_mut().filter(|argument| argument.positional) {
        optional |= !argument.required;
        argument.required &= !optional;
    }
}

fn without_program<'s>(spec: &'s str, program: Option<&str>) -> &'s str {
    program.map_or(spec, |program| spec.trim_start_matches(program).trim_start())
}

/// What stands behind a listed command and its other names: `list, ls <ID>` has `<ID>`.
fn behind_names(spec: &str) -> String {
    let mut rest = spec.trim();
    while let Some(end) = rest.find([' ', ',', '|']) {
        let (_, after) = rest.split_at(end);
        if after.starts_with(' ') {
            return after.trim_start().to_owned();
        }
        rest = after.trim_start_matches([',', '|', ' ']);
    }
    String::new()
}

/// How many bytes the words in brackets take that a text begins with.
fn leading_brackets(text: &str) -> usize {
    let mut depth = 0_i32;
    for (at, c) in text.char_indices() {
        match c {
            '<' | '[' | '{' => depth += 1,
            '>' | ']' | '}' => depth -= 1,
            c if depth <= 0 && c != '.' && !c.is_whitespace() => return at,
            _ => {}
        }
    }
    text.len()
}

/// The name of a listed command: `list`, `list, ls`, `list <ID>`, `pr:`.
fn command_name(spec: &str) -> Option<&str> {
    let first = spec.trim().split([' ', ',', '|']).next()?.trim_end_matches(['*', ':']);
    let plain = first.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
        && first.chars().all(|c| c.is_ascii_alphanumeric() || "-_.:".contains(c));
    plain.then_some(first)
}

/// A sentence for a command of which the help says nothing.
pub(super) fn from_name(name: &str) -> String {
    humanised(name)
}

#[cfg(test)]
mod tests;
