//! `gatelatch builtin NAME ACTION …`: this binary as the child that a builtin tool runs in.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::process::ExitCode;

use gatelatch_xlsx::roots::{READ_ROOTS, Roots, WRITE_ROOTS};

use crate::exit::Code;
use crate::settings::Environment;
use crate::verb::{say, say_error, working_folder};

/// Runs a compiled-in reader; its result or its error is JSON on standard output.
pub(crate) fn run(words: &[OsString], environment: &Environment) -> ExitCode {
    let name = words.first().and_then(|word| word.to_str()).unwrap_or_default();
    let action = words.get(1).and_then(|word| word.to_str()).unwrap_or_default();
    let args = words.get(2..).unwrap_or_default();
    let code = match name {
        "xlsx" => xlsx(action, args, environment),
        _ => {
            say("error: no such builtin; builtins are run by the tools that declare `runtime: builtin`");
            Code::Usage
        }
    };
    code.into()
}

fn xlsx(action: &str, args: &[OsString], environment: &Environment) -> Code {
    let folder = match working_folder() {
        Ok(folder) => folder,
        Err(error) => {
            say_error(&error);
            return Code::Failed;
        }
    };
    let set = |name: &str| environment.variables.get(name).map(OsStr::new);
    let roots = Roots::new(&folder, set(READ_ROOTS), set(WRITE_ROOTS));
    let mut out = std::io::stdout().lock();
    match gatelatch_xlsx::run(action, args, &roots, &mut out).map(|()| out.flush()) {
        Ok(Ok(())) => Code::Done,
        // Nobody reads the result any more.
        Ok(Err(_)) => Code::Failed,
        Err(error) => {
            let _ = writeln!(out, "{}", error.to_value());
            Code::Failed
        }
    }
}
