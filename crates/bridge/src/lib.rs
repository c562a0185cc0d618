//! The one road that every front uses: look up, see, check arguments, gate, record, run, check output, record.
//!
//! Owns the order of those steps and the shape of every answer. Knows no wire format: an MCP tool and a verb of the
//! command line are two fronts of the same [`bridge::Bridge`]. Start there.

pub mod answer;
pub mod bridge;
pub mod cut;
pub mod output;
pub mod recorder;
pub mod skill;
