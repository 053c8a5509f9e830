//! Faults and slowness that can be switched on: what each does, that nothing happens while it is off, and that a flag
//! at start does the same as HTTP later.

use std::time::{Duration, Instant};

use crate::support::{Client, Cluster, Daemon, is_open, wait};
use nebula_sandbox::{Line, Role, flags::Flags};

/// Who has the knob, its flag, a value that switches it on, and whether its effect shows.
type Knob = (
    &'static str,
    &'static str,
    &'static str,
    fn(&Cluster) -> bool,
);

/// Knobs that can be switched on and off again.
const KNOBS: &[Knob] = &[
    ("graphd", "sandbox_service_time_us", "700000", |c| {
        slow(c, 1, "YIELD 1", 700)
    }),
    ("graphd", "sandbox_capacity_qps", "8", |c| {
        slow(c, 8, "YIELD 1", 900)
    }),
    ("graphd", "sandbox_error_rate", "0.5", |c| {
        let failures = failures(c, 100, |(code, text)| {
            *code == -1005 && text == "Storage Error: Not the leader of 1. Please retry later."
        });
        (20..80).contains(&failures)
    }),
    ("graphd", "sandbox_disconnect_rate", "1", |c| {
        Client::try_connect(c.graphd.port).is_err()
    }),
    ("graphd", "sandbox_session_loss_rate", "1", |c| {
        failures(c, 2, |(code, text)| {
            *code == -1002 && text.ends_with("does not exist")
        }) == 2
    }),
    ("storaged", "sandbox_leader_change_rate", "1", |c| {
        writes(c)
            .is_some_and(|text| text == "Storage Error: Not the leader of 2. Please retry later.")
    }),
    ("storaged", "sandbox_raft_rate", "1", |c| {
        writes(c).is_some_and(|text| {
            text == "Storage Error: Part 2 raft buffer is full. Please retry later."
        })
    }),
    ("metad", "sandbox_job_ms", "1500", |c| {
        let started = Instant::now();
        in_space(c).job("SUBMIT JOB FLUSH");
        started.elapsed() >= Duration::from_millis(1500)
    }),
];

/// Whether the quickest of three tries of `count` statements takes so many milliseconds.
fn slow(cluster: &Cluster, count: usize, statement: &str, millis: u64) -> bool {
    let mut client = cluster.client();
    let mut least = Duration::MAX;
    for _ in 0..3 {
        let started = Instant::now();
        for _ in 0..count {
            client.ok(statement);
        }
        least = least.min(started.elapsed());
    }
    least >= Duration::from_millis(millis)
}

/// How many of `count` statements fail that way; the others must succeed.
fn failures(cluster: &Cluster, count: usize, wanted: fn(&(i32, String)) -> bool) -> usize {
    let mut client = cluster.client();
    let errors = (0..count).filter_map(|_| client.run("YIELD 1").err());
    errors
        .inspect(|error| assert!(wanted(error), "{error:?}"))
        .count()
}

fn in_space(cluster: &Cluster) -> Client {
    let mut client = cluster.client();
    client.until("USE s");
    client
}

/// Text of the failure of a long INSERT of edges whose ends are in partition 2 of 10.
fn writes(cluster: &Cluster) -> Option<String> {
    let rows: Vec<_> = (0..500)
        .map(|n| format!("1->{}:({n})", n * 10 + 1))
        .collect();
    let mut client = in_space(cluster);
    client
        .run(&format!("INSERT EDGE E(w) VALUES {}", rows.join(",")))
        .err()
        .map(|error| error.1)
}

fn daemon<'a>(cluster: &'a Cluster, role: &str) -> &'a Daemon {
    match role {
        "metad" => &cluster.metads[0],
        "storaged" => &cluster.storageds[0],
        _ => &cluster.graphd,
    }
}

fn cluster(line: &'static str) -> Cluster {
    let cluster = Cluster::start(line, 1);
    let mut client = cluster.client();
    wait("a host", || client.ok("SHOW HOSTS").rows.len() == 2);
    let mut client = cluster.space("int64", "CREATE EDGE E(w int)");
    client.until("INSERT EDGE E(w) VALUES 1->2:(3)");
    cluster
}

#[test]
fn by_http() {
    let cluster = cluster("3.8.0");
    for (role, flag, on, effect) in KNOBS {
        let daemon = daemon(&cluster, role);
        let off = daemon.get(&format!("/flags?flags={flag}")).expect("flag");
        let off = off.trim().split('=').nth(1).expect("value").to_owned();
        assert!(!effect(&cluster), "{flag} is off");
        daemon.set_flag(flag, on);
        assert!(effect(&cluster), "{flag}={on}");
        daemon.set_flag(flag, &off);
        assert!(!effect(&cluster), "{flag} is off again");
    }
}

#[test]
fn by_flag() {
    let mut cluster = cluster("3.8.0");
    cluster.graphd.kill();
    cluster.storageds[0].kill();
    cluster
        .graphd
        .with("--sandbox_service_time_us=700000")
        .with("--sandbox_start_ms=1500");
    cluster.storageds[0].with("--sandbox_leader_change_rate=1");
    let started = Instant::now();
    cluster.graphd.start();
    cluster.storageds[0].start();
    wait("graphd", || is_open(cluster.graphd.port));
    assert!(
        started.elapsed() >= Duration::from_millis(1500),
        "a slow start"
    );
    cluster.wait_storage();
    for flag in ["sandbox_service_time_us", "sandbox_leader_change_rate"] {
        let knob = KNOBS.iter().find(|knob| knob.1 == flag).expect("known");
        assert!(knob.3(&cluster), "{flag}");
    }
}

/// The error a full raft buffer gives is another one on each line.
#[test]
fn raft_buffer_by_line() {
    let texts = [
        (
            "2.0.1",
            -8,
            "Storage Error: part: 2, error: E_CONSENSUS_ERROR(-16).",
        ),
        (
            "2.6.2",
            -1005,
            "Storage Error: part: 2, error: E_CONSENSUS_ERROR(-3001).",
        ),
        (
            "3.8.0",
            -1005,
            "Storage Error: Part 2 raft buffer is full. Please retry later.",
        ),
    ];
    for (line, code, text) in texts {
        let cluster = cluster(line);
        cluster.storageds[0].set_flag("sandbox_raft_rate", "1");
        assert_eq!(writes(&cluster).as_deref(), Some(text), "{line}");
        let log = cluster.storageds[0].log("WARNING");
        assert!(log.contains("The appendLog buffer is full."), "{log}");
        cluster.graphd.set_flag("sandbox_error_rate", "1");
        cluster
            .graphd
            .set_flag("sandbox_error_code", &code.to_string());
        cluster.graphd.set_flag("sandbox_error_text", text);
        assert_eq!(cluster.client().fails("YIELD 1"), (code, text.to_owned()));
    }
}

/// A frozen daemon answers nothing, not even another client, and then goes on.
#[test]
fn freeze() {
    let cluster = cluster("3.8.0");
    let asks = [
        ("graphd", "YIELD 1"),
        ("metad", "SHOW HOSTS"),
        ("storaged", "FETCH PROP ON E 1->2 YIELD E.w"),
    ];
    for (role, statement) in asks {
        let mut client = in_space(&cluster);
        daemon(&cluster, role).set_flag("sandbox_freeze_ms", "900");
        let started = Instant::now();
        client.ok(statement);
        // Another request, a heartbeat for one, may have met it first.
        let thawed = daemon(&cluster, role).get("/flags?flags=sandbox_freeze_ms");
        assert_eq!(thawed.as_deref(), Some("sandbox_freeze_ms=0\n"), "{role}");
        if role == "graphd" {
            assert!(started.elapsed() >= Duration::from_millis(900));
        }
    }
}

#[test]
fn crash_and_refusal_to_stop() {
    let mut cluster = cluster("2.6.2");
    let storaged = &mut cluster.storageds[0];
    storaged.set_flag("sandbox_refuse_stop", "true");
    storaged.terminate();
    wait("the signal is ignored", || {
        storaged.log("WARNING").contains("a stop signal is ignored")
    });
    assert!(storaged.ended().is_none());
    storaged.set_flag("sandbox_refuse_stop", "false");
    storaged.set_flag("sandbox_stop_ms", "1200");
    assert!(storaged.stop() >= Duration::from_millis(1200));
    storaged.start();
    cluster.wait_storage();
    let mut client = in_space(&cluster);
    cluster.graphd.set_flag("sandbox_crash_after", "3");
    let survived = (0..10)
        .take_while(|_| client.run("YIELD 1").is_ok())
        .count();
    assert_eq!(survived, 2);
    wait("graphd ends", || cluster.graphd.ended().is_some());
    // Heartbeats are requests to metad; a flush is one to storaged.
    cluster.graphd.kill();
    cluster.graphd.start();
    wait("graphd", || is_open(cluster.graphd.port));
    cluster.storageds[0].set_flag("sandbox_crash_after", "1");
    in_space(&cluster).ok("SUBMIT JOB FLUSH");
    wait("storaged ends", || cluster.storageds[0].ended().is_some());
    cluster.metads[0].set_flag("sandbox_crash_after", "1");
    wait("metad ends", || cluster.metads[0].ended().is_some());
}

/// Every knob of every daemon is off, can be set by flag, and has the same value then.
#[test]
fn off_by_default() {
    for line in Line::ALL {
        for role in Role::ALL {
            let all = Flags::new(line, role).all();
            let knobs = all.iter().filter(|(name, _)| name.starts_with("sandbox_"));
            for (name, flag) in knobs {
                let off = ["0", "false"].contains(&flag.default.to_string().as_str());
                let tells = [
                    "sandbox_error_code",
                    "sandbox_error_text",
                    "sandbox_stop_ms",
                    "sandbox_job_ms",
                ];
                assert!(off || tells.contains(name), "{line} {role:?} {name}");
                let flags = Flags::new(line, role);
                let value = if flag.default.to_string() == "false" {
                    "true"
                } else {
                    "1"
                };
                flags
                    .apply_args(&[format!("--{name}={value}")])
                    .expect(name);
                assert_eq!(
                    flags
                        .get(name)
                        .expect(name)
                        .value
                        .to_string()
                        .trim_matches('"'),
                    value
                );
            }
        }
    }
}
