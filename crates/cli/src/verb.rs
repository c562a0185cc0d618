//! What happens for each verb. Verbs and MCP tools are two fronts of one road: nothing here decides about a call.

mod browse;
pub(crate) mod builtin;
mod check;
mod connect;
mod demo;
mod doctor;
mod init;
mod operator;
mod reference;
mod run;

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use gatelatch_bridge::answer::Answer;
use gatelatch_bridge::bridge::Bridge;
use gatelatch_bridge::recorder::LogRecorder;
use gatelatch_manifest::diagnostic::{Diagnostic, Severity};
use gatelatch_registry::load::{Loaded, Source, load};
use gatelatch_runner::host::Host;
use gatelatch_runner::runner::Runner;
use serde_json::Value;

use crate::exit::Code;
use crate::options::{Client, Options, Place, Verb};
use crate::settings::{self, Environment, Settings};
use crate::shipped;

/// Runs one verb.
pub(crate) fn dispatch(options: Options, environment: Environment) -> anyhow::Result<Code> {
    let place = options.place;
    match options.verb {
        Verb::Operator { list: true } => operator::list(),
        Verb::Operator { list: false } => operator::serve(&place, environment),
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
        Verb::Check { json } => check::check(&place, &environment, json),
        Verb::Init(options) => init::init(&place, &environment, &options),
        Verb::Doctor { json } => doctor::doctor(&place, &environment, json),
        Verb::Demo { yes, json } => demo::demo(&environment, yes, json),
        Verb::Completions { shell } => reference::completions(shell),
        Verb::Man => reference::man(),
        Verb::Reference => reference::tables(),
        Verb::Connect { client: Client::Opencode(options) } => connect::opencode(&place, &environment, &options),
    }
}

/// An error on standard error: what failed, each cause below it.
pub(crate) fn say_error(error: &anyhow::Error) {
    let causes: Vec<String> = error.chain().map(ToString::to_string).collect();
    say(&format!("error: {}", causes.join(": ")));
}

/// Whether an error is only that nobody reads standard output any more.
pub(crate) fn is_closed_output(error: &anyhow::Error) -> bool {
    let broken = |cause: &std::io::Error| cause.kind() == std::io::ErrorKind::BrokenPipe;
    error.downcast_ref::<std::io::Error>().is_some_and(broken)
}

/// A line on standard error. A closed standard error is no reason to fail.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// A line on standard output; `Err` when nobody reads it any more.
pub(crate) fn print(line: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(line.as_bytes())?;
    out.write_all(b"\n")?;
    out.flush()
}

/// A JSON value on standard output: indented for people, on one line for programs.
pub(crate) fn print_json(value: &Value, one_line: bool) -> anyhow::Result<()> {
    let text = if one_line { value.to_string() } else { serde_json::to_string_pretty(value)? };
    Ok(print(&text)?)
}

/// An answer as the verbs print it: the value on standard output, notes and the failure's sentence on standard error.
pub(crate) fn print_answer(answer: &Answer, one_line: bool) -> anyhow::Result<Code> {
    for note in &answer.notes {
        say(&format!("note: {note}"));
    }
    print_json(&answer.value, one_line)?;
    if answer.is_error()
        && !one_line
        && std::io::stderr().is_terminal()
        && let Some(message) = answer.value["message"].as_str()
    {
        say(&format!("error: {message}"));
    }
    Ok(Code::of_status(answer.status))
}

/// The road with its settings, as the verbs use it.
pub(crate) struct Road {
    pub(crate) bridge: Arc<Bridge>,
    pub(crate) findings: Vec<Diagnostic>,
}

impl Road {
    /// Reads settings and catalog and puts the road together. Findings are told on standard error.
    pub(crate) fn open(place: &Place, environment: Environment) -> anyhow::Result<Road> {
        Road::open_with(place, environment, "warn")
    }

    /// The same, logging at `level` unless the settings say otherwise.
    pub(crate) fn open_with(place: &Place, environment: Environment, level: &str) -> anyhow::Result<Road> {
        let folder = working_folder()?;
        let settings = Settings::read(place, &environment, &folder)?;
        start_log(settings.log.as_deref().unwrap_or(level), place.log_file.as_deref())?;
        let Loaded { catalog, findings } = load_catalog(&settings);
        settings::refuse_unknown_variables(&environment, &catalog)?;
        for finding in findings.iter().filter(|finding| finding.severity == Severity::Error) {
            say(&finding.to_string());
        }
        let own_program = std::env::current_exe().context("cannot find the gatelatch program itself")?;
        let cache_folder = cache_folder(&environment, &folder);
        let mut variables = environment.variables;
        hand_on_catalogs(&mut variables, &settings);
        let host = Host { environment: variables, working_folder: folder, cache_folder, own_program };
        let bridge = Bridge::new(
            Arc::new(catalog),
            settings.policy,
            Runner::new(host),
            Box::new(LogRecorder),
            settings.capabilities_max_bytes,
        );
        Ok(Road { bridge: Arc::new(bridge), findings })
    }
}

/// The catalog that the settings name, or the one that ships.
pub(crate) fn load_catalog(settings: &Settings) -> Loaded {
    let mut sources: Vec<Source> = settings.catalogs.iter().cloned().map(Source::Folder).collect();
    if sources.is_empty() {
        sources.push(Source::Compiled(shipped::catalog()));
    }
    load(&sources)
}

pub(crate) fn working_folder() -> anyhow::Result<PathBuf> {
    std::env::current_dir().context("cannot tell the working folder")
}

/// An agent calls `gatelatch run` from its own folder: it must see the same catalogs, by absolute path.
fn hand_on_catalogs(variables: &mut std::collections::BTreeMap<String, String>, settings: &Settings) {
    variables.remove("GATELATCH_CATALOG");
    if let Some(list) = std::env::join_paths(&settings.catalogs).ok().and_then(|list| list.into_string().ok())
        && !list.is_empty()
    {
        variables.insert("GATELATCH_CATALOG".to_owned(), list);
    }
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

/// Where compiled-in programs are unpacked.
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
    let filter = tracing_subscriber::EnvFilter::try_new(filter).map_err(|_| {
        crate::exit::UsageError::new(
            "the log setting is no filter",
            "write error, warn, info, debug or trace, or target=level",
        )
    })?;
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false);
    // A second start in one process keeps the first log.
    let _ = match file {
        Some(path) => {
            let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
            let file = file.with_context(|| format!("cannot write the log file `{}`", path.display()))?;
            log.with_writer(std::sync::Mutex::new(file)).try_init()
        }
        None => log.with_writer(std::io::stderr).try_init(),
    };
    Ok(())
}
