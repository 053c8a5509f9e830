//! A deployed cluster from day to day, with the whole program against a real sshd on this machine: leases, start and
//! stop, logs, resets, kills.
//!
//! One host with a small package of the stand-in; `make faults` does the same on several hosts, after every step.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "helpers of a test may fail as tests do, and start the program under test"
)]

mod adopt;
mod bed;
mod config;
mod faults;
mod hosts;
mod kill;
mod lost;
mod password;
mod place;
mod ran;
mod scale;
#[path = "../remote/sshd.rs"]
#[expect(dead_code, reason = "this test needs a part of it")]
mod sshd;
mod tls;
mod upgrade;

use place::Place;

/// Each stretch stands on the last one.
#[tokio::test(flavor = "multi_thread")]
async fn day_by_day() {
    let Some(place) = Place::start().await else {
        return;
    };
    place
        .nbctl(&["start"])
        .fails(4)
        .says("not everything is deployed");
    place.deployed();
    assert!(place.leases().is_empty(), "a command left its lease");

    leases(&place);
    starts_and_stops(&place);
    many(&place);
    place
        .ask("CREATE SPACE old(partition_num=4, replica_factor=1, vid_type=int64)")
        .await;
    // Partitions come with a heartbeat.
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    place
        .nbctl(&["compact"])
        .good()
        .says("old: compact finished, job");
    place
        .nbctl(&["balance", "--space", "old"])
        .good()
        .says(": 4 leaders");
    place.nbctl(&["compact", "--space", "nosuch"]).fails(4);
    config::rolls(&place);
    resets(&place);
    assert_eq!(
        place.ask("SHOW SPACES").await,
        0,
        "a space outlived the reset"
    );

    let gone = place
        .nbctl(&["teardown", "--yes", "--purge", "--cluster", "life"])
        .good();
    gone.says("gone, verified")
        .says("logs and configuration are kept in");
    assert!(!place.root().exists());
    let history = place.nbctl(&["history"]).good();
    history
        .says("deploy")
        .says("restart")
        .says("teardown")
        .says("done");
}

fn leases(place: &Place) {
    place.foreign_lease(5);
    let refused = place.nbctl(&["stop", "--yes"]).fails(5);
    refused
        .says("another command works on these hosts; nothing was changed")
        .says("`upgrade` of mia on far-away")
        .says("nbctl unlock");
    assert_eq!(place.daemons(), 3);
    place
        .nbctl(&["deploy", "--yes"])
        .good()
        .says("nothing to do");
    place.nbctl(&["unlock", "--dry-run"]).good().says("live");
    assert_eq!(place.leases().len(), 1);
    place
        .nbctl(&["unlock", "--yes"])
        .good()
        .says("1 leases removed");
    place
        .nbctl(&["unlock"])
        .good()
        .says("nobody works on its hosts");
    // Not renewed any more: the next command takes it over and says so.
    place.foreign_lease(500);
    let took = place
        .nbctl(&["restart", "--role", "graphd", "--yes"])
        .good();
    took.says("took over from").says("restarted and serving");
    assert!(place.leases().is_empty());
}

fn starts_and_stops(place: &Place) {
    place
        .nbctl(&["stop", "--role", "graphd,storaged", "--dry-run"])
        .good()
        .says("stop storaged@one");
    assert_eq!(place.daemons(), 3);
    place
        .nbctl(&["stop", "--role", "graphd,storaged", "--yes"])
        .good()
        .says("stopped, verified");
    assert_eq!(place.daemons(), 1);
    place.nbctl(&["status"]).fails(4).says("does not run");
    place.nbctl(&["start"]).good().says("started and serving");
    place.nbctl(&["start"]).good().says("nothing to do");
    place.nbctl(&["status"]).good();
    place
        .nbctl(&["stop", "--host", "nosuch"])
        .fails(2)
        .says("no host matches");
    place.nbctl(&["stop", "--role", "load"]).fails(2);
    // A pid file proves nothing: this one names a stranger, who must live on.
    place.nbctl(&["stop", "--role", "graphd", "--yes"]).good();
    let stranger = place.stale_pid_file();
    place.nbctl(&["start"]).good();
    assert!(
        std::path::Path::new("/proc")
            .join(stranger.to_string())
            .exists()
    );
    place.nbctl(&["status"]).good();
}

fn many(place: &Place) {
    let all = place
        .nbctl(&["exec", "--", "echo to-$((6*7)); echo err >&2"])
        .good();
    all.says("one  to-42").says("one  err");
    place
        .nbctl(&["exec", "--", "printf", "%s\n", "a  b"])
        .good()
        .says("one  a  b");
    place
        .nbctl(&["exec", "--", "exit 7"])
        .fails(5)
        .says("exit code 7");
    place
        .nbctl(&["exec", "--timeout", "1", "--", "sleep 60"])
        .fails(5)
        .says("not done after 1 s");

    let local = place.dir().join("to-push");
    std::fs::create_dir_all(local.join("sub")).unwrap();
    std::fs::write(local.join("a.txt"), "alpha").unwrap();
    std::fs::write(local.join("sub/b.txt"), "beta").unwrap();
    let there = place.dir().join("pushed").display().to_string();
    let local = local.display().to_string();
    place.nbctl(&["push", &local, &there]).good().says("2 sent");
    place.nbctl(&["push", &local, &there]).good().says("0 sent");
    let back = place.dir().join("back");
    place
        .nbctl(&["pull", &there, &back.display().to_string()])
        .good();
    let pulled = std::fs::read_to_string(back.join("one/pushed/sub/b.txt")).unwrap();
    assert_eq!(pulled, "beta");
    place
        .nbctl(&["pull", "/nosuch/file", &there])
        .fails(5)
        .says("there is no /nosuch/file");

    let out = place.dir().join("logs");
    place
        .nbctl(&["logs", "--out", &out.display().to_string()])
        .good()
        .says("files");
    let names = |role: &str| {
        std::fs::read_dir(out.join("one").join(role))
            .unwrap()
            .count()
    };
    assert!(names("metad") > 0 && names("graphd") > 0 && names("storaged") > 0);
    assert_eq!(names("etc"), 3);
    let tail = place.nbctl(&["logs", "--tail", "3"]).good();
    tail.says("metad@one").says("graphd@one");
}

fn resets(place: &Place) {
    place
        .nbctl(&["reset", "none"])
        .good()
        .says("nothing was changed");
    let trace = place.root().join("data/storage/trace-of-old-data");
    std::fs::write(&trace, "old").unwrap();
    let refused = place.nbctl(&["reset", "data"]).fails(2);
    refused.says("was not confirmed");
    assert!(trace.exists());
    let name = ["--yes", "--cluster", "life"];
    place
        .nbctl(&[&["reset", "data"], &name[..]].concat())
        .good()
        .says("empty, started and serving");
    assert!(!trace.exists());
    place.nbctl(&["status"]).good().says("equals its inventory");
    place.nbctl(&["reset", "restart", "--yes"]).good();
    place
        .nbctl(&["reset", "data", "--yes", "--cluster", "other"])
        .fails(2);
}
