//! `dump` and `save-dump`: a whole workbook as readable text.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde_json::json;

use super::Book;
use crate::arguments::Dump;
use crate::error::XlsxError;
use crate::json;
use crate::reference::Area;
use crate::roots::Roots;
use crate::row::{Row, Shared};

/// How long a line may be: one row can name one long text in every cell.
const MAX_LINE: usize = 16 << 20;

/// `{text, characters}`.
pub(super) fn answer(book: &mut Book, request: &Dump) -> Result<Vec<u8>, XlsxError> {
    let mut text = Vec::new();
    let characters = write(book, request, &mut text)?;
    let text = String::from_utf8(text).map_err(|_| XlsxError::Output { source: io::ErrorKind::InvalidData.into() })?;
    let mut out = b"{\"text\":".to_vec();
    json::push_string(&mut out, &text);
    out.extend_from_slice(b",\"characters\":");
    json::push_whole(&mut out, characters);
    out.push(b'}');
    Ok(out)
}

/// `{savedTo, characters, backup?}`. The file appears whole or not at all.
pub(super) fn save(book: &mut Book, request: &Dump, target: Target) -> Result<Vec<u8>, XlsxError> {
    let (temporary, file) = target.temporary()?;
    let written = write_file(book, request, file, &target);
    let settled = written.and_then(|characters| target.settle(&temporary).map(|backup| (characters, backup)));
    if settled.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    let (characters, backup) = settled?;
    let mut value = json!({ "savedTo": shown(&target.path), "characters": characters });
    if let Some(backup) = backup {
        value["backup"] = shown(&backup).into();
    }
    Ok(value.to_string().into_bytes())
}

/// A resolved path as people write it: Windows puts marks before it that only programs need.
fn shown(path: &Path) -> String {
    let path = path.display().to_string();
    path.strip_prefix(r"\\?\").map_or(path.clone(), str::to_owned)
}

fn write_file(book: &mut Book, request: &Dump, file: File, target: &Target) -> Result<u64, XlsxError> {
    let mut file = BufWriter::new(file);
    let characters = write(book, request, &mut file).map_err(|error| match error {
        XlsxError::Output { source } => target.unwritable(source),
        error => error,
    })?;
    file.flush().and_then(|()| file.get_ref().sync_all()).map_err(|source| target.unwritable(source))?;
    Ok(characters)
}

/// Where a dump goes: resolved, allowed, and free unless the caller said otherwise.
pub(super) struct Target {
    shown: String,
    path: PathBuf,
    overwrite: bool,
}

impl Target {
    pub(super) fn new(to: &Path, overwrite: bool, roots: &Roots) -> Result<Target, XlsxError> {
        let path = roots.to_write(to)?;
        let target = Target { shown: to.display().to_string(), path, overwrite };
        // `symlink_metadata` sees a link that points nowhere, too.
        if !overwrite && std::fs::symlink_metadata(&target.path).is_ok() {
            return Err(XlsxError::Exists { path: target.shown });
        }
        Ok(target)
    }

    fn unwritable(&self, source: io::Error) -> XlsxError {
        XlsxError::Write { path: self.shown.clone(), source }
    }

    /// A new file beside the target.
    fn temporary(&self) -> Result<(PathBuf, File), XlsxError> {
        let (path, file) = self.first_free("part", |path| File::options().write(true).create_new(true).open(path))?;
        Ok((path, file))
    }

    /// Puts the finished file in its place. What stood there is kept beside it under a numbered name, which is returned.
    fn settle(&self, temporary: &Path) -> Result<Option<PathBuf>, XlsxError> {
        // A hard link fails where something stands, so a file that came up meanwhile is not lost either.
        match place(temporary, &self.path) {
            Ok(()) => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && self.overwrite => {
                let (backup, ()) = self.first_free("old", |backup| place(&self.path, backup))?;
                // `place` may have moved or linked; either way the old content is safe under its new name.
                std::fs::rename(temporary, &self.path).map_err(|source| self.unwritable(source))?;
                Ok(Some(backup))
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(XlsxError::Exists { path: self.shown.clone() })
            }
            Err(source) => Err(self.unwritable(source)),
        }
    }

    /// Tries `name.1.suffix`, `name.2.suffix`, … until nothing stands there.
    fn first_free<T>(
        &self,
        suffix: &str,
        mut attempt: impl FnMut(&Path) -> io::Result<T>,
    ) -> Result<(PathBuf, T), XlsxError> {
        let name = self.path.file_name().unwrap_or_default().to_os_string();
        for number in 1..10_000u32 {
            let mut candidate = name.clone();
            candidate.push(format!(".{number}.{suffix}"));
            let candidate = self.path.with_file_name(candidate);
            match attempt(&candidate) {
                Ok(done) => return Ok((candidate, done)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(source) => return Err(self.unwritable(source)),
            }
        }
        Err(self.unwritable(io::ErrorKind::AlreadyExists.into()))
    }
}

/// Moves a file to a name that is free; fails where something stands.
fn place(from: &Path, to: &Path) -> io::Result<()> {
    match std::fs::hard_link(from, to) {
        Ok(()) => std::fs::remove_file(from),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // Some file systems know no hard links: claim the name, then move onto the claim.
        Err(_) => {
            File::options().write(true).create_new(true).open(to)?;
            std::fs::rename(from, to)
        }
    }
}

/// Counts characters, and bytes against a cap.
struct Text<'a> {
    out: &'a mut dyn Write,
    characters: u64,
    bytes: usize,
}

impl Text<'_> {
    fn line(&mut self, line: &str) -> io::Result<()> {
        self.characters += line.chars().count() as u64 + 1;
        // In JSON a quote, a backslash or a line's end takes two bytes.
        self.bytes += line.len() + line.bytes().filter(|byte| matches!(byte, b'"' | b'\\')).count() + 2;
        self.out.write_all(line.as_bytes())?;
        self.out.write_all(b"\n")
    }
}

fn write(book: &mut Book, request: &Dump, out: &mut dyn Write) -> Result<u64, XlsxError> {
    let mut text = Text { out, characters: 0, bytes: 256 };
    let failed = |source| XlsxError::Output { source };
    let titles = serde_json::Value::from(book.titles()).to_string();
    text.line(&format!("### FILE: {}", book.shown)).map_err(failed)?;
    text.line(&format!("### SHEETS: {titles}")).map_err(failed)?;
    for sheet in 0..book.workbook.sheets.len() {
        write_sheet(book, sheet, request, &mut text)?;
    }
    Ok(text.characters)
}

fn write_sheet(book: &mut Book, sheet: usize, request: &Dump, text: &mut Text<'_>) -> Result<(), XlsxError> {
    let failed = |source| XlsxError::Output { source };
    let title = one_line(book.title(sheet)).into_owned();
    text.line("").map_err(failed)?;
    if !book.is_worksheet(sheet) {
        let kind = book.workbook.sheets[sheet].kind.as_str();
        text.line(&format!("===== SHEET: {title}  ({kind}) =====")).map_err(failed)?;
        return text.line("(empty)").map_err(failed);
    }
    // Whether the rows are in order is known from here on, so that nothing is written twice.
    let extent = book.attempt(sheet, |workbook| workbook.extent(sheet))?.unwrap_or(Area::cell(0, 0));
    let told = book.sheet_error(sheet);
    let hidden = if book.workbook.sheets[sheet].visible { "" } else { "  (hidden)" };
    text.line(&format!("===== SHEET: {title}  (dims {extent}){hidden} =====")).map_err(failed)?;
    let mut rows = book.workbook.rows(sheet).map_err(&told)?;
    let mut row = Row::default();
    let mut line = String::new();
    let mut given = 0u64;
    while rows.next(&mut row).map_err(&told)? {
        row.trim(&Area::ALL, &rows);
        if row.cells.is_empty() {
            continue;
        }
        line.clear();
        let room = (request.max_bytes.saturating_sub(text.bytes) / 2).min(MAX_LINE);
        let full = request.max_results.is_some_and(|most| given >= most);
        if full || !push_row(&mut line, &row, room, &rows) {
            text.line(&format!("... [truncated at {given} non-empty rows]")).map_err(failed)?;
            return Ok(());
        }
        text.line(&line).map_err(failed)?;
        given += 1;
    }
    if given == 0 {
        text.line("(empty)").map_err(failed)?;
    }
    Ok(())
}

/// `r7: a |  | c`; `false` when it takes more than `room` bytes.
fn push_row(line: &mut String, row: &Row, room: usize, shared: &impl Shared) -> bool {
    line.push('r');
    line.push_str(&(row.number + 1).to_string());
    line.push(':');
    let mut column = 0;
    for cell in &row.cells {
        while column <= cell.column {
            line.push_str(if column == 0 { " " } else { " | " });
            column += 1;
        }
        line.push_str(&one_line(row.show(cell, shared)));
        if line.len() > room {
            return false;
        }
    }
    true
}

/// The text without line ends, so that a row stays one line.
fn one_line(text: &str) -> std::borrow::Cow<'_, str> {
    if text.contains(['\n', '\r']) {
        text.replace("\r\n", "\\n").replace(['\n', '\r'], "\\n").into()
    } else {
        text.into()
    }
}
