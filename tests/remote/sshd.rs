//! An sshd of the test: unprivileged port, own host key, own client key, gone with the test.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use nbctl::remote::{Fleet, FleetDirs, Target};
use nbctl_core::inventory::{KnownHosts, Reach, SshTarget};
use nbctl_core::units::HostName;
use tokio::process::{Child, Command};

const SSHD: &str = "/usr/sbin/sshd";

pub(crate) struct Sshd {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) port: u16,
    pub(crate) child: Child,
}

impl Sshd {
    /// `None` when this machine has no sshd; says so.
    pub(crate) async fn start(extra: &str) -> Option<Self> {
        if !Path::new(SSHD).exists() {
            // What runs the tests with hosts installs it, too.
            assert!(std::env::var_os("NBCTL_BED_DIR").is_none(), "no {SSHD}");
            eprintln!("left out: no {SSHD} (package openssh-server)");
            return None;
        }
        let dir = tempfile::Builder::new()
            .prefix("nb")
            .tempdir_in("/tmp")
            .unwrap();
        for key in ["host", "key"] {
            keygen(&dir.path().join(key)).await;
        }
        std::fs::copy(dir.path().join("key.pub"), dir.path().join("authorized")).unwrap();
        let mut tries = 0;
        loop {
            let port = free_port();
            let child = spawn(dir.path(), port, extra);
            if let Some(child) = answering(child, port).await {
                return Some(Self { dir, port, child });
            }
            tries += 1;
            assert!(tries < 5, "sshd does not start");
        }
    }

    pub(crate) fn target(&self, name: &str) -> Target {
        let empty = self.dir.path().join("empty");
        std::fs::write(&empty, "").unwrap();
        Target {
            name: HostName::new(name),
            address: format!("{name}.test"),
            ssh: SshTarget {
                host: "127.0.0.1".to_owned(),
                user: None,
                port: Some(self.port),
                identity_file: Some(self.dir.path().join("key")),
                config_file: Some(empty),
                known_hosts: KnownHosts::AcceptNew,
                known_hosts_file: None,
                jump: Vec::new(),
                persist_minutes: 0,
                sudo: false,
                reach: Reach::Direct,
                connect_timeout_s: 5,
            },
        }
    }

    pub(crate) fn dirs(&self) -> FleetDirs {
        FleetDirs {
            config: self.dir.path().join("ssh"),
            control: self.dir.path().join("c"),
        }
    }

    pub(crate) async fn fleet(&self, names: &[&str]) -> Fleet {
        let targets = names.iter().map(|name| self.target(name)).collect();
        Fleet::connect(targets, &self.dirs()).await.unwrap()
    }

    /// Processes of sshd that serve a connection: children of ours.
    pub(crate) fn serving(&self) -> Vec<u32> {
        let parent = self.child.id().unwrap();
        let path = format!("/proc/{parent}/task/{parent}/children");
        let text = std::fs::read_to_string(path).unwrap();
        text.split_whitespace()
            .map(|pid| pid.parse().unwrap())
            .collect()
    }
}

async fn keygen(path: &Path) {
    let mut command = Command::new("ssh-keygen");
    command
        .args(["-q", "-t", "ed25519", "-N", "", "-f"])
        .arg(path);
    assert!(command.status().await.unwrap().success());
}

fn spawn(dir: &Path, port: u16, extra: &str) -> Child {
    // sshd started as root wants this folder, which a container without an init lacks.
    drop(std::fs::create_dir_all("/run/sshd"));
    let at = |name: &str| dir.join(name).display().to_string();
    let config = format!(
        "ListenAddress 127.0.0.1\nPort {port}\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\n\
         StrictModes no\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin yes\n{extra}\n",
        at("host"),
        at("authorized")
    );
    let file = dir.join(format!("sshd-{port}.conf"));
    std::fs::write(&file, config).unwrap();
    let log = std::fs::File::create(dir.join("sshd.log")).unwrap();
    let mut command = Command::new(SSHD);
    command
        .args(["-D", "-e", "-f"])
        .arg(file)
        .kill_on_drop(true);
    command.stdin(Stdio::null()).stderr(log).spawn().unwrap()
}

async fn answering(mut child: Child, port: u16) -> Option<Child> {
    for _ in 0..200 {
        if child.try_wait().unwrap().is_some() {
            return None;
        }
        if tokio::net::TcpStream::connect(("127.0.0.1", port))
            .await
            .is_ok()
        {
            return Some(child);
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    None
}

pub(crate) fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// A file of `bytes` bytes that no compression makes small.
pub(crate) fn noise(dir: &Path, bytes: usize) -> PathBuf {
    let mut state = 1_u64;
    let mut content = Vec::with_capacity(bytes);
    while content.len() < bytes {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        content.extend_from_slice(&state.to_le_bytes());
    }
    content.truncate(bytes);
    let path = dir.join("noise");
    std::fs::write(&path, content).unwrap();
    path
}
