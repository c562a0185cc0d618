//! Where every request, verdict and outcome is told, without raw arguments.

use gatelatch_gate::decision::Door;
use gatelatch_registry::catalog::{Effect, Kind};

use crate::answer::Status;

/// One step of one request. Holds names only: never an argument's value, never a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Counts requests on this process, from 1; the steps of one request share it.
    pub request: u64,
    /// Which front: `operator`, `command line`.
    pub front: &'static str,
    /// The entry's kind.
    pub kind: Kind,
    /// The entry's name, as declared.
    pub entry: String,
    /// The entry's version.
    pub version: String,
    /// The action's name; `None` for the nameless one.
    pub action: Option<String>,
    /// Through which door.
    pub door: Door,
    /// The names of the arguments that were given.
    pub arguments: Vec<String>,
    /// What happened.
    pub step: Step,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The gate spoke.
    Verdict {
        /// `run`, `approval_required` or `denied`.
        verdict: &'static str,
        /// The call's effect.
        effect: Effect,
        /// Why it has that effect.
        because: String,
    },
    /// The program ended or did not start.
    Outcome {
        /// How.
        status: Status,
        /// The stable code of the failure, if it was one.
        error: Option<String>,
        /// From the verdict to the end, in milliseconds.
        milliseconds: u64,
    },
}

/// Takes events in order. Must not wait for long: the road waits for it.
pub trait Recorder: Send + Sync {
    /// Takes one event.
    fn record(&self, event: &Event);
}

/// Tells every event on the log, under the target `gatelatch::record`.
#[derive(Clone, Copy, Debug, Default)]
pub struct LogRecorder;

impl Recorder for LogRecorder {
    fn record(&self, event: &Event) {
        let Event { request, front, kind, entry, version, action, door, arguments, step } = event;
        let (kind, action) = (kind.as_str(), action.as_deref().unwrap_or("-"));
        let door = match door {
            Door::Plain => "plain",
            Door::Confirmed => "confirmed",
        };
        let arguments = arguments.join(",");
        match step {
            Step::Verdict { verdict, effect, because } => tracing::info!(
                target: "gatelatch::record",
                request, front, kind, entry, version, action, door, arguments, verdict, %effect, because
            ),
            Step::Outcome { status, error, milliseconds } => tracing::info!(
                target: "gatelatch::record",
                request, kind, entry, action, ?status, error = error.as_deref().unwrap_or("-"), milliseconds
            ),
        }
    }
}
