//! Unmodified clients from their registry. Each is installed once into a folder of its own under the target folder;
//! where that is not possible the test says so and passes.

use std::path::{Path, PathBuf};

use crate::support::{Cluster, command};

/// A Python with one package in one version, `None` when it cannot be had.
fn python(package: &str) -> Option<PathBuf> {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join(package.replace("==", "-"));
    let python = home.join("bin/python");
    let ready = home.join("ready");
    if ready.exists() {
        return Some(python);
    }
    let run = |program: &str, args: &[&str]| {
        let output = command(program).args(args).output();
        output.is_ok_and(|output| output.status.success())
    };
    let folder = home.to_str()?;
    let made = run("python3", &["-m", "venv", folder])
        && run(python.to_str()?, &["-m", "pip", "install", "-q", package]);
    if !made {
        eprintln!("left out: {package} cannot be installed");
        return None;
    }
    std::fs::write(ready, "").ok()?;
    Some(python)
}

/// Both outputs of a client script against a fresh cluster.
fn drive(package: &str, line: &'static str, script: &str) -> Option<String> {
    let python = python(package)?;
    let cluster = Cluster::start(line, 2);
    let script = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/clients")
        .join(script);
    let output = command(python.to_str()?)
        .arg(script)
        .arg(cluster.graphd.port.to_string())
        .output()
        .expect("python");
    let both = [output.stdout, output.stderr].concat();
    Some(String::from_utf8_lossy(&both).into_owned())
}

fn passes(package: &str, line: &'static str, script: &str) {
    if let Some(said) = drive(package, line, script) {
        assert!(said.contains("passed"), "{package} on {line}: {said}");
    }
}

/// A pair of client and server that NebulaGraph refuses must be refused here too.
fn refused(package: &str, line: &'static str, script: &str) {
    if let Some(said) = drive(package, line, script) {
        assert!(!said.contains("passed"), "{package} on {line}: {said}");
        assert!(said.contains("Traceback"), "{package} on {line}: {said}");
    }
}

#[test]
fn nebula2_python_2_0_0() {
    passes("nebula2-python==2.0.0", "2.0.1", "nebula2_python.py");
}

#[test]
fn nebula2_python_2_6_1() {
    passes("nebula2-python==2.6.1", "2.6.2", "nebula2_python.py");
    refused("nebula2-python==2.6.1", "2.0.1", "nebula2_python.py");
}

#[test]
fn nebula3_python_3_0_0() {
    passes("nebula3-python==3.0.0", "3.8.0", "nebula3_python.py");
    refused("nebula3-python==3.0.0", "2.0.1", "nebula3_python.py");
    refused("nebula3-python==3.0.0", "2.6.2", "nebula3_python.py");
}

#[test]
fn nebula3_python_3_8_3() {
    passes("nebula3-python==3.8.3", "3.8.0", "nebula3_python.py");
}

/// The folder with the npm package, `None` when it cannot be had.
fn node_modules() -> Option<PathBuf> {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("nebula-nodejs-3.0.3");
    if home.join("ready").exists() {
        return Some(home);
    }
    std::fs::create_dir_all(&home).ok()?;
    let package = "@nebula-contrib/nebula-nodejs@3.0.3";
    // Its native part is compiled against the headers beside node, so nothing else is fetched.
    let output = command("npm")
        .args(["install", "--no-audit", "--no-fund", package])
        .env("npm_config_nodedir", "/usr")
        .current_dir(&home)
        .output();
    let addon = home.join("node_modules/@nebula-contrib/nebula-nodejs/build/Release/addon.node");
    if !(output.is_ok_and(|output| output.status.success()) && addon.exists()) {
        eprintln!("left out: {package} cannot be installed or compiled");
        return None;
    }
    std::fs::write(home.join("ready"), "").ok()?;
    Some(home)
}

#[test]
fn nebula_nodejs_3_0_3() {
    let Some(home) = node_modules() else { return };
    let cluster = Cluster::start("3.8.0", 2);
    let mut client = cluster.space("int64", "CREATE EDGE E(w int)");
    client.until("INSERT EDGE E(w) VALUES 1->2:(7)");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/nebula_nodejs.js");
    std::fs::copy(script, home.join("drive.js")).expect("copy");
    let output = command("node")
        .args(["drive.js", &cluster.graphd.port.to_string(), "s"])
        .current_dir(&home)
        .output()
        .expect("node");
    let both = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&both).into_owned();
    assert!(said.contains("passed"), "{said}");
}
