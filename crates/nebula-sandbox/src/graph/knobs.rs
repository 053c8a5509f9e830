//! Faults and slowness that can be switched on, read from the flags when these change.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use super::error::{Class, QueryError};
use crate::{daemon::faults, flags::Flags};

/// Values of the knobs.
#[derive(Debug, Clone, Default)]
struct Settings {
    generation: u64,
    service: Duration,
    capacity: u64,
    error_rate: f64,
    error_code: i64,
    error_text: String,
    disconnect_rate: f64,
    session_loss_rate: f64,
}

/// What a statement has to suffer.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Fate {
    Run,
    /// Answers this code and text.
    Fail(i32, String),
    LoseSession,
}

/// The knobs of a graphd.
#[derive(Debug, Default)]
pub(super) struct Knobs {
    settings: Mutex<Settings>,
    /// When the next statement may leave the queue of a limited capacity.
    next_slot: Mutex<Option<Instant>>,
}

impl Knobs {
    fn settings(&self, flags: &Flags) -> Option<Settings> {
        let generation = flags.generation();
        let mut settings = self.settings.lock().unwrap_or_else(PoisonError::into_inner);
        if settings.generation != generation {
            *settings = read(flags, generation);
            faults::freeze_if_asked(flags);
        }
        let quiet = settings.service.is_zero()
            && settings.capacity == 0
            && settings.error_rate == 0.0
            && settings.disconnect_rate == 0.0
            && settings.session_loss_rate == 0.0;
        (!quiet).then(|| settings.clone())
    }

    /// Decides about a statement and keeps it waiting where capacity is limited.
    pub(super) async fn admit(&self, flags: &Flags) -> Fate {
        if faults::any(flags) {
            faults::count_down(flags);
        }
        let Some(settings) = self.settings(flags) else {
            return Fate::Run;
        };
        self.queue(settings.capacity).await;
        if !settings.service.is_zero() {
            tokio::time::sleep(settings.service).await;
        }
        if faults::happens(settings.session_loss_rate) {
            return Fate::LoseSession;
        }
        if faults::happens(settings.error_rate) {
            let code = i32::try_from(settings.error_code).unwrap_or(-1005);
            return Fate::Fail(code, settings.error_text);
        }
        Fate::Run
    }

    /// True when this reply is to be cut in the middle.
    pub(super) fn cuts_reply(&self, flags: &Flags) -> bool {
        self.settings(flags)
            .is_some_and(|settings| faults::happens(settings.disconnect_rate))
    }

    async fn queue(&self, capacity: u64) {
        if capacity == 0 {
            return;
        }
        let step = Duration::from_nanos(1_000_000_000 / capacity);
        let slot = {
            let mut next = self
                .next_slot
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let slot = next.map_or_else(Instant::now, |next| next.max(Instant::now()));
            *next = Some(slot + step);
            slot
        };
        tokio::time::sleep_until((slot + step).into()).await;
    }
}

fn read(flags: &Flags, generation: u64) -> Settings {
    Settings {
        generation,
        service: Duration::from_micros(flags.count("sandbox_service_time_us")),
        capacity: flags.count("sandbox_capacity_qps"),
        error_rate: flags.float("sandbox_error_rate"),
        error_code: flags.int("sandbox_error_code"),
        error_text: flags.text("sandbox_error_text"),
        disconnect_rate: flags.float("sandbox_disconnect_rate"),
        session_loss_rate: flags.float("sandbox_session_loss_rate"),
    }
}

/// The error a lost session gives.
pub(super) fn session_gone(id: i64) -> QueryError {
    QueryError {
        class: Class::SessionInvalid,
        text: format!("SessionId[{id}] does not exist"),
    }
}
