//! Answers of hosts, and what becomes of them.

use super::*;
use crate::inventory::{Source, load};

/// One daemon of a host: role, lines of its file.
fn daemon(role: &str, lines: &str) -> String {
    let lines: Vec<&str> = lines.split(' ').filter(|l| !l.is_empty()).collect();
    let conf = lines
        .iter()
        .fold(String::new(), |text, line| text + "|--" + line + "\n");
    format!(
        "daemon\t7\t/usr/local/nebula/bin/nebula-{role}\t/usr/local/nebula\t/usr/local/nebula/etc/nebula-{role}.conf\tv\tnebula-{role} version Git: ab, Build Time: x\t\n|# comment\n|--meta_server_addrs=10.0.0.1:9559\n|--local_ip=10.0.0.1\n{conf}"
    )
}

fn hosts(parts: &[String]) -> Vec<(HostName, Host)> {
    let text = format!("greeting\nuser\tv\n{}end\n", parts.concat());
    vec![(HostName::new("one"), parse(&text).unwrap())]
}

fn whole(storaged: &str) -> Vec<(HostName, Host)> {
    hosts(&[
        daemon("metad", "port=9559 data_path=data/meta"),
        daemon(
            "graphd",
            "port=3699 ws_http_port=13000 max_handlers_per_req=10",
        ),
        daemon("storaged", storaged),
    ])
}

fn options() -> Options {
    Options {
        version: Version::new(3, 8, 0),
        cluster: "old".to_owned(),
        unknown: [(DaemonRole::Storaged, "gone_flag".to_owned())].into(),
        ssh: vec![("user".to_owned(), "v".to_owned())],
        addresses: [(HostName::new("one"), "one.lab".to_owned())].into(),
    }
}

#[test]
fn what_is_found_means_the_same_cluster() {
    let found = whole(
        "data_path=/disk1/storage,/disk2/storage rocksdb_block_cache=512 wal_ttl=14400 timezone_name=UTC+08:00 gone_flag=1",
    );
    check(&found).unwrap();
    let written = write(&found, &options()).unwrap();
    assert_eq!(written.left_out.len(), 2, "{:?}", written.left_out);
    assert!(written.left_out[1].contains("max_handlers_per_req"));
    let cluster = load(&Source::new("adopted.yaml", written.yaml.clone())).into_result();
    let cluster = cluster
        .unwrap_or_else(|failure| panic!("{failure}\n{}", written.yaml))
        .0;
    assert_eq!(cluster.hosts[0].ssh.host, "one.lab");
    for found in &found[0].1.daemons {
        let daemon = cluster
            .daemons
            .iter()
            .find(|d| d.role == found.role)
            .unwrap();
        assert_eq!(daemon.root.as_str(), "/usr/local/nebula");
        for name in [
            "port",
            "ws_http_port",
            "local_ip",
            "rocksdb_block_cache",
            "timezone_name",
            "meta_server_addrs",
        ] {
            if let Some(value) = found.flags.get(name) {
                assert_eq!(
                    daemon.flags.get(name),
                    Some(value),
                    "{name}\n{}",
                    written.yaml
                );
            }
        }
    }
    let storaged = cluster
        .daemons
        .iter()
        .find(|d| d.role == DaemonRole::Storaged)
        .unwrap();
    assert_eq!(storaged.flags["data_path"], "/disk1/storage,/disk2/storage");
    assert!(
        !written.yaml.contains("wal_ttl"),
        "that is the default\n{}",
        written.yaml
    );
}

#[test]
fn the_release_is_what_hosts_tell() {
    let named = |metad: &str, graphd: &str| {
        let packaged = |role: &str, said: &str, packaged: &str| {
            daemon(role, "").replace(
                "version Git: ab, Build Time: x\t",
                &format!("version {said}Git: ab\t{packaged}"),
            )
        };
        hosts(&[packaged("metad", "", metad), packaged("graphd", graphd, "")])
    };
    let cases = [
        (named("", ""), Ok(None)),
        (named("3.8.0", ""), Ok(Some("3.8.0"))),
        (named("", "2.6.2, "), Ok(Some("2.6.2"))),
        (named("3.8.0", "v3.8.0, "), Ok(Some("3.8.0"))),
        (named("2023.09.01-nightly", ""), Ok(None)),
        (
            named("3.8.0", "3.6.0, "),
            Err("daemons of several releases run: 3.6.0 and 3.8.0"),
        ),
    ];
    for (hosts, expected) in cases {
        let told = release(&hosts);
        let told = told.map(|told| told.map(|version| version.to_string()));
        match (told, expected) {
            (Ok(told), Ok(expected)) => assert_eq!(told.as_deref(), expected),
            (Err(failure), Err(expected)) => {
                assert!(failure.to_string().contains(expected), "{failure}");
            }
            (told, expected) => panic!("{told:?} is not {expected:?}"),
        }
    }
}

#[test]
fn what_an_inventory_cannot_say_is_refused() {
    let told = |hosts: Vec<(HostName, Host)>| {
        let result =
            check(&hosts).and_then(|()| write(&hosts, &options()).map(|written| written.yaml));
        result.unwrap_or_else(|failure| failure.to_string())
    };
    let part = |text: &str, from: &str, to: &str| {
        let metad = daemon("metad", "");
        let graphd = daemon("graphd", "");
        hosts(&[metad, graphd, daemon("storaged", text).replace(from, to)])
    };
    let cases = [
        (
            whole("data_path=/disk1/mine"),
            "its data lies in /disk1/mine",
        ),
        (
            hosts(&[daemon("metad", ""), daemon("storaged", "")]),
            "no host runs a graphd",
        ),
        (
            part("", "Git: ab", "Git: cd"),
            "daemons of different builds run",
        ),
        (
            part("", "addrs=10.0.0.1", "addrs=10.0.0.9"),
            "daemons name different metads",
        ),
        (
            part("", "\tv\t", "\troot\t"),
            "storaged runs as root; log in as that user",
        ),
        (
            part("", "/etc/nebula-storaged.conf", "/etc/my.conf"),
            "its configuration is /usr/local/nebula/etc/my.conf",
        ),
        (
            hosts(&[
                daemon("metad", ""),
                daemon("metad", ""),
                daemon("graphd", ""),
                daemon("storaged", ""),
            ]),
            "more than one metad runs",
        ),
    ];
    for (hosts, expected) in cases {
        let told = told(hosts);
        assert!(told.contains(expected), "{expected}\n{told}");
    }
    assert!(parse("user\tv\n").is_err(), "an answer that was cut off");
}
