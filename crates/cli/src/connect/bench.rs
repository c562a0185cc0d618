//! A home, a project within it and real files, for the tests of all clients.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use proptest::prelude::*;

use super::{Client, ConnectError, ConnectRequest, Plan, Scope, Server, Surroundings, apply, plan, plan_undo};

pub(super) const PROGRAM: &str = if cfg!(windows) { "C:\\opt\\gatelatch" } else { "/opt/gatelatch" };

/// A home, a project within it, and what to connect.
pub(super) struct Bench {
    folder: tempfile::TempDir,
    pub(super) surroundings: Surroundings,
    pub(super) request: ConnectRequest,
}

impl Bench {
    pub(super) fn new(client: Client, scope: Scope) -> Bench {
        let folder = tempfile::tempdir().unwrap();
        // Resolved, so that expected paths can be compared on systems whose temporary folder is a link.
        let root = fs::canonicalize(folder.path()).unwrap();
        fs::create_dir_all(root.join("home/.config/opencode")).unwrap();
        fs::create_dir_all(root.join("project/.git")).unwrap();
        fs::create_dir_all(root.join("project/sub")).unwrap();
        let environment = BTreeMap::from([("HOME".to_owned(), root.join("home").display().to_string())]);
        let surroundings =
            Surroundings { environment, working_folder: root.join("project/sub"), state_folder: root.join("state") };
        let request = ConnectRequest {
            client,
            scope,
            kind: Server::Operator,
            server: "gatelatch".to_owned(),
            program: PathBuf::from(PROGRAM),
            catalogs: Vec::new(),
            longest_call: Duration::from_secs(120),
        };
        Bench { folder, surroundings, request }
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        fs::canonicalize(self.folder.path()).unwrap().join(path)
    }

    pub(super) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(super) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    pub(super) fn plan(&self) -> Plan {
        plan(&self.request, &self.surroundings).unwrap()
    }

    pub(super) fn refusal(&self) -> ConnectError {
        plan(&self.request, &self.surroundings).unwrap_err()
    }

    pub(super) fn connect(&self) -> Plan {
        let plan = self.plan();
        apply(&plan).unwrap();
        plan
    }

    pub(super) fn disconnect(&self) -> Plan {
        let plan = plan_undo(&self.request, &self.surroundings).unwrap();
        apply(&plan).unwrap();
        plan
    }

    /// Every file below the folder with its content, but for the state folder.
    pub(super) fn everything(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.path("")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if !path.starts_with(self.path("state")) {
                    files.insert(path.clone(), fs::read(path).unwrap());
                }
            }
        }
        files
    }
}

/// Members between brackets with comments, line breaks and perhaps a trailing comma.
pub(super) fn decorated(open: char, members: Vec<String>, close: char) -> impl Strategy<Value = String> {
    let gap = prop_oneof![Just(""), Just(" "), Just("\n  "), Just("\n\n  "), Just(" /* c1 */ "), Just(" // c2\n  ")];
    let gaps = proptest::collection::vec((gap.clone(), gap.clone()), members.len() + 1);
    (gaps, any::<bool>(), gap).prop_map(move |(gaps, trailing, last)| {
        let mut text = open.to_string();
        for (index, member) in members.iter().enumerate() {
            let comma = if index + 1 < members.len() || trailing { "," } else { "" };
            text += &format!("{}{member}{}{comma}", gaps[index].0, gaps[index].1);
        }
        text + last + &close.to_string()
    })
}
