//! `nbctl config show|diff|set|roll`: the configuration that running daemons really have.

mod change;

use std::collections::BTreeMap;

use comfy_table::{Table, presets};
use nbctl_core::config::{Asked, Deviation, Limit, Row, Told};
use nbctl_core::failure::{ExitCode, Failure};
use nbctl_core::flags::Change;
use nbctl_core::inventory::{Selection, is_like};

use crate::cli::{Config, ConfigShow, Pick};
use crate::context::Context;
use crate::phase::{config as phase, connect};
use crate::remote::Fleet;

use self::change::What;

pub(super) async fn run(args: &Config, ctx: &Context) -> anyhow::Result<ExitCode> {
    match args {
        Config::Show(show) => self::show(ctx, show).await,
        Config::Diff { pick } => diff(ctx, pick).await,
        Config::Set(set) => {
            let wanted = What::Set(set.flag.iter().cloned().collect());
            change::run(ctx, &set.pick, wanted, "config set").await
        }
        Config::Roll { pick } => {
            let what = What::Roll(Limit::Restart);
            change::run(ctx, pick, what, "config roll").await
        }
    }
}

/// Brings all daemons back to the inventory, no further than `limit`.
pub(super) async fn reset(ctx: &Context, limit: Limit) -> anyhow::Result<ExitCode> {
    let name = match limit {
        Limit::Set => "reset set",
        Limit::Restart => "reset roll",
    };
    change::run(ctx, &Pick::default(), What::Roll(limit), name).await
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
