//! `server.json` at the root: what the MCP Registry and its readers are told.
//!
//! Owns which facts it has and where each comes from: the version from the workspace, the contract from the lock file, a
//! bundle's sha256 from the bundle. Its form and the registry's rules are the contract crate's. Start at [`run`].

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use gatelatch_contract::lock::Lock;
use gatelatch_contract::server_json::release::{ReleaseError, follows};
use gatelatch_contract::server_json::{
    Argument, CargoPackage, McpbPackage, Package, PackageTransport, Repository, RepositorySource, ServerJson,
};
use sha2::{Digest, Sha256};

use crate::bundle;
use crate::step::{root, say};

/// The server's name in the registry; the crate's README shows it.
pub(crate) const NAME: &str = "io.github.gatelatch/gatelatch";
/// The crate that has the binary.
const CRATE: &str = "gatelatch-cli";
const SOURCE: &str = "https://github.com/gatelatch/gatelatch";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Writes the file, or compares it. `words` are `[--check] [--bundles DIR]`; with bundles, one of every platform must be
/// there, and the file names them all.
pub(crate) fn run(words: &[&str]) -> anyhow::Result<()> {
    let asked = Asked::of(words)?;
    let bundles = asked.bundles.as_deref().map_or_else(|| Ok(Vec::new()), packages)?;
    if asked.check {
        after_the_last(&tags())?;
    }
    let text = made(&lock(&lock_file())?, bundles)?;
    let file = file();
    let is_there = std::fs::read_to_string(&file).is_ok_and(|there| there == text);
    match (is_there, asked.check) {
        (true, _) => {}
        (false, true) => bail!("server.json is not what would be written; run `cargo xtask export-server-json`"),
        (false, false) => {
            gatelatch_contract::file::write_whole(&file, &text)?;
            say("wrote server.json");
        }
    }
    Ok(())
}

/// The versions that were released: the tags of the repository, as far as they are here.
fn tags() -> Vec<String> {
    #[expect(clippy::disallowed_methods, reason = "a task of the repository asks for its tags")]
    let listed = Command::new("git").args(["tag", "--list", "v*"]).current_dir(root()).output();
    match listed {
        Ok(listed) if listed.status.success() => {
            String::from_utf8_lossy(&listed.stdout).lines().map(str::to_owned).collect()
        }
        Ok(_) | Err(_) => {
            say("skipped: the version against those that were released, since git knows no tags here");
            Vec::new()
        }
    }
}

/// The registry shows the version that sorts last: this one must sort after every one that was released. Of itself
/// nothing is said, since its own tag is there while it is released.
fn after_the_last(tags: &[String]) -> anyhow::Result<()> {
    let released = tags.iter().filter_map(|tag| tag.strip_prefix('v')).filter(|version| *version != VERSION);
    for version in released {
        match follows(version, VERSION) {
            Ok(()) => {}
            // A tag that names no version is no release.
            Err(ReleaseError::Malformed(_)) => {}
            Err(error @ ReleaseError::NotAfter { .. }) => {
                bail!("{error}\n  help: `v{version}` is released; set a greater `version` in Cargo.toml")
            }
        }
    }
    Ok(())
}

/// The file at the root.
pub(crate) fn file() -> PathBuf {
    root().join("server.json")
}

/// The lock file of the declaration that ships.
pub(crate) fn lock_file() -> PathBuf {
    root().join("surfaces/chat/chat_surface.lock.json")
}

/// Reads a lock file.
pub(crate) fn lock(path: &Path) -> anyhow::Result<Lock> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    Lock::parse(&text).with_context(|| format!("cannot use `{}`", path.display()))
}

/// The text of the file for a contract and these bundles.
pub(crate) fn made(lock: &Lock, bundles: Vec<McpbPackage>) -> anyhow::Result<String> {
    let mut file = ServerJson::new(NAME, bundle::DESCRIPTION, VERSION);
    file.title = Some("Gatelatch".to_owned());
    file.repository =
        Some(Repository { url: SOURCE.to_owned(), source: RepositorySource::Github, id: None, subfolder: None });
    file.packages.push(Package::Cargo(CargoPackage {
        identifier: CRATE.to_owned(),
        version: VERSION.to_owned(),
        transport: PackageTransport::Stdio {},
        package_arguments: vec![Argument::Positional {
            value: Some("chat".to_owned()),
            value_hint: None,
            description: None,
        }],
        environment_variables: Vec::new(),
    }));
    file.packages.extend(bundles.into_iter().map(Package::Mcpb));
    let file = file.with_contract(&lock.surface_version, &lock.tools);
    let breaches: Vec<String> = file.check().iter().map(ToString::to_string).collect();
    if !breaches.is_empty() {
        bail!("the registry would not take this server.json:\n  {}", breaches.join("\n  "));
    }
    Ok(file.to_text())
}

#[derive(Debug, Default)]
struct Asked {
    check: bool,
    bundles: Option<PathBuf>,
}

impl Asked {
    fn of(words: &[&str]) -> anyhow::Result<Asked> {
        let mut asked = Asked::default();
        let mut rest = words;
        loop {
            rest = match rest {
                [] => return Ok(asked),
                ["--check", after @ ..] => {
                    asked.check = true;
                    after
                }
                ["--bundles", folder, after @ ..] => {
                    asked.bundles = Some(PathBuf::from(folder));
                    after
                }
                [other, ..] => bail!("`{other}` is no option of `export-server-json`, or lacks its value"),
            };
        }
    }
}

/// The bundles of a release: one of every platform, and no other.
fn packages(folder: &Path) -> anyhow::Result<Vec<McpbPackage>> {
    let files: Vec<String> = bundle::PLATFORMS.iter().map(|(platform, _)| bundle::file_name(platform)).collect();
    let missing: Vec<&str> = files.iter().map(String::as_str).filter(|file| !folder.join(file).is_file()).collect();
    if !missing.is_empty() {
        bail!("`{}` lacks {}; each is made by `cargo xtask bundle`", folder.display(), missing.join(", "));
    }
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".mcpb") && !files.contains(&name) {
            bail!("`{}` has `{name}`, which is no bundle of version {VERSION}; take it away", folder.display());
        }
    }
    files.iter().map(|file| package(folder, file)).collect()
}

fn package(folder: &Path, file: &str) -> anyhow::Result<McpbPackage> {
    let bytes = std::fs::read(folder.join(file)).with_context(|| format!("cannot read `{file}`"))?;
    Ok(McpbPackage {
        identifier: format!("{SOURCE}/releases/download/v{VERSION}/{file}"),
        version: VERSION.to_owned(),
        file_sha256: Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect(),
        transport: PackageTransport::Stdio {},
        // What the program is started with, the bundle's own manifest says.
        package_arguments: Vec::new(),
        environment_variables: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use gatelatch_contract::server_json::release::readme_shows_name;
    use serde_json::Value;

    use super::*;

    /// A folder with a bundle of every platform; what is in one does not matter here.
    fn bundles() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (platform, _) in bundle::PLATFORMS {
            std::fs::write(folder.path().join(bundle::file_name(platform)), platform).unwrap();
        }
        folder
    }

    #[test]
    fn a_released_file_names_a_bundle_of_every_platform_with_its_sha256() {
        let text = made(&lock(&lock_file()).unwrap(), packages(bundles().path()).unwrap()).unwrap();
        let file: Value = serde_json::from_str(&text).unwrap();
        let bundles = &file["packages"].as_array().unwrap()[1..];
        assert_eq!(bundles.len(), bundle::PLATFORMS.len());
        assert_eq!(
            bundles[0]["identifier"],
            format!("{SOURCE}/releases/download/v{VERSION}/gatelatch-{VERSION}-darwin-arm64.mcpb")
        );
        // printf darwin-arm64 | sha256sum
        assert_eq!(bundles[0]["fileSha256"], "1a349b12b50ad5b43740e0952adc33c7805ce06f091074be977624d09ed9d432");
    }

    #[test]
    fn a_bundle_too_few_or_of_another_version_is_refused_by_name() {
        let folder = bundles();
        std::fs::write(folder.path().join("gatelatch-9.9.9-linux-x64.mcpb"), "").unwrap();
        let error = packages(folder.path()).unwrap_err().to_string();
        assert!(error.contains("gatelatch-9.9.9-linux-x64.mcpb"), "{error}");
        std::fs::remove_file(folder.path().join(bundle::file_name("linux-x64"))).unwrap();
        let error = packages(folder.path()).unwrap_err().to_string();
        assert!(error.contains(&bundle::file_name("linux-x64")), "{error}");
    }

    #[test]
    fn with_and_without_bundles_the_file_satisfies_the_registrys_own_schema() {
        let schema = root().join("../shared/data/registry/server.schema.json");
        let Ok(schema) = std::fs::read_to_string(&schema) else {
            say(&format!("skipped: the registry's schema is not at `{}`", schema.display()));
            return;
        };
        let schema: Value = serde_json::from_str(&schema).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        for bundles in [Vec::new(), packages(bundles().path()).unwrap()] {
            let file: Value = serde_json::from_str(&made(&lock(&lock_file()).unwrap(), bundles).unwrap()).unwrap();
            let faults: Vec<String> = validator.iter_errors(&file).map(|fault| fault.to_string()).collect();
            assert_eq!(faults, Vec::<String>::new());
        }
    }

    #[test]
    fn the_crates_readme_shows_the_name_where_the_registry_looks_for_it() {
        let metadata = cargo_metadata::MetadataCommand::new().no_deps().current_dir(root()).exec().unwrap();
        let package = metadata.packages.iter().find(|package| package.name.as_str() == CRATE).unwrap();
        assert!(package.targets.iter().any(|target| target.is_bin() && target.name == "gatelatch"));
        let readme = package.readme().expect("the crate has a README");
        assert!(readme_shows_name(&std::fs::read_to_string(readme).unwrap(), NAME));
    }

    #[test]
    fn a_version_that_does_not_sort_after_all_that_were_released_is_refused() {
        let after = |tags: &[&str]| after_the_last(&tags.iter().map(|tag| (*tag).to_owned()).collect::<Vec<_>>());
        after(&["v0.0.1", "v0.0.9", "very-old", &format!("v{VERSION}")]).unwrap();
        let error = after(&["v0.0.1", "v999.0.0"]).unwrap_err().to_string();
        assert!(error.contains(&format!("version `{VERSION}` does not sort after `999.0.0`")), "{error}");
        assert!(error.contains("Cargo.toml"), "{error}");
        after_the_last(&tags()).unwrap();
    }

    #[test]
    fn an_option_that_means_nothing_is_refused() {
        assert!(Asked::of(&["--chek"]).is_err());
        assert!(Asked::of(&["--bundles"]).is_err());
        let asked = Asked::of(&["--bundles", "files", "--check"]).unwrap();
        assert!(asked.check && asked.bundles.as_deref() == Some(Path::new("files")));
    }
}
