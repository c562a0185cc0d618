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
        let repeat = argument.repeat.map(|repeat| format!("repeat={}", repeat.as_str()));
        flag(repeat.is_some(), repeat.as_deref().unwrap_or_default());
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
    lines.extend(help.left_out.iter().map(|what| format!("left out {}: {}", what.what, what.why)));
    lines.join("\n")
}

/// Holds one text against what is to be read from it: `samples/NAME.txt` and `samples/OUT.out`.
fn check(name: &str, out: &str, read: impl Fn(&str) -> Help) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/verb/init/help/samples");
    let file = |name: String| std::fs::read_to_string(format!("{folder}/{name}")).unwrap_or_default();
    let text = file(format!("{name}.txt"));
    assert!(!text.is_empty(), "no sample {name}");
    let read = shown(&read(&text));
    let expected = file(format!("{out}.out"));
    assert_eq!(read, expected.trim_end(), "{folder}/{out}.out should be:\n{read}\n");
}

fn check_command(name: &str, command: &str) {
    check(name, name, |text| read(text, Some(command)));
}

fn check_whole(name: &str) {
    check(name, name, |text| read(text, None));
}

#[test]
fn argparse_is_read_with_and_without_commands() {
    check_whole("argparse-flat");
    check_whole("argparse-commands");
    check_whole("argparse-bare");
    check_command("argparse-list", "list-notes");
    check_command("argparse-add", "add-note");
    check_command("argparse-repeated", "find-parts");
}

#[test]
fn the_help_of_node_s_parsers_is_read() {
    check_whole("yargs-commands");
    check_command("yargs-one", "read");
    check_whole("commander");
}

#[test]
fn clap_is_read_in_its_short_and_its_long_form() {
    check_whole("clap-commands");
    check_command("clap-short", "list");
    check_command("clap-long", "list");
}

#[test]
fn click_is_read_plain_and_in_boxes() {
    check_whole("click-commands");
    check_command("click-one", "add-note");
    check_command("typer", "add");
}

#[test]
fn gnu_and_shell_scripts_are_read() {
    check_whole("getopt");
    check_whole("shell");
}

#[test]
fn docopt_tells_of_all_its_commands_at_once() {
    check_whole("docopt");
    for command in ["list", "book", "cancel", "floor"] {
        check("docopt", &format!("docopt-{command}"), |text| of_command(text, command));
    }
}

#[test]
fn the_flags_of_go_are_read() {
    check_whole("go");
    check_whole("cobra");
    check_command("cobra-one", "list");
}

#[test]
fn colours_and_overstrikes_are_no_text() {
    let help = read(
        "\u{1b}[1mUsage:\u{1b}[0m x [OPTIONS]\n\nOptions:\n  \u{1b}[32m--n\u{8}na\u{8}ame\u{1b}[0m TEXT  Who\n",
        None,
    );
    assert_eq!(shown(&help), "name string | Who");
}

#[test]
fn options_behind_the_place_of_the_command_are_those_of_every_command() {
    let text =
        |usage: &str| format!("Usage: {usage}\n\nCommands:\n  list  list them\n\nOptions:\n  --days N  how old\n");
    let names = |usage: &str| -> Vec<String> {
        of_command(&text(usage), "list").arguments.into_iter().map(|argument| argument.name).collect()
    };
    for usage in ["x <command> [options]", "x COMMAND [OPTIONS]", "x [flags] <command> [args]"] {
        assert_eq!(names(usage), ["days"], "{usage}");
    }
    let unannounced = text("x <command> [options]").replace("Usage: ", "");
    assert_eq!(of_command(&unannounced, "list").arguments.len(), 1);
    for usage in ["x [options] <command>", "x [OPTIONS] COMMAND"] {
        assert_eq!(names(usage), Vec::<String>::new(), "{usage}");
    }
}

#[test]
fn what_stands_one_space_behind_an_option_is_its_value_whatever_its_letters() {
    let string = |value: &str| {
        let usage = format!("usage: x.py [-h] [--size {value}] out\n\n");
        let text = format!("{usage}positional arguments:\n  out  where\n\noptions:\n  --size {value}  how large\n");
        let help = read(&text, None);
        assert_eq!(help.arguments.len(), 2, "{value}: {}", shown(&help));
        let size = help.arguments.into_iter().find(|argument| argument.name == "size").unwrap();
        assert_eq!((size.kind, size.choices.len()), (ArgumentType::String, 0), "{value}");
    };
    for value in
        ["WxH", "WIDTHxHEIGHT", "w:h", "Name", "FILE.csv", "kB", "%", "dd.mm.yyyy", "w,h", "URL|FILE", "(a)", "50%"]
    {
        string(value);
    }
    let short = "usage: x.py [-h] [-s WxH]\n\noptions:\n  -s WxH, --size WxH\n                        how large\n";
    assert_eq!(shown(&read(short, None)), "size string | how large");
    // Without a help text the usage says it.
    let bare = "usage: x.py [-h] [--dir outDir] [--at LAT lon]\n\noptions:\n  --dir outDir\n  --at LAT lon\n";
    let expected = "dir path\nleft out --at: several values at once, and an argument is one";
    assert_eq!(shown(&read(bare, None)), expected);
    let required =
        "usage: x.py --at LAT lon --from URL|FILE out\n\noptions:\n  --at LAT lon  where\n  --from URL|FILE  whence\n";
    let expected = "out string positional required\nfrom string required | whence\n\
                    left out --at: several values at once, and an argument is one";
    assert_eq!(shown(&read(required, None)), expected);
}

#[test]
fn an_option_that_only_the_usage_names_has_the_value_that_its_brackets_hold() {
    let read = |usage: &str| shown(&read(&format!("usage: x {usage}\n"), None));
    assert_eq!(read("[--size WxH] [--loud]"), "size string\nloud boolean");
    assert_eq!(read("[-s|--size WxH] [--count n]"), "size string\ncount integer");
    assert_eq!(read("[--kind a|b]"), "kind string enum=[\"a\",\"b\"]");
    assert_eq!(read("[--url URL|FILE] URL|FILE"), "url-file string positional required\nurl string");
}

#[test]
fn prose_that_one_space_parts_from_an_option_is_no_value() {
    let text = "usage: x [options]\n\nOptions:\n  --list list what is there\n  --all everything\n";
    assert_eq!(shown(&read(text, None)), "list boolean\nall boolean");
}

#[test]
fn what_stands_behind_a_command_in_the_list_is_its_argument() {
    let text = "Usage: backup <command>\n\nCommands:\n  create <dir>   Create a backup of DIR\n\
                \x20 restore|r <id> [--force]   Put one back\n  purge [days...]   Forget old ones\n  send to   Send one\n\
                \x20 note <id> what it is\n  list   List them\n";
    let read = |command: &str| shown(&Help { commands: Vec::new(), ..of_command(text, command) });
    assert_eq!(read("create"), "dir path positional required");
    assert_eq!(read("restore"), "id string positional required\nforce boolean");
    assert_eq!(read("purge"), "days string repeat=value positional");
    assert_eq!(read("send"), "left out to: a bare word behind the command: an argument would be written `<NAME>`");
    assert_eq!(read("note"), "id string positional required");
    assert_eq!(read("list"), "");
}

#[test]
fn choices_that_are_no_plain_words_are_no_choices() {
    let read = |spec: &str| shown(&read(&format!("usage: x\n\nOptions:\n  {spec}  What\n"), None));
    assert_eq!(read("--kind={a,b-c}"), "kind string enum=[\"a\",\"b-c\"] | What");
    assert_eq!(read("--filter=[(A|C|B)...[*]]"), "filter string repeat=name | What");
    assert_eq!(read("--range <from..to|all>"), "range string | What");
}

#[test]
fn numbers_paths_and_words_are_told_apart_by_what_stands_for_them() {
    let kind = |spec: &str, text: &str| {
        let help = read(&format!("usage: x\n\nOptions:\n  {spec}  {text}\n"), None);
        let argument = help.arguments.first().unwrap();
        (argument.kind, argument.default.clone())
    };
    let none = |spec: &str| kind(spec, "What").0;
    for spec in ["--x INT", "--x N", "--x NUM", "--x MIN_COUNT", "--x <PORT>", "--x LINE_NUM"] {
        assert_eq!(none(spec), ArgumentType::Integer, "{spec}");
    }
    for spec in ["--x FLOAT", "--x <float>", "--x RATIO_FLOAT"] {
        assert_eq!(none(spec), ArgumentType::Number, "{spec}");
    }
    for spec in ["--x FILE", "--x OUT_DIR", "--x INFILE", "--x PATHS", "--x <folder>"] {
        assert_eq!(none(spec), ArgumentType::Path, "{spec}");
    }
    for spec in ["--x PROFILE", "--x SIZE_LIMIT", "--x ACCOUNT", "--x REPORT", "--x MOUNT", "--x X"] {
        assert_eq!(none(spec), ArgumentType::String, "{spec}");
    }
    let number = |number: serde_json::Value| Some(number);
    assert_eq!(kind("--x X", "What (default: 0)"), (ArgumentType::Integer, number(0.into())));
    assert_eq!(kind("--x X", "What [default: 10]"), (ArgumentType::Integer, number(10.into())));
    assert_eq!(kind("--x X", "What, defaults to 3."), (ArgumentType::Integer, number(3.into())));
    assert_eq!(kind("--x X", "What (default: 0.5)"), (ArgumentType::Number, number(0.5.into())));
    assert_eq!(kind("--x X", "What (default: 3.10)").0, ArgumentType::String);
    assert_eq!(kind("--python X", "Which (default: 3.9)").0, ArgumentType::String);
    assert_eq!(kind("--api-version X", "Which (default: 2)").0, ArgumentType::String);
    assert_eq!(kind("--x X", "What (default: 007)").0, ArgumentType::String);
    assert_eq!(kind("--x N", "What (default: auto)").0, ArgumentType::String);
    assert_eq!(kind("--x N", "What (default: 1.5)"), (ArgumentType::Number, number(1.5.into())));
}

#[test]
fn a_long_description_ends_after_a_sentence() {
    let long = format!("First sentence. {}", "word ".repeat(100));
    assert_eq!(described(&long).unwrap(), "First sentence.");
    assert!(described(&"word ".repeat(100)).unwrap().ends_with(" …"));
    assert_eq!(described(" \n"), None);
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(200))]

    #[test]
    fn no_text_is_too_strange_to_be_read(text in "([ \\-<>\\[\\](){}|.=:,a-zA-Zé…\\n]|usage:|--|  |\n\n|Options:\n|Commands:\n){0,60}") {
        let whole = read(&text, None);
        let _ = of_command(&text, "list");
        for argument in &whole.arguments {
            proptest::prop_assert!(gatelatch_manifest::reference::ARGUMENT_NAME.fits(&argument.name), "{:?}", argument);
        }
    }
}
