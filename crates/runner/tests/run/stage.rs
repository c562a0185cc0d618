//! A catalog of one entry on disk, a host to run it on, and the gate's yes.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use gatelatch_gate::approval::Approved;
use gatelatch_gate::call::Call;
use gatelatch_gate::decision::{AskedBy, Door, Policy, Verdict, decide};
use gatelatch_registry::arguments::Arguments;
use gatelatch_registry::catalog::{Catalog, Entry, Kind};
use gatelatch_registry::load::{Source, load};
use gatelatch_runner::host::Host;
use gatelatch_runner::runner::{Done, RunError, Runner};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// A runner and the one entry that it runs.
pub(crate) struct Stage {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) runner: Runner,
    pub(crate) entry: Arc<Entry>,
}

impl Stage {
    /// A tool `probe` whose program is that shell script. `manifest` is added to its manifest.
    pub(crate) fn shell(script: &str, manifest: &str) -> Stage {
        Stage::new(
            Kind::Tool,
            &format!("runtime: process\nentrypoint: main.sh\n{manifest}"),
            &[("main.sh", &format!("#!/bin/sh\n{script}\n"))],
            &[],
        )
    }

    /// An entry `probe` with that manifest (its name and description are added) and those files, all executable; the
    /// host's environment has these variables beside a PATH.
    pub(crate) fn new(kind: Kind, manifest: &str, files: &[(&str, &str)], environment: &[(&str, &str)]) -> Stage {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join(kind.folder()).join("probe");
        std::fs::create_dir_all(&own).unwrap();
        let manifest = format!("name: probe\ndescription: A probe.\n{manifest}\n");
        std::fs::write(own.join(kind.file()), manifest).unwrap();
        for (name, text) in files {
            std::fs::write(own.join(name), text).unwrap();
            std::fs::set_permissions(own.join(name), std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let loaded = load(&[Source::Folder(folder.path().to_owned())]);
        let found: Vec<String> = loaded.findings.iter().map(ToString::to_string).collect();
        let entry = loaded.catalog.entry(kind, "probe").unwrap_or_else(|| panic!("{found:#?}"));
        Stage { runner: Runner::new(host(folder.path(), environment)), entry: Arc::clone(entry), folder }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn call(&self, action: Option<&str>, args: &Value) -> Call {
        let index = self.entry.action_index(action).unwrap();
        let arguments = Arguments::parse(&self.entry.manifest.actions[index], args).unwrap();
        Call::new(Arc::clone(&self.entry), index, arguments).unwrap()
    }

    pub(crate) fn approved(&self, action: Option<&str>, args: &Value) -> Approved<Call> {
        approved(self.call(action, args))
    }

    /// Runs an action without steps and without being cancelled.
    pub(crate) async fn run(&self, action: Option<&str>, args: &Value) -> Result<Done, RunError> {
        self.runner.run(self.approved(action, args), CancellationToken::new(), None, None).await
    }

    /// Runs the nameless action without arguments.
    pub(crate) async fn run_bare(&self) -> Result<Done, RunError> {
        self.run(None, &serde_json::json!({})).await
    }
}

pub(crate) fn host(folder: &Path, environment: &[(&str, &str)]) -> Host {
    let mut all: BTreeMap<String, String> = BTreeMap::from([
        ("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned()),
        ("HERE".to_owned(), folder.display().to_string()),
    ]);
    all.extend(environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    Host {
        environment: all,
        working_folder: folder.to_owned(),
        cache_folder: folder.join("cache"),
        own_program: folder.join("gatelatch"),
    }
}

pub(crate) fn approved(call: Call) -> Approved<Call> {
    let policy = Policy { asked_by: AskedBy::Client, deny_irreversible: false };
    match decide(&Catalog::default(), &policy, Door::Confirmed, call) {
        Verdict::Run(approved) => approved,
        other => panic!("the confirmed door refused: {other:?}"),
    }
}
