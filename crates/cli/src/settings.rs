//! The settings: flags over `GATELATCH_*` variables over `gatelatch.yaml` over defaults. The one place that reads the
//! environment.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use gatelatch_gate::decision::{AskedBy, Policy};
use gatelatch_manifest::document::SettingsManifest;
use gatelatch_manifest::read::{self, MOST_BYTES, Read};
use gatelatch_registry::catalog::Catalog;
use gatelatch_spawn::child::RUN_VARIABLE;

use crate::exit::UsageError;
use crate::file;
use crate::options::Place;
use crate::verb::load_catalog;

/// The settings file's name.
const FILE: &str = "gatelatch.yaml";

/// How the name of every variable of ours begins.
const PREFIX: &str = "GATELATCH_";

/// Every `GATELATCH_*` variable that means something, with its meaning. The reference page is made from this table.
pub(crate) const VARIABLES: &[(&str, &str)] = &[
    ("GATELATCH_CATALOG", "catalog folders, separated like PATH; used when no --catalog is given"),
    ("GATELATCH_CONFIG", "the settings file; used when no --config is given"),
    ("GATELATCH_CONFIRM", "who asks the human: client (default), elicit or ticket"),
    ("GATELATCH_DENY_IRREVERSIBLE", "1: what cannot be undone is refused even where a human has agreed"),
    ("GATELATCH_CAPABILITIES_MAX_BYTES", "over how many bytes a full schema becomes an index (default 40000)"),
    ("GATELATCH_CHAT_SURFACE", "the declaration that `gatelatch chat` serves; used when no --surface is given"),
    (
        "GATELATCH_LOG",
        "what is logged on standard error: error, warn, info, debug, trace, off, or a filter by target; `operator` and `chat` log the verdict and the outcome of each call whatever it says, unless it names their target, `gatelatch::record`",
    ),
    (
        "GATELATCH_CACHE",
        "where compiled-in programs are unpacked and compiled catalogs are kept (default: the user's cache folder)",
    ),
    ("GATELATCH_CACHE_CATALOG", "0: a large catalog is read anew at every start, and nothing of it is kept"),
    ("GATELATCH_BIN", "set for agents: the gatelatch program to call"),
    ("GATELATCH_USES", "set for agents: what they say that they use; their calls get nothing else"),
    (
        "GATELATCH_RUN",
        "set for every child: the mark of its run, by which all that it leaves behind is found and ended",
    ),
    ("GATELATCH_XLSX_READ_ROOTS", "folders that the workbook reader may read, separated like PATH"),
    ("GATELATCH_XLSX_WRITE_ROOTS", "folders that the workbook reader may write, separated like PATH"),
];

/// This process's environment, as text.
#[derive(Clone, Debug)]
pub(crate) struct Environment {
    /// Every variable whose name and value are UTF-8.
    pub(crate) variables: BTreeMap<String, String>,
    /// The others, as they are.
    unreadable: Vec<(OsString, OsString)>,
}

impl Environment {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
    pub(crate) fn of_this_process() -> Environment {
        let mut environment = Environment { variables: BTreeMap::new(), unreadable: Vec::new() };
        for (name, value) in std::env::vars_os() {
            match (name.to_str(), value.to_str()) {
                (Some(name), Some(value)) => {
                    environment.variables.insert(name.to_owned(), value.to_owned());
                }
                _ => environment.unreadable.push((name, value)),
            }
        }
        environment
    }

    /// A setting of ours that is no text is refused by name.
    fn refuse_unreadable(&self) -> Result<(), UsageError> {
        let mut names = self.unreadable.iter().filter_map(|(name, _)| name.to_str());
        match names.find(|name| name.starts_with(PREFIX)) {
            Some(name) => Err(UsageError::new(format!("{name} is no UTF-8 text"), "set it anew, or unset it")),
            None => Ok(()),
        }
    }

    /// The variables that look like settings of ours and are none.
    fn unknown(&self) -> impl Iterator<Item = &str> {
        let ours = self.variables.keys().map(String::as_str).filter(|name| name.starts_with(PREFIX));
        ours.filter(|name| !VARIABLES.iter().any(|(known, _)| known == name))
    }

    /// Every variable, for what the user starts through us as if it were typed.
    pub(crate) fn all(&self) -> Vec<(OsString, OsString)> {
        let text = self.variables.iter().map(|(name, value)| (name.into(), value.into()));
        text.chain(self.unreadable.iter().cloned()).collect()
    }

    /// An environment of these variables alone.
    #[cfg(test)]
    pub(crate) fn of(variables: impl Iterator<Item = (String, String)>) -> Environment {
        Environment { variables: variables.collect(), unreadable: Vec::new() }
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
    /// Whether a large catalog is kept in a compiled form for the next start.
    pub(crate) cache_catalog: bool,
    /// The declaration of the chat surface, if one is named.
    pub(crate) chat_surface: Option<PathBuf>,
    /// A filter for the log, if one is set.
    pub(crate) log: Option<String>,
}

impl Settings {
    /// The settings file that a command typed in `folder` reads: the one that is named, else the nearest upward.
    pub(crate) fn file(place: &Place, environment: &Environment, folder: &Path) -> Option<PathBuf> {
        let named = place.config.clone().or_else(|| environment.text("GATELATCH_CONFIG").map(PathBuf::from));
        // Whatever bears the name is meant: a link that leads nowhere is an error, not an absence.
        named.or_else(|| folder.ancestors().map(|above| above.join(FILE)).find(|path| path.symlink_metadata().is_ok()))
    }

    /// The catalogs that are named for a command typed in `folder`, be they there or not.
    pub(crate) fn catalogs_named(
        place: &Place,
        environment: &Environment,
        folder: &Path,
    ) -> anyhow::Result<Vec<PathBuf>> {
        let path = Settings::file(place, environment, folder);
        let file = match &path {
            Some(path) => read_file(&folder.join(path))?,
            None => SettingsManifest::default(),
        };
        let beside = path.as_deref().and_then(Path::parent).unwrap_or(folder);
        let catalogs = catalogs(place, environment, &file, beside);
        for catalog in catalogs.iter().filter(|catalog| folder.join(catalog).exists()) {
            refuse_no_catalog(catalog, &folder.join(catalog))?;
        }
        Ok(catalogs)
    }

    /// Reads the settings for a command typed in `folder`.
    pub(crate) fn read(place: &Place, environment: &Environment, folder: &Path) -> anyhow::Result<Settings> {
        environment.refuse_unreadable()?;
        let path = Settings::file(place, environment, folder);
        let file = match &path {
            Some(path) => read_file(&folder.join(path))?,
            None => SettingsManifest::default(),
        };
        let beside = path.as_deref().and_then(Path::parent).unwrap_or(folder);
        let catalogs = catalogs(place, environment, &file, beside);
        for catalog in &catalogs {
            refuse_no_catalog(catalog, &folder.join(catalog))?;
        }
        // Of two settings of the gate the stricter holds, wherever it stands: a variable cannot take back what the file
        // demands. The reader of the file knows its words.
        let filed = file.confirm.as_deref().and_then(asked_by).unwrap_or(AskedBy::Client);
        let asked_by = match environment.text("GATELATCH_CONFIRM") {
            Some(word) => asked_by(word).map(|asked_by| asked_by.max(filed)).ok_or_else(|| {
                let message = format!("GATELATCH_CONFIRM is `{word}`, which is no way of asking");
                UsageError::new(message, "write client, elicit or ticket")
            })?,
            None => filed,
        };
        let deny = match environment.variables.get("GATELATCH_DENY_IRREVERSIBLE") {
            Some(word) => truth("GATELATCH_DENY_IRREVERSIBLE", word)?,
            None => false,
        };
        // Whatever runs within a run has no human before it, even if it starts a server or a terminal of its own.
        let within_a_run = environment.variables.contains_key(RUN_VARIABLE);
        let deny = deny || within_a_run || file.deny_irreversible.unwrap_or(false);
        let cache_catalog = match environment.variables.get("GATELATCH_CACHE_CATALOG") {
            Some(word) => truth("GATELATCH_CACHE_CATALOG", word)?,
            None => true,
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
        let named = environment.text("GATELATCH_CHAT_SURFACE").map(|named| folder.join(named));
        let chat_surface = named.or_else(|| file.chat_surface.as_deref().map(|named| beside.join(named)));
        Ok(Settings {
            catalogs,
            chat_surface,
            policy: Policy { asked_by, deny_irreversible: deny },
            capabilities_max_bytes: max_bytes,
            cache_catalog,
            log: environment.text("GATELATCH_LOG").map(str::to_owned).or(file.log),
        })
    }
}

/// Flags over the variable over the file.
fn catalogs(place: &Place, environment: &Environment, file: &SettingsManifest, beside: &Path) -> Vec<PathBuf> {
    if !place.catalog.is_empty() {
        place.catalog.clone()
    } else if let Some(list) = environment.text("GATELATCH_CATALOG") {
        // An empty piece would mean the working folder, which nobody has named.
        std::env::split_paths(list).filter(|piece| !piece.as_os_str().is_empty()).collect()
    } else {
        file.catalog.iter().map(|dir| beside.join(dir)).collect()
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

/// Refuses a variable of ours that means nothing, whatever the verb. A manifest may name one of its own, so that the
/// catalog is asked about one that is not known; settings that cannot be read name none.
pub(crate) fn refuse_mistyped(place: &Place, environment: &Environment, folder: &Path) -> Result<(), UsageError> {
    environment.refuse_unreadable()?;
    if environment.unknown().next().is_none() {
        return Ok(());
    }
    let catalog = Settings::read(place, environment, folder).map(|settings| load_catalog(&settings).catalog);
    refuse_unknown_variables(environment, &catalog.unwrap_or_default())
}

/// A `GATELATCH_*` variable that means nothing is a setting that somebody believes in: refuse to go on without it.
pub(crate) fn refuse_unknown_variables(environment: &Environment, catalog: &Catalog) -> Result<(), UsageError> {
    let mentioned = |name: &str| {
        catalog.entries().iter().any(|entry| {
            entry.manifest.secrets.iter().any(|secret| secret.name == name)
                || entry.manifest.actions.iter().any(|action| action.env.iter().any(|let_through| let_through == name))
        })
    };
    let Some(name) = environment.unknown().find(|name| !mentioned(name)) else { return Ok(()) };
    let nearest = VARIABLES.iter().map(|(known, _)| *known).min_by_key(|known| distance(known, name));
    Err(UsageError::new(
        format!("the variable {name} is set and means nothing to gatelatch"),
        format!("did you mean {}? unset it otherwise", nearest.unwrap_or_default()),
    ))
}

fn read_file(path: &Path) -> Result<SettingsManifest, UsageError> {
    let cannot = |why: String| {
        let message = format!("cannot read the settings file `{}`: {why}", path.display());
        UsageError::new(message, "name a file that is there, or leave --config and GATELATCH_CONFIG out")
    };
    let bytes = file::read(path, MOST_BYTES as u64).map_err(|error| cannot(error.to_string()))?;
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
        Environment::of(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())))
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
        assert!(from_variable.policy.deny_irreversible, "a variable cannot take back what the file demands");
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
    fn of_two_settings_of_the_gate_the_stricter_holds_and_within_a_run_nothing_is_confirmed() {
        let folder = tempfile::tempdir().unwrap();
        let read =
            |pairs: &[(&str, &str)]| Settings::read(&place(), &environment(pairs), folder.path()).unwrap().policy;
        assert!(!read(&[]).deny_irreversible);
        assert!(read(&[(RUN_VARIABLE, "x")]).deny_irreversible);
        assert!(read(&[(RUN_VARIABLE, ""), ("GATELATCH_DENY_IRREVERSIBLE", "0")]).deny_irreversible);
        std::fs::write(folder.path().join(FILE), "confirm: ticket\n").unwrap();
        assert_eq!(read(&[("GATELATCH_CONFIRM", "client")]).asked_by, AskedBy::Ticket);
        assert!(Settings::read(&place(), &environment(&[("GATELATCH_DENY_IRREVERSIBLE", "")]), folder.path()).is_err());
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
