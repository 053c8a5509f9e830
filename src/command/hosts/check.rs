//! `nbctl hosts check`: the preflight table.

use comfy_table::{Table, presets};
use nbctl_core::deploy::{self, Check, Facts, Given, Level, Observed, Rendered};
use nbctl_core::failure::{ExitCode, Failure};
use nbctl_core::inventory::{Selection, contract_ranges};
use nbctl_core::package::PackageChoice;
use nbctl_core::units::HostName;

use super::apply;
use crate::cli::Apply;
use crate::command::Working;
use crate::context::Context;
use crate::interrupt;
use crate::phase::many::Many;
use crate::phase::{facts, package};

pub(super) async fn run(
    ctx: &Context,
    selection: &Selection,
    args: &Apply,
) -> anyhow::Result<ExitCode> {
    let many = Many::connect(ctx, selection).await?;
    let mut seen = Seen::of(ctx, selection, &many).await?;
    if args.apply && apply::run(ctx, &many.fleet, &seen, &args.only).await? {
        // Limits and groups count for new logins only.
        many.fleet.end().await;
        let fresh = Many::connect(ctx, selection).await?;
        seen = Seen::of(ctx, selection, &fresh).await?;
        fresh.fleet.close().await;
    } else {
        many.fleet.close().await;
    }
    show(ctx, &seen.checks)?;
    Ok(verdict(&seen))
}

/// The hosts as they are, and what there is to say about them.
pub(super) struct Seen {
    facts: Facts,
    packages: PackageChoice,
    rendered: Rendered,
    lost: Vec<(HostName, Failure)>,
    /// Rows of the selected hosts.
    pub(super) checks: Vec<Check>,
}

impl Seen {
    async fn of(ctx: &Context, selection: &Selection, many: &Many) -> Result<Self, Failure> {
        let (facts, lost) = look(ctx, many).await;
        let mut seen = Self {
            packages: packages(ctx, &facts).await,
            facts,
            rendered: Working::rendered(ctx)?,
            lost,
            checks: Vec::new(),
        };
        let mut checks = seen.given(ctx, |given| deploy::preflight(given, &seen.lost));
        let meant = |name: &HostName| {
            let host = ctx.cluster.host(name);
            host.is_some_and(|host| selection.has_host(host))
        };
        checks.retain(|check| meant(&check.host));
        seen.checks = checks;
        Ok(seen)
    }

    /// For what the core works out of it.
    pub(super) fn given<T>(&self, ctx: &Context, work: impl FnOnce(&Given<'_>) -> T) -> T {
        work(&Given {
            cluster: &ctx.cluster,
            facts: &self.facts,
            packages: &self.packages,
            rendered: &self.rendered,
            observed: &Observed::default(),
            control: &Context::control_name(),
        })
    }
}

/// Facts of the hosts that answer; why the others do not.
async fn look(ctx: &Context, many: &Many) -> (Facts, Vec<(HostName, Failure)>) {
    let cancel = interrupt::token();
    let ended = many
        .try_each(&cancel, |link| facts::thorough(&ctx.cluster, link))
        .await;
    let (mut facts, mut lost) = (Facts::new(), Vec::new());
    for (host, result) in ended {
        match result {
            Ok(of_host) => drop(facts.insert(host, of_host)),
            Err(failure) => lost.push((host, failure)),
        }
    }
    (facts, lost)
}

/// Without a package the other checks are still worth something.
async fn packages(ctx: &Context, facts: &Facts) -> PackageChoice {
    if facts.is_empty() {
        return PackageChoice::new();
    }
    package::at_hand(ctx, &ctx.cluster, facts)
        .await
        .unwrap_or_else(|failure| {
            ctx.sink.warn(failure.to_string());
            PackageChoice::new()
        })
}

fn show(ctx: &Context, checks: &[Check]) -> std::io::Result<()> {
    let count = |level| checks.iter().filter(|check| check.level == level).count();
    let value = serde_json::json!({
        "cluster": ctx.cluster.name,
        "failed": count(Level::Fail),
        "warned": count(Level::Warn),
        "passed": count(Level::Pass),
        "checks": checks,
    });
    let counts = format!(
        "{}: {} failed, {} warned, {} passed",
        ctx.cluster.name,
        count(Level::Fail),
        count(Level::Warn),
        count(Level::Pass),
    );
    let (rows, more) = rows(checks, ctx.global.verbose);
    let text = format!("{rows}{counts}{more}");
    ctx.reporter.result(&text, &value)
}

/// What is well is told on request only; the same of several hosts is one row.
fn rows(checks: &[Check], all: bool) -> (String, &'static str) {
    let mut rows: Vec<(Vec<&str>, &Check)> = Vec::new();
    for check in checks
        .iter()
        .filter(|check| all || check.level != Level::Pass)
    {
        match rows.iter_mut().find(|(_, known)| same(known, check)) {
            Some((hosts, _)) => hosts.push(check.host.as_str()),
            None => rows.push((vec![check.host.as_str()], check)),
        }
    }
    let more = if all { "" } else { "; -v shows those, too" };
    if rows.is_empty() {
        return (String::new(), more);
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["node", "check", "result", "message", "fix"]);
    for (hosts, check) in rows {
        table.add_row([
            contract_ranges(hosts).join(", ").as_str(),
            check.check,
            check.level.as_str(),
            &check.message,
            check.fix.as_deref().unwrap_or_default(),
        ]);
    }
    (format!("{table}\n"), more)
}

fn same(one: &Check, other: &Check) -> bool {
    let key = |check: &Check| (check.check, check.level);
    key(one) == key(other) && one.message == other.message && one.fix == other.fix
}

fn verdict(seen: &Seen) -> ExitCode {
    if !seen.lost.is_empty() {
        return ExitCode::Host;
    }
    let mut checks = seen.checks.iter();
    if checks.any(|check| check.level == Level::Fail) {
        ExitCode::Unhealthy
    } else {
        ExitCode::Good
    }
}
