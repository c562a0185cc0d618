//! What the doctor finds, and how it says to mend it.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

#[path = "harness/server.rs"]
#[allow(dead_code, reason = "each test file uses its part")]
mod server;

use std::os::unix::fs::PermissionsExt;

use serde_json::Value;
use server::Bench;

/// The findings of one area: level, what, mend.
fn found(bench: &Bench, args: &[&str], area: &str) -> (i32, Vec<(String, String, String)>) {
    let mut words = args.to_vec();
    words.extend(["doctor", "--json"]);
    let (code, out, err) = bench.run(&words);
    let report: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{err}"));
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    let findings = report["findings"].as_array().unwrap().iter().filter(|finding| finding["area"] == area);
    (code, findings.map(|finding| (text(finding, "level"), text(finding, "what"), text(finding, "mend"))).collect())
}

fn levels(findings: &[(String, String, String)]) -> Vec<&str> {
    findings.iter().map(|(level, ..)| level.as_str()).collect()
}

const TOOL: &str = "name: desk\ndescription: Works the desk.\nruntime: process\nentrypoint: echo\nsecrets: [DESK_TOKEN, {name: DESK_PIN, required: false}]\nactions:\n  - name: list-labels\n    description: List labels.\n";

#[test]
fn nothing_wrong_is_exit_code_0_and_each_line_has_its_level() {
    let bench = Bench::new();
    let (code, out, err) = bench.run(&["doctor"]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.lines().rev().skip(1).all(|line| line.starts_with("ok ") || line.starts_with("warn ")), "{out}");
    assert!(out.contains("3 tools and agents") || out.contains("4 tools and agents"), "{out}");
    assert!(out.trim_end().lines().last().unwrap().starts_with("0 to mend"), "{out}");
}

#[test]
fn settings_that_do_not_read_are_told_and_the_rest_is_looked_at() {
    let bench = Bench::new();
    bench.write("gatelatch.yaml", "catalogue: [mine]\n");
    let (code, findings) = found(&bench, &[], "settings");
    assert_eq!((code, levels(&findings)), (1, vec!["fail"]));
    assert!(findings[0].1.contains("catalogue"), "{findings:?}");
    assert!(!found(&bench, &[], "version").1.is_empty());
    let bench = Bench::new().set("GATELATCH_LGO", "x");
    let (code, findings) = found(&bench, &[], "settings");
    assert_eq!((code, levels(&findings)), (1, vec!["ok", "fail"]));
    assert!(findings[1].2.contains("GATELATCH_LOG"), "{findings:?}");
}

#[test]
fn a_broken_manifest_and_an_undeclared_effect_point_to_check() {
    let bench = Bench::new();
    bench.write("mine/tools/desk/tool.yaml", "name: desk\ndescription: x\nruntme: python\n");
    let (code, findings) = found(&bench, &["--catalog", "mine"], "manifests");
    assert_eq!((code, levels(&findings)), (1, vec!["fail"]));
    assert!(findings[0].2.contains("gatelatch check"), "{findings:?}");
    bench.write(
        "mine/tools/desk/tool.yaml",
        &TOOL.replace("list-labels", "frob").replace("secrets: [DESK_TOKEN, {name: DESK_PIN, required: false}]\n", ""),
    );
    let (code, findings) = found(&bench, &["--catalog", "mine"], "manifests");
    assert_eq!((code, levels(&findings)), (0, vec!["ok", "warn"]));
}

#[test]
fn a_missing_program_is_told_with_the_entry_that_needs_it() {
    let bench = Bench::new();
    bench.write(
        "mine/tools/desk/tool.yaml",
        &TOOL
            .replace("echo", "no-such-program")
            .replace("secrets: [DESK_TOKEN, {name: DESK_PIN, required: false}]\n", ""),
    );
    let (code, findings) = found(&bench, &["--catalog", "mine"], "program");
    assert_eq!(code, 1);
    let missing = findings.iter().find(|(level, ..)| level == "fail").unwrap();
    assert!(missing.1.contains("tool desk") && missing.2.contains("no-such-program"), "{missing:?}");
    // Without Python the tools that ship say so.
    let bench = Bench::new().set("PATH", "/nowhere");
    let (code, findings) = found(&bench, &[], "program");
    assert_eq!(code, 1);
    assert!(findings[0].1.contains("python not found, and 3 tools or agents need it"), "{findings:?}");
}

#[test]
fn secrets_are_told_by_name_and_never_by_value() {
    let bench = Bench::new().set("DESK_PIN", "1x2y");
    bench.write("mine/tools/desk/tool.yaml", TOOL);
    let (code, findings) = found(&bench, &["--catalog", "mine"], "secret");
    assert_eq!((code, levels(&findings)), (1, vec!["fail", "fail"]));
    assert!(findings[0].1.contains("DESK_TOKEN of tool desk is not set"), "{findings:?}");
    assert!(findings[1].1.contains("DESK_PIN of tool desk is too short"), "{findings:?}");
    let bench = Bench::new().set("DESK_TOKEN", "correct-horse");
    bench.write("mine/tools/desk/tool.yaml", TOOL);
    let (code, out, _) = bench.run(&["--catalog", "mine", "doctor"]);
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("DESK_TOKEN of tool desk is set") && out.contains("need not be"), "{out}");
    assert!(!out.contains("correct-horse") && !out.contains("1x2y"), "{out}");
}

#[test]
fn a_cache_that_others_may_enter_is_a_failure() {
    let bench = Bench::new();
    let cache = bench.path("cache");
    let bench = bench.set("GATELATCH_CACHE", &cache);
    assert_eq!(levels(&found(&bench, &[], "cache").1), ["ok"]);
    std::fs::create_dir_all(cache.join("programs")).unwrap();
    std::fs::set_permissions(cache.join("programs"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let (code, findings) = found(&bench, &[], "cache");
    assert_eq!((code, levels(&findings)), (1, vec!["fail"]));
    std::fs::set_permissions(cache.join("programs"), std::fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(levels(&found(&bench, &[], "cache").1), ["ok"]);
}

#[test]
fn every_client_that_can_be_connected_is_looked_at() {
    let bench = Bench::new();
    for client in ["claude-code", "codex", "cursor", "gemini-cli", "opencode", "vscode"] {
        let (code, out, err) = bench.run(&["connect", client, "--write"]);
        assert_eq!(code, 0, "{out}{err}");
    }
    let (code, findings) = found(&bench, &[], "client");
    assert_eq!(code, 0, "{findings:?}");
    for title in ["Claude Code", "Codex", "Cursor", "Gemini CLI", "opencode", "VS Code"] {
        let told =
            findings.iter().filter(|(level, what, _)| level == "ok" && what.starts_with(&format!("{title} starts")));
        assert_eq!(told.count(), 1, "{title}: {findings:?}");
    }
}

#[test]
fn a_client_is_told_connected_changed_and_asking() {
    let bench = Bench::new();
    let opencode = |bench: &Bench| -> Vec<(String, String, String)> {
        let (_, findings) = found(bench, &[], "client");
        findings
            .into_iter()
            .filter(|(_, what, _)| what.starts_with("opencode") && !what.contains("installed"))
            .collect()
    };
    assert!(opencode(&bench).iter().all(|(_, what, _)| !what.contains("starts this gatelatch")));
    assert_eq!(bench.run(&["connect", "opencode", "--write"]).0, 0);
    let findings = opencode(&bench);
    assert_eq!(levels(&findings), ["ok"], "{findings:?}");
    assert!(findings[0].1.contains("starts this gatelatch and asks"), "{findings:?}");
    let path = bench.path("opencode.json");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace(env!("CARGO_BIN_EXE_gatelatch"), "/gone/gatelatch")).unwrap();
    let findings = opencode(&bench);
    assert_eq!(levels(&findings), ["fail"], "{findings:?}");
    assert!(
        findings[0].1.contains("/gone/gatelatch") && findings[0].2.contains("connect opencode --write"),
        "{findings:?}"
    );
    std::fs::write(&path, text.replace("\"ask\"", "\"allow\"")).unwrap();
    let findings = opencode(&bench);
    assert!(findings.iter().any(|(level, ..)| level == "fail"), "{findings:?}");
    std::fs::write(&path, text.replace("\"gatelatch_run_tool_confirmed\": \"ask\",", "")).unwrap();
    let findings = opencode(&bench);
    assert!(findings.iter().any(|(level, what, _)| level == "fail" && what.contains("may not ask")), "{findings:?}");
    let (code, findings) = found(&bench, &["--catalog", "other"], "client");
    assert_eq!(code, 1, "the catalog is not there: {findings:?}");
    bench.write(
        "other/tools/desk/tool.yaml",
        &TOOL.replace("secrets: [DESK_TOKEN, {name: DESK_PIN, required: false}]\n", ""),
    );
    std::fs::write(&path, &text).unwrap();
    let (code, findings) = found(&bench, &["--catalog", "other"], "client");
    assert_eq!(code, 0, "{findings:?}");
    assert!(
        findings.iter().any(|(level, what, _)| level == "warn" && what.contains("opencode starts")),
        "{findings:?}"
    );
}

#[test]
fn a_client_whose_configuration_does_not_parse_has_one_finding_and_no_praise() {
    let bench = Bench::new();
    let about = |bench: &Bench| -> Vec<(String, String, String)> {
        let (code, findings) = found(bench, &[], "client");
        assert_eq!(code, 1, "{findings:?}");
        findings.into_iter().filter(|(_, what, _)| what.contains("opencode")).collect()
    };
    let broken = |bench: &Bench, file: &str| {
        let findings = about(bench);
        assert_eq!(levels(&findings), ["fail"], "{findings:?}");
        let path = bench.path(file).canonicalize().unwrap();
        assert!(findings[0].1.contains(path.to_str().unwrap()), "{findings:?}");
        assert_eq!(findings[0].2, "mend the file");
    };
    bench.write("opencode.json", "{ broken");
    broken(&bench, "opencode.json");
    // opencode reads all of them, so that the other one's being right is worth nothing.
    assert_eq!(bench.run(&["connect", "opencode", "--global", "--write"]).0, 0);
    broken(&bench, "opencode.json");
    std::fs::remove_file(bench.path("opencode.json")).unwrap();
    bench.write("home/.config/opencode/opencode.json", "{ broken");
    broken(&bench, "home/.config/opencode/opencode.json");
}
