//! The client against a server on a real socket.

use std::time::{Duration, Instant};

use nebula_wire::client::{ClientError, ConnectOptions, Connection, Transport};
use nebula_wire::{Line, Value};

use crate::fake::{Fake, table};

fn options() -> ConnectOptions {
    ConnectOptions {
        request_timeout: Duration::from_secs(20),
        ..ConnectOptions::default()
    }
}

async fn connect(fake: Fake) -> Connection {
    Connection::connect(&fake.start().await, &options())
        .await
        .unwrap()
}

#[tokio::test]
async fn lines_are_found_out() {
    let unchecked = Fake {
        welcome: &["3.0.0"],
        ..Fake::of(Line::V2_6)
    };
    let locked = Fake {
        welcome: &[],
        ..Fake::of(Line::V3)
    };
    for (fake, at_connect, in_the_end) in [
        (Fake::of(Line::V2_0), None, Line::V2_0),
        (Fake::of(Line::V2_5), None, Line::V2_5),
        (Fake::of(Line::V2_6), Some(Line::V2_6), Line::V2_6),
        (Fake::of(Line::V3), Some(Line::V3), Line::V3),
        (unchecked, Some(Line::V3), Line::V2_6),
        (locked, Some(Line::V3), Line::V3),
    ] {
        let mut connection = connect(fake).await;
        assert_eq!(connection.line(), at_connect, "{fake:?}");
        let session = connection.authenticate("root", "nebula").await.unwrap();
        assert_eq!(session.id, 7);
        assert_eq!(
            session.time_zone_offset_secs.is_some(),
            fake.line.has_time_zone()
        );
        connection.execute(session.id, b"none").await.unwrap();
        assert_eq!(connection.line(), Some(in_the_end), "{fake:?}");
        connection.signout(session.id).await.unwrap();
    }
}

#[tokio::test]
async fn a_given_line_spares_the_question() {
    let addr = Fake::of(Line::V2_0).start().await;
    let given = ConnectOptions {
        line: Some(Line::V2_0),
        ..options()
    };
    let connection = Connection::connect(&addr, &given).await.unwrap();
    assert_eq!(connection.line(), Some(Line::V2_0));
}

#[tokio::test]
async fn refusals_carry_the_name_of_the_line() {
    for (line, code) in [(Line::V2_0, -4), (Line::V2_5, -1001), (Line::V3, -1001)] {
        let mut connection = connect(Fake::of(line)).await;
        let error = connection.authenticate("root", "wrong").await.unwrap_err();
        let ClientError::Refused {
            code: got, name, ..
        } = &error
        else {
            panic!("{error}");
        };
        assert_eq!((*got, *name), (code, "E_BAD_USERNAME_PASSWORD"));
        assert!(!error.is_transport());
        assert!(error.to_string().contains(connection.addr()), "{error}");
        connection.authenticate("root", "nebula").await.unwrap();
    }
}

#[tokio::test]
async fn a_reply_shows_its_parts() {
    let mut connection = connect(Fake::of(Line::V3)).await;
    let reply = connection.execute(7, b"rows 3").await.unwrap();
    assert!(reply.is_ok() && reply.has_data());
    assert_eq!((reply.row_count(), reply.latency_us()), (3, 123));
    assert_eq!(reply.space(), b"snb");
    assert_eq!(reply.columns(), [b"id".as_slice(), b"name"]);
    assert_eq!(reply.data().unwrap(), Some(table(3)));

    let reply = connection.execute(7, b"none").await.unwrap();
    assert!(!reply.has_data() && reply.columns().is_empty());
    assert_eq!(reply.data().unwrap(), None);

    let reply = connection.execute(7, b"fail").await.unwrap();
    assert_eq!(
        (reply.code(), reply.error_text().as_ref()),
        (-1005, "Storage Error: x")
    );
    assert_eq!(reply.row_count(), 0);
}

#[tokio::test]
async fn large_messages_pass_in_both_directions() {
    let mut connection = connect(Fake::of(Line::V3)).await;
    let reply = connection.execute(7, b"rows 100000").await.unwrap();
    assert_eq!(reply.row_count(), 100_000);
    assert_eq!(reply.data().unwrap(), Some(table(100_000)));

    let mut stmt = b"length ".to_vec();
    stmt.resize(8_000_000, b'x');
    let reply = connection.execute(7, &stmt).await.unwrap();
    let data = reply.data().unwrap().unwrap();
    assert_eq!(data.cell(0, "n"), Some(&Value::Int(8_000_000)));
}

#[tokio::test]
async fn replies_in_flight_come_in_order() {
    for transport in [Transport::Framed, Transport::THeader] {
        let addr = Fake::of(Line::V2_6).start().await;
        let options = ConnectOptions {
            transport,
            ..options()
        };
        let mut connection = Connection::connect(&addr, &options).await.unwrap();
        for rows in 1..=4 {
            connection
                .send_execute(7, format!("rows {rows}").as_bytes())
                .await
                .unwrap();
        }
        assert_eq!(connection.in_flight(), 4);
        let error = connection.execute(7, b"none").await.unwrap_err();
        assert_eq!(error.kind(), "misuse");
        for rows in 1..=4 {
            assert_eq!(connection.receive().await.unwrap().row_count(), rows);
        }
        assert_eq!(connection.receive().await.unwrap_err().kind(), "misuse");
        assert!(!connection.is_broken());
    }
}

#[tokio::test]
async fn a_server_that_hangs_up_on_framed_is_asked_with_theader() {
    let fake = Fake {
        theader_only: true,
        ..Fake::of(Line::V3)
    };
    let addr = fake.start().await;
    let mut connection = Connection::connect(&addr, &options()).await.unwrap();
    assert_eq!(
        connection.execute(7, b"rows 2").await.unwrap().row_count(),
        2
    );
    let framed = ConnectOptions {
        transport: Transport::Framed,
        ..options()
    };
    let error = Connection::connect(&addr, &framed).await.unwrap_err();
    assert_eq!(error.kind(), "closed");
}

#[tokio::test]
async fn a_failed_connection_is_never_used_again() {
    for (stmt, kind) in [
        ("silence", "timeout"),
        ("cut", "closed"),
        ("garbage", "protocol"),
    ] {
        let addr = Fake::of(Line::V3).start().await;
        let brief = ConnectOptions {
            request_timeout: Duration::from_millis(300),
            ..options()
        };
        let mut connection = Connection::connect(&addr, &brief).await.unwrap();
        let error = connection.execute(7, stmt.as_bytes()).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(
            error.is_transport() && error.to_string().contains(&addr),
            "{error}"
        );
        assert!(connection.is_broken());
        // A reply that comes late must not be taken for the next one's.
        let error = connection.execute(7, b"rows 1").await.unwrap_err();
        assert_eq!(error.kind(), "closed");
        let error = connection.send_execute(7, b"rows 1").await.unwrap_err();
        assert_eq!(error.kind(), "closed");
    }
}

#[tokio::test]
async fn time_limits_hold_after_many_quick_requests() {
    let addr = Fake::of(Line::V3).start().await;
    let limit = Duration::from_millis(400);
    let brief = ConnectOptions {
        request_timeout: limit,
        ..options()
    };
    let mut connection = Connection::connect(&addr, &brief).await.unwrap();
    for _ in 0..20 {
        connection.execute(7, b"none").await.unwrap();
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    let sent = Instant::now();
    let error = connection.execute(7, b"silence").await.unwrap_err();
    assert_eq!(error.kind(), "timeout");
    assert!(
        sent.elapsed() >= limit,
        "timed out after {:?}",
        sent.elapsed()
    );
}

#[tokio::test]
async fn replies_above_the_limit_are_refused() {
    let addr = Fake::of(Line::V3).start().await;
    let small = ConnectOptions {
        max_reply: 1000,
        ..options()
    };
    let mut connection = Connection::connect(&addr, &small).await.unwrap();
    assert_eq!(
        connection.execute(7, b"rows 2").await.unwrap().row_count(),
        2
    );
    assert_eq!(
        connection.execute(7, b"rows 900").await.unwrap_err().kind(),
        "protocol"
    );
}

#[tokio::test]
async fn a_dropped_request_is_noticed() {
    let mut connection = connect(Fake::of(Line::V3)).await;
    let dropped = connection.execute(7, b"silence");
    let waited = tokio::time::timeout(Duration::from_millis(50), dropped).await;
    assert!(waited.is_err());
    assert_eq!(
        connection.execute(7, b"none").await.unwrap_err().kind(),
        "misuse"
    );
}

#[tokio::test]
async fn nobody_listening_is_a_connect_error_with_the_address() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = free.local_addr().unwrap().to_string();
    drop(free);
    let error = Connection::connect(&addr, &options()).await.unwrap_err();
    assert_eq!(error.kind(), "connect");
    assert!(error.to_string().contains(&addr), "{error}");
}

#[tokio::test]
async fn the_send_buffer_stays_out_of_debug_output() {
    let mut connection = connect(Fake::of(Line::V3)).await;
    connection.authenticate("root", "nebula").await.unwrap();
    let shown = format!("{connection:?}");
    // The password as text or as a list of bytes.
    assert!(
        !shown.contains("nebula") && !shown.contains("110, 101, 98"),
        "{shown}"
    );
}
