//! `gatelatch doctor`: looks at everything that a call needs and tells how to mend what is wrong.
//!
//! Owns the list of looks and their wording; changes nothing. What a thing should be is judged by whoever uses it:
//! settings by [`crate::settings`], manifests by the registry, programs by the runner, clients by [`crate::connect`].
//! Start at [`doctor`].

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use gatelatch_gate::declaration;
use gatelatch_manifest::diagnostic::Severity;
use gatelatch_registry::catalog::{Catalog, Entry, Runtime};
use gatelatch_registry::load::Loaded;
use gatelatch_runner::environment::is_passed;
use gatelatch_runner::host::Host;
use gatelatch_runner::readiness::{NotReady, readiness};
use gatelatch_secrets::secret::SHORTEST;
use gatelatch_spawn::child::{Ending, Launch, Listeners, run};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::connect::{self, Change, Client, ConnectError, ConnectRequest, Plan, Scope, Server, Surroundings};
use crate::exit::Code;
use crate::options::Place;
use crate::settings::{self, Environment, Settings};
use crate::surface::Declared;
use crate::verb::{
    absolute, broken, cache_folder, load_catalog, longest, print, print_advice, print_json, state_folder,
    working_folder,
};

/// How long a program may take to tell its version.
const PATIENCE: Duration = Duration::from_secs(5);
/// The oldest Python that the programs that ship run on.
const OLDEST_PYTHON: (u32, u32) = (3, 9);

/// Prints what was found; the exit code is that of a failure when one of them is a failure.
pub(crate) fn doctor(place: &Place, environment: &Environment, as_json: bool) -> anyhow::Result<Code> {
    let folder = working_folder()?;
    let own_program = std::env::current_exe().context("cannot find the gatelatch program itself")?;
    let mut report = Report::default();
    let host = Host {
        environment: environment.variables.clone(),
        working_folder: folder.clone(),
        cache_folder: cache_folder(environment, &folder),
        own_program,
    };
    let settings = look_at_settings(place, environment, &folder, &mut report);
    let loaded = settings.as_ref().map(load_catalog);
    if let (Some(settings), Some(loaded)) = (&settings, &loaded) {
        look_at_variables(environment, &loaded.catalog, &mut report);
        look_at_catalogs(settings, loaded, &mut report);
        look_at_surface(settings, &folder, loaded, &mut report);
        look_at_programs(&host, &loaded.catalog, &mut report)?;
        look_at_secrets(environment, &loaded.catalog, &mut report);
    }
    look_at_cache(&host.cache_folder, &mut report);
    look_at_clients(&host, environment, settings.as_ref().zip(loaded.as_ref()), &mut report)?;
    report.ok("version", format!("gatelatch {} at {}", env!("CARGO_PKG_VERSION"), host.own_program.display()));
    report.print(as_json)
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Ok,
    Warn,
    Fail,
}

impl Level {
    fn as_str(self) -> &'static str {
        match self {
            Level::Ok => "ok",
            Level::Warn => "warn",
            Level::Fail => "fail",
        }
    }
}

struct Finding {
    level: Level,
    area: &'static str,
    what: String,
    /// How to mend it; empty where nothing is to be mended.
    mend: String,
}

#[derive(Default)]
struct Report {
    findings: Vec<Finding>,
}

impl Report {
    fn ok(&mut self, area: &'static str, what: impl Into<String>) {
        self.findings.push(Finding { level: Level::Ok, area, what: what.into(), mend: String::new() });
    }

    fn warn(&mut self, area: &'static str, what: impl Into<String>, mend: impl Into<String>) {
        self.findings.push(Finding { level: Level::Warn, area, what: what.into(), mend: mend.into() });
    }

    fn fail(&mut self, area: &'static str, what: impl Into<String>, mend: impl Into<String>) {
        self.findings.push(Finding { level: Level::Fail, area, what: what.into(), mend: mend.into() });
    }

    /// Where something is wrong, nothing is said to be well that it may spoil.
    fn without_contradiction(&mut self) {
        if self.code() == Code::Failed {
            self.findings.retain(|finding| finding.level != Level::Ok);
        }
    }

    fn print(&self, as_json: bool) -> anyhow::Result<Code> {
        let count = |level| self.findings.iter().filter(|finding| finding.level == level).count();
        let (failures, warnings) = (count(Level::Fail), count(Level::Warn));
        if as_json {
            let findings: Vec<Value> = self
                .findings
                .iter()
                .map(|Finding { level, area, what, mend }| {
                    let mend = if mend.is_empty() { Value::Null } else { Value::from(mend.as_str()) };
                    json!({ "level": level.as_str(), "area": area, "what": what, "mend": mend })
                })
                .collect();
            print_json(&json!({ "findings": findings, "failures": failures, "warnings": warnings }), true)?;
        } else {
            for Finding { level, area, what, mend } in &self.findings {
                let mend = if mend.is_empty() { String::new() } else { format!(" ({mend})") };
                print_advice(&format!("{:<4} {area}: {what}{mend}", level.as_str()))?;
            }
            print(&format!("{failures} to mend, {warnings} to look at"))?;
        }
        Ok(self.code())
    }

    /// A warning is nothing that is wrong.
    fn code(&self) -> Code {
        let failed = self.findings.iter().any(|finding| finding.level == Level::Fail);
        if failed { Code::Failed } else { Code::Done }
    }
}

// Settings.

fn look_at_settings(place: &Place, environment: &Environment, folder: &Path, report: &mut Report) -> Option<Settings> {
    match Settings::read(place, environment, folder) {
        Ok(settings) => {
            match Settings::file(place, environment, folder) {
                Some(file) => report.ok("settings", format!("{} reads well", file.display())),
                None => report.ok("settings", "no gatelatch.yaml from here upward: the defaults hold"),
            }
            if settings.policy.deny_irreversible {
                let mend = "unset GATELATCH_DENY_IRREVERSIBLE and deny_irreversible where a human is in the seat";
                report.warn("settings", "what cannot be undone is refused even where a human agrees", mend);
            }
            Some(settings)
        }
        Err(error) => {
            let (what, help) = told(&error);
            report.fail("settings", what, help.unwrap_or_else(|| "mend the file".to_owned()));
            None
        }
    }
}

fn look_at_variables(environment: &Environment, catalog: &Catalog, report: &mut Report) {
    if let Err(error) = settings::refuse_unknown_variables(environment, catalog) {
        report.fail("settings", error.message, error.help.unwrap_or_default());
    }
}

/// An error in one line, and its way out.
fn told(error: &anyhow::Error) -> (String, Option<String>) {
    match error.downcast_ref::<crate::exit::UsageError>() {
        Some(usage) => (one_line(&usage.message), usage.help.clone()),
        None => {
            let causes: Vec<String> = error.chain().map(ToString::to_string).collect();
            (one_line(&causes.join(": ")), None)
        }
    }
}

fn one_line(text: &str) -> String {
    gatelatch_manifest::lint::plain_line(text)
}

// Catalogs.

fn look_at_catalogs(settings: &Settings, loaded: &Loaded, report: &mut Report) {
    match settings.catalogs.as_slice() {
        [] => report.ok("catalog", "none is named: the one that ships is served"),
        catalogs => catalogs.iter().for_each(|catalog| report.ok("catalog", catalog.display().to_string())),
    }
    let errors = loaded.findings.iter().filter(|finding| finding.severity == Severity::Error).count();
    let warnings = loaded.findings.len() - errors;
    let (entries, skills) = (loaded.catalog.entries().len(), loaded.catalog.skills().len());
    let loads = format!("{entries} tools and agents, {skills} skills load");
    if errors > 0 {
        report.fail(
            "manifests",
            format!("{loads}; {}, and what has one is left out", counted(errors, "error", "errors")),
            "see `gatelatch check`",
        );
    } else if entries + skills == 0 {
        report.fail("manifests", "nothing to serve", "`gatelatch init SCRIPT` writes a first manifest");
    } else if warnings > 0 {
        report.warn(
            "manifests",
            format!("{loads}; {}", counted(warnings, "warning", "warnings")),
            "see `gatelatch check`",
        );
    } else {
        report.ok("manifests", loads);
    }
    let undeclared = declaration::undeclared(&loaded.catalog).len();
    if undeclared > 0 {
        let asks = counted(undeclared, "action asks", "actions ask");
        let what = format!("{asks} a human only because no effect is declared");
        report.warn("manifests", what, "add `effect:` where `gatelatch check` says");
    }
}

/// The declaration that `gatelatch chat` would serve from here, where there is one.
fn look_at_surface(settings: &Settings, folder: &Path, loaded: &Loaded, report: &mut Report) {
    const SEE: &str = "see `gatelatch check`";
    let declared = match Declared::find(None, settings, folder) {
        Ok(Some(declared)) => declared,
        Ok(None) => return,
        Err(error) => {
            return report.fail("chat surface", one_line(&error.message), error.help.unwrap_or_else(|| SEE.to_owned()));
        }
    };
    let linked = declared.link(&loaded.catalog, &broken(&loaded.findings));
    let standing = declared.standing(&linked);
    let found = || declared.findings.iter().chain(&linked.findings).chain(standing.findings());
    let count = |severity| found().filter(|finding| finding.severity == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let file = &declared.file;
    // A contract that moved, or is a draft, is what its author has to know first.
    let moved = standing.findings().map(|finding| format!("; {}", finding.message)).collect::<String>();
    if errors > 0 {
        report.fail("chat surface", format!("{file}: {}{moved}", counted(errors, "error", "errors")), SEE);
    } else if warnings > 0 {
        report.warn("chat surface", format!("{file}: {}{moved}", counted(warnings, "warning", "warnings")), SEE);
    } else {
        report.ok("chat surface", format!("{file}: {}", counted(linked.tools.len(), "tool", "tools")));
    }
}

fn counted(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

// Programs.

/// A program whose version is worth knowing.
struct Interpreter {
    name: &'static str,
    names: &'static [&'static str],
    runtime: Option<Runtime>,
}

const INTERPRETERS: [Interpreter; 2] = [
    Interpreter { name: "python", names: &["python3", "python"], runtime: Some(Runtime::Python) },
    Interpreter { name: "node", names: &["node"], runtime: Some(Runtime::Node) },
];

fn look_at_programs(host: &Host, catalog: &Catalog, report: &mut Report) -> anyhow::Result<()> {
    for interpreter in &INTERPRETERS {
        let users =
            catalog.entries().iter().filter(|entry| Some(entry.manifest.runtime) == interpreter.runtime).count();
        look_at_interpreter(host, interpreter, users, report)?;
    }
    let mut ready = 0;
    for entry in catalog.entries() {
        match readiness(host, entry) {
            Ok(()) => ready += 1,
            // Told with the secrets, and the interpreter with its users.
            Err(NotReady::Secret(_) | NotReady::NoInterpreter { .. }) => {}
            Err(why) => report.fail("program", format!("{}: {why}", named(entry)), mended(&why, entry)),
        }
    }
    report.ok("program", format!("{ready} of {} tools and agents could run now", catalog.entries().len()));
    Ok(())
}

fn look_at_interpreter(
    host: &Host,
    interpreter: &Interpreter,
    users: usize,
    report: &mut Report,
) -> anyhow::Result<()> {
    let name = interpreter.name;
    let Some(path) = interpreter.names.iter().find_map(|name| on_path(host, name)) else {
        match users {
            0 => report.ok("program", format!("{name} not found, and nothing needs it")),
            _ => report.fail(
                "program",
                format!("{name} not found, and {users} tools or agents need it"),
                format!("install {name}, or put it on the PATH of the server"),
            ),
        }
        return Ok(());
    };
    match version(host, &path)? {
        Some(version) if name == "python" && older(&version, OLDEST_PYTHON) && users > 0 => {
            let (major, minor) = OLDEST_PYTHON;
            let mend = format!("put Python {major}.{minor} or later first on PATH");
            report.warn("program", format!("{version} at {} is old", path.display()), mend);
        }
        Some(version) => report.ok("program", format!("{name}: {version} at {}", path.display())),
        None if users > 0 => {
            let mend = "see what it says in a terminal, and install it again";
            report.fail("program", format!("{name} at {} does not start", path.display()), mend);
        }
        None => report.ok("program", format!("{name} at {} does not start, and nothing needs it", path.display())),
    }
    Ok(())
}

fn named(entry: &Entry) -> String {
    format!("{} {}", entry.manifest.kind.as_str(), entry.manifest.name)
}

fn mended(why: &NotReady, entry: &Entry) -> String {
    match why {
        NotReady::NoProgram { program } => format!("install `{program}`, or put it on the PATH of the server"),
        NotReady::NotExecutable { entrypoint } => format!("chmod +x the file `{entrypoint}` beside {}", entry.file),
        NotReady::NoEntrypoint { .. } => format!("put the file there, or mend `entrypoint` in {}", entry.file),
        NotReady::NoInterpreter { interpreter } => format!("install {interpreter}"),
        NotReady::Secret(_) => "set the secret".to_owned(),
    }
}

fn on_path(host: &Host, name: &str) -> Option<PathBuf> {
    which::which_in(name, host.environment.get("PATH"), &host.working_folder).ok()
}

/// What `PROGRAM --version` says; `None` when it does not start or fails.
fn version(host: &Host, program: &Path) -> anyhow::Result<Option<String>> {
    let env = host.environment.iter().filter(|(name, _)| is_passed(name));
    let launch = Launch {
        program: program.to_owned(),
        args: vec!["--version".into()],
        env: env.map(|(name, value)| (OsString::from(name), OsString::from(value))).collect(),
        cwd: host.working_folder.clone(),
        timeout: PATIENCE,
        max_stdout_bytes: 1024,
        stderr_tail_bytes: 1024,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(run(launch, Listeners::default(), CancellationToken::new()));
    let Ok(ended) = ended else { return Ok(None) };
    if ended.ending != Ending::Exited(0) {
        return Ok(None);
    }
    // Python 2 told it on standard error.
    let text = if ended.stdout.is_empty() { ended.stderr_tail } else { ended.stdout };
    let text = String::from_utf8_lossy(&text).into_owned();
    Ok(Some(one_line(text.lines().next().unwrap_or_default())))
}

/// Whether a version such as `Python 3.8.10` is older than another.
fn older(version: &str, than: (u32, u32)) -> bool {
    let number = version.split(|c: char| !c.is_ascii_digit() && c != '.').find(|part| part.contains('.'));
    let mut parts = number.unwrap_or_default().split('.').map_while(|part| part.parse::<u32>().ok());
    match (parts.next(), parts.next()) {
        (Some(major), Some(minor)) => (major, minor) < than,
        _ => false,
    }
}

// Secrets.

/// Names only: not even how long a value is.
fn look_at_secrets(environment: &Environment, catalog: &Catalog, report: &mut Report) {
    for entry in catalog.entries() {
        for secret in &entry.manifest.secrets {
            let (name, of) = (&secret.name, named(entry));
            let purpose = secret.description.as_ref().map(|text| format!(": {text}")).unwrap_or_default();
            match environment.text(name) {
                None if secret.required => {
                    let mend = format!("set {name} in the environment of the server{purpose}");
                    report.fail("secret", format!("{name} of {of} is not set"), mend);
                }
                None => report.ok("secret", format!("{name} of {of} is not set, and need not be")),
                Some(value) if value.chars().count() < SHORTEST => {
                    let mend = format!("give it at least {SHORTEST} characters, so that it can be masked");
                    report.fail("secret", format!("{name} of {of} is too short"), mend);
                }
                Some(_) => report.ok("secret", format!("{name} of {of} is set")),
            }
        }
    }
}

// The cache.

fn look_at_cache(cache: &Path, report: &mut Report) {
    // What is not there yet is made in the nearest folder that is.
    let Some(nearest) = cache.ancestors().find(|folder| folder.is_dir()) else {
        return report.fail("cache", format!("{} cannot be made", cache.display()), "set GATELATCH_CACHE to a folder");
    };
    if let Err(error) = tempfile::tempfile_in(nearest) {
        let what = format!("{} cannot be written: {}", nearest.display(), error.kind());
        return report.fail("cache", what, "make it writable, or set GATELATCH_CACHE to a folder that is");
    }
    let programs = cache.join("programs");
    match programs.symlink_metadata() {
        Err(_) => report.ok("cache", format!("{} can be written", cache.display())),
        Ok(metadata) => match fault(&metadata) {
            Some(fault) => {
                report.fail("cache", format!("{} {fault}", programs.display()), "remove it, it is made again")
            }
            None => report.ok("cache", format!("{} can be written, and by nobody else", cache.display())),
        },
    }
}

/// What makes a folder unsafe to run programs from.
fn fault(metadata: &std::fs::Metadata) -> Option<&'static str> {
    if !metadata.is_dir() {
        return Some("is no folder");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if metadata.permissions().mode() & 0o077 != 0 {
            return Some("may be entered by others");
        }
    }
    None
}

// Clients.

fn look_at_clients(
    host: &Host,
    environment: &Environment,
    known: Option<(&Settings, &Loaded)>,
    report: &mut Report,
) -> anyhow::Result<()> {
    let settings = known.map(|(settings, _)| settings);
    let folder = &host.working_folder;
    let catalogs: &[PathBuf] = settings.map(|settings| settings.catalogs.as_slice()).unwrap_or_default();
    let surface = settings.and_then(|settings| settings.chat_surface.as_ref()).map(|named| absolute(folder, named));
    let chat = Server::Chat { surface };
    let (longest_call, longest_chat) = known.map_or_else(
        || (longest::usual(), longest::usual()),
        |(settings, loaded)| longest_calls(settings, folder, loaded),
    );
    let surroundings = Surroundings {
        environment: environment.variables.clone(),
        state_folder: state_folder(environment, folder),
        working_folder: folder.clone(),
    };
    let mut absent = Vec::new();
    for client in Client::ALL {
        let plan = |kind: &Server, scope| {
            let request = ConnectRequest {
                client,
                scope,
                kind: kind.clone(),
                server: kind.own_name().to_owned(),
                program: host.own_program.clone(),
                catalogs: catalogs.iter().map(|catalog| absolute(folder, catalog)).collect(),
                longest_call: match kind {
                    Server::Operator => longest_call,
                    Server::Chat { .. } => longest_chat,
                },
            };
            connect::plan(&request, &surroundings)
        };
        let mut own = Report::default();
        let mut connected = false;
        for (scope, flag) in [(Scope::Project, ""), (Scope::Global, " --global")] {
            connected |=
                look_at_plan(client, &Server::Operator, plan(&Server::Operator, scope.clone()), flag, &mut own);
            // What cannot be read has been told.
            if let Ok(plan) = plan(&chat, scope) {
                connected |= look_at_plan(client, &chat, Ok(plan), flag, &mut own);
            }
        }
        own.without_contradiction();
        // What is wrong with a client has been told, whether it is connected or not.
        let is_told = connected || own.code() == Code::Failed;
        report.findings.extend(own.findings);
        match on_path(host, client.program()) {
            Some(path) => look_at_client(host, client, &path, is_told, report)?,
            None if is_told => {}
            None => absent.push(client.as_str()),
        }
    }
    if !absent.is_empty() {
        report.ok("client", format!("neither connected nor on PATH: {}", absent.join(", ")));
    }
    Ok(())
}

/// How long a call may take: of the operator's server, and of the chat server.
fn longest_calls(settings: &Settings, folder: &Path, loaded: &Loaded) -> (Duration, Duration) {
    // What is wrong with the declaration has been told.
    let declared = Declared::find(None, settings, folder).ok().flatten();
    let chat = declared.as_ref().and_then(|declared| {
        let linked = declared.link(&loaded.catalog, &broken(&loaded.findings));
        declared.manifest.as_ref().map(|manifest| longest::of_chat(manifest, &linked, &loaded.catalog))
    });
    (longest::of_catalog(&loaded.catalog), chat.unwrap_or_else(longest::usual))
}

/// Tells of a client that is installed.
fn look_at_client(host: &Host, client: Client, path: &Path, is_told: bool, report: &mut Report) -> anyhow::Result<()> {
    let (name, title) = (client.as_str(), client.title());
    let version = version(host, path)?.unwrap_or_else(|| "does not tell its version".to_owned());
    report.ok("version", format!("{title}: {version} at {}", path.display()));
    if !is_told {
        let mend = format!("gatelatch connect {name} --write");
        report.warn("client", format!("{title} is installed and not connected"), mend);
    }
    Ok(())
}

/// Tells of one configuration of a client; whether Gatelatch is in it.
fn look_at_plan(
    client: Client,
    kind: &Server,
    plan: Result<Plan, ConnectError>,
    flag: &str,
    report: &mut Report,
) -> bool {
    let title = client.title();
    let plan = match plan {
        Ok(plan) => plan,
        Err(ConnectError::NoHome) => return false,
        Err(error) => {
            let what = format!("{title}: {}", one_line(&error.to_string()));
            let mend = match &error {
                ConnectError::Syntax { .. } => "mend the file",
                other => other.help().unwrap_or("mend the client's configuration"),
            };
            report.fail("client", what, mend);
            return false;
        }
    };
    for unread in &plan.unread {
        // One that is to be written has been told, with the place.
        if !report.findings.iter().any(|finding| finding.what.contains(&unread.source)) {
            report.fail("client", format!("{title}: {}", one_line(&unread.to_string())), "mend the file");
        }
    }
    // What has no file of the project's is told once, of the user's own.
    let elsewhere = plan.files.is_empty() && flag.is_empty();
    if plan.adds_server || elsewhere {
        return false;
    }
    let (chat, started) = match kind {
        Server::Operator => ("", "this gatelatch and asks before the confirmed tools"),
        Server::Chat { .. } => (" --chat", "this gatelatch's chat server"),
    };
    let mend = format!("gatelatch connect {}{flag}{chat} --write, then restart {title}", client.as_str());
    let before = report.findings.len();
    for file in &plan.files {
        let place = file.named.display().to_string();
        file.changes.iter().for_each(|change| look_at_change(title, change, &place, &mend, report));
    }
    for piece in &plan.by_hand {
        let what = format!("{title} lacks something in {}", piece.path.display());
        report.fail("client", what, format!("gatelatch connect {}{chat} shows the lines to add", client.as_str()));
    }
    for warning in &plan.warnings {
        report.fail("client", format!("{title}: {warning}"), "mend the rule that is named");
    }
    if report.findings.len() == before {
        let place = plan.files.first().map(|file| format!(": {}", file.named.display())).unwrap_or_default();
        report.ok("client", format!("{title} starts {started}{place}"));
    }
    true
}

/// Tells of one thing that connecting again would change.
fn look_at_change(title: &str, change: &Change, place: &str, mend: &str, report: &mut Report) {
    match change {
        Change::Replace { key, old, new } if key.ends_with(".command") && first_word(old) != first_word(new) => {
            let other = first_word(old);
            if Path::new(&other).is_absolute() && !Path::new(&other).is_file() {
                report.fail("client", format!("{title} starts {other}, which is not there: {place}"), mend);
            } else {
                report.warn("client", format!("{title} starts another gatelatch, {other}: {place}"), mend);
            }
        }
        Change::Replace { key, .. } if key.ends_with(".command") || key.ends_with(".args") => {
            report.warn(
                "client",
                format!("{title} starts gatelatch with other arguments than hold here: {place}"),
                mend,
            );
        }
        // What makes it ask; without the rest it only asks too often.
        other if other.to_string().contains("confirmed") => {
            report.fail("client", format!("{title} may not ask before a confirmed tool in {place}: {other}"), mend);
        }
        other => report.warn("client", format!("{title} lacks something in {place}: {other}"), mend),
    }
}

/// The program of a command: a JSON array, or text.
fn first_word(command: &str) -> String {
    match serde_json::from_str::<Value>(command) {
        Ok(Value::String(program)) => program,
        Ok(Value::Array(words)) => words.first().and_then(Value::as_str).unwrap_or_default().to_owned(),
        _ => command.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_told_by_its_program_however_the_client_writes_it() {
        assert_eq!(first_word(r#"["/a b/gatelatch","operator"]"#), "/a b/gatelatch");
        assert_eq!(first_word(r#""/a b/gatelatch""#), "/a b/gatelatch");
        assert_eq!(first_word("another kind of server"), "another kind of server");
    }

    #[test]
    fn versions_compare_as_numbers() {
        assert!(older("Python 3.8.10", (3, 9)));
        assert!(!older("Python 3.11.2", (3, 9)));
        assert!(older("Python 2.7.18", (3, 9)));
        assert!(!older("no number", (3, 9)));
    }

    #[test]
    fn a_failure_alone_makes_the_code_one() {
        let mut report = Report::default();
        report.ok("version", "x");
        report.warn("client", "x", "y");
        assert_eq!(report.code(), Code::Done);
        report.fail("cache", "x", "y");
        assert_eq!(report.code(), Code::Failed);
    }
}
