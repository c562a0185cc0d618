//! JSON written straight into a buffer: rows are many, and a tree of values for each would cost more than reading them.

/// Appends `text` as a JSON string, quotes and all.
pub(crate) fn push_string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut from = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        let escape = ESCAPES[usize::from(byte)];
        if escape == 0 {
            continue;
        }
        out.extend_from_slice(&bytes[from..at]);
        from = at + 1;
        if escape == b'u' {
            const HEX: &[u8; 16] = b"0123456789abcdef";
            out.extend_from_slice(b"\\u00");
            out.push(HEX[usize::from(byte >> 4)]);
            out.push(HEX[usize::from(byte & 15)]);
        } else {
            out.extend_from_slice(&[b'\\', escape]);
        }
    }
    out.extend_from_slice(&bytes[from..]);
    out.push(b'"');
}

/// Appends a whole number.
pub(crate) fn push_whole(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(number.to_string().as_bytes());
}

/// For each byte the letter behind its backslash, `u` for the long form, 0 for none.
const ESCAPES: [u8; 256] = {
    let mut table = [0u8; 256];
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = b'u';
        byte += 1;
    }
    table[0x08] = b'b';
    table[0x09] = b't';
    table[0x0a] = b'n';
    table[0x0c] = b'f';
    table[0x0d] = b'r';
    table[b'"' as usize] = b'"';
    table[b'\\' as usize] = b'\\';
    table[0x7f] = b'u';
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back_whatever_the_characters() {
        let every: String = (0u32..0x500).filter_map(char::from_u32).chain("\u{2028}\u{1F600}".chars()).collect();
        let mut out = Vec::new();
        push_string(&mut out, &every);
        assert_eq!(serde_json::from_slice::<String>(&out).unwrap(), every);
    }
}
