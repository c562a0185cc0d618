//! Percent escapes of URIs and links, undone.

/// The text with `%20` and the like undone; what is no escape stays.
pub(crate) fn undo_percent(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let escaped = (first == b'%').then(|| after.get(..2)).flatten().and_then(|hex| std::str::from_utf8(hex).ok());
        match escaped.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_undone_and_the_rest_stays() {
        assert_eq!(undo_percent("a%20b%C3%A4"), "a bä");
        assert_eq!(undo_percent("100%"), "100%");
        assert_eq!(undo_percent("%zz%2"), "%zz%2");
    }
}
