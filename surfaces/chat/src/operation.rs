//! One call of a published tool: one call on the road, or one for each step.
//!
//! Owns where each argument's value comes from, when an operation of steps ends, and what it tells of a step that failed.
//! Decides nothing: every call passes the gate by itself. Start at [`Operation::run`].

use gatelatch_bridge::answer::{Answer, Status};
use gatelatch_bridge::bridge::{Bridge, RunRequest};
use gatelatch_bridge::cut::Shortened;
use gatelatch_gate::decision::Door;
use gatelatch_manifest::fit::equal;
use gatelatch_manifest::surface::{
    BindingManifest, ConditionManifest, FixedManifest, OperationManifest, OutputMemberManifest, StepManifest, Test,
    ValueSource,
};
use gatelatch_protocol::surface::{Progress, ProgressStep};
use gatelatch_registry::catalog::Effect;
use gatelatch_runner::runner::Steps;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::link::{LinkedCall, LinkedTool};
use crate::refusal::{Step, Wording};

/// What the front is called in the record.
const FRONT: &str = "chat";

/// One call of a published tool that is under way.
pub(crate) struct Operation<'c> {
    pub(crate) bridge: &'c Bridge,
    pub(crate) tool: &'c LinkedTool,
    /// The published arguments.
    pub(crate) values: &'c Map<String, Value>,
    pub(crate) cancelled: CancellationToken,
    pub(crate) progress: Progress,
}

/// What an operation gave, as far as it was held.
pub(crate) struct Given {
    pub(crate) value: Value,
    /// What is missing from it.
    pub(crate) shortened: Option<Shortened>,
    /// What its steps did, for whom the result cannot be shown; nothing of a single call.
    pub(crate) steps: Vec<Value>,
}

/// Why it gave nothing.
pub(crate) struct Failure {
    /// `{error, message, …}`
    pub(crate) told: Map<String, Value>,
    /// What is missing from it.
    pub(crate) shortened: Option<Shortened>,
}

impl Operation<'_> {
    /// Runs it to its end.
    pub(crate) async fn run(&self) -> Result<Given, Failure> {
        match (&self.tool.manifest.operation, self.tool.calls.as_slice()) {
            (OperationManifest::Call { fixed, .. }, [call]) => self.once(call, fixed).await,
            (OperationManifest::Steps { steps, output }, calls) => self.all(steps, calls, output).await,
            // Linking gives one call for one operation.
            (OperationManifest::Call { .. }, _) => Err(failure("internal", "nothing is linked to it".to_owned())),
        }
    }

    async fn once(&self, call: &LinkedCall, fixed: &[FixedManifest]) -> Result<Given, Failure> {
        let published = self.tool.manifest.args.iter();
        let names: Vec<(&str, &str)> = published.map(|arg| (arg.target.as_str(), arg.name.as_str())).collect();
        let given =
            names.iter().filter_map(|(target, name)| Some(((*target).to_owned(), self.values.get(*name)?.clone())));
        let mut args: Map<String, Value> = given.collect();
        args.extend(fixed.iter().map(|fixed| (fixed.name.clone(), fixed.value.clone())));
        let progress = self.progress.clone();
        let steps = progress.is_wanted().then(|| -> Steps {
            Box::new(move |step| {
                progress.report(ProgressStep { progress: step.progress, total: step.total, message: step.message });
            })
        });
        let keep = usize::try_from(self.tool.manifest.result.max_bytes).ok();
        let answer = self.call(call, args.clone(), steps, keep).await;
        self.given(answer, &self.wording(call, names, Step::Only), &args)
    }

    fn wording<'t>(&'t self, call: &'t LinkedCall, names: Vec<(&'t str, &'t str)>, step: Step<'t>) -> Wording<'t> {
        Wording { tool: &self.tool.published.name, call, names, step, plain_errors: self.tool.manifest.plain_errors }
    }

    async fn call(
        &self,
        call: &LinkedCall,
        args: Map<String, Value>,
        steps: Option<Steps>,
        keep: Option<usize>,
    ) -> Answer {
        let request = RunRequest {
            front: FRONT,
            kind: call.kind,
            name: call.entry.clone(),
            action: call.action.clone(),
            args: Value::Object(args),
            door: Door::Plain,
            keep,
        };
        self.bridge.run(request, self.cancelled.clone(), steps).await
    }

    /// What a call gave, or its failure in the caller's names.
    fn given(&self, answer: Answer, wording: &Wording<'_>, args: &Map<String, Value>) -> Result<Given, Failure> {
        // They compare the result with the manifest, which is the operator's matter: what the caller gets is held to what
        // is published.
        for note in &answer.notes {
            tracing::debug!(tool = self.tool.published.name, note);
        }
        match answer.status {
            Status::Done => Ok(Given { value: answer.value, shortened: answer.shortened, steps: Vec::new() }),
            Status::Usage
            | Status::ApprovalRequired
            | Status::Denied
            | Status::NotReady
            | Status::Failed
            | Status::TimedOut
            | Status::Cancelled => {
                wording.log(&answer);
                let shortened = answer.shortened.clone();
                Err(Failure { told: wording.failure(answer, self.bridge.catalog(), args), shortened })
            }
        }
    }

    async fn all(
        &self,
        steps: &[StepManifest],
        calls: &[LinkedCall],
        output: &[OutputMemberManifest],
    ) -> Result<Given, Failure> {
        let mut run = Run { done: Vec::new() };
        for (index, (step, call)) in steps.iter().zip(calls).enumerate() {
            self.tell(index, steps.len(), step);
            let given = match self.step(&run, step, call, (index, steps.len())).await {
                Ok(given) => given,
                Err(failure) => return Err(run.failed(step, call.effect, failure)),
            };
            let is_last = step.stop_when.as_ref().is_some_and(|condition| holds(condition, &given.value));
            run.done.push(Done { step, effect: call.effect, value: given.value });
            if is_last {
                break;
            }
        }
        let member = |member: &OutputMemberManifest| Some((member.name.clone(), self.value(&run, &member.source)?));
        let value = output.iter().filter_map(member).collect::<Map<String, Value>>().into();
        Ok(Given { value, shortened: None, steps: run.told() })
    }

    async fn step(
        &self,
        run: &Run<'_>,
        step: &StepManifest,
        call: &LinkedCall,
        place: (usize, usize),
    ) -> Result<Given, Failure> {
        if self.cancelled.is_cancelled() {
            let message = format!("`{}` was cancelled", self.tool.published.name);
            return Err(failure("cancelled", message));
        }
        let mut args = Map::new();
        let mut names = Vec::new();
        for binding in &step.args {
            if let ValueSource::Argument(published) = &binding.source {
                names.push((binding.name.as_str(), published.as_str()));
            }
            // Null means absent.
            match self.value(run, &binding.source).filter(|value| !value.is_null()) {
                Some(value) => {
                    args.insert(binding.name.clone(), value);
                }
                None => self.check_absent(step, call, binding)?,
            }
        }
        // A later step may need any part of it.
        let answer = self.call(call, args.clone(), self.listener(place), None).await;
        let place = if run.done.is_empty() { Step::First(&step.id) } else { Step::Later(&step.id) };
        self.given(answer, &self.wording(call, names, place), &args)
    }

    /// Whether a call may go without an argument for which there is no value.
    fn check_absent(&self, step: &StepManifest, call: &LinkedCall, binding: &BindingManifest) -> Result<(), Failure> {
        let is_required = call.arguments.iter().any(|(name, required)| *required && *name == binding.name);
        let (lack, from) = match &binding.source {
            ValueSource::Step { step, at } if is_required => {
                (format!("a value that step `{step}` did not find"), format!("{at} of {step}"))
            }
            ValueSource::Argument(name) if is_required => (format!("`{name}`, which was not given"), name.clone()),
            ValueSource::Argument(_) | ValueSource::Fixed(_) | ValueSource::Step { .. } => return Ok(()),
        };
        let (tool, id) = (&self.tool.published.name, &step.id);
        tracing::warn!(tool, step = id, called = call.name(), argument = binding.name, from, "a value is missing");
        Err(failure("missing_value", format!("`{tool}`: step `{id}` needs {lack}")))
    }

    /// A value from where its source says; `None` where nothing is there.
    fn value(&self, run: &Run<'_>, source: &ValueSource) -> Option<Value> {
        match source {
            ValueSource::Argument(name) => self.values.get(name).cloned(),
            ValueSource::Fixed(value) => Some(value.clone()),
            ValueSource::Step { step, at } => run.result(step)?.pointer(at).cloned(),
        }
    }

    fn tell(&self, index: usize, count: usize, step: &StepManifest) {
        let message = Some(format!("step {} of {count}: {}", index + 1, step.id));
        self.progress.report(ProgressStep { progress: index as f64, total: Some(count as f64), message });
    }

    /// Where a step's own progress goes: within the part that it is of the whole.
    fn listener(&self, (index, count): (usize, usize)) -> Option<Steps> {
        let progress = self.progress.clone();
        progress.is_wanted().then(|| -> Steps {
            Box::new(move |step| {
                let part = match step.total {
                    Some(total) if total > 0.0 => step.progress / total,
                    // Without a total it only moves on, ever less.
                    _ => step.progress / (step.progress + 1.0),
                };
                // The whole part would be the next step's beginning.
                let reached = index as f64 + part.clamp(0.0, 0.99);
                progress.report(ProgressStep { progress: reached, total: Some(count as f64), message: step.message });
            })
        })
    }
}

/// The steps that have run.
struct Run<'c> {
    done: Vec<Done<'c>>,
}

struct Done<'c> {
    step: &'c StepManifest,
    effect: Effect,
    value: Value,
}

impl Run<'_> {
    fn result(&self, id: &str) -> Option<&Value> {
        self.done.iter().find(|done| done.step.id == id).map(|done| &done.value)
    }

    /// What the steps have done. Of a step that changed something its result is told too: what it made may have to be
    /// undone.
    fn told(&self) -> Vec<Value> {
        self.done.iter().map(|done| told(done.step, done.effect, Some(&done.value))).collect()
    }

    /// A failure, with what the steps before it have done.
    fn failed(&self, step: &StepManifest, effect: Effect, mut failure: Failure) -> Failure {
        let mut steps = self.told();
        steps.push(told(step, effect, None));
        failure.told.insert("step".to_owned(), step.id.clone().into());
        failure.told.insert("steps".to_owned(), steps.into());
        failure
    }
}

/// A step as the caller reads of it: by the name that the declaration gives it, and nothing of what it calls.
fn told(step: &StepManifest, effect: Effect, result: Option<&Value>) -> Value {
    let mut told = json!({ "id": step.id, "effect": effect.as_str(), "done": result.is_some() });
    if let Some(result) = result.filter(|_| effect != Effect::ReadOnly) {
        told["result"] = result.clone();
    }
    told
}

/// Whether a step's result ends the operation.
fn holds(condition: &ConditionManifest, result: &Value) -> bool {
    let there = result.pointer(&condition.at).filter(|value| !value.is_null());
    match &condition.test {
        Test::Missing => there.is_none(),
        Test::Empty => there.is_none_or(is_empty),
        Test::Equals(value) => there.is_some_and(|there| equal(there, value)),
        Test::DiffersFrom(value) => !there.is_some_and(|there| equal(there, value)),
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::String(text) => text.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn failure(error: &str, message: String) -> Failure {
    let told = Map::from_iter([("error".to_owned(), error.into()), ("message".to_owned(), message.into())]);
    Failure { told, shortened: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stops(test: Test, result: &Value) -> bool {
        holds(&ConditionManifest { at: "/rows".to_owned(), test, position: Default::default() }, result)
    }

    #[test]
    fn a_condition_asks_of_what_is_there_and_null_is_nothing() {
        let [nothing, null, empty, some] =
            [json!({}), json!({ "rows": null }), json!({ "rows": [] }), json!({ "rows": [1] })];
        let asked = |test: Test| [&nothing, &null, &empty, &some].map(|result| stops(test.clone(), result));
        assert_eq!(asked(Test::Missing), [true, true, false, false]);
        assert_eq!(asked(Test::Empty), [true, true, true, false]);
        assert_eq!(asked(Test::Equals(json!([1.0]))), [false, false, false, true]);
        assert_eq!(asked(Test::DiffersFrom(json!([1]))), [true, true, true, false]);
        assert!(!stops(Test::Empty, &json!({ "rows": 0 })));
    }
}
