//! Reads `tool.yaml` and `agent.yaml`: from a tree that its table has checked to a typed document, with the rules that
//! tie several keys together.
//!
//! What a tool states once and its actions inherit is resolved here. Arguments are read in [`crate::argument`]. Start
//! at [`entry`].

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::argument::{Draft, add_misfits, arguments, check_names, check_words, mend_twins, mend_type};
use crate::diagnostic::{Position, quoted};
use crate::document::{
    ActionManifest, EntryManifest, ExampleManifest, Kind, Limits, OutputManifest, Runtime, SecretManifest, UseManifest,
};
use crate::effect::Effect;
use crate::findings::Findings;
use crate::fit::Fitting;
use crate::keys::Keys;
use crate::mend;
use crate::read::{Beside, Lookup};
use crate::reference::{
    AGENT, Block, ENTRY_NAME, MOST_ACTIONS, MOST_ARGUMENTS, MOST_DESCRIPTION, MOST_ITEMS, MOST_VARIABLES, NameForm,
    TOOL, USE_NAME, VARIABLE_NAME,
};
use crate::rule;
use crate::schema::{self, Use};
use crate::shape::{check_block, lint_text};
use crate::yaml::{Data, Node};

/// The document of a tree. What is wrong is reported; the document then has gaps and serves no one.
pub(crate) fn entry(
    kind: Kind,
    folder: &str,
    root: &Node<'_>,
    beside: Lookup<'_>,
    findings: &mut Findings<'_, '_>,
) -> Option<EntryManifest> {
    check_block(root, table(kind), findings);
    let keys = Keys::of(root)?;
    let (name, position) = keys.text_at("name").unwrap_or(("", keys.at));
    check_folder(keys, folder, &ENTRY_NAME, findings);
    check_version(keys, findings);
    let runtime = keys.text("runtime").and_then(runtime_of);
    check_runtime(keys, findings);
    check_entrypoint(keys, runtime, beside, findings);
    let settings = Settings::read(keys);
    let runtime = runtime.unwrap_or(Runtime::Process);
    let secrets = secrets(keys, &settings, findings);
    let actions = actions(keys, settings, runtime, findings);
    Some(EntryManifest {
        kind,
        name: name.to_owned(),
        description: keys.text("description").unwrap_or_default().to_owned(),
        version: keys.text("version").unwrap_or("0.0.0").to_owned(),
        runtime,
        entrypoint: keys.text("entrypoint").unwrap_or_default().to_owned(),
        secrets,
        actions,
        uses: uses(keys),
        position,
    })
}

fn table(kind: Kind) -> &'static Block {
    match kind {
        Kind::Agent => &AGENT,
        Kind::Tool | Kind::Skill => &TOOL,
    }
}

/// Reports a name that is not its folder's, unless it is no name anyway.
pub(crate) fn check_folder(keys: Keys<'_>, folder: &str, form: &NameForm, findings: &mut Findings<'_, '_>) {
    let (Some((name, at)), Some(node)) = (keys.text_at("name"), keys.node("name")) else { return };
    let fix = mend::folder_name(findings.text(), node, folder, form);
    if !form.fits(name) {
        // Told already, as a name that is none; of those that are one, only the folder's is right.
        findings.mend(form.rule, at, fix);
    } else if name != folder {
        let message = || {
            let message = format!("name {} is not its folder's, {}", quoted(name), quoted(folder));
            (message, Some(format!("write `name: {folder}`, or rename the folder")))
        };
        findings.add_with_fix(&rule::NAME_NOT_FOLDER, at, message, fix);
    }
}

fn check_version(keys: Keys<'_>, findings: &mut Findings<'_, '_>) {
    if let Some((version, at)) = keys.text_at("version")
        && semver::Version::parse(version).is_err()
    {
        findings.add(&rule::VERSION_FORM, at, || format!("{} is no semantic version", quoted(version)));
    }
}

fn runtime_of(word: &str) -> Option<Runtime> {
    match word {
        "python" => Some(Runtime::Python),
        "node" => Some(Runtime::Node),
        "process" => Some(Runtime::Process),
        "builtin" => Some(Runtime::Builtin),
        _ => None,
    }
}

fn check_runtime(keys: Keys<'_>, findings: &mut Findings<'_, '_>) {
    if let Some(("http", at)) = keys.text_at("runtime") {
        findings.add(&rule::RUNTIME_NOT_BUILT, at, || "this version cannot run `runtime: http`".to_owned());
    }
}

fn check_entrypoint(keys: Keys<'_>, runtime: Option<Runtime>, beside: Lookup<'_>, findings: &mut Findings<'_, '_>) {
    let (Some((entrypoint, at)), Some(runtime)) = (keys.text_at("entrypoint"), runtime) else { return };
    if let Some(fault) = entrypoint_fault(entrypoint, runtime) {
        findings.add(&rule::ENTRYPOINT_FORM, at, || format!("entrypoint {} {fault}", quoted(entrypoint)));
        return;
    }
    let is_file = match runtime {
        Runtime::Python | Runtime::Node => true,
        // A bare name may be a program on PATH, which is asked for when the entry is to run.
        Runtime::Process => entrypoint.contains(['/', '\\']),
        Runtime::Builtin => false,
    };
    if is_file && beside(entrypoint) != Beside::File {
        findings.add(&rule::ENTRYPOINT_MISSING, at, || format!("there is no file {}", quoted(entrypoint)));
    }
}

fn entrypoint_fault(entrypoint: &str, runtime: Runtime) -> Option<&'static str> {
    match runtime {
        _ if entrypoint.starts_with('-') => Some("begins with `-` and would be taken for an option"),
        Runtime::Python | Runtime::Node if is_absolute(entrypoint) => Some("is absolute"),
        Runtime::Python | Runtime::Node if leaves_folder(entrypoint) => Some("leaves the entry's folder"),
        Runtime::Builtin if !ENTRY_NAME.fits(entrypoint) => Some("is no reader's name"),
        Runtime::Python | Runtime::Node | Runtime::Process | Runtime::Builtin => None,
    }
}

/// On any platform, whichever this one is: a manifest means the same everywhere.
fn is_absolute(path: &str) -> bool {
    let drive = path.as_bytes().get(1) == Some(&b':') && path.starts_with(|c: char| c.is_ascii_alphabetic());
    path.starts_with(['/', '\\']) || drive
}

/// Whether a relative path goes above where it starts, or names that place itself.
pub(crate) fn leaves_folder(path: &str) -> bool {
    let mut depth: i64 = 0;
    for part in path.split(['/', '\\']) {
        match part {
            ".." => depth -= 1,
            "" | "." => {}
            _ => depth += 1,
        }
        if depth < 0 {
            return true;
        }
    }
    depth == 0
}

/// Variables that steer programs or the house itself; none of them is a secret's.
const RESERVED: [&str; 24] = [
    "PATH",
    "HOME",
    "LANG",
    "TZ",
    "TMPDIR",
    "TEMP",
    "TMP",
    "SHELL",
    "USER",
    "LOGNAME",
    "PWD",
    "ENV",
    "BASH_ENV",
    "IFS",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PERL5LIB",
    "PERL5OPT",
    "RUBYLIB",
    "RUBYOPT",
    "JAVA_TOOL_OPTIONS",
    "GCONV_PATH",
    "SYSTEMROOT",
    "PATHEXT",
];
/// The beginnings of further ones.
const RESERVED_PREFIXES: [&str; 5] = ["LD_", "DYLD_", "LC_", "PYTHON", "GATELATCH_"];

fn secrets(keys: Keys<'_>, settings: &Settings<'_>, findings: &mut Findings<'_, '_>) -> Vec<SecretManifest> {
    let mut secrets = Vec::new();
    let mut places = Vec::new();
    for item in keys.items("secrets").iter().take(MOST_ITEMS) {
        let Some((secret, at)) = secret(item) else { continue };
        let reserved = RESERVED.contains(&secret.name.as_str())
            || RESERVED_PREFIXES.iter().any(|prefix| secret.name.starts_with(prefix));
        if reserved {
            findings.add(&rule::RESERVED_SECRET, at, || format!("secret {} steers programs", quoted(&secret.name)));
        }
        places.push(at);
        secrets.push(secret);
    }
    let named = secrets.iter().map(|secret: &SecretManifest| secret.name.as_str()).zip(places);
    check_names("secret", named, findings);
    mend_twins("the secret", keys.items("secrets"), findings);
    check_let_through(&secrets, settings.env.as_deref().unwrap_or_default(), findings);
    secrets
}

fn secret(item: &Node<'_>) -> Option<(SecretManifest, Position)> {
    match Keys::of(item) {
        Some(keys) => {
            let (name, at) = keys.text_at("name")?;
            let secret = SecretManifest {
                name: name.to_owned(),
                description: keys.text("description").map(str::to_owned),
                required: keys.flag("required").unwrap_or(true),
            };
            Some((secret, at))
        }
        None => {
            let name = item.text()?.to_owned();
            Some((SecretManifest { name, description: None, required: true }, item.at))
        }
    }
}

fn check_let_through(secrets: &[SecretManifest], env: &[Placed<'_>], findings: &mut Findings<'_, '_>) {
    for (name, at) in env.iter().filter(|(name, _)| secrets.iter().any(|secret| secret.name == *name)) {
        findings.add(&rule::SECRET_LET_THROUGH, *at, || format!("variable {} is a secret already", quoted(name)));
    }
}

fn uses(keys: Keys<'_>) -> Vec<UseManifest> {
    let read = |(name, position): (&str, Position)| {
        let (tool, action) = match name.split_once('.') {
            Some((tool, action)) => (tool, Some(action.to_owned())),
            None => (name, None),
        };
        UseManifest { tool: tool.to_owned(), action, position }
    };
    keys.texts_at("uses").into_iter().take(MOST_ITEMS).filter(|(name, _)| USE_NAME.fits(name)).map(read).collect()
}

/// A name and where it stands.
pub(crate) type Placed<'n> = (&'n str, Position);

/// What a tool may state once and an action for itself, as written.
#[derive(Clone, Debug, Default)]
struct Settings<'n> {
    effect: Option<(Effect, Position)>,
    because: Option<Placed<'n>>,
    approval: Option<(bool, Position)>,
    limits: [Option<u64>; 4],
    cwd: Option<&'n str>,
    env: Option<Vec<Placed<'n>>>,
    idempotent: Option<bool>,
    open_world: Option<bool>,
    narrow_with: Option<Vec<Placed<'n>>>,
}

impl<'n> Settings<'n> {
    fn read(keys: Keys<'n>) -> Settings<'n> {
        let names = |key: &str, most: usize| {
            keys.pair(key).map(|_| keys.texts_at(key).into_iter().take(most).collect::<Vec<_>>())
        };
        // What is too long was reported, and is not to be copied to every action.
        let short = |text: &&str| text.len() <= 4 * MOST_DESCRIPTION;
        let limits = keys.node("limits").and_then(Keys::of);
        let limit = |key: &str| limits.and_then(|limits| limits.whole(key));
        Settings {
            effect: keys.text_at("effect").and_then(|(word, at)| effect_of(word).map(|effect| (effect, at))),
            because: keys.text_at("because").filter(|(text, _)| short(text)),
            approval: keys.pair("approval").and_then(|pair| pair.value.flag().map(|flag| (flag, pair.at))),
            limits: ["timeout_s", "max_input_bytes", "max_output_bytes", "max_concurrent"].map(limit),
            cwd: keys.text("cwd").filter(short),
            env: names("env", MOST_VARIABLES)
                .map(|names| names.into_iter().filter(|(name, _)| VARIABLE_NAME.fits(name)).collect()),
            idempotent: keys.flag("idempotent"),
            open_world: keys.flag("open_world"),
            narrow_with: names("narrow_with", MOST_ARGUMENTS),
        }
    }

    /// Reports what these settings say against each other.
    fn check(&self, findings: &mut Findings<'_, '_>) {
        if let (Some((Effect::ReadOnly, _)), Some((true, at))) = (self.effect, self.approval) {
            read_only_approval(at, findings);
        }
        if let (None, Some((_, at))) = (self.effect, self.because) {
            because_alone(at, findings);
        }
    }

    /// These settings, with those of the tool where there are none. What makes a result smaller is not among them: the
    /// tool's holds for those actions that have the argument.
    fn over(self, tool: &Settings<'n>) -> Settings<'n> {
        let own_effect = self.effect.is_some();
        let mut limits = self.limits;
        for (limit, inherited) in limits.iter_mut().zip(tool.limits) {
            *limit = limit.or(inherited);
        }
        Settings {
            effect: self.effect.or(tool.effect),
            // A reason belongs to the effect that it stands with: an effect of the action's own needs its own reason.
            because: self.because.or(if own_effect { None } else { tool.because }),
            approval: self.approval.or(tool.approval),
            limits,
            cwd: self.cwd.or(tool.cwd),
            env: self.env.or_else(|| tool.env.clone()),
            idempotent: self.idempotent.or(tool.idempotent),
            open_world: self.open_world.or(tool.open_world),
            narrow_with: self.narrow_with,
        }
    }

    fn limits(&self) -> Limits {
        let defaults = Limits::default();
        let [timeout, input, output, concurrent] = self.limits;
        Limits {
            timeout: timeout.map_or(defaults.timeout, std::time::Duration::from_secs),
            max_input_bytes: input.unwrap_or(defaults.max_input_bytes),
            max_output_bytes: output.unwrap_or(defaults.max_output_bytes),
            max_concurrent: concurrent.and_then(|most| u32::try_from(most).ok()).unwrap_or(defaults.max_concurrent),
        }
    }
}

/// The mapping that describes the action of that name, in a manifest's tree.
pub(crate) fn action_of<'n>(root: &'n Node<'n>, name: &str) -> Option<&'n Node<'n>> {
    let value = |node: &'n Node<'n>, key: &str| -> Option<&'n Node<'n>> {
        node.mapping()?.iter().find(|pair| pair.key == key).map(|pair| &pair.value)
    };
    let is_it = |item: &&'n Node<'n>| value(item, "name").and_then(Node::text).is_some_and(|text| text.trim() == name);
    value(root, "actions")?.list()?.iter().find(is_it)
}

fn effect_of(word: &str) -> Option<Effect> {
    Effect::ALL.into_iter().find(|effect| effect.as_str() == word)
}

fn read_only_approval(at: Position, findings: &mut Findings<'_, '_>) {
    findings.add(&rule::APPROVAL_ON_READ_ONLY, at, || "a human is asked about what changes nothing".to_owned());
}

fn because_alone(at: Position, findings: &mut Findings<'_, '_>) {
    let message = "`because` explains an effect, and none is declared";
    findings.add(&rule::BECAUSE_WITHOUT_EFFECT, at, || message.to_owned());
}

fn actions<'n>(
    keys: Keys<'n>,
    settings: Settings<'n>,
    runtime: Runtime,
    findings: &mut Findings<'_, '_>,
) -> Vec<ActionManifest> {
    settings.check(findings);
    let Some(list) = keys.pair("actions") else {
        let (_, position) = keys.text_at("name").unwrap_or(("", keys.at));
        return vec![action(keys, None, position, settings, runtime, findings)];
    };
    check_misplaced(keys, findings);
    if list.value.list().is_some_and(<[Node<'_>]>::is_empty) {
        findings.add_with_help(&rule::MISSING_KEY, list.at, || {
            let help = "add an action, or remove `actions` for an entry with a single nameless one";
            ("`actions` lists none".to_owned(), Some(help.to_owned()))
        });
    }
    let actions: Vec<ActionManifest> = keys
        .items("actions")
        .iter()
        .take(MOST_ACTIONS)
        .filter_map(Keys::of)
        .map(|keys| named_action(keys, &settings, runtime, findings))
        .collect();
    let named = actions.iter().filter_map(|action| action.name.as_deref().map(|name| (name, action.position)));
    check_names("action", named, findings);
    mend_twins("the action", keys.items("actions"), findings);
    check_inherited_narrowing(&settings, &actions, findings);
    actions
}

fn check_misplaced(keys: Keys<'_>, findings: &mut Findings<'_, '_>) {
    for key in ["args", "output_schema", "examples", "triggers"] {
        if let Some(pair) = keys.pair(key) {
            findings.add(&rule::MISPLACED_KEY, pair.at, || {
                format!("`{key}` stands beside `actions`, and describes none of them")
            });
        }
    }
}

fn named_action<'n>(
    keys: Keys<'n>,
    tool: &Settings<'n>,
    runtime: Runtime,
    findings: &mut Findings<'_, '_>,
) -> ActionManifest {
    let own = Settings::read(keys);
    let (own_effect, own_because, own_approval) = (own.effect, own.because, own.approval);
    let own_narrowing = own.narrow_with.is_some();
    let whole = own.over(tool);
    match (own_approval, own_effect, whole.effect, whole.approval) {
        (Some((true, at)), _, Some((Effect::ReadOnly, _)), _) => read_only_approval(at, findings),
        (None, Some((Effect::ReadOnly, at)), _, Some((true, _))) => {
            findings.add_with_help(&rule::APPROVAL_ON_READ_ONLY, at, || {
                let message = "the action is read-only, and the entry's `approval: true` asks a human about it";
                let help = "write `approval: false` here, or `approval: true` in the actions that need it";
                (message.to_owned(), Some(help.to_owned()))
            });
        }
        _ => {}
    }
    if let (None, Some((_, at))) = (whole.effect, own_because) {
        because_alone(at, findings);
    }
    let (name, position) = keys.text_at("name").map_or((None, keys.at), |(name, at)| (Some(name), at));
    let mut action = action(keys, name, position, whole, runtime, findings);
    if !own_narrowing {
        let inherited = tool.narrow_with.iter().flatten().map(|(name, _)| *name);
        let has = |name: &&str| action.args.iter().any(|argument| argument.name == *name);
        action.narrow_with = inherited.filter(has).map(str::to_owned).collect();
    }
    action
}

fn action(
    keys: Keys<'_>,
    name: Option<&str>,
    position: Position,
    settings: Settings<'_>,
    runtime: Runtime,
    findings: &mut Findings<'_, '_>,
) -> ActionManifest {
    let drafts = arguments(keys, findings);
    let examples = examples(keys, &drafts, findings);
    check_triggers(keys, findings);
    let narrow_with = settings.narrow_with.as_deref().unwrap_or_default();
    check_narrowing(narrow_with, || drafts.iter().map(|draft| draft.argument.name.as_str()), findings);
    let effect = settings.effect.map(|(effect, _)| effect);
    ActionManifest {
        name: name.map(str::to_owned),
        description: keys.text("description").unwrap_or_default().to_owned(),
        effect,
        because: settings.because.map(|(text, _)| text.to_owned()),
        approval: settings.approval.is_some_and(|(approval, _)| approval),
        output: output(keys, findings),
        examples,
        triggers: keys.texts("triggers"),
        limits: settings.limits(),
        narrow_with: narrow_with.iter().map(|(name, _)| (*name).to_owned()).collect(),
        args: drafts.into_iter().map(|draft| draft.argument).collect(),
        env: settings.env.unwrap_or_default().into_iter().map(|(name, _)| name.to_owned()).collect(),
        cwd: settings.cwd.map(str::to_owned),
        idempotent: settings.idempotent.unwrap_or(effect == Some(Effect::ReadOnly)),
        open_world: settings.open_world.unwrap_or(runtime != Runtime::Builtin),
        position,
    }
}

fn check_triggers(keys: Keys<'_>, findings: &mut Findings<'_, '_>) {
    for (trigger, at) in keys.texts_at("triggers") {
        check_words("`triggers`", trigger, at, findings);
    }
}

/// Reports names under `narrow_with` that are no argument's.
pub(crate) fn check_narrowing<'k, I: Iterator<Item = &'k str>>(
    names: &[Placed<'_>],
    known: impl Fn() -> I,
    findings: &mut Findings<'_, '_>,
) {
    for (name, at) in names.iter().filter(|(name, _)| !known().any(|known| known == *name)) {
        let near = findings.did_you_mean(name, known());
        findings.add_with_help(&rule::NARROW_WITH_UNKNOWN, *at, || {
            (format!("`narrow_with` names {}, which is no argument", quoted(name)), near)
        });
    }
}

fn check_inherited_narrowing(settings: &Settings<'_>, actions: &[ActionManifest], findings: &mut Findings<'_, '_>) {
    let Some(names) = &settings.narrow_with else { return };
    let arguments = actions.iter().flat_map(|action| &action.args).map(|argument| argument.name.as_str());
    let known: BTreeSet<&str> = arguments.collect();
    for (name, at) in names.iter().filter(|(name, _)| !known.contains(name)) {
        let near = findings.did_you_mean(name, known.iter().copied());
        findings.add_with_help(&rule::NARROW_WITH_UNKNOWN, *at, || {
            (format!("`narrow_with` names {}, which is no argument of any action", quoted(name)), near)
        });
    }
}

fn output(keys: Keys<'_>, findings: &mut Findings<'_, '_>) -> Option<OutputManifest> {
    let node = keys.node("output_schema")?;
    if let Data::Mapping(_) = node.data {
        let value = node.json()?;
        return Some(output_schema(node, value, findings));
    }
    let text = node.text()?.trim();
    match serde_json::from_str::<Value>(text) {
        Ok(value) if schema::claims_to_be_schema(&value) => {
            lint_json(node, &value, findings);
            Some(output_schema(node, value, findings))
        }
        _ => Some(OutputManifest::Hint(text.to_owned())),
    }
}

fn output_schema(node: &Node<'_>, value: Value, findings: &mut Findings<'_, '_>) -> OutputManifest {
    for fault in schema::check(&value, Use::Output, node.at, findings) {
        findings.add(fault.rule, node.at_pointer(&fault.pointer).at, || fault.message.clone());
    }
    OutputManifest::Schema(value)
}

/// JSON in a text has escapes of its own, which the text's own lint cannot see through.
fn lint_json(node: &Node<'_>, value: &Value, findings: &mut Findings<'_, '_>) {
    match value {
        Value::String(text) => lint_text(text, "the schema", node.at, findings),
        Value::Array(items) => items.iter().for_each(|item| lint_json(node, item, findings)),
        Value::Object(map) => {
            for (key, value) in map {
                lint_text(key, "the schema", node.at, findings);
                lint_json(node, value, findings);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn examples(keys: Keys<'_>, drafts: &[Draft], findings: &mut Findings<'_, '_>) -> Vec<ExampleManifest> {
    let fittings: Vec<(&Draft, Fitting<'_>)> =
        drafts.iter().map(|draft| (draft, Fitting::new(&draft.argument))).collect();
    let items = keys.items("examples").iter().take(MOST_ITEMS);
    items.filter_map(Keys::of).map(|keys| example(keys, &fittings, findings)).collect()
}

fn example(keys: Keys<'_>, fittings: &[(&Draft, Fitting<'_>)], findings: &mut Findings<'_, '_>) -> ExampleManifest {
    let given = keys.node("args").and_then(Keys::of);
    let mut args = Map::new();
    for pair in given.map(Keys::pairs).unwrap_or_default() {
        let Some(value) = pair.value.json().filter(|value| !value.is_null()) else { continue };
        match fittings.iter().find(|(draft, _)| draft.argument.name == pair.key) {
            Some((draft, fitting)) => {
                let misfits = draft.misfits(fitting, &value, findings);
                add_misfits(&rule::EXAMPLE_MISFIT, &quoted(&pair.key), &pair.value, &misfits, findings);
                mend_type(&rule::EXAMPLE_MISFIT, draft.argument.kind, &pair.value, &misfits, findings);
            }
            None => unknown_in_example(&pair.key, pair.at, fittings, findings),
        }
        args.insert(pair.key.to_string(), value);
    }
    for argument in fittings.iter().map(|(draft, _)| &draft.argument).filter(|argument| argument.required) {
        if !args.contains_key(&argument.name) {
            findings.add(&rule::EXAMPLE_LACKS_ARGUMENT, keys.at, || {
                format!("the example lacks {}, which is required", quoted(&argument.name))
            });
        }
    }
    ExampleManifest { description: keys.text("description").map(str::to_owned), args }
}

fn unknown_in_example(name: &str, at: Position, fittings: &[(&Draft, Fitting<'_>)], findings: &mut Findings<'_, '_>) {
    let near = findings.did_you_mean(name, fittings.iter().map(|(draft, _)| draft.argument.name.as_str()));
    findings.add_with_help(&rule::EXAMPLE_UNKNOWN_ARGUMENT, at, || {
        (format!("the example uses {}, which is no argument", quoted(name)), near)
    });
}
