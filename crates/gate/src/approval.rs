//! The proof that the gate let a call through.
//!
//! Owns that proof and the promise that it is good for one run. Knows neither who asked nor why it was granted: that is
//! [`crate::decision::decide`], its only maker. Start at [`Approved`].

/// What the gate let through, good for one run.
///
/// INVARIANT: made only inside this crate, consumed by value, neither `Clone` nor `Default` nor serializable; the
/// compile-fail tests in `tests/forge` keep it.
#[derive(Debug)]
#[must_use = "an approval that nobody spends runs nothing"]
pub struct Approved<T> {
    what: T,
}

impl<T> Approved<T> {
    pub(crate) fn mint(what: T) -> Approved<T> {
        Approved { what }
    }

    /// What was approved, to look at.
    pub fn get(&self) -> &T {
        &self.what
    }

    /// Spends the approval.
    pub fn into_inner(self) -> T {
        self.what
    }
}
