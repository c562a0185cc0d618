//! Connects clients to the operator server, and disconnects them again.
//!
//! Owns what is common to all clients: a [`Plan`] is made first and can be shown, [`apply`] then writes exactly that, and
//! a record in the state folder lets [`plan_undo`] put back what was there. Knows no client's configuration; each client
//! is a module below this one. Start at [`plan`].

mod jsonc;
mod opencode;
mod record;
mod write;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use record::Record;

/// A client that can be connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Client {
    /// opencode.
    Opencode,
}

impl Client {
    /// The word that the command line uses.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Client::Opencode => "opencode",
        }
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
    /// The name under which the client knows the server; `gatelatch` unless somebody wants two.
    pub(crate) server: String,
    /// The `gatelatch` program, absolute.
    pub(crate) program: PathBuf,
    /// Folders to pass as `--catalog`, absolute.
    pub(crate) catalogs: Vec<PathBuf>,
}

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
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::Add { key, value } => write!(f, "+ {key}  {value}"),
            Change::Replace { key, old, new } => write!(f, "~ {key}  {old} -> {new}"),
            Change::Remove { key } => write!(f, "- {key}"),
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

/// What will be written. Its `Display` shows it to a person; nothing has happened yet.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The configuration file as the user knows it.
    pub(crate) config: PathBuf,
    /// What changes in it.
    pub(crate) changes: Vec<Change>,
    /// The configuration file, when it is to be written.
    configuration: Option<FileEdit>,
    /// The instructions file beside it, when it is to be written.
    companion: Option<FileEdit>,
    /// What lets a confirmed tool run without a question, or hides what was to be connected.
    pub(crate) warnings: Vec<String>,
    /// What a person should know.
    pub(crate) notes: Vec<String>,
    record: RecordEdit,
}

impl Plan {
    /// Whether applying it would write nothing, as when everything stands as it should.
    pub(crate) fn is_empty(&self) -> bool {
        self.edits().next().is_none()
    }

    /// The files to write, in this order: the instructions first, so that the configuration never names a missing one.
    fn edits(&self) -> impl Iterator<Item = &FileEdit> {
        self.companion.iter().chain(&self.configuration)
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.config.display())?;
        if self.is_empty() {
            writeln!(f, "  nothing to change")?;
        }
        for change in &self.changes {
            writeln!(f, "  {change}")?;
        }
        // The configuration is told by its changes alone, since its other lines may hold keys.
        if let Some(edit) = &self.companion {
            show_whole(f, edit)?;
        }
        for warning in &self.warnings {
            writeln!(f, "warning: {warning}")?;
        }
        for note in &self.notes {
            writeln!(f, "note: {note}")?;
        }
        Ok(())
    }
}

fn show_whole(f: &mut fmt::Formatter<'_>, edit: &FileEdit) -> fmt::Result {
    match &edit.after {
        None => writeln!(f, "{} (removed)", edit.path.display()),
        Some(text) => {
            writeln!(f, "{} ({})", edit.path.display(), if edit.before.is_some() { "replaced" } else { "new" })?;
            text.lines().try_for_each(|line| writeln!(f, "  | {line}"))
        }
    }
}

/// Why a client cannot be connected. Nothing was written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectError {
    /// The name cannot be part of a permission key.
    #[error("`{0}` cannot be the server's name")]
    ServerName(String),
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
            ConnectError::ServerName(_) => {
                Some("use letters, digits, `-` and `_`; `servers` and `timeout` have a meaning of their own")
            }
            ConnectError::Relative(_) => Some("give the whole path"),
            ConnectError::Unwritable(_) => Some("move it to a path of plain text without `{env:` and `{file:`"),
            ConnectError::NoHome => Some("set HOME, or name the file"),
            ConnectError::Syntax { .. } => Some("mend the file first; nothing was changed"),
            ConnectError::LeavesProject { .. } => Some("name the file itself if that is what you want to write"),
            ConnectError::Record { .. } => Some("remove it to go on without what it remembers"),
            ConnectError::Unsound(_) => Some("add what the preview shows by hand, and report this file"),
            ConnectError::Changed(_) => Some("run the command again"),
            ConnectError::Read { .. } | ConnectError::NotAFile(_) | ConnectError::Write { .. } => None,
        }
    }
}

/// What connecting would write. A connection that stands gives an empty plan.
pub(crate) fn plan(request: &ConnectRequest, surroundings: &Surroundings) -> Result<Plan, ConnectError> {
    match request.client {
        Client::Opencode => opencode::plan(request, surroundings),
    }
}

/// What disconnecting would write: what stood there before, to the byte, when nobody touched it since; else only our own
/// parts go.
pub(crate) fn plan_undo(request: &ConnectRequest, surroundings: &Surroundings) -> Result<Plan, ConnectError> {
    match request.client {
        Client::Opencode => opencode::plan_undo(request, surroundings),
    }
}

/// Writes what the plan says, each file whole or not at all; when one fails, those written before it are put back.
pub(crate) fn apply(plan: &Plan) -> Result<(), ConnectError> {
    write::apply(plan)
}
