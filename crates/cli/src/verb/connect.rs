//! `gatelatch connect CLIENT`: shows, writes or takes back a client's configuration.

use anyhow::Context;

use crate::connect::{self, Client, ConnectError, ConnectRequest, Scope, Surroundings};
use crate::exit::{Code, UsageError};
use crate::options::{ConnectOptions, Place};
use crate::settings::{Environment, Settings};
use crate::verb::{absolute, print, say, state_folder, working_folder};

/// opencode's configuration.
pub(crate) fn opencode(place: &Place, environment: &Environment, options: &ConnectOptions) -> anyhow::Result<Code> {
    let folder = working_folder()?;
    let settings = Settings::read(place, environment, &folder)?;
    let request = ConnectRequest {
        client: Client::Opencode,
        scope: match &options.file {
            Some(file) => Scope::File(folder.join(file)),
            None if options.global => Scope::Global,
            None => Scope::Project,
        },
        server: options.name.clone(),
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
    let plan = plan.map_err(with_help)?;
    print(plan.to_string().trim_end())?;
    if !options.write && !options.undo {
        if !plan.is_empty() {
            say("nothing was written; add --write to write it");
        }
        return Ok(Code::Done);
    }
    connect::apply(&plan).map_err(with_help)?;
    if options.write && !plan.is_empty() {
        say("written; restart opencode, and take it back with --undo");
    }
    Ok(Code::Done)
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
