//! The styles of cells, as far as they make dates of numbers.

use std::collections::HashMap;

use crate::error::Fault;
use crate::markup::{Scanner, Token};
use crate::number_format;
use crate::package::Part;
use crate::serial::Clock;

/// How many styles are remembered; spreadsheet programs stop at 65 490.
const MAX_STYLES: usize = 1 << 20;

/// What the number format of each style shows.
#[derive(Default)]
pub(super) struct Styles {
    clocks: Vec<Option<Clock>>,
}

impl Styles {
    pub(super) fn read(part: Part) -> Result<Styles, Fault> {
        let mut scanner = Scanner::new(part)?;
        let mut codes: HashMap<u32, Option<Clock>> = HashMap::new();
        let mut styles = Styles::default();
        let mut of_cells = false;
        loop {
            match scanner.next()? {
                Token::Open(tag) if tag.name == b"numFmt" && codes.len() < MAX_STYLES => {
                    if let (Some(id), Some(code)) = (number(tag.attribute(b"numFmtId")), tag.text(b"formatCode")?) {
                        codes.insert(id, number_format::of_code(&code));
                    }
                }
                Token::Open(tag) if tag.name == b"cellXfs" => of_cells = !tag.closed,
                Token::Close(b"cellXfs", _) => of_cells = false,
                Token::Open(tag) if tag.name == b"xf" && of_cells => {
                    let id = number(tag.attribute(b"numFmtId")).unwrap_or(0);
                    let clock = codes.get(&id).copied().unwrap_or_else(|| number_format::built_in(id));
                    styles.clocks.push(clock);
                    if styles.clocks.len() > MAX_STYLES {
                        return Err(Fault::too_large(format!("it lists more than {MAX_STYLES} styles")));
                    }
                }
                Token::End => return Ok(styles),
                _ => {}
            }
        }
    }

    /// What cells of this style show, `None` for plain numbers.
    pub(super) fn clock(&self, style: usize) -> Option<Clock> {
        self.clocks.get(style).copied().flatten()
    }
}

fn number(raw: Option<&[u8]>) -> Option<u32> {
    std::str::from_utf8(raw?).ok()?.trim().parse().ok()
}
