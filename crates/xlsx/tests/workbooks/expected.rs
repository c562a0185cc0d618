//! Every public workbook against what another reader, openpyxl, makes of it.
//!
//! `differences.json` beside this file holds every difference with its reason and which reader is right: as rules, where
//! one reason explains many, and one by one. A difference that is not there fails, and so does an entry that no workbook
//! needs any more.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::{ok, run};

/// Where the workbooks lie, if they do.
fn shared() -> Option<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "a test looks for what lies beside the repository")]
    let named = std::env::var_os("GATELATCH_SHARED").map(PathBuf::from);
    let root = named.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"));
    let folder = root.join("data/xlsx");
    folder.join("books").is_dir().then_some(folder)
}

/// One place where the two readers differ.
struct Difference {
    book: String,
    place: String,
    ours: Value,
    openpyxl: Value,
}

#[test]
fn every_difference_from_openpyxl_stands_in_the_table_with_its_reason() {
    let Some(folder) = shared() else {
        println!("skipped: the workbooks do not lie beside the repository");
        return;
    };
    let table: Value = serde_json::from_str(include_str!("differences.json")).unwrap();
    let mut unused: BTreeSet<String> =
        table["rules"].as_array().unwrap().iter().map(|rule| rule["rule"].as_str().unwrap().to_owned()).collect();
    let mut singles: Vec<&Value> = table["differences"].as_array().unwrap().iter().collect();
    let mut unexplained = Vec::new();
    let mut books = 0;
    for book in std::fs::read_dir(folder.join("books")).unwrap() {
        let book = book.unwrap().file_name().into_string().unwrap();
        let expected = std::fs::read(folder.join("expected").join(format!("{book}.json"))).unwrap();
        let expected: Value = serde_json::from_slice(&expected).unwrap();
        books += 1;
        for found in differences(&folder.join("books"), &book, &expected) {
            if let Some(rule) = rule(&found) {
                unused.remove(rule);
                continue;
            }
            let entry =
                json!({"book": found.book, "place": found.place, "ours": found.ours, "openpyxl": found.openpyxl});
            let same =
                |single: &&Value| ["book", "place", "ours", "openpyxl"].iter().all(|key| single[*key] == entry[*key]);
            match singles.iter().position(same) {
                Some(at) => {
                    singles.remove(at);
                }
                None => unexplained.push(entry.to_string()),
            }
        }
    }
    assert!(unexplained.is_empty(), "unexplained differences:\n{}", unexplained.join("\n"));
    assert!(unused.is_empty() && singles.is_empty(), "entries that nothing needs: {unused:?} {singles:?}");
    assert!(books >= 40, "only {books} workbooks");
}

#[test]
fn every_entry_of_the_table_says_why_and_who_is_right() {
    let table: Value = serde_json::from_str(include_str!("differences.json")).unwrap();
    for entry in table["rules"].as_array().unwrap().iter().chain(table["differences"].as_array().unwrap()) {
        assert!(entry["reason"].as_str().is_some_and(|reason| reason.len() > 20), "{entry}");
        assert!(matches!(entry["right"].as_str(), Some("ours" | "openpyxl" | "both")), "{entry}");
    }
}

/// Which rule explains a difference.
fn rule(found: &Difference) -> Option<&'static str> {
    let (ours, openpyxl) = (&found.ours, &found.openpyxl);
    if let (Some(ours), Some(openpyxl)) = (ours.as_str(), openpyxl.as_str()) {
        if openpyxl == format!("{ours}T00:00:00") {
            return Some("date-only");
        }
        if timedelta(openpyxl).is_some_and(|duration| duration == ours) {
            return Some("duration");
        }
    }
    if let (Some(ours), Some(openpyxl)) = (ours.as_i64(), openpyxl.as_f64().filter(|_| openpyxl.is_f64())) {
        return (ours as f64 == openpyxl).then_some("whole-number");
    }
    (*ours == json!([0, 0]) && *openpyxl == json!([1, 1])).then_some("empty-sheet")
}

/// `10 days, 15:10:10` as ISO 8601.
fn timedelta(text: &str) -> Option<String> {
    let (days, time) = text.split_once(" days, ").unwrap_or(("0", text));
    let parts: Vec<u32> = time.split(':').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let [hours, minutes, seconds] = parts[..] else { return None };
    let days = if days == "0" { String::new() } else { format!("{days}D") };
    Some(format!("P{days}T{hours}H{minutes}M{seconds}S"))
}

fn differences(books: &Path, book: &str, expected: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut differ = |place: &str, ours: &Value, openpyxl: &Value| {
        if ours != openpyxl {
            found.push(Difference {
                book: book.to_owned(),
                place: place.to_owned(),
                ours: ours.clone(),
                openpyxl: openpyxl.clone(),
            });
        }
    };
    let listed = match run(books, "list-sheets", &["--path", book]) {
        Ok(listed) => listed,
        Err(error) => {
            differ("book", &error["error"], expected.get("error").unwrap_or(&Value::Null));
            return found;
        }
    };
    let size = |sheet: &Value| json!([sheet["rows"], sheet["columns"]]);
    let sheets: Vec<&Value> =
        listed["sheets"].as_array().unwrap().iter().filter(|sheet| sheet["kind"] == "worksheet").collect();
    let ours: Value = sheets.iter().map(|sheet| json!([sheet["title"], sheet["rows"], sheet["columns"]])).collect();
    if let Some(error) = expected.get("error") {
        differ("book", &ours, error);
        return found;
    }
    let theirs = expected["sheets"].as_array().unwrap();
    if sheets.len() != theirs.len() {
        differ("book", &ours, &expected["sheets"]);
        return found;
    }
    for (sheet, theirs) in sheets.iter().zip(theirs) {
        let title = sheet["title"].as_str().unwrap();
        differ("titles", &sheet["title"], &theirs["title"]);
        differ(&format!("size of {title}"), &size(sheet), &size(theirs));
        let ours = ok(books, "read-sheet", &["--path", book, "--sheet", title])["rows"].clone();
        let (ours, theirs) = (ours.as_array().unwrap(), expected["cells"][title].as_array().unwrap());
        for at in 0..ours.len().max(theirs.len()) {
            let row = |rows: &[Value]| rows.get(at).and_then(Value::as_array).cloned().unwrap_or_default();
            let (ours, theirs) = (row(ours), row(theirs));
            for column in 0..ours.len().max(theirs.len()) {
                let cell = |row: &[Value]| row.get(column).cloned().unwrap_or(json!(""));
                let place = format!("{title}, non-empty row {}, column {}", at + 1, column + 1);
                differ(&place, &cell(&ours), &cell(&theirs));
            }
        }
    }
    found
}
