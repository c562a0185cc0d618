//! The part that holds the styles of cells.

use crate::error::Fault;
use crate::markup::{Scanner, Token};
use crate::number_format::Styles;
use crate::package::Part;

pub(super) fn read(part: Part) -> Result<Styles, Fault> {
    let mut scanner = Scanner::new(part)?;
    let mut styles = Styles::default();
    let mut of_cells = false;
    loop {
        match scanner.next()? {
            Token::Open(tag) if tag.name == b"numFmt" => {
                if let (Some(id), Some(code)) = (number(tag.attribute(b"numFmtId")), tag.text(b"formatCode")?) {
                    styles.define(id, &code);
                }
            }
            Token::Open(tag) if tag.name == b"cellXfs" => of_cells = !tag.closed,
            Token::Close(b"cellXfs", _) => of_cells = false,
            Token::Open(tag) if tag.name == b"xf" && of_cells => {
                styles.add(number(tag.attribute(b"numFmtId")).unwrap_or(0))?;
            }
            Token::End => return Ok(styles),
            _ => {}
        }
    }
}

fn number(raw: Option<&[u8]>) -> Option<u32> {
    std::str::from_utf8(raw?).ok()?.trim().parse().ok()
}
