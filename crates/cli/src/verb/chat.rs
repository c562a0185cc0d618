//! `gatelatch chat`: the curated server over stdio.
//!
//! What does not agree with the catalog is told on standard error and left out; the rest serves.

use std::path::Path;
use std::sync::Arc;

use gatelatch_chat::link::Linked;
use gatelatch_chat::surface::Chat;
use gatelatch_manifest::diagnostic::Severity;

use crate::exit::{Code, UsageError};
use crate::options::Place;
use crate::settings::{Environment, Settings};
use crate::surface::Declared;
use crate::verb::{Road, broken, load_catalog, say, serving, working_folder};

/// Prints the list that clients see, without a transport. A declaration of which less would be served is something wrong
/// that was found, and no wrong command.
pub(crate) fn list(place: &Place, environment: &Environment, named: Option<&Path>) -> anyhow::Result<Code> {
    let folder = working_folder()?;
    let settings = Settings::read(place, environment, &folder)?;
    let declared = Declared::require(named, &settings, &folder)?;
    let loaded = load_catalog(&settings);
    let linked = declared.link(&loaded.catalog, &broken(&loaded.findings));
    tell(&declared, &linked).map_err(|error| anyhow::Error::msg(error.to_string()))?;
    let tools: Vec<_> = linked.tools.iter().map(|tool| tool.published().clone()).collect();
    serving::list(&tools)?;
    Ok(if linked.left_out.is_empty() { Code::Done } else { Code::Failed })
}

/// Serves until end of input or a signal.
pub(crate) fn serve(place: &Place, environment: Environment, named: Option<&Path>) -> anyhow::Result<Code> {
    let folder = working_folder()?;
    let settings = Settings::read(place, &environment, &folder)?;
    let declared = Declared::require(named, &settings, &folder)?;
    let server = declared.manifest()?.server.clone();
    let road = Road::open_with(place, environment, serving::LEVEL)?;
    let linked = declared.link(road.bridge.catalog(), road.bridge.broken());
    tell(&declared, &linked)?;
    serving::serve(Arc::new(Chat::new(road.bridge, &server, linked.tools, env!("CARGO_PKG_VERSION"))))
}

/// Tells what is wrong, and which tools are left out for it. With none left there is nothing to serve.
fn tell(declared: &Declared, linked: &Linked) -> Result<(), UsageError> {
    declared.manifest()?;
    for finding in declared.findings.iter().chain(&linked.findings) {
        say(&finding.to_string());
    }
    for name in &linked.left_out {
        say(&format!("note: `{name}` is left out, since the declaration and the catalog disagree"));
    }
    let warnings = linked.findings.iter().filter(|finding| finding.severity == Severity::Warning).count();
    if linked.tools.is_empty() {
        let message =
            format!("no tool of {} agrees with the catalog, so that there is nothing to serve", declared.file);
        let help = format!("mend the {} that are told above", linked.findings.len() - warnings);
        return Err(UsageError::new(message, help));
    }
    Ok(())
}
