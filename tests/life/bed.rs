//! The test hosts of `make bed`, looked at through the program itself.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::kill::Hosts;
use crate::ran::nbctl;

/// Files and processes of a cluster on a host, and the marks of a program that works there.
const LISTING: &str = "find \"$HOME\" -mindepth 1 -not -path '*/.ssh*' | sort; for e in /proc/[0-9]*/exe; do readlink \"$e\"; done 2>/dev/null | grep nebula- | sort; true";

/// Where the inventory of the test hosts says what is deployed.
const NEBULA: &str = "deploy_dir: /home/vesoft/nebula}";

/// The same, without ten seconds of waiting for the next heartbeat in each deploy.
const QUICK: &str = "deploy_dir: /home/vesoft/nebula, flags: {heartbeat_interval_secs: 1}}";

pub(crate) struct Bed {
    work: tempfile::TempDir,
}

impl Bed {
    pub(crate) fn find() -> Option<Self> {
        let dir = PathBuf::from(std::env::var_os("NBCTL_BED_DIR")?);
        let inventory = fs::read_to_string(dir.join("inventory.yaml")).ok()?;
        assert!(inventory.contains(NEBULA), "{inventory}");
        let bed = Self {
            work: tempfile::tempdir().unwrap(),
        };
        fs::write(bed.inventory(), inventory.replace(NEBULA, QUICK)).unwrap();
        Some(bed)
    }

    /// Of a host.
    pub(crate) fn address(&self, host: &str) -> String {
        let text = fs::read_to_string(self.inventory()).unwrap();
        let name = format!("{{name: {host}, address: ");
        let (_, behind) = text.split_once(&name).expect("a host of this name");
        behind.split(',').next().unwrap_or_default().to_owned()
    }

    /// Where the program is started.
    pub(crate) fn dir(&self) -> &Path {
        self.work.path()
    }

    fn inventory(&self) -> PathBuf {
        self.work.path().join("inventory.yaml")
    }
}

impl Hosts for Bed {
    fn command(&self, args: &[&str]) -> Command {
        nbctl(self.work.path(), &self.inventory(), args)
    }

    fn journal(&self) -> String {
        journal(self.work.path())
    }

    fn remains(&self) -> String {
        let listing = self.good(&["exec", "--", LISTING]).out();
        let mut lines: Vec<&str> = listing.lines().collect();
        // Hosts answer in any order.
        lines.sort_unstable();
        lines.join("\n")
    }
}

/// The journals in a state folder.
pub(crate) fn journal(state: &Path) -> String {
    let clusters = state.join(".nbctl/clusters");
    let folders = fs::read_dir(clusters).into_iter().flatten().flatten();
    let read = |folder: fs::DirEntry| fs::read_to_string(folder.path().join("journal.jsonl")).ok();
    folders.filter_map(read).collect()
}
