//! What can go wrong, for the caller: a stable code, a sentence, and the sheets that exist.
//!
//! [`XlsxError`] is the door's error and names files and sheets; [`Fault`] is what the reading layers below say, which
//! know neither.

use serde_json::{Value, json};

/// How many sheets an error names: a workbook may hold thousands, and an error is no place to list them all.
pub(crate) const MAX_NAMED: usize = 100;

/// Why an action gave no result.
#[derive(Debug, thiserror::Error)]
pub enum XlsxError {
    /// The action or its arguments are not ours.
    #[error("{message}")]
    BadArguments {
        /// What is wrong.
        message: String,
        /// The names that were probably meant.
        nearest: Vec<String>,
    },
    /// The path is an address, not a file on this machine.
    #[error("`{path}` is not a local file, and nothing is ever fetched")]
    NotLocal {
        /// As given.
        path: String,
    },
    /// There is no such file, or it cannot be opened.
    #[error("cannot open `{path}`")]
    Open {
        /// As given.
        path: String,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// A folder, a device, a pipe.
    #[error("`{path}` is not a regular file")]
    NotAFile {
        /// As given.
        path: String,
    },
    /// The file lies outside the folders that the operator opened to this tool.
    #[error("`{path}` is outside the folders that this tool may {doing}")]
    OutsideRoots {
        /// As given.
        path: String,
        /// `read from` or `write to`.
        doing: &'static str,
        /// The variable that widens them.
        variable: &'static str,
    },
    /// The workbook cannot be read.
    #[error("cannot read `{path}`")]
    Book {
        /// As given.
        path: String,
        /// Why.
        #[source]
        fault: Fault,
    },
    /// One sheet of the workbook cannot be read.
    #[error("cannot read sheet `{sheet}` of `{path}`")]
    Sheet {
        /// As given.
        path: String,
        /// The sheet's title.
        sheet: String,
        /// The sheets that exist.
        sheets: Vec<String>,
        /// Why.
        #[source]
        fault: Fault,
    },
    /// The workbook has no such sheet.
    #[error("`{path}` has no sheet `{sheet}`")]
    NoSuchSheet {
        /// As given.
        path: String,
        /// As given.
        sheet: String,
        /// The sheets that exist.
        sheets: Vec<String>,
        /// Those whose title is close.
        nearest: Vec<String>,
    },
    /// The sheet exists and holds no cells by its nature: a chart sheet, say.
    #[error("sheet `{sheet}` of `{path}` is a {kind} and holds no cells")]
    NotAWorksheet {
        /// As given.
        path: String,
        /// The sheet's title.
        sheet: String,
        /// What it is.
        kind: &'static str,
        /// The worksheets that exist.
        sheets: Vec<String>,
    },
    /// The workbook holds no worksheet at all.
    #[error("`{path}` holds no worksheet")]
    NoWorksheet {
        /// As given.
        path: String,
    },
    /// The range cannot be read.
    #[error("range `{range}`: {detail}")]
    BadRange {
        /// As given.
        range: String,
        /// Why.
        detail: String,
        /// The sheet in question, if one is known.
        sheet: Option<String>,
        /// The sheets that exist.
        sheets: Vec<String>,
        /// Defined names, or sheets, that are close.
        nearest: Vec<String>,
    },
    /// A single row is larger than the result may be.
    #[error("row {row} of sheet `{sheet}` alone takes {bytes} bytes and the result may take {limit}")]
    RowTooLarge {
        /// The sheet's title.
        sheet: String,
        /// The sheet's own row number.
        row: u32,
        /// As JSON.
        bytes: usize,
        /// The cap.
        limit: usize,
    },
    /// Something stands where the file should go.
    #[error("`{path}` exists")]
    Exists {
        /// As given.
        path: String,
    },
    /// The file cannot be written.
    #[error("cannot write `{path}`")]
    Write {
        /// As given.
        path: String,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The result cannot be handed over.
    #[error("cannot write the result")]
    Output {
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
}

impl XlsxError {
    /// The stable code of the error.
    pub fn code(&self) -> &'static str {
        match self {
            XlsxError::BadArguments { .. } => "bad_arguments",
            XlsxError::NotLocal { .. } => "not_local",
            XlsxError::Open { source, .. } if source.kind() == std::io::ErrorKind::NotFound => "file_not_found",
            XlsxError::Open { .. } => "file_unreadable",
            XlsxError::NotAFile { .. } => "not_a_file",
            XlsxError::OutsideRoots { .. } => "outside_roots",
            XlsxError::Book { fault, .. } | XlsxError::Sheet { fault, .. } => fault.code(),
            XlsxError::NoSuchSheet { .. } => "no_such_sheet",
            XlsxError::NotAWorksheet { .. } => "not_a_worksheet",
            XlsxError::NoWorksheet { .. } => "no_worksheet",
            XlsxError::BadRange { .. } => "bad_range",
            XlsxError::RowTooLarge { .. } => "row_too_large",
            XlsxError::Exists { .. } => "file_exists",
            XlsxError::Write { .. } => "file_unwritable",
            XlsxError::Output { .. } => "output_failed",
        }
    }

    /// The way out, if one can be told.
    fn help(&self) -> Option<String> {
        match self {
            XlsxError::NotLocal { .. } => Some("save the workbook to a local file first".to_owned()),
            XlsxError::OutsideRoots { variable, .. } => {
                Some(format!("the operator of this server widens them with {variable}"))
            }
            XlsxError::Book { fault, .. } | XlsxError::Sheet { fault, .. } => fault.help().map(str::to_owned),
            XlsxError::RowTooLarge { .. } => Some("name fewer columns with `range`".to_owned()),
            XlsxError::Exists { .. } => {
                Some("choose another name, or pass `overwrite`, which keeps the old file as a backup".to_owned())
            }
            _ => None,
        }
    }

    /// The sheets that exist and the names that were probably meant.
    fn neighbours(&self) -> (&[String], &[String]) {
        match self {
            XlsxError::NoSuchSheet { sheets, nearest, .. } | XlsxError::BadRange { sheets, nearest, .. } => {
                (sheets, nearest)
            }
            XlsxError::NotAWorksheet { sheets, .. } | XlsxError::Sheet { sheets, .. } => (sheets, &[]),
            XlsxError::BadArguments { nearest, .. } => (&[], nearest),
            _ => (&[], &[]),
        }
    }

    /// The error as the caller gets it: `{"error": code, "message": …}` with what helps to mend the call.
    pub fn to_value(&self) -> Value {
        let mut message = self.to_string();
        let mut source = std::error::Error::source(self);
        while let Some(inner) = source {
            message.push_str(": ");
            message.push_str(&inner.to_string());
            source = inner.source();
        }
        let mut value = json!({ "error": self.code(), "message": message });
        if let Some(help) = self.help() {
            value["help"] = help.into();
        }
        if let XlsxError::Sheet { sheet, .. } | XlsxError::BadRange { sheet: Some(sheet), .. } = self {
            value["sheet"] = sheet.as_str().into();
        }
        if let XlsxError::BadRange { range, .. } = self {
            value["range"] = range.as_str().into();
        }
        let (sheets, nearest) = self.neighbours();
        if !nearest.is_empty() {
            value["nearest"] = nearest.into();
        }
        if !sheets.is_empty() {
            value["sheets"] = sheets[..sheets.len().min(MAX_NAMED)].into();
        }
        value
    }
}

/// What the layers that read a file say; whoever knows the file's and the sheet's name adds them.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// Not one of the five formats, whatever the name says.
    #[error("it is not a workbook, it looks like {looks_like}")]
    NotAWorkbook {
        /// What the content looks like.
        looks_like: &'static str,
    },
    /// A password is needed.
    #[error("it is encrypted with a password")]
    Encrypted,
    /// The file contradicts itself or its format.
    #[error("it is damaged: {detail}")]
    Damaged {
        /// What is wrong, and in which part.
        detail: String,
    },
    /// Reading on would take more memory or time than is granted.
    #[error("it is too large: {detail}")]
    TooLarge {
        /// What is too large and what the limit is.
        detail: String,
    },
    /// A row stands behind one that it belongs before. The sheet is read again, then gathered and sorted.
    #[error("its rows are out of order")]
    OutOfOrder,
    /// The system failed.
    #[error("reading failed")]
    Io(#[from] std::io::Error),
}

impl Fault {
    /// A fault of the file, told in one clause.
    pub(crate) fn damaged(detail: impl Into<String>) -> Fault {
        Fault::Damaged { detail: detail.into() }
    }

    /// A limit that was met, told in one clause.
    pub(crate) fn too_large(detail: impl Into<String>) -> Fault {
        Fault::TooLarge { detail: detail.into() }
    }

    fn code(&self) -> &'static str {
        match self {
            Fault::NotAWorkbook { .. } => "not_a_workbook",
            Fault::Encrypted => "encrypted",
            Fault::Damaged { .. } | Fault::OutOfOrder => "damaged",
            Fault::TooLarge { .. } => "too_large",
            Fault::Io(_) => "file_unreadable",
        }
    }

    fn help(&self) -> Option<&'static str> {
        match self {
            Fault::NotAWorkbook { .. } => Some("this tool reads .xlsx, .xlsm, .xlsb, .xls and .ods"),
            Fault::Encrypted => Some("save a copy without the password and read that"),
            Fault::Damaged { .. } | Fault::OutOfOrder => Some("open and save it again in a spreadsheet program"),
            Fault::TooLarge { .. } | Fault::Io(_) => None,
        }
    }
}

/// The names in `known` that `wanted` was probably meant to be, best first, at most three.
pub(crate) fn nearest<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let wanted = wanted.to_lowercase();
    let mut scored: Vec<(f64, &str)> = known
        .into_iter()
        // Comparing takes as long as both names together, and a hostile name may be a megabyte.
        .filter(|name| name.len() <= 500)
        .map(|name| (strsim::jaro_winkler(&wanted, &name.to_lowercase()), name))
        .filter(|(score, _)| *score >= 0.75)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    scored.into_iter().take(3).map(|(_, name)| name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_tells_its_causes_and_its_neighbours() {
        let error = XlsxError::NoSuchSheet {
            path: "a.xlsx".into(),
            sheet: "Slaes".into(),
            sheets: vec!["Sales".into(), "Costs".into()],
            nearest: nearest("Slaes", ["Sales", "Costs"]),
        };
        assert_eq!(
            error.to_value(),
            json!({"error": "no_such_sheet", "message": "`a.xlsx` has no sheet `Slaes`", "nearest": ["Sales"],
                   "sheets": ["Sales", "Costs"]})
        );
        let error = XlsxError::Book { path: "b.xlsx".into(), fault: Fault::Encrypted };
        assert_eq!(error.to_value()["message"], "cannot read `b.xlsx`: it is encrypted with a password");
    }
}
