//! What running daemons say about their configuration, and spaces about their copies.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::future::join_all;
use nbctl_core::config::{Space, Told};
use nbctl_core::failure::Failure;
use nbctl_core::inventory::{Cluster, Daemon, Selection};
use nebula_wire::value::{DataSet, Value};
use tokio_util::sync::CancellationToken;

use crate::event::Sink;
use crate::graph::GraphService;
use crate::http;
use crate::remote::Fleet;

/// A daemon that is up answers far sooner.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long leaders may take to spread.
const LEADERS: Duration = Duration::from_mins(2);
const PAUSE: Duration = Duration::from_secs(1);

/// Flags of every daemon that is meant and answers, by daemon (`metad@s1`).
pub async fn ask(
    cluster: &Cluster,
    selection: &Selection,
    fleet: &Fleet,
) -> BTreeMap<String, Told> {
    let meant = cluster.daemons.iter().filter(|d| selection.has_daemon(d));
    let answers = join_all(meant.map(|daemon| of_daemon(daemon, fleet))).await;
    answers.into_iter().flatten().collect()
}

async fn of_daemon(daemon: &Daemon, fleet: &Fleet) -> Option<(String, Told)> {
    let address = fleet.dial(&daemon.http_endpoint()).await.ok()?;
    let url = format!("http://{address}/flags?format=json&verbose=true");
    let text = http::get_text(&url, PATIENCE).await.ok()?;
    Some((daemon.id(), Told::parse(&text).ok()?))
}

/// Every space with its replica factor; `None` when no graphd can be asked.
pub async fn spaces(graph: &GraphService, fleet: &Fleet) -> Option<Vec<Space>> {
    let mut session = graph.session(fleet).await.ok()?;
    let names = session
        .rows("SHOW SPACES")
        .await
        .map(|table| texts(&table, 0));
    let mut spaces = Vec::new();
    for name in names.unwrap_or_default() {
        let described = session.rows(&format!("DESC SPACE `{name}`")).await;
        let replicas = described
            .ok()
            .and_then(|table| number(&table, 0, "Replica Factor"));
        spaces.push(Space {
            name,
            replicas: replicas.and_then(|n| u32::try_from(n).ok()).unwrap_or(1),
        });
    }
    session.close().await;
    Some(spaces)
}

/// Waits until no storaged leads more than its share; tells when that does not come.
///
/// # Errors
/// Interrupted.
pub async fn leaders_even(
    graph: &GraphService,
    fleet: &Fleet,
    sink: &dyn Sink,
    cancel: &CancellationToken,
) -> Result<(), Failure> {
    let end = tokio::time::Instant::now() + LEADERS;
    loop {
        let seen = leaders(graph, fleet).await;
        if seen.as_ref().is_ok_and(|counts| is_even(counts)) {
            return Ok(());
        }
        if tokio::time::Instant::now() >= end {
            let seen = seen.map_or_else(|failure| failure.what, |counts| format!("{counts:?}"));
            sink.warn(format!("leaders are not spread evenly yet: {seen}"));
            return Ok(());
        }
        tokio::select! {
            () = tokio::time::sleep(PAUSE) => {}
            () = cancel.cancelled() => return Err(crate::interrupt::failure()),
        }
    }
}

/// Leaders of every storaged in SHOW HOSTS.
async fn leaders(graph: &GraphService, fleet: &Fleet) -> Result<Vec<i64>, Failure> {
    let mut session = graph.session(fleet).await?;
    let table = session.rows("SHOW HOSTS").await;
    session.close().await;
    let table = table?;
    let rows = 0..table.rows.len();
    // The row `Total` has no port.
    let hosts = rows.filter(|row| number(&table, *row, "Port").is_some());
    Ok(hosts
        .filter_map(|row| number(&table, row, "Leader count"))
        .collect())
}

/// Shares differ by a tenth of the mean, or by one a storaged, as remainders do.
fn is_even(counts: &[i64]) -> bool {
    let (Some(most), Some(least)) = (counts.iter().max(), counts.iter().min()) else {
        return true;
    };
    let hosts = i64::try_from(counts.len()).unwrap_or(1);
    let mean = counts.iter().sum::<i64>() / hosts;
    most - least <= (mean / 10).max(hosts)
}

fn column(table: &DataSet, name: &str) -> Option<usize> {
    table.columns.iter().position(|c| c == name.as_bytes())
}

fn number(table: &DataSet, row: usize, name: &str) -> Option<i64> {
    match table.rows.get(row)?.get(column(table, name)?)? {
        Value::Int(number) => Some(*number),
        _ => None,
    }
}

fn texts(table: &DataSet, column: usize) -> Vec<String> {
    let text = |row: &Vec<Value>| match row.get(column)? {
        Value::String(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        _ => None,
    };
    table.rows.iter().filter_map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::is_even;

    #[test]
    fn shares_of_leaders() {
        for (counts, even) in [
            (&[][..], true),
            (&[8, 8, 8], true),
            (&[9, 8, 7], true),
            (&[24, 0, 0], false),
            (&[100, 95, 92], true),
            (&[100, 60], false),
        ] {
            assert_eq!(is_even(counts), even, "{counts:?}");
        }
    }
}
