//! A host that nobody prepared: bootstrap by password, changes and their way back, a sudo that is taken away.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

use crate::bed::Bed;
use crate::ran::Ran;

/// Of the first login; looked for wherever nbctl writes.
const PASSWORD: &str = "corr3ct-horse";
/// A second sshd, which takes passwords (without PAM, which wants to be started by the init process), and a user with one,
/// whom sudo asks for it.
const PREPARE: &str = "set -e
id ops 2>/dev/null || useradd -m -s /bin/bash ops
echo 'ops:corr3ct-horse' | chpasswd
echo 'ops ALL=(ALL) ALL' >/etc/sudoers.d/ops; chmod 440 /etc/sudoers.d/ops
echo 1 >/proc/sys/net/ipv4/tcp_slow_start_after_idle
/usr/sbin/sshd -p 2222 -o UsePAM=no -o PidFile=/run/sshd-2222.pid -o PasswordAuthentication=yes -o KbdInteractiveAuthentication=no";
const CLEAN: &str = "kill $(cat /run/sshd-2222.pid); for u in bench ops; do pkill -KILL -u $u; userdel -r $u; done
rm -rf /opt/bench /etc/sudoers.d/ops /etc/sudoers.d/nbctl-bench /etc/security/limits.d/60-nbctl.conf /etc/sysctl.d/60-nbctl.conf
echo 1 >/proc/sys/net/ipv4/tcp_slow_start_after_idle";

/// The last host of the bed, as a cluster of its own.
struct Bare<'a> {
    bed: &'a Bed,
    work: tempfile::TempDir,
}

impl<'a> Bare<'a> {
    fn new(bed: &'a Bed) -> Self {
        let bare = Self {
            bed,
            work: tempfile::tempdir().expect("temp dir"),
        };
        bare.root(CLEAN);
        let ran = bare.root(PREPARE);
        assert!(ran.status.success(), "{ran:?}");
        let (name, address) = bed.last_host();
        let text = format!(
            "format: 1\ncluster: bare\nnebula: {{version: 3.8.0, packages: {}, deploy_dir: /opt/bench/nebula}}\n\
             ssh: {{user: bench, port: 2222, sudo: true, identity_file: {}}}\nload: {{dir: /opt/bench/load}}\n\
             hosts: [{{name: {name}, address: {address}, roles: [metad, graphd, storaged, load]}}]\n",
            bed.dir().join("packages").display(),
            bare.file("key").display(),
        );
        std::fs::write(bare.inventory(), text).expect("inventory");
        std::fs::write(bare.file("good"), format!("{PASSWORD}\n")).expect("password");
        std::fs::write(bare.file("bad"), "wr0ng\n").expect("password");
        bare
    }

    fn file(&self, name: &str) -> PathBuf {
        self.work.path().join(name)
    }

    fn inventory(&self) -> PathBuf {
        self.file("inventory.yaml")
    }

    fn nbctl(&self, args: &[&str]) -> Ran {
        Bed::nbctl_in(self.work.path(), &self.inventory(), args)
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "looks at the host without the program under test"
    )]
    fn root(&self, script: &str) -> Output {
        let mut ssh = Command::new("ssh");
        ssh.arg("-F").arg(self.bed.dir().join("ssh_config"));
        let (name, _) = self.bed.last_host();
        ssh.args(["-l", "root", &name, script])
            .output()
            .expect("ssh starts")
    }

    fn table(&self, code: i32) -> Value {
        let ran = self.nbctl(&["hosts", "check", "--output", "json"]);
        ran.fails(code).json()
    }

    /// Whether nbctl wrote the password down anywhere.
    fn kept(&self) -> bool {
        let state = self.work.path().join(".nbctl");
        let mut folders = vec![state];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else if std::fs::read(&path)
                    .is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(PASSWORD))
                {
                    return true;
                }
            }
        }
        false
    }
}

impl Drop for Bare<'_> {
    fn drop(&mut self) {
        self.root(CLEAN);
    }
}

fn levels(table: &Value, check: &str) -> Vec<String> {
    let rows = table["checks"].as_array().expect("checks").iter();
    let level = |row: &Value| row["level"].as_str().expect("level").to_owned();
    rows.filter(|row| row["check"] == check)
        .map(level)
        .collect()
}

#[test]
fn a_bare_host_is_made_ready() {
    let Some(bed) = Bed::find() else {
        eprintln!("left out: no test hosts (NBCTL_BED_DIR is not set); `make test` has them");
        return;
    };
    let bare = Bare::new(&bed);
    let (good, bad) = (bare.file("good"), bare.file("bad"));
    let (good, bad) = (good.display().to_string(), bad.display().to_string());
    let bootstrap = ["hosts", "bootstrap", "--yes", "--login", "ops"];
    bare.nbctl(&bootstrap).fails(3).says("cannot log in as ops");
    let with = |file| [&bootstrap[..], &["--password-file", file]].concat();
    bare.nbctl(&with(&bad))
        .fails(3)
        .says("cannot log in as ops");
    let made = bare.nbctl(&with(&good)).good();
    made.says("things made, login works")
        .says("bench ALL=(root) NOPASSWD: ALL");
    bare.nbctl(&with(&good)).good().says("nothing to do");
    assert!(!bare.kept(), "the password lies in the state folder");

    bare.nbctl(&["hosts", "ping"]).good().says("bench on");
    let table = bare.table(0);
    assert_eq!(levels(&table, "sudo"), ["pass"], "{table}");
    assert!(levels(&table, "permission").is_empty(), "{table}");
    bare.nbctl(&["deploy", "--dry-run"])
        .good()
        .says("start metad");

    changed_and_taken_back(&bare);
    bare.root("rm /etc/sudoers.d/nbctl-bench");
    assert_eq!(levels(&bare.table(4), "sudo"), ["fail"]);
    let refused = bare.nbctl(&["deploy", "--yes"]).fails(3);
    refused
        .says("a check failed; nothing was changed")
        .says("sudo refuses bench");
    bare.nbctl(&["exec", "--sudo", "--", "true"])
        .fails(3)
        .says("sudo refuses: a password is required");
}

/// In the host's own network namespace, so that no other host sees it.
fn changed_and_taken_back(bare: &Bare<'_>) {
    let setting = || {
        let shown = bare.root(
            "cat /proc/sys/net/ipv4/tcp_slow_start_after_idle; ls /etc/sysctl.d/60-nbctl.conf",
        );
        String::from_utf8_lossy(&shown.stdout).into_owned()
    };
    assert_eq!(levels(&bare.table(0), "slow start"), ["warn"]);
    let only = ["hosts", "check", "--apply", "--yes", "--only", "slow start"];
    let applied = bare.nbctl(&only).good();
    applied.says("nbctl hosts undo");
    assert_eq!(setting(), "0\n/etc/sysctl.d/60-nbctl.conf\n");
    assert_eq!(levels(&bare.table(0), "slow start"), ["pass"]);
    bare.nbctl(&only)
        .good()
        .says("nothing that could be changed");
    bare.nbctl(&["hosts", "undo", "--yes"])
        .good()
        .says("as before on 1 host");
    assert_eq!(setting(), "1\n");
}
