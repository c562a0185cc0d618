//! `gatelatch operator`: the operator server over stdio.

use std::sync::Arc;

use gatelatch_discovery::index::Index;
use gatelatch_manifest::diagnostic::Severity;
use gatelatch_operator::surface::{self, Operator};

use crate::exit::Code;
use crate::options::Place;
use crate::settings::Environment;
use crate::verb::{Road, say, serving};

/// Prints the list that clients see, without a transport and without a catalog.
pub(crate) fn list() -> anyhow::Result<Code> {
    serving::list(&surface::tools())
}

/// Serves until end of input or a signal.
pub(crate) fn serve(place: &Place, environment: Environment) -> anyhow::Result<Code> {
    let road = Road::open_with(place, environment, serving::LEVEL)?;
    for finding in road.findings.iter().filter(|finding| finding.severity == Severity::Error) {
        say(&finding.to_string());
    }
    // While the client opens the conversation.
    std::thread::spawn(Index::prepare);
    serving::serve(Arc::new(Operator::new(road.bridge, env!("CARGO_PKG_VERSION"))))
}
