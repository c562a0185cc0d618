//! `gatelatch contract explain`: what stands behind a published tool, and why a kind of change moves what it moves.
//!
//! Owns how it is told. The effect is the gate's, the judgement of a change the contract crate's. Start at [`explain`].

use std::path::Path;

use gatelatch_contract::change::ChangeKind;
use gatelatch_contract::diff::{Change, diff};
use gatelatch_gate::decision::{Ruling, ruling};
use gatelatch_manifest::diagnostic::plain;
use gatelatch_manifest::nearest::nearest;
use gatelatch_manifest::surface::{
    BindingManifest, ConditionManifest, FixedManifest, OperationManifest, OutputMemberManifest, StepManifest,
    SurfaceArgumentManifest, SurfaceToolManifest, TargetManifest, Test, ValueSource,
};
use gatelatch_registry::catalog::Catalog;

use super::declared::{self, Declared};
use crate::exit::{Code, UsageError};
use crate::options::Place;
use crate::settings::{Environment, Settings};
use crate::verb::{load_catalog, print, working_folder};

/// Tells about one name, or about all that can be asked for.
pub(super) fn explain(
    place: &Place,
    environment: &Environment,
    surface: Option<&Path>,
    name: Option<&str>,
) -> anyhow::Result<Code> {
    // A kind of change is explained wherever one is, with or without a declaration.
    if let Some(kind) = name.and_then(ChangeKind::named) {
        return told(&[kind_told(kind)]);
    }
    let declared = declared::open(place, environment, surface)?;
    let Some(name) = name else { return told(&overview(&declared)) };
    let Some(tool) = declared.manifest.tools.iter().find(|tool| tool.name == name) else {
        let tools = declared.manifest.tools.iter().map(|tool| tool.name.as_str());
        let near = nearest(name, tools.chain(ChangeKind::ALL.into_iter().map(|kind| kind.rule().name)));
        let help = near.map_or_else(
            || "`gatelatch contract explain` lists the tools and the kinds of change".to_owned(),
            |near| format!("did you mean `{near}`?"),
        );
        let what = format!("{} declares no tool `{name}`, and no kind of change is named so", declared.shown);
        return Err(UsageError::new(what, help).into());
    };
    let catalog = load_catalog(&Settings::read(place, environment, &working_folder()?)?).catalog;
    told(&tool_told(tool, &declared, &catalog)?)
}

fn told(lines: &[String]) -> anyhow::Result<Code> {
    // Declarations, manifests and lock files may be anybody's.
    print(&plain(&lines.join("\n")))?;
    Ok(Code::Done)
}

fn kind_told(kind: ChangeKind) -> String {
    let rule = kind.rule();
    format!("{}: {}\n  it is {}\n  because {}", rule.name, rule.level, rule.meaning, rule.because)
}

fn overview(declared: &Declared) -> Vec<String> {
    let mut lines = vec![format!("{} declares, as version {}:", declared.shown, declared.version)];
    let tools = declared.manifest.tools.iter().zip(declared.tools.tools());
    lines.extend(tools.map(|(tool, sent)| format!("  {} ({} bytes): {}", tool.name, sent.bytes(), tool.title)));
    lines.push("kinds of change:".to_owned());
    lines.extend(ChangeKind::ALL.iter().map(|kind| {
        let rule = kind.rule();
        format!("  {} ({}): {}", rule.name, rule.level, rule.meaning)
    }));
    lines
}

/// Lines under a word each; a word stands once for all of its lines.
struct Page(Vec<String>);

impl Page {
    fn add(&mut self, word: &str, lines: impl IntoIterator<Item = String>) {
        let mut word = word;
        for line in lines {
            self.0.push(format!("  {word:<11} {line}"));
            word = "";
        }
    }
}

fn tool_told(tool: &SurfaceToolManifest, declared: &Declared, catalog: &Catalog) -> anyhow::Result<Vec<String>> {
    let mut page = Page(vec![format!("{}: {}", tool.name, tool.title), format!("  {}", tool.description)]);
    match &tool.operation {
        OperationManifest::Call { target, fixed } => {
            page.add("operation", [target_told(target)]);
            page.add("effect", [effect_told(target, catalog)]);
            page.add("arguments", tool.args.iter().map(|arg| argument_told(arg, Some(&arg.target))));
            page.add("fixed", fixed.iter().map(|FixedManifest { name, value, .. }| format!("{name} = {value}")));
        }
        OperationManifest::Steps { steps, output } => {
            page.add("operation", [format!("{} steps", steps.len())]);
            let strictest =
                steps.iter().filter_map(|step| ruling_of(&step.target, catalog)).map(|found| found.0.effect).max();
            page.add("effect", strictest.map(|effect| format!("{effect}: the strictest of its steps")));
            page.add("arguments", tool.args.iter().map(|arg| argument_told(arg, None)));
            for step in steps {
                page.add("step", step_told(step, catalog));
            }
            page.add(
                "output",
                output
                    .iter()
                    .map(|OutputMemberManifest { name, source, .. }| format!("{name} <- {}", source_told(source))),
            );
        }
    }
    let hints = [
        ("read-only", tool.read_only),
        ("destructive", !tool.reversible),
        ("idempotent", tool.idempotent),
        ("open to the world", tool.open_world),
    ];
    let hints: Vec<String> =
        hints.iter().map(|(hint, is)| format!("{}{hint}", if *is { "" } else { "not " })).collect();
    page.add("annotations", [hints.join(", ")]);
    page.add("repeatable", tool.idempotency_argument.iter().map(|name| format!("with the same `{name}`")));
    let narrow = tool.result.narrow_with.join(", ");
    let narrow =
        if narrow.is_empty() { "no argument makes it smaller".to_owned() } else { format!("smaller with {narrow}") };
    page.add("result", [format!("at most {} bytes; {narrow}", tool.result.max_bytes)]);
    if let Some(sent) = declared.tools.tool(&tool.name) {
        page.add("cost", [format!("{} of the list's {} bytes", sent.bytes(), declared.tools.bytes())]);
        page.add("digest", [sent.digest().to_owned()]);
    }
    page.add("lock", since_lock(tool, declared)?);
    Ok(page.0)
}

fn target_told(target: &TargetManifest) -> String {
    let action = target.action.as_ref().map(|action| format!(" {action}")).unwrap_or_default();
    format!("{} {}{action}", target.kind.as_str(), target.entry)
}

fn effect_told(target: &TargetManifest, catalog: &Catalog) -> String {
    match ruling_of(target, catalog) {
        Some((ruling, file)) => format!("{}: {}; see {file}", ruling.effect, ruling.because),
        None => "not known: the catalog does not have it; see `gatelatch check`".to_owned(),
    }
}

/// What the gate says of what is called, and the manifest that it is called by.
fn ruling_of<'c>(target: &TargetManifest, catalog: &'c Catalog) -> Option<(Ruling, &'c str)> {
    let entry = catalog.entry(target.kind, &target.entry)?;
    let action = entry.action(target.action.as_deref())?;
    Some((ruling(catalog, entry, action), &entry.file))
}

fn argument_told(arg: &SurfaceArgumentManifest, target: Option<&str>) -> String {
    let mut what = vec![arg.kind.as_str().to_owned()];
    if arg.required {
        what.push("required".to_owned());
    }
    what.extend(arg.default.iter().map(|value| format!("{value} when absent")));
    what.extend(arg.header.iter().map(|name| format!("in the header Mcp-Param-{name} over HTTP")));
    let target = target.filter(|target| *target != arg.name).map(|target| format!(" -> {target}")).unwrap_or_default();
    format!("{}{target} ({})", arg.name, what.join(", "))
}

fn step_told(step: &StepManifest, catalog: &Catalog) -> Vec<String> {
    let mut lines = vec![format!("{}: {}", step.id, target_told(&step.target))];
    lines.push(format!("  {}", effect_told(&step.target, catalog)));
    lines.extend(
        step.args.iter().map(|BindingManifest { name, source, .. }| format!("  {name} <- {}", source_told(source))),
    );
    lines.extend(step.stop_when.iter().map(|condition| format!("  the last one where {}", condition_told(condition))));
    lines
}

fn source_told(source: &ValueSource) -> String {
    match source {
        ValueSource::Argument(name) => format!("argument {name}"),
        ValueSource::Fixed(value) => value.to_string(),
        ValueSource::Step { step, at } if at.is_empty() => format!("the result of {step}"),
        ValueSource::Step { step, at } => format!("{at} of {step}"),
    }
}

fn condition_told(condition: &ConditionManifest) -> String {
    let at = if condition.at.is_empty() { "the result" } else { &condition.at };
    match &condition.test {
        Test::Missing => format!("{at} is missing"),
        Test::Empty => format!("{at} is empty"),
        Test::Equals(value) => format!("{at} equals {value}"),
        Test::DiffersFrom(value) => format!("{at} differs from {value}"),
    }
}

/// What changed in the tool since the lock file.
fn since_lock(tool: &SurfaceToolManifest, declared: &Declared) -> anyhow::Result<Vec<String>> {
    let Some(lock) = declared.lock()? else { return Ok(vec!["there is none yet".to_owned()]) };
    let new_name = format!("`{}`", tool.name);
    let renamed_to = |change: &Change| change.kind == ChangeKind::ToolRenamed && change.what.ends_with(&new_name);
    let diff = diff(&lock.tools, &declared.tools);
    // What became of a tool is told under its old name.
    let old = diff.changes().iter().find(|change| renamed_to(change)).map_or(tool.name.as_str(), |change| &change.tool);
    let changes: Vec<String> = diff
        .changes()
        .iter()
        .filter(|change| change.tool == old)
        .map(|change| {
            let place = if change.path.is_empty() { String::new() } else { format!(" at {}", change.path) };
            format!("{}{place}: {} [{}]", change.level, change.what, change.kind.rule().name)
        })
        .collect();
    Ok(if changes.is_empty() { vec![format!("as locked in {}", lock.surface_version)] } else { changes })
}
