//! An approval is spent by value: it is good for one run.

use gatelatch_gate::approval::Approved;
use gatelatch_gate::call::Call;

fn run(approved: Approved<Call>) -> Call {
    approved.into_inner()
}

fn twice(approved: Approved<Call>) -> [Call; 2] {
    [run(approved), run(approved)]
}

fn main() {}
