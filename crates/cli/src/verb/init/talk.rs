//! Questions on a terminal: one a line, the default in brackets.
//!
//! Knows no question. Where there is no terminal, every answer is the default. Start at [`Talk::ask`].

use std::io::{self, BufRead, Write};

use gatelatch_manifest::diagnostic::printable;

/// Somebody who may be asked.
pub(crate) struct Talk<'t> {
    terminal: Option<(&'t mut dyn BufRead, &'t mut dyn Write)>,
}

impl<'t> Talk<'t> {
    /// Nobody is there.
    pub(crate) fn silent() -> Talk<'t> {
        Talk { terminal: None }
    }

    /// A human reads `output` and writes `input`.
    pub(crate) fn with(input: &'t mut dyn BufRead, output: &'t mut dyn Write) -> Talk<'t> {
        Talk { terminal: Some((input, output)) }
    }

    /// Whether somebody is there.
    pub(crate) fn is_heard(&self) -> bool {
        self.terminal.is_some()
    }

    /// The answer, or the default for an empty line; asked again while `fault` finds one.
    pub(crate) fn ask(
        &mut self,
        question: &str,
        default: &str,
        fault: &dyn Fn(&str) -> Option<String>,
    ) -> io::Result<String> {
        let Some((input, output)) = &mut self.terminal else { return Ok(default.to_owned()) };
        loop {
            write!(output, "{} [{}]: ", printable(question), printable(default))?;
            output.flush()?;
            let mut line = String::new();
            if input.read_line(&mut line)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let answer = match line.trim() {
                "" => default,
                answer => answer,
            };
            match fault(answer) {
                Some(fault) => writeln!(output, "  {}", printable(&fault))?,
                None => return Ok(answer.to_owned()),
            }
        }
    }

    /// A yes or a no; yes is the default.
    pub(crate) fn agrees(&mut self, question: &str) -> io::Result<bool> {
        let yes = |answer: &str| ["y", "yes"].contains(&answer.to_lowercase().as_str());
        let no = |answer: &str| ["n", "no"].contains(&answer.to_lowercase().as_str());
        let fault = |answer: &str| (!yes(answer) && !no(answer)).then(|| "type yes or no".to_owned());
        Ok(yes(&self.ask(question, "yes", &fault)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn talked(typed: &str, questions: impl FnOnce(&mut Talk<'_>)) -> String {
        let mut output = Vec::new();
        questions(&mut Talk::with(&mut typed.as_bytes(), &mut output));
        String::from_utf8(output).unwrap()
    }

    #[test]
    fn an_empty_line_is_the_default_and_a_faulty_answer_is_asked_for_again() {
        let shown = talked("\nBad Name\ngood\nmaybe\nN\n", |talk| {
            assert_eq!(talk.ask("name", "notes", &|_| None).unwrap(), "notes");
            let fault = |answer: &str| answer.contains(' ').then(|| "no spaces".to_owned());
            assert_eq!(talk.ask("name", "notes", &fault).unwrap(), "good");
            assert!(!talk.agrees("write it?").unwrap());
        });
        assert_eq!(
            shown,
            "name [notes]: name [notes]:   no spaces\nname [notes]: write it? [yes]:   type yes or no\nwrite it? [yes]: "
        );
    }

    #[test]
    fn the_end_of_input_is_no_answer() {
        talked("", |talk| {
            assert_eq!(talk.agrees("write it?").unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        });
    }

    #[test]
    fn where_nobody_is_the_default_stands() {
        let mut talk = Talk::silent();
        assert!(!talk.is_heard() && talk.agrees("write it?").unwrap());
    }
}
