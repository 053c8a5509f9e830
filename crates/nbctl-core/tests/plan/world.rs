//! A world in memory: hosts with files and processes, on which the steps of a plan take effect.
//!
//! Duty: answer the facts request as a host would, and carry out steps by what their titles and actions
//! promise. The scripts themselves run for real in `tests/scripts.rs`.

use std::collections::BTreeMap;

use nbctl_core::deploy::{Observed, facts_request};
use nbctl_core::facts::{FactsRequest, HostFacts};
use nbctl_core::inventory::{Cluster, Daemon, DaemonRole};
use nbctl_core::plan::{Action, Plan, Probe, Step};
use nbctl_core::units::{HostName, Sha256};

#[derive(Debug, Clone)]
pub(crate) enum Node {
    Dir,
    File { text: String, bytes: u64 },
    Link(String),
}

#[derive(Debug, Clone, Default)]
pub(crate) struct SimHost {
    pub(crate) address: String,
    pub(crate) nodes: BTreeMap<String, Node>,
    /// Daemon id to executable.
    pub(crate) processes: BTreeMap<String, String>,
    /// Open files that its daemons may have, when not 130000.
    pub(crate) few_files: Option<u32>,
    /// Lines added to the answer, and (after `-`) removed from it.
    pub(crate) extra: Vec<String>,
}

#[derive(Debug, Clone)]
pub(crate) struct World {
    pub(crate) cluster: Cluster,
    pub(crate) hosts: BTreeMap<HostName, SimHost>,
    /// ADD HOSTS so far, with whether the process was seen.
    pub(crate) storageds: BTreeMap<String, bool>,
}

const GOOD: &str = "clock | start | 1764500000.0\nclock | end | 1764500000.1\nos | centos | 7 | CentOS Linux 7\n\
    kernel | 3.10.0 | x86_64\nglibc | glibc 2.17\nboot | b\ncpus | 8\nmemory | MemTotal | 33554432\n\
    nofile | 1024 | 130000\nsetting | thp | always madvise [never]\nsetting | systemd | yes\nuser | vesoft | 1000 | /home/vesoft\nsudo | yes\n\
    tool | bash\ntool | ps\ntool | ss\ntool | tar\ntool | gzip\ntool | rpm2cpio\ntool | cpio\n\
    tool | sha256sum\naddress | 127.0.0.1\nticks | 100 | 1764400000";

impl World {
    pub(crate) fn bare(cluster: Cluster) -> Self {
        let host = |h: &nbctl_core::inventory::Host| {
            (
                h.name.clone(),
                SimHost {
                    address: h.address.clone(),
                    ..SimHost::default()
                },
            )
        };
        let hosts = cluster.hosts.iter().map(host).collect();
        Self {
            cluster,
            hosts,
            storageds: BTreeMap::new(),
        }
    }

    pub(crate) fn facts(&self) -> BTreeMap<HostName, HostFacts> {
        let one = |(name, host): (&HostName, &SimHost)| {
            let text = host.answer(&facts_request(&self.cluster, name), self);
            let mut facts = HostFacts::parse(&text).unwrap();
            facts.observe_clock(1_764_500_000_000, 1_764_500_000_100);
            (name.clone(), facts)
        };
        self.hosts.iter().map(one).collect()
    }

    /// What a graphd would say, when one runs.
    pub(crate) fn observed(&self) -> Observed {
        let mut ids = self.hosts.values().flat_map(|host| host.processes.keys());
        let asked = ids.any(|id| id.starts_with("graphd"));
        Observed {
            storageds: asked.then(|| self.storageds.clone()),
            ..Observed::default()
        }
    }

    pub(crate) fn daemon(&self, id: &str) -> &Daemon {
        self.cluster
            .daemons
            .iter()
            .find(|daemon| daemon.id() == id)
            .unwrap()
    }

    pub(crate) fn apply(&mut self, plan: &Plan) {
        for step in plan.stages.iter().flat_map(|stage| &stage.steps) {
            self.step(step);
        }
    }

    pub(crate) fn step(&mut self, step: &Step) {
        match (&step.action, &step.host) {
            (Action::Query(statement), None) => {
                let endpoint = statement
                    .text
                    .trim_start_matches("ADD HOSTS ")
                    .replace('"', "");
                self.storageds.entry(endpoint).or_insert(false);
            }
            (Action::Wait(wait), _) => self.wait(&wait.probe),
            (_, Some(host)) => self.on(host, step),
            other => panic!("{other:?}"),
        }
    }

    fn wait(&mut self, probe: &Probe) {
        let Probe::StoragesOnline { hosts } = probe else {
            return;
        };
        for endpoint in hosts {
            let online = self.storageds.get_mut(endpoint);
            *online.unwrap_or_else(|| panic!("{endpoint} was never added")) = true;
        }
    }

    fn on(&mut self, name: &HostName, step: &Step) {
        let id = self.cluster.id.clone();
        let host = self.hosts.get_mut(name).unwrap();
        match &step.action {
            Action::Upload(upload) => host.put(upload.path.as_str(), "", upload.bytes),
            Action::Put(file) => host.put(file.path.as_str(), &file.text, 1),
            Action::Delete(delete) => {
                let marker = format!("{}/.nbctl-owner", delete.owner_root);
                assert!(host.nodes.contains_key(&marker), "{step}: no marker");
                assert_eq!(delete.cluster_id, id);
                let below = |exe: &String| exe.starts_with(delete.path.as_str());
                assert!(
                    !host.processes.values().any(below),
                    "{step}: something runs there"
                );
                host.delete(delete.path.as_str());
            }
            Action::Run(script) => self.script(name, step, &script.text),
            other => panic!("{step}: {other:?}"),
        }
    }

    /// What a script does, by the title of its step.
    fn script(&mut self, name: &HostName, step: &Step, text: &str) {
        let metad = self.runs(DaemonRole::Metad);
        let words: Vec<&str> = step
            .title
            .split([' ', ',', ':'])
            .filter(|w| !w.is_empty())
            .collect();
        let daemon = self
            .cluster
            .daemons
            .iter()
            .find(|d| d.id() == words[1])
            .cloned();
        let programs = self.programs(name, words.last().unwrap());
        let id = self.cluster.id.clone();
        let host = self.hosts.get_mut(name).unwrap();
        match words.as_slice() {
            ["create", "and", "mark", paths @ ..] => host.claim(paths, &id),
            ["create", paths @ ..] => {
                for path in paths {
                    host.mkdir(path);
                }
            }
            ["install", package, "in", folder] => host.install(package, folder, &programs),
            ["switch", root, "to", ..] => host.switch(root, text),
            ["start", ..] => {
                let daemon = daemon.unwrap();
                assert!(
                    daemon.role == DaemonRole::Metad || metad,
                    "{step}: no metad runs"
                );
                host.start(&daemon);
            }
            ["stop", ..] => drop(host.processes.remove(&daemon.unwrap().id()).unwrap()),
            ["remove", "links", "in", root] => {
                host.nodes.remove(&format!("{root}/current"));
                host.nodes.remove(&format!("{root}/share"));
            }
            ["write", path] => {
                let unit = text.split_once("text='").unwrap().1;
                host.put(path, unit.split_once("'\n").unwrap().0, 1);
            }
            ["remove", path] => drop(host.nodes.remove(*path).unwrap()),
            ["remove", "empty", path] => host.delete(path),
            other => panic!("{step}: {other:?}"),
        }
    }

    /// The programs of the folder that a version folder lies in.
    fn programs(&self, host: &HostName, version: &str) -> Vec<&'static str> {
        let root = version
            .split_once("/versions/")
            .map_or("", |(root, _)| root);
        let here = self
            .cluster
            .daemons_on(host)
            .filter(|daemon| daemon.root.as_str() == root);
        here.map(|daemon| daemon.role.program()).collect()
    }

    fn runs(&self, role: DaemonRole) -> bool {
        self.hosts.values().any(|host| {
            host.processes
                .keys()
                .any(|id| id.starts_with(role.as_str()))
        })
    }
}

impl SimHost {
    pub(crate) fn mkdir(&mut self, path: &str) {
        let parts: Vec<&str> = path.split('/').collect();
        for n in 2..=parts.len() {
            self.nodes.entry(parts[..n].join("/")).or_insert(Node::Dir);
        }
    }

    pub(crate) fn put(&mut self, path: &str, text: &str, bytes: u64) {
        self.mkdir(path.rsplit_once('/').unwrap().0);
        self.nodes.insert(
            path.to_owned(),
            Node::File {
                text: text.to_owned(),
                bytes,
            },
        );
    }

    fn claim(&mut self, paths: &[&str], id: &str) {
        for path in paths {
            let text = format!("nbctl-owner 1\ncluster_id={id}\ncluster=x\ncontrol=c\ntime=t\n");
            self.put(&format!("{path}/.nbctl-owner"), &text, 1);
        }
    }

    fn install(&mut self, package: &str, folder: &str, programs: &[&str]) {
        let cached = |path: &String| path.contains("/cache/") && path.ends_with(package);
        assert!(
            self.nodes.keys().any(cached),
            "{package} is not in the cache"
        );
        for program in programs {
            self.put(&format!("{folder}/bin/{program}"), "", 1);
        }
    }

    fn switch(&mut self, root: &str, script: &str) {
        let version = script
            .lines()
            .find_map(|line| line.strip_prefix("version="));
        let version = version.unwrap().to_owned();
        assert!(
            self.nodes.contains_key(&format!("{root}/{version}")),
            "{version} is not installed"
        );
        self.nodes
            .insert(format!("{root}/current"), Node::Link(version));
        self.nodes
            .insert(format!("{root}/share"), Node::Link("current/share".into()));
    }

    fn delete(&mut self, path: &str) {
        self.nodes
            .retain(|node, _| node != path && !node.starts_with(&format!("{path}/")));
    }

    fn start(&mut self, daemon: &Daemon) {
        let current = self.nodes.get(&format!("{}/current", daemon.root));
        let Some(Node::Link(version)) = current else {
            panic!("{}: no current", daemon.id())
        };
        assert!(
            self.nodes.contains_key(daemon.conf.as_str()),
            "{}: no conf",
            daemon.id()
        );
        let exe = format!("{}/{version}/bin/{}", daemon.root, daemon.role.program());
        assert!(self.nodes.contains_key(&exe), "no {exe}");
        for path in &daemon.data_paths {
            self.mkdir(&format!("{path}/nebula"));
        }
        assert!(
            self.processes.insert(daemon.id(), exe).is_none(),
            "{} runs twice",
            daemon.id()
        );
    }

    fn answer(&self, request: &FactsRequest, world: &World) -> String {
        let mut lines: Vec<String> = GOOD.lines().map(str::to_owned).collect();
        lines.push(format!("address | {}", self.address));
        for path in &request.roots {
            lines.push(self.path(path.as_str()));
            lines.push(format!("space | {path} | / | yes | d 1 1 99999999 1% /"));
            if let Some(Node::File { text, .. }) = self.nodes.get(&format!("{path}/.nbctl-owner")) {
                lines.extend(text.lines().map(|line| format!("owner | {path} | {line}")));
            }
        }
        lines.extend(request.paths.iter().map(|path| self.path(path.as_str())));
        let space = |path: &_| format!("space | {path} | / | yes | d 1 1 99999999 1% /");
        lines.extend(request.space.iter().map(space));
        lines.extend(
            request
                .installs
                .iter()
                .flat_map(|root| self.installed(root.as_str())),
        );
        for path in &request.files {
            if let Some(Node::File { text, .. }) = self.nodes.get(path.as_str()) {
                lines.push(format!("file | {path} | {}", Sha256::of(text.as_bytes())));
            }
        }
        lines.extend(
            self.processes
                .iter()
                .enumerate()
                .flat_map(|(n, (id, exe))| running(world, 1000 + n, id, exe, self.few_files)),
        );
        for extra in &self.extra {
            match extra.strip_prefix("- ") {
                Some(gone) => lines.retain(|line| line != gone),
                None => lines.push(extra.clone()),
            }
        }
        format!(
            "nbctl-facts\t1\n{}\nend\n",
            lines.join("\n").replace(" | ", "\t")
        )
    }

    fn path(&self, path: &str) -> String {
        match self.nodes.get(path) {
            None => format!("path | {path} | none"),
            Some(Node::File { bytes, .. }) => format!("path | {path} | file | {bytes}"),
            Some(Node::Link(target)) => format!("path | {path} | link | {target} | {path}"),
            Some(Node::Dir) => {
                let below = self
                    .nodes
                    .keys()
                    .filter_map(|node| node.strip_prefix(path)?.strip_prefix('/'));
                let names: Vec<&str> = below.filter(|rest| !rest.contains('/')).collect();
                format!("path | {path} | dir | {path} | {}", names.join("/"))
            }
        }
    }

    fn installed(&self, root: &str) -> Vec<String> {
        let below = |folder: &str, node: &str| node.starts_with(&format!("{root}/{folder}/"));
        let line = |(node, kind): (&String, &Node)| match kind {
            Node::File { bytes, .. } if below("cache", node) => {
                Some(format!("cached | {node} | {bytes}"))
            }
            Node::File { .. } if below("versions", node) => Some(format!(
                "installed | {root} | {}",
                node.strip_prefix(root)?.strip_prefix('/')?
            )),
            _ => None,
        };
        self.nodes.iter().filter_map(line).collect()
    }
}

fn running(world: &World, pid: usize, id: &str, exe: &str, files: Option<u32>) -> Vec<String> {
    let files = files.unwrap_or(130_000);
    let daemon = world.daemon(id);
    let name = daemon.role.program();
    let stat = "S 1 1 1 0 -1 1 1 0 0 0 1 2 0 0 20 0 60 0 100 1 2";
    let mut lines = vec![format!(
        "process | {pid} | {exe} | {name} | vesoft | {stat} | {files} | {} | x",
        daemon.root
    )];
    for port in daemon.ports(world.cluster.version).unwrap() {
        lines.push(format!(
            "listen | LISTEN 0 1 *:{} *:* users:((\"{name}\",pid={pid},fd=3))",
            port.number
        ));
    }
    lines
}
