//! How many runs of one entry are under way at once.
//!
//! Those over the limit wait in line, first come first served. The line is an entry's; an action whose own limit is
//! lower has a second one of its own.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use gatelatch_registry::catalog::{ActionManifest, EntryManifest, Kind};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Whose line: an entry's, or an action's.
type Key = (Kind, String, Option<String>);

/// Every line that anybody ever stood in.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    // Held for a look-up, never across a wait.
    lines: Mutex<HashMap<Key, Arc<Semaphore>>>,
}

/// The right to run; given back when it is dropped, whatever became of the run.
#[derive(Debug)]
pub(crate) struct Slot {
    _of_action: Option<OwnedSemaphorePermit>,
    _of_entry: Option<OwnedSemaphorePermit>,
}

impl Slots {
    /// Waits for a free slot.
    pub(crate) async fn take(&self, entry: &EntryManifest, action: &ActionManifest) -> Slot {
        let most = entry.actions.iter().map(|action| action.limits.max_concurrent).max().unwrap_or(1);
        let own = action.limits.max_concurrent;
        // The action's first: whoever waits for it must not keep the entry's other actions from running.
        let of_action = match own < most {
            true => self.line(entry, action.name.as_deref().or(Some("")), own).acquire_owned().await.ok(),
            false => None,
        };
        // A line is never closed, so that it cannot fail.
        let of_entry = self.line(entry, None, most).acquire_owned().await.ok();
        Slot { _of_action: of_action, _of_entry: of_entry }
    }

    fn line(&self, entry: &EntryManifest, action: Option<&str>, places: u32) -> Arc<Semaphore> {
        let key = (entry.kind, entry.name.clone(), action.map(str::to_owned));
        // The map is whole between any two statements, so a panic elsewhere does not spoil it.
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let line = lines.entry(key).or_insert_with(|| Arc::new(Semaphore::new(places.max(1) as usize)));
        Arc::clone(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gatelatch_registry::catalog::{Limits, Runtime};
    use std::future::Future;
    use std::task::{Context, Poll, Waker};

    fn action(name: &str, max_concurrent: u32) -> ActionManifest {
        let limits = Limits { max_concurrent, ..Limits::default() };
        ActionManifest { limits, ..ActionManifest::new(Some(name), "") }
    }

    /// `alone` may run once, `twice` twice, and the entry twice in all.
    fn entry() -> EntryManifest {
        EntryManifest {
            kind: Kind::Tool,
            name: "probe".to_owned(),
            description: String::new(),
            version: String::new(),
            runtime: Runtime::Process,
            entrypoint: String::new(),
            secrets: Vec::new(),
            actions: vec![action("alone", 1), action("twice", 2)],
            uses: Vec::new(),
            position: Default::default(),
        }
    }

    /// The slot if there is a free one, without waiting.
    fn take_now(slots: &Slots, entry: &EntryManifest, action: usize) -> Option<Slot> {
        let take = std::pin::pin!(slots.take(entry, &entry.actions[action]));
        match take.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(slot) => Some(slot),
            Poll::Pending => None,
        }
    }

    #[test]
    fn an_entry_runs_as_often_at_once_as_it_may() {
        let (slots, entry) = (Slots::default(), entry());
        let first = take_now(&slots, &entry, 1).unwrap();
        let _second = take_now(&slots, &entry, 1).unwrap();
        assert!(take_now(&slots, &entry, 1).is_none());
        assert!(take_now(&slots, &entry, 0).is_none(), "the entry's slots are its actions' together");
        drop(first);
        assert!(take_now(&slots, &entry, 1).is_some());
    }

    #[test]
    fn an_action_s_own_limit_holds_and_does_not_hold_up_the_others() {
        let (slots, entry) = (Slots::default(), entry());
        let _alone = take_now(&slots, &entry, 0).unwrap();
        let waiting = std::pin::pin!(slots.take(&entry, &entry.actions[0]));
        assert!(waiting.poll(&mut Context::from_waker(Waker::noop())).is_pending());
        assert!(take_now(&slots, &entry, 1).is_some());
    }

    #[test]
    fn two_entries_do_not_share_slots() {
        let (slots, entry) = (Slots::default(), entry());
        let _one = take_now(&slots, &entry, 0).unwrap();
        assert!(take_now(&slots, &EntryManifest { name: "other".to_owned(), ..entry.clone() }, 0).is_some());
        assert!(take_now(&slots, &EntryManifest { kind: Kind::Agent, ..entry }, 0).is_some());
    }
}
