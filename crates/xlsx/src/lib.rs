//! The built-in workbook reader: `.xlsx`, `.xlsm`, `.xlsb`, `.xls` and `.ods` to JSON and to readable text.
//!
//! Owns what a workbook's cells mean and the bounds within which a hostile file is read. Refuses to know the
//! environment, the clock, the network and MCP: roots are passed in, the result goes to a writer, and nothing that a
//! workbook names is ever fetched. Start at [`run`], then [`action`] for what each action answers and `workbook` for
//! how a file becomes rows.

mod action;
mod arguments;
mod compound;
pub mod error;
mod format;
mod json;
mod markup;
mod number_format;
mod opendocument;
mod outline;
mod package;
mod reference;
mod relations;
pub mod roots;
mod row;
mod serial;
mod spreadsheetml;
mod store;
mod workbook;
mod xls;
mod xlsb;

use std::ffi::OsString;
use std::io::Write;

use crate::error::XlsxError;
use crate::roots::Roots;

/// The actions of the reader, in the manifest's order.
pub const ACTIONS: [&str; 6] = ["list-sheets", "read-sheet", "search", "describe", "dump", "save-dump"];

/// Runs one action and writes its result, one JSON object, to `out`. After an error nothing has been written.
///
/// `args` is what a child gets behind the action's name: `--name value`, `--name=value`, `--flag`, `--no-flag`.
pub fn run(action: &str, args: &[OsString], roots: &Roots, out: &mut dyn Write) -> Result<(), XlsxError> {
    let request = arguments::parse(action, args)?;
    let mut answer = action::answer(&request, roots)?;
    answer.push(b'\n');
    out.write_all(&answer).and_then(|()| out.flush()).map_err(|source| XlsxError::Output { source })
}
