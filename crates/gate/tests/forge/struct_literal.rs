//! The fields are private: an approval cannot be written down.

use gatelatch_gate::approval::Approved;
use gatelatch_gate::call::Call;

fn forge(call: Call) -> Approved<Call> {
    Approved { what: call }
}

fn main() {}
