//! A call does not turn into an approval.

use gatelatch_gate::approval::Approved;
use gatelatch_gate::call::Call;

fn forge(call: Call) -> Approved<Call> {
    call.into()
}

fn main() {}
