//! The argument vector of a child to a typed request: `--name value`, `--name=value`, `--flag`, `--no-flag`.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::ACTIONS;
use crate::error::{XlsxError, nearest};

/// How much of a result is written when nobody says otherwise: a little less than the manifest lets through.
pub(crate) const MAX_BYTES: usize = 16_000_000;

/// How much is written to a file: a small workbook can name one long text a million times.
const MAX_FILE: usize = 1 << 30;

/// What to do.
#[derive(Debug, PartialEq)]
pub(crate) enum Request {
    ListSheets { path: PathBuf },
    ReadSheet(ReadSheet),
    Search(Search),
    Describe(Describe),
    Dump(Dump),
    SaveDump { dump: Dump, to: PathBuf, overwrite: bool },
}

/// Which rows, and how they are given.
#[derive(Debug, PartialEq)]
pub(crate) struct ReadSheet {
    pub(crate) path: PathBuf,
    pub(crate) sheet: Option<String>,
    pub(crate) range: Option<String>,
    pub(crate) max_results: Option<u64>,
    pub(crate) offset: u64,
    pub(crate) header: bool,
    pub(crate) keep_empty: bool,
    pub(crate) max_bytes: usize,
}

/// Which text, and where.
#[derive(Debug, PartialEq)]
pub(crate) struct Search {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    pub(crate) sheet: Option<String>,
    pub(crate) max_results: u64,
    pub(crate) max_bytes: usize,
}

/// Which sheet's columns.
#[derive(Debug, PartialEq)]
pub(crate) struct Describe {
    pub(crate) path: PathBuf,
    pub(crate) sheet: Option<String>,
    pub(crate) max_bytes: usize,
}

/// Which workbook, and how many rows of each sheet.
#[derive(Debug, PartialEq)]
pub(crate) struct Dump {
    pub(crate) path: PathBuf,
    pub(crate) max_results: Option<u64>,
    pub(crate) max_bytes: usize,
}

/// Reads the arguments of `action`.
pub(crate) fn parse(action: &str, args: &[OsString]) -> Result<Request, XlsxError> {
    let Some(known) = options(action) else {
        return Err(XlsxError::BadArguments {
            message: format!("there is no action `{action}`; the actions are {}", ACTIONS.join(", ")),
            nearest: nearest(action, ACTIONS),
        });
    };
    let mut given = Given::read(known, args)?;
    let path = PathBuf::from(given.required("path")?);
    let max_bytes = given.count("max-bytes")?.map_or(MAX_BYTES, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
    Ok(match action {
        "list-sheets" => Request::ListSheets { path },
        "read-sheet" => Request::ReadSheet(ReadSheet {
            path,
            sheet: given.text("sheet")?,
            range: given.text("range")?,
            max_results: given.count("max-results")?,
            offset: given.count("offset")?.unwrap_or(0),
            header: given.flag("header"),
            keep_empty: given.flag("keep-empty"),
            max_bytes,
        }),
        "search" => Request::Search(Search {
            path,
            text: match given.text("text")? {
                Some(text) if !text.is_empty() => text,
                _ => return Err(bad("`text` is missing or empty")),
            },
            sheet: given.text("sheet")?,
            max_results: given.count("max-results")?.unwrap_or(100),
            max_bytes,
        }),
        "describe" => Request::Describe(Describe { path, sheet: given.text("sheet")?, max_bytes }),
        "dump" => Request::Dump(Dump { path, max_results: given.count("max-results")?, max_bytes }),
        _ => Request::SaveDump {
            dump: Dump { path, max_results: given.count("max-results")?, max_bytes: MAX_FILE },
            to: PathBuf::from(given.required("to")?),
            overwrite: given.flag("overwrite"),
        },
    })
}

/// What an option takes.
#[derive(Clone, Copy, PartialEq)]
enum Takes {
    Value,
    Nothing,
}

type Known = (&'static str, Takes);

fn options(action: &str) -> Option<&'static [Known]> {
    use Takes::{Nothing, Value};
    Some(match action {
        "list-sheets" => &[("path", Value)],
        "read-sheet" => &[
            ("path", Value),
            ("sheet", Value),
            ("range", Value),
            ("max-results", Value),
            ("offset", Value),
            ("header", Nothing),
            ("keep-empty", Nothing),
            ("max-bytes", Value),
        ],
        "search" => &[("path", Value), ("text", Value), ("sheet", Value), ("max-results", Value), ("max-bytes", Value)],
        "describe" => &[("path", Value), ("sheet", Value), ("max-bytes", Value)],
        "dump" => &[("path", Value), ("max-results", Value), ("max-bytes", Value)],
        "save-dump" => &[("path", Value), ("to", Value), ("overwrite", Nothing), ("max-results", Value)],
        _ => return None,
    })
}

/// The options of one call, the last of each name.
struct Given {
    values: Vec<(&'static str, OsString)>,
    flags: Vec<(&'static str, bool)>,
}

impl Given {
    fn read(known: &'static [Known], args: &[OsString]) -> Result<Given, XlsxError> {
        let mut given = Given { values: Vec::new(), flags: Vec::new() };
        let mut parser = lexopt::Parser::from_args(args);
        while let Some(argument) = parser.next().map_err(|error| bad(error.to_string()))? {
            let lexopt::Arg::Long(name) = argument else {
                return Err(bad("an argument is not of the form `--name value`"));
            };
            let (bare, on) = match name.strip_prefix("no-") {
                Some(bare) => (bare, false),
                None => (name, true),
            };
            match known.iter().find(|(known, takes)| *known == bare && (on || *takes == Takes::Nothing)) {
                Some(&(name, Takes::Nothing)) => given.flags.push((name, on)),
                Some(&(name, Takes::Value)) => {
                    let value = parser.value().map_err(|_| bad(format!("`{name}` has no value")))?;
                    given.values.push((name, value));
                }
                None => {
                    return Err(XlsxError::BadArguments {
                        message: format!("there is no argument `{name}`"),
                        nearest: nearest(name, known.iter().map(|(known, _)| *known)),
                    });
                }
            }
        }
        Ok(given)
    }

    fn value(&mut self, name: &str) -> Option<OsString> {
        self.values.iter().rev().find(|(given, _)| *given == name).map(|(_, value)| value.clone())
    }

    fn required(&mut self, name: &str) -> Result<OsString, XlsxError> {
        self.value(name).filter(|value| !value.is_empty()).ok_or_else(|| bad(format!("`{name}` is missing")))
    }

    fn text(&mut self, name: &str) -> Result<Option<String>, XlsxError> {
        self.value(name)
            .map(|value| value.into_string().map_err(|_| bad(format!("`{name}` is not valid UTF-8"))))
            .transpose()
    }

    fn count(&mut self, name: &str) -> Result<Option<u64>, XlsxError> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        text.trim()
            .parse()
            .map(Some)
            .map_err(|_| bad(format!("`{name}` is `{text}`, and not a whole number from 0 on")))
    }

    fn flag(&self, name: &str) -> bool {
        self.flags.iter().rev().find(|(given, _)| *given == name).is_some_and(|(_, on)| *on)
    }
}

fn bad(message: impl Into<String>) -> XlsxError {
    XlsxError::BadArguments { message: message.into(), nearest: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(action: &str, args: &[&str]) -> Result<Request, XlsxError> {
        parse(action, &args.iter().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn every_form_of_an_argument_is_understood() {
        let request = read(
            "read-sheet",
            &["--path", "a.xlsx", "--sheet=-1", "--max-results", "5", "--header", "--keep-empty", "--no-header"],
        );
        let Ok(Request::ReadSheet(read)) = request else { panic!("{request:?}") };
        assert_eq!((read.sheet.as_deref(), read.max_results), (Some("-1"), Some(5)));
        assert_eq!((read.header, read.keep_empty, read.offset), (false, true, 0));
    }

    #[test]
    fn what_is_wrong_is_named_and_the_nearest_right_one_offered() {
        let told = |action: &str, args: &[&str]| read(action, args).unwrap_err().to_value();
        assert_eq!(told("read-sheets", &[])["nearest"][0], "read-sheet");
        assert_eq!(told("dump", &["--path", "a", "--max-result", "1"])["nearest"][0], "max-results");
        for (args, message) in [
            (&["--sheet", "x"][..], "`path` is missing"),
            (&["--path"][..], "`path` has no value"),
            (&["a.xlsx"][..], "an argument is not of the form `--name value`"),
            (&["--path", "a", "--offset=-1"][..], "`offset` is `-1`, and not a whole number from 0 on"),
            (&["--path", "a", "--no-path"][..], "there is no argument `no-path`"),
        ] {
            assert_eq!(told("read-sheet", args)["message"], message);
        }
    }
}
