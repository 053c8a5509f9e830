//! Unmodified clients against every line: the pairs that must work, and those that NebulaGraph refuses.
//!
//! `tests/bed/clients.sh` installs them and `make test` says where (`NBCTL_BED_CLIENTS`). Without that the tests say
//! what they leave out.

use std::path::{Path, PathBuf};

use crate::support::{Cluster, command};

/// Line, package, version; part of what a refused client says, `None` = it works.
const MATRIX: &[(&str, &str, &str, Option<&str>)] = &[
    ("2.0.1", "nebula2-python", "2.0.0", None),
    (
        "2.0.1",
        "nebula2-python",
        "2.6.1",
        Some("verifyClientVersion not found"),
    ),
    (
        "2.0.1",
        "nebula3-python",
        "3.0.0",
        Some("verifyClientVersion not found"),
    ),
    (
        "2.0.1",
        "nebula3-python",
        "3.8.3",
        Some("verifyClientVersion not found"),
    ),
    ("2.6.2", "nebula2-python", "2.6.1", None),
    ("2.6.2", "nebula3-python", "3.0.0", Some("is not accepted")),
    ("2.6.2", "nebula3-python", "3.8.3", Some("is not accepted")),
    ("3.8.0", "nebula2-python", "2.6.1", Some("is not accepted")),
    ("3.8.0", "nebula3-python", "3.0.0", None),
    ("3.8.0", "nebula3-python", "3.8.3", None),
    ("3.8.0", "nebula-nodejs", "3.0.3", None),
];

/// Where a client is installed.
pub(crate) fn installed(package: &str, version: &str) -> Option<PathBuf> {
    let clients = std::env::var_os("NBCTL_BED_CLIENTS");
    let home = clients.map(|dir| Path::new(&dir).join(format!("{package}-{version}")));
    let home = home.filter(|home| home.join("complete").exists());
    if home.is_none() {
        eprintln!(
            "left out: {package} {version} is not installed\nhint: tests/bed/clients.sh, or make test"
        );
    }
    home
}

/// Everything a client says that is driven by its script in `tests/clients`.
fn drive(package: &str, home: &Path, cluster: &Cluster) -> String {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients");
    let script = scripts.join(if package == "nebula-nodejs" {
        "nebula_nodejs.js".to_owned()
    } else {
        format!("{}.py", package.replace('-', "_"))
    });
    let mut run = if package == "nebula-nodejs" {
        command("node")
    } else {
        command(home.join("../python/bin/python").to_str().expect("utf-8"))
    };
    let output = run
        .arg(script)
        .args([&cluster.graphd.port.to_string(), "s"])
        .env("PYTHONPATH", home)
        .env("NODE_PATH", home.join("node_modules"))
        .output()
        .expect("client");
    let both = [output.stdout, output.stderr].concat();
    String::from_utf8_lossy(&both).into_owned()
}

fn matrix(line: &'static str) {
    let mine = MATRIX.iter().filter(|case| case.0 == line);
    let mine = mine.filter_map(|(_, package, version, refused)| {
        installed(package, version).map(|home| (package, version, home, refused))
    });
    let mine: Vec<_> = mine.collect();
    if mine.is_empty() {
        return;
    }
    let cluster = Cluster::start(line, 1);
    let mut client = cluster.client();
    client.until("SHOW HOSTS");
    crate::support::wait("a host", || client.ok("SHOW HOSTS").rows.len() == 2);
    let mut client = cluster.space("int64", "CREATE EDGE E(w int)");
    client.until("INSERT EDGE E(w) VALUES 1->2:(7)");
    for (package, version, home, refused) in mine {
        let said = drive(package, &home, &cluster);
        let passed = said.lines().any(|line| line == "passed");
        assert_eq!(
            passed,
            refused.is_none(),
            "{package} {version} on {line}: {said}"
        );
        assert!(
            said.contains(refused.unwrap_or("passed")),
            "{package} {version} on {line}: {said}"
        );
    }
    if line == "2.6.2" {
        without_white_list(&cluster);
    }
}

/// With the white list off a 3.x client connects to 2.6 and fails at its first statement.
fn without_white_list(cluster: &Cluster) {
    cluster.graphd.set_flag("enable_client_white_list", "false");
    for version in ["3.0.0", "3.8.3"] {
        let Some(home) = installed("nebula3-python", version) else {
            continue;
        };
        let said = drive("nebula3-python", &home, cluster);
        assert!(
            said.contains("executeWithParameter not found"),
            "{version}: {said}"
        );
    }
}

#[test]
fn line_2_0_1() {
    matrix("2.0.1");
}

#[test]
fn line_2_6_2() {
    matrix("2.6.2");
}

#[test]
fn line_3_8_0() {
    matrix("3.8.0");
}
