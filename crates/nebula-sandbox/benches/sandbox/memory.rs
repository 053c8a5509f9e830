//! Whether a data set of LDBC's scale factor 1 fits: rows are put straight into a storaged over its own RPC, as graphd
//! would, so that only the store is measured.

use std::time::{Duration, Instant};

use nebula_sandbox::{
    rpc::{Client, wire::put_bytes},
    storage::{VidRef, request},
};

use crate::{
    parameter, resident_bytes,
    support::{Cluster, Daemon},
    told,
};

/// Rows of one request.
const BATCH: u64 = 2000;
/// Bytes of a vertex's row: messages carry a text, persons a few words; LDBC's mean is below this.
const VERTEX_ROW: usize = 110;
/// Bytes of an edge's row: a date and what surrounds it.
const EDGE_ROW: usize = 10;
const GOAL_BYTES: u64 = 6_000_000_000;

/// Loads, prints, compares.
pub(crate) fn sf1() -> bool {
    let (vertices, edges) = (
        parameter("vertices", 3_000_000),
        parameter("edges", 17_000_000),
    );
    let cluster = Cluster::start("3.8.0", 1);
    let mut client = cluster.space("int64", "CREATE TAG T(a string); CREATE EDGE E(a datetime)");
    client.until("INSERT EDGE E(a) VALUES 1->2:(NULL)");
    let space = client.ok("DESC SPACE s").rows[0][0]
        .as_int()
        .expect("space id");
    // storaged knows no schemas: any numbers will do.
    let ids = Ids {
        space: u32::try_from(space).expect("small"),
        tag: 102,
        edge: 103,
    };
    let storaged = &cluster.storageds[0];
    let begun = Instant::now();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.expect("runtime");
    let counted = runtime.block_on(fill(storaged, ids, vertices, edges));
    let resident = resident_bytes(storaged.pid());
    println!(
        "{vertices} vertices and {edges} edges in {:.0} s: {} bytes per edge, vertices included",
        begun.elapsed().as_secs_f64(),
        resident / edges.max(1)
    );
    let megabytes = resident / 1_000_000;
    let fits = told(
        "memory of SF1",
        megabytes,
        "MB",
        "<= 6000",
        resident <= GOAL_BYTES,
    );
    // The one that showed the space to be open is among them.
    told("edges there", counted, "edges", "all", counted == edges + 1) && fits
}

#[derive(Debug, Clone, Copy)]
struct Ids {
    space: u32,
    tag: i32,
    edge: i32,
}

/// Answers how many edges the storaged counts then.
async fn fill(storaged: &Daemon, ids: Ids, vertices: u64, edges: u64) -> u64 {
    let client = Client::new(storaged.address(), Duration::from_mins(1));
    let row = [b'x'; VERTEX_ROW];
    for first in (0..vertices).step_by(usize::try_from(BATCH).expect("small")) {
        let mut body = request::start(ids.space);
        body.push(0);
        request::put_ids(&mut body, &[ids.tag]);
        for vertex in first..(first + BATCH).min(vertices) {
            vid(vertex).put(&mut body);
            put_bytes(&mut body, &row);
        }
        let put = client.call(request::OP_PUT_TAGS, &body).await;
        put.expect("put");
    }
    for first in (0..edges).step_by(usize::try_from(BATCH).expect("small")) {
        let mut body = request::start(ids.space);
        body.push(0);
        for edge in first..(first + BATCH).min(edges) {
            both_ends(&mut body, ids.edge, edge, vertices);
        }
        let put = client.call(request::OP_PUT_EDGES, &body).await;
        put.expect("put");
    }
    let counts = client
        .call(request::OP_COUNT, &request::start(ids.space))
        .await;
    let counts: serde_json::Value = serde_json::from_slice(&counts.expect("counts")).expect("JSON");
    let by_type = counts["edges"].as_object().expect("edges by type");
    by_type.values().filter_map(serde_json::Value::as_u64).sum()
}

/// The n-th edge: sources in turn, destinations scattered, ranks that keep every one of them apart.
fn both_ends(body: &mut Vec<u8>, kind: i32, n: u64, vertices: u64) {
    let (from, to) = (vid(n % vertices), vid(n * 2_654_435_761 % vertices));
    let rank = i64::try_from(n / vertices).expect("small");
    for (kind, here, other) in [(kind, from, to), (-kind, to, from)] {
        request::put_edge(body, kind, here, rank, other);
        put_bytes(body, &[b'x'; EDGE_ROW]);
    }
}

fn vid(number: u64) -> VidRef<'static> {
    VidRef::Int(i64::try_from(number).expect("small"))
}
