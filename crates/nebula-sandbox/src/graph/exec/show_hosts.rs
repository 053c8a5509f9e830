//! SHOW HOSTS, SHOW PARTS and SHOW ZONES.

use nebula_wire::{DataSet, Value};

use super::{Context, Table, int, port, table, text};
use crate::{
    graph::error::QueryError,
    line::{Line, Role},
    meta::{
        message::{HostRow, Reply, Request},
        model::{HostPort, Part},
    },
};

pub(super) fn zones(hosts: Vec<HostRow>) -> DataSet {
    let row = |row: HostRow| {
        let zone = format!("default_zone_{}_{}", row.host.host, row.host.port);
        vec![text(zone), text(&row.host.host), port(&row.host)]
    };
    table(
        &["Name", "Host", "Port"],
        hosts.into_iter().map(row).collect(),
    )
}

pub(super) async fn host_rows(
    context: &Context<'_>,
    role: Option<Role>,
) -> Result<Vec<HostRow>, QueryError> {
    match context.ask(Request::Hosts(role)).await? {
        Reply::Hosts(rows) => Ok(rows),
        _ => Ok(Vec::new()),
    }
}

fn distribution(counts: &[(String, usize)]) -> Value {
    if counts.is_empty() {
        return text("No valid partition");
    }
    let items: Vec<_> = counts
        .iter()
        .map(|(space, count)| format!("{space}:{count}"))
        .collect();
    text(items.join(", "))
}

fn status(online: bool) -> Value {
    text(if online { "ONLINE" } else { "OFFLINE" })
}

fn total(counts: impl Iterator<Item = (String, usize)>) -> Vec<(String, usize)> {
    let mut sums = std::collections::BTreeMap::new();
    for (space, count) in counts {
        *sums.entry(space).or_insert(0) += count;
    }
    sums.into_iter().collect()
}

/// The last row is a total; in 3.x it is one cell shorter than the others.
pub(super) async fn hosts(context: &Context<'_>) -> Table {
    let rows = host_rows(context, None).await?;
    let new = context.engine.line.is_3x();
    let mut columns = vec![
        "Host",
        "Port",
        "Status",
        "Leader count",
        "Leader distribution",
        "Partition distribution",
    ];
    if new {
        columns.push("Version");
    }
    let leaders = |row: &HostRow| row.leaders.iter().map(|(_, count)| count).sum::<usize>();
    let mut cells: Vec<_> = rows
        .iter()
        .map(|row| {
            let mut cells = vec![
                text(&row.host.host),
                port(&row.host),
                status(row.online),
                int(leaders(row)),
                distribution(&row.leaders),
                distribution(&row.parts),
            ];
            if new {
                cells.push(if row.version.is_empty() {
                    Value::Empty
                } else {
                    text(&row.version)
                });
            }
            cells
        })
        .collect();
    let all_leaders = total(rows.iter().flat_map(|row| row.leaders.clone()));
    let all_parts = total(rows.iter().flat_map(|row| row.parts.clone()));
    let or_empty = |counts: &[(String, usize)]| {
        if counts.is_empty() {
            Value::Empty
        } else {
            distribution(counts)
        }
    };
    cells.push(vec![
        text("Total"),
        Value::Empty,
        Value::Empty,
        int(rows.iter().map(leaders).sum()),
        or_empty(&all_leaders),
        or_empty(&all_parts),
    ]);
    Ok(Some(table(&columns, cells)))
}

pub(super) async fn hosts_of(context: &Context<'_>, role: Role) -> Table {
    let rows = host_rows(context, Some(role)).await?;
    let version = context.engine.line != Line::V2_0_1;
    let mut columns = vec!["Host", "Port", "Status", "Role", "Git Info Sha"];
    if version {
        columns.push("Version");
    }
    let cells = rows.iter().map(|row| {
        let mut cells = vec![
            text(&row.host.host),
            port(&row.host),
            status(row.online),
            text(row.role.column()),
            text(&row.sha),
        ];
        if version {
            cells.push(text(&row.version));
        }
        cells
    });
    Ok(Some(table(&columns, cells.collect())))
}

pub(super) async fn parts(context: &Context<'_>, wanted: &[i64]) -> Table {
    let space = context.space()?.space.id;
    let Reply::Parts { parts, offline } = context.ask(Request::Parts(space)).await? else {
        return Ok(None);
    };
    let list = |hosts: &mut dyn Iterator<Item = &HostPort>| {
        let hosts: Vec<_> = hosts.map(ToString::to_string).collect();
        text(hosts.join(", "))
    };
    let row = |(at, part): (usize, &Part)| {
        vec![
            int(at + 1),
            text(
                part.leader
                    .as_ref()
                    .map(ToString::to_string)
                    .unwrap_or_default(),
            ),
            list(&mut part.peers.iter()),
            list(&mut part.peers.iter().filter(|peer| offline.contains(peer))),
        ]
    };
    let rows = parts.iter().enumerate().map(row);
    let chosen = |row: &Vec<Value>| {
        wanted.is_empty() || row[0].as_int().is_some_and(|id| wanted.contains(&id))
    };
    let rows = rows.filter(chosen).collect();
    Ok(Some(table(
        &["Partition ID", "Leader", "Peers", "Losts"],
        rows,
    )))
}
