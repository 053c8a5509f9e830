//! `nbctl config show|diff|set|roll`: the configuration that running daemons really have.

use std::collections::BTreeMap;
use std::time::Instant;

use comfy_table::{Table, presets};
use nbctl_core::config::{self, Asked, Deviation, Roll, RollGiven, Row, Told};
use nbctl_core::failure::{ExitCode, Failure};
use nbctl_core::flags::Change;
use nbctl_core::inventory::{Selection, is_like};
use nbctl_core::plan::Plan;

use crate::cli::{Config, ConfigShow, Pick};
use crate::command::{Working, confirm};
use crate::context::Context;
use crate::phase::{config as phase, connect, facts};
use crate::remote::Fleet;

pub(super) async fn run(args: &Config, ctx: &Context) -> anyhow::Result<ExitCode> {
    match args {
        Config::Show(show) => self::show(ctx, show).await,
        Config::Diff { pick } => diff(ctx, pick).await,
        Config::Set(set) => self::set(ctx, &set.pick, set.flag.iter().cloned().collect()).await,
        Config::Roll { pick } => roll(ctx, pick).await,
    }
}

/// What is meant, and what those daemons answered.
struct Answers {
    selection: Selection,
    told: BTreeMap<String, Told>,
}

impl Answers {
    async fn ask(ctx: &Context, fleet: &Fleet, pick: &Pick) -> Result<Self, Failure> {
        let selection = Selection::new(&ctx.cluster, &pick.host, &pick.role)?;
        let told = phase::ask(&ctx.cluster, &selection, fleet).await;
        Ok(Self { selection, told })
    }

    fn of<'a>(&'a self, ctx: &'a Context) -> Asked<'a> {
        Asked {
            cluster: &ctx.cluster,
            told: &self.told,
            selection: &self.selection,
        }
    }
}

async fn show(ctx: &Context, args: &ConfigShow) -> anyhow::Result<ExitCode> {
    let fleet = connect::all(ctx).await?;
    let answers = Answers::ask(ctx, &fleet, &args.pick).await?;
    fleet.close().await;
    let asked = answers.of(ctx);
    let silent = asked.silent();
    for daemon in &silent {
        ctx.sink.warn(format!("{daemon}: /flags does not answer"));
    }
    let rows: Vec<Row> = asked
        .rows()
        .into_iter()
        .filter(|row| is_wanted(row, args))
        .collect();
    ctx.reporter.result(&table(&rows), &rows)?;
    Ok(if silent.is_empty() {
        ExitCode::Good
    } else {
        ExitCode::Unhealthy
    })
}

fn is_wanted(row: &Row, args: &ConfigShow) -> bool {
    if !args.flag.is_empty() {
        let base = row.flag.split('.').next().unwrap_or_default();
        return args
            .flag
            .iter()
            .any(|pattern| is_like(&row.flag, pattern) || is_like(base, pattern));
    }
    args.all || row.inventory.is_some() || row.effective != row.default
}

fn table(rows: &[Row]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header([
        "daemon",
        "flag",
        "effective",
        "inventory",
        "default",
        "change",
        "",
    ]);
    let cell = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    for row in rows {
        let change = match row.change {
            Some(Change::Dynamic) => "set",
            Some(Change::Restart) => "restart",
            None => "-",
        };
        let mark = if row.differs { "DIFFERS" } else { "" };
        table.add_row([
            row.daemon.clone(),
            row.flag.clone(),
            cell(&row.effective),
            cell(&row.inventory),
            cell(&row.default),
            change.to_owned(),
            mark.to_owned(),
        ]);
    }
    table.to_string()
}

async fn diff(ctx: &Context, pick: &Pick) -> anyhow::Result<ExitCode> {
    let fleet = connect::all(ctx).await?;
    let answers = Answers::ask(ctx, &fleet, pick).await?;
    fleet.close().await;
    let found = answers.of(ctx).diff();
    let text = if found.is_empty() {
        format!(
            "{}: daemons work with what the inventory asks for",
            ctx.cluster.name
        )
    } else {
        found
            .iter()
            .map(Deviation::to_string)
            .collect::<Vec<_>>()
            .join("\n")
    };
    ctx.reporter.result(&text, &found)?;
    Ok(if found.is_empty() {
        ExitCode::Good
    } else {
        ExitCode::Unhealthy
    })
}

async fn set(
    ctx: &Context,
    pick: &Pick,
    wanted: BTreeMap<String, String>,
) -> anyhow::Result<ExitCode> {
    let begun = Instant::now();
    let working = Working::new(ctx).await?;
    let fleet = connect::all(ctx).await?;
    let answers = Answers::ask(ctx, &fleet, pick).await?;
    let plan = config::set(&answers.of(ctx), &wanted)?;
    let done = apply(ctx, &working, &fleet, &plan, &[]).await;
    fleet.close().await;
    if !done? {
        return Ok(ExitCode::Good);
    }
    let text = format!(
        "{}: {} daemons set and read back ({:.1} s); a restart brings back what the inventory says",
        ctx.cluster.name,
        plan.len(),
        begun.elapsed().as_secs_f64()
    );
    ctx.reporter.result(
        &text,
        &serde_json::json!({ "cluster": ctx.cluster.name, "steps": plan.len() }),
    )?;
    Ok(ExitCode::Good)
}

async fn roll(ctx: &Context, pick: &Pick) -> anyhow::Result<ExitCode> {
    let begun = Instant::now();
    let working = Working::new(ctx).await?;
    let fleet = connect::all(ctx).await?;
    let answers = Answers::ask(ctx, &fleet, pick).await?;
    let facts = facts::gather(&ctx.cluster, &fleet).await?;
    let rendered = Working::rendered(ctx)?;
    let spaces = phase::spaces(&working.graph, &fleet).await;
    let Roll { plan, remarks } = config::roll(&RollGiven {
        asked: answers.of(ctx),
        facts: &facts,
        rendered: &rendered,
        spaces: spaces.as_deref(),
    })?;
    let balances = plan
        .stages
        .iter()
        .any(|stage| stage.name == "balance leaders");
    if !apply(ctx, &working, &fleet, &plan, &remarks).await? {
        fleet.close().await;
        return Ok(ExitCode::Good);
    }
    let verified = verify(ctx, &fleet, pick).await;
    if balances {
        phase::leaders_even(&working.graph, &fleet, &*ctx.sink, &working.cancel()).await?;
    }
    fleet.close().await;
    verified?;
    let text = format!(
        "{}: rolled and verified, {} steps ({:.1} s)",
        ctx.cluster.name,
        plan.len(),
        begun.elapsed().as_secs_f64()
    );
    ctx.reporter.result(&text, &serde_json::json!({ "cluster": ctx.cluster.name, "steps": plan.len(), "remarks": remarks }))?;
    Ok(ExitCode::Good)
}

/// Shows the steps or does them; false when there was nothing to do, or nothing was to be done.
async fn apply(
    ctx: &Context,
    working: &Working,
    fleet: &Fleet,
    plan: &Plan,
    remarks: &[String],
) -> anyhow::Result<bool> {
    for remark in remarks {
        ctx.sink.warn(remark.clone());
    }
    if ctx.global.dry_run {
        let text = if plan.is_empty() {
            "nothing to do".to_owned()
        } else {
            plan.to_string()
        };
        ctx.reporter.result(&text, plan)?;
        return Ok(false);
    }
    if plan.is_empty() {
        let text = format!("{}: nothing to do", ctx.cluster.name);
        ctx.reporter.result(
            &text,
            &serde_json::json!({ "cluster": ctx.cluster.name, "steps": 0 }),
        )?;
        return Ok(false);
    }
    confirm::apply(ctx, &plan.to_string())?;
    working.apply(ctx, fleet, plan).await?;
    Ok(true)
}

/// Asks again: what was rolled out must be what the daemons work with.
async fn verify(ctx: &Context, fleet: &Fleet, pick: &Pick) -> Result<(), Failure> {
    let answers = Answers::ask(ctx, fleet, pick).await?;
    let wrong = answers.of(ctx).diff();
    if wrong.is_empty() {
        return Ok(());
    }
    Err(
        Failure::cluster("daemons still work with other flags than the inventory asks for")
            .lines(wrong.iter().map(ToString::to_string))
            .hint("a flag the release line does not know is ignored by it without a word"),
    )
}
