//! Cell references: `B2`, `$B$2:F40`, `B:F`, `2:40`, `Sheet!A1:C4`, to rows and columns counted from 0 and back.

use std::fmt;

/// How many rows a sheet can have.
pub(crate) const MAX_ROWS: u32 = 1_048_576;
/// How many columns a sheet can have.
pub(crate) const MAX_COLUMNS: u32 = 16_384;

/// A rectangle of cells, both corners included, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Area {
    pub(crate) first_row: u32,
    pub(crate) first_column: u32,
    pub(crate) last_row: u32,
    pub(crate) last_column: u32,
}

impl Area {
    /// The whole sheet.
    pub(crate) const ALL: Area =
        Area { first_row: 0, first_column: 0, last_row: MAX_ROWS - 1, last_column: MAX_COLUMNS - 1 };

    /// One cell.
    pub(crate) fn cell(row: u32, column: u32) -> Area {
        Area { first_row: row, first_column: column, last_row: row, last_column: column }
    }

    /// The smallest area that holds both.
    pub(crate) fn with(self, other: Area) -> Area {
        Area {
            first_row: self.first_row.min(other.first_row),
            first_column: self.first_column.min(other.first_column),
            last_row: self.last_row.max(other.last_row),
            last_column: self.last_column.max(other.last_column),
        }
    }

    /// Reads a reference without a sheet's name; `None` when it is none or lies outside every sheet.
    pub(crate) fn parse(text: &str) -> Option<Area> {
        let (from, to) = text.split_once(':').unwrap_or((text, text));
        let (from, to) = (Corner::parse(from)?, Corner::parse(to)?);
        // `B` alone and `2` alone are no ranges; `B:B` and `2:2` are.
        let whole = text.contains(':');
        let rows = match (from.row, to.row) {
            (Some(a), Some(b)) => (a.min(b), a.max(b)),
            (None, None) if whole => (0, MAX_ROWS - 1),
            _ => return None,
        };
        let columns = match (from.column, to.column) {
            (Some(a), Some(b)) => (a.min(b), a.max(b)),
            (None, None) if whole => (0, MAX_COLUMNS - 1),
            _ => return None,
        };
        Some(Area { first_row: rows.0, first_column: columns.0, last_row: rows.1, last_column: columns.1 })
    }
}

impl fmt::Display for Area {
    /// `A1:C4`, with both corners even for one cell.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut from, mut to) = (String::new(), String::new());
        push_column(&mut from, self.first_column);
        push_column(&mut to, self.last_column);
        write!(f, "{from}{}:{to}{}", self.first_row + 1, self.last_row + 1)
    }
}

/// Splits `Sheet!A1`, `'My ''own'' sheet'!A1` into the sheet's title and the rest.
pub(crate) fn split_sheet(text: &str) -> Option<(String, &str)> {
    if let Some(quoted) = text.strip_prefix('\'') {
        let bytes = quoted.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            if bytes[at] == b'\'' {
                if bytes.get(at + 1) == Some(&b'\'') {
                    at += 1;
                } else {
                    let rest = quoted[at + 1..].strip_prefix('!')?;
                    return Some((quoted[..at].replace("''", "'"), rest));
                }
            }
            at += 1;
        }
        return None;
    }
    let (sheet, rest) = text.split_once('!')?;
    Some((sheet.to_owned(), rest))
}

/// Appends the letters of a column.
pub(crate) fn push_column(out: &mut String, column: u32) {
    let mut letters = [0u8; 8];
    let mut at = letters.len();
    let mut rest = u64::from(column) + 1;
    while rest > 0 && at > 0 {
        at -= 1;
        letters[at] = b'A' + ((rest - 1) % 26) as u8;
        rest = (rest - 1) / 26;
    }
    out.extend(letters[at..].iter().map(|&byte| char::from(byte)));
}

/// The name of a cell: `C4`.
pub(crate) fn cell_name(row: u32, column: u32) -> String {
    let mut out = String::new();
    push_column(&mut out, column);
    out.push_str(&(row + 1).to_string());
    out
}

/// One side of a reference.
struct Corner {
    row: Option<u32>,
    column: Option<u32>,
}

impl Corner {
    fn parse(text: &str) -> Option<Corner> {
        let text = text.trim();
        let rest = text.strip_prefix('$').unwrap_or(text);
        let letters = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        let column = match letters {
            0 => None,
            1..=3 => {
                let column = rest[..letters]
                    .bytes()
                    .fold(0u32, |sum, byte| sum * 26 + u32::from(byte.to_ascii_uppercase() - b'A') + 1);
                (column <= MAX_COLUMNS).then(|| Some(column - 1))?
            }
            _ => return None,
        };
        let digits = &rest[letters..];
        let digits = match digits.strip_prefix('$') {
            Some(digits) if letters > 0 => digits,
            Some(_) => return None,
            None => digits,
        };
        let row = match digits {
            "" => None,
            digits if digits.len() <= 7 && digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                let row: u32 = digits.parse().ok()?;
                (1..=MAX_ROWS).contains(&row).then(|| Some(row - 1))?
            }
            _ => return None,
        };
        (row.is_some() || column.is_some()).then_some(Corner { row, column })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_range_is_read() {
        let shown = |text: &str| Area::parse(text).map(|area| area.to_string());
        for (text, area) in [
            ("B2:F40", "B2:F40"),
            ("$b$2:$f$40", "B2:F40"),
            ("F40:B2", "B2:F40"),
            ("A1", "A1:A1"),
            ("XFD1048576", "XFD1048576:XFD1048576"),
            ("B:C", "B1:C1048576"),
            ("$2:4", "A2:XFD4"),
        ] {
            assert_eq!(shown(text).as_deref(), Some(area), "{text}");
        }
        for text in
            ["", "A0", "XFE1", "A1048577", "B", "2", "A1:", ":A1", "A1:B", "A-1", "AAAA1", "A1:B2:C3", "$", "1$2"]
        {
            assert_eq!(shown(text), None, "{text}");
        }
    }

    #[test]
    fn a_quoted_sheet_keeps_its_marks() {
        assert_eq!(split_sheet("'It''s!'!A1"), Some(("It's!".to_owned(), "A1")));
        assert_eq!(split_sheet("Data!$A$1"), Some(("Data".to_owned(), "$A$1")));
        assert_eq!(split_sheet("A1"), None);
        assert_eq!(split_sheet("'open!A1"), None);
    }

    #[test]
    fn columns_count_in_letters() {
        for (column, letters) in [(0, "A"), (25, "Z"), (26, "AA"), (701, "ZZ"), (702, "AAA"), (16_383, "XFD")] {
            let mut out = String::new();
            push_column(&mut out, column);
            assert_eq!(out, letters);
        }
    }
}
