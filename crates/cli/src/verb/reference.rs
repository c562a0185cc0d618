//! Completions, the man page, and the tables behind the reference pages: all from the definitions that the parser and
//! the settings use, so that none of them can say something else.

use clap::{Command, CommandFactory};
use serde_json::{Value, json};

use crate::exit::Code;
use crate::options::Options;
use crate::settings::VARIABLES;
use crate::verb::{print_json, put_bytes};

/// A completion script on standard output.
pub(crate) fn completions(shell: clap_complete::Shell) -> anyhow::Result<Code> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Options::command(), "gatelatch", &mut script);
    write_out(&script)
}

/// The man page on standard output.
pub(crate) fn man() -> anyhow::Result<Code> {
    let mut page = Vec::new();
    clap_mangen::Man::new(Options::command()).render(&mut page)?;
    write_out(&page)
}

/// Exit codes, variables and every command's help, as JSON.
pub(crate) fn tables() -> anyhow::Result<Code> {
    let codes: Vec<Value> =
        Code::ALL.iter().map(|(_, number, meaning)| json!({ "code": number, "meaning": meaning })).collect();
    let variables: Vec<Value> =
        VARIABLES.iter().map(|(name, meaning)| json!({ "name": name, "meaning": meaning })).collect();
    let mut commands = Vec::new();
    let mut command = Options::command();
    command.build();
    gather(&command, &mut commands);
    print_json(&json!({ "exit_codes": codes, "variables": variables, "commands": commands }), true)?;
    Ok(Code::Done)
}

fn gather(command: &Command, commands: &mut Vec<Value>) {
    if command.is_hide_set() {
        return;
    }
    let name = command.get_bin_name().unwrap_or(command.get_name()).to_owned();
    let help = command.clone().term_width(100).render_help().to_string();
    commands.push(json!({ "name": name, "help": help }));
    for below in command.get_subcommands() {
        gather(below, commands);
    }
}

fn write_out(bytes: &[u8]) -> anyhow::Result<Code> {
    put_bytes(bytes)?;
    Ok(Code::Done)
}
