//! The settings: flags over `GATELATCH_*` variables over `gatelatch.yaml` over defaults. The one place that reads the
//! environment.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gatelatch_gate::decision::{AskedBy, Policy};
use gatelatch_manifest::document::SettingsManifest;
use gatelatch_manifest::read::{self, Read};
use gatelatch_registry::catalog::Catalog;

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
    ("GATELATCH_USES", "set for agents: what they say that they use; their calls get nothing else"),
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
    /// Reads the settings for a command typed in `folder`.
    pub(crate) fn read(place: &Place, environment: &Environment, folder: &Path) -> anyhow::Result<Settings> {
        let path = match place.config.clone().or_else(|| environment.text("GATELATCH_CONFIG").map(PathBuf::from)) {
            Some(path) => Some(path),
            None => folder.ancestors().map(|above| above.join(FILE)).find(|path| path.is_file()),
        };
        let file = match &path {
            Some(path) => read_file(&folder.join(path))?,
            None => SettingsManifest::default(),
        };
        let beside = path.as_deref().and_then(Path::parent).unwrap_or(folder);
        let catalogs: Vec<PathBuf> = if !place.catalog.is_empty() {
            place.catalog.clone()
        } else if let Some(list) = environment.text("GATELATCH_CATALOG") {
            std::env::split_paths(list).collect()
        } else {
            file.catalog.iter().map(|dir| beside.join(dir)).collect()
        };
        for catalog in &catalogs {
            refuse_no_catalog(catalog, &folder.join(catalog))?;
        }
        let asked_by = match environment.text("GATELATCH_CONFIRM") {
            Some(word) => asked_by(word).ok_or_else(|| {
                let message = format!("GATELATCH_CONFIRM is `{word}`, which is no way of asking");
                UsageError::new(message, "write client, elicit or ticket")
            })?,
            // The reader of the file knows the words.
            None => file.confirm.as_deref().and_then(asked_by).unwrap_or(AskedBy::Client),
        };
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
            None => file.capabilities_max_bytes.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(40_000),
        };
        Ok(Settings {
            catalogs,
            policy: Policy { asked_by, deny_irreversible: deny },
            capabilities_max_bytes: max_bytes,
            log: environment.text("GATELATCH_LOG").map(str::to_owned).or(file.log),
        })
    }
}

/// A catalog that somebody names must be there: serving nothing would look like success.
fn refuse_no_catalog(named: &Path, folder: &Path) -> Result<(), UsageError> {
    if !folder.is_dir() {
        let message = format!("there is no catalog folder `{}`", named.display());
        return Err(UsageError::new(message, "name a folder that holds tools/, agents/ or skills/"));
    }
    let inside = ["tools", "agents", "skills"];
    if inside.iter().any(|name| folder.ends_with(name)) && !inside.iter().any(|name| folder.join(name).is_dir()) {
        let above = named.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let message = format!("`{}` is a folder inside a catalog", named.display());
        return Err(UsageError::new(message, format!("name the folder that holds it: --catalog {}", above.display())));
    }
    Ok(())
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

fn read_file(path: &Path) -> Result<SettingsManifest, UsageError> {
    let bytes = std::fs::read(path).map_err(|error| {
        let message = format!("cannot read the settings file `{}`: {error}", path.display());
        UsageError::new(message, "name a file that is there, or leave --config and GATELATCH_CONFIG out")
    })?;
    let Read { document, findings } = read::settings(&path.display().to_string(), &bytes);
    let told: Vec<String> = findings.iter().map(ToString::to_string).collect();
    document.ok_or_else(|| UsageError { message: told.join("\n"), help: None })
}

fn truth(name: &str, word: &str) -> Result<bool, UsageError> {
    match word.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Ok(true),
        "0" | "false" | "no" | "off" => Ok(false),
        _ => Err(UsageError::new(format!("{name} is neither true nor false"), "write 1 or 0")),
    }
}

fn asked_by(word: &str) -> Option<AskedBy> {
    AskedBy::ALL.into_iter().find(|known| known.as_str() == word)
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
        std::fs::create_dir_all(folder.path().join("mine")).unwrap();
        std::fs::create_dir_all(folder.path().join("x")).unwrap();
        std::fs::create_dir_all(folder.path().join("y")).unwrap();
        std::fs::write(folder.path().join(FILE), "catalog: [mine]\ndeny_irreversible: true\n").unwrap();
        let from_file = Settings::read(&place(), &environment(&[]), &below).unwrap();
        assert_eq!(from_file.catalogs, [folder.path().join("mine")]);
        assert!(from_file.policy.deny_irreversible);
        let (x, y) = (folder.path().join("x"), folder.path().join("y"));
        let set = environment(&[("GATELATCH_CATALOG", x.to_str().unwrap()), ("GATELATCH_DENY_IRREVERSIBLE", "0")]);
        let from_variable = Settings::read(&place(), &set, &below).unwrap();
        assert_eq!(from_variable.catalogs, [x]);
        assert!(!from_variable.policy.deny_irreversible);
        let flag = Place { catalog: vec![y.clone()], config: None, log_file: None };
        assert_eq!(Settings::read(&flag, &set, &below).unwrap().catalogs, [y]);
    }

    #[test]
    fn an_unknown_key_and_a_wrong_value_are_errors_that_name_the_way_out() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(FILE), "catalogue: [mine]\n").unwrap();
        let error = Settings::read(&place(), &environment(&[]), folder.path()).unwrap_err().to_string();
        assert!(error.contains("gatelatch.yaml:1:1: error[M") && error.contains("did you mean `catalog`"), "{error}");
        std::fs::write(folder.path().join(FILE), "confirm: maybe\n").unwrap();
        assert!(Settings::read(&place(), &environment(&[]), folder.path()).is_err());
        std::fs::remove_file(folder.path().join(FILE)).unwrap();
        assert!(
            Settings::read(&place(), &environment(&[("GATELATCH_DENY_IRREVERSIBLE", "maybe")]), folder.path()).is_err()
        );
    }

    #[test]
    fn a_catalog_that_is_not_there_or_lies_one_level_too_deep_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("mine/tools")).unwrap();
        let named = |path: &str| Place { catalog: vec![path.into()], ..place() };
        let error =
            |path: &str| Settings::read(&named(path), &environment(&[]), folder.path()).unwrap_err().to_string();
        assert!(error("nope").contains("no catalog folder `nope`"), "{}", error("nope"));
        assert!(error("mine/tools").contains("--catalog mine"), "{}", error("mine/tools"));
        assert!(Settings::read(&named("mine"), &environment(&[]), folder.path()).is_ok());
    }

    #[test]
    fn a_mistyped_variable_is_refused_with_the_right_name() {
        let set = environment(&[("GATELATCH_DENY_IREVERSIBLE", "1")]);
        let error = refuse_unknown_variables(&set, &Catalog::default()).unwrap_err().to_string();
        assert!(error.contains("did you mean GATELATCH_DENY_IRREVERSIBLE"), "{error}");
        assert!(refuse_unknown_variables(&environment(&[("GATELATCH_LOG", "warn")]), &Catalog::default()).is_ok());
    }
}
