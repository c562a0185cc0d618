//! Server-sent events: bytes in, the data of each message out. Knows no JSON. Start at [`Events::feed`].

/// A stream of events as far as it was read.
#[derive(Default)]
pub(super) struct Events {
    line: Vec<u8>,
    /// The last byte ended a line as a carriage return: a line feed that follows belongs to it.
    after_return: bool,
    data: String,
    has_data: bool,
    kind: String,
    lines: usize,
}

impl Events {
    /// Reads on and gives the data of each message that is whole now. Events of other kinds are passed over.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Vec<String> {
        let mut messages = Vec::new();
        for byte in bytes {
            match byte {
                b'\n' if self.after_return => self.after_return = false,
                b'\r' | b'\n' => {
                    self.after_return = *byte == b'\r';
                    messages.extend(self.end_line());
                }
                other => {
                    self.after_return = false;
                    self.line.push(*other);
                }
            }
        }
        messages
    }

    /// How many lines were read.
    pub(super) fn lines(&self) -> usize {
        self.lines
    }

    fn end_line(&mut self) -> Option<String> {
        let bytes = std::mem::take(&mut self.line);
        let text = String::from_utf8_lossy(&bytes);
        let line = if self.lines == 0 { text.trim_start_matches('\u{feff}') } else { &text };
        self.lines += 1;
        if line.is_empty() {
            return self.end_event();
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if self.has_data {
                    self.data.push('\n');
                }
                self.data.push_str(value);
                self.has_data = true;
            }
            "event" => value.clone_into(&mut self.kind),
            // A comment, `id`, `retry`, or nothing that is known.
            _ => {}
        }
        None
    }

    fn end_event(&mut self) -> Option<String> {
        let (data, kind) = (std::mem::take(&mut self.data), std::mem::take(&mut self.kind));
        let is_message = kind.is_empty() || kind == "message";
        (std::mem::take(&mut self.has_data) && is_message).then_some(data)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STREAM: &str = "\u{feff}: hello\r\n\r\nid: 1\nevent: message\ndata: {\"a\":\ndata:1}\n\nevent: ping\ndata: x\n\n\
                          retry: 5\rdata: é\r\rdata\n\nid: 2\ndata: cut";

    fn messages(chunks: &[&[u8]]) -> Vec<String> {
        let mut events = Events::default();
        chunks.iter().flat_map(|chunk| events.feed(chunk)).collect()
    }

    #[test]
    fn messages_are_told_from_all_else_and_one_that_was_cut_is_none() {
        assert_eq!(messages(&[STREAM.as_bytes()]), ["{\"a\":\n1}", "é", ""]);
    }

    proptest! {
        #[test]
        fn it_plays_no_part_how_the_bytes_come(cuts in prop::collection::vec(0..STREAM.len(), 0..6), stream in "[\r\n:a d]{0,40}") {
            for text in [STREAM, stream.as_str()] {
                let mut cuts: Vec<usize> = cuts.iter().copied().filter(|cut| *cut <= text.len()).collect();
                cuts.extend([0, text.len()]);
                cuts.sort_unstable();
                let chunks: Vec<&[u8]> = cuts.windows(2).map(|pair| &text.as_bytes()[pair[0]..pair[1]]).collect();
                prop_assert_eq!(messages(&chunks), messages(&[text.as_bytes()]));
            }
        }
    }
}
