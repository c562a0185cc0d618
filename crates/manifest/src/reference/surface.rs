//! The form of a declaration of the chat surface (`chat_surface.yaml`) as data.
//!
//! Knows what each key takes, not what ties them together: that is in [`crate::read`]'s own files. Start at
//! [`DECLARATION`].

use super::{
    ACTION_NAME, ARGUMENT_NAME, ARGUMENT_TYPE, ARGUMENT_VALUES, Block, ENTRY_NAME, Form, Key, MOST_ARGUMENTS,
    MOST_DESCRIPTION, NameForm, Word, key, word,
};
use crate::rule;
use crate::surface::ResultManifest;

/// Names of published tools.
pub static TOOL_NAME: NameForm = NameForm {
    names: "a published tool",
    in_words: "lower-case letters, digits and `_`, beginning with a letter, at most 40 characters, as in \
               `xlsx_read_sheet`",
    rule: &rule::TOOL_NAME_FORM,
    most: 40,
    first: |c| c.is_ascii_lowercase(),
    rest: |c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_',
    single_hyphens: false,
};

/// What the server calls itself.
pub static SERVER_NAME: NameForm = NameForm {
    names: "a server",
    in_words: "letters, digits, `-`, `_` and `.`, beginning with a letter or digit, at most 64 characters",
    rule: &rule::NAME_FORM,
    most: NameForm::MOST,
    first: |c| c.is_ascii_alphanumeric(),
    rest: |c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'),
    single_hyphens: false,
};

/// Names of the steps of one operation.
pub static STEP_NAME: NameForm = NameForm {
    names: "a step",
    in_words: "lower-case letters, digits, `-` and `_`, beginning with a letter or digit, at most 64 characters",
    rule: &rule::NAME_FORM,
    most: NameForm::MOST,
    first: |c| c.is_ascii_lowercase() || c.is_ascii_digit(),
    rest: |c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_'),
    single_hyphens: false,
};

/// What follows `Mcp-Param-` in a header's name: a token, as HTTP has them.
pub static HEADER_NAME: NameForm = NameForm {
    names: "a header",
    in_words: "letters, digits and the characters !#$%&'*+-.^_`|~, at most 64 characters",
    rule: &rule::HEADER_FORM,
    most: NameForm::MOST,
    first: is_token,
    rest: is_token,
    single_hyphens: false,
};

fn is_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c)
}

/// The most tools of one declaration.
pub const MOST_TOOLS: usize = 200;
/// The most steps of one operation.
pub const MOST_STEPS: usize = 20;
/// The most members of the result of an operation of steps.
pub const MOST_MEMBERS: usize = 100;
/// The most characters of a title.
const MOST_TITLE: usize = 100;
/// The most characters of a JSON Pointer.
pub const MOST_POINTER: usize = 1024;

/// The keys of `chat_surface.yaml`.
pub static DECLARATION: Block = Block {
    name: "declaration",
    one: "the declaration",
    groups: &[&[
        key("surface_version", Form::Text { most: 64 }, "the version of the contract: three numbers")
            .required()
            .also(&["version", "contract_version", "schema_version"]),
        key("server", Form::Block(&SERVER), "who the server says it is").also(&["info", "server_info", "about"]),
        key(
            "tools",
            Form::List { of: &Form::Block(&PUBLISHED_TOOL), most: MOST_TOOLS },
            "the published tools, in the order in which clients see them",
        )
        .required()
        .also(&["operations", "actions", "functions"]),
    ]],
};

/// The keys of `server`.
pub static SERVER: Block = Block {
    name: "server",
    one: "`server`",
    groups: &[&[
        key("name", Form::Name(&SERVER_NAME), "the server's name, for programs")
            .default("gatelatch-chat")
            .also(&["id", "slug"]),
        key("title", Form::Line { most: MOST_TITLE }, "the server's name, for people")
            .default("Gatelatch")
            .also(&["label", "display_name"]),
        key("instructions", Form::Prose { most: 4096 }, "for the model: what the tools are for").also(&[
            "description",
            "prompt",
            "system",
            "guidance",
        ]),
    ]],
};

static PUBLISHED: &[Key] = &[
    key("name", Form::Name(&TOOL_NAME), "the tool's name as clients call it, with its domain first: `xlsx_read_sheet`")
        .required()
        .also(&["id", "slug"]),
    key("title", Form::Line { most: MOST_TITLE }, "the tool's name for people")
        .required()
        .also(&["label", "display_name"]),
    key("description", Form::Line { most: MOST_DESCRIPTION }, "for the model: what the tool does and when to use it")
        .required()
        .also(&["desc", "summary", "about", "doc", "help"]),
];

/// What one call calls, in a published tool and in a step.
static TARGET: &[Key] = &[
    key("tool", Form::Name(&ENTRY_NAME), "the tool of the catalog that is called").also(&["entry", "uses"]),
    key("agent", Form::Name(&ENTRY_NAME), "the agent of the catalog that is called"),
    key("action", Form::Name(&ACTION_NAME), "the action; may be left out where the entry has just one").also(&[
        "operation",
        "command",
        "method",
        "function",
    ]),
];

static CLAIMS: &[Key] = &[
    key("read_only", Form::Flag, "whether a call changes nothing").required().also(&["read_only_hint", "effect"]),
    key("reversible", Form::Flag, "whether what a call changes can be undone; true where nothing changes")
        .required()
        .also(&["undoable", "destructive", "destructive_hint"]),
    key("idempotent", Form::Flag, "whether calling twice equals calling once").required().also(&["idempotent_hint"]),
    key("open_world", Form::Flag, "whether a call reaches beyond this machine").required().also(&[
        "open_world_hint",
        "network",
        "external",
    ]),
    key(
        "idempotency_argument",
        Form::Name(&ARGUMENT_NAME),
        "the required argument that makes a repeated call harmless; for a write that is not idempotent",
    )
    .also(&["idempotency_key", "idempotent_argument", "dedup"]),
];

/// The keys of one item of `tools`.
pub static PUBLISHED_TOOL: Block = Block {
    name: "published tool",
    one: "a published tool",
    groups: &[
        PUBLISHED,
        TARGET,
        CLAIMS,
        &[
            key(
                "args",
                Form::List { of: &Form::Block(&PUBLISHED_ARGUMENT), most: MOST_ARGUMENTS },
                "the arguments that clients see, in order",
            )
            .default("[]")
            .also(&["arguments", "parameters", "params", "inputs", "input", "input_schema"]),
            key("fixed", Form::JsonMapping, "arguments of the operation that always have one value")
                .default("{}")
                .also(&["constants", "const", "preset", "fixed_args"]),
            key(
                "steps",
                Form::List { of: &Form::Block(&STEP), most: MOST_STEPS },
                "the calls of a composed operation, in order; instead of `tool` or `agent`",
            )
            .also(&["sequence", "calls", "compose"]),
            key(
                "output",
                Form::BlockMapping { of: &MEMBER, most: MOST_MEMBERS },
                "for `steps`: the result's members; one whose step did not run is left out",
            )
            .also(&["outputs", "returns", "members"]),
            key("result", Form::Block(&RESULT), "how large a result may be and what makes it smaller").also(&[
                "results",
                "limits",
                "max_bytes",
                "narrow_with",
            ]),
            key(
                "plain_errors",
                Form::Flag,
                "whether callers read what a failing program wrote that is no JSON, with all the options, paths and \
                 values in it; a JSON error they always read",
            )
            .default("false")
            .also(&["show_errors", "errors", "stderr", "show_stderr", "pass_errors"]),
            key(
                "output_schema",
                Form::Schema,
                "what a result looks like: a JSON Schema with an object root, which every result satisfies",
            )
            .required()
            .also(&["result_schema", "response_schema"]),
        ],
    ],
};

/// The keys of one item of a published tool's `args`.
pub static PUBLISHED_ARGUMENT: Block = Block {
    name: "published argument",
    one: "a published argument",
    groups: &[
        &[
            key("name", Form::Name(&ARGUMENT_NAME), "the argument's name as clients write it")
                .required()
                .also(&["id", "key"]),
            key("for", Form::Name(&ARGUMENT_NAME), "the operation's argument that gets the value")
                .default("the same name")
                .also(&["target", "maps_to", "to", "argument"]),
        ],
        ARGUMENT_TYPE,
        &[
            key("description", Form::Line { most: MOST_DESCRIPTION }, "what it is for")
                .required()
                .also(&["desc", "summary", "help", "doc"]),
            key("default", Form::Json, "what is passed when the caller leaves it out"),
        ],
        ARGUMENT_VALUES,
        &[key(
            "header",
            Form::Name(&HEADER_NAME),
            "the name after `Mcp-Param-` of the header that carries it too over HTTP; never for a secret",
        )
        .also(&["x-mcp-header", "http_header", "mcp_header"])],
    ],
};

/// The keys of `result`.
pub static RESULT: Block = Block {
    name: "result",
    one: "`result`",
    groups: &[&[
        key(
            "max_bytes",
            Form::Whole { least: ResultManifest::LEAST_BYTES, most: ResultManifest::MOST_BYTES },
            "the most bytes of the structured content as JSON, and the same of its text",
        )
        .default("32000")
        .also(&["max", "bytes", "max_output_bytes", "limit"]),
        key(
            "narrow_with",
            Form::List { of: &Form::Text { most: NameForm::MOST }, most: MOST_ARGUMENTS },
            "the published arguments that make a result smaller; told when one was cut",
        )
        .default("[]")
        .also(&["narrow", "narrowing", "filters", "pagination"]),
    ]],
};

/// The keys of one item of `steps`.
pub static STEP: Block = Block {
    name: "step",
    one: "a step",
    groups: &[
        &[key("id", Form::Name(&STEP_NAME), "the step's name within the operation").required().also(&["name", "step"])],
        TARGET,
        &[
            key(
                "args",
                Form::BlockMapping { of: &SOURCE, most: MOST_ARGUMENTS },
                "the operation's arguments and where their values come from",
            )
            .default("{}")
            .also(&["arguments", "with", "input", "inputs", "params"]),
            key(
                "stop_when",
                Form::Block(&CONDITION),
                "when the operation ends well after this step, without those that follow",
            )
            .also(&["stop_if", "until", "end_when", "when", "if"]),
        ],
    ],
};

static SOURCES: &[Key] =
    &[
        key("arg", Form::Text { most: NameForm::MOST }, "a published argument; absent when that is").also(&[
            "argument",
            "from_arg",
            "parameter",
        ]),
        key("value", Form::Json, "the value itself").also(&["const", "constant", "fixed", "literal"]),
        key("step", Form::Text { most: NameForm::MOST }, "the id of an earlier step, whose result it comes from")
            .also(&["from", "from_step", "result_of"]),
        AT,
    ];

const AT: Key =
    key("at", Form::Text { most: MOST_POINTER }, "a JSON Pointer into the step's result: `/sheets/0/title`")
        .default("the whole result")
        .also(&["path", "pointer", "json_pointer"]);

/// The keys of one value under a step's `args`: exactly one of `arg`, `value` and `step`.
pub static SOURCE: Block = Block { name: "source", one: "a source", groups: &[SOURCES] };

/// The keys of one value under `output`: the same three sources.
pub static MEMBER: Block = Block { name: "member", one: "a member of `output`", groups: &[SOURCES] };

/// The words of `is` in `stop_when`.
pub static TESTS: &[Word] = &[
    word("missing", "nothing is there, or null", &["null", "none", "absent", "undefined", "nil"]),
    word("empty", "an array, an object or a text without anything in it is there, or nothing", &["blank", "zero"]),
];

/// The keys of `stop_when`: exactly one of `is`, `equals` and `differs_from`.
pub static CONDITION: Block = Block {
    name: "condition",
    one: "a condition",
    groups: &[&[
        AT,
        key("is", Form::Word(TESTS), "what is there"),
        key("equals", Form::Json, "the value that is there").also(&["eq", "equal", "is_equal"]),
        key("differs_from", Form::Json, "a value; stops when another one is there, or none").also(&[
            "ne",
            "not",
            "not_equal",
            "not_equals",
            "differs",
        ]),
    ]],
};
