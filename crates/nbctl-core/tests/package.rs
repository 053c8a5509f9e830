//! Choice of packages and checksums; cases in `package/choose.yaml`.

#![expect(clippy::unwrap_used, reason = "a helper that fails is a failed test")]

use std::collections::BTreeMap;

use nbctl_core::facts::HostFacts;
use nbctl_core::package::{HostNeeds, Package, PackageName, checksum, choose, verify};
use nbctl_core::units::{HostName, Sha256};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    #[serde(default)]
    version: Option<String>,
    files: Vec<String>,
    hosts: BTreeMap<HostName, Host>,
    #[serde(default)]
    expect: BTreeMap<HostName, String>,
    #[serde(default)]
    error: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Host {
    os: String,
    #[serde(default)]
    glibc: String,
    arch: String,
    tools: String,
    #[serde(default)]
    rpm_database: bool,
}

fn facts(host: &Host) -> HostFacts {
    let tools: Vec<String> = host
        .tools
        .split(' ')
        .map(|tool| format!("tool\t{tool}"))
        .collect();
    let tools = tools.join("\n");
    let text = format!(
        "nbctl-facts\t1\nos\t{0}\t1\t{0}\nkernel\t3.10\t{1}\nglibc\tglibc {2}\n{tools}\nend\n",
        host.os, host.arch, host.glibc
    );
    HostFacts::parse(&text).unwrap()
}

#[test]
fn choices() {
    let cases: Vec<Case> = serde_yaml::from_str(include_str!("package/choose.yaml")).unwrap();
    for case in &cases {
        let version = case.version.as_deref().unwrap_or("3.8.0");
        let facts: BTreeMap<_, _> = case
            .hosts
            .iter()
            .map(|(name, host)| (name, (facts(host), host)))
            .collect();
        let needs = facts.iter().map(|(name, (facts, host))| {
            (
                (*name).clone(),
                HostNeeds {
                    facts,
                    rpm_database: host.rpm_database,
                },
            )
        });
        match choose(&case.files, version, &needs.collect()) {
            Ok(chosen) => {
                let chosen: BTreeMap<_, _> = chosen
                    .into_iter()
                    .map(|(h, n)| (h, n.file().to_owned()))
                    .collect();
                assert_eq!(chosen, case.expect, "{}", case.name);
            }
            Err(failure) => {
                assert!(!case.error.is_empty(), "{}: {failure}", case.name);
                let text = failure.to_string();
                for part in &case.error {
                    assert!(text.contains(part), "{}: no {part:?} in\n{text}", case.name);
                }
            }
        }
    }
}

#[test]
fn checksum_files() {
    let digest = Sha256::of(b"package");
    let texts = [
        format!("{digest}  pkg-build/cpack_output/nebula-graph-3.8.0.el7.x86_64.rpm\n"),
        format!(
            "{}  ./pkg-build/cpack_output/x.rpm\n",
            digest.to_string().to_uppercase()
        ),
        format!("\\{digest}  odd\\nname\n"),
        digest.to_string(),
    ];
    for text in texts {
        assert_eq!(checksum(&text), Ok(digest), "{text}");
    }
    assert!(checksum("<html>404</html>").is_err() && checksum("").is_err());
}

#[test]
fn a_wrong_checksum_shows_both() {
    let package = Package {
        name: PackageName::parse("nebula-graph-3.8.0.el7.x86_64.rpm").unwrap(),
        source: "packages/nebula-graph-3.8.0.el7.x86_64.rpm".into(),
        bytes: 1,
        sha256: Sha256::of(b"a"),
    };
    assert!(verify(&package, "x.sha256sum.txt", &Sha256::of(b"a").to_string()).is_ok());
    let failure = verify(&package, "x.sha256sum.txt", &Sha256::of(b"b").to_string()).unwrap_err();
    let text = failure.to_string();
    assert_eq!(failure.exit_code().number(), 2);
    for part in [
        "wrong checksum",
        &Sha256::of(b"a").to_string(),
        &Sha256::of(b"b").to_string(),
        "hint: ",
    ] {
        assert!(text.contains(part), "{text}");
    }
}
