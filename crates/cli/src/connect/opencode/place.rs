//! Where opencode's configurations are: the one to write, and all that it would merge here.
//!
//! Reads files and writes none. The order of the layers is opencode's own. Start at [`named`] and [`landscape`].

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::super::page::Page;
use super::super::place::{Target, is_there, project_root, repository, resolved};
use super::super::{ConnectError, ConnectRequest, Scope, Surroundings, jsonc, write};
use super::SUBSTITUTED;
use super::rules::{Content, Layer};

/// The configuration to write.
pub(super) fn named(request: &ConnectRequest, surroundings: &Surroundings) -> Result<PathBuf, ConnectError> {
    Ok(match &request.scope {
        Scope::Global => global_file(&config_folder(surroundings).ok_or(ConnectError::NoHome)?),
        Scope::Project => project_file(&surroundings.working_folder),
        Scope::File(path) => surroundings.working_folder.join(path),
    })
}

/// The instructions file, beside the configuration.
pub(super) fn instructions_path(target: &Target, request: &ConnectRequest) -> PathBuf {
    target.named.with_file_name(format!("opencode.{}.md", request.server))
}

/// How the configuration names that file. opencode looks for a relative name upward from where it runs, which finds a
/// project's file and no other.
pub(super) fn instructions_entry(page: &Page, request: &ConnectRequest) -> Result<String, ConnectError> {
    let name = page.path.file_name().map(Path::new).unwrap_or(&page.path);
    let entry = if request.scope == Scope::Project { name } else { &page.path };
    let text = entry.to_str().filter(|text| !SUBSTITUTED.iter().any(|mark| text.contains(mark)));
    text.map(str::to_owned).ok_or_else(|| ConnectError::Unwritable(entry.to_path_buf()))
}

/// All that opencode would merge when started in the working folder, with the target's text as it will be.
pub(super) fn landscape(surroundings: &Surroundings, target: &Target, text: &str) -> Vec<Layer> {
    let mut survey = Survey { target, text, found_target: false, after_global: 0, layers: Vec::new() };
    let config = config_folder(surroundings);
    if let Some(config) = &config {
        GLOBAL_FILES.iter().rev().for_each(|name| survey.config(&config.join(name)));
    }
    survey.after_global = survey.layers.len();
    if let Some(path) = surroundings.variable("OPENCODE_CONFIG") {
        survey.config(&surroundings.working_folder.join(path));
    }
    let with_project = !surroundings.variable("OPENCODE_DISABLE_PROJECT_CONFIG").is_some_and(is_truthy);
    let folders = if with_project { upward(&surroundings.working_folder) } else { Vec::new() };
    for folder in folders.iter().rev() {
        PROJECT_FILES.iter().rev().for_each(|name| survey.config(&folder.join(name)));
    }
    config.iter().for_each(|folder| survey.agents(folder));
    let home = surroundings.home();
    let dotted = folders.iter().chain(&home).map(|folder| folder.join(".opencode"));
    let named = surroundings.variable("OPENCODE_CONFIG_DIR").map(|path| surroundings.working_folder.join(path));
    let mut seen = Vec::new();
    for folder in dotted.chain(named) {
        if !seen.contains(&folder) {
            PROJECT_FILES.iter().rev().for_each(|name| survey.config(&folder.join(name)));
            survey.agents(&folder);
            seen.push(folder);
        }
    }
    if let Some(text) = surroundings.variable("OPENCODE_CONFIG_CONTENT") {
        survey.text("OPENCODE_CONFIG_CONTENT", text, Content::Config);
    }
    if let Some(folder) = managed_folder(surroundings) {
        PROJECT_FILES.iter().rev().for_each(|name| survey.config(&folder.join(name)));
    }
    if let Some(text) = surroundings.variable("OPENCODE_PERMISSION") {
        survey.text("OPENCODE_PERMISSION", text, Content::Permission);
    }
    survey.finish()
}

/// In order of preference; opencode merges them in the opposite one, so that the first one wins.
const GLOBAL_FILES: [&str; 3] = ["opencode.jsonc", "opencode.json", "config.json"];
const PROJECT_FILES: [&str; 2] = ["opencode.jsonc", "opencode.json"];

/// opencode follows the XDG rules on every platform.
fn config_folder(surroundings: &Surroundings) -> Option<PathBuf> {
    let configured = surroundings.variable("XDG_CONFIG_HOME").map(PathBuf::from);
    configured.or_else(|| surroundings.home().map(|home| home.join(".config"))).map(|folder| folder.join("opencode"))
}

/// What an administrator has set for the whole machine.
fn managed_folder(surroundings: &Surroundings) -> Option<PathBuf> {
    if cfg!(target_os = "macos") {
        Some(PathBuf::from("/Library/Application Support/opencode"))
    } else if cfg!(windows) {
        surroundings.variable("ProgramData").map(|folder| Path::new(folder).join("opencode"))
    } else {
        Some(PathBuf::from("/etc/opencode"))
    }
}

fn global_file(folder: &Path) -> PathBuf {
    let there = GLOBAL_FILES.iter().map(|name| folder.join(name)).find(|path| is_there(path));
    there.unwrap_or_else(|| folder.join(GLOBAL_FILES[0]))
}

/// The nearest project configuration, else one at the project's root.
fn project_file(working_folder: &Path) -> PathBuf {
    let mut candidates =
        upward(working_folder).into_iter().flat_map(|folder| PROJECT_FILES.map(|name| folder.join(name)));
    candidates.find(|path| is_there(path)).unwrap_or_else(|| project_root(working_folder).join("opencode.json"))
}

/// The folders in which opencode looks for project files, the innermost first: up to the repository's root, or without
/// a repository all the way.
fn upward(working_folder: &Path) -> Vec<PathBuf> {
    let root = repository(working_folder);
    let mut folders = Vec::new();
    for folder in working_folder.ancestors() {
        folders.push(folder.to_path_buf());
        if Some(folder) == root {
            break;
        }
    }
    folders
}

fn is_truthy(value: &str) -> bool {
    ["1", "true"].contains(&value.to_ascii_lowercase().as_str())
}

struct Survey<'a> {
    target: &'a Target,
    text: &'a str,
    found_target: bool,
    after_global: usize,
    layers: Vec<Layer>,
}

impl Survey<'_> {
    fn config(&mut self, path: &Path) {
        if *path == self.target.named || resolved(path).is_ok_and(|real| real == self.target.real) {
            self.found_target = true;
            let text = self.text;
            self.text(&path.display().to_string(), text, Content::Config);
        } else if is_there(path) {
            self.file(path, |survey, source, text| survey.text(source, text, Content::Config));
        }
    }

    fn agents(&mut self, folder: &Path) {
        for (kind, depth) in [("agent", MOST_FOLDERS), ("agents", MOST_FOLDERS), ("mode", 0), ("modes", 0)] {
            let root = folder.join(kind);
            for path in markdown_below(&root, depth) {
                let name = path.strip_prefix(&root).unwrap_or(&path).with_extension("");
                let name = name.to_string_lossy().replace('\\', "/");
                self.file(&path, |survey, source, text| {
                    let content = match front_matter(text) {
                        Some(Ok(front)) => Content::Agent { name, front },
                        Some(Err(why)) => Content::Unread(why),
                        None => return,
                    };
                    survey.layers.push(Layer { source: source.to_owned(), content });
                });
            }
        }
    }

    fn file(&mut self, path: &Path, then: impl FnOnce(&mut Self, &str, &str)) {
        let source = path.display().to_string();
        match resolved(path).and_then(|real| write::read(&real)) {
            Ok(Some(text)) => then(self, &source, &text),
            Ok(None) => {}
            Err(error) => self.layers.push(Layer { source, content: Content::Unread(error.to_string()) }),
        }
    }

    fn text(&mut self, source: &str, text: &str, content: fn(Value) -> Content) {
        let content = match jsonc::parse(text) {
            Ok(value) => content(value),
            Err(fault) => Content::Unread(format!("line {}, column {}: {}", fault.line, fault.column, fault.message)),
        };
        self.layers.push(Layer { source: source.to_owned(), content });
    }

    /// A file that opencode would not find here by itself stands where OPENCODE_CONFIG would put it.
    fn finish(mut self) -> Vec<Layer> {
        if !self.found_target {
            let rest = self.layers.split_off(self.after_global);
            let text = self.text;
            self.text(&self.target.named.display().to_string(), text, Content::Config);
            self.layers.extend(rest);
        }
        self.layers
    }
}

/// How deep agents are looked for.
const MOST_FOLDERS: usize = 8;

fn markdown_below(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    let mut found = Vec::new();
    for path in entries {
        if path.is_dir() {
            if depth > 0 {
                found.extend(markdown_below(&path, depth - 1));
            }
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
    found
}

/// The YAML between the two `---` lines, if there is any.
fn front_matter(text: &str) -> Option<Result<Value, String>> {
    let rest = text.trim_start_matches('\u{feff}').strip_prefix("---")?;
    let rest = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n'))?;
    let end = rest.match_indices("\n---").map(|(at, _)| at).next()?;
    let yaml = rest.get(..end)?;
    Some(serde_saphyr::from_str(yaml).map_err(|error| error.to_string().lines().next().unwrap_or_default().to_owned()))
}
