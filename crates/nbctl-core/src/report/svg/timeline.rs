//! The phases of a run as bars on one time axis.

use super::canvas::{Anchor, Canvas, width_of};
use super::scale::{Scale, time_label, time_steps};
use crate::report::number;

const WIDTH: f64 = 960.0;
const ROW: f64 = 20.0;
const TOP: f64 = 22.0;

/// One phase.
#[derive(Debug, Clone)]
pub(crate) struct Bar {
    /// Its name.
    pub label: String,
    /// Seconds since the start of the run.
    pub start: f64,
    /// Seconds.
    pub length: f64,
    /// Ended well.
    pub done: bool,
}

/// Draws bars; empty when there are none.
pub(crate) fn timeline_chart(title: &str, description: &str, bars: &[Bar]) -> String {
    let end = bars
        .iter()
        .map(|bar| bar.start + bar.length)
        .fold(0.0, f64::max);
    if end <= 0.0 {
        return String::new();
    }
    let left = bars
        .iter()
        .map(|bar| width_of(&bar.label))
        .fold(0.0, f64::max)
        + 14.0;
    let base = TOP + bars.iter().map(|_| ROW).sum::<f64>();
    let x = Scale::linear((0.0, end), (left, WIDTH - 90.0));
    let mut canvas = Canvas::new(WIDTH, base + 26.0, title, description);
    canvas.words("chart-title", (0.0, 12.0), Anchor::Start, title);
    for tick in time_steps(end, 8.0) {
        let at = x.at(tick);
        canvas.lines("grid", &[((at, TOP), (at, base))]);
        let label = time_label(tick, end);
        canvas.words("tick", (at, base + 16.0), Anchor::Middle, &label);
    }
    let mut y = TOP;
    for bar in bars {
        draw_bar(&mut canvas, bar, x, y, left);
        y += ROW;
    }
    canvas.finish()
}

fn draw_bar(canvas: &mut Canvas, bar: &Bar, x: Scale, y: f64, left: f64) {
    let middle = y + ROW / 2.0 + 3.5;
    let length = number::duration(bar.length);
    canvas.words("row", (left - 8.0, middle), Anchor::End, &bar.label);
    let (from, to) = (x.at(bar.start), x.at(bar.start + bar.length));
    let width = (to - from).max(1.5);
    let class = if bar.done { "bar done" } else { "bar broken" };
    let tip = format!("{}: {length}", bar.label);
    canvas.rect(class, (from, y + 4.0), (width, ROW - 8.0), &tip);
    let note = if bar.done {
        length
    } else {
        format!("{length}, not finished")
    };
    canvas.words("tick", (from + width + 6.0, middle), Anchor::Start, &note);
}
