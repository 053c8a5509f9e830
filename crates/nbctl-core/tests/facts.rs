//! The facts script, run for real by every shell of this machine, and its answers as data files.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::string_slice,
    reason = "the script's home is a shell; a helper that fails is a failed test"
)]

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use nbctl_core::facts::{FactsRequest, HostFacts, PathFact, script};
use nbctl_core::units::{RemotePath, Sha256};

/// Shells that hosts have as `sh`: dash (Debian), bash (`CentOS`), busybox (Alpine).
const SHELLS: [&[&str]; 3] = [
    &["dash", "-s"],
    &["bash", "--posix", "-s"],
    &["busybox", "sh", "-s"],
];

fn run(shell: &[&str], text: &str) -> Option<String> {
    let mut child = Command::new(shell[0])
        .args(&shell[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    child
        .stdin
        .take()
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{shell:?}: {output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{shell:?}");
    Some(String::from_utf8(output.stdout).unwrap())
}

fn path(path: &Path) -> RemotePath {
    RemotePath::new(path.to_str().unwrap()).unwrap()
}

/// A host with a root of ours: marker, `current` link, a file and a running "daemon".
struct World {
    dir: tempfile::TempDir,
    daemon: Child,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("it's root");
        let bin = root.join("versions/0123/bin");
        fs::create_dir_all(&bin).unwrap();
        symlink("versions/0123", root.join("current")).unwrap();
        fs::write(
            root.join(".nbctl-owner"),
            "nbctl-owner 1\ncluster_id=0123456789ab\n",
        )
        .unwrap();
        fs::write(root.join("nebula-metad.conf"), "--port=9559\n").unwrap();
        fs::write(root.join("nebula-metad.pid"), "1\n").unwrap();
        fs::create_dir(root.join("cache")).unwrap();
        fs::write(root.join("cache/x.rpm"), "rpm").unwrap();
        fs::copy("/bin/sleep", bin.join("nebula-metad")).unwrap();
        let daemon = Command::new(bin.join("nebula-metad"))
            .arg("600")
            .current_dir(&root)
            .spawn()
            .unwrap();
        Self { dir, daemon }
    }

    fn root(&self) -> RemotePath {
        path(&self.dir.path().join("it's root"))
    }

    fn request(&self) -> FactsRequest {
        let root = self.root();
        FactsRequest {
            roots: vec![root.clone()],
            installs: vec![root.clone()],
            paths: vec![
                root.join("current"),
                root.join("absent"),
                root.join("nebula-metad.conf"),
            ],
            files: vec![root.join("nebula-metad.conf"), root.join("absent")],
            space: vec![root.join("not/yet/there")],
            names: vec!["localhost".into(), "no-such-host.invalid".into()],
            docker_socket: Some(root.join("docker.sock")),
            pid_files: vec![root.join("nebula-metad.pid"), root.join("absent")],
            thorough: true,
            daemons_only: false,
            rpm: Some("no-such-package".into()),
            sudo: false,
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.daemon.kill().unwrap();
        self.daemon.wait().unwrap();
    }
}

#[test]
fn every_shell_answers() {
    let world = World::new();
    let before = fs::read_dir(world.dir.path()).unwrap().count();
    let mut shells = 0;
    for shell in SHELLS {
        let Some(answer) = run(shell, &script(&world.request())) else {
            eprintln!("left out: {} is not here", shell[0]);
            continue;
        };
        check(&world, &HostFacts::parse(&answer).unwrap(), &answer);
        shells += 1;
    }
    assert!(shells > 0, "no shell at all");
    assert_eq!(
        fs::read_dir(world.dir.path()).unwrap().count(),
        before,
        "something was left behind"
    );
}

fn check(world: &World, facts: &HostFacts, answer: &str) {
    let root = world.root();
    check_paths(&root, facts);
    let daemon = facts
        .processes
        .iter()
        .find(|p| p.pid == world.daemon.id())
        .unwrap();
    assert_eq!(
        daemon.exe,
        root.join("versions/0123/bin/nebula-metad").as_str()
    );
    assert_eq!(
        (daemon.name.as_str(), daemon.cwd.as_str()),
        ("nebula-metad", root.as_str())
    );
    assert!(
        daemon.command.ends_with("nebula-metad 600") && daemon.nofile.is_some(),
        "{daemon:?}"
    );
    let started = i64::try_from(daemon.started).unwrap() * 1000;
    assert!(
        (facts.clock.start_ms - started).abs() < 60_000,
        "{started} {:?}",
        facts.clock
    );
    assert!(facts.clock.end_ms >= facts.clock.start_ms && facts.clock.start_ms > 1_600_000_000_000);
    assert!(
        !facts.system.kernel.is_empty() && !facts.system.arch.is_empty() && facts.system.cpus > 0
    );
    assert!(facts.system.memory > 1 << 20, "{answer}");
    assert!(facts.has("sha256sum") && facts.has("tar") && !facts.user.home.is_empty());
    check_settings(&root, facts);
    assert!(
        facts.addresses.contains("127.0.0.1"),
        "{:?}",
        facts.addresses
    );
    assert_eq!(facts.names["no-such-host.invalid"], Vec::<String>::new());
}

fn check_settings(root: &RemotePath, facts: &HostFacts) {
    let pid_file = &facts.pid_files[&root.join("nebula-metad.pid")];
    assert!(
        pid_file.pid == 1 && !pid_file.name.is_empty(),
        "{pid_file:?}"
    );
    assert!(facts.firewall.is_some());
    for name in ["vm/swappiness", "vm/max_map_count", "net/core/somaxconn"] {
        let real = fs::read_to_string(format!("/proc/sys/{name}")).unwrap();
        let key = name.rsplit('/').next().unwrap();
        assert_eq!(facts.settings[key], real.trim(), "{name}");
    }
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    assert_eq!(facts.system.boot_id, boot.trim());
}

fn check_paths(root: &RemotePath, facts: &HostFacts) {
    let programs: Vec<&str> = facts.installed[root].iter().map(String::as_str).collect();
    assert_eq!(programs, ["versions/0123/bin/nebula-metad"]);
    assert_eq!(facts.cached[&root.join("cache/x.rpm")], 3);
    assert_eq!(
        facts.owners[root],
        "nbctl-owner 1\ncluster_id=0123456789ab\n"
    );
    let current = PathFact::Link {
        target: "versions/0123".into(),
        real: root.join("versions/0123").to_string(),
    };
    assert_eq!(facts.paths[&root.join("current")], current);
    assert!(!facts.exists(&root.join("absent")) && facts.exists(root));
    let conf = root.join("nebula-metad.conf");
    assert_eq!(facts.paths[&conf], PathFact::File { bytes: 12 });
    assert_eq!(facts.sha256(&conf), Some(Sha256::of(b"--port=9559\n")));
    assert_eq!(facts.files.len(), 1);
    let space = &facts.space[&root.join("not/yet/there")];
    assert!(
        space.at == *root && space.writable && space.free > 0,
        "{space:?}"
    );
}

#[test]
fn nothing_runs_until_the_script_is_complete() {
    let world = World::new();
    let whole = script(&world.request());
    let cut = &whole[..whole.len() - "main </dev/null\n".len()];
    assert_eq!(run(&["sh", "-s"], cut).unwrap(), "");
}

#[test]
fn answers_as_data() {
    for case in ["centos7", "debian12", "noise"] {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/facts/{case}.txt"));
        let facts = HostFacts::parse(&fs::read_to_string(file).unwrap()).unwrap();
        let text = serde_json::to_string_pretty(&facts).unwrap();
        insta::assert_snapshot!(format!("facts_{case}"), text);
    }
}

#[test]
fn a_cut_answer_is_refused_wherever_it_is_cut() {
    let text = include_str!("facts/debian12.txt");
    for (at, _) in text.char_indices().filter(|(at, _)| *at < text.len() - 1) {
        let failure = HostFacts::parse(&text[..at]).unwrap_err();
        assert!(
            failure.what.contains("cut off") || failure.what.contains("no answer"),
            "{failure}"
        );
    }
    assert!(HostFacts::parse(text).is_ok());
}

#[test]
fn clock_offset_has_bounds() {
    let mut facts =
        HostFacts::parse("nbctl-facts\t1\nclock\tstart\t100.500\nclock\tend\t100.700\nend\n")
            .unwrap();
    facts.observe_clock(100_400, 100_900);
    let offset = facts.clock.offset.unwrap();
    assert_eq!(
        (offset.low_ms, offset.high_ms, offset.at_least_ms()),
        (-200, 100, 0)
    );
    facts.observe_clock(90_000, 91_000);
    assert_eq!(facts.clock.offset.unwrap().at_least_ms(), 9_700);
    facts.observe_clock(105_000, 106_000);
    assert_eq!(facts.clock.offset.unwrap().at_least_ms(), 4_500);
}
