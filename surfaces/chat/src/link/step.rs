//! An operation of several steps: each held to what the surface could declare alone, and what one passes on to the next
//! held against the output schema that it comes from. Start at [`Linking::steps`].

use gatelatch_manifest::diagnostic::{Position, quoted};
use gatelatch_manifest::rule;
use gatelatch_manifest::schema::validator;
use gatelatch_manifest::surface::{
    BindingManifest, ConditionManifest, OutputMemberManifest, StepManifest, Test, ValueSource,
};
use gatelatch_registry::catalog::Effect;
use serde_json::{Map, Value};

use super::argument::{Gap, Given, Passed};
use super::operation::Operation;
use super::promise::place;
use super::{LinkedCall, Linking, named_argument};
use crate::agreement::contradiction;
use crate::published;
use crate::shape::{Part, Shape, Stray, Types};

/// A step and what it calls; `None` where the catalog does not have it.
struct Called<'a> {
    step: &'a StepManifest,
    operation: Option<Operation<'a>>,
}

/// What stands at a place of a step's result.
struct Found<'a> {
    part: Part<'a>,
    /// Where the manifest of the step's operation says so.
    manifest: String,
}

impl<'a> Linking<'a> {
    /// What the steps call; `None` where an operation is not there.
    pub(super) fn steps(
        &mut self,
        steps: &'a [StepManifest],
        output: &'a [OutputMemberManifest],
    ) -> Option<Vec<LinkedCall>> {
        let mut called: Vec<Called<'a>> = Vec::new();
        for step in steps {
            let operation = self.resolve(&step.target);
            if let Some(operation) = &operation {
                let given: Vec<(&str, Given<'_>, Position)> =
                    step.args.iter().map(|arg| (arg.name.as_str(), self.given(&called, arg), arg.position)).collect();
                self.check_arguments(operation, &given, step.target.position);
                self.check_promises(operation, step.target.position);
                self.check_repeat(operation, step);
            }
            called.push(Called { step, operation });
            if let Some(condition) = &step.stop_when {
                self.check_condition(&called, step, condition);
            }
        }
        let narrowing: Vec<(&Operation<'_>, Vec<(&str, &str)>)> = called
            .iter()
            .filter_map(|called| {
                let passed = called.step.args.iter();
                let passed = passed.filter_map(|arg| named_argument(&arg.source).map(|name| (name, arg.name.as_str())));
                Some((called.operation.as_ref()?, passed.collect()))
            })
            .collect();
        self.check_narrowing(&narrowing);
        self.check_members(&called, output);
        called.iter().map(|called| called.operation.as_ref().map(Operation::linked)).collect()
    }

    /// What an argument of a step gets; a source that leads nowhere is told.
    fn given(&mut self, called: &[Called<'a>], arg: &'a BindingManifest) -> Given<'a> {
        match &arg.source {
            ValueSource::Argument(name) => self.published(name).map_or(Given::Unknown, Given::Published),
            ValueSource::Fixed(value) => Given::Value("the value for", value),
            ValueSource::Step { step, at } => match self.part(called, step, at, arg.position) {
                Some(Found { part, manifest }) => Given::Passed(Passed {
                    from: format!("{} of step {} ({manifest})", place(at), quoted(step)),
                    gap: gap(called, step, at),
                    part,
                }),
                None => Given::Unknown,
            },
        }
    }

    /// What stands at a pointer into the result of a step that has been seen; what cannot be found is told.
    fn part(&mut self, called: &[Called<'a>], step: &str, pointer: &str, at: Position) -> Option<Found<'a>> {
        // The reader of the file knows that there is such a step before this one.
        let operation = called.iter().find(|called| called.step.id == step)?.operation.as_ref()?;
        let (name, own) = (operation.name(), operation.own_place());
        let Some(schema) = operation.output() else {
            let message = format!(
                "`{name}` has no output schema that says what {} of step {} is ({own})",
                place(pointer),
                quoted(step)
            );
            let help = "write its `output_schema` in the manifest, as a JSON Schema".to_owned();
            self.add(&rule::SURFACE_POINTER, at, message, Some(help));
            return None;
        };
        let (message, help) = match Shape::of(schema).at(pointer) {
            Ok(part) => return Some(Found { part, manifest: own }),
            Err(Stray::NoMember { at, name: wrong, near }) => (
                format!("{} of `{name}` has no member {} ({own})", place(&at), quoted(&wrong)),
                near.map(|near| format!("did you mean `{near}`?")),
            ),
            Err(Stray::NotInto { at, types }) => {
                let is_list = types.without(Types::NULL) == Types::ARRAY;
                let help = if is_list {
                    format!("name an item by its number, such as {}", quoted(&format!("{at}/0")))
                } else {
                    format!("there is nothing in it: end the pointer at {}", quoted(&at))
                };
                let message = format!(
                    "{} of `{name}` is of type {types}, and {} leads into it ({own})",
                    place(&at),
                    quoted(pointer)
                );
                (message, Some(help))
            }
            Err(Stray::Untold { at }) => (
                format!(
                    "the output schema of `{name}` does not say what is in {}, and {} leads into it ({own})",
                    place(&at),
                    quoted(pointer)
                ),
                Some("say it in the manifest's output schema".to_owned()),
            ),
        };
        self.add(&rule::SURFACE_POINTER, at, message, help);
        None
    }

    fn check_condition(&mut self, called: &[Called<'a>], step: &StepManifest, condition: &ConditionManifest) {
        let ConditionManifest { at: pointer, test, position } = condition;
        let Some(Found { part, manifest }) = self.part(called, &step.id, pointer, *position) else { return };
        let types = part.types();
        let never = match test {
            Test::Missing => None,
            Test::Empty => (!types.overlap(Types::FILLED)).then(|| {
                (
                    "is never empty".to_owned(),
                    "ask `equals` of it, or `is: empty` of a text, a list or an object".to_owned(),
                )
            }),
            Test::Equals(value) | Test::DiffersFrom(value) => {
                let wanted = Types::of(value);
                let help = format!("compare it with a value that is {types}");
                (!wanted.overlap(types)).then(|| (format!("is never {wanted}"), help))
            }
        };
        if let Some((never, help)) = never {
            let message =
                format!("{} of step {} may be {types}, which {never} ({manifest})", place(pointer), quoted(&step.id));
            self.add(&rule::SURFACE_TYPE, *position, message, Some(help));
        }
    }

    /// A step that writes and would write once more when the whole is repeated.
    fn check_repeat(&mut self, of: &Operation<'_>, step: &StepManifest) {
        let writes_anew = of.ruling.effect == Effect::Reversible && !of.action.idempotent && !self.tool.idempotent;
        let Some(key) = self.tool.idempotency_argument.as_deref().filter(|_| writes_anew) else { return };
        if step.args.iter().all(|arg| named_argument(&arg.source) != Some(key)) {
            let message = format!(
                "step {} calls `{}`, which is not idempotent, without {} ({})",
                quoted(&step.id),
                of.name(),
                quoted(key),
                of.own_place()
            );
            let help =
                format!("give one of its arguments the value of {}, or use an action that is idempotent", quoted(key));
            self.add(&rule::SURFACE_REPEAT, step.position, message, Some(help));
        }
    }

    /// The members of the result against the declared output schema. What of that can be told without a catalog the reader
    /// of the file has told.
    fn check_members(&mut self, called: &[Called<'a>], output: &'a [OutputMemberManifest]) {
        let schema = Value::Object(self.tool.output_schema.clone());
        let wanted = Shape::of(&schema);
        let required = self.tool.output_schema.get("required").and_then(Value::as_array);
        for member in output {
            let is_required = required.is_some_and(|names| names.iter().any(|name| *name == *member.name));
            self.check_member(called, member, wanted, is_required);
        }
    }

    fn check_member(
        &mut self,
        called: &[Called<'a>],
        member: &'a OutputMemberManifest,
        wanted: Shape<'_>,
        is_required: bool,
    ) {
        let OutputMemberManifest { name, source, position } = member;
        let declared = wanted.member(name).map(|part| part.shapes).unwrap_or_default();
        let disagrees = |given: Shape<'_>| {
            let found = declared.iter().find_map(|wanted| contradiction(given, *wanted))?;
            let help = format!("{}; or mend the schema that it comes from where that is wrong", found.instead);
            Some((format!("{} {}", quoted(&format!("/{name}{}", found.at)), found.what), help))
        };
        let found = match source {
            ValueSource::Fixed(value) => misfit(wanted, name, value)
                .map(|what| (what, "mend the value, or the declared `output_schema`".to_owned())),
            ValueSource::Argument(published) => {
                self.published(published).and_then(|arg| disagrees(Shape::of(&published::property(arg))))
            }
            ValueSource::Step { step, at } => self.part(called, step, at, *position).and_then(|found| {
                let Found { part, manifest } = found;
                if is_required && !part.always {
                    let place = place(at);
                    let message = format!(
                        "{} is required, and {place} of step {} may be missing ({manifest})",
                        quoted(name),
                        quoted(step)
                    );
                    let help = format!(
                        "take {} out of `required` in the declared `output_schema`, or take its value from a place that \
                         is always there",
                        quoted(name)
                    );
                    return Some((message, help));
                }
                // Of several that it may be, each may be what disagrees, or none of them alone.
                let [given] = part.shapes.as_slice() else { return None };
                disagrees(*given).map(|(what, help)| (format!("{what} ({manifest})"), help))
            }),
        };
        if let Some((found, help)) = found {
            self.add(&rule::SURFACE_OUTPUT, *position, found, Some(help));
        }
    }
}

/// Whether a place of a step's result may have no value where the operation went on behind that step.
fn gap(called: &[Called<'_>], step: &str, at: &str) -> Option<Gap> {
    let Called { step, operation } = called.iter().find(|called| called.step.id == step)?;
    let result = Shape::of(operation.as_ref()?.output()?);
    let is_there = |place: &str| step.stop_when.as_ref().is_some_and(|asked| passes_only_with(asked, result, place));
    let part = result.at_where(at, &is_there).ok()?;
    let (what, or) = match (part.always, part.types().overlap(Types::NULL) && !is_there(at)) {
        (false, _) => ("may be missing", "require the place in the manifest's output schema if it is always there"),
        (true, true) => ("may be null", "take null out of the manifest's output schema if it never is"),
        (true, false) => return None,
    };
    let instead = format!("write `stop_when: {{at: {at}, is: missing}}` in step {}, or {or}", quoted(&step.id));
    Some(Gap { what, instead })
}

/// Whether a stop that did not happen shows that a place of the result has a value.
fn passes_only_with(condition: &ConditionManifest, result: Shape<'_>, place: &str) -> bool {
    let ConditionManifest { at, test, .. } = condition;
    let leads_through = at.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    match test {
        Test::Missing | Test::DiffersFrom(_) => leads_through,
        Test::Empty => {
            let is_first = place.strip_prefix(at.as_str()) == Some("/0");
            let is_list = || result.at(at).is_ok_and(|part| part.types().without(Types::NULL) == Types::ARRAY);
            leads_through || (is_first && is_list())
        }
        Test::Equals(_) => false,
    }
}

/// How a fixed value of a member does not fit what the output schema says of it.
fn misfit(wanted: Shape<'_>, name: &str, value: &Value) -> Option<String> {
    let mut alone = wanted.keywords().cloned().unwrap_or_default();
    alone.remove("required");
    let validator = validator(&Value::Object(alone)).ok()?;
    let result = Value::Object(Map::from_iter([(name.to_owned(), value.clone())]));
    let error = validator.iter_errors(&result).next()?;
    let (at, rule) = (error.instance_path().to_string(), error.schema_path().to_string());
    Some(format!("{} does not fit the output schema: rule `{rule}`", quoted(&at)))
}
