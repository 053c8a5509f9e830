//! Import and stress phases of the made-up run.

use hdrhistogram::Histogram;
use nbctl::record::RunStore;
use nbctl_core::run::{
    Clocks, CountCheck, ErrorCount, FileResult, ImportResult, Objective, Outcome, PhaseResult,
    Quantiles, Second, StressResult, Window,
};

use super::observed;

/// A scenario at one load.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scenario {
    name: &'static str,
    statement: &'static str,
    users: u32,
    /// Requests a second.
    rate: u64,
    /// Median service time, µs.
    median_us: u64,
    /// Length of the tail: 0.2 short, 0.6 long.
    tail: f64,
    /// One request in so many fails; 0 never.
    fails_one_in: u64,
}

const GO1: &str = "GO 1 STEP FROM {0} OVER KNOWS YIELD dst(edge)";
const GO2: &str = "GO 2 STEPS FROM {0} OVER KNOWS YIELD DISTINCT dst(edge)";
const FETCH: &str = "FETCH PROP ON Person {0} YIELD properties(vertex)";
const PATH: &str = "FIND SHORTEST PATH FROM {0} TO {1} OVER * YIELD path AS p";

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("FetchPerson", FETCH, (50, 14_200), 3_100, 0.18, 0),
    scenario("Go1Step", GO1, (10, 6_900), 1_350, 0.18, 0),
    scenario("Go1Step", GO1, (50, 12_100), 3_900, 0.25, 0),
    scenario("Go1Step", GO1, (100, 12_900), 7_300, 0.32, 9_000),
    scenario("Go2Steps", GO2, (10, 2_050), 4_600, 0.35, 0),
    scenario("Go2Steps", GO2, (50, 3_400), 13_800, 0.42, 0),
    scenario("FindShortestPath", PATH, (10, 14), 640_000, 0.3, 0),
];

const fn scenario(
    name: &'static str,
    statement: &'static str,
    load: (u32, u64),
    median_us: u64,
    tail: f64,
    fails_one_in: u64,
) -> Scenario {
    Scenario {
        name,
        statement,
        users: load.0,
        rate: load.1,
        median_us,
        tail,
        fails_one_in,
    }
}

const SECONDS: u64 = 60;

pub(super) fn stress(store: &mut RunStore, clock: &mut i64, scenario: &Scenario) {
    *clock += 10_000;
    let name = format!("stress {} {}", scenario.name, scenario.users);
    let index = store.begin_phase(&name, *clock).unwrap();
    let window = Window {
        start_ms: *clock,
        end_ms: *clock + 60_000,
    };
    let series: Vec<Second> = (0..SECONDS)
        .map(|at| second(*clock, at, scenario.rate, scenario.median_us, scenario.tail))
        .map(|second| with_failures(second, scenario.fails_one_in))
        .collect();
    let requests: u64 = series.iter().map(|second| second.requests).sum();
    let failed: u64 = series.iter().map(|second| second.failed).sum();
    let service = distribution(requests - failed, scenario.median_us, scenario.tail);
    let server = distribution(
        requests - failed,
        scenario.median_us * 6 / 10,
        scenario.tail * 0.8,
    );
    let result = StressResult {
        scenario: scenario.name.to_owned(),
        protocol: "nebula".to_owned(),
        statement: scenario.statement.to_owned(),
        concurrency: scenario.users,
        warmup_ms: 10_000,
        requests,
        rows: requests * 37,
        failed,
        errors: errors(failed),
        clocks: Clocks {
            server: Quantiles::of(&server),
            service: Quantiles::of(&service),
            response: None,
        },
        series,
        generator_cpu_percent: observed::generator_cpu(scenario.rate),
        generator_cores: 8,
        objectives: vec![Objective {
            text: "p99 <= 2s".to_owned(),
            measured: format!("{} ms", service.value_at_quantile(0.99) / 1000),
            met: true,
        }],
        ..StressResult::default()
    };
    store
        .end_phase(
            index,
            window,
            Outcome::Done,
            PhaseResult::Stress(Box::new(result)),
        )
        .unwrap();
    store.put_histogram(index, "service", &service).unwrap();
    store.put_histogram(index, "server", &server).unwrap();
    store
        .set_metrics(index, observed::under_queries(window, scenario.rate))
        .unwrap();
    *clock = window.end_ms + 1_000;
}

fn errors(failed: u64) -> Vec<ErrorCount> {
    if failed == 0 {
        return Vec::new();
    }
    vec![ErrorCount {
        class: "E_RPC_FAILURE".to_owned(),
        code: Some(-3),
        count: failed,
        sample: "Storage Error: RPC failure, probably timeout. <host 10.0.0.12:9779>".to_owned(),
    }]
}

pub(super) fn import(store: &mut RunStore, clock: &mut i64) {
    let index = store.begin_phase("import", *clock).unwrap();
    let rate = 42_000;
    let mut series: Vec<Second> = (0..45)
        .map(|at| second(*clock, at, 336, 14_000, 0.4))
        .collect();
    for (at, second) in (0u64..).zip(&mut series) {
        // A write stall, as compaction makes them.
        let slow = if (28..32).contains(&at) { 5 } else { 1 };
        second.rows = rate / slow + (at * 977) % 3_000;
        second.p99_us *= slow;
    }
    store.append_seconds(index, &series).unwrap();
    let rows: u64 = series.iter().map(|second| second.rows).sum();
    let files = files(rows);
    let window = Window {
        start_ms: *clock,
        end_ms: *clock + 45_000,
    };
    let service = distribution(rows / 128, 14_000, 0.4);
    let server = distribution(rows / 128, 9_000, 0.35);
    let result = ImportResult {
        rows,
        bytes: files.iter().map(|file| file.bytes).sum(),
        retries: 17,
        errors: vec![ErrorCount {
            class: "raft buffer is full".to_owned(),
            code: Some(-1005),
            count: 17,
            sample: "Storage Error: raft buffer is full. Please retry later.".to_owned(),
        }],
        clocks: Clocks {
            server: Quantiles::of(&server),
            service: Quantiles::of(&service),
            response: None,
        },
        counts: counts(&files),
        files,
        concurrency: 96,
        batch: 128,
        series,
    };
    store
        .end_phase(
            index,
            window,
            Outcome::Done,
            PhaseResult::Import(Box::new(result)),
        )
        .unwrap();
    store.put_histogram(index, "service", &service).unwrap();
    store.put_histogram(index, "server", &server).unwrap();
    store
        .set_metrics(index, observed::under_import(window))
        .unwrap();
    store
        .note(
            index,
            "storaged on node2 stalled its writes for 4 s while it compacted (made up)",
        )
        .unwrap();
    *clock = window.end_ms + 500;
}

fn files(rows: u64) -> Vec<FileResult> {
    let file = |name: &str, target: &str, rows: u64, width: u64| FileResult {
        path: format!("dynamic/{name}.csv"),
        target: target.to_owned(),
        rows,
        failed_rows: 0,
        bytes: rows * width,
        millis: rows * 1000 / 42_000 + 300,
    };
    let (person, knows) = (1_700, 180_623);
    vec![
        file("person", "Person", person, 96),
        file("person_knows_person", "KNOWS", knows, 41),
        file("comment", "Comment", rows - person - knows, 118),
    ]
}

fn counts(files: &[FileResult]) -> Vec<CountCheck> {
    let check = |kind: &str, name: &str, count| CountCheck {
        kind: kind.to_owned(),
        name: name.to_owned(),
        expected: count,
        found: count,
    };
    let rows = |target: &str| {
        let found = files.iter().find(|file| file.target == target);
        found.map_or(0, |file| file.rows)
    };
    vec![
        check("tag", "Person", rows("Person")),
        check("tag", "Comment", rows("Comment")),
        check("edge", "KNOWS", rows("KNOWS")),
        check("space", "vertices", rows("Person") + rows("Comment")),
        check("space", "edges", rows("KNOWS")),
    ]
}

/// Wavy, the same at every call.
fn second(start: i64, at: u64, rate: u64, median_us: u64, tail: f64) -> Second {
    let wave = observed::wave(at);
    let scaled = |value: u64, by: f64| (value as f64 * by) as u64;
    Second {
        start_ms: start + at as i64 * 1000,
        requests: scaled(rate, 1.0 + 0.04 * wave),
        failed: 0,
        rows: scaled(rate * 37, 1.0 + 0.04 * wave),
        p50_us: scaled(median_us, 1.0 - 0.04 * wave),
        p99_us: scaled(median_us, slowdown(0.99, tail) * (1.0 - 0.15 * wave)),
    }
}

fn with_failures(mut second: Second, one_in: u64) -> Second {
    // All of them in one burst, as when a leader moves.
    let burst = (second.start_ms / 1000) % 60 < 6;
    if one_in > 0 && burst {
        second.failed = second.requests * 10 / one_in;
    }
    second
}

/// A latency distribution with a long right tail.
fn distribution(count: u64, median_us: u64, tail: f64) -> Histogram<u64> {
    let mut histogram = Histogram::<u64>::new(3).unwrap();
    let steps = count.clamp(1, 40_000);
    for step in 0..steps {
        let part = (step as f64 + 0.5) / steps as f64;
        let value = (median_us as f64 * slowdown(part, tail)) as u64;
        let share = count / steps + u64::from(step < count % steps);
        histogram.record_n(value.max(1), share).unwrap();
    }
    histogram
}

/// How many medians the quantile `part` is slow.
fn slowdown(part: f64, tail: f64) -> f64 {
    0.55 + 0.45 * ((1.0 - part) * 2.0).powf(-tail)
}
