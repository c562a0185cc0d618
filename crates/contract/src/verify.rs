//! Whether a server sends what was published.
//!
//! What a server says about itself is a label: the verdict rests on the digest of what was received. Start at
//! [`verify`]; [`judge`] is its pure half.

use serde_json::{Value, json};

use crate::client::{ClientError, ClientLimits, Eras, Received, Transport, receive};
use crate::diff::{Diff, diff};
use crate::list::ToolList;
use crate::published::{Known, Published, Untold};

/// The exit code of [`Verdict::Equal`].
pub const EXIT_EQUAL: u8 = 0;
/// The exit code of [`Verdict::Differs`].
pub const EXIT_DIFFERS: u8 = 1;
/// The exit code of [`Verdict::PartialView`].
pub const EXIT_PARTIAL_VIEW: u8 = 7;
/// The exit code of a [`ClientError`].
pub const EXIT_NO_LIST: u8 = 8;

/// What became of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The server sends the published list.
    Equal,
    /// It sends another.
    Differs(Difference),
    /// It sends fewer tools and says that the published contract is its own: the list is filtered for who asks.
    PartialView {
        /// How many tools it sent.
        visible: usize,
        /// How many were published.
        published: usize,
    },
}

/// How far what is known of the published tools tells the two lists apart.
#[derive(Clone, Debug, PartialEq)]
pub enum Difference {
    /// What changed, from the published list to the received one.
    Changes(Diff),
    /// Which tools differ.
    Tools(Vec<Untold>),
    /// The list is the published one, and the file says something of it that is not so.
    Contradiction(Vec<Untold>),
    /// Nothing but the two digests.
    Digests {
        /// The published one.
        published: String,
        /// The received one.
        received: String,
    },
}

/// A comparison and what it rests on.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// What the server sent.
    pub received: Received,
    /// What was published.
    pub published: Published,
    /// What became of it.
    pub verdict: Verdict,
}

/// Asks a server for its list and holds it against what was published.
///
/// # Errors
///
/// When no list was received.
pub async fn verify(
    transport: &Transport,
    limits: &ClientLimits,
    eras: Eras,
    published: Published,
) -> Result<Report, ClientError> {
    let received = receive(transport, limits, eras).await?;
    let verdict = judge(&published, &received);
    Ok(Report { received, published, verdict })
}

/// Holds a received list against what was published.
pub fn judge(published: &Published, received: &Received) -> Verdict {
    let tools = &received.tools;
    let Some(difference) = difference(published, tools) else {
        let contradictions = published.contradictions(tools);
        return match contradictions.as_slice() {
            [] => Verdict::Equal,
            _ => Verdict::Differs(Difference::Contradiction(contradictions)),
        };
    };
    let reports_the_published = received.reported_digest.as_ref() == Some(&published.digest);
    if let Some(count) = published.tool_count
        && reports_the_published
        && tools.tools().len() < count
        && published.known.covers(tools)
    {
        return Verdict::PartialView { visible: tools.tools().len(), published: count };
    }
    Verdict::Differs(difference)
}

/// How a list differs from what was published; nothing if it is the same.
pub fn difference(published: &Published, tools: &ToolList) -> Option<Difference> {
    (tools.digest() != published.digest).then(|| match &published.known {
        Known::All(list) => Difference::Changes(diff(list, tools)),
        known => known.differences(tools).map_or_else(
            || Difference::Digests { published: published.digest.clone(), received: tools.digest().to_owned() },
            Difference::Tools,
        ),
    })
}

impl Verdict {
    /// The exit code that says it.
    pub fn exit_code(&self) -> u8 {
        match self {
            Verdict::Equal => EXIT_EQUAL,
            Verdict::Differs(_) => EXIT_DIFFERS,
            Verdict::PartialView { .. } => EXIT_PARTIAL_VIEW,
        }
    }

    /// Its name in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Equal => "equal",
            Verdict::Differs(_) => "differs",
            Verdict::PartialView { .. } => "partial_view",
        }
    }
}

impl Difference {
    /// For people, one line each.
    pub fn lines(&self) -> Vec<String> {
        match self {
            Difference::Changes(diff) => {
                let mut lines: Vec<String> = diff.changes().iter().map(ToString::to_string).collect();
                if diff.untold() > 0 {
                    lines.push(format!("and {} changes more", diff.untold()));
                }
                lines
            }
            Difference::Tools(untold) | Difference::Contradiction(untold) => {
                untold.iter().map(ToString::to_string).collect()
            }
            Difference::Digests { published, received } => vec![digests(published, received)],
        }
    }

    /// For other programs: objects of one form, whatever is known.
    fn to_values(&self) -> Vec<Value> {
        let untold = |tool: &Option<String>, what: &str| json!({ "level": null, "kind": null, "tool": tool, "path": null, "what": what });
        match self {
            Difference::Changes(diff) => diff.changes().iter().map(|change| json!(change)).collect(),
            Difference::Tools(all) | Difference::Contradiction(all) => {
                all.iter().map(|Untold { tool, what }| untold(tool, what)).collect()
            }
            Difference::Digests { published, received } => vec![untold(&None, &digests(published, received))],
        }
    }

    /// How many differences there are beside those that are told.
    fn untold(&self) -> usize {
        match self {
            Difference::Changes(diff) => diff.untold(),
            Difference::Tools(_) | Difference::Contradiction(_) | Difference::Digests { .. } => 0,
        }
    }
}

fn digests(published: &str, received: &str) -> String {
    format!("the digest is `{received}` and `{published}` was published")
}

impl Report {
    /// All of it, for other programs.
    pub fn to_value(&self) -> Value {
        let Report { received, published, verdict } = self;
        let mut value = json!({
            "verdict": verdict.name(),
            "published": {
                "digest": published.digest,
                "surface_version": published.surface_version,
                "tools": published.tool_count,
            },
            "received": {
                "digest": received.tools.digest(),
                "reported_digest": received.reported_digest,
                "tools": received.tools.tools().len(),
                "protocol_version": received.protocol_version,
                "server": received.server,
            },
        });
        if let Verdict::Differs(difference) = verdict {
            value["differences"] = difference.to_values().into();
            value["untold"] = difference.untold().into();
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use gatelatch_protocol::era::Era;

    use super::*;
    use crate::lock::Lock;
    use crate::pin::ServerLabel;
    use crate::server_json::ServerJson;
    use crate::version::SurfaceVersion;

    fn list(names: &[&str]) -> ToolList {
        let tools = names.iter().map(|name| json!({"name": name, "description": "It is a tool.", "inputSchema": {}}));
        ToolList::of_array(&tools.collect()).unwrap()
    }

    fn version() -> SurfaceVersion {
        SurfaceVersion::parse("1.2.3").unwrap()
    }

    fn server_json(tools: &ToolList) -> Published {
        let file = ServerJson::new("io.github.gatelatch/gatelatch", "x", "0.1.0").with_contract(&version(), tools);
        Published::of_server_json(&file.to_text()).unwrap()
    }

    fn received(tools: ToolList, reported: Option<&ToolList>) -> Received {
        Received {
            era: Era::Modern,
            protocol_version: "2026-07-28".to_owned(),
            server: ServerLabel::default(),
            reported_digest: reported.map(|tools| tools.digest().to_owned()),
            tools,
            pages: 1,
        }
    }

    #[test]
    fn the_same_list_is_equal_whatever_the_server_says_about_itself() {
        let (tools, other) = (list(&["a", "b"]), list(&["a"]));
        for reported in [None, Some(&tools), Some(&other)] {
            assert_eq!(judge(&server_json(&tools), &received(tools.clone(), reported)), Verdict::Equal);
        }
    }

    #[test]
    fn another_list_differs_although_the_server_reports_the_published_digest() {
        let tools = list(&["a", "b"]);
        for other in [list(&["a", "c"]), list(&["b", "a"]), list(&["a", "b", "c"])] {
            let verdict = judge(&server_json(&tools), &received(other, Some(&tools)));
            assert!(matches!(verdict, Verdict::Differs(_)), "{verdict:?}");
        }
    }

    #[test]
    fn fewer_tools_are_a_partial_view_only_if_the_rest_is_as_published_and_so_is_the_reported_digest() {
        let tools = list(&["a", "b", "c"]);
        let partial = Verdict::PartialView { visible: 2, published: 3 };
        assert_eq!(judge(&server_json(&tools), &received(list(&["a", "c"]), Some(&tools))), partial);
        let lock = Lock { surface_version: version(), tools: tools.clone() };
        let locked = Published::of_lock(lock);
        assert_eq!(judge(&locked, &received(list(&["a", "c"]), Some(&tools))), partial);
        for published in [server_json(&tools), locked] {
            for (few, reported) in
                [(list(&["a", "c"]), None), (list(&["a", "x"]), Some(&tools)), (list(&["c", "a"]), Some(&tools))]
            {
                let verdict = judge(&published, &received(few, reported));
                assert!(matches!(verdict, Verdict::Differs(_)), "{verdict:?}");
            }
        }
    }

    #[test]
    fn a_difference_names_the_tools_as_far_as_they_were_published() {
        let tools = list(&["a", "b"]);
        let changed = received(list(&["b", "c"]), None);
        let lines = |published: &Published| match judge(published, &changed) {
            Verdict::Differs(difference) => difference.lines(),
            other => panic!("{other:?}"),
        };
        let published = server_json(&tools);
        assert_eq!(lines(&published), ["tool `a`: it is missing", "tool `c`: it was not published"]);
        let lock = Lock { surface_version: version(), tools: tools.clone() };
        let published = published.with_lock(lock).unwrap();
        assert_eq!(
            lines(&published),
            [
                "major: tool `a` at `/name`: the tool was renamed to `c`",
                "patch: tool `a`: it moved from place 1 to place 2"
            ]
        );
        let published = Published { known: Known::Nothing, ..published };
        assert_eq!(lines(&published).len(), 1);
        assert!(lines(&published)[0].contains(tools.digest()));
    }

    #[test]
    fn a_server_json_that_contradicts_the_list_of_its_own_digest_is_a_difference_even_with_the_lock_beside_it() {
        let tools = list(&["a", "b"]);
        let good = server_json(&tools);
        let lock = Lock { surface_version: version(), tools: tools.clone() };
        let digests = |names: &[&str]| -> Vec<(String, String)> {
            let digest = |name: &str| tools.tool(name).map_or("0".repeat(16), |tool| tool.digest()[..16].to_owned());
            names.iter().map(|name| ((*name).to_owned(), digest(name))).collect()
        };
        let wrong = vec![("a".to_owned(), "0".repeat(16)), digests(&["b"]).remove(0)];
        for (file, told) in [
            (Published { tool_count: Some(4), ..good.clone() }, "`io.github.gatelatch/toolCount` says 4, and the list"),
            (
                Published { tool_digests: wrong, ..good.clone() },
                "tool `a`: `io.github.gatelatch/toolDigests` says another",
            ),
            (Published { tool_digests: digests(&["a", "b", "c"]), ..good.clone() }, "tool `c`: is none of the list"),
            (Published { tool_digests: digests(&["a"]), ..good.clone() }, "tool `b`: is one of the list"),
            (Published { tool_digests: digests(&["b", "a"]), ..good.clone() }, "toolDigests` has another order"),
        ] {
            for published in [file.clone(), file.with_lock(lock.clone()).unwrap()] {
                let Verdict::Differs(difference) = judge(&published, &received(tools.clone(), None)) else {
                    panic!("{told}")
                };
                assert!(difference.lines()[0].contains(told), "{:?}", difference.lines());
            }
        }
        assert_eq!(judge(&good, &received(tools.clone(), None)), Verdict::Equal);
    }

    #[test]
    fn differences_in_json_are_objects_with_the_same_keys_however_little_is_known() {
        let tools = list(&["a", "b"]);
        let lock = Lock { surface_version: version(), tools: tools.clone() };
        let digests_alone = Published { known: Known::Nothing, ..server_json(&tools) };
        for published in [Published::of_lock(lock), server_json(&tools), digests_alone] {
            let received = received(list(&["b", "c"]), None);
            let verdict = judge(&published, &received);
            let value = Report { received, published, verdict }.to_value();
            assert_eq!(value["untold"], 0);
            for difference in value["differences"].as_array().unwrap() {
                let mut keys: Vec<&str> = difference.as_object().unwrap().keys().map(String::as_str).collect();
                keys.sort_unstable();
                assert_eq!(keys, ["kind", "level", "path", "tool", "what"], "{difference}");
            }
        }
    }

    #[test]
    fn a_lock_file_of_another_list_does_not_explain_a_server_json() {
        let lock = Lock { surface_version: version(), tools: list(&["a"]) };
        assert!(server_json(&list(&["b"])).with_lock(lock.clone()).is_err());
        let older = Lock { surface_version: SurfaceVersion::parse("1.2.2").unwrap(), ..lock };
        let told = server_json(&list(&["a"])).with_lock(older).unwrap_err().to_string();
        assert_eq!(told, "the lock file says surface version `1.2.2` and the `server.json` says `1.2.3`");
    }

    #[test]
    fn every_outcome_has_an_exit_code_of_its_own() {
        let tools = list(&["a"]);
        let differs = judge(&server_json(&tools), &received(list(&["b"]), None));
        let codes = [
            Verdict::Equal.exit_code(),
            differs.exit_code(),
            Verdict::PartialView { visible: 1, published: 2 }.exit_code(),
            EXIT_NO_LIST,
        ];
        assert_eq!(codes, [0, 1, 7, 8]);
    }
}
