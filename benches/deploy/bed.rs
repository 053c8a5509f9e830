//! The hosts and files the bench works with, made by `tests/bed/bench-deploy.sh`.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Folder of a deploy on the hosts.
pub(crate) const HOME: &str = "/home/vesoft";

/// What the script made.
#[derive(Debug)]
pub(crate) struct Bed {
    /// Files of the hosts: `ssh_config`, key, known hosts.
    pub(crate) dir: PathBuf,
    /// Folder of this bench.
    pub(crate) bench: PathBuf,
    /// Of the hosts, in their order.
    pub(crate) addresses: Vec<String>,
    /// The package.
    pub(crate) package: PathBuf,
}

impl Bed {
    /// From `NBCTL_BED_DIR`.
    pub(crate) fn new() -> Self {
        let dir = std::env::var_os("NBCTL_BED_DIR")
            .expect("NBCTL_BED_DIR; run this with make bench-deploy");
        let dir = PathBuf::from(dir);
        let config =
            std::fs::read_to_string(dir.join("ssh_config")).expect("ssh_config of the hosts");
        let addresses = config
            .lines()
            .filter_map(|line| line.trim().strip_prefix("HostName "));
        let bench = dir.join("bench");
        let package = package(&bench.join("packages"));
        Self {
            addresses: addresses.map(str::to_owned).collect(),
            dir,
            bench,
            package,
        }
    }

    /// `ssh` to a host by its number, beginning with 0.
    pub(crate) fn ssh(&self, host: usize, script: &str) -> Command {
        let mut ssh = Command::new("ssh");
        ssh.arg("-F").arg(self.dir.join("ssh_config"));
        ssh.arg(format!("h{}", host + 1)).arg(script);
        ssh
    }
}

fn package(folder: &Path) -> PathBuf {
    let files = std::fs::read_dir(folder)
        .expect("folder of the package")
        .flatten();
    let mut files = files.map(|entry| entry.path());
    let is_package = |path: &PathBuf| path.extension().is_some_and(|ext| ext == "rpm");
    files.find(is_package).expect("a package")
}

pub(crate) fn print_machine() {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let version = read("/proc/version");
    let kernel = version.split(' ').nth(2).unwrap_or("?");
    let load = read("/proc/loadavg");
    println!(
        "machine: {cores} cores, Linux {kernel}, load {}",
        load.trim()
    );
}
