//! Which requests are not answered yet, and who may still answer them. Knows no message.
//!
//! An id belongs to a request from its arrival to its answer or its cancellation. A cancelled request may still be
//! winding down when its id comes back with a new request, so an answer is given by serial number, never by id.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rmcp::model::RequestId;
use tokio_util::sync::CancellationToken;

/// The requests in flight.
#[derive(Default)]
pub(crate) struct Flights {
    // Shared by the reader, which adds and cancels, and by the tasks that answer. Held for single map operations.
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    next_serial: u64,
    open: HashMap<RequestId, Open>,
}

struct Open {
    serial: u64,
    cancelled: CancellationToken,
}

/// One request's right to be answered.
#[derive(Debug)]
pub(crate) struct Flight {
    pub(crate) id: RequestId,
    serial: u64,
    /// Cancelled when the client cancels the request or the connection ends.
    pub(crate) cancelled: CancellationToken,
}

impl Flights {
    /// Takes off; `None` when the id is in use. The token becomes a child of the connection's.
    pub(crate) fn begin(&self, id: &RequestId, connection: &CancellationToken) -> Option<Flight> {
        let mut table = self.lock();
        let serial = table.next_serial;
        let Entry::Vacant(slot) = table.open.entry(id.clone()) else {
            return None;
        };
        let cancelled = connection.child_token();
        slot.insert(Open { serial, cancelled: cancelled.clone() });
        table.next_serial += 1;
        Some(Flight { id: id.clone(), serial, cancelled })
    }

    /// Ends a flight before its answer is written; false when it was cancelled and must not be answered.
    pub(crate) fn land(&self, flight: &Flight) -> bool {
        let mut table = self.lock();
        let is_own = table.open.get(&flight.id).is_some_and(|open| open.serial == flight.serial);
        if is_own {
            table.open.remove(&flight.id);
        }
        is_own
    }

    /// Cancels what has this id, if anything has.
    pub(crate) fn cancel(&self, id: &RequestId) {
        let open = self.lock().open.remove(id);
        if let Some(open) = open {
            open.cancelled.cancel();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        // No code that can panic runs under the lock, so a poisoned table is still whole.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_in_use_until_its_request_lands() {
        let (flights, connection) = (Flights::default(), CancellationToken::new());
        let first = flights.begin(&RequestId::Number(1), &connection).unwrap();
        assert!(flights.begin(&RequestId::Number(1), &connection).is_none());
        assert!(flights.begin(&RequestId::String("1".into()), &connection).is_some());
        assert!(flights.land(&first));
        assert!(flights.begin(&RequestId::Number(1), &connection).is_some());
    }

    #[test]
    fn a_cancelled_request_does_not_answer_for_the_next_one_with_its_id() {
        let (flights, connection) = (Flights::default(), CancellationToken::new());
        let cancelled = flights.begin(&RequestId::Number(1), &connection).unwrap();
        flights.cancel(&RequestId::Number(1));
        assert!(cancelled.cancelled.is_cancelled());
        let next = flights.begin(&RequestId::Number(1), &connection).unwrap();
        assert!(!flights.land(&cancelled));
        assert!(!next.cancelled.is_cancelled());
        assert!(flights.land(&next));
    }
}
