//! Who may leave, and what is done then.

use std::collections::BTreeMap;

use super::*;
use crate::config::Space;
use crate::deploy::{Facts, Observed};
use crate::facts::{HostFacts, PathFact, Process};
use crate::inventory::{Cluster, DaemonRole, Role, Selection, Source, load};

/// A host with everything, one with graphd and storaged, two with storaged alone.
fn cluster(version: &str) -> Cluster {
    let text = format!(
        "format: 1\ncluster: c\nssh: {{user: v}}\nnebula: {{version: {version}, deploy_dir: /home/v/nebula}}\nhosts:\n         \x20 - {{address: 10.0.0.1, name: a, roles: [metad, graphd, storaged]}}\n         \x20 - {{address: 10.0.0.2, name: b, roles: [graphd, storaged]}}\n         \x20 - {{address: 10.0.0.3, name: c, roles: [storaged]}}\n         \x20 - {{address: 10.0.0.4, name: d, roles: [storaged]}}\n"
    );
    load(&Source::new("inv.yaml", text)).cluster.unwrap()
}

fn facts(cluster: &Cluster) -> Facts {
    let mut all = Facts::new();
    for daemon in &cluster.daemons {
        let of_host: &mut HostFacts = all.entry(daemon.host.clone()).or_default();
        let mut dir = |path: &crate::units::RemotePath| {
            let real = path.to_string();
            let entries = vec![".nbctl-owner".into(), "data".into(), "etc".into()];
            of_host
                .paths
                .insert(path.clone(), PathFact::Dir { real, entries });
        };
        dir(&daemon.root);
        daemon.data_paths.iter().for_each(&mut dir);
        let marker = format!("cluster_id={}\n", cluster.id);
        of_host.owners.insert(daemon.root.clone(), marker);
        let sum = crate::units::Sha256::of(b"conf");
        of_host.files.insert(daemon.conf.clone(), Some(sum));
        of_host.processes.push(Process {
            pid: 7,
            exe: format!(
                "{}/versions/0123456789ab/bin/{}",
                daemon.root,
                daemon.role.program()
            ),
            deleted: false,
            name: daemon.role.program().into(),
            user: "v".into(),
            started: 0,
            nofile: None,
            cwd: String::new(),
            command: String::new(),
        });
    }
    all
}

/// `a 4 b -0 c -`: partitions of space `s` by host; `-` is OFFLINE, with two of them unless it says how many.
fn rows(cluster: &Cluster, text: &str) -> Vec<StorageHost> {
    let words: Vec<&str> = text.split(' ').collect();
    let row = |pair: &[&str]| {
        let mut storageds = cluster.daemons_of(DaemonRole::Storaged);
        let daemon = storageds.find(|d| d.host.as_str() == pair[0]).unwrap();
        let count = pair[1].trim_start_matches('-').parse().unwrap_or(2);
        StorageHost {
            endpoint: daemon.endpoint(),
            online: !pair[1].starts_with('-'),
            partitions: [("s".to_owned(), count)]
                .into_iter()
                .filter(|(_, n)| *n > 0)
                .collect(),
        }
    };
    words.chunks(2).map(row).collect()
}

/// Version, hosts and roles that leave, partitions, copies, a part of the refusal or the steps.
const CASES: [(&str, &str, &str, &str, u32, &str); 13] = [
    (
        "3.8.0",
        "a",
        "",
        "a 4 b 4 c 4",
        1,
        "metad@a: metads cannot be added or removed",
    ),
    (
        "3.8.0",
        "a,b",
        "graphd",
        "a 4 b 4 c 4",
        1,
        "graphd@b: no other graphd stays",
    ),
    (
        "3.8.0",
        "*",
        "storaged",
        "a 4 b 4 c 4",
        1,
        "storaged@c: no other storaged stays",
    ),
    (
        "3.8.0",
        "c",
        "",
        "a 4 b 4 c 4",
        3,
        "space s keeps 3 copies of each partition, and 2 storaged would be left",
    ),
    (
        "3.8.0",
        "c",
        "",
        "a 4 b - c 4",
        1,
        "10.0.0.2:9779 is OFFLINE, and partitions would have to move",
    ),
    (
        "3.8.0",
        "c",
        "",
        "a 4 b 4 c -",
        1,
        "10.0.0.3:9779 is OFFLINE",
    ),
    (
        "3.8.0",
        "c",
        "off",
        "a 4 b 4 c 4",
        1,
        "graphd@a: enable_experimental_feature is off",
    ),
    (
        "3.0.2",
        "c",
        "",
        "a 4 b 4 c 4",
        1,
        "3.0.2 moves data between zones only",
    ),
    (
        "3.8.0",
        "c",
        "silent",
        "a 4 b 4 c 4",
        1,
        "no graphd answers",
    ),
    (
        "3.8.0",
        "c",
        "",
        "a 4 b 4 c 4",
        1,
        "drain 10.0.0.3:9779 of s\ndrop hosts\n  cluster: drop storaged@c (10.0.0.3:9779)\nstop storaged\n  c: stop storaged@c\ndelete\n  c: delete /home/v/nebula\n",
    ),
    (
        "2.6.2",
        "b",
        "storaged",
        "a 6 b 0 c 6",
        1,
        "stop storaged\n  b: stop storaged@b\ndelete\n  b: delete /home/v/nebula/data/storage\n  b: remove /home/v/nebula/etc/nebula-storaged.conf\n",
    ),
    // Dropped before the command was killed.
    (
        "3.8.0",
        "c",
        "",
        "a 6 b 6",
        2,
        "stop storaged\n  c: stop storaged@c\ndelete\n  c: delete /home/v/nebula\n",
    ),
    (
        "3.8.0",
        "b",
        "graphd",
        "a 4 b 4 c 4",
        3,
        "stop graphd\n  b: stop graphd@b\ndelete\n  b: remove /home/v/nebula/etc/nebula-graphd.conf\n",
    ),
];

fn told(case: (&str, &str, &str, &str, u32, &str)) -> String {
    let (version, hosts, what, text, replicas, _) = case;
    let cluster = cluster(version);
    let role = match what {
        "graphd" => vec![Role::Graphd],
        "storaged" => vec![Role::Storaged],
        _ => Vec::new(),
    };
    let hosts: Vec<String> = hosts.split(',').map(str::to_owned).collect();
    let selection = Selection::new(&cluster, &hosts, &role).unwrap();
    let mut observed = Observed::default();
    let gates = ["enable_experimental_feature", "enable_data_balance"];
    let flags: BTreeMap<_, _> = gates.map(|f| (f.to_owned(), (what != "off").into())).into();
    for daemon in cluster.daemons_of(DaemonRole::Graphd) {
        observed.flags.insert(daemon.id(), flags.clone());
    }
    let rows = rows(&cluster, text);
    let spaces = [Space {
        name: "s".into(),
        replicas,
    }];
    let shrink = shrink(&Leaving {
        cluster: &cluster,
        selection: &selection,
        facts: &facts(&cluster),
        observed: &observed,
        hosts: (what != "silent").then_some(&rows),
        spaces: (what != "silent").then_some(&spaces),
        lost: None,
    });
    words(shrink)
}

fn words(shrink: Result<Shrink, Failure>) -> String {
    match shrink {
        Err(failure) => failure.to_string(),
        Ok(Shrink {
            drain,
            spaces,
            after,
            ..
        }) if spaces.is_empty() => {
            assert!(drain.is_empty());
            after.to_string()
        }
        Ok(shrink) => format!(
            "drain {} of {}\n{}",
            shrink.drain.join(","),
            shrink.spaces.join(","),
            shrink.after
        ),
    }
}

#[test]
fn who_may_leave() {
    for case in CASES {
        let told = told(case);
        assert!(is(&told, case.5), "{case:?}\n{told}");
    }
}

/// A plan is told whole, a refusal by a part of it.
fn is(told: &str, expected: &str) -> bool {
    if expected.ends_with('\n') {
        told == expected
    } else {
        told.contains(expected)
    }
}

/// Version, hosts that leave, those of them that are lost, rows as above, who has copies of partition 1, 2, …, a part of
/// the refusal or the steps.
const LOST: [(&str, &str, &str, &str, &str, &str); 11] = [
    // The others have a majority of each partition.
    (
        "3.8.0",
        "c",
        "c",
        "a 4 b 4 c - d 4",
        "abc bcd",
        "drain 10.0.0.3:9779 of s\ndrop hosts\n  cluster: drop storaged@c (10.0.0.3:9779)\n",
    ),
    (
        "2.6.2",
        "c",
        "c",
        "a 4 b 4 c - d 4",
        "abc bcd",
        "drain 10.0.0.3:9779 of s\n",
    ),
    // Dropped before the command was killed, or nothing was ever there.
    ("3.8.0", "c", "c", "a 6 b 6 d 0", "abd", ""),
    // One answers and one does not.
    (
        "3.8.0",
        "b,c",
        "c",
        "a 4 b 0 c -0 d 4",
        "ad",
        "drop hosts\n  cluster: drop storaged@b (10.0.0.2:9779)\n  cluster: drop storaged@c (10.0.0.3:9779)\n\
         stop graphd\n  b: stop graphd@b\nstop storaged\n  b: stop storaged@b\ndelete\n  b: delete /home/v/nebula\n",
    ),
    (
        "3.8.0",
        "c",
        "c",
        "a 4 b 4 c - d 4",
        "c abc ab c",
        "space s: no copy of partitions 1, 4 is left elsewhere",
    ),
    (
        "3.8.0",
        "c",
        "c",
        "a 4 b 4 c - d 4",
        "bc abc",
        "space s: partition 1 would have no majority",
    ),
    // Another one is down as well.
    (
        "3.8.0",
        "c",
        "c",
        "a 4 b - c - d 4",
        "abc",
        "space s: partition 1 would have no majority",
    ),
    (
        "3.8.0",
        "c",
        "c",
        "a 4 b - c - d 4",
        "acd",
        "10.0.0.2:9779 is OFFLINE",
    ),
    (
        "3.8.0",
        "c",
        "c",
        "a 4 b 4 c 4 d 4",
        "abc",
        "storaged@c is ONLINE, so its host is not lost",
    ),
    (
        "3.8.0",
        "c",
        "c",
        "a 4 b 4 c - d 4",
        "",
        "it is not known where the copies",
    ),
    (
        "3.8.0",
        "a",
        "a",
        "a - b 4 c 4 d 4",
        "abc",
        "0 of 1 metads run, which is no majority",
    ),
];

fn given_up(case: (&str, &str, &str, &str, &str, &str)) -> (String, Vec<String>) {
    let (version, hosts, lost, text, copies, _) = case;
    let cluster = cluster(version);
    let names = |text: &str| text.split(',').map(str::to_owned).collect::<Vec<_>>();
    let selection = Selection::new(&cluster, &names(hosts), &[]).unwrap();
    let lost: Vec<_> = names(lost)
        .iter()
        .map(crate::units::HostName::new)
        .collect();
    let mut facts = facts(&cluster);
    facts.retain(|host, _| !lost.contains(host));
    let rows = rows(&cluster, text);
    let endpoint = |name: char| format!("10.0.0.{}:9779", name as u32 - 'a' as u32 + 1);
    let peers = |part: &str| part.chars().map(endpoint).collect::<Vec<_>>().join(", ");
    let copies: Vec<Copies> = (1..)
        .zip(copies.split_whitespace())
        .map(|(part, holders)| Copies::new("s", part, &peers(holders)))
        .collect();
    let spaces = [Space {
        name: "s".into(),
        replicas: 1,
    }];
    let shrink = shrink(&Leaving {
        cluster: &cluster,
        selection: &selection,
        facts: &facts,
        observed: &Observed::default(),
        hosts: Some(&rows),
        spaces: Some(&spaces),
        lost: Some(Lost {
            hosts: &lost,
            copies: (!copies.is_empty()).then_some(&copies),
        }),
    });
    let behind = match &shrink {
        Ok(shrink) => shrink.behind.clone(),
        Err(_) => Vec::new(),
    };
    (words(shrink), behind)
}

#[test]
fn who_may_be_given_up() {
    for case in LOST {
        let (told, behind) = given_up(case);
        let expected = case.5;
        let good = if expected.is_empty() {
            told.is_empty()
        } else {
            is(&told, expected)
        };
        assert!(good, "{case:?}\n{told}");
        let planned = expected.is_empty() || expected.ends_with('\n');
        let named = behind
            .iter()
            .any(|text| text.starts_with("c: /home/v/nebula stays as it is"));
        assert_eq!(named, planned, "{case:?}\n{behind:?}");
    }
}

#[test]
fn where_partitions_lie() {
    let text = [("nba", 3), ("a:b", 5)].map(|(s, n)| (s.to_owned(), n));
    assert_eq!(distribution("nba:3, a:b:5"), text.into());
    assert!(distribution("No valid partition").is_empty() && distribution("").is_empty());
    let cluster = cluster("3.8.0");
    for (text, expected) in [
        ("a 4 b 4 c 4", 0),
        ("a 5 b 4 c 4", 0),
        ("a 6 b 6 c 0", 1),
        ("a 6 b 6 c -", 0),
        ("a 12", 0),
        ("a 0 b 0", 0),
    ] {
        assert_eq!(uneven(&rows(&cluster, text)).len(), expected, "{text}");
    }
}

#[test]
fn a_scale_out_restarts_nobody() {
    let mut plan = Plan::default();
    let step = || {
        vec![crate::plan::Step::cluster(
            "x",
            crate::plan::Action::Query(crate::plan::Statement {
                text: String::new(),
                tolerate: None,
            }),
        )]
    };
    plan.stage("start storaged", step());
    assert!(only_adds(&plan).is_ok());
    plan.stage("stop graphd", step());
    assert!(only_adds(&plan).is_err());
}
