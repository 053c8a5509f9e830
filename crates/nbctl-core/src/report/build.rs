//! From what a run recorded to the report model.
//!
//! Purpose: every derived number is made here and only here: rates, CPU a request, which percentiles show.
//! Duties: pure; judge nothing that the checks have not judged.

use std::collections::BTreeMap;

use super::model::{
    ClocksReport, FileReport, ImportReport, Percentiles, PhaseReport, REPORT_FORMAT, Report,
    RunReport, Spectrum, StressReport, VerdictReport,
};
use super::number;
use crate::run::{
    Check, CheckState, Clocks, FileResult, HostInfo, ImportResult, Manifest, Metrics, PhaseRecord,
    PhaseResult, Quantiles, StressResult, Verdict, checks, is_carried,
};

/// Curves by the index of their phase.
pub type Spectra = BTreeMap<u32, Vec<Spectrum>>;

impl Report {
    /// The report of a run; `spectra` are the distributions kept beside its phases.
    pub fn of(manifest: &Manifest, mut spectra: Spectra) -> Self {
        let checks = checks(manifest);
        let phases = manifest
            .phases
            .iter()
            .map(|phase| {
                let curves = spectra.remove(&phase.index).unwrap_or_default();
                phase_report(phase, curves, &checks)
            })
            .collect();
        Self {
            format: REPORT_FORMAT,
            verdict: verdict_report(manifest),
            run: run_report(manifest),
            cluster: manifest.cluster.clone(),
            hosts: manifest.hosts.clone(),
            shared_machines: shared_machines(&manifest.hosts),
            inputs: manifest.inputs.clone(),
            phases,
            checks,
        }
    }
}

fn verdict_report(manifest: &Manifest) -> VerdictReport {
    let verdict = Verdict::of(manifest);
    VerdictReport {
        line: verdict.line(),
        state: verdict.state,
        exit_code: verdict.exit_code().number(),
        sandbox: verdict.sandbox,
        shared_kernel: verdict.shared_kernel,
        reasons: verdict.reasons,
        remarks: verdict.remarks,
    }
}

fn run_report(manifest: &Manifest) -> RunReport {
    RunReport {
        id: manifest.id.clone(),
        name: manifest.name.clone(),
        started_ms: manifest.started_ms,
        finished_ms: manifest.finished_ms,
        tool_version: manifest.tool_version.clone(),
        command_line: manifest.command_line.clone(),
        seed: manifest.seed,
        limits: manifest.limits,
    }
}

fn shared_machines(hosts: &[HostInfo]) -> Vec<Vec<String>> {
    let mut machines: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for host in hosts.iter().filter(|host| !host.boot_id.is_empty()) {
        let names = machines.entry(host.boot_id.as_str()).or_default();
        names.push(host.name.clone());
    }
    machines
        .into_values()
        .filter(|names| names.len() > 1)
        .collect()
}

fn phase_report(phase: &PhaseRecord, spectra: Vec<Spectrum>, checks: &[Check]) -> PhaseReport {
    let seconds = phase.window.seconds();
    let mut report = PhaseReport {
        index: phase.index,
        name: phase.name.clone(),
        window: phase.window,
        seconds,
        outcome: phase.outcome.clone(),
        notes: phase.notes.clone(),
        facts: Vec::new(),
        import: None,
        stress: None,
        series: Vec::new(),
        spectra,
        metrics: phase.metrics.clone(),
    };
    match &phase.result {
        PhaseResult::Plain(facts) => report.facts.clone_from(facts),
        PhaseResult::Import(import) => {
            report.series.clone_from(&import.series);
            report.import = Some(import_report(import, seconds));
        }
        PhaseResult::Stress(stress) => {
            let failed =
                |check: &Check| check.phase == phase.name && check.state == CheckState::Fails;
            report.series.clone_from(&stress.series);
            report.stress = Some(StressReport {
                valid: !checks.iter().any(failed),
                ..stress_report(stress, seconds, phase.metrics.as_ref())
            });
        }
    }
    report
}

fn import_report(import: &ImportResult, seconds: f64) -> ImportReport {
    ImportReport {
        rows: import.rows,
        bytes: import.bytes,
        rows_per_second: over(number::of(import.rows), seconds),
        bytes_per_second: over(number::of(import.bytes), seconds),
        retries: import.retries,
        concurrency: import.concurrency,
        batch: import.batch,
        files: import.files.iter().map(file_report).collect(),
        counts: import.counts.clone(),
        errors: import.errors.clone(),
        clocks: clocks_report(&import.clocks),
    }
}

fn file_report(file: &FileResult) -> FileReport {
    let seconds = number::of(file.millis) / 1000.0;
    FileReport {
        path: file.path.clone(),
        target: file.target.clone(),
        rows: file.rows,
        failed_rows: file.failed_rows,
        bytes: file.bytes,
        seconds,
        rows_per_second: over(number::of(file.rows), seconds),
    }
}

fn stress_report(stress: &StressResult, seconds: f64, metrics: Option<&Metrics>) -> StressReport {
    let succeeded = stress.requests.saturating_sub(stress.failed);
    StressReport {
        scenario: stress.scenario.clone(),
        protocol: stress.protocol.clone(),
        statement: stress.statement.clone(),
        concurrency: stress.concurrency,
        target_rate: stress.target_rate,
        warmup_ms: stress.warmup_ms,
        requests: stress.requests,
        failed: stress.failed,
        throughput: over(number::of(succeeded), seconds),
        rows_per_second: over(number::of(stress.rows), seconds),
        errors: stress.errors.clone(),
        clocks: clocks_report(&stress.clocks),
        generator_cpu_percent: stress.generator_cpu_percent,
        generator_cores: stress.generator_cores,
        cluster_cpu_ms_per_request: metrics
            .and_then(cluster_cpu)
            .and_then(|percent| over(percent * 10.0 * seconds, number::of(stress.requests))),
        objectives: stress.objectives.clone(),
        valid: true,
    }
}

/// CPU of all graphd and storaged, percent of one core; `None` when one of them was not seen.
fn cluster_cpu(metrics: &Metrics) -> Option<f64> {
    let serving: Vec<_> = metrics
        .daemons
        .iter()
        .filter(|daemon| matches!(daemon.role.as_str(), "graphd" | "storaged"))
        .collect();
    if serving.is_empty() {
        return None;
    }
    serving
        .iter()
        .map(|daemon| daemon.cpu_percent.as_ref().map(|cpu| cpu.spread.mean))
        .sum()
}

fn clocks_report(clocks: &Clocks) -> ClocksReport {
    ClocksReport {
        server: clocks.server.as_ref().map(percentiles),
        service: clocks.service.as_ref().map(percentiles),
        response: clocks.response.as_ref().map(percentiles),
    }
}

fn percentiles(times: &Quantiles) -> Percentiles {
    let carried = |quantile, micros| is_carried(times.count, quantile).then_some(micros);
    Percentiles {
        count: times.count,
        min_us: times.min_us,
        mean_us: times.mean_us,
        p50_us: carried(0.5, times.p50_us),
        p90_us: carried(0.9, times.p90_us),
        p95_us: carried(0.95, times.p95_us),
        p99_us: carried(0.99, times.p99_us),
        p999_us: carried(0.999, times.p999_us),
        max_us: times.max_us,
    }
}

fn over(amount: f64, by: f64) -> Option<f64> {
    (by > 0.0).then(|| amount / by)
}
