//! Hosts and daemons of a phase: tables and small charts.

use super::{Block, Column, Row, Table, charts};
use crate::report::model::PhaseReport;
use crate::report::number::{self, NONE};
use crate::run::{DaemonDigest, HostDigest, Metrics, Trend};

/// Blocks for what hosts and daemons did, or one sentence when nobody looked.
pub(super) fn blocks(phase: &PhaseReport) -> Vec<Block> {
    let Some(metrics) = &phase.metrics else {
        if phase.import.is_none() && phase.stress.is_none() {
            return Vec::new();
        }
        return vec![Block::text(
            "Hosts not observed: no monitoring was reachable in this phase.",
        )];
    };
    let mut blocks = vec![Block::table(hosts(metrics)), Block::table(daemons(metrics))];
    if !metrics.missing.is_empty() {
        let list = metrics.missing.join(", ");
        blocks.push(Block::notice(format!("Not observed: {list}.")));
    }
    blocks.extend(charts::daemons(phase, metrics));
    blocks.extend(charts::hosts(phase, metrics));
    blocks
}

fn hosts(metrics: &Metrics) -> Table {
    Table {
        caption: "Hosts, mean (highest) over the phase".to_owned(),
        columns: vec![
            Column::words("host"),
            Column::number("CPU, cores"),
            Column::number("memory"),
            Column::number("disk read/s"),
            Column::number("disk written/s"),
            Column::number("received/s"),
            Column::number("sent/s"),
        ],
        rows: metrics.hosts.iter().map(host_row).collect(),
        ..Table::default()
    }
}

fn host_row(host: &HostDigest) -> Row {
    let shared = !host.shares_machine_with.is_empty();
    let name = if shared {
        format!("{} (shared machine)", host.host)
    } else {
        host.host.clone()
    };
    let elsewhere = shared && host.cpu_percent.is_none() && host.memory_bytes.is_none();
    let of_machine = |trend: Option<&Trend>, words: fn(f64) -> String| match trend {
        None if elsewhere => format!("see {}", host.shares_machine_with.first().map_or("", |n| n)),
        trend => spread(trend, words),
    };
    Row::new(vec![
        name,
        of_machine(host.cpu_percent.as_ref(), cores),
        of_machine(host.memory_bytes.as_ref(), number::bytes),
        of_machine(host.disk_read.as_ref(), number::bytes),
        of_machine(host.disk_write.as_ref(), number::bytes),
        spread(host.net_receive.as_ref(), number::bytes),
        spread(host.net_send.as_ref(), number::bytes),
    ])
}

fn daemons(metrics: &Metrics) -> Table {
    Table {
        caption: "Daemons and load processes, mean (highest) over the phase".to_owned(),
        columns: vec![
            Column::words("process"),
            Column::words("host"),
            Column::number("CPU, cores"),
            Column::number("resident memory"),
            Column::number("disk read/s"),
            Column::number("disk written/s"),
            Column::number("queries/s"),
            Column::number("restarts"),
        ],
        rows: metrics.daemons.iter().map(daemon_row).collect(),
        ..Table::default()
    }
}

fn daemon_row(daemon: &DaemonDigest) -> Row {
    let state = if daemon.restarts > 0 { "fails" } else { "" };
    let cells = vec![
        daemon.role.clone(),
        daemon.host.clone(),
        spread(daemon.cpu_percent.as_ref(), cores),
        spread(daemon.rss_bytes.as_ref(), number::bytes),
        spread(daemon.disk_read.as_ref(), number::bytes),
        spread(daemon.disk_write.as_ref(), number::bytes),
        spread(daemon.queries.as_ref(), number::short),
        daemon.restarts.to_string(),
    ];
    Row::with_state(cells, state)
}

fn spread(trend: Option<&Trend>, words: fn(f64) -> String) -> String {
    trend.map_or(NONE.to_owned(), |trend| {
        format!("{} ({})", words(trend.spread.mean), words(trend.spread.max))
    })
}

fn cores(percent: f64) -> String {
    number::fixed(percent / 100.0, 2)
}
