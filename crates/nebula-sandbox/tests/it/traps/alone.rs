//! Daemons that are on their own: what they make of their conf, their host, and of a metad that is not there.

use std::fs;

use super::Seen;
use crate::support::{Cluster, Daemon, is_open, wait};

pub(super) fn scene(line: &'static str) -> Seen {
    let mut seen = Seen::new();
    without_metad(line, &mut seen);
    configured(line, &mut seen);
    refused(line, &mut seen);
    seen
}

#[test]
fn alone() {
    super::play("alone", scene);
}

fn without_metad(line: &'static str, seen: &mut Seen) {
    let mut cluster = Cluster::plan(line, 1, 1);
    let graphd = &mut cluster.graphd;
    graphd.start();
    let storaged = &mut cluster.storageds[0];
    storaged.start();
    wait("http of graphd", || graphd.get("/status").is_some());
    let early = graphd
        .get("/status")
        .is_some_and(|text| text.contains("running"));
    seen.push((
        "`/status` of graphd says running before metad was reached",
        early && !is_open(graphd.port),
    ));
    wait("graphd decides", || {
        graphd.ended().is_some() || is_open(graphd.port)
    });
    let serves = graphd.ended().is_none();
    if !serves {
        assert_eq!(graphd.ended(), Some(1));
        assert!(
            graphd
                .output()
                .contains("Failed to wait for meta service ready"),
            "{}",
            graphd.output()
        );
    }
    seen.push(("graphd serves although it never reached a metad", serves));
    wait("storaged decides", || {
        storaged.ended().is_some() || storaged.log("ERROR").matches("Heartbeat failed").count() > 5
    });
    seen.push((
        "storaged ends when it does not reach a metad",
        storaged.ended().is_some(),
    ));
    let stamped = log_name(graphd);
    let date = stamped.rsplit('.').nth(1).expect(&stamped);
    assert!(
        stamped.starts_with("nebula-graphd.") && stamped.contains(".log.INFO."),
        "{stamped}"
    );
    assert!(date.len() == 15 && date.as_bytes()[8] == b'-', "{stamped}");
    assert!(graphd.log("INFO").starts_with("Log file created at: "));
}

/// What the link to the newest INFO log points at.
fn log_name(daemon: &Daemon) -> String {
    let link = daemon.dir.join(format!("logs/nebula-{}.INFO", daemon.role));
    let name = fs::read_link(&link).expect("link");
    name.to_str().expect("utf-8").to_owned()
}

fn configured(line: &'static str, seen: &mut Seen) {
    let mut cluster = Cluster::plan(line, 1, 0);
    let metad = &mut cluster.metads[0];
    let conf = "--wal_ttl=7\n--no_such_flag=1\n--heartbeat_interval_secs=often\n\
                --timestamp_in_logfile_name=false\n--wal_ttl=8\n";
    fs::write(metad.dir.join("x.conf"), conf).expect("conf");
    metad.with("--flagfile=x.conf").start();
    wait("metad", || is_open(metad.port));
    let read = metad.get("/flags?flags=wal_ttl,heartbeat_interval_secs,no_such_flag");
    seen.push((
        "unknown flags and bad values in a conf are ignored without a word, the last duplicate wins",
        read.as_deref() == Some("wal_ttl=8\nheartbeat_interval_secs=1\nno_such_flag=nullptr\n"),
    ));
    let log = metad.log("INFO");
    let row = log.lines().find(|row| row.starts_with('I')).expect("a row");
    let day = row.split(' ').next().unwrap_or_default();
    seen.push(("log lines carry the year", day.len() == 9));
    seen.push((
        "log files can have names without a time",
        log_name(metad) == "nebula-metad.INFO.impl",
    ));
}

fn refused(line: &'static str, seen: &mut Seen) {
    let mut cluster = Cluster::plan(line, 1, 0);
    let graphd = cluster.graphd.with("--local_ip=203.0.113.7");
    graphd.start();
    wait("graphd decides", || {
        graphd.ended().is_some() || graphd.get("/status").is_some()
    });
    let refuses = graphd
        .output()
        .contains("203.0.113.7 is not a valid ip in current host, candidates: ");
    seen.push(("`local_ip` must be on an interface", refuses));
    assert_eq!(graphd.ended(), refuses.then_some(1));
    let metad = &mut cluster.metads[0];
    fs::write(
        metad.dir.join("x.conf"),
        format!("--minimum_reserved_bytes={}\n", 1u64 << 60),
    )
    .expect("conf");
    metad.with("--flagfile=x.conf").start();
    wait("metad decides", || {
        metad.ended().is_some() || is_open(metad.port)
    });
    let refuses = metad.output().contains("Put failed");
    seen.push((
        "metad ends when its disk has less than `minimum_reserved_bytes` left",
        refuses,
    ));
    assert_eq!(metad.ended(), refuses.then_some(1));
}
