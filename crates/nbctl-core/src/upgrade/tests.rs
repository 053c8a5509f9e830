//! Steps of an upgrade on hosts that run an older version.

use std::collections::BTreeMap;

use super::*;
use crate::deploy::{Observed, render};
use crate::facts::Space;
use crate::inventory::{Source, load};
use crate::package::{Package, PackageChoice};
use crate::units::Sha256;

const TEMPLATE: &str = "{% for f in flags %}--{{ f.name }}={{ f.value }}\n{% endfor %}";
/// 12 digits of the version that is there.
const OLD: &str = "0123456789ab";

fn cluster(version: &str) -> Cluster {
    let text = format!(
        "format: 1\ncluster: c\nssh: {{user: v}}\nnebula: {{version: {version}, deploy_dir: /home/v/nebula}}\nhosts:\n\
         \x20 - {{address: 10.0.0.1, name: a, roles: [metad, graphd, storaged]}}\n"
    );
    load(&Source::new("inv.yaml", text)).cluster.unwrap()
}

fn package(version: &str) -> Package {
    let file = format!("nebula-graph-{version}.el7.x86_64.tar.gz");
    Package {
        name: PackageName::parse(&file).unwrap(),
        source: file,
        bytes: 1,
        sha256: Sha256::of(version.as_bytes()),
    }
}

/// A host on which `old` was deployed and runs; `None`: nothing is there.
fn facts(cluster: &Cluster, old: Option<&str>) -> Facts {
    let text = include_str!("../../tests/facts/centos7.txt");
    let mut facts = HostFacts::parse(text).unwrap();
    let root = cluster.daemons[0].root.clone();
    facts.addresses.insert("10.0.0.1".into());
    facts
        .tools
        .extend(["sha256sum", "tar", "gzip"].map(str::to_owned));
    facts.listening.clear();
    facts.processes.clear();
    facts.observe_clock(facts.clock.start_ms, facts.clock.end_ms);
    let free_at = |path: &RemotePath| Space {
        at: path.clone(),
        writable: true,
        free: 1 << 40,
        mount: "/".into(),
    };
    let paths = cluster
        .daemons
        .iter()
        .flat_map(|d| d.data_paths.iter().cloned());
    for path in paths.chain([root.clone()]) {
        facts.space.insert(path.clone(), free_at(&path));
    }
    if let Some(old) = old {
        let dir = |entries: &[&str], path: &RemotePath| PathFact::Dir {
            real: path.to_string(),
            entries: entries.iter().map(ToString::to_string).collect(),
        };
        facts
            .paths
            .insert(root.clone(), dir(&[".nbctl-owner", "data"], &root));
        for path in cluster.daemons.iter().flat_map(|d| &d.data_paths) {
            facts.paths.insert(path.clone(), dir(&["nebula"], path));
        }
        let target = format!("versions/{OLD}");
        facts.paths.insert(
            root.join("current"),
            PathFact::Link {
                real: String::new(),
                target,
            },
        );
        facts
            .owners
            .insert(root.clone(), format!("cluster_id={}\n", cluster.id));
        let name = format!("{OLD}-nebula-graph-{old}.el7.x86_64.tar.gz");
        facts.cached.insert(root.join("cache").join(&name), 1);
        let programs =
            ["metad", "graphd", "storaged"].map(|p| format!("versions/{OLD}/bin/nebula-{p}"));
        facts.installed.insert(root, programs.into());
    }
    [(cluster.hosts[0].name.clone(), facts)].into()
}

fn planned(old: Option<&str>, from: &str, to: &str) -> Result<Upgrade, Failure> {
    let cluster = cluster(to);
    let facts = facts(&cluster, old);
    let host = cluster.hosts[0].name.clone();
    let packages: PackageChoice = [(host, package(to))].into();
    let from = Version::parse(from).unwrap();
    let seen = Observed {
        storageds: Some(BTreeMap::from([("10.0.0.1:9779".to_owned(), true)])),
        ..Observed::default()
    };
    plan(
        &Given {
            cluster: &cluster,
            facts: &facts,
            packages: &packages,
            rendered: &render(&cluster, TEMPLATE).unwrap(),
            observed: &believed(&seen, from, cluster.version),
            control: "here",
        },
        from,
    )
}

fn stages(upgrade: &Upgrade) -> Vec<&str> {
    upgrade
        .plan
        .stages
        .iter()
        .map(|stage| stage.name.as_str())
        .collect()
}

#[test]
fn data_is_kept_before_new_programs_touch_it() {
    let upgrade = planned(Some("2.6.2"), "2.6.2", "3.8.0").unwrap();
    let stages = stages(&upgrade);
    let at = |name: &str| {
        stages
            .iter()
            .position(|s| *s == name)
            .unwrap_or_else(|| panic!("{name}: {stages:?}"))
    };
    assert_eq!(at("look for room"), 0, "{stages:?}");
    assert_eq!(at("back up metad data") + 1, at("switch version"));
    assert!(at("switch version") < at("start metad"));
    assert!(stages.contains(&"add storaged"), "2.x had no list of hosts");
    assert_eq!(
        upgrade.backups,
        ["a: /home/v/nebula/backup/meta-2.6.2-before-3.8.0"]
    );
    assert_eq!(upgrade.remarks.len(), 1);
    let keep = &upgrade.plan.stages[at("back up metad data")].steps[0];
    assert!(
        keep.check
            .as_ref()
            .unwrap()
            .contains("meta-2.6.2-before-3.8.0")
    );
}

#[test]
fn what_differs_by_way() {
    let rewrites = planned(Some("2.6.2"), "2.6.2", "3.1.0").unwrap();
    let all = stages(&rewrites);
    let at = |name: &str| {
        all.iter()
            .position(|s| *s == name)
            .unwrap_or_else(|| panic!("{name}: {all:?}"))
    };
    assert!(
        at("look for db_upgrader") < at("back up metad data"),
        "{all:?}"
    );
    assert!(at("wait for metad") < at("rewrite data") && at("rewrite data") < at("start storaged"));

    let plain = planned(Some("3.6.0"), "3.6.0", "3.8.0").unwrap();
    let all = stages(&plain);
    assert!(
        !all.contains(&"rewrite data") && !all.contains(&"add storaged"),
        "{all:?}"
    );
    // Nothing is there: there is nothing to be kept.
    assert!(planned(None, "2.6.2", "3.8.0").unwrap().backups.is_empty());
    assert!(planned(Some("3.8.0"), "3.8.0", "2.6.2").is_err());
}

#[test]
fn the_version_that_is_there_is_told_by_its_package() {
    let cluster = cluster("3.8.0");
    let there = |old| deployed(&cluster, &facts(&cluster, old)).map(|v| v.to_string());
    assert_eq!(there(Some("2.6.2")).as_deref(), Some("2.6.2"));
    assert_eq!(there(None), None);
}

#[test]
fn a_purge_leaves_what_runs() {
    let cluster = cluster("3.8.0");
    let mut all = facts(&cluster, Some("3.8.0"));
    assert!(purge(&cluster, &all).is_empty());
    let facts = all.values_mut().next().unwrap();
    let root = RemotePath::new("/home/v/nebula").unwrap();
    facts
        .installed
        .get_mut(&root)
        .unwrap()
        .insert("versions/ffff00000000/bin/nebula-metad".into());
    let old = "ffff00000000-nebula-graph-2.6.2.el7.x86_64.tar.gz";
    facts.cached.insert(root.join("cache").join(old), 1);
    let backup = PathFact::Dir {
        real: "/home/v/nebula/backup".into(),
        entries: Vec::new(),
    };
    facts.paths.insert(root.join("backup"), backup);
    let expected = format!(
        "purge old versions\n  a: delete /home/v/nebula/backup\n  a: delete /home/v/nebula/cache/{old}\n  a: delete /home/v/nebula/versions/ffff00000000\n"
    );
    assert_eq!(purge(&cluster, &all).to_string(), expected);
}
