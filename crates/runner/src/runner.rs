//! The one door through which a program is started for a call.
//!
//! Owns the order: arguments, a free slot, the program, its environment, the run, what its end means. Each of them is a
//! module of its own. Start at [`Runner::run`].

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use gatelatch_gate::approval::Approved;
use gatelatch_gate::call::Call;
use gatelatch_registry::catalog::{ActionManifest, Entry, Origin};
use gatelatch_secrets::secret::Loan;
use gatelatch_spawn::child::{self, Launch, Listeners, RUN_VARIABLE, SpawnError};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::argv::{self, ArgvError};
use crate::cache::{self, CacheError, Patience};
use crate::environment::environment;
use crate::host::Host;
use crate::obstacle::explain;
use crate::outcome::{TAIL, outcome};
use crate::program::{Files, Program, locate};
use crate::progress;
use crate::readiness::{NotReady, lend};
use crate::slot::{Slot, Slots};
use crate::tree::Shortened;

/// How long another process may hold the lock of unpacked programs, unless the call itself has less time.
const UNPACKING: Duration = Duration::from_secs(10);
/// How much longer the disk may take over it.
const DISK: Duration = Duration::from_secs(5);

/// Where a run's progress goes.
pub type Steps = Box<dyn FnMut(Step) + Send>;

/// One step of progress, as a child told it.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// How far.
    pub progress: f64,
    /// Out of how much, if known.
    pub total: Option<f64>,
    /// For people.
    pub message: Option<String>,
}

/// A run that did what it should.
#[derive(Clone, Debug, PartialEq)]
pub struct Done {
    /// The JSON of standard output, or `{"text": …}`; with `"lossy": true` where bytes that are no text were replaced.
    pub value: Value,
    /// What is missing from it, where it was not held whole.
    pub shortened: Option<Shortened>,
    /// Always 0: any other is a [`RunError::Failed`].
    pub exit_code: i32,
    /// From the child's start to its end.
    pub elapsed: Duration,
    /// How much it wrote to standard output.
    pub stdout_bytes: u64,
}

/// What a call would run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The argument vector, the program first.
    pub argv: Vec<String>,
    /// The names of the environment's variables, never their values.
    pub environment: Vec<String>,
    /// Where it runs.
    pub working_folder: PathBuf,
}

/// Why a call did not do what it should. Never holds an argument's value.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The entry cannot run on this machine now.
    #[error(transparent)]
    NotReady(#[from] NotReady),
    /// Its slots were taken for as long as the call itself may last.
    #[error("`{entry}` is busy: no other run of it ended within {} s", waited.as_secs_f64())]
    Busy {
        /// The entry's name.
        entry: String,
        /// How long the call stood in line.
        waited: Duration,
    },
    /// The arguments are larger than the manifest or the system allows.
    #[error("{} too large: {bytes} bytes, {limit} allowed", argument.as_ref().map_or_else(|| "the arguments are".to_owned(), |name| format!("argument `{name}` is")))]
    InputTooLarge {
        /// The one that is too large by itself.
        argument: Option<String>,
        /// Their size.
        bytes: u64,
        /// What is allowed.
        limit: u64,
    },
    /// A positional would be taken for an option.
    #[error("argument `{argument}` begins with `-` and would be taken for an option")]
    LeadingDash {
        /// Its name.
        argument: String,
    },
    /// No argument vector can carry it.
    #[error("argument `{argument}` holds a NUL character")]
    Nul {
        /// Its name.
        argument: String,
    },
    /// The program did not start.
    #[error("{cause}")]
    CannotStart {
        /// Which file it is about, and why.
        cause: String,
        /// What to do about it.
        help: String,
    },
    /// The program was lost.
    #[error("the program could not be run")]
    Spawn(#[source] SpawnError),
    /// It was ended when its time was up.
    #[error("timed out after {} s", after.as_secs_f64())]
    TimedOut {
        /// The limit.
        after: Duration,
        /// The tail of what it wrote to standard error.
        stderr: String,
    },
    /// It was ended, or not started, because the caller cancelled.
    #[error("cancelled")]
    Cancelled,
    /// Something else killed it.
    #[error("killed by signal {signal}")]
    Signalled {
        /// The signal's number.
        signal: i32,
        /// The tail of what it wrote to standard error.
        stderr: String,
    },
    /// It said that it failed.
    #[error("exited with code {exit_code}")]
    Failed {
        /// Never 0.
        exit_code: i32,
        /// The child's own JSON error, or `{"text": …}` with the tail of what it wrote.
        error: Value,
        /// Whether it is the former: what the child meant for callers.
        is_own: bool,
        /// What is missing from it, where it was not held whole.
        shortened: Option<Shortened>,
    },
    /// It wrote more than the manifest allows.
    #[error("the result is too large: {bytes} bytes, {limit} allowed")]
    OutputTooLarge {
        /// What is allowed.
        limit: u64,
        /// What it wrote.
        bytes: u64,
        /// How it began.
        head: String,
        /// Arguments that make the result smaller.
        narrow_with: Vec<String>,
    },
    /// A compiled-in program cannot be unpacked to where it is safe to run.
    #[error(transparent)]
    UnsafeCache(#[from] CacheError),
}

impl RunError {
    /// A stable code.
    pub fn code(&self) -> &'static str {
        match self {
            RunError::NotReady(_) => "not_ready",
            RunError::Busy { .. } => "busy",
            RunError::InputTooLarge { .. } => "input_too_large",
            RunError::LeadingDash { .. } | RunError::Nul { .. } => "bad_arguments",
            RunError::CannotStart { .. } | RunError::UnsafeCache(_) => "cannot_start",
            RunError::Spawn(_) | RunError::Signalled { .. } => "killed",
            RunError::TimedOut { .. } => "timeout",
            RunError::Cancelled => "cancelled",
            RunError::Failed { .. } => "tool_failed",
            RunError::OutputTooLarge { .. } => "output_too_large",
        }
    }

    /// What to do about it, where that can be told.
    pub fn help(&self) -> Option<String> {
        match self {
            RunError::NotReady(why) => Some(why.help()),
            RunError::CannotStart { help, .. } => Some(help.clone()),
            RunError::UnsafeCache(why) => Some(why.help()),
            RunError::Busy { .. }
            | RunError::InputTooLarge { .. }
            | RunError::LeadingDash { .. }
            | RunError::Nul { .. }
            | RunError::Spawn(_)
            | RunError::TimedOut { .. }
            | RunError::Cancelled
            | RunError::Signalled { .. }
            | RunError::Failed { .. }
            | RunError::OutputTooLarge { .. } => None,
        }
    }
}

impl From<ArgvError> for RunError {
    fn from(error: ArgvError) -> RunError {
        match error {
            ArgvError::LeadingDash { argument } => RunError::LeadingDash { argument },
            ArgvError::Nul { argument } => RunError::Nul { argument },
            ArgvError::TooLarge { argument, bytes } => RunError::InputTooLarge {
                argument: Some(argument),
                bytes: bytes as u64,
                limit: argv::LONGEST_ELEMENT as u64,
            },
        }
    }
}

/// Runs calls on one host, within each entry's slots.
#[derive(Debug)]
pub struct Runner {
    host: Arc<Host>,
    slots: Slots,
}

impl Runner {
    /// A runner that has run nothing yet.
    pub fn new(host: Host) -> Runner {
        Runner { host: Arc::new(host), slots: Slots::default() }
    }

    /// The machine as it was given.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// What a call would run. Starts nothing, but unpacks a compiled-in program, so that what is told is there. Blocks.
    pub fn plan(&self, call: &Call) -> Result<Plan, RunError> {
        let elements = elements(call)?;
        let loan = lend(&self.host, call.entry())?;
        if let Origin::Compiled(files) = &call.entry().origin {
            let patience = Patience { within: UNPACKING, given_up: CancellationToken::new() };
            cache::unpack(&self.host.cache_folder, files, &patience)?;
        }
        let files = Files::of(&self.host, call.entry());
        let launch = launch(&self.host, call, elements, &loan, &files)?;
        let argv = std::iter::once(launch.program.display().to_string())
            .chain(launch.args.iter().map(|element| element.to_string_lossy().into_owned()));
        let mut names: Vec<String> = launch.env.iter().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
        if cfg!(target_os = "linux") {
            names.push(RUN_VARIABLE.to_owned());
        }
        names.sort();
        names.dedup();
        Ok(Plan { argv: argv.collect(), environment: names, working_folder: launch.cwd })
    }

    /// Runs a call that the gate let through, and returns when nothing of it is left.
    ///
    /// A call over its entry's limit waits in line for at most as long as it may then run. Dropping the future ends
    /// everything at once; cancelling gives the program a moment to end by itself.
    ///
    /// `keep` is how many bytes of the result will be shown: of one that is larger only as much is held as an answer of
    /// that size can show, whatever its shape, and what is missing is told. `None` holds all of it.
    pub async fn run(
        &self,
        approved: Approved<Call>,
        cancelled: CancellationToken,
        steps: Option<Steps>,
        keep: Option<usize>,
    ) -> Result<Done, RunError> {
        let call = Arc::new(approved.into_inner());
        let (entry, action) = (call.entry(), call.action());
        let elements = elements(&call)?;
        let loan = Arc::new(lend(&self.host, entry)?);
        let _slot = self.slot(entry, action, &cancelled).await?;
        let launch = self.prepare(&call, elements, &loan, &cancelled).await?;
        let size = size(&launch);
        let ended = child::run(launch, listeners(&loan, steps), cancelled).await;
        outcome(ended.map_err(|error| not_run(error, size, action))?, action, &loan, keep)
    }

    /// Unpacks and looks up what is to be started, on a thread that may wait for the disk or for another process: whoever
    /// polls this does other things, too.
    async fn prepare(
        &self,
        call: &Arc<Call>,
        elements: Vec<String>,
        loan: &Arc<Loan>,
        cancelled: &CancellationToken,
    ) -> Result<Launch, RunError> {
        let within = call.action().limits.timeout.min(UNPACKING);
        let given_up = cancelled.child_token();
        // Also when this future is dropped, nobody goes on waiting.
        let _given_up = given_up.clone().drop_guard();
        let (host, call, loan) = (Arc::clone(&self.host), Arc::clone(call), Arc::clone(loan));
        let work = tokio::task::spawn_blocking(move || {
            let entry = call.entry();
            if let Origin::Compiled(files) = &entry.origin {
                cache::unpack(&host.cache_folder, files, &Patience { within, given_up })?;
            }
            launch(&host, &call, elements, &loan, &Files::of(&host, entry))
        });
        tokio::select! {
            biased;
            () = cancelled.cancelled() => Err(RunError::Cancelled),
            prepared = work => match prepared {
                Ok(prepared) => prepared,
                Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
                // The runtime goes down.
                Err(_) => Err(RunError::Cancelled),
            },
            () = tokio::time::sleep(within + DISK) => Err(RunError::CannotStart {
                cause: format!("the disk did not answer within {} s", (within + DISK).as_secs_f64()),
                help: "look at the disks that hold the catalog, PATH and GATELATCH_CACHE".to_owned(),
            }),
        }
    }

    async fn slot(
        &self,
        entry: &Entry,
        action: &ActionManifest,
        cancelled: &CancellationToken,
    ) -> Result<Slot, RunError> {
        let waited = action.limits.timeout;
        tokio::select! {
            biased;
            () = cancelled.cancelled() => Err(RunError::Cancelled),
            slot = self.slots.take(&entry.manifest, action) => Ok(slot),
            () = tokio::time::sleep(waited) => Err(RunError::Busy { entry: entry.manifest.name.clone(), waited }),
        }
    }
}

fn launch(host: &Host, call: &Call, elements: Vec<String>, loan: &Loan, files: &Files<'_>) -> Result<Launch, RunError> {
    let (entry, action) = (&call.entry().manifest, call.action());
    let Program { path, mut args } = locate(host, entry, files)?;
    args.extend(elements.into_iter().map(OsString::from));
    let env = environment(host, entry, action, loan);
    Ok(Launch {
        program: path,
        args,
        env: env.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
        cwd: match &action.cwd {
            Some(cwd) => files.folder().join(cwd),
            None => host.working_folder.clone(),
        },
        timeout: action.limits.timeout,
        // Beyond what is shown, for a secret that reaches over the cut.
        max_stdout_bytes: usize::try_from(action.limits.max_output_bytes)
            .unwrap_or(usize::MAX)
            .saturating_add(loan.reach()),
        stderr_tail_bytes: TAIL + loan.reach(),
    })
}

/// A call's elements, if they are within the manifest's limit.
fn elements(call: &Call) -> Result<Vec<String>, RunError> {
    let values = call.arguments().values();
    let limit = call.action().limits.max_input_bytes;
    let bytes = Value::Object(values.clone()).to_string().len() as u64;
    if bytes > limit {
        return Err(RunError::InputTooLarge { argument: None, bytes, limit });
    }
    Ok(argv::elements(call.action(), values)?)
}

fn listeners(loan: &Arc<Loan>, steps: Option<Steps>) -> Listeners {
    let tell = |mut steps: Steps| -> child::LineListener {
        let loan = Arc::clone(loan);
        Box::new(move |line| {
            if let Some(step) = progress::step(line, &loan) {
                steps(step);
            }
        })
    };
    Listeners { stderr_line: steps.map(tell) }
}

/// What the system counts: every element and variable with its NUL, and a pointer to it.
fn size(launch: &Launch) -> u64 {
    let args = launch.args.iter().map(|element| element.len() + 9);
    let env = launch.env.iter().map(|(name, value)| name.len() + value.len() + 10);
    (launch.program.as_os_str().len() + args.sum::<usize>() + env.sum::<usize>()) as u64
}

/// The system refuses arguments that are too large as a whole when the program starts.
fn not_run(error: SpawnError, bytes: u64, action: &ActionManifest) -> RunError {
    match error {
        SpawnError::Start { source, .. } if source.kind() == io::ErrorKind::ArgumentListTooLong => {
            RunError::InputTooLarge { argument: None, bytes, limit: system_limit() }
        }
        other => explain(other, action),
    }
}

/// How large arguments and environment may be together.
#[cfg(unix)]
fn system_limit() -> u64 {
    let stack = rustix::process::getrlimit(rustix::process::Resource::Stack).current;
    // Linux: a quarter of the stack, and never more than 6 MiB.
    stack.map_or(6 << 20, |stack| (stack / 4).min(6 << 20))
}

#[cfg(not(unix))]
fn system_limit() -> u64 {
    argv::LONGEST_ELEMENT as u64
}
