//! The settings: flags over `GATELATCH_*` variables over `gatelatch.yaml` over defaults. The one place that reads the
//! environment.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context;
use gatelatch_gate::decision::{AskedBy, Policy};
use gatelatch_registry::catalog::Catalog;
use serde::Deserialize;

use crate::exit::UsageError;
use crate::options::Place;

/// The settings file's name.
const FILE: &str = "gatelatch.yaml";

/// Every `GATELATCH_*` variable that means something, with its meaning. The reference page is made from this table.
pub(crate) const VARIABLES: &[(&str, &str)] = &[
    ("GATELATCH_CATALOG", "catalog folders, separated like PATH; used when no --catalog is given"),
    ("GATELATCH_CONFIG", "the settings file; used when no --config is given"),
    ("GATELATCH_CONFIRM", "who asks the human: client (default), elicit or ticket"),
    ("GATELATCH_DENY_IRREVERSIBLE", "1: what cannot be undone is refused even where a human has agreed"),
    ("GATELATCH_CAPABILITIES_MAX_BYTES", "over how many bytes a full schema becomes an index (default 40000)"),
    ("GATELATCH_LOG", "what is logged on standard error: error, warn, info, debug, trace, or a filter by target"),
    ("GATELATCH_CACHE", "where compiled-in programs are unpacked (default: the user's cache folder)"),
    ("GATELATCH_BIN", "set for agents: the gatelatch program to call"),
    (
        "GATELATCH_RUN",
        "set for every child: the mark of its run, by which all that it leaves behind is found and ended",
    ),
    ("GATELATCH_XLSX_READ_ROOTS", "folders that the workbook reader may read, separated like PATH"),
    ("GATELATCH_XLSX_WRITE_ROOTS", "folders that the workbook reader may write, separated like PATH"),
];

/// This process's environment, as text; a variable that is no UTF-8 is left out.
#[derive(Clone, Debug)]
pub(crate) struct Environment {
    pub(crate) variables: BTreeMap<String, String>,
}

impl Environment {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
    pub(crate) fn of_this_process() -> Environment {
        let variables =
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        Environment { variables: variables.collect() }
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }
}

/// `gatelatch.yaml`: every key is checked, and an unknown one is an error.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct SettingsFile {
    #[serde(default)]
    catalog: Vec<PathBuf>,
    confirm: Option<String>,
    deny_irreversible: Option<bool>,
    capabilities_max_bytes: Option<usize>,
    log: Option<String>,
}

/// What holds for this run.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Catalog folders; none means the catalog that ships.
    pub(crate) catalogs: Vec<PathBuf>,
    pub(crate) policy: Policy,
    pub(crate) capabilities_max_bytes: usize,
    /// A filter for the log, if one is set.
    pub(crate) log: Option<String>,
}

impl Settings {
    /// The settings file that a command typed in `folder` reads: the one that is named, else the nearest upward.
    pub(crate) fn file(place: &Place, environment: &Environment, folder: &Path) -> Option<PathBuf> {
        let named = place.config.clone().or_else(|| environment.text("GATELATCH_CONFIG").map(PathBuf::from));
        named.or_else(|| folder.ancestors().map(|above| above.join(FILE)).find(|path| path.is_file()))
    }

    /// Reads the settings for a command typed in `folder`.
    pub(crate) fn read(place: &Place, environment: &Environment, folder: &Path) -> anyhow::Result<Settings> {
        let path = Settings::file(place, environment, folder);
        let file = match &path {
            Some(path) => read_file(path)?,
            None => SettingsFile::default(),
        };
        let beside = path.as_deref().and_then(Path::parent).unwrap_or(folder);
        let from_file = || file.catalog.iter().map(|dir| beside.join(dir)).collect::<Vec<_>>();
        let catalogs = if !place.catalog.is_empty() {
            place.catalog.clone()
        } else if let Some(list) = environment.text("GATELATCH_CATALOG") {
            std::env::split_paths(list).collect()
        } else {
            from_file()
        };
        let confirm = environment.text("GATELATCH_CONFIRM").map(str::to_owned).or(file.confirm);
        let deny = match environment.text("GATELATCH_DENY_IRREVERSIBLE") {
            Some(word) => truth("GATELATCH_DENY_IRREVERSIBLE", word)?,
            None => file.deny_irreversible.unwrap_or(false),
        };
        let max_bytes = match environment.text("GATELATCH_CAPABILITIES_MAX_BYTES") {
            Some(text) => text.parse().map_err(|_| {
                UsageError::new(
                    "GATELATCH_CAPABILITIES_MAX_BYTES is not a number of bytes",
                    "write a whole number such as 40000",
                )
            })?,
            None => file.capabilities_max_bytes.unwrap_or(40_000),
        };
        Ok(Settings {
            catalogs: catalogs.into_iter().map(|dir| folder.join(dir)).collect(),
            policy: Policy { asked_by: asked_by(confirm.as_deref())?, deny_irreversible: deny },
            capabilities_max_bytes: max_bytes,
            log: environment.text("GATELATCH_LOG").map(str::to_owned).or(file.log),
        })
    }
}

/// A `GATELATCH_*` variable that means nothing is a setting that somebody believes in: refuse to go on without it.
pub(crate) fn refuse_unknown_variables(environment: &Environment, catalog: &Catalog) -> Result<(), UsageError> {
    let mentioned = |name: &str| {
        catalog.entries().iter().any(|entry| {
            entry.manifest.secrets.iter().any(|secret| secret.name == name)
                || entry.manifest.actions.iter().any(|action| action.env.iter().any(|let_through| let_through == name))
        })
    };
    for name in environment.variables.keys().filter(|name| name.starts_with("GATELATCH_")) {
        if !VARIABLES.iter().any(|(known, _)| known == name) && !mentioned(name) {
            let nearest = VARIABLES.iter().map(|(known, _)| *known).min_by_key(|known| distance(known, name));
            return Err(UsageError::new(
                format!("the variable {name} is set and means nothing to gatelatch"),
                format!("did you mean {}? unset it otherwise", nearest.unwrap_or_default()),
            ));
        }
    }
    Ok(())
}

fn read_file(path: &Path) -> anyhow::Result<SettingsFile> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read the settings file `{}`", path.display()))?;
    serde_saphyr::from_str(&text).map_err(|error| {
        let known = "catalog, confirm, deny_irreversible, capabilities_max_bytes, log";
        UsageError::new(format!("{}: {error}", path.display()), format!("the settings are {known}")).into()
    })
}

fn truth(name: &str, word: &str) -> Result<bool, UsageError> {
    match word.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Ok(true),
        "0" | "false" | "no" | "off" => Ok(false),
        _ => Err(UsageError::new(format!("{name} is neither true nor false"), "write 1 or 0")),
    }
}

fn asked_by(word: Option<&str>) -> Result<AskedBy, UsageError> {
    match word {
        None | Some("client") => Ok(AskedBy::Client),
        Some("elicit") => Ok(AskedBy::Elicitation),
        Some("ticket") => Ok(AskedBy::Ticket),
        Some(_) => Err(UsageError::new("the setting confirm has an unknown value", "it is client, elicit or ticket")),
    }
}

/// How many letters differ, place by place: enough to find a mistyped variable.
fn distance(a: &str, b: &str) -> usize {
    strsim::damerau_levenshtein(a, b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> Environment {
        Environment { variables: pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect() }
    }

    fn place() -> Place {
        Place { catalog: Vec::new(), config: None, log_file: None }
    }

    #[test]
    fn a_variable_outranks_the_file_and_a_flag_outranks_both() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("a/b");
        std::fs::create_dir_all(&below).unwrap();
        std::fs::write(folder.path().join(FILE), "catalog: [mine]\ndeny_irreversible: true\n").unwrap();
        let from_file = Settings::read(&place(), &environment(&[]), &below).unwrap();
        assert_eq!(from_file.catalogs, [folder.path().join("mine")]);
        assert!(from_file.policy.deny_irreversible);
        let set = environment(&[("GATELATCH_CATALOG", "/x"), ("GATELATCH_DENY_IRREVERSIBLE", "0")]);
        let from_variable = Settings::read(&place(), &set, &below).unwrap();
        assert_eq!(from_variable.catalogs, [PathBuf::from("/x")]);
        assert!(!from_variable.policy.deny_irreversible);
        let flag = Place { catalog: vec!["/y".into()], config: None, log_file: None };
        assert_eq!(Settings::read(&flag, &set, &below).unwrap().catalogs, [PathBuf::from("/y")]);
    }

    #[test]
    fn an_unknown_key_and_a_wrong_value_are_errors_that_name_the_way_out() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(FILE), "catalogue: [mine]\n").unwrap();
        let error = Settings::read(&place(), &environment(&[]), folder.path()).unwrap_err().to_string();
        assert!(error.contains("catalogue") && error.contains("help:"), "{error}");
        std::fs::write(folder.path().join(FILE), "confirm: maybe\n").unwrap();
        assert!(Settings::read(&place(), &environment(&[]), folder.path()).is_err());
        std::fs::remove_file(folder.path().join(FILE)).unwrap();
        assert!(
            Settings::read(&place(), &environment(&[("GATELATCH_DENY_IRREVERSIBLE", "maybe")]), folder.path()).is_err()
        );
    }

    #[test]
    fn a_mistyped_variable_is_refused_with_the_right_name() {
        let set = environment(&[("GATELATCH_DENY_IREVERSIBLE", "1")]);
        let error = refuse_unknown_variables(&set, &Catalog::default()).unwrap_err().to_string();
        assert!(error.contains("did you mean GATELATCH_DENY_IRREVERSIBLE"), "{error}");
        assert!(refuse_unknown_variables(&environment(&[("GATELATCH_LOG", "warn")]), &Catalog::default()).is_ok());
    }
}
