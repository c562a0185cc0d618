//! An approval cannot be written to a wire or a file, not even one of text.

use gatelatch_gate::approval::Approved;
use serde::Serialize;

fn write_down(approved: Approved<String>) -> Option<serde_json::Value> {
    approved.serialize(serde_json::value::Serializer).ok()
}

fn main() {}
