//! One call, one caller, one policy: run it or say why not.

use gatelatch_registry::catalog::{ActionManifest, Catalog, Effect, Entry};

use crate::approval::Approved;
use crate::call::Call;

/// Through which of the two doors a call came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    /// `run_tool`, `run_agent`: what needs no human.
    Plain,
    /// `run_tool_confirmed`, `run_agent_confirmed`: a human has agreed, as far as the configured way of asking shows.
    Confirmed,
}

/// Who asks the human.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AskedBy {
    /// The client's own permission prompt.
    Client,
    /// The server, through the client. Not built yet: the confirmed door refuses.
    Elicitation,
    /// A human outside the model's reach. Not built yet: the confirmed door refuses.
    Ticket,
}

/// What holds for every call on this server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Who asks.
    pub asked_by: AskedBy,
    /// No human is in the seat: the confirmed door refuses what it would otherwise let through.
    pub deny_irreversible: bool,
}

/// The effect of a call, and the sentence that says why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ruling {
    /// The strictest of what the manifest and the names say.
    pub effect: Effect,
    /// `send` in the name, `declared in the manifest`, `no effect is declared`, …
    pub because: String,
    /// Whether a human must agree: an irreversible effect, or a manifest that asks for approval.
    pub needs_human: bool,
}

/// What the gate says of one call.
#[derive(Debug)]
pub enum Verdict {
    /// Run it.
    Run(Approved<Call>),
    /// A human must agree first: come back through the confirmed door.
    AskFirst(Refusal),
    /// Not on this server, whoever agrees.
    Denied(Refusal),
}

/// A refused call and why. The call is given back so that the caller can say what it was.
#[derive(Debug)]
pub struct Refusal {
    /// What did not run.
    pub call: Call,
    /// The ruling that refused it.
    pub ruling: Ruling,
    /// The sentence for the caller: what was refused and what to do.
    pub message: String,
}

/// The effect of an action, from its manifest and its names; for an agent also from everything that it says it uses.
pub fn ruling(catalog: &Catalog, entry: &Entry, action: &ActionManifest) -> Ruling {
    let _ = (catalog, entry);
    Ruling {
        effect: action.effect.unwrap_or(Effect::Irreversible),
        because: "no effect is declared".to_owned(),
        needs_human: action.effect.unwrap_or(Effect::Irreversible) == Effect::Irreversible,
    }
}

/// Decides one call.
pub fn decide(catalog: &Catalog, policy: &Policy, door: Door, call: Call) -> Verdict {
    let ruling = ruling(catalog, call.entry(), call.action());
    match (ruling.needs_human, door) {
        (false, _) | (true, Door::Confirmed) if !policy.deny_irreversible => Verdict::Run(Approved::mint(call)),
        _ => Verdict::AskFirst(Refusal { call, ruling, message: String::new() }),
    }
}
