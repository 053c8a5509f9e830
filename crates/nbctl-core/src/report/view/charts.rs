//! From the model to charts.
//!
//! Duties: choose units so that axes have few digits, share axes within a row of small charts, say the
//! same in words for those who cannot see.

use super::Block;
use crate::report::model::{PhaseReport, Report};
use crate::report::number;
use crate::report::svg::{
    Bar, Curve, Line, LineChart, RangeRow, Size, line_chart, range_chart, spectrum_chart,
    timeline_chart,
};
use crate::run::{Metrics, Outcome, Second, Trend, Window};

/// More lines than this in one chart cannot be told apart.
const MOST_LINES: usize = 6;

/// What a phase counts each second.
#[derive(Debug, Clone, Copy)]
pub(super) enum Counted {
    Requests,
    Rows,
}

impl Counted {
    fn of(self, second: &Second) -> f64 {
        number::of(match self {
            Self::Requests => second.requests,
            Self::Rows => second.rows,
        })
    }

    fn unit(self) -> &'static str {
        match self {
            Self::Requests => "requests/s",
            Self::Rows => "rows/s",
        }
    }
}

/// Throughput and latency, second by second.
pub(super) fn course(phase: &PhaseReport, counted: Counted) -> Vec<Block> {
    if phase.series.len() < 2 {
        return Vec::new();
    }
    let since = |second: &Second| seconds_since(phase.window.start_ms, second.start_ms);
    let points = |value: &dyn Fn(&Second) -> f64| -> Vec<(f64, f64)> {
        phase.series.iter().map(|s| (since(s), value(s))).collect()
    };
    let mut rates = vec![line("", points(&|s| counted.of(s)))];
    if phase.series.iter().any(|second| second.failed > 0) {
        rates.push(line("failed", points(&|s| number::of(s.failed))));
        if let Some(first) = rates.first_mut() {
            "all".clone_into(&mut first.label);
        }
    }
    let latencies = vec![
        line("p50", points(&|s| number::of(s.p50_us) / 1000.0)),
        line("p99", points(&|s| number::of(s.p99_us) / 1000.0)),
    ];
    vec![
        wide(
            format!("Throughput, {}", counted.unit()),
            phase.seconds,
            rates,
        ),
        wide(
            "Service time by second, ms".to_owned(),
            phase.seconds,
            latencies,
        ),
    ]
}

/// The latency distribution of each clock.
pub(super) fn distribution(phase: &PhaseReport) -> Option<Block> {
    let curves: Vec<Curve> = phase
        .spectra
        .iter()
        .map(|spectrum| Curve {
            label: format!("{} time", spectrum.clock),
            points: spectrum.points.clone(),
        })
        .collect();
    let last = |curve: &Curve| {
        let end = curve
            .points
            .last()
            .map_or(0.0, |point| number::of(point.micros));
        format!("{} up to {}", curve.label, number::latency(end))
    };
    let text = curves.iter().map(last).collect::<Vec<_>>().join(", ");
    chart(spectrum_chart("Latency distribution", &text, &curves), text)
}

/// Percentiles of service time, a row a scenario and load.
pub(super) fn percentiles(phases: &[&PhaseReport]) -> Option<Block> {
    let rows: Vec<RangeRow> = phases.iter().filter_map(|phase| range_row(phase)).collect();
    let text = format!(
        "p50, p95, p99 and largest service time of {} measurements",
        rows.len()
    );
    chart(range_chart("Service time by scenario", &text, &rows), text)
}

fn range_row(phase: &PhaseReport) -> Option<RangeRow> {
    let stress = phase.stress.as_ref()?;
    let times = stress.clocks.service?;
    let marks = [
        ("p50", times.p50_us),
        ("p95", times.p95_us),
        ("p99", times.p99_us),
        ("max", Some(times.max_us)),
    ];
    Some(RangeRow {
        label: format!("{} × {}", stress.scenario, stress.concurrency),
        // A mark has the shape of its place, so the row ends where samples end.
        marks: marks
            .into_iter()
            .map_while(|(name, micros)| Some((name, micros?)))
            .collect(),
    })
}

/// Throughput against load; nothing when no scenario was run at two loads.
pub(super) fn throughput_by_load(phases: &[&PhaseReport]) -> Option<Block> {
    let mut lines: Vec<Line> = Vec::new();
    let mut most: f64 = 0.0;
    for stress in phases.iter().filter_map(|phase| phase.stress.as_ref()) {
        let Some(rate) = stress.throughput.filter(|_| stress.valid) else {
            continue;
        };
        let at = (f64::from(stress.concurrency), rate);
        most = most.max(at.0);
        match lines.iter_mut().find(|line| line.label == stress.scenario) {
            Some(line) => line.points.push(at),
            None => lines.push(line(&stress.scenario, vec![at])),
        }
    }
    lines.retain(|line| line.points.len() > 1);
    lines.truncate(MOST_LINES);
    if lines.is_empty() {
        return None;
    }
    let title = "Throughput by requests in flight, requests/s".to_owned();
    let text = describe(&lines);
    let svg = line_chart(&LineChart {
        title,
        description: text.clone(),
        x_is_time: false,
        seconds: most,
        at_least: 0.0,
        lines,
        size: Size::Wide,
    });
    chart(svg, text)
}

/// All phases on one time axis.
pub(super) fn timeline(report: &Report) -> Block {
    let bars: Vec<Bar> = report
        .phases
        .iter()
        .map(|phase| Bar {
            label: format!("{}. {}", phase.index, phase.name),
            start: seconds_since(report.run.started_ms, phase.window.start_ms),
            length: phase.seconds,
            done: matches!(phase.outcome, Outcome::Done | Outcome::Skipped(_)),
        })
        .collect();
    let text = format!("{} phases in their order", bars.len());
    let svg = timeline_chart("Time since the start of the run", &text, &bars);
    Block::Chart {
        svg,
        text: String::new(),
    }
}

/// CPU and memory of each kind of process, a line a host.
pub(super) fn daemons(phase: &PhaseReport, metrics: &Metrics) -> Vec<Block> {
    let mut roles: Vec<&str> = metrics.daemons.iter().map(|d| d.role.as_str()).collect();
    roles.dedup();
    roles.sort_unstable();
    roles.dedup();
    let of = |role: &str, pick: &dyn Fn(&crate::run::DaemonDigest) -> Option<&Trend>, by: f64| {
        let found = metrics.daemons.iter().filter(|d| d.role == role);
        most_busy(
            found
                .filter_map(|d| Some(trend_line(phase.window, &d.host, pick(d)?, by)))
                .collect(),
        )
    };
    let (by, unit) = number::byte_unit(highest(
        metrics.daemons.iter().map(|d| d.rss_bytes.as_ref()),
    ));
    let cpu = roles.iter().map(|role| {
        (
            format!("{role}: CPU, cores"),
            of(role, &|d| d.cpu_percent.as_ref(), 100.0),
        )
    });
    let rss = roles.iter().map(|role| {
        (
            format!("{role}: resident memory, {unit}"),
            of(role, &|d| d.rss_bytes.as_ref(), by),
        )
    });
    let rows = [
        ("CPU by process", row(phase, cpu)),
        ("Memory by process", row(phase, rss)),
    ];
    rows.into_iter()
        .filter_map(|(title, svgs)| charts(title, svgs))
        .collect()
}

/// Network of each host, CPU of each machine.
pub(super) fn hosts(phase: &PhaseReport, metrics: &Metrics) -> Vec<Block> {
    let all = || metrics.hosts.iter();
    let (by, unit) = number::byte_unit(highest(
        all().flat_map(|h| [h.net_receive.as_ref(), h.net_send.as_ref()]),
    ));
    let network = all().map(|host| {
        let received = host
            .net_receive
            .as_ref()
            .map(|t| trend_line(phase.window, "received", t, by));
        let sent = host
            .net_send
            .as_ref()
            .map(|t| trend_line(phase.window, "sent", t, by));
        (
            format!("{}: network, {unit}/s", host.host),
            received.into_iter().chain(sent).collect(),
        )
    });
    let cpu = all().filter_map(|host| {
        let used = trend_line(phase.window, "", host.cpu_percent.as_ref()?, 100.0);
        let shared = if host.shares_machine_with.is_empty() {
            ""
        } else {
            " (shared machine)"
        };
        Some((format!("{}{shared}: CPU, cores", host.host), vec![used]))
    });
    let rows = [
        ("CPU by machine", row(phase, cpu)),
        ("Network by host", row(phase, network)),
    ];
    rows.into_iter()
        .filter_map(|(title, svgs)| charts(title, svgs))
        .collect()
}

/// Small charts with one common axis.
fn row(phase: &PhaseReport, named: impl Iterator<Item = (String, Vec<Line>)>) -> Vec<String> {
    let named: Vec<(String, Vec<Line>)> = named.filter(|(_, lines)| !lines.is_empty()).collect();
    let top = named
        .iter()
        .flat_map(|(_, lines)| {
            lines
                .iter()
                .flat_map(|line| line.points.iter().map(|(_, y)| *y))
        })
        .filter(|y| y.is_finite())
        .fold(0.0, f64::max);
    let draw = |(title, lines): (String, Vec<Line>)| {
        line_chart(&LineChart {
            title,
            description: describe(&lines),
            x_is_time: true,
            seconds: phase.seconds,
            at_least: top,
            lines,
            size: Size::Small,
        })
    };
    named.into_iter().map(draw).collect()
}

fn wide(title: String, seconds: f64, lines: Vec<Line>) -> Block {
    let text = format!("{title}: {}", describe(&lines));
    let svg = line_chart(&LineChart {
        title,
        description: text.clone(),
        x_is_time: true,
        seconds,
        at_least: 0.0,
        lines,
        size: Size::Wide,
    });
    Block::Chart { svg, text }
}

fn chart(svg: String, text: String) -> Option<Block> {
    (!svg.is_empty()).then_some(Block::Chart { svg, text })
}

fn charts(title: &str, svgs: Vec<String>) -> Option<Block> {
    let title = title.to_owned();
    (!svgs.is_empty()).then_some(Block::Charts { title, svgs })
}

fn line(label: &str, points: Vec<(f64, f64)>) -> Line {
    Line {
        label: label.to_owned(),
        points,
    }
}

fn trend_line(window: Window, label: &str, trend: &Trend, divisor: f64) -> Line {
    let place = |point: &crate::run::Point| {
        let at = seconds_since(window.start_ms, point.at_ms);
        (at, point.value / divisor)
    };
    line(label, trend.points.iter().map(place).collect())
}

/// The lines with the highest means, in their old order.
fn most_busy(mut lines: Vec<Line>) -> Vec<Line> {
    let mean = |line: &Line| line.points.iter().map(|(_, y)| *y).sum::<f64>();
    while lines.len() > MOST_LINES {
        let least = (0..lines.len()).min_by(|a, b| mean(&lines[*a]).total_cmp(&mean(&lines[*b])));
        lines.remove(least.unwrap_or(0));
    }
    lines
}

fn highest<'a>(trends: impl Iterator<Item = Option<&'a Trend>>) -> f64 {
    trends
        .flatten()
        .map(|trend| trend.spread.max)
        .fold(0.0, f64::max)
}

fn describe(lines: &[Line]) -> String {
    let words = lines.iter().filter_map(|line| {
        let values = || {
            line.points
                .iter()
                .map(|(_, y)| *y)
                .filter(|y| y.is_finite())
        };
        let low = values().fold(f64::INFINITY, f64::min);
        let high = values().fold(f64::NEG_INFINITY, f64::max);
        let name = if line.label.is_empty() {
            String::new()
        } else {
            format!("{} ", line.label)
        };
        (low <= high).then(|| format!("{name}{} to {}", number::short(low), number::short(high)))
    });
    words.collect::<Vec<_>>().join(", ")
}

fn seconds_since(start_ms: i64, at_ms: i64) -> f64 {
    Window {
        start_ms,
        end_ms: at_ms,
    }
    .seconds()
}
