//! Bytes that wait for a slow reader. Order is kept, nothing is lost; the bound is the loop's, which
//! stops reading the other side.

/// Beyond this the other side is left unread; in bytes. The kernel's own buffers hold as much again.
pub(super) const LIMIT: usize = 64 << 10;

#[derive(Debug, Default)]
pub(super) struct Outbox {
    bytes: Vec<u8>,
    taken: usize,
}

impl Outbox {
    pub(super) fn waiting(&self) -> &[u8] {
        &self.bytes[self.taken..]
    }

    pub(super) fn is_empty(&self) -> bool {
        self.taken == self.bytes.len()
    }

    pub(super) fn is_full(&self) -> bool {
        self.waiting().len() >= LIMIT
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        if self.taken > LIMIT {
            self.bytes.drain(..self.taken);
            self.taken = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    pub(super) fn take(&mut self, n: usize) {
        self.taken += n;
        if self.is_empty() {
            self.clear();
        }
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.taken = 0;
        // A paste of some hundred KB is not kept for the rest of the session.
        self.bytes.shrink_to(LIMIT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_leave_in_the_order_they_came() {
        let (mut outbox, mut left) = (Outbox::default(), Vec::new());
        let all: Vec<u8> = (0..500_000u32).map(|n| n as u8 ^ (n >> 8) as u8).collect();
        for piece in all.chunks(7_000) {
            outbox.push(piece);
            let n = outbox.waiting().len().min(6_500);
            left.extend_from_slice(&outbox.waiting()[..n]);
            outbox.take(n);
        }
        assert!(!outbox.is_empty());
        left.extend_from_slice(outbox.waiting());
        assert!(left == all);
    }
}
