//! `gatelatch pin` and `gatelatch verify` against real servers: what they say, how they end, and what is never shown.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

#[path = "harness/server.rs"]
#[allow(dead_code, reason = "each test file uses its part")]
mod server;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Instant;

use gatelatch_contract::list::ToolList;
use gatelatch_contract::lock::Lock;
use gatelatch_contract::pin::Pin;
use gatelatch_contract::server_json::ServerJson;
use gatelatch_contract::version::SurfaceVersion;
use serde_json::{Value, json};
use server::{Bench, PATIENCE};

fn beside(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/verify").join(name).to_string_lossy().into_owned()
}

/// A verb with the test's server over stdio behind it.
fn ask(bench: &Bench, words: &[&str]) -> (i32, String, String) {
    let script = beside("server.py");
    bench.run(&[words, &["--", "python3", &script]].concat())
}

/// The test's server over HTTP. Dropping it kills it.
struct Http {
    child: Child,
    port: u16,
}

impl Http {
    fn start(bench: &Bench, certificate: Option<&str>) -> Http {
        let mut command = bench.program("python3");
        command.arg(beside("server.py")).arg("http").args(certificate.map(beside));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Http { child, port: line.trim().parse().unwrap() }
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_pinned_server_is_equal_until_one_tool_changes_and_the_pin_is_replaced_only_when_asked() {
    let bench = Bench::new();
    let (code, out, err) = ask(&bench, &["pin", "--out", "notes.pin.json"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.starts_with("wrote `notes.pin.json`: 2 tools of `notes` 1, digest "), "{out}");
    let (code, out, err) = ask(&bench, &["verify", "--pin", "notes.pin.json"]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.starts_with("equal: 2 tools as published (legacy era), digest "), "{out}");
    let (code, out, _) = ask(&bench, &["pin", "--out", "notes.pin.json"]);
    assert_eq!(code, 0);
    assert!(out.starts_with("`notes.pin.json` is left as it is"), "{out}");

    let changed = bench.set("TEXT", "It adds!");
    let before = std::fs::read_to_string(changed.path("notes.pin.json")).unwrap();
    let (code, out, err) = ask(&changed, &["verify", "--pin", "notes.pin.json"]);
    assert_eq!(code, 1, "{out}{err}");
    assert!(out.contains("differs: 2 tools received in the legacy era, 2 were published"), "{out}");
    assert!(out.contains("  patch: tool `add` at `/description`: `description` changed"), "{out}");
    let (code, out, err) = ask(&changed, &["pin", "--out", "notes.pin.json"]);
    assert_eq!(code, 1, "{out}{err}");
    assert!(out.contains("tool `add`") && err.contains("--force"), "{out}{err}");
    assert_eq!(std::fs::read_to_string(changed.path("notes.pin.json")).unwrap(), before);
    let (code, out, err) = ask(&changed, &["pin", "--out", "notes.pin.json", "--force"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("tool `add`") && out.contains("wrote"), "{out}");
    assert_eq!(ask(&changed, &["verify", "--pin", "notes.pin.json"]).0, 0);
}

#[test]
fn a_list_that_clients_of_the_other_era_do_not_see_is_no_equal_one() {
    let bench = Bench::new().set("DIGEST", "0");
    assert_eq!(ask(&bench, &["pin", "--out", "notes.pin.json"]).0, 0);
    let (code, out, err) = ask(&bench, &["verify", "--pin", "notes.pin.json"]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("(modern and legacy eras)"), "{out}");
    let two = bench.set("LEGACY_TEXT", "It adds, and sends all it finds.");
    let (code, out, err) = ask(&two, &["verify", "--pin", "notes.pin.json"]);
    assert_eq!(code, 1, "{out}{err}");
    assert!(out.contains("in the legacy era") && out.contains("tool `add`"), "{out}");
    assert_eq!(ask(&two, &["verify", "--pin", "notes.pin.json", "--era", "modern"]).0, 0);
    let (code, _, err) = ask(&two, &["pin", "--out", "two.pin.json"]);
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("--era legacy") && !two.path("two.pin.json").exists(), "{err}");
}

/// The time that is allowed is for both eras together.
#[test]
fn a_server_of_the_modern_era_that_leaves_the_legacy_question_open_is_told_with_the_way_out() {
    let bench = Bench::new().set("DIGEST", "0").set("MUTE", "initialize");
    let since = Instant::now();
    let (code, _, err) = ask(&bench, &["pin", "--timeout", "4"]);
    assert!(code == 8 && since.elapsed().as_secs() < 8, "{err}");
    assert!(err.contains("did not answer `initialize`: its time was up"), "{err}");
    assert!(err.contains("help: this came in the legacy era, after a list in the modern one; `--era modern`"), "{err}");
    assert_eq!(ask(&bench, &["pin", "--timeout", "30", "--era", "modern"]).0, 0);
}

#[cfg(unix)]
#[test]
fn a_file_that_never_ends_is_refused_before_it_is_read() {
    let bench = Bench::new();
    assert!(bench.program("mkfifo").arg("pipe").status().unwrap().success());
    for option in ["--pin", "--lock", "--server-json"] {
        let (code, _, err) = ask(&bench, &["verify", option, "pipe"]);
        assert_eq!(code, 2, "{err}");
        assert!(err.contains("`pipe`: it is no regular file"), "{err}");
    }
    assert_eq!(ask(&bench, &["pin", "--out", "pipe"]).0, 2);
}

#[test]
fn a_file_that_is_no_pin_is_never_replaced_unasked_and_no_server_is_started_for_it() {
    let bench = Bench::new().set("DIES", "1");
    bench.write("main.rs", "fn main() {}\n");
    let (code, _, err) = ask(&bench, &["pin", "--out", "main.rs"]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("`main.rs` is there already and is no pin file"), "{err}");
    let (code, _, err) = ask(&bench, &["pin", "--out", "none/notes.pin.json"]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("cannot write `none/notes.pin.json`"), "{err}");
    assert_eq!(std::fs::read_to_string(bench.path("main.rs")).unwrap(), "fn main() {}\n");
}

#[test]
fn without_a_file_the_pin_alone_is_on_standard_output() {
    let (code, out, err) = ask(&Bench::new(), &["pin"]);
    assert_eq!(code, 0, "{err}");
    let pin = Pin::parse(&out).unwrap();
    assert_eq!((pin.server.name.as_str(), pin.tools.tools().len()), ("notes", 2));
    assert!(err.contains("--out FILE"), "{err}");
}

/// What `notes` publishes, in the files that a publisher has.
fn publish(bench: &Bench) -> ToolList {
    let (_, out, _) = ask(bench, &["pin"]);
    let tools = Pin::parse(&out).unwrap().tools;
    let version = SurfaceVersion::parse("1.2.0").unwrap();
    let server_json = ServerJson::new("io.github.gatelatch/notes", "Notes.", "0.1.0").with_contract(&version, &tools);
    bench.write("server.json", &server_json.to_text());
    bench.write("lock.json", &Lock { surface_version: version, tools: tools.clone() }.to_text());
    tools
}

#[test]
fn a_server_json_names_the_tools_that_differ_and_a_lock_beside_it_says_how() {
    let bench = Bench::new();
    publish(&bench);
    for files in [&["--server-json", "server.json"][..], &["--lock", "lock.json"]] {
        for era in [&[][..], &["--era", "legacy"]] {
            let (code, out, err) = ask(&bench, &[&["verify"], files, era].concat());
            assert_eq!(code, 0, "{out}{err}");
            assert!(out.starts_with("equal: 2 tools as published of surface version 1.2.0"), "{out}");
        }
    }
    let changed = bench.set("TEXT", "It adds!");
    let (code, out, _) = ask(&changed, &["verify", "--server-json", "server.json"]);
    assert_eq!(code, 1);
    assert!(out.contains("  tool `add`: its definition differs"), "{out}");
    let (code, out, _) = ask(&changed, &["verify", "--server-json", "server.json", "--lock", "lock.json"]);
    assert_eq!(code, 1);
    assert!(out.contains("  patch: tool `add` at `/description`"), "{out}");
    let (code, out, _) = ask(&changed, &["verify", "--server-json", "server.json", "--json"]);
    let value: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, value["verdict"].as_str()), (1, Some("differs")), "{out}");
    let expected = json!({"level": null, "kind": null, "tool": "add", "path": null, "what": "its definition differs"});
    assert_eq!((&value["differences"][0], &value["untold"]), (&expected, &json!(0)));
    assert_eq!((&value["eras"], &value["received"]["eras"]), (&json!(["legacy"]), &json!(["legacy"])));
}

#[test]
fn a_server_json_that_contradicts_itself_is_told_although_the_digest_is_right() {
    let bench = Bench::new();
    publish(&bench);
    let text = std::fs::read_to_string(bench.path("server.json")).unwrap();
    bench.write("server.json", &text.replace("toolCount\": 2", "toolCount\": 4"));
    for files in [&["--server-json", "server.json"][..], &["--server-json", "server.json", "--lock", "lock.json"]] {
        let (code, out, err) = ask(&bench, &[&["verify"], files].concat());
        assert_eq!(code, 1, "{out}{err}");
        let told = "`io.github.gatelatch/toolCount` says 4, and the list of the published digest has 2";
        assert!(out.contains("the file contradicts itself") && out.contains(told), "{out}");
    }
}

#[test]
fn fewer_tools_under_the_published_digest_are_a_partial_view_and_a_reported_digest_alone_proves_nothing() {
    let bench = Bench::new();
    let tools = publish(&bench);
    let some = bench.set("TOOLS", "find").set("DIGEST", tools.digest());
    let (code, out, err) = ask(&some, &["verify", "--lock", "lock.json"]);
    assert_eq!(code, 7, "{out}{err}");
    assert!(out.starts_with("partial view: 1 of the 2 published tools"), "{out}");
    let other = some.set("TOOLS", "find forge");
    let (code, out, err) = ask(&other, &["verify", "--lock", "lock.json"]);
    assert_eq!(code, 1, "{out}{err}");
    assert!(out.contains("`forge`") && err.contains("which is not that of what it sends"), "{out}{err}");
}

#[test]
fn without_a_list_it_says_why_and_the_code_is_another_one() {
    let bench = Bench::new();
    publish(&bench);
    let (code, out, err) = bench.run(&["verify", "--lock", "lock.json", "--", "no-such-server", "p4ssw0rd"]);
    assert_eq!((code, out.as_str()), (8, ""), "{err}");
    assert!(err.contains("cannot start `no-such-server`") && !err.contains("p4ssw0rd"), "{err}");
    let dying = bench.set("DIES", "1");
    for verb in [&["verify", "--lock", "lock.json"][..], &["pin"]] {
        let (code, _, err) = ask(&dying, verb);
        assert_eq!(code, 8, "{err}");
        assert!(err.contains("did not answer `initialize`: it ended\n  | no such "), "{err}");
        assert!(!err.contains('\u{1b}'), "{err:?}");
    }
    let (code, out, _) = ask(&dying, &["verify", "--lock", "lock.json", "--json"]);
    let value: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, value["verdict"].as_str()), (8, Some("no_list")), "{out}");
    let (code, _, err) = ask(&dying, &["verify", "--lock", "lock.json", "--era", "modern"]);
    assert_eq!(code, 8, "{err}");
}

#[test]
fn a_command_that_is_no_server_is_told_with_what_it_wrote_and_the_way_out() {
    let bench = Bench::new();
    for (command, told, help) in [
        (
            &["echo", "hello"][..],
            "this is no MCP server: asked `initialize` it wrote `hello`, which",
            "help: name a server",
        ),
        (&["cat"], "this is no MCP server: it wrote back the question", "help: name a server"),
        (&["true"], "the server did not answer `initialize`: it ended", "help: is it an MCP server?"),
    ] {
        for verb in [&["pin", "--timeout", "30", "--"][..], &["pin", "--timeout", "30", "--era", "legacy", "--"]] {
            let (code, out, err) = bench.run(&[verb, command].concat());
            assert_eq!((code, out.as_str()), (8, ""), "{err}");
            assert!(err.contains(told) && err.contains(help), "{err}");
        }
    }
}

#[test]
fn what_would_hide_is_written_out_on_the_terminal_and_in_files() {
    let bench = Bench::new().set("TEXT", "It adds.\u{202e}\u{1b}[31m\u{200b}").set("TOOLS", "add odd\u{202e}");
    let hides = |text: &str| text.chars().any(|c| c != '\n' && (c.is_control() || "\u{202e}\u{200b}".contains(c)));
    let (code, out, err) = ask(&bench, &["pin"]);
    assert!(code == 0 && out.contains(r"It adds.\u202e\u001b[31m\u200b") && !hides(&out) && !hides(&err), "{out}{err}");
    bench.write("odd.pin.json", &out);
    assert_eq!(ask(&bench, &["verify", "--pin", "odd.pin.json"]).0, 0);
    let other = bench.set("TEXT", "It adds.").set("TOOLS", "add odd\u{200b}");
    for json in [&[][..], &["--json"]] {
        let (code, out, err) = ask(&other, &[&["verify", "--pin", "odd.pin.json"], json].concat());
        assert!(code == 1 && out.contains("odd") && !hides(&out) && !hides(&err), "{out}{err}");
    }
}

#[test]
fn a_file_that_says_nothing_is_a_wrong_command_and_not_a_difference() {
    let bench = Bench::new();
    publish(&bench);
    let lock = std::fs::read_to_string(bench.path("lock.json")).unwrap();
    bench.write("edited.json", &lock.replace("It adds.", "It adds!"));
    bench.write("empty.json", "{}");
    for (files, words) in [
        (&["--pin", "none.json"][..], "cannot read `none.json`"),
        (&["--pin", "lock.json"], "this is no pin file: it says that it is `gatelatch lock 2`"),
        (
            &["--lock", "edited.json"],
            "this lock file was edited: the entry of tool `add` does not agree with its definition",
        ),
        (&["--server-json", "empty.json"], "says nothing usable about the tools"),
        (&["--pin", "x", "--lock", "y"], "cannot be used with"),
        (&[], "--server-json"),
    ] {
        let (code, _, err) = ask(&bench, &[&["verify"], files].concat());
        assert_eq!(code, 2, "{files:?}: {err}");
        assert!(err.contains(words), "{files:?}: {err}");
    }
    for words in [
        &["pin"][..],
        &["pin", "--url", "http://localhost:1/", "--", "x"],
        &["pin", "--force", "--", "x"],
        &["pin", "--header", "X-A: b", "--", "x"],
        &["pin", "--header-env", "X-A=PATH", "--", "x"],
    ] {
        assert_eq!(bench.run(words).0, 2, "{words:?}");
    }
}

#[test]
fn neither_settings_nor_a_catalog_are_needed_whatever_variables_of_ours_say() {
    let bench = Bench::new().set("GATELATCH_CONFIRM", "nonsense").set("GATELATCH_CATALOG", "/no/such/folder");
    bench.write("gatelatch.yaml", "nonsense: [");
    let (code, _, err) = ask(&bench, &["pin"]);
    assert_eq!(code, 0, "{err}");
}

#[cfg(unix)]
fn is_alive(process: &str) -> bool {
    let status = Bench::new().program("kill").args(["-0", process]).stderr(Stdio::null()).status();
    status.unwrap().success()
}

/// Waits until a file is there and gives its text.
fn text_once_there(path: &Path) -> String {
    let since = Instant::now();
    loop {
        if let Ok(text) = std::fs::read_to_string(path) {
            return text;
        }
        assert!(since.elapsed() < PATIENCE, "{} never came", path.display());
        std::thread::yield_now();
    }
}

#[cfg(unix)]
#[test]
fn when_the_time_is_up_the_server_and_all_that_it_started_are_gone() {
    let bench = Bench::new();
    let file: PathBuf = bench.path("child");
    let bench = bench.set("HANGS", &file);
    let (code, _, err) = ask(&bench, &["pin", "--timeout", "3"]);
    assert_eq!(code, 8, "{err}");
    assert!(err.contains("its time was up") && err.contains("--timeout SECONDS"), "{err}");
    assert!(!is_alive(&text_once_there(&file)));
}

#[cfg(unix)]
#[test]
fn a_signal_ends_the_server_and_all_that_it_started_too() {
    let bench = Bench::new();
    let file: PathBuf = bench.path("child");
    let bench = bench.set("HANGS", &file);
    let script = beside("server.py");
    let mut command = bench.command(&["pin", "--", "python3", &script]);
    let mut asking = command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let child = text_once_there(&file);
    let interrupt = bench.program("kill").args(["-INT", &asking.id().to_string()]).status().unwrap();
    assert!(interrupt.success());
    assert_eq!(asking.wait().unwrap().code(), Some(130));
    assert!(!is_alive(&child));
}

#[test]
fn over_http_a_header_from_a_variable_lets_one_in_and_its_value_is_never_shown() {
    let bench = Bench::new().set("WANTED", "Bearer p4ssw0rd").set("MCP_AUTHORIZATION", "Bearer p4ssw0rd");
    let http = Http::start(&bench, None);
    let url = http.url();
    let (code, _, err) = bench.run(&["pin", "--url", &url]);
    assert_eq!(code, 8, "{err}");
    assert!(err.contains("does not let this client in: HTTP status 401"), "{err}");
    assert!(
        err.contains("it needs a header: --header-env Authorization=VARIABLE, where VARIABLE holds `Bearer …`"),
        "{err}"
    );
    let by_variable = ["--url", &url, "--header-env", "Authorization=MCP_AUTHORIZATION"];
    let by_value = ["--url", &url, "--header", "Authorization: Bearer p4ssw0rd"];
    let (code, out, err) = bench.run(&[&["pin", "--out", "notes.pin.json"], &by_variable[..]].concat());
    assert_eq!(code, 0, "{out}{err}");
    for target in [by_variable, by_value] {
        for json in [&[][..], &["--json"]] {
            let (code, out, err) = bench.run(&[&["verify", "--pin", "notes.pin.json"], json, &target[..]].concat());
            assert_eq!(code, 0, "{out}{err}");
            assert!(!out.contains("p4ssw0rd") && !err.contains("p4ssw0rd") && !out.contains("127.0.0.1"), "{out}{err}");
        }
    }
    let pin = std::fs::read_to_string(bench.path("notes.pin.json")).unwrap();
    assert!(!pin.contains("p4ssw0rd") && !pin.contains("127.0.0.1"), "{pin}");
    // The two transports carry one list.
    let (code, out, err) = ask(&bench, &["verify", "--pin", "notes.pin.json"]);
    assert_eq!(code, 0, "{out}{err}");

    let bench = bench.set("TEXT", "the key is p4ssw0rd");
    let http = Http::start(&bench, None);
    let (code, out, err) = bench.run(&["pin", "--url", &http.url(), "--header-env", "Authorization=MCP_AUTHORIZATION"]);
    assert_eq!((code, out.as_str()), (8, ""), "{err}");
    assert!(err.contains("holds the value of the header `authorization`") && !err.contains("p4ssw0rd"), "{err}");
}

/// What is in an address is often all that lets one in.
#[test]
fn what_a_server_says_of_its_own_address_is_masked_and_a_secret_in_a_list_is_refused() {
    let bench = Bench::new().set("REFUSES", "1");
    let http = Http::start(&bench, None);
    let url = format!(
        "http://127.0.0.1:{}/s/0a1b2c3d4e5f6a7b8c9d/notion-mcp-server?key=p4ssw0rd&tenant=acme-north",
        http.port
    );
    let (code, out, err) = bench.run(&["pin", "--url", &url, "--header", "X-Tenant: acme-south"]);
    assert_eq!((code, out.as_str()), (8, ""), "{err}");
    for part in ["0a1b2c3d4e5f6a7b8c9d", "p4ssw0rd", "acme-", "notion"] {
        assert!(!err.contains(part), "{part}: {err}");
    }
    let bench = bench.set("REFUSES", "").set("TEXT", "ask /s/0a1b2c3d4e5f6a7b8c9d/");
    let http = Http::start(&bench, None);
    let url = format!("http://127.0.0.1:{}/s/0a1b2c3d4e5f6a7b8c9d/mcp", http.port);
    let (code, out, err) = bench.run(&["pin", "--url", &url]);
    assert_eq!((code, out.as_str()), (8, ""), "{err}");
    assert!(err.contains("holds a secret of the address") && !err.contains("0a1b2c"), "{err}");
}

#[test]
fn what_would_give_a_secret_away_is_refused_without_showing_it() {
    let bench = Bench::new();
    for words in [
        &["--url", "https://ada:p4ssw0rd@example.org/mcp"][..],
        &["--url", "ftp://example.org/p4ssw0rd"],
        &["--url", "http://example.org/p4ssw0rd", "--header", "Authorization: p4ssw0rd"],
        &["--url", "http://localhost:1/", "--header", "p4ssw0rd"],
        &["--url", "http://localhost:1/", "--header-env", "Authorization=p4ssw0rd"],
        &["--url", "http://localhost:1/", "--header", "X-Key: p4ssw0rd", "--header", "x-key: p4ssw0rd"],
    ] {
        let (code, out, err) = bench.run(&[&["pin"], words].concat());
        assert_eq!(code, 2, "{words:?}: {err}");
        assert!(!out.contains("p4ssw0rd") && !err.contains("p4ssw0rd"), "{err}");
    }
    let (_, _, err) = bench.run(&["pin", "--url", "http://example.org/", "--header", "X-Key: p4ssw0rd"]);
    assert!(
        err.contains("headers would go to `http://example.org` unencrypted") && err.contains("--headers-in-clear"),
        "{err}"
    );
}

#[test]
fn an_encrypted_server_is_asked_only_if_its_certificate_is_trusted() {
    let bench = Bench::new();
    let http = Http::start(&bench, Some("server.pem"));
    let url = format!("https://localhost:{}/mcp", http.port);
    let (code, _, err) = bench.run(&["pin", "--url", &url]);
    assert_eq!(code, 8, "{err}");
    assert!(
        err.contains("no encrypted connection: invalid peer certificate") && err.contains("SSL_CERT_FILE"),
        "{err}"
    );
    // Elsewhere than on Linux the trusted certificates are the system's alone.
    if cfg!(target_os = "linux") {
        let bench = bench.set("SSL_CERT_FILE", beside("authority.pem"));
        let (code, out, err) = bench.run(&["pin", "--out", "notes.pin.json", "--url", &url]);
        assert_eq!(code, 0, "{out}{err}");
    }
}
