//! The scripts of a deploy and a teardown, run for real on this machine: facts, plan, do, again.
//!
//! The daemons are this very program under other names: it starts, forks away and sleeps as they do.
//! Two things are left to the program that uses these plans: sending files and deleting folders.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::zombie_processes,
    clippy::exit,
    reason = "a test of shell scripts without the test harness"
)]

mod bed;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use bed::{Bed, apply, apply_step, cluster, package, run, sh};
use libtest_mimic::{Arguments, Trial};
use nbctl_core::deploy::{self, Patience};
use nbctl_core::inventory::{Cluster, DaemonRole};
use nbctl_core::owner::Claim;
use nbctl_core::plan::Step;
use nbctl_core::status::Row;
use nbctl_core::teardown;
use nbctl_core::units::RemotePath;

fn main() {
    let name = std::env::args().next().unwrap();
    if Path::new(&name)
        .file_name()
        .is_some_and(|name| name.to_string_lossy().starts_with("nebula-"))
    {
        return daemon();
    }
    let tests = [
        trial("deploy_and_teardown", deploy_and_teardown),
        trial(
            "a_package_is_there_whole_or_not_at_all",
            a_package_is_there_whole_or_not_at_all,
        ),
        trial("deb_packages", deb_packages),
        trial("two_claims", two_claims),
        trial("stopping_is_seen_through", stopping_is_seen_through),
        trial("a_daemon_is_bound_as_asked", a_daemon_is_bound_as_asked),
        trial(
            "a_failed_start_shows_last_words",
            a_failed_start_shows_last_words,
        ),
    ];
    libtest_mimic::run(&Arguments::from_args(), tests.into()).exit();
}

fn trial(name: &str, test: fn()) -> Trial {
    Trial::test(name, move || {
        test();
        Ok(())
    })
}

/// What a daemon does as far as scripts can see: the parent ends at once, the child stays.
fn daemon() {
    let args: Vec<String> = std::env::args().collect();
    if args.get(1).is_some_and(|arg| arg == "--version") {
        return;
    }
    if std::env::var_os("NEBULA_CHILD").is_some() {
        std::thread::sleep(Duration::from_mins(10));
        return;
    }
    let conf = fs::read_to_string(&args[2]).unwrap();
    let flag = |name: &str| {
        conf.lines()
            .find_map(|line| line.strip_prefix(name))
            .unwrap_or_default()
    };
    if flag("--v=") == "9" {
        eprintln!("told to fail");
        std::process::exit(3);
    }
    let trap = if flag("--v=") == "8" {
        "trap '' TERM; "
    } else {
        ""
    };
    let exe = std::env::current_exe().unwrap();
    let text = format!("{trap}exec '{}'", exe.display());
    let mut child = Command::new("sh");
    child
        .args(["-c", &text])
        .env("NEBULA_CHILD", "1")
        .stdin(Stdio::null());
    let child = child
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    fs::write(flag("--pid_file="), child.id().to_string()).unwrap();
    // The scripts wait for the name of the executable, which sh has to give up first.
    std::thread::sleep(Duration::from_millis(100));
}

/// Processors and open files of the running process are those of the inventory.
fn a_daemon_is_bound_as_asked() {
    if !sh("command -v taskset").status.success() {
        eprintln!("left out: there is no taskset on this machine");
        return;
    }
    let mut bed = Bed::new("wal_ttl: 600");
    for daemon in &mut bed.cluster.daemons {
        if daemon.role == DaemonRole::Storaged {
            daemon.pin.cpus = Some("0".to_owned());
            daemon.pin.nofile = Some(1500);
        }
    }
    apply(&bed.deploy());
    let proc = |role, file: &str, field: &str| {
        let pid = bed.pid(role).unwrap();
        let text = fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap();
        let line = text.lines().find(|line| line.starts_with(field)).unwrap();
        line.strip_prefix(field).unwrap().trim().to_owned()
    };
    assert_eq!(
        proc(DaemonRole::Storaged, "status", "Cpus_allowed_list:"),
        "0"
    );
    assert!(proc(DaemonRole::Storaged, "limits", "Max open files").starts_with("1500 "));
    assert!(!proc(DaemonRole::Graphd, "limits", "Max open files").starts_with("1500 "));
    bed.teardown();
}

fn deploy_and_teardown() {
    let mut bed = Bed::new("wal_ttl: 600");
    fs::create_dir_all(bed.root().join("pids")).unwrap();
    fs::remove_dir(bed.root().join("pids")).unwrap();
    let plan = bed.deploy();
    apply(&plan);
    let again = bed.deploy();
    assert!(again.is_empty(), "not idempotent:\n{again}");
    let pids = [DaemonRole::Metad, DaemonRole::Storaged, DaemonRole::Graphd]
        .map(|role| bed.pid(role).unwrap());

    // A status asks less, and shows the same.
    let [brief, full] = bed.statuses();
    assert_eq!(brief, full);
    let row = |row: &Row| row.pid.is_some() && row.package.is_some() && row.started > Some(0);
    assert!(brief.rows.iter().all(row), "{brief:?}");

    // One flag: only that daemon is restarted.
    bed.cluster = cluster(bed.dir.path(), "wal_ttl: 700");
    let [brief, full] = bed.statuses();
    assert_eq!(brief, full);
    let problems = brief.rows.iter().flat_map(|row| &row.problems);
    let differs = |problem: &&String| problem.contains("differs from the inventory");
    assert_eq!(problems.filter(differs).count(), 1, "{brief:?}");
    let plan = bed.deploy();
    apply(&plan);
    assert!(bed.deploy().is_empty());
    assert_eq!(bed.pid(DaemonRole::Metad), Some(pids[0]));
    assert_eq!(bed.pid(DaemonRole::Graphd), Some(pids[2]));
    let restarted = bed.pid(DaemonRole::Storaged).unwrap();
    assert_ne!(restarted, pids[1]);

    // A reboot: nothing runs, and the pid file names a stranger.
    sh(&format!("kill -KILL {restarted}"));
    let pid_file = bed.daemon(DaemonRole::Storaged).pid_file.clone();
    fs::write(pid_file.as_str(), std::process::id().to_string()).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    let plan = bed.deploy();
    assert!(
        plan.to_string().contains("start storaged@bed") && !plan.to_string().contains("stop"),
        "{plan}"
    );
    apply(&plan);
    assert!(bed.pid(DaemonRole::Storaged).is_some() && bed.deploy().is_empty());
    assert!(
        bed.facts()[&bed.host()]
            .processes
            .iter()
            .all(|p| p.cwd == bed.root().display().to_string())
    );

    bed.teardown();
    let nothing = teardown::plan(&bed.cluster, &bed.facts(), true);
    assert!(nothing.plan.is_empty() && nothing.left_alone.is_empty());
}

fn a_package_is_there_whole_or_not_at_all() {
    let bed = Bed::new("wal_ttl: 600");
    let root = RemotePath::new(bed.root().to_str().unwrap()).unwrap();
    fs::create_dir_all(bed.root()).unwrap();
    let content = fs::read(&bed.package.source).unwrap();
    let cut = bed.dir.path().join("cut");
    fs::write(&cut, &content[..content.len() / 2]).unwrap();
    let cut = RemotePath::new(cut.to_str().unwrap()).unwrap();
    let output = run(&deploy::install(
        &root,
        &bed.package,
        &cut,
        &["nebula-metad"],
    ));
    assert!(!output.status.success());
    let left: Vec<_> = fs::read_dir(bed.root().join("versions")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");

    let whole = RemotePath::new(&bed.package.source).unwrap();
    let output = run(&deploy::install(
        &root,
        &bed.package,
        &whole,
        &["nebula-metad", "nebula-listener"],
    ));
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("there is no bin/nebula-listener"),
        "{output:?}"
    );
    let install = deploy::install(&root, &bed.package, &whole, &["nebula-metad"]);
    let program = bed.root().join(format!(
        "versions/{}/bin/nebula-metad",
        bed.package.sha256.short()
    ));
    assert!(run(&install).status.success() && program.is_file());
    // A damaged version is replaced.
    fs::remove_file(&program).unwrap();
    assert!(run(&install).status.success() && program.is_file());
    assert_eq!(
        fs::read_dir(bed.root().join("versions")).unwrap().count(),
        1
    );
}

fn deb_packages() {
    if !sh("command -v ar").status.success() {
        eprintln!("left out: ar is not here");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let package = package(dir.path(), "deb");
    let root = RemotePath::new(dir.path().join("root").to_str().unwrap()).unwrap();
    fs::create_dir_all(root.as_str()).unwrap();
    let cached = RemotePath::new(&package.source).unwrap();
    let output = run(&deploy::install(
        &root,
        &package,
        &cached,
        &["nebula-graphd"],
    ));
    assert!(output.status.success(), "{output:?}");
    let program = root.join(&format!(
        "versions/{}/bin/nebula-graphd",
        package.sha256.short()
    ));
    assert!(Path::new(program.as_str()).is_file());
}

fn two_claims() {
    let bed = Bed::new("wal_ttl: 600");
    let root = RemotePath::new(bed.root().to_str().unwrap()).unwrap();
    let mut other = bed.cluster.clone();
    other.id = "ffffffffffff".into();
    let claim = |cluster: &Cluster| {
        let claim = Claim {
            cluster,
            control: "it's control",
        };
        sh(&claim.script(&[&root], "root"))
    };
    assert!(claim(&bed.cluster).status.success());
    let marker = fs::read_to_string(root.join(".nbctl-owner").as_str()).unwrap();
    assert!(claim(&bed.cluster).status.success());
    let refused = claim(&other);
    assert_eq!(refused.status.code(), Some(65), "{refused:?}");
    assert!(
        String::from_utf8_lossy(&refused.stderr).contains("control=it's control"),
        "{refused:?}"
    );
    assert_eq!(
        fs::read_to_string(root.join(".nbctl-owner").as_str()).unwrap(),
        marker
    );
    assert_eq!(fs::read_dir(root.as_str()).unwrap().count(), 1);
}

fn stopping_is_seen_through() {
    let bed = Bed::new("v: 8");
    apply(&bed.deploy());
    let daemon = bed.daemon(DaemonRole::Storaged);
    let pid = bed.pid(DaemonRole::Storaged).unwrap();
    let keep = Patience {
        time: Duration::from_secs(1),
        kill: false,
    };
    let output = run(&deploy::stop(daemon, keep));
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains(&format!(
            "nebula-storaged (pid {pid}) did not end within 1 s"
        )),
        "{said}"
    );
    assert_eq!(bed.pid(DaemonRole::Storaged), Some(pid));
    let output = run(&deploy::stop(daemon, Patience { kill: true, ..keep }));
    assert!(output.status.success(), "{output:?}");
    assert_eq!(bed.pid(DaemonRole::Storaged), None);
    assert!(run(&deploy::stop(daemon, keep)).status.success());
    bed.teardown();
}

fn a_failed_start_shows_last_words() {
    let bed = Bed::new("v: 9");
    let plan = bed.deploy();
    let steps: Vec<&Step> = plan.stages.iter().flat_map(|stage| &stage.steps).collect();
    let at = steps
        .iter()
        .position(|step| step.title == "start storaged@bed")
        .unwrap();
    steps[..at].iter().copied().for_each(apply_step);
    let output = run(&steps[at].action);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !output.status.success()
            && said.contains("nebula-storaged ended with exit code 3")
            && said.contains("told to fail"),
        "{said}"
    );
    bed.teardown();
}
