//! Which of the formats a file is, by what it holds and never by its name.

use crate::error::Fault;
use crate::opendocument;
use crate::package::Package;
use crate::relations;
use crate::store::Store;

/// A file that is a workbook.
pub(crate) enum Recognized {
    /// `.xlsx`, `.xlsm`, with the name of its main part.
    Spreadsheetml(Package, String),
    /// `.ods`
    Opendocument(Package),
    /// `.xlsb`, with the name of its main part.
    BinaryPackage(Package, String),
    /// A compound file: `.xls`, unless it turns out to be something else.
    Compound,
}

/// The first bytes of what people take for workbooks, and what it is.
const LOOKALIKES: [(&[u8], &str); 10] = [
    (b"%PDF", "a PDF document"),
    (b"\x89PNG", "a picture"),
    (b"\xFF\xD8\xFF", "a picture"),
    (b"GIF8", "a picture"),
    (b"\x1F\x8B", "a gzip file"),
    (b"7z\xBC\xAF", "a 7z archive"),
    (b"Rar!", "a RAR archive"),
    (b"{", "JSON text"),
    (b"[", "JSON text"),
    (b"<", "XML or HTML text"),
];

/// Recognizes a file.
pub(crate) fn recognize(store: &Store) -> Result<Recognized, Fault> {
    let mut start = [0; 512];
    let count = store.read_at(0, &mut start)?;
    let start = &start[..count];
    if start.starts_with(b"PK\x03\x04") || start.starts_with(b"PK\x05\x06") {
        return package(Package::open(store.clone())?);
    }
    if start.starts_with(&[0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1]) {
        return Ok(Recognized::Compound);
    }
    Err(Fault::NotAWorkbook { looks_like: lookalike(start) })
}

fn package(package: Package) -> Result<Recognized, Fault> {
    if let Some(part) = package.part("mimetype")? {
        let kind = part.whole(1024)?;
        return match kind.trim_ascii() {
            b"application/vnd.oasis.opendocument.spreadsheet"
            | b"application/vnd.oasis.opendocument.spreadsheet-template" => Ok(Recognized::Opendocument(package)),
            _ => Err(Fault::NotAWorkbook { looks_like: "another kind of OpenDocument file or a book" }),
        };
    }
    match relations::main_part(&package)? {
        Some(main) if main.ends_with(".bin") => Ok(Recognized::BinaryPackage(package, main)),
        Some(main) if main.starts_with("word/") => Err(Fault::NotAWorkbook { looks_like: "a Word document" }),
        Some(main) if main.starts_with("ppt/") => Err(Fault::NotAWorkbook { looks_like: "a PowerPoint presentation" }),
        Some(main) => Ok(Recognized::Spreadsheetml(package, main)),
        // Google and others leave the part out that says what kind of OpenDocument file it is.
        None if opendocument::holds_sheets(&package)? => Ok(Recognized::Opendocument(package)),
        None => Err(Fault::NotAWorkbook { looks_like: "some other zip archive" }),
    }
}

fn lookalike(start: &[u8]) -> &'static str {
    if start.is_empty() {
        return "an empty file";
    }
    let text = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start).trim_ascii_start();
    if let Some((_, what)) = LOOKALIKES.iter().find(|(mark, _)| text.starts_with(mark)) {
        return what;
    }
    // A record that begins the sheets of the eighties stands alone, without a compound file around it.
    if matches!(start, [0x09, 0 | 2 | 4 | 8, ..]) {
        return "a workbook older than Excel 97 outside its compound file";
    }
    if start.iter().all(|&byte| byte >= 0x20 || matches!(byte, b'\t' | b'\r' | b'\n')) {
        return "plain text, perhaps CSV";
    }
    "some other binary file"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_workbook_is_refused_by_what_it_holds() {
        for (bytes, what) in [
            (&b""[..], "an empty file"),
            (b"%PDF-1.7", "a PDF document"),
            (b"\xEF\xBB\xBF <html>", "XML or HTML text"),
            (b"a;b;c\r\n1;2;3\r\n", "plain text, perhaps CSV"),
            (b"\x09\x08\x08\x00", "a workbook older than Excel 97 outside its compound file"),
            (b"\x00\x01\x02", "some other binary file"),
        ] {
            match recognize(&Store::from_bytes(bytes.to_vec())) {
                Err(Fault::NotAWorkbook { looks_like }) => assert_eq!(looks_like, what),
                Err(other) => panic!("{other}"),
                Ok(_) => panic!("{what} was recognized"),
            }
        }
    }
}
