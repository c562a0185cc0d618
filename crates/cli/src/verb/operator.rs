//! `gatelatch operator`: the operator server over stdio.

use std::sync::Arc;
use std::time::Duration;

use gatelatch_discovery::index::Index;
use gatelatch_manifest::diagnostic::Severity;
use gatelatch_operator::surface::{self, Operator};

use crate::exit::Code;
use crate::options::Place;
use crate::settings::Environment;
use crate::verb::{Road, say, serving};

/// How long after the start the search is prepared, so that the first one need not wait for it.
const PREPARED_AFTER: Duration = Duration::from_millis(100);

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
    // Once the conversation is open: what is prepared beside the start itself would only slow it down.
    std::thread::spawn(|| {
        std::thread::sleep(PREPARED_AFTER);
        Index::prepare();
    });
    serving::serve(Arc::new(Operator::new(road.bridge, env!("CARGO_PKG_VERSION"))))
}
