//! What the words of a command mean: a script of somebody's own, or a program that is installed.
//!
//! Looks at files and changes none. Owns the choice of runtime and entrypoint, which files a script needs beside it, and
//! whether asking a script for its help is safe as far as its text shows. Start at [`Program::find`].

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use gatelatch_manifest::document::Runtime;
use gatelatch_manifest::reference::ENTRY_NAME;

use super::draft::LeftOut;
use super::help::described;
use super::source::{self, Declaration};
use crate::exit::UsageError;
use crate::settings::Environment;

/// How much of a file is looked at.
const MOST_READ: u64 = 1 << 20;
/// Why something that a script loads stays behind.
const UNCOPIED: &str = "loaded by the script and not copied; copy it beside the manifest too";
/// What a shell script lacks that reads short options only.
const ONLY_SHORT: &str = "arguments are passed as `--name value`, which `getopts` does not read; \
                          `gatelatch skill write-a-manifest` shows how a shell script does";
/// Why an interpreter that was named by its path does not run the entry.
const ELSEWHERE: &str = "`runtime: python` and `node` take the interpreter of PATH; for this one begin the script with `#!` \
                         and its path, and name the script alone";
/// How many files are copied for one script.
const MOST_FILES: usize = 20;

/// A program that a manifest can be written for.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// What the entry may be called.
    pub(crate) name: String,
    pub(crate) runtime: Runtime,
    /// What it is written in, which is the runtime unless its first line names an interpreter of its own.
    pub(crate) language: Runtime,
    /// Whether it may be started by its path alone.
    pub(crate) starts_itself: bool,
    /// For the manifest.
    pub(crate) entrypoint: String,
    /// The script and what it needs, each with its name beside the manifest; nothing for an installed program.
    pub(crate) files: Vec<(PathBuf, String)>,
    /// The interpreter that its first line names by a path of its own, as one in a virtual environment.
    pub(crate) own_interpreter: Option<String>,
    /// What starts it where it lies now.
    pub(crate) start: (PathBuf, Vec<OsString>),
    /// The command as typed, for people.
    pub(crate) shown: String,
    /// The commands that were named behind it.
    pub(crate) wanted: Vec<String>,
    /// What its text says of itself.
    pub(crate) summary: Option<String>,
    /// What its text says of its options.
    pub(crate) declared: Vec<Declaration>,
    /// Whether it looks at its arguments, so that `--help` asks it and does not run it.
    pub(crate) answers_help: bool,
    /// What the author should know.
    pub(crate) notes: Vec<LeftOut>,
}

impl Program {
    /// Finds what the words name, from `folder`.
    pub(crate) fn find(words: &[String], environment: &Environment, folder: &Path) -> Result<Program, UsageError> {
        let Some(first) = words.first() else {
            return Err(UsageError::new("no command is named", "name a script, or a program on PATH"));
        };
        let on_path = |name: &str| which::which_in(name, environment.text("PATH"), folder).ok();
        if let (Some(runtime), Some(script)) =
            (interpreter(first), words.get(1).filter(|word| folder.join(word).is_file()))
        {
            let rest = words.get(2..).unwrap_or_default();
            let mut program = script_of(&folder.join(script), Some(runtime), rest, &on_path)?;
            if runtime != Runtime::Process && first.contains(['/', '\\']) && !is_of_the_system(first) {
                program.notes.push(LeftOut::new(first, ELSEWHERE));
            }
            return Ok(program);
        }
        let path = folder.join(first);
        let rest = words.get(1..).unwrap_or_default();
        if path.is_file() {
            return script_of(&path, None, rest, &on_path);
        }
        match on_path(first).filter(|_| !first.contains(['/', '\\'])) {
            Some(path) => Program::installed(first, path, rest),
            None => Err(UsageError::new(
                format!("there is no file and no program on PATH called `{first}`"),
                "name a script by its path, or install the program first",
            )),
        }
    }

    fn installed(name: &str, path: PathBuf, rest: &[String]) -> Result<Program, UsageError> {
        let text = text_of(&path);
        Ok(Program {
            name: entry_name(name),
            runtime: Runtime::Process,
            language: Runtime::Process,
            starts_itself: true,
            entrypoint: name.to_owned(),
            files: Vec::new(),
            own_interpreter: None,
            // What was compiled cannot be looked at, and what is installed nearly always answers.
            answers_help: text.as_deref().is_none_or(|text| answers_help(text, Runtime::Process) || !is_shell(text)),
            start: (path, Vec::new()),
            shown: name.to_owned(),
            wanted: wanted(rest)?,
            summary: None,
            declared: Vec::new(),
            notes: Vec::new(),
        })
    }
}

fn script_of(
    path: &Path,
    interpreter: Option<Runtime>,
    rest: &[String],
    on_path: &dyn Fn(&str) -> Option<PathBuf>,
) -> Result<Program, UsageError> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let file = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
    let text = text_of(&path);
    let wanted = wanted(rest)?;
    let Some(text) = text else { return compiled(&path, &file, wanted) };
    let language = match interpreter.or_else(|| runtime_of(&file, &text)) {
        Some(Runtime::Process) | None if !text.starts_with("#!") => {
            return Err(UsageError::new(
                format!("`{file}` does not say what runs it"),
                "name it as `python3 FILE` or `node FILE`, or begin it with a line such as `#!/bin/sh`",
            ));
        }
        Some(runtime) => runtime,
        None => Runtime::Process,
    };
    if file.starts_with('-') || file.contains(['\\', ':']) {
        return Err(UsageError::new(format!("`{file}` cannot be an entrypoint"), "rename the file"));
    }
    let own_interpreter = if interpreter.is_none() { own_interpreter(&text) } else { None };
    // `runtime: python` and `node` take the interpreter of PATH.
    let runtime = if own_interpreter.is_some() { Runtime::Process } else { language };
    let start = match runtime {
        Runtime::Python => interpreted(&path, &["python3", "python"], on_path),
        Runtime::Node => interpreted(&path, &["node"], on_path),
        Runtime::Process | Runtime::Builtin => as_its_first_line_says(&path, &text),
    };
    let (files, mut notes) = with_siblings(&path, &file, &text, language);
    let texts = files.iter().filter(|_| language == Runtime::Python).filter_map(|(path, _)| text_of(path));
    let declared = texts.flat_map(|text| source::declarations(&text)).collect();
    if language == Runtime::Process && text.contains("getopts") && !text.contains("--") {
        notes.push(LeftOut::new("short options such as `-n`", ONLY_SHORT));
    }
    let beside = if runtime == Runtime::Process { format!("./{file}") } else { file.clone() };
    Ok(Program {
        name: entry_name(file.split('.').next().unwrap_or_default()),
        runtime,
        language,
        starts_itself: !first_line(&text).is_empty() && is_executable(&path),
        entrypoint: beside,
        files,
        own_interpreter,
        start,
        shown: file,
        wanted,
        summary: summary(&text, language),
        declared,
        answers_help: answers_help(&text, language),
        notes,
    })
}

/// What the `#!` of a text names.
fn first_line(text: &str) -> &str {
    text.lines().next().and_then(|line| line.strip_prefix("#!")).map(str::trim).unwrap_or_default()
}

/// The interpreter that a script's first line names by a path, where it is none that the system has for everyone.
fn own_interpreter(text: &str) -> Option<String> {
    let interpreter = first_line(text).split_whitespace().next()?;
    (cfg!(unix) && interpreter.starts_with('/') && !is_of_the_system(interpreter)).then(|| interpreter.to_owned())
}

/// Whether an interpreter lies where the system keeps its own.
fn is_of_the_system(interpreter: &str) -> bool {
    const FOLDERS: [&str; 5] =
        ["/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/run/current-system/sw/bin"];
    interpreter.rsplit_once('/').is_some_and(|(folder, _)| FOLDERS.contains(&folder))
}

/// A script that nobody made executable yet is started as the system would start it if it were.
fn as_its_first_line_says(path: &Path, text: &str) -> (PathBuf, Vec<OsString>) {
    let line = first_line(text);
    if line.is_empty() || is_executable(path) {
        return (path.to_owned(), Vec::new());
    }
    let (interpreter, argument) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let argument = Some(argument.trim()).filter(|argument| !argument.is_empty()).map(OsString::from);
    (PathBuf::from(interpreter), argument.into_iter().chain([path.into()]).collect())
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(_path: &Path) -> bool {
    true
}

/// A compiled program is named where it lies: what belongs to it cannot be seen.
fn compiled(path: &Path, file: &str, wanted: Vec<String>) -> Result<Program, UsageError> {
    let Some(entrypoint) = path.to_str() else {
        return Err(UsageError::new(format!("the path of `{file}` is no plain text"), "move it to another folder"));
    };
    Ok(Program {
        name: entry_name(file.split('.').next().unwrap_or_default()),
        runtime: Runtime::Process,
        language: Runtime::Process,
        starts_itself: true,
        entrypoint: entrypoint.to_owned(),
        files: Vec::new(),
        own_interpreter: None,
        start: (path.to_owned(), Vec::new()),
        shown: file.to_owned(),
        wanted,
        summary: None,
        declared: Vec::new(),
        answers_help: true,
        notes: Vec::new(),
    })
}

/// The interpreter may be missing: then nothing can be asked, and the manifest is right nevertheless.
fn interpreted(script: &Path, names: &[&str], on_path: &dyn Fn(&str) -> Option<PathBuf>) -> (PathBuf, Vec<OsString>) {
    let fallback = || PathBuf::from(names.first().copied().unwrap_or_default());
    (names.iter().find_map(|name| on_path(name)).unwrap_or_else(fallback), vec![script.into()])
}

fn interpreter(word: &str) -> Option<Runtime> {
    let name = word.rsplit(['/', '\\']).next().unwrap_or_default().trim_end_matches(".exe");
    match name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') {
        "python" => Some(Runtime::Python),
        "node" | "nodejs" => Some(Runtime::Node),
        "sh" | "bash" | "zsh" => Some(Runtime::Process),
        _ => None,
    }
}

fn runtime_of(file: &str, text: &str) -> Option<Runtime> {
    let first = text.lines().next().filter(|line| line.starts_with("#!")).unwrap_or_default();
    match file.rsplit_once('.').map(|(_, ending)| ending) {
        Some("py") => Some(Runtime::Python),
        Some("js" | "mjs" | "cjs") => Some(Runtime::Node),
        _ if first.contains("python") => Some(Runtime::Python),
        _ if first.contains("node") => Some(Runtime::Node),
        _ => (!first.is_empty()).then_some(Runtime::Process),
    }
}

/// A file's text; `None` when it is no text.
fn text_of(path: &Path) -> Option<String> {
    use std::io::Read;
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(MOST_READ).read_to_end(&mut bytes).ok()?;
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

/// The commands behind a program: plain words.
fn wanted(rest: &[String]) -> Result<Vec<String>, UsageError> {
    let is_command = |word: &String| gatelatch_manifest::reference::ACTION_NAME.fits(word);
    match rest.iter().find(|word| !is_command(word)) {
        Some(word) => Err(UsageError::new(
            format!("`{word}` cannot be a command of the program"),
            "name the program, and behind it only commands such as `list`",
        )),
        None => Ok(rest.to_vec()),
    }
}

/// A name that an entry may have, as near to this one as can be.
pub(crate) fn entry_name(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c.to_ascii_lowercase() } else { '-' };
    let mut name: String = name.chars().map(plain).collect::<String>().trim_matches(['-', '_']).to_owned();
    name.truncate(gatelatch_manifest::reference::NameForm::MOST);
    if ENTRY_NAME.fits(&name) { name } else { "tool".to_owned() }
}

fn is_shell(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    first.starts_with("#!")
        && ["sh", "bash", "zsh", "dash", "ksh"].iter().any(|shell| first.trim_end().ends_with(shell))
}

/// Whether a text shows that the script looks at options. One that does not would simply run when asked for its help.
fn answers_help(text: &str, runtime: Runtime) -> bool {
    const PYTHON: [&str; 10] =
        ["argparse", "click", "typer", "docopt", "optparse", "fire", "getopt", "absl", "cyclopts", "plumbum"];
    const NODE: [&str; 9] =
        ["commander", "yargs", "minimist", "parseArgs", "meow", "'cac'", "\"cac\"", "sade", "oclif"];
    if ["\"--help\"", "'--help'", "--help)", "--help|", "|--help"].iter().any(|word| text.contains(word)) {
        return true;
    }
    match runtime {
        Runtime::Python => imports(text).any(|module| PYTHON.contains(&module.as_str())),
        Runtime::Node => NODE.iter().any(|word| text.contains(word)),
        // `getopts` knows no long option, and a script may go on after one that it does not know.
        Runtime::Process | Runtime::Builtin => false,
    }
}

/// The modules that a Python text imports, without what is below them.
fn imports(text: &str) -> impl Iterator<Item = String> {
    let names = |line: &str| -> Vec<String> {
        let line = line.trim_start();
        if let Some(rest) = line.strip_prefix("from ") {
            let module = rest.split_whitespace().next().unwrap_or_default().trim_start_matches('.');
            return vec![module.to_owned()];
        }
        let list = line.strip_prefix("import ").unwrap_or_default();
        list.split(',').filter_map(|part| part.split_whitespace().next()).map(str::to_owned).collect()
    };
    let heads = text.lines().flat_map(names).collect::<Vec<String>>().into_iter();
    heads.map(|module| module.split('.').next().unwrap_or_default().to_owned()).filter(|module| !module.is_empty())
}

/// The files that a Node text names beside itself.
fn requires(text: &str) -> impl Iterator<Item = String> {
    let paths = |line: &str| -> Vec<String> {
        if !(line.contains("require(") || line.contains("import") || line.contains("from")) {
            return Vec::new();
        }
        let after = line.split(['\'', '"']).filter_map(|part| part.strip_prefix("./"));
        after.map(str::to_owned).collect()
    };
    text.lines().flat_map(paths).collect::<Vec<String>>().into_iter()
}

/// The script and, for Python and Node, the files of its folder that it loads, in turn.
fn with_siblings(path: &Path, file: &str, text: &str, runtime: Runtime) -> (Vec<(PathBuf, String)>, Vec<LeftOut>) {
    let folder = path.parent().unwrap_or(path);
    let mut files = vec![(path.to_owned(), file.to_owned())];
    let mut notes = Vec::new();
    let mut seen = BTreeSet::from([file.to_owned()]);
    let mut texts = vec![text.to_owned()];
    while let Some(text) = texts.pop() {
        let named: Vec<String> = match runtime {
            Runtime::Python => imports(&text).collect(),
            Runtime::Node => requires(&text).collect(),
            Runtime::Process | Runtime::Builtin => Vec::new(),
        };
        let endings: &[&str] =
            if runtime == Runtime::Python { &[".py"] } else { &["", ".js", ".mjs", ".cjs", ".json"] };
        for name in named {
            let found = endings.iter().map(|ending| format!("{name}{ending}")).find(|file| folder.join(file).is_file());
            match found {
                Some(sibling) if seen.contains(&sibling) => {}
                Some(sibling) if !sibling.contains('/') && files.len() < MOST_FILES => {
                    texts.extend(text_of(&folder.join(&sibling)));
                    seen.insert(sibling.clone());
                    files.push((folder.join(&sibling), sibling));
                }
                Some(other) => notes.push(LeftOut::new(other, UNCOPIED)),
                None if folder.join(&name).is_dir() && seen.insert(name.clone()) => {
                    notes.push(LeftOut::new(format!("{name}/"), UNCOPIED));
                }
                None => {}
            }
        }
    }
    if runtime == Runtime::Node && folder.join("package.json").is_file() {
        notes.push(LeftOut::new("package.json", "not copied, so that packages that it names are not found"));
    }
    (files, notes)
}

/// The first line of what a script says of itself: its docstring, or the comment at its head.
fn summary(text: &str, runtime: Runtime) -> Option<String> {
    let mut lines =
        text.lines().skip_while(|line| line.starts_with("#!") || line.trim().is_empty() || line.contains("-*-"));
    let first = lines.next()?.trim();
    let marks: &[&str] = match runtime {
        Runtime::Python => &["r\"\"\"", "\"\"\"", "'''", "#"],
        Runtime::Node => &["/**", "/*", "//"],
        Runtime::Process | Runtime::Builtin => &["#"],
    };
    let said = marks.iter().find_map(|mark| first.strip_prefix(mark))?;
    let said =
        if said.trim().is_empty() { lines.next()?.trim().trim_start_matches(['*', '#', '/', ' ']) } else { said };
    let said = said.trim().trim_end_matches("\"\"\"").trim_end_matches("'''").trim_end_matches("*/");
    let technical = ["shellcheck", "vim:", "copyright", "eslint", "spdx-license", "type:"];
    let lower = said.to_lowercase();
    if technical.iter().any(|word| lower.trim_start().starts_with(word)) { None } else { described(said) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_that_looks_at_no_options_is_not_asked_for_its_help() {
        let check = |text: &str, runtime, expected| assert_eq!(answers_help(text, runtime), expected, "{text}");
        check("import os\nos.remove('x')  # click here\n", Runtime::Python, false);
        check("import os, argparse\n", Runtime::Python, true);
        check("from click import command\n", Runtime::Python, true);
        check("import sys\nif '--help' in sys.argv: pass\n", Runtime::Python, true);
        check("const { program } = require('commander');\n", Runtime::Node, true);
        check("require('fs').rmSync('x')\n", Runtime::Node, false);
        check("#!/bin/sh\nrm -rf cache\n", Runtime::Process, false);
        check("#!/bin/sh\nwhile getopts n: o; do :; done\n", Runtime::Process, false);
        check("#!/bin/sh\ncase $1 in -h|--help) usage;; esac\n", Runtime::Process, true);
    }

    #[test]
    fn an_interpreter_of_a_script_s_own_is_told_from_those_of_the_system() {
        let check = |line: &str, expected: Option<&str>| {
            assert_eq!(own_interpreter(&format!("{line}\n")).as_deref(), expected.filter(|_| cfg!(unix)), "{line}")
        };
        check("#!/srv/v/bin/python", Some("/srv/v/bin/python"));
        check("#! /opt/node/bin/node --no-warnings", Some("/opt/node/bin/node"));
        for line in ["#!/usr/bin/env python3", "#!/usr/bin/python3", "#!/bin/sh", "#!/usr/local/bin/node", "#!", "x"] {
            check(line, None);
        }
    }

    #[test]
    fn a_script_says_of_itself_what_its_head_says() {
        let check = |text: &str, runtime, expected: Option<&str>| {
            assert_eq!(summary(text, runtime).as_deref(), expected, "{text}")
        };
        check("#!/usr/bin/env python3\n\"\"\"Keep notes.\n\nMore.\n\"\"\"\n", Runtime::Python, Some("Keep notes."));
        check("\"\"\"\nKeep notes.\n\"\"\"\n", Runtime::Python, Some("Keep notes."));
        check("#!/bin/sh\n# Tidy the cache.\n", Runtime::Process, Some("Tidy the cache."));
        check("#!/bin/sh\n# shellcheck disable=SC1091\n", Runtime::Process, None);
        check("// Lists things.\n", Runtime::Node, Some("Lists things."));
        check("import os\n", Runtime::Python, None);
    }

    #[test]
    fn an_entry_is_named_as_near_to_its_file_as_can_be() {
        assert_eq!(entry_name("My Notes"), "my-notes");
        assert_eq!(entry_name("_x_"), "x");
        assert_eq!(entry_name("größe"), "gr--e");
        assert_eq!(entry_name("!"), "tool");
        assert_eq!(entry_name(&"a".repeat(100)).len(), 64);
    }

    #[test]
    fn what_a_script_loads_from_its_folder_comes_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("main.py", "import os\nfrom one import x\nimport pack\n");
        write("one.py", "import two, main\n");
        write("two.py", "");
        write("three.py", "");
        std::fs::create_dir(folder.path().join("pack")).unwrap();
        let path = folder.path().join("main.py");
        let text = std::fs::read_to_string(&path).unwrap();
        let (files, notes) = with_siblings(&path, "main.py", &text, Runtime::Python);
        let names: Vec<&str> = files.iter().map(|(_, name)| name.as_str()).collect();
        assert_eq!(names, ["main.py", "one.py", "two.py"]);
        assert_eq!(notes, [LeftOut::new("pack/", UNCOPIED)]);
    }
}
