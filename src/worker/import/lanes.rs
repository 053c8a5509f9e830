//! The sending end: each lane keeps some statements in flight and sends failed ones again.
//!
//! Duties: INSERT is idempotent, so what was in flight on a broken connection is sent again; errors that pass are
//! retried with growing pauses; what fails for good is counted with its file and ends the import when it goes on.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nbctl_core::failure::Failure;
use nebula_wire::codes::ErrorKind;
use tokio::sync::Mutex;
use tokio::sync::mpsc::Receiver;

use super::progress::Progress;
use super::source::Batch;
use crate::worker::lane::{Answer, Backoff, Good, Lane, Wrong};
use crate::worker::tally::{Sample, Share};
use crate::worker::threads::{Common, Drive};

/// First pause before a statement is sent again; doubles up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// No connection for this long ends the import.
const PATIENCE: Duration = Duration::from_mins(1);
/// Statements given up before the import ends.
const MOST_GIVEN_UP: u64 = 50;

/// What every lane knows.
pub(super) struct Lanes {
    pub(super) common: Arc<Common>,
    pub(super) progress: Arc<Progress>,
    pub(super) queue: Mutex<Receiver<Batch>>,
    pub(super) shares: Vec<Arc<Share>>,
    pub(super) in_flight: usize,
    pub(super) retries: u32,
}

/// What one lane is at.
#[derive(Default)]
struct Hands {
    /// Sent, oldest first.
    flight: VecDeque<(Batch, Instant)>,
    /// To be sent again, not before the moment.
    again: VecDeque<(Batch, Instant)>,
    /// The queue has ended.
    ended: bool,
}

enum Next {
    Batch(Batch),
    /// Nothing at the moment.
    Later,
    /// Nothing before this moment.
    At(Instant),
    Never,
}

impl Drive for Lanes {
    async fn drive(&self, lane: &mut Lane, _number: usize, thread: usize) {
        if self.common.started().await.is_none() {
            return;
        }
        let Some(share) = self.shares.get(thread) else {
            return;
        };
        let mut hands = Hands::default();
        while !self.common.soft.is_cancelled() {
            let draining = lane.is_connected() && !hands.flight.is_empty();
            if !lane.is_ready() && !draining {
                self.give_back(&mut hands);
                self.reconnect(lane, share).await;
                continue;
            }
            if lane.is_ready() && !self.fill(lane, &mut hands, share).await {
                return;
            }
            if let Some((batch, sent)) = hands.flight.pop_front() {
                let answer = lane.receive().await;
                self.settle(batch, sent, answer, &mut hands, share);
            }
        }
    }
}

impl Lanes {
    /// Sends until enough is in flight; false when there is nothing left to do.
    async fn fill(&self, lane: &mut Lane, hands: &mut Hands, share: &Share) -> bool {
        while hands.flight.len() < self.in_flight {
            let batch = match self.next(hands).await {
                Next::Batch(batch) => batch,
                Next::Later => return true,
                Next::At(moment) => {
                    let pause = moment.saturating_duration_since(Instant::now());
                    self.common.pause(pause).await;
                    return true;
                }
                Next::Never => return false,
            };
            self.progress.sent(&batch);
            let sent = Instant::now();
            match lane.send(&batch.statement).await {
                Ok(()) => hands.flight.push_back((batch, sent)),
                Err(wrong) => {
                    let at = Instant::now();
                    let answer = Answer {
                        at,
                        outcome: Err(wrong),
                    };
                    self.settle(batch, sent, answer, hands, share);
                    return true;
                }
            }
        }
        true
    }

    async fn next(&self, hands: &mut Hands) -> Next {
        let due = hands.again.front().map(|(_, due)| *due);
        if due.is_some_and(|due| due <= Instant::now())
            && let Some((batch, _)) = hands.again.pop_front()
        {
            return Next::Batch(batch);
        }
        let idle = hands.flight.is_empty();
        if !hands.ended {
            match self.take(idle && due.is_none()).await {
                Ok(Some(batch)) => return Next::Batch(batch),
                Ok(None) => hands.ended = true,
                Err(()) => {}
            }
        }
        match due {
            _ if !idle => Next::Later,
            Some(due) => Next::At(due),
            None if hands.ended => Next::Never,
            None => Next::Later,
        }
    }

    /// A statement of the queue; `Ok(None)` at its end, `Err` when none is there and it may not wait.
    async fn take(&self, may_wait: bool) -> Result<Option<Batch>, ()> {
        use tokio::sync::mpsc::error::TryRecvError;
        if may_wait {
            return tokio::select! {
                batch = async { self.queue.lock().await.recv().await } => Ok(batch),
                () = self.common.soft.cancelled() => Err(()),
            };
        }
        let Ok(mut queue) = self.queue.try_lock() else {
            return Err(());
        };
        match queue.try_recv() {
            Ok(batch) => Ok(Some(batch)),
            Err(TryRecvError::Disconnected) => Ok(None),
            Err(TryRecvError::Empty) => Err(()),
        }
    }

    /// The connection broke: whether these were done is not known, and doing them twice is the same as once.
    fn give_back(&self, hands: &mut Hands) {
        while let Some((batch, _)) = hands.flight.pop_back() {
            self.progress.again();
            hands.again.push_front((batch, Instant::now()));
        }
    }

    async fn reconnect(&self, lane: &mut Lane, share: &Share) {
        let (begun, mut backoff) = (Instant::now(), Backoff::new());
        while !self.common.soft.is_cancelled() {
            let Err(wrong) = lane.ready().await else {
                return;
            };
            let error = Err(&wrong);
            share.record(&Sample {
                service_us: 0,
                outcome: error,
                counts: true,
            });
            if begun.elapsed() > PATIENCE {
                let failure =
                    Failure::cluster(format!("no graphd answers for a minute: {}", wrong.class));
                let hint = "see `nbctl status`; the import can be started again, rows are the same when sent twice";
                self.common.fail(failure.line(wrong.text).hint(hint));
                return;
            }
            self.common.pause(backoff.next()).await;
        }
    }

    fn settle(
        &self,
        batch: Batch,
        sent: Instant,
        answer: Answer,
        hands: &mut Hands,
        share: &Share,
    ) {
        let micros = answer.at.saturating_duration_since(sent).as_micros();
        let service_us = u64::try_from(micros).unwrap_or(u64::MAX);
        match answer.outcome {
            Ok(good) => {
                let good = Good {
                    rows: batch.rows,
                    ..good
                };
                share.record(&Sample {
                    service_us,
                    outcome: Ok(&good),
                    counts: true,
                });
                self.progress.settled(&batch, true);
            }
            Err(wrong) => {
                share.record(&Sample {
                    service_us,
                    outcome: Err(&wrong),
                    counts: true,
                });
                self.failed(batch, &wrong, hands);
            }
        }
    }

    fn failed(&self, mut batch: Batch, wrong: &Wrong, hands: &mut Hands) {
        batch.attempts += 1;
        if self.is_hopeless(&batch, wrong) {
            self.common.fail(refused(&batch, wrong));
        } else if batch.attempts <= self.retries {
            self.progress.again();
            let pause = match wrong.kind {
                // Reconnecting and logging in have pauses of their own.
                None | Some(ErrorKind::Session) => Duration::ZERO,
                Some(_) => pause(batch.attempts),
            };
            hands.again.push_back((batch, Instant::now() + pause));
        } else {
            self.progress.settled(&batch, false);
            if self.progress.given_up() >= MOST_GIVEN_UP {
                let what = format!("{MOST_GIVEN_UP} statements failed for good");
                self.common
                    .fail(Failure::step(what).line(wrong.text.clone()));
            }
        }
    }

    /// A schema that graphd has not seen yet passes; once rows of the file are in, it does not.
    fn is_hopeless(&self, batch: &Batch, wrong: &Wrong) -> bool {
        match wrong.kind {
            Some(ErrorKind::Syntax | ErrorKind::Permission | ErrorKind::TooMany) => true,
            Some(ErrorKind::Semantic | ErrorKind::NotFound) => {
                self.progress.has_rows(batch.file) || batch.attempts > self.retries
            }
            _ => false,
        }
    }
}

fn pause(attempts: u32) -> Duration {
    let doubled = FIRST_PAUSE * 2_u32.saturating_pow(attempts.saturating_sub(1).min(10));
    doubled.min(LONGEST_PAUSE)
}

fn refused(batch: &Batch, wrong: &Wrong) -> Failure {
    let start = batch
        .statement
        .get(..200.min(batch.statement.len()))
        .unwrap_or_default();
    Failure::cluster(format!("graphd refuses the rows: {}", wrong.class))
        .line(wrong.text.clone())
        .line(format!("{} …", String::from_utf8_lossy(start)))
        .hint("check that the space was made for this data set: `schema` with `fresh: true` makes it anew")
}
