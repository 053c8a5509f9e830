//! Plans of the monitoring stack as cases, with the stack and the templates that ship.
//!
//! A case starts from `fresh` hosts or from hosts where everything is `up` (found by doing the fresh plan on a model of a
//! host), changes something, and says what is planned then.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test helper that fails is a failed test"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use nbctl_core::container::ContainerSpec;
use nbctl_core::inventory::{Cluster, Component, Source, load};
use nbctl_core::monitor::{
    Desired, DockerAccess, EngineState, Found, HostState, ImageIndex, Leave, OwnImage, Stack,
    StackFile, Standing, Templates, Up, down, files, image_mark, object_name, script, up, watched,
};
use nbctl_core::plan::{Action, Plan};
use nbctl_core::units::{HostName, RemotePath, Sha256};

const CASES: &str = include_str!("monitor-cases.txt");
const INVENTORY: &str = "
format: 1
cluster: dev
nebula: {version: 3.8.0, deploy_dir: /home/nebula/n}
ssh: {user: nebula}
monitor: {images: images, retention: 2d}
hosts:
  - {name: h1, address: 10.0.0.1, roles: [monitor, load]}
  - {name: h2, address: 10.0.0.2, roles: [metad, graphd, storaged], labels: {rack: a}}
";
const INDEX: &str = "
format: 1
images:
  - {component: prometheus, image: 'x/prometheus:1', id: 'sha256:1', file: servers.tar}
  - {component: influxdb, image: 'x/influxdb:1', id: 'sha256:2', file: servers.tar}
  - {component: node-exporter, image: 'x/node:1', id: 'sha256:3', file: exporters.tar}
  - {component: process-exporter, image: 'x/process:1', id: 'sha256:4', file: exporters.tar}
";

struct World {
    cluster: Cluster,
    stack: Stack,
    index: ImageIndex,
    own: OwnImage,
    states: BTreeMap<HostName, HostState>,
}

fn asset(name: &str) -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::read_to_string(root.join(name)).unwrap()
}

fn templates(stack: &Stack) -> Templates {
    let specs = stack.components.values().flat_map(|part| &part.files);
    specs
        .map(|spec| (spec.template.clone(), asset(&spec.template)))
        .collect()
}

impl World {
    fn fresh() -> Self {
        let loaded = load(&Source::new("inventory.yaml", INVENTORY));
        let cluster = loaded.cluster.unwrap();
        let state = || HostState {
            uid: 1000,
            user: "nebula".into(),
            root_shared: true,
            docker: DockerAccess::Ok,
            engine: Some(EngineState::default()),
            ..HostState::default()
        };
        Self {
            states: cluster
                .hosts
                .iter()
                .map(|host| (host.name.clone(), state()))
                .collect(),
            stack: Stack::parse(&asset("monitoring/stack.yaml")).unwrap(),
            index: ImageIndex::parse(INDEX, "/images").unwrap(),
            own: OwnImage {
                reference: "nbctl/exporter:abc".into(),
                id: "sha256:9".into(),
                tarball: "/own.tar".into(),
                layers: Vec::new(),
            },
            cluster,
        }
    }

    fn files(&self, host: &HostName) -> Vec<StackFile> {
        let host = self.cluster.host(host).unwrap();
        files(&self.cluster, host, &self.stack, &templates(&self.stack)).unwrap()
    }

    fn plan(&self) -> Result<Up, String> {
        let desired = Desired {
            cluster: &self.cluster,
            stack: &self.stack,
            index: Some(&self.index),
            own: Some(&self.own),
            offline: false,
            marker: "cluster_id=x\n",
        };
        let mut plan = Up::default();
        for (name, state) in &self.states {
            let host = self.cluster.host(name).unwrap();
            let socket = RemotePath::new("/var/run/docker.sock").unwrap();
            state
                .check_docker(name.as_str(), &socket)
                .map_err(|failure| failure.to_string())?;
            up(&desired, host, &self.files(name), state, &mut plan)
                .map_err(|failure| failure.to_string())?;
        }
        Ok(plan)
    }

    /// Does a plan on the model.
    fn apply(&mut self, plan: &Plan) {
        for step in plan.stages.iter().flat_map(|stage| &stage.steps) {
            let name = step.host.clone().unwrap();
            let dir = self
                .cluster
                .host(&name)
                .unwrap()
                .monitor_dir
                .clone()
                .unwrap();
            let state = self.states.get_mut(&name).unwrap();
            let engine = state.engine.as_mut().unwrap();
            match &step.action {
                Action::Put(file) => {
                    let below = file
                        .path
                        .as_str()
                        .strip_prefix(dir.as_str())
                        .unwrap()
                        .trim_start_matches('/');
                    state.files.insert(below.to_owned(), file.sha256());
                }
                Action::Image(image) => {
                    let id = image.id.clone().unwrap_or_default();
                    engine.images.insert(image.reference.clone(), id.clone());
                    engine.images.insert(
                        format!("{}/{}", image_mark(&self.cluster.id), image.reference),
                        id,
                    );
                }
                Action::Container(spec) => {
                    engine.containers.insert(spec.name.clone(), found(spec));
                    let volumes = spec.mounts.iter().filter(|mount| !mount.starts_with('/'));
                    engine
                        .volumes
                        .extend(volumes.map(|mount| mount.split(':').next().unwrap().to_owned()));
                }
                Action::Run(_) => state.standing = Standing::Marked(self.cluster.id.clone()),
                _ => {}
            }
        }
    }

    /// One line of a case.
    fn change(&mut self, line: &str) {
        let words: Vec<&str> = line.split(' ').collect();
        if words == ["up"] {
            let plan = self.plan().unwrap().whole();
            return self.apply(&plan);
        }
        let [what, host, rest @ ..] = &words[..] else {
            panic!("{line}")
        };
        let state = self.states.get_mut(&HostName::new(*host)).unwrap();
        let engine = state.engine.as_mut().unwrap();
        let container = |component: &str| format!("nbctl-dev-{component}");
        match (*what, rest) {
            ("stop", [component]) => {
                engine
                    .containers
                    .get_mut(&container(component))
                    .unwrap()
                    .running = false;
            }
            ("remove", [component]) => drop(engine.containers.remove(&container(component))),
            ("extra", [name]) => drop(
                engine
                    .containers
                    .insert((*name).to_owned(), Found::default()),
            ),
            ("edit", [path]) => drop(state.files.insert((*path).to_owned(), Sha256::of(b"other"))),
            ("image", [reference, id]) => drop(
                engine
                    .images
                    .insert((*reference).to_owned(), (*id).to_owned()),
            ),
            ("reload", [reference, id]) => drop(
                self.index
                    .images
                    .iter_mut()
                    .find(|entry| entry.image == *reference)
                    .unwrap()
                    .id
                    .replace((*id).to_owned()),
            ),
            ("private", []) => state.root_shared = false,
            ("marker", [id]) => state.standing = Standing::Marked((*id).to_owned()),
            ("taken", []) => {
                state.standing = Standing::Taken("has files that nbctl did not put there".into());
            }
            ("denied", []) => state.docker = DockerAccess::Denied("root:docker 660".into()),
            _ => panic!("{line}"),
        }
    }

    fn told(&self, action: &str) -> String {
        let leave = match action {
            "plan" => {
                return match self.plan() {
                    Err(failure) => failure,
                    Ok(plan) => {
                        let notices: Vec<String> = plan
                            .notices
                            .iter()
                            .map(|notice| format!("note: {notice}\n"))
                            .collect();
                        let notices = notices.concat();
                        format!("{}{notices}", plan.whole())
                    }
                };
            }
            "down" => Leave {
                data: true,
                images: true,
            },
            "down --data --purge" => Leave {
                data: false,
                images: false,
            },
            other => panic!("{other}"),
        };
        let hosts = self.states.iter();
        hosts
            .map(|(name, state)| {
                down(
                    &self.cluster,
                    self.cluster.host(name).unwrap(),
                    state,
                    leave,
                )
                .to_string()
            })
            .collect()
    }
}

fn found(spec: &ContainerSpec) -> Found {
    Found {
        component: spec.component.clone(),
        spec: spec.hash().to_string(),
        running: true,
        status: "Up".into(),
        image: spec.image.clone(),
    }
}

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
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/monitor-cases.txt");
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
