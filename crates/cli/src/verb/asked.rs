//! The server that `verify` and `pin` ask: a command that is started for it, or an address.
//!
//! Owns what asking may cost, what such a command gets, and how a failure is told. Needs no settings and no catalog.
//! Start at [`ask`].

use std::ffi::OsString;
use std::time::{Duration, Instant};

use gatelatch_contract::client::http::address::Address;
use gatelatch_contract::client::http::header::Header;
use gatelatch_contract::client::http::{ExchangeError, Http, HttpError, InClear};
use gatelatch_contract::client::{ClientError, ClientLimits, Eras, LONGEST_LINE, Received, Transport, receive};
use gatelatch_manifest::diagnostic::plain;
use gatelatch_protocol::era::Era;
use gatelatch_spawn::child::{Launch, settle};
use gatelatch_spawn::session::SessionError;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::exit::UsageError;
use crate::options::{AskedEra, ServerOptions};
use crate::settings::Environment;
use crate::verb::serving::{SETTLING, stop_on_signal};
use crate::verb::working_folder;

/// How much of the end of a server's standard error is told.
const STDERR_TAIL_BYTES: usize = 2_000;

/// What became of the question.
pub(crate) enum Asked {
    /// At least one list: a server of two eras is asked in both, since each of its clients sees but one of them.
    Received(Box<Lists>),
    Failed(Failure),
    Interrupted,
}

/// Why there is no list.
pub(crate) struct Failure {
    error: ClientError,
    /// Whether there is one in the modern era, and none in the legacy one.
    in_legacy_alone: bool,
}

/// What a server sends.
pub(crate) struct Lists {
    /// In the modern era, or in the only one that was asked for or answered in.
    pub(crate) first: Received,
    /// In the legacy era, where the first is of the modern one.
    pub(crate) legacy: Option<Received>,
}

impl Lists {
    /// Whether clients of the two eras see two lists.
    pub(crate) fn differ(&self) -> bool {
        self.legacy.as_ref().is_some_and(|legacy| legacy.tools.digest() != self.first.tools.digest())
    }
}

/// Asks the server for its whole list; ends with it, or with the signal that ends this process.
pub(crate) fn ask(options: &ServerOptions, environment: &Environment) -> anyhow::Result<Asked> {
    let transport = transport(options, environment)?;
    let eras = match options.era {
        None => Eras::Either,
        Some(AskedEra::Legacy) => Eras::Only(Era::Legacy),
        Some(AskedEra::Modern) => Eras::Only(Era::Modern),
    };
    let limits = ClientLimits::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let asked = runtime.block_on(async {
        let stop = CancellationToken::new();
        tokio::spawn(stop_on_signal(stop.clone()));
        let asked = tokio::select! {
            asked = both(&transport, &limits, eras) => asked,
            () = stop.cancelled() => Asked::Interrupted,
        };
        settle(SETTLING).await;
        asked
    });
    // A thread may still wait for an answer; it must not hold the process.
    runtime.shutdown_background();
    Ok(asked)
}

async fn both(transport: &Transport, limits: &ClientLimits, eras: Eras) -> Asked {
    let failed = |error, in_legacy_alone| Asked::Failed(Failure { error, in_legacy_alone });
    let since = Instant::now();
    let first = match receive(transport, limits, eras).await {
        Ok(first) => first,
        Err(error) => return failed(error, false),
    };
    if eras != Eras::Either || first.era != Era::Modern {
        return Asked::Received(Box::new(Lists { first, legacy: None }));
    }
    // The time that was allowed is for all of it.
    match receive(&transport.clone().shorter_by(since.elapsed()), limits, Eras::Only(Era::Legacy)).await {
        Ok(legacy) => Asked::Received(Box::new(Lists { first, legacy: Some(legacy) })),
        // It says no: it is a server of the modern era alone.
        Err(ClientError::Refused { .. }) => Asked::Received(Box::new(Lists { first, legacy: None })),
        Err(error) => failed(error, true),
    }
}

fn transport(options: &ServerOptions, environment: &Environment) -> anyhow::Result<Transport> {
    let timeout = Duration::from_secs(options.timeout);
    if let Some(url) = &options.url {
        return Ok(Transport::Http(http(url, timeout, options, environment)?));
    }
    let folder = working_folder()?;
    let (program, args) = match options.command.split_first() {
        Some((program, args)) => (program, args.to_vec()),
        None => return Err(UsageError::new("no server is named", "write --url URL, or -- and the command").into()),
    };
    // What is not found is left as it was typed: that it cannot be started is told then.
    let path = environment.text("PATH").map(OsString::from);
    let program = which::which_in(program, path, &folder).unwrap_or_else(|_| program.into());
    Ok(Transport::Stdio(Launch {
        program,
        args,
        // It is the user's own command: it gets what it would get if it were typed without gatelatch.
        env: environment.all(),
        cwd: folder,
        timeout,
        max_stdout_bytes: LONGEST_LINE,
        stderr_tail_bytes: STDERR_TAIL_BYTES,
    }))
}

fn http(url: &str, timeout: Duration, options: &ServerOptions, environment: &Environment) -> Result<Http, UsageError> {
    // The address itself is not told: it may hold a secret.
    let address = Address::parse(url).map_err(|error| wrong(format!("--url cannot be used: {error}")))?;
    let proxy = proxy(&address, environment);
    let mut headers = Vec::new();
    for (at, text) in options.header.iter().enumerate() {
        headers.push(header(at + 1, text)?);
    }
    for text in &options.header_env {
        headers.push(header_from(text, environment)?);
    }
    let in_clear = if options.headers_in_clear { InClear::Allowed } else { InClear::Refused };
    let http = Http::new(address, timeout).with_headers(headers, in_clear).map_err(|error| match error {
        HttpError::InClear { .. } => UsageError::new(
            error.to_string(),
            "write https://, or --headers-in-clear where everyone on the way may read them",
        ),
        HttpError::Twice { .. } | HttpError::Proxy => wrong(error.to_string()),
    })?;
    match proxy {
        Some((variable, proxy)) => http
            .through(&proxy)
            .map_err(|error| UsageError::new(format!("{variable}: {error}"), "write http://HOST:PORT")),
        None => Ok(http),
    }
}

/// A header as it was typed. What has no name is not told: it may be all value.
fn header(place: usize, text: &str) -> Result<Header, UsageError> {
    let Some((name, value)) = text.split_once(':') else {
        return Err(UsageError::new(
            format!("header {place} has no colon"),
            "write --header \"NAME: VALUE\", or --header-env NAME=VARIABLE for a secret",
        ));
    };
    Header::new(name, value).map_err(|error| wrong(format!("header {place} cannot be sent: {error}")))
}

/// A header whose value a variable holds. The variable's name is not told: it may be a value in the wrong place.
fn header_from(text: &str, environment: &Environment) -> Result<Header, UsageError> {
    let Some((name, variable)) = text.split_once('=') else {
        return Err(UsageError::new("a --header-env has no `=`", "write --header-env NAME=VARIABLE"));
    };
    let cannot = |why: String| UsageError::new(why, "set the variable to the whole value, such as `Bearer …`");
    let named = plain(name);
    let value = environment
        .text(variable)
        .ok_or_else(|| cannot(format!("the variable that --header-env names for `{named}` is not set")))?;
    Header::secret(name, value).map_err(|error| cannot(format!("--header-env cannot be used: {error}")))
}

/// The proxy that the environment names for an address, with the variable's name. Unencrypted requests use none.
fn proxy(address: &Address, environment: &Environment) -> Option<(&'static str, String)> {
    let first = |names: &[&'static str]| {
        names.iter().find_map(|name| environment.text(name).map(|value| (*name, value.to_owned())))
    };
    let host = address.host().to_ascii_lowercase();
    let excepts = |entry: &str| {
        let entry = entry.trim().to_ascii_lowercase();
        let domain = entry.trim_start_matches('*').trim_start_matches('.');
        entry == "*" || !domain.is_empty() && (host == domain || host.ends_with(&format!(".{domain}")))
    };
    let goes_past = first(&["no_proxy", "NO_PROXY"]).is_some_and(|(_, list)| list.split(',').any(excepts));
    let is_direct = goes_past || address.is_loopback() || !address.is_encrypted();
    if is_direct { None } else { first(&["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]) }
}

fn wrong(message: String) -> UsageError {
    UsageError { message, help: None }
}

/// The way out where there is a list in the other era.
const LEGACY_ALONE: &str =
    "this came in the legacy era, after a list in the modern one; `--era modern` asks in the modern one alone";

/// Why there is no list, for people: what happened, its causes, what the server said last, the way out.
pub(crate) fn failure(Failure { error, in_legacy_alone }: &Failure) -> String {
    let mut lines = vec![format!("error: {}", causes(error))];
    if let ClientError::Silent { stderr_tail, .. } = error {
        lines.extend(stderr_tail.trim_end().lines().map(|line| format!("  | {}", plain(line))));
    }
    lines.extend(help(error, *in_legacy_alone).map(|help| format!("  help: {help}")));
    lines.join("\n")
}

/// The same for other programs.
pub(crate) fn failure_value(Failure { error, in_legacy_alone }: &Failure) -> Value {
    json!({ "verdict": "no_list", "error": causes(error), "help": help(error, *in_legacy_alone) })
}

fn help(error: &ClientError, in_legacy_alone: bool) -> Option<String> {
    if in_legacy_alone { Some(LEGACY_ALONE.to_owned()) } else { way_out(error) }
}

fn causes(error: &ClientError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}

fn way_out(error: &ClientError) -> Option<String> {
    const LONGER: &str = "if it only needs longer, add --timeout SECONDS";
    match error {
        ClientError::Start(_) => Some("what follows -- is the server's command, as you would type it".to_owned()),
        ClientError::Silent { odd: Some(_), was_heard: false, .. } | ClientError::Parrot { .. } => Some(
            "name a server that speaks MCP over standard input and output, with all the arguments that make it do so"
                .to_owned(),
        ),
        ClientError::Silent { odd: Some(_), was_heard: true, .. } => {
            Some("a server writes its log to standard error, and each message on a line of its own".to_owned())
        }
        ClientError::Silent { source: SessionError::Ended, odd: None, was_heard: false, .. } => {
            Some("is it an MCP server? what follows -- is the command that starts it, with all its arguments".to_owned())
        }
        ClientError::Silent { source: SessionError::TimedOut, .. }
        | ClientError::Exchange { source: ExchangeError::TimedOut, .. } => Some(LONGER.to_owned()),
        ClientError::Exchange { source: ExchangeError::Tls(_), .. } => Some(
            "let this system trust whoever signed the certificate, on Linux also by SSL_CERT_FILE=FILE".to_owned(),
        ),
        ClientError::NotLetIn { status, scheme } => {
            let scheme = scheme.as_deref().unwrap_or("Bearer");
            let header = "--header-env Authorization=VARIABLE";
            Some(if *status == 401 {
                format!("it needs a header: {header}, where VARIABLE holds `{scheme} …`")
            } else {
                format!("it may need a header with more rights: {header}, where VARIABLE holds `{scheme} …`")
            })
        }
        ClientError::Redirected { .. } => Some("if you trust that address, give it as --url".to_owned()),
        ClientError::Status { status: 404 | 405, .. } | ClientError::Foreign { .. } => Some(
            "is the path right? many servers answer at /mcp; those that speak only the older HTTP with SSE cannot be asked"
                .to_owned(),
        ),
        ClientError::Refused { method: "server/discover", .. } | ClientError::Malformed { method: "server/discover", .. } => {
            Some("leave out --era to ask the legacy way too".to_owned())
        }
        ClientError::Silent { .. }
        | ClientError::Exchange { .. }
        | ClientError::Status { .. }
        | ClientError::Echo { .. }
        | ClientError::Refused { .. }
        | ClientError::Malformed { .. }
        | ClientError::TooMuch { .. }
        | ClientError::List(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> Environment {
        Environment::of(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())))
    }

    #[test]
    fn a_proxy_is_used_for_encrypted_addresses_elsewhere_that_are_not_excepted() {
        let set = environment(&[("HTTPS_PROXY", "http://proxy:3128"), ("no_proxy", "internal.example, .corp,*.lan")]);
        let used = |url: &str| proxy(&Address::parse(url).unwrap(), &set).is_some();
        for url in ["https://example.org/mcp", "https://notinternal.example/"] {
            assert!(used(url), "{url}");
        }
        for url in [
            "http://example.org/",
            "https://localhost/",
            "https://internal.example/",
            "https://a.Internal.example/",
            "https://a.corp/",
            "https://b.lan/",
        ] {
            assert!(!used(url), "{url}");
        }
        let set = environment(&[("ALL_PROXY", "http://proxy"), ("NO_PROXY", "*")]);
        assert!(proxy(&Address::parse("https://example.org").unwrap(), &set).is_none());
    }

    #[test]
    fn a_header_that_cannot_be_used_is_told_without_its_value() {
        let set = environment(&[("EMPTY", ""), ("BROKEN", "p4ssw0rd\nX: 1")]);
        let errors = [
            header(1, "p4ssw0rd").unwrap_err(),
            header(2, "X-A: p4ssw0rd\u{e9}").unwrap_err(),
            header(3, "Host: p4ssw0rd").unwrap_err(),
            header(4, "a p4ssw0rd: x").unwrap_err(),
            header_from("p4ssw0rd", &set).unwrap_err(),
            header_from("Authorization=p4ssw0rd", &set).unwrap_err(),
            header_from("Authorization=EMPTY", &set).unwrap_err(),
            header_from("Authorization=BROKEN", &set).unwrap_err(),
        ];
        for error in errors {
            assert!(!error.to_string().contains("p4ssw0rd") && !format!("{error:?}").contains("p4ssw0rd"), "{error}");
        }
    }
}
