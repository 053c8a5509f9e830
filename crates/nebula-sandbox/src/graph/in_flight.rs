//! Rows that are being changed right now.

use std::{
    collections::HashSet,
    sync::{Mutex, PoisonError},
};

/// The keys of rows with a change under way.
#[derive(Debug, Default)]
pub(super) struct InFlight(Mutex<HashSet<Vec<u8>>>);

/// One change; it ends when this is dropped.
#[derive(Debug)]
pub(super) struct Change<'a> {
    all: &'a InFlight,
    key: Vec<u8>,
}

impl InFlight {
    /// Starts a change, `None` while another one of the same row is under way.
    pub(super) fn begin(&self, key: Vec<u8>) -> Option<Change<'_>> {
        let fresh = self.keys().insert(key.clone());
        fresh.then_some(Change { all: self, key })
    }

    fn keys(&self) -> std::sync::MutexGuard<'_, HashSet<Vec<u8>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Change<'_> {
    fn drop(&mut self) {
        self.all.keys().remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_change_at_a_time() {
        let all = InFlight::default();
        let first = all.begin(vec![1]);
        assert!(first.is_some() && all.begin(vec![2]).is_some());
        assert!(all.begin(vec![1]).is_none());
        drop(first);
        assert!(all.begin(vec![1]).is_some());
    }
}
