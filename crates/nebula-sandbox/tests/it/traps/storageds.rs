//! Three storageds: who is alive, who leads, who holds what; and balancing both.

use nebula_wire::Value;

use super::Seen;
use crate::support::{Client, Cluster, is_open, wait};

#[test]
fn storageds() {
    super::play("storageds", scene);
}

fn scene(line: &'static str) -> Seen {
    let mut seen = Seen::new();
    let mut cluster = Cluster::plan(line, 1, 3);
    cluster.metads[0].start();
    // The factor is five when nobody says otherwise.
    wait("metad", || is_open(cluster.metads[0].port));
    if line == "3.8.0" {
        cluster.graphd.with("--enable_experimental_feature=true");
    }
    cluster.graphd.start();
    wait("graphd", || is_open(cluster.graphd.port));
    let mut client = cluster.client();
    for at in 0..2 {
        join(&mut cluster, &mut client, at);
    }
    spreading(&mut cluster, &mut client, &mut seen);
    leading(&mut cluster, &mut client, &mut seen);
    if line != "3.8.0" {
        stopping(&cluster, &mut client);
    }
    failing(&mut cluster, &mut client, &mut seen);
    forgetting(&mut cluster, &mut client, &mut seen);
    seen
}

/// A row of `SHOW HOSTS`.
struct Host {
    online: bool,
    leaders: i64,
    parts: String,
}

/// Rows by the place of the storaged; `None` = not listed.
fn hosts(cluster: &Cluster, client: &mut Client) -> Vec<Option<Host>> {
    let rows = client.until("SHOW HOSTS").rows;
    let host = |row: &Vec<Value>| Host {
        online: row[2] == Value::from("ONLINE"),
        leaders: row[3].as_int().expect("leaders"),
        parts: row[5].as_str().expect("parts").to_owned(),
    };
    let of = |port: u16| {
        rows.iter()
            .find(|row| row[1] == Value::Int(port.into()))
            .map(host)
    };
    cluster
        .storageds
        .iter()
        .map(|storaged| of(storaged.port))
        .collect()
}

fn join(cluster: &mut Cluster, client: &mut Client, at: usize) {
    cluster.storageds[at].start_once();
    if cluster.line == "3.8.0" {
        client
            .run(&format!("ADD HOSTS {}", cluster.storageds[at].address()))
            .ok();
    }
    wait("storaged is ONLINE", || {
        hosts(cluster, client)[at]
            .as_ref()
            .is_some_and(|host| host.online)
    });
}

fn lose(cluster: &mut Cluster, client: &mut Client, at: usize) {
    cluster.storageds[at].kill();
    wait("storaged is OFFLINE", || {
        hosts(cluster, client)[at]
            .as_ref()
            .is_some_and(|host| !host.online)
    });
}

/// Numbers of partitions of the hosts that have any.
fn spread(cluster: &Cluster, client: &mut Client) -> Vec<String> {
    let hosts = hosts(cluster, client).into_iter().flatten();
    hosts.map(|host| host.parts).collect()
}

fn leaders(cluster: &Cluster, client: &mut Client) -> Vec<i64> {
    hosts(cluster, client)
        .into_iter()
        .flatten()
        .map(|host| host.leaders)
        .collect()
}

/// The last row of `BALANCE DATA id`.
fn progress(client: &mut Client, id: i64) -> String {
    let rows = client.ok(&format!("BALANCE DATA {id}")).rows;
    rows.last().expect("total")[0]
        .as_str()
        .expect("text")
        .to_owned()
}

fn balance(cluster: &Cluster, client: &mut Client) -> bool {
    if cluster.line == "3.8.0" {
        client.job("BALANCE DATA");
        return false;
    }
    let table = client.ok("BALANCE DATA");
    let id = table.rows[0][0].as_int().expect("id");
    wait("the plan is carried out", || {
        progress(client, id).contains("In Progress:0")
    });
    assert_eq!(
        progress(client, id),
        "Total:2, Succeeded:2, Failed:0, In Progress:0, Invalid:0"
    );
    let first = client.ok(&format!("BALANCE DATA {id}")).rows[0].clone();
    assert!(
        first[0]
            .as_str()
            .expect("text")
            .starts_with(&format!("[{id}, 1:")),
        "{first:?}"
    );
    assert_eq!(first[1], Value::from("SUCCEEDED"));
    table.columns == [b"ID".to_vec()] && id > 1_600_000_000
}

fn spreading(cluster: &mut Cluster, client: &mut Client, seen: &mut Seen) {
    client.ok("CREATE SPACE s(partition_num=8, replica_factor=1, vid_type=int64)");
    client.until("USE s");
    join(cluster, client, 2);
    assert_eq!(
        spread(cluster, client),
        ["s:4", "s:4", "No valid partition"]
    );
    let planned = balance(cluster, client);
    assert_eq!(spread(cluster, client), ["s:3", "s:3", "s:2"]);
    seen.push((
        "BALANCE DATA is a plan of the whole cluster with an id of its own",
        planned,
    ));
    let again = client.run("BALANCE DATA");
    let refused = again
        .as_ref()
        .is_err_and(|(_, text)| text == "The cluster is balanced!");
    seen.push(("BALANCE DATA with nothing to do is an error", refused));
    if !refused {
        show_job(client);
        client.job("SUBMIT JOB BALANCE DATA");
    }
}

/// A finished balance job in 3.x.
fn show_job(client: &mut Client) {
    let jobs = client.ok("SHOW JOBS").rows;
    assert_eq!(jobs.last().expect("a job")[1], Value::from("DATA_BALANCE"));
    let id = jobs.last().expect("a job")[0].as_int().expect("id");
    let table = client.ok(&format!("SHOW JOB {id}"));
    assert_eq!(table.columns[0], b"Job Id(spaceId:partId)");
    assert_eq!(table.rows.len(), 4, "{table:?}");
    let first = table.rows[1][0].as_str().expect("text");
    assert!(first.starts_with(&format!("{id}, 1:")), "{first}");
    assert_eq!(table.rows[3][1], Value::from("Succeeded:2"));
}

fn leading(cluster: &mut Cluster, client: &mut Client, seen: &mut Seen) {
    client.ok("DROP SPACE s");
    client.ok("CREATE SPACE r(partition_num=9, replica_factor=3, vid_type=int64)");
    client.until("USE r");
    lose(cluster, client, 0);
    let metad = &cluster.metads[0];
    let mut shown = |name: &str, value: &str| {
        metad.set_flag(name, value);
        hosts(cluster, client)[0]
            .as_ref()
            .is_some_and(|host| host.online)
    };
    let goes_by = [
        !shown("heartbeat_interval_secs", "1"),
        shown("heartbeat_interval_secs", "1000"),
        !shown("heartbeat_interval_secs", "1"),
        shown("expired_time_factor", "1000"),
        !shown("expired_time_factor", "5"),
    ];
    seen.push((
        "a silent host is OFFLINE after five heartbeats",
        goes_by == [true; 5],
    ));
    wait("the others lead", || leaders(cluster, client)[0] == 0);
    assert_eq!(leaders(cluster, client).iter().sum::<i64>(), 9);
    // metad writes down who leads now once a second.
    std::thread::sleep(std::time::Duration::from_millis(2500));
    join(cluster, client, 0);
    let still = leaders(cluster, client)[0] == 0;
    seen.push((
        "a storaged that comes back leads nothing until BALANCE LEADER",
        still,
    ));
    let at_once = client.ok("BALANCE LEADER").columns.is_empty();
    seen.push((
        "BALANCE LEADER is done at once and for the whole cluster",
        at_once,
    ));
    wait("leaders are even", || leaders(cluster, client) == [3, 3, 3]);
    client.ok("DROP SPACE r");
    client.ok("CREATE SPACE s(partition_num=6, replica_factor=1, vid_type=int64)");
    client.until("USE s");
    assert_eq!(spread(cluster, client), ["s:2", "s:2", "s:2"]);
}

fn stopping(cluster: &Cluster, client: &mut Client) {
    assert_eq!(
        client.fails("BALANCE DATA STOP").1,
        "No running balance plan!"
    );
    assert_eq!(
        client.fails("BALANCE DATA RESET PLAN").1,
        "No invalid balance plan!"
    );
    let metad = &cluster.metads[0];
    metad.set_flag("sandbox_job_ms", "600000");
    let remove = format!("BALANCE DATA REMOVE {}", cluster.storageds[2].address());
    let id = client.ok(&remove).rows[0][0].as_int().expect("id");
    assert_eq!(client.fails("BALANCE DATA").1, "The balancer is running!");
    assert_eq!(
        progress(client, id),
        "Total:2, Succeeded:0, Failed:0, In Progress:2, Invalid:0"
    );
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert_eq!(client.ok("BALANCE DATA STOP").rows, [[Value::Int(id)]]);
    metad.set_flag("sandbox_job_ms", "0");
    // The move at hand is ended, the other one left out.
    wait("it is stopped", || {
        progress(client, id).contains("In Progress:0")
    });
    assert_eq!(
        progress(client, id),
        "Total:2, Succeeded:1, Failed:0, In Progress:0, Invalid:1"
    );
    client.ok("BALANCE DATA");
    wait("it is even again", || {
        spread(cluster, client) == ["s:2", "s:2", "s:2"]
    });
}

fn failing(cluster: &mut Cluster, client: &mut Client, seen: &mut Seen) {
    cluster.metads[0].set_flag("sandbox_job_ms", "600000");
    let remove = format!("BALANCE DATA REMOVE {}", cluster.storageds[2].address());
    let id = client.ok(&remove).rows[0][0].as_int().expect("id");
    lose(cluster, client, 0);
    cluster.metads[0].set_flag("sandbox_job_ms", "0");
    if cluster.line == "3.8.0" {
        wait("the job failed", || {
            client.ok(&format!("SHOW JOB {id}")).rows[0][2] == Value::from("FAILED")
        });
        let total = client
            .ok(&format!("SHOW JOB {id}"))
            .rows
            .last()
            .expect("total")
            .clone();
        assert_eq!(total[2], Value::from("Failed:1"), "{total:?}");
        seen.push((AGAIN, false));
    } else {
        let failed = "Total:2, Succeeded:1, Failed:1, In Progress:0, Invalid:0";
        wait("the plan failed", || progress(client, id) == failed);
        let again = client.ok("BALANCE DATA").rows[0][0] == Value::Int(id);
        wait("it failed again", || progress(client, id) == failed);
        let reset = client.until("BALANCE DATA RESET PLAN").rows == [[Value::Int(id)]];
        seen.push((AGAIN, again && reset));
    }
    join(cluster, client, 0);
}

const AGAIN: &str = "a failed balance comes back at the next BALANCE DATA until it is reset";

fn forgetting(cluster: &mut Cluster, client: &mut Client, seen: &mut Seen) {
    client.ok("DROP SPACE s");
    lose(cluster, client, 2);
    cluster.metads[0].set_flag("removed_threshold_sec", "4");
    // An added machine stays, but its version is not known any more.
    let known = |client: &mut Client| {
        let rows = client.until("SHOW HOSTS").rows;
        let port = Value::Int(cluster.storageds[2].port.into());
        rows.into_iter().find(|row| row[1] == port)
    };
    wait("metad forgets", || {
        known(client).is_none_or(|row| row.get(6) == Some(&Value::Empty))
    });
    let forgotten = known(client).is_none();
    seen.push((
        "a silent host is forgotten after `removed_threshold_sec`",
        forgotten,
    ));
    if !forgotten {
        let address = cluster.storageds[2].address();
        client.ok(&format!("DROP HOSTS {address}"));
        assert!(known(client).is_none());
    }
}
