//! Every way of installing, each on a test host of its own, side by side: the release lines, the kinds of packages, the RPM
//! database, a user without sudo.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

/// Whoever is no member of any group that may do something.
const PLAIN: &str = "plain";

/// Files of both users, processes, and the RPM database.
const LISTING: &str = r"
sudo find /home /var/lib/rpm -mindepth 1 -not -path '*/.ssh*' -not -name 'rpmdb.sqlite*' | sort
pgrep -l nebula- | sort
sudo rpm -qa | sort
";

struct Way {
    line: &'static str,
    kind: &'static str,
    install: &'static str,
    user: &'static str,
}

const WAYS: [Way; 4] = [
    Way {
        line: "2.0.1",
        kind: "rpm",
        install: "rpm",
        user: "vesoft",
    },
    Way {
        line: "2.6.2",
        kind: "tar.gz",
        install: "extract",
        user: PLAIN,
    },
    Way {
        line: "3.8.0",
        kind: "deb",
        install: "extract",
        user: PLAIN,
    },
    Way {
        line: "3.8.0",
        kind: "rpm",
        install: "rpm",
        user: "vesoft",
    },
];

/// Deployed, equal to its inventory, nothing to do a second time, and gone without a trace.
#[test]
fn every_way_of_installing_on_test_hosts() {
    let Some(bed) = std::env::var_os("NBCTL_BED_DIR").map(PathBuf::from) else {
        eprintln!("left out: no test hosts; make test brings them up");
        return;
    };
    let addresses = addresses(&bed);
    thread::scope(|scope| {
        for (host, (way, address)) in (1..).zip(WAYS.iter().zip(&addresses)) {
            let bed = &bed;
            scope.spawn(move || one(bed, host, address, way));
        }
    });
    assert_eq!(
        addresses.len().min(WAYS.len()),
        WAYS.len(),
        "too few test hosts"
    );
}

fn addresses(bed: &Path) -> Vec<String> {
    let config = std::fs::read_to_string(bed.join("ssh_config")).unwrap();
    let names = config
        .lines()
        .filter_map(|line| line.trim().strip_prefix("HostName "));
    names.map(str::to_owned).collect()
}

fn one(bed: &Path, host: u32, address: &str, way: &Way) {
    let work = tempfile::tempdir().unwrap();
    let name = format!("{} {} {} as {}", way.line, way.kind, way.install, way.user);
    let nbctl = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nbctl"));
        command.args(args).current_dir(work.path());
        said(&name, &mut command)
    };
    let on_host = |script: &str| {
        let mut ssh = Command::new("ssh");
        ssh.arg("-F")
            .arg(bed.join("ssh_config"))
            .arg(format!("h{host}"))
            .arg(script);
        said(&name, &mut ssh)
    };
    nbctl(&["sandbox", "package", "--line", way.line, "--type", way.kind]);
    std::fs::write(
        work.path().join("inventory.yaml"),
        inventory(bed, address, way),
    )
    .unwrap();
    if way.user == PLAIN {
        on_host(
            "sudo useradd -m -s /bin/sh plain && sudo cp -r ~/.ssh /home/plain/ && sudo chown -R plain: /home/plain/.ssh",
        );
    }
    let before = on_host(LISTING);
    assert!(
        nbctl(&["deploy", "--yes"]).contains("deployed and verified"),
        "{name}"
    );
    let in_database = on_host("sudo rpm -q nebula-graph || true");
    assert_eq!(
        in_database.starts_with("nebula-graph-"),
        way.install == "rpm",
        "{name}: {in_database}"
    );
    assert!(
        nbctl(&["status"]).contains("equals its inventory"),
        "{name}"
    );
    assert!(
        nbctl(&["deploy", "--yes"]).contains("nothing to do"),
        "{name}"
    );
    nbctl(&["teardown", "--yes", "--purge"]);
    assert_eq!(on_host(LISTING), before, "{name} left something");
    if way.user == PLAIN {
        on_host("sudo userdel -r plain 2>/dev/null || true");
    }
}

fn inventory(bed: &Path, address: &str, way: &Way) -> String {
    let Way {
        line,
        install,
        user,
        ..
    } = way;
    let bed = bed.display();
    let sudo = *install == "rpm";
    format!(
        "format: 1\ncluster: ways\ndisposable: true\n\
         nebula: {{version: {line}, packages: packages, install: {install}, deploy_dir: /home/{user}/ways, flags: {{heartbeat_interval_secs: 1}}}}\n\
         ssh: {{user: {user}, identity_file: \"{bed}/id_ed25519\", known_hosts_file: \"{bed}/known_hosts\", known_hosts: strict, sudo: {sudo}}}\n\
         hosts:\n  - {{name: h1, address: {address}, roles: [metad, graphd, storaged]}}\n"
    )
}

/// What a program that ended well printed.
fn said(name: &str, command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(
        output.status.success(),
        "{name}: {command:?}: {}\n{out}\n{err}",
        output.status
    );
    out
}
