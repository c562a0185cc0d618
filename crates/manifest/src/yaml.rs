//! YAML text to a tree of values with their places, within a budget.
//!
//! Owns what of YAML a manifest may use and how much of it: no anchors, aliases, merge keys, tags, directives or second
//! documents, every key once, bounded depth and size. Knows no manifest key. Start at [`parse`].

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;

use serde_json::{Map, Number, Value};
use serde_saphyr::granit_parser::{
    ErrorKind, Event, Marker, Options, Parser, ScalarStyle, ScanError, Span, StrInput, StructureStyle, Tag, options,
};

use crate::diagnostic::{Position, quoted};
use crate::findings::Findings;
use crate::mend;
use crate::rule;

/// A value and where it begins.
#[derive(Debug)]
pub(crate) struct Node<'a> {
    pub(crate) at: Position,
    pub(crate) extent: Extent,
    pub(crate) data: Data<'a>,
}

/// From where to where something stands in the text of a file, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    start: u32,
    end: u32,
}

impl Extent {
    fn new(start: usize, end: usize) -> Extent {
        let small = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Extent { start: small(start), end: small(end.max(start)) }
    }

    pub(crate) fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// What a value is.
#[derive(Debug)]
pub(crate) enum Data<'a> {
    /// Text, and whether it stands there without quotes, so that its look may decide its type.
    Scalar {
        text: Cow<'a, str>,
        plain: bool,
    },
    List(Vec<Node<'a>>),
    Mapping(Vec<Pair<'a>>),
    /// Something that was reported already and means nothing further.
    Broken,
}

/// A key and its value.
#[derive(Debug)]
pub(crate) struct Pair<'a> {
    pub(crate) key: Cow<'a, str>,
    pub(crate) at: Position,
    pub(crate) key_extent: Extent,
    pub(crate) value: Node<'a>,
}

/// How deep a manifest may nest.
const MOST_LEVELS: usize = 100;
/// How many values it may hold; an honest file of 1 MiB holds fewer.
const MOST_VALUES: usize = 100_000;
/// How many `#` are looked at for what they hide.
const MOST_SIGNS: usize = 4;
/// How many bytes of text its values may hold together; escapes can make more of it than the file has bytes.
const MOST_TEXT: usize = 1 << 20;

impl Node<'_> {
    /// What stands in an empty file: a mapping without keys.
    pub(crate) fn nothing() -> Node<'static> {
        let at = Position { line: 1, column: 1 };
        Node { at, extent: Extent::default(), data: Data::Mapping(Vec::new()) }
    }

    /// Whether it stands for "no value": nothing at all, `~` or a plain `null`.
    pub(crate) fn is_null(&self) -> bool {
        matches!(&self.data, Data::Scalar { text, plain: true } if is_null(text))
    }

    /// The text of a scalar that has a value.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.data {
            Data::Scalar { text, .. } if !self.is_null() => Some(text),
            _ => None,
        }
    }

    pub(crate) fn list(&self) -> Option<&[Node<'_>]> {
        match &self.data {
            Data::List(items) => Some(items),
            _ => None,
        }
    }

    pub(crate) fn mapping(&self) -> Option<&[Pair<'_>]> {
        match &self.data {
            Data::Mapping(pairs) => Some(pairs),
            _ => None,
        }
    }

    /// A plain `true` or `false`.
    pub(crate) fn flag(&self) -> Option<bool> {
        match &self.data {
            Data::Scalar { text, plain: true } if text == "true" => Some(true),
            Data::Scalar { text, plain: true } if text == "false" => Some(false),
            _ => None,
        }
    }

    /// A plain decimal integer without sign, leading zeros or separators.
    pub(crate) fn whole(&self) -> Option<u64> {
        match &self.data {
            Data::Scalar { text, plain: true } if is_decimal(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// Whether it is a plain whole number beyond 64 bits.
    pub(crate) fn is_too_large(&self) -> bool {
        matches!(&self.data, Data::Scalar { text, plain: true } if is_core_integer(text) && plain_json(text).is_none())
    }

    /// A plain decimal number as JSON writes it.
    pub(crate) fn number(&self) -> Option<Number> {
        match &self.data {
            Data::Scalar { text, plain: true } if is_decimal(text.strip_prefix('-').unwrap_or(text)) => integer(text),
            Data::Scalar { text, plain: true } if is_json_float(text) => text.parse().ok().and_then(Number::from_f64),
            _ => None,
        }
    }

    /// The JSON value that the YAML core schema sees; `None` where JSON has no such value (reported by
    /// [`check_json`]).
    pub(crate) fn json(&self) -> Option<Value> {
        match &self.data {
            Data::Scalar { text, plain: false } => Some(Value::String(text.clone().into_owned())),
            Data::Scalar { text, plain: true } => plain_json(text),
            Data::List(items) => items.iter().map(Node::json).collect::<Option<Vec<Value>>>().map(Value::Array),
            Data::Mapping(pairs) => {
                let mut map = Map::with_capacity(pairs.len());
                for pair in pairs {
                    map.insert(pair.key.clone().into_owned(), pair.value.json()?);
                }
                Some(Value::Object(map))
            }
            Data::Broken => None,
        }
    }

    /// The value at a JSON Pointer, or the nearest one above it.
    pub(crate) fn at_pointer(&self, pointer: &str) -> &Node<'_> {
        let mut node = self;
        for step in pointer.split('/').skip(1) {
            let step = step.replace("~1", "/").replace("~0", "~");
            let next = match &node.data {
                Data::List(items) => step.parse::<usize>().ok().and_then(|index| items.get(index)),
                Data::Mapping(pairs) => pairs.iter().find(|pair| pair.key == step).map(|pair| &pair.value),
                Data::Scalar { .. } | Data::Broken => None,
            };
            let Some(next) = next else { break };
            node = next;
        }
        node
    }
}

/// Reports every scalar below a node that JSON has no value for.
pub(crate) fn check_json(node: &Node<'_>, findings: &mut Findings<'_, '_>) {
    match &node.data {
        Data::Scalar { text, plain: true } if plain_json(text).is_none() => {
            findings.add_with_help(&rule::BAD_NUMBER, node.at, || {
                let message = if is_core_integer(text) || radix(text).is_some() {
                    format!("{} is a whole number too large for 64 bits", quoted(text))
                } else {
                    format!("{} is no number that JSON can hold within 64 bits", quoted(text))
                };
                (message, Some("write a smaller number, or put quotes around what is text".to_owned()))
            });
        }
        Data::Scalar { .. } | Data::Broken => {}
        Data::List(items) => items.iter().for_each(|item| check_json(item, findings)),
        Data::Mapping(pairs) => pairs.iter().for_each(|pair| check_json(&pair.value, findings)),
    }
}

/// Reads one document. `None` when it is no YAML or beyond the budget, which has been reported; whatever else is wrong
/// with the YAML is reported and reading goes on. `first_line` is the line of the file at which the text begins, and
/// `first_byte` the byte.
pub(crate) fn parse<'a>(
    text: &'a str,
    first_line: u32,
    first_byte: usize,
    findings: &mut Findings<'_, '_>,
) -> Option<Node<'a>> {
    let parser = Parser::new_from_str_with_options(text, parser_options());
    let mut builder = Builder { parser, text, first_line, first_byte, findings, values: 0, bytes: 0 };
    builder.document().unwrap_or(None)
}

fn parser_options() -> Options {
    options! {
        disallow_directives: true,
        emit_unresolved_aliases: true,
        emit_anchor_events: true,
        emit_comments: false,
        flow_nesting_limit: MOST_LEVELS,
        block_nesting_limit: MOST_LEVELS,
    }
}

/// Reading ended early, and why has been reported.
struct Stopped;

type Step<T> = Result<T, Stopped>;

struct Builder<'f, 's, 't, 'a> {
    parser: Parser<'a, StrInput<'a>>,
    text: &'a str,
    first_line: u32,
    first_byte: usize,
    findings: &'f mut Findings<'s, 't>,
    values: usize,
    bytes: usize,
}

impl<'a> Builder<'_, '_, '_, 'a> {
    fn document(&mut self) -> Step<Option<Node<'a>>> {
        let mut root: Option<Node<'a>> = None;
        while let Some((event, span)) = self.event()? {
            match event {
                Event::DocumentStart(..) if root.is_some() => {
                    let at = self.position(span.start);
                    self.findings.add(&rule::SEVERAL_DOCUMENTS, at, || "a second document begins here".to_owned());
                    break;
                }
                Event::StreamStart | Event::StreamEnd | Event::DocumentStart(..) | Event::DocumentEnd => {}
                event => root = Some(self.node(event, span, 0)?),
            }
        }
        Ok(root)
    }

    /// The next event that is part of the tree. Anchors are reported on the way.
    fn event(&mut self) -> Step<Option<(Event<'a>, Span)>> {
        loop {
            if self.findings.is_full() {
                return Err(Stopped);
            }
            match self.parser.next_event() {
                None => return Ok(None),
                Some(Ok((Event::Anchor(_, name), span))) => {
                    let at = self.position(span.start);
                    self.findings.add(&rule::ANCHOR, at, || format!("anchor {} is defined", quoted(&name)));
                }
                Some(Ok((event, span))) => return Ok(Some((event, span))),
                Some(Err(error)) => return Err(self.syntax(&error)),
            }
        }
    }

    fn node(&mut self, event: Event<'a>, span: Span, level: usize) -> Step<Node<'a>> {
        let at = self.position(span.start);
        self.spend(at, level)?;
        let mut extent = self.extent(span.start, span.end);
        let data = match event {
            Event::Scalar(text, style, _, tag) => {
                self.spend_text(at, &text)?;
                self.untagged(tag.as_deref(), span);
                Data::Scalar { text, plain: style == ScalarStyle::Plain }
            }
            Event::SequenceStart(style, _, tag) => {
                self.untagged(tag.as_deref(), span);
                let (items, end) = self.list(level)?;
                let last = items.last().map(|item| item.extent);
                extent = self.whole(span, style, last, end);
                Data::List(items)
            }
            Event::MappingStart(style, _, tag) => {
                self.untagged(tag.as_deref(), span);
                let (pairs, last, end) = self.mapping(level)?;
                extent = self.whole(span, style, last, end);
                Data::Mapping(pairs)
            }
            Event::Alias(_) | Event::UnresolvedAlias(_) => {
                let name = span.slice(self.text).unwrap_or("*");
                self.findings.add(&rule::ALIAS, at, || format!("alias {} is used", quoted(name)));
                Data::Broken
            }
            _ => Data::Broken,
        };
        Ok(Node { at, extent, data })
    }

    fn extent(&self, start: Marker, end: Marker) -> Extent {
        let byte = |marker: Marker| self.first_byte + marker.byte_offset().unwrap_or_default();
        Extent::new(byte(start), byte(end))
    }

    /// From where to where a list or a mapping stands: to its bracket, or to the end of its last part.
    fn whole(&self, start: Span, style: StructureStyle, last: Option<Extent>, end: Option<Span>) -> Extent {
        let own = self.extent(start.start, start.end);
        match (style, last, end) {
            (StructureStyle::Flow, _, Some(end)) => Extent { start: own.start, ..self.extent(start.start, end.end) },
            (StructureStyle::Block, Some(last), _) => Extent { start: own.start, end: last.end.max(own.start) },
            (StructureStyle::Flow | StructureStyle::Block, _, _) => own,
        }
    }

    fn list(&mut self, level: usize) -> Step<(Vec<Node<'a>>, Option<Span>)> {
        let mut items = Vec::new();
        while let Some((event, span)) = self.event()? {
            if event == Event::SequenceEnd {
                return Ok((items, Some(span)));
            }
            items.push(self.node(event, span, level + 1)?);
        }
        Ok((items, None))
    }

    /// The pairs, where the last value stands, and where the mapping ends.
    fn mapping(&mut self, level: usize) -> Step<(Vec<Pair<'a>>, Option<Extent>, Option<Span>)> {
        let mut pairs: Vec<Pair<'a>> = Vec::new();
        let mut last = None;
        let mut seen = Seen::default();
        while let Some((event, span)) = self.event()? {
            if event == Event::MappingEnd {
                return Ok((pairs, last, Some(span)));
            }
            let at = self.position(span.start);
            let key_extent = self.extent(span.start, span.end);
            let key = self.key(event, span, level)?;
            let Some((event, span)) = self.event()? else { break };
            let value = self.node(event, span, level + 1)?;
            last = Some(value.extent);
            let Some(key) = key else { continue };
            match seen.earlier(&pairs, &key) {
                Some(first) => {
                    let whole = Extent { start: key_extent.start, end: value.extent.end };
                    let alike = self.findings.has_room()
                        && mend::written_alike(self.findings.text(), first.value.extent, value.extent);
                    let what = format!("`{key}`");
                    let fix = if alike { mend::remove_second(self.findings.text(), whole, &what) } else { None };
                    let line = first.at.line;
                    let text = || format!("key {} stands here again; line {line} has it first", quoted(&key));
                    self.findings.add_with_fix(&rule::DUPLICATE_KEY, at, || (text(), None), fix);
                }
                None => {
                    seen.note(&key, pairs.len());
                    pairs.push(Pair { key, at, key_extent, value });
                }
            }
        }
        Ok((pairs, last, None))
    }

    /// The key's text; `None` for one that was reported and whose value is read past.
    fn key(&mut self, event: Event<'a>, span: Span, level: usize) -> Step<Option<Cow<'a, str>>> {
        let at = self.position(span.start);
        let node = self.node(event, span, level + 1)?;
        match node.data {
            Data::Scalar { text, plain: true } if text == "<<" => {
                self.findings.add(&rule::MERGE_KEY, at, || "merge key `<<` is used".to_owned());
                Ok(None)
            }
            Data::Scalar { text, plain } if !(plain && matches!(text.as_ref(), "" | "~")) => Ok(Some(text)),
            Data::Broken => Ok(None),
            Data::Scalar { .. } | Data::List(_) | Data::Mapping(_) => {
                self.findings.add(&rule::BAD_KEY, at, || "a key that is no text stands here".to_owned());
                Ok(None)
            }
        }
    }

    fn untagged(&mut self, tag: Option<&Tag>, span: Span) {
        let Some(tag) = tag else { return };
        let at = self.position(span.tag_start.unwrap_or(span.start));
        self.findings.add(&rule::TAG, at, || format!("tag {} is used", quoted(&tag.original())));
    }

    fn spend(&mut self, at: Position, level: usize) -> Step<()> {
        self.values += 1;
        if level > MOST_LEVELS {
            return Err(self.too_complex(at, format!("the manifest nests deeper than {MOST_LEVELS} levels")));
        }
        if self.values > MOST_VALUES {
            return Err(self.too_complex(at, format!("the manifest holds more than {MOST_VALUES} values")));
        }
        Ok(())
    }

    fn spend_text(&mut self, at: Position, text: &str) -> Step<()> {
        self.bytes += text.len();
        if self.bytes > MOST_TEXT {
            return Err(self.too_complex(at, "the manifest's values hold more than 1 MiB of text".to_owned()));
        }
        Ok(())
    }

    fn too_complex(&mut self, at: Position, message: String) -> Stopped {
        self.findings.add(&rule::TOO_COMPLEX, at, || message);
        Stopped
    }

    fn syntax(&mut self, error: &ScanError) -> Stopped {
        let at = self.position(*error.marker());
        if *error.kind() == ErrorKind::RecursionLimitExceeded {
            return self.too_complex(at, format!("the manifest nests deeper than {MOST_LEVELS} levels"));
        }
        let byte = error.marker().byte_offset().unwrap_or_default();
        if self.text.get(byte..).is_some_and(|rest| rest.starts_with('\u{feff}')) {
            let fix = mend::remove_mark(self.first_byte + byte);
            let message = "a byte order mark stands inside the text, where nobody sees it".to_owned();
            let text = || (message, Some("remove the character U+FEFF".to_owned()));
            self.findings.add_with_fix(&rule::YAML_SYNTAX, at, text, Some(fix));
            return Stopped;
        }
        let line = error.marker().line();
        // Within brackets indentation means nothing.
        let misindented = || self.opened(byte).map_or_else(|| self.misindented(line), |_| None);
        let misread = self.tabbed(line).or_else(|| self.commented_out(error)).or_else(|| self.left_open(error));
        let misread = misread.or_else(misindented).or_else(|| self.misquoted(error)).or_else(|| self.unspaced(error));
        let misread = misread.or_else(|| self.too_deep(error)).or_else(|| self.unbraced(error));
        let misread = misread.or_else(|| self.run_on(error));
        match misread {
            Some((at, message, help)) => {
                self.findings.add_with_help(&rule::YAML_SYNTAX, at, || (message, Some(help)));
            }
            None => self.findings.add_with_help(&rule::YAML_SYNTAX, at, || in_plain_words(error)),
        }
        Stopped
    }

    /// A ` #` that makes a comment of the bracket that would have closed the innermost one.
    fn commented_out(&self, error: &ScanError) -> Option<(Position, String, String)> {
        let byte = error.marker().byte_offset().filter(|_| self.text.contains(" #"))?;
        let whole = matches!(error.kind(), ErrorKind::UnclosedFlowCollection { .. });
        let (opening, end) = if whole { (byte, self.text.len()) } else { (self.opening(byte)?, byte) };
        let open = self.text.get(opening..)?.chars().next().filter(|open| matches!(open, '[' | '{'))?;
        let close = if open == '[' { ']' } else { '}' };
        let hides = |at: &usize| {
            let (before, after) = (self.text.get(..*at)?, self.text.get(*at..)?.lines().next()?);
            // Behind a comma or a bracket a comment cuts no text.
            let cuts_text = !before.trim_end().ends_with([',', '[', '{']);
            let is_comment = before.ends_with([' ', '\t']) && cuts_text && after.contains(close);
            // Within a quote it would be text.
            let within = if is_comment { self.opened(*at)?.0 } else { '"' };
            (within == open).then_some(())
        };
        let within = self.text.get(opening..end)?;
        let mut signs = within.match_indices('#').map(|(at, _)| opening + at).take(MOST_SIGNS);
        let at = signs.find(|at| hides(at).is_some())?;
        let (comment, opened) = (self.place_of(at), self.place_of(opening));
        let message = format!(
            "a ` #` makes a comment of the rest of this line, and of the `{close}` in it; the `{open}` of line {} is still open",
            opened.line
        );
        Some((comment, message, format!("put quotes around the text in line {} that holds the ` #`", comment.line)))
    }

    /// A text in typographic quotes, which are letters to YAML, so that what they hold is read as YAML.
    fn misquoted(&self, error: &ScanError) -> Option<(Position, String, String)> {
        let concerned = matches!(
            error.kind(),
            ErrorKind::MappingValueNotAllowed
                | ErrorKind::ExpectedFlowMappingSeparator
                | ErrorKind::ExpectedFlowSequenceSeparator
        );
        let index = error.marker().line().saturating_sub(1);
        let line = self.text.lines().nth(index).filter(|_| concerned)?;
        let begins = |at: &usize| line.get(..*at).is_some_and(|before| before.ends_with([' ', '[', '{', ',']));
        let (at, quote) = line.match_indices(TYPOGRAPHIC).find(|(at, _)| begins(at))?;
        let column = line.get(..at)?.chars().count();
        let message =
            format!("{} is no quote of YAML's, so that the text behind it stands without quotes", quoted(quote));
        Some((self.place(index, column), message, "put the text in `\"…\"` or `'…'`".to_owned()))
    }

    /// A key without a space behind its colon, in the line where the parser gave up or the one above.
    fn unspaced(&self, error: &ScanError) -> Option<(Position, String, String)> {
        let concerned = matches!(
            error.kind(),
            ErrorKind::ExpectedBlockMappingKey
                | ErrorKind::SimpleKeyExpected
                | ErrorKind::InvalidSimpleKey
                | ErrorKind::MappingValueNotAllowed
        );
        let line = error.marker().line();
        let near: Vec<(usize, &str)> = self.text.lines().enumerate().take(line).filter(|_| concerned).collect();
        let mut near = near.into_iter().rev().filter(|(_, text)| !is_blank(text)).take(2);
        let (index, start, key, value) = near.find_map(|(index, text)| {
            let (start, entry) = entry_of(text);
            let (key, value) = entry.split_once(':')?;
            let unspaced = is_key(key) && !value.starts_with([' ', '/']) && !value.is_empty();
            unspaced.then_some((index, start, key, value))
        })?;
        let column = start + key.len();
        let message = format!("there is no space behind the `:` of {}", quoted(key));
        Some((self.place(index, column), message, format!("write {}", quoted(&format!("{key}: {}", value.trim_end())))))
    }

    /// A key that stands deeper than the one above it, whose text it then continues.
    fn too_deep(&self, error: &ScanError) -> Option<(Position, String, String)> {
        if *error.kind() != ErrorKind::MappingValueNotAllowed {
            return None;
        }
        let index = error.marker().line().checked_sub(1)?;
        let lines: Vec<&str> = self.text.lines().take(index + 1).collect();
        let (own, entry) = entry_of(lines.get(index)?);
        let (key, _) = entry.split_once(':')?;
        if !is_key(key) || error.marker().col() != own + key.len() {
            return None;
        }
        let above = lines.get(..index)?.iter().rev().find(|text| !is_blank(text))?;
        let (column, above) = entry_of(above);
        let (name, value) = above.split_once(": ")?;
        if !is_key(name) || value.trim().is_empty() || own <= column {
            return None;
        }
        let (key, name) = (quoted(key), quoted(name));
        let message = format!("{key} is indented deeper than {name} above it, so that it continues the text of {name}");
        Some((self.place(index, own), message, format!("begin {key} in the column of {name}")))
    }

    /// Several keys in one line without the braces that they need, or with the second alone.
    fn unbraced(&self, error: &ScanError) -> Option<(Position, String, String)> {
        if *error.kind() != ErrorKind::MappingValueNotAllowed {
            return None;
        }
        let index = error.marker().line().saturating_sub(1);
        let line = self.text.lines().nth(index)?;
        let entry = line.trim_start_matches([' ', '-']);
        let start = line.len() - entry.len();
        let (key, rest) = entry.split_once(": ")?;
        let more = rest.split(", ").skip(1).any(|part| part.split_once(':').is_some_and(|(key, _)| is_key(key)));
        if !is_key(key) || !more {
            return None;
        }
        let count = |bracket| entry.matches(bracket).count();
        let only_closed = count('}') > count('{');
        let message = if only_closed {
            "a `}` ends this line and no `{` begins it".to_owned()
        } else {
            "several keys stand in one line without braces".to_owned()
        };
        let all = if only_closed {
            format!("put a `{{` before `{key}`")
        } else {
            "write `{` before and `}` after them".to_owned()
        };
        Some((self.place(index, start), message, format!("{all}, or write each key on a line of its own")))
    }

    /// What stands within a text in brackets that may not, and seems to call for a comma.
    fn run_on(&self, error: &ScanError) -> Option<(Position, String, String)> {
        let is_within =
            matches!(error.kind(), ErrorKind::ExpectedFlowMappingSeparator | ErrorKind::ExpectedFlowSequenceSeparator);
        let byte = error.marker().byte_offset().filter(|_| is_within)?;
        let (message, help) = match self.text.get(byte..)?.chars().next()? {
            ':' => (
                "a second `:` stands here before the next comma".to_owned(),
                "put a comma before the next key, or quotes around text that holds `: `",
            ),
            bracket @ ('[' | '{') => (format!("a `{bracket}` stands within a text here"), WITHIN_BRACKETS),
            _ => return None,
        };
        Some((self.position(*error.marker()), message, help.to_owned()))
    }

    /// What was opened in an earlier line and is open still where the parser gave up: the parser complains of what it
    /// then takes the text for.
    fn left_open(&self, error: &ScanError) -> Option<(Position, String, String)> {
        let at = self.position(*error.marker());
        let byte = error.marker().byte_offset()?;
        let ends_a_quote = matches!(
            error.kind(),
            ErrorKind::InvalidTrailingSingleQuotedScalar | ErrorKind::InvalidTrailingDoubleQuotedScalar
        );
        let (open, opened) = self.opened(if ends_a_quote { byte.checked_sub(1)? } else { byte })?;
        if opened.line >= at.line {
            return None;
        }
        let line = opened.line;
        if ends_a_quote {
            let message = format!("text follows a quote here that was opened in line {line}");
            return Some((at, message, format!("close the quote in line {line} where it should end")));
        }
        let lacks_a_separator =
            matches!(error.kind(), ErrorKind::ExpectedFlowMappingSeparator | ErrorKind::ExpectedFlowSequenceSeparator);
        // What is indented deeper goes on with it, and is itself at fault.
        if lacks_a_separator && self.indent(at.line) > self.indent(line) {
            return None;
        }
        let (complaint, other) = in_plain_words(error);
        let what = if matches!(open, '"' | '\'') { "quote".to_owned() } else { format!("`{open}`") };
        let message = format!("{complaint}; the {what} of line {line} is still open");
        let other = other.filter(|_| !lacks_a_separator);
        let close = format!("close the {what} of line {line} where it should end");
        Some((at, message, other.map_or_else(|| close.clone(), |other| format!("{close}, or {other}"))))
    }

    /// How far a line is indented, by its number from 1.
    fn indent(&self, line: u32) -> usize {
        let line = self.text.lines().nth(line.saturating_sub(1) as usize).unwrap_or_default();
        line.len() - line.trim_start_matches(' ').len()
    }

    /// The innermost bracket or quote that is open at a byte of the text, and where it stands. The parser itself says so
    /// of a text that ends there.
    fn opened(&self, byte: usize) -> Option<(char, Position)> {
        let opening = self.opening(byte)?;
        let open = self.text.get(opening..)?.chars().next()?;
        Some((open, self.place_of(opening)))
    }

    /// The byte of the same.
    fn opening(&self, byte: usize) -> Option<usize> {
        let before = self.text.get(..byte)?;
        let mut parser = Parser::new_from_str_with_options(before, parser_options());
        let error = loop {
            if let Err(error) = parser.next_event()? {
                break error;
            }
        };
        let unclosed =
            matches!(error.kind(), ErrorKind::UnclosedFlowCollection { .. } | ErrorKind::UnclosedQuotedScalar);
        error.marker().byte_offset().filter(|_| unclosed)
    }

    /// The place of a byte of the text.
    fn place_of(&self, byte: usize) -> Position {
        let before = self.text.get(..byte).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        self.place(before.matches('\n').count(), line.chars().count())
    }

    /// A tab that indents the line where the parser gave up, or the one above.
    fn tabbed(&self, line: usize) -> Option<(Position, String, String)> {
        let near = self.text.lines().enumerate().take(line + 1).skip(line.saturating_sub(1));
        for (index, text) in near {
            let indent = text.len() - text.trim_start_matches([' ', '\t']).len();
            if let Some(tab) = text.get(..indent).and_then(|indent| indent.find('\t')) {
                let help = "YAML indents with spaces: put as many here as its neighbours have, and no tab";
                return Some((self.place(index, tab), "a tab indents this line".to_owned(), help.to_owned()));
            }
        }
        None
    }

    /// What is wrong with the indentation at the line where the parser gave up, if that is what is wrong.
    fn misindented(&self, line: usize) -> Option<(Position, String, String)> {
        let lines: Vec<&str> = self.text.lines().take(line + 1).collect();
        let index = line.saturating_sub(1);
        let own = entry_indent(lines.get(index)?)?;
        let mut before = lines.get(..index)?.iter().rev().filter(|text| !text.trim().is_empty());
        // The first entry of a list further inside has an indentation of its own.
        if before.clone().next().is_some_and(|text| text.trim_end().ends_with(':')) {
            return None;
        }
        let above = before.find_map(|text| entry_indent(text))?;
        (own != above).then(|| {
            let blanks = |number: usize| if number == 1 { "1 space".to_owned() } else { format!("{number} spaces") };
            let message = format!(
                "this entry is indented by {}, which differs from the {} of the one above",
                blanks(own),
                blanks(above)
            );
            (self.place(index, own), message, "give every entry of a list the same indentation".to_owned())
        })
    }

    /// A place by the number of its line in the text and of its column, both from 0.
    fn place(&self, index: usize, column: usize) -> Position {
        let small = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Position { line: small(index).saturating_add(self.first_line), column: small(column).saturating_add(1) }
    }

    fn position(&self, marker: Marker) -> Position {
        let line = u32::try_from(marker.line()).unwrap_or(u32::MAX).max(1);
        let column = u32::try_from(marker.col()).unwrap_or(u32::MAX);
        Position { line: line.saturating_add(self.first_line - 1), column: column.saturating_add(1) }
    }
}

/// The keys of a mapping so far: looked through while they are few, hashed once they are many, so that a mapping of
/// many keys costs no square of their number.
#[derive(Default)]
struct Seen {
    /// From a key's hash to its place in the mapping.
    many: HashMap<u64, usize>,
    hasher: RandomState,
}

impl Seen {
    const FEW: usize = 24;

    fn earlier<'p, 'a>(&self, pairs: &'p [Pair<'a>], key: &str) -> Option<&'p Pair<'a>> {
        let few = pairs.iter().take(Self::FEW).find(|pair| pair.key == key);
        let hashed = || self.many.get(&self.hasher.hash_one(key)).and_then(|index| pairs.get(*index));
        few.or_else(|| hashed().filter(|pair| pair.key == key))
    }

    fn note(&mut self, key: &str, index: usize) {
        if index >= Self::FEW {
            self.many.insert(self.hasher.hash_one(key), index);
        }
    }
}

/// Quotes of print.
const TYPOGRAPHIC: [char; 8] = ['“', '”', '„', '‘', '’', '‚', '«', '»'];

/// Whether a text looks like a manifest's key.
fn is_key(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_')
}

/// Whether a line says nothing.
fn is_blank(line: &str) -> bool {
    let text = line.trim_start();
    text.is_empty() || text.starts_with('#')
}

/// What stands in a line behind its indentation and its dashes, and in which column.
fn entry_of(line: &str) -> (usize, &str) {
    let mut entry = line.trim_start_matches(' ');
    while let Some(rest) = entry.strip_prefix("- ") {
        entry = rest.trim_start_matches(' ');
    }
    (line.len() - entry.len(), entry)
}

/// How many spaces stand before the dash of a list's entry.
fn entry_indent(line: &str) -> Option<usize> {
    let entry = line.trim_start_matches(' ');
    (entry == "-" || entry.starts_with("- ")).then(|| line.len() - entry.len())
}

const WITHIN_BRACKETS: &str = "put quotes around text that, within brackets, holds one of `,[]{}`, `: ` or ` #`";

/// The parser's complaint for someone who does not know its words, with the way out where one is likely.
fn in_plain_words(error: &ScanError) -> (String, Option<String>) {
    let quotes =
        "put quotes around text that holds `: ` or ` #`, or that begins with one of `[]{},&*!|>'\"%@` or a backtick";
    let (message, help) = match error.kind() {
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabAtBlockScalarStart
        | ErrorKind::TabInPlainScalar => ("a tab stands where YAML demands spaces", "indent with spaces"),
        ErrorKind::MappingValueNotAllowed => ("a second `:` in one line, where the value is text already", quotes),
        ErrorKind::InvalidColonPlacement => {
            return ("a `:` stands inside a list in brackets, over several lines".to_owned(), None);
        }
        ErrorKind::BlockEntryInFlowCollection => return ("a `- ` stands inside brackets".to_owned(), None),
        ErrorKind::UnexpectedCharacter { .. } => ("a character stands here that cannot begin a value", quotes),
        ErrorKind::UnclosedQuotedScalar => ("a quote is opened and not closed", "close the quote"),
        ErrorKind::UnclosedFlowCollection { .. }
        | ErrorKind::UnexpectedEofFlowSequence
        | ErrorKind::UnexpectedEofFlowMapping
        | ErrorKind::UnexpectedEofImplicitFlowMapping => {
            ("a bracket is opened and not closed", "close the bracket, or put quotes around text that begins with one")
        }
        ErrorKind::MismatchedFlowCollectionEnd { open, close } => {
            let right = if *open == '[' { ']' } else { '}' };
            let message = format!("the `{open}` that is opened here is closed by a `{close}`");
            return (message, Some(format!("put a `{right}` before the `{close}`, or put quotes around the text")));
        }
        ErrorKind::MisplacedFlowCollectionEnd => {
            ("a bracket is closed that was not opened", "pair the brackets, or put quotes around the text")
        }
        ErrorKind::ExpectedFlowMappingSeparator | ErrorKind::ExpectedFlowSequenceSeparator => {
            ("a comma or a closing bracket is missing before this", WITHIN_BRACKETS)
        }
        ErrorKind::ExpectedBlockMappingKey | ErrorKind::SimpleKeyExpected | ErrorKind::InvalidSimpleKey => {
            ("a `key: value` is due here", "indent the line as its neighbours are and write `key: value`")
        }
        ErrorKind::ExpectedBlockSequenceEntry | ErrorKind::BlockSequenceEntryNotAllowed => {
            ("a list entry is out of place here", "begin every entry of a list with `- ` at the same indentation")
        }
        ErrorKind::InvalidIndentation | ErrorKind::InvalidBlockScalarIndent | ErrorKind::InvalidQuotedScalarIndent => {
            ("the line is indented to no level that is open", "indent the line as its neighbours are")
        }
        ErrorKind::InvalidTrailingSingleQuotedScalar | ErrorKind::InvalidTrailingDoubleQuotedScalar => {
            ("text follows a closed quote", "put the whole text in quotes; inside '…' a quote is written twice")
        }
        ErrorKind::UnknownQuotedScalarEscape => {
            ("an unknown escape in double quotes", "write `\\\\` for a backslash, or use single quotes")
        }
        ErrorKind::DirectiveDisallowed => ("a YAML directive stands here", "remove the line that begins with `%`"),
        kind => return (format!("no YAML: {kind}"), None),
    };
    (message.to_owned(), Some(help.to_owned()))
}

fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

/// What the YAML 1.2 core schema makes of a plain scalar.
fn plain_json(text: &str) -> Option<Value> {
    match text {
        _ if is_null(text) => Some(Value::Null),
        "true" | "True" | "TRUE" => Some(Value::Bool(true)),
        "false" | "False" | "FALSE" => Some(Value::Bool(false)),
        _ if is_core_integer(text) => integer(text.strip_prefix('+').unwrap_or(text)).map(Value::Number),
        _ if is_core_float(text) => text.parse().ok().and_then(Number::from_f64).map(Value::Number),
        _ if is_core_infinity(text) => None,
        _ => match radix(text) {
            Some(digits) => digits.map(|number| Value::Number(number.into())),
            None => Some(Value::String(text.to_owned())),
        },
    }
}

fn integer(text: &str) -> Option<Number> {
    text.parse::<i64>().map(Number::from).or_else(|_| text.parse::<u64>().map(Number::from)).ok()
}

/// Digits without a leading zero.
fn is_decimal(text: &str) -> bool {
    is_digits(text) && (text.len() == 1 || !text.starts_with('0'))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_core_integer(text: &str) -> bool {
    is_digits(text.strip_prefix(['-', '+']).unwrap_or(text))
}

/// `[-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`
fn is_core_float(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let mantissa_fits = match mantissa.split_once('.') {
        None => is_digits(mantissa),
        Some(("", fraction)) => is_digits(fraction),
        Some((whole, fraction)) => is_digits(whole) && (fraction.is_empty() || is_digits(fraction)),
    };
    mantissa_fits && exponent.is_none_or(|digits| is_digits(digits.strip_prefix(['-', '+']).unwrap_or(digits)))
}

fn is_json_float(text: &str) -> bool {
    let whole = text.strip_prefix('-').unwrap_or(text).split(['.', 'e', 'E']).next().unwrap_or_default();
    is_core_float(text) && is_decimal(whole) && !text.starts_with('+') && !text.ends_with('.') && !text.contains(".e")
}

fn is_core_infinity(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN")
}

/// `0o…` or `0x…`: outer `None` when it is neither, inner `None` when it is one beyond 64 bits.
fn radix(text: &str) -> Option<Option<u64>> {
    let (digits, base) = match (text.strip_prefix("0o"), text.strip_prefix("0x")) {
        (Some(digits), _) => (digits, 8),
        (None, Some(digits)) => (digits, 16),
        (None, None) => return None,
    };
    let fits = !digits.is_empty() && digits.chars().all(|c| c.is_digit(base));
    fits.then(|| u64::from_str_radix(digits, base).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Source;

    fn read(text: &str) -> (Option<Value>, Vec<(u16, u32, u32)>) {
        let source = Source::new("f", text);
        let mut findings = Findings::new(&source);
        let root = parse(text, 1, 0, &mut findings);
        if let Some(root) = &root {
            check_json(root, &mut findings);
        }
        let places = |finding: &crate::diagnostic::Diagnostic| {
            let at = finding.position.unwrap_or_default();
            (finding.code, at.line, at.column)
        };
        (root.and_then(|root| root.json()), findings.finish().iter().map(places).collect())
    }

    #[test]
    fn plain_scalars_mean_what_the_core_schema_of_yaml_1_2_says() {
        let (value, findings) = read(
            "[~, null, true, False, no, on, yes, 7, 007, -7, +7, 0o17, 0x1F, 1.5, .5, 5., 1e3, 12:30, 2024-01-01, 1_000, '7', \"true\", 0x, 1.2.3]",
        );
        assert_eq!(findings, []);
        let expected = serde_json::json!([
            null,
            null,
            true,
            false,
            "no",
            "on",
            "yes",
            7,
            7,
            -7,
            7,
            15,
            31,
            1.5,
            0.5,
            5.0,
            1000.0,
            "12:30",
            "2024-01-01",
            "1_000",
            "7",
            "true",
            "0x",
            "1.2.3"
        ]);
        assert_eq!(value, Some(expected));
    }

    #[test]
    fn a_number_that_json_cannot_hold_is_refused_at_its_place() {
        let (value, findings) =
            read("a: 18446744073709551615\nb: 18446744073709551616\nc: .inf\nd: 1e999\ne: 0xFFFFFFFFFFFFFFFFF\n");
        assert_eq!(value, None);
        assert_eq!(findings, [(27, 2, 4), (27, 3, 4), (27, 4, 4), (27, 5, 4)]);
    }

    #[test]
    fn what_manifests_may_not_use_of_yaml_is_found_all_at_once() {
        let text = "a: &x 1\nb: *x\nc: {<<: *y, d: !!str 2}\n'a': 3\n? [k]\n: 4\n";
        let (_, findings) = read(text);
        assert_eq!(findings, [(7, 1, 4), (8, 2, 4), (9, 3, 5), (8, 3, 9), (10, 3, 16), (6, 4, 1), (26, 5, 3)]);
    }

    #[test]
    fn many_keys_are_still_each_there_once() {
        let mut text: String = (0..2000).map(|n| format!("k{n}: {n}\n")).collect();
        text.push_str("k1999: again\nk3: again\n");
        assert_eq!(read(&text).1, [(6, 2001, 1), (6, 2002, 1)]);
    }

    #[test]
    fn plain_decimal_numbers_are_told_from_what_only_looks_like_one() {
        let number = |text: &str| {
            let (at, extent) = (Position::default(), Extent::default());
            let node = Node { at, extent, data: Data::Scalar { text: text.into(), plain: true } };
            node.number().map(|number| number.to_string())
        };
        assert_eq!(number("5").as_deref(), Some("5"));
        assert_eq!(number("-0.5").as_deref(), Some("-0.5"));
        assert_eq!(number("1e3").as_deref(), Some("1000.0"));
        for text in ["+5", "007", "0x1", "1_000", ".5", "5.", "", "five", "1e999", "--5", "5.e3"] {
            assert_eq!(number(text), None, "{text}");
        }
    }
}
