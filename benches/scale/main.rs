//! `make bench-scale`: one nbctl and a hundred hosts with the distribution's own sshd settings.
//!
//! Purpose: the promise that many hosts are no other thing than a few: nobody is refused at a door, nbctl stays small,
//! and the time is that of the handshakes and little more.
//! Duties: one line a case, `case  value unit  goal  PASS|SHORT`; exit code 1 when a goal is missed. What the handshakes
//! cost is measured on the same hosts before: the processor time of the clients here and of sshd there, since hosts and
//! control machine share the processors. `tests/bed/bench-scale.sh` makes the hosts.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::cast_precision_loss,
    reason = "a bench prints, starts programs, and ends when one of them fails"
)]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// Connections being made at once, as many as nbctl makes.
const AT_ONCE: usize = 16;
/// Beyond the handshakes, s.
const ALLOWANCE: f64 = 30.0;
/// Of nbctl itself, MiB.
const RSS: f64 = 100.0;

/// What one command took.
#[derive(Debug)]
struct Ran {
    wall: f64,
    /// Highest resident size of nbctl, MiB.
    rss: f64,
    /// Highest sum of its ssh processes, MiB.
    ssh: f64,
}

fn main() -> ExitCode {
    let dir =
        std::env::var_os("NBCTL_BED_DIR").expect("NBCTL_BED_DIR; run this with make bench-scale");
    let dir = PathBuf::from(dir);
    let inventory = dir.join("scale.yaml");
    let hosts = write_inventory(&dir, &inventory);
    println!("machine: {} cores, load {}, {hosts} hosts", cores(), load());
    let handshakes = handshakes(&dir, hosts);
    println!("processor time of {hosts} handshakes: {handshakes:.1} s");
    let mut good = true;
    for (command, args) in [
        ("deploy", ["deploy", "--yes"]),
        ("again", ["deploy", "--yes"]),
        ("status", ["status", "--yes"]),
        ("teardown", ["teardown", "--yes"]),
    ] {
        let ran = nbctl(&dir, &inventory, &args);
        let limit = handshakes + ALLOWANCE;
        good &= line(&format!("{command}: wall"), ran.wall, "s", limit);
        good &= line(
            &format!("{command}: nbctl's own memory"),
            ran.rss,
            "MiB",
            RSS,
        );
        println!("  ssh beside it {:.0} MiB; load {}", ran.ssh, load());
    }
    good &= line("connections refused", refused(), "", 0.0);
    ExitCode::from(u8::from(!good))
}

fn line(case: &str, value: f64, unit: &str, goal: f64) -> bool {
    let met = value <= goal;
    let word = if met { "PASS" } else { "SHORT" };
    println!("{case:<34} {value:>8.1} {unit:<3} goal {goal:>6.1}  {word}");
    met
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(0, usize::from)
}

fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or_default().to_owned()
}

/// Three metads and three graphds, a storaged everywhere; how many hosts there are.
fn write_inventory(dir: &Path, path: &Path) -> usize {
    let config = std::fs::read_to_string(dir.join("ssh_config")).expect("ssh_config of the hosts");
    let addresses: Vec<&str> = config
        .lines()
        .filter_map(|line| line.trim().strip_prefix("HostName "))
        .collect();
    let shown = dir.display();
    let head = format!(
        "format: 1\ncluster: scale\ndisposable: true\nnebula: {{version: 3.8.0, packages: \"{shown}/packages\", deploy_dir: /home/vesoft/nebula, flags: {{heartbeat_interval_secs: 1}}}}\n\
         ssh: {{user: vesoft, identity_file: \"{shown}/id_ed25519\", known_hosts_file: \"{shown}/known_hosts\", known_hosts: strict}}\nhosts:\n"
    );
    let host = |(number, address): (usize, &&str)| {
        let roles = if number <= 3 {
            "metad, graphd, storaged"
        } else {
            "storaged"
        };
        format!("  - {{name: h{number}, address: {address}, roles: [{roles}]}}\n")
    };
    let hosts: String = (1..).zip(&addresses).map(host).collect();
    std::fs::write(path, head + &hosts).unwrap();
    addresses.len()
}

/// Processor time of one connection to every host, clients and servers, s.
fn handshakes(dir: &Path, hosts: usize) -> f64 {
    let before = (children_seconds(), servers_seconds());
    let mut running: Vec<Child> = Vec::new();
    for host in 1..=hosts {
        if running.len() == AT_ONCE {
            assert!(
                running.remove(0).wait().unwrap().success(),
                "a host refused"
            );
        }
        let mut ssh = Command::new("ssh");
        ssh.arg("-F")
            .arg(dir.join("ssh_config"))
            .arg(format!("h{host}"))
            .arg("true");
        running.push(ssh.stdin(Stdio::null()).spawn().expect("ssh"));
    }
    for mut ssh in running {
        assert!(ssh.wait().unwrap().success(), "a host refused");
    }
    // Sessions end a moment after their clients.
    std::thread::sleep(Duration::from_secs(1));
    (children_seconds() - before.0) + (servers_seconds() - before.1)
}

/// Processor time of ended children of this process, s.
fn children_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .unwrap()
        .split_whitespace()
        .collect();
    let ticks = |at: usize| fields[at].parse::<f64>().unwrap();
    (ticks(13) + ticks(14)) / 100.0
}

/// Processor time of all containers of the bed, s, by their control groups.
fn servers_seconds() -> f64 {
    containers().iter().map(|id| container_seconds(id)).sum()
}

fn containers() -> Vec<String> {
    let name = std::env::var("NBCTL_BED_NAME").expect("NBCTL_BED_NAME");
    let filter = format!("label=nbctl.bed={name}");
    let output = Command::new("docker")
        .args(["ps", "-q", "--no-trunc", "--filter", &filter])
        .output()
        .expect("docker");
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(str::to_owned)
        .collect()
}

/// Control groups of version 1, or else of version 2.
fn container_seconds(id: &str) -> f64 {
    let old = format!("/sys/fs/cgroup/cpuacct/docker/{id}/cpuacct.usage");
    if let Ok(text) = std::fs::read_to_string(old) {
        return text.trim().parse::<f64>().unwrap_or_default() / 1e9;
    }
    let new = [
        format!("/sys/fs/cgroup/docker/{id}/cpu.stat"),
        format!("/sys/fs/cgroup/system.slice/docker-{id}.scope/cpu.stat"),
    ];
    let text = new
        .iter()
        .find_map(|path| std::fs::read_to_string(path).ok())
        .unwrap_or_default();
    let usage = text
        .lines()
        .find_map(|line| line.strip_prefix("usage_usec "));
    usage
        .and_then(|text| text.parse::<f64>().ok())
        .unwrap_or_default()
        / 1e6
}

/// Runs to the end and watches the memory meanwhile.
fn nbctl(dir: &Path, inventory: &Path, args: &[&str]) -> Ran {
    let log = std::fs::File::create(dir.join("nbctl.log")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_nbctl"));
    command
        .arg("-i")
        .arg(inventory)
        .args(args)
        .arg("--state-dir")
        .arg(dir.join("state"));
    command
        .stdin(Stdio::null())
        .stdout(log.try_clone().unwrap())
        .stderr(log);
    let begun = Instant::now();
    let mut child = command.spawn().expect("nbctl");
    let (mut rss, mut ssh) = (0.0_f64, 0.0_f64);
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        rss = rss.max(kib(&format!("/proc/{}/status", child.id()), "VmHWM:") / 1024.0);
        ssh = ssh.max(ssh_mib());
        std::thread::sleep(Duration::from_millis(200));
    };
    let wall = begun.elapsed().as_secs_f64();
    if !status.success() {
        let said = std::fs::read_to_string(dir.join("nbctl.log")).unwrap_or_default();
        panic!("nbctl {}: {status}\n{said}", args.join(" "));
    }
    Ran { wall, rss, ssh }
}

fn kib(path: &str, key: &str) -> f64 {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(key));
    let number = line.and_then(|rest| rest.split_whitespace().next());
    number
        .and_then(|text| text.parse().ok())
        .unwrap_or_default()
}

/// Resident size of ssh processes that use this bench's configuration, MiB.
fn ssh_mib() -> f64 {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let sizes = processes.filter_map(|entry| {
        let path = entry.path();
        let line = std::fs::read(path.join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line);
        let ours = line.starts_with("ssh") && line.contains("scale-");
        ours.then(|| kib(&path.join("status").display().to_string(), "VmRSS:"))
    });
    sizes.sum::<f64>() / 1024.0
}

/// Connections that an sshd of the bed dropped at the door.
fn refused() -> f64 {
    let dropped = containers().into_iter().map(|id| {
        let output = Command::new("docker")
            .args(["logs", &id])
            .output()
            .expect("docker");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        text.lines()
            .filter(|line| line.contains("MaxStartups") || line.contains("drop connection"))
            .count()
    });
    dropped.sum::<usize>() as f64
}
