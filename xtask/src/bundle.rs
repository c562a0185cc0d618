//! The bundle of one platform for MCP clients that install servers (`.mcpb`: a zip with a manifest and the binary).
//!
//! Owns the bundle's form and that the same binary makes the same bytes, since `server.json` carries their sha256. What the
//! manifest says of the tools is what the binary itself says. Start at [`run`].

use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use serde_json::{Value, json};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use crate::step::{binary, root, say, target};

/// The platforms of a bundle, in the order of their names: as its file is named, and as its manifest calls the operating system.
pub(crate) const PLATFORMS: [(&str, &str); 5] = [
    ("darwin-arm64", "darwin"),
    ("darwin-x64", "darwin"),
    ("linux-arm64", "linux"),
    ("linux-x64", "linux"),
    ("win32-x64", "win32"),
];

/// What the server is, for whoever looks for one: at most 100 characters.
pub(crate) const DESCRIPTION: &str =
    "Read workbooks and draft messages, with a gate in code before what cannot be undone.";

/// Writes the bundle of a binary into a folder. `words` are `[--platform NAME] [--binary FILE] [--out DIR]`; without
/// them it is the release binary, for this machine, into `target/bundles`.
pub(crate) fn run(words: &[&str]) -> anyhow::Result<()> {
    let asked = Asked::of(words)?;
    let program = std::fs::read(&asked.binary)
        .with_context(|| format!("cannot read `{}`; build it with `cargo build --release`", asked.binary.display()))?;
    let tools = tools(&asked.binary)?;
    let licence = std::fs::read(root().join("LICENSE")).context("cannot read LICENSE")?;
    let bytes = bundle(asked.system, &program, &licence, &tools)?;
    std::fs::create_dir_all(&asked.out)?;
    let file = asked.out.join(file_name(asked.platform));
    std::fs::write(&file, &bytes).with_context(|| format!("cannot write `{}`", file.display()))?;
    say(&format!("── bundle: {} ({} bytes, {} tools)", file.display(), bytes.len(), tools.len()));
    Ok(())
}

/// `gatelatch-1.2.3-linux-x64.mcpb`
pub(crate) fn file_name(platform: &str) -> String {
    format!("gatelatch-{}-{platform}.mcpb", env!("CARGO_PKG_VERSION"))
}

struct Asked {
    platform: &'static str,
    system: &'static str,
    binary: PathBuf,
    out: PathBuf,
}

impl Asked {
    fn of(words: &[&str]) -> anyhow::Result<Asked> {
        let mut platform = this_platform();
        let (mut program, mut out) = (binary(), target().join("bundles"));
        let mut rest = words;
        while let [option, value, after @ ..] = rest {
            match *option {
                "--platform" => platform = (*value).to_owned(),
                "--binary" => program = PathBuf::from(value),
                "--out" => out = PathBuf::from(value),
                other => bail!("`{other}` is no option of `bundle`; it takes --platform, --binary and --out"),
            }
            rest = after;
        }
        if let [option] = rest {
            bail!("`{option}` is no option of `bundle` or lacks its value");
        }
        let known = PLATFORMS.iter().find(|(name, _)| *name == platform);
        let Some((platform, system)) = known else {
            let names: Vec<&str> = PLATFORMS.iter().map(|(name, _)| *name).collect();
            bail!("there is no bundle for `{platform}`; there is one for {}", names.join(", "));
        };
        Ok(Asked { platform, system, binary: program, out })
    }
}

fn this_platform() -> String {
    let system = match std::env::consts::OS {
        "macos" => "darwin",
        "windows" => "win32",
        other => other,
    };
    let machine = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("{system}-{machine}")
}

/// What the binary's chat server lists: each tool's name and description.
fn tools(binary: &Path) -> anyhow::Result<Vec<Value>> {
    #[expect(clippy::disallowed_methods, reason = "a task of the repository asks the repository's own binary")]
    let output = Command::new(binary).args(["chat", "--list"]).output();
    let output = output.with_context(|| format!("cannot start `{}`", binary.display()))?;
    if !output.status.success() {
        bail!("`{} chat --list` ended with {}", binary.display(), output.status);
    }
    let list: Value = serde_json::from_slice(&output.stdout).context("`chat --list` printed no JSON")?;
    let tools = list["tools"].as_array().context("`chat --list` printed no `tools`")?;
    Ok(tools.iter().map(|tool| json!({ "name": tool["name"], "description": tool["description"] })).collect())
}

fn manifest(system: &str, program: &str, tools: &[Value]) -> Value {
    json!({
        "manifest_version": "0.3",
        "name": "gatelatch",
        "display_name": "Gatelatch",
        "version": env!("CARGO_PKG_VERSION"),
        "description": DESCRIPTION,
        "author": { "name": "Gatelatch", "url": "https://github.com/gatelatch" },
        "repository": { "type": "git", "url": "https://github.com/gatelatch/gatelatch" },
        "documentation": "https://github.com/gatelatch/gatelatch/blob/main/docs/chat.md",
        "license": "Apache-2.0",
        "server": {
            "type": "binary",
            "entry_point": program,
            "mcp_config": { "command": format!("${{__dirname}}/{program}"), "args": ["chat"], "env": {} },
        },
        "tools": tools,
        "compatibility": { "platforms": [system] },
    })
}

/// The bundle's bytes. The time in it is always the same, so that the same content has the same sha256.
fn bundle(system: &str, program: &[u8], licence: &[u8], tools: &[Value]) -> anyhow::Result<Vec<u8>> {
    let name = if system == "win32" { "server/gatelatch.exe" } else { "server/gatelatch" };
    let manifest = format!("{}\n", serde_json::to_string_pretty(&manifest(system, name, tools))?);
    let plain = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644);
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let files = [
        ("manifest.json", manifest.as_bytes(), plain),
        ("LICENSE", licence, plain),
        (name, program, plain.unix_permissions(0o755)),
    ];
    for (name, content, options) in files {
        zip.start_file(name, options)?;
        zip.write_all(content)?;
    }
    Ok(zip.finish()?.into_inner())
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn made() -> Vec<u8> {
        bundle("linux", b"\x7fELF", b"licence", &[json!({ "name": "xlsx_search", "description": "Find." })]).unwrap()
    }

    #[test]
    fn a_bundle_holds_a_program_that_may_be_run_and_a_manifest_that_names_it() {
        let mut zip = zip::ZipArchive::new(Cursor::new(made())).unwrap();
        let names: Vec<String> = zip.file_names().map(|name| name.unwrap().into_owned()).collect();
        assert_eq!(names, ["manifest.json", "LICENSE", "server/gatelatch"]);
        let mut text = String::new();
        zip.by_name("manifest.json").unwrap().read_to_string(&mut text).unwrap();
        let manifest: Value = serde_json::from_str(&text).unwrap();
        let entry = manifest["server"]["entry_point"].as_str().unwrap();
        assert_eq!(manifest["server"]["mcp_config"]["command"], format!("${{__dirname}}/{entry}"));
        assert_eq!(manifest["tools"][0]["name"], "xlsx_search");
        let program = zip.by_name(entry).unwrap();
        assert_eq!(program.unix_mode().unwrap() & 0o777, 0o755);
    }

    #[test]
    fn the_same_content_makes_the_same_bytes() {
        assert_eq!(made(), made());
    }

    #[test]
    fn a_platform_that_is_not_built_is_refused_with_those_that_are() {
        let refused = Asked::of(&["--platform", "plan9-x64"]).err().unwrap().to_string();
        assert!(refused.contains("`plan9-x64`") && refused.contains("linux-x64"), "{refused}");
        assert!(Asked::of(&["--platform"]).is_err());
        assert!(Asked::of(&["--plattform", "linux-x64"]).is_err());
        assert_eq!(Asked::of(&["--platform", "win32-x64"]).unwrap().system, "win32");
    }
}
