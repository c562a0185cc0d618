//! The compiled cache never changes what loading gives: whatever happens to the catalog or to the file.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

use std::fs;
use std::path::{Path, PathBuf};

use gatelatch_registry::load::{Loaded, Source, load, load_with};
use gatelatch_registry::store::{self, Edition, Store};
use proptest::prelude::*;
use tempfile::TempDir;

/// Does something to a catalog's folder.
type Change<'c> = &'c dyn Fn(&Path);

const PROGRAM: &str = "1.0.0";

const RICH: &str = r##"name: rich
description: Says everything that a manifest can say, größer als nötig.
version: 1.2.3
runtime: python
entrypoint: main.py
secrets: [{name: TOKEN, description: For the remote side, required: false}, OTHER]
env: [LANG_X]
limits: {timeout_s: 7, max_input_bytes: 100, max_output_bytes: 2000, max_concurrent: 2}
actions:
  - name: read-rows
    description: Read rows.
    effect: read_only
    idempotent: true
    open_world: false
    args:
      - {name: path, type: path, required: true, positional: true, allow_dash: true, description: File}
      - {name: ratio, type: number, minimum: 0.1, maximum: 1.0, default: 0.5}
      - {name: big, type: integer, minimum: -9223372036854775808, maximum: 9223372036854775807}
      - {name: mode, type: string, enum: [fast, slow], default: fast, description: How}
      - {name: day, type: string, pattern: "^[0-9]+$"}
      - {name: flag, type: boolean, negatable: true, default: true}
      - {name: tags, type: array, items: {type: object, properties: {a: {type: integer}}, required: [a]}}
      - {name: more, type: object}
      - {name: labels, type: array, repeat: name}
      - {name: files, type: array, repeat: value, positional: true}
    output_schema: {type: object, properties: {rows: {type: array}}}
    narrow_with: [mode]
    examples: [{description: One, args: {path: a.csv, ratio: 0.25, tags: [{a: 1}], more: {x: [1.0, null]}}}]
    triggers: [table, csv]
  - name: drop-rows
    description: Drop rows.
    approval: true
    output_schema: a table of what went
"##;

/// A catalog with everything that can come up: rich, plain, broken, an agent, a skill, a stray file, no manifest.
fn house() -> TempDir {
    let folder = TempDir::new().unwrap();
    for (path, text) in [
        ("tools/rich/tool.yaml", RICH),
        ("tools/rich/main.py", ""),
        ("tools/plain/tool.yaml", "name: plain\ndescription: Plain.\nruntime: python\nentrypoint: run.py\n"),
        ("tools/plain/run.py", ""),
        ("tools/broken/tool.yaml", "name: broken\ndescripton: Broken.\nruntime: python\nentrypoint: run.py\n"),
        ("tools/stray.yaml", "name: stray\n"),
        ("tools/empty/notes.txt", ""),
        (
            "agents/helper/agent.yaml",
            "name: helper\ndescription: Helps.\nruntime: python\nentrypoint: main.py\nuses: [plain, rich.read-rows]\n",
        ),
        ("agents/helper/main.py", ""),
        (
            "agents/lost/agent.yaml",
            "name: lost\ndescription: Lost.\nruntime: python\nentrypoint: main.py\nuses: [nobody]\n",
        ),
        ("agents/lost/main.py", ""),
        (
            "skills/know/SKILL.md",
            "---\nname: know\ndescription: How to know.\nlicense: MIT\nmetadata: {author: ann}\n---\n# Know\n",
        ),
    ] {
        put(folder.path(), path, text);
    }
    folder
}

fn put(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn sources(folder: &TempDir) -> [Source; 1] {
    [Source::Folder(folder.path().to_owned())]
}

/// A private folder of the test's own, and the cache file in it.
fn cache() -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let place = store::place(folder.path(), &[PathBuf::from("/x")]);
    (folder, place)
}

fn shown(loaded: &Loaded) -> String {
    format!("{loaded:#?}")
}

/// Loads through the cache file, keeps what was read, and holds that nothing differs from loading without it.
fn check(house: &TempDir, place: &Path) -> (Store, Edition) {
    let store = Store::open(place, PROGRAM);
    let (loaded, edition) = load_with(&sources(house), &store);
    assert_eq!(shown(&loaded), shown(&load(&sources(house))));
    store::save(place, PROGRAM, &store, &edition, b"the index").unwrap();
    (store, edition)
}

#[test]
fn what_is_remembered_is_what_reading_gives_field_by_field() {
    let (house, (_folder, place)) = (house(), cache());
    check(&house, &place);
    let (store, edition) = check(&house, &place);
    assert_eq!(store.index(&edition), Some(&b"the index"[..]), "the second load knows every reading of the first");
}

#[test]
fn the_catalog_that_ships_is_remembered_as_it_is() {
    let manifests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../manifests");
    let (_folder, place) = cache();
    let sources = [Source::Folder(manifests)];
    let (first, edition) = load_with(&sources, &Store::default());
    store::save(&place, PROGRAM, &Store::default(), &edition, b"").unwrap();
    let store = Store::open(&place, PROGRAM);
    let (second, edition) = load_with(&sources, &store);
    assert!(store.index(&edition).is_some());
    assert_eq!(shown(&first), shown(&second));
}

#[test]
fn every_change_to_the_catalog_is_seen() {
    let (house, (_folder, place)) = (house(), cache());
    check(&house, &place);
    let changes: [(&str, Change<'_>); 7] = [
        ("a word in a manifest of the same length", &|root| {
            put(
                root,
                "tools/plain/tool.yaml",
                "name: plain\ndescription: Plane.\nruntime: python\nentrypoint: run.py\n",
            );
        }),
        ("an entrypoint that went", &|root| fs::remove_file(root.join("tools/plain/run.py")).unwrap()),
        ("an entrypoint that came", &|root| put(root, "tools/plain/run.py", "")),
        ("a manifest that went", &|root| fs::remove_file(root.join("tools/rich/tool.yaml")).unwrap()),
        ("a manifest that came", &|root| {
            put(root, "tools/new/tool.yaml", "name: new\ndescription: New.\nruntime: process\nentrypoint: echo\n");
        }),
        ("a folder under another name", &|root| fs::rename(root.join("tools/new"), root.join("tools/newer")).unwrap()),
        ("an agent that finds its tool", &|root| {
            put(root, "tools/nobody/tool.yaml", "name: nobody\ndescription: N.\nruntime: process\nentrypoint: echo\n");
        }),
    ];
    for (what, change) in changes {
        let before = shown(&load(&sources(&house)));
        change(house.path());
        check(&house, &place);
        assert_ne!(before, shown(&load(&sources(&house))), "{what}: the test changes nothing");
    }
}

#[test]
fn the_index_is_never_that_of_another_catalog() {
    let (house, (_folder, place)) = (house(), cache());
    check(&house, &place);
    fs::remove_dir_all(house.path().join("tools/rich")).unwrap();
    let store = Store::open(&place, PROGRAM);
    let (_, edition) = load_with(&sources(&house), &store);
    assert_eq!(store.index(&edition), None);
}

#[test]
fn a_file_of_another_program_is_no_cache() {
    let (house, (_folder, place)) = (house(), cache());
    check(&house, &place);
    let store = Store::open(&place, "1.0.1");
    let (loaded, edition) = load_with(&sources(&house), &store);
    assert_eq!(store.index(&edition), None);
    assert_eq!(shown(&loaded), shown(&load(&sources(&house))));
}

#[cfg(unix)]
#[test]
fn a_file_that_others_could_have_written_is_no_cache() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let house = house();
    let tampered = |tamper: &dyn Fn(&Path)| {
        let (_folder, place) = cache();
        check(&house, &place);
        tamper(&place);
        let store = Store::open(&place, PROGRAM);
        let (_, edition) = load_with(&sources(&house), &store);
        assert_eq!(store.index(&edition), None);
    };
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    tampered(&|place| mode(place, 0o660));
    tampered(&|place| mode(place, 0o604));
    tampered(&|place| mode(place.parent().unwrap(), 0o770));
    tampered(&|place| {
        let elsewhere = place.with_extension("elsewhere");
        fs::rename(place, &elsewhere).unwrap();
        symlink(&elsewhere, place).unwrap();
    });
    tampered(&|place| {
        fs::remove_file(place).unwrap();
        fs::create_dir(place).unwrap();
    });
}

#[cfg(unix)]
#[test]
fn nothing_is_kept_where_others_could_write() {
    use std::os::unix::fs::PermissionsExt;
    let (house, (_folder, place)) = (house(), cache());
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    fs::set_permissions(place.parent().unwrap(), fs::Permissions::from_mode(0o777)).unwrap();
    let (_, edition) = load_with(&sources(&house), &Store::default());
    assert!(store::save(&place, PROGRAM, &Store::default(), &edition, b"").is_err());
    assert!(!place.exists());
}

#[test]
fn old_files_make_room_for_new_ones() {
    let (house, folder) = (house(), TempDir::new().unwrap());
    let (_, edition) = load_with(&sources(&house), &Store::default());
    for number in 0..20 {
        let place = store::place(folder.path(), &[PathBuf::from(format!("/{number}"))]);
        store::save(&place, PROGRAM, &Store::default(), &edition, b"").unwrap();
        assert!(place.exists());
    }
    assert_eq!(fs::read_dir(folder.path().join("catalogs")).unwrap().count(), 8);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_torn_or_changed_file_changes_no_answer(
        cut in proptest::option::of(0.0..1.0f64),
        flips in proptest::collection::vec((0.0..1.0f64, 1..=255u8), 0..4),
        tail in proptest::collection::vec(any::<u8>(), 0..3),
    ) {
        let (house, (_folder, place)) = (house(), cache());
        let (_, edition) = load_with(&sources(&house), &Store::default());
        store::save(&place, PROGRAM, &Store::default(), &edition, b"the index").unwrap();
        let mut bytes = fs::read(&place).unwrap();
        let at = |share: f64, length: usize| (share * length as f64) as usize;
        if let Some(cut) = cut {
            bytes.truncate(at(cut, bytes.len()));
        }
        let length = bytes.len();
        for (share, flip) in flips.into_iter().filter(|_| length > 0) {
            bytes[at(share, length)] ^= flip;
        }
        bytes.extend(tail);
        fs::write(&place, bytes).unwrap();
        let store = Store::open(&place, PROGRAM);
        let (loaded, edition) = load_with(&sources(&house), &store);
        prop_assert!(store.index(&edition).is_none_or(|index| index == b"the index"));
        prop_assert_eq!(shown(&loaded), shown(&load(&sources(&house))));
    }
}
