//! The road itself.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use gatelatch_discovery::help::{self, Attempt};
use gatelatch_discovery::index::Index;
use gatelatch_discovery::ladder::{self, Request, View};
use gatelatch_gate::call::Call;
use gatelatch_gate::decision::{self, Door, Policy, Ruling, Verdict};
use gatelatch_gate::sight::Uses;
use gatelatch_registry::arguments::Arguments;
use gatelatch_registry::catalog::{ActionManifest, Catalog, Effect, Entry, Kind, Skill};
use gatelatch_runner::readiness::readiness;
use gatelatch_runner::runner::{RunError, Runner, Steps};
use gatelatch_runner::tree::json_bytes;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::answer::{self, Answer, Status};
use crate::output;
use crate::recorder::{Event, Recorder, Step};
use crate::skill;

/// What every front shares: the catalog, the policy, the runner and the recorder.
pub struct Bridge {
    catalog: Arc<Catalog>,
    broken: Vec<Broken>,
    index: Index,
    policy: Policy,
    uses: Option<Uses>,
    runner: Runner,
    recorder: Box<dyn Recorder>,
    capabilities_max_bytes: usize,
    requests: AtomicU64,
    /// The gate's ruling on every action, once somebody has asked: the catalog never changes, so neither do they.
    rulings: HashMap<usize, OnceLock<Ruling>>,
    /// Owned by [`Bridge::lately`] alone.
    known: Mutex<HashMap<usize, Known>>,
}

/// The address of an entry or an action of the catalog.
///
/// INVARIANT: the catalog is immutable and the road owns it, so an address names one thing for as long as the road
/// stands, and no other thing has it.
fn place<T>(part: &T) -> usize {
    std::ptr::from_ref(part).addr()
}

/// Whether an entry was ready when it was last looked at.
struct Known {
    at: Instant,
    not_ready: Option<String>,
}

/// The most bytes of a list of everything.
const LIST_BYTES: usize = 12_000;

/// For how long a listing believes what it knows of an entry's readiness. A run looks for itself.
const BELIEVED: Duration = Duration::from_secs(1);

/// What a road is made of.
pub struct Parts {
    /// What it serves.
    pub catalog: Arc<Catalog>,
    /// The search index of that same catalog.
    pub index: Index,
    /// What is left out of it, and why.
    pub broken: Vec<Broken>,
    /// What holds for every call.
    pub policy: Policy,
    /// For the calls of an agent: all that they may be.
    pub uses: Option<Uses>,
    /// Runs what is approved.
    pub runner: Runner,
    /// Hears of every verdict and outcome.
    pub recorder: Box<dyn Recorder>,
    /// Over how many bytes a full schema becomes an index.
    pub capabilities_max_bytes: usize,
}

/// An entry whose manifest is wrong and that is therefore left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Its kind, by the manifest's file name.
    pub kind: Kind,
    /// Its name, by the folder's.
    pub name: String,
    /// The first finding: file, place, message.
    pub why: String,
}

/// What a front asks to run.
#[derive(Clone, Debug)]
pub struct RunRequest {
    /// Which front asks, for the record.
    pub front: &'static str,
    /// `Tool` or `Agent`.
    pub kind: Kind,
    /// The entry's name.
    pub name: String,
    /// The action's name; may be absent where the entry has just one.
    pub action: Option<String>,
    /// The raw arguments.
    pub args: Value,
    /// Through which door.
    pub door: Door,
    /// How many bytes of the result will be shown: of a larger one no more is held than an answer of that size can show,
    /// and [`Answer::shortened`] tells what is missing. `None` holds all of it.
    pub keep: Option<usize>,
}

impl Bridge {
    /// Puts the parts together.
    pub fn new(parts: Parts) -> Bridge {
        let Parts { catalog, index, broken, policy, uses, runner, recorder, capabilities_max_bytes } = parts;
        let actions = catalog.entries().iter().flat_map(|entry| &entry.manifest.actions);
        let rulings = actions.map(|action| (place(action), OnceLock::new())).collect();
        let (requests, known) = (AtomicU64::new(0), Mutex::default());
        Bridge {
            catalog,
            broken,
            index,
            policy,
            uses,
            runner,
            recorder,
            capabilities_max_bytes,
            requests,
            rulings,
            known,
        }
    }

    /// The catalog that this road serves.
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// The entries that are left out because their manifests are wrong.
    pub fn broken(&self) -> &[Broken] {
        &self.broken
    }

    /// What there is, narrowest answer first.
    pub fn capabilities(&self, request: &Request) -> Answer {
        if let Some(name) = &request.name
            && let Some(broken) = self.broken.iter().find(|broken| broken.name == *name)
            && self.catalog.entries().iter().all(|entry| entry.manifest.name != *name)
            && self.catalog.skill(name).is_none()
        {
            return answer::broken(broken);
        }
        let mut answer = self.with_view(|view| match ladder::capabilities(view, request) {
            Ok(value) => Answer::done(value),
            Err(error) => Answer::usage(&error),
        });
        if request.name.is_none() && request.search.is_none() && !answer.is_error() {
            self.tell_broken(&mut answer.value);
        }
        answer
    }

    /// Adds what is broken to a list of everything, as far as there is room for it.
    fn tell_broken(&self, list: &mut Value) {
        let lines: Vec<String> =
            self.broken.iter().map(|Broken { kind, name, why }| format!("{} {name}: {why}", kind.as_str())).collect();
        let room = LIST_BYTES.saturating_sub(json_bytes(list));
        let mut used = 32;
        let told: Vec<&String> = lines
            .iter()
            .take_while(|line| {
                used += json_bytes(&Value::from(line.as_str())) + 1;
                used <= room
            })
            .collect();
        if !told.is_empty() {
            list["broken"] = json!(told);
        }
    }

    /// A skill's text: `name`, or `name/file` for a file that lies beside it; every skill without a name.
    pub fn skill(&self, name: Option<&str>) -> Answer {
        let Some(name) = name else {
            let skills: Vec<Value> = self
                .catalog
                .skills()
                .iter()
                .map(|skill| json!({ "name": skill.manifest.name, "description": skill.manifest.description }))
                .collect();
            return Answer::done(json!({ "skills": skills, "next": "call get_skill with one `name`" }));
        };
        let (name, path) = name.split_once('/').map_or((name, None), |(name, path)| (name, Some(path)));
        let Some(skill) = self.catalog.skill(name) else {
            return self.with_view(|view| Answer::usage(&help::unknown_entry(view, Kind::Skill, name)));
        };
        match path {
            None => Answer::done(whole_skill(skill)),
            Some(path) => skill_file(skill, path),
        }
    }

    /// Runs a call if it may run now.
    pub async fn run(&self, request: RunRequest, cancelled: CancellationToken, steps: Option<Steps>) -> Answer {
        let call = match self.checked(&request) {
            Ok(call) => call,
            Err(answer) => return *answer,
        };
        let (entry, action) = (call.entry().clone(), call.action().clone());
        let notes: Vec<String> =
            call.arguments().respelled().iter().map(|(was, is)| format!("took argument `{was}` for `{is}`")).collect();
        let number = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
        let event = |step| Event {
            request: number,
            front: request.front,
            kind: entry.manifest.kind,
            entry: entry.manifest.name.clone(),
            version: entry.manifest.version.clone(),
            action: action.name.clone(),
            door: request.door,
            arguments: Vec::new(),
            step,
        };
        let arguments: Vec<String> = call.arguments().values().keys().cloned().collect();
        let ruling = self.ruling(&entry, call.action());
        let verdict = decision::decide(&self.catalog, &self.policy, request.door, call);
        self.recorder.record(&Event { arguments, ..event(told(&verdict, ruling)) });
        let approved = match verdict {
            Verdict::Run(approved) => approved,
            Verdict::AskFirst(refusal) => return Answer { notes, ..answer::approval_required(&refusal) },
            Verdict::Denied(refusal) => return Answer { notes, ..answer::denied(&refusal) },
        };
        let started = Instant::now();
        let mut answer = match self.runner.run(approved, cancelled, steps, request.keep).await {
            Ok(done) => {
                let notes = output::mismatch(&action, &done.value, done.shortened.as_ref()).into_iter().collect();
                Answer { notes, shortened: done.shortened, ..Answer::done(done.value) }
            }
            Err(error) => self.failed(&entry, &action, &error),
        };
        answer.notes.splice(0..0, notes);
        answer.narrow_with = action.narrow_with.clone();
        self.recorder.record(&event(Step::Outcome {
            status: answer.status,
            error: answer.is_error().then(|| answer.value["error"].as_str().unwrap_or_default().to_owned()),
            milliseconds: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        }));
        answer
    }

    /// What [`Bridge::run`] would do: the argument vector, the names of the environment, the folder and the verdict.
    pub fn plan(&self, request: &RunRequest) -> Answer {
        let call = match self.checked(request) {
            Ok(call) => call,
            Err(answer) => return *answer,
        };
        let plan = match self.runner.plan(&call) {
            Ok(plan) => plan,
            Err(error) => return self.failed(call.entry(), call.action(), &error),
        };
        let ruling = self.ruling(call.entry(), call.action());
        let Ruling { effect, because, .. } = &ruling;
        let mut value = json!({
            "argv": plan.argv,
            "environment": plan.environment,
            "working_folder": plan.working_folder,
            "effect": effect.as_str(),
            "because": because,
        });
        let verdict = decision::decide(&self.catalog, &self.policy, request.door, call);
        value["verdict"] = verdict_word(&verdict).into();
        if let Verdict::AskFirst(refusal) | Verdict::Denied(refusal) = &verdict {
            value["message"] = refusal.message.clone().into();
        }
        Answer::done(value)
    }

    /// Why an entry cannot run now, in one line.
    pub fn not_ready(&self, entry: &Entry) -> Option<String> {
        readiness(self.runner.host(), entry).err().map(|why| why.to_string())
    }

    /// The gate's ruling on one action.
    pub fn ruling(&self, entry: &Entry, action: &ActionManifest) -> Ruling {
        let rule = || decision::ruling(&self.catalog, entry, action);
        self.rulings.get(&place(action)).map_or_else(rule, |known| known.get_or_init(rule).clone())
    }

    fn effect(&self, entry: &Entry, action: &ActionManifest) -> (Effect, bool) {
        let rule = || decision::ruling(&self.catalog, entry, action);
        let known = |ruling: &Ruling| (ruling.effect, ruling.needs_human);
        self.rulings.get(&place(action)).map_or_else(|| known(&rule()), |ruling| known(ruling.get_or_init(rule)))
    }

    /// [`Bridge::not_ready`], as it was within the last second.
    fn lately(&self, entry: &Entry) -> Option<String> {
        // A poisoned lock holds what was known before; it is only a memory.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(&place(entry)).filter(|known| known.at.elapsed() < BELIEVED) {
            return known.not_ready.clone();
        }
        let not_ready = self.not_ready(entry);
        known.insert(place(entry), Known { at: Instant::now(), not_ready: not_ready.clone() });
        not_ready
    }

    /// Looks up, and checks the arguments.
    fn checked(&self, request: &RunRequest) -> Result<Call, Box<Answer>> {
        let attempt = Attempt { action: request.action.as_deref(), args: &request.args };
        let Some(entry) = self.catalog.entry(request.kind, &request.name) else {
            let of_that_name = |broken: &&Broken| broken.kind == request.kind && broken.name == request.name;
            if let Some(broken) = self.broken.iter().find(of_that_name) {
                return Err(Box::new(answer::broken(broken)));
            }
            return Err(Box::new(
                self.with_view(|view| Answer::usage(&help::wrong_entry(view, request.kind, &request.name, attempt))),
            ));
        };
        let action = request.action.as_deref();
        let Some(index) = entry.action_index(action) else {
            return Err(Box::new(self.with_view(|view| Answer::usage(&help::wrong_action(view, entry, attempt)))));
        };
        let manifest = &entry.manifest.actions[index];
        let arguments =
            Arguments::parse(manifest, &request.args).map_err(|faults| {
                Box::new(self.with_view(|view| {
                    Answer::usage(&help::bad_arguments(view, entry, manifest, &request.args, &faults))
                }))
            })?;
        if self.uses.as_ref().is_some_and(|uses| !uses.name(entry, manifest)) {
            return Err(Box::new(answer::unused(&entry.manifest.name, manifest.name.as_deref())));
        }
        // The index came from this very entry, so the call cannot be out of range; were it ever, it must not run.
        Call::new(entry.clone(), index, arguments).ok_or_else(|| {
            Box::new(Answer::failure(Status::Failed, json!({ "error": "internal", "message": "no such action" })))
        })
    }

    /// A failed run, with the manifest's own help where the child complained about an argument that nobody declared.
    fn failed(&self, entry: &Entry, action: &ActionManifest, error: &RunError) -> Answer {
        let manifest = &entry.manifest;
        let mut answer = answer::run_failed(manifest.kind, &manifest.name, action.name.as_deref(), error);
        if let RunError::Failed { error, shortened, .. } = error {
            let help = self.with_view(|view| help::child_usage(view, entry, action, error));
            if let Some(Value::Object(help)) = help.map(|help| help.to_value())
                && let Value::Object(value) = &mut answer.value
            {
                for (key, part) in help {
                    if key != "error" && key != "message" {
                        value.insert(key, part);
                    } else if key == "message" {
                        value.insert("help".to_owned(), part);
                    }
                }
            }
            let around = || (json_bytes(&answer.value) - json_bytes(error)) as u64;
            answer.shortened = shortened.clone().map(|shortened| shortened.within("detail", around()));
        }
        answer
    }

    /// Lends discovery what the caller may see, and what is ready.
    fn with_view<T>(&self, look: impl FnOnce(&View<'_>) -> T) -> T {
        let not_ready = |entry: &Entry| self.lately(entry);
        let effect = |entry: &Entry, action: &ActionManifest| self.effect(entry, action);
        look(&View {
            catalog: &self.catalog,
            index: &self.index,
            // An operator, at the terminal or in a client, may see all that the folder holds.
            sees: &|_, _| true,
            sees_skill: &|_| true,
            not_ready: &not_ready,
            effect: &effect,
            max_bytes: self.capabilities_max_bytes,
        })
    }
}

fn told(verdict: &Verdict, ruling: Ruling) -> Step {
    Step::Verdict { verdict: verdict_word(verdict), effect: ruling.effect, because: ruling.because }
}

fn verdict_word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Run(_) => "run",
        Verdict::AskFirst(_) => "approval_required",
        Verdict::Denied(_) => "denied",
    }
}

fn whole_skill(skill: &Skill) -> Value {
    let files = skill::files(skill);
    let mut value = json!({
        "name": skill.manifest.name,
        "description": skill.manifest.description,
        "body": skill.manifest.body,
    });
    if let Some(first) = files.first() {
        value["next"] = format!("for a file: get_skill {{\"name\": \"{}/{first}\"}}", skill.manifest.name).into();
        value["files"] = files.into();
    }
    value
}

fn skill_file(skill: &Skill, path: &str) -> Answer {
    let name = &skill.manifest.name;
    match skill::file(skill, path) {
        Some(text) => Answer::done(json!({ "name": format!("{name}/{path}"), "body": text })),
        None => Answer::failure(
            Status::Usage,
            json!({
                "error": "unknown_file",
                "message": format!("skill `{name}` has no text file of that name"),
                "files": skill::files(skill),
            }),
        ),
    }
}
