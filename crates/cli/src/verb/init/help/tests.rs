//! Help texts of the usual parsers, as their programs print them, and what a manifest makes of each.

use super::*;

fn shown(help: &Help) -> String {
    let mut lines: Vec<String> = help.description.iter().map(|text| format!("says {text}")).collect();
    for argument in &help.arguments {
        let mut line = format!("{} {}", argument.name, argument.kind.as_str());
        let mut flag = |set: bool, word: &str| {
            if set {
                line.push_str(&format!(" {word}"));
            }
        };
        flag(argument.positional, "positional");
        flag(argument.required, "required");
        flag(argument.negatable, "negatable");
        flag(!argument.choices.is_empty(), &format!("enum={}", serde_json::Value::from(argument.choices.clone())));
        flag(argument.minimum.is_some(), &format!("minimum={}", argument.minimum.clone().unwrap_or(0.into())));
        flag(argument.maximum.is_some(), &format!("maximum={}", argument.maximum.clone().unwrap_or(0.into())));
        flag(argument.default.is_some(), &format!("default={}", argument.default.clone().unwrap_or_default()));
        flag(argument.description.is_some(), &format!("| {}", argument.description.clone().unwrap_or_default()));
        lines.push(line);
    }
    let said = |command: &Command| command.description.as_ref().map(|text| format!(" | {text}")).unwrap_or_default();
    lines.extend(help.commands.iter().map(|command| format!("command {}{}", command.name, said(command))));
    lines.extend(help.left_out.iter().map(|what| format!("left out {what}")));
    lines.join("\n")
}

#[test]
fn print_all() {
    for entry in
        std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src/verb/init/help/samples")).unwrap().flatten()
    {
        let text = std::fs::read_to_string(entry.path()).unwrap();
        let name = entry.file_name().into_string().unwrap();
        let command = if name.contains("list")
            || name.starts_with("cobra-one")
            || name.starts_with("clap-short")
            || name.starts_with("clap-long")
        {
            Some("list")
        } else if name.contains("add") || name.contains("click-one") {
            Some("add-note")
        } else if name.contains("typer") {
            Some("add")
        } else {
            None
        };
        let command = if name == "argparse-list.txt" { Some("list-notes") } else { command };
        println!("=== {name}\n{}\n", shown(&read(&text, command)));
    }
    let text = include_str!("samples/docopt.txt");
    for c in ["list", "book", "cancel", "floor"] {
        println!("=== docopt {c}\n{}\n", shown(&of_command(text, c)));
    }
}
