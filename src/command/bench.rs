//! `nbctl bench full|list`: the phases of a playbook, recorded one by one, then the report.

use std::time::Duration;

use nbctl_core::failure::{ExitCode, Failure};
use nbctl_core::inventory::Component;
use nbctl_core::playbook::{Estimate, Phase, Playbook, Stress, Volume};
use nbctl_core::run::{Limits, Outcome, PhaseResult, Verdict, Window};

use crate::cli::BenchFull;
use crate::command::working::Working;
use crate::context::{Context, runs_dir};
use crate::event::Event;
use crate::metrics::{self, Prometheus, QueryTable};
use crate::phase::bench::{Bench, Done};
use crate::phase::course::Course;
use crate::phase::facts::now_ms;
use crate::phase::{
    compact, connect, data, facts, import, lease, observe, schema, settle, snapshot, stress,
};
use crate::record::{NewRun, Redactor, RunStore};
use crate::report::{self, Format};

/// Folder of playbooks among the assets.
const PLAYBOOKS: &str = "playbooks/";

pub(super) fn list(
    ctx: &crate::assets::Assets,
    reporter: &crate::reporter::Reporter,
) -> anyhow::Result<ExitCode> {
    let mut lines = Vec::new();
    for name in ctx.list(PLAYBOOKS) {
        if !name.contains("/scenarios/") {
            let playbook = Playbook::parse(&name, &ctx.text(&name)?)?;
            lines.push(format!("{:<14} {}", playbook.name, playbook.about));
        }
    }
    reporter.result(&lines.join("\n"), &lines)?;
    Ok(ExitCode::Good)
}

pub(super) async fn full(ctx: &Context, args: &BenchFull) -> anyhow::Result<ExitCode> {
    let playbook = playbook(ctx, args)?;
    ctx.sink.note(estimate(&playbook));
    if ctx.global.dry_run {
        let steps: Vec<&str> = playbook.phases.iter().map(Phase::name).collect();
        ctx.reporter.result(&steps.join("\n"), &playbook)?;
        return Ok(ExitCode::Good);
    }
    let working = Working::new(ctx).await?;
    let fleet = connect::all(ctx).await?;
    let mut bench = Bench::new(ctx, &fleet, &working.graph, working.cancel.clone())?;
    let scope = working.scope(ctx, &fleet, "bench");
    // Nobody may redeploy under a measurement.
    let work = async {
        let mut store = begin(&bench, &playbook).await?;
        bench.course = Course::open(ctx, &fleet, &store.manifest().id).await;
        let failure = phases(&bench, &playbook, &mut store).await.err();
        bench.course.close().await;
        anyhow::Ok((store, failure))
    };
    let (mut store, failure) = Box::pin(lease::under(&scope, work)).await?;
    observe_hosts(ctx, &fleet, &mut store).await?;
    store.finish(now_ms())?;
    fleet.close().await;
    let code = conclude(ctx, &store)?;
    match failure {
        Some(failure) => Err(failure.into()),
        None => Ok(code),
    }
}

/// The playbook that was asked for, with the arguments over it.
fn playbook(ctx: &Context, args: &BenchFull) -> Result<Playbook, Failure> {
    let name = match (&args.playbook, args.quick) {
        (Some(name), _) => name.clone(),
        (None, true) => "bench-quick".to_owned(),
        (None, false) => "bench-full".to_owned(),
    };
    let file = format!("{PLAYBOOKS}{name}.yaml");
    let mut playbook = Playbook::parse(&file, &ctx.assets.text(&file)?)?;
    for phase in &mut playbook.phases {
        if let Phase::Data(data) = phase {
            data.folder = args
                .data
                .as_ref()
                .map(|dir| dir.display().to_string())
                .or(data.folder.take());
            data.persons = args.persons.unwrap_or(data.persons);
        }
    }
    Ok(playbook)
}

fn estimate(playbook: &Playbook) -> String {
    let persons = playbook.phases.iter().find_map(|phase| match phase {
        Phase::Data(data) if data.folder.is_none() => Some(data.persons),
        _ => None,
    });
    let volume = Volume::of_persons(persons.unwrap_or_default());
    let estimate = Estimate::of(playbook, volume);
    let import = match persons {
        Some(_) => format!(
            "import about {} s, disk about {} MB",
            estimate.import_s,
            estimate.disk_bytes >> 20
        ),
        None => "import depends on the data given".to_owned(),
    };
    format!("estimate: stress {} s, {import}", estimate.stress_s)
}

/// Opens the record with everything that is known before the first phase.
async fn begin(bench: &Bench<'_>, playbook: &Playbook) -> Result<RunStore, Failure> {
    let ctx = bench.ctx;
    let (facts, seen) = tokio::join!(
        facts::gather(&ctx.cluster, bench.fleet),
        observe::cluster(&ctx.cluster, bench.fleet, bench.graph)
    );
    let facts = facts?;
    let (_, password) = bench.graph.login();
    let new = NewRun {
        name: playbook.name.clone(),
        started_ms: now_ms(),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        command_line: std::env::args().collect(),
        seed: seed(playbook),
        limits: Limits::default(),
    };
    let mut store = RunStore::create(&runs_dir(&ctx.global), new, Redactor::new([password]))?;
    ctx.sink.note(format!("run {}", store.folder().display()));
    store.set_cluster(snapshot::cluster(&ctx.cluster, &seen))?;
    store.set_hosts(snapshot::hosts(&ctx.cluster, &facts))?;
    let yaml = serde_yaml::to_string(&ctx.cluster)
        .map_err(|error| Failure::step(format!("cannot write the inventory: {error}")))?;
    store.put_inventory(&yaml)?;
    for (daemon, file) in Working::rendered(ctx)? {
        let host = daemon.rsplit('@').next().unwrap_or_default();
        store.put_rendered(host, file.path.as_str(), &file.text)?;
    }
    Ok(store)
}

fn seed(playbook: &Playbook) -> u64 {
    let seed = playbook.phases.iter().find_map(|phase| match phase {
        Phase::Data(data) => Some(data.seed),
        _ => None,
    });
    seed.unwrap_or_default()
}

/// What one phase leaves for the next ones.
#[derive(Default)]
struct Carried {
    placed: Option<data::Placed>,
    schema: Option<nbctl_core::playbook::Schema>,
}

impl Carried {
    fn placed(&self, phase: &str) -> Result<&data::Placed, Failure> {
        self.placed.as_ref().ok_or_else(|| {
            Failure::inventory(format!("{phase} comes before data"))
                .hint("put `data` first in the playbook")
        })
    }

    fn schema(&self, phase: &str) -> Result<&nbctl_core::playbook::Schema, Failure> {
        self.schema.as_ref().ok_or_else(|| {
            Failure::inventory(format!("{phase} comes before schema"))
                .hint("put `schema` before it in the playbook")
        })
    }
}

async fn phases(
    bench: &Bench<'_>,
    playbook: &Playbook,
    store: &mut RunStore,
) -> Result<(), Failure> {
    let mut carried = Carried::default();
    for phase in &playbook.phases {
        if bench.cancel.is_cancelled() {
            return Err(crate::interrupt::failure());
        }
        if let Phase::Stress(wanted) = phase {
            stress_all(bench, wanted, &carried, store).await?;
        } else {
            let index = start(bench, store, phase.name())?;
            let done = one(bench, phase, &mut carried, store).await;
            end(bench, store, index, done)?;
        }
    }
    Ok(())
}

async fn one(
    bench: &Bench<'_>,
    phase: &Phase,
    carried: &mut Carried,
    store: &mut RunStore,
) -> Result<Done, Failure> {
    match phase {
        Phase::Data(wanted) => {
            let (placed, done) = data::run(bench, wanted).await?;
            store.add_inputs(data::inputs(&placed.set))?;
            carried.placed = Some(placed);
            Ok(done)
        }
        Phase::Schema(wanted) => {
            let done = schema::run(bench, wanted, &carried.placed("schema")?.set).await?;
            carried.schema = Some(wanted.clone());
            Ok(done)
        }
        Phase::Import(wanted) => {
            let placed = carried.placed("import")?;
            import::run(bench, wanted, carried.schema("import")?, placed).await
        }
        Phase::Compact(_) => compact::run(bench, &carried.schema("compact")?.space).await,
        Phase::Settle(wanted) => settle::run(bench, wanted).await,
        Phase::Stress(_) => Err(Failure::step("stress is more than one phase")),
    }
}

/// Each scenario at each load is a phase of its own.
async fn stress_all(
    bench: &Bench<'_>,
    wanted: &Stress,
    carried: &Carried,
    store: &mut RunStore,
) -> Result<(), Failure> {
    let (placed, schema) = (carried.placed("stress")?, carried.schema("stress")?);
    let file = stress::scenarios(&bench.ctx.assets)?;
    for name in &wanted.scenarios {
        let scenario = file.find(name)?;
        for &concurrency in &wanted.concurrency {
            let index = start(bench, store, &format!("stress {name} {concurrency}"))?;
            let run = stress::Run {
                scenario,
                space: &schema.space,
                vid: &schema.vid,
                concurrency,
                warmup_s: wanted.warmup_s,
                duration_s: wanted.duration_s,
                seed: store.manifest().seed,
            };
            let done = stress::run(bench, &run, placed).await;
            end(bench, store, index, done)?;
        }
    }
    Ok(())
}

fn start(bench: &Bench<'_>, store: &mut RunStore, name: &str) -> Result<u32, Failure> {
    bench.ctx.sink.emit(Event::PhaseStarted {
        phase: name.to_owned(),
        steps: None,
    });
    store.begin_phase(name, now_ms())
}

/// Records how a phase ended; its failure, if any, is given back after that.
fn end(
    bench: &Bench<'_>,
    store: &mut RunStore,
    index: u32,
    done: Result<Done, Failure>,
) -> Result<(), Failure> {
    let begun = store
        .manifest()
        .phases
        .iter()
        .find(|phase| phase.index == index);
    let (name, start_ms) = begun
        .map(|p| (p.name.clone(), p.window.start_ms))
        .unwrap_or_default();
    let now = now_ms();
    let whole = Window {
        start_ms,
        end_ms: now,
    };
    let outcome = match done {
        Ok(done) => {
            let window = done.window.unwrap_or(whole);
            bench.course.phase(&name, window);
            store.end_phase(index, window, Outcome::Done, done.result)?;
            for (clock, histogram) in &done.histograms {
                store.put_histogram(index, clock, histogram)?;
            }
            done.notes
                .into_iter()
                .try_for_each(|note| store.note(index, note))
        }
        Err(failure) => {
            let empty = PhaseResult::Plain(Vec::new());
            store.end_phase(index, whole, Outcome::failed(&failure), empty)?;
            Err(failure)
        }
    };
    bench.ctx.sink.emit(Event::PhaseFinished {
        phase: name,
        changed: 0,
        millis: u64::try_from(now - start_ms).unwrap_or_default(),
    });
    outcome
}

/// Reads Prometheus over each phase's window, once the last scrape of the last phase is in.
async fn observe_hosts(
    ctx: &Context,
    fleet: &crate::remote::Fleet,
    store: &mut RunStore,
) -> Result<(), Failure> {
    let Some(base) = prometheus(ctx, fleet).await else {
        ctx.sink
            .warn("hosts are not observed: the inventory has no Prometheus".to_owned());
        return Ok(());
    };
    let table = QueryTable::parse(&ctx.assets.text(metrics::TABLE)?)?;
    tokio::time::sleep(Duration::from_secs(u64::from(table.scrape_seconds) + 1)).await;
    let prometheus = Prometheus::new(base);
    let indexes: Vec<u32> = store
        .manifest()
        .phases
        .iter()
        .map(|phase| phase.index)
        .collect();
    for index in indexes {
        metrics::record_phase(store, index, &prometheus, &table).await?;
    }
    Ok(())
}

async fn prometheus(ctx: &Context, fleet: &crate::remote::Fleet) -> Option<String> {
    let monitor = ctx.cluster.monitor.as_ref()?;
    let port = monitor.ports.get(&Component::Prometheus)?;
    let host = ctx.cluster.host(&monitor.host)?;
    let address = fleet.dial(&format!("{}:{port}", host.address)).await.ok()?;
    Some(format!("http://{address}"))
}

/// Writes the report and prints the verdict.
fn conclude(ctx: &Context, store: &RunStore) -> anyhow::Result<ExitCode> {
    let paths = report::write_all(store, &Format::ALL, None, &ctx.assets)?;
    let verdict = Verdict::of(store.manifest());
    let report = paths
        .first()
        .map(|path| path.display().to_string())
        .unwrap_or_default();
    let text = format!("report:  {report}\nverdict: {}", verdict.line());
    ctx.reporter.result(
        &text,
        &serde_json::json!({ "report": report, "verdict": verdict }),
    )?;
    Ok(verdict.exit_code())
}
