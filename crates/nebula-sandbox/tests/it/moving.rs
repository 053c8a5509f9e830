//! Partitions that change their host take their data with them, while somebody writes.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use nebula_wire::Value;

use crate::support::{Client, Cluster, wait};

/// Vertices and edges there are before anything moves.
const BEFORE: i64 = 300;

#[test]
fn nothing_is_lost_by_balancing() {
    thread::scope(|scope| {
        for (line, vids) in [("2.6.2", "fixed_string(8)"), ("3.8.0", "int64")] {
            scope.spawn(move || grow_and_shrink(line, vids));
        }
    });
}

/// A number as an id of the space.
fn vid(line: &str, n: i64) -> String {
    if line == "2.6.2" {
        format!("\"v{n}\"")
    } else {
        n.to_string()
    }
}

fn start(line: &'static str, vids: &str) -> (Cluster, Client) {
    let mut cluster = Cluster::plan(line, 1, 3);
    cluster.metads[0].with("--sandbox_job_ms=800");
    if line == "3.8.0" {
        cluster.graphd.with("--enable_experimental_feature=true");
    }
    let mut third = cluster.storageds.pop().expect("three");
    cluster.start_all();
    let mut client = cluster.client();
    wait("hosts", || client.ok("SHOW HOSTS").rows.len() == 3);
    let mut client = cluster.space(vids, "CREATE TAG T(n int); CREATE EDGE E(n int)");
    for n in 0..BEFORE {
        insert(line, &mut client, n);
    }
    third.start();
    if line == "3.8.0" {
        client.ok(&format!("ADD HOSTS {}", third.address()));
    }
    cluster.storageds.push(third);
    wait("the third host", || {
        client.ok("SHOW HOSTS").rows[2][2] == Value::from("ONLINE")
    });
    // Its ports open a moment after that.
    cluster.wait_storage();
    (cluster, client)
}

fn insert(line: &str, client: &mut Client, n: i64) {
    let (here, there) = (vid(line, n), vid(line, n + 1));
    client.until(&format!("INSERT VERTEX T(n) VALUES {here}:({n})"));
    client.until(&format!("INSERT EDGE E(n) VALUES {here}->{there}:({n})"));
}

fn grow_and_shrink(line: &'static str, vids: &str) {
    let (mut cluster, mut client) = start(line, vids);
    let done = AtomicBool::new(false);
    let written = thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut client = cluster.client();
            client.until("USE s");
            let mut next = BEFORE;
            while !done.load(Ordering::Relaxed) {
                insert(line, &mut client, next);
                next += 1;
            }
            next
        });
        balance(&mut client, "BALANCE DATA");
        let first = cluster.storageds[0].address();
        balance(&mut client, &format!("BALANCE DATA REMOVE {first}"));
        done.store(true, Ordering::Relaxed);
        writer.join().expect("writer")
    });
    let parts = client.ok("SHOW HOSTS").rows;
    assert_eq!(parts[0][5], Value::from("No valid partition"), "{parts:?}");
    if line == "3.8.0" {
        client.ok(&format!("DROP HOSTS {}", cluster.storageds[0].address()));
    }
    cluster.storageds[0].kill();
    check(line, &mut client, written);
    // What has arrived is in the logs of its new homes.
    for storaged in &mut cluster.storageds[1..] {
        storaged.kill();
        storaged.start();
        wait("storaged", || storaged.get("/status").is_some());
    }
    check(line, &mut client, written);
}

/// A host that ends while it hands out or takes in a partition fails the move; everything stays where it was.
#[test]
fn a_broken_move_loses_nothing() {
    let (mut cluster, mut client) = start("3.8.0", "int64");
    // The first request that reaches the new host is a piece of a partition; at an old one it is the second.
    for (at, requests, statement) in [(2, "1", "BALANCE DATA"), (0, "2", "RECOVER JOB")] {
        cluster.storageds[at].set_flag("sandbox_crash_after", requests);
        client.ok(statement);
        wait("the host ends", || cluster.storageds[at].ended().is_some());
        wait("the job failed", || newest_job(&mut client) == "FAILED");
        let storaged = &mut cluster.storageds[at];
        storaged.kill();
        storaged.start();
        wait("storaged", || storaged.get("/status").is_some());
        check("3.8.0", &mut client, BEFORE);
    }
    client.ok("RECOVER JOB");
    wait("the job is done", || newest_job(&mut client) == "FINISHED");
    check("3.8.0", &mut client, BEFORE);
    let spread = client.ok("SHOW HOSTS").rows;
    let mut spread: Vec<_> = spread[..3].iter().map(|row| row[5].clone()).collect();
    spread.sort_by_key(|parts| format!("{parts:?}"));
    assert_eq!(spread, ["s:3", "s:3", "s:4"].map(Value::from));
}

/// Status of the newest balance job.
fn newest_job(client: &mut Client) -> String {
    let jobs = client.ok("SHOW JOBS").rows;
    let job = jobs
        .iter()
        .find(|job| job[1] == Value::from("DATA_BALANCE"));
    job.expect("a job")[2].as_str().expect("status").to_owned()
}

/// Runs a balance to its end, whichever way the line has.
fn balance(client: &mut Client, statement: &str) {
    let table = client.until(statement);
    let id = table.rows[0][0].as_int().expect("id");
    let shows = if table.column_names().any(|name| name == "ID") {
        format!("BALANCE DATA {id}")
    } else {
        format!("SHOW JOB {id}")
    };
    let last = |client: &mut Client| {
        let row = client.ok(&shows).rows.pop().expect("total");
        format!("{row:?}")
    };
    let done =
        |total: &str| total.contains(&bytes("In Progress:0")) && !total.contains(&bytes("Total:0"));
    wait(statement, || done(&last(client)));
    let total = last(client);
    assert!(total.contains(&bytes("Failed:0")), "{total}");
}

/// A text as it stands in the debug form of a value.
fn bytes(text: &str) -> String {
    let numbers: Vec<_> = text.bytes().map(|byte| byte.to_string()).collect();
    numbers.join(", ")
}

fn check(line: &str, client: &mut Client, written: i64) {
    let counts = [
        ("T".to_owned(), written),
        ("E".to_owned(), written),
        ("vertices".to_owned(), written),
        ("edges".to_owned(), written),
    ];
    client.until(&format!("GO FROM {} OVER E YIELD E.n", vid(line, 1)));
    assert_eq!(client.counts(), counts, "{line}");
    for n in (0..written).step_by(7) {
        let (here, there) = (vid(line, n), vid(line, n + 1));
        let out = client.until(&format!("GO FROM {here} OVER E YIELD E.n"));
        assert_eq!(out.rows, [[Value::Int(n)]], "{line} {n}");
        let back = client.until(&format!("GO FROM {there} OVER E REVERSELY YIELD E.n"));
        assert_eq!(back.rows, [[Value::Int(n)]], "{line} {n}");
    }
}
