//! A cluster of one storaged: hosts, names, flags, statistics and jobs.

use nebula_wire::Value;

use super::Seen;
use crate::support::{Client, Cluster, http, is_open, wait};

#[test]
fn cluster() {
    super::play("cluster", scene);
}

fn scene(line: &'static str) -> Seen {
    let mut seen = Seen::new();
    let mut cluster = Cluster::plan(line, 1, 1);
    if line != "2.0.1" {
        // As the confs of the package have it.
        cluster.graphd.with("--local_config=true");
        cluster.storageds[0].with("--local_config=true");
    }
    cluster.metads[0].start();
    wait("metad", || is_open(cluster.metads[0].port));
    cluster.graphd.start();
    cluster.storageds[0].start();
    wait("graphd", || is_open(cluster.graphd.port));
    let mut client = cluster.client();
    adding(&cluster, &mut client, &mut seen);
    naming(&mut client, &mut seen);
    dropping(&cluster, &mut client, &mut seen);
    jobs(&cluster, &mut client, &mut seen);
    configs(&mut cluster, &mut client, &mut seen);
    endpoints(&mut cluster, &mut seen);
    seen
}

fn adding(cluster: &Cluster, client: &mut Client, seen: &mut Seen) {
    let storaged = &cluster.storageds[0];
    let ports = [
        storaged.port,
        storaged.port - 1,
        storaged.port + 1,
        storaged.http,
    ];
    let refusal = "Heartbeat failed, status:Machine not existed!";
    wait("storaged decides", || {
        storaged.get("/status").is_some() || storaged.log("ERROR").matches(refusal).count() >= 2
    });
    let closed = ports.iter().all(|port| !is_open(*port));
    seen.push(("storaged opens nothing before ADD HOSTS", closed));
    let address = storaged.address();
    let added = client.run(&format!("ADD HOSTS {address}"));
    if cluster.line != "3.8.0" {
        let (code, text) = added.expect_err("is no statement");
        assert_eq!(
            code,
            if cluster.line == "2.0.1" { -7 } else { -1004 },
            "{text}"
        );
    }
    wait("storaged", || ports.iter().all(|port| is_open(*port)));
    wait("host row", || {
        client.ok("SHOW HOSTS").rows[0][2] == Value::from("ONLINE")
    });
    let both = client.run(&format!("ADD HOSTS 127.0.0.1:1,{address}"));
    let refused = both.expect_err("is there already").1 == "Existed!";
    let hosts = client.ok("SHOW HOSTS");
    seen.push((
        "ADD HOSTS adds all or nothing",
        refused && hosts.rows.len() == 2,
    ));
    let total = hosts.rows.last().expect("total");
    assert_eq!(total[0], Value::from("Total"));
    seen.push((
        "the Total row of SHOW HOSTS is one cell short",
        total.len() < hosts.columns.len(),
    ));
    client.run("ADD HOSTS 127.0.0.1:1").ok();
}

fn naming(client: &mut Client, seen: &mut Seen) {
    let new = "CREATE SPACE x(partition_num=4, replica_factor=1, vid_type=int64)";
    let together = client.run(&format!("{new}; USE x"));
    seen.push((
        "a new space, tag or edge is unknown for up to a heartbeat",
        together.is_err_and(|(_, text)| text.contains("SpaceNotFound")),
    ));
    client.ok(new);
    client.until("USE x");
    let parts = client.ok("SHOW PARTS").rows;
    let ghost = Value::from("127.0.0.1:1");
    let on_ghost = parts
        .iter()
        .filter(|row| row[2] == ghost && row[1] == Value::from(""));
    seen.push((
        "ADD HOSTS believes any address, and spaces are placed on it",
        on_ghost.count() == 2,
    ));
}

fn dropping(cluster: &Cluster, client: &mut Client, seen: &mut Seen) {
    let (_, text) = client.fails("DROP HOSTS 127.0.0.1:1");
    let refuses = text == "There are still space on the host";
    seen.push(("DROP HOSTS refuses a host that holds partitions", refuses));
    if cluster.line != "3.8.0" {
        assert!(text.contains("syntax error"), "{text}");
        return;
    }
    assert_eq!(
        client.fails("DROP HOSTS 127.0.0.1:7").1,
        "Machine not existed!"
    );
    client.ok("DROP SPACE x");
    client.ok("DROP HOSTS 127.0.0.1:1");
    assert_eq!(client.ok("SHOW HOSTS").rows.len(), 2);
    client.ok("CREATE SPACE x(partition_num=1, vid_type=int64)");
}

fn jobs(cluster: &Cluster, client: &mut Client, seen: &mut Seen) {
    client.ok("CREATE SPACE y(partition_num=1, replica_factor=1, vid_type=int64)");
    for space in ["y", "x"] {
        client.until(&format!("USE {space}"));
        client.until("SUBMIT JOB STATS");
    }
    let listed = client.ok("SHOW JOBS").rows.len();
    seen.push(("SHOW JOBS lists every space", listed == 2));
    let (_, text) = client.fails("BALANCE DATA");
    let refused = text == "SemanticError: Data balance not support";
    seen.push(("BALANCE DATA is refused unless a flag allows it", refused));
    if refused {
        cluster
            .graphd
            .set_flag("enable_experimental_feature", "true");
        client.job("BALANCE DATA");
        cluster.graphd.set_flag("enable_data_balance", "false");
        client.fails("SUBMIT JOB BALANCE DATA");
    }
}

fn configs(cluster: &mut Cluster, client: &mut Client, seen: &mut Seen) {
    let updated = client.run("UPDATE CONFIGS storage:wal_ttl=77");
    let wanted = "Set config `wal_ttl' failed: Conf not existed!";
    let nothing = updated.as_ref().is_err_and(|(_, text)| text == wanted);
    seen.push(("UPDATE CONFIGS finds nothing because files rule", nothing));
    let immutable = client.fails("UPDATE CONFIGS storage:num_io_threads=4").1;
    assert!(immutable.ends_with("Conf not existed!"), "{immutable}");
    let storaged = &mut cluster.storageds[0];
    let value = |daemon: &crate::support::Daemon| daemon.get("/flags?flags=wal_ttl");
    if updated.is_ok() {
        let row = client.ok("GET CONFIGS storage:wal_ttl");
        assert_eq!(row.cell(0, "value"), Some(&Value::Int(77)));
        wait("the flag arrives", || {
            value(storaged).as_deref() == Some("wal_ttl=77\n")
        });
    }
    storaged.kill();
    storaged.with("--wal_ttl=5").start();
    wait("storaged", || storaged.get("/status").is_some());
    let remembered = value(storaged).as_deref() == Some("wal_ttl=77\n");
    seen.push((
        "metad remembers mutable flags, and its values win over the conf",
        remembered,
    ));
}

fn endpoints(cluster: &mut Cluster, seen: &mut Seen) {
    let port = cluster.storageds[0].http;
    let answer = http(
        port,
        "PUT",
        "/flags",
        r#"{"no_such_flag":"1","wal_file_size":"5"}"#,
    );
    let refused = (200, r#"{"failedOptions":["no_such_flag"]}"#.to_owned());
    seen.push((
        "`PUT /flags` answers 200 to what it did not set",
        answer == Some(refused),
    ));
    let value = cluster.storageds[0].get("/flags?flags=wal_file_size");
    assert_eq!(
        value.as_deref(),
        Some("wal_file_size=5\n"),
        "the other one is set"
    );
    let reason = if cluster.line == "3.8.0" {
        r#"{"errorMessage":"Bad request"}"#
    } else {
        ""
    };
    for bad in ["{}", "wal_ttl=5", "[1]"] {
        assert_eq!(
            http(port, "PUT", "/flags", bad),
            Some((400, reason.to_owned())),
            "{bad}"
        );
    }
    let stats = cluster.metads[0].get("/stats").expect("stats");
    let named = stats
        .lines()
        .any(|row| row.starts_with("name=num_heartbeats."));
    seen.push(("`/stats` of all metrics takes two lines each", named));
    let one = cluster.metads[0]
        .get("/stats?stats=num_heartbeats.sum.3600")
        .expect("stats");
    assert!(one.starts_with("num_heartbeats.sum.3600="), "{one}");
    let empty = http(cluster.graphd.http, "PUT", "/flags", "");
    let ends = empty.is_none();
    if ends {
        wait("graphd ends", || cluster.graphd.ended().is_some());
    }
    seen.push(("`PUT /flags` without a body ends the daemon", ends));
}
