//! Plans of the monitoring stack as cases, with the stack and the templates that ship.
//!
//! A case starts from `fresh` hosts or from hosts where everything is `up` (found by doing the fresh plan on a model of a
//! host), changes something, and says what is planned then.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test helper that fails is a failed test"
)]

mod images;
mod world;

use std::collections::BTreeMap;
use std::fs;

use nbctl_core::container::ContainerSpec;
use nbctl_core::inventory::Component;
use nbctl_core::monitor::{DockerAccess, HostState, Standing, object_name, script, watched};
use nbctl_core::plan::Action;
use nbctl_core::units::{HostName, RemotePath, Sha256};

use crate::world::World;

const CASES: &str = include_str!("cases.txt");

#[test]
fn every_case_is_planned_as_it_says() {
    let mut seen = 0;
    let update = std::env::var_os("UPDATE").is_some();
    let mut fresh = CASES.split("\n=== ").next().unwrap().to_owned() + "\n";
    for case in CASES.split("\n=== ").skip(1) {
        let (title, rest) = case.split_once('\n').unwrap();
        let (changes, expected) = rest.split_once("--- ").unwrap();
        let (action, expected) = expected.split_once('\n').unwrap_or((expected, ""));
        let mut world = World::fresh();
        for line in changes.lines() {
            world.change(line);
        }
        let id = world.cluster.id.clone();
        let got = world.told(action).replace(&id, "ID");
        fresh += &[
            "=== ",
            title,
            "\n",
            changes,
            "--- ",
            action,
            "\n",
            got.trim_end(),
            "\n",
        ]
        .concat();
        assert!(
            update || got.trim_end() == expected.trim_end(),
            "{title}\n{got}"
        );
        seen += 1;
    }
    assert!(seen >= 10, "{seen} cases");
    if update {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/monitor/cases.txt");
        fs::write(path, fresh).unwrap();
    }
}

fn spec_of(world: &World, host: &str, component: Component) -> ContainerSpec {
    let plan = world.plan().unwrap().whole();
    let name = object_name(&world.cluster, component);
    let steps = plan.stages.into_iter().flat_map(|stage| stage.steps);
    steps
        .filter(|step| step.host == Some(HostName::new(host)))
        .find_map(|step| match step.action {
            Action::Container(spec) if spec.name == name => Some(*spec),
            _ => None,
        })
        .unwrap()
}

#[test]
fn nothing_listens_on_every_address() {
    let world = World::fresh();
    for (host, address) in [("h1", "10.0.0.1"), ("h2", "10.0.0.2")] {
        for component in [Component::NodeExporter, Component::ProcessExporter] {
            let spec = spec_of(&world, host, component);
            assert!(
                spec.args
                    .iter()
                    .any(|arg| arg.contains(&format!("listen-address={address}:"))),
                "{spec:?}"
            );
        }
    }
    let influxdb = spec_of(&world, "h1", Component::Influxdb);
    assert_eq!(influxdb.ports, ["10.0.0.1:8086:8086"]);
    assert_eq!(
        influxdb.env["INFLUXDB_DB_RETENTION_POLICY"],
        "WITH DURATION 172800s"
    );
    let exporter = world.files(&HostName::new("h1"));
    let config = exporter
        .iter()
        .find(|file| file.component == Component::Exporter)
        .unwrap();
    assert!(
        config.file.text.contains("listen: \"10.0.0.1:9200\""),
        "{}",
        config.file.text
    );
}

#[test]
fn rights_are_those_that_were_measured() {
    let mut world = World::fresh();
    let node = spec_of(&world, "h2", Component::NodeExporter);
    assert_eq!(node.mounts, ["/:/rootfs:ro,rslave"]);
    assert!(node.host_network && node.host_pid && node.read_only && node.cap_add.is_empty());
    let process = spec_of(&world, "h2", Component::ProcessExporter);
    assert_eq!(process.cap_add, ["SYS_PTRACE", "DAC_READ_SEARCH"]);
    world.change("private h2");
    assert_eq!(
        spec_of(&world, "h2", Component::NodeExporter).mounts,
        ["/:/rootfs:ro"]
    );
}

#[test]
fn targets_carry_cluster_host_and_role() {
    let world = World::fresh();
    let files = world.files(&HostName::new("h1"));
    let node = files
        .iter()
        .find(|file| file.file.path.as_str().ends_with("targets/node.json"))
        .unwrap();
    let groups: serde_json::Value = serde_json::from_str(&node.file.text).unwrap();
    assert_eq!(groups[1]["targets"][0], "10.0.0.2:9100");
    let labels = serde_json::json!({"cluster": "dev", "host": "h2", "role": "metad,graphd,storaged", "rack": "a"});
    assert_eq!(groups[1]["labels"], labels);
}

/// The script that ships, run by this machine's sh.
#[test]
fn the_look_at_a_host_is_understood() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("prometheus")).unwrap();
    fs::write(dir.path().join("prometheus/prometheus.yml"), "x").unwrap();
    fs::write(
        dir.path().join(".nbctl-owner"),
        "nbctl-owner 1\ncluster_id=abc123\n",
    )
    .unwrap();
    let folder = RemotePath::new(dir.path().to_str().unwrap()).unwrap();
    let socket = RemotePath::new("/nowhere.sock").unwrap();
    let files = [
        folder.join("prometheus/prometheus.yml"),
        folder.join("grafana/x y"),
    ];
    let text = script(&folder, &socket, true, &files).unwrap();
    #[expect(
        clippy::disallowed_methods,
        reason = "the host of this test is this machine"
    )]
    let output = std::process::Command::new("sh")
        .arg("-c")
        .arg(text)
        .output()
        .unwrap();
    let answer = String::from_utf8(output.stdout).unwrap();
    let state = HostState::parse(&format!("Welcome!\n{answer}")).unwrap();
    assert_eq!(state.standing, Standing::Marked("abc123".into()));
    assert_eq!(state.docker, DockerAccess::None);
    let expected = BTreeMap::from([("prometheus/prometheus.yml".to_owned(), Sha256::of(b"x"))]);
    assert_eq!(state.files, expected);
    let cut = answer.replace("\nend\n", "\n");
    assert!(HostState::parse(&cut).is_err());
}

#[test]
fn secrets_are_looked_for_and_not_rendered() {
    let world = World::fresh();
    let host = world.cluster.host(&HostName::new("h1")).unwrap();
    let files = world.files(&host.name);
    let watched = watched(&world.cluster, host, &world.stack, &files).unwrap();
    assert!(
        watched
            .iter()
            .any(|path| path.as_str().ends_with("grafana-secret/admin-password"))
    );
    assert!(
        files
            .iter()
            .all(|file| !file.file.path.as_str().contains("secret"))
    );
}
