//! Cases of the verdict: what one changed thing in a good run does to it.

use super::*;

fn second(requests: u64) -> Second {
    Second {
        start_ms: 0,
        requests,
        failed: 0,
        rows: 0,
        p50_us: 1,
        p99_us: 2,
    }
}

fn host(name: &str) -> HostInfo {
    HostInfo {
        name: name.to_owned(),
        address: String::new(),
        roles: Vec::new(),
        os: String::new(),
        kernel: String::new(),
        cpus: 8,
        memory_bytes: 1,
        boot_id: format!("boot-{name}"),
        clock_offset_ms: 1,
    }
}

fn phase(name: &str, result: PhaseResult) -> PhaseRecord {
    let daemon = DaemonDigest {
        role: "graphd".to_owned(),
        host: "h1".to_owned(),
        cpu_percent: None,
        rss_bytes: Some(Trend {
            spread: Spread {
                mean: 1.0,
                min: 1.0,
                max: 1.0,
            },
            points: Vec::new(),
        }),
        disk_read: None,
        disk_write: None,
        queries: None,
        restarts: 0,
    };
    PhaseRecord {
        index: 1,
        name: name.to_owned(),
        window: Window {
            start_ms: 0,
            end_ms: 60_000,
        },
        outcome: Outcome::Done,
        result,
        metrics: Some(Metrics {
            daemons: vec![daemon],
            ..Metrics::default()
        }),
        notes: Vec::new(),
    }
}

/// A run in which everything holds: an import and a stress phase.
fn good() -> Manifest {
    let stress = StressResult {
        requests: 60_000,
        clocks: Clocks {
            service: Some(Quantiles {
                count: 60_000,
                min_us: 1,
                mean_us: 1.0,
                p50_us: 1,
                p90_us: 1,
                p95_us: 1,
                p99_us: 1,
                p999_us: 1,
                max_us: 1,
            }),
            ..Clocks::default()
        },
        series: vec![second(1000); 60],
        generator_cpu_percent: 120.0,
        generator_cores: 4,
        objectives: vec![Objective {
            text: "p99 <= 20ms".to_owned(),
            measured: "3 ms".to_owned(),
            met: true,
        }],
        ..StressResult::default()
    };
    let import = ImportResult {
        counts: vec![CountCheck {
            kind: "tag".to_owned(),
            name: "Person".to_owned(),
            expected: 10,
            found: 10,
        }],
        ..ImportResult::default()
    };
    Manifest {
        format: FORMAT,
        id: String::new(),
        name: String::new(),
        started_ms: 0,
        finished_ms: Some(1),
        tool_version: String::new(),
        command_line: Vec::new(),
        seed: 0,
        limits: Limits::default(),
        cluster: ClusterInfo::default(),
        hosts: vec![host("h1"), host("h2")],
        inputs: Vec::new(),
        phases: vec![
            phase("import", PhaseResult::Import(Box::new(import))),
            phase("stress", PhaseResult::Stress(Box::new(stress))),
        ],
    }
}

fn stress(run: &mut Manifest) -> &mut StressResult {
    match &mut run.phases[1].result {
        PhaseResult::Stress(stress) => stress,
        other => panic!("{other:?}"),
    }
}

fn import(run: &mut Manifest) -> &mut ImportResult {
    match &mut run.phases[0].result {
        PhaseResult::Import(import) => import,
        other => panic!("{other:?}"),
    }
}

fn share(run: &mut Manifest) {
    run.hosts[1].boot_id = run.hosts[0].boot_id.clone();
}

fn few_samples(run: &mut Manifest) {
    if let Some(times) = &mut stress(run).clocks.service {
        times.count = 999;
    }
}

type Change = fn(&mut Manifest);

/// Part of the verdict line, what is changed, exit code.
const CASES: [(&str, Change, u8); 19] = [
    ("all phases done, all checks hold", |_| {}, 0),
    (
        "4000 of 60000 requests failed",
        |r| stress(r).failed = 4000,
        11,
    ),
    (
        "all phases done, all checks hold",
        |r| stress(r).failed = 60,
        0,
    ),
    ("no request finished", |r| stress(r).requests = 0, 11),
    (
        "92 % of 4 cores used",
        |r| stress(r).generator_cpu_percent = 368.0,
        11,
    ),
    ("999 samples", few_samples, 11),
    ("-50.0 %", |r| stress(r).series[30..].fill(second(500)), 11),
    (
        "stress: target rate reached: 1000/s",
        |r| stress(r).target_rate = Some(2000.0),
        11,
    ),
    (
        "OBJECTIVE MISSED (stress: objective met: 3 ms)",
        |r| stress(r).objectives[0].met = false,
        10,
    ),
    (
        "tag Person: 10 expected, 9 found",
        |r| import(r).counts[0].found = 9,
        11,
    ),
    ("-80 ms on h2", |r| r.hosts[1].clock_offset_ms = -80, 11),
    (
        "restarted: graphd on h1",
        |r| {
            if let Some(metrics) = &mut r.phases[1].metrics {
                metrics.daemons[0].restarts = 1;
            }
        },
        11,
    ),
    (
        "import was cut off",
        |r| r.phases[0].outcome = Outcome::Unfinished,
        130,
    ),
    (
        "FAILED (import: disk full)",
        |r| r.phases[0].outcome = Outcome::Failed("disk full\nmore".to_owned()),
        5,
    ),
    ("UNFINISHED (no phase was begun)", |r| r.phases.clear(), 130),
    ("shared kernel: all phases done, all checks hold", share, 0),
    (
        "not enforced: stress: samples carry p99: 999 samples",
        |r| {
            share(r);
            few_samples(r);
        },
        0,
    ),
    (
        "NOT VALID (stress: samples carry p99",
        |r| {
            share(r);
            few_samples(r);
            r.limits.validity = Validity::Enforce;
        },
        11,
    ),
    ("SANDBOX: all phases done", |r| r.cluster.sandbox = true, 0),
];

#[test]
fn one_changed_thing_decides() {
    for (expected, change, code) in CASES {
        let mut run = good();
        change(&mut run);
        let verdict = Verdict::of(&run);
        assert!(
            verdict.line().contains(expected),
            "{expected}: {}",
            verdict.line()
        );
        assert_eq!(verdict.exit_code().number(), code, "{}", verdict.line());
    }
}

#[test]
fn what_was_not_observed_is_not_passed() {
    let mut run = good();
    run.phases[1].metrics = None;
    stress(&mut run).series.truncate(10);
    let open: Vec<String> = checks(&run)
        .into_iter()
        .filter(|check| check.state == CheckState::Unobserved)
        .map(|check| check.name)
        .collect();
    assert_eq!(open, ["throughput steady", "no daemon restarted"]);
}

#[test]
fn alike_reasons_are_told_once() {
    let mut run = good();
    stress(&mut run).failed = 4000;
    for (name, index) in [("stress b", 3), ("stress c", 4)] {
        let mut phase = run.phases[1].clone();
        name.clone_into(&mut phase.name);
        phase.index = index;
        run.phases.push(phase);
    }
    assert_eq!(
        Verdict::of(&run).line(),
        "NOT VALID (stress: errors within budget: 4000 of 60000 requests failed, and in 2 more phases)"
    );
}
