//! Two hosts, the stack and the templates that ship, and a model of what a plan does to them.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use nbctl_core::container::ContainerSpec;
use nbctl_core::inventory::{Cluster, Source, load};
use nbctl_core::monitor::{
    Desired, DockerAccess, EngineState, Found, HostState, ImageIndex, Leave, OwnImage, Stack,
    StackFile, Standing, Templates, Up, down, files, image_mark, up,
};
use nbctl_core::plan::{Action, Plan};
use nbctl_core::units::{HostName, RemotePath, Sha256};

pub(crate) const INVENTORY: &str = "
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

pub(crate) struct World {
    pub(crate) cluster: Cluster,
    pub(crate) stack: Stack,
    pub(crate) index: ImageIndex,
    pub(crate) own: OwnImage,
    pub(crate) states: BTreeMap<HostName, HostState>,
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
    pub(crate) fn fresh() -> Self {
        Self::of(INVENTORY)
    }

    pub(crate) fn of(inventory: &str) -> Self {
        let loaded = load(&Source::new("inventory.yaml", inventory));
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

    pub(crate) fn files(&self, host: &HostName) -> Vec<StackFile> {
        let host = self.cluster.host(host).unwrap();
        files(&self.cluster, host, &self.stack, &templates(&self.stack)).unwrap()
    }

    pub(crate) fn plan(&self) -> Result<Up, String> {
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
    pub(crate) fn apply(&mut self, plan: &Plan) {
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
    pub(crate) fn change(&mut self, line: &str) {
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

    pub(crate) fn told(&self, action: &str) -> String {
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
