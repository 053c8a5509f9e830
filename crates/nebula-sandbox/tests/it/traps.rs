//! Where NebulaGraph hurts: each trap on a line that has it, and on one that has not.

use std::{fs, thread::sleep, time::Duration};

use crate::support::{Client, Cluster, is_open, wait};
use nebula_wire::Value;

#[test]
fn storaged_opens_nothing_before_add_hosts() {
    let mut cluster = Cluster::plan("3.8.0", 1, 1);
    cluster.metads[0].start();
    wait("metad", || is_open(cluster.metads[0].port));
    cluster.graphd.start();
    cluster.storageds[0].start();
    wait("graphd", || is_open(cluster.graphd.port));
    sleep(Duration::from_millis(2500));
    let storaged = &cluster.storageds[0];
    let ports = [
        storaged.port,
        storaged.port - 1,
        storaged.port + 1,
        storaged.http,
    ];
    assert!(ports.iter().all(|port| !is_open(*port)));
    let log = fs::read_to_string(storaged.dir.join("logs/nebula-storaged.ERROR")).expect("log");
    assert!(
        log.matches("Heartbeat failed, status:Machine not existed!")
            .count()
            >= 2,
        "{log}"
    );
    let mut client = cluster.client();
    assert_eq!(client.ok("SHOW HOSTS").rows.len(), 1, "only the total");
    let address = storaged.address();
    client.ok(&format!("ADD HOSTS {address}"));
    assert_eq!(
        client.fails(&format!("ADD HOSTS 127.0.0.1:1,{address}")),
        (-1005, "Existed!".to_owned())
    );
    wait("storaged", || ports.iter().all(|port| is_open(*port)));
    client.ok("ADD HOSTS 127.0.0.1:2");
    let table = client.ok("SHOW HOSTS");
    assert_eq!(table.rows.len(), 3, "{table:?}");
    assert_eq!(table.rows[0][2], Value::from("OFFLINE"));
    assert_eq!(table.rows[1][2], Value::from("ONLINE"));
    assert_eq!(table.rows[2].len(), 6);
    // Names can be used only after graphd's next heartbeat.
    let (code, _) = client.fails("CREATE SPACE x(vid_type=int64); USE x");
    assert_eq!(code, -1005);
    client.ok("CREATE SPACE x(partition_num=3, vid_type=int64)");
    assert!(client.run("USE x").is_err());
    client.until("USE x");
    // Half of the partitions were placed on the host that never was.
    client.ok("CREATE TAG T()");
    let listed = client.ok("SHOW PARTS");
    assert!(
        listed.rows.iter().any(|row| row[1] == Value::from("")),
        "{listed:?}"
    );
}

#[test]
fn old_storaged_registers_itself() {
    for line in ["2.0.1", "2.6.2"] {
        let cluster = Cluster::start(line, 1);
        let mut client = cluster.client();
        wait("host row", || client.ok("SHOW HOSTS").rows.len() == 2);
        let (code, _) = client.fails("ADD HOSTS 127.0.0.1:1");
        assert_eq!(code, if line == "2.0.1" { -7 } else { -1004 });
    }
}

#[test]
fn graphd_says_running_and_then_gives_up() {
    for (line, ends) in [("3.8.0", true), ("2.6.2", true), ("2.0.1", false)] {
        let mut cluster = Cluster::plan(line, 1, 0);
        cluster.graphd.start();
        wait("http", || cluster.graphd.get("/status").is_some());
        assert!(
            cluster
                .graphd
                .get("/status")
                .expect("status")
                .contains("running")
        );
        assert!(!is_open(cluster.graphd.port), "{line}");
        if ends {
            wait("graphd ends", || cluster.graphd.ended().is_some());
            assert_eq!(
                cluster.graphd.ended(),
                Some(1),
                "{}",
                cluster.graphd.output()
            );
            assert!(
                cluster
                    .graphd
                    .output()
                    .contains("Failed to wait for meta service ready")
            );
        } else {
            wait("graphd serves", || is_open(cluster.graphd.port));
        }
    }
}

#[test]
fn a_stale_cluster_id_fits_only_the_old_lines() {
    for (line, fits) in [("3.8.0", false), ("2.6.2", true)] {
        let mut cluster = Cluster::start(line, 1);
        cluster.storageds[0].stop();
        cluster.metads[0].stop();
        fs::remove_dir_all(cluster.metads[0].dir.join("data")).expect("wipe metad");
        cluster.metads[0].start();
        wait("metad", || is_open(cluster.metads[0].port));
        let mut client = Client::connect(cluster.graphd.port);
        if line == "3.8.0" {
            client.until(&format!("ADD HOSTS {}", cluster.storageds[0].address()));
        }
        cluster.storageds[0].start();
        if fits {
            wait("storaged", || cluster.storageds[0].get("/status").is_some());
            continue;
        }
        sleep(Duration::from_millis(1500));
        assert!(cluster.storageds[0].get("/status").is_none());
        let log = fs::read_to_string(cluster.storageds[0].dir.join("logs/nebula-storaged.ERROR"))
            .expect("log");
        assert!(log.contains("Wrong cluster!"), "{log}");
    }
}

#[test]
fn sessions() {
    let mut cluster = Cluster::start("3.8.0", 1);
    let mut client = cluster.client();
    let session = client.session;
    client.session = 0;
    assert_eq!(
        client.fails("YIELD 1"),
        (-1002, "Invalid session id".to_owned())
    );
    client.session = 12345;
    assert_eq!(client.fails("YIELD 1").0, -1002);
    client.session = session;
    client.ok("CREATE SPACE s(partition_num=1, vid_type=int64)");
    client.until("USE s");
    // A session outlives its graphd and keeps its space.
    cluster.graphd.kill();
    cluster.graphd.start();
    wait("graphd", || is_open(cluster.graphd.port));
    let mut other = cluster.client();
    other.session = session;
    other.until("SHOW TAGS");
    cluster.graphd.set_flag("max_sessions_per_ip_per_user", "4");
    let third = Client::connect(cluster.graphd.port);
    assert!(third.session > 0);
    let refused = std::panic::catch_unwind(|| Client::connect(cluster.graphd.port));
    assert!(refused.is_err());
    cluster.graphd.set_flag("max_sessions_per_ip_per_user", "0");
    assert_eq!(cluster.client().ok("SHOW SESSIONS").rows.len(), 5);
}

#[test]
fn knobs() {
    let mut cluster = Cluster::start("3.8.0", 1);
    let mut client = cluster.space("int64", "CREATE EDGE E(w int)");
    client.until("INSERT EDGE E(w) VALUES 1->2:(3)");
    cluster.graphd.set_flag("sandbox_service_time_us", "30000");
    let started = std::time::Instant::now();
    client.ok("YIELD 1");
    assert!(started.elapsed() >= Duration::from_millis(30));
    cluster.graphd.set_flag("sandbox_service_time_us", "0");
    cluster.graphd.set_flag("sandbox_capacity_qps", "100");
    let started = std::time::Instant::now();
    for _ in 0..20 {
        client.ok("YIELD 1");
    }
    assert!(
        started.elapsed() >= Duration::from_millis(180),
        "{:?}",
        started.elapsed()
    );
    cluster.graphd.set_flag("sandbox_capacity_qps", "0");
    cluster.graphd.set_flag("sandbox_error_rate", "0.5");
    let failures = (0..200).filter(|_| client.run("YIELD 1").is_err()).count();
    assert!((50..150).contains(&failures), "{failures}");
    cluster.graphd.set_flag("sandbox_error_rate", "0");
    cluster.storageds[0].set_flag("sandbox_raft_rate", "1");
    let mut texts = Vec::new();
    for n in 0..200 {
        if let Err((_, text)) = client.run(&format!("INSERT EDGE E(w) VALUES 1->{n}:(3)")) {
            texts.push(text);
        }
    }
    assert!(
        texts
            .iter()
            .any(|text| text.ends_with("raft buffer is full. Please retry later.")),
        "{texts:?}"
    );
    cluster.graphd.set_flag("sandbox_disconnect_rate", "1");
    assert_eq!(client.fails("YIELD 1").0, 0, "the connection is cut");
    cluster.graphd.set_flag("sandbox_disconnect_rate", "0");
    let mut client = cluster.client();
    cluster.graphd.set_flag("sandbox_session_loss_rate", "1");
    assert_eq!(client.fails("YIELD 1").0, -1002);
    cluster.graphd.set_flag("sandbox_session_loss_rate", "0");
    let mut client = cluster.client();
    cluster.graphd.set_flag("sandbox_crash_after", "3");
    let survived = (0..10)
        .take_while(|_| client.run("YIELD 1").is_ok())
        .count();
    assert_eq!(survived, 2);
    wait("graphd ends", || cluster.graphd.ended().is_some());
    cluster.storageds[0].set_flag("sandbox_stop_ms", "700");
    assert!(cluster.storageds[0].stop() >= Duration::from_millis(700));
}

#[test]
fn three_metads_and_their_majority() {
    let mut cluster = Cluster::plan("3.8.0", 3, 0);
    cluster.metads[0].start();
    sleep(Duration::from_millis(1200));
    assert!(
        !is_open(cluster.metads[0].http),
        "one of three is no majority"
    );
    cluster.metads[1].start();
    wait("metad", || is_open(cluster.metads[0].port));
    cluster.graphd.start();
    wait("graphd", || is_open(cluster.graphd.port));
    cluster.metads[2].start();
    wait("third", || is_open(cluster.metads[2].port));
    let mut client = cluster.client();
    client.ok("ADD HOSTS 127.0.0.1:5");
    let leader = |client: &mut Client| client.until("SHOW META LEADER").rows[0][0].clone();
    assert_eq!(
        leader(&mut client),
        Value::from(cluster.metads[0].address())
    );
    cluster.metads[0].kill();
    wait("another leads", || {
        leader(&mut client) == Value::from(cluster.metads[1].address())
    });
    assert_eq!(
        client.ok("SHOW HOSTS").rows.len(),
        2,
        "the host is still known"
    );
    client.ok("ADD HOSTS 127.0.0.1:6");
    cluster.metads[0].start();
    wait("first is back", || is_open(cluster.metads[0].port));
    sleep(Duration::from_millis(700));
    assert_eq!(client.until("SHOW HOSTS").rows.len(), 3);
}

#[test]
fn update_configs_needs_local_config_off() {
    let mut cluster = Cluster::start("2.0.1", 1);
    let mut client = cluster.client();
    client.until("UPDATE CONFIGS storage:wal_ttl=77");
    let found = client.ok("GET CONFIGS storage:wal_ttl");
    assert_eq!(found.cell(0, "value"), Some(&Value::Int(77)));
    let arrived = |cluster: &Cluster| {
        let flags = cluster.storageds[0].get("/flags?flags=wal_ttl");
        flags.as_deref() == Some("wal_ttl=77\n")
    };
    wait("the flag arrives", || arrived(&cluster));
    // What metad remembers wins at the next start too.
    cluster.storageds[0].kill();
    cluster.storageds[0].start();
    wait("the flag is back", || arrived(&cluster));
    let cluster = Cluster::start("3.8.0", 1);
    let (code, text) = cluster.client().fails("UPDATE CONFIGS storage:wal_ttl=77");
    let wanted = "Set config `wal_ttl' failed: Conf not existed!";
    assert_eq!((code, text.as_str()), (-1005, wanted));
}
