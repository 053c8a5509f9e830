//! `<clock>.hlog`: the whole latency distribution of a phase, one HDR interval log a clock.
//!
//! Purpose: percentiles can be taken again, merged and compared years later, by any HDR tool.
//! Duties: write V2-deflate with times in microseconds; read back the sum of all intervals.

use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::interval_log::{
    IntervalLogHistogram, IntervalLogIterator, IntervalLogWriterBuilder, LogEntry,
};
use hdrhistogram::serialization::{Deserializer, V2DeflateSerializer};
use nbctl_core::failure::Failure;
use nbctl_core::run::Window;

use super::disk;

/// Writes one interval that spans the whole phase.
pub(super) fn write(
    folder: &Path,
    clock: &str,
    window: Window,
    histogram: &Histogram<u64>,
) -> Result<(), Failure> {
    let path = folder.join(format!("{clock}.hlog"));
    let bytes = encode(clock, window, histogram)
        .map_err(|error| Failure::step(format!("cannot encode the {clock} histogram: {error}")))?;
    disk::replace(&path, &bytes)
}

fn encode(
    clock: &str,
    window: Window,
    histogram: &Histogram<u64>,
) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let start = UNIX_EPOCH + millis(window.start_ms);
    let mut bytes = Vec::new();
    let mut serializer = V2DeflateSerializer::new();
    let mut log = IntervalLogWriterBuilder::new()
        .add_comment(&format!("[{clock} time in microseconds]"))
        .with_start_time(start)
        .with_base_time(start)
        .with_max_value_divisor(1000.0)
        .begin_log_with(&mut bytes, &mut serializer)?;
    let length = millis(window.end_ms.saturating_sub(window.start_ms));
    log.write_histogram(histogram, Duration::ZERO, length, None)
        .map_err(|error| format!("{error:?}"))?;
    Ok(bytes)
}

fn millis(ms: i64) -> Duration {
    Duration::from_millis(u64::try_from(ms).unwrap_or(0))
}

/// Sum of all intervals in `<folder>/<clock>.hlog`; `None` when the phase has no such clock.
///
/// # Errors
/// When the file is there but is no interval log.
pub fn read_histogram(folder: &Path, clock: &str) -> Result<Option<Histogram<u64>>, Failure> {
    let path = folder.join(format!("{clock}.hlog"));
    let Some(text) = disk::read_if_there(&path)? else {
        return Ok(None);
    };
    decode(text.as_bytes()).map(Some).map_err(|error| {
        Failure::data(format!("cannot read the histogram: {error}")).at(path.display().to_string())
    })
}

fn decode(log: &[u8]) -> Result<Histogram<u64>, Box<dyn std::error::Error>> {
    let mut sum = Histogram::new(3)?;
    let mut deserializer = Deserializer::new();
    for entry in IntervalLogIterator::new(log) {
        match entry.map_err(|error| format!("{error:?}"))? {
            LogEntry::Interval(interval) => sum.add(one(&mut deserializer, &interval)?)?,
            LogEntry::BaseTime(_) | LogEntry::StartTime(_) => {}
        }
    }
    Ok(sum)
}

fn one(
    deserializer: &mut Deserializer,
    interval: &IntervalLogHistogram<'_>,
) -> Result<Histogram<u64>, Box<dyn std::error::Error>> {
    let bytes = STANDARD.decode(interval.encoded_histogram())?;
    deserializer
        .deserialize(&mut bytes.as_slice())
        .map_err(|error| format!("{error:?}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_comes_back_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let mut histogram = Histogram::<u64>::new(3).unwrap();
        (1..=20_000u64).for_each(|value| histogram.record(value).unwrap());
        let window = Window {
            start_ms: 1_796_000_000_000,
            end_ms: 1_796_000_030_000,
        };
        write(folder.path(), "service", window, &histogram).unwrap();
        let back = read_histogram(folder.path(), "service").unwrap().unwrap();
        assert_eq!(back.len(), 20_000);
        for quantile in [0.5, 0.99, 0.999] {
            assert_eq!(
                back.value_at_quantile(quantile),
                histogram.value_at_quantile(quantile)
            );
        }
        assert!(read_histogram(folder.path(), "server").unwrap().is_none());
    }

    #[test]
    fn a_broken_log_is_named() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(
            folder.path().join("service.hlog"),
            "1,2,3,no base64 at all\n",
        )
        .unwrap();
        let failure = read_histogram(folder.path(), "service").unwrap_err();
        assert!(failure.place.unwrap().ends_with("service.hlog"));
    }
}
