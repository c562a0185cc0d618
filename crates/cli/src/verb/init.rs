//! `gatelatch init COMMAND`: a first manifest for a script or program that exists already.
//!
//! Owns the order of things: what is asked, what is written where, what is told at the end. What the words name is
//! [`program`]'s business, asking it [`probe`]'s, reading its answer [`help`]'s, what stands in the manifest [`draft`]'s.
//! No effect is ever made up: where the name does not say it, the line is written as a comment. Start at [`init`].

pub(super) mod draft;
mod help;
mod probe;
mod program;
mod skill;
mod source;
mod talk;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use anyhow::Context;
use gatelatch_manifest::document::{Kind, Runtime};
use gatelatch_manifest::effect::Effect;
use gatelatch_manifest::read::Beside;
use gatelatch_manifest::reference::{ACTION_NAME, ENTRY_NAME};
use tokio_util::sync::CancellationToken;

use self::draft::{Action, Draft, LeftOut, Stance, humanised, runtime_word, sentence};
use self::help::Help;
use self::probe::{NoHelp, Probe};
use self::program::Program;
use self::talk::Talk;
use crate::exit::{Code, UsageError};
use crate::options::{InitOptions, Place, ShownKind};
use crate::settings::{Environment, Settings};
use crate::verb::{print, serving::stop_on_signal, working_folder};

/// Where entries go when no catalog is set.
const CATALOG: &str = "mine";
/// How many commands of a program are asked for their help.
const MOST_COMMANDS: usize = 40;

/// Writes the manifest and tells what was inferred, what was left out and what to do next.
pub(crate) fn init(place: &Place, environment: &Environment, options: &InitOptions) -> anyhow::Result<Code> {
    let folder = working_folder()?;
    let catalogs = Settings::catalogs_named(place, environment, &folder)?;
    let heard = !options.yes && std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    let (mut input, mut output) = (std::io::stdin().lock(), std::io::stderr());
    let talk = if heard { Talk::with(&mut input, &mut output) } else { Talk::silent() };
    let catalog = catalogs.first().map(|catalog| folder.join(catalog));
    let mut setting = Setting { folder, catalog, named: !place.catalog.is_empty(), talk };
    let done = match options.kind {
        ShownKind::Tool => entry(Kind::Tool, environment, options, &mut setting),
        ShownKind::Agent => entry(Kind::Agent, environment, options, &mut setting),
        ShownKind::Skill => skill::write(options, &mut setting),
    };
    match done {
        Err(error) if is_end_of_input(&error) => {
            Err(UsageError::new("the questions were not answered", "nothing was written; --yes asks none").into())
        }
        other => other,
    }
}

/// Where things are, and who may be asked.
struct Setting<'t> {
    folder: PathBuf,
    /// The first catalog that flags or settings name.
    catalog: Option<PathBuf>,
    /// Whether a flag named it, so that the next command needs the flag as well.
    named: bool,
    talk: Talk<'t>,
}

impl Setting<'_> {
    /// The catalog that gets the entry, asked for where none is set.
    fn catalog(&mut self) -> anyhow::Result<PathBuf> {
        match &self.catalog {
            Some(catalog) => Ok(catalog.clone()),
            None => Ok(self.folder.join(self.talk.ask("catalog folder", CATALOG, &|_| None)?)),
        }
    }

    /// A path as short as it can be told from here.
    fn shown<'p>(&self, path: &'p Path) -> std::path::Display<'p> {
        path.strip_prefix(&self.folder).unwrap_or(path).display()
    }

    /// The command with which what was written is served.
    fn served(&self, catalog: &Path) -> String {
        let set = !self.named && self.catalog.as_deref() == Some(catalog);
        let shown = self.shown(catalog).to_string();
        match (set, shown.contains(' ')) {
            (true, _) => "gatelatch".to_owned(),
            (false, true) => format!("gatelatch --catalog \"{shown}\""),
            (false, false) => format!("gatelatch --catalog {shown}"),
        }
    }
}

fn is_end_of_input(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::UnexpectedEof)
}

/// A tool or an agent.
fn entry(
    kind: Kind,
    environment: &Environment,
    options: &InitOptions,
    setting: &mut Setting<'_>,
) -> anyhow::Result<Code> {
    let program = Program::find(&options.command, environment, &setting.folder)?;
    let home = Home::find(kind, options, &program, setting)?;
    let (help, asked) = ask_program(&program, environment, options, setting)?;
    let description = description(&program, &help.whole, options, setting)?;
    let files = if home.is_here { &[] } else { program.files.as_slice() };
    let beside = |path: &str| beside(&home.folder, &program.files, path);
    let (draft, mut left_out) = help.into_draft(kind, &home.name, description, &program);
    let Some((draft, given_up)) = draft.fitted(&beside) else {
        let help = "write the manifest by hand; `gatelatch skill write-a-manifest` tells how";
        return Err(UsageError::new(format!("no manifest for `{}` would load", program.shown), help).into());
    };
    left_out.extend(asked.into_iter().chain(given_up).chain(program.notes.iter().cloned()));
    let manifest = home.folder.join(kind.file());
    if !setting.talk.agrees(&format!("write {}?", setting.shown(&manifest)))? {
        return Err(UsageError::new("nothing was written", "run it again to write it").into());
    }
    write(&home.folder, &manifest, &draft.text(), files)?;
    report(&Report {
        setting,
        home: &home,
        draft: &draft,
        program: &program,
        left_out: &left_out,
        manifest: &manifest,
    })?;
    Ok(Code::Done)
}

/// The entry's folder and name.
struct Home {
    catalog: PathBuf,
    folder: PathBuf,
    name: String,
    /// Whether the script lies there already.
    is_here: bool,
}

impl Home {
    fn find(kind: Kind, options: &InitOptions, program: &Program, setting: &mut Setting<'_>) -> anyhow::Result<Home> {
        let here = program.files.first().and_then(|(path, _)| folder_of_entry(kind, path));
        if let Some((catalog, folder, name)) = here {
            let home = Home { catalog, folder, name, is_here: true };
            if options.name.as_ref().is_some_and(|name| *name != home.name) {
                let help = format!("leave --name away, or rename the folder `{}`", home.name);
                return Err(UsageError::new("an entry is named as the folder that it lies in", help).into());
            }
            return home.free(kind, setting);
        }
        let fault = |name: &str| (!ENTRY_NAME.fits(name)).then(|| format!("a name has {}", ENTRY_NAME.in_words));
        let name = match &options.name {
            Some(name) => name.clone(),
            None => setting.talk.ask("name", &program.name, &fault)?,
        };
        if let Some(fault) = fault(&name) {
            return Err(UsageError::new(format!("`{name}` is no entry's name"), fault).into());
        }
        let catalog = setting.catalog()?;
        let folder = catalog.join(kind.folder()).join(&name);
        Home { catalog, folder, name, is_here: false }.free(kind, setting)
    }

    /// The home, unless something stands there already.
    fn free(self, kind: Kind, setting: &Setting<'_>) -> anyhow::Result<Home> {
        let taken = if self.is_here { self.folder.join(kind.file()) } else { self.folder.clone() };
        if taken.symlink_metadata().is_ok() {
            let help = "nothing is overwritten; give another --name, or remove it first";
            return Err(UsageError::new(format!("`{}` is there already", setting.shown(&taken)), help).into());
        }
        Ok(self)
    }
}

/// The catalog, folder and name of the entry whose folder a script lies in, if it lies in one.
fn folder_of_entry(kind: Kind, script: &Path) -> Option<(PathBuf, PathBuf, String)> {
    let folder = script.parent()?;
    let name = folder.file_name()?.to_str().filter(|name| ENTRY_NAME.fits(name))?;
    let shelf = folder.parent()?;
    let catalog = shelf.parent()?;
    (shelf.file_name()? == kind.folder()).then(|| (catalog.to_owned(), folder.to_owned(), name.to_owned()))
}

/// What a program and its commands told.
#[derive(Default)]
struct Told {
    whole: Help,
    /// Each command that a manifest can have, with its own help.
    commands: Vec<(String, Help)>,
    left_out: Vec<LeftOut>,
}

impl Told {
    fn into_draft(self, kind: Kind, name: &str, description: String, program: &Program) -> (Draft, Vec<LeftOut>) {
        let mut left_out = self.left_out;
        let mut actions: Vec<Action> = Vec::new();
        for (command, help) in self.commands {
            let scoped = |left: LeftOut| LeftOut { what: format!("{command} {}", left.what), ..left };
            left_out.extend(help.left_out.into_iter().map(scoped));
            let description = help.description.map_or_else(|| humanised(&command), |text| sentence(&text));
            actions.push(Action { name: Some(command), description, arguments: help.arguments });
        }
        if actions.is_empty() {
            left_out.extend(self.whole.left_out);
            actions.push(Action { name: None, description: description.clone(), arguments: self.whole.arguments });
        }
        let (runtime, entrypoint) = (program.runtime, program.entrypoint.clone());
        (Draft { kind, name: name.to_owned(), description, runtime, entrypoint, actions }, left_out)
    }
}

/// Asks the program for its help, and each of its commands, unless that is not wanted or not safe.
fn ask_program(
    program: &Program,
    environment: &Environment,
    options: &InitOptions,
    setting: &mut Setting<'_>,
) -> anyhow::Result<(Told, Option<LeftOut>)> {
    let unasked = |why: &str| (Told::named(&program.wanted), Some(LeftOut::new("arguments", why)));
    if options.no_run {
        return Ok(unasked("the program was not started"));
    }
    if !program.answers_help {
        return Ok(unasked("the script's text shows no `--help`, so that starting it to ask would run it"));
    }
    let question = format!("run `{} --help` to learn its arguments?", program.shown);
    if setting.talk.is_heard() && !setting.talk.agrees(&question)? {
        return Ok(unasked("the program was not started"));
    }
    let probe = Probe::new(program.start.clone(), environment)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let told = runtime.block_on(async {
        let cancelled = CancellationToken::new();
        tokio::spawn(stop_on_signal(cancelled.clone()));
        let told = ask_all(program, &probe, &cancelled).await;
        (!cancelled.is_cancelled()).then_some(told)
    });
    match told {
        Some(Ok(told)) => Ok((told, None)),
        Some(Err(why @ NoHelp::Failed { .. })) => {
            let help = "mend that and run it again; with --no-run the program is not started, and the arguments are yours \
                        to write";
            Err(anyhow::anyhow!("`{} --help` {why}; nothing was written\n  help: {help}", program.shown))
        }
        Some(Err(why)) => Ok(unasked(&format!("`{} --help` {why}", program.shown))),
        None => Err(UsageError::new("interrupted", "nothing was written").into()),
    }
}

impl Told {
    /// Nothing but the commands that somebody named.
    fn named(wanted: &[String]) -> Told {
        let commands = wanted.iter().map(|name| (name.clone(), Help::default())).collect();
        Told { commands, ..Told::default() }
    }
}

async fn ask_all(program: &Program, probe: &Probe, cancelled: &CancellationToken) -> Result<Told, NoHelp> {
    let text = probe.help(&[], cancelled).await?;
    let whole = help::read(&text, None);
    let mut told = Told::default();
    let listed =
        whole.commands.iter().filter(|command| program.wanted.is_empty() || program.wanted.contains(&command.name));
    let mut commands: Vec<help::Command> = listed.cloned().collect();
    for name in &program.wanted {
        if !commands.iter().any(|command| command.name == *name) {
            commands.push(help::Command { name: name.clone(), description: None });
        }
    }
    if commands.len() > MOST_COMMANDS {
        let rest = commands.split_off(MOST_COMMANDS).len();
        told.left_out.push(LeftOut::new(
            format!("{rest} more commands"),
            "too many; name those that are wanted behind the program",
        ));
    }
    for command in commands {
        if !ACTION_NAME.fits(&command.name) {
            told.left_out.push(LeftOut::new(command.name, "a name that no action may have"));
            continue;
        }
        let own = probe.help(&[&command.name], cancelled).await.ok().filter(|own| *own != text);
        let mut found = match &own {
            Some(own) => help::read(own, Some(&command.name)),
            // A program that tells of all its commands at once.
            None => help::of_command(&text, &command.name),
        };
        let nested = !found.commands.is_empty() && own.is_some();
        if nested || found.left_out.iter().any(|left| left.why == help::NESTED) {
            told.left_out.push(LeftOut::new(command.name, help::NESTED));
            continue;
        }
        source::amend(&mut found.arguments, &program.declared);
        found.description = command.description.or(found.description.filter(|_| own.is_some()));
        told.commands.push((command.name, found));
    }
    let is_taken = |name: &str| {
        let mut arguments = told.commands.iter().flat_map(|(_, help)| &help.arguments);
        arguments.any(|argument| argument.name == name)
    };
    let before = whole.before_commands.iter().filter(|name| !is_taken(name));
    let why = "before the command, and arguments are passed behind it";
    let before: Vec<LeftOut> = before.map(|name| LeftOut::new(format!("--{name}"), why)).collect();
    told.left_out.extend(before);
    told.whole = whole;
    source::amend(&mut told.whole.arguments, &program.declared);
    Ok(told)
}

fn description(
    program: &Program,
    help: &Help,
    options: &InitOptions,
    setting: &mut Setting<'_>,
) -> anyhow::Result<String> {
    if let Some(text) = &options.description {
        return help::described(text)
            .ok_or_else(|| UsageError::new("--description is empty", "say in one line what the entry does").into());
    }
    let found = help.description.clone().or_else(|| program.summary.clone());
    let default = found.map_or_else(|| format!("Run {}.", program.shown), |text| sentence(&text));
    let answer = setting.talk.ask("description", &default, &|_| None)?;
    Ok(help::described(&answer).unwrap_or(default))
}

/// What stands beside the manifest once it is written.
fn beside(folder: &Path, files: &[(PathBuf, String)], path: &str) -> Beside {
    let name = path.trim_start_matches("./");
    if files.iter().any(|(_, file)| file == name) {
        return Beside::File;
    }
    match std::fs::metadata(folder.join(path)) {
        Ok(metadata) if metadata.is_file() => Beside::File,
        Ok(metadata) if metadata.is_dir() => Beside::Folder,
        Ok(_) | Err(_) => Beside::Nothing,
    }
}

/// Writes the files and, last, the manifest; when one fails, what was written goes again.
fn write(folder: &Path, manifest: &Path, text: &str, files: &[(PathBuf, String)]) -> anyhow::Result<()> {
    let fresh = !folder.exists();
    let written = || -> anyhow::Result<()> {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make `{}`", folder.display()))?;
        for (from, name) in files {
            let to = folder.join(name);
            std::fs::copy(from, &to).with_context(|| format!("cannot copy `{}`", from.display()))?;
        }
        make_executable(folder, files)?;
        let mut file = std::fs::OpenOptions::new().write(true).create_new(true).open(manifest)?;
        std::io::Write::write_all(&mut file, text.as_bytes())?;
        Ok(())
    };
    let done = written().with_context(|| format!("cannot write `{}`", manifest.display()));
    if done.is_err() && fresh {
        // Nothing stood there before.
        let _ = std::fs::remove_dir_all(folder);
    }
    done
}

/// A script that is its own program must be one that may be run, whatever the original's mode.
#[cfg(unix)]
fn make_executable(folder: &Path, files: &[(PathBuf, String)]) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let Some((from, name)) = files.first() else { return Ok(()) };
    let starts_itself = std::fs::read(from)?.starts_with(b"#!");
    let path = folder.join(name);
    let mode = std::fs::metadata(&path)?.permissions().mode() | if starts_itself { 0o700 } else { 0o600 };
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn make_executable(_folder: &Path, _files: &[(PathBuf, String)]) -> std::io::Result<()> {
    Ok(())
}

/// What is told at the end.
struct Report<'r, 't> {
    setting: &'r Setting<'t>,
    home: &'r Home,
    draft: &'r Draft,
    program: &'r Program,
    left_out: &'r [LeftOut],
    manifest: &'r Path,
}

fn report(report: &Report<'_, '_>) -> anyhow::Result<()> {
    let Report { setting, home, draft, program, left_out, manifest } = report;
    print(&format!("wrote {}", setting.shown(manifest)))?;
    let runtime = runtime_word(draft.runtime);
    match program.files.first() {
        Some((original, _)) if !home.is_here => {
            let names: Vec<&str> = program.files.iter().map(|(_, name)| name.as_str()).collect();
            print(&format!(
                "copied {} beside it; {} stays as it is, and edits to it do not reach the copy",
                names.join(", "),
                setting.shown(original)
            ))?;
            print(&in_place(program, original))?;
        }
        _ if draft.runtime == Runtime::Process => {
            print(&format!("it runs {} where it is installed", draft.entrypoint))?
        }
        _ => {}
    }
    if let Some(interpreter) = &program.own_interpreter {
        print(&format!(
            "it runs as its first line says, by {interpreter}; that path must stay, and exist wherever the catalog is served"
        ))?;
    }
    print(&format!("\n{} ({runtime}): {}", draft.name, draft.description))?;
    for action in &draft.actions {
        print(&format!("  {}", told(draft, action)))?;
    }
    if !left_out.is_empty() {
        print("\nleft out:")?;
        for line in grouped(left_out) {
            print(&format!("  {line}"))?;
        }
    }
    print("\nnext:")?;
    for command in next(draft, &setting.served(&home.catalog)) {
        print(&format!("  {command}"))?;
    }
    Ok(())
}

/// How a script is run where it lies instead of as a copy.
fn in_place(program: &Program, original: &Path) -> String {
    let line = match program.language {
        Runtime::Python => "a first line such as `#!/usr/bin/env python3` and ",
        Runtime::Node => "a first line such as `#!/usr/bin/env node` and ",
        Runtime::Process | Runtime::Builtin => "",
    };
    let needs =
        if program.starts_itself { String::new() } else { format!("give it {line}leave to be run (`chmod +x`), ") };
    let entrypoint = original.display();
    format!(
        "to run it where it lies, {needs}write `runtime: process` and `entrypoint: {entrypoint}`, and remove the copy"
    )
}

/// What was left out, one line for each reason.
fn grouped(left_out: &[LeftOut]) -> Vec<String> {
    /// How many things are named for one reason.
    const MOST: usize = 6;
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for LeftOut { what, why } in left_out {
        match groups.iter_mut().find(|(known, _)| known == why) {
            Some((_, group)) if group.contains(&what.trim()) => {}
            Some((_, group)) => group.push(what.trim()),
            None => groups.push((why, vec![what.trim()])),
        }
    }
    let line = |(why, whats): (&str, Vec<&str>)| {
        let named = whats.iter().take(MOST).copied().collect::<Vec<_>>().join(", ");
        let more = whats.len().saturating_sub(MOST);
        if more > 0 { format!("{named} and {more} more: {why}") } else { format!("{named}: {why}") }
    };
    groups.into_iter().map(line).collect()
}

/// One action on one line: its name, what a run of it means, its arguments.
fn told(draft: &Draft, action: &Action) -> String {
    let verdict = match draft.stance(action) {
        Stance::Name(Effect::ReadOnly) => "runs, since its name says that it only reads".to_owned(),
        Stance::Name(Effect::Reversible) => "runs, since its name says that it can be undone".to_owned(),
        Stance::Name(Effect::Irreversible) => "asks a human, since its name says that it cannot be undone".to_owned(),
        Stance::Unsaid => "asks a human until `effect:` says what it does".to_owned(),
        Stance::Argument(name, effect) => {
            format!("counts as {effect}, since `{name}` may do more than the name says; without it the name decides")
        }
    };
    let arguments: Vec<String> = action
        .arguments
        .iter()
        .map(|argument| format!("{}{}", argument.name, if argument.required { "" } else { "?" }))
        .collect();
    let name = action.name.as_deref().unwrap_or(&draft.name);
    let arguments = if arguments.is_empty() { "no arguments".to_owned() } else { arguments.join(", ") };
    format!("{name}: {arguments}; {verdict}")
}

fn next(draft: &Draft, gatelatch: &str) -> [String; 3] {
    let action = draft
        .actions
        .iter()
        .find(|action| matches!(draft.stance(action), Stance::Name(Effect::ReadOnly)))
        .or_else(|| draft.actions.first());
    let mut call = format!("{gatelatch} {} {}", if draft.kind == Kind::Agent { "agent" } else { "run" }, draft.name);
    if let Some(action) = action {
        action.name.iter().for_each(|name| call.push_str(&format!(" {name}")));
        for argument in action.arguments.iter().filter(|argument| argument.required) {
            call.push_str(&format!(" --arg {}=…", argument.name));
        }
    }
    [format!("{gatelatch} check"), format!("{call} --dry-run"), format!("{gatelatch} connect opencode")]
}
