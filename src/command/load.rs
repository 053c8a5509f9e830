//! `nbctl data`, `nbctl import`, `nbctl stress`: the phases of a benchmark one by one.

use comfy_table::{Table, presets};
use nbctl_core::failure::{ExitCode, Failure};
use nbctl_core::playbook;
use nbctl_core::run::{ImportResult, PhaseResult, StressResult};

use crate::cli::{DataCommand, DataSource, Import, StressRun};
use crate::command::Working;
use crate::context::Context;
use crate::phase::bench::Bench;
use crate::phase::course::Course;
use crate::phase::{connect, data, import, lease, schema, stress};
use crate::reporter::Reporter;

/// `nbctl data …`: of this machine only.
pub(super) async fn data(args: &DataCommand, reporter: &Reporter) -> anyhow::Result<ExitCode> {
    match args {
        DataCommand::Generate { dir, persons, seed } => {
            let volume = data::generate(dir, *persons, *seed, &*reporter.sink())?;
            let text = format!(
                "{}: {} rows, {} bytes",
                dir.display(),
                volume.rows,
                volume.bytes
            );
            let value =
                serde_json::json!({ "dir": dir, "rows": volume.rows, "bytes": volume.bytes });
            reporter.result(&text, &value)?;
        }
        DataCommand::Check { dir } | DataCommand::List { dir } => {
            let set = data::read(dir).await?;
            let mut table = table(["file", "type", "bytes", "columns"]);
            for file in &set.files {
                let columns: Vec<&str> =
                    file.data.columns.iter().map(|c| c.name.as_str()).collect();
                let kind = file.data.kind.type_name().unwrap_or_default();
                let bytes = file.bytes.to_string();
                table.add_row([file.found.path.as_str(), kind, &bytes, &columns.join(" ")]);
            }
            let (tags, edges) = (set.schema.tags.len(), set.schema.edges.len());
            let text = format!(
                "{table}\n{} files, {tags} tags, {edges} edge types",
                set.files.len()
            );
            let inputs = data::inputs(&set);
            let value = serde_json::json!({ "files": inputs, "tags": tags, "edges": edges });
            reporter.result(&text, &value)?;
        }
    }
    Ok(ExitCode::Good)
}

/// `nbctl import`.
pub(super) async fn import(ctx: &Context, args: &Import) -> anyhow::Result<ExitCode> {
    let working = Working::new(ctx).await?;
    let fleet = connect::all(ctx).await?;
    let mut bench = Bench::new(ctx, &fleet, &working.graph, working.cancel())?;
    bench.course = Course::open(ctx, &fleet, &trial("import")).await;
    let scope = working.scope(ctx, &fleet, "import");
    let done = Box::pin(lease::under(&scope, import_with(&bench, args))).await;
    bench.course.close().await;
    fleet.close().await;
    let result = done?;
    let good = result.counts.iter().all(nbctl_core::run::CountCheck::holds)
        && result.files.iter().all(|file| file.failed_rows == 0);
    ctx.reporter.result(&import_text(&result), &result)?;
    Ok(if good {
        ExitCode::Good
    } else {
        ExitCode::Invalid
    })
}

/// What the course of a load without a record is called.
fn trial(what: &str) -> String {
    jiff::Timestamp::now()
        .strftime(&format!("%Y%m%d-%H%M%S-{what}"))
        .to_string()
}

async fn import_with(bench: &Bench<'_>, args: &Import) -> Result<ImportResult, Failure> {
    let (placed, _) = data::run(bench, &wanted(&args.source)).await?;
    let space = playbook::Schema {
        space: args.space.clone(),
        vid: args.vid.clone(),
        partitions: args.partitions,
        replicas: args.replicas,
        fresh: args.fresh,
    };
    schema::run(bench, &space, &placed.set).await?;
    let how = playbook::Import {
        batch: args.batch,
        connections: args.connections,
        in_flight: args.in_flight,
        ..playbook::Import::default()
    };
    let done = import::run(bench, &how, &space, &placed).await?;
    if let Some(window) = done.window {
        bench.course.phase("import", window);
    }
    match done.result {
        PhaseResult::Import(result) => Ok(*result),
        _ => Err(Failure::step("the import gave no result")),
    }
}

fn wanted(source: &DataSource) -> playbook::Data {
    playbook::Data {
        folder: source
            .folder
            .as_ref()
            .map(|folder| folder.display().to_string()),
        persons: source.persons,
        seed: source.seed,
    }
}

/// `nbctl stress list`: needs no inventory.
pub(super) fn list(
    assets: &crate::assets::Assets,
    reporter: &Reporter,
) -> anyhow::Result<ExitCode> {
    let all = stress::scenarios(assets)?;
    let mut table = table(["scenario", "releases", "about"]);
    for scenario in &all.scenarios {
        let releases: Vec<&str> = scenario.statements.keys().map(String::as_str).collect();
        table.add_row([scenario.name.as_str(), &releases.join(" "), &scenario.about]);
    }
    reporter.result(&table.to_string(), &all)?;
    Ok(ExitCode::Good)
}

/// `nbctl stress run`.
pub(super) async fn stress(ctx: &Context, args: &StressRun) -> anyhow::Result<ExitCode> {
    let all = stress::scenarios(&ctx.assets)?;
    let chosen = match &args.scenario[..] {
        [] => all.scenarios.iter().collect(),
        names => names
            .iter()
            .map(|name| all.find(name))
            .collect::<Result<Vec<_>, _>>()?,
    };
    let working = Working::new(ctx).await?;
    let fleet = connect::all(ctx).await?;
    let mut bench = Bench::new(ctx, &fleet, &working.graph, working.cancel())?;
    bench.course = Course::open(ctx, &fleet, &trial("stress")).await;
    let scope = working.scope(ctx, &fleet, "stress");
    let done = Box::pin(lease::under(&scope, stress_all(&bench, args, &chosen))).await;
    bench.course.close().await;
    fleet.close().await;
    let results = done?;
    ctx.reporter.result(&stress_text(&results), &results)?;
    let budget = nbctl_core::run::Limits::default().error_share;
    let good = results.iter().all(|result| within(result, budget));
    Ok(if good {
        ExitCode::Good
    } else {
        ExitCode::Invalid
    })
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn within(result: &StressResult, budget: f64) -> bool {
    result.requests > 0 && result.failed as f64 <= result.requests as f64 * budget
}

async fn stress_all(
    bench: &Bench<'_>,
    args: &StressRun,
    chosen: &[&nbctl_core::scenario::Scenario],
) -> Result<Vec<StressResult>, Failure> {
    let (placed, _) = data::run(bench, &wanted(&args.source)).await?;
    let mut results = Vec::new();
    for scenario in chosen {
        for concurrency in &args.concurrency {
            let run = stress::Run {
                scenario,
                space: &args.space,
                vid: &args.vid,
                concurrency: *concurrency,
                warmup_s: args.warmup,
                duration_s: args.duration,
                seed: args.source.seed,
            };
            let done = stress::run(bench, &run, &placed).await?;
            if let Some(window) = done.window {
                let name = format!("stress {} {concurrency}", scenario.name);
                bench.course.phase(&name, window);
            }
            if let PhaseResult::Stress(result) = done.result {
                results.push(*result);
            }
        }
    }
    Ok(results)
}

fn table<const N: usize>(header: [&str; N]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header);
    table
}

fn import_text(result: &ImportResult) -> String {
    let mut counts = table(["kind", "name", "expected", "found", ""]);
    for check in &result.counts {
        let mark = if check.holds() { "same" } else { "DIFFERS" };
        let (expected, found) = (check.expected.to_string(), check.found.to_string());
        counts.add_row([check.kind.as_str(), &check.name, &expected, &found, mark]);
    }
    let failed: u64 = result.files.iter().map(|file| file.failed_rows).sum();
    let seconds = result.series.len().max(1) as u64;
    format!(
        "{} rows in, {failed} failed, {} sent again, about {} rows/s\n{}{counts}",
        result.rows,
        result.retries,
        result.rows / seconds,
        errors_text(&result.errors)
    )
}

fn errors_text(errors: &[nbctl_core::run::ErrorCount]) -> String {
    let line = |error: &nbctl_core::run::ErrorCount| {
        format!("{} × {}: {}\n", error.count, error.class, error.sample)
    };
    errors.iter().map(line).collect()
}

fn stress_text(results: &[StressResult]) -> String {
    let mut table = table([
        "scenario",
        "in flight",
        "good/s",
        "failed",
        "p50 µs",
        "p99 µs",
        "server p99 µs",
        "generator CPU",
    ]);
    let mut errors = String::new();
    for result in results {
        table.add_row(stress_row(result));
        errors.push_str(&errors_text(&result.errors));
    }
    format!("{table}\n{errors}")
}

fn stress_row(result: &StressResult) -> Vec<String> {
    let seconds = result.series.len().max(1) as u64;
    let shown =
        |value: Option<u64>| value.map_or_else(|| "-".to_owned(), |value| value.to_string());
    let service = result.clocks.service;
    vec![
        result.scenario.clone(),
        result.concurrency.to_string(),
        ((result.requests - result.failed) / seconds).to_string(),
        result.failed.to_string(),
        shown(service.map(|times| times.p50_us)),
        shown(service.map(|times| times.p99_us)),
        shown(result.clocks.server.map(|times| times.p99_us)),
        format!(
            "{:.0} % of {} cores",
            result.generator_cpu_percent, result.generator_cores
        ),
    ]
}
