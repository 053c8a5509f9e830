//! One host: this machine, a folder of it, and a package whose programs are this program.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use nbctl_core::deploy::{self, Facts, Given, Observed, facts_request, process, status_request};
use nbctl_core::facts::{FactsRequest, HostFacts, script};
use nbctl_core::inventory::{Cluster, Daemon, DaemonRole, Source, load};
use nbctl_core::package::{Package, PackageName};
use nbctl_core::plan::{Action, Plan, Step};
use nbctl_core::status::{Seen, Status, status};
use nbctl_core::teardown;
use nbctl_core::units::{HostName, Sha256};

const TEMPLATE: &str = "{% for f in flags %}--{{ f.name }}={{ f.value }}\n{% endfor %}";

pub(crate) struct Bed {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) cluster: Cluster,
    pub(crate) package: Package,
}

impl Bed {
    pub(crate) fn new(flags: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let cluster = cluster(dir.path(), flags);
        let package = package(dir.path(), "tar.gz");
        Self {
            dir,
            cluster,
            package,
        }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().join("nebula")
    }

    pub(crate) fn host(&self) -> HostName {
        self.cluster.hosts[0].name.clone()
    }

    /// What there is of this bed: other tests start daemons on this machine, too.
    pub(crate) fn facts(&self) -> Facts {
        self.asked(&facts_request(&self.cluster, &self.host()))
    }

    fn asked(&self, request: &FactsRequest) -> Facts {
        let (host, root) = (self.host(), self.root());
        let output = sh(&script(request));
        let mut facts = HostFacts::parse(&String::from_utf8(output.stdout).unwrap()).unwrap();
        facts
            .processes
            .retain(|process| Path::new(&process.exe).starts_with(&root));
        BTreeMap::from([(host, facts)])
    }

    pub(crate) fn deploy(&self) -> Plan {
        let storageds = self
            .cluster
            .daemons_of(DaemonRole::Storaged)
            .map(|d| (d.endpoint(), true))
            .collect();
        let facts = self.facts();
        let running = facts.values().any(|facts| !facts.processes.is_empty());
        let observed = Observed {
            storageds: running.then_some(storageds),
            ..Observed::default()
        };
        let given = Given {
            cluster: &self.cluster,
            facts: &facts,
            packages: &BTreeMap::from([(self.host(), self.package.clone())]),
            rendered: &deploy::render(&self.cluster, TEMPLATE).unwrap(),
            observed: &observed,
            control: "control",
        };
        deploy::plan(&given).unwrap_or_else(|failure| fail(&failure.to_string()))
    }

    /// The status by what a status asks, and by what a deploy asks.
    pub(crate) fn statuses(&self) -> [Status; 2] {
        let rendered = deploy::render(&self.cluster, TEMPLATE).unwrap();
        [status_request, facts_request].map(|request| {
            status(&Seen {
                cluster: &self.cluster,
                facts: &self.asked(&request(&self.cluster, &self.host())),
                rendered: &rendered,
                observed: &Observed::default(),
                answers: &BTreeMap::new(),
                promise: None,
            })
        })
    }

    pub(crate) fn pid(&self, role: DaemonRole) -> Option<u32> {
        let facts = self.facts();
        let daemon = self.daemon(role);
        process(daemon, &facts[&self.host()]).map(|process| process.pid)
    }

    pub(crate) fn daemon(&self, role: DaemonRole) -> &Daemon {
        self.cluster.daemons_of(role).next().unwrap()
    }

    pub(crate) fn teardown(&self) {
        let teardown = teardown::plan(&self.cluster, &self.facts(), true);
        apply(&teardown.plan);
        let left = teardown::leftovers(&self.cluster, &self.facts(), true);
        assert!(left.is_empty(), "{left:?}");
        assert!(!self.root().exists());
    }
}

/// Whatever a failed assertion left running.
impl Drop for Bed {
    fn drop(&mut self) {
        for process in self.facts().values().flat_map(|facts| &facts.processes) {
            sh(&format!("kill -KILL {}", process.pid));
        }
    }
}

#[expect(clippy::panic, reason = "a test fails by it")]
pub(crate) fn fail(why: &str) -> ! {
    panic!("{why}")
}

pub(crate) fn cluster(dir: &Path, flags: &str) -> Cluster {
    let text = format!(
        "format: 1\ncluster: bed\nnebula: {{ version: 3.8.0, deploy_dir: {}/nebula, storaged: {{ flags: {{ {flags} }} }} }}\n\
         hosts: [{{ address: 127.0.0.1, name: bed, roles: [metad, graphd, storaged], metad: {{ port: 45559, http_port: 55559 }}, \
         graphd: {{ port: 45669, http_port: 55669 }}, storaged: {{ port: 45779, http_port: 55779 }} }}]\n",
        dir.display()
    );
    let loaded = load(&Source::new("inventory.yaml", text));
    loaded
        .into_result()
        .unwrap_or_else(|failure| fail(&failure.to_string()))
        .0
}

/// A package whose programs are this program.
pub(crate) fn package(dir: &Path, ending: &str) -> Package {
    let stem = "nebula-graph-3.8.0.el7.x86_64";
    let bin = dir.join(stem).join("bin");
    fs::create_dir_all(&bin).unwrap();
    for role in DaemonRole::START_ORDER {
        fs::copy(std::env::current_exe().unwrap(), bin.join(role.program())).unwrap();
    }
    let file = dir.join(format!("{stem}.{ending}"));
    let pack = match ending {
        "tar.gz" => format!("tar -czf {} {stem}", file.display()),
        _ => format!(
            "mkdir -p usr/local && mv {stem} usr/local/nebula && tar -czf data.tar.gz ./usr && \
             echo 2.0 >debian-binary && ar rc {} debian-binary data.tar.gz",
            file.display()
        ),
    };
    assert!(
        sh(&format!("cd {} && {pack}", dir.display()))
            .status
            .success()
    );
    let name = PackageName::parse(file.file_name().unwrap().to_str().unwrap()).unwrap();
    let content = fs::read(&file).unwrap();
    let (bytes, sha256) = (content.len() as u64, Sha256::of(&content));
    Package {
        name,
        source: file.display().to_string(),
        bytes,
        sha256,
    }
}

pub(crate) fn sh(text: &str) -> Output {
    let mut child = Command::new("sh")
        .arg("-s")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
    child.wait_with_output().unwrap()
}

pub(crate) fn run(action: &Action) -> Output {
    let Action::Run(script) = action else {
        fail("not a script")
    };
    sh(&script.text)
}

pub(crate) fn apply(plan: &Plan) {
    plan.stages
        .iter()
        .flat_map(|stage| &stage.steps)
        .for_each(apply_step);
}

pub(crate) fn apply_step(step: &Step) {
    match &step.action {
        Action::Run(_) => {
            let output = run(&step.action);
            assert!(output.status.success(), "{step}: {output:?}");
        }
        Action::Put(file) => fs::write(file.path.as_str(), &file.text).unwrap(),
        Action::Upload(upload) => {
            fs::create_dir_all(upload.path.parent().as_str()).unwrap();
            fs::copy(&upload.source, upload.path.as_str()).unwrap();
        }
        Action::Delete(delete) => {
            let marker =
                fs::read_to_string(delete.owner_root.join(".nbctl-owner").as_str()).unwrap();
            assert!(marker.contains(&delete.cluster_id));
            fs::remove_dir_all(delete.path.as_str()).unwrap();
        }
        // There is no service behind these programs.
        Action::Query(_) | Action::Wait(_) => {}
        other => fail(&format!("{step}: {other:?}")),
    }
}
