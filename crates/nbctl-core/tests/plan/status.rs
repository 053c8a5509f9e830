//! The table of `nbctl status`, and what it says of builds.

use std::collections::BTreeMap;

use nbctl_core::deploy;
use nbctl_core::inventory::Cluster;
use nbctl_core::package::Promise;
use nbctl_core::status::{Answer, Seen, Status, status};
use nbctl_core::units::HostName;

use super::world::World;
use super::{TEMPLATE, THREE, cluster, deployed};

fn seen(world: &World, wanted: &Cluster, change: impl Fn(&mut BTreeMap<String, Answer>)) -> Status {
    held(world, wanted, None, change)
}

fn held(
    world: &World,
    wanted: &Cluster,
    promise: Option<&Promise>,
    change: impl Fn(&mut BTreeMap<String, Answer>),
) -> Status {
    let runs = |id: &String| {
        world
            .hosts
            .values()
            .any(|host| host.processes.contains_key(id))
    };
    let answer = |id: &String| Answer {
        serves: runs(id),
        sha: runs(id).then(|| "db3c1b3".to_owned()),
        version: Some("3.8.0".into()),
    };
    let ids = wanted.daemons.iter().map(nbctl_core::inventory::Daemon::id);
    let mut answers = ids.map(|id| (id.clone(), answer(&id))).collect();
    change(&mut answers);
    status(&Seen {
        cluster: wanted,
        facts: &world.facts(),
        rendered: &deploy::render(wanted, TEMPLATE).unwrap(),
        observed: &world.observed(),
        answers: &answers,
        promise,
    })
}

fn problems(status: &Status) -> Vec<String> {
    let rows = status.rows.iter();
    let rows = rows.flat_map(|row| {
        row.problems
            .iter()
            .map(move |p| format!("{}: {p}", row.daemon))
    });
    rows.chain(status.problems.iter().cloned()).collect()
}

#[test]
fn status_equals_the_inventory_or_says_why() {
    let world = deployed(THREE, None);
    let good = seen(&world, &world.cluster, |_| ());
    assert!(good.equal && good.rows.len() == 9, "{good:?}");
    assert!(
        good.rows
            .iter()
            .all(|row| row.pid.is_some() && row.ports_open == row.ports && row.ports > 1)
    );

    let mut few = world.clone();
    few.hosts.get_mut(&HostName::new("s3")).unwrap().few_files = Some(1024);
    let remarks = seen(&few, &few.cluster, |_| ());
    let remarks: Vec<&str> = remarks
        .rows
        .iter()
        .flat_map(|row| &row.remarks)
        .map(String::as_str)
        .collect();
    assert_eq!(remarks, ["may open 1024 files only"; 3]);

    let mut ill = world.clone();
    ill.hosts
        .get_mut(&HostName::new("s2"))
        .unwrap()
        .processes
        .remove("storaged@s2")
        .unwrap();
    ill.storageds.insert("10.0.0.2:9779".into(), false);
    ill.storageds.insert("10.0.0.7:9779".into(), true);
    let bad = seen(&ill, &ill.cluster, |_| ());
    let expected = [
        "storaged@s2: does not run",
        "SHOW HOSTS lists 10.0.0.7:9779, which is not in the inventory",
    ];
    assert!(!bad.equal);
    assert_eq!(problems(&bad), expected);

    let other = cluster(&THREE.replace(
        "data_dir: /data/nebula }",
        "data_dir: /data/nebula, graphd: { flags: { v: 1 } } }",
    ));
    let differs = seen(&world, &other, |answers| {
        answers.get_mut("metad@s1").unwrap().sha = Some("0000000".into());
        answers.get_mut("metad@s2").unwrap().serves = false;
        answers.get_mut("metad@s3").unwrap().version = Some("v3.6.0".into());
    });
    let conf = "/home/vesoft/nebula/etc/nebula-graphd.conf differs from the inventory";
    let expected = [
        format!("graphd@s1: {conf}"),
        "metad@s2: does not serve".into(),
        format!("graphd@s2: {conf}"),
        "metad@s3: is version 3.6.0, not 3.8.0".into(),
        format!("graphd@s3: {conf}"),
        "daemons of different builds run together: 0000000, db3c1b3".into(),
    ];
    assert_eq!(problems(&differs), expected);
}

#[test]
fn a_nightly_is_held_to_its_commit() {
    let world = deployed(THREE, None);
    let mut nightly = world.cluster.clone();
    nightly.nightly = Some("2022.02.23".into());
    let plain = seen(&world, &nightly, |_| ());
    let remark = "nothing says which commit the nightly build of 2022.02.23 is made from; its daemons say db3c1b3 (`nebula.commit` would hold them to it)";
    assert_eq!(plain.remarks, [remark]);
    assert!(plain.equal);

    let promise = |text: &str| Promise::read(text, "commit.txt");
    let cases: [(&str, &[&str]); 2] = [
        ("db3c1b3e8a1f0c9d", &[]),
        (
            "1111111222222",
            &["metad@s1: is build db3c1b3, while commit.txt says 1111111222222"],
        ),
    ];
    for (commit, expected) in cases {
        let promise = promise(commit);
        let status = held(&world, &nightly, promise.as_ref(), |answers| {
            answers.retain(|daemon, _| daemon == "metad@s1");
        });
        assert_eq!(status.remarks, [] as [&str; 0]);
        let builds: Vec<String> = problems(&status)
            .into_iter()
            .filter(|problem| problem.contains("build"))
            .collect();
        assert_eq!(builds, expected, "{commit}");
    }
}
