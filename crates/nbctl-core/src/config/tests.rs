//! Rows, differences, settings and rolls of a cluster whose daemons answer what a case says.

mod limits;

use super::*;
use crate::deploy::{Facts, Rendered, render};
use crate::facts::{HostFacts, PathFact};
use crate::inventory::{Role, Source, load};

const TEMPLATE: &str = "{% for f in flags %}--{{ f.name }}={{ f.value }}\n{% endfor %}";

struct World {
    cluster: Cluster,
    told: BTreeMap<String, Told>,
    facts: Facts,
    rendered: Rendered,
}

/// A cluster of three hosts that runs as its inventory says.
fn world(version: &str) -> World {
    let text = format!(
        "format: 1\ncluster: c\nssh: {{user: v}}\nnebula:\n  version: {version}\n  deploy_dir: /home/v/nebula\n  storaged: {{flags: {{wal_ttl: 3600}}}}\n\
         hosts:\n  - address: 10.0.0.[1:3]\n    name: s[1:3]\n    roles: [metad, graphd, storaged]\n"
    );
    let cluster = load(&Source::new("inv.yaml", text)).cluster.unwrap();
    let rendered = render(&cluster, TEMPLATE).unwrap();
    let mut facts = Facts::new();
    let mut told = BTreeMap::new();
    for daemon in &cluster.daemons {
        let of_host: &mut HostFacts = facts.entry(daemon.host.clone()).or_default();
        of_host
            .files
            .insert(daemon.conf.clone(), Some(rendered[&daemon.id()].sha256()));
        let root = daemon.root.clone();
        let folder = PathFact::Dir {
            real: root.to_string(),
            entries: vec![".nbctl-owner".into()],
        };
        of_host.paths.insert(root.clone(), folder);
        let marker = format!("cluster_id={}\n", cluster.id);
        of_host.owners.insert(root, marker);
        let mut answer = Told::default();
        for flag in Catalogue::builtin()
            .iter()
            .filter(|f| f.is_for(daemon.role) && f.exists_in(cluster.version))
        {
            let Some(default) = flag.default(cluster.version) else {
                continue;
            };
            let written = daemon.flags.get(&flag.name).map_or(default, String::as_str);
            answer.flags.insert(flag.name.clone(), typed(written));
            answer.defaults.insert(flag.name.clone(), typed(default));
        }
        for (name, value) in &daemon.flags {
            answer.flags.insert(name.clone(), typed(value));
        }
        told.insert(daemon.id(), answer);
    }
    World {
        cluster,
        told,
        facts,
        rendered,
    }
}

fn typed(text: &str) -> Value {
    match (text.parse::<i64>(), text.parse::<bool>()) {
        (Ok(number), _) => number.into(),
        (_, Ok(boolean)) => boolean.into(),
        _ => text.into(),
    }
}

impl World {
    /// `daemon flag=value`: a daemon works with something else.
    fn with(mut self, changes: &[&str]) -> Self {
        for change in changes {
            let (daemon, rest) = change.split_once(' ').unwrap();
            match rest.split_once('=') {
                Some((flag, value)) => drop(
                    self.told
                        .get_mut(daemon)
                        .unwrap()
                        .flags
                        .insert(flag.into(), typed(value)),
                ),
                None if rest == "silent" => drop(self.told.remove(daemon)),
                None => {
                    let found = self
                        .cluster
                        .daemons
                        .iter()
                        .find(|d| d.id() == daemon)
                        .unwrap();
                    self.facts
                        .get_mut(&found.host)
                        .unwrap()
                        .files
                        .insert(found.conf.clone(), None);
                }
            }
        }
        self
    }

    fn selection(&self, roles: &[Role]) -> Selection {
        Selection::new(&self.cluster, &[], roles).unwrap()
    }

    fn roll(&self, spaces: Option<&[Space]>) -> Result<Roll, crate::failure::Failure> {
        self.limited(spaces, Limit::Restart)
    }

    fn limited(
        &self,
        spaces: Option<&[Space]>,
        limit: Limit,
    ) -> Result<Roll, crate::failure::Failure> {
        let selection = self.selection(&[]);
        let asked = Asked {
            cluster: &self.cluster,
            told: &self.told,
            selection: &selection,
        };
        roll(&RollGiven {
            asked,
            facts: &self.facts,
            rendered: &self.rendered,
            spaces,
            limit,
        })
    }
}

#[test]
fn a_cluster_as_its_inventory_says_has_no_difference() {
    for version in ["2.0.1", "2.6.2", "3.8.0"] {
        let world = world(version);
        let selection = world.selection(&[]);
        let asked = Asked {
            cluster: &world.cluster,
            told: &world.told,
            selection: &selection,
        };
        assert_eq!(asked.diff(), [], "{version}");
        assert!(asked.rows().iter().all(|row| !row.differs));
        let roll = world.roll(Some(&[])).unwrap();
        assert!(
            roll.plan.is_empty() && roll.remarks.is_empty(),
            "{version}: {}",
            roll.plan
        );
    }
}

#[test]
fn differences_are_told_flag_by_flag_and_option_by_option() {
    let world = world("3.8.0").with(&[
        "storaged@s1 wal_ttl=14400",
        "storaged@s2 rocksdb_column_family_options={\"write_buffer_size\":\"1\",\"max_write_buffer_number\":\"4\",\"max_bytes_for_level_base\":\"268435456\"}",
        "graphd@s2 minloglevel=0",
        "storaged@s3 auto_remove_invalid_space=false",
        "metad@s3 silent",
    ]);
    let selection = world.selection(&[]);
    let asked = Asked {
        cluster: &world.cluster,
        told: &world.told,
        selection: &selection,
    };
    let told: Vec<String> = asked.diff().iter().map(ToString::to_string).collect();
    let expected = [
        "storaged@s1: wal_ttl is 14400, not 3600",
        "storaged@s2: rocksdb_column_family_options.write_buffer_size is 1, not 67108864",
        "metad@s3: /flags does not answer",
        // Set on the running daemon; the inventory leaves it at its default.
        "storaged@s3: auto_remove_invalid_space is false, not true",
    ];
    assert_eq!(told, expected);
    let rows = asked.rows();
    let row = rows
        .iter()
        .find(|r| r.daemon == "storaged@s2" && r.flag.ends_with(".write_buffer_size"))
        .unwrap();
    assert_eq!(
        (
            row.effective.as_deref(),
            row.inventory.as_deref(),
            row.change,
            row.differs
        ),
        (Some("1"), Some("67108864"), Some(Change::Restart), true)
    );
    let row = rows
        .iter()
        .find(|r| r.daemon == "storaged@s1" && r.flag == "wal_ttl")
        .unwrap();
    assert_eq!(
        (row.default.as_deref(), row.change, row.differs),
        (Some("14400"), Some(Change::Dynamic), true)
    );
}

/// Assignment, roles meant, the plan or a part of the refusal.
const SETTINGS: [(&str, &[Role], &str); 11] = [
    (
        "wal_ttl=600",
        &[],
        "set flags\n  s1: set wal_ttl=600 on storaged@s1\n  s2: set wal_ttl=600 on storaged@s2\n  s3: set wal_ttl=600 on storaged@s3\n",
    ),
    ("wal_ttl=3600", &[], ""),
    ("wal_ttl=soon", &[], "wal_ttl: `soon` is not a number"),
    (
        "wal_ttl=1",
        &[Role::Graphd],
        "wal_ttl: belongs to storaged, none of which is meant",
    ),
    (
        "rocksdb_block_cache=1",
        &[],
        "rocksdb_block_cache: read at start only: a restart is needed",
    ),
    (
        "write_buffer_size=1",
        &[],
        "write_buffer_size: an option inside rocksdb_column_family_options",
    ),
    (
        "rocksdb_db_options.x=1",
        &[],
        "an option inside rocksdb_db_options",
    ),
    ("wal_tll=1", &[], "did you mean wal_ttl?"),
    (
        "vertex_cache_num=1",
        &[],
        "vertex_cache_num: 3.8.0 has no such flag",
    ),
    (
        "heartbeat_interval_secs=1",
        &[Role::Storaged],
        "must be equal on all daemons",
    ),
    (
        "auto_remove_invalid_space=maybe",
        &[],
        "`maybe` is not true or false",
    ),
];

#[test]
fn what_can_be_set_on_running_daemons() {
    let world = world("3.8.0");
    for (assignment, roles, expected) in SETTINGS {
        let selection = world.selection(roles);
        let asked = Asked {
            cluster: &world.cluster,
            told: &world.told,
            selection: &selection,
        };
        let (name, value) = assignment.split_once('=').unwrap();
        let told = match set(&asked, &[(name.to_owned(), value.to_owned())].into()) {
            Ok(plan) => {
                assert_eq!(plan.to_string(), expected, "{assignment}");
                continue;
            }
            Err(failure) => failure.to_string(),
        };
        assert!(
            told.contains(expected) && !expected.is_empty(),
            "{assignment}: {told}"
        );
    }
}

#[test]
fn a_roll_takes_the_cheapest_means() {
    let spaces = [("snb", 1), ("safe", 3)].map(|(name, replicas)| Space {
        name: name.into(),
        replicas,
    });
    let dynamic = world("3.8.0")
        .with(&["storaged@s2 wal_ttl=14400", "storaged@s2 file"])
        .roll(Some(&spaces))
        .unwrap();
    let expected = "roll storaged@s2\n  s2: write /home/v/nebula/etc/nebula-storaged.conf\n  s2: set wal_ttl=3600 on storaged@s2\n";
    assert_eq!(dynamic.plan.to_string(), expected);
    assert!(dynamic.remarks.is_empty());

    let cold = [
        "graphd@s1 enable_optimizer=false",
        "storaged@s1 rocksdb_block_cache=8",
        "storaged@s2 rocksdb_block_cache=8",
    ];
    let restart = world("3.8.0").with(&cold).roll(Some(&spaces)).unwrap();
    let stages: Vec<&str> = restart
        .plan
        .stages
        .iter()
        .map(|stage| stage.name.as_str())
        .collect();
    let expected = [
        "roll storaged@s1",
        "health after storaged@s1",
        "roll storaged@s2",
        "health after storaged@s2",
        "roll graphd@s1",
        "balance leaders",
    ];
    assert_eq!(stages, expected);
    let first: Vec<&str> = restart.plan.stages[0]
        .steps
        .iter()
        .map(|step| step.title.as_str())
        .collect();
    let expected = [
        "stop storaged@s1: rocksdb_block_cache is 8, not 4",
        "write /home/v/nebula/etc/nebula-storaged.conf",
        "start storaged@s1",
        "wait until storaged@s1 serves",
    ];
    assert_eq!(first, expected);
    assert_eq!(
        restart.plan.stages[5].steps.len(),
        2,
        "one statement a space"
    );
    let remark = "space snb has replica factor 1: the partitions of each of 2 storaged are out of service while it restarts";
    assert_eq!(restart.remarks, [remark]);
}

#[test]
fn a_roll_says_what_it_does_not_know() {
    let spaces = [Space {
        name: "snb".into(),
        replicas: 1,
    }];

    let blind = world("2.6.2").with(&["storaged@s3 rocksdb_block_cache=8"]);
    assert_eq!(
        blind.roll(Some(&spaces)).unwrap().plan.stages[2]
            .steps
            .len(),
        1,
        "leaders of a whole cluster up to 2.6"
    );
    assert!(blind.roll(None).unwrap().remarks[0].contains("not known"));
    let failure = world("3.8.0")
        .with(&["metad@s1 silent"])
        .roll(None)
        .unwrap_err();
    assert!(failure.to_string().contains("metad@s1"), "{failure}");
}
