//! How a fault in a manifest is told: a stable code, a place, a message and the way out.

use std::fmt;

/// A place in a manifest, counted from 1, in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The entry serves; the author should look.
    Warning,
    /// The entry is left out.
    Error,
}

/// One finding about one manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The number of the stable code, shown as `M007`.
    pub code: u16,
    /// Whether the entry is left out for it.
    pub severity: Severity,
    /// The file as the reader named it.
    pub file: String,
    /// Where in the file; `None` when the fault is the file itself (missing, unreadable, too large).
    pub position: Option<Position>,
    /// What is wrong: a lower-case fragment, user input in backticks.
    pub message: String,
    /// The way out, if one can be told.
    pub help: Option<String>,
    /// The source line that the position points into, for the snippet.
    pub source_line: Option<String>,
}

impl fmt::Display for Diagnostic {
    /// `file:line:col: error[Mnnn]: message`, then the line with a caret, then `help: …`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        match self.position {
            Some(at) => write!(f, "{}:{}:{}: ", self.file, at.line, at.column)?,
            None => write!(f, "{}: ", self.file)?,
        }
        write!(f, "{word}[M{:03}]: {}", self.code, self.message)?;
        if let (Some(at), Some(line)) = (self.position, &self.source_line) {
            let gutter = at.line.to_string();
            let blank: String = line
                .chars()
                .take(at.column.saturating_sub(1) as usize)
                .map(|c| if c == '\t' { '\t' } else { ' ' })
                .collect();
            write!(f, "\n  {gutter} | {line}\n  {} | {blank}^", " ".repeat(gutter.len()))?;
        }
        if let Some(help) = &self.help {
            write!(f, "\n  help: {help}")?;
        }
        Ok(())
    }
}
