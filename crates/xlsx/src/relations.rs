//! What the parts of an Office package point at.
//!
//! Owns how relationships name parts: by identifier, by kind, relative or absolute. Does not know what any kind means.

use std::collections::HashMap;

use crate::error::Fault;
use crate::markup::{Scanner, Token};
use crate::package::Package;
use crate::workbook::MAX_NAMES;

/// The main part of a package of this kind, by the package's own relationships, else by its usual name.
pub(crate) fn main_part(package: &Package) -> Result<Option<String>, Fault> {
    let relations = Relations::of(package, "")?;
    let named = relations.first("officeDocument").map(str::to_owned);
    Ok(named.filter(|part| package.has(part)).or_else(|| {
        ["xl/workbook.xml", "xl/workbook.bin"].into_iter().find(|part| package.has(part)).map(str::to_owned)
    }))
}

/// The folder of a part, with its slash.
fn folder(part: &str) -> &str {
    &part[..part.rfind('/').map_or(0, |slash| slash + 1)]
}

/// What a part points at.
pub(crate) struct Relations {
    /// By identifier the last word of the kind and the part's name.
    targets: HashMap<String, (String, String)>,
    order: Vec<String>,
}

impl Relations {
    /// What `part` points at; with an empty name what the package itself does.
    pub(crate) fn of(package: &Package, part: &str) -> Result<Relations, Fault> {
        let (folder, name) = (folder(part), &part[folder(part).len()..]);
        let mut relations = Relations { targets: HashMap::new(), order: Vec::new() };
        let Some(part) = package.outline_part(&format!("{folder}_rels/{name}.rels"))? else { return Ok(relations) };
        let mut scanner = Scanner::new(part)?;
        loop {
            match scanner.next()? {
                Token::Open(tag) if tag.name == b"Relationship" => {
                    // What lies outside the package is not ours to open.
                    if tag.attribute(b"TargetMode") == Some(b"External") {
                        continue;
                    }
                    let (Some(id), Some(kind), Some(target)) =
                        (tag.text(b"Id")?, tag.text(b"Type")?, tag.text(b"Target")?)
                    else {
                        continue;
                    };
                    let kind = kind.rsplit('/').next().unwrap_or_default().to_owned();
                    relations.order.push(id.clone());
                    relations.targets.insert(id, (kind, resolve(folder, &target)));
                    if relations.order.len() > MAX_NAMES {
                        return Err(Fault::too_large(format!("it lists more than {MAX_NAMES} relationships")));
                    }
                }
                Token::End => return Ok(relations),
                _ => {}
            }
        }
    }

    /// The kind and the part that an identifier stands for.
    pub(crate) fn target(&self, id: &str) -> Option<(&str, &str)> {
        self.targets.get(id).map(|(kind, part)| (kind.as_str(), part.as_str()))
    }

    /// The first part of a kind.
    pub(crate) fn first(&self, kind: &str) -> Option<&str> {
        let mut found = self.order.iter().filter_map(|id| self.targets.get(id));
        found.find(|(found, _)| found == kind).map(|(_, target)| target.as_str())
    }

    /// The first part of a kind that is there, else the one of the usual name beside the main part.
    pub(crate) fn beside(&self, package: &Package, main: &str, kind: &str, usual: &str) -> Option<String> {
        let named = self.first(kind).map(str::to_owned);
        let usual = || format!("{}{usual}", folder(main));
        named.filter(|part| package.has(part)).or_else(|| Some(usual()).filter(|part| package.has(part)))
    }
}

/// The name of a part as seen from a folder of the package.
fn resolve(folder: &str, target: &str) -> String {
    let target = target.replace('\\', "/");
    let whole = match target.strip_prefix('/') {
        Some(absolute) => absolute.to_owned(),
        None => format!("{folder}{target}"),
    };
    let mut parts: Vec<&str> = Vec::new();
    for piece in whole.split('/') {
        match piece {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            piece => parts.push(piece),
        }
    }
    parts.join("/")
}
