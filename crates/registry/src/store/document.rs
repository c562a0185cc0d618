//! What reading one manifest gave, as bytes and back.
//!
//! Every document is taken apart field by field without a `..`, so that a field that is added to one cannot be
//! forgotten here. Start at [`put_reading`] and [`take_reading`].

use std::collections::BTreeMap;
use std::time::Duration;

use gatelatch_manifest::diagnostic::{Diagnostic, Position, Severity};
use gatelatch_manifest::document::{
    ActionManifest, ArgumentManifest, ArgumentType, EntryManifest, ExampleManifest, Kind, Limits, OutputManifest,
    Repeat, Runtime, SecretManifest, SkillManifest, UseManifest,
};
use gatelatch_manifest::effect::Effect;
use gatelatch_manifest::mend::Fix;
use serde_json::{Map, Number, Value};

use super::bytes::{Reader, Writer};

/// What reading one manifest gave.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reading {
    /// Nothing where a finding is an error.
    pub(crate) document: Option<Document>,
    pub(crate) findings: Vec<Diagnostic>,
}

/// A manifest's document.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Document {
    /// Of a tool or an agent.
    Entry(EntryManifest),
    Skill(SkillManifest),
}

pub(crate) fn put_reading(to: &mut Writer, Reading { document, findings }: &Reading) {
    to.list(findings, put_finding);
    match document {
        None => to.byte(0),
        Some(Document::Entry(entry)) => {
            to.byte(1);
            put_entry(to, entry);
        }
        Some(Document::Skill(skill)) => {
            to.byte(2);
            put_skill(to, skill);
        }
    }
}

pub(crate) fn take_reading(from: &mut Reader<'_>) -> Option<Reading> {
    let findings = from.list(take_finding)?;
    let document = match from.byte()? {
        0 => None,
        1 => Some(Document::Entry(take_entry(from)?)),
        2 => Some(Document::Skill(take_skill(from)?)),
        _ => return None,
    };
    Some(Reading { document, findings })
}

fn put_finding(to: &mut Writer, finding: &Diagnostic) {
    let Diagnostic { code, severity, file, position, message, help, source_line, fix } = finding;
    to.number(u64::from(*code));
    to.flag(*severity == Severity::Error);
    to.text(file);
    to.option(position.as_ref(), put_position);
    to.text(message);
    to.option(help.as_deref(), Writer::text);
    to.option(source_line.as_deref(), Writer::text);
    to.option(fix.as_deref(), |to, Fix { range, replacement, done }| {
        to.number(range.start as u64);
        to.number(range.end as u64);
        to.text(replacement);
        to.text(done);
    });
}

fn take_finding(from: &mut Reader<'_>) -> Option<Diagnostic> {
    Some(Diagnostic {
        code: u16::try_from(from.number()?).ok()?,
        severity: if from.flag()? { Severity::Error } else { Severity::Warning },
        file: from.text()?,
        position: from.option(take_position)?,
        message: from.text()?,
        help: from.option(Reader::text)?,
        source_line: from.option(Reader::text)?,
        fix: from.option(take_fix)?.map(Box::new),
    })
}

fn take_fix(from: &mut Reader<'_>) -> Option<Fix> {
    let start = usize::try_from(from.number()?).ok()?;
    let end = usize::try_from(from.number()?).ok()?;
    Some(Fix { range: start..end, replacement: from.text()?, done: from.text()? })
}

fn put_position(to: &mut Writer, Position { line, column }: &Position) {
    to.number(u64::from(*line));
    to.number(u64::from(*column));
}

fn take_position(from: &mut Reader<'_>) -> Option<Position> {
    Some(Position { line: from.small()?, column: from.small()? })
}

fn put_entry(to: &mut Writer, entry: &EntryManifest) {
    let EntryManifest { kind, name, description, version, runtime, entrypoint, secrets, actions, uses, position } =
        entry;
    to.byte(of_kind(*kind));
    to.text(name);
    to.text(description);
    to.text(version);
    to.byte(of_runtime(*runtime));
    to.text(entrypoint);
    to.list(secrets, |to, SecretManifest { name, description, required }| {
        to.text(name);
        to.option(description.as_deref(), Writer::text);
        to.flag(*required);
    });
    to.list(actions, put_action);
    to.list(uses, |to, UseManifest { tool, action, position }| {
        to.text(tool);
        to.option(action.as_deref(), Writer::text);
        put_position(to, position);
    });
    put_position(to, position);
}

fn take_entry(from: &mut Reader<'_>) -> Option<EntryManifest> {
    Some(EntryManifest {
        kind: kind(from.byte()?)?,
        name: from.text()?,
        description: from.text()?,
        version: from.text()?,
        runtime: runtime(from.byte()?)?,
        entrypoint: from.text()?,
        secrets: from.list(|from| {
            Some(SecretManifest { name: from.text()?, description: from.option(Reader::text)?, required: from.flag()? })
        })?,
        actions: from.list(take_action)?,
        uses: from.list(|from| {
            Some(UseManifest { tool: from.text()?, action: from.option(Reader::text)?, position: take_position(from)? })
        })?,
        position: take_position(from)?,
    })
}

fn put_action(to: &mut Writer, action: &ActionManifest) {
    let ActionManifest {
        name,
        description,
        effect,
        because,
        approval,
        args,
        output,
        examples,
        triggers,
        limits,
        cwd,
        env,
        idempotent,
        open_world,
        narrow_with,
        position,
    } = action;
    to.option(name.as_deref(), Writer::text);
    to.text(description);
    to.option(effect.as_ref(), |to, effect| to.byte(of_effect(*effect)));
    to.option(because.as_deref(), Writer::text);
    to.flag(*approval);
    to.list(args, put_argument);
    to.option(output.as_ref(), |to, output| match output {
        OutputManifest::Schema(schema) => {
            to.byte(0);
            put_value(to, schema);
        }
        OutputManifest::Hint(hint) => {
            to.byte(1);
            to.text(hint);
        }
    });
    to.list(examples, |to, ExampleManifest { description, args }| {
        to.option(description.as_deref(), Writer::text);
        put_members(to, args);
    });
    put_texts(to, triggers);
    put_limits(to, limits);
    to.option(cwd.as_deref(), Writer::text);
    put_texts(to, env);
    to.flag(*idempotent);
    to.flag(*open_world);
    put_texts(to, narrow_with);
    put_position(to, position);
}

fn take_action(from: &mut Reader<'_>) -> Option<ActionManifest> {
    Some(ActionManifest {
        name: from.option(Reader::text)?,
        description: from.text()?,
        effect: from.option(|from| effect(from.byte()?))?,
        because: from.option(Reader::text)?,
        approval: from.flag()?,
        args: from.list(take_argument)?,
        output: from.option(|from| match from.byte()? {
            0 => Some(OutputManifest::Schema(take_value(from)?)),
            1 => Some(OutputManifest::Hint(from.text()?)),
            _ => None,
        })?,
        examples: from.list(|from| {
            Some(ExampleManifest { description: from.option(Reader::text)?, args: take_members(from)? })
        })?,
        triggers: from.list(Reader::text)?,
        limits: take_limits(from)?,
        cwd: from.option(Reader::text)?,
        env: from.list(Reader::text)?,
        idempotent: from.flag()?,
        open_world: from.flag()?,
        narrow_with: from.list(Reader::text)?,
        position: take_position(from)?,
    })
}

fn put_argument(to: &mut Writer, argument: &ArgumentManifest) {
    let ArgumentManifest {
        name,
        kind,
        required,
        description,
        default,
        choices,
        minimum,
        maximum,
        pattern,
        items,
        repeat,
        positional,
        allow_dash,
        negatable,
        position,
    } = argument;
    to.text(name);
    to.byte(of_type(*kind));
    to.flag(*required);
    to.text(description);
    to.option(default.as_ref(), put_value);
    to.list(choices, put_value);
    to.option(minimum.as_ref(), put_number);
    to.option(maximum.as_ref(), put_number);
    to.option(pattern.as_deref(), Writer::text);
    to.option(items.as_ref(), put_value);
    to.option(repeat.as_ref(), |to, repeat| to.byte(of_repeat(*repeat)));
    to.flag(*positional);
    to.flag(*allow_dash);
    to.flag(*negatable);
    put_position(to, position);
}

fn take_argument(from: &mut Reader<'_>) -> Option<ArgumentManifest> {
    Some(ArgumentManifest {
        name: from.text()?,
        kind: *ArgumentType::ALL.get(usize::from(from.byte()?))?,
        required: from.flag()?,
        description: from.text()?,
        default: from.option(take_value)?,
        choices: from.list(take_value)?,
        minimum: from.option(take_number)?,
        maximum: from.option(take_number)?,
        pattern: from.option(Reader::text)?,
        items: from.option(take_value)?,
        repeat: from.option(|from| repeat(from.byte()?))?,
        positional: from.flag()?,
        allow_dash: from.flag()?,
        negatable: from.flag()?,
        position: take_position(from)?,
    })
}

fn put_skill(to: &mut Writer, skill: &SkillManifest) {
    let SkillManifest { name, description, fields, metadata, body, position } = skill;
    to.text(name);
    to.text(description);
    put_table(to, fields);
    put_table(to, metadata);
    to.text(body);
    put_position(to, position);
}

fn take_skill(from: &mut Reader<'_>) -> Option<SkillManifest> {
    Some(SkillManifest {
        name: from.text()?,
        description: from.text()?,
        fields: take_table(from)?,
        metadata: take_table(from)?,
        body: from.text()?,
        position: take_position(from)?,
    })
}

fn put_limits(to: &mut Writer, limits: &Limits) {
    let Limits { timeout, max_input_bytes, max_output_bytes, max_concurrent } = limits;
    to.number(timeout.as_secs());
    to.number(u64::from(timeout.subsec_nanos()));
    to.number(*max_input_bytes);
    to.number(*max_output_bytes);
    to.number(u64::from(*max_concurrent));
}

fn take_limits(from: &mut Reader<'_>) -> Option<Limits> {
    let (seconds, nanos) = (from.number()?, from.small()?);
    Some(Limits {
        timeout: Duration::new(seconds, Some(nanos).filter(|nanos| *nanos < 1_000_000_000)?),
        max_input_bytes: from.number()?,
        max_output_bytes: from.number()?,
        max_concurrent: from.small()?,
    })
}

fn put_texts(to: &mut Writer, texts: &[String]) {
    to.list(texts, |to, text| to.text(text));
}

fn put_table(to: &mut Writer, table: &BTreeMap<String, String>) {
    to.number(table.len() as u64);
    for (key, value) in table {
        to.text(key);
        to.text(value);
    }
}

fn take_table(from: &mut Reader<'_>) -> Option<BTreeMap<String, String>> {
    Some(from.list(|from| Some((from.text()?, from.text()?)))?.into_iter().collect())
}

fn put_members(to: &mut Writer, members: &Map<String, Value>) {
    to.number(members.len() as u64);
    for (name, value) in members {
        to.text(name);
        put_value(to, value);
    }
}

fn take_members(from: &mut Reader<'_>) -> Option<Map<String, Value>> {
    Some(from.list(|from| Some((from.text()?, take_value(from)?)))?.into_iter().collect())
}

/// Values as JSON text, whose numbers come back as they were.
fn put_value(to: &mut Writer, value: &Value) {
    to.text(&value.to_string());
}

fn take_value(from: &mut Reader<'_>) -> Option<Value> {
    serde_json::from_str(from.str()?).ok()
}

fn put_number(to: &mut Writer, number: &Number) {
    to.text(&number.to_string());
}

fn take_number(from: &mut Reader<'_>) -> Option<Number> {
    serde_json::from_str(from.str()?).ok()
}

fn of_kind(kind: Kind) -> u8 {
    match kind {
        Kind::Tool => 0,
        Kind::Agent => 1,
        Kind::Skill => 2,
    }
}

fn kind(byte: u8) -> Option<Kind> {
    Kind::ALL.into_iter().find(|kind| of_kind(*kind) == byte)
}

fn of_effect(effect: Effect) -> u8 {
    match effect {
        Effect::ReadOnly => 0,
        Effect::Reversible => 1,
        Effect::Irreversible => 2,
    }
}

fn effect(byte: u8) -> Option<Effect> {
    Effect::ALL.into_iter().find(|effect| of_effect(*effect) == byte)
}

fn of_type(kind: ArgumentType) -> u8 {
    ArgumentType::ALL.iter().position(|known| *known == kind).and_then(|at| u8::try_from(at).ok()).unwrap_or(u8::MAX)
}

fn of_repeat(repeat: Repeat) -> u8 {
    match repeat {
        Repeat::Name => 0,
        Repeat::Value => 1,
    }
}

fn repeat(byte: u8) -> Option<Repeat> {
    Repeat::ALL.into_iter().find(|repeat| of_repeat(*repeat) == byte)
}

fn of_runtime(runtime: Runtime) -> u8 {
    match runtime {
        Runtime::Python => 0,
        Runtime::Node => 1,
        Runtime::Process => 2,
        Runtime::Builtin => 3,
    }
}

fn runtime(byte: u8) -> Option<Runtime> {
    [Runtime::Python, Runtime::Node, Runtime::Process, Runtime::Builtin]
        .into_iter()
        .find(|runtime| of_runtime(*runtime) == byte)
}
