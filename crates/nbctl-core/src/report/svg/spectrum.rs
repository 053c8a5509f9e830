//! The whole latency distribution: percentile on an axis that gives each further nine the same room.

use super::canvas::{Anchor, Canvas, width_of};
use super::scale::{Scale, log_steps};
use crate::report::number;
use crate::run::SpectrumPoint;

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 230.0;
const TOP: f64 = 26.0;
const BASE: f64 = HEIGHT - 40.0;

/// A distribution and its name.
#[derive(Debug, Clone)]
pub(crate) struct Curve {
    /// Shown at its end.
    pub label: String,
    /// As far as samples carry.
    pub points: Vec<SpectrumPoint>,
}

/// Draws curves; empty when there is nothing to draw.
pub(crate) fn spectrum_chart(title: &str, description: &str, curves: &[Curve]) -> String {
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let values = || points().map(|point| number::of(point.micros).max(1.0));
    let (low, high) = (
        values().fold(f64::INFINITY, f64::min) / 1.15,
        values().fold(0.0, f64::max) * 1.15,
    );
    let rarest = points()
        .map(|point| rarity(point.quantile))
        .fold(0.0, f64::max);
    if high <= 0.0 || rarest <= 1.0 {
        return String::new();
    }
    let ticks = log_steps(low, high);
    let labels: Vec<String> = ticks
        .iter()
        .map(|tick| number::round_latency(*tick))
        .collect();
    let left = labels
        .iter()
        .map(|label| width_of(label))
        .fold(30.0, f64::max)
        + 10.0;
    let names = curves
        .iter()
        .map(|curve| width_of(&curve.label))
        .fold(0.0, f64::max);
    let right = WIDTH - names - 14.0;
    let x = Scale::log((1.0, rarest), (left, right));
    let y = Scale::log((low, high), (BASE, TOP));
    let mut canvas = Canvas::new(WIDTH, HEIGHT, title, description);
    canvas.words("chart-title", (0.0, 12.0), Anchor::Start, title);
    for (tick, label) in ticks.iter().zip(&labels) {
        let at = y.at(*tick);
        canvas.lines("grid", &[((left, at), (right, at))]);
        canvas.words("tick", (left - 6.0, at + 3.5), Anchor::End, label);
    }
    draw_percent_axis(&mut canvas, x, (left, right), rarest);
    for (index, curve) in curves.iter().enumerate() {
        draw_curve(&mut canvas, index, curve, (x, y));
    }
    canvas.finish()
}

fn draw_percent_axis(canvas: &mut Canvas, x: Scale, ends: (f64, f64), rarest: f64) {
    const NAMED: [(f64, &str); 8] = [
        (0.0, "min"),
        (0.5, "50 %"),
        (0.75, "75 %"),
        (0.9, "90 %"),
        (0.99, "99 %"),
        (0.999, "99.9 %"),
        (0.9999, "99.99 %"),
        (0.99999, "99.999 %"),
    ];
    canvas.lines("axis", &[((ends.0, BASE), (ends.1, BASE))]);
    for (quantile, name) in NAMED {
        if rarity(quantile) > rarest * 1.001 {
            continue;
        }
        let at = x.at(rarity(quantile));
        canvas.lines("axis", &[((at, BASE), (at, BASE + 4.0))]);
        canvas.words("tick", (at, BASE + 16.0), Anchor::Middle, name);
    }
    let middle = f64::midpoint(ends.0, ends.1);
    let words = "share of requests at least this fast";
    canvas.words("tick", (middle, BASE + 33.0), Anchor::Middle, words);
}

fn draw_curve(canvas: &mut Canvas, index: usize, curve: &Curve, scales: (Scale, Scale)) {
    let (x, y) = scales;
    let drawn: Vec<(f64, f64)> = curve
        .points
        .iter()
        .map(|point| (x.at(rarity(point.quantile)), y.at(number::of(point.micros))))
        .collect();
    let Some(&(end_x, end_y)) = drawn.last() else {
        return;
    };
    canvas.path(&format!("line s{}", index + 1), &[drawn]);
    let class = format!("name s{}", index + 1);
    canvas.words(
        &class,
        (end_x + 6.0, end_y + 3.5),
        Anchor::Start,
        &curve.label,
    );
}

/// One in how many requests is slower: 0.99 gives 100.
fn rarity(quantile: f64) -> f64 {
    1.0 / (1.0 - quantile).max(1e-9)
}
