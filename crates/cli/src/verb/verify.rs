//! `gatelatch verify`: whether a server sends what was published. The verdict is the library's.

use std::path::Path;

use gatelatch_contract::lock::Lock;
use gatelatch_contract::pin::Pin;
use gatelatch_contract::published::Published;
use gatelatch_contract::shown;
use gatelatch_contract::verify::{Difference, Report, Verdict, judge};
use gatelatch_protocol::era::Era;

use crate::exit::{Code, UsageError};
use crate::file;
use crate::options::VerifyOptions;
use crate::settings::Environment;
use crate::verb::asked::{Asked, Lists, ask, failure, failure_value};
use crate::verb::{print, say};

/// How much of a file is read.
const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// Asks, compares and tells.
pub(crate) fn verify(environment: &Environment, options: &VerifyOptions) -> anyhow::Result<Code> {
    let published = published(options)?;
    let Lists { first, legacy } = match ask(&options.server, environment)? {
        Asked::Received(lists) => *lists,
        Asked::Failed(error) => {
            if options.json {
                print(&shown::json(&failure_value(&error).to_string()))?;
            } else {
                say(&failure(&error));
            }
            return Ok(Code::NoList);
        }
        Asked::Interrupted => return Ok(Code::Cancelled),
    };
    let mut eras = vec![first.era];
    eras.extend(legacy.as_ref().map(|legacy| legacy.era));
    let lists = [(first.era, first.tools.digest().to_owned())];
    let lists = lists.into_iter().chain(legacy.iter().map(|legacy| (legacy.era, legacy.tools.digest().to_owned())));
    let lists: Vec<(Era, String)> = lists.collect();
    // The list that is told is the one that differs, where only one does.
    let legacy = legacy.filter(|_| judge(&published, &first) == Verdict::Equal);
    let received = legacy.filter(|legacy| judge(&published, legacy) != Verdict::Equal).unwrap_or(first);
    let sent_in: Vec<Era> =
        lists.iter().filter(|(_, digest)| digest == received.tools.digest()).map(|(era, _)| *era).collect();
    let verdict = judge(&published, &received);
    let report = Report { received, published, verdict };
    if options.json {
        let mut value = report.to_value();
        value["eras"] = names(&eras).into();
        value["received"]["eras"] = names(&sent_in).into();
        print(&shown::json(&value.to_string()))?;
    } else {
        tell(&report, &sent_in, options)?;
    }
    Ok(code(&report.verdict))
}

/// The exit code of a verdict.
fn code(verdict: &Verdict) -> Code {
    match verdict {
        Verdict::Equal => Code::Done,
        Verdict::Differs(_) => Code::Failed,
        Verdict::PartialView { .. } => Code::PartialView,
    }
}

fn era_name(era: Era) -> &'static str {
    match era {
        Era::Legacy => "legacy",
        Era::Modern => "modern",
    }
}

fn tell(report: &Report, eras: &[Era], options: &VerifyOptions) -> anyhow::Result<()> {
    let Report { received, published, verdict } = report;
    let (sent, digest) = (received.tools.tools().len(), received.tools.digest());
    let version = published.surface_version.as_ref().map(|version| format!(" of surface version {version}"));
    let version = version.unwrap_or_default();
    match verdict {
        Verdict::Equal => {
            print(&format!("equal: {} as published{version} ({}), digest {digest}", tools(sent), in_words(eras)))?;
        }
        Verdict::PartialView { visible, published } => {
            print(&format!("partial view: {visible} of the {published} published tools{version}"))?;
            say(
                "note: the server says that its contract is the published one; which tools it shows may depend on who asks",
            );
        }
        Verdict::Differs(difference) => {
            let count = published.tool_count.map(|count| format!(", {} published{version}", were(count)));
            let count = count.unwrap_or_default();
            match difference {
                Difference::Contradiction(_) => print(&format!(
                    "differs: {} received, with the published digest, and the file contradicts itself",
                    tools(sent)
                ))?,
                Difference::Changes(_) | Difference::Tools(_) | Difference::Digests { .. } => {
                    print(&format!("differs: {} received in the {}{count}", tools(sent), in_words(eras)))?
                }
            }
            for line in difference.lines() {
                print(&format!("  {line}"))?;
            }
            if options.pin.is_some() {
                say("help: if these changes are right, write the pin anew: `gatelatch pin --out FILE --force …`");
            }
        }
    }
    let says_otherwise = received.reported_digest.as_deref().filter(|reported| *reported != digest);
    if let Some(reported) = says_otherwise.filter(|_| !matches!(verdict, Verdict::PartialView { .. })) {
        say(&format!("note: the server says that its digest is `{reported}`, which is not that of what it sends"));
    }
    Ok(())
}

fn names(eras: &[Era]) -> Vec<&'static str> {
    eras.iter().map(|era| era_name(*era)).collect()
}

fn in_words(eras: &[Era]) -> String {
    format!("{} era{}", names(eras).join(" and "), if eras.len() == 1 { "" } else { "s" })
}

/// So many tools, in words.
pub(crate) fn tools(count: usize) -> String {
    format!("{count} tool{}", if count == 1 { "" } else { "s" })
}

fn were(count: usize) -> String {
    format!("{count} {}", if count == 1 { "was" } else { "were" })
}

/// What the files say.
fn published(options: &VerifyOptions) -> Result<Published, UsageError> {
    if let Some(path) = &options.pin {
        return Pin::parse(&read(path)?).map(Published::of_pin).map_err(|error| unusable(path, &error));
    }
    let lock = match &options.lock {
        Some(path) => Some((path, Lock::parse(&read(path)?).map_err(|error| unusable(path, &error))?)),
        None => None,
    };
    match (&options.server_json, lock) {
        (Some(path), lock) => {
            let published = Published::of_server_json(&read(path)?).map_err(|error| unusable(path, &error))?;
            match lock {
                Some((path, lock)) => published.with_lock(lock).map_err(|error| unusable(path, &error)),
                None => Ok(published),
            }
        }
        (None, Some((_, lock))) => Ok(Published::of_lock(lock)),
        (None, None) => Err(UsageError::new(
            "nothing is named to compare with",
            "write --server-json FILE, --lock FILE or --pin FILE",
        )),
    }
}

/// A file's text.
pub(crate) fn read(path: &Path) -> Result<String, UsageError> {
    file::text(path, MOST_BYTES)
        .map_err(|error| UsageError { message: format!("cannot read `{}`: {error}", path.display()), help: None })
}

/// Why a file cannot be used, with all causes.
pub(crate) fn unusable(path: &Path, error: &dyn std::error::Error) -> UsageError {
    let mut message = format!("`{}` cannot be used: {error}", path.display());
    let mut cause = error.source();
    while let Some(inner) = cause {
        message = format!("{message}: {inner}");
        cause = inner.source();
    }
    UsageError { message, help: None }
}

#[cfg(test)]
mod tests {
    use gatelatch_contract::verify::EXIT_NO_LIST;

    use super::*;

    #[test]
    fn a_verdict_has_the_number_that_the_library_documents() {
        let verdicts = [
            Verdict::Equal,
            Verdict::Differs(Difference::Tools(Vec::new())),
            Verdict::PartialView { visible: 1, published: 2 },
        ];
        for verdict in verdicts {
            assert_eq!(code(&verdict).number(), verdict.exit_code(), "{}", verdict.name());
        }
        assert_eq!(Code::NoList.number(), EXIT_NO_LIST);
    }
}
