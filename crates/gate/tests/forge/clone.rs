//! An approval cannot be copied.

use gatelatch_gate::approval::Approved;
use gatelatch_gate::call::Call;

fn twice(approved: Approved<Call>) -> [Approved<Call>; 2] {
    let copy = approved.clone();
    [approved, copy]
}

fn main() {}
