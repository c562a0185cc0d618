//! The exit codes, each documented once, here.

use gatelatch_bridge::answer::Status;

/// How the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    Done,
    Failed,
    Usage,
    ApprovalRequired,
    Denied,
    NotReady,
    TimedOut,
    PartialView,
    NoList,
    Cancelled,
}

impl Code {
    /// Every code with its number and its meaning, for the reference page and the help.
    pub(crate) const ALL: [(Code, u8, &'static str); 10] = [
        (Code::Done, 0, "it did what was asked"),
        (
            Code::Failed,
            1,
            "the program failed, `check`, `contract`, `chat --list`, `doctor` or `demo` found something wrong, or `verify` or `pin` found another list",
        ),
        (Code::Usage, 2, "the command, an argument or a setting is wrong, or a file that it names cannot be read"),
        (Code::ApprovalRequired, 3, "the call cannot be undone and no human has agreed"),
        (Code::Denied, 4, "the call is not allowed here, whoever agrees"),
        (Code::NotReady, 5, "a program, a file or a secret that it needs is missing"),
        (Code::TimedOut, 6, "the program was ended because its time was up"),
        (
            Code::PartialView,
            7,
            "the server sends a part of the published tools, and says that all of them are its contract",
        ),
        (Code::NoList, 8, "no list of tools could be had from the server"),
        (Code::Cancelled, 130, "it was interrupted"),
    ];

    /// The number that the shell sees.
    pub(crate) fn number(self) -> u8 {
        Code::ALL.iter().find(|(code, ..)| *code == self).map_or(1, |(_, number, _)| *number)
    }

    /// The exit code of an answer.
    pub(crate) fn of_status(status: Status) -> Code {
        match status {
            Status::Done => Code::Done,
            Status::Usage => Code::Usage,
            Status::ApprovalRequired => Code::ApprovalRequired,
            Status::Denied => Code::Denied,
            Status::NotReady => Code::NotReady,
            Status::Failed => Code::Failed,
            Status::TimedOut => Code::TimedOut,
            Status::Cancelled => Code::Cancelled,
        }
    }

    /// The exit code of an error that a verb could not turn into an answer: a usage error where it says so.
    pub(crate) fn of_error(error: &anyhow::Error) -> Code {
        if error.is::<UsageError>() { Code::Usage } else { Code::Failed }
    }
}

impl From<Code> for std::process::ExitCode {
    fn from(code: Code) -> Self {
        std::process::ExitCode::from(code.number())
    }
}

/// A wrong command or setting: what is wrong, then the way out.
#[derive(Debug)]
pub(crate) struct UsageError {
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

impl UsageError {
    pub(crate) fn new(message: impl Into<String>, help: impl Into<String>) -> UsageError {
        UsageError { message: message.into(), help: Some(help.into()) }
    }
}

impl std::fmt::Display for UsageError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)?;
        match &self.help {
            Some(help) => write!(f, "\n  help: {help}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for UsageError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_meanings_share_a_number() {
        let mut numbers: Vec<u8> = Code::ALL.iter().map(|(_, number, _)| *number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), Code::ALL.len());
    }
}
