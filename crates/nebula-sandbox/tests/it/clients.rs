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

fn passes(package: &str, line: &'static str, script: &str) {
    let Some(python) = python(package) else {
        return;
    };
    let cluster = Cluster::start(line, 2);
    let script = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/clients")
        .join(script);
    let output = command(python.to_str().expect("utf-8"))
        .arg(script)
        .arg(cluster.graphd.port.to_string())
        .output()
        .expect("python");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("passed"), "{package}: {said}\n{errors}");
}

#[test]
fn nebula3_python_3_0_0() {
    passes("nebula3-python==3.0.0", "3.8.0", "nebula3_python.py");
}

#[test]
fn nebula3_python_3_8_3() {
    passes("nebula3-python==3.8.3", "3.8.0", "nebula3_python.py");
}
