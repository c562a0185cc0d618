//! There is no approval by default.

use gatelatch_gate::approval::Approved;

fn forge() -> Approved<()> {
    Default::default()
}

fn main() {}
