//! Every transcript, played over pipes against the tiny surface. Start at `transcripts/`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

#[path = "support/server.rs"]
mod server;
#[path = "support/surface.rs"]
mod surface;
#[path = "support/transcript.rs"]
mod transcript;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use gatelatch_protocol::digest::{digest_of, tools_digest, tools_json};
use gatelatch_protocol::stdio::StdioLimits;
use gatelatch_protocol::surface::Surface;
use server::Server;
use surface::Tiny;
use transcript::Step;

#[test]
fn every_transcript_is_played_as_it_is_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts");
    let mut failures = Vec::new();
    let mut played = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        let steps = transcript::parse(&text).unwrap_or_else(|why| panic!("{name}: {why}"));
        played += 1;
        let tiny = Arc::new(Tiny::new());
        let (server, requests, answers) = Server::start(tiny, limits());
        if let Err(why) = transcript::play(&steps, requests, answers) {
            failures.push(format!("{name}: {why}"));
        } else {
            server.ended(Duration::from_secs(10)).unwrap();
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(played >= 10, "only {played} transcripts were found");
}

/// Small enough that a transcript can reach the line cap.
fn limits() -> StdioLimits {
    StdioLimits { max_line_bytes: 4096, ..StdioLimits::default() }
}

#[test]
fn what_is_sent_in_either_era_hashes_to_the_digest_that_discover_reports() {
    let tiny = Tiny::new();
    let (json, digest) = (tools_json(tiny.tools()), tools_digest(tiny.tools()));
    assert_eq!(digest, digest_of(&json));
    let steps = format!(
        r#"
-> {{"jsonrpc":"2.0","id":1,"method":"tools/list"}}
<- {{"jsonrpc":"2.0","id":1,"result":{{"tools":{json}}}}}
-> {{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{{"_meta":{META}}}}}
<- {{"jsonrpc":"2.0","id":2,"result":{{"resultType":"complete","ttlMs":300000,"cacheScope":"public","tools":{json},"_meta":"*"}}}}
-> {{"jsonrpc":"2.0","id":3,"method":"server/discover","params":{{"_meta":{META}}}}}
<- {{"jsonrpc":"2.0","id":3,"result":{{"resultType":"complete","ttlMs":300000,"cacheScope":"public","supportedVersions":"*","capabilities":{{"tools":{{}}}},"instructions":"*","_meta":{{"io.github.gatelatch/toolsDigest":"{digest}","io.modelcontextprotocol/serverInfo":"*"}}}}}}
-- close
-- ended
"#
    );
    let (server, requests, answers) = Server::start(Arc::new(tiny), limits());
    transcript::play(&transcript::parse(&steps).unwrap(), requests, answers).unwrap();
    server.ended(Duration::from_secs(10)).unwrap();
}

const META: &str =
    r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

#[test]
fn a_transcript_that_does_not_match_fails() {
    for wrong in [
        "-> {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n<- {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}",
        "-> {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n<- {\"jsonrpc\":\"2.0\",\"id\":1}",
        "-> {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n-- close\n-- ended",
        "-- close\n<- {}",
    ] {
        let steps: Vec<Step> = transcript::parse(wrong).unwrap();
        let (_server, requests, answers) = Server::start(Arc::new(Tiny::new()), limits());
        assert!(transcript::play(&steps, requests, answers).is_err(), "{wrong}");
    }
    assert!(transcript::parse("<- {").is_err());
    assert!(transcript::parse("?? x").is_err());
}
