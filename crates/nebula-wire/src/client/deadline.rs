//! One timer per connection instead of one per request.
//!
//! Arming and dropping a timer costs two trips to the runtime's timer wheel. Requests on a
//! connection have deadlines that only move forward, so the timer is left where it is and moved
//! when it fires too early: about once per time-out instead of twice per request.

use std::pin::Pin;

use tokio::time::{Instant, Sleep, sleep_until};

#[derive(Debug)]
pub(super) struct Deadline {
    sleep: Pin<Box<Sleep>>,
}

impl Deadline {
    pub(super) fn new(at: Instant) -> Self {
        Self {
            sleep: Box::pin(sleep_until(at)),
        }
    }

    /// Resolves when `at` has passed.
    pub(super) async fn expired(&mut self, at: Instant) {
        if self.sleep.deadline() > at {
            self.sleep.as_mut().reset(at);
        }
        loop {
            self.sleep.as_mut().await;
            if Instant::now() >= at {
                return;
            }
            self.sleep.as_mut().reset(at);
        }
    }
}
