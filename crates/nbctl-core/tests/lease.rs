//! The lease scripts on this machine: who gets a lease, who is refused, what is left.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "helpers of tests; the scripts are run as a host would run them"
)]

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use nbctl_core::lease::{self, FILE, Lease, STALE, Seen, Word};
use nbctl_core::units::RemotePath;

const ID: &str = "0123456789ab";

fn sh(text: &str) -> Vec<Seen> {
    let mut child = Command::new("sh")
        .arg("-s")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(text.as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    lease::parse(&String::from_utf8(output.stdout).unwrap())
}

fn lease(token: &str) -> Lease {
    Lease {
        token: token.into(),
        command: "deploy".into(),
        user: "mia o'neil".into(),
        control: "ctl1".into(),
        machine: "m1".into(),
        pid: 42,
        started: 4_711,
        scripts: "nbctl-0123456789abcdef".into(),
        time: "2026-11-30T15:00:00Z".into(),
    }
}

/// Two marked folders, one of another cluster, one that nobody marked, one that is missing.
fn folders(dir: &Path) -> Vec<RemotePath> {
    for (name, id) in [("a", ID), ("b", ID), ("other", "ffffffffffff")] {
        fs::create_dir(dir.join(name)).unwrap();
        fs::write(
            dir.join(name).join(".nbctl-owner"),
            format!("nbctl-owner 1\ncluster_id={id}\n"),
        )
        .unwrap();
    }
    fs::create_dir(dir.join("bare")).unwrap();
    let path = |name: &&str| RemotePath::new(dir.join(name).to_str().unwrap()).unwrap();
    ["a", "b", "other", "bare", "missing"]
        .iter()
        .map(path)
        .collect()
}

fn words(seen: &[Seen]) -> Vec<(Word, String)> {
    let one = |seen: &Seen| (seen.word, seen.folder.name().to_owned());
    seen.iter().map(one).collect()
}

fn is(seen: &[Seen], expected: &[(Word, &str)]) {
    let expected: Vec<(Word, String)> = expected
        .iter()
        .map(|(word, name)| (*word, (*name).to_owned()))
        .collect();
    assert_eq!(words(seen), expected);
}

fn age(path: &Path, age: Duration) {
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::now() - age).unwrap();
}

#[test]
fn one_works_and_the_other_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let all = folders(dir.path());
    let seen = sh(&lease::take(ID, &all, &lease("aaa1"), &[]));
    is(&seen, &[(Word::Taken, "a"), (Word::Taken, "b")]);
    is(
        &sh(&lease::take(ID, &all, &lease("aaa1"), &[])),
        &[(Word::Taken, "a"), (Word::Taken, "b")],
    );
    let seen = sh(&lease::take(ID, &all, &lease("bbb2"), &[]));
    is(&seen, &[(Word::Foreign, "a"), (Word::Foreign, "b")]);
    assert_eq!(
        seen[0].lease,
        lease("aaa1"),
        "everything comes back as it was written"
    );
    assert!(sh(&lease::renew(ID, &all, "aaa1")).is_empty());
    is(
        &sh(&lease::renew(ID, &all, "bbb2")),
        &[(Word::Lost, "a"), (Word::Lost, "b")],
    );
    assert!(sh(&lease::release(ID, &all, "bbb2")).is_empty());
    is(
        &sh(&lease::look(ID, &all)),
        &[(Word::There, "a"), (Word::There, "b")],
    );
    is(
        &sh(&lease::release(ID, &all, "aaa1")),
        &[(Word::Removed, "a"), (Word::Removed, "b")],
    );
    for folder in ["a", "b", "other", "bare"] {
        let names = fs::read_dir(dir.path().join(folder)).unwrap().flatten();
        let left = names.filter(|entry| entry.file_name().to_string_lossy().contains("lease"));
        assert_eq!(left.count(), 0, "{folder}");
    }
}

#[test]
fn all_or_none() {
    let dir = tempfile::tempdir().unwrap();
    let all = folders(dir.path());
    sh(&lease::take(ID, &all[1..2], &lease("aaa1"), &[]));
    let seen = sh(&lease::take(ID, &all, &lease("bbb2"), &[]));
    is(&seen, &[(Word::Taken, "a"), (Word::Foreign, "b")]);
    assert!(!dir.path().join("a").join(FILE).exists(), "given back");
}

#[test]
fn an_old_lease_is_taken_over_and_a_live_one_only_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let all = folders(dir.path());
    sh(&lease::take(ID, &all, &lease("aaa1"), &[]));
    let seen = sh(&lease::take(ID, &all, &lease("ccc3"), &["aaa1".to_owned()]));
    is(&seen, &[(Word::TakenOver, "a"), (Word::TakenOver, "b")]);
    assert_eq!(seen[0].lease.token, "aaa1");
    let old = STALE + Duration::from_secs(30);
    for folder in ["a", "b"] {
        age(&dir.path().join(folder).join(FILE), old);
    }
    let seen = sh(&lease::take(ID, &all, &lease("ddd4"), &[]));
    is(&seen, &[(Word::TakenOver, "a"), (Word::TakenOver, "b")]);
    assert!(
        seen.iter().all(|seen| seen.age_s >= old.as_secs()),
        "{seen:?}"
    );
    // Renewing makes it young.
    age(&dir.path().join("a").join(FILE), old);
    sh(&lease::renew(ID, &all, "ddd4"));
    assert!(
        sh(&lease::look(ID, &all))
            .iter()
            .all(|seen| seen.age_s < 60)
    );
}

/// Of many at once exactly one gets it; also over a stale one.
#[test]
fn a_race_has_one_winner() {
    let dir = tempfile::tempdir().unwrap();
    let all = folders(dir.path());
    let one = all[..1].to_vec();
    for stale in [false, true] {
        if stale {
            age(&dir.path().join("a").join(FILE), STALE * 2);
        }
        let run = |n: usize| {
            let (one, token) = (
                one.clone(),
                format!("{}{n:x}", if stale { "b" } else { "a" }),
            );
            std::thread::spawn(move || sh(&lease::take(ID, &one, &lease(&token), &[])))
        };
        let runs: Vec<_> = (0..8).map(run).collect();
        let seen: Vec<Seen> = runs
            .into_iter()
            .flat_map(|run| run.join().unwrap())
            .collect();
        let won = seen.iter().filter(|seen| seen.word != Word::Foreign);
        assert_eq!(won.count(), 1, "{seen:?}");
    }
}
