//! `gatelatch connect CLIENT`: shows, writes or takes back a client's configuration.

use std::path::Path;

use anyhow::Context;

use crate::connect::{self, Client, ConnectError, ConnectRequest, Plan, Scope, Server, Surroundings};
use crate::exit::{Code, UsageError};
use crate::options::{self, ConnectOptions, Place};
use crate::settings::{Environment, Settings};
use crate::surface::Declared;
use crate::verb::{absolute, print, say, state_folder, working_folder};

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
    let settings = Settings::read(place, environment, &folder)?;
    let kind = if options.chat { chat(options, &settings, &folder)? } else { Server::Operator };
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
        catalogs: settings.catalogs.iter().map(|catalog| absolute(&folder, catalog)).collect(),
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

/// The chat server with the declaration that it is to serve. One that is not there or has errors would have the client
/// start a server that ends at once.
fn chat(options: &ConnectOptions, settings: &Settings, folder: &Path) -> Result<Server, UsageError> {
    let named = options.surface.as_deref();
    if !options.undo {
        Declared::require(named, settings, folder)?.manifest()?;
    }
    let surface = named.or(settings.chat_surface.as_deref());
    Ok(Server::Chat { surface: surface.map(|surface| absolute(folder, surface)) })
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
