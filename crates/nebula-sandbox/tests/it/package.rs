//! Packages of every line and type, checked with the tools their users have.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use crate::support::{BINARY, command};
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
    let asked = format!("command -v {program}");
    let found = command("sh").args(["-c", &asked]).output();
    let found = found.is_ok_and(|output| output.status.success());
    if !found {
        eprintln!("left out: {program} is not installed");
    }
    found
}

fn text(path: &Path) -> &str {
    path.to_str().expect("utf-8")
}

/// Every file of the package and from which line on it is there: mode, path, lines.
const FILES: &[(&str, &str, &str)] = &[
    ("rwxr-xr-x", "bin/db_dump", "0"),
    ("rwxr-xr-x", "bin/db_upgrader", "068"),
    ("rwxr-xr-x", "bin/meta_dump", "068"),
    ("rwxr-xr-x", "bin/nebula-graphd", "068"),
    ("rwxr-xr-x", "bin/nebula-metad", "068"),
    ("rwxr-xr-x", "bin/nebula-storaged", "068"),
    ("r--r--r--", "etc/nebula-graphd.conf.default", "068"),
    ("r--r--r--", "etc/nebula-graphd.conf.production", "068"),
    ("r--r--r--", "etc/nebula-metad.conf.default", "068"),
    ("r--r--r--", "etc/nebula-metad.conf.production", "068"),
    (
        "r--r--r--",
        "etc/nebula-storaged-listener.conf.production",
        "68",
    ),
    ("r--r--r--", "etc/nebula-storaged.conf.default", "068"),
    ("r--r--r--", "etc/nebula-storaged.conf.production", "068"),
    ("rwxr-xr-x", "scripts/meta-transfer-tools.sh", "68"),
    ("rwxr-xr-x", "scripts/nebula-graphd.service", "068"),
    ("rwxr-xr-x", "scripts/nebula-metad.service", "068"),
    ("rwxr-xr-x", "scripts/nebula-storaged-listener.service", "8"),
    ("rwxr-xr-x", "scripts/nebula-storaged.service", "068"),
    ("rwxr-xr-x", "scripts/nebula.service", "068"),
    ("rwxr-xr-x", "scripts/utils.sh", "068"),
    ("rw-r--r--", "share/resources/date_time_zonespec.csv", "68"),
    ("rw-r--r--", "share/resources/gflags.json", "068"),
];

/// Type, end of the file name, the tools needed, the path of the install root in its listing.
const TYPES: &[(PackageType, &str, &[&str])] = &[
    (
        PackageType::Rpm,
        "el7.x86_64.rpm",
        &["rpm", "rpm2cpio", "cpio"],
    ),
    (PackageType::TarGz, "el7.x86_64.tar.gz", &["tar"]),
    (PackageType::Deb, "ubuntu1604.amd64.deb", &["dpkg-deb"]),
];

/// A package around a few bytes instead of the executable, which would take long to pack.
fn small(line: Line, kind: PackageType, dir: &Path) -> PathBuf {
    let binary = dir.join("small");
    fs::write(&binary, "small").expect("write");
    build(line, kind, &binary, dir).expect("builds")
}

/// Mode by path below the install root, as the format's own tool lists it.
fn listed(kind: PackageType, package: &Path) -> BTreeMap<String, String> {
    let (rows, root) = match kind {
        PackageType::Rpm => (
            output("rpm", &["-qplv", text(package)]),
            "/usr/local/nebula/".to_owned(),
        ),
        PackageType::Deb => (
            output("dpkg-deb", &["-c", text(package)]),
            "usr/local/nebula/".to_owned(),
        ),
        PackageType::TarGz => {
            let name = package
                .file_name()
                .and_then(|name| name.to_str())
                .expect("name");
            let top = format!("{}/", name.trim_end_matches(".tar.gz"));
            (output("tar", &["-tvzf", text(package)]), top)
        }
    };
    let row = |row: &str| {
        let mode = row.strip_prefix('-')?.split_whitespace().next()?.to_owned();
        let path = row
            .split_whitespace()
            .last()?
            .trim_start_matches("./")
            .strip_prefix(&root)?
            .to_owned();
        Some((path, mode))
    };
    rows.lines().filter_map(row).collect()
}

#[test]
fn names_sums_and_layout() {
    for line in Line::ALL {
        for (kind, ending, tools) in TYPES {
            let dir = tempfile::tempdir().expect("tempdir");
            let package = small(line, *kind, dir.path());
            let name = format!("nebula-graph-{line}.{ending}");
            assert_eq!(
                package.file_name().and_then(|name| name.to_str()),
                Some(&*name)
            );
            check_sum(line, dir.path(), &name);
            if !tools.iter().all(|tool| has(tool)) {
                continue;
            }
            let mine = FILES
                .iter()
                .filter(|(.., lines)| lines.contains(line.letter()));
            let wanted = mine.map(|(mode, path, _)| ((*path).to_owned(), (*mode).to_owned()));
            assert_eq!(listed(*kind, &package), wanted.collect(), "{name}");
        }
    }
}

/// The file beside the package names a folder of the build machine.
fn check_sum(line: Line, dir: &Path, name: &str) {
    let sums = fs::read_to_string(dir.join(format!("{name}.sha256sum.txt"))).expect("sums");
    let dot = if line == Line::V2_0_1 { "" } else { "./" };
    let (hash, path) = sums.trim_end().split_once("  ").expect("two fields");
    assert_eq!(path, format!("{dot}pkg-build/cpack_output/{name}"));
    if has("sha256sum") {
        assert!(output("sha256sum", &[text(&dir.join(name))]).starts_with(hash));
    }
}

#[test]
fn rpm_installs_below_a_prefix_and_upgrades() {
    if !(has("rpm") && has("rpm2cpio") && has("cpio")) {
        return;
    }
    let dir = tempfile::tempdir().expect("tempdir");
    let packages = Line::ALL.map(|line| small(line, PackageType::Rpm, dir.path()));
    for (line, package) in Line::ALL.iter().zip(&packages) {
        let name = output("rpm", &["-qp", text(package)]);
        assert_eq!(name.trim(), format!("nebula-graph-{line}-1.x86_64"));
    }
    let (root, database) = (dir.path().join("nebula"), dir.path().join("db"));
    let rpm = |args: &[&str]| output("rpm", &[&["--dbpath", text(&database)], args].concat());
    rpm(&["--initdb"]);
    let prefix = format!("--prefix={}", text(&root));
    rpm(&["-i", "--nodeps", &prefix, text(&packages[0])]);
    let conf = root.join("etc/nebula-graphd.conf");
    assert_eq!(mode(&conf), 0o644, "made by the post-install script");
    fs::write(&conf, "--edited=1\n").expect("edit");
    for package in &packages[1..] {
        rpm(&["-U", "--nodeps", &prefix, text(package)]);
        assert_eq!(
            fs::read_to_string(&conf).expect("conf"),
            "--edited=1\n",
            "kept"
        );
    }
    assert!(!root.join("bin/db_dump").exists(), "2.0.1 is gone");
    rpm(&["-e", "nebula-graph"]);
    assert!(conf.is_file(), "not owned by the package");
    assert!(!root.join("bin/nebula-graphd").exists());
    let place = dir.path().join("unpacked");
    let unpack = format!(
        "mkdir {0} && cd {0} && rpm2cpio {1} | cpio -idm 2>/dev/null",
        text(&place),
        text(&packages[2])
    );
    output("sh", &["-c", &unpack]);
    let etc = place.join("usr/local/nebula/etc");
    assert!(
        etc.join("nebula-metad.conf.default").exists() && !etc.join("nebula-metad.conf").exists()
    );
}

fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).expect("a file").permissions().mode() & 0o777
}

#[test]
fn deb_makes_confs_at_its_fixed_place() {
    if !has("dpkg-deb") {
        return;
    }
    let dir = tempfile::tempdir().expect("tempdir");
    for line in Line::ALL {
        let package = small(line, PackageType::Deb, dir.path());
        for (field, value) in [
            ("Package", "nebula-graph"),
            ("Version", &format!("{line}-1")),
            ("Architecture", "amd64"),
        ] {
            assert_eq!(
                output("dpkg-deb", &["-f", text(&package), field]).trim(),
                value
            );
        }
        let (place, control) = (dir.path().join("deb"), dir.path().join("control"));
        output("dpkg-deb", &["-x", text(&package), text(&place)]);
        output("dpkg-deb", &["-e", text(&package), text(&control)]);
        let root = place.join("usr/local/nebula");
        assert!(!root.join("etc/nebula-metad.conf").exists());
        // The script knows one place only; here it is made to mean another one.
        let script = fs::read_to_string(control.join("postinst")).expect("postinst");
        assert_eq!(mode(&control.join("postinst")), 0o755);
        let moved = script.replace("/usr/local/nebula", text(&root));
        assert_ne!(moved, script);
        output("sh", &["-c", &moved]);
        for role in ["metad", "graphd", "storaged"] {
            assert_eq!(mode(&root.join(format!("etc/nebula-{role}.conf"))), 0o644);
        }
        fs::remove_dir_all(&place).expect("remove");
        fs::remove_dir_all(&control).expect("remove");
    }
}

/// Tools of the original that the stand-in does not play say so.
#[test]
fn what_is_not_played_says_so() {
    let root = crate::root::Root::unpack("3.8.0");
    for tool in [
        "bin/db_upgrader",
        "bin/meta_dump",
        "scripts/meta-transfer-tools.sh",
        "scripts/nebula-storaged-listener.service",
    ] {
        let result = command(text(&root.dir.join(tool))).output().expect(tool);
        assert_eq!(result.status.code(), Some(1), "{tool}");
        let said = String::from_utf8_lossy(&result.stderr).into_owned();
        assert!(said.contains("sandbox: not supported"), "{tool}: {said}");
    }
}

/// The executable in a package plays the package's line.
#[test]
fn the_executable_knows_its_line() {
    let dir = tempfile::tempdir().expect("tempdir");
    // Without its symbols it is packed in a tenth of the time.
    let small = dir.path().join("stripped");
    let stripped = command("strip").args(["-o", text(&small), BINARY]).status();
    let binary = if stripped.is_ok_and(|status| status.success()) {
        &small
    } else {
        Path::new(BINARY)
    };
    let tar = build(Line::V2_0_1, PackageType::TarGz, binary, dir.path()).expect("builds");
    output("tar", &["-xzf", text(&tar), "-C", text(dir.path())]);
    let root = dir.path().join("nebula-graph-2.0.1.el7.x86_64");
    for role in ["metad", "graphd", "storaged"] {
        let version = output(
            text(&root.join(format!("bin/nebula-{role}"))),
            &["--version"],
        );
        assert!(
            version.contains(&format!("nebula-{role} version Git: 5a4db0c")),
            "{version}"
        );
        assert!(version.contains("playing NebulaGraph 2.0.1."), "{version}");
    }
}
