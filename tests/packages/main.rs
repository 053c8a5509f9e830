//! Packages from mirrors that cut, lack, lie and stumble (a real HTTP server on this machine, the real download), and every
//! way of installing them (on the test hosts).

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "helpers of a test may fail as tests do"
)]

mod server;
mod unpack;
mod ways;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

use nbctl::event::{Event, Sink};
use nbctl::phase::package::{Mirrors, Shelf, fetch};
use nbctl_core::units::Sha256;
use server::{Server, body};

const FILE: &str = "nebula-graph-3.8.0.el7.x86_64.rpm";

/// Keeps warnings.
#[derive(Debug, Default)]
struct Told(Mutex<Vec<String>>);

impl Sink for Told {
    fn emit(&self, event: Event) {
        if let Event::Warning { text } = event {
            self.0.lock().unwrap().push(text);
        }
    }
}

/// What a list of mirrors comes to: the file, nowhere, or parts of the failure; and what has to be said.
struct Case {
    mirrors: &'static [&'static str],
    outcome: Outcome,
    says: &'static [&'static str],
}

enum Outcome {
    Whole,
    Nowhere,
    Fails(&'static [&'static str]),
}

use Outcome::{Fails, Nowhere, Whole};

const CASES: &[Case] = &[
    Case {
        mirrors: &["good"],
        outcome: Whole,
        says: &[],
    },
    Case {
        mirrors: &["missing"],
        outcome: Nowhere,
        says: &[],
    },
    Case {
        mirrors: &["missing", "good"],
        outcome: Whole,
        says: &[],
    },
    Case {
        mirrors: &["cut"],
        outcome: Whole,
        says: &[],
    },
    Case {
        mirrors: &["cut-without-range"],
        outcome: Whole,
        says: &[],
    },
    Case {
        mirrors: &["stumbles"],
        outcome: Whole,
        says: &[],
    },
    Case {
        mirrors: &["no-checksum", "good"],
        outcome: Whole,
        says: &[],
    },
    Case {
        mirrors: &["liar", "good"],
        outcome: Whole,
        says: &["/liar/3.8.0/", "wrong checksum"],
    },
    Case {
        mirrors: &["forbidden", "good"],
        outcome: Whole,
        says: &["403"],
    },
    Case {
        mirrors: &["no-sum", "good"],
        outcome: Whole,
        says: &["checksum file"],
    },
    Case {
        mirrors: &["liar", "missing", "forbidden"],
        outcome: Fails(&["no mirror gave", "/liar/3.8.0/", "wrong checksum", "403"]),
        says: &[],
    },
];

#[tokio::test]
async fn mirrors() {
    let server = Server::start().await;
    for case in CASES {
        let folder = tempfile::tempdir().unwrap();
        let (shelf, told) = (Shelf::open(folder.path()), Told::default());
        let mirrors: Vec<String> = case.mirrors.iter().map(|name| server.url(name)).collect();
        let got = fetch(&of(&mirrors, &told), &shelf, FILE).await;
        match (&got, &case.outcome) {
            (Ok(Some(fetched)), Whole) => {
                assert_eq!(
                    std::fs::read(&fetched.path).unwrap(),
                    body(),
                    "{:?}",
                    case.mirrors
                );
                assert_eq!(fetched.sha256, Sha256::of(&body()));
                assert!(shelf.has(FILE, fetched.sha256));
            }
            (Ok(None), Nowhere) => {}
            (Err(failure), Fails(parts)) => {
                let text = failure.to_string();
                for part in *parts {
                    assert!(text.contains(part), "{part} in {text}");
                }
            }
            _ => panic!("{:?}: {got:?}", case.mirrors),
        }
        let told = told.0.lock().unwrap().join("\n");
        for part in case.says {
            assert!(
                told.contains(part),
                "{:?}: {part} in {told:?}",
                case.mirrors
            );
        }
        assert!(no_parts(folder.path()), "{:?} left a part", case.mirrors);
    }
}

#[tokio::test]
async fn the_next_command_goes_on_where_this_one_stopped() {
    let server = Server::start().await;
    let folder = tempfile::tempdir().unwrap();
    let (shelf, told) = (Shelf::open(folder.path()), Told::default());
    let (broken, good) = ([server.url("breaks")], [server.url("good")]);
    let failure = fetch(&of(&broken, &told), &shelf, FILE).await.unwrap_err();
    assert!(
        failure.to_string().contains("goes on from there"),
        "{failure}"
    );
    let kept = std::fs::read_dir(folder.path()).unwrap().flatten();
    let part = kept
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|e| e == "part"));
    let half = std::fs::metadata(part.expect("a part")).unwrap().len();
    assert!(half > 0);

    let fetched = fetch(&of(&good, &told), &shelf, FILE)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(std::fs::read(&fetched.path).unwrap(), body());
    let ranges = server.asked(&format!("/good/3.8.0/{FILE}"));
    assert_eq!(ranges, [Some(half)], "one request, for the rest");

    // What is there is not asked for again, but for its checksum.
    fetch(&of(&good, &told), &shelf, FILE)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(server.asked(&format!("/good/3.8.0/{FILE}")).len(), 1);
}

#[tokio::test]
async fn two_at_once_fetch_once() {
    let server = Server::start().await;
    let folder = tempfile::tempdir().unwrap();
    let (shelf, told) = (Shelf::open(folder.path()), Told::default());
    let good = [server.url("good")];
    let mirrors = of(&good, &told);
    let (one, two) = tokio::join!(fetch(&mirrors, &shelf, FILE), fetch(&mirrors, &shelf, FILE));
    assert_eq!(one.unwrap(), two.unwrap());
    assert_eq!(server.asked(&format!("/good/3.8.0/{FILE}")).len(), 1);
}

fn of<'a>(mirrors: &'a [String], sink: &'a Told) -> Mirrors<'a> {
    Mirrors {
        mirrors,
        version: "3.8.0",
        sink,
    }
}

fn no_parts(folder: &Path) -> bool {
    let mut entries = std::fs::read_dir(folder).unwrap().flatten();
    !entries.any(|entry| {
        entry
            .path()
            .extension()
            .is_some_and(|ending| ending == "part")
    })
}

/// Requests by path, each with the first byte that was asked for.
type Asked = BTreeMap<String, Vec<Option<u64>>>;
