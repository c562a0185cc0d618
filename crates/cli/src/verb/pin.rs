//! `gatelatch pin`: writes down what a server sends now. Never replaces a file unasked.

use std::path::Path;

use gatelatch_contract::client::Received;
use gatelatch_contract::file::write_whole;
use gatelatch_contract::pin::Pin;
use gatelatch_contract::published::Published;
use gatelatch_contract::verify::{Verdict, judge};

use crate::exit::{Code, UsageError};
use crate::options::PinOptions;
use crate::settings::Environment;
use crate::verb::asked::{Asked, ask, failure};
use crate::verb::verify::{read, tools};
use crate::verb::{print, print_json_text, say};

/// What stands where the pin would be written.
enum Old {
    Nothing,
    Pin(Pin),
    /// Another file, which may be replaced.
    Other,
}

/// Asks and writes down what came.
pub(crate) fn pin(environment: &Environment, options: &PinOptions) -> anyhow::Result<Code> {
    let old = match &options.out {
        Some(path) => old(path, options.force)?,
        None => Old::Nothing,
    };
    let received = match ask(&options.server, environment)? {
        Asked::Received(lists) if lists.differ() => {
            say("error: the server sends another list to clients of the legacy era than to those of the modern one");
            say("  help: pin one of them with `--era legacy` or `--era modern`, and verify it with the same");
            return Ok(Code::Failed);
        }
        Asked::Received(lists) => lists.first,
        Asked::Failed(error) => {
            say(&failure(&error));
            return Ok(Code::NoList);
        }
        Asked::Interrupted => return Ok(Code::Cancelled),
    };
    if received.reported_digest.as_deref().is_some_and(|reported| reported != received.tools.digest()) {
        say("note: the server says that its contract has another digest; what it shows may depend on who asks");
    }
    let told = told(&received);
    let Some(path) = &options.out else {
        print_json_text(received.into_pin().to_text().trim_end())?;
        say(&format!("{told}; --out FILE writes it to a file"));
        return Ok(Code::Done);
    };
    if let Old::Pin(pin) = old {
        let published = Published::of_pin(pin);
        let lines = match judge(&published, &received) {
            Verdict::Equal => {
                print(&format!("`{}` is left as it is, it holds just this: {told}", path.display()))?;
                return Ok(Code::Done);
            }
            Verdict::Differs(difference) => difference.lines(),
            Verdict::PartialView { visible, published } => {
                vec![format!("the server sends {visible} of the {published} tools")]
            }
        };
        let done = if options.force { "held" } else { "holds" };
        print(&format!("`{}` {done} another list:", path.display()))?;
        for line in lines {
            print(&format!("  {line}"))?;
        }
        if !options.force {
            say("help: if these changes are right, add --force to write the pin anew");
            return Ok(Code::Failed);
        }
    }
    write_whole(path, &received.into_pin().to_text())?;
    print(&format!("wrote `{}`: {told}", path.display()))?;
    Ok(Code::Done)
}

/// What is there already; refused before anything is started when it could not be replaced anyway.
fn old(path: &Path, force: bool) -> Result<Old, UsageError> {
    if let Err(error) = path.metadata() {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        return match error.kind() {
            std::io::ErrorKind::NotFound if folder.is_dir() => Ok(Old::Nothing),
            _ => Err(UsageError { message: format!("cannot write `{}`: {error}", path.display()), help: None }),
        };
    }
    match Pin::parse(&read(path)?) {
        Ok(pin) => Ok(Old::Pin(pin)),
        Err(_) if force => Ok(Old::Other),
        Err(_) => Err(UsageError::new(
            format!("`{}` is there already and is no pin file", path.display()),
            "name another file, or add --force to replace it",
        )),
    }
}

fn told(received: &Received) -> String {
    let server = &received.server;
    let from = if server.name.is_empty() { String::new() } else { format!(" of `{}` {}", server.name, server.version) };
    format!("{}{}, digest {}", tools(received.tools.tools().len()), from.trim_end(), received.tools.digest())
}
