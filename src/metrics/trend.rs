//! From samples to a value over a window.
//!
//! Duties: counters as the difference over time, not as a mean of rates; a counter that fell (its process
//! or exporter began anew) gives no rate for that step and does not spoil the others.

use nbctl_core::run::{Point, Spread, Trend};

use super::table::{Kind, Query};

/// Start times jitter by the rounding of the boot time; changes below this are none, seconds.
const SAME_START: f64 = 2.0;

/// The trend of one series; `None` when there are too few samples for one.
pub(super) fn trend(query: &Query, points: &[Point]) -> Option<Trend> {
    match query.kind {
        Kind::Gauge | Kind::Start => gauge(points, query.scale),
        Kind::Counter => counter(points, query.scale),
    }
}

fn gauge(points: &[Point], scale: f64) -> Option<Trend> {
    let points: Vec<Point> = points.iter().map(|point| scaled(point, scale)).collect();
    let mean = mean(points.iter().map(|point| (point.value, 1.0)))?;
    Some(Trend {
        spread: spread(mean, &points),
        points,
    })
}

fn counter(points: &[Point], scale: f64) -> Option<Trend> {
    let steps: Vec<(f64, f64, i64)> = points
        .windows(2)
        .map(|pair| {
            let seconds = seconds(pair[1].at_ms - pair[0].at_ms);
            (pair[1].value - pair[0].value, seconds, pair[1].at_ms)
        })
        .filter(|(grown, seconds, _)| *grown >= 0.0 && *seconds > 0.0)
        .collect();
    let rates: Vec<Point> = steps
        .iter()
        .map(|(grown, seconds, at_ms)| Point {
            at_ms: *at_ms,
            value: grown / seconds * scale,
        })
        .collect();
    let mean = mean(
        steps
            .iter()
            .map(|(grown, seconds, _)| (grown / seconds * scale, *seconds)),
    )?;
    Some(Trend {
        spread: spread(mean, &rates),
        points: rates,
    })
}

/// How often the process behind a series of start times began anew, or ended (start time 0).
pub(super) fn restarts(points: &[Point]) -> u32 {
    let mut count = 0;
    let mut last: Option<f64> = None;
    for start in points
        .iter()
        .map(|point| point.value)
        .filter(|start| *start > 0.0)
    {
        if last.is_some_and(|last| start - last > SAME_START) {
            count += 1;
        }
        last = Some(start);
    }
    let ended = last.is_some() && points.last().is_some_and(|point| point.value <= 0.0);
    count + u32::from(ended)
}

fn scaled(point: &Point, scale: f64) -> Point {
    Point {
        at_ms: point.at_ms,
        value: point.value * scale,
    }
}

/// Weighted; `None` of nothing.
fn mean(values: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let (sum, weights) = values.fold((0.0, 0.0), |(sum, weights), (value, weight)| {
        (sum + value * weight, weights + weight)
    });
    (weights > 0.0).then(|| sum / weights)
}

fn spread(mean: f64, points: &[Point]) -> Spread {
    let values = || points.iter().map(|point| point.value);
    Spread {
        mean,
        min: values().fold(f64::INFINITY, f64::min),
        max: values().fold(f64::NEG_INFINITY, f64::max),
    }
}

#[expect(clippy::cast_precision_loss, reason = "a step is far below 2^53 ms")]
fn seconds(ms: i64) -> f64 {
    ms as f64 / 1000.0
}
