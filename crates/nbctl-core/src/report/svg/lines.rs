//! Lines over time: throughput, latency, CPU, network.

use super::canvas::{Anchor, Canvas, width_of};
use super::scale::{Scale, steps, time_label, time_steps};

/// Most points drawn of a line; of more, each group keeps its smallest and largest.
const MOST_POINTS: usize = 600;

/// A line and its name.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    /// Shown at the line's end.
    pub label: String,
    /// Seconds since the start of the window, value in the unit of the axis.
    pub points: Vec<(f64, f64)>,
}

/// How much room a chart takes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Size {
    /// The whole width of the page.
    Wide,
    /// One of several in a row.
    Small,
}

/// A chart of lines, mostly over time.
#[derive(Debug, Clone)]
pub(crate) struct LineChart {
    /// What it shows, with the unit.
    pub title: String,
    /// For those who cannot see it.
    pub description: String,
    /// Horizontal axis: time since the start of the window, or plain numbers from 0.
    pub x_is_time: bool,
    /// Its end: the length of the window in seconds, or the largest number.
    pub seconds: f64,
    /// The axis reaches at least this far; charts of a row share it.
    pub at_least: f64,
    /// Lines.
    pub lines: Vec<Line>,
    /// Room.
    pub size: Size,
}

struct Frame {
    width: f64,
    height: f64,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Frame {
    fn of(chart: &LineChart, y_labels: &[String]) -> Self {
        let widest = |labels: &mut dyn Iterator<Item = &String>| {
            labels.map(|label| width_of(label)).fold(0.0, f64::max)
        };
        let names = widest(&mut chart.lines.iter().map(|line| &line.label));
        let (width, height) = match chart.size {
            Size::Wide => (960.0, 200.0),
            Size::Small => (242.0, 118.0),
        };
        Self {
            width,
            height,
            left: widest(&mut y_labels.iter()) + 12.0,
            right: if names > 0.0 { names + 12.0 } else { 14.0 },
            top: 24.0,
            bottom: 22.0,
        }
    }

    fn x(&self, seconds: f64) -> Scale {
        Scale::linear((0.0, seconds), (self.left, self.width - self.right))
    }

    fn y(&self, highest: f64) -> Scale {
        Scale::linear((0.0, highest), (self.height - self.bottom, self.top))
    }
}

/// Draws it.
pub(crate) fn line_chart(chart: &LineChart) -> String {
    let highest = chart
        .lines
        .iter()
        .flat_map(|line| line.points.iter().map(|(_, y)| *y))
        .filter(|y| y.is_finite())
        .fold(chart.at_least, f64::max);
    let wanted = match chart.size {
        Size::Wide => 4.0,
        Size::Small => 2.0,
    };
    let ticks = steps(highest, wanted);
    let top = ticks.last().copied().unwrap_or(1.0);
    let labels = tick_labels(&ticks);
    let frame = Frame::of(chart, &labels);
    let mut canvas = Canvas::new(frame.width, frame.height, &chart.title, &chart.description);
    canvas.words("chart-title", (0.0, 12.0), Anchor::Start, &chart.title);
    let (x, y) = (frame.x(chart.seconds), frame.y(top));
    let across = |tick: &f64| {
        let at = y.at(*tick);
        ((frame.left, at), (frame.width - frame.right, at))
    };
    let above = ticks.get(1..).unwrap_or_default();
    canvas.lines("grid", &above.iter().map(across).collect::<Vec<_>>());
    canvas.lines("axis", &[across(&0.0)]);
    for (tick, label) in ticks.iter().zip(&labels) {
        let at = y.at(*tick) + 3.5;
        canvas.words("tick", (frame.left - 6.0, at), Anchor::End, label);
    }
    draw_bottom_axis(&mut canvas, &frame, x, chart);
    draw_lines(&mut canvas, &frame, (x, y), chart);
    canvas.finish()
}

fn draw_bottom_axis(canvas: &mut Canvas, frame: &Frame, x: Scale, chart: &LineChart) {
    let most = match chart.size {
        Size::Wide => 10.0,
        Size::Small => 3.0,
    };
    let base = frame.height - frame.bottom;
    let (ticks, labels) = if chart.x_is_time {
        let ticks = time_steps(chart.seconds, most);
        let words = |tick: &f64| time_label(*tick, chart.seconds);
        let labels: Vec<String> = ticks.iter().map(words).collect();
        (ticks, labels)
    } else {
        let mut ticks = steps(chart.seconds, most);
        ticks.retain(|tick| *tick <= chart.seconds);
        let labels = tick_labels(&ticks);
        (ticks, labels)
    };
    let notch = |tick: &f64| ((x.at(*tick), base), (x.at(*tick), base + 4.0));
    canvas.lines("axis", &ticks.iter().map(notch).collect::<Vec<_>>());
    for (tick, label) in ticks.into_iter().zip(labels) {
        let at = x.at(tick);
        canvas.words("tick", (at, base + 16.0), Anchor::Middle, &label);
    }
}

fn draw_lines(canvas: &mut Canvas, frame: &Frame, scales: (Scale, Scale), chart: &LineChart) {
    let (x, y) = scales;
    if chart.lines.iter().all(|line| line.points.is_empty()) {
        let middle = (frame.width / 2.0, frame.height / 2.0);
        canvas.words("tick", middle, Anchor::Middle, "not observed");
    }
    if let [only] = chart.lines.as_slice() {
        fill_below(canvas, x, y, only);
    }
    let mut ends = Vec::new();
    for (index, line) in chart.lines.iter().enumerate() {
        let pieces = pieces(&thin_out(&line.points));
        let place = |(px, py): &(f64, f64)| (x.at(*px), y.at(*py));
        let drawn: Vec<Vec<_>> = pieces
            .iter()
            .map(|piece| piece.iter().map(place).collect())
            .collect();
        canvas.path(&format!("line s{}", index + 1), &drawn);
        if !chart.x_is_time {
            // Few points were measured, and nothing in between.
            for point in &line.points {
                canvas.mark(index, place(point), &line.label);
            }
        }
        if let Some((_, end)) = line.points.last() {
            ends.push((index, y.at(*end)));
        }
    }
    for (index, height) in spread_out(ends, 13.0, (frame.top, frame.height - frame.bottom)) {
        let Some(line) = chart.lines.get(index) else {
            continue;
        };
        let end = line.points.last().map_or(chart.seconds, |point| point.0);
        let at = if chart.x_is_time { chart.seconds } else { end };
        let class = format!("name s{}", index + 1);
        let place = (x.at(at) + 8.0, height + 3.5);
        canvas.words(&class, place, Anchor::Start, &line.label);
    }
}

fn fill_below(canvas: &mut Canvas, x: Scale, y: Scale, line: &Line) {
    for piece in pieces(&thin_out(&line.points)) {
        let (Some(first), Some(last)) = (piece.first(), piece.last()) else {
            continue;
        };
        let mut outline = vec![(x.at(first.0), y.at(0.0))];
        outline.extend(piece.iter().map(|(px, py)| (x.at(*px), y.at(*py))));
        outline.push((x.at(last.0), y.at(0.0)));
        canvas.area("fill s1", &outline);
    }
}

/// Labels with as many digits as telling them apart needs.
fn tick_labels(ticks: &[f64]) -> Vec<String> {
    let told = |decimals: i32| {
        let scale = 10f64.powi(decimals);
        let off = |tick: &f64| (tick * scale - (tick * scale).round()).abs() > 1e-6;
        !ticks.iter().any(off)
    };
    let decimals = (0u8..6)
        .find(|decimals| told(i32::from(*decimals)))
        .unwrap_or(6);
    let words = |tick: &f64| match tick {
        0.0 => "0".to_owned(),
        tick => crate::report::number::fixed(*tick, decimals.into()),
    };
    ticks.iter().map(words).collect()
}

/// Splits where samples are missing: a gap more than 2.5 times the usual step, or a value that is none.
fn pieces(points: &[(f64, f64)]) -> Vec<Vec<(f64, f64)>> {
    let mut gaps: Vec<f64> = points
        .windows(2)
        .map(|pair| pair[1].0 - pair[0].0)
        .collect();
    gaps.sort_by(f64::total_cmp);
    let usual = gaps.get(gaps.len() / 2).copied().unwrap_or(f64::INFINITY);
    let mut pieces: Vec<Vec<(f64, f64)>> = vec![Vec::new()];
    let mut before = f64::NEG_INFINITY;
    for point in points {
        let gap = point.0 - before > 2.5 * usual && before.is_finite();
        if gap || !point.1.is_finite() {
            pieces.push(Vec::new());
        }
        before = point.0;
        if point.1.is_finite()
            && let Some(piece) = pieces.last_mut()
        {
            piece.push(*point);
        }
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// Keeps the smallest and largest of each group, so that no stall is averaged away.
fn thin_out(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if points.len() <= MOST_POINTS {
        return points.to_vec();
    }
    let group = points.len().div_ceil(MOST_POINTS / 2);
    points
        .chunks(group)
        .flat_map(|chunk| {
            let by_value = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
            let low = chunk.iter().min_by(by_value).copied();
            let high = chunk.iter().max_by(by_value).copied();
            let mut pair: Vec<(f64, f64)> = low.into_iter().chain(high).collect();
            pair.sort_by(|a, b| a.0.total_cmp(&b.0));
            pair
        })
        .collect()
}

/// Moves labels apart until none is nearer than `gap` to the next, and all are within `bounds`.
fn spread_out(mut labels: Vec<(usize, f64)>, gap: f64, bounds: (f64, f64)) -> Vec<(usize, f64)> {
    labels.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut lowest = bounds.0;
    for (_, at) in &mut labels {
        *at = at.max(lowest);
        lowest = *at + gap;
    }
    let mut highest = bounds.1;
    for (_, at) in labels.iter_mut().rev() {
        *at = at.min(highest);
        highest = *at - gap;
    }
    labels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_have_the_digits_they_need() {
        let cases: [(&[f64], &[&str]); 3] = [
            (&[0.0, 2.0, 4.0], &["0", "2", "4"]),
            (&[0.0, 0.5, 1.0], &["0", "0.5", "1.0"]),
            (&[0.0, 0.02], &["0", "0.02"]),
        ];
        for (ticks, expected) in cases {
            assert_eq!(tick_labels(ticks), expected);
        }
    }

    #[test]
    fn missing_samples_are_gaps() {
        let points = [
            (0.0, 1.0),
            (5.0, 1.0),
            (10.0, 1.0),
            (40.0, 2.0),
            (45.0, f64::NAN),
            (50.0, 3.0),
        ];
        let lengths: Vec<usize> = pieces(&points).iter().map(Vec::len).collect();
        assert_eq!(lengths, [3, 1, 1]);
    }

    #[test]
    fn a_stall_survives_thinning() {
        let mut points: Vec<(f64, f64)> = (0..10_000).map(|i| (f64::from(i), 100.0)).collect();
        points[5_123].1 = 0.0;
        let thin = thin_out(&points);
        assert!(thin.len() <= MOST_POINTS);
        assert!(thin.iter().any(|(_, y)| *y == 0.0));
    }

    #[test]
    fn labels_do_not_touch() {
        let labels = spread_out(
            vec![(0, 50.0), (1, 51.0), (2, 99.0), (3, 98.0)],
            13.0,
            (0.0, 100.0),
        );
        assert!(
            labels.windows(2).all(|pair| pair[1].1 - pair[0].1 >= 12.9),
            "{labels:?}"
        );
        assert!(labels.iter().all(|(_, at)| (0.0..=100.0).contains(at)));
    }

    #[test]
    fn hostile_text_stays_text() {
        let svg = line_chart(&LineChart {
            title: "</svg><script>alert(1)</script>".to_owned(),
            description: String::new(),
            x_is_time: true,
            seconds: 10.0,
            at_least: 0.0,
            lines: vec![Line {
                label: "\"><img src=x>".to_owned(),
                points: vec![(0.0, f64::INFINITY), (1.0, 2.0)],
            }],
            size: Size::Small,
        });
        assert!(!svg.contains("<script") && !svg.contains("<img"), "{svg}");
        assert!(!svg.contains("inf") && !svg.contains("NaN"), "{svg}");
    }
}
