//! `nbctl sandbox up --local`: three processes of this machine, and what can be done with them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A state folder, and the program in it.
struct Place {
    state: tempfile::TempDir,
}

impl Place {
    /// `None`, and a word about it, when the stand-in was not built.
    fn new() -> Option<Self> {
        let binary = Path::new(env!("CARGO_BIN_EXE_nbctl")).with_file_name("nebula-sandbox");
        if !binary.exists() {
            eprintln!("left out: {} is not built", binary.display());
            return None;
        }
        Some(Self {
            state: tempfile::tempdir().unwrap(),
        })
    }

    fn run(&self, args: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nbctl"));
        command.args(args.split(' ')).current_dir(self.state.path());
        command.env_remove("NBCTL_INVENTORY").output().unwrap()
    }

    /// Runs it, expects `code`, gives what it said as a result.
    fn says(&self, args: &str, code: i32) -> String {
        let output = self.run(args);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(
            output.status.code(),
            Some(code),
            "nbctl {args}\n{out}\n{err}"
        );
        format!("{out}{err}")
    }

    fn home(&self, name: &str) -> PathBuf {
        self.state.path().join(".nbctl/sandbox/local").join(name)
    }

    /// Processes whose program lies below the folder of `name`.
    fn processes(&self, name: &str) -> Vec<u32> {
        let home = self.home(name);
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        pids.filter(|pid| {
            let exe = std::fs::read_link(format!("/proc/{pid}/exe"));
            exe.is_ok_and(|exe| exe.starts_with(&home))
        })
        .collect()
    }
}

/// Whatever the test ended with, no process of it stays.
impl Drop for Place {
    fn drop(&mut self) {
        for name in ["local", "old"] {
            for pid in self.processes(name) {
                drop(Command::new("kill").args(["-9", &pid.to_string()]).status());
            }
        }
    }
}

#[test]
fn up_twice_side_by_side_and_gone() {
    let Some(place) = Place::new() else { return };
    assert!(place.says("sandbox status --local", 4).contains("not up"));
    let said = place.says("sandbox up --local", 0);
    for word in [
        "local: up, line 3.8.0",
        "graphd 127.0.0.1:",
        "monitoring is left out",
    ] {
        assert!(said.contains(word), "{word}: {said}");
    }
    assert!(place.says("sandbox up --local", 0).contains("already up"));
    let other = place.says("sandbox up --local --name old --line 2.6.2", 0);
    assert!(other.contains("old: up, line 2.6.2"), "{other}");
    let refused = place.says("sandbox up --local --line 2.6.2", 2);
    assert!(refused.contains("local is of line 3.8.0"), "{refused}");
    let status = place.says("sandbox status", 0);
    assert_eq!(
        status.matches("equals its inventory").count(),
        2,
        "{status}"
    );
    load_is_put_on_it(&place);
    dead_ones_come_back(&place);
    is_told_elsewhere();
    assert!(
        place
            .says("sandbox down --name old", 0)
            .contains("old: gone")
    );
    assert!(place.processes("old").is_empty() && !place.home("old").exists());
    assert_eq!(place.processes("local").len(), 3);
    assert!(place.says("sandbox down", 0).contains("local: gone"));
    assert!(place.processes("local").is_empty() && !place.home("local").exists());
    assert!(!place.state.path().join(".nbctl/last-inventory").exists());
    assert!(place.says("sandbox down --local", 0).contains("not there"));
}

/// From another folder, a word of success would leave it running.
fn is_told_elsewhere() {
    let said = Place::new().unwrap().says("sandbox down --name old", 2);
    assert!(said.contains("brought up from another folder"), "{said}");
}

/// The other commands take it like any cluster, without ssh.
fn load_is_put_on_it(place: &Place) {
    let inventory = place.home("local").join("inventory.yaml");
    let inventory = inventory.display();
    let imported = place.says(&format!("import -i {inventory} --persons 30"), 0);
    assert!(
        imported.contains("same") && !imported.contains("DIFFERS"),
        "{imported}"
    );
    let stress = format!("stress run Go1Step -i {inventory} --persons 30 --warmup 1 -d 2 -c 2");
    let stress = place.says(&stress, 0);
    assert!(stress.contains("Go1Step"), "{stress}");
}

/// `kill -9` of everything, data and pid files left behind: up again, nothing lost.
fn dead_ones_come_back(place: &Place) {
    let before = place.processes("local");
    assert_eq!(before.len(), 3);
    for pid in &before {
        drop(Command::new("kill").args(["-9", &pid.to_string()]).status());
    }
    assert!(place.says("sandbox status --local", 4).contains("differs"));
    assert!(
        place
            .says("sandbox up --local", 0)
            .contains("local: up again")
    );
    let after = place.processes("local");
    assert!(
        after.len() == 3 && after.iter().all(|pid| !before.contains(pid)),
        "{after:?}"
    );
}
