//! Reads a skill and the files that lie beside it.

use std::path::{Component, Path, PathBuf};

use gatelatch_manifest::diagnostic::plain;
use gatelatch_registry::catalog::{Origin, Skill};

/// A file of a skill larger than this is named, not shown.
const MAX_FILE_BYTES: u64 = 256 * 1024;
/// How many files beside `SKILL.md` are named.
const MAX_FILES: usize = 64;
/// How many files are looked at, so that the first of them by name are the same everywhere.
const MAX_WALKED: usize = 10_000;
/// How deep folders are followed.
const MAX_DEPTH: usize = 4;

/// The files beside `SKILL.md`, relative to the skill's folder, with `/`, sorted. Hidden files and links are left out.
pub fn files(skill: &Skill) -> Vec<String> {
    let mut files = match &skill.origin {
        Origin::Compiled(files) => files.iter().map(|file| file.path.to_owned()).collect(),
        Origin::Folder(folder) => {
            let mut found = Vec::new();
            walk(folder, &mut PathBuf::new(), 0, &mut found);
            found
        }
    };
    // A name that hides something cannot be asked for plainly, so it is not offered.
    files.retain(|file| file != "SKILL.md" && plain(file) == *file && !file.contains(['\n', '\t']));
    files.sort();
    files.truncate(MAX_FILES);
    files
}

/// The text of one of [`files`]; `None` when it is none of them, no text, or too large.
pub fn file(skill: &Skill, path: &str) -> Option<String> {
    // Only what the listing names can be read, so no path leads out of the skill's folder.
    if !files(skill).iter().any(|file| file == path) {
        return None;
    }
    let bytes = match &skill.origin {
        Origin::Compiled(files) => files.iter().find(|file| file.path == path)?.bytes.to_vec(),
        Origin::Folder(folder) => {
            let full = folder.join(path);
            let metadata = std::fs::symlink_metadata(&full).ok()?;
            if !metadata.is_file() || metadata.len() > MAX_FILE_BYTES {
                return None;
            }
            std::fs::read(full).ok()?
        }
    };
    // The front matter and body of `SKILL.md` were linted when they were read; nobody linted this.
    String::from_utf8(bytes).ok().map(|text| plain(&text))
}

fn walk(root: &Path, below: &mut PathBuf, depth: usize, found: &mut Vec<String>) {
    let Ok(entries) = std::fs::read_dir(root.join(&*below)) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Ok(kind) = entry.file_type() else { continue };
        if name.to_string_lossy().starts_with('.') || found.len() > MAX_WALKED {
            continue;
        }
        below.push(&name);
        if kind.is_file() {
            found.push(slashed(below));
        } else if kind.is_dir() && depth < MAX_DEPTH {
            walk(root, below, depth + 1, found);
        }
        below.pop();
    }
}

fn slashed(path: &Path) -> String {
    let parts: Vec<String> = path
        .components()
        .filter_map(|part| match part {
            Component::Normal(part) => Some(part.to_string_lossy().into_owned()),
            _ => None,
        })
        .collect();
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatelatch_registry::catalog::SkillManifest;

    fn skill(folder: &Path) -> Skill {
        Skill {
            manifest: SkillManifest {
                name: "s".into(),
                description: String::new(),
                fields: Default::default(),
                metadata: Default::default(),
                body: String::new(),
                position: Default::default(),
            },
            origin: Origin::Folder(folder.to_owned()),
            file: "SKILL.md".into(),
        }
    }

    #[test]
    fn a_skill_shows_its_own_files_and_nothing_outside_its_folder() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("s");
        std::fs::create_dir_all(folder.join("references")).unwrap();
        std::fs::write(root.path().join("outside.md"), "secret").unwrap();
        std::fs::write(folder.join("SKILL.md"), "body").unwrap();
        std::fs::write(folder.join("references/form.md"), "the form").unwrap();
        std::fs::write(folder.join(".hidden"), "x").unwrap();
        std::fs::write(folder.join("odd\u{1b}[2J.md"), "x").unwrap();
        std::fs::write(folder.join("references/odd.md"), "a\u{202e}b\n").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(root.path().join("outside.md"), folder.join("link.md")).unwrap();
        let skill = skill(&folder);
        assert_eq!(files(&skill), ["references/form.md", "references/odd.md"]);
        assert_eq!(file(&skill, "references/odd.md").as_deref(), Some("a\\u{202e}b\n"));
        assert_eq!(file(&skill, "references/form.md").as_deref(), Some("the form"));
        for path in ["../outside.md", "link.md", ".hidden", "/etc/passwd", "references/../../outside.md", "SKILL.md"] {
            assert_eq!(file(&skill, path), None, "{path}");
        }
    }
}
