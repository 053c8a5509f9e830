//! `nbctl hosts ping`: connect, run one small script, show the ssh line.

use std::time::{Duration, Instant};

use comfy_table::{Table, presets};
use nbctl_core::failure::{ExitCode, Failure};
use nbctl_core::inventory::Selection;
use nbctl_core::plan::Script;
use serde::Serialize;

use crate::context::Context;
use crate::interrupt;
use crate::phase::many::Many;
use crate::remote::Link;

/// A host that takes longer for nothing is not well.
const PATIENCE: Duration = Duration::from_secs(20);

/// One host.
#[derive(Debug, Serialize)]
struct Row {
    host: String,
    reached: bool,
    /// Of one small script on the open connection.
    round_trip_ms: Option<f64>,
    /// The login, or why there is none.
    message: String,
    /// What a user can type to see the same.
    ssh: Option<String>,
}

pub(super) async fn run(ctx: &Context, selection: &Selection) -> anyhow::Result<ExitCode> {
    let cancel = interrupt::token();
    let many = Many::connect(ctx, selection).await?;
    let ended = many.try_each(&cancel, one).await;
    many.fleet.close().await;
    let rows: Vec<Row> = ended
        .into_iter()
        .map(|(host, result)| result.unwrap_or_else(|failure| lost(host.to_string(), failure)))
        .collect();
    ctx.reporter.result(&text(&rows), &rows)?;
    let all = rows.iter().all(|row| row.reached);
    Ok(if all { ExitCode::Good } else { ExitCode::Host })
}

async fn one(link: &Link) -> Result<Row, Failure> {
    let script = Script {
        text: "printf '%s on %s, %s %s\\n' \"$(id -un)\" \"$(uname -n)\" \"$(uname -s)\" \"$(uname -r)\"".to_owned(),
        sudo: false,
        timeout: PATIENCE,
    };
    let begun = Instant::now();
    let output = link.must("ping", &script).await?;
    Ok(Row {
        host: link.host().to_string(),
        reached: true,
        round_trip_ms: Some(begun.elapsed().as_secs_f64() * 1000.0),
        message: output.stdout.trim().to_owned(),
        ssh: link.by_hand(),
    })
}

fn lost(host: String, failure: Failure) -> Row {
    let tried = failure
        .detail
        .iter()
        .find_map(|line| line.strip_prefix("try: "));
    let hint = failure
        .hint
        .map_or_else(String::new, |hint| format!(" ({hint})"));
    Row {
        host,
        reached: false,
        round_trip_ms: None,
        ssh: tried.map(str::to_owned),
        message: failure.what + &hint,
    }
}

fn text(rows: &[Row]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["host", "reached", "round trip", "", "by hand"]);
    for row in rows {
        let time = row.round_trip_ms.map(|ms| format!("{ms:.1} ms"));
        table.add_row([
            row.host.clone(),
            if row.reached { "yes" } else { "NO" }.to_owned(),
            time.unwrap_or_else(|| "-".to_owned()),
            row.message.clone(),
            row.ssh.clone().unwrap_or_else(|| "this machine".to_owned()),
        ]);
    }
    let reached = rows.iter().filter(|row| row.reached).count();
    format!("{table}\n{reached} of {} hosts reached", rows.len())
}
