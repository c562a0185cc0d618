//! `gatelatch contract diff`, `lock` and `digest`: a declaration against the lock file beside it.
//!
//! Owns what is printed and when the lock file is written. Start at [`diff`] and [`lock`].

use anyhow::Context;
use gatelatch_contract::diff::Diff;
use gatelatch_contract::file::write_whole;
use gatelatch_contract::lock::Lock;
use gatelatch_contract::shown;
use serde_json::{Value, json};

use super::declared::{Declared, Wrong};
use crate::exit::{Code, UsageError};
use crate::surface::review::lines_wait;
use crate::verb::{print, say};

/// Tells what changed since the lock file.
pub(super) fn diff(declared: &Declared, as_json: bool) -> anyhow::Result<Code> {
    let Some(lock) = declared.lock()? else {
        let help = "`gatelatch contract lock` writes the first".to_owned();
        return Err(Wrong::new("lock_missing", format!("{} has no lock file", declared.shown), Some(help)).into());
    };
    let diff = gatelatch_contract::diff::diff(&lock.tools, &declared.tools);
    let moved = lock.surface_version.check_move(&declared.version, &diff);
    let code = if moved.is_ok() { Code::Done } else { Code::Failed };
    if as_json {
        print(&shown::json(&report(declared, &lock, &diff, moved.is_ok()).to_string()))?;
        return Ok(code);
    }
    for change in diff.changes() {
        print(&format!("{change} [{}]", change.kind.rule().name))?;
    }
    if diff.untold() > 0 {
        print(&format!("and {} changes more", diff.untold()))?;
    }
    let (locked, written, needed) = (&lock.surface_version, &declared.version, needed(&lock, &diff));
    match moved {
        Ok(()) if diff.is_empty() && locked == written => print(&format!("nothing changed since {locked}"))?,
        Ok(()) if diff.is_empty() => {
            print(&format!("surface_version moved from {locked} to {written}; nothing changed, so that it need not"))?
        }
        Ok(()) => print(&format!("surface_version moved from {locked} to {written}; {needed} was needed"))?,
        Err(error) => say(&format!("error: {error}")),
    }
    Ok(code)
}

/// Puts the declaration in force, if its version moved enough.
pub(super) fn lock(declared: &Declared) -> anyhow::Result<Code> {
    let Some(file) = &declared.lock_path else {
        let help = "name a declaration of your own: --surface FILE";
        return Err(UsageError::new("the declaration that ships is locked already", help).into());
    };
    let before = declared.lock()?;
    let now = Lock { surface_version: declared.version.clone(), tools: declared.tools.clone() };
    if before.as_ref() == Some(&now) {
        print(&format!("nothing changed since {}", now.surface_version))?;
        return Ok(Code::Done);
    }
    if !declared.waiting.is_empty() {
        return Err(unreviewed(declared).into());
    }
    if let Some(before) = &before {
        before.check(&now.surface_version, &now.tools).map_err(anyhow::Error::new)?;
    }
    write_whole(file, &now.to_text()).context("nothing was locked")?;
    let count = now.tools.tools().len();
    print(&format!(
        "locked {} as {}: {count} {}, digest {}",
        declared.shown,
        now.surface_version,
        if count == 1 { "tool" } else { "tools" },
        now.tools.digest()
    ))?;
    Ok(Code::Done)
}

/// The lines of a draft that nobody has answered for yet.
fn unreviewed(declared: &Declared) -> Wrong {
    let mut message = format!("{} is a draft still: {}", declared.shown, lines_wait(declared.waiting.len()));
    for (number, line) in &declared.waiting {
        message.push_str(&format!("\n  {}:{number}: {line}", declared.shown));
    }
    let help = "mend what stands below each of them, and take the line away";
    Wrong::new("draft_unreviewed", message, Some(help.to_owned()))
}

/// Prints the digest of what would be published.
pub(super) fn digest(declared: &Declared, as_json: bool) -> anyhow::Result<Code> {
    if !as_json {
        print(declared.tools.digest())?;
        return Ok(Code::Done);
    }
    let tool = |tool: &gatelatch_contract::list::Tool| json!({"name": tool.name(), "digest": tool.digest(), "bytes": tool.bytes()});
    let tools: Vec<Value> = declared.tools.tools().iter().map(tool).collect();
    let report = json!({
        "digest": declared.tools.digest(),
        "surface_version": declared.version,
        "tool_count": tools.len(),
        "bytes": declared.tools.bytes(),
        "tools": tools,
    });
    print(&shown::json(&report.to_string()))?;
    Ok(Code::Done)
}

fn needed(lock: &Lock, diff: &Diff) -> String {
    diff.level()
        .map_or_else(|| lock.surface_version.clone(), |level| lock.surface_version.least_after(level))
        .to_string()
}

fn report(declared: &Declared, lock: &Lock, diff: &Diff, is_enough: bool) -> Value {
    let tools: Vec<Value> = diff.by_tool().iter().map(|(tool, level)| json!({"tool": tool, "level": level})).collect();
    json!({
        "locked_version": lock.surface_version,
        "surface_version": declared.version,
        "needed_version": needed(lock, diff),
        "version_is_enough": is_enough,
        "level": diff.level(),
        "tools": tools,
        "changes": diff.changes(),
        "untold": diff.untold(),
        "locked_digest": lock.tools.digest(),
        "digest": declared.tools.digest(),
    })
}
