//! What was measured, with what, and how to do it again.

use super::{Block, Column, Row, Section, Table};
use crate::inventory::contract_ranges;
use crate::report::model::Report;
use crate::report::number;
use crate::run::HostInfo;

/// Cluster, daemons, flags, hosts.
pub(super) fn measured(report: &Report) -> Section {
    let mut blocks = vec![
        Block::heading("Cluster"),
        Block::table(cluster(report)),
        Block::heading("Daemons"),
        Block::table(daemons(report)),
        Block::heading("Flags that differ from the defaults of the release"),
    ];
    blocks.push(flags(report));
    blocks.push(Block::heading("Hosts"));
    blocks.push(Block::table(hosts(report)));
    blocks.extend(report.shared_machines.iter().map(|names| {
        Block::notice(format!(
            "{} share one kernel: they are one machine. Its CPU, memory and disk are shown once; \
             the generator and the daemons are judged by their own processes.",
            names.join(", ")
        ))
    }));
    Section::new("measured", "What was measured", blocks)
}

fn cluster(report: &Report) -> Table {
    let kind = if report.cluster.sandbox {
        "nebula-sandbox, a stand-in that speaks NebulaGraph's protocol; it is not a database"
    } else {
        "NebulaGraph"
    };
    Table::pairs([
        ("name", report.cluster.name.clone()),
        ("version", report.cluster.version.clone()),
        ("what answered", kind.to_owned()),
    ])
}

fn daemons(report: &Report) -> Table {
    let rows = report.cluster.daemons.iter().map(|daemon| {
        Row::new(vec![
            daemon.role.clone(),
            daemon.host.clone(),
            daemon.endpoint.clone(),
            daemon.git_sha.clone(),
        ])
    });
    Table {
        columns: ["daemon", "host", "endpoint", "git commit"]
            .map(Column::words)
            .into(),
        rows: rows.collect(),
        note: "As the daemons themselves answered over HTTP when the run began.".to_owned(),
        ..Table::default()
    }
}

/// One row a flag and value, with the daemons that have it.
fn flags(report: &Report) -> Block {
    let mut seen: std::collections::BTreeMap<(&str, &str, &str), Vec<&str>> =
        std::collections::BTreeMap::new();
    for daemon in &report.cluster.daemons {
        for (name, value) in &daemon.flags {
            let key = (daemon.role.as_str(), name.as_str(), value.as_str());
            seen.entry(key).or_default().push(&daemon.host);
        }
    }
    if seen.is_empty() {
        return Block::text("None.");
    }
    let rows = seen.into_iter().map(|((role, name, value), hosts)| {
        Row::new(vec![
            role.to_owned(),
            name.to_owned(),
            value.to_owned(),
            contract_ranges(hosts).join(", "),
        ])
    });
    Block::table(Table {
        columns: ["daemon", "flag", "value", "on"].map(Column::words).into(),
        rows: rows.collect(),
        ..Table::default()
    })
}

fn hosts(report: &Report) -> Table {
    let machine = |host: &HostInfo| {
        let shared = report
            .shared_machines
            .iter()
            .find(|names| names.contains(&host.name));
        shared.map_or("its own".to_owned(), |names| {
            let others: Vec<&str> = names
                .iter()
                .map(String::as_str)
                .filter(|n| *n != host.name)
                .collect();
            format!("shared with {}", others.join(", "))
        })
    };
    let rows = report.hosts.iter().map(|host| {
        Row::new(vec![
            host.name.clone(),
            host.address.clone(),
            host.roles.join(", "),
            host.cpus.to_string(),
            number::bytes(number::of(host.memory_bytes)),
            format!("{}, Linux {}", host.os, host.kernel),
            machine(host),
            format!("{:+} ms", host.clock_offset_ms),
        ])
    });
    Table {
        columns: vec![
            Column::words("host"),
            Column::words("address"),
            Column::words("roles"),
            Column::number("CPUs"),
            Column::number("memory"),
            Column::words("system"),
            Column::words("machine"),
            Column::number("clock"),
        ],
        rows: rows.collect(),
        ..Table::default()
    }
}

/// The three clocks and the rules.
pub(super) fn reading(report: &Report) -> Section {
    let limits = &report.run.limits;
    let clocks = Table::pairs([
        ("server time", "NebulaGraph's own latency field: what graphd says the statement took, without network and without waiting for the generator".to_owned()),
        ("service time", "from the moment a request is sent until the last byte of its reply; k6 reports the same as responseTime".to_owned()),
        ("response time", "from the moment a request was due until the last byte of its reply; exists only in an open loop, where requests have a schedule, and includes waiting when the cluster falls behind".to_owned()),
    ]);
    let rules = Table::pairs([
        ("closed loop", "a fixed number of requests is in flight; a slow reply delays the next request, so service time is the honest clock and throughput follows latency".to_owned()),
        ("percentiles", "taken from HDR histograms of all requests that succeeded (3 significant digits); never averaged; shown only when at least ten samples lie above".to_owned()),
        ("warm-up", "comes before the measured window and is in no number of this report".to_owned()),
        ("host metrics", "read from Prometheus over exactly the window of each phase; counters as the difference between its ends".to_owned()),
        ("limits", format!(
            "failed requests at most {} %, generator below {:.0} % of its cores, target rate reached to {:.0} %, clocks within {} ms, throughput of first and last third within {:.0} %",
            limits.error_share * 100.0, limits.generator_share * 100.0, limits.rate_share * 100.0,
            limits.clock_offset_ms, limits.drift * 100.0,
        )),
    ]);
    let note = "This is not an LDBC Benchmark test run. Data and queries may be derived from the LDBC Social \
                Network Benchmark; the results were not audited and must not be called LDBC results.";
    Section::new(
        "reading",
        "How to read this",
        vec![
            Block::heading("Three clocks"),
            Block::table(clocks),
            Block::heading("Rules"),
            Block::table(rules),
            Block::notice(note),
        ],
    )
}

/// Files that went in.
pub(super) fn inputs(report: &Report) -> Section {
    let rows = report.inputs.iter().map(|input| {
        Row::new(vec![
            input.path.clone(),
            number::bytes(number::of(input.bytes)),
            input.sha256.clone(),
        ])
    });
    let table = Table {
        columns: vec![
            Column::words("file"),
            Column::number("size"),
            Column::words("sha256"),
        ],
        rows: rows.collect(),
        ..Table::default()
    };
    Section::new("inputs", "Inputs", vec![Block::table(table)])
}

/// How to do it again.
pub(super) fn reproduce(report: &Report) -> Section {
    let words: Vec<&str> = report.run.command_line.iter().map(String::as_str).collect();
    let command = shlex::try_join(words).unwrap_or_else(|_| report.run.command_line.join(" "));
    let facts = Table::pairs([
        ("run", report.run.id.clone()),
        ("nbctl", report.run.tool_version.clone()),
        ("seed", report.run.seed.to_string()),
        ("started", number::time(report.run.started_ms)),
    ]);
    let lead = "With the inputs above (same sha256), the same hosts and this command line, every statement \
                and its order within a connection are the same again.";
    let again = format!("nbctl report {}", report.run.id);
    Section::new(
        "reproduce",
        "Reproduce",
        vec![
            Block::text(lead),
            Block::Code { text: command },
            Block::table(facts),
            Block::text("This report is rendered from the run's folder and can be rendered again:"),
            Block::Code { text: again },
        ],
    )
}
