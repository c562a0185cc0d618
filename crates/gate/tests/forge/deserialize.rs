//! An approval cannot be read from a wire or a file.

use gatelatch_gate::approval::Approved;
use serde::Deserialize;

fn forge(text: serde_json::Value) -> Option<Approved<String>> {
    Approved::<String>::deserialize(text).ok()
}

fn main() {}
