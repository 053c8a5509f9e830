//! How far a roll goes, and what it leaves to other commands.

use super::{Limit, world};
use crate::units::HostName;

/// What a daemon works with instead, how far the roll may go, a part of the refusal or a step.
const LIMITS: [(&str, Limit, &str); 6] = [
    (
        "storaged@s1 wal_ttl=600",
        Limit::Set,
        "set wal_ttl=3600 on storaged@s1",
    ),
    (
        "storaged@s1 rocksdb_block_cache=8",
        Limit::Set,
        "only a restart brings these back",
    ),
    (
        "storaged@s1 rocksdb_block_cache=8",
        Limit::Restart,
        "start storaged@s1",
    ),
    (
        "storaged@s1 data_path=/old",
        Limit::Restart,
        "not rolled out one by one",
    ),
    (
        "graphd@s2 meta_server_addrs=10.0.0.9:9559",
        Limit::Restart,
        "`nbctl deploy` checks",
    ),
    (
        "storaged@s2 foreign",
        Limit::Set,
        "/home/v/nebula belongs to cluster other",
    ),
];

#[test]
fn how_far_a_roll_may_go() {
    for (change, limit, expected) in LIMITS {
        let mut world = world("3.8.0");
        if let Some(daemon) = change.strip_suffix(" foreign") {
            let host = daemon.split('@').next_back().unwrap();
            let facts = world.facts.get_mut(&HostName::new(host)).unwrap();
            let marker = "cluster_id=feed\ncluster=other\n".to_owned();
            facts
                .owners
                .values_mut()
                .for_each(|text| text.clone_from(&marker));
        } else {
            world = world.with(&[change]);
        }
        let told = match world.limited(Some(&[]), limit) {
            Ok(roll) => roll.plan.to_string(),
            Err(failure) => failure.to_string(),
        };
        assert!(told.contains(expected), "{change}: {told}");
    }
}
