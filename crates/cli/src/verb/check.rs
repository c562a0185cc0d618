//! `gatelatch check`: every finding about every manifest, and what the gate makes of the actions.

use gatelatch_gate::declaration;
use gatelatch_manifest::diagnostic::{Diagnostic, Severity};
use gatelatch_registry::load::Loaded;
use serde_json::json;

use crate::exit::Code;
use crate::options::Place;
use crate::settings::{self, Environment, Settings};
use crate::verb::{load_catalog, print, print_json, working_folder};

/// Prints the findings; the exit code is that of a failure when one of them is an error.
pub(crate) fn check(place: &Place, environment: &Environment, as_json: bool) -> anyhow::Result<Code> {
    let settings = Settings::read(place, environment, &working_folder()?)?;
    let Loaded { catalog, findings } = load_catalog(&settings);
    settings::refuse_unknown_variables(environment, &catalog)?;
    let undeclared = declaration::undeclared(&catalog);
    let loosenings: Vec<String> = declaration::loosenings(&catalog).iter().map(ToString::to_string).collect();
    let ignored: Vec<String> = declaration::ignored_declarations(&catalog).iter().map(ToString::to_string).collect();
    let errors = findings.iter().filter(|finding| finding.severity == Severity::Error).count();
    let code = if errors == 0 { Code::Done } else { Code::Failed };
    let (entries, skills) = (catalog.entries().len(), catalog.skills().len());
    if as_json {
        let findings: Vec<_> = findings.iter().map(Diagnostic::to_value).collect();
        let undeclared: Vec<String> = undeclared.iter().map(ToString::to_string).collect();
        print_json(
            &json!({
                "findings": findings,
                "undeclared": undeclared,
                "ignored_declarations": ignored,
                "loosenings": loosenings,
                "entries": entries,
                "skills": skills,
            }),
            true,
        )?;
        return Ok(code);
    }
    for finding in &findings {
        print(&format!("{finding}\n"))?;
    }
    section(
        "these ask a human only because no effect is declared; add `effect:` to each",
        undeclared.iter().map(|action| {
            format!("{action}; add `effect: read_only`, `reversible` or `irreversible` {}", action.place.in_file())
        }),
    )?;
    section(
        "these declare an effect milder than their name, and the name stands; add `because:` or rename",
        ignored.into_iter(),
    )?;
    section("these are milder than their name says, for the reason given", loosenings.into_iter())?;
    print(&format!(
        "{entries} tools and agents and {skills} skills load; {errors} errors, {} warnings",
        findings.len() - errors
    ))?;
    Ok(code)
}

fn section(title: &str, lines: impl Iterator<Item = String>) -> anyhow::Result<()> {
    let mut lines = lines.peekable();
    if lines.peek().is_none() {
        return Ok(());
    }
    print(&format!("{title}:"))?;
    for line in lines {
        print(&format!("  {line}"))?;
    }
    Ok(print("")?)
}
