//! An rpm unpacks to the same tree with either pair of programs, and a cut one with neither.

use std::path::Path;
use std::process::{Command, Output};

use nbctl_core::deploy::install;
use nbctl_core::package::{Package, PackageName};
use nbctl_core::plan::Action;
use nbctl_core::units::{RemotePath, Sha256};

use super::FILE;

const PROGRAMS: &str =
    "command -v rpm2cpio && command -v cpio && rpm2archive --help | grep -q nocompression";
/// Every file with its mode and what is in it.
const TREE: &str = r#"cd "$0" && find versions -type f -exec ls -l {} + | awk '{ print $1, $5, $NF }' | sort && find versions -type f -exec sha256sum {} + | sort"#;

fn sh(text: &str, argument: &Path, path: &str) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", text]).arg(argument).env("PATH", path);
    command.output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The version folder below `root` after `package` was unpacked there with the programs of `path`.
fn tree(root: &Path, package: &Package, path: &str) -> Result<String, String> {
    std::fs::create_dir_all(root).unwrap();
    let remote = |path: &Path| RemotePath::new(path.to_str().unwrap()).unwrap();
    let source = remote(Path::new(&package.source));
    let Action::Run(script) = install(&remote(root), package, &source, &["nebula-metad"]) else {
        unreachable!("a script")
    };
    let output = sh(&script.text, root, path);
    let left = text(&sh("ls \"$0\"/versions", root, path));
    if output.status.success() {
        return Ok(text(&sh(TREE, root, path)));
    }
    assert_eq!(left, "", "a failed installation left something");
    Err(String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn an_rpm_unpacks_the_same_either_way() {
    let path = std::env::var("PATH").unwrap() + ":/usr/sbin:/sbin";
    let work = tempfile::tempdir().unwrap();
    if !sh(PROGRAMS, work.path(), &path).status.success() {
        eprintln!("left out: rpm2archive, rpm2cpio or cpio is not here");
        return;
    }
    let mut nbctl = Command::new(env!("CARGO_BIN_EXE_nbctl"));
    nbctl.args(["sandbox", "package", "--type", "rpm", "--out"]);
    let made = nbctl.arg(work.path()).current_dir(work.path()).output();
    assert!(made.unwrap().status.success());
    let bytes = std::fs::read(work.path().join(FILE)).unwrap();
    // An rpm2archive as it was before 4.17.
    let old = work.path().join("old");
    std::fs::create_dir(&old).unwrap();
    std::fs::write(old.join("rpm2archive"), "#!/bin/sh\nexit 0\n").unwrap();
    assert!(sh("chmod +x \"$0\"/*", &old, &path).status.success());
    let paths = [path.clone(), format!("{}:{path}", old.display())];
    let package = |file: &str, bytes: &[u8]| {
        let source = work.path().join(file);
        std::fs::write(&source, bytes).unwrap();
        Package {
            name: PackageName::parse(FILE).unwrap(),
            source: source.display().to_string(),
            bytes: bytes.len() as u64,
            sha256: Sha256::of(bytes),
        }
    };
    let (whole, cut) = (
        package("whole", &bytes),
        package("cut", &bytes[..bytes.len() / 2]),
    );
    let trees = ["new", "cpio"].map(|way| work.path().join(way));
    let [new, cpio] = [0, 1].map(|way| tree(&trees[way], &whole, &paths[way]).unwrap());
    assert!(new.contains("bin/nebula-metad"), "{new}");
    assert_eq!(new, cpio);
    for (way, path) in paths.iter().enumerate() {
        let failed = tree(&work.path().join(format!("cut-{way}")), &cut, path);
        assert!(failed.unwrap_err().contains("cannot unpack"));
    }
}
