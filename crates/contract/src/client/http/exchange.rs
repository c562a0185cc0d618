//! One question over HTTP and its answer, as JSON or as a stream of events.
//!
//! Owns what an answer may cost, and that nothing which was sent in a header is shown when it comes back. Refuses to
//! know what is asked. Start at [`Exchange::ask`].

use std::io::{ErrorKind, Read};
use std::time::{Duration, Instant};

use gatelatch_protocol::era::Era;
use serde_json::Value;
use ureq::http::header::{CONTENT_ENCODING, CONTENT_TYPE, LOCATION, WWW_AUTHENTICATE};
use ureq::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, AsSendBody, Body};

use super::address::place;
use super::event::Events;
use super::kept::Kept;
use super::{ExchangeError, Http};
use crate::client::message::{self, Answer};
use crate::client::{ClientError, ClientLimits, MODERN};
use crate::published::text_at;
use crate::shown;

const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// Where in a message a server speaks for itself: an error, and its name and version in either era.
const WORDS: [&str; 3] = ["/error/message", "/result/serverInfo", "/result/_meta/io.modelcontextprotocol~1serverInfo"];

/// How much is read at once.
const CHUNK: usize = 16 * 1024;
/// How much of the body of a failure is read for its reason.
const MOST_OF_A_FAILURE: usize = 64 * 1024;
/// How long a server may take to hear that a session is over.
const FAREWELL: Duration = Duration::from_secs(2);

/// A server that is asked one thing at a time.
pub(super) struct Exchange<'a> {
    agent: Agent,
    server: &'a Http,
    limits: &'a ClientLimits,
    /// What was given to reach it, and must not be shown.
    kept: Kept,
    deadline: Instant,
    next_id: u64,
    bytes: usize,
    lines: usize,
    /// What a legacy server gave as the name of the session.
    session: Option<HeaderValue>,
    /// The version that a legacy server settled on.
    version: Option<HeaderValue>,
}

impl<'a> Exchange<'a> {
    pub(super) fn new(server: &'a Http, limits: &'a ClientLimits) -> Exchange<'a> {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(server.proxy.clone())
            .user_agent(concat!("gatelatch/", env!("CARGO_PKG_VERSION")))
            .accept("application/json, text/event-stream")
            .accept_encoding("identity")
            .tls_config(TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build());
        Exchange {
            agent: config.build().new_agent(),
            server,
            limits,
            kept: Kept::of(&server.address, &server.headers),
            deadline: Instant::now() + server.timeout,
            next_id: 1,
            bytes: 0,
            lines: 0,
            session: None,
            version: None,
        }
    }

    /// How long all of it may take.
    pub(super) fn timeout(&self) -> Duration {
        self.server.timeout
    }

    /// When all of it must be over.
    pub(super) fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Asks something and waits for the answer.
    pub(super) fn ask(
        &mut self,
        era: Era,
        method: &'static str,
        params: &Value,
        until: Instant,
    ) -> Result<Answer, ClientError> {
        let id = self.next_id;
        self.next_id += 1;
        let mut response = self.post(era, method, &message::question(id, method, params), until)?;
        let status = response.status();
        if !status.is_success() {
            return self.failure(method, response);
        }
        if method == "initialize" {
            self.session = session(method, response.headers())?;
        }
        if let Some(encoding) = self.text(method, response.headers(), CONTENT_ENCODING)?
            && encoding != "identity"
        {
            return Err(malformed(
                method,
                format!("it is encoded as `{}`, which nobody asked for", self.shown(&encoding)),
            ));
        }
        match self.text(method, response.headers(), CONTENT_TYPE)?.as_deref().map(essence).as_deref() {
            Some("application/json") => {
                let text = self.whole(method, &mut response, usize::MAX)?;
                let message = self.message(method, &text)?;
                let begins = || self.shown(&text);
                let message = message.ok_or_else(|| foreign(method, format!("is no JSON object: `{}`", begins())))?;
                if message::answered(&message, &[id]).is_none() {
                    return Err(malformed(method, format!("it is no answer to what was asked: `{}`", begins())));
                }
                Answer::read(method, message)
            }
            Some("text/event-stream") => self.stream(era, method, id, response),
            Some(other) => {
                let other = self.shown(other);
                let what = format!("is `{other}`, neither `application/json` nor `text/event-stream`");
                Err(foreign(method, what))
            }
            None => Err(foreign(method, "does not say what it is".to_owned())),
        }
    }

    /// Says something that has no answer.
    pub(super) fn notify(&mut self, method: &'static str) -> Result<(), ClientError> {
        let response = self.post(Era::Legacy, method, &message::notification(method), self.deadline)?;
        if response.status().is_success() {
            return Ok(());
        }
        self.failure(method, response)?.result(method).map(drop)
    }

    /// Remembers the version that a legacy server settled on: every later question names it.
    pub(super) fn settle_on(&mut self, result: &Value) -> Result<(), ClientError> {
        let version = text_at(result, "protocolVersion").unwrap_or_default();
        let header = HeaderValue::from_str(version);
        let header = header.map_err(|_| malformed("initialize", "its version is none".to_owned()))?;
        self.version = Some(header);
        Ok(())
    }

    /// Ends the session, if there is one. What the server does about that matters no more.
    pub(super) fn end(self) {
        if self.session.is_some() {
            let until = self.deadline.min(Instant::now() + FAREWELL);
            let _ = self.send(Method::DELETE, Era::Legacy, "initialize", Vec::new(), until);
        }
    }

    fn post(
        &self,
        era: Era,
        method: &'static str,
        message: &Value,
        until: Instant,
    ) -> Result<Response<Body>, ClientError> {
        self.send(Method::POST, era, method, message.to_string().into_bytes(), until)
    }

    fn send(
        &self,
        verb: Method,
        era: Era,
        method: &'static str,
        body: Vec<u8>,
        until: Instant,
    ) -> Result<Response<Body>, ClientError> {
        let left = until.min(self.deadline).saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(self.failed(method, ExchangeError::TimedOut));
        }
        let has_body = verb == Method::POST;
        let mut request = Request::builder().method(verb).uri(self.server.address.uri());
        if let Some(headers) = request.headers_mut() {
            headers.extend(self.server.headers.iter().map(|(name, value)| (name.clone(), value.clone())));
            if has_body {
                headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            }
            match era {
                Era::Modern => {
                    headers.insert(VERSION, HeaderValue::from_static(MODERN));
                    headers.insert(METHOD, HeaderValue::from_static(method));
                }
                Era::Legacy => {
                    headers.extend(self.version.clone().map(|version| (VERSION, version)));
                    headers.extend(self.session.clone().map(|session| (SESSION, session)));
                }
            }
        }
        let sent = if has_body { self.run(request.body(body), left) } else { self.run(request.body(()), left) };
        sent.map_err(|error| self.failed(method, exchange_error(error)))
    }

    fn run<B: AsSendBody>(
        &self,
        request: Result<Request<B>, ureq::http::Error>,
        left: Duration,
    ) -> Result<Response<Body>, ureq::Error> {
        let request = self.agent.configure_request(request?).timeout_global(Some(left)).build();
        self.agent.run(request)
    }

    /// What an answer says that is no success: a JSON-RPC error where there is one.
    fn failure(&mut self, method: &'static str, mut response: Response<Body>) -> Result<Answer, ClientError> {
        let status = response.status();
        if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            let wanted = self.text(method, response.headers(), WWW_AUTHENTICATE)?;
            let scheme = wanted.as_deref().and_then(|wanted| wanted.split_whitespace().next());
            let scheme = scheme.map(|scheme| self.shown(scheme));
            return Err(ClientError::NotLetIn { status: status.as_u16(), scheme });
        }
        if status.is_redirection()
            && let Some(location) = self.text(method, response.headers(), LOCATION)?
        {
            let to = location
                .parse::<Uri>()
                .map_or_else(|_| "an address that is none".to_owned(), |to| place(&to, &self.server.address));
            return Err(ClientError::Redirected { status: status.as_u16(), to: self.shown(&to) });
        }
        let text = self.whole(method, &mut response, MOST_OF_A_FAILURE).unwrap_or_default();
        match self.message(method, &text) {
            Ok(Some(message)) if message.get("error").is_some_and(Value::is_object) => Answer::read(method, message),
            Err(error @ ClientError::Echo { .. }) => Err(error),
            Ok(_) | Err(_) => {
                if let Some(what) = self.kept.echoed(&text) {
                    return Err(ClientError::Echo { method, what });
                }
                let is_for_people = !text.trim().is_empty() && !text.trim_start().starts_with('<');
                let said = is_for_people.then(|| self.shown(text.trim()));
                Err(ClientError::Status { method, status: status.as_u16(), said })
            }
        }
    }

    /// Reads events until one is the answer.
    fn stream(
        &mut self,
        era: Era,
        method: &'static str,
        id: u64,
        response: Response<Body>,
    ) -> Result<Answer, ClientError> {
        let mut reader = response.into_body().into_reader();
        let (mut events, mut chunk, lines) = (Events::default(), vec![0; CHUNK], self.lines);
        loop {
            let read = self.read(method, &mut reader, &mut chunk)?;
            if read == 0 {
                return Err(self.failed(method, ExchangeError::Ended));
            }
            let data = events.feed(chunk.get(..read).unwrap_or_default());
            for text in data {
                let Some(message) = self.message(method, &text)? else { continue };
                if message.get("method").is_none() {
                    if message::answered(&message, &[id]).is_some() {
                        return Answer::read(method, message);
                    }
                } else if era == Era::Legacy
                    && let Some(answer) = message::decline(&message)
                {
                    // What the server makes of it shows in what it sends next.
                    let _ = self.post(era, method, &answer, self.deadline);
                }
            }
            self.lines = lines.saturating_add(events.lines());
            if self.lines > self.limits.max_lines {
                return Err(ClientError::TooMuch { what: "lines", most: self.limits.max_lines });
            }
        }
    }

    /// A whole body, if it has no more than so many bytes.
    fn whole(
        &mut self,
        method: &'static str,
        response: &mut Response<Body>,
        most: usize,
    ) -> Result<String, ClientError> {
        let (mut body, mut chunk) = (Vec::new(), vec![0; CHUNK]);
        let mut reader = response.body_mut().as_reader();
        loop {
            let read = self.read(method, &mut reader, &mut chunk)?;
            if read == 0 {
                let text = String::from_utf8_lossy(&body);
                return Ok(text.trim_start_matches('\u{feff}').to_owned());
            }
            body.extend_from_slice(chunk.get(..read).unwrap_or_default());
            if body.len() > most {
                return Err(ClientError::TooMuch { what: "bytes", most });
            }
        }
    }

    fn read(&mut self, method: &'static str, reader: &mut impl Read, chunk: &mut [u8]) -> Result<usize, ClientError> {
        let read = reader.read(chunk).map_err(|error| self.failed(method, exchange_error(error.into())))?;
        self.bytes = self.bytes.saturating_add(read);
        if self.bytes > self.limits.max_bytes {
            return Err(ClientError::TooMuch { what: "bytes", most: self.limits.max_bytes });
        }
        Ok(read)
    }

    /// Reads a text that may be a message.
    fn message(&self, method: &'static str, text: &str) -> Result<Option<Value>, ClientError> {
        let read = message::read(method, text);
        let echoed = match &read {
            Ok(message) => message.as_ref().and_then(|message| self.kept.echoed_in(message)),
            // What is wrong with it quotes it.
            Err(_) => self.kept.echoed(text),
        };
        if let Some(what) = echoed {
            return Err(ClientError::Echo { method, what });
        }
        let mut message = match read {
            Ok(message) => message,
            Err(_) => return message::read(method, &self.kept.masked(text)),
        };
        // Its own words are told. Its tools are compared and kept as they came, or their digest were another one.
        for at in WORDS {
            if let Some(words) = message.as_mut().and_then(|message| message.pointer_mut(at)) {
                self.kept.mask_in(words);
            }
        }
        Ok(message)
    }

    /// A text of the server's as it is told: without what was given to reach it, which is looked for before it is cut.
    fn shown(&self, text: &str) -> String {
        shown::text(&self.kept.masked(text))
    }

    /// A header of an answer, as text.
    fn text(&self, method: &'static str, headers: &HeaderMap, name: HeaderName) -> Result<Option<String>, ClientError> {
        let Some(value) = headers.get(name) else { return Ok(None) };
        let value = String::from_utf8_lossy(value.as_bytes());
        match self.kept.echoed_in_header(&value) {
            Some(what) => Err(ClientError::Echo { method, what }),
            None => Ok(Some(value.into_owned())),
        }
    }

    fn failed(&self, method: &'static str, source: ExchangeError) -> ClientError {
        ClientError::Exchange { origin: self.server.address.origin(), method, source }
    }
}

/// The name of a session that a legacy server opened.
fn session(method: &'static str, headers: &HeaderMap) -> Result<Option<HeaderValue>, ClientError> {
    let Some(value) = headers.get(SESSION) else { return Ok(None) };
    if value.is_empty() || !value.as_bytes().iter().all(u8::is_ascii_graphic) {
        return Err(malformed(method, "the name of its session is no visible ASCII".to_owned()));
    }
    let mut session = value.clone();
    session.set_sensitive(true);
    Ok(Some(session))
}

/// A media type without its parameters.
fn essence(media_type: &str) -> String {
    media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// An answer that no MCP server gives: to the first question it says that there is none.
fn foreign(method: &'static str, what: String) -> ClientError {
    match method {
        "server/discover" | "initialize" => ClientError::Foreign { method, what },
        _ => malformed(method, format!("it {what}")),
    }
}

fn malformed(method: &'static str, what: String) -> ClientError {
    ClientError::Malformed { method, what }
}

/// Why an exchange failed, without what the client would show of it: an address may hold a secret.
fn exchange_error(error: ureq::Error) -> ExchangeError {
    match error {
        ureq::Error::Timeout(_) => ExchangeError::TimedOut,
        ureq::Error::HostNotFound => ExchangeError::UnknownHost,
        // A handshake fails as a read that brought what it should not.
        ureq::Error::Io(source) if source.kind() == ErrorKind::InvalidData && source.get_ref().is_some() => {
            ExchangeError::Tls(shown::text(&source.to_string()))
        }
        ureq::Error::Io(source) => ExchangeError::Io(source),
        ureq::Error::ConnectionFailed => ExchangeError::Io(ErrorKind::NotConnected.into()),
        ureq::Error::Tls(what) => ExchangeError::Tls(what.to_owned()),
        ureq::Error::Rustls(source) => ExchangeError::Tls(shown::text(&source.to_string())),
        ureq::Error::ConnectProxyFailed(_) | ureq::Error::InvalidProxyUrl => ExchangeError::Proxy,
        ureq::Error::Protocol(source) => ExchangeError::Protocol(shown::text(&source.to_string())),
        ureq::Error::LargeResponseHeader(..) => ExchangeError::Protocol("its headers are too long".to_owned()),
        _ => ExchangeError::Protocol("it cannot be read".to_owned()),
    }
}
