//! Connects clients to one of our servers, and disconnects them again.
//!
//! Owns what is common to all clients: a [`Plan`] is made first and can be shown, [`apply`] then writes exactly that, and
//! a record in the state folder lets [`plan_undo`] put back what was there. Knows no client's configuration; each client
//! is a module below this one. Start at [`plan`].

mod claude;
mod codex;
mod cursor;
mod draft;
mod gemini;
mod goose;
mod jsonc;
mod judgement;
mod opencode;
mod page;
mod place;
mod record;
mod sheet;
mod syntax;
mod toml;
mod vscode;
mod write;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use judgement::Judgement;
pub(crate) use judgement::Unread;
use page::Page;
use record::{Kept, Record};
use sheet::{FilePlan, Planned, Settled, Sheet};

/// A client that can be connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Client {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Cursor.
    Cursor,
    /// Gemini CLI.
    Gemini,
    /// goose.
    Goose,
    /// opencode.
    Opencode,
    /// Visual Studio Code.
    Vscode,
}

impl Client {
    /// Every client, the best known to us first.
    pub(crate) const ALL: [Client; 7] = [
        Client::Opencode,
        Client::Claude,
        Client::Codex,
        Client::Cursor,
        Client::Gemini,
        Client::Goose,
        Client::Vscode,
    ];

    /// The program that starts it.
    pub(crate) fn program(self) -> &'static str {
        match self {
            Client::Claude => "claude",
            Client::Codex => "codex",
            Client::Cursor => "cursor",
            Client::Gemini => "gemini",
            Client::Goose => "goose",
            Client::Opencode => "opencode",
            Client::Vscode => "code",
        }
    }

    /// The word that the command line uses.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Client::Claude => "claude-code",
            Client::Codex => "codex",
            Client::Cursor => "cursor",
            Client::Gemini => "gemini-cli",
            Client::Goose => "goose",
            Client::Opencode => "opencode",
            Client::Vscode => "vscode",
        }
    }

    /// The name that people know it by.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Client::Claude => "Claude Code",
            Client::Codex => "Codex",
            Client::Cursor => "Cursor",
            Client::Gemini => "Gemini CLI",
            Client::Goose => "goose",
            Client::Opencode => "opencode",
            Client::Vscode => "VS Code",
        }
    }
}

/// Which of our servers a client gets to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Server {
    /// The freeform one, whose confirmed tools must ask.
    Operator,
    /// The curated one. Its tools are what its declaration says, and none of them needs a rule of ours: what a client
    /// asks about them is left to the client and its user.
    Chat {
        /// The declaration to pass as `--surface`, absolute; `None` where the server finds it by itself.
        surface: Option<PathBuf>,
    },
}

impl Server {
    /// The verb that starts it.
    fn verb(&self) -> &'static str {
        match self {
            Server::Operator => "operator",
            Server::Chat { .. } => "chat",
        }
    }

    /// The name under which a client knows it, unless somebody wants another: not the same, so that both can stand.
    pub(crate) fn own_name(&self) -> &'static str {
        match self {
            Server::Operator => "gatelatch",
            Server::Chat { .. } => "gatelatch-chat",
        }
    }

    /// The name of the other one.
    fn others_name(&self) -> &'static str {
        match self {
            Server::Operator => Server::Chat { surface: None }.own_name(),
            Server::Chat { .. } => Server::Operator.own_name(),
        }
    }

    /// The tools that must ask.
    fn confirmed(&self) -> &'static [&'static str] {
        match self {
            Server::Operator => &["run_tool_confirmed", "run_agent_confirmed"],
            Server::Chat { .. } => &[],
        }
    }

    /// The tools that need no question.
    fn plain(&self) -> &'static [&'static str] {
        match self {
            Server::Operator => &["capabilities", "run_tool", "run_agent", "get_skill"],
            Server::Chat { .. } => &[],
        }
    }

    /// A note about the question that confirmed tools ask, where there are such tools.
    fn of_the_question(&self, note: &str) -> Option<String> {
        (!self.confirmed().is_empty()).then(|| note.to_owned())
    }
}

/// Which of a client's configuration files to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The user's own, which holds for every folder.
    Global,
    /// That of the project around the working folder.
    Project,
    /// This one.
    File(PathBuf),
}

/// What to connect, and where.
#[derive(Clone, Debug)]
pub(crate) struct ConnectRequest {
    /// Which client.
    pub(crate) client: Client,
    /// Which of its files.
    pub(crate) scope: Scope,
    /// Which server.
    pub(crate) kind: Server,
    /// The name under which the client knows the server.
    pub(crate) server: String,
    /// The `gatelatch` program, absolute.
    pub(crate) program: PathBuf,
    /// Folders to pass as `--catalog`, absolute.
    pub(crate) catalogs: Vec<PathBuf>,
    /// How long a call of the server's tools may take.
    pub(crate) longest_call: Duration,
}

/// What a client waits longer than a call may take, so that the server is the one that ends it and says why.
const MARGIN: Duration = Duration::from_secs(30);

impl ConnectRequest {
    /// The command line of the server: the program and its arguments, absolute and without anything that the client
    /// would substitute.
    fn command(&self, substituted: &[&str]) -> Result<(String, Vec<String>), ConnectError> {
        let literal = |path: &Path| {
            if !path.is_absolute() {
                return Err(ConnectError::Relative(path.to_path_buf()));
            }
            let text = path.to_str().filter(|text| !substituted.iter().any(|mark| text.contains(mark)));
            text.map(str::to_owned).ok_or_else(|| ConnectError::Unwritable(path.to_path_buf()))
        };
        let mut arguments = vec![self.kind.verb().to_owned()];
        for catalog in &self.catalogs {
            arguments.extend(["--catalog".to_owned(), literal(catalog)?]);
        }
        if let Server::Chat { surface: Some(surface) } = &self.kind {
            arguments.extend(["--surface".to_owned(), literal(surface)?]);
        }
        Ok((literal(&self.program)?, arguments))
    }

    /// How long the client has to wait for an answer.
    fn patience(&self) -> Duration {
        self.longest_call.saturating_add(MARGIN)
    }

    /// Refuses a name that could not be part of what the client calls the tools.
    fn check_name(&self, rule: &'static str, fits: impl Fn(&str) -> bool) -> Result<(), ConnectError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let name = self.server.as_str();
        if name == self.kind.others_name() {
            return Err(ConnectError::OthersName(name.to_owned()));
        }
        if !name.is_empty() && name.chars().all(plain) && fits(name) {
            Ok(())
        } else {
            Err(ConnectError::ServerName { name: name.to_owned(), rule })
        }
    }
}

/// What most clients say of a server's name.
const PLAIN_NAME: &str = "use letters, digits, `-` and `_`";

/// What the process knows of the machine; read once, by the front.
#[derive(Clone, Debug)]
pub(crate) struct Surroundings {
    /// The environment.
    pub(crate) environment: BTreeMap<String, String>,
    /// The working folder, absolute.
    pub(crate) working_folder: PathBuf,
    /// Gatelatch's own state folder, absolute; the records of what was connected lie in it.
    pub(crate) state_folder: PathBuf,
}

impl Surroundings {
    /// A variable that is set and not empty.
    fn variable(&self, name: &str) -> Option<&str> {
        self.environment.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The user's home folder.
    fn home(&self) -> Option<PathBuf> {
        self.variable("HOME").or_else(|| self.variable("USERPROFILE")).map(PathBuf::from)
    }
}

/// One file that a plan writes or removes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileEdit {
    /// The file itself, links followed.
    pub(crate) path: PathBuf,
    /// Its text when the plan was made; `None` when it was not there.
    pub(crate) before: Option<String>,
    /// Its text afterwards; `None` removes it.
    pub(crate) after: Option<String>,
}

/// One thing that a plan adds to a configuration, changes in it or takes out of it, for the eye.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// `+ key  value`.
    Add { key: String, value: String },
    /// `~ key  old -> new`.
    Replace { key: String, old: String, new: String },
    /// `- key`.
    Remove { key: String },
    /// `~ key  as it was`: what stood there before comes back, unseen, since it may hold keys.
    Restore { key: String },
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::Add { key, value } => write!(f, "+ {key}  {value}"),
            Change::Replace { key, old, new } => write!(f, "~ {key}  {old} -> {new}"),
            Change::Remove { key } => write!(f, "- {key}"),
            Change::Restore { key } => write!(f, "~ {key}  as it was"),
        }
    }
}

/// What happens to the record of a connection when the plan is applied.
#[derive(Clone, Debug)]
enum RecordEdit {
    Keep,
    Write(PathBuf, Box<Record>),
    Remove(PathBuf),
}

/// Text that a person has to put into a file, because it cannot be edited without losing anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ByHand {
    /// The file.
    pub(crate) path: PathBuf,
    /// What should stand in it, or go.
    pub(crate) text: String,
}

/// What will be written. Its `Display` shows it to a person; nothing has happened yet.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The configuration files, the one with the server first.
    pub(crate) files: Vec<FilePlan>,
    /// The instructions file beside them, when it is to be written.
    companion: Option<FileEdit>,
    /// What is left to a person.
    pub(crate) by_hand: Vec<ByHand>,
    /// Whether the client does not know the server yet.
    pub(crate) adds_server: bool,
    /// What to write, in this order.
    edits: Vec<FileEdit>,
    /// What lets a confirmed tool run without a question, or hides what was to be connected.
    pub(crate) warnings: Vec<String>,
    /// What a person should know.
    pub(crate) notes: Vec<String>,
    /// What the client reads too and nobody could read here.
    pub(crate) unread: Vec<Unread>,
    record: RecordEdit,
}

impl Plan {
    /// Whether applying it would write nothing, as when everything stands as it should.
    pub(crate) fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A configuration is told by its changes alone, since its other lines may hold keys.
        for file in &self.files {
            writeln!(f, "{}{}", file.named.display(), becomes(file.edit.as_ref()))?;
            if file.edit.is_none() {
                writeln!(f, "  nothing to change")?;
            }
            for change in &file.changes {
                writeln!(f, "  {change}")?;
            }
        }
        if let Some(edit) = &self.companion {
            show_whole(f, edit)?;
        }
        for part in &self.by_hand {
            writeln!(f, "{} (by hand)", part.path.display())?;
            show_lines(f, &part.text)?;
        }
        for warning in &self.warnings {
            writeln!(f, "warning: {warning}")?;
        }
        for unread in &self.unread {
            writeln!(f, "note: {unread}")?;
        }
        for note in &self.notes {
            writeln!(f, "note: {note}")?;
        }
        Ok(())
    }
}

/// Whether a file comes or goes.
fn becomes(edit: Option<&FileEdit>) -> &'static str {
    match edit {
        Some(FileEdit { before: None, after: Some(_), .. }) => " (new file)",
        Some(FileEdit { before: Some(_), after: None, .. }) => " (removed)",
        _ => "",
    }
}

fn show_whole(f: &mut fmt::Formatter<'_>, edit: &FileEdit) -> fmt::Result {
    match &edit.after {
        None => writeln!(f, "{}{}", edit.path.display(), becomes(Some(edit))),
        Some(text) => {
            let replaced = if edit.before.is_some() { " (replaced)" } else { "" };
            writeln!(f, "{}{}{replaced}", edit.path.display(), becomes(Some(edit)))?;
            show_lines(f, text)
        }
    }
}

fn show_lines(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    text.lines().try_for_each(|line| writeln!(f, "  | {line}"))
}

/// Why a client cannot be connected. Nothing was written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectError {
    /// The name cannot be part of a permission key.
    #[error("`{name}` cannot be the server's name")]
    ServerName {
        /// The name.
        name: String,
        /// What the client takes.
        rule: &'static str,
    },
    /// The name is that of our other server, whose entry it would replace.
    #[error("`{0}` is the name of gatelatch's other server")]
    OthersName(String),
    /// A path that must be absolute is not.
    #[error("`{}` is no absolute path", .0.display())]
    Relative(PathBuf),
    /// A path that the client's configuration cannot hold.
    #[error("`{}` cannot stand in the client's configuration", .0.display())]
    Unwritable(PathBuf),
    /// No configuration folder is known.
    #[error("no home folder is known")]
    NoHome,
    /// A file could not be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file is no text that the client could read.
    #[error("{}:{line}:{column}: {message}", path.display())]
    Syntax {
        /// Which.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// What is wrong there.
        message: String,
    },
    /// A link in a project's folder leads out of it.
    #[error("`{}` is a link out of the project, to `{}`", path.display(), real.display())]
    LeavesProject {
        /// The link.
        path: PathBuf,
        /// Where it leads.
        real: PathBuf,
    },
    /// A link leads to what is not there, be it the file or a folder on the way to it.
    #[error("`{}` is a link to `{}`, which is not there", path.display(), to.display())]
    Dangling {
        /// The link.
        path: PathBuf,
        /// What it names.
        to: PathBuf,
    },
    /// What should be a file is something else.
    #[error("`{}` is no regular file", .0.display())]
    NotAFile(PathBuf),
    /// The record of the connection cannot be read.
    #[error("the record `{}` cannot be read: {message}", path.display())]
    Record {
        /// Which.
        path: PathBuf,
        /// Why.
        message: String,
    },
    /// An edit would have changed more than it should; this is a fault of ours.
    #[error("merging into `{}` would change more than it should", .0.display())]
    Unsound(PathBuf),
    /// A file changed between planning and applying.
    #[error("`{}` changed meanwhile", .0.display())]
    Changed(PathBuf),
    /// A file could not be written.
    #[error("cannot write `{}`", path.display())]
    Write {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

impl ConnectError {
    /// The way out, where one can be told.
    pub(crate) fn help(&self) -> Option<&'static str> {
        match self {
            ConnectError::ServerName { rule, .. } => Some(rule),
            ConnectError::OthersName(_) => Some("leave out --name, or choose another, so that both can stand"),
            ConnectError::Relative(_) => Some("give the whole path"),
            ConnectError::Unwritable(_) => Some("move it to a path of plain text without `$`, `{env:` and `{file:`"),
            ConnectError::NoHome => Some("set HOME, or name the file"),
            ConnectError::Syntax { .. } => Some("mend the file first; nothing was changed"),
            ConnectError::LeavesProject { .. } => Some("name the file itself if that is what you want to write"),
            ConnectError::Dangling { .. } => Some("make what it leads to, or remove the link"),
            ConnectError::Record { .. } => Some("remove it to go on without what it remembers"),
            ConnectError::Unsound(_) => Some("add what the preview shows by hand, and report this file"),
            ConnectError::Changed(_) => Some("run the command again"),
            ConnectError::Read { .. } | ConnectError::NotAFile(_) | ConnectError::Write { .. } => None,
        }
    }
}

/// What connecting would write. A connection that stands gives an empty plan.
pub(crate) fn plan(request: &ConnectRequest, surroundings: &Surroundings) -> Result<Plan, ConnectError> {
    let connection = Connection::of(request, surroundings)?;
    let (record_path, old) = connection.record(request, surroundings)?;
    let planned = connection.each(old.as_ref(), Sheet::plan)?;
    let written = old.and_then(|old| old.instructions);
    let (companion, page_note) = match &connection.page {
        Some(page) => page.plan(written.as_ref())?,
        None => (None, None),
    };
    let judged = connection.judge(request, surroundings, &planned);

    // The rules are written before the server that they are about, and what it names before that.
    let mut edits: Vec<FileEdit> = companion.iter().cloned().collect();
    edits.extend(planned.iter().rev().filter_map(|planned| planned.file.edit.clone()));
    let kept = planned.iter().filter_map(|planned| planned.kept.clone()).collect();
    let record = match record_path.filter(|_| !edits.is_empty()) {
        Some(path) => {
            let record = Record::new(kept, Page::kept(companion.as_ref(), written));
            RecordEdit::Write(path, Box::new(record))
        }
        None => RecordEdit::Keep,
    };
    let mut notes: Vec<String> = planned.iter().flat_map(|planned| planned.notes.clone()).collect();
    notes.extend(page_note);
    notes.extend(judged.notes);
    notes.extend(connection.notes);
    notes.extend(connection.sheets.first().filter(|_| request.scope == Scope::Project).map(|sheet| {
        let path = sheet.target.named.display();
        format!("`{path}` names programs by this machine's absolute paths; `--global` keeps them out of the repository")
    }));
    let server = format!(".{}", request.server);
    let is_server = |change: &Change| matches!(change, Change::Add { key, .. } if key.ends_with(&server));
    Ok(Plan {
        adds_server: connection.adds_server || planned.iter().any(|planned| planned.file.changes.iter().any(is_server)),
        files: planned.into_iter().map(|planned| planned.file).collect(),
        companion,
        by_hand: connection.by_hand,
        edits,
        warnings: judged.warnings,
        notes,
        unread: judged.unread,
        record,
    })
}

/// What disconnecting would write: what stood there before, to the byte, when nobody touched it since; else only our own
/// parts go.
pub(crate) fn plan_undo(request: &ConnectRequest, surroundings: &Surroundings) -> Result<Plan, ConnectError> {
    let connection = Connection::of(request, surroundings)?;
    let (record_path, old) = connection.record(request, surroundings)?;
    let planned = connection.each(old.as_ref(), Sheet::plan_undo)?;
    let (companion, page_note) = match &connection.page {
        Some(page) => page.plan_undo(old.is_some(), old.as_ref().and_then(|old| old.instructions.as_ref()))?,
        None => (None, None),
    };
    let mut edits: Vec<FileEdit> = planned.iter().filter_map(|planned| planned.file.edit.clone()).collect();
    edits.extend(companion.clone());
    let mut notes: Vec<String> = planned.iter().flat_map(|planned| planned.notes.clone()).collect();
    notes.extend(page_note);
    Ok(Plan {
        files: planned.into_iter().map(|planned| planned.file).collect(),
        companion,
        by_hand: connection.to_remove,
        adds_server: false,
        edits,
        warnings: Vec::new(),
        notes,
        unread: Vec::new(),
        record: record_path.filter(|_| old.is_some()).map_or(RecordEdit::Keep, RecordEdit::Remove),
    })
}

/// Writes what the plan says, each file whole or not at all; when one fails, those written before it are put back.
pub(crate) fn apply(plan: &Plan) -> Result<(), ConnectError> {
    write::apply(plan)
}

/// What a connection consists of.
#[derive(Debug, Default)]
struct Connection {
    /// The configuration files, the one with the server first.
    sheets: Vec<Sheet>,
    /// The instructions file.
    page: Option<Page>,
    /// What a person has to add.
    by_hand: Vec<ByHand>,
    /// What a person has to take out again.
    to_remove: Vec<ByHand>,
    /// Whether the server is among what a person has to add.
    adds_server: bool,
    /// What is always to be known.
    notes: Vec<String>,
}

impl Connection {
    fn of(request: &ConnectRequest, surroundings: &Surroundings) -> Result<Connection, ConnectError> {
        match request.client {
            Client::Claude => claude::connection(request, surroundings),
            Client::Codex => codex::connection(request, surroundings),
            Client::Cursor => cursor::connection(request, surroundings),
            Client::Gemini => gemini::connection(request, surroundings),
            Client::Goose => goose::connection(request, surroundings),
            Client::Opencode => opencode::connection(request, surroundings),
            Client::Vscode => vscode::connection(request, surroundings),
        }
    }

    /// What the client will make of it, here and now.
    fn judge(&self, request: &ConnectRequest, surroundings: &Surroundings, planned: &[Planned]) -> Judgement {
        let settled: Vec<Settled> = (self.sheets.iter().zip(planned))
            .map(|(sheet, planned)| Settled { target: sheet.target.clone(), text: planned.text.clone() })
            .collect();
        match request.client {
            Client::Claude => claude::judge(request, surroundings, &settled),
            Client::Codex => codex::judge(request, surroundings, &settled),
            Client::Cursor => cursor::judge(request, surroundings, &settled),
            Client::Gemini => gemini::judge(request, surroundings, &settled),
            Client::Goose => goose::judge(request, surroundings),
            Client::Opencode => opencode::judge(request, surroundings, &settled),
            Client::Vscode => vscode::judge(request, surroundings, &settled),
        }
    }

    /// Where the record of this connection lies, and the one that lies there. A connection that writes nothing has none.
    fn record(
        &self,
        request: &ConnectRequest,
        surroundings: &Surroundings,
    ) -> Result<(Option<PathBuf>, Option<Record>), ConnectError> {
        let Some(sheet) = self.sheets.first() else { return Ok((None, None)) };
        let path = Record::path(surroundings, request.client, &sheet.target.named, &request.server);
        let record = Record::load(&path)?;
        Ok((Some(path), record))
    }

    /// What happens to each file, given what the record remembers of it.
    fn each(
        &self,
        old: Option<&Record>,
        plan: impl Fn(&Sheet, Option<&Kept>) -> Result<Planned, ConnectError>,
    ) -> Result<Vec<Planned>, ConnectError> {
        self.sheets.iter().map(|sheet| plan(sheet, old.and_then(|old| old.of(&sheet.target.named)))).collect()
    }
}

#[cfg(test)]
mod bench;
#[cfg(test)]
mod tests;
