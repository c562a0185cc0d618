//! The two questions: may this caller see it, and may this call run now.
//!
//! The only mint of [`approval::Approved`]. Pure: clock, caller and consumed tickets are passed in. Start at
//! [`decision::decide`].

pub mod approval;
pub mod call;
pub mod decision;
