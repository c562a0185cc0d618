//! A declaration held against the catalog that it maps to: what can be served, and every disagreement with the
//! declaration's and the manifest's line.
//!
//! Owns the rules 140 to 159. A tool with an error is left out and the rest is served. Refuses to know how anything is
//! served and whether an entry is ready, which is asked at each call. Start at [`link`].

use gatelatch_bridge::bridge::Broken;
use gatelatch_manifest::diagnostic::{Diagnostic, Position, Severity, Source};
use gatelatch_manifest::rule::Rule;
use gatelatch_manifest::surface::{OperationManifest, SurfaceManifest, SurfaceToolManifest, ValueSource};
use gatelatch_protocol::surface::PublishedTool;
use gatelatch_registry::catalog::{Catalog, Effect, Kind};

mod argument;
mod operation;
mod promise;
mod step;

use crate::published;
use argument::Given;

/// A declaration as it was read.
#[derive(Clone, Copy, Debug)]
pub struct Declaration<'a> {
    /// The file as findings name it.
    pub file: &'a str,
    /// Its text, from which findings show the line.
    pub text: &'a str,
    /// What it says.
    pub manifest: &'a SurfaceManifest,
}

/// What of a declaration can be served, and what was found.
#[derive(Clone, Debug, Default)]
pub struct Linked {
    /// The tools that agree with the catalog, in the declaration's order.
    pub tools: Vec<LinkedTool>,
    /// The names of those that do not and are left out.
    pub left_out: Vec<String>,
    /// Every disagreement, by place.
    pub findings: Vec<Diagnostic>,
}

/// A published tool that agrees with the catalog.
#[derive(Clone, Debug)]
pub struct LinkedTool {
    /// As clients see it.
    pub(crate) published: PublishedTool,
    /// As it is declared.
    pub(crate) manifest: SurfaceToolManifest,
    /// What it calls, in order: one operation, or that of each step.
    pub(crate) calls: Vec<LinkedCall>,
}

impl LinkedTool {
    /// The tool as clients see it.
    pub fn published(&self) -> &PublishedTool {
        &self.published
    }
}

/// An operation of the catalog that a published tool calls.
#[derive(Clone, Debug)]
pub(crate) struct LinkedCall {
    pub(crate) kind: Kind,
    pub(crate) entry: String,
    /// `None` for the nameless action.
    pub(crate) action: Option<String>,
    /// What the gate rules of it.
    pub(crate) effect: Effect,
    /// Its arguments, and whether each is required.
    pub(crate) arguments: Vec<(String, bool)>,
}

impl LinkedCall {
    /// `xlsx.read-sheet`, or the entry alone where its action has no name. For the log: no caller knows it.
    pub(crate) fn name(&self) -> String {
        self.action.as_ref().map_or_else(|| self.entry.clone(), |action| format!("{}.{action}", self.entry))
    }
}

/// Holds a declaration against a catalog; `broken` is what the catalog leaves out.
pub fn link(declaration: &Declaration<'_>, catalog: &Catalog, broken: &[Broken]) -> Linked {
    let source = Source::new(declaration.file, declaration.text.strip_prefix('\u{feff}').unwrap_or(declaration.text));
    let mut linked = Linked::default();
    for tool in &declaration.manifest.tools {
        let mut linking = Linking { source: &source, catalog, broken, tool, findings: Vec::new() };
        let calls = linking.calls();
        let is_whole = linking.findings.iter().all(|finding| finding.severity != Severity::Error);
        match calls.filter(|_| is_whole) {
            Some(calls) => {
                linked.tools.push(LinkedTool { published: published::tool(tool), manifest: tool.clone(), calls });
            }
            None => linked.left_out.push(tool.name.clone()),
        }
        linked.findings.extend(linking.findings);
    }
    linked.findings.sort_by_key(|finding| finding.position);
    linked
}

/// One tool being held against the catalog.
struct Linking<'a> {
    source: &'a Source<'a>,
    catalog: &'a Catalog,
    broken: &'a [Broken],
    tool: &'a SurfaceToolManifest,
    findings: Vec<Diagnostic>,
}

impl<'a> Linking<'a> {
    /// What the tool calls; `None` where an operation is not there. Everything else that is wrong is only told.
    fn calls(&mut self) -> Option<Vec<LinkedCall>> {
        match &self.tool.operation {
            OperationManifest::Call { target, fixed } => {
                let operation = self.resolve(target)?;
                let published = self.tool.args.iter();
                let mut given: Vec<(&str, Given<'_>, Position)> =
                    published.map(|arg| (arg.target.as_str(), Given::Published(arg), arg.position)).collect();
                given.extend(fixed.iter().map(|fixed| {
                    (fixed.name.as_str(), Given::Value("the value fixed for", &fixed.value), fixed.position)
                }));
                self.check_arguments(&operation, &given, target.position);
                self.check_promises(&operation, target.position);
                self.check_narrowing(&[(&operation, self.own_targets())]);
                self.check_output(&operation);
                Some(vec![operation.linked()])
            }
            OperationManifest::Steps { steps, output } => self.steps(steps, output),
        }
    }

    /// The published arguments and the operation's arguments that get them.
    fn own_targets(&self) -> Vec<(&'a str, &'a str)> {
        self.tool.args.iter().map(|arg| (arg.name.as_str(), arg.target.as_str())).collect()
    }

    fn published(&self, name: &str) -> Option<&'a gatelatch_manifest::surface::SurfaceArgumentManifest> {
        self.tool.args.iter().find(|arg| arg.name == name)
    }

    fn add(&mut self, rule: &Rule, at: Position, message: String, help: Option<String>) {
        self.findings.push(self.source.diagnose(rule, at, message, help));
    }
}

/// The published argument that a source names, if it names one.
fn named_argument(source: &ValueSource) -> Option<&str> {
    match source {
        ValueSource::Argument(name) => Some(name),
        ValueSource::Fixed(_) | ValueSource::Step { .. } => None,
    }
}
