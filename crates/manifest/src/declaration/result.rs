//! Reads what a published tool says of its result, and holds the members of a composed result against the output
//! schema.
//!
//! Start at [`schema`], [`limits`] and [`check_members`].

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::diagnostic::{Position, quoted};
use crate::entry::check_narrowing;
use crate::findings::Findings;
use crate::keys::Keys;
use crate::reference::MOST_ARGUMENTS;
use crate::rule;
use crate::schema::{self, Use};
use crate::surface::{OutputMemberManifest, ResultManifest, SurfaceArgumentManifest, ValueSource};

use super::number;
use super::steps::Composed;

/// The member by which a result that was cut says what went.
const CUT: &str = "_cut";

/// How large a result may be.
pub(super) fn limits(
    keys: Keys<'_>,
    args: &[SurfaceArgumentManifest],
    findings: &mut Findings<'_, '_>,
) -> ResultManifest {
    let keys = keys.node("result").and_then(Keys::of);
    let mut narrow_with = keys.map(|keys| keys.texts_at("narrow_with")).unwrap_or_default();
    narrow_with.truncate(MOST_ARGUMENTS);
    check_narrowing(&narrow_with, || args.iter().map(|argument| argument.name.as_str()), findings);
    ResultManifest {
        max_bytes: keys.and_then(|keys| keys.whole("max_bytes")).unwrap_or(ResultManifest::MOST_BYTES),
        narrow_with: narrow_with.into_iter().map(|(name, _)| name.to_owned()).collect(),
    }
}

/// The output schema.
pub(super) fn schema(keys: Keys<'_>, findings: &mut Findings<'_, '_>) -> Map<String, Value> {
    let Some(node) = keys.node("output_schema") else { return Map::new() };
    number::check(node, findings);
    let Some(Value::Object(root)) = node.json() else { return Map::new() };
    let value = Value::Object(root);
    for fault in schema::check(&value, Use::Output, node.at, findings) {
        findings.add(fault.rule, node.at_pointer(&fault.pointer).at, || fault.message.clone());
    }
    let Value::Object(root) = value else { return Map::new() };
    if let Some(keys) = Keys::of(node) {
        check_cut(keys, &root, findings);
    }
    root
}

/// Reports an output schema that a result could not satisfy once it was cut.
fn check_cut(keys: Keys<'_>, root: &Map<String, Value>, findings: &mut Findings<'_, '_>) {
    let declared = properties(root).and_then(|properties| properties.get(CUT));
    let closing = ["additionalProperties", "unevaluatedProperties"];
    let closed = closing.into_iter().find_map(|key| keys.pair(key).filter(|_| !allows_all(root.get(key))));
    match (declared.and_then(|cut| cut.get("type")), closed) {
        (None, Some(pair)) if declared.is_none() => {
            findings.add_with_help(&rule::CUT_MEMBER, pair.at, || {
                let message =
                    format!("`{}` leaves no room for `{CUT}`, by which a cut result says what went", pair.key);
                let help = format!("declare `{CUT}: {{type: object}}` under `properties`, or remove `{}`", pair.key);
                (message, Some(help))
            });
        }
        (Some(kind), _) if kind.as_str() != Some("object") => {
            let at = keys.node("properties").map_or(keys.at, |node| node.at_pointer(&format!("/{CUT}/type")).at);
            findings
                .add(&rule::CUT_MEMBER, at, || format!("`{CUT}` is an object, and {} is declared", quoted_json(kind)));
        }
        (None | Some(_), _) => {}
    }
    if declared == Some(&Value::Bool(false)) {
        let at = keys.node("properties").map_or(keys.at, |node| node.at_pointer(&format!("/{CUT}")).at);
        findings.add(&rule::CUT_MEMBER, at, || format!("`{CUT}` is an object, and none is allowed"));
    }
    for key in ["maxProperties", "propertyNames"] {
        if let Some(pair) = keys.pair(key).filter(|_| !admits_cut(key, root)) {
            findings.add_with_help(&rule::CUT_MEMBER, pair.at, || {
                let message = format!("`{key}` leaves no room for `{CUT}`, by which a cut result says what went");
                (message, Some(format!("remove `{key}`, or let it admit `{CUT}`")))
            });
        }
    }
    for (name, at) in keys.texts_at("required").into_iter().filter(|(name, _)| *name == CUT) {
        findings.add(&rule::CUT_MEMBER, at, || format!("{} is required, and only a cut result has it", quoted(name)));
    }
}

/// Whether a result with `_cut` beside all that is required satisfies one of the two keywords.
fn admits_cut(key: &str, root: &Map<String, Value>) -> bool {
    let required = root.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let names = required.filter(|_| key == "maxProperties").chain([CUT]);
    let sample: Map<String, Value> = names.map(|name| (name.to_owned(), Map::new().into())).collect();
    let keyword: Map<String, Value> = root.get(key).map(|value| (key.to_owned(), value.clone())).into_iter().collect();
    // What is no valid keyword is told elsewhere.
    schema::validator(&keyword.into()).is_ok_and(|validator| validator.is_valid(&sample.into()))
}

/// Holds the members of a composed result against the output schema.
pub(super) fn check_members(
    keys: Keys<'_>,
    args: &[SurfaceArgumentManifest],
    root: &Map<String, Value>,
    composed: &Composed<'_>,
    findings: &mut Findings<'_, '_>,
) {
    check_listed(keys, composed, findings);
    if composed.steps.is_empty() || composed.written.is_empty() {
        return;
    }
    let Some(schema) = keys.node("output_schema").and_then(Keys::of) else { return };
    for member in &composed.output {
        check_declared(member, root, findings);
    }
    let required = schema.texts_at("required");
    let names: HashSet<&str> = composed.written.iter().copied().collect();
    for (name, at) in required.iter().filter(|(name, _)| *name != CUT && !names.contains(name)) {
        missing(name, *at, &names, findings);
    }
    let required: HashSet<&str> = required.iter().map(|(name, _)| *name).collect();
    for member in composed.output.iter().filter(|member| required.contains(member.name.as_str())) {
        check_certain(member, args, composed, findings);
    }
}

/// Reports an `output` that is not there or has no member.
fn check_listed(keys: Keys<'_>, composed: &Composed<'_>, findings: &mut Findings<'_, '_>) {
    let Some(steps) = keys.pair("steps") else { return };
    let place = match keys.pair("output") {
        Some(pair) if pair.value.mapping().is_some() && composed.written.is_empty() => pair.at,
        Some(_) => return,
        None => steps.at,
    };
    findings.add_with_help(&rule::MISSING_KEY, place, || {
        let message = "the operation's steps are run, and `output` names no member of the result".to_owned();
        (message, Some("add `output`, and to it `NAME: {step: ID, at: /…}`".to_owned()))
    });
}

fn check_declared(member: &OutputMemberManifest, root: &Map<String, Value>, findings: &mut Findings<'_, '_>) {
    if member.name == CUT {
        findings.add_with_help(&rule::CUT_MEMBER, member.position, || {
            let message = format!("`{CUT}` is what a cut result says of itself");
            (message, Some("give the member another name".to_owned()))
        });
        return;
    }
    let known = properties(root);
    let declared = known.is_some_and(|known| known.contains_key(&member.name));
    let closed = root.get("additionalProperties") == Some(&Value::Bool(false));
    if declared || !closed || root.contains_key("patternProperties") {
        return;
    }
    let near = findings.did_you_mean(&member.name, known.into_iter().flat_map(Map::keys).map(String::as_str));
    findings.add_with_help(&rule::MEMBER_UNDECLARED, member.position, || {
        (format!("the output schema has no member {} and allows no other", quoted(&member.name)), near)
    });
}

fn missing(name: &str, at: Position, names: &HashSet<&str>, findings: &mut Findings<'_, '_>) {
    let near = findings.did_you_mean(name, names.iter().copied());
    findings.add_with_help(&rule::MEMBER_MISSING, at, || {
        (format!("{} is required, and `output` does not have it", quoted(name)), near)
    });
}

/// Reports a required member that a result may lack.
fn check_certain(
    member: &OutputMemberManifest,
    args: &[SurfaceArgumentManifest],
    composed: &Composed<'_>,
    findings: &mut Findings<'_, '_>,
) {
    let name = quoted(&member.name);
    match &member.source {
        ValueSource::Step { step, .. } => {
            let before = composed.steps.iter().take_while(|before| before.id != *step);
            let Some(stop) = before.filter_map(|before| before.stop_when.as_ref()).next() else { return };
            findings.add(&rule::MEMBER_UNCERTAIN, member.position, || {
                let line = stop.position.line;
                format!("{name} is required, and step {} does not run when line {line} stops before it", quoted(step))
            });
        }
        ValueSource::Argument(argument) => {
            let optional = args.iter().find(|known| known.name == *argument);
            if optional.is_some_and(|known| !known.required && known.default.is_none()) {
                findings.add(&rule::MEMBER_UNCERTAIN, member.position, || {
                    format!("{name} is required, and a call may leave out {}", quoted(argument))
                });
            }
        }
        ValueSource::Fixed(_) => {}
    }
}

fn properties(root: &Map<String, Value>) -> Option<&Map<String, Value>> {
    root.get("properties").and_then(Value::as_object)
}

fn allows_all(schema: Option<&Value>) -> bool {
    match schema {
        None | Some(Value::Bool(true)) => true,
        Some(schema) => schema.as_object().is_some_and(Map::is_empty),
    }
}

fn quoted_json(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        other => quoted(&other.to_string()),
    }
}
