//! The two questions: may this caller see it, and may this call run now.
//!
//! The only mint of [`approval::Approved`]. Pure: clock, caller and consumed tickets are passed in. Start at
//! [`decision::decide`]; how a name is read is told in [`name`], what the words mean stands in `verbs.txt`.

pub mod approval;
pub mod call;
pub mod decision;
pub mod declaration;
pub mod name;
pub mod sight;
mod verb;
