//! Test hosts, when `NBCTL_BED_DIR` names a bed that is up.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

/// A bed and a state folder of the test's own.
pub(crate) struct Bed {
    dir: PathBuf,
    state: tempfile::TempDir,
    inventory: PathBuf,
    pub(crate) hosts: Vec<String>,
    _turn: MutexGuard<'static, ()>,
}

/// Tests of one process take turns on the hosts.
static TURN: Mutex<()> = Mutex::new(());

pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

#[expect(
    clippy::disallowed_methods,
    reason = "the test drives the program from outside"
)]
fn run(program: &str, args: &[&str]) -> Ended {
    let output = std::process::Command::new(program)
        .args(args)
        .output()
        .unwrap();
    Ended {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

impl Bed {
    /// `None`, with a word about it, when there is none.
    pub(crate) fn find() -> Option<Self> {
        let dir = std::env::var_os("NBCTL_BED_DIR").map(PathBuf::from)?;
        let text = std::fs::read_to_string(dir.join("inventory.yaml")).ok()?;
        let names = text
            .lines()
            .filter_map(|line| line.trim().strip_prefix("- {name: "));
        let hosts = names
            .map(|rest| rest.split(',').next().unwrap().to_owned())
            .collect();
        Some(Self {
            inventory: dir.join("inventory.yaml"),
            dir,
            state: tempfile::tempdir().unwrap(),
            hosts,
            _turn: TURN.lock().unwrap_or_else(PoisonError::into_inner),
        })
    }

    /// `pause` or `unpause` a host, or bring `up` what is missing of it.
    pub(crate) fn hosts(&self, verb: &str, what: &str) {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/bed/hosts.sh");
        let name = std::fs::read_to_string(self.dir.join("bed-name")).unwrap();
        let (name, dir) = (
            format!("NBCTL_BED_NAME={}", name.trim()),
            self.dir.display(),
        );
        let ended = run(
            "env",
            &[&name, &format!("NBCTL_BED_DIR={dir}"), script, verb, what],
        );
        assert_eq!(ended.code, 0, "{verb} {what}: {}", ended.err);
    }

    /// The bed's inventory with one text replaced.
    pub(crate) fn with_inventory(mut self, from: &str, to: &str) -> Self {
        let text = std::fs::read_to_string(&self.inventory).unwrap();
        assert!(text.contains(from), "{text}");
        self.inventory = self.state.path().join("inventory.yaml");
        std::fs::write(&self.inventory, text.replace(from, to)).unwrap();
        self
    }

    /// The bed's inventory with the line that begins with `from` replaced.
    pub(crate) fn with_line(self, from: &str, to: &str) -> Self {
        let text = std::fs::read_to_string(&self.inventory).unwrap();
        let line = text.lines().find(|line| line.starts_with(from)).unwrap();
        let line = line.to_owned();
        self.with_inventory(&line, to)
    }

    /// Folder with the archives of the stack's images.
    pub(crate) fn images(&self) -> PathBuf {
        let text = std::fs::read_to_string(&self.inventory).unwrap();
        let named = text.split_once("monitor: {images: \"").unwrap().1;
        PathBuf::from(named.split_once('"').unwrap().0)
    }

    fn file(&self, name: &str) -> String {
        self.dir.join(name).display().to_string()
    }

    pub(crate) fn nbctl(&self, args: &[&str]) -> Ended {
        let (inventory, state) = (
            self.inventory.display().to_string(),
            self.state.path().display().to_string(),
        );
        let mut all = vec!["-i", &inventory, "--state-dir", &state];
        all.extend(args);
        run(env!("CARGO_BIN_EXE_nbctl"), &all)
    }

    pub(crate) fn ssh(&self, host: &str, script: &str) -> String {
        let ended = run("ssh", &["-F", &self.file("ssh_config"), host, script]);
        assert_eq!(ended.code, 0, "{host}: {script}: {}", ended.err);
        ended.out
    }

    /// Everything of ours that a host could have: containers, images, volumes, networks, files, listening ports.
    pub(crate) fn listing(&self) -> Vec<String> {
        let script = "docker ps -aq --no-trunc; docker images -aq --no-trunc | sort -u; docker volume ls -q; \
                      docker network ls --format '{{.Name}}' | sort; ls -A; ss -lntH | awk '{print $4}' | grep -v 127.0.0.11 | sort";
        self.hosts
            .iter()
            .map(|host| format!("{host}\n{}", self.ssh(host, script)))
            .collect()
    }
}

/// The answer of Prometheus to an instant query.
pub(crate) async fn query(prometheus: &str, promql: &str) -> Vec<Value> {
    let url = format!("{prometheus}/api/v1/query");
    let limit = std::time::Duration::from_secs(10);
    let text = nbctl::http::post_form(&url, &[("query", promql)], limit)
        .await
        .unwrap();
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(answer["status"], "success", "{promql}");
    answer["data"]["result"].as_array().unwrap().clone()
}
