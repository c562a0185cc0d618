//! One call, one caller, one policy: run it or say why not.
//!
//! Owns the verdict, the sentence that explains it, and the only mint of an approval. Knows no wire format, no clock
//! and no client; how a name is read is [`crate::name`], what a declaration is worth is [`crate::declaration`]. Start
//! at [`decide`].

use gatelatch_registry::catalog::{ActionManifest, Catalog, Effect, Entry, Kind, UseManifest};

use crate::approval::Approved;
use crate::call::Call;
use crate::declaration::{Place, Standing};

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

impl AskedBy {
    /// Every way, the strictest last.
    pub const ALL: [AskedBy; 3] = [AskedBy::Client, AskedBy::Elicitation, AskedBy::Ticket];

    /// The word that the configuration uses.
    pub fn as_str(self) -> &'static str {
        match self {
            AskedBy::Client => "client",
            AskedBy::Elicitation => "elicit",
            AskedBy::Ticket => "ticket",
        }
    }
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
    /// ``the name says `send` ``, `declared in the manifest`, `no effect is declared`, …
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
    /// The same without what a caller of MCP tools should do: what was refused, why, and what the author can change.
    pub what: String,
}

impl Refusal {
    /// The tool that runs such a call once a human has agreed.
    pub fn confirm_with(&self) -> &'static str {
        confirm_with(self.call.entry().manifest.kind)
    }
}

/// The effect of an action, from its manifest and its names; for an agent also from everything that it says it uses.
pub fn ruling(catalog: &Catalog, entry: &Entry, action: &ActionManifest) -> Ruling {
    let standing = Standing::of(entry, action);
    let mut ruling = own_ruling(&standing, action);
    let uses = rulings_of_uses(catalog, entry);
    if let Some(strictest) = uses.iter().reduce(|best, other| if other.effect > best.effect { other } else { best }) {
        // Declaring an effect would not make an agent milder than what it uses, so that is the better reason.
        let is_better_reason = standing == Standing::Undeclared && strictest.effect == ruling.effect;
        if strictest.effect > ruling.effect || is_better_reason {
            ruling.effect = strictest.effect;
            ruling.because = strictest.because.clone();
            ruling.needs_human |= strictest.needs_human;
        }
    }
    if let Some(asking) = uses.iter().find(|used| used.needs_human && !ruling.needs_human) {
        ruling.needs_human = true;
        ruling.because = asking.because.clone();
    }
    ruling
}

/// Whether an action is irreversible only because no effect is declared.
pub(crate) fn lacks_declaration(catalog: &Catalog, entry: &Entry, action: &ActionManifest) -> bool {
    Standing::of(entry, action) == Standing::Undeclared
        && rulings_of_uses(catalog, entry).iter().all(|used| used.effect < Effect::Irreversible)
}

/// Decides one call.
pub fn decide(catalog: &Catalog, policy: &Policy, door: Door, call: Call) -> Verdict {
    let ruling = ruling(catalog, call.entry(), call.action());
    if !ruling.needs_human {
        return Verdict::Run(Approved::mint(call));
    }
    match consent(policy) {
        Consent::Prompt => match door {
            Door::Plain => ask_first(call, ruling),
            Door::Confirmed => Verdict::Run(Approved::mint(call)),
        },
        Consent::Unavailable(asked_by) => {
            let why = format!("its way of asking a human, `{}`, is not available in this version", asked_by.as_str());
            denied(call, ruling, &why)
        }
        Consent::Withheld => denied(call, ruling, "GATELATCH_DENY_IRREVERSIBLE is set, since no human is in the seat"),
    }
}

/// How a human's yes can reach this server.
///
/// The seam for the other two ways: each becomes a variant that carries what shows the yes (an answered elicitation, a
/// ticket to consume), and [`decide`] is given it beside the door.
enum Consent {
    /// The client asked before it sent the call: the confirmed door is the yes.
    Prompt,
    /// By a way that is configured and not built.
    Unavailable(AskedBy),
    /// Not at all.
    Withheld,
}

fn consent(policy: &Policy) -> Consent {
    if policy.deny_irreversible {
        return Consent::Withheld;
    }
    match policy.asked_by {
        AskedBy::Client => Consent::Prompt,
        AskedBy::Elicitation | AskedBy::Ticket => Consent::Unavailable(policy.asked_by),
    }
}

/// What an action's own manifest and names rule, whatever it uses.
fn own_ruling(standing: &Standing, action: &ActionManifest) -> Ruling {
    let effect = standing.effect();
    let because = match (effect, action.approval) {
        (Effect::ReadOnly | Effect::Reversible, true) => "the manifest asks for approval".to_owned(),
        (Effect::ReadOnly | Effect::Reversible, false) | (Effect::Irreversible, true | false) => because(standing),
    };
    Ruling { effect, because, needs_human: effect == Effect::Irreversible || action.approval }
}

fn because(standing: &Standing) -> String {
    match standing {
        Standing::Undeclared => "no effect is declared".to_owned(),
        Standing::Name { says, ignored: None } => format!("the name says `{}`", says.words),
        Standing::Name { says, ignored: Some(declared) } => {
            format!("the name says `{}`, and {declared} is declared without a `because:`", says.words)
        }
        Standing::Declared(_) => "declared in the manifest".to_owned(),
        Standing::Loosened { says, because, declared: _ } => {
            format!("declared in the manifest, though the name says `{}`: {because}", says.words)
        }
    }
}

/// The rulings of all that an agent says it uses, each told as the agent's own reason; in the order of their names, so
/// that of two equal ones the manifest's order does not choose.
fn rulings_of_uses(catalog: &Catalog, entry: &Entry) -> Vec<Ruling> {
    let mut rulings: Vec<Ruling> = entry.manifest.uses.iter().flat_map(|used| rulings_of_use(catalog, used)).collect();
    rulings.sort_by(|left, right| left.because.cmp(&right.because));
    rulings
}

fn rulings_of_use(catalog: &Catalog, used: &UseManifest) -> Vec<Ruling> {
    let tool = catalog.entry(Kind::Tool, &used.tool);
    let actions: Vec<_> = tool
        .iter()
        .flat_map(|tool| tool.manifest.actions.iter().map(move |action| (tool, action)))
        .filter(|(_, action)| used.action.is_none() || action.name == used.action)
        .collect();
    if actions.is_empty() {
        let name = dotted(&used.tool, used.action.as_deref());
        let because = format!("it uses `{name}`, which is not in the catalog");
        return vec![Ruling { effect: Effect::Irreversible, because, needs_human: true }];
    }
    actions
        .into_iter()
        .map(|(tool, action)| {
            let own = own_ruling(&Standing::of(tool, action), action);
            Ruling { because: format!("it uses `{}`", dotted(&used.tool, action.name.as_deref())), ..own }
        })
        .collect()
}

fn denied(call: Call, ruling: Ruling, why: &str) -> Verdict {
    let refused = what_was_refused(&call, &ruling);
    let for_the_author = help_for_the_author(&call, &ruling);
    let what = format!("{refused}, and nobody can agree to it here: {why}{for_the_author}");
    let message = format!(
        "{refused}, and this server runs no such call: {why}\nhelp: do not try again, tell the human{for_the_author}"
    );
    Verdict::Denied(Refusal { call, ruling, message, what })
}

fn ask_first(call: Call, ruling: Ruling) -> Verdict {
    let confirm_with = confirm_with(call.entry().manifest.kind);
    let refused = what_was_refused(&call, &ruling);
    let for_the_author = help_for_the_author(&call, &ruling);
    let help = format!("\nhelp: ask the human, then call {confirm_with} with the same arguments");
    let message = format!("{refused}{help}{for_the_author}");
    Verdict::AskFirst(Refusal { call, ruling, message, what: refused + &for_the_author })
}

fn what_was_refused(call: &Call, ruling: &Ruling) -> String {
    let name = dotted(&call.entry().manifest.name, call.action().name.as_deref());
    let because = &ruling.because;
    match ruling.effect {
        Effect::Irreversible => format!("`{name}` was not run: it is irreversible because {because}"),
        Effect::ReadOnly | Effect::Reversible => {
            format!("`{name}` was not run: a human must agree first because {because}")
        }
    }
}

/// What the author may add where the manifest, not the deed, is the reason.
fn help_for_the_author(call: &Call, ruling: &Ruling) -> String {
    let standing = Standing::of(call.entry(), call.action());
    if ruling.because != because(&standing) {
        return String::new();
    }
    let place = Place::of(call.entry(), call.action()).in_file();
    match standing {
        Standing::Undeclared => format!(
            "\nhelp: if it changes nothing, its author adds `effect: read_only` {place}, or `effect: reversible` if a \
             change can be undone"
        ),
        Standing::Name { says: _, ignored: Some(declared) } => {
            format!("\nhelp: if {declared} is right, its author adds `because:` with the reason {place}")
        }
        Standing::Name { says, ignored: None } if says.effect == Effect::Irreversible => format!(
            "\nhelp: if it does less than its name says, its author adds `effect:` and, with the reason, `because:` {place}"
        ),
        Standing::Name { says: _, ignored: None } | Standing::Declared(_) | Standing::Loosened { .. } => String::new(),
    }
}

fn confirm_with(kind: Kind) -> &'static str {
    match kind {
        // A skill has no actions, so nothing calls one.
        Kind::Tool | Kind::Skill => "run_tool_confirmed",
        Kind::Agent => "run_agent_confirmed",
    }
}

fn dotted(entry: &str, action: Option<&str>) -> String {
    match action {
        Some(action) => format!("{entry}.{action}"),
        None => entry.to_owned(),
    }
}
