//! Real daemons, driven as a user would.

use crate::support::{Client, Cluster, wait};
use nebula_wire::Value;

/// Statement, code, part of the text.
const REFUSED: &[(&str, i32, &str)] = &[
    (
        "INSERT VERTEX T(a) VALUES 1:(\"x\")",
        -1005,
        "doesn't have a default value",
    ),
    (
        "INSERT VERTEX T(h) VALUES 1:(NULL)",
        -1005,
        "cannot be null",
    ),
    (
        "INSERT VERTEX T(h,b) VALUES 1:(\"h\",300)",
        -1005,
        "Out of range",
    ),
    ("INSERT VERTEX T(h) VALUES 1:(5)", -1005, "data type"),
    ("INSERT VERTEX T(h) VALUES 1:()", -1009, "Column count"),
    ("INSERT VERTEX T(zz) VALUES 1:(5)", -1009, "Unknown column"),
    ("INSERT VERTEX X(h) VALUES 1:(5)", -1009, "No schema found"),
    ("INSERT VERTEX U(x) VALUES \"1\":(5)", -1009, "VID"),
    ("FETCH PROP ON T 1", -1009, "Missing yield clause."),
    ("CREATE TAG T(a int)", -1005, "Existed!"),
    ("CREATE EDGE V(a int, a int)", -1009, "Duplicate"),
    ("DROP TAG nope", -1005, "TagNotFound"),
    ("USE nope", -1005, "SpaceNotFound"),
    ("GO FROM 1", -1004, "syntax error near"),
];

#[test]
fn values_come_back() {
    let cluster = Cluster::start("3.8.0", 2);
    let mut client = cluster.space(
        "int64",
        "CREATE TAG T(a string, b int8 DEFAULT 7, c double, d date, e datetime, f bool, g timestamp, h string NOT NULL);\
         CREATE TAG U(x int); CREATE EDGE E(at datetime)",
    );
    client.until("INSERT VERTEX U(x) VALUES 1:(1)");
    let values = "(\"é\\\"\", -1.5, date(\"2010-02-03\"), datetime(\"2010-01-03T15:10:31.499\"), true, 5, \"h\")";
    client.ok(&format!(
        "INSERT VERTEX T(a,c,d,e,f,g,h) VALUES 1:{values}, 2:{values}"
    ));
    let table = client.ok("FETCH PROP ON T 1 YIELD T.a, T.b, T.c, T.d, T.e, T.f, T.g, T.h");
    let texts: Vec<_> = table.rows[0]
        .iter()
        .map(|value| nebula_sandbox::ngql::value_text(value, false))
        .collect();
    assert_eq!(
        texts,
        [
            "é\"",
            "7",
            "-1.5",
            "2010-02-03",
            "2010-01-03T15:10:31.499000",
            "true",
            "5",
            "h"
        ]
    );
    assert_eq!(table.column_names().next().expect("column"), "T.a");
    let both = client.ok("FETCH PROP ON * 1 YIELD vertex AS v");
    let Value::Vertex(vertex) = &both.rows[0][0] else {
        panic!("{both:?}")
    };
    assert_eq!(vertex.tags.len(), 2);
    // Written again: replaced, except where the statement says otherwise.
    client.ok("INSERT VERTEX U(x) VALUES 1:(2)");
    client.ok("INSERT VERTEX IF NOT EXISTS U(x) VALUES 1:(3)");
    assert_eq!(
        client.ok("FETCH PROP ON U 1 YIELD U.x").rows[0][0],
        Value::Int(2)
    );
    assert!(client.ok("FETCH PROP ON U 2 YIELD U.x").rows.is_empty());
    for (statement, code, part) in REFUSED {
        let (found, text) = client.fails(statement);
        assert!(
            found == *code && text.contains(part),
            "{statement}: {found} {text}"
        );
    }
    alter_and_delete(&mut client);
}

fn alter_and_delete(client: &mut Client) {
    client.ok("ALTER TAG U ADD (y int DEFAULT 9)");
    client.until("FETCH PROP ON U 1 YIELD U.x, U.y");
    assert_eq!(
        client.ok("FETCH PROP ON U 1 YIELD U.x, U.y").rows[0],
        [Value::Int(2), Value::Int(9)]
    );
    client.ok("INSERT EDGE E(at) VALUES 1->2:(NULL), 2->1:(NULL)");
    client.ok("DELETE VERTEX 1 WITH EDGE");
    assert!(
        client
            .ok("GO FROM 2 OVER E BIDIRECT YIELD E._dst")
            .rows
            .is_empty()
    );
    assert!(
        client
            .ok("FETCH PROP ON * 1 YIELD vertex AS v")
            .rows
            .is_empty()
    );
}

#[test]
fn acknowledged_writes_survive_kills() {
    let mut cluster = Cluster::start("3.8.0", 2);
    let mut client = cluster.space("int64", "CREATE TAG P(n int); CREATE EDGE E(w int)");
    client.until("INSERT VERTEX P(n) VALUES 1:(1)");
    let mut acknowledged = 0i64;
    for round in 0..6usize {
        for batch in 0..20i64 {
            let first = i64::try_from(round).expect("few") * 10_000 + batch * 100;
            let rows: Vec<_> = (first..first + 100)
                .map(|n| format!("{n}->{}:({n})", n + 1))
                .collect();
            client.until(&format!("INSERT EDGE E(w) VALUES {}", rows.join(",")));
            acknowledged += 100;
        }
        let victim = &mut cluster.storageds[round % 2];
        victim.kill();
        victim.start();
    }
    cluster.wait_storage();
    let counts = client.counts();
    assert!(
        counts.contains(&("E".to_owned(), acknowledged)),
        "{counts:?} {acknowledged}"
    );
    // Both ends of every edge are there.
    for n in [0, 10_500, 31_999, 51_000] {
        assert_eq!(
            client.ok(&format!("GO FROM {n} OVER E YIELD E.w")).rows[0][0],
            Value::Int(n)
        );
        let back = client.ok(&format!("GO FROM {} OVER E REVERSELY YIELD E._dst", n + 1));
        assert_eq!(back.rows[0][0], Value::Int(n));
    }
    // The whole cluster again; metad knows the space and its schema.
    for daemon in cluster.storageds.iter_mut().chain(&mut cluster.metads) {
        daemon.kill();
    }
    cluster.graphd.kill();
    for daemon in cluster.metads.iter_mut().chain(&mut cluster.storageds) {
        daemon.start();
    }
    cluster.graphd.start();
    wait("graphd", || crate::support::is_open(cluster.graphd.port));
    cluster.wait_storage();
    let mut client = cluster.client();
    client.until("USE s");
    assert!(client.counts().contains(&("E".to_owned(), acknowledged)));
    // Wiped data is gone.
    for storaged in &mut cluster.storageds {
        storaged.stop();
        std::fs::remove_dir_all(storaged.dir.join("data")).expect("wipe");
        storaged.start();
    }
    cluster.wait_storage();
    client.until("GO FROM 0 OVER E YIELD E.w");
    assert!(client.counts().contains(&("edges".to_owned(), 0)));
}
