//! The receive buffer of a connection, reused for all its replies.

/// Large enough for a thousand short rows; bigger replies double it as they arrive.
const INITIAL: usize = 64 * 1024;

/// Bytes received and not yet consumed, in `bytes[start..end]`.
#[derive(Debug)]
pub(super) struct Inbox {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl Inbox {
    pub(super) fn new() -> Self {
        Self {
            bytes: vec![0; INITIAL],
            start: 0,
            end: 0,
        }
    }

    /// What has arrived.
    pub(super) fn filled(&self) -> &[u8] {
        self.bytes.get(self.start..self.end).unwrap_or_default()
    }

    /// Room for more, never empty. Grows by what has arrived, not by what a length field announces.
    pub(super) fn spare(&mut self) -> &mut [u8] {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
        if self.end == self.bytes.len() {
            self.make_room();
        }
        self.bytes.get_mut(self.end..).unwrap_or_default()
    }

    fn make_room(&mut self) {
        if self.start == 0 {
            self.bytes.resize(self.bytes.len() * 2, 0);
            return;
        }
        self.bytes.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
    }

    /// Counts `n` bytes written into [`Self::spare`].
    pub(super) fn fill(&mut self, n: usize) {
        self.end = (self.end + n).min(self.bytes.len());
    }

    /// Takes `n` bytes off the front and returns them.
    pub(super) fn consume(&mut self, n: usize) -> &[u8] {
        let from = self.start;
        self.start = (from + n).min(self.end);
        self.bytes.get(from..self.start).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn push(inbox: &mut Inbox, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let spare = inbox.spare();
            let n = rest.len().min(spare.len());
            spare[..n].copy_from_slice(&rest[..n]);
            inbox.fill(n);
            rest = &rest[n..];
        }
    }

    #[test]
    fn bytes_come_out_as_they_went_in_across_moves_and_growth() {
        let data: Vec<u8> = (0..=255).cycle().take(INITIAL * 3).collect();
        let mut inbox = Inbox::new();
        push(&mut inbox, &data[..INITIAL - 10]);
        assert_eq!(inbox.consume(100), &data[..100]);
        push(&mut inbox, &data[INITIAL - 10..]);
        assert_eq!(inbox.filled(), &data[100..]);
        assert_eq!(inbox.consume(data.len() - 100), &data[100..]);
        assert!(inbox.filled().is_empty());
        assert!(!inbox.spare().is_empty());
    }
}
