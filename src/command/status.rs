//! `nbctl status`: does the cluster equal its inventory?

use comfy_table::{Table, presets};
use nbctl_core::failure::ExitCode;
use nbctl_core::status::{self, Row, Seen, Status};

use crate::command::Working;
use crate::context::Context;
use crate::phase::{connect, facts, observe, package};

pub(super) async fn run(ctx: &Context) -> anyhow::Result<ExitCode> {
    let working = Working::new(ctx).await?;
    let fleet = connect::all(ctx).await?;
    let (facts, seen) = tokio::join!(
        facts::of_daemons(&ctx.cluster, &fleet),
        observe::cluster(&ctx.cluster, &fleet, &working.graph)
    );
    let facts = facts?;
    let rendered = Working::rendered(ctx)?;
    let promise = package::promise(&ctx.cluster);
    let status = status::status(&Seen {
        cluster: &ctx.cluster,
        facts: &facts,
        rendered: &rendered,
        observed: &seen.observed,
        answers: &seen.answers,
        promise: promise.as_ref(),
    });
    fleet.close().await;
    ctx.reporter
        .result(&text(&ctx.cluster.name, &status), &status)?;
    Ok(if status.equal {
        ExitCode::Good
    } else {
        ExitCode::Unhealthy
    })
}

fn text(name: &str, status: &Status) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header([
        "daemon",
        "endpoint",
        "pid",
        "ports",
        "serves",
        "online",
        "build",
        "problems and remarks",
    ]);
    for row in &status.rows {
        table.add_row(cells(row));
    }
    let mut text = table.to_string();
    for problem in &status.problems {
        text.push_str("\nproblem: ");
        text.push_str(problem);
    }
    for remark in &status.remarks {
        text.push_str("\nremark: ");
        text.push_str(remark);
    }
    let verdict = if status.equal {
        "equals its inventory"
    } else {
        "differs from its inventory"
    };
    format!(
        "{text}
{name}: {verdict}"
    )
}

fn cells(row: &Row) -> [String; 8] {
    let yes_no = |yes: bool| if yes { "yes" } else { "NO" }.to_owned();
    let dash = || "-".to_owned();
    [
        row.daemon.clone(),
        row.endpoint.clone(),
        row.pid.map_or_else(dash, |pid| pid.to_string()),
        format!("{}/{}", row.ports_open, row.ports),
        yes_no(row.serves),
        row.online.map_or_else(dash, yes_no),
        row.sha.clone().unwrap_or_else(dash),
        row.problems
            .iter()
            .chain(&row.remarks)
            .cloned()
            .collect::<Vec<_>>()
            .join("; "),
    ]
}
