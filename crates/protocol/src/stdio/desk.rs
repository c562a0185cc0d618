//! Takes lines in and gets answers out: dispatch, cancellation, order. Knows no thread and no file.

use std::future::Future;
use std::sync::Arc;
use std::task::{Context, Waker};

use rmcp::model::{ErrorCode, RequestId, ServerResult};
use rmcp::service::{RequestContext, Service};
use rmcp::{ErrorData, Peer, RoleServer};
use serde::Serialize;
use serde_json::Value;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::flight::{Flight, Flights};
use super::line::Line;
use super::message::{self, Message, Refusal, Request};
use super::output::Output;
use crate::adapter::{Adapter, run::caught, unknown_method};

/// What a request is charged for beyond its own bytes: its future and the answer that may wait for the client.
const REQUEST_OVERHEAD: usize = 4 * 1024;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// One connection's desk.
pub(crate) struct Desk {
    pub(crate) adapter: Arc<Adapter>,
    pub(crate) peer: Peer<RoleServer>,
    pub(crate) output: Output,
    pub(crate) flights: Flights,
    /// How many bytes of requests may be held; what comes then is read when some are answered.
    pub(crate) room: Arc<Semaphore>,
    pub(crate) room_size: usize,
    /// All work that is not done.
    pub(crate) tasks: TaskTracker,
    /// Cancels every call.
    pub(crate) calls: CancellationToken,
    /// Nothing more is taken in.
    pub(crate) closed: CancellationToken,
    pub(crate) runtime: Handle,
}

impl Desk {
    /// Takes one line. Called on the reader's thread, line after line.
    pub(crate) fn take(self: &Arc<Self>, line: &Line<'_>, cap: usize) {
        match line {
            Line::TooLong(beginning) => self.refuse(message::too_long(beginning, cap)),
            Line::Whole(line) => {
                let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
                if !line.iter().all(u8::is_ascii_whitespace) {
                    self.take_message(message::read(line), line.len());
                }
            }
        }
    }

    fn take_message(self: &Arc<Self>, message: Message, size: usize) {
        match message {
            Message::Nothing => {}
            Message::Cancelled(id) => self.flights.cancel(&id),
            Message::Refused(refusal) => self.refuse(refusal),
            Message::Request(request) => match self.flights.begin(&request.id, &self.calls) {
                None => self.refuse(message::id_in_use(&request.id)),
                Some(flight) => {
                    // INVARIANT: nothing is read between `initialize` and its answer
                    // (`lines_behind_initialize_wait_for_its_answer`).
                    let order = if request.method == "initialize" { Order::Barrier } else { Order::Free };
                    let desk = self.clone();
                    self.launch(size, order, async move { desk.answer(flight, *request).await });
                }
            },
        }
    }

    async fn answer(&self, flight: Flight, request: Request) {
        let line = self.answer_line(&flight, request).await;
        // INVARIANT: the id is free before its answer can be read, and a cancelled request is not answered
        // (`an_id_may_be_used_again_as_soon_as_its_answer_is_read`, `a_cancelled_call_is_not_answered`).
        if self.flights.land(&flight) {
            self.output.send(line).await;
        }
    }

    async fn answer_line(&self, flight: &Flight, request: Request) -> Vec<u8> {
        let mut context = RequestContext::new(flight.id.clone(), self.peer.clone());
        context.ct = flight.cancelled.clone();
        context.meta = request.meta;
        if let Some(misfit) = request.misfit {
            context.extensions.insert(misfit);
        }
        let (typed, method) = (request.request, request.method);
        let result = caught(|| Box::pin(self.adapter.handle_request(typed, context))).await;
        match result {
            Some(Ok(result)) => result_line(&flight.id, &result),
            Some(Err(error)) if error.code == ErrorCode::METHOD_NOT_FOUND => {
                error_line(&flight.id, &unknown_method(&method))
            }
            Some(Err(error)) => error_line(&flight.id, &error),
            None => error_line(&flight.id, &ErrorData::internal_error("internal error", None)),
        }
    }

    fn refuse(self: &Arc<Self>, refusal: Refusal) {
        tracing::debug!(code = refusal.code, "a line was refused");
        let error = ErrorData::new(ErrorCode(refusal.code), refusal.message, None);
        let line = error_line(&refusal.id, &error);
        let output = self.output.clone();
        self.launch(line.len(), Order::Free, async move { output.send(line).await });
    }

    /// Starts work. It is polled here once: what needs no waiting is done without a change of thread.
    fn launch(&self, size: usize, order: Order, work: impl Future<Output = ()> + Send + 'static) {
        let charge = u32::try_from((size + REQUEST_OVERHEAD).min(self.room_size)).unwrap_or(u32::MAX);
        let room = match self.room.clone().try_acquire_many_owned(charge) {
            Ok(room) => room,
            Err(_) => match self.wait(self.room.clone().acquire_many_owned(charge)) {
                Some(Ok(room)) => room,
                Some(Err(_)) | None => return,
            },
        };
        let mut work = Box::pin(self.tasks.track_future(async move {
            work.await;
            drop(room);
        }));
        if work.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
            return;
        }
        match order {
            Order::Free => drop(self.runtime.spawn(work)),
            Order::Barrier => drop(self.wait(work)),
        }
    }

    /// Waits on the reader's thread; `None` when the desk closed first.
    fn wait<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        self.runtime.block_on(async {
            tokio::select! {
                biased;
                () = self.closed.cancelled() => None,
                output = work => Some(output),
            }
        })
    }
}

/// Whether later lines may be read before this work is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Free,
    Barrier,
}

#[derive(Serialize)]
struct Answer<'a, I> {
    jsonrpc: &'static str,
    id: &'a I,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a ServerResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a ErrorData>,
}

fn result_line(id: &RequestId, result: &ServerResult) -> Vec<u8> {
    line(&Answer { jsonrpc: "2.0", id, result: Some(result), error: None }, id)
}

fn error_line<I: Serialize>(id: &I, error: &ErrorData) -> Vec<u8> {
    line(&Answer { jsonrpc: "2.0", id, result: None, error: Some(error) }, id)
}

fn line<I: Serialize>(answer: &Answer<'_, I>, id: &I) -> Vec<u8> {
    let mut line = Vec::with_capacity(512);
    if serde_json::to_writer(&mut line, answer).is_err() {
        line = unwritable(id);
    }
    line.push(b'\n');
    line
}

/// The answer when the true one cannot be written as JSON.
fn unwritable<I: Serialize>(id: &I) -> Vec<u8> {
    let id = serde_json::to_value(id).unwrap_or(Value::Null);
    let error = serde_json::json!({"code": -32603, "message": "internal error: the result cannot be written"});
    serde_json::json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string().into_bytes()
}
