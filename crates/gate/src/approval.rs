//! The proof that the gate let a call through.

/// What the gate let through, good for one run.
///
/// INVARIANT: made only inside this crate, consumed by value, neither `Clone` nor `Default` nor serializable; the
/// compile-fail tests in `tests/forge` keep it.
#[derive(Debug)]
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
