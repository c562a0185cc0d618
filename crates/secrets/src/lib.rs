//! Lends a secret for the length of one call, and masks it in everything that comes back.
//!
//! Owns what a secret is and how it must never be seen. The environment is passed in. Start at [`secret::Secret`].

pub mod secret;

mod form;
mod mask;
mod reading;
