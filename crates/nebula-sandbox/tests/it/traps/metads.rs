//! Three metads: who leads, who is shown alive, and what a majority is needed for.

use nebula_wire::Value;

use super::Seen;
use crate::support::{Client, Cluster, Daemon, is_open, wait};

#[test]
fn metads() {
    super::play("metads", scene);
}

const SPACE: &str = "CREATE SPACE s(partition_num=1, replica_factor=1, vid_type=int64)";

fn scene(line: &'static str) -> Seen {
    let mut seen = Seen::new();
    let mut cluster = Cluster::plan(line, 3, 1);
    for metad in &mut cluster.metads {
        metad.with("--expired_time_factor=3");
    }
    let mut client = begin(&mut cluster, &mut seen);
    shown(&mut cluster, &mut client, &mut seen);
    cluster.metads[0].kill();
    wait("the second leads", || leads(&cluster.metads[1]));
    let known = client.until("SHOW SPACES").rows;
    client.until(&SPACE.replace("s(", "t("));
    seen.push((
        "another metad leads when the leader ends, and knows everything",
        known == [[Value::from("s")]],
    ));
    cluster.metads[1].kill();
    let new = SPACE.replace("s(", "u(");
    wait("the majority is missed", || client.run(&new).is_err());
    let asked = [
        client.run("SHOW HOSTS"),
        client.run(&new),
        client.run("SHOW HOSTS META"),
    ];
    seen.push((
        "without a majority of metads nothing can be asked",
        asked.iter().all(Result::is_err),
    ));
    cluster.metads[0].start();
    client.until("SHOW HOSTS");
    client.until("USE t");
    seen
}

fn leads(metad: &Daemon) -> bool {
    metad.log("INFO").contains("is the leader now")
}

fn begin(cluster: &mut Cluster, seen: &mut Seen) -> Client {
    let first = &mut cluster.metads[0];
    first.start();
    wait("the first looks around", || {
        first
            .log("INFO")
            .matches("Leader has not been elected")
            .count()
            > 1
    });
    let closed = !is_open(first.http) && !is_open(first.port);
    seen.push((
        "metad opens nothing until a majority of them is there",
        closed,
    ));
    cluster.start_rest();
    let mut client = cluster.client();
    wait("a host", || client.run(SPACE).is_ok());
    client.until("USE s");
    client
}

/// Status of the third metad.
fn third(cluster: &Cluster, client: &mut Client) -> Value {
    let port = Value::Int(cluster.metads[2].port.into());
    let rows = client.ok("SHOW HOSTS META").rows;
    let row = rows.iter().find(|row| row[1] == port).expect("row");
    row[2].clone()
}

fn shown(cluster: &mut Cluster, client: &mut Client, seen: &mut Seen) {
    wait("all are shown", || {
        third(cluster, client) == Value::from("ONLINE")
    });
    cluster.metads[2].kill();
    // Longer than a silent daemon counts as alive: the storaged that is stopped with it tells when.
    cluster.storageds[0].kill();
    wait("the storaged is OFFLINE", || {
        client.ok("SHOW HOSTS").rows[0][2] == Value::from("OFFLINE")
    });
    let offline = Value::from("OFFLINE");
    let known = cluster.line == "3.8.0";
    if known {
        wait("the metad is OFFLINE", || third(cluster, client) == offline);
    }
    seen.push((
        "a metad that ended is shown OFFLINE",
        third(cluster, client) == offline,
    ));
    cluster.metads[2].start();
    cluster.storageds[0].start();
    wait("third", || is_open(cluster.metads[2].port));
    wait("the storaged is back", || {
        client.ok("SHOW HOSTS").rows[0][2] == Value::from("ONLINE")
    });
}
