//! The one account that instructions and always bucket share (S11–S13). The folder keeps the same
//! account while it reads, so that it reads exactly what the builder can use.

use super::delivery::Budget;

/// What is left of a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ledger {
    budget: u64,
    left: u64,
}

impl Ledger {
    /// A full account.
    pub(crate) fn new(budget: Budget) -> Ledger {
        Ledger::of(budget.bytes())
    }

    /// A full account of `bytes`.
    pub(crate) fn of(bytes: u64) -> Ledger {
        Ledger { budget: bytes, left: bytes }
    }

    /// Takes `bytes` if they are there.
    pub(crate) fn take(&mut self, bytes: u64) -> bool {
        let fits = bytes <= self.left;
        if fits {
            self.left -= bytes;
        }
        fits
    }

    /// Bytes left.
    pub(crate) fn left(&self) -> u64 {
        self.left
    }

    /// Bytes taken.
    pub(crate) fn used(&self) -> u64 {
        self.budget - self.left
    }
}
