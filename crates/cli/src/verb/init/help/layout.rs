//! Cuts a help text into usage, prose and items.
//!
//! Knows indents, headings and columns, and not what an item means. Start at [`Layout::of`].

/// What kind of list an item stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    Options,
    Arguments,
    Commands,
    /// Prose, examples, anything else.
    Other,
}

/// One entry of a list: `-n, --name TEXT` and what is said of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Item {
    pub(super) section: Section,
    pub(super) spec: String,
    /// Lines joined by a line break.
    pub(super) text: String,
    indent: usize,
    /// Where its text begins.
    column: Option<usize>,
}

/// A help text, cut up.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    /// One for each way to call it, the program's name included.
    pub(super) usage: Vec<String>,
    pub(super) items: Vec<Item>,
    /// Whether names have one dash, as those of Go's programs.
    pub(super) single_dash: bool,
    before: Vec<String>,
    after: Vec<String>,
}

impl Layout {
    pub(super) fn of(text: &str) -> Layout {
        let mut cutter = Cutter::default();
        for line in plain(text).lines() {
            cutter.take(line.trim_end());
        }
        cutter.close();
        cutter.done
    }

    /// The paragraph that says what the program does: before the usage, or else after it.
    pub(super) fn description(&self) -> Option<String> {
        let program = self.usage.first().and_then(|usage| usage.split_whitespace().next()).unwrap_or_default();
        let says_something = |text: &&String| !is_title(text, program) && !is_reference(text);
        let found = self.before.iter().find(says_something).or_else(|| self.after.iter().find(says_something));
        super::described(found?)
    }
}

#[derive(Default)]
struct Cutter {
    done: Layout,
    section: Option<Section>,
    item: Option<Item>,
    /// Whether usage lines are being read, and how deep the first of them stands when it has a line of its own.
    usage: Option<UsageLines>,
    seen_usage: bool,
    blank: bool,
}

#[derive(Clone, Copy)]
struct UsageLines {
    started: bool,
    indent: usize,
}

impl Cutter {
    fn take(&mut self, line: &str) {
        let indent = line.len() - line.trim_start().len();
        let text = line.trim_start();
        if text.is_empty() {
            if self.usage.is_some_and(|usage| usage.started) {
                self.usage = None;
            }
            self.blank = true;
            return;
        }
        let blank = std::mem::replace(&mut self.blank, false);
        if self.opens_usage(indent, text) || self.continues_usage(indent, text) {
            return;
        }
        if let Some(title) = heading(indent, text, blank || self.done.items.is_empty()) {
            self.close();
            self.section = Some(section(&title));
        } else if is_option(text) && self.option_may_begin(indent) {
            self.begin(Section::Options, indent, text);
        } else if self.belongs_to_a_list(indent) {
            self.list_line(indent, text);
        } else if let Some(item) = self.item.as_mut().filter(|item| indent > item.indent) {
            join(&mut item.text, text);
            item.column.get_or_insert(indent);
        } else {
            self.prose(text, blank);
        }
    }

    fn opens_usage(&mut self, indent: usize, text: &str) -> bool {
        let lower = text.to_ascii_lowercase();
        let opens = indent <= 2
            && (lower.starts_with("usage:") || matches!(lower.as_str(), "usage" | "synopsis" | "synopsis:"));
        let go = lower.starts_with("usage of ") && text.ends_with(':');
        if !self.seen_usage && indent == 0 && self.done.before.is_empty() && is_bare_usage(text) {
            self.seen_usage = true;
            self.usage = Some(UsageLines { started: true, indent: indent + 1 });
            self.done.usage.push(text.to_owned());
            return true;
        }
        if !(opens || go) {
            return false;
        }
        self.close();
        self.seen_usage = true;
        self.done.single_dash |= go;
        self.section = go.then_some(Section::Options);
        let rest = if go { "" } else { text.split_once(':').map_or("", |(_, rest)| rest.trim()) };
        self.usage = (!go).then_some(UsageLines { started: !rest.is_empty(), indent: indent + 1 });
        if !rest.is_empty() {
            self.done.usage.push(rest.to_owned());
        }
        true
    }

    fn continues_usage(&mut self, indent: usize, text: &str) -> bool {
        let Some(usage) = self.usage else { return false };
        let program = self.done.usage.first().and_then(|first| first.split(' ').next()).map(str::to_owned);
        let other = text.strip_prefix("or:").or_else(|| text.strip_prefix("or "));
        if let (Some(rest), true) = (other, usage.started) {
            self.done.usage.push(rest.trim().to_owned());
        } else if indent == 0 || (usage.started && is_option(text) && text.contains("  ")) {
            // Prose, or the first option where no line parts it from the usage.
            self.usage = None;
            return false;
        } else if !usage.started {
            self.usage = Some(UsageLines { started: true, indent });
            self.done.usage.push(text.trim_start_matches("$ ").to_owned());
        } else if text.split(' ').next().map(str::to_owned) == program && indent >= usage.indent {
            self.done.usage.push(text.to_owned());
        } else if let Some(last) = self.done.usage.last_mut() {
            last.push(' ');
            last.push_str(text);
        }
        true
    }

    /// An option begins left of the column in which descriptions stand.
    fn option_may_begin(&self, indent: usize) -> bool {
        match &self.item {
            Some(Item { column: Some(column), section, .. }) => indent < *column || *section != Section::Options,
            Some(item) => indent <= item.indent.max(2) + 4,
            None => indent <= 12,
        }
    }

    fn belongs_to_a_list(&self, indent: usize) -> bool {
        matches!(self.section, Some(Section::Arguments | Section::Commands)) && indent > 0
    }

    /// A line below `Arguments:` or `Commands:`: a new item, an item of the group above, or more text of one.
    fn list_line(&mut self, indent: usize, text: &str) {
        let section = self.section.unwrap_or(Section::Other);
        match &self.item {
            // Commands may stand one step below the argument that takes them.
            Some(item) if indent == item.indent + 2 && item.column.is_none_or(|column| indent < column) => {
                let group = self.item.take();
                if group.is_some_and(|group| !is_group(&group.spec)) {
                    // A long one, whose text follows on the next line.
                    return self.begin(section, indent, text);
                }
                self.section = Some(Section::Commands);
                self.begin(Section::Commands, indent, text);
            }
            Some(item) if indent > item.indent => {
                if let Some(item) = &mut self.item {
                    join(&mut item.text, text);
                    item.column.get_or_insert(indent);
                }
            }
            Some(_) | None => self.begin(section, indent, text),
        }
    }

    fn begin(&mut self, section: Section, indent: usize, text: &str) {
        self.close();
        let (spec, rest) = split(text);
        let column = (!rest.is_empty()).then(|| indent + text.len() - rest.len());
        self.item = Some(Item { section, spec: spec.to_owned(), text: rest.to_owned(), indent, column });
    }

    fn prose(&mut self, text: &str, blank: bool) {
        self.close();
        if self.section.is_some() {
            return;
        }
        let paragraphs = if self.seen_usage { &mut self.done.after } else { &mut self.done.before };
        match paragraphs.last_mut() {
            Some(last) if !blank => join(last, text),
            _ => paragraphs.push(text.to_owned()),
        }
    }

    fn close(&mut self) {
        self.done.items.extend(self.item.take());
    }
}

fn join(text: &mut String, more: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(more);
}

/// Without colours, overstrikes and boxes, and with tabs as spaces.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '\u{1b}' if characters.peek() == Some(&'[') => {
                for c in characters.by_ref().skip(1) {
                    if c.is_ascii_alphabetic() {
                        break;
                    }
                }
            }
            '\u{8}' => {
                plain.pop();
            }
            '\t' => plain.push_str("        "),
            '\r' => {}
            _ => plain.push(c),
        }
    }
    plain.lines().map(unboxed).collect::<Vec<_>>().join("\n")
}

/// A line of a box drawn around a section: its title as a heading, its content as it would stand without the box.
fn unboxed(line: &str) -> String {
    let inner = line.trim();
    if inner.starts_with(['╭', '┌', '┏']) {
        let title = inner.trim_matches(|c: char| !c.is_alphanumeric());
        return if title.is_empty() { String::new() } else { format!("{title}:") };
    }
    if inner.starts_with(['╰', '└', '┗']) {
        return String::new();
    }
    match inner.strip_prefix(['│', '┃']) {
        // A star marks what is required.
        Some(inner) => format!(" {}", inner.trim_end_matches(['│', '┃']).replacen(" *  ", "    ", 1)),
        None => line.to_owned(),
    }
}

/// A line that names what follows, in lower case.
fn heading(indent: usize, text: &str, detached: bool) -> Option<String> {
    let title = text.strip_suffix(':');
    let shouts = text.len() > 2 && text.chars().all(|c| c.is_ascii_uppercase() || c == ' ');
    match title {
        Some(title) if indent == 0 && text.len() <= 80 => Some(title.to_lowercase()),
        // Commands may be grouped under sentences of their own.
        None if indent == 0 && shouts && detached => Some(text.to_lowercase()),
        _ => None,
    }
}

fn section(title: &str) -> Section {
    let says = |words: &[&str]| words.iter().any(|word| title.contains(word));
    if says(&["example"]) {
        Section::Other
    } else if says(&["option", "flag"]) {
        Section::Options
    } else if says(&["command", "actions"]) {
        Section::Commands
    } else if says(&["argument", "args", "positional", "parameter"]) {
        Section::Arguments
    } else {
        Section::Other
    }
}

fn is_option(text: &str) -> bool {
    let name = text.strip_prefix("--").or_else(|| text.strip_prefix('-'));
    name.is_some_and(|name| name.starts_with(|c: char| c.is_ascii_alphanumeric() || "?#[".contains(c)))
}

/// A usage line that nothing announces, as yargs begins with: `feed.js read <name>`, `shop <command> [options]`.
fn is_bare_usage(text: &str) -> bool {
    let first = text.split(' ').next().unwrap_or_default();
    let lower = text.to_ascii_lowercase();
    let is_name = !first.is_empty() && first.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    let says_so = ["[options]", "[flags]", "<command>"].iter().any(|word| lower.contains(word));
    (is_script(first) && (text.contains(" <") || text.contains(" ["))) || (is_name && says_so)
}

/// Whether a word is the name of a script.
pub(super) fn is_script(word: &str) -> bool {
    [".js", ".mjs", ".cjs", ".ts", ".py", ".sh"].iter().any(|ending| word.ends_with(ending))
}

/// What takes commands: `{list,add}`, `COMMAND`, `<command>`.
fn is_group(spec: &str) -> bool {
    let name = spec.trim_matches(['<', '>', '[', ']']);
    spec.starts_with('{')
        || (!name.contains(' ') && (spec.starts_with('<') || name.chars().all(|c| !c.is_ascii_lowercase())))
}

/// Types that stand in a column of their own behind an argument's name.
const TYPES: [&str; 9] = ["TEXT", "INTEGER", "FLOAT", "BOOLEAN", "PATH", "FILE", "FILENAME", "DIRECTORY", "UUID"];

/// An item's spec and its text: two spaces part them. A metavar or a further name in a column of its own is spec.
fn split(text: &str) -> (&str, &str) {
    let mut from = 0;
    loop {
        let Some(gap) = text.get(from..).and_then(|rest| rest.find("  ")) else { return (text, "") };
        let spec_end = from + gap;
        let rest = text.get(spec_end..).unwrap_or_default().trim_start();
        let start = text.len() - rest.len();
        let next = rest.split("  ").next().unwrap_or_default();
        let goes_on = rest.contains("  ") || is_option(next);
        let named = text.starts_with('-') && (is_option(next) || super::option::is_metavar(next));
        let column = goes_on && (named || TYPES.contains(&next));
        if !column {
            return (text.get(..spec_end).unwrap_or_default(), rest);
        }
        from = start;
    }
}

/// A line such as `notes 1.2.0` or the bare name.
fn is_title(text: &str, program: &str) -> bool {
    let mut words = text.split_whitespace();
    let (first, second, more) = (words.next().unwrap_or_default(), words.next(), words.next());
    let stem =
        |name: &str| name.rsplit('/').next().unwrap_or_default().split('.').next().unwrap_or_default().to_lowercase();
    let versioned = second.is_none_or(|word| word.trim_start_matches('v').starts_with(|c: char| c.is_ascii_digit()));
    let own = stem(first) == stem(program);
    let a_call = own && text.contains(['<', '[']) && !text.contains(" - ");
    (own && versioned) || (versioned && second.is_some() && more.is_none()) || a_call
}

/// A line that only says where to look.
fn is_reference(text: &str) -> bool {
    let lower = text.to_lowercase();
    ["try ", "see ", "this is not ", "for more information", "run '", "use \""]
        .iter()
        .any(|start| lower.starts_with(start))
}
