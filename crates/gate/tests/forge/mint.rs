//! The mint is the gate's own: an approval cannot be made by name.

use gatelatch_gate::approval::Approved;
use gatelatch_gate::call::Call;

fn forge(call: Call) -> Approved<Call> {
    Approved::mint(call)
}

fn main() {}
