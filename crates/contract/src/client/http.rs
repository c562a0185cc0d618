//! A list asked for over Streamable HTTP, in either era.
//!
//! Owns the order of questions and what may be sent in the clear. One question and its answer are `exchange`'s business.
//! A redirect is told and never followed, since headers may hold secrets. Start at [`Http`] for where, and at `receive`
//! for what.

pub mod address;
pub mod header;

mod event;
mod exchange;
mod kept;

use std::fmt;
use std::time::{Duration, Instant};

use gatelatch_protocol::era::Era;
use ureq::Proxy;

use self::address::Address;
use self::exchange::Exchange;
use self::header::{Header, Headers};
use super::greeting::{Greeting, initialize_params, modern_params, not_modern};
use super::page::{METHOD, Pages};
use super::{ClientError, ClientLimits, Eras, Received};

/// How much longer than it may take an answer is waited for: the clock of the asking thread is the one that counts.
const LAG: Duration = Duration::from_secs(3);

/// Where a server is, and what every question to it carries.
#[derive(Clone)]
pub struct Http {
    address: Address,
    headers: Headers,
    proxy: Option<Proxy>,
    timeout: Duration,
}

/// Whether headers may go over `http://` to another machine, where everyone on the way reads them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InClear {
    /// They may not.
    Refused,
    /// Somebody said that they may.
    Allowed,
}

/// Why a server is not asked this way. Never holds a header's value or more of an address than its origin.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum HttpError {
    /// Headers would be readable on the way.
    #[error("headers would go to `{origin}` unencrypted")]
    InClear {
        /// Where to.
        origin: String,
    },
    /// Two headers have one name.
    #[error("the header `{name}` is given twice")]
    Twice {
        /// The name.
        name: String,
    },
    /// The proxy's address is none.
    #[error("the proxy's address is no URL of a kind that is known")]
    Proxy,
}

/// Why an exchange over HTTP failed. Never holds a header's value or more of an address than its origin.
#[derive(Debug, thiserror::Error)]
pub enum ExchangeError {
    /// It took too long.
    #[error("its time was up")]
    TimedOut,
    /// The name leads nowhere.
    #[error("no machine has this name")]
    UnknownHost,
    /// The connection could not be made, or broke.
    #[error("the connection failed")]
    Io(#[source] std::io::Error),
    /// The two do not agree on encryption, or the certificate is not to be trusted.
    #[error("no encrypted connection: {0}")]
    Tls(String),
    /// The proxy does not let it through.
    #[error("the proxy made no connection")]
    Proxy,
    /// What came is no HTTP.
    #[error("what came is no HTTP: {0}")]
    Protocol(String),
    /// The answer is missing.
    #[error("the stream of events ended before the answer")]
    Ended,
}

impl Http {
    /// A server that is asked without headers. `timeout` bounds everything from the first question to the last answer.
    pub fn new(address: Address, timeout: Duration) -> Http {
        Http { address, headers: Headers::default(), proxy: None, timeout }
    }

    /// The same with so much less time.
    #[must_use]
    pub fn shorter_by(self, gone: Duration) -> Http {
        Http { timeout: self.timeout.saturating_sub(gone), ..self }
    }

    /// The same with these headers.
    ///
    /// # Errors
    ///
    /// When they would be readable on the way and nobody allowed that, or a name is there twice.
    pub fn with_headers(self, headers: Vec<Header>, in_clear: InClear) -> Result<Http, HttpError> {
        let may_be_read = !self.address.is_encrypted() && !self.address.is_loopback();
        if !headers.is_empty() && may_be_read && in_clear == InClear::Refused {
            return Err(HttpError::InClear { origin: self.address.origin() });
        }
        let headers = Headers::new(headers).map_err(|name| HttpError::Twice { name })?;
        Ok(Http { headers, ..self })
    }

    /// The same through a proxy, which is asked for a tunnel. What is not encrypted goes past it: it would be read there.
    ///
    /// # Errors
    ///
    /// When the proxy's address is none.
    pub fn through(self, proxy: &str) -> Result<Http, HttpError> {
        if !self.address.is_encrypted() {
            return Ok(self);
        }
        let proxy = Proxy::new(proxy).map_err(|_| HttpError::Proxy)?;
        Ok(Http { proxy: Some(proxy), ..self })
    }
}

impl fmt::Debug for Http {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Http { address, headers, timeout, .. } = self;
        formatter
            .debug_struct("Http")
            .field("address", address)
            .field("headers", headers)
            .field("timeout", timeout)
            .finish()
    }
}

/// Asks a server for its whole list.
pub(super) async fn receive(server: &Http, limits: &ClientLimits, eras: Eras) -> Result<Received, ClientError> {
    let (asked, limits, within) = (server.clone(), limits.clone(), server.timeout.saturating_add(LAG));
    // The HTTP client waits where it is called.
    let thread = tokio::task::spawn_blocking(move || {
        let mut exchange = Exchange::new(&asked, &limits);
        let received = conversation(&mut exchange, &limits, eras);
        exchange.end();
        received
    });
    let source = match tokio::time::timeout(within, thread).await {
        Ok(Ok(received)) => return received,
        Ok(Err(lost)) => ExchangeError::Io(lost.into()),
        Err(_) => ExchangeError::TimedOut,
    };
    Err(ClientError::Exchange { origin: server.address.origin(), method: METHOD, source })
}

fn conversation(exchange: &mut Exchange<'_>, limits: &ClientLimits, eras: Eras) -> Result<Received, ClientError> {
    let greeting = match eras {
        Eras::Only(Era::Legacy) => initialize(exchange)?,
        Eras::Only(Era::Modern) => discover(exchange, exchange.deadline())?,
        Eras::Either => either(exchange, limits)?,
    };
    let era = greeting.era;
    let mut pages = Pages::new(limits, greeting);
    loop {
        let answer = exchange.ask(era, METHOD, &pages.params(), exchange.deadline())?;
        if !pages.add(answer.result(METHOD)?)? {
            return pages.join();
        }
    }
}

/// Asks the modern way, and the legacy way when that is refused or not answered in time.
fn either(exchange: &mut Exchange<'_>, limits: &ClientLimits) -> Result<Greeting, ClientError> {
    let patience = limits.patience.min(exchange.timeout() / 2);
    let first = match discover(exchange, Instant::now() + patience) {
        Ok(greeting) => return Ok(greeting),
        Err(error) if is_final(&error) => return Err(error),
        Err(error) => error,
    };
    match initialize(exchange) {
        // A modern server that is slow to start answers yet, given time.
        Err(ClientError::Refused { .. } | ClientError::Status { .. })
            if matches!(first, ClientError::Exchange { source: ExchangeError::TimedOut, .. }) =>
        {
            discover(exchange, exchange.deadline())
        }
        other => other,
    }
}

/// Whether a server that answered one question so answers no other one otherwise.
fn is_final(error: &ClientError) -> bool {
    matches!(
        error,
        ClientError::NotLetIn { .. }
            | ClientError::Redirected { .. }
            | ClientError::TooMuch { .. }
            | ClientError::Echo { .. }
    )
}

fn discover(exchange: &mut Exchange<'_>, until: Instant) -> Result<Greeting, ClientError> {
    let answer = exchange.ask(Era::Modern, "server/discover", &modern_params(None), until)?;
    Greeting::of_discover(&answer.result("server/discover")?).ok_or_else(not_modern)
}

fn initialize(exchange: &mut Exchange<'_>) -> Result<Greeting, ClientError> {
    let answer = exchange.ask(Era::Legacy, "initialize", &initialize_params(), exchange.deadline())?;
    let result = answer.result("initialize")?;
    let greeting = Greeting::of_initialize(&result)?;
    exchange.settle_on(&result)?;
    exchange.notify("notifications/initialized")?;
    Ok(greeting)
}
