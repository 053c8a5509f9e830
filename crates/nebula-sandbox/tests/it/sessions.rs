//! Sessions and who gets one, by line.

use std::{
    io::{Read, Write},
    net::TcpStream,
    thread::{self, sleep},
    time::Duration,
};

use nebula_wire::{
    Framing, MAX_FRAME_SIZE, Protocol,
    framing::next_frame,
    message::{Call, write_call},
    protocol::MessageType,
    response::{Response, decode},
};

use crate::support::{Client, Cluster, is_open, wait};

/// What a line does.
struct Rules {
    line: &'static str,
    /// Code of a session that is not there.
    gone: i32,
    /// The session and its space are still there when graphd comes back.
    survives: bool,
    /// Sessions of one user from one address, `None` = as many as one likes.
    limit: Option<usize>,
    /// `/flags` of the expiry and of the limit.
    flags: &'static str,
    /// Code for a user that nobody made, 0 = welcome.
    stranger: i32,
}

const RULES: [Rules; 3] = [
    Rules {
        line: "2.0.1",
        gone: -5,
        survives: false,
        limit: None,
        flags: "session_idle_timeout_secs=0\nmax_sessions_per_ip_per_user=nullptr\n",
        stranger: 0,
    },
    Rules {
        line: "2.6.2",
        gone: -1002,
        survives: true,
        limit: None,
        flags: "session_idle_timeout_secs=0\nmax_sessions_per_ip_per_user=nullptr\n",
        stranger: -1001,
    },
    Rules {
        line: "3.8.0",
        gone: -1002,
        survives: true,
        limit: Some(300),
        flags: "session_idle_timeout_secs=28800\nmax_sessions_per_ip_per_user=300\n",
        stranger: -1001,
    },
];

#[test]
fn by_line() {
    thread::scope(|scope| {
        for rules in &RULES {
            scope.spawn(|| one_line(rules));
        }
    });
}

fn one_line(rules: &Rules) {
    let mut cluster = Cluster::plan(rules.line, 1, 1);
    if rules.line != "2.0.1" {
        // As the conf of the package has it; else metad's values would win over those set here.
        cluster.graphd.with("--local_config=true");
    }
    cluster.start_all();
    let mut client = cluster.client();
    wait("a host", || client.ok("SHOW HOSTS").rows.len() == 2);
    client.ok("CREATE SPACE s(partition_num=1, replica_factor=1, vid_type=int64)");
    client.until("USE s");
    let flags = "/flags?flags=session_idle_timeout_secs,max_sessions_per_ip_per_user";
    assert_eq!(
        cluster.graphd.get(flags).as_deref(),
        Some(rules.flags),
        "{}",
        rules.line
    );
    numbers(rules, &mut client);
    limit(rules, &cluster, &mut client);
    expiry(rules, &cluster);
    let mut client = cluster.client();
    client.ok("USE s");
    let session = client.session;
    cluster.graphd.kill();
    cluster.graphd.start();
    wait("graphd", || is_open(cluster.graphd.port));
    let mut client = cluster.client();
    client.session = session;
    if rules.survives {
        client.until("SHOW TAGS");
    } else {
        assert_eq!(client.fails("SHOW TAGS").0, rules.gone);
    }
}

/// Ids, and what belongs to a session.
fn numbers(rules: &Rules, client: &mut Client) {
    let first = client.session;
    client.session = 0;
    assert_eq!(
        client.fails("YIELD 1"),
        (rules.gone, "Invalid session id".to_owned())
    );
    client.session = 12_345;
    assert_eq!(client.fails("YIELD 1").0, rules.gone);
    // The space belongs to the session, not to the connection.
    let second = client
        .authenticate("root", "any password")
        .expect("a session");
    client.session = second;
    assert!(client.fails("SHOW TAGS").1.contains("Space was not chosen"));
    client.session = first;
    client.ok("SHOW TAGS");
    // Nothing is answered to a sign-out; the next reply is that of the next request.
    client.sign_out(second);
    assert_eq!(client.ok("YIELD 1").rows.len(), 1);
    client.session = second;
    assert_eq!(client.fails("YIELD 1").0, rules.gone);
    client.session = first;
    let stranger = client.authenticate("nobody", "x");
    assert_eq!(
        stranger.map_or_else(|error| error.0, |_| 0),
        rules.stranger,
        "{}",
        rules.line
    );
}

fn limit(rules: &Rules, cluster: &Cluster, client: &mut Client) {
    let mut made = Vec::new();
    let refused = loop {
        match client.authenticate("root", "nebula") {
            Ok(session) if made.len() < 310 => made.push(session),
            other => break other.err(),
        }
    };
    match rules.limit {
        None => assert_eq!(refused, None),
        Some(limit) => {
            let (code, text) = refused.expect("one too many");
            assert!(
                made.len() < limit && made.len() + 5 > limit,
                "{}",
                made.len()
            );
            assert_eq!(code, rules.gone);
            let part =
                "Create Session failed: Too many sessions created from 127.0.0.1 by user root";
            assert!(text.starts_with(part), "{text}");
        }
    }
    for session in made {
        client.sign_out(session);
    }
    crowd(rules, cluster, client);
    // A place is free again.
    wait("a session", || {
        client.authenticate("root", "nebula").is_ok()
    });
}

/// From 2.5 on a graphd can limit all its sessions.
fn crowd(rules: &Rules, cluster: &Cluster, client: &mut Client) {
    if rules.line == "2.0.1" {
        return;
    }
    let flag = "max_allowed_connections";
    cluster.graphd.set_flag(flag, "1");
    let refused = client.authenticate("root", "nebula");
    assert_eq!(
        refused.map_err(|error| error.0),
        Err(-1010),
        "{}",
        rules.line
    );
    cluster.graphd.set_flag(flag, &i64::MAX.to_string());
}

/// An idle session and an idle connection end within the time that was set.
fn expiry(rules: &Rules, cluster: &Cluster) {
    let mut client = cluster.client();
    cluster.graphd.set_flag("session_idle_timeout_secs", "1");
    cluster
        .graphd
        .set_flag("session_reclaim_interval_secs", "1");
    let ended = (1..6).any(|tries| {
        client.session = client.authenticate("root", "nebula").expect("a session");
        client.ok("YIELD 1");
        sleep(Duration::from_secs(tries * 3));
        client
            .run("YIELD 1")
            .is_err_and(|(code, _)| code == rules.gone)
    });
    assert!(ended, "{}", rules.line);
    cluster
        .graphd
        .set_flag("session_idle_timeout_secs", "28800");
    cluster.graphd.set_flag("client_idle_timeout_secs", "1");
    let mut idle = TcpStream::connect(("127.0.0.1", cluster.graphd.port)).expect("connect");
    let patience = Some(Duration::from_mins(1));
    idle.set_read_timeout(patience).expect("time limit");
    assert_eq!(idle.read(&mut [0]).ok(), Some(0), "{}", rules.line);
    cluster.graphd.set_flag("client_idle_timeout_secs", "28800");
}

/// Line, client version, code of the answer; `None` = there is no such method.
const VERSIONS: &[(&str, &str, Option<i32>)] = &[
    ("2.0.1", "2.6.0", None),
    ("2.6.2", "2.6.2", Some(0)),
    ("2.6.2", "2.6.0", Some(0)),
    ("2.6.2", "2.5.0", Some(0)),
    ("2.6.2", "3.0.0", Some(-3061)),
    ("3.8.0", "3.0.0", Some(0)),
    ("3.8.0", "3.8.0", Some(0)),
    ("3.8.0", "2.6.0", Some(-3061)),
    ("3.8.0", "", Some(-3061)),
];

#[test]
fn client_versions_by_line() {
    for line in ["2.0.1", "2.6.2", "3.8.0"] {
        let cluster = Cluster::start(line, 0);
        for (_, version, code) in VERSIONS.iter().filter(|(on, ..)| *on == line) {
            assert_eq!(
                verify(cluster.graphd.port, version),
                *code,
                "{line} {version}"
            );
        }
        if line != "2.0.1" {
            cluster.graphd.set_flag("enable_client_white_list", "false");
            assert_eq!(verify(cluster.graphd.port, "1.0"), Some(0), "{line}");
        }
    }
}

fn verify(port: u16, version: &str) -> Option<i32> {
    let mut call = Vec::new();
    let framing = Framing::Framed(Protocol::Binary);
    let version = version.as_bytes();
    let what = Call::VerifyClientVersion { version };
    write_call(&mut call, framing, MessageType::Call, 7, &what).expect("encodes");
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("connect");
    stream.write_all(&call).expect("send");
    let mut answer = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let count = stream.read(&mut piece).expect("receive");
        assert!(count > 0, "graphd hung up");
        answer.extend_from_slice(&piece[..count]);
        if let Some(frame) = next_frame(&answer, MAX_FRAME_SIZE).expect("frame") {
            return match decode(&frame).expect("decodes").1 {
                Response::Verify(verify) => Some(verify.error_code),
                _ => None,
            };
        }
    }
}
