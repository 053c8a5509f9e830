//! Packages, checked with the tools their users have, and the scripts in them.

use std::{fs, path::Path};

use crate::support::{BINARY, command, http, wait};
use nebula_sandbox::{
    line::Line,
    package::{PackageType, build},
};

/// Output of a command that must succeed.
fn output(program: &str, args: &[&str]) -> String {
    let result = command(program).args(args).output().expect(program);
    assert!(
        result.status.success(),
        "{program} {args:?}: {}",
        String::from_utf8_lossy(&result.stderr)
    );
    String::from_utf8_lossy(&result.stdout).into_owned()
}

fn has(program: &str) -> bool {
    let found = command("sh")
        .args(["-c", &format!("command -v {program}")])
        .output();
    let found = found.is_ok_and(|output| output.status.success());
    if !found {
        eprintln!("left out: {program} is not installed");
    }
    found
}

fn text(path: &Path) -> &str {
    path.to_str().expect("utf-8")
}

#[test]
fn rpm_installs_below_a_prefix() {
    let dir = tempfile::tempdir().expect("tempdir");
    let package = build(
        Line::V3_8_0,
        PackageType::Rpm,
        Path::new(BINARY),
        dir.path(),
    )
    .expect("builds");
    assert_eq!(
        package.file_name().expect("name"),
        "nebula-graph-3.8.0.el7.x86_64.rpm"
    );
    let sums = fs::read_to_string(
        dir.path()
            .join("nebula-graph-3.8.0.el7.x86_64.rpm.sha256sum.txt"),
    )
    .expect("sums");
    assert!(
        sums.ends_with("  ./pkg-build/cpack_output/nebula-graph-3.8.0.el7.x86_64.rpm\n"),
        "{sums}"
    );
    if !(has("rpm") && has("rpm2cpio") && has("cpio") && has("sha256sum")) {
        return;
    }
    assert!(
        output("sha256sum", &[text(&package)]).starts_with(sums.split(' ').next().expect("hash"))
    );
    assert_eq!(
        output("rpm", &["-qp", text(&package)]).trim(),
        "nebula-graph-3.8.0-1.x86_64"
    );
    let listed = output("rpm", &["-qplv", text(&package)]);
    for (mode, path) in [
        ("-rwxr-xr-x", "bin/nebula-graphd"),
        ("-r--r--r--", "etc/nebula-storaged.conf.default"),
        ("-r--r--r--", "etc/nebula-metad.conf.production"),
        ("-rwxr-xr-x", "scripts/nebula.service"),
        ("-rw-r--r--", "share/resources/gflags.json"),
    ] {
        let row = listed
            .lines()
            .find(|row| row.ends_with(&format!("/usr/local/nebula/{path}")));
        assert!(
            row.is_some_and(|row| row.starts_with(mode)),
            "{path}: {row:?}"
        );
    }
    installs_and_goes(dir.path(), &package);
    let unpack = format!(
        "cd {} && rpm2cpio {} | cpio -idm 2>/dev/null",
        text(dir.path()),
        text(&package)
    );
    output("sh", &["-c", &unpack]);
    scripts_behave(&dir.path().join("usr/local/nebula"));
}

fn installs_and_goes(dir: &Path, package: &Path) {
    let (root, database) = (dir.join("nebula"), dir.join("db"));
    output("rpm", &["--dbpath", text(&database), "--initdb"]);
    let prefix = format!("--prefix={}", text(&root));
    output(
        "rpm",
        &[
            "-i",
            "--nodeps",
            &prefix,
            "--dbpath",
            text(&database),
            text(package),
        ],
    );
    assert!(
        root.join("etc/nebula-graphd.conf").is_file(),
        "made by the post-install script"
    );
    output("rpm", &["-e", "--dbpath", text(&database), "nebula-graph"]);
    assert!(
        root.join("etc/nebula-graphd.conf").is_file(),
        "not owned by the package"
    );
    assert!(!root.join("bin/nebula-graphd").exists());
}

#[test]
fn other_packages_unpack() {
    let dir = tempfile::tempdir().expect("tempdir");
    for line in [Line::V2_0_1, Line::V2_6_2] {
        let tar = build(line, PackageType::TarGz, Path::new(BINARY), dir.path()).expect("builds");
        output("tar", &["-xzf", text(&tar), "-C", text(dir.path())]);
        let root = dir.path().join(format!("nebula-graph-{line}.el7.x86_64"));
        let version = output(text(&root.join("bin/nebula-metad")), &["--version"]);
        assert!(
            version.contains("Git: 5a4db0c") && version.contains(line.version()),
            "{version}"
        );
        assert!(!root.join("etc/nebula-metad.conf").exists());
    }
    let deb = build(
        Line::V3_8_0,
        PackageType::Deb,
        Path::new(BINARY),
        dir.path(),
    )
    .expect("builds");
    if has("dpkg-deb") {
        output(
            "dpkg-deb",
            &["-x", text(&deb), text(&dir.path().join("deb"))],
        );
        assert!(
            dir.path()
                .join("deb/usr/local/nebula/scripts/nebula-graphd.service")
                .is_file()
        );
        assert!(output("dpkg-deb", &["-f", text(&deb), "Version"]).starts_with("3.8.0"));
    }
}

/// Starts and stops a metad with the scripts of the package, on ports of its own.
/// Runs `scripts/nebula.service` from another folder: exit code and everything it said.
fn service(root: &Path, args: &[&str]) -> (i32, String) {
    let script = root.join("scripts/nebula.service");
    let result = command(text(&script))
        .args(args)
        .current_dir("/")
        .output()
        .expect("script");
    let both = [result.stdout, result.stderr].concat();
    (
        result.status.code().expect("code"),
        String::from_utf8_lossy(&both).into_owned(),
    )
}

/// Writes a conf with ports of its own; answers the RPC port, HTTP is two above.
fn own_conf(root: &Path) -> u16 {
    let port = 13_559 + u16::try_from(std::process::id() % 300).expect("small") * 4;
    let conf = fs::read_to_string(root.join("etc/nebula-metad.conf.default")).expect("conf");
    let conf = conf
        .replace("--port=9559", &format!("--port={port}"))
        .replace("127.0.0.1:9559", &format!("127.0.0.1:{port}"))
        .replace("19559", &(port + 2).to_string());
    let conf = conf + "--minimum_reserved_bytes=1\n--unknown_flag=1\n";
    fs::write(root.join("etc/nebula-metad.conf"), conf).expect("conf");
    port
}

/// Starts and stops a metad with the scripts of the package.
fn scripts_behave(root: &Path) {
    let port = own_conf(root);
    let says = |args: &[&str], code: i32, part: &str| {
        let (found, said) = service(root, args);
        assert!(
            found == code && said.contains(part),
            "{args:?}: {found} {said}"
        );
    };
    says(
        &["status", "metad"],
        0,
        "[INFO] nebula-metad(5a4db0c): Exited",
    );
    says(
        &["start", "metad"],
        0,
        "[INFO] Starting nebula-metad...\n[INFO] Done",
    );
    wait("metad", || http(port + 2, "GET", "/status", "").is_some());
    says(&["status", "metad"], 0, "(5a4db0c): Running as ");
    says(&["status", "metad"], 0, &format!("Listening on {port}"));
    says(
        &["start", "metad"],
        1,
        "[ERROR] nebula-metad already running: ",
    );
    let pid = fs::read_to_string(root.join("pids/nebula-metad.pid")).expect("pid file");
    let pid = pid.trim();
    let second = command(text(&root.join("bin/nebula-metad")))
        .args(["--flagfile", "etc/nebula-metad.conf"])
        .current_dir(root)
        .output()
        .expect("metad");
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(
        said.contains(&format!("Process `{pid}' already existed")),
        "{said}"
    );
    says(
        &["-v", "stop", "metad"],
        0,
        &format!("Send SIGTERM to {pid}"),
    );
    wait("metad ends", || !Path::new("/proc").join(pid).exists());
    assert!(root.join("pids/nebula-metad.pid").exists(), "stays behind");
    says(&["-v", "stop", "metad"], 0, "[INFO] No such process");
    says(&["start", "nonsense"], 1, "[ERROR] Unknown daemon");
    for name in ["nebula-metad.INFO", "metad-stdout.log", "metad-stderr.log"] {
        assert!(root.join("logs").join(name).exists(), "{name}");
    }
}
