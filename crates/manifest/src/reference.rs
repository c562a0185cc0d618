//! The manifest form as data: every key, what it takes, what holds without it, what it means.
//!
//! Reading checks a manifest by these tables and the reference page is made from them, so that the two cannot differ.
//! Rules that tie several keys together are no part of it: they are in [`crate::read`]'s own files. Start at [`TOOL`],
//! [`AGENT`] and [`SKILL`]; the keys of a declaration of the chat surface are in [`surface`].

pub mod surface;

use crate::pattern;
use crate::rule::{self, Rule};

/// The keys of one mapping.
#[derive(Debug)]
pub struct Block {
    /// What the mapping describes: `tool`, `action`, `argument`.
    pub name: &'static str,
    /// The same with its article, for messages: `a tool`, `an action`.
    pub one: &'static str,
    /// Its keys, in groups, in the order in which a manifest reads best.
    pub groups: &'static [&'static [Key]],
}

impl Block {
    /// Its keys, in order.
    pub fn keys(&self) -> impl Iterator<Item = &'static Key> + Clone + use<> {
        self.groups.iter().flat_map(|group| group.iter())
    }

    /// The key of that name.
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys().find(|key| key.name == name)
    }
}

/// One key of a mapping.
#[derive(Debug)]
pub struct Key {
    /// As manifests write it.
    pub name: &'static str,
    /// What it takes.
    pub form: Form,
    /// Whether the mapping must have it.
    pub required: bool,
    /// What holds without it, as a reader would write it; empty when nothing does.
    pub default: &'static str,
    /// What it means, in one line.
    pub meaning: &'static str,
    /// What people write when they mean it; only for suggestions.
    pub also: &'static [&'static str],
}

/// What a key takes.
#[derive(Debug)]
pub enum Form {
    /// A name.
    Name(&'static NameForm),
    /// One line of plain text that a model reads.
    Line {
        /// The most characters.
        most: usize,
    },
    /// Text of any number of lines that a model reads.
    Prose {
        /// The most characters.
        most: usize,
    },
    /// Text for a program: no line break, no control character.
    Text {
        /// The most characters.
        most: usize,
    },
    /// `true` or `false`.
    Flag,
    /// A positive integer.
    Whole {
        /// The least that makes sense; at least 1.
        least: u64,
        /// The greatest that makes sense.
        most: u64,
    },
    /// An integer or a decimal number.
    Number,
    /// Any JSON value, written as YAML.
    Json,
    /// A mapping of names to JSON values.
    JsonMapping,
    /// A JSON Schema, written as a YAML mapping.
    Schema,
    /// A JSON Schema as a mapping or as text, or prose.
    Output,
    /// One of a few words.
    Word(&'static [Word]),
    /// A list.
    List {
        /// What each item is.
        of: &'static Form,
        /// The most items.
        most: usize,
    },
    /// A mapping with keys of its own.
    Block(&'static Block),
    /// A name alone, or a mapping that has it as `name`.
    NameOrBlock(&'static NameForm, &'static Block),
    /// A mapping of text to text.
    TextMapping,
    /// A mapping of names to mappings with keys of their own.
    BlockMapping {
        /// What each value is.
        of: &'static Block,
        /// The most names.
        most: usize,
    },
}

impl Form {
    /// What stands there, in words: `one line of text`, `true or false`.
    pub fn in_words(&self) -> String {
        match self {
            Form::Name(_) => "a name".to_owned(),
            Form::Line { .. } => "one line of text".to_owned(),
            Form::Prose { .. } | Form::Text { .. } => "text".to_owned(),
            Form::Flag => "`true` or `false`".to_owned(),
            Form::Whole { least: 1, .. } => "a positive integer".to_owned(),
            Form::Whole { least, most } => format!("an integer from {least} to {most}"),
            Form::Number => "a number".to_owned(),
            Form::Json => "any value".to_owned(),
            Form::JsonMapping | Form::Block(_) => "a mapping".to_owned(),
            Form::Schema => "a JSON Schema (a mapping)".to_owned(),
            Form::Output => "a JSON Schema (a mapping or text) or prose".to_owned(),
            Form::Word(words) => {
                let words: Vec<String> =
                    words.iter().filter(|word| word.available).map(|word| format!("`{}`", word.name)).collect();
                format!("one of {}", words.join(", "))
            }
            Form::List { of, .. } => match of {
                Form::Block(block) => format!("a list of {}s (mappings)", block.name),
                Form::NameOrBlock(..) => "a list of names or mappings".to_owned(),
                Form::Name(_) => "a list of names".to_owned(),
                _ => "a list".to_owned(),
            },
            Form::NameOrBlock(..) => "a name or a mapping".to_owned(),
            Form::TextMapping => "a mapping of text to text".to_owned(),
            Form::BlockMapping { of, .. } => format!("a mapping of names to {}s (mappings)", of.name),
        }
    }
}

/// One of the words that a key knows.
#[derive(Debug)]
pub struct Word {
    /// As manifests write it.
    pub name: &'static str,
    /// What it means, in one line.
    pub meaning: &'static str,
    /// What people write when they mean it; only for suggestions.
    pub also: &'static [&'static str],
    /// Whether this version can do it; a word that it only knows is never suggested.
    pub available: bool,
}

/// What a name may look like. No name has more than [`NameForm::MOST`] characters.
#[derive(Debug)]
pub struct NameForm {
    /// What such a name names, for messages.
    pub names: &'static str,
    /// The form in words, for messages.
    pub in_words: &'static str,
    /// The rule that a name of another form breaks.
    pub rule: &'static Rule,
    /// The most characters.
    pub most: usize,
    first: fn(char) -> bool,
    rest: fn(char) -> bool,
    /// Whether hyphens stand alone and inside the name only, as Agent Skills demand.
    single_hyphens: bool,
}

impl NameForm {
    /// The most characters of a name.
    pub const MOST: usize = 64;

    /// Whether a name has this form.
    pub fn fits(&self, name: &str) -> bool {
        let hyphens_fit = !self.single_hyphens || !(name.ends_with('-') || name.contains("--"));
        name.starts_with(self.first) && name.chars().all(self.rest) && name.len() <= self.most && hyphens_fit
    }
}

/// Names of tools and agents, which are folders too and stand before the dot in `tool.action`.
pub static ENTRY_NAME: NameForm = NameForm {
    names: "a tool or an agent",
    in_words: "lower-case letters, digits, `-` and `_`, beginning with a letter or digit, at most 64 characters",
    rule: &rule::NAME_FORM,
    most: NameForm::MOST,
    first: |c| c.is_ascii_lowercase() || c.is_ascii_digit(),
    rest: |c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_'),
    single_hyphens: false,
};

/// Names of skills, as the Agent Skills format has them.
pub static SKILL_NAME: NameForm = NameForm {
    names: "a skill",
    in_words: "lower-case letters, digits and single hyphens inside, at most 64 characters",
    rule: &rule::NAME_FORM,
    most: NameForm::MOST,
    first: |c| c.is_ascii_lowercase() || c.is_ascii_digit(),
    rest: |c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-',
    single_hyphens: true,
};

/// Names of actions.
pub static ACTION_NAME: NameForm = NameForm {
    names: "an action",
    in_words: "letters, digits, `-`, `_` and `.`, beginning with a letter or digit, at most 64 characters",
    rule: &rule::NAME_FORM,
    most: NameForm::MOST,
    first: |c| c.is_ascii_alphanumeric(),
    rest: |c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'),
    single_hyphens: false,
};

/// Names of arguments.
pub static ARGUMENT_NAME: NameForm = NameForm {
    names: "an argument",
    in_words: "letters, digits, `-`, `_` and `.`, beginning with a letter, digit or `_`, at most 64 characters",
    rule: &rule::NAME_FORM,
    most: NameForm::MOST,
    first: |c| c.is_ascii_alphanumeric() || c == '_',
    rest: |c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'),
    single_hyphens: false,
};

/// Names of secrets.
pub static SECRET_NAME: NameForm = NameForm {
    names: "a secret",
    in_words: "upper-case letters, digits and `_`, not beginning with a digit, at most 64 characters",
    rule: &rule::SECRET_NAME,
    most: NameForm::MOST,
    first: |c| c.is_ascii_uppercase() || c == '_',
    rest: |c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_',
    single_hyphens: false,
};

/// Names of environment variables that are let through.
pub static VARIABLE_NAME: NameForm = NameForm {
    names: "a variable",
    in_words: "letters, digits and `_`, not beginning with a digit, at most 64 characters",
    rule: &rule::VARIABLE_NAME,
    most: NameForm::MOST,
    first: |c| c.is_ascii_alphabetic() || c == '_',
    rest: |c| c.is_ascii_alphanumeric() || c == '_',
    single_hyphens: false,
};

/// Names in `uses`: a tool, or a tool and one of its actions.
pub static USE_NAME: NameForm = NameForm {
    names: "a tool or an action of one",
    in_words: "`tool` or `tool.action`, as the tool's manifest spells them",
    rule: &rule::NAME_FORM,
    most: NameForm::MOST,
    first: |c| c.is_ascii_lowercase() || c.is_ascii_digit(),
    rest: |c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'),
    single_hyphens: false,
};

/// The most characters of a description.
pub const MOST_DESCRIPTION: usize = 1024;
/// The most actions of one entry.
pub const MOST_ACTIONS: usize = 5000;
/// The most arguments of one action.
pub const MOST_ARGUMENTS: usize = 200;
/// The most items of any other list.
pub const MOST_ITEMS: usize = 1000;
/// The most characters of an output schema, or of prose about a result, that stands as text.
pub const MOST_OUTPUT_TEXT: usize = 100_000;
/// The most names that `env` lets through.
pub const MOST_VARIABLES: usize = 32;

const fn key(name: &'static str, form: Form, meaning: &'static str) -> Key {
    Key { name, form, required: false, default: "", meaning, also: &[] }
}

impl Key {
    const fn required(mut self) -> Key {
        self.required = true;
        self
    }

    const fn default(mut self, default: &'static str) -> Key {
        self.default = default;
        self
    }

    const fn also(mut self, also: &'static [&'static str]) -> Key {
        self.also = also;
        self
    }
}

const fn word(name: &'static str, meaning: &'static str, also: &'static [&'static str]) -> Word {
    Word { name, meaning, also, available: true }
}

/// The words of `runtime`.
pub static RUNTIMES: &[Word] = &[
    word("python", "`python3` runs the entrypoint", &["python3", "py", "uv"]),
    word("node", "`node` runs the entrypoint", &["nodejs", "javascript", "js", "typescript", "bun", "deno"]),
    word(
        "process",
        "the entrypoint is the program",
        &["shell", "bash", "sh", "binary", "exec", "command", "cli", "rust", "go"],
    ),
    word("builtin", "a reader compiled into `gatelatch`", &["built-in", "native", "internal"]),
    Word {
        name: "http",
        meaning: "a request over HTTP; known, but this version cannot run it",
        also: &[],
        available: false,
    },
];

/// The words of `effect`.
pub static EFFECTS: &[Word] = &[
    word("read_only", "nothing changes", &["read", "readonly", "none", "safe", "get", "query"]),
    word(
        "reversible",
        "something changes, and the change can be undone",
        &["write", "update", "create", "mutating", "undoable"],
    ),
    word("irreversible", "something changes for good", &["destructive", "delete", "dangerous", "send", "unsafe"]),
];

/// The words of an argument's `type`.
pub static ARGUMENT_TYPES: &[Word] = &[
    word("string", "text", &["str", "text", "char", "varchar", "date", "datetime", "uuid", "email", "url", "enum"]),
    word("integer", "a whole number of at most 64 bits", &["int", "int32", "int64", "long", "whole"]),
    word("number", "a number", &["float", "double", "decimal", "numeric", "real"]),
    word("boolean", "true or false", &["bool", "flag", "switch"]),
    word("array", "a list, passed as JSON", &["list", "tuple", "sequence", "vec", "set"]),
    word("object", "a mapping, passed as JSON", &["dict", "map", "mapping", "json", "struct", "record"]),
    word("path", "the path of a file or folder", &["file", "filename", "filepath", "dir", "directory", "folder"]),
];

static NAMED: &[Key] = &[
    key("name", Form::Name(&ENTRY_NAME), "the entry's name, equal to its folder's")
        .required()
        .also(&["id", "slug", "title"]),
    key("description", Form::Line { most: MOST_DESCRIPTION }, "what the entry does, in one line")
        .required()
        .also(&["desc", "summary", "about", "doc", "help"]),
    key("version", Form::Text { most: 64 }, "the entry's version, by semantic versioning")
        .default("0.0.0")
        .also(&["ver", "release"]),
];

static PROGRAM: &[Key] = &[
    key("runtime", Form::Word(RUNTIMES), "how the program is started").required().also(&[
        "interpreter",
        "language",
        "lang",
        "kind",
        "engine",
    ]),
    key(
        "entrypoint",
        Form::Text { most: 1024 },
        "the file beside the manifest, for `process` a program on PATH or a path, for `builtin` the reader's name",
    )
    .required()
    .also(&["main", "script", "command", "cmd", "program", "exec", "executable", "entry_point", "file"]),
    key(
        "secrets",
        Form::List { of: &Form::NameOrBlock(&SECRET_NAME, &SECRET), most: MOST_ITEMS },
        "the secrets that the program gets in its environment",
    )
    .default("[]")
    .also(&["credentials", "tokens", "api_keys", "keys"]),
];

static USES: &[Key] = &[key(
    "uses",
    Form::List { of: &Form::Name(&USE_NAME), most: MOST_ITEMS },
    "the tools, or single actions of tools, that the agent calls",
)
.default("[]")
.also(&["tools", "requires", "depends", "dependencies"])];

static ACTIONS: &[Key] = &[key(
    "actions",
    Form::List { of: &Form::Block(&ACTION), most: MOST_ACTIONS },
    "the operations; without it the entry has one nameless action, whose keys stand at the top",
)
.also(&["commands", "operations", "methods", "functions", "subcommands", "tools"])];

static OPERATION: &[Key] = &[
    key(
        "args",
        Form::List { of: &Form::Block(&ARGUMENT), most: MOST_ARGUMENTS },
        "the arguments, in the order in which they are shown and passed",
    )
    .default("[]")
    .also(&["arguments", "parameters", "params", "inputs", "input", "options", "input_schema"]),
    key(
        "output_schema",
        Form::Output,
        "what a result looks like: a JSON Schema with an object root is held against every result, prose is a hint",
    )
    .also(&["output", "outputs", "returns", "result", "response", "response_schema"]),
    key("examples", Form::List { of: &Form::Block(&EXAMPLE), most: MOST_ITEMS }, "sample calls")
        .default("[]")
        .also(&["example", "samples", "usage"]),
    key("triggers", Form::List { of: &Form::Line { most: 100 }, most: MOST_ITEMS }, "words that people use for this")
        .default("[]")
        .also(&["keywords", "tags", "aliases", "synonyms"]),
];

static INHERITED: &[Key] =
    &[
        key("effect", Form::Word(EFFECTS), "what a run changes").also(&[
            "effects",
            "side_effect",
            "side_effects",
            "mode",
            "access",
        ]),
        key("because", Form::Line { most: MOST_DESCRIPTION }, "why the effect is milder than what the name says")
            .also(&["reason", "why", "justification"]),
        key("approval", Form::Flag, "whether a human is asked though the effect would not demand it")
            .default("false")
            .also(&["confirm", "confirmation", "requires_approval", "require_approval", "ask"]),
        key("limits", Form::Block(&LIMITS), "what one run may cost").also(&["limit", "timeout", "quota"]),
        key("cwd", Form::Text { most: 1024 }, "the working folder of a run").default("the server's own").also(&[
            "workdir",
            "working_dir",
            "working_directory",
            "directory",
            "dir",
        ]),
        key(
            "env",
            Form::List { of: &Form::Name(&VARIABLE_NAME), most: MOST_VARIABLES },
            "the names of environment variables that are let through",
        )
        .default("[]")
        .also(&["environment", "envs", "env_vars", "variables"]),
        key("idempotent", Form::Flag, "whether running it twice equals running it once")
            .default("true with `effect: read_only`, else false"),
        key("open_world", Form::Flag, "whether it reaches beyond this machine")
            .default("false with `runtime: builtin`, else true")
            .also(&["network", "online", "external"]),
        key(
            "narrow_with",
            Form::List { of: &Form::Text { most: NameForm::MOST }, most: MOST_ARGUMENTS },
            "the arguments that make a result smaller",
        )
        .default("[]")
        .also(&["narrow", "narrowing", "filters", "pagination"]),
    ];

/// The keys of `tool.yaml`.
pub static TOOL: Block =
    Block { name: "tool", one: "a tool", groups: &[NAMED, PROGRAM, ACTIONS, OPERATION, INHERITED] };

/// The keys of `agent.yaml`.
pub static AGENT: Block =
    Block { name: "agent", one: "an agent", groups: &[NAMED, PROGRAM, USES, ACTIONS, OPERATION, INHERITED] };

/// The keys of one item of `actions`.
pub static ACTION: Block = Block {
    name: "action",
    one: "an action",
    groups: &[
        &[
            key("name", Form::Name(&ACTION_NAME), "the action's name, passed to the program as its first argument")
                .required()
                .also(&["id", "command", "operation"]),
            key("description", Form::Line { most: MOST_DESCRIPTION }, "what the action does, in one line")
                .required()
                .also(&["desc", "summary", "about", "doc", "help"]),
        ],
        OPERATION,
        INHERITED,
    ],
};

/// The keys of one item of `args`.
pub static ARGUMENT: Block = Block {
    name: "argument",
    one: "an argument",
    groups: &[
        &[key("name", Form::Name(&ARGUMENT_NAME), "the argument's name, published and passed exactly as written")
            .required()
            .also(&["id", "key", "flag"])],
        ARGUMENT_TYPE,
        &[
            key("description", Form::Line { most: MOST_DESCRIPTION }, "what it is for")
                .also(&["desc", "summary", "help", "doc"]),
            key("default", Form::Json, "what the program assumes without it; shown, never passed"),
        ],
        ARGUMENT_VALUES,
        &[
            key("positional", Form::Flag, "passed by place, without its name")
                .default("false")
                .also(&["position", "bare"]),
            key("allow_dash", Form::Flag, "for a positional argument: a value may begin with `-`").default("false"),
            key("negatable", Form::Flag, "for a boolean: false gives `--no-name`").default("false").also(&["negate"]),
        ],
    ],
};

/// What every argument says of its type, wherever it stands.
static ARGUMENT_TYPE: &[Key] = &[
    key("type", Form::Word(ARGUMENT_TYPES), "what values it takes").required().also(&["kind", "datatype", "data_type"]),
    key("required", Form::Flag, "whether a call without it is refused")
        .default("false")
        .also(&["mandatory", "optional"]),
];

/// What every argument says of its values, wherever it stands.
static ARGUMENT_VALUES: &[Key] = &[
    key("enum", Form::List { of: &Form::Json, most: MOST_ITEMS }, "the values that it may have")
        .default("any")
        .also(&["choices", "values", "options", "oneof", "allowed"]),
    key("minimum", Form::Number, "the least number that it may be").also(&["min", "at_least"]),
    key("maximum", Form::Number, "the greatest number that it may be").also(&["max", "at_most"]),
    key(
        "pattern",
        Form::Text { most: pattern::MOST_BYTES },
        "a regular expression that must match somewhere in the text",
    )
    .also(&["regex", "regexp", "format"]),
    key("items", Form::Schema, "for an array: the JSON Schema of an item").also(&["item", "element", "elements", "of"]),
];

/// The keys of one item of `examples`.
pub static EXAMPLE: Block = Block {
    name: "example",
    one: "an example",
    groups: &[&[
        key("description", Form::Line { most: MOST_DESCRIPTION }, "what the example shows")
            .also(&["name", "title", "summary"]),
        key("args", Form::JsonMapping, "its arguments, by name").default("{}").also(&[
            "arguments",
            "input",
            "params",
            "parameters",
        ]),
    ]],
};

/// The keys of an item of `secrets` that is a mapping.
pub static SECRET: Block = Block {
    name: "secret",
    one: "a secret",
    groups: &[&[
        key("name", Form::Name(&SECRET_NAME), "the environment variable that carries it")
            .required()
            .also(&["key", "env", "variable"]),
        key("description", Form::Line { most: MOST_DESCRIPTION }, "what it is for and where to get it")
            .also(&["desc", "help"]),
        key("required", Form::Flag, "whether the entry is not ready without it")
            .default("true")
            .also(&["optional", "mandatory"]),
    ]],
};

/// The keys of `limits`.
pub static LIMITS: Block = Block {
    name: "limits",
    one: "`limits`",
    groups: &[&[
        key("timeout_s", Form::Whole { least: 1, most: 604_800 }, "how many seconds a run may take")
            .default("120")
            .also(&["timeout", "timeout_ms", "seconds"]),
        key("max_input_bytes", Form::Whole { least: 1, most: 1 << 30 }, "how large the arguments may be, as JSON")
            .default("1048576")
            .also(&["input", "max_input"]),
        key("max_output_bytes", Form::Whole { least: 1, most: 1 << 30 }, "how much of the program's output is held")
            .default("1048576")
            .also(&["output", "max_output"]),
        key(
            "max_concurrent",
            Form::Whole { least: 1, most: 1024 },
            "how many runs of the entry may be under way at once",
        )
        .default("4")
        .also(&["concurrency", "max_parallel", "parallel"]),
    ]],
};

/// The keys of a skill's front matter.
pub static SKILL: Block = Block {
    name: "skill",
    one: "a skill",
    groups: &[&[
        key("name", Form::Name(&SKILL_NAME), "the skill's name, equal to its folder's")
            .required()
            .also(&["id", "slug", "title"]),
        key("description", Form::Prose { most: 1024 }, "what the skill does and when to use it")
            .required()
            .also(&["desc", "summary", "about"]),
        key("license", Form::Prose { most: 1024 }, "the licence's name or file").also(&["licence"]),
        key("compatibility", Form::Prose { most: 500 }, "what the skill needs: programs, network, client")
            .also(&["requires", "requirements"]),
        key("allowed-tools", Form::Prose { most: 1024 }, "the tools that the skill may use, separated by spaces")
            .also(&["tools"]),
        key("metadata", Form::TextMapping, "further properties, as text")
            .also(&["meta", "version", "author", "tags", "extra"]),
    ]],
};

/// The words of `confirm` in the settings.
pub static CONFIRMS: &[Word] = &[
    word("client", "the client's own permission prompt asks the human", &["ask", "prompt", "opencode"]),
    word("elicit", "the server asks the human through the client", &["elicitation", "server", "form"]),
    word("ticket", "a human approves outside the model's reach", &["tickets", "approval", "approvals"]),
];

/// The keys of `gatelatch.yaml`.
pub static SETTINGS: Block = Block {
    name: "settings file",
    one: "the settings file",
    groups: &[&[
        key(
            "catalog",
            Form::List { of: &Form::Text { most: 4096 }, most: MOST_ITEMS },
            "catalog folders, relative to this file; the first that holds a name wins",
        )
        .also(&["catalogs", "catalogue", "manifests", "folders"]),
        key("confirm", Form::Word(CONFIRMS), "who asks the human").default("client").also(&[
            "confirmation",
            "approval",
            "asked_by",
        ]),
        key("deny_irreversible", Form::Flag, "whether what cannot be undone is refused even where a human has agreed")
            .default("false")
            .also(&["deny", "headless"]),
        key(
            "capabilities_max_bytes",
            Form::Whole { least: 1, most: 1 << 30 },
            "over how many bytes a full schema becomes an index",
        )
        .default("40000")
        .also(&["max_bytes", "capabilities"]),
        key(
            "chat_surface",
            Form::Text { most: 4096 },
            "the declaration that `gatelatch chat` serves, relative to this file",
        )
        .default("`chat_surface.yaml` in the first catalog folder that has one")
        .also(&["surface", "chat", "declaration"]),
        key("log", Form::Text { most: 1024 }, "what is logged: error, warn, info, debug, trace, or target=level pairs")
            .also(&["log_level", "logging", "level"]),
    ]],
};

#[cfg(test)]
mod tests {
    use super::*;

    fn every_block() -> [&'static Block; 9] {
        [&TOOL, &AGENT, &ACTION, &ARGUMENT, &EXAMPLE, &SECRET, &LIMITS, &SKILL, &SETTINGS]
    }

    #[test]
    fn no_key_stands_twice_in_a_mapping_and_no_required_key_has_a_default() {
        for block in every_block() {
            let names: std::collections::BTreeSet<&str> = block.keys().map(|key| key.name).collect();
            assert_eq!(names.len(), block.keys().count(), "{}", block.name);
            assert!(block.keys().all(|key| !key.required || key.default.is_empty()), "{}", block.name);
            assert!(block.keys().all(|key| !key.meaning.is_empty()), "{}", block.name);
        }
    }

    #[test]
    fn the_documented_limits_are_those_that_hold() {
        let limits = crate::document::Limits::default();
        let documented = |name: &str| LIMITS.key(name).unwrap().default.parse::<u64>().unwrap();
        assert_eq!(documented("timeout_s"), limits.timeout.as_secs());
        assert_eq!(documented("max_input_bytes"), limits.max_input_bytes);
        assert_eq!(documented("max_output_bytes"), limits.max_output_bytes);
        assert_eq!(documented("max_concurrent"), u64::from(limits.max_concurrent));
    }

    #[test]
    fn names_have_their_form() {
        assert!(ENTRY_NAME.fits("xlsx") && ENTRY_NAME.fits("a_b-2"));
        assert!(!ENTRY_NAME.fits("") && !ENTRY_NAME.fits("-a") && !ENTRY_NAME.fits("A") && !ENTRY_NAME.fits("a.b"));
        assert!(SKILL_NAME.fits("pdf-forms"));
        assert!(
            !SKILL_NAME.fits("a--b") && !SKILL_NAME.fits("a-") && !SKILL_NAME.fits("-a") && !SKILL_NAME.fits("a_b")
        );
        assert!(ACTION_NAME.fits("read-sheet") && ACTION_NAME.fits("v1.listIssues"));
        assert!(ARGUMENT_NAME.fits("_raw") && ARGUMENT_NAME.fits("max-results") && !ARGUMENT_NAME.fits("--x"));
        assert!(!ACTION_NAME.fits(&"a".repeat(65)) && ACTION_NAME.fits(&"a".repeat(64)));
        assert!(SECRET_NAME.fits("API_KEY_2") && !SECRET_NAME.fits("2FA") && !SECRET_NAME.fits("api_key"));
    }
}
