//! A refusal gives the call back, and no approval with it.

use gatelatch_gate::approval::Approved;
use gatelatch_gate::call::Call;
use gatelatch_gate::decision::{Refusal, Verdict};

fn forge(refusal: Refusal) -> Approved<Call> {
    match Verdict::AskFirst(refusal) {
        Verdict::Run(approved) => approved,
        Verdict::AskFirst(refusal) | Verdict::Denied(refusal) => refusal.call,
    }
}

fn main() {}
