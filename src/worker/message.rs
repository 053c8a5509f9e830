//! What a worker tells: one JSON value a line on its standard output.
//!
//! Duties: the shapes both sides share; histograms as HDR V2-deflate in base64, which every HDR tool reads.

use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2DeflateSerializer};
use nbctl_core::failure::Failure;
use nbctl_core::monitor::course::Times;
use nbctl_core::run::{ImportResult, Second, StressResult, Window};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

/// One message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Message {
    /// Every connection stands; load begins.
    Ready {
        /// Connections.
        connections: u32,
        /// Sessions they share.
        sessions: u32,
        /// Threads they run on.
        threads: u32,
    },
    /// A second is over.
    Second {
        /// Part of the warm-up.
        warmup: bool,
        /// What happened.
        second: Second,
        /// More about its times, for who watches; not recorded.
        times: Option<Times>,
        /// Done so far: seconds of a stress, bytes of an import.
        done: u64,
        /// Of how many, when known.
        total: Option<u64>,
    },
    /// Something the user should know.
    Note {
        /// One line.
        text: String,
    },
    /// A stress job is done.
    Stress(Box<StressDone>),
    /// An import is done.
    Import(Box<ImportDone>),
    /// The job ends without a result.
    Failed {
        /// Why.
        failure: Failure,
    },
}

/// Result of a stress job; the series went before it, second by second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StressDone {
    /// Without its series.
    pub result: StressResult,
    /// The measured window by the worker's clock.
    pub window: Window,
    /// Clocks of the requests that succeeded.
    pub histograms: Vec<EncodedClock>,
    /// Rows of the parameter file that values were drawn from; 0 without placeholders.
    pub parameter_rows: u64,
}

/// Result of an import; in its counts only what is expected is set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImportDone {
    /// Without its series.
    pub result: ImportResult,
    /// From the first statement to the last answer.
    pub window: Window,
    /// Clocks of the statements that succeeded.
    pub histograms: Vec<EncodedClock>,
}

/// One clock's distribution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EncodedClock {
    /// `service` or `server`.
    pub clock: String,
    /// HDR V2-deflate of microseconds, base64.
    pub v2_deflate: String,
}

impl EncodedClock {
    /// Encodes.
    ///
    /// # Errors
    /// Counts beyond what the encoding carries.
    pub fn new(clock: &str, histogram: &Histogram<u64>) -> Result<Self, Failure> {
        let mut bytes = Vec::new();
        let done = V2DeflateSerializer::new().serialize(histogram, &mut bytes);
        done.map_err(|error| Failure::step(format!("cannot encode the {clock} times: {error}")))?;
        Ok(Self {
            clock: clock.to_owned(),
            v2_deflate: STANDARD.encode(bytes),
        })
    }

    /// Decodes.
    ///
    /// # Errors
    /// Text that is no such histogram.
    pub fn histogram(&self) -> Result<Histogram<u64>, Failure> {
        let wrong = |error: String| {
            Failure::step(format!(
                "the worker's {} times are damaged: {error}",
                self.clock
            ))
        };
        let bytes = STANDARD
            .decode(&self.v2_deflate)
            .map_err(|error| wrong(error.to_string()))?;
        let decoded = Deserializer::new().deserialize(&mut bytes.as_slice());
        decoded.map_err(|error| wrong(error.to_string()))
    }
}

/// Standard output; when it is closed, nobody wants the load any more.
#[derive(Debug, Clone)]
pub(super) struct Out {
    pub(super) stop: CancellationToken,
}

impl Out {
    /// Writes one line.
    pub(super) fn emit(&self, message: &Message) {
        let mut out = std::io::stdout().lock();
        let written = serde_json::to_writer(&mut out, message)
            .map_err(std::io::Error::from)
            .and_then(|()| out.write_all(b"\n"))
            .and_then(|()| out.flush());
        if written.is_err() {
            self.stop.cancel();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histograms_come_back() {
        let mut histogram = Histogram::<u64>::new(3).unwrap();
        (1..5000u64).for_each(|value| histogram.record(value).unwrap());
        let back = EncodedClock::new("service", &histogram)
            .unwrap()
            .histogram()
            .unwrap();
        assert_eq!(back, histogram);
    }
}
