//! Percentiles of many scenarios side by side: one row each, a mark a percentile, time on a log axis.

use super::canvas::{Anchor, Canvas, width_of};
use super::scale::{Scale, log_steps};
use crate::report::number;

const WIDTH: f64 = 960.0;
const ROW: f64 = 24.0;
const TOP: f64 = 44.0;

/// One row.
#[derive(Debug, Clone)]
pub(crate) struct RangeRow {
    /// Name.
    pub label: String,
    /// Name and microseconds of each mark, ascending.
    pub marks: Vec<(&'static str, u64)>,
}

/// Draws rows below a shared axis; empty when there is nothing to draw.
pub(crate) fn range_chart(title: &str, description: &str, rows: &[RangeRow]) -> String {
    let values: Vec<f64> = rows
        .iter()
        .flat_map(|row| {
            row.marks
                .iter()
                .map(|(_, micros)| number::of(*micros).max(1.0))
        })
        .collect();
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(0.0, f64::max);
    if high <= 0.0 {
        return String::new();
    }
    let left = rows
        .iter()
        .map(|row| width_of(&row.label))
        .fold(0.0, f64::max)
        + 14.0;
    let height = TOP + rows.iter().map(|_| ROW).sum::<f64>() + 26.0;
    let x = Scale::log((low / 1.25, high * 1.25), (left, WIDTH - 20.0));
    let mut canvas = Canvas::new(WIDTH, height, title, description);
    canvas.words("chart-title", (0.0, 12.0), Anchor::Start, title);
    draw_legend(&mut canvas, rows, left);
    for tick in log_steps(low / 1.25, high * 1.25) {
        let at = x.at(tick);
        canvas.lines("grid", &[((at, TOP - 8.0), (at, height - 22.0))]);
        let label = number::round_latency(tick);
        canvas.words("tick", (at, height - 8.0), Anchor::Middle, &label);
    }
    let mut y = TOP + ROW / 2.0 - 4.0;
    for row in rows {
        draw_row(&mut canvas, row, x, y, left);
        y += ROW;
    }
    canvas.finish()
}

fn draw_row(canvas: &mut Canvas, row: &RangeRow, x: Scale, y: f64, left: f64) {
    canvas.words("row", (left - 8.0, y + 3.5), Anchor::End, &row.label);
    if let (Some(first), Some(last)) = (row.marks.first(), row.marks.last()) {
        let ends = (x.at(number::of(first.1)), x.at(number::of(last.1)));
        canvas.lines("span", &[((ends.0, y), (ends.1, y))]);
    }
    for (index, (name, micros)) in row.marks.iter().enumerate() {
        let value = number::of(*micros);
        let tip = format!("{}, {name}: {}", row.label, number::latency(value));
        canvas.mark(index, (x.at(value), y), &tip);
    }
}

fn draw_legend(canvas: &mut Canvas, rows: &[RangeRow], left: f64) {
    let Some(longest) = rows.iter().max_by_key(|row| row.marks.len()) else {
        return;
    };
    let mut at = left;
    for (index, (name, _)) in longest.marks.iter().enumerate() {
        canvas.mark(index, (at + 5.0, 26.0), name);
        canvas.words("tick", (at + 14.0, 29.5), Anchor::Start, name);
        at += width_of(name) + 34.0;
    }
}
