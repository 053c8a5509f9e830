//! `nbctl deploy [INVENTORY]`: plan, confirm, apply, verify; a second time: nothing to do.

use std::time::Instant;

use nbctl_core::deploy::{self, Check, Given, Level, Observed};
use nbctl_core::failure::{ExitCode, Failure};
use nbctl_core::inventory::contract_ranges;
use nbctl_core::plan::Plan;
use nbctl_core::status;
use nbctl_core::units::counted;

use crate::command::{Working, confirm};
use crate::context::{Context, LAST_DEPLOY};
use crate::phase::{connect, facts, lease, observe, package};

pub(super) async fn run(ctx: &Context) -> anyhow::Result<ExitCode> {
    let begun = Instant::now();
    let (plan, round_trips) = converge(ctx).await?;
    if ctx.global.dry_run {
        ctx.reporter.result(&shown(&plan), &plan)?;
        return Ok(ExitCode::Good);
    }
    let text = summary(ctx, &plan, begun);
    ctx.reporter.result(
        &text,
        &serde_json::json!({ "cluster": ctx.cluster.name, "steps": plan.len(), "round_trips": round_trips }),
    )?;
    Ok(ExitCode::Good)
}

/// Makes the cluster what the inventory says; gives what was to do, and how often the busiest host was asked. A dry run
/// changes nothing.
pub(super) async fn converge(ctx: &Context) -> Result<(Plan, u64), Failure> {
    let working = Working::new(ctx).await?;
    let fleet = connect::all(ctx).await?;
    let mut plan = plan(ctx, &working, &fleet, true).await?;
    if !plan.is_empty() && !ctx.global.dry_run {
        confirm::apply(ctx, &shown(&plan))?;
        remember(ctx)?;
        plan = apply(ctx, &working, &fleet, (&plan, "deploy")).await?;
    }
    let round_trips = fleet.round_trips();
    fleet.close().await;
    Ok((plan, round_trips))
}

/// What is to be done that the hosts are as the inventory says; nobody is told what the checks remark.
pub(super) async fn wanted(
    ctx: &Context,
    working: &Working,
    fleet: &crate::remote::Fleet,
) -> Result<Plan, Failure> {
    plan(ctx, working, fleet, false).await
}

/// Marks the folders, in which the leases can lie then, and does what is left to do: somebody else may have worked
/// there between the first look and the lease.
pub(super) async fn apply(
    ctx: &Context,
    working: &Working,
    fleet: &crate::remote::Fleet,
    (first, command): (&Plan, &str),
) -> Result<Plan, Failure> {
    let (claims, rest) = deploy::split_claims(first);
    working.apply(ctx, fleet, &claims).await?;
    let scope = working.scope(ctx, fleet, command);
    lease::under(&scope, async {
        let now = plan(ctx, working, fleet, false).await?;
        if now != rest && !now.is_empty() {
            confirm::apply(ctx, &format!("the hosts have changed meanwhile\n{now}"))?;
        }
        working.apply(ctx, fleet, &now).await?;
        verify(ctx, working, fleet).await?;
        let mut done = claims;
        done.extend(now);
        Ok(done)
    })
    .await
}

async fn plan(
    ctx: &Context,
    working: &Working,
    fleet: &crate::remote::Fleet,
    told: bool,
) -> Result<Plan, Failure> {
    let (facts, seen) = tokio::join!(
        facts::gather(&ctx.cluster, fleet),
        observe::cluster(&ctx.cluster, fleet, &working.graph)
    );
    let facts = facts?;
    let packages = package::obtain(ctx, &ctx.cluster, &facts).await?;
    let rendered = Working::rendered(ctx)?;
    let given = Given {
        cluster: &ctx.cluster,
        facts: &facts,
        packages: &packages,
        rendered: &rendered,
        observed: &seen.observed,
        control: &Context::control_name(),
    };
    if told {
        warn(ctx, &deploy::checks(&given));
        settings(ctx, &deploy::settings(&given));
        advise(ctx, &given);
    }
    let plan = deploy::plan(&given)?;
    if told && plan.is_empty() {
        right_build(ctx, &seen)?;
    }
    Ok(plan)
}

fn advise(ctx: &Context, given: &Given<'_>) {
    for advice in deploy::advice(given) {
        let whom = if advice.hosts.is_empty() {
            ctx.cluster.name.clone()
        } else {
            contract_ranges(advice.hosts.iter().map(String::as_str)).join(", ")
        };
        ctx.sink.note(format!("advice: {whom}: {}", advice.text));
    }
}

/// The same remark of several hosts is one warning.
fn warn(ctx: &Context, checks: &[Check]) {
    let mut remarks: Vec<(Vec<&str>, &Check)> = Vec::new();
    for check in checks.iter().filter(|check| check.level == Level::Warn) {
        let same = |known: &Check| known.message == check.message && known.fix == check.fix;
        match remarks.iter_mut().find(|(_, known)| same(known)) {
            Some((hosts, _)) => hosts.push(check.host.as_str()),
            None => remarks.push((vec![check.host.as_str()], check)),
        }
    }
    for (hosts, check) in remarks {
        let fix = check.fix.as_ref();
        let fix = fix.map_or_else(String::new, |fix| {
            format!(
                "
  fix: {fix}"
            )
        });
        ctx.sink.warn(format!(
            "{}: {}: {}{fix}",
            contract_ranges(hosts).join(", "),
            check.check,
            check.message
        ));
    }
}

/// Settings of the hosts are told in one line: they are no fault of this deploy.
fn settings(ctx: &Context, checks: &[Check]) {
    let unusual = checks.iter().filter(|check| check.level == Level::Warn);
    let mut names: Vec<&str> = unusual.map(|check| check.check).collect();
    names.sort_unstable();
    names.dedup();
    if !names.is_empty() {
        let names = names.join(", ");
        ctx.sink.warn(format!(
            "kernel settings of hosts are not as NebulaGraph's makers advise: {names}; `nbctl hosts check` tells more"
        ));
    }
}

/// Reads the flags back and compares them with what was rendered.
pub(super) async fn verify(
    ctx: &Context,
    working: &Working,
    fleet: &crate::remote::Fleet,
) -> Result<(), Failure> {
    let seen = observe::cluster(&ctx.cluster, fleet, &working.graph).await;
    right_build(ctx, &seen)?;
    let wrong = flag_differences(ctx, &seen.observed);
    if wrong.is_empty() {
        return Ok(());
    }
    Err(
        Failure::cluster("daemons run with other flags than the inventory asks for")
            .lines(wrong)
            .hint("a flag the release line does not know is ignored by it without a word"),
    )
}

/// What runs is the build that it should be; a nightly build may hold an older tree than its date says.
fn right_build(ctx: &Context, seen: &observe::Seen) -> Result<(), Failure> {
    let promise = package::promise(&ctx.cluster);
    if let Some(remark) = status::unnamed(&ctx.cluster, promise.as_ref(), &seen.answers) {
        ctx.sink.warn(remark);
    }
    let other = promise.map(|promise| status::other_builds(&seen.answers, &promise));
    let other = other.unwrap_or_default();
    if other.is_empty() {
        return Ok(());
    }
    Err(
        Failure::cluster("daemons are not the build that the package should hold")
            .lines(other)
            .hint("fetch the package again or take another one; if it is what you want, mend `nebula.commit` or commit.txt"),
    )
}

fn flag_differences(ctx: &Context, observed: &Observed) -> Vec<String> {
    let mut wrong = Vec::new();
    for daemon in &ctx.cluster.daemons {
        match observed.flags.get(&daemon.id()) {
            None => wrong.push(format!("{}: /flags did not answer", daemon.id())),
            Some(read) => {
                let differences = deploy::differences(&daemon.flags, read);
                wrong.extend(differences.iter().map(|d| format!("{}: {d}", daemon.id())));
            }
        }
    }
    wrong
}

/// The next command in this folder means this inventory.
fn remember(ctx: &Context) -> Result<(), Failure> {
    let path = ctx.state_dir.join(LAST_DEPLOY);
    let file = std::path::absolute(&ctx.cluster.source.file)
        .unwrap_or_else(|_| ctx.cluster.source.file.clone());
    std::fs::create_dir_all(&ctx.state_dir)
        .and_then(|()| std::fs::write(&path, format!("{}\n", file.display())))
        .map_err(|error| {
            Failure::usage(format!("cannot write the state folder: {error}"))
                .at(path.display().to_string())
        })
}

fn shown(plan: &Plan) -> String {
    if plan.is_empty() {
        "nothing to do".to_owned()
    } else {
        plan.to_string()
    }
}

fn summary(ctx: &Context, plan: &Plan, begun: Instant) -> String {
    let name = &ctx.cluster.name;
    let seconds = begun.elapsed().as_secs_f64();
    if plan.is_empty() {
        return format!(
            "{name}: nothing to do; the cluster is as the inventory asks ({seconds:.1} s)"
        );
    }
    format!(
        "{name}: deployed and verified, {} ({seconds:.1} s)",
        counted(plan.len(), "step")
    )
}
