//! What a Python script's own text says of its options where its help does not: argparse shows `--tag TAG` for an option
//! that may be given several times, and `--size SIZE` whatever type the script makes of it.
//!
//! Reads calls such as `add_argument("--tag", action="append")` and runs nothing. Where several calls speak of one name
//! and differ, none of them counts. Start at [`declarations`] and [`amend`].

use gatelatch_manifest::document::{ArgumentType, Repeat};
use gatelatch_manifest::nearest::fold;
use serde_json::Value;

use super::draft::Argument;

/// What one call says of an option or argument.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Declaration {
    /// Its names, dashes included.
    names: Vec<String>,
    /// Whether giving it again adds to what was given before.
    adds: bool,
    /// What the script makes of a value; nothing where it says nothing.
    makes: Option<Made>,
}

/// What a script makes of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Made {
    Type(ArgumentType),
    /// Something of its own, which may be written in any way.
    Other,
}

/// The functions that declare an option, in the parsers that take its name first.
const CALLS: [&str; 3] = ["add_argument", "add_option", "option"];

/// Every option and argument that a text declares.
pub(crate) fn declarations(text: &str) -> Vec<Declaration> {
    let tokens = tokens(text);
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let Token::Word(word) = token else { continue };
        let called = word.rsplit('.').next().is_some_and(|last| CALLS.contains(&last));
        if called && tokens.get(at + 1) == Some(&Token::Mark('(')) {
            found.extend(Declaration::of(tokens.get(at + 2..).unwrap_or_default()));
        }
    }
    found
}

/// Adds to what the help says what the script's text says.
pub(crate) fn amend(arguments: &mut [Argument], declared: &[Declaration]) {
    for argument in arguments.iter_mut().filter(|argument| argument.kind != ArgumentType::Boolean) {
        let mut own = declared.iter().filter(|declaration| declaration.is_of(argument));
        let Some(first) = own.next() else { continue };
        if own.any(|other| (other.adds, other.makes) != (first.adds, first.makes)) {
            continue;
        }
        if first.adds && !argument.positional {
            argument.repeat_by(Repeat::Name);
        }
        if let (Some(made), true) = (first.makes, argument.choices.is_empty()) {
            let kind = match made {
                Made::Type(kind) => kind,
                Made::Other => ArgumentType::String,
            };
            // A path is text whose meaning the help knows better.
            if (kind, argument.kind) != (ArgumentType::String, ArgumentType::Path) {
                argument.retype(kind);
            }
        }
    }
}

impl Argument {
    /// Makes it one that takes several values.
    fn repeat_by(&mut self, repeat: Repeat) {
        self.repeat = Some(repeat);
        self.default = None;
    }

    /// Gives it another type, and its default with it.
    fn retype(&mut self, kind: ArgumentType) {
        let written = self.default.take().map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        self.default = written.and_then(|text| match kind {
            ArgumentType::Integer => text.parse::<i64>().ok().map(Value::from),
            ArgumentType::Number => text
                .parse::<f64>()
                .ok()
                .filter(|number| number.is_finite())
                .map(|number| text.parse::<i64>().map_or_else(|_| Value::from(number), Value::from)),
            _ => Some(Value::from(text)),
        });
        if !matches!(kind, ArgumentType::Integer | ArgumentType::Number) {
            (self.minimum, self.maximum) = (None, None);
        }
        self.kind = kind;
    }
}

impl Declaration {
    /// What stands in a call's brackets, up to the one that closes them.
    fn of(tokens: &[Token]) -> Option<Declaration> {
        let mut declaration = Declaration::default();
        for part in parts(tokens) {
            match part {
                [Token::Text(name)] => declaration.names.push(name.clone()),
                [Token::Word(key), Token::Mark('='), value @ ..] => declaration.take(key, value),
                _ => {}
            }
        }
        (!declaration.names.is_empty()).then_some(declaration)
    }

    fn take(&mut self, key: &str, value: &[Token]) {
        match (key, value) {
            ("action", [Token::Text(action)]) => self.adds = ["append", "extend"].contains(&action.as_str()),
            ("multiple", [Token::Word(word)]) => self.adds = word == "True",
            ("type", [Token::Word(name) | Token::Text(name), ..]) => self.makes = made(name),
            ("type", _) => self.makes = Some(Made::Other),
            _ => {}
        }
    }

    fn is_of(&self, argument: &Argument) -> bool {
        self.names.iter().any(|name| match (argument.positional, name.strip_prefix("--")) {
            (false, Some(long)) => long == argument.name,
            (true, None) => fold(name) == fold(argument.name.trim_end_matches("-argument")),
            _ => false,
        })
    }
}

fn made(name: &str) -> Option<Made> {
    let last = name.rsplit('.').next().unwrap_or_default().to_lowercase();
    match last.as_str() {
        "str" | "string" => Some(Made::Type(ArgumentType::String)),
        "int" | "long" => Some(Made::Type(ArgumentType::Integer)),
        "float" | "decimal" => Some(Made::Type(ArgumentType::Number)),
        "path" | "purepath" | "filetype" => Some(Made::Type(ArgumentType::Path)),
        // `positive_int` and its like.
        _ if last.split('_').any(|word| word == "int") => Some(Made::Type(ArgumentType::Integer)),
        _ if last.split('_').any(|word| word == "float") => Some(Made::Type(ArgumentType::Number)),
        _ => Some(Made::Other),
    }
}

/// A piece of Python.
#[derive(Clone, Debug, PartialEq)]
enum Token {
    /// A name, dots included, or a number.
    Word(String),
    /// What stands between quotes.
    Text(String),
    Mark(char),
}

/// What commas part, up to the bracket that closes.
fn parts(tokens: &[Token]) -> Vec<&[Token]> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Mark('(' | '[' | '{') => depth += 1,
            Token::Mark(')' | ']' | '}') if depth == 0 => {
                parts.extend(tokens.get(start..at));
                return parts;
            }
            Token::Mark(')' | ']' | '}') => depth -= 1,
            Token::Mark(',') if depth == 0 => {
                parts.extend(tokens.get(start..at));
                start = at + 1;
            }
            Token::Mark(_) | Token::Word(_) | Token::Text(_) => {}
        }
    }
    // Nothing closes the call.
    Vec::new()
}

fn tokens(text: &str) -> Vec<Token> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if c == '#' {
            rest = rest.get(rest.find('\n').unwrap_or(rest.len())..).unwrap_or_default();
        } else if matches!(c, '"' | '\'') {
            let (text, after) = quoted(rest, c);
            tokens.push(Token::Text(text));
            rest = after;
        } else if is_word(c) {
            let end = rest.find(|c: char| !is_word(c) && c != '.').unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            // `r"…"`: what stands before the quote is part of it.
            if !(after.starts_with(['"', '\'']) && word.len() <= 2) {
                tokens.push(Token::Word(word.to_owned()));
            }
            rest = after;
        } else {
            if !c.is_whitespace() {
                tokens.push(Token::Mark(c));
            }
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
        }
    }
    tokens
}

/// The text of a literal that begins here, and what follows it.
fn quoted(text: &str, quote: char) -> (String, &str) {
    let triple = quote.to_string().repeat(3);
    let end = if text.starts_with(&triple) { triple } else { quote.to_string() };
    let mut rest = text.get(end.len()..).unwrap_or_default();
    let mut inner = String::new();
    while !rest.starts_with(&end) {
        let mut characters = rest.chars();
        let Some(c) = characters.next() else { break };
        inner.push(c);
        if c == '\\' {
            inner.extend(characters.next());
        }
        rest = characters.as_str();
    }
    (inner, rest.get(end.len()..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn amended(text: &str, mut argument: Argument) -> Argument {
        amend(std::slice::from_mut(&mut argument), &declarations(text));
        argument
    }

    fn of_kind(name: &str, kind: ArgumentType) -> Argument {
        Argument { kind, ..Argument::named(name) }
    }

    #[test]
    fn an_option_that_is_appended_may_be_given_several_times() {
        for text in [
            "p.add_argument('-t', '--tag', action=\"append\")",
            "add_argument(\n    \"--tag\",  # action='store'\n    metavar=f\"T{x(',')}\",\n    action='extend',\n)",
            "@click.option('--tag', multiple=True)",
            "parser.add_option('--tag', action='append', type='string')",
        ] {
            assert_eq!(amended(text, Argument::named("tag")).repeat, Some(Repeat::Name), "{text}");
        }
        for text in [
            "p.add_argument('--tag')",
            "p.add_argument('--tags', action='append')",
            "# p.add_argument('--tag', action='append')",
            "\"\"\"p.add_argument('--tag', action='append')\"\"\"",
            "p.add_argument('--tag', action='append'",
            "p.add_argument('--tag', help=\"action='append'\")",
            "p.add_argument('--tag', action='append')\nq.add_argument('--tag')",
        ] {
            assert_eq!(amended(text, Argument::named("tag")).repeat, None, "{text}");
        }
    }

    #[test]
    fn a_type_is_what_the_script_makes_of_a_value() {
        let kind = |made: &str| {
            let text = format!("p.add_argument('--x', type={made})");
            amended(&text, of_kind("x", ArgumentType::Integer)).kind
        };
        assert_eq!(kind("int"), ArgumentType::Integer);
        assert_eq!(kind("float"), ArgumentType::Number);
        assert_eq!(kind("pathlib.Path"), ArgumentType::Path);
        assert_eq!(kind("argparse.FileType('w')"), ArgumentType::Path);
        assert_eq!(kind("positive_int"), ArgumentType::Integer);
        assert_eq!(kind("duration"), ArgumentType::String);
        assert_eq!(kind("lambda text: int(text)"), ArgumentType::String);
        let positional = Argument { positional: true, ..Argument::named("part-id") };
        assert_eq!(amended("a.add_argument('part_id', type=int)", positional).kind, ArgumentType::Integer);
        let by_name = amended("a.add_argument('part_id', type=int)", Argument::named("part-id"));
        assert_eq!(by_name.kind, ArgumentType::String);
    }

    #[test]
    fn a_default_keeps_its_value_in_the_type_that_is_right() {
        let with = |kind, default| Argument { default: Some(default), ..of_kind("x", kind) };
        let amended = |made: &str, argument| amended(&format!("p.add_argument('--x', type={made})"), argument).default;
        assert_eq!(amended("int", with(ArgumentType::String, json!("7"))), Some(json!(7)));
        assert_eq!(amended("float", with(ArgumentType::Integer, json!(7))), Some(json!(7)));
        assert_eq!(amended("duration", with(ArgumentType::Integer, json!(30))), Some(json!("30")));
        assert_eq!(amended("int", with(ArgumentType::String, json!("auto"))), None);
    }

    proptest::proptest! {
        #[test]
        fn no_text_is_too_strange_to_be_read(text in "(add_argument|\\(|\\)|'--x'|\"|'|\"\"\"|\\\\|#|,|=|\n|type|int|é){0,40}") {
            let _ = declarations(&text);
        }
    }
}
