//! Values as bytes and back: numbers, text, lists. Knows no manifest.
//!
//! Whatever is read may be torn or foreign: a reader gives `None` where the bytes end too soon or say nothing sensible,
//! never takes more memory than the bytes warrant, and never fails otherwise.

/// Puts values one after the other.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    pub(crate) fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    pub(crate) fn flag(&mut self, flag: bool) {
        self.byte(u8::from(flag));
    }

    /// Seven bits a byte, the lowest first: most numbers are small.
    pub(crate) fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.raw(text.as_bytes());
    }

    pub(crate) fn option<T: ?Sized>(&mut self, value: Option<&T>, put: impl FnOnce(&mut Writer, &T)) {
        self.flag(value.is_some());
        if let Some(value) = value {
            put(self, value);
        }
    }

    pub(crate) fn list<T>(&mut self, values: &[T], mut put: impl FnMut(&mut Writer, &T)) {
        self.number(values.len() as u64);
        for value in values {
            put(self, value);
        }
    }
}

/// Takes values in the order in which they were put.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'b> {
    rest: &'b [u8],
}

impl<'b> Reader<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Reader<'b> {
        Reader { rest: bytes }
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    pub(crate) fn flag(&mut self) -> Option<bool> {
        match self.byte()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for place in 0..10 {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f).checked_shl(7 * place)?;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    pub(crate) fn small(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    pub(crate) fn raw(&mut self, length: usize) -> Option<&'b [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(bytes)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.raw(N)?.try_into().ok()
    }

    pub(crate) fn str(&mut self) -> Option<&'b str> {
        let length = usize::try_from(self.number()?).ok()?;
        std::str::from_utf8(self.raw(length)?).ok()
    }

    pub(crate) fn text(&mut self) -> Option<String> {
        self.str().map(str::to_owned)
    }

    /// `Some(None)` where nothing was put.
    pub(crate) fn option<T>(&mut self, take: impl FnOnce(&mut Reader<'b>) -> Option<T>) -> Option<Option<T>> {
        if self.flag()? { take(self).map(Some) } else { Some(None) }
    }

    pub(crate) fn list<T>(&mut self, mut take: impl FnMut(&mut Reader<'b>) -> Option<T>) -> Option<Vec<T>> {
        let length = usize::try_from(self.number()?).ok()?;
        // Each value takes a byte at least: a length that lies cannot ask for much memory.
        let mut values = Vec::with_capacity(length.min(self.rest.len()).min(1_024));
        for _ in 0..length {
            values.push(take(self)?);
        }
        Some(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_is_taken_in_order() {
        let mut writer = Writer::default();
        for number in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX] {
            writer.number(number);
        }
        writer.text("größe");
        writer.option(None::<&str>, Writer::text);
        writer.list(&[true, false], |writer, flag| writer.flag(*flag));
        let bytes = writer.into_bytes();
        let mut reader = Reader::new(&bytes);
        for number in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX] {
            assert_eq!(reader.number(), Some(number));
        }
        assert_eq!(reader.str(), Some("größe"));
        assert_eq!(reader.option(Reader::text), Some(None));
        assert_eq!(reader.list(Reader::flag), Some(vec![true, false]));
        assert!(reader.is_at_end());
    }

    #[test]
    fn a_length_that_lies_is_nothing_and_takes_no_memory() {
        let mut writer = Writer::default();
        writer.number(u64::MAX);
        writer.byte(1);
        let bytes = writer.into_bytes();
        assert_eq!(Reader::new(&bytes).str(), None);
        assert_eq!(Reader::new(&bytes).list(Reader::flag), None);
        assert_eq!(Reader::new(&[0xff; 20]).number(), None);
    }
}
