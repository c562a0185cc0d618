//! `cargo xtask codegen`: the reference pages, from the tables that the program itself reads and checks by.
//!
//! `--check` writes nothing and fails when a page is not what it would write.

use std::fmt::Write as _;

use anyhow::{Context, bail};
use gatelatch_contract::change::ChangeKind;
use gatelatch_manifest::diagnostic::Severity;
use gatelatch_manifest::reference::{self, Block, Form, Key, Word, surface};
use gatelatch_manifest::rule::RULES;
use serde_json::{Map, Value, json};

use crate::step::{in_root, root, say};

const MADE: &str = "<!-- Made by `cargo xtask codegen`; edit the tables that it reads, not this page. -->\n\n";

/// Writes the pages, or with `check` only compares them.
pub(crate) fn run(check: bool) -> anyhow::Result<()> {
    let tables = tables()?;
    let pages = [
        ("docs/reference/manifest-keys.md", keys()?),
        ("docs/reference/surface-keys.md", surface_keys()?),
        ("docs/reference/diagnostics.md", diagnostics()?),
        ("docs/reference/changes.md", changes()?),
        ("docs/reference/verbs.md", verbs()?),
        ("docs/reference/environment.md", environment(&tables)?),
        ("docs/reference/exit-codes.md", exit_codes(&tables)?),
        ("docs/reference/command-line.md", command_line(&tables)?),
        ("docs/reference/tool.schema.json", schema("tool manifest", &reference::TOOL)?),
        ("docs/reference/agent.schema.json", schema("agent manifest", &reference::AGENT)?),
        ("docs/reference/chat_surface.schema.json", schema("chat surface declaration", &surface::DECLARATION)?),
    ];
    let mut stale = Vec::new();
    for (path, text) in pages {
        let file = root().join(path);
        if std::fs::read_to_string(&file).is_ok_and(|there| there == text) {
            continue;
        }
        if check {
            stale.push(path);
        } else {
            std::fs::create_dir_all(file.parent().unwrap_or(&file))?;
            std::fs::write(&file, text)?;
            say(&format!("wrote {path}"));
        }
    }
    if stale.is_empty() {
        Ok(())
    } else {
        bail!("{} differ from their tables; run `cargo xtask codegen`", stale.join(", "))
    }
}

/// What the binary says of itself.
fn tables() -> anyhow::Result<Value> {
    let mut command = in_root(env!("CARGO"));
    command.args(["run", "--quiet", "--locked", "--bin", "gatelatch", "--", "reference"]);
    let output = command.output().context("cannot start cargo")?;
    if !output.status.success() {
        bail!("`gatelatch reference` failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn keys() -> anyhow::Result<String> {
    let mut page = format!("# Manifest keys\n\n{MADE}");
    page.push_str("For editors: [tool.schema.json](tool.schema.json) and [agent.schema.json](agent.schema.json). How it all works together: [manifests.md](../manifests.md).\n");
    let blocks = [
        &reference::TOOL,
        &reference::AGENT,
        &reference::ACTION,
        &reference::ARGUMENT,
        &reference::EXAMPLE,
        &reference::SECRET,
        &reference::LIMITS,
        &reference::SKILL,
        &reference::SETTINGS,
    ];
    let words = [
        ("Runtimes", reference::RUNTIMES),
        ("Effects", reference::EFFECTS),
        ("Argument types", reference::ARGUMENT_TYPES),
        ("Words of `repeat`", reference::REPEATS),
    ];
    describe(&mut page, &blocks, &words)?;
    Ok(page)
}

fn surface_keys() -> anyhow::Result<String> {
    let mut page = format!("# Keys of the chat surface's declaration\n\n{MADE}");
    page.push_str(
        "The keys of `chat_surface.yaml`. For editors: [chat_surface.schema.json](chat_surface.schema.json).\n",
    );
    let blocks = [
        &surface::DECLARATION,
        &surface::SERVER,
        &surface::PUBLISHED_TOOL,
        &surface::PUBLISHED_ARGUMENT,
        &surface::RESULT,
        &surface::STEP,
        &surface::SOURCE,
        &surface::MEMBER,
        &surface::CONDITION,
    ];
    let words = [("Tests", surface::TESTS), ("Argument types", reference::ARGUMENT_TYPES)];
    describe(&mut page, &blocks, &words)?;
    Ok(page)
}

/// Adds the keys of mappings and the words of keys to a page.
fn describe(page: &mut String, blocks: &[&Block], words: &[(&str, &[Word])]) -> anyhow::Result<()> {
    for block in blocks {
        write!(page, "\n## {}\n\n| key | takes | without it | meaning |\n|---|---|---|---|\n", block.name)?;
        for key in block.keys() {
            let without = match (key.required, key.default) {
                (true, _) => "an error".to_owned(),
                (false, "") => String::new(),
                (false, default) => cell(default),
            };
            writeln!(page, "| `{}` | {} | {without} | {} |", key.name, cell(&key.form.in_words()), cell(key.meaning))?;
        }
    }
    for (title, words) in words {
        write!(page, "\n## {title}\n\n| word | meaning |\n|---|---|\n")?;
        for word in words.iter().filter(|word| word.available) {
            writeln!(page, "| `{}` | {} |", word.name, cell(word.meaning))?;
        }
    }
    Ok(())
}

fn diagnostics() -> anyhow::Result<String> {
    let mut page = format!("# Diagnostics\n\n{MADE}");
    page.push_str("`gatelatch check` tells every finding as `file:line:col: error[Mnnn]: …`. An error leaves the entry out; a warning does not.\n\n");
    page.push_str("| code | name | | meaning | way out |\n|---|---|---|---|---|\n");
    for rule in RULES {
        let severity = match rule.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let (name, meaning, way_out) = (rule.name, cell(rule.meaning), cell(rule.way_out));
        writeln!(page, "| M{:03} | `{name}` | {severity} | {meaning} | {way_out} |", rule.code)?;
    }
    Ok(page)
}

fn changes() -> anyhow::Result<String> {
    let mut page = format!("# Changes of a contract\n\n{MADE}");
    page.push_str("What `gatelatch contract diff` can find, and which part of `surface_version` each moves; how it is used: [contract.md](../contract.md).\n\n");
    page.push_str("| kind | moves | what it is | why |\n|---|---|---|---|\n");
    for kind in ChangeKind::ALL {
        let rule = kind.rule();
        writeln!(page, "| `{}` | {} | {} | {} |", rule.name, rule.level, cell(rule.meaning), cell(rule.because))?;
    }
    Ok(page)
}

fn verbs() -> anyhow::Result<String> {
    let list = std::fs::read_to_string(root().join("crates/gate/verbs.txt"))?;
    let mut page = format!("# Verbs\n\n{MADE}");
    page.push_str("What the words of an entry's and an action's name say. The strictest word of a name wins; see [manifests.md](../manifests.md#effects).\n\n```text\n");
    page.push_str(list.trim_end());
    page.push_str("\n```\n");
    Ok(page)
}

fn environment(tables: &Value) -> anyhow::Result<String> {
    let mut page = format!("# Environment variables\n\n{MADE}| variable | meaning |\n|---|---|\n");
    for row in rows(tables, "variables")? {
        writeln!(page, "| `{}` | {} |", text(row, "name")?, cell(text(row, "meaning")?))?;
    }
    Ok(page)
}

fn exit_codes(tables: &Value) -> anyhow::Result<String> {
    let mut page = format!("# Exit codes\n\n{MADE}| code | meaning |\n|---|---|\n");
    for row in rows(tables, "exit_codes")? {
        writeln!(page, "| {} | {} |", row["code"], cell(text(row, "meaning")?))?;
    }
    Ok(page)
}

fn command_line(tables: &Value) -> anyhow::Result<String> {
    let mut page = format!("# Command line\n\n{MADE}");
    for row in rows(tables, "commands")? {
        let help: Vec<&str> = text(row, "help")?.lines().map(str::trim_end).collect();
        write!(page, "## {}\n\n```text\n{}\n```\n\n", text(row, "name")?, help.join("\n").trim_end())?;
    }
    page.truncate(page.trim_end().len());
    page.push('\n');
    Ok(page)
}

fn rows<'a>(tables: &'a Value, name: &str) -> anyhow::Result<&'a Vec<Value>> {
    tables[name].as_array().with_context(|| format!("the binary gives no table `{name}`"))
}

fn text<'a>(row: &'a Value, key: &str) -> anyhow::Result<&'a str> {
    row[key].as_str().with_context(|| format!("a row has no `{key}`"))
}

/// A text within a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// A JSON Schema of a whole file, for editors. It is milder than `check`, never stricter.
fn schema(what: &str, block: &'static Block) -> anyhow::Result<String> {
    let mut schema = Map::new();
    schema.insert("$schema".to_owned(), "https://json-schema.org/draft/2020-12/schema".into());
    schema.insert("title".to_owned(), format!("Gatelatch {what}").into());
    schema.extend(mapping(block));
    Ok(serde_json::to_string_pretty(&schema)? + "\n")
}

fn mapping(block: &'static Block) -> Map<String, Value> {
    let properties: Map<String, Value> = block.keys().map(|key| (key.name.to_owned(), property(key))).collect();
    let required: Vec<&str> = block.keys().filter(|key| key.required).map(|key| key.name).collect();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties.into());
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    schema.insert("additionalProperties".to_owned(), false.into());
    schema
}

fn property(key: &Key) -> Value {
    let mut schema = form(&key.form);
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("description".to_owned(), key.meaning.into());
    }
    schema
}

fn form(form_of: &Form) -> Value {
    // Plain text in YAML may look like a number or a truth: it is text where text is due.
    let scalar = || json!({ "type": ["string", "number", "boolean"] });
    match form_of {
        Form::Name(_) | Form::Line { .. } | Form::Prose { .. } | Form::Text { .. } => scalar(),
        Form::Flag => json!({ "type": "boolean" }),
        Form::Whole { least, most } => json!({ "type": "integer", "minimum": least, "maximum": most }),
        Form::Number => json!({ "type": "number" }),
        Form::Json => json!({}),
        Form::JsonMapping | Form::Schema => json!({ "type": "object" }),
        Form::Output => json!({ "type": ["object", "string"] }),
        Form::Word(words) => {
            let words: Vec<&str> = words.iter().filter(|word| word.available).map(|word| word.name).collect();
            json!({ "enum": words })
        }
        Form::List { of, most } => json!({ "type": "array", "maxItems": most, "items": form(of) }),
        Form::Block(block) => Value::Object(mapping(block)),
        Form::NameOrBlock(_, block) => json!({ "anyOf": [scalar(), mapping(block)] }),
        Form::TextMapping => json!({ "type": "object", "additionalProperties": scalar() }),
        Form::BlockMapping { of, most } => {
            json!({ "type": "object", "maxProperties": most, "additionalProperties": mapping(of) })
        }
    }
}
