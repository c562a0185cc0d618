//! `cargo xtask verify-surface`: declaration, catalog, lock file, `server.json` and the built server say the same.
//!
//! Owns which two of them are held against each other, and that a fault names the tool and the way out. What each says is
//! read by the crates that own it. Start at [`run`].

mod merging;
mod wall;

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use gatelatch_chat::link::{Declaration, link};
use gatelatch_chat::published;
use gatelatch_contract::client::{ClientError, ClientLimits, Eras, LONGEST_LINE, Received, Transport, receive};
use gatelatch_contract::diff::diff;
use gatelatch_contract::list::ToolList;
use gatelatch_contract::lock::Lock;
use gatelatch_contract::published::Published;
use gatelatch_contract::verify::{Verdict, difference, judge};
use gatelatch_contract::version::SurfaceVersion;
use gatelatch_manifest::diagnostic::Severity;
use gatelatch_manifest::read::{self, Read};
use gatelatch_manifest::surface::SurfaceManifest;
use gatelatch_protocol::era::Era;
use gatelatch_registry::load::{Source, load};
use gatelatch_spawn::child::Launch;

use crate::server_json;
use crate::step::{binary, root, say};

/// Checks the repository and the release binary.
pub(crate) fn run() -> anyhow::Result<()> {
    let program = binary();
    if !program.is_file() {
        bail!("`{}` is not there; build it with `cargo build --release`", program.display());
    }
    let files = Files::of_repository();
    let mut faults = wall::faults()?;
    faults.extend(on_paper(&files)?);
    // As whoever installs it starts it: in a folder where nothing is set.
    faults.extend(on_the_wire(&files, &program, &["chat"])?);
    if faults.is_empty() {
        say("── surface: declaration, catalog, lock file, server.json and the server agree");
        return Ok(());
    }
    let told: Vec<String> = faults.iter().map(ToString::to_string).collect();
    bail!("the chat surface does not hold\n{}", told.join("\n"))
}

/// What is held against each other.
struct Files {
    declaration: PathBuf,
    catalog: PathBuf,
    lock: PathBuf,
    server_json: PathBuf,
}

impl Files {
    fn of_repository() -> Files {
        Files {
            declaration: root().join("surfaces/chat/chat_surface.yaml"),
            catalog: root().join("manifests"),
            lock: server_json::lock_file(),
            server_json: server_json::file(),
        }
    }
}

/// Something that does not hold.
#[derive(Debug)]
struct Fault {
    what: String,
    help: String,
}

impl Fault {
    fn new(what: impl Into<String>, help: impl Into<String>) -> Fault {
        Fault { what: what.into(), help: help.into() }
    }

    /// The same fault of something, told for one tool.
    fn of_tool(tool: &str, what: impl fmt::Display, help: impl Into<String>) -> Fault {
        Fault::new(format!("tool `{tool}`: {what}"), help)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "  {}\n    help: {}", self.what, self.help)
    }
}

/// What can be told without a server.
fn on_paper(files: &Files) -> anyhow::Result<Vec<Fault>> {
    let bytes =
        std::fs::read(&files.declaration).with_context(|| format!("cannot read `{}`", files.declaration.display()))?;
    let name = files.declaration.display().to_string();
    let Read { document, findings } = read::surface(&name, &bytes);
    let Some(surface) = document else {
        return Ok(findings.iter().map(|finding| Fault::new(finding.to_string(), "mend the declaration")).collect());
    };
    let tools = ToolList::of_published(&published::tools(&surface))?;
    let lock = server_json::lock(&files.lock)?;
    let mut faults = against_catalog(&surface, &name, &bytes, &files.catalog);
    faults.extend(against_lock(&surface, &tools, &lock)?);
    faults.extend(against_server_json(&lock, &files.server_json)?);
    faults.extend(hints(&tools));
    faults.extend(merging::faults(&surface));
    Ok(faults)
}

/// An action that went, an argument that is another one, an effect that grew.
fn against_catalog(surface: &SurfaceManifest, name: &str, bytes: &[u8], catalog: &Path) -> Vec<Fault> {
    let loaded = load(&[Source::Folder(catalog.to_owned())]);
    let text = String::from_utf8_lossy(bytes);
    let linked = link(&Declaration { file: name, text: &text, manifest: surface }, &loaded.catalog, &[]);
    let errors = linked.findings.iter().filter(|finding| finding.severity == Severity::Error);
    let mut faults: Vec<Fault> = errors
        .map(|finding| {
            Fault::new(finding.to_string(), "mend the declaration or the manifest; `gatelatch check` tells both")
        })
        .collect();
    let left_out = linked.left_out.iter();
    faults.extend(left_out.map(|tool| {
        Fault::of_tool(tool, "the server leaves it out, since the catalog does not agree", "see the findings above")
    }));
    faults
}

/// A change that is not locked, or not with the version that it needs.
fn against_lock(surface: &SurfaceManifest, tools: &ToolList, lock: &Lock) -> anyhow::Result<Vec<Fault>> {
    const LOCK: &str = "`gatelatch --catalog manifests contract lock --surface surfaces/chat/chat_surface.yaml`";
    let version = SurfaceVersion::parse(&surface.surface_version)?;
    let changes = diff(&lock.tools, tools);
    let help = match changes.level().map(|level| lock.surface_version.least_after(level)) {
        Some(least) if version < least => format!("take it back, or set `surface_version: {least}` and run {LOCK}"),
        Some(_) | None => format!("run {LOCK}"),
    };
    if changes.is_empty() && version != lock.surface_version {
        let what = format!("the declaration says version {version} and its lock file {}", lock.surface_version);
        return Ok(vec![Fault::new(what, help)]);
    }
    let told = changes.changes().iter();
    Ok(told.map(|change| Fault::new(format!("{change}; that is not in the lock file"), help.clone())).collect())
}

fn against_server_json(lock: &Lock, path: &Path) -> anyhow::Result<Vec<Fault>> {
    const HELP: &str = "run `cargo xtask export-server-json`";
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let published = match Published::of_server_json(&text) {
        Ok(published) => published,
        Err(error) => {
            let source = std::error::Error::source(&error).map(|source| format!(": {source}")).unwrap_or_default();
            return Ok(vec![Fault::new(format!("{error}{source}"), HELP)]);
        }
    };
    let mut faults: Vec<Fault> = difference(&published, &lock.tools)
        .map(|difference| difference.lines())
        .unwrap_or_default()
        .into_iter()
        .map(|line| Fault::new(format!("server.json against the lock file: {line}"), HELP))
        .collect();
    if published.surface_version != Some(lock.surface_version.to_string()) {
        let written = published.surface_version.unwrap_or_default();
        let what = format!("server.json says surface version {written} and the lock file {}", lock.surface_version);
        faults.push(Fault::new(what, HELP));
    }
    if faults.is_empty() && text != server_json::made(lock, Vec::new())? {
        faults.push(Fault::new("server.json is not what would be written", HELP));
    }
    Ok(faults)
}

/// What changes nothing can be undone.
fn hints(tools: &ToolList) -> Vec<Fault> {
    let says = |tool: &gatelatch_contract::list::Tool, hint: &str| {
        tool.definition().get("annotations").and_then(|hints| hints.get(hint)?.as_bool())
    };
    let wrong = tools
        .tools()
        .iter()
        .filter(|tool| says(tool, "readOnlyHint") == Some(true) && says(tool, "destructiveHint") != Some(false));
    wrong
        .map(|tool| {
            let help = "what is read-only is never destructive; say `reversible: true`, or `read_only: false`";
            Fault::of_tool(tool.name(), "it says that it is read-only and does not say that it is reversible", help)
        })
        .collect()
}

/// What a server sends to a client in either era, against the lock file and `server.json`.
fn on_the_wire(files: &Files, program: &Path, args: &[&str]) -> anyhow::Result<Vec<Fault>> {
    let lock = server_json::lock(&files.lock)?;
    let text = std::fs::read_to_string(&files.server_json)
        .with_context(|| format!("cannot read `{}`", files.server_json.display()))?;
    let published = Published::of_server_json(&text)?;
    let mut faults = Vec::new();
    for (era, word) in [(Era::Legacy, "legacy"), (Era::Modern, "modern")] {
        match received(program, args, era) {
            Ok(received) => faults.extend(of_received(&received, word, &lock, &published)),
            Err(error) => faults.push(Fault::new(
                format!("no list was received in the {word} era: {}", told(&error)),
                format!("`{} {}` shows what it says", program.display(), args.join(" ")),
            )),
        }
    }
    Ok(faults)
}

fn of_received(received: &Received, era: &str, lock: &Lock, published: &Published) -> Vec<Fault> {
    const HELP: &str =
        "build the binary anew if the declaration changed since; `gatelatch check` tells why a tool is left out";
    let lines = match judge(&Published::of_lock(lock.clone()), received) {
        Verdict::Equal => Vec::new(),
        Verdict::Differs(difference) => difference.lines(),
        Verdict::PartialView { visible, published } => vec![format!("it sends {visible} of {published} tools")],
    };
    let mut faults: Vec<Fault> = lines
        .into_iter()
        .map(|line| Fault::new(format!("what the server sends in the {era} era is not what is locked: {line}"), HELP))
        .collect();
    if let (true, Some(difference)) = (faults.is_empty(), difference(published, &received.tools)) {
        let what = format!("what the server sends in the {era} era is not what server.json says");
        let lines = difference.lines().into_iter();
        faults.extend(lines.map(|line| Fault::new(format!("{what}: {line}"), "run `cargo xtask export-server-json`")));
    }
    if received.era == Era::Modern && received.reported_digest.as_deref() != Some(lock.tools.digest()) {
        let reported = received.reported_digest.as_deref().unwrap_or("none");
        let what = format!("the server reports the digest {reported} and {} is locked", lock.tools.digest());
        faults.push(Fault::new(what, HELP));
    }
    faults.extend(hints(&received.tools));
    faults
}

fn received(program: &Path, args: &[&str], era: Era) -> anyhow::Result<Received> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().as_os_str().to_owned();
    let launch = Launch {
        program: program.to_owned(),
        args: args.iter().map(Into::into).collect(),
        env: vec![("HOME".into(), home.clone()), ("GATELATCH_CACHE".into(), home)],
        cwd: folder.path().to_owned(),
        timeout: Duration::from_secs(60),
        max_stdout_bytes: LONGEST_LINE,
        stderr_tail_bytes: 4_096,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(runtime.block_on(receive(&Transport::Stdio(launch), &ClientLimits::default(), Eras::Only(era)))?)
}

/// An error with its causes, and what the server said last.
fn told(error: &anyhow::Error) -> String {
    match error.downcast_ref() {
        Some(ClientError::Silent { stderr_tail, .. }) if !stderr_tail.trim().is_empty() => {
            format!("{error:#}; it said: {}", stderr_tail.trim())
        }
        _ => format!("{error:#}"),
    }
}

#[cfg(test)]
mod tests {
    use crate::step::in_root;

    use super::*;

    /// A copy of all that is held against each other, in which one thing can be changed.
    struct Copy {
        folder: tempfile::TempDir,
        files: Files,
    }

    impl Copy {
        fn of_repository() -> Copy {
            let folder = tempfile::tempdir().unwrap();
            let (from, at) = (Files::of_repository(), |name: &str| folder.path().join(name));
            let files = Files {
                declaration: at("chat_surface.yaml"),
                catalog: at("catalog"),
                lock: at("chat_surface.lock.json"),
                server_json: at("server.json"),
            };
            copy(&from.declaration, &files.declaration);
            copy(&from.catalog, &files.catalog);
            copy(&from.lock, &files.lock);
            copy(&from.server_json, &files.server_json);
            Copy { folder, files }
        }

        /// Replaces a text that must be in a file of the copy.
        fn change(&self, file: &str, old: &str, new: &str) {
            let path = self.folder.path().join(file);
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(text.contains(old), "{file} has no `{old}`");
            std::fs::write(path, text.replacen(old, new, 1)).unwrap();
        }

        fn told(&self) -> Vec<String> {
            on_paper(&self.files).unwrap().iter().map(ToString::to_string).collect()
        }

        fn told_of(&self, program: &Path) -> Vec<String> {
            let declaration = self.files.declaration.to_str().unwrap();
            let faults = on_the_wire(&self.files, program, &["chat", "--surface", declaration]).unwrap();
            faults.iter().map(ToString::to_string).collect()
        }
    }

    fn copy(from: &Path, to: &Path) {
        if from.is_dir() {
            std::fs::create_dir_all(to).unwrap();
            for entry in std::fs::read_dir(from).unwrap() {
                let entry = entry.unwrap();
                copy(&entry.path(), &to.join(entry.file_name()));
            }
        } else {
            std::fs::copy(from, to).unwrap();
        }
    }

    /// The binary as this test's own build makes it.
    fn program() -> PathBuf {
        let mut cargo = in_root(env!("CARGO"));
        let built = cargo.args(["build", "--quiet", "--locked", "--bin", "gatelatch"]).status();
        assert!(built.unwrap().success());
        let tests = std::env::current_exe().unwrap();
        let program = tests.parent().unwrap().parent().unwrap().join("gatelatch");
        program.with_extension(std::env::consts::EXE_EXTENSION)
    }

    /// Every fault names its way out, and one of them the tool.
    fn names(told: &[String], tool: &str) {
        assert!(told.iter().any(|fault| fault.contains(&format!("tool `{tool}`"))), "{tool}: {told:#?}");
        assert!(told.iter().all(|fault| fault.contains("\n    help: ")), "{told:#?}");
    }

    #[test]
    fn the_repository_agrees_with_itself() {
        let faults: Vec<String> = on_paper(&Files::of_repository()).unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(faults, Vec::<String>::new());
    }

    /// Changes one tool's part of a declaration's text.
    type Change = fn(&str) -> String;

    /// Changes that a client would see, of the tool `xlsx_search` each.
    const CHANGES: [(&str, Change); 5] = [
        ("description", |tool| tool.replacen("description: ", "description: Quickly. ", 1)),
        ("annotation", |tool| tool.replacen("idempotent: true", "idempotent: false", 1)),
        ("schema", |tool| tool.replacen("type: integer}", "type: integer, minimum: 0}", 1)),
        ("name", |tool| tool.replacen("xlsx_search", "xlsx_find", 1)),
        ("order", |_| String::new()),
    ];

    /// A copy whose declaration has this change and whose lock file has not.
    fn changed(what: &str, change: Change) -> Copy {
        const HEAD: &str = "\n  - name: ";
        let copy = Copy::of_repository();
        let text = std::fs::read_to_string(&copy.files.declaration).unwrap();
        let mut parts: Vec<String> = text.split(HEAD).map(str::to_owned).collect();
        let at = parts.iter().position(|part| part.starts_with("xlsx_search\n")).unwrap();
        if what == "order" {
            let part = parts.remove(at);
            parts.push(part);
        } else {
            let part = change(&parts[at]);
            assert_ne!(part, parts[at], "{what}");
            parts[at] = part;
        }
        std::fs::write(&copy.files.declaration, parts.join(HEAD)).unwrap();
        copy
    }

    #[test]
    fn a_change_without_a_lock_update_is_told_with_its_tool_and_the_way_out() {
        for (what, change) in CHANGES {
            let told = changed(what, change).told();
            names(&told, "xlsx_search");
            assert!(told.iter().any(|fault| fault.contains("set `surface_version: ")), "{what}: {told:#?}");
        }
    }

    #[test]
    fn a_change_is_told_of_what_the_server_really_sends_too_in_both_eras() {
        let program = program();
        assert_eq!(Copy::of_repository().told_of(&program), Vec::<String>::new());
        for (what, change) in CHANGES {
            let told = changed(what, change).told_of(&program);
            names(&told, "xlsx_search");
            for era in ["legacy", "modern"] {
                let told = told.iter().any(|fault| fault.contains(&format!("in the {era} era")));
                assert!(told, "{what}");
            }
            let digest = told.iter().any(|fault| fault.contains("the server reports the digest"));
            assert!(digest, "{what}: {told:#?}");
        }
    }

    #[test]
    fn a_server_that_sends_no_list_is_told_with_what_it_said() {
        let copy = Copy::of_repository();
        copy.change("chat_surface.yaml", "tools:", "toolz:");
        let told = copy.told_of(&program());
        assert!(told.len() == 2 && told[0].contains("toolz"), "{told:#?}");
        assert!(copy.told()[0].contains("toolz"));
    }

    #[test]
    fn a_version_that_moved_alone_is_told() {
        let copy = Copy::of_repository();
        let version = server_json::lock(&copy.files.lock).unwrap().surface_version.to_string();
        copy.change("chat_surface.yaml", &format!("surface_version: {version}"), "surface_version: 9.0.0");
        let told = copy.told();
        assert!(told.len() == 1 && told[0].contains("version 9.0.0"), "{told:#?}");
        assert!(told[0].contains("help: run `gatelatch --catalog manifests contract lock"), "{told:#?}");
    }

    #[test]
    fn an_action_that_went_is_told_with_the_tool_that_maps_to_it() {
        let copy = Copy::of_repository();
        copy.change("catalog/tools/xlsx/tool.yaml", "- name: search", "- name: seek");
        names(&copy.told(), "xlsx_search");
    }

    #[test]
    fn a_server_json_of_another_list_version_or_text_is_told() {
        let lock = || server_json::lock(&Files::of_repository().lock).unwrap();
        let digest = lock().tools.tool("xlsx_search").unwrap().digest().get(..16).unwrap().to_owned();
        let whole = lock().tools.digest().to_owned();
        let copy = Copy::of_repository();
        copy.change("server.json", &digest, "0123456789abcdef");
        copy.change("server.json", &whole, &"0".repeat(64));
        names(&copy.told(), "xlsx_search");
        let version = format!("surfaceVersion\": \"{}\"", lock().surface_version);
        for (old, new) in [(version.as_str(), "surfaceVersion\": \"9.0.0\""), ("\"title\": \"", "\"title\": \"The ")] {
            let copy = Copy::of_repository();
            copy.change("server.json", old, new);
            let told = copy.told();
            assert!(told.len() == 1 && told[0].contains("export-server-json"), "{told:#?}");
        }
    }

    #[test]
    fn what_says_that_it_is_read_only_and_destructive_is_told() {
        let array = serde_json::json!([
            {"name": "a", "annotations": {"readOnlyHint": true, "destructiveHint": false}},
            {"name": "b", "annotations": {"readOnlyHint": true, "destructiveHint": true}},
            {"name": "c", "annotations": {"readOnlyHint": true}},
            {"name": "d", "annotations": {"readOnlyHint": false, "destructiveHint": true}},
        ]);
        let told: Vec<String> = hints(&ToolList::of_array(&array).unwrap()).iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 2);
        names(&told, "b");
        names(&told, "c");
    }
}
