//! XML as a stream of tokens in bounded memory.
//!
//! Owns well-formedness as far as a reader of workbooks needs it, references to characters, other encodings than UTF-8,
//! and the limits: no document type declarations, no deep nesting, no tag without end, no text held whole. Does not
//! know what any element means; names come without their prefix, since writers choose prefixes freely.

use encoding_rs::{CoderResult, Decoder, Encoding};

use crate::error::Fault;
use crate::package::Part;

/// How deep elements may nest.
const MAX_DEPTH: u32 = 256;
/// How long a tag may be, attributes and all.
const MAX_TAG: usize = 1 << 20;
/// How much may be read without anything that its reader wanted, so that nobody waits for what is all padding.
const MAX_IDLE: u64 = 128 << 20;
/// How much is read at a time, and how much text is handed out at most.
const WINDOW: usize = 128 << 10;

/// A piece of a document.
#[derive(Debug)]
pub(crate) enum Token<'a> {
    /// The start of an element, or an element without content.
    Open(Tag<'a>),
    /// The end of an element, by its local name, and how many elements are still open.
    Close(&'a [u8], u32),
    /// Text with its references still in it: [`push_text`] resolves them. A long text comes in pieces.
    Text(&'a [u8]),
    /// Text without references. A long one comes in pieces.
    Literal(&'a [u8]),
    /// The end of the document.
    End,
}

/// The start of an element.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tag<'a> {
    /// Without its prefix.
    pub(crate) name: &'a [u8],
    attributes: &'a [u8],
    /// Whether it is without content, so that no [`Token::Close`] follows.
    pub(crate) closed: bool,
}

impl<'a> Tag<'a> {
    /// The attributes, names without prefixes, values with their references still in them.
    pub(crate) fn attributes(&self) -> Attributes<'a> {
        Attributes { rest: self.attributes }
    }

    /// The value of an attribute with its references still in it.
    pub(crate) fn attribute(&self, name: &[u8]) -> Option<&'a [u8]> {
        self.attributes().find(|(found, _)| *found == name).map(|(_, value)| value)
    }

    /// The value of an attribute as text.
    pub(crate) fn text(&self, name: &[u8]) -> Result<Option<String>, Fault> {
        let Some(raw) = self.attribute(name) else { return Ok(None) };
        let mut text = String::new();
        push_text(&mut text, raw)?;
        Ok(Some(text))
    }
}

/// The attributes of a tag, in order.
pub(crate) struct Attributes<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Attributes<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.rest.trim_ascii_start();
        let equals = rest.iter().position(|&byte| byte == b'=')?;
        let name = rest[..equals].trim_ascii_end();
        let value = rest[equals + 1..].trim_ascii_start();
        let quote = *value.first().filter(|byte| matches!(byte, b'"' | b'\''))?;
        let value = &value[1..];
        let end = value.iter().position(|&byte| byte == quote)?;
        self.rest = &value[end + 1..];
        Some((local(name), &value[..end]))
    }
}

fn local(name: &[u8]) -> &[u8] {
    match name.iter().position(|&byte| byte == b':') {
        Some(colon) => &name[colon + 1..],
        None => name,
    }
}

/// Appends raw text with its references resolved and its line ends made `\n`.
pub(crate) fn push_text(out: &mut String, raw: &[u8]) -> Result<(), Fault> {
    let text = std::str::from_utf8(raw).map_err(|_| Fault::damaged("a text is not valid UTF-8"))?;
    if memchr::memchr2(b'&', b'\r', raw).is_none() {
        out.push_str(text);
        return Ok(());
    }
    let mut rest = text;
    while let Some(at) = rest.find(['&', '\r']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix('\r') {
            out.push('\n');
            rest = after.strip_prefix('\n').unwrap_or(after);
            continue;
        }
        let end = rest.bytes().take(16).position(|byte| byte == b';');
        let Some(end) = end else { return Err(Fault::damaged("a text holds an `&` that begins no reference")) };
        out.push(reference(&rest[1..end])?);
        rest = &rest[end + 1..];
    }
    out.push_str(rest);
    Ok(())
}

fn reference(name: &str) -> Result<char, Fault> {
    let number = match name {
        "amp" => return Ok('&'),
        "lt" => return Ok('<'),
        "gt" => return Ok('>'),
        "quot" => return Ok('"'),
        "apos" => return Ok('\''),
        _ => match (name.strip_prefix("#x").or(name.strip_prefix("#X")), name.strip_prefix('#')) {
            (Some(hex), _) => u32::from_str_radix(hex, 16).ok(),
            (None, Some(decimal)) => decimal.parse().ok(),
            (None, None) => None,
        },
    };
    number.and_then(char::from_u32).ok_or_else(|| Fault::damaged("a text holds a reference that nothing defines"))
}

/// A document that is being read.
pub(crate) struct Scanner {
    input: Input,
    name: String,
    buffer: Vec<u8>,
    at: usize,
    filled: usize,
    depth: u32,
    within: Within,
    /// How much has been read since its reader was last content.
    idle: u64,
    /// How much has been read in all.
    read: u64,
}

/// What surrounds the next byte.
#[derive(Clone, Copy, PartialEq)]
enum Within {
    Content,
    Comment,
    Instruction,
    Literal,
}

/// What a step of the scanner found, as places in its buffer.
enum Found {
    Open { name: usize, attributes: usize, end: usize, closed: bool },
    Close { from: usize, to: usize },
    Text { from: usize, to: usize },
    Literal { from: usize, to: usize },
    End,
}

impl Scanner {
    /// Begins to read a part.
    pub(crate) fn new(part: Part) -> Result<Scanner, Fault> {
        let name = part.name().to_owned();
        Ok(Scanner {
            input: Input::new(part)?,
            name,
            buffer: Vec::new(),
            at: 0,
            filled: 0,
            depth: 0,
            within: Within::Content,
            idle: 0,
            read: 0,
        })
    }

    /// Says that what was just read was worth reading.
    pub(crate) fn content(&mut self) {
        self.idle = 0;
    }

    /// How much of the part lies before the next token, in bytes.
    pub(crate) fn place(&self) -> u64 {
        self.read - (self.filled - self.at) as u64
    }

    /// How many elements are open.
    pub(crate) fn depth(&self) -> u32 {
        self.depth
    }

    /// What is in the buffer behind the last token, for readers that know what usually comes; nothing inside a comment or
    /// the like. [`Scanner::pass`] says how much of it they took: whole elements only.
    pub(crate) fn window(&self) -> &[u8] {
        if self.within == Within::Content { &self.buffer[self.at..self.filled] } else { &[] }
    }

    /// Goes on behind that much of the window.
    pub(crate) fn pass(&mut self, count: usize) {
        self.at = (self.at + count).min(self.filled);
    }

    /// A fault of this part.
    pub(crate) fn damaged(&self, detail: &str) -> Fault {
        Fault::damaged(format!("part `{}`: {detail}", self.name))
    }

    /// The next token.
    pub(crate) fn next(&mut self) -> Result<Token<'_>, Fault> {
        let found = self.step()?;
        Ok(match found {
            Found::Open { name, attributes, end, closed } => Token::Open(Tag {
                name: local(&self.buffer[name..attributes]),
                attributes: &self.buffer[attributes..end],
                closed,
            }),
            Found::Close { from, to } => Token::Close(local(&self.buffer[from..to]), self.depth),
            Found::Text { from, to } => Token::Text(&self.buffer[from..to]),
            Found::Literal { from, to } => Token::Literal(&self.buffer[from..to]),
            Found::End => Token::End,
        })
    }

    /// Appends the text of the element that was opened last, up to its end, whatever elements stand between. At most
    /// `limit` bytes.
    pub(crate) fn push_content(&mut self, out: &mut String, limit: usize) -> Result<(), Fault> {
        if self.push_leaf(out)? {
            return Ok(());
        }
        let depth = self.depth;
        let from = out.len();
        loop {
            match self.next()? {
                Token::Text(raw) => push_text(out, raw)?,
                Token::Literal(raw) => push_literal(out, raw)?,
                Token::Open(_) => {}
                Token::Close(_, open) if open < depth => return Ok(()),
                Token::Close(..) => {}
                Token::End => return Err(self.damaged("it ends inside an element")),
            }
            if out.len() - from > limit {
                return Err(Fault::too_large(format!("part `{}` holds a text of more than {limit} bytes", self.name)));
            }
        }
    }

    /// The short way for what nearly every element of a sheet is: text and an end, both in the buffer. `false`, and
    /// nothing done, for anything else.
    fn push_leaf(&mut self, out: &mut String) -> Result<bool, Fault> {
        let window = &self.buffer[self.at..self.filled];
        let Some(text) = memchr::memchr(b'<', window) else { return Ok(false) };
        let tag = &window[text..];
        let Some(end) = tag.iter().take(64).position(|&byte| byte == b'>') else { return Ok(false) };
        if tag[1] != b'/' || self.depth == 0 {
            return Ok(false);
        }
        push_text(out, &window[..text])?;
        self.at += text + end + 1;
        self.depth -= 1;
        Ok(true)
    }

    /// Skips to the end of the element that was opened last.
    pub(crate) fn skip(&mut self) -> Result<(), Fault> {
        let depth = self.depth;
        while self.depth >= depth {
            if matches!(self.step()?, Found::End) {
                return Err(self.damaged("it ends inside an element"));
            }
        }
        Ok(())
    }

    fn step(&mut self) -> Result<Found, Fault> {
        loop {
            if self.at == self.filled && !self.more()? {
                return self.end();
            }
            match self.within {
                Within::Content if self.buffer[self.at] == b'<' => {
                    if let Some(found) = self.markup()? {
                        return Ok(found);
                    }
                }
                Within::Content => {
                    let window = &self.buffer[self.at..self.filled];
                    let end = memchr::memchr(b'<', window);
                    if end.is_none() && window.len() < WINDOW / 2 && self.more()? {
                        continue;
                    }
                    let (from, window) = (self.at, &self.buffer[self.at..self.filled]);
                    let count = end.unwrap_or_else(|| whole_text(window));
                    self.at += count;
                    return Ok(Found::Text { from, to: from + count });
                }
                Within::Comment => self.skip_past(b"-->")?,
                Within::Instruction => self.skip_past(b"?>")?,
                Within::Literal => {
                    if let Some(found) = self.literal()? {
                        return Ok(found);
                    }
                }
            }
        }
    }

    /// Whatever begins with `<`; `None` when it is nothing to tell.
    fn markup(&mut self) -> Result<Option<Found>, Fault> {
        while self.filled - self.at < 9 && self.more()? {}
        let window = &self.buffer[self.at..self.filled];
        match window.get(1) {
            Some(b'/') => self.close().map(Some),
            Some(b'?') => {
                self.at += 2;
                self.within = Within::Instruction;
                Ok(None)
            }
            Some(b'!') if window.starts_with(b"<!--") => {
                self.at += 4;
                self.within = Within::Comment;
                Ok(None)
            }
            Some(b'!') if window.starts_with(b"<![CDATA[") => {
                self.at += 9;
                self.within = Within::Literal;
                Ok(None)
            }
            Some(b'!') => Err(self.damaged("it declares a document type, which no workbook needs")),
            Some(_) => self.open().map(Some),
            None => Err(self.damaged("it ends inside a tag")),
        }
    }

    fn open(&mut self) -> Result<Found, Fault> {
        // Offsets are counted from `at`, which moves when more is read.
        let mut scanned = 1;
        let mut quote = 0;
        let mut name_end = 0;
        let end = loop {
            let window = &self.buffer[self.at..self.filled];
            while scanned < window.len() {
                let byte = window[scanned];
                if quote != 0 {
                    if byte == quote {
                        quote = 0;
                    }
                } else {
                    match byte {
                        b'>' => break,
                        b'"' | b'\'' => quote = byte,
                        b' ' | b'\t' | b'\r' | b'\n' | b'/' if name_end == 0 => name_end = scanned,
                        _ => {}
                    }
                }
                scanned += 1;
            }
            if scanned < window.len() && scanned <= MAX_TAG {
                break scanned;
            }
            if scanned > MAX_TAG {
                return Err(Fault::too_large(format!("part `{}` holds a tag of more than {MAX_TAG} bytes", self.name)));
            }
            if !self.more()? {
                return Err(self.damaged("it ends inside a tag"));
            }
        };
        let from = self.at;
        let closed = self.buffer[from + end - 1] == b'/';
        let content_end = if closed { from + end - 1 } else { from + end };
        let attributes = if name_end == 0 { content_end } else { from + name_end };
        self.at += end + 1;
        if !closed {
            self.depth += 1;
            if self.depth > MAX_DEPTH {
                return Err(Fault::too_large(format!("part `{}` nests elements {MAX_DEPTH} deep", self.name)));
            }
        }
        Ok(Found::Open { name: from + 1, attributes, end: content_end, closed })
    }

    fn close(&mut self) -> Result<Found, Fault> {
        loop {
            let window = &self.buffer[self.at..self.filled];
            if let Some(end) = memchr::memchr(b'>', window) {
                let (from, mut to) = (self.at + 2, self.at + end);
                while to > from && self.buffer[to - 1].is_ascii_whitespace() {
                    to -= 1;
                }
                self.at += end + 1;
                if self.depth == 0 {
                    return Err(self.damaged("an element ends that never began"));
                }
                self.depth -= 1;
                return Ok(Found::Close { from, to });
            }
            if window.len() > MAX_TAG || !self.more()? {
                return Err(self.damaged("it ends inside a tag"));
            }
        }
    }

    fn literal(&mut self) -> Result<Option<Found>, Fault> {
        let window = &self.buffer[self.at..self.filled];
        let from = self.at;
        if let Some(end) = memchr::memmem::find(window, b"]]>") {
            self.at += end + 3;
            self.within = Within::Content;
            return Ok((end > 0).then_some(Found::Literal { from, to: from + end }));
        }
        if window.len() < WINDOW / 2 {
            return if self.more()? { Ok(None) } else { Err(self.damaged("it ends inside a CDATA section")) };
        }
        // The last bytes may be the beginning of the end, or of a character.
        let count = whole_characters(&window[..window.len() - 2]);
        self.at += count;
        Ok(Some(Found::Literal { from, to: from + count }))
    }

    fn skip_past(&mut self, end: &[u8]) -> Result<(), Fault> {
        let window = &self.buffer[self.at..self.filled];
        if let Some(found) = memchr::memmem::find(window, end) {
            self.at += found + end.len();
            self.within = Within::Content;
            return Ok(());
        }
        self.at += window.len().saturating_sub(end.len() - 1);
        if self.more()? { Ok(()) } else { Err(self.damaged("it ends inside a comment or an instruction")) }
    }

    fn end(&self) -> Result<Found, Fault> {
        match (self.within, self.depth) {
            (Within::Content, 0) => Ok(Found::End),
            _ => Err(self.damaged("it ends inside an element")),
        }
    }

    /// Reads more behind what is still to be looked at; `false` at the end of the part. Moves `at`.
    fn more(&mut self) -> Result<bool, Fault> {
        if self.at > 0 {
            self.buffer.copy_within(self.at..self.filled, 0);
            self.filled -= self.at;
            self.at = 0;
        }
        if self.buffer.len() - self.filled < WINDOW / 2 {
            let len = (self.buffer.len() * 2).max(WINDOW);
            self.buffer.resize(len, 0);
        }
        let count = self.input.read(&mut self.buffer[self.filled..])?;
        self.filled += count;
        self.idle += count as u64;
        self.read += count as u64;
        if self.idle > MAX_IDLE {
            let (name, most) = (&self.name, MAX_IDLE >> 20);
            return Err(Fault::too_large(format!(
                "part `{name}` has {most} MiB at a stretch that hold nothing to read"
            )));
        }
        Ok(count > 0)
    }
}

/// Appends text that holds no references.
pub(crate) fn push_literal(out: &mut String, raw: &[u8]) -> Result<(), Fault> {
    let text = std::str::from_utf8(raw).map_err(|_| Fault::damaged("a text is not valid UTF-8"))?;
    out.push_str(text);
    Ok(())
}

/// How much of a text can be handed out that ends neither inside a reference nor inside a character or a line's end.
fn whole_text(text: &[u8]) -> usize {
    let tail = text.len().saturating_sub(16);
    let open = memchr::memrchr(b'&', &text[tail..]).map(|at| tail + at);
    let mut count = match open {
        Some(at) if at > 0 && memchr::memchr(b';', &text[at..]).is_none() => at,
        _ => text.len(),
    };
    if count > 1 && text[count - 1] == b'\r' {
        count -= 1;
    }
    whole_characters(&text[..count])
}

fn whole_characters(text: &[u8]) -> usize {
    let start = (1..=3.min(text.len())).find(|back| text[text.len() - back] & 0xC0 != 0x80);
    match start {
        Some(back) if back < text.len() => {
            let lead = text[text.len() - back];
            let width = match lead {
                0xF0.. => 4,
                0xE0.. => 3,
                0xC0.. => 2,
                _ => 1,
            };
            if width > back { text.len() - back } else { text.len() }
        }
        _ => text.len(),
    }
}

/// The bytes of a part as UTF-8.
struct Input {
    part: Part,
    /// Bytes that were read to find the encoding.
    ahead: Vec<u8>,
    /// How many of them are used up.
    used: usize,
    decoder: Option<Decoder>,
}

impl Input {
    fn new(mut part: Part) -> Result<Input, Fault> {
        let mut ahead = vec![0; 1024];
        let mut filled = 0;
        while filled < ahead.len() {
            match part.read(&mut ahead[filled..])? {
                0 => break,
                count => filled += count,
            }
        }
        ahead.truncate(filled);
        let (encoding, mark) = encoding(&ahead)
            .ok_or_else(|| Fault::damaged(format!("part `{}` is in an encoding that nobody knows", part.name())))?;
        let decoder = (encoding != encoding_rs::UTF_8).then(|| encoding.new_decoder_without_bom_handling());
        Ok(Input { part, ahead, used: mark, decoder })
    }

    /// Some bytes; none at the end. `into` has room for at least one character.
    fn read(&mut self, into: &mut [u8]) -> Result<usize, Fault> {
        if self.decoder.is_none() {
            if self.used < self.ahead.len() {
                let count = into.len().min(self.ahead.len() - self.used);
                into[..count].copy_from_slice(&self.ahead[self.used..self.used + count]);
                self.used += count;
                return Ok(count);
            }
            return self.part.read(into);
        }
        let mut last = false;
        loop {
            if self.used == self.ahead.len() && !last {
                self.ahead.resize(WINDOW / 4, 0);
                let count = self.part.read(&mut self.ahead)?;
                self.ahead.truncate(count);
                self.used = 0;
                last = count == 0;
            }
            let Some(decoder) = &mut self.decoder else { return Ok(0) };
            let (result, consumed, count, _) = decoder.decode_to_utf8(&self.ahead[self.used..], into, last);
            self.used += consumed;
            if last && result == CoderResult::InputEmpty {
                // The decoder may not be asked again once it has been told of the end.
                self.decoder = None;
                self.ahead.clear();
                self.used = 0;
                return Ok(count);
            }
            if count > 0 {
                return Ok(count);
            }
        }
    }
}

/// The encoding of a document by its first bytes, and how many of them are a mark.
fn encoding(start: &[u8]) -> Option<(&'static Encoding, usize)> {
    if let Some((encoding, mark)) = Encoding::for_bom(start) {
        return Some((encoding, mark));
    }
    match start {
        [0, b'<', ..] => return Some((encoding_rs::UTF_16BE, 0)),
        [b'<', 0, ..] => return Some((encoding_rs::UTF_16LE, 0)),
        _ => {}
    }
    let declaration = start.strip_prefix(b"<?xml").and_then(|rest| {
        let end = memchr::memmem::find(rest, b"?>")?;
        Some(&rest[..end])
    });
    let Some(declaration) = declaration else { return Some((encoding_rs::UTF_8, 0)) };
    match (Attributes { rest: declaration }).find(|(name, _)| *name == b"encoding") {
        // A document that says UTF-16 and is not is UTF-8, as everywhere.
        Some((_, label)) if label.to_ascii_lowercase().starts_with(b"utf-16") => Some((encoding_rs::UTF_8, 0)),
        Some((_, label)) => Encoding::for_label(label).map(|encoding| (encoding, 0)),
        None => Some((encoding_rs::UTF_8, 0)),
    }
}
