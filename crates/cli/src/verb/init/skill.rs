//! A skill from a Markdown file: its text with front matter before it.
//!
//! Start at [`write`].

use std::path::Path;

use gatelatch_manifest::document::Kind;
use gatelatch_manifest::read::{self, Beside};
use gatelatch_manifest::reference::SKILL_NAME;
use serde_json::Value;

use super::{Setting, help};
use crate::exit::{Code, UsageError};
use crate::options::InitOptions;
use crate::verb::print;
use crate::yaml::{self, Line};

/// Writes `SKILL.md` from the file that is named.
pub(super) fn write(options: &InitOptions, setting: &mut Setting<'_>) -> anyhow::Result<Code> {
    let [file] = options.command.as_slice() else {
        return Err(UsageError::new("a skill is written from one file", "name one Markdown file").into());
    };
    let path = setting.folder.join(file);
    let body = std::fs::read_to_string(&path).map_err(|error| {
        let help = "name a Markdown file that holds what the skill teaches";
        UsageError::new(format!("cannot read `{file}`: {}", error.kind()), help)
    })?;
    if body.starts_with("---") {
        let help = "it is a skill already: put it into `skills/<name>/SKILL.md`, and `gatelatch check` reads it";
        return Err(UsageError::new(format!("`{file}` begins with front matter"), help).into());
    }
    let stem = Path::new(file).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let fault = |name: &str| (!SKILL_NAME.fits(name)).then(|| format!("a skill's name has {}", SKILL_NAME.in_words));
    let name = match &options.name {
        Some(name) => name.clone(),
        None => setting.talk.ask("name", &name_of(stem), &fault)?,
    };
    if let Some(fault) = fault(&name) {
        return Err(UsageError::new(format!("`{name}` is no skill's name"), fault).into());
    }
    let said = options.description.as_deref().and_then(help::described).or_else(|| said(&body));
    let Some(said) = said else {
        let help = "say with --description what the skill does and when to use it";
        return Err(UsageError::new(format!("`{file}` holds no sentence that could describe it"), help).into());
    };
    let description = setting.talk.ask("what it does and when to use it", &said, &|_| None)?;
    let front =
        yaml::write(&[Line::Pair("name", Value::from(name.clone())), Line::Pair("description", description.into())]);
    let text = format!("---\n{front}---\n\n{}\n", body.trim());
    let catalog = setting.catalog()?;
    let folder = catalog.join(Kind::Skill.folder()).join(&name);
    if folder.symlink_metadata().is_ok() {
        let help = "nothing is overwritten; give another --name, or remove it first";
        return Err(UsageError::new(format!("`{}` is there already", setting.shown(&folder)), help).into());
    }
    let read = read::skill(Kind::Skill.file(), &name, text.as_bytes(), &|_| Beside::File);
    if let (None, Some(finding)) = (&read.document, read.findings.first()) {
        return Err(UsageError::new(format!("no skill made from `{file}` would load"), finding.message.clone()).into());
    }
    let manifest = folder.join(Kind::Skill.file());
    if !setting.talk.agrees(&format!("write {}?", setting.shown(&manifest)))? {
        return Err(UsageError::new("nothing was written", "run it again to write it").into());
    }
    super::write(&folder, &manifest, &text, &[])?;
    let served = setting.served(&catalog);
    print(&format!("wrote {}; {file} stays as it is", setting.shown(&manifest)))?;
    print(&format!("\nnext:\n  {served} check\n  {served} skill {name}\n  {served} connect opencode"))?;
    Ok(Code::Done)
}

fn name_of(stem: &str) -> String {
    let name = super::program::entry_name(stem).replace('_', "-");
    let parts: Vec<&str> = name.split('-').filter(|part| !part.is_empty()).collect();
    parts.join("-")
}

/// The first paragraph that is prose, else the title.
fn said(body: &str) -> Option<String> {
    let mut paragraphs = body.split("\n\n").map(str::trim);
    let prose = |text: &&str| text.starts_with(|c: char| c.is_alphanumeric());
    let title = body.lines().find_map(|line| line.strip_prefix('#')).map(|title| title.trim_start_matches('#'));
    paragraphs.find(prose).or(title).and_then(help::described)
}
