//! nebula-ansible inventories: what they become, as cases, and that the YAML is the same cluster.

#![expect(
    clippy::unwrap_used,
    reason = "a test helper that fails is a failed test"
)]

mod cases;

use nbctl_core::inventory::{Cluster, Source, convert, is_ini, load};

/// Problems of the direct reading, and the YAML.
fn told(text: &str) -> String {
    let source = Source::new("inventory.ini", text);
    let direct = load(&source);
    let problems = direct.problems.iter();
    let mut told = problems.fold(String::new(), |told, p| told + "\n" + &p.to_string());
    let (converted, _) = convert(&source);
    if let Some(converted) = converted {
        told.push('\n');
        told.push_str(converted.yaml.trim_end());
        let again = load(&Source::new("inventory.yaml", converted.yaml));
        assert_eq!(direct.cluster.map(bare), again.cluster.map(bare));
    }
    told
}

/// Without what tells of the file it was read from.
fn bare(mut cluster: Cluster) -> Cluster {
    let same = Source::new("x.yaml", "");
    cluster.source.file = same.path;
    cluster.source.sha256 = nbctl_core::units::Sha256::of(b"");
    for host in &mut cluster.hosts {
        host.place = nbctl_core::inventory::Place::default();
    }
    cluster
}

#[test]
fn inventories_of_ansible_become_yaml() {
    cases::hold("ini-cases.txt", told);
}

#[test]
fn an_ini_is_told_from_yaml() {
    let cases = [
        ("inventory.ini", "", true),
        ("hosts", "# c\n\n[all:vars]\na=b\n", true),
        ("inventory.yaml", "format: 1\n", false),
        ("inventory.yaml", "[1, 2]", false),
    ];
    for (name, text, expected) in cases {
        assert_eq!(is_ini(&Source::new(name, text)), expected, "{name} {text}");
    }
}
