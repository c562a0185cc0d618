//! The `gatelatch` binary: argument parsing and wiring.
//!
//! Owns the verbs, the settings and the exit codes; decides nothing that a library decides. Start at [`options`] for
//! what can be typed and at [`verb`] for what happens then.

mod advice;
mod arguments;
mod catalog;
mod connect;
mod exit;
mod file;
mod options;
mod settings;
mod shipped;
mod surface;
mod verb;
mod yaml;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use crate::settings::Environment;

fn main() -> ExitCode {
    let environment = Environment::of_this_process();
    let mut words = std::env::args_os().skip(1);
    // A builtin is this binary run again as a child: it takes an argument vector, not options.
    if words.next().is_some_and(|word| word == "builtin") {
        return verb::builtin::run(&words.collect::<Vec<OsString>>(), &environment);
    }
    let options = match options::Options::try_parse() {
        Ok(options) => options,
        Err(error) => match verb::run::misplaced(&error) {
            Some(error) => {
                verb::say_error(&error.into());
                return exit::Code::Usage.into();
            }
            None => return verb::exit_with(&error),
        },
    };
    match verb::dispatch(options, environment) {
        Ok(code) => code.into(),
        Err(error) => {
            verb::say_error(&error);
            exit::Code::of_error(&error).into()
        }
    }
}
