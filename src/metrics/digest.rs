//! Trends put together by host and daemon.
//!
//! Duties: one entry a host of the run and a daemon of the cluster, whether observed or not; load
//! processes that did something besides; CPU, memory and disk of hosts that are one machine only once;
//! a list of what is missing.

use nbctl_core::run::{ClusterInfo, DaemonDigest, HostDigest, HostInfo, Metrics, Trend};

use super::prometheus::Series;
use super::table::{Of, Query};
use super::trend::{restarts, trend};

/// Processes that put load, by their name.
const LOAD: [&str; 4] = ["nbctl", "k6", "nebula-importer", "java"];

type Found<'a> = [(&'a Query, Vec<Series>)];

/// The digest; `None` when nothing at all was found about these hosts.
pub(super) fn metrics(
    found: &Found<'_>,
    cluster: &ClusterInfo,
    hosts: &[HostInfo],
) -> Option<Metrics> {
    let reader = Reader { found };
    let mut metrics = Metrics {
        hosts: hosts.iter().map(|host| reader.host(host, hosts)).collect(),
        daemons: reader.daemons(cluster, hosts),
        missing: Vec::new(),
    };
    if hosts.iter().all(|host| !reader.knows(&host.name)) {
        return None;
    }
    metrics.missing = missing(&metrics, &reader);
    once_a_machine(&mut metrics.hosts);
    Some(metrics)
}

struct Reader<'a> {
    found: &'a Found<'a>,
}

impl Reader<'_> {
    /// The first series of `field` whose host and process name fit.
    fn pick(&self, of: Of, field: &str, host: &str, role: &str) -> Option<(&Query, &Series)> {
        let queries = self.found.iter();
        let (query, series) = queries
            .filter(|(query, _)| query.of == of && query.field == field)
            .find_map(|(query, series)| {
                let fits = |one: &&Series| {
                    label(one, "host") == host && (of == Of::Host || role_of(one) == role)
                };
                Some((*query, series.iter().find(fits)?))
            })?;
        Some((query, series))
    }

    fn trend(&self, of: Of, field: &str, host: &str, role: &str) -> Option<Trend> {
        let (query, series) = self.pick(of, field, host, role)?;
        trend(query, &series.points)
    }

    fn knows(&self, host: &str) -> bool {
        let mut all = self.found.iter().flat_map(|(_, series)| series);
        all.any(|series| label(series, "host") == host && !series.points.is_empty())
    }

    fn host(&self, host: &HostInfo, all: &[HostInfo]) -> HostDigest {
        let read = |field| self.trend(Of::Host, field, &host.name, "");
        HostDigest {
            host: host.name.clone(),
            shares_machine_with: same_machine(host, all),
            cpu_percent: read("cpu_percent"),
            memory_bytes: read("memory_bytes"),
            disk_read: read("disk_read"),
            disk_write: read("disk_write"),
            net_receive: read("net_receive"),
            net_send: read("net_send"),
        }
    }

    fn daemon(&self, role: &str, host: &str) -> DaemonDigest {
        let read = |field| self.trend(Of::Daemon, field, host, role);
        DaemonDigest {
            role: role.to_owned(),
            host: host.to_owned(),
            cpu_percent: read("cpu_percent"),
            rss_bytes: read("rss_bytes"),
            disk_read: read("disk_read"),
            disk_write: read("disk_write"),
            queries: read("queries"),
            restarts: self
                .pick(Of::Daemon, "restarts", host, role)
                .map_or(0, |(_, series)| restarts(&series.points)),
        }
    }

    /// A load process is started for every phase; that is no restart.
    fn load(&self, name: &str, host: &str) -> DaemonDigest {
        DaemonDigest {
            restarts: 0,
            ..self.daemon(name, host)
        }
    }

    fn daemons(&self, cluster: &ClusterInfo, hosts: &[HostInfo]) -> Vec<DaemonDigest> {
        let mut places: Vec<(&str, &str)> = cluster
            .daemons
            .iter()
            .map(|daemon| (daemon.role.as_str(), daemon.host.as_str()))
            .collect();
        places.sort_unstable();
        // Several daemons of one role on a host are one process name.
        places.dedup();
        let mut daemons: Vec<DaemonDigest> = places
            .into_iter()
            .map(|(role, host)| self.daemon(role, host))
            .collect();
        for role in LOAD {
            let of_load = hosts.iter().map(|host| self.load(role, &host.name));
            daemons.extend(of_load.filter(has_worked));
        }
        daemons
    }
}

/// A process name stays known after its last process ended, with nothing resident.
fn has_worked(daemon: &DaemonDigest) -> bool {
    daemon
        .rss_bytes
        .as_ref()
        .is_some_and(|rss| rss.spread.max > 0.0)
}

fn label<'a>(series: &'a Series, name: &str) -> &'a str {
    series.labels.get(name).map_or("", String::as_str)
}

/// `storaged` of `nebula-storaged`; load processes keep their names.
fn role_of(series: &Series) -> &str {
    let name = label(series, "groupname");
    match name.strip_prefix("nebula-") {
        Some(role @ ("metad" | "graphd" | "storaged")) => role,
        _ => name,
    }
}

fn same_machine(host: &HostInfo, all: &[HostInfo]) -> Vec<String> {
    let names: Vec<String> = all
        .iter()
        .filter(|other| !host.boot_id.is_empty() && other.boot_id == host.boot_id)
        .map(|other| other.name.clone())
        .collect();
    if names.len() > 1 { names } else { Vec::new() }
}

/// What the kernel counts for the whole machine stays on its first host.
fn once_a_machine(hosts: &mut [HostDigest]) {
    for host in hosts {
        let first = host.shares_machine_with.first();
        if first.is_some_and(|first| *first != host.host) {
            host.cpu_percent = None;
            host.memory_bytes = None;
            host.disk_read = None;
            host.disk_write = None;
        }
    }
}

/// What should be there and is not; a host of which nothing is known is one entry.
fn missing(metrics: &Metrics, reader: &Reader<'_>) -> Vec<String> {
    let mut missing = Vec::new();
    for host in &metrics.hosts {
        if !reader.knows(&host.host) {
            missing.push(format!("everything on {}", host.host));
            continue;
        }
        let fields = [
            ("cpu", &host.cpu_percent),
            ("memory", &host.memory_bytes),
            ("disk reads", &host.disk_read),
            ("disk writes", &host.disk_write),
            ("network received", &host.net_receive),
            ("network sent", &host.net_send),
        ];
        let absent = fields.into_iter().filter(|(_, trend)| trend.is_none());
        missing.extend(absent.map(|(name, _)| format!("{name} on {}", host.host)));
    }
    for daemon in &metrics.daemons {
        if !reader.knows(&daemon.host) {
            continue;
        }
        let mut fields = vec![
            ("cpu", &daemon.cpu_percent),
            ("resident memory", &daemon.rss_bytes),
        ];
        if daemon.role == "graphd" {
            fields.push(("queries", &daemon.queries));
        }
        let absent = fields.into_iter().filter(|(_, trend)| trend.is_none());
        missing.extend(
            absent.map(|(name, _)| format!("{name} of {} on {}", daemon.role, daemon.host)),
        );
    }
    missing
}
