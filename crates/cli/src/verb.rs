//! What happens for each verb. Verbs and MCP tools are two fronts of one road: nothing here decides about a call.

mod asked;
mod browse;
pub(crate) mod builtin;
mod chat;
mod check;
mod connect;
mod contract;
mod demo;
mod doctor;
mod init;
mod longest;
mod operator;
mod pin;
mod reference;
pub(crate) mod run;
mod serving;
pub(crate) mod verify;

use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use gatelatch_bridge::answer::{Answer, Status};
use gatelatch_bridge::bridge::{Bridge, Broken, Parts};
use gatelatch_bridge::recorder::LogRecorder;
use gatelatch_gate::declaration::{self, IgnoredDeclaration};
use gatelatch_gate::sight::Uses;
use gatelatch_manifest::diagnostic::{Diagnostic, Severity, printable, printable_json};
use gatelatch_manifest::read::finding_about_effect;
use gatelatch_manifest::rule::EFFECT_IGNORED;
use gatelatch_registry::catalog::Kind;
use gatelatch_registry::load::{Loaded, Source, load};
use gatelatch_runner::environment::USES_VARIABLE;
use gatelatch_runner::host::Host;
use gatelatch_runner::runner::Runner;
use serde_json::Value;

use crate::advice;
use crate::catalog::Served;
use crate::exit::{Code, UsageError};
use crate::options::{Options, Place, Verb};
use crate::settings::{self, Environment, Settings};
use crate::shipped;

/// The target under which every verdict and outcome is logged.
pub(crate) const RECORD: &str = "gatelatch::record";

/// Runs one verb.
pub(crate) fn dispatch(options: Options, environment: Environment) -> anyhow::Result<Code> {
    let place = options.place;
    advice::remember(&place);
    // The doctor tells it among the rest.
    if !matches!(options.verb, Verb::Doctor { .. }) {
        settings::refuse_mistyped(&place, &environment, &working_folder()?)?;
    }
    match options.verb {
        Verb::Operator { list: true } => operator::list(),
        Verb::Operator { list: false } => operator::serve(&place, environment),
        Verb::Chat { surface, list: true } => chat::list(&place, &environment, surface.as_deref()),
        Verb::Chat { surface, list: false } => chat::serve(&place, environment, surface.as_deref()),
        Verb::List { json } => browse::list(&Road::open(&place, environment)?, json),
        Verb::Show { name, action, kind, json } => {
            browse::show(&Road::open(&place, environment)?, name, action, kind, json)
        }
        Verb::Search { words, within, json } => browse::search(&Road::open(&place, environment)?, &words, within, json),
        Verb::Skill { name, json } => browse::skill(&Road::open(&place, environment)?, name.as_deref(), json),
        Verb::Run { tool, action, call } => {
            run::run(&Road::open(&place, environment)?, run::Target::Tool(tool), action, &call)
        }
        Verb::Agent { agent, action, call } => {
            run::run(&Road::open(&place, environment)?, run::Target::Agent(agent), action, &call)
        }
        Verb::Check { fix, json } => check::check(&place, &environment, fix, json),
        Verb::Init(options) => init::init(&place, &environment, &options),
        Verb::Doctor { json } => doctor::doctor(&place, &environment, json),
        Verb::Demo { yes, json } => demo::demo(&environment, yes, json),
        Verb::Verify(options) => verify::verify(&environment, &options),
        Verb::Pin(options) => pin::pin(&environment, &options),
        Verb::Completions { shell } => reference::completions(shell),
        Verb::Man => reference::man(),
        Verb::Reference => reference::tables(),
        Verb::Contract { surface, verb } => contract::run(&place, &environment, surface.as_deref(), &verb),
        Verb::Connect { client } => connect::run(&place, &environment, &client),
    }
}

/// An error on standard error: what failed, each cause below it.
pub(crate) fn say_error(error: &anyhow::Error) {
    let causes: Vec<String> = error.chain().map(ToString::to_string).collect();
    say(&format!("error: {}", causes.join(": ")));
}

/// What clap has to say, be it the help, the version or what was typed wrong: in its own colours, unless what was typed
/// holds others.
pub(crate) fn exit_with(error: &clap::Error) -> ExitCode {
    let is_plain = |word: std::ffi::OsString| word.to_str().is_some_and(|word| printable(word) == word);
    if std::env::args_os().all(is_plain) {
        error.exit();
    }
    let _ = write!(std::io::stderr(), "{}", printable(&error.render().to_string()));
    Code::Usage.into()
}

// INVARIANT: what a manifest, a server, a program or an argument says steers no terminal: all text passes `printable`, in
// the functions below, in the log and in the questions of `init`. Kept by `no_verb_sends_what_steers_a_terminal`.

/// A line on standard error. A closed standard error is no reason to fail.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{}", printable(&advice::with_place(line)));
}

/// A line on standard output.
pub(crate) fn print(line: &str) -> std::io::Result<()> {
    put(&printable(line))
}

fn put(text: &str) -> std::io::Result<()> {
    put_bytes(format!("{text}\n").as_bytes())
}

/// Bytes on standard output. That nobody reads them is no error: the verb goes on to its end, and its exit code tells
/// what came of it to whoever looks at that alone.
pub(crate) fn put_bytes(bytes: &[u8]) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// Advice on standard output, its commands as they have to be typed.
pub(crate) fn print_advice(line: &str) -> std::io::Result<()> {
    print(&advice::with_place(line))
}

/// A JSON value on standard output: indented for people, on one line for programs.
pub(crate) fn print_json(value: &Value, one_line: bool) -> anyhow::Result<()> {
    let text = if one_line { value.to_string() } else { serde_json::to_string_pretty(value)? };
    Ok(print_json_text(&text)?)
}

/// The same of a text that is JSON already.
pub(crate) fn print_json_text(text: &str) -> std::io::Result<()> {
    put(&printable_json(text))
}

/// What became of the question that `--confirm` asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    /// `--confirm` was not given.
    NotAsked,
    /// There is no terminal to ask on.
    NobodyThere,
    /// The answer was not yes.
    NotAgreed,
}

/// Asks the human at this terminal for the word that agrees to what cannot be undone: `yes`, and nothing shorter, since a
/// key is soon struck.
pub(crate) fn agrees(question: &str) -> std::io::Result<bool> {
    let mut error = std::io::stderr();
    write!(error, "{} Type the whole word yes: ", printable(question))?;
    error.flush()?;
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    Ok(line.trim().eq_ignore_ascii_case("yes"))
}

/// An answer as the verbs print it: the value on standard output, notes on standard error. A failure is told in the
/// command line's own words on standard error, and the JSON that the MCP tool would give stands on standard output,
/// unless a person at a terminal would read it twice.
pub(crate) fn print_answer(answer: &Answer, one_line: bool) -> anyhow::Result<Code> {
    print_answer_to(answer, one_line, Question::NotAsked)
}

/// The same for a call about which somebody may have been asked.
pub(crate) fn print_answer_to(answer: &Answer, one_line: bool, question: Question) -> anyhow::Result<Code> {
    for note in &answer.notes {
        say(&format!("note: {note}"));
    }
    if answer.is_error() {
        say(&told(answer, question));
    }
    if !answer.is_error() || one_line || !std::io::stdout().is_terminal() {
        print_json(&answer.value, one_line)?;
    }
    Ok(Code::of_status(answer.status))
}

/// A failure for a person, with what to type next. Holds no value that the caller sent.
fn told(answer: &Answer, question: Question) -> String {
    let text = |key: &str| answer.value[key].as_str().unwrap_or_default();
    let typed = answer.typed.as_deref().unwrap_or(text("message"));
    let mut lines: Vec<String> = typed.lines().map(|line| format!("  {line}")).collect();
    match (question, lines.first_mut()) {
        (Question::NotAgreed, _) => return "error: nothing was run: the answer was not yes".to_owned(),
        (Question::NotAsked | Question::NobodyThere, Some(first)) => *first = format!("error: {}", first.trim_start()),
        (Question::NotAsked | Question::NobodyThere, None) => lines.push(format!("error: {}", text("error"))),
    }
    let names = |key: &str| -> Vec<&str> {
        answer.value[key].as_array().into_iter().flatten().filter_map(|name| name.as_str()).collect()
    };
    let near = names("did_you_mean");
    if !near.is_empty() {
        lines.push(format!("  help: did you mean {}?", near.join(", ")));
    }
    match answer.status {
        Status::ApprovalRequired => lines.push(match question {
            Question::NobodyThere => "  help: --confirm needs a terminal to ask on, and there is none".to_owned(),
            Question::NotAsked | Question::NotAgreed => {
                "  help: add --confirm to be asked here, or --dry-run to see what would run".to_owned()
            }
        }),
        Status::Usage => lines.extend(where_to_look(&answer.value).map(|look| format!("  help: {look}"))),
        Status::Failed | Status::TimedOut | Status::NotReady => {
            if let Some(detail) = answer.value.get("detail") {
                let detail = detail["text"].as_str().map_or_else(|| detail.to_string(), str::to_owned);
                lines.extend(detail.trim_end().lines().map(|line| format!("  | {line}")));
            }
        }
        Status::Done | Status::Denied | Status::Cancelled => {}
    }
    lines.join("\n")
}

/// The command that tells what would have been right, as near as the answer's example comes to it; nothing where the
/// message says what to type.
fn where_to_look(value: &Value) -> Option<String> {
    let example = &value["example"];
    let text = |key: &str| example["arguments"][key].as_str();
    let entry = text("tool").or(text("agent")).or(text("name"));
    let action = text("action").filter(|_| value["error"] != "missing_action");
    match (entry, action) {
        (Some(_), _) if example["tool"] == "get_skill" => None,
        (Some(entry), Some(action)) => Some(format!("`gatelatch show {entry} {action}` tells its arguments")),
        (Some(entry), None) => Some(format!("`gatelatch show {entry}` tells what it takes")),
        (None, _) => Some("`gatelatch search WORDS` finds what there is by words".to_owned()),
    }
}

/// The road with its settings, as the verbs use it.
pub(crate) struct Road {
    pub(crate) bridge: Arc<Bridge>,
    pub(crate) findings: Vec<Diagnostic>,
}

impl Road {
    /// Reads settings and catalog and puts the road together; how many entries are broken is told on standard error.
    pub(crate) fn open(place: &Place, environment: Environment) -> anyhow::Result<Road> {
        let road = Road::open_with(place, environment, "warn")?;
        match road.bridge.broken().len() {
            0 => {}
            1 => say("note: 1 entry is broken and left out; see `gatelatch check`"),
            many => say(&format!("note: {many} entries are broken and left out; see `gatelatch check`")),
        }
        Ok(road)
    }

    /// The same, logging at `level` unless the settings say otherwise, and without a word on broken entries.
    pub(crate) fn open_with(place: &Place, environment: Environment, level: &str) -> anyhow::Result<Road> {
        let folder = working_folder()?;
        let settings = Settings::read(place, &environment, &folder)?;
        // What the settings say of the log never silences the record; only naming its target does. Before a human at a
        // terminal the record stays away, and a file that somebody asked for holds it.
        let recorded = level != "warn" || place.log_file.is_some();
        let filter = match settings.log.as_deref().unwrap_or(level) {
            log if log.contains(RECORD) || !recorded => log.to_owned(),
            log => format!("{log},{RECORD}=info"),
        };
        start_log(&filter, place.log_file.as_deref())?;
        let own_program = std::env::current_exe().context("cannot find the gatelatch program itself")?;
        let cache_folder = cache_folder(&environment, &folder);
        let catalog_cache = settings.cache_catalog.then_some(cache_folder.as_path());
        let Served { loaded, index } = Served::open(&sources(&settings), catalog_cache, &own_program);
        let Loaded { catalog, findings } = loaded;
        let uses = environment.variables.get(USES_VARIABLE).map(|text| Uses::from_text(text));
        let mut variables = environment.variables;
        hand_on_catalogs(&mut variables, &settings, &folder)?;
        let host = Host { environment: variables, working_folder: folder, cache_folder, own_program };
        let bridge = Bridge::new(Parts {
            broken: broken(&findings),
            catalog: Arc::new(catalog),
            index,
            policy: settings.policy,
            uses,
            runner: Runner::new(host),
            recorder: Box::new(LogRecorder),
            capabilities_max_bytes: settings.capabilities_max_bytes,
        });
        Ok(Road { bridge: Arc::new(bridge), findings })
    }
}

/// The entries that an error left out, by the folder and the file of their manifest.
pub(crate) fn broken(findings: &[Diagnostic]) -> Vec<Broken> {
    let mut broken: Vec<Broken> = Vec::new();
    for finding in findings.iter().filter(|finding| finding.severity == Severity::Error) {
        let path = Path::new(&finding.file);
        let folder = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
        let kind = Kind::ALL.into_iter().find(|kind| path.ends_with(kind.file()));
        if let (Some(kind), Some(name)) = (kind, folder)
            && !broken.iter().any(|known| known.kind == kind && known.name == name)
        {
            let at = finding.position.map(|at| format!(":{}:{}", at.line, at.column)).unwrap_or_default();
            let why = format!("{}{at}: {}", finding.file, finding.message);
            broken.push(Broken { kind, name: name.to_owned(), why });
        }
    }
    broken
}

/// The catalog that the settings name, or the one that ships, with what the gate has to say of its manifests.
pub(crate) fn load_catalog(settings: &Settings) -> Loaded {
    let mut loaded = load(&sources(settings));
    let ignored = declaration::ignored_declarations(&loaded.catalog);
    loaded.findings.extend(ignored.iter().map(declared_in_vain));
    loaded.findings.sort_by(|one, other| (&one.file, one.position).cmp(&(&other.file, other.position)));
    loaded
}

/// A declaration that counts for nothing, as a finding of the manifest that holds it.
fn declared_in_vain(IgnoredDeclaration { place, says, declared }: &IgnoredDeclaration) -> Diagnostic {
    let of = place.action.as_ref().map(|action| format!(" for action `{action}`")).unwrap_or_default();
    let message =
        format!("`effect: {declared}` is ignored{of}: the name says `{}`, which is {}", says.words, says.effect);
    let help =
        format!("add `because:` with the reason why it is {declared}, declare `effect: {}`, or rename it", says.effect);
    // What cannot be read any more is told without its place.
    let bytes = std::fs::read(&place.file).unwrap_or_default();
    finding_about_effect(&EFFECT_IGNORED, (&place.file, &bytes), place.action.as_deref(), message, help)
}

fn sources(settings: &Settings) -> Vec<Source> {
    let mut sources: Vec<Source> = settings.catalogs.iter().cloned().map(Source::Folder).collect();
    if sources.is_empty() {
        sources.push(Source::Compiled(shipped::catalog()));
    }
    sources
}

pub(crate) fn working_folder() -> anyhow::Result<PathBuf> {
    std::env::current_dir().context("cannot tell the working folder")
}

/// A path as it is from anywhere, without `..` where that can be told.
pub(crate) fn absolute(folder: &Path, path: &Path) -> PathBuf {
    let whole = folder.join(path);
    whole.canonicalize().unwrap_or(whole)
}

/// An agent calls `gatelatch run` from its own folder: it must see the same catalogs, by absolute path.
fn hand_on_catalogs(
    variables: &mut std::collections::BTreeMap<String, String>,
    settings: &Settings,
    folder: &Path,
) -> Result<(), UsageError> {
    variables.remove("GATELATCH_CATALOG");
    if settings.catalogs.is_empty() {
        return Ok(());
    }
    let absolute = settings.catalogs.iter().map(|catalog| absolute(folder, catalog));
    let list = std::env::join_paths(absolute).ok().and_then(|list| list.into_string().ok());
    let list = list.ok_or_else(|| {
        UsageError::new(
            "a catalog folder's path cannot be handed on to agents",
            "move the folder to a path of plain text without the character that separates paths in PATH",
        )
    })?;
    variables.insert("GATELATCH_CATALOG".to_owned(), list);
    Ok(())
}

/// Where what must outlive a run is kept: the records of connected clients.
pub(crate) fn state_folder(environment: &Environment, folder: &Path) -> PathBuf {
    let home = |below: &str| environment.text("HOME").map(|home| Path::new(home).join(below));
    let system = if cfg!(windows) {
        environment.text("LOCALAPPDATA").map(PathBuf::from)
    } else if cfg!(target_os = "macos") {
        home("Library/Application Support")
    } else {
        let set = environment.text("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        set.or_else(|| home(".local/state"))
    };
    system.unwrap_or_else(|| folder.join(".local/state")).join("gatelatch")
}

/// Where compiled-in programs are unpacked and compiled catalogs are kept.
pub(crate) fn cache_folder(environment: &Environment, folder: &Path) -> PathBuf {
    let home = |below: &str| environment.text("HOME").map(|home| Path::new(home).join(below));
    let own = environment.text("GATELATCH_CACHE").map(|cache| folder.join(cache));
    let system = if cfg!(windows) {
        environment.text("LOCALAPPDATA").map(PathBuf::from)
    } else if cfg!(target_os = "macos") {
        home("Library/Caches")
    } else {
        environment
            .text("XDG_CACHE_HOME")
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
            .or_else(|| home(".cache"))
    };
    own.or_else(|| system.map(|path| path.join("gatelatch"))).unwrap_or_else(|| std::env::temp_dir().join("gatelatch"))
}

/// Sends the log to standard error, or to a file: standard output is the protocol, or the result.
fn start_log(filter: &str, file: Option<&Path>) -> anyhow::Result<()> {
    let levels = ["error", "warn", "info", "debug", "trace", "off"];
    let is_known = |part: &str| levels.contains(&part.rsplit('=').next().unwrap_or(part).to_ascii_lowercase().as_str());
    let filter = tracing_subscriber::EnvFilter::try_new(filter).ok().filter(|_| filter.split(',').all(is_known));
    let filter = filter.ok_or_else(|| {
        UsageError::new(
            "the log setting is no filter",
            "write error, warn, info, debug, trace or off, or target=level pairs separated by commas",
        )
    })?;
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false);
    // A second start in one process keeps the first log.
    let _ = match file {
        Some(path) => log.with_writer(std::sync::Mutex::new(LogFile::open(path)?)).try_init(),
        None => log.with_writer(|| Printed).try_init(),
    };
    Ok(())
}

/// The file that `--log-file` names. A line that it does not take stands on standard error instead.
struct LogFile {
    path: PathBuf,
    file: std::fs::File,
    /// Whether somebody was told that it takes no more.
    told: bool,
}

impl LogFile {
    /// Opens a file to append to, be it there or not.
    fn open(path: &Path) -> Result<LogFile, UsageError> {
        let cannot = |why: String| {
            let message = format!("cannot write the log file `{}`: {why}", path.display());
            UsageError::new(message, "name a regular file in a folder that is there, or leave --log-file out")
        };
        // A pipe would be waited for until somebody reads it, and a device keeps nothing.
        if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
            return Err(cannot("it is no regular file".to_owned()));
        }
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        let file = file.map_err(|error| cannot(error.to_string()))?;
        Ok(LogFile { path: path.to_path_buf(), file, told: false })
    }
}

impl Write for LogFile {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        if let Err(error) = self.file.write_all(printable(&String::from_utf8_lossy(line)).as_bytes()) {
            if !self.told {
                self.told = true;
                let path = self.path.display();
                say(&format!("warning: cannot write the log file `{path}`: {error}; its lines follow here"));
            }
            return Printed.write(line);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

/// Standard error for the log, whose lines hold what others wrote. Each comes in one piece.
struct Printed;

impl Write for Printed {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        std::io::stderr().write_all(printable(&String::from_utf8_lossy(line)).as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stderr().flush()
    }
}
