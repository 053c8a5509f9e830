//! The test hosts and the program under test.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::ran::{Ran, nbctl};

/// What can be seen of nbctl on a host: files, processes, containers, volumes, networks, images, open ports.
const LISTING: &str = r#"
find "$HOME" -mindepth 1 -not -path '*/.ssh*' | sort
for exe in /proc/[0-9]*/exe; do readlink "$exe"; done 2>/dev/null | grep -E "^$HOME|nebula|prometheus|influx|nbctl" | sort
docker ps -a --format '{{.Names}}' | sort
docker volume ls -q | sort
docker network ls --format '{{.Name}}' | sort
docker image ls --format '{{.Repository}}:{{.Tag}}' | sort
ss -lntH | awk '{print $4}' | sort -u
"#;

pub(crate) struct Bed {
    dir: PathBuf,
    work: tempfile::TempDir,
    hosts: Vec<String>,
    _turn: MutexGuard<'static, ()>,
}

/// Tests of one process take turns on the hosts.
static TURN: Mutex<()> = Mutex::new(());

impl Bed {
    /// The bed that `make test` or `make bed` started.
    pub(crate) fn find() -> Option<Self> {
        let dir = PathBuf::from(std::env::var_os("NBCTL_BED_DIR")?);
        let inventory = std::fs::read_to_string(dir.join("inventory.yaml")).ok()?;
        let hosts = inventory.lines().filter_map(|line| {
            Some(
                line.trim()
                    .strip_prefix("- {name: ")?
                    .split(',')
                    .next()?
                    .to_owned(),
            )
        });
        Some(Self {
            hosts: hosts.collect(),
            work: tempfile::tempdir().expect("temp dir"),
            _turn: TURN.lock().unwrap_or_else(PoisonError::into_inner),
            dir,
        })
    }

    /// Runs nbctl in a folder of its own with the bed's inventory.
    pub(crate) fn nbctl(&self, args: &[&str]) -> Ran {
        Self::nbctl_in(self.work.path(), &self.dir.join("inventory.yaml"), args)
    }

    /// Folder of the bed's files.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Name and address of the last host.
    pub(crate) fn last_host(&self) -> (String, String) {
        let inventory =
            std::fs::read_to_string(self.dir.join("inventory.yaml")).expect("inventory");
        let name = self.hosts.last().expect("a host").clone();
        let line = inventory.lines().find_map(|line| {
            line.trim()
                .strip_prefix(&format!("- {{name: {name}, address: "))
        });
        let address = line
            .and_then(|rest| rest.split(',').next())
            .expect("an address");
        (name, address.to_owned())
    }

    /// Runs nbctl in `folder` with another inventory.
    pub(crate) fn nbctl_in(folder: &Path, inventory: &Path, args: &[&str]) -> Ran {
        Ran::of(nbctl(folder, inventory, args), args)
    }

    /// Puts packages and images into a bundle and loads it; gives an inventory that knows of neither.
    pub(crate) fn bundled(&self) -> PathBuf {
        let file = self.work.path().join("bundle.tar");
        let file = file.display().to_string();
        self.nbctl(&["bundle", "save", &file]).good();
        self.nbctl(&["bundle", "load", &file]).good();
        std::fs::remove_file(&file).expect("the bundle");
        let text = std::fs::read_to_string(self.dir.join("inventory.yaml")).expect("inventory");
        let (head, rest) = text.split_once("packages: ").expect("packages");
        let (_, rest) = rest.split_once(", ").expect("more keys");
        let (middle, rest) = rest.split_once("monitor: {").expect("monitor");
        let (_, rest) = rest.split_once('}').expect("its end");
        let path = self.work.path().join("offline.yaml");
        std::fs::write(&path, format!("{head}{middle}monitor: {{}}{rest}")).expect("inventory");
        path
    }

    /// Runs nbctl with what [`Bed::bundled`] gave, and without a network.
    pub(crate) fn offline(&self, inventory: &Path, args: &[&str]) -> Ran {
        let args = [args, &["--offline"]].concat();
        Self::nbctl_in(self.work.path(), inventory, &args)
    }

    /// What is on the hosts.
    #[expect(
        clippy::disallowed_methods,
        reason = "looks at the hosts without the program under test"
    )]
    pub(crate) fn listing(&self) -> String {
        let mut all = String::new();
        for host in &self.hosts {
            let output = Command::new("ssh")
                .arg("-F")
                .arg(self.dir.join("ssh_config"))
                .args([host, LISTING])
                .output()
                .expect("ssh starts");
            assert!(
                output.status.success(),
                "{host}: {}",
                String::from_utf8_lossy(&output.stderr)
            );
            all.push_str("== ");
            all.push_str(host);
            all.push('\n');
            all.push_str(&String::from_utf8_lossy(&output.stdout));
        }
        all
    }

    /// Real LDBC data where it is present, else a generated set.
    pub(crate) fn data(&self) -> String {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let shared =
            std::env::var_os("NBCTL_SHARED").map_or_else(|| root.join("../shared"), PathBuf::from);
        let real = shared.join("ldbc/snb-250p-1y-long/social_network");
        if real.is_dir() {
            return real.display().to_string();
        }
        eprintln!("left out: the real LDBC set (no ../shared); a generated one takes its place");
        let made = self.work.path().join("data");
        let made = made.display().to_string();
        self.nbctl(&["data", "generate", "--persons", "200", &made])
            .good();
        made
    }

    /// The JSON report of the newest run.
    pub(crate) fn report(&self) -> serde_json::Value {
        let shown = self.nbctl(&["runs", "show", "--output", "json"]).good();
        shown.json()
    }
}
