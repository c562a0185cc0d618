//! What can be typed.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};

const EXIT_CODES: &str = "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 approval required, 4 denied, 5 not ready, 6 timed out, 7 partial view, 8 no list, 130 interrupted.";

const RUN_HELP: &str = "\
Example: gatelatch run hello-world --arg name=MCP

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 approval required, 4 denied, 5 not ready, 6 timed out, 130 interrupted.";

const AGENT_HELP: &str = "\
Example: gatelatch agent describe-workbook --arg path=sales.xlsx

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 approval required, 4 denied, 5 not ready, 6 timed out, 130 interrupted.";

const VERIFY_USAGE: &str =
    "gatelatch verify [OPTIONS] <--server-json FILE|--lock FILE|--pin FILE> <--url URL|-- COMMAND…>";

const PIN_USAGE: &str = "gatelatch pin [OPTIONS] <--url URL|-- COMMAND…>";

const VERIFY_HELP: &str = "\
Examples:
  gatelatch verify --pin notes.pin.json -- npx -y @example/notes-server
  gatelatch verify --server-json server.json --url https://mcp.example.org/mcp --header-env Authorization=MCP_AUTHORIZATION

The command after -- is started as if you had typed it: in this folder, with your whole environment.

Exit codes: 0 equal, 1 differs, 2 wrong usage, 7 partial view, 8 no list could be had, 130 interrupted. See docs/verify.md.";

const PIN_HELP: &str = "\
Example: gatelatch pin --out notes.pin.json -- npx -y @example/notes-server

The command after -- is started as if you had typed it: in this folder, with your whole environment.

Exit codes: 0 done, 1 the file holds another list and --force is missing, 2 wrong usage, 8 no list could be had,
130 interrupted. See docs/verify.md.";

/// Serve your own scripts and tools to AI models, with a gate in front of what cannot be undone.
#[derive(Debug, Parser)]
#[command(name = "gatelatch", version, after_help = EXIT_CODES)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) place: Place,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// Where the catalog and the settings are.
#[derive(Clone, Debug, Args)]
pub(crate) struct Place {
    /// A folder that holds tools/, agents/, skills/; repeat for several, the first that holds a name wins.
    /// Without any, the catalog that ships with gatelatch is served.
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) catalog: Vec<PathBuf>,
    /// The settings file; without it, gatelatch.yaml is looked for upward from the working folder.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Append the log to this file instead of writing it on standard error.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) log_file: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Serve the catalog to an operator's client over stdio (MCP).
    #[command(
        after_help = "Settings: gatelatch.yaml and GATELATCH_* variables, see docs/operator.md. The log goes to standard error."
    )]
    Operator {
        /// Print the tools that clients see, as JSON, and exit.
        #[arg(long)]
        list: bool,
    },
    /// Serve the curated tools of a declaration to chat clients over stdio (MCP).
    #[command(
        after_help = "The declaration is chat_surface.yaml, see docs/chat.md. What does not agree with the catalog is told on standard error and left out."
    )]
    Chat {
        /// The declaration; without it, the one of the settings, else chat_surface.yaml in the first catalog folder that
        /// has one, else, for the catalog that ships, the one that ships with it.
        #[arg(long, value_name = "FILE")]
        surface: Option<PathBuf>,
        /// Print the tools that clients see, as JSON, and exit.
        #[arg(long)]
        list: bool,
    },
    /// List tools, agents and skills, and what is broken or not ready.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show an entry, or one action's arguments and the call to make.
    Show {
        /// A tool, an agent or a skill.
        name: String,
        /// One of its actions.
        action: Option<String>,
        /// Which kind, where a name exists in two.
        #[arg(long)]
        kind: Option<ShownKind>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Find actions by what they do.
    Search {
        /// What it should do, in any words.
        #[arg(required = true)]
        words: Vec<String>,
        /// Search inside one entry.
        #[arg(long, value_name = "NAME")]
        within: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Run an action of a tool.
    #[command(after_help = RUN_HELP)]
    Run {
        /// The tool's name.
        tool: String,
        /// The action's name; may be left out where the tool has just one.
        action: Option<String>,
        #[command(flatten)]
        call: CallOptions,
    },
    /// Run an agent.
    #[command(after_help = AGENT_HELP)]
    Agent {
        /// The agent's name.
        agent: String,
        /// The action's name; may be left out where the agent has just one.
        action: Option<String>,
        #[command(flatten)]
        call: CallOptions,
    },
    /// Print a skill, or list them.
    Skill {
        /// The skill's name, or NAME/FILE for a file that lies beside it.
        name: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Check every manifest and tell all that is wrong with it.
    Check {
        /// Mend what is certain in the manifests, and write `effect: irreversible` where no effect is declared.
        #[arg(long)]
        fix: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Write a first manifest for a script or program that exists already.
    Init(InitOptions),
    /// Look at settings, manifests, programs, secrets and clients, and tell how to mend what is wrong.
    Doctor {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Play the main job with a server of its own: find, read, a send refused, agreed to, sent.
    Demo {
        /// Agree to the send without being asked.
        #[arg(long)]
        yes: bool,
        /// Print each step as a line of JSON.
        #[arg(long)]
        json: bool,
    },
    /// Compare the tools that any MCP server really sends with those that were published or pinned.
    #[command(override_usage = VERIFY_USAGE, after_help = VERIFY_HELP)]
    Verify(VerifyOptions),
    /// Write down the tools that any MCP server sends now, so that `verify` finds later changes.
    #[command(override_usage = PIN_USAGE, after_help = PIN_HELP)]
    Pin(PinOptions),
    /// Print a completion script for a shell.
    Completions { shell: clap_complete::Shell },
    /// Print the man page.
    Man,
    /// Print the tables behind the reference pages, as JSON.
    #[command(hide = true)]
    Reference,
    /// Draft, compare, lock and explain what chat clients rely on.
    Contract {
        /// The declaration; without it, the one that `gatelatch chat` would serve from here.
        #[arg(long, global = true, value_name = "FILE")]
        surface: Option<PathBuf>,
        #[command(subcommand)]
        verb: ContractVerb,
    },
    /// Put gatelatch into a client's configuration.
    Connect {
        #[command(subcommand)]
        client: Client,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ContractVerb {
    /// Draft a declaration from actions of the catalog, to be reviewed.
    Init {
        /// An action, or a tool or an agent for all of its actions that can be declared; `agent:NAME` where a tool is
        /// named so as well.
        #[arg(required = true, value_name = "TOOL[.ACTION]")]
        actions: Vec<String>,
        /// Write the draft to this file instead of standard output.
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// Write over a file that is there.
        #[arg(long, requires = "out")]
        force: bool,
    },
    /// Tell what changed since the lock file and which version that needs; exit code 1 where the version moved too little, or
    /// the declaration, the catalog and the lock file cannot be compared.
    Diff {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Write the lock file beside the declaration: from then on this list is what its version stands for.
    Lock,
    /// Print the digest of the list that would be published.
    Digest {
        /// Print JSON, with the version, the count and the size of each tool.
        #[arg(long)]
        json: bool,
    },
    /// Explain a published tool, or a kind of change that `diff` has told.
    Explain {
        /// A published tool or a kind of change; without it, all of both.
        name: Option<String>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct CallOptions {
    /// One argument; repeat for several. Text as it is; numbers, booleans, arrays and objects as JSON; an array also
    /// item by item.
    #[arg(long = "arg", value_name = "NAME=VALUE")]
    pub(crate) arg: Vec<String>,
    /// All arguments as one JSON object; `-` reads it from standard input.
    #[arg(long, value_name = "JSON", conflicts_with = "arg")]
    pub(crate) args: Option<String>,
    /// Print the result, or the failure, as JSON on one line.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print what would run, and the gate's verdict; start nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Ask on this terminal before a call that cannot be undone; without a terminal it is refused.
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) confirm: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InitOptions {
    /// A script, `python3 SCRIPT`, or a program on PATH; behind it only those of its commands that are wanted. For a
    /// skill a Markdown file.
    #[arg(required = true)]
    pub(crate) command: Vec<String>,
    /// What to write: a tool, an agent or a skill.
    #[arg(long, value_enum, default_value = "tool")]
    pub(crate) kind: ShownKind,
    /// The entry's name; without it, the file's or the program's.
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// What the entry does, in one line; without it, what the program says of itself.
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// Ask nothing and take what can be inferred.
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Do not start the program to read its --help.
    #[arg(long)]
    pub(crate) no_run: bool,
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("published").args(["server_json", "lock", "pin"]).required(true).multiple(true))]
pub(crate) struct VerifyOptions {
    /// The server.json that was published, with the digest in its publisher's data.
    #[arg(long, value_name = "FILE")]
    pub(crate) server_json: Option<PathBuf>,
    /// A lock file; beside --server-json it tells the differences in full.
    #[arg(long, value_name = "FILE")]
    pub(crate) lock: Option<PathBuf>,
    /// A pin file, as `gatelatch pin` writes it.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["server_json", "lock"])]
    pub(crate) pin: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) server: ServerOptions,
}

#[derive(Debug, Args)]
pub(crate) struct PinOptions {
    /// The file to write; without it, the pin goes to standard output.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Replace a file that holds something else.
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) server: ServerOptions,
}

/// Which server is asked, and how. Its `Debug` shows nothing and its values are parsed later: neither may show a header
/// or an address.
#[derive(Args)]
#[command(group = ArgGroup::new("asked").args(["url", "command"]).required(true))]
pub(crate) struct ServerOptions {
    /// The address of a server that runs already, over Streamable HTTP.
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// A header for every request; repeat for several. Other users of this machine can read command lines: give a secret
    /// by --header-env.
    #[arg(long, value_name = "NAME: VALUE", conflicts_with = "command")]
    pub(crate) header: Vec<String>,
    /// A header whose value is what an environment variable holds; repeat for several.
    #[arg(long, value_name = "NAME=VARIABLE", conflicts_with = "command")]
    pub(crate) header_env: Vec<String>,
    /// Send headers over http:// to another machine too, where everyone on the way can read them.
    #[arg(long, conflicts_with = "command")]
    pub(crate) headers_in_clear: bool,
    /// Ask in this era of MCP alone; without it, modern first, then legacy.
    #[arg(long, value_enum)]
    pub(crate) era: Option<AskedEra>,
    /// How long all of it may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) timeout: u64,
    /// The command that starts the server over stdio, behind --.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

impl std::fmt::Debug for ServerOptions {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ServerOptions").finish_non_exhaustive()
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum AskedEra {
    Legacy,
    Modern,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ShownKind {
    Tool,
    Agent,
    Skill,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Client {
    /// Claude Code: the server, and the permission rules beside it.
    #[command(alias = "claude")]
    ClaudeCode(ConnectOptions),
    /// Codex: the server, and the approval mode of each of its tools.
    Codex(ConnectOptions),
    /// Cursor: the server; what would let it run without a question is looked for.
    Cursor(ConnectOptions),
    /// Gemini CLI: the server, and the tools that need confirmation.
    #[command(alias = "gemini")]
    GeminiCli(ConnectOptions),
    /// goose: shows the lines to add; nothing is written.
    Goose(ConnectOptions),
    /// opencode: the server, its permissions and a page of instructions.
    Opencode(ConnectOptions),
    /// Visual Studio Code: the server, and the tools that must not be approved for longer than one call.
    #[command(alias = "vs-code")]
    Vscode(ConnectOptions),
}

#[derive(Debug, Args)]
pub(crate) struct ConnectOptions {
    /// Write the change; without it, it is only shown.
    #[arg(long, conflicts_with = "undo")]
    pub(crate) write: bool,
    /// Take back what an earlier `--write` did.
    #[arg(long)]
    pub(crate) undo: bool,
    /// The client's configuration file; without it, the one that the client would read from here.
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Use the configuration that holds for all projects of this user.
    #[arg(long, conflicts_with = "file")]
    pub(crate) global: bool,
    /// Connect the chat server, with its curated tools, instead of the operator's; both can stand.
    #[arg(long)]
    pub(crate) chat: bool,
    /// The declaration that the chat server serves; without it, the one of the settings, else the one that `gatelatch chat`
    /// finds.
    #[arg(long, value_name = "FILE", requires = "chat")]
    pub(crate) surface: Option<PathBuf>,
    /// The name under which the client knows the server; without it, `gatelatch`, or `gatelatch-chat` with --chat.
    #[arg(long)]
    pub(crate) name: Option<String>,
}
