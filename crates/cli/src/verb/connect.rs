//! `gatelatch connect CLIENT`: shows, writes or takes back a client's configuration.

use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use gatelatch_manifest::diagnostic::Severity;

use crate::connect::{self, Client, ConnectError, ConnectRequest, Plan, Scope, Server, Surroundings};
use crate::exit::{Code, UsageError};
use crate::options::{self, ConnectOptions, Place};
use crate::settings::{Environment, Settings};
use crate::surface::Declared;
use crate::verb::{absolute, broken, load_catalog, longest, print, say, state_folder, working_folder};

/// One client's configuration.
pub(crate) fn run(place: &Place, environment: &Environment, client: &options::Client) -> anyhow::Result<Code> {
    let (client, options) = chosen(client);
    let plan = plan(place, environment, client, options)?;
    print(plan.to_string().trim_end())?;
    if options.write || options.undo {
        return write(client, options, &plan);
    }
    if !plan.is_empty() {
        say("nothing was written; add --write to write it");
    }
    Ok(Code::Done)
}

fn plan(place: &Place, environment: &Environment, client: Client, options: &ConnectOptions) -> anyhow::Result<Plan> {
    let folder = working_folder()?;
    // What is taken back is found by its name and by the record: neither the catalog nor the settings need be there.
    let (kind, longest_call, catalogs) = if options.undo {
        let kind = if options.chat { Server::Chat { surface: None } } else { Server::Operator };
        (kind, Duration::ZERO, Vec::new())
    } else {
        let settings = Settings::read(place, environment, &folder)?;
        let (kind, longest_call) = if options.chat {
            chat(options, &settings, &folder)?
        } else {
            (Server::Operator, longest::of_catalog(&load_catalog(&settings).catalog))
        };
        (kind, longest_call, settings.catalogs.iter().map(|catalog| absolute(&folder, catalog)).collect())
    };
    let request = ConnectRequest {
        client,
        scope: match &options.file {
            Some(file) => Scope::File(folder.join(file)),
            None if options.global => Scope::Global,
            None => Scope::Project,
        },
        server: options.name.clone().unwrap_or_else(|| kind.own_name().to_owned()),
        kind,
        program: std::env::current_exe().context("cannot find the gatelatch program itself")?,
        catalogs,
        longest_call,
    };
    let surroundings = Surroundings {
        environment: environment.variables.clone(),
        state_folder: state_folder(environment, &folder),
        working_folder: folder,
    };
    let plan =
        if options.undo { connect::plan_undo(&request, &surroundings) } else { connect::plan(&request, &surroundings) };
    plan.map_err(with_help)
}

/// The chat server with the declaration that it is to serve, and how long a call of its tools may take.
fn chat(options: &ConnectOptions, settings: &Settings, folder: &Path) -> Result<(Server, Duration), UsageError> {
    let named = options.surface.as_deref();
    let surface = named.or(settings.chat_surface.as_deref());
    let server = Server::Chat { surface: surface.map(|surface| absolute(folder, surface)) };
    Ok((server, served(named, settings, folder)?))
}

/// Holds the declaration against the catalog, as the server will at its start: with nothing to serve, the client would
/// start one that ends at once.
fn served(named: Option<&Path>, settings: &Settings, folder: &Path) -> Result<Duration, UsageError> {
    let declared = Declared::require(named, settings, folder)?;
    let manifest = declared.manifest()?;
    let loaded = load_catalog(settings);
    let linked = declared.link(&loaded.catalog, &broken(&loaded.findings));
    let list = match named {
        Some(path) => format!("`gatelatch chat --list --surface {}`", path.display()),
        None => "`gatelatch chat --list`".to_owned(),
    };
    if linked.tools.is_empty() {
        let errors = linked.findings.iter().filter(|finding| finding.severity == Severity::Error).count();
        let errors = format!("{errors} error{}", if errors == 1 { "" } else { "s" });
        let message = format!(
            "no tool of {} agrees with the catalog ({errors}), so that the chat server would not start",
            declared.file
        );
        let help = format!("name the catalog that it was written for with --catalog; {list} tells what is wrong");
        return Err(UsageError::new(message, help));
    }
    for name in &linked.left_out {
        say(&format!("warning: `{name}` does not agree with the catalog and will be left out; {list} tells why"));
    }
    Ok(longest::of_chat(manifest, &linked, &loaded.catalog))
}

fn write(client: Client, options: &ConnectOptions, plan: &Plan) -> anyhow::Result<Code> {
    connect::apply(plan).map_err(with_help)?;
    let title = client.title();
    if let Some(part) = plan.by_hand.first() {
        let message = format!("`{}` is not edited by gatelatch", part.path.display());
        let help = format!("put in or take out by hand what is shown, then restart {title}");
        return Err(UsageError { message, help: Some(help) }.into());
    }
    if options.write && !plan.is_empty() {
        let chat = if options.chat { "--chat " } else { "" };
        say(&format!("written; restart {title}, and take it back with {chat}--undo"));
    }
    Ok(Code::Done)
}

fn chosen(client: &options::Client) -> (Client, &ConnectOptions) {
    match client {
        options::Client::ClaudeCode(options) => (Client::Claude, options),
        options::Client::Codex(options) => (Client::Codex, options),
        options::Client::Cursor(options) => (Client::Cursor, options),
        options::Client::GeminiCli(options) => (Client::Gemini, options),
        options::Client::Goose(options) => (Client::Goose, options),
        options::Client::Opencode(options) => (Client::Opencode, options),
        options::Client::Vscode(options) => (Client::Vscode, options),
    }
}

fn with_help(error: ConnectError) -> anyhow::Error {
    let mut message = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(cause) = source {
        message = format!("{message}: {cause}");
        source = cause.source();
    }
    UsageError { message, help: error.help().map(str::to_owned) }.into()
}
